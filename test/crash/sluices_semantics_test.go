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
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// A broadcaster answers a watch with the events it is told, to whoever watches.
type broadcaster struct {
	*httptest.Server

	events chan string
	// accepted are the media types that were asked for.
	accepted chan string
}

func newBroadcaster(t *testing.T) *broadcaster {
	t.Helper()
	b := &broadcaster{events: make(chan string), accepted: make(chan string, 10)}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.accepted <- r.Header.Get("Accept")
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for {
			select {
			case e := <-b.events:
				fmt.Fprintln(w, e)
				_ = flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

// happen lets something happen to an object of the namespace ns.
func (b *broadcaster) happen(event apiwatch.EventType, name, version string) {
	b.events <- fmt.Sprintf(`{"type":%q,"object":{"metadata":{"namespace":"ns","name":%q,"resourceVersion":%q}}}`, event, name, version)
}

// A watcher sees what comes through a relay.
type watcher struct {
	lines chan string
}

func watchSecrets(t *testing.T, r *relay) watcher {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+"/api/v1/secrets?watch=true&resourceVersion=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata")
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rsp.Body.Close() })
	w := watcher{lines: make(chan string)}
	go func() {
		defer close(w.lines)
		if rsp.StatusCode != http.StatusOK {
			w.lines <- rsp.Status
			return
		}
		s := bufio.NewScanner(rsp.Body)
		for s.Scan() {
			w.lines <- s.Text()
		}
	}()
	return w
}

// sees which versions come next, and nothing else.
func (w watcher) sees(t *testing.T, versions ...string) {
	t.Helper()
	for _, v := range versions {
		if line, ok := <-w.lines; !ok || !strings.Contains(line, fmt.Sprintf(`"resourceVersion":%q`, v)) {
			t.Fatalf("want version %s, got %q (%t)", v, line, ok)
		}
	}
	select {
	case line := <-w.lines:
		t.Fatalf("want nothing more, got %q", line)
	default:
	}
}

func relayWithSluices(t *testing.T, b *broadcaster) *relay {
	t.Helper()
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	return newRelay(t, relay{to: "broadcaster", trap: &trap{}, target: u, transport: http.DefaultTransport, counts: changesCluster, sluices: newSluices("ns")})
}

// What is held back comes later, in order, and nothing else is held back.
func TestSluicesHoldBack(t *testing.T) {
	b := newBroadcaster(t)
	r := relayWithSluices(t, b)
	w := watchSecrets(t, r)
	if got, want := <-b.accepted, "application/json;as=PartialObjectMetadata"; got != want {
		t.Errorf("want %s asked for, got %s", want, got)
	}
	r.sluices.shutDown(subscriptionsWatch)
	b.happen(apiwatch.Added, "token", "2")
	w.sees(t, "2")
	r.sluices.shutDown(secretsWatch)
	b.happen(apiwatch.Modified, "token", "3")
	b.happen(apiwatch.Modified, "token", "4")
	for r.sluices.heldBack() == 0 {
		runtime.Gosched()
	}
	w.sees(t)
	r.sluices.open()
	w.sees(t, "3", "4")
	r.sluices.slow(time.Millisecond)
	b.happen(apiwatch.Modified, "token", "5")
	b.happen(apiwatch.Modified, "token", "6")
	w.sees(t, "5", "6")
}

