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

package subscription

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// holding is what is, or may be, at this gateway under an ID.
func (e *external) holding(id string) ownership.Holding {
	return ownership.Holding{ID: id, Endpoint: e.gateway.Endpoint().String()}
}

// seen is a subscription that was seen at this gateway.
func (e *external) seen(s *gateway.Subscription) ownership.Holding {
	return ownership.Holding{ID: s.ID, Endpoint: e.gateway.Endpoint().String(), GatewayID: e.gateway.GatewayID(), Scope: s.APIID, Began: s.CreatedAt}
}

// recorded is the object that the baseline records.
func (e *external) recorded() ownership.Holding {
	b := e.baseline
	return ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
}

// holderOf is what a Subscription holds: what its baseline records, or for one
// that only observes what its status reports, which it does only if it was
// checked. If it is known when that was created, status vouches for nothing else.
func holderOf(cr *v1alpha1.Subscription, began, now time.Time) (ownership.Holder, bool) {
	at := cr.Status.AtProvider
	h := ownership.Holder{UID: cr.GetUID(), Created: cr.GetCreationTimestamp()}
	b, err := baselineFrom(cr)
	switch {
	case err != nil:
		// Whatever a newer version recorded, it is held under the external name.
		h.Holding = ownership.Holding{ID: meta.GetExternalName(cr), Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.APIInternalID}
	case b != nil:
		h.Holding = ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
	default:
		h.Holding = ownership.Holding{ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.APIInternalID}
	}
	h.Began = began
	return bearOut(cr, h, now), h.ID != ""
}

// bearOut adds what the status of a Subscription says about what it says to hold.
func bearOut(cr *v1alpha1.Subscription, h ownership.Holder, now time.Time) ownership.Holder {
	h.Reported, h.Vouched = reports(cr, h.Holding), vouches(cr, h.Holding, now)
	h.Refused, h.Since = cr.Status.RefusedID == h.ID, cr.Status.AtProvider.CreationStamp
	return h
}

// reports tells whether the status of a Subscription names what it holds, and the
// gateway too: an ID alone may have been earned at another.
func reports(cr *v1alpha1.Subscription, h ownership.Holding) bool {
	at := cr.Status.AtProvider
	return at.ID != "" && at.ID == h.ID && at.Endpoint == h.Endpoint
}

// vouches tells whether the status of a Subscription vouches for a create at that
// endpoint which was answered, and may have made what it recorded only just now to hold.
func vouches(cr *v1alpha1.Subscription, h ownership.Holding, now time.Time) bool {
	v := cr.Status.CreateAttempt
	b, err := baselineFrom(cr)
	began := h.Began
	if began.IsZero() {
		// It was not seen, and may be about to be created.
		began = now
	}
	switch {
	case err != nil || b == nil || b.ID != h.ID || v == nil || v.Endpoint != h.Endpoint || !record.Near(v, began) || record.ReadVouched(cr, v) != nil:
		return false
	case v.ID == h.ID:
		return true
	}
	// The gateway may have chosen the ID.
	return !h.Began.IsZero() && v.APIID != "" && b.Fields[fieldAPIID] == v.APIID && b.Fields[fieldApplicationID] == v.ApplicationID
}

// bears tells whether status bears out what a Subscription recorded to hold.
func (e *external) bears(cr *v1alpha1.Subscription, h ownership.Holding) bool {
	return reports(cr, h) || vouches(cr, h, e.now())
}

// proves tells whether a Subscription has more to show for something than a record: its
// status says so at that endpoint, or that it was seen or asked for.
func (e *external) proves(cr *v1alpha1.Subscription, h ownership.Holding) bool {
	at := cr.Status.AtProvider
	a := record.ReadVouched(cr, cr.Status.CreateAttempt)
	return e.bears(cr, h) || a != nil && a.Endpoint == h.Endpoint || at.ID == h.ID && ownership.Holder{Reported: true, Since: at.CreationStamp}.HasSeen(h.Began)
}

