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
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

const (
	// lateness of events all along a journey.
	lateness = 300 * time.Millisecond
	// longestLull is how long the provider may be left behind while it makes no write:
	// longer than it takes until it polls.
	longestLull = 1500 * time.Millisecond
)

// A hitch is what goes wrong on a journey, at its n-th write.
type hitch struct {
	n int

	// answer to a write to the API server, before or after it is carried out. Optional.
	answer *answer
	moment moment

	// behind is the resource whose events are held back from then on, until so many
	// further writes were made, or until a lull. Optional.
	behind string
	writes int
}

func (h hitch) String() string {
	parts := []string{fmt.Sprintf("%02d", h.n)}
	if h.answer != nil {
		parts = append(parts, h.answer.name, string(h.moment))
	}
	if h.behind != "" {
		parts = append(parts, fmt.Sprintf("%s-behind-%d", h.behind, h.writes))
	}
	return strings.Join(parts, "-")
}

// hitchesOf are all that may happen on a journey of such writes, on which such events
// matter.
func hitchesOf(writes []write, watches []string) []hitch {
	var all []hitch
	for i, w := range writes {
		n := i + 1
		for _, resource := range watches {
			all = append(all, hitch{n: n, behind: resource, writes: 1}, hitch{n: n, behind: resource, writes: 3})
		}
		if !w.toAPIServer() {
			continue
		}
		for _, a := range answers() {
			all = append(all,
				hitch{n: n, answer: &a, moment: before},
				hitch{n: n, answer: &a, moment: after},
				// It does not know what it did, and does not see it.
				hitch{n: n, answer: &a, moment: after, behind: w.watchedBy(watches), writes: 2})
		}
	}
	return all
}

// chooseHitches that are tried, the same for the same seed: any one, and one at the
// record of what the gateway was just asked for. A create's is refused by the API
// server; any other is shown late.
func chooseHitches(name string, writes []write, watches []string) []hitch {
	all := hitchesOf(writes, watches)
	if shared.all {
		return all
	}
	chosen := []hitch{all[dice(name).IntN(len(all))]}
	if h, ok := atRecord(writes, watches); ok && h.String() != chosen[0].String() {
		chosen = append(chosen, h)
	}
	return chosen
}

// atRecord is the hitch at the write that records what a write to the gateway came to,
// if there is one.
func atRecord(writes []write, watches []string) (hitch, bool) {
	// A Secret is no record.
	watches = slices.DeleteFunc(slices.Clone(watches), func(of string) bool { return of == secretsWatch })
	asked := ""
	for i, w := range writes {
		switch {
		case !w.toAPIServer() && asked == "":
			asked, _, _ = strings.Cut(w.Line, " ")
		case asked == http.MethodPost && strings.HasPrefix(w.Line, http.MethodPatch) && w.isOf(watches):
			return hitch{n: i + 1, answer: &answers()[1], moment: before}, true
		case asked != "" && asked != http.MethodPost && w.isOf(watches):
			return hitch{n: i + 1, behind: w.watchedBy(watches), writes: 3}, true
		}
	}
	return hitch{}, false
}

// isOf tells whether a write is one of an object of which such events tell.
func (w write) isOf(watches []string) bool {
	return slices.ContainsFunc(watches, func(of string) bool { return strings.Contains(w.Line, "/"+of+"/") })
}

// watchedBy is the watch that shows a write, or the first if none does.
func (w write) watchedBy(watches []string) string {
	for _, of := range watches {
		if w.isOf([]string{of}) {
			return of
		}
	}
	return watches[0]
}

// watches are what shows the journey's events, those of its topics first.
func (c *scene) watches() []string {
	var all []string
	for _, s := range c.topics() {
		all = append(all, s.watch)
	}
	if c.isAbout(c.s) {
		all = append(all, secretsWatch)
	}
	return all
}

// A stumble is a hitch as it happens.
type stumble struct {
	hitch

	c *scene
	// poke makes the provider look again at what is late.
	poke func()

	// lull is how long the provider may be left behind.
	lull time.Duration

	mu sync.Mutex
	// at is the write at which it happened; 0 if it has not yet.
	at   int
	over chan struct{}
	end  func()
}

