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

// Package controlplane runs a Kubernetes control plane on this machine: etcd,
// an API server, and the few controllers that make deletion real. It needs no
// container runtime and no privileges, starts in seconds, keeps everything in
// one folder, and leaves nothing behind. It is what the contract tests and the
// demo run on.
package controlplane

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

const (
	// startTimeout bounds how long a control plane may take to become ready. It
	// takes seconds; a busy machine must not make it fail.
	startTimeout = 2 * time.Minute
	// pollInterval is how often readiness is asked for.
	pollInterval = 50 * time.Millisecond
	// portTries is how often another port is tried when one turned out to be
	// taken.
	portTries = 8
	// maxSocketPath is what every Unix accepts as the path of a socket.
	maxSocketPath = 100
)

// Options of a control plane. The zero value is what most callers want.
type Options struct {
	// Binaries to run. Those not given are found with FindBinary.
	Binaries Binaries
	// Dir holds data, certificates and logs. Default: a temporary folder, which
	// Stop removes. A given folder is created if absent and kept.
	Dir string
	// CRDs are files or folders whose custom resource definitions are installed
	// before the garbage collector starts. It looks for new kinds only twice a
	// minute, so owner references to kinds installed later take that long to be
	// acted upon.
	CRDs []string
	// APIServerArgs are added to the arguments of the API server, for what a test wants
	// to be different, such as an audit log.
	APIServerArgs []string
	// Log is told in short lines what happens. Default: nobody.
	Log io.Writer

	// pickPort for the API server. Default: FreePort.
	pickPort func(context.Context) (int, error)
}

// A ControlPlane is a running API server with its store and its controllers.
type ControlPlane struct {
	dir       string
	temporary bool
	sockets   string
	log       io.Writer
	authority *authority
	admin     *rest.Config
	url       string
	once      sync.Once

	etcd, apiServer, controllerManager *process.Process
}

// Start a control plane and wait until it is ready. The context bounds
// starting; end it with Stop. On failure nothing is left running, and the error
// has the last lines of the process that failed.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	c := &ControlPlane{dir: o.Dir, log: o.Log}
	if c.log == nil {
		c.log = io.Discard
	}
	// Finding may build, which takes as long as it takes.
	if err := o.Binaries.find(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.start(ctx, o); err != nil {
		c.Stop()
		return nil, errors.Wrap(err, "cannot start the control plane")
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, o Options) error {
	started := time.Now()
	if err := c.prepare(); err != nil {
		return err
	}
	var err error
	if c.etcd, err = c.startEtcd(ctx, o.Binaries.Etcd); err != nil {
		return err
	}
	if o.pickPort == nil {
		o.pickPort = FreePort
	}
	if err := c.startAPIServer(ctx, o); err != nil {
		return err
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	if len(o.CRDs) > 0 {
		if err := c.InstallCRDs(ctx, o.CRDs...); err != nil {
			return err
		}
	}
	if c.controllerManager, err = c.startControllerManager(ctx, o.Binaries.ControllerManager); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.log, "control plane ready at %s after %.1f s\n", c.url, time.Since(started).Seconds())
	return nil
}

// RESTConfig returns a new configuration of a client that may do everything,
// without a client-side rate limit.
func (c *ControlPlane) RESTConfig() *rest.Config {
	return rest.CopyConfig(c.admin)
}

// ConfigFor returns the configuration of a client that acts as the given user,
// in the given groups. What it may do is up to RBAC.
func (c *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	p, err := c.authority.client(user, groups...)
	if err != nil {
		return nil, err
	}
	return c.configFor(p), nil
}

// Kubeconfig returns the path of a kubeconfig file of a user who may do
// everything.
func (c *ControlPlane) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// Dir returns the folder with data, certificates and logs.
func (c *ControlPlane) Dir() string { return c.dir }

// Failed returns why the control plane cannot work any more: a process of it
// ended by itself. Nil while all is well.
func (c *ControlPlane) Failed() error {
	for _, p := range c.processes() {
		if err := p.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the control plane and returns once its processes are gone and its
// temporary folder is removed. It may be called more than once.
func (c *ControlPlane) Stop() {
	c.once.Do(func() {
		// In the order in which they depend on one another, so that none fills
		// its log with complaints. There is nothing worth a clean shutdown:
		// what was written to the store survives the end of a process.
		for _, p := range c.processes() {
			p.Stop(0)
		}
		if c.temporary {
			_ = os.RemoveAll(c.dir)
		}
		if c.sockets != "" && c.sockets != c.dir {
			_ = os.RemoveAll(c.sockets)
		}
	})
}

func (c *ControlPlane) processes() []*process.Process {
	var running []*process.Process
	for _, p := range []*process.Process{c.controllerManager, c.apiServer, c.etcd} {
		if p != nil {
			running = append(running, p)
		}
	}
	return running
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.dir, name) }

// prepare the folder, the certificates and the keys.
func (c *ControlPlane) prepare() error {
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "apiplatform-")
		if err != nil {
			return errors.Wrap(err, "cannot create a temporary folder")
		}
		c.dir, c.temporary = dir, true
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return errors.Wrap(err, "cannot make the path of the folder absolute")
	}
	c.dir, c.sockets = dir, dir
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return errors.Wrap(err, "cannot create the folder")
	}
	if len(c.path("etcd-peer.sock")) > maxSocketPath {
		if c.sockets, err = os.MkdirTemp("/tmp", "apiplatform-"); err != nil {
			return errors.Wrap(err, "cannot create a temporary folder for sockets")
		}
	}

	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	server, err := c.authority.server()
	if err != nil {
		return err
	}
	signing, err := newSigningKey()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"ca.crt":        c.authority.pem,
		"apiserver.crt": server.certificate,
		"apiserver.key": server.key,
		"sa.key":        signing,
	} {
		if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", name)
		}
	}
	return nil
}

