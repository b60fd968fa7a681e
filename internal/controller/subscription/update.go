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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Update a Subscription as Observe decided.
func (e *external) Update(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalUpdate, error) {
	err := e.apply(ctx, cr)
	if d := differs(e.wish, *e.observed); err != nil && len(d) > 0 {
		// Whatever the reason, it is known what is not in force.
		conditions.Set(cr, conditions.Differs(d))
	}
	return managed.ExternalUpdate{}, e.conclude(cr, err, xpv2.Unavailable())
}

func (e *external) apply(ctx context.Context, cr *v1alpha1.Subscription) error {
	switch e.update.Action {
	case actionFull:
		return e.putAll(ctx, cr)
	case actionStatus:
		return e.putStatus(ctx, cr, e.update.Problem)
	case actionNone:
	}
	if e.update.Contested {
		e.contested(cr, conditions.Contested(differs(e.wish, *e.observed)))
	}
	switch {
	case e.update.Problem == nil:
		return nil
	case e.update.Waiting && e.wish.Status != "" && e.wish.Status != gateway.SubscriptionActive:
		// Less access is asked for: that does not wait longer than it must.
		return kind.After(e.update.Problem, planPatience-e.now().Sub(e.memory.planPending))
	}
	return e.update.Problem
}

// putAll sends status, plan and token in one request. If the gateway refuses plan
// or token, the status goes out alone.
func (e *external) putAll(ctx context.Context, cr *v1alpha1.Subscription) error {
	t, err := e.current(ctx, cr, e.tokenNow)
	if err != nil {
		return err
	}
	if t.problem != nil {
		return e.putStatus(ctx, cr, t.problem)
	}
	if t.rotate {
		details := e.details(e.baseline.Fields[fieldAPIID], e.baseline.ID)
		details[keyToken] = []byte(t.value.Reveal())
		if err := e.rehearse(ctx, cr, details); err != nil {
			return e.putStatus(ctx, cr, err)
		}
		if !rotationAsked(cr) {
			e.recorder.Event(cr, event.Warning("TokenLost", errors.New("the connection Secret no longer has the token that was generated; it is replaced by a new one")))
		}
	}
	if e.gateway.Generation() == connection.GenerationUnknown && t.value != "" {
		if err := e.learnGeneration(ctx, e.baseline.ID); err != nil {
			return e.putStatus(ctx, cr, err)
		}
		if e.gateway.Generation() == connection.GenerationLegacy {
			// What was decided without knowing this is decided anew.
			if e.tokenNow, err = e.token(ctx, cr, true); err != nil {
				return err
			}
			e.update = judgeUpdate(e.updateCase(cr, e.known(cr)))
			if e.update.Action != actionFull {
				conditions.Set(cr, tokenCondition(e.tokenNow, true))
				return e.apply(ctx, cr)
			}
		}
	}
	asked := e.asked(cr)
	answer, err := e.gateway.UpdateSubscription(ctx, e.baseline.ID, gateway.SubscriptionUpdate{
		Status:            e.wish.Status,
		Plan:              gateway.SetPlan(e.wish.Plan.ID),
		SubscriptionToken: t.value,
	})
	if err != nil {
		if refuses(err) && gateway.SubjectOf(err) != gateway.SubjectStatus {
			return e.putStatus(ctx, cr, problemOf(err))
		}
		return err
	}
	if d := differs(e.wish, *e.observed); len(d) > 0 {
		e.contests.Wrote(cr.GetUID(), cr.GetGeneration(), d, e.now())
	}
	if e.update.Foreign {
		e.memory.rewritten = e.now()
		e.recorder.Event(cr, event.Normal("Rewritten", "Somebody else wrote this subscription at the gateway; it was written again"))
	}

	e.reportWritten(ctx, cr, answer)
	e.observed.Status, e.observed.SubscriptionPlanID = answer.Status, answer.SubscriptionPlanID
	planKept := answer.SubscriptionPlanID != e.wish.Plan.ID
	if planKept && e.gateway.Generation() == connection.GenerationUnknown {
		// It accepted the change and did nothing.
		e.gateway.Learn(connection.GenerationLegacy)
	}
	if e.gateway.Generation() != connection.GenerationLegacy {
		if err := e.applied(ctx, cr, t); err != nil {
			return err
		}
	}
	if p := judgeAnswer(e.gateway.Generation(), planKept, t.state == tokenChanged); p != nil {
		if e.gateway.Generation() == connection.GenerationLegacy {
			cr.Status.AtProvider.IgnoredUpdate, e.memory.ignoredToken = asked, e.memories.mac(t.value)
		}
		return p
	}
	cr.Status.AtProvider.IgnoredUpdate = nil
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeContested)
	conditions.Set(cr, conditions.Applied(""), xpv2.Available())
	return nil
}

