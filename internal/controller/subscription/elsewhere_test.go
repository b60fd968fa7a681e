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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// anotherName of a gateway, in its URL or its endpoint.
func anotherName(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

// leavesNothing deletes a Subscription, and nothing may be at the gateway then.
func (w *world) leavesNothing(name string) {
	w.t.Helper()
	w.remove(name)
	w.gone(name)
	if n := len(w.Subscriptions()); n != 0 {
		w.t.Errorf("%d are left behind", n)
	}
}

// addConfig adds a provider config that leads to a URL, where the generation may be
// declared.
func (w *world) addConfig(name, url string, declared configv1alpha1.GatewayGeneration) {
	w.t.Helper()
	c := &configv1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: configv1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: configv1alpha1.ConnectionSettings{Endpoint: url},
			Credentials:        configv1alpha1.ClusterCredentials{Source: configv1alpha1.CredentialsNone},
		},
	}
	if declared != "" {
		c.Spec.Gateway = &configv1alpha1.GatewaySettings{Generation: declared}
	}
	w.add(c)
}

// through another provider config than the default.
func through(config string) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ProviderConfigReference.Name = config }
}

// paused until resumed.
func paused(cr *v1alpha1.Subscription) {
	annotated(meta.AnnotationKeyReconciliationPaused, "true")(cr)
}

func resumed(cr *v1alpha1.Subscription) {
	delete(cr.Annotations, meta.AnnotationKeyReconciliationPaused)
}

// created an hour ago, or in an hour if that is negative.
func (w *world) aged(by time.Duration) change {
	return func(cr *v1alpha1.Subscription) { cr.CreationTimestamp.Time = w.clock.Now().Add(-by) }
}

// lost has the answer to a Subscription's create get lost. It may have created something.
func (w *world) lost(name string, f emulator.Fault) {
	w.t.Helper()
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
	if _, err := w.pass(name); err == nil {
		w.t.Fatal("no error")
	}
}

// underWay has a create made that is not answered until the function it returns is called,
// which waits for its pass to end.
func (w *world) underWay(name string) (answer func()) {
	w.t.Helper()
	release, done := make(chan struct{}), make(chan struct{})
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Delay(release).After()))
	go func() {
		defer close(done)
		_, _ = w.pass(name)
	}()
	for len(w.Subscriptions()) == 0 {
		select {
		case <-done:
			w.t.Fatal("nothing is created")
		case <-time.After(time.Millisecond):
		}
	}
	return func() {
		close(release)
		<-done
	}
}

// accepted has the configuration confirm that it leads where it does.
func accepted(c *configv1alpha1.ClusterProviderConfig) {
	c.Annotations = map[string]string{configv1alpha1.AnnotationAcceptGateway: c.Spec.Endpoint}
}

// passes runs a few passes, and returns how the Subscription is stored afterwards.
func (w *world) passes(name string) (cr *v1alpha1.Subscription) {
	w.t.Helper()
	for range 3 {
		cr, _ = w.pass(name)
	}
	return cr
}

// notTaken fails the test if a thief has a subscription, or its token in force there.
func (w *world) notTaken(thief, id string) {
	w.t.Helper()
	if cr := w.stored(thief); cr != nil && (cr.Status.Deployed || cr.Status.AtProvider.ID != "") && cr.Status.AtProvider.ID == id {
		w.t.Errorf("%s holds %s", thief, id)
	}
	if w.HoldsToken(id, otherToken) {
		w.t.Errorf("%s has the token of %s", id, thief)
	}
}

// names has a Subscription name, in its record, what another one has.
func (w *world) names(id string) change {
	return func(cr *v1alpha1.Subscription) {
		record.WriteBaseline(cr, record.Baseline{ID: id, Endpoint: w.Endpoint(), Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}})
		meta.SetExternalName(cr, id)
		application("app")(cr)
		status(v1alpha1.SubscriptionActive)(cr)
	}
}

// addVouched adds an older Subscription whose create was answered, and which is paused
// before that is reported: from then on status vouches for a create.
func (w *world) addVouched(name string, changes ...change) {
	w.t.Helper()
	w.add(subscription(name, append([]change{tokenIn("other"), w.aged(time.Hour)}, changes...)...))
	if cr, err := w.pass(name); err != nil || cr.Status.CreateAttempt == nil {
		w.t.Fatalf("status vouches for nothing: %v", err)
	}
	w.edit(name, paused)
}

