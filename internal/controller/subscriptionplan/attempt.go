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

package subscriptionplan

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

const (
	// indexHolds finds the SubscriptionPlans that are recorded to hold a plan. Its
	// values are IDs at the gateway.
	indexHolds = "subscriptionplan.holds"
	// indexAsks finds those whose status vouches for a create, by the name that it asks
	// for.
	indexAsks = "subscriptionplan.asks"
)

// unanswered tells whether a create of the given name may have succeeded although
// no answer came.
func unanswered(a *record.Attempt, endpoint string) bool {
	return a != nil && a.Outcome == record.Open && a.AskedID != "" && a.Endpoint == endpoint
}

// attempt returns the record of the create that is about to be made. One that is
// open for the same name on the same gateway stays as it is, so that what was
// absent before the first request stays known as such.
func attempt(before *record.Attempt, name string, absent bool, endpoint string) record.Attempt {
	if unanswered(before, endpoint) && before.AskedID == name {
		return *before
	}
	return record.Attempt{AskedID: name, AbsentBefore: absent, Endpoint: endpoint, Outcome: record.Open}
}

// refused notes that a create is known to have created nothing.
func refused(mg *v1alpha1.SubscriptionPlan) { conclude(mg, record.Refused) }

// answered notes that what a create led to is known.
func answered(mg *v1alpha1.SubscriptionPlan) { conclude(mg, "") }

func conclude(mg *v1alpha1.SubscriptionPlan, o record.Outcome) {
	if a, err := record.ReadAttempt(mg); err == nil && a != nil && a.Outcome == record.Open {
		a.Outcome = o
		record.WriteAttempt(mg, *a)
		if o == record.Refused {
			mg.Status.CreateAttempt = nil
		}
	}
}

// holds tells whether a managed resource may hold a plan at a gateway: it is
// recorded to, or it asked for one and the answer may have got lost. A record
// that is not understood counts as well.
func holds(mg *v1alpha1.SubscriptionPlan) bool {
	b, err := baselineFrom(mg)
	return err != nil || b != nil || record.MayHold(mg)
}

// baselineFrom is what a managed resource recorded to hold. Where that was taken away,
// status tells, which only the provider should be able to write.
func baselineFrom(mg *v1alpha1.SubscriptionPlan) (*record.Baseline, error) {
	b, err := record.ReadBaseline(mg)
	if err != nil {
		return nil, err
	}
	r := reported(mg)
	if b == nil || r != nil && r.ID != b.ID && r.ID == named(mg) {
		// The record and the external name are only ever written together.
		return r, nil
	}
	return b, nil
}

// reported is what status tells of what is held, nil if nothing.
func reported(mg *v1alpha1.SubscriptionPlan) *record.Baseline {
	at := mg.Status.AtProvider
	if !mg.Status.Deployed || at.ID == "" {
		return nil
	}
	return &record.Baseline{ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID}
}

// imported tells whether a plan was there already and was named by its ID.
func imported(a *record.Attempt) bool { return a != nil && a.Preset }

// origin tells how a managed resource came by its plan.
func origin(mg *v1alpha1.SubscriptionPlan, a *record.Attempt) v1alpha1.Origin {
	switch {
	case imported(a):
		return v1alpha1.OriginImported
	case a != nil && a.AbsentBefore:
		return v1alpha1.OriginCreated
	case a != nil:
		return v1alpha1.OriginAdopted
	default:
		return mg.Status.AtProvider.Origin
	}
}

// holderOf reads who holds what. If that was seen, status vouches for nothing else.
func holderOf(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (ownership.Holder, bool) {
	b, err := baselineFrom(mg)
	if err != nil || b == nil {
		return ownership.Holder{}, false
	}
	return ownership.Holder{
		// A gateway has one set of plans, so the gateway's ID is scope enough.
		Holding:  ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.GatewayID},
		UID:      mg.GetUID(),
		Created:  mg.GetCreationTimestamp(),
		Reported: reports(mg, b.ID, b.Endpoint),
		Vouched:  vouches(mg, b.Endpoint, got),
		Refused:  mg.Status.RefusedID == b.ID,
		Since:    mg.Status.AtProvider.CreationStamp,
	}, true
}

