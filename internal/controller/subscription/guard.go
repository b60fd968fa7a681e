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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// guard looks after a Subscription that is left alone since something in its spec
// was refused: if its status was changed at the gateway, or the subscription
// vanished, it is reconciled now; and so is an import that was refused, if what it
// names fits by now, and a create, if what was in its way is not what it was, or the API
// is there that was not.
func (c *controller) guard(ctx context.Context, cr *v1alpha1.Subscription, env kind.Environment) (bool, error) {
	e, err := c.connect(ctx, cr, env)
	if err != nil {
		return false, err
	}
	if err := e.read(cr); err != nil {
		return false, err
	}
	if cr.Status.GetCondition(v1alpha1.TypeApplied).Reason == v1alpha1.ReasonAPIMissing {
		if waits, err := e.waitsForAPI(ctx, cr); waits || err != nil || e.baseline == nil {
			return !waits && err == nil, err
		}
	}
	switch {
	case e.baseline == nil && conditions.RefusedAsTaken(&cr.Status.ConditionedStatus):
		return e.outOfTheWay(ctx, cr)
	case e.baseline == nil:
		return e.importable(ctx, cr)
	}
	if lost, err := e.losesRecorded(ctx, cr); err != nil || lost {
		return false, err
	}
	moved := judgeName(e.baseline, meta.GetExternalName(cr)) != nil
	got, err := e.gateway.ObserveSubscription(ctx, e.lookAs, e.baseline.ID)
	if gateway.IsNotFound(err) {
		return !moved && judgeAbsence(e.baseline, e.at) == nil && !c.contests.Vanishes(cr.GetUID(), e.now()), nil //nolint:nilerr // That it is gone is an answer.
	}
	if err != nil {
		return false, err
	}
	wanted := gateway.SubscriptionActive
	if s := cr.Spec.ForProvider.Status; s != nil {
		wanted = string(*s)
	} else if leavesStatus(e.baseline) {
		return false, nil
	}
	return e.policies.ShouldUpdate() && judgeWake(wanted, got.Status, moved || c.contests.Rests(cr.GetUID(), cr.GetGeneration(), e.now())), nil
}

// outOfTheWay tells whether the gateway has something else by now than what was in
// the way of a create.
func (e *external) outOfTheWay(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	if e.attempt == nil || e.memory.inTheWay == "" {
		return false, nil
	}
	var err error
	if e.wish, err = e.follow(ctx, cr, nil, e.attempt); err != nil || e.wish.APIProblem != nil {
		return false, err
	}
	o, err := e.inTheWay(ctx, cr)
	return err == nil && o.key() != e.memory.inTheWay, err
}

// importable tells whether a Subscription that names one at the gateway, and was
// refused it, would now be given it.
func (e *external) importable(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	if !e.names(cr) || cr.Status.GetCondition(v1alpha1.TypeApplied).Reason != v1alpha1.ReasonImmutableField {
		return false, nil
	}
	// An ID that cannot be asked for is none that is listed.
	id, _, _ := askedID(cr, nil)
	var err error
	if e.wish, err = e.follow(ctx, cr, nil, e.attempt); err != nil || e.wish.APIProblem != nil {
		return false, err
	}
	listed, err := e.listAPI(ctx, e.wish.APIID)
	if err != nil {
		return false, err
	}
	s, _ := judgeImport(e.wish, id, listed)
	if s == nil {
		return false, nil
	}
	theirs, err := e.heldByOther(ctx, cr, s)
	return err == nil && !theirs, err
}
