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

// Package controller is the list of kinds the provider manages, and the manager
// that runs their controllers.
package controller

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/providerconfig"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/restapi"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/subscription"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/subscriptionplan"
)

// setup adds the controllers of all kinds to a manager. Each starts once its CRD
// is there.
func setup(mgr ctrl.Manager, o kind.Options, changes *providerconfig.Changes) error {
	for _, add := range []func(ctrl.Manager, kind.Options) error{
		restapi.Setup,
		subscriptionplan.Setup,
		subscription.Setup,
	} {
		if err := add(mgr, o); err != nil {
			return errors.Wrap(err, "cannot set up a kind")
		}
	}
	return providerconfig.Setup(mgr, o, changes)
}
