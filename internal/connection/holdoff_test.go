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
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// together makes n calls at once and returns how many failed for each reason.
func together(n int, call func() error) map[gateway.Reason]int {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		out   = map[gateway.Reason]int{}
	)
	for range n {
		group.Go(func() {
			r := gateway.ReasonOf(call())
			mu.Lock()
			defer mu.Unlock()
			out[r]++
		})
	}
	group.Wait()
	return out
}

// contract: A4
// case: F5
func TestRetryAfterHoldsTheEndpoint(t *testing.T) {
	ctx := context.Background()
	var calls atomic.Int64
	var limit atomic.Bool
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if limit.Load() {
			w.Header().Set("Retry-After", "1000000000")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		ok(w, r)
	})
	other := serve(t, ok)
	w := newWorld(t, creds("x"), config(s.URL), config(s.URL+"/", named("twin"), without), config(other.URL, named("other"), without))
	twin, err := w.For(ctx, Ref{Kind: v1alpha1.ProviderConfigKind, Name: "twin"}, "team")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := w.For(ctx, Ref{Kind: v1alpha1.ProviderConfigKind, Name: "other"}, "team")
	if err != nil {
		t.Fatal(err)
	}
	g := w.must(t)
	limit.Store(true)
	if got := gateway.ReasonOf(g.Probe(ctx)); got != gateway.ReasonRateLimited {
		t.Errorf("got %q", got)
	}
	limit.Store(false)
	calls.Store(0)
	if diff := cmp.Diff(map[gateway.Reason]int{gateway.ReasonHeldOff: 50}, together(50, func() error { return twin.Probe(ctx) })); diff != "" {
		t.Errorf("another configuration of the endpoint: -want, +got:\n%s", diff)
	}
	if err := elsewhere.Probe(ctx); err != nil {
		t.Errorf("another endpoint: %v", err)
	}
	w.clock.advance(gateway.MaxRetryAfter - 3*time.Second)
	held := g.Probe(ctx)
	want := "cannot reach the gateway at " + s.URL + gateway.DefaultBasePath + ": the gateway asked to be left alone for a while (429 with Retry-After)"
	if diff := cmp.Diff(want, fmt.Sprint(held)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := gateway.RetryAfterOf(held); got != 3*time.Second || g.HeldOff() != got {
		t.Errorf("want 3s to go, got %v and %v", got, g.HeldOff())
	}
	w.clock.advance(3 * time.Second)
	if err := g.Probe(ctx); err != nil {
		t.Errorf("after the time asked for: %v", err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("want one call, got %d", n)
	}
}

// contract: A4
// case: W4
func TestDeadGatewayCostsOneProbe(t *testing.T) {
	ctx := context.Background()
	var calls atomic.Int64
	var dead atomic.Bool
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if dead.Load() {
			panic(http.ErrAbortHandler)
		}
		ok(w, r)
	})
	w := newWorld(t, creds("x"), config(s.URL), config(s.URL, named("twin"), without))
	g := w.must(t)
	dead.Store(true)
	together(10, func() error { return g.Probe(ctx) })
	if h, _ := w.Health(teamRef()); h.Reachable != (Finding{StatusFalse, "Unanswered", "connection closed before an answer"}) {
		t.Errorf("health of a dead gateway: %+v", h.Reachable)
	}
	for _, after := range []time.Duration{0, time.Second, time.Second, 4 * time.Second} {
		w.clock.advance(after)
		calls.Store(0)
		got := together(50, func() error { return g.Probe(ctx) })
		want := map[gateway.Reason]int{gateway.ReasonHeldOff: 50}
		if n := calls.Load(); n > 1 || (after > time.Second && n != 1) {
			t.Errorf("after %v: want at most one probe, got %d", after, n)
		} else if n == 1 {
			want = map[gateway.Reason]int{gateway.ReasonHeldOff: 49, gateway.ReasonUnanswered: 1}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %v: -want, +got:\n%s", after, diff)
		}
	}
	err := g.DeleteSubscription(ctx, "x")
	if gateway.ReasonOf(err) != gateway.ReasonHeldOff || gateway.RetryAfterOf(err) <= 0 || gateway.MayHaveBeenApplied(err) {
		t.Errorf("want to be held off, got %v", err)
	}
	dead.Store(false)
	w.clock.advance(maxBackoff)
	if err := g.Probe(ctx); err != nil {
		t.Errorf("the gateway is back: %v", err)
	}
	if diff := cmp.Diff(map[gateway.Reason]int{"": 20}, together(20, func() error { return g.Probe(ctx) })); diff != "" {
		t.Errorf("healed: -want, +got:\n%s", diff)
	}
	if h, _ := w.Health(teamRef()); h.Reachable.Status != StatusTrue {
		t.Errorf("health of a healed gateway: %+v", h.Reachable)
	}
}

