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

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Absent are the kinds that others refer to and that are not activated: none of their
// objects exists. Once one's CRD is there, it is indexed and watched as if it had
// always been.
type Absent struct {
	mu sync.RWMutex
	of map[schema.GroupVersionKind]*arrival
}

// An arrival is what is done once the CRD of a kind is there: index it, and only then
// read and watch it.
type arrival struct {
	indexes []func() error
	watches []func() error
}

// await the CRDs of those kinds that are not served, and return the others.
func (a *Absent) await(o Options, kinds ...schema.GroupVersionKind) (served []schema.GroupVersionKind, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, gvk := range kinds {
		if a.of[gvk] != nil {
			continue
		}
		// A provider that may not see which CRDs are there is told nothing of any.
		if o.Gate == nil {
			served = append(served, gvk)
			continue
		}
		_, err := o.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err == nil {
			served = append(served, gvk)
			continue
		}
		if !apimeta.IsNoMatchError(err) {
			return nil, err
		}
		if a.of == nil {
			a.of = map[schema.GroupVersionKind]*arrival{}
		}
		a.of[gvk] = &arrival{}
		if err := o.Once(func() error { return a.arrive(gvk) }, gvk); err != nil {
			return nil, err
		}
	}
	return served, nil
}

func (a *Absent) arrive(gvk schema.GroupVersionKind) error {
	a.mu.Lock()
	arrived := a.of[gvk]
	for _, index := range arrived.indexes {
		if err := index(); err != nil {
			a.mu.Unlock()
			return err
		}
	}
	delete(a.of, gvk)
	a.mu.Unlock()
	for _, watch := range arrived.watches {
		if err := watch(); err != nil {
			return err
		}
	}
	return nil
}

// is tells whether an object, or a list, is of an absent kind.
func (a *Absent) is(scheme *runtime.Scheme, o runtime.Object) (schema.GroupVersionKind, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if len(a.of) == 0 {
		return schema.GroupVersionKind{}, false
	}
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		return schema.GroupVersionKind{}, false
	}
	for absent := range a.of {
		if gvk == absent || gvk == absent.GroupVersion().WithKind(absent.Kind+"List") {
			return absent, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// later does something once the kind of an object is there: now if it is.
func (a *Absent) later(scheme *runtime.Scheme, o client.Object, list func(*arrival) *[]func() error, do func() error) error {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		return err
	}
	a.mu.Lock()
	if to := a.of[gvk]; to != nil {
		defer a.mu.Unlock()
		*list(to) = append(*list(to), do)
		return nil
	}
	a.mu.Unlock()
	return do()
}

// An absentIndexer indexes absent kinds once they are there.
type absentIndexer struct {
	client.FieldIndexer

	absent *Absent
	scheme *runtime.Scheme
}

// IndexField of a kind.
func (i absentIndexer) IndexField(ctx context.Context, o client.Object, field string, keys client.IndexerFunc) error {
	return i.absent.later(i.scheme, o, func(a *arrival) *[]func() error { return &a.indexes }, func() error {
		return i.FieldIndexer.IndexField(ctx, o, field, keys)
	})
}

// Watches are added to those every kind has.
type Watches struct {
	builder *builder.Builder
	absent  *Absent
	scheme  *runtime.Scheme
	cache   cache.Cache
}

// Add a watch of a kind, from when that is there.
func (w Watches) Add(o client.Object, h handler.EventHandler, p ...predicate.Predicate) {
	if _, absent := w.absent.is(w.scheme, o); !absent {
		w.builder.Watches(o, h, builder.WithPredicates(p...))
		return
	}
	of := source.Kind(w.cache, o, h, p...)
	w.builder.WatchesRawSource(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		return w.absent.later(w.scheme, o, func(a *arrival) *[]func() error { return &a.watches }, func() error {
			return of.Start(ctx, queue)
		})
	}))
}

// Get an object. There is none of a kind that is absent.
func (c *thriftyClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if gvk, absent := c.absent.is(c.Scheme(), o); absent {
		return kerrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	return c.Client.Get(ctx, key, o, opts...)
}

// List objects. There are none of a kind that is absent.
func (c *thriftyClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if _, absent := c.absent.is(c.Scheme(), l); absent {
		return nil
	}
	return c.Client.List(ctx, l, opts...)
}
