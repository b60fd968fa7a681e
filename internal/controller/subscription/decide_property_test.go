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
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// draw one of a few values, so that equal ones are common.
func draw[T any](t *rapid.T, name string, of ...T) T { return rapid.SampledFrom(of).Draw(t, name) }

func drawSubscription(t *rapid.T, id string) gateway.Subscription {
	return gateway.Subscription{
		ID:                    id,
		ExternalRefID:         draw(t, "ref", "", id, "secret-ref"),
		ApplicationID:         draw(t, "application", "", " ", "app", " app", "secret-app"),
		SubscriptionPlanID:    draw(t, "plan", "", "gold", "silver"),
		BillingCustomerID:     draw(t, "customer", "", "customer", "secret-customer"),
		BillingSubscriptionID: draw(t, "billing", "", "billing", "secret-billing"),
		Status:                draw(t, "status", "ACTIVE", "INACTIVE", "REVOKED", "active", "SUSPENDED", ""),
		CreatedAt:             time.Unix(int64(draw(t, "created", 1, 2, 3)), 0),
		UpdatedAt:             time.Unix(0, int64(draw(t, "updated", 1, 2, 3))*int64(time.Millisecond)),
	}
}

// drawListed draws subscriptions on one API, with an ID each.
func drawListed(t *rapid.T) []gateway.Subscription {
	var listed []gateway.Subscription
	for _, id := range []string{"asked", "a", "b", "c"} {
		if rapid.Bool().Draw(t, "listed "+id) {
			listed = append(listed, drawSubscription(t, id))
		}
	}
	return rapid.Permutation(listed).Draw(t, "order")
}

func drawWish(t *rapid.T) wish {
	w := wish{
		ExternalRefID:         draw(t, "wished ref", "", "asked"),
		APIID:                 draw(t, "wished API", "books", "films", ""),
		ApplicationID:         draw(t, "wished application", "", "app"),
		BillingCustomerID:     draw(t, "wished customer", "", "customer"),
		BillingSubscriptionID: draw(t, "wished billing", "", "billing"),
		Status:                draw(t, "wished status", "", "ACTIVE", "INACTIVE", "REVOKED"),
		Plan:                  planWish{ID: draw(t, "wished plan", "", "gold")},
	}
	switch draw(t, "plan problem", "", "", "gone", "pending") {
	case "gone":
		w.Plan = planWish{Problem: problemf(v1alpha1.ReasonPlanMissing, "gone")}
	case "pending":
		w.Plan = planWish{Problem: problemf(v1alpha1.ReasonPlanPending, "pending"), Pending: true}
	}
	switch draw(t, "API problem", "", "", "missing", "elsewhere") {
	case "missing":
		w.APIProblem = problemf(v1alpha1.ReasonAPIMissing, "missing")
	case "elsewhere":
		w.APIProblem = problemf(v1alpha1.ReasonRefused, "elsewhere")
	}
	return w
}

func drawHeld(t *rapid.T) func(string) bool {
	return heldIs(rapid.SliceOf(rapid.SampledFrom([]string{"asked", "a", "b", "c"})).Draw(t, "held")...)
}

func drawUpdateCase(t *rapid.T) updateCase {
	c := updateCase{
		Wish:           drawWish(t),
		Observed:       drawSubscription(t, "id"),
		Token:          draw(t, "token", tokenUnmanaged, tokenInForce, tokenChanged, tokenUnknown, tokenMissing),
		PlanPendingFor: draw(t, "pending for", 0, planPatience-1, planPatience, time.Hour),
		Rewritten:      rapid.Bool().Draw(t, "rewritten"),
		Lost:           rapid.Bool().Draw(t, "lost"),
		Legacy:         rapid.Bool().Draw(t, "legacy"),
		SentAlready:    rapid.Bool().Draw(t, "sent already"),
	}
	if c.Token == tokenMissing {
		c.TokenProblem = problemf(v1alpha1.ReasonTokenSecretMissing, "missing")
	}
	if draw(t, "moved", false, false, true) {
		c.Moved = problemf(v1alpha1.ReasonImmutableField, "moved")
	}
	if rapid.Bool().Draw(t, "illegal") {
		c.Identity = problemf(v1alpha1.ReasonImmutableField, "illegal")
	}
	if rapid.Bool().Draw(t, "stamp known") {
		c.KnownStamp = time.Unix(0, int64(draw(t, "stamp", 1, 2, 3))*int64(time.Millisecond))
	}
	return c
}

