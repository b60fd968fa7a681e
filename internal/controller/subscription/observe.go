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
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Observe a Subscription.
func (e *external) Observe(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	o, err := e.observe(ctx, cr)
	return o, e.conclude(cr, err, xpv2.Unavailable())
}

func (e *external) observe(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	if err := e.read(cr); err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := e.distrust(ctx, cr); err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.attemptOpen() && !e.confirming {
		// What was claimed in an earlier pass is recorded by now, or came to nothing.
		e.release(cr.GetUID())
	}
	if meta.WasDeleted(cr) {
		return e.observeDeleted(ctx, cr)
	}
	var err error
	if e.wish, err = e.follow(ctx, cr, e.baseline, e.attempt); err != nil {
		return managed.ExternalObservation{}, err
	}
	if e.baseline != nil {
		return e.observeDeployed(ctx, cr)
	}
	return e.observeUndeployed(ctx, cr)
}

// conclude puts the error of a pass into the conditions Applied and Ready, and
// marks the errors that only a change can cure.
func (e *external) conclude(cr *v1alpha1.Subscription, err error, ready xpv2.Condition) error {
	if err == nil {
		return nil
	}
	var p *problem
	if !errors.As(err, &p) {
		if gateway.ReasonOf(err) == "" {
			if !kind.IsPostponed(err) {
				// It is about something else than what was last said of the spec.
				conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeApplied)
			}
			return err
		}
		// What a reading for all is answered is no answer about this one.
		if p = problemOf(err); p.Reason != v1alpha1.ReasonGatewayUnavailable && !observation.IsShared(err) {
			err = p
		}
	}
	if p.Reason == v1alpha1.ReasonGatewayUnavailable || observation.IsShared(err) {
		// Nothing was seen, so nothing is known: Ready keeps its last value.
		conditions.Set(cr, conditions.Unknown(err))
		return err
	}
	if meta.WasDeleted(cr) {
		ready = xpv2.Deleting()
	} else {
		ready = conditions.Explain(ready, p.Message)
	}
	conditions.Set(cr, conditions.NotApplied(p.Reason, p.Message), ready)
	switch {
	case kind.IsRefusal(err), kind.IsPostponed(err):
		return err
	case e.wish.APIProblem != nil && p.Reason == v1alpha1.ReasonAPIMissing, p.Reason == v1alpha1.ReasonPlanPending:
		return kind.RefuseAtMost(err, e.poll)
	}
	return kind.Refuse(err)
}

// observeUndeployed looks at what a Subscription that holds nothing yet asks for.
func (e *external) observeUndeployed(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	id, _, p := askedID(cr, nil)
	switch {
	case p != nil:
		return managed.ExternalObservation{}, p
	case e.wish.APIProblem != nil && e.attemptOpen() && e.policies.ShouldCreate():
		// What was made may have to be revoked.
		return e.observeAbsent(ctx, cr)
	case e.wish.APIProblem != nil:
		return managed.ExternalObservation{}, e.wish.APIProblem
	}

	if e.names(cr) {
		there, err := e.there(ctx, id)
		if err != nil {
			return managed.ExternalObservation{}, err
		}
		if there && (!e.attemptOpen() || e.attempt.AskedID != id || !e.policies.ShouldCreate()) {
			return e.observeNamed(ctx, cr, id)
		}
	}
	if !e.policies.ShouldCreate() {
		return e.absent(cr, "this object may not create a subscription, and names none that it could hold: name an existing one in the annotation crossplane.io/external-name, or add Create to spec.managementPolicies"), nil
	}
	return e.observeAbsent(ctx, cr)
}

// names tells whether a Subscription that holds nothing yet names one that it could
// hold.
func (e *external) names(cr *v1alpha1.Subscription) bool {
	return meta.GetExternalName(cr) != "" || !e.policies.ShouldCreate() && cr.Spec.ForProvider.ExternalRefID != nil
}

// observeNamed looks at a subscription that is named and there. If it is open what
// a create of our own came to, that comes first: it would be forgotten otherwise.
// Where it cannot be told, the name says it.
func (e *external) observeNamed(ctx context.Context, cr *v1alpha1.Subscription, id string) (managed.ExternalObservation, error) {
	if !e.attemptOpen() {
		return e.observeImport(ctx, cr, id)
	}
	found, ambiguous, err := e.look(ctx, cr, e.attempt)
	switch wait := e.at.TooLate(cr, cr.Status.CreateAttempt, e.now()).Sub(e.now()); {
	case err != nil:
		return managed.ExternalObservation{}, err
	case found != nil && e.policies.ShouldCreate():
		e.recovered = found
		return managed.ExternalObservation{}, nil
	case found != nil && found.ID != id:
		e.recorder.Event(cr, kind.LeftBehind(fmt.Errorf("an earlier create of this object made the subscription %q, another one is named in the annotation crossplane.io/external-name, and spec.managementPolicies do not let this object hold what it created", found.ID)))
	case found == nil && ambiguous == nil && wait > 0:
		return managed.ExternalObservation{}, kind.After(errors.New("the gateway did not answer an earlier create, and may still carry it out; what is named instead is looked at once it no longer can"), wait)
	}
	return e.observeImport(ctx, cr, id)
}

