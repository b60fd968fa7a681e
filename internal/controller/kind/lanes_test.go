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
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// Whoever has a slow gateway waits for it, and nobody else does.
//
// contract: A4
func TestLanes(t *testing.T) {
	began := time.Unix(1000, 0)
	l := newLanes(12)
	enter := func(reason, lane string, now time.Time, want bool) *pass {
		t.Helper()
		p := &pass{}
		if got := l.enter(lane, p, request("any"), false, now); got != want {
			t.Errorf("%s enter(%s): %t, want %t", reason, lane, got, want)
		}
		return p
	}
	asks := func(p *pass) (answered func()) { return p.waits.begin(func() time.Time { return began }) }
	var under []*pass
	for range 6 {
		under = append(under, enter("There is room.", "a", began, true))
	}
	enter("A lane has a width.", "a", began, false)
	enter("Another lane has its own.", "b", began, true)

	for _, p := range under[2:] {
		l.leave("a", p, began)
	}
	l.leave("a", enter("Whatever takes time elsewhere leaves room.", "a", began.Add(time.Hour), true), began)
	asks(under[0])
	first, second := asks(under[1]), asks(under[1])
	l.leave("a", enter("A quick gateway leaves room.", "a", began.Add(slowAfter), true), began)
	enter("A slow one does not.", "a", began.Add(slowAfter+time.Millisecond), false)
	first()
	enter("Until it has answered all that it was asked.", "a", began.Add(slowAfter+time.Millisecond), false)
	second()
	l.leave("a", enter("Then it does.", "a", began.Add(slowAfter+time.Millisecond), true), began)
	asks(under[1])
	l.leave("a", under[0], began)
	l.leave("a", enter("Until the pass ends.", "a", began.Add(slowAfter+time.Millisecond), true), began)
	for name, in := range l.m {
		for p := range in.under {
			l.leave(name, p, began)
		}
	}
	if len(l.m) != 0 {
		t.Error("a lane is remembered that nobody is in")
	}
	if next := l.leave("nobody's", &pass{}, began); next != nil {
		t.Errorf("%v wait for a lane that nobody was in", next)
	}
}

// Those who wait are let in as others leave, in their order, and first those that
// somebody waits for.
//
// contract: A4
func TestLanesInOrder(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLanes(4)
	first, second := &pass{}, &pass{}
	asks := func(p *pass) { p.waits.begin(func() time.Time { return now }) }
	for _, p := range []*pass{first, second} {
		if !l.enter("a", p, request("in"), false, now) {
			t.Fatal("a lane of two is full with less")
		}
		asks(p)
	}
	for _, name := range []string{"patient", "other", "patient", "gone"} {
		l.enter("a", &pass{}, request(name), false, now)
	}
	l.enter("a", &pass{}, request("edited"), true, now)
	l.enter("a", &pass{}, request("other"), true, now)

	leave := func(p *pass, at time.Time, want ...string) {
		t.Helper()
		var got []string
		for _, r := range l.leave("a", p, at) {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("let in: -want, +got:\n%s", diff)
		}
	}
	leave(first, now, "edited")
	if l.enter("a", &pass{}, request("overtakes"), true, now) {
		t.Error("the place of who was let in is taken by another")
	}
	in := &pass{}
	l.enter("a", in, request("edited"), true, now)
	leave(in, now, "other")
	l.enter("a", in, request("other"), true, now)
	leave(in, now.Add(2*slowAfter))
	// Whatever comes to an end lets in as many as there is room for.
	leave(second, now.Add(2*slowAfter), "overtakes", "patient")
	leave(&pass{}, now.Add(2*slowAfter))
	// A place is not kept for ever.
	leave(&pass{}, now.Add(3*slowAfter+placeKept), "gone")
	leave(&pass{}, now.Add(4*slowAfter+2*placeKept))
	if len(l.m) != 0 {
		t.Errorf("%d lanes are remembered", len(l.m))
	}
}

// Whoever is gone leaves its place to the next.
//
// contract: A4
func TestLanesForget(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLanes(2)
	in := &pass{}
	if !l.enter("a", in, request("in"), false, now) {
		t.Fatal("an empty lane is full")
	}
	for _, name := range []string{"gone", "deleted", "next"} {
		l.enter("a", &pass{}, request(name), false, now)
	}
	if diff := cmp.Diff([]reconcile.Request{request("gone")}, l.leave("a", in, now)); diff != "" {
		t.Errorf("let in: -want, +got:\n%s", diff)
	}
	for _, tc := range []struct {
		forget string
		want   []reconcile.Request
	}{
		{forget: "deleted"},
		{forget: "stranger"},
		{forget: "gone", want: []reconcile.Request{request("next")}},
		{forget: "next"},
	} {
		if diff := cmp.Diff(tc.want, l.forget(request(tc.forget), now)); diff != "" {
			t.Errorf("let in as %s is forgotten: -want, +got:\n%s", tc.forget, diff)
		}
	}
	if len(l.m) != 0 {
		t.Errorf("%d lanes are remembered", len(l.m))
	}
}

// What somebody waits for is not held back by the limit, and does not use it up. All else
// waits for its time once.
//
// contract: A4
func TestPace(t *testing.T) {
	// One at once, and one an hour.
	p := newPace(&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Every(time.Hour), 1)})
	begin := func(name string, urgent, wantAwaited bool, want time.Duration) {
		t.Helper()
		awaited, d := p.begin(request(name), urgent)
		if awaited != wantAwaited || d.Round(time.Minute) != want {
			t.Errorf("%s: awaited %t, to wait %s", name, awaited, d)
		}
	}
	begin("edited", true, true, 0)
	begin("edited", true, true, 0)
	begin("polled", false, false, 0)
	begin("next", false, false, time.Hour)
	begin("edited", true, true, 0)
	p.await(request("next"))
	begin("next", false, true, 0)
	begin("next", false, false, 2*time.Hour)
	begin("next", false, false, 0)
	// Who finds that there is no room has done nothing yet.
	for range 3 {
		p.postpone(request("next"), false)
		begin("next", false, false, 0)
	}
	p.postpone(request("edited"), true)
	begin("edited", false, true, 0)
	p.await(request("next"))
	p.forget(request("next"))
	begin("next", false, false, 3*time.Hour)
	p.forget(request("next"))
	if len(p.awaited)+len(p.granted) != 0 {
		t.Errorf("remembered: %v, %v", p.awaited, p.granted)
	}
}

// A tenant has one lane, however many configurations it makes.
func TestLaneOf(t *testing.T) {
	uses := func(namespace, kind, name string) *gatewayv1alpha1.Subscription {
		s := &gatewayv1alpha1.Subscription{}
		s.SetNamespace(namespace)
		s.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: kind, Name: name})
		return s
	}
	if a, b := laneOf(uses("team", v1alpha1.ProviderConfigKind, "a")), laneOf(uses("team", v1alpha1.ProviderConfigKind, "b")); a != b {
		t.Errorf("two lanes for one namespace: %s, %s", a, b)
	}
	if a, b := laneOf(uses("team", v1alpha1.ClusterProviderConfigKind, "a")), laneOf(uses("other", v1alpha1.ClusterProviderConfigKind, "a")); a != b {
		t.Errorf("two lanes for one configuration: %s, %s", a, b)
	}
	if a, b := laneOf(uses("team", v1alpha1.ProviderConfigKind, "a")), laneOf(uses("a", v1alpha1.ClusterProviderConfigKind, "team")); a == b {
		t.Errorf("one lane for two: %s", a)
	}
}
