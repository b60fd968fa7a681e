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
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kyaml "sigs.k8s.io/yaml"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A specimen is a good spec of a kind. Between them the specimens of a kind have
// all its fields; one that they lack is walked where most of the way to it is there.
type specimen struct {
	kind, name string
	// spec in YAML. In it NAME stands for the object's name, and what the setting
	// knows for what it is.
	spec string
}

// specimens of every kind a user writes.
var specimens = []specimen{
	{"SubscriptionPlan", "Full", `
adoptionPolicy: Never
managementPolicies: ["*"]
providerConfigRef: {kind: ProviderConfig, name: gateway}
forProvider:
  planName: Plan NAME
  billingPlan: COMMERCIAL
  stopOnQuotaReach: false
  throttleLimitCount: 100
  throttleLimitUnit: Hour
  expiryTime: "2031-01-02T03:04:05Z"
  status: ACTIVE
`},
	{"RestApi", "Full", `
adoptionPolicy: Never
managementPolicies: ["*"]
providerConfigRef: {kind: ProviderConfig, name: gateway}
forProvider:
  displayName: NAME
  version: v1.0
  context: /NAME/$version
  upstreamDefinitions:
  - name: first
    basePath: /base
    timeout: {connect: 5s}
    upstreams: [{url: "http://a.example.org:8080", weight: 80}, {url: "http://b.example.org", weight: 20}]
  - name: second
    upstreams: [{url: "http://c.example.org"}]
  upstream:
    main: {ref: first, hostRewrite: manual}
    sandbox: {url: "http://sandbox.example.org/x", hostRewrite: auto}
  vhosts: {main: "a.example.com;*.example.org", sandbox: s.example.com}
  subscriptionPlans: [Silver, Bronze]
  subscriptionPlanRefs: [{name: gold}]
  policies:
  - {name: rate, version: v1, executionCondition: "request.method == 'GET'", params: {b: 2.5, a: 1000, deep: {list: [1, "x"], on: true}}}
  - {name: log}
  resilience: {timeout: 15s, idleTimeout: 30s}
  operations:
  - {method: GET, path: "/books/{id}", policies: [{name: log, version: v1, executionCondition: "true", params: {x: y}}], resilience: {timeout: 1s, idleTimeout: 2s}}
  - match: {method: POST, path: {value: /books, type: Exact}, headers: [{name: X-A, value: b, type: Exact}, {name: X-B, value: c}]}
  deploymentState: deployed
  labels: {team: a}
  annotations: {note: b}
`},
	{"RestApi", "Small", `
providerConfigRef: {kind: ProviderConfig, name: gateway}
forProvider:
  displayName: NAME
  version: v1.0
  context: /NAME
  upstreamDefinitions: [{name: first, upstreams: [{url: "http://a.example.org"}]}]
  upstream: {main: {url: "http://a.example.org"}, sandbox: {ref: first}}
  vhosts: {main: a.example.com}
  operations: [{method: GET, path: /}]
`},
	{"Subscription", "ByValue", `
adoptionPolicy: IfUnique
managementPolicies: ["*"]
providerConfigRef: {kind: ProviderConfig, name: gateway}
writeConnectionSecretToRef: {name: NAME-connection}
forProvider:
  externalRefId: NAME
  apiId: api
  applicationId: app-NAME
  subscriptionPlanId: BRONZE-ID
  billingCustomerId: customer
  billingSubscriptionId: subscription
  status: ACTIVE
  subscriptionTokenSecretRef: {name: NAME-token, key: token}
`},
	{"Subscription", "ByReference", `
providerConfigRef: {kind: ProviderConfig, name: gateway}
writeConnectionSecretToRef: {name: NAME-connection}
forProvider:
  apiIdRef: {name: api}
  applicationId: app-NAME
  subscriptionPlanIdRef: {name: gold}
`},
	{"Subscription", "BySelector", `
providerConfigRef: {kind: ProviderConfig, name: gateway}
forProvider:
  apiIdSelector: {matchLabels: {walked: reference}, matchControllerRef: false}
  applicationId: app-NAME
  subscriptionPlanIdSelector: {matchLabels: {walked: reference}, matchControllerRef: false}
  subscriptionTokenSecretRef: {name: NAME-token}
`},
	{"Subscription", "ByName", `
providerConfigRef: {kind: ProviderConfig, name: gateway}
forProvider:
  apiId: api
  subscriptionPlanName: Bronze
  subscriptionTokenSecretRef: {name: NAME-token}
`},
}

