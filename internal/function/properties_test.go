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

package function

import (
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// run the function on a request, which it must not change.
func runFunction(t *rapid.T, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	was := proto.Clone(req).(*fnv1.RunFunctionRequest)
	rsp, err := (&Function{}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			t.Fatalf("it is fatal: %s", r.GetMessage())
		}
	}
	was.Desired, req.Desired = nil, nil
	if !proto.Equal(was, req) {
		t.Fatalf("the request was changed (-before +after):\n%s", cmp.Diff(was, req, protocmp.Transform()))
	}
	return rsp
}

var (
	someName   = rapid.SampledFrom([]string{"a", "b", "c", "v1", "gold"})
	someNames  = rapid.SliceOfNDistinct(someName, 1, 4, rapid.ID[string])
	someStatus = rapid.SampledFrom([]string{"True", "False", "Unknown"})
	someReason = rapid.SampledFrom([]string{
		"Applied", "Conflict", "ImmutableField", "Refused", "TokenSecretMissing", "PlanMissing", "PlanPending", "ApiMissing", "LegacyGateway",
		"AmbiguousAttempt", "GatewayChanged", "NewerBaseline", "AdoptionRefused", "GatewayUnavailable", "AnythingElse",
	})
)

// someSpec of a product, with its APIs and plans in any order.
func someSpec(t *rapid.T) map[string]any {
	var apis, plans []any
	for _, n := range someNames.Draw(t, "apis") {
		apis = append(apis, map[string]any{"name": n, "forProvider": map[string]any{"displayName": n}})
	}
	for _, n := range someNames.Draw(t, "plans") {
		p := map[string]any{"name": n}
		switch rapid.IntRange(0, 3).Draw(t, "kind of plan") {
		case 0:
			// One of the product's own can be referred to as well.
			p["subscriptionPlanRef"] = map[string]any{"name": rapid.SampledFrom([]string{"shared-", "books."}).Draw(t, "whose") + someName.Draw(t, "plan")}
		case 1:
			p["forProvider"] = map[string]any{"throttleLimitCount": 7.0, "throttleLimitUnit": "Day"}
		}
		plans = append(plans, p)
	}
	spec := map[string]any{"apis": apis, "plans": plans}
	if rapid.Bool().Draw(t, "with a configuration") {
		spec["providerConfigRef"] = map[string]any{"kind": "ProviderConfig", "name": "gateway"}
	}
	if rapid.Bool().Draw(t, "protected") {
		spec["protected"] = true
	}
	return spec
}

func someConditions(t *rapid.T) []any {
	var all []any
	for _, c := range []string{"Ready", "Synced", "Applied", "TokenInForce"} {
		if rapid.Bool().Draw(t, "has "+c) {
			all = append(all, map[string]any{
				"type": c, "status": someStatus.Draw(t, c), "reason": someReason.Draw(t, "reason"), "message": rapid.SampledFrom([]string{"", "it is so"}).Draw(t, "message"),
				"observedGeneration": rapid.SampledFrom([]any{1.0, 2.0}).Draw(t, "generation"),
			})
		}
	}
	return all
}

