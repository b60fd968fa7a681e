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
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// All scenarios work from beginning to end. What they measure here says nothing: there
// is next to nothing, and no time.
func TestSmoke(t *testing.T) {
	c := defaults()
	c.n, c.edits, c.foreign, c.directCreate, c.directEdits, c.sites = 20, 9, 5, 10, 2, 3
	c.idle, c.still, c.restart, c.soak = 3*time.Second, 2*time.Second, 3*time.Second, time.Second
	c.drift, c.directPoll = 3*time.Second, 3*time.Second
	c.providerArgs = []string{"--poll=3s", "--min-poll=1s"}
	c.log = t.Output()
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), c, dir, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
	records, err := load(filepath.Join(dir, csvName))
	if err != nil {
		t.Fatal(err)
	}
	scenarios := map[string]bool{}
	for _, r := range records {
		scenarios[strings.Fields(r[columnScenario])[0]] = true
		if r[columnProvider] == "" || r[columnProvider] == exact(math.Inf(1)) {
			t.Errorf("%s, %s: there is no figure of the provider", r[columnScenario], r[columnFigure])
		}
	}
	if len(scenarios) != 9 {
		t.Errorf("there are figures of the scenarios %v, want nine", scenarios)
	}
	for _, p := range pictures() {
		if b, err := os.ReadFile(filepath.Join(dir, p.file)); err != nil || !bytes.Contains(b, []byte("<svg")) {
			t.Errorf("%s is no picture: %v", p.file, err)
		}
	}
}
