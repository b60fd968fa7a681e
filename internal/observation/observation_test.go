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

package observation

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

// Nothing older than the interval is served, nor older than is asked for.
//
// contract: A10
func TestNothingOlderIsServed(t *testing.T) {
	cases := map[string]struct {
		reason string
		// took is how long the list took, and after how long ago it was answered.
		took, after time.Duration
		need        Need
		want        []string
	}{
		"Young":         {"What is not older than the interval is served.", 0, interval, Need{}, nil},
		"Old":           {"What is older is not.", 0, interval + 1, Need{}, []string{"list"}},
		"Slow":          {"Age counts from when the request began.", 20 * time.Second, 10*time.Second + 1, Need{}, []string{"list"}},
		"MaxAge":        {"Who needs it younger gets it younger.", 0, 5*time.Second + 1, Need{MaxAge: 5 * time.Second}, []string{"list"}},
		"WithinMaxAge":  {"Which it may be.", 0, 5 * time.Second, Need{MaxAge: 5 * time.Second}, nil},
		"LongMaxAge":    {"Who could do with an older one gets none.", 0, interval + 1, Need{MaxAge: time.Hour}, []string{"list"}},
		"Urgent":        {"Who is in a hurry is served what is young.", 0, interval, urgent, nil},
		"UrgentOld":     {"But nothing older.", 0, interval + 1, urgent, []string{"get a"}},
		"UrgentYounger": {"Nor than it needs.", 0, 5*time.Second + 1, Need{MaxAge: 5 * time.Second, Urgent: true}, []string{"get a"}},
	}
	for name, tc := range cases {
		t.Run(name, story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			first := w.asking(t.Context(), "x", "a", Need{})
			l := w.only()
			a := w.read(l)
			w.after(tc.took)
			w.give(l, a)
			want(t, "The first one is served.", "a=1", answered(first))
			w.holding(false)
			w.wantCalls("The first one takes a list.", "list")
			w.put(thing{ID: "a", Value: 2})
			w.after(tc.after)
			served := "a=1"
			if tc.want != nil {
				served = "a=2"
			}
			want(t, tc.reason, served, w.get("x", "a", tc.need))
			w.wantCalls(tc.reason, tc.want...)
		}))
	}
}

// However long a request takes, who asked before it began is served its answer: there
// would be none for anybody at a slow gateway otherwise.
func TestWhoAskedBeforeIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.holding(true)
		before := w.asking(t.Context(), "x", "a", Need{})
		l := w.only()
		w.after(time.Second)
		during := w.asking(t.Context(), "y", "a", Need{})
		a := w.read(l)
		w.after(interval)
		w.give(l, a)
		want(t, "It asked before.", "a=1", answered(before))
		want(t, "It asked afterwards.", "waiting", answered(during))
		l = w.only()
		w.give(l, w.read(l))
		want(t, "So it is read again.", "a=1", answered(during))
		w.wantCalls("One after the other.", "list", "list")
	})
}

func TestRefreshIsDueBeforeAnybodyHasToWait(t *testing.T) {
	for random, due := range map[float64]time.Duration{0: 22500 * time.Millisecond, 0.5: 23250 * time.Millisecond, 1: 24 * time.Second} {
		t.Run(fmt.Sprint(random), story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a"})
			w.r.o.Random = func() float64 { return random }
			w.get("x", "a", Need{})
			w.wantCalls("It is read for who asks.", "list")
			w.after(due - 1)
			w.refresh()
			w.wantCalls("It is not due.")
			w.after(1)
			w.refresh()
			w.wantCalls("It is due.", "list")
			w.after(interval)
			w.get("x", "a", Need{})
			w.wantCalls("So nobody waits for as long as an interval.")
			w.refresh()
			w.wantCalls("It is due again.", "list")
		}))
	}
}

// listing is a world in which x looks at a, and a list is under way.
func listing(t *testing.T, is thing) (*world, *call) {
	t.Helper()
	w := newWorld(t, is)
	w.get("x", is.ID, Need{})
	w.holding(true)
	w.after(24 * time.Second)
	go w.refresh()
	return w, w.only()
}

