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
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/retry"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

// Labels that Crossplane gives to the pods of packages.
const (
	labelProvider = "pkg.crossplane.io/provider"
	labelFunction = "pkg.crossplane.io/function"
)

// portGRPC is the name that Crossplane gives to the port of functions.
const portGRPC = "grpc"

const (
	// firstRestart is how long a kubelet waits before it starts what has ended again;
	// each further time twice as long, up to lastRestart.
	firstRestart = 250 * time.Millisecond
	lastRestart  = 10 * time.Second
)

// A kubelet runs what the Deployments of packages say, one pod for each: the program
// in the image, with the arguments, the environment and the Secrets that are written
// there, as the service account that is named there. It tells the Deployment whether
// that is available. What a pod has of its own and a process has not, addresses and
// file systems, is made up for by other ports and other paths.
type kubelet struct {
	c *Crossplane

	mu     sync.Mutex
	pods   map[string]*pod
	cancel context.CancelFunc
	done   chan struct{}
}

// A pod is what runs for a Deployment.
type pod struct {
	name     string
	template string
	log      string
	labels   map[string]string
	ports    map[string]string
	// probe whether it is ready. It never is as long as it cannot even be started.
	probe func(context.Context) error

	process  *process.Process
	problem  error
	restarts int
	again    time.Time
}

// start the kubelet. It ends with stop, not with the context.
func (k *kubelet) start(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k.cancel, k.done, k.pods = cancel, make(chan struct{}), map[string]*pod{}
	go func() {
		defer close(k.done)
		ticker := time.NewTicker(pollInterval)
		defer ticker.Stop()
		for {
			k.sync(ctx)
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
}

func (k *kubelet) stop() {
	if k.cancel == nil {
		return
	}
	k.cancel()
	<-k.done
	var wg sync.WaitGroup
	for _, p := range k.pods {
		wg.Go(func() { p.process.Stop(stopGrace) })
	}
	wg.Wait()
}

// sync what runs with what is to run.
func (k *kubelet) sync(ctx context.Context) {
	deployments, err := k.c.clients.AppsV1().Deployments(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return // There is a next time.
	}
	wanted := map[string]*appsv1.Deployment{}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.DeletionTimestamp == nil && (d.Spec.Replicas == nil || *d.Spec.Replicas > 0) {
			wanted[d.Name] = d
			continue
		}
		k.tell(ctx, d, nil, "")
	}
	for name, p := range k.snapshot() {
		if d, ok := wanted[name]; !ok || hash(d) != p.template {
			p.process.Stop(stopGrace)
			k.set(name, nil)
		}
	}
	for name, d := range wanted {
		p := k.pod(name)
		if p == nil {
			// A Deployment that is made anew may have the name that another had.
			log := filepath.Join(k.c.logs, fmt.Sprintf("%s-%s.log", name, d.UID))
			p = &pod{name: name, template: hash(d), log: log, labels: d.Spec.Template.Labels}
			k.set(name, p)
		}
		k.keep(ctx, d, p)
		problem := p.ready(ctx)
		k.tell(ctx, d, p, problem)
	}
}

// keep a pod running.
func (k *kubelet) keep(ctx context.Context, d *appsv1.Deployment, p *pod) {
	if p.process != nil && p.process.Err() == nil {
		return
	}
	if p.process != nil && p.problem == nil {
		p.problem = p.process.Err()
		p.again = time.Now().Add(min(firstRestart<<min(p.restarts, 10), lastRestart))
		_, _ = fmt.Fprintf(k.c.log, "%s: %v\n", p.name, p.problem)
	}
	if time.Now().Before(p.again) {
		return
	}
	if p.process != nil {
		k.mu.Lock()
		p.restarts++
		k.mu.Unlock()
	}
	started, err := k.run(ctx, d, p)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		p.problem, p.again = err, time.Now().Add(time.Second)
		return
	}
	p.process, p.problem = started, nil
}

