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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A straightforward create is one POST and no PUT, and then nothing is written.
//
// contract: S1, S3, S4, S6, A10
// case: W12
func TestCreate(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("chosen-id") })

		at := w.only()
		if externalName(s) != at.ID {
			t.Errorf("want external-name %q, got %q", at.ID, externalName(s))
		}
		if chosen := at.ID == "chosen-id"; chosen != w.inPlace {
			t.Errorf("the gateway has ID %q", at.ID)
		}
		if !w.gw.LetThrough("api", "token-of-one") {
			t.Error("the token is not let through")
		}
		before := s.GetResourceVersion()
		w.polled(at.ID, 5)
		if err := w.get(s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(1, w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true})); diff != "" {
			t.Errorf("writes at the gateway: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(before, s.GetResourceVersion()); diff != "" {
			t.Errorf("an idle object was written: -want, +got:\n%s", diff)
		}
	})
}

// A plan, a token and a status change in place, each by one PUT.
//
// contract: S15, S21, S26
// case: A6, A7, A8, B5
func TestChangeInPlace(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		bronze, gold := w.plan("bronze", "Bronze"), w.plan("gold", "Gold")
		w.create(bronze, gold)
		w.ready(bronze, gold)
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "bronze"}
		})
		id, puts := externalName(s), 0
		putOnce := func(what string) {
			t.Helper()
			puts++
			w.polled(id, 2)
			if n := w.gw.Count(emulator.Match{Method: "PUT", Kind: emulator.Subscriptions}); n != puts {
				t.Fatalf("%s: want %d PUTs so far, got %d", what, puts, n)
			}
		}

		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		w.ready(s)
		if got := w.only().SubscriptionPlanID; got != externalName(gold) {
			t.Errorf("want plan %q, got %q", externalName(gold), got)
		}
		putOnce("switch the plan")

		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanIDRef = nil })
		w.ready(s)
		if got := w.only().SubscriptionPlanID; got != "" {
			t.Errorf("want no plan, got %q", got)
		}
		putOnce("clear the plan")

		for i := range 3 {
			token := fmt.Sprintf("rotated-%d", i)
			edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(token + "\n")} })
			w.eventually("the new token is in force", func() error {
				if !w.gw.LetThrough("api", token) {
					return fmt.Errorf("it is refused")
				}
				return nil
			})
			putOnce("rotate the token")
		}
		if w.gw.LetThrough("api", "token-of-one") {
			t.Error("the first token is still let through")
		}

		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		})
		w.ready(s)
		if got := w.only().Status; got != "REVOKED" {
			t.Errorf("want REVOKED, got %s", got)
		}
		putOnce("revoke")

		if got := w.only().ID; got != id {
			t.Errorf("want the same subscription %q, got %q", id, got)
		}
		w.delete(s)
		w.gone(s)
		if all := w.gw.Subscriptions(); len(all) != 0 {
			t.Errorf("want nothing left, got %+v", all)
		}
	})
}

// A label on the token Secret, white space, and another Secret with the same
// token are no rotation.
//
// contract: S26
// case: W1, A1
func TestSameTokenIsNoRotation(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		id, writes := externalName(s), w.writes()

		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		w.polled(id, 2)
		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(" token-of-one\n")} })
		w.polled(id, 2)
		w.create(w.secret("two", map[string]string{"other": "token-of-one"}))
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionTokenSecretRef = &gatewayv1alpha1.TokenSecretReference{Name: "two", Key: "other"}
		})
		w.ready(s)
		w.polled(id, 2)
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}

// What cannot be changed is refused by the API server once there is something.
//
// contract: S15, S16
func TestImmutableAtAdmission(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		w.gw.AddAPI("other")
		waiting := w.subscription("waiting", "api")
		w.create(waiting)
		w.refused(waiting, gatewayv1alpha1.ReasonTokenSecretMissing)
		edit(w, waiting, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = ptr("changed-before") })

		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.ExternalRefID = ptr("ref")
			s.Spec.ForProvider.BillingCustomerID = ptr("customer")
			s.Spec.ForProvider.BillingSubscriptionID = ptr("billing")
		})
		writes := w.writes()
		for field, change := range map[string]func(p *gatewayv1alpha1.SubscriptionParameters){
			"externalRefId":         func(p *gatewayv1alpha1.SubscriptionParameters) { p.ExternalRefID = ptr("changed") },
			"apiId":                 func(p *gatewayv1alpha1.SubscriptionParameters) { p.APIID = ptr("other") },
			"applicationId":         func(p *gatewayv1alpha1.SubscriptionParameters) { p.ApplicationID = ptr("changed") },
			"billingCustomerId":     func(p *gatewayv1alpha1.SubscriptionParameters) { p.BillingCustomerID = ptr("changed") },
			"billingSubscriptionId": func(p *gatewayv1alpha1.SubscriptionParameters) { p.BillingSubscriptionID = ptr("changed") },
		} {
			err := tryEdit(w, s, func(s *gatewayv1alpha1.Subscription) { change(&s.Spec.ForProvider) })
			if err == nil || !strings.Contains(err.Error(), "spec.forProvider."+field) || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("want a clear refusal of a changed %s, got: %v", field, err)
			}
		}
		// What admission does not see, the controller does: a value taken away.
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = nil })
		message := w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		if !strings.Contains(message, `spec.forProvider.applicationId cannot be changed from "app-one" to ""`) {
			t.Errorf("want field, old and new value, got: %s", message)
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = ptr("app-one") })
		w.ready(s)
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}