// reports tells whether the status of a managed resource names the plan that it holds,
// and the gateway too: an ID alone may have been earned at another.
func reports(mg *v1alpha1.SubscriptionPlan, id, endpoint string) bool {
	at := mg.Status.AtProvider
	return at.ID == id && at.Endpoint == endpoint
}

// vouches tells whether the status of a managed resource vouches for a create at an
// endpoint that can have made a plan, be it answered or not.
func vouches(mg *v1alpha1.SubscriptionPlan, endpoint string, got *gateway.SubscriptionPlan) bool {
	v := mg.Status.CreateAttempt
	return v != nil && v.Endpoint == endpoint && v.ID == got.PlanName && record.Near(v, got.CreatedAt)
}

func holding(id string, at target.Target) ownership.Holding {
	return ownership.Holding{ID: id, Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.GatewayID}
}

// seen is a plan that was seen.
func seen(got *gateway.SubscriptionPlan, at target.Target) ownership.Holding {
	h := holding(got.ID, at)
	h.Began = got.CreatedAt
	return h
}

// nameClaim stands for the name of a plan whose ID is not known yet.
func nameClaim(name string, at target.Target) ownership.Holding {
	return holding("name/"+name, at)
}

// heldByOther tells whether another managed resource holds a plan, or is about to.
func (e *external) heldByOther(ctx context.Context, mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (bool, error) {
	what := seen(got, e.at)
	if e.memory.claims.Reserved(what, mg.GetUID(), e.now()) {
		return true, nil
	}
	l := &v1alpha1.SubscriptionPlanList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: got.ID}); err != nil {
		return false, errors.Wrap(err, "cannot list who holds a plan")
	}
	mine, ok := holderOf(mg, got)
	// Its create may have made the plan: a bare record is nothing against that, but a create
	// that was answered is.
	asked := !ok && record.ReadVouched(mg, mg.Status.CreateAttempt) != nil && vouches(mg, what.Endpoint, got)
	var all []ownership.Holder
	for i := range l.Items {
		h, ok := holderOf(&l.Items[i], got)
		if !ok || h.UID == mg.GetUID() || !h.Same(what) {
			continue
		}
		earned := h.BorneOut() || e.memory.incumbents.Of(h.Holding) == h.UID
		if !asked || earned && (h.Endpoint == what.Endpoint || h.HasSeen(got.CreatedAt)) {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	if !ok || !mine.Same(what) && !mine.HasSeen(got.CreatedAt) {
		// What is recorded about another place gives no claim here.
		return true, nil
	}
	return ownership.LosesAt(e.at.Endpoint, got.CreatedAt, mine, all, e.memory.incumbents.Of), nil
}

// askedByOther tells whether another managed resource has the better claim to a plan
// that nobody holds: it is about to create one of that name, or status vouches for a
// create that can have made it, by whatever name of the gateway. Where both asked for it
// here, the older resource goes first.
func (e *external) askedByOther(ctx context.Context, mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (bool, error) {
	name := got.PlanName
	if e.memory.claims.Reserved(nameClaim(name, e.at), mg.GetUID(), e.now()) {
		return true, nil
	}
	l := &v1alpha1.SubscriptionPlanList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexAsks: name}); err != nil {
		return false, errors.Wrap(err, "cannot list who asked for a plan")
	}
	mine := mayHaveMade(mg, got) && mg.Status.CreateAttempt.Endpoint == e.at.Endpoint
	return slices.ContainsFunc(l.Items, func(o v1alpha1.SubscriptionPlan) bool {
		return o.GetUID() != mg.GetUID() && mayHaveMade(&o, got) &&
			(!mine || o.Status.CreateAttempt.Endpoint == e.at.Endpoint && ownership.Older(&o, mg))
	}), nil
}

// mayHaveMade tells whether a plan can be the result of a create that the status of a
// managed resource vouches for: of one that was not answered, or whose answer was recorded
// and not reported yet.
func mayHaveMade(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) bool {
	v := mg.Status.CreateAttempt
	if v == nil || !vouches(mg, v.Endpoint, got) {
		return false
	}
	b, err := baselineFrom(mg)
	return record.ReadVouched(mg, v) != nil || err == nil && b != nil && b.ID == got.ID
}

// named is the external-name of a managed resource.
func named(mg *v1alpha1.SubscriptionPlan) string { return meta.GetExternalName(mg) }
