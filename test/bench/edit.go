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
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// A change is what a user changes.
type change int

const (
	changeStatus change = iota
	changePlan
	changeToken
	changes
)

// edit an object. It returns when the API server had answered.
func (w *world) edit(ctx context.Context, o *object, c change) (time.Time, error) {
	var at client.Object = &gatewayv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: o.site.namespace, Name: o.name}}
	var field map[string]any
	switch c {
	case changePlan:
		o.plan = 1 - o.plan
		field = map[string]any{"subscriptionPlanId": o.site.plans[o.plan]}
	case changeToken:
		o.token += "+"
		at = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.site.namespace, Name: o.name}}
	default:
		o.status = map[string]string{"ACTIVE": "INACTIVE", "INACTIVE": "ACTIVE"}[o.status]
		field = map[string]any{"status": o.status}
	}
	patch := map[string]any{"spec": map[string]any{"forProvider": field}}
	if c == changeToken {
		patch = map[string]any{"data": map[string][]byte{gatewayv1alpha1.DefaultTokenKey: []byte(o.token)}}
	}
	err := w.kube.Patch(ctx, at, client.RawPatch(types.MergePatchType, mustJSON(patch)))
	return time.Now(), errors.Wrap(err, "cannot edit")
}

// mustJSON of what was made here and can be marshalled.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cannot marshal what was made here: %v", err))
	}
	return b
}

// latencies are the times from the moment the API server answered an edit to the moment
// the gateway received it, of so many edits made one after the other. One that has not
// arrived in time counts as one that took that long, and as missing.
func (w *world) latencies(ctx context.Context, all []*object, n int, kinds []change, patience time.Duration) (took []time.Duration, missing int, err error) {
	for i := range n {
		o := all[i%len(all)]
		arrived := o.site.await(o.id)
		answered, err := w.edit(ctx, o, kinds[i%len(kinds)])
		if err != nil {
			return nil, 0, err
		}
		timer := time.NewTimer(patience)
		select {
		case at := <-arrived:
			// It may have been there before the answer to whoever edited was read.
			took = append(took, max(at.Sub(answered), 0))
		case <-timer.C:
			took, missing = append(took, patience), missing+1
		case <-ctx.Done():
			err = ctx.Err()
		}
		timer.Stop()
		if err == nil {
			err = w.failed()
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return took, missing, nil
}

// sample of n objects, in random order.
func sample(r *rand.Rand, all []*object, n int) []*object {
	chosen := make([]*object, 0, n)
	for _, i := range r.Perm(len(all))[:min(n, len(all))] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// A hurry edits some objects while all of them are being created: each a random while
// after it was applied, so that some are edited before they are created, some after,
// and some in between.
type hurry struct {
	w   *world
	due map[*object]haste

	wg  sync.WaitGroup
	mu  sync.Mutex
	err error
}

// A haste is how soon an object is edited, and what is changed.
type haste struct {
	after  time.Duration
	change change
}

// newHurry edits this share of the objects, or one at least.
func newHurry(w *world, r *rand.Rand, all []*object, share float64, within time.Duration) *hurry {
	h := &hurry{w: w, due: map[*object]haste{}}
	for i, o := range sample(r, all, max(1, int(share*float64(len(all))))) {
		h.due[o] = haste{after: time.Duration(r.Int64N(int64(within))), change: change(i) % changes}
	}
	return h
}

// applied starts the clock of an object.
func (h *hurry) applied(ctx context.Context, o *object) {
	d, ok := h.due[o]
	if !ok {
		return
	}
	h.wg.Go(func() {
		var err error
		timer := time.NewTimer(d.after)
		defer timer.Stop()
		select {
		case <-timer.C:
			_, err = h.w.edit(ctx, o, d.change)
		case <-ctx.Done():
			err = ctx.Err()
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.err = errors.Join(h.err, err)
	})
}

// wait until all were edited.
func (h *hurry) wait() error {
	h.wg.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}
