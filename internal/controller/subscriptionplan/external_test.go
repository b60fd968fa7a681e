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

package subscriptionplan

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// managedGold is a managed resource for the plan Gold.
func managedGold(change ...func(*v1alpha1.SubscriptionPlan)) *v1alpha1.SubscriptionPlan {
	mg := &v1alpha1.SubscriptionPlan{
		ObjectMeta: metav1.ObjectMeta{Name: "gold", Namespace: "team-a", UID: "uid-gold", Generation: 1},
		Spec: v1alpha1.SubscriptionPlanSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
			AdoptionPolicy:      v1alpha1.SubscriptionPlanAdoptionNever,
			ForProvider: v1alpha1.SubscriptionPlanParameters{
				PlanName: "Gold", ThrottleLimitCount: ptr(int64(1000)), ThrottleLimitUnit: ptr(v1alpha1.ThrottleLimitUnitHour),
				ExpiryTime: &metav1.Time{Time: expiry},
			},
		},
	}
	for _, c := range change {
		c(mg)
	}
	return mg
}

func adopt(mg *v1alpha1.SubscriptionPlan) {
	mg.Spec.AdoptionPolicy = v1alpha1.SubscriptionPlanAdoptionIfUnique
}

func preset(id string) func(*v1alpha1.SubscriptionPlan) {
	return func(mg *v1alpha1.SubscriptionPlan) { meta.SetExternalName(mg, id) }
}

func only(actions ...xpv2.ManagementAction) func(*v1alpha1.SubscriptionPlan) {
	return func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ManagementPolicies = actions }
}

func other(mg *v1alpha1.SubscriptionPlan) { mg.Namespace, mg.UID = "team-b", "uid-other" }

type bench struct {
	*passtest.Bench

	t       passtest.Tester
	memory  *memory
	metrics *metrics.Metrics
	at      target.Target
}

func newBench(t passtest.Tester, o emulator.Options, objects ...client.Object) *bench {
	t.Helper()
	b := passtest.New(t, o, []passtest.Index{
		{Of: &v1alpha1.SubscriptionPlan{}, Field: indexHolds, Extract: heldIDs},
		{Of: &v1alpha1.SubscriptionPlan{}, Field: indexAsks, Extract: askedNames},
	}, objects...)
	return &bench{Bench: b, t: t, memory: &memory{}, metrics: metrics.New("test"), at: target.Target{Endpoint: b.Client.Endpoint().String(), Timeout: 5 * time.Second}}
}

func (b *bench) external(p managed.ManagementPoliciesChecker) *external {
	return &external{api: passtest.Each{Client: b.Client}, at: b.at, kube: b.Kube, policies: p, events: b.Events, now: b.Now, poll: time.Minute, metrics: b.metrics, memory: b.memory}
}

// pass runs one pass and returns the managed resource as it is stored afterwards.
func (b *bench) pass(mg *v1alpha1.SubscriptionPlan) (*v1alpha1.SubscriptionPlan, error) {
	b.t.Helper()
	err := passtest.Pass(b.t, b.Bench, v1alpha1.SubscriptionPlanGroupVersionKind, mg, passtest.Connect[*v1alpha1.SubscriptionPlan](func(p managed.ManagementPoliciesChecker) managed.TypedExternalClient[*v1alpha1.SubscriptionPlan] {
		return b.external(p)
	}))
	return b.get(mg), err
}

// settle runs passes until two succeed in leaving things as they are.
func (b *bench) settle(mg *v1alpha1.SubscriptionPlan) *v1alpha1.SubscriptionPlan {
	b.t.Helper()
	quiet := 0
	for range 8 {
		before := b.Gateway.Writes()
		got, err := b.pass(mg)
		if err != nil || b.Gateway.Writes() != before {
			quiet = 0
			continue
		}
		if quiet++; quiet == 2 {
			return got
		}
	}
	b.t.Fatal("does not settle")
	return nil
}

func (b *bench) get(mg *v1alpha1.SubscriptionPlan) *v1alpha1.SubscriptionPlan {
	b.t.Helper()
	out := &v1alpha1.SubscriptionPlan{}
	if err := b.Kube.Get(b.t.Context(), client.ObjectKeyFromObject(mg), out); err != nil {
		if kerrors.IsNotFound(err) {
			return nil
		}
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) edit(mg *v1alpha1.SubscriptionPlan, change func(*v1alpha1.SubscriptionPlan)) {
	b.t.Helper()
	got := b.get(mg)
	change(got)
	got.Generation++
	if err := b.Kube.Update(b.t.Context(), got); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) delete(mg *v1alpha1.SubscriptionPlan) {
	b.t.Helper()
	if err := b.Kube.Delete(b.t.Context(), b.get(mg)); err != nil {
		b.t.Fatal(err)
	}
}

// gone runs passes until the managed resource is gone.
func (b *bench) gone(mg *v1alpha1.SubscriptionPlan) {
	b.t.Helper()
	for range 4 {
		if got, _ := b.pass(mg); got == nil {
			return
		}
		b.Advance(time.Minute)
	}
	b.t.Fatal("is not deleted")
}

func ready(t *testing.T, mg *v1alpha1.SubscriptionPlan) {
	t.Helper()
	for _, c := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, v1alpha1.TypeApplied} {
		if got := mg.Status.GetCondition(c); got.Status != corev1.ConditionTrue {
			t.Errorf("%s is %s: %s %s", c, got.Status, got.Reason, got.Message)
		}
	}
	if !mg.Status.Deployed || meta.GetExternalName(mg) != mg.Status.AtProvider.ID {
		t.Errorf("deployed %t, external-name %q", mg.Status.Deployed, meta.GetExternalName(mg))
	}
}

