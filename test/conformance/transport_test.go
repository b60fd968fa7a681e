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
	"net/url"
	"strings"
	"testing"
)

func transportChecks() []check {
	return []check{
		{fact: "routes without the base path answer, and are called deprecated", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, path := range []string{"/rest-apis", "/subscription-plans", "/subscriptions"} {
				a := g.do(t, request{method: http.MethodGet, url: g.url + path})
				if a.status != http.StatusOK || a.header.Get("Deprecation") != "true" ||
					!strings.Contains(a.header.Get("Link"), basePath+path) || !strings.Contains(a.header.Get("Link"), "successor-version") ||
					!strings.HasPrefix(a.header.Get("Warning"), "299 ") {
					t.Errorf("GET %s: want 200 and the headers of a deprecated route, got %d %v", path, a.status, a.header)
				}
				a = g.do(t, request{method: http.MethodGet, url: path})
				if a.header.Get("Deprecation") != "" {
					t.Errorf("GET %s%s: want no deprecation, got %v", basePath, path, a.header)
				}
			}
		}},
		{fact: "unknown routes are 404 in plain text, also without credentials", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, path := range []string{
				"/", "/version", "/health", "/ready", basePath + "/version", basePath + "/health", basePath + "/nothing",
				"/api/management/v0.9/rest-apis", "/api/management/v2/rest-apis", basePath + "/subscriptions/a/b",
			} {
				for _, as := range []login{g.admin, {}} {
					a := g.do(t, request{method: http.MethodGet, url: g.url + path, as: &as})
					if a.status != http.StatusNotFound || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
						t.Errorf("GET %s: want 404 text/plain, got %d %s", path, a.status, a.header.Get("Content-Type"))
					}
				}
			}
		}},
		{fact: "a trailing slash is 404", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, path := range []string{"/rest-apis/", "/subscription-plans/", "/subscriptions/"} {
				if a := g.do(t, request{method: http.MethodGet, url: path}); a.status != http.StatusNotFound || a.body != nil {
					t.Errorf("GET %s: want 404 in plain text, got %d %s", path, a.status, a.raw)
				}
			}
		}},
		{fact: "a wrong verb is 405 in plain text with Allow, also without credentials", run: func(t *testing.T, g *gatewayUnderTest) {
			for path, allow := range map[string]string{
				"/rest-apis": "GET, HEAD, POST", "/rest-apis/x": "DELETE, GET, HEAD, PUT",
				"/subscription-plans": "GET, HEAD, POST", "/subscription-plans/x": "DELETE, GET, HEAD, PUT",
				"/subscriptions": "GET, HEAD, POST", "/subscriptions/x": "DELETE, GET, HEAD, PUT",
			} {
				for _, as := range []login{g.admin, {}} {
					a := g.do(t, request{method: http.MethodPatch, url: path, body: obj{}, as: &as})
					if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != allow ||
						!strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
						t.Errorf("PATCH %s: want 405 text/plain, Allow: %s; got %d %v", path, allow, a.status, a.header)
					}
				}
			}
		}},
		{fact: "HEAD works", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for path, status := range map[string]int{
				"/rest-apis": http.StatusOK, "/rest-apis/" + handle: http.StatusOK, "/rest-apis/" + g.name(): http.StatusNotFound,
				"/subscriptions": http.StatusOK, "/subscription-plans": http.StatusOK,
			} {
				if a := g.do(t, request{method: http.MethodHead, url: path}); a.status != status || a.raw != "" {
					t.Errorf("HEAD %s: want %d without a body, got %d %s", path, status, a.status, a.raw)
				}
			}
		}},
		{fact: "paths are cleaned by a redirect", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, path := range []string{"//rest-apis", "/subscriptions/../rest-apis", "/subscriptions/.."} {
				a := g.do(t, request{method: http.MethodGet, url: g.url + basePath + path})
				if a.status/100 != 3 {
					t.Errorf("GET %s: want a redirect, got %d %s", path, a.status, a.raw)
				}
			}
		}},
		{fact: "an escaped ID is one path segment", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, id := range []string{"a/b", "..", "a#b", "a?b", "%2F", " "} {
				a := g.do(t, request{method: http.MethodGet, url: "/subscriptions/" + strings.ReplaceAll(url.PathEscape(id), "..", "%2E%2E")})
				if a.status != http.StatusNotFound && a.status/100 != 3 {
					t.Errorf("GET /subscriptions/%q: want 404, got %d %s", id, a.status, a.raw)
				}
				if id == "a/b" {
					isError(t, a, "Subscription not found")
				}
			}
		}},
		{fact: "a correlation ID is echoed, or made", run: func(t *testing.T, g *gatewayUnderTest) {
			id := g.name()
			a := g.do(t, request{method: http.MethodGet, url: "/rest-apis", headers: map[string]string{"X-Correlation-Id": id}})
			if got := a.header.Get("X-Correlation-Id"); got != id {
				t.Errorf("want %q, got %q", id, got)
			}
			one := g.do(t, request{method: http.MethodGet, url: "/rest-apis"}).header.Get("X-Correlation-Id")
			two := g.do(t, request{method: http.MethodGet, url: "/nothing"}).header.Get("X-Correlation-Id")
			if one == "" || two == "" || one == two {
				t.Errorf("want two different IDs, got %q and %q", one, two)
			}
		}},
		{fact: "a write that reuses a correlation ID is stored, and answered as if nothing were wrong", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, id := g.api(t), map[string]string{"X-Correlation-Id": g.name()}
			doc := g.apiDoc(handle, with("displayName", handle+" two"))
			for range 2 {
				if a := g.do(t, request{method: http.MethodPut, url: "/rest-apis/" + handle, body: doc, headers: id}); a.status != http.StatusOK {
					t.Errorf("want 200, got %d %s", a.status, a.raw)
				}
			}
			if got := field(g.get(t, "/rest-apis/"+handle), "spec.displayName"); got != handle+" two" {
				t.Errorf("want it stored, got %v", got)
			}
		}},
		{fact: "a write that reuses a correlation ID is not deployed", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, id, before := g.api(t), map[string]string{"X-Correlation-Id": g.name()}, g.emulator.NotDeployed()
			for i, secret := range []string{token(), token()} {
				a := g.do(t, request{
					method: http.MethodPost, url: "/subscriptions", headers: id,
					body: obj{"apiId": handle, "subscriptionToken": secret},
				})
				if a.status != http.StatusCreated {
					t.Fatalf("want 201, got %d %s", a.status, a.raw)
				}
				g.tidy(t, "/subscriptions/"+a.body["id"].(string))
				if got := g.emulator.LetThrough(handle, secret); got != (i == 0) {
					t.Errorf("write %d: LetThrough is %t", i, got)
				}
			}
			if n := g.emulator.NotDeployed() - before; n != 1 {
				t.Errorf("want one write not deployed, got %d", n)
			}
		}},
		{fact: "there are no entity tags, and If-Match is ignored", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			a := g.do(t, request{
				method: http.MethodPut, url: "/rest-apis/" + handle, body: g.apiDoc(handle),
				headers: map[string]string{"If-Match": `"nonsense"`},
			})
			if a.status != http.StatusOK || a.header.Get("ETag") != "" {
				t.Errorf("want 200 without ETag, got %d %v", a.status, a.header)
			}
		}},
		{fact: "content types are never refused", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, ct := range []string{"application/json; charset=utf-8", "text/plain", "application/xml", "APPLICATION/JSON"} {
				handle := g.name()
				g.tidy(t, "/rest-apis/"+handle)
				a := g.do(t, request{method: http.MethodPost, url: "/rest-apis", body: g.apiDoc(handle), headers: map[string]string{"Content-Type": ct}})
				if a.status != http.StatusCreated {
					t.Errorf("REST API as %s: want 201, got %d %s", ct, a.status, a.raw)
				}
				a = g.do(t, request{
					method: http.MethodPost, url: "/subscription-plans", body: obj{"planName": g.name()},
					headers: map[string]string{"Content-Type": ct},
				})
				if a.status != http.StatusCreated {
					t.Fatalf("plan as %s: want 201, got %d %s", ct, a.status, a.raw)
				}
				g.tidy(t, "/subscription-plans/"+a.body["id"].(string))
			}
		}},
		{fact: "YAML is understood", run: func(t *testing.T, g *gatewayUnderTest) {
			name := g.name()
			a := g.do(t, request{
				method: http.MethodPost, url: "/subscription-plans", headers: map[string]string{"Content-Type": "application/yaml"},
				body: "planName: " + name + "\nstatus: INACTIVE\n",
			})
			if a.status != http.StatusCreated {
				t.Fatalf("plan: want 201, got %d %s", a.status, a.raw)
			}
			g.tidy(t, "/subscription-plans/"+a.body["id"].(string))
			if a.body["planName"] != name || a.body["status"] != "INACTIVE" {
				t.Errorf("want the plan as in YAML, got %s", a.raw)
			}
			handle := g.name()
			g.tidy(t, "/rest-apis/"+handle)
			a = g.do(t, request{
				method: http.MethodPost, url: "/rest-apis", headers: map[string]string{"Content-Type": "application/yaml"},
				body: "apiVersion: gateway.api-platform.wso2.com/v1\nkind: RestApi\nmetadata: {name: " + handle + "}\n" +
					"spec:\n  displayName: " + handle + "\n  version: v1.0\n  context: /" + handle + "\n" +
					"  upstream: {main: {url: 'http://backend.example.com'}}\n  operations: [{method: GET, path: /}]\n",
			})
			if a.status != http.StatusCreated {
				t.Errorf("REST API: want 201, got %d %s", a.status, a.raw)
			}
		}},
		{fact: "a filter that is given twice is 400 in plain text", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, path := range []string{"/rest-apis?version=a&version=b", "/subscriptions?apiId=a&apiId=b", "/subscriptions?status=a&status=b"} {
				a := g.do(t, request{method: http.MethodGet, url: path})
				if a.status != http.StatusBadRequest || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
					t.Errorf("GET %s: want 400 text/plain, got %d %s", path, a.status, a.raw)
				}
			}
		}},
		{fact: "large bodies are accepted", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			doc := g.apiDoc(handle)
			doc["metadata"].(obj)["annotations"] = obj{"example.com/large": strings.Repeat("x", 3<<20)}
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, doc)
		}},
	}
}

