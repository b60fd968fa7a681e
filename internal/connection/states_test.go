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
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Who counts is told of each call how it went and how long it took, and also of those
// that were not made.
func TestCalled(t *testing.T) {
	var status atomic.Int64
	var w *world
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		w.clock.advance(2 * time.Second)
		if code := status.Load(); code != 0 {
			rw.Header().Set("Retry-After", "10")
			rw.WriteHeader(int(code))
			return
		}
		ok(rw, r)
	})
	w = newWorld(t, config(s.URL, without))
	type called struct {
		Kind   gateway.Kind
		Verb   gateway.Verb
		Reason gateway.Reason
		Took   time.Duration
	}
	var got []called
	w.o.Called = func(c gateway.Call, err error, took time.Duration) {
		got = append(got, called{c.Kind, c.Verb, gateway.ReasonOf(err), took})
	}
	g := w.must(t)
	for _, code := range []int64{0, http.StatusTooManyRequests, 0} {
		status.Store(code)
		_, _ = g.ListRestAPIs(t.Context())
	}
	want := []called{
		{gateway.KindRestAPI, gateway.VerbList, "", 2 * time.Second},
		{gateway.KindRestAPI, gateway.VerbList, gateway.ReasonRateLimited, 2 * time.Second},
		{gateway.KindRestAPI, gateway.VerbList, gateway.ReasonHeldOff, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	s.Close()
	w.clock.advance(time.Minute)
	for range strikesToDeath + 1 {
		_ = g.Probe(t.Context())
	}
	want = []called{{gateway.KindRestAPI, gateway.VerbProbe, gateway.ReasonHeldOff, 0}}
	if diff := cmp.Diff(want, got[len(got)-1:]); diff != "" {
		t.Errorf("a gateway that is gone: -want, +got:\n%s", diff)
	}
}

// How it stands with a gateway is known as long as there is a configuration that leads to it.
func TestStates(t *testing.T) {
	w := newObservedWorld(t)
	w.AddAPI("books")
	states := func(reason string, want ...State) {
		t.Helper()
		if diff := cmp.Diff(want, w.States(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s\n-want, +got:\n%s", reason, diff)
		}
	}
	ages := func(age time.Duration) map[gateway.Kind]time.Duration {
		return map[gateway.Kind]time.Duration{gateway.KindRestAPI: age}
	}
	states("Nobody needed a gateway.")
	gw := w.must(t)
	states("Nobody called it.", State{Ref: teamRef(), Reachable: StatusUnknown, Authenticated: StatusUnknown})
	if _, err := gw.ObserveRestAPI(t.Context(), look("books"), "books"); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(29 * time.Second)
	states("What was read has an age.", State{Ref: teamRef(), Reachable: StatusTrue, Authenticated: StatusTrue, Ages: ages(29 * time.Second)})
	w.tick(t.Context())
	states("What is read again is younger.", State{Ref: teamRef(), Reachable: StatusTrue, Authenticated: StatusTrue, Ages: ages(0)})
	w.Close()
	for range 2 {
		w.clock.advance(30 * time.Second)
		w.tick(t.Context())
	}
	states("What cannot be read again is not.", State{Ref: teamRef(), Reachable: StatusFalse, Authenticated: StatusTrue, Ages: ages(time.Minute)})

	lead := func(endpoint string) {
		c := get(t, w.world, "team", "pc", &v1alpha1.ProviderConfig{})
		c.Generation++
		c.Spec.Endpoint = endpoint
		w.update(t, c)
	}
	lead("ftp://nowhere")
	if _, err := w.For(t.Context(), teamRef(), "team"); ProblemOf(err) != ProblemInvalid {
		t.Fatal(err)
	}
	states("A configuration that cannot be used leads nowhere.")
	lead(w.URL())
	w.must(t)
	states("Once it can be used again, it does. Nobody looks through it yet.", State{Ref: teamRef(), Reachable: StatusFalse, Authenticated: StatusTrue})
	w.Forget(teamRef())
	states("Nothing is left of one that is deleted.")
}
