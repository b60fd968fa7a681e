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
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/conditions"
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

// After a restart nobody was seen to hold anything: who may write status wins then, but
// what it wins is neither doubled nor lost.
//
// contract: S12, A11
func TestForgedStatusAfterRestart(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			held := w.settle("s")
			thief := subscription("thief", application("app"))
			thief.Annotations = held.Annotations
			thief.CreationTimestamp.Time = held.CreationTimestamp.Add(-time.Hour)
			w.add(thief)
			w.report("thief", held.Status)
			w.restart()

			for range 2 {
				cr, err := w.pass("s")
				refused(t, cr, err, v1alpha1.ReasonConflict)
				inForce(t, w.settle("thief"))
			}
			w.remove("s")
			w.gone("s")
			inForce(t, w.settle("thief"))
			if got := w.only(); got.ID != held.Status.AtProvider.ID || got.Status != "ACTIVE" || !w.HoldsToken(got.ID, secretToken) {
				t.Errorf("it is not what it was: %+v", got)
			}
			if posts, deletes := w.count(http.MethodPost), w.count(http.MethodDelete); posts != 1 || deletes != 0 {
				t.Errorf("%d POSTs and %d DELETEs", posts, deletes)
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

// A token that somebody wrote at the gateway is set back although status, which would
// have told of that, was lost meanwhile.
//
// contract: S22, S26
func TestForeignTokenWhileStatusIsLost(t *testing.T) {
	for name, restarted := range map[string]bool{"Running": false, "Restarted": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
			held := w.settle("s").Status.AtProvider.ID
			w.SetSubscriptionToken(held, otherToken)
			w.loseStatus("s")
			if restarted {
				w.restart()
			}
			inForce(t, w.settle("s"))
			if !w.LetThrough("books", secretToken) || w.LetThrough("books", otherToken) {
				t.Error("the token of the spec is not in force")
			}
		})
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

// A token is put in force only if it can be handed out, which an immutable Secret, a
// role or a webhook may not let it be; should that turn out only later, nobody is told
// that all is well.
//
// contract: S27, A1
func TestUnwritableConnectionSecret(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", application("app"), generated))
	inForce(t, w.settle("s"))
	token := string(w.secret("conn").Data[keyToken])
	unwritable, rehearsed := true, true
	w.intercept(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		dry := len((&client.PatchOptions{}).ApplyOptions(opts).DryRun) > 0
		if _, ok := o.(*corev1.Secret); ok && unwritable && (rehearsed || !dry) {
			return kerrors.NewForbidden(corev1.Resource("secrets"), o.GetName(), nil)
		}
		return c.Patch(ctx, o, p, opts...)
	}})
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
	for range 3 {
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonRefused)
	}
	if w.count(http.MethodPut) != 0 || !w.LetThrough("books", token) {
		t.Errorf("%d PUTs, and the token that was handed out is in force: %t", w.count(http.MethodPut), w.LetThrough("books", token))
	}

	rehearsed = false
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonRefused)
	tokenInForceIs(t, cr, corev1.ConditionUnknown)

	unwritable = false
	inForce(t, w.settle("s"))
	if is := string(w.secret("conn").Data[keyToken]); is == token || !w.LetThrough("books", is) {
		t.Error("the token was not rotated in the end")
	}
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
	reasons := map[v1alpha1.SubscriptionAdoptionPolicy]xpv2.ConditionReason{
		v1alpha1.SubscriptionAdoptIfUnique: v1alpha1.ReasonConflict,
		v1alpha1.SubscriptionAdoptNever:    v1alpha1.ReasonAdoptionRefused,
	}
	for name, g := range generations() {
		for policy, reason := range reasons {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken))
				w.declareReal(g)
				stranger := w.byHand(byHandLike(secretToken, "stranger", "acme"))
				w.add(subscription("s", application("app"), externalRef("acme"), adopt(policy)))
				cr, err := w.pass("s")
				refused(t, cr, err, reason)
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

// theft is what a thief writes into the annotations of its own object.
func theft(b record.Baseline) change {
	return func(cr *v1alpha1.Subscription) {
		b.Fields = map[string]string{fieldAPIID: "books", fieldApplicationID: "app"}
		record.WriteBaseline(cr, b)
		meta.SetExternalName(cr, b.ID)
		// So that it is looked at also if it is deleted at once.
		cr.Finalizers = []string{managed.FinalizerName}
		cr.CreationTimestamp.Time = time.Unix(1000, 0)
		status(v1alpha1.SubscriptionRevoked)(cr)
	}
}

