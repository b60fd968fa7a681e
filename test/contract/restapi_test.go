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

package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// apiRequests selects what was asked about APIs.
func apiRequests(method string) emulator.Match {
	return emulator.Match{Method: method, Kind: emulator.RestAPIs}
}

// A straightforward create is one POST, and ten idle drift intervals write
// nothing, neither at the gateway nor at the API server.
//
// contract: R1, R4, A10
func TestRestApiIdle(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		a := w.api("books", "Gold")
		a.Spec.ForProvider.Context = "/books/$version"
		a.Spec.ForProvider.Policies = []gatewayv1alpha1.Policy{{
			Name: "rate", Version: ptr("v1"),
			Params: &runtime.RawExtension{Raw: []byte(`{"b":2.0,"a":1e3,"deep":{"list":[],"on":true},"t":"{{ env \"X\" }}"}`)},
		}}
		w.create(a)
		w.ready(a)
		if externalName(a) != "books" || !a.Status.Deployed || a.Status.AtProvider.Context != "/books/v1.0" {
			t.Errorf("external-name %q, status %+v", externalName(a), a.Status)
		}
		w.polled("books", 2)
		if err := w.get(a); err != nil {
			t.Fatal(err)
		}
		version := a.GetResourceVersion()
		w.polled("books", 10)
		if err := w.get(a); err != nil {
			t.Fatal(err)
		}
		if n := w.writes(); n != 1 || a.GetResourceVersion() != version {
			t.Errorf("%d writes at the gateway; resource version %s, was %s", n, a.GetResourceVersion(), version)
		}
	})
}

// contract: R2, S32
func TestRestApiLostAnswer(t *testing.T) {
	for name, fault := range map[string]emulator.Fault{
		"Cut":       emulator.Cut().After(),
		"CutBefore": emulator.Cut().Before(),
		"Error500":  emulator.Status(500, "Failed to create configuration").After(),
		"EmptyBody": emulator.EmptyBody().After(),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.Legacy, func(t *testing.T, w *world) {
				w.gw.Inject(emulator.FailOnce(apiRequests(http.MethodPost), fault))
				a := w.api("books")
				w.create(a)
				w.ready(a)
				if n := len(w.gw.APIs()); n != 1 {
					t.Errorf("%d APIs", n)
				}
				w.delete(a)
				w.gone(a)
				if n := len(w.gw.APIs()); n != 0 {
					t.Errorf("%d APIs left behind", n)
				}
			})
		})
	}
}

// contract: R2, A11
func TestRestApiStranger(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		before, _ := w.gw.AddAPI("books")
		a := w.api("books")
		a.Spec.ForProvider.DisplayName = "Other"
		w.create(a)
		if m := w.refused(a, gatewayv1alpha1.ReasonConflict); !strings.Contains(m, "external-name") {
			t.Errorf("message %q", m)
		}
		if w.writes() != 0 {
			t.Error("written")
		}

		// The handle becomes free: it is noticed.
		w.gw.DeleteAPI("books")
		w.ready(a)
		w.delete(a)
		w.gone(a)

		w.gw.AddAPI("orders")
		named := w.api("orders")
		named.SetAnnotations(map[string]string{"crossplane.io/external-name": "orders"})
		w.create(named)
		w.ready(named)
		if named.Status.AtProvider.Origin != gatewayv1alpha1.OriginImported {
			t.Errorf("origin %q", named.Status.AtProvider.Origin)
		}
		_ = before
	})
}

// Drift is set back within a drift interval, and a deleted API comes back with
// its subscription.
//
// contract: S30
// case: W7
func TestRestApiDrift(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		a := w.api("books")
		w.create(a)
		w.ready(a)
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}))
		s := w.subscription("one", "books", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
		})
		w.create(s)
		w.ready(s)

		_, doc := w.gw.Do(http.MethodGet, "/rest-apis/books", nil)
		spec, _ := doc["spec"].(map[string]any)
		spec["context"] = "/evil"
		w.gw.Do(http.MethodPut, "/rest-apis/books", doc)
		w.eventually("the context is set back", func() error {
			if is := w.gatewayContext("books"); is != "/books" {
				return fmt.Errorf("it is %v", is)
			}
			return nil
		})

		w.gw.DeleteAPI("books")
		w.eventually("the API and its subscription are back", func() error {
			if _, ok := w.gw.API("books"); !ok || !w.gw.LetThrough("books", "token-of-one") {
				return fmt.Errorf("the API is there: %t", ok)
			}
			return nil
		})
		w.ready(a, s)
	})
}

