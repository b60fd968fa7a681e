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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

func condition(t xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: s, Reason: r, Message: message, LastTransitionTime: metav1.Now()}
}

// applied says that what the spec asks for is in force.
func applied() xpv2.Condition {
	return condition(v1alpha1.TypeApplied, corev1.ConditionTrue, v1alpha1.ReasonApplied, "")
}

// notApplied says why what the spec asks for is not in force.
func notApplied(p *problem) xpv2.Condition {
	return condition(v1alpha1.TypeApplied, corev1.ConditionFalse, p.Reason, p.Message)
}

// unverified says that it is not known whether what the spec asks for is in force.
func unverified(err error) xpv2.Condition {
	return condition(v1alpha1.TypeApplied, corev1.ConditionUnknown, v1alpha1.ReasonGatewayUnavailable, err.Error())
}

// unready says that the subscription is not what the spec asks for.
func unready(message string) xpv2.Condition {
	return xpv2.Unavailable().WithMessage(message)
}

// Reasons of the conditions TokenInForce, Contested and Drifted.
const (
	reasonInForce    xpv2.ConditionReason = "InForce"
	reasonUnknown    xpv2.ConditionReason = "Unknown"
	reasonNotApplied xpv2.ConditionReason = "NotApplied"
	reasonForeign    xpv2.ConditionReason = "ForeignWrites"
	reasonQuiet      xpv2.ConditionReason = "Quiet"
	reasonDiffers    xpv2.ConditionReason = "Differs"
	reasonEqual      xpv2.ConditionReason = "Equal"
)

// tokenCondition tells whether the token is in force.
func tokenCondition(t token, legacy bool) xpv2.Condition {
	c := func(s corev1.ConditionStatus, r xpv2.ConditionReason, message string) xpv2.Condition {
		return condition(v1alpha1.TypeTokenInForce, s, r, message)
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
	return c(corev1.ConditionUnknown, reasonUnknown, "no token is managed here: neither subscriptionTokenSecretRef nor a generated token")
}

// contested tells whether somebody else keeps writing. A managed resource that
// never was contested does not mention it.
func contested(cr *v1alpha1.Subscription, is bool) {
	switch {
	case is:
		cr.SetConditions(condition(v1alpha1.TypeContested, corev1.ConditionTrue, reasonForeign, "somebody else keeps writing this subscription at the gateway; it is written again at most every ten minutes; find out who it is, or observe only"))
	case cr.GetCondition(v1alpha1.TypeContested).Status == corev1.ConditionTrue:
		cr.SetConditions(condition(v1alpha1.TypeContested, corev1.ConditionFalse, reasonQuiet, ""))
	}
}

// problemOf puts a failed call in the words of the condition Applied.
func problemOf(err error) *problem {
	reason := v1alpha1.ReasonGatewayUnavailable
	switch gateway.ReasonOf(err) {
	case gateway.ReasonConflict:
		reason = v1alpha1.ReasonConflict
	case gateway.ReasonInvalid, gateway.ReasonUnsafeID, gateway.ReasonInUse:
		reason = v1alpha1.ReasonRefused
	case gateway.ReasonMissingDependency:
		reason = v1alpha1.ReasonRefused
		switch gateway.SubjectOf(err) {
		case gateway.SubjectAPI:
			reason = v1alpha1.ReasonAPIMissing
		case gateway.SubjectPlan:
			reason = v1alpha1.ReasonPlanMissing
		default:
		}
	default:
	}
	return &problem{Reason: reason, Message: err.Error()}
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
