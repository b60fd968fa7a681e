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
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// A finding is what Observe found out.
type finding struct {
	baseline *record.Baseline
	attempt  *record.Attempt
	// how the plan was found, and got the plan, nil if there is none.
	how way
	got *gateway.SubscriptionPlan
	// pending is whether an earlier create, which was not answered, may still be carried out:
	// whatever a later one is answered.
	pending bool
	// verdict on what is to be done, and answer to what is different.
	verdict verdict
	answer  answer
}

// Observe a plan, and decide what is to be done about it.
func (e *external) Observe(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		conditions.Set(mg, xpv2.Deleting())
	}
	f, err := e.find(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	e.found = f

	switch f.verdict.action {
	case refuse:
		if r := f.verdict.reason; r == v1alpha1.ReasonConflict || r == v1alpha1.ReasonAdoptionRefused {
			// What another has is not shown, and no reference leads there.
			lose(mg)
			if f.baseline != nil && f.how == byID {
				mg.Status.RefusedID = f.baseline.ID
			}
		}
		return managed.ExternalObservation{}, e.refuse(mg, f.verdict.reason, f.verdict.message)
	case leave:
		return e.absent(mg)
	case create:
		return e.prepareCreate(mg)
	case take:
		return e.prepareTake(ctx, mg)
	case look:
		return e.compare(mg)
	case manage:
		if meta.WasDeleted(mg) {
			return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, e.putBack(ctx, mg)
		}
		return e.manage(ctx, mg)
	default:
		return managed.ExternalObservation{}, errors.Errorf("unknown action %q", f.verdict.action)
	}
}

