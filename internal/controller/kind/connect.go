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

package kind

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A pass carries what one pass over a managed resource told about itself, from
// the external client up to the reconciler that wraps the runtime's.
type pass struct {
	err error
	// settled is whether it was found that there is nothing to do.
	settled bool
	// creating is whether the runtime stores next that a create is pending.
	creating bool
	// created is whether there is something since.
	created bool
	// waits for the gateway.
	waits waits
}

type passKey struct{}

func withPass(ctx context.Context, p *pass) context.Context {
	return context.WithValue(ctx, passKey{}, p)
}

// passOf is the pass of a context. What is told to one that is nobody's is lost.
func passOf(ctx context.Context) *pass {
	if p, ok := ctx.Value(passKey{}).(*pass); ok {
		return p
	}
	return &pass{}
}

// note the error of a pass, if it has one.
func note(ctx context.Context, err error) {
	if err != nil {
		passOf(ctx).err = err
	}
}

// A Connector finds the gateway of a managed resource and hands it to the kind.
type Connector[T resource.ModernManaged] struct {
	environments

	kind  *Kind[T]
	usage resource.ModernTracker
}

// Connector returns one for the kind.
func (k *Kind[T]) Connector(kube client.Client, cache client.Reader, recorder event.Recorder, usage resource.ModernTracker, o Options) *Connector[T] {
	return &Connector[T]{environments: environments{kube: kube, cache: cache, recorder: recorder, options: o}, kind: k, usage: usage}
}

// Connect a managed resource to its gateway.
func (c *Connector[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	if meta.WasDeleted(mg) && !c.kind.Holds(mg) {
		return nothing[T]{}, nil
	}
	external, policies, err := c.connect(ctx, mg)
	if connection.ProblemOf(err) != "" {
		err = Refuse(err)
	}
	note(ctx, err)
	if err != nil {
		// Nothing can be seen, so nothing is known.
		conditions.Set(mg, conditions.Unknown(err))
		return nil, err
	}
	return &noting[T]{TypedExternalClient: external, policies: policies, closer: c.closer, conflicted: func() {
		c.options.Metrics.Conflicted(gateway.Kind(c.kind.GroupVersionKind.Kind))
	}}, nil
}

func (c *Connector[T]) connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], managed.ManagementPoliciesChecker, error) {
	if !meta.WasDeleted(mg) {
		// The cache may not show yet what an earlier pass recorded.
		if err := c.usage.Track(ctx, mg); err != nil && !kerrors.IsAlreadyExists(err) {
			return nil, nil, errors.Wrap(err, "cannot record the use of a configuration")
		}
	}
	env, err := c.Environment(ctx, mg)
	if err != nil {
		return nil, nil, err
	}
	external, err := c.kind.Client(ctx, mg, env)
	return external, env.Policies, err
}

// closer returns an external client that looks at the object itself, if the usual one
// does not.
func (c *Connector[T]) closer(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	env, err := c.Environment(ctx, mg)
	if err != nil || !env.Gateway.Observed() || env.Look == closer(env.Look) {
		return nil, err
	}
	env.Look = closer(env.Look)
	return c.kind.Client(ctx, mg, env)
}

// environments make the environment of each pass.
type environments struct {
	kube     client.Client
	cache    client.Reader
	recorder event.Recorder
	options  Options
}

// Environment of a pass over a managed resource.
func (e environments) Environment(ctx context.Context, mg resource.ModernManaged) (Environment, error) {
	gw, err := gatewayFor(ctx, e.options.Gateways, mg)
	if err != nil {
		return Environment{}, err
	}
	return Environment{
		Gateway:  gw,
		Look:     lookOf(mg, e.options.MinPollInterval),
		Kube:     e.kube,
		Cache:    e.cache,
		Recorder: e.recorder,
		Policies: managed.NewManagementPoliciesResolver(e.options.Features.Enabled(feature.EnableBetaManagementPolicies), mg.GetManagementPolicies()),
		Options:  e.options,
	}, nil
}