// A record about another place gives no claim to what somebody holds here, neither to
// change nor to delete it, whoever is older.
//
// contract: S12, S17, S32, A5, A11
func TestRecordOfAnotherPlace(t *testing.T) {
	for gname, g := range generations() {
		for name, deleted := range map[string]bool{"Changed": false, "Deleted": true} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
				held := w.settle("s").Status.AtProvider
				w.add(subscription("thief", application("app"), tokenIn("other"), theft(record.Baseline{ID: held.ID, Endpoint: "http://elsewhere"})))
				// What was earned at a gateway of one's own.
				w.report("thief", v1alpha1.SubscriptionStatus{Deployed: true, AtProvider: v1alpha1.SubscriptionObservation{ID: held.ID, Endpoint: "http://elsewhere", APIID: "books", ApplicationID: "app"}})
				if deleted {
					w.remove("thief")
					w.gone("thief")
				} else {
					for range 2 {
						cr, err := w.pass("thief")
						refused(t, cr, err, v1alpha1.ReasonConflict)
					}
				}
				inForce(t, w.settle("s"))
				if got := w.only(); got.ID != held.ID || got.Status != "ACTIVE" || w.count(http.MethodPut)+w.count(http.MethodDelete) != 0 || !w.LetThrough("books", secretToken) {
					t.Errorf("it was written: %+v", got)
				}
			})
		}
	}
}

// openAttempt is a forged record of a create that asked for all that another one does.
func openAttempt(w *world, id string) change {
	return func(cr *v1alpha1.Subscription) {
		record.WriteAttempt(cr, record.Attempt{AskedID: id, AbsentBefore: true, Endpoint: w.Endpoint(), APIID: "books", ApplicationID: "app", Known: []string{}, Outcome: record.Open})
		meta.SetExternalCreatePending(cr, w.clock.Now())
	}
}

// What a create made whose answer is outstanding, or was lost with the process, is
// left to the object that asked for it first.
//
// contract: S11, S12, A5
func TestForgedAttemptTakesNothing(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
			w.declareReal(g)
			victim := subscription("s", application("app"), externalRef("acme"))
			victim.CreationTimestamp.Time = w.clock.Now().Add(-time.Minute)
			w.add(victim)
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			if _, err := w.pass("s"); err == nil {
				t.Fatal("no error")
			}
			w.add(subscription("thief", application("app"), tokenIn("other"), adopt(v1alpha1.SubscriptionAdoptNever), status(v1alpha1.SubscriptionRevoked), openAttempt(w, "acme")))
			for range 2 {
				if cr, err := w.pass("thief"); err == nil || baselineOf(t, cr) != nil {
					t.Fatalf("it took what is another's: %v", err)
				}
				w.restart()
			}
			inForce(t, w.settle("s"))
			if got := w.managedBy("s"); got.Status != "ACTIVE" {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

// managedBy is the subscription that a Subscription holds.
func (w *world) managedBy(name string) emulator.Subscription {
	w.t.Helper()
	s, ok := w.Subscription(baselineOf(w.t, w.stored(name)).ID)
	if !ok {
		w.t.Fatalf("%s holds nothing that is there", name)
	}
	return s
}

// What a lost create made is found again although a younger object says that it holds
// it, or that it asked for it on a day that is still to come.
//
// contract: S10, S11, S33, A5
func TestLostCreateIsNotHidden(t *testing.T) {
	hides := map[string]func(w *world) change{
		"Record": func(w *world) change {
			return func(cr *v1alpha1.Subscription) {
				for _, s := range w.Subscriptions() {
					record.WriteBaseline(cr, record.Baseline{ID: s.ID, Endpoint: w.Endpoint()})
				}
			}
		},
		"Attempt": func(w *world) change {
			return func(cr *v1alpha1.Subscription) {
				openAttempt(w, "zzz")(cr)
				meta.SetExternalCreatePending(cr, time.Date(2999, time.January, 1, 0, 0, 0, 0, time.UTC))
			}
		},
	}
	for gname, g := range generations() {
		for name, hide := range hides {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), externalRef("acme"), adopt(v1alpha1.SubscriptionAdoptNever)))
				w.declareReal(g)
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
				if _, err := w.pass("s"); err == nil {
					t.Fatal("no error")
				}
				w.wait(time.Second)
				w.add(subscription("z", application("app"), hide(w), annotated(meta.AnnotationKeyReconciliationPaused, "true")))
				w.restart()
				inForce(t, w.settle("s"))
				w.remove("s")
				w.gone("s")
				if n := len(w.Subscriptions()); n != 0 {
					t.Errorf("%d subscriptions are left behind", n)
				}
			})
		}
	}
}

