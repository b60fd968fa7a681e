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

// Package observation reads the objects of a kind at a gateway once for all managed
// resources that look at them.
//
// A gateway holds up to ten thousand objects of a kind. Each managed resource reading
// its own again and again would be most of a gateway's traffic, and tell nothing new
// nearly always. Here one list per interval serves all of them, and wakes those whose
// object changed.
package observation

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// A Source reads the objects of one kind at one gateway. What it has to do is bounded in
// time, as nobody else ends a request that somebody waits for.
type Source[T any] struct {
	// List all objects, complete.
	List func(ctx context.Context) ([]T, error)

	// Get one object. Its error is passed on unchanged.
	Get func(ctx context.Context, id string) (*T, error)

	// ID of an object. It is called with a lock held, as Same is.
	ID func(*T) string

	// Absent tells whether an error proves that there is no such object.
	Absent func(error) bool

	// Same tells whether two objects are equal as far as anybody looks at them.
	Same func(a, b *T) bool
}

// A Cause is why somebody is woken.
type Cause string

// Causes. Who has several is woken for the first of these.
const (
	// Vanished means that the object is gone, or there again.
	Vanished Cause = "vanished"
	// Changed means that the object is another than the one that was served last.
	Changed Cause = "changed"
	// Unreadable means that reading fails, and more than once.
	Unreadable Cause = "unreadable"
	// Readable means that it no longer does.
	Readable Cause = "readable"
)

// Options of readings.
type Options struct {
	// Interval is how old a reading may be that is served.
	Interval time.Duration

	// Clock that ages are measured by.
	Clock clock.PassiveClock

	// Random returns numbers from 0 to 1, which keep many readings from being due at
	// once. A pseudo-random one if nil.
	Random func() float64

	// Wake those whose object changed. It is called without locks held, and must not
	// block: an answer that is there waits for it.
	Wake func(c Cause, who []types.NamespacedName)
}

// A Need is how good a reading has to be.
type Need struct {
	// MaxAge is how old it may be, if positive and shorter than the interval.
	MaxAge time.Duration

	// Urgent means that somebody waits: rather one read of this object than to wait for
	// a list, or than an error of the list.
	Urgent bool
}

// Shared readings of the objects of one kind at one gateway.
//
// Age counts from when a request began. Nothing older than the interval is served, with
// one exception: who asked before a request began is served its answer, however long
// that took, as asking again gives nothing better.
type Shared[T any] struct {
	source Source[T]
	o      Options

	mu sync.Mutex
	// order counts requests as they begin and writes as they end: what happens at one
	// moment of the clock still has an order.
	order     uint64
	interests map[types.NamespacedName]*interest[T]
	entries   map[string]*entry[T]
	writes    map[string]*write

	// listing and getting are the requests under way that can be joined.
	listing *request[T]
	getting map[string]*request[T]

	// spare is a list with all that nobody was interested in, for those who ask for the
	// first time: many do so one after the other when the provider starts. It is only
	// kept while there are such.
	spare *spare[T]
	grew  bool

	// due is when the next list is, and ripe at what age a reading is repeated.
	due  time.Time
	ripe time.Duration

	// failures in a row, and before when not to try again.
	failures int
	failure  error
	next     time.Time

	// few is up to how many objects are read one by one, by a list that began at
	// counted.
	few     int
	counted time.Time
}

// entry of an object somebody is interested in.
type entry[T any] struct {
	id string
	// held counts who is interested and who is asking.
	held int

	// value that was read last, nil if gone, which is then the proof. The order of the
	// request is zero if nothing was read.
	value *T
	gone  error
	order uint64
	began time.Time

	// listed is the last list that has it, and lacked the last one that does not.
	listed, lacked uint64

	// failures in a row of what would have read it, and the last error. erred is when
	// the error was about this object, if read alone.
	failures int
	failure  error
	erred    uint64
	// turn is whether it became readable or unreadable, and turned when.
	turn   Cause
	turned uint64
}

// state is what is known of an object: nothing, that it is gone, as far as a list can
// tell, or its value. Values are the same as long as the pointers are.
type state[T any] struct {
	known bool
	value *T
}

