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
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// material is everything that makes a client what it is. Two equal materials
// need but one client, whatever versions they were read at.
type material struct {
	endpoint gateway.Endpoint
	timeout  string
	source   v1alpha1.CredentialsSource
	username string
	secret   gateway.Secret
	tokenURL string
	clientID string
	scopes   string
	ca       string
	cert     gateway.Secret
	key      gateway.Secret
	insecure bool
}

// read judges a configuration and reads live what it refers to.
func read(ctx context.Context, live client.Reader, s settings) (material, *tls.Config, error) {
	m := material{source: s.source, timeout: s.timeout().String(), insecure: s.insecure}
	endpoint, err := gateway.ParseEndpoint(s.connection.Endpoint)
	if err != nil {
		return m, nil, s.wrong(ProblemInvalid, "spec.endpoint: "+err.Error())
	}
	m.endpoint = endpoint
	r := &reader{live: live, settings: s}
	if err := r.credentials(ctx, &m); err != nil {
		return m, nil, err
	}
	config, err := r.tls(ctx, &m)
	return m, config, err
}

// reader reads each Secret and ConfigMap at most once.
type reader struct {
	live     client.Reader
	settings settings
	read     map[Dependency]map[string]string
}

// data returns the content of a Secret or ConfigMap.
func (r *reader) data(ctx context.Context, d Dependency, hint string) (map[string]string, error) {
	if data, ok := r.read[d]; ok {
		return data, nil
	}
	data := map[string]string{}
	name := types.NamespacedName{Namespace: d.Namespace, Name: d.Name}
	var err error
	switch d.Kind {
	case KindConfigMap:
		o := &corev1.ConfigMap{}
		err = r.live.Get(ctx, name, o)
		for k, v := range o.Data {
			data[k] = v
		}
		for k, v := range o.BinaryData {
			data[k] = string(v)
		}
	default:
		o := &corev1.Secret{}
		err = r.live.Get(ctx, name, o)
		for k, v := range o.Data {
			data[k] = string(v)
		}
	}
	if kerrors.IsNotFound(err) {
		return nil, r.settings.wrong(ProblemReferenceMissing, fmt.Sprintf("%s %q does not exist; create it with %s", d.Kind, name, hint))
	}
	if err != nil {
		return nil, errors.Wrapf(err, "%s: cannot read %s %q", r.settings.ref, d.Kind, name)
	}
	if r.read == nil {
		r.read = map[Dependency]map[string]string{}
	}
	r.read[d] = data
	return data, nil
}

// value returns one key's content, which must not be empty.
func (r *reader) value(ctx context.Context, k keyRef, what string) (string, error) {
	hint := fmt.Sprintf("%s under key %q", what, k.key)
	data, err := r.data(ctx, k.Dependency, hint)
	if err != nil {
		return "", err
	}
	name := types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
	v, ok := data[k.key]
	if !ok {
		return "", r.settings.wrong(ProblemReferenceMissing, fmt.Sprintf("%s %q has no key %q; it must hold %s", k.Kind, name, k.key, hint))
	}
	if strings.TrimSpace(v) == "" {
		return "", r.settings.wrong(ProblemInvalid, fmt.Sprintf("%s %q is empty under key %q; it must hold %s there", k.Kind, name, k.key, what))
	}
	return v, nil
}

