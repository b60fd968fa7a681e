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
	"math"
	"net/http"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Goals that depend on nothing.
const (
	goalShareOfFloor  = 70     // percent
	goalSpread        = 2      // p99 / p50 of the time to Ready
	goalWrites        = 6      // API-server writes per object
	goalIdleRequests  = 10     // per minute
	goalIdleCPU       = 2      // percent of a core
	goalP50, goalP99  = 10, 50 // ms
	goalRestartVisits = 19     // fewer than 20
	goalFirstWork     = 15     // s
	goalHang          = 1.2    // p99 with / p99 without
)

// goalIdleShare is how many requests may be made at rest, in thousandths of the direct
// one's. They are the same for any number of objects, so it takes many to be that few.
func goalIdleShare(n int) goal {
	if n < 10000 {
		return goal{}
	}
	return atMost(1)
}

// goalMemory is how much the provider may have in memory, in MiB.
func goalMemory(n int) float64 {
	if n <= 1000 {
		return 100
	}
	return 250
}

// A trial is the provider, being measured.
type trial struct {
	*bench

	w    *world
	site *site
	all  []*object

	floor  creation
	direct *direct
}

func (b *bench) measureProvider(ctx context.Context, floor creation, direct *direct) error {
	w, err := newWorld(ctx, b.root)
	if err != nil {
		return err
	}
	defer w.end()
	t := &trial{bench: b, w: w, site: w.sites[0], floor: floor, direct: direct}
	t.all = objects(t.site, b.n)
	scenarios := []func(context.Context) error{t.create, t.rest, t.edit, t.interfere, t.memory, t.restart, t.hang}
	if b.burst {
		scenarios = scenarios[:1]
	}
	for _, scenario := range scenarios {
		if err := scenario(ctx); err != nil {
			return err
		}
	}
	return nil
}

// launch the provider as it is shipped.
func (t *trial) launch(ctx context.Context) error {
	args := append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, t.providerArgs...)
	return t.w.launch(ctx, providerName, filepath.Join(t.bin, providerName), args...)
}

// create all in one burst, and edit some of them meanwhile.
func (t *trial) create(ctx context.Context) error {
	t.tell("provider: %d subscriptions in one burst", t.n)
	if err := t.w.tokens(ctx, t.all); err != nil {
		return err
	}
	if err := t.launch(ctx); err != nil {
		return err
	}
	if _, err := t.w.quiet(ctx, t.still/3, t.patience(0)); err != nil {
		return err
	}
	// A hundred a second is about what a small machine does, so that the edits end when
	// the burst does.
	h := newHurry(t.w, t.rand, t.all, hurriedShare, max(time.Second, time.Duration(t.n)*10*time.Millisecond))
	began, err := t.w.begin()
	if err != nil {
		return err
	}
	err = t.w.apply(ctx, t.all, func(o *object, _ *gatewayv1alpha1.Subscription) { h.applied(ctx, o) })
	if err := errors.Join(err, h.wait()); err != nil {
		return err
	}
	c, err := t.created(ctx, t.w, t.all, began, h.due)
	if err != nil {
		return err
	}
	const burst = "1 create"
	share := 100 * ratio(c.rate, t.floor.rate)
	t.report.add(
		row{burst, fmt.Sprintf("all Ready (direct: of %d)", min(t.directCreate, t.n)), "s", c.took.Seconds(), t.floor.took.Seconds(), t.direct.took.Seconds(), goal{}},
		row{burst, "rate", "1/s", c.rate, t.floor.rate, t.direct.rate, goal{}},
		row{burst, "rate, of the floor's", "%", share, 100, 100 * ratio(t.direct.rate, t.floor.rate), atLeast(goalShareOfFloor)},
		row{burst, "time to Ready p50", "ms", ms(c.p50), ms(t.floor.p50), ms(t.direct.p50), goal{}},
		row{burst, "time to Ready p99", "ms", ms(c.p99), ms(t.floor.p99), ms(t.direct.p99), goal{}},
		row{burst, "time to Ready p99 / p50", "", ratio(ms(c.p99), ms(c.p50)), ratio(ms(t.floor.p99), ms(t.floor.p50)), ratio(ms(t.direct.p99), ms(t.direct.p50)), atMost(goalSpread)},
		row{burst, "CPU per object: API server and etcd", "ms", perObject(c, t.n, apiServerName, etcdName), perObject(t.floor, t.n, apiServerName, etcdName), perObject(t.direct.creation, t.directCreate, apiServerName, etcdName), goal{}},
		row{burst, "CPU per object: itself", "ms", perObject(c, t.n, providerName), none(), perObject(t.direct.creation, t.directCreate, directName), goal{}},
		row{burst, "CPU per object: users, gateway, relays (and the floor)", "ms", perObject(c, t.n, benchName), perObject(t.floor, t.n, benchName), perObject(t.direct.creation, t.directCreate, benchName), goal{}},
		row{burst, "stuck", "", float64(c.stuck), float64(t.floor.stuck), float64(t.direct.stuck), atMost(0)},
		row{"2 writes", "API-server writes per object", "", c.writes, t.floor.writes, t.direct.writes, atMost(goalWrites)},
		row{"2 writes", "status of the ProviderConfig, in all", "", float64(c.configs), none(), float64(t.direct.configs), goal{}},
		row{"2 writes", "events per object", "", c.events, t.floor.events, t.direct.events, goal{}},
	)
	t.report.note("API-server writes per object, provider: %s", c.parts)
	t.report.note("API-server reads per object, provider: %s", c.reads)
	t.report.note("API-server writes per object, floor: %s", t.floor.parts)
	t.report.note("API-server writes per object, direct: %s", t.direct.parts)
	return t.lost(ctx, h)
}

