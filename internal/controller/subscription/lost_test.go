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
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// withoutRecord takes away what a Subscription recorded to hold.
func withoutRecord(cr *v1alpha1.Subscription) { delete(cr.Annotations, v1alpha1.AnnotationBaseline) }

// What a record says that is taken away is not forgotten to anybody's advantage:
// what was refused stays refused, and what let nothing through does not begin to.
//
// contract: S17, S19, S25
func TestRecordTakenAway(t *testing.T) {
	withoutLateInit := []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete}
	imported := func(w *world) {
		id := w.byHand(byHandLike(secretToken, "app", "theirs"))
		w.changeByHand(id, map[string]any{"status": "REVOKED"})
		w.add(subscription("s", application("app"), externalName(id), policies(withoutLateInit...)))
		w.settle("s")
	}
	refusedEdit := func(edit change) func(w *world) {
		return func(w *world) {
			w.addAPI("films")
			w.add(subscription("s", application("app"), writesTo("conn")))
			w.settle("s")
			w.edit("s", edit)
			cr, err := w.pass("s")
			refused(w.t, cr, err, v1alpha1.ReasonImmutableField)
			if at := cr.Status.AtProvider; at.APIID != "books" {
				w.t.Errorf("it reports API %q", at.APIID)
			}
		}
	}
	cases := map[string]struct {
		reason  string
		before  func(w *world)
		refused bool
		status  string
	}{
		"Import":         {reason: "An import leaves its status as it is.", before: imported, status: "REVOKED"},
		"RestoredImport": {reason: "Also one whose status was lost before.", before: func(w *world) { imported(w); w.loseStatus("s"); w.restart(); w.settle("s") }, status: "REVOKED"},
		"RecreatedImport": {
			reason: "Also one that vanished and was created again.",
			before: func(w *world) { imported(w); w.deleteByHand("theirs"); w.settle("s") }, status: "REVOKED",
		},
		"GoneImport": {
			reason: "Also one that is gone, and may be created again only later.",
			before: func(w *world) {
				imported(w)
				w.edit("s", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
				w.deleteByHand("theirs")
				if _, err := w.pass("s"); err != nil {
					w.t.Fatal(err)
				}
				w.edit("s", policies(withoutLateInit...))
			},
			status: "REVOKED",
		},
		"RefusedAPI": {reason: "Another API stays refused.", before: refusedEdit(api("films")), refused: true, status: "ACTIVE"},
		"RefusedRef": {reason: "Another ID stays refused.", before: refusedEdit(externalRef("other")), refused: true, status: "ACTIVE"},
		"RefusedApp": {reason: "Another application stays refused.", before: refusedEdit(application("other")), refused: true, status: "ACTIVE"},
		"PresetName": {
			reason: "An ID that was asked for by the external name needs not stand in the spec.",
			before: func(w *world) { w.add(subscription("s", application("app"), externalName("chosen"))); w.settle("s") }, status: "ACTIVE",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			tc.before(w)
			w.edit("s", withoutRecord)
			if tc.refused {
				for range 3 {
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonImmutableField)
				}
			} else {
				inForce(t, w.settle("s"))
			}
			if got := w.only().Status; got != tc.status {
				t.Errorf("%s It is %s", tc.reason, got)
			}
		})
	}
}

// The plan that a selector chose is kept to, also when it was forgotten which one
// that was.
//
// contract: S17, S25
func TestChoiceTakenAway(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	add := func(name string) string {
		id := w.addPlan(name).ID
		w.addManagedPlan(name, id)
		label(w, &v1alpha1.SubscriptionPlan{}, name, "tier", "gold")
		return id
	}
	chosen := add("n")
	w.add(subscription("s", planSelector))
	w.settle("s")
	add("a")
	w.edit("s", withoutRecord)
	inForce(t, w.settle("s"))
	if got := w.only().SubscriptionPlanID; got != chosen {
		t.Error("another plan was chosen")
	}
}

// A new token is handed out, also if that failed at first, and the old one was
// published meanwhile.
//
// contract: S27
func TestPublishedAfterRefusal(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app"), writesTo("conn")))
	w.settle("s")
	w.edit("s", application("other"))
	w.setToken("tok", otherToken)
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	w.edit("s", application("app"))
	failures := 1
	w.intercept(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if _, ok := o.(*corev1.Secret); ok && failures > 0 {
			failures--
			return kerrors.NewServiceUnavailable("busy")
		}
		return c.Patch(ctx, o, p, opts...)
	}})
	cr, err = w.pass("s")
	if err == nil {
		t.Error("no error says that the token was not handed out")
	}
	if got := cr.GetCondition(v1alpha1.TypeApplied); got.Reason == v1alpha1.ReasonImmutableField {
		t.Errorf("it still says what was set right: %s", got.Message)
	}
	inForce(t, w.settle("s"))
	if got := string(w.secret("conn").Data[keyToken]); got != otherToken || !w.LetThrough("books", otherToken) {
		t.Errorf("the connection Secret has %q", got)
	}
}