// startEtcd on sockets in the file system: no port that could be taken, and
// nobody else on the machine can reach it.
func (c *ControlPlane) startEtcd(ctx context.Context, binary string) (*process.Process, error) {
	client := c.etcdURL()
	peer := "unix://" + filepath.Join(c.sockets, "etcd-peer.sock")
	for _, name := range []string{"etcd.sock", "etcd-peer.sock"} {
		// Left behind when the last user of a kept folder was killed.
		_ = os.Remove(filepath.Join(c.sockets, name))
	}
	return process.Start(ctx, process.Options{
		Name:    Etcd,
		Path:    binary,
		Dir:     c.dir,
		LogPath: c.path("etcd.log"),
		Args: []string{
			"--name=sandbox",
			"--data-dir=" + c.path("etcd"),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=sandbox=" + peer,
			// Losing data in a power cut is fine here, waiting for a disk is not.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
	})
}

func (c *ControlPlane) etcdURL() string { return "unix://" + filepath.Join(c.sockets, "etcd.sock") }

// startAPIServer, on another port if the picked one was taken by somebody else
// in the meantime.
func (c *ControlPlane) startAPIServer(ctx context.Context, o Options) error {
	for try := 1; ; try++ {
		port, err := o.pickPort(ctx)
		if err != nil {
			return err
		}
		c.url = "https://127.0.0.1:" + strconv.Itoa(port)
		admin, err := c.authority.client("sandbox-admin", "system:masters")
		if err != nil {
			return err
		}
		c.admin = c.configFor(admin)

		c.apiServer, err = process.Start(ctx, process.Options{
			Name:    APIServer,
			Path:    o.Binaries.APIServer,
			Dir:     c.dir,
			LogPath: c.path("kube-apiserver.log"),
			Args:    append(c.apiServerArgs(port), o.APIServerArgs...),
		})
		if err != nil {
			return err
		}
		err = c.waitReady(ctx)
		if err == nil {
			return nil
		}
		if try == portTries || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
		c.apiServer.Stop(0)
		_ = os.Remove(c.apiServer.LogPath())
	}
}

func (c *ControlPlane) apiServerArgs(port int) []string {
	return []string{
		"--etcd-servers=" + c.etcdURL(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + c.path("apiserver-certs"),
		"--tls-cert-file=" + c.path("apiserver.crt"),
		"--tls-private-key-file=" + c.path("apiserver.key"),
		"--client-ca-file=" + c.path("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.path("sa.key"),
		"--service-account-signing-key-file=" + c.path("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		// Pods never run here, so nothing has to be put into them.
		"--disable-admission-plugins=ServiceAccount,DefaultStorageClass,StorageObjectInUseProtection,TaintNodesByCondition",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--profiling=false",
		"--shutdown-delay-duration=0s",
	}
}

// waitReady until the API server says so.
func (c *ControlPlane) waitReady(ctx context.Context) error {
	// Somebody else who has the port may never answer.
	cfg := c.RESTConfig()
	cfg.Timeout = time.Second
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return errors.Wrap(err, "cannot build a client for the API server")
	}
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		last := c.ready(ctx, client)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "the API server did not become ready: %v; its last lines:\n%s", last, c.apiServer.Tail(15))
		case <-c.apiServer.Done():
			return c.apiServer.Err()
		case <-c.etcd.Done():
			return c.etcd.Err()
		case <-ticker.C:
		}
	}
}

