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
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A conditioned object has conditions.
type conditioned interface {
	client.Object
	GetCondition(t xpv2.ConditionType) xpv2.Condition
}

// says waits until an object has a condition in a status, whose message holds all
// the given texts, and returns the message.
func (w *world) says(o conditioned, t xpv2.ConditionType, status corev1.ConditionStatus, texts ...string) string {
	w.t.Helper()
	message := ""
	w.eventually(fmt.Sprintf("%T %s says %s=%s and %q", o, o.GetName(), t, status, texts), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		c := o.GetCondition(t)
		if message = c.Message; c.Status != status {
			return fmt.Errorf("it says %s=%s (%s: %s)", t, c.Status, c.Reason, c.Message)
		}
		for _, text := range texts {
			if !strings.Contains(message, text) {
				return fmt.Errorf("it says %q", message)
			}
		}
		return nil
	})
	return message
}

// usable waits until a configuration's current generation is ready.
func (w *world) usable(o conditioned) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%T %s is usable", o, o.GetName()), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		if c := o.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue || c.ObservedGeneration != o.GetGeneration() {
			return fmt.Errorf("it is at generation %d, and its condition %+v", o.GetGeneration(), c)
		}
		return nil
	})
}

// gateway is one more gateway, which knows the usual user unless it is told whom
// to know.
func (w *world) gateway(o emulator.Options, l emulator.Listen) *emulator.Server {
	w.t.Helper()
	if o.Users == nil && o.BearerTokens == nil {
		o.Users = []emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}}
	}
	gw, err := emulator.New(o).Serve(shared.life, l)
	if err != nil {
		w.t.Fatal(err)
	}
	return gw
}

// config is a ProviderConfig that leads somewhere, with the usual credentials.
func (w *world) config(name, url string, change ...func(c *v1alpha1.ProviderConfig)) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{
		ObjectMeta: w.named(name),
		Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: url, Timeout: &metav1.Duration{Duration: 2 * time.Second}},
			Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
				Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"},
			}},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

// itsConfig is the ProviderConfig every world has.
func (w *world) itsConfig() *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{ObjectMeta: w.named("gateway")}
}

// through a ProviderConfig of its namespace a Subscription reaches its gateway.
func through(config string) func(s *gatewayv1alpha1.Subscription) {
	return func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	}
}

