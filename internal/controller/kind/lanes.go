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

package kind

import (
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// slowAfter is how long a pass may wait for its gateway before it counts as a slow one.
	slowAfter = time.Second
	// placeKept is how long a place is kept for who was let in, and may have something to
	// wait for before it takes it.
	placeKept = 2 * time.Second
	// lanePause is the longest that somebody waits whose lane is full.
	lanePause = 30 * time.Second
)

// lanes keep whoever has a slow gateway from taking all the workers of a kind: what
// leads to it waits, so that there are always some for what leads elsewhere. A slow API
// server is everybody's, and no reason to wait.
type lanes struct {
	// width is how many managed resources of one lane are reconciled at a time, be they
	// ever so many, and slow how many slow passes there are in a lane before others
	// have to wait.
	width, slow int

	mu sync.Mutex
	m  map[string]*lane
}

// A lane has somebody in it, or somebody who waits. Otherwise it is not remembered.
type lane struct {
	// under are the passes that are under way, and admitted is when those were let in that
	// have not begun yet. A place is kept for these.
	under    sets.Set[*pass]
	admitted map[reconcile.Request]time.Time
	// waits are those that found it full. They are in one of the queues, in the order in
	// which they came, where some are longer than they wait.
	waits           sets.Set[reconcile.Request]
	urgent, patient []reconcile.Request
}

// newLanes leave half the workers to others, and more where a gateway is slow.
func newLanes(workers int) *lanes {
	return &lanes{width: max(1, workers/2), slow: max(1, workers/6)}
}

// laneOf a managed resource: that of its configuration, or for configurations that
// tenants can make any number of, that of their namespace.
func laneOf(mg resource.ModernManaged) string {
	ref := ConfigOf(mg)
	if ref.Namespace != "" {
		return "namespace/" + ref.Namespace
	}
	return "cluster/" + ref.Name
}

// enter a lane for a pass. If that is full, the request waits until somebody leaves.
func (l *lanes) enter(name string, p *pass, req reconcile.Request, urgent bool, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.m[name]
	if !ok {
		in = &lane{under: sets.New[*pass](), admitted: map[reconcile.Request]time.Time{}, waits: sets.New[reconcile.Request]()}
		if l.m == nil {
			l.m = map[string]*lane{}
		}
		l.m[name] = in
	}
	delete(in.admitted, req)
	if l.room(in, now) > 0 {
		in.under.Insert(p)
		in.waits.Delete(req)
		return true
	}
	switch {
	case urgent:
		in.urgent = append(in.urgent, req)
	case !in.waits.Has(req):
		in.patient = append(in.patient, req)
	}
	in.waits.Insert(req)
	return false
}

// room is for how many there is in a lane.
func (l *lanes) room(in *lane, now time.Time) int {
	slow := 0
	for p := range in.under {
		if p.waits.longerThan(slowAfter, now) {
			slow++
		}
	}
	if slow >= l.slow {
		return 0
	}
	for req, at := range in.admitted {
		if now.Sub(at) > placeKept {
			delete(in.admitted, req)
		}
	}
	return l.width - len(in.under) - len(in.admitted)
}

// leave a lane, and return those for whom there is room now.
func (l *lanes) leave(name string, p *pass, now time.Time) []reconcile.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.m[name]
	if !ok {
		return nil
	}
	in.under.Delete(p)
	return l.admit(name, in, now)
}

// forget a request that does not come any more, and return those for whom there is room
// now.
func (l *lanes) forget(req reconcile.Request, now time.Time) (next []reconcile.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, in := range l.m {
		_, admitted := in.admitted[req]
		if !admitted && !in.waits.Has(req) {
			continue
		}
		delete(in.admitted, req)
		in.waits.Delete(req)
		next = append(next, l.admit(name, in, now)...)
	}
	return next
}

// admit to a lane as many of those who wait as there is room for.
func (l *lanes) admit(name string, in *lane, now time.Time) (next []reconcile.Request) {
	for room := l.room(in, now); len(next) < room; {
		req, ok := in.next()
		if !ok {
			break
		}
		next = append(next, req)
	}
	for _, req := range next {
		in.admitted[req] = now
	}
	if len(in.under)+len(in.admitted)+len(in.waits) == 0 {
		delete(l.m, name)
	}
	return next
}

// next of those who wait.
func (in *lane) next() (reconcile.Request, bool) {
	for _, queue := range []*[]reconcile.Request{&in.urgent, &in.patient} {
		for len(*queue) > 0 {
			req := (*queue)[0]
			if *queue = (*queue)[1:]; in.waits.Has(req) {
				in.waits.Delete(req)
				return req, true
			}
		}
	}
	return reconcile.Request{}, false
}

// waits for a gateway, that may overlap.
type waits struct {
	mu    sync.Mutex
	under int
	began time.Time
}

// begin to wait, until the function is called.
func (w *waits) begin(now func() time.Time) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under == 0 {
		w.began = now()
	}
	w.under++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.under--
	}
}

func (w *waits) longerThan(d time.Duration, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.under > 0 && now.Sub(w.began) > d
}
