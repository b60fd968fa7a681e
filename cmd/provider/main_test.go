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
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// A poll is a minute, and nothing is left alone for more than an hour, unless somebody
// says so: docs/promises.md counts in polls.
func TestDefaults(t *testing.T) {
	o := &options{}
	k, err := kong.New(o, kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Parse(nil); err != nil {
		t.Fatal(err)
	}
	if o.Poll != 30*time.Second || o.Resync != time.Hour {
		t.Errorf("poll %s, resync %s", o.Poll, o.Resync)
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Defaults":         {reason: "What is not given is fine."},
		"Poll":             {reason: "A gateway is not to be hammered.", args: []string{"--poll=1ms"}, want: "--poll"},
		"MinPoll":          {reason: "Nor by an annotation.", args: []string{"--min-poll=1ms"}, want: "--min-poll"},
		"Resync":           {reason: "It would shorten what --poll says.", args: []string{"--resync=1s"}, want: "--resync"},
		"Rate":             {reason: "Nothing would ever be done.", args: []string{"--max-reconcile-rate=0"}, want: "--max-reconcile-rate"},
		"ClusterID":        {reason: "A name is one.", args: []string{"--cluster-id=prod_eu-1.example"}},
		"ClusterIDSlash":   {reason: "A slash ends a part of a mark.", args: []string{"--cluster-id=prod/eu"}, want: "--cluster-id"},
		"ClusterIDBlank":   {reason: "Nobody can tell it from another.", args: []string{"--cluster-id= "}, want: "--cluster-id"},
		"ClusterIDTooLong": {reason: "A mark is an annotation.", args: []string{"--cluster-id=" + strings.Repeat("a", 254)}, want: "--cluster-id"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, err := kong.New(&options{}, kong.Vars{"version": "test"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = k.Parse(tc.args)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s refused: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s want a complaint about %s, got: %v", tc.reason, tc.want, err)
			}
		})
	}
}