// someAccess is a request about an APIAccess that may ask for anything, of a product that
// may be anything, with a Subscription that may be in any state, or none.
func someAccess(t *rapid.T, existing bool) *fnv1.RunFunctionRequest {
	optional := func(label string, values ...any) any {
		return rapid.SampledFrom(append(values, nil)).Draw(t, label)
	}
	a := testArgs{
		XR: rapid.SampledFrom([]string{"access", "legacyAccess"}).Draw(t, "xr"),
		Change: map[string]any{"spec": map[string]any{
			"productRef":        map[string]any{"name": rapid.SampledFrom([]string{"books", "films"}).Draw(t, "product")},
			"api":               optional("api", "a", "v1"),
			"plan":              someName.Draw(t, "plan"),
			"application":       rapid.SampledFrom([]string{"web-shop", "other"}).Draw(t, "application"),
			"externalRefId":     optional("externalRefId", "x", "y"),
			"billingCustomerId": optional("billingCustomerId", "c", "d"),
			"tokenSecretRef":    optional("tokenSecretRef", map[string]any{"name": "web-shop"}, map[string]any{"name": "mine"}),
			"secretName":        optional("secretName", "mine", "yours"),
			"suspended":         optional("suspended", true, false),
		}},
		Required: map[string][]testObject{},
	}
	if a.XR == "legacyAccess" && rapid.Bool().Draw(t, "without claim") {
		a.Change["spec"].(map[string]any)["claimRef"] = nil
	}
	switch rapid.IntRange(0, 3).Draw(t, "product is there") {
	case 0:
	case 1:
		a.Required["product"] = nil
	default:
		a.Required["product"] = []testObject{{Is: "product", Change: map[string]any{
			"spec": someSpec(t), "metadata": map[string]any{"deletionTimestamp": optional("product is deleted", "2026-12-01T00:00:00Z")}}}}
	}
	handle := optional("API at the gateway", "books.v1", "films.a", "handle")
	if rapid.Bool().Draw(t, "held API is known") {
		a.Required["held-api"] = nil
		if handle == "books.v1" || handle == "films.a" {
			a.Required["held-api"] = []testObject{{Is: "apiV1", Change: map[string]any{
				"metadata": map[string]any{"name": handle, "labels": map[string]any{LabelProduct: beforeLastDot(handle.(string))}}}}}
		}
	}
	if existing {
		a.Observed = map[string]testObserved{"subscription": {
			testObject: testObject{Is: "subscription", Change: map[string]any{
				"metadata": map[string]any{
					"deletionTimestamp": optional("is deleted", "2026-12-01T00:00:00Z"),
					"annotations": map[string]any{
						"access.apiplatform.crossplane.io/api": optional("its API", "v1", "a"), "access.apiplatform.crossplane.io/plan": optional("its plan", "gold", "b")},
					"labels": map[string]any{"access.apiplatform.crossplane.io/product": optional("its product", "books", "films")},
				},
				"spec": map[string]any{"forProvider": map[string]any{
					"apiIdRef":              map[string]any{"name": rapid.SampledFrom([]string{"books.v1", "films.a"}).Draw(t, "its API's object")},
					"subscriptionPlanIdRef": optional("its plan's object", map[string]any{"name": "books.gold"}, map[string]any{"name": "shared-b"}),
					"externalRefId":         optional("its ID", "x", "y"),
					"billingCustomerId":     optional("its customer", "c", "d"),
				}},
				"status": map[string]any{
					"deployed": rapid.Bool().Draw(t, "deployed"), "conditions": someConditions(t),
					"atProvider": map[string]any{"apiId": handle}},
			}},
			Keys: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"token", "subscriptionId", "apiId", "url"}), rapid.ID[string]).Draw(t, "keys"),
		}}
	}
	return request(t, a)
}

