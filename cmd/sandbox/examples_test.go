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

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	protectionv1beta1 "github.com/crossplane/crossplane/apis/v2/protection/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/test/configuration"
)

// TestExamples has the API server judge what people are told to copy.
func TestExamples(t *testing.T) {
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	composites := t.TempDir()
	if err := configuration.WriteCRDs(root, composites); err != nil {
		t.Fatal(err)
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds"), composites}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Stop)
	// A field that is not in the schema is an error, not a warning.
	cfg := cp.RESTConfig()
	cfg.WarningHandler = rest.NoWarnings{}
	kube, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kube = client.WithFieldValidation(kube, metav1.FieldValidationStrict)
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: sandbox.Namespace}}); err != nil {
		t.Fatal(err)
	}

	dirs, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	// These are for tools that are not here; test/docs looks at them.
	others := []string{"backup", "gitops"}
	for _, dir := range dirs {
		if !dir.IsDir() || slices.Contains(others, dir.Name()) {
			continue
		}
		t.Run(dir.Name(), func(t *testing.T) {
			objects, err := readObjects(filepath.Join(root, "examples", dir.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				if o.GetKind() == xpv1.CompositionKind {
					// Its kind is Crossplane's, and not on this API server.
					if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &xpv1.Composition{}, true); err != nil {
						t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
					}
					continue
				}
				if err := kube.Create(t.Context(), o, client.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}

// What needs Crossplane beside the provider is of the form that Crossplane's own types
// have, and names what other examples create.
//
// contract: R6
func TestUsages(t *testing.T) {
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	examples := filepath.Join(root, "examples")
	there := map[string]bool{}
	created, err := readObjects(filepath.Join(examples, "quickstart"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range created {
		there[o.GetKind()+" "+o.GetName()] = true
	}
	objects, err := readObjects(filepath.Join(examples, "restapi", "crossplane"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		t.Run(o.GetName(), func(t *testing.T) {
			u := &protectionv1beta1.Usage{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, u, true); err != nil {
				t.Fatal(err)
			}
			if gvk := o.GroupVersionKind(); gvk != protectionv1beta1.UsageGroupVersionKind {
				t.Errorf("it is a %s", gvk)
			}
			if of := u.Spec.Of; of.APIVersion != gatewayv1alpha1.SchemeGroupVersion.String() || of.Kind != gatewayv1alpha1.RestApiKind || of.ResourceRef == nil || !there["RestApi "+of.ResourceRef.Name] {
				t.Errorf("it protects %+v", of)
			}
			switch by := u.Spec.By; {
			case by == nil && u.Spec.Reason == nil:
				t.Error("it says neither by what it is used nor why it stays")
			case by != nil && (by.APIVersion != gatewayv1alpha1.SchemeGroupVersion.String() || by.Kind != gatewayv1alpha1.SubscriptionKind || by.ResourceRef == nil || !there["Subscription "+by.ResourceRef.Name]):
				t.Errorf("it is used by %+v", by)
			}
		})
	}
}
