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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Annotations the provider keeps on managed resources, and those a user may set.
const (
	// AnnotationCreateAttempt records what a managed resource asked the gateway to
	// create, from before the request until its answer was stored.
	AnnotationCreateAttempt = Group + "/create-attempt"
	// AnnotationBaseline records what a managed resource holds at the gateway and
	// the values of its immutable fields.
	AnnotationBaseline = Group + "/baseline"
	// AnnotationTokenMemory records which version of a Secret held the token that
	// was in force when the subscription was created.
	AnnotationTokenMemory = Group + "/token-memory"
	// AnnotationRotateToken asks for a new generated token. Any new value rotates
	// once.
	AnnotationRotateToken = Group + "/rotate-token"
)

// AnnotationOwner is an annotation at the gateway that tells which managed
// resource owns an API there: cluster/namespace/name.
const AnnotationOwner = "apiplatform.crossplane.io/owner"

// Condition types of managed resources, beside Ready and Synced.
const (
	// TypeApplied tells whether what the spec asks for is in force at the gateway,
	// and if not why.
	TypeApplied xpv2.ConditionType = "Applied"
	// TypeTokenInForce tells whether the token of a subscription is the one in
	// force at the gateway.
	TypeTokenInForce xpv2.ConditionType = "TokenInForce"
	// TypeContested is True while somebody else keeps changing the object at the
	// gateway.
	TypeContested xpv2.ConditionType = "Contested"
	// TypeDrifted is True on an object that is only observed and that differs from
	// its spec.
	TypeDrifted xpv2.ConditionType = "Drifted"
)

// Reasons of the condition Applied.
const (
	ReasonApplied            xpv2.ConditionReason = "Applied"
	ReasonConflict           xpv2.ConditionReason = "Conflict"
	ReasonImmutableField     xpv2.ConditionReason = "ImmutableField"
	ReasonRefused            xpv2.ConditionReason = "Refused"
	ReasonTokenSecretMissing xpv2.ConditionReason = "TokenSecretMissing"
	ReasonPlanMissing        xpv2.ConditionReason = "PlanMissing"
	ReasonPlanPending        xpv2.ConditionReason = "PlanPending"
	ReasonAPIMissing         xpv2.ConditionReason = "ApiMissing"
	ReasonLegacyGateway      xpv2.ConditionReason = "LegacyGateway"
	ReasonAmbiguousAttempt   xpv2.ConditionReason = "AmbiguousAttempt"
	ReasonGatewayChanged     xpv2.ConditionReason = "GatewayChanged"
	ReasonNewerBaseline      xpv2.ConditionReason = "NewerBaseline"
	ReasonAdoptionRefused    xpv2.ConditionReason = "AdoptionRefused"
	ReasonGatewayUnavailable xpv2.ConditionReason = "GatewayUnavailable"
)

// An Origin tells how a managed resource came by what it holds at the gateway.
type Origin string

// Origins.
const (
	// OriginCreated objects were created by the managed resource.
	OriginCreated Origin = "Created"
	// OriginAdopted objects were there and were taken over by a create.
	OriginAdopted Origin = "Adopted"
	// OriginImported objects were there and were named by external-name.
	OriginImported Origin = "Imported"
)

// A CreateAttempt is what status says of a create, from before it is sent until what it
// created was seen. Users can write the annotation that records what is asked for, but
// not status: a record that it does not vouch for counts for nothing against others.
type CreateAttempt struct {
	// Endpoint that is asked.
	Endpoint string `json:"endpoint"`

	// Digest of the annotation create-attempt.
	Digest string `json:"digest"`

	// ID, or name if that is what is unique, that is asked for, if nothing had it before.
	// +optional
	ID string `json:"id,omitempty"`

	// APIID and ApplicationID that are asked for. They are there where the gateway may
	// choose another ID, so that these tell what was created.
	// +optional
	APIID string `json:"apiId,omitempty"`
	// +optional
	ApplicationID string `json:"applicationId,omitempty"`

	// Time at which the create was about to be sent, for the last time. What was created
	// at any other time was not created by it.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
}

// A Reference names a managed resource in the same namespace. It is followed on
// every reconcile: when the object it names is replaced, or the name changes,
// what it leads to changes too.
type Reference struct {
	// Name of the managed resource.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A Selector chooses a managed resource in the same namespace. Of several that
// match, the one with the lowest name is chosen. A choice is kept for as long as
// the chosen object exists and matches.
// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) && size(self.matchLabels) > 0 || has(self.matchControllerRef) && self.matchControllerRef",message="a selector must give matchLabels or set matchControllerRef; an empty one would match everything"
type Selector struct {
	// MatchLabels selects by labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// MatchControllerRef selects only objects that have the same controller as the
	// selecting one: composed resources of one composite resource.
	// +optional
	MatchControllerRef *bool `json:"matchControllerRef,omitempty"`
}
