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

package chart

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filesIn a folder and their content, by name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, in := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(in, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(in, name)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The chart has what is generated, and what is written elsewhere, as it is there.
func TestCopies(t *testing.T) {
	for of, from := range map[string]string{"crds": "package/crds", "monitoring": "cluster/monitoring"} {
		want := filesIn(t, filepath.Join(shared.root, filepath.FromSlash(from)))
		if len(want) == 0 {
			t.Errorf("there is nothing in %s", from)
		}
		got := filesIn(t, filepath.Join(shared.chart, "files", of))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run make generate: the chart's files/%s is not %s: -want, +got:\n%s", of, from, diff)
		}
	}
}
