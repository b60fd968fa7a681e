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

package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
)

func root(t *testing.T) string {
	t.Helper()
	r, err := controlplane.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAdmission has an API server take the kinds that Crossplane makes of the definitions,
// which bounds what their rules may cost, and judge what is asked for by them.
func TestAdmission(t *testing.T) {
	crds := t.TempDir()
	if err := WriteCRDs(root(t), crds); err != nil {
		t.Fatal(err)
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{crds}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Stop)
	cfg := cp.RESTConfig()
	cfg.WarningHandler = rest.NoWarnings{}
	kube, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kube = client.WithFieldValidation(kube, metav1.FieldValidationStrict)

	const (
		api   = `{name: v1, forProvider: {displayName: Books, version: v1.0, context: /books, upstream: {main: {url: "http://books"}}, operations: [{method: GET, path: /}]}}`
		plans = `plans: [{name: gold}]`
	)
	product := func(spec string) string {
		return "apiVersion: access.apiplatform.crossplane.io/v1alpha1\nkind: APIProduct\nspec: {" + spec + "}"
	}
	access := func(spec string) string {
		return "apiVersion: access.apiplatform.crossplane.io/v1alpha1\nkind: APIAccess\nspec: {" + spec + "}"
	}
	cases := map[string]struct {
		reason string
		object string
		// want is what the refusal says, nothing if there is none.
		want string
	}{
		"Product": {
			reason: "A product needs APIs and plans, and no more.",
			object: product("apis: [" + api + "], " + plans),
		},
		"NoAPI": {
			reason: "A product without APIs is nothing to have access to.",
			object: product("apis: [], " + plans),
			want:   "spec.apis",
		},
		"NoPlan": {
			reason: "An API whose list of plans is empty would take all that the gateway has.",
			object: product("apis: [" + api + "], plans: []"),
			want:   "spec.plans",
		},
		"SameNameTwice": {
			reason: "Two APIs of one name would be one RestApi.",
			object: product("apis: [" + api + ", " + api + "], " + plans),
			want:   "Duplicate value",
		},
		"DottedName": {
			reason: "A dot parts product and API in the name of what is composed.",
			object: product("apis: [" + strings.Replace(api, "name: v1,", "name: v1.0,", 1) + "], " + plans),
			want:   "spec.apis[0].name",
		},
		"RulesOfTheRestApi": {
			reason: "What a RestApi would be refused for, a product is refused for.",
			object: product("apis: [" + strings.Replace(api, "context: /books", "context: books/", 1) + "], " + plans),
			want:   "context must begin with a slash",
		},
		"PlansOfTheRestApi": {
			reason: "The plans are the product's to say.",
			object: product("apis: [" + strings.Replace(api, "context: /books", "context: /books, subscriptionPlans: [Gold]", 1) + "], " + plans),
			want:   "unknown field",
		},
		"RulesOfThePlan": {
			reason: "What a SubscriptionPlan would be refused for, a product is refused for.",
			object: product("apis: [" + api + "], plans: [{name: gold, forProvider: {throttleLimitCount: 7}}]"),
			want:   "throttleLimitCount and throttleLimitUnit must be given together",
		},
		"SharedPlan": {
			reason: "A plan can be one that is there.",
			object: product("apis: [" + api + "], plans: [{name: gold, subscriptionPlanRef: {name: the-gold}}]"),
		},
		"SharedAndOwnPlan": {
			reason: "But not both.",
			object: product("apis: [" + api + "], plans: [{name: gold, subscriptionPlanRef: {name: the-gold}, forProvider: {planName: Gold}}]"),
			want:   "give neither forProvider nor adoptionPolicy",
		},
		"Access": {
			reason: "An access needs product, plan and application.",
			object: access("productRef: {name: books}, plan: gold, application: web-shop"),
		},
		"NoApplication": {
			reason: "Who subscribes has to be said.",
			object: access("productRef: {name: books}, plan: gold"),
			want:   "spec.application",
		},
		"ApplicationWithSpaces": {
			reason: "What a Subscription would be refused for, an access is refused for, in its own words.",
			object: access("productRef: {name: books}, plan: gold, application: ' web-shop'"),
			want:   "application must not begin or end with white space",
		},
		"BadID": {
			reason: "The same goes for the ID.",
			object: access("productRef: {name: books}, plan: gold, application: web-shop, externalRefId: a/b"),
			want:   "externalRefId must be 1 to 64 letters",
		},
		"NoAdoption": {
			reason: "Who may ask for an access shall not come by what somebody else has.",
			object: access("productRef: {name: books}, plan: gold, application: web-shop, adoptionPolicy: IfUnique"),
			want:   "unknown field",
		},
		"OneSecretForBoth": {
			reason: "Nothing is written into a Secret with a token of the team's own.",
			object: access("productRef: {name: books}, plan: gold, application: web-shop, tokenSecretRef: {name: a}, secretName: a"),
			want:   "secretName must not be the Secret that tokenSecretRef names",
		},
		"NoSecretOfAnotherNamespace": {
			reason: "A Secret is one of the same namespace.",
			object: access("productRef: {name: books}, plan: gold, application: web-shop, tokenSecretRef: {name: a, namespace: b}"),
			want:   "unknown field",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kinds := []string{tc.object}
			if strings.Contains(tc.object, "kind: APIAccess") {
				// A claim says and is refused the same.
				kinds = append(kinds, strings.Replace(tc.object, "access.apiplatform", "legacy.apiplatform", 1))
			}
			for _, object := range kinds {
				o := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(object), &o.Object); err != nil {
					t.Fatal(err)
				}
				o.SetNamespace("default")
				o.SetName("it")
				err := kube.Create(t.Context(), o, client.DryRunAll)
				switch {
				case tc.want == "" && err != nil:
					t.Errorf("%s\n%s is refused: %v", tc.reason, o.GetAPIVersion(), err)
				case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
					t.Errorf("%s\n%s: want a refusal that says %q, got: %v", tc.reason, o.GetAPIVersion(), tc.want, err)
				}
			}
		})
	}
}

