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
	"bytes"
	"context"
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// Keys of a connection Secret. They are permanent.
const (
	keyToken          = v1alpha1.DefaultTokenKey
	keySubscriptionID = "subscriptionId"
	keyAPIID          = "apiId"
	keyURL            = "url"
)

// details are what a connection Secret says apart from the token.
func (e *external) details(apiID, id string) map[string][]byte {
	d := map[string][]byte{}
	for k, v := range map[string]string{keySubscriptionID: id, keyAPIID: apiID, keyURL: e.gateway.InvocationURL()} {
		if v != "" {
			d[k] = []byte(v)
		}
	}
	return d
}

// publish details in the connection Secret of a managed resource, and return the
// Secret's version before (nil if there was none) and after. Other keys stay as
// they are. A Secret that is somebody else's is refused.
func (e *external) publish(ctx context.Context, cr *v1alpha1.Subscription, details map[string][]byte) (before, after *v1alpha1.TokenVersion, err error) {
	return publish(ctx, e.kube, cr, details)
}

// rehearse to publish details: what cannot be handed out must not be put in force.
func (e *external) rehearse(ctx context.Context, cr *v1alpha1.Subscription, details map[string][]byte) error {
	_, _, err := publish(ctx, client.NewDryRunClient(e.kube), cr, details)
	return err
}

func publish(ctx context.Context, kube client.Client, cr *v1alpha1.Subscription, details map[string][]byte) (before, after *v1alpha1.TokenVersion, err error) {
	ref := cr.GetWriteConnectionSecretToReference()
	s := &corev1.Secret{}
	err = kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: ref.Name}, s)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, nil, errors.Wrapf(err, "cannot read connection Secret %q", ref.Name)
	case err != nil:
		s = resource.LocalConnectionSecretFor(cr, v1alpha1.SubscriptionGroupVersionKind)
		s.Data = details
		if err := kube.Create(ctx, s); err != nil {
			return nil, nil, unwritable(err, ref.Name)
		}
		return nil, versionOf(s), nil
	}
	if !isConnectionSecretOf(s, cr) {
		return nil, nil, foreignSecret(ref.Name)
	}
	if contains(s.Data, details) {
		return versionOf(s), versionOf(s), nil
	}
	was := s.DeepCopy()
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	maps.Copy(s.Data, details)
	if err := kube.Patch(ctx, s, client.MergeFrom(was)); err != nil {
		return nil, nil, unwritable(err, ref.Name)
	}
	return versionOf(was), versionOf(s), nil
}

// unwritable says why a connection Secret cannot be written, and whether that passes
// by itself.
func unwritable(err error, name string) error {
	if kerrors.IsInvalid(err) || kerrors.IsForbidden(err) {
		return problemf(v1alpha1.ReasonRefused, "connection Secret %q cannot be written: %v; allow it, or delete the Secret if it is immutable", name, err)
	}
	return errors.Wrapf(err, "cannot write connection Secret %q", name)
}

// isConnectionSecretOf tells whether a Secret was written by a managed resource.
func isConnectionSecretOf(s *corev1.Secret, cr *v1alpha1.Subscription) bool {
	owner := metav1.GetControllerOf(s)
	return s.Type == resource.SecretTypeConnection && owner != nil && owner.UID == cr.GetUID()
}

func foreignSecret(name string) *problem {
	return problemf(v1alpha1.ReasonRefused, "spec.writeConnectionSecretToRef names Secret %q, which exists and was not written by this object; name another one, or delete it", name)
}

func contains(all, some map[string][]byte) bool {
	for k, v := range some {
		if is, ok := all[k]; !ok || !bytes.Equal(is, v) {
			return false
		}
	}
	return true
}

func versionOf(s *corev1.Secret) *v1alpha1.TokenVersion {
	return &v1alpha1.TokenVersion{UID: string(s.GetUID()), Key: keyToken, ResourceVersion: s.GetResourceVersion()}
}

// publishDeployed keeps the connection Secret of a deployed subscription right:
// its ID, API and URL, and the token if it is the one in force. As long as the
// cache shows the Secret as it was left, nothing is read.
func (e *external) publishDeployed(ctx context.Context, cr *v1alpha1.Subscription, apiID, id string, t *token) error {
	ref := cr.GetWriteConnectionSecretToReference()
	if ref == nil {
		return nil
	}
	state := publishedState(apiID, id, e.gateway.InvocationURL(), t.version)
	seen, err := e.secretMetadata(ctx, cr.GetNamespace(), ref.Name)
	if err != nil {
		return err
	}
	if seen != nil && e.memory.published == state+"\n"+string(seen.GetUID())+"/"+seen.GetResourceVersion() {
		return nil
	}

	details := e.details(apiID, id)
	_, _, generated := source(cr)
	if t.state == tokenInForce && !generated {
		is, err := e.current(ctx, cr, *t)
		if err != nil {
			return err
		}
		if is.problem == nil && is.version != nil && t.version != nil && *is.version == *t.version {
			details[keyToken] = []byte(is.value.Reveal())
		}
	}
	before, after, err := e.publish(ctx, cr, details)
	if err != nil {
		return err
	}
	if generated && t.version != nil && before != nil && *before == *t.version {
		// The token in it did not change, only what stands beside it.
		t.version = after
		state = publishedState(apiID, id, e.gateway.InvocationURL(), after)
	}
	_, told := details[keyToken]
	if told || t.state == tokenUnmanaged || generated && t.state == tokenInForce {
		// Otherwise there is more to publish, as soon as the token is in force.
		e.memory.published = state + "\n" + after.UID + "/" + after.ResourceVersion
	}
	return nil
}

// publishedState names what was published.
func publishedState(apiID, id, url string, v *v1alpha1.TokenVersion) string {
	state := apiID + "\n" + id + "\n" + url + "\n"
	if v != nil {
		state += v.UID + "/" + v.ResourceVersion + "/" + v.Key
	}
	return state
}
