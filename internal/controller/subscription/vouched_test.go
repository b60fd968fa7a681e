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
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// forged is all that the provider writes before it asks for an ID, down to the version of
// the token that it would send.
func (w *world) forged(id string) change {
	return func(cr *v1alpha1.Subscription) {
		externalRef(id)(cr)
		openAttempt(w, id)(cr)
		s := w.secret("other")
		annotated(v1alpha1.AnnotationTokenMemory, fmt.Sprintf(`{"uid":%q,"resourceVersion":%q,"key":"token"}`, s.UID, s.ResourceVersion))(cr)
	}
}

// vouched has the status of a Subscription vouch from now on for the attempt that it
// recorded, as the provider does just before it asks.
func (w *world) vouched(name string) {
	w.t.Helper()
	v := record.Vouch(w.stored(name))
	v.Time = ptr(metav1.NewTime(w.clock.Now()))
	w.report(name, v1alpha1.SubscriptionStatus{CreateAttempt: v})
}

// owned is an ID that exists and belongs to somebody else than who is to be robbed: an
// attempt can ask for it on a legacy gateway, which chooses another one anyway.
func (w *world) owned() string {
	w.t.Helper()
	w.add(tokenSecret("third", "third-token"), subscription("own", application("zzz"), tokenIn("third")))
	return w.settle("own").Status.AtProvider.ID
}

// unreported is a create whose answer was recorded, and the process ended before status
// could be told.
func (w *world) unreported(name string) {
	w.t.Helper()
	before, after := w.count(http.MethodPost), 0
	// The first write after the answer is the record.
	w.refuseWrites(func() bool {
		if w.count(http.MethodPost) > before {
			after++
		}
		return after > 1
	})
	_, _ = w.pass(name)
	w.allowWrites()
	if cr := w.stored(name); baselineOf(w.t, cr) == nil || cr.Status.AtProvider.ID != "" {
		w.t.Fatalf("it is recorded to hold %+v, and status says %q", baselineOf(w.t, cr), cr.Status.AtProvider.ID)
	}
	w.restart()
}

// A record of a create that never was is nothing against a holder that comes back from a
// backup without its status: it is not taken for what it asked for, and status does not
// vouch for it.
//
// contract: S11, S12, S23, A5
func TestForgedAttemptBesideRestored(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(g)
			id := w.settle("s").Status.AtProvider.ID
			w.wait(24 * time.Hour)
			w.loseStatus("s")
			w.restart()
			w.add(subscription("thief", application("app"), tokenIn("other"), w.forged(id), w.aged(-time.Minute)))
			for range 4 {
				_, _ = w.pass("thief")
				w.wait(time.Second)
			}
			w.edit("s", status(v1alpha1.SubscriptionRevoked))
			inForce(t, w.settle("s"))
			w.notTaken("thief", id)
			if got, _ := w.Subscription(id); got.Status != "REVOKED" {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

// What a create made whose answer was lost is found again although its gateway was away
// for longer than that create could take effect, and a younger object recorded meanwhile
// to have asked for the same: that one neither has it nor deletes it.
//
// contract: S11, S12, S23, S32, A5, A11
func TestForgedAttemptBesideLostCreate(t *testing.T) {
	for gname, g := range generations() {
		for name, deletes := range map[string]bool{"Asks": false, "Deletes": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				w.wait(10 * time.Minute) // The provider has been there for long.
				asked := "acme"
				if g == emulator.Legacy {
					asked = w.owned()
				}
				w.add(subscription("s", application("app"), externalRef("acme")))
				w.lost("s", emulator.Cut().After())
				id := w.idOf("app")
				w.wait(2 * time.Minute)
				w.add(subscription("thief", application("app"), tokenIn("other"), w.forged(asked), w.aged(-time.Minute)))
				_, _ = w.pass("thief")
				if deletes {
					w.remove("thief")
					w.gone("thief")
				} else {
					w.passes("thief")
				}
				w.edit("s", status(v1alpha1.SubscriptionRevoked))
				inForce(t, w.settle("s"))
				w.notTaken("thief", id)
				if got := w.managedBy("s"); got.ID != id || got.Status != "REVOKED" || w.count(http.MethodDelete) != 0 {
					t.Errorf("it holds %+v, and %s was made for it; %d DELETEs", got, id, w.count(http.MethodDelete))
				}
			})
		}
	}
}

