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

package contract

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// everything there is in the world's namespace, of all kinds.
func (w *world) everything() []unstructured.Unstructured {
	w.t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(shared.plane.RESTConfig())
	if err != nil {
		w.t.Fatal(err)
	}
	lists, err := d.ServerPreferredNamespacedResources()
	if err != nil {
		w.t.Fatal(err)
	}
	var all []unstructured.Unstructured
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			items := &unstructured.UnstructuredList{}
			items.SetGroupVersionKind(gv.WithKind(r.Kind + "List"))
			if err := w.kube.List(w.t.Context(), items, client.InNamespace(w.ns)); err != nil {
				w.t.Fatalf("cannot list %s: %v", r.Name, err)
			}
			all = append(all, items.Items...)
		}
	}
	return all
}

// A log is what a provider logs.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) write(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, prefix+" "+args)
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// A hunt looks for secrets wherever they do not belong.
type hunt struct {
	*world

	log *log
	// registries of the metrics of each start.
	registries []prometheus.Gatherer

	// secrets by what they are.
	secrets map[string]string
}

// hunted restarts the world's provider so that all it prints is kept, debug
// messages too.
func hunted(w *world) *hunt {
	w.t.Helper()
	h := &hunt{world: w, log: &log{}, registries: []prometheus.Gatherer{metrics.Registry}, secrets: map[string]string{}}
	w.reconfigure(func(o *controller.Options) {
		// More than --debug shows. At 8 the Kubernetes client prints bodies, for which
		// the provider has no flag.
		o.Logger = funcr.New(h.log.write, funcr.Options{Verbosity: 7})
		registry := prometheus.NewRegistry()
		o.Registerer, h.registries = registry, append(h.registries, registry)
	})
	return h
}

// invent a secret, with characters that need escaping in most places.
func (h *hunt) invent(what string) string {
	h.secrets[what] = `s"` + rand.Text() + `\+/<é`
	return h.secrets[what]
}

// spellings of a value, in which it might turn up.
func spellings(v string) []string {
	sum := sha256.Sum256([]byte(v))
	quoted, _ := json.Marshal(v) //nolint:errchkjson // A string always encodes.
	out := []string{v, string(bytes.Trim(quoted, `"`)), strings.Trim(fmt.Sprintf("%q", v), `"`), url.QueryEscape(v), url.PathEscape(v)}
	for _, raw := range [][]byte{[]byte(v), []byte(user + ":" + v), sum[:]} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			out = append(out, e.EncodeToString(raw))
		}
	}
	lower := hex.EncodeToString(sum[:])
	return append(out, lower, strings.ToUpper(lower))
}

// look everywhere: in all objects but the data of Secrets, in the logs, and in the
// metrics. A Secret may hold only what it was made for.
func (h *hunt) look(when string, mayHold map[string][]string) {
	h.t.Helper()
	found := func(where, text string) {
		h.t.Helper()
		for what, v := range h.secrets {
			for i, s := range spellings(v) {
				if j := strings.Index(text, s); j >= 0 {
					h.t.Errorf("%s: the %s is found, in spelling %d, in %s: …%s", when, what, i, where, strings.ReplaceAll(text[max(0, j-200):j], "\n", " "))
					break
				}
			}
		}
	}
	for _, o := range h.everything() {
		if o.GetKind() == "Secret" {
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			for key, encoded := range data {
				value, _ := base64.StdEncoding.DecodeString(encoded)
				for what, v := range h.secrets {
					if strings.Contains(string(value), v) && !slices.Contains(mayHold[o.GetName()], what) {
						h.t.Errorf("%s: the %s is found in Secret %s under key %s", when, what, o.GetName(), key)
					}
				}
			}
			unstructured.RemoveNestedField(o.Object, "data")
		}
		raw, err := o.MarshalJSON()
		if err != nil {
			h.t.Fatal(err)
		}
		found(o.GetKind()+" "+o.GetName(), string(raw))
		// Values as they are, and not as JSON escapes them.
		found(o.GetKind()+" "+o.GetName(), fmt.Sprint(o.Object))
	}
	for _, line := range h.log.all() {
		found("the log", line)
	}
	for _, gatherer := range h.registries {
		families, err := gatherer.Gather()
		if err != nil {
			h.t.Fatal(err)
		}
		for _, f := range families {
			found("the metric "+f.GetName(), f.String())
		}
	}
}

