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
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ticks are how many units of processor time Linux tells programs that a second has,
// whatever the kernel uses itself.
const ticks = 100

// Names of programs that are not measured themselves.
const (
	apiServerName = "kube-apiserver"
	etcdName      = "etcd"
	// benchName is this one: users, gateways and relays are a part of it.
	benchName = "bench"
)

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

// parseStat reads /proc/<pid>/stat.
func parseStat(stat string) (pid int, program string, parent int, cpu time.Duration, err error) {
	// The second field is the name of the program in parentheses, which may hold anything.
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return 0, "", 0, 0, errors.Errorf("cannot read %q", stat)
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 13 {
		return 0, "", 0, 0, errors.Errorf("cannot read %q", stat)
	}
	number := func(s string) int64 {
		n, e := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		err = errors.Join(err, errors.Wrapf(e, "cannot read %q", stat))
		return n
	}
	pid, parent = int(number(stat[:open])), int(number(fields[1]))
	cpu = time.Duration(number(fields[11])+number(fields[12])) * time.Second / ticks
	return pid, stat[open+1 : end], parent, cpu, err
}

// parseUsage reads /proc/<pid>/stat and /proc/<pid>/status.
func parseUsage(stat, status string) (usage, error) {
	u := usage{}
	var err error
	if _, _, _, u.CPU, err = parseStat(stat); err != nil {
		return u, err
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

// spending is processor time by program.
type spending map[string]time.Duration

// spent is what this process and those that it has started have used so far.
func spent() (spending, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	s := spending{}
	for _, d := range dirs {
		stat, err := os.ReadFile(d) //nolint:gosec // A process of this machine.
		if err != nil {
			// It has ended meanwhile.
			continue
		}
		pid, program, parent, cpu, err := parseStat(string(stat))
		switch {
		case err != nil:
			return nil, err
		case pid == self:
			s[benchName] += cpu
		case parent == self:
			s[program] += cpu
		}
	}
	return s, nil
}

// since is what was used after something was.
func (s spending) since(before spending) spending {
	used := spending{}
	for program, cpu := range s {
		used[program] = cpu - before[program]
	}
	return used
}

// of some programs together.
func (s spending) of(programs ...string) time.Duration {
	sum := time.Duration(0)
	for _, p := range programs {
		sum += s[p]
	}
	return sum
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
