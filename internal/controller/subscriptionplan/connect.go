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
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
)

// An api is what is asked of a gateway.
type api interface {
	ListSubscriptionPlans(ctx context.Context) ([]gateway.SubscriptionPlan, error)
	// ObserveSubscriptionPlan returns a plan as it was read for all, or if need be for this
	// pass.
	ObserveSubscriptionPlan(ctx context.Context, l connection.Look, id string) (*gateway.SubscriptionPlan, error)
	CreateSubscriptionPlan(ctx context.Context, p gateway.SubscriptionPlanWrite) (*gateway.SubscriptionPlan, error)
	UpdateSubscriptionPlan(ctx context.Context, id string, p gateway.SubscriptionPlanWrite) (*gateway.SubscriptionPlan, error)
	DeleteSubscriptionPlan(ctx context.Context, id string) error
	ListSubscriptions(ctx context.Context, f gateway.SubscriptionFilter) ([]gateway.Subscription, error)
}

// memory is what the passes over all SubscriptionPlans share.
type memory struct {
	// started is when this process began.
	started    time.Time
	claims     ownership.Claims
	incumbents ownership.Incumbents
	contests   contest.Contests
}

// connect returns the client for one pass.
func connect(ctx context.Context, env kind.Environment, m *memory) (*external, error) {
	at, err := target.Of(ctx, env.Kube, env.Gateway)
	if err != nil {
		return nil, errors.Wrap(err, "cannot get the configuration")
	}
	return &external{
		api:        env.Gateway,
		lookAs:     env.Look,
		confirming: env.Confirming,
		at:         at,
		kube:       env.Kube,
		policies:   env.Policies,
		events:     env.Recorder,
		now:        env.Options.Clock.Now,
		poll:       env.Options.PollInterval,
		metrics:    env.Options.Metrics,
		memory:     m,
	}, nil
}

// An external is the client for one pass over one managed resource.
type external struct {
	api

	lookAs connection.Look
	// confirming is whether the cache may not show yet what was recorded.
	confirming bool
	at         target.Target
	kube       client.Client
	policies   managed.ManagementPoliciesChecker
	events     event.Recorder
	now        func() time.Time
	poll       time.Duration
	metrics    *metrics.Metrics
	memory     *memory

	// found is what Observe found, for what is done next.
	found *finding
}

var _ managed.TypedExternalClient[*v1alpha1.SubscriptionPlan] = &external{}

// Disconnect does nothing: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }
