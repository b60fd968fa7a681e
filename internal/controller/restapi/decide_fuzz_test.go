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

package restapi

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// FuzzOwnerFrom reads marks that anybody at the gateway may have written. A mark is
// ours only if it is ours byte for byte, and one that is garbled is foreign.
//
// contract: R2
func FuzzOwnerFrom(f *testing.F) {
	for _, s := range []string{"c/ns/n", "", "c/ns", "c/ns/n/x", "//", "c//n", " c/ns/n", "C/NS/N", "c/ns/n\x00", "c\uff0fns/n"} {
		f.Add(s, "c", "ns", "n")
	}
	f.Fuzz(func(t *testing.T, s, cluster, namespace, name string) {
		o, ok := ownerFrom(s)
		if ok != (o != owner{}) || ok && o.String() != s {
			t.Fatalf("ownerFrom(%q) = %q, %t", s, o, ok)
		}
		for _, part := range []string{cluster, namespace, name} {
			if part == "" || strings.Contains(part, "/") {
				return // No name of a cluster, namespace or object.
			}
		}
		me := owner{cluster: cluster, namespace: namespace, name: name}
		if back, ok := ownerFrom(me.String()); !ok || back != me {
			t.Fatalf("ownerFrom(%q) = %v, %t", me, back, ok)
		}
		a := &gateway.RestAPI{Metadata: gateway.Metadata{Annotations: map[string]string{v1alpha1.AnnotationOwner: s}}}
		want := foreign
		switch {
		case s == "":
			want = unmarked
		case ok && o == me:
			want = ours
		}
		if got := markOf(a, me); got != want {
			t.Fatalf("the mark %q is %s to %q, want %s", s, got, me, want)
		}
	})
}

// wire is a transport that hands every request to a gateway the way a server on a
// network reads it.
type wire struct{ http.Handler }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent bytes.Buffer
	if err := r.Write(&sent); err != nil {
		return nil, err
	}
	got, err := http.ReadRequest(bufio.NewReader(&sent))
	if err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, got.WithContext(r.Context()))
	return answer.Result(), nil
}

// FuzzHandle creates, reads and deletes an API under any handle. It is that API or
// none that is reached, and never the other one.
//
// contract: R1, S5
// case: F10
func FuzzHandle(f *testing.F) {
	for _, s := range []string{
		"books", "B.ooks_1", "ä", "a/b", "..", "%2F", "a b", "a}b", "a\u00a0b", "a\xffb", strings.Repeat("a", 256), "", "a?b#c", "other", "./other", "other%00", "Other", "%6fther", "x%252F..%252Fother",
	} {
		f.Add(s)
	}
	endpoint, err := gateway.ParseEndpoint("http://gw")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		if said := badHandle(handle); said != "" {
			if len(said) > 512 {
				t.Fatalf("the complaint about %q is long: %q", handle, said)
			}
			return
		}
		gw := emulator.New(emulator.Options{})
		other, _ := gw.AddAPI("other")
		c := gateway.New(gateway.Options{Endpoint: endpoint, Transport: wire{gw}})
		if handle == other.Handle {
			return
		}
		_, err := c.CreateRestAPI(t.Context(), gateway.RestAPIWrite{Name: handle, Spec: gateway.RestAPISpec{
			DisplayName: "d", Version: "v1", Context: "/d", Upstream: gateway.Upstreams{Main: gateway.Upstream{URL: "http://b"}},
			Operations: []gateway.Operation{{Method: "GET", Path: "/"}},
		}})
		_, created := gw.API(handle)
		if created != (err == nil) {
			t.Fatalf("created %q: %t, error %v", handle, created, err)
		}
		if got, err := c.GetRestAPI(t.Context(), handle); created != (err == nil) || created && got.Metadata.Name != handle {
			t.Fatalf("read %q: %v, error %v", handle, got, err)
		}
		if err := c.DeleteRestAPI(t.Context(), handle); created != (err == nil) {
			t.Fatalf("deleted %q: error %v", handle, err)
		}
		if left := gw.APIs(); len(left) != 1 || left[0].Handle != other.Handle {
			t.Fatalf("%q led to another API: %v is left", handle, left)
		}
	})
}
