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

package subscription

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
)

// turns let one create per API and application be under way at a time where the
// gateway may choose the ID: otherwise it could not be told whose result is whose
// if answers are lost. A turn lasts until its attempt is closed, but no longer
// than an unanswered create can still take effect.
type turns struct {
	mu sync.Mutex
	m  map[ownership.Holding]turn
}

type turn struct {
	uid   types.UID
	until time.Time
}

// take a turn until a create that is sent soon can no longer take effect, or keep
// the one that is taken.
func (t *turns) take(uid types.UID, what ownership.Holding, now, until time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if is, ok := t.m[what]; ok && now.Before(is.until) {
		return is.uid == uid
	}
	if t.m == nil {
		t.m = map[ownership.Holding]turn{}
	}
	t.m[what] = turn{uid: uid, until: until}
	return true
}

// taken tells whether somebody else has a turn.
func (t *turns) taken(uid types.UID, what ownership.Holding, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, ok := t.m[what]
	return ok && is.uid != uid && now.Before(is.until)
}

// has tells whether a managed resource has a turn.
func (t *turns) has(uid types.UID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, is := range t.m {
		if is.uid == uid && now.Before(is.until) {
			return true
		}
	}
	return false
}

// extend the turn of a managed resource whose create is sent.
func (t *turns) extend(uid types.UID, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for what, is := range t.m {
		if is.uid == uid {
			t.m[what] = turn{uid: uid, until: until}
		}
	}
}

// end all turns of a managed resource.
func (t *turns) end(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for what, is := range t.m {
		if is.uid == uid {
			delete(t.m, what)
		}
	}
}
