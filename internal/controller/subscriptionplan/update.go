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

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Update the plan at the gateway. It merges what it is given, so what the spec
// leaves out stays as it is.
func (e *external) Update(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalUpdate, error) {
	f := e.found
	got, err := e.UpdateSubscriptionPlan(ctx, f.got.ID, f.answer.update)
	if gateway.IsConflict(err) && e.clashes(ctx, mg) {
		return managed.ExternalUpdate{}, e.refuse(mg, v1alpha1.ReasonConflict, renameClash(mg.Spec.ForProvider.PlanName))
	}
	if err != nil {
		if d := f.answer.differs; len(d) > 0 {
			conditions.Set(mg, conditions.Differs(d))
		}
		return managed.ExternalUpdate{}, e.failed(mg, err, xpv2.Unavailable())
	}
	e.memory.contests.Wrote(mg.GetUID(), mg.GetGeneration(), f.answer.differs, e.now())
	if f.verdict.action == take {
		if _, err := e.hold(ctx, mg); err != nil {
			return managed.ExternalUpdate{}, err
		}
		e.metrics.Adopted(gateway.KindSubscriptionPlan)
		e.events.Event(mg, event.Normal("Adopted", "Took over the plan that was at the gateway"))
	}

	mg.Status.Deployed = true
	mg.Status.AtProvider = observation(got, e.at, origin(mg, f.attempt))
	was := observation(f.got, e.at, "")
	mg.Status.AtProvider.CreatedAt, mg.Status.AtProvider.CreationStamp = was.CreatedAt, was.CreationStamp
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted, v1alpha1.TypeContested)
	conditions.Set(mg, conditions.Applied(f.answer.note), xpv2.Available())
	return managed.ExternalUpdate{}, nil
}

// clashes tells whether another plan has the name the spec asks for. A legacy
// gateway answers a clash like any failure of its database, so it is looked up.
func (e *external) clashes(ctx context.Context, mg *v1alpha1.SubscriptionPlan) bool {
	name, id := mg.Spec.ForProvider.PlanName, e.found.got.ID
	if e.found.got.PlanName == name {
		return false
	}
	all, err := e.ListSubscriptionPlans(ctx)
	return err == nil && slices.ContainsFunc(all, func(p gateway.SubscriptionPlan) bool { return p.PlanName == name && p.ID != id })
}
