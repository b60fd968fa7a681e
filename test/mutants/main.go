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

// Command mutants proves that the tests notice when a guard is missing: it builds
// the provider with one of them disabled at a time and runs the tests, of which at
// least one must fail that names the promise which is broken.
//
//	go run ./test/mutants [name…]
//
// Nothing in the working tree is changed: the compiler is given the altered file
// in place of the real one.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/test/promises"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	chosen := mutants()
	for _, n := range names {
		if !slices.ContainsFunc(chosen, func(m mutant) bool { return m.name == n }) {
			return fmt.Errorf("there is no mutant %q", n)
		}
	}
	if len(names) > 0 {
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !slices.Contains(names, m.name) })
	}
	named, err := promises.ByTest(".")
	if err != nil {
		return err
	}
	if err := sound(ctx, chosen); err != nil {
		return err
	}
	survived := 0
	for _, m := range chosen {
		began := time.Now()
		killers, err := m.test(ctx, named)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		took := time.Since(began).Round(time.Second)
		if err != nil {
			survived++
			fmt.Printf("%-22s SURVIVED  %s (%s)\n", m.name, err, took)
			continue
		}
		fmt.Printf("%-22s breaks %-4s noticed by %s (%s)\n", m.name, m.promise, strings.Join(killers, ", "), took)
	}
	if survived > 0 {
		return fmt.Errorf("%d mutants survived", survived)
	}
	return nil
}

// sound tells whether the tests pass where nothing is disabled: otherwise it means
// nothing that they fail.
func sound(ctx context.Context, all []mutant) error {
	var tested []tests
	for _, m := range all {
		if t := m.tests(); !slices.Contains(tested, t) {
			tested = append(tested, t)
		}
	}
	for _, t := range tested {
		if out, err := t.run(ctx, ""); err != nil {
			return fmt.Errorf("the tests of %s fail without any mutant:\n%s", t.folder, out)
		}
	}
	return nil
}

// A mutant is the provider without one of its guards.
type mutant struct {
	name string
	// promise that is broken.
	promise string
	// file that is altered, and what is replaced in it by what.
	file, old, new string
	// by is which tests have to notice it, if not those of the package that is altered.
	by tests
}

func (m mutant) tests() tests {
	if m.by.folder != "" {
		return m.by
	}
	return tests{folder: path.Dir(m.file)}
}

// Tests are those of a package, all of them or those that a pattern matches.
type tests struct {
	folder, pattern string
}

// run the tests, with an overlay if there is one. That one fails is all there is to
// know of it.
func (t tests) run(ctx context.Context, overlay string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=10m", "-run="+t.pattern, "./"+t.folder) //nolint:gosec // The arguments are this program's own.
	cmd.Env = append(os.Environ(), "RAPID_SHRINKTIME=1s", "RAPID_NOFAILFILE=true")
	if overlay != "" {
		// Some tests build the provider themselves.
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	return cmd.CombinedOutput()
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// test runs the tests on a mutant that name the promise it breaks, and returns those that
// fail.
func (m mutant) test(ctx context.Context, named map[string][]string) ([]string, error) {
	overlay, clean, err := m.overlay()
	if err != nil {
		return nil, err
	}
	defer clean()
	by := m.tests()
	folder := by.folder
	if by.pattern == "" {
		by.pattern = naming(named, folder, m.promise)
	}
	out, err := by.run(ctx, overlay)
	switch {
	case err == nil:
		return nil, fmt.Errorf("no test of %s that names %s fails", folder, m.promise)
	case strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]"):
		return nil, fmt.Errorf("it does not build:\n%s", out)
	}
	var all, killers []string
	for _, match := range failed.FindAllStringSubmatch(string(out), -1) {
		all = append(all, match[1])
		if slices.Contains(named[folder+"."+match[1]], m.promise) {
			killers = append(killers, match[1])
		}
	}
	if len(killers) == 0 {
		return nil, fmt.Errorf("none of the tests that fail names %s: %s", m.promise, strings.Join(all, ", "))
	}
	return killers, nil
}

// naming is a pattern of the tests of a folder that name a promise.
func naming(named map[string][]string, folder, promise string) string {
	var names []string
	for test, promises := range named {
		if name, ok := strings.CutPrefix(test, folder+"."); ok && slices.Contains(promises, promise) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return "^(" + strings.Join(names, "|") + ")$"
}

// overlay has the compiler see the mutant's file in place of the real one.
func (m mutant) overlay() (overlay string, clean func(), err error) {
	file, err := filepath.Abs(m.file)
	if err != nil {
		return "", nil, err
	}
	source, err := m.source(file)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	altered, overlay := filepath.Join(dir, "altered.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: altered}})
	if err == nil {
		err = os.WriteFile(altered, source, 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		clean()
		return "", nil, err
	}
	return overlay, clean, nil
}

// source of the mutant's file, which has what is disabled once.
func (m mutant) source(file string) ([]byte, error) {
	source, err := os.ReadFile(file) //nolint:gosec // It is named in this program.
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s has %d times what is to be replaced, want 1; the mutant has to follow the code:\n%s", m.file, n, m.old)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}
