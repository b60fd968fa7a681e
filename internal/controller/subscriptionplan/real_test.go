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

package subscriptionplan

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// The life of a plan at the gateway that GATEWAY_URL names: what is written reads
// back, and what a gateway refuses is understood.
//
// contract: P1, P3, P4, P5
func TestAgainstGateway(t *testing.T) {
	url := os.Getenv("GATEWAY_URL")
	if url == "" {
		t.Skip("GATEWAY_URL names no gateway")
	}
	endpoint, err := gateway.ParseEndpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	mg := managedGold(func(mg *v1alpha1.SubscriptionPlan) {
		p := &mg.Spec.ForProvider
		p.PlanName, p.BillingPlan = "provider-test-gold", ptr("X")
		p.ThrottleLimitCount = ptr(int64(1 << 53))
	})
	b := newBench(t, emulator.Options{}, mg)
	writes := 0
	b.Client = gateway.New(gateway.Options{Endpoint: endpoint, Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
		r.SetBasicAuth(os.Getenv("GATEWAY_USER"), os.Getenv("GATEWAY_PASSWORD"))
		if r.Method != http.MethodGet {
			writes++
		}
		return nil
	})})
	b.at.Endpoint = endpoint.String()
	t.Cleanup(func() {
		ctx := context.Background()
		_ = b.Client.DeleteRestAPI(ctx, "provider-test")
		plans, _ := b.Client.ListSubscriptionPlans(ctx)
		for _, p := range plans {
			if strings.HasPrefix(p.PlanName, "provider-test-") {
				_ = b.Client.DeleteSubscriptionPlan(ctx, p.ID)
			}
		}
	})

	for range 5 {
		got, err := b.pass(mg)
		if err != nil {
			t.Fatal(err)
		}
		if meta.GetExternalName(got) == "" {
			t.Fatal("no external-name")
		}
	}
	ready(t, b.get(mg))
	if writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}

	if _, err := b.Client.CreateSubscriptionPlan(t.Context(), gateway.SubscriptionPlanWrite{PlanName: "provider-test-silver"}); err != nil {
		t.Fatal(err)
	}
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "provider-test-silver" })
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
		mg.Spec.ForProvider.PlanName, mg.Spec.ForProvider.BillingPlan = "provider-test-gold", ptr("")
	})
	for range 2 {
		if got, err = b.pass(mg); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, got)

	if _, err := b.Client.CreateRestAPI(t.Context(), gateway.RestAPIWrite{Name: "provider-test", Spec: gateway.RestAPISpec{
		DisplayName: "provider-test", Version: "v1.0", Context: "/provider-test",
		Upstream:   gateway.Upstreams{Main: gateway.Upstream{URL: "http://a"}},
		Operations: []gateway.Operation{{Method: "GET", Path: "/"}},
	}}); err != nil {
		t.Fatal(err)
	}
	s, err := b.Client.CreateSubscription(t.Context(), gateway.SubscriptionCreate{
		APIID: "provider-test", SubscriptionPlanID: meta.GetExternalName(got), SubscriptionToken: "provider-test-token",
	})
	if err != nil {
		t.Fatal(err)
	}
	b.delete(mg)
	if _, err := b.pass(mg); err == nil || !strings.Contains(err.Error(), "in use by 1 subscription ") {
		t.Errorf("error %v", err)
	}
	if err := b.Client.DeleteSubscription(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	b.gone(mg)
}
