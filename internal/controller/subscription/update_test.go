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

package subscription

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// One PUT carries status, plan and token together, and an absent plan is taken
// away.
//
// contract: S15, S21
// case: A7, B6
func TestUpdate(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("tok2", "another token"))
	gold, silver := w.addPlan("Gold"), w.addPlan("Silver")
	w.add(subscription("s", planID(gold.ID)), subscription("bystander", tokenIn("tok2")))
	w.settle("s")
	w.settle("bystander")
	w.edit("s", planID(silver.ID), status(v1alpha1.SubscriptionInactive))
	w.setToken("tok", otherToken)
	inForce(t, w.settle("s"))
	if n := w.count(http.MethodPut); n != 1 {
		t.Errorf("%d PUTs, want 1", n)
	}
	got, _ := w.Subscription("uid-s")
	if got.SubscriptionPlanID != silver.ID || got.Status != "INACTIVE" || !w.HoldsToken("uid-s", otherToken) {
		t.Errorf("not all of it is in force: %+v", got)
	}
	w.edit("s", func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.SubscriptionPlanID, cr.Spec.ForProvider.Status = nil, nil
	})
	inForce(t, w.settle("s"))
	if got, _ = w.Subscription("uid-s"); got.SubscriptionPlanID != "" || got.Status != "ACTIVE" {
		t.Errorf("an absent plan is no plan, and an absent status ACTIVE: %+v", got)
	}
	if n := w.Count(emulator.Match{Method: http.MethodPut, ID: "uid-bystander"}); n != 0 {
		t.Errorf("%d PUTs to another subscription", n)
	}
}

// Whatever keeps plan and token from being applied does not keep the status from
// it, and the cause stays visible. Once it is cured one PUT brings the rest.
//
// contract: S23, S24, A1
// case: W15, H1, A18
func TestStatusFirst(t *testing.T) {
	cases := map[string]struct {
		reason string
		setup  []change
		// breaks makes it impossible to apply more than the status.
		breaks func(w *world)
		want   xpv2.ConditionReason
		cure   func(w *world)
	}{
		"SecretGone": {
			reason: "The Secret with the token is gone.", want: v1alpha1.ReasonTokenSecretMissing,
			breaks: func(w *world) { w.deleteSecret("tok") }, cure: func(w *world) { w.add(tokenSecret("tok", otherToken)) },
		},
		"KeyGone": {
			reason: "Its key is gone.", want: v1alpha1.ReasonTokenSecretMissing,
			breaks: func(w *world) {
				w.editSecret("tok", func(s *corev1.Secret) { s.Data = map[string][]byte{"other": nil} })
			},
			cure: func(w *world) {
				w.editSecret("tok", func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(otherToken)} })
			},
		},
		"TokenTaken": {
			reason: "The new token is taken.", want: v1alpha1.ReasonConflict,
			breaks: func(w *world) {
				w.byHand(byHandLike("taken", "stranger", "stranger"))
				w.setToken("tok", "taken")
			},
			cure: func(w *world) { w.setToken("tok", otherToken) },
		},
		"PlanUnknown": {
			reason: "The plan is not there.", want: v1alpha1.ReasonPlanMissing,
			breaks: func(w *world) { w.edit("s", planID("nowhere")) },
			cure: func(w *world) {
				w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanID = nil })
				w.setToken("tok", otherToken)
			},
		},
		"PlanObjectGone": {
			reason: "The plan's object is gone.", want: v1alpha1.ReasonPlanMissing, setup: []change{planRef("gold")},
			breaks: func(w *world) {
				if err := w.kube.Delete(w.t.Context(), &v1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "gold"}}); err != nil {
					w.t.Fatal(err)
				}
			},
			cure: func(w *world) {
				w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanIDRef = nil })
				w.setToken("tok", otherToken)
			},
		},
		"IllegalEdit": {
			reason: "A field was changed that cannot be.", want: v1alpha1.ReasonImmutableField,
			breaks: func(w *world) { w.edit("s", application("other")) },
			cure:   func(w *world) { w.edit("s", application("app")); w.setToken("tok", otherToken) },
		},
		"OtherAPI": {
			reason: "The API is another one.", want: v1alpha1.ReasonImmutableField,
			breaks: func(w *world) { w.edit("s", api("films")) },
			cure:   func(w *world) { w.edit("s", api("books")); w.setToken("tok", otherToken) },
		},
	}
	for name, tc := range cases {
		for _, s := range []v1alpha1.SubscriptionStatusValue{v1alpha1.SubscriptionRevoked, v1alpha1.SubscriptionInactive} {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
				w.addAPI("films")
				w.addManagedPlan("gold", w.addPlan("Gold").ID)
				w.add(subscription("s", append([]change{application("app")}, tc.setup...)...))
				w.settle("s")
				tc.breaks(w)
				w.edit("s", status(s))
				for range 3 {
					cr, err := w.pass("s")
					refused(t, cr, err, tc.want)
				}
				got, _ := w.Subscription("uid-s")
				if got.Status != string(s) {
					t.Errorf("%s The status is %s, want %s", tc.reason, got.Status, s)
				}
				if n := w.events.count("StatusApplied"); n != 1 {
					t.Errorf("%s %d events, want 1", tc.reason, n)
				}
				w.counted("apiplatform_status_only_updates_total", 1)
				// Also when somebody sets it back while the rest cannot be applied.
				w.changeByHand("uid-s", map[string]any{"status": "ACTIVE"})
				if wake, err := w.guard("s"); !wake || err != nil {
					t.Errorf("%s A revocation that was undone does not wake it: %v", tc.reason, err)
				}
				cr, err := w.pass("s")
				refused(t, cr, err, tc.want)
				if got, _ = w.Subscription("uid-s"); got.Status != string(s) {
					t.Errorf("%s The status was set back and is %s", tc.reason, got.Status)
				}
				if wake, err := w.guard("s"); wake || err != nil {
					t.Errorf("%s It is woken for nothing: %v", tc.reason, err)
				}

				tc.cure(w)
				w.ResetJournal()
				cr = w.settle("s")
				inForce(t, cr)
				if n := w.count(http.MethodPut); n != 1 {
					t.Errorf("%s %d PUTs after the cure, want 1", tc.reason, n)
				}
				if got, _ = w.Subscription("uid-s"); got.Status != string(s) || !w.HoldsToken("uid-s", otherToken) {
					t.Errorf("%s Not all of it is in force: %+v", tc.reason, got)
				}
				w.silent(secretToken, otherToken)
			})
		}
	}
}

