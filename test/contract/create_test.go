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
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// An answer that is lost, or is nonsense, costs neither a second subscription nor
// a human's time.
//
// contract: S11, S13, S31
// case: D3, D6, C7
func TestLostAnswer(t *testing.T) {
	post := emulator.Match{Method: "POST", Kind: emulator.Subscriptions}
	for name, fault := range map[string]emulator.Fault{
		"Cut":         emulator.Cut().After(),
		"CutBefore":   emulator.Cut().Before(),
		"Error500":    emulator.Status(500, "Failed to create subscription").After(),
		"Before500":   emulator.Status(500, "Failed to create subscription").Before(),
		"Gateway502":  emulator.HTML(502).After(),
		"EmptyBody":   emulator.EmptyBody().After(),
		"HTML":        emulator.HTML(200).After(),
		"NoID":        emulator.SetField("id", nil).After(),
		"Echo400":     emulator.EchoRequest(400).Before(),
		"Unavailable": emulator.Status(503, "try later").Before(),
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				w.gw.Inject(emulator.FailOnce(post, fault))
				s := w.subscribed("one")
				if at := w.only(); at.ID != externalName(s) {
					t.Errorf("want external-name %q, got %q", at.ID, externalName(s))
				}
				if !w.gw.LetThrough("api", "token-of-one") {
					t.Error("the token is not let through")
				}
				if a := s.GetAnnotations()[gatewayv1alpha1.AnnotationCreateAttempt]; a != "" {
					t.Errorf("the attempt is still recorded: %s", a)
				}
			})
		})
	}
}

// A restart between the create and the record of it, with the token edited meanwhile
// or not, leaves exactly what the spec asks for.
//
// contract: S3, S11
// case: D1, D2, D8
func TestRestartDuringCreate(t *testing.T) {
	for name, change := range map[string]func(w *world, s *gatewayv1alpha1.Subscription){
		"Unchanged": func(*world, *gatewayv1alpha1.Subscription) {},
		"Token": func(w *world, _ *gatewayv1alpha1.Subscription) {
			edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("edited")} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				w.gw.AddAPI("api")
				held := make(chan struct{})
				w.gw.Inject(emulator.FailOnce(emulator.Match{Method: "POST", Kind: emulator.Subscriptions}, emulator.Cut().After().Held(held)))
				s := w.subscription("one", "api")
				w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
				w.eventually("the gateway has it", func() error {
					if n := len(w.gw.Subscriptions()); n != 1 {
						return fmt.Errorf("there are %d", n)
					}
					return nil
				})
				w.stop()
				close(held)
				change(w, s)
				w.start(w.ns)
				w.ready(s)
				if w.inPlace && name == "Token" && !w.gw.LetThrough("api", "edited") {
					t.Error("the edited token is not let through")
				}
				// Whether the edited token is the one the lost create carried cannot be
				// found out, and a legacy gateway cannot be given another.
				in := s.GetCondition(gatewayv1alpha1.TypeTokenInForce)
				want := corev1.ConditionTrue
				if name == "Token" && !w.inPlace {
					want = corev1.ConditionUnknown
				}
				if in.Status != want {
					t.Errorf("want TokenInForce %s, got %+v", want, in)
				}
				if at := w.only(); at.ID != externalName(s) {
					t.Errorf("want external-name %q, got %q", at.ID, externalName(s))
				}
			})
		})
	}
}

