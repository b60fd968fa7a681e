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

package subscription

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Reasons of the conditions TokenInForce and Contested.
const (
	reasonInForce    xpv2.ConditionReason = "InForce"
	reasonUnknown    xpv2.ConditionReason = "Unknown"
	reasonNotApplied xpv2.ConditionReason = "NotApplied"
	reasonForeign    xpv2.ConditionReason = "ForeignWrites"
)

// tokenCondition tells whether the token is in force.
func tokenCondition(t token, legacy bool) xpv2.Condition {
	c := func(s corev1.ConditionStatus, r xpv2.ConditionReason, message string) xpv2.Condition {
		return conditions.New(v1alpha1.TypeTokenInForce, s, r, message)
	}
	switch t.state {
	case tokenInForce:
		return c(corev1.ConditionTrue, reasonInForce, "")
	case tokenChanged:
		if legacy {
			return c(corev1.ConditionFalse, v1alpha1.ReasonLegacyGateway, "this gateway cannot change a token; the one in force is the one the subscription was created with")
		}
		return c(corev1.ConditionFalse, reasonNotApplied, "the token was changed and not yet accepted by the gateway")
	case tokenMissing:
		return c(corev1.ConditionFalse, v1alpha1.ReasonTokenSecretMissing, t.problem.Message)
	case tokenUnknown:
		return c(corev1.ConditionUnknown, reasonUnknown, "the gateway does not tell which token is in force, and it is not known which one was applied last")
	case tokenUnmanaged:
	}
	return c(corev1.ConditionUnknown, reasonUnknown, "the token was set by somebody else and is not known here; name a Secret in spec.forProvider.subscriptionTokenSecretRef, or a Secret to write to in spec.writeConnectionSecretToRef and ask for a new token with the annotation "+v1alpha1.AnnotationRotateToken)
}

// tokenUnsure says why it is not known whether the token is in force.
func tokenUnsure(why string) xpv2.Condition {
	return conditions.New(v1alpha1.TypeTokenInForce, corev1.ConditionUnknown, reasonUnknown, why)
}

// foreignWrites says that somebody else keeps writing, unseen but for the change
// stamp.
func foreignWrites() xpv2.Condition {
	return conditions.New(v1alpha1.TypeContested, corev1.ConditionTrue, reasonForeign, "somebody else keeps writing this subscription at the gateway; it is written again at most every ten minutes; find out who it is, or observe only")
}

// problemOf puts a failed call in the words of the condition Applied.
func problemOf(err error) *problem {
	reason, advice := v1alpha1.ReasonGatewayUnavailable, ""
	switch gateway.ReasonOf(err) {
	case gateway.ReasonConflict:
		// The gateway calls it another subscription of the application, which it is not.
		return problemf(v1alpha1.ReasonConflict, "the gateway refuses the token: another subscription to the API has it; choose another one")
	case gateway.ReasonInvalid, gateway.ReasonUnsafeID, gateway.ReasonInUse:
		reason = v1alpha1.ReasonRefused
	case gateway.ReasonMissingDependency:
		reason = v1alpha1.ReasonRefused
		switch gateway.SubjectOf(err) {
		case gateway.SubjectAPI:
			reason, advice = v1alpha1.ReasonAPIMissing, "; it is tried again until the API is there"
		case gateway.SubjectPlan:
			reason, advice = v1alpha1.ReasonPlanMissing, "; the plan must exist at the gateway, be ACTIVE, and be one of the API's plans if the API names any"
		default:
		}
	default:
	}
	return &problem{Reason: reason, Message: err.Error() + advice}
}

// refuses tells whether a failed call was a definitive refusal of what was sent.
func refuses(err error) bool {
	switch gateway.ReasonOf(err) {
	case gateway.ReasonConflict, gateway.ReasonInvalid, gateway.ReasonMissingDependency, gateway.ReasonUnsafeID:
		return true
	default:
		return false
	}
}
