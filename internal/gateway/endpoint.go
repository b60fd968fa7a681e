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
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// DefaultBasePath is used when an endpoint names no path. Older gateways serve
// /api/management/v0.9 instead, which is then part of the endpoint.
const DefaultBasePath = "/api/management/v1"

// Endpoint is the normalised address of a gateway's management API. Two
// endpoints are the same gateway if, and only if, they are equal. The zero
// Endpoint is none.
type Endpoint struct {
	scheme string
	// host as in a URL: lower case, IPv6 in brackets, the port only where it
	// is not the default of the scheme.
	host string
	// path begins with a slash and does not end with one; empty means root.
	path string
}

// ParseEndpoint normalises a URL: scheme and host become lower case, a default
// port and superfluous slashes go, and an empty path becomes DefaultBasePath.
// It refuses userinfo, a query, a fragment and schemes other than http and
// https. Its errors never repeat the input, which might hold a password.
func ParseEndpoint(s string) (Endpoint, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Endpoint{}, errors.New("the endpoint is empty; it must look like https://gateway.example.org")
	}
	// What url.Parse returns as an error repeats the input, userinfo included.
	u, err := url.Parse(s)
	if err != nil {
		return Endpoint{}, errors.New("the endpoint is not a valid URL; it must look like https://gateway.example.org")
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return Endpoint{}, errors.New("the endpoint must begin with http:// or https://")
	}
	switch {
	case u.User != nil || strings.Contains(u.Opaque, "@"):
		return Endpoint{}, errors.New("the endpoint must not hold a user name or password; put them into spec.credentials")
	case u.Opaque != "":
		return Endpoint{}, errors.New("the endpoint must name a host after http:// or https://")
	case u.RawQuery != "" || u.ForceQuery:
		return Endpoint{}, errors.New("the endpoint must not hold a query (the part after a question mark)")
	case strings.Contains(s, "#"):
		return Endpoint{}, errors.New("the endpoint must not hold a fragment (the part after a number sign)")
	}
	host, err := normaliseHost(u, scheme)
	if err != nil {
		return Endpoint{}, err
	}
	p, err := normalisePath(u)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{scheme: scheme, host: host, path: p}, nil
}

func normaliseHost(u *url.URL, scheme string) (string, error) {
	name := strings.ToLower(u.Hostname())
	name = strings.TrimRight(name, ".")
	if name == "" {
		return "", errors.New("the endpoint must name a host after http:// or https://")
	}
	if strings.ContainsAny(name, "%@ \t/\\") && !strings.Contains(name, ":") {
		return "", errors.New("the endpoint's host holds characters that a host name cannot have")
	}
	if strings.Contains(name, ":") {
		addr, err := netip.ParseAddr(name)
		if err != nil || addr.Zone() != "" {
			return "", errors.New("the endpoint's host is not a valid IPv6 address")
		}
		name = "[" + addr.String() + "]"
	}
	port := u.Port()
	if port == "" {
		return name, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", errors.New("the endpoint's port must be a number from 1 to 65535")
	}
	if (scheme == "http" && n == 80) || (scheme == "https" && n == 443) {
		return name, nil
	}
	return name + ":" + strconv.FormatUint(n, 10), nil
}

func normalisePath(u *url.URL) (string, error) {
	if strings.Trim(u.Path, "/") == "" {
		return DefaultBasePath, nil
	}
	if u.RawPath != "" || strings.ContainsAny(u.Path, "\\%;") {
		return "", errors.New("the endpoint's path must not hold escaped characters, backslashes or semicolons")
	}
	for _, r := range u.Path {
		if r < ' ' || r == 0x7f {
			return "", errors.New("the endpoint's path must not hold control characters")
		}
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return "", errors.New("the endpoint's path must not hold . or .. segments")
		}
	}
	return (&url.URL{Path: path.Clean(u.Path)}).EscapedPath(), nil
}

// String returns the normalised URL, which identifies the gateway.
func (e Endpoint) String() string {
	if e.IsZero() {
		return ""
	}
	return e.scheme + "://" + e.host + e.path
}

// IsZero says whether the endpoint is none.
func (e Endpoint) IsZero() bool { return e == Endpoint{} }

// Host returns host and, where it is not the default, port.
func (e Endpoint) Host() string { return e.host }

// Secure says whether calls go over TLS.
func (e Endpoint) Secure() bool { return e.scheme == "https" }

// url returns the address of a collection, or of one object in it. It refuses an
// ID that some server or proxy on the way could take for another object's.
func (e Endpoint) url(collection, id string, item bool, query url.Values) (*url.URL, error) {
	raw := e.String() + "/" + collection
	if item {
		if err := checkPathID(id); err != nil {
			return nil, err
		}
		raw += "/" + url.PathEscape(id)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot build the request's URL: %w", err)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// checkPathID refuses what escaping does not make safe: proxies decode and clean
// paths, some of them more than once, before the gateway sees them.
func checkPathID(id string) error {
	for seen := 0; ; seen++ {
		switch {
		case strings.TrimSpace(id) == "":
			return errors.New("it is blank")
		case id == "." || id == "..":
			return errors.New("it is a path segment of its own meaning")
		case strings.ContainsAny(id, `/\`):
			return errors.New("it holds a slash or a backslash, escaped or not")
		case strings.TrimSpace(id) != id:
			return errors.New("it begins or ends with white space")
		case strings.ContainsFunc(id, isControl):
			return errors.New("it holds a control character or is not valid UTF-8")
		}
		decoded, err := url.PathUnescape(id)
		if err != nil || decoded == id {
			return nil //nolint:nilerr // Not decodable: nobody can decode it into something else.
		}
		if seen == 8 {
			return errors.New("it is escaped many times over")
		}
		id = decoded
	}
}

func isControl(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) || r == '\uFFFD' }

// hostOf returns the host of a URL for an error message, without credentials.
func hostOf(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
