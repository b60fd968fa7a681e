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
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	kyaml "sigs.k8s.io/yaml"
)

// everything is all that can be turned on, and other values wherever that shows.
const everything = `
commonLabels: {team: gateways}
image: {repository: registry.example.org/provider, digest: "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
replicas: 2
provider:
  watchNamespaces: [team-a, team-b]
  clusterId: prod-eu-1
  leaderElectionNamespace: leases
  debug: true
  enableManagementPolicies: false
  enableChangelogs: true
extraArgs: ["--some-flag=a b"]
env: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
envFrom: [{configMapRef: {name: environment}}]
crds: {annotations: {example.org/owner: gateways, helm.sh/resource-policy: delete}}
serviceAccount: {name: other, annotations: {example.org/role: gateways}}
tenantRoles: {aggregate: true}
podLabels: {example.org/pod: "yes"}
podAnnotations: {example.org/note: "yes"}
deploymentAnnotations: {example.org/deployment: "yes"}
strategy: {type: Recreate}
priorityClassName: system-cluster-critical
nodeSelector: {disk: ssd}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 1, topologyKey: host, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
sidecars: [{name: changelogs, image: "changelogs:v1", volumeMounts: [{name: changelogs, mountPath: /var/run/changelogs}]}]
volumes: [{name: more, emptyDir: {}}]
volumeMounts: [{name: more, mountPath: /more}]
metrics:
  service: {port: 9000, annotations: {prometheus.io/scrape: "true"}}
  podMonitor: {enabled: true, labels: {prometheus: main}, interval: 15s}
  prometheusRule: {enabled: true, labels: {prometheus: main}}
  dashboard: {enabled: true, annotations: {folder: Gateways}}
networkPolicy:
  enabled: true
  gateways: [{cidr: 10.1.2.0/24, ports: [9090]}, {namespace: gateways, podLabels: {app: gateway}, ports: [9090, 9091]}]
  apiServer: {cidrs: [10.0.0.1/32], ports: [6443]}
  metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
  extraEgress: [{to: [{ipBlock: {cidr: 192.0.2.7/32}}]}]
  extraIngress: [{from: [{podSelector: {}}]}]
`

// Objects that were rendered, by kind and name, and by namespace too for RoleBindings.
type objects map[string]*unstructured.Unstructured

// render the chart with values.
func render(t *testing.T, values string) objects {
	t.Helper()
	found := objects{}
	for document := range strings.SplitSeq(mustHelm(t, "template", release, shared.chart, "--namespace", namespace, "--values", valuesFile(t, values)), "\n---") {
		o := &unstructured.Unstructured{}
		if err := kyaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		if len(o.Object) == 0 {
			continue
		}
		key := o.GetKind() + " " + o.GetName()
		if strings.HasPrefix(o.GetKind(), "Role") {
			key += " " + o.GetNamespace()
		}
		if found[key] != nil {
			t.Errorf("there are two of %s", key)
		}
		found[key] = o
	}
	return found
}

