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
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const password = "p@ss\"word/1"

func endpointOf(t *testing.T, s *httptest.Server) Endpoint {
	t.Helper()
	e, err := ParseEndpoint(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// clientFor returns a client of a server that runs h.
func clientFor(t *testing.T, h http.HandlerFunc, change ...func(*Options)) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o := Options{
		Endpoint:   endpointOf(t, s),
		Transport:  s.Client().Transport,
		UserAgent:  "test/1",
		Secrets:    []Secret{password},
		Authorizer: AuthorizerFunc(func(r *http.Request) error { r.SetBasicAuth("admin", password); return nil }),
	}
	for _, f := range change {
		f(&o)
	}
	return New(o)
}

func answering(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

type sent struct {
	Method, Path, Query, ContentType, CorrelationID, UserAgent string
	Body                                                       any
}

// contract: S21, A7
// case: G7, F13
func TestRequests(t *testing.T) {
	at := time.Date(2026, 12, 31, 0, 0, 0, 0, time.FixedZone("", 19800))
	ctx := context.Background()
	cases := map[string]struct {
		reason string
		answer string
		call   func(*Client) error
		want   sent
	}{
		"CreateSubscription": {
			reason: "The token is in clear on the wire, and absent fields are not sent.",
			answer: `{"id":"x"}`,
			call: func(c *Client) error {
				_, err := c.CreateSubscription(ctx, SubscriptionCreate{ExternalRefID: "x", APIID: "orders", SubscriptionToken: "t<k"})
				return err
			},
			want: sent{Method: "POST", Path: "/api/management/v1/subscriptions", ContentType: "application/json", Body: map[string]any{
				"externalRefId": "x", "apiId": "orders", "subscriptionToken": "t<k",
			}},
		},
		"UpdateStatusOnly": {
			reason: "What is to be left alone is not sent.",
			answer: `{"id":"x"}`,
			call: func(c *Client) error {
				_, err := c.UpdateSubscription(ctx, "x", SubscriptionUpdate{Status: SubscriptionRevoked})
				return err
			},
			want: sent{
				Method: "PUT", Path: "/api/management/v1/subscriptions/x", ContentType: "application/json",
				Body: map[string]any{"status": "REVOKED"},
			},
		},
		"UpdateClearPlan": {
			reason: "No plan is an explicit null.",
			answer: `{"id":"x"}`,
			call: func(c *Client) error {
				_, err := c.UpdateSubscription(ctx, "x", SubscriptionUpdate{Plan: SetPlan(""), SubscriptionToken: "new"})
				return err
			},
			want: sent{
				Method: "PUT", Path: "/api/management/v1/subscriptions/x", ContentType: "application/json",
				Body: map[string]any{"subscriptionPlanId": nil, "subscriptionToken": "new"},
			},
		},
		"UpdateSetPlan": {
			reason: "A plan is sent by its ID.",
			answer: `{"id":"x"}`,
			call: func(c *Client) error {
				_, err := c.UpdateSubscription(ctx, "x", SubscriptionUpdate{Plan: SetPlan("p")})
				return err
			},
			want: sent{
				Method: "PUT", Path: "/api/management/v1/subscriptions/x", ContentType: "application/json",
				Body: map[string]any{"subscriptionPlanId": "p"},
			},
		},
		"ListSubscriptions": {
			reason: "Filters are escaped, and white space in them kept.",
			answer: `{"subscriptions":null,"count":0}`,
			call: func(c *Client) error {
				_, err := c.ListSubscriptions(ctx, SubscriptionFilter{APIID: " a&b", ApplicationID: "x y"})
				return err
			},
			want: sent{Method: "GET", Path: "/api/management/v1/subscriptions", Query: "apiId=+a%26b&applicationId=x+y"},
		},
		"CreatePlan": {
			reason: "Zero values that are meant are sent.",
			answer: `{"id":"p"}`,
			call: func(c *Client) error {
				_, err := c.CreateSubscriptionPlan(ctx, SubscriptionPlanWrite{
					PlanName: "Gold", BillingPlan: ptr(""), StopOnQuotaReach: ptr(false), ThrottleLimitCount: ptr(int64(1) << 53), ThrottleLimitUnit: "Min", ExpiryTime: &at,
				})
				return err
			},
			want: sent{Method: "POST", Path: "/api/management/v1/subscription-plans", ContentType: "application/json", Body: map[string]any{
				"planName": "Gold", "billingPlan": "", "stopOnQuotaReach": false, "throttleLimitCount": json.Number("9007199254740992"),
				"throttleLimitUnit": "Min", "expiryTime": "2026-12-31T00:00:00+05:30",
			}},
		},
		"DeleteEscapes": {
			reason: "An ID cannot leave its path segment.",
			call:   func(c *Client) error { return c.DeleteSubscriptionPlan(ctx, "id#x?y") },
			want:   sent{Method: "DELETE", Path: "/api/management/v1/subscription-plans/id%23x%3Fy"},
		},
		"UpdateRestAPI": {
			reason: "The document's handle is that of the path, and its parameters are sent as they are.",
			answer: `{"metadata":{"name":"h"}}`,
			call: func(c *Client) error {
				_, err := c.UpdateRestAPI(ctx, "h", RestAPIWrite{Labels: map[string]string{"a": "b"}, Spec: RestAPISpec{
					DisplayName: "D", Version: "v1.0", Context: "/c", Upstream: Upstreams{Main: Upstream{Ref: "u"}},
					Operations: []Operation{{Method: "GET", Path: "/", Policies: []Policy{{Name: "p", Version: "v1", Params: Params(`{"n":1e3}`)}, {Name: "q", Version: "v1"}}}},
				}})
				return err
			},
			want: sent{Method: "PUT", Path: "/api/management/v1/rest-apis/h", ContentType: "application/json", Body: map[string]any{
				"apiVersion": "gateway.api-platform.wso2.com/v1", "kind": "RestApi",
				"metadata": map[string]any{"name": "h", "labels": map[string]any{"a": "b"}},
				"spec": map[string]any{
					"displayName": "D", "version": "v1.0", "context": "/c", "upstream": map[string]any{"main": map[string]any{"ref": "u"}},
					"operations": []any{map[string]any{"method": "GET", "path": "/", "policies": []any{
						map[string]any{"name": "p", "version": "v1", "params": map[string]any{"n": json.Number("1e3")}},
						map[string]any{"name": "q", "version": "v1"},
					}}},
				},
			}},
		},
		"Probe": {
			reason: "The check of a connection is a read that lists nothing.",
			answer: `{"status":"success","count":0,"apis":[]}`,
			call:   func(c *Client) error { return c.Probe(ctx) },
			want:   sent{Method: "GET", Path: "/api/management/v1/rest-apis", Query: "displayName=~"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []sent
			c := clientFor(t, func(w http.ResponseWriter, r *http.Request) {
				s := sent{
					Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, ContentType: r.Header.Get("Content-Type"),
					CorrelationID: r.Header.Get("X-Correlation-Id"), UserAgent: r.UserAgent(),
				}
				dec := json.NewDecoder(r.Body)
				dec.UseNumber()
				_ = dec.Decode(&s.Body)
				got = append(got, s)
				_, _ = io.WriteString(w, tc.answer)
			})
			if err := tc.call(c); err != nil {
				t.Errorf("\n%s\ncall: %v", tc.reason, err)
			}
			tc.want.UserAgent = "test/1"
			if diff := cmp.Diff([]sent{tc.want}, got); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// judged is what callers distinguish.
type judged struct {
	Reason  Reason
	Subject Subject
	Applied bool
}

func judge(err error) judged {
	return judged{ReasonOf(err), SubjectOf(err), MayHaveBeenApplied(err)}
}

// contract: S11, S13, S14, S31, P4, P5
// case: D3
func TestAnswers(t *testing.T) {
	const own = `{"status":"error","message":%q}`
	envelope := func(m string) string { return fmt.Sprintf(own, m) }
	type args struct {
		call   func(context.Context, *Client) error
		status int
		ctype  string
		body   string
	}
	createSub := func(ctx context.Context, c *Client) error {
		_, err := c.CreateSubscription(ctx, SubscriptionCreate{APIID: "a", SubscriptionToken: "tok"})
		return err
	}
	updateSub := func(ctx context.Context, c *Client) error {
		_, err := c.UpdateSubscription(ctx, "x", SubscriptionUpdate{Status: "ACTIVE"})
		return err
	}
	getSub := func(ctx context.Context, c *Client) error { _, err := c.GetSubscription(ctx, "x"); return err }
	deleteSub := func(ctx context.Context, c *Client) error { return c.DeleteSubscription(ctx, "x") }
	listSub := func(ctx context.Context, c *Client) error {
		_, err := c.ListSubscriptions(ctx, SubscriptionFilter{APIID: "a"})
		return err
	}
	createPlan := func(ctx context.Context, c *Client) error {
		_, err := c.CreateSubscriptionPlan(ctx, SubscriptionPlanWrite{PlanName: "p"})
		return err
	}
	updatePlan := func(ctx context.Context, c *Client) error {
		_, err := c.UpdateSubscriptionPlan(ctx, "x", SubscriptionPlanWrite{PlanName: "p"})
		return err
	}
	deletePlan := func(ctx context.Context, c *Client) error { return c.DeleteSubscriptionPlan(ctx, "x") }
	createAPI := func(ctx context.Context, c *Client) error {
		_, err := c.CreateRestAPI(ctx, RestAPIWrite{Name: "h"})
		return err
	}
	getAPI := func(ctx context.Context, c *Client) error { _, err := c.GetRestAPI(ctx, "h"); return err }
	deleteAPI := func(ctx context.Context, c *Client) error { return c.DeleteRestAPI(ctx, "h") }

	const js, plain, html = "application/json", "text/plain", "text/html"
	ok := judged{Applied: true}
	cases := map[string]struct {
		reason string
		args   args
		want   judged
	}{
		"Created":            {"An answer with an ID is a success.", args{createSub, 201, js, `{"id":"other","subscriptionToken":"tok"}`}, ok},
		"CreatedEmpty":       {"A create without an answer is an error that leaves all open.", args{createSub, 201, js, ``}, judged{ReasonBadAnswer, "", true}},
		"CreatedNoID":        {"A create without an ID is an error.", args{createSub, 201, js, `{"status":"ACTIVE"}`}, judged{ReasonBadAnswer, "", true}},
		"CreatedHTML":        {"A login page is no success.", args{createSub, 200, html, `<html>`}, judged{ReasonBadAnswer, "", true}},
		"CreatedCut":         {"Half an object is no success.", args{createSub, 201, js, `{"id":"x"`}, judged{ReasonBadAnswer, "", true}},
		"CreatedTwo":         {"Two objects are none.", args{createSub, 201, js, `{"id":"x"}{"id":"y"}`}, judged{ReasonBadAnswer, "", true}},
		"CreateNoAPI":        {"404 on create is about the API.", args{createSub, 404, js, envelope("API not found")}, judged{ReasonMissingDependency, SubjectAPI, false}},
		"CreateUnknownRoute": {"404 of an unknown route is about the endpoint and proves nothing.", args{createSub, 404, plain, "404 page not found"}, judged{ReasonBadAnswer, "", true}},
		"CreatePlanMissing":  {"400 about the plan names the plan.", args{createSub, 400, js, envelope("Subscription plan not found or not enabled")}, judged{ReasonMissingDependency, SubjectPlan, false}},
		"CreatePlanDisabled": {"400 about the plan names the plan.", args{createSub, 400, js, envelope(`Subscription plan "Token Status" is not enabled for this API`)}, judged{ReasonMissingDependency, SubjectPlan, false}},
		"CreateBadToken":     {"400 about the token names the token.", args{createSub, 400, js, envelope("subscriptionToken is required")}, judged{ReasonInvalid, SubjectToken, false}},
		"CreateBadStatus":    {"400 about the status names the status.", args{updateSub, 400, js, envelope("invalid status: plan")}, judged{ReasonInvalid, SubjectStatus, false}},
		"CreateBadID":        {"400 about the ID names the ID.", args{createSub, 400, js, envelope("externalRefId must match ^[A-Za-z0-9]")}, judged{ReasonInvalid, SubjectID, false}},
		"CreateBadBody":      {"Any other 400 is invalid.", args{createSub, 400, js, envelope("Invalid request body")}, judged{ReasonInvalid, "", false}},
		"Create400Plain":     {"A 400 of something else proves nothing.", args{createSub, 400, plain, "bad request"}, judged{ReasonInvalid, "", true}},
		"Create400Auth":      {"Nor does the form of authentication failures.", args{createSub, 400, js, `{"code":"x","message":"y"}`}, judged{ReasonInvalid, "", true}},
		"CreateConflict":     {"409 may be the echo of an earlier try.", args{createSub, 409, js, envelope("Application already subscribed to this API")}, judged{ReasonConflict, "", true}},
		"Create408":          {"408 proves nothing.", args{createSub, 408, js, envelope("timeout")}, judged{ReasonUnanswered, "", true}},
		"Create429":          {"429 proves nothing.", args{createSub, 429, js, envelope("slow down")}, judged{ReasonRateLimited, "", true}},
		"Create500":          {"5xx proves nothing.", args{createSub, 500, js, envelope("Failed to create subscription")}, judged{ReasonUnavailable, "", true}},
		"Create502":          {"5xx of a proxy proves nothing.", args{createSub, 502, html, "<html>"}, judged{ReasonUnavailable, "", true}},
		"Create401":          {"The gateway's 401 proves that nothing was created.", args{createSub, 401, js, `{"code":"authentication_failed","message":"authentication failed"}`}, judged{ReasonUnauthorized, "", false}},
		"Create403":          {"The gateway's 403 proves it too.", args{createSub, 403, js, `{"code":"forbidden","message":"forbidden"}`}, judged{ReasonForbidden, "", false}},
		"Create403Proxy":     {"A proxy's 403 does not.", args{createSub, 403, html, "<html>"}, judged{ReasonForbidden, "", true}},
		"Create405":          {"405 to a write is a read-only gateway.", args{createSub, 405, js, envelope("Gateway is in immutable mode.")}, judged{ReasonReadOnly, "", false}},
		"Read405":            {"405 to a read is not the gateway.", args{getSub, 405, plain, "Method Not Allowed"}, judged{ReasonBadAnswer, "", false}},
		"Get":                {"The object asked for is a success.", args{getSub, 200, js, `{"id":"x"}`}, ok},
		"GetOther":           {"Another object is an error, in letter case too.", args{getSub, 200, js, `{"id":"X"}`}, judged{ReasonBadAnswer, "", false}},
		"GetNotFound":        {"The gateway's own 404 is absence.", args{getSub, 404, js, envelope("Subscription not found")}, judged{ReasonNotFound, "", false}},
		"GetUnknownRoute":    {"A plain 404 is not.", args{getSub, 404, plain, "404 page not found"}, judged{ReasonBadAnswer, "", false}},
		"GetProxy404":        {"Nor is the 404 of a proxy in JSON.", args{getSub, 404, js, `{"message":"no route","code":"x"}`}, judged{ReasonBadAnswer, "", false}},
		"GetHTML404":         {"Nor is the 404 of a proxy in HTML.", args{getSub, 404, html, "<html>"}, judged{ReasonBadAnswer, "", false}},
		"Get204":             {"A get without content is an error.", args{getSub, 204, "", ""}, judged{ReasonBadAnswer, "", false}},
		"UpdateOther":        {"An update of another object is an error that leaves all open.", args{updateSub, 200, js, `{"id":"y"}`}, judged{ReasonBadAnswer, "", true}},
		"UpdateNotFound":     {"404 on update is absence.", args{updateSub, 404, js, envelope("Subscription not found")}, judged{ReasonNotFound, "", false}},
		"UpdatePlanGone":     {"400 on update about the plan.", args{updateSub, 400, js, envelope("plan not found")}, judged{ReasonMissingDependency, SubjectPlan, false}},
		"Delete200":          {"200 is a success.", args{deleteAPI, 200, js, `{"status":"success","id":"h"}`}, ok},
		"DeleteOther":        {"An answer about another object is an error.", args{deleteAPI, 200, js, `{"status":"success","id":"H"}`}, judged{ReasonBadAnswer, "", true}},
		"Delete200Empty":     {"So it is without content.", args{deleteSub, 200, js, ""}, ok},
		"Delete202":          {"202 is a success.", args{deleteSub, 202, js, ""}, ok},
		"Delete204":          {"204 is a success.", args{deleteSub, 204, "", ""}, ok},
		"DeleteHTML":         {"A login page deletes nothing.", args{deleteSub, 200, html, "<html>"}, judged{ReasonBadAnswer, "", true}},
		"DeleteNotFound":     {"404 is for the caller to judge.", args{deleteSub, 404, js, envelope("Subscription not found")}, judged{ReasonNotFound, "", false}},
		"List":               {"A null list is empty.", args{listSub, 200, js, `{"subscriptions":null}`}, ok},
		"ListWithout":        {"An answer without a list proves no absence.", args{listSub, 200, js, `{"status":"ok"}`}, judged{ReasonBadAnswer, "", false}},
		"ListTruncated":      {"Nor does a truncated one.", args{listSub, 200, js, `{"subscriptions":[{"id":"a"}],"count":2}`}, judged{ReasonBadAnswer, "", false}},
		"ListOfStrings":      {"Nor does one that holds no objects.", args{listSub, 200, js, `{"subscriptions":["a"]}`}, judged{ReasonBadAnswer, "", false}},
		"ListArray":          {"Nor does a bare array.", args{listSub, 200, js, `[]`}, judged{ReasonBadAnswer, "", false}},
		"ListNoAPI":          {"404 on a list is about the API.", args{listSub, 404, js, envelope("not found")}, judged{ReasonMissingDependency, SubjectAPI, false}},
		"PlanConflict":       {"The name is taken.", args{createPlan, 409, js, envelope("Subscription plan already exists")}, judged{ReasonConflict, SubjectName, true}},
		"PlanRename500":      {"A rename that clashes answers 500.", args{updatePlan, 500, js, envelope("Failed to update subscription plan")}, judged{ReasonConflict, SubjectName, true}},
		"PlanRename409":      {"Or 409.", args{updatePlan, 409, js, envelope("taken")}, judged{ReasonConflict, SubjectName, true}},
		"PlanUpdate500":      {"Another 500 is no clash.", args{updatePlan, 500, js, envelope("Failed to get subscription plan")}, judged{ReasonUnavailable, "", true}},
		"PlanInUse500":       {"A plan in use answers 500.", args{deletePlan, 500, js, envelope("Failed to delete subscription plan")}, judged{ReasonInUse, "", true}},
		"PlanInUse409":       {"Or 409.", args{deletePlan, 409, js, envelope("in use")}, judged{ReasonInUse, "", true}},
		"PlanDelete500Plain": {"A proxy's 500 is no use.", args{deletePlan, 500, plain, "Failed to delete subscription plan"}, judged{ReasonUnavailable, "", true}},
		"APIHandleTaken":     {"The handle is taken.", args{createAPI, 409, js, envelope("configuration with handle 'h' already exists (UUID: 7)")}, judged{ReasonConflict, SubjectID, true}},
		"APINameTaken":       {"Name and version are taken.", args{createAPI, 409, js, envelope("configuration with displayName 'd' and version 'v' already exists")}, judged{ReasonConflict, SubjectName, true}},
		"APISecretMissing":   {"An unresolved secret is a missing dependency.", args{createAPI, 400, js, envelope(`failed to resolve secret "x"`)}, judged{ReasonMissingDependency, SubjectSecret, false}},
		"APIOther":           {"A create that answers with another handle is an error.", args{createAPI, 201, js, `{"metadata":{"name":"g"}}`}, judged{ReasonBadAnswer, "", true}},
		"APIGet":             {"An API is known by its handle.", args{getAPI, 200, js, `{"metadata":{"name":"h"},"status":{"id":"h"}}`}, ok},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := clientFor(t, answering(tc.args.status, tc.args.ctype, tc.args.body))
			err := tc.args.call(context.Background(), c)
			if diff := cmp.Diff(tc.want, judge(err)); diff != "" {
				t.Errorf("\n%s\n%v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// contract: A1, A2
// case: A15, A14
func TestErrorText(t *testing.T) {
	value := "t<k \"0\n1"
	sum := sha256.Sum256([]byte(value))
	quoted, _ := json.Marshal(value)
	basic := base64.StdEncoding.EncodeToString([]byte("admin:" + password))
	echo := strings.Join([]string{
		value, string(quoted), url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value)),
		hex.EncodeToString(sum[:]), strings.ToUpper(hex.EncodeToString(sum[:])), password, url.QueryEscape(password), basic, fmt.Sprintf("%q", value),
	}, " | ")
	body, _ := json.Marshal(map[string]any{
		"status": "error", "message": "bad: " + echo + "\n\tat 2026-04-24T07:21:13.5Z from 127.0.0.1:53124->10.0.0.1:80 (correlation_id: 1f3a-22) (UUID: abc)",
		"errors": []any{map[string]any{"field": "subscriptionToken", "message": echo}},
	})
	c := clientFor(t, answering(400, "application/json", string(body)))
	_, err := c.CreateSubscription(context.Background(), SubscriptionCreate{ExternalRefID: "x", APIID: "a", SubscriptionToken: Secret(value)})
	r := "[redacted]"
	all := strings.Join([]string{r, `"` + r + `"`, r, r, r, r, r, r, r, r, `"` + r + `"`}, " | ")
	want := `cannot create Subscription "x" at ` + c.Endpoint().String() + `: the gateway answered 400 Bad Request: bad: ` + all +
		` at from 10.0.0.1:80; subscriptionToken: ` + all
	if err == nil {
		t.Fatal("want an error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Error(): -want, +got:\n%s", diff)
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	long, _ := json.Marshal(map[string]any{"status": "error", "message": strings.Repeat("ä", 5000)})
	c := clientFor(t, answering(400, "application/json", string(long)))
	e := AsError(c.DeleteSubscription(context.Background(), "x"))
	if e == nil || len([]rune(e.Message)) != maxMessage {
		t.Errorf("want a message of %d characters, got %v", maxMessage, e)
	}
}

func TestShortSecret(t *testing.T) {
	got := newRedactor("a").clean("a bad token: a, 'a' and another", nil)
	if diff := cmp.Diff("[redacted] bad token: [redacted], '[redacted]' and another", got); diff != "" {
		t.Errorf("clean(...): -want, +got:\n%s", diff)
	}
}

// contract: A2
func TestSecretPrints(t *testing.T) {
	s := Secret("hunter2")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "c", SubscriptionCreate{SubscriptionToken: s})
	raw, err := json.Marshal(struct{ S Secret }{s})
	if err != nil {
		t.Fatal(err)
	}
	create := SubscriptionCreate{SubscriptionToken: s}
	for _, got := range []string{
		log.String(), string(raw), s.String(), s.GoString(), fmt.Sprint(s), fmt.Sprintf("%q %x %d %+v %#v", s, s, s, create, create),
	} {
		if strings.Contains(got, "hunter2") || strings.Contains(got, hex.EncodeToString([]byte("hunter2"))) {
			t.Errorf("a secret shows: %s", got)
		}
	}
}

// contract: A7, S31
func TestRedirect(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(other.Close)
	host := strings.TrimPrefix(other.URL, "http://")
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := clientFor(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://user:secret@"+host+"/login?token=1")
			w.WriteHeader(status)
		})
		err := c.DeleteSubscription(context.Background(), "x")
		want := fmt.Sprintf(`cannot delete Subscription "x" at %s: the gateway answered %d, a redirect to %s; redirects are not followed, so the endpoint must name the gateway itself`,
			c.Endpoint(), status, host)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		if ReasonOf(err) != ReasonBadAnswer || !MayHaveBeenApplied(err) {
			t.Errorf("%d: got %+v", status, judge(err))
		}
	}
	if reached.Load() {
		t.Error("a redirect was followed")
	}
}

// contract: A4
func TestRetryAfterInError(t *testing.T) {
	for status, want := range map[int]time.Duration{429: 30 * time.Second, 503: 30 * time.Second, 500: 0} {
		c := clientFor(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(status)
		})
		if got := RetryAfterOf(c.Probe(context.Background())); got != want {
			t.Errorf("%d: want %v, got %v", status, want, got)
		}
	}
}

// contract: A7
func TestMaxBody(t *testing.T) {
	c := clientFor(t, answering(200, "application/json", `{"apis":[],"x":"`+strings.Repeat("x", 100)+`"}`), func(o *Options) { o.MaxBody = 50 })
	if _, err := c.ListRestAPIs(context.Background()); ReasonOf(err) != ReasonBadAnswer {
		t.Errorf("want %s, got %v", ReasonBadAnswer, err)
	}
}

// contract: A7
func TestConnectionsAreReused(t *testing.T) {
	var connections atomic.Int64
	s := httptest.NewUnstartedServer(answering(404, "application/json", `{"status":"error","message":"no"}`+strings.Repeat(" ", 100<<10)))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := New(Options{Endpoint: endpointOf(t, s), Transport: s.Client().Transport, MaxBody: 1 << 10})
	for range 10 {
		_ = c.DeleteSubscription(context.Background(), "x")
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("want one connection, got %d", n)
	}
}

// contract: S5
// case: F10
func TestUnsafeIDMakesNoCall(t *testing.T) {
	var calls atomic.Int64
	c := clientFor(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	ctx := context.Background()
	for _, id := range []string{"", " ", ".", "..", "a/b", "%2F", "%2e%2e"} {
		_, get := c.GetSubscription(ctx, id)
		_, update := c.UpdateSubscription(ctx, id, SubscriptionUpdate{})
		_, create := c.CreateRestAPI(ctx, RestAPIWrite{Name: id})
		for _, err := range []error{get, update, create, c.DeleteSubscription(ctx, id)} {
			if diff := cmp.Diff(judged{ReasonUnsafeID, SubjectID, false}, judge(err)); diff != "" {
				t.Errorf("%q: %v: -want, +got:\n%s", id, err, diff)
			}
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("want no call, got %d", n)
	}
}

// contract: S31, A1
func TestNoAnswer(t *testing.T) {
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-hang:
		}
	}))
	t.Cleanup(func() { close(hang); slow.Close() })
	cutting := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cutting.Close)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(half.Close)
	secure := httptest.NewTLSServer(answering(200, "application/json", "{}"))
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(nil)
	gone.Close()

	cases := map[string]struct {
		reason string
		url    string
		why    string
		want   judged
	}{
		"Refused":  {"No connection proves that nothing was sent.", gone.URL, "connection refused", judged{ReasonUnanswered, "", false}},
		"Timeout":  {"No answer in time leaves all open.", slow.URL, "no answer within 150ms", judged{ReasonUnanswered, "", true}},
		"Cut":      {"A cut connection leaves all open.", cutting.URL, "connection closed before an answer", judged{ReasonUnanswered, "", true}},
		"Half":     {"Half an answer leaves all open.", half.URL, "connection closed before an answer", judged{ReasonUnanswered, "", true}},
		"Unknown":  {"An unknown authority gets nothing.", secure.URL, "TLS: certificate signed by unknown authority", judged{ReasonUnanswered, "", false}},
		"PlainTLS": {"HTTPS to a plain server sends nothing.", strings.Replace(cutting.URL, "http:", "https:", 1), "TLS: the server answers in plain HTTP", judged{ReasonUnanswered, "", false}},
		"NoHost":   {"An unknown host gets nothing.", "http://nosuchhost.invalid", "", judged{ReasonUnanswered, "", false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := ParseEndpoint(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{}
			t.Cleanup(transport.CloseIdleConnections)
			if name == "NoHost" {
				// Not every machine's resolver answers at once.
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}
				}
				tc.why = "no such host"
			}
			timeout := DefaultTimeout
			if name == "Timeout" {
				timeout = 150 * time.Millisecond
			}
			c := New(Options{Endpoint: e, Transport: transport, Timeout: timeout})
			_, got := c.CreateSubscription(context.Background(), SubscriptionCreate{ExternalRefID: "x", APIID: "a", SubscriptionToken: "t"})
			if diff := cmp.Diff(tc.want, judge(got)); diff != "" {
				t.Errorf("\n%s\n%v: -want, +got:\n%s", tc.reason, got, diff)
			}
			if diff := cmp.Diff(`cannot create Subscription "x" at `+e.String()+": "+tc.why, fmt.Sprint(got)); diff != "" {
				t.Errorf("\n%s\n%v: -want, +got:\n%s", tc.reason, errors.Unwrap(got), diff)
			}
		})
	}
}

func TestCallersCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := clientFor(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	_, err := c.GetSubscription(ctx, "x")
	if !errors.Is(err, context.Canceled) || ReasonOf(err) != ReasonUnanswered {
		t.Errorf("want a cancelled call, got %v", err)
	}
}

func TestAuthorizer(t *testing.T) {
	var calls atomic.Int64
	c := clientFor(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) }, func(o *Options) {
		o.Authorizer = AuthorizerFunc(func(*http.Request) error { return errors.New("the token endpoint answered 401") })
	})
	_, err := c.CreateSubscriptionPlan(context.Background(), SubscriptionPlanWrite{PlanName: "p"})
	if diff := cmp.Diff(judged{ReasonUnauthorized, "", false}, judge(err)); diff != "" {
		t.Errorf("%v: -want, +got:\n%s", err, diff)
	}
	if calls.Load() != 0 {
		t.Error("a call was made without credentials")
	}
}

