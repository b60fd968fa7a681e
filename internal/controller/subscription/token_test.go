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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// keys of a Secret.
func keys(s *corev1.Secret) map[string]string {
	out := map[string]string{}
	for k, v := range s.Data {
		out[k] = string(v)
	}
	return out
}

// A generated token is stored before the gateway has it, so that it cannot be
// lost, and is the one that works; all of it is in the connection Secret.
//
// contract: S27
// case: A9, D1
func TestGeneratedToken(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, subscription("s", generated))
			w.declareReal(g)
			stored := ""
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(emulator.Request) bool {
				if s := w.secret("conn"); s != nil {
					stored = string(s.Data["token"])
				}
				return false
			}}, emulator.Cut()))
			cr := w.settle("s")
			inForce(t, cr)
			tokenInForceIs(t, cr, corev1.ConditionTrue)
			if len(stored) < 40 {
				t.Errorf("before the POST the Secret holds a token of %d characters", len(stored))
			}
			s := w.secret("conn")
			got := keys(s)
			if len(got) != 4 || got["token"] != stored || got["subscriptionId"] != w.only().ID || got["apiId"] != "books" || got["url"] != "https://api.example.org" {
				t.Errorf("the Secret has %v keys", len(got))
			}
			if !w.LetThrough("books", stored) {
				t.Error("the token does not work")
			}
			if o := s.GetOwnerReferences(); len(o) != 1 || o[0].UID != cr.GetUID() || s.Type != "connection.crossplane.io/v1alpha1" {
				t.Errorf("the Secret is of type %s, and belongs to %v", s.Type, o)
			}
			version := s.GetResourceVersion()
			for range 5 {
				inForce(t, w.settle("s"))
			}
			if w.secret("conn").GetResourceVersion() != version || w.Writes() != 1 {
				t.Error("something is written although nothing happens")
			}
			w.silent(stored)
		})
	}
}

// A create whose answer is lost uses the stored token again: it generates no
// second one.
//
// contract: S11, S27
func TestGeneratedTokenSurvives(t *testing.T) {
	for gname, g := range generations() {
		t.Run(gname, func(t *testing.T) {
			w := newWorld(t, g, subscription("s", generated))
			w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
			_, _ = w.pass("s")
			token := string(w.secret("conn").Data["token"])
			w.restart()
			w.wait(time.Minute)
			inForce(t, w.settle("s"))
			if got := string(w.secret("conn").Data["token"]); got != token || !w.LetThrough("books", token) {
				t.Error("the token is another one, or does not work")
			}
			w.silent(token)
		})
	}
}

// A connection Secret that is somebody else's is refused before anything is sent.
//
// contract: S27, A5
func TestForeignConnectionSecret(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("conn", "theirs"), subscription("s", generated))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonRefused)
	if n := w.Writes(); n != 0 || string(w.secret("conn").Data["token"]) != "theirs" {
		t.Errorf("%d writes, or the Secret was changed", n)
	}
}

// A connection Secret that cannot be written does not stand in the way of taking
// access away.
//
// contract: S23
// case: W15
func TestForeignConnectionSecretRevoke(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), tokenSecret("conn", "theirs"), subscription("s"))
	w.settle("s")
	w.edit("s", writesTo("conn"), status(v1alpha1.SubscriptionRevoked))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonRefused)
	if got := w.only().Status; got != "REVOKED" {
		t.Errorf("the status is %s, want REVOKED", got)
	}
	if string(w.secret("conn").Data["token"]) != "theirs" {
		t.Error("the Secret was changed")
	}
}

// The annotation rotates a generated token once per value. The new token is
// published only once it is in force.
//
// contract: S27
// case: A7
func TestRotate(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", generated))
	w.settle("s")
	first := string(w.secret("conn").Data["token"])
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Status(http.StatusInternalServerError, "no")))
	if _, err := w.pass("s"); err == nil {
		t.Fatal("no error")
	}
	if got := string(w.secret("conn").Data["token"]); got != first || !w.LetThrough("books", first) {
		t.Error("a token was published that is not in force")
	}
	inForce(t, w.settle("s"))
	second := string(w.secret("conn").Data["token"])
	if second == first || !w.LetThrough("books", second) || w.LetThrough("books", first) {
		t.Error("the token was not rotated")
	}
	w.restart()
	for range 3 {
		inForce(t, w.settle("s"))
	}
	if got := string(w.secret("conn").Data["token"]); got != second {
		t.Error("it was rotated twice")
	}
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "2"))
	inForce(t, w.settle("s"))
	if got := string(w.secret("conn").Data["token"]); got == second || !w.LetThrough("books", got) {
		t.Error("another value does not rotate it")
	}
	if n := w.events.count("TokenRotated"); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	w.counted("apiplatform_token_rotations_total", 2)
	w.silent(first, second)
}

