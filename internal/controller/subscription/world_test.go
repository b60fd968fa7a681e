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
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

const (
	team = "team-a"
	// secretToken is what must never show anywhere.
	secretToken = "t0ken-0f-the-first-day"
	otherToken  = "t0ken-0f-the-second-day"
)

func ptr[T any](v T) *T { return &v }

// A tester is a test, be it one of many runs of a property.
type tester interface {
	Helper()
	Context() context.Context
	Cleanup(cleanup func())
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A site is an emulated gateway with one API named books.
type site struct {
	*emulator.Server

	t tester
}

// A world is a site, an API server in memory, and the provider between them: the
// runtime's own reconciler runs every pass over a Subscription.
type world struct {
	site

	kube   client.Client
	clock  *testclock.FakePassiveClock
	events *events
	// metrics survive a restart, unlike those of a real one.
	metrics *metrics.Metrics

	// poll is how often is looked, if that matters.
	poll time.Duration
	// drift is how old what is read for all may be. If it is zero, all is read for whom
	// it is about.
	drift time.Duration

	// What a restart forgets.
	controller *controller
	pool       *connection.Pool

	mu sync.Mutex
	// onWrite may refuse a write of the provider to a Subscription.
	onWrite func() error
	// refuseSecrets makes the API server refuse to write Secrets.
	refuseSecrets bool
	// shown is what the cache shows of Subscriptions, if not what is stored.
	shown map[string]*v1alpha1.Subscription
	// failures are the errors of all passes.
	failures []string
	// creating is true if the runtime is about to create.
	creating bool
}

// In both generations of gateways.
func generations() map[string]emulator.Generation {
	return map[string]emulator.Generation{"InPlace": emulator.InPlace, "Legacy": emulator.Legacy}
}

// newSite starts a gateway, which names itself by the given ID if there is one.
func newSite(t tester, g emulator.Generation, id string, now func() time.Time) site {
	t.Helper()
	// At the gateway no two moments are the same, in the milliseconds that change
	// stamps are compared in.
	var moments atomic.Int64
	gw, err := emulator.Start(t.Context(), emulator.Options{Generation: g, GatewayID: id, Now: func() time.Time {
		return now().Add(time.Duration(moments.Add(1)) * time.Millisecond)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gw.Close)
	s := site{Server: gw, t: t}
	s.addAPI("books")
	return s
}

func newWorld(t tester, g emulator.Generation, objects ...client.Object) *world {
	t.Helper()
	clock := testclock.NewFakePassiveClock(time.Now())
	w := &world{site: newSite(t, g, "", clock.Now), clock: clock, events: &events{}, metrics: metrics.New("test"), shown: map[string]*v1alpha1.Subscription{}}

	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, configv1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := kubefake.NewClientBuilder().WithScheme(s).
		WithStatusSubresource(&v1alpha1.RestApi{}, &v1alpha1.SubscriptionPlan{}, &v1alpha1.Subscription{}).
		WithInterceptorFuncs(interceptor.Funcs{Create: w.create, Update: w.update, Patch: w.patch, Get: w.get, SubResourceUpdate: w.updateStatus, SubResourcePatch: w.patchStatus})
	if err := index(t.Context(), indexer{b}); err != nil {
		t.Fatal(err)
	}
	w.kube = b.Build()
	w.restart()
	w.add(&configv1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1},
		Spec: configv1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: configv1alpha1.ConnectionSettings{Endpoint: w.URL()},
			Credentials:        configv1alpha1.ClusterCredentials{Source: configv1alpha1.CredentialsNone},
		},
	})
	w.add(objects...)
	return w
}

type indexer struct{ *kubefake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, of client.Object, field string, extract client.IndexerFunc) error {
	i.WithIndex(of, field, extract)
	return nil
}

// restart the provider, which takes a moment: all that it remembers is what is
// stored.
func (w *world) restart() {
	w.wait(2 * time.Second)
	w.controller = newController(w.clock.Now)
	w.pool = connection.NewPool(connection.Options{Live: w.kube, Cache: w.kube, Metadata: w.kube, Now: w.clock.Now, DriftInterval: w.drift, Woken: func(gateway.Kind, observation.Cause, []types.NamespacedName) {}})
}

