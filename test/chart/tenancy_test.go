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
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kyaml "sigs.k8s.io/yaml"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// bind a user to a ClusterRole in a namespace.
func bind(t *testing.T, user, role, in string) {
	t.Helper()
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: in, GenerateName: "tenant-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})
}

// try to do something with objects of a kind, as a user, and return what came of it.
func try(t *testing.T, user, verb string, gvr schema.GroupVersionResource, in, name string, subresources ...string) error {
	t.Helper()
	cfg, err := shared.plane.ConfigFor(user)
	if err != nil {
		t.Fatal(err)
	}
	all, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var kind dynamic.ResourceInterface = all.Resource(gvr)
	if in != "" {
		kind = all.Resource(gvr).Namespace(in)
	}
	ctx, dry := t.Context(), []string{metav1.DryRunAll}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": kindOf(gvr.Resource), "metadata": map[string]any{"name": name}}}
	switch verb {
	case "get":
		_, err = kind.Get(ctx, name, metav1.GetOptions{}, subresources...)
	case "list":
		_, err = kind.List(ctx, metav1.ListOptions{})
	case "watch":
		w, e := kind.Watch(ctx, metav1.ListOptions{})
		if err = e; e == nil {
			w.Stop()
		}
	case "create":
		_, err = kind.Create(ctx, o, metav1.CreateOptions{DryRun: dry}, subresources...)
	case "update":
		o.SetResourceVersion("1")
		_, err = kind.Update(ctx, o, metav1.UpdateOptions{DryRun: dry}, subresources...)
	case "patch":
		_, err = kind.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: dry}, subresources...)
	case "delete":
		err = kind.Delete(ctx, name, metav1.DeleteOptions{DryRun: dry}, subresources...)
	case "deletecollection":
		err = kind.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{})
	default:
		t.Fatalf("there is no verb %s", verb)
	}
	return err
}

// kindOf a plural.
func kindOf(plural string) string {
	return map[string]string{
		"restapis": gatewayv1alpha1.RestApiKind, "subscriptionplans": gatewayv1alpha1.SubscriptionPlanKind, "subscriptions": gatewayv1alpha1.SubscriptionKind,
		"providerconfigs": v1alpha1.ProviderConfigKind, "clusterproviderconfigs": v1alpha1.ClusterProviderConfigKind, "providerconfigusages": v1alpha1.ProviderConfigUsageKind,
		"secrets": "Secret", "configmaps": "ConfigMap", "events": "Event",
	}[plural]
}

var (
	gatewayKinds = gatewayv1alpha1.SchemeGroupVersion
	configKinds  = v1alpha1.SchemeGroupVersion
)