// After a crash between the rotation and its publication it is repeated.
//
// contract: S27
func TestRotateInterrupted(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", generated))
	w.settle("s")
	first := string(w.secret("conn").Data["token"])
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPut}, emulator.Cut().After()))
	_, _ = w.pass("s")
	w.restart()
	w.wait(time.Minute)
	inForce(t, w.settle("s"))
	got := string(w.secret("conn").Data["token"])
	if got == first || !w.LetThrough("books", got) {
		t.Error("the published token does not work")
	}
}

// A generated token whose key is deleted is replaced, with a warning; a connection
// Secret that repeats a token from elsewhere is only written again.
//
// contract: S27
// case: A9
func TestConnectionSecretDeleted(t *testing.T) {
	t.Run("Generated", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, subscription("s", generated))
		w.settle("s")
		first := string(w.secret("conn").Data["token"])
		w.deleteSecret("conn")
		inForce(t, w.settle("s"))
		got := keys(w.secret("conn"))
		if got["token"] == first || !w.LetThrough("books", got["token"]) || got["subscriptionId"] == "" || got["apiId"] == "" {
			t.Error("the Secret does not hold a new token that works")
		}
		if w.events.count("TokenLost") != 1 {
			t.Error("no event warns that the token was lost")
		}
	})
	t.Run("Key", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, subscription("s", generated))
		w.settle("s")
		w.editSecret("conn", func(s *corev1.Secret) { delete(s.Data, "token") })
		inForce(t, w.settle("s"))
		if !w.LetThrough("books", string(w.secret("conn").Data["token"])) {
			t.Error("the Secret does not hold a token that works")
		}
	})
	t.Run("Ref", func(t *testing.T) {
		w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", writesTo("conn")))
		w.settle("s")
		w.deleteSecret("conn")
		writes := w.Writes()
		inForce(t, w.settle("s"))
		if got := string(w.secret("conn").Data["token"]); got != secretToken || w.Writes() != writes {
			t.Error("the Secret was not just written again")
		}
	})
}

// An edited token is in force at the gateway after one PUT, and nothing is sent
// for what is no change of it.
//
// contract: S22, S26, S35
// case: W1, A1, A6
func TestTokenEdits(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(w *world)
		puts   int
		token  string
	}{
		"Changed":        {reason: "A new token is sent once.", edit: func(w *world) { w.setToken("tok", otherToken) }, puts: 1, token: otherToken},
		"Label":          {reason: "A label is no token.", edit: func(w *world) { w.editSecret("tok", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} }) }, token: secretToken},
		"Newline":        {reason: "White space around it does not count.", edit: func(w *world) { w.setToken("tok", secretToken+"\n") }, token: secretToken},
		"OtherSecret":    {reason: "The same token in another Secret is the same token.", edit: func(w *world) { w.add(tokenSecret("tok2", secretToken)); w.edit("s", tokenIn("tok2")) }, token: secretToken},
		"OtherSecretNew": {reason: "Another one is not.", edit: func(w *world) { w.add(tokenSecret("tok2", otherToken)); w.edit("s", tokenIn("tok2")) }, puts: 1, token: otherToken},
		"Recreated":      {reason: "Nor does it matter that the Secret is another one.", edit: func(w *world) { w.deleteSecret("tok"); w.add(tokenSecret("tok", secretToken)) }, token: secretToken},
		"WhilePaused":    {reason: "Of what changed while paused only the end is sent.", edit: func(w *world) { w.whilePaused(func() { w.setToken("tok", "between"); w.setToken("tok", otherToken) }) }, puts: 1, token: otherToken},
		"RestartNoEdit":  {reason: "A restart alone sends nothing.", edit: func(w *world) { w.restart() }, token: secretToken},
		"RestartAndLabel": {reason: "An edit while the provider was down may cost one PUT.", edit: func(w *world) {
			w.restart()
			w.editSecret("tok", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		}, puts: 1, token: secretToken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s"))
			w.settle("s")
			tc.edit(w)
			cr := w.settle("s")
			for range 3 {
				cr = w.settle("s")
			}
			inForce(t, cr)
			tokenInForceIs(t, cr, corev1.ConditionTrue)
			if n := w.count(http.MethodPut); n != tc.puts {
				t.Errorf("%s: %d PUTs, want %d", tc.reason, n, tc.puts)
			}
			if !w.HoldsToken("uid-s", tc.token) {
				t.Errorf("%s: another token is in force", tc.reason)
			}
			w.silent(secretToken, otherToken)
		})
	}
}