// What status vouches for is one create. A record that names something else is no more
// for it than any other: the holder changes and deletes what it holds, and keeps it.
//
// contract: S12, S23, S32, A5
func TestVouchedForSomethingElse(t *testing.T) {
	for gname, g := range generations() {
		for _, what := range []string{"Idle", "Revoked", "Deleted"} {
			t.Run(gname+"/"+what, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				w.addVouched("thief", application("mine"))
				w.add(subscription("s", application("app"), externalRef("acme")))
				id := w.settle("s").Status.AtProvider.ID
				w.edit("thief", w.names(id))
				w.restart()
				switch what {
				case "Revoked":
					w.edit("s", status(v1alpha1.SubscriptionRevoked))
					inForce(t, w.settle("s"))
				case "Deleted":
					w.remove("s")
					w.gone("s")
				}
				w.edit("thief", resumed)
				w.passes("thief")
				w.notTaken("thief", id)
				got, there := w.Subscription(id)
				switch {
				case what == "Deleted" && there:
					t.Errorf("it is left behind: %+v", got)
				case what == "Revoked" && got.Status != "REVOKED", what == "Idle" && got.Status != "ACTIVE":
					t.Errorf("it is %s", got.Status)
				}
				if what == "Idle" {
					inForce(t, w.settle("s"))
				}
			})
		}
	}
}

// Nor is it for what another object's create made whose answer was lost.
//
// contract: S11, S12, A5
func TestVouchedForSomethingElseBesideLostCreate(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(g)
			w.addVouched("thief", application("mine"))
			w.add(subscription("s", application("app"), externalRef("acme")))
			w.lost("s", emulator.Cut().After())
			id := w.idOf("app")
			w.edit("thief", w.names(id), resumed)
			w.passes("thief")
			inForce(t, w.settle("s"))
			w.notTaken("thief", id)
			if held := w.managedBy("s").ID; held != id {
				t.Errorf("it holds %s, and %s was made for it", held, id)
			}
		})
	}
}

// Nor is what was asked for at another endpoint, be it the very same, for who writes into
// its record that it asked for it here.
//
// contract: S11, S12, A5
func TestAskedElsewhereBesideLostCreate(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(g)
			w.lost("s", emulator.Cut().After())
			got := w.only()
			w.add(subscription("thief", tokenIn("other"), w.names(got.ID), openAttempt(w, got.ID), w.aged(time.Hour)))
			w.report("thief", v1alpha1.SubscriptionStatus{CreateAttempt: &v1alpha1.CreateAttempt{
				Endpoint: "http://elsewhere", Digest: "x", ID: got.ID, APIID: "books", ApplicationID: "app", Time: ptr(metav1.NewTime(got.CreatedAt)),
			}})
			w.restart()
			for range 2 {
				cr, err := w.pass("thief")
				refused(t, cr, err, v1alpha1.ReasonConflict)
			}
			inForce(t, w.settle("s"))
			w.notTaken("thief", got.ID)
			if held := w.managedBy("s").ID; held != got.ID {
				t.Errorf("it holds %s, and %s was made for it", held, got.ID)
			}
		})
	}
}

// idOf the one subscription of an application.
func (s site) idOf(application string) string {
	s.t.Helper()
	id := ""
	for _, o := range s.Subscriptions() {
		if o.ApplicationID != application {
			continue
		}
		if id != "" {
			s.t.Fatalf("several subscriptions of %s", application)
		}
		id = o.ID
	}
	if id == "" {
		s.t.Fatalf("no subscription of %s", application)
	}
	return id
}

