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
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

const (
	kindRestAPI     = "RestApi"
	stateDeployed   = "deployed"
	stateUndeployed = "undeployed"
)

// restAPI is a REST API as gateways keep it: fields that are unknown are
// dropped, null counts as absent, and free-form params are kept as JSON values
// with their numbers normalised.
type restAPI struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   metadata   `json:"metadata"`
	Spec       apiSpec    `json:"spec"`
	Status     *apiStatus `json:"status,omitempty"`
}

type metadata struct {
	Annotations *map[string]string `json:"annotations,omitempty"`
	Labels      *map[string]string `json:"labels,omitempty"`
	Name        string             `json:"name"`
}

type apiStatus struct {
	CreatedAt  *time.Time `json:"createdAt,omitempty"`
	DeployedAt *time.Time `json:"deployedAt,omitempty"`
	ID         *string    `json:"id,omitempty"`
	State      *string    `json:"state,omitempty"`
	UpdatedAt  *time.Time `json:"updatedAt,omitempty"`
}

type apiSpec struct {
	Context             string                `json:"context"`
	DeploymentState     *string               `json:"deploymentState,omitempty"`
	DisplayName         string                `json:"displayName"`
	Operations          []operation           `json:"operations"`
	Policies            *[]policy             `json:"policies,omitempty"`
	Resilience          *resilience           `json:"resilience,omitempty"`
	SubscriptionPlans   *[]string             `json:"subscriptionPlans,omitempty"`
	Upstream            upstreams             `json:"upstream"`
	UpstreamDefinitions *[]upstreamDefinition `json:"upstreamDefinitions,omitempty"`
	Version             string                `json:"version"`
	Vhosts              *vhosts               `json:"vhosts,omitempty"`
}

type operation struct {
	Match      *operationMatch `json:"match,omitempty"`
	Method     *string         `json:"method,omitempty"`
	Path       *string         `json:"path,omitempty"`
	Policies   *[]policy       `json:"policies,omitempty"`
	Resilience *resilience     `json:"resilience,omitempty"`
}

type operationMatch struct {
	Headers *[]headerMatch `json:"headers,omitempty"`
	Method  string         `json:"method"`
	Path    pathMatch      `json:"path"`
}

type headerMatch struct {
	Name  string  `json:"name"`
	Type  *string `json:"type,omitempty"`
	Value string  `json:"value"`
}

type pathMatch struct {
	Type  *string `json:"type,omitempty"`
	Value string  `json:"value"`
}

type policy struct {
	ExecutionCondition *string         `json:"executionCondition,omitempty"`
	Name               string          `json:"name"`
	Params             *map[string]any `json:"params,omitempty"`
	Version            string          `json:"version"`
}

type resilience struct {
	IdleTimeout *string `json:"idleTimeout,omitempty"`
	Timeout     *string `json:"timeout,omitempty"`
}

type upstreams struct {
	Main    upstream  `json:"main"`
	Sandbox *upstream `json:"sandbox,omitempty"`
}

type upstream struct {
	HostRewrite *string `json:"hostRewrite,omitempty"`
	Ref         *string `json:"ref,omitempty"`
	URL         *string `json:"url,omitempty"`
}

type upstreamDefinition struct {
	BasePath  *string          `json:"basePath,omitempty"`
	Name      string           `json:"name"`
	Timeout   *upstreamTimeout `json:"timeout,omitempty"`
	Upstreams []upstreamTarget `json:"upstreams"`
}

type upstreamTimeout struct {
	Connect *string `json:"connect,omitempty"`
}

type upstreamTarget struct {
	URL    string `json:"url"`
	Weight *int   `json:"weight,omitempty"`
}

type vhosts struct {
	Main    string  `json:"main"`
	Sandbox *string `json:"sandbox,omitempty"`
}

// secretReference finds the first gateway secret that a template asks for. The
// emulator has none, so every such template fails to resolve.
var secretReference = regexp.MustCompile(`\{\{-?\s*secret\s+\\?"((?:[^"\\])*)\\?"`)

