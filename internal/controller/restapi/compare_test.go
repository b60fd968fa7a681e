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
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

var (
	made    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	written = made.Add(time.Minute)
)

func books() gateway.RestAPIWrite {
	return gateway.RestAPIWrite{
		Name:        "books",
		Labels:      map[string]string{"team": "a"},
		Annotations: map[string]string{v1alpha1.AnnotationOwner: "c/ns/books"},
		Spec: gateway.RestAPISpec{
			DisplayName: "Books",
			Version:     "v1.0",
			Context:     "/books/$version",
			Upstream:    gateway.Upstreams{Main: gateway.Upstream{URL: "http://books:80"}},
			Policies: []gateway.Policy{
				{Name: "a", Version: "v1", Params: gateway.Params(`{"limit":{"count":1000},"list":["x","y"]}`)},
				{Name: "b"},
			},
			Operations:        []gateway.Operation{{Method: "GET", Path: "/a"}, {Method: "GET", Path: "/b"}},
			SubscriptionPlans: []string{"Gold", "Silver"},
		},
	}
}

// stored is what a gateway answers for a write.
func stored(w gateway.RestAPIWrite) *gateway.RestAPI {
	state := gateway.StateDeployed
	if w.Spec.DeploymentState != "" {
		state = w.Spec.DeploymentState
	}
	return &gateway.RestAPI{
		Metadata: gateway.Metadata{Name: w.Name, Labels: w.Labels, Annotations: w.Annotations},
		Spec:     w.Spec,
		Status:   &gateway.ResourceStatus{ID: w.Name, State: state, CreatedAt: made, UpdatedAt: written},
	}
}

