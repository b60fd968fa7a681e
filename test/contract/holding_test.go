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

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// However often something was edited, it counts once as a user, and not at all once
// it is gone.
//
// contract: C4, P5
// case: B8, W10
func TestEditsAreNoUsers(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		bronze, gold := w.plan("bronze", "Bronze"), w.plan("gold", "Gold")
		w.create(bronze, gold)
		w.ready(bronze, gold)
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "bronze"}
		})
		for i := range 10 {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.SubscriptionPlanIDRef.Name = []string{"gold", "bronze"}[i%2]
			})
			w.ready(s)
		}
		c := w.itsConfig()
		users := func(want int64) {
			t.Helper()
			w.eventually(fmt.Sprintf("%d users are counted", want), func() error {
				if err := w.get(c); err != nil {
					return err
				}
				if c.Status.Users != want {
					return fmt.Errorf("%d users", c.Status.Users)
				}
				return nil
			})
		}
		users(3)
		// The plan that it had in between is not in use.
		w.delete(gold)
		w.gone(gold)
		users(2)
		w.delete(s)
		w.gone(s)
		w.delete(bronze)
		w.gone(bronze)
		users(0)
		if n := w.gw.Count(planRequests(http.MethodDelete)); n != 2 {
			t.Errorf("want one DELETE for each plan, got %d", n)
		}
		w.delete(c)
		w.gone(c)
		if n := len(w.gw.Plans()) + len(w.gw.Subscriptions()); n != 0 {
			t.Errorf("%d left behind", n)
		}
	})
}

// Of the subscriptions that stand in the way one is adopted as soon as the policy
// allows it, and a policy changes nothing of what is held already.
//
// contract: S7, S8, S10
// case: W2
func TestAdoptionPolicyChanges(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		theirs, _ := w.gw.AddSubscription(emulator.Subscription{ID: "theirs", APIHandle: "api", ApplicationID: "somebody", Status: "ACTIVE"}, "secret")
		mine, ok := w.gw.AddSubscription(emulator.Subscription{ID: "mine", APIHandle: "api", ApplicationID: "app-one", Status: "ACTIVE"}, "token-of-one")
		if !ok {
			t.Fatal("cannot make it by hand")
		}
		policy := func(s *gatewayv1alpha1.Subscription, is gatewayv1alpha1.SubscriptionAdoptionPolicy) {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.AdoptionPolicy = is })
		}
		s := w.asked("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptNever })
		w.refused(s, gatewayv1alpha1.ReasonAdoptionRefused)
		policy(s, gatewayv1alpha1.SubscriptionAdoptIfProven)
		if !w.inPlace {
			// There is another one on the API, and no way to prove whose this is.
			w.refused(s, gatewayv1alpha1.ReasonConflict)
			if is, _ := w.gw.Subscription("mine"); is != mine {
				t.Errorf("it was %+v and is %+v", mine, is)
			}
			policy(s, gatewayv1alpha1.SubscriptionAdoptIfUnique)
		}
		w.ready(s)
		if externalName(s) != "mine" || s.Status.AtProvider.Origin != gatewayv1alpha1.OriginAdopted {
			t.Errorf("external-name %q, origin %q", externalName(s), s.Status.AtProvider.Origin)
		}
		w.polled("mine", 2)
		writes := w.writes()
		policy(s, gatewayv1alpha1.SubscriptionAdoptNever)
		w.ready(s)
		w.polled("mine", 3)
		if n := w.writes(); n != writes {
			t.Errorf("%d writes since a policy changed", n-writes)
		}
		w.delete(s)
		w.gone(s)
		if all := w.gw.Subscriptions(); len(all) != 1 || all[0] != theirs {
			t.Errorf("want the other one as it was, got %+v", all)
		}
	})
}

