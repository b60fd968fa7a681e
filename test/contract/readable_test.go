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

package contract

import (
	"fmt"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What the API server stores, the provider can read. One object that it cannot read
// would keep it from seeing any of its kind: nobody's, in no namespace.
//
// contract: A5, R5
func TestStoredIsReadable(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := newSetting(w)
		for kind, paths := range pathsOf(t, s, func(string) bool { return true }) {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				for _, p := range paths {
					walker := prepared(s.in(t), p.specimen, p.object(0))
					for _, st := range p.steps {
						u := walker.unstructured()
						u.Object["spec"] = put(walker.good, st.at, st.value.v, st.value.absent)
						if w.kube.Create(t.Context(), u, client.DryRunAll) != nil {
							continue
						}
						raw, err := u.MarshalJSON()
						if err != nil {
							t.Fatal(err)
						}
						into, err := w.kube.Scheme().New(u.GroupVersionKind())
						if err != nil {
							t.Fatal(err)
						}
						if err := kjson.Unmarshal(raw, into); err != nil {
							t.Errorf("%s is stored, and cannot be read: %v", st, err)
						}
					}
				}
			})
		}
	})
}

// One plan that is odd hurts no other.
//
// contract: A5
func TestOddPlanHurtsNoOther(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		for i, expiry := range []any{"2031-01-02t03:04:05z", "2031-01-02T03:04:05x5Z", "2031-01-02T03:04:05+99:99", []any{"a"}} {
			odd := &unstructured.Unstructured{}
			odd.SetGroupVersionKind(gatewayv1alpha1.SubscriptionPlanGroupVersionKind)
			odd.SetNamespace(w.ns)
			odd.SetName(fmt.Sprintf("odd-%d", i))
			odd.Object["spec"] = map[string]any{"forProvider": map[string]any{"planName": "Odd", "expiryTime": expiry}}
			// It may well be refused.
			if err := w.kube.Create(t.Context(), odd); err != nil && !kerrors.IsInvalid(err) {
				t.Fatal(err)
			}
		}
		good := w.plan("good", "Good")
		w.create(good)
		w.ready(good)
	})
}
