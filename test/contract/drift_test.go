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
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What somebody changes at the gateway is set back.
//
// contract: S22, S30
// case: W8, H2
func TestDrift(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		gold, _ := w.gw.AddPlan("Gold")
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionActive)
		})
		id := externalName(s)
		for what, change := range map[string]func(*emulator.Subscription){
			"status": func(s *emulator.Subscription) { s.Status = "INACTIVE" },
			"plan":   func(s *emulator.Subscription) { s.SubscriptionPlanID = gold.ID },
		} {
			before := w.only()
			w.gw.EditSubscription(id, change)
			w.eventually(what+" is set back", func() error {
				at := w.only()
				if at.Status != before.Status || at.SubscriptionPlanID != before.SubscriptionPlanID {
					return fmt.Errorf("it is %+v", at)
				}
				return nil
			})
		}
		w.ready(s)

		// The token cannot be read, so somebody else's write may have changed it.
		w.polled(id, 2)
		w.gw.SetSubscriptionToken(id, "stolen")
		w.eventually("our token is in force again", func() error {
			if !w.gw.LetThrough("api", "token-of-one") || w.gw.LetThrough("api", "stolen") {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		// Whoever goes on writing is answered once, and then named.
		w.polled(id, 3)
		puts := w.gw.Count(emulator.Match{Method: "PUT"})
		w.gw.SetSubscriptionToken(id, "stolen again")
		w.eventually("it is contested", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if c := s.GetCondition(gatewayv1alpha1.TypeContested); c.Status != corev1.ConditionTrue {
				return fmt.Errorf("conditions: %s", conditionsOf(s))
			}
			return nil
		})
		w.polled(id, 3)
		if n := w.gw.Count(emulator.Match{Method: "PUT"}); n != puts {
			t.Errorf("want no further PUT for ten minutes, got %d", n-puts)
		}
	})
}

// A subscription that vanishes, alone or with its API, comes back: on an in-place
// gateway under its ID, with its token.
//
// contract: S3, S30
// case: W7
func TestVanished(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.BillingCustomerID = ptr("customer") })
		id := externalName(s)
		back := func(what string) {
			t.Helper()
			w.eventually("it is back after "+what, func() error {
				if !w.gw.LetThrough("api", "token-of-one") {
					return fmt.Errorf("the token is not let through")
				}
				return nil
			})
			w.eventually("the new ID is recorded", func() error {
				if err := w.get(s); err != nil || externalName(s) != w.only().ID {
					return fmt.Errorf("external-name is %q: %w", externalName(s), err)
				}
				return nil
			})
			w.ready(s)
			at := w.only()
			if at.ID != externalName(s) || w.inPlace && at.ID != id || at.BillingCustomerID != "customer" {
				t.Errorf("after %s: it was %q, external-name is %q, and at the gateway is %+v", what, id, externalName(s), at)
			}
		}
		w.gw.DeleteSubscription(id)
		back("it was deleted")
		w.gw.DeleteAPI("api")
		w.refused(s, gatewayv1alpha1.ReasonAPIMissing)
		w.gw.AddAPI("api")
		back("its API was deleted and made again")
	})
}

// Only the gateway's own 404 means that a subscription is gone.
//
// contract: S31, A3
// case: F11, W4, D7
func TestNotReadableIsNotGone(t *testing.T) {
	for name, fault := range map[string]emulator.Fault{
		"400": emulator.Status(400, "no"), "401": emulator.Denied(401), "403": emulator.Denied(403), "500": emulator.Status(500, "no"),
		"HTML404": emulator.HTML(404), "Redirect": emulator.Redirect("http://127.0.0.1:1/"), "Cut": emulator.Cut(),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				s := w.subscribed("one")
				id, writes := externalName(s), w.writes()
				stop := w.gw.Inject(emulator.Always(emulator.Match{Method: "GET", Kind: emulator.Subscriptions}, fault))
				w.eventually("it says so", func() error {
					if err := w.get(s); err != nil {
						return err
					}
					if s.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse || s.GetCondition(gatewayv1alpha1.TypeApplied).Status != corev1.ConditionUnknown {
						return fmt.Errorf("conditions: %s", conditionsOf(s))
					}
					return nil
				})
				if s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
					t.Errorf("Ready should keep its last value: %s", conditionsOf(s))
				}
				w.delete(s)
				w.eventually("deletion is tried", func() error {
					if err := w.get(s); err != nil {
						return err
					}
					if s.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonDeleting {
						return fmt.Errorf("conditions: %s", conditionsOf(s))
					}
					return nil
				})
				if n := w.writes(); n != writes || w.only().ID != id {
					t.Errorf("want no write while the gateway cannot be read, got %d", n-writes)
				}
				stop()
				w.gone(s)
				if n := len(w.gw.Subscriptions()); n != 0 {
					t.Errorf("want nothing left, got %d", n)
				}
			})
		})
	}
}

