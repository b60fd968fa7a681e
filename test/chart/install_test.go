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
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kyaml "sigs.k8s.io/yaml"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

const (
	// user and password of the gateway, as the examples have them.
	user, password = "admin", "admin"
	// quick makes the provider look often.
	quick = "provider.poll=1s,provider.minPoll=1s"
)

// gateway starts one.
func gateway(t *testing.T, tls bool) *emulator.Server {
	t.Helper()
	o := emulator.Options{
		Generation: emulator.InPlace,
		GatewayID:  fmt.Sprintf("gateway-of-%s-%t", t.Name(), tls),
		Users:      []emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}},
	}
	begin := emulator.Start
	if tls {
		begin = emulator.StartTLS
	}
	gw, err := begin(shared.life, o)
	if err != nil {
		t.Fatal(err)
	}
	return gw
}

// examples are the objects in files under examples/, of which configurations lead to a
// gateway.
func examples(t *testing.T, gw *emulator.Server, patterns ...string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(shared.root, "examples", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no examples %s: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := manifest.Parse(content)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, o := range objects {
				if o.GetKind() == v1alpha1.ClusterProviderConfigKind {
					if err := unstructured.SetNestedField(o.Object, gw.URL(), "spec", "endpoint"); err != nil {
						t.Fatal(err)
					}
				}
				all = append(all, o)
			}
		}
	}
	return all
}

func create[T client.Object](t *testing.T, objects ...T) {
	t.Helper()
	for _, o := range objects {
		if err := shared.kube.Create(t.Context(), o); err != nil {
			t.Fatalf("cannot create %T %s: %v", o, o.GetName(), err)
		}
	}
}

func remove[T client.Object](t *testing.T, objects ...T) {
	t.Helper()
	for _, o := range objects {
		if err := shared.kube.Delete(t.Context(), o); client.IgnoreNotFound(err) != nil {
			t.Fatalf("cannot delete %T %s: %v", o, o.GetName(), err)
		}
	}
}

// gone waits until objects are gone.
func gone[T client.Object](t *testing.T, objects ...T) {
	t.Helper()
	for _, o := range objects {
		eventually(t, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
			err := shared.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)
			if kerrors.IsNotFound(err) {
				return nil
			}
			return errors.Errorf("it is there (%v)", err)
		})
	}
}

// namespaceOf creates a namespace.
func namespaceOf(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	err := shared.kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	if err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// managed resources of all kinds in a namespace, or in all.
func managed(t *testing.T, in string) []resource.ModernManaged {
	t.Helper()
	apis, plans, subscriptions := &gatewayv1alpha1.RestApiList{}, &gatewayv1alpha1.SubscriptionPlanList{}, &gatewayv1alpha1.SubscriptionList{}
	for _, l := range []client.ObjectList{apis, plans, subscriptions} {
		if err := shared.kube.List(t.Context(), l, client.InNamespace(in)); err != nil {
			t.Fatal(err)
		}
	}
	var all []resource.ModernManaged
	for i := range apis.Items {
		all = append(all, &apis.Items[i])
	}
	for i := range plans.Items {
		all = append(all, &plans.Items[i])
	}
	for i := range subscriptions.Items {
		all = append(all, &subscriptions.Items[i])
	}
	return all
}

// ready waits until a number of managed resources in a namespace are.
func ready(t *testing.T, in string, number int) []resource.ModernManaged {
	t.Helper()
	var all []resource.ModernManaged
	eventually(t, fmt.Sprintf("%d managed resources in %s are ready", number, in), func() error {
		all = managed(t, in)
		if len(all) != number {
			return errors.Errorf("there are %d", len(all))
		}
		for _, mg := range all {
			for _, of := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced} {
				if c := mg.GetCondition(of); c.Status != corev1.ConditionTrue || of == xpv2.TypeSynced && c.ObservedGeneration != mg.GetGeneration() {
					return errors.Errorf("%T %s: %s=%s (%s: %s)", mg, mg.GetName(), of, c.Status, c.Reason, c.Message)
				}
			}
		}
		return nil
	})
	return all
}

