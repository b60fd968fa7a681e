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

// Package crossplane runs Crossplane's core on a control plane of this machine, and is
// to it what a cluster would be: a registry that packages are pulled from, a kubelet
// that runs what packages deploy, out of their images and under exactly the rights that
// Crossplane grants them, and the names under which functions are reached. It needs no
// container runtime, no privileges and no names in /etc/hosts.
package crossplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

const (
	// Namespace that Crossplane is installed in, and that packages run in.
	Namespace = "crossplane-system"

	// ProviderRuntimeConfig is the DeploymentRuntimeConfig that the provider of this project
	// is run with.
	ProviderRuntimeConfig = "sandbox-provider"

	// Organisation that the packages of this project belong to, at any registry.
	Organisation = "crossplane-contrib"

	// publicRegistry is where users find packages.
	publicRegistry = "xpkg.crossplane.io"

	// startTimeout bounds how long core may take to be ready. It takes seconds; a busy
	// machine must not make it fail.
	startTimeout = 2 * time.Minute
	// pollInterval is how often readiness is asked for, and how often the kubelet looks
	// what it is to run.
	pollInterval = 100 * time.Millisecond
	// stopGrace is how long what was started may take to end.
	stopGrace = 10 * time.Second
	// tokenLife is longer than anything runs here.
	tokenLife = 24 * 60 * 60

	// fieldManager of what Crossplane's chart has.
	fieldManager = "sandbox"
)

// Names of the tools, see hack/tools.
const (
	toolCore  = "crossplane-core"
	toolCrane = "crane"
	toolXpkg  = "xpkg"
	toolHelm  = "helm"
)

// Names of what Crossplane's chart installs.
const (
	serviceAccountCore = "crossplane"
	serviceAccountRBAC = "rbac-manager"
	webhookService     = "crossplane-webhooks"
	secretRootCA       = "crossplane-root-ca"
	secretTLSServer    = "crossplane-tls-server"
	secretTLSClient    = "crossplane-tls-client"
)

// CRDs returns the folder with the custom resource definitions of Crossplane's core,
// for the options of a control plane: its garbage collector knows them from the start.
func CRDs(ctx context.Context) (string, error) {
	core, err := controlplane.FindBinary(ctx, toolCore)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(core), "cluster", "crds"), nil
}

// Options say where core runs.
type Options struct {
	// ControlPlane that core is installed on, with the CRDs of core.
	ControlPlane *controlplane.ControlPlane
	// Dir holds certificates, caches, images and logs. It is created if absent, and kept.
	Dir string
	// LogDir is where the output of core and of packages goes. Default: logs, in Dir.
	LogDir string
	// ProviderArgs are the arguments of the provider of this project. It is told of them
	// as a user tells it, by a DeploymentRuntimeConfig. Default: none.
	ProviderArgs []string
	// Log is told in short lines what happens. Default: nobody.
	Log io.Writer
}

// A Crossplane is a running core, and what packages run in.
type Crossplane struct {
	plane *controlplane.ControlPlane
	dir   string
	logs  string
	log   io.Writer
	core  string
	crane string
	xpkg  string

	kube     client.Client
	clients  kubernetes.Interface
	registry *registry
	services *services
	kubelet  *kubelet
	running  []*process.Process
	once     sync.Once
}