// The status alone is not tried where it was the status that was refused, or the
// subscription that was gone.
//
// contract: S23
func TestStatusNotTriedInVain(t *testing.T) {
	for name, f := range map[string]emulator.Fault{
		"Status":  emulator.Status(http.StatusBadRequest, "invalid status: REVOKED"),
		"Gone":    emulator.Status(http.StatusNotFound, "Subscription not found"),
		"Failure": emulator.Status(http.StatusInternalServerError, "no"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
			w.settle("s")
			w.setToken("tok", otherToken)
			w.edit("s", status(v1alpha1.SubscriptionRevoked))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, f))
			if _, err := w.pass("s"); err == nil {
				t.Error("no error")
			}
			if n := w.count(http.MethodPut); n != 1 {
				t.Errorf("%d PUTs, want 1", n)
			}
			inForce(t, w.settle("s"))
		})
	}
}

// A plan that is about to be there is waited for, so that all goes out as one;
// what takes access away waits for a minute at most.
//
// contract: S24, S25
func TestPendingPlan(t *testing.T) {
	pending := func(t *testing.T, c ...change) *world {
		t.Helper()
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
		w.settle("s")
		w.addManagedPlan("gold", "")
		w.edit("s", append(c, planRef("gold"))...)
		return w
	}
	t.Run("Waits", func(t *testing.T) {
		w := pending(t)
		w.setToken("tok", otherToken)
		for range 5 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonPlanPending)
			w.wait(time.Minute)
		}
		if n := w.count(http.MethodPut); n != 0 {
			t.Errorf("%d PUTs, want none", n)
		}
		plan := w.addPlan("Gold")
		w.deployPlan("gold", plan.ID)
		inForce(t, w.settle("s"))
		if n := w.count(http.MethodPut); n != 1 || w.only().SubscriptionPlanID != plan.ID || !w.HoldsToken("uid-s", otherToken) {
			t.Errorf("%d PUTs, want 1 that brings all", n)
		}
	})
	t.Run("LessAccess", func(t *testing.T) {
		w := pending(t, status(v1alpha1.SubscriptionInactive))
		for _, d := range []time.Duration{0, 30 * time.Second, 29 * time.Second} {
			w.wait(d)
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonPlanPending)
			if !kind.IsPostponed(err) {
				t.Errorf("it waits for something else than the end of the minute: %v", err)
			}
			if got := w.only().Status; got != "ACTIVE" {
				t.Fatalf("the status went out alone although the plan may come any moment")
			}
		}
		w.wait(2 * time.Second)
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonPlanPending)
		if got := w.only().Status; got != "INACTIVE" {
			t.Errorf("after a minute the status is still %s", got)
		}
	})
	t.Run("MoreAccess", func(t *testing.T) {
		w := pending(t, status(v1alpha1.SubscriptionInactive))
		w.wait(2 * time.Minute)
		_, _ = w.pass("s")
		_, _ = w.pass("s")
		w.wait(2 * time.Minute)
		w.changeByHand("uid-s", map[string]any{"status": "REVOKED"})
		w.edit("s", status(v1alpha1.SubscriptionActive))
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonPlanPending)
		if got := w.only().Status; got != "REVOKED" {
			t.Errorf("access was given before the plan was there: %s", got)
		}
	})
}