// contract: R4
func TestDifferences(t *testing.T) {
	type args struct {
		want func(*gateway.RestAPIWrite)
		got  func(*gateway.RestAPI)
		how  reading
	}
	cases := map[string]struct {
		reason string
		args   args
		want   []string
	}{
		"Same": {reason: "What was written reads back as no difference."},
		"DefaultVhostsAfterCreate": {
			reason: "A create without virtual hosts is given default ones.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Status.UpdatedAt = made
				g.Spec.Vhosts = &gateway.Vhosts{Main: "*", Sandbox: "sandbox-*"}
			}},
		},
		"DefaultVhostsAfterUpdate": {
			reason: "An update without virtual hosts stores none, so somebody put them there.",
			args:   args{got: func(g *gateway.RestAPI) { g.Spec.Vhosts = &gateway.Vhosts{Main: "*", Sandbox: "sandbox-*"} }},
			want:   []string{"spec.vhosts"},
		},
		"OtherVhostsAfterCreate": {
			reason: "Other hosts than the default ones are a difference.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Status.UpdatedAt = made
				g.Spec.Vhosts = &gateway.Vhosts{Main: "evil.example.org"}
			}},
			want: []string{"spec.vhosts"},
		},
		"VhostsAskedFor": {
			reason: "Virtual hosts that were asked for are compared.",
			args: args{
				want: func(w *gateway.RestAPIWrite) { w.Spec.Vhosts = &gateway.Vhosts{Main: "a.example.org"} },
				got: func(g *gateway.RestAPI) {
					g.Status.UpdatedAt = made
					g.Spec.Vhosts = &gateway.Vhosts{Main: "*", Sandbox: "sandbox-*"}
				},
			},
			want: []string{"spec.vhosts.main", "spec.vhosts.sandbox"},
		},
		"Numbers": {
			reason: "The gateway rewrites numbers and sorts keys.",
			args: args{
				want: func(w *gateway.RestAPIWrite) {
					w.Spec.Policies[0].Params = gateway.Params(`{"b":2.0,"a":1e3,"c":9007199254740993,"d":{"z":0.1,"y":-0}}`)
				},
				got: func(g *gateway.RestAPI) {
					g.Spec.Policies[0].Params = gateway.Params(`{"a":1000,"b":2,"c":9007199254740992,"d":{"y":0,"z":1e-1}}`)
				},
			},
		},
		"OtherNumber": {
			reason: "Another number is a difference, and its value is not shown.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Spec.Policies[0].Params = gateway.Params(`{"limit":{"count":1001},"list":["x","y"]}`)
			}},
			want: []string{"spec.policies[0].params.limit.count"},
		},
		"NumberIsNoText": {
			reason: "A number is not the text of that number.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Spec.Policies[0].Params = gateway.Params(`{"limit":{"count":"1000"},"list":["x","y"]}`)
			}},
			want: []string{"spec.policies[0].params.limit.count"},
		},
		"ListOrderInParams": {
			reason: "The order of a list in params matters.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Spec.Policies[0].Params = gateway.Params(`{"limit":{"count":1000},"list":["y","x"]}`)
			}},
			want: []string{"spec.policies[0].params.list[0]", "spec.policies[0].params.list[1]"},
		},
		"EmptyIsAbsent": {
			reason: "Empty lists, maps and texts mean the same as none.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Spec.Policies[1].Params = gateway.Params(`{}`)
				g.Spec.Resilience = &gateway.Resilience{}
				g.Spec.UpstreamDefinitions = []gateway.UpstreamDefinition{}
				g.Spec.Operations[0].Policies = []gateway.Policy{}
			}},
		},
		"EmptyInParamsIsNot": {
			reason: "Only a policy knows what an empty list in its params means.",
			args: args{
				want: func(w *gateway.RestAPIWrite) { w.Spec.Policies[1].Params = gateway.Params(`{"origins":[]}`) },
			},
			want: nil,
		},
		"EmptyInParamsMissing": {
			reason: "An empty list in params that is gone is a difference.",
			args: args{
				want: func(w *gateway.RestAPIWrite) {
					w.Spec.Policies[1].Params = gateway.Params(`{"origins":[],"x":1,"n":null}`)
				},
				got: func(g *gateway.RestAPI) { g.Spec.Policies[1].Params = gateway.Params(`{"x":1}`) },
			},
			want: []string{"spec.policies[1].params.origins"},
		},
		"WrittenDefaults": {
			reason: "A default that is written out is no difference.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Spec.DeploymentState = "deployed"
				g.Spec.Upstream.Main.HostRewrite = "auto"
			}},
		},
		"OperationsOrder": {
			reason: "The order of operations matters.",
			args:   args{got: func(g *gateway.RestAPI) { slices.Reverse(g.Spec.Operations) }},
			want:   []string{"spec.operations[0].path", "spec.operations[1].path"},
		},
		"PoliciesOrder": {
			reason: "The order of policies matters.",
			args:   args{got: func(g *gateway.RestAPI) { slices.Reverse(g.Spec.Policies) }},
			want: []string{
				"spec.policies[0].name", "spec.policies[0].params", "spec.policies[0].version",
				"spec.policies[1].name", "spec.policies[1].params",
			},
		},
		"PlansOrder": {
			reason: "The order of plans does not matter.",
			args:   args{got: func(g *gateway.RestAPI) { slices.Reverse(g.Spec.SubscriptionPlans) }},
		},
		"PlanMissing": {
			reason: "A plan that is gone is a difference.",
			args:   args{got: func(g *gateway.RestAPI) { g.Spec.SubscriptionPlans = []string{"Gold"} }},
			want:   []string{"spec.subscriptionPlans"},
		},
		"ListResolvesVersion": {
			reason: "A list answers a resolved context.",
			args:   args{how: fromList, got: func(g *gateway.RestAPI) { g.Spec.Context = "/books/v1.0" }},
		},
		"GetDoesNot": {
			reason: "A get answers the context as it was written.",
			args:   args{got: func(g *gateway.RestAPI) { g.Spec.Context = "/books/v1.0" }},
			want:   []string{"spec.context"},
		},
		"Templates": {
			reason: "Template expressions are compared unevaluated.",
			args: args{want: func(w *gateway.RestAPIWrite) {
				w.Spec.Upstream.Main.URL = `{{ secret "url" }}`
				w.Spec.Policies[0].Params = gateway.Params(`{"key":"{{ env \"X\" | upper }} <&>"}`)
			}},
		},
		"Labels": {
			reason: "A label that somebody added is a difference.",
			args:   args{got: func(g *gateway.RestAPI) { g.Metadata.Labels = map[string]string{"team": "a", "x.y/z": "1"} }},
			want:   []string{`metadata.labels["x.y/z"]`},
		},
		"MarkGone": {
			reason: "A mark that is gone is a difference.",
			args:   args{got: func(g *gateway.RestAPI) { g.Metadata.Annotations = nil }},
			want:   []string{`metadata.annotations["apiplatform.crossplane.io/owner"]`},
		},
		"ArtifactID": {
			reason: "The artifact ID, which no spec can express, is kept.",
			args: args{got: func(g *gateway.RestAPI) {
				g.Metadata.Annotations = map[string]string{v1alpha1.AnnotationOwner: "c/ns/books", annotationArtifactID: "u"}
			}},
		},
		"StateBesideSpec": {
			reason: "A create ignores the state in its spec, so the state is checked by itself.",
			args: args{
				want: func(w *gateway.RestAPIWrite) { w.Spec.DeploymentState = gateway.StateUndeployed },
				got:  func(g *gateway.RestAPI) { g.Status.State = gateway.StateDeployed },
			},
			want: []string{"spec.deploymentState"},
		},
		"UnknownState": {
			reason: "A state this build does not know is no reason to write.",
			args:   args{got: func(g *gateway.RestAPI) { g.Status.State = "deploying" }},
		},
		"NoStatus": {
			reason: "An answer without status is no reason to write.",
			args:   args{got: func(g *gateway.RestAPI) { g.Status = nil }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := books()
			if tc.args.want != nil {
				tc.args.want(&w)
			}
			g := stored(clone(t, w))
			if tc.args.got != nil {
				tc.args.got(g)
			}
			got, err := differences(w, g, tc.args.how)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("nil", func(s []string) []string {
				if len(s) == 0 {
					return nil
				}
				return s
			})); diff != "" {
				t.Errorf("\n%s\ndifferences(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func clone(t interface{ Fatal(...any) }, w gateway.RestAPIWrite) gateway.RestAPIWrite {
	raw, err := json.Marshal(w.Spec)
	if err != nil {
		t.Fatal(err)
	}
	out := gateway.RestAPIWrite{Name: w.Name, Labels: w.Labels, Annotations: w.Annotations}
	if err := json.Unmarshal(raw, &out.Spec); err != nil {
		t.Fatal(err)
	}
	return out
}

// anyJSON generates JSON values.
func anyJSON(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(i int64) any { return json.Number(strconv.FormatInt(i, 10)) }),
		rapid.Map(rapid.Float64Range(-1e15, 1e15), func(f float64) any { return json.Number(strconv.FormatFloat(f, 'e', -1, 64)) }),
		rapid.Just[any](nil),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.Map(rapid.SliceOfN(anyJSON(depth-1), 0, 3), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), anyJSON(depth-1), 0, 3), func(m map[string]any) any { return m }),
	)...)
}