// asked creates a Subscription to the API named api, with a token of its own.
func (w *world) asked(name string, change ...func(s *gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
	w.t.Helper()
	s := w.subscription(name, "api", change...)
	w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
	return s
}

// An authorization server hands out the tokens access-1, access-2 and so on.
type authorizationServer struct {
	*httptest.Server

	tokens  atomic.Int32
	refused atomic.Int32
}

const clientID, clientSecret = "provider", "client+secret/of=provider"

func newAuthorizationServer(t *testing.T) *authorizationServer {
	t.Helper()
	s := &authorizationServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, ok := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if _ = r.ParseForm(); !ok || id != clientID || secret != strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(clientSecret) ||
			r.PostForm.Get("grant_type") != "client_credentials" || r.PostForm.Get("scope") != "one two" {
			s.refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "not " + secret})
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"access-%d","token_type":"Bearer","expires_in":3600}`, s.tokens.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

// Each way to authenticate leads to a gateway.
//
// contract: C1
func TestCredentials(t *testing.T) {
	admin := []emulator.Role{emulator.RoleAdmin}
	cases := map[string]struct {
		gateway emulator.Options
		change  func(c *v1alpha1.Credentials)
	}{
		"Basic": {change: func(*v1alpha1.Credentials) {}},
		"BearerToken": {
			gateway: emulator.Options{BearerTokens: map[string][]emulator.Role{"bearer-token": admin}},
			change: func(c *v1alpha1.Credentials) {
				*c = v1alpha1.Credentials{Source: v1alpha1.CredentialsBearerToken, BearerToken: &v1alpha1.BearerTokenCredentials{
					SecretRef: v1alpha1.SecretKeyReference{Name: "credentials", Key: "token"},
				}}
			},
		},
		"None": {
			// Neither users nor tokens: every call is allowed everything.
			gateway: emulator.Options{Users: []emulator.User{}},
			change: func(c *v1alpha1.Credentials) {
				*c = v1alpha1.Credentials{Source: v1alpha1.CredentialsNone}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				gw := w.gateway(tc.gateway, emulator.Listen{})
				gw.AddAPI("api")
				c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) { tc.change(&c.Spec.Credentials) })
				// A token, like a password, may end in a line that nobody meant.
				w.create(w.secret("credentials", map[string]string{"token": "bearer-token\n"}), c)
				w.usable(c)
				s := w.asked("one", through("other"))
				w.ready(s)
				w.delete(s)
				w.gone(s)
				if n := len(gw.Subscriptions()); n != 0 {
					t.Errorf("%d subscriptions left behind", n)
				}
			})
		})
	}
}

// OAuth2 tokens are obtained once, kept, and replaced when the gateway does not
// accept them any more, or when they end.
//
// contract: C1, C2, A6
func TestOAuth2(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		clock := &steppedClock{}
		w.reconfigure(func(o *controller.Options) { o.Clock = clock })
		admin := []emulator.Role{emulator.RoleAdmin}
		server := newAuthorizationServer(t)
		gw := w.gateway(emulator.Options{BearerTokens: map[string][]emulator.Role{"access-1": admin}}, emulator.Listen{})
		gw.AddAPI("api")
		c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) {
			c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsOAuth2ClientCredentials, OAuth2: &v1alpha1.OAuth2Credentials{
				OAuth2Settings:  v1alpha1.OAuth2Settings{TokenURL: server.URL + "/token", ClientID: clientID, Scopes: []string{"one", "two"}},
				ClientSecretRef: v1alpha1.SecretKeyReference{Name: "credentials", Key: "secret"},
			}}
		})
		credentials := w.secret("credentials", map[string]string{"secret": "wrong"})
		w.create(credentials, c)
		message := w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "no token from "+server.URL+"/token", "401 (invalid_client)")
		if strings.Contains(message, "wrong") {
			t.Errorf("the message repeats the secret: %s", message)
		}
		edit(w, credentials, func(s *corev1.Secret) { s.Data = map[string][]byte{"secret": []byte(clientSecret + "\n")} })
		w.usable(c)

		one, two := w.asked("one", through("other")), w.asked("two", through("other"))
		w.ready(one, two)
		w.polledAt(gw, externalName(one), 5)
		w.polledAt(gw, externalName(two), 5)
		if n := server.tokens.Load(); n != 1 {
			t.Errorf("want one token for all calls, got %d", n)
		}

		gw.SetUsers(nil, map[string][]emulator.Role{"access-2": admin})
		clock.step(30 * time.Second)
		w.eventually("the next token is in use", func() error {
			if n := server.tokens.Load(); n != 2 {
				return fmt.Errorf("%d tokens", n)
			}
			return nil
		})
		w.usable(c)
		w.ready(one, two)

		gw.SetUsers(nil, map[string][]emulator.Role{"access-2": admin, "access-3": admin})
		clock.step(time.Hour)
		w.eventually("the token that ended is replaced", func() error {
			if n := server.tokens.Load(); n != 3 {
				return fmt.Errorf("%d tokens", n)
			}
			return nil
		})
		w.ready(one, two)
		if n := gw.Count(emulator.Match{Kind: emulator.Subscriptions, Writes: true}); n != 2 {
			t.Errorf("want the two creates and no other write, got %d", n)
		}
	})
}

// Whom to trust comes from where the configuration says, and a client certificate
// is presented where the gateway wants one.
//
// contract: C1
// case: F2, F3
func TestTLS(t *testing.T) {
	bundle := v1alpha1.SecretKeyReference{Name: "ca", Key: "ca.crt"}
	for name, tls := range map[string]func(ca string) *v1alpha1.TLSSettings{
		"Inline": func(ca string) *v1alpha1.TLSSettings { return &v1alpha1.TLSSettings{CABundle: &ca} },
		"Secret": func(string) *v1alpha1.TLSSettings { return &v1alpha1.TLSSettings{CASecretRef: &bundle} },
		"ConfigMap": func(string) *v1alpha1.TLSSettings {
			return &v1alpha1.TLSSettings{CAConfigMapRef: (*v1alpha1.ConfigMapKeyReference)(&bundle)}
		},
		"ClientCertificate": func(string) *v1alpha1.TLSSettings {
			return &v1alpha1.TLSSettings{CASecretRef: &bundle, ClientCertSecretRef: &v1alpha1.SecretReference{Name: "client"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				client := name == "ClientCertificate"
				gw := w.gateway(emulator.Options{}, emulator.Listen{TLS: true, ClientCertificates: client})
				gw.AddAPI("api")
				cert, key, err := gw.ClientCertificate()
				if err != nil {
					t.Fatal(err)
				}
				w.create(
					w.secret("ca", map[string]string{"ca.crt": "# The gateway's own.\n" + string(gw.CA())}),
					&corev1.ConfigMap{ObjectMeta: w.named("ca"), Data: map[string]string{"ca.crt": string(gw.CA())}},
					&corev1.Secret{ObjectMeta: w.named("client"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": cert, "tls.key": key}},
				)
				c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) {
					if client {
						c.Spec.TLS = &v1alpha1.TLSSettings{CASecretRef: &bundle}
					}
				})
				w.create(c)
				why := "TLS: certificate signed by unknown authority"
				if client {
					why = "TLS: "
				}
				w.says(c, v1alpha1.TypeReachable, corev1.ConditionFalse, why)
				w.says(c, xpv2.TypeReady, corev1.ConditionFalse, why)
				s := w.asked("one", through("other"))
				w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, why)
				if n := gw.Count(emulator.Match{}); n != 0 {
					t.Errorf("%d requests before the gateway was trusted", n)
				}
				edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = tls(string(gw.CA())) })
				w.usable(c)
				w.ready(s)
			})
		})
	}
}

// contract: C1
// case: F3
func TestInsecureSkipVerify(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		gw := w.gateway(emulator.Options{}, emulator.Listen{TLS: true})
		gw.AddAPI("api")
		c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = &v1alpha1.TLSSettings{InsecureSkipVerify: true} })
		w.create(c)
		w.usable(c)
		s := w.asked("one", through("other"))
		w.ready(s)
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS.InsecureSkipVerify = false })
		w.says(c, v1alpha1.TypeReachable, corev1.ConditionFalse, "unknown authority")
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "unknown authority")
		// Also what was connected while nothing was verified is not used any more.
		requests := gw.Count(emulator.Match{})
		w.usable(w.itsConfig())
		w.ready(w.subscribed("elsewhere"))
		if n := gw.Count(emulator.Match{}) - requests; n != 0 {
			t.Errorf("%d requests to a gateway that is not trusted", n)
		}
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS.InsecureSkipVerify = true })
		w.usable(c)
		w.ready(s)
	})
}

// A new CA is trusted, and the old one no longer, without a restart. What cannot be
// trusted is no proof that anything is gone.
//
// contract: C1, A6, S31
// case: F2
func TestCARotation(t *testing.T) {
	for _, from := range []string{"Secret", "ConfigMap"} {
		t.Run(from, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				gw := w.gateway(emulator.Options{}, emulator.Listen{TLS: true})
				gw.AddAPI("api")
				secret := w.secret("ca", map[string]string{"ca.crt": string(gw.CA())})
				configMap := &corev1.ConfigMap{ObjectMeta: w.named("ca"), Data: map[string]string{"ca.crt": string(gw.CA())}}
				w.create(secret, configMap)
				c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) {
					c.Spec.TLS = &v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca", Key: "ca.crt"}}
					if from == "ConfigMap" {
						c.Spec.TLS = &v1alpha1.TLSSettings{CAConfigMapRef: &v1alpha1.ConfigMapKeyReference{Name: "ca", Key: "ca.crt"}}
					}
				})
				w.create(c)
				s, goes := w.asked("one", through("other")), w.asked("goes", through("other"))
				w.ready(s, goes)
				w.usable(c)

				if err := gw.RotateCA(); err != nil {
					t.Fatal(err)
				}
				gw.DropConnections()
				w.says(c, v1alpha1.TypeReachable, corev1.ConditionFalse, "unknown authority")
				w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "unknown authority")
				// Whoever answers there does not say that anything is gone.
				w.delete(goes)
				w.eventually("its deletion is tried", func() error {
					if err := w.get(goes); err != nil {
						return err
					}
					if goes.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonDeleting {
						return errNotYet
					}
					return nil
				})
				w.prodded(goes)
				w.says(goes, xpv2.TypeSynced, corev1.ConditionFalse, "unknown authority")
				if len(goes.GetFinalizers()) == 0 || len(gw.Subscriptions()) != 2 {
					t.Errorf("finalizers %v, %d subscriptions", goes.GetFinalizers(), len(gw.Subscriptions()))
				}
				if from == "Secret" {
					edit(w, secret, func(s *corev1.Secret) { s.Data = map[string][]byte{"ca.crt": gw.CA()} })
				} else {
					edit(w, configMap, func(c *corev1.ConfigMap) { c.Data = map[string]string{"ca.crt": string(gw.CA())} })
				}
				w.usable(c)
				w.ready(s)
				w.gone(goes)
				if n := gw.Count(emulator.Match{Writes: true}); n != 3 || len(gw.Subscriptions()) != 1 {
					t.Errorf("want two creates, one deletion and no other write, got %d", n)
				}
			})
		})
	}
}

// A bundle that holds nothing, or something else, is refused: it never means that
// nothing is checked, or that the system's authorities will do.
//
// contract: C1, C2
// case: F2
func TestBundleRefused(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		gw := w.gateway(emulator.Options{}, emulator.Listen{TLS: true})
		gw.AddAPI("api")
		ca := string(gw.CA())
		secret := w.secret("ca", map[string]string{"ca.crt": ""})
		c := w.config("other", gw.URL(), func(c *v1alpha1.ProviderConfig) {
			c.Spec.TLS = &v1alpha1.TLSSettings{CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca", Key: "ca.crt"}}
		})
		w.create(secret, c)
		s := w.asked("one", through("other"))
		where := fmt.Sprintf("Secret %q", w.ns+"/ca")
		for what, bundle := range map[string]string{
			"empty":                  "",
			"empty under key":        " \n",
			"no certificate":         "junk",
			"damaged":                ca[:len(ca)/2],
			"after the last":         ca + "junk\n",
			`block of type "PRIVATE`: ca + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		} {
			edit(w, secret, func(s *corev1.Secret) { s.Data = map[string][]byte{"ca.crt": []byte(bundle)} })
			w.says(c, xpv2.TypeReady, corev1.ConditionFalse, where, `"ca.crt"`, what)
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, where, `"ca.crt"`, what)
			if got := c.GetCondition(xpv2.TypeReady).Reason; got != "Misconfigured" {
				t.Errorf("want reason Misconfigured, got %s", got)
			}
		}
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = &v1alpha1.TLSSettings{CABundle: ptr("junk")} })
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "spec.tls.caBundle", "no certificate")
		if n := gw.Count(emulator.Match{}); n != 0 {
			t.Errorf("%d requests with a bundle that was refused", n)
		}

		for what, tls := range map[string]*v1alpha1.TLSSettings{
			"an empty bundle": {CABundle: ptr("")},
			"two sources":     {CABundle: &ca, CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca", Key: "ca.crt"}},
		} {
			if err := tryEdit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = tls }); !kerrors.IsInvalid(err) {
				t.Errorf("want %s refused at admission, got %v", what, err)
			}
		}
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.TLS = &v1alpha1.TLSSettings{CABundle: &ca} })
		w.usable(c)
		w.ready(s)
	})
}

