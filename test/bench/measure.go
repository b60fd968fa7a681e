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

package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	directName, providerName = "direct", "provider"

	// hurried is the share of objects that are edited while they are created.
	hurriedShare = 0.05
	// slack is what a goal grants beyond the interval in which drift is noticed.
	slack = 5 * time.Second
)

// A bench is one run.
type bench struct {
	config

	root string
	// bin is where the binaries are.
	bin    string
	rand   *rand.Rand
	report *report
	began  time.Time
}

// measure all, one after the other.
func measure(ctx context.Context, c config, root string) (*report, error) {
	b := &bench{config: c, root: root, began: time.Now(), report: &report{n: c.n, machine: thisMachine(ctx, root)}}
	b.rand = rand.New(rand.NewPCG(c.seed, uint64(c.n))) //nolint:gosec // The same objects are to be chosen again.
	var err error
	if b.bin, err = os.MkdirTemp("", "apiplatform-bench-"); err != nil {
		return nil, errors.Wrap(err, "cannot create a temporary folder")
	}
	defer os.RemoveAll(b.bin) //nolint:errcheck // Nobody is left to be told.
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	floor, err := b.measureFloor(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "cannot measure the floor")
	}
	if b.burst {
		err := errors.Wrap(b.measureProvider(ctx, floor, &direct{}), "cannot measure the provider")
		for i := range b.report.rows {
			b.report.rows[i].direct = none()
		}
		return b.report, err
	}
	direct, err := b.measureDirect(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "cannot measure the direct one")
	}
	return b.report, errors.Wrap(b.measureProvider(ctx, floor, direct), "cannot measure the provider")
}

func (b *bench) tell(format string, args ...any) {
	fmt.Fprintf(b.log, "%4.0fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// build what is measured, the provider as it is shipped.
func (b *bench) build(ctx context.Context) error {
	for name, pkg := range map[string]string{providerName: "./cmd/provider", directName: "./test/bench/direct"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(b.bin, name), pkg) //nolint:gosec // Our own.
		cmd.Dir = b.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.Wrapf(err, "cannot build %s: %s", pkg, out)
		}
	}
	return nil
}

// patience is how long so many objects are waited for.
func (b *bench) patience(n int) time.Duration {
	return 3*time.Minute + time.Duration(n)*100*time.Millisecond + 2*b.drift
}

// A creation is what the creation of objects in one burst came to.
type creation struct {
	took     time.Duration
	rate     float64
	p50, p99 time.Duration
	stuck    int
	// writes to the API server per object. Events are apart, and so are all writes to
	// the status of ProviderConfigs together, which count who uses them.
	writes, events float64
	configs        int
	// cpu is what all took until the last one was Ready, by program.
	cpu spending
	// parts of the writes, and reads beside them, for people.
	parts, reads string
}

// A beginning is when something begins that is measured.
type beginning struct {
	at    time.Time
	calls int
	cpu   spending
}

func (w *world) begin() (beginning, error) {
	cpu, err := spent()
	return beginning{at: time.Now(), calls: w.relay.calls.mark(), cpu: cpu}, err
}

// created waits until all are Ready that were begun to be applied at a time, and says
// what that came to. Who are hurried were edited meanwhile, and their writes are not
// counted.
func (b *bench) created(ctx context.Context, w *world, all []*object, began beginning, hurried map[*object]haste) (creation, error) {
	next := 0
	err := w.eventually(ctx, b.patience(len(all)), func() error {
		// To look at all of them each time would take what is to be measured.
		for ; next < len(all); next++ {
			if w.tracker.readyAt(all[next]).IsZero() {
				return errors.New("not all are Ready")
			}
		}
		return nil
	})
	stuck, example := w.tracker.stuck(all)
	c := creation{stuck: stuck}
	now, failed := spent()
	if failed != nil {
		return c, failed
	}
	c.cpu = now.since(began.cpu)
	if err != nil {
		if c.stuck == 0 || ctx.Err() != nil || w.failed() != nil {
			return c, err
		}
		b.broken(errors.Wrapf(err, "%d of %d are stuck, such as %s", c.stuck, len(all), example))
	}
	var took []time.Duration
	last := began.at
	for _, o := range all {
		at := w.tracker.readyAt(o)
		if at.IsZero() {
			continue
		}
		took = append(took, at.Sub(o.applied))
		if at.After(last) {
			last = at
		}
	}
	c.took, c.p50, c.p99 = last.Sub(began.at), percentile(took, 0.5), percentile(took, 0.99)
	c.rate = ratio(float64(len(took)), c.took.Seconds())

	// What follows being Ready is part of it.
	if err := w.pass(ctx, min(b.still, 3*time.Second)); err != nil {
		return c, err
	}
	edited := sets.New[string]()
	for o := range hurried {
		edited.Insert(o.name)
	}
	calls := w.relay.calls.since(began.calls)
	c.events = float64(count(calls, call.isEvent)) / float64(len(all))
	c.configs = count(calls, func(c call) bool { return c.writes() && c.isConfig() })
	c.writes, c.parts = writesPerObject(calls, len(all), edited)
	c.reads = readsPerObject(calls, len(all))
	return c, nil
}

