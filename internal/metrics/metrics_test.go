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
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// A counting gate lets all calls through, or none.
type counting struct {
	m      *Metrics
	refuse error
}

func (g counting) Enter(_ context.Context, c gateway.Call) (func(gateway.Outcome), error) {
	if g.refuse != nil {
		g.m.Called(c, g.refuse, 0)
		return nil, g.refuse
	}
	return func(o gateway.Outcome) { g.m.Called(c, o.Err, 70*time.Millisecond) }, nil
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func says(message string) string { return `{"status":"error","message":"` + message + `"}` }

// Each way that the client says a call can go has an outcome of its own.
func TestOutcomes(t *testing.T) {
	get := func(ctx context.Context, c *gateway.Client) error {
		_, err := c.GetSubscription(ctx, "s")
		return err
	}
	create := func(ctx context.Context, c *gateway.Client) error {
		_, err := c.CreateSubscription(ctx, gateway.SubscriptionCreate{APIID: "books"})
		return err
	}
	remove := func(ctx context.Context, c *gateway.Client) error { return c.DeleteSubscription(ctx, "s") }
	cases := map[string]struct {
		reason string
		serve  http.HandlerFunc
		// None serves if it is nil.
		call func(ctx context.Context, c *gateway.Client) error
		// change what the client is made of.
		change func(o *gateway.Options)
		verb   string
		want   outcome
		// untimed is what never got as far as to be made.
		untimed bool
	}{
		"Success":           {reason: "An answer is one.", serve: answer(http.StatusOK, `{"id":"s"}`), call: get, verb: "get", want: success},
		"NotFound":          {reason: "That nothing is there is an answer too.", serve: answer(http.StatusNotFound, says("no such subscription")), call: get, verb: "get", want: notFound},
		"Conflict":          {reason: "A create that is refused since something is there.", serve: answer(http.StatusConflict, says("already exists")), call: create, verb: "create", want: conflict},
		"Invalid":           {reason: "A request that is wrong.", serve: answer(http.StatusBadRequest, says("invalid status")), call: create, verb: "create", want: invalid},
		"MissingDependency": {reason: "A create that refers to what is not there.", serve: answer(http.StatusNotFound, says("no such API")), call: create, verb: "create", want: missingDependency},
		"InUse":             {reason: "What is in use is not deleted.", serve: answer(http.StatusConflict, says("in use")), call: remove, verb: "delete", want: inUse},
		"Unauthorized":      {reason: "Credentials that are wrong.", serve: answer(http.StatusUnauthorized, ""), call: get, verb: "get", want: unauthorized},
		"Forbidden":         {reason: "Credentials without a role.", serve: answer(http.StatusForbidden, ""), call: get, verb: "get", want: forbidden},
		"ReadOnly":          {reason: "A gateway that takes no changes.", serve: answer(http.StatusMethodNotAllowed, ""), call: create, verb: "create", want: readOnly},
		"Throttled":         {reason: "A gateway that wants fewer calls.", serve: answer(http.StatusTooManyRequests, ""), call: get, verb: "get", want: throttled},
		"Unavailable":       {reason: "A gateway that fails.", serve: answer(http.StatusServiceUnavailable, ""), call: get, verb: "get", want: unavailable},
		"BadAnswer":         {reason: "Something that is no gateway.", serve: answer(http.StatusOK, "<html>"), call: get, verb: "get", want: badAnswer},
		"RequestTimeout":    {reason: "A proxy that waited too long.", serve: answer(http.StatusRequestTimeout, ""), call: get, verb: "get", want: timeout},
		"Timeout": {
			reason: "A gateway that does not answer.", serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, call: get,
			change: func(o *gateway.Options) { o.Timeout = 10 * time.Millisecond }, verb: "get", want: timeout,
		},
		"Unreachable": {reason: "A gateway that is not there.", call: get, verb: "get", want: unreachable},
		"Cancelled": {
			reason: "A call that nobody waits for any more says nothing.", serve: answer(http.StatusOK, `{"id":"s"}`),
			call: func(ctx context.Context, c *gateway.Client) error {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return get(ctx, c)
			},
			verb: "get", want: cancelled,
		},
		"NoCredentials": {
			reason: "Without credentials there is no call.", serve: answer(http.StatusOK, `{"id":"s"}`), call: get, verb: "get", want: noCredentials, untimed: true,
			change: func(o *gateway.Options) {
				o.Authorizer = gateway.AuthorizerFunc(func(*http.Request) error { return errors.New("no token") })
			},
		},
		"NoAuthorizationServer": {
			reason: "Nor without a server to get them from.", serve: answer(http.StatusOK, `{"id":"s"}`), call: get, verb: "get", want: noCredentials, untimed: true,
			change: func(o *gateway.Options) {
				o.Authorizer = gateway.AuthorizerFunc(func(*http.Request) error { return &gateway.Error{Reason: gateway.ReasonUnavailable} })
			},
		},
		"HeldOff": {
			reason: "Nor while the gateway is held off.", serve: answer(http.StatusOK, `{"id":"s"}`), call: get, verb: "get", want: heldOff, untimed: true,
			change: func(o *gateway.Options) {
				g, _ := o.Gate.(counting)
				g.refuse = &gateway.Error{Reason: gateway.ReasonHeldOff}
				o.Gate = g
			},
		},
	}
	told := map[string]bool{string(failed): true}
	for name, tc := range cases {
		told[string(tc.want)] = true
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tc.serve)
			defer s.Close()
			if tc.serve == nil {
				s.Close()
			}
			endpoint, err := gateway.ParseEndpoint(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			m := New("v1")
			o := gateway.Options{Endpoint: endpoint, Gate: counting{m: m}, Timeout: 5 * time.Second}
			if tc.change != nil {
				tc.change(&o)
			}
			err = tc.call(t.Context(), gateway.New(o))
			if (err == nil) != (tc.want == success) {
				t.Errorf("the call: %v", err)
			}
			want := `
# HELP apiplatform_gateway_calls_total Calls to gateways by what they were for and how they went; those not made because a gateway is held off have the outcome held_off.
# TYPE apiplatform_gateway_calls_total counter
apiplatform_gateway_calls_total{kind="Subscription",outcome="` + string(tc.want) + `",verb="` + tc.verb + `"} 1
`
			if err := testutil.CollectAndCompare(m, strings.NewReader(want), "apiplatform_gateway_calls_total"); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
			timed := testutil.CollectAndCount(m, "apiplatform_gateway_call_duration_seconds")
			if (timed == 0) != tc.untimed {
				t.Errorf("%s\n%d histograms", tc.reason, timed)
			}
		})
	}
	if got := outcomeOf(errors.New("whatever")); got != failed {
		t.Errorf("an error that is not the client's: %s", got)
	}

	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(docs), "\n## Outcomes of calls\n")
	table, _, _ = strings.Cut(table, "\n## ")
	explained := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		explained[row[1]] = true
	}
	if diff := cmp.Diff(told, explained); diff != "" {
		t.Errorf("docs/metrics.md explains other outcomes: -want, +got:\n%s", diff)
	}
}