// anySpec generates specs of APIs.
func anySpec() *rapid.Generator[gateway.RestAPISpec] {
	return rapid.Custom(func(t *rapid.T) gateway.RestAPISpec {
		text := rapid.StringMatching(`[a-z{} "<&$]{0,8}`)
		policy := rapid.Custom(func(t *rapid.T) gateway.Policy {
			p := gateway.Policy{Name: text.Draw(t, "name"), Version: text.Draw(t, "version"), ExecutionCondition: text.Draw(t, "condition")}
			if rapid.Bool().Draw(t, "params") {
				raw, err := json.Marshal(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), anyJSON(2), 0, 3).Draw(t, "json"))
				if err != nil {
					t.Fatal(err)
				}
				p.Params = raw
			}
			return p
		})
		operation := rapid.Custom(func(t *rapid.T) gateway.Operation {
			o := gateway.Operation{Method: text.Draw(t, "method"), Path: text.Draw(t, "path"), Policies: rapid.SliceOfN(policy, 0, 2).Draw(t, "policies")}
			if rapid.Bool().Draw(t, "match") {
				o.Match = &gateway.OperationMatch{Method: "GET", Path: gateway.PathMatch{
					Value: text.Draw(t, "value"), Type: rapid.SampledFrom([]string{"", "Exact", "PathPrefix"}).Draw(t, "type"),
				}}
			}
			if rapid.Bool().Draw(t, "resilience") {
				o.Resilience = &gateway.Resilience{Timeout: text.Draw(t, "timeout")}
			}
			return o
		})
		s := gateway.RestAPISpec{
			DisplayName:       text.Draw(t, "displayName"),
			Version:           text.Draw(t, "version"),
			Context:           text.Draw(t, "context"),
			Upstream:          gateway.Upstreams{Main: gateway.Upstream{URL: text.Draw(t, "url"), HostRewrite: rapid.SampledFrom([]string{"", "auto", "manual"}).Draw(t, "rewrite")}},
			SubscriptionPlans: rapid.SliceOfN(text, 0, 3).Draw(t, "plans"),
			Policies:          rapid.SliceOfN(policy, 0, 3).Draw(t, "policies"),
			Operations:        rapid.SliceOfN(operation, 1, 3).Draw(t, "operations"),
			DeploymentState:   rapid.SampledFrom([]string{"", "deployed", "undeployed"}).Draw(t, "state"),
		}
		if rapid.Bool().Draw(t, "vhosts") {
			s.Vhosts = &gateway.Vhosts{Main: text.Draw(t, "main"), Sandbox: text.Draw(t, "sandbox")}
		}
		return s
	})
}

