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
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

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