// contract: A4, A5
func TestOneBadConfigHoldsOffNobodyElse(t *testing.T) {
	ctx := context.Background()
	ca, wrong := newAuthority(t, "ca"), newAuthority(t, "wrong")
	s := serveTLS(t, ca, nil, ok)
	trusting := func(bundle string) func(*v1alpha1.ProviderConfig) {
		return func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = &v1alpha1.TLSSettings{CABundle: &bundle} }
	}
	w := newWorld(t, creds("x"), config(s.URL, trusting(ca.pem)), config(s.URL, named("bad"), trusting(wrong.pem)))
	bad, err := w.For(ctx, Ref{Kind: v1alpha1.ProviderConfigKind, Name: "bad"}, "team")
	if err != nil {
		t.Fatal(err)
	}
	_ = bad.Probe(ctx)
	if got := gateway.ReasonOf(bad.Probe(ctx)); got != gateway.ReasonHeldOff {
		t.Errorf("the bad one: got %q", got)
	}
	if err := w.must(t).Probe(ctx); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestBreaker(t *testing.T) {
	c := &clock{t: time.Unix(0, 0)}
	random := 0.5
	b := &breaker{now: c.now, random: func() float64 { return random }}
	try := func(v verdict) bool {
		leave, _, _ := b.enter()
		if leave != nil {
			leave(v, "gone")
			leave(alive, "") // A second time means nothing.
		}
		return leave != nil
	}
	if !try(unanswered) || b.wait() != 0 {
		t.Error("one slow call must not hold others back")
	}
	if !try(alive) || !try(unanswered) || b.wait() != 0 {
		t.Error("an answer must wipe out a strike")
	}
	early, _, _ := b.enter()
	late, _, _ := b.enter()
	if !try(unreachable) {
		t.Error("not held off yet")
	}
	waits := []time.Duration{}
	for range 9 {
		waits = append(waits, b.wait())
		early(unanswered, "x") // Was under way before: no longer wait for it.
		if try(alive) {
			t.Error("must be held off")
		}
		c.advance(b.wait())
		if !try(unreachable) {
			t.Error("must be let through")
		}
	}
	want := []time.Duration{}
	for _, s := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		want = append(want, time.Duration(s)*time.Second)
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("back-off: -want, +got:\n%s", diff)
	}
	// A probe that is given up lets the next one through.
	c.advance(b.wait())
	probe, _, _ := b.enter()
	if _, wait, why := b.enter(); wait != maxBackoff || why != "gone" {
		t.Errorf("while a probe is under way: %v, %q", wait, why)
	}
	probe(noVerdict, "")
	if !try(noVerdict) {
		t.Error("must be let through")
	}
	late(alive, "")
	if b.wait() != 0 || !try(alive) {
		t.Error("any answer must heal")
	}
	for _, random = range []float64{0, 0.999} {
		try(unreachable)
		if d := b.wait(); d < minBackoff || d > 1200*time.Millisecond {
			t.Errorf("jitter out of bounds: %v", d)
		}
		c.advance(b.wait())
		try(alive)
	}
}

