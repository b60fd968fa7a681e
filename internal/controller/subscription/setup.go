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

// Package subscription manages Subscriptions: an application's access to an API.
//
// The life of a Subscription is told by the files: connect.go says what one pass
// over it works with, references.go and token.go what it asks for, observe.go what
// is there, import.go how what was there already comes to be held, create.go how
// it comes to be (with attempt.go and turns.go, so that no answer can be lost),
// adopt.go what is done if something stands in the way of that, update.go how it
// changes, delete.go how it ends, and guard.go what is looked after while it is left
// alone. What is held, and what of it cannot change, is in baseline.go, what speaks
// for who holds it in holders.go, who else does in others.go; what people get to see
// in report.go, conditions.go and publish.go. All judgement is in decide.go and
// holders.go: pure functions from what is known to what is to be done.
package subscription

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Field indexes.
const (
	// indexID finds the Subscriptions that hold a subscription ID, and the one whose UID it
	// is, which asks for it if it names none. For most that is one ID: in an index of each
	// they would be twice.
	indexID = "subscription.id"
	// indexAPI and indexPlan find the Subscriptions that refer to a RestApi or
	// SubscriptionPlan by name; those that select one are under bySelector.
	indexAPI   = "subscription.api"
	indexPlan  = "subscription.plan"
	bySelector = "*"
	// indexAttempt finds the Subscriptions with an open attempt, by what it asks for.
	indexAttempt = "subscription.attempt"
	// indexVouched finds those whose status vouches for a create, by the ID that it asks
	// for, and by the application if the gateway may choose another.
	indexVouched = "subscription.vouched"
	// indexPlanID finds the SubscriptionPlans that have an ID at a gateway.
	indexPlanID = "subscription.planID"
)

// Setup adds the controller of Subscriptions to a manager, once their CRD is there.
func Setup(mgr ctrl.Manager, o kind.Options) error {
	return newKind(newController(o.Clock.Now), mgr.GetClient()).Setup(mgr, o)
}

func newKind(c *controller, kube client.Reader) *kind.Kind[*v1alpha1.Subscription] {
	k := &kind.Kind[*v1alpha1.Subscription]{
		GroupVersionKind: v1alpha1.SubscriptionGroupVersionKind,
		New:              func() *v1alpha1.Subscription { return &v1alpha1.Subscription{} },
		NewList:          func() resource.ManagedList { return &v1alpha1.SubscriptionList{} },
		Client: func(ctx context.Context, cr *v1alpha1.Subscription, env kind.Environment) (managed.TypedExternalClient[*v1alpha1.Subscription], error) {
			return c.connect(ctx, cr, env)
		},
		Needs: []schema.GroupVersionKind{v1alpha1.RestApiGroupVersionKind, v1alpha1.SubscriptionPlanGroupVersionKind},
		// A plan's name leads to whatever plan has it.
		Polled:  func(cr *v1alpha1.Subscription) bool { return cr.Spec.ForProvider.SubscriptionPlanName != nil },
		Holds:   holds,
		Secrets: secrets,
		Causes:  func(ctx context.Context, cr *v1alpha1.Subscription) string { return causes(ctx, kube, cr) },
		Guard:   c.guard,
		Forget: func(uid types.UID) {
			c.memories.forget(string(uid))
			c.release(uid)
			c.incumbents.Forget(uid)
			c.contests.Forget(uid)
		},
		Index: index,
	}
	k.Watch = func(w kind.Watches) {
		referrers := func(index string) handler.EventHandler {
			return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
				return append(k.Find(ctx, kube, index, o.GetNamespace()+"/"+o.GetName()), k.Find(ctx, kube, index, o.GetNamespace()+"/"+bySelector)...)
			})
		}
		w.Add(&v1alpha1.RestApi{}, referrers(indexAPI), kind.ReferenceChanged())
		w.Add(&v1alpha1.SubscriptionPlan{}, referrers(indexPlan), kind.ReferenceChanged())
	}
	return k
}

func newController(now func() time.Time) *controller {
	return &controller{memories: newMemories(), claims: &ownership.Claims{}, now: now, started: now()}
}

