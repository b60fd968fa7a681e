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
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// secretValue is what must never show.
const secretValue = "s3cret-Passw0rd"

// clock is a clock that only tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

// counting counts live reads and can fail them.
type counting struct {
	client.Reader
	reads atomic.Int64
	err   atomic.Pointer[error]
}

func (c *counting) Get(ctx context.Context, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	c.reads.Add(1)
	if err := c.err.Load(); err != nil {
		return *err
	}
	return c.Reader.Get(ctx, k, o, opts...)
}

// world is a pool on a fake API server.
type world struct {
	*Pool
	kube    client.Client
	live    *counting
	clock   *clock
	mu      sync.Mutex
	changed []Ref
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.SchemeBuilder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	w := &world{kube: kube, live: &counting{Reader: kube}, clock: &clock{t: time.Now()}}
	w.Pool = NewPool(Options{
		Live: w.live, Cache: kube, Metadata: kube, Now: w.clock.now, Random: func() float64 { return 0.5 }, UserAgent: "test",
		OnChange: func(r Ref) { w.mu.Lock(); defer w.mu.Unlock(); w.changed = append(w.changed, r) },
	})
	return w
}

func secretObject(namespace, name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{}}
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	return s
}

func namespaceObject(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// config returns a ProviderConfig team/pc with basic credentials from Secret creds.
func config(endpoint string, change ...func(*v1alpha1.ProviderConfig)) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "pc", UID: "u1", Generation: 1},
		Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: endpoint},
			Credentials: v1alpha1.Credentials{
				Source: v1alpha1.CredentialsBasic,
				Basic:  &v1alpha1.BasicCredentials{Username: "admin", PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "creds", Key: "password"}},
			},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func named(name string) func(*v1alpha1.ProviderConfig) {
	return func(c *v1alpha1.ProviderConfig) { c.Name = name; c.UID = types.UID(name) }
}

func without(c *v1alpha1.ProviderConfig) {
	c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsNone}
}

func creds(password string) *corev1.Secret {
	return secretObject("team", "creds", map[string]string{"password": password})
}

func teamRef() Ref { return Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team", Name: "pc"} }

func clusterConfig(allowed *metav1.LabelSelector) *v1alpha1.ClusterProviderConfig {
	return &v1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "u2", Generation: 1},
		Spec: v1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: "http://gw"},
			Credentials: v1alpha1.ClusterCredentials{
				Source: v1alpha1.CredentialsBearerToken,
				BearerToken: &v1alpha1.ClusterBearerTokenCredentials{SecretRef: v1alpha1.NamespacedSecretKeyReference{
					SecretKeyReference: v1alpha1.SecretKeyReference{Name: "creds", Key: "token"}, Namespace: "platform",
				}},
			},
			AllowedNamespaces: allowed,
		},
	}
}

func clusterRef() Ref { return Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "default"} }