func accessChecks() []check {
	return []check{
		{fact: "no credentials, or of an unknown scheme: 401 skip_authz", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, header := range []string{"", "Digest x", "basic eDp5"} {
				a := g.do(t, request{
					method: http.MethodGet, url: "/subscriptions", as: &login{},
					headers: map[string]string{"Authorization": header},
				})
				isDenied(t, a, http.StatusUnauthorized, "skip_authz")
			}
		}},
		{fact: "wrong credentials: 401 authentication_failed", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, as := range []login{{g.admin.name, g.admin.password + "x"}, {g.name(), g.admin.password}, {g.admin.name, ""}} {
				isDenied(t, g.do(t, request{method: http.MethodGet, url: "/rest-apis", as: &as}), http.StatusUnauthorized, "authentication_failed")
			}
			a := g.do(t, request{
				method: http.MethodGet, url: "/rest-apis", as: &login{},
				headers: map[string]string{"Authorization": "Basic !!!"},
			})
			isDenied(t, a, http.StatusUnauthorized, "authentication_failed")
		}},
		{fact: "credentials are looked at before the object", run: func(t *testing.T, g *gatewayUnderTest) {
			a := g.do(t, request{method: http.MethodDelete, url: "/subscriptions/" + g.name(), as: &login{}})
			isDenied(t, a, http.StatusUnauthorized, "skip_authz")
		}},
		{fact: "a user name has no letter case", run: func(t *testing.T, g *gatewayUnderTest) {
			as := login{strings.ToUpper(g.admin.name), g.admin.password}
			if a := g.do(t, request{method: http.MethodGet, url: "/rest-apis", as: &as}); a.status != http.StatusOK {
				t.Errorf("want 200, got %d %s", a.status, a.raw)
			}
		}},
		{fact: "a developer has REST APIs only", run: func(t *testing.T, g *gatewayUnderTest) {
			g.roleMatrix(t, "developer", map[string]bool{"/rest-apis": true, "/subscription-plans": false, "/subscriptions": false})
		}},
		{fact: "a consumer has none of these", run: func(t *testing.T, g *gatewayUnderTest) {
			g.roleMatrix(t, "consumer", map[string]bool{"/rest-apis": false, "/subscription-plans": false, "/subscriptions": false})
		}},
		{fact: "immutable gateways refuse writes with 405 before they look at credentials", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			g.emulator.SetImmutable(true)
			defer g.emulator.SetImmutable(false)
			for _, as := range []login{g.admin, {}} {
				for _, r := range []request{
					{method: http.MethodPost, url: "/subscriptions", body: obj{}},
					{method: http.MethodPut, url: "/rest-apis/" + handle, body: obj{}},
					{method: http.MethodDelete, url: "/subscription-plans/x"},
				} {
					r.as = &as
					a := g.do(t, r)
					if a.status != http.StatusMethodNotAllowed {
						t.Errorf("%s: want 405, got %d", r.method, a.status)
					}
					isError(t, a, "immutable mode")
				}
			}
			g.get(t, "/rest-apis/"+handle)
		}},
		{fact: "without users everybody may do everything", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			s, err := newOpenGateway(t)
			if err != nil {
				t.Fatal(err)
			}
			a := g.do(t, request{method: http.MethodPost, url: s + "/subscription-plans", body: obj{"planName": "p"}, as: &login{}})
			if a.status != http.StatusCreated {
				t.Errorf("want 201, got %d %s", a.status, a.raw)
			}
		}},
		{fact: "bearer tokens are accepted beside basic authentication", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			a := g.do(t, request{
				method: http.MethodGet, url: "/subscriptions", as: &login{},
				headers: map[string]string{"Authorization": "Bearer b3arer"},
			})
			if a.status != http.StatusOK {
				t.Errorf("want 200, got %d %s", a.status, a.raw)
			}
			a = g.do(t, request{
				method: http.MethodGet, url: "/subscriptions", as: &login{},
				headers: map[string]string{"Authorization": "Bearer nonsense"},
			})
			isDenied(t, a, http.StatusUnauthorized, "authentication_failed")
		}},
	}
}