// stumble over a hitch.
func (c *scene) stumble(h hitch) *stumble {
	s := &stumble{hitch: h, c: c, poke: func() {}, lull: longestLull, over: make(chan struct{})}
	s.end = sync.OnceFunc(func() {
		c.sluices.open()
		close(s.over)
	})
	if h.behind == "" {
		return s
	}
	// The other one is not late.
	var o client.Object = &corev1.Secret{ObjectMeta: c.named("gateway")}
	switch ref := c.s.Spec.ForProvider.SubscriptionTokenSecretRef; {
	case h.behind == secretsWatch:
		o = &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}
	case c.isAbout(c.s) && ref != nil:
		o = &corev1.Secret{ObjectMeta: c.named(ref.Name)}
	}
	s.poke = func() {
		// Neither changes anything.
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"crash":"poked"}}}`))
		if err := c.kube.Patch(context.Background(), o, patch); err != nil {
			c.t.Errorf("cannot poke the provider: %v", err)
		}
	}
	return s
}

// happened tells at which write it happened, or 0.
func (s *stumble) happened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// begins tells whether it is now that it happens.
func (s *stumble) begins(r *relay, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 || s.at > 0 || n < s.n || s.answer != nil && r.to == gatewayName {
		return false
	}
	s.at = n
	return true
}

// meddle with the writes.
func (s *stumble) meddle(r *relay, n int, w http.ResponseWriter, req *http.Request) {
	if !s.begins(r, n) {
		relayed(r, n, w, req)
		if at := s.happened(); at > 0 && n >= at+s.writes {
			s.end()
		}
		return
	}
	do := s.end
	if s.behind != "" {
		s.c.sluices.shutDown(s.behind)
		do = func() {
			s.poke()
			time.AfterFunc(s.lull, s.end)
		}
	}
	if s.answer == nil {
		r.answerAfter(w, req, do)
		return
	}
	r.misanswer(w, req, *s.answer, s.moment, do)
}

// Whatever the API server answers to a write, carried out or not, and however old
// what the provider sees, there is in the end exactly what the specs ask for: one of
// each and one create, the right token, nothing that others made changed, and nothing
// left of it once it is deleted.
//
// contract: S6, S8, S11, S12, S17, S26, S27, S33, R1, R2, P1, P4, P5, A10, A11
// case: C7, D2, D5
func TestStumble(t *testing.T) {
	t.Parallel()
	for _, j := range journeys() {
		if j.meanwhile != nil {
			// There is no meanwhile: the provider is not killed.
			continue
		}
		for name, g := range generationsOf(j) {
			t.Run(j.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				writes, watches := travelLate(t, j, g)
				if t.Failed() {
					return
				}
				chosen := chooseHitches(t.Name(), writes, watches)
				t.Logf("%d writes, hitches %v", len(writes), chosen)
				for _, h := range chosen {
					t.Run(h.String(), func(t *testing.T) {
						t.Parallel()
						travelStumbling(t, j, g, h)
					})
				}
			})
		}
	}
}

// travelLate travels a journey on which all that the provider sees is late, and
// returns the writes it makes and what it watches.
func travelLate(t *testing.T, j journey, g emulator.Generation) ([]write, []string) {
	c := newScene(t, g)
	defer c.leave()
	c.depart(j)
	c.asked = c.writes()
	c.sluices.slow(lateness)
	c.trap.arm(0, before, nil)
	c.do(j)
	settled := func() error { return j.settled(c) }
	c.eventually("all is as it should be", settled)
	writes := c.trap.seen()
	shared.late.Add(1)
	c.createdStraight(j, true)
	c.askedNoMore(j, hitch{})
	c.arrive(settled)
	return writes, c.watches()
}

// createdStraight sees to it that a create asked the gateway once, and for nothing
// more if all was answered: whatever the provider does not see, it knows what it
// did. What is taken over was refused first.
func (c *scene) createdStraight(j journey, answered bool) {
	c.t.Helper()
	if !j.creates {
		return
	}
	for _, s := range c.topics() {
		if n := c.gw.Count(emulator.Match{Method: http.MethodPost, Kind: s.at}); n != 1 {
			c.t.Errorf("the gateway was asked %d times to create %T", n, s.mg)
		}
		if n := c.gw.Count(emulator.Match{Method: http.MethodPut, Kind: s.at}); answered && n > 0 {
			c.t.Errorf("the gateway was asked %d times to change %T, which was just created", n, s.mg)
		}
	}
}

// travelStumbling travels a journey with a hitch.
func travelStumbling(t *testing.T, j journey, g emulator.Generation, h hitch) {
	c := newScene(t, g)
	defer c.leave()
	c.depart(j)
	c.asked = c.writes()
	s := c.stumble(h)
	c.trap.armWith(s.meddle)
	c.do(j)
	settled := func() error { return j.settled(c) }
	c.eventually("all is as it should be", settled)
	if at := s.happened(); at == 0 {
		shared.smooth.Add(1)
		c.tell("nothing happened")
	} else {
		shared.stumbles.Add(1)
		if c.sluices.heldBack() > 0 {
			shared.behind.Add(1)
		}
		c.eventually("nothing is late any more", func() error {
			select {
			case <-s.over:
				return nil
			default:
				return errors.New("something is")
			}
		})
		c.eventually("all is as it should be with nothing late", settled)
		c.tell("%s happened at write %d", h, at)
	}
	c.createdStraight(j, h.answer == nil)
	c.askedNoMore(j, h)
	c.arrive(settled)
}

// writes to the gateway that were asked for so far.
func (c *scene) writes() int { return len(c.gw.Requests(emulator.Match{Writes: true})) }

// askedNoMore sees to it that the gateway was not asked for more than the journey
// needs and the hitch costs: what could not be recorded is done once more, but what is
// late is waited for.
func (c *scene) askedNoMore(j journey, h hitch) {
	c.t.Helper()
	need := j.asks
	switch need {
	case asOften:
		return
	case 0:
		need = len(c.about)
	}
	may := need
	if h.answer != nil {
		may += need
	}
	if h.behind != "" && !c.inPlace && c.isAbout(c.s) {
		// The poke made another version of the token's Secret, and a legacy gateway that
		// does not take a token is asked again for each.
		may++
	}
	if n := c.writes() - c.asked; n > may {
		c.t.Errorf("the gateway was asked for %d writes, want %d, or %d because of the hitch", n, need, may)
	}
}