// What a configuration denies is not written, and both take effect with an edit: of the
// configuration, and of the API.
//
// contract: R5, A3
func TestRestApiExpressionsDenied(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		config := w.itsConfig()
		says := func(p v1alpha1.TemplateExpressionsPolicy) {
			edit(w, config, func(c *v1alpha1.ProviderConfig) { c.Spec.TemplateExpressions = p })
		}
		says(v1alpha1.TemplateExpressionsDeny)
		a := w.api("books")
		a.Spec.ForProvider.Policies = []gatewayv1alpha1.Policy{{
			Name: "rate", Version: ptr("v1"), Params: &runtime.RawExtension{Raw: []byte(`{"t":"{{ env \"X\" }}"}`)},
		}}
		w.create(a)
		if m := w.refused(a, gatewayv1alpha1.ReasonRefused); !strings.HasPrefix(m, "spec.forProvider.policies[0].params.t ") {
			t.Errorf("message %q", m)
		}
		if n := w.writes(); n != 0 {
			t.Errorf("%d writes at the gateway", n)
		}
		says(v1alpha1.TemplateExpressionsAllow)
		w.ready(a)
		says(v1alpha1.TemplateExpressionsDeny)
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Context = "/elsewhere" })
		w.refused(a, gatewayv1alpha1.ReasonRefused)
		if n := w.writes(); n != 1 {
			t.Errorf("%d writes at the gateway", n)
		}
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Policies = nil })
		w.ready(a)
		if n := w.writes(); n != 2 || w.gatewayContext("books") != "/elsewhere" {
			t.Errorf("%d writes at the gateway, context %v", n, w.gatewayContext("books"))
		}
	})
}

func (w *world) gatewayContext(handle string) any {
	a, _ := w.gw.API(handle)
	spec, _ := a.Document["spec"].(map[string]any)
	return spec["context"]
}

// What the gateway complains about is in the conditions, in the words of the
// spec, and an edit that cures it is applied at once.
//
// contract: R5, A3
// case: H1, F4
func TestRestApiRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, emulator.Options{Policies: map[string][]string{"set-headers": {"v1"}}})
	a := w.api("books")
	a.Spec.ForProvider.Policies = []gatewayv1alpha1.Policy{{Name: "set-headers", Version: ptr("v9")}}
	w.create(a)
	if m := w.refused(a, gatewayv1alpha1.ReasonRefused); !strings.Contains(m, "spec.forProvider.policies[0]") {
		t.Errorf("message %q", m)
	}
	edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Policies[0].Version = ptr("v1") })
	w.ready(a)
	posts := w.gw.Count(apiRequests(http.MethodPost))

	edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Policies[0].Version = ptr("v9") })
	w.refused(a, gatewayv1alpha1.ReasonRefused)
	w.polled("books", 6)
	if n := w.gw.Count(apiRequests(http.MethodPut)); n > 3 {
		t.Errorf("%d PUTs of what is refused", n)
	}
	// It is created again also while its edit is refused, as soon as that is cured.
	w.gw.DeleteAPI("books")
	edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Policies = nil })
	w.ready(a)
	// One, and another if it was found gone before it was cured.
	if n := w.gw.Count(apiRequests(http.MethodPost)) - posts; n < 1 || n > 2 {
		t.Errorf("%d more POSTs, want 1 or 2", n)
	}
}

// contract: R6
func TestRestApiDeletionIsTold(t *testing.T) {
	in(t, emulator.Legacy, func(_ *testing.T, w *world) {
		a := w.api("books")
		w.create(a)
		w.ready(a)
		w.gw.AddSubscription(emulator.Subscription{APIHandle: "books"}, "some-token")
		w.delete(a)
		w.gone(a)
		w.eventually("an event tells what vanished", func() error {
			if got := w.events(a); !slices.Contains(got, "DeletesSubscriptions") {
				return fmt.Errorf("events %v", got)
			}
			return nil
		})
	})
}

// contract: R1
func TestRestApiHandle(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		a := w.api("books")
		a.SetAnnotations(map[string]string{"crossplane.io/external-name": "library"})
		w.create(a)
		w.ready(a)
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Annotations["crossplane.io/external-name"] = "other" })
		w.refused(a, gatewayv1alpha1.ReasonImmutableField)
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { delete(a.Annotations, "crossplane.io/external-name") })
		w.ready(a)
		if externalName(a) != "library" || len(w.gw.APIs()) != 1 {
			t.Errorf("external-name %q, %d APIs", externalName(a), len(w.gw.APIs()))
		}
	})
}

