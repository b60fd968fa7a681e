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
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// open tells whether a create may have succeeded although no answer came.
func open(a *record.Attempt) bool { return a != nil && a.Outcome == record.Open }

// attempt returns the record of the create that is about to be made. One that is
// open for the same handle on the same gateway stays as it is, so that it is byte
// for byte the same between retries, and what was absent before the first request
// stays known as such.
func attempt(before *record.Attempt, handle string, preset, absent bool, endpoint string) record.Attempt {
	if open(before) && before.AskedID == handle && before.Endpoint == endpoint && before.Preset == preset {
		return *before
	}
	return record.Attempt{AskedID: handle, Preset: preset, AbsentBefore: absent, Endpoint: endpoint, Outcome: record.Open}
}

// refused notes that a create is known to have created nothing.
func refused(mg *v1alpha1.RestApi) { conclude(mg, record.Refused) }

// answered notes that what a create led to is known.
func answered(mg *v1alpha1.RestApi) { conclude(mg, "") }

func conclude(mg *v1alpha1.RestApi, o record.Outcome) {
	if a, err := record.ReadAttempt(mg); err == nil && a != nil && a.Outcome == record.Open {
		a.Outcome = o
		record.WriteAttempt(mg, *a)
	}
}

// identity is under which handle a managed resource has, or asks for, an API, and
// whether its user chose that handle.
func identity(mg *v1alpha1.RestApi, b *record.Baseline, a *record.Attempt) (handle string, preset bool) {
	name := meta.GetExternalName(mg)
	deleting := meta.WasDeleted(mg)
	switch {
	case b != nil && (deleting || name == ""):
		// What is held is what is deleted, whatever the annotation says by now; and
		// an annotation that was removed is restored.
		return b.ID, a != nil && a.Preset
	case deleting && open(a):
		return a.AskedID, a.Preset
	case b != nil:
		return name, a != nil && a.Preset
	case name != "":
		return name, true
	default:
		return mg.GetName(), false
	}
}

// holds tells whether a managed resource may hold an API at a gateway: it is
// recorded to, or it asked for one and the answer may have got lost. A record
// that is not understood counts as well.
func holds(mg *v1alpha1.RestApi) bool {
	b, err := baselineFrom(mg)
	return err != nil || b != nil || record.MayHold(mg)
}

// baselineFrom is what a managed resource recorded to hold. Where that was taken away
// or changed, status tells, which only the provider should be able to write: what is
// held never gets another handle.
func baselineFrom(mg *v1alpha1.RestApi) (*record.Baseline, error) {
	b, err := record.ReadBaseline(mg)
	at := mg.Status.AtProvider
	if err != nil || !mg.Status.Deployed || at.ID == "" || b != nil && b.ID == at.ID {
		return b, err
	}
	return &record.Baseline{ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID}, nil
}

// indexHolds finds the RestApis that are recorded to hold an API. Its values are
// handles.
const indexHolds = "restapi.holds"

func heldHandles(o client.Object) []string {
	mg, ok := o.(*v1alpha1.RestApi)
	if !ok {
		return nil
	}
	if h, ok := holderOf(mg); ok {
		return []string{h.ID}
	}
	return nil
}

// holderOf is what a managed resource is recorded to hold.
func holderOf(mg *v1alpha1.RestApi) (ownership.Holder, bool) {
	b, err := baselineFrom(mg)
	if err != nil || b == nil {
		return ownership.Holder{}, false
	}
	return ownership.Holder{
		Holding: ownership.Holding{ID: b.ID, Endpoint: b.Endpoint},
		UID:     mg.GetUID(),
		Created: mg.GetCreationTimestamp(),
		// Status must name the gateway too: an ID alone may have been earned at another.
		Reported: mg.Status.AtProvider.ID == b.ID && mg.Status.AtProvider.Endpoint == b.Endpoint,
	}, true
}

// origin tells how a managed resource came by its API.
func origin(mg *v1alpha1.RestApi, a *record.Attempt) v1alpha1.Origin {
	switch {
	case mg.Status.AtProvider.Origin != "":
		return mg.Status.AtProvider.Origin
	case a != nil && a.AbsentBefore:
		return v1alpha1.OriginCreated
	case a != nil && !a.Preset:
		return v1alpha1.OriginAdopted
	default:
		return v1alpha1.OriginImported
	}
}