// Only the one event gets lost, or all that come after it on that watch.
func TestSluicesSteal(t *testing.T) {
	for _, silence := range []bool{false, true} {
		t.Run(fmt.Sprint(silence), func(t *testing.T) {
			b := newBroadcaster(t)
			r := relayWithSluices(t, b)
			w := watchSecrets(t, r)
			lost := r.sluices.steal(theft{resource: secretsWatch, namespace: "ns", name: "token", event: apiwatch.Modified, version: "5", silence: silence})
			b.happen(apiwatch.Added, "token", "2")
			b.happen(apiwatch.Modified, "gateway", "3")
			b.happen(apiwatch.Modified, "token", "4")
			w.sees(t, "2", "3", "4")
			b.happen(apiwatch.Modified, "token", "5")
			<-lost
			b.happen(apiwatch.Modified, "token", "6")
			if !silence {
				w.sees(t, "6")
			}
			r.sluices.cut(secretsWatch, !silence)
			if line, ok := <-w.lines; ok {
				t.Errorf("want the watch cut, got %s", line)
			}
			again := watchSecrets(t, r)
			if !silence {
				if line := <-again.lines; line != "410 Gone" {
					t.Errorf("want to be told that all must be listed, got %s", line)
				}
				again = watchSecrets(t, r)
			}
			b.happen(apiwatch.Modified, "token", "7")
			again.sees(t, "7")
		})
	}
}

// A write that is answered otherwise is carried out or not, and only then is
// something done and the answer given.
func TestMisanswer(t *testing.T) {
	for m, want := range map[moment][]string{before: nil, after: {"POST /two 2"}} {
		for _, a := range answers() {
			t.Run(string(m)+"/"+a.name, func(t *testing.T) {
				b, trap := newBackend(t), &trap{}
				r := relayTo(t, b, trap)
				var when []string
				trap.armWith(func(r *relay, n int, w http.ResponseWriter, req *http.Request) {
					if n != 2 {
						relayed(r, n, w, req)
						return
					}
					r.misanswer(w, req, a, m, func() { when = b.carriedOut() })
				})
				if answer, err := send(t, "POST", r.URL+"/one", "1"); err != nil || answer != "done" {
					t.Errorf("the first write: %q, %v", answer, err)
				}
				b.carriedOut()
				answer, err := send(t, "POST", r.URL+"/two", "2")
				reason := a.reason
				if reason == metav1.StatusReasonConflict && m == after {
					reason = metav1.StatusReasonAlreadyExists
				}
				if (err != nil) != (a.code == 0) || a.code != 0 && !strings.Contains(answer, fmt.Sprintf(`"reason":%q`, reason)) {
					t.Errorf("want the answer %q, got %q, %v", reason, answer, err)
				}
				if diff := cmp.Diff(want, when); diff != "" {
					t.Errorf("carried out when it is answered: -want, +got:\n%s", diff)
				}
				if answer, err := send(t, "POST", r.URL+"/three", "3"); err != nil || answer != "done" {
					t.Errorf("the third write: %q, %v", answer, err)
				}
				if all := b.carriedOut(); !slices.Equal(all, []string{"POST /three 3"}) {
					t.Errorf("want nothing but the third write after that, got %v", all)
				}
			})
		}
	}
}

// A hitch happens once, at the first write from the n-th on that it can happen at,
// and is over after so many further ones.
func TestStumbleHappensOnce(t *testing.T) {
	b := newBackend(t)
	trap := &trap{}
	toPlane, toGateway := relayTo(t, b, trap), relayTo(t, b, trap)
	toGateway.to = gatewayName
	c := &scene{t: t, trap: trap, sluices: newSluices("ns")}
	s := &stumble{hitch: hitch{n: 2, answer: &answers()[1], moment: before, behind: secretsWatch, writes: 2}, c: c, poke: func() {}, lull: time.Hour, over: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.over) })
	trap.armWith(s.meddle)
	for i, step := range []struct {
		to      *relay
		refused bool
		over    bool
	}{
		{to: toPlane},
		{to: toGateway},
		{to: toPlane, refused: true},
		{to: toPlane},
		{to: toGateway, over: true},
	} {
		answer, err := send(t, "PUT", step.to.URL+"/x", "")
		if err != nil || (answer == "done") == step.refused {
			t.Errorf("write %d: want it refused: %t, got %q, %v", i+1, step.refused, answer, err)
		}
		if step.over {
			<-s.over
			continue
		}
		select {
		case <-s.over:
			t.Errorf("the hitch is over after write %d", i+1)
		default:
		}
	}
	if s.happened() != 3 {
		t.Errorf("want it to happen at write 3, got %d", s.happened())
	}
}
