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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What one object observes no other one adopts or imports, until the observer is
// gone.
//
// contract: S7, S12, S18, S34
// case: C10
func TestObserverHolds(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		there, _ := w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app", Status: "ACTIVE"}, "token-of-adopter")
		like := func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = ptr("app") }
		named := func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, "there") }
		observer := w.asked("observer", like, named, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		})
		w.ready(observer)
		adopter, importer := w.asked("adopter", like), w.asked("importer", like, named)
		w.refused(adopter, gatewayv1alpha1.ReasonConflict)
		w.refused(importer, gatewayv1alpha1.ReasonImmutableField)
		w.restart()
		w.ready(observer)
		w.poked(adopter, importer)
		w.refused(adopter, gatewayv1alpha1.ReasonConflict)
		w.refused(importer, gatewayv1alpha1.ReasonImmutableField)
		if w.only() != there {
			t.Errorf("it was %+v and is %+v", there, w.only())
		}
		w.delete(adopter, observer)
		w.gone(adopter, observer)
		w.eventually("what is free now is held", func() error {
			if err := w.get(importer); err != nil || !importer.Status.Deployed {
				return errNotYet
			}
			return nil
		})
		w.delete(importer)
		w.gone(importer)
		if n := len(w.gw.Subscriptions()); n != 0 {
			t.Errorf("%d left behind by who held it", n)
		}
	})
}

// Where several subscriptions can be the result of a lost create none is guessed at,
// and the user says which it is.
//
// contract: S11, S32, A11
// case: D6, D8
func TestAmbiguousAttempt(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		post := emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}
		release := make(chan struct{})
		w.gw.Inject(emulator.FailOnce(post, emulator.Cut().Before().Held(release)))
		s := w.asked("one")
		w.eventually("the gateway is asked", func() error {
			if w.gw.Count(post) == 0 {
				return errNotYet
			}
			return nil
		})
		// Somebody makes two meanwhile that look the same.
		var all []emulator.Subscription
		for _, id := range []string{"first", "second"} {
			is, _ := w.gw.AddSubscription(emulator.Subscription{ID: id, APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-"+id)
			all = append(all, is)
		}
		close(release)
		message := w.refused(s, gatewayv1alpha1.ReasonAmbiguousAttempt)
		for _, text := range []string{"first", "second", "external-name"} {
			if !strings.Contains(message, text) {
				t.Errorf("want %q named, got: %s", text, message)
			}
		}
		posts := w.gw.Count(post)
		w.restart()
		w.poked(s)
		w.refused(s, gatewayv1alpha1.ReasonAmbiguousAttempt)
		if n := w.gw.Count(post); n != posts || posts != 1 {
			t.Errorf("%d POSTs", n)
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, "second") })
		w.eventually("the one that is named is held", func() error {
			if err := w.get(s); err != nil || !s.Status.Deployed || s.Status.AtProvider.ID != "second" {
				return errNotYet
			}
			return nil
		})
		w.delete(s)
		w.gone(s)
		if w.only() != all[0] {
			t.Errorf("want the other one as it was, got %+v", w.only())
		}
	})
}

// One that is deleted while that is open names what it may leave behind, and deletes
// neither.
//
// contract: S33, A8, A11
func TestAmbiguousAttemptDeleted(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		post := emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}
		release := make(chan struct{})
		w.gw.Inject(emulator.FailOnce(post, emulator.Cut().Before().Held(release)))
		s := w.asked("one")
		w.eventually("the gateway is asked", func() error {
			if w.gw.Count(post) == 0 {
				return errNotYet
			}
			return nil
		})
		for _, id := range []string{"first", "second"} {
			w.gw.AddSubscription(emulator.Subscription{ID: id, APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-"+id)
		}
		before := w.gw.Subscriptions()
		close(release)
		w.refused(s, gatewayv1alpha1.ReasonAmbiguousAttempt)
		w.delete(s)
		w.gone(s)
		w.tells(s, "LeftBehind")
		if n := w.told(s, "LeftBehind"); n != 1 {
			t.Errorf("told %d times", n)
		}
		if after := w.gw.Subscriptions(); len(after) != 2 || after[0] != before[0] || after[1] != before[1] {
			t.Errorf("it was %+v and is %+v", before, after)
		}
	})
}

