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

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

// Whoever has a slow gateway waits for it, and nobody else does.
//
// contract: A4
func TestLanes(t *testing.T) {
	began := time.Unix(1000, 0)
	l := newLanes(12)
	enter := func(reason, lane string, now time.Time, want bool) *pass {
		t.Helper()
		p := &pass{}
		if got := l.enter(lane, p, now); got != want {
			t.Errorf("%s enter(%s): %t, want %t", reason, lane, got, want)
		}
		return p
	}
	var under []*pass
	for range 6 {
		under = append(under, enter("There is room.", "a", began, true))
	}
	enter("A lane has a width.", "a", began, false)
	enter("Another lane has its own.", "b", began, true)

	for _, p := range under[2:] {
		l.leave("a", p)
	}
	enter("What is quick leaves room.", "a", began.Add(slowAfter), true)
	enter("What is slow does not.", "a", began.Add(slowAfter+time.Millisecond), false)
	l.leave("a", under[0])
	last := enter("Until it ends.", "a", began.Add(slowAfter+time.Millisecond), true)
	l.leave("a", last)
	for lane, passes := range l.began {
		for p := range passes {
			l.leave(lane, p)
		}
	}
	if len(l.began) != 0 {
		t.Error("a lane is remembered that nobody is in")
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
