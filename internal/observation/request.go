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
	"time"
)

// request that several wait for. It runs under a context of its own, which ends when
// nobody waits any more, so that who gives up takes the answer from nobody else.
type request[T any] struct {
	order   uint64
	began   time.Time
	cancel  context.CancelFunc
	waiting int
	// over is true once it is answered or given up. Nothing becomes of an answer to
	// what was given up.
	over   bool
	giveUp func(why error)
	done   chan struct{}

	// value and err are for reading once done is closed. A list has no value.
	value *T
	err   error
}

// begin a request. Its context has what the one has that it was asked for under, but not
// its end.
func (r *Shared[T]) begin(ctx context.Context, giveUp func(*request[T], error), run func(context.Context, *request[T])) *request[T] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.order++
	q := &request[T]{order: r.order, began: r.o.Clock.Now(), cancel: cancel, done: make(chan struct{})}
	q.giveUp = func(why error) { giveUp(q, why) }
	go func() {
		defer cancel()
		run(ctx, q)
	}()
	return q
}

// wait for a request. It is called with the lock held, and returns with it.
func (r *Shared[T]) wait(ctx context.Context, q *request[T]) error {
	q.waiting++
	r.mu.Unlock()
	var err error
	select {
	case <-q.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	r.mu.Lock()
	q.waiting--
	if err != nil && q.waiting == 0 && !q.over {
		q.over = true
		q.cancel()
		q.giveUp(err)
	}
	return err
}

// unanswered returns what an end of waiting says about the gateway: that it does not
// answer, if it had time to, and otherwise nothing.
func (r *Shared[T]) unanswered(q *request[T], why error) error {
	took := r.o.Clock.Since(q.began)
	if !errors.Is(why, context.DeadlineExceeded) || took < r.pause() {
		return nil
	}
	return fmt.Errorf("no answer within %s: %w", took.Round(time.Second), why)
}

// list joins the list under way, or begins one.
func (r *Shared[T]) list(ctx context.Context) *request[T] {
	if r.listing == nil {
		r.listing = r.begin(ctx, r.listGivenUp, r.runList)
	}
	return r.listing
}

func (r *Shared[T]) runList(ctx context.Context, l *request[T]) {
	items, err := r.source.List(ctx)
	r.mu.Lock()
	if l.over {
		r.mu.Unlock()
		return
	}
	l.over, l.err, r.listing = true, err, nil
	if err != nil {
		r.failed(l.order, err, r.all())
	} else {
		r.listed(l, items)
	}
	wake := r.notice(l.order)
	r.sweep()
	r.mu.Unlock()
	r.wake(wake)
	close(l.done)
}

func (r *Shared[T]) listGivenUp(l *request[T], why error) {
	r.listing = nil
	defer r.sweep()
	err := r.unanswered(l, why)
	if err == nil {
		return
	}
	r.failed(l.order, err, r.all())
	wake := r.notice(l.order)
	r.mu.Unlock()
	r.wake(wake)
	r.mu.Lock()
}

// get joins the request for an object that is under way, unless a write spoiled it, or
// begins one.
func (r *Shared[T]) get(ctx context.Context, id string) *request[T] {
	if g, ok := r.getting[id]; ok && r.joinable(id, g) {
		return g
	}
	done := func(g *request[T]) {
		if r.getting[id] == g {
			delete(r.getting, id)
		}
		r.tidy(id)
	}
	g := r.begin(ctx, func(g *request[T], _ error) { done(g) }, func(ctx context.Context, g *request[T]) {
		value, err := r.source.Get(ctx, id)
		r.mu.Lock()
		defer r.mu.Unlock()
		if g.over {
			// A write since may be forgotten.
			return
		}
		g.over, g.value, g.err = true, value, err
		if e := r.entries[id]; e != nil && (err == nil || r.source.Absent(err)) && r.clean(id, g.order) {
			r.store(e, g.order, g.began, value, err)
		}
		done(g)
		close(g.done)
	})
	r.getting[id] = g
	return g
}

// joinable tells whether a request for an object began after the last write that ended.
// One that is under way is no reason to ask again: it would be under way as well then.
func (r *Shared[T]) joinable(id string, g *request[T]) bool {
	w := r.writes[id]
	return w == nil || w.ended < g.order
}

// store what was read, unless what is there began to be read later. What is the same
// stays what it is, so that others need not be compared again.
func (r *Shared[T]) store(e *entry[T], order uint64, began time.Time, value *T, gone error) {
	if order <= e.order {
		return
	}
	switch {
	case value == nil:
		e.value = nil
	case e.value == nil || !r.source.Same(e.value, value):
		// A copy, as a pointer into a list would keep all of it.
		e.value = clone(value)
	}
	e.order, e.began, e.gone = order, began, gone
}
