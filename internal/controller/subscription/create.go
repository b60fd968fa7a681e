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
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

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
	return managed.ExternalCreation{}, e.conclude(cr, e.create(ctx, cr))
}

func (e *external) create(ctx context.Context, cr *v1alpha1.Subscription) error {
	if e.recovered != nil {
		if !e.claims.Reserve(cr.GetUID(), e.holding(e.recovered.ID, e.recovered.APIID)) {
			return e.conflict()
		}
		e.gateway.LearnFromCreate(e.attempt.AskedID, e.recovered)
		// Which token the lost create carried is not known; an update will tell.
		e.hold(cr, e.recovered, v1alpha1.OriginCreated, nil)
		return nil
	}

	asked := e.holding(e.attempt.AskedID, "")
	others, err := e.othersHolding(ctx, cr, asked)
	if err != nil {
		return err
	}
	if len(others) > 0 || !e.claims.Reserve(cr.GetUID(), asked) {
		return e.conflict()
	}
	release, err := e.takeTurn(cr)
	if err != nil {
		return err
	}
	defer release()

	t, err := e.current(ctx, cr, e.tokenNow)
	if err != nil {
		return err
	}
	if t.problem != nil {
		return t.problem
	}
	e.tokenNow = t

	state, err := e.conflictState(ctx, cr)
	if err != nil {
		return err
	}
	if e.wish.ExternalRefID != "" && e.memory.conflict != "" && e.memory.conflict == state {
		// Nothing changed since the gateway refused this very create.
		return e.conflict()
	}

	answer, err := e.gateway.CreateSubscription(ctx, e.request())
	if gateway.IsConflict(err) {
		e.memory.conflict = state
		return e.adopt(ctx, cr)
	}
	if err != nil {
		if !gateway.MayHaveBeenApplied(err) {
			e.claims.Release(cr.GetUID(), asked)
			e.closeAttempt(cr)
		}
		return err
	}
	e.claims.Reserve(cr.GetUID(), e.holding(answer.ID, answer.APIID))
	e.hold(cr, answer, v1alpha1.OriginCreated, &t)
	return nil
}

