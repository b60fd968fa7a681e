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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// A controller is what all Subscriptions share.
type controller struct {
	memories   *memories
	claims     *ownership.Claims
	incumbents ownership.Incumbents
	contests   contest.Contests

	turns turns

	missing missingAPIs

	now func() time.Time
	// started is when this process began.
	started time.Time
}

// connect returns the external client for one pass over a Subscription.
func (c *controller) connect(ctx context.Context, cr *v1alpha1.Subscription, env kind.Environment) (*external, error) {
	at, err := target.Of(ctx, env.Kube, env.Gateway)
	if err != nil {
		return nil, err
	}
	return &external{
		controller: c,
		gateway:    env.Gateway,
		lookAs:     env.Look,
		confirming: env.Confirming,
		at:         at,
		kube:       env.Kube,
		cache:      env.Cache,
		recorder:   env.Recorder,
		policies:   env.Policies,
		poll:       env.Options.PollInterval,
		metrics:    env.Options.Metrics,
		memory:     c.memories.of(string(cr.GetUID())),
	}, nil
}

// release what was claimed for a managed resource.
func (c *controller) release(uid types.UID) {
	c.claims.ReleaseAll(uid)
	c.turns.end(uid, c.now())
}

// An external is the external client for one pass over one Subscription. What
// Observe finds out is kept for what follows in the same pass.
type external struct {
	*controller

	gateway *connection.Gateway
	lookAs  connection.Look
	// confirming is whether the cache may not show yet what was recorded.
	confirming bool
	at         target.Target
	kube       client.Client
	cache      client.Reader
	recorder   event.Recorder
	policies   managed.ManagementPoliciesChecker
	poll       time.Duration
	metrics    *metrics.Metrics
	memory     *memory

	baseline *record.Baseline
	attempt  *record.Attempt
	wish     wish
	tokenNow token

	// moved is the problem with the external-name, if it does not name what is held.
	moved *problem

	// observed is the subscription as it was read, and update what is to be done
	// about it.
	observed *gateway.Subscription
	update   update

	// awaited is when it was this object's turn, and what was there was listed after.
	awaited time.Time

	// lastStatus is the status a subscription that vanished was last seen with.
	lastStatus string

	// recovered is what an earlier attempt created, if its answer was lost.
	recovered *gateway.Subscription

	// unanswered is true if an earlier attempt may still have created something, and
	// pending if it may even be carried out only now.
	unanswered, pending bool
}

// Disconnect does nothing: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// read what a Subscription remembers of itself.
func (e *external) read(cr *v1alpha1.Subscription) error {
	b, err := baselineFrom(cr)
	if err != nil {
		return problemf(v1alpha1.ReasonNewerBaseline, "%s", err.Error())
	}
	a, err := record.ReadAttempt(cr)
	if err != nil {
		return problemf(v1alpha1.ReasonNewerBaseline, "%s", err.Error())
	}
	e.baseline, e.attempt = b, a
	return nil
}
