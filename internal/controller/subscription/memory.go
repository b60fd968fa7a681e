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
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// memories are what this process remembers of each managed resource. A restart
// forgets them, which costs at most one request that changes nothing.
type memories struct {
	// key of the MACs by which tokens are compared. It exists in this process only,
	// so that a MAC is worth nothing to anyone else.
	key []byte

	mu sync.Mutex
	m  map[string]*memory
}

func newMemories() *memories {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // It never fails.
	return &memories{key: key, m: map[string]*memory{}}
}

// of a managed resource. It is used by one reconcile at a time.
func (m *memories) of(uid string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.m[uid]; !ok {
		m.m[uid] = &memory{}
	}
	return m.m[uid]
}

func (m *memories) forget(uid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, uid)
}

// mac of a token, to compare it with one that was applied earlier without keeping
// either.
func (m *memories) mac(token gateway.Secret) []byte {
	h := hmac.New(sha256.New, m.key)
	_, _ = h.Write([]byte(token.Reveal()))
	return h.Sum(nil)
}

// A memory is what this process remembers of one managed resource.
type memory struct {
	// token is the MAC of the token that was last applied.
	token []byte

	// stamp is the change stamp of the subscription when it was last as it should be,
	// zero since it was written.
	stamp time.Time

	// outdated is the change stamp that status told when the subscription was written:
	// should what status told then not be stored, it tells nothing any more.
	outdated time.Time

	// ignoredToken is the MAC of the token that a legacy gateway was last sent.
	ignoredToken []byte

	// planPending is since when the plan's ID has been awaited.
	planPending time.Time

	// rewritten is when a foreign write was last answered.
	rewritten time.Time

	// conflict is the state in which a create was refused since something is there
	// already: as long as nothing of it changes it is not sent again.
	conflict string

	// inTheWay is the part of it that only the gateway can tell.
	inTheWay string

	// published is the state of the connection Secret after it was last written or
	// found to be right.
	published string
}