// create gives objects what a real API server gives them.
func (w *world) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if _, ok := o.(*corev1.Secret); ok && w.refuseSecrets {
		return kerrors.NewServiceUnavailable("the API server is busy")
	}
	if o.GetUID() == "" {
		o.SetUID(uuid.NewUUID())
	}
	if o.GetCreationTimestamp().Time.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
	}
	return c.Create(ctx, o, opts...)
}

// update leaves the status in memory alone, as the provider's client does.
func (w *world) update(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
	cr, ok := o.(*v1alpha1.Subscription)
	if !ok {
		return c.Update(ctx, o, opts...)
	}
	if err := w.mayWrite(); err != nil {
		return err
	}
	if w.creating {
		// The runtime dates a create by a clock of its own.
		meta.SetExternalCreatePending(cr, w.clock.Now())
		w.creating = false
	}
	status := cr.Status.DeepCopy()
	err := c.Update(ctx, o, opts...)
	cr.Status = *status
	return err
}

func (w *world) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if _, ok := o.(*v1alpha1.Subscription); ok {
		if err := w.mayWrite(); err != nil {
			return err
		}
	}
	return c.Patch(ctx, o, p, opts...)
}

func (w *world) updateStatus(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := w.mayWrite(); err != nil {
		return err
	}
	return c.SubResource(sub).Update(ctx, o, opts...)
}

func (w *world) patchStatus(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := w.mayWrite(); err != nil {
		return err
	}
	return c.SubResource(sub).Patch(ctx, o, p, opts...)
}

func (w *world) mayWrite() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.onWrite == nil {
		return nil
	}
	return w.onWrite()
}

func (w *world) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	w.mu.Lock()
	shown, ok := w.shown[key.String()]
	w.mu.Unlock()
	if cr, is := o.(*v1alpha1.Subscription); is && ok {
		shown.DeepCopyInto(cr)
		return nil
	}
	return c.Get(ctx, key, o, opts...)
}

// refuseWrites to Subscriptions while the condition holds, as an API server does
// that is down, or a process that was killed.
func (w *world) refuseWrites(while func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onWrite = func() error {
		if while() {
			return kerrors.NewServiceUnavailable("the API server is down")
		}
		return nil
	}
}

func (w *world) allowWrites() { w.refuseWrites(func() bool { return false }) }

// show a Subscription as it is now until unshown, as a cache does that lags.
func (w *world) show(cr *v1alpha1.Subscription) (unshow func()) {
	key := client.ObjectKeyFromObject(cr).String()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown[key] = cr.DeepCopy()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.shown, key)
	}
}

func (w *world) add(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (s site) addAPI(handle string, plans ...string) emulator.API {
	s.t.Helper()
	a, ok := s.AddAPI(handle, plans...)
	if !ok {
		s.t.Fatalf("cannot add API %s", handle)
	}
	return a
}

func (s site) addPlan(name string) emulator.Plan {
	s.t.Helper()
	p, ok := s.AddPlan(name)
	if !ok {
		s.t.Fatalf("cannot add plan %s", name)
	}
	return p
}

// byHand creates a subscription at the gateway as somebody else.
func (s site) byHand(fields map[string]any) string {
	s.t.Helper()
	status, out := s.Do(http.MethodPost, "/subscriptions", fields)
	id, _ := out["id"].(string)
	if status != http.StatusCreated {
		s.t.Fatalf("cannot create a subscription by hand: %d %v", status, out)
	}
	return id
}

// changeByHand changes a subscription at the gateway as somebody else.
func (s site) changeByHand(id string, fields map[string]any) {
	s.t.Helper()
	if status, out := s.Do(http.MethodPut, "/subscriptions/"+id, fields); status != http.StatusOK {
		s.t.Fatalf("cannot change a subscription by hand: %d %v", status, out)
	}
}

func (s site) deleteByHand(id string) {
	s.t.Helper()
	if status, out := s.Do(http.MethodDelete, "/subscriptions/"+id, nil); status != http.StatusNoContent {
		s.t.Fatalf("cannot delete a subscription by hand: %d %v", status, out)
	}
}

// only is the one subscription at the gateway.
func (s site) only() emulator.Subscription {
	s.t.Helper()
	all := s.Subscriptions()
	if len(all) != 1 {
		s.t.Fatalf("%d subscriptions at the gateway, want 1: %+v", len(all), all)
	}
	return all[0]
}

// config changes the provider config.
func (w *world) config(change func(*configv1alpha1.ClusterProviderConfig)) {
	w.t.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	if err := w.kube.Get(w.t.Context(), types.NamespacedName{Name: "default"}, c); err != nil {
		w.t.Fatal(err)
	}
	change(c)
	c.Generation++
	if err := w.kube.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// declare the generation of the gateway.
func (w *world) declare(g configv1alpha1.GatewayGeneration) {
	w.t.Helper()
	w.config(func(c *configv1alpha1.ClusterProviderConfig) {
		c.Spec.Gateway = &configv1alpha1.GatewaySettings{Generation: g, InvocationURL: "https://api.example.org"}
	})
}

// declareReal declares the generation the gateway has.
func (w *world) declareReal(g emulator.Generation) {
	w.t.Helper()
	w.declare(configv1alpha1.GatewayGeneration(g))
}

// tokenSecret holds a token under the default key.
func tokenSecret(name, token string) *corev1.Secret {
	key := clientKey(name)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string][]byte{"token": []byte(token)}}
}

