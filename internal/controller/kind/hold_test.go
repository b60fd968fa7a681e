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

package kind

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	xperrors "github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

var start = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // A constant.

// A managed resource that is refused again for the same causes is left alone for
// longer and longer.
//
// contract: A3
// case: F4
func TestHoldSteps(t *testing.T) {
	h, now := &holds{}, start
	if _, held := h.remaining("a", "causes", now); held {
		t.Error("held although it never was refused")
	}
	for i, want := range []time.Duration{1, 4, 16, 64, 256, 600, 600, 600} {
		want *= time.Second
		if got := h.refuse("a", "causes", now, maxHold); got != want {
			t.Fatalf("refusal %d: left alone for %s, want %s", i, got, want)
		}
		if got, held := h.remaining("a", "causes", now.Add(want/4)); !held || got != want-want/4 {
			t.Errorf("refusal %d: %s remain, held %t", i, got, held)
		}
		if _, held := h.remaining("b", "causes", now); held {
			t.Error("another one is held too")
		}
		now = now.Add(want)
		if _, held := h.remaining("a", "causes", now); held {
			t.Errorf("refusal %d: still held after %s", i, want)
		}
	}

	if _, held := h.remaining("a", "other causes", now.Add(-time.Second)); held {
		t.Error("held although a cause changed")
	}
	if got := h.refuse("a", "other causes", now, maxHold); got != time.Second {
		t.Errorf("refused for other causes: left alone for %s, want 1s", got)
	}
	h.forget("a")
	if _, held := h.remaining("a", "other causes", now); held {
		t.Error("held although it was forgotten")
	}
	if got := h.refuse("a", "other causes", now, maxHold); got != time.Second {
		t.Errorf("refused after it was forgotten: left alone for %s, want 1s", got)
	}
}

// What somebody may cure unseen is not left alone for longer than that.
//
// contract: A3
func TestHoldAtMost(t *testing.T) {
	h := &holds{}
	for i, want := range []time.Duration{1, 4, 15, 15, 15} {
		if got := h.refuse("a", "causes", start, 15*time.Second); got != want*time.Second {
			t.Errorf("refusal %d: left alone for %s, want %s", i, got, want*time.Second)
		}
	}
	// The next kind of refusal has the full time.
	if got := h.refuse("a", "causes", start, maxHold); got != maxHold {
		t.Errorf("left alone for %s, want %s", got, maxHold)
	}
}

// Whatever happens, a hold ends by itself within ten minutes, and at once if a
// cause changes.
//
// contract: A3
func TestHoldInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, now := &holds{}, start
		causes := rapid.SampledFrom([]string{"x", "y"})
		last := ""
		t.Repeat(map[string]func(*rapid.T){
			"refuse": func(t *rapid.T) {
				last = causes.Draw(t, "causes")
				if d := h.refuse("a", last, now, maxHold); d < time.Second || d > maxHold {
					t.Fatalf("left alone for %s", d)
				}
			},
			"forget": func(*rapid.T) { h.forget("a"); last = "" },
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				for _, c := range []string{"x", "y"} {
					d, held := h.remaining("a", c, now)
					if held && (c != last || d <= 0 || d > maxHold) {
						t.Fatalf("held for %s because of %q, last refused because of %q", d, c, last)
					}
				}
				if _, held := h.remaining("a", last, now.Add(maxHold)); held {
					t.Fatal("held for more than ten minutes")
				}
			},
		})
	})
}

