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

package restapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// A finding is what Observe found out.
type finding struct {
	handle   string
	preset   bool
	baseline *record.Baseline
	attempt  *record.Attempt
	// got is what the gateway has under the handle, nil if nothing, and how that was read.
	got     *gateway.RestAPI
	how     reading
	verdict verdict
	// pending is whether an earlier create, which was not answered, may still be carried out:
	// whatever a later one is answered.
	pending bool
	// want is what the spec asks for.
	want gateway.RestAPIWrite
	// differs are the fields in which got differs from want.
	differs []string
}

// Observe an API, and decide what is to be done about it.
func (e *external) Observe(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalObservation, error) {
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
		if f.verdict.reason == v1alpha1.ReasonConflict {
			// What another has is not shown, and no reference leads there.
			if err := e.remember(ctx, mg); err != nil {
				return managed.ExternalObservation{}, err
			}
			lose(mg)
		}
		return managed.ExternalObservation{}, e.refuse(mg, f.verdict.reason, f.verdict.message)
	case leave:
		return e.absent(mg)
	case create:
		return e.prepareCreate(ctx, mg)
	case take:
		return e.prepareTake(ctx, mg)
	case look:
		return e.compare(ctx, mg)
	case manage:
		// Also before it is deleted: here is where it has to be gone then.
		if err := e.hold(ctx, mg); err != nil {
			return managed.ExternalObservation{}, err
		}
		if meta.WasDeleted(mg) {
			return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
		}
		return e.compare(ctx, mg)
	default:
		return managed.ExternalObservation{}, errors.Errorf("unknown action %q", f.verdict.action)
	}
}

// find out all that decides.
func (e *external) find(ctx context.Context, mg *v1alpha1.RestApi) (*finding, error) {
	f := &finding{}
	var err error
	if f.baseline, err = baselineFrom(mg); err != nil {
		return nil, e.refuse(mg, v1alpha1.ReasonNewerBaseline, err.Error())
	}
	if f.attempt, err = record.ReadAttempt(mg); err != nil {
		return nil, e.refuse(mg, v1alpha1.ReasonNewerBaseline, err.Error())
	}
	f.handle, f.preset = identity(mg, f.baseline, f.attempt)
	if err := e.recall(ctx, mg, f); err != nil {
		return nil, err
	}
	if bad := badHandle(f.handle); bad != "" && !meta.WasDeleted(mg) {
		return nil, e.refuse(mg, v1alpha1.ReasonRefused, bad)
	}
	s := e.situation(mg, f)
	if v := decide(s); v.action == refuse && v.reason == v1alpha1.ReasonImmutableField {
		// Whatever is at the gateway under another handle is none of its business.
		f.verdict = v
		return f, nil
	}

	observed, err := e.ObserveRestAPI(ctx, e.lookAs, f.handle)
	switch {
	case gateway.ReasonOf(err) == gateway.ReasonUnsafeID && !meta.WasDeleted(mg):
		return nil, e.refuse(mg, v1alpha1.ReasonRefused, err.Error())
	case gateway.IsAbsent(err):
		f.got = nil
		if f.baseline != nil && !meta.WasDeleted(mg) {
			if err := e.at.Identify(ctx, e, f.baseline.GatewayID); err != nil {
				conditions.Set(mg, conditions.Unknown(err))
				return nil, err
			}
			s.sameGateway = e.at.Recorded(f.baseline.Endpoint, f.baseline.GatewayID)
		}
		if s.heldHere, err = e.recordedHere(ctx, mg, f.handle, nil); err != nil {
			return nil, err
		}
	case err != nil:
		conditions.Set(mg, conditions.Unknown(err))
		return nil, err
	default:
		f.got = &observed.RestAPI
		if observed.Listed {
			f.how = fromList
		}
		s.present, s.mark = true, markOf(f.got, e.owner(mg))
		s.sameCreation = sameCreation(mg, f.got)
		if s.heldHere, err = e.heldHere(ctx, mg, f.got); err != nil {
			return nil, err
		}
	}
	f.verdict = decide(s)
	return f, nil
}