type recordingGate struct {
	refuse error
	calls  []Call
	left   []Outcome
}

func (g *recordingGate) Enter(_ context.Context, c Call) (func(Outcome), error) {
	if g.refuse != nil {
		return nil, g.refuse
	}
	g.calls = append(g.calls, c)
	return func(o Outcome) { g.left = append(g.left, o) }, nil
}

func TestGate(t *testing.T) {
	gate := &recordingGate{}
	status := 200
	c := clientFor(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"subscriptions":[{"id":"a"},{"id":"b","gatewayId":"g"}],"id":"x","gatewayId":"h"}`)
	}, func(o *Options) { o.Gate = gate })
	ctx := context.Background()
	if _, err := c.ListSubscriptions(ctx, SubscriptionFilter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetSubscription(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	_, mismatch := c.GetSubscription(ctx, "y")
	status = 500
	failed := c.DeleteSubscription(ctx, "x")
	want := []Outcome{{GatewayID: "g"}, {GatewayID: "h"}, {Err: mismatch}, {Err: failed}}
	if diff := cmp.Diff(want, gate.left, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("outcomes: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Call{{KindSubscription, VerbList, ""}, {KindSubscription, VerbGet, "x"}, {KindSubscription, VerbGet, "y"}, {KindSubscription, VerbDelete, "x"}}, gate.calls); diff != "" {
		t.Errorf("calls: -want, +got:\n%s", diff)
	}
	gate.refuse = &Error{Reason: ReasonHeldOff, Message: "held off: connection refused", RetryAfter: time.Second}
	err := c.DeleteSubscriptionPlan(ctx, "z")
	if diff := cmp.Diff(judged{ReasonHeldOff, "", false}, judge(err)); diff != "" {
		t.Errorf("held off: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(`cannot delete SubscriptionPlan "z" at `+c.Endpoint().String()+": held off: connection refused", err.Error()); diff != "" {
		t.Errorf("held off: -want, +got:\n%s", diff)
	}
}
