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

// Package emulator is a gateway to develop and test against: the management
// API of a WSO2 API Platform gateway for REST APIs, subscription plans and
// subscriptions, in memory, with the constraints, cascades, misleading answers
// and normalisations of the real one, in both of its generations.
//
// It judges its clients independently: it shares no types and no validation
// with the provider's own client. It keeps hashes of subscription tokens only.
package emulator

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/http"
	"sync"
	"time"
)

// BasePath is where the management API lives. The same routes also answer
// without it, with headers that call them deprecated.
const BasePath = "/api/management/v1"

// CorrelationIDHeader names a request. A real gateway uses the value as the
// primary key of the event that carries a write to its data plane, so a second
// write under one value is stored but never deployed; so does this one.
const CorrelationIDHeader = "X-Correlation-Id"

// maxBody bounds what is read of a request. Real gateways have no bound here;
// the emulator has one far above what a test would send on purpose.
const maxBody = 64 << 20

// Generation says which of the two generations of gateways is emulated.
type Generation string

// The generations.
const (
	// Legacy gateways assign subscription IDs themselves, and a PUT on a
	// subscription honours nothing but its status.
	Legacy Generation = "Legacy"

	// InPlace gateways take externalRefId as the ID of a subscription, and
	// change its plan and token in place.
	InPlace Generation = "InPlace"
)

// A Role of a user of the management API.
type Role string

// The roles that gateways know.
const (
	// RoleAdmin may do everything.
	RoleAdmin Role = "admin"

	// RoleDeveloper may do everything with REST APIs.
	RoleDeveloper Role = "developer"

	// RoleConsumer may do nothing with the kinds emulated here.
	RoleConsumer Role = "consumer"
)

// A User of the management API who authenticates with a name and a password.
type User struct {
	// Name is compared without regard to letter case, as gateways do.
	Name string

	// Password in clear text.
	Password string

	// Roles the user has.
	Roles []Role
}

// Options of a Gateway. The zero value is a legacy gateway without
// authentication that runs on the real clock.
type Options struct {
	// Generation defaults to Legacy.
	Generation Generation

	// GatewayID is answered in the bodies of plans and subscriptions. It
	// defaults to "emulated-gateway".
	GatewayID string

	// Users who may authenticate by basic authentication. A gateway with
	// neither users nor bearer tokens authenticates nobody: every request is
	// then allowed everything.
	Users []User

	// BearerTokens that are accepted, and the roles of their bearers.
	BearerTokens map[string][]Role

	// Immutable gateways are configured from files: they refuse every write
	// with 405, before they look at credentials.
	Immutable bool

	// Policies that the gateway image has, by name, with the major versions
	// ("v1") of each. Nil accepts every policy name in every major version.
	Policies map[string][]string

	// Env is what the template function env knows; all else is empty. Other
	// templates are not rendered and pass validation.
	Env map[string]string

	// Faults are asked about every request, after those that were added by
	// Inject.
	Faults Faults

	// Now is the clock. It defaults to time.Now. Times that the gateway records
	// increase strictly even where the clock stands still.
	Now func() time.Time

	// NewID makes the IDs that the gateway assigns. It defaults to random
	// UUIDs.
	NewID func() string

	// JournalLimit bounds how many requests Requests remembers; counters are
	// not bounded. It defaults to 10,000.
	JournalLimit int
}

// A Gateway is one emulated gateway: an http.Handler for its management API,
// and accessors that let a test look into it and act as somebody else at the
// gateway. It is safe for concurrent use.
type Gateway struct {
	newID    func() string
	policies map[string][]string
	env      map[string]string
	mux      *http.ServeMux
	store    *store
	journal  *journal
	access   *access
	faults   *faultSet
	closed   chan struct{}
	close    sync.Once
}

var _ http.Handler = &Gateway{}

// New returns an empty gateway.
func New(o Options) *Gateway {
	if o.Generation == "" {
		o.Generation = Legacy
	}
	if o.GatewayID == "" {
		o.GatewayID = "emulated-gateway"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = randomID
	}
	if o.JournalLimit <= 0 {
		o.JournalLimit = 10000
	}
	g := &Gateway{
		newID:    o.NewID,
		policies: o.Policies,
		env:      o.Env,
		store:    newStore(o.Generation, o.GatewayID, o.Now, o.NewID),
		journal:  newJournal(o.JournalLimit, o.Now),
		access:   newAccess(o),
		faults:   &faultSet{last: o.Faults},
		closed:   make(chan struct{}),
	}
	g.mux = g.routes()
	return g
}

// Close lets go of every request that a fault holds; they are dropped without
// an answer. The gateway's content stays.
func (g *Gateway) Close() {
	g.close.Do(func() { close(g.closed) })
}

// ServeHTTP answers one request to the management API.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The body is read before a fault may hold the request, so that a request
	// whose client has gone meanwhile can still be carried out.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		body = nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	correlationID := r.Header.Get(CorrelationIDHeader)
	given := correlationID != ""
	if !given {
		correlationID = g.newID()
	}
	req := g.journal.begin(r, body, given)
	fault := g.faults.ask(req)

	if fault != nil && fault.Phase == BeforeCommit {
		if !g.held(fault) {
			g.journal.end(req, OutcomeCut, 0, false, true)
			cut(w)
			return
		}
		if fault.answers() {
			a := fault.apply(newAnswer(), req)
			a.header.Set(CorrelationIDHeader, correlationID)
			g.finish(w, req, a, fault, false)
			return
		}
	}

	a := newAnswer()
	a.header.Set(CorrelationIDHeader, correlationID)
	g.mux.ServeHTTP(a, r)
	committed := a.committed

	if fault != nil && fault.Phase == AfterCommit {
		if !g.held(fault) {
			g.journal.end(req, OutcomeCut, 0, committed, true)
			cut(w)
			return
		}
		a = fault.apply(a, req)
	}
	g.finish(w, req, a, fault, committed)
}

// held waits as long as the fault holds the request, and reports whether it is
// to go on.
func (g *Gateway) held(f *Fault) bool {
	if f.Hold == nil {
		return true
	}
	select {
	case <-f.Hold:
		return true
	case <-g.closed:
		return false
	}
}

// finish sends the answer, or cuts the connection if the fault says so.
func (g *Gateway) finish(w http.ResponseWriter, req Request, a *answer, f *Fault, committed bool) {
	if f != nil && f.Cut {
		g.journal.end(req, OutcomeCut, 0, committed, true)
		cut(w)
		return
	}
	g.journal.end(req, outcomeOf(a.status), a.status, committed, f != nil)
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	// A client that has gone does not read its answer; that is its affair.
	_, _ = w.Write(a.body.Bytes()) //nolint:gosec // JSON of an emulator, not a page.
}

// cut ends the request without an answer.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if c, _, err := h.Hijack(); err == nil {
			_ = c.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// An answer is what a handler answers, before faults have seen it.
type answer struct {
	header    http.Header
	status    int
	body      bytes.Buffer
	committed bool
}

func newAnswer() *answer {
	return &answer{header: http.Header{}, status: http.StatusOK}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// randomID returns a random UUID.
func randomID() string {
	var b [16]byte
	// Read never fails: see crypto/rand.
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