// readsPerObject are what was read besides, watches apart.
func readsPerObject(calls []call, n int) string {
	by := countBy(calls, func(c call) string {
		if c.Verb == "get" || c.Verb == "list" {
			return c.line()
		}
		return ""
	})
	parts := []string{}
	for _, what := range slices.Sorted(mapKeys(by)) {
		parts = append(parts, what+" "+number(float64(by[what])/float64(n)))
	}
	return strings.Join(parts, ", ")
}

// writesPerObject are the writes for each of n objects, and what they consist of. The
// objects that were edited are left out where a write names one.
func writesPerObject(calls []call, n int, edited sets.Set[string]) (float64, string) {
	const named = "subscriptions"
	total, parts := 0.0, []string{}
	by := countBy(calls, func(c call) string {
		if !c.writes() || c.isConfig() || c.Resource == named && edited.Has(c.Name) {
			return ""
		}
		return c.line()
	})
	for _, what := range slices.Sorted(mapKeys(by)) {
		of := n
		if strings.HasPrefix(what, named) {
			of -= edited.Len()
		}
		each := float64(by[what]) / float64(of)
		total += each
		parts = append(parts, what+" "+number(each))
	}
	return total, strings.Join(parts, ", ")
}

// broken notes that something is, and goes on: what else is may say why.
func (b *bench) broken(err error) {
	b.tell("BROKEN: %v", err)
	b.report.broken = append(b.report.broken, err.Error())
}

// A repose is what is done while nothing happens.
type repose struct {
	// requests to gateways, writes among them, and writes to the API server, in a minute.
	requests, gatewayWrites, clusterWrites float64
	// cpu in percent of a core.
	cpu float64
	usage
	// parts of the requests, for people.
	parts string
}

// rest for a while and see what who is measured does.
func (w *world) rest(ctx context.Context, d time.Duration) (repose, error) {
	calls, visits := w.relay.calls.mark(), w.marks()
	before, err := w.usage()
	if err != nil {
		return repose{}, err
	}
	began := time.Now()
	if err := w.pass(ctx, d); err != nil {
		return repose{}, err
	}
	took := time.Since(began)
	after, err := w.usage()
	if err != nil {
		return repose{}, err
	}
	seen := w.visitsSince(visits)
	parts := []string{}
	by := countBy(seen, func(v visit) string {
		if v.ID == "" {
			return v.Method + " " + v.Kind
		}
		return v.Method + " " + v.Kind + "/{id}"
	})
	for _, what := range slices.Sorted(mapKeys(by)) {
		parts = append(parts, what+" "+number(perMinute(by[what], took)))
	}
	return repose{
		requests:      perMinute(len(seen), took),
		gatewayWrites: perMinute(count(seen, visit.isWrite), took),
		clusterWrites: perMinute(count(w.relay.calls.since(calls), call.writes), took),
		cpu:           100 * (after.CPU - before.CPU).Seconds() / took.Seconds(),
		usage:         after,
		parts:         strings.Join(parts, ", "),
	}, nil
}

// whole is the time made a multiple of an interval, so that what is done once in that
// is seen as often as it is done.
func whole(d, interval time.Duration) time.Duration {
	return max(1, (d+interval-1)/interval) * interval
}

// marks in the logs of all gateways.
func (w *world) marks() []int {
	marks := make([]int, len(w.sites))
	for i, s := range w.sites {
		marks[i] = s.visits.mark()
	}
	return marks
}

func (w *world) visitsSince(marks []int) []visit {
	var all []visit
	for i, s := range w.sites[:len(marks)] {
		all = append(all, s.visits.since(marks[i])...)
	}
	return all
}

