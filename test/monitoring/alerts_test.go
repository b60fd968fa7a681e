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
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// alerts are what is looked at of cluster/monitoring/alerts.yaml.
type alerts struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       yaml.Node
}

type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// rules returns the rules and, as docs/metrics.md says how, the file of rules that
// Prometheus reads.
func rules(t *testing.T) ([]rule, string) {
	t.Helper()
	a := alerts{}
	if err := yaml.Unmarshal([]byte(read(t, "cluster", "monitoring", "alerts.yaml")), &a); err != nil {
		t.Fatal(err)
	}
	if a.APIVersion != "monitoring.coreos.com/v1" || a.Kind != "PrometheusRule" || a.Metadata.Name == "" {
		t.Errorf("it is %s %s %q", a.APIVersion, a.Kind, a.Metadata.Name)
	}
	file, err := yaml.Marshal(&a.Spec)
	if err != nil {
		t.Fatal(err)
	}
	spec := struct{ Groups []struct{ Rules []rule } }{}
	if err := a.Spec.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	var out []rule
	for _, g := range spec.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) == 0 {
		t.Fatal("there are no rules")
	}
	return out, string(file)
}

// Prometheus accepts the alerts, they use what there is, and they tell what to do.
func TestAlerts(t *testing.T) {
	rules, file := rules(t)
	series := all(t)
	var expressions []string
	for _, r := range rules {
		expressions = append(expressions, r.Expr)
	}
	a := promql(t, file, expressions...)
	for _, p := range a.Problems {
		t.Error(p)
	}
	label := regexp.MustCompile(`\$labels\.(\w+)`)
	for i, r := range rules {
		t.Run(r.Alert, func(t *testing.T) {
			for _, c := range complaints(a.Expressions[i], series) {
				t.Errorf("%s: %s", r.Expr, c)
			}
			for _, m := range mistaken(t, r.Expr) {
				t.Errorf("%s: nothing is %s", r.Expr, m)
			}
			if !regexp.MustCompile(`^ApiPlatform[A-Z]\w+$`).MatchString(r.Alert) {
				t.Error("its name says not whose it is")
			}
			if r.For == "" || !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) {
				t.Errorf("for %q, severity %q", r.For, r.Labels["severity"])
			}
			for _, name := range []string{"summary", "description"} {
				text := r.Annotations[name]
				if !strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
					t.Errorf("%s: %q", name, text)
				}
				for _, l := range label.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(yielded(a.Expressions[i], series), l[1]) {
						t.Errorf("%s: the alert has no label %q", name, l[1])
					}
				}
			}
		})
	}
}
