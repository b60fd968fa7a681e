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
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What is changed in the cluster is noticed at once, and not only with the next
// poll: tokens, plans, APIs, credentials, and what somebody asks for.
//
// contract: S25, S26, S27, A3, A6
// case: A8, W5, W17, A9
func TestNoticedWithoutAPoll(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.reconfigure(func(o *controller.Options) { o.Poll, o.Resync = 10*time.Hour, 10*time.Hour })
		// Everything that is needed comes last.
		s := w.subscription("one", "", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
			s.Spec.ForProvider.SubscriptionPlanIDSelector = &gatewayv1alpha1.Selector{MatchLabels: map[string]string{"tier": "any"}}
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
		})
		w.create(s)
		w.refused(s, gatewayv1alpha1.ReasonAPIMissing)
		w.create(w.api("books", "Bronze", "Gold"))
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		bronze := w.plan("bronze", "Bronze")
		bronze.Labels = map[string]string{"tier": "any"}
		w.create(bronze)
		w.refused(s, gatewayv1alpha1.ReasonTokenSecretMissing)
		w.create(w.secret("one", map[string]string{"token": "first"}))
		w.ready(s)
		id := externalName(s)
		in := func(token string) {
			t.Helper()
			w.eventually(token+" is in force and handed out", func() error {
				if !w.gw.LetThrough("books", token) || w.token("connection") != token {
					return errNotYet
				}
				return nil
			})
			w.ready(s)
		}
		in("first")
		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("second")} })
		in("second")
		w.delete(w.secret("connection", nil))
		w.eventually("the connection Secret is back", func() error {
			if err := w.get(w.secret("connection", nil)); err != nil {
				return err
			}
			return nil
		})
		in("second")

		// A plan that no longer matches is left for one that does, once that is there.
		gold := w.plan("gold", "Gold")
		w.create(gold)
		w.ready(gold)
		edit(w, bronze, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Labels = nil })
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		edit(w, gold, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Labels = map[string]string{"tier": "any"} })
		w.ready(s)
		if at := w.only(); at.SubscriptionPlanID != externalName(gold) || at.ID != id {
			t.Errorf("want plan Gold, got %+v", at)
		}

		// Wrong credentials, and the right ones again.
		w.credentials("wrong")
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionInactive)
		})
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse)
		w.credentials(password)
		w.ready(s)
		if at := w.only(); at.Status != "INACTIVE" {
			t.Errorf("want it inactive, got %+v", at)
		}

		// Somebody asks for a look.
		gets := emulator.Match{Method: http.MethodGet, ID: id}
		before := w.gw.Count(gets)
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"})
		})
		w.eventually("it is looked at, and that is told", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if w.gw.Count(gets) == before || s.Status.LastHandledReconcileAt != "now" {
				return errNotYet
			}
			return nil
		})
		w.delete(s)
		w.gone(s)
	})
}

// One with an interval of its own is looked at itself as often as that says, and no
// other one for its sake.
//
// contract: A10, S30
// case: H9
func TestOwnInterval(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.reconfigure(func(o *controller.Options) { o.Poll, o.Resync = 10*time.Hour, 10*time.Hour })
		s, other := w.subscribed("one"), w.subscribed("other")
		id, alone := externalName(s), emulator.Match{ID: externalName(other)}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{meta.AnnotationKeyPollInterval: "1s"})
		})
		w.polled(id, 2)
		before, lists := w.gw.Count(alone), w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Lists: true})
		w.gw.SetSubscriptionStatus(id, "INACTIVE")
		w.active(id)
		w.polled(id, 2)
		if n := w.gw.Count(alone) - before; n != 0 {
			t.Errorf("%d requests about one without", n)
		}
		if n := w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Lists: true}) - lists; n != 0 {
			t.Errorf("%d lists for one", n)
		}
	})
}

// What changed at the gateway while an object was paused is set back once it no longer
// is, whether anything else happens to it or not.
//
// contract: S30, S35
// case: H2
func TestChangedWhilePaused(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		pause := func(paused string) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) {
				meta.AddAnnotations(s, map[string]string{meta.AnnotationKeyReconciliationPaused: paused})
			})
		}
		id, writes := externalName(s), w.writes()
		pause("true")
		w.eventually("it is paused", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if s.GetCondition(xpv2.TypeSynced).Reason != xpv2.ReasonReconcilePaused {
				return errNotYet
			}
			return nil
		})
		w.gw.SetSubscriptionStatus(id, "INACTIVE")
		w.polled(id, 3)
		if at := w.only(); at.Status != "INACTIVE" || w.writes() != writes {
			t.Errorf("while it is paused: %+v, %d writes", at, w.writes()-writes)
		}
		pause("false")
		w.active(id)
		w.ready(s)
		w.polled(id, 3)
		if n := w.writes() - writes; n != 1 {
			t.Errorf("want one PUT, got %d writes", n)
		}
	})
}

// active waits until a subscription is ACTIVE.
func (w *world) active(id string) {
	w.t.Helper()
	w.eventually("it is active", func() error {
		if at, _ := w.gw.Subscription(id); at.Status != "ACTIVE" {
			return fmt.Errorf("it is %q", at.Status)
		}
		return nil
	})
}

// What a gateway says that nobody expected is shown as it is, and neither stops
// anything nor is written against without end.
//
// contract: S29, R4, P3
// case: G6, G10, G11
func TestUnexpectedAnswers(t *testing.T) {
	reads := func(change func(o map[string]any)) emulator.Faults {
		return emulator.Always(emulator.Match{Method: http.MethodGet}, emulator.Rewrite(change))
	}
	for name, change := range map[string]func(o map[string]any){
		"MoreFields": func(o map[string]any) { o["new"], o["more"] = map[string]any{"deep": []any{1, nil}}, nil },
		"LetterCase": func(o map[string]any) {
			if o["status"] == "ACTIVE" {
				o["status"] = "active"
			}
		},
		"NewStatus": func(o map[string]any) {
			if o["status"] == "ACTIVE" {
				o["status"] = "SUSPENDED"
			}
		},
		"Numbers": func(o map[string]any) {
			if _, ok := o["throttleLimitCount"]; ok {
				o["throttleLimitCount"] = 5.0
			}
		},
		"Nulls": func(o map[string]any) {
			for _, f := range []string{"billingCustomerId", "billingSubscriptionId", "billingPlan", "expiryTime"} {
				o[f] = nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				p := w.plan("gold", "Gold")
				p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
				w.create(p)
				s := w.subscribed("one")
				w.ready(p, s)
				writes := w.writes()
				w.gw.Inject(reads(change))
				w.polled(externalName(s), 10)
				w.polled(externalName(p), 10)
				// Three tries to set a field, and then it is told.
				if n := w.writes() - writes; n > 6 || n > 0 && name != "NewStatus" && name != "LetterCase" {
					t.Errorf("%d writes", n)
				}
				if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 2 {
					t.Errorf("%d subscriptions and plans", n)
				}
				w.gw.ClearFaults()
				w.poked(s, p)
				w.ready(s, p)
				w.delete(s, p)
				w.gone(s, p)
			})
		})
	}
}