// What is served is never older than the last write to it.
//
// contract: A10, S30
func TestReadYourWrites(t *testing.T) {
	t.Run("AfterAWrite", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		w.calls = nil
		w.write(thing{ID: "a", Value: 2})
		want(t, "A write is seen.", "a=2", w.get("x", "a", Need{}))
		w.wantCalls("By a read of the object.", "get a")
		want(t, "It is served from then on.", "a=2", w.get("x", "a", Need{}))
		want(t, "Other objects are not concerned.", "b=1", w.get("y", "b", Need{}))
		w.wantCalls("Without a call.")
		w.after(interval + 1)
		w.get("x", "a", Need{})
		w.wantCalls("As long as it is young.", "list")
	}))
	t.Run("DuringAWrite", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		done := w.r.Writing("a")
		w.calls = nil
		want(t, "Nobody knows whether it is written.", "a=1", w.get("x", "a", Need{}))
		w.put(thing{ID: "a", Value: 2})
		want(t, "Or what was read says so.", "a=2", w.get("x", "a", Need{}))
		w.wantCalls("So it is read each time.", "get a", "get a")
		done()
		done()
		w.get("x", "a", Need{})
		w.get("x", "a", Need{})
		w.wantCalls("Once more after the end.", "get a")
	}))
	t.Run("DuringAWriteTooOld", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		done := w.r.Writing("a")
		defer done()
		w.holding(true)
		before := w.asking(t.Context(), "x", "a", urgent)
		g := w.only()
		w.after(interval + 1)
		during := w.asking(t.Context(), "y", "a", urgent)
		w.give(g, w.read(g))
		want(t, "It asked before.", "a=1", answered(before))
		want(t, "It asked when this was too old.", "waiting", answered(during))
		g = w.only()
		w.give(g, w.read(g))
		want(t, "So it is read again.", "a=1", answered(during))
	}))
	t.Run("DuringAWriteUnheardOf", story(func(t *testing.T) {
		w := newWorld(t)
		done := w.r.Writing("a")
		w.put(thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		w.remove("a")
		done()
		w.refresh()
		w.wantWoken("What was served meanwhile is what x knows.", "vanished x")
	}))
	t.Run("TwoWrites", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		one, two := w.r.Writing("a"), w.r.Writing("a")
		one()
		one()
		w.calls = nil
		w.get("x", "a", Need{})
		w.get("x", "a", Need{})
		w.wantCalls("The other one is under way.", "get a", "get a")
		two()
	}))
	t.Run("ListThatBeganBefore", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.holding(true)
		a, b := w.asking(t.Context(), "x", "a", Need{}), w.asking(t.Context(), "y", "b", Need{})
		l := w.only()
		old := w.read(l)
		w.write(thing{ID: "a", Value: 2})
		w.give(l, old)
		want(t, "It says nothing about what was written.", "waiting", answered(a))
		want(t, "It does about others.", "b=1", answered(b))
		g := w.only()
		w.give(g, w.read(g))
		want(t, "The object itself does.", "a=2", answered(a))
		w.wantCalls("With a read of it.", "list", "get a")
	}))
	t.Run("ListThatBeganBeforeAndComesAfter", story(func(t *testing.T) {
		w, l := listing(t, thing{ID: "a", Value: 1})
		old := w.read(l)
		w.write(thing{ID: "a", Value: 2})
		w.holding(false)
		w.get("x", "a", Need{})
		w.give(l, old)
		want(t, "It does not replace what is newer.", "a=2", w.get("x", "a", Need{}))
		w.wantWoken("It wakes nobody.")
		w.wantCalls("It was read once.", "list", "list", "get a")
	}))
	t.Run("ListOlderThanARead", story(func(t *testing.T) {
		w, l := listing(t, thing{ID: "a", Value: 1})
		old := w.read(l)
		w.put(thing{ID: "a", Value: 2})
		w.holding(false)
		w.get("x", "a", Need{MaxAge: time.Second, Urgent: true})
		w.give(l, old)
		want(t, "It does not replace what is newer, whoever wrote it.", "a=2", w.get("x", "a", Need{}))
		w.wantWoken("It wakes nobody.")
	}))
	t.Run("ReadThatBeganBefore", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.holding(true)
		before := w.asking(t.Context(), "x", "a", urgent)
		old := w.only()
		stale := w.read(old)
		w.write(thing{ID: "a", Value: 2})
		after := w.asking(t.Context(), "y", "a", urgent)
		held := w.under()
		if len(held) != 2 {
			t.Fatalf("who asks after the write joins what began before: %d calls", len(held))
		}
		w.give(old, stale)
		want(t, "It may be outdated.", "waiting", answered(before))
		w.give(held[1], w.read(held[1]))
		want(t, "This is not.", "a=2", answered(after))
		want(t, "It does for both.", "a=2", answered(before))
		w.wantCalls("There was no third.", "get a", "get a")
	}))
	t.Run("WriteBeforeAnybodyAsks", story(func(t *testing.T) {
		w := newWorld(t)
		w.holding(true)
		other := w.asking(t.Context(), "y", "b", Need{})
		l := w.only()
		old := w.read(l)
		w.write(thing{ID: "a", Value: 1})
		created := w.asking(t.Context(), "x", "a", Need{})
		w.give(l, old)
		for _, c := range w.under() {
			w.give(c, w.read(c))
		}
		want(t, "A list from before does not hide what was created.", "a=1", answered(created))
		want(t, "What is not there is not.", "no such object", answered(other))
	}))
}