// Start core, and wait until it is ready. The context bounds starting; end it with
// Stop. On failure nothing is left running, and the error has the last lines of the
// process that failed.
func Start(ctx context.Context, o Options) (*Crossplane, error) {
	c := &Crossplane{plane: o.ControlPlane, dir: o.Dir, logs: o.LogDir, log: o.Log}
	if c.log == nil {
		c.log = io.Discard
	}
	if c.logs == "" {
		c.logs = c.path("logs")
	}
	// Finding may build, which takes as long as it takes.
	helm := ""
	for name, path := range map[string]*string{toolCore: &c.core, toolCrane: &c.crane, toolXpkg: &c.xpkg, toolHelm: &helm} {
		found, err := controlplane.FindBinary(ctx, name)
		if err != nil {
			return nil, err
		}
		*path = found
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.start(ctx, helm, o.ProviderArgs); err != nil {
		c.Stop()
		return nil, errors.Wrap(err, "cannot start Crossplane")
	}
	return c, nil
}

func (c *Crossplane) start(ctx context.Context, helm string, args []string) error {
	started := time.Now()
	for _, dir := range []string{c.logs, c.path("packages")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return errors.Wrap(err, "cannot create a folder")
		}
	}
	var err error
	if c.kube, err = client.New(c.plane.RESTConfig(), client.Options{}); err != nil {
		return errors.Wrap(err, "cannot build a client for the control plane")
	}
	if c.clients, err = kubernetes.NewForConfig(c.plane.RESTConfig()); err != nil {
		return errors.Wrap(err, "cannot build a client for the control plane")
	}
	if c.registry, err = c.startRegistry(ctx); err != nil {
		return err
	}
	webhooks, err := controlplane.FreePort(ctx)
	if err != nil {
		return err
	}
	if err := c.installChart(ctx, helm, webhooks); err != nil {
		return err
	}
	if err := c.initialize(ctx, webhooks); err != nil {
		return err
	}
	c.kubelet = &kubelet{c: c}
	if c.services, err = startServices(ctx, c.kubelet.resolve); err != nil {
		return err
	}
	if err := c.configure(ctx, args); err != nil {
		return err
	}
	if err := c.startCore(ctx, webhooks); err != nil {
		return err
	}
	c.kubelet.start(ctx)
	_, _ = fmt.Fprintf(c.log, "Crossplane ready after %.1f s, packages are pulled from %s\n", time.Since(started).Seconds(), c.registry.address)
	return nil
}

func (c *Crossplane) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

// installChart applies what Crossplane's chart installs beside its Deployments: service
// accounts, exactly their rights, and empty Secrets for certificates. The Service of its
// webhooks leads to this machine.
func (c *Crossplane) installChart(ctx context.Context, helm string, webhooks int) error {
	rendered, err := c.run(ctx, helm, "template", "crossplane", filepath.Join(filepath.Dir(c.core), "cluster", "charts", "crossplane"), "--namespace="+Namespace)
	if err != nil {
		return errors.Wrap(err, "cannot render Crossplane's chart")
	}
	objects := []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": Namespace}}},
		// An API server without a network of pods reaches it by a name that is not of
		// the cluster; its certificate is for the Service.
		{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"namespace": Namespace, "name": webhookService}, "spec": map[string]any{
			"type": "ExternalName", "externalName": "localhost", "ports": []any{map[string]any{"port": int64(webhooks)}},
		}}},
	}
	chart, err := manifest.Parse(rendered)
	if err != nil {
		return errors.Wrap(err, "cannot read Crossplane's chart")
	}
	for _, u := range chart {
		switch u.GetKind() {
		case "", "Deployment", "Service":
		default:
			objects = append(objects, u)
		}
	}
	return c.apply(ctx, objects...)
}

func (c *Crossplane) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := c.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return errors.Wrapf(err, "cannot apply %s %s", o.GetKind(), o.GetName())
		}
	}
	return nil
}

// configure core to pull from the registry of this machine what users find in that of
// Crossplane, so that what they apply, and what packages depend on, is the same here.
func (c *Crossplane) configure(ctx context.Context, providerArgs []string) error {
	image := func(name, prefix string, spec map[string]any) *unstructured.Unstructured {
		spec["matchImages"] = []any{map[string]any{"prefix": prefix}}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "ImageConfig", "metadata": map[string]any{"name": name}, "spec": spec,
		}}
	}
	args := make([]any, 0, len(providerArgs))
	for _, arg := range providerArgs {
		args = append(args, arg)
	}
	return c.apply(ctx,
		image("sandbox-registry", publicRegistry, map[string]any{"rewriteImage": map[string]any{"prefix": c.registry.address}}),
		image(ProviderRuntimeConfig, c.registry.address+"/"+Organisation+"/provider-apiplatform", map[string]any{"runtime": map[string]any{"configRef": map[string]any{"name": ProviderRuntimeConfig}}}),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "DeploymentRuntimeConfig", "metadata": map[string]any{"name": ProviderRuntimeConfig},
			"spec": map[string]any{"deploymentTemplate": map[string]any{"spec": map[string]any{
				"selector": map[string]any{},
				"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "package-runtime", "args": args}}}},
			}}},
		}},
	)
}

