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
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// Until a kind's index is there, the API server tells who refers to a
// configuration. A kind that it does not know refers to none.
//
// contract: C4
func TestUsersLive(t *testing.T) {
	k := &Kind[*gatewayv1alpha1.Subscription]{NewList: func() resource.ManagedList { return &gatewayv1alpha1.SubscriptionList{} }}
	of := func(namespace, name string, ref *xpv2.ProviderConfigReference) *gatewayv1alpha1.Subscription {
		s := &gatewayv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		s.Spec.ProviderConfigReference = ref
		return s
	}
	namespaced := &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "default"}
	kube := newAPIServer(t,
		of("team", "a", namespaced), of("team", "b", namespaced), of("other", "a", namespaced),
		of("team", "c", nil), of("other", "c", &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "another"}),
	)
	for ref, want := range map[connection.Ref]int{
		{Kind: v1alpha1.ProviderConfigKind, Namespace: "team", Name: "default"}:  2,
		{Kind: v1alpha1.ProviderConfigKind, Namespace: "other", Name: "default"}: 1,
		{Kind: v1alpha1.ProviderConfigKind, Namespace: "third", Name: "default"}: 0,
		{Kind: v1alpha1.ClusterProviderConfigKind, Name: "default"}:              1,
		{Kind: v1alpha1.ClusterProviderConfigKind, Name: "another"}:              1,
	} {
		if n, err := k.usersLive(kube)(t.Context(), ref); n != want || err != nil {
			t.Errorf("%s: want %d, got %d, %v", ref, want, n, err)
		}
	}
	unknown := interceptor.NewClient(kubefake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return &meta.NoKindMatchError{}
		},
	})
	if n, err := k.usersLive(unknown)(t.Context(), connection.Ref{}); n != 0 || err != nil {
		t.Errorf("no CRD: %d, %v", n, err)
	}
	nothing := kubefake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build()
	if _, err := k.usersLive(nothing)(t.Context(), connection.Ref{}); err == nil {
		t.Error("what cannot be counted has no users")
	}
}