// Who reads at the same time shares a request.
//
// contract: A10
func TestReadersShareARequest(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		need   Need
		call   string
	}{
		"List": {"A hundred are served by one list.", Need{}, "list"},
		"Get":  {"A hundred in a hurry are served by one read.", urgent, "get a"},
	} {
		t.Run(name, story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			var answers []chan string
			for n := range 100 {
				answers = append(answers, w.asking(t.Context(), fmt.Sprint(n), "a", tc.need))
			}
			c := w.only()
			w.give(c, w.read(c))
			for _, a := range answers {
				want(t, tc.reason, "a=1", answered(a))
			}
			w.wantCalls(tc.reason, tc.call)
		}))
		t.Run(name+"WhoGivesUp", story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			ctx, cancel := context.WithCancel(t.Context())
			first, second := w.asking(ctx, "x", "a", tc.need), w.asking(t.Context(), "y", "a", tc.need)
			cancel()
			want(t, "Who gives up waits no longer.", "context canceled", answered(first))
			c := w.only()
			w.give(c, w.read(c))
			want(t, "Who does not is served.", "a=1", answered(second))
			w.wantCalls("By the same request.", tc.call)
		}))
		t.Run(name+"AllGiveUp", story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			ctx, cancel := context.WithCancel(t.Context())
			first, second := w.asking(ctx, "x", "a", tc.need), w.asking(ctx, "y", "a", tc.need)
			c := w.only()
			w.after(10 * time.Second)
			cancel()
			want(t, "Who gives up waits no longer.", "context canceled", answered(first))
			want(t, "Who gives up waits no longer.", "context canceled", answered(second))
			if c.ctx.Err() == nil {
				t.Error("A request ends when nobody waits for it.")
			}
			w.holding(false)
			want(t, "To be given up is no failure.", "a=1", w.get("x", "a", tc.need))
			w.wantCalls("It is asked again.", tc.call, tc.call)
		}))
		t.Run(name+"NobodyLeft", story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			want(t, "Who has given up asks nothing.", "context canceled", show(w.r.Get(ctx, named("x"), "a", tc.need)))
			w.wantCalls("There is no call.")
		}))
	}
}

// A source that does not end when it is told to changes nothing any more.
func TestWhatWasGivenUpChangesNothing(t *testing.T) {
	for name, need := range map[string]Need{"List": {}, "Get": urgent} {
		t.Run(name, story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			w.deaf = true
			ctx, cancel := context.WithCancel(t.Context())
			_ = w.asking(ctx, "x", "a", need)
			old := w.only()
			stale := w.read(old)
			cancel()
			synctest.Wait()
			w.r.Forget(named("x"))
			w.write(thing{ID: "a", Value: 2})
			_ = w.asking(t.Context(), "y", "a", need)
			w.give(old, stale)
			again := w.only()
			late := w.asking(t.Context(), "z", "a", need)
			w.give(again, w.read(again))
			want(t, "It is from before a write.", "a=2", answered(late))
		}))
	}
}

func TestNoAnswerIsAFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration
		want   string
		calls  []string
	}{
		"Long":  {"A gateway that does not answer is asked no more for a while.", 5 * time.Second, "no answer within 5s: context deadline exceeded", []string{"list"}},
		"Short": {"Who had no time says nothing about the gateway.", 5*time.Second - 1, "a=1", []string{"list", "list"}},
	} {
		t.Run(name, story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1})
			w.holding(true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			a := w.asking(ctx, "x", "a", Need{})
			w.only()
			w.after(tc.after)
			<-ctx.Done()
			want(t, "The time is over.", "context deadline exceeded", answered(a))
			w.holding(false)
			want(t, tc.reason, tc.want, w.get("y", "a", Need{}))
			w.wantCalls(tc.reason, tc.calls...)
		}))
	}
}

// A list that fails is an error for all and forgets nothing.
//
// contract: A4, A10
func TestAFailedListIsAnError(t *testing.T) {
	t.Run("Nothing", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.failing(errDown)
		want(t, "A list that failed is not an empty one.", "gateway down", w.get("x", "a", Need{}))
		w.failing(nil)
		want(t, "Others get the same error.", "gateway down", w.get("y", "b", Need{}))
		w.after(5*time.Second - 1)
		want(t, "For a while.", "gateway down", w.get("x", "a", Need{}))
		w.refresh()
		w.wantCalls("In which there is no call.", "list")
		want(t, "Who is in a hurry does not get the error.", "b=1", w.get("y", "b", urgent))
		w.wantCalls("But the object.", "get b")
		w.after(1)
		want(t, "Then it is tried again.", "a=1", w.get("x", "a", Need{}))
		w.wantCalls("By whoever asks.", "list")
	}))
	t.Run("Refresh", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.failing(errDown)
		w.get("x", "a", Need{})
		w.after(5*time.Second - 1)
		w.refresh()
		w.wantCalls("It is too soon.", "list")
		w.after(1)
		w.refresh()
		w.wantCalls("It is not.", "list")
		w.refresh()
		w.wantCalls("It is again.")
	}))
	t.Run("BeforeItWasDue", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		w.failing(errDown)
		w.after(6 * time.Second)
		w.get("x", "a", Need{MaxAge: time.Second})
		w.wantCalls("It fails.", "list", "list")
		w.after(5 * time.Second)
		w.refresh()
		w.wantCalls("It is tried again after the pause, whenever it would have been due.", "list")
	}))
	t.Run("Absent", story(func(t *testing.T) {
		w := newWorld(t)
		w.get("x", "a", Need{})
		w.after(24 * time.Second)
		w.failing(errDown)
		w.calls = nil
		for range 2 {
			w.refresh()
			w.after(5 * time.Second)
		}
		want(t, "What a list lacked is no exception.", "gateway down", w.get("x", "a", Need{}))
		w.wantCalls("It is the list that is tried.", "list", "list", "list")
	}))
	t.Run("ShortInterval", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.r.o.Interval = 3 * time.Second
		w.failing(errDown)
		w.get("x", "a", Need{})
		w.after(time.Second - 1)
		w.refresh()
		w.wantCalls("There is always a second in between.", "list")
		w.after(1)
		w.refresh()
		w.wantCalls("Not more.", "list")
	}))
	t.Run("WhatWasKnown", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		w.get("y", "b", Need{})
		w.failing(errDown)
		w.after(24 * time.Second)
		w.refresh()
		want(t, "One failure makes nothing older than it is.", "a=1", w.get("x", "a", Need{}))
		w.after(5 * time.Second)
		w.refresh()
		want(t, "A second one makes it an error, as who was woken is to see.", "gateway down", w.get("x", "a", Need{}))
		want(t, "Unless one is in a hurry.", "a=1", w.get("x", "a", urgent))
		w.put(thing{ID: "a", Value: 2})
		w.woken = nil
		w.failing(nil)
		w.after(time.Minute)
		w.refresh()
		w.wantWoken("What changed in between is noticed.", "changed x", "readable y")
	}))
}