func (e *entry[T]) state() state[T] {
	switch {
	case e.latest() == 0:
		return state[T]{}
	case e.doubtful():
		return state[T]{known: true}
	}
	return state[T]{known: true, value: e.value}
}

// latest is the order of what the state is known by.
func (e *entry[T]) latest() uint64 { return max(e.order, e.lacked) }

// lacks tells whether the last list does not have it.
func (e *entry[T]) lacks() bool { return e.lacked > e.listed }

// doubtful tells whether a list lacks what was read before.
func (e *entry[T]) doubtful() bool { return e.value != nil && e.order < e.lacked }

// unreadable tells whether it takes a successful reading to trust what was read before.
func (e *entry[T]) unreadable() bool { return e.failures >= strikes }

// interest of a managed resource in an object.
type interest[T any] struct {
	entry *entry[T]
	// asking counts the questions under way, whose answer saves a wake-up.
	asking int
	// seen is what was served last, by a request in an order, and woken what it was woken
	// for since.
	seen, woken state[T]
	order       uint64
	// refused is whether it got an error that was for all since.
	refused bool
}

// write is what is known of writes to an object: how many are under way, and when the
// last one ended.
type write struct {
	under int
	ended uint64
}

type spare[T any] struct {
	order uint64
	began time.Time
	byID  map[string]*T
}

// New readings, of which nothing is read yet.
func New[T any](s Source[T], o Options) *Shared[T] {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Wake == nil {
		o.Wake = func(Cause, []types.NamespacedName) {}
	}
	return &Shared[T]{
		source:    s,
		o:         o,
		interests: map[types.NamespacedName]*interest[T]{},
		entries:   map[string]*entry[T]{},
		writes:    map[string]*write{},
		getting:   map[string]*request[T]{},
	}
}

// question that is being answered.
type question struct {
	// asked is the order of the last thing that happened before.
	asked  uint64
	maxAge time.Duration
	urgent bool
}

