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
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Whatever writes, fails and comes late, nobody is served what is outdated, and everybody
// hears of what changed.
func TestReadingsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// What ends a run early does so by a panic, which has to leave the bubble.
		var end any
		synctest.Test(t, func(t *testing.T) {
			defer func() { end = recover() }()
			m := newModel(t, rt)
			rt.Repeat(map[string]func(*rapid.T){
				"Ask":      m.ask,
				"GiveUp":   m.giveUp,
				"Forget":   m.forget,
				"Refresh":  func(*rapid.T) { m.refresh() },
				"Answer":   m.answer,
				"Late":     m.late,
				"Fail":     m.fail,
				"Somebody": func(rt *rapid.T) { m.change(rt, m.anID(rt)) },
				"Write":    m.write,
				"Written":  m.written,
				"Wait": func(rt *rapid.T) {
					m.w.after(time.Duration(rapid.IntRange(0, 12000).Draw(rt, "ms")) * time.Millisecond)
				},
				"": m.check,
			})
			m.settle(rt)
		})
		if end != nil {
			panic(end)
		}
	})
}

// fact is what a call of the gateway told: when it began, and what was there.
type fact struct {
	step    int
	began   time.Time
	list    bool
	objects map[string]int
	id      string
}

// of an object: what it was, and whether this fact says anything about it.
func (f fact) of(id string) (value int, is, says bool) {
	value, is = f.objects[id]
	return value, is, f.list || f.id == id
}

// asked is a question that is not answered yet.
type asked struct {
	who, id string
	step    int
	maxAge  time.Duration
	need    Need
	cancel  context.CancelFunc
	given   bool
	answer  chan string
}

// model of a gateway, all that was ever asked of it, and what everybody was served.
type model struct {
	w    *world
	many bool

	// step counts what happens.
	step    int
	calls   map[*call]fact
	early   map[*call]answer
	facts   []fact
	asked   []*asked
	ended   map[string]int
	writing map[string][]func()
	// known is what the readings should know of an object, and seen what was served
	// last, to whom.
	known map[string]fact
	seen  map[string]string
	looks map[string]string
	// failed is when a call failed last.
	failed     time.Time
	failures   int
	refreshing chan struct{}
	problems   []string
	// woken since they were served last. unseen is for what, if they were served before
	// in the same step.
	woken  map[string]bool
	unseen map[string]string
	// refused is who got an error since, which may have been one for all.
	refused map[string]bool
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{
		w:       newWorld(t),
		many:    rapid.Bool().Draw(rt, "many"),
		calls:   map[*call]fact{},
		early:   map[*call]answer{},
		ended:   map[string]int{},
		writing: map[string][]func(){},
		known:   map[string]fact{},
		seen:    map[string]string{},
		looks:   map[string]string{},
		woken:   map[string]bool{},
		unseen:  map[string]string{},
		refused: map[string]bool{},
	}
	if m.many {
		m.w.crowd(350)
	}
	m.w.put(thing{ID: "a"}, thing{ID: "b"})
	m.w.hold = true
	m.w.onWake = m.wake
	return m
}

func (m *model) anID(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
}

// after something happened: take down what calls began, and what was answered.
func (m *model) after() {
	m.step++
	for _, c := range m.w.under() {
		if _, ok := m.calls[c]; !ok {
			m.calls[c] = fact{step: m.step, began: m.w.clock.Now(), list: c.id == "", id: c.id}
			m.early[c] = m.w.read(c)
		}
	}
	defer clear(m.unseen)
	m.asked = slices.DeleteFunc(m.asked, func(a *asked) bool {
		select {
		case got := <-a.answer:
			m.served(a, got)
			a.cancel()
			return true
		default:
			return false
		}
	})
	if m.refreshing != nil {
		select {
		case <-m.refreshing:
			m.refreshing = nil
		default:
		}
	}
}

func (m *model) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

func (m *model) check(rt *rapid.T) {
	for _, p := range m.problems {
		rt.Error(p)
	}
	if len(m.problems) > 0 {
		rt.FailNow()
	}
}

func (m *model) ask(rt *rapid.T) {
	who := rapid.SampledFrom([]string{"u", "v", "x", "y", "z"}).Draw(rt, "who")
	if slices.ContainsFunc(m.asked, func(a *asked) bool { return a.who == who }) {
		rt.Skip("one question at a time")
	}
	m.question(who, m.anID(rt), Need{
		MaxAge: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 5, 20}).Draw(rt, "max age")) * time.Second,
		Urgent: rapid.Bool().Draw(rt, "urgent"),
	})
}

