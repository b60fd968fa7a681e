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

// A SubscriptionAdoptionPolicy says when a subscription that exists already is
// taken over instead of reporting a conflict.
// +kubebuilder:validation:Enum=IfUnique;IfProven;Never
type SubscriptionAdoptionPolicy string

// Adoption policies of a Subscription.
const (
	// SubscriptionAdoptIfUnique adopts the subscription with the asked-for ID, or
	// the only one the application has on the API.
	SubscriptionAdoptIfUnique SubscriptionAdoptionPolicy = "IfUnique"
	// SubscriptionAdoptIfProven adopts the subscription with the asked-for ID, or
	// one that accepts our token, or on a legacy gateway the only one on the API.
	SubscriptionAdoptIfProven SubscriptionAdoptionPolicy = "IfProven"
	// SubscriptionAdoptNever adopts nothing.
	SubscriptionAdoptNever SubscriptionAdoptionPolicy = "Never"
)

// A SubscriptionStatusValue is the state of a subscription at the gateway.
// +kubebuilder:validation:Enum=ACTIVE;INACTIVE;REVOKED
type SubscriptionStatusValue string

// States of a subscription.
const (
	SubscriptionActive   SubscriptionStatusValue = "ACTIVE"
	SubscriptionInactive SubscriptionStatusValue = "INACTIVE"
	SubscriptionRevoked  SubscriptionStatusValue = "REVOKED"
)

// DefaultTokenKey is the key of a token Secret that is read when none is named,
// and the key of a connection Secret that holds the token.
const DefaultTokenKey = "token"

// A TokenSecretReference names the key of a Secret, in the namespace of the
// Subscription, that holds its token.
type TokenSecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="name must be the name of a Secret: lower-case letters, digits, hyphens and dots"
	Name string `json:"name"`

	// Key in the Secret, `token` if absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="key must be a key of a Secret: letters, digits, hyphens, underscores and dots"
	Key string `json:"key,omitempty"`
}