// Get the object with an ID on behalf of a managed resource, which is woken from then on
// when that object changes. The object is the caller's, what it refers to is not: maps,
// slices and the like must not be changed.
func (r *Shared[T]) Get(ctx context.Context, who types.NamespacedName, id string, need Need) (*T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.interest(who, id)
	e := i.entry
	e.held++
	i.asking++
	defer func() {
		i.asking--
		r.release(e)
	}()
	q := question{asked: r.order, maxAge: r.o.Interval, urgent: need.Urgent}
	if need.MaxAge > 0 {
		q.maxAge = min(q.maxAge, need.MaxAge)
	}
	for {
		way := r.choose(e, q)
		switch way {
		case serve:
			return i.serve()
		case refuse:
			i.refused = true
			return nil, &sharedError{e.failure}
		case get, list:
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if way == list {
			l := r.list(ctx)
			if err := r.wait(ctx, l); err != nil {
				return nil, err
			}
			if l.err != nil {
				i.refused = true
				return nil, &sharedError{l.err}
			}
			continue
		}
		g := r.get(ctx, id)
		if err := r.wait(ctx, g); err != nil {
			return nil, err
		}
		switch {
		case g.err != nil && !r.source.Absent(g.err):
			return nil, g.err
		case r.good(e, q):
			return i.serve()
		case r.tentative(id, g) && r.young(g.order, g.began, q):
			i.saw(state[T]{known: true, value: clone(g.value)}, g.order)
			return clone(g.value), g.err
		}
	}
}

// way to an answer.
type way int

const (
	serve way = iota
	refuse
	get
	list
)

// choose the way to an answer.
func (r *Shared[T]) choose(e *entry[T], q question) way {
	switch {
	case r.good(e, q) && (q.urgent || !e.unreadable()):
		return serve
	case !r.clean(e.id, e.order), q.urgent:
		return get
	case e.failures > 0 && r.o.Clock.Now().Before(r.next):
		return refuse
	case e.lacks() && e.failures == 0, r.single():
		return get
	}
	return list
}

// good tells whether what was read of an object answers a question.
func (r *Shared[T]) good(e *entry[T], q question) bool {
	return e.order != 0 && !e.doubtful() && r.clean(e.id, e.order) && r.young(e.order, e.began, q)
}

func (r *Shared[T]) young(order uint64, began time.Time, q question) bool {
	return order > q.asked || r.o.Clock.Since(began) <= q.maxAge
}

// clean tells whether what began to be read in an order still says something: a write
// that is under way, or ended since, may have changed it.
func (r *Shared[T]) clean(id string, order uint64) bool {
	w := r.writes[id]
	return w == nil || w.under == 0 && w.ended < order
}

// tentative tells whether an answer is as good as any, but worth nothing later: a write is
// under way, and was when it was asked for or began since.
func (r *Shared[T]) tentative(id string, g *request[T]) bool {
	w := r.writes[id]
	return w != nil && w.under > 0 && r.joinable(id, g)
}

// serve what was read.
func (i *interest[T]) serve() (*T, error) {
	i.saw(i.entry.state(), i.entry.latest())
	return clone(i.entry.value), i.entry.gone
}

func (i *interest[T]) saw(s state[T], order uint64) {
	i.seen, i.order, i.woken, i.refused = s, order, state[T]{}, false
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

// interest of a managed resource, which has one at a time.
func (r *Shared[T]) interest(who types.NamespacedName, id string) *interest[T] {
	if i, ok := r.interests[who]; ok {
		if i.entry.id == id {
			return i
		}
		r.forget(who)
	}
	e, ok := r.entries[id]
	if !ok {
		e = r.enter(id)
	}
	e.held++
	i := &interest[T]{entry: e}
	r.interests[who] = i
	return i
}

// enter an object. It may be in the last list, and shares the last error.
func (r *Shared[T]) enter(id string) *entry[T] {
	e := &entry[T]{id: id, failures: r.failures, failure: r.failure}
	r.entries[id], r.grew = e, true
	if s := r.spare; s != nil {
		if v, ok := s.byID[id]; ok {
			r.store(e, s.order, s.began, v, nil)
		} else {
			e.lacked = s.order
		}
	}
	return e
}

// Forget a managed resource.
func (r *Shared[T]) Forget(who types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(who)
	if len(r.interests) == 0 {
		r.drop()
	}
}

func (r *Shared[T]) forget(who types.NamespacedName) {
	if i, ok := r.interests[who]; ok {
		delete(r.interests, who)
		r.release(i.entry)
	}
}

func (r *Shared[T]) release(e *entry[T]) {
	e.held--
	if e.held == 0 {
		delete(r.entries, e.id)
		r.tidy(e.id)
	}
}

// drop the spare list.
func (r *Shared[T]) drop() {
	r.spare = nil
	r.sweep()
}

// Writing tells that a write to an object begins; the function it returns, that it ended,
// with whatever outcome. What was read, or began to be read, before the end says nothing
// about the object any more.
func (r *Shared[T]) Writing(id string) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.writes[id]
	if !ok {
		w = &write{}
		r.writes[id] = w
	}
	w.under++
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.under--
		r.order++
		w.ended = r.order
		r.tidy(id)
	})
}

// tidy forgets writes to an object when nothing is left that they could spoil.
func (r *Shared[T]) tidy(id string) {
	w, ok := r.writes[id]
	if !ok || w.under > 0 {
		return
	}
	e, l, g, s := r.entries[id], r.listing, r.getting[id], r.spare
	spoiled := e != nil && e.order < w.ended || l != nil && l.order < w.ended ||
		g != nil && g.order < w.ended || s != nil && s.order < w.ended
	if !spoiled {
		delete(r.writes, id)
	}
}

func (r *Shared[T]) sweep() {
	for id := range r.writes {
		r.tidy(id)
	}
}

// Interested returns how many managed resources are.
func (r *Shared[T]) Interested() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.interests)
}

// Age returns that of the oldest reading of an object somebody is interested in, be it served
// or not: it grows while reading fails. It is false if nothing was read.
func (r *Shared[T]) Age() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age, ok := time.Duration(0), false
	for _, e := range r.entries {
		if e.latest() != 0 {
			age, ok = max(age, r.o.Clock.Since(r.asOf(e))), true
		}
	}
	return age, ok
}

// asOf is when that was read which is known of an object: if the last list lacks it, no
// younger request need tell.
func (r *Shared[T]) asOf(e *entry[T]) time.Time {
	if e.lacks() && r.counted.After(e.began) {
		return r.counted
	}
	return e.began
}
