/*
Copyright 2026 The Crossplane Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package ownership tells who holds which object at a gateway.
//
// What a managed resource holds is recorded in its own annotations; the cache is
// the index. In between, from the moment an object is about to be created or
// adopted until the cache shows the record of it, a claim in memory stands for
// the record.
package ownership

import (
	"cmp"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// A Holding is an object at a gateway.
type Holding struct {
	// ID of the object.
	ID string

	// Endpoint through which it was seen, normalised.
	Endpoint string

	// GatewayID and Scope are how the gateway names itself and what the object
	// belongs to there, its API for example. Together they suggest that a gateway is
	// known by two endpoints. Any gateway can name itself like another one, though.
	GatewayID, Scope string

	// Began is when it was created at the gateway; zero as long as it was not seen.
	Began time.Time
}

// Same tells whether two holdings are one object: the same ID on the same
// gateway.
func (h Holding) Same(o Holding) bool {
	if h.ID != o.ID {
		return false
	}
	if h.Endpoint == o.Endpoint {
		return true
	}
	return h.GatewayID != "" && h.GatewayID == o.GatewayID && h.Scope != "" && h.Scope == o.Scope
}

// A Holder is a managed resource that holds an object.
type Holder struct {
	Holding

	// UID of the managed resource.
	UID types.UID

	// Created is when the managed resource was created.
	Created metav1.Time

	// Reported is true if its status, and not only its annotations, names the object. A
	// user can write annotations, but not status.
	Reported bool

	// Vouched is true if its status vouches for a create that may have made the object.
	Vouched bool

	// Refused is true if its status says that it was refused the object,
	// whatever its annotations say.
	Refused bool

	// Since is when, by its status, the object was created at the gateway, whatever
	// endpoint that was seen at, to the microsecond.
	Since *metav1.MicroTime
}

// BorneOut tells whether status, and not only annotations, speaks for a holder.
func (h Holder) BorneOut() bool { return h.Reported || h.Vouched }

// HasSeen tells whether a holder has seen an object that was created at a time: only who
// has knows that to the microsecond, whatever its gateway calls itself, and whatever
// endpoint it was seen at.
func (h Holder) HasSeen(created time.Time) bool {
	return h.Since != nil && h.Since.Time.Equal(created.Truncate(time.Microsecond))
}

// Loses tells whether one of several others that hold the same object has a better
// claim to it than the given holder. Only those of the same endpoint have any: what is
// earned at another one can be told by whoever runs a gateway there. Of these the
// incumbent wins, if there is one, then the one whose status names the object, then the
// one whose create may have made it, then those that were not refused it, of these the
// older, then the one with the lower UID.
func Loses(self Holder, others []Holder, incumbent types.UID) bool {
	return slices.ContainsFunc(others, func(o Holder) bool {
		return o.Endpoint == self.Endpoint && means(o, self) && cmp.Or(
			before(o.UID == incumbent, self.UID == incumbent),
			before(o.Reported, self.Reported),
			before(o.Vouched, self.Vouched),
			before(!o.Refused, !self.Refused),
			byAge(o, self),
		) < 0
	})
}

// LosesAt tells whether one of several others has a better claim than the given holder
// to an object that was found at an endpoint, and was created at a time. Other endpoints
// may lead to the same gateway, but any gateway can call itself like another one. So
// those come first who have seen the object, or were seen to hold it at that very
// endpoint, unless what they held was another of that ID; then those whose status names
// it at that endpoint; then those whose create, sent there, may have made it; then those
// whose create, sent elsewhere, may have; then those with nothing but a record; and last
// who was refused it, or earned something elsewhere. Of equals the one that was seen wins,
// then the older, whichever endpoint it is looked at from.
func LosesAt(endpoint string, created time.Time, self Holder, others []Holder, incumbent func(Holding) types.UID) bool {
	seen := func(h Holder) bool { return incumbent(h.Holding) == h.UID }
	rank := func(h Holder) int {
		here := h.Endpoint == endpoint
		switch {
		case h.HasSeen(created), here && seen(h) && h.Since == nil:
			return 5
		case here && h.Reported:
			return 4
		case here && h.Vouched:
			return 3
		case h.Vouched:
			return 2
		case h.Reported, h.Refused:
			return 0
		}
		return 1
	}
	return slices.ContainsFunc(others, func(o Holder) bool {
		return means(o, self) && cmp.Or(
			cmp.Compare(rank(self), rank(o)),
			before(seen(o), seen(self)),
			byAge(o, self),
		) < 0
	})
}

// means tells whether another holder can mean what the given one does: nobody can mean an
// ID that only somebody's UID names, unless the provider says so.
func means(o, self Holder) bool { return self.ID != string(self.UID) || o.BorneOut() }

// byAge compares by age, and of the same age by UID.
func byAge(a, b Holder) int {
	return cmp.Or(a.Created.Compare(b.Created.Time), cmp.Compare(a.UID, b.UID))
}

// Older tells whether one object was created before another. Of two of the same second
// it is the one with the lower UID.
func Older(a, b metav1.Object) bool {
	of := func(o metav1.Object) Holder { return Holder{UID: o.GetUID(), Created: o.GetCreationTimestamp()} }
	return byAge(of(a), of(b)) < 0
}

// before compares by whether something is true.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// Claims are objects that are being created or adopted. They count at the endpoint where
// that is done, and elsewhere only if both have seen the object: what a gateway calls
// itself is no reason to keep others from it.
type Claims struct {
	mu sync.Mutex
	// m are the claims to an ID, and by the IDs that a managed resource has claims to, or
	// had until they ended by themselves.
	m  map[string][]claim
	by map[types.UID]sets.Set[string]
}

type claim struct {
	Holding

	uid types.UID
	// until is when it ends by itself.
	until time.Time
}

func (c claim) about(h Holding) bool {
	return c.Same(h) && (c.Endpoint == h.Endpoint || !c.Began.IsZero() && c.Began.Equal(h.Began))
}

func (c claim) over(now time.Time) bool { return now.After(c.until) }

// claimed is how long a claim lasts to what is there, unless it is released: until then
// the cache shows the record of it, or it could not be stored.
const claimed = 5 * time.Minute

// Reserve an object for the managed resource with the given UID, which is about to record
// it. It returns false if another one has it reserved. To reserve again what one has
// reserved is no conflict.
func (c *Claims) Reserve(uid types.UID, h Holding, now time.Time) bool {
	return c.ReserveUntil(uid, h, now, now.Add(claimed))
}

// ReserveUntil reserves an object until a time: until a create that is not answered can
// no longer take effect, for example, as nobody may ever look what came of it.
func (c *Claims) ReserveUntil(uid types.UID, h Holding, now, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m, c.by = map[string][]claim{}, map[types.UID]sets.Set[string]{}
	}
	c.m[h.ID] = slices.DeleteFunc(c.m[h.ID], func(o claim) bool { return o.over(now) })
	for i, o := range c.m[h.ID] {
		if o.about(h) {
			if o.uid == uid {
				// More may be known of it now.
				c.m[h.ID][i] = claim{Holding: h, uid: uid, until: until}
			}
			return o.uid == uid
		}
	}
	c.m[h.ID] = append(c.m[h.ID], claim{Holding: h, uid: uid, until: until})
	if c.by[uid] == nil {
		c.by[uid] = sets.New[string]()
	}
	c.by[uid].Insert(h.ID)
	return true
}

// Reserved tells whether a managed resource other than the one with the given UID
// has an object reserved.
func (c *Claims) Reserved(h Holding, except types.UID, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.m[h.ID], func(o claim) bool { return o.uid != except && o.about(h) && !o.over(now) })
}

// Release an object a managed resource has reserved: it was not created after
// all, or the record of it can be seen.
func (c *Claims) Release(uid types.UID, h Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(uid, h.ID, func(o claim) bool { return o.about(h) })
}

// ReleaseAll objects a managed resource has reserved: it is gone.
func (c *Claims) ReleaseAll(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.by[uid] {
		c.release(uid, id, func(claim) bool { return true })
	}
}

// release those claims of a managed resource to an ID that del says, while c is locked.
func (c *Claims) release(uid types.UID, id string, del func(claim) bool) {
	left := slices.DeleteFunc(c.m[id], func(o claim) bool { return o.uid == uid && del(o) })
	if len(left) > 0 {
		c.m[id] = left
	} else {
		delete(c.m, id)
	}
	if slices.ContainsFunc(left, func(o claim) bool { return o.uid == uid }) {
		return
	}
	if c.by[uid].Delete(id); len(c.by[uid]) == 0 {
		delete(c.by, uid)
	}
}