// SubscriptionParameters are what a subscription is at the gateway.
// +kubebuilder:validation:XValidation:rule="[has(self.apiId), has(self.apiIdRef), has(self.apiIdSelector)].filter(x, x).size() == 1",message="exactly one of apiId, apiIdRef and apiIdSelector must be given"
// +kubebuilder:validation:XValidation:rule="[has(self.subscriptionPlanId), has(self.subscriptionPlanIdRef), has(self.subscriptionPlanIdSelector), has(self.subscriptionPlanName)].filter(x, x).size() <= 1",message="at most one of subscriptionPlanId, subscriptionPlanIdRef, subscriptionPlanIdSelector and subscriptionPlanName may be given"
type SubscriptionParameters struct {
	// ExternalRefID is the ID the subscription shall have at the gateway. It must be
	// unique there, across all APIs. Without it the UID of this object is asked
	// for. A legacy gateway ignores it and chooses an ID itself. It cannot be
	// changed once the subscription exists.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9._-]*$')",message="externalRefId must be 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit"
	ExternalRefID *string `json:"externalRefId,omitempty"`

	// APIID is the handle of the API that is subscribed to. It cannot be changed
	// once the subscription exists.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.matches('[\\\\s\\\\v\\\\p{Z}\\\\x{85}/]')",message="apiId must be the handle of an API, without white space and slashes"
	APIID *string `json:"apiId,omitempty"`

	// APIIDRef names the RestApi that is subscribed to.
	// +optional
	APIIDRef *Reference `json:"apiIdRef,omitempty"`

	// APIIDSelector selects the RestApi that is subscribed to.
	// +optional
	APIIDSelector *Selector `json:"apiIdSelector,omitempty"`

	// SubscriptionPlanID is the gateway's ID of the plan. The plan must exist, be
	// ACTIVE, and be one of the API's plans where the API names any. Without any
	// plan there is no limit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="!self.matches('[\\\\s\\\\v\\\\p{Z}\\\\x{85}]')",message="subscriptionPlanId must be the ID of a plan at the gateway, without white space; to name a plan use subscriptionPlanName"
	SubscriptionPlanID *string `json:"subscriptionPlanId,omitempty"`

	// SubscriptionPlanIDRef names the SubscriptionPlan. Changing it changes the
	// plan; removing it removes the plan.
	// +optional
	SubscriptionPlanIDRef *Reference `json:"subscriptionPlanIdRef,omitempty"`

	// SubscriptionPlanIDSelector selects the SubscriptionPlan.
	// +optional
	SubscriptionPlanIDSelector *Selector `json:"subscriptionPlanIdSelector,omitempty"`

	// SubscriptionPlanName is the name a plan has at the gateway, for plans that
	// are not managed here.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.trim() == self",message="subscriptionPlanName must not begin or end with white space, which the gateway would keep"
	SubscriptionPlanName *string `json:"subscriptionPlanName,omitempty"`

	// ApplicationID is the application that subscribes, as the gateway's other
	// users know it. It is compared without surrounding white space. It cannot be
	// changed once the subscription exists.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.trim() == self",message="applicationId must not begin or end with white space, which the gateway would keep"
	ApplicationID *string `json:"applicationId,omitempty"`

	// BillingCustomerID is a billing system's ID of the customer. It cannot be
	// changed once the subscription exists.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.trim() == self",message="billingCustomerId must not begin or end with white space, which the gateway would keep"
	BillingCustomerID *string `json:"billingCustomerId,omitempty"`

	// BillingSubscriptionID is a billing system's ID of the subscription. It cannot
	// be changed once the subscription exists.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.trim() == self",message="billingSubscriptionId must not begin or end with white space, which the gateway would keep"
	BillingSubscriptionID *string `json:"billingSubscriptionId,omitempty"`

	// Status of the subscription. Only an ACTIVE one lets calls through. Absent, it
	// is ACTIVE for a subscription that was created here, and left as it is for one
	// that was imported. A change of status is sent even while a changed plan or
	// token cannot be applied.
	// +optional
	Status *SubscriptionStatusValue `json:"status,omitempty"`

	// SubscriptionTokenSecretRef names the Secret that holds the token consumers
	// send. Editing the Secret rotates the token. Surrounding white space is
	// trimmed, as the gateway does. Without it a token is generated and written to
	// the Secret that writeConnectionSecretToRef names.
	// +optional
	SubscriptionTokenSecretRef *TokenSecretReference `json:"subscriptionTokenSecretRef,omitempty"`
}