// attemptOpen tells whether an earlier create at this gateway may have succeeded.
func (e *external) attemptOpen() bool {
	return e.attempt != nil && e.attempt.Outcome == record.Open && e.attempt.Endpoint == e.at.Endpoint
}

// attemptElsewhere tells whether a create that was sent to another endpoint may have
// succeeded.
func (e *external) attemptElsewhere(cr *v1alpha1.Subscription) bool {
	a := vouchedAttempt(cr)
	return a != nil && a.Endpoint != e.at.Endpoint
}

// absent says that there is nothing, and that nothing shall be done about it.
func (e *external) absent(cr *v1alpha1.Subscription, message string) managed.ExternalObservation {
	if e.baseline == nil {
		// What was held stays known: should it be created again one day, it shall not let
		// through what it did not.
		cr.Status.AtProvider = v1alpha1.SubscriptionObservation{}
	}
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeDrifted, v1alpha1.TypeContested, v1alpha1.TypeTokenInForce)
	conditions.Set(cr, conditions.NotApplied(v1alpha1.ReasonRefused, message), xpv2.Unavailable().WithMessage(message))
	return managed.ExternalObservation{ResourceUpToDate: true}
}

// observeAbsent prepares a create: it finds out what an earlier one came to, and
// waits for its turn.
func (e *external) observeAbsent(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	if e.attemptOpen() {
		found, ambiguous, err := e.look(ctx, cr, e.attempt)
		switch {
		case err != nil:
			return managed.ExternalObservation{}, err
		case ambiguous != nil:
			return managed.ExternalObservation{}, ambiguous
		case found != nil:
			e.recovered = found
			return managed.ExternalObservation{}, nil
		}
		// Of a record that nobody vouches for it is not known whether anything was sent.
		e.unanswered, e.pending = true, vouchedAttempt(cr) != nil && e.now().Before(e.at.TooLateFor(sentAt(cr)))
	} else if e.attemptElsewhere(cr) {
		// This may be the same gateway by another name. What it came to is found again if
		// nobody else has anything to show for it.
		found, _, err := e.look(ctx, cr, e.attempt)
		if err != nil {
			return managed.ExternalObservation{}, err
		}
		if found != nil {
			e.recovered = found
			return managed.ExternalObservation{}, nil
		}
		e.unanswered = true
	}

	if p := e.wish.APIProblem; p != nil {
		return managed.ExternalObservation{}, p
	}
	if p := e.wish.Plan.Problem; p != nil {
		return managed.ExternalObservation{}, p
	}
	switch p, err := e.missingAPI(ctx); {
	case err != nil:
		return managed.ExternalObservation{}, err
	case p != nil:
		return managed.ExternalObservation{}, p
	}
	if err := e.awaitTurn(ctx, cr); err != nil {
		return managed.ExternalObservation{}, err
	}
	return managed.ExternalObservation{}, e.makeReady(ctx, cr)
}

// makeReady checks that all a create needs is there, and records what will be
// asked.
func (e *external) makeReady(ctx context.Context, cr *v1alpha1.Subscription) error {
	var err error
	if e.tokenNow, err = e.token(ctx, cr, false); err != nil {
		return err
	}
	switch {
	case e.tokenNow.problem != nil:
		return e.tokenNow.problem
	case e.tokenNow.state == tokenUnmanaged:
		return problemf(v1alpha1.ReasonTokenSecretMissing, "a subscription needs a token: name a Secret in spec.forProvider.subscriptionTokenSecretRef, or a Secret to write a generated one to in spec.writeConnectionSecretToRef")
	}
	if err := e.publishBeforeCreate(ctx, cr); err != nil {
		return err
	}

	id, preset, p := askedID(cr, e.baseline)
	if p != nil {
		return p
	}
	a, err := e.prepare(ctx, cr, id, preset)
	if err != nil {
		return err
	}
	if e.attemptElsewhere(cr) {
		e.recorder.Event(cr, kind.LeftElsewhere(kind.BecauseAsksElsewhere, "subscription", e.attempt))
	}
	record.WriteAttempt(cr, a)
	remember(cr, e.tokenNow.version)
	e.attempt = &a
	return nil
}

