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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What earlier versions stored is loaded, and leads to what it led to then: nothing
// is created a second time, deleted, or taken for a stranger's. Each release adds a
// folder to testdata/stored that is never changed again.
//
// contract: A9, S11, S12, S17
// case: H7, D1
func TestStoredObjects(t *testing.T) {
	releases, err := os.ReadDir(filepath.Join("testdata", "stored"))
	if err != nil || len(releases) == 0 {
		t.Fatalf("%d releases, %v", len(releases), err)
	}
	for _, release := range releases {
		t.Run(release.Name(), func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				w.reconfigure(func(o *controller.Options) { o.ClusterID = "cluster" })
				w.stop()
				gold, _ := w.gw.AddPlan("Gold")
				code, _ := w.gw.Do(http.MethodPost, "/rest-apis", map[string]any{
					"apiVersion": "gateway.api-platform.wso2.com/v1alpha1", "kind": "RestApi",
					"metadata": map[string]any{"name": "books", "annotations": map[string]any{gatewayv1alpha1.AnnotationOwner: "cluster/" + w.ns + "/books"}},
					"spec": map[string]any{
						"displayName": "Books", "version": "v1.0", "context": "/books", "upstream": map[string]any{"main": map[string]any{"url": "http://books.example.org"}},
						"operations": []any{map[string]any{"method": "GET", "path": "/books"}},
					},
				})
				api, ok := w.gw.API("books")
				if !ok {
					t.Fatalf("cannot make the API: %d", code)
				}
				there := func(s emulator.Subscription, token string) {
					t.Helper()
					s.APIHandle, s.ApplicationID = "books", "shop"
					if _, ok := w.gw.AddSubscription(s, token); !ok {
						t.Fatal("cannot make it by hand")
					}
				}
				there(emulator.Subscription{ID: "deployed", ExternalRefID: "deployed", SubscriptionPlanID: gold.ID, BillingCustomerID: "customer", Status: "ACTIVE"}, "token")
				there(emulator.Subscription{ID: "imported", BillingCustomerID: "customer", Status: "INACTIVE"}, "theirs")
				there(emulator.Subscription{ID: "unanswered", ExternalRefID: "unanswered", Status: "ACTIVE"}, "token-unanswered")
				before := w.gw.Subscriptions()
				for name, token := range map[string]string{"token": "token", "token-imported": "theirs", "token-unanswered": "token-unanswered"} {
					w.create(w.secret(name, map[string]string{"token": token}))
				}

				all := w.stored(release.Name(), map[string]string{"$NAMESPACE": w.ns, "$ENDPOINT": w.gw.Endpoint(), "$API": api.InternalID, "$PLAN": gold.ID})
				w.start(w.ns)
				w.ready(all...)
				for _, o := range all {
					w.polled(externalName(o), 3)
				}
				if n := w.gw.Count(emulator.Match{Method: http.MethodPost}) + w.gw.Count(emulator.Match{Method: http.MethodDelete}); n != 0 {
					t.Errorf("%d creates and deletions", n)
				}
				if n := len(w.gw.Requests(emulator.Match{Writes: true, Where: func(r emulator.Request) bool { return r.Kind != emulator.Subscriptions }})); n != 0 {
					t.Errorf("%d writes of plans and APIs", n)
				}
				// A token of which nobody knows whether it is the same may be sent once more.
				after := w.gw.Subscriptions()
				for i := range after {
					after[i].UpdatedAt = before[i].UpdatedAt
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("-want, +got:\n%s", diff)
				}
				for _, id := range []string{"deployed", "imported", "unanswered"} {
					if n := w.gw.Count(emulator.Match{Writes: true, ID: id}); n > 1 {
						t.Errorf("%s was written %d times", id, n)
					}
				}
				for _, o := range all {
					w.delete(o)
				}
				w.gone(all[0], all[1], all[2], all[3], all[4])
				if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()) + len(w.gw.APIs()); n != 0 {
					t.Errorf("%d left behind", n)
				}
			})
		})
	}
}

// stored puts the objects that a release stored at the API server, statuses
// included.
func (w *world) stored(release string, values map[string]string) []resource.Managed {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "stored", release, "*.yaml"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("%d files, %v", len(files), err)
	}
	var all []resource.Managed
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			w.t.Fatal(err)
		}
		text := string(raw)
		for name, v := range values {
			text = strings.ReplaceAll(text, name, v)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			w.t.Fatalf("%s: %v", f, err)
		}
		status := u.Object["status"]
		w.create(u)
		if status != nil {
			u.Object["status"] = status
			if err := w.kube.Status().Update(w.t.Context(), u); err != nil {
				w.t.Fatalf("%s: %v", f, err)
			}
		}
		var o resource.Managed
		switch u.GetKind() {
		case gatewayv1alpha1.SubscriptionKind:
			o = &gatewayv1alpha1.Subscription{}
		case gatewayv1alpha1.SubscriptionPlanKind:
			o = &gatewayv1alpha1.SubscriptionPlan{}
		case gatewayv1alpha1.RestApiKind:
			o = &gatewayv1alpha1.RestApi{}
		default:
			w.t.Fatalf("%s: unexpected kind %q", f, u.GetKind())
		}
		o.SetNamespace(u.GetNamespace())
		o.SetName(u.GetName())
		all = append(all, o)
	}
	return all
}

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
