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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contract: C6
func TestParseEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
		err    string
	}{
		"DefaultPath":     {"Without a path the current base path is meant.", "http://gw:9090", "http://gw:9090/api/management/v1", ""},
		"OnlySlashes":     {"A path of slashes is none.", "http://gw:9090//", "http://gw:9090/api/management/v1", ""},
		"CustomPath":      {"A path is kept.", "https://gw/team/api/management/v0.9", "https://gw/team/api/management/v0.9", ""},
		"Slashes":         {"Trailing and double slashes mean nothing.", "https://gw//a//b/", "https://gw/a/b", ""},
		"UpperCase":       {"Host and scheme have no case.", "HTTPS://GW.Example.ORG/Path", "https://gw.example.org/Path", ""},
		"TrailingDot":     {"A rooted host name is the same host.", "https://gw.example.org.", "https://gw.example.org/api/management/v1", ""},
		"DefaultPort":     {"The scheme's own port means nothing.", "https://gw:443", "https://gw/api/management/v1", ""},
		"DefaultPortHTTP": {"The scheme's own port means nothing.", "http://gw:0080", "http://gw/api/management/v1", ""},
		"OtherPort":       {"The port of the other scheme is kept.", "http://gw:443", "http://gw:443/api/management/v1", ""},
		"IPv6":            {"IPv6 has many spellings.", "http://[2001:DB8:0::1]:9090", "http://[2001:db8::1]:9090/api/management/v1", ""},
		"IPv6Default":     {"IPv6 with the default port.", "https://[::1]:443/x", "https://[::1]/x", ""},
		"Spaces":          {"Space around it comes from copying.", " http://gw \n", "http://gw/api/management/v1", ""},
		"Userinfo":        {"Credentials do not belong into a URL.", "https://admin:s3cret@gw", "", "must not hold a user name"},
		"UserinfoBad":     {"Nor are they printed if nothing else is right.", "https://admin:s3cret@gw:x y", "", "not a valid URL"},
		"UserinfoOpaque":  {"Nor where the slashes were forgotten.", "https:admin:s3cret@gw", "", "must not hold a user name"},
		"Query":           {"A query has no meaning.", "https://gw/?s3cret=1", "", "query"},
		"EmptyQuery":      {"Not even an empty one.", "https://gw/?", "", "query"},
		"Fragment":        {"A fragment has no meaning.", "https://gw/#s3cret", "", "fragment"},
		"EmptyFragment":   {"Not even an empty one.", "https://gw/#", "", "fragment"},
		"Scheme":          {"Only HTTP is spoken.", "ftp://gw", "", "http:// or https://"},
		"NoScheme":        {"A scheme is needed.", "gw:9090", "", "http:// or https://"},
		"Empty":           {"Something is needed.", " ", "", "empty"},
		"NoHost":          {"A host is needed.", "https:///path", "", "name a host"},
		"BadPort":         {"A port is a number.", "https://gw:70000", "", "port"},
		"PortZero":        {"A port is positive.", "https://gw:0", "", "port"},
		"Zone":            {"A zone means another interface on each host.", "http://[fe80::1%25eth0]", "", "IPv6"},
		"DotSegments":     {"Dot segments would climb out of the path.", "https://gw/a/../b", "", "segments"},
		"EscapedPath":     {"An escaped slash reads differently at every hop.", "https://gw/a%2Fb", "", "escaped"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseEndpoint(tc.in)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("\n%s\nParseEndpoint(...): -want, +got:\n%s", tc.reason, diff)
			}
			switch {
			case tc.err == "" && err != nil:
				t.Errorf("\n%s\nParseEndpoint(...): %v", tc.reason, err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("\n%s\nParseEndpoint(...): want error with %q, got %v", tc.reason, tc.err, err)
			case err != nil && strings.Contains(err.Error(), "s3cret"):
				t.Errorf("\n%s\nParseEndpoint(...): error shows a password: %v", tc.reason, err)
			}
		})
	}
}

// contract: S5
// case: F10
func TestEndpointURL(t *testing.T) {
	e, err := ParseEndpoint("http://gw/base")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		id   string
		want string
	}{
		"Plain":           {"a-b_c.d", "http://gw/base/subscriptions/a-b_c.d"},
		"Hash":            {"id#x", "http://gw/base/subscriptions/id%23x"},
		"Question":        {"id?x", "http://gw/base/subscriptions/id%3Fx"},
		"Semicolon":       {"id;x", "http://gw/base/subscriptions/id%3Bx"},
		"Percent":         {"100%", "http://gw/base/subscriptions/100%25"},
		"Unicode":         {"ä b", "http://gw/base/subscriptions/%C3%A4%20b"},
		"Slash":           {"a/b", ""},
		"Backslash":       {`a\b`, ""},
		"Dot":             {".", ""},
		"DotDot":          {"..", ""},
		"EscapedSlash":    {"%2F", ""},
		"EscapedDots":     {"%2e%2E", ""},
		"TwiceEscaped":    {"a%252Fb", ""},
		"Empty":           {"", ""},
		"Blank":           {" \t", ""},
		"SurroundedSpace": {" a", ""},
		"Control":         {"a\x00b", ""},
		"NotUTF8":         {"a\xff", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if u, err := e.url("subscriptions", tc.id, true, nil); err == nil {
				got = u.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("url(%q): -want, +got:\n%s", tc.id, diff)
			}
		})
	}
}