// Who overwrites the record of what an object holds does not keep it from being
// deleted with it.
//
// contract: S17, S32
func TestOverwrittenRecord(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), adopt(v1alpha1.SubscriptionAdoptNever)))
			id := w.settle("s").Status.AtProvider.ID
			overwrite := func(cr *v1alpha1.Subscription) {
				b := *baselineOf(t, cr)
				b.ID = "nope"
				record.WriteBaseline(cr, b)
			}
			w.edit("s", overwrite, status(v1alpha1.SubscriptionInactive))
			inForce(t, w.settle("s"))
			if got := w.only(); got.ID != id || got.Status != "INACTIVE" {
				t.Errorf("it is %+v", got)
			}
			w.edit("s", overwrite, externalName("nope"))
			w.remove("s")
			w.gone("s")
			if n := len(w.Subscriptions()); n != 0 {
				t.Error("the subscription is left behind")
			}
		})
	}
}

// A date that is still to come makes nobody wait for it, nor ask in a loop.
//
// contract: A3, S11
func TestDateStillToCome(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken))
	w.declareReal(emulator.Legacy)
	w.add(subscription("s", application("app"), func(cr *v1alpha1.Subscription) {
		openAttempt(w, "zzz")(cr)
		meta.SetExternalCreatePending(cr, time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC))
	}))
	inForce(t, w.settle("s"))
}

// A record that names what no URL can carry keeps no object from its deletion, and a
// status that does keeps no revocation back.
//
// contract: S23, S32
func TestUnusableRecord(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			held := w.settle("s")
			bad := held.Status
			bad.AtProvider.ID = ".."
			w.report("s", bad)
			w.edit("s", status(v1alpha1.SubscriptionRevoked))
			w.settle("s")
			if got := w.only(); got.Status != "REVOKED" {
				t.Errorf("it is %s", got.Status)
			}

			w.loseStatus("s")
			w.edit("s", func(cr *v1alpha1.Subscription) {
				b := *baselineOf(t, cr)
				b.ID = ".."
				record.WriteBaseline(cr, b)
				meta.SetExternalName(cr, "..")
			})
			w.remove("s")
			w.gone("s")
		})
	}
}

// A copy of its records is nothing against a holder whose gateway goes by another name
// from now on, be it an honest copy or that of a thief who came before; nor is one that
// waits for the name.
//
// contract: S12, S23, A5
func TestGatewayByAnotherName(t *testing.T) {
	for gname, g := range generations() {
		for name, restarted := range map[string]bool{"": false, "Restarted": true} {
			t.Run(gname+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				w.declareReal(g)
				held := w.settle("s")
				b := *baselineOf(t, held)
				respelled := strings.Replace(w.URL(), "127.0.0.1", "localhost", 1)
				waiting := b
				waiting.Endpoint = strings.Replace(b.Endpoint, "127.0.0.1", "localhost", 1)
				elsewhere := b
				elsewhere.Endpoint = "http://elsewhere/api/management/v1"
				thieves := map[string]record.Baseline{"copy": b, "waits": waiting, "unseen": waiting, "earned": elsewhere}
				for thief, forged := range thieves {
					cr := subscription(thief, application("app"), status(v1alpha1.SubscriptionRevoked), theft(forged))
					cr.CreationTimestamp.Time = held.CreationTimestamp.Add(-time.Hour)
					w.add(cr)
					switch thief {
					case "unseen": // As one that is paused.
					case "earned": // At a gateway that says what it is told to, but does not know when this one was created.
						was := held.Status
						was.AtProvider.Endpoint, was.AtProvider.CreationStamp = elsewhere.Endpoint, conditions.Milliseconds(time.Unix(1, 0))
						w.report(thief, was)
					default:
						got, err := w.pass(thief)
						refused(t, got, err, v1alpha1.ReasonConflict)
					}
				}
				if restarted {
					w.restart()
				}
				w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = respelled })
				for thief := range thieves {
					if thief == "unseen" {
						continue
					}
					got, err := w.pass(thief)
					refused(t, got, err, v1alpha1.ReasonConflict)
				}
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				w.settle("s")
				if got := w.only(); got.Status != "INACTIVE" || got.ID != b.ID {
					t.Errorf("what was held is %+v", got)
				}
				for thief := range thieves {
					got, err := w.pass(thief)
					refused(t, got, err, v1alpha1.ReasonConflict)
					w.remove(thief)
					w.gone(thief)
				}
				w.settle("s")
				if got := w.only(); got.Status != "INACTIVE" {
					t.Errorf("what was held is %+v", got)
				}
			})
		}
	}
}

