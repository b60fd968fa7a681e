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
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// holding is what is, or may be, at this gateway under an ID.
func (e *external) holding(id string) ownership.Holding {
	return ownership.Holding{ID: id, Endpoint: e.at.Endpoint}
}

// seen is a subscription that was seen at this gateway.
func (e *external) seen(s *gateway.Subscription) ownership.Holding {
	return ownership.Holding{ID: s.ID, Endpoint: e.at.Endpoint, GatewayID: e.gateway.GatewayID(), Scope: s.APIID, Began: s.CreatedAt}
}

// others are the Subscriptions other than this one that an index has under a key.
func (e *external) others(ctx context.Context, cr *v1alpha1.Subscription, index, key string) ([]v1alpha1.Subscription, error) {
	l := &v1alpha1.SubscriptionList{}
	err := e.kube.List(ctx, l, client.MatchingFields{index: key})
	return slices.DeleteFunc(l.Items, func(o v1alpha1.Subscription) bool { return o.GetUID() == cr.GetUID() }), err
}

// othersHolding returns who else holds something, by their records. Where this object has
// something to show, who recorded that at another endpoint counts only if it has seen
// this very object: that may be another gateway, which can say whatever its owner wants.
// So it is where this object asked for something, against all who earned theirs there.
func (e *external) othersHolding(ctx context.Context, cr *v1alpha1.Subscription, h ownership.Holding) ([]ownership.Holder, error) {
	recorded, err := e.others(ctx, cr, indexID, h.ID)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list who holds a subscription")
	}
	self := holderOf(cr, h, e.now())
	asked, may := asks(cr, h)
	proven := self.BorneOut() || may || self.HasSeen(h.Began)
	var others []ownership.Holder
	for i := range recorded {
		theirs := holdingOf(&recorded[i])
		theirs.Began = h.Began
		o := holderOf(&recorded[i], theirs, e.now())
		if h.Began.IsZero() {
			// Whether its create can have made this is known once this is seen.
			o.Vouched = false
		}
		if o.Same(h) && (o.Endpoint == h.Endpoint || o.HasSeen(h.Began) || !proven && !(asked && o.BorneOut())) {
			others = append(others, o)
		}
	}
	return others, nil
}

// heldByOther tells whether another object holds a subscription, or may have had it made:
// who holds nothing yet leaves it alone.
func (e *external) heldByOther(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	others, err := e.othersHolding(ctx, cr, e.seen(s))
	if err != nil || len(others) > 0 {
		return len(others) > 0, err
	}
	return e.madeForOther(ctx, cr, s)
}

// losesImport tells whether an import is not to be had: another object holds it, or may
// have had it made, or if this one observes it already, has the better claim.
func (e *external) losesImport(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	h := e.seen(s)
	if !reports(cr, h) {
		return e.heldByOther(ctx, cr, s)
	}
	others, err := e.othersHolding(ctx, cr, h)
	return err == nil && ownership.LosesAt(h.Endpoint, s.CreatedAt, holderOf(cr, h, e.now()), others, e.incumbents.Of), err
}

// loses tells whether one of others has the better claim to what this object says it
// holds, or asks for while nothing is there.
func (e *external) loses(cr *v1alpha1.Subscription, h ownership.Holding, others []ownership.Holder) bool {
	return ownership.Loses(holderOf(cr, h, e.now()), others, e.incumbents.Of(h))
}

// losesRecorded tells whether another object has the better claim to what this one
// recorded to hold, whatever is there; unless this one knows when it was created, as it
// has seen it by another name of the gateway.
func (e *external) losesRecorded(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	h := recordedIn(e.baseline)
	others, err := e.othersHolding(ctx, cr, h)
	if err != nil || !e.loses(cr, h, others) {
		return false, err
	}
	self := holderOf(cr, h, e.now())
	if self.Reported || self.Since == nil {
		return true, nil
	}
	got, err := e.gateway.GetSubscription(ctx, h.ID)
	if gateway.IsAbsent(err) {
		return true, nil
	}
	return err == nil && !self.HasSeen(got.CreatedAt), err
}