// What a list lacks is gone only once the gateway says so of itself.
//
// contract: A10, S30
func TestAbsentFromAListIsNoAnswer(t *testing.T) {
	t.Run("Absent", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "b"})
		want(t, "Only the object itself says so.", "no such object", w.get("x", "a", Need{}))
		w.wantCalls("So it is asked for.", "list", "get a")
		if _, err := w.r.Get(t.Context(), named("y"), "a", Need{}); err != errAbsent { //nolint:errorlint // It is to be the very error.
			t.Errorf("the error is another one: %v", err)
		}
		w.after(24 * time.Second)
		w.refresh()
		w.wantCalls("Not for each who asks.", "list")
		want(t, "The proof is served as any reading.", "no such object", w.get("x", "a", Need{}))
		w.wantCalls("Without a call.")
		w.after(6*time.Second + 1)
		want(t, "As long as it is young.", "no such object", w.get("x", "a", Need{}))
		want(t, "Once per interval.", "no such object", w.get("y", "a", Need{}))
		w.wantCalls("No list is needed.", "get a")
	}))
	t.Run("NotAtAll", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b"})
		w.get("x", "a", Need{})
		w.after(24 * time.Second)
		w.holding(true)
		go w.refresh()
		l := w.only()
		w.give(l, answer{items: []thing{{ID: "b"}}})
		w.wantWoken("The list lacks it.", "vanished x")
		w.holding(false)
		w.calls = nil
		want(t, "But it is there.", "a=1", w.get("x", "a", Need{}))
		want(t, "Which is served.", "a=1", w.get("x", "a", Need{}))
		w.wantCalls("As it was asked for.", "get a")
		w.after(24 * time.Second)
		w.holding(true)
		go w.refresh()
		l = w.only()
		w.give(l, answer{items: []thing{{ID: "b"}}})
		w.wantWoken("It may have been created and deleted since the last one.", "vanished x")
		w.holding(false)
		w.calls = nil
		want(t, "It was not.", "a=1", w.get("x", "a", Need{}))
		w.wantCalls("As it was asked for.", "get a")
	}))
	t.Run("ReadBeforeTheList", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("y", "b", Need{})
		w.after(24 * time.Second)
		w.holding(true)
		a := w.asking(t.Context(), "x", "a", urgent)
		_ = answered(a)
		g := w.under()
		if len(g) != 0 {
			t.Fatal("the spare list has it")
		}
		w.after(7 * time.Second)
		a = w.asking(t.Context(), "x", "a", urgent)
		old := w.only()
		stale := w.read(old)
		w.remove("a")
		go w.refresh()
		l := w.under()[1]
		w.give(l, w.read(l))
		w.give(old, stale)
		want(t, "A list that began later lacks it.", "waiting", answered(a))
		again := w.only()
		w.give(again, w.read(again))
		want(t, "So it is asked again.", "no such object", answered(a))
	}))
	t.Run("ThereBetweenTwoLists", story(func(t *testing.T) {
		w := newWorld(t)
		w.get("x", "a", Need{})
		w.write(thing{ID: "a", Value: 1})
		want(t, "It was created.", "a=1", w.get("x", "a", Need{}))
		w.remove("a")
		w.after(24 * time.Second)
		w.refresh()
		w.wantWoken("No list ever had it.", "vanished x")
		want(t, "What was read before is served no more.", "no such object", w.get("x", "a", Need{}))
	}))
	t.Run("Unreadable", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "b"})
		w.failingGet("a", errDown)
		want(t, "An error proves nothing.", "gateway down", w.get("x", "a", Need{}))
		w.failingGet("a", nil)
		want(t, "It is not remembered.", "no such object", w.get("x", "a", Need{}))
	}))
}

