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

// Package xpkg checks the Crossplane packages that make xpkg builds: what is in them,
// that the same source gives the same bytes, and that a registry gives back what was
// pushed. It reads them with nothing of what built them.
package xpkg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// What the packages of this test say of themselves.
const (
	version  = "v0.0.1"
	revision = "0123456789abcdef0123456789abcdef01234567"
)

// sourceDate is the time that everything in them has.
var sourceDate = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

var (
	// root of the repository.
	root string

	// built is the folder with the packages, builtElsewhere that with those which
	// were built in a copy of the repository in another folder.
	built, builtElsewhere string

	// images that were read, by path.
	images = map[string]*image{}
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	var err error
	if root, err = controlplane.FindRoot(); err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "xpkg")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := os.RemoveAll(tmp); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()

	built, builtElsewhere = filepath.Join(tmp, "built"), filepath.Join(tmp, "elsewhere", "built")
	if err := build(ctx, root, built); err != nil {
		return 0, err
	}
	another := filepath.Join(tmp, "another", "checkout")
	if err := copySource(root, another); err != nil {
		return 0, err
	}
	if err := build(ctx, another, builtElsewhere); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// build the packages of a checkout, as make xpkg does.
func build(ctx context.Context, checkout, out string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(checkout, "hack", "xpkg.sh"), "build", out)
	cmd.Env = append(os.Environ(), "VERSION="+version, "REVISION="+revision, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", sourceDate.Unix()),
		"TOOLS_CACHE="+filepath.Join(root, ".cache", "tools"))
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the packages of %s: %w\n%s", checkout, err, output)
	}
	return nil
}

// copySource copies what packages are made of. The copies are younger, and nobody
// else may read them.
func copySource(from, to string) error {
	source := os.DirFS(from)
	for _, name := range []string{"LICENSE", "apis", "cmd", "examples", "go.mod", "go.sum", "hack", "internal", "package"} {
		err := fs.WalkDir(source, name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			target := filepath.Join(to, path)
			if entry.IsDir() {
				return os.MkdirAll(target, 0o700)
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			content, err := fs.ReadFile(source, path)
			if err != nil {
				return err
			}
			return errors.Join(os.MkdirAll(filepath.Dir(target), 0o700), os.WriteFile(target, content, info.Mode().Perm()&0o700))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tool builds a development tool, unless it is there, and returns where it is.
func tool(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "tools", "build.sh"), name)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot build %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// config is what an image says of itself.
type config struct {
	Created      time.Time `json:"created"`
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Config       struct {
		User       string            `json:"User"`
		Entrypoint []string          `json:"Entrypoint"`
		Cmd        []string          `json:"Cmd"`
		Env        []string          `json:"Env"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// layer is one of an image: its digest, and what it adds.
type layer struct {
	digest  string
	entries []entry
}

type entry struct {
	header  *tar.Header
	content []byte
}

// image is a package as it lies in a file.
type image struct {
	config config
	layers []layer
}

// files of the image, by name.
func (i *image) files() map[string]entry {
	files := map[string]entry{}
	for _, l := range i.layers {
		for _, e := range l.entries {
			files[e.header.Name] = e
		}
	}
	return files
}

// labelled returns the layer of a kind, which a label of the image tells.
func (i *image) labelled(kind string) (layer, error) {
	for _, l := range i.layers {
		if i.config.Config.Labels["io.crossplane.xpkg:"+l.digest] == kind {
			return l, nil
		}
	}
	return layer{}, fmt.Errorf("no layer is labelled %s", kind)
}

// readImage reads the file of a package, which has the form of docker save.
func readImage(t *testing.T, path string) *image {
	t.Helper()
	if img, ok := images[path]; ok {
		return img
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := untar(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{}
	for _, e := range entries {
		blobs[e.header.Name] = e.content
	}
	var manifest []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(blobs["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("%s has %d images, want one: %v", path, len(manifest), err)
	}
	img := &image{}
	if err := json.Unmarshal(blobs[manifest[0].Config], &img.config); err != nil {
		t.Fatal(err)
	}
	for n, name := range manifest[0].Layers {
		l, diffID, err := readLayer(blobs[name])
		if err != nil {
			t.Fatal(err)
		}
		if want := img.config.RootFS.DiffIDs[n]; diffID != want {
			t.Errorf("layer %d of %s unpacks to %s, but should be %s", n, path, diffID, want)
		}
		img.layers = append(img.layers, l)
	}
	images[path] = img
	return img
}

// readLayer unpacks a layer, and returns it with the digest of what it unpacks to.
func readLayer(blob []byte) (layer, string, error) {
	z, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		return layer{}, "", err
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return layer{}, "", err
	}
	entries, err := untar(bytes.NewReader(content))
	return layer{digest: digest(blob), entries: entries}, digest(content), err
}

func untar(r io.Reader) ([]entry, error) {
	var entries []entry
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{h, content})
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
