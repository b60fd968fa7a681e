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

package ownership

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestSame(t *testing.T) {
	at := func(id, endpoint, gateway, scope string) Holding {
		return Holding{ID: id, Endpoint: endpoint, GatewayID: gateway, Scope: scope}
	}
	cases := map[string]struct {
		reason string
		a, b   Holding
		want   bool
	}{
		"SameEndpoint":     {"One endpoint is one gateway, whatever else is known.", at("x", "e", "", ""), at("x", "e", "g", "s"), true},
		"OtherID":          {"Two IDs are two objects.", at("x", "e", "", ""), at("y", "e", "", ""), false},
		"TwoEndpoints":     {"A gateway that names itself is recognised behind a second endpoint.", at("x", "e", "g", "s"), at("x", "f", "g", "s"), true},
		"OtherGateway":     {"The same ID on another gateway is no conflict.", at("x", "e", "g", "s"), at("x", "f", "h", "s"), false},
		"OtherScope":       {"Gateways may share a name; another API shows that they are two.", at("x", "e", "g", "s"), at("x", "f", "g", "t"), false},
		"NamelessGateways": {"Two endpoints of which nothing is known are two gateways.", at("x", "e", "", ""), at("x", "f", "", ""), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.Same(tc.b); got != tc.want {
				t.Errorf("%s\nSame(): want %t, got %t", tc.reason, tc.want, got)
			}
			if tc.a.Same(tc.b) != tc.b.Same(tc.a) {
				t.Error("Same() must not depend on the order")
			}
		})
	}
}

// contract: S12, A5
func TestLoses(t *testing.T) {
	old, young := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	at := func(id, endpoint string) Holding {
		return Holding{ID: id, Endpoint: endpoint, GatewayID: "g", Scope: "s"}
	}
	self := Holder{Holding: at("x", "e"), UID: "self", Created: young}
	reported, vouched, own := self, self, self
	reported.Reported, vouched.Vouched, own.ID = true, true, "self"
	other := func(id, endpoint string, reported bool) Holder {
		return Holder{Holding: at(id, endpoint), UID: "other", Created: old, Reported: reported}
	}
	cases := map[string]struct {
		reason      string
		self, other Holder
		incumbent   types.UID
		want        bool
	}{
		"Older":             {reason: "Who was there first has it.", self: self, other: other("x", "e", false), want: true},
		"Refused":           {reason: "Unless it was refused it before.", self: self, other: Holder{Holding: at("x", "e"), UID: "other", Created: old, Refused: true}},
		"Incumbent":         {reason: "Unless this one was seen to have it.", self: self, other: other("x", "e", true), incumbent: "self"},
		"IncumbentGone":     {reason: "One that holds it no longer counts no longer.", self: self, other: other("x", "e", false), incumbent: "gone", want: true},
		"Reported":          {reason: "A tenant can copy an annotation but not a status.", self: reported, other: other("x", "e", false)},
		"Vouched":           {reason: "Nor a create that status vouches for.", self: vouched, other: other("x", "e", false)},
		"ReportedByOther":   {reason: "Which is less than to be named, as it says nothing of the ID.", self: vouched, other: other("x", "e", true), want: true},
		"Elsewhere":         {reason: "What another endpoint says of itself is nothing against what status says.", self: reported, other: other("x", "f", true)},
		"ElsewhereReported": {reason: "Nor against a bare record.", self: self, other: other("x", "f", true)},
		"OwnUID":            {reason: "Nobody can mean an ID that only another's UID can name.", self: own, other: other("self", "e", false)},
		"OwnUIDReported":    {reason: "Unless the provider says so.", self: own, other: other("self", "e", true), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Loses(tc.self, []Holder{tc.other}, tc.incumbent); got != tc.want {
				t.Errorf("%s\nLoses(): want %t, got %t", tc.reason, tc.want, got)
			}
			if Loses(tc.self, nil, tc.incumbent) {
				t.Error("it loses to nobody")
			}
		})
	}
}