// Of two records of one subscription that one counts whose status vouches for a create
// that can have made it: by the ID that was asked for or, where the gateway chooses IDs, by
// API and application; at that endpoint, and within ten minutes.
//
// contract: S12, A5
func TestVouchedFor(t *testing.T) {
	type cheque = v1alpha1.CreateAttempt
	byID := func(v *cheque, id string) { v.ID = id }
	byApplication := func(v *cheque, _ string) { v.APIID, v.ApplicationID = "books", "app" }
	cases := map[string]struct {
		reason string
		change func(v *cheque, id string)
		// at is when the create was sent, from when the subscription was created on.
		at   time.Duration
		wins bool
	}{
		"ID":                 {reason: "It was asked for.", change: byID, wins: true},
		"Within":             {reason: "Clocks need not be the same.", change: byID, at: -9 * time.Minute, wins: true},
		"Before":             {reason: "The create was over by then.", change: byID, at: -11 * time.Minute},
		"After":              {reason: "It was there before the create.", change: byID, at: 11 * time.Minute},
		"AnotherID":          {reason: "Another one was asked for.", change: func(*cheque, string) {}},
		"AnotherEndpoint":    {reason: "It was asked for elsewhere.", change: func(v *cheque, id string) { v.ID, v.Endpoint = id, "http://elsewhere" }},
		"Application":        {reason: "Any ID may be the one that the gateway chose.", change: byApplication, wins: true},
		"AnotherApplication": {reason: "But for no other application.", change: func(v *cheque, _ string) { v.APIID, v.ApplicationID = "books", "mine" }},
		"AnotherAPI":         {reason: "Nor on another API.", change: func(v *cheque, _ string) { v.APIID, v.ApplicationID = "films", "app" }},
		"LongAgo":            {reason: "Nor at another time.", change: byApplication, at: -11 * time.Minute},
	}
	for gname, g := range generations() {
		for name, tc := range cases {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				id := w.byHand(byHandLike(secretToken, "app", "acme"))
				w.add(subscription("older", w.names(id), w.aged(time.Hour)), subscription("younger", tokenIn("other"), w.names(id), w.aged(-time.Hour)))
				v := &cheque{Endpoint: w.Endpoint(), Digest: "x", ID: "asked", Time: ptr(metav1.NewTime(w.only().CreatedAt.Add(tc.at)))}
				tc.change(v, id)
				w.report("younger", v1alpha1.SubscriptionStatus{CreateAttempt: v})
				loser := "younger"
				if tc.wins {
					loser = "older"
				}
				for range 2 {
					cr, err := w.pass(loser)
					refused(t, cr, err, v1alpha1.ReasonConflict)
					_, _ = w.pass("younger")
				}
				if has := w.stored("younger").Status.AtProvider.ID == id; has != tc.wins {
					t.Errorf("%s It is held: %t", tc.reason, has)
				}
			})
		}
	}
}

// What was created is held although status could not be told before the provider ended,
// and an older object copied the record meanwhile: status vouches for the create, be the ID
// the one that was asked for or one that the gateway chose.
//
// contract: S4, S11, S12
func TestCreatedStatusLost(t *testing.T) {
	for gname, g := range generations() {
		for name, where := range map[string]change{"Here": func(*v1alpha1.Subscription) {}, "AnotherName": through("other")} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				w.addConfig("other", anotherName(w.URL()), "")
				// The first write after the answer is the record.
				after := 0
				w.refuseWrites(func() bool {
					if w.count(http.MethodPost) > 0 {
						after++
					}
					return after > 1
				})
				_, _ = w.pass("s")
				w.allowWrites()
				b := *baselineOf(t, w.stored("s"))
				if at := w.stored("s").Status.AtProvider; b.ID != w.only().ID || at.ID != "" {
					t.Fatalf("it is recorded to hold %q, and status says %q", b.ID, at.ID)
				}
				if name == "AnotherName" {
					b.Endpoint = anotherName(b.Endpoint)
				}
				w.restart()
				w.add(subscription("thief", application("app"), tokenIn("other"), theft(b), where))
				for range 2 {
					cr, err := w.pass("thief")
					refused(t, cr, err, v1alpha1.ReasonConflict)
				}
				inForce(t, w.settle("s"))
				w.notTaken("thief", b.ID)
				if got := w.only(); got.Status != "ACTIVE" {
					t.Errorf("the thief changed it: %+v", got)
				}
			})
		}
	}
}

// Nor has somebody who comes by another name of the gateway what was created just now and
// is not reported yet.
//
// contract: S12, A5
func TestJustCreatedBesideAnotherName(t *testing.T) {
	for gname, g := range generations() {
		for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				w.addConfig("other", anotherName(w.URL()), "")
				if _, err := w.pass("s"); err != nil {
					t.Fatal(err)
				}
				got := w.only()
				b := record.Baseline{ID: got.ID, Endpoint: anotherName(w.Endpoint()), GatewayID: w.GatewayID(), APIInternalID: got.APIID}
				w.add(subscription("thief", application("app"), tokenIn("other"), through("other"), theft(b)))
				w.add(subscription("importer", application("app"), tokenIn("other"), through("other"), externalName(got.ID)))
				if restarted {
					w.restart()
				}
				for range 2 {
					cr, err := w.pass("thief")
					refused(t, cr, err, v1alpha1.ReasonConflict)
					cr, err = w.pass("importer")
					refused(t, cr, err, v1alpha1.ReasonImmutableField)
				}
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				inForce(t, w.settle("s"))
				if got := w.only(); got.Status != "INACTIVE" {
					t.Errorf("it is %s", got.Status)
				}
			})
		}
	}
}

