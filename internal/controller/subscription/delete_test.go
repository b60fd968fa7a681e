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
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Nothing a user did to a spec, a Secret, a plan or an API stands in the way of
// deletion, which ends what is held and nothing else.
//
// contract: S1, S32, S33, A11
// case: A18, B5, E5, E8
func TestDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(w *world)
		// errors are how many passes may fail.
		errors int
	}{
		"Plain":              {reason: "What is held is deleted.", before: func(*world) {}},
		"SecretGone":         {reason: "The token is not needed.", before: func(w *world) { w.deleteSecret("tok") }},
		"IllegalEdit":        {reason: "What the spec says does not matter.", before: func(w *world) { w.edit("s", application("other"), api("nowhere")) }},
		"ExternalNameEdited": {reason: "The ID is the baseline's.", before: func(w *world) { w.edit("s", externalName("stranger")) }},
		"ExternalNameGone": {reason: "Also without an annotation.", before: func(w *world) {
			w.edit("s", func(cr *v1alpha1.Subscription) { meta.RemoveAnnotations(cr, meta.AnnotationKeyExternalName) })
		}},
		"AlreadyGone":  {reason: "What is gone is gone.", before: func(w *world) { w.deleteByHand(w.held()) }},
		"APIGone":      {reason: "So is what went with its API.", before: func(w *world) { w.DeleteAPI("books") }},
		"Restarted":    {reason: "All that is needed is stored.", before: func(w *world) { w.restart() }},
		"RefGone":      {reason: "References are not followed.", before: func(w *world) { w.edit("s", planRef("nowhere")) }},
		"DeleteFails":  {reason: "A failure is tried again.", before: func(w *world) { w.failDelete(emulator.Status(http.StatusInternalServerError, "no")) }, errors: 1},
		"AnswerLost":   {reason: "A lost answer too.", before: func(w *world) { w.failDelete(emulator.Cut().After()) }, errors: 1},
		"Deleted404":   {reason: "404 is success.", before: func(w *world) { w.failDelete(emulator.Status(http.StatusNotFound, "Subscription not found").After()) }},
		"Unauthorized": {reason: "A refusal is no absence.", before: func(w *world) { w.failDelete(emulator.Denied(http.StatusUnauthorized)) }, errors: 1},
	}
	for gname, g := range generations() {
		for name, tc := range cases {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken))
				stranger := w.byHand(byHandLike("x", "app", "stranger"))
				w.add(subscription("s", application("app")))
				inForce(t, w.settle("s"))
				tc.before(w)
				writes := w.count(http.MethodPost) + w.count(http.MethodPut)
				w.remove("s")
				failed := 0
				for range 4 {
					cr, err := w.pass("s")
					if cr == nil {
						break
					}
					if err != nil {
						failed++
						if s := cr.GetCondition(xpv2.TypeSynced); s.Status == "True" {
							t.Errorf("%s: the failure does not show", tc.reason)
						}
					}
					w.wait(2 * time.Minute)
				}
				if w.stored("s") != nil || failed != tc.errors {
					t.Errorf("%s: it is still there: %t; %d passes failed, want %d", tc.reason, w.stored("s") != nil, failed, tc.errors)
				}
				if name == "APIGone" {
					return
				}
				if got := w.only().ID; got != stranger {
					t.Errorf("%s: %q is left, want %q", tc.reason, got, stranger)
				}
				if w.LetThrough("books", secretToken) {
					t.Errorf("%s: the token still works", tc.reason)
				}
				if w.count(http.MethodPost)+w.count(http.MethodPut) != writes {
					t.Errorf("%s: something else was written", tc.reason)
				}
			})
		}
	}
}

// held is the ID that Subscription s holds.
func (w *world) held() string { return baselineOf(w.t, w.stored("s")).ID }

func (w *world) failDelete(f emulator.Fault) {
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodDelete}, f))
}

