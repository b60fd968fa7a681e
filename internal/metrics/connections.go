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

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// connections are metrics of the configurations that are there when they are scraped, so
// that nothing is left of one that is gone.
type connections struct {
	states func() []connection.State

	reachable, authenticated, age *prometheus.Desc
}

func newConnections() *connections {
	config := []string{labelConfigKind, labelConfigNamespace, labelConfigName}
	return &connections{
		states: func() []connection.State { return nil },
		reachable: prometheus.NewDesc(namespace+"_gateway_reachable",
			"Whether the gateway of a configuration answers, 1 or 0; nothing while that is unknown or the configuration cannot be used.", config, nil),
		authenticated: prometheus.NewDesc(namespace+"_gateway_authenticated",
			"Whether the gateway of a configuration knows the credentials, 1 or 0; nothing while that is unknown or the configuration cannot be used.", config, nil),
		age: prometheus.V2.NewDesc(namespace+"_observation_age_seconds",
			"How long ago what managed resources look at was read, for that which was read the longest ago; nothing while nobody looks.",
			prometheus.UnconstrainedLabels(append(config, labelKind)), nil, prometheus.WithUnit("seconds")),
	}
}

// Describe implements prometheus.Collector.
func (c *connections) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.reachable
	ch <- c.authenticated
	ch <- c.age
}

// Collect implements prometheus.Collector.
func (c *connections) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.states() {
		config := []string{s.Ref.Kind, s.Ref.Namespace, s.Ref.Name}
		for d, is := range map[*prometheus.Desc]connection.Status{c.reachable: s.Reachable, c.authenticated: s.Authenticated} {
			switch is {
			case connection.StatusTrue:
				ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, 1, config...)
			case connection.StatusFalse:
				ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, 0, config...)
			case connection.StatusUnknown:
			}
		}
		for of, age := range s.Ages {
			ch <- prometheus.MustNewConstMetric(c.age, prometheus.GaugeValue, age.Seconds(), append(config, string(of))...)
		}
	}
}
