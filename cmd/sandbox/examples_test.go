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
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// TestExamples has the API server judge what people are told to copy.
func TestExamples(t *testing.T) {
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds")}})
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
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		t.Run(dir.Name(), func(t *testing.T) {
			objects, err := readObjects(filepath.Join(root, "examples", dir.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				if err := kube.Create(t.Context(), o, client.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}