// Access is taken away first, whatever keeps the rest from being applied, and what
// that is stays visible.
//
// contract: S23, S24
// case: W15, H1
func TestStatusFirst(t *testing.T) {
	cases := map[string]struct {
		spoil  func(w *world, s *gatewayv1alpha1.Subscription)
		reason xpv2.ConditionReason
	}{
		"TokenSecretMissing": {func(w *world, _ *gatewayv1alpha1.Subscription) { w.delete(w.secret("one", nil)) }, gatewayv1alpha1.ReasonTokenSecretMissing},
		"TokenTaken": {func(w *world, _ *gatewayv1alpha1.Subscription) {
			w.gw.AddSubscription(emulator.Subscription{APIHandle: "api", ApplicationID: "x"}, "taken")
			edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("taken")} })
		}, gatewayv1alpha1.ReasonConflict},
		"PlanInactive": {func(w *world, s *gatewayv1alpha1.Subscription) {
			p, _ := w.gw.AddPlan("Off")
			w.gw.SetPlanStatus(p.ID, "INACTIVE")
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = &p.ID })
		}, gatewayv1alpha1.ReasonPlanMissing},
		"PlanObjectMissing": {func(w *world, s *gatewayv1alpha1.Subscription) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "nowhere"}
			})
		}, gatewayv1alpha1.ReasonPlanMissing},
		"IllegalEdit": {func(w *world, s *gatewayv1alpha1.Subscription) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = nil })
		}, gatewayv1alpha1.ReasonImmutableField},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				s := w.subscribed("one")
				tc.spoil(w, s)
				w.refused(s, tc.reason)
				edit(w, s, func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
				})
				w.eventually("it is revoked", func() error {
					if at, _ := w.gw.Subscription(externalName(s)); at.Status != "REVOKED" {
						return fmt.Errorf("it is %s", at.Status)
					}
					return nil
				})
				w.refused(s, tc.reason)
				// Also while the rest is held back, nobody can give access again.
				w.gw.SetSubscriptionStatus(externalName(s), "ACTIVE")
				w.eventually("it is revoked again", func() error {
					if at, _ := w.gw.Subscription(externalName(s)); at.Status != "REVOKED" {
						return fmt.Errorf("it is %s", at.Status)
					}
					return nil
				})
				w.delete(s)
				w.gone(s)
				if _, ok := w.gw.Subscription(externalName(s)); ok {
					t.Error("it is still at the gateway")
				}
			})
		})
	}
}

// A legacy gateway accepts a change of plan or token and does nothing. This is
// said, once asked for, and not tried again.
//
// contract: S4, S28
// case: W11
func TestLegacyGateway(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		gold := w.plan("gold", "Gold")
		w.create(gold)
		w.ready(gold)
		s := w.subscribed("one")
		put := emulator.Match{Method: "PUT", Kind: emulator.Subscriptions}
		puts := w.gw.Count(put)
		for what, change := range map[string]struct {
			to, back func()
		}{
			"plan": {
				func() {
					edit(w, s, func(s *gatewayv1alpha1.Subscription) {
						s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
					})
				},
				func() {
					edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanIDRef = nil })
				},
			},
			"token": {
				func() {
					edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
				},
				func() {
					edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("token-of-one")} })
				},
			},
		} {
			change.to()
			message := w.refused(s, gatewayv1alpha1.ReasonLegacyGateway)
			if !strings.Contains(message, "the "+what) || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
				t.Errorf("want to be told about the %s and not to be ready: %s", what, conditionsOf(s))
			}
			w.polled(externalName(s), 3)
			puts++
			if n := w.gw.Count(put); n != puts {
				t.Errorf("%s: want one PUT per change, got %d more", what, n-puts)
			}
			change.back()
			w.ready(s)
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		})
		w.ready(s)
		if at := w.only(); at.Status != "REVOKED" {
			t.Errorf("want REVOKED, got %s", at.Status)
		}
	})
}

