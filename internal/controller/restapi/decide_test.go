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

package restapi

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// contract: R1, R2, S32, S34, S36, A5, A11
func TestDecide(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      situation
		want   verdict
	}{
		"Nothing": {
			reason: "What is not there is created.",
			s:      situation{handle: "a"},
			want:   verdict{action: create},
		},
		"LostAnswer": {
			reason: "What bears our mark is ours, also if no record of it was stored.",
			s:      situation{handle: "a", present: true, mark: ours},
			want:   verdict{action: manage},
		},
		"Handmade": {
			reason: "An API without a mark is left alone if nobody asked for it.",
			s:      situation{handle: "a", present: true, mark: unmarked},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"HandmadePreset": {
			reason: "An API without a mark is taken over if the user named its handle.",
			s:      situation{handle: "a", preset: true, present: true, mark: unmarked},
			want:   verdict{action: take},
		},
		"HandmadeTakeover": {
			reason: "An API without a mark is taken over if the policy says so.",
			s:      situation{handle: "a", takeover: true, present: true, mark: unmarked},
			want:   verdict{action: take},
		},
		"ForeignPreset": {
			reason: "An API of another owner is not taken over because its handle was named.",
			s:      situation{handle: "a", preset: true, present: true, mark: foreign},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"ForeignTakeover": {
			reason: "An API of another owner is taken over if the policy says so.",
			s:      situation{handle: "a", takeover: true, present: true, mark: foreign},
			want:   verdict{action: take},
		},
		"ForeignHeldHere": {
			reason: "No policy takes away what another object of this cluster holds.",
			s:      situation{handle: "a", takeover: true, present: true, mark: foreign, heldHere: true},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"ErasedHeldHere": {
			reason: "Nor while somebody has erased its mark.",
			s:      situation{handle: "a", preset: true, takeover: true, present: true, mark: unmarked, heldHere: true},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"ErasedRecordedHeldHere": {
			reason: "Nor by a record, which anybody can write.",
			s:      situation{handle: "a", recorded: "a", sameGateway: true, present: true, mark: unmarked, heldHere: true},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"ErasedObserveHeldHere": {reason: "Nor is it shown.", s: situation{handle: "a", observeOnly: true, present: true, mark: unmarked, heldHere: true}, want: verdict{action: leave}},
		"ErasedDeleteHeldHere": {
			reason: "Nor deleted.",
			s:      situation{handle: "a", recorded: "a", sameGateway: true, sameCreation: true, deleting: true, present: true, mark: unmarked, heldHere: true},
			want:   verdict{action: leave},
		},
		"MarkErased": {
			reason: "A held API whose mark is gone is set back.",
			s:      situation{handle: "a", recorded: "a", sameGateway: true, present: true, mark: unmarked},
			want:   verdict{action: manage},
		},
		"MarkOfAnother": {
			reason: "A held API that another has marked is a conflict, whatever the policy.",
			s:      situation{handle: "a", recorded: "a", sameGateway: true, takeover: true, present: true, mark: foreign},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"DeletedThere": {
			reason: "A held API that is gone is created again.",
			s:      situation{handle: "a", recorded: "a", sameGateway: true},
			want:   verdict{action: create},
		},
		"GoneHeldHere": {
			reason: "What another held, and is gone for the moment, is that one's to create again.",
			s:      situation{handle: "a", preset: true, takeover: true, heldHere: true},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"OtherGateway": {
			reason: "A configuration that leads elsewhere does not fill another gateway.",
			s:      situation{handle: "a", recorded: "a"},
			want:   verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"OtherGatewayAccepted": {
			reason: "Unless that is confirmed.",
			s:      situation{handle: "a", recorded: "a", accepted: true},
			want:   verdict{action: create},
		},
		"OtherGatewayOurs": {
			reason: "The same gateway under another name still has what is ours.",
			s:      situation{handle: "a", recorded: "a", present: true, mark: ours},
			want:   verdict{action: manage},
		},
		"OtherGatewayHandmade": {
			reason: "What another gateway has under the handle is a stranger's.",
			s:      situation{handle: "a", recorded: "a", present: true, mark: unmarked},
			want:   verdict{refuse, v1alpha1.ReasonConflict, handleTaken("a")},
		},
		"HandleChanged": {
			reason: "The handle of a held API cannot be changed.",
			s:      situation{handle: "b", recorded: "a", sameGateway: true},
			want:   verdict{refuse, v1alpha1.ReasonImmutableField, handleChanged("a", "b")},
		},
		"ObserveNothing":  {reason: "Observing creates nothing.", s: situation{handle: "a", observeOnly: true}, want: verdict{action: leave}},
		"ObserveHandmade": {reason: "Observing needs no ownership.", s: situation{handle: "a", observeOnly: true, present: true, mark: unmarked}, want: verdict{action: look}},
		"ObserveOurs":     {reason: "Observing our own writes nothing.", s: situation{handle: "a", observeOnly: true, present: true, mark: ours}, want: verdict{action: look}},
		"ObserveForeign": {
			reason: "What another owns is as good as not there.",
			s:      situation{handle: "a", observeOnly: true, preset: true, takeover: true, present: true, mark: foreign},
			want:   verdict{action: leave},
		},
		"Delete":         {reason: "What is ours is deleted.", s: situation{handle: "a", recorded: "a", sameGateway: true, deleting: true, present: true, mark: ours}, want: verdict{action: manage}},
		"DeleteUnheld":   {reason: "What was never held is left alone.", s: situation{handle: "a", preset: true, deleting: true, present: true, mark: unmarked, sameCreation: true}, want: verdict{action: leave}},
		"DeleteForeign":  {reason: "What another owns is left alone.", s: situation{handle: "a", recorded: "a", sameGateway: true, deleting: true, present: true, mark: foreign, sameCreation: true}, want: verdict{action: leave}},
		"DeleteErased":   {reason: "What is held is deleted although its mark is gone.", s: situation{handle: "a", recorded: "a", sameGateway: true, deleting: true, present: true, mark: unmarked, sameCreation: true}, want: verdict{action: manage}},
		"DeleteReplaced": {reason: "What came in the place of what was held is left alone.", s: situation{handle: "a", recorded: "a", sameGateway: true, deleting: true, present: true, mark: unmarked}, want: verdict{action: leave}},
		"DeleteOtherGateway": {
			reason: "A gateway that never had it does not prove that it is gone.",
			s:      situation{handle: "a", recorded: "a", deleting: true},
			want:   verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"DeleteOtherGatewayForeign": {
			reason: "Nor does one that has another under its handle.",
			s:      situation{handle: "a", recorded: "a", deleting: true, present: true, mark: foreign},
			want:   verdict{refuse, v1alpha1.ReasonGatewayChanged, gatewayChanged},
		},
		"DeleteOtherGatewayOurs":     {reason: "The same gateway under another name still has what is ours.", s: situation{handle: "a", recorded: "a", deleting: true, present: true, mark: ours}, want: verdict{action: manage}},
		"DeleteOtherGatewayAccepted": {reason: "What another gateway keeps is left there if that is confirmed.", s: situation{handle: "a", recorded: "a", accepted: true, deleting: true}, want: verdict{action: leave}},
		"DeleteRenamed":              {reason: "A changed handle is not in the way of deletion.", s: situation{handle: "b", recorded: "a", sameGateway: true, deleting: true}, want: verdict{action: leave}},
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
	for i := range 3 << 11 {
		bit := 0
		flag := func() bool {
			bit++
			return i>>(bit-1)&1 == 1
		}
		s := situation{
			handle: "a", preset: flag(), sameGateway: flag(), accepted: flag(), takeover: flag(), present: flag(),
			heldHere: flag(), sameCreation: flag(), observeOnly: flag(), deleting: flag(),
		}
		if flag() {
			s.handle = "b"
		}
		if flag() {
			s.recorded = "a"
		}
		s.mark = []mark{unmarked, ours, foreign}[i>>11]
		if (s.recorded != "" || !s.sameGateway) && !yield(s) {
			return
		}
	}
}

// What must hold in every situation, whatever else is true.
//
// contract: R2, S12, S32, S33, S34, S36, A5, A11
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
		check(v.action != create || !s.elsewhere(), "another gateway is not filled")
		check(!s.observeOnly || !writes, "observing does not write")
		check(!s.present || v.action != create, "what is there is not created")
		check(s.present || v.action == create || v.action == leave || v.action == refuse, "what is not there is not managed")
		check(s.mark != foreign || !s.present || v.action == take || v.action == leave || v.action == refuse, "what another owns is not managed")
		check(s.mark != foreign || !s.present || v.action != take || s.takeover && (s.recorded == "" || !s.sameGateway),
			"what another owns is taken only with the policy, and not back")
		check(!s.heldHere || s.mark == ours || !s.present || v.action == leave || v.action == refuse, "what another object here holds is left alone")
		check(!s.heldHere || s.present || !writes, "what another object here held is that one's to create again")
		check(v.action != take || s.takeover || s.preset && s.mark == unmarked, "nothing is taken without being asked for")
		check(v.action != manage || s.mark == ours || s.mark == unmarked && s.recorded != "" && s.sameGateway, "what is managed is marked or recorded")
		check(v.action != manage || !s.deleting || s.mark == ours || s.sameCreation, "what came in the place of what was held is not deleted")
		check(v.action == refuse || s.deleting || s.recorded == "" || s.handle == s.recorded, "what is held gets no other handle")
		check((v.action == refuse) == (v.message != "" && v.reason != ""), "a refusal, and nothing else, says why")
	}
}

func TestMark(t *testing.T) {
	me := owner{cluster: "c", namespace: "ns", name: "n"}
	cases := map[string]mark{"": unmarked, "c/ns/n": ours, "c/ns/other": foreign, "d/ns/n": foreign, "nonsense": foreign, "c/ns/n/": foreign}
	for annotation, want := range cases {
		g := stored(books())
		g.Metadata.Annotations = map[string]string{v1alpha1.AnnotationOwner: annotation}
		if got := markOf(g, me); got != want {
			t.Errorf("markOf(%q): %s, want %s", annotation, got, want)
		}
	}
	if o, ok := ownerFrom(me.String()); !ok || o != me {
		t.Errorf("ownerFrom(%q): %v, %t", me, o, ok)
	}
	for _, s := range []string{"", "a", "a/b", "a/b/c/d", "/b/c", "a//c", "a/b/"} {
		if _, ok := ownerFrom(s); ok {
			t.Errorf("ownerFrom(%q) is an owner", s)
		}
	}
}

// case: F10
func TestBadHandle(t *testing.T) {
	for _, good := range []string{"a", "books-v1.0", "Bücher", "id#x", "id?x", "%2F", "a:b", "..."} {
		if bad := badHandle(good); bad != "" {
			t.Errorf("badHandle(%q): %s", good, bad)
		}
	}
	for _, bad := range []string{"", " ", ".", "..", "a/b", "a b", "a}", "a\n", "a\x00", "a\u00a0b", strings.Repeat("a", 256)} {
		if badHandle(bad) == "" {
			t.Errorf("badHandle(%q): good", bad)
		}
	}
}

// contract: R2, A5
func TestHandleTakenNamesNobody(t *testing.T) {
	if m := handleTaken("books"); strings.Contains(m, "owner") || strings.Contains(m, "mark") {
		t.Errorf("handleTaken(...): %s", m)
	}
}
