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
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Create a Subscription: find again what an earlier create came to, or ask the
// gateway for one, or adopt the one that stands in the way.
func (e *external) Create(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, e.conclude(cr, e.create(ctx, cr), xpv2.Creating())
}

func (e *external) create(ctx context.Context, cr *v1alpha1.Subscription) error {
	if e.recovered != nil {
		return e.regain(ctx, cr, e.recovered)
	}
	sent, err := e.post(ctx, cr)
	if err != nil && !sent {
		// Nothing was sent, so nothing can turn up later that would be ours.
		e.closeAttempt(cr)
	}
	return err
}

// regain holds what an earlier create came to.
func (e *external) regain(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) error {
	if !e.claims.Reserve(cr.GetUID(), e.seen(s), e.now()) {
		return e.conflict(cr)
	}
	e.learnFrom(s)
	if e.gateway.Generation() == connection.GenerationUnknown {
		// What is believed of its token depends on it.
		if err := e.learnGeneration(ctx, s.ID); err != nil {
			return err
		}
	}
	e.hold(cr, s, e.attempted(cr), v1alpha1.OriginCreated, nil)
	return nil
}

// post asks the gateway for a subscription, and tells whether it got so far.
func (e *external) post(ctx context.Context, cr *v1alpha1.Subscription) (sent bool, err error) {
	asked := e.holding(e.attempt.AskedID)
	others, err := e.othersHolding(ctx, cr, asked)
	if err != nil {
		return false, err
	}
	held := len(others) > 0
	if e.attempt.AbsentBefore {
		// While nothing is there, it goes to the better claim.
		held = e.loses(cr, asked, others)
	}
	theirs, err := e.namesAnother(ctx, cr, asked.ID)
	if err != nil {
		return false, err
	}
	if theirs || held || !e.claims.ReserveUntil(cr.GetUID(), asked, e.now(), e.at.TooLateFor(e.now())) {
		return false, e.conflict(cr)
	}

	t, err := e.current(ctx, cr, e.tokenNow)
	if err != nil {
		return false, err
	}
	if t.problem != nil {
		return false, t.problem
	}
	e.tokenNow = t

	e.memory.conflict = cmp.Or(e.memory.conflict, e.attempt.Conflict)
	state, err := e.conflictState(ctx, cr)
	if err != nil {
		return false, err
	}
	if e.wish.ExternalRefID != "" && e.memory.conflict != "" && e.memory.conflict == state {
		// Nothing changed since the gateway refused this very create.
		return false, e.conflict(cr)
	}

	if err := e.claim(cr, asked); err != nil {
		return false, err
	}
	// What is asked for is stored, and nothing is in the way of it. What status vouches for
	// is all that others have to leave alone, so it never does for what was not sent.
	if err := kind.Vouch(ctx, e.kube, cr, &cr.Status.CreateAttempt, e.now()); err != nil {
		return false, err
	}
	// It took a while to say so.
	if err := e.claim(cr, asked); err != nil {
		return false, err
	}
	answer, err := e.gateway.CreateSubscription(ctx, e.request())
	if gateway.IsConflict(err) {
		e.memory.conflict = state
		return true, e.adopt(ctx, cr)
	}
	if err != nil {
		if !gateway.MayHaveBeenApplied(err) {
			e.closeAttempt(cr)
		}
		return true, e.missAPI(err)
	}
	e.created(cr, answer)
	return true, nil
}

// claim what is asked for, and the turn to ask, until a create that is sent now can no
// longer take effect.
func (e *external) claim(cr *v1alpha1.Subscription, asked ownership.Holding) error {
	if !e.claims.ReserveUntil(cr.GetUID(), asked, e.now(), e.at.TooLateFor(e.now())) {
		return e.conflict(cr)
	}
	return e.takeTurn(cr)
}

// learnFrom what was found, and not answered to a create of ours, that the gateway
// is an in-place one, if it says so. That it is not can only be learnt from an
// answer: what was found may be another's, and a record of an attempt forged.
func (e *external) learnFrom(s *gateway.Subscription) {
	if s.ID == s.ExternalRefID {
		e.gateway.Learn(connection.GenerationInPlace)
	}
}

// created records what a create of our own was answered with.
func (e *external) created(cr *v1alpha1.Subscription, s *gateway.Subscription) {
	e.claims.Reserve(cr.GetUID(), e.seen(s), e.now())
	if s.ID != e.attempt.AskedID {
		e.claims.Release(cr.GetUID(), e.holding(e.attempt.AskedID))
	}
	e.turns.end(cr.GetUID(), e.now())
	e.hold(cr, s, e.wish.fields(), v1alpha1.OriginCreated, &e.tokenNow)
}