// A generated token is in the connection Secret before the gateway knows it, is
// kept by restarts and repairs, and rotates when asked to.
//
// contract: S27
// case: A9
func TestGeneratedToken(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		s := w.subscription("one", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
		})
		w.create(s)
		w.ready(s)
		connection := w.secret("connection", nil)
		token := func() string {
			t.Helper()
			if err := w.get(connection); err != nil {
				t.Fatal(err)
			}
			return string(connection.Data["token"])
		}
		first := token()
		if len(first) < 32 || !w.gw.LetThrough("api", first) || string(connection.Data["subscriptionId"]) != externalName(s) || string(connection.Data["apiId"]) != "api" {
			t.Errorf("want a strong token that is let through, the ID and the API; keys: %d, token of %d characters", len(connection.Data), len(first))
		}
		// No url, as none is configured.
		if keys := slices.Sorted(maps.Keys(connection.Data)); !slices.Equal(keys, []string{"apiId", "subscriptionId", "token"}) {
			t.Errorf("its keys are %v", keys)
		}
		writes := w.writes()
		w.restart()
		w.ready(s)
		w.polled(externalName(s), 2)
		if token() != first || w.writes() != writes {
			t.Errorf("a restart changed the token or wrote %d times", w.writes()-writes)
		}

		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "1"})
		})
		w.eventually("the token is rotated", func() error {
			if is := token(); is == first || !w.gw.LetThrough("api", is) || w.gw.LetThrough("api", first) {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		second := token()
		w.polled(externalName(s), 3)
		if token() != second {
			t.Error("one request for a rotation rotated twice")
		}
		edit(w, connection, func(c *corev1.Secret) { delete(c.Data, "token") })
		w.eventually("a deleted token is replaced", func() error {
			if is := token(); is == "" || is == second || !w.gw.LetThrough("api", is) {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		w.ready(s)

		// One that cannot be written keeps its token in force.
		third := token()
		edit(w, connection, func(c *corev1.Secret) { c.Immutable = ptr(true) })
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "2"})
		})
		w.refused(s, gatewayv1alpha1.ReasonRefused)
		if !w.gw.LetThrough("api", third) {
			t.Error("a token that cannot be handed out was put in force")
		}
		if err := w.kube.Delete(t.Context(), connection); err != nil {
			t.Fatal(err)
		}
		w.ready(s)
		if is := token(); is == third || !w.gw.LetThrough("api", is) {
			t.Error("the token was not rotated once it could be handed out")
		}
		w.delete(s)
		w.gone(s)
	})
}

// A connection Secret carries what a consumer needs, is restored, and never one
// that is somebody else's.
//
// contract: S27
// case: A7, A9
func TestConnectionSecret(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
		})
		connection := w.secret("connection", nil)
		holds := func(token string) func() error {
			return func() error {
				if err := w.get(connection); err != nil {
					return err
				}
				if string(connection.Data["token"]) != token || string(connection.Data["subscriptionId"]) != externalName(s) {
					return fmt.Errorf("it has %d keys", len(connection.Data))
				}
				return nil
			}
		}
		w.eventually("it is there", holds("token-of-one"))
		writes := w.writes()
		w.delete(connection)
		connection = w.secret("connection", nil)
		w.eventually("it is published again", holds("token-of-one"))
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
		w.eventually("the rotated token is published", holds("rotated"))

		w.create(w.secret("foreign", map[string]string{"mine": "mine"}), w.secret("two", map[string]string{"token": "two"}))
		two := w.subscription("two", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "foreign"}
		})
		w.create(two)
		if message := w.refused(two, gatewayv1alpha1.ReasonRefused); !strings.Contains(message, `"foreign"`) {
			t.Errorf("want the Secret named, got: %s", message)
		}
		if n := len(w.gw.Subscriptions()); n != 1 {
			t.Errorf("want nothing created, got %d subscriptions", n)
		}
	})
}

// References are waited for before there is anything, and followed afterwards.
//
// contract: S24, S25
// case: W17, B6
func TestReferences(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscription("one", "", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID = nil
			s.Spec.ForProvider.APIIDSelector = &gatewayv1alpha1.Selector{MatchLabels: map[string]string{"team": "a"}}
			s.Spec.ForProvider.SubscriptionPlanIDSelector = &gatewayv1alpha1.Selector{MatchLabels: map[string]string{"team": "a"}}
		})
		w.create(s, w.secret("one", map[string]string{"token": "token-of-one"}))
		w.refused(s, gatewayv1alpha1.ReasonAPIMissing)
		labelled := map[string]string{"team": "a"}
		api := w.api("api-m", "M", "A", "Z")
		api.Labels = labelled
		w.create(api)
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		plan := w.plan("m", "M")
		plan.Labels = labelled
		w.create(plan)
		w.ready(s, api, plan)
		if at := w.only(); at.SubscriptionPlanID != externalName(plan) || at.APIHandle != "api-m" {
			t.Errorf("want the plan and API that match, got %+v", at)
		}
		// A choice is kept although another one would now come first.
		first := w.plan("a", "A")
		first.Labels = labelled
		firstAPI := w.api("api-a")
		firstAPI.Labels = labelled
		writes := w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true})
		w.create(first, firstAPI)
		w.ready(first, firstAPI)
		w.polled(externalName(s), 3)
		if n := w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true}); n != writes {
			t.Errorf("want the choice kept, got %d writes", n-writes)
		}
		w.ready(s)

		// A deleted plan never blocks deletion.
		w.delete(s, plan, api)
		w.gone(s, plan, api)
	})
}

