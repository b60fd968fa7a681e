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

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, script string, env ...string) *Process {
	t.Helper()
	p, err := Start(t.Context(), Options{
		Name:    "script",
		Path:    "/bin/sh",
		Args:    []string{"-c", script},
		Env:     env,
		LogPath: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if !running(pid) {
			return
		}
	}
	t.Errorf("process %d is still running", pid)
}

// running leaves out what has ended and was only not yet collected by its
// parent.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// waitLog until the process has written a line, and return all lines.
func waitLog(t *testing.T, p *Process) []string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if content, _ := os.ReadFile(p.LogPath()); strings.HasSuffix(string(content), "\n") {
			return strings.Split(strings.TrimSpace(string(content)), "\n")
		}
	}
	t.Fatal("the process wrote nothing")
	return nil
}

func TestStop(t *testing.T) {
	cases := map[string]struct {
		reason string
		script string
		grace  time.Duration
	}{
		"AtOnce": {
			reason: "Without a grace period a process that ignores SIGTERM is ended at once.",
			script: `trap '' TERM; sleep 300 & echo $!; wait; sleep 300`,
		},
		"Stubborn": {
			reason: "After the grace period the whole group is ended.",
			script: `trap '' TERM; sleep 300 & echo $!; wait; sleep 300`,
			grace:  50 * time.Millisecond,
		},
		"Obedient": {
			reason: "A process that ends when asked to is not waited for any longer.",
			script: `sleep 300 & echo $!; wait`,
			grace:  time.Hour,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := start(t, tc.script)
			child, err := strconv.Atoi(waitLog(t, p)[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Err(); err != nil {
				t.Errorf("\n%s\nErr() while running: %v", tc.reason, err)
			}
			p.Stop(tc.grace)
			p.Stop(tc.grace)
			gone(t, p.PID())
			gone(t, child)
		})
	}
	var none *Process
	none.Stop(0)
}

func TestErr(t *testing.T) {
	p := start(t, `echo one; echo "because of $WHY"; exit 3`, "WHY=that")
	<-p.Done()
	err := p.Err()
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "one\nbecause of that") {
		t.Errorf("Err(): want the exit status and the last lines, got: %v", err)
	}
	if got := p.Tail(1); got != "because of that" {
		t.Errorf("Tail(1): got %q", got)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := Start(t.Context(), Options{Name: "nothing", Path: "/does/not/exist", LogPath: filepath.Join(t.TempDir(), "log")}); err == nil {
		t.Error("Start(): want an error for a missing binary")
	}
}

// TestParentKilled runs itself as the parent that is killed.
func TestParentKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the Linux kernel ends children with their parent")
	}
	const parent = "TEST_PROCESS_PARENT_LOG"
	if log := os.Getenv(parent); log != "" {
		if _, err := Start(t.Context(), Options{Name: "child", Path: "/bin/sh", Args: []string{"-c", `echo $$; exec sleep 300`}, LogPath: log}); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestParentKilled$") //nolint:gosec // This test's own binary.
	cmd.Env = append(os.Environ(), parent+"="+log)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(waitLog(t, &Process{log: log})[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, child)
}
