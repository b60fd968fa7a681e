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
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A token is what is known of the token a spec asks for.
type token struct {
	state   tokenState
	problem *problem

	// value of the token, if it had to be read.
	value gateway.Secret

	// version of the Secret that holds it.
	version *v1alpha1.TokenVersion

	// rotate is true if a new token is to be generated.
	rotate bool

	// unreadable is true if it cannot be told whether there is one.
	unreadable bool

	// sentBefore is true if it is the one that a legacy gateway was last sent.
	sentBefore bool
}

// source is where a managed resource's token is: the Secret and key, and whether
// the provider generates it. The name is empty if there is none.
func source(cr *v1alpha1.Subscription) (name, key string, generated bool) {
	if ref := cr.Spec.ForProvider.SubscriptionTokenSecretRef; ref != nil {
		if ref.Key == "" {
			return ref.Name, v1alpha1.DefaultTokenKey, false
		}
		return ref.Name, ref.Key, false
	}
	if ref := cr.GetWriteConnectionSecretToReference(); ref != nil {
		return ref.Name, v1alpha1.DefaultTokenKey, true
	}
	return "", "", false
}

// secrets are the names of the Secrets a managed resource uses.
func secrets(cr *v1alpha1.Subscription) []string {
	var names []string
	if ref := cr.Spec.ForProvider.SubscriptionTokenSecretRef; ref != nil {
		names = append(names, ref.Name)
	}
	if ref := cr.GetWriteConnectionSecretToReference(); ref != nil {
		names = append(names, ref.Name)
	}
	return names
}

// remembered is the version of the Secret whose token was last applied: what an
// update left in status, else what a create left in an annotation. Where a token can
// be changed, the latter tells of the one in force only as long as nothing was written
// since: status, which knew of later writes, may have been lost in a restore.
func (e *external) remembered(cr *v1alpha1.Subscription) *v1alpha1.TokenVersion {
	if v := cr.Status.AtProvider.Token; v != nil {
		return v
	}
	legacy := e.gateway.Generation() == connection.GenerationLegacy
	if s := e.observed; s != nil && !legacy && !sameStamp(s.CreatedAt, s.UpdatedAt) {
		return nil
	}
	return rememberedByCreate(cr)
}

// rememberedByCreate is the version of the Secret whose token the last create
// carried.
func rememberedByCreate(cr *v1alpha1.Subscription) *v1alpha1.TokenVersion {
	v := &v1alpha1.TokenVersion{}
	if json.Unmarshal([]byte(cr.GetAnnotations()[v1alpha1.AnnotationTokenMemory]), v) != nil || v.UID == "" {
		return nil
	}
	return v
}

// remember the version of the Secret whose token a create carries, in the
// annotations in memory.
func remember(cr *v1alpha1.Subscription, v *v1alpha1.TokenVersion) {
	if v == nil {
		return
	}
	// A struct of strings always encodes.
	raw, _ := json.Marshal(v) //nolint:errchkjson // See above.
	a := cr.GetAnnotations()
	a[v1alpha1.AnnotationTokenMemory] = string(raw)
	cr.SetAnnotations(a)
}

// token of a managed resource, and whether it is the one last applied. The Secret
// itself is read only if its version differs from the one that was.
func (e *external) token(ctx context.Context, cr *v1alpha1.Subscription, deployed bool) (token, error) {
	name, key, generated := source(cr)
	if name == "" {
		return token{state: tokenUnmanaged}, nil
	}
	known := e.remembered(cr)
	if deployed && e.attemptOpen() {
		// Which of several creates took effect is not known, nor what it carried.
		known = cr.Status.AtProvider.Token
	}
	rotate := generated && rotationAsked(cr)
	ignored := cr.Status.AtProvider.IgnoredUpdate
	sent := ignored != nil && ignored.Token != nil
	// A gateway that was sent a token while it was believed to take none may have taken
	// it.
	unsure := sent && e.gateway.Generation() != connection.GenerationLegacy

	seen, err := e.secretMetadata(ctx, cr.GetNamespace(), name)
	if err != nil {
		return token{}, err
	}
	if deployed && !rotate && !unsure && known != nil && seen != nil && *known == (v1alpha1.TokenVersion{UID: string(seen.GetUID()), Key: key, ResourceVersion: seen.GetResourceVersion()}) {
		return token{state: tokenInForce, version: known}, nil
	}

	t, err := e.readToken(ctx, cr, name, key)
	if err != nil {
		return token{}, err
	}
	state, rotate := judgeToken(tokenCase{
		Deployed: deployed, Generated: generated, RotationAsked: rotate,
		Missing:    t.problem != nil,
		Unreadable: t.unreadable,
		Known:      known != nil || e.baseline != nil && !leavesStatus(e.baseline),
		Comparable: e.memory.token != nil && !unsure,
		Equal:      t.problem == nil && hmac.Equal(e.memory.token, e.memories.mac(t.value)),
		Ignored:    sent,
	})
	if rotate || state == tokenUnmanaged {
		return token{state: state, rotate: rotate}, nil
	}
	t.state = state
	t.sentBefore = sent && state == tokenChanged && hmac.Equal(e.memory.ignoredToken, e.memories.mac(t.value))
	return t, nil
}

