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
// took a change, and the next read shows it undone; or what was created is gone
// again and again.
package contest

import (
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// tries is how often in a row the same fields are written in vain.
	tries = 3
	// recreations are how often an hour an object is created again at once.
	recreations = 3
	// Pause is how long nothing is written after that, once more after each try.
	Pause = 10 * time.Minute
)

// Contests remember, per managed resource, which writes did not last.
type Contests struct {
	mu sync.Mutex
	m  map[types.UID]contest
	// recreated is when objects were created again, within the last hour.
	recreated map[types.UID][]time.Time
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
	return ok && was.fields == strings.Join(fields, ",") && was.rests(generation, now)
}

// Rests tells whether writing anything is of no use for now.
func (c *Contests) Rests(uid types.UID, generation int64, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.m[uid]
	return ok && was.rests(generation, now)
}

func (c contest) rests(generation int64, now time.Time) bool {
	return c.generation == generation && c.writes >= tries && now.Before(c.last.Add(Pause))
}

// Settled forgets what was written to a managed resource: it lasted.
func (c *Contests) Settled(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, uid)
}

// Recreated records that what a managed resource held was gone and was created
// again.
func (c *Contests) Recreated(uid types.UID, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recreated == nil {
		c.recreated = map[types.UID][]time.Time{}
	}
	c.recreated[uid] = append(lately(c.recreated[uid], now), now)
}

// Vanishes tells whether what a managed resource holds is gone so often that
// creating it again is of no use for now.
func (c *Contests) Vanishes(uid types.UID, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	times := lately(c.recreated[uid], now)
	if len(times) > 0 {
		c.recreated[uid] = times
	} else {
		delete(c.recreated, uid)
	}
	return len(times) >= recreations && now.Before(times[len(times)-1].Add(Pause))
}

// Forget a managed resource that is gone.
func (c *Contests) Forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, uid)
	delete(c.recreated, uid)
}

func lately(times []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) > time.Hour })
}