// An import whose API is not there waits, and is no mistake of its user's. What it
// does not mention is told before it is taken away, and its spec stays as it is
// where nothing may be filled in.
//
// contract: S18, S19
// case: D10, G2
func TestImportWaitsAndTells(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		clock := &steppedClock{}
		w.reconfigure(func(o *controller.Options) { o.Clock = clock })
		gold, _ := w.gw.AddPlan("Gold")
		s := w.asked("one", func(s *gatewayv1alpha1.Subscription) {
			meta.SetExternalName(s, "there")
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
		})
		w.eventually("it waits for its API", func() error {
			if err := w.get(s); err != nil || s.GetCondition(gatewayv1alpha1.TypeApplied).Reason != gatewayv1alpha1.ReasonAPIMissing {
				return errNotYet
			}
			return nil
		})
		w.gw.AddAPI("api")
		w.gw.AddAPI("other")
		w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "other", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-other")
		w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		w.leftAlone(clock, s, "CannotObserveExternalResource", w.subscribed("known"))
		w.refused(s, gatewayv1alpha1.ReasonImmutableField)
		// It is looked for all the same, so that nobody has to say that it fits now.
		w.gw.DeleteSubscription("there")
		w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", SubscriptionPlanID: gold.ID, Status: "INACTIVE"}, "token-of-one")
		w.ready(s)
		w.tells(s, "PlanCleared")
		if p := s.Spec.ForProvider; p.SubscriptionPlanID != nil || p.Status != nil {
			t.Errorf("the spec was changed: %+v", p)
		}
		if at, _ := w.gw.Subscription("there"); at.SubscriptionPlanID != "" || at.Status != "INACTIVE" {
			t.Errorf("want no plan and the status as it was, got %+v", at)
		}
	})
}

// leftAlone refuses an object so often that it is left alone for longer than any test
// waits: what happens to it from then on is the guard's doing. The other one is polled
// meanwhile.
func (w *world) leftAlone(clock *steppedClock, o resource.Managed, told string, other resource.Managed) {
	w.t.Helper()
	for range 6 {
		before := w.told(o, told)
		w.eventually("it is tried again", func() error {
			// Also while it is being refused, from when on it is left alone.
			clock.step(601 * time.Second)
			if w.told(o, told) == before {
				return errNotYet
			}
			return nil
		})
	}
	w.eventually("it is left alone", func() error {
		before := w.told(o, told)
		w.polled(externalName(other), 8)
		if n := w.told(o, told) - before; n != 0 {
			return fmt.Errorf("it was tried %d times", n)
		}
		return nil
	})
}

// A conflict about an ID is looked at once a poll and not repeated; what cures it is
// noticed.
//
// contract: S9, A3
// case: C5, F4
func TestConflictIsCured(t *testing.T) {
	for name, cure := range map[string]func(w *world, s *gatewayv1alpha1.Subscription){
		"OtherID": func(w *world, s *gatewayv1alpha1.Subscription) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("other") })
		},
		"NoID": func(w *world, s *gatewayv1alpha1.Subscription) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = nil })
		},
		"Free": func(w *world, _ *gatewayv1alpha1.Subscription) {
			w.gw.DeleteSubscription("taken")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				clock := &steppedClock{}
				w.reconfigure(func(o *controller.Options) { o.Clock = clock })
				known := w.subscribed("known")
				taken, _ := w.gw.AddSubscription(emulator.Subscription{ID: "taken", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, "secret")
				post := emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}
				before := w.gw.Count(post)
				s := w.asked("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("taken") })
				w.refused(s, gatewayv1alpha1.ReasonConflict)
				w.poked(s)
				w.leftAlone(clock, s, "CannotCreateExternalResource", known)
				w.refused(s, gatewayv1alpha1.ReasonConflict)
				polls, alone := looks(w.gw, externalName(known)), emulator.Match{Method: http.MethodGet, ID: "taken"}
				polled, looked := w.gw.Count(polls), w.gw.Count(alone)
				w.eventually("what is in the way is looked at six times", func() error {
					if w.gw.Count(alone)-looked < 6 {
						return errNotYet
					}
					return nil
				})
				if n := w.gw.Count(polls) - polled; n < 2 || n > 30 {
					t.Errorf("it was looked at six times while another one was polled %d times", n)
				}
				if n := w.gw.Count(post) - before; n != 1 {
					t.Errorf("want one POST, got %d", n)
				}
				if is, _ := w.gw.Subscription("taken"); is != taken {
					t.Errorf("it was %+v and is %+v", taken, is)
				}
				cure(w, s)
				w.ready(s)
				if c := s.GetCondition(gatewayv1alpha1.TypeTokenInForce); c.Status != corev1.ConditionTrue || !w.gw.LetThrough("api", "token-of-one") {
					t.Errorf("conditions: %s", conditionsOf(s))
				}
			})
		})
	}
}
