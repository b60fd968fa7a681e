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

// Package passtest runs the passes of a managed resource through the runtime's
// own reconciler, against an emulated gateway and an API server in memory, so
// that a kind's tests see what the runtime really does between Observe and the
// end of a pass.
package passtest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// A Bench is a gateway, an API server in memory, and a clock.
type Bench struct {
	Gateway *emulator.Server
	Client  *gateway.Client
	Kube    client.Client
	Events  *Events

	mu  sync.Mutex
	now time.Time
	// running is whether a pass is under way, and refuse whether the API server then
	// refuses to write.
	running bool
	refuse  func() bool
}

// A Tester is a test, be it one of many runs of a property.
type Tester interface {
	Helper()
	Context() context.Context
	Cleanup(cleanup func())
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
}

// An Index of the cache that a kind needs.
type Index struct {
	Of      client.Object
	Field   string
	Extract client.IndexerFunc
}

// New returns a bench with the given objects, for as long as the test runs.
func New(t Tester, o emulator.Options, indexes []Index, objects ...client.Object) *Bench {
	t.Helper()
	g, err := emulator.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	endpoint, err := gateway.ParseEndpoint(g.Endpoint())
	if err != nil {
		t.Fatal(err)
	}

	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{gatewayv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := kubefake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithStatusSubresource(&gatewayv1alpha1.RestApi{}, &gatewayv1alpha1.SubscriptionPlan{}, &gatewayv1alpha1.Subscription{})
	for _, i := range indexes {
		b = b.WithIndex(i.Of, i.Field, i.Extract)
	}
	out := &Bench{
		Gateway: g,
		Client:  gateway.New(gateway.Options{Endpoint: endpoint, Timeout: 5 * time.Second}),
		Events:  &Events{},
		now:     time.Now(),
	}
	out.Kube = b.WithInterceptorFuncs(interceptor.Funcs{Update: out.update, Patch: out.patch, SubResourceUpdate: out.updateStatus, SubResourcePatch: out.patchStatus}).Build()
	return out
}

// Each is the bench's gateway as each pass reads it for itself.
type Each struct{ *gateway.Client }

// ObserveSubscriptionPlan reads a plan.
func (e Each) ObserveSubscriptionPlan(ctx context.Context, _ connection.Look, id string) (*gateway.SubscriptionPlan, error) {
	return e.GetSubscriptionPlan(ctx, id)
}

// ObserveRestAPI reads an API.
func (e Each) ObserveRestAPI(ctx context.Context, _ connection.Look, handle string) (*connection.ObservedRestAPI, error) {
	return connection.ReadRestAPI(ctx, e.Client, handle)
}

// FailCreate has the next create at the gateway fail, and a pass that makes it.
func (b *Bench) FailCreate(t Tester, f emulator.Fault, pass func() error) {
	t.Helper()
	b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
	if err := pass(); err == nil {
		t.Fatal("no error although the create failed")
	}
}

// RefuseWrites has the API server refuse what passes write while the condition
// holds; nil ends that.
func (b *Bench) RefuseWrites(while func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = while
}

func (b *Bench) mayWrite() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running && b.refuse != nil && b.refuse() {
		return kerrors.NewServiceUnavailable("the API server is down")
	}
	return nil
}

// update leaves the status in memory alone, as the provider's client does.
func (b *Bench) update(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
	if err := b.mayWrite(); err != nil {
		return err
	}
	status := reflect.ValueOf(o).Elem().FieldByName("Status")
	before := reflect.ValueOf(o.DeepCopyObject()).Elem().FieldByName("Status")
	err := c.Update(ctx, o, opts...)
	status.Set(before)
	return err
}

func (b *Bench) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := b.mayWrite(); err != nil {
		return err
	}
	return c.Patch(ctx, o, p, opts...)
}

func (b *Bench) updateStatus(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := b.mayWrite(); err != nil {
		return err
	}
	return c.SubResource(sub).Update(ctx, o, opts...)
}

func (b *Bench) patchStatus(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := b.mayWrite(); err != nil {
		return err
	}
	return c.SubResource(sub).Patch(ctx, o, p, opts...)
}

func (b *Bench) setRunning(running bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = running
}

// Now is the bench's clock, which stands still but for Advance.
func (b *Bench) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// Since tells how long ago a time was.
func (b *Bench) Since(t time.Time) time.Duration { return b.Now().Sub(t) }

// Advance the bench's clock.
func (b *Bench) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// Pool reads the gateway for all who look at it, through the configuration that a managed
// resource refers to which refers to none.
func (b *Bench) Pool(t Tester) *connection.Pool {
	t.Helper()
	config := &v1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1},
		Spec: v1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: b.Gateway.URL()},
			Credentials:        v1alpha1.ClusterCredentials{Source: v1alpha1.CredentialsNone},
		},
	}
	if err := b.Kube.Create(t.Context(), config); err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return connection.NewPool(connection.Options{
		Live: b.Kube, Cache: b.Kube, Metadata: b.Kube, Now: b.Now,
		DriftInterval: 30 * time.Second, Woken: func(gateway.Kind, observation.Cause, []types.NamespacedName) {},
	})
}