// configs are what the specimens of both kinds of configuration have in common; IN
// stands for the namespace of a reference, where a kind has one.
var configs = []specimen{
	{"", "Basic", `
endpoint: HTTP-URL
gateway: {generation: InPlace, invocationURL: "https://api.example.org/x"}
timeout: 2s
credentials: {source: Basic, basic: {username: admin, passwordSecretRef: {name: gateway, key: passwordIN}}}
tls: {insecureSkipVerify: false}
`},
	{"", "Bearer", `
endpoint: HTTPS-URL
timeout: 3s
credentials: {source: BearerToken, bearerToken: {secretRef: {name: walk, key: bearerIN}}}
tls: {caSecretRef: {name: walk, key: ca.crtIN}, clientCertSecretRef: {name: walkIN}}
`},
	{"", "OAuth2", `
endpoint: HTTPS-URL
timeout: 3s
credentials: {source: OAuth2ClientCredentials, oauth2: {tokenURL: TOKEN-URL, clientID: walker, clientSecretRef: {name: walk, key: oauth2IN}, scopes: [one, two]}}
tls: {caConfigMapRef: {name: walk, key: ca.crtIN}, clientCertSecretRef: {name: walkIN}}
`},
	{"", "Bundle", `
endpoint: HTTPS-URL
credentials: {source: Basic, basic: {username: admin, passwordSecretRef: {name: gateway, key: passwordIN}}}
tls: {caBundle: CA-BUNDLE, clientCertSecretRef: {name: walkIN}}
`},
}

// allSpecimens are those of all kinds a user writes.
func allSpecimens() []specimen {
	out := slices.Clone(specimens)
	for _, c := range configs {
		out = append(out,
			specimen{v1alpha1.ProviderConfigKind, c.name, strings.ReplaceAll(c.spec, "IN}", "}")},
			specimen{v1alpha1.ClusterProviderConfigKind, c.name, strings.ReplaceAll(c.spec, "IN}", ", namespace: NAMESPACE}") +
				"allowedNamespaces: {matchLabels: {walked: yes-it-is}, matchExpressions: [{key: walked, operator: In, values: [yes-it-is, perhaps]}]}\n"})
	}
	return out
}

