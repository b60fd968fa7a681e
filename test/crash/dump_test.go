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

package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// logLines is how many lines of the provider's log are shown, and logWidth how much
// of each.
const logLines, logWidth = 40, 400

// dump what is there, when a test failed.
func (c *scene) dump() {
	c.tell("failed")
	c.t.Logf("what happened:\n%s", strings.Join(c.story, "\n"))
	if c.death.happened {
		c.t.Logf("at the first kill the gateway had created it: %t; that was recorded: %t; the edit thereafter was refused: %t", c.death.created, c.death.recorded, c.death.editRefused)
	}
	for _, mg := range c.about {
		if err := c.kube.Get(context.Background(), client.ObjectKeyFromObject(mg), mg); err != nil {
			c.t.Log(err)
			continue
		}
		mg.SetManagedFields(nil)
		// It was read as JSON, so it can be written.
		is, _ := yaml.Marshal(mg) //nolint:errchkjson // See above.
		c.t.Logf("%T:\n%s", mg, is)
	}
	for of, is := range c.things() {
		c.t.Logf("%s at the gateway (somebody else's: %t): %+v", of.at, c.others[of] != nil, is)
	}
	c.dumpRequests()
	if c.provider != nil {
		c.t.Logf("the provider's last lines:\n%s", told(c.provider.Tail(1000)))
	}
}

// dumpRequests that the gateway got, those that are repeated only once.
func (c *scene) dumpRequests() {
	last, times := "", 0
	say := func() {
		if times > 0 {
			c.t.Logf("request: %s (%d times)", last, times)
		}
	}
	for _, r := range c.gw.Requests(emulator.Match{Where: func(r emulator.Request) bool { return r.IsWrite() || isAboutOne(r) }}) {
		line := fmt.Sprintf("%s %s %s %s: %d %s, committed: %t", r.Method, r.Kind, r.ID, r.Query.Encode(), r.Status, r.Outcome, r.Committed)
		if line != last {
			say()
			last, times = line, 0
		}
		times++
	}
	say()
}

// told are the last lines of a log that tell of more than a start or a poll.
func told(log string) string {
	lines := slices.DeleteFunc(strings.Split(log, "\n"), func(l string) bool {
		return slices.ContainsFunc([]string{"\tStarting ", "\tgvk is ready", "domain-qualified", "\tReconciling\t", "is up to date"}, func(s string) bool { return strings.Contains(l, s) })
	})
	lines = lines[max(0, len(lines)-logLines):]
	for i, l := range lines {
		lines[i] = l[:min(len(l), logWidth)]
	}
	return strings.Join(lines, "\n")
}
