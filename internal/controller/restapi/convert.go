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
	"encoding/json"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// annotationArtifactID is an annotation at the gateway that pins the internal ID
// of an API. A create that bears the internal ID of another API overwrites that
// API, so no spec may ask for it; an API that has it keeps it.
const annotationArtifactID = "gateway.api-platform.wso2.com/artifact-id"

// write is what a spec asks for, as the gateway takes it. The plans are the
// names of all plans, those that were written and those that references led to.
//
// The fields of a spec have the names and the shape they have at the gateway, so
// that their JSON is what the gateway takes. A test fills every field to prove
// it.
func write(handle string, p v1alpha1.RestApiParameters, plans []string, owner string) (gateway.RestAPIWrite, error) {
	out := gateway.RestAPIWrite{Name: handle, Labels: maps.Clone(p.Labels), Annotations: maps.Clone(p.Annotations)}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[v1alpha1.AnnotationOwner] = owner

	raw, err := json.Marshal(p)
	if err != nil {
		return out, errors.Wrap(err, "cannot encode forProvider")
	}
	if err := json.Unmarshal(raw, &out.Spec); err != nil {
		return out, errors.Wrap(err, "cannot decode forProvider")
	}
	out.Spec.SubscriptionPlans = slices.Clone(plans)
	return out, nil
}

// keep adds to a write what a spec cannot express but a full replacement would
// erase.
func keep(w gateway.RestAPIWrite, got *gateway.RestAPI) gateway.RestAPIWrite {
	id, ok := got.Metadata.Annotations[annotationArtifactID]
	if !ok {
		return w
	}
	w.Annotations = maps.Clone(w.Annotations)
	if w.Annotations == nil {
		w.Annotations = map[string]string{}
	}
	w.Annotations[annotationArtifactID] = id
	return w
}
