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

package xpkg

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// pkg is a package: where it is described, and whether something runs in it.
type pkg struct {
	meta string
	runs bool
}

// packages are those that there are, by name.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	all := map[string]pkg{
		"provider-apiplatform":      {"package/crossplane.yaml", true},
		"function-apiplatform":      {"package/function/crossplane.yaml", true},
		"configuration-apiplatform": {"package/configuration/crossplane.yaml", false},
	}
	maps.DeleteFunc(all, func(_ string, p pkg) bool {
		_, err := os.Stat(filepath.Join(root, p.meta))
		return os.IsNotExist(err)
	})
	return all
}

// files of a package, with the architecture of each.
func (p pkg) files(name string) map[string]string {
	if !p.runs {
		return map[string]string{name + ".xpkg": "amd64"}
	}
	return map[string]string{name + "-amd64.xpkg": "amd64", name + "-arm64.xpkg": "arm64"}
}

// TestFiles has each package be there, for each architecture, and nothing else.
func TestFiles(t *testing.T) {
	var want []string
	for name, p := range packages(t) {
		for file := range p.files(name) {
			want = append(want, file)
			if p.runs {
				want = append(want, strings.TrimSuffix(file, ".xpkg")+".spdx.json")
			}
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, fileNames(t, built)); diff != "" {
		t.Errorf("what is built (-want, +got):\n%s", diff)
	}
}

// TestReproducible has the same source give the same bytes, wherever and by whomever
// they are built.
func TestReproducible(t *testing.T) {
	if diff := cmp.Diff(digests(t, built), digests(t, builtElsewhere)); diff != "" {
		t.Errorf("digests of the same source (-in the checkout, +in a copy elsewhere):\n%s", diff)
	}
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	digests := map[string]string{}
	for _, name := range fileNames(t, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		digests[name] = digest(content)
	}
	return digests
}

// TestImage looks at what all packages have in common, whatever is in them.
func TestImage(t *testing.T) {
	for name, p := range packages(t) {
		meta := readMeta(t, filepath.Join(root, p.meta))
		for file, arch := range p.files(name) {
			t.Run(file, func(t *testing.T) {
				img := readImage(t, filepath.Join(built, file))
				if img.config.OS != "linux" || img.config.Architecture != arch || !img.config.Created.Equal(sourceDate) {
					t.Errorf("it is for %s/%s, of %s", img.config.OS, img.config.Architecture, img.config.Created)
				}
				labels := maps.Clone(img.config.Config.Labels)
				maps.DeleteFunc(labels, func(k, _ string) bool { return strings.HasPrefix(k, "io.crossplane.xpkg:") })
				title, ok := meta.GetAnnotations()["friendly-name.meta.crossplane.io"]
				if !ok {
					title = meta.GetName()
				}
				if diff := cmp.Diff(map[string]string{
					"org.opencontainers.image.title":       title,
					"org.opencontainers.image.description": strings.TrimSpace(meta.GetAnnotations()["meta.crossplane.io/description"]),
					"org.opencontainers.image.source":      "https://github.com/crossplane-contrib/provider-apiplatform",
					"org.opencontainers.image.licenses":    "Apache-2.0",
					"org.opencontainers.image.version":     version,
					"org.opencontainers.image.revision":    revision,
					"org.opencontainers.image.created":     "2026-02-03T04:05:06Z",
				}, labels); diff != "" {
					t.Errorf("labels (-want, +got):\n%s", diff)
				}

				for name, e := range img.files() {
					if h := e.header; h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(sourceDate) || h.Mode&0o022 != 0 {
						t.Errorf("%s belongs to %d:%d (%q, %q), is of %s and has mode %o", name, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime, h.Mode)
					}
				}
				base, err := img.labelled("base")
				if err != nil {
					t.Fatal(err)
				}
				if len(base.entries) != 1 || base.entries[0].header.Name != "package.yaml" {
					t.Errorf("the layer that Crossplane reads has %d files, the first is %s; want package.yaml alone", len(base.entries), base.entries[0].header.Name)
				}
				if got := documents(t, base.entries[0].content)[0]; !cmp.Equal(meta.Object, got.Object) {
					t.Errorf("package.yaml starts with what %s does not say:\n%s", p.meta, cmp.Diff(meta.Object, got.Object))
				}
			})
		}
	}
}

// TestRuntime has nothing be in the image but one program, for a user who is nobody,
// and the licenses that must go with it.
func TestRuntime(t *testing.T) {
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for name, p := range packages(t) {
		if !p.runs {
			continue
		}
		for arch, machine := range machines {
			t.Run(name+"-"+arch, func(t *testing.T) {
				img := readImage(t, filepath.Join(built, name+"-"+arch+".xpkg"))
				c := img.config.Config
				if c.User != "65532:65532" || len(c.Entrypoint) != 1 || len(c.Cmd) > 0 || len(c.Env) > 0 {
					t.Fatalf("it runs %q %q as %q with %q", c.Entrypoint, c.Cmd, c.User, c.Env)
				}
				program := strings.TrimPrefix(c.Entrypoint[0], "/")
				files := img.files()
				binary := files[program].content
				for _, e := range img.layers[0].entries {
					switch name := e.header.Name; {
					case name == program:
						if e.header.Mode != 0o755 {
							t.Errorf("%s has mode %o", name, e.header.Mode)
						}
					case name == "LICENSE", strings.HasPrefix(name, "licenses/"):
						if e.header.Typeflag == tar.TypeReg && e.header.Mode != 0o644 {
							t.Errorf("%s has mode %o", name, e.header.Mode)
						}
					default:
						t.Errorf("there is a %s, want only %s and licenses", name, program)
					}
				}

				f, err := elf.NewFile(bytes.NewReader(binary))
				if err != nil {
					t.Fatal(err)
				}
				if f.Machine != machine {
					t.Errorf("%s is for %s", program, f.Machine)
				}
				if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 || f.Section(".interp") != nil {
					t.Errorf("%s is not static: it needs %v (%v)", program, libs, err)
				}

				info, err := buildinfo.Read(bytes.NewReader(binary))
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range info.Deps {
					dir := "licenses/" + m.Path + "@" + m.Version + "/"
					if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return strings.HasPrefix(name, dir) && name != dir }) {
						t.Errorf("there is no license of %s in %s", m.Path, dir)
					}
				}
			})
		}
	}
}

