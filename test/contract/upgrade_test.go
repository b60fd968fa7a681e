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

package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kyaml "sigs.k8s.io/yaml"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
	"github.com/crossplane-contrib/provider-apiplatform/test/narrow"
)

const (
	// releases holds, for each release, what its provider stored, in a folder that is
	// never changed again: gateways of a generation that its name begins with, as they
	// were recorded, and by hand what a recording does not come by.
	releases = "../testdata/releases"
	// thisRelease is the one that UPDATE_FIXTURES=1 records.
	thisRelease = "v0.1.0"

	// What in a recording stands for what is another each time.
	recordedNamespace, recordedURL, recordedGateway = "the-namespace", "http://gateway.example.org:9090", "the-gateway"
	// recordedCluster is the same each time: marks at the gateway bear its name.
	recordedCluster = "the-cluster"

	// Annotations whose names are as permanent as the recordings.
	recordedTokenMemory = "gateway.apiplatform.crossplane.io/token-memory"
	recordedAttempt     = "gateway.apiplatform.crossplane.io/create-attempt"
)

// storedKinds are the kinds that are recorded, in the order in which they are
// stored: what others refer to by UID comes first.
var storedKinds = []schema.GroupVersionKind{
	v1alpha1.ProviderConfigGroupVersionKind,
	v1alpha1.ClusterProviderConfigGroupVersionKind,
	gatewayv1alpha1.SubscriptionPlanGroupVersionKind,
	gatewayv1alpha1.RestApiGroupVersionKind,
	gatewayv1alpha1.SubscriptionGroupVersionKind,
	corev1.SchemeGroupVersion.WithKind("Secret"),
	v1alpha1.ProviderConfigUsageGroupVersionKind,
}

// What earlier releases stored works on under this one: nothing is written at the
// gateway, no spec changes, and all is ready, also a create that was not answered. So it
// is where status was lost, as by a restore, but that a token of which nobody knows any
// more that the gateway has it is then sent once more. What is deleted leaves nothing.
//
// After a change of what is stored, before a release, UPDATE_FIXTURES=1 records anew.
//
// contract: A9, S11, S12, S17, S26, S27, A11
// case: H7, D1
func TestUpgrade(t *testing.T) {
	t.Parallel()
	generations := map[string]emulator.Generation{"inplace": emulator.InPlace, "legacy": emulator.Legacy}
	if os.Getenv("UPDATE_FIXTURES") != "" {
		for name, g := range generations {
			t.Run("Record/"+name, func(t *testing.T) { recordRelease(t, g, filepath.Join(releases, thisRelease, name)) })
		}
	}
	found, err := filepath.Glob(filepath.Join(releases, "*", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s holds %d recordings: %v", releases, len(found), err)
	}
	for _, dir := range found {
		release, name := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		generation, _, _ := strings.Cut(name, "-")
		g, ok := generations[generation]
		if !ok {
			t.Errorf("%s is of no generation", dir)
			continue
		}
		for variant, keep := range map[string]bool{"WithStatus": true, "WithoutStatus": false} {
			t.Run(release+"/"+name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				upgrade(t, g, dir, keep)
			})
		}
	}
}

// lookedAt waits until the provider has looked at what a managed resource is about
// three times more: in a list of its own, if it may only observe.
func (w *world) lookedAt(o resource.Managed) {
	w.t.Helper()
	if !slices.Equal(o.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve}) {
		w.polled(externalName(o), 3)
		return
	}
	lists := emulator.Match{Method: http.MethodGet, Kind: emulator.Subscriptions, Where: func(r emulator.Request) bool { return r.ID == "" && len(r.Query) > 0 }}
	before := w.gw.Count(lists)
	w.eventually("subscriptions are listed three more times", func() error {
		if n := w.gw.Count(lists) - before; n < 3 {
			return fmt.Errorf("they were listed %d times", n)
		}
		return nil
	})
}

// onlyObserved tells whether nothing may be written because of a managed resource.
func onlyObserved(o *unstructured.Unstructured) bool {
	policies, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "managementPolicies")
	return slices.Equal(policies, []string{string(xpv2.ManagementActionObserve)})
}

