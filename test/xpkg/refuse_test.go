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

package xpkg

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	goodMeta = `apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: configuration-test
  annotations:
    meta.crossplane.io/maintainer: The maintainers
    meta.crossplane.io/source: https://example.org/test
    meta.crossplane.io/license: Apache-2.0
    meta.crossplane.io/description: A configuration to test with.
    meta.crossplane.io/readme: It is there to test with.
`
	composition = `apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: test
`
	configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: test
`
)

// TestRefuse has the builder refuse what Crossplane would refuse later, and say in
// which file it is and what to do.
func TestRefuse(t *testing.T) {
	builder := tool(t, "xpkg")
	script := "#!/bin/sh\necho hello\n"
	cases := map[string]struct {
		reason string
		files  map[string]string
		args   []string
		noDate bool
		want   []string
	}{
		"Good": {
			reason: "Each of the others has one thing that this one has not.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "package/composition.yaml": "# Nothing but a comment.\n---\n" + composition},
		},
		"NoMeta": {
			reason: "Nobody knows what is in it.",
			want:   []string{"package/crossplane.yaml", "no such file"},
		},
		"NotMeta": {
			reason: "Only a description says what a package is.",
			files:  map[string]string{"package/crossplane.yaml": composition},
			want:   []string{"package/crossplane.yaml", "a Provider, Function or Configuration of meta.pkg.crossplane.io/v1"},
		},
		"TwoMetas": {
			reason: "It cannot be two packages.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta + "---\n" + goodMeta},
			want:   []string{"package/crossplane.yaml", "one object"},
		},
		"NoLicense": {
			reason: "People want to know what they install.",
			files:  map[string]string{"package/crossplane.yaml": strings.Replace(goodMeta, "meta.crossplane.io/license", "meta.crossplane.io/licence", 1)},
			want:   []string{"package/crossplane.yaml", "no annotation meta.crossplane.io/license", "add it"},
		},
		"Alien": {
			reason: "Crossplane installs no ConfigMaps.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "package/map.yaml": configMap},
			want:   []string{"package/map.yaml", "v1 ConfigMap", "it can have apiextensions.crossplane.io/v1 CompositeResourceDefinition"},
		},
		"Twice": {
			reason: "It is not known which one is meant.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "package/a.yaml": composition, "package/b.yaml": composition},
			want:   []string{"package/a.yaml", "package/b.yaml", "Composition test", "remove one"},
		},
		"NotYAML": {
			reason: "Crossplane could not read it.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "package/a.yaml": "a: b: c\n"},
			want:   []string{"package/a.yaml", "cannot read"},
		},
		"NoObject": {
			reason: "An example that is not an object cannot be applied.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "examples/values.yaml": "replicas: 1\n"},
			args:   []string{"--examples", "examples"},
			want:   []string{"examples/values.yaml", "lacks apiVersion, kind or metadata.name"},
		},
		"NoExamples": {
			reason: "A folder that is not there is a mistake.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta},
			args:   []string{"--examples", "examples"},
			want:   []string{"examples", "no such file"},
		},
		"Script": {
			reason: "There is no shell in the image.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta, "run.sh": script},
			args:   []string{"--binary", "run.sh"},
			want:   []string{"run.sh", "no binary for Linux", "GOOS=linux"},
		},
		"NoTime": {
			reason: "The clock would make each build another one.",
			files:  map[string]string{"package/crossplane.yaml": goodMeta},
			noDate: true,
			want:   []string{"SOURCE_DATE_EPOCH is not set", "git log"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tc.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), builder, append([]string{"build", "--meta", "package/crossplane.yaml", "--objects", "package"}, tc.args...)...)
			cmd.Dir = dir
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SOURCE_DATE_EPOCH=") })
			if !tc.noDate {
				cmd.Env = append(cmd.Env, "SOURCE_DATE_EPOCH=1")
			}
			out, err := cmd.CombinedOutput()
			if (err != nil) != (len(tc.want) > 0) {
				t.Errorf("%s It ended with %v:\n%s", tc.reason, err, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s It does not say %q:\n%s", tc.reason, want, out)
				}
			}
		})
	}
}
