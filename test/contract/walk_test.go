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
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/test/narrow"
)

// stepsAtOnce are how many steps there are for each of the objects of a specimen
// that are walked side by side.
const stepsAtOnce = 60

// Every field of every kind is given every interesting value, and after each the
// good spec again. What the API server refuses names the field; what it accepts may
// be refused by the gateway, but once the good spec is back, so is what it asks for,
// as if nothing had happened: the same object at the gateway, and ready.
//
// What fields there are is read from the CRDs, so that a new one is walked too.
//
// contract: A1, A3, S15, S16, S24, S25, R4, R5, P2, P3, C2, C6, A6
// case: H1, W13, W15, W16, F10, G7
func TestWalk(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		generation emulator.Generation
		walked     func(kind string) bool
	}{
		"InPlace": {emulator.InPlace, func(string) bool { return true }},
		// Of the others a legacy gateway thinks no different.
		"Legacy": {emulator.Legacy, func(kind string) bool { return kind == gatewayv1alpha1.SubscriptionKind }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reads{of: map[string]int{}}
			s := newSetting(newWorld(t, emulator.Options{
				Generation:   tc.generation,
				Faults:       emulator.FaultFunc(r.count),
				JournalLimit: 200,
				BearerTokens: map[string][]emulator.Role{"walkers-token": {emulator.RoleAdmin}},
				Policies:     map[string][]string{"rate": {"v1"}, "log": {"v1", "v2"}},
			}))
			s.reads = r
			before := s.inventory()
			t.Run("Walk", func(t *testing.T) {
				for kind, paths := range pathsOf(t, s, tc.walked) {
					t.Run(kind, func(t *testing.T) {
						t.Parallel()
						paths.walk(t, s)
					})
				}
			})
			if diff := cmp.Diff(before, s.inventory()); diff != "" {
				t.Errorf("the walk left something behind, or took it: -before, +after:\n%s", diff)
			}
			if n := len(s.other.APIs()) + len(s.other.Subscriptions()); n != 1 {
				t.Errorf("the gateway that was named by mistake has %d objects", n)
			}
		})
	}
}

// reads of single objects at a gateway, by ID.
type reads struct {
	mu sync.Mutex
	of map[string]int
}

// count a request. It fails none.
func (r *reads) count(req emulator.Request) *emulator.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Method == http.MethodGet && req.ID != "" {
		r.of[req.ID]++
	}
	return nil
}

// more returns what tells whether an object was read since. What has no ID needs
// none.
func (r *reads) more(id string) func() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.of[id]
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return id == "" || r.of[id] > before
	}
}

// Who begins with a wrong value, and corrects it, ends where one does who began
// right; but for what cannot be changed any more, if it was accepted, which is said.
// Whatever came of it can be deleted. One value for each field will do, and all that
// the gateway refuses.
//
// contract: A1, A3, A11, S11, S14, S15, S24, S28, R1, P1
// case: H1, E4
func TestWalkFromTheStart(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]emulator.Generation{"InPlace": emulator.InPlace, "Legacy": emulator.Legacy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetting(newWorld(t, emulator.Options{
				Generation: g, JournalLimit: 200, Policies: map[string][]string{"rate": {"v1"}, "log": {"v1", "v2"}},
			}))
			before := s.inventory()
			t.Run("Walk", func(t *testing.T) {
				for kind, paths := range pathsOf(t, s, func(kind string) bool {
					return kind == gatewayv1alpha1.SubscriptionKind || g == emulator.InPlace && !strings.HasSuffix(kind, v1alpha1.ProviderConfigKind)
				}) {
					for _, p := range paths {
						t.Run(kind+"/"+p.specimen.name, func(t *testing.T) {
							t.Parallel()
							p.walkFromTheStart(t, s)
						})
					}
				}
			})
			if diff := cmp.Diff(before, s.inventory()); diff != "" {
				t.Errorf("the walk left something behind, or took it: -before, +after:\n%s", diff)
			}
		})
	}
}