// contract: S1, S21, S22, S23, S24, S28, S29
func TestJudgeUpdateInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawUpdateCase(t)
		u := judgeUpdate(c)
		check := func(ok bool, rule string) {
			t.Helper()
			if !ok {
				t.Fatalf("%s:\n%+v gives\n%+v", rule, c, u)
			}
		}
		differs := c.Wish.Status != "" && c.Wish.Status != c.Observed.Status
		less := c.Wish.Status == "INACTIVE" || c.Wish.Status == "REVOKED"
		planDiffers := c.Wish.Plan.ID != c.Observed.SubscriptionPlanID
		stranded := c.Moved != nil || c.Identity != nil || c.Token == tokenMissing || c.Wish.APIProblem != nil && c.Wish.APIProblem.Reason != v1alpha1.ReasonAPIMissing
		waits := !stranded && c.Wish.Plan.Pending && !(less && c.PlanPendingFor >= planPatience)

		check(u.Action != actionFull || u.Problem == nil, "while a problem stands not everything is sent")
		check(u.Action != actionStatus || u.Problem != nil && differs, "the status goes out alone only if it differs and the rest cannot")
		check(!differs || !less || u.Action != actionNone || waits, "what takes access away is sent, unless a plan is about to be there")
		check(!differs || u.Action != actionNone || waits || c.Lost && !less || c.Moved != nil && !less, "so is what gives access, unless it does not last or it is in doubt what is meant")
		check(c.Moved == nil || u.Action == actionNone || u.Action == actionStatus && less, "under another name access is taken away, and nothing else is sent")
		check(c.Moved == nil || u.Problem == c.Moved, "another name is complained about")
		check(!stranded && c.Wish.Plan.Problem == nil || u.Problem != nil, "what cannot be is complained about")
		check(u.Waiting == waits, "only for a plan that is about to be there is there anything to wait for")
		check(!u.Foreign || !c.KnownStamp.IsZero() && !sameStamp(c.KnownStamp, c.Observed.UpdatedAt), "somebody else wrote only if the stamp is another one than the known one")
		check(!c.Legacy || !u.Foreign && (u.Action != actionFull || !c.SentAlready || differs && !planDiffers), "a legacy gateway is sent plan and token once")
		inForce := !stranded && c.Wish.Plan.Problem == nil && !differs && !planDiffers && (c.Token == tokenInForce || c.Token == tokenUnmanaged)
		check(!inForce || !c.KnownStamp.IsZero() && !sameStamp(c.KnownStamp, c.Observed.UpdatedAt) || reflect.DeepEqual(u, update{}), "nothing is done about what is in force")
		check(!reflect.DeepEqual(u, update{}) || inForce || !stranded && !differs && !planDiffers && c.Legacy && c.Token == tokenUnknown, "nothing is done only about what is in force")
		check(reflect.DeepEqual(u, judgeUpdate(c)), "the same is judged the same")

		// What was decided is done, and everybody else keeps still.
		after := c
		after.KnownStamp = time.Time{}
		switch u.Action {
		case actionFull:
			if after.Wish.Status != "" {
				after.Observed.Status = after.Wish.Status
			}
			if !c.Legacy {
				after.Observed.SubscriptionPlanID = after.Wish.Plan.ID
				if after.Token != tokenUnmanaged {
					after.Token = tokenInForce
				}
			}
			after.SentAlready = true
		case actionStatus:
			after.Observed.Status = after.Wish.Status
		case actionNone:
		}
		if next := judgeUpdate(after); next.Action != actionNone {
			t.Fatalf("one update is not enough:\n%+v gives\n%+v, and then\n%+v gives\n%+v", c, u, after, next)
		}
	})
}

// contract: S7, S8, S9, S10
func TestJudgeAdoptionInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listed := drawListed(t)
		c := adoptionCase{
			Policy:      draw(t, "policy", v1alpha1.SubscriptionAdoptIfUnique, v1alpha1.SubscriptionAdoptIfProven, v1alpha1.SubscriptionAdoptNever),
			Wish:        drawWish(t),
			AskedID:     "asked",
			Generation:  draw(t, "generation", connection.GenerationLegacy, connection.GenerationInPlace, connection.GenerationUnknown),
			AskedExists: rapid.Bool().Draw(t, "exists"),
			Listed:      listed, Held: drawHeld(t),
		}
		s, proof := judgeAdoption(c)
		check := func(ok bool, rule string) {
			t.Helper()
			if !ok {
				t.Fatalf("%s:\n%+v gives\n%+v, %t", rule, c, s, proof)
			}
		}
		check(s != nil || !proof, "there is nothing to prove without a candidate")
		again := c
		again.Listed = rapid.Permutation(listed).Draw(t, "other order")
		other, otherProof := judgeAdoption(again)
		check((s == nil) == (other == nil) && (s == nil || s.ID == other.ID) && proof == otherProof, "the order of a list means nothing")
		if s == nil {
			return
		}
		check(c.Policy != v1alpha1.SubscriptionAdoptNever, "Never adopts nothing")
		check(!c.Held(s.ID), "what is held is not adopted")
		check(describes(c.Wish, *s), "what does not fit is not adopted")
		check(strings.TrimSpace(s.ApplicationID) == c.Wish.ApplicationID, "a stranger's is not adopted")
		check(slices.ContainsFunc(listed, func(l gateway.Subscription) bool { return reflect.DeepEqual(l, *s) }), "it is one of those on the API")
		check(!proof || c.Generation == connection.GenerationInPlace && c.Wish.ExternalRefID == "" && !c.AskedExists, "a token proves something only where it must have been what collided")
		check(s.ID == c.AskedID || proof || c.Generation == connection.GenerationLegacy, "another ID needs proof, or a gateway that chooses IDs")
		check(s.ID == c.AskedID || c.Generation != connection.GenerationUnknown, "of a gateway of which nothing is known nothing is concluded")
		check(s.ID == c.AskedID || proof || c.Policy != v1alpha1.SubscriptionAdoptIfProven || len(listed) == 1, "IfProven leaves no doubt")
		same := 0
		for _, l := range listed {
			if strings.TrimSpace(l.ApplicationID) == c.Wish.ApplicationID {
				same++
			}
		}
		check(s.ID == c.AskedID || same == 1, "one of several is not adopted")
	})
}

