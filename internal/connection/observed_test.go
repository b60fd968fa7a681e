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

package connection

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// An observedWorld is a pool that reads an emulated gateway for all.
type observedWorld struct {
	*world
	*emulator.Server

	mu    sync.Mutex
	woken []string
}

func newObservedWorld(t *testing.T) *observedWorld {
	t.Helper()
	g, err := emulator.Start(t.Context(), emulator.Options{Generation: emulator.InPlace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	w := &observedWorld{world: newWorld(t, config(g.URL(), without)), Server: g}
	w.o.DriftInterval = 30 * time.Second
	w.o.Woken = func(of gateway.Kind, cause observation.Cause, who []types.NamespacedName) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, name := range who {
			w.woken = append(w.woken, string(of)+" "+name.Name+" "+string(cause))
		}
	}
	return w
}

func look(name string) Look { return Look{Who: types.NamespacedName{Namespace: "team", Name: name}} }

// tick reads what is due.
func (w *observedWorld) tick(ctx context.Context) []string {
	for _, o := range w.observed() {
		o.refresh(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.woken
	w.woken = nil
	slices.Sort(out)
	return out
}

// Many managed resources of all kinds cost one list per kind, and those are woken whose
// object changed.
//
// contract: A10, S30
// case: F12
func TestObserve(t *testing.T) {
	w := newObservedWorld(t)
	w.AddAPI("books")
	plan, _ := w.AddPlan("Gold")
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		status, s := w.Do(http.MethodPost, "/subscriptions", map[string]any{"apiId": "books", "subscriptionToken": name, "externalRefId": name})
		if status != http.StatusCreated {
			t.Fatalf("cannot create by hand: %d %v", status, s)
		}
		ids = append(ids, name)
	}
	w.ResetJournal()
	gw := w.must(t)
	for range 3 {
		for _, id := range ids {
			if s, err := gw.ObserveSubscription(t.Context(), look(id), id); err != nil || s.ID != id {
				t.Fatalf("%v, %v", s, err)
			}
		}
		if p, err := gw.ObserveSubscriptionPlan(t.Context(), look("gold"), plan.ID); err != nil || p.PlanName != "Gold" {
			t.Fatalf("%v, %v", p, err)
		}
		if a, err := gw.ObserveRestAPI(t.Context(), look("books"), "books"); err != nil || a.Metadata.Name != "books" || !a.Listed {
			t.Fatalf("%v, %v", a, err)
		}
		if woken := w.tick(t.Context()); len(woken) > 0 {
			t.Errorf("woken: %v", woken)
		}
	}
	if n := w.Count(emulator.Match{}); n != 3 {
		t.Errorf("%d requests, want one list of each kind", n)
	}

	w.SetSubscriptionStatus("b", "INACTIVE")
	w.DeletePlan(plan.ID)
	w.clock.advance(29 * time.Second)
	want := []string{"Subscription b changed", "SubscriptionPlan gold vanished"}
	if woken := w.tick(t.Context()); !slices.Equal(woken, want) {
		t.Errorf("woken: %v, want %v", woken, want)
	}
}

// What was written is read again for itself, whatever was read for all.
//
// contract: A10
func TestObserveOwnWrite(t *testing.T) {
	w := newObservedWorld(t)
	w.AddAPI("books")
	gw := w.must(t)
	if _, err := gw.ObserveSubscription(t.Context(), look("s"), "acme"); !gateway.IsNotFound(err) {
		t.Fatalf("it is not there yet: %v", err)
	}
	if _, err := gw.CreateSubscription(t.Context(), gateway.SubscriptionCreate{ExternalRefID: "acme", APIID: "books", SubscriptionToken: "token"}); err != nil {
		t.Fatal(err)
	}
	if s, err := gw.ObserveSubscription(t.Context(), look("s"), "acme"); err != nil || s.Status != "ACTIVE" {
		t.Fatalf("it was created: %v, %v", s, err)
	}
	if _, err := gw.UpdateSubscription(t.Context(), "acme", gateway.SubscriptionUpdate{Status: "INACTIVE"}); err != nil {
		t.Fatal(err)
	}
	if s, err := gw.ObserveSubscription(t.Context(), look("s"), "acme"); err != nil || s.Status != "INACTIVE" {
		t.Errorf("it was changed: %v, %v", s, err)
	}
	if err := gw.DeleteSubscription(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if s, err := gw.ObserveSubscription(t.Context(), look("s"), "acme"); !gateway.IsNotFound(err) {
		t.Errorf("it was deleted: %v, %v", s, err)
	}
}

// A managed resource looks through one connection: nothing is read for one that looks
// elsewhere, or is gone.
//
// contract: A7
func TestObserveThroughOne(t *testing.T) {
	w := newObservedWorld(t)
	w.AddAPI("books")
	before := w.must(t)
	if _, err := before.ObserveRestAPI(t.Context(), look("books"), "books"); err != nil {
		t.Fatal(err)
	}
	pc := get(t, w.world, "team", "pc", &v1alpha1.ProviderConfig{})
	pc.Spec.Endpoint, pc.Generation = w.URL()+"/", pc.Generation+1
	pc.Spec.Timeout = nil
	pc.Spec.TLS = &v1alpha1.TLSSettings{InsecureSkipVerify: true}
	w.update(t, pc)
	after := w.must(t)
	if before.link == after.link {
		t.Fatal("it is the same connection")
	}
	who := Looker{gateway.KindRestAPI, look("books").Who}
	if _, err := after.ObserveRestAPI(t.Context(), look("books"), "books"); err != nil || !w.Watches(who) {
		t.Fatalf("it is not watched: %v", err)
	}
	if n := before.link.observed.apis.Interested(); n != 0 {
		t.Errorf("%d look through the former connection", n)
	}
	w.Ignore(who)
	w.ResetJournal()
	w.clock.advance(time.Minute)
	w.tick(t.Context())
	if n := w.Count(emulator.Match{}); n != 0 || w.Watches(who) {
		t.Errorf("%d requests for nobody", n)
	}
}

// Nothing is read with what a configuration no longer says, and all goes on once it
// says it again.
//
// contract: C2
func TestObserveWithoutConfig(t *testing.T) {
	w := newObservedWorld(t)
	w.AddAPI("books")
	gw := w.must(t)
	if _, err := gw.ObserveRestAPI(t.Context(), look("books"), "books"); err != nil {
		t.Fatal(err)
	}
	pc := get(t, w.world, "team", "pc", &v1alpha1.ProviderConfig{})
	says := func(ca *v1alpha1.TLSSettings) {
		pc.Spec.TLS, pc.Generation = ca, pc.Generation+1
		w.update(t, pc)
	}
	before := pc.Spec.TLS
	says(&v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "nowhere", Key: "ca"}})
	if _, err := w.For(t.Context(), Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team", Name: "pc"}, "team"); ProblemOf(err) == "" {
		t.Fatalf("want it broken, got %v", err)
	}
	w.ResetJournal()
	w.clock.advance(time.Minute)
	w.tick(t.Context())
	if n := w.Count(emulator.Match{}); n != 0 {
		t.Errorf("%d requests with a configuration that is broken", n)
	}
	says(before)
	w.must(t)
	w.DeleteAPI("books")
	if woken, want := w.tick(t.Context()), []string{"RestApi books vanished"}; !slices.Equal(woken, want) {
		t.Errorf("woken: %v, want %v", woken, want)
	}
}
