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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	flagInHelp  = regexp.MustCompile(`(?m)^ {2,}(?:-\w, )?--(\[no-\])?([a-z-]+)(?:=(\S+))?`)
	envInHelp   = regexp.MustCompile(`\(\$([A-Z_]+)\)`)
	flagInTable = regexp.MustCompile("(?m)^\\| `--(\\[no-\\])?([a-z-]+)` \\| (?:`([A-Z_]+)`)? *\\| ([^|]*) \\|")
)

// docs/operations.md lists the flags that there are, with their defaults and the
// variables that stand for them.
func TestFlags(t *testing.T) {
	binary, err := provider()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "--help")
	// Where a variable is set its value is shown for the default.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	help, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type flag struct{ env, preset string }
	want, got := map[string]flag{}, map[string]flag{}
	at := flagInHelp.FindAllStringSubmatchIndex(string(help), -1)
	for i, m := range at {
		end := len(help)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		part := func(n int) string {
			if m[n] < 0 {
				return ""
			}
			return string(help[m[n]:m[n+1]])
		}
		name, preset := part(4), strings.Trim(part(6), `"`)
		if name == "help" {
			continue
		}
		f := flag{preset: preset}
		if env := envInHelp.FindSubmatch(help[m[0]:end]); env != nil {
			f.env = string(env[1])
		}
		want[part(2)+name] = f
	}
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range flagInTable.FindAllStringSubmatch(string(page), -1) {
		name, preset := m[1]+m[2], strings.TrimSpace(m[4])
		if value, ok := strings.CutPrefix(preset, "`"); ok {
			preset = strings.TrimSuffix(value, "`")
		} else {
			// In words: there is none, or it is no value. The help has a placeholder there.
			preset = want[name].preset
		}
		got[name] = flag{env: m[3], preset: preset}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(flag{})); diff != "" {
		t.Errorf("docs/operations.md and provider --help: -want, +got:\n%s", diff)
	}
}
