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
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// A bench is a reconciler whose runtime does what a test says.
type bench struct {
	*reconciler[*gatewayv1alpha1.Subscription]

	t     *testing.T
	kube  *apiServer
	clock *testclock.FakePassiveClock

	// The runtime returns these, and a pass notes noted.
	result reconcile.Result
	err    error
	noted  error

	passes, guards, forgotten int
	// guarded is what the guard says.
	guarded bool
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	config := &v1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "config", Generation: 1},
		Spec: v1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: "http://gateway.example.org"},
			Credentials:        v1alpha1.ClusterCredentials{Source: v1alpha1.CredentialsNone},
		},
	}
	b := &bench{t: t, kube: newAPIServer(t, append(objects, config)...), clock: testclock.NewFakePassiveClock(start)}
	k := &Kind[*gatewayv1alpha1.Subscription]{
		GroupVersionKind: gatewayv1alpha1.SubscriptionGroupVersionKind,

		New:     func() *gatewayv1alpha1.Subscription { return &gatewayv1alpha1.Subscription{} },
		Secrets: func(*gatewayv1alpha1.Subscription) []string { return []string{"tok"} },
		Guard: func(context.Context, *gatewayv1alpha1.Subscription, Environment) (bool, error) {
			b.guards++
			return b.guarded, nil
		},
		Forget: func(types.UID) { b.forgotten++ },
	}
	b.reconciler = &reconciler[*gatewayv1alpha1.Subscription]{
		environments: environments{kube: b.kube, cache: b.kube, options: Options{
			Gateways: connection.NewPool(connection.Options{Live: b.kube, Cache: b.kube, Metadata: b.kube, Now: b.clock.Now}),
			Wakes:    &Wakes{},
			Metrics:  metrics.New("test"),
		}},
		kind: k, client: b.kube, runtime: reconcile.Func(b.run), writes: &Writes{}, clock: b.clock, log: logging.NewNopLogger(),
		poll:     time.Minute,
		lanes:    newLanes(24),
		pace:     newPace(ratelimiter.NewGlobal(1000)),
		failures: backoff{base: time.Second, most: time.Minute, factor: 2},
		requeues: backoff{base: 10 * time.Millisecond, most: time.Minute, factor: 4},
	}
	b.options.Features = &feature.Flags{}
	return b
}

func (b *bench) run(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	b.passes++
	note(ctx, b.noted)
	return b.result, b.err
}

