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
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Whatever a gateway, or what stands before it, answers instead of its own 404,
// nothing of any kind is created again, given up or changed because of it.
//
// contract: S31, A1, A11
// case: F7, F11, W4
func TestNothingOfAnyKindIsGone(t *testing.T) {
	for name, fault := range map[string]emulator.Fault{
		"401": emulator.Denied(http.StatusUnauthorized), "403": emulator.Denied(http.StatusForbidden), "405": emulator.Status(http.StatusMethodNotAllowed, "immutable"),
		"429": emulator.Status(http.StatusTooManyRequests, "slowly"), "500": emulator.Status(http.StatusInternalServerError, "no"), "HTML404": emulator.HTML(http.StatusNotFound),
		"HTML200": emulator.HTML(http.StatusOK), "Empty200": emulator.Raw(http.StatusOK, "application/json", ""), "Empty404": emulator.Raw(http.StatusNotFound, "", ""),
		"OtherID": emulator.WrongID("another").After(), "Redirect": emulator.Redirect("http://127.0.0.1:1/"), "Cut": emulator.Cut(),
		"TimeOut": emulator.Delay(make(chan struct{})).Before(),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				clock := &steppedClock{}
				w.reconfigure(func(o *controller.Options) { o.Clock = clock })
				p, a := w.plan("gold", "Gold"), w.api("books")
				w.create(p, a)
				s := w.subscribed("one")
				all := []resource.Managed{s, p, a}
				w.ready(all...)
				subscriptions, plans, apis, writes := w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs(), w.writes()
				var failing atomic.Bool
				failing.Store(true)
				w.gw.Inject(emulator.While(failing.Load, emulator.Match{Method: http.MethodGet, Where: func(r emulator.Request) bool {
					return r.ID == externalName(s) || r.ID == externalName(p) || r.ID == externalName(a) || r.IsList()
				}}, fault))
				if name == "OtherID" {
					// An API's own ID is its name, which stands elsewhere in its answers.
					all = []resource.Managed{s, p}
				}
				for _, o := range all {
					w.eventually(fmt.Sprintf("%T says so", o), func() error {
						if err := w.get(o); err != nil {
							return err
						}
						if o.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse || o.GetCondition(gatewayv1alpha1.TypeApplied).Status != corev1.ConditionUnknown {
							return fmt.Errorf("conditions: %s", conditionsOf(o))
						}
						return nil
					})
					if o.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
						t.Errorf("Ready should keep its last value: %s", conditionsOf(o))
					}
				}
				w.delete(s, p, a)
				for _, o := range all {
					if name != "TimeOut" && name != "Cut" {
						// A gateway that is down is tried less and less often.
						w.polled(externalName(o), 1)
					}
					w.says(o, xpv2.TypeSynced, corev1.ConditionFalse)
					if o.GetDeletionTimestamp() == nil || len(o.GetFinalizers()) == 0 {
						t.Errorf("%T is not kept: finalizers %v", o, o.GetFinalizers())
					}
				}
				if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 2 || w.gw.Subscriptions()[0] != subscriptions[0] || w.gw.Plans()[0] != plans[0] {
					t.Errorf("it was %+v, %+v and is %+v, %+v", subscriptions, plans, w.gw.Subscriptions(), w.gw.Plans())
				}
				if n := w.writes(); name != "OtherID" && (n != writes || len(w.gw.APIs()) != len(apis)) {
					t.Errorf("%d writes while nothing can be read", n-writes)
				}
				failing.Store(false)
				clock.step(61 * time.Second)
				w.prodded(s, p, a)
				w.gone(s, p, a)
				if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 0 || len(w.gw.APIs()) != 1 {
					t.Errorf("left behind: %+v, %+v, %+v", w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs())
				}
			})
		})
	}
}

// A plan or API whose object is deleted while its create is open is not left behind,
// and one that only has the same name is not deleted in its place.
//
// contract: S33, P1, R2, A11
// case: C8, D8
func TestDeletedDuringCreateOfOtherKinds(t *testing.T) {
	kinds := map[string]struct {
		kind   emulator.Kind
		object func(w *world) resource.Managed
		count  func(w *world) int
	}{
		"Plan":    {emulator.SubscriptionPlans, func(w *world) resource.Managed { return w.plan("gold", "Gold") }, func(w *world) int { return len(w.gw.Plans()) }},
		"RestApi": {emulator.RestAPIs, func(w *world) resource.Managed { return w.api("books") }, func(w *world) int { return len(w.gw.APIs()) }},
	}
	for name, k := range kinds {
		for what, late := range map[string]bool{"Killed": false, "Late": true} {
			t.Run(name+"/"+what, func(t *testing.T) {
				in(t, emulator.InPlace, func(t *testing.T, w *world) {
					clock := &steppedClock{}
					w.reconfigure(func(o *controller.Options) { o.Clock = clock })
					post := emulator.Match{Method: http.MethodPost, Kind: k.kind}
					release := make(chan struct{})
					fault := emulator.Cut().After().Held(release)
					if late {
						fault = emulator.Delay(release).Before()
					}
					w.gw.Inject(emulator.FailOnce(post, fault))
					o := k.object(w)
					w.create(o)
					w.eventually("the gateway is asked", func() error {
						if w.gw.Count(post) == 0 {
							return errNotYet
						}
						return nil
					})
					w.delete(o)
					if late {
						w.says(o, xpv2.TypeSynced, corev1.ConditionFalse, "waiting until a create whose answer was lost must be over")
					}
					w.stop()
					close(release)
					w.eventually("the gateway has created it", func() error {
						if k.count(w) != 1 {
							return errNotYet
						}
						return nil
					})
					w.start(w.ns)
					clock.step(time.Minute)
					w.prodded(o)
					w.gone(o)
					if n := k.count(w); n != 0 || w.gw.Count(post) != 1 {
						t.Errorf("%d left behind after %d POSTs", n, w.gw.Count(post))
					}
				})
			})
		}
	}
}
