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
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

// A page is a Markdown file of the repository.
type page struct {
	// path from the root of the repository, with slashes.
	path string
	// with is what its commands need beside the sandbox.
	with []string

	blocks  []block
	links   []link
	anchors map[string]bool
}

// A block is what stands between two fences.
type block struct {
	// line of the opening fence.
	line int
	// info is what the block says it is.
	info string
	// comment right above it, without its brackets.
	comment string
	lines   []string
}

// A link to somewhere.
type link struct {
	line   int
	target string
}

var (
	heading = regexp.MustCompile(`^#{1,6} +(.*?)(?: +#+)?$`)
	comment = regexp.MustCompile(`^<!-- (.*) -->$`)
	inline  = regexp.MustCompile("(?s)`[^`]*`")
	linked  = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	markup  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)|[*` + "`" + `]`)
)

// parse a page.
func parse(name, content string) *page {
	p := &page{path: name, anchors: map[string]bool{}}
	lines := strings.Split(content, "\n")
	// prose has as many lines, without what stands between fences.
	prose := make([]string, len(lines))
	var open *block
	for i, line := range lines {
		switch {
		case open != nil && strings.TrimSpace(line) == "```":
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		case strings.HasPrefix(line, "```"):
			open = &block{line: i + 1, info: strings.TrimPrefix(line, "```")}
			if i > 0 {
				if m := comment.FindStringSubmatch(lines[i-1]); m != nil {
					open.comment = m[1]
				}
			}
		default:
			prose[i] = line
			if m := heading.FindStringSubmatch(line); m != nil {
				p.addAnchor(m[1])
			}
			if m := comment.FindStringSubmatch(line); m != nil && i == 0 {
				if with, ok := strings.CutPrefix(m[1], "with: "); ok {
					p.with = strings.Split(with, ", ")
				}
			}
		}
	}
	if open != nil {
		p.blocks = append(p.blocks, *open)
	}
	// Code holds no links.
	text := inline.ReplaceAllStringFunc(strings.Join(prose, "\n"), func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	})
	for _, m := range linked.FindAllStringSubmatchIndex(text, -1) {
		p.links = append(p.links, link{line: 1 + strings.Count(text[:m[0]], "\n"), target: text[m[2]:m[3]]})
	}
	return p
}

// addAnchor of a heading, as GitHub makes it.
func (p *page) addAnchor(heading string) {
	var b strings.Builder
	for _, r := range strings.ToLower(markup.ReplaceAllString(heading, "$1")) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	slug := b.String()
	for n := 1; p.anchors[slug]; n++ {
		slug = b.String() + "-" + strconv.Itoa(n)
	}
	p.anchors[slug] = true
}

// root of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// pages of the repository, by their paths.
func pages(t *testing.T) map[string]*page {
	t.Helper()
	repository, all := os.DirFS(root(t)), map[string]*page{}
	err := fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "_output", "testdata"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		content, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		all[name] = parse(name, string(content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no pages")
	}
	return all
}

// A page is understood as its readers see it.
func TestParse(t *testing.T) {
	got := parse("docs/x.md", strings.Join([]string{
		"<!-- with: second gateway, TLS gateway -->",
		"# A `title`: of [it](y.md)",
		"",
		"Text with [a link](../README.md#try-it), `[no](link)`, and one over",
		"two [li",
		"nes](z.md).",
		"## Twice",
		"## Twice",
		"<!-- fragment -->",
		"```yaml",
		"# no heading",
		"[no](link)",
		"```",
	}, "\n"))
	want := &page{
		path:    "docs/x.md",
		with:    []string{"second gateway", "TLS gateway"},
		blocks:  []block{{line: 10, info: "yaml", comment: "fragment", lines: []string{"# no heading", "[no](link)"}}},
		links:   []link{{2, "y.md"}, {4, "../README.md#try-it"}, {5, "z.md"}},
		anchors: map[string]bool{"a-title-of-it": true, "twice": true, "twice-1": true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(page{}, block{}, link{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// elsewhere are pages whose commands need Helm or Crossplane's core, which other tests run.
// Others link to them, also while they are not there yet.
var elsewhere = []string{"docs/crossplane.md", "docs/install.md", "docs/self-service.md"}

// Every link within the repository leads somewhere.
func TestLinks(t *testing.T) {
	all, dir := pages(t), root(t)
	for _, p := range all {
		for _, l := range p.links {
			if strings.Contains(l.target, "://") || strings.HasPrefix(l.target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(l.target, "#")
			to := p.path
			if file != "" {
				to = path.Join(path.Dir(p.path), file)
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(to))); err != nil || strings.HasPrefix(to, "..") {
				if !slices.Contains(elsewhere, to) {
					t.Errorf("%s:%d: %s leads nowhere", p.path, l.line, l.target)
				}
				continue
			}
			if anchor == "" {
				continue
			}
			if other := all[to]; other == nil || !other.anchors[anchor] {
				t.Errorf("%s:%d: %s has no heading #%s", p.path, l.line, to, anchor)
			}
		}
	}
}

// Every page in docs is reached from docs/README.md.
func TestListed(t *testing.T) {
	all := pages(t)
	listed := map[string]bool{"docs/README.md": true}
	for _, l := range all["docs/README.md"].links {
		file, _, _ := strings.Cut(l.target, "#")
		listed[path.Join("docs", file)] = true
	}
	for name := range all {
		if strings.HasPrefix(name, "docs/") && !listed[name] {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// Every block says what it is, and commands that are not run say why not.
func TestBlocks(t *testing.T) {
	known := []string{"console", "sh", "yaml", "text", "mermaid"}
	for _, p := range pages(t) {
		if slices.Contains(elsewhere, p.path) {
			continue
		}
		for _, b := range p.blocks {
			reason, why := strings.CutPrefix(b.comment, "not run: ")
			switch {
			case !slices.Contains(known, b.info):
				t.Errorf("%s:%d: a block of %q; say which of %s it is", p.path, b.line, b.info, strings.Join(known, ", "))
			case b.info == "sh" && (!why || strings.TrimSpace(reason) == ""):
				t.Errorf("%s:%d: commands that are not run, without a reason: make it a console block, or write <!-- not run: the reason --> above it", p.path, b.line)
			case b.info == "console" && (len(b.lines) == 0 || !strings.HasPrefix(b.lines[0], "$ ")):
				t.Errorf("%s:%d: a console block begins with a command, after $", p.path, b.line)
			}
		}
	}
}
