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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterBasicCredentials are a user and a password.
type ClusterBasicCredentials struct {
	// Username known to the gateway. It may not contain a colon.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[^:\x00-\x1f\x7f]+$')`,message="username must not hold a colon or control characters"
	Username string `json:"username"`

	// PasswordSecretRef names the key of a Secret that holds the password.
	// Surrounding white space is trimmed.
	PasswordSecretRef NamespacedSecretKeyReference `json:"passwordSecretRef"`
}

// ClusterBearerTokenCredentials are a token sent as it is.
type ClusterBearerTokenCredentials struct {
	// SecretRef names the key of a Secret that holds the token. Surrounding
	// white space is trimmed.
	SecretRef NamespacedSecretKeyReference `json:"secretRef"`
}

// ClusterOAuth2Credentials obtain tokens by the client credentials grant.
type ClusterOAuth2Credentials struct {
	OAuth2Settings `json:",inline"`

	// ClientSecretRef names the key of a Secret that holds the client secret.
	// Surrounding white space is trimmed.
	ClientSecretRef NamespacedSecretKeyReference `json:"clientSecretRef"`
}

// ClusterCredentials say how to authenticate. Exactly the block that belongs to
// the source is given.
// +kubebuilder:validation:XValidation:rule="(self.source == 'Basic') == has(self.basic)",message="basic must be given with source Basic, and with no other source"
// +kubebuilder:validation:XValidation:rule="(self.source == 'BearerToken') == has(self.bearerToken)",message="bearerToken must be given with source BearerToken, and with no other source"
// +kubebuilder:validation:XValidation:rule="(self.source == 'OAuth2ClientCredentials') == has(self.oauth2)",message="oauth2 must be given with source OAuth2ClientCredentials, and with no other source"
type ClusterCredentials struct {
	// Source is the way to authenticate.
	Source CredentialsSource `json:"source"`

	// Basic credentials, with source Basic.
	// +optional
	Basic *ClusterBasicCredentials `json:"basic,omitempty"`

	// BearerToken credentials, with source BearerToken.
	// +optional
	BearerToken *ClusterBearerTokenCredentials `json:"bearerToken,omitempty"`

	// OAuth2 credentials, with source OAuth2ClientCredentials.
	// +optional
	OAuth2 *ClusterOAuth2Credentials `json:"oauth2,omitempty"`
}

// ClusterTLSSettings say whom to trust and how to prove who we are.
// +kubebuilder:validation:XValidation:rule="[has(self.caBundle), has(self.caSecretRef), has(self.caConfigMapRef)].filter(x, x).size() <= 1",message="at most one of caBundle, caSecretRef and caConfigMapRef may be given"
type ClusterTLSSettings struct {
	// CABundle holds the certificates to trust, in PEM. They replace the
	// system's.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:MinLength=1
	CABundle *string `json:"caBundle,omitempty"`

	// CASecretRef names the key of a Secret that holds the certificates to trust.
	// +optional
	CASecretRef *NamespacedSecretKeyReference `json:"caSecretRef,omitempty"`

	// CAConfigMapRef names the key of a ConfigMap that holds the certificates to
	// trust.
	// +optional
	CAConfigMapRef *NamespacedConfigMapKeyReference `json:"caConfigMapRef,omitempty"`

	// ClientCertSecretRef names a Secret of type kubernetes.io/tls that holds the
	// certificate and key to present.
	// +optional
	ClientCertSecretRef *NamespacedSecretReference `json:"clientCertSecretRef,omitempty"`

	// InsecureSkipVerify accepts any certificate. It opens the door to anyone on
	// the path, who then has the credentials too: for experiments only.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// A ClusterProviderConfigSpec says how to reach a gateway, and who may.
// +kubebuilder:validation:XValidation:rule="!self.endpoint.contains('@')",fieldPath=".endpoint",reason=FieldValueForbidden,message="endpoint must not hold a user or password; give them in spec.credentials"
type ClusterProviderConfigSpec struct {
	ConnectionSettings `json:",inline"`

	// Credentials for the gateway.
	Credentials ClusterCredentials `json:"credentials"`

	// TLS settings for https endpoints.
	// +optional
	TLS *ClusterTLSSettings `json:"tls,omitempty"`

	// AllowedNamespaces selects, by the labels of the Namespace, whose managed
	// resources may use this configuration. Absent or empty, all may.
	// +optional
	AllowedNamespaces *metav1.LabelSelector `json:"allowedNamespaces,omitempty"`
}

// A ClusterProviderConfig says how managed resources of any namespace reach a
// gateway. The one named default is used by managed resources that name none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,provider,apiplatform},shortName=gwcpc
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".spec.endpoint"
// +kubebuilder:printcolumn:name="GENERATION",type="string",JSONPath=".status.gateway.generation"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterProviderConfigSpec `json:"spec"`
	Status ProviderConfigStatus      `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ClusterProviderConfigList contains a list of ClusterProviderConfig.
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterProviderConfig `json:"items"`
}

// ClusterProviderConfigGroupVersionKind is the group, version and kind of a
// ClusterProviderConfig.
var ClusterProviderConfigGroupVersionKind = SchemeGroupVersion.WithKind(reflect.TypeFor[ClusterProviderConfig]().Name())

func init() {
	SchemeBuilder.Register(&ClusterProviderConfig{}, &ClusterProviderConfigList{})
}

// GetGatewayStatus of this ClusterProviderConfig.
func (p *ClusterProviderConfig) GetGatewayStatus() *GatewayStatus { return p.Status.Gateway }

// SetGatewayStatus of this ClusterProviderConfig.
func (p *ClusterProviderConfig) SetGatewayStatus(s *GatewayStatus) { p.Status.Gateway = s }
