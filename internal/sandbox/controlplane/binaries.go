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
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Names of the binaries, as KUBEBUILDER_ASSETS and hack/tools know them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
)

// Binaries are the paths of what a control plane consists of.
type Binaries struct {
	Etcd              string
	APIServer         string
	ControllerManager string
}

// find fills in what is not given.
func (b *Binaries) find(ctx context.Context) error {
	for name, path := range map[string]*string{Etcd: &b.Etcd, APIServer: &b.APIServer, ControllerManager: &b.ControllerManager} {
		if *path != "" {
			continue
		}
		found, err := FindBinary(ctx, name)
		if err != nil {
			return err
		}
		*path = found
	}
	return nil
}

// FindBinary returns the path of a tool: the one in the folder that
// KUBEBUILDER_ASSETS names, else the one that hack/tools/build.sh has built, or
// builds now. Building says so on standard error, since it can take minutes.
func FindBinary(ctx context.Context, name string) (string, error) {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		path := filepath.Join(assets, name)
		if info, err := os.Stat(path); err == nil && //nolint:gosec // Whoever sets KUBEBUILDER_ASSETS decides what runs.
			info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	root, err := FindRoot()
	if err != nil {
		return "", errors.Wrapf(err, "cannot find %s: set KUBEBUILDER_ASSETS, or run inside a clone of the repository", name)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, "hack", "tools", "build.sh"), name) //nolint:gosec // The repository's own script.
	cmd.Stdout = &stdout
	cmd.Stderr = io.MultiWriter(os.Stderr, &stderr)
	if err := cmd.Run(); err != nil {
		return "", errors.Wrapf(err, "cannot build %s: %s", name, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// FindRoot returns the root of the repository that the working directory is in.
func FindRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "cannot get the working directory")
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "hack", "tools", "build.sh")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", errors.Errorf("neither %s nor a folder above it has hack/tools/build.sh", dir)
		}
	}
}
