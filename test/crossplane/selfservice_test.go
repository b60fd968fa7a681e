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
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
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

// subscriptionOf an APIAccess is the Subscription behind it.
func (w *world) subscriptionOf(ask *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	s := w.object("apiVersion: gateway.apiplatform.crossplane.io/v1alpha1\nkind: Subscription\nmetadata: {namespace: default}")
	names := w.names(s.GroupVersionKind(), client.InNamespace(ask.GetNamespace()), client.MatchingLabels{"crossplane.io/composite": ask.GetName()})
	if len(names) != 1 {
		w.t.Fatalf("%s has Subscriptions %v", ask.GetName(), names)
	}
	s.SetName(names[0])
	return s
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

	// Who asks for what another has is told what to do, and takes nothing from that one.
	w.then("SameName", func(w *world) {
		before, held := w.gives(xr.GetName(), "gives access", w.letThrough), len(w.gw.Subscriptions())
		for field, tc := range map[string]struct {
			value   string
			reason  xpv2.ConditionReason
			message string
		}{
			"externalRefId": {value: before.sub.ID, reason: "AdoptionRefused", message: "choose another spec.externalRefId"},
			"secretName":    {value: xr.GetName(), reason: "Refused", message: "secretName"},
		} {
			second := xr.DeepCopy()
			second.SetName("second-" + strings.ToLower(field))
			for f, v := range map[string]string{"application": "second", field: tc.value} {
				if err := unstructured.SetNestedField(second.Object, v, "spec", f); err != nil {
					w.t.Fatal(err)
				}
			}
			w.apply(second)
			w.tells(second, "Applied", tc.reason, tc.message)
			w.delete(second)
			w.gone(second)
		}
		w.eventually("nothing is left of the second ones", func() error {
			if n := len(w.gw.Subscriptions()); n != held {
				return fmt.Errorf("there are %d subscriptions, and were %d", n, held)
			}
			return nil
		})
		after := w.gives(xr.GetName(), "gives access", w.letThrough)
		if diff := cmp.Diff(before, after, cmp.AllowUnexported(access{})); diff != "" {
			w.t.Errorf("the first one has lost something: -before, +after:\n%s", diff)
		}
	})

	// What somebody uses is kept, and both sides are told.
	w.then("WithdrawInUse", func(w *world) {
		before := w.gives(xr.GetName(), "gives access", w.letThrough)
		plan := strings.TrimPrefix(w.planOf(before.sub), product.GetName()+".")
		offered, _, err := unstructured.NestedSlice(product.Object, "spec", "plans")
		if err != nil {
			w.t.Fatal(err)
		}
		fewer := product.DeepCopy()
		left := slices.DeleteFunc(offered, func(p any) bool { return p.(map[string]any)["name"] == plan })
		if err := unstructured.SetNestedSlice(fewer.Object, left, "spec", "plans"); err != nil {
			w.t.Fatal(err)
		}
		w.apply(fewer)
		w.tells(xr, "Accepted", "Withdrawn", plan)
		w.says(product, "Withdrawn", plan)
		after := w.gives(xr.GetName(), "gives access", w.letThrough)
		if w.planOf(after.sub) != w.planOf(before.sub) || after.token != before.token {
			w.t.Errorf("plan or token are not what they were")
		}
		w.apply(product)
		w.tells(xr, "Accepted", "Accepted", "")
	})

	// What is in force stays so while the gateway is down, and what is asked for meanwhile
	// comes once it is back.
	w.then("GatewayDown", func(w *world) {
		// An access of its own: Crossplane no longer listens to what happened a hundred times
		// within seconds, as it did to the others here.
		steady := xr.DeepCopy()
		steady.SetName("steady")
		w.apply(steady)
		w.has(ready, steady)
		before, held := w.gives(steady.GetName(), "gives access", w.letThrough), w.subscriptionOf(steady)
		back := w.gw.Inject(emulator.Always(emulator.Match{}, emulator.Cut()))
		defer back()
		late, ask := w.object(`
apiVersion: access.apiplatform.crossplane.io/v1alpha1
kind: APIProduct
metadata:
  namespace: default
  name: late
spec:
  apis:
  - name: v1
    forProvider:
      displayName: Late
      version: v1.0
      context: /late
      upstream: {main: {url: "http://late.example.org"}}
      operations: [{method: GET, path: /}]
  plans:
  - name: bronze
    forProvider: {throttleLimitCount: 1, throttleLimitUnit: Hour}
`), xr.DeepCopy()
		ask.SetName("late")
		w.apply(late, ask)
		w.says(late, "ApisReady", "GatewayUnavailable")
		w.says(late, "PlansReady", "GatewayUnavailable")
		w.tells(ask, "Applied", "GatewayUnavailable", "the platform team has to look at")
		w.tells(held, "Applied", "GatewayUnavailable", "")
		w.tells(steady, "Applied", "GatewayUnavailable", "what was in force there stays so")
		if conditions, err := w.conditions(steady); err != nil || conditions.GetCondition(ready).Status != corev1.ConditionTrue {
			w.t.Errorf("not ready while the gateway is down: %v, %s", err, said(conditions))
		}
		if err := w.letThrough(before); err != nil {
			w.t.Errorf("while the management API is down %v", err)
		}
		back()
		w.has(ready, late, ask)
		w.gives(ask.GetName(), "gives access", w.letThrough)
		w.tells(steady, "Applied", "Applied", "")
		if diff := cmp.Diff(before, w.gives(steady.GetName(), "gives access", w.letThrough), cmp.AllowUnexported(access{})); diff != "" {
			w.t.Errorf("what was in force is not what it was: -before, +after:\n%s", diff)
		}
		for _, o := range []*unstructured.Unstructured{steady, ask, late} {
			w.eventually(o.GetKind()+" "+o.GetName()+" may be deleted", func() error { return client.IgnoreNotFound(w.kube.Delete(w.t.Context(), o.DeepCopy())) })
			w.gone(o)
		}
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
