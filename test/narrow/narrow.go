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

// Package narrow shows a provider under test one namespace of the API server that it
// shares with others.
//
// A provider lists and watches all namespaces, whichever it looks after. Of a dozen that
// run side by side each is told what all the others do, which takes most of the time of
// the tests and is none of what most of them are about.
package narrow

import (
	"net/http"
	"regexp"

	"k8s.io/client-go/rest"
)

// Label names the namespace that an object of the cluster belongs to.
const Label = "test-namespace"

// namespaced and clustered are the paths at which a provider lists and watches all there
// is of a kind.
var (
	namespaced = regexp.MustCompile(`^/(?:api|apis/[^/]+)/[^/]+/(secrets|restapis|subscriptionplans|subscriptions|providerconfigs|providerconfigusages)$`)
	clustered  = regexp.MustCompile(`^/apis/[^/]+/[^/]+/clusterproviderconfigs$`)
)

// Request is a request to the API server, or if that asks for all there is of a kind the
// same for what is in a namespace or belongs to it.
func Request(r *http.Request, namespace string) *http.Request {
	if r.Method != http.MethodGet {
		return r
	}
	if at := namespaced.FindStringSubmatchIndex(r.URL.Path); at != nil {
		r = r.Clone(r.Context())
		r.URL.Path = r.URL.Path[:at[2]] + "namespaces/" + namespace + "/" + r.URL.Path[at[2]:]
		return r
	}
	if clustered.MatchString(r.URL.Path) {
		r = r.Clone(r.Context())
		q := r.URL.Query()
		q.Set("labelSelector", Label+"="+namespace)
		r.URL.RawQuery = q.Encode()
	}
	return r
}

// Config is a way to the API server on which a namespace is all there is.
func Config(cfg *rest.Config, namespace string) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			return next.RoundTrip(Request(r, namespace))
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