// perObject is the processor time, in ms, that programs took for each of n objects.
func perObject(c creation, n int, programs ...string) float64 {
	return ratio(ms(c.cpu.of(programs...)), float64(n))
}

// lost finds out whether the gateway has all as it is wanted.
func (t *trial) lost(ctx context.Context, h *hurry) error {
	t.tell("provider: %d edits during the burst are to be in force", len(h.due))
	lost, others := 0, len(t.all)
	looked := time.Time{}
	err := t.w.eventually(ctx, t.patience(0), func() error {
		if time.Since(looked) < time.Second {
			return errors.New("not yet")
		}
		looked = time.Now()
		lost, others = 0, 0
		missing := learnIDs(t.all)
		for _, o := range t.all {
			_, edited := h.due[o]
			switch {
			case o.there():
			case edited:
				lost++
			default:
				others++
			}
		}
		if lost+others > 0 {
			return errors.Errorf("%d edited and %d other subscriptions are not as they are wanted, and %d are missing", lost, others, missing)
		}
		return nil
	})
	if err != nil && (ctx.Err() != nil || t.w.failed() != nil) {
		return err
	}
	if others > 0 {
		t.broken(errors.Errorf("%d subscriptions that nobody edited are not as they are wanted", others))
	}
	posts := count(t.site.visits.since(0), func(v visit) bool { return v.Method == http.MethodPost && v.Kind == "subscriptions" })
	const edits = "3 edits in the burst"
	t.report.add(
		row{edits, fmt.Sprintf("lost, of %d", len(h.due)), "", float64(lost), none(), none(), atMost(0)},
		row{edits, "duplicate POSTs", "", float64(posts - len(t.all)), none(), none(), atMost(0)},
	)
	return nil
}

// rest while nothing happens.
func (t *trial) rest(ctx context.Context) error {
	took, err := t.settle(ctx)
	if err != nil {
		return err
	}
	window := whole(t.idle, t.drift)
	t.tell("provider: settled after %.0f s, at rest for %s", took.Seconds(), window)
	r, err := t.w.rest(ctx, window)
	if err != nil {
		return err
	}
	const idle = "4 idle"
	limited, unlimited := t.direct.limited, t.direct.unlimited
	t.report.add(
		row{idle, "gateway requests", "1/min", r.requests, none(), limited.requests, atMost(goalIdleRequests)},
		row{idle, figureRequests, "1/min", r.requests, none(), unlimited.requests, goal{}},
		row{idle, "gateway requests, of direct's without its limit", "1/1000", 1000 * ratio(r.requests, unlimited.requests), none(), 1000, goalIdleShare(t.n)},
		row{idle, "gateway writes", "1/min", r.gatewayWrites, none(), limited.gatewayWrites, atMost(0)},
		row{idle, "API-server writes", "1/min", r.clusterWrites, none(), limited.clusterWrites, atMost(0)},
		row{idle, "API-server writes, direct without its limit", "1/min", r.clusterWrites, none(), unlimited.clusterWrites, goal{}},
		row{idle, "CPU", "% of a core", r.cpu, none(), limited.cpu, atMost(goalIdleCPU)},
		row{idle, "CPU, direct without its limit", "% of a core", r.cpu, none(), unlimited.cpu, goal{}},
	)
	t.report.note("gateway requests per minute at rest, provider: %s", r.parts)
	t.report.note("gateway requests per minute at rest, direct: %s", limited.parts)
	t.report.note("gateway requests per minute at rest, direct without its limit: %s", unlimited.parts)
	return nil
}