// earnElsewhere adds an older Subscription that holds something at a gateway of its own,
// which calls itself like the real one and shows what its owner wants. When it was created
// there is another matter.
func (w *world) earnElsewhere(name, id string) {
	w.t.Helper()
	api := ""
	for _, a := range w.APIs() {
		if a.Handle == "books" {
			api = a.InternalID
		}
	}
	b := record.Baseline{ID: id, Endpoint: "http://elsewhere/api/management/v1", GatewayID: w.GatewayID(), APIInternalID: api}
	w.add(subscription(name, application("app"), tokenIn("other"), theft(b)))
	w.report(name, v1alpha1.SubscriptionStatus{Deployed: true, AtProvider: v1alpha1.SubscriptionObservation{
		ID: id, ExternalRefID: id, Endpoint: b.Endpoint, GatewayID: b.GatewayID, APIInternalID: api, APIID: "books", ApplicationID: "app", Status: "ACTIVE",
		CreationStamp: conditions.Milliseconds(time.Unix(1, 0)),
	}})
}

// What somebody holds at another gateway, which calls itself like this one, keeps nobody
// from creating it here, adopting it, finding it again, deleting it, or creating it again.
//
// contract: S7, S11, S12, S30, S33, A5, A11
func TestEarnedElsewhereBlocksNothing(t *testing.T) {
	recreated := func(happens func(w *world)) func(w *world) {
		return func(w *world) {
			held := w.settle("s").Status.AtProvider.ID
			w.earnElsewhere("thief", held)
			w.deleteByHand(held)
			happens(w)
		}
	}
	asked := func(w *world) { w.earnElsewhere("thief", "acme") }
	unanswered := func(w *world) { asked(w); w.lost("s", emulator.Cut().After()) }
	cases := map[string]struct {
		happens func(w *world)
		deleted bool
	}{
		"Created":            {happens: asked},
		"FoundAgain":         {happens: unanswered},
		"FoundAfterRestart":  {happens: func(w *world) { unanswered(w); w.restart() }},
		"Deleted":            {happens: unanswered, deleted: true},
		"Adopted":            {happens: func(w *world) { w.earnElsewhere("thief", w.byHand(byHandLike(secretToken, "app", "acme"))) }},
		"CreatedAgain":       {happens: recreated(func(*world) {})},
		"AgainByAnotherName": {happens: recreated(func(w *world) { w.respelled("localhost"); w.config(accepted) })},
		"AgainWithoutStatus": {happens: recreated(func(w *world) { w.loseStatus("s") })},
	}
	for gname, g := range generations() {
		for name, tc := range cases {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				tc.happens(w)
				if tc.deleted {
					w.leavesNothing("s")
					return
				}
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				inForce(t, w.settle("s"))
				got := w.only()
				if got.Status != "INACTIVE" || !w.HoldsToken(got.ID, secretToken) || w.count(http.MethodDelete) > 1 {
					t.Errorf("it is %+v, after %d DELETEs", got, w.count(http.MethodDelete))
				}
			})
		}
	}
}

// A gateway that moves is recognised by what was seen there: whoever has laid a record in
// wait at the new address has nothing, be its ID the old one or not.
//
// contract: S12, S23, S36, A5
func TestGatewayMoves(t *testing.T) {
	for gname, g := range generations() {
		for name, id := range map[string]string{"SameID": "", "AnotherID": "new"} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
				w.declareReal(g)
				held := w.settle("s").Status.AtProvider.ID
				w.add(subscription("thief", application("app"), tokenIn("other"), theft(record.Baseline{ID: held, Endpoint: anotherName(w.Endpoint()), APIInternalID: w.only().APIID})))
				if id != "" {
					w.SetGatewayID(id)
				}
				w.respelled("localhost")
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				inForce(t, w.settle("s"))
				for range 2 {
					cr, err := w.pass("thief")
					refused(t, cr, err, v1alpha1.ReasonConflict)
				}
				w.notTaken("thief", held)
				if got := w.only(); got.Status != "INACTIVE" {
					t.Errorf("it is %s", got.Status)
				}
			})
		}
	}
}