// What holds nothing touches nothing when it is deleted, whatever its annotations
// say.
//
// contract: S7, S17, S18, S32, A5, A8, A11
// case: C9, C11
func TestDeleteHoldsNothing(t *testing.T) {
	forged := func(b record.Baseline) change {
		return func(cr *v1alpha1.Subscription) { record.WriteBaseline(cr, b) }
	}
	cases := map[string]struct {
		reason string
		change func(w *world, stranger string) []change
		// tells is whether an event says that what is recorded is left alone.
		tells bool
	}{
		"Named": {
			reason: "The ID of a stranger's subscription can be typed.",
			change: func(_ *world, stranger string) []change { return []change{externalName(stranger)} },
		},
		"ForgedBaseline": {
			reason: "So can a baseline.", tells: true,
			change: func(w *world, stranger string) []change {
				return []change{externalName(stranger), forged(record.Baseline{ID: stranger, Endpoint: w.Endpoint(), Fields: map[string]string{"apiId": "books", "applicationId": "app"}})}
			},
		},
		"GarbledBaseline": {
			reason: "A garbled one is none.",
			change: func(_ *world, stranger string) []change {
				return []change{externalName(stranger), annotated(v1alpha1.AnnotationBaseline, "{")}
			},
		},
		"ForgedAttempt": {
			reason: "An attempt that was not ours finds only what is equal.",
			change: func(w *world, stranger string) []change {
				return []change{func(cr *v1alpha1.Subscription) {
					record.WriteAttempt(cr, record.Attempt{AskedID: stranger, AbsentBefore: true, Endpoint: w.Endpoint(), APIID: "books", ApplicationID: "app", Outcome: record.Open})
				}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			stranger := w.byHand(byHandLike("x", "stranger", "theirs"))
			w.add(subscription("s", append(tc.change(w, stranger), application("app"), func(cr *v1alpha1.Subscription) {
				// Else it would be gone before anybody looks.
				cr.Finalizers = []string{managed.FinalizerName}
			})...))
			_, _ = w.pass("s")
			w.remove("s")
			w.gone("s")
			if _, ok := w.Subscription(stranger); !ok {
				t.Errorf("%s: a stranger's subscription was deleted", tc.reason)
			}
			if n := w.Count(emulator.Match{Method: http.MethodDelete, ID: stranger}) + w.Count(emulator.Match{Method: http.MethodPut, ID: stranger}); n != 0 {
				t.Errorf("%s: %d writes to a stranger's subscription", tc.reason, n)
			}
			if n := w.events.count("NotHeld"); n > 1 || n == 1 != tc.tells {
				t.Errorf("%s: it is told %d times", tc.reason, n)
			}
		})
	}
}

// While it is open whether a create took effect, the object stays until that is
// certain.
//
// contract: S33
// case: C8, D8
func TestDeleteWhileAttemptIsOpen(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			w.remove("s")
			if cr, err := w.pass("s"); cr == nil || err == nil {
				t.Fatal("the object is gone although its create may still take effect")
			}
			// Now it does.
			late := map[string]any{"apiId": "books", "subscriptionToken": secretToken, "applicationId": "app", "externalRefId": "uid-s"}
			w.byHand(late)
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d subscriptions left behind", n)
			}
		})
	}
	t.Run("NothingComes", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
		w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
		_, _ = w.pass("s")
		w.remove("s")
		_, _ = w.pass("s")
		w.wait(59 * time.Second)
		if cr, _ := w.pass("s"); cr == nil {
			t.Error("it went before time-out and 30 s were over")
		}
		w.wait(2 * time.Second)
		if cr, err := w.pass("s"); cr != nil {
			t.Errorf("it does not go: %v", err)
		}
	})
	t.Run("Ambiguous", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s", application("app")))
		w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
		_, _ = w.pass("s")
		w.byHand(byHandLike("x", "app", ""))
		w.remove("s")
		w.gone("s")
		if n := len(w.Subscriptions()); n != 2 {
			t.Errorf("%d subscriptions, want 2: none of them may be guessed at", n)
		}
		if w.events.count("LeftBehind") != 1 {
			t.Error("no event names what may be left behind")
		}
	})
}

// What a gateway lacks that was replaced under its address is not created there,
// before anything else of it was read either.
//
// contract: S36
func TestReplacedGateway(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
			w.addPlan("Gold")
			held := w.settle("s").Status.AtProvider.ID
			w.SetGatewayID("another")
			w.deleteByHand(held)
			for range 2 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonGatewayChanged)
			}
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d subscriptions, want none", n)
			}
			w.config(func(c *configv1alpha1.ClusterProviderConfig) {
				meta.AddAnnotations(c, map[string]string{configv1alpha1.AnnotationAcceptGateway: w.Endpoint()})
			})
			inForce(t, w.settle("s"))
		})
	}
}

// What is deleted where its gateway goes by another name is gone once it is not there
// any more.
//
// contract: S32, S33
func TestDeletedUnderAnotherName(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
			w.settle("s")
			w.config(func(c *configv1alpha1.ClusterProviderConfig) {
				c.Spec.Endpoint = strings.Replace(w.URL(), "127.0.0.1", "localhost", 1)
			})
			w.remove("s")
			w.restart()
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d are left behind", n)
			}
		})
	}
}

