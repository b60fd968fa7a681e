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
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/contest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
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
		at:         at,
		kube:       env.Kube,
		cache:      env.Cache,
		recorder:   env.Recorder,
		policies:   env.Policies,
		now:        env.Options.Clock.Now,
		poll:       env.Options.PollInterval,
		memory:     c.memories.of(string(cr.GetUID())),
	}, nil
}

// release what was claimed for a managed resource.
func (c *controller) release(uid types.UID) {
	c.claims.ReleaseAll(uid)
	c.turns.end(uid)
}

// An external is the external client for one pass over one Subscription. What
// Observe finds out is kept for what follows in the same pass.
type external struct {
	*controller

	gateway  *connection.Gateway
	at       target.Target
	kube     client.Client
	cache    client.Reader
	recorder event.Recorder
	policies managed.ManagementPoliciesChecker
	now      func() time.Time
	poll     time.Duration
	memory   *memory

	baseline *record.Baseline
	attempt  *record.Attempt
	wish     wish
	tokenNow token

	// observed is the subscription as it was read, and update what is to be done
	// about it.
	observed *gateway.Subscription
	update   update

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

// holding is an object at this gateway.
func (e *external) holding(id, scope string) ownership.Holding {
	return ownership.Holding{ID: id, Endpoint: e.gateway.Endpoint().String(), GatewayID: e.gateway.GatewayID(), Scope: scope}
}

// recorded is the object that the baseline records.
func (e *external) recorded() ownership.Holding {
	b := e.baseline
	return ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
}

// othersHolding returns who else holds an object, by their records.
func (e *external) othersHolding(ctx context.Context, cr *v1alpha1.Subscription, h ownership.Holding) ([]ownership.Holder, error) {
	l := &v1alpha1.SubscriptionList{}
	if err := e.kube.List(ctx, l, client.MatchingFields{indexHolds: h.ID}); err != nil {
		return nil, errors.Wrap(err, "cannot list who holds a subscription")
	}
	var others []ownership.Holder
	for i := range l.Items {
		if o, ok := holderOf(&l.Items[i]); ok && o.UID != cr.GetUID() && o.Same(h) {
			others = append(others, o)
		}
	}
	return others, nil
}

// heldByOthers returns a function that tells whether somebody else holds an ID on
// this gateway, or has it reserved.
func (e *external) heldByOthers(ctx context.Context, cr *v1alpha1.Subscription, listed []gateway.Subscription) (func(id string) bool, error) {
	var held []string
	for _, s := range listed {
		h := e.holding(s.ID, s.APIID)
		others, err := e.othersHolding(ctx, cr, h)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 || e.claims.Reserved(h, cr.GetUID()) {
			held = append(held, s.ID)
		}
	}
	return func(id string) bool { return slices.Contains(held, id) }, nil
}

// holderOf is what a Subscription holds: what its baseline records, or for one
// that only observes what its status reports, which it does only if it was
// checked.
func holderOf(cr *v1alpha1.Subscription) (ownership.Holder, bool) {
	at := cr.Status.AtProvider
	h := ownership.Holder{UID: cr.GetUID(), Created: cr.GetCreationTimestamp()}
	b, err := baselineFrom(cr)
	switch {
	case err != nil:
		// Whatever a newer version recorded, it is held under the external name.
		h.Holding = ownership.Holding{ID: xpmeta.GetExternalName(cr), Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.APIInternalID}
	case b != nil:
		h.Holding = ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
	default:
		h.Holding = ownership.Holding{ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.APIInternalID}
	}
	// Status must name the gateway too: an ID alone may have been earned at another.
	h.Reported = at.ID != "" && at.ID == h.ID && at.Endpoint == h.Endpoint
	return h, h.ID != ""
}
