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
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// The external-name of a deployed subscription leads nowhere else: what is revoked
// or deleted is what was held.
//
// contract: S1, S3, S4, S23, S32
// case: C9
func TestExternalNameStays(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		id := externalName(s)
		if w.inPlace && id != string(s.GetUID()) {
			t.Errorf("want the UID asked for, got %q", id)
		}
		if id == s.GetName() {
			t.Error("the ID is the object's name")
		}
		// One more of the same application, so that nothing but the ID tells them apart.
		stranger, ok := w.gw.AddSubscription(emulator.Subscription{ID: "stranger", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "another")
		if !ok {
			t.Fatal("cannot make it by hand")
		}
		plan, _ := w.gw.AddPlan("Gold")
		writes := w.writes()

		edit(w, s, func(s *gatewayv1alpha1.Subscription) { meta.RemoveAnnotations(s, meta.AnnotationKeyExternalName) })
		w.holds(s, id)
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.SetExternalName(s, stranger.ID)
			s.Spec.ForProvider.SubscriptionPlanID = &plan.ID
		})
		message := w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		if !strings.Contains(message, id) || !strings.Contains(message, stranger.ID) {
			t.Errorf("want both IDs named, got: %s", message)
		}
		w.poked(s)
		w.polled(id, 2)
		w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		if n := w.writes(); n != writes {
			t.Errorf("want nothing sent, got %d writes", n-writes)
		}

		// Access is taken from what is held, and not given back before it is settled which
		// one is meant.
		ask := func(status gatewayv1alpha1.SubscriptionStatusValue) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.Status = &status })
		}
		ask(gatewayv1alpha1.SubscriptionRevoked)
		w.eventually("it is revoked", func() error {
			if at, _ := w.gw.Subscription(id); at.Status != "REVOKED" {
				return fmt.Errorf("it is %s", at.Status)
			}
			return nil
		})
		ask(gatewayv1alpha1.SubscriptionActive)
		w.polled(id, 2)
		w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		if at, _ := w.gw.Subscription(id); at.Status != "REVOKED" || at.SubscriptionPlanID != "" {
			t.Errorf("want it revoked and nothing else, got %+v", at)
		}
		if n, puts := w.writes()-writes, w.gw.Count(emulator.Match{Method: http.MethodPut, ID: id}); n != 1 || puts != 1 {
			t.Errorf("want one PUT of the status, got %d writes and %d PUTs", n, puts)
		}

		w.delete(s)
		w.gone(s)
		if all := w.gw.Subscriptions(); len(all) != 1 || all[0] != stranger {
			t.Errorf("want the stranger's alone and as it was, got %+v", all)
		}
	})
}

// What cannot be an ID, or contradicts the spec, is refused before anything is
// created, and leads to nothing of anybody else's.
//
// contract: S3, S5
// case: F10
func TestExternalNameThatIsNoID(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		there, _ := w.gw.AddSubscription(emulator.Subscription{ID: "id", APIHandle: "api", ApplicationID: "app", Status: "ACTIVE"}, "secret")
		names := map[string]string{
			"fragment": "id#x", "query": "id?x", "slash": "a/b", "up": "..", "here": ".", "escaped": "%2F", "upescaped": "%2e%2e", "blank": " ", "over": "x/../id", "dotted": "id/.",
		}
		only := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		var all []*gatewayv1alpha1.Subscription
		for name, id := range names {
			like := func(s *gatewayv1alpha1.Subscription) {
				meta.SetExternalName(s, id)
				s.Spec.ForProvider.ApplicationID = ptr("app")
			}
			all = append(all, w.asked(name, like), w.asked(name+"-observed", like, func(s *gatewayv1alpha1.Subscription) { s.Spec.ManagementPolicies = only }))
		}
		all = append(all, w.asked("contradiction", func(s *gatewayv1alpha1.Subscription) {
			meta.SetExternalName(s, "one")
			s.Spec.ForProvider.ExternalRefID = ptr("two")
		}))
		for _, s := range all {
			w.kept(s)
			if s.Status.AtProvider.ID != "" || s.Status.Deployed {
				t.Errorf("%s shows %+v", s.GetName(), s.Status.AtProvider)
			}
		}
		contradiction := all[len(all)-1]
		if message := w.kept(contradiction); !strings.Contains(message, `"one"`) || !strings.Contains(message, `"two"`) {
			t.Errorf("want both IDs named, got: %s", message)
		}
		for _, s := range all {
			w.delete(s)
		}
		for _, s := range all {
			w.gone(s)
		}
		if n := w.writes(); n != 0 || w.only() != there {
			t.Errorf("%d writes; at the gateway is %+v", n, w.only())
		}
	})
}

// A contradiction that is corrected is created.
//
// contract: S3, A3
func TestExternalNameCorrected(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		s := w.asked("one", func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, "a/b") })
		w.refused(s, gatewayv1alpha1.ReasonRefused)
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, "preset") })
		w.ready(s)
		if at := w.only(); at.ID != "preset" || externalName(s) != "preset" {
			t.Errorf("external-name %q, at the gateway %+v", externalName(s), at)
		}
		// A preset name is what is asked for, also when it vanished.
		w.gw.DeleteSubscription("preset")
		w.eventually("it is back", func() error {
			if _, ok := w.gw.Subscription("preset"); !ok {
				return errNotYet
			}
			return nil
		})
		w.ready(s)
	})
}