func (r *reader) credentials(ctx context.Context, m *material) error {
	s := r.settings
	var what string
	switch s.source {
	case v1alpha1.CredentialsNone:
		return nil
	case v1alpha1.CredentialsBasic:
		what, m.username = "the password", s.username
		if strings.TrimSpace(s.username) == "" || strings.ContainsFunc(s.username, notInUsername) {
			return s.wrong(ProblemInvalid, "spec.credentials.basic.username must be given, without colon or control characters")
		}
	case v1alpha1.CredentialsBearerToken:
		what = "the token"
	case v1alpha1.CredentialsOAuth2ClientCredentials:
		what = "the client secret"
		if s.oauth2 == nil {
			break
		}
		if err := checkTokenURL(s.oauth2.TokenURL); err != nil {
			return s.wrong(ProblemInvalid, "spec.credentials.oauth2.tokenURL: "+err.Error())
		}
		m.tokenURL, m.clientID, m.scopes = s.oauth2.TokenURL, s.oauth2.ClientID, strings.Join(s.oauth2.Scopes, " ")
	default:
		return s.wrong(ProblemInvalid, fmt.Sprintf("spec.credentials.source %q is unknown; it must be Basic, BearerToken, OAuth2ClientCredentials or None", s.source))
	}
	if s.secret == nil {
		return s.wrong(ProblemInvalid, fmt.Sprintf("spec.credentials has no block for source %s", s.source))
	}
	v, err := r.value(ctx, *s.secret, what)
	if err != nil {
		return err
	}
	// Editors and `echo` add line ends that nobody means.
	v = strings.TrimSpace(v)
	if strings.ContainsFunc(v, isControl) {
		name := types.NamespacedName{Namespace: s.secret.Namespace, Name: s.secret.Name}
		return s.wrong(ProblemInvalid, fmt.Sprintf("Secret %q holds a line break or another control character in the middle of %s under key %q; it must be one line", name, what, s.secret.key))
	}
	m.secret = gateway.Secret(v)
	return nil
}

func notInUsername(c rune) bool { return c == ':' || isControl(c) }

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// tls returns nil if the defaults will do.
func (r *reader) tls(ctx context.Context, m *material) (*tls.Config, error) {
	s := r.settings
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: s.insecure, //nolint:gosec // Asked for by name in the configuration, and nowhere the default.
	}
	if err := r.authorities(ctx, m, config); err != nil {
		return nil, err
	}
	if s.clientCert == nil {
		return config, nil
	}
	cert, err := r.value(ctx, keyRef{*s.clientCert, tlsCertKey}, "a client certificate in PEM")
	if err != nil {
		return nil, err
	}
	key, err := r.value(ctx, keyRef{*s.clientCert, tlsKeyKey}, "the client certificate's private key in PEM")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		name := types.NamespacedName{Namespace: s.clientCert.Namespace, Name: s.clientCert.Name}
		return nil, s.wrong(ProblemInvalid, fmt.Sprintf("Secret %q holds no usable pair of certificate and private key under keys %q and %q: %s", name, tlsCertKey, tlsKeyKey, err))
	}
	config.Certificates = []tls.Certificate{pair}
	m.cert, m.key = gateway.Secret(cert), gateway.Secret(key)
	return config, nil
}

// authorities sets whom to trust. A source that is given is used or refused; it
// never falls back to the system's authorities.
func (r *reader) authorities(ctx context.Context, m *material, config *tls.Config) error {
	s := r.settings
	sources := len(s.caRefs)
	if s.caBundle != nil {
		sources++
	}
	switch {
	case sources == 0:
		return nil
	case sources > 1:
		return s.wrong(ProblemInvalid, "spec.tls must have at most one of caBundle, caSecretRef and caConfigMapRef; put all certificates into one bundle")
	}
	var bundle, where string
	if s.caBundle != nil {
		bundle, where = *s.caBundle, "spec.tls.caBundle"
	} else {
		ref := s.caRefs[0]
		if ref.key == "" {
			ref.key = defaultCAKey
		}
		var err error
		if bundle, err = r.value(ctx, ref, "CA certificates in PEM"); err != nil {
			return err
		}
		where = fmt.Sprintf("key %q of %s %q", ref.key, ref.Kind, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
	pool, err := parseBundle(bundle)
	if err != nil {
		return s.wrong(ProblemInvalid, where+" must hold CA certificates in PEM: "+err.Error())
	}
	config.RootCAs, m.ca = pool, bundle
	return nil
}

// parseBundle accepts certificates with explanations before them, and nothing
// that a reader of PEM would silently skip.
func parseBundle(bundle string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	begun, certificates, rest := strings.Count(bundle, "-----BEGIN "), 0, []byte(bundle)
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, errors.Errorf("it holds a block of type %q", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.Errorf("certificate number %d cannot be read", certificates+1)
		}
		pool.AddCert(cert)
		certificates++
	}
	switch {
	case begun == 0:
		return nil, errors.New("it holds no certificate")
	case certificates != begun:
		return nil, errors.New("one of its blocks is damaged or cut off")
	}
	for line := range strings.Lines(string(rest)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return nil, errors.New("it holds something else after the last certificate")
		}
	}
	return pool, nil
}
