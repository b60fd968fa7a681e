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

package subscription

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// reasonOf a problem, or empty.
func reasonOf(p *problem) xpv2.ConditionReason {
	if p == nil {
		return ""
	}
	return p.Reason
}

func noneHeld(string) bool { return false }

func heldIs(ids ...string) func(string) bool {
	return func(id string) bool {
		for _, h := range ids {
			if h == id {
				return true
			}
		}
		return false
	}
}

// contract: S15, S16, S17, S19, S24
func TestJudgeIdentity(t *testing.T) {
	full := map[string]string{"externalRefId": "ref", "apiId": "books", "applicationId": "app", "billingCustomerId": "customer", "billingSubscriptionId": "billing"}
	wished := wish{ExternalRefID: "ref", APIID: "books", ApplicationID: "app", BillingCustomerID: "customer", BillingSubscriptionID: "billing"}
	with := func(change func(*wish)) wish {
		w := wished
		change(&w)
		return w
	}
	type args struct {
		b   *record.Baseline
		w   wish
		got gateway.Subscription
	}
	cases := map[string]struct {
		reason string
		args   args
		// want is the field that is complained about, with old and new value.
		want []string
	}{
		"Equal":         {reason: "Nothing changed.", args: args{b: &record.Baseline{Fields: full}, w: wished}},
		"ExternalRefID": {reason: "The ID cannot change.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.ExternalRefID = "new" })}, want: []string{"externalRefId", `"ref"`, `"new"`}},
		"API":           {reason: "Nor the API.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.APIID = "films" })}, want: []string{"apiId", `"books"`, `"films"`}},
		"Application":   {reason: "Nor the application.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.ApplicationID = "new" })}, want: []string{"applicationId", `"app"`, `"new"`}},
		"Customer":      {reason: "Nor the customer.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.BillingCustomerID = "new" })}, want: []string{"billingCustomerId", `"customer"`, `"new"`}},
		"Billing":       {reason: "Nor the billing system's ID.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.BillingSubscriptionID = "new" })}, want: []string{"billingSubscriptionId", `"billing"`, `"new"`}},
		"Unset":         {reason: "To take a value away is a change.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.BillingCustomerID = "" })}, want: []string{"billingCustomerId", `"customer"`, `""`}},
		"UnsetLate": {
			reason: "Unless it was not the user's.",
			args:   args{b: &record.Baseline{Fields: full, LateInitialized: []string{"billingCustomerId"}}, w: with(func(w *wish) { w.BillingCustomerID = "" })},
		},
		"ChangedLate": {
			reason: "Which does not allow another value.",
			args:   args{b: &record.Baseline{Fields: full, LateInitialized: []string{"billingCustomerId"}}, w: with(func(w *wish) { w.BillingCustomerID = "new" })},
			want:   []string{"billingCustomerId"},
		},
		"UnsetOtherLate": {
			reason: "Nor to take away another field.",
			args:   args{b: &record.Baseline{Fields: full, LateInitialized: []string{"billingCustomerId"}}, w: with(func(w *wish) { w.BillingSubscriptionID = "" })},
			want:   []string{"billingSubscriptionId"},
		},
		"APIUnresolved": {reason: "A reference that leads nowhere is no change of the API.", args: args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.APIID = "" })}},
		"WhatItHas": {
			reason: "What was left open may be given the value the gateway has.",
			args:   args{b: &record.Baseline{Fields: map[string]string{"apiId": "books"}}, w: wished, got: gateway.Subscription{ExternalRefID: "ref", ApplicationID: " app ", BillingCustomerID: "customer", BillingSubscriptionID: "billing"}},
		},
		"WhatItHasNot": {
			reason: "And no other.",
			args:   args{b: &record.Baseline{Fields: map[string]string{"apiId": "books"}}, w: wish{APIID: "books", ApplicationID: "app"}, got: gateway.Subscription{ApplicationID: "stranger"}},
			want:   []string{"applicationId", `""`, `"app"`},
		},
		"APINotReported": {
			reason: "The gateway's internal ID of the API is no value of the field.",
			args:   args{b: &record.Baseline{Fields: map[string]string{}}, w: wish{APIID: "internal"}, got: gateway.Subscription{APIID: "internal"}},
			want:   []string{"apiId"},
		},
		"ChangedToReported": {
			reason: "A value that was given cannot be exchanged for the gateway's.",
			args:   args{b: &record.Baseline{Fields: full}, w: with(func(w *wish) { w.BillingCustomerID = "theirs" }), got: gateway.Subscription{BillingCustomerID: "theirs"}},
			want:   []string{"billingCustomerId"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := judgeIdentity(tc.args.b, tc.args.w, &tc.args.got)
			if (got != nil) != (tc.want != nil) {
				t.Fatalf("%s judgeIdentity(...): %v", tc.reason, got)
			}
			if got == nil {
				return
			}
			if got.Reason != v1alpha1.ReasonImmutableField {
				t.Errorf("%s Reason is %s", tc.reason, got.Reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.Message, want) {
					t.Errorf("%s The message does not say %s: %s", tc.reason, want, got.Message)
				}
			}
		})
	}
}

// contract: S7, S18, A5
// case: C9
func TestJudgeImport(t *testing.T) {
	there := gateway.Subscription{ID: "id", ExternalRefID: "id", ApplicationID: "app", BillingCustomerID: "customer", BillingSubscriptionID: "billing"}
	cases := map[string]struct {
		reason string
		w      wish
		listed []gateway.Subscription
		want   bool
	}{
		"Fits":             {reason: "It is what the spec describes.", w: wish{ApplicationID: "app"}, listed: []gateway.Subscription{there}, want: true},
		"FitsInAll":        {reason: "In all that the spec gives.", w: wish{ApplicationID: "app", ExternalRefID: "id", BillingCustomerID: "customer", BillingSubscriptionID: "billing"}, listed: []gateway.Subscription{{ID: "x"}, there}, want: true},
		"Trimmed":          {reason: "Blanks around an application do not count.", w: wish{ApplicationID: "app"}, listed: []gateway.Subscription{{ID: "id", ApplicationID: " app\n"}}, want: true},
		"NoApplication":    {reason: "Blank, empty and absent mean none.", w: wish{}, listed: []gateway.Subscription{{ID: "id", ApplicationID: " "}}, want: true},
		"NotReported":      {reason: "What a gateway does not report cannot differ.", w: wish{ApplicationID: "app", ExternalRefID: "ref", BillingCustomerID: "c"}, listed: []gateway.Subscription{{ID: "id", ApplicationID: "app"}}, want: true},
		"Missing":          {reason: "It is not listed.", w: wish{ApplicationID: "app"}, listed: []gateway.Subscription{{ID: "ID"}, {ID: "id "}}},
		"OtherApplication": {reason: "It is a stranger's.", w: wish{ApplicationID: "other"}, listed: []gateway.Subscription{there}},
		"ApplicationUnset": {reason: "An import must state the application.", w: wish{}, listed: []gateway.Subscription{there}},
		"LetterCase":       {reason: "Letter case counts.", w: wish{ApplicationID: "APP"}, listed: []gateway.Subscription{there}},
		"OtherRef":         {reason: "It has another externalRefId.", w: wish{ApplicationID: "app", ExternalRefID: "other"}, listed: []gateway.Subscription{there}},
		"OtherCustomer":    {reason: "It is another customer's.", w: wish{ApplicationID: "app", BillingCustomerID: "other"}, listed: []gateway.Subscription{there}},
		"OtherBilling":     {reason: "It is billed elsewhere.", w: wish{ApplicationID: "app", BillingSubscriptionID: "other"}, listed: []gateway.Subscription{there}},
	}
	texts := map[string]bool{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.w.APIID = "books"
			got, p := judgeImport(tc.w, "id", tc.listed)
			if (got != nil) != tc.want || (p == nil) != tc.want {
				t.Fatalf("%s judgeImport(...): %+v, %v", tc.reason, got, p)
			}
			if got != nil && got.ID != "id" {
				t.Errorf("%s It is %q", tc.reason, got.ID)
			}
			if p != nil {
				texts[string(p.Reason)+p.Message] = true
			}
		})
	}
	if len(texts) != 1 {
		t.Errorf("missing and mismatching can be told apart: %v", texts)
	}
}

// contract: S11
// case: D1, D6, C7
func TestJudgeAttempt(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, time.August, d, 0, 0, 0, 0, time.UTC) }
	asked := record.Attempt{AskedID: "asked", AbsentBefore: true, APIID: "books", ApplicationID: "app", PlanID: "plan", BillingCustomerID: "customer", BillingSubscriptionID: "billing", Known: []string{"known"}}
	like := func(id string, change ...func(*gateway.Subscription)) gateway.Subscription {
		s := gateway.Subscription{ID: id, APIID: "internal", ApplicationID: "app", SubscriptionPlanID: "plan", BillingCustomerID: "customer", BillingSubscriptionID: "billing", CreatedAt: day(5)}
		for _, c := range change {
			c(&s)
		}
		return s
	}
	attempt := func(change func(*record.Attempt)) record.Attempt {
		a := asked
		change(&a)
		return a
	}
	cases := map[string]struct {
		reason  string
		a       record.Attempt
		listed  []gateway.Subscription
		inPlace bool
		held    func(string) bool
		want    string
		problem xpv2.ConditionReason
	}{
		"Nothing":     {reason: "Nothing was created.", a: asked},
		"ByID":        {reason: "An in-place gateway gave it the asked-for ID.", a: asked, listed: []gateway.Subscription{like("other"), like("asked")}, inPlace: true, want: "asked"},
		"ByIDUnknown": {reason: "So may one of which nothing is known.", a: asked, listed: []gateway.Subscription{like("asked")}, want: "asked"},
		"ByFields":    {reason: "A legacy gateway chose the ID.", a: asked, listed: []gateway.Subscription{like("known"), like("new")}, want: "new"},
		"ByIDFirst":   {reason: "The asked-for ID leaves no doubt.", a: asked, listed: []gateway.Subscription{like("new"), like("asked")}, want: "asked"},
		"InPlaceNotByFields": {
			reason: "An in-place gateway does not choose IDs.", a: asked, listed: []gateway.Subscription{like("new")}, inPlace: true,
		},
		"NotAbsentBefore": {
			reason: "What was there before is not ours.", a: attempt(func(a *record.Attempt) { a.AbsentBefore = false }), listed: []gateway.Subscription{like("asked")}, inPlace: true,
		},
		"NotAbsentBeforeLegacy": {
			reason: "Not on any gateway.", a: attempt(func(a *record.Attempt) { a.AbsentBefore = false }), listed: []gateway.Subscription{like("asked")},
		},
		"NotRecorded": {
			reason: "Where it was not recorded what was there before, anything may have been.",
			a:      attempt(func(a *record.Attempt) { a.Known = nil }), listed: []gateway.Subscription{like("new")},
		},
		"NoneBefore": {
			reason: "Where nothing was, it is what came.",
			a:      attempt(func(a *record.Attempt) { a.Known = []string{} }), listed: []gateway.Subscription{like("new")}, want: "new",
		},
		"HeldByID":     {reason: "What others hold is not ours.", a: asked, listed: []gateway.Subscription{like("asked")}, inPlace: true, held: heldIs("asked")},
		"HeldByFields": {reason: "Not on a legacy gateway either.", a: asked, listed: []gateway.Subscription{like("theirs"), like("new")}, held: heldIs("theirs"), want: "new"},
		"Application":  {reason: "Another application's is not ours.", a: asked, listed: []gateway.Subscription{like("asked", func(s *gateway.Subscription) { s.ApplicationID = "other" })}},
		"Trimmed":      {reason: "Blanks around an application do not count.", a: asked, listed: []gateway.Subscription{like("asked", func(s *gateway.Subscription) { s.ApplicationID = " app " })}, want: "asked"},
		"Plan":         {reason: "One with another plan is not what was asked for.", a: asked, listed: []gateway.Subscription{like("asked", func(s *gateway.Subscription) { s.SubscriptionPlanID = "other" })}},
		"Customer":     {reason: "Nor one of another customer.", a: asked, listed: []gateway.Subscription{like("asked", func(s *gateway.Subscription) { s.BillingCustomerID = "other" })}},
		"Billing":      {reason: "Nor one that is billed elsewhere.", a: asked, listed: []gateway.Subscription{like("new", func(s *gateway.Subscription) { s.BillingSubscriptionID = "" })}},
		"Ambiguous":    {reason: "One of several is not guessed at.", a: asked, listed: []gateway.Subscription{like("b"), like("a")}, problem: v1alpha1.ReasonAmbiguousAttempt},
		"AmbiguousButHeld": {
			reason: "Of those others hold none counts.", a: asked, listed: []gateway.Subscription{like("b"), like("a")}, held: heldIs("a"), want: "b",
		},
		"Older": {
			reason: "What is older than the object that asked is not its result, whatever its record says.",
			a:      attempt(func(a *record.Attempt) { a.Known = []string{} }), listed: []gateway.Subscription{like("older", func(s *gateway.Subscription) { s.CreatedAt = day(4) })},
		},
		"ClocksDiffer": {
			reason: "But the clocks of gateway and API server may differ.",
			a:      attempt(func(a *record.Attempt) { a.Known = []string{} }), listed: []gateway.Subscription{like("new", func(s *gateway.Subscription) { s.CreatedAt = day(5).Add(-4 * time.Minute) })}, want: "new",
		},
		"ByDate": {
			reason: "A date stands for too many IDs.",
			a:      attempt(func(a *record.Attempt) { a.Known = []string{day(4).Format(time.RFC3339Nano)} }),
			listed: []gateway.Subscription{like("old", func(s *gateway.Subscription) { s.CreatedAt = day(3) }), like("last", func(s *gateway.Subscription) { s.CreatedAt = day(4) }), like("new")}, want: "new",
		},
		"DateAmongIDs": {
			reason: "But not for one of several IDs.",
			a:      attempt(func(a *record.Attempt) { a.Known = []string{day(9).Format(time.RFC3339Nano), "known"} }), listed: []gateway.Subscription{like("new")}, want: "new",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.held == nil {
				tc.held = noneHeld
			}
			got, p := judgeAttempt(&tc.a, day(5), tc.listed, tc.inPlace, tc.held)
			id := ""
			if got != nil {
				id = got.ID
			}
			if id != tc.want || reasonOf(p) != tc.problem {
				t.Errorf("%s judgeAttempt(...): %q, %v", tc.reason, id, p)
			}
			if p != nil && !strings.Contains(p.Message, "a, b") {
				t.Errorf("%s The message names no candidates: %s", tc.reason, p.Message)
			}
		})
	}
}