// measureFloor creates all objects the shortest way there is.
func (b *bench) measureFloor(ctx context.Context) (creation, error) {
	b.tell("floor: %d subscriptions in one burst", b.n)
	w, err := newWorld(ctx, b.root)
	if err != nil {
		return creation{}, err
	}
	defer w.end()
	f, err := newFloor(w, w.sites[0])
	if err != nil {
		return creation{}, err
	}
	all := objects(w.sites[0], b.n)
	if err := w.tokens(ctx, all); err != nil {
		return creation{}, err
	}
	began, err := w.begin()
	if err != nil {
		return creation{}, err
	}
	if err := f.createAll(ctx, w, all); err != nil {
		return creation{}, err
	}
	return b.created(ctx, w, all, began, nil)
}

// A direct is what the direct one came to.
type direct struct {
	creation

	// limited is what it does at rest as it comes, and unlimited what it does if its limit
	// does not keep it from looking at each object in time.
	limited, unlimited repose
	latencies          []time.Duration
	missing            int
}

func (b *bench) measureDirect(ctx context.Context) (*direct, error) {
	w, err := newWorld(ctx, b.root)
	if err != nil {
		return nil, err
	}
	defer w.end()
	d := &direct{}
	launch := func(rate int) error {
		return w.launch(ctx, directName, filepath.Join(b.bin, directName), "--poll="+b.directPoll.String(), "--max-reconcile-rate="+strconv.Itoa(rate))
	}
	all := objects(w.sites[0], b.n)
	burst := all[:min(b.directCreate, b.n)]
	b.tell("direct: %d subscriptions in one burst", len(burst))
	if err := w.tokens(ctx, all); err != nil {
		return nil, err
	}
	if err := launch(b.directRate); err != nil {
		return nil, err
	}
	if err := w.pass(ctx, b.still/5); err != nil {
		return nil, err
	}
	began, err := w.begin()
	if err != nil {
		return nil, err
	}
	if err := w.apply(ctx, burst, nil); err != nil {
		return nil, err
	}
	if d.creation, err = b.created(ctx, w, burst, began, nil); err != nil {
		return nil, err
	}

	// The others are made as it would have made them: it needs too long.
	w.halt()
	if rest := all[len(burst):]; len(rest) > 0 {
		f, err := newFloor(w, w.sites[0])
		if err != nil {
			return nil, err
		}
		if err := f.createAll(ctx, w, rest); err != nil {
			return nil, err
		}
	}
	if n := learnIDs(all); n > 0 {
		return nil, errors.Errorf("the gateway lacks %d subscriptions", n)
	}

	for _, at := range []struct {
		rate int
		into *repose
	}{{b.directRate, &d.limited}, {max(b.directRate, b.n), &d.unlimited}} {
		b.tell("direct: %d reconciles a second, at rest", at.rate)
		mark := w.sites[0].visits.mark()
		if err := launch(at.rate); err != nil {
			return nil, err
		}
		if err := b.warmed(ctx, w, mark, len(all)); err != nil {
			return nil, err
		}
		if *at.into, err = w.rest(ctx, b.directPoll); err != nil {
			return nil, err
		}
		if at.rate == b.directRate {
			b.tell("direct: %d edits", b.directEdits)
			// It does not notice a changed Secret.
			kinds := []change{changeStatus, changePlan}
			if d.latencies, d.missing, err = w.latencies(ctx, sample(b.rand, all, b.directEdits), b.directEdits, kinds, b.directPoll); err != nil {
				return nil, err
			}
		}
		w.halt()
	}
	return d, nil
}

// warmed waits until each object was looked at once, but not for ever.
func (b *bench) warmed(ctx context.Context, w *world, mark, n int) error {
	until := time.Now().Add(b.warm)
	seen := sets.New[string]()
	if err := w.eventually(ctx, b.warm+time.Minute, func() error {
		now := w.sites[0].visits.since(mark)
		mark += len(now)
		for _, v := range now {
			seen.Insert(v.ID)
		}
		if seen.Len() < n && time.Now().Before(until) {
			return errors.New("it has not looked at all")
		}
		return nil
	}); err != nil {
		return err
	}
	// Where all are looked at again at about the same time, that is not to be just where
	// the measurement begins and ends.
	return w.pass(ctx, b.directPoll/2)
}

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
