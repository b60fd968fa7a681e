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

package v1alpha1

import (
	"reflect"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A RestApiAdoptionPolicy says what happens when the gateway already has an API
// under the handle asked for.
// +kubebuilder:validation:Enum=Never;Takeover
type RestApiAdoptionPolicy string //nolint:revive // Named as the gateway names it.

// Adoption policies of a RestApi.
const (
	// RestApiAdoptionNever leaves an API that is already there alone and reports
	// the conflict.
	RestApiAdoptionNever RestApiAdoptionPolicy = "Never" //nolint:revive // Named as the gateway names it.
	// RestApiAdoptionTakeover takes over an API that is already there, whoever
	// owns it, and replaces its specification.
	RestApiAdoptionTakeover RestApiAdoptionPolicy = "Takeover" //nolint:revive // Named as the gateway names it.
)

// A DeploymentState says whether the router serves an API.
// +kubebuilder:validation:Enum=deployed;undeployed
type DeploymentState string

// Deployment states.
const (
	DeploymentStateDeployed   DeploymentState = "deployed"
	DeploymentStateUndeployed DeploymentState = "undeployed"
)

// A HostRewrite says what happens to the Host header on the way to a backend.
// +kubebuilder:validation:Enum=auto;manual
type HostRewrite string

// An HTTPMethod of an operation.
// +kubebuilder:validation:Enum=GET;POST;PUT;DELETE;PATCH;HEAD;OPTIONS
type HTTPMethod string

// A PathMatchType says how a path is matched.
// +kubebuilder:validation:Enum=Exact;PathPrefix
type PathMatchType string

// A HeaderMatchType says how a header is matched.
// +kubebuilder:validation:Enum=Exact;RegularExpression
type HeaderMatchType string

// A TimeoutDuration is a number and one unit, for example 500ms, 15s, 1.5m or
// 1h; or a template expression.
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^(\d+(\.\d+)?(ms|s|m|h)|.*\{\{.+\}\}.*)$`
type TimeoutDuration string

// A PlanName is the name of a subscription plan at the gateway.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=255
type PlanName string

// An Upstream is where requests go: a URL, or an upstream definition.
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.ref)",message="exactly one of url and ref must be given"
type Upstream struct {
	// URL of the backend, http or https, with an optional base path, for example
	// http://books.default.svc:8080/v2. It may hold template expressions, which
	// the gateway evaluates.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([hH][tT][tT][pP][sS]?://[^\s/?#]+\S*|.*\{\{.+\}\}.*)$')`,message="url must begin with http:// or https:// and name a host, for example http://books.example.org:8080"
	URL *string `json:"url,omitempty"`

	// Ref is the name of one of upstreamDefinitions.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9\-_]+$`
	Ref *string `json:"ref,omitempty"`

	// HostRewrite says what happens to the Host header. With auto it becomes the
	// backend's host name, with manual it is left alone. Left out, the gateway
	// takes auto.
	// +optional
	HostRewrite *HostRewrite `json:"hostRewrite,omitempty"`
}

// RestApiUpstreams are the backends of an API.
type RestApiUpstreams struct { //nolint:revive // Named as the gateway names it.
	// Main is the backend of production traffic.
	Main Upstream `json:"main"`

	// Sandbox is the backend of sandbox traffic. Without it there is none.
	// +optional
	Sandbox *Upstream `json:"sandbox,omitempty"`
}

// An UpstreamTarget is one address of an upstream definition.
type UpstreamTarget struct {
	// URL of the backend, http or https, host and port only: the base path is
	// given by basePath of the definition. It may hold template expressions.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^([hH][tT][tT][pP][sS]?://[^\s/?#]+/?|.*\{\{.+\}\}.*)$`
	URL string `json:"url"`

	// Weight of this target among the others, 0 to 100. The gateway stores it and
	// for now sends all requests to the first target.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight *int64 `json:"weight,omitempty"`
}

// An UpstreamTimeout limits how long a backend may take.
type UpstreamTimeout struct {
	// Connect is how long a connection may take to be made, for example 5s. It
	// must be more than zero. Left out, the gateway's own limit holds.
	// +optional
	Connect *TimeoutDuration `json:"connect,omitempty"`
}

