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

package chart

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

const (
	// release and namespace that the chart is installed as and in.
	release   = "provider-apiplatform"
	namespace = "crossplane-system"

	// patience is how long a test waits for what must come true. The garbage collector
	// looks for new kinds twice a minute.
	patience = 90 * time.Second
	// tick is how often it looks.
	tick = 50 * time.Millisecond
)

// update writes the table of values into the chart's README, instead of comparing it.
var update = flag.Bool("update", false, "write the table of values into the chart's README")

// shared is what all tests share.
var shared struct {
	plane  *controlplane.ControlPlane
	kube   client.Client
	scheme *runtime.Scheme
	// root of the repository, and the chart in it.
	root, chart string
	// helm and provider are binaries.
	helm, provider string
	// dir is for files that nobody needs later, audit the log of what the API server
	// was asked for.
	dir, audit string
	// life of the gateways, which is that of all tests.
	life context.Context
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared.life = ctx
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "apiplatform-chart-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // Nobody is left to be told.
	shared.dir = dir
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.plane.Stop()
	return m.Run()
}

// auditPolicy has all that ServiceAccounts ask for, and of reviews of their rights what
// they ask about.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  userGroups: ["system:serviceaccounts"]
  resources: [{group: authorization.k8s.io, resources: [selfsubjectaccessreviews]}]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// prepare what all tests share.
func prepare(ctx context.Context) (err error) {
	if shared.root, err = controlplane.FindRoot(); err != nil {
		return err
	}
	shared.chart = filepath.Join(shared.root, "cluster", "charts", "provider-apiplatform")
	if shared.helm, err = controlplane.FindBinary(ctx, "helm"); err != nil {
		return err
	}
	shared.provider = filepath.Join(shared.dir, "provider")
	build := exec.CommandContext(ctx, "go", "build", "-o", shared.provider, "./cmd/provider")
	build.Dir, build.Env = shared.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return errors.Wrapf(err, "cannot build the provider: %s", out)
	}
	policy := filepath.Join(shared.dir, "audit-policy.yaml")
	shared.audit = filepath.Join(shared.dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return errors.Wrap(err, "cannot write the audit policy")
	}
	if shared.plane, err = controlplane.Start(ctx, controlplane.Options{
		APIServerArgs: []string{
			"--audit-policy-file=" + policy,
			"--audit-log-path=" + shared.audit,
			// OpenShift has it. With it, who creates what an object owns must have rights to
			// that object's finalizers.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		},
	}); err != nil {
		return err
	}
	shared.scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apis.AddToScheme} {
		if err := add(shared.scheme); err != nil {
			shared.plane.Stop()
			return errors.Wrap(err, "cannot build the scheme")
		}
	}
	if shared.kube, err = client.New(shared.plane.RESTConfig(), client.Options{Scheme: shared.scheme}); err != nil {
		shared.plane.Stop()
		return errors.Wrap(err, "cannot build a client")
	}
	return nil
}

// helm runs Helm, which knows nothing of its user's settings, and returns what it says.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, complaints bytes.Buffer
	// A test cleans up when its context is done.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), shared.helm, args...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+shared.plane.Kubeconfig(),
		"HELM_CACHE_HOME="+filepath.Join(shared.dir, "helm-cache"),
		"HELM_CONFIG_HOME="+filepath.Join(shared.dir, "helm-config"),
		"HELM_DATA_HOME="+filepath.Join(shared.dir, "helm-data"),
	)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	return out.String(), errors.Wrapf(err, "helm %s: %s", strings.Join(args, " "), complaints.String())
}

// mustHelm is helm, where it has to go well.
func mustHelm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := helm(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// valuesFile is a file with values for Helm.
func valuesFile(t *testing.T, values string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() error) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("waited %s in vain until %s: %v", patience, what, err)
		case <-t.Context().Done():
			t.Fatalf("the test ended while it waited until %s: %v", what, err)
		case <-ticker.C:
		}
	}
}