// intercept what the provider asks the API server.
func (w *world) intercept(f interceptor.Funcs) {
	w.t.Helper()
	c, ok := w.kube.(client.WithWatch)
	if !ok {
		w.t.Fatalf("%T cannot be intercepted", w.kube)
	}
	w.kube = interceptor.NewClient(c, f)
}

// A generated token that cannot be read keeps no revocation back, and is not taken
// for lost.
//
// contract: S23, S27
func TestUnreadableGeneratedTokenRevoke(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", application("app"), generated))
	w.settle("s")
	token := w.secret("conn").Data[keyToken]
	w.editSecret("conn", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
	w.edit("s", status(v1alpha1.SubscriptionRevoked))
	unreadable := true
	w.intercept(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*corev1.Secret); ok && unreadable {
			return kerrors.NewForbidden(corev1.Resource("secrets"), k.Name, nil)
		}
		return c.Get(ctx, k, o, opts...)
	}})
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonTokenSecretMissing)
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("it is %s", got)
	}
	unreadable = false
	inForce(t, w.settle("s"))
	if got := w.secret("conn").Data[keyToken]; !slices.Equal(got, token) || w.events.count("TokenRotated") > 0 {
		t.Error("the token was replaced")
	}
}

// What is only observed is held too: an older object with a forged status does not
// get it.
//
// contract: S12, A5
func TestObserverIsNotRobbed(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	id := w.byHand(byHandLike(secretToken, "app", "theirs"))
	w.add(subscription("s", application("app"), externalName(id), policies(xpv2.ManagementActionObserve)))
	var held *v1alpha1.Subscription
	for range 2 {
		held, _ = w.pass("s")
	}
	at := held.Status.AtProvider
	thief := subscription("thief", application("app"), status(v1alpha1.SubscriptionRevoked))
	thief.CreationTimestamp.Time = held.CreationTimestamp.Add(-time.Hour)
	record.WriteBaseline(thief, record.Baseline{ID: id, Endpoint: at.Endpoint, GatewayID: at.GatewayID, APIInternalID: at.APIInternalID, Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}})
	w.add(thief)
	w.report("thief", held.Status)
	cr, err := w.pass("thief")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	if got := w.only().Status; got != "ACTIVE" {
		t.Errorf("it is %s", got)
	}
}

// A gateway that is known by two endpoints is recognised by what it says of itself:
// a record that names the other endpoint robs nobody.
//
// contract: S12, A5
func TestTwoEndpointsOneHolder(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	held := w.settle("s")
	w.addConfig("other", anotherName(w.URL()), "")
	at := held.Status.AtProvider
	thief := subscription("thief", application("app"), status(v1alpha1.SubscriptionRevoked), through("other"))
	thief.CreationTimestamp.Time = held.CreationTimestamp.Add(time.Hour)
	record.WriteBaseline(thief, record.Baseline{ID: at.ID, Endpoint: anotherName(at.Endpoint), GatewayID: at.GatewayID, APIInternalID: at.APIInternalID, Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}})
	w.add(thief)
	cr, err := w.pass("thief")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	inForce(t, w.settle("s"))
	if got := w.only().Status; got != "ACTIVE" {
		t.Errorf("it is %s", got)
	}
}

// What may not create notices when what it names by externalRefId appears.
//
// contract: S18, A3
func TestObservedAppearsLater(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.add(subscription("s", application("app"), externalRef("theirs"), policies(xpv2.ManagementActionObserve)))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	if now, err := w.guard("s"); err != nil || now {
		t.Errorf("it is looked at although nothing changed: %v", err)
	}
	w.byHand(byHandLike(secretToken, "app", "theirs"))
	if now, err := w.guard("s"); err != nil || !now {
		t.Errorf("it is not noticed that it is there: %v", err)
	}
}

