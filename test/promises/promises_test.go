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
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// Each promise of docs/promises.md is named by a test that always runs, and no
// test names one that is not made.
func TestEveryPromiseHasATest(t *testing.T) {
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	numbers, wrong := promised(string(document))
	for _, err := range wrong {
		t.Errorf("docs/promises.md: %v", err)
	}
	if len(numbers) == 0 {
		t.Error("docs/promises.md: nothing is promised")
	}
	named, wrong, err := inTree(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range append(wrong, compare(numbers, named)...) {
		t.Error(err)
	}
}

// What the promises lead to on disk is there.
//
// contract: R6
func TestLinks(t *testing.T) {
	root, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	docs := filepath.Join(root, "docs")
	document, err := os.ReadFile(filepath.Join(docs, "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(document), -1)
	if len(links) == 0 {
		t.Error("they lead nowhere")
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(docs, link[1])); err != nil {
			t.Errorf("docs/promises.md: %v", err)
		}
	}
}

// texts of errors.
func texts(errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func TestNamings(t *testing.T) {
	const shouldBe = ` should be a line such as "// contract: S12, A3" or "// case: W11"`
	cases := map[string]struct {
		reason string
		source string
		want   []string
		wrong  []string
	}{
		"Comment": {
			reason: "A test names what it proves in its comment.",
			source: "// It works.\n//\n// contract: S1, A11\n// case: W11\nfunc TestX(t *testing.T) {}",
			want:   []string{"TestX contract [S1 A11] true", "TestX case [W11] true"},
		},
		"Within": {
			reason: "Or at one of its cases.",
			source: "func TestX(t *testing.T) {\n\tfor range []string{\n\t\t// contract: S2\n\t\t\"a\",\n\t} {\n\t}\n}",
			want:   []string{"TestX contract [S2] true"},
		},
		"Subtest": {
			reason: "Or at a test within it.",
			source: "func TestX(t *testing.T) {\n\t// case: W2\n\tt.Run(\"a\", func(t *testing.T) {})\n}",
			want:   []string{"TestX case [W2] true"},
		},
		"Fuzz": {
			reason: "The seeds of a fuzz test are tests.",
			source: "// contract: S1\nfunc FuzzX(f *testing.F) {}",
			want:   []string{"FuzzX contract [S1] true"},
		},
		"FuzzOfTests": {
			reason: "But nothing that has the name alone.",
			source: "// contract: S1\nfunc FuzzX(t *testing.T) {}",
			wrong:  []string{`x_test.go:3:1: "// contract: S1" stands at no test`},
		},
		"Skipped": {
			reason: "What may be skipped proves nothing.",
			source: "// contract: S1\nfunc TestX(t *testing.T) {\n\tif true {\n\t\tt.Skip(\"why\")\n\t}\n}",
			want:   []string{"TestX contract [S1] false"},
		},
		"Prose": {
			reason: "Not every comment is about promises.",
			source: "// In that case the contract of S1 says nothing: S2 does.\nfunc TestX(t *testing.T) {\n\tswitch {\n\tcase true: // S1\n\t}\n}",
		},
		"String":  {reason: "Nor is a text a comment.", source: "var x = `\n// contract: S1\n`"},
		"OneLine": {reason: "Each word has a line.", source: "// contract: S1; case: W1\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract: S1; case: W1"` + shouldBe}},
		"Comma":   {reason: "Also after a comma.", source: "// contract: S1, case: W1\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract: S1, case: W1"` + shouldBe}},
		"NoSpace": {reason: "Numbers are set apart.", source: "// contract: S1,S2\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract: S1,S2"` + shouldBe}},
		"Letters": {reason: "The word is small.", source: "// Contract: S1\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// Contract: S1"` + shouldBe}},
		"Range":   {reason: "Each number is written out.", source: "// contract: S1-S4\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract: S1-S4"` + shouldBe}},
		"Empty":   {reason: "Something is named.", source: "// contract:\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract:"` + shouldBe}},
		"NoColon": {reason: "A colon is not forgotten.", source: "// contract S1\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// contract S1"` + shouldBe}},
		"Zero":    {reason: "Numbers begin with one.", source: "// case: W01\nfunc TestX(t *testing.T) {}", wrong: []string{`x_test.go:3:1: "// case: W01"` + shouldBe}},
		"Block": {
			reason: "It is a comment of lines.",
			source: "/*\ncontract: S1\n*/\nfunc TestX(t *testing.T) {}",
			wrong:  []string{`x_test.go:4:1: "contract: S1"` + shouldBe},
		},
		"Helper": {
			reason: "What is no test proves nothing.",
			source: "// contract: S1\nfunc Testing(t *testing.T) {}",
			wrong:  []string{`x_test.go:3:1: "// contract: S1" stands at no test`},
		},
		"Method": {
			reason: "Nor does a method.",
			source: "// contract: S1\nfunc (x X) TestX(t *testing.T) {}",
			wrong:  []string{`x_test.go:3:1: "// contract: S1" stands at no test`},
		},
		"Benchmark": {
			reason: "Nor a function of another shape.",
			source: "// contract: S1\nfunc TestX(b *testing.B) {}",
			wrong:  []string{`x_test.go:3:1: "// contract: S1" stands at no test`},
		},
		"Apart": {
			reason: "Nor does a comment that stands alone.",
			source: "// contract: S1\n\nfunc TestX(t *testing.T) {}",
			wrong:  []string{`x_test.go:3:1: "// contract: S1" stands at no test`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, wrong := parsed(t, "package x\n\n"+tc.source+"\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wrong, wrong); diff != "" {
				t.Errorf("%s\nwrong: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	got, wrong := parsed(t, "//go:build linux\n\npackage x\n\n// contract: S1\nfunc TestX(t *testing.T) {}\n")
	if diff := cmp.Diff([]string{"TestX contract [S1] false"}, got); diff != "" || wrong != nil {
		t.Errorf("What is built here and there proves nothing.\n-want, +got:\n%s%v", diff, wrong)
	}
}

// parsed are the namings in the source of a test file, in short.
func parsed(t *testing.T, source string) (got, wrong []string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x_test.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found, errs := namings(fset, f)
	for _, n := range found {
		got = append(got, fmt.Sprint(n.test, " ", n.word, " ", n.numbers, " ", n.proves))
	}
	return got, texts(errs)
}

func TestPromised(t *testing.T) {
	cases := map[string]struct {
		reason   string
		document string
		want     []string
		wrong    []string
	}{
		"Some":    {reason: "Each is a heading.", document: "# Promises\n\n## Kind\n\n### S1\nThat.\n\n### A11\n\nThis.\n", want: []string{"S1", "A11"}},
		"Fenced":  {reason: "What is in a fence is no heading.", document: "### S1\n```\n### S2\n```\n", want: []string{"S1"}},
		"None":    {reason: "Nothing is found in nothing."},
		"Twice":   {reason: "A number stands for one thing.", document: "### S1\nx\n### S1\ny\n", want: []string{"S1"}, wrong: []string{"line 3: S1 is promised twice"}},
		"Titled":  {reason: "An anchor does not change with a title.", document: "### S1 Identity\nx\n", wrong: []string{`line 1: "### S1 Identity" should be the number of a promise alone, such as "### S12"`}},
		"Deeper":  {reason: "There is nothing below.", document: "### S1\nx\n#### More\n", want: []string{"S1"}, wrong: []string{`line 3: "#### More" should be the number of a promise alone, such as "### S12"`}},
		"Nothing": {reason: "A number alone promises nothing.", document: "### S1\n\n### S2\nx\n", want: []string{"S2"}, wrong: []string{"line 1: S1 promises nothing"}},
		"Last":    {reason: "Not at the end either.", document: "### S1\n", wrong: []string{"line 1: S1 promises nothing"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, wrong := promised(tc.document)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wrong, texts(wrong)); diff != "" {
				t.Errorf("%s\nwrong: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	at := token.Position{Filename: "x_test.go", Line: 7, Column: 1}
	contract := func(proves bool, numbers ...string) naming {
		return naming{at: at, word: "contract", numbers: numbers, test: "TestX", proves: proves}
	}
	cases := map[string]struct {
		reason  string
		numbers []string
		named   []naming
		want    []string
	}{
		"Equal":    {reason: "All is proved and nothing else is named.", numbers: []string{"S1", "S2"}, named: []naming{contract(true, "S1", "S2"), contract(true, "S2")}},
		"Missing":  {reason: "A promise needs a test.", numbers: []string{"S1", "S2"}, named: []naming{contract(true, "S1")}, want: []string{"no test names S2"}},
		"Unknown":  {reason: "A test names what is promised.", numbers: []string{"S1"}, named: []naming{contract(true, "S1", "S9")}, want: []string{"x_test.go:7:1: TestX names S9, which is not promised"}},
		"Skipped":  {reason: "A test that may not run is none.", numbers: []string{"S1"}, named: []naming{contract(false, "S1")}, want: []string{"S1 is named only by tests that may not run, such as TestX"}},
		"Both":     {reason: "Unless another one does.", numbers: []string{"S1"}, named: []naming{contract(false, "S1"), contract(true, "S1")}},
		"CaseOnly": {reason: "A case is no promise, and no promise a case.", numbers: []string{"S1"}, named: []naming{{at: at, word: "case", numbers: []string{"S1", "W1"}, test: "TestX", proves: true}}, want: []string{"no test names S1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, texts(compare(tc.numbers, tc.named))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