func refusedFor(t *testing.T, mg *v1alpha1.SubscriptionPlan, err error, reason xpv2.ConditionReason) {
	t.Helper()
	if !kind.IsRefusal(err) {
		t.Errorf("not a refusal: %v", err)
	}
	got := mg.Status.GetCondition(v1alpha1.TypeApplied)
	if got.Status != corev1.ConditionFalse || got.Reason != reason {
		t.Errorf("Applied is %s: %s %s", got.Status, got.Reason, got.Message)
	}
	if got := mg.Status.GetCondition(xpv2.TypeReady); got.Status == corev1.ConditionTrue {
		t.Error("Ready")
	}
}

// A straightforward create is one POST, after which nothing is written, whatever
// stopOnQuotaReach says.
//
// contract: A10
// case: G1
func TestCreateThenIdle(t *testing.T) {
	for name, stop := range map[string]*bool{"Absent": nil, "True": ptr(true), "False": ptr(false)} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold(func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.StopOnQuotaReach = stop })
			b := newBench(t, emulator.Options{}, mg)
			got, err := b.pass(mg)
			if err != nil {
				t.Fatal(err)
			}
			id := meta.GetExternalName(got)
			want := &record.Baseline{Version: 1, ID: id, Endpoint: b.at.Endpoint, GatewayID: b.Gateway.GatewayID()}
			if base, err := record.ReadBaseline(got); err != nil || id == "" || !cmp.Equal(want, base) {
				t.Errorf("external-name %q, baseline %+v, %v", id, base, err)
			}
			for range 10 {
				if got, err = b.pass(mg); err != nil {
					t.Fatal(err)
				}
				ready(t, got)
			}
			if n := b.Gateway.Writes(); n != 1 {
				t.Errorf("%d writes, want 1", n)
			}
			if at := got.Status.AtProvider; at.Origin != v1alpha1.OriginCreated || at.PlanName != "Gold" || at.Status != "ACTIVE" || at.GatewayID == "" {
				t.Errorf("atProvider %+v", at)
			}
		})
	}
}

// A plan whose create was answered by nobody is found by its name.
//
// contract: P1
// case: D1, D3, D6, D8
func TestLostAnswer(t *testing.T) {
	faults := map[string]emulator.Fault{
		"Cut":       emulator.Cut().After(),
		"Status500": emulator.Status(http.StatusInternalServerError, "Failed to create subscription plan").After(),
		"EmptyBody": emulator.EmptyBody().After(),
		"HTML":      emulator.HTML(http.StatusOK).After(),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
			if _, err := b.pass(mg); err == nil || kind.IsRefusal(err) {
				t.Fatalf("error %v", err)
			}
			got := b.settle(mg)
			ready(t, got)
			if got.Status.AtProvider.Origin != v1alpha1.OriginCreated {
				t.Errorf("origin %q", got.Status.AtProvider.Origin)
			}
			if len(b.Gateway.Plans()) != 1 || b.Gateway.Count(emulator.Match{Method: http.MethodPost}) != 1 {
				t.Errorf("%d plans", len(b.Gateway.Plans()))
			}
		})
		t.Run(name+"ThenDeleted", func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
			_, _ = b.pass(mg)
			b.delete(mg)
			b.gone(mg)
			if n := len(b.Gateway.Plans()); n != 0 {
				t.Errorf("%d plans left behind", n)
			}
		})
		t.Run(name+"ThenRenamed", func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
			_, _ = b.pass(mg)
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
			ready(t, b.settle(mg))
			if p := b.Gateway.Plans(); len(p) != 1 || p[0].PlanName != "Silver" {
				t.Errorf("plans %+v", p)
			}
		})
	}
}

// What is found of a create whose process ended before the answer came is held, and to
// the runtime that create is over: its mark waits for nobody. So it is where what was
// held is created again.
//
// contract: S11
// case: D1
func TestProcessEndsDuringCreate(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	dies := func() *v1alpha1.SubscriptionPlan {
		t.Helper()
		b.lost(mg, emulator.Cut().After())
		// Who is dead notes no failure.
		b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
			meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreateFailed, meta.AnnotationKeyExternalCreateSucceeded)
		})
		return b.settle(mg)
	}
	got := dies()
	ready(t, got)
	if meta.ExternalCreateIncomplete(got) {
		t.Errorf("pending: %v", got.GetAnnotations())
	}
	b.Gateway.DeletePlan(meta.GetExternalName(got))
	b.Advance(time.Minute)
	got = dies()
	ready(t, got)
	if meta.ExternalCreateIncomplete(got) {
		t.Errorf("created again and pending: %v", got.GetAnnotations())
	}
}

// What a later create is answered says nothing about an earlier one, which may still be
// carried out.
//
// contract: S33
func TestRefusedWhileOpen(t *testing.T) {
	for name, status := range map[string]int{"Unauthorized": http.StatusUnauthorized, "Invalid": http.StatusBadRequest} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			for _, f := range []emulator.Fault{emulator.Cut().Before(), emulator.Status(status, "no")} {
				b.lost(mg, f)
			}
			b.delete(mg)
			if got, _ := b.pass(mg); got == nil {
				t.Fatal("gone too early")
			}
			b.Gateway.AddPlan("Gold") // The first one is carried out late.
			b.Advance(b.at.Timeout + 31*time.Second)
			b.gone(mg)
			if n := len(b.Gateway.Plans()); n != 0 {
				t.Errorf("%d plans left behind", n)
			}
		})
	}
}

