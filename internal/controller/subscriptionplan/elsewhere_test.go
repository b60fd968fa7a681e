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
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// newClockedBench is a bench whose gateway tells the same time.
func newClockedBench(t passtest.Tester, mgs ...*v1alpha1.SubscriptionPlan) *bench {
	t.Helper()
	clock := &passtest.Clock{}
	b := newBench(t, emulator.Options{Now: clock.Now})
	clock.Follow(b.Bench)
	for _, mg := range mgs {
		b.add(mg)
	}
	return b
}

func (b *bench) add(mg *v1alpha1.SubscriptionPlan) {
	b.t.Helper()
	if err := b.Kube.Create(b.t.Context(), mg); err != nil {
		b.t.Fatal(err)
	}
}

// report something in status, as only the provider should be able to.
func (b *bench) report(mg *v1alpha1.SubscriptionPlan, s v1alpha1.SubscriptionPlanStatus) {
	b.t.Helper()
	stored := b.get(mg)
	stored.Status = s
	if err := b.Kube.Status().Update(b.t.Context(), stored); err != nil {
		b.t.Fatal(err)
	}
}

// lost has the answer to a create get lost. It may have created something.
func (b *bench) lost(mg *v1alpha1.SubscriptionPlan, f emulator.Fault) {
	b.t.Helper()
	b.FailCreate(b.t, f, func() error {
		_, err := b.pass(mg)
		return err
	})
}

// leavesToStranger checks that an object leaves alone what a stranger made, by another name
// of the gateway, and goes without it.
func (b *bench) leavesToStranger(t *testing.T, mg *v1alpha1.SubscriptionPlan, stranger emulator.Plan) {
	t.Helper()
	b.at.Endpoint = anotherName
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	b.delete(mg)
	b.gone(mg)
	if left := b.Gateway.Plans(); len(left) != 1 || left[0] != stranger {
		t.Errorf("left is %+v", left)
	}
}

// by another name of the gateway.
func (b *bench) by(name string, do func()) {
	was := b.at.Endpoint
	b.at.Endpoint = name
	do()
	b.at.Endpoint = was
}

const anotherName = "http://another-name"

// intruding is another object, older, which wants the plan otherwise.
func intruding(mg *v1alpha1.SubscriptionPlan) {
	other(mg)
	mg.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	mg.Spec.ForProvider.ThrottleLimitCount = ptr(int64(1))
}

// names has a managed resource name a plan in its record.
func (b *bench) names(id, endpoint string) func(*v1alpha1.SubscriptionPlan) {
	return func(mg *v1alpha1.SubscriptionPlan) {
		record.WriteBaseline(mg, record.Baseline{ID: id, Endpoint: endpoint, GatewayID: b.Gateway.GatewayID()})
		meta.SetExternalName(mg, id)
	}
}

// untaken fails the test unless there is one plan Gold, as it was asked for first.
func (b *bench) untaken() {
	b.t.Helper()
	n := 0
	for _, p := range b.Gateway.Plans() {
		if p.PlanName != "Gold" {
			continue
		}
		if n++; p.ThrottleLimitCount != 1000 {
			b.t.Errorf("it was changed: %+v", p)
		}
	}
	if n != 1 {
		b.t.Errorf("%d plans", n)
	}
}

