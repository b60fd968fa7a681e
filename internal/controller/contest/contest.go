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

// Package contest notices when writing does not help: the gateway answers that it
// took a change, and the next read shows it undone.
package contest

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// tries is how often in a row the same fields are written in vain.
	tries = 3
	// Pause is how long nothing is written after that, once more after each try.
	Pause = 10 * time.Minute
)

// Contests remember, per managed resource, which writes did not last.
type Contests struct {
	mu sync.Mutex
	m  map[types.UID]contest
}

type contest struct {
	generation int64
	fields     string
	writes     int
	last       time.Time
}

// Wrote records that the given fields of a managed resource were written.
func (c *Contests) Wrote(uid types.UID, generation int64, fields []string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[types.UID]contest{}
	}
	next := contest{generation: generation, fields: strings.Join(fields, ","), writes: 1, last: now}
	if was, ok := c.m[uid]; ok && was.generation == next.generation && was.fields == next.fields {
		next.writes = was.writes + 1
	}
	c.m[uid] = next
}

// Lost tells whether writing the given fields again is of no use for now.
func (c *Contests) Lost(uid types.UID, generation int64, fields []string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.m[uid]
	return ok && was.generation == generation && was.fields == strings.Join(fields, ",") && was.writes >= tries && now.Before(was.last.Add(Pause))
}

// Settled forgets a managed resource: what was written lasted, or it is gone.
func (c *Contests) Settled(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, uid)
}
