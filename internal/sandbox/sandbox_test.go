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

package sandbox

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/tools/clientcmd"
)

// standIn has this binary run as the provider: "well" or "broken".
const standIn = "TEST_SANDBOX_PROVIDER"

func TestMain(m *testing.M) {
	if how := os.Getenv(standIn); how != "" {
		fmt.Println(provide(how))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// provide what a sandbox expects of a provider: a kubeconfig that works, and an
// answer to probes.
func provide(how string) error {
	if how == "broken" {
		return errors.New("nothing works")
	}
	if _, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")); err != nil {
		return err
	}
	for _, arg := range os.Args {
		if address, ok := strings.CutPrefix(arg, "--health-probe-bind-address="); ok {
			return (&http.Server{Addr: address, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}).ListenAndServe()
		}
	}
	return errors.New("no address for probes")
}

func TestSandbox(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(standIn, "well")
	var log bytes.Buffer
	s, err := Start(t.Context(), Options{Provider: os.Args[0], LogDir: t.TempDir(), Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	t.Log(log.String())
	for _, want := range []string{"control plane ready", "gateway (emulated) ready", "provider ready"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("Log: want it to say %q", want)
		}
	}
	if err := s.Failed(); err != nil {
		t.Errorf("Failed(): %v", err)
	}
	if memory, err := s.ProviderMemory(t.Context()); err != nil || memory < 1<<20 {
		t.Errorf("ProviderMemory(): want some megabytes, got %d, %v", memory, err)
	}

	s.provider.Stop(0)
	if err := s.Failed(); err == nil || !strings.Contains(err.Error(), "the provider ended") {
		t.Errorf("Failed(): want to be told that the provider ended, got: %v", err)
	}
	s.Stop()
	s.Stop()
	nothingLeft(t)
}

func TestStartFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(standIn, "broken")
	_, err := Start(t.Context(), Options{Provider: os.Args[0], LogDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "nothing works") {
		t.Errorf("Start(): want the provider's last words, got: %v", err)
	}
	nothingLeft(t)
}

func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("this was left in the folder for temporary files: %v", left)
	}
}
