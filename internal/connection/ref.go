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

package connection

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

// Ref names a ProviderConfig or a ClusterProviderConfig.
type Ref struct {
	// Kind is v1alpha1.ProviderConfigKind or v1alpha1.ClusterProviderConfigKind.
	Kind string
	// Namespace of a ProviderConfig; empty for a ClusterProviderConfig.
	Namespace string
	Name      string
}

// String returns the reference as it is shown to users.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	return r.Kind + " " + strconv.Quote(name)
}

func (r Ref) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// normalise binds a ProviderConfig to the namespace of whoever uses it, and
// refuses one of another namespace.
func (r Ref) normalise(namespace string) (Ref, error) {
	switch r.Kind {
	case v1alpha1.ClusterProviderConfigKind:
		r.Namespace = ""
	case v1alpha1.ProviderConfigKind:
		if r.Namespace == "" {
			r.Namespace = namespace
		}
		if r.Namespace != namespace {
			return r, &ConfigError{Ref: r, Problem: ProblemNotAllowed, Message: "it can only be used from its own namespace"}
		}
	default:
		return r, &ConfigError{Ref: r, Problem: ProblemConfigMissing, Message: "there is no such kind; it must be ProviderConfig or ClusterProviderConfig"}
	}
	return r, nil
}