// reconcile the Subscription, and return when it is looked at again.
func (b *bench) reconcile() time.Duration {
	b.t.Helper()
	res, err := b.Reconcile(b.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "s"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return res.RequeueAfter
}

func (b *bench) wait(d time.Duration) { b.clock.SetTime(b.clock.Now().Add(d)) }

func (b *bench) edit(change func(*gatewayv1alpha1.Subscription)) {
	b.t.Helper()
	o := stored(b.t, b.kube)
	change(o)
	if err := b.kube.Update(b.t.Context(), o); err != nil {
		b.t.Fatal(err)
	}
}

func about(got, want time.Duration, share float64) bool {
	return float64(got) >= (1-share)*float64(want) && float64(got) <= (1+share)*float64(want) && got > 0
}

// requeue is how the runtime asks for another pass.
var requeue = reconcile.Result{Requeue: true} //nolint:staticcheck,gochecknoglobals // The runtime still asks this way.

// When a managed resource is looked at again depends on how its pass went.
//
// contract: A3, A4
func TestNext(t *testing.T) {
	heldOff := &gateway.Error{Reason: gateway.ReasonHeldOff, RetryAfter: 10 * time.Second}
	cases := map[string]struct {
		reason  string
		deleted bool
		noted   error
		result  reconcile.Result
		want    []time.Duration
		share   float64
		// leisure is whether what somebody waits for comes first then.
		leisure bool
	}{
		"Success":        {reason: "After success a poll interval later.", result: reconcile.Result{RequeueAfter: time.Minute}, want: []time.Duration{time.Minute, time.Minute}, leisure: true},
		"Done":           {reason: "What is done for good is not looked at again.", want: []time.Duration{0}, leisure: true},
		"Requeue":        {reason: "The runtime may ask for another pass at once, and again.", result: requeue, want: []time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 160 * time.Millisecond}, share: 0.2},
		"Failure":        {reason: "What fails for the moment is repeated.", noted: errors.New("down"), result: requeue, want: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, share: 0.2},
		"Refusal":        {reason: "What is refused for good is left alone.", noted: Refuse(errors.New("no")), result: requeue, want: []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, 60 * time.Second, 60 * time.Second}, share: 0.1, leisure: true},
		"DeletedRefusal": {reason: "Nothing that is being deleted is.", deleted: true, noted: Refuse(errors.New("no")), want: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, share: 0.2},
		"After":          {reason: "Some failures say when.", noted: After(errors.New("soon"), 5*time.Second), want: []time.Duration{5 * time.Second, 5 * time.Second}, share: 0.1},
		"Now":            {reason: "And if that is now, it is soon, and not never.", noted: After(errors.New("now"), 0), want: []time.Duration{time.Millisecond}, share: 10},
		"HeldOff":        {reason: "A gateway that is held off says when.", noted: heldOff, want: []time.Duration{10 * time.Second, 10 * time.Second}, share: 0.1},
		"RefuseForNoTime": {
			reason: "A refusal without a time is not for ever either.", noted: RefuseAtMost(errors.New("no"), 0), want: []time.Duration{time.Millisecond}, share: 10, leisure: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			o := subscription()
			if tc.deleted {
				o.DeletionTimestamp = ptr(metav1.NewTime(start))
			}
			for i, want := range tc.want {
				res := b.next(o, "causes", tc.result, &pass{err: tc.noted})
				if leisure := res.Priority != nil && *res.Priority == handler.LowPriority; leisure != tc.leisure {
					t.Errorf("%s Pass %d: priority %v", tc.reason, i, res.Priority)
				}
				if want == 0 && res.RequeueAfter == 0 {
					continue
				}
				if !about(res.RequeueAfter, want, tc.share) {
					t.Errorf("%s Pass %d: %s, want about %s", tc.reason, i, res.RequeueAfter, want)
				}
			}
		})
	}
	t.Run("Counted", func(t *testing.T) {
		b, o := newBench(t), subscription()
		for _, err := range []error{nil, errors.New("down"), Refuse(errors.New("no")), RefuseAtMost(errors.New("no"), time.Minute), After(errors.New("soon"), time.Second)} {
			b.next(o, "causes", reconcile.Result{}, &pass{err: err})
		}
		if n := passtest.Counted(t, b.options.Metrics, "apiplatform_holdoffs_total", "Subscription"); n != 2 {
			t.Errorf("%v are counted, want the refusals alone", n)
		}
	})
	t.Run("SuccessForgets", func(t *testing.T) {
		b, o := newBench(t), subscription()
		for range 4 {
			b.next(o, "causes", reconcile.Result{}, &pass{err: Refuse(errors.New("no"))})
			b.next(o, "causes", reconcile.Result{}, &pass{err: errors.New("down")})
		}
		b.next(o, "causes", reconcile.Result{RequeueAfter: time.Minute}, &pass{})
		if got := b.next(o, "causes", reconcile.Result{}, &pass{err: errors.New("down")}).RequeueAfter; !about(got, time.Second, 0.2) {
			t.Errorf("a failure after success: %s, want about 1s", got)
		}
		if got := b.next(o, "causes", reconcile.Result{}, &pass{err: Refuse(errors.New("no"))}).RequeueAfter; !about(got, time.Second, 0.1) {
			t.Errorf("a refusal after success: %s, want about 1s", got)
		}
	})
}