// publishBeforeCreate stores a generated token, so that it cannot be lost once the
// gateway has it, and finds out whether the connection Secret can be written at
// all.
func (e *external) publishBeforeCreate(ctx context.Context, cr *v1alpha1.Subscription) error {
	if cr.GetWriteConnectionSecretToReference() == nil {
		return nil
	}
	details := e.details(e.wish.APIID, "")
	if e.tokenNow.rotate {
		e.tokenNow.value = generate()
		details[keyToken] = []byte(e.tokenNow.value.Reveal())
	}
	_, after, err := e.publish(ctx, cr, details)
	if err != nil {
		return err
	}
	if _, _, generated := source(cr); generated {
		e.tokenNow.version = after
	}
	if e.tokenNow.rotate && rotationAsked(cr) {
		// The next create carries it, so that no other one is to be made.
		cr.Status.AtProvider.HandledRotation = cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	}
	e.tokenNow.rotate = false
	return nil
}

// observeDeployed looks at the subscription that a Subscription holds.
func (e *external) observeDeployed(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	b := e.baseline
	h := recordedIn(b)
	if lost, err := e.losesRecorded(ctx, cr); err != nil {
		return managed.ExternalObservation{}, err
	} else if lost {
		return managed.ExternalObservation{}, e.loseToAnother(cr)
	}

	e.moved = judgeName(b, meta.GetExternalName(cr))
	if stored, err := record.ReadBaseline(cr); e.moved == nil && (meta.GetExternalName(cr) == "" || err != nil || stored == nil || stored.ID != b.ID || isConverted(cr)) {
		if err := e.storeBaseline(ctx, cr, *b); err != nil {
			return managed.ExternalObservation{}, err
		}
	}

	got, err := e.gateway.ObserveSubscription(ctx, e.lookAs, b.ID)
	switch {
	case e.moved != nil && gateway.IsNotFound(err) && e.attemptOpen() && e.policies.ShouldCreate():
		return managed.ExternalObservation{}, e.recoverNamed(ctx, cr)
	case e.moved != nil && (gateway.IsNotFound(err) || !e.policies.ShouldUpdate()):
		return managed.ExternalObservation{}, e.moved
	case gateway.IsNotFound(err):
		return e.observeVanished(ctx, cr)
	case err != nil:
		return managed.ExternalObservation{}, err
	}
	if lost, err := e.losesFound(ctx, cr, got); err != nil {
		return managed.ExternalObservation{}, err
	} else if lost {
		return managed.ExternalObservation{}, e.loseToAnother(cr)
	}
	if !isHeld(b, got) || b.Endpoint != e.at.Endpoint || b.GatewayID != got.GatewayID {
		if err := e.checkAgain(ctx, cr, got); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	e.incumbents.Saw(cr.GetUID(), recordedIn(e.baseline))
	if !e.confirming {
		e.claims.Release(cr.GetUID(), h)
	}
	return e.judge(ctx, cr, got)
}

// recoverNamed recovers what the user names of what may have been created again, where
// that could not be told.
func (e *external) recoverNamed(ctx context.Context, cr *v1alpha1.Subscription) error {
	found, _, err := e.look(ctx, cr, e.attempt)
	if err != nil {
		return err
	}
	if found == nil || found.ID != meta.GetExternalName(cr) {
		return e.moved
	}
	e.recovered, e.wish = found, e.wish.held(e.baseline)
	return nil
}

// observeVanished decides whether a subscription that is gone is created again.
func (e *external) observeVanished(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	if !e.policies.ShouldCreate() && !e.borneOut(cr) {
		return managed.ExternalObservation{}, unproven()
	}
	conditions.Set(cr, tokenUnsure("the subscription is gone from the gateway"))
	if err := e.at.Identify(ctx, e.gateway, e.baseline.GatewayID); err != nil {
		return managed.ExternalObservation{}, err
	}
	if p := judgeAbsence(e.baseline, e.at); p != nil {
		return managed.ExternalObservation{}, p
	}
	if e.contests.Vanishes(cr.GetUID(), e.now()) {
		c := conditions.Vanishes()
		conditions.Set(cr, c)
		return managed.ExternalObservation{}, kind.RefuseAtMost(problemf(v1alpha1.ReasonConflict, "%s", c.Message), contest.Pause)
	}
	if !e.policies.ShouldCreate() {
		return e.absent(cr, "the subscription is gone from the gateway, and this object may not create it again: add Create to spec.managementPolicies, or delete this object"), nil
	}
	e.lastStatus = lastStatus(cr.Status.AtProvider.Status)
	// What was held comes back, not an edit that would be refused if it were there.
	e.wish = e.wish.held(e.baseline)
	return e.observeAbsent(ctx, cr)
}

// lastStatus is the status with which a subscription that vanished is created
// again if its spec does not say: the one it was last seen with. One that cannot
// be asked for did not let calls through.
func lastStatus(seen string) string {
	switch seen {
	case "", gateway.SubscriptionActive, gateway.SubscriptionInactive, gateway.SubscriptionRevoked:
		return seen
	}
	return gateway.SubscriptionInactive
}

// judge what is to be done about a subscription that is held and exists.
func (e *external) judge(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) (managed.ExternalObservation, error) {
	e.observed = got
	e.learnFrom(got)
	known := e.known(cr)
	var err error
	if e.tokenNow, err = e.token(ctx, cr, true); err != nil {
		return managed.ExternalObservation{}, err
	}
	if e.tokenNow.sentBefore {
		// Its Secret changed, and not the token.
		cr.Status.AtProvider.IgnoredUpdate.Token = e.tokenNow.version
	}

	if !e.wish.Plan.Pending {
		e.memory.planPending = time.Time{}
	} else if e.memory.planPending.IsZero() {
		e.memory.planPending = e.now()
	}
	e.update = judgeUpdate(e.updateCase(cr, known))

	e.report(ctx, cr, got)
	cr.Status.Deployed = true
	if !e.policies.ShouldUpdate() {
		if err := e.publishDeployed(ctx, cr, e.baseline.Fields[fieldAPIID], got.ID, &e.tokenNow); err != nil {
			return managed.ExternalObservation{}, err
		}
		return e.drift(cr)
	}
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeDrifted)
	inForce := tokenCondition(e.tokenNow, e.gateway.Generation() == connection.GenerationLegacy)
	if e.update.Contested && e.update.Foreign {
		inForce = tokenUnsure("somebody else wrote this subscription at the gateway, and may have changed its token")
	}
	conditions.Set(cr, inForce)

	if !e.update.Nothing() {
		if e.update.Action == actionNone {
			// Whatever is wrong with the spec, what is in force stays published. Should that
			// fail, what is wrong with the spec is what counts.
			_ = e.publishDeployed(ctx, cr, e.baseline.Fields[fieldAPIID], got.ID, &e.tokenNow)
		}
		return managed.ExternalObservation{ResourceExists: true, Diff: strings.Join(e.differences(), ", ")}, nil
	}
	if err := e.keepChoice(ctx, cr); err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := e.publishDeployed(ctx, cr, e.baseline.Fields[fieldAPIID], got.ID, &e.tokenNow); err != nil {
		return managed.ExternalObservation{}, err
	}
	if e.tokenNow.state == tokenInForce {
		cr.Status.AtProvider.Token = e.tokenNow.version
	}
	if e.update.Contested {
		e.contested(cr, foreignWrites())
	} else {
		conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeContested)
		e.contests.Settled(cr.GetUID())
		cr.Status.AtProvider.UpdatedAt = conditions.Milliseconds(got.UpdatedAt)
		e.memory.stamp = stampOf(cr)
	}
	if n := cr.Status.AtProvider.IgnoredUpdate; n != nil && n.Token == nil {
		// The plan was set back. Of a token that was sent it has to be known for longer.
		cr.Status.AtProvider.IgnoredUpdate = nil
	}
	conditions.Set(cr, conditions.Applied(""), xpv2.Available())
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// keepChoice records which plan a selector chose once it is in force, so that it
// is kept to.
func (e *external) keepChoice(ctx context.Context, cr *v1alpha1.Subscription) error {
	b := *e.baseline
	if b.PlanChoice == e.wish.Plan.Choice {
		return nil
	}
	b.PlanChoice = e.wish.Plan.Choice
	return e.storeBaseline(ctx, cr, b)
}

// updateCase is what is known of a subscription that is held and exists.
func (e *external) updateCase(cr *v1alpha1.Subscription, known time.Time) updateCase {
	now := e.now()
	return updateCase{
		Wish:           e.wish,
		Observed:       *e.observed,
		Moved:          e.moved,
		Identity:       judgeIdentity(e.baseline, e.wish, e.observed),
		Token:          e.tokenNow.state,
		TokenProblem:   e.tokenNow.problem,
		KnownStamp:     known,
		PlanPendingFor: now.Sub(e.memory.planPending),
		Rewritten:      !e.memory.rewritten.IsZero() && now.Sub(e.memory.rewritten) < contest.Pause,
		Legacy:         e.gateway.Generation() == connection.GenerationLegacy,
		Lost:           e.contests.Lost(cr.GetUID(), cr.GetGeneration(), differs(e.wish, *e.observed), e.now()),
		SentAlready:    equality.Semantic.DeepEqual(cr.Status.AtProvider.IgnoredUpdate, e.asked(cr)),
	}
}
