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
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Who holds something keeps it when the endpoint is written in another way, and can revoke
// and delete it, while another object asks for its ID under the new name of the gateway.
//
// contract: S12, S23, S32
func TestRespelledBesideClaim(t *testing.T) {
	for gname, g := range generations() {
		for _, what := range []string{"Revoked", "Deleted", "Stolen", "Recovers"} {
			t.Run(gname+"/"+what, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				id := w.settle("s").Status.AtProvider.ID
				w.wait(24 * time.Hour)
				w.addConfig("other", anotherName(w.URL()), configv1alpha1.GatewayGeneration(g))
				// The thief asks for it by the other name, and is not answered.
				w.add(subscription("asker", application("app"), tokenIn("other"), externalRef(id), through("other")))
				w.lost("asker", emulator.Cut().Before())
				w.add(subscription("thief", application("app"), tokenIn("other"), through("other"), func(cr *v1alpha1.Subscription) {
					record.WriteBaseline(cr, record.Baseline{ID: id, Endpoint: anotherName(w.Endpoint()), GatewayID: w.GatewayID(), APIInternalID: w.only().APIID, Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}})
					meta.SetExternalName(cr, id)
				}, w.aged(-time.Hour), paused)) // Younger.
				w.respelled("localhost")
				switch what {
				case "Recovers":
					w.edit("thief", func(cr *v1alpha1.Subscription) { cr.Finalizers = nil })
					w.remove("thief")
					cr, err := w.pass("s")
					if err != nil {
						t.Errorf("s loses: %v %v", err, cr.Status)
					}
					w.wait(3 * time.Minute)
					inForce(t, w.settle("s"))
					return
				case "Deleted":
					w.remove("s")
					w.gone("s")
					if _, there := w.Subscription(id); there {
						t.Error("it is left behind")
					}
					return
				case "Revoked":
					w.edit("s", status(v1alpha1.SubscriptionRevoked))
					_, err := w.pass("s")
					if got, _ := w.Subscription(id); got.Status != "REVOKED" {
						t.Errorf("it is %s: %v", got.Status, err)
					}
					return
				}
				_, _ = w.pass("s")
				w.edit("thief", resumed)
				w.wait(3 * time.Minute)
				w.passes("thief")
				w.notTaken("thief", id)
				w.passes("s")
				inForce(t, w.stored("s"))
			})
		}
	}
}

// Who holds something keeps it when the provider ends after it recorded the new name of the
// gateway, and before status says so.
//
// contract: S11, S12, S32
func TestRespelledAndKilled(t *testing.T) {
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Held": false, "Deleted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				id := w.settle("s").Status.AtProvider.ID
				w.wait(24 * time.Hour)
				w.add(subscription("thief", application("app"), tokenIn("other"), theft(record.Baseline{ID: id, Endpoint: anotherName(w.Endpoint()), GatewayID: w.GatewayID(), APIInternalID: w.only().APIID}), paused))
				w.respelled("localhost")
				writes := 0
				w.refuseWrites(func() bool { writes++; return writes > 1 })
				_, _ = w.pass("s")
				w.allowWrites()
				if b, at := baselineOf(t, w.stored("s")), w.stored("s").Status.AtProvider; b.Endpoint == at.Endpoint {
					t.Fatalf("%v %v", b, at)
				}
				w.restart()
				if deleted {
					w.remove("s")
					w.gone("s")
					if _, there := w.Subscription(id); there {
						t.Error("it is left behind")
					}
					return
				}
				w.edit("thief", resumed)
				_, _ = w.pass("s")
				for range 3 {
					_, _ = w.pass("thief")
				}
				w.notTaken("thief", id)
				w.passes("s")
				inForce(t, w.stored("s"))
				if got := w.only(); got.Status != "ACTIVE" {
					t.Errorf("it is %s", got.Status)
				}
			})
		}
	}
}

