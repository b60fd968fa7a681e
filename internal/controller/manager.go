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

package controller

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/providerconfig"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
)

const (
	leaseDuration = 60 * time.Second
	renewDeadline = 50 * time.Second
	// leaderElectionID names the lease, unless told otherwise.
	leaderElectionID = "crossplane-leader-election-provider-apiplatform"

	// workers are how many managed resources of a kind are reconciled at a time.
	// Those of one gateway take half of them at most.
	workers = 24
)

// Options of a manager.
type Options struct {
	// Poll is how often each managed resource is compared with the gateway, unless
	// its annotation crossplane.io/poll-interval says otherwise.
	Poll time.Duration

	// Resync is the longest a managed resource is not looked at, whatever that
	// annotation says.
	Resync time.Duration

	// MinPoll is the shortest interval that annotation can ask for.
	MinPoll time.Duration

	// MaxReconcileRate is how many reconciles a second all kinds together may do of what
	// nobody waits for, and a fifth of how many requests a second may be made to the API
	// server.
	MaxReconcileRate int

	// WatchNamespaces are those whose managed resources are reconciled; all if
	// empty. Who holds what is known for all.
	WatchNamespaces []string

	// ClusterID names this cluster in ownership marks at a gateway. If it is empty
	// the UID of the namespace kube-system is used, or if the provider is Packaged
	// that of the ConfigMap extension-apiserver-authentication in it.
	ClusterID string

	// Packaged tells that the provider was installed by Crossplane, which grants it
	// its rights.
	Packaged bool

	// LeaderElection lets one of several replicas work at a time. The lease is in
	// LeaderElectionNamespace, or if that is empty in the provider's own, and is called
	// LeaderElectionID, or if that is empty by the provider's own name.
	LeaderElection          bool
	LeaderElectionNamespace string
	LeaderElectionID        string

	// MetricsBindAddress and HealthProbeBindAddress are where metrics and probes are
	// served; "0" serves none.
	MetricsBindAddress, HealthProbeBindAddress string

	// ManagementPolicies lets spec.managementPolicies take effect.
	ManagementPolicies bool

	// ChangeLogger is told of every change at a gateway. Optional.
	ChangeLogger managed.ChangeLogger

	// Version of the provider, for the User-Agent of calls to gateways.
	Version string

	// Clock tells the time; the system's if nil.
	Clock clock.PassiveClock

	// Logger of the provider.
	Logger logr.Logger

	// Registerer of metrics; the one that the manager serves if nil.
	Registerer prometheus.Registerer

	// SkipNameValidation lets several managers run in one process, for tests.
	SkipNameValidation bool
}

// NewManager returns a manager that runs the controllers of all kinds.
func NewManager(ctx context.Context, cfg *rest.Config, o Options) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.LeaderElectionID == "" {
		o.LeaderElectionID = leaderElectionID
	}
	if o.Registerer == nil {
		o.Registerer = ctrlmetrics.Registry
	}
	cfg = ratelimiter.LimitRESTConfig(cfg, o.MaxReconcileRate)

	writes, absent := &kind.Writes{}, &kind.Absent{}
	renew, lease := renewDeadline, leaseDuration
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:    scheme,
		Logger:    o.Logger,
		NewClient: kind.NewClient(writes, absent, ours),
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
				&corev1.Secret{}:    {Transform: versionOnly},
				&corev1.ConfigMap{}: {Transform: versionOnly},
			},
		},
		// What is secret, or large and rarely needed, is read when it is needed.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		LeaderElection:                o.LeaderElection,
		LeaderElectionID:              o.LeaderElectionID,
		LeaderElectionNamespace:       o.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		Metrics:                       server.Options{BindAddress: o.MetricsBindAddress},
		HealthProbeBindAddress:        o.HealthProbeBindAddress,
		// A replica that waits to lead has its caches filled by then.
		Controller: config.Controller{SkipNameValidation: &o.SkipNameValidation, EnableWarmup: new(true)},
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot create the manager")
	}
	// Being ready does not depend on a gateway: an outage there must not take the
	// provider out of service.
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return nil, errors.Wrap(err, "cannot add probes")
	}

	ko, changes, err := kindOptions(ctx, mgr, o, writes, absent)
	if err != nil {
		return nil, err
	}
	return &orderly{Manager: mgr, startup: ko.Startup}, setup(mgr, ko, changes)
}

// versionOnly keeps, of an object whose metadata is watched, what tells its versions
// apart. Nothing else is looked at; and what kubectl applied has all that it holds, secret
// or not, in an annotation.
func versionOnly(o any) (any, error) {
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return o, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: m.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
	}}, nil
}

// An orderly manager ends only once no controller is being added.
type orderly struct {
	ctrl.Manager

	startup *kind.Startup
}

// Start the manager, until the context is done.
func (m *orderly) Start(ctx context.Context) error {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(ctx, func() {
		m.startup.End()
		end()
	})
	defer stop()
	return m.Manager.Start(running)
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apis.AddToScheme} {
		if err := add(s); err != nil {
			return nil, errors.Wrap(err, "cannot build the scheme")
		}
	}
	return s, nil
}

