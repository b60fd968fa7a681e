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
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// A straightforward create is one POST; the next pass finds it up to date, and
// nothing is written any more.
//
// contract: S1, S3, S4, S6, S17, S22, A10
// case: D10, W12
func TestCreate(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			plan := w.addPlan("Gold")
			w.add(subscription("s", planID(plan.ID), application("app"), func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.BillingCustomerID, cr.Spec.ForProvider.BillingSubscriptionID = ptr("customer"), ptr("billing")
			}))
			if _, err := w.pass("s"); err != nil {
				t.Fatal(err)
			}
			after := w.stored("s")
			for range 10 {
				cr, err := w.pass("s")
				if err != nil {
					t.Fatal(err)
				}
				inForce(t, cr)
				tokenInForceIs(t, cr, corev1.ConditionTrue)
			}
			if w.count(http.MethodPost) != 1 || w.Writes() != 1 {
				t.Errorf("%d POSTs and %d writes, want 1 and 1", w.count(http.MethodPost), w.Writes())
			}

			cr, got := w.stored("s"), w.only()
			if diff := cmp.Diff(after.GetAnnotations(), cr.GetAnnotations()); diff != "" {
				t.Errorf("annotations change while nothing happens: -before, +after:\n%s", diff)
			}
			if g == emulator.InPlace && got.ID != "uid-s" {
				t.Errorf("its ID is %q, want the UID", got.ID)
			}
			if meta.GetExternalName(cr) != got.ID {
				t.Errorf("external-name is %q, want %q", meta.GetExternalName(cr), got.ID)
			}
			if !w.LetThrough("books", secretToken) {
				t.Error("the token does not work")
			}
			a, _ := w.API("books")
			want := &record.Baseline{
				Version: 1, ID: got.ID, Endpoint: w.Endpoint(), GatewayID: "emulated-gateway", APIInternalID: a.InternalID,
				Fields: map[string]string{"apiId": "books", "applicationId": "app", "billingCustomerId": "customer", "billingSubscriptionId": "billing"},
			}
			if diff := cmp.Diff(want, baselineOf(t, cr)); diff != "" {
				t.Errorf("baseline: -want, +got:\n%s", diff)
			}
			if attemptOf(t, cr) != nil {
				t.Error("the attempt is still recorded")
			}
			at := cr.Status.AtProvider
			if at.APIID != "books" || at.APIInternalID != a.InternalID || at.SubscriptionPlanID != plan.ID || at.Status != "ACTIVE" || at.Origin != v1alpha1.OriginCreated {
				t.Errorf("status reports %+v", at)
			}
			w.silent(secretToken)
		})
	}
}