// Through a whole life, with a gateway that repeats what it is told, no token, no
// password and no hash of one is anywhere but in the Secrets that are for them.
//
// contract: A2, S26, S27
// case: A14, A15
func TestNoSecretAnywhere(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		h := hunted(w)
		w.gw.AddAPI("api")
		c := w.itsConfig()
		w.usable(c)

		// A password that is changed, that is wrong, and that a gateway repeats.
		pass := h.invent("password")
		w.credentials(pass + "\n")
		w.says(c, v1alpha1.TypeAuthenticated, corev1.ConditionFalse)
		complain := w.gw.Inject(emulator.Always(emulator.Match{}, emulator.Raw(401, "application/json", says(t, map[string]string{
			"code":    "authentication_failed",
			"message": "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+pass)) + " is not right, and " + pass + " is no password",
		}))))
		early := w.asked("early")
		w.says(early, xpv2.TypeSynced, corev1.ConditionFalse, "is not right")
		w.says(c, v1alpha1.TypeAuthenticated, corev1.ConditionFalse, "is not right")
		h.look("wrong password", map[string][]string{"gateway": {"password"}})
		complain()
		w.gw.SetUsers([]emulator.User{{Name: user, Password: pass, Roles: []emulator.Role{emulator.RoleAdmin}}}, nil)
		w.usable(c)
		w.ready(early)

		// Two subscriptions, one with a token of its own and one with a generated one.
		first := h.invent("first token")
		one := w.subscription("one", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection-one"}
		})
		two := w.subscription("two", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
			s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection-two"}
		})
		// The gateway repeats the create, with the token in it, and its hash.
		post := emulator.Match{Method: "POST", Kind: emulator.Subscriptions}
		sum := sha256.Sum256([]byte(first))
		w.gw.Inject(emulator.FailOnce(post, emulator.EchoRequest(400).Before()))
		w.gw.Inject(emulator.FailOnce(post, emulator.Raw(500, "application/json", says(t, map[string]string{
			"status": "error", "message": "duplicate key " + hex.EncodeToString(sum[:]) + " for " + first,
		})).Before()))
		w.create(w.secret("one", map[string]string{"token": first}), one)
		if message := w.refused(one, gatewayv1alpha1.ReasonRefused); !strings.Contains(message, "[redacted]") {
			t.Errorf("want the gateway's words without the token, got: %s", message)
		}
		h.look("refused create", map[string][]string{"gateway": {"password"}, "one": {"first token"}, "connection-one": {"first token"}})
		w.ready(one)
		w.create(two)
		w.ready(two)
		generated := w.token("connection-two")
		h.secrets["generated token"] = generated

		// Both are rotated, and the gateway repeats the changes.
		second := h.invent("second token")
		w.gw.Inject(emulator.FailOnce(emulator.Match{Method: "PUT", ID: externalName(one)}, emulator.EchoRequest(400).Before()))
		w.gw.Inject(emulator.FailOnce(emulator.Match{Method: "PUT", ID: externalName(two)}, emulator.EchoRequest(500).Before()))
		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(second)} })
		edit(w, two, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "now"})
		})
		w.says(one, gatewayv1alpha1.TypeApplied, corev1.ConditionFalse)
		// It is tried again a second later, and may be in force by now.
		h.look("refused rotation", map[string][]string{
			"gateway": {"password"}, "one": {"second token"}, "connection-one": {"first token", "second token"}, "connection-two": {"generated token"},
		})
		if w.inPlace {
			w.poked(one)
			w.ready(one, two)
			w.eventually("the generated token is rotated", func() error {
				if w.token("connection-two") == generated {
					return fmt.Errorf("it is not")
				}
				return nil
			})
			h.secrets["rotated token"] = w.token("connection-two")
		}
		w.restart()
		w.polled(externalName(one), 3)
		w.polled(externalName(two), 3)
		for _, s := range []*gatewayv1alpha1.Subscription{one, two} {
			w.delete(s)
		}
		w.gone(one, two)
		everywhere := []string{"first token", "second token"}
		h.look("after a life", map[string][]string{"gateway": {"password"}, "one": everywhere, "connection-one": everywhere, "connection-two": {"generated token", "rotated token"}})
		if n := len(h.log.all()); n < 100 {
			t.Errorf("want a log to search, got %d lines", n)
		}
	})
}

