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
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

// Phase is the moment at which a fault strikes.
type Phase int

// The phases.
const (
	// BeforeCommit strikes before the gateway has done anything. If the fault
	// has an answer of its own, nothing is done at all.
	BeforeCommit Phase = iota

	// AfterCommit strikes when the request has been carried out and only its
	// answer is missing.
	AfterCommit
)

// A Fault is what goes wrong with one request.
type Fault struct {
	// Phase at which it strikes.
	Phase Phase

	// Hold keeps the request waiting at its phase until the channel is closed
	// or the gateway is. A client that goes away meanwhile changes nothing: the
	// request is still carried out.
	Hold <-chan struct{}

	// Cut ends the connection without an answer.
	Cut bool

	// Status, if not 0, replaces the status code.
	Status int

	// Header is added to the answer.
	Header http.Header

	// Body, if not nil, replaces the body of the answer.
	Body []byte

	// Echo replaces the message of the answer by the body of the request.
	Echo bool

	// Rewrite changes the JSON object in the answer. It is applied at
	// AfterCommit only, to the object itself and to every object in a list.
	Rewrite func(object map[string]any)
}

// Before returns the fault, striking before the request is carried out.
func (f Fault) Before() Fault {
	f.Phase = BeforeCommit
	return f
}

// After returns the fault, striking after the request was carried out.
func (f Fault) After() Fault {
	f.Phase = AfterCommit
	return f
}

// Held returns the fault, striking only once the channel is closed.
func (f Fault) Held(release <-chan struct{}) Fault {
	f.Hold = release
	return f
}

// answers says whether the fault stands in the place of carrying out the
// request.
func (f *Fault) answers() bool {
	return f.Cut || f.Status != 0 || f.Body != nil || f.Echo
}

// apply changes the answer as the fault says.
func (f *Fault) apply(a *answer, req Request) *answer {
	out := &answer{header: a.header.Clone(), status: a.status, committed: a.committed}
	body := a.body.Bytes()
	if f.Status != 0 {
		out.status = f.Status
	}
	if f.Body != nil {
		body = f.Body
	}
	if f.Echo {
		body = errorBody(string(req.body))
		out.header.Set("Content-Type", "application/json")
	}
	if f.Rewrite != nil {
		body = rewritten(body, f.Rewrite)
	}
	for k, v := range f.Header {
		out.header[http.CanonicalHeaderKey(k)] = v
	}
	out.body.Write(body)
	return out
}

// rewritten applies a change to a JSON object, or to the objects of a list.
func rewritten(body []byte, change func(map[string]any)) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil || doc == nil {
		return body
	}
	list := false
	for _, v := range doc {
		items, ok := v.([]any)
		if !ok {
			continue
		}
		for _, item := range items {
			if o, ok := item.(map[string]any); ok && o != nil {
				list = true
				change(o)
			}
		}
	}
	if !list {
		change(doc)
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return body
	}
	return out
}

// Status answers with the status code and the gateway's own error envelope.
func Status(code int, message string) Fault {
	return Fault{
		Status: code,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   errorBody(message),
	}
}

