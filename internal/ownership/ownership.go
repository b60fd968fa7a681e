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
)

// A Holding is an object at a gateway.
type Holding struct {
	// ID of the object.
	ID string

	// Endpoint through which it was seen, normalised.
	Endpoint string

	// GatewayID and Scope are how the gateway names itself and what the object
	// belongs to there, its API for example. Together they recognise a gateway that
	// is known by two endpoints.
	GatewayID, Scope string
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

	// Reported is true if its status, and not only its annotations, names the
	// object, or vouches for the create that made it. A user can write annotations, but
	// not status.
	Reported bool

	// Refused is true if its status says that it was refused the object,
	// whatever its annotations say.
	Refused bool

	// Since is when, by its status, the object was created at the gateway, to the
	// millisecond.
	Since *metav1.MicroTime
}

// Loses tells whether one of several others that hold the same object has a better
// claim to it than the given holder. Of those that have any the incumbent wins, if
// there is one, then the one whose status names the object, then those that were not
// refused it, of these the older, then the one with the lower UID.
func Loses(self Holder, others []Holder, incumbent types.UID) bool {
	contenders := []Holder{self}
	for _, o := range others {
		if contends(o, self, incumbent) {
			contenders = append(contenders, o)
		}
	}
	return first(contenders, incumbent).UID != self.UID
}

// LosesAt tells whether one of several others has a better claim than the given holder
// to an object that was found at an endpoint, and was created at a time. Other endpoints
// may lead to the same gateway, but any gateway can call itself like another one: only
// who knows to the millisecond when the object was created has seen it. So those come
// first who do, or were seen to hold it at that very endpoint; then those whose status
// was written for that endpoint; then those with nothing but a record; and last who was
// refused it, or earned something elsewhere. Of equals the one that was seen wins, then
// the older, whichever endpoint it is looked at from.
func LosesAt(endpoint string, created time.Time, self Holder, others []Holder, incumbent func(Holding) types.UID) bool {
	seen := func(h Holder) bool { return incumbent(h.Holding) == h.UID }
	rank := func(h Holder) int {
		here := h.Endpoint == endpoint
		switch {
		case h.Reported && h.Since != nil && h.Since.Time.Equal(created.Truncate(time.Millisecond)), here && seen(h):
			return 3
		case here && h.Reported:
			return 2
		case h.Reported, h.Refused:
			return 0
		}
		return 1
	}
	best := self
	for _, o := range others {
		if self.ID == string(self.UID) && !o.Reported {
			// Nobody can mean an ID that only another's UID can name.
			continue
		}
		better := cmp.Or(
			cmp.Compare(rank(best), rank(o)),
			before(seen(o), seen(best)),
			o.Created.Compare(best.Created.Time),
			cmp.Compare(o.UID, best.UID),
		)
		if better < 0 {
			best = o
		}
	}
	return best.UID != self.UID
}

// contends tells whether another holder can have a better claim at all.
func contends(o, self Holder, incumbent types.UID) bool {
	switch {
	case self.ID == string(self.UID) && !o.Reported:
		// Nobody can mean an ID that only another's UID can name.
		return false
	case o.Endpoint == self.Endpoint:
		return true
	}
	// What another endpoint says of itself, anybody can make it say. That is more than
	// a bare record, but nothing against what a holder was seen to hold.
	return o.Reported && !self.Reported && incumbent != self.UID
}

// Older tells whether one object was created before another. Of two of the same second
// it is the one with the lower UID.
func Older(a, b metav1.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(at.Compare(bt.Time), cmp.Compare(a.GetUID(), b.GetUID())) < 0
}

// first of the holders of one object.
func first(holders []Holder, incumbent types.UID) Holder {
	return slices.MinFunc(holders, func(a, b Holder) int {
		return cmp.Or(
			before(a.UID == incumbent, b.UID == incumbent),
			before(a.Reported, b.Reported),
			before(!a.Refused, !b.Refused),
			a.Created.Compare(b.Created.Time),
			cmp.Compare(a.UID, b.UID),
		)
	})
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

// Claims are objects that are being created or adopted. What is being created has no
// scope yet: it may turn out to be what somebody else would adopt through another
// endpoint of a gateway with the same ID.
type Claims struct {
	mu sync.Mutex
	m  map[string][]claim
}

type claim struct {
	Holding

	uid types.UID
}

func (c claim) about(h Holding) bool {
	half := (c.Scope == "") != (h.Scope == "")
	return c.Same(h) || c.ID == h.ID && half && h.GatewayID != "" && c.GatewayID == h.GatewayID
}

// Reserve an object for the managed resource with the given UID. It returns
// false if another one has it reserved. To reserve again what one has reserved
// is no conflict.
func (c *Claims) Reserve(uid types.UID, h Holding) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.m[h.ID] {
		if o.about(h) {
			if o.uid == uid {
				// More may be known of it now.
				c.m[h.ID][i].Holding = h
			}
			return o.uid == uid
		}
	}
	if c.m == nil {
		c.m = map[string][]claim{}
	}
	c.m[h.ID] = append(c.m[h.ID], claim{Holding: h, uid: uid})
	return true
}

// Reserved tells whether a managed resource other than the one with the given UID
// has an object reserved.
func (c *Claims) Reserved(h Holding, except types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.m[h.ID], func(o claim) bool { return o.uid != except && o.about(h) })
}

// Release an object a managed resource has reserved: it was not created after
// all, or the record of it can be seen.
func (c *Claims) Release(uid types.UID, h Holding) {
	c.release(h.ID, func(o claim) bool { return o.uid == uid && o.about(h) })
}

// ReleaseAll objects a managed resource has reserved: it is gone.
func (c *Claims) ReleaseAll(uid types.UID) {
	c.mu.Lock()
	ids := make([]string, 0, len(c.m))
	for id := range c.m {
		ids = append(ids, id)
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.release(id, func(o claim) bool { return o.uid == uid })
	}
}

func (c *Claims) release(id string, del func(claim) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := slices.DeleteFunc(c.m[id], del); len(left) > 0 {
		c.m[id] = left
		return
	}
	delete(c.m, id)
}
