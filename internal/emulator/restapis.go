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
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
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

// artifactID is an annotation by which a creation picks the internal ID of the
// API, be it new or another API's.
const artifactID = "gateway.api-platform.wso2.com/artifact-id"

var (
	uuidRule       = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	secretTemplate = regexp.MustCompile(`\{\{-?\s*secret\s+\\"([^"\\]*)\\"`)
	anyTemplate    = regexp.MustCompile(`\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)`)
	envTemplate    = regexp.MustCompile(`\{\{-?\s*env\s+\\"([^"\\]*)\\"\s*-?\}\}`)
)

func (g *Gateway) listAPIs(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if repeated(w, q, "displayName", "version", "context", "status") {
		return
	}
	apis := []restAPI{}
	for _, a := range newest(g.store.apis, func(a *apiRow) uint64 { return a.seq }) {
		if differs(q.Get("displayName"), a.name) || differs(q.Get("version"), a.version) ||
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
	s := g.store
	uuid, ok := value(doc.Metadata.Annotations)[artifactID]
	switch {
	case !ok || uuid == "":
		uuid = s.newID()
	case !uuidRule.MatchString(uuid):
		fail(w, http.StatusInternalServerError, "Failed to create configuration")
		return
	}
	// A creation deploys, whatever its deploymentState says.
	row := &apiRow{uuid: uuid, doc: doc, deployed: true}
	if !g.valid(w, row) {
		return
	}
	if err := s.checkAPI(row); err != nil {
		failAPI(w, err, "create")
		return
	}
	now := s.stamp()
	row.seq, row.createdAt, row.updatedAt, row.deployedAt = s.next(), now, now, now.Truncate(time.Millisecond)
	// A creation under the internal ID of another API replaces that, and renames
	// it. Its subscriptions stay.
	if old, exists := s.apis[uuid]; exists {
		row.seq, row.createdAt = old.seq, old.createdAt
	}
	s.apis[uuid] = row
	s.publish(eventKey(r), uuid)
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
	changed := *a
	changed.doc = doc
	changed.deployed = value(doc.Spec.DeploymentState) != stateUndeployed
	if !g.valid(w, &changed) {
		return
	}
	if err := s.checkAPI(&changed); err != nil {
		failAPI(w, err, "update")
		return
	}
	*a = changed
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
func (g *Gateway) valid(w http.ResponseWriter, row *apiRow) bool {
	doc, err := g.rendered(row.doc)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return false
	}
	if errs := g.validateAPI(doc); len(errs) > 0 {
		writeJSON(w, http.StatusBadRequest, message{
			Status: "error", Message: "Configuration validation failed", Errors: errs,
		})
		return false
	}
	row.name, row.version = doc.Spec.DisplayName, doc.Spec.Version
	return true
}

// templateFunctions are the functions that gateways know in templates.
var templateFunctions = []string{"env", "secret", "default", "lower", "upper", "trim", "replace", "required", "redact"}

// rendered returns the API with its templates rendered, as far as the emulator
// knows them. It has no secrets, so asking for one fails.
func (g *Gateway) rendered(doc restAPI) (restAPI, error) {
	b, err := json.Marshal(doc.Spec)
	if err != nil {
		return doc, err
	}
	if m := secretTemplate.FindSubmatch(b); m != nil {
		return doc, fmt.Errorf("failed to resolve secret %q: configuration not found: id=%s", m[1], m[1])
	}
	for _, m := range anyTemplate.FindAllSubmatch(b, -1) {
		if !slices.Contains(templateFunctions, string(m[1])) {
			return doc, fmt.Errorf("function %q not defined", m[1])
		}
	}
	b = envTemplate.ReplaceAllFunc(b, func(m []byte) []byte {
		quoted, err := json.Marshal(g.env[string(envTemplate.FindSubmatch(m)[1])])
		if err != nil {
			return nil
		}
		return quoted[1 : len(quoted)-1]
	})
	doc.Spec = apiSpec{}
	if err := json.Unmarshal(b, &doc.Spec); err != nil {
		return doc, fmt.Errorf("failed to render configuration: %w", err)
	}
	return doc, nil
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