// What is wrong with credentials is said on the configuration and on what uses it,
// with what is missing and where, and heals as soon as it is mended.
//
// contract: C2, A1, A6
// case: A2, W5
func TestCredentialsWrong(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		c, s := w.itsConfig(), w.subscribed("one")
		writes := w.writes()
		where := fmt.Sprintf("Secret %q", w.ns+"/gateway")
		for _, tc := range []struct {
			spoil func()
			want  []string
		}{
			{func() { w.delete(w.secret("gateway", nil)) }, []string{"does not exist", `"password"`}},
			{func() { w.create(w.secret("gateway", map[string]string{"passwort": password})) }, []string{`has no key "password"`}},
			{func() { w.credentials("") }, []string{"is empty", `"password"`}},
			{func() { w.credentials(" \n") }, []string{"is empty", `"password"`}},
			{func() { w.credentials(password[:5] + "\n" + password[5:]) }, []string{"line break", `"password"`, "must be one line"}},
		} {
			tc.spoil()
			message := w.says(c, xpv2.TypeReady, corev1.ConditionFalse, append(tc.want, where)...)
			if got := c.GetCondition(xpv2.TypeReady).Reason; got != "Misconfigured" {
				t.Errorf("want reason Misconfigured, got %s", got)
			}
			if strings.Contains(message, password[5:]) {
				t.Errorf("the message repeats the password: %s", message)
			}
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, append(tc.want, where)...)
			// What was true is not known to be false, but cannot be verified any more.
			w.says(s, gatewayv1alpha1.TypeApplied, corev1.ConditionUnknown, append(tc.want, where)...)
			if got := s.GetCondition(xpv2.TypeReady).Status; got != corev1.ConditionTrue {
				t.Errorf("want Ready to keep its last value, got %s", got)
			}
		}
		w.credentials("  " + password + "\n")
		w.usable(c)
		w.ready(s)
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}