// Where a create is not answered and the endpoint is written in another way meanwhile,
// what it made is found again, and nothing is made twice. One that is deleted says what may
// be left where the gateway chose the ID.
//
// contract: S10, S11, S33, S36
func TestRespelledWhileOpen(t *testing.T) {
	cases := map[string]func(w *world){
		"Plain":       func(*world) {},
		"NoAdoption":  func(w *world) { w.edit("s", adopt(v1alpha1.SubscriptionAdoptNever)) },
		"TokenEdited": func(w *world) { w.setToken("tok", otherToken) },
		"Restarted":   func(w *world) { w.restart() },
		"Back":        func(w *world) { _, _ = w.pass("s"); w.respelled("127.0.0.1") },
		"Deleted":     func(w *world) { w.remove("s") },
	}
	for gname, g := range generations() {
		for name, happens := range cases {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				w.declareReal(g)
				w.lost("s", emulator.Cut().After())
				w.respelled("localhost")
				happens(w)
				if name != "Deleted" {
					w.wait(time.Minute)
					cr := w.settle("s")
					inForce(t, cr)
					if got := w.only(); got.ID != cr.Status.AtProvider.ID || w.count(http.MethodDelete) != 0 {
						t.Errorf("it holds %q of %+v, after %d DELETEs", cr.Status.AtProvider.ID, got, w.count(http.MethodDelete))
					}
					return
				}
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 && (g == emulator.InPlace || w.events.count("LeftBehind") == 0) {
					t.Errorf("%d are left behind, and %d events say so", n, w.events.count("LeftBehind"))
				}
			})
		}
	}
}

// Where a delete is not answered and the endpoint is written in another way meanwhile, it
// is repeated; what is not there by the new name is not taken to be gone before the
// configuration confirms that.
//
// contract: S33, S36
func TestRespelledDuringDelete(t *testing.T) {
	for gname, g := range generations() {
		for name, f := range map[string]emulator.Fault{"NotDone": emulator.Cut().Before(), "Done": emulator.Cut().After()} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				w.declareReal(g)
				w.settle("s")
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodDelete}, f))
				w.remove("s")
				if _, err := w.pass("s"); err == nil {
					t.Fatal("no error")
				}
				w.respelled("localhost")
				if name == "Done" {
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonGatewayChanged)
					w.config(accepted)
				}
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Errorf("%d are left behind", n)
				}
			})
		}
	}
}

// A gateway of one's own that calls itself like the real one and answers no create: what
// is claimed for that, while its object is paused, keeps nobody at the real one from
// anything.
//
// contract: S11, S12, S18, S23, S32, A3, A5
func TestClaimedElsewhere(t *testing.T) {
	held := func(w *world) { w.settle("s") }
	later := func(w *world) { w.wait(24 * time.Hour) }
	foundAgain := func(w *world) { w.lost("s", emulator.Cut().After()) }
	cases := map[string]struct {
		// before and after are what happens before and after it is claimed.
		before, after func(w *world)
		deleted       bool
	}{
		"Created":      {},
		"FoundAgain":   {after: foundAgain},
		"FoundAndGone": {after: foundAgain, deleted: true},
		"Imported": {after: func(w *world) {
			later(w)
			w.byHand(byHandLike(secretToken, "app", "acme"))
			w.edit("s", externalName("acme"))
		}},
		"Adopted":       {after: func(w *world) { later(w); w.byHand(byHandLike(secretToken, "app", "acme")) }},
		"Respelled":     {before: held, after: func(w *world) { later(w); w.respelled("localhost") }},
		"RespelledSoon": {before: held, after: func(w *world) { w.respelled("localhost") }},
		"Deleted":       {before: held, after: func(w *world) { w.respelled("localhost") }, deleted: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
			w.declareReal(emulator.InPlace)
			if tc.before != nil {
				tc.before(w)
			}
			elsewhere := newSite(t, emulator.InPlace, w.GatewayID(), w.clock.Now)
			w.addConfig("elsewhere", elsewhere.URL(), configv1alpha1.GatewayGenerationInPlace)
			// It says how it calls itself with what it shows.
			elsewhere.byHand(byHandLike("x", "x", "x"))
			w.add(subscription("peek", application("x"), tokenIn("other"), externalName("x"), through("elsewhere")))
			w.settle("peek")
			w.add(subscription("thief", application("app"), tokenIn("other"), externalRef("acme"), through("elsewhere"), w.aged(time.Hour)))
			elsewhere.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().Before()))
			if _, err := w.pass("thief"); err == nil {
				t.Fatal("no error")
			}
			w.edit("thief", paused)
			if tc.after != nil {
				tc.after(w)
			}
			if tc.deleted {
				w.leavesNothing("s")
				return
			}
			w.edit("s", status(v1alpha1.SubscriptionInactive))
			inForce(t, w.settle("s"))
			if got := w.only(); got.ID != "acme" || got.Status != "INACTIVE" {
				t.Errorf("it is %+v", got)
			}
			// Nor is there a moment in which a record would do instead.
			w.add(subscription("record", application("app"), tokenIn("other"), theft(record.Baseline{ID: "acme", Endpoint: anotherName(w.Endpoint()), GatewayID: w.GatewayID(), APIInternalID: w.only().APIID})))
			cr, err := w.pass("record")
			refused(t, cr, err, v1alpha1.ReasonConflict)
			inForce(t, w.settle("s"))
		})
	}
}

