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

// Package metrics is what the provider tells Prometheus about itself, beside what the
// runtime and controller-runtime tell. docs/metrics.md lists it.
//
// No label has a value that users choose, except for the names of configurations, which
// are few and gone when the configuration is. None names a managed resource or an object
// at a gateway.
package metrics

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

const namespace = "apiplatform"

// Names of labels.
const (
	labelKind    = "kind"
	labelVerb    = "verb"
	labelOutcome = "outcome"
	labelCause   = "cause"
	labelVersion = "version"

	labelConfigKind      = "config_kind"
	labelConfigNamespace = "config_namespace"
	labelConfigName      = "config_name"
)

// Metrics of the provider. It is safe for concurrent use. One that is nil counts nothing.
type Metrics struct {
	build *prometheus.GaugeVec

	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec

	wakeUps     *prometheus.CounterVec
	holdOffs    *prometheus.CounterVec
	adoptions   *prometheus.CounterVec
	conflicts   *prometheus.CounterVec
	statusOnly  prometheus.Counter
	rotations   prometheus.Counter
	connections *connections
}

// New returns the metrics of a version of the provider.
func New(version string) *Metrics {
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}
	}
	m := &Metrics{
		build: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "build_info", Help: "Always 1, for the version of the provider that runs.",
		}, []string{labelVersion}),
		calls: prometheus.NewCounterVec(counter("gateway_calls_total",
			"Calls to gateways by what they were for and how they went; those not made because a gateway is held off have the outcome held_off."),
			[]string{labelKind, labelVerb, labelOutcome}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "gateway_call_duration_seconds", Unit: "seconds",
			Help:    "How long calls to gateways took, from asking for credentials to the judged answer or the failure; without those that got no credentials or were not made.",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
		}, []string{labelKind, labelVerb}),
		wakeUps: prometheus.NewCounterVec(counter("wakeups_total",
			"Managed resources queued because of what was seen at their gateway, by what that was."), []string{labelKind, labelCause}),
		holdOffs: prometheus.NewCounterVec(counter("holdoffs_total",
			"Times a managed resource was refused for what only a change can cure, and left alone for a while."), []string{labelKind}),
		adoptions: prometheus.NewCounterVec(counter("adoptions_total",
			"Objects that existed at a gateway and were taken over instead of created."), []string{labelKind}),
		conflicts: prometheus.NewCounterVec(counter("conflicts_total",
			"Times a managed resource began to say Conflict or AdoptionRefused: what it asks for is taken at the gateway."), []string{labelKind}),
		statusOnly: prometheus.NewCounter(counter("status_only_updates_total",
			"Updates that sent a subscription's status alone, since the rest could not be applied.")),
		rotations: prometheus.NewCounter(counter("token_rotations_total",
			"Subscription tokens that were replaced and that a gateway accepts.")),
		connections: newConnections(),
	}
	m.build.WithLabelValues(version).Set(1)
	for _, of := range []gateway.Kind{gateway.KindRestAPI, gateway.KindSubscriptionPlan, gateway.KindSubscription} {
		for _, c := range []*prometheus.CounterVec{m.holdOffs, m.adoptions, m.conflicts} {
			c.WithLabelValues(string(of))
		}
		for _, cause := range []observation.Cause{observation.Vanished, observation.Changed, observation.Unreadable, observation.Readable} {
			m.wakeUps.WithLabelValues(string(of), string(cause))
		}
	}
	return m
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.build, m.calls, m.durations, m.wakeUps, m.holdOffs, m.adoptions, m.conflicts, m.statusOnly, m.rotations, m.connections,
	}
}

// Register all of them. The states of connections are asked for at each scrape.
func (m *Metrics) Register(r prometheus.Registerer, states func() []connection.State) error {
	m.connections.states = states
	return errors.Wrap(r.Register(m), "cannot register metrics")
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(ch)
	}
}

// Called counts a call to a gateway, or one that was held off.
func (m *Metrics) Called(c gateway.Call, err error, took time.Duration) {
	if m == nil {
		return
	}
	o := outcomeOf(err)
	m.calls.WithLabelValues(string(c.Kind), string(c.Verb), string(o)).Inc()
	if o != heldOff && o != noCredentials {
		m.durations.WithLabelValues(string(c.Kind), string(c.Verb)).Observe(took.Seconds())
	}
}

// Woke counts managed resources that were queued because of what was seen at a gateway.
func (m *Metrics) Woke(of gateway.Kind, cause observation.Cause, many int) {
	if m != nil {
		m.wakeUps.WithLabelValues(string(of), string(cause)).Add(float64(many))
	}
}

// HeldOff counts a managed resource that was refused and is left alone.
func (m *Metrics) HeldOff(of gateway.Kind) {
	if m != nil {
		m.holdOffs.WithLabelValues(string(of)).Inc()
	}
}

// Adopted counts an object at a gateway that was taken over.
func (m *Metrics) Adopted(of gateway.Kind) {
	if m != nil {
		m.adoptions.WithLabelValues(string(of)).Inc()
	}
}

// Conflicted counts a managed resource that began to say that what it asks for is taken.
func (m *Metrics) Conflicted(of gateway.Kind) {
	if m != nil {
		m.conflicts.WithLabelValues(string(of)).Inc()
	}
}

// SentStatusAlone counts an update of a subscription that sent its status alone.
func (m *Metrics) SentStatusAlone() {
	if m != nil {
		m.statusOnly.Inc()
	}
}

// Rotated counts a token that was replaced and is in force.
func (m *Metrics) Rotated() {
	if m != nil {
		m.rotations.Inc()
	}
}
