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
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writes remember the resource version of the last write to each object, so that
// a reconcile can tell whether the cache shows that write yet.
type Writes struct {
	mu sync.Mutex
	m  map[types.UID]written
}

type written struct {
	// version is none if the write was the end of the object: whatever the cache shows of
	// it is older.
	version string
	// lag is how soon to look again for it.
	lag time.Duration
}

// How soon an object is looked at again that the cache shows older than our last write to
// it, doubled each time: a busy cache has better to do than to be asked.
const (
	minLag = 20 * time.Millisecond
	maxLag = 640 * time.Millisecond
)

func (w *Writes) record(o client.Object) {
	if o.GetUID() == "" || o.GetResourceVersion() == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.m == nil {
		w.m = map[types.UID]written{}
	}
	is := written{version: o.GetResourceVersion(), lag: minLag}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		is.version = ""
	}
	w.m[o.GetUID()] = is
}

// Lag is how soon to look again at an object that was read if it is older than our last
// write to it, and nothing if it is not. It forgets the write once it was shown; one that
// ended the object is remembered until the object is forgotten.
func (w *Writes) Lag(o client.Object) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	is, ok := w.m[o.GetUID()]
	if !ok {
		return 0
	}
	if is.newer(o) {
		w.m[o.GetUID()] = written{version: is.version, lag: min(2*is.lag, maxLag)}
		return is.lag
	}
	delete(w.m, o.GetUID())
	return 0
}

// newer tells whether an object that was read is older than the write.
func (is written) newer(o client.Object) bool {
	if is.version == "" {
		return true
	}
	c, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), is.version)
	return err == nil && c < 0
}

// Forget an object that is gone.
func (w *Writes) Forget(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.m, uid)
}

// NewClient returns a constructor for the manager's client. The client drops a
// status write that would change nothing, since the runtime writes status on
// every pass, and records in w what it did write to the objects of the kinds
// that remembers selects. It finds nothing of kinds that are absent.
func NewClient(w *Writes, absent *Absent, remembers func(client.Object) bool) client.NewClientFunc {
	return func(cfg *rest.Config, o client.Options) (client.Client, error) {
		c, err := client.New(cfg, o)
		if err != nil {
			return nil, err
		}
		return &thriftyClient{Client: c, writes: w, absent: absent, remembers: remembers}, nil
	}
}

// A thriftyClient writes no status that is there already, and records writes.
type thriftyClient struct {
	client.Client

	writes    *Writes
	absent    *Absent
	remembers func(client.Object) bool
}

func (c *thriftyClient) wrote(o client.Object, err error) error {
	if err == nil && c.remembers(o) {
		c.writes.record(o)
	}
	return err
}

// Update an object. Its status, which an update does not write, stays as it is in
// memory until it is written itself: the runtime updates a managed resource
// between the moment Observe sets its status and the moment that is written.
func (c *thriftyClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if !c.remembers(o) {
		return c.Client.Update(ctx, o, opts...)
	}
	before := o.DeepCopyObject()
	err := c.wrote(o, c.Client.Update(ctx, o, opts...))
	if is, was := statusOf(o), statusOf(before); err == nil && is.IsValid() && was.IsValid() {
		is.Set(was)
	}
	return err
}

// Patch an object.
func (c *thriftyClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.wrote(o, c.Client.Patch(ctx, o, p, opts...))
}

// Status returns a writer of status that drops what would change nothing.
func (c *thriftyClient) Status() client.SubResourceWriter {
	return &thriftyStatusWriter{SubResourceWriter: c.Client.Status(), client: c}
}

type thriftyStatusWriter struct {
	client.SubResourceWriter

	client *thriftyClient
}

// Update the status of an object, unless the cache holds the same version of it
// with the same status.
func (w *thriftyStatusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if same, err := w.unchanged(ctx, o); err == nil && same {
		return nil
	}
	return w.client.wrote(o, w.SubResourceWriter.Update(ctx, o, opts...))
}

// Patch the status of an object.
func (w *thriftyStatusWriter) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return w.client.wrote(o, w.SubResourceWriter.Patch(ctx, o, p, opts...))
}

func (w *thriftyStatusWriter) unchanged(ctx context.Context, o client.Object) (bool, error) {
	if !w.client.remembers(o) {
		return false, nil
	}
	cached, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return false, nil
	}
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(o), cached); err != nil {
		return false, err
	}
	if cached.GetUID() != o.GetUID() || cached.GetResourceVersion() != o.GetResourceVersion() {
		return false, nil
	}
	// The version is the same, so spec and metadata at the API server are too:
	// only status can differ, whatever the rest of o was changed to in memory.
	was, is := statusOf(cached), statusOf(o)
	return was.IsValid() && is.IsValid() && equality.Semantic.DeepEqual(was.Interface(), is.Interface()), nil
}

// statusOf is the status of an object, as every kind of the provider has it.
func statusOf(o runtime.Object) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(o)).FieldByName("Status")
}