// What is asked for as an ID: externalRefId, else a preset external-name, else the
// UID. What makes no sense is refused before any call.
//
// contract: S2, S3, S5
// case: F10
func TestAskedID(t *testing.T) {
	cases := map[string]struct {
		reason string
		change []change
		want   string
		refuse xpv2.ConditionReason
	}{
		"UID":         {reason: "Without any wish it is the UID.", want: "uid-s"},
		"ExternalRef": {reason: "externalRefId is the ID the user wants.", change: []change{externalRef("mine")}, want: "mine"},
		"Preset":      {reason: "A preset external-name is too.", change: []change{externalName("preset")}, want: "preset"},
		"Both":        {reason: "Equal ones do not contradict each other.", change: []change{externalRef("x"), externalName("x")}, want: "x"},
		"Different":   {reason: "Different ones do.", change: []change{externalRef("x"), externalName("y")}, refuse: v1alpha1.ReasonConflict},
		"Slash":       {reason: "An ID with a slash could reach another object.", change: []change{externalName("a/b")}, refuse: v1alpha1.ReasonRefused},
		"Hash":        {reason: "So could one with a fragment.", change: []change{externalName("id#x")}, refuse: v1alpha1.ReasonRefused},
		"Query":       {reason: "And one with a query.", change: []change{externalName("id?x")}, refuse: v1alpha1.ReasonRefused},
		"Dots":        {reason: "And one that goes up.", change: []change{externalName("..")}, refuse: v1alpha1.ReasonRefused},
		"Escaped":     {reason: "And one that is escaped already.", change: []change{externalName("%2F")}, refuse: v1alpha1.ReasonRefused},
		"Blank":       {reason: "Blanks are no ID.", change: []change{externalName(" ")}, refuse: v1alpha1.ReasonRefused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", tc.change...))
			cr, err := w.pass("s")
			if tc.refuse != "" {
				refused(t, cr, err, tc.refuse)
				if n := len(w.Requests(emulator.Match{})); n != 0 {
					t.Errorf("%s: %d requests, want none", tc.reason, n)
				}
				w.remove("s")
				w.gone("s")
				if n := len(w.Requests(emulator.Match{})); n != 0 {
					t.Errorf("%s: %d requests to delete it, want none", tc.reason, n)
				}
				return
			}
			inForce(t, w.settle("s"))
			if got := w.only().ID; got != tc.want {
				t.Errorf("%s: ID is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// A create whose answer was lost is found again: there is one subscription, and
// it is held, whatever was edited meanwhile.
//
// contract: S11, S13
// case: C7, D1, D2, D3, D6
func TestLostAnswer(t *testing.T) {
	faults := map[string]emulator.Fault{
		"Cut":       emulator.Cut().After(),
		"Status500": emulator.Status(http.StatusInternalServerError, "Failed to create subscription").After(),
		"Timeout":   emulator.Status(http.StatusRequestTimeout, "too slow").After(),
		"EmptyBody": emulator.EmptyBody(),
		"HTML":      emulator.HTML(http.StatusOK).After(),
		"NoID":      emulator.SetField("id", nil),
	}
	// says is what is wrong with an answer that is no success.
	says := map[string]string{"EmptyBody": "empty", "HTML": "HTML", "NoID": "no ID"}
	between := map[string]struct {
		do    func(w *world)
		token string
	}{
		"Nothing":     {do: func(*world) {}, token: secretToken},
		"Restart":     {do: func(w *world) { w.restart() }, token: secretToken},
		"TokenEdited": {do: func(w *world) { w.setToken("tok", otherToken) }, token: otherToken},
	}
	for gname, g := range generations() {
		for fname, f := range faults {
			for bname, b := range between {
				t.Run(gname+"/"+fname+"/"+bname, func(t *testing.T) {
					w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
					w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
					cr, err := w.pass("s")
					if err == nil || kind.IsRefusal(err) {
						t.Fatalf("error is %v, want one that passes", err)
					}
					if a := attemptOf(t, cr); a == nil || a.Outcome != record.Open || !a.AbsentBefore {
						t.Errorf("attempt is %+v, want an open one", a)
					}
					if c := cr.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, says[fname]) {
						t.Errorf("Synced is %s, and does not say %q: %s", c.Status, says[fname], c.Message)
					}
					b.do(w)
					w.wait(time.Minute)
					inForce(t, w.settle("s"))
					id := w.only().ID
					if n := w.count(http.MethodPost); n != 1 {
						t.Errorf("%d POSTs, want 1", n)
					}
					if g == emulator.InPlace && !w.HoldsToken(id, b.token) {
						t.Error("the token is not the one in the Secret")
					}
					w.silent(secretToken, otherToken)
					w.remove("s")
					w.gone("s")
					if n := len(w.Subscriptions()); n != 0 {
						t.Errorf("%d subscriptions left behind", n)
					}
				})
			}
		}
	}
}

// Fields that were edited while an answer was lost are edits of a deployed
// object: what the attempt created is held, and never left behind.
//
// contract: S11, S15, S32
func TestLostAnswerThenEdit(t *testing.T) {
	edits := map[string]change{
		"Application": application("other"),
		"API":         api("films"),
		"ExternalRef": externalRef("other"),
		"Billing":     func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.BillingCustomerID = ptr("other") },
	}
	for gname, g := range generations() {
		for ename, edit := range edits {
			t.Run(gname+"/"+ename, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), externalRef("mine"), func(cr *v1alpha1.Subscription) {
					cr.Spec.ForProvider.BillingCustomerID = ptr("customer")
				}))
				w.addAPI("films")
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
				if _, err := w.pass("s"); err == nil {
					t.Fatal("no error although the answer was lost")
				}
				w.edit("s", edit)
				if _, err := w.pass("s"); err != nil {
					t.Fatal(err)
				}
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonImmutableField)
				want := map[string]string{"apiId": "books", "applicationId": "app", "externalRefId": "mine", "billingCustomerId": "customer"}
				if diff := cmp.Diff(want, baselineOf(t, cr).Fields); diff != "" {
					t.Errorf("the baseline is not what was created: -want, +got:\n%s", diff)
				}
				if got := w.only(); got.ID != baselineOf(t, cr).ID {
					t.Errorf("it holds %q, and %q is there", baselineOf(t, cr).ID, got.ID)
				}
				w.remove("s")
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Errorf("%d subscriptions left behind", n)
				}
			})
		}
	}
}

// A process that is killed after the gateway accepted the POST, before anything
// of it was stored, finds the subscription again, and so does one that learns
// what its gateway can do only then.
//
// contract: S11
// case: D1, D2, D5
func TestKilledAfterPost(t *testing.T) {
	for gname, g := range generations() {
		for _, declared := range []bool{true, false} {
			name := gname + "/Auto"
			if declared {
				name = gname + "/Declared"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
				if declared {
					w.declareReal(g)
				}
				w.refuseWrites(func() bool { return len(w.Subscriptions()) > 0 })
				_, _ = w.pass("s")
				if n := len(w.Subscriptions()); n != 1 {
					t.Fatalf("%d subscriptions, want 1", n)
				}
				w.allowWrites()
				w.restart()
				inForce(t, w.settle("s"))
				if w.only(); w.count(http.MethodPost) != 1 {
					t.Errorf("%d POSTs, want 1", w.count(http.MethodPost))
				}
			})
		}
	}
}

// A cache that shows the object as it was before the create leads to no second
// one.
//
// contract: S11
// case: D5
func TestCacheLag(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
			before := w.stored("s")
			if _, err := w.pass("s"); err != nil {
				t.Fatal(err)
			}
			unshow := w.show(before)
			_, _ = w.pass("s")
			unshow()
			inForce(t, w.settle("s"))
			if w.only(); w.count(http.MethodPost) != 1 {
				t.Errorf("%d POSTs, want 1", w.count(http.MethodPost))
			}
		})
	}
}

// A create that takes effect after the client gave up, and after it was looked for
// and not found, leads to no second subscription.
//
// contract: S11
// case: D8
func TestLateCommit(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			w.config(func(c *configv1alpha1.ClusterProviderConfig) {
				c.Spec.Timeout = &metav1.Duration{Duration: 300 * time.Millisecond}
			})
			release := make(chan struct{})
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Delay(release)))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error although there was no answer")
			}
			// The second POST meets the first one, which commits just before it.
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(r emulator.Request) bool {
				if r.N == 2 {
					close(release)
					w.until(func() bool { return len(w.Subscriptions()) == 1 })
				}
				return false
			}}, emulator.Cut()))
			w.wait(time.Minute)
			inForce(t, w.settle("s"))
			w.only()
			if n := w.count(http.MethodPost); n != 2 {
				t.Errorf("%d POSTs, want 2", n)
			}
		})
	}
}

// until waits for a condition at the gateway.
func (w *world) until(condition func() bool) {
	deadline := time.After(20 * time.Second)
	for {
		// Before the condition is looked at, so that no change is missed.
		changed := w.Changed()
		if condition() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			w.t.Error("waited in vain")
			return
		}
	}
}

