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

package promises

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A naming is a comment by which a test names what it proves.
type naming struct {
	at token.Position
	// word is contract or case.
	word    string
	numbers []string
	// test is the function it stands at.
	test string
	// proves is false if the test may not run, or may be skipped.
	proves bool
}

const number = `[A-Z][1-9][0-9]*`

var (
	// wellFormed is how a naming is written.
	wellFormed = regexp.MustCompile(`^// (contract|case): (` + number + `(?:, ` + number + `)*)$`)
	// meant is what somebody may write who means one.
	meant = regexp.MustCompile(`(?i)^[/*\s]*(contract|case)s?\s*:|\b(contract|case)s?\s*:?\s*` + number + `\b`)
)

// namings of a test file, and what is wrong with those that are none.
func namings(fset *token.FileSet, f *ast.File) ([]naming, []error) {
	var found []naming
	var wrong []error
	for _, group := range f.Comments {
		test := testAround(f, group)
		for _, c := range group.List {
			at := fset.Position(c.Pos())
			for i, line := range strings.Split(c.Text, "\n") {
				if !meant.MatchString(line) {
					continue
				}
				at := at
				at.Line += i
				match := wellFormed.FindStringSubmatch(line)
				switch {
				case match == nil:
					wrong = append(wrong, fmt.Errorf("%s: %q should be a line such as %q or %q", at, strings.TrimSpace(line), "// contract: S12, A3", "// case: W11"))
				case test == nil:
					wrong = append(wrong, fmt.Errorf("%s: %q stands at no test", at, line))
				default:
					found = append(found, naming{
						at: at, word: match[1], numbers: strings.Split(match[2], ", "),
						test: test.Name.Name, proves: !constrained(f) && !skips(test),
					})
				}
			}
		}
	}
	return found, wrong
}

// testAround is the test whose comment a comment is, or in which it stands.
func testAround(f *ast.File, c *ast.CommentGroup) *ast.FuncDecl {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && isTest(fn) && (fn.Doc == c || fn.Pos() <= c.Pos() && c.End() <= fn.End()) {
			return fn
		}
	}
	return nil
}

// isTest tells whether go test runs a function: a test, or the seeds of a fuzz test.
func isTest(fn *ast.FuncDecl) bool {
	return isNamed(fn, "Test", "T") || isNamed(fn, "Fuzz", "F")
}

// isNamed tells whether a function has the prefix and the parameter that go together.
func isNamed(fn *ast.FuncDecl, prefix, param string) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, prefix)
	if first, _ := utf8.DecodeRuneInString(rest); !ok || fn.Recv != nil || fn.Body == nil || unicode.IsLower(first) {
		return false
	}
	params := fn.Type.Params.List
	if len(params) != 1 || len(params[0].Names) > 1 {
		return false
	}
	star, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	t, ok := star.X.(*ast.SelectorExpr)
	return ok && t.Sel.Name == param
}

// skips tells whether a test skips something. What may be skipped proves nothing.
func skips(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) {
				found = true
			}
		}
		return !found
	})
	return found
}

// constrained tells whether a file is built under certain conditions only.
func constrained(f *ast.File) bool {
	return slices.ContainsFunc(f.Comments, func(g *ast.CommentGroup) bool {
		return g.Pos() < f.Package && slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return constraint.IsGoBuild(c.Text) })
	})
}