// What is there already is adopted if it is provably ours, and only then.
//
// contract: S7, S8, S9, S10
// case: W2, C5, C16
func TestAdopt(t *testing.T) {
	mine := emulator.Subscription{ID: "mine", APIHandle: "api", ApplicationID: " app-one ", Status: "ACTIVE"}
	type want struct {
		adopted bool
		reason  xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		there  emulator.Subscription
		token  string
		change func(s *gatewayv1alpha1.Subscription)
		legacy want
		modern want
	}{
		"SameTokenAndApplication": {
			reason: "The only subscription of the application: on an in-place gateway the token proves it.",
			there:  mine, token: "token-of-one",
			legacy: want{adopted: true}, modern: want{adopted: true},
		},
		"AskedForID": {
			reason: "It has the asked-for ID, the API and the application.",
			there:  emulator.Subscription{ID: "ref", ExternalRefID: "ref", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, token: "another",
			change: func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("ref") },
			// A legacy gateway does not look at the ID, and the token is another one.
			legacy: want{adopted: false}, modern: want{adopted: true},
		},
		"StrangersApplication": {
			reason: "Somebody else's subscription has the token.",
			there:  emulator.Subscription{ID: "theirs", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, token: "token-of-one",
			legacy: want{reason: "Conflict"}, modern: want{reason: "Conflict"},
		},
		"IDOnAnotherAPI": {
			reason: "Somebody has the ID on another API.",
			there:  emulator.Subscription{ID: "ref", ExternalRefID: "ref", APIHandle: "other", ApplicationID: "app-one", Status: "ACTIVE"}, token: "another",
			change: func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("ref") },
			legacy: want{adopted: false}, modern: want{reason: "Conflict"},
		},
		"Never": {
			reason: "Adoption was not asked for.",
			there:  mine, token: "token-of-one",
			change: func(s *gatewayv1alpha1.Subscription) { s.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptNever },
			legacy: want{reason: "AdoptionRefused"}, modern: want{reason: "AdoptionRefused"},
		},
		"ExternalRefIDAndToken": {
			reason: "With an ID of its own, a subscription that merely has the token is another one.",
			there:  mine, token: "token-of-one",
			change: func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("ref") },
			legacy: want{adopted: true}, modern: want{reason: "Conflict"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				want := tc.legacy
				if w.inPlace {
					want = tc.modern
				}
				w.gw.AddAPI("api")
				w.gw.AddAPI("other")
				there, ok := w.gw.AddSubscription(tc.there, tc.token)
				if !ok {
					t.Fatal("the gateway does not take what should be there before")
				}
				s := w.subscription("one", "api")
				if tc.change != nil {
					tc.change(s)
				}
				w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)

				if want.reason != "" {
					message := w.refused(s, want.reason)
					for _, secret := range []string{"token-of-one", "somebody", there.ID + " of"} {
						if strings.Contains(message, secret) {
							t.Errorf("%s\nthe message tells %q: %s", tc.reason, secret, message)
						}
					}
					if is, _ := w.gw.Subscription(there.ID); is != there {
						t.Errorf("%s\na stranger's subscription was changed from %+v to %+v", tc.reason, there, is)
					}
					posts := w.gw.Count(emulator.Match{Method: "POST", Kind: emulator.Subscriptions})
					w.delete(s)
					w.gone(s)
					if _, ok := w.gw.Subscription(there.ID); !ok {
						t.Errorf("%s\na stranger's subscription was deleted", tc.reason)
					}
					if posts > 6 {
						t.Errorf("%s\nwant a handful of requests, got %d", tc.reason, posts)
					}
					return
				}
				w.ready(s)
				if got := externalName(s) == there.ID; got != want.adopted {
					t.Errorf("%s\nwant adopted: %t, got external-name %q", tc.reason, want.adopted, externalName(s))
				}
				if !w.gw.LetThrough("api", "token-of-one") {
					t.Errorf("%s\nthe token is not let through", tc.reason)
				}
			})
		})
	}
}

// Of two objects that ask for one ID exactly one gets it, also after a restart,
// and the other touches nothing, not even when it is deleted.
//
// contract: S12
// case: C10
func TestTwoForOneID(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		same := func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.ExternalRefID = ptr("ref")
			s.Spec.ForProvider.ApplicationID = ptr("app")
			s.Spec.ForProvider.SubscriptionTokenSecretRef.Name = "shared"
		}
		a, b := w.subscription("a", "api", same), w.subscription("b", "api", same)
		w.create(w.secret("shared", map[string]string{"token": "shared"}), a, b)
		winner, loser := a, b
		w.eventually("one of the two is ready", func() error {
			for _, s := range []*gatewayv1alpha1.Subscription{a, b} {
				if err := w.get(s); err != nil {
					return err
				}
			}
			if b.Status.Deployed {
				winner, loser = b, a
			}
			if !winner.Status.Deployed {
				return fmt.Errorf("neither is")
			}
			return nil
		})
		w.refused(loser, gatewayv1alpha1.ReasonConflict)
		w.restart()
		w.ready(winner)
		w.refused(loser, gatewayv1alpha1.ReasonConflict)
		w.delete(loser)
		w.gone(loser)
		if at := w.only(); at.ID != "ref" {
			t.Errorf("want ref, got %q", at.ID)
		}
	})
}