// whilePaused pauses Subscription s while something is done.
func (w *world) whilePaused(do func()) {
	w.t.Helper()
	w.edit("s", annotated(meta.AnnotationKeyReconciliationPaused, "true"))
	_, _ = w.pass("s")
	do()
	_, _ = w.pass("s")
	w.edit("s", func(cr *v1alpha1.Subscription) { meta.RemoveAnnotations(cr, meta.AnnotationKeyReconciliationPaused) })
}

// A legacy gateway is sent a change of token once, and it is never said to be in
// force; nor does a change of status make an unknown token a known one.
//
// contract: S28, A1, S27
// case: W11
func TestLegacyToken(t *testing.T) {
	t.Run("Rotated", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s", writesTo("conn")))
		w.settle("s")
		w.setToken("tok", otherToken)
		for range 4 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
			tokenInForceIs(t, cr, corev1.ConditionFalse)
		}
		w.editSecret("tok", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		for range 2 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
		}
		if n := w.count(http.MethodPut); n != 1 {
			t.Errorf("%d PUTs, want 1", n)
		}
		if got := string(w.secret("conn").Data["token"]); got != secretToken {
			t.Error("a token was published that is not in force")
		}
		w.setToken("tok", secretToken)
		cr := w.settle("s")
		inForce(t, cr)
		tokenInForceIs(t, cr, corev1.ConditionTrue)
	})
	t.Run("Restarted", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s"))
		w.declare(configv1alpha1.GatewayGenerationLegacy)
		w.settle("s")
		w.setToken("tok", otherToken)
		for range 3 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
			tokenInForceIs(t, cr, corev1.ConditionFalse)
			w.restart()
		}
		if n := w.count(http.MethodPut); n != 1 {
			t.Errorf("%d PUTs, want 1", n)
		}
		// Nor does a label make it the token in force.
		w.editSecret("tok", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		w.restart()
		for range 2 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
		}
	})
	t.Run("Upgraded", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", secretToken), subscription("s"))
		w.declare(configv1alpha1.GatewayGenerationLegacy)
		w.settle("s")
		// Nobody says so, and what it is sent is taken.
		w.SetGeneration(emulator.InPlace)
		w.setToken("tok", otherToken)
		cr, err := w.pass("s")
		refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
		w.setToken("tok", secretToken)
		w.settle("s")
		w.declare(configv1alpha1.GatewayGenerationInPlace)
		inForce(t, w.settle("s"))
		if !w.LetThrough("books", secretToken) || w.LetThrough("books", otherToken) {
			t.Error("the token of the spec is not in force")
		}
		puts := w.count(http.MethodPut)
		if cr = w.settle("s"); w.count(http.MethodPut) != puts || cr.Status.AtProvider.IgnoredUpdate != nil {
			t.Errorf("%d more PUTs, ignored is %+v", w.count(http.MethodPut)-puts, cr.Status.AtProvider.IgnoredUpdate)
		}
	})
	t.Run("Imported", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, tokenSecret("tok", otherToken))
		w.declare(configv1alpha1.GatewayGenerationLegacy)
		id := w.byHand(byHandLike(secretToken, "app", ""))
		w.add(subscription("s", externalName(id), application("app"), writesTo("conn")))
		cr := w.settle("s")
		inForce(t, cr)
		tokenInForceIs(t, cr, corev1.ConditionUnknown)
		w.edit("s", status(v1alpha1.SubscriptionInactive))
		cr = w.settle("s")
		inForce(t, cr)
		tokenInForceIs(t, cr, corev1.ConditionUnknown)
		if w.only().Status != "INACTIVE" {
			t.Error("the status was not changed")
		}
		if _, ok := w.secret("conn").Data["token"]; ok {
			t.Error("a token was published that is not known to be in force")
		}
	})
	t.Run("Generated", func(t *testing.T) {
		w := newWorld(t, emulator.Legacy, subscription("s", generated))
		w.settle("s")
		first := string(w.secret("conn").Data["token"])
		w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
		for range 3 {
			cr, err := w.pass("s")
			refused(t, cr, err, v1alpha1.ReasonLegacyGateway)
		}
		if got := string(w.secret("conn").Data["token"]); got != first || !w.LetThrough("books", first) {
			t.Error("the token that is in force is lost")
		}
		w.silent(first)
	})
}

