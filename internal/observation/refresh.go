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
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// strikes are how many failures in a row make something unreadable: one more often
	// than not is over before anybody needs to know.
	strikes = 2
	// minPause is at least between a failure and the next try.
	minPause = time.Second
	// crowd is how many objects there are at the gateway to one that somebody is
	// interested in when these are read one by one, but no more than maxFew.
	crowd  = 100
	maxFew = 50
	// recount is after how many intervals a list tells whether that is still so.
	recount = 20
	// abreast is how many are read at a time.
	abreast = 4
)

// Refresh reads again if that is due and anybody is interested, and wakes those whose
// object changed. It is to be called each second or so, and returns when done.
func (r *Shared[T]) Refresh(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.o.Clock.Now()
	if r.spare != nil && now.Sub(r.spare.began) > r.o.Interval {
		r.drop()
	}
	switch {
	case len(r.interests) == 0, now.Before(r.next), ctx.Err() != nil:
	case r.single():
		r.round(ctx)
	case !now.Before(r.due):
		// Who is to be told of an error hears of it by Wake.
		_ = r.wait(ctx, r.list(ctx))
	}
}

// pause after a failure.
func (r *Shared[T]) pause() time.Duration { return max(r.o.Interval/6, minPause) }

// ripen returns at what age to read again: early enough that normally nobody waits.
func (r *Shared[T]) ripen() time.Duration {
	return time.Duration(float64(r.o.Interval) * (0.75 + 0.05*r.o.Random()))
}

// single tells whether objects are read one by one: a gateway that holds far more than
// anybody is interested in would be asked for all of it for nothing.
func (r *Shared[T]) single() bool {
	return len(r.entries) > 0 && len(r.entries) <= r.few && r.o.Clock.Since(r.counted) < recount*r.o.Interval
}

// listed takes in a list.
func (r *Shared[T]) listed(l *request[T], items []T) {
	for k := range items {
		v := &items[k]
		e := r.entries[r.source.ID(v)]
		if e == nil {
			continue
		}
		e.listed = l.order
		// What is being written wakes nobody.
		if r.clean(e.id, l.order) {
			r.store(e, l.order, l.began, v, nil)
		}
	}
	for _, e := range r.entries {
		if e.listed != l.order && r.clean(e.id, l.order) {
			// That it is gone, only a request for it proves.
			e.lacked = l.order
		}
		e.succeeded(l.order)
	}
	r.failures, r.failure, r.next = 0, nil, time.Time{}
	r.ripe = r.ripen()
	r.due = l.began.Add(r.ripe)
	r.few, r.counted = min(maxFew, max(0, len(items)-1)/crowd), l.began
	r.spare = nil
	if r.grew {
		r.spare = &spare[T]{order: l.order, began: l.began, byID: make(map[string]*T, len(items))}
		for k := range items {
			r.spare.byID[r.source.ID(&items[k])] = &items[k]
		}
	}
	r.grew = false
}

// round reads those objects that are due, one by one. The first error that proves no
// absence ends it, so that a dead gateway costs one time-out and not one per object. What
// failed before comes last, so that it takes nobody else's turn.
func (r *Shared[T]) round(ctx context.Context) {
	var due []*entry[T]
	for _, e := range r.entries {
		if e.failures > 0 || r.o.Clock.Since(e.began) >= r.ripe {
			due = append(due, e)
		}
	}
	if len(due) == 0 {
		return
	}
	slices.SortFunc(due, func(a, b *entry[T]) int {
		return cmp.Or(cmp.Compare(a.erred, b.erred), a.began.Compare(b.began), cmp.Compare(a.id, b.id))
	})
	var failure error
	left, ended := due, false
	read := map[*entry[T]]bool{}
	one := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for len(left) > 0 && !ended {
			e := left[0]
			left = left[1:]
			g := r.get(ctx, e.id)
			err := r.wait(ctx, g)
			switch {
			case err != nil:
				ended, failure = true, cmp.Or(failure, r.unanswered(g, err))
			case g.err != nil && !r.source.Absent(g.err):
				ended, failure = true, cmp.Or(failure, g.err)
				e.erred = g.order
			default:
				read[e] = true
			}
		}
	}
	r.mu.Unlock()
	var readers sync.WaitGroup
	for range min(abreast, len(due)) {
		readers.Go(one)
	}
	readers.Wait()
	r.mu.Lock()

	r.order++
	at := r.order
	for e := range read {
		e.succeeded(at)
	}
	switch {
	case failure != nil:
		r.failed(at, failure, func(yield func(*entry[T]) bool) {
			for _, e := range due {
				if !read[e] && !yield(e) {
					return
				}
			}
		})
	case !ended:
		r.failures, r.failure, r.next = 0, nil, time.Time{}
		r.ripe = r.ripen()
	}
	wake := r.notice(at)
	r.mu.Unlock()
	r.wake(wake)
	r.mu.Lock()
}

func (r *Shared[T]) all() iter.Seq[*entry[T]] { return maps.Values(r.entries) }

// failed is what would have read some objects. What was known of them is kept, so that
// it is noticed what changed in the meantime.
func (r *Shared[T]) failed(at uint64, err error, whose iter.Seq[*entry[T]]) {
	r.failures++
	r.failure = err
	r.next = r.o.Clock.Now().Add(r.pause())
	r.due = r.next
	for e := range whose {
		e.failures++
		e.failure = err
		if e.failures == strikes {
			e.turn, e.turned = Unreadable, at
		}
	}
}

func (e *entry[T]) succeeded(at uint64) {
	if e.unreadable() {
		e.turn, e.turned = Readable, at
	}
	e.failures, e.failure, e.erred = 0, nil, 0
}

// notice whom to wake, after something was read or failed to be. Who is asking gets to
// know what changed without.
func (r *Shared[T]) notice(at uint64) map[Cause][]types.NamespacedName {
	wake := map[Cause][]types.NamespacedName{}
	for who, i := range r.interests {
		var c Cause
		if i.asking == 0 {
			c = r.news(i)
		}
		if c == "" && i.entry.turned == at {
			c = i.entry.turn
		}
		if c == "" && i.refused && i.entry.failures == 0 {
			c = Readable
		}
		if c == Readable {
			i.refused = false
		}
		if c != "" {
			wake[c] = append(wake[c], who)
		}
	}
	return wake
}

// news for a managed resource, of which it hears once.
func (r *Shared[T]) news(i *interest[T]) Cause {
	seen, is := i.seen, i.entry.state()
	switch {
	case !seen.known, !is.known, i.entry.latest() < i.order, is == i.woken && is != seen:
		return ""
	case is == seen, seen.value != nil && is.value != nil && r.source.Same(seen.value, is.value):
		i.seen, i.woken = is, state[T]{}
		return ""
	}
	i.woken = is
	if seen.value == nil || is.value == nil {
		return Vanished
	}
	return Changed
}

func (r *Shared[T]) wake(who map[Cause][]types.NamespacedName) {
	for _, c := range []Cause{Vanished, Changed, Unreadable, Readable} {
		if len(who[c]) > 0 {
			r.o.Wake(c, who[c])
		}
	}
}