func (p *path) walkFromTheStart(t *testing.T, s *setting) {
	good := newWalker(s.in(t), p.specimen, p.object(0))
	want := good.comparable()
	good.leave()
	// Another test looks at what the API server says to what is of no use to it.
	p.steps = slices.DeleteFunc(p.steps, func(st step) bool { return st.at[0] != "forProvider" || st.value.what == "wrong type" })
	stored := map[string]bool{}
	for i := range (len(p.steps) + stepsAtOnce - 1) / stepsAtOnce {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n++ {
				st, ok := p.next()
				if !ok {
					break
				}
				p.mu.Lock()
				enough := stored[st.field.String()] && st.value.what != "refused"
				p.mu.Unlock()
				if !enough && prepared(s.in(t), p.specimen, p.object(1000*(i+1)+n)).correct(st, want) {
					p.mu.Lock()
					stored[st.field.String()] = true
					p.mu.Unlock()
				}
			}
		})
	}
}

// correct a wrong value that the object begins with. It returns whether the API
// server stored it.
func (w *walker) correct(s step, want string) bool {
	w.t.Helper()
	w.step = "beginning with " + s.String()
	if err := w.begin(put(w.good, s.at, s.value.v, s.value.absent)); err != nil {
		if !kerrors.IsInvalid(err) && !kerrors.IsBadRequest(err) {
			w.t.Fatalf("%s: the API server neither stores nor refuses it: %v", s, err)
		}
		return false
	}
	w.seen()
	if err := w.set(w.good); err != nil {
		// It is at the gateway already.
		if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), "once the subscription exists") && !strings.Contains(err.Error(), "once the plan is deployed") {
			w.t.Errorf("%s: it cannot be corrected: %v", s, err)
		}
		w.leave()
		return true
	}
	final := false
	w.until(w.object, "is as it should be, or says that it cannot be", func() bool {
		if !w.current(xpv2.TypeSynced) {
			return false
		}
		applied := w.object.GetCondition(gatewayv1alpha1.TypeApplied)
		final = applied.Reason == gatewayv1alpha1.ReasonImmutableField || applied.Reason == gatewayv1alpha1.ReasonLegacyGateway
		return final || applied.Status == corev1.ConditionTrue && w.object.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && w.object.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue
	})
	if got := w.comparable(); !final && got != want {
		w.t.Errorf("%s: corrected, the gateway has something else: -want, +got:\n%s", s, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
	w.leave()
	return true
}

// comparable is the state at the gateway without what is another for each object, and
// without defaults, which are the same as nothing.
func (w *walker) comparable() string {
	w.t.Helper()
	raw, err := json.MarshalIndent(w.states(), "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	text := strings.NewReplacer(w.object.GetName(), "NAME", externalName(w.object), "ID").Replace(string(raw))
	text = regexp.MustCompile(`\n *"(deploymentState|hostRewrite|type)": "(deployed|auto|Exact)",?`).ReplaceAllString(text, "")
	return regexp.MustCompile(`"[0-9T:.-]+Z"|"[0-9a-f]{8}-[0-9a-f-]{27}"`).ReplaceAllString(text, `"-"`)
}

// in is the setting as seen from a subtest.
func (s *setting) in(t *testing.T) *setting {
	own, w := *s, *s.world
	w.t = t
	own.world = &w
	return &own
}

// inventory of all that is at the gateway.
func (s *setting) inventory() []string {
	var out []string
	for _, a := range s.gw.APIs() {
		out = append(out, "API "+a.Handle)
	}
	for _, p := range s.gw.Plans() {
		out = append(out, "plan "+p.PlanName)
	}
	for _, sub := range s.gw.Subscriptions() {
		out = append(out, "subscription of "+sub.ApplicationID)
	}
	slices.Sort(out)
	return out
}

// A step gives one field of a specimen one value.
type step struct {
	field field
	at    []any
	value value
}

func (s step) String() string {
	return fmt.Sprintf("%s, %s", strings.ReplaceAll(fmt.Sprint(s.at), " ", "."), s.value)
}

// A path is all steps that are taken from one specimen. Walkers share them.
type path struct {
	specimen specimen

	mu      sync.Mutex
	steps   []step
	refused int
	stored  int
}

func (p *path) next() (step, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.steps) == 0 {
		return step{}, false
	}
	s := p.steps[0]
	p.steps = p.steps[1:]
	return s, true
}

// object names the object that takes the steps from a specimen as the given one of
// several.
func (p *path) object(n int) string {
	return strings.ToLower(fmt.Sprintf("%s-%s-%d", p.specimen.kind, p.specimen.name, n))
}

type paths []*path

// pathsOf all kinds. It fails for a field that no step is about, and for a refusal
// of a field that there is not.
func pathsOf(t *testing.T, s *setting, walked func(kind string) bool) map[string]paths {
	t.Helper()
	out := map[string]paths{}
	for _, sp := range allSpecimens() {
		if walked(sp.kind) {
			out[sp.kind] = append(out[sp.kind], &path{specimen: sp})
		}
	}
	known := map[string]bool{}
	// What both kinds of configuration have is walked in one of them.
	shared := map[string]bool{}
	for _, f := range fieldsOf(t, v1alpha1.ProviderConfigKind) {
		shared[f.String()] = f.schema.Properties == nil
	}
	for kind, ps := range out {
		for _, f := range fieldsOf(t, kind) {
			if kind == v1alpha1.ClusterProviderConfigKind && shared[f.String()] {
				continue
			}
			// It is walked where it is, or most of the way to it.
			var in *path
			var at []any
			var good any
			far := -1
			for _, p := range ps {
				if a, depth, v := locate(s.spec(p.specimen, "x"), f.path); depth > far {
					in, at, good, far = p, a, v, depth
				}
			}
			values := valuesOf(f.schema, good)
			if len(values) == 0 {
				t.Errorf("%s: there are no values for %s: teach valuesOf its schema", kind, f)
			}
			key := kind + " " + f.String()
			known[key] = true
			for _, text := range refusals[key] {
				values = append(values, value{what: "refused", v: s.texts.Replace(text)})
			}
			for _, v := range values {
				in.steps = append(in.steps, step{field: f, at: at, value: v})
			}
		}
	}
	for key := range maps.Keys(refusals) {
		if kind, _, _ := strings.Cut(key, " "); walked(kind) && !known[key] {
			t.Errorf("there is a value for %s, but no such field", key)
		}
	}
	return out
}

func (ps paths) walk(t *testing.T, s *setting) {
	for _, p := range ps {
		t.Run(p.specimen.name, func(t *testing.T) {
			t.Parallel()
			total := len(p.steps)
			t.Cleanup(func() {
				t.Logf("%d values: %d were refused, %d stored", total, p.refused, p.stored)
				if p.refused+p.stored != total {
					t.Errorf("%d values were not tried", total-p.refused-p.stored)
				}
			})
			for i := range (total + stepsAtOnce - 1) / stepsAtOnce {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					w := newWalker(s.in(t), p.specimen, p.object(i))
					for {
						st, ok := p.next()
						if !ok {
							break
						}
						stored := w.take(st)
						p.mu.Lock()
						if stored {
							p.stored++
						} else {
							p.refused++
						}
						p.mu.Unlock()
					}
					w.leave()
				})
			}
		})
	}
}

