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
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// patience is how long a command that only reads is repeated until it prints what the
	// page shows.
	patience = 20 * time.Second
	// longest is how long one command may take.
	longest = time.Minute
	// anything stands in a page for any text.
	anything = "…"
)

// A command of a page, and what it prints there.
type command struct {
	line int
	text string
	want []string
}

// commands of a console block, in their order.
func commands(b block) []command {
	var all []command
	for i, line := range b.lines {
		text, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case begins:
			all = append(all, command{line: b.line + 1 + i, text: text})
		case len(all) == 0:
		case goesOn && len(all[len(all)-1].want) == 0:
			all[len(all)-1].text += "\n" + more
		default:
			all[len(all)-1].want = append(all[len(all)-1].want, line)
		}
	}
	return all
}

var (
	reading = regexp.MustCompile(`^(kubectl( --context \w+)? (get|describe|events) |curl |test )|--dry-run=server`)
	writing = regexp.MustCompile(`(^| )(-X|-d|--data\S*)( |$)`)
	failing = regexp.MustCompile(`^(Error from server|error:|The \S+ "\S+" is invalid)`)
)

// reads tells whether a command can be repeated without harm.
func (c command) reads() bool { return reading.MatchString(c.text) && !writing.MatchString(c.text) }

// fails tells whether a command must not succeed.
func (c command) fails() bool { return slices.ContainsFunc(c.want, failing.MatchString) }

