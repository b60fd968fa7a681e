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

package narrow

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequest(t *testing.T) {
	const group = "/apis/gateway.apiplatform.crossplane.io/v1alpha1/"
	cases := map[string]struct {
		reason, method, asked, want string
	}{
		"Watch":     {"A kind of the provider's is shown in the namespace.", http.MethodGet, group + "subscriptions?watch=true", group + "namespaces/ns/subscriptions?watch=true"},
		"Core":      {"So are Secrets.", http.MethodGet, "/api/v1/secrets", "/api/v1/namespaces/ns/secrets"},
		"Clustered": {"What is in no namespace has to belong to it.", http.MethodGet, "/apis/apiplatform.crossplane.io/v1alpha1/clusterproviderconfigs?watch=true", "/apis/apiplatform.crossplane.io/v1alpha1/clusterproviderconfigs?labelSelector=test-namespace%3Dns&watch=true"},
		"One":       {"One object is what it is.", http.MethodGet, group + "namespaces/other/subscriptions/one", group + "namespaces/other/subscriptions/one"},
		"Asked":     {"Nor is a namespace that was asked for another.", http.MethodGet, group + "namespaces/other/subscriptions", group + "namespaces/other/subscriptions"},
		"Write":     {"A write is left alone.", http.MethodDelete, group + "subscriptions", group + "subscriptions"},
		"OtherKind": {"Other kinds are.", http.MethodGet, "/api/v1/namespaces", "/api/v1/namespaces"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.asked, nil)
			if got := Request(r, "ns").URL.RequestURI(); got != tc.want {
				t.Errorf("%s\nasked for %s, want %s", tc.reason, got, tc.want)
			}
			if r.URL.RequestURI() != tc.asked {
				t.Errorf("the request itself was changed to %s", r.URL.RequestURI())
			}
		})
	}
}
