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
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/observation"
)

// Wakes bring what was seen at gateways to the queues of the kinds.
type Wakes struct {
	// Metrics count who is woken.
	Metrics *metrics.Metrics

	mu     sync.Mutex
	queues map[gateway.Kind]workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Wake managed resources of a kind, after whatever users wait for. It is a
// connection.Woken.
func (w *Wakes) Wake(of gateway.Kind, cause observation.Cause, who []types.NamespacedName) {
	requests := make([]reconcile.Request, 0, len(who))
	for _, name := range who {
		requests = append(requests, reconcile.Request{NamespacedName: name})
	}
	if w.add(of, handler.LowPriority, requests) {
		w.Metrics.Woke(of, cause, len(who))
	}
}

// admit managed resources of a kind whose lane was full. They come before all else, as
// nobody can take their place meanwhile, and no more are admitted than have one.
func (w *Wakes) admit(of gateway.Kind, requests []reconcile.Request) { _ = w.add(of, 1, requests) }

// add requests to the queue of a kind, unless that is not there.
func (w *Wakes) add(of gateway.Kind, priority int, requests []reconcile.Request) bool {
	w.mu.Lock()
	q, ok := w.queues[of]
	w.mu.Unlock()
	if !ok || len(requests) == 0 {
		return false
	}
	if pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		pq.AddWithOpts(priorityqueue.AddOpts{Priority: new(priority)}, requests...)
		return true
	}
	for _, r := range requests {
		q.Add(r)
	}
	return true
}

// source of the wake-ups of a kind.
func (w *Wakes) source(of gateway.Kind) source.Source {
	return source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.queues == nil {
			w.queues = map[gateway.Kind]workqueue.TypedRateLimitingInterface[reconcile.Request]{}
		}
		w.queues[of] = q
		return nil
	})
}
