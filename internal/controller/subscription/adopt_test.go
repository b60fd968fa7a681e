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
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// byHandLike is what somebody made by hand: on books, with a token, for an
// application, and where the gateway lets choose under an ID.
func byHandLike(token, application, id string) map[string]any {
	fields := map[string]any{"apiId": "books", "subscriptionToken": token}
	if application != "" {
		fields["applicationId"] = application
	}
	if id != "" {
		fields["externalRefId"] = id
	}
	return fields
}

// What is in the way of a create is adopted only if it is provably ours to take.
//
// contract: S7, S8, S9, S10
// case: C2, C5, C16, W2
func TestAdopt(t *testing.T) {
	type theirs struct {
		token, application, id string
	}
	cases := map[string]struct {
		reason     string
		generation emulator.Generation
		theirs     theirs
		// more are on the API too.
		more   []theirs
		change []change
		adopts bool
		// puts are sent to prove whose it is.
		puts int
		// token is in force afterwards, if it is known at all.
		token corev1.ConditionStatus
	}{
		"InPlaceByID": {
			reason: "The asked-for ID on our API, of our application, is ours to take.", generation: emulator.InPlace,
			theirs: theirs{"x", "app", "mine"}, change: []change{externalRef("mine")}, adopts: true, puts: 1, token: corev1.ConditionTrue,
		},
		"InPlaceByToken": {
			reason: "The only one of our application that accepts our token is.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "app", "theirs"}, adopts: true, puts: 1, token: corev1.ConditionTrue,
		},
		"InPlaceByTokenIfProven": {
			reason: "That is the proof that IfProven asks for.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "app", "theirs"}, change: []change{adopt(v1alpha1.SubscriptionAdoptIfProven)}, adopts: true, puts: 1, token: corev1.ConditionTrue,
		},
		"InPlaceNotUnique": {
			reason: "One of several is not.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "app", "theirs"}, more: []theirs{{"y", "app", "more"}},
		},
		"InPlaceOthersToken": {
			reason: "A stranger's token proves nothing for the subscription of our application.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "stranger", "theirs"}, more: []theirs{{"y", "app", "more"}}, puts: 1,
		},
		"InPlaceStranger": {
			reason: "A stranger's subscription is not ours because it has our token.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "stranger", "theirs"},
		},
		"InPlaceIDOfStranger": {
			reason: "Nor because it has our ID.", generation: emulator.InPlace,
			theirs: theirs{"x", "stranger", "mine"}, change: []change{externalRef("mine")},
		},
		"InPlaceRefByToken": {
			reason: "With externalRefId nothing with another ID is taken.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "app", "theirs"}, change: []change{externalRef("mine")},
		},
		"InPlaceNever": {
			reason: "Never adopts nothing.", generation: emulator.InPlace,
			theirs: theirs{secretToken, "app", "mine"}, change: []change{externalRef("mine"), adopt(v1alpha1.SubscriptionAdoptNever)},
		},
		"LegacyUnique": {
			reason: "On a legacy gateway the only one of our application is.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "app", ""}, adopts: true, token: corev1.ConditionUnknown,
		},
		"LegacyUniqueRef": {
			reason: "Also with externalRefId, which such a gateway ignores.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "app", ""}, change: []change{externalRef("mine")}, adopts: true, token: corev1.ConditionUnknown,
		},
		"LegacyIfProvenUnique": {
			reason: "IfProven wants it to be the only one at all.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "app", ""}, change: []change{adopt(v1alpha1.SubscriptionAdoptIfProven)}, adopts: true, token: corev1.ConditionUnknown,
		},
		"LegacyIfProvenOthers": {
			reason: "And not one beside a stranger's.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "app", ""}, more: []theirs{{"y", "stranger", ""}}, change: []change{adopt(v1alpha1.SubscriptionAdoptIfProven)},
		},
		"LegacyStranger": {
			reason: "A stranger's subscription with our token is not ours.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "stranger", ""},
		},
		"LegacyNever": {
			reason: "Never adopts nothing.", generation: emulator.Legacy,
			theirs: theirs{secretToken, "app", ""}, change: []change{adopt(v1alpha1.SubscriptionAdoptNever)},
		},
	}
	for name, tc := range cases {
		for _, declared := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "/Declared", false: "/Auto"}[declared], func(t *testing.T) {
				w := newWorld(t, tc.generation, tokenSecret("tok", secretToken))
				w.addAPI("films")
				if declared {
					w.declareReal(tc.generation)
				}
				// The same token and ID on another API are nobody's business.
				w.byHand(map[string]any{"apiId": "films", "subscriptionToken": secretToken, "applicationId": "app"})
				id := w.byHand(byHandLike(tc.theirs.token, tc.theirs.application, tc.theirs.id))
				for _, m := range tc.more {
					w.byHand(byHandLike(m.token, m.application, m.id))
				}
				before := w.Subscriptions()
				w.add(subscription("s", append([]change{application("app")}, tc.change...)...))

				if tc.adopts {
					cr := w.settle("s")
					inForce(t, cr)
					if got := baselineOf(t, cr).ID; got != id {
						t.Errorf("%s: it holds %q, want %q", tc.reason, got, id)
					}
					if cr.Status.AtProvider.Origin != v1alpha1.OriginAdopted || w.events.count("Adopted") != 1 {
						t.Errorf("%s: origin is %s, with %d events", tc.reason, cr.Status.AtProvider.Origin, w.events.count("Adopted"))
					}
					w.counted("apiplatform_adoptions_total", 1, "Subscription")
					tokenInForceIs(t, cr, tc.token)
					if !w.HoldsToken(id, secretToken) {
						t.Errorf("%s: it has another token", tc.reason)
					}
				} else {
					want := v1alpha1.ReasonConflict
					if cr := w.stored("s"); cr.Spec.AdoptionPolicy == v1alpha1.SubscriptionAdoptNever {
						want = v1alpha1.ReasonAdoptionRefused
					}
					for range 3 {
						cr, err := w.pass("s")
						refused(t, cr, err, want)
						if b := baselineOf(t, cr); b != nil {
							t.Fatalf("%s: it holds %+v", tc.reason, b)
						}
						message := cr.GetCondition(v1alpha1.TypeApplied).Message
						for _, secret := range []string{"stranger", "theirs", "subscribed", id} {
							if secret != "mine" && strings.Contains(message, secret) {
								t.Errorf("%s: the message tells about others: %s", tc.reason, message)
							}
						}
					}
					w.counted("apiplatform_adoptions_total", 0, "Subscription")
					if after := w.Subscriptions(); !equalSubscriptions(before, after) {
						t.Errorf("%s: others were changed: %+v, %+v", tc.reason, before, after)
					}
				}
				if n := w.count(http.MethodPut); declared && tc.adopts && n != tc.puts || declared && !tc.adopts && n > 3*tc.puts {
					t.Errorf("%s: %d PUTs", tc.reason, n)
				}
				w.silent(secretToken)

				w.remove("s")
				w.gone("s")
				if _, there := w.Subscription(id); there == tc.adopts {
					t.Errorf("%s: after deletion it is there: %t", tc.reason, there)
				}
			})
		}
	}
}