// What a later version recorded is not understood, so nothing is done about it:
// nothing is written and nothing deleted.
//
// contract: S17, A9, A11
func TestNewerRecords(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		p, a := w.plan("gold", "Gold"), w.api("books")
		w.create(p, a)
		s := w.subscribed("one")
		all := []resource.Managed{s, p, a}
		w.ready(all...)
		was := map[resource.Managed]string{}
		for _, o := range all {
			edit(w, o, func(o resource.Managed) {
				annotations := o.GetAnnotations()
				was[o] = annotations[gatewayv1alpha1.AnnotationBaseline]
				annotations[gatewayv1alpha1.AnnotationBaseline] = `{"v":2,"what":"this version does not know"}`
				o.SetAnnotations(annotations)
			})
		}
		writes := w.writes()
		w.poked(all...)
		for _, o := range all {
			w.refused(o, gatewayv1alpha1.ReasonNewerBaseline)
		}
		// It is held, by whomever: nobody else gets it.
		thief := w.asked("thief", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.ExternalRefID = ptr(externalName(all[0]))
			s.Spec.ForProvider.ApplicationID = ptr("app-one")
		})
		w.refused(thief, gatewayv1alpha1.ReasonConflict)
		w.delete(thief)
		w.gone(thief)
		w.gw.SetSubscriptionStatus(externalName(s), "INACTIVE")
		for _, o := range all {
			w.delete(o)
		}
		w.poked(all...)
		w.restart()
		for _, o := range all {
			w.refusedWhileDeleted(o, gatewayv1alpha1.ReasonNewerBaseline)
		}
		if n := w.writes(); n != writes || len(w.gw.Subscriptions()) != 1 || len(w.gw.Plans()) != 1 || len(w.gw.APIs()) != 2 {
			t.Errorf("want nothing written and nothing deleted, got %d writes", n-writes)
		}
		for _, o := range all {
			edit(w, o, func(o resource.Managed) {
				annotations := o.GetAnnotations()
				annotations[gatewayv1alpha1.AnnotationBaseline] = was[o]
				o.SetAnnotations(annotations)
			})
		}
		w.prodded(all...)
		w.gone(s, p, a)
		if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 0 || len(w.gw.APIs()) != 1 {
			t.Errorf("left behind: %+v, %+v, %+v", w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs())
		}
	})
}

// refusedWhileDeleted waits until an object that is being deleted says why it stays.
func (w *world) refusedWhileDeleted(o resource.Managed, reason xpv2.ConditionReason) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%T %s stays: %s", o, o.GetName(), reason), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		if c := o.GetCondition(gatewayv1alpha1.TypeApplied); c.Reason != reason || len(o.GetFinalizers()) == 0 || o.GetDeletionTimestamp() == nil {
			return fmt.Errorf("finalizers %v, conditions: %s", o.GetFinalizers(), conditionsOf(o))
		}
		return nil
	})
}

// The mark of an API carries the name of the cluster: under another name the API is
// somebody else's, and neither changed nor deleted.
//
// contract: R2, A5, A11
func TestClusterID(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		named := func(id string) { w.reconfigure(func(o *controller.Options) { o.ClusterID = id }) }
		named("cluster-a")
		a, goes := w.api("books"), w.api("goes")
		w.create(a, goes)
		w.ready(a, goes)
		before, writes := w.gw.APIs(), w.writes()
		if at, _ := w.gw.API("goes"); at.Annotations[gatewayv1alpha1.AnnotationOwner] != "cluster-a/"+w.ns+"/goes" {
			t.Errorf("annotations %v", at.Annotations)
		}

		named("cluster-b")
		w.refused(a, gatewayv1alpha1.ReasonConflict)
		w.refused(goes, gatewayv1alpha1.ReasonConflict)
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.Context = "/stolen" })
		w.poked(a)
		w.refused(a, gatewayv1alpha1.ReasonConflict)
		w.delete(goes)
		w.gone(goes)
		if diff := cmp.Diff(before, w.gw.APIs()); diff != "" || w.writes() != writes {
			t.Errorf("%d writes; -want, +got:\n%s", w.writes()-writes, diff)
		}

		named("cluster-a")
		w.ready(a)
		if at := w.gatewayContext("books"); at != "/stolen" || w.writes() != writes+1 {
			t.Errorf("context %v, %d writes", at, w.writes()-writes)
		}
	})
}
