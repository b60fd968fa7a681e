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

package crossplane

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// A registry that packages are pushed to and pulled from.
type registry struct {
	address string
}

// startRegistry on this machine alone. It speaks plain HTTP, which core accepts of an
// address of the own machine.
func (c *Crossplane) startRegistry(ctx context.Context) (*registry, error) {
	port, err := controlplane.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p, err := c.startTool(ctx, "registry", c.crane, nil, "registry", "serve", "--address="+address)
	if err != nil {
		return nil, err
	}
	return &registry{address: address}, wait(ctx, p, func(ctx context.Context) error { return probe(ctx, "http://"+address+"/v2/") })
}

// Registry returns the address of the registry that packages are pulled from, for the
// beginning of their names.
func (c *Crossplane) Registry() string { return c.registry.address }

// Push the files of a package, one for each architecture, to a repository of the
// registry, and return the name that the package has there.
func (c *Crossplane) Push(ctx context.Context, repository, tag string, files ...string) (string, error) {
	name := c.registry.address + "/" + repository + ":" + tag
	_, err := c.run(ctx, c.xpkg, append([]string{"push", name}, files...)...)
	return name, errors.Wrapf(err, "cannot push the package %s", repository)
}

// PushAll pushes the packages in a folder, which are named after their repository and,
// if anything runs in them, an architecture.
func (c *Crossplane) PushAll(ctx context.Context, dir, tag string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.xpkg"))
	if err != nil {
		return errors.Wrapf(err, "cannot list %s", dir)
	}
	packages := map[string][]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".xpkg")
		for _, arch := range []string{"-amd64", "-arm64"} {
			name = strings.TrimSuffix(name, arch)
		}
		packages[name] = append(packages[name], file)
	}
	if len(packages) == 0 {
		return errors.Errorf("there are no packages in %s; build them first", dir)
	}
	for name, files := range packages {
		if _, err := c.Push(ctx, Organisation+"/"+name, tag, files...); err != nil {
			return err
		}
	}
	return nil
}

// An image whose files lie on this machine.
type image struct {
	root       string
	entrypoint []string
	cmd        []string
	env        []string
}

// pull an image: its files, for this machine's platform, and how it is run.
func (c *Crossplane) pull(ctx context.Context, name string) (*image, error) {
	platform := "--platform=linux/" + runtime.GOARCH
	digest, err := c.run(ctx, c.crane, "digest", platform, name)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull %s", name)
	}
	config, err := c.run(ctx, c.crane, "config", platform, name)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull %s", name)
	}
	var of struct {
		Config struct {
			Entrypoint, Cmd, Env []string
		} `json:"config"`
	}
	if err := json.Unmarshal(config, &of); err != nil {
		return nil, errors.Wrapf(err, "cannot read the configuration of %s", name)
	}
	i := &image{
		root:       c.path("images", strings.ReplaceAll(strings.TrimSpace(string(digest)), ":", "-")),
		entrypoint: of.Config.Entrypoint,
		cmd:        of.Config.Cmd,
		env:        of.Config.Env,
	}
	if _, err := os.Stat(i.root); err == nil {
		return i, nil
	}
	files, err := c.run(ctx, c.crane, "export", platform, name, "-")
	if err != nil {
		return nil, errors.Wrapf(err, "cannot pull %s", name)
	}
	// Nobody must take a folder for complete that is not.
	half := i.root + ".half"
	if err := os.RemoveAll(half); err != nil {
		return nil, errors.Wrapf(err, "cannot unpack %s", name)
	}
	if err := unpack(bytes.NewReader(files), half); err != nil {
		return nil, errors.Wrapf(err, "cannot unpack %s", name)
	}
	return i, errors.Wrapf(os.Rename(half, i.root), "cannot unpack %s", name)
}

// unpack the regular files of an archive.
func unpack(archive io.Reader, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // What it was opened for has been done or has failed.
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		name := filepath.Clean(strings.TrimLeft(header.Name, "/"))
		if err := root.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, header.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, files); err != nil { //nolint:gosec // Images of packages are not chosen by strangers here.
			return errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}
