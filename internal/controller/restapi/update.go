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

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Update replaces the API at the gateway by what the spec asks for.
func (e *external) Update(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalUpdate, error) {
	f := e.found
	got, err := e.UpdateRestAPI(ctx, f.handle, keep(f.want, f.got))
	if err != nil {
		if len(f.differs) > 0 {
			conditions.Set(mg, conditions.Differs(f.differs))
		}
		return managed.ExternalUpdate{}, e.failed(mg, err, xpv2.Unavailable())
	}
	e.memory.contests.Wrote(mg.GetUID(), mg.GetGeneration(), f.differs, e.now())
	if f.verdict.action == take {
		if err := e.hold(ctx, mg); err != nil {
			return managed.ExternalUpdate{}, err
		}
		e.metrics.Adopted(gateway.KindRestAPI)
		e.events.Event(mg, event.Normal("Adopted", "Took over the API that was at the gateway"))
	}

	mg.Status.Deployed = true
	o := observation(got, e.at, origin(mg, f.attempt))
	// What a write answers differs from what is stored by some microseconds, and
	// some gateways forget when the API was created.
	o.CreatedAt = observation(f.got, e.at, "").CreatedAt
	mg.Status.AtProvider = o
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted, v1alpha1.TypeContested)
	e.settle(mg)
	return managed.ExternalUpdate{}, nil
}