// learnGeneration finds out whether a gateway changes anything but the status of a
// subscription. A token cannot be read back, so a gateway that accepts a new one
// and does nothing would not be noticed. One that would change the plan refuses a
// plan that cannot exist, and changes nothing; one that would not accepts it.
func (e *external) learnGeneration(ctx context.Context, id string) error {
	_, err := e.gateway.UpdateSubscription(ctx, id, gateway.SubscriptionUpdate{Plan: gateway.SetPlan("-")})
	switch {
	case err == nil:
		e.gateway.Learn(connection.GenerationLegacy)
		return nil
	case refuses(err):
		e.gateway.Learn(connection.GenerationInPlace)
		return nil
	}
	return err
}

// applied records that a token is in force, and publishes it.
func (e *external) applied(ctx context.Context, cr *v1alpha1.Subscription, t token) error {
	if t.state == tokenUnmanaged {
		return nil
	}
	rotated := t.state == tokenChanged
	t.state = tokenInForce
	conditions.Set(cr, tokenCondition(t, false))
	if rotated {
		e.metrics.Rotated()
		e.recorder.Event(cr, event.Normal("TokenRotated", "The gateway accepts the new token and no longer the old one"))
	}
	_, _, generated := source(cr)
	if !generated {
		e.memory.token = e.memories.mac(t.value)
		cr.Status.AtProvider.Token = t.version
	}
	if cr.GetWriteConnectionSecretToReference() == nil {
		return nil
	}
	details := e.details(e.baseline.Fields[fieldAPIID], e.baseline.ID)
	details[keyToken] = []byte(t.value.Reveal())
	_, after, err := e.publish(ctx, cr, details)
	if err != nil {
		if generated {
			const why = "a token was generated and is in force, but could not be handed out; another one is generated as soon as it can be"
			conditions.Set(cr, xpv2.Unavailable().WithMessage(why), tokenUnsure(why))
		}
		return err
	}
	if generated {
		// A generated token counts once it was handed out: until then it is generated
		// anew.
		e.memory.token = e.memories.mac(t.value)
		cr.Status.AtProvider.Token = after
		cr.Status.AtProvider.HandledRotation = cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	}
	return nil
}

// putStatus sends the status alone, if it differs, and returns what kept the rest
// from being sent.
func (e *external) putStatus(ctx context.Context, cr *v1alpha1.Subscription, cause error) error {
	if e.wish.Status == "" || e.wish.Status == e.observed.Status {
		return cause
	}
	answer, err := e.gateway.UpdateSubscription(ctx, e.baseline.ID, gateway.SubscriptionUpdate{Status: e.wish.Status})
	if err != nil {
		if refuses(err) {
			return cause
		}
		return err
	}
	e.metrics.SentStatusAlone()
	e.observed.Status = answer.Status
	e.reportWritten(ctx, cr, answer)
	why := "something it needs cannot be read or written now"
	var p *problem
	if errors.As(cause, &p) || gateway.ReasonOf(cause) != "" {
		why = cause.Error()
	}
	e.recorder.Event(cr, event.Normal("StatusApplied", fmt.Sprintf("The status alone was set to %s, since the rest cannot be applied: %s", e.wish.Status, why)))
	return cause
}

// reportWritten puts what a write answered into status. Its change stamp is left
// out: those of write answers are not to be compared.
func (e *external) reportWritten(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) {
	cr.Status.AtProvider.Status = s.Status
	cr.Status.AtProvider.SubscriptionPlanID = s.SubscriptionPlanID
	cr.Status.AtProvider.SubscriptionPlanName = e.planName(ctx, cr, s.SubscriptionPlanID)
	e.memory.outdated = stampOf(cr)
	cr.Status.AtProvider.UpdatedAt, e.memory.stamp = nil, time.Time{}
}

// asked is the change of plan and token that is asked for.
func (e *external) asked(cr *v1alpha1.Subscription) *v1alpha1.IgnoredUpdate {
	c := &v1alpha1.IgnoredUpdate{ObservedGeneration: cr.GetGeneration(), SubscriptionPlanID: e.wish.Plan.ID}
	if e.tokenNow.state == tokenChanged {
		// One that is only just to be generated has no version yet.
		c.Token = cmp.Or(e.tokenNow.version, &v1alpha1.TokenVersion{})
	}
	return c
}