// A create that was not answered, and that nobody looks into since its object is paused,
// keeps nobody from importing what was made long after it.
//
// contract: S11, S18, A5
func TestOldAttemptBlocksNoImport(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("asker", application("app"), tokenIn("other"), externalRef("acme")))
			w.declareReal(g)
			w.lost("asker", emulator.Cut().Before())
			w.edit("asker", paused)
			imports := func(after time.Duration) (*v1alpha1.Subscription, error) {
				w.wait(after)
				name := fmt.Sprint("s", after)
				id := w.byHand(byHandLike(secretToken, "app", "acme"))
				w.add(subscription(name, application("app"), externalName(id)))
				cr, err := w.pass(name)
				w.deleteByHand(id)
				return cr, err
			}
			cr, err := imports(5 * time.Minute)
			refused(t, cr, err, v1alpha1.ReasonImmutableField)
			if cr, err = imports(6 * time.Minute); err != nil || !cr.Status.Deployed {
				t.Errorf("it is not imported: %v", err)
			}
		})
	}
}

// What was made by hand before a create is not taken for its result, nor deleted with its
// object, also where somebody has a record of it, or holds the like of it at a gateway of its
// own.
//
// contract: S11, A5, A11
func TestNothingIsHidden(t *testing.T) {
	for name, hide := range map[string]func(w *world, id string){
		"Record": func(w *world, id string) {
			w.add(subscription("thief", application("app"), theft(record.Baseline{ID: id, Endpoint: w.Endpoint()}), paused))
		},
		"EarnedElsewhere": func(w *world, id string) { w.earnElsewhere("thief", id) },
	} {
		for when, stays := range map[string]bool{"Stays": true, "Goes": false} {
			t.Run(name+"/"+when, func(t *testing.T) {
				w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
				w.declareReal(emulator.Legacy)
				id := w.byHand(byHandLike("by-hand", "app", ""))
				hide(w, id)
				w.lost("s", emulator.Cut().Before())
				if !stays {
					w.edit("thief", func(cr *v1alpha1.Subscription) { cr.Finalizers = nil })
					w.remove("thief")
				}
				if cr := w.settle("s"); cr.Status.AtProvider.ID == id {
					t.Error("it holds what was made by hand")
				}
				w.remove("s")
				w.gone("s")
				if got := w.only(); got.ID != id {
					t.Errorf("left is %+v", got)
				}
			})
		}
	}
}

// Where it cannot be told what a create came to, the message names what could be it to who
// asked for it, and to nobody who wrote a record of having asked.
//
// contract: S11, A5
func TestUnvouchedAttemptTellsNoIDs(t *testing.T) {
	for name, asked := range map[string]bool{"Asked": true, "Forged": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
			w.declareReal(emulator.Legacy)
			if asked {
				w.add(subscription("s", application("app")))
				w.lost("s", emulator.Cut().Before())
			}
			ids := []string{w.byHand(byHandLike("a", "app", "")), w.byHand(byHandLike("b", "app", ""))}
			if !asked {
				w.add(subscription("s", application("nobody"), openAttempt(w, "zzz")))
			}
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonAmbiguousAttempt)
			said := cr.GetCondition(v1alpha1.TypeApplied).Message
			for _, id := range ids {
				if strings.Contains(said, id) != asked {
					t.Errorf("it says: %s", said)
				}
			}
		})
	}
}

