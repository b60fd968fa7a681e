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
// result by an object, or a provider, that rested meanwhile.
//
// contract: P1, S11, A11
func TestMadeLongAfterAttempt(t *testing.T) {
	for name, deleted := range map[string]bool{"Held": false, "Deleted": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			b.lost(mg, emulator.Cut().Before())
			b.Advance(24 * time.Hour)
			stranger, _ := b.Gateway.AddPlan("Gold")
			b.Advance(24 * time.Hour)
			b.memory = &memory{}
			if deleted {
				b.delete(mg)
				b.gone(mg)
			} else {
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
