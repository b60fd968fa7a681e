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

// A SubscriptionPlanAdoptionPolicy says what happens when the gateway already
// has a plan of the name asked for.
// +kubebuilder:validation:Enum=Never;IfUnique
type SubscriptionPlanAdoptionPolicy string

// Adoption policies of a SubscriptionPlan.
const (
	// SubscriptionPlanAdoptionNever leaves a plan that is already there alone and
	// reports the conflict.
	SubscriptionPlanAdoptionNever SubscriptionPlanAdoptionPolicy = "Never"
	// SubscriptionPlanAdoptionIfUnique takes over a plan that is already there,
	// unless another managed resource holds it, and applies the spec to it.
	SubscriptionPlanAdoptionIfUnique SubscriptionPlanAdoptionPolicy = "IfUnique"
)

// A ThrottleLimitUnit is the period a throttle limit counts in.
// +kubebuilder:validation:Enum=Min;Hour;Day;Month
type ThrottleLimitUnit string

// Units of a throttle limit.
const (
	ThrottleLimitUnitMin   ThrottleLimitUnit = "Min"
	ThrottleLimitUnitHour  ThrottleLimitUnit = "Hour"
	ThrottleLimitUnitDay   ThrottleLimitUnit = "Day"
	ThrottleLimitUnitMonth ThrottleLimitUnit = "Month"
)

// A SubscriptionPlanStatusValue says whether a plan may be used.
// +kubebuilder:validation:Enum=ACTIVE;INACTIVE
type SubscriptionPlanStatusValue string

// Values of the status of a plan.
const (
	SubscriptionPlanActive   SubscriptionPlanStatusValue = "ACTIVE"
	SubscriptionPlanInactive SubscriptionPlanStatusValue = "INACTIVE"
)

// SubscriptionPlanParameters are what is asked of the gateway. What is left out
// is not sent: a new plan gets the gateway's default, an existing one keeps what
// it has.
// +kubebuilder:validation:XValidation:rule="has(self.throttleLimitCount) == has(self.throttleLimitUnit)",message="throttleLimitCount and throttleLimitUnit must be given together or not at all"
type SubscriptionPlanParameters struct {
	// PlanName of the plan, unique on the gateway. APIs list the plans they offer
	// by this name. It may be changed, as long as no other plan has the new name;
	// APIs that list the old name must then be changed too. White space around
	// it is refused, since the gateway would cut it off.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[^\s\v\p{Z}\x{85}]([^\r\n]*[^\s\v\p{Z}\x{85}])?$')`,message="planName must not begin or end with white space, nor hold line breaks"
	PlanName string `json:"planName"`

	// BillingPlan names the plan in a billing system, for example COMMERCIAL. The
	// gateway stores it and does nothing with it. Left out, it stays as it is at
	// the gateway; an empty string removes it.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^([^\s\v\p{Z}\x{85}]([^\r\n]*[^\s\v\p{Z}\x{85}])?)?$`
	BillingPlan *string `json:"billingPlan,omitempty"`

	// StopOnQuotaReach says whether requests are refused once the throttle limit
	// is reached. Left out it means true, which is the gateway's default.
	// +optional
	StopOnQuotaReach *bool `json:"stopOnQuotaReach,omitempty"`

	// ThrottleLimitCount is how many requests one subscription may make per
	// throttleLimitUnit: at least 1, at most 2^53, which is what survives JSON
	// exactly. Left out together with the unit, a new plan does not throttle. The
	// gateway can change a limit but not remove it, so once the plan is deployed
	// it cannot be removed here either.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740992
	ThrottleLimitCount *int64 `json:"throttleLimitCount,omitempty"`

	// ThrottleLimitUnit is the period that throttleLimitCount counts in.
	// +optional
	ThrottleLimitUnit *ThrottleLimitUnit `json:"throttleLimitUnit,omitempty"`

	// ExpiryTime is when the plan ceases to be valid, for example
	// 2026-12-31T23:59:59Z. Left out, a new plan does not expire. The gateway can
	// change it but not remove it, so once the plan is deployed it cannot be
	// removed here either.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	// +kubebuilder:validation:XValidation:rule="self.getFullYear() >= 1970",message="expiryTime must be a point in time as in RFC 3339, for example 2026-12-31T23:59:59Z"
	ExpiryTime *metav1.Time `json:"expiryTime,omitempty"`

	// Status ACTIVE lets subscriptions use the plan. INACTIVE refuses new ones.
	// Left out, a plan that was created here is ACTIVE, and one that was imported
	// stays as it is.
	// +optional
	Status *SubscriptionPlanStatusValue `json:"status,omitempty"`
}

