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

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crds "github.com/crossplane-contrib/provider-apiplatform/apis"
	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

const (
	// configName is what the ProviderConfig of each site is called, and the Secret with
	// the password.
	configName = "gateway"
	// users is how many apply or edit at a time.
	users = 16
	// tick is how often something is looked at that does not tell by itself.
	tick = 20 * time.Millisecond
	// stopGrace is how long a process may take to end.
	stopGrace = 30 * time.Second
)

// A world is a cluster of its own, with gateways and with who is measured in it. Each
// of those who are compared has a new one, so that none finds what another left.
type world struct {
	plane   *controlplane.ControlPlane
	kube    client.Client
	relay   *relay
	tracker *tracker
	dir     string
	sites   []*site

	// subject is the process that is measured, if there is one.
	subject *process.Process
	starts  int
	cancel  context.CancelFunc
}

// newWorld with one gateway. End it with end.
func newWorld(ctx context.Context, root string) (_ *world, err error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &world{cancel: cancel}
	defer func() {
		if err != nil {
			w.end()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "apiplatform-bench-"); err != nil {
		return nil, errors.Wrap(err, "cannot create a temporary folder")
	}
	if w.plane, err = controlplane.Start(ctx, controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds")}}); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), crds.AddToScheme(scheme)); err != nil {
		return nil, errors.Wrap(err, "cannot build the scheme")
	}
	if w.kube, err = client.New(w.plane.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
		return nil, errors.Wrap(err, "cannot build a client")
	}
	if w.relay, err = newRelay(ctx, w.plane.RESTConfig()); err != nil {
		return nil, err
	}
	if w.tracker, err = newTracker(ctx, w.plane.RESTConfig(), scheme); err != nil {
		return nil, err
	}
	_, err = w.addSite(ctx, "bench")
	return w, err
}

// end the world. It may be called at any time, once.
func (w *world) end() {
	w.cancel()
	w.subject.Stop(stopGrace)
	if w.relay != nil {
		w.relay.stop()
	}
	for _, s := range w.sites {
		s.stop()
	}
	if w.plane != nil {
		w.plane.Stop()
	}
	_ = os.RemoveAll(w.dir)
}

// failed tells why the world cannot go on.
func (w *world) failed() error {
	if w.subject != nil {
		if err := w.subject.Err(); err != nil {
			return err
		}
	}
	return w.plane.Failed()
}

// addSite adds a gateway and a namespace whose ProviderConfig leads there.
func (w *world) addSite(ctx context.Context, namespace string) (*site, error) {
	s, err := newSite(ctx, namespace)
	if err != nil {
		return nil, err
	}
	w.sites = append(w.sites, s)
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		secret(namespace, configName, "password", password),
		&v1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: configName},
			Spec: v1alpha1.ProviderConfigSpec{
				ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: s.url},
				Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
					Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: configName, Key: "password"},
				}},
			},
		},
	} {
		if err := w.kube.Create(ctx, o); err != nil {
			return nil, errors.Wrapf(err, "cannot create a %T", o)
		}
	}
	return s, nil
}

func secret(namespace, name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{key: value}}
}

// launch the process that is measured, through the relay.
func (w *world) launch(ctx context.Context, name, path string, args ...string) error {
	kubeconfig, err := w.relay.kubeconfig(w.dir)
	if err != nil {
		return err
	}
	w.starts++
	w.subject, err = process.Start(ctx, process.Options{
		Name: name, Path: path, Args: args, Dir: w.dir,
		Env:     []string{"KUBECONFIG=" + kubeconfig},
		LogPath: filepath.Join(w.dir, fmt.Sprintf("%s-%d.log", filepath.Base(path), w.starts)),
	})
	return err
}

// halt the process that is measured, as a rollout does.
func (w *world) halt() {
	w.subject.Stop(stopGrace)
	w.subject = nil
}

// usage of the process that is measured.
func (w *world) usage() (usage, error) { return usageOf(w.subject.PID()) }

// An object is one Subscription with its token Secret, and what is wanted of it.
type object struct {
	site        *site
	index       int
	name, token string
	// plan is which of the site's two is wanted.
	plan   int
	status string

	// id at the gateway, once it is known.
	id string
	// applied is when the API server had it.
	applied time.Time
}

// objects for a site, not yet applied.
func objects(s *site, n int) []*object {
	all := make([]*object, n)
	for i := range all {
		name := fmt.Sprintf("s-%06d", i)
		all[i] = &object{site: s, index: i, name: name, token: "token-of-" + name, status: "ACTIVE"}
	}
	return all
}