// A record of a later create that knows of nothing, and that nobody goes on with, hides
// nothing that a lost create made: it is made once, and deleted with its object.
//
// contract: S10, S11, S33, A5
func TestForgedLaterAttemptHidesNothing(t *testing.T) {
	cases := map[string]struct {
		policy  v1alpha1.SubscriptionAdoptionPolicy
		happens func(w *world)
		deleted bool
	}{
		"NoAdoption":  {policy: v1alpha1.SubscriptionAdoptNever},
		"IfUnique":    {policy: v1alpha1.SubscriptionAdoptIfUnique},
		"TokenEdited": {policy: v1alpha1.SubscriptionAdoptIfUnique, happens: func(w *world) { w.setToken("tok", "new-token") }},
		"Deleted":     {policy: v1alpha1.SubscriptionAdoptIfUnique, happens: func(w *world) { w.remove("s") }, deleted: true},
	}
	for name, tc := range cases {
		for rname, restarted := range map[string]bool{"Running": false, "Restarted": true} {
			t.Run(name+"/"+rname, func(t *testing.T) {
				w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(emulator.Legacy)
				own := w.owned()
				w.add(subscription("s", application("app"), adopt(tc.policy)))
				w.wait(time.Second)
				w.lost("s", emulator.Cut().After())
				id := w.idOf("app")
				w.wait(3 * time.Minute)
				if restarted {
					w.restart()
				}
				w.add(subscription("thief", application("app"), tokenIn("other"), w.forged(own), w.aged(-time.Minute)))
				_, _ = w.pass("thief")
				w.edit("thief", paused)
				if tc.happens != nil {
					tc.happens(w)
				}
				w.wait(2 * time.Minute)
				if !tc.deleted {
					inForce(t, w.settle("s"))
					if held := w.managedBy("s").ID; held != id || w.idOf("app") != id {
						t.Errorf("it holds %s, and %s was made for it", held, id)
					}
					return
				}
				w.gone("s")
				if got := w.only(); got.ID != own {
					t.Errorf("left is %+v", got)
				}
			})
		}
	}
}

// An object that says that it has asked takes turns with others on a legacy gateway: they
// need not wait until it is answered.
//
// contract: S11, A3, A5
func TestForgedAttemptKeepsNoTurn(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.Legacy)
	w.add(subscription("thief", application("app"), tokenIn("other"), w.forged(w.owned())), subscription("s", application("app")))
	for range 60 {
		_, _ = w.pass("thief")
		if cr, _ := w.pass("s"); baselineOf(t, cr) != nil {
			return
		}
		w.wait(20 * time.Second)
	}
	_, err := w.pass("s")
	t.Errorf("it was not created in 20 minutes: %v", err)
}