// ours tells whether an object is one whose status the provider writes.
func ours(o client.Object) bool {
	switch o.(type) {
	case resource.Managed, *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		return true
	}
	return false
}

func kindOptions(ctx context.Context, mgr ctrl.Manager, o Options, writes *kind.Writes, absent *kind.Absent) (kind.Options, *providerconfig.Changes, error) {
	log := logging.NewLogrLogger(o.Logger)
	if err := awaitRights(ctx, mgr.GetClient(), o.Logger); err != nil {
		return kind.Options{}, nil, err
	}
	if o.ClusterID == "" {
		id, err := clusterID(ctx, mgr.GetAPIReader(), o.Packaged)
		if err != nil {
			return kind.Options{}, nil, err
		}
		o.ClusterID = id
	}
	namespaces, err := mayWatchNamespaces(ctx, mgr.GetClient())
	if err != nil {
		return kind.Options{}, nil, err
	}
	if !namespaces {
		o.Logger.Info("namespaces may not be read: no ClusterProviderConfig with spec.allowedNamespaces admits any; examples/cluster/namespaces.yaml allows it")
		if err := mgr.Add(unledRunnable(func(ctx context.Context) error { return awaitNamespaces(ctx, mgr.GetClient(), o.Logger) })); err != nil {
			return kind.Options{}, nil, errors.Wrap(err, "cannot wait for more rights")
		}
	}
	metricOptions, err := kind.NewMetrics(o.Registerer, o.Poll)
	if err != nil {
		return kind.Options{}, nil, err
	}
	features := &feature.Flags{}
	if o.ManagementPolicies {
		features.Enable(feature.EnableBetaManagementPolicies)
	}
	var changeLogs *controller.ChangeLogOptions
	if o.ChangeLogger != nil {
		features.Enable(feature.EnableAlphaChangeLogs)
		changeLogs = &controller.ChangeLogOptions{ChangeLogger: o.ChangeLogger}
	}

	// One failure is enough to end; the others need nobody to listen.
	failures := make(chan error, 1)
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failures:
			return err
		}
	})); err != nil {
		return kind.Options{}, nil, errors.Wrap(err, "cannot watch over the controllers")
	}

	counts := metrics.New(o.Version)
	changes, wakes := providerconfig.NewChanges(), &kind.Wakes{Metrics: counts}
	ko := kind.Options{
		Options: controller.Options{
			Logger:                  log,
			GlobalRateLimiter:       ratelimiter.NewGlobal(o.MaxReconcileRate),
			PollInterval:            o.Poll,
			MaxConcurrentReconciles: workers,
			Features:                features,
			MetricOptions:           metricOptions,
			ChangeLogOptions:        changeLogs,
		},
		MinPollInterval: o.MinPoll,
		ResyncInterval:  o.Resync,
		Namespaces:      o.WatchNamespaces,
		ClusterID:       o.ClusterID,
		NamespaceLabels: namespaces,
		Wakes:           wakes,
		Users:           &kind.Users{},
		Startup:         &kind.Startup{},
		Writes:          writes,
		Absent:          absent,
		Mapper:          mgr.GetRESTMapper(),
		Metrics:         counts,
		Clock:           o.Clock,
		IndexConfigs:    sync.OnceValue(func() error { return kind.IndexConfigs(ctx, mgr.GetFieldIndexer()) }),
		Fail: func(err error) {
			select {
			case failures <- err:
			default:
			}
		},
		Gateways: connection.NewPool(connection.Options{
			Live:          mgr.GetAPIReader(),
			Cache:         mgr.GetClient(),
			Metadata:      mgr.GetCache(),
			NoNamespaces:  !namespaces,
			Now:           o.Clock.Now,
			Logger:        log,
			UserAgent:     "provider-apiplatform/" + o.Version,
			DriftInterval: o.Poll,
			Called:        counts.Called,
			Woken:         wakes.Wake,
			OnChange:      changes.Tell,
		}),
	}
	if err := counts.Register(o.Registerer, ko.Gateways.States); err != nil {
		return kind.Options{}, nil, err
	}
	if err := mgr.Add(manager.RunnableFunc(ko.Gateways.Observe)); err != nil {
		return kind.Options{}, nil, errors.Wrap(err, "cannot observe gateways")
	}

	gated, err := mayWatchCRDs(ctx, mgr.GetClient())
	if err != nil || !gated {
		return ko, changes, err
	}
	ko.Gate = new(gate.Gate[schema.GroupVersionKind])
	return ko, changes, errors.Wrap(openGate(mgr, ko.Gate), "cannot wait for CRDs")
}

// An unledRunnable runs in every replica, whichever leads.
type unledRunnable func(context.Context) error

// Start it.
func (r unledRunnable) Start(ctx context.Context) error { return r(ctx) }

// NeedLeaderElection says that it does not.
func (unledRunnable) NeedLeaderElection() bool { return false }