// TestPackages holds the packages together: each definition has the Composition that it
// names, that one is for its kind, and its function is the one that the configuration
// depends on.
func TestPackages(t *testing.T) {
	dir := filepath.Join(root(t), "package")
	read := func(into any, path ...string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(append([]string{dir}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(b, into); err != nil {
			t.Fatalf("%v: %v", path, err)
		}
	}
	configuration, function := &pkgmetav1.Configuration{}, &pkgmetav1.Function{}
	read(configuration, "configuration", "crossplane.yaml")
	read(function, "function", "crossplane.yaml")

	installed := map[string]bool{}
	const repository = "xpkg.crossplane.io/"
	for _, d := range configuration.Spec.DependsOn {
		if d.Package == nil || !strings.HasPrefix(*d.Package, repository+"crossplane-contrib/") {
			t.Errorf("a dependency is not one of ours: %+v", d)
			continue
		}
		// The name that Crossplane gives a package that it installs as a dependency.
		installed[*d.Kind+" "+strings.ReplaceAll(strings.TrimPrefix(*d.Package, repository), "/", "-")] = true
	}
	if !installed["Function crossplane-contrib-"+function.GetName()] || len(installed) != 2 {
		t.Errorf("the configuration depends on %v", installed)
	}

	definitions, err := Definitions(root(t))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*xpv1.CompositeResourceDefinition{}
	for _, d := range definitions {
		gvk := d.GetCompositeGroupVersionKind()
		kinds[gvk.GroupVersion().String()+" "+gvk.Kind] = d
	}
	files, err := filepath.Glob(filepath.Join(dir, "configuration", "*", "composition.yaml"))
	if err != nil || len(files) != len(definitions) {
		t.Fatalf("%d definitions have %d Compositions (%v)", len(definitions), len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(b, &c.Object); err != nil {
			t.Fatal(err)
		}
		composition := &xpv1.Composition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(c.Object, composition, true); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		of := composition.Spec.CompositeTypeRef
		d := kinds[of.APIVersion+" "+of.Kind]
		if d == nil || d.Spec.DefaultCompositionRef == nil || d.Spec.DefaultCompositionRef.Name != composition.GetName() {
			t.Errorf("%s is not the one that the definition of %s %s names", f, of.APIVersion, of.Kind)
		}
		for _, s := range composition.Spec.Pipeline {
			if !installed["Function "+s.FunctionRef.Name] {
				t.Errorf("%s uses function %q, which the configuration does not depend on", f, s.FunctionRef.Name)
			}
		}
	}
}
