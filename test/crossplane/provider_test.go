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
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/crossplane"
)

const (
	// providerName is what Crossplane names the provider that the configuration depends
	// on.
	providerName = "crossplane-contrib-provider-apiplatform"

	// Conditions of packages and of what they define.
	installed   = "Installed"
	healthy     = "Healthy"
	established = "Established"
	ready       = "Ready"
	synced      = "Synced"
)

var (
	crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	mrdKind = schema.GroupVersionKind{Group: "apiextensions.crossplane.io", Version: "v1alpha1", Kind: "ManagedResourceDefinition"}
)

// provider of a version.
func (w *world) provider(version string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata:
  name: %s
spec:
  package: xpkg.crossplane.io/crossplane-contrib/provider-apiplatform:%s
  runtimeConfigRef:
    name: %s
`, providerName, version, crossplane.ProviderRuntimeConfig))
}

// activation policy that activates some kinds.
func (w *world) activation(patterns ...string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ManagedResourceActivationPolicy
metadata:
  name: default
spec:
  activate: ["%s"]
`, strings.Join(patterns, `", "`)))
}

// The life of the provider's package on the real core: installed with some kinds off,
// which are turned on later; used; upgraded under live objects; uninstalled from under
// them, and installed anew. It never has more rights than Crossplane grants it.
func TestProvider(t *testing.T) {
	w := in(t)
	w.push(previous)
	quickstart := w.example("quickstart")
	of := func(kinds ...string) (found []*unstructured.Unstructured) {
		for _, o := range quickstart {
			if slices.Contains(kinds, o.GetKind()) {
				found = append(found, o)
			}
		}
		return found
	}
	managed := []string{"SubscriptionPlan", "RestApi", "Subscription"}
	const (
		apis          = "restapis.gateway.apiplatform.crossplane.io"
		plans         = "subscriptionplans.gateway.apiplatform.crossplane.io"
		subscriptions = "subscriptions.gateway.apiplatform.crossplane.io"
	)
	pid := 0

	// An API refers to a plan, of a kind that is not there yet.
	refers := w.object(`
apiVersion: gateway.apiplatform.crossplane.io/v1alpha1
kind: RestApi
metadata:
  namespace: default
  name: refers
spec:
  forProvider:
    displayName: Refers
    version: v1.0
    context: /refers
    upstream: {main: {url: "http://refers.example.org"}}
    operations: [{method: GET, path: /}]
    subscriptionPlanRefs: [{name: bronze}]
`)

	w.then("InstallWithAPIsAlone", func(w *world) {
		w.apply(w.activation(apis), w.provider(previous))
		w.has(installed, w.provider(previous))
		w.has(healthy, w.provider(previous))
		if diff := cmp.Diff([]string{apis, plans, subscriptions}, w.names(mrdKind)); diff != "" {
			w.t.Errorf("definitions of managed resources: -want, +got:\n%s", diff)
		}
		w.eventually("there are CRDs of what is on, and of no more", func() error {
			if diff := cmp.Diff([]string{
				"clusterproviderconfigs.apiplatform.crossplane.io", "providerconfigs.apiplatform.crossplane.io", "providerconfigusages.apiplatform.crossplane.io", apis,
			}, w.crds()); diff != "" {
				return fmt.Errorf("-want, +got:\n%s", diff)
			}
			return nil
		})
		w.apply(of("Secret", "ClusterProviderConfig", "RestApi")...)
		w.apply(refers)
		w.has(ready, of("ClusterProviderConfig", "RestApi")...)
		w.says(refers, synced, `there is no SubscriptionPlan "bronze"`)
		pid = w.pod(providerName).PID
	})

	w.then("TurnPlansOn", func(w *world) {
		w.apply(w.activation(apis, plans))
		w.served(of("SubscriptionPlan")[0])
		w.apply(of("SubscriptionPlan")...)
		w.has(ready, of("SubscriptionPlan")...)
		w.has(ready, refers)
		w.delete(refers)
		w.gone(refers)
	})

	w.then("TurnSubscriptionsOn", func(w *world) {
		w.apply(w.activation("*"))
		w.served(of("Subscription")[0])
		w.apply(of("Subscription")...)
		w.has(ready, of(managed...)...)
		if pod := w.pod(providerName); pod.PID != pid || pod.Restarts != 0 {
			w.t.Errorf("the provider was started anew for that: %+v", pod)
		}
		w.nothingForbidden(providerName)
	})

	// Crossplane grants no package to read namespaces.
	w.then("AllowedNamespaces", func(w *world) {
		config := w.object(fmt.Sprintf(`
apiVersion: apiplatform.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata:
  name: gold
spec:
  endpoint: %s
  allowedNamespaces:
    matchLabels:
      kubernetes.io/metadata.name: default
  credentials:
    source: Basic
    basic:
      username: admin
      passwordSecretRef:
        namespace: crossplane-system
        name: gateway-admin
        key: password
`, w.gw.URL()))
		plan := w.object(`
apiVersion: gateway.apiplatform.crossplane.io/v1alpha1
kind: SubscriptionPlan
metadata:
  namespace: default
  name: selective
spec:
  providerConfigRef:
    kind: ClusterProviderConfig
    name: gold
  forProvider:
    planName: Selective
    throttleLimitCount: 1
    throttleLimitUnit: Hour
`)
		w.apply(config, plan)
		w.says(plan, synced, "examples/cluster/namespaces.yaml")
		w.apply(w.example("cluster/namespaces.yaml")...)
		w.has(ready, plan)
		w.delete(plan)
		w.gone(plan)
		w.delete(config)
		w.gone(config)
	})

	w.then("Upgrade", func(w *world) {
		before, writes := w.snapshot(of(managed...)...), w.writes()
		was := w.pod(providerName)
		w.push(current)
		w.apply(w.provider(current))
		w.eventually("another revision runs, alone", func() error {
			if pods := w.core.Pods(); len(pods) != 1 || pods[providerName].Name == was.Name {
				return fmt.Errorf("these run: %v", pods)
			}
			return nil
		})
		w.has(healthy, w.provider(current))
		w.has(ready, of(managed...)...)
		w.listed()
		if n := w.writes() - writes; n != 0 {
			w.t.Errorf("the upgrade made %d writes at the gateway", n)
		}
		if diff := cmp.Diff(before, w.snapshot(of(managed...)...)); diff != "" {
			w.t.Errorf("the upgrade changed objects: -before, +after:\n%s", diff)
		}
		w.nothingForbidden(providerName)
	})

	w.then("Protect", func(w *world) {
		protection := w.example("cluster/crossplane/protect-provider.yaml")
		w.apply(protection...)
		w.has(ready, protection...)
		err := w.kube.Delete(w.t.Context(), w.provider(current))
		if err == nil || !strings.Contains(err.Error(), "delete or hand over those first") {
			w.t.Fatalf("deleting the Provider: want it refused, got: %v", err)
		}
		w.delete(protection...)
		w.gone(protection...)
	})

	// Crossplane deletes the kinds with the Provider, and with them all objects. Who stops
	// the provider first leaves alone what is at the gateway.
	w.then("Uninstall", func(w *world) {
		writes := w.writes()
		// The sandbox runs the provider by a configuration that an ImageConfig names.
		w.apply(w.example("cluster/crossplane/stopped.yaml")...)
		w.replicas(0)
		w.eventually("nothing runs any more", func() error {
			if pods := w.core.Pods(); len(pods) != 0 {
				return fmt.Errorf("these run: %v", pods)
			}
			return nil
		})
		w.eventually("the Provider may be deleted", func() error { return client.IgnoreNotFound(w.kube.Delete(w.t.Context(), w.provider(current))) })
		w.gone(w.provider(current))
		for _, o := range of(append(managed, "ClusterProviderConfig")...) {
			w.eventually(fmt.Sprintf("%s %s waits to be deleted", o.GetKind(), o.GetName()), func() error {
				if got := w.get(o); got.GetDeletionTimestamp() == nil || len(got.GetFinalizers()) == 0 {
					return fmt.Errorf("deleted at %v, finalizers %v", got.GetDeletionTimestamp(), got.GetFinalizers())
				}
				return nil
			})
		}
		if n := w.writes() - writes; n != 0 || len(w.gw.Subscriptions()) != 1 {
			w.t.Errorf("without a provider nothing can be done at a gateway, but there were %d writes and are %d subscriptions", n, len(w.gw.Subscriptions()))
		}
	})

	// Who gives up the objects, and takes them over anew, loses nothing at the gateway.
	w.then("InstallAnew", func(w *world) {
		writes := w.writes()
		for _, o := range of(append(managed, "ClusterProviderConfig")...) {
			giveUp := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := w.kube.Patch(w.t.Context(), o.DeepCopy(), giveUp); err != nil {
				w.t.Fatal(err)
			}
		}
		w.eventually("all kinds are gone", func() error {
			if crds := w.crds(); len(crds) != 0 {
				return fmt.Errorf("there are %v", crds)
			}
			return nil
		})
		w.eventually("nobody has rights from before", func() error {
			var left []string
			for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
				left = append(left, w.names(schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: kind})...)
			}
			if left = slices.DeleteFunc(left, func(n string) bool { return !strings.Contains(n, providerName) }); len(left) != 0 {
				return fmt.Errorf("there are %v", left)
			}
			return nil
		})
		w.replicas(1)
		w.apply(w.provider(current))
		w.has(healthy, w.provider(current))
		w.eventually("all kinds are there anew", func() error {
			crds := w.crds()
			if len(crds) != 6 {
				return fmt.Errorf("there are %v", crds)
			}
			for _, crd := range crds {
				o := w.object("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + crd + "}")
				if got := w.get(o); got.GetDeletionTimestamp() != nil {
					return fmt.Errorf("%s is being deleted", crd)
				}
			}
			return nil
		})
		if n := w.writes() - writes; n != 0 {
			w.t.Errorf("what objects were given up for was not left alone: %d writes at the gateway", n)
		}
		for _, o := range of(managed...) {
			w.served(o)
		}
		for _, o := range of("SubscriptionPlan") {
			if err := unstructured.SetNestedField(o.Object, "IfUnique", "spec", "adoptionPolicy"); err != nil {
				w.t.Fatal(err)
			}
		}
		token, _, _ := unstructured.NestedString(of("Secret")[1].Object, "stringData", "token")
		held := slices.Concat(ids(w.gw.APIs()), ids(w.gw.Plans()), ids(w.gw.Subscriptions()))
		w.apply(quickstart...)
		w.has(ready, of("ClusterProviderConfig")...)
		w.has(ready, of(managed...)...)
		w.listed()
		if diff := cmp.Diff(held, slices.Concat(ids(w.gw.APIs()), ids(w.gw.Plans()), ids(w.gw.Subscriptions()))); diff != "" {
			w.t.Errorf("the gateway holds other objects than before: -before, +after:\n%s", diff)
		}
		if !w.gw.LetThrough("books-v1", token) {
			w.t.Error("the token is not let through any more")
		}
		for _, r := range w.gw.Requests(emulator.Match{Writes: true})[writes:] {
			// Nobody knows any more that the gateway has the token; it is sent once more.
			if r.Committed && (r.Kind != emulator.Subscriptions || r.Method != http.MethodPut) {
				w.t.Errorf("taking over what is there changed it: %s %s %s", r.Method, r.Kind, r.ID)
			}
		}
	})
}