// request is the create the wish asks for.
func (e *external) request() gateway.SubscriptionCreate {
	status := e.wish.Status
	if status == "" {
		status = gateway.SubscriptionActive
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
func (e *external) hold(cr *v1alpha1.Subscription, s *gateway.Subscription, origin v1alpha1.Origin, t *token) {
	if e.baseline != nil {
		e.contests.Recreated(cr.GetUID(), e.now())
		e.recorder.Event(cr, event.Warning("Recreated", fmt.Errorf("the subscription %q had vanished from the gateway and was created again as %q", e.baseline.ID, s.ID)))
	}
	b := e.baselineFor(s)
	if e.baseline != nil {
		b.LateInitialized = e.baseline.LateInitialized
	}
	record.WriteBaseline(cr, b)
	meta.SetExternalName(cr, s.ID)
	meta.RemoveAnnotations(cr, v1alpha1.AnnotationCreateAttempt, v1alpha1.AnnotationTokenMemory)
	cr.Status.AtProvider = v1alpha1.SubscriptionObservation{Origin: origin}
	if t != nil {
		remember(cr, t.version)
		e.memory.token = e.memories.mac(t.value)
		// Whatever rotation was asked for before there was a token is done.
		cr.Status.AtProvider.HandledRotation = cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	} else {
		e.memory.token = nil
	}
	e.memory.conflict = ""
}

// closeAttempt records that an attempt is known to have created nothing.
func (e *external) closeAttempt(cr *v1alpha1.Subscription) {
	e.attempt.Outcome = record.Refused
	record.WriteAttempt(cr, *e.attempt)
}

// conflict says that the ID or the token is taken. It does not say which, nor by
// whom: the gateway's answer does not reliably tell, and it is nobody's business.
func (e *external) conflict() *problem {
	return problemf(v1alpha1.ReasonConflict,
		"the ID %q or the token is taken at the gateway, and what has it cannot be shown to be this object's; choose another spec.forProvider.externalRefId or another token, or name the subscription to hold in the annotation crossplane.io/external-name", e.attempt.AskedID)
}

// conflictState names all that could make a create succeed that was refused since
// something is there already.
func (e *external) conflictState(ctx context.Context, cr *v1alpha1.Subscription) (string, error) {
	if e.wish.ExternalRefID == "" || e.memory.conflict == "" {
		return e.conflictKey(cr, nil, false), nil
	}
	listed, exists, err := e.inTheWay(ctx)
	if err != nil {
		return "", err
	}
	return e.conflictKey(cr, listed, exists), nil
}

func (e *external) conflictKey(cr *v1alpha1.Subscription, listed []gateway.Subscription, exists bool) string {
	ids := make([]string, 0, len(listed))
	for _, s := range listed {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return fmt.Sprint(cr.GetGeneration(), e.tokenNow.version, e.gateway.ConfigVersion(), exists, ids)
}

// inTheWay lists the subscriptions on the API, and tells whether the asked-for ID
// exists on whatever API.
func (e *external) inTheWay(ctx context.Context) ([]gateway.Subscription, bool, error) {
	listed, err := e.listAPI(ctx, e.wish.APIID)
	if err != nil {
		return nil, false, err
	}
	_, err = e.gateway.GetSubscription(ctx, e.attempt.AskedID)
	if err != nil && !gateway.IsNotFound(err) {
		return nil, false, err
	}
	return listed, err == nil, nil
}

// takeTurn lets one create per API and application be under way at a time where
// the gateway may choose the ID: otherwise it could not be told whose result is
// whose if answers are lost.
func (e *external) takeTurn(cr *v1alpha1.Subscription) (func(), error) {
	if e.gateway.Generation() == connection.GenerationInPlace {
		return func() {}, nil
	}
	turn := ownership.Holding{ID: "create/" + e.wish.APIID + "/" + e.wish.ApplicationID, Endpoint: e.gateway.Endpoint().String()}
	if !e.claims.Reserve(cr.GetUID(), turn) {
		return nil, kind.After(errors.New("waiting for another subscription of the same application to the same API to be created"), turnPause)
	}
	return func() {
		if e.attempt.Outcome != record.Open || meta.GetExternalName(cr) != "" {
			e.claims.Release(cr.GetUID(), turn)
		}
	}, nil
}

// turnPause is how soon a create that has to wait for another one is tried again.
const turnPause = 250 * time.Millisecond

// adopt what stands in the way of a create, if it is provably ours to take.
func (e *external) adopt(ctx context.Context, cr *v1alpha1.Subscription) error {
	asked := e.holding(e.attempt.AskedID, "")
	if e.unanswered {
		// The refusal may be the echo of an earlier create of our own.
		found, err := e.look(ctx, cr, e.attempt)
		if err != nil {
			return err
		}
		if found != nil && e.claims.Reserve(cr.GetUID(), e.holding(found.ID, found.APIID)) {
			e.gateway.LearnFromCreate(e.attempt.AskedID, found)
			e.hold(cr, found, v1alpha1.OriginCreated, nil)
			return nil
		}
	}

	if e.gateway.Generation() == connection.GenerationUnknown {
		done, err := e.probeGeneration(ctx, cr)
		if err != nil || done {
			return err
		}
	}
	listed, exists, err := e.inTheWay(ctx)
	if err != nil {
		return err
	}
	held, err := e.heldByOthers(ctx, cr, listed)
	if err != nil {
		return err
	}
	candidate, needsProof := judgeAdoption(adoptionCase{
		Policy: cr.Spec.AdoptionPolicy, Wish: e.wish, AskedID: e.attempt.AskedID,
		Generation: e.gateway.Generation(), AskedExists: exists, Listed: listed, Held: held,
	})
	if candidate == nil || !e.claims.Reserve(cr.GetUID(), e.holding(candidate.ID, candidate.APIID)) {
		e.memory.conflict = e.conflictKey(cr, listed, exists)
		if !exists {
			e.claims.Release(cr.GetUID(), asked)
		}
		p := e.conflict()
		if cr.Spec.AdoptionPolicy == v1alpha1.SubscriptionAdoptNever {
			p.Reason = v1alpha1.ReasonAdoptionRefused
			p.Message += "; spec.adoptionPolicy is Never"
		}
		return p
	}
	if needsProof {
		if err := e.prove(ctx, cr, candidate); err != nil {
			return err
		}
	}
	e.recorder.Event(cr, event.Normal("Adopted", fmt.Sprintf("Subscription %q existed at the gateway and is held from now on", candidate.ID)))
	var t *token
	if needsProof {
		t = &e.tokenNow
	}
	e.hold(cr, candidate, v1alpha1.OriginAdopted, t)
	return nil
}

// prove that a subscription is ours by an update that carries our token: the
// gateway accepts it only for the subscription that has this token. Any refusal
// means that nothing is adopted.
func (e *external) prove(ctx context.Context, cr *v1alpha1.Subscription, candidate *gateway.Subscription) error {
	_, err := e.gateway.UpdateSubscription(ctx, candidate.ID, gateway.SubscriptionUpdate{
		Status:            e.wish.Status,
		Plan:              gateway.SetPlan(e.wish.Plan.ID),
		SubscriptionToken: e.tokenNow.value,
	})
	if err == nil {
		return nil
	}
	if refuses(err) || gateway.IsNotFound(err) {
		e.claims.Release(cr.GetUID(), e.holding(candidate.ID, candidate.APIID))
		return e.conflict()
	}
	return err
}

// probeGeneration finds out what a gateway can do by repeating a refused create
// with an ID that only an in-place gateway finds fault with. It returns true if
// the gateway created the subscription after all.
func (e *external) probeGeneration(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	probe := e.request()
	probe.ExternalRefID = "-"
	answer, err := e.gateway.CreateSubscription(ctx, probe)
	switch {
	case err == nil:
		e.claims.Reserve(cr.GetUID(), e.holding(answer.ID, answer.APIID))
		e.hold(cr, answer, v1alpha1.OriginCreated, &e.tokenNow)
		return true, nil
	case gateway.IsConflict(err):
		e.gateway.Learn(connection.GenerationLegacy)
	case gateway.ReasonOf(err) == gateway.ReasonInvalid:
		e.gateway.Learn(connection.GenerationInPlace)
	default:
		return false, err
	}
	return false, nil
}