// secret of a namespace.
func secret(t *testing.T, in, name string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{}
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Namespace: in, Name: name}, s); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return s
}

// letThrough waits until the gateway lets a token through, or no longer does.
func letThrough(t *testing.T, gw *emulator.Server, token string, want bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("a call with token %s is let through: %t", token, want), func() error {
		if gw.LetThrough("books-v1", token) != want {
			return errors.New("it is not so")
		}
		return nil
	})
}

// definitions that are there, by name.
func definitions(t *testing.T) map[string]apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	l := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := shared.kube.List(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	all := map[string]apiextensionsv1.CustomResourceDefinition{}
	for i := range l.Items {
		all[l.Items[i].GetName()] = l.Items[i]
	}
	return all
}

// none of our CRDs is there.
func none(t *testing.T) {
	t.Helper()
	for _, d := range definitions(t) {
		remove(t, &d)
		gone(t, &d)
	}
}

// install the chart, and uninstall it when the test ends.
func install(t *testing.T, chart string, more ...string) {
	t.Helper()
	t.Cleanup(func() {
		if out, err := helm(t, "uninstall", release, "--namespace", namespace, "--ignore-not-found"); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	mustHelm(t, append([]string{"install", release, chart, "--namespace", namespace, "--create-namespace", "--set", quick + "," + addresses(t)}, more...)...)
}

// former is a chart as an earlier release could have been: with a CRD that tells less.
func former(t *testing.T) (chart string, crd string) {
	t.Helper()
	chart = filepath.Join(t.TempDir(), "provider-apiplatform")
	if err := os.CopyFS(chart, os.DirFS(shared.chart)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(chart, "files", "crds", "gateway.apiplatform.crossplane.io_subscriptions.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := kyaml.Unmarshal(content, d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Versions[0].AdditionalPrinterColumns = nil
	if content, err = kyaml.Marshal(d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return chart, d.GetName()
}

// upgraded is true of a CRD that has what former took away.
func upgraded(t *testing.T, name string) {
	t.Helper()
	want := &apiextensionsv1.CustomResourceDefinition{}
	if err := kyaml.Unmarshal([]byte(filesIn(t, filepath.Join(shared.root, "package", "crds"))["gateway.apiplatform.crossplane.io_subscriptions.yaml"]), want); err != nil {
		t.Fatal(err)
	}
	got := definitions(t)[name]
	if diff := cmp.Diff(want.Spec.Versions[0].AdditionalPrinterColumns, got.Spec.Versions[0].AdditionalPrinterColumns); diff != "" {
		t.Errorf("%s was not upgraded: -want, +got:\n%s", name, diff)
	}
}

// The life of an installation: what is declared comes true under exactly the rights that
// the chart grants, survives upgrade, uninstallation and return, and is gone in the end.
//
// contract: A11
func TestInstall(t *testing.T) {
	none(t)
	began := len(requests(t))
	gw, secured := gateway(t, false), gateway(t, true)
	var before []resource.ModernManaged
	names := func(all []resource.ModernManaged) (names []string) {
		for _, mg := range all {
			names = append(names, fmt.Sprintf("%T %s %s %s", mg, mg.GetName(), mg.GetUID(), meta.GetExternalName(mg)))
		}
		return names
	}
	// same is true if nothing was made anew, or written at the gateway.
	same := func(t *testing.T, when string, writes int) {
		t.Helper()
		if diff := cmp.Diff(names(before), names(managed(t, ""))); diff != "" {
			t.Errorf("%s: -before, +after:\n%s", when, diff)
		}
		if k := gw.Count(emulator.Match{Writes: true}); k != writes {
			t.Errorf("%s: %d writes at the gateway, want %d", when, k, writes)
		}
	}

	// A fresh cluster, and an earlier chart.
	previous, changed := former(t)
	namespaceOf(t, namespace, nil)
	install(t, previous, "--set", "replicas=2")
	if k := len(definitions(t)); k != len(crds()) {
		t.Errorf("%d CRDs were installed", k)
	}
	p := start(t)

	// What people are told to start with, tokens that the provider generates, and a
	// configuration of a namespace with a CA of its own.
	namespaceOf(t, "team", nil)
	create(t, examples(t, gw, "quickstart/*.yaml", "subscription/generated-token.yaml")...)
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "team", Name: name} }
	create[client.Object](t, &corev1.Secret{ObjectMeta: named("gateway"), StringData: map[string]string{"password": password}},
		&corev1.ConfigMap{ObjectMeta: named("ca"), Data: map[string]string{"ca.crt": string(secured.CA())}},
		&v1alpha1.ProviderConfig{ObjectMeta: named("secured"), Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: secured.URL()},
			TLS:                &v1alpha1.TLSSettings{CAConfigMapRef: &v1alpha1.ConfigMapKeyReference{Name: "ca", Key: "ca.crt"}},
			Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
				Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"},
			}},
		}},
		&gatewayv1alpha1.SubscriptionPlan{ObjectMeta: named("silver"), Spec: gatewayv1alpha1.SubscriptionPlanSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "secured"}},
			ForProvider:         gatewayv1alpha1.SubscriptionPlanParameters{PlanName: "Silver"},
		}},
	)
	ready(t, "default", 5)
	ready(t, "team", 1)
	letThrough(t, gw, "replace-me-with-something-long-and-random", true)
	generated := string(secret(t, "default", "reports-connection").Data["token"])
	letThrough(t, gw, generated, true)
	metrics, err := get(t, deployed(t).Spec.Template.Spec.Containers[0], intstr.FromString("metrics"), "/metrics")
	if err != nil || !strings.Contains(metrics, "apiplatform_build_info") {
		t.Errorf("metrics: %v: %.200s", err, metrics)
	}

	// Rotate both tokens, and move one subscription to another plan.
	own := secret(t, "default", "web-shop-token")
	edit(t, own, func() { own.Data["token"] = []byte("another-one-that-is-long-and-random") })
	letThrough(t, gw, "another-one-that-is-long-and-random", true)
	letThrough(t, gw, "replace-me-with-something-long-and-random", false)
	reports := &gatewayv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "reports"}}
	edit(t, reports, func() {
		meta.AddAnnotations(reports, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "once"})
		reports.Spec.ForProvider.SubscriptionPlanIDRef.Name = "gold"
	})
	letThrough(t, gw, generated, false)
	eventually(t, "the new token is in the connection Secret", func() error {
		if !gw.LetThrough("books-v1", string(secret(t, "default", "reports-connection").Data["token"])) {
			return errors.New("what is there is not let through")
		}
		return nil
	})
	ready(t, "default", 5)
	// It names another configuration, and is looked at through the same gateway.
	other := &v1alpha1.ClusterProviderConfig{}
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Name: "default"}, other); err != nil {
		t.Fatal(err)
	}
	other.ObjectMeta = metav1.ObjectMeta{Name: "other"}
	create(t, other)
	gold := &gatewayv1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gold"}}
	edit(t, gold, func() {
		gold.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "other"}
	})
	ready(t, "default", 5)
	before = managed(t, "")
	writes := gw.Count(emulator.Match{Writes: true})

	// Upgrade: the CRDs are those of the new chart, and nothing else is noticed.
	p.stop()
	mustHelm(t, "upgrade", release, shared.chart, "--namespace", namespace, "--reset-then-reuse-values")
	upgraded(t, changed)
	p = start(t)
	looked(t, gw)
	same(t, "after an upgrade", writes)

	// Uninstall: what was declared stays, at the gateway too.
	p.stop()
	secrets := []*corev1.Secret{secret(t, "default", "reports-connection"), secret(t, "default", "web-shop-token"), secret(t, namespace, "gateway-admin")}
	mustHelm(t, "uninstall", release, "--namespace", namespace)
	if k := len(definitions(t)); k != len(crds()) {
		t.Errorf("%d CRDs are left", k)
	}
	for _, s := range secrets {
		if diff := cmp.Diff(s.Data, secret(t, s.GetNamespace(), s.GetName()).Data); diff != "" {
			t.Errorf("Secret %s: -before, +after:\n%s", s.GetName(), diff)
		}
	}
	same(t, "uninstalled", writes)
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, &coordinationv1.Lease{}); err != nil {
		t.Errorf("docs/install.md tells of a Lease that is left: %v", err)
	}
	bound := &rbacv1.ClusterRoleBindingList{}
	if err := shared.kube.List(t.Context(), bound, client.MatchingLabels{"app.kubernetes.io/instance": release}); err != nil || len(bound.Items) > 0 {
		t.Errorf("rights are left: %v, %v", bound.Items, err)
	}

	// Back under the same name, it goes on where it was; also with an API server that
	// cannot stream what there is, as older ones cannot.
	install(t, shared.chart, "--set-string", "env[0].name=KUBE_FEATURE_WatchListClient,env[0].value=false")
	p = start(t)
	looked(t, gw)
	same(t, "after its return", writes)
	letThrough(t, gw, "another-one-that-is-long-and-random", true)

	// Delete all of it.
	everything := examples(t, gw, "quickstart/*.yaml", "subscription/generated-token.yaml")
	remove(t, everything...)
	left := []client.Object{
		other, &v1alpha1.ProviderConfig{ObjectMeta: named("secured")}, &gatewayv1alpha1.SubscriptionPlan{ObjectMeta: named("silver")},
		&corev1.Secret{ObjectMeta: named("gateway")}, &corev1.ConfigMap{ObjectMeta: named("ca")},
	}
	remove(t, left...)
	gone(t, everything...)
	gone(t, left...)
	gone(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "reports-connection"}})
	usages := &v1alpha1.ProviderConfigUsageList{}
	eventually(t, "no record of use is left", func() error {
		if err := shared.kube.List(t.Context(), usages); err != nil || len(usages.Items) > 0 {
			return errors.Errorf("%d are: %v", len(usages.Items), err)
		}
		return nil
	})
	if a, p, s := gw.APIs(), append(gw.Plans(), secured.Plans()...), gw.Subscriptions(); len(a)+len(p)+len(s) > 0 {
		t.Errorf("left at the gateway: %v %v %v", a, p, s)
	}
	p.stop()
	judge(t, p, requests(t)[began:])
}