// vouchOnly has status vouch for a create that never arrives.
func (w *world) vouchOnly(name string) {
	w.t.Helper()
	w.lost(name, emulator.Cut().Before())
	if w.stored(name).Status.CreateAttempt == nil {
		w.t.Fatal("not vouched")
	}
	w.wait(2 * time.Minute)
}

// Status vouches for nothing that is not sent: not for what is another's or cannot be
// stored, on whatever gateway.
//
// contract: S11, S12, A5
func TestNothingUnsentIsVouchedFor(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(g)
			id := w.settle("s").Status.AtProvider.ID
			w.deleteByHand(id)
			posts := w.count(http.MethodPost)
			for name, asks := range map[string]change{"by-id": externalRef(id), "by-uid": externalRef("uid-s"), "unstored": application("apart")} {
				w.add(subscription(name, application("app"), tokenIn("other"), asks, w.aged(time.Hour)))
				w.refuseWrites(func() bool { return name == "unstored" })
				for range 3 {
					_, _ = w.pass(name)
					w.wait(time.Minute)
				}
				w.allowWrites()
				if cr := w.stored(name); w.count(http.MethodPost) == posts && cr.Status.CreateAttempt != nil {
					t.Errorf("%s is vouched for: %+v", name, cr.Status.CreateAttempt)
				}
			}
		})
	}
}

// Nor does it where the API server refuses to say so, or the object is edited in that
// moment: then nothing is sent.
//
// contract: S11
func TestNothingIsSentUnvouched(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.declareReal(g)
			writes := 0
			w.refuseWrites(func() bool { writes++; return writes == 3 })
			_, _ = w.pass("s")
			cr := w.stored("s")
			if a := attemptOf(t, cr); w.count(http.MethodPost) != 0 || cr.Status.CreateAttempt != nil || a == nil || a.Outcome == record.Open {
				t.Errorf("%d creates are sent, attempt %+v, vouched for is %+v", w.count(http.MethodPost), a, cr.Status.CreateAttempt)
			}
			inForce(t, w.settle("s"))
			w.only()
		})
	}
}

// An older object that asked for the same, and does not or cannot look what came of it,
// keeps nobody for long from what was created later, nor from deleting it.
//
// contract: S11, S33, A3
func TestWhoDoesNotLookBlocksNobody(t *testing.T) {
	for name, c := range map[string]struct {
		g        emulator.Generation
		declared bool
		keep     change
		between  time.Duration
	}{
		"LegacyPaused":       {g: emulator.Legacy, declared: true, keep: paused, between: 2 * time.Minute},
		"LegacyAway":         {g: emulator.Legacy, declared: true, keep: through("nowhere"), between: 2 * time.Minute},
		"UndeclaredPaused":   {g: emulator.InPlace, keep: paused, between: 2 * time.Minute},
		"UndeclaredAway":     {g: emulator.InPlace, keep: through("nowhere"), between: 2 * time.Minute},
		"SameIDAway":         {g: emulator.InPlace, declared: true, keep: through("nowhere"), between: time.Second},
		"SameIDPausedAtOnce": {g: emulator.InPlace, declared: true, keep: paused, between: time.Second},
	} {
		for dname, deleted := range map[string]bool{"Held": false, "Deleted": true} {
			t.Run(name+"/"+dname, func(t *testing.T) {
				w := newWorld(t, c.g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				if c.declared {
					w.declareReal(c.g)
				}
				w.wait(10 * time.Minute)
				w.add(subscription("b", application("app"), tokenIn("other")))
				w.lost("b", emulator.Cut().Before())
				w.edit("b", c.keep)
				w.wait(c.between)
				if c.between < time.Minute {
					w.restart()
				}
				w.add(subscription("s", application("app")))
				w.lost("s", emulator.Cut().After())
				if deleted {
					w.remove("s")
				}
				for range 20 {
					cr, err := w.pass("s")
					if cr == nil || err == nil && baselineOf(t, cr) != nil {
						break
					}
					w.wait(time.Minute)
				}
				if cr := w.stored("s"); deleted && (cr != nil || len(w.Subscriptions()) != 0) {
					t.Errorf("it is not gone, or left behind: %+v", w.Subscriptions())
				} else if !deleted {
					inForce(t, w.settle("s"))
					w.only()
				}
			})
		}
	}
}

// What status reports is not what an older object has whose status vouches for a create
// that was not answered.
//
// contract: S12
func TestReportedBesideVouched(t *testing.T) {
	for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.InPlace)
			w.add(subscription("thief", application("app"), tokenIn("other"), externalRef("acme"), w.aged(time.Hour)))
			w.vouchOnly("thief")
			w.edit("thief", paused)
			w.add(subscription("s", application("app"), externalRef("acme")))
			if _, err := w.pass("s"); err != nil {
				t.Fatal(err)
			}
			if at := w.stored("s").Status.AtProvider; at.ID != "acme" {
				t.Fatalf("%+v", at)
			}
			w.edit("thief", w.names("acme"), func(cr *v1alpha1.Subscription) { delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt) })
			if restarted {
				w.restart()
			}
			_, _ = w.pass("s")
			w.edit("thief", resumed)
			w.passes("thief")
			w.notTaken("thief", "acme")
			w.passes("s")
			inForce(t, w.stored("s"))
		})
	}
}

