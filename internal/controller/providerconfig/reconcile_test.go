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

package providerconfig

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// A configuration is ready if nothing is known to be wrong and all that is needed
// is known to be right. Of several things the first that is wrong is named.
//
// contract: C3
func TestConditions(t *testing.T) {
	good := connection.Finding{Status: connection.StatusTrue, Reason: "Good"}
	bad := connection.Finding{Status: connection.StatusFalse, Reason: "Bad", Message: "it is bad"}
	worse := connection.Finding{Status: connection.StatusFalse, Reason: "Worse", Message: "it is worse"}
	unknown := connection.Finding{Status: connection.StatusUnknown, Reason: "NotYetKnown"}
	unsure := connection.Finding{Status: connection.StatusUnknown, Reason: "Unsure", Message: "it is not sure"}
	for name, tc := range map[string]struct {
		health connection.Health
		cause  error
		want   xpv2.Condition
	}{
		"Good": {
			connection.Health{Reachable: good, Authenticated: good, Authorized: good, Writable: bad}, nil,
			xpv2.Condition{Status: "True", Reason: "Available"},
		},
		"NothingKnown": {
			connection.Health{}, nil,
			xpv2.Condition{Status: "False", Reason: "Unknown"},
		},
		"First": {
			connection.Health{Reachable: bad, Authenticated: worse, Authorized: good}, nil,
			xpv2.Condition{Status: "False", Reason: "Bad", Message: "it is bad"},
		},
		"WrongBeforeUnknown": {
			connection.Health{Reachable: unknown, Authenticated: bad, Authorized: unknown}, nil,
			xpv2.Condition{Status: "False", Reason: "Bad", Message: "it is bad"},
		},
		"ExplainedBeforeUnknown": {
			connection.Health{Reachable: unknown, Authenticated: unsure, Authorized: unknown}, nil,
			xpv2.Condition{Status: "False", Reason: "Unsure", Message: "it is not sure"},
		},
		"Misconfigured": {
			connection.Health{Reachable: good, Authenticated: good, Authorized: good}, errors.New("no such Secret"),
			xpv2.Condition{Status: "False", Reason: "Misconfigured", Message: "no such Secret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditions(7, tc.health, tc.cause)[0]
			got.LastTransitionTime = metav1.Time{}
			tc.want.Type, tc.want.ObservedGeneration = xpv2.TypeReady, 7
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// What is not known in this process leaves what was found out before.
//
// contract: C3, A10
func TestKept(t *testing.T) {
	is := func(status string, generation int64, message string) xpv2.Condition {
		return xpv2.Condition{Type: v1alpha1.TypeWritable, Status: corev1.ConditionStatus(status), Message: message, ObservedGeneration: generation}
	}
	for name, tc := range map[string]struct {
		was, is xpv2.Condition
		kept    bool
	}{
		"Unknown":            {is("True", 2, ""), is("Unknown", 2, ""), true},
		"UnknownWas":         {is("Unknown", 2, ""), is("Unknown", 2, ""), false},
		"ExplainedUnknown":   {is("True", 2, ""), is("Unknown", 2, "no credentials"), false},
		"Known":              {is("True", 2, ""), is("False", 2, "read-only"), false},
		"OfAnotherEndpoint":  {is("True", 1, ""), is("Unknown", 2, ""), false},
		"NothingThereBefore": {xpv2.Condition{Type: v1alpha1.TypeReachable, Status: "True", ObservedGeneration: 2}, is("Unknown", 2, ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			pc.SetConditions(tc.was)
			if got := len(kept(pc, []xpv2.Condition{tc.is})) == 0; got != tc.kept {
				t.Errorf("kept: %t, want %t", got, tc.kept)
			}
		})
	}
}

// contract: C3, A10
func TestGatewayStatus(t *testing.T) {
	at := func(minutes int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2031, 1, 2, 3, minutes, 4, 0, time.UTC)}
	}
	health := func(id string, g connection.Generation, minutes int) connection.Health {
		return connection.Health{GatewayID: id, Generation: g, LastSeen: at(minutes).Add(5 * time.Millisecond)}
	}
	lost := func(h connection.Health) connection.Health {
		h.Reachable.Status = connection.StatusFalse
		return h
	}
	status := func(id string, g v1alpha1.GatewayGeneration, seen *metav1.Time) v1alpha1.GatewayStatus {
		return v1alpha1.GatewayStatus{ID: id, Generation: g, LastSeen: seen}
	}
	for name, tc := range map[string]struct {
		was  v1alpha1.GatewayStatus
		h    connection.Health
		want v1alpha1.GatewayStatus
	}{
		"First":          {v1alpha1.GatewayStatus{}, health("a", "Legacy", 1), status("a", "Legacy", at(1))},
		"NeverSeen":      {v1alpha1.GatewayStatus{}, connection.Health{}, v1alpha1.GatewayStatus{}},
		"SoonAgain":      {status("a", "Legacy", at(1)), health("a", "Legacy", 59), status("a", "Legacy", at(1))},
		"MuchLater":      {status("a", "Legacy", at(1)), health("a", "Legacy", 61), status("a", "Legacy", at(61))},
		"NoLongerSeen":   {status("a", "Legacy", at(1)), lost(health("a", "Legacy", 9)), status("a", "Legacy", at(9))},
		"OtherSawLonger": {status("a", "Legacy", at(9)), lost(health("a", "Legacy", 5)), status("a", "Legacy", at(9))},
		"NotSeenAgain":   {status("a", "Legacy", at(1)), connection.Health{GatewayID: "a", Generation: "Legacy"}, status("a", "Legacy", at(1))},
		"OtherLearnt":    {status("a", "Legacy", at(1)), health("", "", 2), status("a", "Legacy", at(1))},
		"OtherLearntIt":  {status("a", "Legacy", at(1)), health("a", "", 2), status("a", "Legacy", at(1))},
		"LearntAnew":     {status("a", "Legacy", at(1)), health("a", "InPlace", 2), status("a", "InPlace", at(1))},
		"OtherGateway":   {status("a", "Legacy", at(1)), health("b", "", 2), status("b", "", at(1))},
	} {
		t.Run(name, func(t *testing.T) {
			got := gatewayStatus(tc.was, tc.h)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}

	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	was := status("a", "Legacy", at(1))
	pc.SetGatewayStatus(&was)
	pc.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReachable, ObservedGeneration: 1})
	if got := known(pc); got != (v1alpha1.GatewayStatus{}) {
		t.Errorf("what is known of another endpoint says nothing about this one, got %+v", got)
	}
}

// A configuration of a namespace whose managed resources somebody else looks after
// is left alone.
func TestOtherNamespace(t *testing.T) {
	r := &reconciler{kind: v1alpha1.ProviderConfigKind, namespaces: []string{"team"}}
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "other", Name: "pc"}}
	// Without a client, anything done about it would be noticed.
	if res, err := r.Reconcile(t.Context(), req); res != (reconcile.Result{}) || err != nil {
		t.Errorf("got %v, %v", res, err)
	}
}

// A write that comes too late is repeated, and soon.
func TestFailed(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{}, "pc", errors.New("too late"))
	if res, err := failed(fmt.Errorf("wrapped: %w", conflict)); res.RequeueAfter != cacheLag || err != nil {
		t.Errorf("conflict: %v, %v", res, err)
	}
	if res, err := failed(errors.New("no")); res != (reconcile.Result{}) || err == nil {
		t.Errorf("error: %v, %v", res, err)
	}
}

func TestInUse(t *testing.T) {
	if one, two := inUse(1, "ProviderConfig"), inUse(2, "ProviderConfig"); !strings.HasPrefix(one, "1 managed resource still refers to this ProviderConfig;") ||
		!strings.HasPrefix(two, "2 managed resources still refer to this ProviderConfig;") {
		t.Errorf("got %q, %q", one, two)
	}
}
