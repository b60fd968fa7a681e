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
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// write is what a spec asks for, as the gateway takes it. What is left out of the
// spec is left out here.
func write(p v1alpha1.SubscriptionPlanParameters) gateway.SubscriptionPlanWrite {
	w := gateway.SubscriptionPlanWrite{
		PlanName:           p.PlanName,
		BillingPlan:        p.BillingPlan,
		StopOnQuotaReach:   p.StopOnQuotaReach,
		ThrottleLimitCount: p.ThrottleLimitCount,
	}
	if p.ThrottleLimitUnit != nil {
		w.ThrottleLimitUnit = string(*p.ThrottleLimitUnit)
	}
	if p.ExpiryTime != nil {
		t := p.ExpiryTime.Time
		w.ExpiryTime = &t
	}
	if p.Status != nil {
		w.Status = string(*p.Status)
	}
	return w
}

// An answer is what comparing a spec with a plan at the gateway gives.
type answer struct {
	// differs are the fields that an update would change.
	differs []string
	// update is that update. The gateway merges it: what it lacks stays as it is.
	update gateway.SubscriptionPlanWrite
	// note says what is different but cannot be changed.
	note string
}

// compare what a spec asks for with what the gateway has. A plan that was created
// here stops at its quota and is ACTIVE unless the spec says otherwise, as it was
// when it was new; one that was imported stays as it is.
func compare(p v1alpha1.SubscriptionPlanParameters, got *gateway.SubscriptionPlan, imported bool) answer {
	a := answer{update: write(p)}
	differ := func(field string) { a.differs = append(a.differs, "spec.forProvider."+field) }
	var notes []string

	if p.PlanName != got.PlanName {
		differ("planName")
	}
	if p.BillingPlan != nil && *p.BillingPlan != got.BillingPlan {
		differ("billingPlan")
	}
	if has := got.StopOnQuotaReach == nil || *got.StopOnQuotaReach; p.StopOnQuotaReach != nil {
		if *p.StopOnQuotaReach != has {
			differ("stopOnQuotaReach")
		}
	} else if !has && !imported {
		stop := true
		a.update.StopOnQuotaReach = &stop
		differ("stopOnQuotaReach")
	}
	fields, note := compareLimits(p, got)
	for _, f := range fields {
		differ(f)
	}
	if note != "" {
		notes = append(notes, note)
	}
	if status, note := compareStatus(p.Status, got.Status, imported); status != "" {
		a.update.Status = status
		differ("status")
	} else if note != "" {
		notes = append(notes, note)
	}
	a.note = strings.Join(notes, "; ")
	return a
}

// compareLimits compares what the gateway can change but not clear.
func compareLimits(p v1alpha1.SubscriptionPlanParameters, got *gateway.SubscriptionPlan) (differs []string, note string) {
	var notes []string
	if p.ThrottleLimitCount != nil && p.ThrottleLimitUnit != nil {
		if got.ThrottleLimitCount == nil || *got.ThrottleLimitCount != *p.ThrottleLimitCount {
			differs = append(differs, "throttleLimitCount")
		}
		if got.ThrottleLimitUnit != string(*p.ThrottleLimitUnit) {
			differs = append(differs, "throttleLimitUnit")
		}
	} else if got.ThrottleLimitCount != nil {
		notes = append(notes, "the plan has a throttle limit that is not in the spec and that the gateway cannot clear")
	}
	switch {
	case p.ExpiryTime == nil && got.ExpiryTime != nil:
		notes = append(notes, "the plan has an expiry time that is not in the spec and that the gateway cannot clear")
	case p.ExpiryTime != nil && (got.ExpiryTime == nil || !sameInstant(p.ExpiryTime.Time, *got.ExpiryTime)):
		differs = append(differs, "expiryTime")
	}
	return differs, strings.Join(notes, "; ")
}

// compareStatus returns the status to write, or nothing if there is nothing to
// write. One that this build does not know is shown and left alone.
func compareStatus(want *v1alpha1.SubscriptionPlanStatusValue, got string, imported bool) (status, note string) {
	if want == nil {
		if imported {
			return "", ""
		}
		active := v1alpha1.SubscriptionPlanActive
		want = &active
	}
	switch has := strings.ToUpper(strings.TrimSpace(got)); v1alpha1.SubscriptionPlanStatusValue(has) {
	case *want:
		return "", ""
	case v1alpha1.SubscriptionPlanActive, v1alpha1.SubscriptionPlanInactive:
		return string(*want), ""
	default:
		if has == "" {
			// Not reported: the gateway's default, which is ACTIVE.
			if *want == v1alpha1.SubscriptionPlanActive {
				return "", ""
			}
			return string(*want), ""
		}
		return "", "the gateway reports the status \"" + got + "\", which this provider does not know"
	}
}

// sameInstant compares to the second, which is what a spec can say.
func sameInstant(a, b time.Time) bool { return a.Unix() == b.Unix() }