// What was asked for elsewhere long ago is nothing against a holder that comes back without
// its status.
//
// contract: S11, S12
func TestVouchedElsewhereLongAgo(t *testing.T) {
	for gname, g := range generations() {
		for name, steal := range map[string]bool{"Held": false, "Robbed": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				w.add(subscription("s", application("app")))
				id := w.settle("s").Status.AtProvider.ID
				w.wait(5 * time.Minute)
				// Younger; its gateway is declared to choose IDs.
				elsewhere := newSite(t, emulator.Legacy, "mine", w.clock.Now)
				w.addConfig("elsewhere", elsewhere.URL(), configv1alpha1.GatewayGenerationLegacy)
				w.add(subscription("thief", application("app"), tokenIn("other"), through("elsewhere")))
				elsewhere.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().Before()))
				if _, err := w.pass("thief"); err == nil {
					t.Fatal("no error")
				}
				w.edit("thief", paused)
				w.wait(100 * 24 * time.Hour)
				w.loseStatus("s")
				w.restart()
				for range 3 {
					_, _ = w.pass("s")
					w.wait(time.Minute)
				}
				if steal {
					w.edit("thief", resumed, w.names(id), through("default"), func(cr *v1alpha1.Subscription) { delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt) })
					for range 3 {
						_, _ = w.pass("thief")
					}
					w.notTaken("thief", id)
				}
				w.passes("s")
				inForce(t, w.stored("s"))
			})
		}
	}
}

// What the create of an older object makes, or has made, is not taken by a younger one that
// asked for the same, be it by a record or by its attempt.
//
// contract: S11, S12, A5
func TestRecordBesideCreateUnderWay(t *testing.T) {
	for _, what := range []string{"UnderWay", "Lost", "LostAttempt"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.InPlace)
			w.wait(10 * time.Minute)
			w.add(subscription("s", application("app"), externalRef("acme"), api("films"))) // Waits for its API.
			_, _ = w.pass("s")
			w.wait(time.Minute)
			w.add(subscription("thief", application("app"), tokenIn("other"), externalRef("acme"), api("films")))
			// That the API was missed is forgotten, so that it is asked for again.
			w.restart()
			w.vouchOnly("thief")
			attempt := record.Attempt{Version: 1, AskedID: "acme", AbsentBefore: true, Endpoint: w.Endpoint(), APIID: "films", ApplicationID: "app", Outcome: record.Open}
			w.edit("thief", func(cr *v1alpha1.Subscription) {
				if what == "LostAttempt" {
					record.WriteAttempt(cr, attempt)
					if record.ReadVouched(cr, cr.Status.CreateAttempt) == nil {
						t.Fatal("not the same attempt")
					}
					return
				}
				delete(cr.Annotations, v1alpha1.AnnotationCreateAttempt)
				record.WriteBaseline(cr, record.Baseline{ID: "acme", Endpoint: w.Endpoint(), Fields: map[string]string{fieldAPIID: "films", fieldApplicationID: "app"}})
				meta.SetExternalName(cr, "acme")
				policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)(cr)
			})
			w.addAPI("films")
			switch what {
			case "UnderWay":
				answer := w.underWay("s")
				for range 2 {
					_, _ = w.pass("thief")
				}
				answer()
			case "Lost":
				w.lost("s", emulator.Cut().After())
				for range 2 {
					_, _ = w.pass("thief")
				}
			case "LostAttempt":
				w.lost("s", emulator.Cut().After())
				w.wait(2 * time.Minute)
				for range 3 {
					_, _ = w.pass("thief")
				}
			}
			for range 3 {
				_, _ = w.pass("s")
			}
			w.notTaken("thief", "acme")
			inForce(t, w.stored("s"))
		})
	}
}

