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
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// What somebody waits for is looked at itself; what is merely looked after need not be.
//
// contract: A10
// case: H9
func TestLookOf(t *testing.T) {
	own := observation.Need{Urgent: true, MaxAge: time.Nanosecond}
	cases := map[string]struct {
		reason string
		change func(*gatewayv1alpha1.Subscription)
		want   observation.Need
	}{
		"Idle":      {reason: "What was read for all will do.", change: func(*gatewayv1alpha1.Subscription) {}},
		"Edited":    {reason: "An edit waits for nothing.", change: func(o *gatewayv1alpha1.Subscription) { o.Generation = 2 }, want: own},
		"Deleted":   {reason: "Nor does a deletion.", change: func(o *gatewayv1alpha1.Subscription) { o.DeletionTimestamp = ptr(metav1.NewTime(start)) }, want: own},
		"Requested": {reason: "Who asks for a reconcile wants to know.", change: func(o *gatewayv1alpha1.Subscription) { meta.SetReconcileRequest(o, "now") }, want: own},
		"Handled": {reason: "Once.", change: func(o *gatewayv1alpha1.Subscription) {
			meta.SetReconcileRequest(o, "now")
			o.SetLastHandledReconcileAt("now")
		}},
		"OwnInterval": {reason: "One with an interval of its own is read as often.", change: func(o *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyPollInterval: "20s"})
		}, want: observation.Need{Urgent: true, MaxAge: 20 * time.Second}},
		"TooShort": {reason: "But no more often than it may be.", change: func(o *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyPollInterval: "1ms"})
		}, want: observation.Need{Urgent: true, MaxAge: 10 * time.Second}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := subscription(func(o *gatewayv1alpha1.Subscription) {
				o.Generation = 1
				o.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(1))
			}, tc.change)
			want := connection.Look{Who: types.NamespacedName{Namespace: "ns", Name: "s"}, Need: tc.want}
			if diff := cmp.Diff(want, lookOf(o, 10*time.Second)); diff != "" {
				t.Errorf("%s\nlookOf(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What is about to be written is looked at itself before, and nothing else is.
//
// contract: S17, A5, A10
func TestLookCloser(t *testing.T) {
	cases := map[string]struct {
		reason string
		far    managed.ExternalObservation
		err    error
		closer bool
	}{
		"Idle":     {reason: "Nothing will be written.", far: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}},
		"Absent":   {reason: "That it is absent was asked for itself.", far: managed.ExternalObservation{}},
		"Differs":  {reason: "An update must not hit what took its place.", far: managed.ExternalObservation{ResourceExists: true}, closer: true},
		"Imported": {reason: "It was looked at itself, and what was filled in has to be stored.", far: managed.ExternalObservation{ResourceExists: true, ResourceLateInitialized: true}},
		"Failed":   {reason: "What failed leads to nothing.", far: managed.ExternalObservation{ResourceExists: true}, err: errors.New("down")},
	}
	near := managed.ExternalObservation{ResourceExists: true, Diff: "near"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observe := func(o managed.ExternalObservation, err error) managed.TypedExternalClient[*gatewayv1alpha1.Subscription] {
				return managed.TypedExternalClientFns[*gatewayv1alpha1.Subscription]{
					ObserveFn: func(context.Context, *gatewayv1alpha1.Subscription) (managed.ExternalObservation, error) {
						return o, err
					},
				}
			}
			asked := 0
			n := &noting[*gatewayv1alpha1.Subscription]{
				policies:            managed.NewManagementPoliciesResolver(false, nil),
				TypedExternalClient: observe(tc.far, tc.err),
				closer: func(context.Context, *gatewayv1alpha1.Subscription) (managed.TypedExternalClient[*gatewayv1alpha1.Subscription], error) {
					asked++
					return observe(near, nil), nil
				},
			}
			got, _ := n.Observe(t.Context(), subscription())
			want := tc.far
			if tc.closer {
				want = near
			}
			if diff := cmp.Diff(want, got); diff != "" || (asked == 1) != tc.closer {
				t.Errorf("%s\nObserve(): asked %d times, -want, +got:\n%s", tc.reason, asked, diff)
			}
		})
	}
}

// Only where nothing is to be done, and nothing about to change by itself, is it enough
// to be woken.
//
// contract: A10
func TestSettled(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*gatewayv1alpha1.Subscription)
		want   bool
	}{
		"Settled":  {reason: "All is as it should be.", change: func(*gatewayv1alpha1.Subscription) {}, want: true},
		"NotReady": {reason: "It may become ready.", change: func(o *gatewayv1alpha1.Subscription) { o.SetConditions(xpv2.Creating()) }},
		"Refused": {reason: "It may be accepted.", change: func(o *gatewayv1alpha1.Subscription) {
			o.SetConditions(condition(gatewayv1alpha1.TypeApplied, "False"))
		}},
		"Contested": {reason: "It may calm down.", change: func(o *gatewayv1alpha1.Subscription) {
			o.SetConditions(condition(gatewayv1alpha1.TypeContested, "True"))
		}},
		"Deleted": {reason: "It is about to go.", change: func(o *gatewayv1alpha1.Subscription) { o.DeletionTimestamp = ptr(metav1.NewTime(start)) }},
		"OwnInterval": {reason: "It has an interval of its own.", change: func(o *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyPollInterval: "20s"})
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := subscription(func(o *gatewayv1alpha1.Subscription) {
				o.SetConditions(xpv2.Available(), condition(gatewayv1alpha1.TypeApplied, "True"))
			}, tc.change)
			if got := settled(o); got != tc.want {
				t.Errorf("%s\nsettled(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func condition(of xpv2.ConditionType, status string) xpv2.Condition {
	c := xpv2.Condition{Type: of, Reason: "Test"}
	c.Status = map[string]xpv2.Condition{"True": xpv2.Available(), "False": xpv2.Unavailable()}[status].Status
	return c
}

// What was seen at a gateway is behind what users wait for.
func TestWakes(t *testing.T) {
	m := metrics.New("test")
	w := &Wakes{Metrics: m}
	who := []types.NamespacedName{{Namespace: "ns", Name: "a"}, {Namespace: "ns", Name: "b"}}
	// A kind that is not there, or not any more, is nobody's to wake.
	w.Wake(gateway.KindSubscription, observation.Changed, who)

	q := priorityqueue.New[reconcile.Request]("test")
	defer q.ShutDown()
	if err := w.source(gateway.KindSubscription).Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	w.Wake(gateway.KindSubscription, observation.Changed, who)
	if n := passtest.Counted(t, m, "apiplatform_wakeups_total", "changed", "Subscription"); n != 2 {
		t.Errorf("%v are counted, want those two that there is a queue for", n)
	}
	q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "edited"}})
	first, priority, _ := q.GetWithPriority()
	if first.Name != "edited" || priority != 0 {
		t.Errorf("first comes %s with priority %d", first.Name, priority)
	}
	for range who {
		if got, priority, _ := q.GetWithPriority(); priority != handler.LowPriority || got.Namespace != "ns" {
			t.Errorf("%s has priority %d", got, priority)
		}
	}
}