// A call that took 70 ms is in the bucket up to 100 ms.
func TestDurations(t *testing.T) {
	m := New("v1")
	m.Called(gateway.Call{Kind: gateway.KindRestAPI, Verb: gateway.VerbList}, nil, 70*time.Millisecond)
	m.Called(gateway.Call{Kind: gateway.KindRestAPI, Verb: gateway.VerbList}, &gateway.Error{Reason: gateway.ReasonUnanswered}, 31*time.Second)
	want := `
# HELP apiplatform_gateway_call_duration_seconds How long calls to gateways took, from asking for credentials to the judged answer or the failure; without those that got no credentials or were not made.
# TYPE apiplatform_gateway_call_duration_seconds histogram
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.005"} 0
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.01"} 0
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.025"} 0
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.05"} 0
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.1"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.25"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="0.5"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="1"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="2.5"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="5"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="10"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="30"} 1
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="60"} 2
apiplatform_gateway_call_duration_seconds_bucket{kind="RestApi",verb="list",le="+Inf"} 2
apiplatform_gateway_call_duration_seconds_sum{kind="RestApi",verb="list"} 31.07
apiplatform_gateway_call_duration_seconds_count{kind="RestApi",verb="list"} 2
`
	if err := testutil.CollectAndCompare(m, strings.NewReader(want), "apiplatform_gateway_call_duration_seconds"); err != nil {
		t.Error(err)
	}
}

// values of all counters but those of calls, as name{labels} value.
func values(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := []string{}
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); v != 0 || m.GetGauge() != nil {
				out[name] = v
			}
		}
	}
	return out
}

func register(t *testing.T, m *Metrics, states func() []connection.State) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := m.Register(r, states); err != nil {
		t.Fatal(err)
	}
	return r
}

func none() []connection.State { return nil }

