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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// holding is an object at this gateway.
func (e *external) holding(id, scope string) ownership.Holding {
	return ownership.Holding{ID: id, Endpoint: e.gateway.Endpoint().String(), GatewayID: e.gateway.GatewayID(), Scope: scope}
}

// recorded is the object that the baseline records.
func (e *external) recorded() ownership.Holding {
	b := e.baseline
	return ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
}

// holderOf is what a Subscription holds: what its baseline records, or for one
// that only observes what its status reports, which it does only if it was
// checked.
func holderOf(cr *v1alpha1.Subscription) (ownership.Holder, bool) {
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
	h.Reported = reports(cr, h.Holding)
	h.Refused, h.Since = cr.Status.RefusedID == h.ID, at.CreationStamp
	return h, h.ID != ""
}

// reports tells whether the status of a Subscription bears out that it holds something:
// it names that, or the create was vouched for that made it and whose answer was
// recorded only just now. It must name the gateway too: an ID alone may have been earned
// at another.
func reports(cr *v1alpha1.Subscription, h ownership.Holding) bool {
	if at := cr.Status.AtProvider; at.ID != "" && at.ID == h.ID && at.Endpoint == h.Endpoint {
		return true
	}
	v := cr.Status.CreateAttempt
	return v != nil && v.Endpoint == h.Endpoint && record.Vouch(cr) == nil
}

// othersHolding returns who else holds an object, by their records.
func (e *external) othersHolding(ctx context.Context, cr *v1alpha1.Subscription, h ownership.Holding) ([]ownership.Holder, error) {
	l := &v1alpha1.SubscriptionList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: h.ID}); err != nil {
		return nil, errors.Wrap(err, "cannot list who holds a subscription")
	}
	var others []ownership.Holder
	for i := range l.Items {
		if o, ok := holderOf(&l.Items[i]); ok && o.UID != cr.GetUID() && o.Same(h) {
			others = append(others, o)
		}
	}
	return others, nil
}

// heldElsewhere tells whether a subscription that this object's create made has the ID
// of one that another object holds, as its status says, by another name of the gateway.
// What that one lost sight of for the moment nobody else may have, but who holds it here.
func (e *external) heldElsewhere(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	h := e.holding(s.ID, s.APIID)
	if e.baseline != nil && reports(cr, h) {
		return false, nil
	}
	others, err := e.othersHolding(ctx, cr, h)
	return slices.ContainsFunc(others, func(o ownership.Holder) bool { return o.Reported && o.Endpoint != h.Endpoint }), err
}

// losesRecorded tells whether one of others has the better claim to what is recorded, at
// the endpoint where that was recorded: no call is made to find out.
func (e *external) losesRecorded(cr *v1alpha1.Subscription, others []ownership.Holder) bool {
	h := e.recorded()
	return e.loses(cr, h, slices.DeleteFunc(slices.Clone(others), func(o ownership.Holder) bool { return o.Endpoint != h.Endpoint }))
}

// losesFound tells whether another object, wherever it recorded that, has the better
// claim to a subscription that was found.
func (e *external) losesFound(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) (bool, error) {
	was, is := e.recorded(), e.holding(got.ID, got.APIID)
	others, err := e.othersHolding(ctx, cr, is)
	if err != nil {
		return false, err
	}
	if was.Endpoint != is.Endpoint && (e.claims.Reserved(is, cr.GetUID()) || len(others) > 0 && !was.Same(is)) {
		return true, nil
	}
	self := e.self(cr, was)
	if !self.Reported {
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
	return ownership.Holder{
		Holding: h, UID: cr.GetUID(), Created: cr.GetCreationTimestamp(),
		Reported: reports(cr, h),
		Refused:  cr.Status.RefusedID == h.ID,
		Since:    cr.Status.AtProvider.CreationStamp,
	}
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
		if a != nil && a.Endpoint == h.Endpoint {
			others = slices.DeleteFunc(others, func(o ownership.Holder) bool { return !o.Reported && e.incumbents.Of(h) != o.UID })
		}
		return e.loses(cr, h, others)
	})
}

// madeForOther tells whether a subscription that nobody holds is, or may well be, what
// another object asked for, which only has to find it again: it has the UID of that
// object for an ID, or can be the result of its create. Where both asked for it, the
// older object goes first. What this object reports already, no create made.
func (e *external) madeForOther(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	if reports(cr, e.holding(s.ID, s.APIID)) {
		return false, nil
	}
	l := &v1alpha1.SubscriptionList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexUID: s.ID}); err != nil {
		return false, errors.Wrap(err, "cannot look for whom a subscription was made")
	}
	if slices.ContainsFunc(l.Items, func(o v1alpha1.Subscription) bool { return o.GetUID() != cr.GetUID() }) {
		return true, nil
	}
	asks := turnOf(&record.Attempt{APIID: e.wish.APIID, ApplicationID: e.wish.ApplicationID})
	l = &v1alpha1.SubscriptionList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexAttempt: asks.ID}); err != nil {
		return false, errors.Wrap(err, "cannot look for whom a subscription was made")
	}
	askedToo := e.mayHaveMade(cr, s)
	return slices.ContainsFunc(l.Items, func(o v1alpha1.Subscription) bool {
		return o.GetUID() != cr.GetUID() && (!askedToo || ownership.Older(&o, cr)) && e.mayHaveMade(&o, s)
	}), nil
}

// mayHaveMade tells whether a subscription can be the result of an object's create that
// was not answered, and that its status vouches for.
func (e *external) mayHaveMade(cr *v1alpha1.Subscription, s *gateway.Subscription) bool {
	a := record.ReadVouched(cr, cr.Status.CreateAttempt)
	if a == nil {
		return false
	}
	onlyAskedID := e.gateway.Generation() == connection.GenerationInPlace || a.Endpoint != e.at.Endpoint
	found, _ := judgeAttempt(a, cr.GetCreationTimestamp().Time, []gateway.Subscription{*s}, onlyAskedID, func(string) bool { return false })
	return found != nil
}

// taken returns a function that tells whether an ID is reserved by somebody else, or
// taken by what others hold.
func (e *external) taken(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription, by func(h ownership.Holding, others []ownership.Holder) bool) (func(id string) bool, error) {
	taken := sets.New[string]()
	for _, s := range listed {
		h := e.holding(s.ID, s.APIID)
		others, err := e.othersHolding(ctx, cr, h)
		if err != nil {
			return nil, err
		}
		if by(h, others) || e.claims.Reserved(h, cr.GetUID()) {
			taken.Insert(s.ID)
		}
	}
	return taken.Has, nil
}

// loseToAnother says that what an object recorded to hold is another's. It reports no
// longer what it does not hold.
func (e *external) loseToAnother(cr *v1alpha1.Subscription) *problem {
	earned := reports(cr, e.recorded())
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
