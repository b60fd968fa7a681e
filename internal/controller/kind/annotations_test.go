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

package kind

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Before something is asked for, status says what and when: once for a create, and again
// when that is asked for later, or something else is.
//
// contract: S11, A10
func TestVouch(t *testing.T) {
	now := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	asked := record.Attempt{Version: record.Version, AskedID: "id", AbsentBefore: true, Endpoint: "e", Outcome: record.Open}
	other := asked
	other.AskedID = "other"
	cases := map[string]struct {
		reason  string
		after   time.Duration
		attempt record.Attempt
		writes  bool
	}{
		"AtOnce":  {reason: "It says so already.", attempt: asked},
		"Soon":    {reason: "It is near enough.", after: 999 * time.Millisecond, attempt: asked},
		"Later":   {reason: "It is sent again.", after: time.Second, attempt: asked, writes: true},
		"Clock":   {reason: "Nor where the clock was set back.", after: -time.Hour, attempt: asked, writes: true},
		"Another": {reason: "It says something else.", attempt: other, writes: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, subscription())
			o := stored(t, s)
			record.WriteAttempt(o, asked)
			vouch := func(at time.Time) string {
				t.Helper()
				if err := Vouch(t.Context(), s, o, &o.Status.CreateAttempt, at); err != nil {
					t.Fatal(err)
				}
				return stored(t, s).GetResourceVersion()
			}
			before := vouch(now)
			if v := stored(t, s).Status.CreateAttempt; v == nil || v.ID != "id" || v.Endpoint != "e" || !v.Time.Time.Equal(now) {
				t.Fatalf("status says %+v", v)
			}
			record.WriteAttempt(o, tc.attempt)
			at := now.Add(tc.after)
			if wrote := vouch(at) != before; wrote != tc.writes {
				t.Errorf("%s Written: %t", tc.reason, wrote)
			}
			v := stored(t, s).Status.CreateAttempt
			if tc.writes && (!v.Time.Time.Equal(at) || v.ID != tc.attempt.AskedID) {
				t.Errorf("status says %+v", v)
			}
			if record.ReadVouched(o, v) == nil {
				t.Error("it does not vouch for what is asked for")
			}
		})
	}
}

// Status vouches for nothing that is based on what is no longer so: whoever edits the
// object meanwhile is looked at first.
//
// contract: S11
func TestVouchForWhatIsSeen(t *testing.T) {
	s := newAPIServer(t, subscription())
	o := stored(t, s)
	edited := stored(t, s)
	edited.Labels = map[string]string{"a": "b"}
	if err := s.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	record.WriteAttempt(o, record.Attempt{AskedID: "id", Endpoint: "e", Outcome: record.Open})
	if err := Vouch(t.Context(), s, o, &o.Status.CreateAttempt, time.Now()); err == nil {
		t.Error("no error")
	}
	if v := stored(t, s).Status.CreateAttempt; v != nil {
		t.Errorf("status says %+v", v)
	}
}