// The annotations of the gateway's operator are removed from whatever is held,
// however it came to be.
//
// contract: S20
func TestConvertedIsCleaned(t *testing.T) {
	for name, before := range map[string]func(w *world){
		"Created": func(*world) {},
		"Adopted": func(w *world) { w.byHand(byHandLike(secretToken, "app", "acme")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
			before(w)
			w.add(subscription("s", application("app"), externalRef("acme"), annotated(operatorAnnotations()[0], "x"), annotated("example.org/other", "y")))
			a := w.settle("s").GetAnnotations()
			if _, ok := a[operatorAnnotations()[0]]; ok || a["example.org/other"] != "y" {
				t.Errorf("annotations: %v", a)
			}
		})
	}
}

// Where several subscriptions may be what was created again, the user names the right one
// in the external-name, as the message says.
//
// contract: S11
func TestNamedAfterRecreate(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.declareReal(emulator.Legacy)
	id := w.settle("s").Status.AtProvider.ID
	w.wait(24 * time.Hour)
	w.deleteByHand(id)
	w.lost("s", emulator.Cut().After())
	made := w.idOf("app")
	w.byHand(byHandLike("stranger's", "app", ""))
	w.wait(2 * time.Minute)
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonAmbiguousAttempt)
	w.edit("s", externalName(made))
	for range 4 {
		cr, err = w.pass("s")
		w.wait(time.Minute)
	}
	if cr.Status.AtProvider.ID != made || !cr.Status.Deployed {
		t.Errorf("%s is named and not held: %v", made, err)
	}
}

// One wrong answer that the API is missing does not have a create forgotten whose answer
// was lost.
//
// contract: S11, S31, S33
func TestAPIMissingOnceWhileOpen(t *testing.T) {
	for name, rotated := range map[string]bool{"SameToken": false, "TokenEdited": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
			w.declareReal(emulator.Legacy)
			w.add(subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			w.lost("s", emulator.Cut().After())
			if rotated {
				w.setToken("tok", otherToken)
			}
			w.wait(2 * time.Minute)
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodGet, Kind: emulator.Subscriptions}, emulator.Status(http.StatusNotFound, "API not found")))
			for range 6 {
				_, _ = w.pass("s")
				w.wait(time.Minute)
			}
			cr := w.stored("s")
			if n := len(w.Subscriptions()); n != 1 || !cr.Status.Deployed {
				t.Errorf("%d are there: %v", n, cr.GetCondition(v1alpha1.TypeApplied))
			}
			w.leavesNothing("s")
		})
	}
}

// What a create made whose answer was lost is not forgotten for an import.
//
// contract: S11, S33, S34
func TestImportWithoutCreateWhileOpen(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			theirs := w.byHand(byHandLike("by-hand", "app", "theirs"))
			w.wait(24 * time.Hour)
			w.add(subscription("s", application("app")))
			w.lost("s", emulator.Cut().After())
			w.wait(2 * time.Minute)
			w.edit("s", externalName(theirs), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
			w.passes("s")
			w.edit("s", policies(xpv2.ManagementActionAll))
			w.passes("s")
			w.remove("s")
			w.gone("s")
			for _, s := range w.Subscriptions() {
				if s.ID != theirs && w.events.count("LeftBehind") != 1 {
					t.Errorf("%s is left behind, which is said %d times", s.ID, w.events.count("LeftBehind"))
				}
			}
		})
	}
}

// What a stranger made a day after a create that was never carried out is not taken for its
// result by an object, or a provider, that rested meanwhile.
//
// contract: S9, S10, S11, A11
func TestMadeLongAfterAttempt(t *testing.T) {
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Held": false, "Deleted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", otherToken))
				w.declareReal(g)
				w.add(subscription("s", application("app"), externalRef("acme"), adopt(v1alpha1.SubscriptionAdoptNever)))
				w.lost("s", emulator.Cut().Before())
				w.wait(24 * time.Hour) // It is paused, or the provider is down.
				id := w.byHand(byHandLike("strangers-token", "app", "acme"))
				w.wait(24 * time.Hour)
				w.restart()
				if deleted {
					w.remove("s")
					w.gone("s")
				} else {
					w.passes("s")
				}
				if _, there := w.Subscription(id); !there || !w.HoldsToken(id, "strangers-token") {
					t.Errorf("it is taken or deleted; there: %t", there)
				}
				if cr := w.stored("s"); cr != nil && cr.Status.AtProvider.ID == id {
					t.Errorf("it is held: %v", cr.GetCondition(v1alpha1.TypeApplied))
				}
			})
		}
	}
}