func (o *object) key() string { return o.site.namespace + "/" + o.name }

func (o *object) subscription() *gatewayv1alpha1.Subscription {
	api, plan, status := apiHandle(o.index), o.site.plans[o.plan], gatewayv1alpha1.SubscriptionStatusValue(o.status)
	application := "app-" + o.name
	return &gatewayv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.site.namespace, Name: o.name},
		Spec: gatewayv1alpha1.SubscriptionSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: configName}},
			ForProvider: gatewayv1alpha1.SubscriptionParameters{
				APIID: &api, ApplicationID: &application, SubscriptionPlanID: &plan, Status: &status,
				SubscriptionTokenSecretRef: &gatewayv1alpha1.TokenSecretReference{Name: o.name},
			},
		},
	}
}

// as tells whether the gateway has the object as it is wanted.
func (o *object) as(is emulator.Subscription) bool {
	return is.Status == o.status && is.SubscriptionPlanID == o.site.plans[o.plan] && o.site.gateway.HoldsToken(is.ID, o.token)
}

// there tells whether the gateway has the object, by the ID that it had, as it is wanted.
func (o *object) there() bool {
	is, ok := o.site.gateway.Subscription(o.id)
	return ok && o.as(is)
}

// each does something to all of them, several at a time, in their order.
func each[T any](ctx context.Context, workers int, all []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	wg := sync.WaitGroup{}
	for range min(workers, len(all)) {
		wg.Go(func() {
			for t := range next {
				if err := do(ctx, t); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for _, t := range all {
		select {
		case next <- t:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// tokens creates the Secrets of objects, which are there before those are applied.
func (w *world) tokens(ctx context.Context, all []*object) error {
	return each(ctx, users, all, func(ctx context.Context, o *object) error {
		return errors.Wrap(w.kube.Create(ctx, secret(o.site.namespace, o.name, gatewayv1alpha1.DefaultTokenKey, o.token)), "cannot create the Secret of a token")
	})
}

// apply objects in one burst. Each is passed on as soon as the API server has it.
func (w *world) apply(ctx context.Context, all []*object, then func(*object, *gatewayv1alpha1.Subscription)) error {
	return each(ctx, users, all, func(ctx context.Context, o *object) error {
		cr := o.subscription()
		if err := w.kube.Create(ctx, cr); err != nil {
			return errors.Wrap(err, "cannot apply a Subscription")
		}
		o.applied = time.Now()
		if then != nil {
			then(o, cr)
		}
		return nil
	})
}

// eventually waits until something is true, and fails where it does not become true in
// time. The error says what is amiss.
func (w *world) eventually(ctx context.Context, patience time.Duration, is func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		amiss := is()
		if amiss == nil {
			return nil
		}
		if err := w.failed(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(amiss, "after %s (%v)", patience, ctx.Err())
		case <-ticker.C:
		}
	}
}

// pass lets time go by, unless something fails meanwhile.
func (w *world) pass(ctx context.Context, d time.Duration) error {
	until := time.Now().Add(d)
	notYet := errors.New("not yet")
	return w.eventually(ctx, d+time.Minute, func() error {
		if time.Now().Before(until) {
			return notYet
		}
		return nil
	})
}

// quiet waits until nothing was written for a while, neither to the cluster by who is
// measured nor to a gateway. It tells how long that took.
func (w *world) quiet(ctx context.Context, still, patience time.Duration) (time.Duration, error) {
	began, since := time.Now(), time.Now()
	calls, visits := 0, make([]int, len(w.sites))
	err := w.eventually(ctx, patience, func() error {
		now := w.relay.calls.since(calls)
		calls += len(now)
		wrote := count(now, call.writes)
		for i, s := range w.sites {
			now := s.visits.since(visits[i])
			visits[i] += len(now)
			wrote += count(now, visit.isWrite)
		}
		if wrote > 0 {
			since = time.Now()
		}
		if time.Since(since) < still {
			return errors.Errorf("something was written within %s", still)
		}
		return nil
	})
	return time.Since(began) - still, err
}

// learnIDs finds out by which ID the gateway knows each object, which it tells by the
// application. It returns how many it does not know.
func learnIDs(all []*object) int {
	of := map[*site]map[string]string{}
	missing := 0
	for _, o := range all {
		if of[o.site] == nil {
			ids := map[string]string{}
			for _, s := range o.site.gateway.Subscriptions() {
				ids[s.ApplicationID] = s.ID
			}
			of[o.site] = ids
		}
		if o.id = of[o.site]["app-"+o.name]; o.id == "" {
			missing++
		}
	}
	return missing
}
