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

package contract

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// shared is what all tests share.
var shared struct {
	plane *controlplane.ControlPlane
	kube  client.Client
	// life of the gateways, which is that of all tests: the address of one must never
	// become that of another, which would seem to hold what objects of the first left
	// behind recorded.
	life context.Context
}

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait far more than they work.
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared.life = ctx
	ctrl.SetLogger(logr.Discard())

	root, err := controlplane.FindRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{filepath.Join(root, "package", "crds")}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the control plane:", err)
		return 1
	}
	defer plane.Stop()
	shared.plane = plane
	if shared.kube, err = client.New(plane.RESTConfig(), client.Options{Scheme: newScheme()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return m.Run()
}