// A walker takes steps with one object, and always comes back.
type walker struct {
	*setting

	object conditioned
	good   map[string]any
	// managed are the managed resources whose state at the gateway must not suffer:
	// the object itself, or those that use it.
	managed []resource.Managed
	state   map[string]any

	// generation of the object, and the step it was last taken.
	generation int64
	step       string
}

func newWalker(s *setting, of specimen, name string) *walker {
	s.t.Helper()
	w := prepared(s, of, name)
	if err := w.begin(w.good); err != nil {
		s.t.Fatal(err)
	}
	w.settled()
	w.state = w.states()
	return w
}

// prepared is a walker whose object is still to be created.
func prepared(s *setting, of specimen, name string) *walker {
	s.t.Helper()
	w := &walker{setting: s, good: s.spec(of, name), step: "its creation"}
	s.create(s.secret(name+"-token", map[string]string{"token": "token-of-" + name, "blank": " "}))
	own := s.named(name)
	switch of.kind {
	case gatewayv1alpha1.RestApiKind:
		o := &gatewayv1alpha1.RestApi{ObjectMeta: own}
		w.object, w.managed = o, []resource.Managed{o}
	case gatewayv1alpha1.SubscriptionPlanKind:
		o := &gatewayv1alpha1.SubscriptionPlan{ObjectMeta: own}
		w.object, w.managed = o, []resource.Managed{o}
	case gatewayv1alpha1.SubscriptionKind:
		o := &gatewayv1alpha1.Subscription{ObjectMeta: own}
		w.object, w.managed = o, []resource.Managed{o}
	default:
		w.object = &v1alpha1.ProviderConfig{ObjectMeta: own}
		if of.kind == v1alpha1.ClusterProviderConfigKind {
			// Its name is the cluster's.
			own = metav1.ObjectMeta{Name: s.ns + "-" + name, Labels: map[string]string{narrow.Label: s.ns}}
			w.object = &v1alpha1.ClusterProviderConfig{ObjectMeta: own}
		}
		api := s.api(name)
		sub := s.subscription(name, "api", func(sub *gatewayv1alpha1.Subscription) {
			sub.Spec.ForProvider.SubscriptionTokenSecretRef.Name = name + "-token"
		})
		ref := &xpv2.ProviderConfigReference{Kind: of.kind, Name: own.Name}
		api.Spec.ProviderConfigReference, sub.Spec.ProviderConfigReference = ref, ref
		w.managed = []resource.Managed{api, sub}
		s.create(api, sub)
	}
	return w
}