// A changed reference switches the plan, a removed one takes it away, and a plan
// that was created again is followed; a selector keeps what it chose.
//
// contract: S25
func TestPlanReferences(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	gold, silver := w.addPlan("Gold"), w.addPlan("Silver")
	w.addManagedPlan("gold", gold.ID)
	w.addManagedPlan("silver", silver.ID)
	w.add(subscription("s", planRef("gold")))
	has := func(want string) {
		t.Helper()
		inForce(t, w.settle("s"))
		if got := w.only().SubscriptionPlanID; got != want {
			t.Errorf("its plan is %q, want %q", got, want)
		}
	}
	has(gold.ID)
	w.edit("s", planRef("silver"))
	has(silver.ID)
	again := w.addPlan("Silver again")
	w.deployPlan("silver", again.ID)
	has(again.ID)
	w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanIDRef = nil })
	has("")
	w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanName = ptr("Gold") })
	has(gold.ID)
	if n := w.Count(emulator.Match{Method: http.MethodPut}); n != 4 {
		t.Errorf("%d PUTs, want 4", n)
	}
}

// An API that is referred to is not changed by an edit of the reference, and one
// whose object is gone does not stand in the way.
//
// contract: S24, S25
func TestAPIReference(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.addAPI("films")
	w.addRestAPI("books", "books")
	w.addRestAPI("films", "films")
	ref := func(name string) change {
		return func(cr *v1alpha1.Subscription) {
			cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = nil, &v1alpha1.Reference{Name: name}
		}
	}
	w.add(subscription("s", ref("books")))
	inForce(t, w.settle("s"))
	w.edit("s", ref("films"))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	// A value instead of a reference is no change.
	w.edit("s", func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = ptr("books"), nil
	})
	inForce(t, w.settle("s"))
	w.edit("s", ref("gone"), status(v1alpha1.SubscriptionInactive))
	w.setToken("tok", otherToken)
	for range 3 {
		_, _ = w.pass("s")
	}
	if got := w.only(); got.Status != "INACTIVE" || !w.HoldsToken("uid-s", otherToken) {
		t.Errorf("a reference that leads nowhere stands in the way: %+v", got)
	}
}

// What cannot be changed is not, and is said with both values; what the gateway
// has anyway may be written into the spec.
//
// contract: S1, S15, S16, S17
func TestImmutableFields(t *testing.T) {
	edits := map[string]change{
		"externalRefId": externalRef("other"), "apiId": api("films"), "applicationId": application("other"),
		"billingCustomerId":     func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.BillingCustomerID = ptr("other") },
		"billingSubscriptionId": func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.BillingSubscriptionID = nil },
	}
	for field, edit := range edits {
		t.Run(field, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app"), externalRef("mine"), func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.BillingCustomerID, cr.Spec.ForProvider.BillingSubscriptionID = ptr("customer"), ptr("billing")
			}))
			w.addAPI("films")
			before := w.settle("s").Spec.DeepCopy()
			writes := w.Writes()
			w.edit("s", edit)
			for range 2 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonImmutableField)
				if m := cr.GetCondition(v1alpha1.TypeApplied).Message; !strings.Contains(m, "spec.forProvider."+field) {
					t.Errorf("the message does not name the field: %s", m)
				}
			}
			if w.Writes() != writes {
				t.Error("something was sent")
			}
			w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec = *before })
			inForce(t, w.settle("s"))
			if w.Writes() != writes {
				t.Error("setting it back sent something")
			}
		})
	}
	t.Run("WhatTheGatewayHas", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
		w.settle("s")
		w.edit("s", externalRef("uid-s"))
		inForce(t, w.settle("s"))
		if n := w.Writes(); n != 1 {
			t.Errorf("%d writes, want 1", n)
		}
	})
}