// ready tells what a pod still lacks. Nothing if it is empty.
func (p *pod) ready(ctx context.Context) string {
	if p.problem != nil {
		return p.problem.Error()
	}
	if err := p.probe(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// run the first container of a Deployment's pod, which is that of the package.
func (k *kubelet) run(ctx context.Context, d *appsv1.Deployment, p *pod) (*process.Process, error) {
	spec := d.Spec.Template.Spec
	container := spec.Containers[0]
	i, err := k.c.pull(ctx, container.Image)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := k.c.kubeconfig(ctx, d.Namespace, spec.ServiceAccountName)
	if err != nil {
		return nil, err
	}
	mounts, err := k.mount(ctx, d, container)
	if err != nil {
		return nil, err
	}
	command := append(slices.Clone(container.Command), container.Args...)
	if len(container.Command) == 0 {
		command = append(slices.Clone(i.entrypoint), container.Args...)
		if len(container.Args) == 0 {
			command = append(command, i.cmd...)
		}
	}
	if len(command) == 0 {
		return nil, errors.Errorf("the image %s does not say what to run", container.Image)
	}
	env := append(slices.Clone(i.env), environment(d, container, mounts)...)
	env = append(env, "KUBECONFIG="+kubeconfig)

	ports, listen, err := p.listen(ctx)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	p.ports = ports
	k.mu.Unlock()

	return process.Start(ctx, process.Options{
		Name:    d.Name,
		Path:    filepath.Join(i.root, command[0]),
		Args:    command[1:],
		Env:     append(env, listen...),
		Dir:     i.root,
		LogPath: p.log,
	})
}

// listen finds ports for a pod, and returns the environment that tells its program of
// them. In a pod of its own it would have those that it listens on by default.
func (p *pod) listen(ctx context.Context) (ports map[string]string, env []string, err error) {
	var free [2]string
	for i := range free {
		port, err := controlplane.FreePort(ctx)
		if err != nil {
			return nil, nil, err
		}
		free[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	main, metrics := free[0], free[1]
	if p.labels[labelFunction] != "" {
		p.probe = func(ctx context.Context) error {
			dialer := net.Dialer{Timeout: time.Second}
			conn, err := dialer.DialContext(ctx, "tcp", main)
			if err != nil {
				return err
			}
			return conn.Close()
		}
		return map[string]string{portGRPC: main}, []string{"ADDRESS=" + main, "METRICS_BIND_ADDRESS=" + metrics}, nil
	}
	p.probe = func(ctx context.Context) error { return probe(ctx, "http://"+main+"/readyz") }
	return nil, []string{"HEALTH_PROBE_BIND_ADDRESS=" + main, "METRICS_BIND_ADDRESS=" + metrics}, nil
}

// mount the Secrets that a container mounts, and return where each of its paths is on
// this machine.
func (k *kubelet) mount(ctx context.Context, d *appsv1.Deployment, container corev1.Container) (map[string]string, error) {
	mounts := map[string]string{}
	for _, m := range container.VolumeMounts {
		for _, v := range d.Spec.Template.Spec.Volumes {
			if v.Name != m.Name || v.Secret == nil {
				continue
			}
			dir := k.c.path("volumes", d.Name, v.Name)
			if err := k.c.writeSecret(ctx, d.Namespace, v.Secret.SecretName, dir); err != nil {
				return nil, err
			}
			mounts[m.MountPath] = dir
		}
	}
	return mounts, nil
}

// environment of a container.
func environment(d *appsv1.Deployment, container corev1.Container, mounts map[string]string) []string {
	values := map[string]string{}
	env := make([]string, 0, len(container.Env))
	for _, e := range container.Env {
		value := e.Value
		for name, before := range values {
			value = strings.ReplaceAll(value, "$("+name+")", before)
		}
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			value = field(d, e.ValueFrom.FieldRef.FieldPath)
		}
		if dir, ok := mounts[value]; ok {
			value = dir
		}
		values[e.Name] = value
		env = append(env, e.Name+"="+value)
	}
	return env
}

// field of a pod.
func field(d *appsv1.Deployment, path string) string {
	if label, ok := strings.CutPrefix(path, "metadata.labels['"); ok {
		return d.Spec.Template.Labels[strings.TrimSuffix(label, "']")]
	}
	switch path {
	case "metadata.namespace":
		return d.Namespace
	case "metadata.name":
		return d.Name
	case "spec.serviceAccountName":
		return d.Spec.Template.Spec.ServiceAccountName
	}
	return ""
}

// tell a Deployment whether what it wants is available.
func (k *kubelet) tell(ctx context.Context, d *appsv1.Deployment, p *pod, problem string) {
	status := appsv1.DeploymentStatus{ObservedGeneration: d.Generation}
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."}
	switch {
	case p == nil:
	case problem == "":
		status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = 1, 1, 1, 1
	default:
		status.Replicas, status.UpdatedReplicas, status.UnavailableReplicas = 1, 1, 1
		available.Status, available.Reason, available.Message = corev1.ConditionFalse, "MinimumReplicasUnavailable", problem
	}
	for _, was := range d.Status.Conditions {
		if was.Type == available.Type && was.Status == available.Status && was.Message == available.Message && d.Status.ObservedGeneration == d.Generation {
			return
		}
	}
	available.LastUpdateTime = metav1.Now()
	available.LastTransitionTime = available.LastUpdateTime
	status.Conditions = []appsv1.DeploymentCondition{available}
	// It is told anew with the next look if it could not be told.
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := k.c.clients.AppsV1().Deployments(d.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Status = status
		_, err = k.c.clients.AppsV1().Deployments(d.Namespace).UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
}

// resolve the host and port of a Service to where a pod of it listens.
func (k *kubelet) resolve(ctx context.Context, host, port string) string {
	name, namespace, _ := strings.Cut(host, ".")
	namespace, _, _ = strings.Cut(namespace, ".")
	if namespace != Namespace {
		return ""
	}
	s, err := k.c.clients.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil || len(s.Spec.Selector) == 0 {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.labels)) {
			continue
		}
		for _, sp := range s.Spec.Ports {
			if strconv.Itoa(int(sp.Port)) == port {
				return p.ports[sp.TargetPort.String()]
			}
		}
	}
	return ""
}

// Pod tells of what runs for a package: nil if nothing does.
type Pod struct {
	// Name of the Deployment.
	Name string
	// LogPath is the file it writes to.
	LogPath string
	// PID of the process. 0 before it was first started.
	PID int
	// Restarts is how often it ended by itself and was started again.
	Restarts int
}

// Pods tells what runs, by the name of the package.
func (c *Crossplane) Pods() map[string]Pod {
	c.kubelet.mu.Lock()
	defer c.kubelet.mu.Unlock()
	pods := map[string]Pod{}
	for _, p := range c.kubelet.pods {
		out := Pod{Name: p.name, LogPath: p.log, Restarts: p.restarts}
		if p.process != nil {
			out.PID = p.process.PID()
		}
		pods[p.labels[labelProvider]+p.labels[labelFunction]] = out
	}
	return pods
}

func (k *kubelet) snapshot() map[string]*pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	pods := make(map[string]*pod, len(k.pods))
	for name, p := range k.pods {
		pods[name] = p
	}
	return pods
}

func (k *kubelet) pod(name string) *pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[name]
}

func (k *kubelet) set(name string, p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == nil {
		delete(k.pods, name)
		return
	}
	k.pods[name] = p
}

// hash of what a Deployment runs.
func hash(d *appsv1.Deployment) string {
	content, err := json.Marshal(d.Spec.Template)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
