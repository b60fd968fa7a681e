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
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A machine is where and when something was measured, without which absolute figures
// say nothing.
type machine struct {
	date, commit string
	cpu          string
	cores        int
	version      string
	// load of the machine when it began, over the last minute.
	load string
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, load %s before", m.cpu, m.cores, m.version, m.date, m.load)
}

// thisMachine, as far as it tells.
func thisMachine(ctx context.Context, root string) machine {
	m := machine{date: time.Now().UTC().Format(time.DateOnly), commit: "unknown", cpu: runtime.GOARCH, cores: runtime.NumCPU(), version: runtime.Version(), load: "unknown"}
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--match=")
	git.Dir = root
	if out, err := git.Output(); err == nil {
		m.commit = strings.TrimSpace(string(out))
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if model := cpuModel(string(b)); model != "" {
			m.cpu = model
		}
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.load, _, _ = strings.Cut(string(b), " ")
	}
	return m
}

// cpuModel reads /proc/cpuinfo.
func cpuModel(info string) string {
	for line := range strings.Lines(info) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
