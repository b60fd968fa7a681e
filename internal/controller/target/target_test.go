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

package target

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

func TestConfigured(t *testing.T) {
	const here = "http://gateway:9090/api/management/v1"
	scheme := runtime.NewScheme()
	if err := v1alpha1.SchemeBuilder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	confirms := map[string]string{v1alpha1.AnnotationAcceptGateway: "http://gateway:9090"}
	config := func(kind, name string, p v1alpha1.TemplateExpressionsPolicy, annotations map[string]string) client.Object {
		settings := v1alpha1.ConnectionSettings{Endpoint: "http://gateway:9090", TemplateExpressions: p}
		if kind == v1alpha1.ClusterProviderConfigKind {
			return &v1alpha1.ClusterProviderConfig{
				ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
				Spec:       v1alpha1.ClusterProviderConfigSpec{ConnectionSettings: settings},
			}
		}
		return &v1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Annotations: annotations},
			Spec:       v1alpha1.ProviderConfigSpec{ConnectionSettings: settings},
		}
	}
	for _, kind := range []string{v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind} {
		other := v1alpha1.ClusterProviderConfigKind
		if kind == other {
			other = v1alpha1.ProviderConfigKind
		}
		kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
			config(kind, "absent", "", nil),
			config(kind, "allows", v1alpha1.TemplateExpressionsAllow, confirms),
			config(kind, "denies", v1alpha1.TemplateExpressionsDeny, nil),
			// Of the other kind, and with the same names.
			config(other, "absent", v1alpha1.TemplateExpressionsDeny, confirms),
			config(other, "denies", v1alpha1.TemplateExpressionsAllow, confirms),
			config(other, "gone", v1alpha1.TemplateExpressionsAllow, confirms),
		).Build()
		for name, tc := range map[string]struct {
			reason string
			want   Target
		}{
			"absent": {reason: "What is not said is allowed.", want: Target{Endpoint: here}},
			"allows": {reason: "Both are said.", want: Target{Endpoint: here, Accepted: true}},
			"denies": {reason: "It is denied.", want: Target{Endpoint: here, ExpressionsDenied: true}},
			"gone":   {reason: "What is gone confirms nothing and allows nothing.", want: Target{Endpoint: here, ExpressionsDenied: true}},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				ref := connection.Ref{Kind: kind, Name: name}
				if kind == v1alpha1.ProviderConfigKind {
					ref.Namespace = "team"
				}
				got := Target{Endpoint: here}
				if err := got.configured(t.Context(), kube, ref); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}
