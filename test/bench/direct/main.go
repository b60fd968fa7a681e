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

// Command direct is what the benchmark compares the provider with: a controller of
// Subscriptions of the usual design. It is what comes out of Crossplane's template
// for providers with its defaults: each object is looked at by one GET every minute,
// its status is written every time, Secrets are cached with all they hold, and all
// objects share a limit of ten reconciles a second.
//
// It is no provider: it knows in-place gateways and basic authentication only, never
// deletes, and notices the change of a token in no way at all.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

func main() {
	poll := flag.Duration("poll", time.Minute, "how often each object is looked at")
	rate := flag.Int("max-reconcile-rate", 10, "how many reconciles a second there may be, and how many at a time")
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), *poll, *rate); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, poll time.Duration, rate int) error {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apis.AddToScheme(scheme)); err != nil {
		return errors.Wrap(err, "cannot build the scheme")
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return errors.Wrap(err, "cannot find out how to reach the API server")
	}
	mgr, err := ctrl.NewManager(ratelimiter.LimitRESTConfig(cfg, rate), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return errors.Wrap(err, "cannot create the manager")
	}
	if err := setup(mgr, poll, rate); err != nil {
		return err
	}
	return errors.Wrap(mgr.Start(ctx), "the manager ended")
}

// setup the controller as the template does.
func setup(mgr ctrl.Manager, poll time.Duration, rate int) error {
	const name = "managed/subscription"
	// The template has as many workers as reconciles a second. More than these do nothing
	// for one who is to be without a limit.
	o := controller.Options{MaxConcurrentReconciles: min(rate, 100), GlobalRateLimiter: ratelimiter.NewGlobal(rate)}
	c := &connector{
		kube:  mgr.GetClient(),
		usage: resource.NewProviderConfigUsageTracker(mgr.GetClient(), &configv1alpha1.ProviderConfigUsage{}),
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.SubscriptionGroupVersionKind),
		managed.WithTypedExternalConnector(managed.TypedExternalConnectorFn[*v1alpha1.Subscription](c.connect)),
		managed.WithPollInterval(poll),
		managed.WithRecorder(event.NewAPIRecorder(mgr.GetEventRecorderFor(name))), //nolint:staticcheck // It is what the runtime takes.
	)
	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		WithEventFilter(resource.DesiredStateChanged()).
		For(&v1alpha1.Subscription{}).
		Complete(ratelimiter.NewReconciler(name, r, o.GlobalRateLimiter))
}
