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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

var errNotYet = errors.New("not yet")

// deletions of a subscription.
func deletions(id string) emulator.Match {
	return emulator.Match{Method: http.MethodDelete, Kind: emulator.Subscriptions, ID: id}
}

// stays waits until a Subscription that is being deleted was looked at, and is
// still there.
func (w *world) stays(s *gatewayv1alpha1.Subscription, texts ...string) {
	w.t.Helper()
	w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, texts...)
	if s.GetDeletionTimestamp() == nil || len(s.GetFinalizers()) == 0 {
		w.t.Errorf("want it kept while it is being deleted, got finalizers %v", s.GetFinalizers())
	}
}

// Whatever happens to a subscription and its provider while it is being created, if
// the object is deleted then nothing is left at the gateway.
//
// contract: S11, S33, A11
// case: C8, D1, D8
func TestDeletedDuringCreate(t *testing.T) {
	post := emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}
	cases := map[string]struct {
		reason string
		fault  func(release <-chan struct{}) emulator.Fault
		// late lets the gateway go on only once the deletion was looked at, and kill only
		// while there is no provider.
		late, kill bool
		// created is whether the gateway creates something.
		created bool
	}{
		"Killed":     {reason: "The provider is killed while it waits for the answer.", fault: func(r <-chan struct{}) emulator.Fault { return emulator.Cut().After().Held(r) }, kill: true, created: true},
		"TimedOut":   {reason: "The gateway answers when nobody listens any more.", fault: func(r <-chan struct{}) emulator.Fault { return emulator.Delay(r).After() }, created: true},
		"Late":       {reason: "The gateway begins when nobody listens any more.", fault: func(r <-chan struct{}) emulator.Fault { return emulator.Delay(r).Before() }, late: true, created: true},
		"LateKilled": {reason: "And the provider is killed meanwhile.", fault: func(r <-chan struct{}) emulator.Fault { return emulator.Delay(r).Before() }, late: true, kill: true, created: true},
		"Never":      {reason: "The gateway never creates it.", fault: func(r <-chan struct{}) emulator.Fault { return emulator.Cut().Before().Held(r) }, late: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				clock := &steppedClock{}
				w.reconfigure(func(o *controller.Options) { o.Clock = clock })
				w.gw.AddAPI("api")
				// One of the same application and API that is not ours.
				stranger, _ := w.gw.AddSubscription(emulator.Subscription{ID: "stranger", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "another")
				release := make(chan struct{})
				w.gw.Inject(emulator.FailOnce(post, tc.fault(release)))
				s := w.asked("one")
				w.eventually("the gateway is asked", func() error {
					if w.gw.Count(post) == 0 {
						return errNotYet
					}
					return nil
				})
				w.delete(s)
				if tc.late {
					// What is not there at the time-out may come yet.
					w.eventually("the create timed out and the deletion was looked at", func() error {
						if err := w.get(s); err != nil {
							return err
						}
						if s.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonDeleting {
							return fmt.Errorf("conditions: %s", conditionsOf(s))
						}
						return nil
					})
					w.stays(s, "waiting until it can no longer do so")
				}
				if tc.kill {
					w.stop()
				}
				close(release)
				if tc.created {
					w.eventually("the gateway has created it", func() error {
						if len(w.gw.Subscriptions()) < 2 && w.gw.Count(emulator.Match{Method: http.MethodDelete}) == 0 {
							return errNotYet
						}
						return nil
					})
				}
				if tc.kill {
					w.start(w.ns)
				}
				// Once the create must be over it is looked at again.
				clock.step(time.Minute)
				w.prodded(s)
				w.gone(s)
				if all := w.gw.Subscriptions(); len(all) != 1 || all[0] != stranger {
					t.Errorf("%s\nwant the stranger's alone, got %+v", tc.reason, all)
				}
				if n := w.gw.Count(post); n != 1 {
					t.Errorf("%s\nwant one POST, got %d", tc.reason, n)
				}
			})
		})
	}
}

// prodded asks for a reconcile of objects that may have gone meanwhile.
func (w *world) prodded(objects ...resource.Managed) {
	w.t.Helper()
	for _, o := range objects {
		err := tryEdit(w, o, func(o resource.Managed) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyReconcileRequestedAt: time.Now().Format(time.RFC3339Nano)})
		})
		if resource.IgnoreNotFound(err) != nil {
			w.t.Fatal(err)
		}
	}
}

// A deletion is over when the gateway says that there is nothing, and not when it
// says that it will do something.
//
// contract: S31, S33
// case: E5, E6, E8
func TestSlowDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		faults func(match emulator.Match, release <-chan struct{}) emulator.Faults
	}{
		"Accepted": {reason: "202 is no deletion yet.", faults: func(m emulator.Match, _ <-chan struct{}) emulator.Faults {
			return emulator.FailNext(2, m, emulator.Raw(http.StatusAccepted, "application/json", "{}"))
		}},
		"Pretended": {reason: "Nor is 204 while it is still there.", faults: func(m emulator.Match, _ <-chan struct{}) emulator.Faults {
			return emulator.FailNext(2, m, emulator.Raw(http.StatusNoContent, "", ""))
		}},
		"Slow": {reason: "It takes longer than the client waits.", faults: func(m emulator.Match, r <-chan struct{}) emulator.Faults {
			return emulator.FailOnce(m, emulator.Delay(r).Before())
		}},
		"Cut": {reason: "The answer is lost.", faults: func(m emulator.Match, _ <-chan struct{}) emulator.Faults {
			return emulator.FailOnce(m, emulator.Cut().After())
		}},
		"Gone": {reason: "Somebody else was faster.", faults: func(m emulator.Match, _ <-chan struct{}) emulator.Faults {
			return emulator.FailOnce(m, emulator.Status(http.StatusNotFound, "Subscription not found").After())
		}},
		"Failing": {reason: "The gateway fails for a while.", faults: func(m emulator.Match, _ <-chan struct{}) emulator.Faults {
			return emulator.FailNext(2, m, emulator.Status(http.StatusInternalServerError, "Failed to delete subscription").Before())
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				s := w.subscribed("one")
				id := externalName(s)
				release := make(chan struct{})
				w.gw.Inject(tc.faults(deletions(id), release))
				w.delete(s)
				w.eventually("the gateway is asked to delete it", func() error {
					if w.gw.Count(deletions(id)) == 0 {
						return errNotYet
					}
					return nil
				})
				if name == "Slow" {
					w.stays(s)
					close(release)
				}
				w.gone(s)
				if all := w.gw.Subscriptions(); len(all) != 0 {
					t.Errorf("%s\nthe object went before %+v", tc.reason, all)
				}
				if n := w.gw.Count(deletions(id)); n > 4 {
					t.Errorf("%s\n%d DELETEs", tc.reason, n)
				}
			})
		})
	}
}