// contract: S11
func TestJudgeAttemptInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &record.Attempt{
			AskedID:               "asked",
			AbsentBefore:          rapid.Bool().Draw(t, "absent before"),
			ApplicationID:         draw(t, "attempted application", "", "app"),
			PlanID:                draw(t, "attempted plan", "", "gold"),
			BillingCustomerID:     draw(t, "attempted customer", "", "customer"),
			BillingSubscriptionID: draw(t, "attempted billing", "", "billing"),
			Known: draw(t, "known", nil, []string{}, []string{"a"}, []string{"a", "b"},
				[]string{time.Unix(2, 0).UTC().Format(time.RFC3339Nano)}),
		}
		listed, inPlace, held := drawListed(t), rapid.Bool().Draw(t, "in place"), drawHeld(t)
		asked := time.Unix(rapid.Int64Range(0, 1000).Draw(t, "asked"), 0)
		s, p := judgeAttempt(a, asked, listed, inPlace, held)
		check := func(ok bool, rule string) {
			t.Helper()
			if !ok {
				t.Fatalf("%s:\n%+v among\n%+v, in place %t, gives\n%+v, %v", rule, a, listed, inPlace, s, p)
			}
		}
		other, otherP := judgeAttempt(a, asked, rapid.Permutation(listed).Draw(t, "other order"), inPlace, held)
		check((s == nil) == (other == nil) && (s == nil || s.ID == other.ID) && reflect.DeepEqual(p, otherP), "the order of a list means nothing")
		check(s == nil || p == nil, "what is found is no problem")
		check(p == nil || !inPlace && a.Known != nil, "only where the gateway chooses IDs is there doubt")
		check(p == nil || !strings.Contains(p.Message, "secret"), "of what others have nothing is told but IDs that may be ours")
		if s == nil {
			return
		}
		check(!held(s.ID), "what is held is not ours")
		check(!slices.Contains(a.Known, s.ID), "what was there before is not ours")
		check(s.ID != a.AskedID || a.AbsentBefore, "nor if it has the asked-for ID")
		check(s.ID == a.AskedID || !inPlace && a.Known != nil, "with another ID it is ours only where the gateway chooses them, and what was there is known")
		check(strings.TrimSpace(s.ApplicationID) == a.ApplicationID && s.SubscriptionPlanID == a.PlanID &&
			s.BillingCustomerID == a.BillingCustomerID && s.BillingSubscriptionID == a.BillingSubscriptionID, "it is what was asked for, in all that can be read")
	})
}

// contract: S7, S18, A5
func TestJudgeImportInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, listed, id := drawWish(t), drawListed(t), draw(t, "id", "asked", "a", "nowhere")
		s, p := judgeImport(w, id, listed)
		i := slices.IndexFunc(listed, func(s gateway.Subscription) bool { return s.ID == id })
		if fits := i >= 0 && describes(w, listed[i]); fits != (s != nil) || fits != (p == nil) {
			t.Fatalf("%+v, %q among %+v: %+v, %v", w, id, listed, s, p)
		}
		if s != nil && s.ID != id {
			t.Fatalf("%q was asked about, and %q is the answer", id, s.ID)
		}
		if p == nil {
			return
		}
		if _, missing := judgeImport(w, id, nil); *missing != *p {
			t.Fatalf("missing reads %v, and mismatching %v", missing, p)
		}
		if strings.Contains(p.Message, "secret") {
			t.Fatalf("the message tells what others have: %s", p.Message)
		}
	})
}