// What status vouches for is one create: a record that names another plan is no more for
// it, not even where that is what a create made whose answer was lost.
//
// contract: S11, S12, P1, A5
func TestVouchedForSomethingElse(t *testing.T) {
	mg, thief := managedGold(), managedGold(intruding, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Mine" })
	b := newClockedBench(t, mg, thief)
	if got, err := b.pass(thief); err != nil || got.Status.CreateAttempt == nil {
		t.Fatalf("status vouches for nothing: %v", err)
	}
	b.lost(mg, emulator.Cut().After())
	p, _ := b.Gateway.Plan("Gold")
	b.edit(thief, func(mg *v1alpha1.SubscriptionPlan) {
		b.names(p.ID, b.at.Endpoint)(mg)
		mg.Spec.ForProvider.PlanName = "Gold"
	})
	for range 3 {
		got, err := b.pass(thief)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
		_, _ = b.pass(mg)
	}
	b.delete(thief)
	b.gone(thief)
	ready(t, b.settle(mg))
	b.untaken()
}

// Of two records of one plan that one counts whose status vouches for a create that can
// have made it: by the name that was asked for, at that endpoint, and within ten minutes.
//
// contract: S12, P1, A5
func TestVouchedFor(t *testing.T) {
	type cheque = v1alpha1.CreateAttempt
	cases := map[string]struct {
		reason string
		change func(v *cheque)
		at     time.Duration
		wins   bool
	}{
		"Name":            {reason: "It was asked for.", change: func(*cheque) {}, wins: true},
		"Within":          {reason: "Clocks need not be the same.", change: func(*cheque) {}, at: -9 * time.Minute, wins: true},
		"Before":          {reason: "The create was over by then.", change: func(*cheque) {}, at: -11 * time.Minute},
		"After":           {reason: "It was there before the create.", change: func(*cheque) {}, at: 11 * time.Minute},
		"AnotherName":     {reason: "Another one was asked for.", change: func(v *cheque) { v.ID = "Mine" }},
		"AnotherEndpoint": {reason: "It was asked for elsewhere.", change: func(v *cheque) { v.Endpoint = "http://elsewhere" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			older, younger := managedGold(intruding), managedGold()
			younger.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0))
			b := newClockedBench(t)
			p, _ := b.Gateway.AddPlan("Gold")
			b.names(p.ID, b.at.Endpoint)(older)
			b.names(p.ID, b.at.Endpoint)(younger)
			b.add(older)
			b.add(younger)
			v := &cheque{Endpoint: b.at.Endpoint, Digest: "x", ID: "Gold", Time: ptr(metav1.NewTime(p.CreatedAt.Add(tc.at)))}
			tc.change(v)
			b.report(younger, v1alpha1.SubscriptionPlanStatus{CreateAttempt: v})
			loser := younger
			if tc.wins {
				loser = older
			}
			for range 2 {
				got, err := b.pass(loser)
				refusedFor(t, got, err, v1alpha1.ReasonConflict)
				_, _ = b.pass(younger)
			}
			if has := b.get(younger).Status.Deployed; has != tc.wins {
				t.Errorf("%s It is held: %t", tc.reason, has)
			}
		})
	}
}

// Where a create is not answered and the endpoint is written in another way meanwhile,
// also there and back, what it made is found again, and not made twice.
//
// contract: P1, S11, S36
func TestRespelledWhileOpen(t *testing.T) {
	for name, back := range map[string]bool{"Stays": false, "Back": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			b.lost(mg, emulator.Cut().After())
			was := b.at.Endpoint
			b.at.Endpoint = anotherName
			b.Advance(time.Minute)
			_, _ = b.pass(mg)
			if back {
				b.at.Endpoint = was
			}
			ready(t, b.settle(mg))
			b.untaken()
		})
	}
}

// A plan that was made long after a create which was not answered is not taken for its
// result by another name of the gateway.
//
// contract: P1, S11, A11
func TestRespelledLongAfter(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().Before())
	b.Advance(time.Hour)
	stranger, _ := b.Gateway.AddPlan("Gold")
	b.leavesToStranger(t, mg, stranger)
}

// What was created just now and is not reported yet, or whose answer was lost, is had by
// nobody who comes by another name of the gateway: neither with a record, nor to adopt or
// import it.
//
// contract: P1, S12, A5
func TestNotTakenByAnotherName(t *testing.T) {
	for name, answered := range map[string]bool{"JustCreated": true, "Lost": false} {
		for rname, restarted := range map[string]bool{"Running": false, "Restarted": true} {
			t.Run(name+"/"+rname, func(t *testing.T) {
				mg := managedGold(func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) })
				b := newClockedBench(t, mg)
				if !answered {
					b.lost(mg, emulator.Cut().After())
				} else if _, err := b.pass(mg); err != nil {
					t.Fatal(err)
				}
				if restarted {
					b.memory = &memory{}
				}
				p, _ := b.Gateway.Plan("Gold")
				for way, change := range map[string]func(*v1alpha1.SubscriptionPlan){"record": b.names(p.ID, anotherName), "adopter": adopt, "importer": preset(p.ID)} {
					thief := managedGold(intruding, change, func(mg *v1alpha1.SubscriptionPlan) { mg.Name, mg.UID = way, mg.UID+"-x" })
					b.add(thief)
					b.by(anotherName, func() {
						for range 2 {
							if got, err := b.pass(thief); err == nil || got.Status.Deployed {
								t.Errorf("the %s has it: %v", way, err)
							}
						}
					})
					b.delete(thief)
					b.by(anotherName, func() { b.gone(thief) })
				}
				ready(t, b.settle(mg))
				b.untaken()
			})
		}
	}
}

