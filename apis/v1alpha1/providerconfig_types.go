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
)

// Kinds of configuration a managed resource may refer to.
const (
	ProviderConfigKind        = "ProviderConfig"
	ClusterProviderConfigKind = "ClusterProviderConfig"
	ProviderConfigUsageKind   = "ProviderConfigUsage"
)

// AnnotationAcceptGateway on a ProviderConfig or ClusterProviderConfig confirms
// that it was pointed at another gateway on purpose. Its value is the new
// endpoint. Without it a managed resource that is absent at the new gateway is
// not created there, so that a mistyped endpoint cannot fill a wrong gateway.
const AnnotationAcceptGateway = "apiplatform.crossplane.io/accept-gateway"

// Condition types of a ProviderConfig and a ClusterProviderConfig, beside Ready.
const (
	// TypeReachable tells whether the gateway answers at all.
	TypeReachable xpv2.ConditionType = "Reachable"
	// TypeAuthenticated tells whether the gateway knows the credentials.
	TypeAuthenticated xpv2.ConditionType = "Authenticated"
	// TypeAuthorized tells whether the credentials may manage subscriptions.
	TypeAuthorized xpv2.ConditionType = "Authorized"
	// TypeWritable tells whether the gateway accepts changes. It is False for a
	// gateway that runs in immutable mode and is configured from files.
	TypeWritable xpv2.ConditionType = "Writable"
)

// A GatewayGeneration says what a gateway can do with a subscription.
// +kubebuilder:validation:Enum=Auto;Legacy;InPlace
type GatewayGeneration string

// Generations of gateways.
const (
	// GatewayGenerationAuto means that the provider finds out by itself.
	GatewayGenerationAuto GatewayGeneration = "Auto"
	// GatewayGenerationLegacy gateways choose the ID of a subscription
	// themselves and can change nothing but its status.
	GatewayGenerationLegacy GatewayGeneration = "Legacy"
	// GatewayGenerationInPlace gateways let the caller choose the ID of a
	// subscription and can change its plan and token in place.
	GatewayGenerationInPlace GatewayGeneration = "InPlace"
)

// GatewaySettings describe the gateway behind the endpoint.
type GatewaySettings struct {
	// Generation of the gateway. With Auto the provider learns it from the
	// answer to the first subscription it creates: a gateway that returns the ID
	// that was asked for is InPlace, one that returns another is Legacy. Set it
	// where nothing will be created, or where adoption must not wait for that.
	// +optional
	// +kubebuilder:default=Auto
	Generation GatewayGeneration `json:"generation,omitempty"`

	// InvocationURL is the base URL under which consumers call APIs on this
	// gateway, for example https://api.example.org. It is handed out as key `url`
	// of a subscription's connection secret, and used for nothing else.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^[hH][tT][tT][pP][sS]?://[^@?#\\\\s]+$')",reason=FieldValueForbidden,message="invocationURL must be a URL such as https://api.example.org, without user, password, query, fragment and white space"
	InvocationURL string `json:"invocationURL,omitempty"`
}

// A TemplateExpressionsPolicy says what becomes of RestApis with template expressions.
// +kubebuilder:validation:Enum=Allow;Deny
type TemplateExpressionsPolicy string

// What becomes of RestApis with template expressions.
const (
	// TemplateExpressionsAllow passes them to the gateway, which evaluates them.
	TemplateExpressionsAllow TemplateExpressionsPolicy = "Allow"
	// TemplateExpressionsDeny writes no RestApi that has any.
	TemplateExpressionsDeny TemplateExpressionsPolicy = "Deny"
)

// A CredentialsSource is a way to authenticate with a gateway.
// +kubebuilder:validation:Enum=Basic;BearerToken;OAuth2ClientCredentials;None
type CredentialsSource string

// Ways to authenticate.
const (
	CredentialsBasic                   CredentialsSource = "Basic"
	CredentialsBearerToken             CredentialsSource = "BearerToken"
	CredentialsOAuth2ClientCredentials CredentialsSource = "OAuth2ClientCredentials" //nolint:gosec // The name of a method, not a credential.
	CredentialsNone                    CredentialsSource = "None"
)

