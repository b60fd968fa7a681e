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

package crash

import (
	"context"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/test/narrow"
)

// A moment is when a process dies that makes a write.
type moment string

const (
	// before the write is carried out: it never is.
	before moment = "before"
	// after the write was carried out, and before it is answered.
	after moment = "after"
	// late: the process dies before the write is carried out. The write is still on
	// its way, and is carried out once the next process has looked and seen nothing of
	// it. It is for writes to the gateway; others are as before.
	late moment = "late"
)

// A write is one that went through a relay.
type write struct {
	// To whom it goes.
	To string
	// Line is its method and path.
	Line string
}

func (w write) String() string { return w.To + ": " + w.Line }

// A trap counts the writes that go through all relays that share it, and kills
// the process that makes them at one of them.
type trap struct {
	mu     sync.Mutex
	armed  bool
	at     int
	moment moment
	kill   func()

	// meddle does something else with a write that passes than to relay it. Optional.
	meddle meddler

	writes  []write
	sprung  *write
	killed  chan struct{}
	pending sync.WaitGroup

	straggler *straggler
}

// A straggler is a write that is on its way although who made it is dead.
type straggler struct {
	write

	carryOut func()
}

// A meddler relays the n-th write, or does something else with it or beside it.
// What is not counted is the write 0.
type meddler func(r *relay, n int, w http.ResponseWriter, req *http.Request)

// arm the trap: the counting begins anew, and kill is called at the given write.
// At the write 0 it never is. It must return once the process is gone.
func (t *trap) arm(at int, m moment, kill func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed, t.at, t.moment, t.kill, t.meddle = true, at, m, kill, nil
	t.writes, t.sprung, t.killed = nil, nil, make(chan struct{})
}

// armWith arms the trap so that nobody is killed, but somebody meddles.
func (t *trap) armWith(m meddler) {
	t.arm(0, before, nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meddle = m
}

// disarm the trap, and return once no write that it let pass is still on its way.
func (t *trap) disarm() {
	t.mu.Lock()
	t.armed = false
	t.mu.Unlock()
	t.pending.Wait()
}

// seen are the writes that were counted since the trap was armed.
func (t *trap) seen() []write {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]write(nil), t.writes...)
}

// victim is the write at which the process was killed, if it was.
func (t *trap) victim() *write {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sprung
}

// sprang is closed once the process was killed.
func (t *trap) sprang() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.killed
}

type verdict int

const (
	pass verdict = iota
	// strike: this is the write at which the process dies.
	strike
	// lost: it is made by a process that is dying.
	lost
)

// A judgement of a write.
type judgement struct {
	verdict

	// moment is when the process dies, if this is the write at which it does.
	moment moment
	// n is the number of the write, and meddle who relays it, if it passes.
	n      int
	meddle meddler
}

// judge a write that arrives. One that passes must be told when it is done.
func (t *trap) judge(w write) judgement {
	t.mu.Lock()
	defer t.mu.Unlock()
	j := judgement{verdict: pass, meddle: relayed}
	switch {
	case !t.armed:
	case t.sprung != nil:
		return judgement{verdict: lost}
	default:
		t.writes = append(t.writes, w)
		j.n = len(t.writes)
		if j.n == t.at {
			t.sprung = &w
			return judgement{verdict: strike, moment: t.moment}
		}
		if t.meddle != nil {
			j.meddle = t.meddle
		}
	}
	t.pending.Add(1)
	return j
}

// spring the trap.
func (t *trap) spring() {
	t.mu.Lock()
	kill, killed := t.kill, t.killed
	t.mu.Unlock()
	kill()
	close(killed)
}

// takeStraggler returns what is still on its way, once, if that is looked for.
func (t *trap) takeStraggler(looks func(write) bool) *straggler {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.straggler
	if s == nil || !looks(s.write) {
		return nil
	}
	t.straggler = nil
	return s
}

func (t *trap) setStraggler(s *straggler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.straggler = s
}

// A relay stands between the process under test and a server.
type relay struct {
	*httptest.Server

	to        string
	trap      *trap
	target    *url.URL
	transport http.RoundTripper
	proxy     *httputil.ReverseProxy

	// counts tells whether a request is one that counts.
	counts func(*http.Request) bool
	// looks tells whether a request looks for what such a straggler would have done.
	// Optional.
	looks func(write, *http.Request) bool
	// sluices hold back what a watch shows. Optional.
	sluices *sluices
	// shown is the namespace that is shown as if it were all there is. Optional.
	shown string
}

