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

package gateway_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// The client and the emulator were written apart from each other, so that this
// is where a misreading of the API by one of them shows.
func TestAgainstEmulator(t *testing.T) {
	for _, generation := range []emulator.Generation{emulator.Legacy, emulator.InPlace} {
		t.Run(string(generation), func(t *testing.T) {
			ctx := t.Context()
			e := emulator.New(emulator.Options{Generation: generation})
			s := httptest.NewServer(e)
			t.Cleanup(s.Close)
			t.Cleanup(e.Close)
			endpoint, err := gateway.ParseEndpoint(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			c := gateway.New(gateway.Options{Endpoint: endpoint, Transport: s.Client().Transport})
			reason := func(what string, want gateway.Reason, err error) {
				t.Helper()
				if got := gateway.ReasonOf(err); got != want || (want == "") != (err == nil) {
					t.Errorf("%s: want reason %q, got %q: %v", what, want, got, err)
				}
			}
			reason("probe", "", c.Probe(ctx))

			_, err = c.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: "orders"})
			if !gateway.IsAPIMissing(err) {
				t.Errorf("list of a missing API: %v", err)
			}
			ask := gateway.SubscriptionCreate{ExternalRefID: "sub-1", APIID: "orders", SubscriptionToken: "token-1", ApplicationID: "app"}
			_, err = c.CreateSubscription(ctx, ask)
			if !gateway.IsAPIMissing(err) || gateway.MayHaveBeenApplied(err) {
				t.Errorf("create for a missing API: %v", err)
			}

			api := gateway.RestAPIWrite{Name: "orders", Annotations: map[string]string{"a": "b"}, Spec: gateway.RestAPISpec{
				DisplayName: "Orders", Version: "v1.0", Context: "/orders", Upstream: gateway.Upstreams{Main: gateway.Upstream{URL: "http://backend"}},
				Operations: []gateway.Operation{{Method: "GET", Path: "/{id}"}},
			}}
			_, err = c.CreateRestAPI(ctx, api)
			reason("create an API", "", err)
			_, err = c.CreateRestAPI(ctx, api)
			reason("create an API again", gateway.ReasonConflict, err)
			read, err := c.GetRestAPI(ctx, "orders")
			reason("get an API", "", err)
			if err == nil {
				want := api.Spec
				want.Vhosts, want.DeploymentState = read.Spec.Vhosts, read.Spec.DeploymentState
				if diff := cmp.Diff(want, read.Spec, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("API: -sent, +read:\n%s", diff)
				}
			}
			_, err = c.UpdateRestAPI(ctx, "orders", api)
			reason("update an API", "", err)

			count, at := int64(1)<<53, time.Date(2030, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))
			plan, err := c.CreateSubscriptionPlan(ctx, gateway.SubscriptionPlanWrite{PlanName: "Gold", ThrottleLimitCount: &count, ThrottleLimitUnit: "Hour", ExpiryTime: &at})
			reason("create a plan", "", err)
			if plan == nil {
				t.Fatal("no plan")
			}
			if plan.ThrottleLimitCount == nil || *plan.ThrottleLimitCount != count || plan.ExpiryTime == nil || !plan.ExpiryTime.Equal(at) {
				t.Errorf("plan reads back as %+v", plan)
			}
			_, err = c.CreateSubscriptionPlan(ctx, gateway.SubscriptionPlanWrite{PlanName: "Gold"})
			reason("create a plan again", gateway.ReasonConflict, err)
			silver, err := c.CreateSubscriptionPlan(ctx, gateway.SubscriptionPlanWrite{PlanName: "Silver"})
			reason("create another plan", "", err)
			_, err = c.UpdateSubscriptionPlan(ctx, silver.ID, gateway.SubscriptionPlanWrite{PlanName: "Gold"})
			reason("rename to a name that is taken", gateway.ReasonConflict, err)

			missing := ask
			missing.SubscriptionPlanID = "no-such-plan"
			_, err = c.CreateSubscription(ctx, missing)
			reason("create with a missing plan", gateway.ReasonMissingDependency, err)
			if gateway.SubjectOf(err) != gateway.SubjectPlan {
				t.Errorf("create with a missing plan: %v", err)
			}
			ask.SubscriptionPlanID = plan.ID
			sub, err := c.CreateSubscription(ctx, ask)
			reason("create a subscription", "", err)
			if sub == nil {
				t.Fatal("no subscription")
			}
			if inPlace := sub.ID == "sub-1" && sub.ExternalRefID == "sub-1"; inPlace != (generation == emulator.InPlace) {
				t.Errorf("subscription created as %+v", sub)
			}
			_, err = c.CreateSubscription(ctx, ask)
			reason("create a subscription again", gateway.ReasonConflict, err)
			list, err := c.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: "orders", ApplicationID: "app"})
			reason("list", "", err)
			if len(list) != 1 || list[0].ID != sub.ID || list[0].GatewayID == "" || list[0].UpdatedAt.IsZero() {
				t.Errorf("list: %+v", list)
			}
			reason("delete a plan in use", gateway.ReasonInUse, c.DeleteSubscriptionPlan(ctx, plan.ID))

			updated, err := c.UpdateSubscription(ctx, sub.ID, gateway.SubscriptionUpdate{Status: gateway.SubscriptionInactive, Plan: gateway.ClearPlan(), SubscriptionToken: "token-2"})
			reason("update", "", err)
			if updated == nil || updated.Status != gateway.SubscriptionInactive || (updated.SubscriptionPlanID == "") != (generation == emulator.InPlace) {
				t.Errorf("updated to %+v", updated)
			}
			if e.HoldsToken(sub.ID, "token-2") != (generation == emulator.InPlace) {
				t.Error("the token is not what this generation makes of it")
			}
			_, err = c.UpdateSubscription(ctx, sub.ID, gateway.SubscriptionUpdate{Status: "WRONG"})
			reason("update to a wrong status", gateway.ReasonInvalid, err)
			if gateway.SubjectOf(err) != gateway.SubjectStatus {
				t.Errorf("update to a wrong status: %v", err)
			}

			e.SetImmutable(true)
			err = c.DeleteSubscription(ctx, sub.ID)
			reason("delete while read-only", gateway.ReasonReadOnly, err)
			if gateway.MayHaveBeenApplied(err) {
				t.Error("a read-only gateway changes nothing")
			}
			e.SetImmutable(false)
			reason("delete", "", c.DeleteSubscription(ctx, sub.ID))
			reason("delete again", gateway.ReasonNotFound, c.DeleteSubscription(ctx, sub.ID))
			_, err = c.GetSubscription(ctx, sub.ID)
			reason("get", gateway.ReasonNotFound, err)
			reason("delete a plan", "", c.DeleteSubscriptionPlan(ctx, plan.ID))
			reason("delete an API", "", c.DeleteRestAPI(ctx, "orders"))
			_, err = c.GetRestAPI(ctx, "orders")
			reason("get an API that is gone", gateway.ReasonNotFound, err)
			if n := e.NotDeployed(); n != 0 {
				t.Errorf("%d writes were dropped, since their correlation ID had been used before", n)
			}
		})
	}
}
