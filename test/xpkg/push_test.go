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

package xpkg

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
	Platform    struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

type manifest struct {
	MediaType   string            `json:"mediaType"`
	Annotations map[string]string `json:"annotations"`

	// Manifests are those of an index, the others those of an image.
	Manifests []descriptor `json:"manifests"`
	Config    descriptor   `json:"config"`
	Layers    []descriptor `json:"layers"`
}

// TestPush pushes the packages to a registry, and reads from it what Crossplane and a
// kubelet read.
func TestPush(t *testing.T) {
	registry := startRegistry(t)
	push := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "xpkg.sh"), "push", built, registry+"/acme")
	push.Env = append(os.Environ(), "VERSION="+version)
	out, err := push.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	for name, p := range packages(t) {
		t.Run(name, func(t *testing.T) {
			repository := "http://" + registry + "/v2/acme/" + name
			raw, m := fetchManifest(t, repository, version)
			if said := registry + "/acme/" + name + ":" + version + "@" + digest(raw); !strings.Contains(string(out), said) {
				t.Errorf("xpkg.sh push does not say that it pushed %s:\n%s", said, out)
			}
			images := map[string]string{"amd64": version}
			if p.runs {
				if m.MediaType != ociIndex {
					t.Errorf("the tag is of a %s, want an index", m.MediaType)
				}
				images = map[string]string{}
				for _, d := range m.Manifests {
					if d.MediaType != ociManifest || d.Platform.OS != "linux" {
						t.Errorf("the index has a %s for %s", d.MediaType, d.Platform.OS)
					}
					images[d.Platform.Architecture] = d.Digest
				}
				if len(images) != 2 {
					t.Errorf("there are images for %v, want two", images)
				}
			}
			annotations := m.Annotations
			for file, arch := range p.files(name) {
				checkPushed(t, repository, images[arch], readImage(t, filepath.Join(built, file)), annotations)
			}
		})
	}
}

// checkPushed compares an image in a registry with that of a file.
func checkPushed(t *testing.T, repository, reference string, want *image, annotations map[string]string) {
	t.Helper()
	_, m := fetchManifest(t, repository, reference)
	if m.MediaType != ociManifest || m.Config.MediaType != ociConfig {
		t.Errorf("%s is a %s with a %s", reference, m.MediaType, m.Config.MediaType)
	}
	labels := map[string]string{}
	for k, v := range want.config.Config.Labels {
		if strings.HasPrefix(k, "org.opencontainers.image.") {
			labels[k] = v
		}
	}
	if diff := cmp.Diff(labels, m.Annotations); diff != "" {
		t.Errorf("annotations of %s (-labels, +got):\n%s", reference, diff)
	}
	if diff := cmp.Diff(labels, annotations); diff != "" {
		t.Errorf("annotations of the tag (-labels, +got):\n%s", diff)
	}
	got := config{}
	if err := json.Unmarshal(fetch(t, repository+"/blobs/"+m.Config.Digest, ""), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.config, got); diff != "" {
		t.Errorf("configuration of %s (-in the file, +in the registry):\n%s", reference, diff)
	}
	kinds := map[string]string{}
	for n, d := range m.Layers {
		if d.MediaType != ociLayer || n >= len(want.layers) || d.Digest != want.layers[n].digest {
			t.Errorf("layer %d is the %s %s", n, d.MediaType, d.Digest)
		}
		blob := fetch(t, repository+"/blobs/"+d.Digest, "")
		if digest(blob) != d.Digest {
			t.Errorf("the registry gives %s for %s", digest(blob), d.Digest)
		}
		if kind, ok := d.Annotations["io.crossplane.xpkg"]; ok {
			l, _, err := readLayer(blob)
			if err != nil {
				t.Fatal(err)
			}
			kinds[kind] = l.entries[len(l.entries)-1].header.Name
		}
	}
	wantKinds := map[string]string{"base": "package.yaml"}
	if _, err := want.labelled("upbound"); err == nil {
		wantKinds["upbound"] = ".up/examples.yaml"
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("annotated layers, and what is in them (-want, +got):\n%s", diff)
	}
}

func fetchManifest(t *testing.T, repository, reference string) ([]byte, manifest) {
	t.Helper()
	raw := fetch(t, repository+"/manifests/"+reference, ociIndex+", "+ociManifest)
	m := manifest{}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return raw, m
}

func fetch(t *testing.T, url, accept string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v: %s", url, resp.Status, err, content)
	}
	return content
}

// startRegistry starts a registry that keeps what it gets in memory, and returns its
// address.
func startRegistry(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	serve := exec.CommandContext(ctx, tool(t, "crane"), "registry", "serve", "--address", "127.0.0.1:0")
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ports, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		serving := regexp.MustCompile(`serving on port (\d+)`)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if m := serving.FindStringSubmatch(lines.Text()); m != nil {
				ports <- m[1]
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		// It was killed, and says so.
		_ = serve.Wait()
	})
	select {
	case port := <-ports:
		return "127.0.0.1:" + port
	case <-ended:
		t.Fatal("the registry ended before it served")
	}
	return ""
}
