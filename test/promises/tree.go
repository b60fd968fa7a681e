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
	"slices"
	"strings"
)

// ByTest are the numbers of the promises that each test names, by the name of the
// test, in all tests of the module with the given root.
func ByTest(root string) (map[string][]string, error) {
	found, wrong, err := inTree(root)
	if err := errors.Join(append(wrong, err)...); err != nil {
		return nil, err
	}
	by := map[string][]string{}
	for _, n := range found {
		if n.word == "contract" {
			by[n.test] = append(by[n.test], n.numbers...)
		}
	}
	return by, nil
}

// inTree are the namings in all tests of a module, and what is wrong with those
// that are none.
func inTree(root string) (found []naming, wrong []error, err error) {
	fset, tree := token.NewFileSet(), os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && !ours(tree, path, d.Name()):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
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
