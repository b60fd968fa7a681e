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
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// observeOnly never writes to the gateway.
var observeOnly = policies(xpv2.ManagementActionObserve) //nolint:gochecknoglobals // A constant.

// A subscription is imported only if it is the one the spec describes. That it is
// missing and that it does not fit read the same, in every word, also where it is
// somebody else's.
//
// contract: S18, A5
// case: C9, D10
func TestImportCheck(t *testing.T) {
	type theirs struct{ application, api string }
	cases := map[string]struct {
		reason string
		// theirs is what is there under the ID, if anything.
		theirs *theirs
		// held is true if another object holds it.
		held   bool
		change []change
		fits   bool
	}{
		"Fits":        {reason: "It is listed under the API and of the application.", theirs: &theirs{"app", "books"}, fits: true},
		"Missing":     {reason: "It is not there."},
		"Application": {reason: "It belongs to another application.", theirs: &theirs{"stranger", "books"}},
		"NoApp":       {reason: "It belongs to none.", theirs: &theirs{"", "books"}},
		"API":         {reason: "It is on another API.", theirs: &theirs{"app", "films"}},
		"Held":        {reason: "Another object holds it.", theirs: &theirs{"app", "books"}, held: true},
		"ExternalRef": {reason: "An ID that it reports is compared.", theirs: &theirs{"app", "books"}, change: []change{externalRef("theirs")}, fits: true},
	}
	kinds := map[string]change{
		"ObserveOnly":   observeOnly,
		"ObserveDelete": policies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete),
		"NoCreate":      policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate),
	}
	for kname, k := range kinds {
		for name, tc := range cases {
			t.Run(kname+"/"+name, func(t *testing.T) {
				texts := map[string][]string{}
				for _, there := range []bool{false, true} {
					w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
					w.addAPI("films")
					if there && tc.theirs != nil {
						w.byHand(map[string]any{"apiId": tc.theirs.api, "subscriptionToken": "x", "applicationId": tc.theirs.application, "externalRefId": "theirs"})
					}
					if there && tc.held {
						w.add(subscription("holder", externalName("theirs"), application("app")))
						inForce(t, w.settle("holder"))
					}
					w.add(subscription("s", append([]change{externalName("theirs"), application("app"), k}, tc.change...)...))
					writes := w.Writes()
					for range 2 {
						cr, err := w.pass("s")
						key := map[bool]string{true: "there", false: "missing"}[there]
						if err != nil {
							texts[key] = append(texts[key], err.Error())
						}
						for _, c := range []xpv2.ConditionType{v1alpha1.TypeApplied, xpv2.TypeReady, xpv2.TypeSynced} {
							got := cr.GetCondition(c)
							texts[key] = append(texts[key], strings.Join([]string{string(got.Type), string(got.Status), string(got.Reason), got.Message}, " "))
						}
						if !there || !tc.fits {
							if diff := cmp.Diff(v1alpha1.SubscriptionObservation{}, cr.Status.AtProvider); diff != "" {
								t.Errorf("%s: status tells about others: %s", tc.reason, diff)
							}
							if cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
								t.Errorf("%s: Ready", tc.reason)
							}
							continue
						}
						if got := cr.Status.AtProvider; got.ID != "theirs" || got.Origin != v1alpha1.OriginImported {
							t.Errorf("%s: status reports %+v", tc.reason, got)
						}
					}
					if kname != "NoCreate" && w.Writes() != writes {
						t.Errorf("%s: it wrote", tc.reason)
					}
				}
				if diff := cmp.Diff(texts["missing"], texts["there"]); diff != "" && !tc.fits {
					t.Errorf("%s: it can be told from one that is missing:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// An import fills what the spec leaves open, once; afterwards an absent plan means
// no plan.
//
// contract: S19, S20, S15
// case: H6, G2
func TestLateInitialize(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	plan := w.addPlan("Gold")
	fields := byHandLike(secretToken, "app", "theirs")
	fields["subscriptionPlanId"], fields["billingCustomerId"], fields["status"] = plan.ID, "customer", "INACTIVE"
	w.byHand(fields)
	w.add(subscription("s", externalName("theirs"), application("app"), observeOnly))

	cr, err := w.pass("s")
	if err != nil {
		t.Fatal(err)
	}
	inForceOnlyObserved(t, cr)
	if baselineOf(t, cr) != nil || w.Writes() != 0 {
		t.Error("something was recorded or written by observing only")
	}

	w.edit("s", policies(xpv2.ManagementActionAll), annotated(operatorAnnotations()[0], "x"))
	if _, err := w.pass("s"); err != nil {
		t.Fatal(err)
	}
	cr = w.settle("s")
	inForce(t, cr)
	p := cr.Spec.ForProvider
	if value(p.SubscriptionPlanID) != plan.ID || value(p.BillingCustomerID) != "customer" || p.BillingSubscriptionID != nil || *p.Status != v1alpha1.SubscriptionInactive || p.ExternalRefID != nil {
		t.Errorf("spec was filled with %+v", p)
	}
	b := baselineOf(t, cr)
	if diff := cmp.Diff([]string{"subscriptionPlanId", "billingCustomerId", "status"}, b.LateInitialized); diff != "" {
		t.Errorf("late-initialized fields: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"apiId": "books", "applicationId": "app", "billingCustomerId": "customer"}, b.Fields); diff != "" {
		t.Errorf("baseline: -want, +got:\n%s", diff)
	}
	if _, ok := cr.GetAnnotations()[operatorAnnotations()[0]]; ok {
		t.Error("what the gateway's operator left is still there")
	}
	if n := w.count(http.MethodPost); n != 0 {
		t.Errorf("%d POSTs", n)
	}
	if got := w.only(); got.Status != "INACTIVE" || got.SubscriptionPlanID != plan.ID {
		t.Errorf("the import changed it: %+v", got)
	}

	// A field that was filled in may be absent again, and the plan is taken away.
	w.edit("s", func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.SubscriptionPlanID, cr.Spec.ForProvider.BillingCustomerID = nil, nil
	})
	cr = w.settle("s")
	inForce(t, cr)
	if got := w.only(); got.SubscriptionPlanID != "" || got.BillingCustomerID != "customer" {
		t.Errorf("an absent plan means no plan: %+v", got)
	}
	if cr.Spec.ForProvider.SubscriptionPlanID != nil || cr.Spec.ForProvider.BillingCustomerID != nil {
		t.Error("the spec was filled again")
	}
}

// Where a reference or a name says which plan it is, no ID is filled in beside it.
//
// contract: S19
func TestLateInitializeBesideReferences(t *testing.T) {
	cases := map[string]struct {
		reason string
		change change
	}{
		"Ref":      {reason: "A reference leads to it.", change: planRef("gold")},
		"Name":     {reason: "Its name does.", change: func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanName = ptr("Gold") }},
		"Selector": {reason: "A selector chooses it.", change: planSelector},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			plan := w.addPlan("Gold")
			w.addManagedPlan("gold", plan.ID)
			label(w, &v1alpha1.SubscriptionPlan{}, "gold", "tier", "gold")
			fields := byHandLike(secretToken, "app", "theirs")
			fields["subscriptionPlanId"], fields["billingCustomerId"] = plan.ID, "customer"
			w.byHand(fields)
			w.add(subscription("s", externalName("theirs"), application("app"), tc.change))
			cr := w.settle("s")
			inForce(t, cr)
			if p := cr.Spec.ForProvider; p.SubscriptionPlanID != nil || value(p.BillingCustomerID) != "customer" {
				t.Errorf("%s The spec was filled with %+v", tc.reason, p)
			}
			if got := w.only().SubscriptionPlanID; got != plan.ID {
				t.Errorf("%s The plan is %q, want %q", tc.reason, got, plan.ID)
			}
		})
	}
}

func inForceOnlyObserved(t *testing.T, cr *v1alpha1.Subscription) {
	t.Helper()
	for _, c := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced} {
		if got := cr.GetCondition(c); got.Status != corev1.ConditionTrue {
			t.Errorf("%s is %s: %s %s", c, got.Status, got.Reason, got.Message)
		}
	}
}

// Without LateInitialize the spec is not touched, and an absent plan clears the
// plan, which an event says before.
//
// contract: S19
func TestImportWithoutLateInitialize(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	plan := w.addPlan("Gold")
	fields := byHandLike(secretToken, "app", "theirs")
	fields["subscriptionPlanId"], fields["status"] = plan.ID, "REVOKED"
	w.byHand(fields)
	w.add(subscription("s", externalName("theirs"), application("app"), policies("Observe", "Create", "Update", "Delete")))
	cr := w.settle("s")
	inForce(t, cr)
	if p := cr.Spec.ForProvider; p.SubscriptionPlanID != nil || p.Status != nil {
		t.Errorf("the spec was filled: %+v", p)
	}
	if got := w.only(); got.SubscriptionPlanID != "" || got.Status != "REVOKED" {
		t.Errorf("want no plan and the status as it was: %+v", got)
	}
	if w.events.count("PlanCleared") != 1 {
		t.Error("no event says that the plan was taken away")
	}

	// What comes back is what was held: access that was taken away stays so.
	w.DeleteAPI("books")
	w.addAPI("books")
	cr = w.settle("s")
	inForce(t, cr)
	if got := w.only(); got.Status != "REVOKED" {
		t.Errorf("a revoked subscription was created again as %s", got.Status)
	}
}

// A baseline that was lost, by a restore or an accident, is recorded again after a
// check, without another subscription; an illegal edit stays refused.
//
// contract: S1, S17, S18
func TestBaselineRestored(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			held := baselineOf(t, w.settle("s"))
			strip := func(cr *v1alpha1.Subscription) { meta.RemoveAnnotations(cr, v1alpha1.AnnotationBaseline) }

			w.edit("s", strip, application("other"))
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonImmutableField)
			if n := w.Writes(); n != 1 {
				t.Errorf("%d writes, want 1", n)
			}

			w.edit("s", application("app"))
			cr = w.settle("s")
			inForce(t, cr)
			if got := baselineOf(t, cr); got.ID != held.ID {
				t.Errorf("it holds %q, want %q", got.ID, held.ID)
			}
			w.only()

			w.edit("s", func(cr *v1alpha1.Subscription) { meta.RemoveAnnotations(cr, meta.AnnotationKeyExternalName) })
			cr = w.settle("s")
			inForce(t, cr)
			if meta.GetExternalName(cr) != held.ID {
				t.Error("a removed external-name is not restored")
			}
			w.edit("s", externalName("other"))
			cr, err = w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonImmutableField)
		})
	}
}

