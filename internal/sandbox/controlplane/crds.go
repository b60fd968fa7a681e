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

package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/util/retry"
	kyaml "sigs.k8s.io/yaml"
)

// establishTimeout bounds how long the API server may take to serve a kind.
const establishTimeout = 30 * time.Second

// InstallCRDs creates or updates the custom resource definitions in the given
// files and folders, and returns once every version of them is served. Other
// objects in these files are left out.
func (c *ControlPlane) InstallCRDs(ctx context.Context, paths ...string) error {
	crds, err := readCRDs(paths...)
	if err != nil {
		return err
	}
	if len(crds) == 0 {
		return errors.Errorf("no custom resource definitions in %v", paths)
	}
	client, err := apiextensions.NewForConfig(c.RESTConfig())
	if err != nil {
		return errors.Wrap(err, "cannot build a client for custom resource definitions")
	}
	disco, err := discovery.NewDiscoveryClientForConfig(c.RESTConfig())
	if err != nil {
		return errors.Wrap(err, "cannot build a discovery client")
	}
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()

	errs := make([]error, len(crds))
	var wg sync.WaitGroup
	for i, crd := range crds {
		wg.Go(func() {
			if errs[i] = apply(ctx, client.CustomResourceDefinitions(), crd); errs[i] == nil {
				errs[i] = waitServed(ctx, client.CustomResourceDefinitions(), disco, crd)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func apply(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, crd *apiextensionsv1.CustomResourceDefinition) error {
	_, err := client.Create(ctx, crd, metav1.CreateOptions{})
	if !kerrors.IsAlreadyExists(err) {
		return errors.Wrapf(err, "cannot create the definition of %s", crd.GetName())
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		existing, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		updated := crd.DeepCopy()
		updated.SetResourceVersion(existing.GetResourceVersion())
		_, err = client.Update(ctx, updated, metav1.UpdateOptions{})
		return err
	})
	return errors.Wrapf(err, "cannot update the definition of %s", crd.GetName())
}

// waitServed until the definition is established and discovery knows it: in
// between, requests are answered with 404.
func waitServed(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, disco discovery.DiscoveryInterface, crd *apiextensionsv1.CustomResourceDefinition) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		missing, err := notServed(ctx, client, disco, crd)
		if err != nil && ctx.Err() == nil {
			return errors.Wrapf(err, "cannot see whether %s is served", crd.GetName())
		}
		if err == nil && missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "%s is not served: %s", crd.GetName(), missing)
		case <-ticker.C:
		}
	}
}

// notServed says what is still missing, in words.
func notServed(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, disco discovery.DiscoveryInterface, crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	got, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	established := false
	for _, cond := range got.Status.Conditions {
		switch cond.Type { //nolint:exhaustive // The others do not stop a kind from being served.
		case apiextensionsv1.Established:
			established = cond.Status == apiextensionsv1.ConditionTrue
		case apiextensionsv1.NamesAccepted:
			if cond.Status == apiextensionsv1.ConditionFalse {
				return "", errors.Errorf("its names were not accepted: %s", cond.Message)
			}
		}
	}
	if !established {
		return "it is not established", nil
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		version := crd.Spec.Group + "/" + v.Name
		list, err := disco.ServerResourcesForGroupVersion(version)
		if err != nil && !kerrors.IsNotFound(err) {
			return "", err
		}
		if list == nil || !serves(list, crd.Spec.Names.Plural) {
			return "discovery does not list it in " + version, nil
		}
	}
	return "", nil
}

func serves(list *metav1.APIResourceList, plural string) bool {
	for _, r := range list.APIResources {
		if r.Name == plural {
			return true
		}
	}
	return false
}

// readCRDs from files and folders; folders are searched to the bottom.
func readCRDs(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() || (filepath.Ext(file) != ".yaml" && filepath.Ext(file) != ".yml") {
				return nil
			}
			found, err := readCRDFile(file)
			crds = append(crds, found...)
			return errors.Wrapf(err, "cannot read %s", file)
		})
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read custom resource definitions from %s", path)
		}
	}
	return crds, nil
}

func readCRDFile(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := os.ReadFile(file) //nolint:gosec // The caller names the file.
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := kyaml.Unmarshal(document, crd); err != nil {
			return nil, err
		}
		if crd.Kind == "CustomResourceDefinition" {
			crds = append(crds, crd)
		}
	}
}
