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

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

const (
	user, password = "admin", "correct horse battery staple"

	// apis are how many APIs each gateway has.
	apis = 10
)

// A site is an emulated in-place gateway, which keeps a log of its visits, and the
// namespace whose ProviderConfig leads there.
type site struct {
	namespace string
	gateway   *emulator.Gateway
	visits    log[visit]
	url       string

	// plans are the IDs of two, between which subscriptions are moved.
	plans [2]string

	http *http.Server

	mu     sync.Mutex
	awaits map[string]chan time.Time
	// hung is closed once the gateway answers again. It is nil while it does.
	hung chan struct{}
}

// newSite starts a gateway with what subscriptions need.
func newSite(ctx context.Context, namespace string) (*site, error) {
	s := &site{namespace: namespace, awaits: map[string]chan time.Time{}, gateway: emulator.New(emulator.Options{
		Generation: emulator.InPlace,
		GatewayID:  "gateway-of-" + namespace,
		Users:      []emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}},
		// What is asked of it is in the site's own log.
		JournalLimit: 100,
	})}
	for i := range apis {
		if _, ok := s.gateway.AddAPI(apiHandle(i)); !ok { //nolint:contextcheck // It is done at once, in memory.
			return nil, errors.New("cannot add an API")
		}
	}
	for i, name := range []string{"Gold", "Silver"} {
		p, ok := s.gateway.AddPlan(name) //nolint:contextcheck // It is done at once, in memory.
		if !ok {
			return nil, errors.New("cannot add a plan")
		}
		s.plans[i] = p.ID
	}
	var err error
	s.http, s.url, err = serve(ctx, s)
	return s, err
}

func apiHandle(i int) string { return fmt.Sprintf("api-%d", i%apis) }

func (s *site) stop() {
	_ = s.http.Close()
	s.gateway.Close()
}

// ServeHTTP lets the gateway answer, and takes a note.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r.Method, r.URL.Path, time.Now())
	// Only once all was read does the server notice that a client has gone.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if until := s.hanging(); until != nil {
		s.visits.add(v)
		select {
		case <-until:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	s.gateway.ServeHTTP(sw, r)
	v.Status = sw.status
	s.visits.add(v)
	if v.Method == http.MethodPut && v.Status == http.StatusOK {
		s.arrived(v)
	}
}

// await returns where it is told when the next change of a subscription arrived that
// the gateway accepted.
func (s *site) await(id string) <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan time.Time, 1)
	s.awaits[id] = c
	return c
}

func (s *site) arrived(v visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.awaits[v.ID]; ok {
		c <- v.At
		delete(s.awaits, v.ID)
	}
}

// hang lets the gateway take all requests and answer none, until the returned function
// is called. What it took by then is never answered, nor carried out.
func (s *site) hang() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := make(chan struct{})
	s.hung = until
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hung = nil
		close(until)
	}
}

func (s *site) hanging() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hung
}
