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
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/util/sets"

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

	if err := e.takeTurn(ctx, cr); err != nil {
		return false, err
	}
	e.turns.extend(cr.GetUID(), e.at.TooLateFor(e.now()))
	answer, err := e.gateway.CreateSubscription(ctx, e.request())
	if gateway.IsConflict(err) {
		e.memory.conflict = state
		return true, e.adopt(ctx, cr)
	}
	if err != nil {
		e.missAPI(err)
		if !gateway.MayHaveBeenApplied(err) {
			e.closeAttempt(cr)
		}
		return true, err
	}
	e.created(cr, answer)
	return true, nil
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
	e.turns.end(cr.GetUID())
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

// conflictState names all that could make a create succeed that was refused since
// something is there already.
func (e *external) conflictState(ctx context.Context, cr *v1alpha1.Subscription) (string, error) {
	if e.wish.ExternalRefID == "" || e.memory.conflict == "" {
		return e.conflictKey(cr, obstacles{}), nil
	}
	o, err := e.inTheWay(ctx, cr)
	if err != nil {
		return "", err
	}
	e.memory.inTheWay = o.key()
	return e.conflictKey(cr, o), nil
}

// conflictKey is a hash, since it is recorded and may name any number of IDs. It
// knows versions of Secrets, but nothing that is in them.
func (e *external) conflictKey(cr *v1alpha1.Subscription, o obstacles) string {
	sum := sha256.Sum256(fmt.Append(nil, cr.GetGeneration(), e.tokenNow.version, e.gateway.ConfigVersion(), o.key()))
	return hex.EncodeToString(sum[:8])
}

// obstacles are what could be in the way of a create.
type obstacles struct {
	// listed are the subscriptions on the API, and held which of the application's
	// others hold, or made.
	listed []gateway.Subscription
	held   sets.Set[string]
	// exists is whether the asked-for ID exists, on whatever API.
	exists bool
}

// key changes when something is no longer in the way, or may be adopted now.
func (o obstacles) key() string {
	ids := make([]string, 0, len(o.listed))
	for _, s := range o.listed {
		ids = append(ids, fmt.Sprint(s.ID, " ", o.held.Has(s.ID)))
	}
	slices.Sort(ids)
	return fmt.Sprint(o.exists, ids)
}

// inTheWay looks for what could be in the way of a create.
func (e *external) inTheWay(ctx context.Context, cr *v1alpha1.Subscription) (obstacles, error) {
	listed, err := e.listAPI(ctx, e.wish.APIID)
	if err != nil {
		return obstacles{}, err
	}
	_, err = e.gateway.GetSubscription(ctx, e.attempt.AskedID)
	if err != nil && !gateway.IsNotFound(err) {
		return obstacles{}, err
	}
	o := obstacles{listed: listed, held: sets.New[string](), exists: err == nil}
	// What another application has is not adopted in any case.
	ours := slices.DeleteFunc(slices.Clone(listed), func(s gateway.Subscription) bool { return strings.TrimSpace(s.ApplicationID) != e.wish.ApplicationID })
	for i, s := range ours {
		theirs, err := e.heldByOther(ctx, cr, &ours[i])
		if err != nil {
			return obstacles{}, err
		}
		if theirs || e.claims.Reserved(e.seen(&ours[i]), cr.GetUID(), e.now()) {
			o.held.Insert(s.ID)
		}
	}
	return o, nil
}

// takeTurn waits for the turn of a create where the gateway may choose the ID.
func (e *external) takeTurn(ctx context.Context, cr *v1alpha1.Subscription) error {
	if e.gateway.Generation() == connection.GenerationInPlace {
		return nil
	}
	turn := turnOf(&record.Attempt{APIID: e.wish.APIID, ApplicationID: e.wish.ApplicationID, Endpoint: e.at.Endpoint})
	before, err := e.attemptsBefore(ctx, cr, turn)
	if err != nil {
		return err
	}
	if before || !e.turns.take(cr.GetUID(), turn, e.now(), e.at.TooLateFor(e.now())) {
		return kind.After(errors.New("waiting for another subscription of the same application to the same API to be created"), turnPause)
	}
	return nil
}