// setToken changes a Secret.
func (w *world) setToken(name, token string) {
	w.t.Helper()
	w.editSecret(name, func(s *corev1.Secret) { s.Data["token"] = []byte(token) })
}

func (w *world) editSecret(name string, change func(*corev1.Secret)) {
	w.t.Helper()
	s := w.secret(name)
	if s == nil {
		w.t.Fatalf("no Secret %s", name)
	}
	change(s)
	if err := w.kube.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// secret returns a Secret, or nil if there is none.
func (w *world) secret(name string) *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	err := w.kube.Get(w.t.Context(), clientKey(name), s)
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) deleteSecret(name string) {
	w.t.Helper()
	if err := w.kube.Delete(w.t.Context(), w.secret(name)); err != nil {
		w.t.Fatal(err)
	}
}

// subscription is a managed resource that subscribes to books with the token in
// Secret tok.
func subscription(name string, change ...func(*v1alpha1.Subscription)) *v1alpha1.Subscription {
	key := clientKey(name)
	cr := &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: v1alpha1.SubscriptionSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ManagementPolicies:      xpv2.ManagementPolicies{xpv2.ManagementActionAll},
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: configv1alpha1.ClusterProviderConfigKind, Name: "default"},
			},
			AdoptionPolicy: v1alpha1.SubscriptionAdoptIfUnique,
			ForProvider: v1alpha1.SubscriptionParameters{
				APIID:                      ptr("books"),
				SubscriptionTokenSecretRef: &v1alpha1.TokenSecretReference{Name: "tok"},
			},
		},
	}
	for _, c := range change {
		c(cr)
	}
	return cr
}

type change = func(*v1alpha1.Subscription)

func externalRef(id string) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.ExternalRefID = &id }
}

func externalName(id string) change {
	return func(cr *v1alpha1.Subscription) { meta.SetExternalName(cr, id) }
}

func application(id string) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.ApplicationID = &id }
}

func api(handle string) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.APIID = &handle }
}

func planID(id string) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanID = &id }
}

func status(s v1alpha1.SubscriptionStatusValue) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.Status = &s }
}

func adopt(p v1alpha1.SubscriptionAdoptionPolicy) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.AdoptionPolicy = p }
}

func tokenIn(secret string) change {
	return func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.SubscriptionTokenSecretRef = &v1alpha1.TokenSecretReference{Name: secret}
	}
}

// generated takes a generated token, written to Secret conn.
func generated(cr *v1alpha1.Subscription) {
	cr.Spec.ForProvider.SubscriptionTokenSecretRef = nil
	writesTo("conn")(cr)
}

func writesTo(secret string) change {
	return func(cr *v1alpha1.Subscription) {
		cr.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
	}
}

func policies(p ...xpv2.ManagementAction) change {
	return func(cr *v1alpha1.Subscription) { cr.Spec.ManagementPolicies = p }
}