// must returns the gateway of team/pc.
func (w *world) must(t *testing.T) *Gateway {
	t.Helper()
	g, err := w.For(context.Background(), teamRef(), "team")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (w *world) update(t *testing.T, o client.Object) {
	t.Helper()
	if err := w.kube.Update(context.Background(), o); err != nil {
		t.Fatal(err)
	}
}

func get[T client.Object](t *testing.T, w *world, namespace, name string, o T) T {
	t.Helper()
	if err := w.kube.Get(context.Background(), types.NamespacedName{Namespace: namespace, Name: name}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

const emptyList = `{"status":"success","count":0,"apis":[]}`

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// authority is a certificate authority that signs for localhost.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
}

// issue returns a certificate and key in PEM.
func (a authority) issue(t *testing.T) (string, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

func serveTLS(t *testing.T, a authority, clients *x509.CertPool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	cert, key := a.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clients != nil {
		s.TLS.ClientAuth, s.TLS.ClientCAs = tls.RequireAndVerifyClientCert, clients
	}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, emptyList) }

// contract: C2
// case: A2, F2, A15
func TestConfigErrors(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	cert, _ := ca.issue(t)
	_, key := other.issue(t)
	withTLS := func(s v1alpha1.TLSSettings) func(*v1alpha1.ProviderConfig) {
		return func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = &s }
	}
	inline := func(s string) func(*v1alpha1.ProviderConfig) { return withTLS(v1alpha1.TLSSettings{CABundle: &s}) }
	const end = "https://gw"
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    string
		problem Problem
	}{
		"NoConfig": {
			"What is missing is named.", nil,
			`ProviderConfig "team/pc": it does not exist; create it, or name another in spec.providerConfigRef`, ProblemConfigMissing,
		},
		"NoSecret": {
			"What is missing and what it must hold is named.",
			[]client.Object{config(end)},
			`ProviderConfig "team/pc": Secret "team/creds" does not exist; create it with the password under key "password"`, ProblemReferenceMissing,
		},
		"NoKey": {
			"The missing key is named.",
			[]client.Object{config(end), secretObject("team", "creds", map[string]string{"Password": secretValue})},
			`ProviderConfig "team/pc": Secret "team/creds" has no key "password"; it must hold the password under key "password"`, ProblemReferenceMissing,
		},
		"Empty": {
			"An empty password is refused.",
			[]client.Object{config(end), creds("")},
			`ProviderConfig "team/pc": Secret "team/creds" is empty under key "password"; it must hold the password there`, ProblemInvalid,
		},
		"Blank": {
			"A password of line ends is empty.",
			[]client.Object{config(end), creds(" \r\n")},
			`ProviderConfig "team/pc": Secret "team/creds" is empty under key "password"; it must hold the password there`, ProblemInvalid,
		},
		"LineBreak": {
			"A line break in the middle is refused.",
			[]client.Object{config(end), creds("s3cret-\nPassw0rd")},
			`ProviderConfig "team/pc": Secret "team/creds" holds a line break or another control character in the middle of the password under key "password"; it must be one line`, ProblemInvalid,
		},
		"Userinfo": {
			"Credentials in the URL are refused and not shown.",
			[]client.Object{config("https://admin:" + secretValue + "@gw"), creds("x")},
			`ProviderConfig "team/pc": spec.endpoint: the endpoint must not hold a user name or password; put them into spec.credentials`, ProblemInvalid,
		},
		"Username": {
			"A user name with a colon would be cut.",
			[]client.Object{config(end, func(c *v1alpha1.ProviderConfig) { c.Spec.Credentials.Basic.Username = "a:b" }), creds("x")},
			`ProviderConfig "team/pc": spec.credentials.basic.username must be given, without colon or control characters`, ProblemInvalid,
		},
		"Source": {
			"An unknown source is no source.",
			[]client.Object{config(end, func(c *v1alpha1.ProviderConfig) { c.Spec.Credentials.Source = "Magic" }), creds("x")},
			`ProviderConfig "team/pc": spec.credentials.source "Magic" is unknown; it must be Basic, BearerToken, OAuth2ClientCredentials or None`, ProblemInvalid,
		},
		"NoBlock": {
			"A source without its block falls back to nothing.",
			[]client.Object{config(end, func(c *v1alpha1.ProviderConfig) { c.Spec.Credentials.Source = v1alpha1.CredentialsBearerToken }), creds("x")},
			`ProviderConfig "team/pc": spec.credentials has no block for source BearerToken`, ProblemInvalid,
		},
		"TokenURL": {
			"The URL of tokens is judged too.",
			[]client.Object{config(end, func(c *v1alpha1.ProviderConfig) {
				c.Spec.Credentials = v1alpha1.Credentials{
					Source: v1alpha1.CredentialsOAuth2ClientCredentials,
					OAuth2: &v1alpha1.OAuth2Credentials{OAuth2Settings: v1alpha1.OAuth2Settings{TokenURL: "https://u:" + secretValue + "@idp", ClientID: "c"}},
				}
			})},
			`ProviderConfig "team/pc": spec.credentials.oauth2.tokenURL: it must not hold a user name or password`, ProblemInvalid,
		},
		"EmptyBundle": {
			"An empty bundle never means the system's authorities.",
			[]client.Object{config(end, inline("")), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: it holds no certificate`, ProblemInvalid,
		},
		"JunkBundle": {
			"Junk is refused.",
			[]client.Object{config(end, inline("junk")), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: it holds no certificate`, ProblemInvalid,
		},
		"TrailingJunk": {
			"Junk behind a certificate is refused.",
			[]client.Object{config(end, inline(ca.pem+"junk")), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: it holds something else after the last certificate`, ProblemInvalid,
		},
		"CutBundle": {
			"A bundle that was cut off is refused.",
			[]client.Object{config(end, inline(ca.pem+other.pem[:len(other.pem)-40])), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: one of its blocks is damaged or cut off`, ProblemInvalid,
		},
		"KeyInBundle": {
			"A private key does not belong there.",
			[]client.Object{config(end, inline(ca.pem+key)), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: it holds a block of type "EC PRIVATE KEY"`, ProblemInvalid,
		},
		"NotACertificate": {
			"A block must be what it says.",
			[]client.Object{config(end, inline("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")), creds("x")},
			`ProviderConfig "team/pc": spec.tls.caBundle must hold CA certificates in PEM: certificate number 1 cannot be read`, ProblemInvalid,
		},
		"EmptySecretBundle": {
			"So it is from a Secret.",
			[]client.Object{
				config(end, withTLS(v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca"}})), creds("x"),
				secretObject("team", "ca", map[string]string{"ca.crt": "\n"}),
			},
			`ProviderConfig "team/pc": Secret "team/ca" is empty under key "ca.crt"; it must hold CA certificates in PEM there`, ProblemInvalid,
		},
		"NoConfigMap": {
			"A missing ConfigMap is named.",
			[]client.Object{config(end, withTLS(v1alpha1.TLSSettings{CAConfigMapRef: &v1alpha1.ConfigMapKeyReference{Name: "ca", Key: "k"}})), creds("x")},
			`ProviderConfig "team/pc": ConfigMap "team/ca" does not exist; create it with CA certificates in PEM under key "k"`, ProblemReferenceMissing,
		},
		"TwoSources": {
			"Which of two bundles is meant is not guessed.",
			[]client.Object{config(end, withTLS(v1alpha1.TLSSettings{CABundle: &ca.pem, CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca", Key: "k"}})), creds("x")},
			`ProviderConfig "team/pc": spec.tls must have at most one of caBundle, caSecretRef and caConfigMapRef; put all certificates into one bundle`, ProblemInvalid,
		},
		"ForeignKey": {
			"A key that is not the certificate's is refused.",
			[]client.Object{
				config(end, withTLS(v1alpha1.TLSSettings{ClientCertSecretRef: &v1alpha1.SecretReference{Name: "tls"}})), creds("x"),
				secretObject("team", "tls", map[string]string{"tls.crt": cert, "tls.key": key}),
			},
			`ProviderConfig "team/pc": Secret "team/tls" holds no usable pair of certificate and private key under keys "tls.crt" and "tls.key": tls: private key does not match public key`, ProblemInvalid,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.objects...)
			for range 2 {
				_, err := w.For(context.Background(), teamRef(), "team")
				if diff := cmp.Diff(tc.want, fmt.Sprint(err)); diff != "" {
					t.Errorf("\n%s\nFor(...): -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.problem, ProblemOf(err)); diff != "" {
					t.Errorf("\n%s\nProblemOf(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
			if n := w.live.reads.Load(); n > 2 {
				t.Errorf("\n%s\nan unchanged fault costs reads: %d", tc.reason, n)
			}
		})
	}
}

// contract: A5, C5
func TestTenancy(t *testing.T) {
	selector := func(v string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": v}}
	}
	token := secretObject("platform", "creds", map[string]string{"token": secretValue})
	gold := namespaceObject("team", map[string]string{"tier": "gold"})
	cases := map[string]struct {
		reason    string
		ref       Ref
		namespace string
		objects   []client.Object
		want      string
	}{
		"Own": {
			reason: "A namespace uses its own configuration, whether the reference says so or not.",
			ref:    Ref{Kind: v1alpha1.ProviderConfigKind, Name: "pc"}, namespace: "team",
			objects: []client.Object{config("http://gw"), creds("x")},
		},
		"Foreign": {
			reason: "A namespace cannot use another's configuration.",
			ref:    teamRef(), namespace: "other",
			objects: []client.Object{config("http://gw"), creds("x")},
			want:    `ProviderConfig "team/pc": it can only be used from its own namespace`,
		},
		"ForeignSecret": {
			reason: "A configuration reads Secrets of its own namespace only.",
			ref:    teamRef(), namespace: "team",
			objects: []client.Object{config("http://gw"), secretObject("other", "creds", map[string]string{"password": "x"})},
			want:    `ProviderConfig "team/pc": Secret "team/creds" does not exist; create it with the password under key "password"`,
		},
		"AllowedToAll": {
			reason: "Without a selector every namespace may.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(nil), token},
		},
		"EmptySelector": {
			reason: "With an empty one too.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(&metav1.LabelSelector{}), token},
		},
		"Allowed": {
			reason: "A namespace that matches may.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(selector("gold")), token, gold},
		},
		"NotAllowed": {
			reason: "A namespace that does not match may not, and learns nothing about the Secret.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(selector("silver")), gold},
			want:    `ClusterProviderConfig "default": namespace "team" may not use it, since its labels do not match spec.allowedNamespaces`,
		},
		"NoNamespace": {
			reason: "A namespace that is not known does not match.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(selector("gold")), token},
			want:    `ClusterProviderConfig "default": namespace "team" may not use it, since its labels do not match spec.allowedNamespaces`,
		},
		"BadSelector": {
			reason: "A selector that is not valid allows nobody.",
			ref:    clusterRef(), namespace: "team",
			objects: []client.Object{clusterConfig(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "x"}}}), token, gold},
			want:    `ClusterProviderConfig "default": spec.allowedNamespaces is not a valid label selector`,
		},
		"Kind": {
			reason: "There are but two kinds.",
			ref:    Ref{Kind: "Config", Name: "x"}, namespace: "team",
			want: `Config "x": there is no such kind; it must be ProviderConfig or ClusterProviderConfig`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := newWorld(t, tc.objects...).For(context.Background(), tc.ref, tc.namespace)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFor(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	blind := newWorld(t, clusterConfig(selector("gold")), token, gold)
	blind.o.NoNamespaces = true
	_, err := blind.For(context.Background(), clusterRef(), "team")
	if diff := cmp.Diff(`ClusterProviderConfig "default": namespace "team" may not use it, since the provider may not read the labels of namespaces, by which spec.allowedNamespaces selects: allow it to get, list and watch namespaces, as examples/cluster/namespaces.yaml does`, fmt.Sprint(err)); diff != "" {
		t.Errorf("where labels cannot be read none matches: For(...): -want, +got:\n%s", diff)
	}
	w := newWorld(t, clusterConfig(selector("silver")), token)
	if _, err := w.ForConfig(context.Background(), clusterRef()); err != nil {
		t.Errorf("a configuration may always check itself: %v", err)
	}
}

// contract: C1
// case: A2, F2, F3
func TestTLS(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	clients := x509.NewCertPool()
	clients.AddCert(ca.cert)
	plain, mutual := serveTLS(t, ca, nil, ok), serveTLS(t, ca, clients, ok)
	cert, key := ca.issue(t)
	bundle := "# some words\n" + other.pem + "\nmore words\n" + ca.pem + "\n# the end\n"
	cases := map[string]struct {
		reason   string
		server   *httptest.Server
		settings *v1alpha1.TLSSettings
		want     string
	}{
		"System":     {"The system does not know this authority.", plain, nil, "TLS: certificate signed by unknown authority"},
		"Wrong":      {"Another authority does not do, although all else is right.", plain, &v1alpha1.TLSSettings{CABundle: &other.pem}, "TLS: certificate signed by unknown authority"},
		"Inline":     {"A bundle in the configuration is trusted.", plain, &v1alpha1.TLSSettings{CABundle: &ca.pem}, ""},
		"Explained":  {"A bundle may have several certificates and words between them.", plain, &v1alpha1.TLSSettings{CABundle: &bundle}, ""},
		"Secret":     {"A bundle in a Secret is trusted.", plain, &v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca"}}, ""},
		"ConfigMap":  {"A bundle in a ConfigMap is trusted.", plain, &v1alpha1.TLSSettings{CAConfigMapRef: &v1alpha1.ConfigMapKeyReference{Name: "ca", Key: "bundle"}}, ""},
		"SkipVerify": {"The check can be switched off by name.", plain, &v1alpha1.TLSSettings{InsecureSkipVerify: true}, ""},
		"NoClient":   {"Without a certificate of ours there is no answer.", mutual, &v1alpha1.TLSSettings{CABundle: &ca.pem}, "TLS: the server refused the connection"},
		"Client":     {"With it there is.", mutual, &v1alpha1.TLSSettings{CABundle: &ca.pem, ClientCertSecretRef: &v1alpha1.SecretReference{Name: "tls"}}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, creds("x\n"), config(tc.server.URL, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = tc.settings }),
				secretObject("team", "ca", map[string]string{"ca.crt": ca.pem}), secretObject("team", "tls", map[string]string{"tls.crt": cert, "tls.key": key}),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ca"}, Data: map[string]string{"bundle": ca.pem}})
			got := ""
			if e := gateway.AsError(w.must(t).Probe(context.Background())); e != nil {
				got = e.Message
			}
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nProbe(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// contract: A6, A7
// case: F2, F8, W5
func TestRotation(t *testing.T) {
	ctx := context.Background()
	ca := newAuthority(t, "ca")
	var password atomic.Pointer[string]
	first, second := "first", "second"
	password.Store(&second)
	s := serveTLS(t, ca, nil, func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != *password.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"authentication_failed","message":"authentication failed"}`)
			return
		}
		ok(w, r)
	})
	w := newWorld(t, creds(first), secretObject("team", "ca", map[string]string{"ca.crt": newAuthority(t, "old").pem}),
		config(s.URL, func(c *v1alpha1.ProviderConfig) {
			c.Spec.TLS = &v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca"}}
		}))

	old := w.must(t)
	if got := gateway.ReasonOf(old.Probe(ctx)); got != gateway.ReasonUnanswered {
		t.Errorf("old authority: got %q", got)
	}
	authorities := get(t, w, "team", "ca", &corev1.Secret{})
	authorities.Data["ca.crt"] = []byte(ca.pem)
	w.update(t, authorities)
	renewed := w.must(t)
	if renewed.ConfigVersion() == old.ConfigVersion() {
		t.Error("a rotated authority is no new version")
	}
	if got := gateway.ReasonOf(renewed.Probe(ctx)); got != gateway.ReasonUnauthorized {
		t.Errorf("new authority, old password: got %q", got)
	}
	if h, _ := w.Health(teamRef()); h.Authenticated.Status != StatusFalse || h.Reachable.Status != StatusTrue {
		t.Errorf("health with an old password: %+v", h)
	}
	password.Store(&first)
	if err := w.must(t).Probe(ctx); err != nil {
		t.Errorf("healed at the gateway: %v", err)
	}
	password.Store(&second)
	secret := get(t, w, "team", "creds", &corev1.Secret{})
	secret.Data["password"] = []byte(second + "\r\n")
	w.update(t, secret)
	if err := w.must(t).Probe(ctx); err != nil {
		t.Errorf("rotated password: %v", err)
	}
	// A configuration that was pointed elsewhere leads elsewhere at once.
	elsewhere := serve(t, ok)
	c := get(t, w, "team", "pc", &v1alpha1.ProviderConfig{})
	c.Spec.Endpoint, c.Generation = elsewhere.URL, 2
	w.update(t, c)
	g := w.must(t)
	if want := elsewhere.URL + gateway.DefaultBasePath; g.Endpoint().String() != want {
		t.Errorf("want %s, got %s", want, g.Endpoint())
	}
	if h, _ := w.Health(teamRef()); h.Reachable.Status != StatusUnknown {
		t.Errorf("health of another endpoint: %+v", h)
	}
}

// contract: A7, A10
func TestReadsAndClients(t *testing.T) {
	w := newWorld(t, config("http://gw"), creds("x"))
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { _, _ = w.For(context.Background(), teamRef(), "team") })
	}
	group.Wait()
	g := w.must(t)
	if n := w.live.reads.Load(); n != 1 {
		t.Errorf("fifty callers: want one live read, got %d", n)
	}
	if w.must(t) != g {
		t.Error("an unchanged configuration got another client")
	}
	secret := get(t, w, "team", "creds", &corev1.Secret{})
	secret.Labels = map[string]string{"a": "b"}
	w.update(t, secret)
	labelled := w.must(t)
	if n := w.live.reads.Load(); n != 2 {
		t.Errorf("a label: want a second live read, got %d", n)
	}
	if labelled.Client != g.Client {
		t.Error("a label on a Secret cost the client, with its connections and tokens")
	}
	if labelled.ConfigVersion() == g.ConfigVersion() {
		t.Error("a changed Secret is no new version")
	}
}