// looked waits until the provider has compared all there is at a gateway with what is
// declared, after a start.
func looked(t *testing.T, gw *emulator.Server) {
	t.Helper()
	for _, kind := range []emulator.Kind{emulator.RestAPIs, emulator.SubscriptionPlans, emulator.Subscriptions} {
		match := emulator.Match{Method: http.MethodGet, Kind: kind}
		seen := gw.Count(match)
		eventually(t, fmt.Sprintf("%s are looked at thrice", kind), func() error {
			if k := gw.Count(match) - seen; k < 3 {
				return errors.Errorf("they were %d times", k)
			}
			return nil
		})
	}
}

// edit an object until the API server accepts it.
func edit(t *testing.T, o client.Object, change func()) {
	t.Helper()
	for {
		if err := shared.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		change()
		err := shared.kube.Update(t.Context(), o)
		if err == nil {
			return
		}
		if !kerrors.IsConflict(err) {
			t.Fatalf("cannot edit %T %s: %v", o, o.GetName(), err)
		}
	}
}

// unasked are rights that the provider was granted and that the API server need not have
// been asked for, and why they are granted all the same.
func unasked() map[string]string {
	why := map[string]string{}
	for _, kind := range []string{"providerconfigs", "clusterproviderconfigs", "providerconfigusages", "restapis", "subscriptionplans", "subscriptions"} {
		group := gatewayv1alpha1.Group
		if strings.HasPrefix(kind, "provider") || strings.HasPrefix(kind, "cluster") {
			group = v1alpha1.Group
		}
		why["get "+kind+"."+group] = "it is read from a cache; but who may list all may read each, and so reading past the cache needs no other role"
	}
	for _, kind := range []string{"restapis", "subscriptionplans", "subscriptions"} {
		why["update "+kind+"/finalizers.gateway.apiplatform.crossplane.io"] = "asked about by OwnerReferencesPermissionEnforcement and by nobody else: TestOwnerReferences"
	}
	return why
}

