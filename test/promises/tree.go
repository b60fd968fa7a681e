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
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ByTest are the numbers of the promises that each test names, by the folder and the
// name of the test (internal/record.TestX), in all tests of the module with the given
// root.
func ByTest(root string) (map[string][]string, error) {
	found, wrong, err := inTree(root)
	if err := errors.Join(append(wrong, err)...); err != nil {
		return nil, err
	}
	by := map[string][]string{}
	for _, n := range found {
		if n.word == "contract" {
			test := path.Dir(filepath.ToSlash(n.at.Filename)) + "." + n.test
			by[test] = append(by[test], n.numbers...)
		}
	}
	return by, nil
}

// inTree are the namings in all tests of a module, and what is wrong with those
// that are none.
func inTree(root string) (found []naming, wrong []error, err error) {
	fset, tree := token.NewFileSet(), os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && !ours(tree, name, d.Name()):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		n, w := namings(fset, f)
		found, wrong = append(found, n...), append(wrong, w...)
		return nil
	})
	return found, wrong, err
}

// ours tells whether a folder is one in which go test looks for this module's
// tests.
func ours(tree fs.FS, path, name string) bool {
	_, err := fs.Stat(tree, path+"/go.mod")
	return err != nil && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") && !slices.Contains([]string{"testdata", "vendor"}, name)
}