func TestTroubleIsNotRemembered(t *testing.T) {
	w := newWorld(t, config("http://gw"), creds("x"))
	boom := errors.New("boom")
	w.live.err.Store(&boom)
	_, err := w.For(context.Background(), teamRef(), "team")
	if diff := cmp.Diff(`ProviderConfig "team/pc": cannot read Secret "team/creds": boom`, fmt.Sprint(err)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	w.live.err.Store(nil)
	w.must(t)
}

// contract: C4
// case: W6
func TestLastGood(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, config("http://gw"), creds("x"))
	if _, ok := w.LastGood(ctx, teamRef(), "team"); ok {
		t.Error("there is a last good client before there was any")
	}
	g := w.must(t)
	secret := get(t, w, "team", "creds", &corev1.Secret{})
	if err := w.kube.Delete(ctx, secret); err != nil {
		t.Fatal(err)
	}
	_, err := w.For(ctx, teamRef(), "team")
	if last, ok := w.LastGood(ctx, teamRef(), "team"); !IsUnusable(err) || !ok || last != g {
		t.Errorf("Secret gone: %v, %v", err, ok)
	}
	c := get(t, w, "team", "pc", &v1alpha1.ProviderConfig{})
	if err := w.kube.Delete(ctx, c); err != nil {
		t.Fatal(err)
	}
	_, err = w.For(ctx, teamRef(), "team")
	if last, ok := w.LastGood(ctx, teamRef(), "team"); !IsUnusable(err) || !ok || last != g {
		t.Errorf("configuration gone: %v, %v", err, ok)
	}
	// Another one under the same name leads elsewhere, and lacks its Secret.
	if err := w.kube.Create(ctx, config("http://elsewhere", func(c *v1alpha1.ProviderConfig) { c.UID = "u9" })); err != nil {
		t.Fatal(err)
	}
	_, err = w.For(ctx, teamRef(), "team")
	if _, ok := w.LastGood(ctx, teamRef(), "team"); !IsUnusable(err) || ok {
		t.Errorf("configuration re-created for another endpoint: %v, %v", err, ok)
	}
	w.Forget(teamRef())
	w.Forget(teamRef())
}

