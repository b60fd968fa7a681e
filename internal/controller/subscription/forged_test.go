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

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// forgeries are what an older object can say of itself to get what another object's
// create made, whose answer was lost with the process. A change is about what is there.
func forgeries(w *world, victim string) map[string]change {
	copied := w.stored(victim).GetAnnotations()
	id := w.only().ID
	baseline := record.Baseline{
		ID: id, Endpoint: w.Endpoint(), APIInternalID: w.only().APIID,
		Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app", fieldExternalRefID: "acme"},
	}
	return map[string]change{
		"Import": func(cr *v1alpha1.Subscription) { meta.SetExternalName(cr, id) },
		"Baseline": func(cr *v1alpha1.Subscription) {
			meta.SetExternalName(cr, id)
			record.WriteBaseline(cr, baseline)
		},
		"Attempt": func(cr *v1alpha1.Subscription) { meta.AddAnnotations(cr, copied) },
		"All": func(cr *v1alpha1.Subscription) {
			meta.AddAnnotations(cr, copied)
			meta.SetExternalName(cr, id)
			record.WriteBaseline(cr, baseline)
		},
	}
}

// What a create made whose answer was lost with the process is found again by who asked
// for it, whatever an older object says of itself; and what takes access away from it
// waits for nobody.
//
// contract: S7, S11, S12, S23, S32, A5
func TestLostCreateIsNotTaken(t *testing.T) {
	for gname, g := range generations() {
		for _, forgery := range []string{"Import", "Baseline", "Attempt", "All"} {
			for name, again := range map[string]bool{"Created": false, "CreatedAgain": true} {
				t.Run(gname+"/"+forgery+"/"+name, func(t *testing.T) {
					w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
					w.declareReal(g)
					if again {
						w.settle("s")
						w.deleteByHand(w.only().ID)
					}
					w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
					if _, err := w.pass("s"); err == nil {
						t.Fatal("no error")
					}
					// Without a Secret it cannot go on, and would keep what it took a turn for.
					thief := subscription("thief", application("app"), tokenIn("other"), status(v1alpha1.SubscriptionActive), forgeries(w, "s")[forgery])
					thief.CreationTimestamp.Time = w.stored("s").CreationTimestamp.Add(-time.Hour)
					w.add(thief)
					w.restart()
					for range 3 {
						_, _ = w.pass("thief")
					}
					w.edit("s", status(v1alpha1.SubscriptionRevoked))
					cr := w.settle("s")
					if got := w.managedBy("s"); got.Status != "REVOKED" || !cr.Status.Deployed {
						t.Errorf("it is %s", got.Status)
					}
					if w.count(http.MethodPost) > 2 && g == emulator.InPlace {
						t.Errorf("%d POSTs", w.count(http.MethodPost))
					}
					held := w.managedBy("s").ID
					if b := baselineOf(t, w.stored("thief")); b != nil && b.ID == held && w.stored("thief").Status.Deployed {
						t.Error("the thief holds it too")
					}
					w.remove("thief")
					w.wait(2 * time.Minute)
					w.gone("thief")
					if _, ok := w.Subscription(held); !ok {
						t.Error("it was deleted with the thief")
					}
				})
			}
		}
	}
}

// A record of an attempt that status does not vouch for keeps nobody from creating what
// it says it asked for.
//
// contract: S11, A3, A5
func TestForgedAttemptBlocksNoCreate(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			blocker := subscription("blocker", application("app"), tokenIn("nowhere"), openAttempt(w, "zzz"))
			blocker.CreationTimestamp.Time = w.clock.Now().Add(-time.Hour)
			w.add(blocker, subscription("s", application("app")))
			w.restart()
			_, _ = w.pass("blocker")
			cr, err := w.pass("s")
			if err != nil || baselineOf(t, cr) == nil {
				t.Errorf("it waits for a record: %v", err)
			}
		})
	}
}

// An attempt that cannot be looked into keeps others waiting no longer than it can take
// effect.
//
// contract: S11, A3
func TestOpenAttemptBlocksForAMoment(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("gone", otherToken), subscription("a", application("app"), tokenIn("gone")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
	if _, err := w.pass("a"); err == nil {
		t.Fatal("no error")
	}
	w.deleteSecret("gone")
	w.wait(70 * time.Second)
	w.restart()
	w.add(subscription("b", application("app")))
	if _, err := w.pass("b"); err != nil {
		t.Errorf("it waits for what cannot happen any more: %v", err)
	}
}

// respelled has the configuration lead to the gateway by another name.
func (w *world) respelled(name string) {
	w.t.Helper()
	w.config(func(c *configv1alpha1.ClusterProviderConfig) {
		c.Spec.Endpoint = strings.Replace(strings.Replace(c.Spec.Endpoint, "127.0.0.1", name, 1), "localhost", name, 1)
	})
}

// An ID whose holder lost sight of it for the moment may be created by another object by
// another name of the gateway: that it is the same gateway nobody can tell. But one of them
// has it, and the other is told.
//
// contract: S12, A11
func TestVanishedIDIsHeldOnce(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
	inForce(t, w.settle("s"))
	w.deleteByHand("acme")
	w.wait(time.Second)
	w.respelled("localhost")
	w.add(subscription("taker", application("app"), tokenIn("other"), externalRef("acme")))
	inForce(t, w.settle("taker"))
	w.respelled("127.0.0.1")
	for range 2 {
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonConflict)
		w.respelled("localhost")
		inForce(t, w.settle("taker"))
		w.respelled("127.0.0.1")
		w.restart()
	}
	w.remove("s")
	w.gone("s")
	if got := w.only(); got.ID != "acme" || !w.HoldsToken("acme", otherToken) {
		t.Errorf("what the other holds is %+v", got)
	}
}