// well waits until managed resources are ready, and nothing is said against it.
func (w *world) well(objects ...resource.Managed) {
	w.t.Helper()
	for _, o := range objects {
		w.eventually(fmt.Sprintf("%T %s is well", o, o.GetName()), func() error {
			if err := w.get(o); err != nil {
				return err
			}
			for _, t := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, gatewayv1alpha1.TypeApplied} {
				if o.GetCondition(t).Status != corev1.ConditionTrue {
					return fmt.Errorf("conditions: %s", conditionsOf(o))
				}
			}
			for _, t := range []xpv2.ConditionType{gatewayv1alpha1.TypeContested, gatewayv1alpha1.TypeDrifted} {
				if o.GetCondition(t).Status == corev1.ConditionTrue {
					return fmt.Errorf("conditions: %s", conditionsOf(o))
				}
			}
			return nil
		})
	}
}

func inCluster(o *controller.Options) { o.ClusterID = recordedCluster }

// A recording is what a gateway has, beside what is stored in a cluster.
type recording struct {
	APIs          []emulator.API
	Plans         []emulator.Plan
	Subscriptions []emulator.Subscription
	// Tokens of subscriptions, by their IDs. They are made up.
	Tokens map[string]string
}

func recordingOf(gw *emulator.Server, tokens map[string]string) recording {
	return recording{APIs: gw.APIs(), Plans: gw.Plans(), Subscriptions: gw.Subscriptions(), Tokens: tokens}
}

// recordRelease records what this build stores.
func recordRelease(t *testing.T, g emulator.Generation, dir string) {
	w := newWorld(t, emulator.Options{Generation: g, GatewayID: recordedGateway})
	w.reconfigure(inCluster)
	tokens := map[string]string{}
	byHand := func(name string) string {
		s, ok := w.gw.AddSubscription(emulator.Subscription{APIHandle: "api", ApplicationID: "app-" + name, BillingCustomerID: "by-hand", Status: "INACTIVE"}, "token-of-"+name)
		if !ok {
			t.Fatal("cannot add a subscription")
		}
		return s.ID
	}
	through := func(o resource.ModernManaged) {
		o.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: w.ns})
	}

	// What is referred to.
	gold, silver := w.plan("gold", "Gold"), w.plan("silver", "Silver")
	gold.Spec.ForProvider.ThrottleLimitCount, gold.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(1)<<53), ptr(gatewayv1alpha1.ThrottleLimitUnitMonth)
	bronze, _ := w.gw.AddPlan("Bronze")
	imported := w.plan("bronze", "Bronze")
	meta.SetExternalName(imported, bronze.ID)
	api := w.api("api")
	api.Spec.ForProvider.SubscriptionPlans = []gatewayv1alpha1.PlanName{"Bronze"}
	api.Spec.ForProvider.SubscriptionPlanRefs = []gatewayv1alpha1.Reference{{Name: "gold"}, {Name: "silver"}}
	w.gw.AddAPI("taken-over")
	other := w.api("other")
	meta.SetExternalName(other, "taken-over")
	other.Spec.ForProvider.DisplayName = "Other"
	w.create(w.clusterConfig(w.ns, nil), gold, silver, imported, api, other)
	w.ready(gold, silver, imported, api, other)
	through(other)

	// How a subscription can have come about.
	var all []resource.Managed
	add := func(name string, change func(s *gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
		s := w.subscription(name, "api", change)
		w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
		w.well(s)
		all = append(all, s)
		return s
	}
	generated := func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
		s.SetWriteConnectionSecretToReference(&xpv2.LocalSecretReference{Name: s.GetName() + "-connection"})
	}
	add("by-value", func(s *gatewayv1alpha1.Subscription) {
		f := &s.Spec.ForProvider
		f.ExternalRefID, f.SubscriptionPlanID, f.BillingCustomerID, f.Status = ptr("chosen-id"), &bronze.ID, ptr("customer"), ptr(gatewayv1alpha1.SubscriptionRevoked)
	})
	add("by-reference", func(s *gatewayv1alpha1.Subscription) {
		f := &s.Spec.ForProvider
		f.APIID, f.APIIDRef, f.SubscriptionPlanIDRef = nil, &gatewayv1alpha1.Reference{Name: "api"}, &gatewayv1alpha1.Reference{Name: "gold"}
		through(s)
	})
	add("by-name", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanName = ptr("Bronze") })
	add("generated", generated)
	byHand("adopted")
	add("adopted", func(*gatewayv1alpha1.Subscription) {})
	id := byHand("imported")
	add("imported", func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, id) })
	id = byHand("observed")
	add("observed", func(s *gatewayv1alpha1.Subscription) {
		meta.SetExternalName(s, id)
		s.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionInactive)
	})
	if w.inPlace {
		add("edited", func(*gatewayv1alpha1.Subscription) {})
		tokens["edited"] = "edited-token"
		edit(w, w.secret("edited", nil), func(s *corev1.Secret) { s.Data["token"] = []byte(tokens["edited"]) })
		rotated := add("rotated", generated)
		edit(w, rotated, func(s *gatewayv1alpha1.Subscription) {
			meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: "once"})
		})
		w.eventually("the token is rotated", func() error {
			if err := w.get(rotated); err != nil || rotated.Status.AtProvider.HandledRotation != "once" {
				return fmt.Errorf("not yet: %w", err)
			}
			return nil
		})
		w.eventually("the edited token is in force", func() error {
			if !w.gw.LetThrough("api", tokens["edited"]) {
				return fmt.Errorf("it is not")
			}
			return nil
		})
	}
	for _, o := range all {
		w.lookedAt(o)
	}
	w.well(all...)
	w.stop()

	// Whose token is which: as in the Secrets.
	at := map[string]string{}
	for _, o := range all {
		s := &corev1.Secret{ObjectMeta: w.named(o.GetName())}
		if ref := o.(*gatewayv1alpha1.Subscription).GetWriteConnectionSecretToReference(); ref != nil {
			s.Name = ref.Name
		}
		if err := w.get(s); err != nil {
			t.Fatal(err)
		}
		at[externalName(o)] = string(s.Data["token"])
		if !w.gw.HoldsToken(externalName(o), at[externalName(o)]) {
			t.Fatalf("%s has another token", o.GetName())
		}
	}
	w.write(dir, recordingOf(w.gw, at))
}