// An external-name that was changed keeps access from being given, and anything else
// from being sent, but not access from being taken away.
//
// contract: S1, S23
func TestMovedName(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), status(v1alpha1.SubscriptionInactive)))
			held := w.settle("s").Status.AtProvider.ID
			moved := func(want string, puts int, changes ...change) {
				t.Helper()
				w.edit("s", append(changes, externalName("other"))...)
				for range 2 {
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonImmutableField)
				}
				if got := w.only(); got.Status != want || w.count(http.MethodPut) != puts {
					t.Errorf("it is %s after %d PUTs, want %s and %d", got.Status, w.count(http.MethodPut), want, puts)
				}
			}
			moved("INACTIVE", 0, status(v1alpha1.SubscriptionActive))
			// Nor is it set back while it is found that the gateway calls itself otherwise.
			w.SetGatewayID("renamed")
			moved("INACTIVE", 0)
			moved("REVOKED", 1, status(v1alpha1.SubscriptionRevoked))
			moved("REVOKED", 1, status(v1alpha1.SubscriptionInactive), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate))
			w.deleteByHand(held)
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonImmutableField)
			if n := w.count(http.MethodPost); n != 1 {
				t.Errorf("%d POSTs, want 1", n)
			}
		})
	}
}

// Two objects that only observe do not both hold one subscription, and one that
// turns to another lets go of the first.
//
// contract: S12
func TestObserversHold(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.byHand(byHandLike("x", "app", "one"))
	w.byHand(byHandLike("y", "app", "two"))
	w.add(subscription("a", externalName("one"), application("app"), observeOnly))
	w.add(subscription("b", externalName("one"), application("app"), observeOnly))
	for range 2 {
		cr, err := w.pass("a")
		if err != nil {
			t.Fatal(err)
		}
		inForceOnlyObserved(t, cr)
		if _, err := w.pass("b"); err == nil {
			t.Error("both hold it")
		}
	}
	w.edit("a", externalName("two"))
	if _, err := w.pass("a"); err != nil {
		t.Fatal(err)
	}
	cr, err := w.pass("b")
	if err != nil {
		t.Fatal("what one let go of the other cannot hold: ", err)
	}
	inForceOnlyObserved(t, cr)
}

