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

package controller

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// openGate opens the gate to the controllers of those kinds that are served, in every
// replica. The runtime's own takes a kind whose CRD is being deleted for one that is not:
// its objects, which keep the CRD until they are gone, would never be seen off by a
// provider that starts then, and whatever refers to them would wait for ever.
func openGate(mgr ctrl.Manager, gate controller.Gate) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&apiextensionsv1.CustomResourceDefinition{}).
		Named("crd-gate").
		WithOptions(ctrlcontroller.Options{NeedLeaderElection: new(false)}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, crd); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			for _, gvk := range served(crd) {
				gate.Set(gvk, true)
			}
			return reconcile.Result{}, nil
		}))
}

// served are the kinds of a CRD whose objects can be read and written.
func served(crd *apiextensionsv1.CustomResourceDefinition) []schema.GroupVersionKind {
	for _, c := range crd.Status.Conditions {
		if c.Type != apiextensionsv1.Established || c.Status != apiextensionsv1.ConditionTrue {
			continue
		}
		var kinds []schema.GroupVersionKind
		for _, v := range crd.Spec.Versions {
			if v.Served {
				kinds = append(kinds, schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind})
			}
		}
		return kinds
	}
	return nil
}