// A create under an ID whose holder comes back to it in the same moment, by another name
// of the gateway: whoever has it in the end, it is there once and nobody deletes it.
//
// contract: S12, A11
func TestCreateMeetsItsHolder(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app"), externalRef("acme")))
	w.declareReal(emulator.InPlace)
	w.settle("s")
	w.addConfig("other", anotherName(w.URL()), "")
	w.add(subscription("taker", application("app"), tokenIn("other"), externalRef("acme"), through("other")))
	w.deleteByHand("acme")
	deletes := w.count(http.MethodDelete)
	answer := w.underWay("taker")
	_, _ = w.pass("s")
	answer()
	for range 3 {
		_, _ = w.pass("taker")
		_, _ = w.pass("s")
	}
	if got := w.only(); got.ID != "acme" || w.count(http.MethodDelete) != deletes {
		t.Errorf("it is %+v, after %d DELETEs", got, w.count(http.MethodDelete)-deletes)
	}
	if w.stored("s").Status.Deployed == w.stored("taker").Status.Deployed {
		t.Error("not one of them has it")
	}
}

// A list that lacks for a moment what a lost create made has it made once all the same, as
// long as the same is asked for again.
//
// contract: S11
func TestListLacksWhatIsThere(t *testing.T) {
	cases := map[string]struct {
		generation emulator.Generation
		edited     bool
	}{
		"InPlace":       {generation: emulator.InPlace},
		"InPlaceEdited": {generation: emulator.InPlace, edited: true},
		"Legacy":        {generation: emulator.Legacy},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.generation, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.declareReal(tc.generation)
			w.lost("s", emulator.Cut().After())
			if tc.edited {
				w.setToken("tok", otherToken)
			}
			w.wait(2 * time.Minute)
			empty := emulator.Raw(http.StatusOK, "application/json", `{"count":0,"subscriptions":[]}`)
			w.Inject(emulator.FaultFunc(func(r emulator.Request) *emulator.Fault {
				if r.IsList() {
					return &empty
				}
				return nil
			}))
			_, _ = w.pass("s")
			w.ClearFaults()
			inForce(t, w.settle("s"))
			if n := len(w.Subscriptions()); n != 1 {
				t.Errorf("%d are there", n)
			}
		})
	}
}

// Of two that ask for one ID, each by a name of its own of the gateway, one has it and
// nothing is made twice, whoever is looked at first and whatever is lost.
//
// contract: S11, S12
func TestTwoNamesOneHolder(t *testing.T) {
	faults := map[string]*emulator.Fault{"Answered": nil, "LostAfter": ptr(emulator.Cut().After()), "LostBefore": ptr(emulator.Cut().Before())}
	for gname, g := range generations() {
		for fname, f := range faults {
			for first, second := range map[string]string{"older": "younger", "younger": "older"} {
				t.Run(gname+"/"+fname+"/"+first, func(t *testing.T) {
					w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
					w.declareReal(g)
					w.addConfig("other", anotherName(w.URL()), "")
					w.add(subscription("older", application("app"), externalRef("acme"), w.aged(time.Second)))
					w.add(subscription("younger", application("app"), externalRef("acme"), through("other")))
					if f != nil {
						w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, *f))
					}
					holders := func() (n int) {
						for _, name := range []string{first, second} {
							if w.stored(name).Status.Deployed {
								n++
							}
						}
						return n
					}
					for round := range 6 {
						for _, name := range []string{first, second} {
							_, _ = w.pass(name)
							if holders() > 1 {
								t.Fatal("both hold it")
							}
						}
						if round == 3 {
							w.restart()
						}
						w.wait(20 * time.Second)
					}
					if n := len(w.Subscriptions()); n != 1 || holders() != 1 {
						t.Errorf("%d are there, and %d objects hold one", n, holders())
					}
				})
			}
		}
	}
}

