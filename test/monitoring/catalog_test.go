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
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
)

// A metric that there is.
type metric struct {
	// kind is gauge, counter, histogram or summary, or "" if it was only described.
	kind   string
	labels []string
	unit   string
}

// A catalog has metrics by name.
type catalog map[string]metric

// series are what Prometheus stores of the metrics, with their labels: a histogram is
// three of them.
func (c catalog) series() map[string][]string {
	out := map[string][]string{}
	for name, m := range c {
		switch m.kind {
		case "histogram":
			out[name+"_bucket"] = append(slices.Clone(m.labels), "le")
		case "summary":
			out[name] = append(slices.Clone(m.labels), "quantile")
		default:
			out[name] = m.labels
			continue
		}
		out[name+"_sum"], out[name+"_count"] = m.labels, m.labels
	}
	return out
}

// describe the metrics of a collector, be they used or not. Nothing else tells of a metric
// that has labels and was never used.
func describe(t *testing.T, c prometheus.Collector) catalog {
	t.Helper()
	ch, out := make(chan *prometheus.Desc), catalog{}
	go func() {
		c.Describe(ch)
		close(ch)
	}()
	shape := regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: .*, unit: "([^"]*)", constLabels: \{\}, variableLabels: \{([^}]*)\}\}$`)
	for d := range ch {
		is := shape.FindStringSubmatch(d.String())
		if is == nil {
			t.Fatalf("cannot read %s", d)
		}
		m := metric{unit: is[2]}
		if is[3] != "" {
			m.labels = strings.Split(is[3], ",")
		}
		out[is[1]] = m
	}
	return out
}

// gather the metrics that were used.
func gather(t *testing.T, g prometheus.Gatherer) catalog {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := catalog{}
	for _, f := range families {
		m := metric{kind: strings.ToLower(f.GetType().String()), unit: f.GetUnit()}
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				if !slices.Contains(m.labels, l.GetName()) {
					m.labels = append(m.labels, l.GetName())
				}
			}
		}
		out[f.GetName()] = m
	}
	return out
}

// ours are the provider's own metrics. All were used.
func ours(t *testing.T) catalog {
	t.Helper()
	m, r := metrics.New("test"), prometheus.NewPedanticRegistry()
	if err := m.Register(r, func() []connection.State {
		return []connection.State{{
			Ref:       connection.Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team", Name: "pc"},
			Reachable: connection.StatusTrue, Authenticated: connection.StatusTrue,
			Ages: map[gateway.Kind]time.Duration{gateway.KindSubscription: time.Second},
		}}
	}); err != nil {
		t.Fatal(err)
	}
	m.Called(gateway.Call{Kind: gateway.KindSubscription, Verb: gateway.VerbGet}, nil, time.Second)
	described, used := describe(t, m), gather(t, r)
	for name, d := range described {
		u, ok := used[name]
		if !ok {
			t.Errorf("%s is not used here", name)
		}
		d.kind = u.kind
		if slices.Sort(d.labels); !slices.Equal(d.labels, u.labels) {
			t.Errorf("%s is described with the labels %q, and has %q", name, d.labels, u.labels)
		}
		described[name] = d
	}
	return described
}

// A captive registers nothing, but keeps what would be.
type captive struct {
	prometheus.Registerer
	collectors []prometheus.Collector
}

func (c *captive) Register(x prometheus.Collector) error {
	c.collectors = append(c.collectors, x)
	return nil
}

// others are the metrics of the runtime, of controller-runtime and of the process.
func others(t *testing.T) catalog {
	t.Helper()
	c := &captive{}
	if _, err := kind.NewMetrics(c, time.Minute); err != nil {
		t.Fatal(err)
	}
	out := catalog{}
	for _, x := range c.collectors {
		for name, m := range describe(t, x) {
			// A histogram is described as one metric; all that are counted in seconds are.
			if strings.HasSuffix(name, "_seconds") {
				m.kind = strings.ToLower(dto.MetricType_HISTOGRAM.String())
			}
			out[name] = m
		}
	}
	reconcileOnce(t)
	for name, m := range gather(t, ctrlmetrics.Registry) {
		out[name] = m
	}
	return out
}

// reconcileOnce has a controller do something, so that its metrics are there.
func reconcileOnce(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := controller.NewTypedUnmanaged("monitoring", controller.TypedOptions[reconcile.Request]{
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			cancel()
			return reconcile.Result{}, nil
		}),
		SkipNameValidation: new(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: "x"}})
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
}
