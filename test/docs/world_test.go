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

package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

const (
	group       = "gateway.apiplatform.crossplane.io"
	configGroup = "apiplatform.crossplane.io"
	version     = "v1alpha1"

	// settles is how long the provider may take for what it does at once.
	settles = 30 * time.Second
)

// held are the kinds of what is at a gateway, in an order in which they can be deleted;
// configs those of how one is reached.
var (
	held    = []string{"Subscription", "RestApi", "SubscriptionPlan"}
	configs = []string{"ClusterProviderConfig", "ProviderConfig"}
)

// A world is a sandbox as a reader has it, and what some pages need beside it.
type world struct {
	box     *sandbox.Sandbox
	kube    client.Client
	kubectl string
	// second is another cluster on the same gateway, while a page has one.
	second *world
}

// shared is the world that the tests share, started by the first that needs it.
var shared struct {
	once sync.Once
	w    *world
	err  error

	folder string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	folder, err := os.MkdirTemp("", "docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder) //nolint:errcheck // A temporary folder.
	shared.folder = folder
	code := m.Run()
	if shared.w != nil {
		shared.w.box.Stop()
	}
	return code
}

// provider is the path of the provider's binary, which is built once.
var provider = sync.OnceValues(func() (string, error) {
	dir, err := controlplane.FindRoot()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(shared.folder, "provider")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "./cmd/provider")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.Wrapf(err, "cannot build the provider: %s", out)
	}
	return binary, nil
})

// theWorld of all tests.
func theWorld(t *testing.T) *world {
	t.Helper()
	shared.once.Do(func() {
		shared.w, shared.err = newWorld(context.Background(), filepath.Join(shared.folder, "logs"), sandbox.Options{Generation: emulator.InPlace})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.w
}

// newWorld with a sandbox of its own.
func newWorld(ctx context.Context, logs string, o sandbox.Options) (*world, error) {
	for _, tool := range []string{"curl", "jq", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, errors.Wrap(err, "the pages' commands need it; install it")
		}
	}
	kubectl, err := controlplane.FindBinary(ctx, "kubectl")
	if err != nil {
		return nil, err
	}
	if o.Provider, err = provider(); err != nil {
		return nil, err
	}
	o.LogDir = logs
	box, err := sandbox.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	cfg := box.ControlPlane.RESTConfig()
	cfg.WarningHandler = rest.NoWarnings{}
	kube, err := client.New(cfg, client.Options{})
	if err != nil {
		box.Stop()
		return nil, err
	}
	return &world{box: box, kube: kube, kubectl: kubectl}, nil
}

// list objects of a kind, in all namespaces.
func (w *world) list(ctx context.Context, gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := w.kube.List(ctx, l)
	return l.Items, err
}

func ours(kinds []string, group string) []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, schema.GroupVersionKind{Group: group, Version: version, Kind: k})
	}
	return out
}

// eventually something is so.
func eventually(ctx context.Context, what string, so func() error) error {
	ctx, cancel := context.WithTimeout(ctx, settles)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := so()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Errorf("%s: not within %s: %v", what, settles, err)
		case <-ticker.C:
		}
	}
}

// gone deletes all objects of some kinds, and waits until they are.
func (w *world) gone(ctx context.Context, kinds []schema.GroupVersionKind) error {
	return eventually(ctx, "delete what a page left", func() error {
		left := ""
		for _, gvk := range kinds {
			items, err := w.list(ctx, gvk)
			if err != nil {
				return err
			}
			for i := range items {
				left += fmt.Sprintf(" %s %s", gvk.Kind, items[i].GetName())
				if items[i].GetDeletionTimestamp() != nil {
					continue
				}
				if err := w.kube.Delete(ctx, &items[i]); client.IgnoreNotFound(err) != nil {
					return err
				}
			}
		}
		if left != "" {
			return errors.Errorf("there are still%s", left)
		}
		return nil
	})
}