func equalSubscriptions(a, b []emulator.Subscription) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Two clusters on one gateway do not see each other's subscriptions: one takes those of
// the other for made by hand, unless it adopts none.
//
// contract: A5, S10
func TestTwoClusters(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			before := w.settle("s").Status.AtProvider.ID
			other := newWorld(t, g, tokenSecret("tok", secretToken))
			other.Server = w.Server
			other.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = w.URL() })

			other.add(subscription("never", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			cr, err := other.pass("never")
			refused(t, cr, err, v1alpha1.ReasonAdoptionRefused)
			other.remove("never")
			other.gone("never")
			inForce(t, w.settle("s"))

			other.add(subscription("takes", application("app")))
			cr = other.settle("takes")
			inForce(t, cr)
			if at := cr.Status.AtProvider; at.Origin != v1alpha1.OriginAdopted || at.ID != before || w.only().ID != before {
				t.Errorf("it holds %q, %s, want %q", at.ID, at.Origin, before)
			}
			inForce(t, w.settle("s"))
		})
	}
}

// A conflict with externalRefId is not tried again until something gives a reason;
// one without is.
//
// contract: S9
func TestConflictIsNotRepeated(t *testing.T) {
	reasons := map[string]func(w *world, stranger string){
		"SpecChanged":  func(w *world, _ string) { w.edit("s", externalRef("other")) },
		"TheyAreGone":  func(w *world, stranger string) { w.deleteByHand(stranger) },
		"TokenChanged": func(w *world, _ string) { w.setToken("tok", otherToken) },
		"ConfigChanged": func(w *world, _ string) {
			w.config(func(c *configv1alpha1.ClusterProviderConfig) {
				c.Spec.Gateway.InvocationURL = "https://other.example.org"
			})
		},
	}
	for name, change := range reasons {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			w.declare(configv1alpha1.GatewayGenerationInPlace)
			stranger := w.byHand(byHandLike("x", "stranger", "mine"))
			w.add(subscription("s", externalRef("mine"), application("app")))
			for i := range 5 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonConflict)
				if i == 2 {
					w.restart()
				}
			}
			if n := w.count(http.MethodPost); n != 1 {
				t.Errorf("%d POSTs, want 1", n)
			}
			change(w, stranger)
			_, _ = w.pass("s")
			if n := w.count(http.MethodPost); n != 2 {
				t.Errorf("%d POSTs after there was a reason for another one, want 2", n)
			}
		})
	}
	t.Run("WithoutExternalRef", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
		w.declare(configv1alpha1.GatewayGenerationInPlace)
		w.byHand(byHandLike(secretToken, "stranger", ""))
		w.add(subscription("s", application("app")))
		for range 3 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonConflict)
		}
		if n := w.count(http.MethodPost); n != 3 {
			t.Errorf("%d POSTs, want 3: the wrapper spreads them", n)
		}
	})
}

