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

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// verb is what fmt puts a value in the place of.
var verb = regexp.MustCompile(`%[+#]?[svdqw]|%T`)

// shaped is a text of the sources as a page shows it: an ellipsis for each value.
func shaped(text string) string {
	text = verb.ReplaceAllStringFunc(text, func(v string) string {
		if v == "%q" {
			return `"` + anything + `"`
		}
		return anything
	})
	return strings.Join(strings.Fields(text), " ")
}

// text of an expression that makes one, if it does: literals, and an ellipsis for all
// that is put between them.
func text(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.Ident:
		s, ok := constants[e.Name]
		return s, ok
	case *ast.ParenExpr:
		return text(e.X, constants)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, known := text(e.X, constants)
		right, also := text(e.Y, constants)
		if !known && !also {
			return anything, false
		}
		if !known {
			left = anything
		}
		if !also {
			right = anything
		}
		return left + right, true
	default:
		return "", false
	}
}

// produced is what the provider and the API server can say, by its shape. The second
// result are the texts that are said of what a user asked for, by the helper that says
// them.
func produced(t *testing.T) (all []string, asked map[string]string) {
	t.Helper()
	dir := root(t)
	asked = map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join(dir, "internal"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			return err
		}
		constants := map[string]string{}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						if s, ok := text(spec.Values[i], constants); ok {
							constants[name.Name] = s
						}
					}
				}
			}
			return true
		})
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "problemf" && len(call.Args) > 1 {
					if s, ok := text(call.Args[1], constants); ok && s != "%s" {
						asked[shaped(s)] = files.Position(call.Pos()).String()
					}
				}
			}
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if s, ok := text(e, constants); ok {
				all = append(all, shaped(s))
				// The parts of a text are no texts.
				_, whole := e.(*ast.BinaryExpr)
				return !whole
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	crds, err := filepath.Glob(filepath.Join(dir, "package", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range crds {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			all = append(all, rules(v.Schema.OpenAPIV3Schema)...)
		}
	}
	return all, asked
}

// value in an expression of CEL that makes a message: what stands between two texts.
var value = regexp.MustCompile(`' \+ [^']+ \+ '`)

// rules are the messages of a schema's rules.
func rules(s *apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	for _, r := range s.XValidations {
		all = append(all, shaped(r.Message))
		if r.MessageExpression != "" {
			all = append(all, shaped(strings.Trim(value.ReplaceAllString(r.MessageExpression, anything), "'")))
		}
	}
	for name := range s.Properties {
		p := s.Properties[name]
		all = append(all, rules(&p)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		all = append(all, rules(s.Items.Schema)...)
	}
	return all
}

// A quoted message of a page.
type quoted struct {
	line int
	text string
}

// code in a line of Markdown.
var code = regexp.MustCompile("`([^`]+)`")

// messages that docs/troubleshooting.md quotes: what is code in the column of that name.
func messages(content string) []quoted {
	var all []quoted
	column := -1
	for i, line := range strings.Split(content, "\n") {
		if !strings.HasPrefix(line, "|") {
			column = -1
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if column < 0 {
			column = slices.IndexFunc(cells, func(c string) bool { return strings.HasPrefix(strings.TrimSpace(c), "message") })
			if column < 0 {
				// No table of messages.
				column = len(cells)
			}
			continue
		}
		if column >= len(cells) {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[column], -1) {
			all = append(all, quoted{i + 1, m[1]})
		}
	}
	return all
}

// isSaid tells whether a message is one of those that are produced, or made of several, as
// where an error wraps another one.
func isSaid(message string, all []string) bool {
	if slices.Contains(all, message) {
		return true
	}
	long := false
	for _, piece := range strings.Split(message, anything) {
		if piece = bare(piece); piece == "" {
			continue
		}
		if !within(piece, all) && !joined(piece, all) {
			return false
		}
		long = long || len(piece) >= 12
	}
	return long
}

// bare text, without what joins it to others.
func bare(s string) string { return strings.Trim(s, " ;:\"()"+anything) }

func within(piece string, all []string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, piece) })
}

