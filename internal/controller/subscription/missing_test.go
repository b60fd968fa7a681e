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

package subscription

import (
	"net/http"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// All that wait for an API that a gateway does not know ask for it once per poll, and
// write nothing meanwhile, whether they create or import. All go on when it is there.
//
// contract: A3, A10, S14
func TestMissingAPIIsAskedForOnce(t *testing.T) {
	for name, c := range map[string]change{"Create": api("nowhere"), "Import": func(cr *v1alpha1.Subscription) {
		api("nowhere")(cr)
		externalName("elsewhere")(cr)
		observeOnly(cr)
	}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("a", c), subscription("b", c, application("other"), tokenIn("other")))
			w.poll = 30 * time.Second
			asked := emulator.Match{Kind: emulator.Subscriptions, Where: func(r emulator.Request) bool { return r.ID == "" }}
			first, err := w.pass("a")
			refused(t, first, err, v1alpha1.ReasonAPIMissing)
			// Each asks once itself, when it is new.
			_, _ = w.pass("b")
			w.ResetJournal()
			for range 3 {
				for _, name := range []string{"a", "b"} {
					cr, err := w.pass(name)
					refused(t, cr, err, v1alpha1.ReasonAPIMissing)
					if is, was := cr.GetCondition(v1alpha1.TypeApplied).Message, first.GetCondition(v1alpha1.TypeApplied).Message; is != was {
						t.Errorf("%s says %q, was %q", name, is, was)
					}
					w.guarded(name, false)
				}
			}
			if n := w.Count(asked); n != 0 {
				t.Errorf("it was asked for %d times within a poll", n)
			}
			for n := range 3 {
				// Polls do not come on the second.
				w.wait(w.poll * 9 / 10)
				for range 2 {
					w.guarded("a", false)
					w.guarded("b", false)
					cr, err := w.pass("b")
					refused(t, cr, err, v1alpha1.ReasonAPIMissing)
				}
				if is := w.Count(asked); is != n+1 {
					t.Errorf("it was asked for %d times in %d polls", is, n+1)
				}
			}
			if n := w.count(http.MethodPost); n != 0 {
				t.Errorf("%d creates were sent", n)
			}

			w.addAPI("nowhere")
			w.guarded("a", false)
			w.wait(w.poll)
			w.guarded("b", true)
			w.guarded("a", true)
			if name == "Create" {
				inForce(t, w.settle("a"))
				inForce(t, w.settle("b"))
			}
		})
	}
}

// Of an API that is gone with its subscriptions, those that held them ask once per poll as
// well; who refers to an object that is gone holds on to what is there, and guards it.
//
// contract: A3, S23, S30
func TestVanishedAPIIsAskedForOnce(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("a"), subscription("b", application("other"), tokenIn("other")))
	w.poll = 30 * time.Second
	ids := map[string]bool{}
	for _, name := range []string{"a", "b"} {
		ids[baselineOf(t, w.settle(name)).ID] = true
	}
	w.DeleteAPI("books")
	for _, name := range []string{"a", "b"} {
		cr, err := w.pass(name)
		refused(t, cr, err, v1alpha1.ReasonAPIMissing)
	}
	w.ResetJournal()
	for n := range 3 {
		w.wait(w.poll)
		w.guarded("a", false)
		w.guarded("b", false)
		if is := w.Count(emulator.Match{Kind: emulator.Subscriptions}); is != n+1 {
			t.Errorf("%d calls in %d polls", is, n+1)
		}
	}
	w.addAPI("books")
	w.wait(w.poll)
	w.guarded("a", true)
	w.guarded("b", true)
	for _, name := range []string{"a", "b"} {
		if id := baselineOf(t, w.settle(name)).ID; !ids[id] {
			t.Errorf("%s came back as %s", name, id)
		}
	}
}

// What nobody waits for any more is forgotten.
func TestMissingAPIsAreForgotten(t *testing.T) {
	var m missingAPIs
	now := time.Unix(1, 0)
	for n := range 100 {
		m.miss(apiAt{id: string(rune('a' + n))}, now, time.Minute)
		now = now.Add(time.Minute)
	}
	if n := len(m.m); n > 5 {
		t.Errorf("%d are remembered", n)
	}
}
