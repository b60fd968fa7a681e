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

package contest

import (
	"testing"
	"time"
)

func TestLost(t *testing.T) {
	now := time.Unix(0, 0)
	fields := []string{"spec.a"}
	c := &Contests{}
	for i := range tries {
		if c.Lost("u", 1, fields, now) {
			t.Fatalf("lost after %d writes", i)
		}
		c.Wrote("u", 1, fields, now)
	}
	if !c.Lost("u", 1, fields, now) || !c.Rests("u", 1, now) {
		t.Error("not lost")
	}
	if c.Rests("u", 2, now) || c.Rests("v", 1, now) || c.Rests("u", 1, now.Add(Pause)) {
		t.Error("another generation, object or time rests")
	}
	if c.Lost("u", 2, fields, now) || c.Lost("u", 1, []string{"spec.b"}, now) || c.Lost("v", 1, fields, now) {
		t.Error("another generation, field or object is not lost")
	}
	later := now.Add(Pause)
	if c.Lost("u", 1, fields, later) {
		t.Error("lost after the pause")
	}
	c.Wrote("u", 1, fields, later)
	if !c.Lost("u", 1, fields, later) {
		t.Error("not lost after another try")
	}
	c.Settled("u")
	if c.Lost("u", 1, fields, later) {
		t.Error("lost after it settled")
	}
}

func TestVanishes(t *testing.T) {
	now := time.Unix(0, 0)
	c := &Contests{}
	for i := range recreations {
		if c.Vanishes("u", now) {
			t.Fatalf("vanishes after %d", i)
		}
		c.Recreated("u", now)
	}
	if !c.Vanishes("u", now) || c.Vanishes("v", now) {
		t.Error("does not vanish, or another does")
	}
	c.Settled("u")
	if !c.Vanishes("u", now.Add(Pause-1)) || c.Vanishes("u", now.Add(Pause)) {
		t.Error("the pause is not kept")
	}
	if c.Recreated("u", now.Add(2*time.Hour)); c.Vanishes("u", now.Add(2*time.Hour)) {
		t.Error("vanishes although the last time is long ago")
	}
	c.Forget("u")
	if c.Vanishes("u", now) {
		t.Error("not forgotten")
	}
}