// contract: S33
func TestDeletedWhileOpen(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	b.lost(mg, emulator.Cut().Before())
	b.delete(mg)
	if got, err := b.pass(mg); got == nil || err == nil {
		t.Fatalf("gone too early: %v", err)
	}
	b.Advance(b.at.Timeout + 31*time.Second)
	b.gone(mg)
}

// An ID that a user sets asks for an import, which is no reason to delete what has
// it.
//
// contract: S32, A11
func TestDeletedBeforeItsImport(t *testing.T) {
	for name, open := range map[string]bool{"Open": true, "Never": false} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			stranger, _ := b.Gateway.AddPlan("Silver")
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Finalizers = []string{managed.FinalizerName} })
			if open {
				b.lost(mg, emulator.Cut().Before())
			}
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
				preset(stranger.ID)(mg)
				mg.Spec.ForProvider.PlanName = "Silver"
			})
			b.delete(mg)
			b.gone(mg)
			if p := b.Gateway.Plans(); len(p) != 1 || !cmp.Equal(stranger, p[0]) {
				t.Errorf("plans %+v", p)
			}
		})
	}
}

// A record that names what no URL can carry keeps no object from its deletion, nor
// one that is not deleted from having its plan.
//
// contract: S32
func TestUnusableRecord(t *testing.T) {
	for _, id := range []string{".", ".."} {
		for name, live := range map[string]bool{"Deleted": false, "Live": true} {
			t.Run(name+id, func(t *testing.T) {
				mg := managedGold()
				b := newBench(t, emulator.Options{}, mg)
				b.edit(mg, func(stored *v1alpha1.SubscriptionPlan) {
					stored.Finalizers = []string{managed.FinalizerName}
					record.WriteBaseline(stored, record.Baseline{ID: id, Endpoint: b.at.Endpoint})
				})
				if live {
					ready(t, b.settle(mg))
				}
				b.delete(mg)
				b.gone(mg)
			})
		}
	}
}

// Two clusters on one gateway do not see each other's plans: one takes that of the other
// for made by hand, unless it adopts none.
//
// contract: A5, P1
func TestTwoClusters(t *testing.T) {
	mg, theirs := managedGold(), managedGold(other)
	b, elsewhere := newBench(t, emulator.Options{}, mg), newBench(t, emulator.Options{}, theirs)
	elsewhere.Gateway, elsewhere.Client, elsewhere.at = b.Gateway, b.Client, b.at
	ready(t, b.settle(mg))
	got, err := elsewhere.pass(theirs)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)

	elsewhere.edit(theirs, adopt)
	got = elsewhere.settle(theirs)
	ready(t, got)
	if all := b.Gateway.Plans(); len(all) != 1 || meta.GetExternalName(got) != all[0].ID || meta.GetExternalName(b.settle(mg)) != all[0].ID {
		t.Errorf("want both to hold the one plan, got %+v", all)
	}
}

// contract: P1, A11
// case: W9
func TestStranger(t *testing.T) {
	t.Run("Never", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{}, mg)
		before, _ := b.Gateway.AddPlan("Gold")
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
		b.delete(mg)
		b.gone(mg)
		if after, _ := b.Gateway.Plan(before.ID); !cmp.Equal(before, after) || b.Gateway.Writes() != 0 {
			t.Error("touched")
		}
	})
	t.Run("IfUnique", func(t *testing.T) {
		mg := managedGold(adopt)
		b := newBench(t, emulator.Options{}, mg)
		before, _ := b.Gateway.AddPlan("Gold")
		got := b.settle(mg)
		ready(t, got)
		after, _ := b.Gateway.Plan(before.ID)
		if after.ThrottleLimitCount != 1000 || got.Status.AtProvider.Origin != v1alpha1.OriginAdopted {
			t.Errorf("plan %+v, origin %q", after, got.Status.AtProvider.Origin)
		}
		if len(b.Events.With("Adopted")) != 1 {
			t.Error("no event")
		}
		if n := passtest.Counted(t, b.metrics, "apiplatform_adoptions_total", "SubscriptionPlan"); n != 1 {
			t.Errorf("%v adoptions are counted", n)
		}
		if n := b.Gateway.Count(emulator.Match{Method: http.MethodPost}); n != 0 {
			t.Errorf("%d POSTs", n)
		}
	})
	t.Run("BetweenReadAndCreate", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{}, mg)
		b.Gateway.Inject(emulator.FaultFunc(func(r emulator.Request) *emulator.Fault {
			if r.Method == http.MethodPost {
				b.Gateway.AddPlan("Gold")
			}
			return nil
		}))
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
		if holds(got) {
			t.Error("may hold the stranger's")
		}
		b.delete(mg)
		b.gone(mg)
		if len(b.Gateway.Plans()) != 1 {
			t.Error("the stranger's was deleted")
		}
	})
	t.Run("AfterOursWasDeleted", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{}, mg)
		got := b.settle(mg)
		b.Gateway.DeletePlan(meta.GetExternalName(got))
		b.Gateway.AddPlan("Gold")
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
		b.delete(mg)
		b.gone(mg)
		if len(b.Gateway.Plans()) != 1 {
			t.Error("the stranger's was deleted")
		}
	})
}

