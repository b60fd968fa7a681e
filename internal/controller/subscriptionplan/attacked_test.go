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
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Who holds a plan keeps it when the provider ends after it recorded the new name of the
// gateway, and before status says so.
//
// contract: P1, S11, S12
func TestRespelledAndKilled(t *testing.T) {
	for name, deleted := range map[string]bool{"Stolen": false, "Deleted": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold(since)
			b := newClockedBench(t, mg)
			held := b.settle(mg).Status.AtProvider.ID
			thief := managedGold(intruding, b.names(held, anotherName))
			b.add(thief)
			b.at.Endpoint = anotherName
			n := 0
			b.RefuseWrites(func() bool { n++; return n > 1 })
			_, _ = b.pass(mg)
			b.RefuseWrites(func() bool { return false })
			got := b.get(mg)
			base, _ := record.ReadBaseline(got)
			if base.Endpoint == got.Status.AtProvider.Endpoint {
				t.Fatalf("%+v", base)
			}
			b.memory = &memory{}
			if deleted {
				b.delete(mg)
				b.gone(mg)
				if n := len(b.Gateway.Plans()); n != 0 {
					t.Errorf("%d are left behind", n)
				}
				return
			}
			_, _ = b.pass(mg)
			for range 2 {
				got, err := b.pass(thief)
				if err == nil || got.Status.Deployed {
					t.Error("the thief has it")
				}
			}
			_, _ = b.pass(mg)
			ready(t, b.get(mg))
			b.untaken()
		})
	}
}

// What was asked for elsewhere long ago is nothing against a holder that comes back without
// its status.
//
// contract: P1, S11, S12
func TestVouchedElsewhereLongAgo(t *testing.T) {
	for name, deleted := range map[string]bool{"Stolen": false, "Deleted": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			held := b.settle(mg).Status.AtProvider.ID
			b.Advance(5 * time.Minute)
			thief := managedGold(intruding, since) // Younger.
			thief.CreationTimestamp.Time = b.Now()
			b.add(thief)
			// At the thief's gateway there is nothing.
			elsewhere := newClockedBench(t)
			endpoint := b.at.Endpoint
			elsewhere.Kube, elsewhere.memory = b.Kube, b.memory
			elsewhere.at.Endpoint = "http://elsewhere"
			elsewhere.lost(thief, emulator.Cut().Before())
			if v := b.get(thief).Status.CreateAttempt; v == nil || v.Endpoint == endpoint {
				t.Fatalf("%+v", v)
			}
			b.Advance(100 * 24 * time.Hour)
			b.report(mg, v1alpha1.SubscriptionPlanStatus{})
			b.memory = &memory{}
			if deleted {
				b.delete(mg)
				b.gone(mg)
				if n := len(b.Gateway.Plans()); n != 0 {
					t.Errorf("%d are left behind", n)
				}
				return
			}
			for range 2 {
				_, _ = b.pass(mg)
			}
			b.edit(thief, func(mg *v1alpha1.SubscriptionPlan) {
				mg.Annotations = nil
				b.names(held, endpoint)(mg)
			})
			for range 2 {
				got, err := b.pass(thief)
				if err == nil || got.Status.Deployed {
					t.Error("the thief has it")
				}
			}
			_, _ = b.pass(mg)
			ready(t, b.get(mg))
			b.untaken()
		})
	}
}

// Status vouches for no create that is not sent since it cannot be stored as pending.
//
// contract: P1, S11
func TestNothingUnsentIsVouchedFor(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.RefuseWrites(func() bool { return true })
	for range 3 {
		_, _ = b.pass(mg)
		b.Advance(time.Minute)
	}
	b.RefuseWrites(nil)
	if v := b.get(mg).Status.CreateAttempt; v != nil || len(b.Gateway.Plans()) != 0 {
		t.Errorf("it is vouched for: %+v", v)
	}
	ready(t, b.settle(mg))
	b.untaken()
}

// Nor for one that is not sent since the object is edited in that moment, or the API server
// refuses to say so: what somebody makes by hand then is not taken for its result.
//
// contract: P1, S11, A11
func TestNothingIsSentUnvouched(t *testing.T) {
	for name, edited := range map[string]bool{"Edited": true, "Refused": false} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			kube, ok := b.Kube.(client.WithWatch)
			if !ok {
				t.Fatal("it cannot be intercepted")
			}
			b.Kube = interceptor.NewClient(kube, interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if !edited {
					return errors.New("refused")
				}
				b.Kube = kube
				b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Labels = map[string]string{"some": "label"} })
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			}})
			got, err := b.pass(mg)
			b.Kube = kube
			if err == nil || got.Status.CreateAttempt != nil || len(b.Gateway.Plans()) != 0 {
				t.Fatalf("%v, vouched for is %+v, and there are %+v", err, got.Status.CreateAttempt, b.Gateway.Plans())
			}
			byHand, _ := b.Gateway.AddPlan("Gold")
			got, err = b.pass(mg)
			refusedFor(t, got, err, v1alpha1.ReasonConflict)
			b.delete(mg)
			b.gone(mg)
			if left := b.Gateway.Plans(); len(left) != 1 || left[0] != byHand {
				t.Errorf("left is %+v", left)
			}
		})
	}
}