// On a legacy gateway an object whose create was lost does not take what another one's
// create, which is under way, has made for that one, be it younger.
//
// contract: S11, S12
func TestLooksAfterWhatIsUnderWay(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.Legacy)
	w.add(subscription("older", application("app"), tokenIn("other"), w.aged(time.Minute)))
	w.lost("older", emulator.Cut().Before())
	w.wait(2 * time.Minute)
	w.add(subscription("s", application("app")))
	answer := w.underWay("s")
	id := w.idOf("app")
	for range 2 {
		_, _ = w.pass("older")
	}
	answer()
	w.notTaken("older", id)
	inForce(t, w.settle("s"))
	inForce(t, w.settle("older"))
}

// What was created or adopted stays claimed until the cache shows the record of it.
//
// contract: S12
func TestClaimedUntilCached(t *testing.T) {
	for _, what := range []string{"Create", "Adopt"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.InPlace)
			if what == "Adopt" {
				w.byHand(byHandLike(secretToken, "app", "acme"))
				w.wait(24 * time.Hour)
			}
			w.add(subscription("a", application("app"), externalRef("acme")))
			w.add(subscription("b", application("app"), tokenIn("other"), externalRef("acme"), w.aged(-time.Hour)))
			lags := false
			w.intercept(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if err := c.List(ctx, l, opts...); err != nil {
					return err
				}
				if sl, ok := l.(*v1alpha1.SubscriptionList); ok && lags {
					// The indexes do not lead to it yet.
					sl.Items = slices.DeleteFunc(sl.Items, func(o v1alpha1.Subscription) bool { return o.Name == "a" })
				}
				return nil
			}})
			lags = true
			if _, err := w.pass("a"); err != nil {
				t.Fatal(err)
			}
			confirm := func(name string) {
				cr := w.stored(name)
				env, err := w.connector().Environment(t.Context(), cr)
				if err != nil {
					t.Fatal(err)
				}
				env.Confirming = true
				e, err := w.controller.connect(t.Context(), cr, env)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = e.Observe(t.Context(), cr)
			}
			confirm("a")
			_, _ = w.pass("b")
			confirm("b")
			lags = false
			for range 3 {
				_, _ = w.pass("b")
				_, _ = w.pass("a")
			}
			w.notTaken("b", "acme")
			w.passes("a")
			inForce(t, w.stored("a"))
		})
	}
}

// An import whose record cannot be stored keeps nobody from an ID for long.
//
// contract: S11
func TestClaimsEnd(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.InPlace)
	w.add(subscription("s", application("app"), externalRef("acme"), api("films")))
	_, _ = w.pass("s")
	w.wait(time.Minute)
	w.byHand(byHandLike(secretToken, "app", "acme"))
	w.add(subscription("thief", application("app"), tokenIn("other"), externalName("acme")))
	w.refuseWrites(func() bool { return true })
	_, _ = w.pass("thief")
	w.allowWrites()
	w.edit("thief", paused)
	w.deleteByHand("acme")
	w.addAPI("films")
	w.wait(48 * time.Hour)
	for range 3 {
		_, _ = w.pass("s")
		w.wait(time.Hour)
	}
	inForce(t, w.stored("s"))
}

