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

package providerconfig

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
)

// finalizer keeps a configuration while it is in use. It is the one every
// Crossplane provider uses for that.
const finalizer = "in-use.crossplane.io"

// seenResolution is how often the time the gateway was last seen is written while it
// answers: it must cost next to nothing to say that nothing happened.
const seenResolution = time.Hour

// A config is a ProviderConfig or a ClusterProviderConfig.
type config interface {
	resource.Object
	resource.Conditioned
	resource.UserCounter
	GetGatewayStatus() *v1alpha1.GatewayStatus
	SetGatewayStatus(s *v1alpha1.GatewayStatus)
}

type reconciler struct {
	kind     string
	new      func() config
	client   client.Client
	gateways *connection.Pool
	users    *kind.Users
	writes   *kind.Writes
	clock    clock.PassiveClock
	poll     time.Duration
	// namespaces whose configurations are looked after; all if empty.
	namespaces []string
}

// Reconcile a configuration.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.Namespace != "" && len(r.namespaces) > 0 && !slices.Contains(r.namespaces, req.Namespace) {
		// Whoever looks after its managed resources looks after it too.
		return reconcile.Result{}, nil
	}
	ref := connection.Ref{Kind: r.kind, Namespace: req.Namespace, Name: req.Name}
	pc := r.new()
	missing := r.client.Get(ctx, req.NamespacedName, pc)
	if resource.IgnoreNotFound(missing) != nil {
		return reconcile.Result{}, errors.Wrap(missing, "cannot read the provider config")
	}
	if lag := r.writes.Lag(pc); missing == nil && lag > 0 {
		return reconcile.Result{RequeueAfter: lag}, nil
	}
	users, err := r.users.Count(ctx, ref)
	if err != nil {
		return reconcile.Result{}, err
	}
	if missing != nil {
		if users == 0 {
			r.gateways.Forget(ref)
		}
		return reconcile.Result{}, nil
	}
	pc.SetUsers(int64(users))

	if meta.WasDeleted(pc) {
		return r.delete(ctx, ref, pc, users)
	}
	if !meta.FinalizerExists(pc, finalizer) {
		meta.AddFinalizer(pc, finalizer)
		if err := r.patchFinalizers(ctx, pc); err != nil {
			return failed(err)
		}
	}

	cause := r.probe(ctx, ref)
	health, _ := r.gateways.Health(ref)
	pc.SetGatewayStatus(gatewayStatus(known(pc), health))
	pc.SetConditions(kept(pc, conditions(pc.GetGeneration(), health, cause))...)
	if err := r.client.Status().Update(ctx, pc); err != nil {
		return failed(errors.Wrap(err, "cannot update the status of the provider config"))
	}
	return reconcile.Result{RequeueAfter: r.poll}, nil
}

// cacheLag is how soon a configuration is looked at again that was not written since
// the cache shows it older than it is.
const cacheLag = 20 * time.Millisecond

// failed is what follows from a write that failed. That somebody else wrote
// meanwhile is not worth an error, only another look.
func failed(err error) (reconcile.Result, error) {
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}
	return reconcile.Result{}, err
}

// probe the gateway, unless a managed resource's call did so lately. It returns
// what is wrong with the configuration itself.
func (r *reconciler) probe(ctx context.Context, ref connection.Ref) error {
	gw, err := r.gateways.ForConfig(ctx, ref)
	if err != nil {
		return err
	}
	health, ok := r.gateways.Health(ref)
	healthy := ok && health.Reachable.Status == connection.StatusTrue && health.Authenticated.Status == connection.StatusTrue && health.Authorized.Status == connection.StatusTrue
	if healthy && r.clock.Since(health.LastSeen) < r.poll {
		return nil
	}
	// What the call finds out is in the health, also if it fails.
	_ = gw.Probe(ctx)
	return nil
}

// delete a configuration once no managed resource refers to it. This is decided
// by who refers to it and not by records of use, which may be gone before their
// managed resources are when a namespace is deleted.
func (r *reconciler) delete(ctx context.Context, ref connection.Ref, pc config, users int) (reconcile.Result, error) {
	if users > 0 {
		pc.SetConditions(xpv2.Condition{
			Type: xpv2.TypeReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now(), Reason: xpv2.ReasonDeleting,
			Message: inUse(users, r.kind),
		})
		if err := r.client.Status().Update(ctx, pc); err != nil {
			return failed(errors.Wrap(err, "cannot update the status of the provider config"))
		}
		return reconcile.Result{RequeueAfter: inUsePoll}, nil
	}
	meta.RemoveFinalizer(pc, finalizer)
	if err := r.patchFinalizers(ctx, pc); resource.IgnoreNotFound(err) != nil {
		return failed(err)
	}
	r.writes.Forget(pc.GetUID())
	r.gateways.Forget(ref)
	return reconcile.Result{}, nil
}