func annotated(key, value string) change {
	return func(cr *v1alpha1.Subscription) { meta.AddAnnotations(cr, map[string]string{key: value}) }
}

// stored is a Subscription as the API server has it, or nil if it is gone.
func (w *world) stored(name string) *v1alpha1.Subscription {
	w.t.Helper()
	cr := &v1alpha1.Subscription{}
	err := w.kube.Get(w.t.Context(), clientKey(name), cr)
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return cr
}

// edit a Subscription as a user does.
func (w *world) edit(name string, changes ...change) {
	w.t.Helper()
	cr := w.stored(name)
	for _, c := range changes {
		c(cr)
	}
	cr.Generation++
	w.asUser(func() error { return w.kube.Update(w.t.Context(), cr) })
}

// asUser writes what a user writes: the API server that refuses the provider's
// writes takes it.
func (w *world) asUser(write func() error) {
	w.t.Helper()
	refuse := w.onWrite
	w.allowWrites()
	if err := write(); err != nil {
		w.t.Fatal(err)
	}
	w.onWrite = refuse
}

// remove a Subscription as a user does.
func (w *world) remove(name string) {
	w.t.Helper()
	if err := w.kube.Delete(w.t.Context(), w.stored(name)); err != nil {
		w.t.Fatal(err)
	}
}

// pass runs one pass over a Subscription, and returns how it is stored afterwards
// (nil if it is gone) and the error its external client returned.
func (w *world) pass(name string) (*v1alpha1.Subscription, error) {
	w.t.Helper()
	c, before := &connector{world: w}, w.stored(name)
	m := &fake.Manager{Client: secretless{w.kube}, Scheme: w.kube.Scheme()}
	r := managed.NewReconciler(m, resource.ManagedKind(v1alpha1.SubscriptionGroupVersionKind),
		managed.WithTypedExternalConnector[*v1alpha1.Subscription](c),
		managed.WithDeterministicExternalName(true),
		managed.WithCreationGracePeriod(0),
		managed.WithInitializers(),
		managed.WithReferenceResolver(managed.ReferenceResolverFn(func(context.Context, resource.Managed) error { return nil })),
		managed.WithCriticalAnnotationUpdater(annotationsOf{w.kube}),
		managed.WithFinalizer(resource.FinalizerFns{
			AddFinalizerFn: func(ctx context.Context, o resource.Object) error {
				return w.finalizers(ctx, o, []string{managed.FinalizerName})
			},
			RemoveFinalizerFn: func(ctx context.Context, o resource.Object) error {
				return resource.IgnoreNotFound(w.finalizers(ctx, o, nil))
			},
		}),
		managed.WithManagementPolicies(),
		managed.WithRecorder(w.events),
		managed.WithTimeout(time.Minute),
	)
	if _, err := r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: clientKey(name)}); err != nil {
		w.failures = append(w.failures, err.Error())
	}
	if c.err != nil {
		w.failures = append(w.failures, c.err.Error())
	}
	w.creating = false
	after := w.stored(name)
	if after == nil && before != nil {
		w.controller.memories.forget(string(before.GetUID()))
		w.controller.release(before.GetUID())
		w.controller.incumbents.Forget(before.GetUID())
		w.controller.contests.Forget(before.GetUID())
	}
	return after, c.err
}

// settle runs passes until one succeeds and leaves the gateway as it is.
func (w *world) settle(name string) *v1alpha1.Subscription {
	w.t.Helper()
	var err error
	for range 8 {
		before := w.Writes()
		var cr *v1alpha1.Subscription
		if cr, err = w.pass(name); err == nil && w.Writes() == before && cr.Status.Deployed && cr.Status.AtProvider.APIInternalID != "" {
			return cr
		}
	}
	w.t.Fatalf("%s does not settle: %v", name, err)
	return nil
}

// gone runs passes until a deleted Subscription is gone.
func (w *world) gone(name string) {
	w.t.Helper()
	var err error
	for range 4 {
		var cr *v1alpha1.Subscription
		if cr, err = w.pass(name); cr == nil {
			return
		}
		w.wait(2 * time.Minute)
	}
	w.t.Fatalf("%s is not deleted: %v", name, err)
}