// Drift is reported and left where the policies say so, without a secret.
//
// contract: S34
// case: H5, W8
func TestDriftIsReported(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.byHand(byHandLike(secretToken, "app", "theirs"))
	w.add(subscription("s", externalName("theirs"), application("app"), observeOnly, status(v1alpha1.SubscriptionActive)))
	if _, err := w.pass("s"); err != nil {
		t.Fatal(err)
	}
	w.changeByHand("theirs", map[string]any{"status": "INACTIVE"})
	cr, err := w.pass("s")
	if err != nil {
		t.Fatal(err)
	}
	inForceOnlyObserved(t, cr)
	if c := cr.GetCondition(v1alpha1.TypeDrifted); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "status") {
		t.Errorf("Drifted is %s: %s", c.Status, c.Message)
	}
	w.changeByHand("theirs", map[string]any{"status": "ACTIVE"})
	cr, _ = w.pass("s")
	if c := cr.GetCondition(v1alpha1.TypeDrifted); c.Status != corev1.ConditionFalse {
		t.Errorf("Drifted is %s: %s", c.Status, c.Message)
	}
	if n := w.Writes(); n != 0 {
		t.Errorf("%d writes", n)
	}
	w.silent(secretToken)
}

// Every set of policies that the runtime accepts behaves as it says.
//
// contract: S34
func TestPolicies(t *testing.T) {
	sets := map[string]struct {
		policies []xpv2.ManagementAction
		create   bool
		update   bool
		remove   bool
	}{
		"All":        {policies: []xpv2.ManagementAction{"*"}, create: true, update: true, remove: true},
		"Each":       {policies: []xpv2.ManagementAction{"Observe", "Create", "Update", "LateInitialize", "Delete"}, create: true, update: true, remove: true},
		"NoLate":     {policies: []xpv2.ManagementAction{"Observe", "Create", "Update", "Delete"}, create: true, update: true, remove: true},
		"NoDelete":   {policies: []xpv2.ManagementAction{"Observe", "Create", "Update", "LateInitialize"}, create: true, update: true},
		"NoUpdate":   {policies: []xpv2.ManagementAction{"Observe", "Create", "Delete", "LateInitialize"}, create: true, remove: true},
		"OnlyCreate": {policies: []xpv2.ManagementAction{"Observe", "Create"}, create: true},
		"OnlyDelete": {policies: []xpv2.ManagementAction{"Observe", "Delete"}, remove: true},
		"OnlyUpdate": {policies: []xpv2.ManagementAction{"Observe", "Update"}, update: true},
		"Import":     {policies: []xpv2.ManagementAction{"Observe", "LateInitialize"}},
		"Observe":    {policies: []xpv2.ManagementAction{"Observe"}},
		"Paused":     {policies: []xpv2.ManagementAction{}},
	}
	for name, tc := range sets {
		t.Run(name, func(t *testing.T) {
			// Nothing is there.
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", policies(tc.policies...)))
			for range 3 {
				cr, _ := w.pass("s")
				if !tc.create && cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
					t.Error("Ready although there is nothing")
				}
				if !tc.create && name != "Paused" && cr.GetCondition(v1alpha1.TypeApplied).Message == "" {
					t.Error("it does not say that there is nothing")
				}
			}
			if n := len(w.Subscriptions()); (n == 1) != tc.create {
				t.Errorf("%d subscriptions were created", n)
			}

			// Something is there, and changes.
			w = newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			w.byHand(byHandLike(secretToken, "app", "theirs"))
			w.add(subscription("s", externalName("theirs"), application("app"), status(v1alpha1.SubscriptionRevoked), policies(tc.policies...)))
			for range 3 {
				_, _ = w.pass("s")
			}
			if got := w.only().Status; (got == "REVOKED") != tc.update {
				t.Errorf("its status is %s", got)
			}

			// It vanishes.
			if name == "Paused" {
				return
			}
			w.deleteByHand("theirs")
			for range 3 {
				_, _ = w.pass("s")
			}
			if n := len(w.Subscriptions()); (n == 1) != tc.create {
				t.Errorf("after it vanished there are %d", n)
			}
			if len(w.Subscriptions()) == 0 {
				w.byHand(byHandLike(secretToken, "app", "theirs"))
				_, _ = w.pass("s")
			}
			w.remove("s")
			w.gone("s")
			if n := len(w.Subscriptions()); (n == 0) != tc.remove {
				t.Errorf("after deletion there are %d", n)
			}
			if !tc.create && !tc.update && !tc.remove && w.Writes() != 0 {
				t.Errorf("%d writes", w.Writes())
			}
		})
	}
}

