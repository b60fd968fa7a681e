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

package providerconfig

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// Changes carry what the connections learn about a configuration's gateway to the
// controller that shows it.
type Changes struct {
	byKind map[string]chan event.GenericEvent
}

// NewChanges returns Changes that nobody told yet.
func NewChanges() *Changes {
	const burst = 1024
	return &Changes{byKind: map[string]chan event.GenericEvent{
		v1alpha1.ProviderConfigKind:        make(chan event.GenericEvent, burst),
		v1alpha1.ClusterProviderConfigKind: make(chan event.GenericEvent, burst),
	}}
}

// Tell that something was learnt about a configuration's gateway. It never blocks:
// in a burst that is too large the next poll shows what is missed here.
func (c *Changes) Tell(ref connection.Ref) {
	var o client.Object = &v1alpha1.ClusterProviderConfig{}
	if ref.Kind == v1alpha1.ProviderConfigKind {
		o = &v1alpha1.ProviderConfig{}
	}
	o.SetNamespace(ref.Namespace)
	o.SetName(ref.Name)
	select {
	case c.byKind[ref.Kind] <- event.GenericEvent{Object: o}:
	default:
	}
}