// Whether a wish describes a subscription does not depend on which of them has a
// value.
//
// contract: S7, S18
func TestDescribesIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := drawWish(t), drawSubscription(t, "id")
		mirroredWish := wish{
			ExternalRefID: s.ExternalRefID, ApplicationID: strings.TrimSpace(s.ApplicationID),
			BillingCustomerID: s.BillingCustomerID, BillingSubscriptionID: s.BillingSubscriptionID,
		}
		mirrored := gateway.Subscription{
			ExternalRefID: w.ExternalRefID, ApplicationID: w.ApplicationID,
			BillingCustomerID: w.BillingCustomerID, BillingSubscriptionID: w.BillingSubscriptionID,
		}
		if describes(w, s) != describes(mirroredWish, mirrored) {
			t.Fatalf("%+v and %+v", w, s)
		}
		if !describes(mirroredWish, s) {
			t.Fatalf("%+v is not described by what it is", s)
		}
	})
}

// contract: S15, S16, S17
func TestJudgeIdentityInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, got := drawWish(t), drawSubscription(t, "id")
		b := &record.Baseline{
			Fields:          present(drawWish(t).fields()),
			LateInitialized: rapid.SliceOfDistinct(rapid.SampledFrom(immutableFields()), func(s string) string { return s }).Draw(t, "late"),
		}
		p := judgeIdentity(b, w, &got)
		if p != nil && strings.Contains(p.Message, "secret") {
			t.Fatalf("the message tells what only the gateway knows: %s", p.Message)
		}
		if again := judgeIdentity(b, w, &got); !reflect.DeepEqual(p, again) {
			t.Fatalf("%v, and then %v", p, again)
		}
		if same := judgeIdentity(b, wish{}.held(b), &got); same != nil {
			t.Fatalf("what is held is not what it is: %v", same)
		}
		legal := true
		reported := map[string]string{
			fieldExternalRefID: got.ExternalRefID, fieldApplicationID: strings.TrimSpace(got.ApplicationID),
			fieldBillingCustomerID: got.BillingCustomerID, fieldBillingSubscriptionID: got.BillingSubscriptionID,
		}
		for f, is := range w.fields() {
			was := b.Fields[f]
			legal = legal && (is == was || is == "" && (f == fieldAPIID || slices.Contains(b.LateInitialized, f)) || was == "" && is == reported[f])
		}
		if legal != (p == nil) {
			t.Fatalf("%+v after %+v, reported %+v: %v", w, b, got, p)
		}
	})
}

// What a later attempt may have created is not taken for the result of an earlier
// one, and nothing else is left out.
//
// contract: S11, S12
func TestWithoutResultsOfInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listed := drawListed(t)
		a := &record.Attempt{AskedID: "asked"}
		var later []*record.Attempt
		for range rapid.IntRange(0, 2).Draw(t, "later attempts") {
			later = append(later, &record.Attempt{Known: draw(t, "known", nil, []string{}, []string{"a"}, []string{"a", "b", "c"})})
		}
		kept := withoutResultsOf(later, a, listed)
		for _, s := range listed {
			isNew := false
			for _, o := range later {
				isNew = isNew || o.Known != nil && !slices.Contains(o.Known, s.ID)
			}
			is := slices.ContainsFunc(kept, func(k gateway.Subscription) bool { return reflect.DeepEqual(k, s) })
			if want := s.ID == "asked" || !isNew; is != want {
				t.Fatalf("%+v is kept: %t, want %t", s, is, want)
			}
		}
		if len(later) == 0 && !reflect.DeepEqual(kept, listed) && len(listed) > 0 {
			t.Fatalf("%+v, and then %+v", listed, kept)
		}
	})
}

// contract: S26, S27
func TestJudgeTokenInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		c := tokenCase{Deployed: flag("deployed"), Generated: flag("generated"), Missing: flag("missing"), Known: flag("known"), Comparable: flag("comparable")}
		c.RotationAsked, c.Equal = c.Generated && flag("rotation"), c.Comparable && !c.Missing && flag("equal")
		s, rotate := judgeToken(c)
		check := func(ok bool, rule string) {
			t.Helper()
			if !ok {
				t.Fatalf("%s: %+v gives %d, %t", rule, c, s, rotate)
			}
		}
		check(!rotate || c.Generated, "a token that is the user's is never made here")
		check(!rotate || c.RotationAsked || c.Missing, "nor is one replaced for no reason")
		check(!rotate || c.RotationAsked || c.Known || !c.Deployed, "nor that of an import")
		check(rotate || !c.RotationAsked, "a rotation that is asked for is done")
		check((s == tokenMissing) == (c.Missing && !c.Generated), "a token is missing only if the user has to bring it")
		check(s != tokenInForce || c.Comparable && c.Equal, "it is in force only if it is the one that was applied")
		check(s != tokenUnmanaged || c.Deployed && c.Generated && c.Missing && !c.Known, "none is managed only for an import")
	})
}