// Where a gateway holds far more than is managed, objects are read one by one.
//
// contract: A10
func TestFewAreReadOneByOne(t *testing.T) {
	// few of a gateway with many, all of them asked for and read once.
	few := func(t *testing.T, many int, ids ...string) *world {
		w := newWorld(t)
		for _, id := range ids {
			w.put(thing{ID: id, Value: 1})
		}
		w.crowd(many - len(ids))
		for _, id := range ids {
			w.get("x-"+id, id, Need{})
		}
		w.wantCalls("The first time a list is read.", "list")
		return w
	}
	ripe := 24 * time.Second
	t.Run("Few", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.after(ripe - 1)
		w.refresh()
		w.wantCalls("It is not due.")
		w.after(1)
		w.refresh()
		w.wantCalls("Each is read.", "get a", "get b", "get c")
		w.put(thing{ID: "a", Value: 2})
		w.remove("b")
		w.after(ripe)
		w.refresh()
		w.wantCalls("Each is read.", "get a", "get b", "get c")
		w.wantWoken("Who looks at it is woken.", "vanished x-b", "changed x-a")
		want(t, "What was read is served.", "a=2", w.get("x-a", "a", Need{}))
		want(t, "Also that it is gone.", "no such object", w.get("x-b", "b", Need{}))
		w.wantCalls("Without a call.")
		w.after(interval + 1)
		w.get("x-a", "a", Need{})
		w.wantCalls("Who cannot wait reads its own.", "get a")
	}))
	t.Run("NotFew", story(func(t *testing.T) {
		w := few(t, 300, "a", "b", "c")
		w.after(ripe)
		w.refresh()
		w.wantCalls("A list tells as much.", "list")
	}))
	t.Run("NeverMoreThanFifty", story(func(t *testing.T) {
		w := newWorld(t)
		w.crowd(6000)
		w.get("x", "other-0", Need{})
		for n := range 51 {
			w.get(fmt.Sprint(n), fmt.Sprintf("other-%d", n), Need{})
		}
		w.wantCalls("The first time a list is read.", "list")
		w.after(ripe)
		w.refresh()
		w.wantCalls("These are not few.", "list")
		w.r.Forget(named("50"))
		w.after(ripe)
		w.refresh()
		if n := len(w.calls); n != 50 {
			t.Errorf("these are, but there were %d calls", n)
		}
	}))
	t.Run("Growing", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.after(ripe)
		w.refresh()
		w.wantCalls("Each is read.", "get a", "get b", "get c")
		w.after(interval - ripe + 1)
		w.refresh()
		w.get("x-d", "d", Need{})
		w.wantCalls("They are no longer few.", "list", "get d")
	}))
	t.Run("Recounted", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.after(20*interval - 1)
		w.refresh()
		w.wantCalls("Each is read.", "get a", "get b", "get c")
		w.after(ripe)
		w.refresh()
		w.wantCalls("Whether they still are few, a list tells.", "list")
		w.after(ripe)
		w.refresh()
		w.wantCalls("They are.", "get a", "get b", "get c")
	}))
	t.Run("Abreast", story(func(t *testing.T) {
		w := few(t, 601, "a", "b", "c", "d", "e", "f")
		w.after(ripe)
		w.holding(true)
		done := make(chan struct{})
		go func() { defer close(done); w.refresh() }()
		for left := 6; left > 0; left-- {
			under := w.under()
			if len(under) != min(4, left) {
				t.Errorf("with %d left %d are read at a time", left, len(under))
			}
			w.give(under[0], w.read(under[0]))
		}
		<-done
	}))
	t.Run("OneFails", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.failingGet("a", errDown)
		w.after(ripe)
		w.refresh()
		w.after(5 * time.Second)
		w.refresh()
		w.after(5 * time.Second)
		w.refresh()
		w.wantWoken("Nobody else is concerned.", "unreadable x-a")
		w.calls = nil
		want(t, "It cannot be read.", "gateway down", w.get("x-a", "a", Need{}))
		want(t, "Others can.", "b=1", w.get("x-b", "b", Need{}))
		want(t, "Others can.", "c=1", w.get("x-c", "c", Need{}))
		w.wantCalls("Nobody needs a call.")
		want(t, "Also if it needs it younger.", "b=1", w.get("x-b", "b", Need{MaxAge: time.Second}))
		w.wantCalls("Which takes one.", "get b")
		w.failingGet("a", nil)
		want(t, "Who is in a hurry notices first.", "a=1", w.get("x-a", "a", urgent))
		w.after(5 * time.Second)
		w.refresh()
		w.wantWoken("It can be read again.", "readable x-a")
		want(t, "It is served.", "a=1", w.get("x-a", "a", Need{}))
	}))
	t.Run("WhatFailsIsLast", story(func(t *testing.T) {
		w := few(t, 601, "a", "b", "c", "d", "e", "f")
		w.failingGet("a", errDown)
		for range 4 {
			w.after(ripe)
			w.refresh()
			w.after(5 * time.Second)
			w.refresh()
		}
		w.calls = nil
		for _, id := range []string{"b", "c", "d", "e", "f"} {
			want(t, "It takes nobody's turn.", id+"=1", w.get("x-"+id, id, Need{}))
		}
		w.wantCalls("Nobody needs a call.")
	}))
	t.Run("AllFail", story(func(t *testing.T) {
		w := few(t, 1001, "a", "b", "c", "d", "e", "f")
		w.after(interval + 1)
		w.holding(true)
		round := func(reason string) {
			t.Helper()
			done := make(chan struct{})
			go func() { defer close(done); w.refresh() }()
			under := w.under()
			if len(under) != 4 {
				t.Fatalf("%s\nwant 4 calls, got %d", reason, len(under))
			}
			for _, c := range under {
				w.give(c, answer{err: errDown})
			}
			<-done
			want(t, reason, 4, len(w.calls))
			w.calls = nil
		}
		round("The first error ends it.")
		w.holding(false)
		for _, id := range []string{"a", "f", "new"} {
			want(t, "It is everybody's.", "gateway down", w.get("x-"+id, id, Need{}))
		}
		w.wantCalls("Without another call.")
		want(t, "Unless one is in a hurry.", "a=1", w.get("x-a", "a", urgent))
		w.wantCalls("Then there is one.", "get a")
		w.wantWoken("A hiccup wakes nobody.")
		w.after(5*time.Second - 1)
		w.refresh()
		w.wantCalls("It is too soon.")
		w.after(1)
		w.holding(true)
		round("The next one is no better.")
	}))
	t.Run("GivenUp", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.after(ripe)
		w.holding(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.r.Refresh(ctx) }()
		w.under()
		cancel()
		<-done
		w.holding(false)
		w.calls = nil
		w.refresh()
		w.wantCalls("To be given up is no failure.", "get a", "get b", "get c")
	}))
	t.Run("NoAnswer", story(func(t *testing.T) {
		w := few(t, 301, "a", "b", "c")
		w.after(interval + 1)
		w.holding(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan struct{})
		go func() { defer close(done); w.r.Refresh(ctx) }()
		w.under()
		w.after(10 * time.Second)
		<-done
		w.holding(false)
		want(t, "A gateway that does not answer is asked no more for a while.", "no answer within 10s: context deadline exceeded", w.get("x-a", "a", Need{}))
	}))
}