// request is the create the wish asks for.
func (e *external) request() gateway.SubscriptionCreate {
	status := e.wish.Status
	if status == "" {
		// What is created again stays as it was last seen.
		status = cmp.Or(e.lastStatus, gateway.SubscriptionActive)
	}
	return gateway.SubscriptionCreate{
		ExternalRefID:         e.attempt.AskedID,
		APIID:                 e.wish.APIID,
		SubscriptionToken:     e.tokenNow.value,
		ApplicationID:         e.wish.ApplicationID,
		SubscriptionPlanID:    e.wish.Plan.ID,
		BillingCustomerID:     e.wish.BillingCustomerID,
		BillingSubscriptionID: e.wish.BillingSubscriptionID,
		Status:                status,
	}
}

// hold records that a managed resource holds a subscription, in the annotations
// that are stored together with the end of the create.
func (e *external) hold(cr *v1alpha1.Subscription, s *gateway.Subscription, fields map[string]string, origin v1alpha1.Origin, t *token) {
	if e.baseline != nil {
		e.contests.Recreated(cr.GetUID(), e.now())
		e.recorder.Event(cr, event.Warning("Recreated", fmt.Errorf("the subscription %q was not at the gateway and was created again as %q", e.baseline.ID, s.ID)))
	}
	b := e.baselineFor(s, fields)
	if e.baseline != nil {
		b.LateInitialized = e.baseline.LateInitialized
	}
	if leavesStatus(&b) {
		// Once an import, always one: what its spec does not say is left alone.
		origin = v1alpha1.OriginImported
	}
	record.WriteBaseline(cr, b)
	meta.SetExternalName(cr, s.ID)
	meta.RemoveAnnotations(cr, v1alpha1.AnnotationCreateAttempt)
	// The ID at once, where that is stored: until it is reported, what status says of the
	// attempt bears the record out.
	rotation := cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	if e.baseline != nil && t == nil {
		// It is not known whether what was found has the token that was asked for.
		rotation = cr.Status.AtProvider.HandledRotation
	}
	// What belongs to it too, should the record be taken away before it is reported.
	cr.Status.AtProvider = v1alpha1.SubscriptionObservation{
		ID: s.ID, Endpoint: e.at.Endpoint, Origin: origin, HandledRotation: rotation,
		APIID: fields[fieldAPIID], ApplicationID: fields[fieldApplicationID],
		BillingCustomerID: fields[fieldBillingCustomerID], BillingSubscriptionID: fields[fieldBillingSubscriptionID],
	}
	if v := cr.Status.CreateAttempt; v != nil {
		// From here on it is known what was made.
		v.ID, v.APIID, v.ApplicationID = s.ID, "", ""
	}
	e.memory.token, e.memory.stamp, e.memory.conflict, e.memory.inTheWay = nil, time.Time{}, "", ""
	switch {
	case t != nil:
		remember(cr, t.version)
		e.memory.token = e.memories.mac(t.value)
	case origin == v1alpha1.OriginAdopted || e.gateway.Generation() != connection.GenerationLegacy:
		// Which token it has is not known; an update will tell. Only where there is no
		// such update does a create wait until no earlier one can take effect, so that
		// it is known which one did.
		meta.RemoveAnnotations(cr, v1alpha1.AnnotationTokenMemory)
	}
}

// closeAttempt records that an attempt is known to have created nothing, and lets
// go of what was claimed for it. One that was sent before, and not answered then,
// stays open until it can no longer be carried out.
func (e *external) closeAttempt(cr *v1alpha1.Subscription) {
	if e.pending {
		return
	}
	e.release(cr.GetUID())
	e.attempt.Outcome = record.Refused
	record.WriteAttempt(cr, *e.attempt)
	cr.Status.CreateAttempt = nil
}

// conflict says that the ID or the token is taken. It does not say which, nor by
// whom: the gateway's answer does not reliably tell, and it is nobody's business.
func (e *external) conflict(cr *v1alpha1.Subscription) *problem {
	if cr.Spec.AdoptionPolicy == v1alpha1.SubscriptionAdoptNever {
		return problemf(v1alpha1.ReasonAdoptionRefused,
			"the ID %q or the token is taken at the gateway, and spec.adoptionPolicy is Never; choose another spec.forProvider.externalRefId or another token, or allow adoption", e.attempt.AskedID)
	}
	return problemf(v1alpha1.ReasonConflict,
		"the ID %q or the token is taken at the gateway, and what has it cannot be shown to be this object's; choose another spec.forProvider.externalRefId or another token, or name the subscription to hold in the annotation crossplane.io/external-name", e.attempt.AskedID)
}
