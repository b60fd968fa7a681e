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

package restapi

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

// Create an API, or take over one that is there. That it is held is recorded in
// annotations, which are stored whatever happens next.
func (e *external) Create(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalCreation, error) {
	f := e.found
	if f.verdict.action == take {
		return managed.ExternalCreation{}, e.takeOver(ctx, mg)
	}
	_, err := e.CreateRestAPI(ctx, f.want)
	if err == nil {
		e.recreated(mg)
		e.keepRecord(mg)
		return managed.ExternalCreation{}, nil
	}
	if gateway.IsConflict(err) {
		return managed.ExternalCreation{}, e.conflict(ctx, mg)
	}
	return managed.ExternalCreation{}, e.failed(mg, err, xpv2.Creating())
}

// recreated tells, where the API was held before, that it was gone.
func (e *external) recreated(mg *v1alpha1.RestApi) {
	if e.found.baseline == nil {
		return
	}
	e.memory.contests.Recreated(mg.GetUID(), e.now())
	e.events.Event(mg, event.Warning("Recreated", errors.New("the API was gone at the gateway and was created again")))
}

// conflict finds out what a 409 is about. The gateway compares names before
// handles, so it says nothing about whether the handle is taken, let alone by
// whom: perhaps by ourselves, if an earlier answer was lost.
func (e *external) conflict(ctx context.Context, mg *v1alpha1.RestApi) error {
	f, err := e.find(ctx, mg)
	if err != nil {
		return err
	}
	want := e.found.want
	e.found = f
	f.want = want
	switch f.verdict.action {
	case manage:
		e.keepRecord(mg)
		return nil
	case take:
		return e.takeOver(ctx, mg)
	case create:
		refused(mg)
		conditions.Set(mg, conditions.NotApplied(v1alpha1.ReasonConflict, nameTaken))
		return kind.Refuse(errors.New(nameTaken))
	case look, leave, refuse:
	}
	refused(mg)
	if err := e.remember(ctx, mg); err != nil {
		return err
	}
	lose(mg)
	return e.refuse(mg, v1alpha1.ReasonConflict, handleTaken(f.handle))
}

// takeOver replaces an API that is there, mark included.
func (e *external) takeOver(ctx context.Context, mg *v1alpha1.RestApi) error {
	f := e.found
	if _, err := e.UpdateRestAPI(ctx, f.handle, keep(f.want, f.got)); err != nil {
		return e.failed(mg, err, xpv2.Creating())
	}
	e.metrics.Adopted(gateway.KindRestAPI)
	e.events.Event(mg, event.Normal("Adopted", "Took over the API that was at the gateway"))
	e.keepRecord(mg)
	return nil
}

// keepRecord records, in memory, that the API is held. The runtime stores it.
func (e *external) keepRecord(mg *v1alpha1.RestApi) {
	answered(mg)
	meta.SetExternalName(mg, e.found.handle)
	record.WriteBaseline(mg, e.baseline(e.found.handle))
}

// failed says why a write failed, and what that means for the next one.
func (e *external) failed(mg *v1alpha1.RestApi, err error, ready xpv2.Condition) error {
	if !gateway.MayHaveBeenApplied(err) && !e.found.pending {
		refused(mg)
	}
	switch gateway.ReasonOf(err) {
	case gateway.ReasonConflict, gateway.ReasonInvalid, gateway.ReasonUnsafeID:
		reason, message := refusal(err)
		ready = conditions.Explain(ready, message)
		conditions.Set(mg, conditions.NotApplied(reason, message), ready)
		return kind.Refuse(errors.New(message))
	case gateway.ReasonMissingDependency:
		// What is missing is at the gateway, where it can appear unseen.
		reason, message := refusal(err)
		ready = conditions.Explain(ready, message)
		conditions.Set(mg, conditions.NotApplied(reason, message), ready)
		return kind.RefuseAtMost(errors.New(message), e.poll)
	default:
		conditions.Set(mg, conditions.Unknown(err))
		return err
	}
}