// credentials sets the password that the world's configuration uses.
func (w *world) credentials(password string) {
	w.t.Helper()
	edit(w, w.secret("gateway", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte(password)} })
}

// A managed resource whose configuration does not exist says so, and is served as
// soon as it does.
//
// contract: C2, A6
func TestConfigMissing(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		w.gw.AddAPI("api")
		s := w.asked("one", through("later"))
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, fmt.Sprintf("ProviderConfig %q", w.ns+"/later"), "does not exist", "spec.providerConfigRef")
		later := w.config("later", w.gw.URL())
		w.create(later)
		w.ready(s)
		// One that never got anywhere goes without asking anybody.
		never := w.asked("never", through("nowhere"))
		w.says(never, xpv2.TypeSynced, corev1.ConditionFalse, "does not exist")
		w.delete(never)
		w.gone(never)
	})
}

// Wrong credentials that are mended at last are in use within seconds, however long
// nothing else was tried.
//
// contract: A3, A6
// case: W5, F7
func TestHealsInSeconds(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		writes := w.writes()
		w.gw.SetUsers([]emulator.User{{Name: user, Password: "rotated at the gateway", Roles: []emulator.Role{emulator.RoleAdmin}}}, nil)
		w.says(w.itsConfig(), v1alpha1.TypeAuthenticated, corev1.ConditionFalse)
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "the credentials were not accepted")
		// After so many failures the next try would be more than ten seconds away.
		w.polled(externalName(s), 5)
		w.credentials("rotated at the gateway")
		mended := time.Now()
		w.ready(s)
		if d := time.Since(mended); d > 10*time.Second {
			t.Errorf("want seconds, got %s", d)
		}
		w.usable(w.itsConfig())
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}