// A refused managed resource is left alone, at no cost, until something changes
// that could cure it.
//
// contract: A3
// case: F4, W5
func TestHeld(t *testing.T) {
	changes := map[string]struct {
		reason string
		change func(b *bench)
		wakes  bool
	}{
		"Nothing": {reason: "Nothing changed.", change: func(*bench) {}},
		"Label": {reason: "A label cures nothing.", change: func(b *bench) {
			b.edit(func(o *gatewayv1alpha1.Subscription) { o.Labels = map[string]string{"a": "b"} })
		}},
		"OwnRecord":   {reason: "Nor does our own record.", change: func(b *bench) { b.annotate(gatewayv1alpha1.AnnotationCreateAttempt, "x") }},
		"OtherSecret": {reason: "Nor a Secret it does not use.", change: func(b *bench) { b.secret("other", "x") }},
		"Time":        {reason: "Time does.", change: func(b *bench) { b.wait(2 * time.Second) }, wakes: true},
		"Spec":        {reason: "So does the spec.", change: func(b *bench) { b.edit(func(o *gatewayv1alpha1.Subscription) { o.Generation++ }) }, wakes: true},
		"Name":        {reason: "And the external-name.", change: func(b *bench) { b.annotate(meta.AnnotationKeyExternalName, "x") }, wakes: true},
		"Request":     {reason: "And a request to reconcile.", change: func(b *bench) { b.annotate(meta.AnnotationKeyReconcileRequestedAt, "x") }, wakes: true},
		"Rotate":      {reason: "And one to rotate.", change: func(b *bench) { b.annotate(gatewayv1alpha1.AnnotationRotateToken, "x") }, wakes: true},
		"Secret":      {reason: "And its Secret.", change: func(b *bench) { b.secret("tok", "new") }, wakes: true},
		"NewSecret": {reason: "Also if it comes anew.", change: func(b *bench) {
			if err := b.kube.Delete(b.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "tok"}}); err != nil {
				b.t.Fatal(err)
			}
		}, wakes: true},
		"Config": {reason: "And the configuration.", change: func(b *bench) { b.config(func(c *v1alpha1.ClusterProviderConfig) { c.Generation++ }) }, wakes: true},
		"Learnt": {reason: "And what is learnt of its gateway.", change: func(b *bench) {
			gw, err := gatewayFor(b.t.Context(), b.options.Gateways, subscription())
			if err != nil {
				b.t.Fatal(err)
			}
			gw.Learn(connection.GenerationInPlace)
		}, wakes: true},
		"NoConfig": {reason: "Also if it goes.", change: func(b *bench) {
			if err := b.kube.Delete(b.t.Context(), &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); err != nil {
				b.t.Fatal(err)
			}
		}, wakes: true},
		"Elsewhere": {reason: "And what its kind knows.", change: func(b *bench) {
			b.kind.Causes = func(context.Context, *gatewayv1alpha1.Subscription) string { return "new" }
		}, wakes: true},
		"Guard":    {reason: "And what cannot wait.", change: func(b *bench) { b.guarded = true }, wakes: true},
		"Deletion": {reason: "And deletion.", change: func(b *bench) { b.delete() }, wakes: true},
	}
	for name, tc := range changes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, subscription(func(o *gatewayv1alpha1.Subscription) { o.Finalizers = []string{managed.FinalizerName} }),
				&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "tok", UID: "tok"}})
			b.noted, b.result = Refuse(errors.New("no")), requeue
			b.reconcile()
			for range 3 {
				if wait := b.reconcile(); wait <= 0 || wait > time.Second {
					t.Errorf("it is looked at again after %s, want at most 1s", wait)
				}
			}
			if b.passes != 1 || b.guards != 3 {
				t.Fatalf("%d passes and %d guards, want 1 and 3", b.passes, b.guards)
			}
			tc.change(b)
			b.reconcile()
			if got := b.passes == 2; got != tc.wakes {
				t.Errorf("%s It is reconciled: %t, want %t", tc.reason, got, tc.wakes)
			}
		})
	}
}

func (b *bench) annotate(key, value string) {
	b.t.Helper()
	b.edit(func(o *gatewayv1alpha1.Subscription) { meta.AddAnnotations(o, map[string]string{key: value}) })
}