// throughGateway is what a gateway makes of a write: numbers become float64, keys
// are sorted, and a create fills in virtual hosts.
func throughGateway(t interface{ Fatal(...any) }, w gateway.RestAPIWrite, created bool) *gateway.RestAPI {
	raw, err := json.Marshal(w.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var generic any
	if err := json.Unmarshal(raw, &generic); err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(generic); err != nil {
		t.Fatal(err)
	}
	g := stored(w)
	g.Spec = gateway.RestAPISpec{}
	if err := json.Unmarshal(raw, &g.Spec); err != nil {
		t.Fatal(err)
	}
	if created {
		g.Status.UpdatedAt = g.Status.CreatedAt
		if g.Spec.Vhosts == nil {
			g.Spec.Vhosts = &gateway.Vhosts{Main: "*", Sandbox: "sandbox-*"}
		}
	}
	return g
}

// What is written reads back as no difference: else the provider would write for
// ever.
//
// contract: R4
func TestWhatIsWrittenReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := books()
		w.Spec = anySpec().Draw(t, "spec")
		g := throughGateway(t, w, rapid.Bool().Draw(t, "created"))
		got, err := differences(w, g, fromGet)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 {
			t.Fatalf("differences(...): %v", got)
		}
	})
}

func TestTreeIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := tree(anySpec().Draw(t, "spec"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once, prune("", once)); diff != "" {
			t.Fatalf("-once, +twice:\n%s", diff)
		}
	})
}

// A change of one leaf is never overlooked.
func TestAnyChangeIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := books()
		w.Spec = anySpec().Draw(t, "spec")
		g := throughGateway(t, w, false)
		i := rapid.IntRange(0, len(g.Spec.Operations)-1).Draw(t, "operation")
		g.Spec.Operations[i].Path += "x"
		got, err := differences(w, g, fromGet)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{fmt.Sprintf("spec.operations[%d].path", i)}; !cmp.Equal(want, got) {
			t.Fatalf("differences(...): %v, want %v", got, want)
		}
	})
}

func TestDifferencesAreBounded(t *testing.T) {
	w := books()
	for i := range 100 {
		w.Spec.Operations = append(w.Spec.Operations, gateway.Operation{Method: "GET", Path: "/" + strconv.Itoa(i)})
	}
	g := stored(clone(t, w))
	for i := range g.Spec.Operations {
		g.Spec.Operations[i].Path += "x"
	}
	got, err := differences(w, g, fromGet)
	if err != nil || len(got) != maxDifferences {
		t.Errorf("differences(...): %v, %v", got, err)
	}
}