// judge whether the provider asked for nothing that it was not granted, and was granted
// nothing that it did not ask for.
func judge(t *testing.T, p *pod, made []request) {
	t.Helper()
	p.forbidden()
	asked := map[right]bool{}
	leases := map[right]bool{}
	for _, r := range made {
		if r.Code == http.StatusForbidden {
			t.Errorf("it may not %s in %q", r, r.Namespace)
		}
		asked[r.right] = true
		if r.Namespace == namespace {
			leases[r.right] = true
		}
	}
	reader, writer, lease := &rbacv1.ClusterRole{}, &rbacv1.ClusterRole{}, &rbacv1.Role{}
	for name, o := range map[string]client.Object{release: reader, release + "-writer": writer} {
		if err := shared.kube.Get(t.Context(), client.ObjectKey{Name: name}, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release + "-leader-election"}, lease); err != nil {
		t.Fatal(err)
	}
	why := unasked()
	for _, of := range []struct {
		name  string
		rules []rbacv1.PolicyRule
		asked map[right]bool
	}{{"reader", reader.Rules, asked}, {"writer", writer.Rules, asked}, {"leader election", lease.Rules, leases}} {
		granted := rights(of.rules)
		if len(granted) == 0 {
			t.Errorf("the role of the %s grants nothing", of.name)
		}
		for _, r := range granted {
			if !of.asked[r] && why[r.String()] == "" {
				t.Errorf("the role of the %s grants to %s, which nobody asked for", of.name, r)
			}
		}
	}
	all := append(rights(reader.Rules), rights(writer.Rules)...)
	for r := range why {
		if !slices.ContainsFunc(all, func(g right) bool { return g.String() == r }) {
			t.Errorf("there is a reason to grant to %s, which is not granted", r)
		}
	}
}

