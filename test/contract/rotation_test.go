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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// At every moment of a rotation the gateway lets exactly one of the two tokens
// through, whether consumers or the provider are the first to know the new one.
//
// contract: S21, S26, S27
// case: A11
func TestNoGapInRotation(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		generated := w.subscription("two", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
		})
		w.create(generated)
		w.ready(generated)

		was := "token-of-one"
		for i := range 5 {
			is := fmt.Sprintf("rotated-%d", i)
			var calls, none, both atomic.Int64
			done, over := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(over)
				tick := time.NewTicker(100 * time.Microsecond)
				defer tick.Stop()
				for {
					select {
					case <-done:
						return
					case <-tick.C:
					}
					calls.Add(1)
					// The old token goes when the new one comes, and never the other way round:
					// in this order neither question can be too late for its answer.
					if !w.gw.LetThrough("api", was) && !w.gw.LetThrough("api", is) {
						none.Add(1)
					}
					if w.gw.LetThrough("api", is) && w.gw.LetThrough("api", was) {
						both.Add(1)
					}
				}
			}()
			from := time.Now()
			edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(is)} })
			w.eventually("the new token is let through", func() error {
				if !w.gw.LetThrough("api", is) {
					return errNotYet
				}
				return nil
			})
			t.Logf("in force %s after the Secret was edited", time.Since(from).Round(time.Millisecond))
			w.polled(externalName(s), 1)
			close(done)
			<-over
			if none.Load() != 0 || both.Load() != 0 {
				t.Errorf("of %d calls, %d were let through with neither token and %d with both", calls.Load(), none.Load(), both.Load())
			}
			was = is
		}

		// A generated token is handed out only once it is in force: whoever reads the
		// Secret and then calls is let through.
		for i := range 3 {
			before := w.token("connection")
			edit(w, generated, func(s *gatewayv1alpha1.Subscription) {
				meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: fmt.Sprint(i)})
			})
			w.eventually("the new token is handed out", func() error {
				is := w.token("connection")
				if is == before {
					return errNotYet
				}
				if !w.gw.LetThrough("api", is) {
					t.Error("a token was handed out that is not let through")
				}
				return nil
			})
		}
		w.ready(s, generated)
	})
}

// A rotation whose answer is lost, or that is interrupted by a restart, ends with
// the token that is asked for, and locks nobody out for good.
//
// contract: S21, S26, S27
// case: A6, A7, D7
func TestInterruptedRotation(t *testing.T) {
	for name, fault := range map[string]func(release <-chan struct{}) emulator.Fault{
		"Cut":    func(<-chan struct{}) emulator.Fault { return emulator.Cut().After() },
		"Before": func(<-chan struct{}) emulator.Fault { return emulator.Cut().Before() },
		"500": func(<-chan struct{}) emulator.Fault {
			return emulator.Status(http.StatusInternalServerError, "no").After()
		},
		"Killed": func(r <-chan struct{}) emulator.Fault { return emulator.Cut().After().Held(r) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				s := w.subscribed("one")
				generated := w.subscription("two", "api", func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
					s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
				})
				w.create(generated)
				w.ready(generated)
				ids := []string{externalName(s), externalName(generated)}
				first := w.token("connection")

				release := make(chan struct{})
				put := func(id string) emulator.Match { return emulator.Match{Method: http.MethodPut, ID: id} }
				for _, id := range ids {
					w.gw.Inject(emulator.FailOnce(put(id), fault(release)))
				}
				edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
				edit(w, generated, func(s *gatewayv1alpha1.Subscription) {
					meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "now"})
				})
				for _, id := range ids {
					w.eventually("the rotation is tried", func() error {
						if w.gw.Count(put(id)) == 0 {
							return errNotYet
						}
						return nil
					})
				}
				if name == "Killed" {
					w.stop()
					close(release)
					w.start(w.ns)
				}
				w.eventually("both are rotated", func() error {
					second := w.token("connection")
					if second == first || !w.gw.HoldsToken(ids[1], second) {
						return fmt.Errorf("the generated token is not")
					}
					if !w.gw.HoldsToken(ids[0], "rotated") {
						return fmt.Errorf("the given token is not")
					}
					return nil
				})
				w.ready(s, generated)
				for _, o := range []*gatewayv1alpha1.Subscription{s, generated} {
					if c := o.GetCondition(gatewayv1alpha1.TypeTokenInForce); c.Status != corev1.ConditionTrue {
						t.Errorf("%s: %s", o.GetName(), conditionsOf(o))
					}
				}
				w.polled(ids[1], 3)
				if second := w.token("connection"); !w.gw.HoldsToken(ids[1], second) || externalName(s) != ids[0] || externalName(generated) != ids[1] {
					t.Error("the token that was handed out is not in force, or the IDs are others")
				}
				if all := w.gw.Subscriptions(); len(all) != 2 {
					t.Errorf("want the two, got %+v", all)
				}
			})
		})
	}
}
