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
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// everything there is in the world's namespace, of all kinds.
func (w *world) everything() []unstructured.Unstructured {
	w.t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(shared.plane.RESTConfig())
	if err != nil {
		w.t.Fatal(err)
	}
	lists, err := d.ServerPreferredNamespacedResources()
	if err != nil {
		w.t.Fatal(err)
	}
	var all []unstructured.Unstructured
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			items := &unstructured.UnstructuredList{}
			items.SetGroupVersionKind(gv.WithKind(r.Kind + "List"))
			if err := w.kube.List(w.t.Context(), items, client.InNamespace(w.ns)); err != nil {
				w.t.Fatalf("cannot list %s: %v", r.Name, err)
			}
			all = append(all, items.Items...)
		}
	}
	return all
}
