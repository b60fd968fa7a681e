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
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kyaml "sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// item stands in a path for an item of a list.
const item = "[]"

// A field of a kind's spec, by its path from there.
type field struct {
	path   []string
	schema *apiextensionsv1.JSONSchemaProps
}

func (f field) String() string { return strings.ReplaceAll(strings.Join(f.path, "."), "."+item, item) }

// name that a refusal has to say: that of the list for an item of one.
func (f field) name() string {
	for i := len(f.path) - 1; ; i-- {
		if f.path[i] != item {
			return f.path[i]
		}
	}
}

// fieldsOf reads from its CRD what fields the spec of a kind has.
func fieldsOf(t *testing.T, kind string) []field {
	t.Helper()
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "package", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := kyaml.UnmarshalStrict(content, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if crd.Spec.Names.Kind != kind {
			continue
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		return fieldsBelow(nil, &spec)
	}
	t.Fatalf("no CRD of %s", kind)
	return nil
}

func fieldsBelow(path []string, s *apiextensionsv1.JSONSchemaProps) []field {
	var out []field
	add := func(name string, s *apiextensionsv1.JSONSchemaProps) {
		f := field{path: append(slices.Clone(path), name), schema: s}
		out = append(append(out, f), fieldsBelow(f.path, s)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s := s.Properties[name]
		add(name, &s)
	}
	if s.Items != nil {
		add(item, s.Items.Schema)
	}
	return out
}

// locate a field in a spec: the path with an index for every item, how much of it
// is there, and what the field's value is, if it is there.
func locate(v any, path []string) (at []any, depth int, value any) {
	if len(path) == 0 {
		return nil, 0, v
	}
	rest := func(step any, below any, there bool) ([]any, int, any) {
		if !there {
			return append([]any{step}, zeroes(path[1:])...), 0, nil
		}
		at, depth, value := locate(below, path[1:])
		return append([]any{step}, at...), depth + 1, value
	}
	if path[0] != item {
		m, _ := v.(map[string]any)
		below, there := m[path[0]]
		return rest(path[0], below, there)
	}
	list, _ := v.([]any)
	at, depth, value = rest(0, nil, false)
	for i, below := range list {
		// The first item that has the field, or most of the way to it.
		if a, d, v := rest(i, below, true); d > depth {
			at, depth, value = a, d, v
		}
	}
	return at, depth, value
}

func zeroes(path []string) []any {
	out := []any{}
	for _, step := range path {
		if step == item {
			out = append(out, 0)
		} else {
			out = append(out, step)
		}
	}
	return out
}

// put a value at a path in a copy of a spec, or take away what is there.
func put(v any, at []any, value any, absent bool) any {
	if len(at) == 0 {
		return value
	}
	switch step := at[0].(type) {
	case string:
		m, _ := v.(map[string]any)
		out := maps.Clone(m)
		if out == nil {
			out = map[string]any{}
		}
		if absent && len(at) == 1 {
			delete(out, step)
		} else {
			out[step] = put(out[step], at[1:], value, absent)
		}
		return out
	case int:
		list, _ := v.([]any)
		out := slices.Clone(list)
		if absent && len(at) == 1 && step < len(out) {
			return slices.Delete(out, step, step+1)
		}
		if step >= len(out) {
			return append(out, put(nil, at[1:], value, absent))
		}
		out[step] = put(out[step], at[1:], value, absent)
		return out
	}
	panic(fmt.Sprintf("no step of a path: %v", at[0]))
}

// A value that a field is given.
type value struct {
	what   string
	v      any
	absent bool
}

func (v value) String() string {
	if v.absent {
		return v.what
	}
	raw, err := json.Marshal(v.v)
	if err != nil {
		return fmt.Sprintf("%s: %v", v.what, err)
	}
	if len(raw) > 120 {
		return fmt.Sprintf("%s: %s… (%d bytes)", v.what, raw[:80], len(raw))
	}
	return v.what + ": " + string(raw)
}

// valuesOf are the interesting values of a field whose good value is given. There
// are none for a schema that this walk does not know.
func valuesOf(s *apiextensionsv1.JSONSchemaProps, good any) []value {
	var own []value
	switch s.Type {
	case "string":
		own = texts(s, good)
	case "integer":
		own = integers(s)
	case "boolean":
		on, _ := good.(bool)
		own = []value{{what: "the other", v: !on}, {what: "as text", v: strconv.FormatBool(on)}, {what: "as number", v: int64(1)}}
	case "object":
		own = objects(s)
	case "array":
		own = lists(s, good)
	}
	if len(own) == 0 {
		return nil
	}
	own = append(own, value{what: "absent", absent: true}, value{what: "null"})
	for kind, wrong := range map[string]any{"string": "text", "integer": int64(7), "object": map[string]any{"a": "b"}, "array": []any{"a"}} {
		if kind != s.Type {
			own = append(own, value{what: "wrong type", v: wrong})
		}
	}
	// None twice, nor the good one.
	seen := map[string]bool{value{v: good}.String(): good != nil}
	return slices.DeleteFunc(own, func(v value) bool {
		key := value{v: v.v, absent: v.absent}.String()
		if v.what == "longest" || v.what == "too long" {
			key = v.String()
		}
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

func texts(s *apiextensionsv1.JSONSchemaProps, good any) []value {
	var out []value
	g, _ := good.(string)
	if len(s.Enum) > 0 {
		for _, e := range s.Enum {
			var text string
			if json.Unmarshal(e.Raw, &text) == nil {
				out = append(out, value{what: "one of them", v: text}, value{what: "letter case", v: swapped(text)})
			}
		}
		return append(out, value{what: "none of them", v: "other"}, value{what: "empty", v: ""}, value{what: "blank", v: " "})
	}
	if s.Format == "date-time" {
		for _, text := range []string{"2031-02-03T04:05:06.789+05:30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2031-02-30T00:00:00Z", "2031-02-03", "yesterday",
			"2031-01-02t03:04:05z", "2031-01-02T03:04:05x5Z", "2031-01-02T03:04:05+99:99", "2031-01-02T03:04:05,5Z", "2031-01-02T03:04:05.123456789012Z"} {
			out = append(out, value{what: "a time", v: text})
		}
	}
	out = append(out,
		value{what: "empty", v: ""}, value{what: "blank", v: "   "}, value{what: "unicode", v: "é漢\U0001f600"}, value{what: "right to left", v: "\u202egpj"},
		value{what: "zero byte", v: g + "\x00"}, value{what: "bell", v: "a\ab"}, value{what: "line break", v: g + "\nb"},
		value{what: "space before", v: " " + g}, value{what: "space after", v: g + " "}, value{what: "non-breaking space after", v: g + "\u00a0"}, value{what: "unicode within", v: g + "ü"},
		value{what: "slash", v: g + "/../x"}, value{what: "number", v: "7"}, value{what: "template", v: "{{ env \"X\" }}"},
	)
	longest := int64(300)
	if s.MaxLength != nil {
		longest = *s.MaxLength
	}
	if longest > 1<<14 {
		// An object has to fit into a request.
		longest = 1 << 14
	}
	for _, end := range []bool{true, false} {
		out = append(out, value{what: "longest", v: grown(g, int(longest), end)})
		if s.MaxLength != nil {
			out = append(out, value{what: "too long", v: grown(g, int(*s.MaxLength)+1, end)})
		}
	}
	return out
}

func swapped(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	return strings.ToLower(s)
}

// grown repeats the last or the first letter or digit of a text until it is of a
// length, which keeps many a text as valid as it is.
func grown(s string, length int, end bool) string {
	if s == "" {
		s = "a"
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	at := strings.IndexFunc(s, word)
	if end {
		at = strings.LastIndexFunc(s, word)
	}
	if at < 0 || len(s) >= length {
		return strings.Repeat("a", length)
	}
	return s[:at] + strings.Repeat(s[at:at+1], length-len(s)) + s[at:]
}

func integers(s *apiextensionsv1.JSONSchemaProps) []value {
	out := []value{
		{what: "zero", v: int64(0)}, {what: "one", v: int64(1)}, {what: "negative", v: int64(-1)}, {what: "fraction", v: 1.5}, {what: "as text", v: "1"},
		{what: "huge", v: int64(math.MaxInt64)}, {what: "float", v: 1e6}, {what: "beyond", v: 1e30},
	}
	if s.Minimum != nil {
		out = append(out, value{what: "least", v: int64(*s.Minimum)}, value{what: "too little", v: int64(*s.Minimum) - 1})
	}
	if s.Maximum != nil {
		out = append(out, value{what: "most", v: int64(*s.Maximum)}, value{what: "too much", v: int64(*s.Maximum) + 1})
	}
	return out
}

func objects(s *apiextensionsv1.JSONSchemaProps) []value {
	out := []value{{what: "empty", v: map[string]any{}}}
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		return append(out,
			value{what: "nulls", v: map[string]any{"a": nil, "b": []any{nil, map[string]any{"c": nil}}}},
			value{what: "numbers", v: map[string]any{"a": 1e21, "b": 1.0, "c": int64(math.MaxInt64), "d": 0.1}},
			value{what: "texts", v: map[string]any{"": "", "é\x00\u2028": "<&>\"\\ü\x00", "{{": "}}"}},
			value{what: "deep", v: deep(50)},
		)
	}
	if s.AdditionalProperties == nil {
		return out
	}
	most := int64(64)
	if s.MaxProperties != nil {
		most = *s.MaxProperties
		out = append(out, value{what: "too many", v: many(most + 1)})
	}
	return append(out,
		value{what: "most", v: many(most)}, value{what: "empty key", v: map[string]any{"": "x"}}, value{what: "blank key", v: map[string]any{" ": "x"}},
		value{what: "space in key", v: map[string]any{"a\tb": "x"}}, value{what: "odd texts", v: map[string]any{"é/{}\a": "漢\x00\n", "a": ""}},
		value{what: "number for text", v: map[string]any{"a": int64(7)}}, value{what: "null for text", v: map[string]any{"a": nil}}, value{what: "long", v: map[string]any{strings.Repeat("k", 400): strings.Repeat("v", 4000)}},
	)
}

func deep(levels int) any {
	if levels == 0 {
		return map[string]any{"end": true}
	}
	return map[string]any{"a": []any{deep(levels - 1)}}
}

func many(n int64) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("key-%d", i)] = "x"
	}
	return out
}

func lists(s *apiextensionsv1.JSONSchemaProps, good any) []value {
	g, _ := good.([]any)
	out := []value{{what: "empty", v: []any{}}, {what: "null within", v: append(slices.Clone(g), nil)}, {what: "number within", v: append(slices.Clone(g), int64(7))}, {what: "text within", v: append(slices.Clone(g), "x")}}
	if len(g) == 0 {
		return out
	}
	out = append(out, value{what: "one twice", v: append(slices.Clone(g), g[0])}, value{what: "without the last", v: slices.Clone(g[:len(g)-1])})
	if len(g) > 1 {
		back := slices.Clone(g)
		slices.Reverse(back)
		out = append(out, value{what: "the other way round", v: back})
	}
	if s.MaxItems != nil {
		out = append(out, value{what: "most", v: copies(g[0], int(*s.MaxItems))}, value{what: "too many", v: copies(g[0], int(*s.MaxItems)+1)})
	}
	return out
}

// copies of an item that differ where it has a name, or is one.
func copies(one any, n int) []any {
	out := make([]any, n)
	for i := range out {
		switch v := runtime.DeepCopyJSONValue(one).(type) {
		case string:
			out[i] = fmt.Sprintf("%s%d", v, i)
		case map[string]any:
			if name, ok := v["name"].(string); ok && i > 0 {
				v["name"] = fmt.Sprintf("%s%d", name, i)
			}
			out[i] = v
		default:
			out[i] = v
		}
	}
	return out
}
