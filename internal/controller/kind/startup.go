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

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discoveryInterval is how often the API server is asked whether it tells of a kind yet.
const discoveryInterval = 100 * time.Millisecond

// A Startup keeps controllers from being added while the manager ends: in
// controller-runtime the two can block each other until the time to end has run
// out.
type Startup struct {
	mu    sync.Mutex
	ended bool
}

// Do what adds a controller, unless the manager ends.
func (s *Startup) Do(add func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	return add()
}

// awaitDiscovery waits until the API server tells of kinds, whose CRDs it says are
// established a moment before. It gives up when the manager ends.
func (s *Startup) awaitDiscovery(mapper apimeta.RESTMapper, kinds []schema.GroupVersionKind) {
	ticker := time.NewTicker(discoveryInterval)
	defer ticker.Stop()
	for _, gvk := range kinds {
		for !s.over() {
			if _, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version); !apimeta.IsNoMatchError(err) {
				break // Trouble of another kind is for who needs the mapping to tell of.
			}
			<-ticker.C
		}
	}
}

func (s *Startup) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// End the startup: no controller is added any more, and none is being added.
func (s *Startup) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}