// What status vouched for once is worth nothing ten minutes later: neither a record nor an
// attempt of then has what another object's create made whose answer was lost, or could
// not be reported any more, nor keeps an object from what it is restored to hold, be it
// younger or, but for a restored one, older.
//
// contract: S11, S12, S18, A5
func TestOldVouch(t *testing.T) {
	happens := map[string]func(w *world){
		"Lost":       func(w *world) { w.lost("s", emulator.Cut().After()); w.restart() },
		"Unreported": func(w *world) { w.unreported("s") },
		"Restored":   func(w *world) { w.settle("s"); w.loseStatus("s"); w.restart() },
	}
	for gname, g := range generations() {
		for name, happen := range happens {
			for _, claim := range []string{"Record", "Attempt", "Both"} {
				for oname, age := range map[string]time.Duration{"Older": time.Hour, "Younger": -72 * time.Hour} {
					if name == "Restored" && oname == "Older" {
						continue // Nobody can tell then whose it was.
					}
					t.Run(gname+"/"+name+"/"+claim+"/"+oname, func(t *testing.T) {
						w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
						w.declareReal(g)
						asked := "acme"
						if g == emulator.Legacy {
							asked = w.owned()
						}
						w.add(subscription("thief", application("app"), tokenIn("other"), w.forged(asked), w.aged(age), paused))
						w.vouched("thief")
						w.wait(48 * time.Hour)
						w.add(subscription("s", application("app"), externalRef("acme")))
						happen(w)
						id := w.idOf("app")
						w.edit("thief", resumed, func(cr *v1alpha1.Subscription) {
							cr.Spec.ForProvider.ExternalRefID = nil
							if claim != "Record" {
								meta.SetExternalCreatePending(cr, w.clock.Now())
							} else {
								delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt)
							}
							if claim != "Attempt" {
								w.names(id)(cr)
							} else {
								externalRef(asked)(cr)
							}
						})
						// After a start it is waited for those who asked before.
						for range 7 {
							_, _ = w.pass("thief")
							_, _ = w.pass("s")
							w.wait(20 * time.Second)
						}
						inForce(t, w.settle("s"))
						w.passes("thief")
						w.notTaken("thief", id)
						if held := w.managedBy("s").ID; held != id || w.count(http.MethodDelete) != 0 {
							t.Errorf("it holds %s, and %s was made for it; %d DELETEs", held, id, w.count(http.MethodDelete))
						}
					})
				}
			}
		}
	}
}

// Nor does it keep a holder waiting that comes back without its status, while nobody looks
// at the object that it vouched for.
//
// contract: S12, S17, A5
func TestOldVouchBlocksNoRestore(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(g)
			id := w.settle("s").Status.AtProvider.ID
			w.add(subscription("thief", tokenIn("other"), w.names(id), w.aged(-time.Hour), paused))
			w.report("thief", v1alpha1.SubscriptionStatus{CreateAttempt: &v1alpha1.CreateAttempt{
				Endpoint: w.Endpoint(), Digest: "x", ID: id, Time: ptr(metav1.NewTime(w.only().CreatedAt.Add(-24 * time.Hour))),
			}})
			w.loseStatus("s")
			w.restart()
			inForce(t, w.settle("s"))
		})
	}
}

// A holder that comes back without its status revokes and deletes what it holds, whatever
// a younger object has asked for, or recorded to have asked for, a day after that was
// created, and whichever of the two is looked at first.
//
// contract: S12, S17, S23, S32, A5
func TestVouchForWhatIsHeld(t *testing.T) {
	claims := map[string]func(w *world, id string){
		"Record":  func(*world, string) {},
		"Forged":  func(w *world, id string) { w.edit("thief", w.forged(id)); _, _ = w.pass("thief") },
		"Vouched": func(w *world, id string) { w.edit("thief", w.forged(id)); w.vouched("thief") },
	}
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Revoked": false, "Deleted": true} {
			for cname, claim := range claims {
				for first, second := range map[string]string{"s": "thief", "thief": "s"} {
					t.Run(gname+"/"+name+"/"+cname+"/"+first, func(t *testing.T) {
						w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
						w.declareReal(g)
						id := w.settle("s").Status.AtProvider.ID
						was := w.only()
						w.wait(24 * time.Hour)
						w.add(subscription("thief", application("app"), tokenIn("other"), w.aged(-time.Minute)))
						claim(w, id)
						w.edit("thief", func(cr *v1alpha1.Subscription) {
							cr.Spec.ForProvider.ExternalRefID = nil
							delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt)
							w.names(id)(cr)
						})
						w.loseStatus("s")
						w.restart()
						if deleted {
							w.remove("s")
						} else {
							w.edit("s", status(v1alpha1.SubscriptionRevoked))
						}
						for range 3 {
							for _, o := range []string{first, second} {
								if w.stored(o) != nil {
									_, _ = w.pass(o)
								}
							}
							w.wait(time.Minute)
						}
						got, there := w.Subscription(id)
						switch left := there && got.CreatedAt.Equal(was.CreatedAt); {
						case deleted && (left || w.stored("s") != nil):
							t.Errorf("it is left behind: %+v", got)
						case !deleted && (!left || got.Status != "REVOKED"):
							t.Errorf("it is %s", got.Status)
						}
						if !deleted {
							inForce(t, w.settle("s"))
							w.notTaken("thief", id)
						}
					})
				}
			}
		}
	}
}

