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
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// layerKey annotates the layers of a package that hold YAML, as
	// https://github.com/crossplane/crossplane/blob/main/contributing/specifications/xpkg.md
	// has it. An .xpkg file has no place for annotations: there, a label of the image
	// keeps each until the package is pushed.
	layerKey      = "io.crossplane.xpkg"
	layerPackage  = "base"
	layerExamples = "upbound"

	// ociPrefix is that of labels and annotations that all tools know.
	ociPrefix = "org.opencontainers.image."

	// nobody is who the runtime runs as unless the pod says otherwise. A number, so
	// that Kubernetes can see that it is not root.
	nobody = "65532:65532"
)

type file struct {
	mode    int64
	content []byte
}

// packageImage returns the image that is both what Crossplane installs and what it
// runs.
func packageImage(c *contents, r *runtime) (v1.Image, error) {
	cfg := &v1.ConfigFile{
		// An index has an image for each architecture. A package in which nothing runs
		// says what Crossplane asks for where it has to choose.
		OS: "linux", Architecture: "amd64",
		Created: v1.Time{Time: c.created},
		Config: v1.Config{Labels: map[string]string{
			ociPrefix + "title":       c.title,
			ociPrefix + "description": c.description,
			ociPrefix + "source":      c.source,
			ociPrefix + "licenses":    c.license,
			ociPrefix + "version":     c.version,
			ociPrefix + "revision":    c.revision,
			ociPrefix + "created":     c.created.Format(time.RFC3339),
		}},
	}
	img := empty.Image
	add := func(what string, files map[string]file) (string, error) {
		l, err := layer(files, c.created)
		if err != nil {
			return "", err
		}
		digest, err := l.Digest()
		if err != nil {
			return "", err
		}
		img, err = mutate.Append(img, mutate.Addendum{Layer: l, History: v1.History{Created: cfg.Created, CreatedBy: "xpkg build: " + what}})
		return digest.String(), err
	}

	if r != nil {
		files := map[string]file{r.name: {0o755, r.binary}}
		for name, text := range r.licenses {
			files[name] = file{0o644, text}
		}
		if _, err := add("runtime", files); err != nil {
			return nil, fmt.Errorf("cannot add the runtime: %w", err)
		}
		cfg.Architecture, cfg.Config.Entrypoint, cfg.Config.User, cfg.Config.WorkingDir = r.arch, []string{"/" + r.name}, nobody, "/"
	}
	digest, err := add("package", map[string]file{"package.yaml": {0o644, c.packageYAML}})
	if err != nil {
		return nil, fmt.Errorf("cannot add package.yaml: %w", err)
	}
	cfg.Config.Labels[layerKey+":"+digest] = layerPackage
	if len(c.examplesYAML) > 0 {
		if digest, err = add("examples", map[string]file{".up/examples.yaml": {0o644, c.examplesYAML}}); err != nil {
			return nil, fmt.Errorf("cannot add the examples: %w", err)
		}
		cfg.Config.Labels[layerKey+":"+digest] = layerExamples
	}

	layered, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	cfg.RootFS, cfg.History = layered.RootFS, layered.History
	return mutate.ConfigFile(img, cfg)
}

// layer packs files, which belong to root and are all of one time.
func layer(files map[string]file, modified time.Time) (v1.Layer, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	dirs := map[string]bool{".": true}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := addFolders(w, filepath.Dir(name), dirs, modified); err != nil {
			return nil, err
		}
		f := files[name]
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: f.mode, Size: int64(len(f.content)), ModTime: modified, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil })
}

func addFolders(w *tar.Writer, dir string, there map[string]bool, modified time.Time) error {
	if there[dir] {
		return nil
	}
	if err := addFolders(w, filepath.Dir(dir), there, modified); err != nil {
		return err
	}
	there[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: modified, Format: tar.FormatPAX})
}

// writePackage writes an image in the form that crossplane xpkg push and docker load
// read, and prints the digest that it will have in a registry.
func writePackage(img v1.Image, path string) error {
	var b bytes.Buffer
	if err := tarball.Write(nil, img, &b); err != nil {
		return fmt.Errorf("cannot pack %s: %w", path, err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return err
	}
	img, err := pushable(img)
	if err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("%s  %s\n", digest, path)
	return nil
}

// push writes packages to a registry. Several, of one architecture each, become one
// of all architectures.
func push(ctx context.Context, reference string, files []string) error {
	tag, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("cannot push: %w", err)
	}
	images := make([]v1.Image, 0, len(files))
	for _, f := range files {
		img, err := tarball.ImageFromPath(f, nil)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", f, err)
		}
		if img, err = pushable(img); err != nil {
			return fmt.Errorf("cannot read %s: %w", f, err)
		}
		images = append(images, img)
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	var digest v1.Hash
	if len(images) == 1 {
		if err := remote.Write(tag, images[0], options...); err != nil {
			return fmt.Errorf("cannot push to %s: %w", tag, err)
		}
		digest, err = images[0].Digest()
	} else {
		index, err := indexOf(images)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(tag, index, options...); err != nil {
			return fmt.Errorf("cannot push to %s: %w", tag, err)
		}
		if digest, err = index.Digest(); err != nil {
			return err
		}
	}
	fmt.Printf("%s@%s\n", tag, digest)
	return err
}

// indexOf returns an index of images, which have to be of different platforms.
func indexOf(images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	platforms := map[string]bool{}
	var common map[string]string
	for _, img := range images {
		cfg, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		platform := cfg.Platform()
		if platforms[platform.String()] {
			return nil, fmt.Errorf("there are two packages for %s; push one of them", platform)
		}
		platforms[platform.String()] = true
		if common == nil {
			common = ociLabels(cfg)
		} else if !maps.Equal(common, ociLabels(cfg)) {
			return nil, fmt.Errorf("the package for %s is of another version, or another package, than that before it: %v, not %v; build them together", platform, ociLabels(cfg), common)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return mutate.Annotations(index, common).(v1.ImageIndex), nil
}

// pushable returns an image as it is pushed: of OCI's media types, and with annotations.
func pushable(img v1.Image) (v1.Image, error) {
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	adds := make([]mutate.Addendum, 0, len(layers))
	for _, l := range layers {
		digest, err := l.Digest()
		if err != nil {
			return nil, err
		}
		a := mutate.Addendum{Layer: l, MediaType: types.OCILayer}
		if kind := cfg.Config.Labels[layerKey+":"+digest.String()]; kind != "" {
			a.Annotations = map[string]string{layerKey: kind}
		}
		adds = append(adds, a)
	}
	out, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), adds...)
	if err != nil {
		return nil, err
	}
	if out, err = mutate.ConfigFile(out, cfg); err != nil {
		return nil, err
	}
	return mutate.Annotations(out, ociLabels(cfg)).(v1.Image), nil
}

// ociLabels are the labels that are annotations as well, for who looks at a manifest
// only.
func ociLabels(cfg *v1.ConfigFile) map[string]string {
	labels := maps.Clone(cfg.Config.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return !strings.HasPrefix(key, ociPrefix) })
	return labels
}