// What a stranger made a day after a create that was never carried out is not taken for its
// result by an object, or a provider, that rested meanwhile: if it may be adopted, it is.
//
// contract: P1, S11, A11
func TestMadeLongAfterAttempt(t *testing.T) {
	for name, deleted := range map[string]bool{"Held": false, "Deleted": true, "Adopted": false} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			if name == "Adopted" {
				adopt(mg)
			}
			b := newClockedBench(t, mg)
			b.lost(mg, emulator.Cut().Before())
			b.Advance(24 * time.Hour)
			stranger, _ := b.Gateway.AddPlan("Gold")
			b.Advance(24 * time.Hour)
			b.memory = &memory{}
			switch {
			case name == "Adopted":
				if from := b.settle(mg).Status.AtProvider.Origin; from != v1alpha1.OriginAdopted {
					t.Errorf("it is said to be %s", from)
				}
				return
			case deleted:
				b.delete(mg)
				b.gone(mg)
			default:
				for range 3 {
					_, _ = b.pass(mg)
				}
			}
			if left := b.Gateway.Plans(); len(left) != 1 || left[0] != stranger {
				t.Errorf("it is taken or deleted: %+v", left)
			}
		})
	}
}

// What a stranger made under a name, long after a create that was recorded in a backup, is not
// taken for the result of that create by an object that comes back from there.
//
// contract: P1, S11, A11
func TestStaleAttemptRestored(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().After())
	backup := b.get(mg)
	b.settle(mg)
	b.delete(mg)
	b.gone(mg)
	b.Advance(24 * time.Hour)
	stranger, _ := b.Gateway.AddPlan("Gold")
	b.Advance(24 * time.Hour)
	b.memory = &memory{}
	backup.ResourceVersion, backup.UID, backup.Finalizers, backup.Status = "", "uid-restored", nil, v1alpha1.SubscriptionPlanStatus{}
	backup.CreationTimestamp.Time = b.Now()
	b.add(backup)
	for range 3 {
		_, _ = b.pass(backup)
	}
	if left := b.Gateway.Plans(); len(left) != 1 || left[0] != stranger {
		t.Errorf("it is taken: %+v", left)
	}
	b.delete(backup)
	b.gone(backup)
	if len(b.Gateway.Plans()) != 1 {
		t.Error("the stranger's is deleted")
	}
}

// A plan that vanished and is about to be created again, when its object is deleted, is not
// left behind if the create takes effect late.
//
// contract: S33, P1, S11
func TestDeletedWhileCreatedAgain(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.Gateway.DeletePlan(b.settle(mg).Status.AtProvider.ID)
	b.Advance(time.Minute)
	b.lost(mg, emulator.Cut().Before())
	b.delete(mg)
	if got, err := b.pass(mg); got == nil || err == nil {
		t.Errorf("gone too early: %v", err)
	}
	_, _ = b.Gateway.AddPlan("Gold") // The create takes effect late.
	if b.get(mg) != nil {
		b.gone(mg)
	}
	if left := b.Gateway.Plans(); len(left) != 0 {
		t.Errorf("left behind: %+v", left)
	}
}

// Once what an unanswered create made is deleted, what others call by its name is theirs,
// also before it is known to be gone.
//
// contract: S33, A11
func TestNameTakenWhileDeleted(t *testing.T) {
	for name, again := range map[string]bool{"Created": false, "CreatedAgain": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			if again {
				b.Gateway.DeletePlan(b.settle(mg).Status.AtProvider.ID)
				b.Advance(time.Minute)
			}
			b.lost(mg, emulator.Cut().After())
			b.delete(mg)
			for range 3 {
				if len(b.Gateway.Plans()) == 0 {
					break
				}
				_, _ = b.pass(mg)
			}
			stranger, ok := b.Gateway.AddPlan("Gold")
			if !ok {
				t.Fatal("what the create made is not deleted")
			}
			if b.get(mg) != nil {
				b.gone(mg)
			}
			if left := b.Gateway.Plans(); len(left) != 1 || left[0] != stranger {
				t.Errorf("the stranger's is gone: %+v", left)
			}
		})
	}
}

