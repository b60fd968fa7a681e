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

	"k8s.io/apimachinery/pkg/types"
)

// names remember which UID a name had last.
type names struct {
	mu sync.Mutex
	m  map[types.NamespacedName]types.UID
}

// set the UID of a name, and return the one it had before.
func (n *names) set(name types.NamespacedName, uid types.UID) types.UID {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == nil {
		n.m = map[types.NamespacedName]types.UID{}
	}
	before := n.m[name]
	n.m[name] = uid
	return before
}

// take the UID of a name away.
func (n *names) take(name types.NamespacedName) types.UID {
	n.mu.Lock()
	defer n.mu.Unlock()
	uid := n.m[name]
	delete(n.m, name)
	return uid
}