// What was created is held although the process ended before status was told, and an
// older object recorded before to have asked for the ID, while somebody had it reserved,
// and then to hold it, whichever is looked at first.
//
// contract: S11, S12, S23, A5
func TestForgedAttemptBesideUnreported(t *testing.T) {
	for first, second := range map[string]string{"s": "thief", "thief": "s"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), tokenSecret("third", "third-token"))
			w.declareReal(emulator.InPlace)
			w.add(subscription("own", application("zzz"), tokenIn("third"), externalRef("acme")))
			w.lost("own", emulator.Cut().Before())
			w.add(subscription("thief", application("app"), tokenIn("other"), w.forged("acme"), w.aged(time.Hour)))
			_, _ = w.pass("thief")
			w.edit("thief", paused)
			w.remove("own")
			w.gone("own")
			w.add(subscription("s", application("app"), externalRef("acme")))
			w.unreported("s")
			w.edit("thief", resumed, func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.ExternalRefID = nil
				delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt)
				w.names("acme")(cr)
			})
			w.edit("s", status(v1alpha1.SubscriptionRevoked))
			for range 3 {
				_, _ = w.pass(first)
				_, _ = w.pass(second)
			}
			inForce(t, w.settle("s"))
			w.notTaken("thief", "acme")
			if got := w.only(); got.Status != "REVOKED" {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

// Where the endpoint is written in another way before status knows when the subscription
// was created, it is revoked and deleted with its object all the same: a record that names
// it there has nothing.
//
// contract: S12, S23, S32, S36, A5
func TestRespelledBeforeItIsSeen(t *testing.T) {
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Revoked": false, "Deleted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				if cr, err := w.pass("s"); err != nil || cr.Status.AtProvider.CreationStamp != nil {
					t.Fatalf("it is known when it was created: %v", err)
				}
				got := w.only()
				w.respelled("localhost")
				w.add(subscription("thief", application("app"), tokenIn("other"), theft(record.Baseline{
					ID: got.ID, Endpoint: anotherName(w.Endpoint()), GatewayID: w.GatewayID(), APIInternalID: got.APIID,
				}), status(v1alpha1.SubscriptionActive), w.aged(-time.Minute)))
				w.wait(time.Minute)
				if deleted {
					w.remove("s")
					_, _ = w.pass("s")
					_, _ = w.pass("thief")
					w.gone("s")
					if _, there := w.Subscription(got.ID); there {
						t.Error("it is left behind")
					}
					return
				}
				w.edit("s", status(v1alpha1.SubscriptionRevoked))
				for range 3 {
					_, _ = w.pass("s")
					_, _ = w.pass("thief")
				}
				inForce(t, w.settle("s"))
				w.notTaken("thief", got.ID)
				if got := w.only(); got.Status != "REVOKED" {
					t.Errorf("it is %s", got.Status)
				}
			})
		}
	}
}

// What another object held when a create was sent, and gave up before it turned out that
// nothing came of it, is not taken for its result: it has that one's token.
//
// contract: S11, A1
func TestGivenUpIsNoResult(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("bait", application("app"), tokenIn("other")))
	w.declareReal(emulator.Legacy)
	bait := w.settle("bait").Status.AtProvider.ID
	w.add(subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
	w.lost("s", emulator.Cut().Before())
	w.edit("bait", func(cr *v1alpha1.Subscription) { cr.Finalizers = nil })
	w.remove("bait")
	if cr := w.passes("s"); cr.Status.AtProvider.ID == bait {
		t.Error("it holds what another object made")
	}
	if !w.HoldsToken(bait, otherToken) {
		t.Error("it was changed")
	}
}

