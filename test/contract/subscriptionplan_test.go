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
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// planRequests selects what was asked about plans.
func planRequests(method string) emulator.Match {
	return emulator.Match{Method: method, Kind: emulator.SubscriptionPlans}
}

// contract: P1, P3, A10
// case: G1
func TestPlanIdle(t *testing.T) {
	for name, stop := range map[string]*bool{"Absent": nil, "True": ptr(true), "False": ptr(false)} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.Legacy, func(t *testing.T, w *world) {
				p := w.plan("gold", "Gold")
				f := &p.Spec.ForProvider
				f.StopOnQuotaReach, f.ThrottleLimitCount, f.ThrottleLimitUnit = stop, ptr(int64(1<<53)), ptr(gatewayv1alpha1.ThrottleLimitUnitMonth)
				f.ExpiryTime = &metav1.Time{Time: time.Date(2031, 1, 2, 3, 4, 5, 0, time.FixedZone("", 19800))}
				w.create(p)
				w.ready(p)
				if at := p.Status.AtProvider; externalName(p) != at.ID || at.ID == "" || *at.ThrottleLimitCount != 1<<53 {
					t.Errorf("external-name %q, at provider %+v", externalName(p), at)
				}
				w.polled(externalName(p), 2)
				if err := w.get(p); err != nil {
					t.Fatal(err)
				}
				version := p.GetResourceVersion()
				w.polled(externalName(p), 10)
				if err := w.get(p); err != nil {
					t.Fatal(err)
				}
				if n := w.writes(); n != 1 || p.GetResourceVersion() != version {
					t.Errorf("%d writes at the gateway; resource version %s, was %s", n, p.GetResourceVersion(), version)
				}
			})
		})
	}
}

// contract: P1
// case: D1, D3, D6
func TestPlanLostAnswer(t *testing.T) {
	for name, fault := range map[string]emulator.Fault{
		"Cut":       emulator.Cut().After(),
		"CutBefore": emulator.Cut().Before(),
		"Error500":  emulator.Status(500, "Failed to create subscription plan").After(),
		"EmptyBody": emulator.EmptyBody().After(),
		"NoID":      emulator.SetField("id", nil).After(),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.Legacy, func(t *testing.T, w *world) {
				w.gw.Inject(emulator.FailOnce(planRequests(http.MethodPost), fault))
				p := w.plan("gold", "Gold")
				w.create(p)
				w.ready(p)
				if all := w.gw.Plans(); len(all) != 1 || all[0].ID != externalName(p) {
					t.Errorf("external-name %q, plans %+v", externalName(p), all)
				}
			})
		})
	}
}

// A restart between the create and the record of it leaves one plan.
//
// contract: P1
// case: D1
func TestPlanRestartDuringCreate(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		held := make(chan struct{})
		w.gw.Inject(emulator.FailOnce(planRequests(http.MethodPost), emulator.Cut().After().Held(held)))
		p := w.plan("gold", "Gold")
		w.create(p)
		w.eventually("the gateway has it", func() error {
			if n := len(w.gw.Plans()); n != 1 {
				return fmt.Errorf("%d plans", n)
			}
			return nil
		})
		w.restart()
		close(held)
		w.ready(p)
		if all := w.gw.Plans(); len(all) != 1 || all[0].ID != externalName(p) {
			t.Errorf("external-name %q, plans %+v", externalName(p), all)
		}
	})
}

// contract: P1
// case: W9
func TestPlanStranger(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		before, _ := w.gw.AddPlan("Gold")
		p := w.plan("gold", "Gold")
		p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
		w.create(p)
		if m := w.refused(p, gatewayv1alpha1.ReasonConflict); !strings.Contains(m, "IfUnique") {
			t.Errorf("message %q", m)
		}
		if after, _ := w.gw.Plan(before.ID); after.ThrottleLimitCount != 0 || w.writes() != 0 {
			t.Errorf("touched: %+v", after)
		}
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) {
			p.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique
		})
		w.ready(p)
		if after, _ := w.gw.Plan(before.ID); after.ThrottleLimitCount != 5 || externalName(p) != before.ID {
			t.Errorf("external-name %q, plan %+v", externalName(p), after)
		}
		rival := w.plan("rival", "Gold")
		rival.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique
		w.create(rival)
		w.refused(rival, gatewayv1alpha1.ReasonConflict)
		w.delete(rival)
		w.gone(rival)
		if _, ok := w.gw.Plan(before.ID); !ok {
			t.Error("the loser deleted it")
		}
	})
}