// A gateway that is known by another name is still the same, but whoever says so may
// have made it up.
//
// contract: S12, A5
func TestLosesAt(t *testing.T) {
	created := time.Unix(100, 5_000_007)
	at := func(ms int64) *metav1.MicroTime { t := metav1.NewMicroTime(time.UnixMilli(ms)); return &t }
	then, sometime := at(100_005), at(100_004)
	old, young := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	holder := func(endpoint string, h Holder) Holder {
		h.Holding = Holding{ID: "x", Endpoint: endpoint, GatewayID: "g", Scope: "s"}
		return h
	}
	self := func(endpoint string, h Holder) Holder { h.UID = "self"; return holder(endpoint, h) }
	other := func(endpoint string, h Holder) Holder { h.UID = "other"; return holder(endpoint, h) }
	moved := self("a", Holder{Created: young, Reported: true, Since: then})
	stays := self("e", Holder{Created: young, Reported: true, Since: then})
	bare := self("e", Holder{Created: young})
	own := bare
	own.ID = "self"
	cases := map[string]struct {
		reason      string
		self, other Holder
		seen        []Holder
		want        bool
	}{
		"Copied":        {reason: "A copy of its records is nothing against it.", self: moved, other: other("a", Holder{Created: old})},
		"Earned":        {reason: "What was earned at the same place decides as ever.", self: moved, other: other("a", Holder{Created: old, Reported: true, Since: then}), want: true},
		"EarnedOther":   {reason: "And so it does at two places, if both know when it was created.", self: moved, other: other("b", Holder{Created: old, Reported: true, Since: then}), want: true},
		"EarnedHere":    {reason: "Also beside one that earned it here: it is the same from either side.", self: stays, other: other("b", Holder{Created: old, Reported: true, Since: then}), want: true},
		"EarnedLater":   {reason: "The older one has it.", self: stays, other: other("b", Holder{Created: metav1.NewTime(time.Unix(3, 0)), Reported: true, Since: then})},
		"SeenElsewhere": {reason: "Unless the other one was seen to have it.", self: stays, other: other("b", Holder{Created: metav1.NewTime(time.Unix(3, 0)), Reported: true, Since: then}), seen: []Holder{other("b", Holder{})}, want: true},
		"SeenBoth":      {reason: "If both were, the older one.", self: stays, other: other("b", Holder{Created: metav1.NewTime(time.Unix(3, 0)), Reported: true, Since: then}), seen: []Holder{other("b", Holder{}), stays}},
		"Replaced":      {reason: "Who knows the one that is there has it, and not who knew one before.", self: self("e", Holder{Created: old, Reported: true, Since: sometime}), other: other("b", Holder{Created: young, Reported: true, Since: then}), want: true},
		"There":         {reason: "Who was only told of it by the gateway elsewhere yields to nobody's word.", self: stays, other: other("b", Holder{Created: old, Reported: true})},
		"RecordedThere": {reason: "A record that waits there is nothing against it.", self: moved, other: other("e", Holder{Created: old})},
		"MadeUp":        {reason: "Who does not know when it was created made it up.", self: moved, other: other("b", Holder{Created: old, Reported: true, Since: sometime})},
		"MadeUpSeen":    {reason: "However long that was seen at a gateway of his.", self: stays, other: other("b", Holder{Created: old, Reported: true, Since: sometime}), seen: []Holder{other("b", Holder{})}},
		"VouchedThere":  {reason: "Nor against one whose create may have made it, by whatever name.", self: self("a", Holder{Created: young, Vouched: true}), other: other("e", Holder{Created: old})},
		"VouchedHere":   {reason: "Which is less than one that was vouched for at that place.", self: self("a", Holder{Created: old, Vouched: true}), other: other("e", Holder{Created: young, Vouched: true}), want: true},
		"Restored":      {reason: "Of two bare records the older one counts.", self: bare, other: other("e", Holder{Created: old}), want: true},
		"RestoredOther": {reason: "Wherever it is from.", self: bare, other: other("b", Holder{Created: old}), want: true},
		"Refused":       {reason: "Unless it was refused.", self: bare, other: other("b", Holder{Created: old, Refused: true})},
		"RestoredMoved": {reason: "A bare record yields to one that was earned.", self: bare, other: other("a", Holder{Created: young, Reported: true, Since: then}), want: true},
		"RestoredMade":  {reason: "But not to one that was made up.", self: bare, other: other("a", Holder{Created: old, Reported: true, Since: sometime})},
		"OtherSeen":     {reason: "Who was seen there has it, whoever it is.", self: moved, other: other("e", Holder{Created: young}), seen: []Holder{other("e", Holder{})}, want: true},
		"OwnUID":        {reason: "Nobody can mean an ID that only another's UID can name.", self: own, other: other("e", Holder{Created: old})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			incumbents := &Incumbents{}
			for _, h := range tc.seen {
				incumbents.Saw(h.UID, h.Holding)
			}
			if got := LosesAt("e", created, tc.self, []Holder{tc.other}, incumbents.Of); got != tc.want {
				t.Errorf("%s\nLosesAt(): want %t, got %t", tc.reason, tc.want, got)
			}
			if LosesAt("e", created, tc.self, nil, incumbents.Of) {
				t.Error("it loses to nobody")
			}
		})
	}
}