// TestRuntimeRuns runs the provider as it is in the package, with nothing around it.
func TestRuntimeRuns(t *testing.T) {
	img := readImage(t, filepath.Join(built, "provider-apiplatform-"+runtime.GOARCH+".xpkg"))
	program := filepath.Join(t.TempDir(), "provider")
	if err := os.WriteFile(program, img.files()["provider"].content, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--version")
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != version {
		t.Errorf("provider --version says %q (%v), want %s", out, err, version)
	}
}

// TestRootCAs has the provider bring the CAs that the image has none of.
func TestRootCAs(t *testing.T) {
	info, err := buildinfo.Read(bytes.NewReader(readImage(t, filepath.Join(built, "provider-apiplatform-amd64.xpkg")).files()["provider"].content))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "golang.org/x/crypto/x509roots/fallback" }) {
		t.Error("the provider does not contain golang.org/x/crypto/x509roots/fallback, without which it trusts nobody in an image without CAs")
	}
}

// TestProvider has the package install the kinds that are generated, and show how
// each is used.
func TestProvider(t *testing.T) {
	img := readImage(t, filepath.Join(built, "provider-apiplatform-amd64.xpkg"))
	base, err := img.labelled("base")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, o := range documents(t, base.entries[0].content)[1:] {
		if _, ok := got[o.GetName()]; ok {
			t.Errorf("%s is there twice", o.GetName())
		}
		got[o.GetName()] = o.Object
	}
	want, kinds := map[string]any{}, map[string]bool{}
	crds, err := filepath.Glob(filepath.Join(root, "package", "crds", "*.yaml"))
	if err != nil || len(crds) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, file := range crds {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &extv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			t.Fatal(err)
		}
		want[crd.GetName()] = documents(t, content)[0].Object
		kinds[crd.Spec.Group+"/"+crd.Spec.Versions[0].Name+" "+crd.Spec.Names.Kind] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is installed, beside package/crds (-want, +got):\n%s", diff)
	}

	examples, err := img.labelled("upbound")
	if err != nil {
		t.Fatal(err)
	}
	if len(examples.entries) == 0 || examples.entries[len(examples.entries)-1].header.Name != ".up/examples.yaml" {
		t.Fatalf("the layer with examples has %d files, want .up/examples.yaml", len(examples.entries))
	}
	for _, o := range documents(t, examples.entries[len(examples.entries)-1].content) {
		delete(kinds, o.GetAPIVersion()+" "+o.GetKind())
	}
	// Nobody but the provider writes these.
	delete(kinds, "apiplatform.crossplane.io/v1alpha1 ProviderConfigUsage")
	for kind := range kinds {
		t.Errorf("there is no example of a %s", kind)
	}
}

// TestProviderMeta has package/crossplane.yaml say what Crossplane and people look for.
func TestProviderMeta(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "package", "crossplane.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pkgmetav1.Provider{}
	if err := yaml.UnmarshalStrict(content, p); err != nil {
		t.Fatal(err)
	}
	if p.GroupVersionKind() != pkgmetav1.ProviderGroupVersionKind || p.GetName() != "provider-apiplatform" {
		t.Errorf("it is the %s %s", p.GroupVersionKind(), p.GetName())
	}
	if diff := cmp.Diff(pkgmetav1.ProviderSpec{MetaSpec: pkgmetav1.MetaSpec{
		Crossplane:   &pkgmetav1.CrossplaneConstraints{Version: ">=v2.0.0"},
		Capabilities: []string{pkgmetav1.ProviderCapabilitySafeStart},
	}}, p.Spec); diff != "" {
		t.Errorf("what it can and needs (-want, +got):\n%s", diff)
	}
	icon, ok := strings.CutPrefix(p.GetAnnotations()["meta.crossplane.io/iconURI"], "data:image/svg+xml;base64,")
	if !ok {
		t.Fatal("the icon is no SVG image in a data URI")
	}
	svg, err := base64.StdEncoding.DecodeString(icon)
	if err != nil {
		t.Fatal(err)
	}
	elements := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the icon is no SVG image: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Space+" "+e.Name.Local]++
		}
	}
	if elements["http://www.w3.org/2000/svg svg"] != 1 || elements["http://www.w3.org/2000/svg script"] != 0 {
		t.Errorf("the icon is no SVG image without scripts: it has %v", elements)
	}
	// A table in the readme has a line for each kind that people use.
	crds, err := filepath.Glob(filepath.Join(root, "package", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range crds {
		crd := &extv1.CustomResourceDefinition{}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(content, crd); err != nil {
			t.Fatal(err)
		}
		kind, readme := crd.Spec.Names.Kind, p.GetAnnotations()["meta.crossplane.io/readme"]
		if kind != "ProviderConfigUsage" && !strings.Contains(readme, "`"+kind+"`") {
			t.Errorf("the readme does not say what a %s is", kind)
		}
	}
}

func readMeta(t *testing.T, path string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, content)[0]
}

// documents of a YAML stream, as Crossplane reads it.
func documents(t *testing.T, stream []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for d := kyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096); ; {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}
