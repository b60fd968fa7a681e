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
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzDecode reads any JSON into every kind, and reads the most complex one again
// after writing it.
//
// contract: S29
// case: G6, G10
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"id":1}`, `{"spec":{"operations":[{}]}}`, `{"throttleLimitCount":1e999999999}`, `{"metadata":[]}`, `null`, `{}{}`,
		`{"id":"a","id":{"b":1},"createdAt":"2026-04-24 07:21:13.5 +0530 IST","expiryTime":"9999-12-31T23:59:60Z"}`,
		`{"spec":{"policies":[{"params":{"a":[null,-0,1e400,"\ud800"]}},null,7],"upstream":{"main":null}},"status":{"id":true}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := decodeObject([]byte(s))
		if err != nil {
			return
		}
		fill(&Subscription{}, m)
		fill(&SubscriptionPlan{}, m)
		api := &RestAPI{}
		fill(api, m)
		raw, err := json.Marshal(api)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again := &RestAPI{}
		if err := json.Unmarshal(raw, again); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

// answerer is a transport that answers every request alike.
type answerer struct {
	status               int
	body                 []byte
	retryAfter, location string
}

func (a answerer) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{}
	header.Set("Retry-After", a.retryAfter)
	header.Set("Location", a.location)
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// asText are the ways in which what a request carries comes back in an answer.
func asText(secret string) []string {
	js, _ := json.Marshal(secret) //nolint:errchkjson // A text always encodes.
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(secret)
	sum := sha256.Sum256([]byte(secret))
	return []string{
		secret, string(js), strings.TrimSpace(plain.String()), fmt.Sprintf("%q", secret), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("admin:" + secret)), hex.EncodeToString(sum[:]), strings.ToUpper(hex.EncodeToString(sum[:])),
	}
}