// A TokenVersion names the version of a Secret that held a token.
type TokenVersion struct {
	// UID of the Secret.
	// +optional
	UID string `json:"uid,omitempty"`

	// Key in the Secret.
	// +optional
	Key string `json:"key,omitempty"`

	// ResourceVersion of the Secret.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// A SubscriptionObservation is a subscription as the gateway reports it.
type SubscriptionObservation struct {
	// ID at the gateway.
	// +optional
	ID string `json:"id,omitempty"`

	// ExternalRefID the gateway reports; legacy gateways report none.
	// +optional
	ExternalRefID string `json:"externalRefId,omitempty"`

	// APIID is the handle of the API: as written, or what a reference led to.
	// +optional
	APIID string `json:"apiId,omitempty"`

	// APIInternalID is the gateway's own ID of the API.
	// +optional
	APIInternalID string `json:"apiInternalId,omitempty"`

	// SubscriptionPlanID is the gateway's ID of the plan in force.
	// +optional
	SubscriptionPlanID string `json:"subscriptionPlanId,omitempty"`

	// SubscriptionPlanName is the name of the plan in force, where it is known.
	// +optional
	SubscriptionPlanName string `json:"subscriptionPlanName,omitempty"`

	// ApplicationID that subscribes.
	// +optional
	ApplicationID string `json:"applicationId,omitempty"`

	// BillingCustomerID the gateway reports.
	// +optional
	BillingCustomerID string `json:"billingCustomerId,omitempty"`

	// BillingSubscriptionID the gateway reports.
	// +optional
	BillingSubscriptionID string `json:"billingSubscriptionId,omitempty"`

	// Status in force, as the gateway spells it.
	// +optional
	Status string `json:"status,omitempty"`

	// GatewayID by which the gateway names itself.
	// +optional
	GatewayID string `json:"gatewayId,omitempty"`

	// Endpoint of the management API this was read from.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// CreatedAt is when the gateway says it was created.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`

	// CreationStamp is createdAt to the microsecond. It tells this subscription from any
	// other one, and whoever knows it has seen it.
	// +optional
	CreationStamp *metav1.MicroTime `json:"creationStamp,omitempty"`

	// UpdatedAt is the change stamp last seen at the gateway.
	// +optional
	UpdatedAt *metav1.MicroTime `json:"updatedAt,omitempty"`

	// Origin tells whether it was created, adopted or imported.
	// +optional
	Origin Origin `json:"origin,omitempty"`

	// Token is the version of the Secret whose token was last applied. The token
	// itself is kept nowhere, nor is a hash of it.
	// +optional
	Token *TokenVersion `json:"token,omitempty"`

	// HandledRotation is the value of the annotation rotate-token that was last
	// acted on.
	// +optional
	HandledRotation string `json:"handledRotation,omitempty"`

	// IgnoredUpdate is the change of plan or token that a legacy gateway accepted last,
	// and did not carry out. It is not sent again.
	// +optional
	IgnoredUpdate *IgnoredUpdate `json:"ignoredUpdate,omitempty"`
}

// An IgnoredUpdate is what a legacy gateway accepted and did not carry out.
type IgnoredUpdate struct {
	// ObservedGeneration is the generation of the spec that asked for it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// SubscriptionPlanID that was sent, empty for no plan.
	// +optional
	SubscriptionPlanID string `json:"subscriptionPlanId,omitempty"`

	// Token is the version of the Secret whose token was sent, if that was another one
	// than before.
	// +optional
	Token *TokenVersion `json:"token,omitempty"`
}

// A SubscriptionSpec is what a user asks for.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="has(self.forProvider.subscriptionTokenSecretRef) || has(self.writeConnectionSecretToRef) || (has(self.managementPolicies) && !('*' in self.managementPolicies) && !('Create' in self.managementPolicies))",message="forProvider.subscriptionTokenSecretRef must name a Secret with the token, or writeConnectionSecretToRef the Secret that a generated token shall be written to"
type SubscriptionSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// AdoptionPolicy says what happens when the gateway refuses to create the
	// subscription since one with this ID or token exists. IfUnique, the default,
	// adopts the one with the asked-for ID, or else the only one the application has
	// on the API; an in-place gateway must then also accept the token for it, which
	// proves that it is the same. IfProven does not take the latter on a legacy
	// gateway, which gives no such proof, unless it is the only one on the API at
	// all. Never adopts nothing; use it where several clusters share a gateway. What
	// this object itself created and lost sight of is always found again. It has no
	// effect once the subscription is held.
	// +optional
	// +kubebuilder:default=IfUnique
	AdoptionPolicy SubscriptionAdoptionPolicy `json:"adoptionPolicy,omitempty"`

	// ForProvider is the subscription at the gateway.
	ForProvider SubscriptionParameters `json:"forProvider"`
}

// A SubscriptionStatus is what is known of a subscription.
type SubscriptionStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Deployed is true once the subscription is held at the gateway. From then on
	// externalRefId, apiId, applicationId and the billing IDs cannot be changed.
	// +optional
	Deployed bool `json:"deployed,omitempty"`

	// RefusedID is the ID of a subscription that is recorded in an annotation, and that
	// another managed resource holds.
	// +optional
	RefusedID string `json:"refusedId,omitempty"`

	// CreateAttempt vouches for the annotation create-attempt as long as a create is not
	// answered.
	// +optional
	CreateAttempt *CreateAttempt `json:"createAttempt,omitempty"`

	// AtProvider is the subscription as the gateway reports it.
	// +optional
	AtProvider SubscriptionObservation `json:"atProvider,omitempty"`
}