// Of two objects that ask for one plan exactly one gets it.
//
// contract: P1, A5
func TestTwoOfOneName(t *testing.T) {
	mg, rival := managedGold(adopt), managedGold(adopt, other)
	b := newBench(t, emulator.Options{}, mg, rival)
	ready(t, b.settle(mg))
	got, err := b.pass(rival)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	if got.Status.AtProvider.ID != "" {
		t.Error("tells about the other's")
	}
	b.delete(rival)
	b.gone(rival)
	if len(b.Gateway.Plans()) != 1 {
		t.Error("deleted the other's")
	}

	forger := managedGold(other, func(forged *v1alpha1.SubscriptionPlan) {
		forged.UID = "uid-forger"
		forged.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
		forged.Annotations = map[string]string{}
		for k, v := range b.get(mg).Annotations {
			forged.Annotations[k] = v
		}
		forged.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
	})
	if err := b.Kube.Create(t.Context(), forger); err != nil {
		t.Fatal(err)
	}
	got, err = b.pass(forger)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	b.delete(forger)
	b.gone(forger)
	if p := b.Gateway.Plans(); len(p) != 1 || p[0].ThrottleLimitCount != 1000 {
		t.Errorf("plans %+v", p)
	}
	ready(t, b.settle(mg))
}

// A name that is asked for no more is free.
//
// contract: A3
func TestNameIsFreed(t *testing.T) {
	mg, rival := managedGold(), managedGold(other)
	b := newBench(t, emulator.Options{}, mg, rival)
	b.lost(mg, emulator.Cut().Before())
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
	// It may be that it cannot have the other name.
	stranger, _ := b.Gateway.AddPlan("Silver")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	b.Advance(b.at.Timeout + 31*time.Second)
	got, err = b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	ready(t, b.settle(rival))
	b.Gateway.DeletePlan(stranger.ID)
	ready(t, b.settle(mg))

	// Or that what it asked for first was created.
	again := managedGold(func(mg *v1alpha1.SubscriptionPlan) {
		mg.Name, mg.UID, mg.Spec.ForProvider.PlanName = "again", "uid-again", "Bronze"
	})
	if err := b.Kube.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	if _, err := b.pass(again); err == nil {
		t.Fatal("no error")
	}
	b.edit(again, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Iron" })
	ready(t, b.settle(again))
	b.edit(rival, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Bronze" })
	b.Gateway.DeletePlan(meta.GetExternalName(b.get(rival)))
	ready(t, b.settle(rival))
}

// A name that was asked for before an edit is not forgotten as long as the create may
// be carried out late.
//
// contract: P1, S11, S33
func TestRenamedWhileOpen(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	b.lost(mg, emulator.Cut().Before())
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
	if _, err := b.pass(mg); err == nil || len(b.Gateway.Plans()) != 0 {
		t.Fatalf("another one is asked for already: %v", err)
	}
	late, _ := b.Gateway.AddPlan("Gold")
	ready(t, b.settle(mg))
	if p := b.Gateway.Plans(); len(p) != 1 || p[0].ID != late.ID || p[0].PlanName != "Silver" {
		t.Errorf("plans %+v", p)
	}
	b.delete(mg)
	b.gone(mg)
	if n := len(b.Gateway.Plans()); n != 0 {
		t.Errorf("%d plans left", n)
	}
}

// Of two plans of one second the one with the lower UID is the older one.
//
// contract: P1, S12
func TestUnansweredTwin(t *testing.T) {
	mg, twin := managedGold(), managedGold(other, adopt)
	twin.UID = mg.UID + "-twin"
	b := newBench(t, emulator.Options{}, mg, twin)
	b.lost(mg, emulator.Cut().After())
	b.memory = &memory{} // The provider was restarted.
	if _, err := b.pass(twin); err == nil {
		t.Error("the twin takes what was not made for it")
	}
	ready(t, b.settle(mg))
}

// A plan whose create was not answered belongs to who asked for it, and not to who
// copies that object's record of it, or would adopt or import the plan; also after a
// restart.
//
// contract: P1, S12, A5
func TestUnansweredIsNobodyElses(t *testing.T) {
	for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			mg.CreationTimestamp.Time = time.Unix(1000, 0)
			b := newBench(t, emulator.Options{}, mg)
			b.lost(mg, emulator.Cut().After())
			if restarted {
				b.memory = &memory{}
			}
			thief := managedGold(adopt, other, func(thief *v1alpha1.SubscriptionPlan) {
				thief.CreationTimestamp.Time = time.Unix(2000, 0)
				thief.Annotations = b.get(mg).Annotations
				thief.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
			})
			if err := b.Kube.Create(t.Context(), thief); err != nil {
				t.Fatal(err)
			}
			got, err := b.pass(thief)
			refusedFor(t, got, err, v1alpha1.ReasonConflict)
			b.edit(thief, preset(b.Gateway.Plans()[0].ID))
			got, err = b.pass(thief)
			refusedFor(t, got, err, v1alpha1.ReasonAdoptionRefused)
			b.delete(thief)
			b.gone(thief)
			ready(t, b.settle(mg))
			if p := b.Gateway.Plans(); len(p) != 1 || p[0].ThrottleLimitCount != 1000 || b.Gateway.Writes() != 1 {
				t.Errorf("plans %+v, %d writes", p, b.Gateway.Writes())
			}
		})
	}
}

// What a create made that was not answered is imported by nobody else, however old; but
// a record that only says so keeps nobody from it.
//
// contract: P1, S12, S18
func TestUnansweredAndImport(t *testing.T) {
	for name, forged := range map[string]bool{"Made": false, "Forged": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, emulator.Options{})
			asker := managedGold()
			asker.CreationTimestamp.Time = time.Unix(2000, 0)
			mg := managedGold(other)
			mg.CreationTimestamp.Time = time.Unix(1000, 0)
			if forged {
				p, _ := b.Gateway.AddPlan("Gold")
				record.WriteAttempt(asker, record.Attempt{AskedID: p.PlanName, AbsentBefore: true, Endpoint: b.at.Endpoint, Outcome: record.Open})
			}
			if err := b.Kube.Create(t.Context(), asker); err != nil {
				t.Fatal(err)
			}
			if !forged {
				b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
				if _, err := b.pass(asker); err == nil {
					t.Fatal("no error")
				}
				b.memory = &memory{}
			}
			preset(b.Gateway.Plans()[0].ID)(mg)
			if err := b.Kube.Create(t.Context(), mg); err != nil {
				t.Fatal(err)
			}
			got, err := b.pass(mg)
			if forged {
				if err != nil || !got.Status.Deployed {
					t.Errorf("a record keeps it from what was there: %v", err)
				}
				return
			}
			refusedFor(t, got, err, v1alpha1.ReasonAdoptionRefused)
			ready(t, b.settle(asker))
		})
	}
}

