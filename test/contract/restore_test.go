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
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Objects that are restored from a backup, which has neither their status nor their
// UIDs, hold what they held, whatever comes first.
//
// contract: S3, S12, S17, S18, A11
// case: D10
func TestRestored(t *testing.T) {
	for name, keep := range map[string]func(annotation string) bool{
		"Annotations": func(string) bool { return true },
		// As other tools do, who know external names alone.
		"NamesOnly": func(a string) bool { return a == meta.AnnotationKeyExternalName },
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				p, a := w.plan("gold", "Gold"), w.api("books")
				w.create(p, a)
				// Two of one application, so that only the ID tells them apart.
				like := func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = ptr("app") }
				one, two := w.subscribed("one", like), w.subscribed("two", like)
				all := []client.Object{one, two, p, a}
				w.ready(one, two, p, a)
				subscriptions, plans, apis := w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs()
				ids := map[string]string{}
				posts := w.gw.Count(emulator.Match{Method: http.MethodPost})

				w.stop()
				for _, o := range all {
					ids[o.GetName()] = externalName(o)
					w.delete(o)
					w.vanish(o)
				}
				slices.Reverse(all)
				restored := make([]resource.Managed, 0, len(all))
				for _, o := range all {
					annotations := map[string]string{}
					for k, v := range o.GetAnnotations() {
						if keep(k) {
							annotations[k] = v
						}
					}
					var again resource.Managed
					switch o := o.(type) {
					case *gatewayv1alpha1.Subscription:
						again = &gatewayv1alpha1.Subscription{Spec: o.Spec}
					case *gatewayv1alpha1.SubscriptionPlan:
						again = &gatewayv1alpha1.SubscriptionPlan{Spec: o.Spec}
					case *gatewayv1alpha1.RestApi:
						again = &gatewayv1alpha1.RestApi{Spec: o.Spec}
					}
					again.SetNamespace(w.ns)
					again.SetName(o.GetName())
					again.SetAnnotations(annotations)
					w.create(again)
					restored = append(restored, again)
				}
				// The Secrets are others too.
				for _, s := range []string{"one", "two"} {
					w.delete(w.secret(s, nil))
					w.create(w.secret(s, map[string]string{"token": "token-of-" + s}))
				}
				w.start(w.ns)
				w.ready(restored...)
				for _, o := range restored {
					if externalName(o) != ids[o.GetName()] {
						t.Errorf("%s held %q and holds %q", o.GetName(), ids[o.GetName()], externalName(o))
					}
					w.polled(externalName(o), 3)
				}
				w.ready(restored...)
				if n := w.gw.Count(emulator.Match{Method: http.MethodPost}) - posts + w.gw.Count(emulator.Match{Method: http.MethodDelete}); n != 0 {
					t.Errorf("%d creates and deletions", n)
				}
				after := w.gw.Subscriptions()
				for i := range after {
					after[i].UpdatedAt = subscriptions[i].UpdatedAt
				}
				if diff := cmp.Diff(subscriptions, after); diff != "" {
					t.Errorf("subscriptions: -want, +got:\n%s", diff)
				}
				if diff := cmp.Diff(plans, w.gw.Plans()); diff != "" {
					t.Errorf("plans: -want, +got:\n%s", diff)
				}
				if diff := cmp.Diff(apis, w.gw.APIs()); diff != "" {
					t.Errorf("APIs: -want, +got:\n%s", diff)
				}
				for _, token := range []string{"token-of-one", "token-of-two"} {
					if !w.gw.LetThrough("api", token) {
						t.Errorf("%s is not let through", token)
					}
				}
			})
		})
	}
}

// What the gateway's own operator left in an object is believed in nothing, and
// gone once the object is held.
//
// contract: S20
func TestConvertedObject(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		theirs, _ := w.gw.AddSubscription(emulator.Subscription{ID: "theirs", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, "secret")
		w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-one")
		left := map[string]string{
			"gateway.api-platform.wso2.com/subscription-last-applied-create-fingerprint": "0123456789abcdef",
			"gateway.api-platform.wso2.com/last-applied-subscription-token-secret-rv":    "42",
		}
		like := func(id string) func(s *gatewayv1alpha1.Subscription) {
			return func(s *gatewayv1alpha1.Subscription) {
				meta.AddAnnotations(s, maps.Clone(left))
				meta.SetExternalName(s, id)
			}
		}
		converted, wrong := w.asked("one", like("there")), w.asked("wrong", like("theirs"))
		w.ready(converted)
		w.refused(wrong, gatewayv1alpha1.ReasonImmutableField)
		for k := range left {
			if _, ok := converted.GetAnnotations()[k]; ok {
				t.Errorf("%s is still there", k)
			}
		}
		w.delete(wrong)
		w.gone(wrong)
		if is, _ := w.gw.Subscription("theirs"); is != theirs {
			t.Errorf("it was %+v and is %+v", theirs, is)
		}
	})
}
