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

package chart

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

// stopGrace is how long the provider may take to end.
const stopGrace = 20 * time.Second

// A pod is the provider as the kubelet would run it: with the arguments, the environment
// and the ServiceAccount that its Deployment gives it, and nothing else.
type pod struct {
	t       *testing.T
	process *process.Process
}

// addresses are values that let several providers run on one machine.
func addresses(t *testing.T) string {
	t.Helper()
	var ports []any
	for range 2 {
		port, err := controlplane.FreePort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return fmt.Sprintf("provider.metricsBindAddress=:%d,provider.healthProbeBindAddress=:%d", ports...)
}

// deployed is the Deployment of the release.
func deployed(t *testing.T) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// start the pod of the release, and wait until its probes say that it is ready. It ends
// with the test at the latest.
func start(t *testing.T) *pod {
	t.Helper()
	d := deployed(t)
	c := d.Spec.Template.Spec.Containers[0]
	env := []string{"KUBECONFIG=" + kubeconfig(t, d.Spec.Template.Spec.ServiceAccountName)}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			t.Fatalf("environment variable %s is from somewhere that this test does not know", e.Name)
		}
		env = append(env, e.Name+"="+e.Value)
	}
	p := &pod{t: t}
	var err error
	if p.process, err = process.Start(t.Context(), process.Options{
		Name: "the provider", Path: shared.provider, Args: c.Args, Env: env, Dir: t.TempDir(),
		LogPath: filepath.Join(t.TempDir(), "provider.log"),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		eventually(t, "the provider answers at "+probe.HTTPGet.Path, func() error {
			if err := p.process.Err(); err != nil {
				t.Fatal(err)
			}
			_, err := get(t, c, probe.HTTPGet.Port, probe.HTTPGet.Path)
			return err
		})
	}
	return p
}

// get what a container serves at one of its ports.
func get(t *testing.T, c corev1.Container, port intstr.IntOrString, path string) (string, error) {
	t.Helper()
	i := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.String() })
	if i < 0 {
		t.Fatalf("the container has no port %s", port.String())
	}
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(c.Ports[i].ContainerPort))) + path
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	rsp, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close()
	body, err := io.ReadAll(rsp.Body)
	if err == nil && rsp.StatusCode != http.StatusOK {
		err = errors.Errorf("%s answers %s", url, rsp.Status)
	}
	return string(body), err
}

// kubeconfig of a ServiceAccount in the release's namespace, with a token such as the
// kubelet asks for.
func kubeconfig(t *testing.T, serviceAccount string) string {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: serviceAccount}}
	tr := &authenticationv1.TokenRequest{}
	if err := shared.kube.SubResource("token").Create(t.Context(), sa, tr); err != nil {
		t.Fatal(err)
	}
	admin := shared.plane.RESTConfig()
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["it"] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	cfg.AuthInfos["it"] = &clientcmdapi.AuthInfo{Token: tr.Status.Token}
	cfg.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	cfg.CurrentContext = "it"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// stop the provider, as the kubelet would.
func (p *pod) stop() {
	if p.t.Failed() {
		p.t.Logf("the provider's last lines:\n%s", p.process.Tail(15))
	}
	p.process.Stop(stopGrace)
}

// log of the provider.
func (p *pod) log() string {
	p.t.Helper()
	content, err := os.ReadFile(p.process.LogPath())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

// forbidden is an error if the log tells of anything that the provider may not do.
func (p *pod) forbidden() {
	p.t.Helper()
	if lines := regexp.MustCompile(`(?im)^.*forbidden.*$`).FindAllString(p.log(), -1); len(lines) > 0 {
		p.t.Errorf("the provider's log tells of what it may not do:\n%s", strings.Join(lines, "\n"))
	}
}

// A right is to do something with a resource, perhaps with a subresource of it.
type right struct{ Verb, Group, Resource string }

func (r right) String() string {
	return strings.TrimSpace(r.Verb + " " + strings.TrimSuffix(r.Resource+"."+r.Group, "."))
}

// A request is what the provider asked of the API server.
type request struct {
	right
	// Namespace is empty for what is cluster-scoped, and for all namespaces.
	Namespace string
	Name      string
	Code      int
}

// requests that the provider made so far, from the audit log. What it asked whether it
// may do is among them.
func requests(t *testing.T) []request {
	t.Helper()
	content, err := os.ReadFile(shared.audit)
	if err != nil {
		t.Fatal(err)
	}
	type attributes struct{ Verb, Group, Resource, Subresource, Namespace, Name string }
	var all []request
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e := struct {
			Verb           string
			User           struct{ Username string }
			ObjectRef      *struct{ APIGroup, Resource, Subresource, Namespace, Name string }
			ResponseStatus struct{ Code int }
			RequestObject  struct {
				Spec struct{ ResourceAttributes *attributes }
			}
		}{}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("cannot read the audit log: %v: %s", err, lines.Text())
		}
		if e.ObjectRef == nil || e.User.Username != "system:serviceaccount:"+namespace+":"+release {
			continue
		}
		a := attributes{e.Verb, e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Subresource, e.ObjectRef.Namespace, e.ObjectRef.Name}
		if asked := e.RequestObject.Spec.ResourceAttributes; asked != nil {
			a = *asked
		}
		all = append(all, request{right{a.Verb, a.Group, joined(a.Resource, a.Subresource)}, a.Namespace, a.Name, e.ResponseStatus.Code})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func joined(resource, subresource string) string {
	return strings.TrimSuffix(resource+"/"+subresource, "/")
}

// rights of rules.
func rights(rules []rbacv1.PolicyRule) []right {
	var all []right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, right{verb, group, resource})
				}
			}
		}
	}
	return all
}