// A create at a gateway of one's own, which calls itself like the real one and does not
// answer, keeps nobody from a plan of that name, whatever becomes of its object.
//
// contract: P1, S11, S12, A5
func TestClaimedElsewhere(t *testing.T) {
	mg, thief := managedGold(), managedGold(intruding)
	b := newClockedBench(t, mg, thief)
	b.at.GatewayID = b.Gateway.GatewayID()
	b.by("http://elsewhere", func() { b.lost(thief, emulator.Cut().Before()) })
	ready(t, b.settle(mg))
	b.untaken()
}

// What somebody holds at another gateway, which calls itself like this one, keeps nobody
// with more than a record from what it holds, nor from deleting it.
//
// contract: P1, S12, S32, A5
func TestEarnedElsewhereBlocksNothing(t *testing.T) {
	cases := map[string]struct {
		happens func(b *bench, mg *v1alpha1.SubscriptionPlan)
		deleted bool
	}{
		"Held":        {happens: func(b *bench, mg *v1alpha1.SubscriptionPlan) { b.settle(mg) }},
		"JustCreated": {happens: func(b *bench, mg *v1alpha1.SubscriptionPlan) { _, _ = b.pass(mg) }},
		"Deleted":     {happens: func(b *bench, mg *v1alpha1.SubscriptionPlan) { b.settle(mg) }, deleted: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedGold(func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) })
			b := newClockedBench(t, mg)
			tc.happens(b, mg)
			p, _ := b.Gateway.Plan("Gold")
			thief := managedGold(intruding, b.names(p.ID, "http://elsewhere"))
			b.add(thief)
			b.report(thief, v1alpha1.SubscriptionPlanStatus{Deployed: true, AtProvider: v1alpha1.SubscriptionPlanObservation{
				ID: p.ID, Endpoint: "http://elsewhere", GatewayID: b.Gateway.GatewayID(), PlanName: "Gold", CreationStamp: conditions.Milliseconds(time.Unix(1, 0)),
			}})
			b.memory = &memory{}
			if tc.deleted {
				b.delete(mg)
				b.gone(mg)
				if n := len(b.Gateway.Plans()); n != 0 {
					t.Errorf("%d are left behind", n)
				}
				return
			}
			ready(t, b.settle(mg))
			b.untaken()
		})
	}
}

// A gateway that moves is recognised by what was seen there: whoever names the plan in a
// record is nothing to its holder, be the gateway's ID the old one or not.
//
// contract: P1, S12, S36, A5
func TestGatewayMoves(t *testing.T) {
	cases := map[string]struct{ id, endpoint string }{
		"SameID":    {endpoint: anotherName},
		"Elsewhere": {endpoint: "http://elsewhere"},
		"AnotherID": {id: "new", endpoint: "http://elsewhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedGold(func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) })
			b := newClockedBench(t, mg)
			held := b.settle(mg).Status.AtProvider.ID
			if tc.id != "" {
				b.Gateway.SetGatewayID(tc.id)
			}
			thief := managedGold(intruding, b.names(held, tc.endpoint))
			b.add(thief)
			b.memory = &memory{}
			b.at.Endpoint = anotherName
			ready(t, b.settle(mg))
			for range 2 {
				if got, err := b.pass(thief); err == nil || got.Status.Deployed {
					t.Errorf("the record has it: %v", err)
				}
			}
			ready(t, b.settle(mg))
			b.untaken()
		})
	}
}

// What an object's create made, and was not answered or not reported yet, is not taken by
// another one that asked for the same by another name of the gateway, and was not answered
// either: by none if it was answered, and else by no younger one.
//
// contract: P1, S11, S12, A5
func TestLostBesideAskedByAnotherName(t *testing.T) {
	first := func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(0, 0)) }
	cases := map[string]struct {
		lost  bool
		since func(*v1alpha1.SubscriptionPlan)
	}{
		"Lost":        {lost: true, since: first},
		"JustCreated": {since: first},
		"Younger":     {since: since},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg, thief := managedGold(tc.since), managedGold(intruding)
			b := newClockedBench(t, mg, thief)
			b.by(anotherName, func() { b.lost(thief, emulator.Cut().Before()) })
			if tc.lost {
				b.lost(mg, emulator.Cut().After())
			} else if _, err := b.pass(mg); err != nil {
				t.Fatal(err)
			}
			b.Advance(2 * time.Minute)
			b.by(anotherName, func() {
				for range 3 {
					_, _ = b.pass(thief)
				}
			})
			for range 3 {
				_, _ = b.pass(mg)
			}
			b.untaken()
			ready(t, b.get(mg))
		})
	}
}