// Whatever is asked for, and whatever became of the product: a Subscription that is there
// stays desired, and once it is at the gateway on the same API, protected by a Usage. A
// suspension is never held up.
func TestSubscriptionIsNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := someAccess(t, true)
		rsp := runFunction(t, req)
		is := req.GetObserved().GetResources()["subscription"].GetResource().AsMap()
		r, ok := rsp.GetDesired().GetResources()["subscription"]
		if !ok {
			t.Fatal("the Subscription is not desired")
		}
		shall := r.GetResource().AsMap()

		api := text(shall, "spec", "forProvider", "apiIdRef", "name")
		was, has := text(is, "spec", "forProvider", "apiIdRef", "name"), text(is, "status", "atProvider", "apiId")
		if flag(is, "status", "deployed") && api != was && api != has {
			t.Errorf("its API changes from %q to %q, and it has %q", was, api, has)
		}
		for _, found := range req.GetRequiredResources()["held-api"].GetItems() {
			if held := text(found.GetResource().AsMap(), "metadata", "name"); flag(is, "status", "deployed") && held != api {
				t.Errorf("it has %q, and is to be for %q", held, api)
			}
		}
		// What it was created with stays, unless the provider says that the spec asks for
		// something else than that, or it is what the gateway has.
		applied, _ := conditionOf(&unstructured.Unstructured{Object: is}, TypeApplied)
		if was, will := text(is, "spec", "providerConfigRef", "name"), text(shall, "spec", "providerConfigRef", "name"); flag(is, "status", "deployed") && was != will {
			t.Errorf("its gateway changes from %q to %q", was, will)
		}
		for _, f := range []string{"applicationId", "externalRefId", "billingCustomerId"} {
			was, will := text(is, "spec", "forProvider", f), text(shall, "spec", "forProvider", f)
			if flag(is, "status", "deployed") && was != will && !(applied.Status == isFalse && applied.Reason == "ImmutableField") && (will == "" || will != text(is, "status", "atProvider", f)) {
				t.Errorf("its %s changes from %q to %q", f, was, will)
			}
			if flag(is, "status", "deployed") && was != "" && will != "" && was != will {
				t.Errorf("its %s changes from %q to %q at once, which the API server refuses", f, was, will)
			}
		}
		product := text(shall, "metadata", "labels", LabelProduct)
		usage, ok := rsp.GetDesired().GetResources()["usage-of-"+product]
		if !ok || text(usage.GetResource().AsMap(), "spec", "of", "resourceRef", "name") != product {
			t.Errorf("its product %q is not protected", product)
		}
		xr := req.GetObserved().GetComposite().GetResource().AsMap()
		want := "ACTIVE"
		if flag(xr, "spec", "suspended") {
			want = "INACTIVE"
		}
		if got := text(shall, "spec", "forProvider", "status"); got != want {
			t.Errorf("its status is to be %q, and suspended is %v", got, flag(xr, "spec", "suspended"))
		}
		if text(shall, "spec", "writeConnectionSecretToRef", "name") == "" {
			t.Error("nothing says which Secret to write")
		}
		if text(is, "spec", "forProvider", "subscriptionPlanIdRef", "name") != "" && text(shall, "spec", "forProvider", "subscriptionPlanIdRef", "name") == "" {
			t.Error("it is to lose its plan, and with it its limit")
		}
	})
}

// An access is ready only if it has what it asks for.
func TestReadyIsWhatIsAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := someAccess(t, rapid.Bool().Draw(t, "existing"))
		rsp := runFunction(t, req)
		spec := fields(req.GetObserved().GetComposite().GetResource().AsMap(), "spec")
		sub := rsp.GetDesired().GetResources()["subscription"]
		if rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_FALSE || sub.GetReady() != fnv1.Ready_READY_TRUE {
			return
		}
		shall := sub.GetResource().AsMap()
		for _, of := range []struct{ asked, has string }{
			{text(spec, "plan"), text(shall, "metadata", "annotations", AnnotationPlan)},
			{text(spec, "api"), text(shall, "metadata", "annotations", AnnotationAPI)},
			{text(spec, "productRef", "name"), text(shall, "metadata", "labels", LabelProduct)},
			{text(spec, "application"), text(shall, "spec", "forProvider", "applicationId")},
			{text(spec, "externalRefId"), text(shall, "spec", "forProvider", "externalRefId")},
			{text(spec, "secretName"), text(shall, "spec", "writeConnectionSecretToRef", "name")},
		} {
			if of.asked != "" && of.asked != of.has {
				t.Errorf("it is ready with %q and asks for %q", of.has, of.asked)
			}
		}
		if !within(shall["spec"], req.GetObserved().GetResources()["subscription"].GetResource().AsMap()["spec"]) {
			t.Error("it is ready, and its Subscription is yet to be changed")
		}
	})
}