// allChanges are what a user changes, in turn.
func allChanges() []change { return []change{changeStatus, changePlan, changeToken} }

// edit one after the other.
func (t *trial) edit(ctx context.Context) error {
	t.tell("provider: %d edits one after the other", t.edits)
	took, missing, err := t.w.latencies(ctx, sample(t.rand, t.all, t.edits), t.edits, allChanges(), t.drift+time.Minute)
	if err != nil {
		return err
	}
	if missing > 0 {
		t.broken(errors.Errorf("%d edits did not get to the gateway", missing))
	}
	const latency = "5 edit to PUT"
	of := func(share float64) float64 { return ms(percentile(t.direct.latencies, share)) }
	t.report.add(
		row{latency, "p50", "ms", ms(percentile(took, 0.5)), none(), of(0.5), atMost(goalP50)},
		row{latency, "p99", "ms", ms(percentile(took, 0.99)), none(), of(0.99), atMost(goalP99)},
		row{latency, fmt.Sprintf("not within %s (direct: of %d)", t.directPoll, len(t.direct.latencies)), "", float64(count(took, func(d time.Duration) bool { return d >= t.directPoll })), none(), float64(t.direct.missing), goal{}},
	)
	return nil
}

// interfere with what the gateway has, as others may.
func (t *trial) interfere(ctx context.Context) error {
	if learnIDs(t.all) > 0 {
		return errors.New("the gateway lacks subscriptions")
	}
	chosen := sample(t.rand, t.all, 2*min(t.foreign, t.n/4))
	changed, deleted := chosen[:len(chosen)/2], chosen[len(chosen)/2:]
	t.tell("provider: others change %d subscriptions, and delete %d", len(changed), len(deleted))
	began := time.Now()
	for i, o := range changed {
		t.site.gateway.EditSubscription(o.id, func(s *emulator.Subscription) {
			if i%2 == 0 {
				s.Status = "REVOKED"
				return
			}
			s.SubscriptionPlanID = t.site.plans[1-o.plan]
		})
	}
	for _, o := range deleted {
		t.site.gateway.DeleteSubscription(o.id)
	}
	repaired := map[*object]time.Duration{}
	err := t.w.eventually(ctx, 3*t.drift+time.Minute, func() error {
		for _, o := range chosen {
			if _, is := repaired[o]; !is && o.there() {
				repaired[o] = time.Since(began)
			}
		}
		if len(repaired) < len(chosen) {
			return errors.Errorf("%d of %d subscriptions that others changed or deleted are not repaired", len(chosen)-len(repaired), len(chosen))
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil || t.w.failed() != nil {
			return err
		}
		t.broken(err)
	}
	limit := atMost((t.drift + slack).Seconds())
	for _, of := range []struct {
		name    string
		objects []*object
	}{{"changed", changed}, {"deleted", deleted}} {
		var took []time.Duration
		for _, o := range of.objects {
			if d, is := repaired[o]; is {
				took = append(took, d)
			}
		}
		figure := longest(took).Seconds()
		if len(took) < len(of.objects) {
			figure = math.Inf(1)
		}
		t.report.add(row{"6 drift", fmt.Sprintf("%s by others, repaired, max of %d", of.name, len(of.objects)), "s", figure, none(), none(), limit})
	}
	return nil
}

// settle once each subscription was looked at again, which may make it write what came
// of the last look, and nothing was written for a while. It tells how long that took.
func (t *trial) settle(ctx context.Context) (time.Duration, error) {
	if err := t.w.pass(ctx, t.drift); err != nil {
		return 0, err
	}
	took, err := t.w.quiet(ctx, t.still, t.patience(0))
	return t.drift + took, err
}

// memory that the provider has come to need.
func (t *trial) memory(ctx context.Context) error {
	if _, err := t.settle(ctx); err != nil {
		return err
	}
	u, err := t.w.usage()
	if err != nil {
		return err
	}
	limit, direct := atMost(goalMemory(t.n)), t.direct.unlimited
	t.report.add(
		row{"8 memory", figureRSS, "MiB", mebibytes(u.RSS), none(), mebibytes(direct.RSS), limit},
		row{"8 memory", "peak", "MiB", mebibytes(u.Peak), none(), mebibytes(direct.Peak), limit},
	)
	return nil
}

// restart the provider, and edit something right away.
func (t *trial) restart(ctx context.Context) error {
	t.tell("provider: restart, and %s of looking", t.bench.restart)
	t.w.halt()
	calls, visits := t.w.relay.calls.mark(), t.w.marks()
	o := sample(t.rand, t.all, 1)[0]
	arrived := t.site.await(o.id)
	began := time.Now()
	if err := t.launch(ctx); err != nil {
		return err
	}
	if _, err := t.w.edit(ctx, o, changeStatus); err != nil {
		return err
	}
	work := time.Duration(-1)
	patience := t.bench.restart + t.drift
	err := t.w.eventually(ctx, patience, func() error {
		select {
		case at := <-arrived:
			work = at.Sub(began)
		default:
		}
		if work < 0 || time.Since(began) < t.bench.restart {
			return errors.New("an edit made at the start did not get to the gateway")
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil || t.w.failed() != nil {
			return err
		}
		t.broken(err)
		work = patience
	}
	made := t.w.relay.calls.since(calls)
	writes := count(made, func(c call) bool { return c.writes() && c.Name != o.name })
	secrets := count(made, func(c call) bool { return c.readsSecrets() && c.Name != o.name && c.Name != configName })
	requests := count(t.w.visitsSince(visits), func(v visit) bool { return v.ID != o.id })
	by := countBy(made, func(c call) string {
		if !c.writes() || c.Name == o.name {
			return ""
		}
		return c.line()
	})
	if len(by) > 0 {
		t.report.note("API-server writes after a restart, provider: %v", by)
	}
	const again = "7 restart"
	t.report.add(
		row{again, "API-server writes", "", float64(writes), none(), none(), atMost(0)},
		row{again, "Secrets read", "", float64(secrets), none(), none(), atMost(0)},
		row{again, fmt.Sprintf("gateway requests within %s", t.bench.restart), "", float64(requests), none(), none(), atMost(goalRestartVisits)},
		row{again, "until the first edit got to the gateway", "s", work.Seconds(), none(), none(), atMost(goalFirstWork)},
	)
	return nil
}

// hang one of several gateways, and see what becomes of edits at the others.
func (t *trial) hang(ctx context.Context) error {
	perSite := min(max(2, t.n/50), 100)
	t.tell("provider: %d more gateways with %d subscriptions each", t.sites-1, perSite)
	var others []*object
	for i := range t.sites - 1 {
		s, err := t.w.addSite(ctx, fmt.Sprintf("tenant-%d", i+1))
		if err != nil {
			return err
		}
		others = append(others, objects(s, perSite)...)
	}
	if err := t.w.tokens(ctx, others); err != nil {
		return err
	}
	began, err := t.w.begin()
	if err != nil {
		return err
	}
	if err := t.w.apply(ctx, others, nil); err != nil {
		return err
	}
	if _, err := t.created(ctx, t.w, others, began, nil); err != nil {
		return err
	}
	if n := learnIDs(others); n > 0 {
		return errors.Errorf("the gateways lack %d subscriptions", n)
	}
	if _, err := t.w.quiet(ctx, t.still, t.patience(0)); err != nil {
		return err
	}
	others = sample(t.rand, others, len(others))
	measure := func() (p99 float64, missing int, err error) {
		took, missing, err := t.w.latencies(ctx, others, t.edits, allChanges(), t.drift+time.Minute)
		return ms(percentile(took, 0.99)), missing, err
	}
	t.tell("provider: %d edits while all gateways answer", t.edits)
	without, missing, err := measure()
	if err != nil {
		return err
	}
	release := t.site.hang()
	wanted := sample(t.rand, t.all, min(t.n, 50))
	err = each(ctx, users, wanted, func(ctx context.Context, o *object) error {
		_, err := t.w.edit(ctx, o, changeStatus)
		return err
	})
	if err := errors.Join(err, t.w.pass(ctx, t.soak)); err != nil {
		return err
	}
	t.tell("provider: %d edits while one of %d gateways hangs", t.edits, t.sites)
	with, more, err := measure()
	release()
	if err != nil {
		return err
	}
	if missing+more > 0 {
		t.broken(errors.Errorf("%d edits did not get to gateways that answer", missing+more))
	}
	t.tell("provider: the gateway that hung is to get what it missed")
	if err := t.w.eventually(ctx, t.patience(0), func() error {
		if n := count(wanted, func(o *object) bool { return !o.there() }); n > 0 {
			return errors.Errorf("%d edits did not get to the gateway that hung", n)
		}
		return nil
	}); err != nil {
		if ctx.Err() != nil || t.w.failed() != nil {
			return err
		}
		t.broken(err)
	}
	const hang = "9 one gateway hangs"
	t.report.add(
		row{hang, "p99 of edits at the others, all answer", "ms", without, none(), none(), goal{}},
		row{hang, "p99 of edits at the others, one hangs", "ms", with, none(), none(), goal{}},
		row{hang, "one hangs / all answer", "", ratio(with, without), none(), none(), atMost(goalHang)},
	)
	return nil
}
