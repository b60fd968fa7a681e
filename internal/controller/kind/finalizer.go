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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A finalizer adds and removes the runtime's finalizer by a patch of metadata, so
// that what Observe put into status is still there when status is written. The
// runtime's own updates the whole object and takes over the answer.
type finalizer struct {
	client client.Client
}

// AddFinalizer to an object that lacks it. If a create is about to be stored as pending,
// that write stores the finalizer too, before anything is asked of a gateway.
func (f *finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	if meta.FinalizerExists(o, managed.FinalizerName) {
		return nil
	}
	meta.AddFinalizer(o, managed.FinalizerName)
	if passOf(ctx).creating {
		return nil
	}
	return errors.Wrap(f.patch(ctx, o), "cannot add finalizer")
}

// RemoveFinalizer from an object that has it.
func (f *finalizer) RemoveFinalizer(ctx context.Context, o resource.Object) error {
	if !meta.FinalizerExists(o, managed.FinalizerName) {
		return nil
	}
	meta.RemoveFinalizer(o, managed.FinalizerName)
	return errors.Wrap(resource.IgnoreNotFound(f.patch(ctx, o)), "cannot remove finalizer")
}

// patch the list of finalizers. The resource version guards against dropping one
// that somebody else added meanwhile.
func (f *finalizer) patch(ctx context.Context, o resource.Object) error {
	return PatchMetadata(ctx, f.client, o, map[string]any{
		"finalizers":      o.GetFinalizers(),
		"resourceVersion": o.GetResourceVersion(),
	})
}