// recall a create under another handle than the one that is asked for now, and which was
// not answered: what it made is not to be forgotten for that. Until it can no longer take
// effect the other handle waits.
func (e *external) recall(ctx context.Context, mg *v1alpha1.RestApi, f *finding) error {
	a := f.attempt
	if f.baseline != nil || !open(a) || a.Endpoint != e.at.Endpoint || a.AskedID == f.handle {
		return nil
	}
	got, err := e.ObserveRestAPI(ctx, e.lookAs, a.AskedID)
	switch {
	case gateway.IsAbsent(err), gateway.ReasonOf(err) == gateway.ReasonUnsafeID:
	case err != nil:
		conditions.Set(mg, conditions.Unknown(err))
		return err
	case markOf(&got.RestAPI, e.owner(mg)) == ours:
		f.handle, f.preset = a.AskedID, a.Preset
		return nil
	}
	if wait := e.at.TooLate(mg, nil, e.now()).Sub(e.now()); wait > 0 {
		return kind.After(errors.New("a create under the former handle was not answered, and may still be carried out"), min(wait, 10*time.Second))
	}
	return nil
}

func (e *external) situation(mg *v1alpha1.RestApi, f *finding) situation {
	s := situation{
		handle:      f.handle,
		preset:      f.preset,
		accepted:    e.at.Accepted,
		takeover:    mg.Spec.AdoptionPolicy == v1alpha1.RestApiAdoptionTakeover,
		observeOnly: !e.policies.ShouldCreate() && !e.policies.ShouldUpdate() && !e.policies.ShouldDelete(),
		deleting:    meta.WasDeleted(mg),
	}
	if f.baseline != nil {
		s.recorded, s.sameGateway = f.baseline.ID, e.at.Recorded(f.baseline.Endpoint, f.baseline.GatewayID)
	}
	return s
}

func (e *external) owner(mg *v1alpha1.RestApi) owner {
	return owner{cluster: e.cluster, namespace: mg.GetNamespace(), name: mg.GetName()}
}

// sameCreation tells whether an API was created when the one that was last seen
// was. Where nothing is remembered of that one it gets the benefit of the doubt.
func sameCreation(mg *v1alpha1.RestApi, got *gateway.RestAPI) bool {
	same, known := compareCreation(mg, got)
	return same || !known
}

// sawCreated tells whether status tells when an API was created.
func sawCreated(mg *v1alpha1.RestApi, got *gateway.RestAPI) bool {
	same, known := compareCreation(mg, got)
	return same && known
}

// compareCreation tells whether an API was created when status says, if both is known.
func compareCreation(mg *v1alpha1.RestApi, got *gateway.RestAPI) (same, known bool) {
	was := mg.Status.AtProvider.CreatedAt
	if was == nil || got == nil || got.Status == nil || got.Status.CreatedAt.IsZero() {
		return false, false
	}
	return was.Unix() == got.Status.CreatedAt.Unix(), true
}

// heldHere tells whether another managed resource of this cluster holds an API, by
// its mark or, should somebody have erased that, by its record. That one cannot be
// robbed, not even by a takeover.
func (e *external) heldHere(ctx context.Context, mg *v1alpha1.RestApi, got *gateway.RestAPI) (bool, error) {
	marked, err := e.markedHere(ctx, mg, got)
	if err != nil || marked {
		return marked, err
	}
	return e.recordedHere(ctx, mg, got.Metadata.Name, got)
}

// markedHere tells whether the mark of an API names another managed resource of
// this cluster that is still there and holds it.
func (e *external) markedHere(ctx context.Context, mg *v1alpha1.RestApi, got *gateway.RestAPI) (bool, error) {
	o, ok := ownerFrom(got.Metadata.Annotations[v1alpha1.AnnotationOwner])
	if !ok || o.cluster != e.cluster || o == e.owner(mg) {
		return false, nil
	}
	other := &v1alpha1.RestApi{}
	err := e.kube.Get(ctx, types.NamespacedName{Namespace: o.namespace, Name: o.name}, other)
	if kerrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, errors.Wrap(err, "cannot get the owner of an API")
	}
	handle, _ := identity(other, nil, nil)
	if b, err := record.ReadBaseline(other); err != nil || b != nil && b.ID == got.Metadata.Name {
		return true, nil //nolint:nilerr // A record that is not understood counts as one.
	}
	return handle == got.Metadata.Name, nil
}

