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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
)

const (
	// reconcileTimeout bounds what the runtime does in one pass over a managed
	// resource. A gateway's time-out is at most one minute.
	reconcileTimeout = 3 * time.Minute

	// passTimeout bounds all of a pass. The runtime has some time to write status
	// after its own ran out.
	passTimeout = reconcileTimeout + time.Minute
)

// Options are what all kinds have in common.
type Options struct {
	controller.Options

	// MinPollInterval is the shortest interval the annotation
	// crossplane.io/poll-interval can ask for.
	MinPollInterval time.Duration

	// ResyncInterval is the longest a managed resource is not looked at.
	ResyncInterval time.Duration

	// Namespaces are those whose managed resources are reconciled; all if empty.
	Namespaces []string

	// ClusterID names this cluster in ownership marks at the gateway.
	ClusterID string

	// NamespaceLabels tells that the labels of namespaces may be watched.
	NamespaceLabels bool

	// Gateways are the connections to gateways.
	Gateways *connection.Pool

	// Wakes bring what was seen at gateways to the kinds.
	Wakes *Wakes

	// Users know which managed resources refer to a configuration.
	Users *Users

	// Writes are what the manager's client remembers of its writes.
	Writes *Writes

	// Metrics count what happens.
	Metrics *metrics.Metrics

	// Clock tells the time.
	Clock clock.PassiveClock

	// IndexConfigs indexes the configurations, whoever calls it first.
	IndexConfigs func() error

	// Mapper finds out which kinds the API server tells of.
	Mapper apimeta.RESTMapper

	// Absent are the kinds that are not activated.
	Absent *Absent

	// Startup adds the controllers, as long as the manager does not end.
	Startup *Startup

	// Fail ends the provider: without one of its controllers it would seem to work.
	Fail func(error)
}

// Once the CRDs of the given kinds, and of the configurations that all kinds need,
// are there, calls a function. If the provider may not see which CRDs are there, it
// is called now.
func (o Options) Once(call func() error, kinds ...schema.GroupVersionKind) error {
	if o.Gate == nil {
		return call()
	}
	kinds = append(kinds, v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind, v1alpha1.ProviderConfigUsageGroupVersionKind)
	o.Gate.Register(func() {
		o.Startup.awaitDiscovery(o.Mapper, kinds)
		if err := o.Startup.Do(call); err != nil {
			o.Fail(err)
		}
	}, kinds...)
	return nil
}

// An Environment is what an external client works with during one pass over a
// managed resource.
type Environment struct {
	// Gateway the managed resource refers to.
	Gateway *connection.Gateway

	// Kube reads managed resources from the cache, and Secrets from the API server.
	Kube client.Client

	// Cache reads the metadata of Secrets, without asking the API server.
	Cache client.Reader

	// Recorder of events about the managed resource.
	Recorder event.Recorder

	// Look is how the managed resource looks at the gateway.
	Look connection.Look

	// Confirming means that the managed resource is as a pass leaves it: the cache may not
	// show yet what was recorded.
	Confirming bool

	// Policies the managed resource is under.
	Policies managed.ManagementPoliciesChecker

	// Options of the kind.
	Options Options
}

// A Kind describes a kind of managed resource.
type Kind[T resource.ModernManaged] struct {
	// GroupVersionKind of the managed resource.
	GroupVersionKind schema.GroupVersionKind

	// New returns an empty managed resource.
	New func() T

	// NewList returns an empty list of managed resources.
	NewList func() resource.ManagedList

	// Client returns the external client for one pass over a managed resource.
	Client func(ctx context.Context, mg T, env Environment) (managed.TypedExternalClient[T], error)

	// Holds tells whether a managed resource may hold anything at a gateway. One
	// that holds nothing is deleted without asking any gateway.
	Holds func(mg T) bool

	// Secrets are the names of the Secrets in its own namespace that a managed
	// resource uses. Optional.
	Secrets func(mg T) []string

	// Causes describe the state of whatever else a managed resource depends on, as
	// far as it is known without asking a gateway: a refused one is tried again at
	// once when they change. Optional.
	Causes func(ctx context.Context, mg T) string

	// Guard is called for a managed resource that is left alone since it was refused,
	// once a poll interval and whenever it is woken. It finds out whether there is
	// something that cannot wait for that to end, and returns true if the managed
	// resource shall be reconciled now.
	// Optional.
	Guard func(ctx context.Context, mg T, env Environment) (bool, error)

	// Polled tells whether a managed resource depends on more at its gateway than the
	// object it looks at, for whose changes it is woken. Optional.
	Polled func(mg T) bool

	// Forget is called when a managed resource is gone. Optional.
	Forget func(uid types.UID)

	// Needs are the other kinds that it refers to or watches. Those that are not
	// activated have no objects, and are watched once they are.
	Needs []schema.GroupVersionKind

	// Index adds field indexes. Optional.
	Index func(ctx context.Context, indexer client.FieldIndexer) error

	// Watch adds watches to those every kind has. Optional.
	Watch func(w Watches)
}

