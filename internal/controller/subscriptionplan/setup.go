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

// Package subscriptionplan manages subscription plans at a gateway.
//
// The gateway picks the ID of a plan, so a create cannot simply be repeated: a
// plan whose create was answered by nobody is found again by its name, which is
// unique, as long as the attempt is on record, the name was free before and the plan
// was created about then. An update is merged by the gateway, which can change a
// throttle limit and an expiry time but not clear them.
package subscriptionplan

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
)

// Setup adds a controller for SubscriptionPlans.
func Setup(mgr ctrl.Manager, o kind.Options) error {
	return newKind(mgr.GetClient(), o.Clock.Now()).Setup(mgr, o)
}

func newKind(kube client.Client, started time.Time) *kind.Kind[*v1alpha1.SubscriptionPlan] {
	m := &memory{started: started}
	return &kind.Kind[*v1alpha1.SubscriptionPlan]{
		GroupVersionKind: v1alpha1.SubscriptionPlanGroupVersionKind,
		New:              func() *v1alpha1.SubscriptionPlan { return &v1alpha1.SubscriptionPlan{} },
		NewList:          func() resource.ManagedList { return &v1alpha1.SubscriptionPlanList{} },
		Client: func(ctx context.Context, _ *v1alpha1.SubscriptionPlan, env kind.Environment) (managed.TypedExternalClient[*v1alpha1.SubscriptionPlan], error) {
			return connect(ctx, env, m)
		},
		Needs: []schema.GroupVersionKind{v1alpha1.SubscriptionGroupVersionKind},
		Holds: holds,
		Guard: func(ctx context.Context, mg *v1alpha1.SubscriptionPlan, env kind.Environment) (bool, error) {
			e, err := connect(ctx, env, m)
			if err != nil {
				return false, err
			}
			return e.guard(ctx, mg)
		},
		Forget: func(uid types.UID) {
			m.contests.Forget(uid)
			m.claims.ReleaseAll(uid)
			m.incumbents.Forget(uid)
		},
		Index: index,
		Watch: func(w kind.Watches) { watch(w, kube) },
	}
}

// watch subscriptions that go: a plan that is to be deleted waits for them.
func watch(w kind.Watches, c client.Reader) {
	plans := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		l := &v1alpha1.SubscriptionPlanList{}
		if err := c.List(ctx, l); err != nil {
			return nil
		}
		var waiting []reconcile.Request
		for i := range l.Items {
			if meta.WasDeleted(&l.Items[i]) {
				waiting = append(waiting, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return waiting
	})
	w.Add(&v1alpha1.Subscription{}, plans, predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	})
}

func index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha1.SubscriptionPlan{}, indexHolds, heldIDs); err != nil {
		return errors.Wrap(err, "cannot index by what is held")
	}
	return errors.Wrap(indexer.IndexField(ctx, &v1alpha1.SubscriptionPlan{}, indexAsks, askedNames), "cannot index by what is asked for")
}

func askedNames(o client.Object) []string {
	if mg, ok := o.(*v1alpha1.SubscriptionPlan); ok && mg.Status.CreateAttempt != nil {
		return []string{mg.Status.CreateAttempt.ID}
	}
	return nil
}

func heldIDs(o client.Object) []string {
	mg, ok := o.(*v1alpha1.SubscriptionPlan)
	if !ok {
		return nil
	}
	if b, err := baselineFrom(mg); err == nil && b != nil {
		return []string{b.ID}
	}
	return nil
}