// Objects whose create cannot be stored as pending keep no turn, be they many or one.
//
// contract: S11, A3
func TestNoTurnWithoutCreate(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.Legacy)
	w.wait(10 * time.Minute)
	names := []string{"t1", "t2", "t3"}
	for _, n := range names {
		w.add(subscription(n, application("app"), tokenIn("other")))
	}
	w.add(subscription("s", application("app")))
	for range 20 {
		for _, n := range names {
			w.refuseWrites(func() bool { return true })
			_, _ = w.pass(n)
			w.allowWrites()
		}
		cr, err := w.pass("s")
		if err == nil && baselineOf(t, cr) != nil {
			return
		}
		w.wait(61 * time.Second)
	}
	_, err := w.pass("s")
	t.Errorf("it was not created in 20 minutes: %v", err)
}

// On a legacy gateway what was created for an older object, and not answered, is not found
// by a younger one first that asked for the same before.
//
// contract: S11, S12
func TestRecreatedAndLost(t *testing.T) {
	for name, established := range map[string]bool{"Established": true, "New": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.Legacy)
			w.add(subscription("s", application("app")))
			if established {
				id := w.settle("s").Status.AtProvider.ID
				w.wait(24 * time.Hour)
				w.deleteByHand(id)
			}
			w.wait(time.Minute)
			w.add(subscription("thief", application("app"), tokenIn("other")))
			w.vouchOnly("thief")
			a := record.Attempt{Version: 1, AskedID: "uid-thief", AbsentBefore: true, Endpoint: w.Endpoint(), APIID: "books", ApplicationID: "app", Known: []string{}, Outcome: record.Open}
			w.edit("thief", paused, func(cr *v1alpha1.Subscription) {
				record.WriteAttempt(cr, a)
				if record.ReadVouched(cr, cr.Status.CreateAttempt) == nil {
					t.Fatal("not the same attempt")
				}
			})
			w.wait(2 * time.Minute)
			w.lost("s", emulator.Cut().After())
			id := w.idOf("app")
			w.wait(2 * time.Minute)
			// It says that it was sent only now, so that nothing was sent later.
			w.edit("thief", resumed, func(cr *v1alpha1.Subscription) { meta.SetExternalCreatePending(cr, w.clock.Now()) })
			for range 3 {
				_, _ = w.pass("thief")
			}
			for range 3 {
				_, _ = w.pass("s")
				w.wait(2 * time.Minute)
			}
			w.notTaken("thief", id)
			inForce(t, w.stored("s"))
		})
	}
}

// Who was refused an ID once, and asked for it then, does not have it from whoever created
// it.
//
// contract: S12
func TestRefusedAndVouched(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), tokenSecret("third", "third-token"))
	w.declareReal(emulator.InPlace)
	w.add(subscription("thief", application("app"), tokenIn("other"), paused))
	w.add(subscription("mine", application("app"), tokenIn("third"), externalRef("acme")))
	w.settle("mine")
	w.edit("thief", resumed, w.names("acme"))
	cr, err := w.pass("thief")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	w.remove("mine")
	w.gone("mine")
	w.edit("thief", func(cr *v1alpha1.Subscription) { cr.Annotations = nil }, externalRef("acme"))
	w.vouchOnly("thief")
	w.edit("thief", func(cr *v1alpha1.Subscription) { cr.Annotations = nil }, w.names("acme"), paused)
	w.wait(5 * time.Minute)

	w.add(subscription("s", application("app"), externalRef("acme")))
	for range 2 {
		_, _ = w.pass("s")
	}
	w.edit("thief", resumed)
	for range 2 {
		_, _ = w.pass("thief")
	}
	w.notTaken("thief", "acme")
	w.passes("s")
	inForce(t, w.stored("s"))
}

