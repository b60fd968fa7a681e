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

package emulator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// call sends one request and returns status, body and headers.
func call(t *testing.T, client *http.Client, method, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func plain() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func TestFaults(t *testing.T) {
	create := Match{Method: http.MethodPost, Kind: Subscriptions}
	type want struct {
		status int
		rows   int
		body   string
	}
	cases := map[string]struct {
		reason string
		fault  Fault
		want   want
	}{
		"ErrorBefore": {
			reason: "an error before the commit creates nothing",
			fault:  Status(http.StatusServiceUnavailable, "down"),
			want:   want{status: 503, body: `"down"`},
		},
		"ErrorAfter": {
			reason: "an error after the commit hides what was created",
			fault:  Status(http.StatusInternalServerError, "oops").After(),
			want:   want{status: 500, rows: 1, body: "oops"},
		},
		"CutBefore": {
			reason: "a connection may be cut before anything happened",
			fault:  Cut(),
			want:   want{body: "EOF"},
		},
		"CutAfter": {
			reason: "a connection may be cut once everything happened",
			fault:  Cut().After(),
			want:   want{rows: 1, body: "EOF"},
		},
		"EmptyBody": {
			reason: "a creation may be answered without a body",
			fault:  EmptyBody(),
			want:   want{status: 201, rows: 1},
		},
		"HTML": {
			reason: "a proxy may answer with a page",
			fault:  HTML(http.StatusBadGateway).After(),
			want:   want{status: 502, rows: 1, body: "<html>"},
		},
		"Redirect": {
			reason: "a proxy may redirect",
			fault:  Redirect("http://elsewhere.example.com/"),
			want:   want{status: 302},
		},
		"WrongID": {
			reason: "an answer may name another object",
			fault:  WrongID("another"),
			want:   want{status: 201, rows: 1, body: `"id":"another"`},
		},
		"ExtraField": {
			reason: "an answer may have fields that nobody knows",
			fault:  SetField("novel", map[string]any{"a": 1}),
			want:   want{status: 201, rows: 1, body: `"novel":{"a":1}`},
		},
		"Echo": {
			reason: "an error may repeat the request, secrets included",
			fault:  EchoRequest(http.StatusBadRequest),
			want:   want{status: 400, body: "s3cret"},
		},
		"RetryAfter": {
			reason: "a gateway may ask for patience",
			fault:  RetryAfter(http.StatusTooManyRequests, "30"),
			want:   want{status: 429},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t, Options{})
			s.AddAPI("a")
			s.Inject(FailOnce(create, tc.fault))
			status, body, _ := call(t, plain(), http.MethodPost, s.Endpoint()+"/subscriptions",
				`{"apiId":"a","subscriptionToken":"s3cret"}`)
			if !strings.Contains(body, tc.want.body) {
				t.Errorf("%s: body: want %q in it, got %q", tc.reason, tc.want.body, body)
			}
			got := want{status: status, rows: len(s.Subscriptions()), body: tc.want.body}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			status, _, _ = call(t, plain(), http.MethodPost, s.Endpoint()+"/subscriptions",
				`{"apiId":"a","subscriptionToken":"another"}`)
			if status != http.StatusCreated {
				t.Errorf("FailOnce(...): second request: want 201, got %d", status)
			}
		})
	}
}

// A request is carried out although its client has gone.
func TestDelayOutlivesClient(t *testing.T) {
	release := make(chan struct{})
	s := start(t, Options{})
	s.AddAPI("a")
	s.Inject(FailOnce(Match{Method: http.MethodPost}, Delay(release)))
	arrived := s.Changed()

	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint()+"/subscriptions",
			strings.NewReader(`{"apiId":"a","subscriptionToken":"t"}`))
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := plain().Do(r); err == nil {
			_ = resp.Body.Close()
			t.Error("the request was answered although it is held")
		}
	}()
	<-arrived
	cancel()
	<-gone
	if n := len(s.Subscriptions()); n != 0 {
		t.Errorf("before the release: want no subscription, got %d", n)
	}
	changed := s.Changed()
	close(release)
	<-changed
	if n := len(s.Subscriptions()); n != 1 {
		t.Errorf("after the release: want a subscription, got %d", n)
	}
}

