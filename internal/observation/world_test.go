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
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

const interval = 30 * time.Second

var (
	errAbsent = errors.New("no such object")
	errDown   = errors.New("gateway down")
	urgent    = Need{Urgent: true}
)

// thing is an object. Nobody looks at its noise.
type thing struct {
	ID    string
	Value int
	Noise int
}

// answer to a request.
type answer struct {
	items []thing
	err   error
}

// call of the gateway that is not answered yet.
type call struct {
	// id is empty for a list.
	id     string
	ctx    context.Context
	answer chan answer
}

// world of readings and the gateway they are of. It lives in a bubble, so that a test
// can wait until everybody waits.
type world struct {
	t     testing.TB
	clock *clocktesting.FakePassiveClock
	r     *Shared[thing]

	mu      sync.Mutex
	objects map[string]thing
	// hold makes calls wait in held for an answer, also when nobody wants it any more if
	// deaf. Otherwise they fail as told, those for single objects by their IDs, or answer
	// what is there.
	hold     bool
	deaf     bool
	held     []*call
	failList error
	failGet  map[string]error
	calls    []string
	woken    []string
	onWake   func(Cause, []types.NamespacedName)
}

func newWorld(t testing.TB, objects ...thing) *world {
	w := &world{
		t:       t,
		clock:   clocktesting.NewFakePassiveClock(time.Unix(1000, 0)),
		objects: map[string]thing{},
		failGet: map[string]error{},
	}
	w.put(objects...)
	w.r = New(Source[thing]{
		List: func(ctx context.Context) ([]thing, error) {
			a := w.call(ctx, "")
			return a.items, a.err
		},
		Get: func(ctx context.Context, id string) (*thing, error) {
			a := w.call(ctx, id)
			if a.err != nil {
				return nil, a.err
			}
			return &a.items[0], nil
		},
		ID:     func(x *thing) string { return x.ID },
		Absent: func(err error) bool { return errors.Is(err, errAbsent) },
		Same:   func(a, b *thing) bool { return a.ID == b.ID && a.Value == b.Value },
	}, Options{
		Interval: interval,
		Clock:    w.clock,
		Random:   func() float64 { return 1 },
		Wake: func(c Cause, who []types.NamespacedName) {
			var names []string
			for _, n := range who {
				names = append(names, n.Name)
			}
			slices.Sort(names)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.woken = append(w.woken, fmt.Sprintf("%s %s", c, strings.Join(names, " ")))
			if w.onWake != nil {
				w.onWake(c, who)
			}
		},
	})
	return w
}

func (w *world) put(objects ...thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range objects {
		w.objects[o.ID] = o
	}
}

func (w *world) remove(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, id)
}

// crowd the gateway with objects of others.
func (w *world) crowd(n int) {
	for k := range n {
		w.put(thing{ID: fmt.Sprintf("other-%d", k)})
	}
}

func (w *world) call(ctx context.Context, id string) answer {
	w.mu.Lock()
	name := "list"
	if id != "" {
		name = "get " + id
	}
	w.calls = append(w.calls, name)
	if !w.hold {
		defer w.mu.Unlock()
		return w.now(id)
	}
	c := &call{id: id, ctx: ctx, answer: make(chan answer, 1)}
	w.held = append(w.held, c)
	ended := ctx.Done()
	if w.deaf {
		ended = nil
	}
	w.mu.Unlock()
	select {
	case a := <-c.answer:
		return a
	case <-ended:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held = slices.DeleteFunc(w.held, func(o *call) bool { return o == c })
		return answer{err: ctx.Err()}
	}
}

// now is what the gateway answers at the moment.
func (w *world) now(id string) answer {
	o, there := w.objects[id]
	switch {
	case id == "" && w.failList != nil:
		return answer{err: w.failList}
	case id == "":
		return answer{items: slices.Collect(maps.Values(w.objects))}
	case w.failGet[id] != nil:
		return answer{err: w.failGet[id]}
	case !there:
		return answer{err: errAbsent}
	}
	return answer{items: []thing{o}}
}

// read what the gateway would answer to a call now.
func (w *world) read(c *call) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now(c.id)
}

// holding makes calls wait, or no longer.
func (w *world) holding(hold bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = hold
}

func (w *world) failing(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failList = err
}

func (w *world) failingGet(id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failGet[id] = err
}

// under returns the calls that wait for an answer, once everybody waits.
func (w *world) under() []*call {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.held)
}

// only returns the one call that waits for an answer.
func (w *world) only() *call {
	w.t.Helper()
	held := w.under()
	if len(held) != 1 {
		w.t.Fatalf("want one call under way, got %d", len(held))
	}
	return held[0]
}

// give an answer, and wait for what comes of it.
func (w *world) give(c *call, a answer) {
	w.mu.Lock()
	w.held = slices.DeleteFunc(w.held, func(o *call) bool { return o == c })
	w.mu.Unlock()
	c.answer <- a
	synctest.Wait()
}

func (w *world) after(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

func named(who string) types.NamespacedName {
	return types.NamespacedName{Namespace: "team", Name: who}
}

func show(x *thing, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s=%d", x.ID, x.Value)
}

// get what a managed resource is served.
func (w *world) get(who, id string, need Need) string {
	return show(w.r.Get(w.t.Context(), named(who), id, need))
}

// asking is get for when it has to wait.
func (w *world) asking(ctx context.Context, who, id string, need Need) chan string {
	answer := make(chan string, 1)
	go func() { answer <- show(w.r.Get(ctx, named(who), id, need)) }()
	synctest.Wait()
	return answer
}

func (w *world) refresh() { w.r.Refresh(w.t.Context()) }

func (w *world) write(o thing) {
	done := w.r.Writing(o.ID)
	w.put(o)
	done()
}

// want says why something was to be as it is not.
func want[V any](t testing.TB, reason string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n-want, +got:\n%s", reason, diff)
	}
}

// wantCalls there were since it was asked last, in any order.
func (w *world) wantCalls(reason string, calls ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.calls)
	slices.Sort(calls)
	want(w.t, reason, calls, w.calls)
	w.calls = nil
}

// wantWoken there were since it was asked last.
func (w *world) wantWoken(reason string, woken ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	want(w.t, reason, woken, w.woken)
	w.woken = nil
}

// answered returns what came of a question, or that nothing did.
func answered(answer chan string) string {
	synctest.Wait()
	select {
	case a := <-answer:
		return a
	default:
		return "waiting"
	}
}

// story of a world, told in a bubble.
func story(tell func(t *testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, tell) }
}
