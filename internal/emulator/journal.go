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
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is the kind of object that a request is about: the first segment of its
// path below the base path.
type Kind string

// The kinds that the emulator knows. Requests about anything else have no kind.
const (
	RestAPIs          Kind = "rest-apis"
	SubscriptionPlans Kind = "subscription-plans"
	Subscriptions     Kind = "subscriptions"
)

// Outcome of a request, as its client saw it.
type Outcome string

// The outcomes.
const (
	OutcomePending     Outcome = "pending"
	OutcomeSuccess     Outcome = "success"
	OutcomeRedirect    Outcome = "redirect"
	OutcomeClientError Outcome = "client-error"
	OutcomeServerError Outcome = "server-error"
	OutcomeCut         Outcome = "cut"
)

func outcomeOf(status int) Outcome {
	switch {
	case status >= http.StatusInternalServerError:
		return OutcomeServerError
	case status >= http.StatusBadRequest:
		return OutcomeClientError
	case status >= http.StatusMultipleChoices:
		return OutcomeRedirect
	default:
		return OutcomeSuccess
	}
}

// A Request to the gateway, as faults see it. It holds no secrets: neither
// credentials nor bodies.
type Request struct {
	// Seq numbers all requests, beginning with 1.
	Seq int

	// N numbers the requests of this method about this kind, beginning with 1.
	N int

	// NthOfID numbers the requests of this method about this very object,
	// beginning with 1; lists and creations have the ID "".
	NthOfID int

	// Method of the request.
	Method string

	// Kind the request is about; empty where the path is not about one.
	Kind Kind

	// ID of the object in the path, unescaped; empty for lists and creations.
	ID string

	// Query parameters.
	Query url.Values

	// CorrelationIDGiven says whether the client sent a correlation ID.
	CorrelationIDGiven bool

	// body is for the fault that echoes it, and nothing else.
	body []byte
}

// IsWrite says whether the request asks for a change.
func (r Request) IsWrite() bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// IsList says whether the request lists the objects of a kind.
func (r Request) IsList() bool {
	return r.Method == http.MethodGet && r.Kind != "" && r.ID == ""
}

// A Record is a request that was answered, or is being answered.
type Record struct {
	Request

	// Time at which the request arrived.
	Time time.Time

	// Outcome as the client saw it.
	Outcome Outcome

	// Status code that the client saw; 0 if it saw none.
	Status int

	// Committed says whether the gateway changed something.
	Committed bool

	// Faulted says whether a fault had a hand in it.
	Faulted bool
}

// Match selects requests. Empty fields match everything.
type Match struct {
	Method string
	Kind   Kind
	ID     string

	// Writes selects only requests that ask for a change.
	Writes bool

	// Lists selects only requests that list objects.
	Lists bool

	// Where decides on what the other fields have selected.
	Where func(Request) bool
}

// Matches reports whether the request is selected.
func (m Match) Matches(r Request) bool {
	switch {
	case m.Method != "" && m.Method != r.Method,
		m.Kind != "" && m.Kind != r.Kind,
		m.ID != "" && m.ID != r.ID,
		m.Writes && !r.IsWrite(),
		m.Lists && !r.IsList():
		return false
	}
	return m.Where == nil || m.Where(r)
}

// CountKey is what requests are counted by.
type CountKey struct {
	Method  string
	Kind    Kind
	Outcome Outcome
}

type nthKey struct {
	method string
	kind   Kind
	id     string
}

type journal struct {
	mu      sync.Mutex
	now     func() time.Time
	limit   int
	seq     int
	nth     map[nthKey]int
	records []*Record
	open    map[int]*Record
	counts  map[CountKey]int
	changed chan struct{}
}

func newJournal(limit int, now func() time.Time) *journal {
	return &journal{
		now: now, limit: limit, nth: map[nthKey]int{}, open: map[int]*Record{},
		counts: map[CountKey]int{}, changed: make(chan struct{}),
	}
}

// begin notes that a request has arrived.
func (j *journal) begin(r *http.Request, body []byte, correlationIDGiven bool) Request {
	kind, id := target(r.URL)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	perKind, perID := nthKey{r.Method, kind, ""}, nthKey{r.Method, kind, "/" + id}
	j.nth[perKind]++
	j.nth[perID]++
	req := Request{
		Seq: j.seq, N: j.nth[perKind], NthOfID: j.nth[perID],
		Method: r.Method, Kind: kind, ID: id, Query: r.URL.Query(),
		CorrelationIDGiven: correlationIDGiven, body: body,
	}
	rec := &Record{Request: req, Time: j.now(), Outcome: OutcomePending}
	rec.body = nil
	j.open[req.Seq] = rec
	j.records = append(j.records, rec)
	if len(j.records) > 2*j.limit {
		j.records = slices.Clone(j.records[len(j.records)-j.limit:])
	}
	j.wake()
	return req
}

// end notes how a request ended.
func (j *journal) end(req Request, outcome Outcome, status int, committed, faulted bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec, ok := j.open[req.Seq]
	if !ok {
		return
	}
	delete(j.open, req.Seq)
	rec.Outcome, rec.Status, rec.Committed, rec.Faulted = outcome, status, committed, faulted
	j.counts[CountKey{req.Method, req.Kind, outcome}]++
	j.wake()
}

func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// target reads kind and ID out of a path.
func target(u *url.URL) (Kind, string) {
	path := strings.TrimPrefix(u.EscapedPath(), BasePath)
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kind := Kind(parts[0])
	if kind != RestAPIs && kind != SubscriptionPlans && kind != Subscriptions {
		return "", ""
	}
	if len(parts) < 2 {
		return kind, ""
	}
	id, err := url.PathUnescape(strings.Join(parts[1:], "/"))
	if err != nil {
		return kind, ""
	}
	return kind, id
}

// Requests returns the last requests that match, oldest first.
func (g *Gateway) Requests(m Match) []Record {
	g.journal.mu.Lock()
	defer g.journal.mu.Unlock()
	var out []Record
	for _, r := range g.journal.records {
		if m.Matches(r.Request) {
			out = append(out, *r)
		}
	}
	return out
}

// Count returns how many requests have arrived that match, of those that are
// still remembered.
func (g *Gateway) Count(m Match) int {
	return len(g.Requests(m))
}

// Writes returns how many requests for a change have arrived, of those that
// are still remembered, whether or not they changed anything.
func (g *Gateway) Writes() int {
	return g.Count(Match{Writes: true})
}

// Counts returns how many requests were answered, by method, kind and outcome,
// since the gateway was made or its journal last reset.
func (g *Gateway) Counts() map[CountKey]int {
	g.journal.mu.Lock()
	defer g.journal.mu.Unlock()
	out := make(map[CountKey]int, len(g.journal.counts))
	for k, v := range g.journal.counts {
		out[k] = v
	}
	return out
}

// Changed returns a channel that is closed as soon as another request arrives
// or ends, for tests that wait for one.
func (g *Gateway) Changed() <-chan struct{} {
	g.journal.mu.Lock()
	defer g.journal.mu.Unlock()
	return g.journal.changed
}

// ResetJournal forgets all requests and counters. Numbering begins anew, but
// for requests that are still being answered.
func (g *Gateway) ResetJournal() {
	g.journal.mu.Lock()
	defer g.journal.mu.Unlock()
	g.journal.records = nil
	clear(g.journal.nth)
	clear(g.journal.counts)
}