// A reused correlation ID keeps a write from the data plane.
func TestCorrelationIDReused(t *testing.T) {
	s := start(t, Options{})
	s.AddAPI("a")
	for _, token := range []string{"one", "two"} {
		status, _, h := call(t, plain(), http.MethodPost, s.Endpoint()+"/subscriptions",
			`{"apiId":"a","subscriptionToken":"`+token+`"}`, CorrelationIDHeader, "same")
		if status != http.StatusCreated || h.Get(CorrelationIDHeader) != "same" {
			t.Fatalf("want 201 and the correlation ID, got %d, %q", status, h.Get(CorrelationIDHeader))
		}
	}
	if !s.LetThrough("a", "one") || s.LetThrough("a", "two") || s.NotDeployed() != 1 || len(s.Subscriptions()) != 2 {
		t.Errorf("want the second write stored and not deployed: LetThrough(one)=%t, LetThrough(two)=%t, NotDeployed()=%d",
			s.LetThrough("a", "one"), s.LetThrough("a", "two"), s.NotDeployed())
	}
}

// What the gateway tells of itself never contains a token.
func TestNoSecrets(t *testing.T) {
	s := start(t, Options{Users: []User{{Name: "u", Password: "pa55", Roles: []Role{RoleAdmin}}}})
	s.AddAPI("a")
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint()+"/subscriptions",
		strings.NewReader(`{"apiId":"a","subscriptionToken":"s3cret"}`))
	r.SetBasicAuth("U", "pa55")
	resp, err := plain().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	b, err := json.Marshal([]any{s.Requests(Match{}), s.Subscriptions(), s.APIs()})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cret", "pa55"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%q in %s", secret, b)
		}
	}
	want := map[CountKey]int{{Method: http.MethodPost, Kind: Subscriptions, Outcome: OutcomeSuccess}: 1}
	if diff := cmp.Diff(want, s.Counts()); diff != "" {
		t.Errorf("Counts(): -want, +got:\n%s", diff)
	}
}

func TestTLS(t *testing.T) {
	g := New(Options{})
	s, err := g.Serve(t.Context(), Listen{TLS: true, ClientCertificates: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	client := func(ca []byte, certs ...tls.Certificate) *http.Client {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		return &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: certs, MinVersion: tls.VersionTLS12},
		}}
	}
	pair := func() tls.Certificate {
		cert, key, err := s.ClientCertificate()
		if err != nil {
			t.Fatal(err)
		}
		p, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	old := s.CA()
	if status, body, _ := call(t, client(old, pair()), http.MethodGet, s.Endpoint()+"/rest-apis", ""); status != http.StatusOK {
		t.Errorf("with CA and certificate: want 200, got %d %s", status, body)
	}
	if status, _, _ := call(t, client(old), http.MethodGet, s.Endpoint()+"/rest-apis", ""); status != 0 {
		t.Errorf("without a client certificate: want no answer, got %d", status)
	}
	if err := s.RotateCA(); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := call(t, client(old, pair()), http.MethodGet, s.Endpoint()+"/rest-apis", ""); status != 0 {
		t.Errorf("with the old CA: want no answer, got %d", status)
	}
	if status, body, _ := call(t, client(s.CA(), pair()), http.MethodGet, s.Endpoint()+"/rest-apis", ""); status != http.StatusOK {
		t.Errorf("with the new CA: want 200, got %d %s", status, body)
	}
}

// A gateway can be stopped and served again at its address with its content.
func TestRestart(t *testing.T) {
	g := New(Options{})
	s, err := g.Serve(t.Context(), Listen{})
	if err != nil {
		t.Fatal(err)
	}
	g.AddAPI("a")
	address := s.Address()
	s.Stop()
	if status, _, _ := call(t, plain(), http.MethodGet, s.Endpoint()+"/rest-apis/a", ""); status != 0 {
		t.Errorf("stopped: want no answer, got %d", status)
	}
	again, err := g.Serve(t.Context(), Listen{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if status, _, _ := call(t, plain(), http.MethodGet, s.Endpoint()+"/rest-apis/a", ""); status != http.StatusOK {
		t.Errorf("served again: want 200, got %d", status)
	}
}

// Change stamps move although the clock stands still.
func TestFrozenClock(t *testing.T) {
	g := New(Options{Now: func() time.Time { return time.Unix(0, 0).UTC() }})
	g.AddAPI("a")
	s, _ := g.AddSubscription(Subscription{APIHandle: "a"}, "t")
	g.SetSubscriptionStatus(s.ID, "REVOKED")
	after, _ := g.Subscription(s.ID)
	if !after.UpdatedAt.After(s.UpdatedAt) {
		t.Errorf("want updatedAt after %s, got %s", s.UpdatedAt, after.UpdatedAt)
	}
}

// Without a server, a cut connection is an aborted handler.
func TestCutWithoutServer(t *testing.T) {
	g := New(Options{Faults: Always(Match{}, Cut())})
	defer func() {
		if r := recover(); r != http.ErrAbortHandler { //nolint:errorlint // A panic's value is compared as it is.
			t.Errorf("want http.ErrAbortHandler, got %v", r)
		}
	}()
	g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
}
