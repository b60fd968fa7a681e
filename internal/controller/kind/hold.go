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
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxHold is the longest a refused managed resource is left alone.
const maxHold = 600 * time.Second

// holdSteps are how long a managed resource is left alone after being refused
// for the first, second, … time for the same causes.
var holdSteps = [...]time.Duration{1 * time.Second, 4 * time.Second, 16 * time.Second, 64 * time.Second, 256 * time.Second, maxHold} //nolint:gochecknoglobals // A constant table.

// A hold is what is remembered of a refused managed resource.
type hold struct {
	// causes are what could cure the refusal, as they were when it happened.
	causes string
	until  time.Time
	step   int
}

// holds remember which managed resources were refused, and for how long they are
// left alone unless one of their causes changes. They live in memory: after a
// restart everything is tried once.
type holds struct {
	mu sync.Mutex
	m  map[types.UID]hold
}

// remaining is how much longer a managed resource is to be left alone.
func (h *holds) remaining(uid types.UID, causes string, now time.Time) (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held, ok := h.m[uid]
	if !ok || held.causes != causes || !now.Before(held.until) {
		return 0, false
	}
	return held.until.Sub(now), true
}

// refuse records that a managed resource was refused, and returns for how long it
// is left alone.
func (h *holds) refuse(uid types.UID, causes string, now time.Time, atMost time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		h.m = map[types.UID]hold{}
	}
	next := hold{causes: causes}
	if held, ok := h.m[uid]; ok && held.causes == causes {
		next.step = min(held.step+1, len(holdSteps)-1)
	}
	d := min(holdSteps[next.step], atMost)
	next.until = now.Add(d)
	h.m[uid] = next
	return d
}

// forget a managed resource.
func (h *holds) forget(uid types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.m, uid)
}
