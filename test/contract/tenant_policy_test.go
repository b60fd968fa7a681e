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
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

// The admission policy that is among the examples keeps tenants from what they could take
// from others, or leave behind, by fields of their own objects, and from nothing else.
//
// contract: A5
func TestTenantPolicy(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		root, err := controlplane.FindRoot()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(root, "examples", "cluster", "tenant-policy.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		// The provider here is no service account.
		raw = bytes.ReplaceAll(raw, []byte("system:serviceaccount:crossplane-system:"), []byte("sandbox-admin"))
		objects, err := manifest.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			w.create(o)
			t.Cleanup(func() { _ = w.kube.Delete(shared.life, o) })
		}
		edit(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}, func(ns *corev1.Namespace) {
			ns.SetLabels(map[string]string{"gateway-tenant": "true"})
		})
		cfg := rest.CopyConfig(w.plane.RESTConfig())
		// Who may do everything, so that nothing but the policy refuses anything.
		cfg.Impersonate = rest.ImpersonationConfig{UserName: "tenant", Groups: []string{"system:masters", "system:authenticated"}}
		tenant, err := client.New(cfg, client.Options{Scheme: newScheme()})
		if err != nil {
			t.Fatal(err)
		}

		w.gw.AddAPI("api")
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptIfProven
		})
		refusedFor := func(what string, do func() error) {
			t.Helper()
			w.eventually(what+" is refused", func() error {
				if err := do(); !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "gateway-tenants") {
					return fmt.Errorf("it is answered: %w", err)
				}
				return nil
			})
		}
		created := func(change func(o resource.Managed)) func() error {
			return func() error {
				o := w.subscription("two", "api")
				o.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptIfProven
				change(o)
				return tenant.Create(t.Context(), o, client.DryRunAll)
			}
		}
		edited := func(change func(o *gatewayv1alpha1.Subscription)) func() error {
			return func() error {
				if err := w.get(s); err != nil {
					return err
				}
				change(s)
				return tenant.Update(t.Context(), s, client.DryRunAll)
			}
		}
		refusedFor("spec.adoptionPolicy", created(func(o resource.Managed) {
			o.(*gatewayv1alpha1.Subscription).Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptIfUnique //nolint:forcetypeassert // It was made so.
		}))
		refusedFor("spec.adoptionPolicy", func() error {
			api := w.api("books")
			api.Spec.AdoptionPolicy = gatewayv1alpha1.RestApiAdoptionTakeover
			return tenant.Create(t.Context(), api, client.DryRunAll)
		})
		refusedFor("crossplane.io/external-name", created(func(o resource.Managed) { meta.SetExternalName(o, "of-another") }))
		refusedFor("crossplane.io/external-name", edited(func(o *gatewayv1alpha1.Subscription) { meta.SetExternalName(o, "of-another") }))
		refusedFor("spec.managementPolicies", edited(func(o *gatewayv1alpha1.Subscription) {
			o.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		}))
		refusedFor("finalizers", edited(func(o *gatewayv1alpha1.Subscription) { o.SetFinalizers(nil) }))

		if err := created(func(resource.Managed) {})(); err != nil {
			t.Errorf("an ordinary subscription is refused: %v", err)
		}
		if err := w.get(s); err != nil {
			t.Fatal(err)
		}
		s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		if err := tenant.Update(t.Context(), s); err != nil {
			t.Fatalf("an edit is refused: %v", err)
		}
		w.ready(s)
		if err := tenant.Delete(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		w.gone(s)
	})
}
