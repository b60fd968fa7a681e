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
	"path/filepath"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// A provider that is told to end while it starts does so at once, whatever it is
// about.
func TestEndWhileStarting(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		for range 10 {
			w.restart()
		}
	})
}

// A kind whose definition is deleted is looked after until its objects are gone, and so is
// what refers to them, also by a provider that starts meanwhile.
//
// contract: S4, S32
func TestDefinitionDeleted(t *testing.T) {
	t.Parallel()
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	scheme := newScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(plane.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOn(t, plane, kube, emulator.Options{Generation: emulator.InPlace})
	w.gw.AddAPI("api")
	gold := w.plan("gold", "Gold")
	w.create(gold)
	s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
	})

	w.stop()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "subscriptionplans." + gatewayv1alpha1.Group}}
	w.delete(definition)
	w.start(w.ns)
	edit(w, s, func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
	})
	w.eventually("access is revoked", func() error {
		if is := w.only(); is.Status != string(gatewayv1alpha1.SubscriptionRevoked) {
			return errNotYet
		}
		return nil
	})
	w.says(gold, xpv2.TypeSynced, corev1.ConditionFalse, "the plan is in use by 1 subscription")
	w.delete(s)
	w.gone(s, gold, definition)
	if n := len(w.gw.Plans()); n != 0 {
		t.Errorf("%d plans are left at the gateway", n)
	}
}