// contract: S7, S8, S9, S10
// case: C5, W2
func TestJudgeAdoption(t *testing.T) {
	const (
		legacy, inPlace, unknown = connection.GenerationLegacy, connection.GenerationInPlace, connection.GenerationUnknown
		unique, proven, never    = v1alpha1.SubscriptionAdoptIfUnique, v1alpha1.SubscriptionAdoptIfProven, v1alpha1.SubscriptionAdoptNever
	)
	ours := func(id string) gateway.Subscription { return gateway.Subscription{ID: id, ApplicationID: "app"} }
	theirs := gateway.Subscription{ID: "theirs", ApplicationID: "stranger"}
	type want struct {
		ID    string
		Proof bool
	}
	cases := map[string]struct {
		reason string
		listed []gateway.Subscription
		ref    string
		exists bool
		held   func(string) bool
		// want by generation and policy; absent means nothing is adopted.
		want map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want
	}{
		"Nothing":  {reason: "There is nothing to adopt."},
		"Stranger": {reason: "A stranger's is not ours.", listed: []gateway.Subscription{theirs}},
		"AskedID": {
			reason: "The asked-for ID of our application is ours everywhere.", listed: []gateway.Subscription{theirs, ours("asked"), ours("other")}, exists: true,
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{
				legacy: {unique: {ID: "asked"}, proven: {ID: "asked"}}, inPlace: {unique: {ID: "asked"}, proven: {ID: "asked"}}, unknown: {unique: {ID: "asked"}, proven: {ID: "asked"}},
			},
		},
		"AskedIDOfStranger": {
			reason: "But not a stranger's.", listed: []gateway.Subscription{{ID: "asked", ApplicationID: "stranger"}}, exists: true,
		},
		"AskedIDHeld": {reason: "Nor one that is held.", listed: []gateway.Subscription{ours("asked")}, exists: true, held: heldIs("asked")},
		"AskedIDOtherRef": {
			reason: "Nor one that says it is another.", listed: []gateway.Subscription{{ID: "asked", ExternalRefID: "other", ApplicationID: "app"}}, exists: true, ref: "asked",
		},
		"Only": {
			reason: "The only one of our application is, if the token proves it or a legacy gateway cannot tell.", listed: []gateway.Subscription{ours("only")},
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{
				legacy: {unique: {ID: "only"}, proven: {ID: "only"}}, inPlace: {unique: {ID: "only", Proof: true}, proven: {ID: "only", Proof: true}},
			},
		},
		"OnlyBesideStranger": {
			reason: "Beside a stranger's a legacy gateway leaves doubt.", listed: []gateway.Subscription{theirs, ours("only")},
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{
				legacy: {unique: {ID: "only"}}, inPlace: {unique: {ID: "only", Proof: true}, proven: {ID: "only", Proof: true}},
			},
		},
		"OnlyWithRef": {
			reason: "With externalRefId only a gateway that ignores it gives another ID.", listed: []gateway.Subscription{ours("only")}, ref: "asked",
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{legacy: {unique: {ID: "only"}, proven: {ID: "only"}}},
		},
		"OnlyButIDExists": {
			reason: "If it was the ID that collided, the token proves nothing.", listed: []gateway.Subscription{ours("only")}, exists: true,
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{legacy: {unique: {ID: "only"}, proven: {ID: "only"}}},
		},
		"OnlyHeld": {reason: "What is held is not adopted.", listed: []gateway.Subscription{ours("only")}, held: heldIs("only")},
		"Two":      {reason: "One of two is not guessed at.", listed: []gateway.Subscription{ours("a"), ours("b")}},
		"TwoOneHeld": {
			reason: "Not even if the other one is held.", listed: []gateway.Subscription{ours("a"), ours("b")}, held: heldIs("a"),
		},
		"Billing": {reason: "One that is billed to another customer does not fit.", listed: []gateway.Subscription{{ID: "only", ApplicationID: "app", BillingCustomerID: "other"}}},
		"Trimmed": {
			reason: "Blanks around an application do not count.", listed: []gateway.Subscription{{ID: "only", ApplicationID: " app"}},
			want: map[connection.Generation]map[v1alpha1.SubscriptionAdoptionPolicy]want{
				legacy: {unique: {ID: "only"}, proven: {ID: "only"}}, inPlace: {unique: {ID: "only", Proof: true}, proven: {ID: "only", Proof: true}},
			},
		},
	}
	for name, tc := range cases {
		for _, g := range []connection.Generation{legacy, inPlace, unknown} {
			for _, p := range []v1alpha1.SubscriptionAdoptionPolicy{unique, proven, never} {
				t.Run(strings.Join([]string{name, string(g), string(p)}, "/"), func(t *testing.T) {
					held := tc.held
					if held == nil {
						held = noneHeld
					}
					c, proof := judgeAdoption(adoptionCase{
						Policy: p, Generation: g, AskedID: "asked", AskedExists: tc.exists, Listed: tc.listed, Held: held,
						Wish: wish{ApplicationID: "app", ExternalRefID: tc.ref, BillingCustomerID: "customer"},
					})
					got := want{Proof: proof}
					if c != nil {
						got.ID = c.ID
					}
					if diff := cmp.Diff(tc.want[g][p], got); diff != "" {
						t.Errorf("%s judgeAdoption(...): -want, +got:\n%s", tc.reason, diff)
					}
				})
			}
		}
	}
}