// Of two bare records of one subscription that name its gateway by two endpoints only
// one holds it.
//
// contract: S12
func TestTwoBareRecordsOneHolder(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
			w.declareReal(g)
			b := *baselineOf(t, w.settle("s"))
			b.Endpoint = strings.Replace(b.Endpoint, "127.0.0.1", "localhost", 1)
			other := subscription("other", application("app"), theft(b))
			other.CreationTimestamp.Time = w.stored("s").CreationTimestamp.Add(time.Hour)
			w.add(other)
			w.loseStatus("s")
			w.restart()
			url := w.URL()
			respelled := strings.Replace(url, "127.0.0.1", "localhost", 1)
			for range 2 {
				w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = respelled })
				cr, err := w.pass("other")
				refused(t, cr, err, v1alpha1.ReasonConflict)
				w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = url })
				inForce(t, w.settle("s"))
			}
		})
	}
}

// A record that lay in wait, and was refused, does not win when the holder is restored
// from a backup without its status.
//
// contract: S12, S17, A5
func TestRestoredBesideARecordInWait(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
			w.declareReal(g)
			held := w.settle("s")
			w.add(subscription("thief", application("app"), tokenIn("other"), status(v1alpha1.SubscriptionRevoked), theft(*baselineOf(t, held))))
			got, err := w.pass("thief")
			refused(t, got, err, v1alpha1.ReasonConflict)

			w.restart()
			w.loseStatus("s")
			w.edit("s", func(cr *v1alpha1.Subscription) { cr.CreationTimestamp.Time = w.clock.Now().Add(time.Hour) })
			for range 2 {
				got, err := w.pass("thief")
				refused(t, got, err, v1alpha1.ReasonConflict)
			}
			inForce(t, w.settle("s"))
			if got := w.only(); got.Status != "ACTIVE" {
				t.Errorf("the thief changed it: %+v", got)
			}
		})
	}
}

// What was created again under another ID is held although status could not be told
// before the provider ended, and somebody copied the record meanwhile.
//
// contract: S4, S12, S30
func TestCreatedAgainStatusLost(t *testing.T) {
	w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), tokenSecret("other", otherToken), subscription("s", application("app")))
	was := w.settle("s").Status.AtProvider.ID
	w.deleteByHand(was)
	recorded := func() record.Baseline { return *baselineOf(t, w.stored("s")) }
	// The first write after the answer is the record.
	after := 0
	w.refuseWrites(func() bool {
		if w.count(http.MethodPost) > 1 {
			after++
		}
		return after > 1
	})
	_, _ = w.pass("s")
	w.allowWrites()
	if got := w.stored("s").Status.AtProvider.ID; recorded().ID == was || got != was {
		t.Fatalf("it is recorded to hold %q, and status says %q", recorded().ID, got)
	}
	w.restart()
	thief := subscription("thief", application("app"), tokenIn("other"), theft(recorded()))
	thief.CreationTimestamp.Time = w.stored("s").CreationTimestamp.Add(time.Hour)
	w.add(thief)
	for range 2 {
		cr, err := w.pass("thief")
		refused(t, cr, err, v1alpha1.ReasonConflict)
	}
	inForce(t, w.settle("s"))
	if got := w.only(); got.Status != "ACTIVE" {
		t.Errorf("the thief changed it: %+v", got)
	}
}

