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

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// What a field must be is told in full, and in the words of its rules.
func TestFields(t *testing.T) {
	str := apiextensionsv1.JSONSchemaProps{Type: "string"}
	cases := map[string]struct {
		reason string
		schema apiextensionsv1.JSONSchemaProps
		want   []row
	}{
		"Plain": {
			reason: "A field without limits has none.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "boolean", Description: "Whether\nit is."},
			want:   []row{{path: "spec", kind: "boolean", meaning: "Whether it is."}},
		},
		"Limited": {
			reason: "All limits are told.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "string", MinLength: ptr.To(int64(1)), MaxLength: ptr.To(int64(64)), Pattern: "^a|b$"},
			want:   []row{{path: "spec", kind: "string", limits: "1 to 64 characters; of the form `^a\\|b$`"}},
		},
		"Rules": {
			reason: "Where there is a rule in words, the pattern says nothing more.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "string", Pattern: "^a$", XValidations: apiextensionsv1.ValidationRules{{Rule: "x", Message: "must be a"}}},
			want:   []row{{path: "spec", kind: "string", limits: "must be a"}},
		},
		"Numbers": {
			reason: "Bounds of numbers are exact.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: ptr.To(1.0), Maximum: ptr.To(9007199254740992.0)},
			want:   []row{{path: "spec", kind: "integer", limits: "at least 1; at most 9007199254740992"}},
		},
		"List": {
			reason: "Fields of the elements of a list follow, and what is required is told.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "array", MaxItems: ptr.To(int64(3)), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Required: []string{"b"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"b": str, "a": str},
			}}},
			want: []row{
				{path: "spec", kind: "list of object", limits: "at most 3 elements"},
				{path: "spec[].a", kind: "string"},
				{path: "spec[].b", kind: "string", limits: "given"},
			},
		},
		"Choice": {
			reason: "What can be chosen and what is chosen for you are told.",
			schema: apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"A"`)}, Enum: []apiextensionsv1.JSON{{Raw: []byte(`"A"`)}, {Raw: []byte(`"B"`)}}},
			want:   []row{{path: "spec", kind: "string", preset: "`\"A\"`", limits: "one of `A`, `B`"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := fields("spec", &tc.schema, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The page that is there is the one that the CRDs make.
func TestUpToDate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reference.md")
	if err := run(filepath.Join("..", "..", "package", "crds"), file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(is), "\n")); diff != "" {
		t.Errorf("docs/reference.md is not what the CRDs make; run make generate. -want, +got:\n%s", diff)
	}
}
