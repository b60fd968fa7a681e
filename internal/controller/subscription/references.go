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
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// follow returns what a spec asks for, with its references followed through the
// cache. A reference that leads nowhere is part of the answer and no error: it
// must not keep a revocation, a deletion or anything else from being decided.
func (e *external) follow(ctx context.Context, cr *v1alpha1.Subscription, b *record.Baseline, a *record.Attempt) (wish, error) {
	p := cr.Spec.ForProvider
	w := wish{
		ExternalRefID:         value(p.ExternalRefID),
		ApplicationID:         strings.TrimSpace(value(p.ApplicationID)),
		BillingCustomerID:     value(p.BillingCustomerID),
		BillingSubscriptionID: value(p.BillingSubscriptionID),
	}

	if p.Status != nil {
		w.Status = string(*p.Status)
	} else if !leavesStatus(b) && (b != nil || !e.policies.ShouldOnlyObserve()) {
		w.Status = string(v1alpha1.SubscriptionActive)
	}

	kept := ""
	switch {
	case b != nil:
		kept = b.Fields[fieldAPIID]
	case a != nil:
		kept = a.APIID
	}
	var err error
	if w.APIID, w.APIProblem, err = e.api(ctx, cr, kept); err != nil {
		return wish{}, err
	}

	choice := ""
	if b != nil {
		choice = b.PlanChoice
	}
	w.Plan, err = e.plan(ctx, cr, choice)
	return w, err
}

// api returns the handle of the API a spec names.
func (e *external) api(ctx context.Context, cr *v1alpha1.Subscription, kept string) (string, *problem, error) {
	p := cr.Spec.ForProvider
	if p.APIID != nil {
		return *p.APIID, nil, nil
	}

	api := &v1alpha1.RestApi{}
	switch {
	case p.APIIDRef != nil:
		err := e.kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: p.APIIDRef.Name}, api)
		if kerrors.IsNotFound(err) {
			return "", problemf(v1alpha1.ReasonAPIMissing, "spec.forProvider.apiIdRef names RestApi %q, which does not exist in namespace %q; create it or correct the name", p.APIIDRef.Name, cr.GetNamespace()), nil
		}
		if err != nil {
			return "", nil, errors.Wrap(err, "cannot read the RestApi")
		}
	case p.APIIDSelector != nil:
		l := &v1alpha1.RestApiList{}
		if err := e.kube.List(ctx, l, client.InNamespace(cr.GetNamespace()), client.MatchingLabels(p.APIIDSelector.MatchLabels)); err != nil {
			return "", nil, errors.Wrap(err, "cannot list RestApis")
		}
		chosen := choose(cr, p.APIIDSelector, l.Items, func(r *v1alpha1.RestApi) bool {
			return kept != "" && r.Status.AtProvider.ID == kept
		})
		if chosen == nil {
			return "", problemf(v1alpha1.ReasonAPIMissing, "spec.forProvider.apiIdSelector matches no RestApi in namespace %q; create one or correct the selector", cr.GetNamespace()), nil
		}
		api = chosen
	default:
		return "", problemf(v1alpha1.ReasonAPIMissing, "one of spec.forProvider.apiId, apiIdRef and apiIdSelector must be given"), nil
	}

	switch {
	case api.Status.AtProvider.ID == "":
		return "", problemf(v1alpha1.ReasonAPIMissing, "waiting for RestApi %q in namespace %q to be at the gateway", api.GetName(), api.GetNamespace()), nil
	case !e.here(api.Status.AtProvider.Endpoint):
		return "", problemf(v1alpha1.ReasonRefused, "RestApi %q in namespace %q is deployed at %s and this object at %s; a subscription and its API must be at the same endpoint", api.GetName(), api.GetNamespace(), api.Status.AtProvider.Endpoint, e.at.Endpoint), nil
	}
	return api.Status.AtProvider.ID, nil, nil
}

