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
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// there tells whether a named subscription is to be checked for an import. Where
// it would be created if it is absent, the gateway has to tell; otherwise a
// missing one must look like one that does not fit.
func (e *external) there(ctx context.Context, id string) (bool, error) {
	if !e.policies.ShouldCreate() {
		return true, nil
	}
	_, err := e.gateway.GetSubscription(ctx, id)
	if gateway.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// observeImport checks whether a subscription that is there is the one the spec
// describes, and if so holds it from now on.
func (e *external) observeImport(ctx context.Context, cr *v1alpha1.Subscription, id string) (managed.ExternalObservation, error) {
	p, err := e.missingAPI(ctx)
	switch {
	case err != nil:
		return managed.ExternalObservation{}, err
	case p != nil:
		return managed.ExternalObservation{}, p
	}
	listed, err := e.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: e.wish.APIID})
	if err != nil {
		return managed.ExternalObservation{}, e.missAPI(err)
	}
	s, p := judgeImport(e.wish, id, listed)
	if p != nil {
		cr.Status.AtProvider = v1alpha1.SubscriptionObservation{}
		return managed.ExternalObservation{}, p
	}
	h := e.seen(s)
	theirs, err := e.losesImport(ctx, cr, s)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if theirs || !e.claims.Reserve(cr.GetUID(), h, e.now()) {
		// The same words as for one that is missing or does not fit.
		_, p := judgeImport(e.wish, id, nil)
		cr.Status.AtProvider = v1alpha1.SubscriptionObservation{}
		return managed.ExternalObservation{}, p
	}
	e.observed = s

	if e.policies.ShouldOnlyObserve() {
		e.incumbents.Saw(cr.GetUID(), h)
		e.report(ctx, cr, s)
		cr.Status.AtProvider.Origin = v1alpha1.OriginImported
		return e.drift(cr)
	}

	b := e.baselineFor(s, e.wish.fields())
	late := false
	if e.policies.ShouldLateInitialize() {
		b.LateInitialized = lateInitialize(cr, s)
		b.Fields[fieldBillingCustomerID] = value(cr.Spec.ForProvider.BillingCustomerID)
		b.Fields[fieldBillingSubscriptionID] = value(cr.Spec.ForProvider.BillingSubscriptionID)
		b.Fields = present(b.Fields)
		late = true
	} else if e.wish.Plan.ID == "" && e.wish.Plan.Problem == nil && s.SubscriptionPlanID != "" {
		e.recorder.Event(cr, event.Normal("PlanCleared", "The spec names no plan, so the plan the imported subscription has is taken away"))
	}
	// An import leaves a status that its spec does not mention as it is.
	b.LateInitialized = append(b.LateInitialized, fieldStatus)
	if late {
		// The runtime stores the filled fields, and the baseline with them. What a create
		// of its own came to is nothing to go by any more.
		record.WriteBaseline(cr, b)
		meta.SetExternalName(cr, b.ID)
		meta.RemoveAnnotations(cr, append(operatorAnnotations(), v1alpha1.AnnotationCreateAttempt, v1alpha1.AnnotationTokenMemory)...)
		e.baseline = &b
	} else if err := e.storeBaseline(ctx, cr, b, v1alpha1.AnnotationCreateAttempt, v1alpha1.AnnotationTokenMemory); err != nil {
		return managed.ExternalObservation{}, err
	}
	cr.Status.AtProvider.Origin = v1alpha1.OriginImported
	if e.wish, err = e.follow(ctx, cr, e.baseline, nil); err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := e.judge(ctx, cr, s)
	if err != nil && late {
		// The runtime stores nothing now, so nothing is held yet.
		cr.Status.Deployed, cr.Status.AtProvider = false, v1alpha1.SubscriptionObservation{}
		return managed.ExternalObservation{}, err
	}
	e.recorder.Event(cr, event.Normal("Imported", fmt.Sprintf("Subscription %q at the gateway is held from now on", s.ID)))
	o.ResourceLateInitialized = late
	return o, err
}

// checkAgain checks that a subscription which does not look like the one that is
// held, or was found elsewhere, is the one the baseline describes.
func (e *external) checkAgain(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) error {
	held := e.wish.held(e.baseline)
	listed, err := e.listAPI(ctx, held.APIID)
	if err != nil {
		return err
	}
	s, p := judgeImport(held, got.ID, listed)
	if p != nil && !e.borneOut(cr) {
		return unproven()
	}
	if p != nil {
		return p
	}
	b := e.refreshed(*e.baseline, s)
	if e.moved == nil {
		return e.storeBaseline(ctx, cr, b)
	}
	// Recorded once it is settled which one is meant: that writes the external-name.
	e.baseline = &b
	return nil
}

// lateInitialize fills what a spec leaves open from the gateway, and returns the
// names of the fields it filled. It never fills who the subscription belongs to,
// and no plan where one is referred to.
func lateInitialize(cr *v1alpha1.Subscription, s *gateway.Subscription) []string {
	p := &cr.Spec.ForProvider
	var filled []string
	fill := func(field string, to **string, from string) {
		if *to == nil && from != "" {
			*to = &from
			filled = append(filled, field)
		}
	}
	if p.SubscriptionPlanIDRef == nil && p.SubscriptionPlanIDSelector == nil && p.SubscriptionPlanName == nil {
		fill(fieldSubscriptionPlanID, &p.SubscriptionPlanID, s.SubscriptionPlanID)
	}
	fill(fieldBillingCustomerID, &p.BillingCustomerID, s.BillingCustomerID)
	fill(fieldBillingSubscriptionID, &p.BillingSubscriptionID, s.BillingSubscriptionID)
	known := []string{gateway.SubscriptionActive, gateway.SubscriptionInactive, gateway.SubscriptionRevoked}
	if p.Status == nil && slices.Contains(known, s.Status) {
		status := v1alpha1.SubscriptionStatusValue(s.Status)
		p.Status = &status
	}
	return filled
}