func (g *Gateway) listAPIs(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	apis := []restAPI{}
	for _, a := range newest(g.store.apis, func(a *apiRow) uint64 { return a.seq }) {
		if differs(q.Get("displayName"), a.doc.Spec.DisplayName) || differs(q.Get("version"), a.doc.Spec.Version) ||
			differs(q.Get("context"), a.context()) || differs(q.Get("status"), a.state()) {
			continue
		}
		doc := a.document()
		doc.Spec.Context = a.context()
		apis = append(apis, doc)
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": "success", "count": len(apis), "apis": apis})
}

// differs says whether a filter is set and excludes the value.
func differs(filter, value string) bool { return filter != "" && filter != value }

func (g *Gateway) createAPI(w http.ResponseWriter, r *http.Request) {
	var doc restAPI
	if err := parse(r, &doc); err != nil {
		fail(w, http.StatusBadRequest, "failed to parse configuration: "+err.Error())
		return
	}
	doc.Status = nil
	// Only a creation fills in the default virtual hosts.
	if doc.Spec.Vhosts == nil {
		doc.Spec.Vhosts = &vhosts{Main: "*", Sandbox: ptr("sandbox-*")}
	}
	if !g.valid(w, doc) {
		return
	}
	s := g.store
	row := &apiRow{uuid: s.newID(), doc: doc}
	if err := s.checkAPI(row.uuid, doc); err != nil {
		failAPI(w, err, "create")
		return
	}
	now := s.stamp()
	row.seq, row.createdAt, row.updatedAt, row.deployedAt = s.next(), now, now, now.Truncate(time.Millisecond)
	s.apis[row.uuid] = row
	s.publish(eventKey(r), row.uuid)
	committed(w)
	out := row.document()
	out.Status.CreatedAt, out.Status.UpdatedAt = ptr(earlier(now)), ptr(earlier(now))
	writeJSON(w, http.StatusCreated, out)
}

func (g *Gateway) getAPI(w http.ResponseWriter, r *http.Request) {
	a := g.store.apiByHandle(r.PathValue("id"))
	if a == nil {
		failNoAPI(w, r.PathValue("id"))
		return
	}
	writeJSON(w, http.StatusOK, a.document())
}

func (g *Gateway) updateAPI(w http.ResponseWriter, r *http.Request) {
	handle := r.PathValue("id")
	var doc restAPI
	if err := parse(r, &doc); err != nil {
		fail(w, http.StatusBadRequest, "Failed to parse configuration: "+err.Error())
		return
	}
	doc.Status = nil
	if doc.Metadata.Name != "" && doc.Metadata.Name != handle {
		fail(w, http.StatusBadRequest, fmt.Sprintf("handle mismatch: path has '%s' but YAML metadata.name has '%s'",
			handle, doc.Metadata.Name))
		return
	}
	s := g.store
	a := s.apiByHandle(handle)
	if a == nil {
		failNoAPI(w, handle)
		return
	}
	if !g.valid(w, doc) {
		return
	}
	if err := s.checkAPI(a.uuid, doc); err != nil {
		failAPI(w, err, "update")
		return
	}
	a.doc = doc
	a.updatedAt = s.stamp()
	a.deployedAt = a.updatedAt.Truncate(time.Millisecond)
	s.publish(eventKey(r), a.uuid)
	committed(w)
	out := a.document()
	out.Status.UpdatedAt = ptr(earlier(a.updatedAt))
	writeJSON(w, http.StatusOK, out)
}

func (g *Gateway) deleteAPI(w http.ResponseWriter, r *http.Request) {
	handle := r.PathValue("id")
	a := g.store.apiByHandle(handle)
	if a == nil {
		failNoAPI(w, handle)
		return
	}
	g.store.deleteAPI(a, eventKey(r))
	committed(w)
	writeJSON(w, http.StatusOK, message{Status: "success", Message: "RestAPI deleted successfully", ID: handle})
}

// valid answers with what is wrong with the API, if anything is.
func (g *Gateway) valid(w http.ResponseWriter, doc restAPI) bool {
	if name, ok := unresolvedSecret(doc); ok {
		fail(w, http.StatusBadRequest, fmt.Sprintf("failed to resolve secret %q: secret not found", name))
		return false
	}
	if errs := g.validateAPI(doc); len(errs) > 0 {
		writeJSON(w, http.StatusBadRequest, message{
			Status: "error", Message: "Configuration validation failed", Errors: errs,
		})
		return false
	}
	return true
}

func failNoAPI(w http.ResponseWriter, handle string) {
	fail(w, http.StatusNotFound, fmt.Sprintf("RestAPI with handle '%s' not found", handle))
}

func failAPI(w http.ResponseWriter, err error, verb string) {
	if errors.Is(err, errConflict) {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	fail(w, http.StatusInternalServerError, "Failed to "+verb+" configuration")
}

// document is the API as it is answered.
func (a *apiRow) document() restAPI {
	doc := a.doc
	doc.Status = &apiStatus{
		ID:         ptr(a.handle()),
		State:      ptr(a.state()),
		CreatedAt:  ptr(a.createdAt),
		UpdatedAt:  ptr(a.updatedAt),
		DeployedAt: ptr(a.deployedAt),
	}
	return doc
}