func (c *ControlPlane) ready(ctx context.Context, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	rsp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(rsp.Body, 4096))
	if err != nil {
		return err
	}
	if rsp.StatusCode != http.StatusOK {
		return errors.Errorf("%s: %s", rsp.Status, body)
	}
	return nil
}

// startControllerManager with the controllers without which namespaces and
// owned objects would never go away, and roles made of others would grant nothing.
func (c *ControlPlane) startControllerManager(ctx context.Context, binary string) (*process.Process, error) {
	return process.Start(ctx, process.Options{
		Name:    ControllerManager,
		Path:    binary,
		Dir:     c.dir,
		LogPath: c.path("kube-controller-manager.log"),
		Args: []string{
			"--kubeconfig=" + c.Kubeconfig(),
			"--controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller,clusterrole-aggregation-controller,root-ca-certificate-publisher-controller",
			"--root-ca-file=" + c.path("ca.crt"),
			"--leader-elect=false",
			"--secure-port=0",
			"--kube-api-qps=1000",
			"--kube-api-burst=2000",
			"--concurrent-namespace-syncs=5",
			"--profiling=false",
		},
	})
}

func (c *ControlPlane) configFor(p *pair) *rest.Config {
	return &rest.Config{
		Host: c.url,
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.authority.pem,
			CertData: p.certificate,
			KeyData:  p.key,
		},
		QPS:   -1,
		Burst: -1,
	}
}

func (c *ControlPlane) writeKubeconfig() error {
	const name = "sandbox"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{Server: c.url, CertificateAuthorityData: c.admin.CAData}
	cfg.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: c.admin.CertData, ClientKeyData: c.admin.KeyData}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	cfg.CurrentContext = name
	return errors.Wrap(clientcmd.WriteToFile(*cfg, c.Kubeconfig()), "cannot write the kubeconfig")
}

// FreePort picks a port below those that the kernel hands out by itself, so
// that no outgoing connection takes it between now and its use.
func FreePort(ctx context.Context) (int, error) {
	const first, last = 12000, 30000
	var lc net.ListenConfig
	for range 100 {
		port := first + rand.IntN(last-first) //nolint:gosec // Two control planes must not meet; nobody must not guess.
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, errors.Wrap(err, "cannot free the port just picked")
		}
		return port, nil
	}
	return 0, errors.Errorf("cannot find a free port between %d and %d", first, last)
}
