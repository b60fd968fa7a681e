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

package connection

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// A Look is who looks at an object of a gateway, and how closely.
type Look struct {
	// Who is woken from then on when the object changes.
	Who types.NamespacedName
	observation.Need
}

// Woken is called when something became of the objects that managed resources look at.
type Woken func(of gateway.Kind, cause observation.Cause, who []types.NamespacedName)

// An ObservedRestAPI is an API that was read.
type ObservedRestAPI struct {
	gateway.RestAPI

	// Listed is true if it was read as one of a list, which resolves $version.
	Listed bool
}

// ReadRestAPI reads an API for itself.
func ReadRestAPI(ctx context.Context, c *gateway.Client, handle string) (*ObservedRestAPI, error) {
	got, err := c.GetRestAPI(ctx, handle)
	if err != nil {
		return nil, err
	}
	return &ObservedRestAPI{RestAPI: *got}, nil
}

// observed is what is read of a gateway for all managed resources together.
type observed struct {
	subscriptions *observation.Shared[gateway.Subscription]
	plans         *observation.Shared[gateway.SubscriptionPlan]
	apis          *observation.Shared[ObservedRestAPI]
}

// observe a gateway through a client. Nothing is read before somebody looks.
func observe(c *gateway.Client, interval time.Duration, now func() time.Time, wake Woken) *observed {
	options := func(of gateway.Kind) observation.Options {
		return observation.Options{Interval: interval, Clock: passiveClock(now), Wake: func(cause observation.Cause, who []types.NamespacedName) { wake(of, cause, who) }}
	}
	return &observed{
		subscriptions: observation.New(observation.Source[gateway.Subscription]{
			List: func(ctx context.Context) ([]gateway.Subscription, error) {
				return c.ListSubscriptions(ctx, gateway.SubscriptionFilter{})
			},
			Get:    c.GetSubscription,
			ID:     func(s *gateway.Subscription) string { return s.ID },
			Absent: gateway.IsNotFound,
			Same:   func(a, b *gateway.Subscription) bool { return *a == *b },
		}, options(gateway.KindSubscription)),
		plans: observation.New(observation.Source[gateway.SubscriptionPlan]{
			List:   c.ListSubscriptionPlans,
			Get:    c.GetSubscriptionPlan,
			ID:     func(p *gateway.SubscriptionPlan) string { return p.ID },
			Absent: gateway.IsNotFound,
			Same:   func(a, b *gateway.SubscriptionPlan) bool { return reflect.DeepEqual(a, b) },
		}, options(gateway.KindSubscriptionPlan)),
		apis: observation.New(observation.Source[ObservedRestAPI]{
			List: func(ctx context.Context) ([]ObservedRestAPI, error) {
				listed, err := c.ListRestAPIs(ctx)
				out := make([]ObservedRestAPI, len(listed))
				for i := range listed {
					out[i] = ObservedRestAPI{RestAPI: listed[i], Listed: true}
				}
				return out, err
			},
			Get: func(ctx context.Context, handle string) (*ObservedRestAPI, error) {
				return ReadRestAPI(ctx, c, handle)
			},
			ID:     func(a *ObservedRestAPI) string { return a.Metadata.Name },
			Absent: gateway.IsNotFound,
			Same:   sameAPI,
		}, options(gateway.KindRestAPI)),
	}
}

// A passiveClock tells the time.
type passiveClock func() time.Time

// Now is the time.
func (c passiveClock) Now() time.Time { return c() }

// Since is how long ago a time was.
func (c passiveClock) Since(t time.Time) time.Duration { return c().Sub(t) }

// sameAPI tells whether two readings of an API are equal, however they were made.
func sameAPI(a, b *ObservedRestAPI) bool {
	x, y := a.RestAPI, b.RestAPI
	if a.Listed != b.Listed {
		x.Spec.Context, y.Spec.Context = x.Spec.ResolvedContext(), y.Spec.ResolvedContext()
	}
	return reflect.DeepEqual(x, y)
}

// A reading is one of what is read of a gateway, of whatever kind.
type reading interface {
	Writing(id string) (done func())
	Forget(who types.NamespacedName)
	Refresh(ctx context.Context)
	Age() (age time.Duration, ok bool)
}

func (o *observed) readings() map[gateway.Kind]reading {
	return map[gateway.Kind]reading{
		gateway.KindSubscription:     o.subscriptions,
		gateway.KindSubscriptionPlan: o.plans,
		gateway.KindRestAPI:          o.apis,
	}
}

// writing tells that a call begins, and returns a function that tells that it ended.
func (o *observed) writing(c gateway.Call) func() {
	if o == nil || c.ID == "" || !c.Verb.Writes() {
		return func() {}
	}
	return o.readings()[c.Kind].Writing(c.ID)
}

