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

// Package restapi manages APIs at a gateway.
//
// An API has a handle that its creator chooses, so a create can be repeated. A
// mark in its annotations at the gateway tells whose it is: one whose create was
// answered by nobody is found again by it, and one that is another's is left
// alone. Plans are referred to by name, and nothing is late-initialised: the spec
// is the whole API.
package restapi

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
)

// indexPlan finds the RestApis that refer to a SubscriptionPlan. Its values are
// namespace/name.
const indexPlan = "restapi.plan"

// Setup adds a controller for RestApis.
func Setup(mgr ctrl.Manager, o kind.Options) error { return newKind(mgr.GetClient()).Setup(mgr, o) }

func newKind(kube client.Client) *kind.Kind[*v1alpha1.RestApi] {
	m := &memory{}
	k := &kind.Kind[*v1alpha1.RestApi]{
		GroupVersionKind: v1alpha1.RestApiGroupVersionKind,
		New:              func() *v1alpha1.RestApi { return &v1alpha1.RestApi{} },
		NewList:          func() resource.ManagedList { return &v1alpha1.RestApiList{} },
		Client: func(ctx context.Context, _ *v1alpha1.RestApi, env kind.Environment) (managed.TypedExternalClient[*v1alpha1.RestApi], error) {
			return connect(ctx, env, m)
		},
		Needs:  []schema.GroupVersionKind{v1alpha1.SubscriptionPlanGroupVersionKind},
		Holds:  holds,
		Causes: func(ctx context.Context, mg *v1alpha1.RestApi) string { return causes(ctx, kube, mg) },
		Guard: func(ctx context.Context, mg *v1alpha1.RestApi, env kind.Environment) (bool, error) {
			e, err := connect(ctx, env, m)
			if err != nil {
				return false, err
			}
			return e.guard(ctx, mg)
		},
		Forget: func(uid types.UID) {
			m.incumbents.Forget(uid)
			m.contests.Forget(uid)
		},
		Index: index,
	}
	k.Watch = func(w kind.Watches) {
		w.Add(&v1alpha1.SubscriptionPlan{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return k.Find(ctx, kube, indexPlan, o.GetNamespace()+"/"+o.GetName())
		}), kind.ReferenceChanged())
	}
	return k
}

// causes are the plans a managed resource refers to.
func causes(ctx context.Context, c client.Reader, mg *v1alpha1.RestApi) string {
	var b strings.Builder
	for _, ref := range mg.Spec.ForProvider.SubscriptionPlanRefs {
		plan := &v1alpha1.SubscriptionPlan{}
		if err := c.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: ref.Name}, plan); err != nil {
			b.WriteString("-\n")
			continue
		}
		at := plan.Status.AtProvider
		b.WriteString(strings.Join([]string{at.ID, at.PlanName, at.Endpoint}, " ") + "\n")
	}
	return b.String()
}

func index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha1.RestApi{}, indexHolds, heldHandles); err != nil {
		return errors.Wrap(err, "cannot index by what is held")
	}
	return errors.Wrap(indexer.IndexField(ctx, &v1alpha1.RestApi{}, indexPlan, func(o client.Object) []string {
		mg, ok := o.(*v1alpha1.RestApi)
		if !ok {
			return nil
		}
		var out []string
		for _, ref := range mg.Spec.ForProvider.SubscriptionPlanRefs {
			out = append(out, mg.GetNamespace()+"/"+ref.Name)
		}
		return out
	}), "cannot index by plan")
}