// All conditions are there each time, so that none that is over stays; each says something,
// and nothing holds a token.
func TestTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var req *fnv1.RunFunctionRequest
		want := []string{TypeAccepted, TypeApplied, TypeSecretPublished, TypeTokenInForce}
		if rapid.Bool().Draw(t, "access") {
			req = someAccess(t, rapid.Bool().Draw(t, "existing"))
		} else {
			req = someProduct(t)
			want = []string{TypeAPIsReady, TypePlansReady, TypeWithdrawn, TypeProtected}
		}
		rsp := runFunction(t, req)
		var got []string
		for _, c := range rsp.GetConditions() {
			got = append(got, c.GetType())
			if c.GetReason() == "" {
				t.Errorf("condition %s has no reason", c.GetType())
			}
			// A Subscription can leave out why; what this function says itself does not. That
			// nothing is withdrawn needs no reason.
			if c.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE && c.GetMessage() == "" && c.GetType() != TypeWithdrawn && c.GetType() != TypeApplied && c.GetType() != TypeTokenInForce {
				t.Errorf("condition %s is False and does not say why", c.GetType())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
		if strings.Contains(protojson.Format(rsp), theToken) {
			t.Error("the response holds the token")
		}
		if rsp.GetMeta().GetTtl().AsDuration() <= 0 {
			t.Error("the response is good for ever")
		}
	})
}

// someProduct is a request about an APIProduct, with any of the objects that it or an
// earlier spec of it could have.
func someProduct(t *rapid.T) *fnv1.RunFunctionRequest {
	a := testArgs{XR: "product", Change: map[string]any{"spec": someSpec(t)}, Observed: map[string]testObserved{}, Required: map[string][]testObject{}}
	for _, n := range rapid.SliceOfDistinct(someName, rapid.ID[string]).Draw(t, "observed APIs") {
		refs := []any{}
		for _, p := range rapid.SliceOfDistinct(someName, rapid.ID[string]).Draw(t, "its plans") {
			refs = append(refs, map[string]any{"name": rapid.SampledFrom([]string{"books.", "shared-"}).Draw(t, "whose") + p})
		}
		if rapid.Bool().Draw(t, "with its Usage") {
			a.Observed["usage-of-api-"+n] = testObserved{testObject: testObject{Is: "usage"}}
		}
		a.Observed["api-"+n] = testObserved{testObject: testObject{Is: "apiV1", Change: map[string]any{
			"metadata": map[string]any{"name": "books." + n},
			"spec":     map[string]any{"forProvider": map[string]any{"subscriptionPlanRefs": refs}},
			"status":   map[string]any{"conditions": someConditions(t)}}}}
	}
	for _, n := range rapid.SliceOfDistinct(someName, rapid.ID[string]).Draw(t, "observed plans") {
		a.Observed["plan-"+n] = testObserved{testObject: testObject{Is: "planGold", Change: map[string]any{
			"metadata": map[string]any{"name": "books." + n}, "status": map[string]any{
				"conditions": someConditions(t), "deployed": rapid.Bool().Draw(t, "deployed"), "atProvider": map[string]any{"id": "id-of-books." + n}}}}}
	}
	if rapid.Bool().Draw(t, "accesses are known") {
		a.Required["accesses"] = nil
		for range rapid.IntRange(0, 3).Draw(t, "accesses") {
			a.Required["accesses"] = append(a.Required["accesses"], testObject{Is: "subscription", Change: map[string]any{
				// Who composed it does not matter.
				"metadata": map[string]any{"labels": nil},
				"status": map[string]any{"atProvider": map[string]any{
					"apiId": "books." + someName.Draw(t, "has"), "subscriptionPlanId": "id-of-books." + someName.Draw(t, "is under")}},
				"spec": map[string]any{"forProvider": map[string]any{
					"apiIdRef":              map[string]any{"name": "books." + someName.Draw(t, "uses")},
					"subscriptionPlanIdRef": map[string]any{"name": rapid.SampledFrom([]string{"books.", "shared-"}).Draw(t, "whose") + someName.Draw(t, "under")},
				}}}})
		}
	}
	return request(t, a)
}