// othersHolding returns who else holds something, by their records. Where this object has
// something to show, who recorded that at another endpoint counts only if it has seen
// this very object: that may be another gateway, which can say whatever its owner wants.
func (e *external) othersHolding(ctx context.Context, cr *v1alpha1.Subscription, h ownership.Holding) ([]ownership.Holder, error) {
	l := &v1alpha1.SubscriptionList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: h.ID}); err != nil {
		return nil, errors.Wrap(err, "cannot list who holds a subscription")
	}
	proven := e.proves(cr, h)
	var others []ownership.Holder
	for i := range l.Items {
		o, ok := holderOf(&l.Items[i], h.Began, e.now())
		if h.Began.IsZero() {
			// Whether its create can have made this is known once this is seen.
			o.Vouched = false
		}
		if ok && o.UID != cr.GetUID() && o.Same(h) && (o.Endpoint == h.Endpoint || !proven || o.HasSeen(h.Began)) {
			others = append(others, o)
		}
	}
	return others, nil
}

// losesFound tells whether another object, wherever it recorded that, has the better
// claim to a subscription that was found.
func (e *external) losesFound(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) (bool, error) {
	was, is := e.recorded(), e.seen(got)
	others, err := e.othersHolding(ctx, cr, is)
	if err != nil {
		return false, err
	}
	if was.Endpoint != is.Endpoint && e.claims.Reserved(is, cr.GetUID(), e.now()) {
		return true, nil
	}
	was.Began = is.Began
	self := e.self(cr, was)
	if here := was.Endpoint == is.Endpoint; !self.HasSeen(got.CreatedAt) && !(here && self.BorneOut()) {
		// Anybody can write a record of what somebody else is about to find again.
		if theirs, err := e.madeForOther(ctx, cr, got); err != nil || theirs {
			return theirs, err
		}
	}
	return ownership.LosesAt(is.Endpoint, got.CreatedAt, self, others, e.incumbents.Of), nil
}

// loses tells whether another object has the better claim to what this one says it
// holds, or asks for while nothing is there.
func (e *external) loses(cr *v1alpha1.Subscription, h ownership.Holding, others []ownership.Holder) bool {
	return ownership.Loses(e.self(cr, h), others, e.incumbents.Of(h))
}

// self is this object as the holder of something.
func (e *external) self(cr *v1alpha1.Subscription, h ownership.Holding) ownership.Holder {
	return bearOut(cr, ownership.Holder{Holding: h, UID: cr.GetUID(), Created: cr.GetCreationTimestamp()}, e.now())
}

// heldByOthers returns a function that tells whether somebody else holds an ID on
// this gateway, or has it reserved.
func (e *external) heldByOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (func(id string) bool, error) {
	return e.taken(ctx, cr, listed, func(_ ownership.Holding, others []ownership.Holder) bool { return len(others) > 0 })
}

// lostToOthers returns a function that tells whether somebody else has the better
// claim to an ID on this gateway, or has it reserved, than one that asked for it and was
// not answered. If status vouches for that, a bare record is nothing against it.
func (e *external) lostToOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (func(id string) bool, error) {
	a := record.ReadVouched(cr, cr.Status.CreateAttempt)
	return e.taken(ctx, cr, listed, func(h ownership.Holding, others []ownership.Holder) bool {
		if a != nil && a.Endpoint == h.Endpoint && record.Near(cr.Status.CreateAttempt, h.Began) {
			others = slices.DeleteFunc(others, func(o ownership.Holder) bool { return !o.BorneOut() && e.incumbents.Of(h) != o.UID })
		}
		return e.loses(cr, h, others) || slices.ContainsFunc(others, func(o ownership.Holder) bool { return o.HasSeen(h.Began) })
	})
}

// madeForOther tells whether a subscription is, or may well be, what another object
// asked for, which only has to find it again: it has the UID of that object for an ID, or
// status vouches for a create that can have made it. By whatever name of the gateway that
// was: who has nothing to show for it leaves it alone. Where both asked for it here, the
// older object goes first. What this object reports already, no create made.
func (e *external) madeForOther(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	if reports(cr, e.seen(s)) {
		return false, nil
	}
	if theirs, err := e.namesAnother(ctx, cr, s.ID); err != nil || theirs {
		return theirs, err
	}
	mine := false
	if e.vouchedHere(cr) {
		var err error
		if mine, err = e.mayHaveMade(ctx, cr, s); err != nil {
			return false, err
		}
	}
	for _, key := range []string{askedByID(s.ID), askedByApplication(strings.TrimSpace(s.ApplicationID))} {
		l := &v1alpha1.SubscriptionList{}
		if err := e.kube.List(ctx, l, client.MatchingFields{indexVouched: key}); err != nil {
			return false, errors.Wrap(err, "cannot look for whom a subscription was made")
		}
		for i := range l.Items {
			o := &l.Items[i]
			if o.GetUID() == cr.GetUID() || mine && !(e.vouchedHere(o) && ownership.Older(o, cr)) {
				continue
			}
			if theirs, err := e.mayHaveMade(ctx, o, s); err != nil || theirs {
				return theirs, err
			}
		}
	}
	return false, nil
}

