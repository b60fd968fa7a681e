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

// Package configuration reads what package/configuration defines the way Crossplane does,
// for tests that need its kinds on an API server without Crossplane.
package configuration

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Definitions of the composite resources in a repository.
func Definitions(root string) ([]*xpv1.CompositeResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(root, "package", "configuration", "*", "definition.yaml"))
	if err != nil || len(files) == 0 {
		return nil, errors.Errorf("there are no definitions below %s", filepath.Join(root, "package", "configuration"))
	}
	all := make([]*xpv1.CompositeResourceDefinition, 0, len(files))
	for _, f := range files {
		b, err := os.ReadFile(f) //nolint:gosec // One of the repository's own files.
		if err != nil {
			return nil, errors.Wrap(err, "cannot read a definition")
		}
		// Crossplane's core, too, reads definitions of v2 as those of v1.
		d := &xpv1.CompositeResourceDefinition{}
		if err := yaml.UnmarshalStrict(b, d); err != nil {
			return nil, errors.Wrapf(err, "cannot understand %s", f)
		}
		all = append(all, d)
	}
	return all, nil
}

// CRDs that Crossplane makes of these definitions: of composite resources and of claims.
func CRDs(root string) ([]*extv1.CustomResourceDefinition, error) {
	definitions, err := Definitions(root)
	if err != nil {
		return nil, err
	}
	var all []*extv1.CustomResourceDefinition
	for _, d := range definitions {
		crd, err := xcrd.ForCompositeResource(d)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot derive the CRD of %s", d.GetName())
		}
		all = append(all, crd)
		if d.OffersClaim() {
			crd, err := xcrd.ForCompositeResourceClaim(d)
			if err != nil {
				return nil, errors.Wrapf(err, "cannot derive the CRD of the claims of %s", d.GetName())
			}
			all = append(all, crd)
		}
	}
	for _, crd := range all {
		crd.APIVersion, crd.Kind = extv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
		// There is no definition on an API server without Crossplane that could own it.
		crd.OwnerReferences = nil
	}
	return all, nil
}

// WriteCRDs into a folder.
func WriteCRDs(root, dir string) error {
	crds, err := CRDs(root)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		b, err := yaml.Marshal(crd)
		if err != nil {
			return errors.Wrapf(err, "cannot encode %s", crd.GetName())
		}
		if err := os.WriteFile(filepath.Join(dir, crd.GetName()+".yaml"), b, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", crd.GetName())
		}
	}
	return nil
}