// What a legacy gateway made of a create whose answer was lost is taken by nobody who comes
// by another name of it, or has a configuration that declares it to be an in-place one.
//
// contract: S11, S12, S18, A5
func TestLostCreateByAnotherName(t *testing.T) {
	ways := map[string]func(w *world) (endpoint string){
		"OtherName": func(w *world) string {
			w.addConfig("other", anotherName(w.URL()), "")
			return anotherName(w.Endpoint())
		},
		"Declared": func(w *world) string {
			w.addConfig("other", w.URL(), configv1alpha1.GatewayGenerationInPlace)
			return w.Endpoint()
		},
	}
	for how, way := range ways {
		for _, what := range []string{"Import", "Attempt"} {
			for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
				t.Run(how+"/"+what+"/"+name, func(t *testing.T) {
					w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
					w.declareReal(emulator.Legacy)
					endpoint := way(w)
					w.lost("s", emulator.Cut().After())
					if restarted {
						w.restart()
					}
					id := w.only().ID
					forged := externalName(id)
					if what == "Attempt" {
						forged = func(cr *v1alpha1.Subscription) {
							record.WriteAttempt(cr, record.Attempt{AskedID: "zzz", AbsentBefore: true, Endpoint: endpoint, APIID: "books", ApplicationID: "app", Known: []string{}, Outcome: record.Open})
						}
					}
					w.add(subscription("thief", application("app"), tokenIn("other"), through("other"), status(v1alpha1.SubscriptionRevoked), forged))
					w.passes("thief")
					inForce(t, w.settle("s"))
					w.notTaken("thief", id)
					if got := w.managedBy("s"); got.ID != id || got.Status != "ACTIVE" {
						t.Errorf("it is %+v, and %s was made for it", got, id)
					}
				})
			}
		}
	}
}

// What may still be created is waited for before something else is asked for, also where the
// endpoint is written in another way by then.
//
// contract: S11, S33
func TestEditedAndRespelledWhileOpen(t *testing.T) {
	for gname, g := range generations() {
		for rname, respelled := range map[string]bool{"Stays": false, "Respelled": true} {
			t.Run(gname+"/"+rname, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken))
				w.declareReal(g)
				w.add(subscription("s", application("app")))
				w.lost("s", emulator.Cut().Before())
				w.setToken("tok", otherToken)
				if g == emulator.InPlace {
					w.edit("s", externalRef("acme"))
				}
				if respelled {
					w.respelled("localhost")
					w.declareReal(g)
				}
				for range 3 {
					_, _ = w.pass("s")
				}
				early := len(w.Subscriptions())
				w.byHand(byHandLike(secretToken, "app", "uid-s")) // The create takes effect late.
				for range 6 {
					_, _ = w.pass("s")
					w.wait(time.Minute)
				}
				if n := len(w.Subscriptions()); n != 1 {
					t.Errorf("%d are there, %d of them before the create took effect", n, early)
				}
				w.leavesNothing("s")
			})
		}
	}
}

// What a create made whose answer was lost is not forgotten without a word since the object
// has another configuration, or the configuration leads to another gateway.
//
// contract: S11, S33, S36
func TestMovedWhileOpen(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			w.add(subscription("s", application("app")))
			w.lost("s", emulator.Cut().After())
			elsewhere := newSite(t, g, "another", w.clock.Now)
			w.addConfig("elsewhere", elsewhere.URL(), configv1alpha1.GatewayGeneration(g))
			w.edit("s", through("elsewhere"))
			for range 4 {
				_, _ = w.pass("s")
				w.wait(time.Minute)
			}
			w.remove("s")
			w.gone("s")
			if n, m := len(w.Subscriptions()), len(elsewhere.Subscriptions()); n+m != 0 && w.events.count("LeftBehind") == 0 {
				t.Errorf("%d and %d are left behind, and nothing says so", n, m)
			}
		})
	}
}

// What the create of an older object made, and was not answered or not reported yet, is not
// taken by a younger one that asked for the same by another name of the gateway, and was not
// answered either.
//
// contract: S11, S12, A5
func TestLostBesideAskedByAnotherName(t *testing.T) {
	for gname, g := range generations() {
		for _, what := range []string{"Lost", "Unreported", "JustCreated", "Deleted"} {
			t.Run(gname+"/"+what, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				w.addConfig("other", anotherName(w.URL()), configv1alpha1.GatewayGeneration(g))
				w.add(subscription("s", application("app"), externalRef("acme"), w.aged(time.Hour)))
				w.add(subscription("thief", application("app"), tokenIn("other"), externalRef("acme"), through("other")))
				w.lost("thief", emulator.Cut().Before())
				switch what {
				case "Unreported":
					w.unreported("s")
				case "JustCreated":
					if _, err := w.pass("s"); err != nil {
						t.Fatal(err)
					}
				default:
					w.lost("s", emulator.Cut().After())
				}
				id := w.idOf("app")
				w.wait(3 * time.Minute)
				if what == "Deleted" {
					w.remove("thief")
					w.passes("thief")
					if _, there := w.Subscription(id); !there {
						t.Error("what s asked for is deleted with another object")
					}
					return
				}
				w.passes("thief")
				w.passes("s")
				w.notTaken("thief", id)
				inForce(t, w.stored("s"))
			})
		}
	}
}