// The status of a configuration says what its gateway lets it do.
//
// contract: C3, A3
// case: F7, F11
func TestHealth(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		role := func(r emulator.Role) {
			w.gw.SetUsers([]emulator.User{{Name: user, Password: password, Roles: []emulator.Role{r}}}, nil)
		}
		c := w.itsConfig()
		w.usable(c)
		for _, of := range []xpv2.ConditionType{v1alpha1.TypeReachable, v1alpha1.TypeAuthenticated, v1alpha1.TypeAuthorized} {
			w.says(c, of, corev1.ConditionTrue)
		}
		// Nothing was written yet.
		w.says(c, v1alpha1.TypeWritable, corev1.ConditionUnknown)

		role(emulator.RoleConsumer)
		w.says(c, v1alpha1.TypeAuthorized, corev1.ConditionFalse, "RestApi")
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "lack the role")
		w.says(c, v1alpha1.TypeAuthenticated, corev1.ConditionTrue)

		role(emulator.RoleDeveloper)
		w.usable(c)
		a := w.api("api")
		w.create(a)
		w.ready(a)
		w.says(c, v1alpha1.TypeWritable, corev1.ConditionTrue)
		s := w.asked("one")
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "lack the role")
		w.says(c, v1alpha1.TypeAuthorized, corev1.ConditionFalse, "Subscription")
		w.ready(a)

		role(emulator.RoleAdmin)
		w.usable(c)
		w.ready(s)

		w.gw.SetUsers([]emulator.User{{Name: "somebody", Password: "else"}}, nil)
		w.says(c, v1alpha1.TypeAuthenticated, corev1.ConditionFalse)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse)
		w.says(c, v1alpha1.TypeReachable, corev1.ConditionTrue)
		role(emulator.RoleAdmin)
		w.usable(c)

		w.gw.Stop()
		w.says(c, v1alpha1.TypeReachable, corev1.ConditionFalse, "connection refused")
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "connection refused")
		again, err := w.gw.Serve(t.Context(), emulator.Listen{Address: w.gw.Address()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(again.Close)
		w.usable(c)
		w.ready(s)
	})
}

// A gateway that takes no changes can still be observed, and says so where a change
// is asked for.
//
// contract: C3, S34
func TestImmutableGateway(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		w.gw.AddAPI("api")
		w.gw.AddSubscription(emulator.Subscription{ID: "there", APIHandle: "api", ApplicationID: "app-one"}, "secret")
		w.gw.SetImmutable(true)
		c := w.itsConfig()
		observer := w.asked("one", func(s *gatewayv1alpha1.Subscription) {
			meta.SetExternalName(s, "there")
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		})
		w.ready(observer)
		s := w.asked("two")
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "read-only", "immutable mode")
		w.says(c, v1alpha1.TypeWritable, corev1.ConditionFalse, "immutable mode")
		w.usable(c)
		lists := emulator.Match{Kind: emulator.Subscriptions, Lists: true}
		before := w.gw.Count(lists)
		w.eventually("it is read again", func() error {
			if n := w.gw.Count(lists) - before; n < 5 {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
		w.ready(observer)

		w.gw.SetImmutable(false)
		w.ready(s)
		w.says(c, v1alpha1.TypeWritable, corev1.ConditionTrue)
	})
}

// What a gateway is, is shown once it is known, kept by a restart, and learnt again
// when it becomes another one.
//
// contract: C3
func TestLearntAboutGateway(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		c := w.itsConfig()
		w.usable(c)
		if g := c.Status.Gateway; g == nil || g.ID != "" || g.Generation != "" || g.LastSeen == nil {
			t.Errorf("before anything was asked for: %+v", g)
		}
		shows := func(id string, generation v1alpha1.GatewayGeneration) {
			t.Helper()
			w.eventually(fmt.Sprintf("it shows %q, %q", id, generation), func() error {
				if err := w.get(c); err != nil {
					return err
				}
				if g := c.Status.Gateway; g == nil || g.ID != id || g.Generation != generation {
					return fmt.Errorf("it shows %+v", g)
				}
				return nil
			})
		}
		is, other := v1alpha1.GatewayGenerationLegacy, v1alpha1.GatewayGenerationInPlace
		if w.inPlace {
			is, other = other, is
		}
		s := w.subscribed("one")
		shows(w.gw.GatewayID(), is)
		w.restart()
		w.ready(s)
		w.polled(externalName(s), 2)
		shows(w.gw.GatewayID(), is)

		// The gateway is set up anew, as another one, under the same address.
		w.gw.SetGeneration(emulator.Generation(other))
		w.gw.SetGatewayID("another")
		w.gw.Clear()
		w.gw.AddAPI("api")
		shows("another", other)
		w.ready(s)

		// What the configuration declares needs no proof.
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Gateway = &v1alpha1.GatewaySettings{Generation: is} })
		shows("another", is)
	})
}

// A configuration that is looked at again and again is not written.
//
// contract: A10, C3
func TestConfigIdle(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {

		probes := emulator.Match{Method: "GET", Kind: emulator.RestAPIs, Lists: true}
		c := w.itsConfig()
		stays := func(what string, conditions func() error) {
			t.Helper()
			w.eventually(what, conditions)
			version := c.GetResourceVersion()
			before := w.gw.Count(probes)
			w.eventually("the gateway was probed ten times", func() error {
				if n := w.gw.Count(probes) - before; n < 10 {
					return fmt.Errorf("%d times", n)
				}
				return nil
			})
			if err := w.get(c); err != nil {
				t.Fatal(err)
			}
			if c.GetResourceVersion() != version {
				t.Errorf("%s, and the configuration was written: %+v", what, c.Status)
			}
		}
		w.usable(c)
		stays("it is usable", func() error { return nil })
		w.gw.SetUsers([]emulator.User{{Name: "somebody", Password: "else"}}, nil)
		stays("it is not usable", func() error {
			if err := w.get(c); err != nil {
				return err
			}
			if got := c.GetCondition(xpv2.TypeReady); got.Status != corev1.ConditionFalse {
				return fmt.Errorf("it is %+v", got)
			}
			return nil
		})
	})
}

