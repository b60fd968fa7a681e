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

package crash

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// sampled is how many kill points of each journey and generation are tried unless
// all are, and twice how many of them are followed by a second one.
const sampled, twice = 3, 1

// A point is when the provider is killed: at its n-th write since the journey
// began, or since it was started again. At the write 0 it never is.
type point struct {
	n      int
	moment moment
}

func (p point) String() string { return fmt.Sprintf("%02d-%s", p.n, p.moment) }

// A fate is when the provider is killed, one life after the other.
type fate []point

func (f fate) String() string {
	names := make([]string, 0, len(f))
	for _, p := range f {
		names = append(names, p.String())
	}
	return strings.Join(names, "+")
}

// Wherever the provider is killed, and whatever is edited before it is started
// again, there is in the end exactly what the specs ask for: nothing twice, no orphan,
// nothing that waits for a human; and what others made at the gateway is as it was.
//
// contract: S8, S11, S12, S23, S27, S33, R1, R2, P1, P4, P5, A11
// case: D1, D2, C7, C8
func TestKill(t *testing.T) {
	t.Parallel()
	for _, j := range journeys() {
		for name, g := range generationsOf(j) {
			t.Run(j.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				writes := travel(t, j, g, nil)
				if t.Failed() {
					return
				}
				fates := choose(t.Name(), writes)
				t.Logf("%d writes, killed at %v", len(writes), fates)
				for _, f := range fates {
					t.Run(f.String(), func(t *testing.T) {
						t.Parallel()
						travel(t, j, g, f)
					})
				}
			})
		}
	}
}

func generations() map[string]emulator.Generation {
	return map[string]emulator.Generation{"Legacy": emulator.Legacy, "InPlace": emulator.InPlace}
}

// pointsOf are all kill points of a journey of so many writes.
func pointsOf(writes []write) []point {
	var points []point
	for i, w := range writes {
		points = append(points, point{i + 1, before}, point{i + 1, after})
		if w.To == gatewayName {
			points = append(points, point{i + 1, late})
		}
	}
	return points
}

// dice that fall alike for the same name and seed.
func dice(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(shared.seed, h.Sum64()))
}

// choose which kill points are tried, the same for the same seed. Some of them are
// followed by a second one: what recovers from a crash may crash as well.
func choose(name string, writes []write) []fate {
	r := dice(name)
	points := pointsOf(writes)
	if !shared.all {
		r.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	}
	once, again := len(points), len(points)
	if !shared.all {
		once, again = min(sampled, once), min(twice, again)
	}
	fates := make([]fate, 0, once+again)
	for _, p := range points[:once] {
		fates = append(fates, fate{p})
	}
	for i := range again {
		fates = append(fates, fate{points[len(points)-1-i], points[r.IntN(len(points))]})
	}
	return fates
}

// travel a journey, with the provider killed and started again as its fate is, and
// return the writes it made until it was killed for the first time or at rest.
func travel(t *testing.T, j journey, g emulator.Generation, f fate) []write {
	c := newScene(t, g)
	defer c.leave()
	next := func() point {
		if len(f) == 0 {
			return point{}
		}
		p := f[0]
		f = f[1:]
		return p
	}

	c.depart(j)
	p := next()
	c.trap.arm(p.n, p.moment, c.kill)
	c.do(j)
	settled := func() error { return j.settled(c) }
	var writes []write
	for p.n > 0 {
		first := !c.death.happened
		c.die(p, settled)
		if first && j.meanwhile != nil {
			j.meanwhile(c)
		}
		p = next()
		c.start(p)
	}
	c.eventually("all is as it should be", settled)
	writes = c.trap.seen()
	c.arrive(settled)
	return writes
}

// depart on a journey: all is there that was before it, the provider among it.
func (c *scene) depart(j journey) {
	c.t.Helper()
	if j.there != nil {
		j.there(c)
	}
	c.set(j.about, j.shape)
	c.start(point{})
	c.connected()
	if j.act == nil {
		return
	}
	c.ask()
	c.eventually("all is ready", c.asAsked)
	c.calm()
}

// set what a test is about, a Subscription if nothing is said.
func (c *scene) set(about func(c *scene) []resource.ModernManaged, shape func(c *scene)) {
	if about == nil {
		about = aSubscription
	}
	c.about = about(c)
	if shape != nil {
		shape(c)
	}
}

// asAsked tells whether all that the test is about is ready.
func (c *scene) asAsked() error {
	return errors.Join(c.fresh(), c.ready(), c.inForce(), c.closed())
}

// do what the journey is about.
func (c *scene) do(j journey) {
	c.t.Helper()
	if j.act != nil {
		j.act(c)
	} else {
		c.ask()
	}
}

// arrive at the end of a journey: all stays as it is, and is gone once what was asked
// for is deleted.
func (c *scene) arrive(settled func() error) {
	c.t.Helper()
	c.calm()
	if err := settled(); err != nil {
		c.t.Errorf("it did not stay as it should be: %v", err)
	}
	if c.fresh() == nil {
		c.delete()
		c.eventually("all is gone", c.gone)
	}
}

// A create that takes its time at the gateway outlives both the managed resource and
// the process, and still leaves nothing behind.
//
// contract: S11, S33
// case: C8
func TestKilledWhileCreateIsDeleted(t *testing.T) {
	t.Parallel()
	for _, j := range journeys() {
		if !slices.Contains([]string{"Create", "APICreate", "PlanCreate"}, j.name) {
			continue
		}
		for name, g := range generationsOf(j) {
			t.Run(j.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				outlive(t, j, g)
			})
		}
	}
}

// outlive a create that takes its time.
func outlive(t *testing.T, j journey, g emulator.Generation) {
	c := newScene(t, g)
	defer c.leave()
	c.depart(j)
	at := c.topics()[0].at
	post := emulator.Match{Method: http.MethodPost, Kind: at}
	commit := make(chan struct{})
	c.gw.Inject(emulator.FailOnce(post, emulator.Delay(commit)))
	c.ask()
	c.eventually("the gateway is asked", func() error {
		if c.gw.Count(post) == 0 {
			return errors.New("it is not")
		}
		return nil
	})
	c.delete()
	c.kill()
	shared.kills.Add(1)
	looks := emulator.Match{Method: http.MethodGet, Kind: at, Where: isAboutOne}
	seen := len(c.gw.Requests(looks))
	c.start(point{})
	c.eventually("the next process has looked", func() error {
		if all := c.gw.Requests(looks); len(all) == seen || all[seen].Outcome == emulator.OutcomePending {
			return errors.New("it has not")
		}
		return nil
	})
	close(commit)
	c.eventually("the gateway has carried it out", func() error {
		for _, r := range c.gw.Requests(post) {
			if r.Committed {
				return nil
			}
		}
		return errors.New("it has not")
	})
	c.eventually("all is gone", c.gone)
}
