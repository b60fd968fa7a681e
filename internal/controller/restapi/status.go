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
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// refusal is what the gateway says against a write, naming the fields where it
// does.
func refusal(err error) (xpv2.ConditionReason, string) {
	e := gateway.AsError(err)
	if e == nil {
		return v1alpha1.ReasonGatewayUnavailable, err.Error()
	}
	if e.Reason == gateway.ReasonConflict {
		return v1alpha1.ReasonConflict, nameTaken
	}
	said := e.Message
	for i, f := range e.FieldErrors {
		if i == maxDifferences {
			said += fmt.Sprintf("; and %d more", len(e.FieldErrors)-i)
			break
		}
		field := strings.Replace(f.Field, "spec.", "spec.forProvider.", 1)
		field = strings.Replace(field, "metadata.", "spec.forProvider.", 1)
		said += "; " + field + ": " + f.Message
	}
	return v1alpha1.ReasonRefused, "the gateway refuses the API: " + strings.TrimPrefix(said, "; ")
}

// observation is what status shows of an API.
func observation(got *gateway.RestAPI, t target.Target, from v1alpha1.Origin) v1alpha1.RestApiObservation {
	o := v1alpha1.RestApiObservation{
		ID:                got.Metadata.Name,
		DisplayName:       got.Spec.DisplayName,
		Version:           got.Spec.Version,
		Context:           got.Spec.ResolvedContext(),
		SubscriptionPlans: got.Spec.SubscriptionPlans,
		GatewayID:         t.GatewayID,
		Endpoint:          t.Endpoint,
		Origin:            from,
	}
	if s := got.Status; s != nil {
		o.State = s.State
		o.CreatedAt = conditions.Seconds(s.CreatedAt)
		o.UpdatedAt = conditions.Seconds(s.UpdatedAt)
		o.DeployedAt = conditions.Seconds(s.DeployedAt)
	}
	return o
}
