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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// told is how often events of a reason about an object were sent.
func (w *world) told(o client.Object, reason string) int {
	w.t.Helper()
	l := &corev1.EventList{}
	if err := w.kube.List(w.t.Context(), l, client.InNamespace(w.ns)); err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, e := range l.Items {
		if e.InvolvedObject.UID == o.GetUID() && e.Reason == reason {
			n += int(max(e.Count, 1))
		}
	}
	return n
}

// tells waits for the first event of a reason about an object.
func (w *world) tells(o client.Object, reason string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%T %s tells %s", o, o.GetName(), reason), func() error {
		if w.told(o, reason) == 0 {
			return fmt.Errorf("it tells %v", w.events(o))
		}
		return nil
	})
}

// Whatever happens to a subscription is told once.
//
// contract: A8
func TestEvents(t *testing.T) {
	created := "CreatedExternalResource"
	byHand := func(w *world) {
		w.gw.AddAPI("api")
		if _, ok := w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-one"); !ok {
			w.t.Fatal("cannot make it by hand")
		}
	}
	cases := map[string]struct {
		reason string
		before func(w *world)
		change func(s *gatewayv1alpha1.Subscription)
		then   func(w *world, s *gatewayv1alpha1.Subscription)
		tells  string
		// silent are the events that would tell something else.
		silent []string
	}{
		"Created": {
			reason: "A create is no adoption and no re-creation.",
			tells:  created, silent: []string{"Adopted", "Imported", "Recreated", "TokenRotated", "UpdatedExternalResource"},
		},
		"Imported": {
			reason: "What was named is held.", before: byHand,
			change: func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, "there") },
			tells:  "Imported", silent: []string{created, "Adopted", "Recreated"},
		},
		"Adopted": {
			reason: "What stood in the way is held.", before: byHand,
			tells: "Adopted", silent: []string{"Imported", "Recreated"},
		},
		"Recreated": {
			reason: "What vanished is back.",
			then:   func(w *world, s *gatewayv1alpha1.Subscription) { w.gw.DeleteSubscription(externalName(s)) },
			tells:  "Recreated", silent: []string{"Adopted", "Imported"},
		},
		"Rewritten": {
			reason: "Somebody else wrote.",
			then: func(w *world, s *gatewayv1alpha1.Subscription) {
				w.polled(externalName(s), 2)
				w.gw.SetSubscriptionToken(externalName(s), "stolen")
			},
			tells: "Rewritten", silent: []string{"Recreated", "TokenRotated"},
		},
		"Rotated": {
			reason: "The token is another one.",
			then: func(w *world, _ *gatewayv1alpha1.Subscription) {
				edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
			},
			tells: "TokenRotated", silent: []string{"Rewritten", "Recreated"},
		},
		"StatusAlone": {
			reason: "The rest cannot be sent.",
			then: func(w *world, s *gatewayv1alpha1.Subscription) {
				w.delete(w.secret("one", nil))
				edit(w, s, func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
				})
			},
			tells: "StatusApplied", silent: []string{"TokenRotated"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				if tc.before != nil {
					tc.before(w)
				}
				s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
					if tc.change != nil {
						tc.change(s)
					}
				})
				if tc.then != nil {
					tc.then(w, s)
				}
				w.tells(s, tc.tells)
				w.polled(externalName(s), 5)
				if n := w.told(s, tc.tells); n != 1 {
					t.Errorf("%s\nwant it told once, got %d times", tc.reason, n)
				}
				for _, other := range tc.silent {
					if n := w.told(s, other); n != 0 {
						t.Errorf("%s\nit also tells %s", tc.reason, other)
					}
				}
			})
		})
	}
}

// A refusal is told, and not told again and again: neither what is refused before
// there is anything, nor what is refused afterwards.
//
// contract: A1, A3, A8
// case: F4, H1
func TestRefusalIsToldRarely(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		w.gw.AddSubscription(emulator.Subscription{ID: "taken", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, "secret")
		other := w.subscribed("other")
		conflict := w.asked("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("taken") })
		w.refused(conflict, gatewayv1alpha1.ReasonConflict)
		deployed := w.subscribed("two")
		edit(w, deployed, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = ptr("no-such-plan") })
		w.refused(deployed, gatewayv1alpha1.ReasonPlanMissing)
		w.tells(conflict, "CannotCreateExternalResource")
		w.tells(deployed, "CannotUpdateExternalResource")

		// After 1, 4 and 16 seconds: for the moment nothing.
		for _, s := range []*gatewayv1alpha1.Subscription{conflict, deployed} {
			w.eventually(fmt.Sprintf("%s is left alone", s.GetName()), func() error {
				if err := w.get(s); err != nil {
					return err
				}
				before, applied, ready := s.GetResourceVersion(), s.GetCondition(gatewayv1alpha1.TypeApplied), s.GetCondition(xpv2.TypeReady)
				written := w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true})
				w.polled(externalName(other), 8)
				if err := w.get(s); err != nil {
					return err
				}
				if ready.Status == corev1.ConditionTrue || applied.Status != corev1.ConditionFalse || s.GetCondition(gatewayv1alpha1.TypeApplied) != applied || s.GetCondition(xpv2.TypeReady) != ready {
					return fmt.Errorf("want the same words all the time and it not ready: %s", conditionsOf(s))
				}
				if now := s.GetResourceVersion(); now != before {
					return fmt.Errorf("it was written: %s, %s", before, now)
				}
				if n := w.gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true}) - written; n != 0 {
					return fmt.Errorf("%d writes at the gateway", n)
				}
				return nil
			})
		}
		if n := w.told(conflict, "CannotCreateExternalResource"); n > 5 {
			t.Errorf("the conflict was told %d times", n)
		}
		if n := w.told(deployed, "CannotUpdateExternalResource"); n > 5 {
			t.Errorf("the refusal was told %d times", n)
		}
		if n := w.gw.Count(emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}); n > 4 {
			t.Errorf("%d POSTs", n)
		}
	})
}