// What a stranger made under an ID, long after a create that was recorded in a backup, is not
// taken for the result of that create by an object that comes back from there.
//
// contract: S9, S10, S11, A5, A11
func TestStaleAttemptRestored(t *testing.T) {
	for name, restoredStatus := range map[string]bool{"WithoutStatus": false, "WithStatus": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", otherToken))
			w.declareReal(emulator.InPlace)
			w.add(subscription("s", application("app"), externalRef("acme"), adopt(v1alpha1.SubscriptionAdoptNever)))
			w.lost("s", emulator.Cut().After())
			backup := w.stored("s")
			w.settle("s")
			w.leavesNothing("s")
			w.wait(24 * time.Hour)
			w.byHand(byHandLike("strangers-token", "app", "acme"))
			w.wait(24 * time.Hour)
			w.restart()
			backup.ResourceVersion, backup.UID, backup.Finalizers = "", "uid-restored", nil
			backup.CreationTimestamp.Time = w.clock.Now()
			st := backup.Status
			backup.Status = v1alpha1.SubscriptionStatus{}
			w.add(backup)
			if restoredStatus {
				w.report("s", st)
			}
			w.passes("s")
			if !w.HoldsToken("acme", "strangers-token") || w.stored("s").Status.Deployed {
				t.Errorf("it is taken: %v", w.stored("s").GetCondition(v1alpha1.TypeApplied))
			}
			w.remove("s")
			w.gone("s")
			if _, there := w.Subscription("acme"); !there {
				t.Error("the stranger's is deleted")
			}
		})
	}
}

// What a create made whose answer was lost is revoked although the reference to its API
// cannot be followed any more.
//
// contract: S11, S23
func TestRevokedWhileOpenAndUnfollowable(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.declareReal(emulator.InPlace)
	w.add(subscription("s", application("app")))
	w.lost("s", emulator.Cut().After())
	w.edit("s", status(v1alpha1.SubscriptionRevoked), func(cr *v1alpha1.Subscription) {
		cr.Spec.ForProvider.APIID = nil
		cr.Spec.ForProvider.APIIDRef = &v1alpha1.Reference{Name: "nope"}
	})
	for range 5 {
		_, _ = w.pass("s")
		w.wait(time.Minute)
	}
	if got := w.only(); got.Status != "REVOKED" {
		t.Errorf("it is %s: %v", got.Status, w.stored("s").GetCondition(v1alpha1.TypeApplied))
	}
}

// What was created again, and whose record could not be stored, is found and recorded,
// whatever status says of it already.
//
// contract: S4, S11
func TestRecreatedAndNotRecorded(t *testing.T) {
	for refused := range 6 {
		t.Run(fmt.Sprint(refused), func(t *testing.T) {
			w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.declareReal(emulator.Legacy)
			w.deleteByHand(w.settle("s").Status.AtProvider.ID)
			w.wait(time.Minute)
			n := 0
			w.refuseWrites(func() bool { n++; return n == refused+1 })
			_, _ = w.pass("s")
			w.allowWrites()
			w.wait(time.Minute)
			inForce(t, w.settle("s"))
			w.only()
		})
	}
}

// Nor is a create open for ever whose outcome could not be recorded, whatever status says of
// it already.
//
// contract: S11, A10
func TestCreatedAndNotRecorded(t *testing.T) {
	for gname, g := range generations() {
		for refused := range 7 {
			t.Run(fmt.Sprint(gname, refused), func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				w.declareReal(g)
				n := 0
				w.refuseWrites(func() bool { n++; return n == refused+1 })
				_, _ = w.pass("s")
				w.allowWrites()
				w.wait(time.Minute)
				cr := w.settle("s")
				inForce(t, cr)
				if a := attemptOf(t, cr); a != nil {
					t.Errorf("an attempt is open: %+v", a)
				}
				w.only()
			})
		}
	}
}

// Nor is it told of as left behind where it is what is imported.
//
// contract: S11, S34, A8
func TestLostIsImportedWithoutCreate(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			w.add(subscription("s", application("app")))
			w.lost("s", emulator.Cut().After())
			made := w.idOf("app")
			w.edit("s", externalName(made), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
			w.passes("s")
			if cr := w.stored("s"); baselineOf(t, cr) == nil || baselineOf(t, cr).ID != made {
				t.Errorf("it is not held: %v", cr.GetCondition(v1alpha1.TypeApplied))
			}
			if n := w.events.count("LeftBehind"); n != 0 {
				t.Errorf("it is told of as left behind %d times", n)
			}
		})
	}
}