// Untracked is the use of a configuration that nobody takes note of.
func Untracked() resource.ModernTracker {
	return resource.ModernTrackerFn(func(context.Context, resource.ModernManaged) error { return nil })
}

// Connect returns the external client for one pass.
type Connect[T resource.ModernManaged] func(policies managed.ManagementPoliciesChecker) managed.TypedExternalClient[T]

// Connect a managed resource.
func (c Connect[T]) Connect(_ context.Context, mg T) (managed.TypedExternalClient[T], error) {
	return c(managed.NewManagementPoliciesResolver(true, mg.GetManagementPolicies())), nil
}

// Pass runs one pass over a managed resource and returns the error the external
// client returned, if it did, or that of an API server that refused to write. It
// fails the test if the runtime itself fails otherwise.
func Pass[T resource.ModernManaged](t Tester, b *Bench, gvk schema.GroupVersionKind, mg T, connect managed.TypedExternalConnector[T]) error {
	t.Helper()
	c := &connector[T]{connect: connect}
	m := &fake.Manager{Client: b.Kube, Scheme: b.Kube.Scheme()}
	r := managed.NewReconciler(m, resource.ManagedKind(gvk),
		managed.WithTypedExternalConnector[T](c),
		managed.WithDeterministicExternalName(true),
		managed.WithCreationGracePeriod(0),
		managed.WithInitializers(),
		managed.WithReferenceResolver(managed.ReferenceResolverFn(func(context.Context, resource.Managed) error { return nil })),
		managed.WithCriticalAnnotationUpdater(annotations{b.Kube}),
		managed.WithFinalizer(resource.FinalizerFns{
			AddFinalizerFn: func(ctx context.Context, o resource.Object) error {
				return setFinalizers(ctx, b.Kube, o, []string{managed.FinalizerName})
			},
			RemoveFinalizerFn: func(ctx context.Context, o resource.Object) error { return setFinalizers(ctx, b.Kube, o, nil) },
		}),
		managed.WithManagementPolicies(),
		managed.WithRecorder(event.NewNopRecorder()),
		managed.WithTimeout(time.Minute),
	)
	b.setRunning(true)
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
	b.setRunning(false)
	if kerrors.IsServiceUnavailable(err) {
		return err
	}
	if err != nil {
		t.Fatalf("the runtime fails: %v", err)
	}
	return c.err
}

// patch merges metadata, and takes over only the version of the answer.
func patch(ctx context.Context, c client.Client, o client.Object, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	written, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("not an object")
	}
	if err := c.Patch(ctx, written, client.RawPatch(types.MergePatchType, body)); err != nil {
		return err
	}
	o.SetResourceVersion(written.GetResourceVersion())
	return nil
}

func setFinalizers(ctx context.Context, c client.Client, o client.Object, f []string) error {
	if len(o.GetFinalizers()) == len(f) {
		return nil
	}
	o.SetFinalizers(f)
	return client.IgnoreNotFound(patch(ctx, c, o, map[string]any{"finalizers": f}))
}

type annotations struct{ client.Client }

// UpdateCriticalAnnotations by a patch.
func (a annotations) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	return patch(ctx, a.Client, o, map[string]any{"annotations": o.GetAnnotations()})
}

type connector[T resource.ModernManaged] struct {
	connect managed.TypedExternalConnector[T]
	err     error
}

// Connect returns the external client, and notes its errors.
func (c *connector[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	e, err := c.connect.Connect(ctx, mg)
	c.err = err
	return &noting[T]{TypedExternalClient: e, c: c}, err
}

type noting[T resource.ModernManaged] struct {
	managed.TypedExternalClient[T]

	c *connector[T]
}

// Observe and note the error.
func (n *noting[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	o, err := n.TypedExternalClient.Observe(ctx, mg)
	n.c.err = err
	return o, err
}

// Create and note the error.
func (n *noting[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	o, err := n.TypedExternalClient.Create(ctx, mg)
	n.c.err = err
	return o, err
}

// Update and note the error.
func (n *noting[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	o, err := n.TypedExternalClient.Update(ctx, mg)
	n.c.err = err
	return o, err
}

// Delete and note the error.
func (n *noting[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	o, err := n.TypedExternalClient.Delete(ctx, mg)
	n.c.err = err
	return o, err
}

// Events remember the messages of events.
type Events struct {
	mu  sync.Mutex
	all []event.Event
}

// Event remembers an event.
func (e *Events) Event(_ runtime.Object, ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// WithAnnotations returns the same recorder.
func (e *Events) WithAnnotations(...string) event.Recorder { return e }

// With returns the messages of the events with a reason.
func (e *Events) With(reason event.Reason) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, ev := range e.all {
		if ev.Reason == reason {
			out = append(out, ev.Message)
		}
	}
	return out
}
