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
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

// What hack/tools/gitops answers.
type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// verdicts about objects, by the scripts or expressions of an example.
func verdicts(t *testing.T, example string, objects []map[string]any) []verdict {
	t.Helper()
	tool, err := controlplane.FindBinary(t.Context(), "gitops")
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), tool, filepath.Join(root(t), "examples", "gitops", example))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", example, err, stderr.String())
	}
	var out []verdict
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil || len(out) != len(objects) {
		t.Fatalf("%s: %v: %s", example, err, stdout.String())
	}
	return out
}

// conditionsOf an object, by their type.
func conditionsOf(o *unstructured.Unstructured) map[string]map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	out := map[string]map[string]any{}
	for _, c := range all {
		if c, ok := c.(map[string]any); ok {
			name, _ := c["type"].(string)
			out[name] = c
		}
	}
	return out
}

// until an object says something of itself. It is as it was then.
func (w *world) until(ctx context.Context, o *unstructured.Unstructured, says func(map[string]map[string]any) bool) (*unstructured.Unstructured, error) {
	got := &unstructured.Unstructured{}
	return got, eventually(ctx, o.GetKind()+" "+o.GetName(), func() error {
		got.SetGroupVersionKind(o.GroupVersionKind())
		if err := w.kube.Get(ctx, client.ObjectKeyFromObject(o), got); err != nil {
			return err
		}
		if c := conditionsOf(got); !says(c) {
			return errors.Errorf("it says %v", c)
		}
		return nil
	})
}

// says that a condition has a status and a reason.
func says(condition, status, reason string) func(map[string]map[string]any) bool {
	return func(c map[string]map[string]any) bool {
		return c[condition]["status"] == status && c[condition]["reason"] == reason
	}
}