// What somebody changed at the gateway is set back; until then it is not ready.
//
// contract: S30, A1
// case: W8, H2
func TestDriftIsSetBack(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			plan := w.addPlan("Gold")
			w.add(subscription("s"))
			w.settle("s")
			id := w.only().ID
			w.changeByHand(id, map[string]any{"status": "REVOKED"})
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Status(http.StatusBadRequest, "not now")))
			cr, err := w.pass("s")
			if !kind.IsRefusal(err) || cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
				t.Errorf("it is ready although it is revoked: %v", err)
			}
			inForce(t, w.settle("s"))
			if got := w.only().Status; got != "ACTIVE" {
				t.Errorf("it was not set back: %s", got)
			}
			if g == emulator.InPlace {
				w.changeByHand(id, map[string]any{"subscriptionPlanId": plan.ID})
				inForce(t, w.settle("s"))
				if got := w.only().SubscriptionPlanID; got != "" {
					t.Errorf("the plan was not set back: %s", got)
				}
			}
		})
	}
}

// A write by somebody else that leaves no trace but the change stamp is answered
// once, since it may have been the token that was changed; then at most every ten
// minutes. What takes access away is never delayed by that.
//
// contract: S22, A8
// case: G11
func TestForeignWrites(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
	w.settle("s")
	foreign := func() { w.changeByHand("uid-s", map[string]any{"subscriptionToken": "stolen"}) }
	puts := func(want int, when string) {
		t.Helper()
		if n := w.count(http.MethodPut); n != want {
			t.Errorf("%s: %d PUTs, want %d", when, n, want)
		}
	}
	foreign()
	inForce(t, w.settle("s"))
	puts(1, "after one foreign write")
	if !w.HoldsToken("uid-s", secretToken) {
		t.Error("the token was not set back")
	}
	for range 3 {
		foreign()
		cr, err := w.pass("s")
		if err != nil {
			t.Fatal(err)
		}
		if c := cr.GetCondition(v1alpha1.TypeContested); c.Status != corev1.ConditionTrue {
			t.Errorf("Contested is %s", c.Status)
		}
		w.wait(time.Minute)
	}
	puts(1, "while somebody keeps writing")
	if n := w.events.count("Contested"); n != 1 {
		t.Errorf("it is told %d times that it is contested, want 1", n)
	}
	w.edit("s", status(v1alpha1.SubscriptionRevoked))
	_, _ = w.pass("s")
	puts(2, "when access is taken away")
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("the revocation is delayed: %s", got)
	}
	cr, _ := w.pass("s")
	if c := cr.GetCondition(v1alpha1.TypeContested); c.Status == corev1.ConditionTrue {
		t.Error("Contested although nobody writes any more")
	}
	w.wait(11 * time.Minute)
	foreign()
	inForce(t, w.settle("s"))
	puts(3, "ten minutes later")
}

// What a gateway answers that nobody expected leads neither to a crash nor to a
// loop of writes.
//
// contract: S29, S23
// case: G6, G10, G11
func TestUnknownValues(t *testing.T) {
	// set a field of subscriptions, and not of error messages.
	set := func(field string, value any) emulator.Fault {
		return emulator.Rewrite(func(o map[string]any) {
			if _, ok := o["id"]; ok {
				o[field] = value
			}
		})
	}
	cases := map[string]emulator.Fault{
		"LowerCase": set("status", "active"), "NewStatus": set("status", "SUSPENDED"), "NoStatus": set("status", nil),
		"OtherPlan": set("subscriptionPlanId", "other"), "NumericPlan": set("subscriptionPlanId", 1e6),
		"ExtraField": set("extra", map[string]any{"a": 1}), "NoStamps": set("updatedAt", nil), "OddStamp": set("updatedAt", "yesterday"),
		"NoGatewayID": set("gatewayId", nil), "NumericGatewayID": set("gatewayId", 7),
	}
	for name, f := range cases {
		for gname, g := range generations() {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
				w.settle("s")
				w.Inject(emulator.Always(emulator.Match{Kind: emulator.Subscriptions}, f))
				for range 10 {
					_, _ = w.pass("s")
					w.wait(time.Second)
				}
				if n := w.count(http.MethodPut); n > 4 {
					t.Errorf("%d PUTs in ten passes", n)
				}
				w.edit("s", status(v1alpha1.SubscriptionRevoked))
				for range 3 {
					_, _ = w.pass("s")
				}
				if got := w.only().Status; got != "REVOKED" {
					t.Errorf("it cannot be revoked: %s", got)
				}
				w.remove("s")
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Errorf("%d left behind", n)
				}
			})
		}
	}
}