// begin with a spec.
func (w *walker) begin(spec any) error {
	u := w.unstructured()
	u.Object["spec"] = spec
	err := w.kube.Create(w.t.Context(), u)
	w.generation = u.GetGeneration()
	return err
}

// unstructured is the object as an API server is sent it: of any shape.
func (w *walker) unstructured() *unstructured.Unstructured {
	w.t.Helper()
	gvk, err := w.kube.GroupVersionKindFor(w.object)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(w.object.GetNamespace())
	u.SetName(w.object.GetName())
	u.SetLabels(w.object.GetLabels())
	return u
}

// set the spec of the object.
func (w *walker) set(spec any) error {
	patch, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/spec", "value": spec}})
	if err != nil {
		return err
	}
	u := w.unstructured()
	if err := w.kube.Patch(w.t.Context(), u, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return err
	}
	w.generation = u.GetGeneration()
	return nil
}

// take a step, and come back. It returns whether the API server stored the value.
func (w *walker) take(s step) bool {
	w.t.Helper()
	was := w.generation
	if err := w.set(put(w.good, s.at, s.value.v, s.value.absent)); err != nil {
		if !kerrors.IsInvalid(err) && !kerrors.IsBadRequest(err) {
			w.t.Fatalf("%s: the API server neither stores nor refuses it: %v", s, err)
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(s.field.name()) + `\b`).MatchString(err.Error()) {
			w.t.Errorf("%s: the refusal does not name %s: %v", s, s.field.name(), err)
		}
		return false
	}
	if w.generation == was {
		return true // It means the same.
	}
	w.step = s.String()
	w.seen()
	w.honest(s)
	if err := w.set(w.good); err != nil {
		w.t.Fatalf("%s: the good spec is refused afterwards: %v", s, err)
	}
	w.settled()
	if diff := cmp.Diff(w.state, w.states()); diff != "" {
		w.t.Fatalf("%s: afterwards the gateway has something else: -good, +afterwards:\n%s", s, diff)
	}
	return true
}