// joined tells whether a piece is the end of one text and the beginning of another.
func joined(piece string, all []string) bool {
	for i, r := range piece {
		if r != ' ' {
			continue
		}
		left, right := bare(piece[:i]), bare(piece[i:])
		if slices.ContainsFunc(all, func(s string) bool { return strings.HasSuffix(bare(s), left) }) &&
			slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(bare(s), right) }) {
			return true
		}
	}
	return false
}

// Every message that docs/troubleshooting.md quotes is one that is produced, and every
// one that says what is wrong with a Subscription is quoted.
func TestMessages(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root(t), "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	all, asked := produced(t)
	quotes := messages(string(content))
	if len(quotes) < 50 {
		t.Fatalf("%d messages are quoted", len(quotes))
	}
	for _, q := range quotes {
		if !isSaid(q.text, all) {
			t.Errorf("docs/troubleshooting.md:%d: nothing says %q", q.line, q.text)
		}
	}
	for message, where := range asked {
		if !slices.ContainsFunc(quotes, func(q quoted) bool { return q.text == message }) {
			t.Errorf("%s: docs/troubleshooting.md does not say what to do about %q", where, message)
		}
	}
}

// A message that nobody says is noticed.
func TestIsSaid(t *testing.T) {
	all := []string{`Secret "…" does not exist; create it with …`, "cannot …", "the gateway answered …", "it is in use"}
	for message, want := range map[string]bool{
		`Secret "…" does not exist; create it with …`: true,
		`Secret "…" does not exist; forget it`:        false,
		`cannot …: the gateway answered …`:            true,
		`it is in use; the gateway answered …`:        true,
		`in use; the gateway refuses …`:               false,
		`cannot …`:                                    true,
		`…`:                                           false,
	} {
		if got := isSaid(message, all); got != want {
			t.Errorf("isSaid(%q) is %t", message, got)
		}
	}
}

// reason in the tables of docs/conditions.md: alone in a cell, or before a colon.
var reason = regexp.MustCompile("`([A-Z][A-Za-z]+)`")

// Every reason of docs/conditions.md is in docs/troubleshooting.md, and every reason of
// Applied is one of those.
func TestReasons(t *testing.T) {
	dir := root(t)
	conditions, err := os.ReadFile(filepath.Join(dir, "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	trouble, err := os.ReadFile(filepath.Join(dir, "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, m := range reason.FindAllStringSubmatch(string(trouble), -1) {
		explained[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^## ([A-Z][A-Za-z]+)(?: and ([A-Z][A-Za-z]+))?$`).FindAllStringSubmatch(string(trouble), -1) {
		explained[m[1]], explained[m[2]] = true, true
	}
	// Up to the events, which are no reasons of conditions.
	about, _, found := strings.Cut(string(conditions), "\n## Events\n")
	if !found {
		t.Fatal("docs/conditions.md has no events")
	}
	// These name conditions, policies and the like.
	other := []string{"Ready", "Synced", "Applied", "Update", "Contested", "Drifted", "TokenInForce", "Reachable", "Authenticated", "Authorized", "Writable", "Never"}
	seen := 0
	for _, m := range reason.FindAllStringSubmatch(about, -1) {
		if slices.Contains(other, m[1]) {
			continue
		}
		seen++
		if !explained[m[1]] {
			t.Errorf("docs/troubleshooting.md says nothing about %s", m[1])
		}
	}
	if seen < 20 {
		t.Errorf("docs/conditions.md has %d reasons", seen)
	}
	// And those in the sources.
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "apis", "gateway", version, "common_types.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		name, ok := text(spec.Values[0], nil)
		if !ok {
			return true
		}
		known++
		if name != "Applied" && !explained[name] {
			t.Errorf("docs/troubleshooting.md says nothing about %s", name)
		}
		return true
	})
	if known < 10 {
		t.Errorf("there are %d reasons in the sources", known)
	}
}