// contract: S18, S19
// case: H6
func TestPlanImport(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		made, _ := w.gw.AddPlan("Gold")
		w.gw.Do(http.MethodPut, "/subscription-plans/"+made.ID, map[string]any{"stopOnQuotaReach": false, "billingPlan": "X", "throttleLimitCount": 5, "throttleLimitUnit": "Min"})
		p := w.plan("gold", "Gold")
		p.SetAnnotations(map[string]string{"crossplane.io/external-name": made.ID})
		p.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		w.create(p)
		w.eventually("it is observed", func() error {
			if err := w.get(p); err != nil {
				return err
			}
			if p.Status.AtProvider.ID != made.ID {
				return fmt.Errorf("conditions: %s", conditionsOf(p))
			}
			return nil
		})
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) {
			p.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
		})
		w.ready(p)
		w.eventually("the spec is filled in", func() error {
			if err := w.get(p); err != nil {
				return err
			}
			if f := p.Spec.ForProvider; f.BillingPlan == nil || *f.BillingPlan != "X" || f.StopOnQuotaReach == nil || *f.StopOnQuotaReach || f.ThrottleLimitCount == nil {
				return fmt.Errorf("spec %+v", f)
			}
			return nil
		})
		w.polled(made.ID, 5)
		if n := w.writes(); n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

// A plan in use says so, and goes when its subscriptions are gone.
//
// contract: P5
// case: W10, B1
func TestPlanInUse(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		p := w.plan("gold", "Gold")
		w.create(p)
		w.ready(p)
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		w.delete(p)
		w.eventually("it says that it is in use", func() error {
			if err := w.get(p); err != nil {
				return err
			}
			if m := p.GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "in use by 1 subscription ") {
				return fmt.Errorf("conditions: %s", conditionsOf(p))
			}
			return nil
		})
		w.delete(s)
		w.gone(s, p)
		if n := len(w.gw.Plans()); n != 0 {
			t.Errorf("%d plans left behind", n)
		}
		if n := w.gw.Count(planRequests(http.MethodDelete)); n > 10 {
			t.Errorf("%d DELETEs", n)
		}
	})
}

// It goes also when they have another plan, or none.
//
// contract: P5
func TestPlanNoLongerInUse(t *testing.T) {
	for name, ref := range map[string]*gatewayv1alpha1.Reference{"Another": {Name: "silver"}, "None": nil} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				gold, silver := w.plan("gold", "Gold"), w.plan("silver", "Silver")
				w.create(gold, silver)
				w.ready(gold, silver)
				s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
				})
				w.delete(gold)
				w.says(gold, xpv2.TypeSynced, corev1.ConditionFalse, "in use by 1 subscription ")
				edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanIDRef = ref })
				w.gone(gold)
				w.ready(s)
				want := ""
				if ref != nil {
					want = externalName(silver)
				}
				if at := w.only(); at.SubscriptionPlanID != want || len(w.gw.Plans()) != 1 {
					t.Errorf("want plan %q, got %+v", want, at)
				}
			})
		})
	}
}

// contract: P4
func TestPlanRename(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		w.gw.AddPlan("Silver")
		p := w.plan("gold", "Gold")
		w.create(p)
		w.ready(p)
		id := externalName(p)
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.PlanName = "Silver" })
		if m := w.refused(p, gatewayv1alpha1.ReasonConflict); !strings.Contains(m, `another plan with the name "Silver"`) {
			t.Errorf("message %q", m)
		}
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.PlanName = "Platinum" })
		w.ready(p)
		if at, _ := w.gw.Plan(id); at.PlanName != "Platinum" {
			t.Errorf("plan %+v", at)
		}
	})
}