// What is used stays: an API for each access to it, and the plan of each access in the
// list of every API. As long as the accesses are not known, all stays. Beyond that, an
// API offers just what is in the spec.
func TestWhatIsUsedStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := someProduct(t)
		rsp := runFunction(t, req)
		accesses, known := req.GetRequiredResources()["accesses"]
		_, asked := rsp.GetRequirements().GetResources()["accesses"]
		usedAPIs, usedPlans := map[string]bool{}, map[string]bool{}
		for _, s := range accesses.GetItems() {
			o := s.GetResource().AsMap()
			usedAPIs[text(o, "spec", "forProvider", "apiIdRef", "name")] = true
			usedAPIs[text(o, "status", "atProvider", "apiId")] = true
			usedPlans[text(o, "spec", "forProvider", "subscriptionPlanIdRef", "name")] = true
			// Of the plans that are there, the ID is known.
			if has := strings.TrimPrefix(text(o, "status", "atProvider", "subscriptionPlanId"), "id-of-"); req.GetObserved().GetResources()[prefixPlan+afterLastDot(has)] != nil {
				usedPlans[has] = true
			}
		}
		offered := map[string]bool{}
		xr := req.GetObserved().GetComposite().GetResource().AsMap()
		plans, _, _ := unstructured.NestedSlice(xr, "spec", "plans")
		for _, p := range plans {
			p := p.(map[string]any)
			if ref := text(p, "subscriptionPlanRef", "name"); ref != "" {
				offered[ref] = true
			} else {
				offered["books."+text(p, "name")] = true
			}
		}

		there := map[string]bool{}
		for name, r := range req.GetObserved().GetResources() {
			o := r.GetResource().AsMap()
			object := text(o, "metadata", "name")
			_, stays := rsp.GetDesired().GetResources()[name]
			if strings.HasPrefix(name, prefixAPIUsage) {
				continue
			}
			if strings.HasPrefix(name, prefixAPI) {
				_, protected := rsp.GetDesired().GetResources()[prefixAPIUsage+strings.TrimPrefix(name, prefixAPI)]
				if (!known || usedAPIs[object]) && !(stays && protected) {
					t.Errorf("API %s goes, or its Usage, and is used or might be", object)
				}
				if _, was := req.GetObserved().GetResources()[prefixAPIUsage+strings.TrimPrefix(name, prefixAPI)]; !stays && was {
					t.Errorf("API %s goes before its Usage, which would be refused", object)
				}
				refs, _, _ := unstructured.NestedSlice(o, "spec", "forProvider", "subscriptionPlanRefs")
				for _, ref := range refs {
					there[text(ref.(map[string]any), "name")] = true
				}
				continue
			}
			there[object] = true
			if (!known || usedPlans[object] || offered[object]) && !stays {
				t.Errorf("plan %s goes, and is offered, used or might be", object)
			}
		}
		var want []string
		for _, n := range []string{"books.", "shared-"} {
			for _, p := range []string{"a", "b", "c", "v1", "gold"} {
				object := n + p
				if offered[object] || there[object] && (!known || usedPlans[object]) {
					want = append(want, object)
				}
			}
		}
		slices.Sort(want)
		for name, r := range rsp.GetDesired().GetResources() {
			if !strings.HasPrefix(name, prefixAPI) {
				continue
			}
			refs, _, _ := unstructured.NestedSlice(r.GetResource().AsMap(), "spec", "forProvider", "subscriptionPlanRefs")
			var got []string
			for _, ref := range refs {
				got = append(got, text(ref.(map[string]any), "name"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plans of %s (-want +got):\n%s", name, diff)
			}
		}
		if !asked {
			for name := range req.GetObserved().GetResources() {
				if strings.HasPrefix(name, prefixAPIUsage) {
					continue
				}
				if _, ok := rsp.GetDesired().GetResources()[name]; !ok {
					t.Errorf("%s goes, and nobody was asked whether it is used", name)
				}
			}
		}
	})
}