// write what is stored, and what the gateway has, into files.
func (w *world) write(dir string, r recording) {
	w.t.Helper()
	texts := []string{w.ns, recordedNamespace, w.gw.URL(), recordedURL}
	versions := map[string]string{}
	var objects []unstructured.Unstructured
	for _, gvk := range storedKinds {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := w.kube.List(w.t.Context(), l); err != nil {
			w.t.Fatal(err)
		}
		n := len(objects)
		for _, o := range l.Items {
			if o.GetNamespace() != w.ns && o.GetName() != w.ns {
				continue
			}
			texts = append(texts, string(o.GetUID()), placeholder("uid", o))
			versions[string(o.GetUID())+" "+o.GetResourceVersion()] = placeholder("version", o)
			o.SetManagedFields(nil)
			o.SetResourceVersion("")
			objects = append(objects, o)
		}
		if len(objects) == n {
			w.t.Errorf("nothing of kind %s is stored", gvk.Kind)
		}
	}
	replacer := strings.NewReplacer(texts...)
	var out bytes.Buffer
	for i := range objects {
		timeless(objects[i].Object, versions)
		raw, err := kyaml.Marshal(objects[i].Object)
		if err != nil {
			w.t.Fatal(err)
		}
		out.WriteString("---\n")
		out.WriteString(replacer.Replace(string(raw)))
	}
	gateway, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // It is to be read by everybody.
		w.t.Fatal(err)
	}
	for name, content := range map[string]string{"objects.yaml": out.String(), "gateway.json": replacer.Replace(string(gateway)) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// placeholder in a recording for what an API server gives an object.
func placeholder(what string, o unstructured.Unstructured) string {
	return what + "(" + strings.ToLower(o.GetKind()) + "/" + o.GetName() + ")"
}

// timeless replaces the resource versions of objects that are referred to as they
// are now, by UID, wherever that is.
func timeless(v any, versions map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		uid, _ := v["uid"].(string)
		at, _ := v["resourceVersion"].(string)
		if version, ok := versions[uid+" "+at]; ok {
			v["resourceVersion"] = version
		}
		for k, below := range v {
			var inner map[string]any
			if text, ok := below.(string); ok && json.Unmarshal([]byte(text), &inner) == nil {
				timeless(inner, versions)
				if raw, err := json.Marshal(inner); err == nil && k == recordedTokenMemory {
					v[k] = string(raw)
				}
			}
			timeless(below, versions)
		}
	case []any:
		for _, below := range v {
			timeless(below, versions)
		}
	}
}