// contract: C1
// case: A2
func TestOAuth2(t *testing.T) {
	ctx := context.Background()
	ca := newAuthority(t, "ca")
	var issued, calls atomic.Int64
	var refuse, reject atomic.Bool
	idp := serveTLS(t, ca, nil, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, password, _ := r.BasicAuth()
		if refuse.Load() || password != secretValue || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "a b" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"wrong secret `+secretValue+`"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("token-%d", issued.Add(1)), "token_type": "bearer", "expires_in": 600})
	})
	var seen sync.Map
	gw := serveTLS(t, ca, nil, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization"), true)
		if reject.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]string{"code": "x", "message": "bad " + r.Header.Get("Authorization")})
			return
		}
		ok(w, r)
	})
	w := newWorld(t, creds(secretValue+"\n"), config(gw.URL, func(c *v1alpha1.ProviderConfig) {
		c.Spec.TLS = &v1alpha1.TLSSettings{CABundle: &ca.pem}
		c.Spec.Credentials = v1alpha1.Credentials{
			Source: v1alpha1.CredentialsOAuth2ClientCredentials,
			OAuth2: &v1alpha1.OAuth2Credentials{
				OAuth2Settings:  v1alpha1.OAuth2Settings{TokenURL: idp.URL, ClientID: "client", Scopes: []string{"a", "b"}},
				ClientSecretRef: v1alpha1.SecretKeyReference{Name: "creds", Key: "password"},
			},
		}
	}))
	g := w.must(t)
	if diff := cmp.Diff(map[gateway.Reason]int{"": 20}, together(20, func() error { return g.Probe(ctx) })); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if n := issued.Load(); n != 1 {
		t.Errorf("want one token for twenty calls, got %d", n)
	}
	w.clock.advance(10 * time.Minute)
	if err := g.Probe(ctx); err != nil || issued.Load() != 2 {
		t.Errorf("a token that ended must be replaced: %d, %v", issued.Load(), err)
	}
	// A token that the gateway does not accept any more is replaced, too.
	w.clock.advance(time.Minute)
	reject.Store(true)
	err := g.Probe(ctx)
	if gateway.ReasonOf(err) != gateway.ReasonUnauthorized || strings.Contains(err.Error(), "token-") {
		t.Errorf("rejected: %v", err)
	}
	reject.Store(false)
	if err := g.Probe(ctx); err != nil || issued.Load() != 3 {
		t.Errorf("after a rejected token: %d, %v", issued.Load(), err)
	}
	// An authorization server that refuses is asked once per back-off, and no
	// call is made without a token.
	refuse.Store(true)
	w.clock.advance(time.Hour)
	calls.Store(0)
	first := g.Probe(ctx)
	want := "cannot reach the gateway at " + gw.URL + gateway.DefaultBasePath + ": no token from " + idp.URL + ": the authorization server answered 401 (invalid_client)"
	if diff := cmp.Diff(want, fmt.Sprint(first)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	asked := calls.Load()
	if diff := cmp.Diff(map[gateway.Reason]int{gateway.ReasonHeldOff: 20}, together(20, func() error { return g.Probe(ctx) })); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if calls.Load() != asked {
		t.Errorf("held off, but asked %d times", calls.Load()-asked)
	}
	if h, _ := w.Health(teamRef()); h.Authenticated.Status != StatusFalse || strings.Contains(fmt.Sprint(h), secretValue) {
		t.Errorf("health: %+v", h)
	}
	refuse.Store(false)
	w.clock.advance(maxBackoff)
	if err := g.Probe(ctx); err != nil {
		t.Errorf("healed: %v", err)
	}
	if _, bare := seen.Load(""); bare {
		t.Error("a call was made without a token")
	}
}

func TestOAuth2NoAnswer(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	html := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+secretValue) })
	redirect := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, html.URL, http.StatusTemporaryRedirect)
	})
	cases := map[string]struct {
		url    string
		want   string
		reason gateway.Reason
	}{
		"Gone":     {gone.URL, "connection refused", gateway.ReasonUnavailable},
		"HTML":     {html.URL, "the authorization server's answer holds none", gateway.ReasonUnauthorized},
		"Redirect": {redirect.URL, "the authorization server answered 307", gateway.ReasonUnauthorized},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, creds(secretValue), config("http://gw.invalid", func(c *v1alpha1.ProviderConfig) {
				c.Spec.Credentials = v1alpha1.Credentials{
					Source: v1alpha1.CredentialsOAuth2ClientCredentials,
					OAuth2: &v1alpha1.OAuth2Credentials{
						OAuth2Settings:  v1alpha1.OAuth2Settings{TokenURL: tc.url, ClientID: "client"},
						ClientSecretRef: v1alpha1.SecretKeyReference{Name: "creds", Key: "password"},
					},
				}
			}))
			err := w.must(t).DeleteSubscription(context.Background(), "x")
			want := `cannot delete Subscription "x" at http://gw.invalid/api/management/v1: no token from ` + tc.url + ": " + tc.want
			if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if gateway.ReasonOf(err) != tc.reason || gateway.MayHaveBeenApplied(err) {
				t.Errorf("got %q, may have been applied %v", gateway.ReasonOf(err), gateway.MayHaveBeenApplied(err))
			}
		})
	}
}