// refusals are values that are as they should be, but that the gateway, or what
// leads to it, does not know or accept; by kind and field.
var refusals = map[string][]string{
	"SubscriptionPlan forProvider.planName":                               {"Iron"},
	"RestApi forProvider.displayName":                                     {"taken"},
	"RestApi forProvider.context":                                         {"/_gateway-health"},
	"RestApi forProvider.policies[].name":                                 {"nowhere"},
	"RestApi forProvider.policies[].version":                              {"v9"},
	"RestApi forProvider.operations[].policies[].name":                    {"nowhere"},
	"RestApi forProvider.operations[].policies[].version":                 {"v9"},
	"RestApi forProvider.upstreamDefinitions[].timeout.connect":           {"0s"},
	"RestApi forProvider.upstreamDefinitions[].upstreams[].url":           {"http://%zz"},
	"RestApi forProvider.upstream.main.url":                               {"http://%zz"},
	"RestApi forProvider.subscriptionPlanRefs[].name":                     {"nowhere"},
	"Subscription forProvider.subscriptionPlanId":                         {"IRON-ID", "RUST-ID", "nowhere", "a/../b"},
	"Subscription forProvider.subscriptionPlanName":                       {"Iron", "Rust", "nowhere"},
	"Subscription forProvider.subscriptionPlanIdRef.name":                 {"nowhere", "iron"},
	"Subscription forProvider.subscriptionTokenSecretRef.name":            {"taken", "nowhere"},
	"Subscription forProvider.subscriptionTokenSecretRef.key":             {"nowhere", "blank"},
	"ProviderConfig endpoint":                                             {"http://127.0.0.1:1", "OTHER-URL", "HTTP-URL/nowhere"},
	"ProviderConfig credentials.basic.username":                           {"stranger"},
	"ProviderConfig credentials.oauth2.tokenURL":                          {"http://127.0.0.1:1/token"},
	"ProviderConfig credentials.oauth2.clientID":                          {"stranger"},
	"ProviderConfig tls.caBundle":                                         {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"},
	"ClusterProviderConfig credentials.basic.passwordSecretRef.namespace": {"nowhere"},
	"ClusterProviderConfig allowedNamespaces.matchExpressions[].operator": {"NotIn", "Exists", "DoesNotExist"},
	"ClusterProviderConfig allowedNamespaces.matchExpressions[].values[]": {"nowhere"},
}

// A setting is what the specimens refer to, at the gateway and in the namespace.
type setting struct {
	*world

	// cached is what of the provider's kinds a cache shows.
	cached client.Reader
	// reads tells what of the gateway was read.
	reads *reads
	// other is another gateway.
	other *emulator.Server
	texts *strings.Replacer
}

func newSetting(w *world) *setting {
	w.t.Helper()
	// Whatever happens here is noticed, and need not be found by a poll.
	w.reconfigure(func(o *controller.Options) { o.Poll = patience / 4 })
	secure := w.listening(emulator.Listen{TLS: true, ClientCertificates: true})
	login := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if id, secret, ok := r.BasicAuth(); !ok || id != "walker" || secret != "walks" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(rw, `{"access_token":"walkers-token","token_type":"Bearer","expires_in":3600}`)
	}))
	w.t.Cleanup(login.Close)
	ids := map[string]string{}
	for _, name := range []string{"Silver", "Bronze", "Iron", "Rust"} {
		p, _ := w.gw.AddPlan(name)
		ids[name] = p.ID
	}
	w.gw.SetPlanStatus(ids["Rust"], "INACTIVE")
	w.gw.AddAPI("taken")
	cert, key, err := secure.ClientCertificate()
	if err != nil {
		w.t.Fatal(err)
	}
	bundle, err := json.Marshal(string(secure.CA()))
	if err != nil {
		w.t.Fatal(err)
	}
	objects, err := cache.New(shared.plane.RESTConfig(), cache.Options{Scheme: w.kube.Scheme(), DefaultNamespaces: map[string]cache.Config{w.ns: {}}})
	if err != nil {
		w.t.Fatal(err)
	}
	go func() { _ = objects.Start(w.t.Context()) }()
	s := &setting{world: w, cached: objects, other: w.gateway(emulator.Options{Generation: emulator.InPlace, GatewayID: "another-gateway"}, emulator.Listen{})}
	s.other.AddAPI("api")
	s.texts = strings.NewReplacer(
		"BRONZE-ID", ids["Bronze"], "IRON-ID", ids["Iron"], "RUST-ID", ids["Rust"], "NAMESPACE", w.ns, "CA-BUNDLE", string(bundle),
		"OTHER-URL", s.other.URL(), "HTTPS-URL", secure.URL(), "HTTP-URL", w.gw.URL(), "TOKEN-URL", login.URL+"/token",
	)

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	edit(w, ns, func(ns *corev1.Namespace) { ns.SetLabels(map[string]string{"walked": "yes-it-is"}) })
	gold, iron := w.plan("gold", "Gold"), w.plan("iron", "Wrought")
	api := w.api("api", "Silver", "Bronze", "Rust")
	api.Spec.ForProvider.SubscriptionPlanRefs = []gatewayv1alpha1.Reference{{Name: "gold"}}
	for _, o := range []client.Object{gold, api} {
		o.SetLabels(map[string]string{"walked": "reference"})
	}
	w.create(
		w.secret("walk", map[string]string{"bearer": "walkers-token", "oauth2": "walks", "ca.crt": string(secure.CA()), "tls.crt": string(cert), "tls.key": string(key)}),
		&corev1.ConfigMap{ObjectMeta: w.named("walk"), Data: map[string]string{"ca.crt": string(secure.CA())}},
		w.secret("taken", map[string]string{"token": "token-of-another"}), gold, iron, api,
	)
	w.ready(gold, iron, api)
	if _, ok := w.gw.AddSubscription(emulator.Subscription{APIHandle: "api", ApplicationID: "another"}, "token-of-another"); !ok {
		w.t.Fatal("cannot add another's subscription")
	}
	return s
}

// listening is the gateway of the world at one more address.
func (w *world) listening(l emulator.Listen) *emulator.Server {
	w.t.Helper()
	gw, err := w.gw.Serve(w.t.Context(), l)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(gw.Close)
	return gw
}

// spec of a specimen for an object of a name.
func (s *setting) spec(of specimen, name string) map[string]any {
	s.t.Helper()
	out := map[string]any{}
	raw, err := kyaml.YAMLToJSON([]byte(strings.ReplaceAll(s.texts.Replace(of.spec), "NAME", name)))
	if err == nil {
		// Integers stay integers, as in what an API server answers.
		err = kjson.Unmarshal(raw, &out)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
