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

package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// typed returns the provider's own client for the gateway.
func (g *gatewayUnderTest) typed(t *testing.T, as login) *gateway.Client {
	t.Helper()
	e, err := gateway.ParseEndpoint(g.url)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.New(gateway.Options{
		Endpoint:  e,
		Transport: g.client.Transport,
		Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
			r.SetBasicAuth(as.name, as.password)
			return nil
		}),
		Secrets: []gateway.Secret{gateway.Secret(as.password)},
	})
}

// failed checks how the client understands a failure.
func failed(t *testing.T, err error, reason gateway.Reason, subject gateway.Subject) {
	t.Helper()
	if got := gateway.ReasonOf(err); got != reason {
		t.Errorf("want reason %s, got %q: %v", reason, got, err)
	}
	if got := gateway.SubjectOf(err); got != subject {
		t.Errorf("want subject %q, got %q: %v", subject, got, err)
	}
}

func (g *gatewayUnderTest) write(handle string) gateway.RestAPIWrite {
	return gateway.RestAPIWrite{Name: handle, Spec: gateway.RestAPISpec{
		DisplayName: handle, Version: "v1.0", Context: "/" + handle,
		Upstream:   gateway.Upstreams{Main: gateway.Upstream{URL: "http://backend.example.com"}},
		Operations: []gateway.Operation{{Method: http.MethodGet, Path: "/"}},
	}}
}