// gatewayFor a managed resource. One that is being deleted may use the last
// connection that worked, so that a configuration or Secret which is gone does
// not keep it.
func gatewayFor(ctx context.Context, gateways *connection.Pool, mg resource.ModernManaged) (*connection.Gateway, error) {
	ref := ConfigOf(mg)
	gw, err := gateways.For(ctx, ref, mg.GetNamespace())
	if err == nil {
		return gw, nil
	}
	if !meta.WasDeleted(mg) {
		return nil, err
	}
	if connection.IsUnusable(err) {
		if gw, ok := gateways.LastGood(ctx, ref, mg.GetNamespace()); ok {
			return gw, nil
		}
	}
	return nil, fmt.Errorf("%w; what this object holds at the gateway is kept until that is mended: restore it, or give up what is there by removing Delete from spec.managementPolicies", err)
}

// noting is an external client that notes the errors of another.
type noting[T resource.ModernManaged] struct {
	managed.TypedExternalClient[T]

	policies managed.ManagementPoliciesChecker

	// closer returns one that looks more closely, nil if there is none.
	closer func(ctx context.Context, mg T) (managed.TypedExternalClient[T], error)

	// conflicted is called when a managed resource begins to say that what it asks for is
	// taken.
	conflicted func()
}

// count a conflict that a managed resource tells of, if it did not before.
func (n *noting[T]) count(mg T, before bool) {
	if !before && conditions.RefusedAsTaken(mg) {
		n.conflicted()
	}
}

// Observe and note the error. What is about to be written is looked at itself before:
// what was read for all is not of this moment. An import is, and another look would
// not import any more.
func (n *noting[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	defer n.count(mg, conditions.RefusedAsTaken(mg))
	o, err := n.TypedExternalClient.Observe(ctx, mg)
	if err == nil && o.ResourceExists && !o.ResourceUpToDate && !o.ResourceLateInitialized {
		o, err = n.lookCloser(ctx, mg, o)
	}
	note(ctx, err)
	p := passOf(ctx)
	p.settled = err == nil && o.ResourceExists && o.ResourceUpToDate && !o.ResourceLateInitialized && settled(mg)
	p.creating = err == nil && !o.ResourceExists && !meta.WasDeleted(mg) && n.policies.ShouldCreate()
	return o, err
}

func (n *noting[T]) lookCloser(ctx context.Context, mg T, o managed.ExternalObservation) (managed.ExternalObservation, error) {
	c, err := n.closer(ctx, mg)
	if err != nil || c == nil {
		return o, err
	}
	n.TypedExternalClient = c
	return c.Observe(ctx, mg)
}

// Create and note the error.
func (n *noting[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	defer n.count(mg, conditions.RefusedAsTaken(mg))
	c, err := n.TypedExternalClient.Create(ctx, mg)
	note(ctx, err)
	passOf(ctx).created = err == nil
	return c, err
}

// Update and note the error.
func (n *noting[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	defer n.count(mg, conditions.RefusedAsTaken(mg))
	u, err := n.TypedExternalClient.Update(ctx, mg)
	note(ctx, err)
	return u, err
}

// Delete and note the error.
func (n *noting[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	d, err := n.TypedExternalClient.Delete(ctx, mg)
	note(ctx, err)
	return d, err
}

// nothing is the external client of a managed resource that is being deleted and
// holds nothing at any gateway.
type nothing[T resource.ModernManaged] struct{}

// Observe that there is nothing.
func (nothing[T]) Observe(context.Context, T) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

// Create is never called: the managed resource is being deleted.
func (nothing[T]) Create(context.Context, T) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update is never called: there is nothing.
func (nothing[T]) Update(context.Context, T) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, nil
}

// Delete is never called: there is nothing.
func (nothing[T]) Delete(context.Context, T) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect does nothing.
func (nothing[T]) Disconnect(context.Context) error { return nil }
