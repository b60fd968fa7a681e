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

package gateway

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// contract: C6
func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{
		"http://gw:9090", "HTTPS://[::1]:443//a/", "https://u:p@h/?q#f", "http://a/b%2f", "http:/x", "http://é/ü", "http://[fe80::1%25eth0]/", "http://h.:080/a//b/",
		"http://%c3%a9", "http://a;b/c", "http://h/ /x", "http://h:/", "http://1.2.3.4:65535/~x/!$&'()*+,;=:@",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEndpoint(s)
		if err != nil {
			if !e.IsZero() {
				t.Fatalf("%q is refused, and is %q", s, e)
			}
			return
		}
		u, err := url.Parse(e.String())
		if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Host != e.Host() || strings.HasSuffix(u.Path, "/") {
			t.Fatalf("normal form %q of %q holds more than scheme, host and path: %v", e, s, err)
		}
		for what, again := range map[string]string{
			"itself": e.String(), "slash": e.String() + "/", "slashes": e.String() + "//", "space": "\n " + s + "\t",
			"upper case": strings.ToUpper(e.scheme) + "://" + asciiUpper(e.host) + e.path,
		} {
			if got, err := ParseEndpoint(again); err != nil || got != e {
				t.Fatalf("normal form %q of %q is not stable under %s: %q, %v", e, s, what, got, err)
			}
		}
	})
}

func asciiUpper(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

// FuzzEndpointCredentials puts a password everywhere into a URL where one could
// be. It is never accepted as user information, query or fragment, and never shown
// by the error.
//
// contract: C6, A2
// case: A15
func FuzzEndpointCredentials(f *testing.F) {
	f.Add("https://", "admin", "gw:9090/base")
	f.Add("HTTP:", "admin", "gw")
	f.Add("https://", "", "[::1")
	f.Add("", "a:b", "x y")
	f.Add("https://", "u%zz", "gw")
	f.Add(" https://", "u@v", "gw:70000/a/../b")
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		const password = "Zq~s3cret"
		for where, s := range map[string]string{
			"user":     scheme + user + ":" + password + "@" + rest,
			"userName": scheme + password + "@" + rest,
			"query":    scheme + rest + "?" + user + "=" + password,
			"fragment": scheme + rest + "#" + password,
		} {
			e, err := ParseEndpoint(s)
			if err != nil {
				if strings.Contains(err.Error(), password) {
					t.Fatalf("%s: the error about %q shows the password: %v", where, s, err)
				}
				continue
			}
			// It may be part of a path, which is no place for a secret: it is then
			// what the user named.
			if u, err := url.Parse(e.String()); err != nil || strings.Contains(u.Host, password) || strings.Contains(u.Host, "@") {
				t.Fatalf("%s: %q is accepted as %q", where, s, e)
			}
			if where == "query" || where == "fragment" {
				t.Fatalf("%s: %q is accepted as %q", where, s, e)
			}
		}
	})
}

// FuzzPathID sends any ID through a request as a server reads it: it arrives as
// itself, in the place of the ID, or is not sent.
//
// contract: S5
// case: F10
func FuzzPathID(f *testing.F) {
	for _, s := range []string{"a", "a/b", "..", "%2F", "id#x", "id?x", " ", "%25%32%46", "a;b", "a+b", "%", "\u2028", "A\u0308", "a%00b", "*", "{id}", "a:b@c"} {
		f.Add("http://gw/base", s)
		f.Add("https://[::1]:9090", s)
	}
	f.Fuzz(func(t *testing.T, endpoint, id string) {
		e, err := ParseEndpoint(endpoint)
		if err != nil {
			return
		}
		u, err := e.url("subscriptions", id, true, nil)
		if err != nil {
			return
		}
		base, err := url.Parse(e.String())
		if err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(u.EscapedPath(), base.EscapedPath()+"/subscriptions/")
		if !ok || rest == "" || strings.Contains(rest, "/") || u.Host != base.Host || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("ID %q leads to %s", id, u)
		}
		// A proxy may decode the path before it looks for dots and slashes.
		for once := rest; ; {
			if once == "." || once == ".." || strings.ContainsAny(once, "/\\\x00\r\n") {
				t.Fatalf("ID %q is sent as %q, which some proxy reads as %q", id, rest, once)
			}
			next, err := url.PathUnescape(once)
			if err != nil || next == once {
				break
			}
			once = next
		}
		if got := arrives(t, u); got != id {
			t.Fatalf("ID %q is sent as %s and arrives as %q", id, u, got)
		}
	})
}

// arrives returns the ID that a server reads from the last segment of a URL.
func arrives(t *testing.T, u *url.URL) string {
	t.Helper()
	out, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		t.Fatalf("%s cannot be asked for: %v", u, err)
	}
	var wire bytes.Buffer
	if err := out.Write(&wire); err != nil {
		t.Fatalf("%s cannot be sent: %v", u, err)
	}
	in, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatalf("%s cannot be read: %v", u, err)
	}
	// The base path is a matter of its own: it is as escaped as the endpoint is.
	at := in.RequestURI[strings.LastIndex(in.RequestURI, "/subscriptions/"):]
	if in.URL, err = url.ParseRequestURI(at); err != nil {
		t.Fatalf("%s cannot be parsed: %v", at, err)
	}
	got := ""
	mux := http.NewServeMux()
	mux.HandleFunc("GET /subscriptions/{id}", func(_ http.ResponseWriter, r *http.Request) { got = r.PathValue("id") })
	mux.ServeHTTP(httptest.NewRecorder(), in)
	return got
}