// clientChecks drive the provider's own client through its main flows, so that
// gateway, emulator and client agree with each other.
func clientChecks() []check {
	return []check{
		{fact: "probe, and what wrong credentials mean", run: func(t *testing.T, g *gatewayUnderTest) {
			if err := g.typed(t, g.admin).Probe(t.Context()); err != nil {
				t.Errorf("Probe(...): %v", err)
			}
			err := g.typed(t, login{g.admin.name, "wrong"}).Probe(t.Context())
			failed(t, err, gateway.ReasonUnauthorized, "")
			if as, ok := g.others["consumer"]; ok {
				failed(t, g.typed(t, as).Probe(t.Context()), gateway.ReasonForbidden, "")
			}
		}},
		{fact: "the life of a REST API", run: func(t *testing.T, g *gatewayUnderTest) {
			c, ctx := g.typed(t, g.admin), t.Context()
			w := g.write(g.name())
			w.Labels, w.Annotations = map[string]string{"a": "b"}, map[string]string{"example.com/c": "d"}
			_, err := c.GetRestAPI(ctx, w.Name)
			failed(t, err, gateway.ReasonNotFound, "")
			g.tidy(t, "/rest-apis/"+w.Name)
			if _, err := c.CreateRestAPI(ctx, w); err != nil {
				t.Fatal(err)
			}
			_, err = c.CreateRestAPI(ctx, w)
			failed(t, err, gateway.ReasonConflict, gateway.SubjectName)
			got, err := c.GetRestAPI(ctx, w.Name)
			if err != nil {
				t.Fatal(err)
			}
			want := w.Spec
			want.Vhosts = &gateway.Vhosts{Main: "*", Sandbox: "sandbox-*"}
			if diff := cmp.Diff(want, got.Spec); diff != "" {
				t.Errorf("GetRestAPI(...): -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(gateway.Metadata{Name: w.Name, Labels: w.Labels, Annotations: w.Annotations}, got.Metadata); diff != "" {
				t.Errorf("GetRestAPI(...): -want, +got:\n%s", diff)
			}
			w.Spec.DisplayName = g.name()
			if _, err := c.UpdateRestAPI(ctx, w.Name, w); err != nil {
				t.Fatal(err)
			}
			if got, err = c.GetRestAPI(ctx, w.Name); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(w.Spec, got.Spec); diff != "" {
				t.Errorf("GetRestAPI(...): -want, +got:\n%s", diff)
			}
			bad := w
			bad.Spec.Context = "relative"
			_, err = c.UpdateRestAPI(ctx, w.Name, bad)
			failed(t, err, gateway.ReasonInvalid, "")
			if e := gateway.AsError(err); e == nil || len(e.FieldErrors) == 0 || e.FieldErrors[0].Field != "spec.context" {
				t.Errorf("want the field error about spec.context, got %v", err)
			}
			all, err := c.ListRestAPIs(ctx)
			if err != nil || len(all) == 0 {
				t.Errorf("ListRestAPIs(...): %d, %v", len(all), err)
			}
			if err := c.DeleteRestAPI(ctx, w.Name); err != nil {
				t.Error(err)
			}
			if err := c.DeleteRestAPI(ctx, w.Name); !gateway.IsNotFound(err) {
				t.Errorf("DeleteRestAPI(...): want not found, got %v", err)
			}
		}},
		{fact: "the life of a plan", run: func(t *testing.T, g *gatewayUnderTest) {
			c, ctx := g.typed(t, g.admin), t.Context()
			expiry := time.Date(2031, 2, 3, 4, 5, 6, 0, time.FixedZone("", 19800))
			w := gateway.SubscriptionPlanWrite{
				PlanName: g.name(), BillingPlan: ptr("FREE"), StopOnQuotaReach: ptr(false), ThrottleLimitCount: ptr(int64(1) << 53),
				ThrottleLimitUnit: "Day", ExpiryTime: &expiry, Status: "ACTIVE",
			}
			p, err := c.CreateSubscriptionPlan(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			g.tidy(t, "/subscription-plans/"+p.ID)
			_, err = c.CreateSubscriptionPlan(ctx, w)
			failed(t, err, gateway.ReasonConflict, gateway.SubjectName)
			got, err := c.GetSubscriptionPlan(ctx, p.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := &gateway.SubscriptionPlan{
				ID: p.ID, PlanName: w.PlanName, BillingPlan: "FREE", StopOnQuotaReach: w.StopOnQuotaReach, GatewayID: p.GatewayID,
				ThrottleLimitCount: w.ThrottleLimitCount, ThrottleLimitUnit: "Day", ExpiryTime: &expiry, Status: "ACTIVE",
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(gateway.SubscriptionPlan{}, "CreatedAt", "UpdatedAt")); diff != "" {
				t.Errorf("GetSubscriptionPlan(...): -want, +got:\n%s", diff)
			}
			other, err := c.CreateSubscriptionPlan(ctx, gateway.SubscriptionPlanWrite{PlanName: g.name()})
			if err != nil {
				t.Fatal(err)
			}
			g.tidy(t, "/subscription-plans/"+other.ID)
			_, err = c.UpdateSubscriptionPlan(ctx, other.ID, gateway.SubscriptionPlanWrite{PlanName: w.PlanName})
			failed(t, err, gateway.ReasonConflict, gateway.SubjectName)
			handle := g.api(t)
			s, err := c.CreateSubscription(ctx, gateway.SubscriptionCreate{
				APIID: handle, SubscriptionToken: gateway.Secret(token()), SubscriptionPlanID: p.ID,
			})
			if err != nil {
				t.Fatal(err)
			}
			failed(t, c.DeleteSubscriptionPlan(ctx, p.ID), gateway.ReasonInUse, "")
			if err := c.DeleteSubscription(ctx, s.ID); err != nil {
				t.Error(err)
			}
			if err := c.DeleteSubscriptionPlan(ctx, p.ID); err != nil {
				t.Error(err)
			}
			if err := c.DeleteSubscriptionPlan(ctx, p.ID); !gateway.IsNotFound(err) {
				t.Errorf("DeleteSubscriptionPlan(...): want not found, got %v", err)
			}
		}},
		{fact: "the life of a subscription", run: func(t *testing.T, g *gatewayUnderTest) {
			c, ctx := g.typed(t, g.admin), t.Context()
			handle, secret, asked := g.api(t), token(), g.name()
			create := gateway.SubscriptionCreate{
				APIID: handle, SubscriptionToken: gateway.Secret(secret), ExternalRefID: asked,
				ApplicationID: "app", BillingCustomerID: "c", BillingSubscriptionID: "b",
			}
			s, err := c.CreateSubscription(ctx, create)
			if err != nil {
				t.Fatal(err)
			}
			g.tidy(t, "/subscriptions/"+s.ID)
			if g.inPlace != (s.ID == asked) || g.inPlace != (s.ExternalRefID == asked) {
				t.Errorf("asked for ID %s: got ID %s and externalRefId %q", asked, s.ID, s.ExternalRefID)
			}
			_, err = c.CreateSubscription(ctx, create)
			if !gateway.IsConflict(err) {
				t.Errorf("CreateSubscription(...): want a conflict, got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the token: %v", err)
			}
			got, err := c.GetSubscription(ctx, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			listed, err := c.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: handle, ApplicationID: "app"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]gateway.Subscription{*got}, listed); diff != "" {
				t.Errorf("-read, +listed:\n%s", diff)
			}
			for _, status := range []string{gateway.SubscriptionRevoked, gateway.SubscriptionActive} {
				if s, err = c.UpdateSubscription(ctx, s.ID, gateway.SubscriptionUpdate{Status: status}); err != nil || s.Status != status {
					t.Fatalf("UpdateSubscription(...): want %s, got %v, %v", status, s, err)
				}
			}
			if err := c.DeleteSubscription(ctx, s.ID); err != nil {
				t.Error(err)
			}
			if err := c.DeleteSubscription(ctx, s.ID); !gateway.IsNotFound(err) {
				t.Errorf("DeleteSubscription(...): want not found, got %v", err)
			}
		}},
		{fact: "what a subscription may lack", run: func(t *testing.T, g *gatewayUnderTest) {
			c, ctx := g.typed(t, g.admin), t.Context()
			gold, idle := g.plan(t), g.plan(t, with("status", "INACTIVE"))
			closed := g.api(t, withPlans(g.name()))
			secret := gateway.Secret(token())
			_, err := c.CreateSubscription(ctx, gateway.SubscriptionCreate{APIID: g.name(), SubscriptionToken: secret})
			if !gateway.IsAPIMissing(err) || gateway.IsNotFound(err) {
				t.Errorf("unknown API: want it missing, got %v", err)
			}
			_, err = c.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: g.name()})
			if !gateway.IsAPIMissing(err) || gateway.IsNotFound(err) {
				t.Errorf("unknown API in a list: want it missing, got %v", err)
			}
			for _, plan := range []string{g.name(), gold["id"].(string), idle["id"].(string)} {
				_, err = c.CreateSubscription(ctx, gateway.SubscriptionCreate{APIID: closed, SubscriptionToken: secret, SubscriptionPlanID: plan})
				failed(t, err, gateway.ReasonMissingDependency, gateway.SubjectPlan)
			}
		}},
		{fact: "plan and token change in place", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			c, ctx := g.typed(t, g.admin), t.Context()
			handle, plan, old, taken := g.api(t), g.plan(t)["id"].(string), token(), token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": taken})
			id := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})["id"].(string)
			s, err := c.UpdateSubscription(ctx, id, gateway.SubscriptionUpdate{
				Status: gateway.SubscriptionActive, Plan: gateway.SetPlan(plan), SubscriptionToken: gateway.Secret(token()),
			})
			if err != nil || s.SubscriptionPlanID != plan {
				t.Fatalf("UpdateSubscription(...): want the plan set, got %v, %v", s, err)
			}
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
			if s, err = c.UpdateSubscription(ctx, id, gateway.SubscriptionUpdate{Plan: gateway.ClearPlan()}); err != nil || s.SubscriptionPlanID != "" {
				t.Fatalf("UpdateSubscription(...): want the plan cleared, got %v, %v", s, err)
			}
			_, err = c.UpdateSubscription(ctx, id, gateway.SubscriptionUpdate{SubscriptionToken: gateway.Secret(taken)})
			if !gateway.IsConflict(err) {
				t.Errorf("a taken token: want a conflict, got %v", err)
			}
			_, err = c.UpdateSubscription(ctx, id, gateway.SubscriptionUpdate{Plan: gateway.SetPlan(g.name())})
			failed(t, err, gateway.ReasonMissingDependency, gateway.SubjectPlan)
		}},
		{fact: "a read-only gateway", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			g.emulator.SetImmutable(true)
			defer g.emulator.SetImmutable(false)
			failed(t, g.typed(t, g.admin).DeleteRestAPI(t.Context(), handle), gateway.ReasonReadOnly, "")
		}},
	}
}

func ptr[T any](v T) *T { return &v }
