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

package main

// mutants are all that are tried. Each disables one guard, as a careless change
// might.
func mutants() []mutant {
	const controller = "internal/controller/"
	in := func(kind, name, promise, file, old, replacement string) mutant {
		return mutant{name: name, promise: promise, file: controller + kind + "/" + file, old: old, new: replacement}
	}
	observation := func(name, file, old, replacement string) mutant {
		return mutant{name: name, promise: "A10", file: "internal/observation/" + file, old: old, new: replacement}
	}
	subscription := func(name, promise, file, old, replacement string) mutant {
		return in("subscription", name, promise, file, old, replacement)
	}
	return []mutant{
		subscription("ownership-check", "S7", "others.go",
			`if o.Same(h) &&`, `if false && o.Same(h) &&`),
		subscription("loser-acts", "S12", "others.go",
			`return ownership.Loses(holderOf(cr, h, e.now()), others, e.incumbents.Of(h))`, `return false`),
		subscription("incumbent", "S12", "observe.go",
			`	e.incumbents.Saw(cr.GetUID(), recordedIn(e.baseline))
`, ``),
		subscription("another-place", "S12", "others.go",
			`	return ownership.LosesAt(is.Endpoint, got.CreatedAt, self, others, e.incumbents.Of), nil
`, `	return ownership.LosesAt(is.Endpoint, got.CreatedAt, self, others[:0], e.incumbents.Of), nil
`),
		subscription("bare-record", "S11", "others.go",
			`	if here := was.Endpoint == is.Endpoint; !self.HasSeen(got.CreatedAt) && !(here && (self.Reported || e.incumbents.Of(was) == cr.GetUID())) {
`, `	if self.UID == "" {
`),
		subscription("vouched-for", "A5", "others.go",
			`	v := cr.Status.CreateAttempt
	return v != nil && v.Endpoint == e.at.Endpoint
`, `	a, _ := record.ReadAttempt(cr)
	return a != nil && a.Endpoint == e.at.Endpoint
`),
		subscription("earned-elsewhere", "A5", "others.go",
			`(o.Endpoint == h.Endpoint || o.HasSeen(h.Began) || !proven && !(asked && o.BorneOut()))`, `(proven || asked || true)`),
		subscription("blank-cheque", "S12", "holders.go",
			`	case v.ID == h.ID:
		return true
	}
	// The gateway`, `	case v.Endpoint == h.Endpoint:
		return true
	}
	// The gateway`),
		subscription("other-name", "S11", "observe.go",
			`	return a != nil && a.Endpoint != e.at.Endpoint
`, `	return a != nil && a.Endpoint == ""
`),
		subscription("vouched-unsent", "S11", "observe.go",
			`	e.attempt = &a
	return nil
`, `	e.attempt = &a
	return kind.Vouch(ctx, e.kube, cr, &cr.Status.CreateAttempt, e.now())
`),
		subscription("turn-in-advance", "S11", "turns.go",
			`if before || e.turns.taken(cr.GetUID(), e.turn(), e.awaited) {`, `if before || !e.turns.take(cr.GetUID(), e.turn(), e.awaited, e.at.TooLateFor(e.now())) {`),
		subscription("vouched-anyway", "S11", "create.go",
			`	if err := kind.Vouch(ctx, e.kube, cr, &cr.Status.CreateAttempt, e.now()); err != nil {
		return false, err
	}
`, `	if err := kind.Vouch(ctx, e.kube, cr, &cr.Status.CreateAttempt, e.now()); err != nil {
		e.pending = true
		return false, err
	}
`),
		subscription("waits-for-ever", "S11", "others.go",
			`return !late.Before(sentAt(cr)) && e.now().Before(patience)`, `return !patience.IsZero()`),
		in("subscriptionplan", "plan-vouched-unsent", "A11", "create.go",
			`		if !unanswered(e.found.attempt, e.at.Endpoint) {
			refused(mg)
			e.release(mg)
		}
		return managed.ExternalCreation{}, err
	}
	got, err`, `		v := record.Vouch(mg)
		mg.Status.CreateAttempt = v
		return managed.ExternalCreation{}, err
	}
	got, err`),
		subscription("lost-unseen", "S12", "others.go",
			`	if self.Reported || self.Since == nil {
		return true, nil
	}
`, `	if self.UID != "" {
		return true, nil
	}
`),
		subscription("released-unseen", "S12", "observe.go",
			`if !e.attemptOpen() && !e.confirming {`, `if !e.attemptOpen() {`),
		subscription("observed-by-record", "S12", "others.go",
			`	if !reports(cr, h) {
		return e.heldByOther`, `	if h.ID != "" {
		return e.heldByOther`),
		subscription("elsewhere-for-ever", "S12", "others.go",
			`if !e.vouchedHere(o) && e.recordsHere(s.ID) && record.Stale(o.Status.CreateAttempt, e.now()) {`, `if !e.vouchedHere(o) && e.recordsHere(s.ID) && o.UID == "" {`),
		{
			name: "reported-as-vouched", promise: "S12", file: "internal/ownership/ownership.go",
			old: `		case here && h.Reported:
			return 4
`, new: `		case here && h.Reported:
			return 3
`,
			by: tests{folder: controller + "subscription", pattern: "^TestReportedBesideVouched$"},
		},
		subscription("told-to-anybody", "A5", "attempt.go",
			`	case p != nil && !vouched:`, `	case p != nil && vouched && false:`),
		{
			name: "any-time", promise: "S12", file: "internal/record/record.go",
			old: `(v.Time == nil || created.IsZero() || created.Sub(v.Time.Time).Abs() <= near)`, new: `near > 0`,
			// Its own tests hold what it answers; these hold what that is good for.
			by: tests{folder: controller + "subscription", pattern: "^(TestVouchedFor|TestOldAttemptBlocksNoImport)$"},
		},
		subscription("record-taken-away", "S17", "baseline.go",
			`	if !madeOrAdopted(cr) {
		b.LateInitialized = append(b.LateInitialized, fieldStatus)
	}
`, ``),
		subscription("record-taken-away-at-once", "S17", "baseline.go",
			`(cr.Status.Deployed || madeOrAdopted(cr) && !attempts(cr))`, `cr.Status.Deployed`),
		subscription("made-long-after", "S11", "attempt.go",
			`!record.Near(sent, s.CreatedAt)`, `sent == nil`),
		subscription("api-missing-while-open", "S11", "attempt.go",
			`a.APIID == "" || a.APIID != e.wish.APIID ||`, `a.APIID == "" || a.APIID != "" ||`),
		subscription("respelled-while-open", "S11", "observe.go",
			`		e.unanswered = true
	}

	if p := e.wish.APIProblem`, `	}

	if p := e.wish.APIProblem`),
		subscription("left-behind-unsaid", "S33", "observe.go",
			`	if e.attemptElsewhere(cr) {
		e.recorder.Event(`, `	if e.baseline == nil && e.baseline != nil {
		e.recorder.Event(`),
		subscription("token-memory", "S26", "token.go",
			`!legacy && !sameStamp(s.CreatedAt, s.UpdatedAt)`, `!legacy && s.ID == ""`),
		{
			name: "reservation", promise: "S12", file: "internal/ownership/ownership.go",
			old: `			return o.uid == uid
`, new: `			return true
`,
		},
		{
			name: "claim-for-ever", promise: "S11", file: "internal/ownership/ownership.go",
			old: `return now.After(c.until)`, new: `return now.IsZero()`,
		},
		subscription("baseline-facts", "S17", "baseline.go",
			`return s.APIID == b.APIInternalID && strings.TrimSpace(s.ApplicationID) == b.Fields[fieldApplicationID]`, `return true`),
		subscription("baseline-fields", "S15", "decide.go",
			`		case is == was:
`, `		case is == was, true:
`),
		subscription("import-check", "S18", "decide.go",
			`if i >= 0 && describes(w, listed[i]) {`, `if i >= 0 {`),
		subscription("status-first", "S23", "decide.go",
			`		if statusDiffers {
			u.Action = actionStatus
		}
		return u
`, `		return u
`),
		subscription("attempt-record", "S11", "observe.go",
			`return e.attempt != nil && e.attempt.Outcome == record.Open && e.attempt.Endpoint == e.at.Endpoint`, `return false`),
		subscription("absent-before", "S11", "decide.go",
			`			if a.AbsentBefore {
				return &listed[i], nil
			}
`, `			return &listed[i], nil
`),
		subscription("token-proof", "S8", "decide.go",
			`		return only, true
`, `		return only, false
`),
		subscription("token-trim", "S26", "token.go",
			`value := strings.TrimSpace(string(raw))`, `value := string(raw)`),
		subscription("adoption-policy", "S10", "decide.go",
			`	if c.Policy == v1alpha1.SubscriptionAdoptNever {
		return nil, false
	}
`, ``),
		subscription("late-commit", "S33", "delete.go",
			`if wait := e.at.TooLate(cr, cr.Status.CreateAttempt, e.now()).Sub(e.now()); wait > 0 {`, `if wait := e.at.TooLate(cr, cr.Status.CreateAttempt, e.now()).Sub(e.now()); wait < 0 {`),
		subscription("gateway-changed", "S36", "decide.go",
			`	if at.Accepted || at.Recorded(b.Endpoint, b.GatewayID) {
		return nil
	}
`, `	if at.Timeout >= 0 {
		return nil
	}
`),
		subscription("foreign-writes", "S22", "decide.go",
			`foreign := !c.KnownStamp.IsZero() && !sameStamp(c.KnownStamp, c.Observed.UpdatedAt)`, `foreign := false`),
		subscription("legacy-loop", "S28", "decide.go",
			`		if c.SentAlready {
			return statusOnly(legacyProblem(planDiffers, tokenDiffers))
		}
`, ``),
		subscription("token-before-post", "S27", "observe.go",
			`	if err := e.publishBeforeCreate(ctx, cr); err != nil {
		return err
	}
`, `	if e.tokenNow.rotate {
		e.tokenNow.value, e.tokenNow.rotate = generate(), false
	}
`),
		subscription("missing-api", "A3", "missing.go",
			`!ok || now.Sub(asked) < maxAge {`, `!ok || now.Before(asked) {`),
		observation("too-old", "observation.go",
			`return order > q.asked || r.o.Clock.Since(began) <= q.maxAge`, `return order > 0 || r.o.Clock.Since(began) <= q.maxAge`),
		observation("older-than-write", "observation.go",
			`return w == nil || w.under == 0 && w.ended < order`, `return w == nil || order > 0`),
		observation("list-each", "request.go",
			`if r.listing == nil {`, `if r.listing == nil || true {`),
		observation("get-each", "request.go",
			`ok && r.joinable(id, g) {`, `ok && r.joinable(id, g) && false {`),
		observation("failed-is-empty", "request.go",
			`	if err != nil {
		r.failed(l.order, err, r.all())
	} else {
`, `	{
`),
		observation("lacked-is-there", "observation.go",
			`func (e *entry[T]) doubtful() bool { return e.value != nil && e.order < e.lacked }`, `func (e *entry[T]) doubtful() bool { return false }`),
		observation("always-list", "observation.go",
			`case e.lacks() && e.failures == 0, r.single():`, `case e.lacks() && e.failures == 0:`),
		observation("wake-all", "refresh.go",
			`	case is == seen, seen.value != nil && is.value != nil && r.source.Same(seen.value, is.value):
		i.seen`, `	case seen.value == nil && is.value == nil:
		i.seen`),
		observation("wake-nobody", "refresh.go",
			`	return Changed
}`, `	return ""
}`),
		observation("silent-failure", "refresh.go",
			`e.turn, e.turned = Unreadable, at`, `e.turn, e.turned = "", at`),
		in("kind", "look-closer", "A10", "connect.go",
			`if err == nil && o.ResourceExists && !o.ResourceUpToDate && !o.ResourceLateInitialized {`, `if err != nil {`),
		in("kind", "stale-idle", "A10", "look.go",
			`isTrue(xpv2.TypeReady) && isTrue(gatewayv1alpha1.TypeApplied)`, `isTrue(xpv2.TypeReady)`),
		in("restapi", "mark", "R2", "decide.go",
			`	case s.mark == unmarked && (s.preset || s.takeover):
`, `	case !s.heldHere:
`),
		in("restapi", "handle-of-gone-api", "R2", "decide.go",
			`	case s.heldHere:
		// It is about`, `	case false:
		// It is about`),
		in("restapi", "api-by-another-name", "R2", "observe.go",
			`(h.Same(what) || h.Reported && sawCreated(o, got))`, `h.Same(what)`),
		in("restapi", "api-refused-while-open", "S33", "create.go",
			`!gateway.MayHaveBeenApplied(err) && !e.found.pending {`, `!gateway.MayHaveBeenApplied(err) {`),
		in("subscriptionplan", "plan-refused-while-open", "S33", "create.go",
			`!gateway.MayHaveBeenApplied(err) && !e.found.pending {`, `!gateway.MayHaveBeenApplied(err) {`),
		in("subscriptionplan", "plan-made-long-after", "P1", "holders.go",
			`got != nil && record.Near(record.LastSent(mg, v), got.CreatedAt)`, `got != nil`),
		in("subscriptionplan", "plan-looks-first", "P1", "others.go",
			`!ownership.Older(o, mg) || meta.IsPaused(o) ||`, `!ownership.Older(o, mg) ||`),
		in("subscriptionplan", "plan-adoption", "P1", "decide.go",
			`	case s.heldByOther, s.found == byName && !s.adopt:
`, `	case s.heldByOther:
`),
		in("kind", "hold", "A3", "reconcile.go",
			`if wait, held := r.holds.remaining(uid, causes, r.clock.Now()); held {`, `if wait, held := r.holds.remaining(uid, causes, r.clock.Now()); held && false {`),
		in("kind", "slow-api-server", "A4", "lanes.go",
			`return w.under > 0 && now.Sub(w.began) > d`, `return now.Sub(w.began) > d`),
		in("kind", "limit-in-debt", "A4", "pace.go",
			`		// The limit is on what is done.
		p.granted.Insert(req)
`, ``),
		in("providerconfig", "users-at-once", "A10", "setup.go",
			`q.AddAfter(r, lag)`, `q.AddAfter(r, 0)`),
		{
			name: "own-writes", promise: "S27", file: controller + "kind/client.go",
			old: `return err == nil && c < 0`, new: `return false && err == nil && c < 0`,
			// Its own tests hold what it answers; this holds what that is good for.
			by: tests{folder: "test/crash", pattern: "TestStumble/RotateGeneratedToken/InPlace"},
		},
	}
}
