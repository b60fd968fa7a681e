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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

// The commands of each page do, in their order, what the page says.
func TestPages(t *testing.T) {
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		if slices.Contains(elsewhere, name) || !slices.ContainsFunc(p.blocks, func(b block) bool { return b.info == "console" }) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := theWorld(t)
			if slices.Contains(p.with, "legacy gateway") {
				var err error
				if w, err = newWorld(t.Context(), t.TempDir(), sandbox.Options{Generation: emulator.Legacy}); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(w.box.Stop)
			}
			if err := w.clean(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.quickstart(t.Context()); err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			env := []string{"HOME=" + home, "PATH=" + filepath.Dir(w.kubectl) + string(os.PathListSeparator) + os.Getenv("PATH")}
			for k, v := range w.environment(t, p.with) {
				env = append(env, k+"="+v)
			}
			s, err := open(t.Context(), clone(t, w.box.Root), env)
			if err != nil {
				t.Fatal(err)
			}
			s.play(t, p)
			s.close()
			if err := w.box.Failed(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				_, tail := w.box.ProviderLog(8)
				t.Logf("The provider's last lines:\n%s", tail)
			}
			// While what the page needs beside the sandbox is still there.
			if err := w.clean(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Manifests in pages are what the API server accepts.
func TestManifests(t *testing.T) {
	w := theWorld(t)
	kube := client.WithFieldValidation(w.kube, metav1.FieldValidationStrict)
	for name, p := range pages(t) {
		for _, b := range p.blocks {
			if b.info != "yaml" {
				continue
			}
			objects, err := manifest.Parse([]byte(strings.Join(b.lines, "\n")))
			if err != nil {
				t.Errorf("%s:%d: %v", name, b.line, err)
				continue
			}
			for _, o := range objects {
				whole := o.GetAPIVersion() != "" && o.GetKind() != ""
				switch {
				case b.comment == "fragment" && whole:
					t.Errorf("%s:%d: a fragment that is whole; remove the comment, and it is checked", name, b.line)
				case b.comment == "fragment":
				case !whole:
					t.Errorf("%s:%d: it has no apiVersion and kind; write <!-- fragment --> above it if it is to be a part", name, b.line)
				default:
					if ns := o.GetNamespace(); ns != "" && kerrors.IsNotFound(kube.Get(t.Context(), client.ObjectKey{Name: ns}, &corev1.Namespace{})) {
						// Of a reader's cluster, not of the sandbox.
						o.SetNamespace(metav1.NamespaceDefault)
					}
					err := kube.Create(t.Context(), o, client.DryRunAll)
					if of := o.GroupVersionKind().Group; meta.IsNoMatchError(err) && of != group && of != configGroup {
						// Of a kind that is not here, such as Argo CD's: it parses.
						continue
					}
					// What the quickstart made is there already, if a page was played before.
					if err != nil && !strings.Contains(err.Error(), "already exists") {
						t.Errorf("%s:%d: %s %s: %v", name, b.line, o.GetKind(), o.GetName(), err)
					}
				}
			}
		}
	}
}