// A SecretKeyReference names a key of a Secret in the namespace of the object
// that refers to it.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// A NamespacedSecretKeyReference names a key of a Secret in any namespace.
type NamespacedSecretKeyReference struct {
	SecretKeyReference `json:",inline"`

	// Namespace of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// A ConfigMapKeyReference names a key of a ConfigMap in the namespace of the
// object that refers to it.
type ConfigMapKeyReference struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// A NamespacedConfigMapKeyReference names a key of a ConfigMap in any namespace.
type NamespacedConfigMapKeyReference struct {
	ConfigMapKeyReference `json:",inline"`

	// Namespace of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// A SecretReference names a Secret in the namespace of the object that refers
// to it.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A NamespacedSecretReference names a Secret in any namespace.
type NamespacedSecretReference struct {
	SecretReference `json:",inline"`

	// Namespace of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// ConnectionSettings are what both kinds of configuration have in common and
// what needs no reference.
type ConnectionSettings struct {
	// Endpoint is the URL of the gateway's management API, for example
	// https://gateway.example.org:9090. Without a path /api/management/v1 is
	// used; older gateways and reverse proxies may need another one. User, password,
	// query and fragment are not allowed in it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^[hH][tT][tT][pP][sS]?://')",reason=FieldValueForbidden,message="endpoint must begin with http:// or https://, for example https://gateway.example.org:9090"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?#\\\\s]')",reason=FieldValueForbidden,message="endpoint must not hold a query, a fragment or white space"
	Endpoint string `json:"endpoint"`

	// Gateway describes what is behind the endpoint.
	// +optional
	Gateway *GatewaySettings `json:"gateway,omitempty"`

	// Timeout of one request, 30s if absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('1m')",message="timeout must be a duration between 1s and 1m, for example 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// TemplateExpressions says whether RestApis may have template expressions such as
	// {{ env "NAME" }} and {{ secret "name" }}, Allow if absent. The gateway replaces them by
	// parts of its own environment and by any of its secrets, whoever wrote the API. With Deny
	// a RestApi that has one is not written, and says so; what is at the gateway already stays
	// as it is.
	// +optional
	TemplateExpressions TemplateExpressionsPolicy `json:"templateExpressions,omitempty"`
}

// OAuth2Settings are the parts of an OAuth2 client that are no secret.
type OAuth2Settings struct {
	// TokenURL of the authorization server.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^[hH][tT][tT][pP][sS]?://[^@?#\\\\s]+$')",reason=FieldValueForbidden,message="tokenURL must be a URL such as https://login.example.org/oauth2/token, without user, password, query, fragment and white space"
	TokenURL string `json:"tokenURL"`

	// ClientID registered with the authorization server.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ClientID string `json:"clientID"`

	// Scopes to ask for.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=255
	Scopes []string `json:"scopes,omitempty"`
}

// BasicCredentials are a user and a password.
type BasicCredentials struct {
	// Username known to the gateway. It may not contain a colon.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[^:\x00-\x1f\x7f]+$')`,message="username must not hold a colon or control characters"
	Username string `json:"username"`

	// PasswordSecretRef names the key of a Secret that holds the password.
	// Surrounding white space is trimmed.
	PasswordSecretRef SecretKeyReference `json:"passwordSecretRef"`
}

// BearerTokenCredentials are a token sent as it is.
type BearerTokenCredentials struct {
	// SecretRef names the key of a Secret that holds the token. Surrounding
	// white space is trimmed.
	SecretRef SecretKeyReference `json:"secretRef"`
}

// OAuth2Credentials obtain tokens by the client credentials grant.
type OAuth2Credentials struct {
	OAuth2Settings `json:",inline"`

	// ClientSecretRef names the key of a Secret that holds the client secret.
	// Surrounding white space is trimmed.
	ClientSecretRef SecretKeyReference `json:"clientSecretRef"`
}

// Credentials say how to authenticate. Exactly the block that belongs to the
// source is given.
// +kubebuilder:validation:XValidation:rule="(self.source == 'Basic') == has(self.basic)",message="basic must be given with source Basic, and with no other source"
// +kubebuilder:validation:XValidation:rule="(self.source == 'BearerToken') == has(self.bearerToken)",message="bearerToken must be given with source BearerToken, and with no other source"
// +kubebuilder:validation:XValidation:rule="(self.source == 'OAuth2ClientCredentials') == has(self.oauth2)",message="oauth2 must be given with source OAuth2ClientCredentials, and with no other source"
type Credentials struct {
	// Source is the way to authenticate.
	Source CredentialsSource `json:"source"`

	// Basic credentials, with source Basic.
	// +optional
	Basic *BasicCredentials `json:"basic,omitempty"`

	// BearerToken credentials, with source BearerToken.
	// +optional
	BearerToken *BearerTokenCredentials `json:"bearerToken,omitempty"`

	// OAuth2 credentials, with source OAuth2ClientCredentials.
	// +optional
	OAuth2 *OAuth2Credentials `json:"oauth2,omitempty"`
}

// TLSSettings say whom to trust and how to prove who we are.
// +kubebuilder:validation:XValidation:rule="[has(self.caBundle), has(self.caSecretRef), has(self.caConfigMapRef)].filter(x, x).size() <= 1",message="at most one of caBundle, caSecretRef and caConfigMapRef may be given"
type TLSSettings struct {
	// CABundle holds the certificates to trust, in PEM. They replace the
	// system's.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:MinLength=1
	CABundle *string `json:"caBundle,omitempty"`

	// CASecretRef names the key of a Secret that holds the certificates to trust.
	// +optional
	CASecretRef *SecretKeyReference `json:"caSecretRef,omitempty"`

	// CAConfigMapRef names the key of a ConfigMap that holds the certificates to
	// trust.
	// +optional
	CAConfigMapRef *ConfigMapKeyReference `json:"caConfigMapRef,omitempty"`

	// ClientCertSecretRef names a Secret of type kubernetes.io/tls that holds the
	// certificate and key to present.
	// +optional
	ClientCertSecretRef *SecretReference `json:"clientCertSecretRef,omitempty"`

	// InsecureSkipVerify accepts any certificate. It opens the door to anyone on
	// the path, who then has the credentials too: for experiments only.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// A ProviderConfigSpec says how to reach a gateway.
// +kubebuilder:validation:XValidation:rule="!self.endpoint.contains('@')",fieldPath=".endpoint",reason=FieldValueForbidden,message="endpoint must not hold a user or password; give them in spec.credentials"
type ProviderConfigSpec struct {
	ConnectionSettings `json:",inline"`

	// Credentials for the gateway.
	Credentials Credentials `json:"credentials"`

	// TLS settings for https endpoints.
	// +optional
	TLS *TLSSettings `json:"tls,omitempty"`
}

// GatewayStatus is what is known of the gateway behind the endpoint.
type GatewayStatus struct {
	// ID by which the gateway names itself.
	// +optional
	ID string `json:"id,omitempty"`

	// Generation that was declared or learnt; empty while unknown.
	// +optional
	Generation GatewayGeneration `json:"generation,omitempty"`

	// LastSeen is when the gateway last answered: to within an hour, and exactly where a
	// provider that runs saw it go.
	// +optional
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
}

// A ProviderConfigStatus shows whether the gateway can be used.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`

	// Gateway is what is known of the gateway.
	// +optional
	Gateway *GatewayStatus `json:"gateway,omitempty"`
}

// A ProviderConfig says how managed resources of its own namespace reach a
// gateway. It reads Secrets and ConfigMaps of that namespace only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider,apiplatform},shortName=gwpc
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".spec.endpoint"
// +kubebuilder:printcolumn:name="GENERATION",type="string",JSONPath=".status.gateway.generation"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProviderConfigSpec   `json:"spec"`
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ProviderConfigList contains a list of ProviderConfig.
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfig `json:"items"`
}

// +kubebuilder:object:root=true

// A ProviderConfigUsage records that a managed resource uses a ProviderConfig or
// a ClusterProviderConfig. The provider writes it; it has no effect.
//
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider,apiplatform}
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",JSONPath=".providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// +kubebuilder:object:root=true

// ProviderConfigUsageList contains a list of ProviderConfigUsage.
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfigUsage `json:"items"`
}

// Group, version and kind of the kinds in this file.
var (
	ProviderConfigGroupVersionKind      = SchemeGroupVersion.WithKind(reflect.TypeFor[ProviderConfig]().Name())
	ProviderConfigUsageGroupVersionKind = SchemeGroupVersion.WithKind(reflect.TypeFor[ProviderConfigUsage]().Name())
)

func init() {
	SchemeBuilder.Register(&ProviderConfig{}, &ProviderConfigList{})
	SchemeBuilder.Register(&ProviderConfigUsage{}, &ProviderConfigUsageList{})
}

// GetGatewayStatus of this ProviderConfig.
func (p *ProviderConfig) GetGatewayStatus() *GatewayStatus { return p.Status.Gateway }

// SetGatewayStatus of this ProviderConfig.
func (p *ProviderConfig) SetGatewayStatus(s *GatewayStatus) { p.Status.Gateway = s }
