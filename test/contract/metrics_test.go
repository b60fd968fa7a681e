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
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What happens is counted, in the registry that the manager serves.
func TestMetrics(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		registry := prometheus.NewRegistry()
		w.reconfigure(func(o *controller.Options) { o.Registerer = registry })
		counted := func(name string, labels ...string) float64 {
			t.Helper()
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() != "apiplatform_"+name {
					continue
				}
				for _, m := range f.GetMetric() {
					values := []string{}
					for _, l := range m.GetLabel() {
						values = append(values, l.GetValue())
					}
					if strings.Join(values, " ") == strings.Join(labels, " ") {
						return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
					}
				}
			}
			return -1
		}
		is := func(want float64, name string, labels ...string) {
			t.Helper()
			w.eventually(fmt.Sprintf("%s %q is %v", name, labels, want), func() error {
				if got := counted(name, labels...); got != want {
					return fmt.Errorf("it is %v", got)
				}
				return nil
			})
		}
		config := []string{v1alpha1.ProviderConfigKind, "gateway", w.ns}

		s := w.subscribed("one")
		is(1, "build_info", "test")
		is(1, "gateway_calls_total", "Subscription", "success", "create")
		is(1, "gateway_call_duration_seconds", "Subscription", "create")
		is(1, "gateway_reachable", config...)
		is(1, "gateway_authenticated", config...)
		w.eventually("what was read has an age", func() error {
			if age := counted("observation_age_seconds", append(config, "Subscription")...); age < 0 || age > 60 {
				return fmt.Errorf("it is %v", age)
			}
			return nil
		})

		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
		is(1, "token_rotations_total")

		w.gw.SetSubscriptionStatus(externalName(s), "INACTIVE")
		is(1, "wakeups_total", "changed", "Subscription")

		taken, mine := "taken", "mine"
		w.gw.AddSubscription(emulator.Subscription{ID: taken, APIHandle: "api", ApplicationID: "stranger", Status: "ACTIVE"}, "token-of-stranger")
		w.gw.AddSubscription(emulator.Subscription{ID: mine, APIHandle: "api", ApplicationID: "app-two", Status: "ACTIVE"}, "token-before-two")
		w.subscribed("two", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = &mine })
		is(1, "adoptions_total", "Subscription")

		three := w.subscription("three", "api", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = &taken })
		w.create(w.secret("three", map[string]string{"token": "token-of-three"}), three)
		w.refused(three, gatewayv1alpha1.ReasonConflict)
		w.eventually("it was refused three times", func() error {
			if n := counted("holdoffs_total", "Subscription"); n < 3 {
				return fmt.Errorf("it was %v times", n)
			}
			return nil
		})
		is(1, "conflicts_total", "Subscription")

		w.delete(w.secret("one", nil))
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		})
		is(1, "status_only_updates_total")

		pc := &v1alpha1.ProviderConfig{ObjectMeta: w.named("gateway")}
		two := w.subscription("two", "api")
		w.delete(s, two, three)
		w.gone(s, two, three)
		w.delete(pc)
		w.gone(pc)
		is(-1, "gateway_reachable", config...)
		is(-1, "gateway_authenticated", config...)
		is(-1, "observation_age_seconds", append(config, "Subscription")...)
	})
}
