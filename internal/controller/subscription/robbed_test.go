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
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// report something in the status of a Subscription, as only the provider should be
// able to.
func (w *world) report(name string, s v1alpha1.SubscriptionStatus) {
	w.t.Helper()
	cr := w.stored(name)
	cr.Status = s
	w.asUser(func() error { return w.kube.Status().Update(w.t.Context(), cr) })
}

// lose what a Subscription keeps in status, as a restore does.
func (w *world) loseStatus(name string) {
	w.t.Helper()
	w.report(name, v1alpha1.SubscriptionStatus{})
}

// Who may write status too, and is older, can show all that the holder can; but it
// was not seen to hold the subscription.
//
// contract: S12, A5
func TestForgedStatus(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			held := w.settle("s")
			thief := subscription("thief", application("app"), status(v1alpha1.SubscriptionRevoked))
			thief.Annotations = held.Annotations
			thief.CreationTimestamp.Time = held.CreationTimestamp.Add(-time.Hour)
			w.add(thief)
			for range 3 {
				w.report("thief", held.Status)
				cr, err := w.pass("thief")
				refused(t, cr, err, v1alpha1.ReasonConflict)
				if at := cr.Status.AtProvider; at.ID != "" || cr.Status.Deployed {
					t.Errorf("it still reports what it does not hold: %+v", at)
				}
				inForce(t, w.settle("s"))
			}
			w.report("thief", held.Status)
			w.remove("thief")
			w.gone("thief")
			inForce(t, w.settle("s"))
			if got := w.only(); got.Status != "ACTIVE" || got.ID != held.Status.AtProvider.ID || w.count(http.MethodPut) != 0 {
				t.Errorf("the thief changed something: %+v", got)
			}
		})
	}
}

// A holder that was just restored, or is paused, keeps an ID that is gone from the
// gateway, if it was there first.
//
// contract: S12, S30
func TestRestoredHolderKeepsAnAbsentID(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app"), externalRef("acme")))
	held := w.settle("s")
	w.deleteByHand("acme")
	w.loseStatus("s")
	w.restart()

	late := subscription("late", application("app"), externalRef("acme"))
	late.CreationTimestamp.Time = held.CreationTimestamp.Add(time.Hour)
	w.add(late)
	cr, err := w.pass("late")
	refused(t, cr, err, v1alpha1.ReasonConflict)

	typed := subscription("typed", application("app"))
	typed.CreationTimestamp.Time = held.CreationTimestamp.Add(2 * time.Hour)
	record.WriteBaseline(typed, record.Baseline{ID: "acme", Endpoint: w.Endpoint(), Fields: map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}})
	w.add(typed)
	cr, err = w.pass("typed")
	refused(t, cr, err, v1alpha1.ReasonConflict)

	inForce(t, w.settle("s"))
	if got := w.only(); got.ID != "acme" {
		t.Errorf("it holds %q", got.ID)
	}
}

// What is taken away from an object's annotations is put back, and what it holds
// is deleted with it all the same.
//
// contract: S1, S17, S32
func TestAnnotationsTakenAway(t *testing.T) {
	stripped := map[string]change{
		"All":          func(cr *v1alpha1.Subscription) { cr.Annotations = nil },
		"Baseline":     func(cr *v1alpha1.Subscription) { delete(cr.Annotations, v1alpha1.AnnotationBaseline) },
		"Garbled":      annotated(v1alpha1.AnnotationBaseline, "{"),
		"GarbledID":    annotated(v1alpha1.AnnotationBaseline, `{"v":1,"id":"../films"}`),
		"ExternalName": func(cr *v1alpha1.Subscription) { delete(cr.Annotations, meta.AnnotationKeyExternalName) },
	}
	for gname, g := range generations() {
		for name, strip := range stripped {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				id := w.settle("s").Status.AtProvider.ID
				w.ResetJournal()
				w.edit("s", strip)
				cr := w.settle("s")
				inForce(t, cr)
				if b := baselineOf(t, cr); b == nil || b.ID != id || meta.GetExternalName(cr) != id {
					t.Errorf("not put back: %v", cr.Annotations)
				}
				if n := w.Writes(); n != 0 {
					t.Errorf("%d writes at the gateway", n)
				}
				w.edit("s", strip)
				w.remove("s")
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Error("the subscription was left behind")
				}
			})
		}
	}
}

// A restore brings back a spec and annotations that are older than the token in
// force. What the create once carried is not taken for it.
//
// contract: S26
func TestTokenMemoryIsNotOutlived(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("second", otherToken), subscription("s", application("app")))
	before := w.settle("s").DeepCopy()
	w.edit("s", tokenIn("second"))
	inForce(t, w.settle("s"))
	if !w.LetThrough("books", otherToken) || w.LetThrough("books", secretToken) {
		t.Fatal("the token was not changed")
	}
	w.edit("s", tokenIn("tok"), func(cr *v1alpha1.Subscription) { cr.Annotations = before.Annotations })
	w.loseStatus("s")
	w.restart()
	cr := w.settle("s")
	inForce(t, cr)
	tokenInForceIs(t, cr, corev1.ConditionTrue)
	if !w.LetThrough("books", secretToken) || w.LetThrough("books", otherToken) {
		t.Error("the token of the spec is not in force")
	}
}