// contract: S1, S21, S22, S23, S24, S28, S29
// case: W15, H2, G11
func TestJudgeUpdate(t *testing.T) {
	stamp := time.Date(2026, time.August, 1, 12, 0, 0, 5_000_000, time.UTC)
	moved, identity, missing, gone, pending := problemf(v1alpha1.ReasonImmutableField, "moved"), problemf(v1alpha1.ReasonImmutableField, "identity"), problemf(v1alpha1.ReasonTokenSecretMissing, "missing"),
		problemf(v1alpha1.ReasonPlanMissing, "gone"), problemf(v1alpha1.ReasonPlanPending, "pending")
	// inForce is what is known when all is in force and nothing happens.
	inForce := updateCase{
		Wish:     wish{Status: "ACTIVE", Plan: planWish{ID: "gold"}},
		Observed: gateway.Subscription{ID: "id", Status: "ACTIVE", SubscriptionPlanID: "gold", UpdatedAt: stamp},
		Token:    tokenInForce, KnownStamp: stamp,
	}
	cases := map[string]struct {
		reason string
		change func(*updateCase)
		want   update
	}{
		"InForce":        {reason: "All is in force.", change: func(*updateCase) {}, want: update{}},
		"Status":         {reason: "Another status is set back.", change: func(c *updateCase) { c.Observed.Status = "REVOKED" }, want: update{Action: actionFull}},
		"StatusUnset":    {reason: "An absent status leaves it alone.", change: func(c *updateCase) { c.Wish.Status, c.Observed.Status = "", "REVOKED" }, want: update{}},
		"Plan":           {reason: "So is another plan.", change: func(c *updateCase) { c.Observed.SubscriptionPlanID = "silver" }, want: update{Action: actionFull}},
		"NoPlan":         {reason: "No plan means none.", change: func(c *updateCase) { c.Wish.Plan.ID = "" }, want: update{Action: actionFull}},
		"Token":          {reason: "A changed token is sent.", change: func(c *updateCase) { c.Token = tokenChanged }, want: update{Action: actionFull}},
		"TokenUnknown":   {reason: "So is one of which nothing is known.", change: func(c *updateCase) { c.Token = tokenUnknown }, want: update{Action: actionFull}},
		"TokenUnmanaged": {reason: "Where none is managed none is sent.", change: func(c *updateCase) { c.Token = tokenUnmanaged }, want: update{}},

		"Moved": {reason: "Under another name nothing is sent.", change: func(c *updateCase) {
			c.Moved, c.Token, c.Wish.Plan.ID, c.KnownStamp = moved, tokenChanged, "silver", stamp.Add(time.Second)
		}, want: update{Problem: moved}},
		"MovedMore":   {reason: "Nor what gives access.", change: func(c *updateCase) { c.Moved, c.Observed.Status = moved, "REVOKED" }, want: update{Problem: moved}},
		"MovedUnset":  {reason: "Nor without a status.", change: func(c *updateCase) { c.Moved, c.Wish.Status, c.Observed.Status = moved, "", "REVOKED" }, want: update{Problem: moved}},
		"MovedLess":   {reason: "But what takes it away.", change: func(c *updateCase) { c.Moved, c.Wish.Status, c.Wish.Plan.ID = moved, "REVOKED", "silver" }, want: update{Action: actionStatus, Problem: moved}},
		"MovedDone":   {reason: "Once.", change: func(c *updateCase) { c.Moved, c.Wish.Status, c.Observed.Status = moved, "REVOKED", "REVOKED" }, want: update{Problem: moved}},
		"MovedLegacy": {reason: "On every gateway.", change: func(c *updateCase) { c.Moved, c.Legacy, c.Wish.Status = moved, true, "INACTIVE" }, want: update{Action: actionStatus, Problem: moved}},
		"MovedPending": {reason: "Whatever else it would wait for.", change: func(c *updateCase) {
			waitsFor(pending, "REVOKED", 0)(c)
			c.Moved = moved
		}, want: update{Action: actionStatus, Problem: moved}},
		"MovedIdentity": {reason: "It is complained about first.", change: func(c *updateCase) { c.Moved, c.Identity = moved, identity }, want: update{Problem: moved}},

		"Identity":           {reason: "An illegal edit is complained about.", change: func(c *updateCase) { c.Identity, c.Token = identity, tokenChanged }, want: update{Problem: identity}},
		"IdentityStatus":     {reason: "And the status goes out.", change: func(c *updateCase) { c.Identity, c.Wish.Status = identity, "REVOKED" }, want: update{Action: actionStatus, Problem: identity}},
		"TokenMissing":       {reason: "A missing token is complained about.", change: func(c *updateCase) { c.Token, c.TokenProblem, c.Wish.Plan.ID = tokenMissing, missing, "silver" }, want: update{Problem: missing}},
		"TokenMissingStatus": {reason: "And the status goes out.", change: func(c *updateCase) { c.Token, c.TokenProblem, c.Wish.Status = tokenMissing, missing, "INACTIVE" }, want: update{Action: actionStatus, Problem: missing}},
		"TokenMissingActive": {reason: "Also if it gives access.", change: func(c *updateCase) { c.Token, c.TokenProblem, c.Observed.Status = tokenMissing, missing, "INACTIVE" }, want: update{Action: actionStatus, Problem: missing}},
		"PlanGone":           {reason: "A plan that is gone is complained about.", change: func(c *updateCase) { c.Wish.Plan = planWish{Problem: gone} }, want: update{Problem: gone}},
		"PlanGoneStatus":     {reason: "And the status goes out at once.", change: func(c *updateCase) { c.Wish.Plan, c.Wish.Status = planWish{Problem: gone}, "REVOKED" }, want: update{Action: actionStatus, Problem: gone}},
		"PlanGoneToken":      {reason: "The token waits, since it cannot go out alone.", change: func(c *updateCase) { c.Wish.Plan, c.Token = planWish{Problem: gone}, tokenChanged }, want: update{Problem: gone}},
		"APIElsewhere": {
			reason: "An API on another gateway is complained about, and the status goes out.",
			change: func(c *updateCase) {
				c.Wish.APIProblem, c.Wish.Status = problemf(v1alpha1.ReasonRefused, "elsewhere"), "REVOKED"
			},
			want: update{Action: actionStatus, Problem: problemf(v1alpha1.ReasonRefused, "elsewhere")},
		},
		"APIMissing": {
			reason: "An API whose object is gone does not matter.",
			change: func(c *updateCase) {
				c.Wish.APIProblem, c.Token = problemf(v1alpha1.ReasonAPIMissing, "gone"), tokenChanged
			},
			want: update{Action: actionFull},
		},

		"Pending":         {reason: "A plan that will be there is waited for.", change: func(c *updateCase) { c.Wish.Plan = planWish{Problem: pending, Pending: true} }, want: update{Problem: pending, Waiting: true}},
		"PendingLess":     {reason: "Also if access is taken away.", change: waitsFor(pending, "REVOKED", planPatience-time.Nanosecond), want: update{Problem: pending, Waiting: true}},
		"PendingLessLong": {reason: "But for a minute at most.", change: waitsFor(pending, "REVOKED", planPatience), want: update{Action: actionStatus, Problem: pending}},
		"PendingInactive": {reason: "That is so for both ways to take it away.", change: waitsFor(pending, "INACTIVE", time.Hour), want: update{Action: actionStatus, Problem: pending}},
		"PendingLessDone": {reason: "What was taken away already is not sent again.", change: func(c *updateCase) {
			waitsFor(pending, "REVOKED", time.Hour)(c)
			c.Observed.Status = "REVOKED"
		}, want: update{Problem: pending}},
		"PendingMore": {reason: "To give access there is no hurry.", change: func(c *updateCase) {
			waitsFor(pending, "ACTIVE", time.Hour)(c)
			c.Observed.Status = "REVOKED"
		}, want: update{Problem: pending, Waiting: true}},
		"PendingUnset": {reason: "Nor without a status.", change: waitsFor(pending, "", time.Hour), want: update{Problem: pending, Waiting: true}},

		"Foreign":        {reason: "A write that left only its stamp is answered.", change: func(c *updateCase) { c.Observed.UpdatedAt = stamp.Add(time.Second) }, want: update{Action: actionFull, Foreign: true}},
		"ForeignEarlier": {reason: "Whatever clock it came from.", change: func(c *updateCase) { c.Observed.UpdatedAt = stamp.Add(-time.Second) }, want: update{Action: actionFull, Foreign: true}},
		"ForeignMicros":  {reason: "Stamps are compared in milliseconds.", change: func(c *updateCase) { c.Observed.UpdatedAt = stamp.Add(900 * time.Microsecond) }, want: update{}},
		"StampUnknown":   {reason: "Without a known stamp none is foreign.", change: func(c *updateCase) { c.KnownStamp = time.Time{} }, want: update{}},
		"Rewritten":      {reason: "Not twice within ten minutes.", change: func(c *updateCase) { c.Observed.UpdatedAt, c.Rewritten = stamp.Add(time.Second), true }, want: update{Foreign: true, Contested: true}},
		"RewrittenStatus": {reason: "That delays no status.", change: func(c *updateCase) {
			c.KnownStamp, c.Rewritten, c.Wish.Status = stamp.Add(time.Second), true, "REVOKED"
		}, want: update{Action: actionFull}},
		"RewrittenToken":  {reason: "And no token.", change: func(c *updateCase) { c.KnownStamp, c.Rewritten, c.Token = stamp.Add(time.Second), true, tokenChanged }, want: update{Action: actionFull}},
		"LegacyForeign":   {reason: "On a legacy gateway nothing is left to set back.", change: func(c *updateCase) { c.Legacy, c.KnownStamp = true, stamp.Add(time.Second) }, want: update{}},
		"LostPlan":        {reason: "What does not last is not written again and again.", change: func(c *updateCase) { c.Lost, c.Observed.SubscriptionPlanID = true, "silver" }, want: update{Contested: true, Problem: &problem{Reason: v1alpha1.ReasonRefused}}},
		"LostAccess":      {reason: "Not to give access either.", change: func(c *updateCase) { c.Lost, c.Observed.Status = true, "SUSPENDED" }, want: update{Contested: true, Problem: &problem{Reason: v1alpha1.ReasonRefused}}},
		"LostRevocation":  {reason: "But always to take it away.", change: func(c *updateCase) { c.Lost, c.Wish.Status = true, "REVOKED" }, want: update{Action: actionFull}},
		"LegacyToken":     {reason: "A legacy gateway is sent a token once.", change: func(c *updateCase) { c.Legacy, c.Token = true, tokenChanged }, want: update{Action: actionFull}},
		"LegacyTokenSent": {reason: "And then told of.", change: func(c *updateCase) { c.Legacy, c.SentAlready, c.Token = true, true, tokenChanged }, want: update{Problem: legacyProblem(false, true)}},
		"LegacyPlan":      {reason: "So is a plan.", change: func(c *updateCase) { c.Legacy, c.Wish.Plan.ID = true, "silver" }, want: update{Action: actionFull}},
		"LegacyPlanSent":  {reason: "And then told of.", change: func(c *updateCase) { c.Legacy, c.SentAlready, c.Wish.Plan.ID = true, true, "silver" }, want: update{Problem: legacyProblem(true, false)}},
		"LegacyBothStatus": {reason: "Which delays no status.", change: func(c *updateCase) {
			c.Legacy, c.SentAlready, c.Wish.Plan.ID, c.Token, c.Wish.Status = true, true, "silver", tokenChanged, "REVOKED"
		}, want: update{Action: actionStatus, Problem: legacyProblem(true, true)}},
		"LegacyUnknown":    {reason: "A token of which nothing is known is not sent there.", change: func(c *updateCase) { c.Legacy, c.Token = true, tokenUnknown }, want: update{}},
		"LegacyStatus":     {reason: "A status is.", change: func(c *updateCase) { c.Legacy, c.Wish.Status = true, "REVOKED" }, want: update{Action: actionFull}},
		"LegacySentBefore": {reason: "What is as it should be is not complained about.", change: func(c *updateCase) { c.Legacy, c.SentAlready = true, true }, want: update{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := inForce
			tc.change(&c)
			got := judgeUpdate(c)
			opts := cmp.Options{}
			if tc.want.Problem != nil && tc.want.Problem.Message == "" {
				opts = append(opts, cmpopts.IgnoreFields(problem{}, "Message"))
			}
			if diff := cmp.Diff(tc.want, got, opts); diff != "" {
				t.Errorf("%s judgeUpdate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// waitsFor a plan while a status is asked for.
func waitsFor(p *problem, status string, since time.Duration) func(*updateCase) {
	return func(c *updateCase) {
		c.Wish.Plan, c.Wish.Status, c.PlanPendingFor = planWish{Problem: p, Pending: true}, status, since
	}
}

// contract: S32, S36
func TestJudgeAbsence(t *testing.T) {
	b := &record.Baseline{ID: "id", Endpoint: "https://a/api", GatewayID: "gw"}
	cases := map[string]struct {
		reason string
		at     target.Target
		want   bool
	}{
		"Same":          {reason: "The gateway that held it can tell.", at: target.Target{Endpoint: "https://a/api", GatewayID: "gw"}, want: true},
		"IDUnknown":     {reason: "Also before it said its name.", at: target.Target{Endpoint: "https://a/api"}, want: true},
		"OtherEndpoint": {reason: "Another endpoint cannot, whatever name it gives.", at: target.Target{Endpoint: "https://b/api", GatewayID: "gw"}},
		"OtherUnknown":  {reason: "Nor if it gave none.", at: target.Target{Endpoint: "https://b/api"}},
		"OtherGateway":  {reason: "Nor another gateway at the same endpoint.", at: target.Target{Endpoint: "https://a/api", GatewayID: "other"}},
		"Accepted":      {reason: "Unless somebody confirmed it.", at: target.Target{Endpoint: "https://b/api", GatewayID: "other", Accepted: true}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := judgeAbsence(b, tc.at)
			if (p == nil) != tc.want {
				t.Fatalf("%s judgeAbsence(...): %v", tc.reason, p)
			}
			if p != nil && (p.Reason != v1alpha1.ReasonGatewayChanged || !strings.Contains(p.Message, tc.at.Endpoint) || !strings.Contains(p.Message, "accept-gateway")) {
				t.Errorf("%s It does not say what to do: %s %s", tc.reason, p.Reason, p.Message)
			}
		})
	}
}

// contract: S22
func TestSameStamp(t *testing.T) {
	base := time.Date(2026, time.August, 1, 12, 0, 0, 5_000_000, time.UTC)
	cases := map[string]struct {
		reason string
		a, b   time.Time
		want   bool
	}{
		"Equal":    {reason: "Equal is equal.", a: base, b: base, want: true},
		"Zone":     {reason: "In whatever zone.", a: base, b: base.In(time.FixedZone("x", 3600)), want: true},
		"Micro":    {reason: "Less than a millisecond does not count.", a: base, b: base.Add(999 * time.Microsecond), want: true},
		"Milli":    {reason: "A millisecond does.", a: base, b: base.Add(time.Millisecond), want: false},
		"Earlier":  {reason: "Also if it is earlier.", a: base, b: base.Add(-time.Microsecond), want: false},
		"ZeroZero": {reason: "Two unknown ones are equal.", want: true},
		"Zero":     {reason: "An unknown one is not a known one.", b: base, want: false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if sameStamp(tc.a, tc.b) != tc.want || sameStamp(tc.b, tc.a) != tc.want {
				t.Errorf("%s sameStamp(%s, %s): want %t", tc.reason, tc.a, tc.b, tc.want)
			}
		})
	}
}

// contract: S2, S3, S5
func TestAskedIDOf(t *testing.T) {
	type want struct {
		ID     string
		Preset bool
		Reason xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		change []change
		b      *record.Baseline
		want   want
	}{
		"UID":      {reason: "Without a wish it is the UID.", want: want{ID: "uid-s"}},
		"Ref":      {reason: "externalRefId comes first.", change: []change{externalRef("x")}, want: want{ID: "x"}},
		"Preset":   {reason: "Then a preset external-name.", change: []change{externalName("x")}, want: want{ID: "x", Preset: true}},
		"Both":     {reason: "They may be equal.", change: []change{externalRef("x"), externalName("x")}, want: want{ID: "x", Preset: true}},
		"Differ":   {reason: "And may not differ.", change: []change{externalRef("x"), externalName("y")}, want: want{Reason: v1alpha1.ReasonConflict}},
		"Baseline": {reason: "What is held comes back under its ID.", change: []change{externalRef("x"), externalName("y")}, b: &record.Baseline{ID: "z"}, want: want{ID: "z"}},
		"Long":     {reason: "64 characters are allowed.", change: []change{externalName(strings.Repeat("a", 64))}, want: want{ID: strings.Repeat("a", 64), Preset: true}},
		"TooLong":  {reason: "65 are not.", change: []change{externalName(strings.Repeat("a", 65))}, want: want{Reason: v1alpha1.ReasonRefused}},
		"Dash":     {reason: "Nor one that begins with a hyphen, by which gateways are probed.", change: []change{externalName("-")}, want: want{Reason: v1alpha1.ReasonRefused}},
		"Newline":  {reason: "Nor one with a line break.", change: []change{externalName("a\n")}, want: want{Reason: v1alpha1.ReasonRefused}},
		"Unicode":  {reason: "Nor one with a letter of another alphabet.", change: []change{externalName("é")}, want: want{Reason: v1alpha1.ReasonRefused}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id, preset, p := askedID(subscription("s", tc.change...), tc.b)
			if diff := cmp.Diff(tc.want, want{ID: id, Preset: preset, Reason: reasonOf(p)}); diff != "" {
				t.Errorf("%s askedID(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// contract: S26, S27
// case: A9, W1
func TestJudgeToken(t *testing.T) {
	type want struct {
		State  tokenState
		Rotate bool
	}
	cases := map[string]struct {
		reason string
		c      tokenCase
		want   want
	}{
		"Equal":               {reason: "The same token in another version of its Secret is in force.", c: tokenCase{Deployed: true, Known: true, Comparable: true, Equal: true}, want: want{State: tokenInForce}},
		"Changed":             {reason: "Another one is not.", c: tokenCase{Deployed: true, Known: true, Comparable: true}, want: want{State: tokenChanged}},
		"Restarted":           {reason: "A process that applied none cannot tell.", c: tokenCase{Deployed: true, Known: true}, want: want{State: tokenUnknown}},
		"Missing":             {reason: "A token that should be there and is not is missing.", c: tokenCase{Deployed: true, Known: true, Missing: true, Comparable: true}, want: want{State: tokenMissing}},
		"MissingBefore":       {reason: "Also before there is a subscription.", c: tokenCase{Missing: true}, want: want{State: tokenMissing}},
		"GeneratedBefore":     {reason: "A generated one is made then.", c: tokenCase{Generated: true, Missing: true}, want: want{State: tokenUnknown, Rotate: true}},
		"GeneratedThere":      {reason: "Unless it was made before.", c: tokenCase{Generated: true}, want: want{State: tokenUnknown}},
		"GeneratedLost":       {reason: "One that was lost is replaced.", c: tokenCase{Deployed: true, Generated: true, Known: true, Missing: true}, want: want{State: tokenChanged, Rotate: true}},
		"GeneratedImport":     {reason: "That of an import is its owner's.", c: tokenCase{Deployed: true, Generated: true, Missing: true}, want: want{State: tokenUnmanaged}},
		"RotationAsked":       {reason: "A rotation makes a new one.", c: tokenCase{Deployed: true, Generated: true, RotationAsked: true, Known: true, Comparable: true, Equal: true}, want: want{State: tokenChanged, Rotate: true}},
		"RotationAskedImport": {reason: "Also for an import.", c: tokenCase{Deployed: true, Generated: true, RotationAsked: true, Missing: true}, want: want{State: tokenChanged, Rotate: true}},
		"RotationAskedGone":   {reason: "And before what is gone is created again.", c: tokenCase{Generated: true, RotationAsked: true}, want: want{State: tokenUnknown, Rotate: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, rotate := judgeToken(tc.c)
			if diff := cmp.Diff(tc.want, want{State: s, Rotate: rotate}); diff != "" {
				t.Errorf("%s judgeToken(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// contract: S28, A1
// case: W11
func TestJudgeAnswer(t *testing.T) {
	cases := map[string]struct {
		reason         string
		generation     connection.Generation
		planKept, sent bool
		want           xpv2.ConditionReason
	}{
		"Done":        {reason: "What was accepted was done.", generation: connection.GenerationInPlace, sent: true},
		"Kept":        {reason: "Unless the answer says otherwise.", generation: connection.GenerationInPlace, planKept: true, want: v1alpha1.ReasonRefused},
		"Unknown":     {reason: "Whatever gateway it is.", planKept: true, want: v1alpha1.ReasonRefused},
		"LegacyPlan":  {reason: "A legacy one keeps the plan.", generation: connection.GenerationLegacy, planKept: true, want: v1alpha1.ReasonLegacyGateway},
		"LegacyToken": {reason: "And the token.", generation: connection.GenerationLegacy, sent: true, want: v1alpha1.ReasonLegacyGateway},
		"Legacy":      {reason: "But not the status.", generation: connection.GenerationLegacy},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := reasonOf(judgeAnswer(tc.generation, tc.planKept, tc.sent)); got != tc.want {
				t.Errorf("%s judgeAnswer(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