// find out all that decides.
func (e *external) find(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (*finding, error) {
	f := &finding{how: absent}
	var err error
	if f.baseline, err = baselineFrom(mg); err != nil {
		return nil, e.refuse(mg, v1alpha1.ReasonNewerBaseline, err.Error())
	}
	if f.attempt, err = record.ReadAttempt(mg); err != nil {
		return nil, e.refuse(mg, v1alpha1.ReasonNewerBaseline, err.Error())
	}
	s := e.situation(mg, f)
	if v := decide(s); v.reason == v1alpha1.ReasonImmutableField {
		// Whatever the gateway has under another ID is none of its business.
		f.verdict = v
		return f, nil
	}
	if err := e.look(ctx, mg, f); err != nil {
		conditions.Set(mg, conditions.Unknown(err))
		return nil, err
	}
	if a := f.attempt; a != nil && f.how != byAttempt && a.AskedID != s.name && e.outstanding(mg, a) <= 0 {
		// It is not about to be created any more, nor was it.
		e.memory.claims.Release(mg.GetUID(), nameClaim(a.AskedID, e.at))
	}
	if f.baseline != nil {
		// Now it is known what is held, and what the gateway calls itself.
		s.recorded = f.baseline.ID
		s.sameGateway = e.at.Recorded(f.baseline.Endpoint, f.baseline.GatewayID)
	}
	if s.heldByOther, err = e.taken(ctx, mg, f); err != nil {
		return nil, err
	}
	if f.how == byAttempt && s.heldByOther {
		// What our create asked for is somebody else's, so it was not ours.
		a := *f.attempt
		a.Outcome = record.Refused
		f.attempt, f.how, f.got = &a, absent, nil
		if err := e.look(ctx, mg, f); err != nil {
			conditions.Set(mg, conditions.Unknown(err))
			return nil, err
		}
		if s.heldByOther, err = e.taken(ctx, mg, f); err != nil {
			return nil, err
		}
	}
	s.sameName = f.got != nil && f.got.PlanName == s.name
	s.found = f.how
	f.verdict = decide(s)
	return f, nil
}

func (e *external) situation(mg *v1alpha1.SubscriptionPlan, f *finding) situation {
	s := situation{
		name:         mg.Spec.ForProvider.PlanName,
		externalName: named(mg),
		accepted:     e.at.Accepted,
		found:        absent,
		adopt:        mg.Spec.AdoptionPolicy == v1alpha1.SubscriptionPlanAdoptionIfUnique,
		observeOnly:  !e.policies.ShouldCreate() && !e.policies.ShouldUpdate() && !e.policies.ShouldDelete(),
		deleting:     meta.WasDeleted(mg),
	}
	if f.baseline != nil {
		s.recorded, s.sameGateway = f.baseline.ID, e.at.Recorded(f.baseline.Endpoint, f.baseline.GatewayID)
	}
	return s
}

// look for the plan: under its ID, if it has one, else under the name that was
// asked for, else under the ID to import, or the name in the spec.
func (e *external) look(ctx context.Context, mg *v1alpha1.SubscriptionPlan, f *finding) error {
	id := named(mg)
	switch {
	case f.baseline != nil:
		id = f.baseline.ID
	case meta.WasDeleted(mg):
		// The ID of what was never imported, which is no reason to delete it.
		id = ""
	}
	if b := reported(mg); b != nil && f.baseline != nil && b.ID != id && b.Endpoint == e.at.Endpoint {
		// Somebody may have changed the record; or status was not written since the plan
		// was created anew, but then what it tells of is gone.
		if done, err := e.lookByID(ctx, f, b.ID); done || err != nil {
			f.baseline = b
			return err
		}
	}
	if f.baseline == nil && id != "" && open(f.attempt) {
		// What its create made is not to be forgotten for an import.
		if err := e.lookByName(ctx, mg, f); err != nil || f.how == byAttempt {
			return err
		}
		f.how, f.got = absent, nil
	}
	if id != "" {
		// One that is not where it is recorded to be may have been created anew, and the
		// answer lost.
		if done, err := e.lookByID(ctx, f, id); done || err != nil || f.baseline == nil {
			return err
		}
	}
	return e.lookByName(ctx, mg, f)
}

// lookByID tells whether a plan is there.
func (e *external) lookByID(ctx context.Context, f *finding, id string) (bool, error) {
	got, err := e.ObserveSubscriptionPlan(ctx, e.lookAs, id)
	if gateway.IsAbsent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f.how, f.got = byID, got
	e.at.GatewayID = got.GatewayID
	return true, nil
}

// lookByName looks for what our own create made, or for what has the name in the spec.
func (e *external) lookByName(ctx context.Context, mg *v1alpha1.SubscriptionPlan, f *finding) error {
	all, err := e.ListSubscriptionPlans(ctx)
	if err != nil {
		return err
	}
	e.at.Heard(all)
	if got := madeBy(mg, f.attempt, e.at.Endpoint, all); got != nil {
		f.how, f.got = byAttempt, got
	} else if got := byPlanName(all, mg.Spec.ForProvider.PlanName); got != nil {
		f.how, f.got = byName, got
	}
	return nil
}

// refuse says that nothing can be done until something changes.
func (e *external) refuse(mg *v1alpha1.SubscriptionPlan, reason xpv2.ConditionReason, message string) error {
	conditions.Set(mg, conditions.NotApplied(reason, message), xpv2.Unavailable().WithMessage(message))
	return kind.Refuse(errors.New(message))
}

// absent says that there is nothing, or nothing of ours.
func (e *external) absent(mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	f := e.found
	if !meta.WasDeleted(mg) {
		return e.nothing(mg, fmt.Sprintf("there is no plan %q at the gateway that this object may observe", mg.Spec.ForProvider.PlanName)), nil
	}
	// A create may still be under way: its answer got lost, or this process was
	// ended while it waited. Only when it must be over is absence proof.
	if a := f.attempt; open(a) && (f.got == nil || f.got.PlanName != a.AskedID) {
		if wait := e.at.TooLate(mg, mg.Status.CreateAttempt, e.now()).Sub(e.now()); wait > 0 {
			return managed.ExternalObservation{}, kind.After(errors.New("waiting until a create whose answer was lost must be over"), min(wait, 10*time.Second))
		}
	}
	e.leaveBehind(mg, kind.BecauseDeleted)
	return managed.ExternalObservation{}, nil
}

// leaveBehind tells, before the record of it goes, of a create that was sent to where the
// configuration no longer leads, and was not answered.
func (e *external) leaveBehind(mg *v1alpha1.SubscriptionPlan, because string) {
	if a := e.found.attempt; unansweredElsewhere(a, e.at.Endpoint) {
		e.events.Event(mg, kind.LeftElsewhere(because, "plan", a))
	}
}

// lose what status tells of a plan.
func lose(mg *v1alpha1.SubscriptionPlan) {
	mg.Status.AtProvider = v1alpha1.SubscriptionPlanObservation{}
	mg.Status.Deployed = false
}

// nothing says that there is no plan and that none will be created.
func (e *external) nothing(mg *v1alpha1.SubscriptionPlan, message string) managed.ExternalObservation {
	lose(mg)
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted)
	conditions.Set(mg, conditions.NotApplied(v1alpha1.ReasonPlanMissing, message), xpv2.Unavailable().WithMessage(message))
	// Up to date, so that no update is tried on what is not there.
	return managed.ExternalObservation{ResourceExists: false, ResourceUpToDate: true}
}