// the rendered object, as what it is; a field that there is not is an error.
func the[T any](t *testing.T, of objects, key string) *T {
	t.Helper()
	o, into := of[key], new(T)
	if o == nil {
		t.Fatalf("there is no %s", key)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return into
}

// crds that the chart has, as keys of objects.
func crds() []string {
	var keys []string
	for _, group := range []struct{ name, plurals string }{
		{"apiplatform.crossplane.io", "clusterproviderconfigs providerconfigs providerconfigusages"},
		{"gateway.apiplatform.crossplane.io", "restapis subscriptionplans subscriptions"},
	} {
		for plural := range strings.FieldsSeq(group.plurals) {
			keys = append(keys, "CustomResourceDefinition "+plural+"."+group.name)
		}
	}
	return keys
}

func TestLint(t *testing.T) {
	for name, values := range map[string]string{"Default": "", "Everything": everything} {
		t.Run(name, func(t *testing.T) {
			mustHelm(t, "lint", "--strict", shared.chart, "--namespace", namespace, "--values", valuesFile(t, values))
		})
	}
}

// What is there by default, and what there can be beside.
func TestObjects(t *testing.T) {
	always := append(crds(),
		"ClusterRole provider-apiplatform", "ClusterRole provider-apiplatform-writer",
		"ClusterRoleBinding provider-apiplatform",
		"Deployment provider-apiplatform",
		"Service provider-apiplatform-metrics",
	)
	with := func(more ...string) []string { return append(slices.Clone(always), more...) }
	standard := with(
		"ServiceAccount provider-apiplatform",
		"ClusterRoleBinding provider-apiplatform-writer",
		"Role provider-apiplatform-leader-election crossplane-system", "RoleBinding provider-apiplatform-leader-election crossplane-system",
		"ClusterRole provider-apiplatform-tenant-view", "ClusterRole provider-apiplatform-tenant-edit", "ClusterRole provider-apiplatform-tenant-admin",
	)
	without := func(less ...string) []string {
		return slices.DeleteFunc(slices.Clone(standard), func(key string) bool {
			return slices.ContainsFunc(less, func(l string) bool { return strings.HasPrefix(key, l) })
		})
	}
	cases := map[string]struct {
		reason string
		values string
		want   []string
	}{
		"Default": {reason: "What needs the Prometheus operator, or knowledge of the network, is not there unasked.", want: standard},
		"Everything": {
			reason: "All that can be turned on. In watched namespaces alone may it write.",
			values: everything,
			want: with(
				"ServiceAccount other",
				"RoleBinding provider-apiplatform-writer team-a", "RoleBinding provider-apiplatform-writer team-b",
				"Role provider-apiplatform-leader-election leases", "RoleBinding provider-apiplatform-leader-election leases",
				"ClusterRole provider-apiplatform-tenant-view", "ClusterRole provider-apiplatform-tenant-edit", "ClusterRole provider-apiplatform-tenant-admin",
				"PodDisruptionBudget provider-apiplatform", "NetworkPolicy provider-apiplatform",
				"PodMonitor provider-apiplatform", "PrometheusRule provider-apiplatform", "ConfigMap provider-apiplatform-dashboard",
			),
		},
		"OthersGrant":      {reason: "Where others care for rights there are none here.", values: "{rbac: {create: false}, serviceAccount: {create: false, name: of-others}, tenantRoles: {create: false}}", want: without("ClusterRole", "Role", "ServiceAccount")},
		"NoLeader":         {reason: "Without leader election there is no lease.", values: "provider: {leaderElection: false}", want: without("Role")},
		"NoCRDs":           {reason: "A second release leaves the CRDs to the first.", values: "crds: {install: false}", want: without("CustomResourceDefinition")},
		"NoMetrics":        {reason: "What is not served has no Service.", values: `provider: {metricsBindAddress: "0"}`, want: without("Service provider")},
		"MetricsToSidecar": {reason: "A loopback address is for a sidecar.", values: `provider: {metricsBindAddress: "127.0.0.1:8080"}`, want: without("Service provider")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(render(t, tc.values)))
			if diff := cmp.Diff(slices.Sorted(slices.Values(tc.want)), got); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The pod has no more than it needs by default.
func TestDefaultPod(t *testing.T) {
	d := the[appsv1.Deployment](t, render(t, ""), "Deployment provider-apiplatform")
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	type facts struct {
		Namespace, Image, ServiceAccount         string
		Containers                               int
		Pod                                      *corev1.PodSecurityContext
		Container                                *corev1.SecurityContext
		Startup, Liveness, Readiness             string
		Volumes                                  int
		HostNetwork, HostPID, HostIPC, Explained bool
	}
	probe := func(p *corev1.Probe) string { return p.HTTPGet.Path + " " + p.HTTPGet.Port.String() }
	got := facts{
		Namespace: d.GetNamespace(), Image: c.Image, ServiceAccount: pod.ServiceAccountName, Containers: len(pod.Containers),
		Pod: pod.SecurityContext, Container: c.SecurityContext,
		Startup: probe(c.StartupProbe), Liveness: probe(c.LivenessProbe), Readiness: probe(c.ReadinessProbe),
		Volumes: len(pod.Volumes), HostNetwork: pod.HostNetwork, HostPID: pod.HostPID, HostIPC: pod.HostIPC,
	}
	want := facts{
		Namespace: namespace, Image: "xpkg.crossplane.io/crossplane-contrib/provider-apiplatform:v" + appVersion(t), ServiceAccount: release, Containers: 1,
		Pod: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Container: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		Startup: "/healthz health", Liveness: "/healthz health", Readiness: "/readyz health",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("it asks for %v", c.Resources)
	}
	if s := pod.TopologySpreadConstraints; len(s) != 1 || cmp.Diff(d.Spec.Selector, s[0].LabelSelector) != "" {
		t.Errorf("it is spread as %+v", s)
	}
}

// appVersion of the chart.
func appVersion(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(shared.chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := struct {
		AppVersion string `yaml:"appVersion"`
	}{}
	if err := yaml.Unmarshal(content, &c); err != nil {
		t.Fatal(err)
	}
	return c.AppVersion
}

// What can be set arrives where it belongs.
func TestEverything(t *testing.T) {
	all := render(t, everything)
	for key, o := range all {
		if got := o.GetLabels()["team"]; got != "gateways" {
			t.Errorf("%s has not the common labels", key)
		}
	}

	d := the[appsv1.Deployment](t, all, "Deployment provider-apiplatform")
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	for name, is := range map[string]bool{
		"replicas":                     *d.Spec.Replicas == 2,
		"strategy":                     d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType,
		"image.digest":                 strings.HasPrefix(c.Image, "registry.example.org/provider@sha256:aaa"),
		"image.pullPolicy":             c.ImagePullPolicy == corev1.PullAlways,
		"imagePullSecrets":             pod.ImagePullSecrets[0].Name == "registry",
		"serviceAccount.name":          pod.ServiceAccountName == "other",
		"podLabels":                    d.Spec.Template.Labels["example.org/pod"] == "yes",
		"podAnnotations":               d.Spec.Template.Annotations["example.org/note"] == "yes",
		"deploymentAnnotations":        d.Annotations["example.org/deployment"] == "yes",
		"priorityClassName":            pod.PriorityClassName == "system-cluster-critical",
		"nodeSelector":                 pod.NodeSelector["disk"] == "ssd",
		"tolerations":                  pod.Tolerations[0].Key == "dedicated",
		"affinity":                     pod.Affinity.NodeAffinity != nil,
		"topologySpreadConstraints":    pod.TopologySpreadConstraints[0].LabelSelector.MatchLabels["app.kubernetes.io/instance"] == release && len(pod.TopologySpreadConstraints[1].LabelSelector.MatchLabels) == 1,
		"env":                          c.Env[0].Name == "HTTPS_PROXY",
		"envFrom":                      c.EnvFrom[0].ConfigMapRef.Name == "environment",
		"extraArgs":                    slices.Contains(c.Args, "--some-flag=a b"),
		"sidecars":                     pod.Containers[1].Name == "changelogs",
		"volumes":                      pod.Volumes[0].Name == "changelogs" && pod.Volumes[1].Name == "more",
		"volumeMounts":                 c.VolumeMounts[0].MountPath == "/var/run/changelogs" && c.VolumeMounts[1].MountPath == "/more",
		"podDisruptionBudget":          the[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget provider-apiplatform").Spec.MaxUnavailable.IntValue() == 1,
		"metrics.service.port":         the[corev1.Service](t, all, "Service provider-apiplatform-metrics").Spec.Ports[0].Port == 9000,
		"serviceAccount.annotations":   the[corev1.ServiceAccount](t, all, "ServiceAccount other").Annotations["example.org/role"] == "gateways",
		"metrics.dashboard":            json.Valid([]byte(the[corev1.ConfigMap](t, all, "ConfigMap provider-apiplatform-dashboard").Data["provider-apiplatform.json"])),
		"metrics.podMonitor.labels":    all["PodMonitor provider-apiplatform"].GetLabels()["prometheus"] == "main",
		"metrics.prometheusRule":       all["PrometheusRule provider-apiplatform"].GetLabels()["prometheus"] == "main",
		"tenantRoles.aggregate (view)": all["ClusterRole provider-apiplatform-tenant-view"].GetLabels()["rbac.authorization.k8s.io/aggregate-to-view"] == "true",
	} {
		if !is {
			t.Errorf("%s is not what was set", name)
		}
	}
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "other"}}
	if diff := cmp.Diff(subject, the[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding provider-apiplatform").Subjects); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	alerts := map[string]any{}
	if err := yaml.Unmarshal([]byte(filesIn(t, filepath.Join(shared.root, "cluster", "monitoring"))["alerts.yaml"]), &alerts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fmt.Sprint(alerts["spec"]), fmt.Sprint(all["PrometheusRule provider-apiplatform"].Object["spec"])); diff != "" {
		t.Errorf("alerts: -want, +got:\n%s", diff)
	}

	want := `
podSelector: {matchLabels: {app.kubernetes.io/name: provider-apiplatform, app.kubernetes.io/instance: provider-apiplatform}}
policyTypes: [Ingress, Egress]
ingress:
- {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}], ports: [{port: 8080, protocol: TCP}]}
- {from: [{podSelector: {}}]}
egress:
- {ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}], to: [{namespaceSelector: {}, podSelector: {matchLabels: {k8s-app: kube-dns}}}]}
- {ports: [{port: 6443, protocol: TCP}], to: [{ipBlock: {cidr: 10.0.0.1/32}}]}
- {ports: [{port: 9090, protocol: TCP}], to: [{ipBlock: {cidr: 10.1.2.0/24}}]}
- {ports: [{port: 9090, protocol: TCP}, {port: 9091, protocol: TCP}], to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}, podSelector: {matchLabels: {app: gateway}}}]}
- {to: [{ipBlock: {cidr: 192.0.2.7/32}}]}
`
	spec := networkingv1.NetworkPolicySpec{}
	if err := kyaml.UnmarshalStrict([]byte(want), &spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec, the[networkingv1.NetworkPolicy](t, all, "NetworkPolicy provider-apiplatform").Spec); diff != "" {
		t.Errorf("NetworkPolicy: -want, +got:\n%s", diff)
	}
}

// Whatever is set, nobody who manages the release deletes a CRD, and what is generated
// stays as it is.
func TestCRDsAreKept(t *testing.T) {
	generated := filesIn(t, filepath.Join(shared.root, "package", "crds"))
	for name, values := range map[string]string{"Default": "", "Everything": everything} {
		t.Run(name, func(t *testing.T) {
			all := render(t, values)
			for _, content := range generated {
				want := &unstructured.Unstructured{}
				if err := kyaml.Unmarshal([]byte(content), &want.Object); err != nil {
					t.Fatal(err)
				}
				got := all["CustomResourceDefinition "+want.GetName()]
				if got == nil {
					t.Errorf("there is no %s", want.GetName())
					continue
				}
				if a := got.GetAnnotations(); a["helm.sh/resource-policy"] != "keep" || a["argocd.argoproj.io/sync-options"] != "Prune=false,Delete=false" {
					t.Errorf("%s has annotations %v", want.GetName(), a)
				}
				if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
					t.Errorf("%s: -generated, +rendered:\n%s", want.GetName(), diff)
				}
			}
		})
	}
}

// Values that cannot be meant are refused with words that say which and why.
func TestValuesRefused(t *testing.T) {
	cases := map[string]struct {
		reason, values string
		want           []string
	}{
		"Typo":              {reason: "A value that there is not would do nothing.", values: "replica: 2", want: []string{"additional properties 'replica' not allowed"}},
		"TypoInside":        {reason: "Nor would one further down.", values: "provider: {pol: 1m}", want: []string{"/provider", "'pol'"}},
		"Type":              {reason: "A number is one.", values: "replicas: two", want: []string{"/replicas", "want integer"}},
		"Duration":          {reason: "A duration has a unit.", values: `provider: {poll: "30"}`, want: []string{"/provider/poll", "'30'"}},
		"Rate":              {reason: "Nothing would ever be done.", values: "provider: {maxReconcileRate: 0}", want: []string{"/provider/maxReconcileRate", "1"}},
		"ClusterID":         {reason: "A slash ends a part of a mark.", values: "provider: {clusterId: prod/eu}", want: []string{"/provider/clusterId"}},
		"Namespace":         {reason: "A namespace has a name of a certain form.", values: "provider: {watchNamespaces: [Team_A]}", want: []string{"/provider/watchNamespaces/0", "Team_A"}},
		"Address":           {reason: "An address has a port.", values: "provider: {metricsBindAddress: localhost}", want: []string{"/provider/metricsBindAddress"}},
		"Digest":            {reason: "A tag is no digest.", values: "image: {digest: v1}", want: []string{"/image/digest"}},
		"PullPolicy":        {reason: "There are three.", values: "image: {pullPolicy: Sometimes}", want: []string{"/image/pullPolicy", "'IfNotPresent'"}},
		"CIDR":              {reason: "An address without a length is none.", values: "networkPolicy: {gateways: [{cidr: 10.1.2.3, ports: [9090]}]}", want: []string{"/networkPolicy/gateways/0"}},
		"GatewayNowhere":    {reason: "A rule with nowhere to go would let through to everywhere.", values: "networkPolicy: {gateways: [{ports: [9090]}]}", want: []string{"/networkPolicy/gateways/0"}},
		"GatewayTwice":      {reason: "Which of the two it is cannot be known.", values: "networkPolicy: {gateways: [{cidr: 10.0.0.0/8, namespace: a, ports: [9090]}]}", want: []string{"/networkPolicy/gateways/0"}},
		"GatewayNoPorts":    {reason: "No ports would be all ports.", values: "networkPolicy: {gateways: [{cidr: 10.0.0.0/8}]}", want: []string{"/networkPolicy/gateways/0", "'ports'"}},
		"Unled":             {reason: "Two would do everything twice.", values: "{replicas: 2, provider: {leaderElection: false}}", want: []string{"provider.leaderElection must be true"}},
		"ProbesUnreachable": {reason: "The kubelet is not in the pod.", values: `provider: {healthProbeBindAddress: "127.0.0.1:8081"}`, want: []string{"provider.healthProbeBindAddress", "kubelet"}},
		"NoMetrics":         {reason: "Nothing could be scraped.", values: `{provider: {metricsBindAddress: "0"}, metrics: {podMonitor: {enabled: true}}}`, want: []string{"metrics.podMonitor.enabled", "provider.metricsBindAddress"}},
		"SharedAccount":     {reason: "Every pod that names no account would read every Secret.", values: "serviceAccount: {create: false}", want: []string{"serviceAccount.name"}},
		"SamePort":          {reason: "Only one can listen there.", values: `provider: {metricsBindAddress: ":8081"}`, want: []string{"provider.metricsBindAddress", "the same port"}},
		"NoSuchPort":        {reason: "Nothing can listen there.", values: `provider: {metricsBindAddress: ":99999"}`, want: []string{"/provider/metricsBindAddress"}},
		"Restless":          {reason: "Nothing is asked without a pause.", values: "provider: {poll: 0s}", want: []string{"/provider/poll"}},
		"NoSuchCIDR":        {reason: "No address is meant by that.", values: "networkPolicy: {gateways: [{cidr: 999.1.1.1/99, ports: [9090]}]}", want: []string{"/networkPolicy/gateways/0"}},
		"NoGateway":         {reason: "The provider would be shut in.", values: "networkPolicy: {enabled: true}", want: []string{"networkPolicy.gateways"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := helm(t, "template", release, shared.chart, "--values", valuesFile(t, tc.values))
			if err == nil {
				t.Fatalf("%s It was accepted.", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s Want a complaint with %q, got: %v", tc.reason, want, err)
				}
			}
		})
	}
}

// Releases in one namespace do not wait for each other: each has a lease of its own, and
// may use it.
func TestSecondRelease(t *testing.T) {
	out, err := helm(t, "template", "other", shared.chart, "--namespace", namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"--leader-election-id=other-provider-apiplatform"`, "resourceNames: [other-provider-apiplatform]"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// The policy that is to keep all others from a gateway's management port lets the provider
// through, however it was installed.
func TestManagementPort(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(shared.root, "examples", "cluster", "management-port.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	policy := &networkingv1.NetworkPolicy{}
	if err := kyaml.UnmarshalStrict(raw, policy); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(shared.root, "docs", "crossplane.md"))
	if err != nil {
		t.Fatal(err)
	}
	provider := regexp.MustCompile(`kind: Provider\nmetadata:\n  name: (\S+)`).FindSubmatch(page)
	if provider == nil {
		t.Fatal("docs/crossplane.md installs no Provider")
	}
	for who, pod := range map[string]map[string]string{
		"the package": {"pkg.crossplane.io/provider": string(provider[1])},
		"the chart":   the[appsv1.Deployment](t, render(t, ""), "Deployment provider-apiplatform").Spec.Template.Labels,
	} {
		if !slices.ContainsFunc(policy.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
			return r.Ports[0].Port.IntValue() == 9090 && slices.ContainsFunc(r.From, func(p networkingv1.NetworkPolicyPeer) bool {
				return labels.SelectorFromSet(p.PodSelector.MatchLabels).Matches(labels.Set(pod))
			})
		}) {
			t.Errorf("the pod of %s, with the labels %v, is shut out", who, pod)
		}
	}
}

// flags of the provider, by name without dashes, with what they default to as far as the
// help says.
func flags(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), shared.provider, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, +)?--(?:\[no-\])?([a-z-]+)(?:=(\S+))?`).FindAllStringSubmatch(string(out), -1) {
		if m[1] != "help" && m[1] != "version" {
			found[m[1]] = m[2]
		}
	}
	return found
}

// camel is the name of the value for a flag.
func camel(flag string) string {
	words := strings.Split(flag, "-")
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return strings.Join(words, "")
}

// args that the provider's container has.
func args(t *testing.T, values string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, a := range the[appsv1.Deployment](t, render(t, values), "Deployment provider-apiplatform").Spec.Template.Spec.Containers[0].Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		found[name] = value
	}
	return found
}

// Every flag of the provider has a value, which reaches it, and no value is for a flag
// that there is not.
func TestFlags(t *testing.T) {
	values := struct{ Provider map[string]any }{}
	if err := yaml.Unmarshal([]byte(filesIn(t, shared.chart)["values.yaml"]), &values); err != nil {
		t.Fatal(err)
	}
	others := map[string]any{
		"poll": "61s", "resync": "2h", "min-poll": "11s", "max-reconcile-rate": 1234567, "watch-namespaces": []string{"a", "b"}, "cluster-id": "one",
		"leader-election": false, "leader-election-namespace": "leases", "leader-election-id": "lease", "metrics-bind-address": ":1", "health-probe-bind-address": ":2", "debug": true,
		"enable-management-policies": false, "enable-changelogs": true, "changelogs-socket-path": "/a/b.sock",
	}
	given := args(t, "")
	known := flags(t)
	if len(known) < 10 {
		t.Fatalf("the provider's help was not understood: %v", known)
	}
	for flag, standard := range known {
		t.Run(flag, func(t *testing.T) {
			if _, ok := values.Provider[camel(flag)]; !ok {
				t.Fatalf("values.yaml has no provider.%s", camel(flag))
			}
			if s, err := strconv.Unquote(standard); err == nil {
				standard = s
			}
			// In capitals is what a value would be, where there is no default.
			if is, ok := given[flag]; ok && standard != "" && standard != strings.ToUpper(standard) && is != standard {
				t.Errorf("the provider's default is %q, and the chart's %q", standard, is)
			}
			other, ok := others[flag]
			if !ok {
				t.Fatalf("add another value for it to this test")
			}
			set := map[string]any{"provider": map[string]any{camel(flag): other}}
			if flag == "leader-election-namespace" {
				set["rbac"] = map[string]any{"create": false}
			}
			v, err := yaml.Marshal(set)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(other)
			if list, ok := other.([]string); ok {
				want = strings.Join(list, ",")
			}
			if got := args(t, string(v))[flag]; got != want {
				t.Errorf("it was set to %q, and is %q", want, got)
			}
		})
	}
	for value := range values.Provider {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(flag string) bool { return camel(flag) == value }) {
			t.Errorf("provider.%s is for a flag that the provider has not", value)
		}
	}
	for name := range given {
		if _, ok := known[name]; !ok {
			t.Errorf("--%s is no flag of the provider", name)
		}
	}
}

// A described value is one of values.yaml.
type described struct{ Name, Default, Description string }

// describe the values under a node. What has a comment and nothing with comments in it
// is one value.
func describe(t *testing.T, prefix string, n *yaml.Node) []described {
	t.Helper()
	var all []described
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := prefix + k.Value
		if commented(v) {
			all = append(all, describe(t, name+".", v)...)
			continue
		}
		// The head of the file is a comment of its own.
		comments := strings.Split(k.HeadComment, "\n\n")
		text := strings.ReplaceAll(comments[len(comments)-1], "\n", " ")
		if text == "" {
			t.Errorf("values.yaml does not say what %s is", name)
		}
		var value any
		if err := v.Decode(&value); err != nil {
			t.Fatal(err)
		}
		standard, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := value.(string); ok && s != "" && s != "0" {
			standard = []byte(s)
		}
		all = append(all, described{name, string(standard), strings.ReplaceAll(text, "# ", "")})
	}
	return all
}

// commented tells whether there are comments in a mapping.
func commented(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && slices.ContainsFunc(n.Content, func(n *yaml.Node) bool { return n.HeadComment != "" || commented(n) })
}

// Every value is described, and the README has a table of them.
func TestValuesDocumented(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(filesIn(t, shared.chart)["values.yaml"]), &document); err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- The table is made of values.yaml: go test ./test/chart -run TestValuesDocumented -update -->\n", "<!-- end of the table -->"
	var table strings.Builder
	table.WriteString("| value | default | |\n|---|---|---|\n")
	for _, d := range describe(t, "", document.Content[0]) {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", d.Name, d.Default, d.Description)
	}
	path := filepath.Join(shared.chart, "README.md")
	readme := filesIn(t, shared.chart)["README.md"]
	before, rest, ok := strings.Cut(readme, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table of values", path)
	}
	want := before + begin + table.String() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, readme); diff != "" {
		t.Errorf("run go test ./test/chart -run TestValuesDocumented -update: -want, +got:\n%s", diff)
	}
}
