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

package gateway

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
)

// What a RestApi document says about itself.
const (
	restAPIVersion = "gateway.api-platform.wso2.com/v1"
	restAPIKind    = "RestApi"
)

// Deployment states of an API.
const (
	StateDeployed   = "deployed"
	StateUndeployed = "undeployed"
)

// RestAPI is an API as the gateway reports it. Its identity is the handle,
// Metadata.Name. A list resolves $version in Spec.Context, a get does not.
type RestAPI struct {
	APIVersion string          `json:"apiVersion,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Metadata   Metadata        `json:"metadata"`
	Spec       RestAPISpec     `json:"spec"`
	Status     *ResourceStatus `json:"status,omitempty"`
}

// Metadata of an object that has a handle.
type Metadata struct {
	// Name is the handle.
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ResourceStatus is what the gateway itself says about an object.
type ResourceStatus struct {
	// ID is equal to the handle.
	ID string `json:"id,omitempty"`
	// State is the desired deployment state, not proof of deployment.
	State      string    `json:"state,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
	DeployedAt time.Time `json:"deployedAt,omitzero"`
}

// RestAPISpec is everything a gateway accepts in the spec of an API. Nil and
// empty lists and maps are not sent.
type RestAPISpec struct {
	DisplayName         string               `json:"displayName"`
	Version             string               `json:"version"`
	Context             string               `json:"context"`
	UpstreamDefinitions []UpstreamDefinition `json:"upstreamDefinitions,omitempty"`
	Upstream            Upstreams            `json:"upstream"`
	Vhosts              *Vhosts              `json:"vhosts,omitempty"`
	// SubscriptionPlans are names of plans; the gateway does not check them.
	SubscriptionPlans []string    `json:"subscriptionPlans,omitempty"`
	Policies          []Policy    `json:"policies,omitempty"`
	Resilience        *Resilience `json:"resilience,omitempty"`
	Operations        []Operation `json:"operations"`
	DeploymentState   string      `json:"deploymentState,omitempty"`
}

// ResolvedContext is the context with $version resolved, as a list has it.
func (s *RestAPISpec) ResolvedContext() string {
	return strings.ReplaceAll(s.Context, "$version", s.Version)
}

// UpstreamDefinition is a backend that upstreams can refer to by name.
type UpstreamDefinition struct {
	Name      string           `json:"name"`
	BasePath  string           `json:"basePath,omitempty"`
	Timeout   *UpstreamTimeout `json:"timeout,omitempty"`
	Upstreams []UpstreamTarget `json:"upstreams"`
}

// UpstreamTimeout holds durations such as 5s or 500ms.
type UpstreamTimeout struct {
	Connect string `json:"connect,omitempty"`
}

// UpstreamTarget is one address of a backend.
type UpstreamTarget struct {
	URL    string `json:"url,omitempty"`
	Weight *int64 `json:"weight,omitempty"`
}

// Upstreams are the backends of an API.
type Upstreams struct {
	Main    Upstream  `json:"main"`
	Sandbox *Upstream `json:"sandbox,omitempty"`
}

// Upstream is a URL or the name of an UpstreamDefinition.
type Upstream struct {
	URL         string `json:"url,omitempty"`
	Ref         string `json:"ref,omitempty"`
	HostRewrite string `json:"hostRewrite,omitempty"`
}

// Vhosts are host names under which an API is served.
type Vhosts struct {
	// Main is one or more host names, separated by semicolons.
	Main    string `json:"main"`
	Sandbox string `json:"sandbox,omitempty"`
}

// Resilience holds durations such as 15s; 0s disables the timeout.
type Resilience struct {
	Timeout     string `json:"timeout,omitempty"`
	IdleTimeout string `json:"idleTimeout,omitempty"`
}

// Policy applies a policy of the gateway's image.
type Policy struct {
	Name               string `json:"name"`
	Version            string `json:"version"`
	ExecutionCondition string `json:"executionCondition,omitempty"`
	Params             Params `json:"params,omitempty"`
}

// Params is free-form JSON, empty if there is none. Read back from a gateway,
// keys are sorted and numbers keep the spelling the gateway gave them.
type Params []byte