// Who asks by another name of the gateway does not get what a holder records that came
// back without its status.
//
// contract: S7, S12, S18
func TestAskedByAnotherNameBesideRestored(t *testing.T) {
	for _, how := range []string{"Ask", "Import", "ImportWithAttempt"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.InPlace)
			w.add(subscription("s", application("app"), externalRef("acme")))
			w.settle("s")
			w.wait(24 * time.Hour)
			w.addConfig("other", anotherName(w.URL()), configv1alpha1.GatewayGenerationInPlace)
			w.loseStatus("s")
			w.restart()
			w.add(subscription("thief", application("app"), tokenIn("other"), through("other")))
			switch how {
			case "Ask":
				w.edit("thief", externalRef("acme"))
			case "Import":
				w.edit("thief", externalName("acme"))
			default:
				w.lost("thief", emulator.Cut().Before())
				w.edit("thief", externalName("acme"))
				w.wait(5 * time.Minute)
			}
			for range 3 {
				_, _ = w.pass("thief")
			}
			w.notTaken("thief", "acme")
			w.passes("s")
			inForce(t, w.stored("s"))
		})
	}
}

// One object whose create cannot be stored as pending keeps nobody from creating, from
// finding again what a create made, or from deleting it.
//
// contract: S11, S32
func TestNoTurnForEver(t *testing.T) {
	for _, what := range []string{"New", "Lost", "LostDeleted"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(emulator.Legacy)
			w.wait(10 * time.Minute)
			w.add(subscription("thief", application("app"), tokenIn("other")))
			w.add(subscription("s", application("app")))
			if what != "New" {
				w.lost("s", emulator.Cut().After())
				w.wait(61 * time.Second)
			}
			for range 60 {
				w.refuseWrites(func() bool { return true })
				_, _ = w.pass("thief")
				w.allowWrites()
				if what == "LostDeleted" && w.stored("s") != nil && w.stored("s").DeletionTimestamp == nil {
					w.remove("s")
				}
				cr, err := w.pass("s")
				if cr == nil || err == nil && baselineOf(t, cr) != nil {
					return
				}
				w.wait(30 * time.Second)
			}
			_, err := w.pass("s")
			t.Errorf("not in half an hour: %v", err)
		})
	}
}

// The clock of a gateway may be minutes behind that of the cluster.
//
// contract: S11, S12, S32
func TestClockBehind(t *testing.T) {
	for _, what := range []string{"Never", "TokenEdited", "Deleted"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
			w.declareReal(emulator.Legacy)
			w.add(subscription("s", application("app"), w.aged(-6*time.Minute)))
			if what == "Never" {
				w.edit("s", adopt(v1alpha1.SubscriptionAdoptNever))
			}
			w.lost("s", emulator.Cut().After())
			if what == "TokenEdited" {
				w.setToken("tok", otherToken)
			}
			w.wait(2 * time.Minute)
			if what == "Deleted" {
				w.remove("s")
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Errorf("%d left behind, events %d", n, w.events.count("LeftBehind"))
				}
				return
			}
			for range 4 {
				_, _ = w.pass("s")
				w.wait(time.Minute)
			}
			inForce(t, w.stored("s"))
			if n := len(w.Subscriptions()); n != 1 {
				t.Errorf("%d are there", n)
			}
		})
	}
}

// What an object only observes is not taken from it by a bare record.
//
// contract: S12
func TestObservedBesideRecord(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
	w.declareReal(emulator.InPlace)
	id := w.byHand(byHandLike("by-hand", "app", "acme"))
	w.wait(24 * time.Hour)
	w.add(subscription("s", application("app"), externalName(id), policies(xpv2.ManagementActionObserve)))
	_, _ = w.pass("s")
	_, _ = w.pass("s")
	w.add(subscription("thief", application("app"), tokenIn("other"), w.names(id), w.aged(-time.Hour)))
	for range 3 {
		_, _ = w.pass("thief")
		_, _ = w.pass("s")
	}
	w.notTaken("thief", id)
	if w.stored("s").Status.AtProvider.ID != id {
		t.Error("it is not observed any more")
	}
}
