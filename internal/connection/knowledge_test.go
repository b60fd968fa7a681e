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
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

func TestLearnFromCreate(t *testing.T) {
	cases := map[string]struct {
		reason string
		asked  string
		answer string
		want   Generation
	}{
		"InPlace":   {"Our ID, and reported so.", "x", `{"id":"x","externalRefId":"x"}`, GenerationInPlace},
		"OtherID":   {"Another ID.", "x", `{"id":"y"}`, GenerationLegacy},
		"NotSaid":   {"Our ID by chance, but not reported.", "x", `{"id":"x"}`, GenerationLegacy},
		"OnlySaid":  {"Reported, but another ID.", "x", `{"id":"y","externalRefId":"x"}`, GenerationLegacy},
		"Test":      {"A gateway that takes an ID that is not valid.", "-", `{"id":"y"}`, GenerationLegacy},
		"NoneAsked": {"Nothing asked, nothing learnt.", "", `{"id":"y"}`, GenerationUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.answer) })
			w := newWorld(t, creds("x"), config(s.URL), config(s.URL, named("twin"), without),
				config(s.URL, named("declared"), without, func(c *v1alpha1.ProviderConfig) {
					c.Spec.Gateway = &v1alpha1.GatewaySettings{Generation: v1alpha1.GatewayGenerationInPlace}
				}))
			g := w.must(t)
			if _, err := g.CreateSubscription(context.Background(), gateway.SubscriptionCreate{ExternalRefID: tc.asked, APIID: "a", SubscriptionToken: "t"}); err != nil {
				t.Fatal(err)
			}
			twin, err := w.For(context.Background(), Ref{Kind: v1alpha1.ProviderConfigKind, Name: "twin"}, "team")
			if err != nil {
				t.Fatal(err)
			}
			declared, err := w.For(context.Background(), Ref{Kind: v1alpha1.ProviderConfigKind, Name: "declared"}, "team")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Generation{tc.want, tc.want, GenerationInPlace}, []Generation{g.Generation(), twin.Generation(), declared.Generation()}); diff != "" {
				t.Errorf("\n%s\nGeneration(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGatewayID(t *testing.T) {
	ctx := context.Background()
	var id atomic.Pointer[string]
	first, second := "g1", "g2"
	id.Store(&first)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"subscriptionPlans":[{"id":"p","gatewayId":%q}],"count":1}`, *id.Load())
	})
	w := newWorld(t, creds("x"), config(s.URL))
	g := w.must(t)
	read := func() []string {
		if _, err := g.ListSubscriptionPlans(ctx); err != nil {
			t.Fatal(err)
		}
		return []string{g.GatewayID(), string(g.Generation())}
	}
	if diff := cmp.Diff([]string{"g1", ""}, read()); diff != "" {
		t.Errorf("learnt: -want, +got:\n%s", diff)
	}
	g.Learn(GenerationLegacy)
	g.Learn(GenerationUnknown)
	if diff := cmp.Diff([]string{"g1", "Legacy"}, read()); diff != "" {
		t.Errorf("kept: -want, +got:\n%s", diff)
	}
	id.Store(&second)
	if diff := cmp.Diff([]string{"g2", ""}, read()); diff != "" {
		t.Errorf("another gateway: -want, +got:\n%s", diff)
	}
	h, _ := w.Health(teamRef())
	if h.GatewayID != "g2" || len(w.changed) == 0 {
		t.Errorf("health: %+v, changes: %v", h, w.changed)
	}
}

func TestSeed(t *testing.T) {
	known := v1alpha1.GatewayStatus{ID: "g", Generation: v1alpha1.GatewayGenerationLegacy}
	cases := map[string]struct {
		reason string
		status func(*v1alpha1.ProviderConfig)
		want   []string
	}{
		"Current": {"A status about this configuration is believed.", seeded(1, known), []string{"g", "Legacy"}},
		"Stale":   {"One about an earlier endpoint is not.", seeded(0, known), []string{"", ""}},
		"None":    {"Without a status nothing is known.", func(*v1alpha1.ProviderConfig) {}, []string{"", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := newWorld(t, creds("x"), config("http://gw", tc.status)).must(t)
			if diff := cmp.Diff(tc.want, []string{g.GatewayID(), string(g.Generation())}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What the status of one configuration tells, others need not believe: a tenant may
// have written it.
//
// contract: A5
func TestSeedIsNobodyElses(t *testing.T) {
	forged := config("http://gw", named("forged"), without, seeded(1, v1alpha1.GatewayStatus{ID: "g", Generation: v1alpha1.GatewayGenerationInPlace}))
	w := newWorld(t, creds("x"), forged, config("http://gw"))
	theirs, err := w.For(context.Background(), Ref{Kind: v1alpha1.ProviderConfigKind, Name: "forged"}, "team")
	if err != nil {
		t.Fatal(err)
	}
	knows := func(reason string, g *Gateway, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, []string{g.GatewayID(), string(g.Generation())}); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reason, diff)
		}
	}
	knows("its own", theirs, "g", "InPlace")
	knows("another's", w.must(t), "", "")
	theirs.link.site.identify("g")
	knows("The same gateway answers.", theirs, "g", "InPlace")
	theirs.link.site.identify("h")
	knows("Another gateway answers.", theirs, "h", "")
}

// contract: C3
// case: F7, F11
func TestHealth(t *testing.T) {
	type step struct {
		status int
		body   string
		write  bool
	}
	const js = `{"status":"error","message":"no"}`
	auth := `{"code":"x","message":"no"}`
	yes, unknown := Finding{Status: StatusTrue}, Finding{Status: StatusUnknown}
	no := Finding{Status: StatusFalse}
	plans := `{"subscriptionPlans":[],"count":0}`
	cases := map[string]struct {
		reason  string
		steps   []step
		want    Health
		changes int
	}{
		"Read":         {"A list that was needed anyway is the check.", []step{{200, plans, false}, {200, plans, false}}, Health{Reachable: yes, Authenticated: yes, Authorized: yes, Writable: unknown}, 1},
		"Write":        {"A write shows that writes are taken.", []step{{204, "", true}}, Health{Reachable: yes, Authenticated: yes, Authorized: yes, Writable: yes}, 1},
		"Refused":      {"So does a refusal by the gateway itself.", []step{{404, js, true}}, Health{Reachable: yes, Authenticated: yes, Authorized: yes, Writable: yes}, 1},
		"Unauthorized": {"401 is an answer.", []step{{401, auth, false}, {401, auth, false}}, Health{Reachable: yes, Authenticated: no, Authorized: unknown, Writable: unknown}, 1},
		"Forbidden":    {"403 knows who we are.", []step{{403, auth, false}}, Health{Reachable: yes, Authenticated: yes, Authorized: no, Writable: unknown}, 1},
		"Healed":       {"What passes, passes.", []step{{403, auth, false}, {200, plans, false}}, Health{Reachable: yes, Authenticated: yes, Authorized: yes, Writable: unknown}, 2},
		"ReadOnly":     {"405 says nothing about credentials.", []step{{405, js, true}}, Health{Reachable: yes, Authenticated: unknown, Authorized: unknown, Writable: no}, 1},
		"OwnFailure":   {"The gateway's own failure is an answer.", []step{{500, js, false}}, Health{Reachable: yes, Authenticated: unknown, Authorized: unknown, Writable: unknown}, 1},
		"Proxy":        {"A proxy's failure is none.", []step{{502, "<html>", false}}, Health{Reachable: no, Authenticated: unknown, Authorized: unknown, Writable: unknown}, 1},
		"OneProxy":     {"But one does not outweigh what was seen before.", []step{{200, plans, false}, {502, "<html>", false}}, Health{Reachable: yes, Authenticated: yes, Authorized: yes, Writable: unknown}, 1},
		"TwoProxy":     {"Two do.", []step{{200, plans, false}, {502, "<html>", false}, {502, "<html>", false}}, Health{Reachable: no, Authenticated: yes, Authorized: yes, Writable: unknown}, 2},
		"NotAGateway":  {"An unknown route is not the gateway.", []step{{404, "404 page not found", false}}, Health{Reachable: no, Authenticated: unknown, Authorized: unknown, Writable: unknown}, 1},
		"Login":        {"A login page is not the gateway.", []step{{200, "<html>", false}}, Health{Reachable: no, Authenticated: unknown, Authorized: unknown, Writable: unknown}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var now atomic.Pointer[step]
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(now.Load().status)
				_, _ = io.WriteString(w, now.Load().body)
			})
			w := newWorld(t, creds("x"), config(s.URL))
			g := w.must(t)
			for _, st := range tc.steps {
				now.Store(&st)
				if st.write {
					_ = g.DeleteSubscriptionPlan(context.Background(), "p")
				} else {
					_, _ = g.ListSubscriptionPlans(context.Background())
				}
			}
			got, ok := w.Health(teamRef())
			if !ok {
				t.Fatal("no health")
			}
			tc.want.Endpoint = s.URL + gateway.DefaultBasePath
			if tc.want.Reachable.Status == StatusTrue || tc.want.Authenticated.Status == StatusTrue {
				tc.want.LastSeen = w.clock.now()
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Finding{}, "Reason", "Message")); diff != "" {
				t.Errorf("\n%s\nHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.changes, len(w.changed)); diff != "" {
				t.Errorf("\n%s\nchanges: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForbiddenNamesKinds(t *testing.T) {
	ctx := context.Background()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == gateway.DefaultBasePath+"/rest-apis" {
			ok(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"code":"forbidden","message":"forbidden"}`)
	})
	w := newWorld(t, creds("x"), config(s.URL))
	g := w.must(t)
	_, _ = g.ListSubscriptions(ctx, gateway.SubscriptionFilter{})
	_, _ = g.ListSubscriptionPlans(ctx)
	_, _ = g.ListRestAPIs(ctx)
	h, _ := w.Health(teamRef())
	want := Finding{StatusFalse, "Forbidden", "the credentials lack the role for Subscription, SubscriptionPlan"}
	if diff := cmp.Diff(want, h.Authorized); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