// replicas of the provider that Crossplane runs.
func (w *world) replicas(n int) {
	w.t.Helper()
	config := w.object("apiVersion: pkg.crossplane.io/v1beta1\nkind: DeploymentRuntimeConfig\nmetadata: {name: " + crossplane.ProviderRuntimeConfig + "}")
	w.edit(config, fmt.Sprintf(`{"spec":{"deploymentTemplate":{"spec":{"replicas":%d}}}}`, n))
}

// ids of what a gateway holds.
func ids[T emulator.API | emulator.Plan | emulator.Subscription](all []T) []string {
	out := make([]string, 0, len(all))
	for _, o := range all {
		switch o := any(o).(type) {
		case emulator.API:
			out = append(out, o.InternalID)
		case emulator.Plan:
			out = append(out, o.ID)
		case emulator.Subscription:
			out = append(out, o.ID)
		}
	}
	return out
}

// crds of this project.
func (w *world) crds() []string {
	w.t.Helper()
	return slices.DeleteFunc(w.names(crdKind), func(n string) bool { return !strings.Contains(n, "apiplatform") })
}

// served waits until objects of a kind can be created.
func (w *world) served(o *unstructured.Unstructured) {
	w.t.Helper()
	w.eventually(o.GetKind()+" is served", func() error { return w.kube.List(w.t.Context(), list(o)) })
}

// snapshot of what a person said of objects, and of who they are at the gateway.
func (w *world) snapshot(objects ...*unstructured.Unstructured) map[string]any {
	all := map[string]any{}
	for _, o := range objects {
		got := w.get(o)
		all[o.GetKind()+" "+o.GetName()] = map[string]any{"uid": string(got.GetUID()), "annotations": got.GetAnnotations(), "spec": got.Object["spec"]}
	}
	return all
}

// list of an object's kind.
func list(o *unstructured.Unstructured) client.ObjectList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(o.GroupVersionKind())
	return l
}