// Where the API server has OwnerReferencesPermissionEnforcement, the rights to finalizers
// are what lets the provider create what its objects own.
func TestOwnerReferences(t *testing.T) {
	gw := gateway(t, false)
	namespaceOf(t, namespace, nil)
	install(t, shared.chart)
	p := start(t)
	writer := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: release + "-writer"}}
	edit(t, writer, func() {
		before := len(writer.Rules)
		writer.Rules = slices.DeleteFunc(writer.Rules, func(r rbacv1.PolicyRule) bool { return strings.HasSuffix(r.Resources[0], "/finalizers") })
		if len(writer.Rules) != before-1 {
			t.Fatalf("%d of %d rules are left", len(writer.Rules), before)
		}
	})
	objects := examples(t, gw, "quickstart/*.yaml")
	create(t, objects...)
	eventually(t, "nothing works for want of rights to finalizers", func() error {
		all := managed(t, "default")
		if len(all) != 4 {
			return errors.Errorf("there are %d managed resources", len(all))
		}
		for _, mg := range all {
			if c := mg.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "cannot set blockOwnerDeletion") {
				return errors.Errorf("%s: %+v", mg.GetName(), c)
			}
		}
		return nil
	})
	// Helm gives back what was taken away.
	mustHelm(t, "upgrade", release, shared.chart, "--namespace", namespace, "--reset-then-reuse-values", "--force-conflicts")
	ready(t, "default", 4)
	remove(t, objects...)
	gone(t, objects...)
	p.stop()
}