// Only those are woken whose object changed, and once.
//
// contract: A10
func TestWhoIsWoken(t *testing.T) {
	due := 24 * time.Second
	cases := map[string]struct {
		reason string
		// happens between two refreshes, after x, y and z asked for a, b and c, of which
		// c does not exist.
		happens func(*world)
		want    []string
	}{
		"Nothing":  {"Who looks at what did not change sleeps.", func(*world) {}, nil},
		"Changed":  {"Who looks at what changed does not.", func(w *world) { w.put(thing{ID: "a", Value: 2}) }, []string{"changed x"}},
		"Noise":    {"What nobody looks at is no change.", func(w *world) { w.put(thing{ID: "a", Value: 1, Noise: 1}) }, nil},
		"Vanished": {"What is gone is one.", func(w *world) { w.remove("a") }, []string{"vanished x"}},
		"Appeared": {"So is what is there now.", func(w *world) { w.put(thing{ID: "c"}) }, []string{"vanished z"}},
		"All": {"Everybody hears of its own.", func(w *world) {
			w.put(thing{ID: "a", Value: 2}, thing{ID: "b", Value: 2}, thing{ID: "c"})
		}, []string{"vanished z", "changed x y"}},
		"Others": {"What nobody is interested in wakes nobody.", func(w *world) { w.put(thing{ID: "d"}) }, nil},
		"Two": {"All who look at it are woken.", func(w *world) {
			w.get("x2", "a", Need{})
			w.put(thing{ID: "a", Value: 2})
		}, []string{"changed x x2"}},
		"OwnWrite": {"Who saw what it wrote knows.", func(w *world) {
			w.write(thing{ID: "a", Value: 2})
			w.get("x", "a", Need{})
		}, nil},
		"OwnWriteUnseen": {"Who did not does not.", func(w *world) { w.write(thing{ID: "a", Value: 2}) }, []string{"changed x"}},
		"OwnWriteOfTwo": {"Nor do others.", func(w *world) {
			w.get("x2", "a", Need{})
			w.write(thing{ID: "a", Value: 2})
			w.get("x", "a", Need{})
		}, []string{"changed x2"}},
		"OwnCreate": {"Who saw what it created knows.", func(w *world) {
			w.write(thing{ID: "c"})
			w.get("z", "c", Need{})
		}, nil},
		"OwnDelete": {"Who saw what it deleted is gone knows.", func(w *world) {
			done := w.r.Writing("a")
			w.remove("a")
			done()
			w.get("x", "a", Need{})
		}, nil},
		"First":  {"A first reading is no change.", func(w *world) { w.get("w", "a", Need{}) }, nil},
		"Forgot": {"Who is forgotten sleeps.", func(w *world) { w.r.Forget(named("x")); w.put(thing{ID: "a", Value: 2}) }, nil},
		"Moved": {"Who looks elsewhere hears of that.", func(w *world) {
			w.get("x", "b", Need{})
			w.put(thing{ID: "a", Value: 2})
		}, nil},
	}
	for name, tc := range cases {
		t.Run(name, story(func(t *testing.T) {
			w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
			for who, id := range map[string]string{"x": "a", "y": "b", "z": "c"} {
				w.get(who, id, Need{})
			}
			w.wantWoken("Nobody is woken by the first reading.")
			tc.happens(w)
			w.after(due)
			w.refresh()
			w.wantWoken(tc.reason, tc.want...)
			for range 3 {
				w.after(due)
				w.refresh()
			}
			w.wantWoken("Nobody is woken twice.")
		}))
	}
	t.Run("BackAgain", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		for _, step := range []struct {
			reason string
			value  int
			want   []string
		}{
			{"It changed.", 2, []string{"changed x"}},
			{"It is what x knows.", 1, nil},
			{"It changed once more.", 2, []string{"changed x"}},
			{"It changed further.", 3, []string{"changed x"}},
		} {
			w.put(thing{ID: "a", Value: step.value})
			w.after(due)
			w.refresh()
			w.wantWoken(step.reason, step.want...)
		}
	}))
	t.Run("GoneAgain", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		for _, step := range []struct {
			reason string
			there  bool
			want   []string
		}{
			{"It is gone.", false, []string{"vanished x"}},
			{"It is what x knows.", true, nil},
			{"It is gone again.", false, []string{"vanished x"}},
		} {
			w.remove("a")
			if step.there {
				w.put(thing{ID: "a", Value: 1})
			}
			w.after(due)
			w.refresh()
			w.wantWoken(step.reason, step.want...)
		}
	}))
	t.Run("WhileWriting", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		update, remove := w.r.Writing("a"), w.r.Writing("b")
		w.put(thing{ID: "a", Value: 2})
		w.remove("b")
		w.after(due)
		w.refresh()
		update()
		remove()
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		w.after(due)
		w.refresh()
		w.wantWoken("Who writes knows, also while it is not done.")
	}))
	t.Run("SeenWhileWriting", story(func(t *testing.T) {
		w := newWorld(t)
		w.get("x", "a", Need{})
		done := w.r.Writing("a")
		w.put(thing{ID: "a", Value: 1})
		want(t, "It sees what it writes.", "a=1", w.get("x", "a", Need{}))
		w.failing(errDown)
		w.after(due)
		w.refresh()
		done()
		w.failing(nil)
		w.after(due)
		w.refresh()
		w.wantWoken("What was known before is no news.")
	}))
	t.Run("WhoAsks", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		w.get("y", "a", Need{})
		w.put(thing{ID: "a", Value: 2})
		w.after(due)
		want(t, "It is read again.", "a=2", w.get("x", "a", Need{MaxAge: time.Second}))
		w.wantWoken("Who asked has the answer.", "changed y")
	}))
	t.Run("WithoutLocks", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		w.onWake = func(_ Cause, who []types.NamespacedName) { w.r.Forget(who[0]) }
		w.put(thing{ID: "a", Value: 2})
		w.after(due)
		w.refresh()
		want(t, "Who is woken can be forgotten.", 0, w.r.Interested())
	}))
}

