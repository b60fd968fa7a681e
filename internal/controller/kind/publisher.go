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

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// A runtimeManager is a manager with a client for the runtime's reconciler, which takes
// it from there and nowhere else.
type runtimeManager struct {
	manager.Manager

	client client.Client
}

// GetClient returns the client for the runtime's reconciler.
func (m runtimeManager) GetClient() client.Client { return m.client }

// A secretless client makes the runtime's publisher of connection details do
// nothing. That publisher reads the connection Secret on every pass, writes it on
// every pass where it holds more keys than were returned, and creates an empty one
// where none were; and the runtime has no option to replace it. The kinds that have
// connection details publish them themselves, at the moment they must be stored.
//
// The publisher compares what it wants with what it reads. A read that leaves
// the Secret as it was passed in makes the two equal, and equal is not written.
type secretless struct {
	client.Client
}

// Get an object, but leave a Secret as it is.
func (c secretless) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Secret); ok {
		return nil
	}
	return c.Client.Get(ctx, key, o, opts...)
}