// With watched namespaces the provider writes in these alone.
func TestWatchedNamespaces(t *testing.T) {
	gw := gateway(t, false)
	namespaceOf(t, namespace, nil)
	namespaceOf(t, "watched", nil)
	namespaceOf(t, "unwatched", nil)
	install(t, shared.chart, "--set", "provider.watchNamespaces={watched}")
	began := len(requests(t))
	p := start(t)
	in := func(ns string) []*unstructured.Unstructured {
		objects := examples(t, gw, "quickstart/[234]*.yaml", "subscription/generated-token.yaml")
		for _, o := range objects {
			o.SetNamespace(ns)
		}
		return objects
	}
	site := examples(t, gw, "quickstart/1*.yaml")
	watched, unwatched := in("watched"), in("unwatched")
	create(t, site...)
	create(t, unwatched...)
	create(t, watched...)
	ready(t, "watched", 5)
	if len(secret(t, "watched", "reports-connection").Data["token"]) == 0 {
		t.Error("there is no connection Secret")
	}
	edit(t, secret(t, "watched", "web-shop-token"), func() {})
	remove(t, watched...)
	gone(t, watched...)
	remove(t, unwatched...)
	gone(t, unwatched...)
	remove(t, site...)
	gone(t, site...)
	p.stop()

	for _, r := range requests(t)[began:] {
		write := !slices.Contains([]string{"get", "list", "watch"}, r.Verb) && r.Resource != "selfsubjectaccessreviews"
		if r.Code == http.StatusForbidden || write && r.Namespace == "unwatched" {
			t.Errorf("it asked to %s in %q and was answered %d", r, r.Namespace, r.Code)
		}
	}
	p.forbidden()
	writer := &rbacv1.ClusterRole{}
	if err := shared.kube.Get(t.Context(), client.ObjectKey{Name: release + "-writer"}, writer); err != nil {
		t.Fatal(err)
	}
	for ns, want := range map[string]bool{"watched": true, "unwatched": false, namespace: false, "kube-system": false} {
		for _, r := range rights(writer.Rules) {
			resource, subresource, _ := strings.Cut(r.Resource, "/")
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               "system:serviceaccount:" + namespace + ":" + release,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource},
			}}
			create(t, review)
			// Leader election has events of its own.
			if review.Status.Allowed != want && (ns != namespace || resource != "events") {
				t.Errorf("it may %s in %s: %t", r, ns, review.Status.Allowed)
			}
		}
	}
}

// CRDs that somebody applied before, of an earlier version, are taken over if that is
// asked for.
func TestAppliedCRDs(t *testing.T) {
	none(t)
	earlier, changed := former(t)
	if err := shared.plane.InstallCRDs(t.Context(), filepath.Join(earlier, "files", "crds")); err != nil {
		t.Fatal(err)
	}
	namespaceOf(t, namespace, nil)
	if _, err := helm(t, "install", release, shared.chart, "--namespace", namespace); err == nil || !strings.Contains(err.Error(), "meta.helm.sh/release-name") {
		t.Fatalf("want a complaint that they are not Helm's, got: %v", err)
	}
	install(t, shared.chart, "--take-ownership", "--force-conflicts")
	upgraded(t, changed)
	for name, d := range definitions(t) {
		if d.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s is not kept: %v", name, d.GetAnnotations())
		}
	}
	// Nor does it delete them who no longer wants the chart to have them.
	mustHelm(t, "upgrade", release, shared.chart, "--namespace", namespace, "--reset-then-reuse-values", "--set", "crds.install=false")
	if k := len(definitions(t)); k != len(crds()) {
		t.Errorf("%d CRDs are left", k)
	}
}

// The API server accepts all that the chart can create, and the pod where it demands what
// is called restricted.
func TestAccepted(t *testing.T) {
	for _, ns := range []string{namespace, "team-a", "team-b", "leases"} {
		namespaceOf(t, ns, nil)
	}
	namespaceOf(t, "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	strict := client.WithFieldValidation(shared.kube, metav1.FieldValidationStrict)
	for _, values := range []string{"", everything} {
		for key, o := range render(t, values) {
			if o.GroupVersionKind().Group == "monitoring.coreos.com" {
				continue
			}
			if o.GetKind() == "CustomResourceDefinition" {
				// Those of other tests are there.
				o.SetName(strings.Replace(o.GetName(), ".", ".dry-run.", 1))
				group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
				if err := unstructured.SetNestedField(o.Object, "dry-run."+group, "spec", "group"); err != nil {
					t.Fatal(err)
				}
			}
			if err := strict.Create(t.Context(), o, client.DryRunAll); err != nil && !kerrors.IsAlreadyExists(err) {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	d := the[appsv1.Deployment](t, render(t, ""), "Deployment provider-apiplatform")
	if err := strict.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "restricted", Name: "it"}, Spec: d.Spec.Template.Spec}, client.DryRunAll); err != nil {
		t.Error(err)
	}
	d.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities = nil
	if err := strict.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "restricted", Name: "it"}, Spec: d.Spec.Template.Spec}, client.DryRunAll); !kerrors.IsForbidden(err) {
		t.Errorf("nothing is restricted here: %v", err)
	}
}