// clean away what a page left, so that the next one finds what make sandbox starts.
func (w *world) clean(ctx context.Context) error {
	if w.second != nil {
		// It would create again what is deleted here.
		w.second.box.Stop()
		w.second = nil
	}
	admission := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	core := schema.GroupVersion{Version: "v1"}
	if err := w.gone(ctx, []schema.GroupVersionKind{admission.WithKind("ValidatingAdmissionPolicyBinding"), admission.WithKind("ValidatingAdmissionPolicy")}); err != nil {
		return err
	}
	if err := w.gone(ctx, ours(held, group)); err != nil {
		return err
	}
	if err := w.gone(ctx, ours(configs, configGroup)); err != nil {
		return err
	}
	for _, kind := range []string{"Secret", "ConfigMap", "Event"} {
		items, err := w.list(ctx, core.WithKind(kind))
		if err != nil {
			return err
		}
		for i := range items {
			if ns := items[i].GetNamespace(); ns != "default" && ns != sandbox.Namespace || items[i].GetName() == "kube-root-ca.crt" {
				continue
			}
			if err := w.kube.Delete(ctx, &items[i]); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	if w.box.Emulator != nil {
		w.box.Emulator.Clear()
	}
	return nil
}

// quickstart applies examples/quickstart as make sandbox does, and waits until all of it
// is Ready.
func (w *world) quickstart(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(w.box.Root, "examples", "quickstart", "*.yaml"))
	if err != nil {
		return err
	}
	var applied []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		objects, err := manifest.Parse(content)
		if err != nil {
			return errors.Wrap(err, file)
		}
		for _, o := range objects {
			if o.GetKind() == "ClusterProviderConfig" {
				if err := unstructured.SetNestedField(o.Object, w.box.Gateway.URL, "spec", "endpoint"); err != nil {
					return err
				}
			}
			if err := w.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("sandbox"), client.ForceOwnership); err != nil {
				return errors.Wrapf(err, "cannot apply %s %s", o.GetKind(), o.GetName())
			}
			applied = append(applied, o)
		}
	}
	for _, o := range applied {
		if o.GetKind() == "Secret" {
			continue
		}
		if err := eventually(ctx, "apply the quickstart", func() error { return w.ready(ctx, o) }); err != nil {
			return err
		}
	}
	return nil
}

// ready tells why an object is not Ready.
func (w *world) ready(ctx context.Context, o *unstructured.Unstructured) error {
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(o.GroupVersionKind())
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(o), got); err != nil {
		return err
	}
	all, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			return nil
		}
	}
	return errors.Errorf("%s %s is not Ready: %v", o.GetKind(), o.GetName(), all)
}

// The environment of a reader's shell: that which make sandbox prints, and what a page
// says that it needs.
func (w *world) environment(t *testing.T, with []string) map[string]string {
	t.Helper()
	env := map[string]string{"KUBECONFIG": w.box.ControlPlane.Kubeconfig(), "GATEWAY": w.box.Emulator.Endpoint()}
	for _, what := range with {
		switch what {
		case "legacy gateway":
			// The sandbox itself is another one.
		case "second gateway":
			env["SECOND_GATEWAY"] = another(t, emulator.Options{
				Generation: emulator.InPlace, GatewayID: "second",
				Users: []emulator.User{{Name: "admin", Password: "admin", Roles: []emulator.Role{emulator.RoleAdmin}}},
			}).Endpoint()
		case "TLS gateway":
			g, err := emulator.StartTLS(t.Context(), emulator.Options{
				Generation: emulator.InPlace, GatewayID: "tls",
				Users: []emulator.User{{Name: "admin", Password: "admin", Roles: []emulator.Role{emulator.RoleAdmin}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(g.Close)
			env["TLS_GATEWAY"], env["CA"] = g.URL(), filepath.Join(t.TempDir(), "ca.crt")
			if err := os.WriteFile(env["CA"], g.CA(), 0o600); err != nil {
				t.Fatal(err)
			}
		case "OAuth2 gateway":
			env["OAUTH2_GATEWAY"] = another(t, emulator.Options{
				Generation: emulator.InPlace, GatewayID: "oauth2",
				BearerTokens: map[string][]emulator.Role{"an-access-token": {emulator.RoleAdmin}},
			}).URL()
			env["TOKEN_URL"] = authorizationServer(t)
		case "second cluster":
			env["KUBECONFIG"] = w.secondCluster(t)
		default:
			t.Fatalf("there is no %q", what)
		}
	}
	return env
}

// another gateway.
func another(t *testing.T, o emulator.Options) *emulator.Server {
	t.Helper()
	g, err := emulator.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// authorizationServer that gives an access token to the client of
// examples/providerconfig/oauth2.yaml.
func authorizationServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		id, secret, basic := r.BasicAuth()
		if !basic {
			id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
		}
		answer := map[string]any{"access_token": "an-access-token", "token_type": "Bearer", "expires_in": 3600}
		if id != "crossplane" || secret != "client-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			answer = map[string]any{"error": "invalid_client"}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/oauth2/token"
}

// secondCluster starts another one, whose provider has the name of the first one, and
// returns the path of a kubeconfig with the contexts old and new.
func (w *world) secondCluster(t *testing.T) string {
	t.Helper()
	system := &corev1.Namespace{}
	if err := w.kube.Get(t.Context(), client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
		t.Fatal(err)
	}
	second, err := newWorld(t.Context(), t.TempDir(), sandbox.Options{
		Gateway: w.box.Gateway, ProviderArgs: []string{"--cluster-id=" + string(system.GetUID())},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.box.Stop)
	w.second = second
	both := clientcmdapi.NewConfig()
	for name, box := range map[string]*sandbox.Sandbox{"old": w.box, "new": second.box} {
		c, err := clientcmd.LoadFromFile(box.ControlPlane.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		current := c.Contexts[c.CurrentContext]
		both.Clusters[name], both.AuthInfos[name] = c.Clusters[current.Cluster], c.AuthInfos[current.AuthInfo]
		both.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	both.CurrentContext = "old"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*both, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// clone is a folder that looks like a clone of the repository, and in which commands can
// write.
func clone(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