// recordedHere tells whether another managed resource is recorded to hold an API of
// this gateway, and has the better claim: anybody can write a record. One that is
// there is left to whoever is recorded; one that is not, to who asked first, unless
// somebody's status bears the record out. By another name of the gateway only those count
// that have seen this very API.
func (e *external) recordedHere(ctx context.Context, mg *v1alpha1.RestApi, handle string, got *gateway.RestAPI) (bool, error) {
	what := ownership.Holding{ID: handle, Endpoint: e.at.Endpoint}
	l := &v1alpha1.RestApiList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: handle}); err != nil {
		return false, errors.Wrap(err, "cannot list who holds an API")
	}
	var others []ownership.Holder
	for i := range l.Items {
		o := &l.Items[i]
		if h, ok := holderOf(o); ok && h.UID != mg.GetUID() && (h.Same(what) || h.Reported && sawCreated(o, got)) {
			others = append(others, h)
		}
	}
	if len(others) == 0 {
		return false, nil
	}
	mine, ok := holderOf(mg)
	if !ok || !mine.Same(what) {
		if got != nil {
			return true, nil
		}
		mine = ownership.Holder{Holding: what, UID: mg.GetUID(), Created: mg.GetCreationTimestamp()}
	}
	return ownership.Loses(mine, others, e.memory.incumbents.Of(what)), nil
}

// refuse says that nothing can be done until something changes.
func (e *external) refuse(mg *v1alpha1.RestApi, reason xpv2.ConditionReason, message string) error {
	conditions.Set(mg, conditions.NotApplied(reason, message), xpv2.Unavailable().WithMessage(message))
	return kind.Refuse(errors.New(message))
}

// absent says that there is nothing, or nothing of ours.
func (e *external) absent(mg *v1alpha1.RestApi) (managed.ExternalObservation, error) {
	if !meta.WasDeleted(mg) {
		return e.nothing(mg, fmt.Sprintf("there is no API with the handle %q at the gateway that this object may observe", e.found.handle)), nil
	}
	// A create may still be under way: its answer got lost, or this process was
	// ended while it waited. Only when it must be over is absence proof.
	if f := e.found; f.got == nil && open(f.attempt) {
		if wait := e.at.TooLate(mg, nil, e.now()).Sub(e.now()); wait > 0 {
			return managed.ExternalObservation{}, kind.After(errors.New("waiting until a create whose answer was lost must be over"), min(wait, 10*time.Second))
		}
	}
	e.leaveBehind(mg, kind.BecauseDeleted)
	return managed.ExternalObservation{}, nil
}

// leaveBehind tells, before the record of it goes, of a create that was sent to where the
// configuration no longer leads, and was not answered.
func (e *external) leaveBehind(mg *v1alpha1.RestApi, because string) {
	if a := e.found.attempt; open(a) && a.AbsentBefore && a.Endpoint != e.at.Endpoint {
		e.events.Event(mg, kind.LeftElsewhere(because, "API", a))
	}
}

// remember what is held where only status tells, before that is lost.
func (e *external) remember(ctx context.Context, mg *v1alpha1.RestApi) error {
	b := e.found.baseline
	stored, err := record.ReadBaseline(mg)
	if err != nil || b == nil || stored != nil && stored.ID == b.ID {
		return err
	}
	record.WriteBaseline(mg, *b)
	patch := map[string]string{v1alpha1.AnnotationBaseline: mg.GetAnnotations()[v1alpha1.AnnotationBaseline]}
	return errors.Wrap(kind.PatchMetadata(ctx, e.kube, mg, map[string]any{"annotations": patch}), "cannot record what is held")
}

// lose what status tells of an API.
func lose(mg *v1alpha1.RestApi) {
	mg.Status.AtProvider = v1alpha1.RestApiObservation{}
	mg.Status.Deployed = false
}