// wait lets time pass.
func (w *world) wait(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// finalizers of an object are patched, so that its status in memory survives.
func (w *world) finalizers(ctx context.Context, o client.Object, f []string) error {
	if len(o.GetFinalizers()) == len(f) {
		return nil
	}
	o.SetFinalizers(f)
	return kind.PatchMetadata(ctx, w.kube, o, map[string]any{"finalizers": f, "resourceVersion": o.GetResourceVersion()})
}

// annotationsOf writes the annotations the provider owns, and removes those that
// are gone.
type annotationsOf struct{ kube client.Client }

func (a annotationsOf) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	patch := map[string]any{}
	for _, k := range []string{
		meta.AnnotationKeyExternalName, meta.AnnotationKeyExternalCreatePending, meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed,
		v1alpha1.AnnotationCreateAttempt, v1alpha1.AnnotationBaseline, v1alpha1.AnnotationTokenMemory,
	} {
		patch[k] = nil
		if v, ok := o.GetAnnotations()[k]; ok {
			patch[k] = v
		}
	}
	return kind.PatchMetadata(ctx, a.kube, o, map[string]any{"annotations": patch})
}

// secretless keeps the runtime's own publisher of connection details idle.
type secretless struct{ client.Client }

func (c secretless) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Secret); ok {
		return nil
	}
	return c.Client.Get(ctx, key, o, opts...)
}

// A connector connects for one pass as the provider does, and notes the error of the
// external client.
type connector struct {
	world *world
	err   error
}

func (c *connector) Connect(ctx context.Context, cr *v1alpha1.Subscription) (managed.TypedExternalClient[*v1alpha1.Subscription], error) {
	e, err := c.world.connector().Connect(ctx, cr)
	c.err = err
	return &noting{TypedExternalClient: e, c: c}, err
}

func (w *world) connector() *kind.Connector[*v1alpha1.Subscription] {
	o := kind.Options{Options: xpcontroller.Options{PollInterval: w.poll, Features: &feature.Flags{}}, Gateways: w.pool, Clock: w.clock, Metrics: w.metrics}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	return newKind(w.controller, w.kube).Connector(w.kube, w.kube, w.events, passtest.Untracked(), o)
}

// counted checks what a metric counts.
func (w *world) counted(name string, want float64, labels ...string) {
	w.t.Helper()
	if n := passtest.Counted(w.t, w.metrics, name, labels...); n != want {
		w.t.Errorf("%s %v: %v are counted, want %v", name, labels, n, want)
	}
}

// guard runs the guard of a Subscription that is left alone.
func (w *world) guard(name string) (bool, error) {
	w.t.Helper()
	cr := w.stored(name)
	env, err := w.connector().Environment(w.t.Context(), cr)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.controller.guard(w.t.Context(), cr, env)
}

// guarded checks whether the guard of a Subscription that is left alone lets it go.
func (w *world) guarded(name string, want bool) {
	w.t.Helper()
	if is, err := w.guard(name); is != want || err != nil {
		w.t.Errorf("is %s let go? %t, %v; want %t", name, is, err, want)
	}
}

type noting struct {
	managed.TypedExternalClient[*v1alpha1.Subscription]

	c *connector
}

func (n *noting) Observe(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	o, err := n.TypedExternalClient.Observe(ctx, cr)
	n.c.err, n.c.world.creating = err, err == nil && !o.ResourceExists && !o.ResourceUpToDate && !meta.WasDeleted(cr)
	return o, err
}

func (n *noting) Create(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalCreation, error) {
	o, err := n.TypedExternalClient.Create(ctx, cr)
	n.c.err = err
	return o, err
}

func (n *noting) Update(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalUpdate, error) {
	o, err := n.TypedExternalClient.Update(ctx, cr)
	n.c.err = err
	return o, err
}

func (n *noting) Delete(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalDelete, error) {
	o, err := n.TypedExternalClient.Delete(ctx, cr)
	n.c.err = err
	return o, err
}

// events remember what was said.
type events struct {
	mu  sync.Mutex
	all []event.Event
}