// Many subscriptions in one apply are as many subscriptions.
//
// contract: S6, S11
// case: B10, W3
func TestMany(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		const n = 50
		w.gw.AddAPI("api")
		var all []*gatewayv1alpha1.Subscription
		for i := range n {
			name := fmt.Sprintf("s%d", i)
			s := w.subscription(name, "api", func(s *gatewayv1alpha1.Subscription) {
				if i%2 == 0 {
					s.Spec.ForProvider.ApplicationID = ptr("one application")
				}
			})
			w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
			all = append(all, s)
		}
		for _, s := range all {
			w.ready(s)
		}
		if got := len(w.gw.Subscriptions()); got != n {
			t.Errorf("want %d subscriptions, got %d", n, got)
		}
		if got := w.gw.Count(emulator.Match{Method: "POST", Kind: emulator.Subscriptions}); got != n {
			t.Errorf("want %d POSTs, got %d", n, got)
		}
	})
}

// What is refused is held also while plan and API are referred to, and let go at
// once when one of them changes.
//
// contract: A3, S14
// case: F4
func TestRefusedWithReferencesIsHeld(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		plan, api := w.plan("gold", "Gold"), w.api("api", "Bronze")
		w.create(plan, api, w.secret("one", map[string]string{"token": "token-of-one"}))
		s := w.subscription("one", "", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID = nil
			s.Spec.ForProvider.APIIDRef = &gatewayv1alpha1.Reference{Name: "api"}
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		w.create(s)
		w.refused(s, gatewayv1alpha1.ReasonPlanMissing)
		post := emulator.Match{Method: "POST", Kind: emulator.Subscriptions}
		w.eventually("it was tried three times", func() error {
			if n := w.gw.Count(post); n < 3 {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
		before := w.gw.Count(post)
		w.ready(plan)
		w.polled(externalName(plan), 10)
		if n := w.gw.Count(post) - before; n > 1 {
			t.Errorf("want it left alone for longer and longer, got %d more requests", n)
		}
		edit(w, api, func(a *gatewayv1alpha1.RestApi) {
			a.Spec.ForProvider.SubscriptionPlans = []gatewayv1alpha1.PlanName{"Bronze", "Gold"}
		})
		w.ready(s)
	})
}

// What may come any moment is not waited for longer than a poll, however often it
// was not there.
//
// contract: A3, S14
func TestWaitsAPollAtMost(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		w.gw.AddAPI("api")
		// A plan object that is not at the gateway, since the name is somebody else's.
		w.gw.AddPlan("Gold")
		p := w.plan("gold", "Gold")
		w.create(p)
		w.refused(p, gatewayv1alpha1.ReasonConflict)
		s := w.asked("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		w.refused(s, gatewayv1alpha1.ReasonPlanPending)
		// What only a change can cure would be tried five times within a minute.
		w.eventually("it is tried eight times", func() error {
			if n := w.told(s, "CannotObserveExternalResource"); n < 8 {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) {
			p.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique
		})
		w.ready(s)
	})
}

// An API that a gateway does not know is asked for about once per poll, however many wait
// for it, and nothing else is done meanwhile. Once it is there, all go on.
//
// contract: A3, A10, S14
func TestMissingAPIIsAskedForOnce(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("known")
		known := w.asked("known", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.APIID = ptr("known") })
		w.ready(known)
		const waiting = 8
		var all []*gatewayv1alpha1.Subscription
		for n := range waiting {
			s := w.asked(fmt.Sprintf("waits-%d", n), func(*gatewayv1alpha1.Subscription) {})
			w.refused(s, gatewayv1alpha1.ReasonAPIMissing)
			all = append(all, s)
		}
		// Its first refusals are followed up soon.
		w.polled(externalName(known), 3)
		asked := emulator.Match{Kind: emulator.Subscriptions, Where: func(r emulator.Request) bool { return r.Query.Get("apiId") == "api" }}
		alone := emulator.Match{Kind: emulator.Subscriptions, Where: func(r emulator.Request) bool { return r.IsWrite() || r.ID != "" }}
		polls := looks(w.gw, externalName(known))
		probes, calls, polled := w.gw.Count(asked), w.gw.Count(alone), w.gw.Count(polls)
		w.polled(externalName(known), 10)
		probes, calls, polled = w.gw.Count(asked)-probes, w.gw.Count(alone)-calls, w.gw.Count(polls)-polled
		if probes < polled/4 || probes > 2*polled {
			t.Errorf("it was asked for %d times while %d went by", probes, polled)
		}
		if calls != 0 {
			t.Errorf("%d other calls", calls)
		}
		w.gw.AddAPI("api")
		for _, s := range all {
			w.ready(s)
		}
	})
}

