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

package crossplane

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// functionName is what Crossplane names the function that the configuration depends on.
const functionName = "crossplane-contrib-function-apiplatform"

// soon is within what time a team that asked for access must have its Secret.
const soon = 10 * time.Second

// What a team gets: a Secret, and what it leads to at the gateway.
type access struct {
	token string
	sub   emulator.Subscription
}

// access that a Secret gives, once it does.
func (w *world) access(secret string) (*access, error) {
	s := &corev1.Secret{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: secret}, s); err != nil {
		return nil, err
	}
	token, id := string(s.Data["token"]), string(s.Data["subscriptionId"])
	if token == "" || id == "" {
		return nil, errors.New("the Secret lacks the token or the ID")
	}
	sub, ok := w.gw.Subscription(id)
	if !ok {
		return nil, fmt.Errorf("the gateway has no subscription %q", id)
	}
	return &access{token: token, sub: sub}, nil
}

// gives waits until a Secret gives access as it should.
func (w *world) gives(secret, what string, holds func(*access) error) *access {
	w.t.Helper()
	var got *access
	w.eventually(fmt.Sprintf("Secret %s %s", secret, what), func() (err error) {
		if got, err = w.access(secret); err != nil {
			return err
		}
		return holds(got)
	})
	return got
}

// edit an object as a person does.
func (w *world) edit(o *unstructured.Unstructured, patch string) {
	w.t.Helper()
	if err := w.kube.Patch(w.t.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		w.t.Fatalf("cannot edit %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// planOf a subscription, by the name that it has at the gateway.
func (w *world) planOf(s emulator.Subscription) string {
	p, _ := w.gw.Plan(s.SubscriptionPlanID)
	return p.PlanName
}

// let through tells whether the token opens the API.
func (w *world) letThrough(a *access) error {
	if !w.gw.LetThrough(a.sub.APIHandle, a.token) {
		return errors.New("the gateway lets nobody through with its token")
	}
	return nil
}

// Self-service on the real core: one Configuration brings the provider and the function,
// a platform team offers a product, and teams ask for access, by a composite resource
// or by a claim.
func TestSelfService(t *testing.T) {
	w := in(t)
	w.push(current)
	w.apply(w.activation("*"))
	configuration := w.object(fmt.Sprintf(`
apiVersion: pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: configuration-apiplatform
spec:
  package: xpkg.crossplane.io/crossplane-contrib/configuration-apiplatform:%s
`, current))
	function := w.object("apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: " + functionName + "}")
	product, xr, claim := w.example("access/product.yaml")[0], w.example("access/access.yaml")[0], w.example("access/claim.yaml")[0]
	asks := map[string]*unstructured.Unstructured{"CompositeResource": xr, "Claim": claim}

	w.then("Install", func(w *world) {
		w.apply(configuration)
		w.has(healthy, configuration, function, w.provider(current))
		w.served(product)
		w.served(xr)
		w.served(claim)
		w.served(w.example("quickstart/1-gateway.yaml")[1])
	})

	w.then("Offer", func(w *world) {
		w.apply(w.example("quickstart/1-gateway.yaml")...)
		w.apply(product)
		w.has(ready, product)
	})

	for name, ask := range asks {
		secret := ask.GetName()
		w.then("Ask/"+name, func(w *world) {
			started := time.Now()
			w.apply(ask)
			got := w.gives(secret, "gives access", w.letThrough)
			took := time.Since(started)
			w.t.Logf("Secret %s gives access %.1f s after it was asked for", secret, took.Seconds())
			if took > soon {
				w.t.Errorf("it took longer than %s", soon)
			}
			plan, _, _ := unstructured.NestedString(ask.Object, "spec", "plan")
			if want := product.GetName() + "." + plan; w.planOf(got.sub) != want {
				w.t.Errorf("the plan at the gateway: want %s, got %s", want, w.planOf(got.sub))
			}
			w.has(ready, ask)
		})
	}

	for name, ask := range asks {
		secret := ask.GetName()
		before := w.gives(secret, "gives access", w.letThrough)

		w.then("ChangePlan/"+name, func(w *world) {
			was := w.planOf(before.sub)
			to := map[string]string{"books.bronze": "gold", "books.gold": "bronze"}[was]
			w.edit(ask, fmt.Sprintf(`{"spec":{"plan":%q}}`, to))
			after := w.gives(secret, "has another plan", func(a *access) error {
				if got := w.planOf(a.sub); got != "books."+to {
					return fmt.Errorf("it has %s", got)
				}
				return w.letThrough(a)
			})
			if after.token != before.token || after.sub.ID != before.sub.ID {
				w.t.Errorf("token or ID are not what they were")
			}
		})

		w.then("Rotate/"+name, func(w *world) {
			w.edit(ask, `{"metadata":{"annotations":{"gateway.apiplatform.crossplane.io/rotate-token":"once"}}}`)
			after := w.gives(secret, "has another token", func(a *access) error {
				if a.token == before.token {
					return errors.New("it has the same")
				}
				return w.letThrough(a)
			})
			if after.sub.ID != before.sub.ID || w.gw.LetThrough(after.sub.APIHandle, before.token) {
				w.t.Errorf("the ID is not what it was, or the old token is still let through")
			}
		})

		w.then("Suspend/"+name, func(w *world) {
			w.edit(ask, `{"spec":{"suspended":true}}`)
			w.gives(secret, "gives no access", func(a *access) error {
				if w.letThrough(a) == nil {
					return errors.New("its token is let through")
				}
				return nil
			})
			w.edit(ask, `{"spec":{"suspended":false}}`)
			w.gives(secret, "gives access again", w.letThrough)
		})

		// A generated token exists nowhere else, so another one is.
		w.then("DeleteSecret/"+name, func(w *world) {
			before := w.gives(secret, "gives access", w.letThrough)
			s := &corev1.Secret{}
			s.Namespace, s.Name = "default", secret
			if err := w.kube.Delete(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
			after := w.gives(secret, "is written again, with another token", func(a *access) error {
				if a.token == before.token {
					return errors.New("it has the same")
				}
				return w.letThrough(a)
			})
			if after.sub.ID != before.sub.ID || w.gw.LetThrough(after.sub.APIHandle, before.token) {
				w.t.Errorf("the ID is not what it was, or the old token is still let through")
			}
		})
	}

	w.then("UnknownPlan", func(w *world) {
		wrong := xr.DeepCopy()
		wrong.SetName("wrong")
		if err := unstructured.SetNestedField(wrong.Object, "platinum", "spec", "plan"); err != nil {
			w.t.Fatal(err)
		}
		w.apply(wrong)
		w.says(wrong, "Accepted", "platinum")
		w.delete(wrong)
		w.gone(wrong)
	})

	w.then("ProductIsProtected", func(w *world) {
		err := w.kube.Delete(w.t.Context(), product.DeepCopy())
		if err == nil || !strings.Contains(err.Error(), "in-use") {
			w.t.Fatalf("deleting a product that is used: want it refused, got: %v", err)
		}
	})

	w.then("GiveUp", func(w *world) {
		for name, ask := range asks {
			got, err := w.access(ask.GetName())
			if err != nil {
				w.t.Fatalf("%s: %v", name, err)
			}
			w.delete(ask)
			w.gone(ask)
			w.eventually(name+" leaves no Secret and no subscription", func() error {
				s := &corev1.Secret{}
				if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: ask.GetName()}, s); !kerrors.IsNotFound(err) {
					return fmt.Errorf("the Secret is there, or: %w", err)
				}
				if _, ok := w.gw.Subscription(got.sub.ID); ok {
					return errors.New("the subscription is there")
				}
				return nil
			})
		}
	})

	w.then("Withdraw", func(w *world) {
		w.eventually("the product may be deleted", func() error { return client.IgnoreNotFound(w.kube.Delete(w.t.Context(), product.DeepCopy())) })
		w.gone(product)
		w.eventually("the gateway has nothing of it", func() error {
			for _, a := range w.gw.APIs() {
				if strings.HasPrefix(a.Handle, product.GetName()+".") {
					return fmt.Errorf("it has API %s", a.Handle)
				}
			}
			for _, p := range w.gw.Plans() {
				if strings.HasPrefix(p.PlanName, product.GetName()+".") {
					return fmt.Errorf("it has plan %s", p.PlanName)
				}
			}
			return nil
		})
	})

	w.then("NothingForbidden", func(w *world) {
		w.nothingForbidden(providerName)
		for name, pod := range w.core.Pods() {
			if pod.Restarts != 0 {
				w.t.Errorf("%s was started anew %d times", name, pod.Restarts)
			}
		}
	})
}
