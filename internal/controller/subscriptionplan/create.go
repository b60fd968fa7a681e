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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Create a plan, or take over one that is there. Its ID is recorded in
// annotations, which are stored whatever happens next.
func (e *external) Create(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalCreation, error) {
	name := mg.Spec.ForProvider.PlanName
	if !e.memory.claims.ReserveUntil(mg.GetUID(), nameClaim(name, e.at), e.now(), e.at.TooLateFor(e.now())) {
		// Another object is about to create this very plan.
		if !unanswered(e.found.attempt, e.at.Endpoint) {
			refused(mg)
		}
		return managed.ExternalCreation{}, e.refuse(mg, v1alpha1.ReasonConflict, nameTaken(name))
	}
	if e.found.verdict.action == take {
		return managed.ExternalCreation{}, e.takeOver(ctx, mg)
	}
	// What is asked for is stored. What status vouches for is all that others have to leave
	// alone, so it never does for what was not sent.
	if err := kind.Vouch(ctx, e.kube, mg, &mg.Status.CreateAttempt, e.now()); err != nil {
		if !unanswered(e.found.attempt, e.at.Endpoint) {
			refused(mg)
			e.release(mg)
		}
		return managed.ExternalCreation{}, err
	}
	got, err := e.CreateSubscriptionPlan(ctx, write(mg.Spec.ForProvider))
	if err == nil {
		e.recreated(mg)
		e.keepRecord(mg, got)
		return managed.ExternalCreation{}, nil
	}
	if gateway.IsConflict(err) {
		return managed.ExternalCreation{}, e.conflict(ctx, mg)
	}
	return managed.ExternalCreation{}, e.failed(mg, err, xpv2.Creating())
}

// recreated tells, where the plan was held before, that it was gone.
func (e *external) recreated(mg *v1alpha1.SubscriptionPlan) {
	if e.found.baseline == nil {
		return
	}
	e.memory.contests.Recreated(mg.GetUID(), e.now())
	e.events.Event(mg, event.Warning("Recreated", errors.New("the plan was gone at the gateway and was created again")))
}

// conflict finds out whose the plan is that has the name: ours, if an earlier
// create was answered by nobody, else a stranger's.
func (e *external) conflict(ctx context.Context, mg *v1alpha1.SubscriptionPlan) error {
	if !unanswered(e.found.attempt, e.at.Endpoint) {
		// This was the first request, and it was answered.
		refused(mg)
	}
	f, err := e.find(ctx, mg)
	if err != nil {
		return err
	}
	e.found = f
	switch f.verdict.action {
	case manage:
		e.keepRecord(mg, f.got)
		return nil
	case take:
		return e.takeOver(ctx, mg)
	case create:
		return errors.New("the gateway says that the plan exists, but does not list it")
	case look, leave, refuse:
	}
	e.release(mg)
	lose(mg)
	return e.refuse(mg, f.verdict.reason, f.verdict.message)
}

// takeOver applies the spec to a plan that is there.
func (e *external) takeOver(ctx context.Context, mg *v1alpha1.SubscriptionPlan) error {
	f := e.found
	if !e.memory.claims.Reserve(mg.GetUID(), seen(f.got, e.at), e.now()) {
		e.release(mg)
		return e.refuse(mg, v1alpha1.ReasonConflict, nameTaken(mg.Spec.ForProvider.PlanName))
	}
	if a := compare(mg.Spec.ForProvider, f.got, false); len(a.differs) > 0 {
		if _, err := e.UpdateSubscriptionPlan(ctx, f.got.ID, a.update); err != nil {
			return e.failed(mg, err, xpv2.Creating())
		}
	}
	e.metrics.Adopted(gateway.KindSubscriptionPlan)
	e.events.Event(mg, event.Normal("Adopted", "Took over the plan that was at the gateway"))
	e.keepRecord(mg, f.got)
	return nil
}

// keepRecord records, in memory, that the plan is held. The runtime stores it.
func (e *external) keepRecord(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) {
	answered(mg)
	meta.SetExternalName(mg, got.ID)
	record.WriteBaseline(mg, record.Baseline{ID: got.ID, Endpoint: e.at.Endpoint, GatewayID: got.GatewayID})
}

// release what was reserved: nothing was created or adopted.
func (e *external) release(mg *v1alpha1.SubscriptionPlan) {
	e.memory.claims.Release(mg.GetUID(), nameClaim(mg.Spec.ForProvider.PlanName, e.at))
	if e.found.got != nil {
		e.memory.claims.Release(mg.GetUID(), holding(e.found.got.ID, e.at))
	}
}

// failed says why a write failed, and what that means for the next one.
func (e *external) failed(mg *v1alpha1.SubscriptionPlan, err error, ready xpv2.Condition) error {
	if !gateway.MayHaveBeenApplied(err) && !e.found.pending {
		refused(mg)
		e.release(mg)
	}
	switch gateway.ReasonOf(err) {
	case gateway.ReasonInvalid, gateway.ReasonMissingDependency, gateway.ReasonUnsafeID:
		message := refusal(err)
		ready = conditions.Explain(ready, message)
		conditions.Set(mg, conditions.NotApplied(v1alpha1.ReasonRefused, message), ready)
		return kind.Refuse(errors.New(message))
	default:
		conditions.Set(mg, conditions.Unknown(err))
		return err
	}
}
