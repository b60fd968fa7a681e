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

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	metaVersion = "meta.pkg.crossplane.io/v1"

	apiextensions = "apiextensions.crossplane.io/"
	crd           = "apiextensions.k8s.io/v1 CustomResourceDefinition"
)

// installs is what Crossplane installs from each kind of package; it refuses a
// package with anything else in it.
var installs = map[string][]string{
	"Provider": {crd, apiextensions + "v1alpha1 ManagedResourceDefinition",
		"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration"},
	"Function": {crd},
	"Configuration": {apiextensions + "v1 CompositeResourceDefinition", apiextensions + "v2 CompositeResourceDefinition",
		apiextensions + "v1 Composition", apiextensions + "v1alpha1 ManagedResourceActivationPolicy",
		"ops.crossplane.io/v1alpha1 Operation", "ops.crossplane.io/v1alpha1 CronOperation", "ops.crossplane.io/v1alpha1 WatchOperation"},
}

// contents are what a package says and installs, whatever runs in it.
type contents struct {
	name, title, description, source, license string
	version, revision                         string
	created                                   time.Time

	// packageYAML and examplesYAML are streams of YAML documents.
	packageYAML, examplesYAML []byte
}

// object is what this program looks at of a YAML document.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name        string            `yaml:"name"`
		Annotations map[string]string `yaml:"annotations"`
	} `yaml:"metadata"`
}

func (o object) kind() string { return o.APIVersion + " " + o.Kind }

// readContents reads the description of a package, what it installs, and its examples.
func readContents(meta string, objectDirs, exampleDirs []string) (*contents, error) {
	text, described, err := readDocuments(meta)
	if err != nil {
		return nil, err
	}
	if len(described) != 1 || described[0].APIVersion != metaVersion || installs[described[0].Kind] == nil {
		return nil, fmt.Errorf("%s must hold one object, a Provider, Function or Configuration of %s", meta, metaVersion)
	}
	m := described[0]
	c := &contents{name: m.Metadata.Name, title: cmp.Or(m.Metadata.Annotations["friendly-name.meta.crossplane.io"], m.Metadata.Name)}
	for annotation, field := range map[string]*string{
		"meta.crossplane.io/description": &c.description,
		"meta.crossplane.io/source":      &c.source,
		"meta.crossplane.io/license":     &c.license,
		"meta.crossplane.io/maintainer":  new(string),
		"meta.crossplane.io/readme":      new(string),
	} {
		*field = strings.TrimSpace(m.Metadata.Annotations[annotation])
		if *field == "" {
			return nil, fmt.Errorf("%s has no annotation %s, which tells people what they install; add it", meta, annotation)
		}
	}

	if !strings.Contains(c.source, "://") {
		c.source = "https://" + c.source
	}

	texts := [][]byte{text}
	seen := map[string]string{}
	err = eachFile(objectDirs, func(path string) error {
		if filepath.Clean(path) == filepath.Clean(meta) {
			return nil
		}
		text, objects, err := readDocuments(path)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if !slices.Contains(installs[m.Kind], o.kind()) {
				return fmt.Errorf("%s holds a %s, which a %s package must not have; it can have %s", path, o.kind(), m.Kind, strings.Join(installs[m.Kind], ", "))
			}
			id := o.kind() + " " + o.Metadata.Name
			if other, ok := seen[id]; ok {
				return fmt.Errorf("both %s and %s hold the %s; remove one", other, path, id)
			}
			seen[id] = path
		}
		texts = append(texts, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.packageYAML = stream(texts)

	texts = nil
	err = eachFile(exampleDirs, func(path string) error {
		text, _, err := readDocuments(path)
		texts = append(texts, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.examplesYAML = stream(texts)
	return c, nil
}

// eachFile calls a function with each YAML file of the folders, in an order that is
// always the same.
func eachFile(dirs []string, do func(path string) error) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
				return err
			}
			return do(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readDocuments returns a file's text and the objects that it holds.
func readDocuments(path string) ([]byte, []object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var objects []object
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		o := &object{}
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return text, objects, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if o == nil { // Nothing between two separators but comments.
			continue
		}
		if o.APIVersion == "" || o.Kind == "" || o.Metadata.Name == "" {
			return nil, nil, fmt.Errorf("document %d of %s lacks apiVersion, kind or metadata.name; only Kubernetes objects go into a package", len(objects)+1, path)
		}
		objects = append(objects, *o)
	}
}

// stream joins texts with one separator before each.
func stream(texts [][]byte) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		b.WriteString("---\n")
		b.Write(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("---"))))
		b.WriteString("\n")
	}
	return b.Bytes()
}