// What was refused for good is known to have created nothing: its deletion needs
// no gateway.
//
// contract: S11, S14, S31, S32, A3
// case: E1, E4, F4, F7
func TestRefusedCreate(t *testing.T) {
	cases := map[string]struct {
		reason  string
		fault   *emulator.Fault
		change  []change
		refusal bool
		applied xpv2.ConditionReason
		closed  bool
	}{
		"UnknownAPI":   {reason: "The API is not there yet.", change: []change{api("nowhere")}, refusal: true, applied: v1alpha1.ReasonAPIMissing, closed: true},
		"UnknownPlan":  {reason: "The plan is not there.", change: []change{planID("nowhere")}, refusal: true, applied: v1alpha1.ReasonPlanMissing, closed: true},
		"Unauthorized": {reason: "Credentials can be mended.", fault: ptr(emulator.Denied(http.StatusUnauthorized)), applied: v1alpha1.ReasonGatewayUnavailable, closed: true},
		"Forbidden":    {reason: "So can roles.", fault: ptr(emulator.Denied(http.StatusForbidden)), applied: v1alpha1.ReasonGatewayUnavailable, closed: true},
		"ReadOnly":     {reason: "A gateway may be read-only for a while.", fault: ptr(emulator.Status(http.StatusMethodNotAllowed, "Gateway is in immutable mode")), applied: v1alpha1.ReasonGatewayUnavailable, closed: true},
		"TooMany":      {reason: "429 may come from a proxy.", fault: ptr(emulator.Status(http.StatusTooManyRequests, "slow down")), applied: v1alpha1.ReasonGatewayUnavailable},
		"BadGateway":   {reason: "So may 502.", fault: ptr(emulator.HTML(http.StatusBadGateway)), applied: v1alpha1.ReasonGatewayUnavailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", tc.change...))
			if tc.fault != nil {
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, *tc.fault))
			}
			cr, err := w.pass("s")
			if err == nil || kind.IsRefusal(err) != tc.refusal {
				t.Fatalf("%s: error is %v", tc.reason, err)
			}
			if got := cr.GetCondition(v1alpha1.TypeApplied); got.Reason != tc.applied {
				t.Errorf("%s: Applied is %s %s: %s", tc.reason, got.Status, got.Reason, got.Message)
			}
			if got := attemptOf(t, cr).Outcome == record.Refused; got != tc.closed {
				t.Errorf("%s: the attempt is closed: %t, want %t", tc.reason, got, tc.closed)
			}
			if n := len(w.Subscriptions()); n != 0 {
				t.Fatalf("%d subscriptions", n)
			}
			w.remove("s")
			if tc.closed {
				w.ResetJournal()
			}
			w.gone("s")
			if n := w.Count(emulator.Match{Writes: true}); tc.closed && n != 0 {
				t.Errorf("%s: %d writes to delete what never was", tc.reason, n)
			}
			if tc.closed && len(w.Requests(emulator.Match{})) != 0 {
				t.Errorf("%s: the gateway is asked about what never was", tc.reason)
			}
		})
	}
}

// Of what is waited for before a create nothing is asked of the gateway in vain,
// and once it is there the create succeeds.
//
// contract: S14, S24, S25
// case: W17
func TestWaitsForDependencies(t *testing.T) {
	cases := map[string]struct {
		reason string
		change []change
		want   xpv2.ConditionReason
		cure   func(w *world)
	}{
		"TokenSecret": {
			reason: "The Secret with the token may come later.", want: v1alpha1.ReasonTokenSecretMissing, change: []change{tokenIn("late")},
			cure: func(w *world) { w.add(tokenSecret("late", secretToken)) },
		},
		"TokenKey": {
			reason: "So may its key.", want: v1alpha1.ReasonTokenSecretMissing,
			change: []change{func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.SubscriptionTokenSecretRef = &v1alpha1.TokenSecretReference{Name: "tok", Key: "other"}
			}},
			cure: func(w *world) { w.editSecret("tok", func(s *corev1.Secret) { s.Data["other"] = []byte(otherToken) }) },
		},
		"BlankToken": {
			reason: "A blank token is none.", want: v1alpha1.ReasonTokenSecretMissing, change: []change{tokenIn("blank")},
			cure: func(w *world) { w.setToken("blank", secretToken+"\n") },
		},
		"API": {
			reason: "The API may come later.", want: v1alpha1.ReasonAPIMissing, change: []change{api("late")},
			cure: func(w *world) { w.addAPI("late") },
		},
		"APIRef": {
			reason: "So may the object that is referred to.", want: v1alpha1.ReasonAPIMissing,
			change: []change{func(cr *v1alpha1.Subscription) {
				cr.Spec.ForProvider.APIID, cr.Spec.ForProvider.APIIDRef = nil, &v1alpha1.Reference{Name: "books"}
			}},
			cure: func(w *world) { w.addRestAPI("books", "books") },
		},
		"PlanRef": {
			reason: "And that of a plan.", want: v1alpha1.ReasonPlanMissing,
			change: []change{planRef("gold")},
			cure:   func(w *world) { w.addManagedPlan("gold", w.addPlan("Gold").ID) },
		},
		"PlanName": {
			reason: "And a plan that is not managed here.", want: v1alpha1.ReasonPlanMissing,
			change: []change{func(cr *v1alpha1.Subscription) { cr.Spec.ForProvider.SubscriptionPlanName = ptr("Gold") }},
			cure:   func(w *world) { w.addPlan("Gold") },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("blank", " \n"), subscription("s", tc.change...))
			var messages []string
			for range 3 {
				cr, err := w.pass("s")
				refused(t, cr, err, tc.want)
				messages = append(messages, cr.GetCondition(v1alpha1.TypeApplied).Message)
			}
			if messages[0] != messages[2] {
				t.Errorf("%s: the message changes while nothing happens: %q, %q", tc.reason, messages[0], messages[2])
			}
			tc.cure(w)
			inForce(t, w.settle("s"))
			w.only()
		})
	}
}

