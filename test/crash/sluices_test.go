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
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

const (
	subscriptionsWatch = "subscriptions"
	apisWatch          = "restapis"
	plansWatch         = "subscriptionplans"
	secretsWatch       = "secrets"
	configsWatch       = "providerconfigs"

	// backlog is how many events may wait at a sluice.
	backlog = 4096
)

// Sluices are what the events of all watches go through. They may be late, never
// come, or the watch ends; what passes is in order.
type sluices struct {
	mu sync.Mutex

	// delay of each event.
	delay time.Duration
	// shut are the resources whose events wait, until the channel is closed.
	shut map[string]chan struct{}
	// held is how many events from the namespace waited for that so far.
	held      int
	namespace string
	// theft is the event that is to get lost.
	theft *theft
	// expired are the resources whose next watch cannot go on where it was, so that
	// all is listed anew.
	expired map[string]bool
	streams map[*stream]struct{}
}

// A stream is a watch that goes on.
type stream struct {
	resource string
	cut      context.CancelFunc
	// silent is a stream through which nothing comes any more.
	silent bool
}

// A theft makes one event get lost.
type theft struct {
	resource, namespace, name string
	// event is its type, and version which version of the object it tells of; any if
	// empty.
	event   apiwatch.EventType
	version string
	// silence lets nothing through after it, so that the watch goes on where it was
	// once it is made anew. Otherwise all goes on as if nothing had been.
	silence bool

	done chan struct{}
}

// A watchEvent is one that a watch shows.
type watchEvent struct {
	raw json.RawMessage
	at  time.Time
}

// newSluices for the events of a namespace; the others go along.
func newSluices(namespace string) *sluices {
	return &sluices{namespace: namespace, shut: map[string]chan struct{}{}, expired: map[string]bool{}, streams: map[*stream]struct{}{}}
}

// shutDown holds back all events of a resource until open is called.
func (s *sluices) shutDown(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut[resource] == nil {
		s.shut[resource] = make(chan struct{})
	}
}

// open all sluices.
func (s *sluices) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = 0
	for _, wait := range s.shut {
		close(wait)
	}
	clear(s.shut)
}

// heldBack is how many events were held back so far.
func (s *sluices) heldBack() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// slow down all events.
func (s *sluices) slow(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = by
}

// steal the next such event. What is returned is closed once it is lost.
func (s *sluices) steal(t theft) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.done = make(chan struct{})
	s.theft = &t
	return t.done
}

// cut all watches of a resource. If what they showed last has expired, all is
// listed anew.
func (s *sluices) cut(resource string, expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired[resource] = expired
	for st := range s.streams {
		if st.resource == resource {
			st.cut()
		}
	}
}

// isExpired tells whether a watch cannot go on where it was, once.
func (s *sluices) isExpired(resource string, req *http.Request) bool {
	if q := req.URL.Query(); q.Get("resourceVersion") == "" || q.Get("sendInitialEvents") == "true" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.expired[resource]
	delete(s.expired, resource)
	return was
}

// isWatch tells whether a request is for a watch.
func isWatch(req *http.Request) bool {
	q := req.URL.Query()
	return req.Method == http.MethodGet && (q.Get("watch") == "true" || q.Get("watch") == "1")
}

// watch relays a watch.
func (s *sluices) watch(r *relay, w http.ResponseWriter, req *http.Request) {
	resource := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	if s.isExpired(resource, req) {
		expired.give(w)
		return
	}
	ctx, cut := context.WithCancel(req.Context())
	defer cut()
	st := &stream{resource: resource, cut: cut}
	s.add(st)
	defer s.remove(st)

	rsp, err := r.openWatch(req.Clone(ctx))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer rsp.Body.Close()
	maps.Copy(w.Header(), rsp.Header)
	w.WriteHeader(rsp.StatusCode)
	if rsp.StatusCode != http.StatusOK {
		_, _ = io.Copy(w, rsp.Body)
		return
	}
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for e := range arriving(ctx, rsp.Body) {
		if !s.lets(ctx, st, e) {
			continue
		}
		if _, err := w.Write(append(e.raw, '\n')); err != nil {
			break
		}
		_ = flush()
	}
	if ctx.Err() != nil {
		// It did not end, it was cut.
		panic(http.ErrAbortHandler)
	}
}

// openWatch asks the server for a watch whose events can be read.
func (r *relay) openWatch(out *http.Request) (*http.Response, error) {
	out.RequestURI, out.Body = "", nil
	out.URL.Scheme, out.URL.Host, out.Host = r.target.Scheme, r.target.Host, ""
	out.Header.Del("Accept-Encoding")
	out.Header.Set("Accept", strings.ReplaceAll(out.Header.Get("Accept"), "application/vnd.kubernetes.protobuf", "application/json"))
	rsp, err := r.transport.RoundTrip(out)
	return rsp, errors.Wrapf(err, "cannot watch through %s", r.to)
}

// arriving are the events that a server sends, until it sends no more.
func arriving(ctx context.Context, body io.Reader) <-chan watchEvent {
	events := make(chan watchEvent, backlog)
	go func() {
		defer close(events)
		d := json.NewDecoder(body)
		for {
			e := watchEvent{}
			if d.Decode(&e.raw) != nil {
				return
			}
			e.at = time.Now()
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events
}

func (s *sluices) add(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st] = struct{}{}
}

func (s *sluices) remove(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
}

// lets waits until an event may pass, and tells whether it ever does.
func (s *sluices) lets(ctx context.Context, st *stream, e watchEvent) bool {
	s.mu.Lock()
	delay := time.NewTimer(time.Until(e.at.Add(s.delay)))
	s.mu.Unlock()
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-ctx.Done():
		return false
	}
	for waited := false; ; waited = true {
		s.mu.Lock()
		wait := s.shut[st.resource]
		if wait != nil && !waited && e.about().Metadata.Namespace == s.namespace {
			s.held++
		}
		s.mu.Unlock()
		if wait == nil {
			return !s.steals(st, e)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return false
		}
	}
}

// steals tells whether an event gets lost.
func (s *sluices) steals(st *stream, e watchEvent) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.silent {
		return true
	}
	t := s.theft
	if t == nil || t.resource != st.resource || !t.isAbout(e) {
		return false
	}
	s.theft, st.silent = nil, t.silence
	close(t.done)
	return true
}

func (t *theft) isAbout(e watchEvent) bool {
	of := e.about()
	return of.Type == t.event && of.Metadata.Namespace == t.namespace && of.Metadata.Name == t.name &&
		(t.version == "" || of.Metadata.ResourceVersion == t.version)
}

// A subject is what an event is about.
type subject struct {
	Type     apiwatch.EventType
	Metadata metav1.ObjectMeta
}

// about what an event is.
func (e watchEvent) about() subject {
	is := struct {
		Type   apiwatch.EventType `json:"type"`
		Object struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		} `json:"object"`
	}{}
	if json.Unmarshal(e.raw, &is) != nil {
		return subject{}
	}
	return subject{Type: is.Type, Metadata: is.Object.Metadata}
}