// FuzzAnswer lets a gateway answer anything to every call. It must never panic;
// an error is one bounded line without secrets, and says for at most how long the
// gateway is to be left alone; a success names the object asked for.
//
// contract: S13, S29, S31, A2, A4, A7
// case: A14, A15, D3, F5
func FuzzAnswer(f *testing.F) {
	// Where the answer says ECHO it gives back what was sent, in one of several
	// forms. A token bears a mark that the provider's own words do not.
	const mark, echo = "Zq~", "ECHO"
	for i, s := range []string{
		`{"status":"error","message":"bad token ECHO in {\"subscriptionToken\":\"ECHO\"}","errors":[{"field":"ECHO","message":"ECHO"}]}`,
		`{"code":"forbidden","message":"ECHO"}`, `<html>ECHO</html>`, ``, `{"id":"id"}`, `{"id":"a/b"}`, `{"subscriptions":[{"id":"ECHO","gatewayId":7}],"count":2}`,
		`{"metadata":{"name":"ECHO"}}`, `{"status":"error","message":"(correlation_id: x)EC(UUID: y)HO"}`,
	} {
		for _, status := range []int{200, 201, 204, 302, 400, 401, 403, 404, 409, 429, 500, 503} {
			f.Add(status, []byte(s), "1e9", "https://gw/?t=ECHO", "t<k \"0\n1/ü", uint(i+status))
			f.Add(status, []byte(s), "", "", "p\xffw\xfe\xfd0", uint(i+status))
		}
	}
	endpoint, err := ParseEndpoint("https://gw")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, retryAfter, location, token string, form uint) {
		if status < 100 || status > 999 || len(body) > 1<<16 || len(token) > 1<<10 {
			return // Not what HTTP would let through.
		}
		token = mark + token
		forms := asText(token)
		given := forms[form%uint(len(forms))]
		body = bytes.ReplaceAll(body, []byte(echo), []byte(given))
		c := New(Options{
			Endpoint:   endpoint,
			Transport:  answerer{status: status, body: body, retryAfter: retryAfter, location: strings.ReplaceAll(location, echo, given)},
			Authorizer: AuthorizerFunc(func(r *http.Request) error { r.SetBasicAuth("admin", token); return nil }),
			Secrets:    []Secret{Secret(token)},
			MaxBody:    1 << 15,
		})
		for name, call := range map[string]func(context.Context) (id string, err error){
			"create": func(ctx context.Context) (string, error) {
				s, err := c.CreateSubscription(ctx, SubscriptionCreate{ExternalRefID: "id", APIID: "a", SubscriptionToken: Secret(token)})
				return nameOf(s, err, func(s *Subscription) string { return s.ID })
			},
			"update": func(ctx context.Context) (string, error) {
				s, err := c.UpdateSubscription(ctx, "id", SubscriptionUpdate{SubscriptionToken: Secret(token)})
				return nameOf(s, err, func(s *Subscription) string { return s.ID })
			},
			"get": func(ctx context.Context) (string, error) {
				s, err := c.GetSubscription(ctx, "id")
				return nameOf(s, err, func(s *Subscription) string { return s.ID })
			},
			"delete": func(ctx context.Context) (string, error) { return "id", c.DeleteSubscription(ctx, "id") },
			"list": func(ctx context.Context) (string, error) {
				_, err := c.ListSubscriptions(ctx, SubscriptionFilter{})
				return "id", err
			},
			"createPlan": func(ctx context.Context) (string, error) {
				p, err := c.CreateSubscriptionPlan(ctx, SubscriptionPlanWrite{PlanName: "p"})
				return nameOf(p, err, func(p *SubscriptionPlan) string { return p.ID })
			},
			"getPlan": func(ctx context.Context) (string, error) {
				p, err := c.GetSubscriptionPlan(ctx, "id")
				return nameOf(p, err, func(p *SubscriptionPlan) string { return p.ID })
			},
			"listPlans": func(ctx context.Context) (string, error) { _, err := c.ListSubscriptionPlans(ctx); return "id", err },
			"createAPI": func(ctx context.Context) (string, error) {
				a, err := c.CreateRestAPI(ctx, RestAPIWrite{Name: "id"})
				return nameOf(a, err, func(a *RestAPI) string { return a.Metadata.Name })
			},
			"getAPI": func(ctx context.Context) (string, error) {
				a, err := c.GetRestAPI(ctx, "id")
				return nameOf(a, err, func(a *RestAPI) string { return a.Metadata.Name })
			},
			"listAPIs": func(ctx context.Context) (string, error) { _, err := c.ListRestAPIs(ctx); return "id", err },
			"probe":    func(ctx context.Context) (string, error) { return "id", c.Probe(ctx) },
		} {
			id, err := call(t.Context())
			if err == nil {
				own := name == "create" || name == "createPlan"
				if status < 200 || status > 299 || checkPathID(id) != nil || !own && id != "id" {
					t.Fatalf("%s: %d %q is a success with ID %q", name, status, body, id)
				}
				continue
			}
			e := AsError(err)
			if e == nil || e.Reason == "" || !e.Sent {
				t.Fatalf("%s: %d %q is an error that says nothing: %v", name, status, body, err)
			}
			if e.RetryAfter < 0 || e.RetryAfter > MaxRetryAfter {
				t.Fatalf("%s: Retry-After %q means %s", name, retryAfter, e.RetryAfter)
			}
			if status < 400 && IsNotFound(err) || IsNotFound(err) && !e.Envelope {
				t.Fatalf("%s: %d %q is taken for proof of absence", name, status, body)
			}
			text := err.Error()
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 32<<10 {
				t.Fatalf("%s: the error is not one bounded line: %q", name, text)
			}
			if strings.Contains(text, mark) {
				t.Fatalf("%s: the error shows a token: %q", name, text)
			}
			for _, form := range forms {
				if form = strings.Trim(form, `"`); strings.Contains(text, form) {
					t.Fatalf("%s: the error shows a token as %q: %q", name, form, text)
				}
			}
		}
	})
}

// nameOf what a call returned, if it did.
func nameOf[T any](o *T, err error, id func(*T) string) (string, error) {
	if err != nil {
		return "", err
	}
	return id(o), nil
}

// contract: A4
// case: F5
func FuzzParseRetryAfter(f *testing.F) {
	for _, s := range []string{"30", "-5", "1e9", "nan", "0x1p-2", "599.9999999999999", "1_0", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:01 GMT"} {
		f.Add(s, int64(0))
		f.Add(s, int64(1<<33))
	}
	f.Fuzz(func(t *testing.T, s string, now int64) {
		d, ok := ParseRetryAfter(s, time.Unix(now, 0))
		if d < 0 || d > MaxRetryAfter || !ok && d != 0 {
			t.Fatalf("ParseRetryAfter(%q) = %v, %v", s, d, ok)
		}
		if n, digits := whole(s); digits && (!ok || d != min(n, MaxRetryAfter)) {
			t.Fatalf("ParseRetryAfter(%q) = %v, %v, want %v", s, d, ok, n)
		}
	})
}

// whole seconds, if that is what a header says.
func whole(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	var n time.Duration
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(10*n+time.Duration(c-'0')*time.Second, time.Hour)
	}
	return n, true
}