func (b *bench) delete() {
	b.t.Helper()
	if err := b.kube.Delete(b.t.Context(), stored(b.t, b.kube)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) secret(name, value string) {
	b.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	if err := b.kube.Get(b.t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		if err := b.kube.Create(b.t.Context(), s); err != nil {
			b.t.Fatal(err)
		}
	}
	s.Data = map[string][]byte{"token": []byte(value)}
	if err := b.kube.Update(b.t.Context(), s); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) config(change func(*v1alpha1.ClusterProviderConfig)) {
	b.t.Helper()
	c := &v1alpha1.ClusterProviderConfig{}
	if err := b.kube.Get(b.t.Context(), types.NamespacedName{Name: "default"}, c); err != nil {
		b.t.Fatal(err)
	}
	change(c)
	if err := b.kube.Update(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
}

// Nothing is decided on an object that is older than the last write to it.
//
// contract: S11
// case: D5
func TestWaitsForCache(t *testing.T) {
	b := newBench(t, subscription(func(o *gatewayv1alpha1.Subscription) { o.ResourceVersion = "5" }))
	b.writes.record(subscription(func(o *gatewayv1alpha1.Subscription) { o.ResourceVersion = "6" }))
	for _, want := range []time.Duration{minLag, 2 * minLag} {
		if wait := b.reconcile(); wait != want || b.passes != 0 {
			t.Fatalf("looked at again after %s, after %d passes", wait, b.passes)
		}
	}
	b.annotate("any", "write")
	b.reconcile()
	if b.passes != 1 {
		t.Errorf("%d passes once the cache shows the write, want 1", b.passes)
	}
}

// All that is remembered of a managed resource is forgotten with it, also when
// another one took its name.
func TestForget(t *testing.T) {
	b := newBench(t, subscription())
	b.noted = Refuse(errors.New("no"))
	b.reconcile()
	b.delete()
	again := subscription(func(o *gatewayv1alpha1.Subscription) { o.UID = "again" })
	if err := b.kube.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if b.forgotten != 1 || b.passes != 2 || len(b.holds.m) != 1 {
		t.Errorf("forgotten %d times, %d passes, holds %v", b.forgotten, b.passes, b.holds.m)
	}
	b.delete()
	for range 2 {
		if wait := b.reconcile(); wait != 0 {
			t.Errorf("what is gone is looked at again after %s", wait)
		}
	}
	if b.forgotten != 2 || len(b.holds.m)+len(b.names.m)+len(b.failures.n)+len(b.requeues.n) != 0 {
		t.Errorf("forgotten %d times, holds %v, names %v", b.forgotten, b.holds.m, b.names.m)
	}
}

// An error of the runtime itself is about the API server: the work queue backs
// off. Namespaces that are not watched are left alone.
func TestReconcile(t *testing.T) {
	b := newBench(t, subscription())
	b.err = errors.New("cannot update status")
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "s"}}
	if _, err := b.Reconcile(t.Context(), req); !errors.Is(err, b.err) {
		t.Errorf("error is %v", err)
	}
	b.options.Namespaces = []string{"other"}
	if res, err := b.Reconcile(t.Context(), req); err != nil || res != (reconcile.Result{}) || b.passes != 1 {
		t.Errorf("another namespace: %v %v after %d passes", res, err, b.passes)
	}
	b.options.Namespaces, b.err = []string{"other", "ns"}, nil
	b.reconcile()
	if b.passes != 2 {
		t.Errorf("%d passes, want 2", b.passes)
	}
}

// What holds nothing is deleted without asking any gateway; what may hold
// something is not, and says what to do about a configuration that is gone.
//
// contract: S32, C4
// case: E1, E4, W6
func TestConnectDeleted(t *testing.T) {
	b := newBench(t)
	asked := 0
	c := &Connector[*gatewayv1alpha1.Subscription]{environments: b.environments, kind: &Kind[*gatewayv1alpha1.Subscription]{
		Holds: func(o *gatewayv1alpha1.Subscription) bool { return o.Status.Deployed },
		Client: func(context.Context, *gatewayv1alpha1.Subscription, Environment) (managed.TypedExternalClient[*gatewayv1alpha1.Subscription], error) {
			asked++
			return nothing[*gatewayv1alpha1.Subscription]{}, nil
		},
	}}
	o := subscription(func(o *gatewayv1alpha1.Subscription) {
		o.DeletionTimestamp = ptr(metav1.NewTime(start))
		o.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "gone"}
	})
	e, err := c.Connect(t.Context(), o)
	if err != nil || asked != 0 {
		t.Fatalf("what holds nothing needs its gateway: %v", err)
	}
	if got, err := e.Observe(t.Context(), o); err != nil || got.ResourceExists {
		t.Errorf("what holds nothing: %+v, %v", got, err)
	}
	o.Status.Deployed = true
	p := &pass{}
	if _, err := c.Connect(withPass(t.Context(), p), o); err == nil || !strings.Contains(err.Error(), "restore it") || !errors.Is(p.err, err) {
		t.Errorf("what may hold something: %v", err)
	}
	o.Spec.ProviderConfigReference.Name = "default"
	if _, err := c.Connect(t.Context(), o); err != nil || asked != 1 {
		t.Errorf("what may hold something, with its config there: %v", err)
	}
	// The last connection that worked serves deletions after the config is gone.
	if err := b.kube.Delete(t.Context(), &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t.Context(), o); err != nil || asked != 2 {
		t.Errorf("what may hold something, after its config went: %v", err)
	}
}