// What vanishes at the gateway comes back under its ID and with its token, and
// one that keeps vanishing is not created again and again.
//
// contract: S3, S30
// case: W7
func TestRecreate(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			first := baselineOf(t, w.settle("s")).ID
			w.DeleteAPI("books")
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonAPIMissing)
			w.addAPI("books")
			for n := range 3 {
				cr = w.settle("s")
				inForce(t, cr)
				if id := baselineOf(t, cr).ID; (id == first) != (g == emulator.InPlace) || !w.HoldsToken(id, secretToken) {
					t.Errorf("it came back as %q with another ID or token", id)
				}
				if n := w.events.count("Recreated"); n == 0 {
					t.Error("no event")
				}
				if n < 2 {
					w.deleteByHand(baselineOf(t, cr).ID)
				}
			}
			w.deleteByHand(w.held())
			posts := w.count(http.MethodPost)
			for range 3 {
				cr, err = w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonConflict)
			}
			if w.count(http.MethodPost) != posts {
				t.Error("it is created again without a pause")
			}
			w.wait(11 * time.Minute)
			inForce(t, w.settle("s"))
		})
	}
}

// An answer to a re-creation that is lost rotates nothing that was rotated before.
//
// contract: S11, S27, S30
func TestRecreateRotatesNothing(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, subscription("s", generated, annotated(v1alpha1.AnnotationRotateToken, "1")))
			w.settle("s")
			token := string(w.secret("conn").Data["token"])
			w.deleteByHand(w.held())
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			_, _ = w.pass("s")
			w.wait(time.Minute)
			inForce(t, w.settle("s"))
			if got := string(w.secret("conn").Data["token"]); got != token || !w.HoldsToken(w.held(), token) {
				t.Error("the token was rotated although nobody asked for it")
			}
		})
	}
}