// SubscriptionPlanObservation is what the gateway says about the plan.
type SubscriptionPlanObservation struct {
	// ID of the plan, which the gateway chose.
	// +optional
	ID string `json:"id,omitempty"`
	// PlanName at the gateway.
	// +optional
	PlanName string `json:"planName,omitempty"`
	// BillingPlan at the gateway.
	// +optional
	BillingPlan string `json:"billingPlan,omitempty"`
	// StopOnQuotaReach at the gateway.
	// +optional
	StopOnQuotaReach *bool `json:"stopOnQuotaReach,omitempty"`
	// ThrottleLimitCount at the gateway.
	// +optional
	ThrottleLimitCount *int64 `json:"throttleLimitCount,omitempty"`
	// ThrottleLimitUnit at the gateway.
	// +optional
	ThrottleLimitUnit string `json:"throttleLimitUnit,omitempty"`
	// ExpiryTime at the gateway.
	// +optional
	ExpiryTime *metav1.Time `json:"expiryTime,omitempty"`
	// Status at the gateway, as it was answered.
	// +optional
	Status string `json:"status,omitempty"`
	// GatewayID is how the gateway calls itself.
	// +optional
	GatewayID string `json:"gatewayId,omitempty"`
	// Endpoint of the gateway that holds the plan.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// CreatedAt is when the plan was created at the gateway.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`

	// CreationStamp is createdAt to the microsecond. It tells this plan from any other
	// one, and whoever knows it has seen it.
	// +optional
	CreationStamp *metav1.MicroTime `json:"creationStamp,omitempty"`
	// UpdatedAt is when anybody last wrote the plan at the gateway.
	// +optional
	UpdatedAt *metav1.Time `json:"updatedAt,omitempty"`
	// Origin tells whether the plan was created here, adopted, or imported.
	// +optional
	Origin Origin `json:"origin,omitempty"`
}

// A SubscriptionPlanSpec is what a SubscriptionPlan should be.
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
type SubscriptionPlanSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// AdoptionPolicy says what happens when the gateway already has a plan of
	// this name that was not created here. Never reports a conflict and leaves
	// it alone. IfUnique takes it over, unless another managed resource holds
	// it, and applies the spec to it. It has no effect once the plan is
	// deployed. A plan that was created here, but whose ID got lost with the
	// gateway's answer, is found again whatever the policy.
	// +optional
	// +kubebuilder:default=Never
	AdoptionPolicy SubscriptionPlanAdoptionPolicy `json:"adoptionPolicy,omitempty"`

	// ForProvider is what is asked of the gateway.
	ForProvider SubscriptionPlanParameters `json:"forProvider"`
}

// A SubscriptionPlanStatus is what a SubscriptionPlan is.
type SubscriptionPlanStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Deployed is true once the plan is at the gateway and held by this managed
	// resource.
	// +optional
	Deployed bool `json:"deployed,omitempty"`

	// RefusedID is the ID of a plan that is recorded in an annotation, and that
	// another managed resource holds.
	// +optional
	RefusedID string `json:"refusedId,omitempty"`

	// CreateAttempt vouches for the annotation create-attempt as long as a create is not
	// answered.
	// +optional
	CreateAttempt *CreateAttempt `json:"createAttempt,omitempty"`

	// AtProvider is what the gateway says about the plan.
	// +optional
	AtProvider SubscriptionPlanObservation `json:"atProvider,omitempty"`
}

// A SubscriptionPlan sets a limit and an expiry for the subscriptions that use
// it, and can be offered by any API on the gateway.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,apiplatform},shortName=gwplan
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="PLAN-NAME",type="string",JSONPath=".spec.forProvider.planName"
// +kubebuilder:printcolumn:name="LIMIT",type="integer",JSONPath=".spec.forProvider.throttleLimitCount"
// +kubebuilder:printcolumn:name="PER",type="string",JSONPath=".spec.forProvider.throttleLimitUnit"
// +kubebuilder:printcolumn:name="STATUS",type="string",JSONPath=".status.atProvider.status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.throttleLimitCount) || has(self.spec.forProvider.throttleLimitCount)",fieldPath=".spec.forProvider.throttleLimitCount",reason=FieldValueForbidden,message="throttleLimitCount and throttleLimitUnit cannot be removed once the plan is deployed: the gateway can change a limit but not clear it. Set another limit, or create another plan"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?status.deployed.orValue(false) || !has(oldSelf.spec.forProvider.expiryTime) || has(self.spec.forProvider.expiryTime)",fieldPath=".spec.forProvider.expiryTime",reason=FieldValueForbidden,message="expiryTime cannot be removed once the plan is deployed: the gateway can change it but not clear it. Set a later time, or create another plan"
type SubscriptionPlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SubscriptionPlanSpec   `json:"spec"`
	Status SubscriptionPlanStatus `json:"status,omitempty"`
}

// SubscriptionPlanList is a list of SubscriptionPlans.
// +kubebuilder:object:root=true
type SubscriptionPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SubscriptionPlan `json:"items"`
}

// Kind, and group, version and kind, of a SubscriptionPlan.
var (
	SubscriptionPlanKind             = reflect.TypeFor[SubscriptionPlan]().Name()
	SubscriptionPlanGroupVersionKind = SchemeGroupVersion.WithKind(SubscriptionPlanKind)
)

func init() {
	SchemeBuilder.Register(&SubscriptionPlan{}, &SubscriptionPlanList{})
}