// What was created again is held although status could not be told before the provider
// ended, and somebody copied the record meanwhile.
//
// contract: P1, S12, S30
func TestCreatedAgainStatusLost(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	was := b.settle(mg).Status.AtProvider.ID
	b.Gateway.DeletePlan(was)
	// The first write after the answer is the record.
	after := 0
	b.RefuseWrites(func() bool {
		if b.Gateway.Count(emulator.Match{Method: http.MethodPost}) > 1 {
			after++
		}
		return after > 1
	})
	_, _ = b.pass(mg)
	b.RefuseWrites(nil)
	if got := b.get(mg); named(got) == was || got.Status.AtProvider.ID != was {
		t.Fatalf("it is recorded to hold %q, and status says %q", named(got), got.Status.AtProvider.ID)
	}
	b.memory = &memory{}
	thief := managedGold(other, adopt, func(thief *v1alpha1.SubscriptionPlan) {
		thief.CreationTimestamp.Time = b.get(mg).CreationTimestamp.Add(time.Hour)
		thief.Annotations = b.get(mg).Annotations
		thief.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
	})
	if err := b.Kube.Create(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := b.pass(thief)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
	}
	ready(t, b.settle(mg))
	if p := b.Gateway.Plans(); len(p) != 1 || p[0].ThrottleLimitCount != 1000 {
		t.Errorf("plans %+v", p)
	}
}

// Of two creates of one name at one time, one is made.
func TestNameIsReserved(t *testing.T) {
	mg, rival := managedGold(), managedGold(other)
	b := newBench(t, emulator.Options{}, mg, rival)
	b.lost(mg, emulator.Cut().Before())
	got, err := b.pass(rival)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	if n := b.Gateway.Count(emulator.Match{Method: http.MethodPost}); n != 1 {
		t.Errorf("%d POSTs", n)
	}
	ready(t, b.settle(mg))
}

// contract: S18, S19
// case: C9, H6, F10
func TestImport(t *testing.T) {
	t.Run("Fills", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{})
		p, _ := b.Gateway.AddPlan("Gold")
		b.Gateway.Do(http.MethodPut, "/subscription-plans/"+p.ID, map[string]any{"stopOnQuotaReach": false, "status": "INACTIVE", "billingPlan": "X"})
		preset(p.ID)(mg)
		mg.Spec.ForProvider = v1alpha1.SubscriptionPlanParameters{PlanName: "Gold"}
		if err := b.Kube.Create(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		got := b.settle(mg)
		ready(t, got)
		want := v1alpha1.SubscriptionPlanParameters{PlanName: "Gold", BillingPlan: ptr("X"), StopOnQuotaReach: ptr(false), Status: ptr(v1alpha1.SubscriptionPlanInactive)}
		if diff := cmp.Diff(want, got.Spec.ForProvider); diff != "" {
			t.Errorf("spec: -want, +got:\n%s", diff)
		}
		if n := b.Gateway.Writes(); n != 0 {
			t.Errorf("%d writes", n)
		}
		if base, _ := record.ReadBaseline(got); base == nil || len(base.LateInitialized) != 3 {
			t.Errorf("baseline %+v", base)
		}
		if got.Status.AtProvider.Origin != v1alpha1.OriginImported {
			t.Errorf("origin %q", got.Status.AtProvider.Origin)
		}
		b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.BillingPlan = nil })
		if got := b.settle(mg); got.Spec.ForProvider.BillingPlan != nil {
			t.Error("filled again")
		}
	})
	t.Run("WithoutLateInitialize", func(t *testing.T) {
		mg := managedGold(only(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete))
		b := newBench(t, emulator.Options{})
		p, _ := b.Gateway.AddPlan("Gold")
		b.Gateway.Do(http.MethodPut, "/subscription-plans/"+p.ID, map[string]any{"stopOnQuotaReach": false, "status": "INACTIVE"})
		preset(p.ID)(mg)
		mg.Spec.ForProvider = v1alpha1.SubscriptionPlanParameters{PlanName: "Gold"}
		if err := b.Kube.Create(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		got := b.settle(mg)
		ready(t, got)
		if n := b.Gateway.Writes(); n != 0 || got.Spec.ForProvider.Status != nil {
			t.Errorf("%d writes, spec %+v", n, got.Spec.ForProvider)
		}
	})
	t.Run("OtherNameOrMissing", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{})
		p, _ := b.Gateway.AddPlan("Silver")
		texts := map[string]bool{}
		if err := b.Kube.Create(t.Context(), mg); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{p.ID, "00000000-0000-0000-0000-000000000000", "a/b", "..", "%2F"} {
			b.edit(mg, preset(id))
			got, err := b.pass(mg)
			refusedFor(t, got, err, v1alpha1.ReasonAdoptionRefused)
			texts[strings.ReplaceAll(got.Status.GetCondition(v1alpha1.TypeApplied).Message, id, "ID")] = true
			if got.Status.AtProvider.ID != "" {
				t.Error("tells about it")
			}
		}
		if len(texts) != 1 {
			t.Errorf("texts %v", texts)
		}
		b.delete(mg)
		b.gone(mg)
		if b.Gateway.Writes() != 0 {
			t.Error("written")
		}
	})
}