// What fails twice is said, and again when that is over.
//
// contract: A10
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a"}, thing{ID: "b"})
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		w.after(24 * time.Second)
		refresh := func(err error) {
			w.failing(err)
			w.after(5 * time.Second)
			w.refresh()
		}
		refresh(errDown)
		refresh(nil)
		w.wantWoken("A hiccup wakes nobody.")
		w.after(24 * time.Second)
		refresh(errDown)
		w.wantWoken("This may be one.")
		refresh(errDown)
		w.wantWoken("It is none.", "unreadable x y")
		w.get("z", "a", Need{})
		refresh(errDown)
		refresh(errors.New("another"))
		w.wantWoken("It is told once.")
		refresh(nil)
		w.wantWoken("So is its end.", "readable x y z")
		w.after(24 * time.Second)
		refresh(errDown)
		refresh(errDown)
		w.wantWoken("What happens again is told again.", "unreadable x y z")
	})
}

// Who got an error that was for all need not ask again: it is told when that is over,
// however soon.
func TestRefusedIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a"}, thing{ID: "b"})
		w.failing(errDown)
		w.get("first", "a", Need{})
		w.get("later", "b", Need{})
		w.get("own", "a", Need{Urgent: true})
		w.failing(nil)
		w.after(5 * time.Second)
		w.refresh()
		w.wantWoken("Whoever got it is told.", "readable first later")
		w.after(24 * time.Second)
		w.refresh()
		w.wantWoken("It is told once.")
	})
}

// Only such an error is known to be followed by that.
func TestIsShared(t *testing.T) {
	if err := (&sharedError{errDown}); !IsShared(fmt.Errorf("cannot look: %w", err)) || !errors.Is(err, errDown) {
		t.Error("it is shared, and what it is")
	}
	if IsShared(errDown) || IsShared(nil) {
		t.Error("that is somebody's own")
	}
}

func TestStateIsBounded(t *testing.T) {
	t.Run("Forget", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.get("x", "a", Need{})
		w.get("y", "a", Need{})
		w.get("y", "a", Need{})
		want(t, "Two are.", 2, w.r.Interested())
		w.r.Forget(named("x"))
		w.r.Forget(named("x"))
		want(t, "One is.", 1, w.r.Interested())
		want(t, "It is kept for the other.", 1, len(w.r.entries))
		w.r.Forget(named("y"))
		want(t, "None is.", 0, w.r.Interested())
		want(t, "It is dropped.", 0, len(w.r.entries))
		if w.r.spare != nil {
			t.Error("a list is kept for nobody")
		}
		w.calls = nil
		w.after(time.Hour)
		w.refresh()
		w.wantCalls("Nobody wants to know.")
	}))
	t.Run("OneAtATime", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1}, thing{ID: "b", Value: 1})
		w.get("x", "a", Need{})
		w.get("x", "b", Need{})
		want(t, "It is one.", 1, w.r.Interested())
		want(t, "It is in one object.", 1, len(w.r.entries))
	}))
	t.Run("Others", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.crowd(50)
		w.get("x", "a", Need{})
		w.after(24 * time.Second)
		w.refresh()
		want(t, "Only what somebody is interested in is kept.", 1, len(w.r.entries))
		if w.r.spare != nil {
			t.Error("a list is kept for nobody")
		}
	}))
	t.Run("Spare", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.crowd(5000)
		w.get("x", "a", Need{})
		w.after(interval)
		w.refresh()
		if w.r.spare == nil {
			t.Error("a list is dropped that is still good")
		}
		w.after(1)
		w.refresh()
		if w.r.spare != nil {
			t.Error("a list is kept that nobody would be served")
		}
	}))
	t.Run("ForgottenWhileAsking", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.holding(true)
		a := w.asking(t.Context(), "x", "a", Need{})
		l := w.only()
		w.r.Forget(named("x"))
		w.give(l, w.read(l))
		want(t, "Who asked is answered.", "a=1", answered(a))
		want(t, "Nothing is left of it.", 0, len(w.r.entries)+w.r.Interested())
	}))
	t.Run("Writes", story(func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		w.write(thing{ID: "b"})
		want(t, "Nobody has read it.", 0, len(w.r.writes))
		w.get("x", "a", Need{})
		w.write(thing{ID: "a"})
		w.write(thing{ID: "b"})
		want(t, "What was read is outdated.", 2, len(w.r.writes))
		w.after(24 * time.Second)
		w.refresh()
		want(t, "It is read again.", 0, len(w.r.writes))
		w.write(thing{ID: "a"})
		w.get("x", "a", Need{})
		want(t, "It is read alone.", 0, len(w.r.writes))
		w.write(thing{ID: "a"})
		w.r.Forget(named("x"))
		want(t, "It is forgotten.", 0, len(w.r.writes))
	}))
}