func (m *model) question(who, id string, need Need) {
	if m.looks[who] != id {
		delete(m.seen, who)
		delete(m.woken, who)
		m.looks[who] = id
	}
	a := &asked{who: who, id: id, step: m.step, maxAge: interval, need: need}
	if need.MaxAge > 0 {
		a.maxAge = need.MaxAge
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(m.w.t.Context())
	a.answer = m.w.asking(ctx, who, id, need)
	m.asked = append(m.asked, a)
	m.after()
}

func (m *model) giveUp(rt *rapid.T) {
	if len(m.asked) == 0 {
		rt.Skip("nobody asks")
	}
	a := rapid.SampledFrom(m.asked).Draw(rt, "question")
	a.given = true
	a.cancel()
	synctest.Wait()
	m.after()
}

func (m *model) forget(rt *rapid.T) {
	who := rapid.SampledFrom([]string{"u", "v", "x", "y", "z"}).Draw(rt, "who")
	if slices.ContainsFunc(m.asked, func(a *asked) bool { return a.who == who }) {
		rt.Skip("it asks")
	}
	m.w.r.Forget(named(who))
	delete(m.looks, who)
	delete(m.seen, who)
	delete(m.woken, who)
	m.after()
}

func (m *model) refresh() {
	if m.refreshing != nil {
		return
	}
	done := make(chan struct{})
	m.refreshing = done
	go func() {
		defer close(done)
		m.w.refresh()
	}()
	synctest.Wait()
	m.after()
}

// under returns the calls under way in an order that depends on nothing but what happened.
func (m *model) under() []*call {
	under := m.w.under()
	slices.SortFunc(under, func(a, b *call) int {
		return cmp.Or(cmp.Compare(m.calls[a].step, m.calls[b].step), cmp.Compare(a.id, b.id))
	})
	return under
}

func (m *model) aCall(rt *rapid.T) *call {
	under := m.under()
	if len(under) == 0 {
		rt.Skip("no call is under way")
	}
	return under[rapid.IntRange(0, len(under)-1).Draw(rt, "call")]
}

// answer a call with what is there now.
func (m *model) answer(rt *rapid.T) {
	c := m.aCall(rt)
	m.tell(c, m.w.read(c))
}

// late is an answer with what was there when the call began.
func (m *model) late(rt *rapid.T) {
	c := m.aCall(rt)
	m.tell(c, m.early[c])
}

func (m *model) fail(rt *rapid.T) {
	c := m.aCall(rt)
	m.failed = m.w.clock.Now()
	m.failures++
	m.w.give(c, answer{err: errDown})
	m.after()
}

func (m *model) tell(c *call, a answer) {
	f := m.calls[c]
	f.objects = map[string]int{}
	for _, o := range a.items {
		f.objects[o.ID] = o.Value
	}
	m.facts = append(m.facts, f)
	for _, id := range []string{"a", "b", "c"} {
		_, _, says := f.of(id)
		if says && f.step > m.known[id].step && f.step > m.ended[id] && len(m.writing[id]) == 0 {
			m.known[id] = f
		}
	}
	m.w.give(c, a)
	m.after()
}

// change an object, as anybody may.
func (m *model) change(rt *rapid.T, id string) {
	m.step++
	if rapid.IntRange(0, 2).Draw(rt, "remove") == 0 {
		m.w.remove(id)
		return
	}
	m.w.put(thing{ID: id, Value: rapid.IntRange(0, 3).Draw(rt, "value"), Noise: m.step})
}

// write an object ourselves.
func (m *model) write(rt *rapid.T) {
	id := m.anID(rt)
	m.writing[id] = append(m.writing[id], m.w.r.Writing(id))
	if rapid.Bool().Draw(rt, "at once") {
		m.change(rt, id)
	}
	m.after()
}

func (m *model) written(rt *rapid.T) {
	id := m.anID(rt)
	if len(m.writing[id]) == 0 {
		rt.Skip("nothing is being written")
	}
	if rapid.Bool().Draw(rt, "at last") {
		m.change(rt, id)
	}
	m.end(id)
}

func (m *model) end(id string) {
	m.writing[id][0]()
	m.writing[id] = m.writing[id][1:]
	m.ended[id] = m.step
	m.after()
}

// served an answer, which has to be one that some call allows.
func (m *model) served(a *asked, got string) {
	now := m.w.clock.Now()
	switch {
	case got == context.Canceled.Error():
		if !a.given {
			m.problem("%s was refused for who gave up", a.who)
		}
		return
	case got == errDown.Error():
		if m.failures == 0 {
			m.problem("%s was told of a failure, but there was none", a.who)
		}
		m.refused[a.who] = true
		return
	}
	allowed := false
	for _, f := range m.facts {
		value, ok, says := f.of(a.id)
		is := errAbsent.Error()
		if ok {
			is = fmt.Sprintf("%s=%d", a.id, value)
		} else if f.list {
			// A list is no proof of absence.
			continue
		}
		if says && is == got && f.step > m.ended[a.id] && (f.step > a.step || now.Sub(f.began) <= a.maxAge) {
			allowed = true
		}
	}
	if !allowed {
		m.problem("%s was served %q, which nothing allows that began to be read in the last %s and after our last write", a.who, got, a.maxAge)
	}
	m.seen[a.who] = got
	is, ok := m.unseen[a.who]
	if m.woken[a.who] = ok; ok && is == got {
		m.problem("%s was woken for what it was served", a.who)
	}
}

// wake is called while something is answered: what is known by then differs from what
// was served, or there was no need to.
func (m *model) wake(c Cause, who []types.NamespacedName) {
	for _, n := range who {
		m.woken[n.Name] = true
		if c == Unreadable || c == Readable {
			if m.failures < 2 && (c == Unreadable || !m.refused[n.Name]) {
				m.problem("%s was told of failures, but there were not two", n.Name)
			}
			delete(m.refused, n.Name)
			continue
		}
		value, ok, _ := m.known[m.looks[n.Name]].of(m.looks[n.Name])
		is := errAbsent.Error()
		if ok {
			is = fmt.Sprintf("%s=%d", m.looks[n.Name], value)
		}
		if slices.ContainsFunc(m.asked, func(a *asked) bool { return a.who == n.Name }) {
			m.unseen[n.Name] = is
			continue
		}
		if seen, ok := m.seen[n.Name]; !ok || is == seen {
			m.problem("%s was woken as %s, but has seen %q, and that is what is known", n.Name, c, seen)
		}
	}
}

// settle everything: nothing fails, is late or changes any more.
func (m *model) settle(rt *rapid.T) {
	for id := range m.writing {
		for len(m.writing[id]) > 0 {
			m.end(id)
		}
	}
	m.pass(interval + time.Second)
	if len(m.asked) > 0 || m.refreshing != nil {
		rt.Error("somebody still waits")
	}
	for who, id := range m.looks {
		seen, ok := m.seen[who]
		is := there(m.w, id)
		if ok && is != seen && !m.woken[who] {
			rt.Errorf("%s was served %q, and was not woken when it became %q", who, seen, is)
		}
	}
	for who, id := range m.looks {
		m.question(who, id, Need{})
		m.flush()
		if is := there(m.w, id); m.seen[who] != is {
			rt.Errorf("%s sees %q after all, and there is %q", who, m.seen[who], is)
		}
	}
	// Whatever was kept for those who may come is of no use now.
	m.pass(interval)
	m.w.mu.Lock()
	m.w.calls, m.w.woken = nil, nil
	m.w.mu.Unlock()
	m.pass(4 * interval)
	lists := 0
	for _, c := range m.w.calls {
		if c == "list" {
			lists++
		}
	}
	if len(m.w.woken) > 0 {
		rt.Errorf("somebody was woken for nothing: %v", m.w.woken)
	}
	if lists > 5 || len(m.w.calls) > 5*3 || lists > 0 && len(m.w.calls) > lists && !m.many {
		rt.Errorf("too many calls for nothing: %v", m.w.calls)
	}
	if len(m.looks) == 0 && len(m.w.calls) > 0 {
		rt.Errorf("calls for nobody: %v", m.w.calls)
	}
	for who := range m.looks {
		m.w.r.Forget(named(who))
	}
	if n := len(m.w.r.entries) + len(m.w.r.writes) + len(m.w.r.getting) + m.w.r.Interested(); n > 0 || m.w.r.spare != nil {
		rt.Errorf("something is left when nobody is interested: %+v", m.w.r)
	}
	m.check(rt)
}

// pass some time, in which all that is asked is answered.
func (m *model) pass(d time.Duration) {
	m.flush()
	for range d / time.Second {
		m.w.after(time.Second)
		m.refresh()
		m.flush()
	}
}

func (m *model) flush() {
	for under := m.under(); len(under) > 0; under = m.under() {
		m.tell(under[0], m.w.read(under[0]))
	}
}

// there is what an object is at the gateway.
func there(w *world, id string) string {
	a := w.read(&call{id: id})
	if a.err != nil {
		return a.err.Error()
	}
	return show(&a.items[0], nil)
}
