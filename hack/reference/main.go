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

// Reference writes docs/reference.md from the custom resource definitions: each
// field with its type, its default, what it must be, and what it means.
//
// usage: reference FOLDER-OF-CRDS FILE
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// order in which people look for the kinds. Others follow by name.
var order = []string{"Subscription", "SubscriptionPlan", "RestApi", "ClusterProviderConfig", "ProviderConfig"}

const preface = `# Reference

Every field of every kind. This page is generated from the [CRDs](../package/crds) by ` + "`make generate`" + `; to change it, change the comments in [apis](../apis).

A field of a list is written ` + "`list[].field`" + `. A *default* is filled in by the API server. What is under *must be* is checked by the API server too, so an
object that does not fit is refused and nothing happens at a gateway. Conditions are explained in [conditions.md](conditions.md), how to use the fields in the
[tasks](README.md#tasks).
`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: reference FOLDER-OF-CRDS FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "reference: %v\n", err)
		os.Exit(1)
	}
}

func run(folder, file string) error {
	crds, err := read(folder)
	if err != nil {
		return err
	}
	page, err := render(crds)
	if err != nil {
		return err
	}
	return errors.Wrap(os.WriteFile(file, page, 0o644), "cannot write the reference") //nolint:gosec // A page that everybody may read.
}

// read all custom resource definitions in a folder, those first that people look for.
func read(folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot list %s", folder)
	}
	if len(files) == 0 {
		return nil, errors.Errorf("there are no CRDs in %s; run make generate", folder)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(files))
	for _, f := range files {
		content, err := os.ReadFile(f) //nolint:gosec // In the folder that was named.
		if err != nil {
			return nil, errors.Wrap(err, "cannot read a CRD")
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			return nil, errors.Wrapf(err, "cannot parse %s", f)
		}
		crds = append(crds, crd)
	}
	place := func(c *apiextensionsv1.CustomResourceDefinition) int {
		if i := slices.Index(order, c.Spec.Names.Kind); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(crds, func(a, b *apiextensionsv1.CustomResourceDefinition) int { return place(a) - place(b) })
	return crds, nil
}

// render the page.
func render(crds []*apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(preface)
	b.WriteString("\n| kind | short name | group and version | lives in |\n|---|---|---|---|\n")
	for _, c := range crds {
		names := c.Spec.Names
		short := "–"
		if len(names.ShortNames) > 0 {
			short = code(strings.Join(names.ShortNames, ", "))
		}
		where := "a namespace"
		if c.Spec.Scope == apiextensionsv1.ClusterScoped {
			where = "the cluster"
		}
		for _, v := range c.Spec.Versions {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | `%s/%s` | %s |\n", names.Kind, strings.ToLower(names.Kind), short, c.Spec.Group, v.Name, where)
		}
	}
	for _, c := range crds {
		for _, v := range c.Spec.Versions {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				return nil, errors.Errorf("version %s of %s has no schema", v.Name, c.Name)
			}
			if err := section(&b, c, v.Schema.OpenAPIV3Schema); err != nil {
				return nil, errors.Wrapf(err, "cannot describe %s", c.Name)
			}
		}
	}
	return b.Bytes(), nil
}

// A row of a table: a field.
type row struct {
	path, kind, preset, limits, meaning string
}