// borneOut tells whether status bears out what this object recorded to hold.
func (e *external) borneOut(cr *v1alpha1.Subscription) bool {
	return holderOf(cr, recordedIn(e.baseline), e.now()).BorneOut()
}

// losesFound tells whether another object, wherever it recorded that, has the better
// claim to a subscription that was found.
func (e *external) losesFound(ctx context.Context, cr *v1alpha1.Subscription, got *gateway.Subscription) (bool, error) {
	was, is := recordedIn(e.baseline), e.seen(got)
	others, err := e.othersHolding(ctx, cr, is)
	if err != nil {
		return false, err
	}
	was.Began = is.Began
	self := holderOf(cr, was, e.now())
	if here := was.Endpoint == is.Endpoint; !self.HasSeen(got.CreatedAt) && !(here && (self.Reported || e.incumbents.Of(was) == cr.GetUID())) {
		// Anybody can write a record of what somebody else is about to create, or to find
		// again.
		if e.claims.Reserved(is, cr.GetUID(), e.now()) {
			return true, nil
		}
		if theirs, err := e.madeForOther(ctx, cr, got); err != nil || theirs {
			return theirs, err
		}
	}
	return ownership.LosesAt(is.Endpoint, got.CreatedAt, self, others, e.incumbents.Of), nil
}

// lostToOthers returns those IDs of what a gateway lists to which somebody else has the
// better claim, or has them reserved, than this object if it asked for them and was not
// answered. If status vouches for that, a bare record is nothing against it.
func (e *external) lostToOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (sets.Set[string], error) {
	a, lost := vouchedAttempt(cr), sets.New[string]()
	for i := range listed {
		h := e.seen(&listed[i])
		others, err := e.othersHolding(ctx, cr, h)
		if err != nil {
			return nil, err
		}
		self, incumbent := holderOf(cr, h, e.now()), e.incumbents.Of(h)
		if a != nil && a.Endpoint == h.Endpoint && record.Near(cr.Status.CreateAttempt, h.Began) {
			// What was created later than this object's create could be is another one's.
			self.Vouched = !e.at.TooLateFor(sentAt(cr)).Before(h.Began)
			others = slices.DeleteFunc(others, func(o ownership.Holder) bool { return !o.BorneOut() && incumbent != o.UID })
		}
		if e.claims.Reserved(h, cr.GetUID(), e.now()) || ownership.Loses(self, others, incumbent) || slices.ContainsFunc(others, func(o ownership.Holder) bool { return o.HasSeen(h.Began) }) {
			lost.Insert(h.ID)
		}
	}
	return lost, nil
}

// madeForOther tells whether a subscription is, or may well be, what another object
// asked for, which only has to find it again: it has the UID of that object for an ID, or
// status vouches for a create that can have made it. By whatever name of the gateway that
// was: who has nothing to show for it leaves it alone, unless it is recorded at this
// endpoint and that create is long ago. Where both asked for it here, the older object
// looks first. What this object reports already, no create made.
func (e *external) madeForOther(ctx context.Context, cr *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	if reports(cr, e.seen(s)) || s.ID == string(cr.GetUID()) {
		return false, nil
	}
	if theirs, err := e.namesAnother(ctx, cr, s.ID); err != nil || theirs {
		return theirs, err
	}
	mine := false
	if e.vouchedHere(cr) {
		var err error
		if mine, err = e.madeFor(ctx, cr, s); err != nil {
			return false, err
		}
	}
	for _, key := range []string{askedByID(s.ID), askedByApplication(strings.TrimSpace(s.ApplicationID))} {
		others, err := e.others(ctx, cr, indexVouched, key)
		if err != nil {
			return false, errors.Wrap(err, "cannot look for whom a subscription was made")
		}
		for i := range others {
			o := &others[i]
			if mine && !e.looksFirst(o, cr) {
				continue
			}
			if !e.vouchedHere(o) && e.recordsHere(s.ID) && record.Stale(o.Status.CreateAttempt, e.now()) {
				continue
			}
			if theirs, err := e.madeFor(ctx, o, s); err != nil || theirs {
				return theirs, err
			}
		}
	}
	return false, nil
}

