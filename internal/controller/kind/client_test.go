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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

func ptr[T any](v T) *T { return &v }

// An apiServer in memory that counts what is written to it.
type apiServer struct {
	client.Client

	calls map[string]int
	err   error
}

func (s *apiServer) called(what string) error {
	s.calls[what]++
	return s.err
}

func newAPIServer(t *testing.T, objects ...client.Object) *apiServer {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, gatewayv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &apiServer{calls: map[string]int{}}
	s.Client = kubefake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&gatewayv1alpha1.Subscription{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if _, ok := o.(*corev1.Secret); ok {
					s.calls["get secret"]++
				}
				return c.Get(ctx, key, o, opts...)
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if err := s.called("create"); err != nil {
					return err
				}
				return c.Create(ctx, o, opts...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				if err := s.called("update"); err != nil {
					return err
				}
				return c.Update(ctx, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if err := s.called("patch"); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				if err := s.called("status"); err != nil {
					return err
				}
				return c.SubResource(sub).Update(ctx, o, opts...)
			},
		}).Build()
	return s
}

func subscription(change ...func(*gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
	o := &gatewayv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s", UID: "uid", Generation: 1}}
	for _, c := range change {
		c(o)
	}
	return o
}

func stored(t *testing.T, c client.Reader) *gatewayv1alpha1.Subscription {
	t.Helper()
	o := &gatewayv1alpha1.Subscription{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "s"}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Annotations are made equal to those in memory where they are the provider's own,
// and nobody else's are touched; nothing else of the object is.
//
// contract: S1, S11
// case: D2
func TestAnnotations(t *testing.T) {
	s := newAPIServer(t, subscription(func(o *gatewayv1alpha1.Subscription) {
		o.Annotations = map[string]string{
			gatewayv1alpha1.AnnotationCreateAttempt: "old", gatewayv1alpha1.AnnotationTokenMemory: "old",
			meta.AnnotationKeyExternalCreatePending: "old", "theirs": "kept", gatewayv1alpha1.AnnotationRotateToken: "kept",
		}
		o.Labels = map[string]string{"label": "kept"}
	}))
	o := stored(t, s)
	// Somebody else writes meanwhile: the object in memory is stale.
	other := stored(t, s)
	other.Annotations["new"] = "kept"
	other.Spec.ForProvider.APIID = ptr("books")
	if err := s.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}

	delete(o.Annotations, gatewayv1alpha1.AnnotationCreateAttempt)
	delete(o.Annotations, "theirs")
	const baseline = `{"v":1,"id":"id"}`
	o.Annotations[gatewayv1alpha1.AnnotationBaseline] = baseline
	o.Annotations[meta.AnnotationKeyExternalName] = "id"
	o.Labels = nil
	o.Status.AtProvider.ID = "in memory"
	if err := (&Annotations{client: s}).UpdateCriticalAnnotations(t.Context(), o); err != nil {
		t.Fatal(err)
	}

	got := stored(t, s)
	want := map[string]string{
		gatewayv1alpha1.AnnotationTokenMemory: "old", meta.AnnotationKeyExternalCreatePending: "old",
		gatewayv1alpha1.AnnotationBaseline: baseline, meta.AnnotationKeyExternalName: "id",
		"theirs": "kept", gatewayv1alpha1.AnnotationRotateToken: "kept", "new": "kept",
	}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("annotations: -want, +got:\n%s", diff)
	}
	if got.Labels["label"] != "kept" || *got.Spec.ForProvider.APIID != "books" {
		t.Error("something else was written")
	}
	if o.Status.AtProvider.ID != "in memory" || o.GetResourceVersion() != got.GetResourceVersion() {
		t.Error("the object in memory lost its status, or has not the version that was written")
	}
	if _, ok := o.Annotations["new"]; ok {
		t.Error("more of the answer was taken over than its version")
	}
}

// What is written to one object never lands in another one of its name.
//
// contract: S11, A11
func TestPatchMetadataOfAnotherObject(t *testing.T) {
	s := newAPIServer(t, subscription(func(o *gatewayv1alpha1.Subscription) { o.UID = "another" }))
	o := subscription(func(o *gatewayv1alpha1.Subscription) {
		o.Annotations = map[string]string{meta.AnnotationKeyExternalName: "id"}
	})
	_ = (&Annotations{client: uidChecked{s}}).UpdateCriticalAnnotations(t.Context(), o)
	if got := stored(t, s); len(got.Annotations) != 0 {
		t.Errorf("an object of the same name was written: %v", got.Annotations)
	}
}