// An UpstreamDefinition is a backend that upstreams and policies refer to by
// name.
type UpstreamDefinition struct {
	// Name of the definition: letters, digits, hyphens and underscores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9\-_]+$`
	Name string `json:"name"`

	// BasePath is put before the path of every request, for example /api/v2. It
	// starts with a slash and does not end with one. Left out, it is the root.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[a-zA-Z0-9\-._~!$&'()*+,;=:@%/]*[^/]|.*\{\{.+\}\}.*)$`
	BasePath *string `json:"basePath,omitempty"`

	// Timeout limits how long this backend may take.
	// +optional
	Timeout *UpstreamTimeout `json:"timeout,omitempty"`

	// Upstreams are the addresses of this backend.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Upstreams []UpstreamTarget `json:"upstreams"`
}

// VirtualHosts are the host names under which an API is served.
type VirtualHosts struct {
	// Main is one or more host names for production traffic, separated by
	// semicolons, for example api.example.com;*.example.org. The first one is the
	// primary one; * stands for any.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9*][a-zA-Z0-9*._:\-]*(\s*;\s*[a-zA-Z0-9*][a-zA-Z0-9*._:\-]*)*|.*\{\{.+\}\}.*)$`
	Main string `json:"main"`

	// Sandbox is a host name for sandbox traffic. Left out beside main, there is
	// none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9*][a-zA-Z0-9*._:\-]*|.*\{\{.+\}\}.*)$`
	Sandbox *string `json:"sandbox,omitempty"`
}

// A Resilience limits how long a request may take.
type Resilience struct {
	// Timeout is how long the whole request may take, for example 15s; 0s means
	// no limit. Left out, the gateway's own limit holds.
	// +optional
	Timeout *TimeoutDuration `json:"timeout,omitempty"`

	// IdleTimeout is how long a request may be without traffic, for example 30s;
	// 0s means no limit. Left out, the gateway's own limit holds.
	// +optional
	IdleTimeout *TimeoutDuration `json:"idleTimeout,omitempty"`
}

// A Policy acts on requests or responses.
type Policy struct {
	// Name of a policy that the gateway's image has, for example set-headers.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`

	// Version of the policy, the major version alone, for example v1. Left out,
	// the gateway takes the latest one its image has.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^v\d+$`
	Version *string `json:"version,omitempty"`

	// ExecutionCondition is an expression that says for which requests the policy
	// acts, for example request.metadata[authenticated] != true. Left out, it
	// acts on all.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	ExecutionCondition *string `json:"executionCondition,omitempty"`

	// Params of the policy. What is allowed depends on the policy; the gateway
	// checks it and its complaint is shown in the condition Applied. Texts may
	// hold template expressions such as {{ secret "name" }}, which keep secrets
	// out of this object, unless the configuration denies them.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Params *runtime.RawExtension `json:"params,omitempty"`
}

// A PathMatch says which paths an operation matches.
type PathMatch struct {
	// Value of the path, with optional parameters, for example /books/{id}.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^(/([^{}]|\{[^{}]+\})*|.*\{\{.+\}\}.*)$`
	Value string `json:"value"`

	// Type of the match: the path itself, or everything below it. Left out, the
	// gateway takes Exact.
	// +optional
	Type *PathMatchType `json:"type,omitempty"`
}

// A HeaderMatch says which value of a header an operation matches.
type HeaderMatch struct {
	// Name of the header, in any letter case.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern="^[a-zA-Z0-9!#$%&'*+\\-.^_`|~]+$"
	Name string `json:"name"`

	// Value of the header, or a regular expression for it.
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value"`

	// Type of the match. Left out, the gateway takes Exact.
	// +optional
	Type *HeaderMatchType `json:"type,omitempty"`
}

// An OperationMatch says which requests an operation is about, headers included.
type OperationMatch struct {
	// Method of the requests.
	Method HTTPMethod `json:"method"`

	// Path of the requests.
	Path PathMatch `json:"path"`

	// Headers that the requests must all have.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Headers []HeaderMatch `json:"headers,omitempty"`
}

// An Operation is a route of an API.
// +kubebuilder:validation:XValidation:rule="has(self.match) ? !has(self.method) && !has(self.path) : has(self.method) && has(self.path)",message="an operation is given either by method and path, or by match"
type Operation struct {
	// Method of the requests.
	// +optional
	Method *HTTPMethod `json:"method,omitempty"`

	// Path of the requests below the context, with optional parameters, for
	// example /books/{id}.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^(/([^{}]|\{[^{}]+\})*|.*\{\{.+\}\}.*)$`
	Path *string `json:"path,omitempty"`

	// Match is the long form of method and path: it can also match a path's
	// beginning, and headers.
	// +optional
	Match *OperationMatch `json:"match,omitempty"`

	// Policies of this operation, beside those of the API, in their order.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Policies []Policy `json:"policies,omitempty"`

	// Resilience of this operation, instead of that of the API.
	// +optional
	Resilience *Resilience `json:"resilience,omitempty"`
}