// usesConfig tells whether the object is a configuration, which others use.
func (w *walker) usesConfig() bool { return client.Object(w.managed[0]) != client.Object(w.object) }

// seen waits until the provider has looked at the object as it is now.
func (w *walker) seen() {
	w.t.Helper()
	by := xpv2.TypeSynced
	if w.usesConfig() {
		by = xpv2.TypeReady
	}
	w.until(w.object, "is seen", func() bool { return w.current(by) })
}

// current tells whether a condition is about the object as it is now. What is created
// is also written by the provider, which leaves out what is empty.
func (w *walker) current(t xpv2.ConditionType) bool {
	return w.object.GetGeneration() >= w.generation && w.object.GetCondition(t).ObservedGeneration == w.object.GetGeneration()
}

// honest fails if the object says that it is applied, and the gateway has another
// value than the one it was given.
func (w *walker) honest(s step) {
	w.t.Helper()
	for _, t := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, gatewayv1alpha1.TypeApplied} {
		if w.object.GetCondition(t).Status != corev1.ConditionTrue {
			return
		}
	}
	if s.value.absent || s.value.v == nil || s.at[0] != "forProvider" {
		return
	}
	at := w.asParameters()
	if _, ok := at[fmt.Sprint(s.at[1])]; !ok {
		return // The gateway knows no such field.
	}
	want, got := plain(w.t, dig(put(w.good["forProvider"], s.at[1:], s.value.v, false), s.at[1:])), plain(w.t, dig(at, s.at[1:]))
	if !reflect.DeepEqual(want, got) {
		w.t.Errorf("%s: it says it is applied, but the gateway has %.1000s", s, fmt.Sprint(got))
	}
}

// asParameters is what the gateway has for the object, by the names of the fields of
// its spec.
func (w *walker) asParameters() map[string]any {
	id := externalName(w.object)
	switch w.object.(type) {
	case *gatewayv1alpha1.RestApi:
		a, _ := w.gw.API(id)
		out, _ := a.Document["spec"].(map[string]any)
		delete(a.Annotations, gatewayv1alpha1.AnnotationOwner)
		out["labels"], out["annotations"] = a.Labels, a.Annotations
		out["deploymentState"] = "undeployed"
		if a.Deployed {
			out["deploymentState"] = "deployed"
		}
		// It also has the names of those in subscriptionPlanRefs.
		delete(out, "subscriptionPlans")
		return out
	case *gatewayv1alpha1.SubscriptionPlan:
		p, _ := w.gw.Plan(id)
		return map[string]any{
			"planName": p.PlanName, "billingPlan": p.BillingPlan, "stopOnQuotaReach": p.StopOnQuotaReach, "throttleLimitCount": p.ThrottleLimitCount,
			"throttleLimitUnit": p.ThrottleLimitUnit, "expiryTime": p.ExpiryTime, "status": p.Status,
		}
	case *gatewayv1alpha1.Subscription:
		s, _ := w.gw.Subscription(id)
		return map[string]any{
			"applicationId": s.ApplicationID, "billingCustomerId": s.BillingCustomerID, "billingSubscriptionId": s.BillingSubscriptionID,
			"subscriptionPlanId": s.SubscriptionPlanID, "status": s.Status,
		}
	}
	return nil
}

