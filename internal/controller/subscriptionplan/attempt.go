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
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// open tells whether a create may have succeeded although no answer came.
func open(a *record.Attempt) bool {
	return a != nil && a.Outcome == record.Open && a.AskedID != ""
}

// unanswered tells whether one that was sent to an endpoint may have.
func unanswered(a *record.Attempt, endpoint string) bool {
	return open(a) && a.Endpoint == endpoint
}

// unansweredElsewhere tells whether one that was sent to another endpoint may have.
func unansweredElsewhere(a *record.Attempt, endpoint string) bool {
	return open(a) && a.AbsentBefore && a.Endpoint != endpoint
}

// sentAt is when, by the status of a managed resource, its create was sent.
func sentAt(mg *v1alpha1.SubscriptionPlan) time.Time {
	if v := mg.Status.CreateAttempt; v != nil && v.Time != nil {
		return v.Time.Time
	}
	return time.Time{}
}

// attempt returns the record of the create that is about to be made. One that is
// open for the same name on the same gateway stays as it is, so that what was
// absent before the first request stays known as such.
func attempt(before *record.Attempt, name string, absent bool, endpoint string) record.Attempt {
	if unanswered(before, endpoint) && before.AskedID == name {
		return *before
	}
	return record.Attempt{AskedID: name, AbsentBefore: absent, Endpoint: endpoint, Outcome: record.Open}
}

// refused notes that a create is known to have created nothing.
func refused(mg *v1alpha1.SubscriptionPlan) { conclude(mg, record.Refused) }

// answered notes that what a create led to is known.
func answered(mg *v1alpha1.SubscriptionPlan) { conclude(mg, "") }

func conclude(mg *v1alpha1.SubscriptionPlan, o record.Outcome) {
	if a, err := record.ReadAttempt(mg); err == nil && a != nil && a.Outcome == record.Open {
		a.Outcome = o
		record.WriteAttempt(mg, *a)
		if o == record.Refused {
			mg.Status.CreateAttempt = nil
		}
	}
}

// imported tells whether a plan was there already and was named by its ID.
func imported(a *record.Attempt) bool { return a != nil && a.Preset }

// origin tells how a managed resource came by its plan.
func origin(mg *v1alpha1.SubscriptionPlan, a *record.Attempt) v1alpha1.Origin {
	switch {
	case imported(a):
		return v1alpha1.OriginImported
	case a != nil && a.AbsentBefore:
		return v1alpha1.OriginCreated
	case a != nil:
		return v1alpha1.OriginAdopted
	default:
		return mg.Status.AtProvider.Origin
	}
}