// Setup adds a controller for the kind, once its CRD is there.
func (k *Kind[T]) Setup(mgr ctrl.Manager, o Options) error {
	o.Users.set(k.GroupVersionKind.GroupKind(), k.usersLive(mgr.GetAPIReader()))
	return o.Once(func() error {
		// What is there when a provider starts must not seem to be missing until it is
		// first heard of.
		served, err := o.Absent.await(o, k.Needs...)
		if err != nil {
			return errors.Wrapf(err, "cannot find out which kinds are there for %s", k.GroupVersionKind.Kind)
		}
		return o.Once(func() error {
			return errors.Wrapf(k.setup(mgr, o), "cannot set up the controller of %s", k.GroupVersionKind.Kind)
		}, served...)
	}, k.GroupVersionKind)
}

func (k *Kind[T]) setup(mgr ctrl.Manager, o Options) error {
	name := managed.ControllerName(k.GroupVersionKind.GroupKind().String())
	ctx := context.Background()

	if err := o.IndexConfigs(); err != nil {
		return err
	}
	if err := k.index(ctx, mgr.GetFieldIndexer(), k.New()); err != nil {
		return err
	}
	if k.Index != nil {
		if err := k.Index(ctx, absentIndexer{FieldIndexer: mgr.GetFieldIndexer(), absent: o.Absent, scheme: mgr.GetScheme()}); err != nil {
			return err
		}
	}

	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(name), o.EventFilterFunctions...) //nolint:staticcheck // The runtime takes this kind of recorder only.
	log := o.Logger.WithValues("controller", name)
	usage := resource.NewProviderConfigUsageTracker(mgr.GetClient(), &v1alpha1.ProviderConfigUsage{})
	connect := k.Connector(mgr.GetClient(), mgr.GetCache(), recorder, usage, o)
	ro := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector(connect),
		managed.WithDeterministicExternalName(true),
		managed.WithCreationGracePeriod(0),
		managed.WithInitializers(),
		managed.WithReferenceResolver(managed.ReferenceResolverFn(func(context.Context, resource.Managed) error { return nil })),
		managed.WithCriticalAnnotationUpdater(&Annotations{client: mgr.GetClient()}),
		managed.WithFinalizer(&finalizer{client: mgr.GetClient()}),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(o.MinPollInterval),
		managed.WithPollIntervalHook(pollIntervalUpTo(o.ResyncInterval)),
		managed.WithTimeout(reconcileTimeout),
		managed.WithLogger(log),
		managed.WithRecorder(recorder),
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		ro = append(ro, managed.WithManagementPolicies())
	}
	if o.Features.Enabled(feature.EnableAlphaChangeLogs) && o.ChangeLogOptions != nil {
		ro = append(ro, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}
	if o.MetricOptions != nil && o.MetricOptions.MRMetrics != nil {
		ro = append(ro, managed.WithMetricRecorder(o.MetricOptions.MRMetrics))
	}
	if o.MetricOptions != nil && o.MetricOptions.MRStateMetrics != nil {
		states := &stateRecorder{
			kube:     mgr.GetClient(),
			newList:  k.NewList,
			kind:     k.GroupVersionKind,
			metrics:  o.MetricOptions.MRStateMetrics,
			interval: o.MetricOptions.PollStateMetricInterval,
			log:      log,
		}
		if err := mgr.Add(states); err != nil {
			return errors.Wrap(err, "cannot record state metrics")
		}
	}

	r := &reconciler[T]{
		environments: connect.environments,

		kind:     k,
		client:   mgr.GetClient(),
		runtime:  managed.NewReconciler(runtimeManager{Manager: mgr, client: secretless{confirming[T]{Client: mgr.GetClient(), confirm: connect.confirm}}}, resource.ManagedKind(k.GroupVersionKind), ro...),
		writes:   o.Writes,
		clock:    o.Clock,
		log:      log,
		poll:     o.PollInterval,
		lanes:    newLanes(o.MaxConcurrentReconciles),
		pace:     newPace(o.GlobalRateLimiter),
		failures: backoff{base: time.Second, most: time.Minute, factor: 2},
		requeues: backoff{base: 10 * time.Millisecond, most: time.Minute, factor: 4},
	}

	o.Users.set(k.GroupVersionKind.GroupKind(), k.usersIndexed(mgr.GetClient()))

	b := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		For(k.New(), builder.WithPredicates(desiredStateChanged()))
	k.watch(b, mgr.GetClient(), o, r.pace.await)
	b.WatchesRawSource(o.Wakes.source(gateway.Kind(k.GroupVersionKind.Kind)))
	if k.Watch != nil {
		k.Watch(Watches{builder: b, absent: o.Absent, scheme: mgr.GetScheme(), cache: mgr.GetCache()})
	}
	return b.Complete(r)
}

// NewMetrics returns the runtime's metrics of managed resources, registered with a
// registry.
func NewMetrics(r prometheus.Registerer, poll time.Duration) (*controller.MetricOptions, error) {
	recorder, states := managed.NewMRMetricRecorder(), statemetrics.NewMRStateMetrics()
	for _, c := range []prometheus.Collector{recorder, states} {
		if err := r.Register(c); err != nil {
			return nil, errors.Wrap(err, "cannot register metrics")
		}
	}
	return &controller.MetricOptions{PollStateMetricInterval: poll, MRMetrics: recorder, MRStateMetrics: states}, nil
}
