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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Delete the plan. Observe has just read it and found that it is held. While
// subscriptions use it the gateway does not delete it; that is tried again until
// they are gone.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.SubscriptionPlan) (managed.ExternalDelete, error) {
	f := e.found
	if f == nil || f.got == nil || f.verdict.action != manage {
		return managed.ExternalDelete{}, errors.New("cannot delete a plan that is not known to be held")
	}
	err := e.DeleteSubscriptionPlan(ctx, f.got.ID)
	switch {
	case err == nil, gateway.IsNotFound(err):
		if f.how != byAttempt {
			return managed.ExternalDelete{}, nil
		}
		refused(mg)
		return managed.ExternalDelete{}, kind.RecordDeleted(ctx, e.kube, mg)
	case gateway.ReasonOf(err) != gateway.ReasonInUse:
		return managed.ExternalDelete{}, err
	}
	// A legacy gateway answers this like any failure of its database, so it is
	// looked up.
	n, uses := 0, "subscriptions"
	subs, listErr := e.ListSubscriptions(ctx, gateway.SubscriptionFilter{})
	if listErr != nil {
		return managed.ExternalDelete{}, listErr
	}
	for _, s := range subs {
		if s.SubscriptionPlanID == f.got.ID {
			n++
		}
	}
	if n == 0 {
		return managed.ExternalDelete{}, err
	}
	if n == 1 {
		uses = "subscription"
	}
	return managed.ExternalDelete{}, errors.Errorf("the plan is in use by %d %s and is deleted once they are gone or have another plan", n, uses)
}
