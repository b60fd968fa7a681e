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

package connection

import (
	"context"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

// Default keys.
const (
	defaultCAKey = "ca.crt"
	tlsCertKey   = "tls.crt"
	tlsKeyKey    = "tls.key"
)

// Kinds of objects that a configuration reads.
const (
	KindSecret    = "Secret"
	KindConfigMap = "ConfigMap"
)

// Dependency is a Secret or ConfigMap that a configuration reads.
type Dependency struct {
	// Kind is KindSecret or KindConfigMap.
	Kind      string
	Namespace string
	Name      string
}

// Dependencies returns what a ProviderConfig or ClusterProviderConfig reads, each
// object once. It is what a watch for changed credentials has to index.
func Dependencies(o client.Object) []Dependency {
	s, ok := settingsOf(o)
	if !ok {
		return nil
	}
	return s.dependencies()
}

// keyRef is one key of a Secret or ConfigMap.
type keyRef struct {
	Dependency
	key string
}

// settings are what both kinds of configuration come down to.
type settings struct {
	ref        Ref
	uid        types.UID
	generation int64
	connection v1alpha1.ConnectionSettings
	source     v1alpha1.CredentialsSource
	username   string
	oauth2     *v1alpha1.OAuth2Settings
	// secret holds the password, token or client secret.
	secret     *keyRef
	caBundle   *string
	caRefs     []keyRef
	clientCert *Dependency
	insecure   bool
	allowed    *metav1.LabelSelector
	seed       *v1alpha1.GatewayStatus
}

func settingsOf(o client.Object) (settings, bool) {
	switch c := o.(type) {
	case *v1alpha1.ProviderConfig:
		return namespacedSettings(c), true
	case *v1alpha1.ClusterProviderConfig:
		return clusterSettings(c), true
	default:
		return settings{}, false
	}
}

// namespacedSettings reads Secrets of the configuration's own namespace, whatever
// it says: there is no field to name another.
func namespacedSettings(c *v1alpha1.ProviderConfig) settings {
	secret := func(r v1alpha1.SecretKeyReference) *keyRef {
		return &keyRef{Dependency{KindSecret, c.Namespace, r.Name}, r.Key}
	}
	s := settings{
		ref: Ref{v1alpha1.ProviderConfigKind, c.Namespace, c.Name}, uid: c.UID, generation: c.Generation,
		connection: c.Spec.ConnectionSettings, source: c.Spec.Credentials.Source, seed: seedOf(c, c.Status),
	}
	if b := c.Spec.Credentials.Basic; b != nil && s.source == v1alpha1.CredentialsBasic {
		s.username, s.secret = b.Username, secret(b.PasswordSecretRef)
	}
	if b := c.Spec.Credentials.BearerToken; b != nil && s.source == v1alpha1.CredentialsBearerToken {
		s.secret = secret(b.SecretRef)
	}
	if o := c.Spec.Credentials.OAuth2; o != nil && s.source == v1alpha1.CredentialsOAuth2ClientCredentials {
		s.oauth2, s.secret = &o.OAuth2Settings, secret(o.ClientSecretRef)
	}
	if t := c.Spec.TLS; t != nil {
		s.caBundle, s.insecure = t.CABundle, t.InsecureSkipVerify
		if t.CASecretRef != nil {
			s.caRefs = append(s.caRefs, *secret(*t.CASecretRef))
		}
		if t.CAConfigMapRef != nil {
			s.caRefs = append(s.caRefs, keyRef{Dependency{KindConfigMap, c.Namespace, t.CAConfigMapRef.Name}, t.CAConfigMapRef.Key})
		}
		if t.ClientCertSecretRef != nil {
			s.clientCert = &Dependency{KindSecret, c.Namespace, t.ClientCertSecretRef.Name}
		}
	}
	return s
}

func clusterSettings(c *v1alpha1.ClusterProviderConfig) settings {
	secret := func(r v1alpha1.NamespacedSecretKeyReference) *keyRef {
		return &keyRef{Dependency{KindSecret, r.Namespace, r.Name}, r.Key}
	}
	s := settings{
		ref: Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: c.Name}, uid: c.UID, generation: c.Generation,
		connection: c.Spec.ConnectionSettings, source: c.Spec.Credentials.Source, seed: seedOf(c, c.Status),
		allowed: c.Spec.AllowedNamespaces,
	}
	if b := c.Spec.Credentials.Basic; b != nil && s.source == v1alpha1.CredentialsBasic {
		s.username, s.secret = b.Username, secret(b.PasswordSecretRef)
	}
	if b := c.Spec.Credentials.BearerToken; b != nil && s.source == v1alpha1.CredentialsBearerToken {
		s.secret = secret(b.SecretRef)
	}
	if o := c.Spec.Credentials.OAuth2; o != nil && s.source == v1alpha1.CredentialsOAuth2ClientCredentials {
		s.oauth2, s.secret = &o.OAuth2Settings, secret(o.ClientSecretRef)
	}
	if t := c.Spec.TLS; t != nil {
		s.caBundle, s.insecure = t.CABundle, t.InsecureSkipVerify
		if t.CASecretRef != nil {
			s.caRefs = append(s.caRefs, *secret(*t.CASecretRef))
		}
		if t.CAConfigMapRef != nil {
			s.caRefs = append(s.caRefs, keyRef{Dependency{KindConfigMap, t.CAConfigMapRef.Namespace, t.CAConfigMapRef.Name}, t.CAConfigMapRef.Key})
		}
		if t.ClientCertSecretRef != nil {
			s.clientCert = &Dependency{KindSecret, t.ClientCertSecretRef.Namespace, t.ClientCertSecretRef.Name}
		}
	}
	return s
}

