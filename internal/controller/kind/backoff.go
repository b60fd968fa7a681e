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
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A backoff grows with each call for the same object until it is forgotten. It
// is our own since the work queue's is reset by every RequeueAfter, and so by a
// rate limit under load.
type backoff struct {
	base, most time.Duration
	factor     float64

	mu sync.Mutex
	n  map[types.UID]int
}

// next is how long to wait this time.
func (b *backoff) next(uid types.UID) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == nil {
		b.n = map[types.UID]int{}
	}
	d := float64(b.base)
	for range b.n[uid] {
		if d *= b.factor; d >= float64(b.most) {
			d = float64(b.most)
			break
		}
	}
	b.n[uid]++
	return jitter(time.Duration(d), 0.2)
}

// forget an object.
func (b *backoff) forget(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.n, uid)
}

// jitter spreads a duration by the given share to both sides.
func jitter(d time.Duration, share float64) time.Duration {
	return time.Duration(float64(d) * (1 + share*(2*rand.Float64()-1))) //nolint:gosec // Spreads load; nothing to guess.
}
