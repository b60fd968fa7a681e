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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

const subscribed = "Application already subscribed to this API"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// newOpenGateway starts an emulator without users.
func newOpenGateway(t *testing.T) (string, error) {
	t.Helper()
	s, err := emulator.Start(t.Context(), emulator.Options{})
	if err != nil {
		return "", err
	}
	t.Cleanup(s.Close)
	return s.Endpoint(), nil
}

func subscriptionChecks() []check {
	return []check{
		{fact: "a creation answers the internal ID of the API, whichever was sent", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			one := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token()})
			id := one["apiId"].(string)
			if id == handle {
				t.Errorf("want the internal ID, got the handle")
			}
			two := g.subscribe(t, obj{"apiId": id, "subscriptionToken": token()})
			if two["apiId"] != id {
				t.Errorf("want %q, got %v", id, two["apiId"])
			}
		}},
		{fact: "a creation fills in ID, gateway and status", run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token(), "id": "chosen-by-the-client"})
			got := g.get(t, "/subscriptions/"+s["id"].(string))
			for _, stamp := range []string{"createdAt", "updatedAt"} {
				moment(t, got[stamp])
				delete(got, stamp)
			}
			if id, _ := got["id"].(string); !uuid.MatchString(id) {
				t.Errorf("want a UUID, got %v", got["id"])
			}
			if got["gatewayId"] == nil || got["gatewayId"] == "" {
				t.Errorf("want a gatewayId, got %v", got)
			}
			want := obj{"id": s["id"], "apiId": s["apiId"], "gatewayId": got["gatewayId"], "status": "ACTIVE"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
		{fact: "everything that is sent is answered, but the token", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t)
			sent := obj{
				"applicationId": " app 1 ", "subscriptionPlanId": p["id"], "billingCustomerId": "cus_1",
				"billingSubscriptionId": "sub_1", "status": "INACTIVE",
			}
			body := obj{"apiId": g.api(t), "subscriptionToken": token()}
			for k, v := range sent {
				body[k] = v
			}
			s := g.subscribe(t, body)
			got := g.get(t, "/subscriptions/"+s["id"].(string))
			for k, v := range sent {
				if got[k] != v {
					t.Errorf("%s: want %v, got %v", k, v, got[k])
				}
			}
		}},
		{fact: "the token is trimmed, answered once, and never again", run: func(t *testing.T, g *gatewayUnderTest) {
			secret, handle := token(), g.api(t)
			a := g.want(t, http.StatusCreated, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": " " + secret + "\t\n"})
			path := "/subscriptions/" + a.body["id"].(string)
			g.tidy(t, path)
			if a.body["subscriptionToken"] != secret {
				t.Errorf("want the trimmed token in the answer, got %v", a.body["subscriptionToken"])
			}
			for _, raw := range []string{
				g.want(t, http.StatusOK, http.MethodGet, path, nil).raw,
				g.want(t, http.StatusOK, http.MethodGet, "/subscriptions?apiId="+handle, nil).raw,
				g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "ACTIVE"}).raw,
			} {
				if strings.Contains(raw, secret) || strings.Contains(strings.ToLower(raw), "token") {
					t.Error("want no token in the answer")
				}
			}
			g.refused(t, http.StatusConflict, subscribed, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": secret})
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": strings.ToUpper(secret)})
		}},
		{fact: "a token may have one character", run: func(t *testing.T, g *gatewayUnderTest) {
			g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": "x"})
		}},
		{fact: "API and token are required", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for text, bodies := range map[string][]any{
				"apiId is required":             {obj{"subscriptionToken": "t"}, obj{"apiId": " ", "subscriptionToken": "t"}},
				"subscriptionToken is required": {obj{"apiId": handle}, obj{"apiId": handle, "subscriptionToken": " \n"}, obj{"apiId": handle, "subscriptionToken": nil}},
				"Invalid request body":          {"", "[]", obj{"apiId": 7, "subscriptionToken": "t"}, obj{"apiId": handle, "subscriptionToken": 7}, obj{"apiId": handle, "subscriptionToken": "t", "subscriptionPlanId": 7}},
			} {
				for _, body := range bodies {
					g.refused(t, http.StatusBadRequest, text, http.MethodPost, "/subscriptions", body)
				}
			}
		}},
		{fact: "an unknown API is 404, and its ID is not trimmed", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for _, id := range []string{g.name(), " " + handle, handle + " "} {
				g.refused(t, http.StatusNotFound, "RestAPI with identifier '"+id+"' not found",
					http.MethodPost, "/subscriptions", obj{"apiId": id, "subscriptionToken": "t"})
			}
		}},
		{fact: "a token is taken per API, whatever the application and the status", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, other, secret := g.api(t), g.api(t), token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret, "applicationId": "a", "status": "REVOKED"})
			for _, application := range []any{"a", "b", nil} {
				g.refused(t, http.StatusConflict, subscribed, http.MethodPost, "/subscriptions",
					obj{"apiId": handle, "subscriptionToken": " " + secret, "applicationId": application})
			}
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "applicationId": "a"})
			g.subscribe(t, obj{"apiId": other, "subscriptionToken": secret, "applicationId": "a"})
		}},
		{fact: "a plan must exist, be active, and be enabled on the API", run: func(t *testing.T, g *gatewayUnderTest) {
			gold, idle := g.plan(t), g.plan(t, with("status", "INACTIVE"))
			open, closed := g.api(t), g.api(t, withPlans(g.name()))
			folded := g.api(t, withPlans(strings.ToUpper(gold["planName"].(string))))
			empty := g.api(t, withPlans())
			body := func(handle string, plan any) obj {
				return obj{"apiId": handle, "subscriptionToken": token(), "subscriptionPlanId": plan}
			}
			g.refused(t, http.StatusBadRequest, "not found", http.MethodPost, "/subscriptions", body(open, g.name()))
			g.refused(t, http.StatusBadRequest, "not found", http.MethodPost, "/subscriptions", body(open, gold["planName"]))
			g.refused(t, http.StatusBadRequest, "not active", http.MethodPost, "/subscriptions", body(open, idle["id"]))
			g.refused(t, http.StatusBadRequest, "not enabled for this API", http.MethodPost, "/subscriptions", body(closed, gold["id"]))
			for _, handle := range []string{open, folded, empty} {
				g.subscribe(t, body(handle, gold["id"]))
			}
			g.subscribe(t, body(closed, nil))
		}},
		{fact: "an empty plan ID is a 500", run: func(t *testing.T, g *gatewayUnderTest) {
			g.refused(t, http.StatusInternalServerError, "Failed to create subscription", http.MethodPost, "/subscriptions",
				obj{"apiId": g.api(t), "subscriptionToken": token(), "subscriptionPlanId": ""})
		}},
		{fact: "an API is looked for before a plan, and a plan before a clash", run: func(t *testing.T, g *gatewayUnderTest) {
			g.want(t, http.StatusNotFound, http.MethodPost, "/subscriptions",
				obj{"apiId": g.name(), "subscriptionToken": token(), "subscriptionPlanId": g.name()})
			handle, secret := g.api(t), token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret})
			g.want(t, http.StatusBadRequest, http.MethodPost, "/subscriptions",
				obj{"apiId": handle, "subscriptionToken": secret, "subscriptionPlanId": g.name()})
		}},
		{fact: "a status is ACTIVE, INACTIVE or REVOKED", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for _, status := range []string{"ACTIVE", "INACTIVE", "REVOKED"} {
				if s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "status": status}); s["status"] != status {
					t.Errorf("want %s, got %v", status, s["status"])
				}
			}
			for _, status := range []string{"active", "SUSPENDED", ""} {
				g.refused(t, http.StatusBadRequest, "invalid status", http.MethodPost, "/subscriptions",
					obj{"apiId": handle, "subscriptionToken": token(), "status": status})
			}
		}},
		{fact: "an empty application is none, a blank one is kept", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "applicationId": ""})
			if v, ok := g.get(t, "/subscriptions/"+s["id"].(string))["applicationId"]; ok {
				t.Errorf("want no application, got %v", v)
			}
			s = g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "applicationId": "  "})
			if v := g.get(t, "/subscriptions/"+s["id"].(string))["applicationId"]; v != "  " {
				t.Errorf("want two blanks, got %v", v)
			}
		}},
		{fact: "lists are filtered exactly, newest first, and never paged", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, other := g.api(t), g.api(t)
			app := g.name()
			one := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "applicationId": app})
			two := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "status": "REVOKED"})
			three := g.subscribe(t, obj{"apiId": other, "subscriptionToken": token(), "applicationId": app})
			ids := func(s ...obj) []string { return values(s, "id") }
			for query, want := range map[string][]string{
				"":                                ids(three, two, one),
				"?apiId=" + handle:                ids(two, one),
				"?apiId=" + one["apiId"].(string): ids(two, one),
				"?applicationId=" + app:           ids(three, one),
				"?applicationId=" + app + "%20":   {},
				"?apiId=" + handle + "&applicationId=" + app: ids(one),
				"?apiId=" + handle + "&status=REVOKED":       ids(two),
				"?apiId=" + handle + "&status=nonsense":      {},
				"?apiId=" + handle + "&status=":              ids(two, one),
				"?apiId=" + handle + "&applicationId=":       ids(two, one),
				"?apiId=" + handle + "&limit=1&nonsense=x":   ids(two, one),
				"?apiId=&applicationId=" + app:               ids(three, one),
			} {
				got := []string{}
				for _, id := range values(g.subscriptions(t, query), "id") {
					if slices.Contains(ids(one, two, three), id) {
						got = append(got, id)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q: -want, +got:\n%s", query, diff)
				}
			}
			for _, id := range []string{g.name(), " " + handle} {
				g.refused(t, http.StatusNotFound, "RestAPI with identifier '"+id+"' not found",
					http.MethodGet, "/subscriptions?apiId="+url.QueryEscape(id), nil)
			}
			if got := g.subscriptions(t, "?apiId="+g.api(t)); len(got) != 0 {
				t.Errorf("want none for an API without subscriptions, got %v", got)
			}
		}},
		{fact: "a subscription in a list is as it is by itself, and reads change nothing", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "billingCustomerId": "c", "applicationId": "a"})
			path := "/subscriptions/" + s["id"].(string)
			read := g.get(t, path)
			if diff := cmp.Diff([]obj{read}, g.subscriptions(t, "?apiId="+handle)); diff != "" {
				t.Errorf("-read, +listed:\n%s", diff)
			}
			if diff := cmp.Diff(read, g.get(t, path)); diff != "" {
				t.Errorf("-first, +second:\n%s", diff)
			}
		}},
		{fact: "a change sets the status, in any direction", run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token()})
			path := "/subscriptions/" + s["id"].(string)
			for _, status := range []string{"REVOKED", "ACTIVE", "INACTIVE", "REVOKED", "INACTIVE", "ACTIVE"} {
				a := g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": status})
				if a.body["status"] != status || g.get(t, path)["status"] != status {
					t.Errorf("want %s, got %s", status, a.raw)
				}
			}
			before := g.get(t, path)
			for _, status := range []string{"active", "SUSPENDED", ""} {
				g.refused(t, http.StatusBadRequest, "invalid status", http.MethodPut, path, obj{"status": status})
			}
			for _, body := range []any{"", "[]", "{", obj{"status": 7}} {
				g.refused(t, http.StatusBadRequest, "Invalid request body", http.MethodPut, path, body)
			}
			if diff := cmp.Diff(before, g.get(t, path)); diff != "" {
				t.Errorf("refused: -before, +after:\n%s", diff)
			}
		}},
		{fact: "a change of nothing moves updatedAt, and nothing else", run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token(), "status": "INACTIVE"})
			path := "/subscriptions/" + s["id"].(string)
			before := g.get(t, path)
			for _, body := range []obj{{}, {"status": nil}, {"status": "INACTIVE"}, {"nonsense": 1}} {
				g.want(t, http.StatusOK, http.MethodPut, path, body)
				after := g.get(t, path)
				if !moment(t, after["updatedAt"]).After(moment(t, before["updatedAt"])) {
					t.Errorf("%v: want updatedAt to move, got %v and %v", body, before["updatedAt"], after["updatedAt"])
				}
				before["updatedAt"] = after["updatedAt"]
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("%v: -before, +after:\n%s", body, diff)
				}
			}
		}},
		{fact: "API, application and billing IDs never change", run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{
				"apiId": g.api(t), "subscriptionToken": token(), "applicationId": "a", "billingCustomerId": "c", "billingSubscriptionId": "b",
			})
			path := "/subscriptions/" + s["id"].(string)
			before := g.get(t, path)
			g.want(t, http.StatusOK, http.MethodPut, path, obj{
				"id": "x", "apiId": g.api(t), "applicationId": "x", "billingCustomerId": "x", "billingSubscriptionId": nil, "gatewayId": "x",
			})
			after := g.get(t, path)
			before["updatedAt"] = after["updatedAt"]
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("-before, +after:\n%s", diff)
			}
		}},
		{fact: "a legacy gateway ignores plan and token in a change, whatever they are", legacy: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, old, taken := g.api(t), token(), token()
			p := g.plan(t)
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": taken})
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old, "subscriptionPlanId": p["id"]})
			path := "/subscriptions/" + s["id"].(string)
			for _, body := range []obj{
				{"subscriptionPlanId": nil, "subscriptionToken": token()}, {"subscriptionPlanId": g.name(), "subscriptionToken": taken},
				{"subscriptionPlanId": "", "subscriptionToken": ""}, {"subscriptionPlanId": 7, "subscriptionToken": obj{}},
			} {
				body["status"] = "REVOKED"
				g.want(t, http.StatusOK, http.MethodPut, path, body)
				if got := g.get(t, path); got["subscriptionPlanId"] != p["id"] || got["status"] != "REVOKED" {
					t.Errorf("%v: want the old plan and the new status, got %v", body, got)
				}
				g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "ACTIVE"})
			}
			g.refused(t, http.StatusConflict, subscribed, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": old})
		}},
		{fact: "a legacy gateway ignores externalRefId, whatever it is, and never answers it", legacy: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for _, id := range []any{g.name(), "-", "", strings.Repeat("x", 65), 7, obj{}, nil} {
				s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "externalRefId": id})
				if got, _ := s["id"].(string); !uuid.MatchString(got) {
					t.Errorf("%v: want a UUID, got %v", id, s["id"])
				}
				if _, ok := s["externalRefId"]; ok {
					t.Errorf("%v: want no externalRefId, got %v", id, s)
				}
			}
			secret := token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret})
			// The probe that tells the generations apart.
			g.refused(t, http.StatusConflict, subscribed, http.MethodPost, "/subscriptions",
				obj{"apiId": handle, "subscriptionToken": secret, "externalRefId": "-"})
		}},
		{fact: "what is unknown is 404, whatever the body", run: func(t *testing.T, g *gatewayUnderTest) {
			path := "/subscriptions/" + g.name()
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
				g.refused(t, http.StatusNotFound, "Subscription not found", method, path, "{")
			}
		}},
		{fact: "a deletion answers 204, the second 404, and frees the token", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, secret := g.api(t), token()
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret})
			path := "/subscriptions/" + s["id"].(string)
			if a := g.want(t, http.StatusNoContent, http.MethodDelete, path, nil); a.raw != "" {
				t.Errorf("want no body, got %s", a.raw)
			}
			g.refused(t, http.StatusNotFound, "Subscription not found", http.MethodDelete, path, nil)
			if again := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret}); again["id"] == s["id"] {
				t.Error("want another ID")
			}
		}},
		{fact: "a plan that becomes unusable stays with its subscriptions", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, p := g.api(t), g.plan(t)
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "subscriptionPlanId": p["id"]})
			path := "/subscriptions/" + s["id"].(string)
			g.want(t, http.StatusOK, http.MethodPut, "/subscription-plans/"+p["id"].(string), obj{"status": "INACTIVE"})
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle, withPlans(g.name())))
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "REVOKED"})
			if got := g.get(t, path); got["subscriptionPlanId"] != p["id"] || got["status"] != "REVOKED" {
				t.Errorf("want the plan kept and the status changed, got %v", got)
			}
		}},
		{fact: "of many creations with one token at once one succeeds", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, secret := g.api(t), token()
			got := parallel(func() (answer, error) {
				return g.send(t.Context(), request{
					method: http.MethodPost, url: g.url + basePath + "/subscriptions",
					body: obj{"apiId": handle, "subscriptionToken": secret},
				})
			})
			if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusConflict: 19}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
		{fact: "an active subscription to a deployed API lets calls through, nothing else does", emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, secret := g.api(t), token()
			through := func(want bool, why string) {
				t.Helper()
				if got := g.emulator.LetThrough(handle, secret); got != want {
					t.Errorf("%s: want LetThrough %t", why, want)
				}
			}
			through(false, "no subscription")
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret})
			path := "/subscriptions/" + s["id"].(string)
			through(true, "active")
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "INACTIVE"})
			through(false, "inactive")
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "ACTIVE"})
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle, with("deploymentState", "undeployed")))
			through(false, "undeployed")
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle))
			through(true, "deployed again")
			if g.emulator.LetThrough(handle, secret+"x") {
				t.Error("another token is let through")
			}
			g.want(t, http.StatusNoContent, http.MethodDelete, path, nil)
			through(false, "deleted")
		}},
	}
}