// What worked counts, not what was merely built: a wrong password does not take the
// place of the one that can still delete.
//
// contract: C4
func TestLastGoodWorked(t *testing.T) {
	ctx := context.Background()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, `{"subscriptionPlans":[],"count":0}`)
	})
	w := newWorld(t, config(s.URL), creds("right"))
	right := w.must(t)
	_, accepted := right.ListSubscriptionPlans(ctx)
	w.update(t, creds("wrong"))
	wrong := w.must(t)
	_, refused := wrong.ListSubscriptionPlans(ctx)
	if accepted != nil || refused == nil || wrong == right {
		t.Fatalf("the right password: %v, the wrong one: %v", accepted, refused)
	}
	if err := w.kube.Delete(ctx, creds("")); err != nil {
		t.Fatal(err)
	}
	_, err := w.For(ctx, teamRef(), "team")
	if last, ok := w.LastGood(ctx, teamRef(), "team"); !IsUnusable(err) || !ok || last != right {
		t.Errorf("the last one that worked is not offered: %v, %v", err, ok)
	}
}

// A namespace that may not use a configuration does not get at its gateway by the
// last client either.
//
// contract: A5, C5
func TestLastGoodNotAllowed(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, clusterConfig(&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}),
		secretObject("platform", "creds", map[string]string{"token": secretValue}),
		namespaceObject("team", map[string]string{"tier": "gold"}), namespaceObject("other", nil))
	if _, err := w.For(ctx, clusterRef(), "team"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.For(ctx, clusterRef(), "other"); IsUnusable(err) {
		t.Errorf("a configuration that others may not use is usable: %v", err)
	}
	if err := w.kube.Delete(ctx, get(t, w, "", "default", &v1alpha1.ClusterProviderConfig{})); err != nil {
		t.Fatal(err)
	}
	_, err := w.For(ctx, clusterRef(), "other")
	if _, ok := w.LastGood(ctx, clusterRef(), "other"); !IsUnusable(err) || ok {
		t.Errorf("not allowed: %v, %v", err, ok)
	}
	if _, ok := w.LastGood(ctx, clusterRef(), "team"); !ok {
		t.Error("allowed, and there is no last good client")
	}
}