// move points the provider config at another gateway, which has an API of the
// same name.
func (w *world) move(g emulator.Generation, id string) *emulator.Server {
	w.t.Helper()
	other, err := emulator.Start(w.t.Context(), emulator.Options{Generation: g, GatewayID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(other.Close)
	if _, ok := other.AddAPI("books"); !ok {
		w.t.Fatal("cannot add an API")
	}
	w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = other.URL() })
	return other
}

// A config that was pointed at another gateway neither fills nor empties it, nor
// makes what is held at the first one forgotten, whatever that gateway calls
// itself.
//
// contract: S32, S36
func TestGatewayChanged(t *testing.T) {
	for _, id := range []string{"emulated-gateway", "another-gateway"} {
		for gname, g := range generations() {
			t.Run(gname+"/"+id, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"), subscription("d", api("films")))
				w.addAPI("films")
				w.settle("s")
				w.settle("d")
				other := w.move(g, id)
				if _, ok := other.AddAPI("films"); !ok {
					t.Fatal("cannot add an API")
				}
				// By the answer to this one it is learnt what the new gateway calls itself.
				w.add(tokenSecret("tok2", otherToken), subscription("n", tokenIn("tok2")))
				inForce(t, w.settle("n"))
				for range 2 {
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonGatewayChanged)
				}
				w.remove("d")
				if cr, err := w.pass("d"); cr == nil || err == nil {
					t.Errorf("it was deleted although the gateway that holds it was not asked: %v", err)
				}
				if n := len(other.Subscriptions()); n != 1 {
					t.Fatalf("%d subscriptions at the new gateway, want 1", n)
				}
				w.config(func(c *configv1alpha1.ClusterProviderConfig) {
					meta.AddAnnotations(c, map[string]string{configv1alpha1.AnnotationAcceptGateway: other.Endpoint()})
				})
				inForce(t, w.settle("s"))
				if b := baselineOf(t, w.stored("s")); b.Endpoint != other.Endpoint() || len(other.Subscriptions()) != 2 {
					t.Errorf("baseline is %+v, and the new gateway has %+v", b, other.Subscriptions())
				}
				w.gone("d")
			})
		}
	}
	t.Run("FoundThere", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
		w.settle("s")
		other := w.move(emulator.InPlace, "another-gateway")
		if status, _ := other.Do(http.MethodPost, "/subscriptions", byHandLike(secretToken, "", "uid-s")); status != http.StatusCreated {
			t.Fatal("cannot create it by hand")
		}
		inForce(t, w.settle("s"))
		if b := baselineOf(t, w.stored("s")); b.Endpoint != other.Endpoint() || b.GatewayID != "another-gateway" {
			t.Errorf("the baseline was not refreshed: %+v", b)
		}
	})
	t.Run("StrangerThere", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", externalRef("same"), application("app")))
		w.settle("s")
		other := w.move(emulator.InPlace, "another-gateway")
		if status, _ := other.Do(http.MethodPost, "/subscriptions", byHandLike("x", "stranger", "same")); status != http.StatusCreated {
			t.Fatal("cannot create it by hand")
		}
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonImmutableField)
		w.remove("s")
		if cr, err := w.pass("s"); cr == nil || err == nil {
			t.Errorf("it was deleted although the gateway that holds it was not asked: %v", err)
		}
		w.config(func(c *configv1alpha1.ClusterProviderConfig) {
			meta.AddAnnotations(c, map[string]string{configv1alpha1.AnnotationAcceptGateway: other.Endpoint()})
		})
		w.gone("s")
		if n := len(other.Subscriptions()); n != 1 || other.Writes() != 0 {
			t.Errorf("a stranger's subscription at another gateway: %d left, %d writes", n, other.Writes())
		}
	})
}

// A create that was not answered by one gateway is not looked for at another: what
// looks alike there is not ours to delete.
//
// contract: S11, S33, S36, A11
func TestOpenAttemptAtAnotherGateway(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", externalRef("same"), application("app")))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			other := w.move(g, "emulated-gateway")
			if status, _ := other.Do(http.MethodPost, "/subscriptions", byHandLike("x", "app", "same")); status != http.StatusCreated {
				t.Fatal("cannot create it by hand")
			}
			w.remove("s")
			w.gone("s")
			if n := len(other.Subscriptions()); n != 1 {
				t.Error("a subscription at another gateway was deleted")
			}
			if w.events.count("LeftBehind") == 0 {
				t.Error("no event says what could not be checked")
			}
		})
	}
}

