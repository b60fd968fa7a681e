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
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// tokenLeeway is how long before its end a token is replaced, so that it does not
// end on the way.
const tokenLeeway = 20 * time.Second

// minTokenAge is how long a token is kept although the gateway refuses it.
const minTokenAge = 10 * time.Second

func checkTokenURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || (!strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https")):
		return errors.New("it must be a URL such as https://login.example.org/oauth2/token")
	case u.User != nil:
		return errors.New("it must not hold a user name or password")
	default:
		return nil
	}
}

// tokens obtains OAuth2 tokens and keeps the current one. An authorization server
// that is dead, or that refuses, is asked once per back-off.
type tokens struct {
	config  clientcredentials.Config
	client  *http.Client
	now     func() time.Time
	timeout time.Duration
	breaker *breaker

	// turn is held by the one caller that obtains a token; a channel, so that
	// waiting ends with the context.
	turn     chan struct{}
	token    *oauth2.Token
	obtained time.Time
	// lifetime is zero for a token that does not end.
	lifetime time.Duration
}

func newTokens(m material, transport http.RoundTripper, timeout time.Duration, now func() time.Time, random func() float64) *tokens {
	t := &tokens{
		config: clientcredentials.Config{
			ClientID: m.clientID, ClientSecret: m.secret.Reveal(), TokenURL: m.tokenURL,
			Scopes: strings.Fields(m.scopes),
		},
		client: &http.Client{
			Transport: transport,
			// A redirect could carry the client secret somewhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: now, timeout: timeout,
		breaker: &breaker{now: now, random: random},
		turn:    make(chan struct{}, 1),
	}
	t.turn <- struct{}{}
	return t
}

// Authorize adds the current token, after obtaining one if need be.
func (t *tokens) Authorize(r *http.Request) error {
	token, err := t.get(r.Context())
	if err != nil {
		return err
	}
	token.SetAuthHeader(r)
	return nil
}

func (t *tokens) get(ctx context.Context) (*oauth2.Token, error) {
	select {
	case <-t.turn:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, t.describe(ctx.Err())
	}
	defer func() { t.turn <- struct{}{} }()
	if t.token != nil && (t.lifetime == 0 || t.now().Add(tokenLeeway).Before(t.obtained.Add(t.lifetime))) {
		return t.token, nil
	}
	leave, wait, why := t.breaker.enter()
	if leave == nil {
		return nil, &gateway.Error{Reason: gateway.ReasonHeldOff, Message: why, RetryAfter: wait}
	}
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	switch {
	case err == nil && token.AccessToken != "":
		leave(alive, "")
		t.token, t.obtained, t.lifetime = token, t.now(), 0
		if !token.Expiry.IsZero() {
			// The library counts from the machine's own clock.
			t.lifetime = max(time.Until(token.Expiry), 1)
		}
		return token, nil
	case errors.Is(err, context.Canceled):
		leave(noVerdict, "")
		return nil, err
	}
	e := t.describe(err)
	leave(unreachable, e.Message)
	return nil, e
}

// describe leaves out what the server answered beyond its error code: the body
// might repeat the client secret.
func (t *tokens) describe(err error) *gateway.Error {
	e := &gateway.Error{Reason: gateway.ReasonUnauthorized, Cause: err}
	where := "no token from " + t.config.TokenURL + ": "
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		e.Message = where + "the authorization server answered " + strconv.Itoa(refused.Response.StatusCode)
		if isErrorCode(refused.ErrorCode) {
			e.Message += " (" + refused.ErrorCode + ")"
		}
		if refused.Response.StatusCode >= http.StatusInternalServerError {
			e.Reason = gateway.ReasonUnavailable
		}
	case err == nil || strings.HasPrefix(err.Error(), "oauth2:"):
		e.Message = where + "the authorization server's answer holds none"
	default:
		e.Reason = gateway.ReasonUnavailable
		e.Message = where + gateway.DescribeNetworkError(err, t.timeout)
	}
	// The body, which errors of this kind print, must not travel on.
	e.Cause = nil
	return e
}

// isErrorCode says whether a code is one of those of RFC 6749, and not any text.
func isErrorCode(code string) bool {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return true
	default:
		return false
	}
}

// forget drops the current token, since the gateway does not accept it. One that
// was refused while it was new is kept for a while: another would fare no better.
func (t *tokens) forget() {
	select {
	case <-t.turn:
		if t.now().Sub(t.obtained) >= minTokenAge {
			t.token = nil
		}
		t.turn <- struct{}{}
	default:
		// A new one is being obtained right now.
	}
}
