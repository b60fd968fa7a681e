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

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason  string
		content string
		want    []*unstructured.Unstructured
		fails   bool
	}{
		"Objects": {
			reason:  "Their order stays, and whole numbers do.",
			content: "# Two.\n---\nkind: B\nspec: {count: 1}\n---\n\n---\n# Nothing.\n---\nkind: A\nspec: {count: 1.5}\n",
			want: []*unstructured.Unstructured{
				{Object: map[string]any{"kind": "B", "spec": map[string]any{"count": int64(1)}}},
				{Object: map[string]any{"kind": "A", "spec": map[string]any{"count": 1.5}}},
			},
		},
		"Part":    {reason: "Values of a chart have no kind.", content: "networkPolicy: {enabled: true}", want: []*unstructured.Unstructured{{Object: map[string]any{"networkPolicy": map[string]any{"enabled": true}}}}},
		"Nothing": {reason: "There need not be any.", content: "---\n"},
		"Twice":   {reason: "One of two values would be lost.", content: "kind: A\nkind: B\n", fails: true},
		"Broken":  {reason: "It is no YAML.", content: "kind: [\n", fails: true},
		"List":    {reason: "It is no object.", content: "- kind: A\n", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.content))
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.fails {
				t.Errorf("%s Parse(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