// What fails for the moment is repeated soon, then less and less often, and never
// less than once a minute.
//
// contract: A3
func TestBackoff(t *testing.T) {
	b := &backoff{base: time.Second, most: time.Minute, factor: 2}
	near := func(got, want time.Duration) bool {
		return got >= time.Duration(0.8*float64(want)) && got <= time.Duration(1.2*float64(want))
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := b.next("a"); !near(got, want*time.Second) {
			t.Errorf("try %d: %s, want about %s", i, got, want*time.Second)
		}
	}
	for range 10000 {
		_ = b.next("a")
	}
	if got := b.next("a"); !near(got, time.Minute) {
		t.Errorf("after very many tries: %s, want about a minute", got)
	}
	if got := b.next("b"); !near(got, time.Second) {
		t.Errorf("another one: %s, want about a second", got)
	}
	b.forget("a")
	if got := b.next("a"); !near(got, time.Second) {
		t.Errorf("after success: %s, want about a second", got)
	}
}

// All of it is used by many reconciles at once.
func TestMemoriesAreSafe(*testing.T) {
	h, b, n, w := &holds{}, &backoff{base: time.Second, most: time.Minute, factor: 2}, &names{}, &Writes{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			uid := types.UID(fmt.Sprint(i % 5))
			h.refuse(uid, "c", start, maxHold)
			h.remaining(uid, "c", start)
			h.forget(uid)
			b.next(uid)
			b.forget(uid)
			n.set(types.NamespacedName{Name: string(uid)}, uid)
			n.take(types.NamespacedName{Name: string(uid)})
			w.Forget(uid)
		})
	}
	wg.Wait()
}

// An external client tells by its error what kind of failure it met.
func TestErrors(t *testing.T) {
	cause := &gateway.Error{Reason: gateway.ReasonConflict, Message: "taken"}
	cases := map[string]struct {
		reason  string
		err     error
		refusal bool
		after   time.Duration
		due     bool
	}{
		"Plain":          {reason: "Any error passes.", err: cause},
		"Refuse":         {reason: "Some do not.", err: Refuse(cause), refusal: true},
		"RefuseAtMost":   {reason: "Or not by our doing.", err: RefuseAtMost(cause, time.Minute), refusal: true},
		"Wrapped":        {reason: "Wrapping does not matter.", err: xperrors.Wrap(Refuse(cause), "cannot"), refusal: true},
		"After":          {reason: "Some are worth another look at a certain time.", err: After(cause, time.Second), after: time.Second, due: true},
		"AfterWrapped":   {reason: "Also if wrapped.", err: xperrors.Wrap(After(cause, time.Second), "cannot"), after: time.Second, due: true},
		"HeldOff":        {reason: "A gateway that is held off says when.", err: &gateway.Error{Reason: gateway.ReasonHeldOff, RetryAfter: 7 * time.Second}, after: 7 * time.Second, due: true},
		"HeldOffWrapped": {reason: "Also if wrapped.", err: xperrors.Wrap(&gateway.Error{RetryAfter: 7 * time.Second}, "cannot"), after: 7 * time.Second, due: true},
		"RefuseNothing":  {reason: "No error is no refusal.", err: Refuse(nil)},
		"AtMostNothing":  {reason: "Nor this.", err: RefuseAtMost(nil, time.Second)},
		"AfterNothing":   {reason: "Nor this.", err: After(nil, time.Second)},
		"Canceled":       {reason: "A context that is done passes.", err: context.Canceled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsRefusal(tc.err); got != tc.refusal {
				t.Errorf("%s IsRefusal(): want %t, got %t", tc.reason, tc.refusal, got)
			}
			if after, due := retryAfter(tc.err); after != tc.after || due != tc.due {
				t.Errorf("%s retryAfter(): want %s %t, got %s %t", tc.reason, tc.after, tc.due, after, due)
			}
			if tc.refusal && !errors.Is(tc.err, cause) {
				t.Errorf("%s The cause is lost.", tc.reason)
			}
			if tc.refusal && tc.err.Error() != cause.Error() && name != "Wrapped" {
				t.Errorf("%s The text is another one: %s", tc.reason, tc.err)
			}
		})
	}
	var r *refusal
	if !errors.As(RefuseAtMost(cause, time.Hour), &r) || r.atMost != maxHold {
		t.Error("a refusal may be held for longer than ten minutes")
	}
}