// A rotation that is asked for while a subscription is gone is done once it is
// back.
//
// contract: S27, S30
func TestRotateWhileGone(t *testing.T) {
	for name, before := range map[string]change{"First": func(*v1alpha1.Subscription) {}, "Second": annotated(v1alpha1.AnnotationRotateToken, "1")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, subscription("s", generated))
			w.settle("s")
			w.edit("s", before)
			w.settle("s")
			leaked := string(w.secret("conn").Data["token"])
			w.DeleteAPI("books")
			_, _ = w.pass("s")
			w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "2"))
			_, _ = w.pass("s")
			w.addAPI("books")
			inForce(t, w.settle("s"))
			if token := string(w.secret("conn").Data["token"]); token == leaked || w.LetThrough("books", leaked) || !w.LetThrough("books", token) {
				t.Error("the old token is in force again")
			}
		})
	}
}

// A subscription that comes back has a status that the gateway knows, whatever it
// reported before.
//
// contract: S29, S30
func TestRecreateAfterUnknownStatus(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.byHand(byHandLike(secretToken, "app", "theirs"))
	remove := w.Inject(emulator.Always(emulator.Match{Method: http.MethodGet}, emulator.Rewrite(func(o map[string]any) {
		if _, ok := o["id"]; ok {
			o["status"] = "SUSPENDED"
		}
	})))
	w.add(subscription("s", externalName("theirs"), application("app"), policies("Observe", "Create", "Update", "Delete")))
	w.settle("s")
	remove()
	w.deleteByHand("theirs")
	inForce(t, w.settle("s"))
	w.only()
}

// A subscription that is named while it is open what a create came to does not
// make that one forgotten.
//
// contract: S11, S18
func TestNamedWhileAttemptIsOpen(t *testing.T) {
	for name, fault := range map[string]emulator.Fault{"Committed": emulator.Cut().After(), "Late": emulator.Cut()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			theirs := w.byHand(byHandLike("x", "app", "other"))
			w.add(subscription("s", application("app"), externalName("mine")))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, fault))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			w.edit("s", externalName("other"))
			_, _ = w.pass("s")
			if name == "Late" {
				w.byHand(byHandLike(secretToken, "app", "mine"))
			}
			w.wait(time.Second)
			for range 3 {
				_, _ = w.pass("s")
			}
			w.wait(2 * time.Minute)
			_, _ = w.pass("s")
			w.remove("s")
			w.gone("s")
			if got := w.only(); got.ID != theirs {
				t.Errorf("%q is left, want %q", got.ID, theirs)
			}
		})
	}
	t.Run("NothingCame", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
		w.byHand(byHandLike("x", "app", "other"))
		w.add(subscription("s", application("app"), externalName("mine")))
		w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
		_, _ = w.pass("s")
		w.edit("s", externalName("other"))
		w.wait(2 * time.Minute)
		inForce(t, w.settle("s"))
		if got := w.held(); got != "other" {
			t.Errorf("it holds %q", got)
		}
	})
}
