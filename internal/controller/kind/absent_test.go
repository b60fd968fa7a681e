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
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

// A kind that is not activated has no objects; it is indexed before it has, and watched
// from then on.
func TestAbsent(t *testing.T) {
	plans, apis := gatewayv1alpha1.SubscriptionPlanGroupVersionKind, gatewayv1alpha1.RestApiGroupVersionKind
	plan := &gatewayv1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "gold"}}
	s := newAPIServer(t, plan)
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(apis, apimeta.RESTScopeNamespace)

	a := &Absent{}
	c := &thriftyClient{Client: s, writes: &Writes{}, absent: a, remembers: func(client.Object) bool { return false }}
	o := Options{Options: controller.Options{Gate: new(gate.Gate[schema.GroupVersionKind])}, Startup: &Startup{}, Mapper: mapper, Absent: a, Fail: func(err error) { t.Error(err) }}
	for range 2 { // More than one kind may refer to it.
		served, err := a.await(o, apis, plans)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]schema.GroupVersionKind{apis}, served); diff != "" {
			t.Errorf("await(...): -want, +got:\n%s", diff)
		}
	}

	var done []string
	there := make(chan struct{})
	note := func(what string, then func()) func() error {
		return func() error { done = append(done, what); then(); return nil }
	}
	index := func(r *arrival) *[]func() error { return &r.indexes }
	watch := func(r *arrival) *[]func() error { return &r.watches }
	for _, err := range []error{
		a.later(s.Scheme(), &gatewayv1alpha1.RestApi{}, index, note("apis are indexed", func() {})),
		a.later(s.Scheme(), plan, watch, note("plans are watched", func() { close(there) })),
		a.later(s.Scheme(), plan, index, note("plans are indexed", func() {})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	key := types.NamespacedName{Namespace: "team", Name: "gold"}
	l := &gatewayv1alpha1.SubscriptionPlanList{}
	if err := c.Get(t.Context(), key, &gatewayv1alpha1.SubscriptionPlan{}); !kerrors.IsNotFound(err) {
		t.Errorf("Get(...) of an absent kind: want that it is not there, got: %v", err)
	}
	if err := c.List(t.Context(), l); err != nil || len(l.Items) != 0 {
		t.Errorf("List(...) of an absent kind: want nothing, got %d objects, %v", len(l.Items), err)
	}
	if err := c.List(t.Context(), &gatewayv1alpha1.RestApiList{}); err != nil {
		t.Errorf("List(...) of another: %v", err)
	}

	// Its CRD is established a moment before the API server tells of it.
	for _, gvk := range []schema.GroupVersionKind{v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind, v1alpha1.ProviderConfigUsageGroupVersionKind} {
		mapper.Add(gvk, apimeta.RESTScopeNamespace)
		o.Gate.Set(gvk, true)
	}
	mapper.Add(plans, apimeta.RESTScopeNamespace)
	o.Gate.Set(plans, true)
	<-there
	if diff := cmp.Diff([]string{"apis are indexed", "plans are indexed", "plans are watched"}, done); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if err := c.Get(t.Context(), key, &gatewayv1alpha1.SubscriptionPlan{}); err != nil {
		t.Errorf("Get(...) once the kind is there: %v", err)
	}
	if err := c.List(t.Context(), l); err != nil || len(l.Items) != 1 {
		t.Errorf("List(...) once the kind is there: want one, got %d, %v", len(l.Items), err)
	}
}

// A lateMapper knows a kind only from the given question on.
type lateMapper struct {
	apimeta.RESTMapper

	asked, knows int32
}

func (m *lateMapper) RESTMapping(gk schema.GroupKind, _ ...string) (*apimeta.RESTMapping, error) {
	if atomic.AddInt32(&m.asked, 1) < m.knows {
		return nil, &apimeta.NoKindMatchError{GroupKind: gk}
	}
	return &apimeta.RESTMapping{}, nil
}

func TestAwaitDiscovery(t *testing.T) {
	m := &lateMapper{knows: 3}
	(&Startup{}).awaitDiscovery(m, []schema.GroupVersionKind{gatewayv1alpha1.RestApiGroupVersionKind})
	if m.asked != 3 {
		t.Errorf("it was asked %d times, want until it knows: 3", m.asked)
	}
	never, ended := &lateMapper{knows: 1 << 30}, make(chan struct{})
	s := &Startup{}
	go func() {
		defer close(ended)
		s.awaitDiscovery(never, []schema.GroupVersionKind{gatewayv1alpha1.RestApiGroupVersionKind})
	}()
	s.End()
	<-ended
}
