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
	"bytes"
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// seconds differ from run to run.
var seconds = regexp.MustCompile(`\(\d+\.\d s\)`)

func TestTell(t *testing.T) {
	errBoom := errors.New("boom")
	fails := func(context.Context) error { return errBoom }
	says := func(lines ...string) func(context.Context) ([]string, error) {
		return func(context.Context) ([]string, error) { return lines, nil }
	}
	// comesTrue at the third look.
	comesTrue := func() func(context.Context) error {
		looks := 0
		return func(context.Context) error {
			if looks++; looks < 3 {
				return errBoom
			}
			return nil
		}
	}

	type want struct {
		out string
		err string
	}
	cases := map[string]struct {
		reason string
		steps  []step
		failed func() error
		want   want
	}{
		"InTurn": {
			reason: "Steps are told in turn, with what there is to see indented.",
			steps: []step{
				{name: "One", say: says("first", "second\nthird")},
				{name: "Two", until: comesTrue(), within: time.Minute},
			},
			want: want{out: "\n1. One\n   first\n   second\n   third\n   (? s)\n\n2. Two\n   (? s)\n"},
		},
		"LeftOut": {
			reason: "A step that is left out does nothing and says why; the next one is told.",
			steps: []step{
				{name: "One", skip: func() string { return "not today" }, do: fails},
				{name: "Two", skip: func() string { return "" }},
			},
			want: want{out: "\n1. One\n   left out: not today\n\n2. Two\n   (? s)\n"},
		},
		"DoFails": {
			reason: "A step that cannot be done ends the story.",
			steps:  []step{{name: "One", do: fails}, {name: "Two"}},
			want:   want{out: "\n1. One\n", err: "step 1 (One): boom"},
		},
		"SayFails": {
			reason: "What cannot be shown ends the story.",
			steps:  []step{{name: "One", say: func(context.Context) ([]string, error) { return nil, errBoom }}},
			want:   want{out: "\n1. One\n", err: "step 1 (One): boom"},
		},
		"NotInTime": {
			reason: "A step that does not come true in time ends the story, and says what is missing.",
			steps:  []step{{name: "One", until: fails, within: time.Millisecond}},
			want:   want{out: "\n1. One\n", err: "step 1 (One): did not come true within 1ms: boom"},
		},
		"Broken": {
			reason: "Nobody waits for what can no longer come true.",
			steps:  []step{{name: "One", until: fails, within: time.Hour}},
			failed: func() error { return errors.New("the provider ended") },
			want:   want{out: "\n1. One\n", err: "step 1 (One): the provider ended"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := (&narrator{out: &out, failed: tc.failed}).tell(t.Context(), tc.steps)
			got := want{out: seconds.ReplaceAllString(out.String(), "(? s)")}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\ntell(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTellInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looked := func(context.Context) error {
		cancel()
		return errors.New("not yet")
	}
	var out bytes.Buffer
	err := (&narrator{out: &out}).tell(ctx, []step{{name: "One", until: looked, within: time.Hour}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("tell(...): want it to end with the context, got: %v", err)
	}
}