// plan returns the plan a spec names. The name of a plan that is not managed here
// is looked up at the gateway.
func (e *external) plan(ctx context.Context, cr *v1alpha1.Subscription, choice string) (planWish, error) {
	p := cr.Spec.ForProvider
	plan := &v1alpha1.SubscriptionPlan{}
	w := planWish{}
	switch {
	case p.SubscriptionPlanID != nil:
		return planWish{ID: *p.SubscriptionPlanID}, nil
	case p.SubscriptionPlanName != nil:
		return e.planNamed(ctx, *p.SubscriptionPlanName)
	case p.SubscriptionPlanIDRef != nil:
		err := e.kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: p.SubscriptionPlanIDRef.Name}, plan)
		if kerrors.IsNotFound(err) {
			return planWish{Problem: problemf(v1alpha1.ReasonPlanMissing, "spec.forProvider.subscriptionPlanIdRef names SubscriptionPlan %q, which does not exist in namespace %q; create it, or name another or none", p.SubscriptionPlanIDRef.Name, cr.GetNamespace())}, nil
		}
		if err != nil {
			return planWish{}, errors.Wrap(err, "cannot read the SubscriptionPlan")
		}
	case p.SubscriptionPlanIDSelector != nil:
		l := &v1alpha1.SubscriptionPlanList{}
		if err := e.kube.List(ctx, l, client.InNamespace(cr.GetNamespace()), client.MatchingLabels(p.SubscriptionPlanIDSelector.MatchLabels)); err != nil {
			return planWish{}, errors.Wrap(err, "cannot list SubscriptionPlans")
		}
		chosen := choose(cr, p.SubscriptionPlanIDSelector, l.Items, func(s *v1alpha1.SubscriptionPlan) bool {
			// Where the choice was lost, the plan in force tells it.
			return s.GetName() == choice || choice == "" && s.Status.AtProvider.ID != "" && s.Status.AtProvider.ID == cr.Status.AtProvider.SubscriptionPlanID
		})
		if chosen == nil {
			return planWish{Problem: problemf(v1alpha1.ReasonPlanMissing, "spec.forProvider.subscriptionPlanIdSelector matches no SubscriptionPlan in namespace %q; create one, or correct or remove the selector", cr.GetNamespace())}, nil
		}
		plan, w.Choice = chosen, chosen.GetName()
	default:
		return planWish{}, nil
	}

	switch {
	case plan.Status.AtProvider.ID == "":
		w.Pending = true
		w.Problem = problemf(v1alpha1.ReasonPlanPending, "waiting for SubscriptionPlan %q in namespace %q to be at the gateway", plan.GetName(), plan.GetNamespace())
	case !e.here(plan.Status.AtProvider.Endpoint):
		w.Problem = problemf(v1alpha1.ReasonPlanMissing, "SubscriptionPlan %q in namespace %q is deployed at %s and this object at %s; a subscription and its plan must be at the same endpoint", plan.GetName(), plan.GetNamespace(), plan.Status.AtProvider.Endpoint, e.at.Endpoint)
	default:
		w.ID = plan.Status.AtProvider.ID
	}
	return w, nil
}

// planNamed looks a plan up by its name at the gateway.
func (e *external) planNamed(ctx context.Context, name string) (planWish, error) {
	plans, err := e.gateway.ListSubscriptionPlans(ctx)
	if err != nil {
		// It must not keep a revocation from being sent.
		return planWish{Problem: problemOf(err)}, nil
	}
	for _, p := range plans {
		if p.PlanName == name {
			return planWish{ID: p.ID}, nil
		}
	}
	return planWish{Problem: problemf(v1alpha1.ReasonPlanMissing, "spec.forProvider.subscriptionPlanName is %q, and the gateway has no plan of that name; create it there, or name another or none", name)}, nil
}

// here tells whether an endpoint in the status of another managed resource is that
// of this gateway. One that was not reported yet is no reason to refuse.
func (e *external) here(endpoint string) bool {
	return endpoint == "" || endpoint == e.at.Endpoint
}

// choose one of several objects by a selector: the one that was chosen before if
// it still matches, else the one with the lowest name.
func choose[T any, P interface {
	*T
	client.Object
}](cr *v1alpha1.Subscription, s *v1alpha1.Selector, items []T, kept func(P) bool) P {
	var matching []P
	for i := range items {
		o := P(&items[i])
		if s.MatchControllerRef == nil || !*s.MatchControllerRef || sameController(cr, o) {
			matching = append(matching, o)
		}
	}
	if len(matching) == 0 {
		return nil
	}
	if i := slices.IndexFunc(matching, kept); i >= 0 {
		return matching[i]
	}
	return slices.MinFunc(matching, func(a, b P) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

func sameController(a, b client.Object) bool {
	ca, cb := metav1.GetControllerOf(a), metav1.GetControllerOf(b)
	return ca != nil && cb != nil && ca.UID == cb.UID
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// planNameOf returns the name of the plan with an ID, if a managed resource of the
// namespace is that plan. It is shown to people, and nothing depends on it.
func (e *external) planNameOf(ctx context.Context, namespace, id string) string {
	l := &v1alpha1.SubscriptionPlanList{}
	if err := e.kube.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{indexPlanID: id}); err != nil {
		return ""
	}
	for _, p := range l.Items {
		if e.here(p.Status.AtProvider.Endpoint) {
			return p.Status.AtProvider.PlanName
		}
	}
	return ""
}
