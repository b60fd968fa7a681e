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
	"cmp"
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// drift reports on a subscription that may not be changed.
func (e *external) drift(cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	if e.observed != nil {
		cr.Status.AtProvider.UpdatedAt = conditions.Milliseconds(e.observed.UpdatedAt)
	}
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeTokenInForce, v1alpha1.TypeContested)
	d := e.differences()
	conditions.Set(cr, xpv2.Available(), conditions.Drifted(d))
	if len(d) == 0 {
		conditions.Set(cr, conditions.Applied(""))
	} else {
		conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeApplied)
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// differences name the fields in which the subscription is, or may be, not what
// the spec asks for.
func (e *external) differences() []string {
	d := differs(e.wish, *e.observed)
	if e.tokenNow.state == tokenChanged || e.tokenNow.state == tokenUnknown || e.update.Foreign {
		d = append(d, "subscriptionToken")
	}
	return d
}

// contested says that somebody else keeps writing, and tells it once.
func (e *external) contested(cr *v1alpha1.Subscription, c xpv2.Condition) {
	if cr.GetCondition(c.Type).Status != c.Status {
		e.recorder.Event(cr, event.Warning("Contested", errors.New(c.Message)))
	}
	conditions.Set(cr, c)
}

// report what the gateway says in status.
func (e *external) report(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) {
	was := cr.Status.AtProvider
	is := v1alpha1.SubscriptionObservation{
		ID:                    s.ID,
		ExternalRefID:         s.ExternalRefID,
		APIID:                 e.wish.APIID,
		APIInternalID:         s.APIID,
		SubscriptionPlanID:    s.SubscriptionPlanID,
		ApplicationID:         s.ApplicationID,
		BillingCustomerID:     s.BillingCustomerID,
		BillingSubscriptionID: s.BillingSubscriptionID,
		Status:                s.Status,
		GatewayID:             s.GatewayID,
		Endpoint:              e.at.Endpoint,
		CreatedAt:             conditions.Seconds(s.CreatedAt),
		CreationStamp:         conditions.Microseconds(s.CreatedAt),
		UpdatedAt:             was.UpdatedAt,
		Origin:                was.Origin,
		Token:                 was.Token,
		HandledRotation:       was.HandledRotation,
		IgnoredUpdate:         was.IgnoredUpdate,
	}
	if was.ID == "" {
		// A rotation is asked for by a change that is seen, not by a value that was
		// there from the beginning or came back with a restore.
		is.HandledRotation = cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	}
	if e.baseline != nil {
		// What the spec asks for by now may be refused.
		is.APIID = cmp.Or(e.baseline.Fields[fieldAPIID], is.APIID)
	}
	if is.Origin == "" && leavesStatus(e.baseline) {
		is.Origin = v1alpha1.OriginImported
	}
	is.SubscriptionPlanName = e.planName(ctx, cr, s.SubscriptionPlanID)
	cr.Status.AtProvider, cr.Status.RefusedID, cr.Status.CreateAttempt = is, "", nil
}

// planName is the name of a plan, if a managed resource of this namespace is that
// plan.
func (e *external) planName(ctx context.Context, cr *v1alpha1.Subscription, id string) string {
	if id == "" {
		return ""
	}
	if name := e.planNameOf(ctx, cr.GetNamespace(), id); name != "" {
		return name
	}
	return value(cr.Spec.ForProvider.SubscriptionPlanName)
}

// known is the change stamp of the subscription when it was last as it should be, as
// status tells or, should that have got lost, this process remembers.
func (e *external) known(cr *v1alpha1.Subscription) time.Time {
	if t := stampOf(cr); !t.IsZero() && !t.Equal(e.memory.outdated) {
		return t
	}
	return e.memory.stamp
}

func stampOf(cr *v1alpha1.Subscription) time.Time {
	if t := cr.Status.AtProvider.UpdatedAt; t != nil {
		return t.Time
	}
	return time.Time{}
}