// contract: R5
func TestRestApiAdmission(t *testing.T) {
	t.Parallel()
	const with = `{"spec":{"forProvider":%s}}`
	cases := map[string]struct {
		merge string
		field string
	}{
		"NoURLNorRef":     {`{"upstream":{"main":{"url":null}}}`, "exactly one of url and ref"},
		"URLAndRef":       {`{"upstream":{"main":{"ref":"x"}},"upstreamDefinitions":[{"name":"x","upstreams":[{"url":"http://a"}]}]}`, "exactly one of url and ref"},
		"RefToNothing":    {`{"upstream":{"main":{"url":null,"ref":"x"}}}`, "must be the name of one of upstreamDefinitions"},
		"SandboxRef":      {`{"upstream":{"sandbox":{"ref":"x"}}}`, "upstream.sandbox.ref must be"},
		"URLScheme":       {`{"upstream":{"main":{"url":"ftp://a"}}}`, "upstream.main.url"},
		"TwoDefinitions":  {`{"upstreamDefinitions":[{"name":"x","upstreams":[{"url":"http://a"}]},{"name":"x","upstreams":[{"url":"http://a"}]}]}`, "Duplicate value"},
		"DefinitionPath":  {`{"upstreamDefinitions":[{"name":"x","upstreams":[{"url":"http://a/b"}]}]}`, "upstreams[0].url"},
		"Context":         {`{"context":"/a/"}`, "context"},
		"Version":         {`{"version":"one"}`, "version"},
		"DisplayName":     {`{"displayName":"a/b"}`, "displayName"},
		"NoOperations":    {`{"operations":[]}`, "operations"},
		"HalfAnOperation": {`{"operations":[{"method":"GET"}]}`, "either by method and path, or by match"},
		"BothForms":       {`{"operations":[{"method":"GET","path":"/","match":{"method":"GET","path":{"value":"/"}}}]}`, "either by method and path, or by match"},
		"Method":          {`{"operations":[{"method":"get","path":"/"}]}`, "method"},
		"Braces":          {`{"operations":[{"method":"GET","path":"/{a"}]}`, "path"},
		"PolicyVersion":   {`{"policies":[{"name":"a","version":"v1.0.0"}]}`, "policies[0].version"},
		"Params":          {`{"policies":[{"name":"a","params":[1]}]}`, "policies[0].params"},
		"Timeout":         {`{"resilience":{"timeout":"1h30m"}}`, "resilience.timeout"},
		"LabelKey":        {`{"labels":{"a b":"c"}}`, "must not be empty or contain white space"},
		"Owner":           {`{"annotations":{"apiplatform.crossplane.io/owner":"x"}}`, "set by the provider"},
		"ArtifactID":      {`{"annotations":{"gateway.api-platform.wso2.com/artifact-id":"x"}}`, "can overwrite another API"},
		"VhostSentinel":   {`{"vhosts":{"main":"_gateway_default_"}}`, "vhosts.main"},
		"State":           {`{"deploymentState":"off"}`, "deploymentState"},
		"Accepted":        {`{"displayName":"{{ env \"X\" }}","vhosts":{"main":"*","sandbox":"sandbox-*"},"policies":[{"name":"a","params":{"x":[1,2.0,null]}}]}`, ""},
	}
	a := &gatewayv1alpha1.RestApi{}
	a.Namespace, a.Name = "default", "admission"
	url := "http://a"
	a.Spec.ForProvider = gatewayv1alpha1.RestApiParameters{
		DisplayName: "a", Version: "v1.0", Context: "/a", Upstream: gatewayv1alpha1.RestApiUpstreams{Main: gatewayv1alpha1.Upstream{URL: &url}},
		Operations: []gatewayv1alpha1.Operation{{Method: ptr(gatewayv1alpha1.HTTPMethod("GET")), Path: ptr("/")}},
	}
	if err := shared.kube.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, with, tc.merge))
			err := shared.kube.Patch(t.Context(), a.DeepCopy(), patch, client.DryRunAll)
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.field) {
				t.Errorf("want a refusal that names %q, got %v", tc.field, err)
			}
		})
	}
	t.Run("ProviderConfigKind", func(t *testing.T) {
		b := a.DeepCopy()
		b.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "Secret", Name: "x"}
		if err := shared.kube.Update(t.Context(), b, client.DryRunAll); !kerrors.IsInvalid(err) {
			t.Errorf("want a refusal, got %v", err)
		}
	})
	if err := shared.kube.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}