// uidChecked refuses a patch for another UID, as an API server does.
type uidChecked struct{ client.Client }

func (c uidChecked) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	now := &gatewayv1alpha1.Subscription{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	if want := `"uid":"` + string(now.GetUID()) + `"`; !strings.Contains(string(data), want) {
		return kerrors.NewConflict(gatewayv1alpha1.SchemeGroupVersion.WithResource("subscriptions").GroupResource(), o.GetName(), errors.New("uid"))
	}
	return c.Client.Patch(ctx, o, p, opts...)
}

// The finalizer is added and removed alone, and status in memory survives that.
func TestFinalizer(t *testing.T) {
	s := newAPIServer(t, subscription(func(o *gatewayv1alpha1.Subscription) { o.Finalizers = []string{"theirs"} }))
	f := &finalizer{client: s}
	o := stored(t, s)
	o.Status.AtProvider.ID = "in memory"
	o.Annotations = map[string]string{"in": "memory"}
	for range 2 {
		if err := f.AddFinalizer(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	got := stored(t, s)
	if diff := cmp.Diff([]string{"theirs", managed.FinalizerName}, got.Finalizers); diff != "" || len(got.Annotations) != 0 {
		t.Errorf("finalizers: -want, +got:\n%s", diff)
	}
	if s.calls["patch"] != 1 || s.calls["update"] != 0 {
		t.Errorf("calls: %v", s.calls)
	}
	if o.Status.AtProvider.ID != "in memory" || o.GetResourceVersion() != got.GetResourceVersion() {
		t.Error("the object in memory lost its status, or has another version")
	}

	// A stale list must not drop what somebody else added.
	other := stored(t, s)
	other.Finalizers = append(other.Finalizers, "more")
	if err := s.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := f.RemoveFinalizer(t.Context(), o); !kerrors.IsConflict(err) {
		t.Errorf("a stale list was written: %v", err)
	}

	o = stored(t, s)
	for range 2 {
		if err := f.RemoveFinalizer(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"theirs", "more"}, stored(t, s).Finalizers); diff != "" {
		t.Errorf("finalizers: -want, +got:\n%s", diff)
	}
	// One that is gone has no finalizer left.
	gone := subscription(func(o *gatewayv1alpha1.Subscription) {
		o.Name, o.Finalizers = "gone", []string{managed.FinalizerName}
	})
	if err := f.RemoveFinalizer(t.Context(), gone); err != nil {
		t.Errorf("the finalizer of an object that is gone: %v", err)
	}
}

// A create that is about to be stored as pending stores the finalizer with it.
//
// contract: A10
func TestFinalizerOfACreate(t *testing.T) {
	s := newAPIServer(t, subscription())
	f := &finalizer{client: s}
	o := stored(t, s)
	if err := f.AddFinalizer(withPass(t.Context(), &pass{creating: true}), o); err != nil {
		t.Fatal(err)
	}
	if !meta.FinalizerExists(o, managed.FinalizerName) || len(s.calls) != 0 {
		t.Errorf("finalizers in memory %v, calls %v", o.Finalizers, s.calls)
	}
}

func remembersSubscriptions(o client.Object) bool {
	_, ok := o.(*gatewayv1alpha1.Subscription)
	return ok
}

// A status that is there already is not written again, and any other is.
//
// contract: A10
func TestThriftyStatus(t *testing.T) {
	ready := func(o *gatewayv1alpha1.Subscription) { o.SetConditions(xpv2.Available()) }
	cases := map[string]struct {
		reason string
		change func(o *gatewayv1alpha1.Subscription)
		writes int
	}{
		"Equal":        {reason: "Nothing changed.", change: func(*gatewayv1alpha1.Subscription) {}},
		"SetAgain":     {reason: "A condition that says the same is no change.", change: ready},
		"OnlySpec":     {reason: "A status write does not write spec.", change: func(o *gatewayv1alpha1.Subscription) { o.Spec.ForProvider.APIID = ptr("x") }},
		"OnlyMetadata": {reason: "Nor metadata.", change: func(o *gatewayv1alpha1.Subscription) { o.Annotations = map[string]string{"a": "b"} }},
		"Condition":    {reason: "Another condition is a change.", change: func(o *gatewayv1alpha1.Subscription) { o.SetConditions(xpv2.Unavailable()) }, writes: 1},
		"Field":        {reason: "So is a field.", change: func(o *gatewayv1alpha1.Subscription) { o.Status.AtProvider.Status = "ACTIVE" }, writes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, subscription(ready))
			c := &thriftyClient{Client: s, writes: &Writes{}, absent: &Absent{}, remembers: remembersSubscriptions}
			o := stored(t, s)
			tc.change(o)
			if err := c.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if s.calls["status"] != tc.writes {
				t.Errorf("%s %d writes, want %d", tc.reason, s.calls["status"], tc.writes)
			}
		})
	}

	t.Run("StaleCache", func(t *testing.T) {
		s := newAPIServer(t, subscription(ready))
		cache := stored(t, s)
		c := &thriftyClient{Client: stale{s, cache}, writes: &Writes{}, absent: &Absent{}, remembers: remembersSubscriptions}
		// It was written since, and now is to be what the cache still shows.
		o := stored(t, s)
		o.SetConditions(xpv2.Unavailable())
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		o.Status = *cache.Status.DeepCopy()
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, s).GetCondition(xpv2.TypeReady).Status; got != corev1.ConditionTrue || s.calls["status"] != 2 {
			t.Errorf("Ready is %s after %d writes", got, s.calls["status"])
		}
	})
	t.Run("NotOurs", func(t *testing.T) {
		s := newAPIServer(t, subscription(ready))
		c := &thriftyClient{Client: s, writes: &Writes{}, absent: &Absent{}, remembers: func(client.Object) bool { return false }}
		if err := c.Status().Update(t.Context(), stored(t, s)); err != nil {
			t.Fatal(err)
		}
		if s.calls["status"] != 1 {
			t.Errorf("%d writes, want 1: other kinds are none of its business", s.calls["status"])
		}
	})
}