func (o *observed) refresh(ctx context.Context) {
	var wg sync.WaitGroup
	for _, r := range o.readings() {
		wg.Go(func() { r.Refresh(ctx) })
	}
	wg.Wait()
}

// ages of what is looked at, by kind.
func (o *observed) ages() map[gateway.Kind]time.Duration {
	out := map[gateway.Kind]time.Duration{}
	if o == nil {
		return out
	}
	for of, r := range o.readings() {
		if age, ok := r.Age(); ok {
			out[of] = age
		}
	}
	return out
}

// forget a managed resource that looks elsewhere, or nowhere, by now.
func (o *observed) forget(who Looker) { o.readings()[who.Kind].Forget(who.Name) }

// Observed tells whether one reading of the gateway serves all who look at it.
func (g *Gateway) Observed() bool { return g.link.observed != nil }

// ObserveSubscription returns the subscription with an ID as it was read for all who
// look at one, or if need be for this one alone.
func (g *Gateway) ObserveSubscription(ctx context.Context, l Look, id string) (*gateway.Subscription, error) {
	if g.link.observed == nil {
		return g.GetSubscription(ctx, id)
	}
	answered := waiting(ctx)
	defer answered()
	g.link.pool.lookers.move(Looker{gateway.KindSubscription, l.Who}, g.link.observed)
	return g.link.observed.subscriptions.Get(ctx, l.Who, id, l.Need)
}

// ObserveSubscriptionPlan returns the plan with an ID in the same way.
func (g *Gateway) ObserveSubscriptionPlan(ctx context.Context, l Look, id string) (*gateway.SubscriptionPlan, error) {
	if g.link.observed == nil {
		return g.GetSubscriptionPlan(ctx, id)
	}
	answered := waiting(ctx)
	defer answered()
	g.link.pool.lookers.move(Looker{gateway.KindSubscriptionPlan, l.Who}, g.link.observed)
	return g.link.observed.plans.Get(ctx, l.Who, id, l.Need)
}

// ObserveRestAPI returns the API with a handle in the same way.
func (g *Gateway) ObserveRestAPI(ctx context.Context, l Look, handle string) (*ObservedRestAPI, error) {
	if g.link.observed == nil {
		return ReadRestAPI(ctx, g.Client, handle)
	}
	answered := waiting(ctx)
	defer answered()
	g.link.pool.lookers.move(Looker{gateway.KindRestAPI, l.Who}, g.link.observed)
	return g.link.observed.apis.Get(ctx, l.Who, handle, l.Need)
}

// A Looker is a managed resource that looks at something of a gateway.
type Looker struct {
	Kind gateway.Kind
	Name types.NamespacedName
}

// lookers know through which connection each managed resource looks, so that it does
// through one only.
type lookers struct {
	mu sync.Mutex
	at map[Looker]*observed
}

// move a looker to a connection; to none if that is nil.
func (l *lookers) move(who Looker, to *observed) {
	l.mu.Lock()
	was := l.at[who]
	if l.at == nil {
		l.at = map[Looker]*observed{}
	}
	if l.at[who] = to; to == nil {
		delete(l.at, who)
	}
	l.mu.Unlock()
	if was != nil && was != to {
		was.forget(who)
	}
}

// Watches tells whether a managed resource is woken when what it looks at changes.
func (p *Pool) Watches(who Looker) bool {
	p.lookers.mu.Lock()
	defer p.lookers.mu.Unlock()
	return p.lookers.at[who] != nil
}

// Ignore a managed resource that is gone.
func (p *Pool) Ignore(who Looker) { p.lookers.move(who, nil) }

// Observe the gateways of all configurations until the context is done. Each is read
// when that is due, and if somebody looks at what it has.
func (p *Pool) Observe(ctx context.Context) error {
	if p.o.DriftInterval <= 0 {
		return nil
	}
	// One that does not answer keeps no other one waiting.
	var busy sync.Map
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(max(time.Millisecond, min(observeTick, p.o.DriftInterval/20)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, o := range p.observed() {
			if _, running := busy.LoadOrStore(o, nil); running {
				continue
			}
			all.Go(func() {
				defer busy.Delete(o)
				o.refresh(ctx)
			})
		}
	}
}

// observeTick is how often it is looked whether something has to be read, if the
// interval is not so short that it would be looked too late.
const observeTick = 500 * time.Millisecond

// observed returns what is read of each gateway, but of none whose configuration is
// broken: what is no longer said there is not used for longer.
func (p *Pool) observed() []*observed {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*observed
	for _, e := range p.entries {
		if e.gateway != nil && e.gateway.link.observed != nil {
			out = append(out, e.gateway.link.observed)
		}
	}
	return out
}