// seedOf returns what a status knows about the gateway, if it was written about
// the configuration as it is now: another endpoint may be another gateway.
func seedOf(o client.Object, s v1alpha1.ProviderConfigStatus) *v1alpha1.GatewayStatus {
	if s.Gateway == nil || s.GetCondition(v1alpha1.TypeReachable).ObservedGeneration != o.GetGeneration() {
		return nil
	}
	return s.Gateway
}

func (s settings) dependencies() []Dependency {
	out, seen := []Dependency{}, map[Dependency]bool{}
	add := func(d Dependency) {
		if !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	if s.secret != nil {
		add(s.secret.Dependency)
	}
	for _, r := range s.caRefs {
		add(r.Dependency)
	}
	if s.clientCert != nil {
		add(*s.clientCert)
	}
	return out
}

func (s settings) timeout() time.Duration {
	if s.connection.Timeout == nil {
		return 0
	}
	return s.connection.Timeout.Duration
}

func (s settings) invocationURL() string {
	if s.connection.Gateway == nil {
		return ""
	}
	return s.connection.Gateway.InvocationURL
}

// declared returns the generation that the configuration declares, if it does.
func (s settings) declared() Generation {
	if s.connection.Gateway == nil {
		return GenerationUnknown
	}
	return generationOf(s.connection.Gateway.Generation)
}

// wrong returns an error about the configuration.
func (s settings) wrong(p Problem, message string) error {
	return &ConfigError{Ref: s.ref, Problem: p, Message: message}
}

// load reads a configuration from the cache.
func load(ctx context.Context, c client.Reader, ref Ref) (settings, error) {
	var o client.Object = &v1alpha1.ProviderConfig{}
	if ref.Kind == v1alpha1.ClusterProviderConfigKind {
		o = &v1alpha1.ClusterProviderConfig{}
	}
	if err := c.Get(ctx, ref.key(), o); err != nil {
		if kerrors.IsNotFound(err) {
			return settings{}, &ConfigError{Ref: ref, Problem: ProblemConfigMissing, Message: "it does not exist; create it, or name another in spec.providerConfigRef"}
		}
		return settings{}, errors.Wrapf(err, "cannot read %s", ref)
	}
	s, _ := settingsOf(o)
	// What a fake or a cache returns need not bear the name asked for.
	s.ref = ref
	return s, nil
}