// A configuration serves its users until the last one is gone, and is gone with
// it. One that nobody uses goes at once.
//
// contract: C4
func TestConfigInUse(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		unused := w.config("unused", w.gw.URL())
		w.create(unused)
		w.usable(unused)
		w.delete(unused)
		deleted := time.Now()
		w.gone(unused)
		if d := time.Since(deleted); d > 4*time.Second {
			t.Errorf("one that nobody uses took %s to go", d)
		}

		c := w.itsConfig()
		s, p := w.subscribed("one"), w.plan("gold", "Gold")
		// One that never got anything uses it as well.
		waiting := w.subscription("waiting", "api")
		w.create(p, waiting)
		w.ready(p)
		w.refused(waiting, gatewayv1alpha1.ReasonTokenSecretMissing)
		w.eventually("it counts its users", func() error {
			if err := w.get(c); err != nil {
				return err
			}
			if c.Status.Users != 3 {
				return fmt.Errorf("%d users", c.Status.Users)
			}
			return nil
		})
		w.delete(c)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "3 managed resources still refer to this ProviderConfig")

		// Meanwhile everything works, also after a restart.
		w.restart()
		edit(w, w.secret("one", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
		w.eventually("the rotated token is in force", func() error {
			if !w.gw.LetThrough("api", "rotated") {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		w.delete(waiting, p)
		w.gone(waiting, p)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "1 managed resource still refers to this ProviderConfig")
		w.delete(s)
		w.gone(s, c)
		if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 0 {
			t.Errorf("%d left behind", n)
		}
	})
}

// However an endpoint is written, it is the same gateway.
//
// contract: C6
func TestEndpointForms(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		c := w.itsConfig()
		writes, normalised := w.writes(), s.Status.AtProvider.Endpoint
		if want := w.gw.Endpoint(); normalised != want {
			t.Errorf("want endpoint %q, got %q", want, normalised)
		}
		address := w.gw.Address()
		for _, form := range []string{
			"http://" + address + "/", "http://" + address + "//", "HTTP://" + address, "http://" + address + "/api/management/v1",
			"http://" + address + "//api/management//v1/",
		} {
			edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = form })
			w.usable(c)
			w.polled(externalName(s), 2)
			w.ready(s)
			if got := s.Status.AtProvider.Endpoint; got != normalised {
				t.Errorf("%s: want endpoint %q, got %q", form, normalised, got)
			}
		}
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}

		// Host names in any letter case, and IPv6.
		port := address[strings.LastIndex(address, ":"):]
		forms := []string{"http://LOCALHOST" + port}
		if v6, err := w.gw.Serve(t.Context(), emulator.Listen{Address: "[::1]:0"}); err == nil {
			t.Cleanup(v6.Stop)
			forms = append(forms, "http://[0:0:0:0:0:0:0:1]"+v6.Address()[strings.LastIndex(v6.Address(), ":"):])
		}
		for _, form := range forms {
			edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = form })
			w.usable(c)
			w.polled(externalName(s), 2)
			w.ready(s)
		}
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}

// What cannot be an endpoint is refused, with what would be right, and without
// repeating a password.
//
// contract: C2, C6
// case: A15
func TestEndpointRefused(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		refused := func(c *v1alpha1.ProviderConfig, texts ...string) {
			t.Helper()
			err := w.kube.Create(t.Context(), c)
			if !kerrors.IsInvalid(err) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: want a refusal without a secret, got %v", c.Spec.Endpoint, err)
				return
			}
			for _, text := range texts {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q: want %q, got: %v", c.Spec.Endpoint, text, err)
				}
			}
		}
		for endpoint, want := range map[string]string{
			"":                                     "",
			"gateway.example.org":                  "must begin with http",
			"admin:hunter2@gateway.example.org":    "must begin with http",
			"ftp://gateway.example.org":            "must begin with http",
			"http://admin:hunter2@gateway":         "spec.credentials",
			"http://gateway/api?key=hunter2":       "query",
			"http://gateway/api#hunter2":           "fragment",
			"http://gate way/":                     "white space",
			"http://gateway/\nX-Header: hunter2":   "white space",
			"https://" + strings.Repeat("x", 2100): "",
		} {
			refused(w.config("refused", endpoint), "endpoint", want)
		}
		oauth2 := w.config("refused", w.gw.URL(), func(c *v1alpha1.ProviderConfig) {
			c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsOAuth2ClientCredentials, OAuth2: &v1alpha1.OAuth2Credentials{
				OAuth2Settings:  v1alpha1.OAuth2Settings{TokenURL: "https://provider:hunter2@login", ClientID: clientID},
				ClientSecretRef: v1alpha1.SecretKeyReference{Name: "credentials", Key: "secret"},
			}}
		})
		refused(oauth2, "tokenURL", "password")
		// What only the controller can tell.
		c := w.config("other", "http://gateway:99999")
		w.create(c)
		s := w.asked("one", through("other"))
		for endpoint, want := range map[string]string{
			"http://":                    "host",
			"http://gateway:99999":       "port",
			"http://[::1":                "not a valid URL",
			"http://gateway/a/../b":      "..",
			"http://gateway/%2e%2e/":     "escaped",
			"http://:9090":               "host",
			"http://[fe80::1%25eth0]/":   "IPv6",
			"http://gateway.example\\.x": "",
		} {
			edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = endpoint })
			w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "spec.endpoint", want)
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "spec.endpoint", want)
		}
	})
}