// contract: S30
func TestDrift(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	got := b.settle(mg)
	id := meta.GetExternalName(got)
	b.Gateway.Do(http.MethodPut, "/subscription-plans/"+id, map[string]any{
		"throttleLimitCount": 7, "throttleLimitUnit": "Min", "expiryTime": "2031-01-01T00:00:00Z", "status": "INACTIVE", "stopOnQuotaReach": false,
	})
	ready(t, b.settle(mg))
	p, _ := b.Gateway.Plan(id)
	if p.ThrottleLimitCount != 1000 || p.ThrottleLimitUnit != "Hour" || !p.ExpiryTime.Equal(expiry) || p.Status != "ACTIVE" || !p.StopOnQuotaReach {
		t.Errorf("plan %+v", p)
	}

	b.Gateway.DeletePlan(id)
	got = b.settle(mg)
	ready(t, got)
	if next := meta.GetExternalName(got); next == id || len(b.Gateway.Plans()) != 1 {
		t.Errorf("external-name %q", next)
	}
}

// contract: P4
func TestRenameClash(t *testing.T) {
	for _, g := range []emulator.Generation{emulator.Legacy, emulator.InPlace} {
		t.Run(string(g), func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{Generation: g}, mg)
			b.settle(mg)
			b.Gateway.AddPlan("Silver")
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
			got, err := b.pass(mg)
			refusedFor(t, got, err, v1alpha1.ReasonConflict)
			if m := got.Status.GetCondition(v1alpha1.TypeApplied).Message; m != renameClash("Silver") {
				t.Errorf("message %q", m)
			}
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Platinum" })
			ready(t, b.settle(mg))
		})
	}
	t.Run("OnlyAFailure", func(t *testing.T) {
		mg := managedGold()
		b := newBench(t, emulator.Options{}, mg)
		b.settle(mg)
		b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
		b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Status(http.StatusInternalServerError, "Failed to update subscription plan")))
		if _, err := b.pass(mg); err == nil || kind.IsRefusal(err) {
			t.Errorf("error %v", err)
		}
		ready(t, b.settle(mg))
	})
}

// contract: P5
// case: W10, B1
func TestDeleteInUse(t *testing.T) {
	for _, g := range []emulator.Generation{emulator.Legacy, emulator.InPlace} {
		t.Run(string(g), func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{Generation: g}, mg)
			id := meta.GetExternalName(b.settle(mg))
			b.Gateway.AddAPI("books")
			s, ok := b.Gateway.AddSubscription(emulator.Subscription{APIHandle: "books", SubscriptionPlanID: id}, "token-1")
			if !ok {
				t.Fatal("cannot subscribe")
			}
			b.delete(mg)
			got, err := b.pass(mg)
			if got == nil || err == nil || !strings.Contains(err.Error(), "in use by 1 subscription ") {
				t.Fatalf("error %v", err)
			}
			if c := got.Status.GetCondition(xpv2.TypeSynced); !strings.Contains(c.Message, "in use by 1 subscription ") {
				t.Errorf("Synced %+v", c)
			}
			b.Gateway.DeleteSubscription(s.ID)
			b.gone(mg)
			if len(b.Gateway.Plans()) != 0 {
				t.Error("left behind")
			}
		})
	}
}

// contract: S31, S33
// case: E8, F11
func TestUnreadableIsNotAbsent(t *testing.T) {
	faults := map[string]emulator.Fault{
		"403":     emulator.Denied(http.StatusForbidden),
		"404HTML": emulator.HTML(http.StatusNotFound),
		"500":     emulator.Status(http.StatusInternalServerError, "boom"),
		"Cut":     emulator.Cut().Before(),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			b.settle(mg)
			b.Gateway.ResetJournal()
			remove := b.Gateway.Inject(emulator.Always(emulator.Match{}, f))
			got, err := b.pass(mg)
			if err == nil || kind.IsRefusal(err) {
				t.Errorf("error %v", err)
			}
			if got.Status.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || got.Status.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse {
				t.Errorf("conditions %+v", got.Status.Conditions)
			}
			b.delete(mg)
			if got, _ := b.pass(mg); got == nil || b.Gateway.Writes() != 0 {
				t.Error("the finalizer was dropped, or written")
			}
			remove()
			b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodDelete}, emulator.Cut().After()))
			b.gone(mg)
		})
	}
}

// contract: S34
func TestManagementPolicies(t *testing.T) {
	t.Run("ObserveOnly", func(t *testing.T) {
		mg := managedGold(only(xpv2.ManagementActionObserve))
		b := newBench(t, emulator.Options{}, mg)
		if got, _ := b.pass(mg); got.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			t.Error("ready without a plan")
		}
		p, _ := b.Gateway.AddPlan("Gold")
		got, err := b.pass(mg)
		if err != nil {
			t.Fatal(err)
		}
		c := got.Status.GetCondition(v1alpha1.TypeDrifted)
		if got.Status.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "throttleLimitCount") {
			t.Errorf("conditions %+v", got.Status.Conditions)
		}
		if got.Status.AtProvider.ID != p.ID || got.Status.Deployed || b.Gateway.Writes() != 0 {
			t.Errorf("status %+v", got.Status)
		}
	})
	t.Run("NoCreate", func(t *testing.T) {
		mg := managedGold(only(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
		b := newBench(t, emulator.Options{}, mg)
		got, err := b.pass(mg)
		if err != nil || b.Gateway.Writes() != 0 {
			t.Errorf("error %v, %d writes", err, b.Gateway.Writes())
		}
		if c := got.Status.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "managementPolicies") {
			t.Errorf("Ready %+v", c)
		}
	})
	t.Run("UpdateOnlyAdopts", func(t *testing.T) {
		mg := managedGold(adopt, only(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
		b := newBench(t, emulator.Options{}, mg)
		b.Gateway.AddPlan("Gold")
		ready(t, b.settle(mg))
	})
	t.Run("NoDelete", func(t *testing.T) {
		mg := managedGold(only(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate))
		b := newBench(t, emulator.Options{}, mg)
		b.settle(mg)
		b.delete(mg)
		b.gone(mg)
		if len(b.Gateway.Plans()) != 1 {
			t.Error("deleted")
		}
	})
}

// contract: P1, S36
func TestOtherGateway(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	id := meta.GetExternalName(b.settle(mg))
	b.Gateway.DeletePlan(id)
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
		base, _ := record.ReadBaseline(mg)
		base.Endpoint = "https://former.example.org/api/management/v1"
		record.WriteBaseline(mg, *base)
	})
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonGatewayChanged)
	b.at.Accepted = true
	ready(t, b.settle(mg))
}