// said is what is different on every run, and what stands for it.
var said = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uuid>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	// Older versions of kubectl do not say so.
	{regexp.MustCompile(` deleted from \S+ namespace$`), " deleted"},
	{regexp.MustCompile(`\b127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`\b\d+(d|h|m|s)(\d+(h|m|s))?\b`), "<age>"},
}

// normal is a line without what differs from run to run.
func normal(line string) string {
	for _, s := range said {
		line = s.what.ReplaceAllString(line, s.as)
	}
	return strings.Join(strings.Fields(line), " ")
}

// judge what a command printed, and with which code it ended.
func (c command) judge(output []string, code int) error {
	switch {
	case code != 0 && !c.fails():
		return errors.Errorf("it ended with %d", code)
	case code == 0 && c.fails():
		return errors.New("it succeeded, and should not")
	case len(c.want) == 0:
		return nil
	}
	var pattern strings.Builder
	pattern.WriteString("^")
	for _, line := range c.want {
		switch line = normal(line); line {
		case "":
		case anything:
			pattern.WriteString(`(?:[^\n]*\n)*`)
		default:
			pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), anything, `[^\n]*`) + `\n`)
		}
	}
	pattern.WriteString("$")
	var got strings.Builder
	for _, line := range output {
		if line = normal(line); line != "" {
			got.WriteString(line + "\n")
		}
	}
	if !regexp.MustCompile(pattern.String()).MatchString(got.String()) {
		return errors.New("it printed something else than the page shows")
	}
	return nil
}

// A shell that keeps its variables from one command to the next, as a terminal does.
type shell struct {
	in    io.WriteCloser
	lines chan string
	marks int
	cmd   *exec.Cmd
}

// open a shell in a folder.
func open(ctx context.Context, dir string, env []string) (*shell, error) {
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-o", "pipefail")
	cmd.Dir, cmd.Env = dir, env
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Wrap(err, "cannot start bash")
	}
	s := &shell{in: in, cmd: cmd, lines: make(chan string)}
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case s.lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return s, nil
}

// run a command, and return what it printed and the code it ended with.
func (s *shell) run(text string) ([]string, int, error) {
	s.marks++
	mark := fmt.Sprintf("<end of command %d> ", s.marks)
	if _, err := fmt.Fprintf(s.in, "{ %s\n} 2>&1 </dev/null\nprintf '\\n%s%%d\\n' $?\n", text, mark); err != nil {
		return nil, 0, errors.Wrap(err, "the shell is gone")
	}
	timeout := time.NewTimer(longest)
	defer timeout.Stop()
	var output []string
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return output, 0, errors.New("the shell ended")
			}
			if code, ok := strings.CutPrefix(line, mark); ok {
				n, err := strconv.Atoi(code)
				return output, n, err
			}
			output = append(output, line)
		case <-timeout.C:
			return output, 0, errors.Errorf("it takes longer than %s", longest)
		}
	}
}

// close the shell.
func (s *shell) close() {
	_ = s.in.Close()
	for line := range s.lines {
		// What it still says is of no interest.
		_ = line
	}
	_ = s.cmd.Wait()
}

// play the commands of a page, as a reader would.
func (s *shell) play(t *testing.T, p *page) {
	t.Helper()
	for _, b := range p.blocks {
		if b.info != "console" {
			continue
		}
		for _, c := range commands(b) {
			if !s.try(t, p, c) {
				return
			}
		}
	}
}

// try a command, and tell whether it is worth going on.
func (s *shell) try(t *testing.T, p *page, c command) bool {
	t.Helper()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for began := time.Now(); ; <-ticker.C {
		output, code, err := s.run(c.text)
		if err != nil {
			t.Errorf("%s:%d: $ %s\n%v; it printed:\n%s", p.path, c.line, c.text, err, strings.Join(output, "\n"))
			return false
		}
		err = c.judge(output, code)
		if err == nil {
			t.Logf("$ %s\n%s", c.text, strings.Join(output, "\n"))
			return true
		}
		if !c.reads() || time.Since(began) > patience {
			t.Errorf("%s:%d: $ %s\n%v; it printed:\n%s\n\nwhere the page shows:\n%s", p.path, c.line, c.text, err, strings.Join(output, "\n"), strings.Join(c.want, "\n"))
			// What follows builds on it.
			return false
		}
	}
}

// What is run, and what is accepted, is what a reader of the page would expect.
func TestJudge(t *testing.T) {
	cases := map[string]struct {
		reason string
		lines  []string
		output string
		code   int
		ok     bool
	}{
		"Same":         {"The same is accepted.", []string{"$ x", "a b"}, "a  b\n", 0, true},
		"Other":        {"Something else is not.", []string{"$ x", "a b"}, "a c", 0, false},
		"More":         {"More is not either.", []string{"$ x", "a"}, "a\nb", 0, false},
		"Less":         {"Nor less.", []string{"$ x", "a", "b"}, "a", 0, false},
		"Nothing":      {"Where nothing is shown anything will do.", []string{"$ x"}, "a", 0, true},
		"Failed":       {"But failure will not.", []string{"$ x"}, "a", 1, false},
		"MustFail":     {"What is shown to fail must fail.", []string{"$ x", `Error from server (Forbidden): no`}, `Error from server (Forbidden): no`, 0, false},
		"Fails":        {"And may.", []string{"$ x", `Error from server (Forbidden): no`}, `Error from server (Forbidden): no`, 1, true},
		"Differs":      {"What differs on every run is not compared.", []string{"$ x", "a 5s 282fcc91-8aef-4083-bcea-8dc5ad7d8c3e 127.0.0.1:80"}, "a 3m4s f4da442e-fdf9-4aff-b7b2-49aff9e36784 127.0.0.1:99", 0, true},
		"Within":       {"An ellipsis stands for any text.", []string{"$ x", "a … c"}, "a b b c", 0, true},
		"WithinALine":  {"But not for more than one line.", []string{"$ x", "a … c"}, "a b\nb c", 0, false},
		"Lines":        {"On a line of its own it stands for lines.", []string{"$ x", "a", "…", "c"}, "a\nb\nb\nc", 0, true},
		"Continuation": {"A command may have several lines.", []string{"$ x \\", ">   y", "a"}, "a", 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := commands(block{lines: tc.lines})
			if len(all) != 1 {
				t.Fatalf("%d commands", len(all))
			}
			if err := all[0].judge(strings.Split(tc.output, "\n"), tc.code); (err == nil) != tc.ok {
				t.Errorf("%s\njudge(): %v", tc.reason, err)
			}
		})
	}
}

// Only what does no harm is repeated.
func TestReads(t *testing.T) {
	for text, want := range map[string]bool{
		"kubectl get gwsub":                       true,
		"kubectl --context old get gwsub | jq .":  true,
		"kubectl delete gwapi x":                  false,
		"kubectl delete gwapi x --dry-run=server": true,
		"curl -s $GATEWAY/x | jq .":               true,
		"curl -s -X PUT $GATEWAY/x":               false,
		"curl -s $GATEWAY/x -d '{}'":              false,
	} {
		if got := (command{text: text}).reads(); got != want {
			t.Errorf("%s: reads() is %t", text, got)
		}
	}
}
