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
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A backend remembers the writes that it carried out.
type backend struct {
	*httptest.Server

	done chan string
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{done: make(chan string, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.done <- r.Method + " " + r.URL.RequestURI() + " " + string(body)
		fmt.Fprint(w, "done")
	})
	b.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

// carriedOut are the requests that were carried out so far.
func (b *backend) carriedOut() []string {
	var all []string
	for {
		select {
		case r := <-b.done:
			all = append(all, r)
		default:
			return all
		}
	}
}

func relayTo(t *testing.T, b *backend, trap *trap) *relay {
	t.Helper()
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	return newRelay(t, relay{to: "backend", trap: trap, target: u, transport: http.DefaultTransport, counts: changesCluster, looks: looksFor})
}

func send(t *testing.T, method, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close()
	answer, err := io.ReadAll(rsp.Body)
	return string(answer), err
}

// The write at which the process dies is not answered, and whether it was carried
// out is up to the moment; nothing that comes later is.
func TestTrap(t *testing.T) {
	for m, want := range map[moment][]string{
		before: {"POST /one 1", "GET /two "},
		after:  {"POST /one 1", "GET /two ", "PUT /three?a=b 3"},
		late:   {"POST /one 1", "GET /two "},
	} {
		t.Run(string(m), func(t *testing.T) {
			b, trap := newBackend(t), &trap{}
			r := relayTo(t, b, trap)
			kills := 0
			var atDeath []string
			trap.arm(2, m, func() {
				kills++
				atDeath = b.carriedOut()
			})
			for _, event := range []string{"/api/v1/namespaces/x/events", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/coordination.k8s.io/v1/leases"} {
				if _, err := send(t, "POST", r.URL+event, ""); err != nil {
					t.Errorf("%s: %v", event, err)
				}
				<-b.done
			}
			if answer, err := send(t, "POST", r.URL+"/one", "1"); err != nil || answer != "done" {
				t.Errorf("before the kill: %q, %v", answer, err)
			}
			if answer, err := send(t, "GET", r.URL+"/two", ""); err != nil || answer != "done" {
				t.Errorf("a read: %q, %v", answer, err)
			}
			if answer, err := send(t, "PUT", r.URL+"/three?a=b", "3"); err == nil {
				t.Errorf("the write at which the process dies was answered: %q", answer)
			}
			if answer, err := send(t, "DELETE", r.URL+"/four", ""); err == nil {
				t.Errorf("a write of a dead process was answered: %q", answer)
			}
			if kills != 1 {
				t.Errorf("want one kill, got %d", kills)
			}
			if diff := cmp.Diff(want, atDeath); diff != "" {
				t.Errorf("carried out when the process was gone: -want, +got:\n%s", diff)
			}
			if more := b.carriedOut(); len(more) > 0 {
				t.Errorf("carried out for a dead process: %v", more)
			}
			if v := trap.victim(); v == nil || v.Line != "PUT /three?a=b" {
				t.Errorf("want to be told what it died of, got %v", v)
			}

			trap.disarm()
			if _, err := send(t, "GET", r.URL+"/subscriptions?apiId=api", ""); err != nil {
				t.Error(err)
			}
			then := []string{"GET /subscriptions?apiId=api "}
			if m == late {
				then = append(then, "PUT /three?a=b 3")
			}
			if diff := cmp.Diff(then, b.carriedOut()); diff != "" {
				t.Errorf("when the next process has looked: -want, +got:\n%s", diff)
			}
			if answer, err := send(t, "POST", r.URL+"/five", "5"); err != nil || answer != "done" {
				t.Errorf("after the trap was disarmed: %q, %v", answer, err)
			}
		})
	}
}

// Without a kill, the trap only counts.
func TestTrapCounts(t *testing.T) {
	b, trap := newBackend(t), &trap{}
	one, two := relayTo(t, b, trap), relayTo(t, b, trap)
	trap.arm(0, before, func() { t.Error("killed") })
	for _, url := range []string{one.URL + "/a", two.URL + "/b", one.URL + "/c"} {
		if _, err := send(t, "POST", url, ""); err != nil {
			t.Error(err)
		}
	}
	lines := []string{}
	for _, w := range trap.seen() {
		lines = append(lines, w.Line)
	}
	if want := []string{"POST /a", "POST /b", "POST /c"}; !slices.Equal(lines, want) {
		t.Errorf("want %v, got %v", want, lines)
	}
}

// What a server sends bit by bit arrives bit by bit, and an end on this side is
// an end on the other.
func TestRelayStreams(t *testing.T) {
	b := newBackend(t)
	r := relayTo(t, b, &trap{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+"/watch", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close()
	if line, err := bufio.NewReader(rsp.Body).ReadString('\n'); err != nil || line != "first\n" {
		t.Errorf("want the first line while the answer goes on, got %q, %v", line, err)
	}
	cancel()
	if _, err := io.ReadAll(rsp.Body); err == nil {
		t.Error("want the end of the answer")
	}
}

// A write that is on its way when the process dies at another one is carried out,
// and waited for.
func TestTrapWaitsForOthers(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{})
	var carriedOut atomic.Bool
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-release
		carriedOut.Store(true)
	}))
	t.Cleanup(slow.Close)
	u, err := url.Parse(slow.URL)
	if err != nil {
		t.Fatal(err)
	}
	trap := &trap{}
	r := newRelay(t, relay{to: "backend", trap: trap, target: u, transport: http.DefaultTransport, counts: isWrite})
	ctx, die := context.WithCancel(t.Context())
	trap.arm(2, before, die)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, strings.NewReader("slow"))
		if err != nil {
			t.Error(err)
			return
		}
		if rsp, err := http.DefaultClient.Do(req); err == nil {
			_ = rsp.Body.Close()
			t.Error("the process got an answer although it is dead")
		}
	}()
	<-arrived
	if _, err := send(t, "POST", r.URL, "deadly"); err == nil {
		t.Error("the write at which the process dies was answered")
	}
	<-gone
	close(release)
	trap.disarm()
	if !carriedOut.Load() {
		t.Error("a write that was on its way was not waited for")
	}
}
