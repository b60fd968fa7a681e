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

package crash

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

const (
	// envSeed chooses another sample of kill points.
	envSeed = "CRASH_SEED"
	// envAll tries all of them.
	envAll = "CRASH_ALL"

	// sideBySide is how many providers run at a time, or nearly so. They wait far
	// more than they work.
	sideBySide = 16
)

// shared is what all tests share.
var shared struct {
	plane *controlplane.ControlPlane
	kube  client.Client

	// server is where the API server is, and transport how to get there.
	server    *url.URL
	transport http.RoundTripper

	// provider is the binary under test.
	provider string

	seed uint64
	all  bool

	// kills are how often the provider was killed at a write, and rests how often at
	// rest since it made fewer writes than the time before.
	kills, rests atomic.Int64

	// late are how many journeys were made with all events late, stumbles how many with
	// a hitch, behind on how many of these some event came late, and smooth how many of these made so few writes that it never came.
	// thefts are how many events got lost.
	late, stumbles, behind, smooth, thefts atomic.Int64
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(sideBySide)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctrl.SetLogger(logr.Discard())

	dir, err := os.MkdirTemp("", "apiplatform-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // Nobody is left to be told.
	if err := prepare(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.plane.Stop()

	code := m.Run()
	fmt.Printf("crash: the provider was killed at %d writes, and %d times at rest; %s\n", shared.kills.Load(), shared.rests.Load(), sample())
	fmt.Printf("crash: it saw all late on %d journeys, stumbled on %d (and missed something meanwhile on %d), and on %d made too few writes for that; %d events got lost\n",
		shared.late.Load(), shared.stumbles.Load(), shared.behind.Load(), shared.smooth.Load(), shared.thefts.Load())
	return code
}

// prepare what all tests share.
func prepare(ctx context.Context, dir string) error {
	shared.seed, shared.all = 1, os.Getenv(envAll) != ""
	if s := os.Getenv(envSeed); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return errors.Wrapf(err, "%s must be a number", envSeed)
		}
		shared.seed = seed
	}
	root, err := controlplane.FindRoot()
	if err != nil {
		return err
	}
	shared.provider = filepath.Join(dir, "provider")
	build := exec.CommandContext(ctx, "go", "build", "-o", shared.provider, "./cmd/provider")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return errors.Wrapf(err, "cannot build the provider: %s", out)
	}
	shared.plane, err = controlplane.Start(ctx, controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds")}})
	if err != nil {
		return err
	}
	if err := connect(shared.plane.RESTConfig()); err != nil {
		shared.plane.Stop()
		return err
	}
	return nil
}

// connect to the API server, past all relays.
func connect(cfg *rest.Config) (err error) {
	if shared.server, err = url.Parse(cfg.Host); err != nil {
		return errors.Wrap(err, "cannot parse the URL of the API server")
	}
	if shared.transport, err = rest.TransportFor(cfg); err != nil {
		return errors.Wrap(err, "cannot build a transport to the API server")
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apis.AddToScheme} {
		if err := add(scheme); err != nil {
			return errors.Wrap(err, "cannot build the scheme")
		}
	}
	shared.kube, err = client.New(cfg, client.Options{Scheme: scheme})
	return errors.Wrap(err, "cannot build a client")
}

// sample says which kill points are tried, and how to try others.
func sample() string {
	if shared.all {
		return "all kill points (" + envAll + ")"
	}
	return fmt.Sprintf("a sample of the kill points (%s=%d; %s=1 tries all)", envSeed, shared.seed, envAll)
}
