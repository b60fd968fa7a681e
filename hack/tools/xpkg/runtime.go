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

package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

// runtime is what runs when a package is installed.
type runtime struct {
	name, arch string
	binary     []byte
	build      *debug.BuildInfo

	// licenses are the texts under which the binary and what it is made of may be
	// handed on, by path in the image. That of Go itself is the one of the
	// golang.org/x modules.
	licenses map[string][]byte
}

// licenseFile is how a license, or a notice that has to go with it, is called.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([-._].*)?$`)

// readRuntime reads a binary, and the licenses of the modules that it is made of from
// where the go command has them. It must be called in the module of the binary.
func readRuntime(ctx context.Context, binary, license string) (*runtime, error) {
	b, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s is no binary for Linux: %w; build it with GOOS=linux", binary, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return nil, fmt.Errorf("%s is linked dynamically, and in the image there is nothing to link it with; build it with CGO_ENABLED=0", binary)
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("cannot find out what %s is made of: %w", binary, err)
	}
	r := &runtime{name: filepath.Base(binary), binary: b, build: info, licenses: map[string][]byte{}}
	for _, s := range info.Settings {
		if s.Key == "GOARCH" {
			r.arch = s.Value
		}
	}
	if r.licenses["LICENSE"], err = os.ReadFile(license); err != nil {
		return nil, err
	}
	return r, r.readLicenses(ctx)
}

func (r *runtime) readLicenses(ctx context.Context) error {
	args := []string{"list", "-m", "-json"}
	for _, m := range r.build.Deps {
		args = append(args, m.Path)
	}
	list := exec.CommandContext(ctx, "go", args...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("cannot find the sources of the modules in %s, whose licenses have to be handed on: %w", r.name, err)
	}
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		type module struct {
			Path, Version, Dir string
			Replace            *module
		}
		var m module
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("cannot read what go list says: %w", err)
		}
		if m.Replace != nil {
			m = *m.Replace
		}
		folders[m.Path+"@"+m.Version] = m.Dir
	}
	for _, m := range r.build.Deps {
		m = effective(m)
		id := m.Path + "@" + m.Version
		if folders[id] == "" {
			return fmt.Errorf("%s has %s in it, of which there is no source here; build it from this checkout", r.name, id)
		}
		if err := r.readLicense(id, folders[id]); err != nil {
			return err
		}
	}
	return nil
}

func (r *runtime) readLicense(id, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	before := len(r.licenses)
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		r.licenses[path.Join("licenses", id, e.Name())] = text
	}
	if len(r.licenses) == before {
		return fmt.Errorf("there is no license in %s of %s, so it may not be handed on; find out under which one it is", folder, id)
	}
	return nil
}

// effective is the module that is linked where m is asked for.
func effective(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}
