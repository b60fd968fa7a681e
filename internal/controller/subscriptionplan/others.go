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
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// taken tells whether another managed resource has the better claim to what was found.
func (e *external) taken(ctx context.Context, mg *v1alpha1.SubscriptionPlan, f *finding) (bool, error) {
	if f.got == nil {
		return false, nil
	}
	held, err := e.heldByOther(ctx, mg, f.got)
	if err != nil || held {
		return held, err
	}
	if mine, ok := holderOf(mg, f.got); ok && f.how == byID && (mine.BorneOut() || mine.HasSeen(f.got.CreatedAt)) {
		return false, nil
	}
	return e.askedByOther(ctx, mg, f.got)
}

// heldByOther tells whether another managed resource holds a plan, or is about to.
func (e *external) heldByOther(ctx context.Context, mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (bool, error) {
	what := seen(got, e.at)
	if e.memory.claims.Reserved(what, mg.GetUID(), e.now()) {
		return true, nil
	}
	l := &v1alpha1.SubscriptionPlanList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: got.ID}); err != nil {
		return false, errors.Wrap(err, "cannot list who holds a plan")
	}
	mine, ok := holderOf(mg, got)
	// Its create may have made the plan: a bare record is nothing against that, but a create
	// that was answered is.
	asked := !ok && e.mayHaveMadeHere(mg, got)
	var others []ownership.Holder
	for i := range l.Items {
		h, ok := holderOf(&l.Items[i], got)
		if !ok || h.UID == mg.GetUID() || !h.Same(what) {
			continue
		}
		earned := h.BorneOut() || e.memory.incumbents.Of(h.Holding) == h.UID
		if !asked || earned && (h.Endpoint == what.Endpoint || h.HasSeen(got.CreatedAt)) {
			others = append(others, h)
		}
	}
	if len(others) == 0 {
		return false, nil
	}
	if !ok || !mine.Same(what) && !mine.HasSeen(got.CreatedAt) {
		// What is recorded about another place gives no claim here.
		return true, nil
	}
	return ownership.LosesAt(e.at.Endpoint, got.CreatedAt, mine, others, e.memory.incumbents.Of), nil
}

// askedByOther tells whether another managed resource has the better claim to a plan
// that nobody holds: it is about to create one of that name, or status vouches for a
// create that can have made it, by whatever name of the gateway, unless this one is
// recorded to hold it at this endpoint and that create is long ago. Where both asked for
// it here, the older resource goes first.
func (e *external) askedByOther(ctx context.Context, mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) (bool, error) {
	name := got.PlanName
	if e.memory.claims.Reserved(nameClaim(name, e.at), mg.GetUID(), e.now()) {
		return true, nil
	}
	l := &v1alpha1.SubscriptionPlanList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexAsks: name}); err != nil {
		return false, errors.Wrap(err, "cannot list who asked for a plan")
	}
	mine := e.mayHaveMadeHere(mg, got)
	held, _ := holderOf(mg, got)
	recorded := held.ID == got.ID && held.Endpoint == e.at.Endpoint
	return slices.ContainsFunc(l.Items, func(o v1alpha1.SubscriptionPlan) bool {
		v := o.Status.CreateAttempt
		theirs := mayHaveMade(&o, got) && !(recorded && v.Endpoint != e.at.Endpoint && record.Stale(v, e.now()))
		if mine {
			theirs = e.mayHaveMadeHere(&o, got) && ownership.Older(&o, mg)
		}
		return theirs && o.GetUID() != mg.GetUID()
	}), nil
}

// mayHaveMadeHere tells whether a plan can be the result of a create of a managed
// resource at this endpoint.
func (e *external) mayHaveMadeHere(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) bool {
	return mayHaveMade(mg, got) && mg.Status.CreateAttempt.Endpoint == e.at.Endpoint
}