// Of two objects that name one subscription in their baselines the one that holds
// it goes on, and the other one does nothing at all.
//
// contract: S12
// case: C10
func TestTwoBaselines(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	held := w.settle("s")
	thief := subscription("thief", application("app"), status(v1alpha1.SubscriptionRevoked))
	thief.Annotations = held.Annotations
	thief.CreationTimestamp.Time = held.CreationTimestamp.Add(-time.Hour)
	w.add(thief)
	for range 3 {
		cr, err := w.pass("thief")
		refused(t, cr, err, v1alpha1.ReasonConflict)
		inForce(t, w.settle("s"))
	}
	if w.count(http.MethodPut) != 0 || w.only().Status != "ACTIVE" {
		t.Error("the thief changed something")
	}
	w.ResetJournal()
	w.remove("thief")
	w.gone("thief")
	if n := len(w.Requests(emulator.Match{})); n != 0 {
		t.Errorf("%d requests to delete what is not held", n)
	}
	inForce(t, w.settle("s"))
	w.only()
}

// What a newer version recorded is not touched by this one, not even by deletion.
//
// contract: S17
func TestNewerBaseline(t *testing.T) {
	for _, key := range []string{v1alpha1.AnnotationBaseline, v1alpha1.AnnotationCreateAttempt} {
		t.Run(strings.TrimPrefix(key, v1alpha1.Group), func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			id := w.byHand(byHandLike(secretToken, "app", "mine"))
			w.add(subscription("s", externalName(id), application("app"), annotated(key, fmt.Sprintf(`{"v":2,"id":%q,"askedId":%q}`, id, id))))
			before := w.stored("s").GetAnnotations()
			for range 2 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonNewerBaseline)
				if fmt.Sprint(before) != fmt.Sprint(cr.GetAnnotations()) {
					t.Errorf("annotations were written: %v", cr.GetAnnotations())
				}
			}
			// The runtime puts its finalizer on what could be observed only.
			w.edit("s", func(cr *v1alpha1.Subscription) { cr.Finalizers = []string{"finalizer.managedresource.crossplane.io"} })
			w.remove("s")
			if cr, err := w.pass("s"); cr == nil || err == nil {
				t.Errorf("it was deleted: %v", err)
			}
			if n := w.Writes(); n != 0 {
				t.Errorf("%d writes, want none", n)
			}
		})
	}
}

// Absence is only what the gateway itself calls so.
//
// contract: S31
// case: F7, F11
func TestNoAbsence(t *testing.T) {
	faults := map[string]emulator.Fault{
		"Unauthorized": emulator.Denied(http.StatusUnauthorized), "Forbidden": emulator.Denied(http.StatusForbidden),
		"MethodNotAllowed": emulator.Raw(http.StatusMethodNotAllowed, "text/plain", "no"),
		"Unknown route":    emulator.Raw(http.StatusNotFound, "text/plain", "404 page not found"),
		"Unavailable":      emulator.Status(http.StatusServiceUnavailable, "no"), "HTML": emulator.HTML(http.StatusOK),
		"Redirect": emulator.Redirect("https://login.example.org"), "Cut": emulator.Cut(), "Empty": emulator.EmptyBody(),
		"OtherID": emulator.WrongID("other"),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
			w.settle("s")
			remove := w.Inject(emulator.Always(emulator.Match{Method: http.MethodGet, ID: "uid-s"}, f))
			for range 2 {
				cr, err := w.pass("s")
				if err == nil {
					t.Fatal("no error")
				}
				if got := cr.GetCondition(v1alpha1.TypeApplied); got.Status != "Unknown" || got.Reason != v1alpha1.ReasonGatewayUnavailable {
					t.Errorf("Applied is %s %s", got.Status, got.Reason)
				}
				if got := cr.GetCondition(xpv2.TypeReady); got.Status != "True" {
					t.Error("Ready lost its last value")
				}
				w.wait(2 * time.Minute)
			}
			if n := w.count(http.MethodPost); n != 1 {
				t.Errorf("%d POSTs, want 1", n)
			}
			w.remove("s")
			if cr, _ := w.pass("s"); cr == nil {
				t.Error("the finalizer was dropped")
			}
			remove()
			w.wait(2 * time.Minute)
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d left", n)
			}
		})
	}
}

// What was about to be created again when the object was deleted is not left
// behind either.
//
// contract: S30, S33
// case: C8
func TestDeleteWhileRecreating(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname+"/Committed", func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.settle("s")
			w.deleteByHand(w.held())
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			w.remove("s")
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d left behind", n)
			}
		})
		t.Run(gname+"/Late", func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.settle("s")
			w.deleteByHand(w.held())
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			w.remove("s")
			if cr, err := w.pass("s"); cr == nil || err == nil {
				t.Error("it went although its create may still take effect")
			}
			w.byHand(byHandLike(secretToken, "app", "uid-s"))
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d left behind", n)
			}
		})
	}
}