// The roles for tenants let them do what they are for, in the namespaces in which they
// have them, and nothing in others.
//
// contract: A5, S12
func TestTenantRoles(t *testing.T) {
	namespaceOf(t, namespace, nil)
	namespaceOf(t, "roles-mine", nil)
	namespaceOf(t, "roles-theirs", nil)
	install(t, shared.chart, "--set", "tenantRoles.aggregate=true")
	for _, role := range []string{"view", "edit", "admin"} {
		bind(t, "chart-"+role, release+"-tenant-"+role, "roles-mine")
		// Kubernetes' own role of that name, of which the chart's is a part.
		bind(t, "kubernetes-"+role, role, "roles-mine")
	}
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete", "deletecollection"}
	// may is what each role allows in the namespace; beside, nothing is.
	may := map[string]map[string][]string{
		"view":  {"restapis": read, "subscriptionplans": read, "subscriptions": read, "providerconfigs": read, "providerconfigusages": read},
		"edit":  {"restapis": append(write, read...), "subscriptionplans": append(write, read...), "subscriptions": append(write, read...), "providerconfigs": read, "providerconfigusages": read},
		"admin": {"restapis": append(write, read...), "subscriptionplans": append(write, read...), "subscriptions": append(write, read...), "providerconfigs": append(write, read...), "providerconfigusages": read},
	}
	resources := []schema.GroupVersionResource{
		gatewayKinds.WithResource("restapis"), gatewayKinds.WithResource("subscriptionplans"), gatewayKinds.WithResource("subscriptions"),
		configKinds.WithResource("providerconfigs"), configKinds.WithResource("providerconfigusages"), configKinds.WithResource("clusterproviderconfigs"),
	}
	for role, allowed := range may {
		for _, of := range []string{"chart-", "kubernetes-"} {
			t.Run(of+role, func(t *testing.T) {
				user := of + role
				// Kubernetes makes its own of the chart's a moment later.
				eventually(t, "the role is there", func() error {
					return try(t, user, "list", gatewayKinds.WithResource("subscriptions"), "roles-mine", "")
				})
				for _, gvr := range resources {
					namespaced := gvr.Resource != "clusterproviderconfigs"
					for _, verb := range append(write, read...) {
						if namespaced {
							want := false
							for _, v := range allowed[gvr.Resource] {
								want = want || v == verb
							}
							if err := try(t, user, verb, gvr, "roles-mine", "it"); kerrors.IsForbidden(err) == want {
								t.Errorf("in its own namespace: want that it may %s %s: %t, got: %v", verb, gvr.Resource, want, err)
							}
							if err := try(t, user, verb, gvr, "roles-theirs", "it"); !kerrors.IsForbidden(err) {
								t.Errorf("in another namespace: it may %s %s: %v", verb, gvr.Resource, err)
							}
						}
						// In all namespaces; an object in none of them is not there.
						if namespaced && verb != "list" && verb != "watch" {
							continue
						}
						if err := try(t, user, verb, gvr, "", "it"); !kerrors.IsForbidden(err) {
							t.Errorf("in all namespaces: it may %s %s: %v", verb, gvr.Resource, err)
						}
					}
					if !namespaced || gvr.Resource == "providerconfigusages" {
						continue
					}
					for _, verb := range []string{"update", "patch"} {
						if err := try(t, user, verb, gvr, "roles-mine", "it", "status"); !kerrors.IsForbidden(err) {
							t.Errorf("it may %s the status of %s, by which the provider knows what is whose: %v", verb, gvr.Resource, err)
						}
					}
				}
			})
		}
	}
}