// Nor does one that was allowed to use it once.
//
// contract: A5, C5
func TestLastGoodNoLongerAllowed(t *testing.T) {
	ctx := context.Background()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"subscriptionPlans":[],"count":0}`)
	})
	c := clusterConfig(nil)
	c.Spec.Endpoint = s.URL
	w := newWorld(t, c, secretObject("platform", "creds", map[string]string{"token": secretValue}), namespaceObject("other", nil))
	g, err := w.For(ctx, clusterRef(), "other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.ListSubscriptionPlans(ctx); err != nil {
		t.Fatal(err)
	}
	c = get(t, w, "", "default", &v1alpha1.ClusterProviderConfig{})
	c.Generation++
	c.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	w.update(t, c)
	w.update(t, secretObject("platform", "creds", map[string]string{"token": "another"}))
	if _, err := w.ForConfig(ctx, clusterRef()); err != nil {
		t.Fatal(err)
	}
	if err := w.kube.Delete(ctx, c); err != nil {
		t.Fatal(err)
	}
	_, _ = w.For(ctx, clusterRef(), "other")
	if _, ok := w.LastGood(ctx, clusterRef(), "other"); ok {
		t.Error("it gets at the gateway by an older client")
	}
}

func TestForget(t *testing.T) {
	w := newWorld(t, config("http://gw"), creds("x"))
	w.must(t)
	w.Forget(teamRef())
	if _, ok := w.LastGood(context.Background(), teamRef(), "team"); ok {
		t.Error("a forgotten configuration has a last good client")
	}
	if _, ok := w.Health(teamRef()); ok {
		t.Error("a forgotten configuration has a health")
	}
	w.must(t)
}

func TestDependencies(t *testing.T) {
	c := config("http://gw", func(c *v1alpha1.ProviderConfig) {
		c.Spec.TLS = &v1alpha1.TLSSettings{
			CASecretRef: &v1alpha1.SecretKeyReference{Name: "creds", Key: "ca"}, CAConfigMapRef: &v1alpha1.ConfigMapKeyReference{Name: "ca"},
			ClientCertSecretRef: &v1alpha1.SecretReference{Name: "tls"},
		}
	})
	want := []Dependency{{KindSecret, "team", "creds"}, {KindConfigMap, "team", "ca"}, {KindSecret, "team", "tls"}}
	if diff := cmp.Diff(want, Dependencies(c)); diff != "" {
		t.Errorf("ProviderConfig: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Dependency{{KindSecret, "platform", "creds"}}, Dependencies(clusterConfig(nil))); diff != "" {
		t.Errorf("ClusterProviderConfig: -want, +got:\n%s", diff)
	}
	if got := Dependencies(&corev1.Secret{}); got != nil {
		t.Errorf("something else: %v", got)
	}
}

func TestSettings(t *testing.T) {
	c := config("http://gw", func(c *v1alpha1.ProviderConfig) {
		c.Spec.Timeout = &metav1.Duration{Duration: 7 * time.Second}
		c.Spec.Gateway = &v1alpha1.GatewaySettings{InvocationURL: "https://api", Generation: v1alpha1.GatewayGenerationInPlace}
	})
	g := newWorld(t, c, creds("x")).must(t)
	got := []any{g.Timeout(), g.InvocationURL(), g.Generation(), g.Ref()}
	if diff := cmp.Diff([]any{7 * time.Second, "https://api", GenerationInPlace, teamRef()}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func FuzzParseBundle(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("# only words"))
	f.Fuzz(func(t *testing.T, b []byte) {
		pool, err := parseBundle(string(b))
		if err == nil && (pool == nil || !bytes.Contains(b, []byte("-----BEGIN CERTIFICATE-----"))) {
			t.Fatalf("accepted without a certificate: %q", b)
		}
	})
}

func seeded(observed int64, g v1alpha1.GatewayStatus) func(*v1alpha1.ProviderConfig) {
	return func(c *v1alpha1.ProviderConfig) {
		c.Status.Gateway = &g
		c.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReachable, Status: corev1.ConditionTrue, ObservedGeneration: observed})
	}
}