// An older object that asked for the same plan name and does not look what came of it keeps
// nobody from that, nor from deleting it: not for a moment where it is paused or its create
// was over when the other one was sent, and for ten minutes else.
//
// contract: S11, S33, P1, A5
func TestWhoDoesNotLookBlocksNobody(t *testing.T) {
	cases := map[string]struct {
		paused bool
		later  time.Duration
		wait   int
	}{
		"Paused": {paused: true},
		"Over":   {later: 2 * time.Minute},
		"Silent": {wait: 10},
	}
	for name, tc := range cases {
		for dname, deleted := range map[string]bool{"Held": false, "Deleted": true} {
			t.Run(name+"/"+dname, func(t *testing.T) {
				older, mg := managedGold(intruding), managedGold(since)
				b := newClockedBench(t, older, mg)
				b.lost(older, emulator.Cut().Before())
				if tc.paused {
					b.edit(older, func(mg *v1alpha1.SubscriptionPlan) {
						meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
					})
				}
				b.Advance(tc.later)
				b.memory = &memory{} // So that nobody remembers who is about to create it.
				b.lost(mg, emulator.Cut().After())
				if deleted {
					b.delete(mg)
				}
				for range tc.wait {
					if got, err := b.pass(mg); got == nil || err == nil || got.Status.Deployed {
						t.Fatalf("the older one is not waited for: %v", err)
					}
					b.Advance(time.Minute)
				}
				b.Advance(time.Minute)
				if deleted {
					b.gone(mg)
					if left := b.Gateway.Plans(); len(left) != 0 {
						t.Errorf("left behind: %+v", left)
					}
					return
				}
				ready(t, b.settle(mg))
				b.untaken()
			})
		}
	}
}

// Who was kept from looking by the provider, which was down, has its ten minutes from when
// that is back.
//
// contract: S11, P1
func TestOlderLooksFirstAfterAStart(t *testing.T) {
	older, younger := managedGold(func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1, 0)) }), managedGold(intruding, since)
	b := newClockedBench(t, older, younger)
	b.by(anotherName, func() { b.lost(younger, emulator.Cut().Before()) })
	b.lost(older, emulator.Cut().After())
	b.by(anotherName, func() {
		b.Advance(time.Hour)
		b.memory = &memory{started: b.Now()}
		if got, err := b.pass(younger); err == nil || got.Status.Deployed {
			t.Errorf("the older one is not waited for: %v", err)
		}
	})
	ready(t, b.settle(older))
	b.untaken()
}

// A create that may still take effect is not forgotten since its object is renamed to a plan
// that is there and may be adopted, or names one to import.
//
// contract: P1, S11, S33
func TestAnotherTakenWhileOpen(t *testing.T) {
	for name, c := range map[string]struct {
		fault    emulator.Fault
		imported bool
	}{
		"AdoptedLate":  {fault: emulator.Cut().Before()},
		"AdoptedMade":  {fault: emulator.Cut().After()},
		"ImportedLate": {fault: emulator.Cut().Before(), imported: true},
		"ImportedMade": {fault: emulator.Cut().After(), imported: true},
	} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold(adopt)
			b := newClockedBench(t, mg)
			silver, _ := b.Gateway.AddPlan("Silver")
			b.Advance(time.Hour)
			b.lost(mg, c.fault)
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) {
				mg.Spec.ForProvider.PlanName = "Silver"
				if c.imported {
					meta.SetExternalName(mg, silver.ID)
				}
			})
			for range 3 {
				_, _ = b.pass(mg)
			}
			if _, there := b.Gateway.Plan("Gold"); !there {
				_, _ = b.Gateway.AddPlan("Gold") // The create takes effect late.
			}
			for range 10 {
				_, _ = b.pass(mg)
				b.Advance(time.Minute)
			}
			b.delete(mg)
			b.gone(mg)
			if _, left := b.Gateway.Plan("Gold"); left {
				t.Errorf("Gold is left behind: %+v", b.Gateway.Plans())
			}
		})
	}
}

// An object that is renamed and deleted waits for what it asked for first, whatever has its
// other name.
//
// contract: S33, P1
func TestRenamedAndDeletedWhileOpen(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().Before())
	silver, _ := b.Gateway.AddPlan("Silver")
	b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
	b.delete(mg)
	if got, err := b.pass(mg); got == nil || err == nil {
		t.Fatalf("gone too early: %v", err)
	}
	_, _ = b.Gateway.AddPlan("Gold") // The create takes effect late.
	b.gone(mg)
	if left := b.Gateway.Plans(); len(left) != 1 || left[0] != silver {
		t.Errorf("left is %+v", left)
	}
}

// What a create made that took the place of what had vanished is its object's, though a
// record names it that somebody wrote who has nothing else to show.
//
// contract: P1, S12
func TestRecordOfWhatIsCreatedAgain(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.Gateway.DeletePlan(b.settle(mg).Status.AtProvider.ID)
	b.Advance(time.Minute)
	b.lost(mg, emulator.Cut().After())
	b.add(managedGold(intruding, since, b.names(b.Gateway.Plans()[0].ID, b.at.Endpoint)))
	ready(t, b.settle(mg))
	b.untaken()
}
