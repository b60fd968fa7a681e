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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// holds tells whether a Subscription may hold anything at a gateway.
func holds(cr *v1alpha1.Subscription) bool {
	b, err := baselineFrom(cr)
	return err != nil || b != nil || record.MayHold(cr)
}

// observeDeleted looks for what a Subscription that is being deleted holds. None
// of what its spec asks for matters any more.
func (e *external) observeDeleted(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	conditions.Set(cr, xpv2.Deleting())
	if e.baseline == nil {
		return e.observeDeletedAttempt(ctx, cr)
	}
	b := e.baseline
	if stored, err := record.ReadBaseline(cr); err == nil && stored != nil && stored.ID != b.ID {
		// Somebody changed the record. Once what it should name is gone, nothing else must
		// be taken for that.
		if err := e.storeBaseline(ctx, cr, *b); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	if lost, err := e.losesRecorded(ctx, cr); err != nil || lost {
		// What somebody else holds, this object does not.
		return managed.ExternalObservation{}, err
	}
	got, err := e.gateway.GetSubscription(ctx, b.ID)
	switch {
	case gateway.IsAbsent(err):
		if p := judgeAbsence(b, e.at); p != nil {
			return managed.ExternalObservation{}, p
		}
		// It may have been about to be created again.
		return e.observeDeletedAttempt(ctx, cr)
	case err != nil:
		return managed.ExternalObservation{}, err
	}
	if lost, err := e.losesFound(ctx, cr, got); err != nil || lost {
		return managed.ExternalObservation{}, err
	}
	if !isHeld(b, got) {
		listed, err := e.listAPI(ctx, b.Fields[fieldAPIID])
		if err != nil {
			return managed.ExternalObservation{}, err
		}
		if s, _ := judgeImport(wish{}.held(b), got.ID, listed); s == nil {
			// Another gateway may well have another one under this ID.
			if p := judgeAbsence(b, e.at); p != nil {
				return managed.ExternalObservation{}, p
			}
			e.recorder.Event(cr, event.Warning("NotHeld", fmt.Errorf("the subscription %q at the gateway is not the one this object held; it is left alone", got.ID)))
			return managed.ExternalObservation{}, nil
		}
	}
	if b.Endpoint != e.at.Endpoint {
		// Once it is deleted here, here is where it has to be gone.
		if err := e.storeBaseline(ctx, cr, e.refreshed(*b, got)); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	e.observed = got
	return managed.ExternalObservation{ResourceExists: true}, nil
}

// observeDeletedAttempt looks for what an unanswered create may have left behind.
// It may take effect late: until that can no longer be, absence proves nothing.
func (e *external) observeDeletedAttempt(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	if e.attempt == nil || e.attempt.Outcome != record.Open {
		return managed.ExternalObservation{}, nil
	}
	if e.attempt.Endpoint != e.at.Endpoint {
		if found, err := e.madeElsewhere(ctx, cr); err != nil || found {
			return managed.ExternalObservation{ResourceExists: found}, err
		}
		e.recorder.Event(cr, kind.LeftElsewhere(kind.BecauseDeleted, "subscription", e.attempt))
		return managed.ExternalObservation{}, nil
	}
	for range 2 {
		found, ambiguous, err := e.look(ctx, cr, e.attempt)
		if err != nil {
			return managed.ExternalObservation{}, err
		}
		if ambiguous != nil {
			e.recorder.Event(cr, kind.LeftBehind(errors.Wrap(ambiguous, kind.BecauseDeleted+", and")))
			return managed.ExternalObservation{}, nil
		}
		if found != nil {
			e.observed = found
			return managed.ExternalObservation{ResourceExists: true}, nil
		}
		if wait := e.at.TooLate(cr, cr.Status.CreateAttempt, e.now()).Sub(e.now()); wait > 0 {
			return managed.ExternalObservation{}, kind.After(errors.New("the gateway did not answer whether it created the subscription; waiting until it can no longer do so"), wait)
		}
	}
	return managed.ExternalObservation{}, nil
}

// madeElsewhere looks for what a create that was sent to another endpoint came to, should
// this be the same gateway: what has the UID of this object for its ID nobody else can
// mean.
func (e *external) madeElsewhere(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	if !e.attemptElsewhere(cr) || e.attempt.AskedID != string(cr.GetUID()) {
		return false, nil
	}
	found, _, err := e.look(ctx, cr, e.attempt)
	if err != nil || found == nil || found.ID != e.attempt.AskedID {
		return false, err
	}
	e.observed = found
	return true, nil
}

// Delete the subscription that was observed.
func (e *external) Delete(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalDelete, error) {
	conditions.Set(cr, xpv2.Deleting())
	err := e.gateway.DeleteSubscription(ctx, e.observed.ID)
	if err != nil && !gateway.IsNotFound(err) {
		return managed.ExternalDelete{}, err
	}
	if e.baseline != nil {
		return managed.ExternalDelete{}, nil
	}
	e.closeAttempt(cr)
	return managed.ExternalDelete{}, kind.RecordDeleted(ctx, e.kube, cr)
}