// A record of a create that was sent elsewhere, for which status does not vouch, as a backup
// dropped it, is no reason to take what somebody has made here.
//
// contract: P1, S11, A11
func TestUnvouchedElsewhere(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().Before())
	b.report(mg, v1alpha1.SubscriptionPlanStatus{})
	byHand, _ := b.Gateway.AddPlan("Gold")
	b.leavesToStranger(t, mg, byHand)
}

// What may still be created is waited for before another name is asked for, also where the
// endpoint is written in another way by then.
//
// contract: P1, S11, S33
func TestRenamedAndRespelledWhileOpen(t *testing.T) {
	for name, endpoint := range map[string]string{"Stays": "", "Respelled": anotherName} {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			b.lost(mg, emulator.Cut().Before())
			b.edit(mg, func(mg *v1alpha1.SubscriptionPlan) { mg.Spec.ForProvider.PlanName = "Silver" })
			if endpoint != "" {
				b.at.Endpoint = endpoint
			}
			for range 2 {
				_, _ = b.pass(mg)
			}
			_, _ = b.Gateway.AddPlan("Gold") // The create takes effect late.
			for range 5 {
				_, _ = b.pass(mg)
				b.Advance(time.Minute)
			}
			b.delete(mg)
			b.gone(mg)
			if left := b.Gateway.Plans(); len(left) != 0 {
				t.Errorf("left behind: %+v", left)
			}
		})
	}
}

// What was asked for where the configuration no longer leads, and was not answered, is told of
// once, before it is forgotten: since the object is deleted, asks the other gateway for a plan,
// or has one there already. There it is asked for once the first create must be over.
//
// contract: S11, S33, P1
func TestMovedWhileOpen(t *testing.T) {
	cases := map[string]struct {
		there  bool
		change func(p emulator.Plan) func(*v1alpha1.SubscriptionPlan)
	}{
		"Deleted": {},
		"Created": {change: func(emulator.Plan) func(*v1alpha1.SubscriptionPlan) { return func(*v1alpha1.SubscriptionPlan) {} }},
		"Adopted": {there: true, change: func(emulator.Plan) func(*v1alpha1.SubscriptionPlan) { return adopt }},
		"Updated": {there: true, change: func(emulator.Plan) func(*v1alpha1.SubscriptionPlan) {
			return func(mg *v1alpha1.SubscriptionPlan) {
				adopt(mg)
				only(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)(mg)
			}
		}},
		"Imported": {there: true, change: func(p emulator.Plan) func(*v1alpha1.SubscriptionPlan) { return preset(p.ID) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedGold()
			b := newClockedBench(t, mg)
			b.lost(mg, emulator.Cut().After())
			elsewhere := newClockedBench(t)
			elsewhere.Kube, elsewhere.memory, elsewhere.Events = b.Kube, b.memory, b.Events
			elsewhere.at.Endpoint = "http://elsewhere"
			if _, err := elsewhere.pass(mg); err == nil || len(elsewhere.Gateway.Plans()) != 0 {
				t.Errorf("the first create is not waited for: %v", err)
			}
			elsewhere.Advance(time.Hour) // What is there came long after.
			p := emulator.Plan{}
			if tc.there {
				p, _ = elsewhere.Gateway.AddPlan("Gold")
			}
			if tc.change == nil {
				b.delete(mg)
				elsewhere.gone(mg)
			} else {
				b.edit(mg, tc.change(p))
				ready(t, elsewhere.settle(mg))
			}
			if n := len(b.Events.With("LeftBehind")); n != 1 {
				t.Errorf("it is told of %d times", n)
			}
		})
	}
}

// What is found by another name of the gateway is not left behind: it is deleted with its
// object, and nothing is told.
//
// contract: P1, S11, S33
func TestRespelledAndDeleted(t *testing.T) {
	mg := managedGold()
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().After())
	b.at.Endpoint = anotherName
	b.delete(mg)
	b.gone(mg)
	if left, told := b.Gateway.Plans(), b.Events.With("LeftBehind"); len(left) != 0 || len(told) != 0 {
		t.Errorf("left is %+v, and told %v", left, told)
	}
}
