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

package kind

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// What was created is looked at before its status is written, so that it is written once.
// If there is more to do, the next pass does.
//
// contract: A10
func TestConfirm(t *testing.T) {
	there := managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}
	cases := map[string]struct {
		reason  string
		created bool
		failed  bool
		is      managed.ExternalObservation
		err     error
		looks   int
		confirm bool
	}{
		"Created":    {reason: "It is there, as asked for.", created: true, is: there, looks: 1, confirm: true},
		"NotCreated": {reason: "Nothing was created in this pass."},
		"Failed":     {reason: "What is not stored must not be Ready.", created: true, failed: true, is: there},
		"Gone":       {reason: "It is gone again.", created: true, looks: 1},
		"Differs":    {reason: "It has to be updated.", created: true, is: managed.ExternalObservation{ResourceExists: true}, looks: 1},
		"Late": {
			reason: "There is something to store.", created: true, looks: 1,
			is: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ResourceLateInitialized: true},
		},
		"Down": {reason: "Nothing can be seen.", created: true, is: there, err: errors.New("down"), looks: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, subscription())
			looks := 0
			c := &Connector[*gatewayv1alpha1.Subscription]{environments: b.environments, kind: &Kind[*gatewayv1alpha1.Subscription]{
				Client: func(_ context.Context, _ *gatewayv1alpha1.Subscription, env Environment) (managed.TypedExternalClient[*gatewayv1alpha1.Subscription], error) {
					if env.Look != closer(env.Look) {
						t.Error("what was created is not looked at itself")
					}
					return managed.TypedExternalClientFns[*gatewayv1alpha1.Subscription]{
						ObserveFn: func(_ context.Context, cr *gatewayv1alpha1.Subscription) (managed.ExternalObservation, error) {
							looks++
							cr.SetConditions(xpv2.Available())
							return tc.is, tc.err
						},
					}, nil
				},
			}}
			o := stored(t, b.kube)
			o.SetConditions(xpv2.Creating(), xpv2.ReconcileSuccess())
			if tc.failed {
				o.SetConditions(xpv2.ReconcileError(errors.New("no")))
			}
			w := confirming[*gatewayv1alpha1.Subscription]{Client: b.kube, confirm: c.confirm}
			if err := w.Status().Update(withPass(t.Context(), &pass{created: tc.created}), o); err != nil {
				t.Fatal(err)
			}
			want := xpv2.ReasonCreating
			if tc.confirm {
				want = xpv2.ReasonAvailable
			}
			if got := stored(t, b.kube).GetCondition(xpv2.TypeReady).Reason; got != want || looks != tc.looks || b.kube.calls["status"] != 1 {
				t.Errorf("%s Ready is %s, want %s; looked %d times, calls %v", tc.reason, got, want, looks, b.kube.calls)
			}
		})
	}
}
