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
)

const (
	// slowAfter is how long a pass may take before it counts as a slow one.
	slowAfter = time.Second
	// lanePause is about how long a managed resource waits whose lane is full.
	lanePause = 2 * time.Second
)

// lanes keep whoever has a slow gateway from taking all the workers of a kind: what
// leads to it waits, so that there are always some for what leads elsewhere.
type lanes struct {
	// width is how many managed resources of one lane are reconciled at a time, be they
	// ever so many, and slow how many slow passes there are in a lane before others
	// have to wait.
	width, slow int

	mu sync.Mutex
	// began is when the passes began that are under way, by lane.
	began map[string]map[*pass]time.Time
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

// enter a lane for a pass, unless it is full.
func (l *lanes) enter(lane string, p *pass, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := 0
	for _, began := range l.began[lane] {
		if now.Sub(began) > slowAfter {
			slow++
		}
	}
	if len(l.began[lane]) >= l.width || slow >= l.slow {
		return false
	}
	if l.began == nil {
		l.began = map[string]map[*pass]time.Time{}
	}
	if l.began[lane] == nil {
		l.began[lane] = map[*pass]time.Time{}
	}
	l.began[lane][p] = now
	return true
}

// leave a lane.
func (l *lanes) leave(lane string, p *pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.began[lane], p)
	if len(l.began[lane]) == 0 {
		delete(l.began, lane)
	}
}
