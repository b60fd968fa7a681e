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

package gateway

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// contract: S29
// case: G6, G10
func TestFill(t *testing.T) {
	at := time.Date(2026, 4, 24, 7, 21, 13, 123456789, time.UTC)
	cases := map[string]struct {
		reason string
		body   string
		got    any
		want   any
	}{
		"Subscription": {
			reason: "Known fields are read, others and the token are dropped, unknown status values kept.",
			body: `{"id":"s","externalRefId":"s","apiId":"a","applicationId":"x","subscriptionPlanId":"p","billingCustomerId":"c","billingSubscriptionId":"b",
				"gatewayId":"g","status":"suspended","createdAt":"2026-04-24T07:21:13.123456789Z","updatedAt":"2026-04-24T12:51:13.123456789+05:30","subscriptionToken":"t","new":{"a":[1]}}`,
			got: &Subscription{},
			want: &Subscription{
				ID: "s", ExternalRefID: "s", APIID: "a", ApplicationID: "x", SubscriptionPlanID: "p", BillingCustomerID: "c", BillingSubscriptionID: "b",
				GatewayID: "g", Status: "suspended", CreatedAt: at, UpdatedAt: at,
			},
		},
		"NumericID": {
			reason: "A numeric ID becomes its text.",
			body:   `{"id":9007199254740993,"apiId":1e3,"applicationId":null,"status":true}`,
			got:    &Subscription{},
			want:   &Subscription{ID: "9007199254740993", APIID: "1e3", Status: "true"},
		},
		"OddTypes": {
			reason: "What cannot be converted is left unset and hides nothing else.",
			body:   `{"id":"s","apiId":["a"],"status":{"x":1},"createdAt":"yesterday","updatedAt":7}`,
			got:    &Subscription{},
			want:   &Subscription{ID: "s"},
		},
		"Plan": {
			reason: "Floating-point spellings are exact.",
			body:   `{"id":1,"planName":"Gold","throttleLimitCount":1e6,"stopOnQuotaReach":"false","expiryTime":"2026-04-24T12:51:13.123456789+0530"}`,
			got:    &SubscriptionPlan{},
			want:   &SubscriptionPlan{ID: "1", PlanName: "Gold", ThrottleLimitCount: ptr(int64(1000000)), StopOnQuotaReach: ptr(false), ExpiryTime: &at},
		},
		"BigCount": {
			reason: "Integers are exact up to 2^53 and beyond.",
			body:   `{"throttleLimitCount":9007199254740991.0,"expiryTime":null}`,
			got:    &SubscriptionPlan{},
			want:   &SubscriptionPlan{ThrottleLimitCount: ptr(int64(9007199254740991))},
		},
		"Fraction": {
			reason: "A fraction is no count, and a huge exponent costs nothing.",
			body:   `{"throttleLimitCount":1.5,"id":"x"}`,
			got:    &SubscriptionPlan{},
			want:   &SubscriptionPlan{ID: "x"},
		},
		"RestAPI": {
			reason: "Nested lists, null lists and free-form parameters are read.",
			body: `{"apiVersion":"gateway.api-platform.wso2.com/v1","kind":"RestApi","metadata":{"name":"h","labels":{"a":1},"annotations":null},
				"spec":{"displayName":"D","version":"v1.0","context":"/c","upstream":{"main":{"url":"http://b"},"sandbox":null},"vhosts":{"main":"*","sandbox":"sandbox-*"},
				"policies":null,"subscriptionPlans":["Gold",7],"upstreamDefinitions":[{"name":"u","upstreams":[{"url":"http://b","weight":80.0}]}],
				"operations":[{"method":"GET","path":"/x","policies":[{"name":"cors","version":"v1","params":{"b":1e3,"a":[null,"<"]}}]},
				{"match":{"method":"GET","path":{"value":"/y","type":"Exact"},"headers":[{"name":"n","value":"v"}]}}]},
				"status":{"id":"h","state":"deployed","createdAt":"2026-04-24T07:21:13.123456789Z"}}`,
			got: &RestAPI{},
			want: &RestAPI{
				APIVersion: "gateway.api-platform.wso2.com/v1", Kind: "RestApi",
				Metadata: Metadata{Name: "h", Labels: map[string]string{"a": "1"}},
				Spec: RestAPISpec{
					DisplayName: "D", Version: "v1.0", Context: "/c", Upstream: Upstreams{Main: Upstream{URL: "http://b"}},
					Vhosts: &Vhosts{Main: "*", Sandbox: "sandbox-*"}, SubscriptionPlans: []string{"Gold", "7"},
					UpstreamDefinitions: []UpstreamDefinition{{Name: "u", Upstreams: []UpstreamTarget{{URL: "http://b", Weight: ptr(int64(80))}}}},
					Operations: []Operation{
						{Method: "GET", Path: "/x", Policies: []Policy{{Name: "cors", Version: "v1", Params: Params(`{"a":[null,"\u003c"],"b":1e3}`)}}},
						{Match: &OperationMatch{Method: "GET", Path: PathMatch{Value: "/y", Type: "Exact"}, Headers: []HeaderMatch{{Name: "n", Value: "v"}}}},
					},
				},
				Status: &ResourceStatus{ID: "h", State: "deployed", CreatedAt: at},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := decodeObject([]byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			fill(tc.got, m)
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\nfill(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// contract: A4
// case: F5
func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 4, 24, 7, 0, 0, 0, time.UTC)
	type want struct {
		d  time.Duration
		ok bool
	}
	cases := map[string]struct {
		in   string
		want want
	}{
		"Seconds":       {"30", want{30 * time.Second, true}},
		"Spaces":        {" 30 ", want{30 * time.Second, true}},
		"Fraction":      {"0.5", want{500 * time.Millisecond, true}},
		"Zero":          {"0", want{0, true}},
		"Negative":      {"-5", want{0, true}},
		"Absurd":        {"1000000000", want{MaxRetryAfter, true}},
		"Exponent":      {"1e9", want{MaxRetryAfter, true}},
		"Overflow":      {"1e999", want{MaxRetryAfter, true}},
		"ManyDigits":    {"99999999999999999999999999", want{MaxRetryAfter, true}},
		"Date":          {now.Add(time.Minute).Format("Mon, 02 Jan 2006 15:04:05 GMT"), want{time.Minute, true}},
		"PastDate":      {now.Add(-time.Minute).Format("Mon, 02 Jan 2006 15:04:05 GMT"), want{0, true}},
		"FarDate":       {"Fri, 31 Dec 9999 23:59:59 GMT", want{MaxRetryAfter, true}},
		"Absent":        {"", want{}},
		"Words":         {"soon", want{}},
		"NaN":           {"nan", want{}},
		"Inf":           {"inf", want{}},
		"HalfNumber":    {"5x", want{}},
		"OnlySign":      {"-", want{}},
		"SignedNothing": {"-inf", want{0, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, ok := ParseRetryAfter(tc.in, now)
			if diff := cmp.Diff(tc.want, want{d, ok}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("ParseRetryAfter(%q): -want, +got:\n%s", tc.in, diff)
			}
		})
	}
}