func (e *events) Event(_ runtime.Object, ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

func (e *events) WithAnnotations(...string) event.Recorder { return e }

// count the events with a reason.
func (e *events) count(reason event.Reason) int { return len(e.messages(reason)) }

// messages of the events with a reason.
func (e *events) messages(reason event.Reason) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var m []string
	for _, ev := range e.all {
		if ev.Reason == reason {
			m = append(m, ev.Message)
		}
	}
	return m
}

// count requests at the gateway.
func (s site) count(method string) int {
	return s.Count(emulator.Match{Method: method, Kind: emulator.Subscriptions})
}

// silent fails the test if anything the provider wrote or said holds one of the
// given secrets, or a hash of it.
func (w *world) silent(secrets ...string) {
	w.t.Helper()
	said := append([]string{}, w.failures...)
	w.events.mu.Lock()
	for _, ev := range w.events.all {
		said = append(said, string(ev.Reason), ev.Message)
		for k, v := range ev.Annotations {
			said = append(said, k, v)
		}
	}
	w.events.mu.Unlock()
	l := &v1alpha1.SubscriptionList{}
	if err := w.kube.List(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}
	for _, cr := range l.Items {
		raw, err := json.Marshal(cr)
		if err != nil {
			w.t.Fatal(err)
		}
		said = append(said, string(raw))
	}
	for _, s := range secrets {
		sum := sha256.Sum256([]byte(s))
		for _, form := range []string{s, hex.EncodeToString(sum[:])} {
			for _, text := range said {
				if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
					w.t.Errorf("a secret shows: %s", text)
				}
			}
		}
	}
}

// inForce fails the test unless what a Subscription asks for is in force.
func inForce(t tester, cr *v1alpha1.Subscription) {
	t.Helper()
	for _, c := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, v1alpha1.TypeApplied} {
		if got := cr.GetCondition(c); got.Status != corev1.ConditionTrue {
			t.Errorf("%s is %s: %s %s", c, got.Status, got.Reason, got.Message)
		}
	}
	if !cr.Status.Deployed {
		t.Error("not deployed")
	}
	if id := meta.GetExternalName(cr); id == "" || id != cr.Status.AtProvider.ID {
		t.Errorf("external-name is %q, and status reports %q", id, cr.Status.AtProvider.ID)
	}
}

// tokenInForceIs fails the test unless the condition has a status.
func tokenInForceIs(t tester, cr *v1alpha1.Subscription, want corev1.ConditionStatus) {
	t.Helper()
	if got := cr.GetCondition(v1alpha1.TypeTokenInForce); got.Status != want {
		t.Errorf("TokenInForce is %s, want %s: %s %s", got.Status, want, got.Reason, got.Message)
	}
}

// refused fails the test unless a pass was refused for a reason, and says so.
func refused(t tester, cr *v1alpha1.Subscription, err error, reason xpv2.ConditionReason) {
	t.Helper()
	if !kind.IsRefusal(err) && !kind.IsPostponed(err) {
		t.Errorf("not a refusal: %v", err)
	}
	got := cr.GetCondition(v1alpha1.TypeApplied)
	if got.Status != corev1.ConditionFalse || got.Reason != reason {
		t.Errorf("Applied is %s, want False for %s: %s %s", got.Status, reason, got.Reason, got.Message)
	}
	if r := cr.GetCondition(xpv2.TypeReady); r.Status == corev1.ConditionTrue {
		t.Error("Ready is True")
	}
	if s := cr.GetCondition(xpv2.TypeSynced); s.Status != corev1.ConditionFalse || !strings.Contains(s.Message, got.Message) {
		t.Errorf("Synced is %s: %s", s.Status, s.Message)
	}
}

// baselineOf is what a Subscription records of what it holds.
func baselineOf(t tester, cr *v1alpha1.Subscription) *record.Baseline {
	t.Helper()
	b, err := record.ReadBaseline(cr)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// attemptOf is what a Subscription records of a create.
func attemptOf(t tester, cr *v1alpha1.Subscription) *record.Attempt {
	t.Helper()
	a, err := record.ReadAttempt(cr)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// clientKey of an object: namespace/name, or the name alone if it is the team's.
func clientKey(name string) client.ObjectKey {
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}
	return client.ObjectKey{Namespace: team, Name: name}
}