// A replay lets a gateway give the IDs and times that were recorded.
type replay struct {
	mu sync.Mutex
	id string
	at time.Time
}

func (r *replay) set(id string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.id, r.at = id, at
}

func (r *replay) newID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.id != "" {
		return r.id
	}
	return string(uuid.NewUUID())
}

func (r *replay) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() {
		return r.at
	}
	return time.Now()
}

// upgrade to this build from what an earlier one stored.
func upgrade(t *testing.T, g emulator.Generation, dir string, keepStatus bool) {
	r := &replay{}
	// Nobody else's objects are about the same gateway.
	w := newWorld(t, emulator.Options{Generation: g, GatewayID: "gateway-" + string(uuid.NewUUID()), Now: r.now, NewID: r.newID})
	w.stop()
	w.configure = inCluster
	objects, texts := w.unpacked(dir, keepStatus)
	tokens := w.filled(dir, texts, r)
	before := recordingOf(w.gw, nil)

	mayPut := w.mayPut(objects, keepStatus)
	writable := maps.Clone(mayPut)

	w.start(w.ns)
	var all []resource.Managed
	for _, o := range objects {
		var mg resource.Managed
		switch o.GetKind() {
		case gatewayv1alpha1.RestApiKind:
			mg = &gatewayv1alpha1.RestApi{}
		case gatewayv1alpha1.SubscriptionPlanKind:
			mg = &gatewayv1alpha1.SubscriptionPlan{}
		case gatewayv1alpha1.SubscriptionKind:
			mg = &gatewayv1alpha1.Subscription{}
		default:
			continue
		}
		all = append(all, mg)
		mg.SetNamespace(o.GetNamespace())
		mg.SetName(o.GetName())
		id := askedID(&o)
		w.well(mg)
		w.lookedAt(mg)
		w.well(mg)
		if externalName(mg) != id {
			t.Errorf("%s %s: external-name %q, was %q", o.GetKind(), o.GetName(), externalName(mg), id)
		}
		now := o.DeepCopy()
		if err := w.get(now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.Object["spec"], now.Object["spec"]); diff != "" {
			t.Errorf("%s %s: the spec changes: -stored, +now:\n%s", o.GetKind(), o.GetName(), diff)
		}
	}
	if len(all) == 0 {
		t.Error("no managed resource was stored")
	}
	asked := false
	for _, req := range w.gw.Requests(emulator.Match{Writes: true}) {
		if !mayPut[req.ID] || req.Method != http.MethodPut {
			t.Errorf("%s of %s %q at the gateway", req.Method, req.Kind, req.ID)
		}
		// One that is refused asks what the gateway can do, once, and changes nothing.
		if req.Committed || w.inPlace && asked {
			delete(mayPut, req.ID)
		}
		asked = asked || !req.Committed
	}
	for id, token := range tokens {
		if !w.gw.HoldsToken(id, token) {
			t.Errorf("subscription %q has another token", id)
		}
	}
	after := recordingOf(w.gw, nil)
	for i := range after.Subscriptions {
		if writable[after.Subscriptions[i].ID] {
			after.Subscriptions[i].UpdatedAt = before.Subscriptions[i].UpdatedAt
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the gateway has something else: -before, +after:\n%s", diff)
	}

	for _, mg := range all {
		w.delete(mg)
	}
	for _, mg := range all {
		w.gone(mg)
	}
	if left := recordingOf(w.gw, nil); len(left.APIs)+len(left.Plans)+len(left.Subscriptions) > 0 {
		t.Errorf("left behind: %+v", left)
	}
}

// askedID is the ID at the gateway of what was stored, or was to get as it was asked
// for.
func askedID(o *unstructured.Unstructured) string {
	if id := externalName(o); id != "" {
		return id
	}
	var attempt struct {
		AskedID string `json:"askedId"`
	}
	_ = json.Unmarshal([]byte(o.GetAnnotations()[recordedAttempt]), &attempt)
	return attempt.AskedID
}

// mayPut are the subscriptions that may be written once, by ID: nothing that is kept
// knows which token the gateway has. What was written since a create, or created by
// another, is known to status alone; and the Secret may be another one by now.
func (w *world) mayPut(objects []unstructured.Unstructured, keepStatus bool) map[string]bool {
	w.t.Helper()
	secrets := &corev1.SecretList{}
	if err := w.kube.List(w.t.Context(), secrets, client.InNamespace(w.ns)); err != nil {
		w.t.Fatal(err)
	}
	lost := func(token map[string]any) bool {
		return token != nil && !slices.ContainsFunc(secrets.Items, func(s corev1.Secret) bool {
			return token["uid"] == string(s.GetUID()) && token["resourceVersion"] == s.GetResourceVersion()
		})
	}
	may := map[string]bool{}
	for _, o := range objects {
		if o.GetKind() != gatewayv1alpha1.SubscriptionKind || onlyObserved(&o) {
			continue
		}
		id := askedID(&o)
		last, _, _ := unstructured.NestedMap(o.Object, "status", "atProvider", "token")
		if _, has := o.Object["status"]; has && keepStatus {
			may[id] = lost(last)
			continue
		}
		var created map[string]any
		_ = json.Unmarshal([]byte(o.GetAnnotations()[recordedTokenMemory]), &created)
		at, _ := w.gw.Subscription(id)
		may[id] = created == nil || lost(created) || last != nil && !reflect.DeepEqual(created, last) || !at.UpdatedAt.Equal(at.CreatedAt)
	}
	return may
}

// unpacked are the objects of a recording, put into the API server, and what
// replaces the recording's placeholders.
func (w *world) unpacked(dir string, keepStatus bool) ([]unstructured.Unstructured, *strings.Replacer) {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "objects.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	// Plain texts are replaced at once, what the API server gives as it is known.
	texts := []string{recordedNamespace, w.ns, recordedURL, w.gw.URL(), recordedGateway, w.gw.GatewayID()}
	var out []unstructured.Unstructured
	objects, err := manifest.Parse(content)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, parsed := range objects {
		o := *parsed
		created := render(w.t, o, texts)
		created.SetAnnotations(nil)
		if o.GetKind() == v1alpha1.ClusterProviderConfigKind {
			created.SetLabels(map[string]string{narrow.Label: w.ns})
		}
		delete(created.Object, "status")
		for _, field := range []string{"uid", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(created.Object, "metadata", field)
		}
		err := w.kube.Create(w.t.Context(), &created)
		if kerrors.IsAlreadyExists(err) {
			// Every world has them.
			err = w.get(&created)
		}
		if err != nil {
			w.t.Fatalf("cannot store %s %s: %v", o.GetKind(), o.GetName(), err)
		}
		texts = append(texts, placeholder("uid", o), string(created.GetUID()), placeholder("version", o), created.GetResourceVersion())
		if o.GetKind() == v1alpha1.ClusterProviderConfigKind {
			w.t.Cleanup(func() { _ = w.kube.Delete(context.Background(), &created) })
		}
		out = append(out, o)
	}
	for i := range out {
		out[i] = render(w.t, out[i], texts)
		if out[i].GetKind() == "Secret" {
			continue // Its version is referred to.
		}
		now := out[i].DeepCopy()
		edit(w, now, func(now *unstructured.Unstructured) { now.SetAnnotations(out[i].GetAnnotations()) })
		if status, has := out[i].Object["status"]; has && keepStatus {
			w.setStatus(now, status)
		}
	}
	return out, strings.NewReplacer(texts...)
}

// setStatus of an object, which others may be writing too.
func (w *world) setStatus(o *unstructured.Unstructured, status any) {
	w.t.Helper()
	for {
		o.Object["status"] = status
		err := w.kube.Status().Update(w.t.Context(), o)
		if err == nil {
			return
		}
		if !kerrors.IsConflict(err) {
			w.t.Fatal(err)
		}
		if err := w.get(o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// render an object with what is known of placeholders.
func render(t *testing.T, o unstructured.Unstructured, texts []string) unstructured.Unstructured {
	t.Helper()
	raw, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	out := unstructured.Unstructured{}
	if err := kjson.Unmarshal([]byte(strings.NewReplacer(texts...).Replace(string(raw))), &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

// filled with what the recorded gateway had is the world's. It returns the tokens of
// subscriptions, by their IDs.
func (w *world) filled(dir string, texts *strings.Replacer, r *replay) map[string]string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "gateway.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var want recording
	if err := json.Unmarshal([]byte(texts.Replace(string(content))), &want); err != nil {
		w.t.Fatal(err)
	}
	type event struct {
		at  time.Time
		id  string
		add func() bool
	}
	var events []event
	// do as the gateway's own interface does it.
	do := func(method, path string, body map[string]any) func() bool {
		return func() bool {
			status, _ := w.gw.Do(method, path, body)
			return status < http.StatusBadRequest
		}
	}
	for _, a := range want.APIs {
		document := map[string]any{"apiVersion": a.Document["apiVersion"], "kind": a.Document["kind"], "metadata": a.Document["metadata"], "spec": a.Document["spec"]}
		events = append(events, event{a.CreatedAt, a.InternalID, do(http.MethodPost, "/rest-apis", document)})
		if !a.UpdatedAt.Equal(a.CreatedAt) {
			events = append(events, event{a.UpdatedAt, "", do(http.MethodPut, "/rest-apis/"+a.Handle, document)})
		}
	}
	for _, p := range want.Plans {
		body := map[string]any{"planName": p.PlanName, "billingPlan": p.BillingPlan, "stopOnQuotaReach": p.StopOnQuotaReach, "expiryTime": p.ExpiryTime, "status": p.Status}
		if p.ThrottleLimitUnit != "" {
			body["throttleLimitCount"], body["throttleLimitUnit"] = p.ThrottleLimitCount, p.ThrottleLimitUnit
		}
		events = append(events, event{p.CreatedAt, p.ID, do(http.MethodPost, "/subscription-plans", body)})
		if !p.UpdatedAt.Equal(p.CreatedAt) {
			events = append(events, event{p.UpdatedAt, "", do(http.MethodPut, "/subscription-plans/"+p.ID, map[string]any{})})
		}
	}
	for _, s := range want.Subscriptions {
		events = append(events, event{s.CreatedAt, "", func() bool { _, ok := w.gw.AddSubscription(s, want.Tokens[s.ID]); return ok }})
		if !s.UpdatedAt.Equal(s.CreatedAt) {
			events = append(events, event{s.UpdatedAt, "", func() bool { return w.gw.EditSubscription(s.ID, func(*emulator.Subscription) {}) }})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	for _, e := range events {
		r.set(e.id, e.at)
		if !e.add() {
			w.t.Fatalf("the gateway cannot be given what it had at %s", e.at)
		}
	}
	r.set("", time.Time{})
	if diff := cmp.Diff(want, recordingOf(w.gw, want.Tokens), cmpopts.EquateEmpty()); diff != "" {
		w.t.Fatalf("the gateway has not what it had: -recorded, +filled:\n%s", diff)
	}
	return want.Tokens
}
