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
	"fmt"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// A tracker watches when Subscriptions become Ready, as a user would see it.
type tracker struct {
	mu sync.Mutex
	// ready is when each became Ready first.
	ready map[string]time.Time
	// said is what those say of themselves that are not Ready.
	said map[string]string
}

// newTracker watches all Subscriptions until the context ends.
func newTracker(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme) (*tracker, error) {
	c, err := cache.New(cfg, cache.Options{Scheme: scheme, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch Subscriptions")
	}
	t := &tracker{ready: map[string]time.Time{}, said: map[string]string{}}
	go func() {
		// It ends with the context; then there is nothing to say.
		_ = c.Start(ctx)
	}()
	i, err := c.GetInformer(ctx, &v1alpha1.Subscription{})
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch Subscriptions")
	}
	_, err = i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    t.saw,
		UpdateFunc: func(_, o any) { t.saw(o) },
	})
	return t, errors.Wrap(err, "cannot watch Subscriptions")
}

func (t *tracker) saw(o any) {
	cr, ok := o.(*v1alpha1.Subscription)
	if !ok {
		return
	}
	now, key := time.Now(), cr.GetNamespace()+"/"+cr.GetName()
	t.mu.Lock()
	defer t.mu.Unlock()
	if cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
		if t.ready[key].IsZero() {
			t.ready[key] = now
		}
		delete(t.said, key)
		return
	}
	t.said[key] = ""
	for _, c := range cr.Status.Conditions {
		t.said[key] += fmt.Sprintf("%s=%s %s %s; ", c.Type, c.Status, c.Reason, c.Message)
	}
}

// readyAt is when an object became Ready; zero if it did not.
func (t *tracker) readyAt(o *object) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ready[o.key()]
}

// stuck are how many are not Ready yet, and what one of them says.
func (t *tracker) stuck(all []*object) (n int, example string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range all {
		if t.ready[o.key()].IsZero() {
			n++
			example = o.key() + ": " + t.said[o.key()]
		}
	}
	return n, example
}