// In which order APIs, plans and what was looked up come does not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := someProduct(t)
		other := proto.Clone(req).(*fnv1.RunFunctionRequest)
		xr := other.GetObserved().GetComposite().GetResource().AsMap()
		for _, list := range []string{"apis", "plans"} {
			all, _, _ := unstructured.NestedSlice(xr, "spec", list)
			xr["spec"].(map[string]any)[list] = rapid.Permutation(all).Draw(t, list)
		}
		other.Observed.Composite.Resource = asStruct(t, xr)
		if l := other.GetRequiredResources()["accesses"]; l != nil {
			l.Items = rapid.Permutation(l.GetItems()).Draw(t, "accesses")
		}
		if one, two := runFunction(t, req), runFunction(t, other); !proto.Equal(one, two) {
			t.Errorf("another order makes a difference:\n%s", cmp.Diff(one, two, protocmp.Transform()))
		}
	})
}

// Once what is desired is there, the same is desired again: no pass undoes what the one
// before did. Only an API that nobody uses takes two, since its Usage goes before it does.
func TestSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var req *fnv1.RunFunctionRequest
		if rapid.Bool().Draw(t, "access") {
			req = someAccess(t, rapid.Bool().Draw(t, "existing"))
		} else {
			req = someProduct(t)
		}
		rsp := runFunction(t, req)
		for pass := range 3 {
			next := proto.Clone(req).(*fnv1.RunFunctionRequest)
			next.Observed.Resources = map[string]*fnv1.Resource{}
			for name, r := range rsp.GetDesired().GetResources() {
				// What Crossplane applies, onto what there was.
				next.Observed.Resources[name] = asObserved(t, r, req.GetObserved().GetResources()[name], name)
			}
			again := runFunction(t, next)
			if pass > 0 {
				if diff := cmp.Diff(objectsOf(rsp), objectsOf(again)); diff != "" {
					t.Errorf("what is desired changes (-before +after):\n%s", diff)
				}
			}
			for name := range again.GetDesired().GetResources() {
				if _, ok := rsp.GetDesired().GetResources()[name]; !ok {
					t.Errorf("%s is desired only now", name)
				}
			}
			req, rsp = next, again
		}
	})
}

// Nothing that is composed ever has the name of something else that was: Crossplane would
// apply the one onto the other, which may be on its way out.
func TestNamesAreTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := map[string]string{}
		for range 2 {
			rsp := runFunction(t, someAccess(t, true))
			for name, r := range rsp.GetDesired().GetResources() {
				o := &unstructured.Unstructured{Object: r.GetResource().AsMap()}
				if o.GetName() == "" {
					// Crossplane makes it from the composition name.
					continue
				}
				object := o.GetKind() + " " + o.GetName()
				if is, ok := names[object]; ok && is != name {
					t.Errorf("%s is %s, and was %s", object, name, is)
				}
				names[object] = name
			}
		}
	})
}

// asObserved is a desired resource once it was applied.
func asObserved(t *rapid.T, desired, was *fnv1.Resource, name string) *fnv1.Resource {
	o := desired.GetResource().AsMap()
	metadata := o["metadata"].(map[string]any)
	if n := text(was.GetResource().AsMap(), "metadata", "name"); n != "" {
		metadata["name"] = n
	}
	if text(metadata, "name") == "" {
		metadata["name"] = "named-" + name
	}
	if s := was.GetResource().AsMap()["status"]; s != nil {
		o["status"] = s
		// What its conditions are about does not change either.
		if g := fields(was.GetResource().AsMap(), "metadata")["generation"]; g != nil {
			metadata["generation"] = g
		}
	}
	return &fnv1.Resource{Resource: asStruct(t, o), ConnectionDetails: was.GetConnectionDetails()}
}

// objectsOf what is desired.
func objectsOf(rsp *fnv1.RunFunctionResponse) map[string]any {
	all := map[string]any{}
	for name, r := range rsp.GetDesired().GetResources() {
		all[name] = r.GetResource().AsMap()
	}
	return all
}