func planRef(name string) change {
	return func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.SubscriptionPlanIDRef = &v1alpha1.Reference{Name: name}
	}
}

// addRestAPI adds a managed API that is at the gateway.
func (w *world) addRestAPI(name, handle string) {
	w.t.Helper()
	o := &v1alpha1.RestApi{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	w.add(o)
	o.Status.Deployed, o.Status.AtProvider.ID, o.Status.AtProvider.Endpoint = true, handle, w.Endpoint()
	if err := w.kube.Status().Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// addManagedPlan adds a managed plan; without an ID it is not at the gateway yet.
func (w *world) addManagedPlan(name, id string) {
	w.t.Helper()
	o := &v1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	w.add(o)
	w.deployPlan(name, id)
}

// deployPlan gives a managed plan its ID.
func (w *world) deployPlan(name, id string) {
	w.t.Helper()
	o := &v1alpha1.SubscriptionPlan{}
	if err := w.kube.Get(w.t.Context(), clientKey(name), o); err != nil {
		w.t.Fatal(err)
	}
	o.Status.Deployed, o.Status.AtProvider.ID = id != "", id
	if id != "" {
		o.Status.AtProvider.Endpoint = w.Endpoint()
	}
	if err := w.kube.Status().Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// An attempt is recorded before the POST, byte for byte the same on every retry.
//
// contract: S11
func TestAttemptRecord(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			known := w.byHand(map[string]any{"apiId": "books", "subscriptionToken": "x", "applicationId": "app"})
			w.byHand(map[string]any{"apiId": "books", "subscriptionToken": "y", "applicationId": "other"})
			w.declareReal(g)
			w.add(subscription("s", application("app"), externalRef("mine")))
			w.Inject(emulator.FailNext(3, emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			var records []string
			for range 3 {
				cr, err := w.pass("s")
				if err == nil {
					t.Fatal("no error")
				}
				records = append(records, cr.GetAnnotations()[v1alpha1.AnnotationCreateAttempt])
				w.wait(2 * time.Minute)
			}
			if records[0] != records[1] || records[1] != records[2] {
				t.Errorf("the record changes between retries: %v", records)
			}
			want := record.Attempt{Version: 1, AskedID: "mine", AbsentBefore: true, Endpoint: w.Endpoint(), APIID: "books", ApplicationID: "app", Outcome: record.Open}
			if g == emulator.Legacy {
				want.Known = []string{known}
			}
			got := record.Attempt{}
			if err := json.Unmarshal([]byte(records[0]), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("attempt: -want, +got:\n%s", diff)
			}
			if strings.Contains(records[0], secretToken) {
				t.Error("the record holds the token")
			}
			inForce(t, w.settle("s"))
		})
	}
}

// Of too many that were there before the newest date is recorded, and stands for all:
// what was created is found again all the same.
//
// contract: S11
func TestTooManyKnown(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
	w.declareReal(emulator.Legacy)
	var newest emulator.Subscription
	for i := range maxKnown + 1 {
		newest, _ = w.AddSubscription(emulator.Subscription{APIHandle: "books", ApplicationID: "app", Status: "ACTIVE"}, fmt.Sprint("token-", i))
	}
	w.add(subscription("s", application("app")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	cr, err := w.pass("s")
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff([]string{newest.CreatedAt.UTC().Format(time.RFC3339Nano)}, attemptOf(t, cr).Known); diff != "" {
		t.Errorf("known: -want, +got:\n%s", diff)
	}
	w.wait(2 * time.Minute)
	cr = w.settle("s")
	inForce(t, cr)
	if id := baselineOf(t, cr).ID; !w.HoldsToken(id, secretToken) || len(w.Subscriptions()) != maxKnown+2 || w.count(http.MethodPost) != 1 {
		t.Errorf("it holds %q among %d, after %d POSTs", id, len(w.Subscriptions()), w.count(http.MethodPost))
	}
}

// Many subscriptions of one application to one API are created in one go, each
// with its own token; where the gateway chooses IDs one is created at a time.
//
// contract: S11, S12
// case: B10, W3
func TestManyAtOnce(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g)
			var names []string
			for _, n := range []string{"a", "b", "c", "d", "e"} {
				w.add(tokenSecret("tok-"+n, "token-"+n), subscription(n, application("app"), tokenIn("tok-"+n)))
				names = append(names, n)
			}
			// The answer to the first create is lost, and the others do not wait for it
			// for ever.
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			for range 6 {
				for _, n := range names {
					_, _ = w.pass(n)
				}
				w.wait(time.Minute)
			}
			for _, n := range names {
				cr := w.settle(n)
				inForce(t, cr)
				if id := baselineOf(t, cr).ID; !w.HoldsToken(id, "token-"+n) {
					t.Errorf("%s holds %s, which has another token", n, id)
				}
			}
			if n := len(w.Subscriptions()); n != len(names) {
				t.Errorf("%d subscriptions, want %d", n, len(names))
			}
		})
	}
}