// initialize does what the init container of core does.
func (c *Crossplane) initialize(ctx context.Context, webhooks int) error {
	kubeconfig, err := c.kubeconfig(ctx, Namespace, serviceAccountCore)
	if err != nil {
		return err
	}
	cluster := filepath.Join(filepath.Dir(c.core), "cluster")
	cmd := exec.CommandContext(ctx, c.core, "core", "init", "--activation=*") //nolint:gosec // What the repository built.
	cmd.Env = append(os.Environ(),
		"CRDS_PATH="+filepath.Join(cluster, "crds"),
		"WEBHOOK_CONFIGS_PATH="+filepath.Join(cluster, "webhookconfigurations"),
		"KUBECONFIG="+kubeconfig,
		"POD_NAMESPACE="+Namespace,
		"POD_SERVICE_ACCOUNT="+serviceAccountCore,
		"WEBHOOK_SERVICE_NAME="+webhookService,
		"WEBHOOK_SERVICE_NAMESPACE="+Namespace,
		"WEBHOOK_SERVICE_PORT="+strconv.Itoa(webhooks),
		"TLS_CA_SECRET_NAME="+secretRootCA,
		"TLS_SERVER_SECRET_NAME="+secretTLSServer,
		"TLS_CLIENT_SECRET_NAME="+secretTLSClient,
	)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return errors.Wrap(ctx.Err(), "cannot initialize") // Whatever it said of its end.
	}
	return errors.Wrapf(err, "cannot initialize: %s", lastLines(out))
}

// startCore starts core and its RBAC manager, each as the service account that the
// chart has for it.
func (c *Crossplane) startCore(ctx context.Context, webhooks int) error {
	for _, name := range []string{secretTLSServer, secretTLSClient} {
		if err := c.writeSecret(ctx, Namespace, name, c.path(name)); err != nil {
			return err
		}
	}
	metrics, err := controlplane.FreePort(ctx)
	if err != nil {
		return err
	}
	health, err := controlplane.FreePort(ctx)
	if err != nil {
		return err
	}
	core, err := c.startProcess(ctx, serviceAccountCore, "crossplane", []string{
		"HTTPS_PROXY=" + c.services.url,
		"NO_PROXY=127.0.0.1,localhost",
		"POD_NAMESPACE=" + Namespace,
		"POD_SERVICE_ACCOUNT=" + serviceAccountCore,
	},
		"core", "start", "--debug",
		"--package-runtime=Deployment",
		"--cache-dir="+c.path("packages"),
		"--webhook-port="+strconv.Itoa(webhooks),
		"--metrics-port="+strconv.Itoa(metrics),
		"--health-probe-port="+strconv.Itoa(health),
		"--tls-server-secret-name="+secretTLSServer,
		"--tls-server-certs-dir="+c.path(secretTLSServer),
		"--tls-client-secret-name="+secretTLSClient,
		"--tls-client-certs-dir="+c.path(secretTLSClient),
	)
	if err != nil {
		return err
	}
	if _, err := c.startProcess(ctx, serviceAccountRBAC, "rbac-manager", nil, "rbac", "start", "--debug"); err != nil {
		return err
	}
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(health)) + "/readyz"
	return wait(ctx, core, func(ctx context.Context) error { return probe(ctx, url) })
}