// A pass notes the last error of its external client, from whatever call.
func TestNoting(t *testing.T) {
	want := errors.New("no")
	e := &noting[*gatewayv1alpha1.Subscription]{policies: managed.NewManagementPoliciesResolver(false, nil), TypedExternalClient: managed.TypedExternalClientFns[*gatewayv1alpha1.Subscription]{
		ObserveFn: func(context.Context, *gatewayv1alpha1.Subscription) (managed.ExternalObservation, error) {
			return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
		},
		CreateFn: func(context.Context, *gatewayv1alpha1.Subscription) (managed.ExternalCreation, error) {
			return managed.ExternalCreation{}, want
		},
		UpdateFn: func(context.Context, *gatewayv1alpha1.Subscription) (managed.ExternalUpdate, error) {
			return managed.ExternalUpdate{}, want
		},
		DeleteFn: func(context.Context, *gatewayv1alpha1.Subscription) (managed.ExternalDelete, error) {
			return managed.ExternalDelete{}, want
		},
	}}
	calls := map[string]func(ctx context.Context) error{
		"Create": func(ctx context.Context) error { _, err := e.Create(ctx, subscription()); return err },
		"Update": func(ctx context.Context) error { _, err := e.Update(ctx, subscription()); return err },
		"Delete": func(ctx context.Context) error { _, err := e.Delete(ctx, subscription()); return err },
	}
	for name, call := range calls {
		p := &pass{}
		ctx := withPass(t.Context(), p)
		if o, err := e.Observe(ctx, subscription()); err != nil || !o.ResourceExists || p.err != nil {
			t.Errorf("Observe: %+v, %v, noted %v", o, err, p.err)
		}
		if err := call(ctx); !errors.Is(err, want) || !errors.Is(p.err, want) {
			t.Errorf("%s: %v, noted %v", name, err, p.err)
		}
		if err := call(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s outside of a pass: %v", name, err)
		}
	}
}