// A legacy gateway is sent a change of plan once; it is not ready for a change
// that did not happen, and may still be revoked.
//
// contract: S28
// case: W11
func TestLegacyPlan(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
	w.declare(configv1alpha1.GatewayGenerationLegacy)
	plan := w.addPlan("Gold")
	w.add(subscription("s"))
	w.settle("s")
	w.edit("s", planID(plan.ID))
	for range 4 {
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
		w.restart()
	}
	if n := w.count(http.MethodPut); n != 1 {
		t.Errorf("%d PUTs, want 1", n)
	}
	w.edit("s", status(v1alpha1.SubscriptionRevoked))
	for range 3 {
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
	}
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("it is %s", got)
	}
	if n := w.count(http.MethodPut); n > 3 {
		t.Errorf("%d PUTs", n)
	}
	w.edit("s", func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanID = nil })
	inForce(t, w.settle("s"))
}

// The guard wakes what is held if its status was changed or it vanished, and
// otherwise leaves it and its gateway alone.
//
// contract: A3, S23, S30
func TestGuard(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"), subscription("never", api("nowhere")))
	_, _ = w.pass("never")
	w.settle("s")
	expect := func(name string, want bool) {
		t.Helper()
		writes := w.Writes()
		if wake, err := w.guard(name); wake != want || err != nil {
			t.Errorf("%s is woken: %t, want %t: %v", name, wake, want, err)
		}
		if w.Writes() != writes {
			t.Error("the guard writes")
		}
	}
	expect("s", false)
	expect("never", false)
	w.changeByHand("uid-s", map[string]any{"status": "REVOKED"})
	expect("s", true)
	w.edit("s", status(v1alpha1.SubscriptionRevoked))
	expect("s", false)
	// Where it could not be given, nothing is gained by waking it.
	w.edit("s", status(v1alpha1.SubscriptionActive), externalName("moved"))
	expect("s", false)
	w.edit("s", status(v1alpha1.SubscriptionInactive))
	expect("s", true)
	w.edit("s", status(v1alpha1.SubscriptionActive), externalName("uid-s"))
	for range 4 {
		w.changeByHand("uid-s", map[string]any{"status": "REVOKED"})
		_, _ = w.pass("s")
	}
	expect("s", false)
	w.wait(11 * time.Minute)
	expect("s", true)
	w.deleteByHand("uid-s")
	expect("s", true)
	w.edit("s", externalName("moved"))
	expect("s", false)
	w.edit("s", externalName("uid-s"))
	remove := w.Inject(emulator.Always(emulator.Match{}, emulator.Status(http.StatusInternalServerError, "no")))
	if wake, err := w.guard("s"); wake || err == nil {
		t.Errorf("an outage wakes it: %t, %v", wake, err)
	}
	remove()
	w.edit("s", func(cr *v1alpha1.Subscription) {
		meta.AddAnnotations(cr, map[string]string{v1alpha1.AnnotationBaseline: `{"v":2}`})
	})
	if wake, _ := w.guard("s"); wake {
		t.Error("what a newer version recorded is woken")
	}
}

// What was written here is not taken for somebody else's write if status could not be
// stored after it, as when a user edits the object in that moment.
//
// contract: S22
func TestOwnWriteUnreported(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.add(subscription("s", application("app")))
	w.settle("s")
	w.edit("s", status("REVOKED"))
	w.refuseWrites(func() bool { return w.count(http.MethodPut) > 0 })
	_, _ = w.pass("s")
	w.allowWrites()

	w.settle("s")
	if n := w.count(http.MethodPut); n != 1 {
		t.Errorf("%d PUTs, want one", n)
	}
	if s := w.only(); s.Status != "REVOKED" {
		t.Errorf("the status is %s", s.Status)
	}
}
