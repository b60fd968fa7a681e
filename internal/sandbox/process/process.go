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

// Package process starts and stops child processes that must not outlive their
// parent: each has a process group of its own, which Stop ends as a whole, and
// on Linux the kernel ends it if the parent is killed before it could.
package process

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Options say what to start.
type Options struct {
	// Name of the process in errors.
	Name string
	// Path of the binary.
	Path string
	// Args without the binary's own name.
	Args []string
	// Env added to the environment of the parent, as KEY=value.
	Env []string
	// Dir is the working directory. Default: that of the parent.
	Dir string
	// LogPath is the file that standard output and standard error are appended
	// to.
	LogPath string
}

// A Process is a started child.
type Process struct {
	name string
	log  string
	pid  int
	done chan struct{}
	err  error
}

// Start a process. The context bounds starting it only; end it with Stop.
func Start(ctx context.Context, o Options) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(o.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot open the log of %s", o.Name)
	}
	defer log.Close() //nolint:errcheck // The child has its own descriptor; nothing was written through this one.

	p := &Process{name: o.Name, log: o.LogPath, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel's parent-death signal goes out when the thread that forked
		// ends, not when the process does: this one must stay until the child
		// is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		// Not bound to the context: the process outlives the call that starts it.
		cmd := exec.Command(o.Path, o.Args...) //nolint:gosec,noctx // Runs what the caller was built to run.
		cmd.Env = append(os.Environ(), o.Env...)
		cmd.Dir = o.Dir
		cmd.Stdout = log
		cmd.Stderr = log
		cmd.SysProcAttr = attributes()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Wrapf(err, "cannot start %s", o.Name)
	}
	return p, nil
}

// PID of the process.
func (p *Process) PID() int { return p.pid }

// LogPath is the file the process writes to.
func (p *Process) LogPath() string { return p.log }

// Done is closed once the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err tells how the process ended and what it said last. Nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return errors.Errorf("%s ended (%s); its last lines:\n%s", p.name, how, p.Tail(15))
}

// Stop asks the process to end, ends its whole group once the grace period is
// over, and returns when it is gone. No grace period ends it at once. Stop may
// be called more than once, and on nil.
func (p *Process) Stop(grace time.Duration) {
	if p == nil {
		return
	}
	if grace > 0 && p.signal(syscall.SIGTERM) {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
			return
		case <-timer.C:
		}
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal the whole group, and tell whether the process was still there.
func (p *Process) signal(s syscall.Signal) bool {
	select {
	case <-p.done:
		return false
	default:
	}
	return syscall.Kill(-p.pid, s) == nil
}

// Tail returns the last lines of the process's log.
func (p *Process) Tail(lines int) string {
	const enough = 64 << 10
	f, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer f.Close() //nolint:errcheck // Only read.
	if info, err := f.Stat(); err == nil && info.Size() > enough {
		if _, err := f.Seek(-enough, 2); err != nil {
			return err.Error()
		}
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
