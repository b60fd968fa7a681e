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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func planChecks() []check {
	return []check{
		{fact: "a creation fills in defaults, and an ID of its own", run: func(t *testing.T, g *gatewayUnderTest) {
			name := g.name()
			p := g.create(t, "/subscription-plans", obj{"planName": name, "id": "chosen-by-the-client", "billingPlan": ""})
			got := g.get(t, "/subscription-plans/"+p["id"].(string))
			if p["id"] == "chosen-by-the-client" {
				t.Error("want an ID of the gateway, got the client's")
			}
			for _, stamp := range []string{"createdAt", "updatedAt"} {
				moment(t, got[stamp])
				delete(got, stamp)
			}
			if got["gatewayId"] == nil || got["gatewayId"] == "" {
				t.Errorf("want a gatewayId, got %v", got)
			}
			want := obj{"id": p["id"], "gatewayId": got["gatewayId"], "planName": name, "stopOnQuotaReach": true, "status": "ACTIVE"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
		{fact: "everything that is sent is answered", run: func(t *testing.T, g *gatewayUnderTest) {
			sent := obj{
				"planName": g.name(), "billingPlan": "COMMERCIAL", "stopOnQuotaReach": false, "throttleLimitCount": 10.0,
				"throttleLimitUnit": "Min", "expiryTime": "2031-02-03T04:05:06+05:30", "status": "INACTIVE",
			}
			p := g.create(t, "/subscription-plans", sent)
			got := g.get(t, "/subscription-plans/"+p["id"].(string))
			for k, v := range sent {
				if diff := cmp.Diff(v, got[k]); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", k, diff)
				}
			}
		}},
		{fact: "the name is trimmed, required, and unique by letter case", run: func(t *testing.T, g *gatewayUnderTest) {
			name := g.name()
			p := g.create(t, "/subscription-plans", obj{"planName": "  " + name + "\t\n"})
			if p["planName"] != name {
				t.Errorf("want %q, got %v", name, p["planName"])
			}
			for _, same := range []string{name, " " + name + " "} {
				g.refused(t, http.StatusConflict, "Subscription plan already exists", http.MethodPost, "/subscription-plans", obj{"planName": same})
			}
			g.plan(t, with("planName", strings.ToUpper(name)))
			for _, none := range []any{obj{}, obj{"planName": ""}, obj{"planName": " \n"}, obj{"planName": nil}} {
				g.refused(t, http.StatusBadRequest, "planName is required", http.MethodPost, "/subscription-plans", none)
			}
		}},
		{fact: "what is wrong with limits, status or types is 400", run: func(t *testing.T, g *gatewayUnderTest) {
			for text, bodies := range map[string][]obj{
				"must be provided together": {{"throttleLimitCount": 1}, {"throttleLimitUnit": "Min"}, {"throttleLimitCount": 1, "throttleLimitUnit": ""}},
				"must be positive":          {{"throttleLimitCount": 0, "throttleLimitUnit": "Min"}, {"throttleLimitCount": -1, "throttleLimitUnit": "Min"}},
				"throttleLimitUnit must be": {{"throttleLimitCount": 1, "throttleLimitUnit": "Second"}, {"throttleLimitCount": 1, "throttleLimitUnit": "min"}},
				"invalid status":            {{"status": "active"}, {"status": "REVOKED"}, {"status": ""}},
				"Invalid request body": {
					{"throttleLimitCount": 1.5, "throttleLimitUnit": "Min"}, {"throttleLimitCount": "1", "throttleLimitUnit": "Min"},
					{"expiryTime": "tomorrow"}, {"stopOnQuotaReach": "yes"}, {"planName": 7},
				},
			} {
				for _, body := range bodies {
					existing := g.plan(t)
					g.refused(t, http.StatusBadRequest, text, http.MethodPut, "/subscription-plans/"+existing["id"].(string), body)
					if body["planName"] == nil {
						body["planName"] = g.name()
					}
					g.refused(t, http.StatusBadRequest, text, http.MethodPost, "/subscription-plans", body)
				}
			}
			g.refused(t, http.StatusBadRequest, "Invalid request body", http.MethodPost, "/subscription-plans", "")
		}},
		{fact: "integers are exact up to 2^53", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.create(t, "/subscription-plans", `{"planName":"`+g.name()+`","throttleLimitCount":9007199254740991,"throttleLimitUnit":"Day"}`)
			raw := g.want(t, http.StatusOK, http.MethodGet, "/subscription-plans/"+p["id"].(string), nil).raw
			if !strings.Contains(raw, `"throttleLimitCount":9007199254740991`) {
				t.Errorf("want the number as it was sent, got %s", raw)
			}
		}},
		{fact: "the name is no ID", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t)
			g.refused(t, http.StatusNotFound, "Subscription plan not found", http.MethodGet, "/subscription-plans/"+p["planName"].(string), nil)
		}},
		{fact: "a change merges: nothing is cleared but the billing plan", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t, func(o obj) {
				o["billingPlan"], o["throttleLimitCount"], o["throttleLimitUnit"] = "FREE", 5, "Hour"
				o["expiryTime"], o["stopOnQuotaReach"], o["status"] = "2031-01-01T00:00:00Z", false, "INACTIVE"
			})
			path := "/subscription-plans/" + p["id"].(string)
			before := g.get(t, path)
			null := obj{
				"planName": nil, "billingPlan": nil, "throttleLimitCount": nil, "throttleLimitUnit": nil,
				"expiryTime": nil, "stopOnQuotaReach": nil, "status": nil,
			}
			for _, body := range []obj{{}, null} {
				g.want(t, http.StatusOK, http.MethodPut, path, body)
				after := g.get(t, path)
				if !moment(t, after["updatedAt"]).After(moment(t, before["updatedAt"])) {
					t.Errorf("want updatedAt to move, got %v and %v", before["updatedAt"], after["updatedAt"])
				}
				before["updatedAt"] = after["updatedAt"]
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("%v: -before, +after:\n%s", body, diff)
				}
			}
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"billingPlan": ""})
			if v, ok := g.get(t, path)["billingPlan"]; ok {
				t.Errorf("want no billing plan, got %v", v)
			}
			for _, body := range []string{"", "[]"} {
				g.refused(t, http.StatusBadRequest, "Invalid request body", http.MethodPut, path, body)
			}
		}},
		{fact: "a plan may be renamed, but not to nothing", run: func(t *testing.T, g *gatewayUnderTest) {
			p, name := g.plan(t), g.name()
			path := "/subscription-plans/" + p["id"].(string)
			a := g.want(t, http.StatusOK, http.MethodPut, path, obj{"planName": " " + name + " "})
			if a.body["planName"] != name || a.body["id"] != p["id"] {
				t.Errorf("want it renamed, got %s", a.raw)
			}
			g.refused(t, http.StatusBadRequest, "planName cannot be empty", http.MethodPut, path, obj{"planName": " "})
		}},
		{fact: "a rename to a name that is taken: 500 on a legacy gateway, 409 later; nothing is applied", run: func(t *testing.T, g *gatewayUnderTest) {
			one, two := g.plan(t), g.plan(t)
			path := "/subscription-plans/" + two["id"].(string)
			before := g.get(t, path)
			body := obj{"planName": one["planName"], "billingPlan": "X"}
			if g.inPlace {
				g.want(t, http.StatusConflict, http.MethodPut, path, body)
			} else {
				g.refused(t, http.StatusInternalServerError, "Failed to update subscription plan", http.MethodPut, path, body)
			}
			if diff := cmp.Diff(before, g.get(t, path)); diff != "" {
				t.Errorf("-before, +after:\n%s", diff)
			}
		}},
		{fact: "a plan in use cannot be deleted: 500 on a legacy gateway, 409 later", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t)
			path := "/subscription-plans/" + p["id"].(string)
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token(), "subscriptionPlanId": p["id"], "status": "REVOKED"})
			if g.inPlace {
				g.want(t, http.StatusConflict, http.MethodDelete, path, nil)
			} else {
				g.refused(t, http.StatusInternalServerError, "Failed to delete subscription plan", http.MethodDelete, path, nil)
			}
			g.get(t, path)
			g.want(t, http.StatusNoContent, http.MethodDelete, "/subscriptions/"+s["id"].(string), nil)
			g.want(t, http.StatusNoContent, http.MethodDelete, path, nil)
		}},
		{fact: "a deletion answers 204, the second 404", run: func(t *testing.T, g *gatewayUnderTest) {
			path := "/subscription-plans/" + g.plan(t)["id"].(string)
			if a := g.want(t, http.StatusNoContent, http.MethodDelete, path, nil); a.raw != "" {
				t.Errorf("want no body, got %s", a.raw)
			}
			for _, method := range []string{http.MethodDelete, http.MethodGet} {
				g.refused(t, http.StatusNotFound, "Subscription plan not found", method, path, nil)
			}
			g.refused(t, http.StatusNotFound, "Subscription plan not found", http.MethodPut, path, "{")
		}},
		{fact: "lists are newest first and know no filters", run: func(t *testing.T, g *gatewayUnderTest) {
			one, two := g.plan(t), g.plan(t)
			for _, query := range []string{"", "?planName=x", "?limit=1", "?status=INACTIVE"} {
				got := values(g.list(t, "/subscription-plans"+query, "subscriptionPlans"), "id")
				i, j := slices.Index(got, two["id"].(string)), slices.Index(got, one["id"].(string))
				if i < 0 || j < 0 || i > j {
					t.Errorf("%q: want the newer plan before the older, got them at %d and %d", query, i, j)
				}
			}
		}},
		{fact: "a plan in a list is as it is by itself", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t, with("expiryTime", "2031-02-03T04:05:06+05:30"))
			for _, o := range g.plans(t) {
				if o["id"] != p["id"] {
					continue
				}
				if diff := cmp.Diff(g.get(t, "/subscription-plans/"+p["id"].(string)), o); diff != "" {
					t.Errorf("-read, +listed:\n%s", diff)
				}
			}
		}},
		{fact: "the creation's answer is dated close to what is stored", run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t)
			stored := moment(t, g.get(t, "/subscription-plans/"+p["id"].(string))["createdAt"])
			if d := stored.Sub(moment(t, p["createdAt"])); d < 0 || d > 5*time.Second {
				t.Errorf("want createdAt answered not after createdAt stored, got %v and %s", p["createdAt"], stored)
			}
		}},
		{fact: "of many creations at once one succeeds", run: func(t *testing.T, g *gatewayUnderTest) {
			name := g.name()
			got := parallel(func() (answer, error) {
				return g.send(t.Context(), request{
					method: http.MethodPost, url: g.url + basePath + "/subscription-plans", body: obj{"planName": name},
				})
			})
			for _, p := range g.plans(t) {
				if p["planName"] == name {
					g.tidy(t, "/subscription-plans/"+p["id"].(string))
				}
			}
			if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusConflict: 19}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
	}
}
