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

package passtest

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Counted returns what a metric counts, of those whose labels have the given values in
// the order of their names. It is -1 if there is none.
func Counted(t interface {
	Helper()
	Fatal(args ...any)
}, from prometheus.Collector, name string, labels ...string) float64 {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(from); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if strings.Join(values, "\n") == strings.Join(labels, "\n") {
				return m.GetCounter().GetValue()
			}
		}
	}
	return -1
}
