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

// Package sandbox is everything a person needs to see the provider at work,
// started and stopped as one thing: a control plane, a gateway (emulated, or a
// real one), and the provider itself as it is shipped.
package sandbox

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/crossplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

const (
	// Namespace that Crossplane is installed in, and where people keep the
	// credentials of cluster-scoped configurations.
	Namespace = "crossplane-system"

	// packageVersion is that of the packages that are installed here, whatever they were
	// built as: one that satisfies what they ask of one another.
	packageVersion = "v0.1.0"

	// readyTimeout bounds how long the provider may take to be ready.
	readyTimeout = time.Minute
	// stopGrace is how long the provider may take to end.
	stopGrace = 10 * time.Second
)

// A Gateway is where a management API is, and whom to be there.
type Gateway struct {
	// URL of the management API, with or without its base path.
	URL string
	// Username and Password of basic authentication.
	Username string
	Password string
}

// Options of a sandbox.
type Options struct {
	// Gateway to use. Without a URL there, an emulated one is started.
	Gateway Gateway
	// Generation of the emulated gateway. Default: InPlace.
	Generation emulator.Generation
	// Provider is the path of the provider's binary. It is built if not given.
	Provider string
	// ProviderArgs are added to the provider's arguments.
	ProviderArgs []string
	// Packages is a folder with the packages of this project. With it, Crossplane's core
	// is started, and installs the configuration from there with all that it depends on:
	// the provider is the one of its package. Default: the provider runs by itself.
	Packages string
	// LogDir is where the provider's output goes, and stays. Default:
	// _output/sandbox in the repository.
	LogDir string
	// Log is told in short lines what happens. Default: nobody.
	Log io.Writer
}

// A Sandbox is a provider at work.
type Sandbox struct {
	// ControlPlane the provider works for.
	ControlPlane *controlplane.ControlPlane
	// Gateway the provider works on.
	Gateway Gateway
	// Emulator is that gateway, if it is emulated. Nil if it is a real one.
	Emulator *emulator.Server
	// Crossplane that installed the provider. Nil if the provider runs by itself.
	Crossplane *crossplane.Crossplane
	// Root of the repository.
	Root string

	dir      string
	provider *process.Process
	once     sync.Once
}

// Start a sandbox and wait until all of it is ready. The context bounds
// starting; end it with Stop. On failure nothing is left running.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	s := &Sandbox{Gateway: o.Gateway}
	if err := s.start(ctx, o); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Sandbox) start(ctx context.Context, o Options) (err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if s.Root, err = controlplane.FindRoot(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "apiplatform-"); err != nil {
		return errors.Wrap(err, "cannot create a temporary folder")
	}
	crds := filepath.Join(s.Root, "package", "crds")
	if o.Packages != "" {
		if crds, err = crossplane.CRDs(ctx); err != nil {
			return err
		}
	}
	if s.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{
		Dir:  filepath.Join(s.dir, "control-plane"),
		CRDs: []string{crds},
		Log:  o.Log,
	}); err != nil {
		return err
	}
	if s.Gateway.URL == "" {
		if err := s.startEmulator(ctx, o.Generation); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(o.Log, "gateway (emulated) ready at %s\n", s.Gateway.URL)
	}
	if o.Packages != "" {
		return s.startCrossplane(ctx, o)
	}
	if err := s.createNamespace(ctx); err != nil {
		return err
	}
	return s.startProvider(ctx, o)
}

// startCrossplane, and install the configuration.
func (s *Sandbox) startCrossplane(ctx context.Context, o Options) (err error) {
	s.Crossplane, err = crossplane.Start(ctx, crossplane.Options{
		ControlPlane: s.ControlPlane,
		Dir:          filepath.Join(s.dir, "crossplane"),
		LogDir:       s.logDir(o),
		ProviderArgs: append(providerArgs(), o.ProviderArgs...),
		Log:          o.Log,
	})
	if err != nil {
		return err
	}
	if err := s.Crossplane.PushAll(ctx, o.Packages, packageVersion); err != nil {
		return err
	}
	return s.Crossplane.Install(ctx, crossplane.Configuration(packageVersion))
}

// providerArgs are those of any provider here.
func providerArgs() []string {
	return []string{
		"--debug",
		// Nobody wants to watch a minute go by.
		"--poll=2s",
		"--min-poll=1s",
	}
}

// logDir is where logs go.
func (s *Sandbox) logDir(o Options) string {
	if o.LogDir != "" {
		return o.LogDir
	}
	return filepath.Join(s.Root, "_output", "sandbox")
}

// createNamespace that an installation of Crossplane would have created.
func (s *Sandbox) createNamespace(ctx context.Context) error {
	kube, err := kubernetes.NewForConfig(s.ControlPlane.RESTConfig())
	if err != nil {
		return errors.Wrap(err, "cannot build a client for the control plane")
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	_, err = kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	return errors.Wrapf(err, "cannot create the namespace %s", Namespace)
}

func (s *Sandbox) startEmulator(ctx context.Context, g emulator.Generation) (err error) {
	if g == "" {
		g = emulator.InPlace
	}
	s.Gateway = Gateway{Username: "admin", Password: "admin"}
	// It ends with Stop, not with the context, as all else does.
	s.Emulator, err = emulator.Start(context.WithoutCancel(ctx), emulator.Options{
		Generation: g,
		Users:      []emulator.User{{Name: s.Gateway.Username, Password: s.Gateway.Password, Roles: []emulator.Role{emulator.RoleAdmin}}},
	})
	if err != nil {
		return errors.Wrap(err, "cannot start the gateway emulator")
	}
	s.Gateway.URL = s.Emulator.URL()
	return nil
}

func (s *Sandbox) startProvider(ctx context.Context, o Options) error {
	started := time.Now()
	binary := o.Provider
	if binary == "" {
		binary = filepath.Join(s.dir, "provider")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/provider") //nolint:gosec // Builds this very repository.
		build.Dir = s.Root
		if out, err := build.CombinedOutput(); err != nil {
			return errors.Wrapf(err, "cannot build the provider: %s", out)
		}
	}
	logs := s.logDir(o)
	if err := os.MkdirAll(logs, 0o750); err != nil {
		return errors.Wrap(err, "cannot create the folder for logs")
	}
	log := filepath.Join(logs, "provider.log")
	if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
		return errors.Wrap(err, "cannot remove the log of the last run")
	}
	port, err := controlplane.FreePort(ctx)
	if err != nil {
		return err
	}
	health := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	s.provider, err = process.Start(ctx, process.Options{
		Name:    "the provider",
		Path:    binary,
		Dir:     s.dir,
		Env:     []string{"KUBECONFIG=" + s.ControlPlane.Kubeconfig()},
		LogPath: log,
		Args:    slices.Concat(providerArgs(), []string{"--health-probe-bind-address=" + health, "--metrics-bind-address=0"}, o.ProviderArgs),
	})
	if err != nil {
		return err
	}
	if err := s.waitReady(ctx, "http://"+health+"/readyz"); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.Log, "provider ready after %.1f s, its output is in %s\n", time.Since(started).Seconds(), s.relative(log))
	return nil
}

func (s *Sandbox) waitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := probe(ctx, client, url)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "the provider did not become ready: %v; its last lines:\n%s", err, s.provider.Tail(15))
		case <-s.provider.Done():
			return s.provider.Err()
		case <-ticker.C:
		}
	}
}

func probe(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	rsp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close()
	if rsp.StatusCode != http.StatusOK {
		return errors.Errorf("%s answered %s", url, rsp.Status)
	}
	return nil
}

// relative path, where that is shorter to read.
func (s *Sandbox) relative(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return path
}

// Failed returns why the sandbox cannot work any more: a process of it ended by
// itself. Nil while all is well.
func (s *Sandbox) Failed() error {
	if s.Crossplane != nil {
		return errors.Join(s.Crossplane.Failed(), s.ControlPlane.Failed())
	}
	if err := s.provider.Err(); err != nil {
		return err
	}
	return s.ControlPlane.Failed()
}

// ProviderLog returns the path of the provider's output, and its last lines.
func (s *Sandbox) ProviderLog(lines int) (path, tail string) {
	return s.relative(s.provider.LogPath()), s.provider.Tail(lines)
}

// ProviderMemory returns how many bytes of memory the provider has resident.
func (s *Sandbox) ProviderMemory(ctx context.Context) (int64, error) {
	pid := strconv.Itoa(s.provider.PID())
	if status, err := os.ReadFile(filepath.Join("/proc", pid, "status")); err == nil { //nolint:gosec // A number of our own.
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				return kibibytes(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			}
		}
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", pid).Output() //nolint:gosec // A number of our own.
	if err != nil {
		return 0, errors.Wrap(err, "cannot ask for the provider's memory")
	}
	return kibibytes(strings.TrimSpace(string(out)))
}

func kibibytes(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n << 10, errors.Wrap(err, "cannot read the provider's memory")
}

// Stop ends everything that Start started, and returns once it is gone. It may
// be called more than once.
func (s *Sandbox) Stop() {
	s.once.Do(func() {
		s.provider.Stop(stopGrace)
		if s.Crossplane != nil {
			s.Crossplane.Stop()
		}
		if s.Emulator != nil {
			s.Emulator.Close()
		}
		if s.ControlPlane != nil {
			s.ControlPlane.Stop()
		}
		if s.dir != "" {
			_ = os.RemoveAll(s.dir)
		}
	})
}