// RestApiParameters are what is asked of the gateway. They are the whole API:
// what is left out is not there, also when an existing API is taken over.
//
// Texts may hold template expressions such as {{ secret "name" }} or
// {{ env "NAME" }}, which the gateway evaluates, unless the configuration denies them.
// +kubebuilder:validation:XValidation:rule="!has(self.upstream.main.ref) || (has(self.upstreamDefinitions) && self.upstreamDefinitions.exists(d, d.name == self.upstream.main.ref))",message="upstream.main.ref must be the name of one of upstreamDefinitions"
// +kubebuilder:validation:XValidation:rule="!has(self.upstream.sandbox) || !has(self.upstream.sandbox.ref) || (has(self.upstreamDefinitions) && self.upstreamDefinitions.exists(d, d.name == self.upstream.sandbox.ref))",message="upstream.sandbox.ref must be the name of one of upstreamDefinitions"
type RestApiParameters struct { //nolint:revive // Named as the gateway names it.
	// DisplayName of the API: letters, digits, spaces, hyphens, underscores and
	// dots, at most 100. Together with version it is unique on the gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([a-zA-Z0-9\-_. ]{1,100}|.*\{\{.+\}\}.*)$')`,message="displayName must be 1 to 100 letters, digits, spaces, hyphens, underscores and dots"
	DisplayName string `json:"displayName"`

	// Version of the API, for example v1.0.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(v?\d+(\.\d+)?(\.\d+)?|.*\{\{.+\}\}.*)$')`,message="version must look like v1, v1.0 or 1.0.1"
	Version string `json:"version"`

	// Context is the path under which all operations are served, for example
	// /books or /books/$version, where $version stands for the version. It starts
	// with a slash and does not end with one, at most 200 characters. The gateway
	// does not mind two APIs with the same context; which of them answers is then
	// not defined.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(/([^\r\n]{0,198}[^/\r\n])?|.*\{\{.+\}\}.*)$')`,message="context must begin with a slash, not end with one unless it is the root, and have at most 200 characters, for example /books"
	Context string `json:"context"`

	// UpstreamDefinitions are backends that upstream and policies refer to by
	// name.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	UpstreamDefinitions []UpstreamDefinition `json:"upstreamDefinitions,omitempty"`

	// Upstream is where requests go.
	Upstream RestApiUpstreams `json:"upstream"`

	// Vhosts are the host names under which the API is served. Left out, it is
	// served under the gateway's default host names.
	// +optional
	Vhosts *VirtualHosts `json:"vhosts,omitempty"`

	// SubscriptionPlans are the names of the plans that subscriptions to this API
	// may use; with subscriptionPlanRefs they make one list. An empty list allows
	// every plan. The gateway does not check that a plan of the name exists.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	SubscriptionPlans []PlanName `json:"subscriptionPlans,omitempty"`

	// SubscriptionPlanRefs name SubscriptionPlans that subscriptions to this API
	// may use. The API is not created before all of them are deployed, since with
	// fewer names it could allow more plans than it should.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	SubscriptionPlanRefs []Reference `json:"subscriptionPlanRefs,omitempty"`

	// Policies that act on all operations, in their order.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Policies []Policy `json:"policies,omitempty"`

	// Resilience of all operations that have none of their own.
	// +optional
	Resilience *Resilience `json:"resilience,omitempty"`

	// Operations are the routes of the API, in their order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2000
	// +listType=atomic
	Operations []Operation `json:"operations"`

	// DeploymentState undeployed takes the API off the router but keeps it, its
	// subscriptions and its keys. Left out, it is deployed.
	// +optional
	DeploymentState *DeploymentState `json:"deploymentState,omitempty"`

	// Labels of the API at the gateway. Labels of this object are not sent.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && !k.matches('[ \\t\\n\\f\\r]'))",message="a label's key must not be empty or contain white space"
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the API at the gateway. Annotations of this object are not
	// sent. Two keys are refused: apiplatform.crossplane.io/owner, in which the
	// provider marks what it owns, and
	// gateway.api-platform.wso2.com/artifact-id, with which a create could
	// overwrite another API.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="!('apiplatform.crossplane.io/owner' in self)",message="the annotation apiplatform.crossplane.io/owner is set by the provider"
	// +kubebuilder:validation:XValidation:rule="!('gateway.api-platform.wso2.com/artifact-id' in self)",message="the annotation gateway.api-platform.wso2.com/artifact-id is refused, since creating an API with it can overwrite another API"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RestApiObservation is what the gateway says about the API.
type RestApiObservation struct { //nolint:revive // Named as the gateway names it.
	// ID is the handle of the API.
	// +optional
	ID string `json:"id,omitempty"`
	// DisplayName at the gateway.
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// Version at the gateway.
	// +optional
	Version string `json:"version,omitempty"`
	// Context at the gateway, with $version replaced.
	// +optional
	Context string `json:"context,omitempty"`
	// State is deployed or undeployed. It is what the gateway was asked for; it
	// reaches the router some seconds later.
	// +optional
	State string `json:"state,omitempty"`
	// SubscriptionPlans are the names of the plans the gateway has for this API.
	// +optional
	// +listType=atomic
	SubscriptionPlans []string `json:"subscriptionPlans,omitempty"`
	// GatewayID is how the gateway calls itself, where that is known.
	// +optional
	GatewayID string `json:"gatewayId,omitempty"`
	// Endpoint of the gateway that holds the API.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// CreatedAt is when the API was created at the gateway.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// UpdatedAt is when anybody last wrote the API at the gateway.
	// +optional
	UpdatedAt *metav1.Time `json:"updatedAt,omitempty"`
	// DeployedAt is when the API was last deployed.
	// +optional
	DeployedAt *metav1.Time `json:"deployedAt,omitempty"`
	// Origin tells whether the API was created here, adopted, or imported.
	// +optional
	Origin Origin `json:"origin,omitempty"`
}

// A RestApiSpec is what a RestApi should be.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
type RestApiSpec struct { //nolint:revive // Named as the gateway names it.
	xpv2.ManagedResourceSpec `json:",inline"`

	// AdoptionPolicy says what happens when the gateway already has an API under
	// this handle. Never reports a conflict and leaves it alone, except that an
	// API without an owner is taken over if the annotation
	// crossplane.io/external-name was set to its handle. Takeover takes it over
	// whoever owns it, and replaces its specification by this one. An API that
	// was created here is found again whatever the policy.
	// +optional
	// +kubebuilder:default=Never
	AdoptionPolicy RestApiAdoptionPolicy `json:"adoptionPolicy,omitempty"`

	// ForProvider is what is asked of the gateway.
	ForProvider RestApiParameters `json:"forProvider"`
}

// A RestApiStatus is what a RestApi is.
type RestApiStatus struct { //nolint:revive // Named as the gateway names it.
	xpv2.ManagedResourceStatus `json:",inline"`

	// Deployed is true once the API is at the gateway and held by this managed
	// resource.
	// +optional
	Deployed bool `json:"deployed,omitempty"`

	// AtProvider is what the gateway says about the API.
	// +optional
	AtProvider RestApiObservation `json:"atProvider,omitempty"`
}

// A RestApi is an HTTP API that the gateway serves. Its handle there is the
// annotation crossplane.io/external-name or else its name, and cannot be
// changed. Deleting it also deletes its subscriptions and keys at the gateway.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,apiplatform},shortName=gwapi
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="DISPLAYNAME",type="string",JSONPath=".spec.forProvider.displayName"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".spec.forProvider.version"
// +kubebuilder:printcolumn:name="CONTEXT",type="string",JSONPath=".spec.forProvider.context"
// +kubebuilder:printcolumn:name="STATE",type="string",JSONPath=".status.atProvider.state",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type RestApi struct { //nolint:revive // The kind's name is the type's name.
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RestApiSpec   `json:"spec"`
	Status RestApiStatus `json:"status,omitempty"`
}

// RestApiList is a list of RestApis.
// +kubebuilder:object:root=true
type RestApiList struct { //nolint:revive // The kind's name is the type's name.
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RestApi `json:"items"`
}

// Kind, and group, version and kind, of a RestApi.
var (
	RestApiKind             = reflect.TypeFor[RestApi]().Name()        //nolint:revive // Named as the gateway names it.
	RestApiGroupVersionKind = SchemeGroupVersion.WithKind(RestApiKind) //nolint:revive // Named as the gateway names it.
)

func init() {
	SchemeBuilder.Register(&RestApi{}, &RestApiList{})
}