func index(ctx context.Context, indexer client.FieldIndexer) error {
	fields := []struct {
		name string
		of   client.Object
		keys func(client.Object) []string
	}{
		{indexID, &v1alpha1.Subscription{}, func(o client.Object) []string {
			cr, ok := o.(*v1alpha1.Subscription)
			if !ok {
				return nil
			}
			ids := []string{string(cr.GetUID())}
			if h := holdingOf(cr); h.ID != "" && h.ID != ids[0] {
				ids = append(ids, h.ID)
			}
			return ids
		}},
		{indexAttempt, &v1alpha1.Subscription{}, func(o client.Object) []string {
			if a, err := record.ReadAttempt(o); err == nil && a != nil && a.Outcome == record.Open {
				return []string{turnOf(a).ID}
			}
			return nil
		}},
		{indexVouched, &v1alpha1.Subscription{}, func(o client.Object) []string {
			cr, ok := o.(*v1alpha1.Subscription)
			if !ok || cr.Status.CreateAttempt == nil {
				return nil
			}
			v := cr.Status.CreateAttempt
			keys := []string{askedByID(v.ID)}
			if v.APIID != "" {
				keys = append(keys, askedByApplication(v.ApplicationID))
			}
			return keys
		}},
		{indexAPI, &v1alpha1.Subscription{}, func(o client.Object) []string {
			cr, ok := o.(*v1alpha1.Subscription)
			if !ok {
				return nil
			}
			return referred(o, cr.Spec.ForProvider.APIIDRef, cr.Spec.ForProvider.APIIDSelector)
		}},
		{indexPlan, &v1alpha1.Subscription{}, func(o client.Object) []string {
			cr, ok := o.(*v1alpha1.Subscription)
			if !ok {
				return nil
			}
			return referred(o, cr.Spec.ForProvider.SubscriptionPlanIDRef, cr.Spec.ForProvider.SubscriptionPlanIDSelector)
		}},
		{indexPlanID, &v1alpha1.SubscriptionPlan{}, func(o client.Object) []string {
			p, ok := o.(*v1alpha1.SubscriptionPlan)
			if !ok || p.Status.AtProvider.ID == "" {
				return nil
			}
			return []string{p.Status.AtProvider.ID}
		}},
	}
	for _, f := range fields {
		if err := indexer.IndexField(ctx, f.of, f.name, f.keys); err != nil {
			return errors.Wrapf(err, "cannot index %s", f.name)
		}
	}
	return nil
}

// Keys of indexVouched.
func askedByID(id string) string            { return "id/" + id }
func askedByApplication(name string) string { return "application/" + name }

func referred(o client.Object, ref *v1alpha1.Reference, s *v1alpha1.Selector) []string {
	switch {
	case ref != nil:
		return []string{o.GetNamespace() + "/" + ref.Name}
	case s != nil:
		return []string{o.GetNamespace() + "/" + bySelector}
	}
	return nil
}

// causes describe the RestApis and SubscriptionPlans that a Subscription refers to,
// and who else holds what it asks for.
func causes(ctx context.Context, kube client.Reader, cr *v1alpha1.Subscription) string {
	var c []string
	p := cr.Spec.ForProvider
	api := func(o *v1alpha1.RestApi) {
		at := o.Status.AtProvider
		c = append(c, fmt.Sprint(o.GetName(), o.GetLabels(), at.ID, at.Endpoint, at.SubscriptionPlans))
	}
	switch {
	case p.APIIDRef != nil:
		o := &v1alpha1.RestApi{}
		if err := kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: p.APIIDRef.Name}, o); err == nil {
			api(o)
		}
	case p.APIIDSelector != nil:
		l := &v1alpha1.RestApiList{}
		if err := kube.List(ctx, l, client.InNamespace(cr.GetNamespace()), client.MatchingLabels(p.APIIDSelector.MatchLabels)); err == nil {
			for i := range l.Items {
				api(&l.Items[i])
			}
		}
	}
	plan := func(o *v1alpha1.SubscriptionPlan) {
		at := o.Status.AtProvider
		c = append(c, fmt.Sprint(o.GetName(), o.GetLabels(), at.ID, at.PlanName, at.Status, at.Endpoint))
	}
	switch {
	case p.SubscriptionPlanIDRef != nil:
		o := &v1alpha1.SubscriptionPlan{}
		if err := kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: p.SubscriptionPlanIDRef.Name}, o); err == nil {
			plan(o)
		}
	case p.SubscriptionPlanIDSelector != nil:
		l := &v1alpha1.SubscriptionPlanList{}
		if err := kube.List(ctx, l, client.InNamespace(cr.GetNamespace()), client.MatchingLabels(p.SubscriptionPlanIDSelector.MatchLabels)); err == nil {
			for i := range l.Items {
				plan(&l.Items[i])
			}
		}
	}
	id := value(p.ExternalRefID)
	if b, err := baselineFrom(cr); err == nil && b != nil {
		id = b.ID
	}
	if id != "" {
		l := &v1alpha1.SubscriptionList{}
		if err := kube.List(ctx, l, client.MatchingFields{indexID: id}); err == nil {
			for i := range l.Items {
				if o := &l.Items[i]; holdingOf(o).ID == id {
					c = append(c, string(o.GetUID()))
				}
			}
		}
	}
	slices.Sort(c)
	return strings.Join(c, "\n")
}