// contract: S30
// case: W8
func TestPlanDrift(t *testing.T) {
	in(t, emulator.Legacy, func(_ *testing.T, w *world) {
		p := w.plan("gold", "Gold")
		w.create(p)
		w.ready(p)
		w.gw.SetPlanStatus(externalName(p), "INACTIVE")
		w.eventually("it is set back", func() error {
			if at, _ := w.gw.Plan(externalName(p)); at.Status != "ACTIVE" {
				return fmt.Errorf("it is %s", at.Status)
			}
			return nil
		})
		w.gw.DeletePlan(externalName(p))
		w.eventually("it is back", func() error {
			if n := len(w.gw.Plans()); n != 1 {
				return fmt.Errorf("%d plans", n)
			}
			return nil
		})
		w.ready(p)
	})
}

// What the gateway cannot clear cannot be removed.
//
// contract: P2, P3
// case: W13, W16
func TestPlanAdmission(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		for name, change := range map[string]func(*gatewayv1alpha1.SubscriptionPlanParameters){
			"Zero":    func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.ThrottleLimitCount = ptr(int64(0)) },
			"TooMany": func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.ThrottleLimitCount = ptr(int64(1<<53 + 1)) },
			"NoUnit":  func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.ThrottleLimitUnit = nil },
			"NoCount": func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.ThrottleLimitCount = nil },
			"Unit": func(f *gatewayv1alpha1.SubscriptionPlanParameters) {
				f.ThrottleLimitUnit = ptr(gatewayv1alpha1.ThrottleLimitUnit("Year"))
			},
			"Blank":      func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.PlanName = " " },
			"WhiteSpace": func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.PlanName = "Gold " },
			"NoBreak":    func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.PlanName = "Gold\u00a0" },
			"Empty":      func(f *gatewayv1alpha1.SubscriptionPlanParameters) { f.PlanName = "" },
			"Status": func(f *gatewayv1alpha1.SubscriptionPlanParameters) {
				f.Status = ptr(gatewayv1alpha1.SubscriptionPlanStatusValue("active"))
			},
		} {
			p := w.plan("refused", "Gold")
			p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
			change(&p.Spec.ForProvider)
			if err := w.kube.Create(t.Context(), p); !kerrors.IsInvalid(err) {
				t.Errorf("%s: want a refusal, got %v", name, err)
			}
		}

		p := w.plan("gold", "Gold")
		p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
		p.Spec.ForProvider.ExpiryTime = &metav1.Time{Time: time.Now().Add(time.Hour)}
		w.create(p)
		w.ready(p)
		err := tryEdit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) {
			p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = nil, nil
		})
		if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), "not clear it") {
			t.Errorf("want a refusal with the reason, got %v", err)
		}
		err = tryEdit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.ExpiryTime = nil })
		if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), "not clear it") {
			t.Errorf("want a refusal with the reason, got %v", err)
		}
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.ThrottleLimitCount = ptr(int64(6)) })
		w.ready(p)
	})
}

// The same bundle in any order converges.
//
// contract: S24, S25
// case: W17
func TestBundle(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		a := w.api("books")
		a.Spec.ForProvider.SubscriptionPlanRefs = []gatewayv1alpha1.Reference{{Name: "gold"}}
		s := w.subscription("one", "books", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		p := w.plan("gold", "Gold")
		w.create(s, a)
		w.refused(a, gatewayv1alpha1.ReasonPlanMissing)
		w.create(p, w.secret("one", map[string]string{"token": "token-of-one"}))
		w.ready(p, a, s)
		if at, _ := w.gw.API("books"); len(at.SubscriptionPlans) != 1 || at.SubscriptionPlans[0] != "Gold" {
			t.Errorf("plans %v", at.SubscriptionPlans)
		}
	})
}
