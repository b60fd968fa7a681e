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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inPlaceChecks are about the generation of gateways that takes the caller's
// IDs and changes plans and tokens in place. What its description does not say
// is checked on the emulator only: it takes the stricter reading.
func inPlaceChecks() []check {
	return []check{
		{fact: "externalRefId is the ID of the subscription, and answered", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for _, id := range []string{g.name(), "A" + random(), random() + ".x_y-Z", g.name() + strings.Repeat("x", 64-len(g.name()))} {
				s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "externalRefId": id})
				for where, o := range map[string]obj{
					"POST": s, "GET": g.get(t, "/subscriptions/"+id), "LIST": g.subscriptions(t, "?apiId="+handle)[0],
					"PUT": g.want(t, http.StatusOK, http.MethodPut, "/subscriptions/"+id, obj{}).body,
				} {
					if o["id"] != id || o["externalRefId"] != id {
						t.Errorf("%s: want %q, got id %v, externalRefId %v", where, id, o["id"], o["externalRefId"])
					}
				}
			}
		}},
		{fact: "without externalRefId the gateway picks the ID", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token()})
			if id, _ := s["id"].(string); !uuid.MatchString(id) {
				t.Errorf("want a UUID, got %v", s["id"])
			}
		}},
		{fact: "an externalRefId that does not match the pattern is 400", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			for _, id := range []any{"", "-", ".a", "_a", "a/b", "a b", " a", "ä", "a#", "..", strings.Repeat("x", 65), 7, obj{}} {
				g.refused(t, http.StatusBadRequest, "", http.MethodPost, "/subscriptions",
					obj{"apiId": handle, "subscriptionToken": token(), "externalRefId": id})
			}
			if got := g.subscriptions(t, "?apiId="+handle); len(got) != 0 {
				t.Errorf("want nothing created, got %v", got)
			}
		}},
		{fact: "the pattern is looked at before a clash", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, secret := g.api(t), token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": secret})
			g.refused(t, http.StatusBadRequest, "", http.MethodPost, "/subscriptions",
				obj{"apiId": handle, "subscriptionToken": secret, "externalRefId": "-"})
		}},
		{fact: "an ID is taken across all APIs, a clash of IDs looks like one of tokens", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			one, two, id, secret := g.api(t), g.api(t), g.name(), token()
			g.subscribe(t, obj{"apiId": one, "subscriptionToken": secret, "externalRefId": id})
			other := g.subscribe(t, obj{"apiId": two, "subscriptionToken": token()})
			for _, body := range []obj{
				{"apiId": one, "subscriptionToken": secret, "externalRefId": id},
				{"apiId": one, "subscriptionToken": token(), "externalRefId": id},
				{"apiId": two, "subscriptionToken": secret, "externalRefId": id},
				{"apiId": one, "subscriptionToken": token(), "externalRefId": other["id"]},
				{"apiId": one, "subscriptionToken": secret, "externalRefId": g.name()},
				{"apiId": one, "subscriptionToken": secret},
			} {
				g.want(t, http.StatusConflict, http.MethodPost, "/subscriptions", body)
			}
			g.subscribe(t, obj{"apiId": two, "subscriptionToken": secret, "externalRefId": strings.ToUpper(id)})
		}},
		{fact: "an ID is free again after a deletion, and after its API's", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, id, secret := g.api(t), g.name(), token()
			body := obj{"apiId": handle, "subscriptionToken": secret, "externalRefId": id}
			g.subscribe(t, body)
			g.want(t, http.StatusNoContent, http.MethodDelete, "/subscriptions/"+id, nil)
			g.subscribe(t, body)
			g.want(t, http.StatusOK, http.MethodDelete, "/rest-apis/"+handle, nil)
			g.createAPI(t, g.apiDoc(handle))
			g.subscribe(t, body)
		}},
		{fact: "a change switches, clears and leaves the plan", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, one, two := g.api(t), g.plan(t), g.plan(t)
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "subscriptionPlanId": one["id"]})
			path := "/subscriptions/" + s["id"].(string)
			for _, c := range []struct {
				body obj
				want any
			}{
				{obj{"subscriptionPlanId": two["id"]}, two["id"]},
				{obj{"status": "INACTIVE"}, two["id"]},
				{obj{}, two["id"]},
				{obj{"subscriptionPlanId": nil}, nil},
				{obj{"status": "ACTIVE"}, nil},
				{obj{"subscriptionPlanId": one["id"], "status": "REVOKED"}, one["id"]},
			} {
				g.want(t, http.StatusOK, http.MethodPut, path, c.body)
				if got := g.get(t, path)["subscriptionPlanId"]; got != c.want {
					t.Errorf("%v: want plan %v, got %v", c.body, c.want, got)
				}
			}
			g.want(t, http.StatusNoContent, http.MethodDelete, "/subscription-plans/"+two["id"].(string), nil)
		}},
		{fact: "a change switches the token: the new one is taken, the old one free", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, old, current := g.api(t), token(), token()
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
			path := "/subscriptions/" + s["id"].(string)
			if a := g.want(t, http.StatusOK, http.MethodPut, path, obj{"subscriptionToken": " " + current + "\n"}); strings.Contains(a.raw, current) {
				t.Error("want no token in the answer")
			}
			g.want(t, http.StatusConflict, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": current})
			other := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
			for _, body := range []obj{{"subscriptionToken": current}, {}, {"status": "REVOKED"}} {
				g.want(t, http.StatusOK, http.MethodPut, path, body)
			}
			g.want(t, http.StatusConflict, http.MethodPut, path, obj{"subscriptionToken": old})
			g.want(t, http.StatusConflict, http.MethodPut, "/subscriptions/"+other["id"].(string), obj{"subscriptionToken": current})
		}},
		{fact: "status, plan and token change together, or not at all", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			good, idle, foreign := g.plan(t), g.plan(t, with("status", "INACTIVE")), g.plan(t)
			handle := g.api(t, withPlans(good["planName"].(string), idle["planName"].(string)))
			old, taken := token(), token()
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": taken})
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
			path := "/subscriptions/" + s["id"].(string)
			before := g.get(t, path)
			fresh := token()
			for name, c := range map[string]struct {
				status int
				body   obj
			}{
				"missing plan":     {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": g.name(), "subscriptionToken": fresh}},
				"inactive plan":    {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": idle["id"], "subscriptionToken": fresh}},
				"plan not enabled": {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": foreign["id"], "subscriptionToken": fresh}},
				"empty token":      {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": good["id"], "subscriptionToken": ""}},
				"blank token":      {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": good["id"], "subscriptionToken": " \n"}},
				"taken token":      {http.StatusConflict, obj{"status": "REVOKED", "subscriptionPlanId": good["id"], "subscriptionToken": taken}},
				"unknown status":   {http.StatusBadRequest, obj{"status": "SUSPENDED", "subscriptionPlanId": good["id"], "subscriptionToken": fresh}},
				"plan of no type":  {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": 7, "subscriptionToken": fresh}},
				"token of no type": {http.StatusBadRequest, obj{"status": "REVOKED", "subscriptionPlanId": good["id"], "subscriptionToken": 7}},
			} {
				t.Run(name, func(t *testing.T) {
					g.refused(t, c.status, "", http.MethodPut, path, c.body)
					if diff := cmp.Diff(before, g.get(t, path)); diff != "" {
						t.Errorf("-before, +after:\n%s", diff)
					}
					g.want(t, http.StatusConflict, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": old})
				})
			}
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "INACTIVE", "subscriptionPlanId": good["id"], "subscriptionToken": fresh})
			if got := g.get(t, path); got["status"] != "INACTIVE" || got["subscriptionPlanId"] != good["id"] {
				t.Errorf("want all applied, got %v", got)
			}
			g.want(t, http.StatusConflict, http.MethodPost, "/subscriptions", obj{"apiId": handle, "subscriptionToken": fresh})
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
		}},
		{fact: "stricter reading: an empty plan ID or a null token is 400", inPlace: true, emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token()})
			path := "/subscriptions/" + s["id"].(string)
			for _, body := range []obj{{"subscriptionPlanId": ""}, {"subscriptionToken": nil}} {
				g.refused(t, http.StatusBadRequest, "", http.MethodPut, path, body)
			}
		}},
		{fact: "stricter reading: a plan that is sent again must still be usable", inPlace: true, emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			p := g.plan(t)
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token(), "subscriptionPlanId": p["id"]})
			path := "/subscriptions/" + s["id"].(string)
			g.want(t, http.StatusOK, http.MethodPut, "/subscription-plans/"+p["id"].(string), obj{"status": "INACTIVE"})
			g.refused(t, http.StatusBadRequest, "not active", http.MethodPut, path, obj{"status": "REVOKED", "subscriptionPlanId": p["id"]})
			g.want(t, http.StatusOK, http.MethodPut, path, obj{"status": "REVOKED"})
		}},
		{fact: "stricter reading: a subscription without externalRefId never shows one, and a change cannot set it", inPlace: true, emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			s := g.subscribe(t, obj{"apiId": g.api(t), "subscriptionToken": token()})
			a := g.want(t, http.StatusOK, http.MethodPut, "/subscriptions/"+s["id"].(string), obj{"externalRefId": g.name()})
			if v, ok := a.body["externalRefId"]; ok {
				t.Errorf("want no externalRefId, got %v", v)
			}
		}},
		{fact: "a rotated token works at once, the old one no longer", inPlace: true, emulator: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, old, current := g.api(t), token(), token()
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": old})
			g.want(t, http.StatusOK, http.MethodPut, "/subscriptions/"+s["id"].(string), obj{"subscriptionToken": current})
			if g.emulator.LetThrough(handle, old) || !g.emulator.LetThrough(handle, current) {
				t.Error("want the new token alone let through")
			}
		}},
		{fact: "of many creations with one ID at once one succeeds", inPlace: true, run: func(t *testing.T, g *gatewayUnderTest) {
			handle, id := g.api(t), g.name()
			g.tidy(t, "/subscriptions/"+id)
			got := parallel(func() (answer, error) {
				return g.send(t.Context(), request{
					method: http.MethodPost, url: g.url + basePath + "/subscriptions",
					body: obj{"apiId": handle, "subscriptionToken": token(), "externalRefId": id},
				})
			})
			if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusConflict: 19}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
	}
}
