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

// The provider makes APIs, plans and subscriptions on WSO2 API Platform gateways
// declarative.
package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	_ "golang.org/x/crypto/x509roots/fallback" // The CAs that are trusted where the system has none, as in the package's image.
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
)

// version is set when a release is built.
var version = "unknown"

type options struct {
	Poll                     time.Duration `help:"The drift interval: a change made at a gateway is noticed, and set back, within this time. One list per gateway and kind serves all managed resources." default:"30s" env:"POLL"`
	Resync                   time.Duration `help:"About how often a managed resource is reconciled although nothing changed, and the longest its annotation crossplane.io/poll-interval can ask for." default:"1h" env:"RESYNC"`
	MinPoll                  time.Duration `help:"The shortest interval the annotation crossplane.io/poll-interval can ask for." default:"10s" env:"MIN_POLL"`
	MaxReconcileRate         int           `help:"How many reconciles a second all kinds together may do of what nobody waits for, and a fifth of how many requests a second may be made to the API server." default:"100" env:"MAX_RECONCILE_RATE"`
	WatchNamespaces          []string      `help:"Namespaces whose managed resources are reconciled, comma-separated; all if not given. Who holds what at a gateway is known for all namespaces." env:"WATCH_NAMESPACES" placeholder:"NAMESPACE"`
	ClusterID                string        `help:"Name of this cluster in the ownership marks at a gateway: letters, digits, dots, hyphens and underscores. Carry it over when objects are restored to another cluster. Default: the UID of the namespace kube-system, and for a provider that Crossplane installed that of the ConfigMap kube-system/extension-apiserver-authentication." env:"CLUSTER_ID" placeholder:"ID"`
	LeaderElection           bool          `help:"Let one of several replicas work at a time." env:"LEADER_ELECTION"`
	LeaderElectionNamespace  string        `help:"Namespace of the lease for leader election. Default: the provider's own." env:"LEADER_ELECTION_NAMESPACE" placeholder:"NAMESPACE"`
	LeaderElectionID         string        `help:"Name of the lease for leader election. Providers that share its namespace, and are no replicas of each other, need one each. Default: crossplane-leader-election-provider-apiplatform." name:"leader-election-id" env:"LEADER_ELECTION_ID" placeholder:"NAME"`
	MetricsBindAddress       string        `help:"Where metrics are served; 0 serves none." default:":8080" env:"METRICS_BIND_ADDRESS"`
	HealthProbeBindAddress   string        `help:"Where /healthz and /readyz are served; 0 serves neither." default:":8081" env:"HEALTH_PROBE_BIND_ADDRESS"`
	Debug                    bool          `help:"Log what is done in detail." env:"DEBUG"`
	EnableManagementPolicies bool          `help:"Let spec.managementPolicies take effect, which they do unless this is turned off." default:"true" negatable:"" env:"ENABLE_MANAGEMENT_POLICIES"`
	EnableChangelogs         bool          `help:"Send every change at a gateway to the change log service." env:"ENABLE_CHANGELOGS"`
	ChangelogsSocketPath     string        `help:"Socket of the change log service." default:"/var/run/changelogs/changelogs.sock" env:"CHANGELOGS_SOCKET_PATH"`

	ProviderName string `help:"Name of the Provider that Crossplane installed this as. Crossplane sets it." hidden:"" env:"PROVIDER_NAME"`

	Version kong.VersionFlag `help:"Print the version."`
}

// clusterID is what can be a part of an ownership mark, which has slashes between its
// parts.
var clusterID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,253}$`)

// Validate the options.
func (o *options) Validate() error {
	switch {
	case o.Poll < time.Second:
		return errors.New("--poll must be 1s or more")
	case o.MinPoll < time.Second:
		return errors.New("--min-poll must be 1s or more")
	case o.Resync < o.Poll:
		return errors.New("--resync must not be shorter than --poll")
	case o.MaxReconcileRate < 1:
		return errors.New("--max-reconcile-rate must be 1 or more")
	case o.ClusterID != "" && !clusterID.MatchString(o.ClusterID):
		return errors.New("--cluster-id must be letters, digits, dots, hyphens and underscores, 253 at most")
	}
	return nil
}

func main() {
	o := &options{}
	k := kong.Parse(o,
		kong.Name("provider"),
		kong.Description("A Crossplane provider that makes APIs, plans and subscriptions on WSO2 API Platform gateways declarative."),
		kong.Vars{"version": version},
	)
	k.FatalIfErrorf(o.run(ctrl.SetupSignalHandler()))
}

// gcPercent is how much garbage there may be for what is in use, unless GOGC says so. What
// is in use are caches: there is half as much memory on top of these, in place of as much
// again, for collecting twice as often.
const gcPercent = 50

func (o *options) run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	log := zap.New(zap.UseDevMode(o.Debug))
	ctrl.SetLogger(log)
	klog.SetLogger(log)

	changes, closeChanges, err := o.changeLogger()
	if err != nil {
		return err
	}
	defer closeChanges()

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return errors.Wrap(err, "cannot find out how to reach the API server")
	}
	mgr, err := controller.NewManager(ctx, cfg, controller.Options{
		Poll:                    o.Poll,
		Resync:                  o.Resync,
		MinPoll:                 o.MinPoll,
		MaxReconcileRate:        o.MaxReconcileRate,
		WatchNamespaces:         o.WatchNamespaces,
		ClusterID:               o.ClusterID,
		Packaged:                o.ProviderName != "",
		LeaderElection:          o.LeaderElection,
		LeaderElectionNamespace: o.LeaderElectionNamespace,
		LeaderElectionID:        o.LeaderElectionID,
		MetricsBindAddress:      o.MetricsBindAddress,
		HealthProbeBindAddress:  o.HealthProbeBindAddress,
		ManagementPolicies:      o.EnableManagementPolicies,
		ChangeLogger:            changes,
		Version:                 version,
		Logger:                  log,
	})
	if err != nil {
		return err
	}
	return errors.Wrap(mgr.Start(ctx), "the manager ended")
}

// changeLogger connects to the change log service, if that is asked for.
func (o *options) changeLogger() (managed.ChangeLogger, func(), error) {
	if !o.EnableChangelogs {
		return nil, func() {}, nil
	}
	// The service runs beside the provider, behind a socket of the same pod.
	conn, err := grpc.NewClient("unix://"+o.ChangelogsSocketPath, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot connect to the change log service")
	}
	closeConn := func() {
		if err := conn.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "cannot close the connection to the change log service:", err)
		}
	}
	return managed.NewGRPCChangeLogger(v1alpha1.NewChangeLogServiceClient(conn), managed.WithProviderVersion("provider-apiplatform:"+version)), closeConn, nil
}