// What is missing at the gateway is waited for, and it is said what it is: of a plan in
// the gateway's own words.
//
// contract: S14
func TestMissingAtGateway(t *testing.T) {
	for name, tc := range map[string]struct {
		api    string
		plan   func(w *world) string
		reason xpv2.ConditionReason
		words  string
		cure   func(w *world, plan string)
	}{
		"API": {
			api: "nowhere", reason: gatewayv1alpha1.ReasonAPIMissing, words: `the gateway does not know the API "nowhere"`,
			cure: func(w *world, _ string) { w.gw.AddAPI("nowhere") },
		},
		"Plan": {
			api: "api", plan: func(*world) string { return "nowhere" }, reason: gatewayv1alpha1.ReasonPlanMissing, words: "Subscription plan not found or not enabled",
		},
		"PlanInactive": {
			api: "api", plan: func(w *world) string {
				p, _ := w.gw.AddPlan("Gold")
				w.gw.SetPlanStatus(p.ID, "INACTIVE")
				return p.ID
			},
			reason: gatewayv1alpha1.ReasonPlanMissing, words: "Subscription plan is not active",
			cure: func(w *world, plan string) { w.gw.SetPlanStatus(plan, "ACTIVE") },
		},
		"PlanNotOffered": {
			api: "bronze", plan: func(w *world) string {
				p, _ := w.gw.AddPlan("Gold")
				return p.ID
			},
			reason: gatewayv1alpha1.ReasonPlanMissing, words: "not enabled for this API",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				w.gw.AddAPI("api")
				w.gw.AddAPI("bronze", "Bronze")
				s := w.subscription("one", tc.api)
				plan := ""
				if tc.plan != nil {
					plan = tc.plan(w)
					s.Spec.ForProvider.SubscriptionPlanID = &plan
				}
				w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
				if message := w.refused(s, tc.reason); !strings.Contains(message, tc.words) {
					t.Errorf("want the gateway's words %q, got: %s", tc.words, message)
				}
				if tc.cure != nil {
					tc.cure(w, plan)
					w.ready(s)
				}
			})
		})
	}
}

// A gateway that refuses is not asked again and again.
//
// contract: A3, S14
// case: F4
func TestRefusedIsHeld(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		var refusing atomic.Bool
		refusing.Store(true)
		post := emulator.Match{Method: "POST", Kind: emulator.Subscriptions}
		w.gw.Inject(emulator.While(refusing.Load, post, emulator.Status(400, "the gateway does not like it").Before()))
		s := w.subscription("one", "api")
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
		message := w.refused(s, gatewayv1alpha1.ReasonRefused)
		if !strings.Contains(message, "the gateway does not like it") {
			t.Errorf("want the gateway's words, got: %s", message)
		}
		w.eventually("it was tried twice", func() error {
			if n := w.gw.Count(post); n < 2 {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
		refusing.Store(false)
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{"crossplane.io/reconcile-requested-at": "now"})
		})
		w.ready(s)
		if n := w.gw.Count(post); n > 5 {
			t.Errorf("want a handful of requests, got %d", n)
		}
	})
}
