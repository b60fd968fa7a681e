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

package emulator

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const (
	schemeBasic  = "Basic "
	schemeBearer = "Bearer "
)

// access decides who may do what. It can be changed while the gateway runs, as
// credentials are rotated and gateways become read-only in real life.
type access struct {
	mu        sync.RWMutex
	users     []User
	bearer    map[string][]Role
	immutable bool
}

func newAccess(o Options) *access {
	a := &access{immutable: o.Immutable}
	a.set(o.Users, o.BearerTokens)
	return a
}

func (a *access) set(users []User, bearer map[string][]Role) {
	a.users = slices.Clone(users)
	a.bearer = map[string][]Role{}
	for t, r := range bearer {
		a.bearer[t] = slices.Clone(r)
	}
}

// SetUsers replaces the users and bearer tokens of the gateway.
func (g *Gateway) SetUsers(users []User, bearerTokens map[string][]Role) {
	g.access.mu.Lock()
	defer g.access.mu.Unlock()
	g.access.set(users, bearerTokens)
}

// SetImmutable makes the gateway read-only, or writable again.
func (g *Gateway) SetImmutable(immutable bool) {
	g.access.mu.Lock()
	defer g.access.mu.Unlock()
	g.access.immutable = immutable
}

// refusal is a refusal by the layers before a handler.
type refusal struct {
	status  int
	code    string
	message string
}

// refuse says why the request is refused, if it is.
func (a *access) refuse(r *http.Request, allowed []Role) *refusal {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.immutable && (r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodDelete) {
		return &refusal{
			status:  http.StatusMethodNotAllowed,
			message: "Gateway is in immutable mode. Mutating operations are not allowed.",
		}
	}
	if len(a.users) == 0 && len(a.bearer) == 0 {
		return nil
	}
	header := r.Header.Get("Authorization")
	var roles []Role
	var known bool
	switch {
	case len(a.users) > 0 && strings.HasPrefix(header, schemeBasic):
		roles, known = a.basic(strings.TrimPrefix(header, schemeBasic))
	case len(a.bearer) > 0 && strings.HasPrefix(header, schemeBearer):
		roles, known = a.bearer[strings.TrimPrefix(header, schemeBearer)]
	default:
		return &refusal{http.StatusUnauthorized, "skip_authz", "no valid authentication credentials provided"}
	}
	if !known {
		return &refusal{http.StatusUnauthorized, "authentication_failed", "authentication failed"}
	}
	for _, role := range roles {
		if slices.Contains(allowed, role) {
			return nil
		}
	}
	return &refusal{http.StatusForbidden, "forbidden", "forbidden"}
}

func (a *access) basic(encoded string) ([]Role, bool) {
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, false
	}
	name, password, ok := strings.Cut(string(decoded), ":")
	if !ok {
		return nil, false
	}
	for _, u := range a.users {
		if strings.EqualFold(u.Name, name) {
			return u.Roles, subtle.ConstantTimeCompare([]byte(u.Password), []byte(password)) == 1
		}
	}
	return nil, false
}
