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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// confirmTimeout is how long what was created is looked for before its status is
// written without.
const confirmTimeout = 5 * time.Second

// A confirming client looks at what a pass created before it writes the status. The
// runtime would write that it is being created, and look only in the next pass, which
// would write again; but a gateway has created what it says it has.
type confirming[T resource.ModernManaged] struct {
	client.Client

	confirm func(ctx context.Context, mg T)
}

// Status returns the writer of status.
func (c confirming[T]) Status() client.SubResourceWriter {
	return confirmingWriter[T]{SubResourceWriter: c.Client.Status(), confirm: c.confirm}
}

type confirmingWriter[T resource.ModernManaged] struct {
	client.SubResourceWriter

	confirm func(ctx context.Context, mg T)
}

// Update the status of an object. What is not stored of a create is not confirmed.
func (w confirmingWriter[T]) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if mg, ok := o.(T); ok && passOf(ctx).created && mg.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue {
		w.confirm(ctx, mg)
	}
	return w.SubResourceWriter.Update(ctx, o, opts...)
}

// confirm that there is what was created, and tell what was seen. If there is more to do
// about it, or nothing can be seen, the next pass does and tells that.
func (c *Connector[T]) confirm(ctx context.Context, mg T) {
	seen, ok := mg.DeepCopyObject().(T)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	env, err := c.Environment(ctx, seen)
	if err != nil {
		return
	}
	env.Look, env.Confirming = closer(env.Look), true
	external, err := c.kind.Client(ctx, seen, env)
	if err != nil {
		return
	}
	o, err := external.Observe(ctx, seen)
	mg.SetResourceVersion(seen.GetResourceVersion())
	if err == nil && o.ResourceExists && o.ResourceUpToDate && !o.ResourceLateInitialized {
		reflect.ValueOf(mg).Elem().Set(reflect.ValueOf(seen).Elem())
	}
}
