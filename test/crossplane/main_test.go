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
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/crossplane"
)

// Versions that packages are built of. They differ in nothing but that.
const (
	previous = "v0.1.0"
	current  = "v0.1.1"
)

// shared is what all tests share: one core, which packages are installed in and
// uninstalled from in turn.
var shared struct {
	plane    *controlplane.ControlPlane
	core     *crossplane.Crossplane
	kube     client.Client
	gateway  *emulator.Server
	root     string
	packages string
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctrl.SetLogger(logr.Discard())

	stop, err := start(ctx)
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start what is shared, and return how it is stopped.
func start(ctx context.Context) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for i := len(stops) - 1; i >= 0; i-- {
			stops[i]()
		}
	}
	if shared.root, err = controlplane.FindRoot(); err != nil {
		return stop, err
	}
	dir, err := os.MkdirTemp("", "apiplatform-")
	if err != nil {
		return stop, err
	}
	stops = append(stops, func() { _ = os.RemoveAll(dir) })
	shared.packages = filepath.Join(dir, "packages")
	for _, version := range []string{previous, current} {
		if err := build(ctx, version, filepath.Join(shared.packages, version)); err != nil {
			return stop, err
		}
	}

	crds, err := crossplane.CRDs(ctx)
	if err != nil {
		return stop, err
	}
	if shared.plane, err = controlplane.Start(ctx, controlplane.Options{Dir: filepath.Join(dir, "control-plane"), CRDs: []string{crds}, Log: os.Stderr}); err != nil {
		return stop, err
	}
	stops = append(stops, shared.plane.Stop)
	if shared.core, err = crossplane.Start(ctx, crossplane.Options{
		ControlPlane: shared.plane,
		Dir:          filepath.Join(dir, "crossplane"),
		LogDir:       os.Getenv("LOG_DIR"),
		// Nobody wants to watch half a minute go by.
		ProviderArgs: []string{"--debug", "--poll=1s", "--min-poll=1s"},
		Log:          os.Stderr,
	}); err != nil {
		return stop, err
	}
	stops = append(stops, shared.core.Stop)
	if shared.kube, err = client.New(shared.plane.RESTConfig(), client.Options{Scheme: newScheme()}); err != nil {
		return stop, err
	}
	shared.gateway, err = emulator.Start(ctx, emulator.Options{Generation: emulator.InPlace, Users: []emulator.User{{Name: "admin", Password: "admin", Roles: []emulator.Role{emulator.RoleAdmin}}}})
	return stop, err
}

// build the packages of a version, for this machine alone.
func build(ctx context.Context, version, dir string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(shared.root, "hack", "xpkg.sh"), "build", dir)
	cmd.Env = append(os.Environ(), "VERSION="+version, "ARCHITECTURES="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build packages: %w: %s", err, out)
	}
	return nil
}
