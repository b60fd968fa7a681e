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
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Whatever fails, whoever meddles and however often the provider is killed: no
// subscription is lost, doubled or stolen, no stranger's is touched, and once all
// is well again what was asked for is in force, until it is deleted and leaves
// nothing behind.
//
// contract: S6, S10, S11, S12, S22, S23, S30, S31, S32, S33, A2, A11
func TestStory(t *testing.T) {
	few(t)
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { tell(t, rt, g) })
		})
	}
}

// few stories are told unless -rapid.checks says how many: each has its own gateway
// and API server.
func few(t *testing.T) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if was := checks.Value.String(); was == checks.DefValue {
		if err := checks.Value.Set("5"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = checks.Value.Set(was) })
	}
}

// stranger is what others have at the gateway.
type stranger struct {
	token string
	was   emulator.Subscription
}

func tell(t *testing.T, rt *rapid.T, g emulator.Generation) {
	w := newWorld(t, g, tokenSecret("tok-a", "a0-token-of-a"), tokenSecret("tok-b", "b0-token-of-b"))
	defer w.Close()
	gold, silver := w.addPlan("Gold").ID, w.addPlan("Silver").ID
	tokens := []string{"a0-token-of-a", "b0-token-of-b"}
	declared := rapid.Bool().Draw(rt, "declared")
	if declared {
		w.declareReal(g)
	}
	policy := rapid.SampledFrom([]v1alpha1.SubscriptionAdoptionPolicy{v1alpha1.SubscriptionAdoptIfUnique, v1alpha1.SubscriptionAdoptIfProven, v1alpha1.SubscriptionAdoptNever})
	names, born := []string{"a", "b"}, 0
	create := func(rt *rapid.T, n string) {
		born++
		cr := subscription(n, application("app"), tokenIn("tok-"+n), adopt(policy.Draw(rt, "adoption")))
		cr.UID = types.UID(fmt.Sprintf("uid-%s-%d", n, born))
		if n == "a" && rapid.Bool().Draw(rt, "externalRefId") {
			externalRef("wanted")(cr)
		}
		if rapid.Bool().Draw(rt, "generated") {
			cr.Spec.ForProvider.SubscriptionTokenSecretRef = nil
			writesTo(fmt.Sprintf("conn-%s-%d", n, born))(cr)
		}
		w.add(cr)
	}
	for _, n := range names {
		create(rt, n)
	}
	var strangers []stranger
	meddle := func(token string, fields map[string]any) {
		s, _ := w.Subscription(w.byHand(fields))
		strangers = append(strangers, stranger{token: token, was: s})
	}
	meddle("stranger", byHandLike("stranger", "stranger", "theirs"))
	name := rapid.SampledFrom(names)
	pass := func(n string) {
		if w.stored(n) != nil {
			_, _ = w.pass(n)
		}
	}
	// tokenOf is the token an object is to have, as far as it is made yet.
	tokenOf := func(n string) string {
		name, key, _ := source(w.stored(n))
		s := w.secret(name)
		if s == nil {
			return ""
		}
		token := string(s.Data[key])
		if token != "" && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
		return token
	}
	ours := func() []string {
		var ids []string
		for _, s := range w.Subscriptions() {
			if !slices.ContainsFunc(strangers, func(o stranger) bool { return o.was.ID == s.ID }) {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}

	// late are creates that the gateway may still carry out.
	var late []map[string]any
	wait := func(d time.Duration) {
		if w.wait(d); d > time.Minute {
			late = nil
		}
	}

	faults := map[string]emulator.Fault{
		"cut before": emulator.Cut(), "cut after": emulator.Cut().After(), "500 before": emulator.Status(500, "no"), "500 after": emulator.Status(500, "no").After(),
		"503": emulator.HTML(503), "401": emulator.Denied(401), "empty": emulator.EmptyBody(), "html": emulator.HTML(200).After(), "echo": emulator.EchoRequest(500),
	}
	kinds := make([]string, 0, len(faults))
	for k := range faults {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)

	rt.Repeat(map[string]func(*rapid.T){
		"pass":    func(rt *rapid.T) { pass(name.Draw(rt, "name")) },
		"pass on": func(rt *rapid.T) { pass(name.Draw(rt, "name")); pass(name.Draw(rt, "name")) },
		"restart": func(*rapid.T) { w.restart() },
		"wait": func(rt *rapid.T) {
			wait(time.Duration(rapid.SampledFrom([]int{1, 61, 700}).Draw(rt, "seconds")) * time.Second)
		},
		"create is not answered": func(rt *rapid.T) {
			n := name.Draw(rt, "name")
			posts := w.count(http.MethodPost)
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}, emulator.Cut()))
			pass(n)
			w.ClearFaults()
			if a := attemptOf(t, w.stored(n)); w.count(http.MethodPost) > posts && a != nil {
				fields := map[string]any{"externalRefId": a.AskedID, "apiId": a.APIID, "applicationId": a.ApplicationID, "subscriptionToken": tokenOf(n)}
				if a.PlanID != "" {
					fields["subscriptionPlanId"] = a.PlanID
				}
				late = append(late, fields)
			}
		},
		"and takes effect late": func(*rapid.T) {
			for _, fields := range late {
				w.Do(http.MethodPost, "/subscriptions", fields)
			}
			late = nil
		},
		"fault": func(rt *rapid.T) {
			method := rapid.SampledFrom([]string{http.MethodPost, http.MethodPut, http.MethodGet, ""}).Draw(rt, "method")
			f := rapid.SampledFrom(kinds).Draw(rt, "fault")
			w.Inject(emulator.FailOnce(emulator.Match{Method: method, Kind: emulator.Subscriptions}, faults[f]))
			n := name.Draw(rt, "name")
			pass(n)
			w.ClearFaults()
		},
		"killed": func(rt *rapid.T) {
			writes := 0
			after := rapid.IntRange(0, 3).Draw(rt, "writes")
			w.refuseWrites(func() bool { writes++; return writes > after })
			pass(name.Draw(rt, "name"))
			w.allowWrites()
			w.restart()
		},
		"rotate": func(rt *rapid.T) {
			n := name.Draw(rt, "name")
			if _, _, generated := source(w.stored(n)); generated {
				w.edit(n, annotated(v1alpha1.AnnotationRotateToken, fmt.Sprint(len(tokens), w.stored(n).GetResourceVersion())))
				return
			}
			token := fmt.Sprintf("%s%d-token", n, len(tokens))
			tokens = append(tokens, token)
			w.setToken("tok-"+n, token)
		},
		"lose the Secret": func(rt *rapid.T) {
			name, _, generated := source(w.stored(name.Draw(rt, "name")))
			if s := w.secret(name); generated && s != nil && g == emulator.InPlace {
				w.deleteSecret(name)
			}
		},
		"plan": func(rt *rapid.T) {
			id := rapid.SampledFrom([]string{"", gold, silver}).Draw(rt, "plan")
			w.edit(name.Draw(rt, "name"), func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.SubscriptionPlanID = nil
				if id != "" {
					cr.Spec.ForProvider.SubscriptionPlanID = &id
				}
			})
		},
		"status": func(rt *rapid.T) {
			w.edit(name.Draw(rt, "name"), status(rapid.SampledFrom([]v1alpha1.SubscriptionStatusValue{"ACTIVE", "INACTIVE", "REVOKED"}).Draw(rt, "status")))
		},
		"meddle with ours": func(rt *rapid.T) {
			ids := ours()
			if len(ids) == 0 {
				return
			}
			slices.Sort(ids)
			id := ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "which")]
			switch rapid.SampledFrom([]string{"delete", "revoke", "touch"}).Draw(rt, "how") {
			case "delete":
				w.deleteByHand(id)
				late = nil
			case "revoke":
				w.changeByHand(id, map[string]any{"status": "REVOKED"})
			case "touch":
				w.changeByHand(id, map[string]any{})
			}
		},
		"edit what cannot change": func(rt *rapid.T) {
			w.edit(name.Draw(rt, "name"), application(rapid.SampledFrom([]string{"app", "other"}).Draw(rt, "application")))
		},
		"lose and edit": func(rt *rapid.T) {
			n := name.Draw(rt, "name")
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}, emulator.Cut().After()))
			pass(n)
			w.ClearFaults()
			w.edit(n, application("other"))
			pass(n)
			pass(n)
		},
		"edit the ID": func(rt *rapid.T) {
			id := rapid.SampledFrom([]string{"", "wanted", "unwanted"}).Draw(rt, "externalRefId")
			w.edit("a", func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.ExternalRefID = nil
				if id != "" {
					cr.Spec.ForProvider.ExternalRefID = &id
				}
			})
		},
		"API is replaced": func(*rapid.T) {
			w.DeleteAPI("books")
			strangers, late = nil, nil
			pass(name.Draw(rt, "name"))
			w.addAPI("books")
		},
		"replace": func(rt *rapid.T) {
			n := name.Draw(rt, "name")
			w.remove(n)
			for range 4 {
				if pass(n); w.stored(n) == nil {
					break
				}
				wait(2 * time.Minute)
			}
			if w.stored(n) != nil {
				rt.Fatalf("%s is not deleted: %v", n, w.stored(n).GetCondition(xpv2.TypeSynced))
			}
			create(rt, n)
		},
		"stranger comes": func(rt *rapid.T) {
			token, application := fmt.Sprintf("stranger %d", len(strangers)), "stranger"
			if g == emulator.InPlace && declared {
				// There also what belongs to the application is not taken without proof.
				application = rapid.SampledFrom([]string{"stranger", "app"}).Draw(rt, "application")
			}
			meddle(token, byHandLike(token, application, ""))
		},
		"": func(rt *rapid.T) {
			for _, s := range strangers {
				if got, ok := w.Subscription(s.was.ID); !ok || got != s.was || !w.HoldsToken(s.was.ID, s.token) {
					rt.Fatalf("a stranger's subscription was changed: %+v was %+v", got, s.was)
				}
			}
			if ids := ours(); len(ids) > len(names) {
				rt.Fatalf("%d objects have %d subscriptions: %v", len(names), len(ids), ids)
			}
			for _, n := range names {
				_ = tokenOf(n)
			}
			w.silent(tokens...)
		},
	})

	// Things get well again, and what a legacy gateway cannot change is set back.
	w.ClearFaults()
	for range 6 {
		for _, n := range names {
			w.edit(n, status(v1alpha1.SubscriptionActive), application("app"), func(cr *v1alpha1.Subscription) {
				if b := baselineOf(t, cr); b != nil {
					*cr.Spec.ForProvider.ApplicationID = b.Fields[fieldApplicationID]
					cr.Spec.ForProvider.ExternalRefID = nil
					if ref, ok := b.Fields[fieldExternalRefID]; ok {
						cr.Spec.ForProvider.ExternalRefID = &ref
					}
				}
			})
		}
		w.wait(11 * time.Minute)
		pass("a")
		pass("b")
	}
	held := map[string]bool{}
	for _, n := range names {
		cr := w.stored(n)
		b := baselineOf(t, cr)
		if b == nil {
			rt.Fatalf("%s has no subscription: %v", n, cr.GetCondition(xpv2.TypeSynced))
		}
		if got, ok := w.Subscription(b.ID); !ok || held[b.ID] || got.ApplicationID != b.Fields[fieldApplicationID] || got.Status != "ACTIVE" {
			rt.Fatalf("%s holds %+v", n, got)
		}
		held[b.ID] = true
		if g == emulator.Legacy {
			continue
		}
		got, _ := w.Subscription(b.ID)
		if want := value(cr.Spec.ForProvider.SubscriptionPlanID); got.SubscriptionPlanID != want {
			rt.Fatalf("the plan of %s is %q, want %q", n, got.SubscriptionPlanID, want)
		}
		if !w.HoldsToken(b.ID, tokenOf(n)) {
			rt.Fatalf("the token of %s is another one", n)
		}
		if c := cr.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue {
			rt.Fatalf("%s is not ready: %s", n, c.Message)
		}
	}
	if ids := ours(); len(ids) != len(names) {
		rt.Fatalf("%d objects have %d subscriptions: %v", len(names), len(ids), ids)
	}

	for _, n := range names {
		w.remove(n)
	}
	for range 4 {
		pass("a")
		pass("b")
		w.wait(2 * time.Minute)
	}
	if ids := ours(); len(ids) != 0 || w.stored("a") != nil || w.stored("b") != nil {
		rt.Fatalf("left behind: %v, %v, %v", ids, w.stored("a"), w.stored("b"))
	}
	for _, s := range strangers {
		if got, ok := w.Subscription(s.was.ID); !ok || got != s.was {
			rt.Fatalf("a stranger's subscription was changed: %+v was %+v", got, s.was)
		}
	}
}