// What Argo CD and Flux make of objects, as the provider leaves them, is what
// docs/tasks/gitops.md says.
func TestHealth(t *testing.T) {
	w, ctx := theWorld(t), t.Context()
	if err := w.clean(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.quickstart(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.clean(context.Background()); err != nil {
			t.Error(err)
		}
	})
	named := func(kind, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		o.SetName(name)
		if kind == "ClusterProviderConfig" {
			o.SetGroupVersionKind(schema.GroupVersionKind{Group: configGroup, Version: version, Kind: kind})
		} else {
			o.SetNamespace("default")
		}
		return o
	}
	must := func(o *unstructured.Unstructured, err error) map[string]any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return o.DeepCopy().Object
	}
	// patched is an object after a merge patch, once it says what is expected.
	patched := func(o *unstructured.Unstructured, patch string, says func(map[string]map[string]any) bool) map[string]any {
		t.Helper()
		if err := w.kube.Patch(ctx, o.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
		return must(w.until(ctx, o, says))
	}
	ready := says("Ready", "True", "Available")
	subscription, api, plan, config := named("Subscription", "web-shop"), named("RestApi", "books-v1"), named("SubscriptionPlan", "gold"), named("ClusterProviderConfig", "default")

	type want struct {
		name       string
		object     map[string]any
		argo, flux string
		message    string
	}
	var all []want
	for _, o := range []*unstructured.Unstructured{subscription, api, plan} {
		all = append(all, want{o.GetKind() + " in force", must(w.until(ctx, o, ready)), "Healthy", "Current", ""})
	}
	all = append(all, want{"A gateway that answers", must(w.until(ctx, config, func(c map[string]map[string]any) bool { return c["Ready"]["status"] == "True" })), "Healthy", "Current", ""})

	bare := must(w.until(ctx, subscription, ready))
	delete(bare, "status")
	all = append(all, want{"Nothing looked at it yet", bare, "Progressing", "Unknown", ""})

	edited := must(w.until(ctx, subscription, ready))
	meta, ok := edited["metadata"].(map[string]any)
	if !ok {
		t.Fatal("no metadata")
	}
	meta["generation"] = meta["generation"].(int64) + 1 //nolint:forcetypeassert // It is a number in every object.
	all = append(all, want{"An edit that was not looked at yet", edited, "Progressing", "InProgress", ""})

	all = append(all, want{"A plan that is not there", patched(subscription, `{"spec":{"forProvider":{"subscriptionPlanIdRef":{"name":"silver"}}}}`, says("Applied", "False", "PlanMissing")), "Progressing", "InProgress", "silver"})
	all = append(all, want{"Mended", patched(subscription, `{"spec":{"forProvider":{"subscriptionPlanIdRef":{"name":"gold"}}}}`, func(c map[string]map[string]any) bool { return ready(c) && says("Applied", "True", "Applied")(c) }), "Healthy", "Current", ""})
	all = append(all, want{"A mistake of a person", patched(subscription, `{"metadata":{"annotations":{"crossplane.io/external-name":"another"}}}`, says("Applied", "False", "ImmutableField")), "Degraded", "Failed", "external-name"})
	patched(subscription, `{"metadata":{"annotations":{"crossplane.io/external-name":"books-web-shop"}}}`, ready)

	all = append(all, want{"A name that is taken", patched(plan, `{"spec":{"forProvider":{"planName":"Bronze"}}}`, says("Applied", "False", "Conflict")), "Degraded", "Failed", "Bronze"})
	patched(plan, `{"spec":{"forProvider":{"planName":"Gold"}}}`, ready)

	// A plan in use does not go.
	if err := w.kube.Delete(ctx, plan.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	all = append(all, want{"Being deleted, and in use", must(w.until(ctx, plan, func(c map[string]map[string]any) bool { return c["Synced"]["status"] == "False" })), "Progressing", "Terminating", "in use"})

	all = append(all, want{"Observed", patched(api, `{"spec":{"managementPolicies":["Observe"]}}`, func(c map[string]map[string]any) bool { return c["Drifted"]["status"] == "False" }), "Healthy", "Current", ""})

	all = append(all, want{"Wrong credentials", patched(config, `{"spec":{"credentials":{"basic":{"username":"nobody"}}}}`, func(c map[string]map[string]any) bool { return c["Ready"]["status"] == "False" }), "Degraded", "InProgress", ""})
	all = append(all, want{"In force, and unreadable", must(w.until(ctx, subscription, says("Synced", "False", "ReconcileError"))), "Degraded", "InProgress", ""})
	patched(config, `{"spec":{"credentials":{"basic":{"username":"admin"}}}}`, func(c map[string]map[string]any) bool { return c["Ready"]["status"] == "True" })

	objects := make([]map[string]any, 0, len(all))
	for _, a := range all {
		objects = append(objects, a.object)
	}
	argo, flux := verdicts(t, "argocd.yaml", objects), verdicts(t, "flux.yaml", objects)
	for i, a := range all {
		if argo[i].Status != a.argo || !strings.Contains(argo[i].Message, a.message) {
			t.Errorf("%s: Argo CD says %s (%s), want %s (%s)", a.name, argo[i].Status, argo[i].Message, a.argo, a.message)
		}
		if flux[i].Status != a.flux {
			t.Errorf("%s: Flux says %s (%s), want %s", a.name, flux[i].Status, flux[i].Message, a.flux)
		}
		if t.Failed() {
			c, err := json.Marshal(conditionsOf(&unstructured.Unstructured{Object: a.object}))
			t.Logf("%s: %s %v", a.name, c, err)
		}
	}
}

// Examples for tools that are not here are at least what those tools can read: YAML, and
// of the kinds that they are meant to be.
func TestOtherTools(t *testing.T) {
	for file, want := range map[string][]string{
		"gitops/argocd.yaml": {"v1 ConfigMap argocd/argocd-cm", "argoproj.io/v1alpha1 Application argocd/apis"},
		"gitops/flux.yaml":   {"kustomize.toolkit.fluxcd.io/v1 Kustomization flux-system/apis"},
		"backup/velero.yaml": {"velero.io/v1 Schedule velero/apis", "velero.io/v1 Restore velero/apis"},
	} {
		content, err := os.ReadFile(filepath.Join(root(t), "examples", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := manifest.Parse(content)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var got []string
		for _, o := range objects {
			got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s has %v, want %v", file, got, want)
		}
	}
}

// The backup takes along, and restores the status of, every kind that there is.
func TestBackedUp(t *testing.T) {
	crds, err := filepath.Glob(filepath.Join(root(t), "package", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root(t), "examples", "backup", "velero.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Parse(content)
	if err != nil || len(objects) != 2 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	saved, _, err := unstructured.NestedStringSlice(objects[0].Object, "spec", "template", "includedResources")
	if err != nil {
		t.Fatal(err)
	}
	status, _, err := unstructured.NestedStringSlice(objects[1].Object, "spec", "restoreStatus", "includedResources")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range crds {
		of, plural, ok := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		if !ok {
			t.Fatal(file)
		}
		// Records of use are made anew.
		if name := plural + "." + of; plural != "providerconfigusages" && !strings.Contains(strings.Join(saved, " "), name) {
			t.Errorf("%s is not in the backup", name)
		} else if of == group && !strings.Contains(strings.Join(status, " "), name) {
			t.Errorf("the status of %s is not restored", name)
		}
	}
}