// A conflict counts when a managed resource begins to tell of it, whatever call it is
// found by, and not again while it does.
func TestConflictsAreCounted(t *testing.T) {
	says := func(r xpv2.ConditionReason) func(o *gatewayv1alpha1.Subscription) {
		return func(o *gatewayv1alpha1.Subscription) {
			o.SetConditions(xpv2.Condition{Type: gatewayv1alpha1.TypeApplied, Status: corev1.ConditionFalse, Reason: r})
		}
	}
	nothing := func(*gatewayv1alpha1.Subscription) {}
	cases := map[string]struct {
		reason string
		before func(o *gatewayv1alpha1.Subscription)
		call   string
		says   func(o *gatewayv1alpha1.Subscription)
		want   float64
	}{
		"Nothing":         {reason: "Nothing is taken.", before: nothing, call: "Create", says: nothing},
		"Observe":         {reason: "It is seen that the name is taken.", before: nothing, call: "Observe", says: says(gatewayv1alpha1.ReasonConflict), want: 1},
		"Create":          {reason: "The create is refused.", before: nothing, call: "Create", says: says(gatewayv1alpha1.ReasonConflict), want: 1},
		"Update":          {reason: "The new token is taken.", before: says(gatewayv1alpha1.ReasonApplied), call: "Update", says: says(gatewayv1alpha1.ReasonConflict), want: 1},
		"AdoptionRefused": {reason: "It may not be adopted.", before: nothing, call: "Create", says: says(gatewayv1alpha1.ReasonAdoptionRefused), want: 1},
		"Again":           {reason: "It was told before.", before: says(gatewayv1alpha1.ReasonConflict), call: "Create", says: says(gatewayv1alpha1.ReasonConflict)},
		"OtherWords":      {reason: "It is still the same.", before: says(gatewayv1alpha1.ReasonAdoptionRefused), call: "Create", says: says(gatewayv1alpha1.ReasonConflict)},
		"Over":            {reason: "It is over.", before: says(gatewayv1alpha1.ReasonConflict), call: "Create", says: says(gatewayv1alpha1.ReasonApplied)},
		"Refused":         {reason: "Another refusal is none.", before: nothing, call: "Create", says: says(gatewayv1alpha1.ReasonRefused)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			o := subscription(tc.before)
			o.Status.Deployed = true
			c := &Connector[*gatewayv1alpha1.Subscription]{environments: b.environments, kind: b.kind, usage: resource.ModernTrackerFn(
				func(context.Context, resource.ModernManaged) error { return nil },
			)}
			b.kind.Client = func(context.Context, *gatewayv1alpha1.Subscription, Environment) (managed.TypedExternalClient[*gatewayv1alpha1.Subscription], error) {
				return managed.TypedExternalClientFns[*gatewayv1alpha1.Subscription]{
					ObserveFn: func(_ context.Context, o *gatewayv1alpha1.Subscription) (managed.ExternalObservation, error) {
						tc.says(o)
						return managed.ExternalObservation{}, nil
					},
					CreateFn: func(_ context.Context, o *gatewayv1alpha1.Subscription) (managed.ExternalCreation, error) {
						tc.says(o)
						return managed.ExternalCreation{}, nil
					},
					UpdateFn: func(_ context.Context, o *gatewayv1alpha1.Subscription) (managed.ExternalUpdate, error) {
						tc.says(o)
						return managed.ExternalUpdate{}, nil
					},
				}, nil
			}
			e, err := c.Connect(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			calls := map[string]func() error{
				"Observe": func() error { _, err := e.Observe(t.Context(), o); return err },
				"Create":  func() error { _, err := e.Create(t.Context(), o); return err },
				"Update":  func() error { _, err := e.Update(t.Context(), o); return err },
			}
			for range 2 {
				if err := calls[tc.call](); err != nil {
					t.Fatal(err)
				}
			}
			if n := passtest.Counted(t, b.options.Metrics, "apiplatform_conflicts_total", "Subscription"); n != tc.want {
				t.Errorf("%s\n%v are counted, want %v", tc.reason, n, tc.want)
			}
		})
	}
}

// A poll is spread, is soon for what is still coming, and is never later than the
// safety resync.
//
// contract: A3
// case: H9
func TestPollInterval(t *testing.T) {
	condition := func(c ...xpv2.Condition) func(*gatewayv1alpha1.Subscription) {
		return func(o *gatewayv1alpha1.Subscription) { o.SetConditions(c...) }
	}
	cases := map[string]struct {
		reason string
		change func(*gatewayv1alpha1.Subscription)
		poll   time.Duration
		most   time.Duration
		want   time.Duration
		share  float64
	}{
		"Ready":    {reason: "A ready one is looked at once a poll interval.", change: condition(xpv2.Available()), poll: time.Minute, most: time.Hour, want: time.Minute, share: 0.1},
		"New":      {reason: "A new one sooner.", change: func(*gatewayv1alpha1.Subscription) {}, poll: time.Minute, most: time.Hour, want: unreadyPoll, share: 0.1},
		"Creating": {reason: "One that is being created too.", change: condition(xpv2.Creating()), poll: time.Minute, most: time.Hour, want: unreadyPoll, share: 0.1},
		"Short":    {reason: "But not later than its own interval.", change: condition(xpv2.Creating()), poll: time.Second, most: time.Hour, want: time.Second, share: 0.1},
		"Failed":   {reason: "One that failed is not hurried.", change: condition(xpv2.Unavailable()), poll: time.Minute, most: time.Hour, want: time.Minute, share: 0.1},
		"Resync":   {reason: "Nothing is later than the resync.", change: condition(xpv2.Available()), poll: 5 * time.Hour, most: time.Hour, want: time.Hour, share: 0.2},
		"NoResync": {reason: "Unless there is none.", change: condition(xpv2.Available()), poll: 5 * time.Hour, want: 5 * time.Hour, share: 0.1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hook, seen := pollIntervalUpTo(tc.most), map[time.Duration]bool{}
			for range 100 {
				got := hook(subscription(tc.change), tc.poll)
				seen[got] = true
				if !about(got, tc.want, tc.share) {
					t.Fatalf("%s %s, want about %s", tc.reason, got, tc.want)
				}
			}
			if len(seen) < 50 {
				t.Errorf("%s It is not spread: %d values", tc.reason, len(seen))
			}
		})
	}
}

