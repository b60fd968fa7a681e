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
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What exactly the management policies allow is done, and no more.
//
// contract: S32, S34, A11
func TestManagementPolicies(t *testing.T) {
	const observe, create, update, remove = xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete
	cases := map[string]struct {
		policies               xpv2.ManagementPolicies
		creates, sets, deletes bool
	}{
		"All":          {policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}, creates: true, sets: true, deletes: true},
		"NoDelete":     {policies: xpv2.ManagementPolicies{observe, create, update, xpv2.ManagementActionLateInitialize}, creates: true, sets: true},
		"CreateDelete": {policies: xpv2.ManagementPolicies{observe, create, remove}, creates: true, deletes: true},
		"CreateOnly":   {policies: xpv2.ManagementPolicies{observe, create}, creates: true},
		"UpdateOnly":   {policies: xpv2.ManagementPolicies{observe, update}, sets: true},
		"DeleteOnly":   {policies: xpv2.ManagementPolicies{observe, remove}, deletes: true},
		"ObserveOnly":  {policies: xpv2.ManagementPolicies{observe}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				w.gw.AddAPI("api")
				s := w.subscription("one", "api", func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ManagementPolicies = tc.policies
					s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionActive)
				})
				if tc.creates {
					w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
				} else {
					w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-one")
					meta.SetExternalName(s, "there")
					w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
				}
				w.eventually("it is ready", func() error {
					if err := w.get(s); err != nil || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || s.Status.AtProvider.ID == "" {
						return fmt.Errorf("conditions: %s: %w", conditionsOf(s), err)
					}
					return nil
				})
				id := externalName(s)
				w.gw.SetSubscriptionStatus(id, "INACTIVE")
				if tc.sets {
					w.eventually("it is set back", func() error {
						if w.only().Status != "ACTIVE" {
							return errNotYet
						}
						return nil
					})
				} else {
					w.says(s, gatewayv1alpha1.TypeDrifted, corev1.ConditionTrue, "status")
				}
				if puts := w.gw.Count(emulator.Match{Method: http.MethodPut}); puts != 0 != tc.sets {
					t.Errorf("%d PUTs", puts)
				}
				w.gw.DeleteSubscription(id)
				if tc.creates {
					w.eventually("it is back", func() error {
						if err := w.get(s); err != nil || len(w.gw.Subscriptions()) == 0 || externalName(s) != w.only().ID {
							return errNotYet
						}
						return nil
					})
					id = externalName(s)
				} else {
					w.says(s, xpv2.TypeReady, corev1.ConditionFalse)
					w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-one")
					w.eventually("it is seen again", func() error {
						if err := w.get(s); err != nil || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
							return fmt.Errorf("conditions: %s: %w", conditionsOf(s), err)
						}
						return nil
					})
				}
				w.delete(s)
				w.gone(s)
				if _, there := w.gw.Subscription(id); there == tc.deletes {
					t.Errorf("still at the gateway: %t", there)
				}
				if posts := w.gw.Count(emulator.Match{Method: http.MethodPost}); posts != 0 != tc.creates {
					t.Errorf("%d POSTs", posts)
				}
				if n := w.gw.Count(emulator.Match{Method: http.MethodDelete}); n != 0 != tc.deletes {
					t.Errorf("%d DELETEs", n)
				}
			})
		})
	}
}