// stale reads a Subscription as it was.
type stale struct {
	client.Client

	was *gatewayv1alpha1.Subscription
}

func (c stale) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if cr, ok := o.(*gatewayv1alpha1.Subscription); ok {
		c.was.DeepCopyInto(cr)
		return nil
	}
	return c.Client.Get(ctx, key, o, opts...)
}

// An update leaves the status in memory alone, so that what Observe found is still
// there when status is written.
func TestThriftyUpdateKeepsStatus(t *testing.T) {
	s := newAPIServer(t, subscription())
	c := &thriftyClient{Client: s, writes: &Writes{}, absent: &Absent{}, remembers: remembersSubscriptions}
	o := stored(t, s)
	o.Status.AtProvider.ID = "in memory"
	o.SetConditions(xpv2.Available())
	want := o.Status.DeepCopy()
	o.Annotations = map[string]string{"a": "b"}
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, o.Status); diff != "" {
		t.Errorf("status in memory: -want, +got:\n%s", diff)
	}
	got := stored(t, s)
	if got.Annotations["a"] != "b" || got.Status.AtProvider.ID != "" || got.ResourceVersion != o.ResourceVersion {
		t.Errorf("stored: %+v", got)
	}
	if err := c.Update(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nowhere"}}); !kerrors.IsNotFound(err) {
		t.Errorf("other kinds are passed on: %v", err)
	}
}

