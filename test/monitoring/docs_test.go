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

package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
)

// cells of the rows of a table in docs/metrics.md whose first cell has a shape.
func cells(t *testing.T, first string) [][]string {
	t.Helper()
	var out [][]string
	row := regexp.MustCompile("^\\| `" + first + "` \\|.*\\|$")
	for _, line := range strings.Split(read(t, "docs", "metrics.md"), "\n") {
		if !row.MatchString(line) {
			continue
		}
		var one []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			one = append(one, strings.TrimSpace(c))
		}
		out = append(out, one)
	}
	return out
}

// names between backticks.
func names(cell string) string {
	var out []string
	for _, n := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, n[1])
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// docs/metrics.md lists what there is, and which alerts use it.
func TestDocs(t *testing.T) {
	rules, _ := rules(t)
	c, alerts := ours(t), map[string][]string{}
	for _, r := range rules {
		for _, m := range metricsOf(promql(t, "", r.Expr).Expressions[0], c) {
			alerts[m] = append(alerts[m], r.Alert)
		}
	}
	want, got := map[string]string{}, map[string]string{}
	for name, m := range c {
		slices.Sort(alerts[name])
		want[name] = fmt.Sprintf("%s, labels %s, seconds %t, alerts %s", m.kind, strings.Join(m.labels, " "), m.unit == "seconds", strings.Join(alerts[name], " "))
	}
	for _, row := range cells(t, `apiplatform_\w+`) {
		if len(row) != 6 || row[4] == "" {
			t.Fatalf("%q", row)
		}
		got[names(row[0])] = fmt.Sprintf("%s, labels %s, seconds %t, alerts %s", row[1], names(row[2]), row[3] == "seconds", names(row[5]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/metrics.md: -want, +got:\n%s", diff)
	}
}

// What is about seconds says so in its name.
func TestUnits(t *testing.T) {
	for name, m := range ours(t) {
		if (m.unit == "seconds") != strings.HasSuffix(name, "_seconds") {
			t.Errorf("%s has the unit %q", name, m.unit)
		}
	}
}

// All can be registered where the manager serves them from.
func TestRegistered(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	if _, err := kind.NewMetrics(r, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := metrics.New("test").Register(r, nil); err != nil {
		t.Fatal(err)
	}
}
