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

package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A log keeps what happened, in the order in which it was noted.
type log[T any] struct {
	mu  sync.Mutex
	all []T
}

func (l *log[T]) add(t T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, t)
}

// mark is the place in the log that it has come to.
func (l *log[T]) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// since is what was noted after a mark.
func (l *log[T]) since(mark int) []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all[mark:])
}

// A call is one request to the API server.
type call struct {
	Verb, Group, Resource, Subresource, Namespace, Name string

	// Whole is false where nothing but metadata was asked for.
	Whole bool
	// Initial is true for a watch that begins with all there is.
	Initial bool
	// Status that was answered.
	Status int
}

// callOf is the call that a request to the API server is.
func callOf(method string, u *url.URL, header http.Header) call {
	q := u.Query()
	c := call{Whole: !strings.Contains(header.Get("Accept"), "as=PartialObjectMetadata"), Initial: q.Get("sendInitialEvents") == "true"}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.Group, parts = parts[1], parts[3:]
	default:
		c.Verb, c.Resource = strings.ToLower(method), "/"+strings.Join(parts, "/")
		return c
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.Namespace, parts = parts[1], parts[2:]
	}
	c.Resource = parts[0]
	if len(parts) > 1 {
		c.Name = parts[1]
	}
	if len(parts) > 2 {
		c.Subresource = parts[2]
	}
	c.Verb = verbOf(method, c.Name, q)
	return c
}

func verbOf(method, name string, q url.Values) string {
	switch method {
	case http.MethodGet:
		switch {
		case q.Get("watch") == "true" || q.Get("watch") == "1":
			return "watch"
		case name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	}
	return strings.ToLower(method)
}

// what the call is about, for people.
func (c call) what() string {
	w := c.Resource
	if c.Subresource != "" {
		w += "/" + c.Subresource
	}
	return w
}

func (c call) isEvent() bool { return c.Resource == "events" }

func (c call) isConfig() bool { return c.Resource == "providerconfigs" }

// line is the call for people, without the name.
func (c call) line() string {
	what := c.what() + " " + c.Verb
	if c.Status >= http.StatusBadRequest {
		what += " (" + strconv.Itoa(c.Status) + ")"
	}
	return what
}

// writes tells whether the call changes the cluster. Events are counted apart, leases
// are not work, and reviews of what one may do are questions.
func (c call) writes() bool {
	switch {
	case c.isEvent(), c.Group == "authorization.k8s.io", c.Group == "authentication.k8s.io", c.Group == "coordination.k8s.io":
		return false
	}
	switch c.Verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}

// readsSecrets tells whether the call reads what is in Secrets, not only that they
// are there.
func (c call) readsSecrets() bool {
	if c.Group != "" || c.Resource != "secrets" || !c.Whole {
		return false
	}
	return c.Verb == "get" || c.Verb == "list" || c.Verb == "watch" && c.Initial
}

// A visit is one request to a gateway.
type visit struct {
	// At is when it arrived.
	At         time.Time
	Method, ID string
	Kind       string
	// Status that was answered; 0 if none was.
	Status int
}

// visitOf is the visit that a request to a gateway's management API is.
func visitOf(method, path string, at time.Time) visit {
	const base = "/api/management/v1"
	v := visit{At: at, Method: method}
	v.Kind, v.ID, _ = strings.Cut(strings.Trim(strings.TrimPrefix(path, base), "/"), "/")
	return v
}

func (v visit) isWrite() bool { return v.Method != http.MethodGet && v.Method != http.MethodHead }

// count how many there are of which this holds.
func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, t := range all {
		if is(t) {
			n++
		}
	}
	return n
}

// countBy counts them by what key says of each; the empty key is not counted.
func countBy[T any](all []T, key func(T) string) map[string]int {
	n := map[string]int{}
	for _, t := range all {
		if k := key(t); k != "" {
			n[k]++
		}
	}
	return n
}
