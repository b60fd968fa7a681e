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
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// What hack/tools/promql answers.
type (
	use struct {
		Metrics, Labels []string
	}
	expression struct {
		Error  string
		Uses   []use
		Yields use
	}
	answer struct {
		Problems    []string
		Expressions []expression
	}
)

// promql asks what Prometheus makes of rules and expressions.
func promql(t *testing.T, rules string, expressions ...string) answer {
	t.Helper()
	tool, err := controlplane.FindBinary(t.Context(), "promql")
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(map[string]any{"rules": rules, "expressions": expressions})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(question), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	a := answer{}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Expressions) != len(expressions) {
		t.Fatalf("%d answers to %d expressions", len(a.Expressions), len(expressions))
	}
	return a
}

// targetLabels are what Prometheus adds to all it scrapes.
func targetLabels() []string { return []string{"job", "instance"} }

// complaints about an expression, given which series there are.
func complaints(e expression, series map[string][]string) []string {
	if e.Error != "" {
		return []string{e.Error}
	}
	var out []string
	for _, u := range e.Uses {
		has := targetLabels()
		for _, m := range u.Metrics {
			labels, ok := series[m]
			if !ok {
				out = append(out, fmt.Sprintf("there is no metric %q", m))
			}
			has = append(has, labels...)
		}
		for _, l := range u.Labels {
			if !slices.Contains(has, l) {
				out = append(out, fmt.Sprintf("there is no label %q of %s", l, strings.Join(u.Metrics, ", ")))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mistaken matchers of an expression match none of what there is. Prometheus would not
// mind: they just never tell of anything.
func mistaken(t *testing.T, expr string) []string {
	t.Helper()
	values := map[string][]string{}
	for _, row := range cells(t, `\w+`) {
		values["outcome"] = append(values["outcome"], names(row[0]))
	}
	var of [][]string
	for _, gvk := range []schema.GroupVersionKind{v1alpha1.RestApiGroupVersionKind, v1alpha1.SubscriptionPlanGroupVersionKind, v1alpha1.SubscriptionGroupVersionKind} {
		of = append(of, []string{gvk.String(), managed.ControllerName(gvk.GroupKind().String())})
	}
	var out []string
	for _, m := range regexp.MustCompile(`(outcome|gvk|controller)(=~|!=|=)"([^"]*)"`).FindAllStringSubmatch(expr, -1) {
		if m[1] == "outcome" {
			for _, v := range strings.Split(m[3], "|") {
				if !slices.Contains(values["outcome"], v) {
					out = append(out, m[0])
				}
			}
			continue
		}
		matches := regexp.MustCompile("^(?:" + m[3] + ")$").MatchString
		for _, v := range of {
			if !matches(v[map[string]int{"gvk": 0, "controller": 1}[m[1]]]) {
				out = append(out, m[0])
			}
		}
	}
	return out
}

// yielded are the labels that a result can have.
func yielded(e expression, series map[string][]string) []string {
	out := slices.Clone(e.Yields.Labels)
	for _, m := range e.Yields.Metrics {
		out = append(append(out, series[m]...), targetLabels()...)
	}
	return out
}

// metricsOf an expression are those of its series.
func metricsOf(e expression, c catalog) []string {
	var out []string
	for _, u := range e.Uses {
		for _, m := range u.Metrics {
			for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
				if name, ok := strings.CutSuffix(m, suffix); ok && c[name].kind != "" {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What is wrong with an expression is found.
func TestComplaints(t *testing.T) {
	series := map[string][]string{"a": {"x", "y"}, "h_bucket": {"x", "le"}}
	cases := map[string]struct {
		reason string
		expr   string
		want   []string
		yields []string
	}{
		"Fine":         {reason: "All of it is there.", expr: `sum by (x) (rate(a{y="1"}[5m])) > 0`, yields: []string{"x"}},
		"Histogram":    {reason: "A histogram has buckets.", expr: `histogram_quantile(0.9, sum by (le, x) (rate(h_bucket[5m])))`, yields: []string{"le", "x"}},
		"Target":       {reason: "Prometheus adds labels.", expr: `a * on (job) group_left () h_bucket`, yields: []string{"x", "y", "job", "instance"}},
		"Syntax":       {reason: "It is no expression.", expr: `sum(a`, want: []string{"1:6: parse error: unclosed left parenthesis"}},
		"Metric":       {reason: "Such a metric is not there.", expr: `b`, want: []string{`there is no metric "b"`}, yields: []string{"job", "instance"}},
		"NoName":       {reason: "A metric has to be named.", expr: `{x="1"}`, want: []string{`there is no label "x" of `, `there is no metric ""`}, yields: []string{"job", "instance"}},
		"Matcher":      {reason: "It has no such label.", expr: `a{z="1"}`, want: []string{`there is no label "z" of a`}, yields: []string{"x", "y", "job", "instance"}},
		"Grouping":     {reason: "Nor to group by.", expr: `sum by (z) (a)`, want: []string{`there is no label "z" of a`}, yields: []string{"z"}},
		"Without":      {reason: "Nor to group without.", expr: `sum without (z) (a)`, want: []string{`there is no label "z" of a`}, yields: []string{"x", "y", "job", "instance"}},
		"On":           {reason: "Nor to match by.", expr: `a / on (z) a`, want: []string{`there is no label "z" of a, a`}, yields: []string{"z"}},
		"Subquery":     {reason: "It is found wherever it stands.", expr: `deriv(sum by (x) (b)[15m:1m])`, want: []string{`there is no label "x" of b`, `there is no metric "b"`}, yields: []string{"x"}},
		"Absent":       {reason: "What is absent has no labels.", expr: `absent(a)`},
		"Experimental": {reason: "Nothing that has to be switched on.", expr: `mad_over_time(a[5m])`, want: []string{`1:1: parse error: function "mad_over_time" is not enabled`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := promql(t, "", tc.expr).Expressions[0]
			if got := complaints(e, series); !slices.Equal(got, tc.want) {
				t.Errorf("%s\n%q, want %q", tc.reason, got, tc.want)
			}
			if got := yielded(e, series); !slices.Equal(got, tc.yields) {
				t.Errorf("%s\nyields %q, want %q", tc.reason, got, tc.yields)
			}
		})
	}
}

// What would match nothing is found.
func TestMistaken(t *testing.T) {
	cases := map[string]struct {
		reason string
		expr   string
		want   int
	}{
		"Fine":       {reason: "All of it is there.", expr: `a{outcome=~"throttled|held_off",gvk=~"gateway[.]apiplatform.*",controller=~"managed/.*crossplane.io"}`},
		"Outcome":    {reason: "There is no such outcome.", expr: `a{outcome=~"throttled|slow"}`, want: 1},
		"GVK":        {reason: "There is another slash.", expr: `a{gvk=~"gateway/.*"}`, want: 3},
		"Controller": {reason: "That is one of them.", expr: `a{controller="managed/subscription.gateway.apiplatform.crossplane.io"}`, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mistaken(t, tc.expr); len(got) != tc.want {
				t.Errorf("%s\n%q, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// read a file of the repository.
func read(t *testing.T, path ...string) string {
	t.Helper()
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// all metrics that the provider serves.
func all(t *testing.T) map[string][]string {
	t.Helper()
	series := others(t).series()
	for name, labels := range ours(t).series() {
		series[name] = labels
	}
	return series
}