// What was in the way is adopted once who held it lets go of it.
//
// contract: S7, S9
func TestConflictEndsWithItsHolder(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("holder", application("app")))
	held := w.settle("holder").Status.AtProvider.ID
	w.add(subscription("s", application("app"), externalRef("mine")))
	for range 3 {
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonConflict)
	}
	if n := w.count(http.MethodPost); n > 3 {
		t.Errorf("%d POSTs: the holder's, ours and the one that shows what the gateway is at most", n)
	}
	w.edit("holder", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize))
	w.remove("holder")
	w.gone("holder")
	if got := w.settle("s").Status.AtProvider.ID; got != held {
		t.Errorf("it holds %q, want %q", got, held)
	}
}

// What another object's create made, and was not heard of, is not adopted meanwhile: it
// is found again by whom it was made for, be that one paused, or its gateway known by
// another name.
//
// contract: S7, S11, S12
func TestMadeForAnother(t *testing.T) {
	for gname, g := range generations() {
		for _, ref := range []string{"", "acme"} {
			for name, elsewhere := range map[string]bool{"": false, "OtherName": true} {
				if elsewhere && g == emulator.Legacy {
					continue // There the gateway picks the ID, and nothing tells whose it is.
				}
				t.Run(gname+ref+name, func(t *testing.T) {
					w := newWorld(t, g, tokenSecret("tok", secretToken))
					w.declareReal(g)
					asks := func(name string) *v1alpha1.Subscription {
						cr := subscription(name, application("app"))
						if ref != "" {
							externalRef(ref)(cr)
						}
						cr.CreationTimestamp.Time = w.clock.Now()
						return cr
					}
					w.wait(time.Second)
					w.add(asks("s"))
					w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
					if _, err := w.pass("s"); err == nil {
						t.Fatal("no error")
					}
					w.restart()
					url := w.URL()
					if elsewhere {
						w.config(func(c *configv1alpha1.ClusterProviderConfig) {
							c.Spec.Endpoint = strings.Replace(url, "127.0.0.1", "localhost", 1)
						})
					}
					w.wait(time.Hour)
					w.add(asks("late"))
					for range 3 {
						cr, err := w.pass("late")
						refused(t, cr, err, v1alpha1.ReasonConflict)
					}
					w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = url })
					inForce(t, w.settle("s"))
					cr, err := w.pass("late")
					refused(t, cr, err, v1alpha1.ReasonConflict)
					w.only()
				})
			}
		}
	}
}

// Who asks for an ID that is a stranger's keeps nobody else from it: not the one
// whose it is, and not one that comes later.
//
// contract: S12, A5
func TestConflictReservesNothing(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("tok2", otherToken))
	w.byHand(byHandLike(otherToken, "stranger", "theirs"))
	w.add(subscription("squatter", externalRef("theirs"), application("app")))
	cr, err := w.pass("squatter")
	refused(t, cr, err, v1alpha1.ReasonConflict)

	w.add(subscription("rightful", externalName("theirs"), application("stranger"), tokenIn("tok2")))
	inForce(t, w.settle("rightful"))

	cr, err = w.pass("squatter")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	w.remove("squatter")
	w.gone("squatter")
	w.only()
}

// On a gateway that ignores the asked-for ID nobody is kept from asking for it
// once the create is over.
//
// contract: S4, S12
func TestLegacyReleasesAskedID(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("tok2", otherToken),
		subscription("a", externalRef("same")), subscription("b", externalRef("same"), tokenIn("tok2")))
	inForce(t, w.settle("a"))
	inForce(t, w.settle("b"))
	if n := len(w.Subscriptions()); n != 2 {
		t.Errorf("%d subscriptions, want 2", n)
	}
}