// Denied answers 401 or 403 in the envelope that gateways use for those.
func Denied(code int) Fault {
	name := "authentication_failed"
	if code == http.StatusForbidden {
		name = "forbidden"
	}
	body, _ := json.Marshal(map[string]string{"code": name, "message": name}) //nolint:errchkjson // Strings always marshal.
	return Fault{Status: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// RetryAfter answers with the status code (429, 503) and that Retry-After.
func RetryAfter(code int, value string) Fault {
	f := Status(code, http.StatusText(code))
	f.Header.Set("Retry-After", value)
	return f
}

// Raw answers with the status code, content type and body.
func Raw(code int, contentType, body string) Fault {
	return Fault{Status: code, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}
}

// HTML answers with a page, as a proxy in front of a gateway does.
func HTML(code int) Fault {
	return Raw(code, "text/html; charset=utf-8",
		"<html><head><title>"+http.StatusText(code)+"</title></head><body><h1>"+strconv.Itoa(code)+"</h1></body></html>")
}

// Redirect answers with a redirect to the location.
func Redirect(location string) Fault {
	return Fault{Status: http.StatusFound, Header: http.Header{"Location": {location}}, Body: []byte{}}
}

// Cut ends the connection without an answer.
func Cut() Fault {
	return Fault{Cut: true}
}

// EchoRequest answers with the status code and a message that repeats the body
// of the request, secrets included.
func EchoRequest(code int) Fault {
	return Fault{Status: code, Echo: true}
}

// EmptyBody carries the request out and answers without a body.
func EmptyBody() Fault {
	return Fault{Phase: AfterCommit, Body: []byte{}}
}

// Delay carries the request out once the channel is closed. With After, it
// answers once the channel is closed.
func Delay(release <-chan struct{}) Fault {
	return Fault{Hold: release}
}

// Rewrite carries the request out and changes the objects in its answer.
func Rewrite(change func(object map[string]any)) Fault {
	return Fault{Phase: AfterCommit, Rewrite: change}
}

// SetField carries the request out and answers with that field set, whatever
// was there; nil removes it.
func SetField(name string, value any) Fault {
	return Rewrite(func(o map[string]any) {
		if value == nil {
			delete(o, name)
			return
		}
		o[name] = value
	})
}

// WrongID carries the request out and answers with another ID.
func WrongID(id string) Fault { return SetField("id", id) }

// Faults decide what goes wrong.
type Faults interface {
	// Fault returns what goes wrong with the request; nil means nothing.
	Fault(r Request) *Fault
}

// FaultFunc is a function that decides what goes wrong.
type FaultFunc func(r Request) *Fault

// Fault calls the function.
func (f FaultFunc) Fault(r Request) *Fault { return f(r) }

// FailNext lets the next n requests that match fail.
func FailNext(n int, m Match, f Fault) Faults {
	return &failNext{left: n, match: m, fault: f}
}

// FailOnce lets the next request that matches fail.
func FailOnce(m Match, f Fault) Faults { return FailNext(1, m, f) }

// While lets every request fail that matches while the condition holds. The
// condition may be called by several requests at once.
func While(condition func() bool, m Match, f Fault) Faults {
	return FaultFunc(func(r Request) *Fault {
		if !m.Matches(r) || !condition() {
			return nil
		}
		return &f
	})
}

// Always lets every request fail that matches.
func Always(m Match, f Fault) Faults {
	return While(func() bool { return true }, m, f)
}

type failNext struct {
	mu    sync.Mutex
	left  int
	match Match
	fault Fault
}

func (f *failNext) Fault(r Request) *Fault {
	if !f.match.Matches(r) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left <= 0 {
		return nil
	}
	f.left--
	return &f.fault
}

// faultSet asks what was injected, oldest first, then the option's.
type faultSet struct {
	mu       sync.Mutex
	injected []*injected
	last     Faults
}

type injected struct{ faults Faults }

func (s *faultSet) ask(r Request) *Fault {
	s.mu.Lock()
	all := make([]Faults, 0, len(s.injected)+1)
	for _, i := range s.injected {
		all = append(all, i.faults)
	}
	if s.last != nil {
		all = append(all, s.last)
	}
	s.mu.Unlock()
	for _, f := range all {
		if fault := f.Fault(r); fault != nil {
			return fault
		}
	}
	return nil
}

// Inject adds faults, and returns a function that removes them.
func (g *Gateway) Inject(f Faults) (remove func()) {
	i := &injected{faults: f}
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	g.faults.injected = append(g.faults.injected, i)
	return func() {
		g.faults.mu.Lock()
		defer g.faults.mu.Unlock()
		for n, other := range g.faults.injected {
			if other == i {
				g.faults.injected = append(g.faults.injected[:n:n], g.faults.injected[n+1:]...)
				return
			}
		}
	}
}

// ClearFaults removes all faults, those of the options included.
func (g *Gateway) ClearFaults() {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	g.faults.injected, g.faults.last = nil, nil
}

// errorBody is the gateway's usual error envelope.
func errorBody(message string) []byte {
	b, _ := json.Marshal(map[string]string{"status": "error", "message": message}) //nolint:errchkjson // Strings always marshal.
	return append(b, '\n')
}
