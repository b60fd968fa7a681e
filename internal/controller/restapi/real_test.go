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

package restapi

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// elsewhere leads a bench to the gateway that GATEWAY_URL names, and counts the
// writes it is asked for.
func (b *bench) elsewhere() *int {
	b.t.Helper()
	url := os.Getenv("GATEWAY_URL")
	if url == "" {
		b.t.Skip("GATEWAY_URL names no gateway")
	}
	endpoint, err := gateway.ParseEndpoint(url)
	if err != nil {
		b.t.Fatal(err)
	}
	writes := 0
	b.Client = gateway.New(gateway.Options{Endpoint: endpoint, Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
		r.SetBasicAuth(os.Getenv("GATEWAY_USER"), os.Getenv("GATEWAY_PASSWORD"))
		if r.Method != http.MethodGet {
			writes++
		}
		return nil
	})})
	b.at.Endpoint = endpoint.String()
	return &writes
}

// What the provider writes reads back as what it asked for, from the gateway that
// GATEWAY_URL names: else it would write for ever.
//
// contract: R4
func TestAgainstGateway(t *testing.T) {
	timeout := v1alpha1.TimeoutDuration("1.5m")
	full := func(mg *v1alpha1.RestApi) {
		p := &mg.Spec.ForProvider
		p.Policies = nil
		p.UpstreamDefinitions = []v1alpha1.UpstreamDefinition{{
			Name: "b", BasePath: ptr("/api/v2"), Timeout: &v1alpha1.UpstreamTimeout{Connect: &timeout},
			Upstreams: []v1alpha1.UpstreamTarget{{URL: "http://b:5000", Weight: ptr(int64(0))}, {URL: "https://c", Weight: ptr(int64(20))}},
		}}
		p.Upstream = v1alpha1.RestApiUpstreams{
			Main:    v1alpha1.Upstream{Ref: ptr("b"), HostRewrite: ptr(v1alpha1.HostRewrite("auto"))},
			Sandbox: &v1alpha1.Upstream{URL: ptr(`{{ env "NOWHERE" | default "http://sandbox" }}`), HostRewrite: ptr(v1alpha1.HostRewrite("manual"))},
		}
		p.Vhosts = &v1alpha1.VirtualHosts{Main: "api.example.org; *.example.com", Sandbox: ptr("sandbox-*")}
		p.SubscriptionPlans = []v1alpha1.PlanName{"Silver", "Gold"}
		p.Resilience = &v1alpha1.Resilience{Timeout: &timeout, IdleTimeout: ptr(v1alpha1.TimeoutDuration("0s"))}
		p.Operations = []v1alpha1.Operation{
			{
				Method: ptr(v1alpha1.HTTPMethod("GET")), Path: ptr("/b/{id}"), Resilience: &v1alpha1.Resilience{Timeout: &timeout},
				Policies: []v1alpha1.Policy{{
					Name: "anything", Version: ptr("v1"), ExecutionCondition: ptr("request.metadata[authenticated] != true"),
					Params: &runtime.RawExtension{Raw: []byte(`{"z":2.0,"a":1e3,"big":12345678901234567890,"neg":-0.0,"list":[],"map":{},"null":null,"deep":[{"x":[1.50,null,"<&>"]}],"t":"{{ env \"X\" }}","u":"ü\u2028"}`)},
				}},
			},
			{Match: &v1alpha1.OperationMatch{
				Method: "POST", Path: v1alpha1.PathMatch{Value: "/a", Type: ptr(v1alpha1.PathMatchType("PathPrefix"))},
				Headers: []v1alpha1.HeaderMatch{{Name: "x-a", Value: "1", Type: ptr(v1alpha1.HeaderMatchType("Exact"))}, {Name: "x-b", Value: "2"}},
			}},
		}
		p.Annotations = map[string]string{"example.org/a": "b"}
	}
	cases := map[string]func(*v1alpha1.RestApi){
		"Small":     func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Policies = nil },
		"Full":      full,
		"NoVersion": func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Policies = []v1alpha1.Policy{{Name: "anything"}} },
		"Undeployed": func(mg *v1alpha1.RestApi) {
			mg.Spec.ForProvider.Policies = nil
			mg.Spec.ForProvider.DeploymentState = ptr(v1alpha1.DeploymentStateUndeployed)
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks(change)
			b := newBench(t, mg)
			writes := b.elsewhere()
			e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
			_ = e.DeleteRestAPI(t.Context(), "books")
			*writes = 0
			t.Cleanup(func() { _ = b.Client.DeleteRestAPI(context.Background(), "books") })

			for range 3 {
				if _, err := b.pass(mg); err != nil {
					t.Fatal(err)
				}
			}
			after := *writes
			for range 3 {
				got, err := b.pass(mg)
				if err != nil {
					t.Fatal(err)
				}
				ready(t, got)
			}
			if *writes != after {
				t.Errorf("%d writes while idle: %v", *writes-after, b.why(mg))
			}
			want := 1
			if mg.Spec.ForProvider.DeploymentState != nil {
				// A create ignores the state.
				want = 2
			}
			if after != want {
				t.Errorf("%d writes, want %d", after, want)
			}
			b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "/other" })
			for range 2 {
				if _, err := b.pass(mg); err != nil {
					t.Fatal(err)
				}
			}
			if *writes != after+1 {
				t.Errorf("%d writes after an edit: %v", *writes-after, b.why(mg))
			}
			b.delete(mg)
			b.gone(mg)
			if _, err := b.Client.GetRestAPI(t.Context(), "books"); !gateway.IsNotFound(err) {
				t.Errorf("left behind: %v", err)
			}
		})
	}
}

// why an API is taken to differ.
func (b *bench) why(mg *v1alpha1.RestApi) []string {
	got := b.get(mg)
	e := b.external(managed.NewManagementPoliciesResolver(true, got.Spec.ManagementPolicies))
	_, _ = e.Observe(b.t.Context(), got)
	return e.found.differs
}