// What is told is counted, once and under its own name.
func TestCounters(t *testing.T) {
	cases := map[string]struct {
		reason string
		tell   func(m *Metrics)
		want   map[string]float64
	}{
		"Nothing":    {reason: "A provider that does nothing is there.", tell: func(*Metrics) {}},
		"Woke":       {reason: "Each that is woken counts.", tell: func(m *Metrics) { m.Woke(gateway.KindRestAPI, observation.Changed, 3) }, want: map[string]float64{"apiplatform_wakeups_total{cause=changed,kind=RestApi}": 3}},
		"HeldOff":    {reason: "So does each refusal.", tell: func(m *Metrics) { m.HeldOff(gateway.KindSubscription) }, want: map[string]float64{"apiplatform_holdoffs_total{kind=Subscription}": 1}},
		"Adopted":    {reason: "Each adoption.", tell: func(m *Metrics) { m.Adopted(gateway.KindSubscriptionPlan) }, want: map[string]float64{"apiplatform_adoptions_total{kind=SubscriptionPlan}": 1}},
		"Conflicted": {reason: "Each conflict.", tell: func(m *Metrics) { m.Conflicted(gateway.KindSubscription) }, want: map[string]float64{"apiplatform_conflicts_total{kind=Subscription}": 1}},
		"StatusOnly": {reason: "Each status that went out alone.", tell: (*Metrics).SentStatusAlone, want: map[string]float64{"apiplatform_status_only_updates_total{}": 1}},
		"Rotated":    {reason: "And each rotation.", tell: (*Metrics).Rotated, want: map[string]float64{"apiplatform_token_rotations_total{}": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := New("v1.2.3")
			r := register(t, m, none)
			tc.tell(m)
			want := map[string]float64{"apiplatform_build_info{version=v1.2.3}": 1}
			for k, v := range tc.want {
				want[k] = v
			}
			if diff := cmp.Diff(want, values(t, r)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			tc.tell(nil)
		})
	}
}

// A rate needs a first value, so what can be counted is there before it is.
func TestCountersBeginAtZero(t *testing.T) {
	m := New("v1")
	for name, want := range map[string]int{
		"apiplatform_wakeups_total": 12, "apiplatform_holdoffs_total": 3, "apiplatform_adoptions_total": 3, "apiplatform_conflicts_total": 3,
		"apiplatform_status_only_updates_total": 1, "apiplatform_token_rotations_total": 1,
	} {
		if got := testutil.CollectAndCount(m, name); got != want {
			t.Errorf("%s: %d series, want %d", name, got, want)
		}
	}
}

func two() []connection.State {
	return []connection.State{
		{
			Ref:       connection.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "default"},
			Reachable: connection.StatusTrue, Authenticated: connection.StatusFalse,
			Ages: map[gateway.Kind]time.Duration{gateway.KindSubscription: 90 * time.Second, gateway.KindRestAPI: time.Second},
		},
		{Ref: connection.Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team", Name: "pc"}, Reachable: connection.StatusFalse, Authenticated: connection.StatusUnknown},
	}
}

// Of connections is told what is known at the moment, and nothing of one that is gone.
func TestConnections(t *testing.T) {
	var now []connection.State
	r := register(t, New("v1"), func() []connection.State { return now })
	now = two()
	want := `
# HELP apiplatform_gateway_authenticated Whether the gateway of a configuration knows the credentials, 1 or 0; nothing while that is unknown or the configuration cannot be used.
# TYPE apiplatform_gateway_authenticated gauge
apiplatform_gateway_authenticated{config_kind="ClusterProviderConfig",config_name="default",config_namespace=""} 0
# HELP apiplatform_gateway_reachable Whether the gateway of a configuration answers, 1 or 0; nothing while that is unknown or the configuration cannot be used.
# TYPE apiplatform_gateway_reachable gauge
apiplatform_gateway_reachable{config_kind="ClusterProviderConfig",config_name="default",config_namespace=""} 1
apiplatform_gateway_reachable{config_kind="ProviderConfig",config_name="pc",config_namespace="team"} 0
# HELP apiplatform_observation_age_seconds How long ago what managed resources look at was read, for that which was read the longest ago; nothing while nobody looks.
# TYPE apiplatform_observation_age_seconds gauge
apiplatform_observation_age_seconds{config_kind="ClusterProviderConfig",config_name="default",config_namespace="",kind="RestApi"} 1
apiplatform_observation_age_seconds{config_kind="ClusterProviderConfig",config_name="default",config_namespace="",kind="Subscription"} 90
`
	of := []string{"apiplatform_gateway_authenticated", "apiplatform_gateway_reachable", "apiplatform_observation_age_seconds"}
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), of...); err != nil {
		t.Error(err)
	}
	now = nil
	if n, err := testutil.GatherAndCount(r, of...); err != nil || n != 0 {
		t.Errorf("%d series of configurations that are gone, %v", n, err)
	}
}

// Names, units and help are as Prometheus wants them.
func TestLint(t *testing.T) {
	m := New("v1")
	r := register(t, m, two)
	m.Called(gateway.Call{Kind: gateway.KindRestAPI, Verb: gateway.VerbList}, nil, time.Second)
	problems, err := testutil.GatherAndLint(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// One process has them once.
func TestRegisterTwice(t *testing.T) {
	r := register(t, New("v1"), none)
	if err := New("v1").Register(r, none); err == nil {
		t.Error("registered twice")
	}
}

// All is told and scraped at the same time.
func TestConcurrently(t *testing.T) {
	m := New("v1")
	r := register(t, m, two)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			m.Called(gateway.Call{Kind: gateway.KindRestAPI, Verb: gateway.VerbList}, nil, time.Second)
			m.Woke(gateway.KindRestAPI, observation.Vanished, 1)
			m.HeldOff(gateway.KindRestAPI)
			m.Rotated()
			if _, err := r.Gather(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := values(t, r)["apiplatform_token_rotations_total{}"]; got != 20 {
		t.Errorf("%v rotations", got)
	}
}