// An import without a token reference has an unknown token: nothing is generated.
//
// contract: S27
func TestImportGeneratesNothing(t *testing.T) {
	w := newWorld(t, emulator.InPlace)
	w.byHand(byHandLike(secretToken, "app", "theirs"))
	w.add(subscription("s", generated, externalName("theirs"), application("app")))
	cr := w.settle("s")
	inForce(t, cr)
	tokenInForceIs(t, cr, corev1.ConditionUnknown)
	got := keys(w.secret("conn"))
	if _, ok := got["token"]; ok || got["subscriptionId"] != "theirs" || got["apiId"] != "books" {
		t.Errorf("the Secret has %d keys, among them a token: %t", len(got), ok)
	}
	if !w.HoldsToken("theirs", secretToken) || w.Writes() != 0 {
		t.Error("the token was changed")
	}
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
	cr = w.settle("s")
	inForce(t, cr)
	tokenInForceIs(t, cr, corev1.ConditionTrue)
	if token := string(w.secret("conn").Data["token"]); !w.HoldsToken("theirs", token) {
		t.Error("the token was not rotated although that was asked for")
	}
}

// Whatever a gateway says of a request, no token shows.
//
// contract: A2
// case: A14, A15
func TestGatewayEchoes(t *testing.T) {
	for gname, g := range generations() {
		for _, code := range []int{http.StatusBadRequest, http.StatusConflict, http.StatusInternalServerError} {
			t.Run(gname+"/"+http.StatusText(code), func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s"))
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.EchoRequest(code)))
				_, _ = w.pass("s")
				w.silent(secretToken)
				w.wait(time.Minute)
				inForce(t, w.settle("s"))
				w.Inject(emulator.FailNext(2, emulator.Match{Method: http.MethodPut}, emulator.EchoRequest(code)))
				w.setToken("tok", otherToken)
				w.edit("s", status(v1alpha1.SubscriptionInactive))
				cr, err := w.pass("s")
				if err == nil || cr.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse {
					t.Error("the failure does not show")
				}
				w.silent(secretToken, otherToken)
			})
		}
	}
}

// A create that takes effect late carried the token of its time: the one that is
// in the Secret by now is in force nevertheless.
//
// contract: S11, S26
// case: D8, A6
func TestLateCommitThenToken(t *testing.T) {
	for gname, g := range generations() {
		for _, policy := range []v1alpha1.SubscriptionAdoptionPolicy{v1alpha1.SubscriptionAdoptIfUnique, v1alpha1.SubscriptionAdoptNever} {
			t.Run(gname+"/"+string(policy), func(t *testing.T) {
				w := newWorld(t, g, tokenSecret("tok", secretToken), subscription("s", application("app"), adopt(policy)))
				// The gateway takes the first create for lost, and carries it out when it
				// gets the second one.
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut()))
				if _, err := w.pass("s"); err == nil {
					t.Fatal("no error")
				}
				w.setToken("tok", otherToken)
				w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Where: func(r emulator.Request) bool {
					if r.N == 2 {
						w.byHand(byHandLike(secretToken, "app", "uid-s"))
					}
					return false
				}}, emulator.Cut()))
				for range 3 {
					w.wait(time.Second)
					_, _ = w.pass("s")
				}
				w.wait(2 * time.Minute)
				if g == emulator.Legacy {
					// There it is waited for, and nothing came.
					inForce(t, w.settle("s"))
					if !w.HoldsToken(w.held(), otherToken) {
						t.Error("another token is in force")
					}
					return
				}
				cr := w.settle("s")
				inForce(t, cr)
				tokenInForceIs(t, cr, corev1.ConditionTrue)
				if w.only(); !w.HoldsToken("uid-s", otherToken) || w.LetThrough("books", secretToken) {
					t.Error("the old token is in force, and the new one is said to be")
				}
			})
		}
	}
}