// startProcess of core, as a service account.
func (c *Crossplane) startProcess(ctx context.Context, serviceAccount, name string, env []string, args ...string) (*process.Process, error) {
	kubeconfig, err := c.kubeconfig(ctx, Namespace, serviceAccount)
	if err != nil {
		return nil, err
	}
	return c.startTool(ctx, name, c.core, append(env, "KUBECONFIG="+kubeconfig), args...)
}

// startTool whose end is the end of all.
func (c *Crossplane) startTool(ctx context.Context, name, path string, env []string, args ...string) (*process.Process, error) {
	log := filepath.Join(c.logs, name+".log")
	if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
		return nil, errors.Wrap(err, "cannot remove the log of the last run")
	}
	p, err := process.Start(ctx, process.Options{Name: name, Path: path, Args: args, Dir: c.dir, LogPath: log, Env: env})
	if err != nil {
		return nil, err
	}
	c.running = append(c.running, p)
	return p, nil
}

// kubeconfig writes that of a service account, whose token it asks for as a kubelet
// does, and returns its path.
func (c *Crossplane) kubeconfig(ctx context.Context, namespace, serviceAccount string) (string, error) {
	life := int64(tokenLife)
	token, err := c.clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, serviceAccount,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &life}}, metav1.CreateOptions{})
	if err != nil {
		return "", errors.Wrapf(err, "cannot get a token for the service account %s", serviceAccount)
	}
	admin := c.plane.RESTConfig()
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[serviceAccount] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	cfg.AuthInfos[serviceAccount] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	cfg.Contexts[serviceAccount] = &clientcmdapi.Context{Cluster: serviceAccount, AuthInfo: serviceAccount, Namespace: namespace}
	cfg.CurrentContext = serviceAccount
	path := c.path("kubeconfigs", namespace+"."+serviceAccount)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", errors.Wrap(err, "cannot create a folder")
	}
	return path, errors.Wrapf(clientcmd.WriteToFile(*cfg, path), "cannot write the kubeconfig of the service account %s", serviceAccount)
}

// writeSecret to files of a folder, as they are mounted into a pod.
func (c *Crossplane) writeSecret(ctx context.Context, namespace, name, dir string) error {
	s := &corev1.Secret{}
	if err := c.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		return errors.Wrapf(err, "cannot get the Secret %s", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Wrap(err, "cannot create a folder")
	}
	for key, value := range s.Data {
		if err := os.WriteFile(filepath.Join(dir, key), value, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write a key of the Secret %s", name)
		}
	}
	return nil
}

// run a tool to its end, and return what it says.
func (c *Crossplane) run(ctx context.Context, path string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // What the repository built.
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, errors.Wrapf(ctx.Err(), "%s %s", filepath.Base(path), args[0])
		}
		return nil, errors.Wrapf(err, "%s %s: %s", filepath.Base(path), args[0], lastLines(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// Failed returns why Crossplane cannot work any more: a process of core ended by
// itself. Nil while all is well.
func (c *Crossplane) Failed() error {
	for _, p := range c.running {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends core and all that packages run, and returns once they are gone. It may be
// called more than once.
func (c *Crossplane) Stop() {
	c.once.Do(func() {
		if c.kubelet != nil {
			c.kubelet.stop()
		}
		for _, p := range c.running {
			p.Stop(stopGrace)
		}
		if c.services != nil {
			c.services.stop()
		}
	})
}

// wait until a process does what is expected of it.
func wait(ctx context.Context, p *process.Process, ready func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "it did not become ready: %v; its last lines:\n%s", err, p.Tail(15))
		case <-p.Done():
			return p.Err()
		case <-ticker.C:
		}
	}
}

// probe whether a URL answers that all is well.
func probe(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close()
	if rsp.StatusCode != http.StatusOK {
		return errors.Errorf("%s answered %s", url, rsp.Status)
	}
	return nil
}

// lastLines of what a tool said.
func lastLines(out []byte) string {
	const most = 10
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
