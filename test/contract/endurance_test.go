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
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A vanished subscription is not created again and again against somebody's will,
// and not given up either.
//
// contract: S30, A3
// case: G11
func TestVanishesAgainAndAgain(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		clock := &steppedClock{}
		w.reconfigure(func(o *controller.Options) { o.Clock = clock })
		s, other := w.subscribed("one"), w.subscribed("other")
		post := emulator.Match{Method: "POST", Kind: emulator.Subscriptions}
		for range 3 {
			posts := w.gw.Count(post)
			w.gw.DeleteSubscription(externalName(s))
			w.eventually("it is created again and recorded", func() error {
				if err := w.get(s); err != nil {
					return err
				}
				if _, ok := w.gw.Subscription(externalName(s)); !ok || w.gw.Count(post) == posts {
					return errNotYet
				}
				return nil
			})
			w.ready(s)
		}
		w.gw.DeleteSubscription(externalName(s))
		message := w.refused(s, gatewayv1alpha1.ReasonConflict)
		if !strings.Contains(message, "control plane") || !strings.Contains(message, "ten minutes") {
			t.Errorf("want likely causes and what happens next, got: %s", message)
		}
		if c := s.GetCondition(gatewayv1alpha1.TypeContested); c.Status != corev1.ConditionTrue || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
			t.Errorf("conditions: %s", conditionsOf(s))
		}
		posts := w.gw.Count(post)
		w.poked(s)
		w.polled(externalName(other), 5)
		if n := w.gw.Count(post); n != posts {
			t.Errorf("want it left alone for now, got %d more POSTs", n-posts)
		}
		clock.step(11 * time.Minute)
		w.poked(s)
		w.eventually("it is tried again", func() error {
			if w.gw.Count(post) == posts || !w.gw.LetThrough("api", "token-of-one") {
				return errNotYet
			}
			return nil
		})
		w.eventually("the new ID is recorded", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if _, ok := w.gw.Subscription(externalName(s)); !ok {
				return errNotYet
			}
			return nil
		})
		w.ready(s)
		if n := len(w.gw.Subscriptions()); n != 2 {
			t.Errorf("want two subscriptions, got %d", n)
		}
	})
}

// Less access waits a minute for a plan that is about to be there, and no longer;
// more access waits with it.
//
// contract: S23, S24, S25
// case: W15
func TestRevocationWaitsAMinuteForAPlan(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		clock := &steppedClock{}
		w.reconfigure(func(o *controller.Options) { o.Clock = clock })
		s, other := w.subscribed("one"), w.subscribed("other")
		id := externalName(s)
		// A plan object that is not at the gateway, since the name is somebody else's.
		byHand, _ := w.gw.AddPlan("Gold")
		p := w.plan("gold", "Gold")
		w.create(p)
		w.refused(p, gatewayv1alpha1.ReasonConflict)
		put := emulator.Match{Method: "PUT", ID: id}
		is := func() emulator.Subscription {
			at, _ := w.gw.Subscription(id)
			return at
		}
		ask := func(status gatewayv1alpha1.SubscriptionStatusValue) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
				s.Spec.ForProvider.Status = &status
			})
		}
		ask(gatewayv1alpha1.SubscriptionRevoked)
		w.refused(s, gatewayv1alpha1.ReasonPlanPending)
		w.poked(s)
		w.polled(externalName(other), 3)
		if n := w.gw.Count(put); n != 0 {
			t.Errorf("want both in one, got %d PUTs", n)
		}
		clock.step(61 * time.Second)
		w.poked(s)
		w.eventually("it is revoked", func() error {
			if is().Status != "REVOKED" {
				return errNotYet
			}
			return nil
		})
		w.refused(s, gatewayv1alpha1.ReasonPlanPending)
		w.tells(s, "StatusApplied")

		ask(gatewayv1alpha1.SubscriptionActive)
		clock.step(61 * time.Second)
		w.poked(s)
		w.polled(externalName(other), 3)
		if at := is(); at.Status != "REVOKED" || w.gw.Count(put) != 1 {
			t.Errorf("want access to wait for the plan, got %+v after %d PUTs", at, w.gw.Count(put))
		}
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) {
			p.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique
		})
		w.ready(p, s)
		if at := is(); at.Status != "ACTIVE" || at.SubscriptionPlanID != byHand.ID || w.gw.Count(put) != 2 {
			t.Errorf("want both at once, got %+v after %d PUTs", at, w.gw.Count(put))
		}
	})
}

