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

package subscription

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// label an object that is there.
func label[T client.Object](w *world, o T, name, key, value string) {
	w.t.Helper()
	if err := w.kube.Get(w.t.Context(), clientKey(name), o); err != nil {
		w.t.Fatal(err)
	}
	o.SetLabels(map[string]string{key: value})
	if err := w.kube.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func planSelector(cr *v1alpha1.Subscription) {
	cr.Spec.ForProvider.SubscriptionPlanIDSelector = &v1alpha1.Selector{MatchLabels: map[string]string{"tier": "gold"}}
}

// A selector takes the object with the lowest name, and keeps to it for as long as
// it matches, whatever comes later.
//
// contract: S25
func TestPlanSelector(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	ids := map[string]string{}
	add := func(name string) {
		ids[name] = w.addPlan(name).ID
		w.addManagedPlan(name, ids[name])
		label(w, &v1alpha1.SubscriptionPlan{}, name, "tier", "gold")
	}
	has := func(name string) {
		t.Helper()
		inForce(t, w.settle("s"))
		if got := w.only().SubscriptionPlanID; got != ids[name] {
			t.Errorf("its plan is %q, want that of %s: %v", got, name, ids)
		}
	}
	w.add(subscription("s", planSelector))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonPlanMissing)

	add("n")
	add("m")
	has("m")
	add("a")
	has("m")
	w.restart()
	has("m")
	// What no longer matches is left, and what is chosen then is kept to as well.
	label(w, &v1alpha1.SubscriptionPlan{}, "m", "tier", "silver")
	has("a")
	add("0")
	has("a")
	label(w, &v1alpha1.SubscriptionPlan{}, "m", "tier", "gold")
	has("a")

	// Also a selector that comes later is kept to.
	w.edit("s", func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.SubscriptionPlanIDSelector = nil
	})
	has("")
	w.edit("s", planSelector)
	has("0")
	add("-")
	has("0")
}

// The API that a selector chose stays the API, whatever matches later.
//
// contract: S15, S25
func TestAPISelector(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.addAPI("films")
	w.add(subscription("s", func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDSelector = nil, &v1alpha1.Selector{MatchLabels: map[string]string{"a": "b"}}
	}))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonAPIMissing)
	w.addRestAPI("n", "books")
	label(w, &v1alpha1.RestApi{}, "n", "a", "b")
	inForce(t, w.settle("s"))
	w.addRestAPI("m", "films")
	label(w, &v1alpha1.RestApi{}, "m", "a", "b")
	inForce(t, w.settle("s"))
	if got := w.only().APIHandle; got != "books" {
		t.Errorf("it is on %s", got)
	}
}

// What is on another gateway is refused, and keeps nobody from revoking.
//
// contract: S23, S25
func TestReferencesElsewhere(t *testing.T) {
	elsewhere := func(w *world, o client.Object, at *string) {
		t.Helper()
		*at = "https://elsewhere.example.org/api/management/v1"
		if err := w.kube.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Plan", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
		w.settle("s")
		w.addManagedPlan("gold", w.addPlan("Gold").ID)
		o := &v1alpha1.SubscriptionPlan{}
		if err := w.kube.Get(t.Context(), clientKey("gold"), o); err != nil {
			t.Fatal(err)
		}
		elsewhere(w, o, &o.Status.AtProvider.Endpoint)
		w.edit("s", planRef("gold"), status(v1alpha1.SubscriptionRevoked))
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonPlanMissing)
		if got := w.only(); got.Status != "REVOKED" || got.SubscriptionPlanID != "" {
			t.Errorf("at the gateway: %+v", got)
		}
	})
	t.Run("API", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
		w.addRestAPI("books", "books")
		o := &v1alpha1.RestApi{}
		if err := w.kube.Get(t.Context(), clientKey("books"), o); err != nil {
			t.Fatal(err)
		}
		w.add(subscription("s", func(cr *v1alpha1.Subscription) {
			cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = nil, &v1alpha1.Reference{Name: "books"}
		}))
		w.settle("s")
		elsewhere(w, o, &o.Status.AtProvider.Endpoint)
		w.edit("s", status(v1alpha1.SubscriptionRevoked))
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonRefused)
		if got := w.only().Status; got != "REVOKED" {
			t.Errorf("it is %s", got)
		}
		w.add(subscription("new", func(cr *v1alpha1.Subscription) {
			cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = nil, &v1alpha1.Reference{Name: "books"}
		}))
		cr, err = w.pass("new")
		refused(t, cr, err, v1alpha1.ReasonRefused)
		w.only()
	})
}

