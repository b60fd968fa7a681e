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
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGenerated holds the definitions against what they are made from: the schema of an
// APIProduct's APIs is that of a RestApi.
func TestGenerated(t *testing.T) {
	root, out := filepath.Join("..", ".."), t.TempDir()
	if err := generate(root, out); err != nil {
		t.Fatal(err)
	}
	for _, f := range templates {
		want, err := os.ReadFile(filepath.Join(out, f))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "package", "configuration", f))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("package/configuration/%s is not what is generated; run go run ./hack/configuration (-generated +there):\n%s", f, diff)
		}
	}
}

func TestSchemaOf(t *testing.T) {
	kind := func() map[string]any {
		return map[string]any{"properties": map[string]any{"spec": map[string]any{
			"default":  "x",
			"required": []any{"a", "b"},
			"properties": map[string]any{
				"a": map[string]any{"type": "string", "description": "A is kind a."},
				"b": map[string]any{"type": "string"},
			},
		}}}
	}
	type want struct {
		schema any
		err    bool
	}
	cases := map[string]struct {
		reason string
		args   map[string]any
		want   want
	}{
		"AsItIs": {
			reason: "Without more, the schema is taken as it is.",
			args:   map[string]any{"kind": "Thing", "path": []any{"spec", "b"}},
			want:   want{schema: map[string]any{"type": "string"}},
		},
		"Changed": {
			reason: "A property that is dropped or optional is not required, and the rest is as asked for.",
			args: map[string]any{
				"kind": "Thing", "path": []any{"spec"}, "drop": []any{"b"}, "optional": []any{"a"}, "without": []any{"default"},
				"merge": map[string]any{"type": "object"}, "rename": map[string]any{"kind a": "kind b"},
			},
			want: want{schema: map[string]any{
				"type":       "object",
				"properties": map[string]any{"a": map[string]any{"type": "string", "description": "A is kind b."}},
			}},
		},
		"NoSuchProperty": {
			reason: "What is to be dropped and is not there was renamed, which somebody has to look at.",
			args:   map[string]any{"kind": "Thing", "path": []any{"spec"}, "drop": []any{"c"}},
			want:   want{err: true},
		},
		"NoSuchPath": {
			reason: "The same goes for a path.",
			args:   map[string]any{"kind": "Thing", "path": []any{"status"}},
			want:   want{err: true},
		},
		"NoSuchKind": {
			reason: "And for a kind.",
			args:   map[string]any{"kind": "Other"},
			want:   want{err: true},
		},
		"NoSuchOption": {
			reason: "A misspelt option is an error.",
			args:   map[string]any{"kind": "Thing", "dropped": []any{"a"}},
			want:   want{err: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := generator{schemas: map[string]map[string]any{"Thing": kind()}}
			got, err := g.schemaOf(tc.args)
			if (err != nil) != tc.want.err {
				t.Fatalf("%s\nschemaOf(…): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want.schema, got); diff != "" {
				t.Errorf("%s\nschemaOf(…) (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(kind(), g.schemas["Thing"]); diff != "" {
				t.Errorf("the kind's own schema was changed (-before +after):\n%s", diff)
			}
		})
	}
}