func TestMany(t *testing.T) {
	t.Run("AtOnce", story(func(t *testing.T) {
		w := newWorld(t)
		w.crowd(1000)
		w.holding(true)
		for n := range 1000 {
			go func() { w.get(fmt.Sprint(n), fmt.Sprintf("other-%d", n), Need{}) }()
		}
		l := w.only()
		w.give(l, w.read(l))
		w.wantCalls("A restart takes one list.", "list")
	}))
	t.Run("OneAfterTheOther", story(func(t *testing.T) {
		w := newWorld(t)
		w.crowd(1000)
		for n := range 1000 {
			want(t, "Each is served.", fmt.Sprintf("other-%d=0", n), w.get(fmt.Sprint(n), fmt.Sprintf("other-%d", n), Need{}))
		}
		w.wantCalls("A restart takes one list, however few workers there are.", "list")
		w.get("new", "new", Need{})
		w.wantCalls("What the list lacks is asked for.", "get new")
		w.write(thing{ID: "newer", Value: 1})
		want(t, "What was written since is read.", "newer=1", w.get("newer", "newer", Need{}))
		w.wantCalls("Alone.", "get newer")
	}))
	t.Run("Later", story(func(t *testing.T) {
		w := newWorld(t)
		w.crowd(1000)
		for n := range 500 {
			w.get(fmt.Sprint(n), fmt.Sprintf("other-%d", n), Need{})
		}
		w.after(24 * time.Second)
		w.refresh()
		w.after(24 * time.Second)
		w.refresh()
		w.calls = nil
		for n := range 500 {
			w.get(fmt.Sprint(500+n), fmt.Sprintf("other-%d", 500+n), Need{})
		}
		w.wantCalls("Who comes later makes one list, not one each.", "list")
	}))
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a"}, thing{ID: "b"})
		age := func() string {
			d, ok := w.r.Age()
			return fmt.Sprint(d, ok)
		}
		want(t, "Nothing was read.", "0s false", age())
		w.get("x", "a", Need{})
		w.get("y", "b", Need{})
		w.after(10 * time.Second)
		w.get("x", "a", Need{MaxAge: 1, Urgent: true})
		want(t, "The older one counts.", "10s true", age())
		w.write(thing{ID: "b"})
		want(t, "It does so until it is read again, although it is not served.", "10s true", age())
		w.after(interval)
		w.failList = errDown
		w.refresh()
		want(t, "While reading fails it grows.", "40s true", age())
		w.after(interval)
		w.failList = nil
		w.refresh()
		want(t, "Then it does not any more.", "0s true", age())
		w.remove("a")
		w.after(interval)
		w.refresh()
		w.after(interval)
		w.refresh()
		want(t, "What the list lacks is known as of the list.", "0s true", age())
		w.r.Forget(named("x"))
		w.r.Forget(named("y"))
		want(t, "What nobody is interested in does not count.", "0s false", age())
	})
}

func TestWhatIsServedIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		for _, need := range []Need{{}, urgent} {
			x, err := w.r.Get(t.Context(), named("x"), "a", need)
			if err != nil {
				t.Fatal(err)
			}
			x.Value = 2
			want(t, "Who changes it changes its own.", "a=1", w.get("y", "a", need))
		}
	})
}

func TestWhatIsKeptIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		list := []thing{{ID: "a", Value: 1}}
		w.r.source.List = func(context.Context) ([]thing, error) { return list, nil }
		w.get("x", "a", Need{})
		if w.r.entries["a"].value == &list[0] {
			t.Error("one object keeps a whole list")
		}
	})
}

func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, thing{ID: "a", Value: 1})
		r := New(w.r.source, Options{Interval: interval, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))})
		if got := show(r.Get(t.Context(), named("x"), "a", Need{})); got != "a=1" {
			t.Error(got)
		}
		w.put(thing{ID: "a", Value: 2})
		if got := show(r.Get(t.Context(), named("x"), "a", Need{})); got != "a=1" {
			t.Error(got)
		}
		if r.ripe < interval*3/4 || r.ripe > interval*4/5 {
			t.Errorf("due after %s", r.ripe)
		}
	})
}