// dig out what is at a path, or nothing.
func dig(v any, at []any) any {
	for _, step := range at {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// plain is a value without what means the same as being absent, and with times as
// instants.
func plain(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return pruned(out)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			if v[k] = pruned(below); v[k] == nil {
				delete(v, k)
			}
		}
		if len(v) > 0 {
			return v
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
		if len(v) > 0 {
			return v
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at.Unix()
		}
		if v != "" {
			return v
		}
	default:
		return v
	}
	return nil
}

// settled waits until the object is as good as its spec.
func (w *walker) settled() {
	w.t.Helper()
	if w.usesConfig() {
		w.until(w.object, "is usable", func() bool {
			return w.current(xpv2.TypeReady) && w.object.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		})
		// Those that use it must look once more before they are believed.
		var looked []func() bool
		for _, o := range w.managed {
			looked = append(looked, w.reads.more(externalName(o)))
		}
		w.poked(w.managed...)
		for i, o := range w.managed {
			w.until(o, "looks", looked[i])
		}
	}
	for _, o := range w.managed {
		w.until(o, "is ready", func() bool {
			if !w.usesConfig() && !w.current(xpv2.TypeSynced) {
				return false
			}
			for _, t := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, gatewayv1alpha1.TypeApplied} {
				if c := o.GetCondition(t); c.Status != corev1.ConditionTrue || t == xpv2.TypeSynced && c.ObservedGeneration != o.GetGeneration() {
					return false
				}
			}
			return true
		})
		for _, t := range []xpv2.ConditionType{gatewayv1alpha1.TypeContested, gatewayv1alpha1.TypeDrifted} {
			if c := o.GetCondition(t); c.Status == corev1.ConditionTrue {
				w.t.Errorf("%s: afterwards %T %s is %s: %s", w.step, o, o.GetName(), t, c.Message)
			}
		}
	}
}

// until something holds of an object, as a cache shows it: so many wait for so many
// objects here that an API server would have nothing else to do.
func (w *walker) until(o conditioned, what string, holds func() bool) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("after %s, %T %s %s", w.step, o, o.GetName(), what), func() error {
		if err := w.cached.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if !holds() {
			return fmt.Errorf("generation %d of %d, conditions: %s", o.GetGeneration(), w.generation, conditionsOf(o))
		}
		return nil
	})
}

// states at the gateway, by managed resource, without what every write changes.
func (w *walker) states() map[string]any {
	w.t.Helper()
	out := map[string]any{}
	for _, o := range w.managed {
		id := externalName(o)
		switch o := o.(type) {
		case *gatewayv1alpha1.RestApi:
			a, ok := w.gw.API(id)
			if status, is := a.Document["status"].(map[string]any); is {
				delete(status, "updatedAt")
				delete(status, "deployedAt")
			}
			out["API"] = []any{ok, a.Handle, a.InternalID, a.Document, a.CreatedAt}
		case *gatewayv1alpha1.SubscriptionPlan:
			p, ok := w.gw.Plan(id)
			p.UpdatedAt = p.CreatedAt
			out["plan"] = []any{ok, p}
		case *gatewayv1alpha1.Subscription:
			s, ok := w.gw.Subscription(id)
			s.UpdatedAt = s.CreatedAt
			token := w.tokenOf(o)
			out["subscription"] = []any{ok, s, "has its token", w.gw.HoldsToken(id, token), "lets it through", w.gw.LetThrough("api", token)}
		}
	}
	return out
}

// tokenOf a Subscription, from where its good spec says.
func (w *walker) tokenOf(o *gatewayv1alpha1.Subscription) string {
	w.t.Helper()
	name := ""
	if ref := o.Spec.ForProvider.SubscriptionTokenSecretRef; ref != nil {
		name = ref.Name
	} else if ref := o.GetWriteConnectionSecretToReference(); ref != nil {
		name = ref.Name
	}
	s := &corev1.Secret{ObjectMeta: w.named(name)}
	if err := w.get(s); err != nil {
		w.t.Fatal(err)
	}
	return string(s.Data["token"])
}

// leave nothing behind.
func (w *walker) leave() {
	w.t.Helper()
	for _, o := range w.managed {
		w.delete(o)
	}
	for _, o := range w.managed {
		w.gone(o)
	}
	if w.usesConfig() {
		w.delete(w.object)
		w.gone(w.object)
	}
}