// MarshalJSON returns the JSON itself.
func (p Params) MarshalJSON() ([]byte, error) {
	if len(p) == 0 {
		return []byte("null"), nil
	}
	return p, nil
}

// UnmarshalJSON keeps the JSON as it is; null is none.
func (p *Params) UnmarshalJSON(data []byte) error {
	if p == nil {
		return errors.New("cannot unmarshal into nil params")
	}
	*p = nil
	if string(data) != "null" {
		*p = append(Params{}, data...)
	}
	return nil
}

// Operation is a route, matched by Method and Path or, where it is given, by Match.
type Operation struct {
	Method     string          `json:"method,omitempty"`
	Path       string          `json:"path,omitempty"`
	Match      *OperationMatch `json:"match,omitempty"`
	Policies   []Policy        `json:"policies,omitempty"`
	Resilience *Resilience     `json:"resilience,omitempty"`
}

// OperationMatch is the full form of a route.
type OperationMatch struct {
	Method  string        `json:"method"`
	Path    PathMatch     `json:"path"`
	Headers []HeaderMatch `json:"headers,omitempty"`
}

// PathMatch matches a request's path.
type PathMatch struct {
	Value string `json:"value"`
	// Type is Exact or PathPrefix.
	Type string `json:"type,omitempty"`
}

// HeaderMatch matches one header of a request.
type HeaderMatch struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Type is Exact or RegularExpression.
	Type string `json:"type,omitempty"`
}

// RestAPIWrite creates an API or replaces it as a whole: labels, annotations and
// fields that are absent are gone afterwards.
type RestAPIWrite struct {
	// Name is the handle.
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Spec        RestAPISpec
}

func (w RestAPIWrite) wire() any {
	return RestAPI{
		APIVersion: restAPIVersion, Kind: restAPIKind,
		Metadata: Metadata{Name: w.Name, Labels: w.Labels, Annotations: w.Annotations},
		Spec:     w.Spec,
	}
}

func (w RestAPIWrite) secrets() []Secret { return nil }

func restAPIs() resource[RestAPI] {
	return resource[RestAPI]{
		kind: KindRestAPI, path: "rest-apis", list: "apis",
		id:        func(a *RestAPI) string { return a.Metadata.Name },
		gatewayID: func(*RestAPI) string { return "" },
	}
}

// ListRestAPIs returns all APIs.
func (c *Client) ListRestAPIs(ctx context.Context) ([]RestAPI, error) {
	return listAll(ctx, c, restAPIs(), nil)
}

// GetRestAPI returns the API with a handle.
func (c *Client) GetRestAPI(ctx context.Context, handle string) (*RestAPI, error) {
	return getOne(ctx, c, restAPIs(), handle)
}

// CreateRestAPI creates an API under the handle w.Name.
func (c *Client) CreateRestAPI(ctx context.Context, w RestAPIWrite) (*RestAPI, error) {
	// A handle that could not be used in a path afterwards must not be created.
	return createOne(ctx, c, restAPIs(), w.Name, w, &w.Name)
}

// UpdateRestAPI replaces the API with a handle, which w.Name must equal.
func (c *Client) UpdateRestAPI(ctx context.Context, handle string, w RestAPIWrite) (*RestAPI, error) {
	// Some kinds rename an object whose body bears another handle.
	w.Name = handle
	return updateOne(ctx, c, restAPIs(), handle, w)
}

// DeleteRestAPI deletes an API, and with it its subscriptions and keys.
func (c *Client) DeleteRestAPI(ctx context.Context, handle string) error {
	return deleteOne(ctx, c, restAPIs(), handle)
}

// Probe makes a cheap authenticated read: a list of APIs that matches none. Both
// roles that a provider can work with may make it.
func (c *Client) Probe(ctx context.Context) error {
	r := restAPIs()
	answer, err := c.do(ctx, Call{Kind: r.kind, Verb: VerbProbe}, r.path, url.Values{"displayName": {"~"}}, nil)
	if err != nil {
		return err
	}
	_, err = answer.items(r.list)
	return answer.finish(err, "")
}