// Of two creates that were not answered the first one may be what took effect.
//
// contract: S11, S26
func TestTwoLostCreates(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.declareReal(emulator.InPlace)
	w.Inject(emulator.FailNext(2, emulator.Match{Method: http.MethodPost}, emulator.Cut()))
	_, _ = w.pass("s")
	w.setToken("tok", otherToken)
	w.wait(time.Second)
	_, _ = w.pass("s")
	w.byHand(byHandLike(secretToken, "app", "uid-s"))
	w.wait(2 * time.Minute)
	inForce(t, w.settle("s"))
	if w.only(); !w.HoldsToken("uid-s", otherToken) {
		t.Error("the old token is in force, and the new one is said to be")
	}
}

// What a refused create carried says nothing about the token of a subscription
// that is named afterwards.
//
// contract: S18, S26, A1
func TestImportAfterConflict(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken))
	w.byHand(byHandLike("x", "app", "ours"))
	taken := w.byHand(byHandLike(secretToken, "stranger", "theirs"))
	w.add(subscription("s", application("app"), writesTo("conn")))
	cr, err := w.pass("s")
	refused(t, cr, err, v1alpha1.ReasonConflict)
	w.deleteByHand(taken)
	w.edit("s", externalName("ours"))
	cr = w.settle("s")
	inForce(t, cr)
	tokenInForceIs(t, cr, corev1.ConditionTrue)
	if !w.HoldsToken("ours", secretToken) {
		t.Error("the token is said to be in force, and is not")
	}
}

// A rotation that cannot be carried out yet makes one new token, and not one for
// each try: every write to its Secret is a reason to try again.
//
// contract: S27, A3
func TestRotationDoesNotLoop(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", generated))
	w.settle("s")
	w.DeleteAPI("books")
	_, _ = w.pass("s")
	w.edit("s", annotated(v1alpha1.AnnotationRotateToken, "1"))
	_, _ = w.pass("s")
	version := w.secret("conn").GetResourceVersion()
	for range 5 {
		_, _ = w.pass("s")
	}
	if got := w.secret("conn").GetResourceVersion(); got != version {
		t.Errorf("the Secret is written again and again: version %s, and then %s", version, got)
	}
	w.addAPI("books")
	inForce(t, w.settle("s"))
	if !w.LetThrough("books", string(w.secret("conn").Data["token"])) {
		t.Error("the token in the Secret does not work")
	}
}

// A generated token that is lost before it is known that its create took effect is
// replaced: only that of an import is somebody else's.
//
// contract: S11, S27
func TestConnectionSecretLostBeforeAnswer(t *testing.T) {
	w := newWorld(t, emulator.InPlace, subscription("s", generated))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	if _, err := w.pass("s"); err == nil {
		t.Fatal("no error")
	}
	w.deleteSecret("conn")
	w.wait(time.Second)
	cr := w.settle("s")
	inForce(t, cr)
	tokenInForceIs(t, cr, corev1.ConditionTrue)
	if s := w.secret("conn"); s == nil || !w.LetThrough("books", string(s.Data["token"])) {
		t.Error("the Secret does not hold a token that works")
	}
	w.only()
}

// Of two re-creations that were not answered the first one may be what took
// effect, also where no token was ever applied by an update.
//
// contract: S11, S26, S30
func TestTwoLostRecreations(t *testing.T) {
	w := newWorld(t, emulator.InPlace, tokenSecret("tok", secretToken), subscription("s", application("app")))
	w.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, emulator.Cut().After()))
	_, _ = w.pass("s")
	// An illegal edit keeps updates of the token away.
	w.edit("s", application("other"))
	_, _ = w.pass("s")
	_, _ = w.pass("s")
	w.deleteByHand(w.held())
	w.Inject(emulator.FailNext(2, emulator.Match{Method: http.MethodPost}, emulator.Cut()))
	_, _ = w.pass("s")
	w.setToken("tok", otherToken)
	w.wait(time.Second)
	_, _ = w.pass("s")
	w.byHand(byHandLike(secretToken, "app", "uid-s"))
	w.edit("s", application("app"))
	w.wait(2 * time.Minute)
	inForce(t, w.settle("s"))
	if w.only(); !w.HoldsToken("uid-s", otherToken) {
		t.Error("the old token is in force, and the new one is said to be")
	}
}