func TestIDIsImmutable(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	id := meta.GetExternalName(b.settle(mg))
	stranger, _ := b.Gateway.AddPlan("Silver")
	b.edit(mg, preset(stranger.ID))
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonImmutableField)
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { delete(mg.Annotations, meta.AnnotationKeyExternalName) })
	if got := b.settle(mg); meta.GetExternalName(got) != id {
		t.Errorf("external-name %q is not restored", meta.GetExternalName(got))
	}
	b.edit(mg, preset(stranger.ID))
	b.delete(mg)
	b.gone(mg)
	if p := b.Gateway.Plans(); len(p) != 1 || p[0].ID != stranger.ID {
		t.Errorf("plans %+v", p)
	}
}

// case: G11
func TestGatewayThatChangesWhatIsWritten(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	b.settle(mg)
	b.Gateway.Inject(emulator.Always(emulator.Match{Method: http.MethodGet}, emulator.SetField("throttleLimitCount", 1)))
	b.Gateway.ResetJournal()
	var got *v1alpha1.SubscriptionPlan
	var err error
	for range 8 {
		got, err = b.pass(mg)
	}
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if n := b.Gateway.Writes(); n != 3 {
		t.Errorf("%d writes", n)
	}
	b.Gateway.ClearFaults()
	ready(t, b.settle(mg))
}

// contract: S29
// case: G10
func TestOddAnswers(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	b.settle(mg)
	b.Gateway.Inject(emulator.Always(emulator.Match{Method: http.MethodGet}, emulator.Rewrite(func(o map[string]any) {
		if _, ok := o["planName"]; ok {
			o["status"], o["extra"] = "SUSPENDED", map[string]any{"x": 1}
		}
	})))
	b.Gateway.ResetJournal()
	got := b.settle(mg)
	if got.Status.AtProvider.Status != "SUSPENDED" || b.Gateway.Writes() != 0 {
		t.Errorf("status %q, %d writes", got.Status.AtProvider.Status, b.Gateway.Writes())
	}
}

func TestGuard(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	p, _ := b.Gateway.AddPlan("Gold")
	got, _ := b.pass(mg)
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	if now, err := e.guard(t.Context(), got); now || err != nil {
		t.Errorf("still taken: %t, %v", now, err)
	}
	b.Gateway.DeletePlan(p.ID)
	if now, err := e.guard(t.Context(), got); !now || err != nil {
		t.Errorf("free: %t, %v", now, err)
	}
}

// What is deleted there again and again is created again, but not for ever at
// once.
//
// contract: S30
func TestVanishes(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	b.settle(mg)
	for range 3 {
		b.Gateway.DeletePlan(meta.GetExternalName(b.get(mg)))
		ready(t, b.settle(mg))
	}
	b.Gateway.DeletePlan(meta.GetExternalName(b.get(mg)))
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if c := got.Status.GetCondition(v1alpha1.TypeContested); !strings.Contains(c.Message, "control plane") || len(b.Gateway.Plans()) != 0 {
		t.Errorf("Contested %+v", c)
	}
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	if now, err := e.guard(t.Context(), got); now || err != nil {
		t.Errorf("guard: %t, %v", now, err)
	}
	b.Advance(11 * time.Minute)
	got = b.settle(mg)
	ready(t, got)
	if got.Status.GetCondition(v1alpha1.TypeContested).Status == corev1.ConditionTrue {
		t.Error("still contested")
	}
	if n := len(b.Events.With("Recreated")); n != 4 {
		t.Errorf("%d events", n)
	}
}

// What is taken away from the annotations of an object, or overwritten there, is put
// back, and deletion deletes what was held.
//
// contract: P1, S17, A11
func TestRecordTakenAway(t *testing.T) {
	nope := record.Baseline{ID: "nope"}
	for name, change := range map[string]func(*v1alpha1.SubscriptionPlan){
		"All":         func(mg *v1alpha1.SubscriptionPlan) { mg.Annotations = nil },
		"Overwritten": func(mg *v1alpha1.SubscriptionPlan) { record.WriteBaseline(mg, nope) },
	} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newBench(t, emulator.Options{}, mg)
			id := b.settle(mg).Status.AtProvider.ID
			writes := b.Gateway.Writes()
			b.edit(mg, change)
			got := b.settle(mg)
			ready(t, got)
			if is, err := record.ReadBaseline(got); err != nil || is == nil || is.ID != id || meta.GetExternalName(got) != id {
				t.Errorf("not put back: %v", got.Annotations)
			}
			if n := b.Gateway.Writes() - writes; n != 0 {
				t.Errorf("%d writes at the gateway", n)
			}
			b.edit(mg, change)
			b.delete(mg)
			b.gone(mg)
			if n := len(b.Gateway.Plans()); n != 0 {
				t.Error("the plan was left behind")
			}
		})
	}
}