// attemptsBefore tells whether an earlier process left an attempt open that asks
// for the same, that has not been looked into yet, and that can still take effect.
func (e *external) attemptsBefore(ctx context.Context, cr *v1alpha1.Subscription, turn ownership.Holding) (bool, error) {
	if e.now().Sub(e.started) > turnPatience {
		return false, nil
	}
	others, err := e.others(ctx, cr, indexAttempt, turn.ID)
	return slices.ContainsFunc(others, func(o v1alpha1.Subscription) bool {
		a := vouchedAttempt(&o)
		return a != nil && a.Endpoint == turn.Endpoint && !meta.IsPaused(&o) &&
			sentAt(&o).Before(e.started.Truncate(time.Second)) && e.now().Before(e.at.TooLateFor(sentAt(&o)))
	}), err
}

// sentAt is when status says that a create was about to be sent.
func sentAt(cr *v1alpha1.Subscription) time.Time {
	if v := cr.Status.CreateAttempt; v != nil && v.Time != nil {
		return v.Time.Time
	}
	return time.Time{}
}

// turnOf is what an attempt waits for its turn for.
func turnOf(a *record.Attempt) ownership.Holding {
	return ownership.Holding{ID: "create/" + a.APIID + "/" + a.ApplicationID, Endpoint: a.Endpoint}
}

// turnPatience is how long after a start attempts of an earlier process are waited
// for: one that nobody can look into must not stop all others.
const turnPatience = 2 * time.Minute

// turnPause is how soon a create that has to wait for another one is tried again.
const turnPause = time.Second

// adopt what stands in the way of a create, if it is provably ours to take.
func (e *external) adopt(ctx context.Context, cr *v1alpha1.Subscription) error {
	if e.unanswered {
		// The refusal may be the echo of an earlier create of our own.
		found, ambiguous, err := e.look(ctx, cr, e.attempt)
		switch {
		case err != nil:
			return err
		case ambiguous != nil:
			return ambiguous
		}
		if found != nil {
			return e.regain(ctx, cr, found)
		}
	}

	if e.gateway.Generation() == connection.GenerationUnknown {
		done, err := e.probeGeneration(ctx, cr)
		if err != nil || done {
			return err
		}
	}
	there, err := e.inTheWay(ctx, cr)
	if err != nil {
		return err
	}
	e.memory.inTheWay = there.key()
	candidate, needsProof := judgeAdoption(adoptionCase{
		Policy: cr.Spec.AdoptionPolicy, Wish: e.wish, AskedID: e.attempt.AskedID,
		Generation: e.gateway.Generation(), AskedExists: there.exists, Listed: there.listed, Held: there.held.Has,
	})
	if candidate == nil || !e.claims.Reserve(cr.GetUID(), e.seen(candidate), e.now()) {
		e.memory.conflict = e.conflictKey(cr, there)
		e.attempt.Conflict = e.memory.conflict
		e.closeAttempt(cr)
		return e.conflict(cr)
	}
	if needsProof {
		if err := e.prove(ctx, cr, candidate); err != nil {
			return err
		}
	}
	e.metrics.Adopted(gateway.KindSubscription)
	e.recorder.Event(cr, event.Normal("Adopted", fmt.Sprintf("Subscription %q existed at the gateway and is held from now on", candidate.ID)))
	var t *token
	if needsProof {
		t = &e.tokenNow
	}
	e.hold(cr, candidate, e.wish.fields(), v1alpha1.OriginAdopted, t)
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
		e.claims.Release(cr.GetUID(), e.seen(candidate))
		e.closeAttempt(cr)
		return e.conflict(cr)
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
		e.created(cr, answer)
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
