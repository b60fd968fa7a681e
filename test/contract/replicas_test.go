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

package contract

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// handOver is how long it may take until another replica works when the one that led
// ends. Without its having let go of the lease it would be a minute.
const handOver = 20 * time.Second

// Of two replicas one works. When it ends the other one goes on soon, with all that the
// first one knew.
func TestReplicas(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.reconfigure(func(o *controller.Options) {
			o.LeaderElection, o.LeaderElectionNamespace = true, w.ns
		})
		s := w.subscribed("s")
		end := w.stop
		w.start(w.ns)

		puts := emulator.Match{Method: http.MethodPut}
		set := func(status gatewayv1alpha1.SubscriptionStatusValue) {
			t.Helper()
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.Status = &status })
			w.ready(s)
		}
		set(gatewayv1alpha1.SubscriptionInactive)
		w.polled(s.Status.AtProvider.ID, 3)
		if n := w.gw.Count(puts); n != 1 {
			t.Errorf("%d updates by two replicas, want 1", n)
		}

		if err := w.get(s); err != nil {
			t.Fatal(err)
		}
		before := s.GetResourceVersion()
		end()
		began := time.Now()
		looks := looks(w.gw, s.Status.AtProvider.ID)
		seen := w.gw.Count(looks)
		w.eventually("the other replica looks at the gateway", func() error {
			if w.gw.Count(looks) == seen {
				return errors.New("it does not")
			}
			return nil
		})
		if took := time.Since(began); took > handOver {
			t.Errorf("the other replica works after %s", took)
		}
		if err := w.get(s); err != nil || s.GetResourceVersion() != before {
			t.Errorf("the other replica wrote to what is settled: %v", err)
		}
		set(gatewayv1alpha1.SubscriptionActive)
		if n := w.gw.Count(puts); n != 2 {
			t.Errorf("%d updates, want 2", n)
		}
	})
}

// Two providers that both work on the same objects get in each other's way, but create
// nothing twice and lose nothing. That is how it is for a moment where one replaces another
// without leader election.
//
// contract: S11
func TestTwoAtWork(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		stop := w.stop
		w.start(w.ns)
		defer stop()
		w.gw.AddAPI("api")
		var all []*gatewayv1alpha1.Subscription
		for i := range 10 {
			name := fmt.Sprint("s", i)
			s := w.subscription(name, "api")
			w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
			all = append(all, s)
		}
		for _, s := range all {
			w.ready(s)
		}
		for _, s := range all {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionStatusValue("INACTIVE"))
			})
		}
		for _, s := range all {
			w.ready(s)
			got, ok := w.gw.Subscription(s.Status.AtProvider.ID)
			if !ok || got.Status != "INACTIVE" || !w.gw.HoldsToken(got.ID, "token-of-"+s.GetName()) {
				t.Errorf("%s has %+v", s.GetName(), got)
			}
		}
		if n := len(w.gw.Subscriptions()); n != len(all) {
			t.Errorf("%d subscriptions at the gateway, want %d", n, len(all))
		}
		w.delete(asObjects(all)...)
		w.gone(asObjects(all)...)
		if n := len(w.gw.Subscriptions()); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

func asObjects[T client.Object](all []T) []client.Object {
	out := make([]client.Object, 0, len(all))
	for _, o := range all {
		out = append(out, o)
	}
	return out
}