// prepareCreate gets ready for a create: what is asked for is recorded before it
// is asked for.
func (e *external) prepareCreate(mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	name := mg.Spec.ForProvider.PlanName
	if !e.policies.ShouldCreate() {
		return e.nothing(mg, fmt.Sprintf("there is no plan %q at the gateway, and spec.managementPolicies do not allow to create it", name)), nil
	}
	if e.found.baseline != nil && e.memory.contests.Vanishes(mg.GetUID(), e.now()) {
		return managed.ExternalObservation{}, e.giveWay(mg, conditions.Vanishes())
	}
	if err := e.afterOpen(mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	e.leaveBehind(mg, kind.BecauseAsksElsewhere)
	e.found.pending = unanswered(e.found.attempt, e.at.Endpoint) && e.now().Before(e.at.TooLate(mg, mg.Status.CreateAttempt, e.now()))
	before := record.ReadVouched(mg, mg.Status.CreateAttempt)
	record.WriteAttempt(mg, attempt(before, name, true, e.at.Endpoint))
	return managed.ExternalObservation{ResourceExists: false}, nil
}

// afterOpen waits until another create than that which the spec asks for, and which was not
// answered, can no longer take effect, before what is recorded of it is overwritten.
func (e *external) afterOpen(mg *v1alpha1.SubscriptionPlan) error {
	if wait := e.outstanding(mg, e.found.attempt); wait > 0 {
		return kind.After(errors.New("a create under the former planName or at the former endpoint was not answered, and may still be carried out"), min(wait, 10*time.Second))
	}
	return nil
}

// outstanding is for how long a create under another name than that of the spec, or at
// another endpoint, which was not answered, can still take effect.
func (e *external) outstanding(mg *v1alpha1.SubscriptionPlan, a *record.Attempt) time.Duration {
	if !open(a) || unanswered(a, e.at.Endpoint) && a.AskedID == mg.Spec.ForProvider.PlanName {
		return 0
	}
	return e.at.TooLate(mg, mg.Status.CreateAttempt, e.now()).Sub(e.now())
}

// prepareTake gets ready to take over what is there. That is a create, as far as
// the management policies allow one; else an update.
func (e *external) prepareTake(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	f := e.found
	f.answer = compare(mg.Spec.ForProvider, f.got, false)
	if err := e.afterOpen(mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	switch {
	case e.policies.ShouldCreate():
		// No create that it records made this.
		e.leaveBehind(mg, kind.BecauseAsksElsewhere)
		record.WriteAttempt(mg, attempt(nil, mg.Spec.ForProvider.PlanName, false, e.at.Endpoint))
		return managed.ExternalObservation{ResourceExists: false}, nil
	case e.policies.ShouldUpdate():
		return managed.ExternalObservation{ResourceExists: true, Diff: strings.Join(f.answer.differs, ", ")}, nil
	default:
		return e.manage(ctx, mg)
	}
}

// manage a plan that is held, or that is from now on.
func (e *external) manage(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	if f := e.found; f.baseline == nil && f.how != byAttempt {
		// It is held from now on, and no create made it.
		if err := e.afterOpen(mg); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	filled, err := e.hold(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := e.compare(mg)
	o.ResourceLateInitialized = filled
	return o, err
}

// putBack a record that somebody changed, or that is about another endpoint, before
// what it should name is deleted: once that is gone, nothing else must be taken for
// it, and here is where it has to be gone.
func (e *external) putBack(ctx context.Context, mg *v1alpha1.SubscriptionPlan) error {
	f, b := e.found, record.Baseline{}
	switch {
	case f.how == byAttempt && unansweredElsewhere(f.attempt, e.at.Endpoint):
		// What was not answered there is here.
		answered(mg)
		b.ID = f.got.ID
	case f.baseline == nil:
		return nil
	default:
		b = *f.baseline
	}
	b.Endpoint, b.GatewayID = e.at.Endpoint, f.got.GatewayID
	stored, err := record.ReadBaseline(mg)
	if err != nil || stored != nil && stored.ID == b.ID && stored.Endpoint == b.Endpoint {
		return err
	}
	meta.SetExternalName(mg, b.ID)
	record.WriteBaseline(mg, b)
	return errors.Wrap(kind.RecordHeld(ctx, e.kube, mg), "cannot record what is held")
}

// hold records that the plan is held, and fills in what an import left out, once.
// What is filled in is stored together with the record, so that neither can be
// without the other.
func (e *external) hold(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (filled bool, err error) {
	f := e.found
	want := record.Baseline{ID: f.got.ID, Endpoint: e.at.Endpoint, GatewayID: f.got.GatewayID}
	stored, err := record.ReadBaseline(mg)
	if err != nil {
		return false, err
	}
	if b := f.baseline; b != nil && b.ID == want.ID {
		if stored != nil && stored.ID == want.ID && b.Endpoint == want.Endpoint && b.GatewayID == want.GatewayID && named(mg) == want.ID && !meta.ExternalCreateIncomplete(mg) {
			return false, nil
		}
		want.LateInitialized = b.LateInitialized
	}
	if f.how != byAttempt {
		e.leaveBehind(mg, kind.BecauseAsksElsewhere)
	}
	if f.baseline == nil && f.how == byID {
		// An import: the user named the plan by its ID.
		f.attempt = &record.Attempt{AskedID: mg.Spec.ForProvider.PlanName, Preset: true, Endpoint: e.at.Endpoint, Outcome: record.Refused}
		record.WriteAttempt(mg, *f.attempt)
		if e.policies.ShouldLateInitialize() {
			want.LateInitialized = lateInitialize(&mg.Spec.ForProvider, f.got)
		}
	}
	if f.attempt == nil {
		f.attempt = &record.Attempt{AskedID: mg.Spec.ForProvider.PlanName, Endpoint: e.at.Endpoint, Outcome: record.Refused}
		record.WriteAttempt(mg, *f.attempt)
	}
	answered(mg)
	meta.SetExternalName(mg, want.ID)
	record.WriteBaseline(mg, want)
	if f.baseline == nil && len(want.LateInitialized) > 0 {
		return true, nil
	}
	return false, errors.Wrap(kind.RecordHeld(ctx, e.kube, mg), "cannot record what is held")
}

// compare what is there with what is asked for.
func (e *external) compare(mg *v1alpha1.SubscriptionPlan) (managed.ExternalObservation, error) {
	f := e.found
	f.answer = compare(mg.Spec.ForProvider, f.got, imported(f.attempt))
	mg.Status.AtProvider, mg.Status.RefusedID = observation(f.got, e.at, origin(mg, f.attempt)), ""
	mg.Status.Deployed = f.baseline != nil || f.verdict.action != look
	if mg.Status.Deployed {
		// The record is stored; what stood for it until then is not needed.
		mg.Status.CreateAttempt = nil
		e.memory.incumbents.Saw(mg.GetUID(), holding(f.got.ID, e.at))
		if !e.confirming {
			e.memory.claims.ReleaseAll(mg.GetUID())
		}
	}

	if !e.policies.ShouldUpdate() {
		conditions.Set(mg, xpv2.Available(), conditions.Drifted(f.answer.differs))
		if len(f.answer.differs) == 0 {
			conditions.Set(mg, conditions.Applied(f.answer.note))
		} else {
			conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeApplied)
		}
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted)

	if differs := f.answer.differs; len(differs) > 0 {
		if e.memory.contests.Lost(mg.GetUID(), mg.GetGeneration(), differs, e.now()) {
			return managed.ExternalObservation{}, e.giveWay(mg, conditions.Contested(differs))
		}
		return managed.ExternalObservation{ResourceExists: true, Diff: strings.Join(differs, ", ")}, nil
	}
	e.memory.contests.Settled(mg.GetUID())
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeContested)
	conditions.Set(mg, conditions.Applied(f.answer.note), xpv2.Available())
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// giveWay says that writing does not help.
func (e *external) giveWay(mg *v1alpha1.SubscriptionPlan, c xpv2.Condition) error {
	conditions.Set(mg, c, conditions.NotApplied(v1alpha1.ReasonRefused, c.Message), xpv2.Unavailable().WithMessage(c.Message))
	return kind.RefuseAtMost(errors.New(c.Message), contest.Pause)
}