// section about one kind.
func section(b *bytes.Buffer, c *apiextensionsv1.CustomResourceDefinition, root *apiextensionsv1.JSONSchemaProps) error {
	kind := c.Spec.Names.Kind
	fmt.Fprintf(b, "\n## %s\n\n%s\n", kind, prose(root.Description))
	// A rule of the whole object that is about one field belongs to that.
	rules, general := map[string][]string{}, []string(nil)
	for _, r := range root.XValidations {
		if r.FieldPath == "" {
			general = append(general, prose(r.Message))
			continue
		}
		path := strings.TrimPrefix(r.FieldPath, ".")
		rules[path] = append(rules[path], prose(r.Message))
	}
	if len(general) > 0 {
		b.WriteString("\n")
	}
	for _, g := range general {
		fmt.Fprintf(b, "- %s\n", g)
	}
	parts := make([]string, 0, len(root.Properties))
	for name := range root.Properties {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	for _, part := range parts {
		p := root.Properties[part]
		rows, err := fields(part, &p, slices.Contains(root.Required, part))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n### %s: %s\n\n| field | type | default | must be | meaning |\n|---|---|---|---|---|\n", kind, part)
		for _, r := range rows {
			said := append([]string{}, rules[r.path]...)
			if r.limits != "" {
				said = append([]string{r.limits}, said...)
			}
			delete(rules, r.path)
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", r.path, r.kind, r.preset, strings.Join(said, "; "), r.meaning)
		}
	}
	for path := range rules {
		return errors.Errorf("a rule is about %s, which is no field", path)
	}
	return nil
}

// fields below and including a path, depth first.
func fields(path string, s *apiextensionsv1.JSONSchemaProps, required bool) ([]row, error) {
	element, suffix := s, ""
	if s.Type == "array" {
		if s.Items == nil || s.Items.Schema == nil {
			return nil, errors.Errorf("the list %s has no elements", path)
		}
		element, suffix = s.Items.Schema, "[]"
	}
	preset := ""
	if s.Default != nil {
		preset = code(string(s.Default.Raw))
	}
	rows := []row{{path: path, kind: typeOf(s), preset: preset, limits: limits(s, element, required), meaning: meaning(s, element)}}
	if isConditions(path, element) {
		rows[0].meaning = "See [conditions.md](conditions.md)."
		return rows, nil
	}
	names := make([]string, 0, len(element.Properties))
	for name := range element.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := element.Properties[name]
		below, err := fields(path+suffix+"."+name, &p, slices.Contains(element.Required, name))
		if err != nil {
			return nil, err
		}
		rows = append(rows, below...)
	}
	return rows, nil
}

// isConditions tells whether a list is that of Kubernetes' conditions, which has a page of
// its own.
func isConditions(path string, element *apiextensionsv1.JSONSchemaProps) bool {
	_, reason := element.Properties["reason"]
	_, message := element.Properties["message"]
	return strings.HasSuffix(path, ".conditions") && reason && message
}

func typeOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.Type == "array":
		return "list of " + typeOf(s.Items.Schema)
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(s.AdditionalProperties.Schema)
	case s.Type == "" || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && len(s.Properties) == 0:
		return "anything"
	case s.Format == "date-time":
		return "time"
	default:
		return s.Type
	}
}

// limits says what a field must be, in the words of its rules where it has some.
func limits(s, element *apiextensionsv1.JSONSchemaProps, required bool) string {
	var said []string
	if required {
		said = append(said, "given")
	}
	of := []*apiextensionsv1.JSONSchemaProps{s}
	if element != s {
		of = append(of, element)
	}
	for _, p := range of {
		if len(p.Enum) > 0 {
			values := make([]string, 0, len(p.Enum))
			for _, v := range p.Enum {
				values = append(values, code(strings.Trim(string(v.Raw), `"`)))
			}
			said = append(said, "one of "+strings.Join(values, ", "))
		}
		said = append(said, between(p.MinLength, p.MaxLength, "characters"), between(p.MinItems, p.MaxItems, "elements"))
		if p.Minimum != nil {
			said = append(said, "at least "+number(*p.Minimum))
		}
		if p.Maximum != nil {
			said = append(said, "at most "+number(*p.Maximum))
		}
		if p.Pattern != "" && len(p.XValidations) == 0 {
			said = append(said, "of the form "+code(p.Pattern))
		}
		for _, v := range p.XValidations {
			said = append(said, prose(v.Message))
		}
	}
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	return strings.Join(said, "; ")
}

func between(low, high *int64, what string) string {
	switch {
	case low != nil && *low > 0 && high != nil && *low == *high:
		return fmt.Sprintf("%d %s", *low, what)
	case low != nil && *low > 0 && high != nil:
		return fmt.Sprintf("%d to %d %s", *low, *high, what)
	case low != nil && *low > 0:
		return fmt.Sprintf("at least %d %s", *low, what)
	case high != nil:
		return fmt.Sprintf("at most %d %s", *high, what)
	default:
		return ""
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func meaning(s, element *apiextensionsv1.JSONSchemaProps) string {
	if s.Description == "" {
		return prose(element.Description)
	}
	return prose(s.Description)
}

// prose on one line that means nothing to a table or to HTML.
func prose(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(strings.Join(strings.Fields(s), " "))
}

// code on one line, within a table.
func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }
