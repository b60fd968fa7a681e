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

// The sandbox runs a control plane, a gateway and the provider on this machine,
// to be watched (demo) or played with (sandbox).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
)

// version is set when a release is built.
var version = "unknown"

type commands struct {
	Version kong.VersionFlag `help:"Print the version."`

	Demo    demoCommand    `cmd:"" help:"Tell the story of a subscription, from kubectl apply to kubectl delete."`
	Sandbox sandboxCommand `cmd:"" help:"Start the same, and keep it running until Ctrl-C."`
}

type options struct {
	GatewayURL        string `help:"Management API of a real gateway to work on, instead of an emulated one." env:"GATEWAY_URL" placeholder:"URL"`
	GatewayUser       string `help:"User of the real gateway." env:"GATEWAY_USER" default:"admin"`
	GatewayPassword   string `help:"Password of the real gateway." env:"GATEWAY_PASSWORD" default:"admin"`
	GatewayGeneration string `help:"Generation of the emulated gateway: ${enum}. A legacy one picks subscription IDs itself, and can change nothing of a subscription but its status." env:"GATEWAY_GENERATION" enum:"in-place,legacy" default:"in-place"`
	Provider          string `help:"Binary of the provider. Default: the one beside this one, else it is built." placeholder:"PATH"`
}

func (o options) start(ctx context.Context, out io.Writer, packages string) (*sandbox.Sandbox, error) {
	so := sandbox.Options{Provider: o.Provider, Packages: packages, Generation: emulator.InPlace, Log: out}
	if o.GatewayGeneration == "legacy" {
		so.Generation = emulator.Legacy
	}
	if o.GatewayURL != "" {
		so.Gateway = sandbox.Gateway{URL: o.GatewayURL, Username: o.GatewayUser, Password: o.GatewayPassword}
	}
	if so.Provider == "" {
		so.Provider = besides("provider")
	}
	return sandbox.Start(ctx, so)
}

// besides returns the path of the binary beside this one, if there is one.
func besides(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

type demoCommand struct {
	options `embed:""`
}

// Run the demo.
func (d *demoCommand) Run(ctx context.Context, out io.Writer) error {
	started := time.Now()
	box, err := d.start(ctx, out, "")
	if err != nil {
		return err
	}
	defer box.Stop()
	tale, err := newTale(box)
	if err != nil {
		return err
	}
	if err := tale.noStrangers(ctx); err != nil {
		return err
	}
	n := &narrator{out: out, failed: box.Failed}
	if err := n.tell(ctx, tale.steps()); err != nil {
		if ctx.Err() == nil {
			path, tail := box.ProviderLog(12)
			_, _ = fmt.Fprintf(out, "\nThe provider's last lines (all of them are in %s):\n%s\n", path, tail)
		}
		if cleanup := tale.cleanUp(ctx, n); cleanup != nil {
			err = errors.Join(err, cleanup)
		}
		return err
	}
	memory, err := box.ProviderMemory(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nAll of it came true. It took %.1f s, and the provider has %d MiB of memory resident.\n", time.Since(started).Seconds(), memory>>20)
	return nil
}

type sandboxCommand struct {
	options `embed:""`

	Core     bool   `help:"Start Crossplane's core too, and have it install the packages of this project: the provider, the function and the configuration."`
	Packages string `help:"Folder with the packages, as hack/xpkg.sh build writes them." default:"_output/sandbox/packages" placeholder:"DIR"`
}

// A story is what a sandbox begins with.
type story interface {
	steps() []step
	invitation() string
	noStrangers(ctx context.Context) error
	cleanUp(ctx context.Context, n *narrator) error
}

// Run the sandbox.
func (s *sandboxCommand) Run(ctx context.Context, out io.Writer) error {
	packages := ""
	if s.Core {
		packages = s.Packages
	}
	box, err := s.start(ctx, out, packages)
	if err != nil {
		return err
	}
	defer box.Stop()
	tale, chapters, err := s.story(box)
	if err != nil {
		return err
	}
	if err := tale.noStrangers(ctx); err != nil {
		return err
	}
	n := &narrator{out: out, failed: box.Failed}
	if err := n.tell(ctx, chapters); err != nil {
		return errors.Join(err, tale.cleanUp(ctx, n))
	}
	_, _ = fmt.Fprint(out, tale.invitation())
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(out, "\nEnding all of it.")
			return tale.cleanUp(ctx, n)
		case <-ticker.C:
			if err := box.Failed(); err != nil {
				return err
			}
		}
	}
}

// story of the sandbox, and those of its steps that are told.
func (s *sandboxCommand) story(box *sandbox.Sandbox) (story, []step, error) {
	if s.Core {
		t, err := newSelfService(box)
		if err != nil {
			return nil, nil, err
		}
		return t, t.steps(), nil
	}
	t, err := newTale(box)
	if err != nil {
		return nil, nil, err
	}
	// The first chapter of the tale is what there is to play with.
	return t, t.steps()[:1], nil
}

func main() {
	os.Exit(run())
}

// run returns the exit code. What was started has been ended by then, however
// it went.
func run() int {
	ctrl.SetLogger(klog.Background())
	// The second signal ends at once; on Linux all that was started ends too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	var c commands
	k := kong.Parse(&c,
		kong.Name("sandbox"),
		kong.Description("Runs a control plane, a gateway and the provider on this machine. Needs no container runtime and no cluster."),
		kong.Vars{"version": version},
		kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)),
	)
	if err := k.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			_, _ = fmt.Fprintln(os.Stderr, "\nsandbox: interrupted; all that was started has ended")
			return 130
		}
		_, _ = fmt.Fprintf(os.Stderr, "\nsandbox: %v\n", err)
		return 1
	}
	return 0
}