// A Subscription is an application's access to an API, under a plan and with a
// token.
//
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.externalRefId) || !has(self.spec.forProvider.externalRefId) || self.spec.forProvider.externalRefId == oldSelf.spec.forProvider.externalRefId",fieldPath=".spec.forProvider.externalRefId",reason=FieldValueForbidden,message="externalRefId cannot be changed once the subscription exists at the gateway; delete this object and create another one instead",messageExpression="'externalRefId cannot be changed from \"' + oldSelf.spec.forProvider.externalRefId + '\" to \"' + self.spec.forProvider.externalRefId + '\" once the subscription exists at the gateway; delete this object and create another one instead'"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.apiId) || !has(self.spec.forProvider.apiId) || self.spec.forProvider.apiId == oldSelf.spec.forProvider.apiId",fieldPath=".spec.forProvider.apiId",reason=FieldValueForbidden,message="apiId cannot be changed once the subscription exists at the gateway; delete this object and create another one instead",messageExpression="'apiId cannot be changed from \"' + oldSelf.spec.forProvider.apiId + '\" to \"' + self.spec.forProvider.apiId + '\" once the subscription exists at the gateway; delete this object and create another one instead'"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.applicationId) || !has(self.spec.forProvider.applicationId) || self.spec.forProvider.applicationId == oldSelf.spec.forProvider.applicationId",fieldPath=".spec.forProvider.applicationId",reason=FieldValueForbidden,message="applicationId cannot be changed once the subscription exists at the gateway; delete this object and create another one instead",messageExpression="'applicationId cannot be changed from \"' + oldSelf.spec.forProvider.applicationId + '\" to \"' + self.spec.forProvider.applicationId + '\" once the subscription exists at the gateway; delete this object and create another one instead'"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.billingCustomerId) || !has(self.spec.forProvider.billingCustomerId) || self.spec.forProvider.billingCustomerId == oldSelf.spec.forProvider.billingCustomerId",fieldPath=".spec.forProvider.billingCustomerId",reason=FieldValueForbidden,message="billingCustomerId cannot be changed once the subscription exists at the gateway; delete this object and create another one instead",messageExpression="'billingCustomerId cannot be changed from \"' + oldSelf.spec.forProvider.billingCustomerId + '\" to \"' + self.spec.forProvider.billingCustomerId + '\" once the subscription exists at the gateway; delete this object and create another one instead'"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.billingSubscriptionId) || !has(self.spec.forProvider.billingSubscriptionId) || self.spec.forProvider.billingSubscriptionId == oldSelf.spec.forProvider.billingSubscriptionId",fieldPath=".spec.forProvider.billingSubscriptionId",reason=FieldValueForbidden,message="billingSubscriptionId cannot be changed once the subscription exists at the gateway; delete this object and create another one instead",messageExpression="'billingSubscriptionId cannot be changed from \"' + oldSelf.spec.forProvider.billingSubscriptionId + '\" to \"' + self.spec.forProvider.billingSubscriptionId + '\" once the subscription exists at the gateway; delete this object and create another one instead'"
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,apiplatform},shortName=gwsub
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="API",type="string",JSONPath=".status.atProvider.apiId"
// +kubebuilder:printcolumn:name="PLAN",type="string",JSONPath=".status.atProvider.subscriptionPlanName"
// +kubebuilder:printcolumn:name="STATUS",type="string",JSONPath=".status.atProvider.status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type Subscription struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SubscriptionSpec   `json:"spec"`
	Status SubscriptionStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// SubscriptionList contains a list of Subscription.
type SubscriptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Subscription `json:"items"`
}

// Kind, and group, version and kind, of a Subscription.
var (
	SubscriptionKind             = reflect.TypeFor[Subscription]().Name()
	SubscriptionGroupVersionKind = SchemeGroupVersion.WithKind(SubscriptionKind)
)

func init() {
	SchemeBuilder.Register(&Subscription{}, &SubscriptionList{})
}