// newRelay starts a relay to a server until the test ends.
func newRelay(t *testing.T, r relay) *relay {
	t.Helper()
	r.proxy = &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(r.target) },
		Transport: r.transport,
		// A watch is an answer that never ends.
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	r.Server = httptest.NewUnstartedServer(&r)
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.Start()
	t.Cleanup(r.stop)
	return &r
}

// stop the relay, and whatever goes through it. It may be called more than once.
func (r *relay) stop() {
	r.CloseClientConnections()
	r.Close()
}

// ServeHTTP relays a request, unless the process that makes it dies of it.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.shown != "" {
		req = narrow.Request(req, r.shown)
	}
	if !r.counts(req) {
		if r.sluices != nil && isWatch(req) {
			r.sluices.watch(r, w, req)
			return
		}
		if r.looks != nil {
			if s := r.trap.takeStraggler(func(of write) bool { return r.looks(of, req) }); s != nil {
				r.answerAfter(w, req, s.carryOut)
				return
			}
		}
		r.proxy.ServeHTTP(w, req)
		return
	}
	j := r.trap.judge(r.writeOf(req))
	switch j.verdict {
	case pass:
		defer r.trap.pending.Done()
		// What was sent is carried out, whoever made it may die meanwhile. The proxy
		// looks after a client by itself if the context cannot end at all.
		ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
		defer cancel()
		j.meddle(r, j.n, w, req.WithContext(ctx))
		return
	case strike:
		r.strike(req, j.moment)
	case lost:
		<-r.trap.sprang()
	}
	// No answer, and the connection is cut.
	panic(http.ErrAbortHandler)
}

func (r *relay) writeOf(req *http.Request) write {
	return write{To: r.to, Line: req.Method + " " + req.URL.RequestURI()}
}

// relayed is a write that nobody meddles with.
func relayed(r *relay, _ int, w http.ResponseWriter, req *http.Request) {
	r.proxy.ServeHTTP(w, req)
}

// answerAfter asks, then does something, and only then answers.
func (r *relay) answerAfter(w http.ResponseWriter, req *http.Request, do func()) {
	answer := httptest.NewRecorder()
	r.proxy.ServeHTTP(answer, req)
	do()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = answer.Body.WriteTo(w)
}

// strike down the process at this very request.
func (r *relay) strike(req *http.Request, m moment) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		body = nil
	}
	out := req.Clone(context.WithoutCancel(req.Context()))
	switch m {
	case after:
		// What goes wrong here shows in what is there afterwards.
		_ = r.forward(out, string(body))
	case late:
		if r.looks != nil {
			r.trap.setStraggler(&straggler{r.writeOf(req), func() { _ = r.forward(out, string(body)) }})
		}
	case before:
	}
	r.trap.spring()
}

// forward a request, and return once it was answered.
func (r *relay) forward(req *http.Request, body string) error {
	req.RequestURI = ""
	req.URL.Scheme, req.URL.Host, req.Host = r.target.Scheme, r.target.Host, ""
	req.Body = io.NopCloser(strings.NewReader(body))
	req.ContentLength = int64(len(body))
	rsp, err := r.transport.RoundTrip(req)
	if err != nil {
		return errors.Wrapf(err, "cannot forward a request to %s", r.to)
	}
	defer rsp.Body.Close()
	_, err = io.Copy(io.Discard, rsp.Body)
	return err
}

func isWrite(req *http.Request) bool {
	switch req.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// changesCluster tells whether a request to the API server changes what the
// provider works with: events are noise that comes when it likes, and reviews of
// what one may do are questions.
func changesCluster(req *http.Request) bool {
	if !isWrite(req) || strings.HasPrefix(req.URL.Path, "/apis/authorization.k8s.io/") || strings.HasPrefix(req.URL.Path, "/apis/coordination.k8s.io/") {
		return false
	}
	for segment := range strings.SplitSeq(req.URL.Path, "/") {
		if segment == "events" {
			return false
		}
	}
	return true
}

// looksFor tells whether a request to the gateway finds out whether something is
// there that a write may have made: a plan in a list of all, and an API never there.
func looksFor(w write, req *http.Request) bool {
	path := req.URL.Path
	switch {
	case req.Method != http.MethodGet:
		return false
	case strings.Contains(w.Line, "/"+string(emulator.SubscriptionPlans)):
		return strings.Contains(path, "/"+string(emulator.SubscriptionPlans))
	case strings.Contains(w.Line, "/"+string(emulator.RestAPIs)):
		return strings.Contains(path, "/"+string(emulator.RestAPIs)+"/")
	}
	return strings.Contains(path, "/subscriptions") && (!strings.HasSuffix(path, "/subscriptions") || req.URL.Query().Has("apiId"))
}
