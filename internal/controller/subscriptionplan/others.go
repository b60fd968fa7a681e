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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
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
	asked := !(ok && mine.ID == got.ID) && e.mayHaveMadeHere(mg, got)
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
// recorded to hold it at this endpoint and that create is long ago. Where this one's
// create, sent here, can have made it as well, that is nothing against one that was
// answered, and of those that were not the older resource looks first.
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
	waits := false
	for i := range l.Items {
		o := &l.Items[i]
		v := o.Status.CreateAttempt
		switch {
		case o.GetUID() == mg.GetUID(), !mayHaveMade(o, got), recorded && v.Endpoint != e.at.Endpoint && record.Stale(v, e.now()):
		case !mine || record.ReadVouched(o, v) == nil:
			return true, nil
		default:
			waits = waits || e.looksFirst(o, mg)
		}
	}
	if waits && meta.WasDeleted(mg) {
		// If it is not the other one's, it is to go with this one.
		return false, kind.After(errors.New("an older object asked for what was found as well"), lookPause)
	}
	return waits, nil
}

// looksFirst tells whether another managed resource, whose create was not answered either,
// looks first what came of it: the older one, if its create could still take effect when
// this one's was sent. One that cannot look is not waited for for long, however often it
// asks anew meanwhile.
func (e *external) looksFirst(o, mg *v1alpha1.SubscriptionPlan) bool {
	if !ownership.Older(o, mg) || meta.IsPaused(o) || e.at.TooLateFor(sentAt(o)).Before(sentAt(mg)) {
		return false
	}
	patience := e.at.TooLateFor(sentAt(mg)).Add(lookPatience)
	if from := e.memory.started.Add(lookPatience); from.After(patience) {
		patience = from
	}
	return e.now().Before(patience)
}

// lookPatience is how long an object has to look what came of its create, once that can no
// longer take effect, or this process began, and lookPause how often it is seen whether it
// has.
const (
	lookPatience = 10 * time.Minute
	lookPause    = 10 * time.Second
)

// mayHaveMadeHere tells whether a plan can be the result of a create of a managed
// resource at this endpoint.
func (e *external) mayHaveMadeHere(mg *v1alpha1.SubscriptionPlan, got *gateway.SubscriptionPlan) bool {
	return mayHaveMade(mg, got) && mg.Status.CreateAttempt.Endpoint == e.at.Endpoint
}
