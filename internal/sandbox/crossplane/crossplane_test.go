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

package crossplane

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What starts a whole Crossplane is tested in test/crossplane.

func TestEnvironment(t *testing.T) {
	fromField := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "provider-1"}}
	d.Spec.Template.Labels = map[string]string{labelProvider: "provider"}
	d.Spec.Template.Spec.ServiceAccountName = "provider-sa"
	mounts := map[string]string{"/tls/server": "/here/server"}
	cases := map[string]struct {
		reason string
		env    []corev1.EnvVar
		want   []string
	}{
		"Value": {
			reason: "A value is taken as it is.",
			env:    []corev1.EnvVar{{Name: "A", Value: "b c"}},
			want:   []string{"A=b c"},
		},
		"Fields": {
			reason: "Fields are those of the pod.",
			env: []corev1.EnvVar{
				{Name: "NAMESPACE", ValueFrom: fromField("metadata.namespace")},
				{Name: "POD", ValueFrom: fromField("metadata.name")},
				{Name: "ACCOUNT", ValueFrom: fromField("spec.serviceAccountName")},
				{Name: "PROVIDER", ValueFrom: fromField("metadata.labels['pkg.crossplane.io/provider']")},
			},
			want: []string{"NAMESPACE=crossplane-system", "POD=provider-1", "ACCOUNT=provider-sa", "PROVIDER=provider"},
		},
		"Mounted": {
			reason: "A path in the pod is where it is on this machine, also through another variable.",
			env:    []corev1.EnvVar{{Name: "CERTS", Value: "/tls/server"}, {Name: "WEBHOOK_CERTS", Value: "$(CERTS)"}},
			want:   []string{"CERTS=/here/server", "WEBHOOK_CERTS=/here/server"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, environment(d, corev1.Container{Env: tc.env}, mounts)); diff != "" {
				t.Errorf("\n%s\nenvironment(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnpack(t *testing.T) {
	archive := func(headers ...tar.Header) io.Reader {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Size = int64(len(h.Name))
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(h.Name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	cases := map[string]struct {
		reason  string
		archive io.Reader
		want    map[string]os.FileMode
		err     bool
	}{
		"Files": {
			reason:  "Files are where they are in the image, and can be run if they can there.",
			archive: archive(tar.Header{Name: "/provider", Mode: 0o755}, tar.Header{Name: "etc/conf", Mode: 0o644}),
			want:    map[string]os.FileMode{"provider": 0o755, "etc/conf": 0o644},
		},
		"Outside": {
			reason:  "Nothing gets outside.",
			archive: archive(tar.Header{Name: "../outside", Mode: 0o644}),
			err:     true,
		},
		"NoArchive": {
			reason:  "What is no archive is an error.",
			archive: strings.NewReader(strings.Repeat("x", 1024)),
			err:     true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "image")
			if err := unpack(tc.archive, dir); (err != nil) != tc.err {
				t.Errorf("\n%s\nunpack(...): want an error: %t, got: %v", tc.reason, tc.err, err)
			}
			for name, mode := range tc.want {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil {
					t.Errorf("\n%s\n%v", tc.reason, err)
					continue
				}
				if info.Mode().Perm() != mode {
					t.Errorf("\n%s\n%s has mode %s, want %s", tc.reason, name, info.Mode().Perm(), mode)
				}
			}
		})
	}
}

// A service is reached by its name, through what stands for the cluster's network; what
// is no service is where it always is.
func TestServices(t *testing.T) {
	echo := func() string {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}
		}()
		return l.Addr().String()
	}
	served, elsewhere := echo(), echo()
	s, err := startServices(t.Context(), func(_ context.Context, host, port string) string {
		if host == "function.crossplane-system" && port == "9443" {
			return served
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	cases := map[string]struct {
		reason, method, to string
		want               int
	}{
		"Service":   {"A service is where it is served.", http.MethodConnect, "function.crossplane-system:9443", http.StatusOK},
		"Elsewhere": {"The rest of the world is where it is.", http.MethodConnect, elsewhere, http.StatusOK},
		"Nowhere":   {"What does not answer is said not to.", http.MethodConnect, "127.0.0.1:1", http.StatusBadGateway},
		"NoPort":    {"A name without a port leads nowhere.", http.MethodConnect, "function.crossplane-system", http.StatusBadRequest},
		"NoConnect": {"It is no proxy for anything else.", http.MethodGet, "function.crossplane-system:9443", http.StatusMethodNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // What was to be read has been read.
			target := tc.to
			if tc.method != http.MethodConnect {
				target = "http://" + tc.to + "/"
			}
			if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", tc.method, target, tc.to); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(c)
			rsp, err := http.ReadResponse(r, &http.Request{Method: tc.method})
			if err != nil {
				t.Fatal(err)
			}
			defer rsp.Body.Close()
			if rsp.StatusCode != tc.want {
				t.Errorf("\n%s\nwant status %d, got %s", tc.reason, tc.want, rsp.Status)
			}
			if rsp.StatusCode != http.StatusOK {
				return
			}
			if _, err := io.WriteString(c, "hello\n"); err != nil {
				t.Fatal(err)
			}
			if line, err := r.ReadString('\n'); err != nil || line != "hello\n" {
				t.Errorf("\n%s\nwant what was sent, got %q, %v", tc.reason, line, err)
			}
		})
	}
}