// A managed resource is reconciled when a user changed it, and not because of what
// the provider writes.
//
// contract: A3, A10
func TestDesiredStateChanged(t *testing.T) {
	annotation := func(key string) func(*gatewayv1alpha1.Subscription) {
		return func(o *gatewayv1alpha1.Subscription) { meta.AddAnnotations(o, map[string]string{key: "new"}) }
	}
	cases := map[string]struct {
		change func(*gatewayv1alpha1.Subscription)
		want   bool
	}{
		"Nothing":          {change: func(*gatewayv1alpha1.Subscription) {}},
		"Resync":           {change: func(o *gatewayv1alpha1.Subscription) { o.ResourceVersion = "2" }},
		"Status":           {change: func(o *gatewayv1alpha1.Subscription) { o.Status.AtProvider.ID = "id" }},
		"Finalizer":        {change: func(o *gatewayv1alpha1.Subscription) { o.Finalizers = []string{"f"} }},
		"Baseline":         {change: annotation(gatewayv1alpha1.AnnotationBaseline)},
		"Attempt":          {change: annotation(gatewayv1alpha1.AnnotationCreateAttempt)},
		"TokenMemory":      {change: annotation(gatewayv1alpha1.AnnotationTokenMemory)},
		"CreatePending":    {change: annotation(meta.AnnotationKeyExternalCreatePending)},
		"CreateSucceeded":  {change: annotation(meta.AnnotationKeyExternalCreateSucceeded)},
		"CreateFailed":     {change: annotation(meta.AnnotationKeyExternalCreateFailed)},
		"ExternalName":     {change: annotation(meta.AnnotationKeyExternalName), want: true},
		"Rotate":           {change: annotation(gatewayv1alpha1.AnnotationRotateToken), want: true},
		"Pause":            {change: annotation(meta.AnnotationKeyReconciliationPaused), want: true},
		"ReconcileRequest": {change: annotation(meta.AnnotationKeyReconcileRequestedAt), want: true},
		"Any":              {change: annotation("any"), want: true},
		"Label":            {change: func(o *gatewayv1alpha1.Subscription) { o.Labels = map[string]string{"a": "b"} }, want: true},
		"Spec":             {change: func(o *gatewayv1alpha1.Subscription) { o.Generation++ }, want: true},
		"Deletion": {change: func(o *gatewayv1alpha1.Subscription) {
			o.DeletionTimestamp = ptr(metav1.NewTime(start))
			o.Generation++ // As an API server does.
		}, want: true},
	}
	p := desiredStateChanged()
	for name, tc := range cases {
		was, is := subscription(annotation("kept")), subscription(annotation("kept"))
		tc.change(is)
		if got := p.Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
		if got := p.Update(event.UpdateEvent{ObjectOld: is, ObjectNew: was}); got != tc.want {
			t.Errorf("%s, undone: %t, want %t", name, got, tc.want)
		}
	}
	if !p.Create(event.CreateEvent{Object: subscription()}) || !p.Delete(event.DeleteEvent{Object: subscription()}) {
		t.Error("what comes or goes is not noticed")
	}
}