// What replaces a configuration, its credentials or its endpoint is used at once.
//
// contract: A6, A7
// case: F8
func TestConfigReplaced(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s := w.subscribed("one")
		id, writes := externalName(s), w.writes()
		c := w.itsConfig()

		// The same gateway, behind another address.
		moved, err := w.gw.Serve(t.Context(), emulator.Listen{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(moved.Stop)
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = moved.URL() })
		w.eventually("the new address is in use", func() error {
			if err := w.get(s); err != nil {
				return err
			}
			if got := s.Status.AtProvider.Endpoint; got != moved.Endpoint() {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
		w.ready(s)
		w.gw.Stop()
		w.usable(c)
		w.polled(id, 3)
		w.ready(s)

		w.gw.SetUsers([]emulator.User{{Name: "another", Password: "other", Roles: []emulator.Role{emulator.RoleAdmin}}}, nil)
		w.create(w.secret("other", map[string]string{"key": "other"}))
		edit(w, c, func(c *v1alpha1.ProviderConfig) {
			c.Spec.Credentials.Basic = &v1alpha1.BasicCredentials{Username: "another", PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "other", Key: "key"}}
		})
		w.usable(c)
		w.ready(s)

		// Another one under the same name, made before anybody noticed.
		w.gw.SetUsers([]emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}}, nil)
		w.delete(c)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "1 managed resource still refers")
		w.vanish(c)
		again := w.config("gateway", moved.URL())
		w.create(again)
		w.usable(again)
		w.ready(s)
		w.polled(id, 2)
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
		w.delete(s)
		w.gone(s)
		if n := len(w.gw.Subscriptions()); n != 0 {
			t.Errorf("%d left behind", n)
		}
	})
}

// vanish makes an object that is being deleted go, whoever wants to keep it.
func (w *world) vanish(o client.Object) {
	w.t.Helper()
	edit(w, o, func(o client.Object) { o.SetFinalizers(nil) })
	w.gone(o)
}

// A managed resource that is deleted after its configuration keeps what it holds
// until that is back, or given up: there is no way to reach the gateway. As long as
// the process remembers a way, it uses that.
//
// contract: C4, S32
// case: W6
func TestDeleteWithoutConfig(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		s, given, known := w.subscribed("one"), w.subscribed("given"), w.subscribed("known")
		a, p := w.api("books"), w.plan("gold", "Gold")
		w.create(a, p)
		w.ready(a, p)
		c := w.itsConfig()
		w.delete(c)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "5 managed resources")
		w.vanish(c)
		w.delete(known)
		w.gone(known)
		if _, ok := w.gw.Subscription(externalName(known)); ok {
			t.Error("the last way that was known was not used")
		}

		w.restart()
		w.delete(s, given, a, p)
		for _, o := range []resource.Managed{s, given, a, p} {
			w.says(o, xpv2.TypeSynced, corev1.ConditionFalse, fmt.Sprintf("ProviderConfig %q", w.ns+"/gateway"), "does not exist", "restore it", "removing Delete from spec.managementPolicies")
			if !meta.FinalizerExists(o, "finalizer.managedresource.crossplane.io") {
				t.Errorf("%T %s has no finalizer", o, o.GetName())
			}
		}
		edit(w, given, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize}
		})
		w.gone(given)
		if _, ok := w.gw.Subscription(externalName(given)); !ok {
			t.Error("what was given up is gone at the gateway")
		}
		w.create(w.config("gateway", w.gw.URL()))
		w.gone(s, a, p)
		if all := w.gw.Subscriptions(); len(all) != 1 || len(w.gw.Plans()) != 0 || len(w.gw.APIs()) != 1 {
			t.Errorf("want the one that was given up and the API made by hand, got %+v, %+v, %+v", all, w.gw.Plans(), w.gw.APIs())
		}
	})
}

