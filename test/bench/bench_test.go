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
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestCallOf(t *testing.T) {
	const metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	cases := map[string]struct {
		reason, method, url, accept string
		want                        call
		writes, readsSecrets        bool
	}{
		"Status": {
			reason: "A status is a part of its object.", method: http.MethodPut,
			url:    "/apis/gateway.example.org/v1alpha1/namespaces/ns/subscriptions/one/status",
			want:   call{Verb: "update", Group: "gateway.example.org", Resource: "subscriptions", Subresource: "status", Namespace: "ns", Name: "one", Whole: true},
			writes: true,
		},
		"Create": {
			reason: "What is created has no name in the path.", method: http.MethodPost, url: "/api/v1/namespaces/ns/secrets",
			want: call{Verb: "create", Resource: "secrets", Namespace: "ns", Whole: true}, writes: true,
		},
		"Namespace": {
			reason: "A namespace is in none.", method: http.MethodGet, url: "/api/v1/namespaces/kube-system",
			want: call{Verb: "get", Resource: "namespaces", Name: "kube-system", Whole: true},
		},
		"Event": {
			reason: "Events are counted apart.", method: http.MethodPost, url: "/apis/events.k8s.io/v1/namespaces/ns/events",
			want: call{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "ns", Whole: true},
		},
		"Lease": {
			reason: "A lease is not work.", method: http.MethodPut, url: "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l",
			want: call{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "ns", Name: "l", Whole: true},
		},
		"Review": {
			reason: "It is a question.", method: http.MethodPost, url: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			want: call{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews", Whole: true},
		},
		"Discovery": {
			reason: "It is about no resource.", method: http.MethodGet, url: "/apis",
			want: call{Verb: "get", Resource: "/apis", Whole: true},
		},
		"GetSecret": {
			reason: "It has what is secret.", method: http.MethodGet, url: "/api/v1/namespaces/ns/secrets/one",
			want: call{Verb: "get", Resource: "secrets", Namespace: "ns", Name: "one", Whole: true}, readsSecrets: true,
		},
		"ListSecrets": {
			reason: "It has what is secret of all.", method: http.MethodGet, url: "/api/v1/secrets?limit=500",
			want: call{Verb: "list", Resource: "secrets", Whole: true}, readsSecrets: true,
		},
		"ListSecretMetadata": {
			reason: "It only has that they are there.", method: http.MethodGet, url: "/api/v1/secrets", accept: metadata,
			want: call{Verb: "list", Resource: "secrets"},
		},
		"WatchSecrets": {
			reason: "It goes on where a list ended.", method: http.MethodGet, url: "/api/v1/secrets?watch=true&resourceVersion=7",
			want: call{Verb: "watch", Resource: "secrets", Whole: true},
		},
		"WatchAllSecrets": {
			reason: "It is a list and a watch.", method: http.MethodGet, url: "/api/v1/secrets?watch=1&sendInitialEvents=true",
			want: call{Verb: "watch", Resource: "secrets", Whole: true, Initial: true}, readsSecrets: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			got := callOf(tc.method, u, http.Header{"Accept": {tc.accept}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
			if got.writes() != tc.writes || got.readsSecrets() != tc.readsSecrets {
				t.Errorf("%s writes: %t, reads secrets: %t", tc.reason, got.writes(), got.readsSecrets())
			}
		})
	}
}

func TestVisitOf(t *testing.T) {
	cases := map[string]struct {
		reason, path string
		want         visit
	}{
		"One":       {"It has an ID.", "/api/management/v1/subscriptions/one", visit{Method: http.MethodGet, Kind: "subscriptions", ID: "one"}},
		"All":       {"A list has none.", "/api/management/v1/subscriptions", visit{Method: http.MethodGet, Kind: "subscriptions"}},
		"Shortened": {"The base path may be left out.", "/subscription-plans/gold", visit{Method: http.MethodGet, Kind: "subscription-plans", ID: "gold"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, visitOf(http.MethodGet, tc.path, time.Time{})); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The writes to an object that was edited tell nothing about a creation.
func TestWritesPerObject(t *testing.T) {
	var calls []call
	for _, name := range []string{"a", "b", "c", "d"} {
		calls = append(calls,
			call{Verb: "patch", Resource: "subscriptions", Name: name, Status: http.StatusOK},
			call{Verb: "create", Resource: "providerconfigusages", Status: http.StatusCreated},
			call{Verb: "create", Resource: "events"},
			call{Verb: "get", Resource: "secrets", Name: name},
		)
	}
	calls = append(calls,
		call{Verb: "patch", Resource: "subscriptions", Name: "a", Status: http.StatusOK},
		call{Verb: "update", Resource: "subscriptions", Subresource: "status", Name: "b", Status: http.StatusConflict},
	)
	got, parts := writesPerObject(calls, 4, sets.New("a"))
	want := 1 + 1 + 1.0/3
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%v writes per object, want %v", got, want)
	}
	if diff := cmp.Diff("providerconfigusages create 1, subscriptions patch 1, subscriptions/status update (409) 0.33", parts); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	cases := map[string]struct {
		reason string
		of     []time.Duration
		share  float64
		want   time.Duration
	}{
		"None":   {"There is nothing.", nil, 0.5, 0},
		"One":    {"It is all there is.", hundred[:1], 0.99, 100},
		"Median": {"Half are not above.", hundred, 0.5, 50},
		"P99":    {"One is above.", hundred, 0.99, 99},
		"All":    {"It is the longest.", hundred, 1, 100},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := percentile(tc.of, tc.share); got != tc.want {
				t.Errorf("%s got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestParseUsage(t *testing.T) {
	const stat = "4711 (a (strange) name) S 1 4711 4711 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 9 0 1 2 3"
	got, err := parseUsage(stat, "Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(usage{CPU: 3 * time.Second, RSS: 1 << 20, Peak: 2 << 20}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if pid, program, parent, _, err := parseStat(stat); pid != 4711 || program != "a (strange) name" || parent != 1 || err != nil {
		t.Errorf("got process %d, %q, of %d, %v", pid, program, parent, err)
	}
	for _, bad := range []string{"", "1 (x) S 1", ")1 (", "one (x) S 1 4711 4711 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 9 0 1 2 3"} {
		if _, err := parseUsage(bad, "VmRSS: 1 kB"); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if _, err := parseUsage(stat, "Name: x"); err == nil {
		t.Error("memory that nobody told was read")
	}
}

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		reason string
		goal   goal
		figure float64
		want   string
	}{
		"Less":       {"It may be less.", atMost(10), 9, reached},
		"Equal":      {"It may be that.", atMost(0), 0, reached},
		"More":       {"It must not be more.", atMost(10), 10.1, notReached},
		"Never":      {"What never comes is too late.", atMost(10), math.Inf(1), notReached},
		"Enough":     {"It may be more.", atLeast(70), 71, reached},
		"TooLittle":  {"It must not be less.", atLeast(70), 69, notReached},
		"NoGoal":     {"There is none.", goal{}, 1, ""},
		"NoMeasured": {"Nothing was measured.", atMost(10), none(), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.goal.verdict(tc.figure); got != tc.want {
				t.Errorf("%s got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func aReport(n int, date string, figure float64) *report {
	r := &report{n: n, machine: machine{date: date, commit: "abc", cpu: "A CPU, fast", cores: 2, version: "go1", load: "0.1"}}
	r.add(
		row{"4 idle", figureRequests, "1/min", figure, none(), 1000, atMost(10)},
		row{"8 memory", figureRSS, "MiB", 40, none(), 60, atMost(100)},
	)
	return r
}

func TestTable(t *testing.T) {
	r := aReport(1000, "2026-01-02", 12.5)
	r.note("a note")
	var out bytes.Buffer
	if err := r.table(&out); err != nil {
		t.Fatal(err)
	}
	want := `N = 1000, at abc, on A CPU, fast, 2 cores, go1, 2026-01-02, load 0.1 before

scenario  figure                                        unit   provider  floor  direct  goal    verdict
4 idle    gateway requests, direct without its limit  1/min  12.5      -      1000    <= 10   NOT REACHED
8 memory  memory after settling                       MiB    40        -      60      <= 100  reached

a note
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if diff := cmp.Diff(squeeze(want), squeeze(out.String())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	var widths []int
	for line := range strings.Lines(out.String()) {
		if i := strings.Index(line, "1/min"); i > 0 {
			widths = append(widths, i)
		}
		if i := strings.Index(line, "MiB"); i > 0 {
			widths = append(widths, i)
		}
	}
	if len(widths) != 2 || widths[0] != widths[1] {
		t.Errorf("the columns are not aligned:\n%s", out.String())
	}
	if missed := r.missed(); len(missed) != 1 || missed[0].scenario != "4 idle" {
		t.Errorf("missed %v", missed)
	}
}

// What was measured again is replaced, all else is kept, and pictures show the last.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	var records [][]string
	for _, r := range []*report{aReport(10000, "2026-01-02", 30), aReport(1000, "2026-01-02", 20), aReport(1000, "2026-01-02", 10), aReport(1000, "2026-01-03", 5), aReport(100, "2026-01-01", 0)} {
		var err error
		if records, err = r.save(dir); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range records {
		if r[columnFigure] == figureRequests {
			got = append(got, fmt.Sprint(r[columnN], " ", r[columnDate], " ", r[columnProvider]))
		}
	}
	if diff := cmp.Diff([]string{"100 2026-01-01 0", "1000 2026-01-02 10", "1000 2026-01-03 5", "10000 2026-01-02 30"}, got); diff != "" {
		t.Errorf("records -want, +got:\n%s", diff)
	}
	again, err := load(filepath.Join(dir, csvName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records, again); diff != "" {
		t.Errorf("read again -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]point{{100, 0}, {1000, 5}, {10000, 30}}, series(records, figureRequests, columnProvider), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("series -want, +got:\n%s", diff)
	}
	if err := draw(records, dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures() {
		if b, err := os.ReadFile(filepath.Join(dir, p.file)); err != nil || !bytes.Contains(b, []byte("direct")) {
			t.Errorf("%s does not show the direct one: %v", p.file, err)
		}
	}
}

// There is no figure of somebody whom a row does not apply to.
func TestSeriesWithout(t *testing.T) {
	r := aReport(1000, "2026-01-02", 1)
	if got := series(r.records(), figureRequests, columnFloor); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestDecades(t *testing.T) {
	cases := map[string]struct {
		reason           string
		from, to         float64
		wantFrom, wantTo float64
	}{
		"Between": {"What lies between is shown.", 20, 300, 10, 1000},
		"Exact":   {"A power of ten is a bound.", 0.1, 1000, 0.1, 1000},
		"One":     {"One point has room on both sides.", 1000, 1000, 100, 10000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if from, to := decades(tc.from, tc.to); math.Abs(from/tc.wantFrom-1)+math.Abs(to/tc.wantTo-1) > 1e-9 {
				t.Errorf("%s got %v to %v", tc.reason, from, to)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Minute, time.Minute: time.Minute, 61 * time.Second: 2 * time.Minute} {
		if got := whole(d, time.Minute); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}

func TestCPUModel(t *testing.T) {
	if got := cpuModel("processor\t: 0\nmodel name\t: A  CPU: fast\nflags\t: x\n"); got != "A CPU: fast" {
		t.Errorf("got %q", got)
	}
	if got := cpuModel("nothing"); got != "" {
		t.Errorf("got %q", got)
	}
}