// Of two objects that share a token on one API only the second one fails, and a
// third one is not delayed, nor is one on another API.
//
// contract: S7, S12
// case: C1, C2, C3, C10
func TestOnlyTheOffenderFails(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("tok3", otherToken))
			w.addAPI("films")
			w.add(subscription("s1", application("app")), subscription("s2", application("app")),
				subscription("s3", application("app"), tokenIn("tok3")), subscription("s4", application("app"), api("films")))
			inForce(t, w.settle("s1"))
			cr, err := w.pass("s2")
			refused(t, cr, err, v1alpha1.ReasonConflict)
			inForce(t, w.settle("s3"))
			inForce(t, w.settle("s4"))
			inForce(t, w.settle("s1"))
			cr, err = w.pass("s2")
			refused(t, cr, err, v1alpha1.ReasonConflict)
			w.remove("s2")
			w.gone("s2")
			if n := len(w.Subscriptions()); n != 3 {
				t.Errorf("%d subscriptions, want 3", n)
			}
			w.silent(secretToken, otherToken)
		})
	}
}

// What was answered with a conflict created nothing: whatever somebody makes
// later is not taken for its result, and not deleted with the object.
//
// contract: S10, S11, S32, A11
// case: C11
func TestConflictCreatedNothing(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			stranger := w.byHand(byHandLike(secretToken, "stranger", ""))
			w.add(subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonAdoptionRefused)

			later := w.byHand(byHandLike("made later", "app", ""))
			cr, err = w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonAdoptionRefused)
			w.remove("s")
			w.gone("s")
			for _, id := range []string{stranger, later} {
				if _, ok := w.Subscription(id); !ok {
					t.Errorf("%s was deleted", id)
				}
			}
		})
	}
}

// An object that lost an ID to another one before it sent anything takes nothing
// over when that one goes.
//
// contract: S10, S11, S12
func TestNeverSentTakesNothing(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("tok2", otherToken),
		subscription("first", externalRef("same"), policies("Observe", "Create", "Update")),
		subscription("second", externalRef("same"), tokenIn("tok2"), adopt(v1alpha1.SubscriptionAdoptNever)))
	// Both see that there is nothing yet, and the first one is quicker.
	var during atomic.Bool
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(emulator.Request) bool {
		if during.CompareAndSwap(false, true) {
			_, _ = w.pass("second")
		}
		return false
	}}, emulator.Cut()))
	inForce(t, w.settle("first"))
	w.remove("first")
	w.gone("first")
	w.wait(time.Minute)
	cr, err := w.pass("second")
	refused(t, cr, err, v1alpha1.ReasonAdoptionRefused)
	w.remove("second")
	w.gone("second")
	if got := w.only(); !w.HoldsToken(got.ID, secretToken) {
		t.Error("what the first one left was changed")
	}
}

// A proof is repeated after a crash, and anything but its success adopts nothing.
//
// contract: S8
func TestProofInterrupted(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	id := w.byHand(byHandLike(secretToken, "app", "theirs"))
	w.add(subscription("s", application("app")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Cut().After()))
	cr, err := w.pass("s")
	if err == nil || baselineOf(t, cr) != nil {
		t.Fatalf("adopted although the proof was not answered: %v", err)
	}
	w.restart()
	w.wait(time.Minute)
	inForce(t, w.settle("s"))
	if got := baselineOf(t, w.stored("s")).ID; got != id {
		t.Errorf("it holds %q, want %q", got, id)
	}
}

// A gateway of which nothing is known is asked what it can do when it refuses a
// create, with a request that only an in-place gateway finds fault with.
func TestGenerationProbe(t *testing.T) {
	t.Run("NoLongerInTheWay", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
		stranger := w.byHand(byHandLike(secretToken, "stranger", ""))
		w.add(subscription("s", application("app")))
		// What is in the way goes between the refused create and the probe.
		w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(r emulator.Request) bool {
			if r.N == 2 {
				w.deleteByHand(stranger)
			}
			return false
		}}, emulator.Cut()))
		inForce(t, w.settle("s"))
		w.only()
	})
	for name, g := range generations() {
		t.Run("Answered/"+name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.byHand(byHandLike(secretToken, "stranger", ""))
			w.add(subscription("s", application("app")))
			for range 2 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonConflict)
			}
			if n := w.count(http.MethodPost); n != 3 {
				t.Errorf("%d POSTs, want 3: two tries and one probe", n)
			}
		})
	}
}