// An object is not ready while the gateway is seen to have something else, whatever
// keeps it from being changed.
//
// contract: A1
func TestNotReadyWhileItDiffers(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.settle("s")
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Status(http.StatusServiceUnavailable, "busy")))
	w.edit("s", status(v1alpha1.SubscriptionInactive))
	cr, err := w.pass("s")
	if err == nil {
		t.Fatal("no error")
	}
	if r := cr.GetCondition(xpv2.TypeReady); r.Status != corev1.ConditionFalse || !strings.Contains(r.Message, fieldStatus) {
		t.Errorf("Ready is %s: %s", r.Status, r.Message)
	}
	w.wait(time.Minute)
	inForce(t, w.settle("s"))
}

// A token that cannot be handed out keeps the rotation from happening, but not a
// revocation.
//
// contract: S23
func TestUnpublishableTokenRevoke(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", application("app"), generated))
	w.settle("s")
	w.deleteSecret("conn")
	w.refuseSecrets = true
	w.edit("s", status(v1alpha1.SubscriptionRevoked))
	if _, err := w.pass("s"); err == nil {
		t.Error("no error says that the token cannot be handed out")
	}
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("it is %s", got)
	}
	w.refuseSecrets = false
	inForce(t, w.settle("s"))
}

// The connection Secret is kept right also while something in the spec is refused.
//
// contract: S27
// case: A9
func TestPublishedWhileRefused(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app"), writesTo("conn")))
	w.settle("s")
	w.edit("s", application("other"))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	w.deleteSecret("conn")
	cr, err = w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	if got := string(w.secret("conn").Data[keyToken]); got != secretToken {
		t.Errorf("the connection Secret has %q", got)
	}
}

// What did not let calls through does not do so after it was gone, also if it
// could not be created again at once.
//
// contract: S19, S34
func TestGoneWithoutCreateStaysRevoked(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	id := w.byHand(byHandLike(secretToken, "app", "theirs"))
	w.changeByHand(id, map[string]any{"status": "REVOKED"})
	w.add(subscription("s", application("app"), externalName(id), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)))
	w.settle("s")
	w.deleteByHand(id)
	for range 2 {
		if _, err := w.pass("s"); err != nil {
			t.Fatal(err)
		}
	}
	w.edit("s", policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete))
	w.settle("s")
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("it came back %s", got)
	}
}

// An import that did not fit is held back, and noticed once it does.
//
// contract: S18, A3
func TestImportFitsLater(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.addAPI("films")
	film := map[string]any{"apiId": "films", "subscriptionToken": secretToken, "applicationId": "app", "externalRefId": "theirs"}
	w.byHand(film)
	w.add(subscription("s", application("app"), externalName("theirs")))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonImmutableField)
	if now, err := w.guard("s"); err != nil || now {
		t.Errorf("it is reconciled although nothing changed: %v", err)
	}
	w.deleteByHand("theirs")
	w.byHand(byHandLike(secretToken, "app", "theirs"))
	if now, err := w.guard("s"); err != nil || !now {
		t.Errorf("it is not noticed that it fits: %v", err)
	}
	inForce(t, w.settle("s"))
}

// What was in the way of a create is watched, and a create that was refused is tried
// again once it is gone.
//
// contract: S9, A3
func TestConflictOutOfTheWay(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			stranger := w.byHand(byHandLike(secretToken, "stranger", "acme"))
			w.add(subscription("s", application("app"), externalRef("acme")))
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonConflict)
			posts := w.count(http.MethodPost)
			if now, err := w.guard("s"); err != nil || now {
				t.Errorf("it is tried again although nothing changed: %v", err)
			}
			w.deleteByHand(stranger)
			if now, err := w.guard("s"); err != nil || !now {
				t.Errorf("it is not noticed that nothing is in the way: %v", err)
			}
			if n := w.count(http.MethodPost); n != posts {
				t.Errorf("%d POSTs to find out", n-posts)
			}
			inForce(t, w.settle("s"))
		})
	}
}

// The gateway's words for a token that is taken are about something else.
//
// contract: S23
// case: C5
func TestTakenTokenIsSaidSo(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.settle("s")
	w.byHand(byHandLike("taken", "stranger", "theirs"))
	w.setToken("tok", "taken")
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	got := cr.GetCondition(v1alpha1.TypeApplied).Message
	if !strings.Contains(got, "token") || strings.Contains(strings.ToLower(got), "already subscribed") || strings.Contains(got, "stranger") || strings.Contains(got, "theirs") {
		t.Errorf("it says: %s", got)
	}
}
