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

// Command bench measures the provider as it is shipped, on a real API server, against
// emulated gateways, and beside two references in the same run:
//
//	go run ./test/bench -n 1000
//
// docs/benchmarks.md says what is measured, and how to read it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// envStrict makes a goal that is not reached a failure.
const envStrict = "BENCH_STRICT"

// A config says what is measured, and how long.
type config struct {
	// n is how many subscriptions there are, and seed chooses which of them something
	// happens to.
	n    int
	seed uint64
	// burst is whether only their creation is measured, beside the floor.
	burst bool
	// idle is how long is measured while nothing happens.
	idle time.Duration
	// still is how long nothing may have been written to count as settled.
	still time.Duration
	// restart is how long is measured after a restart.
	restart time.Duration
	// drift is within which time the provider is to notice what others changed, slack
	// apart.
	drift time.Duration
	// edits are how many are made one after the other, and foreign how many subscriptions
	// are changed, and deleted, by others.
	edits, foreign int
	// sites are how many gateways there are where one of them hangs, and soak how long it
	// has hung before something is measured.
	sites int
	soak  time.Duration
	// directCreate and directEdits are how many the direct one creates in a burst, and
	// edits; it takes its time. directPoll is how often it looks at each, directRate how
	// many reconciles a second it may do.
	directCreate, directEdits, directRate int
	directPoll                            time.Duration
	// warm is the longest that the direct one is waited for until it has looked at all.
	warm time.Duration
	// providerArgs are given to the provider.
	providerArgs []string
	// log is told in short lines what happens.
	log io.Writer
}

func defaults() config {
	return config{
		n: 1000, seed: 1, idle: 2 * time.Minute, still: 15 * time.Second, restart: time.Minute, drift: 30 * time.Second,
		edits: 200, foreign: 20, sites: 10, soak: 10 * time.Second,
		directCreate: 200, directEdits: 5, directRate: 10, directPoll: time.Minute, warm: 2 * time.Minute, log: io.Discard,
	}
}

func main() {
	c := defaults()
	c.log = os.Stderr
	flag.IntVar(&c.n, "n", c.n, "how many subscriptions")
	flag.BoolVar(&c.burst, "burst", c.burst, "measure nothing but their creation, beside the floor, and keep no figures")
	flag.Uint64Var(&c.seed, "seed", c.seed, "chooses which of them something happens to")
	flag.DurationVar(&c.idle, "idle", c.idle, "how long to measure while nothing happens")
	flag.DurationVar(&c.drift, "drift", c.drift, "within which time the provider is to notice what others changed at a gateway")
	flag.DurationVar(&c.directPoll, "direct-poll", c.directPoll, "how often the direct reference looks at each object")
	out := flag.String("out", filepath.Join("docs", "benchmarks"), "folder of the figures and pictures; empty writes none")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: bench [flags] [-- flags of the provider]")
		flag.PrintDefaults()
	}
	flag.Parse()
	c.providerArgs = flag.Args()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, c, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// run the benchmark, tell what came of it, and write it down.
func run(ctx context.Context, c config, dir string, out io.Writer) error {
	ctrl.SetLogger(logr.Discard())
	if c.n < 20 {
		return errors.New("-n must be 20 or more")
	}
	root, err := controlplane.FindRoot()
	if err != nil {
		return err
	}
	r, err := measure(ctx, c, root)
	if err != nil {
		return err
	}
	if err := r.table(out); err != nil {
		return err
	}
	if len(r.broken) > 0 {
		return errors.Errorf("something is broken, and the figures are not kept:\n%s", strings.Join(r.broken, "\n"))
	}
	if dir != "" && !c.burst {
		records, err := r.save(dir)
		if err != nil {
			return err
		}
		if err := draw(records, dir); err != nil {
			return err
		}
	}
	if missed := r.missed(); len(missed) > 0 && os.Getenv(envStrict) == "1" {
		return errors.Errorf("%d goals are not reached (%s)", len(missed), envStrict)
	}
	return nil
}