// One object deletes one subscription, whatever its record was made to say.
//
// contract: S1, S32, A11
func TestDeletesOne(t *testing.T) {
	for gname, g := range generations() {
		for _, name := range []string{"", "Restarted", "OtherName"} {
			t.Run(gname+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				held := w.settle("s")
				stranger := w.byHand(byHandLike("theirs", "app", "strange"))
				w.edit("s", func(cr *v1alpha1.Subscription) {
					b := *baselineOf(t, cr)
					b.ID = stranger
					record.WriteBaseline(cr, b)
					meta.SetExternalName(cr, stranger)
				})
				if name == "OtherName" {
					w.config(func(c *configv1alpha1.ClusterProviderConfig) {
						c.Spec.Endpoint = strings.Replace(w.URL(), "127.0.0.1", "localhost", 1)
					})
					cr, err := w.pass("s")
					refused(t, cr, err, v1alpha1.ReasonImmutableField)
				}
				w.remove("s")
				for w.stored("s") != nil {
					if _, err := w.pass("s"); err != nil {
						t.Fatal(err)
					}
					if name == "Restarted" {
						w.restart()
					}
				}
				if got := w.only(); got.ID != stranger {
					t.Errorf("left is %s, deleted was to be %s", got.ID, held.Status.AtProvider.ID)
				}
			})
		}
	}
}

// An import does not take what another object's create made and was not heard of,
// whichever of the two objects is older.
//
// contract: S11, S18
func TestImportOfWhatIsLost(t *testing.T) {
	for gname, g := range generations() {
		for name, age := range map[string]time.Duration{"SameSecond": 0, "Older": time.Hour} {
			t.Run(gname+"/"+name, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), tokenSecret("other", otherToken))
				w.declareReal(g)
				w.add(subscription("s", application("app"), externalRef("acme")))
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
				if _, err := w.pass("s"); err == nil {
					t.Fatal("no error")
				}
				w.restart()
				taker := subscription("taker", application("app"), tokenIn("other"), externalName(w.only().ID), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
				taker.CreationTimestamp.Time = w.stored("s").CreationTimestamp.Add(-age)
				w.add(taker)
				cr, err := w.pass("taker")
				refused(t, cr, err, v1alpha1.ReasonImmutableField)
				if wake, err := w.guard("taker"); wake || err != nil {
					t.Errorf("it would be given it: %v", err)
				}
				inForce(t, w.settle("s"))
				if !w.LetThrough("books", secretToken) || w.LetThrough("books", otherToken) {
					t.Error("its token was changed")
				}
			})
		}
	}
}

// A record of an attempt keeps nobody from importing what was there before the object
// that has the record.
//
// contract: S18, A5
func TestForgedAttemptBlocksNoImport(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, tokenSecret("tok", secretToken))
			w.declareReal(g)
			id := w.byHand(byHandLike(secretToken, "app", "theirs"))
			w.add(subscription("s", application("app"), externalName(id)))
			blocker := subscription("blocker", application("app"), openAttempt(w, id), annotated(meta.AnnotationKeyReconciliationPaused, "true"))
			blocker.CreationTimestamp.Time = w.only().CreatedAt.Add(time.Hour)
			w.add(blocker)
			w.settle("s")
			if b := baselineOf(t, w.stored("s")); b == nil || b.ID != id {
				t.Errorf("it holds %+v", b)
			}
		})
	}
}

// Of two that hold one subscription, each by a name of its own that its gateway goes by,
// one has it, whichever is looked at first and by whatever name.
//
// contract: S12, A5
func TestTie(t *testing.T) {
	for gname, g := range generations() {
		for first, second := range map[string]string{"s": "twin", "twin": "s"} {
			t.Run(gname+"/"+first, func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app")))
				w.declareReal(g)
				held := w.settle("s")
				b := *baselineOf(t, held)
				b.Endpoint = "http://elsewhere/api/management/v1"
				twin := subscription("twin", application("app"), status(v1alpha1.SubscriptionRevoked), theft(b))
				twin.CreationTimestamp.Time = held.CreationTimestamp.Add(time.Hour)
				w.add(twin)
				earned := held.Status
				earned.AtProvider.Endpoint = b.Endpoint
				w.report("twin", earned)
				url := w.URL()
				w.restart()
				w.config(func(c *configv1alpha1.ClusterProviderConfig) {
					c.Spec.Endpoint = strings.Replace(url, "127.0.0.1", "localhost", 1)
				})
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				for range 2 {
					for _, name := range []string{first, second} {
						cr, err := w.pass(name)
						if name == "twin" {
							refused(t, cr, err, v1alpha1.ReasonConflict)
						}
					}
				}
				inForce(t, w.settle("s"))
				w.config(func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Endpoint = url })
				inForce(t, w.settle("s"))
				cr, err := w.pass("twin")
				refused(t, cr, err, v1alpha1.ReasonConflict)
				if got := w.only(); got.Status != "INACTIVE" || w.Writes() != 2 {
					t.Errorf("it is %s, after %d writes", got.Status, w.Writes())
				}
			})
		}
	}
}
