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

package composition

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

// How long the function may take to listen.
const startTimeout = 30 * time.Second

// A bench is what the tests of this package share: the tools, and a running function.
type bench struct {
	root string
	// cli is Crossplane's command line tool, and core its core, which renders.
	cli, core string
	// functions is a file that tells the tool where the function listens.
	functions string
	// schemas are files and folders with the schemas of all that is composed.
	schemas []string
}

var shared bench

func TestMain(m *testing.M) {
	code, err := prepare(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepare(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if shared.root, err = controlplane.FindRoot(); err != nil {
		return 1, err
	}
	if shared.cli, err = controlplane.FindBinary(ctx, "crossplane-cli"); err != nil {
		return 1, err
	}
	if shared.core, err = controlplane.FindBinary(ctx, "crossplane-core"); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "composition")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	shared.schemas = []string{filepath.Join(shared.root, "package", "crds"), filepath.Join(filepath.Dir(shared.core), "cluster", "crds")}
	definitions, err := filepath.Glob(filepath.Join(shared.root, "package", "configuration", "*", "definition.yaml"))
	if err != nil || len(definitions) == 0 {
		return 1, fmt.Errorf("there are no definitions in package/configuration (%w)", err)
	}
	shared.schemas = append(shared.schemas, definitions...)

	stop, err := startFunction(ctx, dir)
	if err != nil {
		return 1, err
	}
	defer stop()
	return m.Run(), nil
}

// startFunction builds the function and starts it as a process of its own.
func startFunction(ctx context.Context, dir string) (func(), error) {
	binary := filepath.Join(dir, "function")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/function-apiplatform")
	build.Dir = shared.root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot build the function: %w\n%s", err, out)
	}
	port, err := controlplane.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	p, err := process.Start(ctx, process.Options{
		Name: "function", Path: binary, LogPath: filepath.Join(dir, "function.log"),
		Args: []string{"--insecure", "--address", address, "--metrics-bind-address", "0"},
	})
	if err != nil {
		return nil, err
	}
	stop := func() { p.Stop(5 * time.Second) }

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			break
		}
		select {
		case <-ctx.Done():
			stop()
			return nil, fmt.Errorf("the function does not listen: %w\n%s", err, p.Tail(20))
		case <-p.Done():
			return nil, fmt.Errorf("the function ended: %w\n%s", p.Err(), p.Tail(20))
		case <-ticker.C:
		}
	}

	shared.functions = filepath.Join(dir, "functions.yaml")
	functions := fmt.Sprintf(`apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: crossplane-contrib-function-apiplatform
  annotations:
    render.crossplane.io/runtime: Development
    render.crossplane.io/runtime-development-target: %s
spec:
  package: xpkg.crossplane.io/crossplane-contrib/function-apiplatform:v0.1.0
`, address)
	if err := os.WriteFile(shared.functions, []byte(functions), 0o600); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// crossplane runs the command line tool.
func crossplane(t *testing.T, stdin []byte, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shared.cli, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	// It keeps a configuration, and looks for packages, in the home directory.
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("crossplane %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return out, nil
}

// validate objects by the schemas of their kinds, which must all be there but for those
// that are said not to be.
func validate(t *testing.T, objects []byte, unknown ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, objects, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := crossplane(t, nil, "resource", "validate", "--crossplane-image=", "--cache-dir", t.TempDir(), strings.Join(shared.schemas, ","), file)
	if err != nil {
		t.Error(err)
		return
	}
	said := string(out)
	for _, u := range unknown {
		said = strings.Replace(said, "could not find CRD/XRD for: "+u+"\n", "", 1)
	}
	if strings.Contains(said, "could not find") || !strings.Contains(said, fmt.Sprintf(" %d missing schemas", len(unknown))) || !strings.Contains(said, " 0 failure cases") || strings.Contains(said, " 0 success cases") {
		t.Errorf("crossplane resource validate says:\n%s", out)
	}
}

// parse the objects of a stream of YAML, by kind and composition name.
func parse(t *testing.T, stream []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	documents := kyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		o := unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			t.Fatal(err)
		}
		if len(o.Object) == 0 {
			continue
		}
		name := strings.TrimSpace(o.GetKind() + " " + o.GetAnnotations()["crossplane.io/composition-resource-name"])
		if _, ok := all[name]; ok {
			t.Fatalf("there are two of %s", name)
		}
		all[name] = o.Object
	}
}

// TestRender has Crossplane's core run the Compositions on the examples.
func TestRender(t *testing.T) {
	examples := filepath.Join(shared.root, "examples", "access")
	testdata := "testdata"
	cases := map[string]struct {
		reason      string
		xr          string
		composition string
		required    []string
		observed    string
	}{
		"product": {
			reason:      "A product becomes its APIs and plans.",
			xr:          filepath.Join(examples, "product.yaml"),
			composition: "apiproduct",
		},
		"access": {
			reason:      "An access becomes a Subscription, and a Usage of the product.",
			xr:          filepath.Join(examples, "access.yaml"),
			composition: "apiaccess",
			required:    []string{filepath.Join(examples, "product.yaml")},
		},
		"access-without-product": {
			reason:      "Without its product, nothing is composed, and a condition says why.",
			xr:          filepath.Join(examples, "access.yaml"),
			composition: "apiaccess",
		},
		"access-kept": {
			reason:      "A Subscription that is there is kept, although its product is gone.",
			xr:          filepath.Join(examples, "access.yaml"),
			composition: "apiaccess",
			observed:    filepath.Join(testdata, "observed-subscription.yaml"),
		},
		"claim": {
			reason:      "The composite resource of a claim composes into the claim's namespace.",
			xr:          filepath.Join(testdata, "claimed.yaml"),
			composition: "legacy",
			required:    []string{filepath.Join(examples, "product.yaml")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := []string{
				"composition", "render", "--crossplane-binary", shared.core, "--include-full-xr",
				"--xrd", filepath.Join(shared.root, "package", "configuration", tc.composition, "definition.yaml"),
				tc.xr, filepath.Join(shared.root, "package", "configuration", tc.composition, "composition.yaml"), shared.functions,
			}
			for _, r := range tc.required {
				args = append(args, "--required-resources", r)
			}
			if tc.observed != "" {
				args = append(args, "--observed-resources", tc.observed)
			}
			out, err := crossplane(t, nil, args...)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(testdata, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parse(t, want), parse(t, out)); diff != "" {
				t.Errorf("%s\ncrossplane composition render (-want +got):\n%s", tc.reason, diff)
			}
			validate(t, out)
		})
	}
}