// A lost answer of one object is not taken for that of another which asks for
// the same, not even by a process that has just started.
//
// contract: S11, S12
func TestTwoAttemptsOneLost(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok-a", "token-a"), tokenSecret("tok-b", "token-b"),
		subscription("a", application("app"), tokenIn("tok-a")), subscription("b", application("app"), tokenIn("tok-b")))
	// b is looked at while a's create is under way.
	var during atomic.Bool
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(emulator.Request) bool {
		if during.CompareAndSwap(false, true) {
			_, _ = w.pass("b")
		}
		return true
	}}, emulator.Cut().After()))
	_, _ = w.pass("a")
	w.wait(time.Minute)
	w.restart()
	for range 4 {
		_, _ = w.pass("b")
		_, _ = w.pass("a")
	}
	for _, n := range []string{"a", "b"} {
		cr := w.settle(n)
		if id := baselineOf(t, cr).ID; !w.HoldsToken(id, "token-"+n) {
			t.Errorf("%s holds a subscription with another token", n)
		}
	}
}

// Where it was not recorded which subscriptions were there before an attempt, none
// is taken for its result just because it looks alike.
//
// contract: S11
func TestUnrecordedAttemptTakesNothing(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
	stranger := w.byHand(map[string]any{"apiId": "books", "subscriptionToken": "x", "applicationId": "app"})
	w.declare(configv1alpha1.GatewayGenerationInPlace)
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
	if _, err := w.pass("s"); err == nil {
		t.Fatal("no error")
	}
	// The next process does not know what its gateway can do.
	w.declare(configv1alpha1.GatewayGenerationAuto)
	w.restart()
	w.wait(time.Minute)
	inForce(t, w.settle("s"))
	if id := baselineOf(t, w.stored("s")).ID; id == stranger {
		t.Error("it took a stranger's subscription for its own")
	}
	if !w.HoldsToken(stranger, "x") {
		t.Error("the stranger's token was changed")
	}
}

// Several subscriptions that could be the result of a lost create are not guessed
// at; the external-name says which it is.
//
// contract: S11
func TestAmbiguousAttempt(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	if _, err := w.pass("s"); err == nil {
		t.Fatal("no error")
	}
	ours := w.only().ID
	other := w.byHand(map[string]any{"apiId": "books", "subscriptionToken": "x", "applicationId": "app"})
	w.wait(time.Minute)
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonAmbiguousAttempt)
	if n := w.count(http.MethodPost); n != 1 {
		t.Errorf("%d POSTs, want 1", n)
	}
	w.edit("s", externalName(ours))
	inForce(t, w.settle("s"))
	if got := baselineOf(t, w.stored("s")).ID; got != ours {
		t.Errorf("it holds %q, want %q", got, ours)
	}
	w.remove("s")
	w.gone("s")
	if got := w.only().ID; got != other {
		t.Errorf("%q is left, want %q", got, other)
	}
}