// A configuration wakes its users when it leads elsewhere, and not with every
// outage it reports; a reference does when it leads elsewhere.
//
// contract: A6, S25
func TestOtherPredicates(t *testing.T) {
	config := func(change func(*v1alpha1.ProviderConfig)) client.Object {
		o := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Generation: 1, Labels: map[string]string{}}}
		change(o)
		return o
	}
	same := config(func(*v1alpha1.ProviderConfig) {})
	for name, tc := range map[string]struct {
		is   client.Object
		want bool
	}{
		"Status": {is: config(func(o *v1alpha1.ProviderConfig) { o.SetConditions(xpv2.Unavailable()) })},
		"Spec":   {is: config(func(o *v1alpha1.ProviderConfig) { o.Generation++ }), want: true},
		"Annotation": {is: config(func(o *v1alpha1.ProviderConfig) {
			o.Annotations = map[string]string{v1alpha1.AnnotationAcceptGateway: "x"}
		}), want: true},
	} {
		if got := configChanged().Update(event.UpdateEvent{ObjectOld: same, ObjectNew: tc.is}); got != tc.want {
			t.Errorf("config, %s: %t, want %t", name, got, tc.want)
		}
	}
	if arrived().Create(event.CreateEvent{Object: same, IsInInitialList: true}) || !arrived().Create(event.CreateEvent{Object: same}) {
		t.Error("what was there at the start is reported, or what comes is not")
	}
	plan := func(change func(*gatewayv1alpha1.SubscriptionPlan)) client.Object {
		o := &gatewayv1alpha1.SubscriptionPlan{}
		change(o)
		return o
	}
	for name, tc := range map[string]struct {
		is   client.Object
		want bool
	}{
		"Spec":   {is: plan(func(o *gatewayv1alpha1.SubscriptionPlan) { o.Generation++ })},
		"ID":     {is: plan(func(o *gatewayv1alpha1.SubscriptionPlan) { o.Status.AtProvider.ID = "id" }), want: true},
		"Labels": {is: plan(func(o *gatewayv1alpha1.SubscriptionPlan) { o.Labels = map[string]string{"a": "b"} }), want: true},
	} {
		if got := ReferenceChanged().Update(event.UpdateEvent{ObjectOld: plan(func(*gatewayv1alpha1.SubscriptionPlan) {}), ObjectNew: tc.is}); got != tc.want {
			t.Errorf("reference, %s: %t, want %t", name, got, tc.want)
		}
	}
}

// A managed resource refers to a configuration of its own namespace, or to one of
// the cluster; without a reference to the cluster's default.
//
// contract: C1, A5
func TestConfigOf(t *testing.T) {
	ref := func(kind, name string) func(*gatewayv1alpha1.Subscription) {
		return func(o *gatewayv1alpha1.Subscription) {
			o.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: name}
		}
	}
	for name, tc := range map[string]struct {
		change func(*gatewayv1alpha1.Subscription)
		want   connection.Ref
	}{
		"None":    {change: func(*gatewayv1alpha1.Subscription) {}, want: connection.Ref{Kind: "ClusterProviderConfig", Name: "default"}},
		"Own":     {change: ref("ProviderConfig", "x"), want: connection.Ref{Kind: "ProviderConfig", Namespace: "ns", Name: "x"}},
		"Cluster": {change: ref("ClusterProviderConfig", "x"), want: connection.Ref{Kind: "ClusterProviderConfig", Name: "x"}},
	} {
		if got := ConfigOf(subscription(tc.change)); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// The users of a configuration are those of all kinds, and a kind that cannot be
// counted is not taken for one without users.
//
// contract: C4
func TestUsers(t *testing.T) {
	u := &Users{}
	if n, err := u.Count(t.Context(), connection.Ref{}); n != 0 || err != nil {
		t.Errorf("no kinds: %d, %v", n, err)
	}
	count := func(n int, err error) func(context.Context, connection.Ref) (int, error) {
		return func(context.Context, connection.Ref) (int, error) { return n, err }
	}
	u.set(schema.GroupKind{Kind: "A"}, count(9, nil))
	u.set(schema.GroupKind{Kind: "A"}, count(2, nil))
	u.set(schema.GroupKind{Kind: "B"}, count(3, nil))
	if n, err := u.Count(t.Context(), connection.Ref{}); n != 5 || err != nil {
		t.Errorf("two kinds: %d, %v", n, err)
	}
	u.set(schema.GroupKind{Kind: "C"}, count(0, errors.New("no")))
	if _, err := u.Count(t.Context(), connection.Ref{}); err == nil {
		t.Error("a kind that cannot be counted has no users")
	}
}