// isDenied checks the envelope of 401 and 403, which is like no other.
func isDenied(t *testing.T, a answer, status int, code string) {
	t.Helper()
	_, other := a.body["status"]
	if a.status != status || a.body["code"] != code || a.body["message"] == nil || other {
		t.Errorf("want %d with code %s and a message, got %d %s", status, code, a.status, a.raw)
	}
}

func (g *gatewayUnderTest) roleMatrix(t *testing.T, role string, allowed map[string]bool) {
	t.Helper()
	as, ok := g.others[role]
	if !ok {
		t.Skip("needs a user with the role " + role)
	}
	for path, yes := range allowed {
		for _, r := range []request{
			{method: http.MethodGet, url: path},
			{method: http.MethodGet, url: path + "/" + g.name()},
			{method: http.MethodPost, url: path, body: "{"},
			{method: http.MethodPut, url: path + "/" + g.name(), body: "{"},
			{method: http.MethodDelete, url: path + "/" + g.name()},
		} {
			r.as = &as
			a := g.do(t, r)
			if !yes {
				isDenied(t, a, http.StatusForbidden, "forbidden")
				continue
			}
			if a.status == http.StatusForbidden || a.status == http.StatusUnauthorized {
				t.Errorf("%s %s: want it allowed, got %d %s", r.method, r.url, a.status, a.raw)
			}
		}
	}
}
