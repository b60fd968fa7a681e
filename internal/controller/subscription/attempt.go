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
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// maxKnown is how many IDs an attempt records at most: all annotations of an
// object together end at 256 KiB.
const maxKnown = 1000

// validID are the IDs a gateway accepts from a caller.
var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// askedID is the ID a create asks for, and whether the user chose it.
func askedID(cr *v1alpha1.Subscription, b *record.Baseline) (id string, preset bool, p *problem) {
	name, ref := meta.GetExternalName(cr), value(cr.Spec.ForProvider.ExternalRefID)
	switch {
	case b != nil:
		return b.ID, false, nil
	case name != "" && ref != "" && name != ref:
		return "", false, problemf(v1alpha1.ReasonConflict, "the annotation crossplane.io/external-name is %q and spec.forProvider.externalRefId is %q; both name the subscription at the gateway and must be equal; correct one or remove it", name, ref)
	case ref != "":
		return ref, name != "", nil
	case name != "" && !validID.MatchString(name):
		return "", false, problemf(v1alpha1.ReasonRefused, "the annotation crossplane.io/external-name is %q, which is no ID of a subscription: it must be 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit; correct or remove it", name)
	case name != "":
		return name, true, nil
	}
	return string(cr.GetUID()), false, nil
}

// look for what an open attempt created. Where that cannot be told, the problem
// says so.
func (e *external) look(ctx context.Context, cr *v1alpha1.Subscription, a *record.Attempt) (*gateway.Subscription, *problem, error) {
	listed, err := e.listAttempt(ctx, cr, a)
	if err != nil {
		return nil, nil, err
	}
	lost, err := e.lostToOthers(ctx, cr, listed)
	if err != nil {
		return nil, nil, err
	}
	inPlace := e.gateway.Generation() == connection.GenerationInPlace
	if !inPlace {
		later, err := e.laterAttempts(ctx, cr, a)
		if err != nil {
			return nil, nil, err
		}
		listed = withoutResultsOf(later, a, listed)
	}
	sent := record.LastSent(cr, cr.Status.CreateAttempt)
	listed = slices.DeleteFunc(listed, func(s gateway.Subscription) bool { return !record.Near(sent, s.CreatedAt) })
	vouched := vouchedAttempt(cr) != nil
	found, p := judgeAttempt(a, cr.GetCreationTimestamp().Time, listed, inPlace, lost.Has)
	if name := meta.GetExternalName(cr); p != nil && e.baseline != nil && name != e.baseline.ID {
		// The user names the right one.
		others := func(id string) bool { return id != name || lost.Has(id) }
		if named, _ := judgeAttempt(a, cr.GetCreationTimestamp().Time, listed, inPlace, others); named != nil {
			found, p = named, nil
		}
	}
	switch {
	case p != nil && !vouched:
		// Who wrote this record is not known, nor whether it is to know these IDs.
		return nil, problemf(v1alpha1.ReasonAmbiguousAttempt, "the gateway's answer to a create was lost, and it cannot be told which subscription is its result; name the right one in the annotation crossplane.io/external-name, or remove the annotation %s to have one created", v1alpha1.AnnotationCreateAttempt), nil
	case found == nil:
		return nil, p, nil
	}
	elsewhere := a.Endpoint != e.at.Endpoint
	if elsewhere && !vouched {
		return nil, nil, nil
	}
	switch theirs, err := e.madeForOther(ctx, cr, found); {
	case err != nil:
		return nil, nil, err
	case theirs && vouched && !elsewhere:
		return nil, nil, kind.After(errors.New("an older object asked for what was found as well"), turnPause)
	case theirs:
		// Who wrote this record is not known, or whether it is about this gateway.
		return nil, nil, nil
	}
	if err := e.afterOthers(ctx, cr, found); err != nil {
		return nil, nil, err
	}
	return found, nil, nil
}

// afterOthers waits where what was found may as well be the result of another
// object's create, which is under way, or was when an earlier process ended and whose
// object is the older one.
func (e *external) afterOthers(ctx context.Context, cr *v1alpha1.Subscription, found *gateway.Subscription) error {
	wait := kind.After(errors.New("another object's create is under way, and what was found may be its result"), turnPause)
	if e.claims.Reserved(e.seen(found), cr.GetUID(), e.now()) || e.turns.taken(cr.GetUID(), turnOf(e.attempt), e.now()) {
		return wait
	}
	if e.now().Sub(e.started) > turnPatience {
		return nil
	}
	others, err := e.others(ctx, cr, indexAttempt, turnOf(e.attempt).ID)
	if err != nil {
		return err
	}
	for i := range others {
		o := &others[i]
		a := vouchedAttempt(o)
		if a != nil && !meta.IsPaused(o) && ownership.Older(o, cr) && record.Near(o.Status.CreateAttempt, found.CreatedAt) && mayBeResultOf(a, e.attempt, found.ID) {
			return wait
		}
	}
	return nil
}

