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
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// A reconciler decides whether, and how soon again, the runtime's reconciler is
// called for a managed resource.
type reconciler[T resource.ModernManaged] struct {
	environments

	kind    *Kind[T]
	client  client.Client
	runtime reconcile.Reconciler
	writes  *Writes
	clock   clock.PassiveClock
	log     logging.Logger
	poll    time.Duration

	lanes    *lanes
	pace     *pace
	holds    holds
	failures backoff
	requeues backoff

	// names remember the UID behind a name, to forget it once the name is gone.
	names names
}

// Reconcile a managed resource.
func (r *reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if ns := r.options.Namespaces; len(ns) > 0 && !slices.Contains(ns, req.Namespace) {
		return reconcile.Result{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	mg := r.kind.New()
	if err := r.client.Get(ctx, req.NamespacedName, mg); err != nil {
		if resource.IgnoreNotFound(err) == nil {
			r.forget(r.names.take(req.NamespacedName))
			r.pace.forget(req)
			r.options.Wakes.admit(r.looker(req.NamespacedName).Kind, r.lanes.forget(req, r.clock.Now()))
			r.options.Gateways.Ignore(r.looker(req.NamespacedName))
		}
		return reconcile.Result{}, resource.IgnoreNotFound(err)
	}
	uid := mg.GetUID()
	if before := r.names.set(req.NamespacedName, uid); before != uid {
		r.forget(before)
	}
	if lag := r.writes.Lag(mg); lag > 0 {
		return reconcile.Result{RequeueAfter: lag}, nil
	}

	awaited, d := r.pace.begin(req, lookOf(mg, 0).Urgent)
	if d > 0 {
		return atLeisure(d), nil
	}
	p, lane := &pass{}, laneOf(mg)
	if !r.lanes.enter(lane, p, req, awaited, r.clock.Now()) {
		r.pace.postpone(req, awaited)
		return reconcile.Result{RequeueAfter: jitter(lanePause, 0.2)}, nil
	}
	defer func() {
		r.options.Wakes.admit(r.looker(req.NamespacedName).Kind, r.lanes.leave(lane, p, r.clock.Now()))
	}()
	ctx = connection.WithWait(withPass(ctx, p), func() func() { return p.waits.begin(r.clock.Now) })

	causes := ""
	if !meta.WasDeleted(mg) {
		causes = r.causes(ctx, mg)
		if wait, held := r.holds.remaining(uid, causes, r.clock.Now()); held {
			if !r.guard(ctx, mg) {
				return atLeisure(r.untilNextLook(wait)), nil
			}
		}
	}

	res, err := r.runtime.Reconcile(ctx, req)
	if err != nil {
		// The API server, not the gateway: the work queue backs off.
		return reconcile.Result{}, err
	}
	return r.next(mg, causes, res, p), nil
}

// next is when the managed resource is looked at again.
func (r *reconciler[T]) next(mg T, causes string, res reconcile.Result, p *pass) reconcile.Result {
	uid := mg.GetUID()
	var refused *refusal
	if errors.As(p.err, &refused) && !meta.WasDeleted(mg) {
		r.requeues.forget(uid)
		wait := r.holds.refuse(uid, causes, r.clock.Now(), refused.atMost)
		r.options.Metrics.HeldOff(gateway.Kind(r.kind.GroupVersionKind.Kind))
		return atLeisure(soon(r.untilNextLook(wait)))
	}
	if p.err != nil {
		r.requeues.forget(uid)
		if observation.IsShared(p.err) {
			// It is woken as soon as the gateway can be read again.
			return atLeisure(jitter(maxHold, 0.2))
		}
		if d, ok := retryAfter(p.err); ok {
			// Never before that: all who are waiting would only be told to wait on.
			return reconcile.Result{RequeueAfter: soon(d + jitter(d/20, 1))}
		}
		return reconcile.Result{RequeueAfter: r.failures.next(uid)}
	}
	r.holds.forget(uid)
	r.failures.forget(uid)
	if res.Requeue { //nolint:staticcheck // The runtime asks for another pass this way.
		return reconcile.Result{RequeueAfter: r.requeues.next(uid)}
	}
	r.requeues.forget(uid)
	polled := r.kind.Polled != nil && r.kind.Polled(mg)
	if p.settled && !polled && r.options.Gateways.Watches(r.looker(client.ObjectKeyFromObject(mg))) {
		// It is woken when what it looks at changes.
		return atLeisure(jitter(r.options.ResyncInterval, 0.2))
	}
	return atLeisure(res.RequeueAfter)
}

// atLeisure is another look after a while, behind what somebody waits for then. After no
// time at all it is none.
func atLeisure(d time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: d, Priority: new(handler.LowPriority)}
}

// looker is a managed resource as one that looks at a gateway.
func (r *reconciler[T]) looker(name types.NamespacedName) connection.Looker {
	return connection.Looker{Kind: gateway.Kind(r.kind.GroupVersionKind.Kind), Name: name}
}

// soon is a duration, or the shortest there is: the work queue takes none at all
// for never.
func soon(d time.Duration) time.Duration { return max(d, time.Millisecond) }

// untilNextLook is how long to wait while a managed resource is left alone: until
// that ends, or until the guard is due.
func (r *reconciler[T]) untilNextLook(wait time.Duration) time.Duration {
	if r.kind.Guard == nil {
		return wait
	}
	return min(wait, jitter(r.poll, 0.1))
}

// guard takes care of what cannot wait until a hold ends. It returns true if the
// managed resource shall be reconciled although it is held.
func (r *reconciler[T]) guard(ctx context.Context, mg T) bool {
	if r.kind.Guard == nil {
		return false
	}
	env, err := r.Environment(ctx, mg)
	if err != nil {
		return false
	}
	now, err := r.kind.Guard(ctx, mg, env)
	if err != nil {
		r.log.Debug("Cannot guard a refused managed resource", "namespace", mg.GetNamespace(), "name", mg.GetName(), "error", err)
	}
	return now
}

// causes describe everything that could cure a refusal.
func (r *reconciler[T]) causes(ctx context.Context, mg T) string {
	a := mg.GetAnnotations()
	causes := []string{
		fmt.Sprint(mg.GetGeneration()),
		a[meta.AnnotationKeyExternalName],
		a[meta.AnnotationKeyReconcileRequestedAt],
		a[meta.AnnotationKeyReconciliationPaused],
		a[gatewayv1alpha1.AnnotationRotateToken],
		a[gatewayv1alpha1.AnnotationBaseline],
	}
	if gw, err := gatewayFor(ctx, r.options.Gateways, mg); err != nil {
		causes = append(causes, err.Error())
	} else {
		causes = append(causes, gw.ConfigVersion(), string(gw.Generation()))
	}
	if r.kind.Secrets != nil {
		for _, name := range r.kind.Secrets(mg) {
			s := &metav1.PartialObjectMetadata{}
			s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			if err := r.cache.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: name}, s); err != nil {
				causes = append(causes, name)
				continue
			}
			causes = append(causes, name, string(s.GetUID()), s.GetResourceVersion())
		}
	}
	if r.kind.Causes != nil {
		causes = append(causes, r.kind.Causes(ctx, mg))
	}
	return strings.Join(causes, "\n")
}

// forget all that is remembered of a managed resource.
func (r *reconciler[T]) forget(uid types.UID) {
	if uid == "" {
		return
	}
	r.holds.forget(uid)
	r.failures.forget(uid)
	r.requeues.forget(uid)
	r.writes.Forget(uid)
	if r.kind.Forget != nil {
		r.kind.Forget(uid)
	}
}
