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
	"cmp"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// since is when an object was created that is younger than one that is intruding.
func since(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) }

// A plan whose create was not answered is found again, and deleted with its object, also
// where an older object's record names it, here or at another endpoint.
//
// contract: P1, S11, S12, S33, A5
func TestRecordHidesNoLostCreate(t *testing.T) {
	for where, elsewhere := range map[string]string{"Here": "", "Elsewhere": "http://elsewhere"} {
		for name, deleted := range map[string]bool{"FoundAgain": false, "Deleted": true} {
			t.Run(where+"/"+name, func(t *testing.T) {
				mg := managedGold(since)
				b := newClockedBench(t, mg)
				b.lost(mg, emulator.Cut().After())
				p, _ := b.Gateway.Plan("Gold")
				thief := managedGold(intruding, b.names(p.ID, cmp.Or(elsewhere, b.at.Endpoint)))
				b.add(thief)
				if deleted {
					b.delete(mg)
					b.gone(mg)
					if n := len(b.Gateway.Plans()); n != 0 {
						t.Errorf("%d are left behind", n)
					}
					return
				}
				ready(t, b.settle(mg))
				if got, err := b.pass(thief); err == nil || got.Status.Deployed {
					t.Errorf("the record has it: %v", err)
				}
				ready(t, b.settle(mg))
				b.untaken()
			})
		}
	}
}

// A gateway that moves, and calls itself otherwise from then on, is left to who held what
// is there, whatever record lies in wait at the new address.
//
// contract: P1, S12, S36, A5
func TestGatewayMovesHolderFirst(t *testing.T) {
	mg := managedGold(since)
	b := newClockedBench(t, mg)
	held := b.settle(mg).Status.AtProvider.ID
	b.Gateway.SetGatewayID("new")
	thief := managedGold(intruding, b.names(held, anotherName))
	b.add(thief)
	b.memory = &memory{}
	b.at.Endpoint = anotherName
	_, _ = b.pass(mg)
	if got, err := b.pass(thief); err == nil || got.Status.Deployed {
		t.Errorf("the record has it: %v", err)
	}
	ready(t, b.settle(mg))
	b.untaken()
}

// What a younger object's create made, and was answered, an older one does not take for the
// result of its own that was never carried out.
//
// contract: P1, S11, A5
func TestAnsweredCreateIsNotTaken(t *testing.T) {
	at := func(s int64) func(*v1alpha1.SubscriptionPlan) {
		return func(mg *v1alpha1.SubscriptionPlan) { mg.CreationTimestamp = metav1.NewTime(time.Unix(s, 0)) }
	}
	mg := managedGold(at(1))
	b := newClockedBench(t, mg)
	b.lost(mg, emulator.Cut().Before())
	younger := managedGold(intruding, at(2))
	b.add(younger)
	b.memory = &memory{} // So that nobody remembers who is about to create it.
	if _, err := b.pass(younger); err != nil {
		t.Fatal(err)
	}
	b.memory = &memory{}
	if got, err := b.pass(mg); err == nil || got.Status.Deployed {
		t.Errorf("it is taken: %v", err)
	}
	ready(t, b.settle(younger))
}
