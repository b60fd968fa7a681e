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
	"time"

	"github.com/google/go-cmp/cmp"
)

func restAPIChecks() []check {
	return []check{
		{fact: "a creation answers 201 with the handle as its ID, deployed", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.name()
			g.tidy(t, "/rest-apis/"+handle)
			a := g.want(t, http.StatusCreated, http.MethodPost, "/rest-apis", g.apiDoc(handle))
			want := obj{"id": handle, "state": "deployed"}
			got := obj{"id": field(a.body, "status.id"), "state": field(a.body, "status.state")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
		{fact: "the creation's answer is dated a little before what is stored", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.name()
			g.tidy(t, "/rest-apis/"+handle)
			a := g.want(t, http.StatusCreated, http.MethodPost, "/rest-apis", g.apiDoc(handle))
			answered := moment(t, field(a.body, "status.createdAt"))
			stored := moment(t, field(g.get(t, "/rest-apis/"+handle), "status.createdAt"))
			if d := stored.Sub(answered); d <= 0 || d > 5*time.Second {
				t.Errorf("want createdAt answered before createdAt stored, got %s and %s", answered, stored)
			}
		}},
		{fact: "a creation fills in virtual hosts, a replacement does not", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			want := obj{"main": "*", "sandbox": "sandbox-*"}
			if diff := cmp.Diff(any(want), field(g.get(t, "/rest-apis/"+handle), "spec.vhosts")); diff != "" {
				t.Errorf("after POST: -want, +got:\n%s", diff)
			}
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle))
			if got := field(g.get(t, "/rest-apis/"+handle), "spec.vhosts"); got != nil {
				t.Errorf("after PUT: want none, got %v", got)
			}
		}},
		{fact: "virtual hosts that are given are kept", run: func(t *testing.T, g *gatewayUnderTest) {
			want := obj{"main": "a.example.com;b.example.com"}
			handle := g.api(t, with("vhosts", want))
			if diff := cmp.Diff(any(want), field(g.get(t, "/rest-apis/"+handle), "spec.vhosts")); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
		{fact: "what is wrong is told field by field", run: func(t *testing.T, g *gatewayUnderTest) {
			main := func(u obj) func(obj) { return with("upstream", obj{"main": u}) }
			operation := func(o obj) func(obj) { return with("operations", []any{o}) }
			for name, c := range map[string]struct {
				change func(obj)
				field  string
			}{
				"no display name":         {with("displayName", nil), "spec.displayName"},
				"long display name":       {with("displayName", strings.Repeat("x", 101)), "spec.displayName"},
				"odd display name":        {with("displayName", "a/b"), "spec.displayName"},
				"no version":              {with("version", nil), "spec.version"},
				"odd version":             {with("version", "latest"), "spec.version"},
				"no context":              {with("context", nil), "spec.context"},
				"relative context":        {with("context", "a"), "spec.context"},
				"context ending in slash": {with("context", "/a/"), "spec.context"},
				"long context":            {with("context", "/"+strings.Repeat("x", 200)), "spec.context"},
				"no upstream":             {main(obj{}), "spec.upstream.main"},
				"two upstreams":           {main(obj{"url": "http://a", "ref": "b"}), "spec.upstream.main"},
				"no HTTP upstream":        {main(obj{"url": "ftp://a"}), "spec.upstream.main.url"},
				"upstream without host":   {main(obj{"url": "http://"}), "spec.upstream.main.url"},
				"dangling upstream":       {main(obj{"ref": "b"}), "spec.upstream.main.ref"},
				"no operations":           {with("operations", nil), "spec.operations"},
				"empty operations":        {with("operations", []any{}), "spec.operations"},
				"odd method":              {operation(obj{"method": "TRACE", "path": "/"}), "spec.operations[0].method"},
				"no path":                 {operation(obj{"method": "GET"}), "spec.operations[0].path"},
				"relative path":           {operation(obj{"method": "GET", "path": "a"}), "spec.operations[0].path"},
				"unbalanced path":         {operation(obj{"method": "GET", "path": "/{a"}), "spec.operations[0].path"},
				"match without path":      {operation(obj{"match": obj{"method": "GET"}}), "spec.operations[0].match.path.value"},
				"odd time-out":            {with("resilience", obj{"timeout": "1h30m"}), "spec.resilience.timeout"},
				"unknown policy":          {with("policies", []any{obj{"name": "no-such-policy", "version": "v1"}}), "spec.policies[0].version"},
				"full policy version":     {with("policies", []any{obj{"name": "no-such-policy", "version": "v1.0.0"}}), "spec.policies[0].version"},
				"policy of an operation": {
					operation(obj{"method": "GET", "path": "/", "policies": []any{obj{"name": "no-such-policy", "version": "v9"}}}),
					"spec.operations[0].policies[0].version",
				},
				"odd definition": {
					with("upstreamDefinitions", []any{obj{"name": "a b", "upstreams": []any{obj{"url": "http://a"}}}}),
					"spec.upstreamDefinitions[0].name",
				},
				"path in a definition": {
					with("upstreamDefinitions", []any{obj{"name": "a", "upstreams": []any{obj{"url": "http://a/b"}}}}),
					"spec.upstreamDefinitions[0].upstreams[0].url",
				},
			} {
				t.Run(name, func(t *testing.T) {
					handle := g.name()
					g.tidy(t, "/rest-apis/"+handle)
					a := g.want(t, http.StatusBadRequest, http.MethodPost, "/rest-apis", g.apiDoc(handle, c.change))
					isError(t, a, "Configuration validation failed")
					hasFieldError(t, a, c.field)
				})
			}
		}},
		{fact: "a replacement is validated like a creation", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			a := g.want(t, http.StatusBadRequest, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle, with("version", "latest")))
			isError(t, a, "Configuration validation failed")
			hasFieldError(t, a, "spec.version")
			if got := field(g.get(t, "/rest-apis/"+handle), "spec.version"); got != "v1.0" {
				t.Errorf("want nothing stored, got version %v", got)
			}
		}},
		{fact: "handles may be almost anything", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, handle := range []string{g.name() + ".Dots.And_UPPER", g.name() + "-ünïcode", g.name() + strings.Repeat("x", 300)} {
				doc := g.apiDoc(handle, with("displayName", g.name()), with("context", "/"+g.name()))
				g.createAPI(t, doc)
				if got := field(g.get(t, "/rest-apis/"+url.PathEscape(handle)), "metadata.name"); got != handle {
					t.Errorf("want %q, got %v", handle, got)
				}
			}
			for _, handle := range []string{"", "a b", "a/b", "a}", "a\tb"} {
				a := g.want(t, http.StatusBadRequest, http.MethodPost, "/rest-apis", g.apiDoc(handle, with("displayName", g.name())))
				hasFieldError(t, a, "metadata.name")
			}
		}},
		{fact: "label keys have no white space", run: func(t *testing.T, g *gatewayUnderTest) {
			doc := g.apiDoc(g.name())
			doc["metadata"].(obj)["labels"] = obj{"a b": "c"}
			hasFieldError(t, g.want(t, http.StatusBadRequest, http.MethodPost, "/rest-apis", doc), "metadata.labels")
		}},
		{fact: "the kind is validated, the apiVersion is stored as it is", run: func(t *testing.T, g *gatewayUnderTest) {
			doc := g.apiDoc(g.name())
			doc["kind"] = "Mcp"
			hasFieldError(t, g.want(t, http.StatusBadRequest, http.MethodPost, "/rest-apis", doc), "kind")
			doc["kind"], doc["apiVersion"] = "RestApi", "example.com/v7"
			handle := g.createAPI(t, doc)
			if got := g.get(t, "/rest-apis/"+handle)["apiVersion"]; got != "example.com/v7" {
				t.Errorf("want the apiVersion as it was sent, got %v", got)
			}
		}},
		{fact: "versions and contexts may be looser than the schema says", run: func(t *testing.T, g *gatewayUnderTest) {
			for _, version := range []string{"v1", "1.0", "v1.0.1", "7"} {
				g.api(t, with("version", version))
			}
			g.api(t, with("context", "/"+g.name()+" a.b"))
		}},
		{fact: "a name is taken: display name and version are looked at before the handle", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			g.refused(t, http.StatusConflict, "with name '"+handle+"' and version 'v1.0' already exists",
				http.MethodPost, "/rest-apis", g.apiDoc(handle))
			g.refused(t, http.StatusConflict, "with handle '"+handle+"' already exists",
				http.MethodPost, "/rest-apis", g.apiDoc(handle, with("displayName", g.name())))
			other := g.api(t)
			g.refused(t, http.StatusConflict, "with name '"+handle+"' and version 'v1.0' already exists",
				http.MethodPut, "/rest-apis/"+other, g.apiDoc(other, with("displayName", handle)))
			g.api(t, with("displayName", handle), with("version", "v2.0"))
		}},
		{fact: "display name and version may change", run: func(t *testing.T, g *gatewayUnderTest) {
			handle, name := g.api(t), g.name()
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle, with("displayName", name), with("version", "v2.0")))
			got := g.get(t, "/rest-apis/"+handle)
			if field(got, "spec.displayName") != name || field(got, "spec.version") != "v2.0" {
				t.Errorf("want them changed, got %v", got)
			}
		}},
		{fact: "contexts, operations and unknown plans are not looked at", run: func(t *testing.T, g *gatewayUnderTest) {
			same := "/" + g.name()
			op := obj{"method": "GET", "path": "/"}
			g.api(t, with("context", same), with("operations", []any{op, op}))
			g.api(t, with("context", same), withPlans(g.name()))
		}},
		{fact: "the handle in the body must be the one in the path", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			g.refused(t, http.StatusBadRequest, "handle mismatch", http.MethodPut, "/rest-apis/"+handle, g.apiDoc(g.name()))
		}},
		{fact: "what is unknown is 404", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.name()
			text := "RestAPI with handle '" + handle + "' not found"
			g.refused(t, http.StatusNotFound, text, http.MethodGet, "/rest-apis/"+handle, nil)
			g.refused(t, http.StatusNotFound, text, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle))
			g.refused(t, http.StatusNotFound, text, http.MethodDelete, "/rest-apis/"+handle, nil)
		}},
		{fact: "the internal ID is no handle", run: func(t *testing.T, g *gatewayUnderTest) {
			id := g.internalID(t, g.api(t))
			g.refused(t, http.StatusNotFound, "not found", http.MethodGet, "/rest-apis/"+id, nil)
		}},
		{fact: "a body that does not parse is 400", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			g.refused(t, http.StatusBadRequest, "ailed to parse", http.MethodPost, "/rest-apis", "{")
			g.refused(t, http.StatusBadRequest, "ailed to parse", http.MethodPost, "/rest-apis", `{"spec":{"operations":{}}}`)
			g.refused(t, http.StatusBadRequest, "ailed to parse", http.MethodPut, "/rest-apis/"+handle, "{")
		}},
		{fact: "labels and annotations are echoed, and replaced as a whole", run: func(t *testing.T, g *gatewayUnderTest) {
			doc := g.apiDoc(g.name())
			meta := doc["metadata"].(obj)
			meta["labels"], meta["annotations"] = obj{"a": "b"}, obj{"example.com/c": "d"}
			handle := g.createAPI(t, doc)
			if diff := cmp.Diff(any(meta), g.get(t, "/rest-apis/"+handle)["metadata"]); diff != "" {
				t.Errorf("after POST: -want, +got:\n%s", diff)
			}
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle))
			if diff := cmp.Diff(any(obj{"name": handle}), g.get(t, "/rest-apis/"+handle)["metadata"]); diff != "" {
				t.Errorf("after PUT: -want, +got:\n%s", diff)
			}
		}},
		{fact: "unknown fields, nulls and the status are dropped", run: func(t *testing.T, g *gatewayUnderTest) {
			doc := g.apiDoc(g.name(), func(spec obj) { spec["typo"], spec["policies"] = "x", nil })
			doc["status"], doc["more"] = obj{"id": "x", "state": "undeployed"}, 1
			handle := g.createAPI(t, doc)
			got := g.get(t, "/rest-apis/"+handle)
			spec := got["spec"].(obj)
			for _, k := range []string{"typo", "policies"} {
				if v, ok := spec[k]; ok {
					t.Errorf("want no %s, got %v", k, v)
				}
			}
			if _, ok := got["more"]; ok || field(got, "status.id") != handle || field(got, "status.state") != "deployed" {
				t.Errorf("want the gateway's own status and nothing more, got %v", got)
			}
		}},
		{fact: "empty lists and the order of lists are kept", run: func(t *testing.T, g *gatewayUnderTest) {
			ops := []any{
				obj{"method": "POST", "path": "/z"}, obj{"method": "GET", "path": "/a"},
				obj{"match": obj{"method": "GET", "path": obj{"type": "Exact", "value": "/m"}}},
			}
			handle := g.api(t, with("policies", []any{}), withPlans(), with("operations", ops))
			spec := g.get(t, "/rest-apis/"+handle)["spec"].(obj)
			if diff := cmp.Diff(any(ops), spec["operations"]); diff != "" {
				t.Errorf("operations: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(any([]any{}), spec["policies"]); diff != "" {
				t.Errorf("policies: -want, +got:\n%s", diff)
			}
		}},
		{fact: "numbers in params are normalised, their order and nesting kept", run: func(t *testing.T, g *gatewayUnderTest) {
			if g.policy == "" {
				t.Skip("needs a policy that accepts any params")
			}
			handle := g.name()
			g.tidy(t, "/rest-apis/"+handle)
			body := `{"apiVersion":"v1","kind":"RestApi","metadata":{"name":"` + handle + `"},"spec":{"displayName":"` + handle + `",
				"version":"v1.0","context":"/` + handle + `","upstream":{"main":{"url":"http://a.example.com"}},"operations":[{"method":"GET","path":"/"}],
				"policies":[{"name":"` + g.policy + `","version":"v1","params":{"z":2.0,"a":1e3,"e":{},"l":[3.0,{"n":null}]}},{"name":"` + g.policy + `","version":"v1"}]}}`
			g.want(t, http.StatusCreated, http.MethodPost, "/rest-apis", body)
			raw := g.want(t, http.StatusOK, http.MethodGet, "/rest-apis/"+handle, nil).raw
			if want := `"params":{"a":1000,"e":{},"l":[3,{"n":null}],"z":2}`; !strings.Contains(raw, want) {
				t.Errorf("want %s, got %s", want, raw)
			}
		}},
		{fact: "lists resolve $version, reads do not", run: func(t *testing.T, g *gatewayUnderTest) {
			context := "/" + g.name() + "/$version"
			resolved := strings.ReplaceAll(context, "$version", "v1.0")
			handle := g.api(t, with("context", context))
			if got := field(g.get(t, "/rest-apis/"+handle), "spec.context"); got != context {
				t.Errorf("GET: want %q, got %v", context, got)
			}
			got := g.apis(t, "?context="+url.QueryEscape(resolved))
			if diff := cmp.Diff([]string{resolved}, values(got, "spec.context")); diff != "" {
				t.Errorf("LIST by the resolved context: -want, +got:\n%s", diff)
			}
			if got := g.apis(t, "?context="+url.QueryEscape(context)); len(got) != 0 {
				t.Errorf("LIST by the raw context: want none, got %v", values(got, "metadata.name"))
			}
		}},
		{fact: "lists are newest first, filtered exactly, and never paged", run: func(t *testing.T, g *gatewayUnderTest) {
			one := g.api(t)
			two := g.api(t, with("version", "v7.7.7"))
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+two, g.apiDoc(two, with("version", "v7.7.7"), with("deploymentState", "undeployed")))
			for query, want := range map[string][]string{
				"":                                      {two, one},
				"?displayName=" + one:                   {one},
				"?displayName=" + strings.ToUpper(one):  {},
				"?version=v7.7.7":                       {two},
				"?status=undeployed":                    {two},
				"?status=nonsense":                      {},
				"?displayName=" + one + "&version=v7.7": {},
				"?displayName=":                         {two, one},
				"?limit=1&offset=1":                     {two, one},
				"?nonsense=x":                           {two, one},
			} {
				got := []string{}
				for _, handle := range values(g.apis(t, query), "metadata.name") {
					if handle == one || handle == two {
						got = append(got, handle)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q: -want, +got:\n%s", query, diff)
				}
			}
			if got := g.get(t, "/rest-apis")["status"]; got != "success" {
				t.Errorf("want status success in the list, got %v", got)
			}
		}},
		{fact: "a replacement by the same is a change", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			before := g.get(t, "/rest-apis/"+handle)
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle))
			after := g.get(t, "/rest-apis/"+handle)
			if !moment(t, field(after, "status.updatedAt")).After(moment(t, field(before, "status.updatedAt"))) {
				t.Errorf("want updatedAt to move, got %v and %v", field(before, "status.updatedAt"), field(after, "status.updatedAt"))
			}
			// Kept in milliseconds, so it may not have moved yet.
			if moment(t, field(after, "status.deployedAt")).Before(moment(t, field(before, "status.deployedAt"))) {
				t.Errorf("want deployedAt to move, got %v and %v", field(before, "status.deployedAt"), field(after, "status.deployedAt"))
			}
			if field(before, "status.createdAt") != field(after, "status.createdAt") {
				t.Errorf("want createdAt to stay, got %v and %v", field(before, "status.createdAt"), field(after, "status.createdAt"))
			}
		}},
		{fact: "reads change nothing", run: func(t *testing.T, g *gatewayUnderTest) {
			path := "/rest-apis/" + g.api(t)
			if diff := cmp.Diff(g.get(t, path), g.get(t, path)); diff != "" {
				t.Errorf("-first, +second:\n%s", diff)
			}
		}},
		{fact: "undeployed: the state says so, subscriptions stay and can be made", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			kept := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token()})
			g.want(t, http.StatusOK, http.MethodPut, "/rest-apis/"+handle, g.apiDoc(handle, with("deploymentState", "undeployed")))
			got := g.get(t, "/rest-apis/"+handle)
			if field(got, "status.state") != "undeployed" || field(got, "status.deployedAt") == nil {
				t.Errorf("want state undeployed with a deployedAt, got %v", got["status"])
			}
			g.get(t, "/subscriptions/"+kept["id"].(string))
			g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token()})
		}},
		{fact: "a creation deploys even what says undeployed, and keeps saying so", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t, with("deploymentState", "undeployed"))
			got := g.get(t, "/rest-apis/"+handle)
			if field(got, "spec.deploymentState") != "undeployed" || field(got, "status.state") != "deployed" {
				t.Errorf("want the spec as sent and the state deployed, got %v and %v", got["spec"], got["status"])
			}
		}},
		{fact: "most enumerations are not looked at", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t, with("deploymentState", "nonsense"), with("upstream", obj{"main": obj{"url": "http://a", "hostRewrite": "nonsense"}}),
				with("operations", []any{
					obj{"method": "get", "path": "/"},
					obj{"match": obj{"method": "GET", "path": obj{"type": "nonsense", "value": "/"}}},
				}))
			if got := field(g.get(t, "/rest-apis/"+handle), "status.state"); got != "deployed" {
				t.Errorf("want it deployed, got %v", got)
			}
		}},
		{fact: "an artifact-id annotation picks the internal ID, and takes over the API that has it", run: func(t *testing.T, g *gatewayUnderTest) {
			const annotation = "gateway.api-platform.wso2.com/artifact-id"
			one, two := g.name(), g.name()
			id := random() + "-" + random()[:4] + "-" + random()[:4] + "-" + random()[:4] + "-" + random() + random()[:4]
			doc := g.apiDoc(one)
			doc["metadata"].(obj)["annotations"] = obj{annotation: id}
			g.createAPI(t, doc)
			s := g.subscribe(t, obj{"apiId": one, "subscriptionToken": token()})
			if s["apiId"] != id {
				t.Errorf("want internal ID %s, got %v", id, s["apiId"])
			}
			doc = g.apiDoc(two)
			doc["metadata"].(obj)["annotations"] = obj{annotation: id}
			g.createAPI(t, doc)
			g.want(t, http.StatusNotFound, http.MethodGet, "/rest-apis/"+one, nil)
			if diff := cmp.Diff([]string{s["id"].(string)}, values(g.subscriptions(t, "?apiId="+two), "id")); diff != "" {
				t.Errorf("subscriptions of the API: -want, +got:\n%s", diff)
			}
			doc = g.apiDoc(g.name())
			doc["metadata"].(obj)["annotations"] = obj{annotation: "nonsense"}
			g.refused(t, http.StatusInternalServerError, "Failed to create configuration", http.MethodPost, "/rest-apis", doc)
		}},
		{fact: "templates are answered as they were sent, and must resolve", run: func(t *testing.T, g *gatewayUnderTest) {
			source := `http://backend.example.com{{ env "NO_SUCH_VARIABLE" }}`
			handle := g.api(t, with("upstream", obj{"main": obj{"url": source}}))
			if got := field(g.get(t, "/rest-apis/"+handle), "spec.upstream.main.url"); got != source {
				t.Errorf("want the template, got %v", got)
			}
			if got := field(g.apis(t, "?displayName="+handle)[0], "spec.upstream.main.url"); got != source {
				t.Errorf("LIST: want the template, got %v", got)
			}
			a := g.want(t, http.StatusBadRequest, http.MethodPut, "/rest-apis/"+handle,
				g.apiDoc(handle, with("upstream", obj{"main": obj{"url": `{{ env "NO_SUCH_VARIABLE" }}`}})))
			hasFieldError(t, a, "spec.upstream.main.url")
			g.refused(t, http.StatusBadRequest, "secret", http.MethodPut, "/rest-apis/"+handle,
				g.apiDoc(handle, with("upstream", obj{"main": obj{"url": `{{ secret "` + g.name() + `" }}`}})))
		}},
		{fact: "a deletion answers 200 with the ID, the second 404", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			a := g.want(t, http.StatusOK, http.MethodDelete, "/rest-apis/"+handle, nil)
			if a.body["status"] != "success" || a.body["id"] != handle || a.body["message"] == nil {
				t.Errorf("want status, message and id, got %s", a.raw)
			}
			g.refused(t, http.StatusNotFound, "not found", http.MethodDelete, "/rest-apis/"+handle, nil)
		}},
		{fact: "subscriptions vanish with their API, and another of its handle has another internal ID", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.api(t)
			plan := g.plan(t)
			s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "subscriptionPlanId": plan["id"]})
			g.want(t, http.StatusOK, http.MethodDelete, "/rest-apis/"+handle, nil)
			g.refused(t, http.StatusNotFound, "Subscription not found", http.MethodGet, "/subscriptions/"+s["id"].(string), nil)
			g.refused(t, http.StatusNotFound, "not found", http.MethodGet, "/subscriptions?apiId="+s["apiId"].(string), nil)
			g.refused(t, http.StatusNotFound, "Subscription not found", http.MethodDelete, "/subscriptions/"+s["id"].(string), nil)
			g.want(t, http.StatusNoContent, http.MethodDelete, "/subscription-plans/"+plan["id"].(string), nil)
			g.createAPI(t, g.apiDoc(handle))
			if got := g.subscriptions(t, "?apiId="+handle); len(got) != 0 {
				t.Errorf("want no subscriptions to the new API, got %v", got)
			}
			if again := g.internalID(t, handle); again == s["apiId"] {
				t.Errorf("want another internal ID, got %s again", again)
			}
		}},
		{fact: "of many creations at once one succeeds", run: func(t *testing.T, g *gatewayUnderTest) {
			handle := g.name()
			g.tidy(t, "/rest-apis/"+handle)
			got := parallel(func() (answer, error) {
				return g.send(t.Context(), request{method: http.MethodPost, url: g.url + basePath + "/rest-apis", body: g.apiDoc(handle)})
			})
			if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusConflict: 19}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		}},
	}
}

// hasFieldError checks that the answer says what is wrong with that field.
func hasFieldError(t *testing.T, a answer, name string) {
	t.Helper()
	errs, _ := a.body["errors"].([]any)
	for _, e := range errs {
		if o, ok := e.(obj); ok && o["field"] == name && o["message"] != "" {
			return
		}
	}
	t.Errorf("want an error about %s, got %s", name, a.raw)
}