// What a person with the chart's edit role in one namespace writes there does not lead to
// what is in another, also where both use one gateway.
//
// contract: A5, A11, C4
func TestTenants(t *testing.T) {
	const mine, theirs = "tenant-mine", "tenant-theirs"
	gw := gateway(t, false)
	namespaceOf(t, namespace, nil)
	namespaceOf(t, mine, nil)
	namespaceOf(t, theirs, map[string]string{"tier": "of-gold"})
	install(t, shared.chart)
	p := start(t)
	for _, role := range []string{release + "-tenant-edit", "edit"} {
		bind(t, "thief", role, mine)
	}
	cfg, err := shared.plane.ConfigFor("thief")
	if err != nil {
		t.Fatal(err)
	}
	thief, err := client.New(cfg, client.Options{Scheme: shared.scheme})
	if err != nil {
		t.Fatal(err)
	}

	// They use a configuration that admits them alone, and have a plan, an API and a
	// subscription.
	site := examples(t, gw, "quickstart/1*.yaml")
	for _, o := range site {
		if o.GetKind() == v1alpha1.ClusterProviderConfigKind {
			o.SetName("for-gold")
			if err := unstructured.SetNestedField(o.Object, map[string]any{"tier": "of-gold"}, "spec", "allowedNamespaces", "matchLabels"); err != nil {
				t.Fatal(err)
			}
		}
	}
	through := func(kind, name string, objects ...*unstructured.Unstructured) []*unstructured.Unstructured {
		for _, o := range objects {
			if o.GetKind() == "Secret" {
				continue
			}
			if err := unstructured.SetNestedField(o.Object, map[string]any{"kind": kind, "name": name}, "spec", "providerConfigRef"); err != nil {
				t.Fatal(err)
			}
		}
		return objects
	}
	in := func(ns string, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
		for _, o := range objects {
			o.SetNamespace(ns)
		}
		return objects
	}
	victims := in(theirs, through(v1alpha1.ClusterProviderConfigKind, "for-gold", examples(t, gw, "quickstart/[234]*.yaml")...))
	create(t, site...)
	create(t, victims...)
	ready(t, theirs, 4)
	looked(t, gw)
	held := ready(t, theirs, 4)
	var versions []string
	for _, mg := range held {
		versions = append(versions, fmt.Sprintf("%T %s %s", mg, mg.GetName(), mg.GetResourceVersion()))
	}
	gatewayIs := func() string {
		return fmt.Sprintf("%+v\n%+v\n%+v", gw.APIs(), gw.Plans(), gw.Subscriptions())
	}
	before := gatewayIs()

	// The thief can neither read nor write any of it.
	for _, gvr := range []schema.GroupVersionResource{
		gatewayKinds.WithResource("restapis"), gatewayKinds.WithResource("subscriptionplans"), gatewayKinds.WithResource("subscriptions"),
		configKinds.WithResource("providerconfigs"), configKinds.WithResource("providerconfigusages"),
		corev1.SchemeGroupVersion.WithResource("secrets"), corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithResource("events"),
	} {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
			if err := try(t, "thief", verb, gvr, theirs, "web-shop"); !kerrors.IsForbidden(err) {
				t.Errorf("the thief may %s %s: %v", verb, gvr.Resource, err)
			}
		}
	}
	for _, name := range []string{"for-gold", "no-such"} {
		if err := try(t, "thief", "get", configKinds.WithResource("clusterproviderconfigs"), "", name); !kerrors.IsForbidden(err) {
			t.Errorf("the thief may read ClusterProviderConfig %s: %v", name, err)
		}
	}

	// Nothing that is secret, or somebody else's, is in what the provider tells the thief.
	secrets := []string{theirs, "of-gold", gw.Address(), "gateway-admin", namespace, "replace-me-with-something-long-and-random"}
	for _, mg := range held {
		secrets = append(secrets, string(mg.GetUID()))
	}
	told := func(when string) {
		t.Helper()
		events := &corev1.EventList{}
		if err := shared.kube.List(t.Context(), events, client.InNamespace(mine)); err != nil {
			t.Fatal(err)
		}
		var all []string
		for i := range events.Items {
			all = append(all, events.Items[i].Message)
		}
		for _, mg := range managed(t, mine) {
			u, err := kyaml.Marshal(mg)
			if err != nil {
				t.Fatal(err)
			}
			o := map[string]any{}
			if err := kyaml.Unmarshal(u, &o); err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(o["status"]))
		}
		for _, text := range all {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s, the thief is told of %q: %s", when, secret, text)
				}
			}
		}
	}
	refused := func(when string, number int, because string) {
		t.Helper()
		eventually(t, when+", all is refused", func() error {
			all := managed(t, mine)
			if len(all) != number {
				return errors.Errorf("there are %d", len(all))
			}
			for _, mg := range all {
				if c := mg.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, because) {
					return errors.Errorf("%T %s says %s=%s: %s", mg, mg.GetName(), c.Type, c.Status, c.Message)
				}
			}
			return nil
		})
		told(when)
	}
	asThief := func(objects ...*unstructured.Unstructured) {
		t.Helper()
		for _, o := range objects {
			if err := thief.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	deleteAll := func(when string, objects []*unstructured.Unstructured) {
		t.Helper()
		for _, o := range objects {
			if err := thief.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		gone(t, objects...)
		untouched(t, when, held, versions, before, gatewayIs())
	}

	// A configuration that does not admit the namespace.
	stolen := in(mine, through(v1alpha1.ClusterProviderConfigKind, "for-gold", examples(t, gw, "quickstart/[234]*.yaml")...))
	asThief(stolen...)
	refused("through what is for others", 4, fmt.Sprintf("ClusterProviderConfig %q: namespace %q may not use it", "for-gold", mine))
	deleteAll("through what is for others", stolen)

	// A way to the same gateway of the namespace's own, which the thief may use and not
	// write, and all that can be known of what others hold: names, handles and IDs.
	create[client.Object](t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: mine, Name: "gateway"}, StringData: map[string]string{"password": password}},
		&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: mine, Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: gw.URL()},
			Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
				Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"},
			}},
		}})
	// It is the thief's own configuration that leads there.
	secrets = append(secrets[:2:2], secrets[3:]...)
	stolen = in(mine, through(v1alpha1.ProviderConfigKind, "own", examples(t, gw, "quickstart/[234]*.yaml")...))
	ids := map[string]string{}
	for _, mg := range held {
		ids[kindOfManaged(mg)+" "+mg.GetName()] = meta.GetExternalName(mg)
	}
	for _, o := range stolen {
		if id := ids[o.GetKind()+" "+o.GetName()]; id != "" {
			meta.SetExternalName(o, id)
		}
		if o.GetKind() == gatewayv1alpha1.SubscriptionKind {
			// References lead to objects of the same namespace, IDs to the gateway.
			asked, _, _ := unstructured.NestedMap(o.Object, "spec", "forProvider")
			delete(asked, "apiIdRef")
			delete(asked, "subscriptionPlanIdRef")
			asked["apiId"], asked["subscriptionPlanId"] = ids["RestApi books-v1"], ids["SubscriptionPlan bronze"]
			if err := unstructured.SetNestedMap(o.Object, asked, "spec", "forProvider"); err != nil {
				t.Fatal(err)
			}
		}
	}
	asThief(stolen...)
	refused("by the names of others", 4, "")
	because := []xpv2.ConditionReason{gatewayv1alpha1.ReasonConflict, gatewayv1alpha1.ReasonAdoptionRefused, gatewayv1alpha1.ReasonImmutableField}
	for _, mg := range managed(t, mine) {
		// The way there is one that works: it is refused for what it asks.
		if c := mg.GetCondition(gatewayv1alpha1.TypeApplied); c.Status != corev1.ConditionFalse || !slices.Contains(because, c.Reason) {
			t.Errorf("by the names of others, %T %s says %s=%s (%s): %s", mg, mg.GetName(), c.Type, c.Status, c.Reason, c.Message)
		}
	}
	deleteAll("by the names of others", stolen)

	if !gw.LetThrough("books-v1", "replace-me-with-something-long-and-random") {
		t.Error("their token is not let through any more")
	}
	remove(t, victims...)
	gone(t, victims...)
	remove(t, site...)
	gone(t, site...)
	own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: mine, Name: "own"}}
	remove(t, own)
	gone(t, own)
	p.stop()
	p.forbidden()
	if k := gw.Count(emulator.Match{Writes: true}); k == 0 {
		t.Error("the gateway was not written to by anybody")
	}
}

func kindOfManaged(mg resource.ModernManaged) string {
	switch mg.(type) {
	case *gatewayv1alpha1.RestApi:
		return gatewayv1alpha1.RestApiKind
	case *gatewayv1alpha1.SubscriptionPlan:
		return gatewayv1alpha1.SubscriptionPlanKind
	default:
		return gatewayv1alpha1.SubscriptionKind
	}
}

// untouched are objects in the cluster, and all there is at the gateway.
func untouched(t *testing.T, when string, held []resource.ModernManaged, versions []string, before, after string) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("%s, something at the gateway was changed: -before, +after:\n%s", when, diff)
	}
	var are []string
	for _, mg := range held {
		if err := shared.kube.Get(t.Context(), client.ObjectKeyFromObject(mg), mg); err != nil {
			t.Error(err)
		}
		are = append(are, fmt.Sprintf("%T %s %s", mg, mg.GetName(), mg.GetResourceVersion()))
	}
	if diff := cmp.Diff(versions, are); diff != "" {
		t.Errorf("%s, objects of others were written: -before, +after:\n%s", when, diff)
	}
}
