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
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ticks are how many units of processor time Linux tells programs that a second has,
// whatever the kernel uses itself.
const ticks = 100

// A usage is what a process has used.
type usage struct {
	// CPU time so far.
	CPU time.Duration
	// RSS is what it has in memory, and Peak the most it had, in bytes.
	RSS, Peak int64
}

// usageOf a process. It needs Linux.
func usageOf(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, errors.Wrap(err, "cannot read what a process has used")
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, errors.Wrap(err, "cannot read what a process has used")
	}
	return parseUsage(string(stat), string(status))
}

// parseUsage reads /proc/<pid>/stat and /proc/<pid>/status.
func parseUsage(stat, status string) (usage, error) {
	u := usage{}
	// The second field is the name of the program, which may hold anything.
	_, rest, ok := strings.Cut(stat[max(strings.LastIndexByte(stat, ')'), 0):], " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return u, errors.Errorf("cannot read %q", stat)
	}
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return u, errors.Wrap(err, "cannot read processor time")
		}
		u.CPU += time.Duration(n) * time.Second / ticks
	}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &u.RSS, "VmHWM": &u.Peak}[name]
		if into == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return u, errors.Wrap(err, "cannot read memory")
		}
		*into = n << 10
	}
	if u.RSS == 0 {
		return u, errors.New("a process does not tell its memory")
	}
	return u, nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