// An object that names no ID is asked for under its UID, which nobody else is let to take
// before: who asks for it is refused, and it is created as its own.
//
// contract: S3, S12, A5
func TestUIDIsNotTaken(t *testing.T) {
	for gname, g := range generations() {
		for name, asks := range map[string]change{"ExternalRef": externalRef("uid-s"), "ExternalName": externalName("uid-s")} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), api("films")))
				w.declareReal(g)
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonAPIMissing)
				w.add(subscription("thief", application("zzz"), tokenIn("other"), asks, w.aged(time.Hour)))
				for range 2 {
					cr, err = w.pass("thief")
					refused(t, cr, err, v1alpha1.ReasonConflict)
				}
				w.addAPI("films")
				inForce(t, w.settle("s"))
				if got := w.only(); g == emulator.InPlace && got.ID != "uid-s" {
					t.Errorf("it is %+v", got)
				}
			})
		}
	}
}

// What status vouches for is one create, also where another one was for the same
// application on the same API: of that which another object's create made, lost, not
// reported yet, or held by another name of the gateway by now, a record has nothing.
//
// contract: S11, S12, S36, A5
func TestVouchedForSameApplication(t *testing.T) {
	cases := map[string]struct {
		happens   func(w *world)
		respelled bool
	}{
		"Lost":       {happens: func(w *world) { w.lost("s", emulator.Cut().After()) }},
		"Unreported": {happens: func(w *world) { w.unreported("s") }},
		"Respelled":  {happens: func(w *world) { w.settle("s") }, respelled: true},
	}
	for gname, g := range generations() {
		for name, tc := range cases {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				if tc.respelled {
					w.respelled("localhost")
				}
				w.addVouched("thief", application("app"))
				own := w.only().ID
				w.respelled("127.0.0.1")
				w.add(subscription("s", application("app"), externalRef("acme")))
				tc.happens(w)
				id := ""
				for _, o := range w.Subscriptions() {
					if o.ID != own {
						id = o.ID
					}
				}
				w.edit("thief", w.names(id), resumed)
				if tc.respelled {
					w.edit("thief", func(cr *v1alpha1.Subscription) {
						b := *baselineOf(t, cr)
						b.Endpoint = anotherName(b.Endpoint)
						record.WriteBaseline(cr, b)
					})
					w.respelled("localhost")
					w.restart()
				}
				w.passes("thief")
				inForce(t, w.settle("s"))
				w.notTaken("thief", id)
				if held := w.managedBy("s").ID; held != id || len(w.Subscriptions()) != 2 {
					t.Errorf("it holds %s of %d, and %s was made for it", held, len(w.Subscriptions()), id)
				}
			})
		}
	}
}

// A gateway that moves is left to who held what is there also where a record that lies in
// wait at the new address is looked at first.
//
// contract: S12, S36, A5
func TestGatewayMovesRecordFirst(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(g)
			held := w.settle("s").Status.AtProvider.ID
			w.add(subscription("thief", application("app"), tokenIn("other"), theft(record.Baseline{ID: held, Endpoint: anotherName(w.Endpoint()), APIInternalID: w.only().APIID})))
			w.respelled("localhost")
			w.passes("thief")
			inForce(t, w.settle("s"))
			w.notTaken("thief", held)
			if got := w.only(); got.Status != "ACTIVE" {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

// What an older object asked for two days ago keeps nobody waiting for what a create made a
// moment ago.
//
// contract: S11
func TestOldAttemptDelaysNobody(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(g)
			w.add(subscription("older", application("app"), tokenIn("other"), openAttempt(w, "acme"), w.aged(time.Hour)))
			w.vouched("older")
			w.wait(48 * time.Hour)
			w.add(subscription("s", application("app"), externalRef("acme")))
			w.lost("s", emulator.Cut().After())
			w.restart()
			for range 3 {
				if _, err := w.pass("s"); err != nil {
					t.Errorf("it waits for what cannot be its result: %v", err)
				}
				w.wait(30 * time.Second)
			}
		})
	}
}