// Of any who claim an object exactly one has it, and nobody who does not know it has it
// for long: seen from any of their endpoints, who has it there is the same one as soon as
// he knows when it was created.
//
// contract: S12
func TestOneHasIt(t *testing.T) {
	created := time.Unix(100, 5_000_007)
	then := metav1.NewMicroTime(time.UnixMilli(100_005))
	rapid.Check(t, func(t *rapid.T) {
		incumbents := &Incumbents{}
		var all []Holder
		for k := range rapid.IntRange(2, 4).Draw(t, "claims") {
			h := Holder{
				Holding:  Holding{ID: "x", Endpoint: rapid.SampledFrom([]string{"e", "f"}).Draw(t, "endpoint"), GatewayID: "g", Scope: "s"},
				UID:      types.UID(fmt.Sprint(k)),
				Created:  metav1.NewTime(time.Unix(rapid.Int64Range(1, 3).Draw(t, "created"), 0)),
				Reported: true, Since: &then,
			}
			if rapid.Bool().Draw(t, "seen") {
				incumbents.Saw(h.UID, h.Holding)
			}
			all = append(all, h)
		}
		for _, endpoint := range []string{"e", "f"} {
			var have []types.UID
			for k, h := range all {
				others := slices.Delete(slices.Clone(all), k, k+1)
				if !LosesAt(endpoint, created, h, others, incumbents.Of) {
					have = append(have, h.UID)
				}
				if LosesAt("e", created, h, others, incumbents.Of) != LosesAt("f", created, h, others, incumbents.Of) {
					t.Errorf("%s has it from one side only", h.UID)
				}
			}
			if len(have) != 1 {
				t.Errorf("from %s, %v have it", endpoint, have)
			}
		}
	})
}

// What is adopted through one endpoint is not through another, if both have seen it. What a
// gateway calls itself keeps nobody from anything.
//
// contract: S12, A5
func TestClaimsElsewhere(t *testing.T) {
	c := &Claims{}
	began := time.Unix(1, 5)
	at := func(endpoint string, began time.Time) Holding {
		return Holding{ID: "x", Endpoint: endpoint, GatewayID: "g", Scope: "s", Began: began}
	}
	if !c.Reserve("first", at("a", began), time.Time{}) || c.Reserve("second", at("b", began), time.Time{}) || !c.Reserved(at("b", began), "second", time.Time{}) {
		t.Error("one object is adopted through two endpoints")
	}
	if !c.Reserve("third", at("b", time.Time{}), time.Time{}) || !c.Reserve("fourth", at("c", began.Add(1)), time.Time{}) {
		t.Error("what nobody has seen, or another object, is kept from others by what its gateway calls itself")
	}
	copied := at("d", began)
	copied.GatewayID = "copy"
	if !c.Reserve("sixth", copied, time.Time{}) {
		t.Error("at a copy of the gateway, with the same times, it is another object")
	}
	if c.Reserve("fifth", at("a", time.Time{}), time.Time{}) {
		t.Error("at one endpoint one ID is one object")
	}
	c.Release("first", at("a", began))
	c.Release("third", at("b", time.Time{}))
	if !c.Reserve("second", at("b", began), time.Time{}) {
		t.Error("what was released is still reserved")
	}
}

