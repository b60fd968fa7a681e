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
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// holding is an API server that has one Secret.
type holding struct {
	client.Client

	secret *corev1.Secret
}

func (h holding) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	h.secret.DeepCopyInto(o.(*corev1.Secret))
	return nil
}

// FuzzToken reads any content of a token Secret. What is taken for the token is
// what a gateway keeps that is sent the content as it is, and what is refused is
// not repeated.
//
// contract: S26, A2
// case: A1
func FuzzToken(f *testing.F) {
	for _, s := range []string{
		"abc", "abc\n", "\r\n abc\t", "", " \n", "\u0085\u00a0\u2003", "\u2028abc\u2029", "\ufeffabc", "a\nb", "a\x00b", "a\xffb", "\xff", "<&>\"'\\", "\u200b", "Zq~\x01",
	} {
		f.Add([]byte(s))
	}
	gw := emulator.New(emulator.Options{Generation: emulator.InPlace})
	if _, ok := gw.AddAPI("books"); !ok {
		f.Fatal("cannot add an API")
	}
	cr := subscription("s")
	f.Fuzz(func(t *testing.T, content []byte) {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "s"}, Data: map[string][]byte{v1alpha1.DefaultTokenKey: content}}
		e := &external{kube: holding{secret: s}}
		got, err := e.readToken(t.Context(), cr, "s", v1alpha1.DefaultTokenKey)
		if err != nil {
			t.Fatal(err)
		}
		if got.problem != nil {
			if got.value != "" || got.state != tokenMissing || strings.Contains(got.problem.Error(), "Zq~") {
				t.Fatalf("%q is refused: %v", content, got.problem)
			}
			// What is no text cannot be sent in JSON at all.
			if blank := strings.TrimSpace(string(content)) == ""; blank {
				if status, _ := gw.Do(http.MethodPost, "/subscriptions", map[string]any{"apiId": "books", "subscriptionToken": string(content)}); status != http.StatusBadRequest {
					t.Fatalf("the gateway answers %d to blank token %q", status, content)
				}
			}
			return
		}
		if !utf8.Valid(content) || got.value == "" {
			t.Fatalf("%q is taken for a token", content)
		}
		status, out := gw.Do(http.MethodPost, "/subscriptions", map[string]any{"apiId": "books", "subscriptionToken": string(content)})
		id, _ := out["id"].(string)
		if status != http.StatusCreated || !gw.HoldsToken(id, got.value.Reveal()) {
			t.Fatalf("of %q the token is %q, but the gateway answers %d or keeps another", content, got.value.Reveal(), status)
		}
		gw.DeleteSubscription(id)
	})
}

// FuzzTokenMemory reads annotations that anybody may have written.
//
// contract: S26
func FuzzTokenMemory(f *testing.F) {
	for _, s := range []string{`{"uid":"u","key":"k","resourceVersion":"1"}`, `{"uid":7}`, `[]`, `null`, ``, `{"UID":"u"}`, `{"uid":"u"}{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		cr := subscription("s", annotated(v1alpha1.AnnotationTokenMemory, raw))
		v := rememberedByCreate(cr)
		if v == nil {
			return
		}
		remember(cr, v)
		if again := rememberedByCreate(cr); again == nil || *again != *v {
			t.Fatalf("%q reads as %v, and written again as %v", raw, v, again)
		}
	})
}
