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

package connection

import (
	"sync"
	"time"
)

// Back-off between tries of something that is dead.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
	// strikesToDeath is how many calls in a row must go unanswered before a peer
	// counts as dead, unless there was not even a connection: one slow call says
	// little about all others.
	strikesToDeath = 2
)

// verdict is what a try says about a peer's life.
type verdict int

const (
	// noVerdict: the try was given up for reasons of its own.
	noVerdict verdict = iota
	alive
	// unanswered: the peer took the call but did not answer.
	unanswered
	// unreachable: there is no peer to take a call.
	unreachable
)

// breaker lets one try through per back-off while a peer is dead, so that a dead
// peer costs one time-out and not one per caller. It heals with the first answer.
type breaker struct {
	now    func() time.Time
	random func() float64

	mu      sync.Mutex
	dead    bool
	strikes int
	backoff time.Duration
	next    time.Time
	probing bool
	why     string
	// epoch counts what happened to the peer, so that calls that were under way
	// before do not make the back-off longer.
	epoch int
}

// enter returns how long to wait and why, if there must be no try now. Otherwise
// the try is counted, and leave must be called.
func (b *breaker) enter() (leave func(verdict, string), wait time.Duration, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		now := b.now()
		if now.Before(b.next) {
			return nil, b.next.Sub(now), b.why
		}
		if b.probing {
			return nil, b.backoff, b.why
		}
		b.probing = true
	}
	epoch, probe, left := b.epoch, b.probing && b.dead, false
	return func(v verdict, why string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if left {
			return
		}
		left = true
		if probe && epoch == b.epoch {
			b.probing = false
		}
		b.judge(v, why, epoch)
	}, 0, ""
}

func (b *breaker) judge(v verdict, why string, epoch int) {
	switch v {
	case noVerdict:
	case alive:
		if b.dead {
			b.epoch++
		}
		b.dead, b.probing, b.strikes, b.backoff, b.why = false, false, 0, 0, ""
	case unanswered, unreachable:
		if epoch != b.epoch {
			return
		}
		b.strikes++
		if v == unanswered && !b.dead && b.strikes < strikesToDeath {
			return
		}
		b.dead, b.probing, b.why = true, false, why
		b.epoch++
		b.backoff = min(max(2*b.backoff, minBackoff), maxBackoff)
		// A fifth of jitter keeps many clients from trying at once.
		jittered := time.Duration(float64(b.backoff) * (0.8 + 0.4*b.random()))
		b.next = b.now().Add(min(max(jittered, minBackoff), maxBackoff))
	}
}

// wait returns how long there will be no try, or zero.
func (b *breaker) wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.dead {
		return 0
	}
	return max(b.next.Sub(b.now()), 0)
}
