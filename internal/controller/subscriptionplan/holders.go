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
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

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

// named is the external-name of a managed resource.
func named(mg *v1alpha1.SubscriptionPlan) string { return meta.GetExternalName(mg) }

// holderOf reads who holds what. If that was seen, status vouches for nothing else.
func holderOf(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (ownership.Holder, bool) {
	b, err := baselineFrom(mg)
	if err != nil || b == nil {
		return ownership.Holder{}, false
	}
	h := ownership.Holder{
		// A gateway has one set of plans, so the gateway's ID is scope enough.
		Holding:  ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.GatewayID},
		UID:      mg.GetUID(),
		Created:  mg.GetCreationTimestamp(),
		Reported: reports(mg, b),
		Vouched:  vouches(mg, b.Endpoint, got),
		Refused:  mg.Status.RefusedID == b.ID,
	}
	if at := mg.Status.AtProvider; at.ID == b.ID {
		h.Since = at.CreationStamp
	}
	return h, true
}

// reports tells whether the status of a managed resource names what it recorded to hold,
// and the gateway too: an ID alone may have been earned at another.
func reports(mg *v1alpha1.SubscriptionPlan, b *record.Baseline) bool {
	at := mg.Status.AtProvider
	return at.ID == b.ID && at.Endpoint == b.Endpoint
}

// vouches tells whether the status of a managed resource vouches for a create at an
// endpoint that can have made a plan, be it answered or not.
func vouches(mg *v1alpha1.SubscriptionPlan, endpoint string, got *gateway.SubscriptionPlan) bool {
	v := mg.Status.CreateAttempt
	return v != nil && v.Endpoint == endpoint && v.ID == got.PlanName && record.Near(v, got.CreatedAt)
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

// madeBy is what a create made that a managed resource recorded and that was not answered:
// of what a gateway lists that of the name that was free before, if it was created when the
// create was sent. Another endpoint may lead to the same gateway, but only status vouches for
// what was sent there.
func madeBy(mg *v1alpha1.SubscriptionPlan, a *record.Attempt, endpoint string, listed []gateway.SubscriptionPlan) *gateway.SubscriptionPlan {
	v := mg.Status.CreateAttempt
	if !open(a) || !a.AbsentBefore || a.Endpoint != endpoint && record.ReadVouched(mg, v) == nil {
		return nil
	}
	if got := byPlanName(listed, a.AskedID); got != nil && record.Near(record.LastSent(mg, v), got.CreatedAt) {
		return got
	}
	return nil
}

// byPlanName is the plan of a name, of which there is one at most, nil if there is none.
func byPlanName(listed []gateway.SubscriptionPlan, name string) *gateway.SubscriptionPlan {
	i := slices.IndexFunc(listed, func(p gateway.SubscriptionPlan) bool { return p.PlanName == name })
	if i < 0 {
		return nil
	}
	return &listed[i]
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