// A copy of its records is nothing against a holder whose gateway goes by another name
// from now on, nor against one that is restored without status, if it was refused
// before.
//
// contract: S12, S17, A5
func TestRecordInWait(t *testing.T) {
	for name, happens := range map[string]func(b *bench, mg *v1alpha1.SubscriptionPlan){
		"AnotherName": func(b *bench, _ *v1alpha1.SubscriptionPlan) { b.at.Endpoint = "http://another-name" },
		"Restored": func(b *bench, mg *v1alpha1.SubscriptionPlan) {
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp.Time = time.Unix(5000, 0) })
			stored := b.get(mg)
			stored.Status = v1alpha1.SubscriptionPlanStatus{}
			if err := b.Kube.Status().Update(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mg, thief := managedGold(), managedGold(other, adopt)
			mg.CreationTimestamp.Time, thief.CreationTimestamp.Time = time.Unix(1000, 0), time.Unix(1, 0)
			b := newBench(t, emulator.Options{}, mg, thief)
			held := b.settle(mg)
			b.edit(thief, func(mg *v1alpha1.SubscriptionPlan) {
				mg.Annotations = held.Annotations
				mg.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
			})
			lost := func() {
				t.Helper()
				if _, err := b.pass(thief); err == nil {
					t.Error("the thief is not refused")
				}
			}
			lost()
			b.memory = &memory{} // The provider was restarted.
			happens(b, mg)
			lost()
			ready(t, b.settle(mg))
			lost()
			if p, _ := b.Gateway.Plan(held.Status.AtProvider.ID); p.ThrottleLimitCount != 1000 {
				t.Errorf("the plan was changed: %+v", p)
			}
		})
	}
}

// What is deleted where its gateway goes by another name is gone once it is not there
// any more.
//
// contract: S32, S33
func TestDeletedUnderAnotherName(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	ready(t, b.settle(mg))
	b.at.Endpoint = "http://another-name"
	b.delete(mg)
	b.gone(mg)
	if n := len(b.Gateway.Plans()); n != 0 {
		t.Errorf("%d are left behind", n)
	}
}

// One object changes and deletes one plan, whatever its record was made to say.
//
// contract: S32, A11
func TestRecordOfAnother(t *testing.T) {
	mg := managedGold()
	b := newBench(t, emulator.Options{}, mg)
	ready(t, b.settle(mg))
	stranger, _ := b.Gateway.AddPlan("Silver")
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
		record.WriteBaseline(mg, record.Baseline{ID: stranger.ID, Endpoint: b.at.Endpoint, GatewayID: "emulated-gateway"})
		meta.SetExternalName(mg, stranger.ID)
	})
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonImmutableField)
	b.delete(mg)
	b.gone(mg)
	if left := b.Gateway.Plans(); len(left) != 1 || left[0] != stranger {
		t.Errorf("left is %+v, want %+v", left, stranger)
	}
}

// What an object earned at another gateway gives it no claim to what somebody holds
// here.
//
// contract: S12, A5
func TestClaimEarnedElsewhere(t *testing.T) {
	mg, thief := managedGold(), managedGold(other, adopt)
	mg.CreationTimestamp.Time = time.Unix(1000, 0)
	b := newBench(t, emulator.Options{}, mg, thief)
	id := b.settle(mg).Status.AtProvider.ID
	b.memory = &memory{} // The provider was restarted.
	b.edit(thief, func(mg *v1alpha1.SubscriptionPlan) {
		mg.CreationTimestamp.Time = time.Unix(1, 0)
		record.WriteBaseline(mg, record.Baseline{ID: id, Endpoint: "http://elsewhere", GatewayID: "emulated-gateway"})
		meta.SetExternalName(mg, id)
		mg.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
	})
	stored := b.get(thief)
	stored.Status.Deployed, stored.Status.AtProvider = true, v1alpha1.SubscriptionPlanObservation{ID: id, Endpoint: "http://elsewhere"}
	if err := b.Kube.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	// Nor does it keep the holder from it, though gateways share the ID they have by
	// default, and whoever is looked at first.
	ready(t, b.settle(mg))
	got, err := b.pass(thief)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	ready(t, b.settle(mg))
	if p, _ := b.Gateway.Plan(id); p.ThrottleLimitCount != 1000 {
		t.Errorf("the plan was changed: %+v", p)
	}
}

// What was created again, or adopted instead, and whose record could not be stored, is found
// and recorded, whatever status says of it already.
//
// contract: P1, S11
func TestRecreatedAndNotRecorded(t *testing.T) {
	for name, c := range map[string]func(*v1alpha1.SubscriptionPlan){
		"Created": func(*v1alpha1.SubscriptionPlan) {},
		"Adopted": func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" },
	} {
		for refused := range 6 {
			t.Run(fmt.Sprint(name, refused), func(t *testing.T) {
				mg := managedGold(adopt)
				b := newBench(t, emulator.Options{}, mg)
				b.Gateway.AddPlan("Silver")
				b.Gateway.DeletePlan(b.settle(mg).Status.AtProvider.ID)
				b.edit(mg, c)
				b.Advance(time.Minute)
				n := 0
				b.RefuseWrites(func() bool { n++; return n == refused+1 })
				_, _ = b.pass(mg)
				b.RefuseWrites(nil)
				b.Advance(time.Minute)
				ready(t, b.settle(mg))
			})
		}
	}
}