// looksFirst tells whether another object that asked as well looks first what came of it:
// the older one, if its create could still take effect when this one's was sent. One that
// cannot look is not waited for for long.
func (e *external) looksFirst(o, cr *v1alpha1.Subscription) bool {
	if !ownership.Older(o, cr) || meta.IsPaused(o) {
		return false
	}
	late := e.at.TooLateFor(sentAt(o))
	patience := late.Add(lookPatience)
	if !e.vouchedHere(o) {
		if a, err := record.ReadAttempt(o); err != nil || a != nil && vouchedAttempt(o) == nil {
			// What it records is not what it asked for.
			return false
		}
		// That may be another gateway, where it asks again and again.
		patience = e.at.TooLateFor(sentAt(cr)).Add(lookPatience)
	}
	if from := e.started.Add(lookPatience); from.After(patience) {
		patience = from
	}
	return !late.Before(sentAt(cr)) && e.now().Before(patience)
}

// lookPatience is how long an object has to look what came of its create, once that can no
// longer take effect, or this process began.
const lookPatience = 10 * time.Minute

// recordsHere tells whether this object is recorded to hold an ID at this endpoint.
func (e *external) recordsHere(id string) bool {
	return e.baseline != nil && e.baseline.ID == id && e.baseline.Endpoint == e.at.Endpoint
}

// namesAnother tells whether an ID is the UID of another object, which asks for it if it
// names none.
func (e *external) namesAnother(ctx context.Context, cr *v1alpha1.Subscription, id string) (bool, error) {
	others, err := e.others(ctx, cr, indexID, id)
	if err != nil {
		return false, errors.Wrap(err, "cannot look for whom a subscription is made")
	}
	return slices.ContainsFunc(others, func(o v1alpha1.Subscription) bool { return string(o.GetUID()) == id }), nil
}

// vouchedHere tells whether the status of an object vouches for a create at this
// endpoint.
func (e *external) vouchedHere(cr *v1alpha1.Subscription) bool {
	v := cr.Status.CreateAttempt
	return v != nil && v.Endpoint == e.at.Endpoint
}

// madeFor tells whether a subscription, which is on the API that this object asks for, can
// be the result of a create that the status of an object vouches for. That one may know
// the API by another name.
func (e *external) madeFor(ctx context.Context, o *v1alpha1.Subscription, s *gateway.Subscription) (bool, error) {
	may, chosen := mayHaveMade(o, s)
	if !may || !chosen {
		return may, nil
	}
	api := o.Status.CreateAttempt.APIID
	if api == e.wish.APIID || api == s.APIID {
		return true, nil
	}
	listed, err := e.listAPI(ctx, api)
	return slices.ContainsFunc(listed, func(l gateway.Subscription) bool { return l.ID == s.ID }), err
}

// loseToAnother says that what an object recorded to hold is another's. It reports no
// longer what it does not hold.
func (e *external) loseToAnother(cr *v1alpha1.Subscription) *problem {
	earned := e.borneOut(cr)
	cr.Status.Deployed, cr.Status.AtProvider = false, v1alpha1.SubscriptionObservation{}
	cr.Status.RefusedID = e.baseline.ID
	conditions.Drop(&cr.Status.ConditionedStatus, v1alpha1.TypeTokenInForce, v1alpha1.TypeContested, v1alpha1.TypeDrifted)
	if !earned {
		return unproven()
	}
	return problemf(v1alpha1.ReasonConflict, "another object holds the subscription that the annotation %s names; this one does nothing at the gateway; delete it, or remove that annotation and crossplane.io/external-name to have a subscription of its own created", v1alpha1.AnnotationBaseline)
}

// unproven says that what an object has only a record of is not to be had: in one and
// the same words whether it is missing, does not fit or is another's, since anybody can
// write a record to find out.
func unproven() *problem {
	return problemf(v1alpha1.ReasonConflict, "the subscription that the annotation %s names is not at the gateway as recorded, or another object holds it; this one does nothing at the gateway; correct or delete it, or remove that annotation and crossplane.io/external-name to have a subscription of its own created", v1alpha1.AnnotationBaseline)
}