// What was reserved for a create ends when that can no longer take effect, should nobody
// look what came of it.
//
// contract: S11
func TestClaimsEnd(t *testing.T) {
	c := &Claims{}
	h, until := Holding{ID: "x", Endpoint: "e"}, time.Unix(10, 0)
	if !c.ReserveUntil("creator", h, time.Unix(1, 0), until) || c.Reserve("other", h, until) || !c.Reserved(h, "other", until) {
		t.Error("it ends before its time")
	}
	later := until.Add(1)
	if c.Reserved(h, "other", later) || !c.Reserve("other", h, later) || c.Reserve("creator", h, later) {
		t.Error("it does not end")
	}
}

// contract: S12
func TestIncumbents(t *testing.T) {
	at := func(id, endpoint string) Holding { return Holding{ID: id, Endpoint: endpoint} }
	i := &Incumbents{}
	check := func(reason string, h Holding, want types.UID) {
		t.Helper()
		if got := i.Of(h); got != want {
			t.Errorf("%s\nOf(%v): want %q, got %q", reason, h, want, got)
		}
	}
	check("Nobody was seen.", at("x", "e"), "")
	i.Saw("a", at("x", "e"))
	check("Who was seen is it.", at("x", "e"), "a")
	check("At that gateway.", at("x", "f"), "")
	i.Saw("b", at("x", "e"))
	check("Whoever was seen last.", at("x", "e"), "b")
	i.Saw("b", at("y", "e"))
	check("One holds one object.", at("x", "e"), "")
	i.Forget("a")
	check("One that was replaced takes nobody with it.", at("y", "e"), "b")
	i.Forget("b")
	check("One that is gone is it no longer.", at("y", "e"), "")
	if len(i.of)+len(i.by) != 0 {
		t.Error("something is remembered for ever")
	}
}

// contract: S12
func TestOneOfManyReserves(t *testing.T) {
	c, won := &Claims{}, make(chan types.UID, 50)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if uid := types.UID(fmt.Sprint(i)); c.Reserve(uid, Holding{ID: "x", Endpoint: "e"}, time.Time{}) {
				won <- uid
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("want exactly one winner, got %d", len(won))
	}
}

func TestClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, model := &Claims{}, map[Holding]types.UID{}
		holding := rapid.Custom(func(t *rapid.T) Holding {
			return Holding{ID: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id"), Endpoint: rapid.SampledFrom([]string{"e", "f"}).Draw(t, "endpoint")}
		})
		uid := rapid.SampledFrom([]types.UID{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				h, u := holding.Draw(t, "holding"), uid.Draw(t, "uid")
				owner, taken := model[h]
				if want, got := !taken || owner == u, c.Reserve(u, h, time.Time{}); want != got {
					t.Fatalf("Reserve(%s, %v): want %t, got %t", u, h, want, got)
				}
				if !taken {
					model[h] = u
				}
			},
			"release": func(t *rapid.T) {
				h, u := holding.Draw(t, "holding"), uid.Draw(t, "uid")
				c.Release(u, h)
				if model[h] == u {
					delete(model, h)
				}
			},
			"releaseAll": func(t *rapid.T) {
				u := uid.Draw(t, "uid")
				c.ReleaseAll(u)
				for h, o := range model {
					if o == u {
						delete(model, h)
					}
				}
			},
			"": func(t *rapid.T) {
				for _, h := range []Holding{{ID: "x", Endpoint: "e"}, {ID: "x", Endpoint: "f"}, {ID: "y", Endpoint: "e"}, {ID: "y", Endpoint: "f"}} {
					for _, u := range []types.UID{"a", "b", "c"} {
						owner, taken := model[h]
						if want, got := taken && owner != u, c.Reserved(h, u, time.Time{}); want != got {
							t.Fatalf("Reserved(%v, %s): want %t, got %t", h, u, want, got)
						}
					}
				}
			},
		})
	})
}