// Everything deleted in one go ends clean, in any order, and without complaints.
//
// contract: C4, S32
// case: A18, B9, W10
func TestDeleteTogether(t *testing.T) {
	for name, order := range map[string][]int{"ConfigLast": {0, 1, 2, 3, 4}, "ConfigFirst": {4, 1, 0, 2, 3}, "Reverse": {4, 3, 2, 1, 0}, "SecretsFirst": {3, 2, 4, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				p := w.plan("gold", "Gold")
				w.create(p)
				w.ready(p)
				s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) {
					s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
				})
				c := w.itsConfig()
				w.usable(c)
				objects := []client.Object{s, p, w.secret("one", nil), w.secret("gateway", nil), c}
				for _, i := range order {
					w.delete(objects[i])
				}
				w.gone(objects...)
				if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 0 {
					t.Errorf("%d left behind", n)
				}
				if n := w.gw.Count(emulator.Match{Method: http.MethodDelete}); n > 12 {
					t.Errorf("%d DELETEs", n)
				}
				// What is worth a warning is that the plan is in use for a moment, and that
				// what is not being deleted yet lacks a Secret.
				for _, e := range w.warnings() {
					if !strings.Contains(e.Message, "in use") && !(slices.Index(order, 0) > slices.Index(order, 3) && strings.Contains(e.Message, "does not exist")) {
						t.Errorf("a warning: %s %s: %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
					}
				}
			})
		})
	}
}

// warnings are the events of that type in the world's namespace.
func (w *world) warnings() []corev1.Event {
	w.t.Helper()
	l := &corev1.EventList{}
	if err := w.kube.List(w.t.Context(), l, client.InNamespace(w.ns)); err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(l.Items, func(e corev1.Event) bool { return e.Type != corev1.EventTypeWarning })
}

// A namespace that is deleted as a whole, with configuration, credentials, tokens
// and managed resources in it, goes, and nothing of it is left at the gateway.
//
// contract: C4, S32
// case: E2, A18
func TestDeleteNamespace(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		p, a := w.plan("gold", "Gold"), w.api("books", "Gold")
		w.create(p, a)
		w.ready(p, a)
		var all []resource.Managed
		for _, name := range []string{"one", "two", "three"} {
			s := w.subscription(name, "", func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
				s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
			})
			w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
			all = append(all, s)
		}
		w.ready(all...)
		byHand, _ := w.gw.AddAPI("by-hand")
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
		w.delete(ns)
		w.eventually("the namespace is gone", func() error {
			err := w.kube.Get(t.Context(), client.ObjectKeyFromObject(ns), ns)
			if kerrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			return fmt.Errorf("it is there: %+v", ns.Status)
		})
		if n := len(w.gw.Subscriptions()) + len(w.gw.Plans()); n != 0 || len(w.gw.APIs()) != 1 || w.gw.APIs()[0].Handle != byHand.Handle {
			t.Errorf("left behind: %+v, %+v, %+v", w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs())
		}
	})
}

// A namespace that was deleted while no provider ran keeps what is at the gateway
// until somebody decides: its credentials are gone, and cannot be put back. To give
// up what is at the gateway is one way out; another configuration is another.
//
// contract: C4, S32
// case: E2, A18
func TestDeleteNamespaceWithoutProvider(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		given, moved := w.subscribed("given"), w.subscribed("moved")
		c := w.itsConfig()
		w.usable(c)
		w.stop()
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
		credentials := w.secret("gateway", nil)
		w.delete(ns)
		w.gone(credentials)
		w.wide = true
		w.start(w.ns)
		for _, s := range []*gatewayv1alpha1.Subscription{given, moved} {
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, fmt.Sprintf("Secret %q does not exist", w.ns+"/gateway"), "removing Delete from spec.managementPolicies")
		}
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "2 managed resources still refer")
		edit(w, given, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize}
		})
		w.gone(given)
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "contract-other-"}}
		w.create(other)
		elsewhere := *w
		elsewhere.ns = other.GetName()
		cluster := elsewhere.clusterConfig(w.ns, nil)
		w.create(elsewhere.secret("gateway", map[string]string{"password": password}), cluster)
		edit(w, moved, throughCluster(w.ns))
		w.gone(moved, c, ns)
		if at := w.only(); at.ID != externalName(given) {
			t.Errorf("want only what was given up, got %+v", at)
		}
		w.delete(cluster)
		w.gone(cluster)
	})
}

// What never got to a gateway goes without one.
//
// contract: S32
// case: E1, E4
func TestDeleteWhatNeverWas(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.SetUsers([]emulator.User{{Name: "somebody", Password: "else"}}, nil)
		a, p := w.api("books"), w.plan("gold", "Gold")
		w.create(a, p)
		s := w.asked("one")
		all := []resource.Managed{s, a, p}
		for _, o := range all {
			w.says(o, xpv2.TypeSynced, corev1.ConditionFalse, "the credentials were not accepted")
		}
		for _, o := range all {
			w.delete(o)
		}
		for _, o := range all {
			w.gone(o)
		}
		if n := len(w.gw.APIs()) + len(w.gw.Plans()) + len(w.gw.Subscriptions()); n != 0 {
			t.Errorf("%d at the gateway", n)
		}
	})
}

// A steppedClock is the real one, set forward by steps.
type steppedClock struct {
	ahead atomic.Int64
}

func (c *steppedClock) Now() time.Time                  { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *steppedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *steppedClock) step(d time.Duration)            { c.ahead.Add(int64(d)) }
