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

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// contract: P1, S34, S36, A5, A11
// case: W9
func TestDecide(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      situation
		want   verdict
	}{
		"Nothing":       {reason: "What is not there is created.", s: situation{name: "Gold", found: absent}, want: verdict{action: create}},
		"Stranger":      {reason: "A stranger's plan is left alone.", s: situation{name: "Gold", found: byName, sameName: true}, want: verdict{refuse, v1alpha1.ReasonConflict, nameTaken("Gold")}},
		"StrangerAdopt": {reason: "Unless adoption was asked for.", s: situation{name: "Gold", found: byName, sameName: true, adopt: true}, want: verdict{action: take}},
		"HeldAdopt": {
			reason: "What another object holds is not adopted.",
			s:      situation{name: "Gold", found: byName, sameName: true, adopt: true, heldByOther: true}, want: verdict{refuse, v1alpha1.ReasonConflict, nameTaken("Gold")},
		},
		"LostAnswer": {reason: "What our own attempt created is ours.", s: situation{name: "Gold", found: byAttempt, sameName: true}, want: verdict{action: manage}},
		"LostAnswerRenamed": {
			reason: "Also if the spec has another name by now.",
			s:      situation{name: "Silver", found: byAttempt}, want: verdict{action: manage},
		},
		"Import": {reason: "A plan that is named by its ID is imported.", s: situation{name: "Gold", externalName: "id", found: byID, sameName: true}, want: verdict{action: manage}},
		"ImportOtherName": {
			reason: "An ID that is a stranger's renames no plan.",
			s:      situation{name: "Gold", externalName: "id", found: byID}, want: verdict{refuse, v1alpha1.ReasonAdoptionRefused, noSuchPlan("id", "Gold")},
		},
		"ImportMissing": {
			reason: "Missing and mismatching look the same.",
			s:      situation{name: "Gold", externalName: "id", found: absent}, want: verdict{refuse, v1alpha1.ReasonAdoptionRefused, noSuchPlan("id", "Gold")},
		},
		"ImportHeld": {
			reason: "And so does what another object holds.",
			s:      situation{name: "Gold", externalName: "id", found: byID, sameName: true, heldByOther: true}, want: verdict{refuse, v1alpha1.ReasonAdoptionRefused, noSuchPlan("id", "Gold")},
		},
		"Held":         {reason: "What is held is managed, also under another name.", s: situation{name: "Gold", externalName: "id", recorded: "id", sameGateway: true, found: byID}, want: verdict{action: manage}},
		"DeletedThere": {reason: "What is gone is created again.", s: situation{name: "Gold", externalName: "id", recorded: "id", sameGateway: true, found: absent}, want: verdict{action: create}},
		"OtherGateway": {reason: "A configuration that leads elsewhere fills no other gateway.", s: situation{name: "Gold", externalName: "id", recorded: "id", found: absent}, want: verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged}},
		"OtherGatewayName": {
			reason: "Nor takes what has the name there.",
			s:      situation{name: "Gold", externalName: "id", recorded: "id", found: byName, sameName: true, adopt: true}, want: verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"OtherGatewayAccepted": {reason: "Unless that is confirmed.", s: situation{name: "Gold", externalName: "id", recorded: "id", accepted: true, found: absent}, want: verdict{action: create}},
		"IDChanged":            {reason: "The ID of what is held cannot be changed.", s: situation{name: "Gold", externalName: "other", recorded: "id", sameGateway: true, found: absent}, want: verdict{refuse, v1alpha1.ReasonImmutableField, idChanged("id", "other")}},
		"ObserveNothing":       {reason: "Observing creates nothing.", s: situation{name: "Gold", found: absent, observeOnly: true}, want: verdict{action: leave}},
		"ObserveByName":        {reason: "Observing needs no ownership.", s: situation{name: "Gold", found: byName, sameName: true, observeOnly: true}, want: verdict{action: look}},
		"ObserveHeld":          {reason: "What another holds is as good as not there.", s: situation{name: "Gold", found: byName, sameName: true, observeOnly: true, heldByOther: true}, want: verdict{action: leave}},
		"Delete":               {reason: "What is held is deleted.", s: situation{name: "Gold", externalName: "id", recorded: "id", sameGateway: true, found: byID, deleting: true}, want: verdict{action: manage}},
		"DeleteLostAnswer":     {reason: "So is what our attempt created.", s: situation{name: "Gold", found: byAttempt, deleting: true}, want: verdict{action: manage}},
		"DeleteStranger":       {reason: "A stranger's is left alone.", s: situation{name: "Gold", found: byName, adopt: true, deleting: true}, want: verdict{action: leave}},
		"DeleteNeverImported":  {reason: "So is what was to be imported and never was.", s: situation{name: "Gold", externalName: "id", found: byID, sameName: true, deleting: true}, want: verdict{action: leave}},
		"DeleteOtherGateway": {
			reason: "A gateway that never had it does not prove that it is gone.",
			s:      situation{name: "Gold", externalName: "id", recorded: "id", found: absent, deleting: true}, want: verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"DeleteOtherGatewayName": {
			reason: "Nor does one that has another under its name.",
			s:      situation{name: "Gold", externalName: "id", recorded: "id", found: byName, sameName: true, deleting: true}, want: verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"DeleteOtherGatewayAccepted": {reason: "Unless that is confirmed.", s: situation{name: "Gold", externalName: "id", recorded: "id", accepted: true, found: absent, deleting: true}, want: verdict{action: leave}},
		"DeleteHeldByOther":          {reason: "What another holds is left alone.", s: situation{name: "Gold", externalName: "id", recorded: "id", sameGateway: true, found: byID, heldByOther: true, deleting: true}, want: verdict{action: leave}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decide(tc.s); got != tc.want {
				t.Errorf("\n%s\ndecide(...): got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

// everySituation there is.
func everySituation(yield func(situation) bool) {
	for i := range 3 << 10 {
		bit := 0
		flag := func() bool {
			bit++
			return i>>(bit-1)&1 == 1
		}
		s := situation{
			name: "Gold", sameGateway: flag(), accepted: flag(), sameName: flag(), heldByOther: flag(),
			adopt: flag(), observeOnly: flag(), deleting: flag(),
		}
		if flag() {
			s.recorded = "id"
		}
		s.found = []way{absent, byID, byAttempt, byName}[i>>8&3]
		s.externalName = []string{"", "id", "other"}[i>>10]
		if (s.recorded != "" || !s.sameGateway) && !yield(s) {
			return
		}
	}
}

// What must hold in every situation, whatever else is true.
//
// contract: P1, S12, S18, S32, S33, S34, S36, A5, A11
func TestDecideInvariants(t *testing.T) {
	for s := range everySituation {
		v := decide(s)
		check := func(ok bool, rule string) {
			if !ok {
				t.Errorf("%s: %+v gives %+v", rule, s, v)
			}
		}
		writes := v.action == create || v.action == take || v.action == manage
		gatewayChanged := v.reason == v1alpha1.ReasonGatewayChanged
		check(!s.deleting || v.action == manage || v.action == leave || v.action == look || gatewayChanged,
			"deletion neither creates, nor takes, nor is refused but at another gateway")
		check(!gatewayChanged || s.elsewhere() && v.action == refuse, "only what is recorded about another gateway is on another gateway")
		check(v.action != create && v.action != take || !s.elsewhere(), "another gateway is not filled, nor is anything taken there")
		check(!s.observeOnly || !writes, "observing does not write")
		check(s.found == absent || v.action != create, "what is there is not created")
		check(s.found != absent || v.action == create || v.action == leave || v.action == refuse, "what is not there is not managed")
		check(!s.heldByOther || s.found == absent || v.action == leave || v.action == refuse, "what another object holds is left alone")
		check(v.action != take || s.adopt && s.found == byName, "nothing is taken without being asked for")
		check(v.action != manage || !s.deleting || s.recorded != "" || s.found == byAttempt, "what was neither held nor asked for is not deleted")
		check(v.action != manage || s.found != byName, "nothing is held because of its name")
		check(v.action != manage || s.found != byID || s.recorded != "" || s.sameName, "an ID imports nothing of another name")
		check(v.action != create || s.recorded != "" || s.externalName == "", "an ID that was asked for is not made up")
		check(v.action == refuse || s.deleting || s.recorded == "" || s.externalName == "" || s.externalName == s.recorded, "what is held gets no other ID")
		check((v.action == refuse) == (v.message != "" && v.reason != ""), "a refusal, and nothing else, says why")
	}
}
