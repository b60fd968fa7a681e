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

package restapi

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// plans are the names of the plans an API shall have. While a reference leads
// nowhere, reason and message say why, and names is not the whole list.
type plans struct {
	names   []string
	reason  xpv2.ConditionReason
	message string
}

func (p plans) unresolved() bool { return p.reason != "" }

// resolvePlans follows the references to plans. A plan has a name to refer to
// once it is at the gateway: until then another plan of that name may be there.
func resolvePlans(ctx context.Context, c client.Reader, mg *v1alpha1.RestApi, endpoint string) (plans, error) {
	p := mg.Spec.ForProvider
	out := plans{}
	for _, n := range p.SubscriptionPlans {
		out.names = append(out.names, string(n))
	}
	for i, ref := range p.SubscriptionPlanRefs {
		plan := &v1alpha1.SubscriptionPlan{}
		err := c.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: ref.Name}, plan)
		if kerrors.IsNotFound(err) {
			out.fail(v1alpha1.ReasonPlanMissing, fmt.Sprintf("spec.forProvider.subscriptionPlanRefs[%d]: there is no SubscriptionPlan %q in this namespace", i, ref.Name))
			continue
		}
		if err != nil {
			return plans{}, errors.Wrap(err, "cannot get SubscriptionPlan")
		}
		at := plan.Status.AtProvider
		switch {
		case at.ID == "" || at.PlanName == "":
			out.fail(v1alpha1.ReasonPlanPending, fmt.Sprintf("spec.forProvider.subscriptionPlanRefs[%d]: SubscriptionPlan %q is not at the gateway yet", i, ref.Name))
		case at.Endpoint != endpoint:
			out.fail(v1alpha1.ReasonRefused, fmt.Sprintf("spec.forProvider.subscriptionPlanRefs[%d]: SubscriptionPlan %q is on another gateway", i, ref.Name))
		default:
			out.names = append(out.names, at.PlanName)
		}
	}
	slices.Sort(out.names)
	out.names = slices.Compact(out.names)
	return out, nil
}

// fail keeps the first failure.
func (p *plans) fail(reason xpv2.ConditionReason, message string) {
	if p.reason == "" {
		p.reason, p.message = reason, message
	}
}