// namesAnother tells whether an ID is the UID of another object, which asks for it if it
// names none.
func (e *external) namesAnother(ctx context.Context, cr *v1alpha1.Subscription, id string) (bool, error) {
	l := &v1alpha1.SubscriptionList{}
	err := e.kube.List(ctx, l, client.MatchingFields{indexUID: id})
	return slices.ContainsFunc(l.Items, func(o v1alpha1.Subscription) bool { return o.GetUID() != cr.GetUID() }), errors.Wrap(err, "cannot look for whom a subscription is made")
}

// vouchedHere tells whether the status of an object vouches for a create at this
// endpoint.
func (e *external) vouchedHere(cr *v1alpha1.Subscription) bool {
	v := cr.Status.CreateAttempt
	return v != nil && v.Endpoint == e.at.Endpoint
}

// mayHaveMade tells whether a subscription can be the result of a create that the status
// of an object vouches for: of one that was not answered, or whose answer was recorded
// and not reported yet.
func (e *external) mayHaveMade(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	v := cr.Status.CreateAttempt
	if !record.Near(v, s.CreatedAt) {
		return false, nil
	}
	if a := record.ReadVouched(cr, v); a != nil {
		found, _ := judgeAttempt(a, cr.GetCreationTimestamp().Time, []gateway.Subscription{*s}, false, func(string) bool { return false })
		if found == nil || s.ID == a.AskedID {
			return found != nil, nil
		}
		return e.isOn(ctx, s, v.APIID)
	}
	b, err := baselineFrom(cr)
	return err == nil && b != nil && b.ID == s.ID && (v.ID == s.ID || v.APIID != "" && strings.TrimSpace(s.ApplicationID) == v.ApplicationID), nil
}

// isOn tells whether a subscription, which is on the API that this object asks for, is on
// the one with the given ID, which may be another name of it.
func (e *external) isOn(ctx context.Context, s *gateway.Subscription, apiID string) (bool, error) {
	if apiID == e.wish.APIID || apiID == s.APIID {
		return true, nil
	}
	listed, err := e.listAPI(ctx, apiID)
	return slices.ContainsFunc(listed, func(o gateway.Subscription) bool { return o.ID == s.ID }), err
}

// taken returns a function that tells whether an ID is reserved by somebody else, or
// taken by what others hold.
func (e *external) taken(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription, by func(h ownership.Holding, others []ownership.Holder) bool) (func(id string) bool, error) {
	taken := sets.New[string]()
	for i, s := range listed {
		h := e.seen(&listed[i])
		others, err := e.othersHolding(ctx, cr, h)
		if err != nil {
			return nil, err
		}
		if by(h, others) || e.claims.Reserved(h, cr.GetUID(), e.now()) {
			taken.Insert(s.ID)
		}
	}
	return taken.Has, nil
}

// loseToAnother says that what an object recorded to hold is another's. It reports no
// longer what it does not hold.
func (e *external) loseToAnother(cr *v1alpha1.Subscription) *problem {
	earned := e.bears(cr, e.recorded())
	cr.Status.Deployed, cr.Status.AtProvider = false, v1alpha1.SubscriptionObservation{}
	cr.Status.RefusedID = e.baseline.ID
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeTokenInForce, v1alpha1.TypeContested, v1alpha1.TypeDrifted)
	if !earned {
		return unproven()
	}
	return problemf(v1alpha1.ReasonConflict, "another object holds the subscription that the annotation %s names; this one does nothing at the gateway; delete it, or remove that annotation and crossplane.io/external-name to have a subscription of its own created", v1alpha1.AnnotationBaseline)
}

// unproven says that what an object has only a record of is not to be had: in one and
// the same words whether it is missing, does not fit or is another's, since anybody can
// write a record to find out.
func unproven() *problem {
	return problemf(v1alpha1.ReasonConflict, "the subscription that the annotation %s names is not at the gateway as recorded, or another object holds it; this one does nothing at the gateway; correct or delete it, or remove that annotation and crossplane.io/external-name to have a subscription of its own created", v1alpha1.AnnotationBaseline)
}
