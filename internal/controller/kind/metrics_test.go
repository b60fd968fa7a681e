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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// What is counted is what there is, and that it cannot be listed once ends nothing.
func TestStateRecorder(t *testing.T) {
	s := runtime.NewScheme()
	if err := gatewayv1alpha1.SchemeBuilder.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	is := func(name string, conditions ...xpv2.Condition) client.Object {
		mg := &gatewayv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		mg.SetConditions(conditions...)
		return mg
	}
	const failures = 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lists := 0
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(
		is("ready", xpv2.Available(), xpv2.ReconcileSuccess()),
		is("synced", xpv2.Creating(), xpv2.ReconcileSuccess()),
		is("stuck", xpv2.Unavailable(), xpv2.ReconcileError(errors.New("no"))),
		is("new"),
	).WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
		if lists++; lists <= failures {
			return errors.New("no")
		}
		defer cancel()
		return c.List(ctx, l, o...)
	}}).Build()
	metrics := statemetrics.NewMRStateMetrics()
	r := &stateRecorder{
		kube: kube, newList: func() resource.ManagedList { return &gatewayv1alpha1.SubscriptionList{} }, kind: gatewayv1alpha1.SubscriptionGroupVersionKind,
		metrics: metrics, interval: time.Millisecond, log: logging.NewNopLogger(),
	}
	if err := r.Start(ctx); err != nil {
		t.Fatal(err)
	}
	labels := prometheus.Labels{"gvk": "gateway.apiplatform.crossplane.io/v1alpha1, Kind=Subscription"}
	for name, tc := range map[string]struct {
		gauge *prometheus.GaugeVec
		want  float64
	}{
		"Exists": {metrics.Exists, 4},
		"Ready":  {metrics.Ready, 1},
		"Synced": {metrics.Synced, 2},
	} {
		if got := testutil.ToFloat64(tc.gauge.With(labels)); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}
