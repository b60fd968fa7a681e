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

package ownership

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Incumbents are the managed resources that this process saw hold an object. Records
// and status can be written by others, for another object as well and with any
// content; what was seen at work cannot. A restart forgets it, and one gateway behind
// two endpoints counts as two.
type Incumbents struct {
	mu sync.Mutex
	// of an object, and by managed resource.
	of map[place]types.UID
	by map[types.UID]place
}

// A place is where an object is, as far as two records of it cannot differ.
type place struct{ id, endpoint string }

// Saw a managed resource hold an object. Whoever held it before does no longer.
func (i *Incumbents) Saw(uid types.UID, h Holding) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of, i.by = map[place]types.UID{}, map[types.UID]place{}
	}
	p := place{id: h.ID, endpoint: h.Endpoint}
	if was, ok := i.of[p]; ok {
		delete(i.by, was)
	}
	if was, ok := i.by[uid]; ok {
		delete(i.of, was)
	}
	i.of[p], i.by[uid] = uid, p
}

// Of returns the managed resource that was last seen to hold an object, or nothing.
func (i *Incumbents) Of(h Holding) types.UID {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.of[place{id: h.ID, endpoint: h.Endpoint}]
}

// Forget a managed resource that is gone.
func (i *Incumbents) Forget(uid types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if p, ok := i.by[uid]; ok {
		delete(i.of, p)
		delete(i.by, uid)
	}
}
