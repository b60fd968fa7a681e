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

package emulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// message is the gateway's usual answer without content: an error, mostly.
type message struct {
	Errors  []fieldError `json:"errors,omitempty"`
	ID      string       `json:"id,omitempty"`
	Message string       `json:"message"`
	Status  string       `json:"status"`
}

// fieldError says what is wrong with one field of a REST API.
type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// routes registers every route twice: under the base path, and without it,
// where answers call the route deprecated. The multiplexer answers unknown
// routes and wrong verbs by itself, in plain text, as it does in a gateway.
func (g *Gateway) routes() *http.ServeMux {
	mux := http.NewServeMux()
	admin := []Role{RoleAdmin}
	developer := []Role{RoleAdmin, RoleDeveloper}
	for _, route := range []struct {
		method  string
		path    string
		allowed []Role
		handler http.HandlerFunc
	}{
		{http.MethodGet, "/rest-apis", developer, g.listAPIs},
		{http.MethodPost, "/rest-apis", developer, g.createAPI},
		{http.MethodGet, "/rest-apis/{id}", developer, g.getAPI},
		{http.MethodPut, "/rest-apis/{id}", developer, g.updateAPI},
		{http.MethodDelete, "/rest-apis/{id}", developer, g.deleteAPI},
		{http.MethodGet, "/subscription-plans", admin, g.listPlans},
		{http.MethodPost, "/subscription-plans", admin, g.createPlan},
		{http.MethodGet, "/subscription-plans/{id}", admin, g.getPlan},
		{http.MethodPut, "/subscription-plans/{id}", admin, g.updatePlan},
		{http.MethodDelete, "/subscription-plans/{id}", admin, g.deletePlan},
		{http.MethodGet, "/subscriptions", admin, g.listSubscriptions},
		{http.MethodPost, "/subscriptions", admin, g.createSubscription},
		{http.MethodGet, "/subscriptions/{id}", admin, g.getSubscription},
		{http.MethodPut, "/subscriptions/{id}", admin, g.updateSubscription},
		{http.MethodDelete, "/subscriptions/{id}", admin, g.deleteSubscription},
	} {
		guarded := g.guard(route.allowed, route.handler)
		mux.Handle(route.method+" "+BasePath+route.path, guarded)
		mux.Handle(route.method+" "+route.path, deprecated(guarded))
	}
	return mux
}

// guard refuses what is not allowed, and serialises the rest, as the one
// connection of a gateway to its database does.
func (g *Gateway) guard(allowed []Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if no := g.access.refuse(r, allowed); no != nil {
			if no.code == "" {
				fail(w, no.status, no.message)
				return
			}
			writeJSON(w, no.status, map[string]string{"code": no.code, "message": no.message})
			return
		}
		g.store.mu.Lock()
		defer g.store.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func deprecated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Deprecation", "true")
		w.Header().Set("Link", fmt.Sprintf("<%s>; rel=\"successor-version\"", BasePath+r.URL.Path))
		w.Header().Set("Warning", fmt.Sprintf("299 - \"Deprecated API: migrate to %s prefix\"", BasePath))
		next.ServeHTTP(w, r)
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

func fail(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, message{Status: "error", Message: text})
}

// committed marks the answer as one to a request that changed something.
func committed(w http.ResponseWriter) {
	if a, ok := w.(*answer); ok {
		a.committed = true
	}
}

// eventKey is the correlation ID that the client sent, if it sent one.
func eventKey(r *http.Request) string { return r.Header.Get(CorrelationIDHeader) }

// bind reads the body of a plan or subscription: YAML if it says so, else JSON.
func bind(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case "application/yaml", "text/yaml":
		return fromYAML(body, into)
	default:
		return json.Unmarshal(body, into)
	}
}

// parse reads the body of a REST API. Anything that is not exactly one of the
// known content types is tried as YAML first and as JSON then.
func parse(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	switch r.Header.Get("Content-Type") {
	case "application/yaml", "application/x-yaml", "text/yaml":
		return fromYAML(body, into)
	case "application/json":
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("failed to parse JSON: %w", err)
		}
		return nil
	}
	if fromYAML(body, into) == nil || json.Unmarshal(body, into) == nil {
		return nil
	}
	return errors.New("failed to parse as YAML or JSON")
}

func fromYAML(body []byte, into any) error {
	var doc map[string]any
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("failed to unmarshal YAML: %w", err)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("failed to marshal intermediate to JSON: %w", err)
	}
	return json.NewDecoder(bytes.NewReader(b)).Decode(into)
}

// repeated refuses a filter that is given twice, in plain text.
func repeated(w http.ResponseWriter, q url.Values, names ...string) bool {
	for _, name := range names {
		if len(q[name]) > 1 {
			http.Error(w, fmt.Sprintf("Invalid format for parameter %s: multiple values for single value parameter '%s'", name, name),
				http.StatusBadRequest)
			return true
		}
	}
	return false
}

func ptr[T any](v T) *T { return &v }

// earlier is the time that the answer to a creation shows: gateways take it a
// few microseconds before the one that they store.
func earlier(t time.Time) time.Time { return t.Add(-7 * time.Microsecond) }
