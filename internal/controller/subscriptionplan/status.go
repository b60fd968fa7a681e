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

package subscriptionplan

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// refusal is what the gateway says against a write.
func refusal(err error) string {
	said := err.Error()
	if e := gateway.AsError(err); e != nil {
		said = e.Message
		for _, f := range e.FieldErrors {
			said += "; " + f.Field + ": " + f.Message
		}
	}
	return "the gateway refuses the plan: " + strings.TrimPrefix(said, "; ")
}

// observation is what status shows of a plan.
func observation(got *gateway.SubscriptionPlan, at target.Target, from v1alpha1.Origin) v1alpha1.SubscriptionPlanObservation {
	o := v1alpha1.SubscriptionPlanObservation{
		ID:                 got.ID,
		PlanName:           got.PlanName,
		BillingPlan:        got.BillingPlan,
		StopOnQuotaReach:   got.StopOnQuotaReach,
		ThrottleLimitCount: got.ThrottleLimitCount,
		ThrottleLimitUnit:  got.ThrottleLimitUnit,
		Status:             got.Status,
		GatewayID:          got.GatewayID,
		Endpoint:           at.Endpoint,
		Origin:             from,
	}
	if got.ExpiryTime != nil {
		o.ExpiryTime = conditions.Seconds(*got.ExpiryTime)
	}
	o.CreatedAt, o.CreationStamp = conditions.Seconds(got.CreatedAt), conditions.Microseconds(got.CreatedAt)
	o.UpdatedAt = conditions.Seconds(got.UpdatedAt)
	return o
}

// lateInitialize fills what the spec leaves out with what an imported plan has,
// and returns the names of the fields it filled.
func lateInitialize(p *v1alpha1.SubscriptionPlanParameters, got *gateway.SubscriptionPlan) []string {
	var filled []string
	if p.BillingPlan == nil && got.BillingPlan != "" {
		p.BillingPlan = &got.BillingPlan
		filled = append(filled, "billingPlan")
	}
	if p.StopOnQuotaReach == nil && got.StopOnQuotaReach != nil {
		p.StopOnQuotaReach = got.StopOnQuotaReach
		filled = append(filled, "stopOnQuotaReach")
	}
	unit := v1alpha1.ThrottleLimitUnit(got.ThrottleLimitUnit)
	if p.ThrottleLimitCount == nil && got.ThrottleLimitCount != nil && *got.ThrottleLimitCount > 0 && knownUnit(unit) {
		p.ThrottleLimitCount, p.ThrottleLimitUnit = got.ThrottleLimitCount, &unit
		filled = append(filled, "throttleLimitCount", "throttleLimitUnit")
	}
	if p.ExpiryTime == nil && got.ExpiryTime != nil {
		p.ExpiryTime = &metav1.Time{Time: *got.ExpiryTime}
		filled = append(filled, "expiryTime")
	}
	if status := v1alpha1.SubscriptionPlanStatusValue(got.Status); p.Status == nil &&
		(status == v1alpha1.SubscriptionPlanActive || status == v1alpha1.SubscriptionPlanInactive) {
		p.Status = &status
		filled = append(filled, "status")
	}
	return filled
}

func knownUnit(u v1alpha1.ThrottleLimitUnit) bool {
	switch u {
	case v1alpha1.ThrottleLimitUnitMin, v1alpha1.ThrottleLimitUnitHour, v1alpha1.ThrottleLimitUnitDay, v1alpha1.ThrottleLimitUnitMonth:
		return true
	default:
		return false
	}
}
