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

	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pace limits how many reconciles a second there are of what nobody waits for. What
// somebody waits for is not limited: it would have to queue behind all else.
type pace struct {
	limit ratelimiter.RateLimiter

	mu sync.Mutex
	// awaited are those that somebody waits for, and granted those that had to wait, be it
	// for their time or for something else since, and need not again.
	awaited, granted sets.Set[reconcile.Request]
}

func newPace(limit ratelimiter.RateLimiter) *pace {
	return &pace{limit: limit, awaited: sets.New[reconcile.Request](), granted: sets.New[reconcile.Request]()}
}

// await tells that somebody waits for a reconcile that is about to be asked for.
func (p *pace) await(req reconcile.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited.Insert(req)
}

// begin a reconcile. It returns whether somebody waits for it, and if nobody does, how
// long it has to.
func (p *pace) begin(req reconcile.Request, urgent bool) (awaited bool, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	urgent = urgent || p.awaited.Has(req)
	p.awaited.Delete(req)
	if urgent || p.granted.Has(req) {
		p.granted.Delete(req)
		return urgent, 0
	}
	if d = p.limit.When(req.String()); d > 0 {
		p.granted.Insert(req)
	}
	return false, d
}

// postpone a reconcile that has begun and did nothing yet.
func (p *pace) postpone(req reconcile.Request, awaited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if awaited {
		p.awaited.Insert(req)
	} else {
		// The limit is on what is done.
		p.granted.Insert(req)
	}
}

// forget what is gone.
func (p *pace) forget(req reconcile.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited.Delete(req)
	p.granted.Delete(req)
}