// nothing says that there is no API and that none will be created.
func (e *external) nothing(mg *v1alpha1.RestApi, message string) managed.ExternalObservation {
	lose(mg)
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted)
	conditions.Set(mg, conditions.NotApplied(v1alpha1.ReasonAPIMissing, message), xpv2.Unavailable().WithMessage(message))
	// Up to date, so that no update is tried on what is not there.
	return managed.ExternalObservation{ResourceExists: false, ResourceUpToDate: true}
}

// prepareCreate gets ready for a create: what is asked for is recorded before it
// is asked for.
func (e *external) prepareCreate(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalObservation, error) {
	f := e.found
	if !e.policies.ShouldCreate() {
		return e.nothing(mg, fmt.Sprintf("there is no API with the handle %q at the gateway, and spec.managementPolicies do not allow to create it", f.handle)), nil
	}
	if err := e.wish(ctx, mg, true); err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := e.admit(mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	if f.baseline != nil && e.memory.contests.Vanishes(mg.GetUID(), e.now()) {
		return managed.ExternalObservation{}, e.giveWay(mg, conditions.Vanishes())
	}
	e.leaveBehind(mg, kind.BecauseAsksElsewhere)
	f.pending = open(f.attempt) && f.attempt.Endpoint == e.at.Endpoint && e.now().Before(e.at.TooLate(mg, nil, e.now()))
	record.WriteAttempt(mg, attempt(f.attempt, f.handle, f.preset, true, e.at.Endpoint))
	return managed.ExternalObservation{ResourceExists: false}, nil
}

// prepareTake gets ready to take over what is there. That is a create, as far as
// the management policies allow one; else an update.
func (e *external) prepareTake(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalObservation, error) {
	f := e.found
	if !e.policies.ShouldCreate() && !e.policies.ShouldUpdate() {
		// It may be deleted with this object, but not marked: recorded is enough.
		if err := e.hold(ctx, mg); err != nil {
			return managed.ExternalObservation{}, err
		}
		return e.compare(ctx, mg)
	}
	if err := e.wish(ctx, mg, true); err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := e.admit(mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	if e.policies.ShouldCreate() {
		e.leaveBehind(mg, kind.BecauseAsksElsewhere)
		record.WriteAttempt(mg, attempt(f.attempt, f.handle, f.preset, false, e.at.Endpoint))
		return managed.ExternalObservation{ResourceExists: false}, nil
	}
	var err error
	if f.differs, err = differences(f.want, f.got, f.how); err != nil {
		return managed.ExternalObservation{}, err
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: false, Diff: strings.Join(f.differs, ", ")}, nil
}

// wish works out what the spec asks for. While a plan is missing, a new API waits
// for it, since with fewer plans it might allow more than it should, and one that
// is there keeps the plans it has.
func (e *external) wish(ctx context.Context, mg *v1alpha1.RestApi, wait bool) error {
	f := e.found
	p, err := resolvePlans(ctx, e.kube, mg, e.at.Endpoint)
	if err != nil {
		return err
	}
	if p.unresolved() {
		if wait {
			conditions.Set(mg, conditions.NotApplied(p.reason, p.message), xpv2.Creating())
			return kind.Refuse(errors.New(p.message))
		}
		p.names = f.got.Spec.SubscriptionPlans
		f.verdict.reason, f.verdict.message = p.reason, p.message
	}
	f.want, err = write(f.handle, mg.Spec.ForProvider, p.names, e.owner(mg).String())
	return err
}

// admit what is about to be written, as far as the configuration has a say in that.
func (e *external) admit(mg *v1alpha1.RestApi) error {
	if !e.at.ExpressionsDenied {
		return nil
	}
	in, err := expressionIn(e.found.want.Spec, e.found.got)
	if err != nil || in == "" {
		return err
	}
	return e.refuse(mg, v1alpha1.ReasonRefused, expressionDenied(in, kind.ConfigOf(mg)))
}

// hold records that the API is held. What Observe puts into metadata is not
// saved for an API that exists, so it is patched.
func (e *external) hold(ctx context.Context, mg *v1alpha1.RestApi) error {
	f := e.found
	want := e.baseline(f.handle)
	stored, err := record.ReadBaseline(mg)
	if err != nil {
		return err
	}
	if f.baseline != nil && stored != nil && stored.ID == want.ID && f.baseline.ID == want.ID && f.baseline.Endpoint == want.Endpoint &&
		(want.GatewayID == "" || f.baseline.GatewayID == want.GatewayID) && meta.GetExternalName(mg) == f.handle && !meta.ExternalCreateIncomplete(mg) && !open(f.attempt) {
		return nil
	}
	if f.verdict.action == take {
		e.leaveBehind(mg, kind.BecauseAsksElsewhere)
	}
	answered(mg)
	meta.SetExternalName(mg, f.handle)
	record.WriteBaseline(mg, want)
	if f.attempt == nil {
		// So that what the user chose is still known when the annotation has it
		// from us.
		record.WriteAttempt(mg, record.Attempt{AskedID: f.handle, Preset: f.preset, Endpoint: e.at.Endpoint, Outcome: record.Refused})
	}
	return errors.Wrap(kind.RecordHeld(ctx, e.kube, mg), "cannot record what is held")
}

func (e *external) baseline(handle string) record.Baseline {
	return record.Baseline{ID: handle, Endpoint: e.at.Endpoint, GatewayID: e.at.GatewayID}
}

// compare what is there with what is asked for.
func (e *external) compare(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalObservation, error) {
	f := e.found
	looking := f.verdict.action == look
	if err := e.wish(ctx, mg, false); err != nil {
		return managed.ExternalObservation{}, err
	}
	mg.Status.AtProvider = observation(f.got, e.at, origin(mg, f.attempt))
	mg.Status.Deployed = f.baseline != nil || !looking
	if mg.Status.Deployed {
		e.memory.incumbents.Saw(mg.GetUID(), ownership.Holding{ID: f.handle, Endpoint: e.at.Endpoint})
	}

	want := f.want
	if !e.policies.ShouldUpdate() {
		// The mark cannot be set, so it is not missed.
		want.Annotations = unmarkedLike(want.Annotations, f.got.Metadata.Annotations)
	}
	var err error
	if f.differs, err = differences(want, f.got, f.how); err != nil {
		return managed.ExternalObservation{}, err
	}

	if !e.policies.ShouldUpdate() {
		conditions.Set(mg, xpv2.Available(), conditions.Drifted(f.differs))
		if len(f.differs) == 0 {
			conditions.Set(mg, conditions.Applied(""))
		} else {
			conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeApplied)
		}
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeDrifted)

	if len(f.differs) > 0 {
		if err := e.admit(mg); err != nil {
			return managed.ExternalObservation{}, err
		}
		if e.memory.contests.Lost(mg.GetUID(), mg.GetGeneration(), f.differs, e.now()) {
			return managed.ExternalObservation{}, e.giveWay(mg, conditions.Contested(f.differs))
		}
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: false, Diff: strings.Join(f.differs, ", ")}, nil
	}
	e.memory.contests.Settled(mg.GetUID())
	conditions.Drop(&mg.Status.ConditionedStatus, v1alpha1.TypeContested)
	e.settle(mg)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// settle says that all is as asked for, but for plans that cannot be found.
func (e *external) settle(mg *v1alpha1.RestApi) {
	if v := e.found.verdict; v.reason != "" {
		conditions.Set(mg, conditions.NotApplied(v.reason, v.message), xpv2.Unavailable().WithMessage(v.message))
		return
	}
	conditions.Set(mg, conditions.Applied(""), xpv2.Available())
}

// giveWay says that writing does not help.
func (e *external) giveWay(mg *v1alpha1.RestApi, c xpv2.Condition) error {
	conditions.Set(mg, c, conditions.NotApplied(v1alpha1.ReasonRefused, c.Message), xpv2.Unavailable().WithMessage(c.Message))
	return kind.RefuseAtMost(errors.New(c.Message), contest.Pause)
}

// unmarkedLike returns annotations with the mark that the API has, if any.
func unmarkedLike(want, got map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range want {
		if k != v1alpha1.AnnotationOwner {
			out[k] = v
		}
	}
	if v, ok := got[v1alpha1.AnnotationOwner]; ok {
		out[v1alpha1.AnnotationOwner] = v
	}
	return out
}