// contract: S25
func TestChoose(t *testing.T) {
	owner := func(uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{UID: uid, Controller: ptr(true), Name: "x", Kind: "X", APIVersion: "v1"}}
	}
	plan := func(name string, uid types.UID) v1alpha1.SubscriptionPlan {
		o := v1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if uid != "" {
			o.OwnerReferences = owner(uid)
		}
		return o
	}
	composed := func(uid types.UID) *v1alpha1.Subscription {
		cr := subscription("s")
		if uid != "" {
			cr.OwnerReferences = owner(uid)
		}
		return cr
	}
	cases := map[string]struct {
		reason string
		cr     *v1alpha1.Subscription
		s      v1alpha1.Selector
		items  []v1alpha1.SubscriptionPlan
		kept   string
		want   string
	}{
		"Nothing":       {reason: "Of nothing nothing is chosen.", cr: composed("")},
		"Lowest":        {reason: "The lowest name is.", cr: composed(""), items: []v1alpha1.SubscriptionPlan{plan("b", ""), plan("a", ""), plan("c", "")}, want: "a"},
		"Kept":          {reason: "Unless another one was before.", cr: composed(""), items: []v1alpha1.SubscriptionPlan{plan("b", ""), plan("a", "")}, kept: "b", want: "b"},
		"KeptGone":      {reason: "And is still there.", cr: composed(""), items: []v1alpha1.SubscriptionPlan{plan("b", ""), plan("a", "")}, kept: "z", want: "a"},
		"Composed":      {reason: "Those of the same controller are meant.", cr: composed("x"), s: v1alpha1.Selector{MatchControllerRef: ptr(true)}, items: []v1alpha1.SubscriptionPlan{plan("a", "y"), plan("b", "x"), plan("c", "")}, want: "b"},
		"ComposedKept":  {reason: "What is another's is not kept.", cr: composed("x"), s: v1alpha1.Selector{MatchControllerRef: ptr(true)}, items: []v1alpha1.SubscriptionPlan{plan("a", "y"), plan("b", "x")}, kept: "a", want: "b"},
		"NotComposed":   {reason: "What has no controller has none in common.", cr: composed(""), s: v1alpha1.Selector{MatchControllerRef: ptr(true)}, items: []v1alpha1.SubscriptionPlan{plan("a", "")}},
		"ControllerOff": {reason: "False is as good as absent.", cr: composed("x"), s: v1alpha1.Selector{MatchControllerRef: ptr(false)}, items: []v1alpha1.SubscriptionPlan{plan("a", "y")}, want: "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := choose(tc.cr, &tc.s, tc.items, func(p *v1alpha1.SubscriptionPlan) bool { return p.GetName() == tc.kept }); c != nil {
				got = c.GetName()
			}
			if got != tc.want {
				t.Errorf("%s choose(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// The causes that could cure a refusal change when what is referred to does, and
// at no other time.
//
// contract: A3
func TestCauses(t *testing.T) {
	w := newWorld(t, emulator.InPlace)
	w.addRestAPI("books", "books")
	w.addManagedPlan("gold", "")
	label(w, &v1alpha1.RestApi{}, "books", "tier", "gold")
	label(w, &v1alpha1.SubscriptionPlan{}, "gold", "tier", "gold")
	selector := &v1alpha1.Selector{MatchLabels: map[string]string{"tier": "gold"}}
	objects := map[string]*v1alpha1.Subscription{
		"Refs": subscription("refs", planRef("gold"), externalRef("wanted"), func(cr *v1alpha1.Subscription) {
			cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = nil, &v1alpha1.Reference{Name: "books"}
		}),
		"Selectors": subscription("selectors", externalRef("wanted"), func(cr *v1alpha1.Subscription) {
			cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDSelector, cr.Spec.ForProvider.SubscriptionPlanIDSelector = nil, selector, selector
		}),
	}
	now := func() map[string]string {
		out := map[string]string{}
		for name, cr := range objects {
			out[name] = causes(t.Context(), w.kube, cr)
			if again := causes(t.Context(), w.kube, cr.DeepCopy()); again != out[name] {
				t.Errorf("%s: the same state gives %q, and then %q", name, out[name], again)
			}
		}
		return out
	}
	before := now()
	changes := func(what string, want bool, change func()) {
		t.Helper()
		change()
		after := now()
		for name := range objects {
			if got := before[name] != after[name]; got != want {
				t.Errorf("%s: %s changes: %t, want %t", name, what, got, want)
			}
		}
		before = after
	}
	changes("nothing", false, func() {})
	changes("a plan that has an ID", true, func() { w.deployPlan("gold", w.addPlan("Gold").ID) })
	changes("a plan that is not referred to", false, func() { w.addManagedPlan("silver", w.addPlan("Silver").ID) })
	changes("the spec of a plan", false, func() {
		o := &v1alpha1.SubscriptionPlan{}
		if err := w.kube.Get(t.Context(), clientKey("gold"), o); err != nil {
			t.Fatal(err)
		}
		o.Spec.ForProvider.PlanName = "x"
		if err := w.kube.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	changes("an API on another gateway", true, func() {
		o := &v1alpha1.RestApi{}
		if err := w.kube.Get(t.Context(), clientKey("books"), o); err != nil {
			t.Fatal(err)
		}
		o.Status.AtProvider.Endpoint = "https://elsewhere.example.org"
		if err := w.kube.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	holder := subscription("holder", func(cr *v1alpha1.Subscription) { record.WriteBaseline(cr, record.Baseline{ID: "wanted"}) })
	changes("a holder of the ID", true, func() { w.add(holder) })
	changes("one that holds another", false, func() {
		w.add(subscription("other", func(cr *v1alpha1.Subscription) { record.WriteBaseline(cr, record.Baseline{ID: "other"}) }))
	})
	changes("a holder that goes", true, func() {
		if err := w.kube.Delete(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
	})
}

// A Subscription is found by what it refers to, uses and holds.
//
// contract: S25, S26, A6
func TestIndexes(t *testing.T) {
	w := newWorld(t, emulator.InPlace,
		subscription("ref", planRef("gold"), func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.APIIDRef = &v1alpha1.Reference{Name: "books"} }),
		subscription("selector", planSelector, func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.APIIDSelector = &v1alpha1.Selector{} }),
		subscription("holds", func(cr *v1alpha1.Subscription) { record.WriteBaseline(cr, record.Baseline{ID: "id"}) }),
		subscription("attempts", func(cr *v1alpha1.Subscription) {
			record.WriteAttempt(cr, record.Attempt{APIID: "books", ApplicationID: "app", Outcome: record.Open})
		}),
		subscription("attempted", func(cr *v1alpha1.Subscription) {
			record.WriteAttempt(cr, record.Attempt{APIID: "books", ApplicationID: "app", Outcome: record.Refused})
		}),
		subscription("named", externalName("id")),
	)
	find := func(index, key string) []string {
		l := &v1alpha1.SubscriptionList{}
		if err := w.kube.List(t.Context(), l, client.MatchingFields{index: key}); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range l.Items {
			names = append(names, o.GetName())
		}
		slices.Sort(names)
		return names
	}
	for _, tc := range []struct {
		index, key string
		want       []string
	}{
		{indexAPI, team + "/books", []string{"ref"}},
		{indexAPI, team + "/*", []string{"selector"}},
		{indexAPI, "books", nil},
		{indexPlan, team + "/gold", []string{"ref"}},
		{indexPlan, team + "/*", []string{"selector"}},
		// An external-name alone holds nothing.
		{indexID, "id", []string{"holds"}},
		{indexID, string(subscription("ref").GetUID()), []string{"ref"}},
		{indexAttempt, "create/books/app", []string{"attempts"}},
	} {
		if diff := cmp.Diff(tc.want, find(tc.index, tc.key)); diff != "" {
			t.Errorf("%s %s: -want, +got:\n%s", tc.index, tc.key, diff)
		}
	}
	got := strings.Join(secrets(subscription("s", tokenIn("tok"), writesTo("conn"))), " ") + "," + strings.Join(secrets(subscription("s", generated)), " ")
	if got != "tok conn,conn" {
		t.Errorf("Secrets that are used: %s", got)
	}
}