// laterAttempts are the open attempts of others that ask for the same, and that
// were sent when this one could no longer take effect.
func (e *external) laterAttempts(ctx context.Context, cr *v1alpha1.Subscription, a *record.Attempt) ([]*record.Attempt, error) {
	others, err := e.others(ctx, cr, indexAttempt, turnOf(a).ID)
	if err != nil {
		return nil, err
	}
	var later []*record.Attempt
	for i := range others {
		o := vouchedAttempt(&others[i])
		if o != nil && o.Endpoint == a.Endpoint && sentAt(&others[i]).After(e.at.TooLate(cr, cr.Status.CreateAttempt, e.now())) {
			later = append(later, o)
		}
	}
	return later, nil
}

// listAttempt lists the subscriptions on the API that an attempt asked for. Where the API
// is still asked for, and missing, all waits for it: if that was a wrong answer, what was
// made is there.
func (e *external) listAttempt(ctx context.Context, cr *v1alpha1.Subscription, a *record.Attempt) ([]gateway.Subscription, error) {
	if a.APIID == "" || a.APIID != e.wish.APIID || meta.WasDeleted(cr) {
		return e.listAPI(ctx, a.APIID)
	}
	listed, err := e.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: a.APIID})
	if err != nil {
		return nil, e.missAPI(err)
	}
	return listed, nil
}

// listAPI lists the subscriptions on an API. One that does not exist has none.
func (e *external) listAPI(ctx context.Context, apiID string) ([]gateway.Subscription, error) {
	if apiID == "" {
		return nil, nil
	}
	listed, err := e.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: apiID})
	if gateway.IsAPIMissing(err) {
		return nil, nil
	}
	return listed, err
}

func equalVersions(a, b *v1alpha1.TokenVersion) bool {
	return a != nil && b != nil && *a == *b
}

// prepare the record of an attempt to create what the wish asks for.
func (e *external) prepare(ctx context.Context, cr *v1alpha1.Subscription, id string, preset bool) (record.Attempt, error) {
	a := record.Attempt{
		Version:               record.Version,
		AskedID:               id,
		Preset:                preset,
		Endpoint:              e.at.Endpoint,
		APIID:                 e.wish.APIID,
		ApplicationID:         e.wish.ApplicationID,
		PlanID:                e.wish.Plan.ID,
		BillingCustomerID:     e.wish.BillingCustomerID,
		BillingSubscriptionID: e.wish.BillingSubscriptionID,
		Outcome:               record.Open,
	}
	if e.attempt != nil && e.attempt.Outcome == record.Refused {
		a.Conflict = e.attempt.Conflict
	}
	if e.unanswered {
		inPlace := e.gateway.Generation() == connection.GenerationInPlace
		earlier := *e.attempt
		earlier.Endpoint = a.Endpoint
		same := sameAsk(earlier, a) && (inPlace || equalVersions(rememberedByCreate(cr), e.tokenNow.version))
		if same && e.pending {
			return *e.attempt, nil
		}
		// Two creates of the same ID make one subscription.
		if wait := e.at.TooLate(cr, cr.Status.CreateAttempt, e.now()).Sub(e.now()); wait > 0 && !(same && inPlace) {
			return record.Attempt{}, kind.After(errors.New("the gateway did not answer an earlier create, and may still carry it out; what was edited since is asked for once it no longer can"), wait)
		}
	}
	_, err := e.gateway.GetSubscription(ctx, id)
	if err != nil && !gateway.IsNotFound(err) {
		return record.Attempt{}, err
	}
	a.AbsentBefore = err != nil
	if e.gateway.Generation() != connection.GenerationInPlace {
		if a.Known, err = e.knownIDs(ctx); err != nil {
			return record.Attempt{}, err
		}
	}
	return a, nil
}

// knownIDs are those of the application's subscriptions on the API. Who holds one of them
// may give it up. Of too many, the newest creation date stands for all.
func (e *external) knownIDs(ctx context.Context) ([]string, error) {
	listed, err := e.listAPI(ctx, e.wish.APIID)
	if err != nil {
		return nil, err
	}
	listed = slices.DeleteFunc(listed, func(s gateway.Subscription) bool { return strings.TrimSpace(s.ApplicationID) != e.wish.ApplicationID })
	ids := []string{}
	var newest time.Time
	for _, s := range listed {
		ids = append(ids, s.ID)
		if s.CreatedAt.After(newest) {
			newest = s.CreatedAt
		}
	}
	if len(ids) > maxKnown {
		return []string{newest.UTC().Format(time.RFC3339Nano)}, nil
	}
	return ids, nil
}

// sameAsk tells whether two attempts ask for the same.
func sameAsk(a, b record.Attempt) bool {
	return a.AskedID == b.AskedID && a.Preset == b.Preset && a.Endpoint == b.Endpoint &&
		a.APIID == b.APIID && a.ApplicationID == b.ApplicationID && a.PlanID == b.PlanID &&
		a.BillingCustomerID == b.BillingCustomerID && a.BillingSubscriptionID == b.BillingSubscriptionID
}