// An import states what it imports, is filled in once, and afterwards differs in
// nothing.
//
// contract: S18, S19
// case: D10, H6
func TestImport(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		plan, _ := w.gw.AddPlan("Gold")
		there, ok := w.gw.AddSubscription(emulator.Subscription{
			ID: "there", APIHandle: "api", ApplicationID: "app-one", SubscriptionPlanID: plan.ID, BillingCustomerID: "customer", Status: "INACTIVE",
		}, "token-of-one")
		if !ok {
			t.Fatal("cannot make it by hand")
		}
		s := w.subscription("one", "api", func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, there.ID) })
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
		w.ready(s)
		p := s.Spec.ForProvider
		if p.Status == nil || *p.Status != "INACTIVE" || p.SubscriptionPlanID == nil || *p.SubscriptionPlanID != plan.ID || p.BillingCustomerID == nil || *p.BillingCustomerID != "customer" {
			t.Errorf("want the spec filled in, got %+v", p)
		}
		at := w.only()
		at.UpdatedAt = there.UpdatedAt
		if at != there {
			t.Errorf("want it as it was:\n%+v\ngot\n%+v", there, at)
		}
		if n := w.gw.Count(emulator.Match{Method: "POST"}); n != 0 {
			t.Errorf("want no POST, got %d", n)
		}
		// From now on an absent plan means no plan.
		if !w.inPlace {
			return
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = nil })
		w.ready(s)
		if at := w.only(); at.SubscriptionPlanID != "" {
			t.Errorf("want no plan, got %q", at.SubscriptionPlanID)
		}
	})
}

// What is not described by the spec is not held, and what is missing looks the
// same as what does not fit.
//
// contract: S18, S32, A5
// case: C9
func TestImportOfAStranger(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		w.gw.AddAPI("other")
		theirs, _ := w.gw.AddSubscription(emulator.Subscription{ID: "theirs", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, "secret")
		elsewhere, _ := w.gw.AddSubscription(emulator.Subscription{ID: "elsewhere", APIHandle: "other", ApplicationID: "app-one", Status: "ACTIVE"}, "secret")
		observe := func(name, id string) *gatewayv1alpha1.Subscription {
			return w.subscription(name, "api", func(s *gatewayv1alpha1.Subscription) {
				meta.SetExternalName(s, id)
				s.Spec.ForProvider.ApplicationID = ptr("app-one")
			})
		}
		for name, id := range map[string]string{"a": theirs.ID, "b": elsewhere.ID} {
			s := observe(name, id)
			w.create(w.secret(name, map[string]string{"token": name}), s)
			message := w.refused(s, gatewayv1alpha1.ReasonImmutableField)
			if strings.Contains(message, "somebody") {
				t.Errorf("the message tells too much: %s", message)
			}
			if s.Status.AtProvider.ID != "" || s.Status.Deployed {
				t.Errorf("status tells too much: %+v", s.Status.AtProvider)
			}
			w.delete(s)
			w.gone(s)
		}
		for _, s := range []emulator.Subscription{theirs, elsewhere} {
			if is, _ := w.gw.Subscription(s.ID); is != s {
				t.Errorf("a stranger's subscription was changed from %+v to %+v", s, is)
			}
		}
	})
}

// An object that only observes never writes, and says what differs.
//
// contract: S34
// case: H5
func TestObserveOnly(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", Status: "INACTIVE"}, "secret")
		s := w.subscription("one", "api", func(s *gatewayv1alpha1.Subscription) {
			meta.SetExternalName(s, "there")
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionActive)
		})
		w.create(s)
		w.eventually("it says that the status differs", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if c := s.GetCondition(gatewayv1alpha1.TypeDrifted); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "status") || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				return fmt.Errorf("conditions: %s", conditionsOf(s))
			}
			return nil
		})
		w.delete(s)
		w.gone(s)
		if n := w.writes(); n != 0 {
			t.Errorf("want no write, got %d", n)
		}
		absent := w.subscription("two", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
		})
		w.create(absent, w.secret("two", map[string]string{"token": "two"}))
		w.eventually("it says that it may not create", func() error {
			if err := w.get(absent); err != nil {
				return err
			}
			if c := absent.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "may not create") {
				return fmt.Errorf("conditions: %s", conditionsOf(absent))
			}
			return nil
		})
		if n := w.writes(); n != 0 {
			t.Errorf("want no write, got %d", n)
		}
	})
}