// While an object is paused nothing is done, and what it holds stays its own; then
// all is done at once.
//
// contract: S12, S32, S35
func TestPaused(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		gold, _ := w.gw.AddPlan("Gold")
		w.gw.AddAPI("api", "Gold")
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("ref") })
		goes := w.subscribed("goes")
		p, a := w.plan("silver", "Silver"), w.api("books")
		w.create(p, a)
		w.ready(p, a)
		other := w.subscribed("other")
		pause := func(paused bool) {
			for _, o := range []resource.Managed{s, goes, p, a} {
				edit(w, o, func(o resource.Managed) {
					if meta.RemoveAnnotations(o, meta.AnnotationKeyReconciliationPaused); paused {
						meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
					}
				})
			}
		}
		pause(true)
		for _, o := range []resource.Managed{s, goes, p, a} {
			w.eventually("it says that it is paused", func() error {
				if err := w.get(o); err != nil {
					return err
				}
				if o.GetCondition(xpv2.TypeSynced).Reason != xpv2.ReasonReconcilePaused {
					return errNotYet
				}
				return nil
			})
		}
		about := func() int {
			n := 0
			for _, id := range []string{"ref", externalName(goes), externalName(p), externalName(a)} {
				n += w.gw.Count(emulator.Match{ID: id})
			}
			return n
		}
		before, writes := about(), w.writes()

		for _, token := range []string{"second", "third"} {
			edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(token)} })
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanID = &gold.ID
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionInactive)
		})
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.BillingPlan = ptr("paid") })
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Context = "/other" })
		w.delete(goes)
		thief := w.asked("thief", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.ExternalRefID = ptr("ref")
			s.Spec.ForProvider.ApplicationID = ptr("app-one")
		})
		w.refused(thief, gatewayv1alpha1.ReasonConflict)
		looked := w.gw.Count(emulator.Match{Method: "GET", ID: "ref"})
		w.polled(externalName(other), 5)
		// Who asks for its ID may look at it.
		if n := about() - before - looked; n > 0 || w.writes() != writes {
			t.Errorf("while paused: %d requests about them, and %d writes", n, w.writes()-writes)
		}
		w.restart()
		w.polled(externalName(other), 3)
		if w.writes() != writes {
			t.Errorf("after a restart: %d writes", w.writes()-writes)
		}
		w.delete(thief)
		w.gone(thief)

		pause(false)
		w.ready(s, p, a)
		w.gone(goes)
		at, _ := w.gw.Subscription("ref")
		if at.Status != "INACTIVE" || at.SubscriptionPlanID != gold.ID || !w.gw.HoldsToken("ref", "third") {
			t.Errorf("want the last state, got %+v", at)
		}
		if n := w.gw.Count(emulator.Match{Method: "PUT", ID: "ref"}); n != 1 {
			t.Errorf("want one PUT, got %d", n)
		}
		if _, ok := w.gw.Subscription(externalName(goes)); ok || w.writes()-writes != 4 {
			t.Errorf("want one PUT each and one DELETE, got %d writes", w.writes()-writes)
		}
	})
}

// Readiness does not flicker: a refused change takes it away once, and its cure
// gives it back once.
//
// contract: A1
// case: H1
func TestReadyDoesNotFlicker(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		watching, err := client.NewWithWatch(shared.plane.RESTConfig(), client.Options{Scheme: newScheme()})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := watching.Watch(t.Context(), &gatewayv1alpha1.SubscriptionList{}, client.InNamespace(w.ns))
		if err != nil {
			t.Fatal(err)
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = ptr("no-such-plan") })
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		refusals := emulator.Match{Method: "PUT", ID: externalName(s)}
		w.eventually("it was tried twice", func() error {
			if w.gw.Count(refusals) < 2 {
				return errNotYet
			}
			return nil
		})
		w.delete(w.secret("one", nil))
		w.refused(s, gatewayv1alpha1.ReasonTokenSecretMissing)
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}))
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = nil })
		w.ready(s)
		last := s.GetResourceVersion()

		var states []corev1.ConditionStatus
		for e := range stream.ResultChan() {
			is, ok := e.Object.(*gatewayv1alpha1.Subscription)
			if !ok {
				t.Fatalf("unexpected event %+v", e)
			}
			state := is.GetCondition(xpv2.TypeReady).Status
			if len(states) == 0 || states[len(states)-1] != state {
				states = append(states, state)
			}
			if is.GetResourceVersion() == last {
				break
			}
		}
		stream.Stop()
		if len(states) != 3 || states[0] != corev1.ConditionTrue || states[1] != corev1.ConditionFalse || states[2] != corev1.ConditionTrue {
			t.Errorf("want Ready to be True, False and True again, got %v", states)
		}
	})
}