// rotationAsked tells whether the annotation that asks for a rotation has a value
// that was not acted on.
func rotationAsked(cr *v1alpha1.Subscription) bool {
	asked := cr.GetAnnotations()[v1alpha1.AnnotationRotateToken]
	return asked != "" && cr.Status.AtProvider.ID != "" && asked != cr.Status.AtProvider.HandledRotation
}

// secretMetadata is what the cache holds of a Secret, or nil if nothing.
func (e *external) secretMetadata(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := e.cache.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, m)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Nothing is a valid answer.
	}
	return m, errors.Wrapf(err, "cannot look at Secret %q", name)
}

// readToken reads a token from the API server. What is wrong with it is part of
// the answer.
func (e *external) readToken(ctx context.Context, cr *v1alpha1.Subscription, name, key string) (token, error) {
	missing := func(format string, a ...any) token {
		return token{state: tokenMissing, problem: problemf(v1alpha1.ReasonTokenSecretMissing, format, a...)}
	}
	s := &corev1.Secret{}
	err := e.kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: name}, s)
	if kerrors.IsNotFound(err) {
		return missing("Secret %q, which should hold the token under key %q, does not exist in namespace %q; create it", name, key, cr.GetNamespace()), nil
	}
	if err != nil && ctx.Err() != nil {
		return token{}, errors.Wrapf(err, "cannot read Secret %q", name)
	}
	if err != nil {
		// Whatever it is, it must not keep a revocation from being sent.
		t := missing("Secret %q in namespace %q cannot be read: %v", name, cr.GetNamespace(), err)
		t.unreadable = true
		return t, nil
	}
	raw, ok := s.Data[key]
	if !ok {
		return missing("Secret %q in namespace %q has no key %q, which should hold the token; add it, or name another in spec.forProvider.subscriptionTokenSecretRef.key", name, cr.GetNamespace(), key), nil
	}
	if cr.Spec.ForProvider.SubscriptionTokenSecretRef == nil && !isConnectionSecretOf(s, cr) {
		// A token of somebody else's must not be sent.
		return token{state: tokenMissing, problem: foreignSecret(name)}, nil
	}
	value := strings.TrimSpace(string(raw))
	if value == "" {
		return missing("key %q of Secret %q in namespace %q is blank; it should hold the token", key, name, cr.GetNamespace()), nil
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return missing("key %q of Secret %q in namespace %q holds bytes that are no text, or control characters; a token must be text, for example in base64", key, name, cr.GetNamespace()), nil
	}
	return token{
		value:   gateway.Secret(value),
		version: &v1alpha1.TokenVersion{UID: string(s.GetUID()), Key: key, ResourceVersion: s.GetResourceVersion()},
	}, nil
}

// current is the value of a token that is to be sent.
func (e *external) current(ctx context.Context, cr *v1alpha1.Subscription, t token) (token, error) {
	if t.value != "" || t.state == tokenUnmanaged || t.state == tokenMissing {
		return t, nil
	}
	if t.rotate {
		t.value = generate()
		return t, nil
	}
	name, key, _ := source(cr)
	read, err := e.readToken(ctx, cr, name, key)
	if err != nil || read.problem != nil {
		return read, err
	}
	read.state = t.state
	return read, nil
}

// generate a token that cannot be guessed.
func generate() gateway.Secret { return gateway.Secret(rand.Text() + rand.Text()) }
