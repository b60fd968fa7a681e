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
	// Status must name the gateway too: an ID alone may have been earned at another.
	h.Reported = at.ID != "" && at.ID == h.ID && at.Endpoint == h.Endpoint
	h.Refused, h.Since = cr.Status.RefusedID == h.ID, at.CreatedAt
	return h, h.ID != ""
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

// losesRecorded tells whether one of others has the better claim to what is recorded, at
// the endpoint where that was recorded: no call is made to find out.
func (e *external) losesRecorded(cr *v1alpha1.Subscription, others []ownership.Holder) bool {
	h := e.recorded()
	return e.loses(cr, h, slices.DeleteFunc(slices.Clone(others), func(o ownership.Holder) bool { return o.Endpoint != h.Endpoint }))
}

// losesFound tells whether another object, wherever it recorded that, has the better
// claim to a subscription that was found. Where that cannot be told, nothing is done
// and nothing forgotten.
func (e *external) losesFound(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) (bool, error) {
	was, is := e.recorded(), e.holding(got.ID, got.APIID)
	others, err := e.othersHolding(ctx, cr, is)
	if err != nil {
		return false, err
	}
	if was.Endpoint != is.Endpoint && (e.claims.Reserved(is, cr.GetUID()) || len(others) > 0 && !was.Same(is)) {
		return true, nil
	}
	standing := ownership.StandingAt(is.Endpoint, got.CreatedAt, e.self(cr, was), others, e.incumbents.Of(is))
	if standing == ownership.Disputed {
		return false, problemf(v1alpha1.ReasonConflict, "another object holds the subscription too, as recorded at yet another endpoint, and nothing tells whose it is at %s; point the provider config back to %s, or delete the other object", is.Endpoint, was.Endpoint)
	}
	return standing == ownership.Lost, nil
}

// loses tells whether another object has the better claim to what this one says it
// holds, or asks for while nothing is there.
func (e *external) loses(cr *v1alpha1.Subscription, h ownership.Holding, others []ownership.Holder) bool {
	return ownership.Loses(e.self(cr, h), others, e.incumbents.Of(h))
}

// self is this object as the holder of something.
func (e *external) self(cr *v1alpha1.Subscription, h ownership.Holding) ownership.Holder {
	at := cr.Status.AtProvider
	return ownership.Holder{
		Holding: h, UID: cr.GetUID(), Created: cr.GetCreationTimestamp(),
		Reported: at.ID == h.ID && at.Endpoint == h.Endpoint,
		Refused:  cr.Status.RefusedID == h.ID,
		Since:    at.CreatedAt,
	}
}

// heldByOthers returns a function that tells whether somebody else holds an ID on
// this gateway, or has it reserved.
func (e *external) heldByOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (func(id string) bool, error) {
	return e.taken(ctx, cr, listed, func(_ ownership.Holding, others []ownership.Holder) bool { return len(others) > 0 })
}

// lostToOthers returns a function that tells whether somebody else has the better
// claim to an ID on this gateway, or has it reserved.
func (e *external) lostToOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (func(id string) bool, error) {
	return e.taken(ctx, cr, listed, func(h ownership.Holding, others []ownership.Holder) bool { return e.loses(cr, h, others) })
}

// madeForOther tells whether a subscription that nobody holds is, or may well be, what
// another object asked for, which only has to find it again: it has the UID of that
// object for an ID, or can be the result of its create. Anybody can write a record of
// one, but who does so for a subscription that is there could import it as well. Where
// both asked, or it was there before the other object, the older object goes first.
func (e *external) madeForOther(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
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
		first := ownership.Older(&o, cr) || !askedToo && !ownership.Predates(s.CreatedAt, o.CreationTimestamp.Time)
		return o.GetUID() != cr.GetUID() && first && e.mayHaveMade(&o, s)
	}), nil
}

// mayHaveMade tells whether a subscription can be the result of an object's create that
// was not answered.
func (e *external) mayHaveMade(cr *v1alpha1.Subscription, s *gateway.Subscription) bool {
	a, err := record.ReadAttempt(cr)
	if err != nil || a == nil || a.Outcome != record.Open {
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
	cr.Status.Deployed, cr.Status.AtProvider = false, v1alpha1.SubscriptionObservation{}
	cr.Status.RefusedID = e.baseline.ID
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeTokenInForce, v1alpha1.TypeContested, v1alpha1.TypeDrifted)
	return problemf(v1alpha1.ReasonConflict, "another object holds the subscription that the annotation %s names; this one does nothing at the gateway; delete it, or remove that annotation and crossplane.io/external-name to have a subscription of its own created", v1alpha1.AnnotationBaseline)
}