// A holder that comes back from a backup with its status is refused what another object
// holds by now, by whatever name of the gateway that one came by it.
//
// contract: S12
func TestRestoredBesideAnotherName(t *testing.T) {
	for gname, g := range generations() {
		for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
				w.declareReal(g)
				backup := w.settle("s").DeepCopy()
				w.edit("s", func(cr *v1alpha1.Subscription) { cr.Finalizers = nil })
				w.remove("s")
				w.respelled("localhost")
				w.add(subscription("now", application("app"), tokenIn("other"), externalName(w.only().ID)))
				inForce(t, w.settle("now"))

				restored := backup.DeepCopy()
				restored.ResourceVersion, restored.UID, restored.CreationTimestamp.Time = "", "restored", w.clock.Now().Add(time.Hour)
				w.add(restored)
				w.report("s", backup.Status)
				if restarted {
					w.restart()
				}
				w.respelled("127.0.0.1")
				for range 2 {
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonConflict)
				}
				inForce(t, w.settle("now"))
				w.respelled("localhost")
				inForce(t, w.settle("now"))
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonConflict)
			})
		}
	}
}

// A record tells nothing about what others have: not whether it is there, nor whose it
// is.
//
// contract: S17, S18, A5
func TestRecordTellsNothing(t *testing.T) {
	for gname, g := range generations() {
		for where, endpoint := range map[string]string{"Here": "", "Nowhere": "http://nowhere"} {
			t.Run(gname+"/"+where, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
				w.declareReal(g)
				held := w.settle("s").Status.AtProvider.ID
				strange := w.byHand(byHandLike("stranger", "stranger", "theirs"))
				said := map[string]string{}
				for name, id := range map[string]string{"held": held, "strange": strange, "missing": "00000000-0000-4000-8000-000000000000"} {
					b := record.Baseline{ID: id, Endpoint: w.Endpoint()}
					if endpoint != "" {
						b.Endpoint = endpoint
					}
					w.add(subscription(name, application("app"), tokenIn("other"), theft(b), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)))
					for range 2 {
						cr, err := w.pass(name)
						refused(t, cr, err, v1alpha1.ReasonConflict)
						said[cr.GetCondition(v1alpha1.TypeApplied).Message] = name
						if !w.stored(name).Status.Deployed && w.stored(name).Status.AtProvider.ID != "" {
							t.Errorf("%s is told of", name)
						}
					}
				}
				if len(said) != 1 {
					t.Errorf("they are told apart: %v", said)
				}
			})
		}
	}
}

// What is only observed is held, whatever create is under way when the provider ends.
//
// contract: S11, S12, S18
func TestObservedWhileOthersAsk(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
	id := w.byHand(byHandLike("theirs", "app", "theirs"))
	w.add(subscription("observer", application("app"), externalName(id), policies(xpv2.ManagementActionObserve)))
	if _, err := w.pass("observer"); err != nil {
		t.Fatal(err)
	}
	w.add(subscription("asker", application("app")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
	if _, err := w.pass("asker"); err == nil {
		t.Fatal("no error")
	}
	w.restart()
	for range 2 {
		if cr, err := w.pass("observer"); err != nil || cr.Status.AtProvider.ID != id {
			t.Errorf("it lost sight of it: %v", err)
		}
	}
}

// Of two that asked for one ID and were not answered, the older one finds what was made
// of it, whichever is looked at first after a restart.
//
// contract: S7, S11, S12
func TestOlderFindsWhatBothAskedFor(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.InPlace)
	older := subscription("older", application("app"), externalRef("acme"))
	older.CreationTimestamp.Time = w.clock.Now().Add(-time.Hour)
	w.add(older, subscription("younger", application("app"), tokenIn("other"), externalRef("acme")))
	for _, lost := range []struct {
		name  string
		fault emulator.Fault
	}{{"younger", emulator.Cut().Before()}, {"older", emulator.Cut().After()}} {
		w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, lost.fault))
		if _, err := w.pass(lost.name); err == nil {
			t.Fatal("no error")
		}
		w.restart()
	}
	if cr, err := w.pass("younger"); err == nil || baselineOf(t, cr) != nil {
		t.Errorf("the younger one takes what the other's create made: %v", err)
	}
	inForce(t, w.settle("older"))
	if got := w.only(); got.ID != "acme" || !w.HoldsToken("acme", secretToken) {
		t.Errorf("it was taken: %+v", got)
	}
	cr, err := w.pass("younger")
	refused(t, cr, err, v1alpha1.ReasonConflict)
}

// What is taken away from the annotations before status is complete is put back, or deleted
// with its object.
//
// contract: S17, S32
func TestRecordTakenAwayAtOnce(t *testing.T) {
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Held": false, "Deleted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
				w.declareReal(g)
				if _, err := w.pass("s"); err != nil {
					t.Fatal(err)
				}
				w.edit("s", func(cr *v1alpha1.Subscription) { cr.Annotations = nil })
				if deleted {
					w.leavesNothing("s")
					return
				}
				w.passes("s")
				w.leavesNothing("s")
			})
		}
	}
}
