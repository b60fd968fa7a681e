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
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// pollInterval is how often a narrator looks whether something has come true.
const pollInterval = 100 * time.Millisecond

// A step of a story: what is done, and what has to come true thereafter.
type step struct {
	// name says in one line what is about to be done.
	name string
	// skip says why the step is left out. Empty: it is not. Optional.
	skip func() string
	// do it. Optional.
	do func(ctx context.Context) error
	// until it has come true: nil, or what is still missing. Optional.
	until func(ctx context.Context) error
	// within which time it has to come true.
	within time.Duration
	// say what there is to see now, in short lines. Optional.
	say func(ctx context.Context) ([]string, error)
}

// A narrator carries out steps and tells what happens.
type narrator struct {
	out io.Writer
	// failed returns why waiting is pointless: nil, or what broke. Optional.
	failed func() error
	told   int
}

// tell the story: each step in turn, up to the first that does not come true.
func (n *narrator) tell(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := n.play(ctx, s); err != nil {
			return errors.Wrapf(err, "step %d (%s)", n.told, s.name)
		}
	}
	return nil
}

func (n *narrator) play(ctx context.Context, s step) error {
	n.told++
	n.printf("\n%d. %s\n", n.told, s.name)
	if s.skip != nil {
		if why := s.skip(); why != "" {
			n.printf("   left out: %s\n", why)
			return nil
		}
	}
	started := time.Now()
	if s.do != nil {
		if err := s.do(ctx); err != nil {
			return err
		}
	}
	if s.until != nil {
		if err := n.wait(ctx, s); err != nil {
			return err
		}
	}
	if s.say != nil {
		lines, err := s.say(ctx)
		if err != nil {
			return err
		}
		for _, line := range lines {
			n.printf("   %s\n", strings.ReplaceAll(line, "\n", "\n   "))
		}
	}
	n.printf("   (%.1f s)\n", time.Since(started).Seconds())
	return nil
}

// wait until the step has come true. That what was true is said to be missing
// while the time runs out is no excuse: it is asked once more at the end.
func (n *narrator) wait(ctx context.Context, s step) error {
	deadline := time.NewTimer(s.within)
	defer deadline.Stop()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for late := false; ; {
		err := s.until(ctx)
		if ctx.Err() != nil {
			return errors.Wrap(ctx.Err(), "interrupted")
		}
		if err == nil {
			return nil
		}
		if late {
			return errors.Errorf("did not come true within %s: %v", s.within, err)
		}
		if n.failed != nil {
			if broken := n.failed(); broken != nil {
				return broken
			}
		}
		select {
		case <-ctx.Done():
			return errors.Wrap(ctx.Err(), "interrupted")
		case <-deadline.C:
			late = true
		case <-ticker.C:
		}
	}
}

func (n *narrator) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(n.out, format, args...)
}