// Neither a client secret, nor what it is exchanged for, nor a bearer token, is
// anywhere but in its Secret.
//
// contract: A2, C1
// case: A14, A15
func TestNoCredentialAnywhere(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		h := hunted(w)
		admin := []emulator.Role{emulator.RoleAdmin}
		server := newAuthorizationServer(t)
		gw := w.gateway(emulator.Options{BearerTokens: map[string][]emulator.Role{"access-1": admin}}, emulator.Listen{TLS: true, ClientCertificates: true})
		gw.AddAPI("api")
		cert, key, err := gw.ClientCertificate()
		if err != nil {
			t.Fatal(err)
		}
		h.secrets["client secret"], h.secrets["access token"], h.secrets["private key"] = clientSecret, "access-1", strings.Split(string(key), "\n")[1]
		wrong, bearer := h.invent("wrong client secret"), "bearer-"+rand.Text()
		h.secrets["bearer token"] = bearer
		w.create(
			w.secret("oauth2", map[string]string{"secret": wrong}),
			w.secret("bearer", map[string]string{"token": bearer}),
			&corev1.Secret{ObjectMeta: w.named("tls"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": cert, "tls.key": key}},
		)
		ca := string(gw.CA())
		tls := &v1alpha1.TLSSettings{CABundle: &ca, ClientCertSecretRef: &v1alpha1.SecretReference{Name: "tls"}}
		oauth2 := w.config("oauth2", gw.URL(), func(c *v1alpha1.ProviderConfig) {
			c.Spec.TLS = tls
			c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsOAuth2ClientCredentials, OAuth2: &v1alpha1.OAuth2Credentials{
				OAuth2Settings:  v1alpha1.OAuth2Settings{TokenURL: server.URL, ClientID: clientID, Scopes: []string{"one", "two"}},
				ClientSecretRef: v1alpha1.SecretKeyReference{Name: "oauth2", Key: "secret"},
			}}
		})
		token := w.config("bearer", gw.URL(), func(c *v1alpha1.ProviderConfig) {
			c.Spec.TLS = tls
			c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsBearerToken, BearerToken: &v1alpha1.BearerTokenCredentials{
				SecretRef: v1alpha1.SecretKeyReference{Name: "bearer", Key: "token"},
			}}
		})
		may := map[string][]string{"oauth2": {"client secret", "wrong client secret"}, "bearer": {"bearer token"}, "tls": {"private key"}}
		// The authorization server repeats the client secret in its refusal.
		gw.Inject(emulator.FailOnce(emulator.Match{}, emulator.Raw(403, "text/plain", "no Bearer "+bearer+" here")))
		w.create(oauth2, token)
		s := w.asked("one", through("oauth2"))
		w.says(oauth2, xpv2.TypeReady, corev1.ConditionFalse, "invalid_client")
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "invalid_client")
		w.says(token, xpv2.TypeReady, corev1.ConditionFalse)
		h.look("wrong credentials", may)

		edit(w, w.secret("oauth2", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"secret": []byte(clientSecret)} })
		gw.SetUsers(nil, map[string][]emulator.Role{"access-1": admin, bearer: admin})
		w.usable(oauth2)
		w.usable(token)
		w.ready(s)
		mend := gw.Inject(emulator.Always(looks(gw, externalName(s)), emulator.Raw(400, "application/json", says(t, map[string]string{
			"status": "error", "message": "what is access-1 to me, said the gateway",
		})).Before()))
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "to me, said the gateway")
		mend()
		w.ready(s)
		w.delete(s)
		w.gone(s)
		h.look("after a life", may)
	})
}

// token in a Secret.
func (w *world) token(secret string) string {
	w.t.Helper()
	s := w.secret(secret, nil)
	if err := w.get(s); err != nil {
		w.t.Fatal(err)
	}
	return string(s.Data["token"])
}

// says is an answer in JSON.
func says(t *testing.T, answer map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