// inUse says by how many managed resources a configuration is kept.
func inUse(users int, kind string) string {
	if users == 1 {
		return fmt.Sprintf("1 managed resource still refers to this %s; it goes once that is gone or refers to another one", kind)
	}
	return fmt.Sprintf("%d managed resources still refer to this %s; it goes once they are gone or refer to another one", users, kind)
}

// inUsePoll is how soon it is looked again whether a configuration that shall go
// is still in use.
const inUsePoll = 5 * time.Second

func (r *reconciler) patchFinalizers(ctx context.Context, pc config) error {
	return errors.Wrap(kind.PatchMetadata(ctx, r.client, pc, map[string]any{
		"finalizers":      pc.GetFinalizers(),
		"resourceVersion": pc.GetResourceVersion(),
	}), "cannot change the finalizers of the provider config")
}

// conditions of a configuration: what calls found out, and what follows for
// whether it can be used.
func conditions(generation int64, h connection.Health, cause error) []xpv2.Condition {
	of := func(t xpv2.ConditionType, f connection.Finding) xpv2.Condition {
		c := xpv2.Condition{Type: t, Status: corev1.ConditionStatus(f.Status), LastTransitionTime: metav1.Now(), Reason: xpv2.ConditionReason(f.Reason), Message: f.Message}
		if c.Status == "" {
			c.Status = corev1.ConditionUnknown
		}
		if c.Reason == "" {
			c.Reason = "Unknown"
		}
		return c.WithObservedGeneration(generation)
	}
	ready := usable(h)
	if cause != nil {
		ready = connection.Finding{Status: connection.StatusFalse, Reason: "Misconfigured", Message: cause.Error()}
	}
	return []xpv2.Condition{
		of(xpv2.TypeReady, ready),
		of(v1alpha1.TypeReachable, h.Reachable),
		of(v1alpha1.TypeAuthenticated, h.Authenticated),
		of(v1alpha1.TypeAuthorized, h.Authorized),
		of(v1alpha1.TypeWritable, h.Writable),
	}
}

// kept are conditions of which those that know nothing leave what is there, if it
// is about the configuration as it is now. It was found out before a restart, or by
// another process that looks after the same ClusterProviderConfig.
func kept(pc config, cs []xpv2.Condition) []xpv2.Condition {
	return slices.DeleteFunc(cs, func(c xpv2.Condition) bool {
		was := pc.GetCondition(c.Type)
		return c.Status == corev1.ConditionUnknown && c.Message == "" && was.Status != corev1.ConditionUnknown && was.ObservedGeneration == pc.GetGeneration()
	})
}

// usable tells whether a gateway can be used, and if not why: what is known to be
// wrong comes before what is not known.
func usable(h connection.Health) connection.Finding {
	needed := []connection.Finding{h.Reachable, h.Authenticated, h.Authorized}
	for _, stands := range []func(connection.Finding) bool{
		func(f connection.Finding) bool { return f.Status == connection.StatusFalse },
		func(f connection.Finding) bool { return f.Status != connection.StatusTrue && f.Message != "" },
		func(f connection.Finding) bool { return f.Status != connection.StatusTrue },
	} {
		if i := slices.IndexFunc(needed, stands); i >= 0 {
			return connection.Finding{Status: connection.StatusFalse, Reason: needed[i].Reason, Message: needed[i].Message}
		}
	}
	return connection.Finding{Status: connection.StatusTrue, Reason: string(xpv2.ReasonAvailable)}
}

// known is what the status says about the gateway, if it was written about the
// configuration as it is now: another endpoint may be another gateway.
func known(pc config) v1alpha1.GatewayStatus {
	if s := pc.GetGatewayStatus(); s != nil && pc.GetCondition(v1alpha1.TypeReachable).ObservedGeneration == pc.GetGeneration() {
		return *s
	}
	return v1alpha1.GatewayStatus{}
}

// gatewayStatus is what is known of a gateway. The time it was last seen moves in
// coarse steps while it is seen, is exact for who saw it go, and never goes back. What the
// status knows more than this process was learnt by another one: several can look after
// one ClusterProviderConfig, for different namespaces.
func gatewayStatus(was v1alpha1.GatewayStatus, h connection.Health) *v1alpha1.GatewayStatus {
	is := &v1alpha1.GatewayStatus{ID: h.GatewayID, Generation: v1alpha1.GatewayGeneration(h.Generation)}
	if is.ID == "" {
		is.ID = was.ID
	}
	if is.Generation == "" && is.ID == was.ID {
		is.Generation = was.Generation
	}
	if !h.LastSeen.IsZero() {
		seen := metav1.NewTime(h.LastSeen.UTC().Truncate(time.Second))
		is.LastSeen = &seen
	}
	lost := h.Reachable.Status == connection.StatusFalse
	if was.LastSeen != nil && (is.LastSeen == nil || is.LastSeen.Before(was.LastSeen) || !lost && is.LastSeen.Sub(was.LastSeen.Time) < seenResolution) {
		is.LastSeen = was.LastSeen
	}
	return is
}