// A write is remembered until it is shown, by whatever way it went; one that
// failed is not.
//
// contract: S11
// case: D5
func TestWrites(t *testing.T) {
	ways := map[string]func(ctx context.Context, c client.Client, o *gatewayv1alpha1.Subscription) error{
		"Update": func(ctx context.Context, c client.Client, o *gatewayv1alpha1.Subscription) error {
			o.Annotations = map[string]string{"a": "b"}
			return c.Update(ctx, o)
		},
		"Patch": func(ctx context.Context, c client.Client, o *gatewayv1alpha1.Subscription) error {
			return PatchMetadata(ctx, c, o, map[string]any{"annotations": map[string]string{"a": "b"}})
		},
		"Status": func(ctx context.Context, c client.Client, o *gatewayv1alpha1.Subscription) error {
			o.Status.AtProvider.ID = "id"
			return c.Status().Update(ctx, o)
		},
	}
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			s, w := newAPIServer(t, subscription()), &Writes{}
			c := &thriftyClient{Client: s, writes: w, absent: &Absent{}, remembers: remembersSubscriptions}
			before := stored(t, s)
			if w.Lag(before) != 0 {
				t.Error("nothing was written, and something is waited for")
			}
			if err := write(t.Context(), c, stored(t, s)); err != nil {
				t.Fatal(err)
			}
			var lags []time.Duration
			for range 7 {
				lags = append(lags, w.Lag(before)/time.Millisecond)
			}
			if diff := cmp.Diff([]time.Duration{20, 40, 80, 160, 320, 640, 640}, lags); diff != "" {
				t.Errorf("a cache that does not show the write is asked again later each time: -want ms, +got ms:\n%s", diff)
			}
			if other := subscription(func(o *gatewayv1alpha1.Subscription) { o.UID, o.ResourceVersion = "other", "1" }); w.Lag(other) != 0 {
				t.Error("another object is waited for")
			}
			after := stored(t, s)
			if w.Lag(after) != 0 || w.Lag(before) != 0 {
				t.Error("once it was shown, it is waited for no more")
			}

			s.err = errors.New("down")
			if err := write(t.Context(), c, stored(t, s)); err == nil && name != "Status" {
				t.Fatal("no error")
			}
			if w.Lag(before) != 0 {
				t.Error("a write that failed is waited for")
			}
			s.err = nil
			w.record(after)
			w.Forget("uid")
			if w.Lag(before) != 0 {
				t.Error("what was forgotten is waited for")
			}
		})
	}
	for name, tc := range map[string]struct {
		reason  string
		finally []string
		gone    bool
	}{
		"Gone":  {reason: "Whatever version the cache still shows, the object is not there.", gone: true},
		"Held":  {reason: "Somebody else's finalizer keeps it.", finally: []string{"theirs"}},
		"Alive": {reason: "Nobody deletes it."},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newAPIServer(t, subscription(func(o *gatewayv1alpha1.Subscription) {
				o.Finalizers = append([]string{managed.FinalizerName}, tc.finally...)
			})), &Writes{}
			if name != "Alive" {
				if err := s.Delete(t.Context(), stored(t, s)); err != nil {
					t.Fatal(err)
				}
			}
			shown := stored(t, s)
			f := &finalizer{client: &thriftyClient{Client: s, writes: w, absent: &Absent{}, remembers: remembersSubscriptions}}
			if err := f.RemoveFinalizer(t.Context(), stored(t, s)); err != nil {
				t.Fatal(err)
			}
			newer := shown.DeepCopy()
			newer.ResourceVersion = "1000000"
			if waits := w.Lag(newer) > 0; waits != tc.gone {
				t.Errorf("%s\nwaited for: %t, want %t", tc.reason, waits, tc.gone)
			}
			w.Forget(shown.UID)
			if w.Lag(shown) != 0 {
				t.Error("what was forgotten is waited for")
			}
		})
	}
	t.Run("Unreadable", func(t *testing.T) {
		w := &Writes{}
		w.record(subscription(func(o *gatewayv1alpha1.Subscription) { o.ResourceVersion = "opaque" }))
		if w.Lag(subscription(func(o *gatewayv1alpha1.Subscription) { o.ResourceVersion = "5" })) != 0 {
			t.Error("a version that cannot be compared is waited for, for ever")
		}
		w.record(subscription())
		if w.Lag(subscription()) != 0 {
			t.Error("a write without a version is waited for")
		}
	})
}

// The runtime's publisher of connection details does nothing at all.
//
// contract: S27, A10
func TestPublisherIsIdle(t *testing.T) {
	s := newAPIServer(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "taken"}, Data: map[string][]byte{"token": []byte("theirs")}})
	p := managed.NewAPILocalSecretPublisher(secretless{s}, s.Scheme())
	for name, details := range map[string]managed.ConnectionDetails{"None": nil, "Empty": {}, "Some": {"token": []byte("x")}} {
		for _, secret := range []string{"", "new", "taken"} {
			o := subscription(func(o *gatewayv1alpha1.Subscription) {
				if secret != "" {
					o.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
				}
			})
			published, err := p.PublishConnection(t.Context(), o, details)
			if err != nil || published {
				t.Errorf("%s/%s: published %t, error %v", name, secret, published, err)
			}
			if err := p.UnpublishConnection(t.Context(), o, details); err != nil {
				t.Errorf("%s/%s: %v", name, secret, err)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{}, s.calls); diff != "" {
		t.Errorf("calls: -want, +got:\n%s", diff)
	}
	// All else is read as ever.
	if err := (secretless{s}).Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "s"}, &gatewayv1alpha1.Subscription{}); !kerrors.IsNotFound(err) {
		t.Errorf("other kinds are passed on: %v", err)
	}
}
