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
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dashboard is what is looked at of cluster/monitoring/dashboard.json.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []panel
}

type panel struct {
	ID          int
	Type, Title string
	Datasource  *struct{ Type, UID string }
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct {
		RefID, Expr, LegendFormat string
		Datasource                *struct{ Type, UID string }
	}
	FieldConfig struct {
		Defaults struct{ Unit string }
	}
}

// concrete is an expression as Grafana sends it.
func concrete(expr string) string { return strings.ReplaceAll(expr, "$__rate_interval", "5m") }

// The dashboard can be imported anywhere, and shows what there is.
func TestDashboard(t *testing.T) {
	d := dashboard{}
	if err := json.Unmarshal([]byte(read(t, "cluster", "monitoring", "dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 41 {
		t.Errorf("uid %q, title %q, schema version %d", d.UID, d.Title, d.SchemaVersion)
	}
	if v := d.Templating.List; len(v) != 1 || v[0].Name != "datasource" || v[0].Type != "datasource" || v[0].Query != "prometheus" {
		t.Errorf("variables: %+v", v)
	}
	var expressions []string
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			expressions = append(expressions, concrete(target.Expr))
		}
	}
	if len(expressions) == 0 {
		t.Fatal("it shows nothing")
	}
	series, answers := all(t), promql(t, "", expressions...).Expressions
	legend := regexp.MustCompile(`\{\{(\w+)\}\}`)
	ids, titles, taken := []int{}, []string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if slices.Contains(ids, p.ID) || slices.Contains(titles, p.Title) || p.Title == "" {
			t.Errorf("%q, panel %d: there is another one", p.Title, p.ID)
		}
		ids, titles = append(ids, p.ID), append(titles, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%q lies on %q, or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "" || p.Datasource == nil || p.Datasource.UID != "${datasource}" {
			t.Errorf("%q: %d expressions, unit %q, data source %v", p.Title, len(p.Targets), p.FieldConfig.Defaults.Unit, p.Datasource)
		}
		for _, target := range p.Targets {
			if target.RefID == "" || target.Datasource == nil || target.Datasource.UID != "${datasource}" {
				t.Errorf("%q: expression %q, data source %v", p.Title, target.RefID, target.Datasource)
			}
			var e expression
			e, answers = answers[0], answers[1:]
			for _, c := range complaints(e, series) {
				t.Errorf("%q: %s: %s", p.Title, target.Expr, c)
			}
			for _, m := range mistaken(t, target.Expr) {
				t.Errorf("%q: %s: nothing is %s", p.Title, target.Expr, m)
			}
			for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(yielded(e, series), l[1]) {
					t.Errorf("%q: %s: the legend has a label %q that the result has not", p.Title, target.Expr, l[1])
				}
			}
		}
	}
}

// All of the provider's own metrics are shown.
func TestDashboardIsComplete(t *testing.T) {
	text := read(t, "cluster", "monitoring", "dashboard.json")
	for name := range ours(t) {
		if !strings.Contains(text, name) {
			t.Errorf("%s is not shown", name)
		}
	}
}