// An object whose create was not answered, and that cannot go on, does not keep
// others of its application from being created for longer than its create can
// still take effect.
//
// contract: S11, S12
// case: B10, C1
func TestStuckAttemptBlocksNobody(t *testing.T) {
	stuck := map[string]func(w *world){
		"SecretGone": func(w *world) { w.deleteSecret("tok-a") },
		"Paused":     func(w *world) { w.edit("a", annotated(meta.AnnotationKeyReconciliationPaused, "true")) },
	}
	for name, stick := range stuck {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok-a", "token-a"), tokenSecret("tok-b", "token-b"),
				subscription("a", application("app"), tokenIn("tok-a")), subscription("b", application("app"), tokenIn("tok-b")))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			if _, err := w.pass("a"); err == nil {
				t.Fatal("no error")
			}
			stick(w)
			_, _ = w.pass("a")
			if _, err := w.pass("b"); err == nil {
				t.Error("b does not wait, although the result of a's create may still appear")
			}
			w.wait(2 * time.Minute)
			_, _ = w.pass("a")
			cr := w.settle("b")
			inForce(t, cr)
			if !w.HoldsToken(baselineOf(t, cr).ID, "token-b") {
				t.Error("b holds a subscription with another token")
			}
		})
	}
}

// A create that takes effect after the client gave up is found also if the spec
// was edited meanwhile: it is ours whatever adoption is allowed. What was edited
// is not asked for as long as that may be.
//
// contract: S10, S11
// case: D8
func TestLateCommitThenEdit(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			plan := w.addPlan("Gold")
			w.add(subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			w.config(func(c *configv1alpha1.ClusterProviderConfig) {
				c.Spec.Timeout = &metav1.Duration{Duration: 300 * time.Millisecond}
			})
			release := make(chan struct{})
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Delay(release)))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error although there was no answer")
			}
			w.edit("s", planID(plan.ID))
			for range 3 {
				if _, err := w.pass("s"); err == nil {
					t.Error("it goes on although the first create may still take effect")
				}
				w.wait(time.Second)
			}
			if n := w.count(http.MethodPost); n != 1 {
				t.Errorf("%d POSTs, want 1", n)
			}
			close(release)
			w.until(func() bool { return len(w.Subscriptions()) == 1 })
			for range 3 {
				_, _ = w.pass("s")
			}
			cr := w.stored("s")
			if b := baselineOf(t, cr); b == nil || b.ID != w.only().ID {
				t.Errorf("it holds %+v", b)
			}
			w.remove("s")
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Errorf("%d left behind", n)
			}
		})
	}
}

// One that was kept from looking into its unanswered create takes nothing that
// another one created after it could take effect itself.
//
// contract: S11, S12
func TestStuckAttemptTakesNothing(t *testing.T) {
	for name, restart := range map[string]func(w *world){"": func(*world) {}, "Restarted": func(w *world) { w.restart() }} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok-a", "token-a"), tokenSecret("tok-b", "token-b"),
				subscription("a", application("app"), tokenIn("tok-a")), subscription("b", application("app"), tokenIn("tok-b")))
			w.declareReal(emulator.Legacy)
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
			if _, err := w.pass("a"); err == nil {
				t.Fatal("no error")
			}
			w.deleteSecret("tok-a")
			w.wait(5 * time.Minute)
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			if _, err := w.pass("b"); err == nil {
				t.Fatal("no error")
			}
			restart(w)
			w.add(tokenSecret("tok-a", "token-a"))
			w.wait(time.Second)
			for range 2 {
				_, _ = w.pass("a")
				_, _ = w.pass("b")
				w.wait(2 * time.Minute)
			}
			for _, n := range []string{"a", "b"} {
				cr := w.settle(n)
				inForce(t, cr)
				if !w.HoldsToken(baselineOf(t, cr).ID, "token-"+n) {
					t.Errorf("%s holds a subscription with another token", n)
				}
			}
		})
	}
}
