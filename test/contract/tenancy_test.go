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
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
	"github.com/crossplane-contrib/provider-apiplatform/test/narrow"
)

// neighbour is another namespace with its own way to the same gateway. The world's
// provider serves both from now on.
func (w *world) neighbour() *world {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "contract-neighbour-"}}
	w.create(ns)
	w.wide = true
	n := *w
	n.ns = ns.GetName()
	n.create(n.secret("gateway", map[string]string{"password": password}), n.config("gateway", w.gw.URL()))
	w.reconfigure(w.configure, w.ns, n.ns)
	return &n
}

// forged puts records into an object that its user may write.
func forged(o client.Object, b *record.Baseline, a *record.Attempt) {
	if b != nil {
		record.WriteBaseline(o, *b)
	}
	if a != nil {
		record.WriteAttempt(o, *a)
	}
}

// kept waits until an object has been looked at and was refused, in whatever words,
// and returns the message of its condition Applied.
func (w *world) kept(o resource.Managed) string {
	w.t.Helper()
	message := ""
	w.eventually(fmt.Sprintf("%T %s is refused", o, o.GetName()), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		c := o.GetCondition(gatewayv1alpha1.TypeApplied)
		if message = c.Message; c.Status != corev1.ConditionFalse {
			return fmt.Errorf("conditions: %s", conditionsOf(o))
		}
		return nil
	})
	return message
}

// No subscription can be taken over, changed, deleted or learnt of from another
// namespace, whatever its users write.
//
// contract: A5, A11, S7, S12, S17, S18, S32
// case: C5, C9, C10
func TestNeighbourSubscription(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		n := w.neighbour()
		plan, _ := w.gw.AddPlan("Gold")
		w.gw.AddAPI("api", "Gold")
		victim := w.subscribed("victim", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.ExternalRefID = ptr("chosen-id")
			s.Spec.ForProvider.SubscriptionPlanID = &plan.ID
		})
		id := externalName(victim)
		w.polled(id, 2)
		if err := w.get(victim); err != nil {
			t.Fatal(err)
		}
		before, version, puts := w.only(), victim.GetResourceVersion(), emulator.Match{Writes: true, ID: id}

		baseline, err := record.ReadBaseline(victim)
		if err != nil || baseline == nil {
			t.Fatalf("baseline %v, %v", baseline, err)
		}
		attempt := record.Attempt{
			AskedID: id, AbsentBefore: true, Endpoint: baseline.Endpoint, APIID: "api", ApplicationID: "app-victim", PlanID: plan.ID, Outcome: record.Open,
		}
		// All that a neighbour may know or guess.
		like := func(name string, change ...func(s *gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
			s := n.subscription(name, "api", append([]func(s *gatewayv1alpha1.Subscription){func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.ApplicationID = ptr("app-victim")
				s.Spec.ForProvider.SubscriptionPlanID = &plan.ID
				s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
				s.Status.Deployed, s.Status.AtProvider = true, victim.Status.AtProvider
			}}, change...)...)
			n.create(n.secret(name, map[string]string{"token": "token-of-victim"}), s)
			return s
		}
		named := func(id string) func(s *gatewayv1alpha1.Subscription) {
			return func(s *gatewayv1alpha1.Subscription) { meta.SetExternalName(s, id) }
		}
		thieves := map[string]func(s *gatewayv1alpha1.Subscription){
			"ref":   func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr("chosen-id") },
			"token": func(*gatewayv1alpha1.Subscription) {},
			"name":  named(id),
			"observer": func(s *gatewayv1alpha1.Subscription) {
				named(id)(s)
				s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			},
			"baseline": func(s *gatewayv1alpha1.Subscription) {
				forged(s, baseline, nil)
				named(id)(s)
			},
			"attempt": func(s *gatewayv1alpha1.Subscription) { forged(s, nil, &attempt) },
			"all": func(s *gatewayv1alpha1.Subscription) {
				// An attempt beside a record is never looked into, and where the gateway
				// picks IDs others of the application would wait for it for a while.
				forged(s, baseline, map[bool]*record.Attempt{true: &attempt}[w.inPlace])
				named(id)(s)
				s.Spec.ForProvider.ExternalRefID = ptr("chosen-id")
				s.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionAdoptIfUnique
				a := s.GetAnnotations()
				maps.Copy(a, map[string]string{meta.AnnotationKeyExternalCreatePending: "2020-01-01T00:00:00Z", meta.AnnotationKeyExternalCreateSucceeded: "2020-01-01T00:00:00Z"})
			},
		}
		all := map[string]*gatewayv1alpha1.Subscription{}
		for name, steal := range thieves {
			all[name] = like(name, steal)
		}
		untouched := func(when string) {
			t.Helper()
			if diff := cmp.Diff(before, w.only()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", when, diff)
			}
			if k := w.gw.Count(puts); k != 0 {
				t.Errorf("%s: %d writes to it", when, k)
			}
			if !w.gw.LetThrough("api", "token-of-victim") {
				t.Errorf("%s: the token is not let through", when)
			}
		}
		for name, s := range all {
			message := n.kept(s)
			for _, secret := range []string{w.ns, "victim\"", string(victim.GetUID())} {
				if strings.Contains(message, secret) {
					t.Errorf("%s tells too much: %s", name, message)
				}
			}
			if diff := cmp.Diff(gatewayv1alpha1.SubscriptionObservation{}, s.Status.AtProvider); diff != "" || s.Status.Deployed {
				t.Errorf("%s shows what another has: %s", name, diff)
			}
		}
		untouched("all tried")

		// What another holds and what does not exist, look the same.
		missing := like("missing", named("no-such-id"), func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		})
		held := strings.ReplaceAll(n.kept(all["observer"]), id, "ID")
		if absent := strings.ReplaceAll(n.kept(missing), "no-such-id", "ID"); absent != held {
			t.Errorf("want the same words for what is held and what is missing:\n%s\n%s", held, absent)
		}

		for _, s := range all {
			n.delete(s)
		}
		for _, s := range all {
			n.gone(s)
		}
		untouched("all deleted")
		if err := w.get(victim); err != nil || victim.GetResourceVersion() != version {
			t.Errorf("the victim was written: %v", err)
		}

		// Who claims to hold it does not keep it from coming back either.
		claims := like("claims", thieves["all"])
		n.kept(claims)
		w.gw.DeleteSubscription(id)
		w.eventually("it is back", func() error {
			if !w.gw.LetThrough("api", "token-of-victim") {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		w.holds(victim, w.only().ID)
		w.ready(victim)
		if w.inPlace && externalName(victim) != id {
			t.Errorf("it was %q and is %q", id, externalName(victim))
		}
		n.delete(claims)
		n.gone(claims)
		if at := w.only(); at.ID != externalName(victim) || at.Status != "ACTIVE" {
			t.Errorf("at the gateway is %+v", at)
		}
	})
}

// No plan can be taken over, changed, deleted or learnt of from another namespace.
//
// contract: A5, A11, P1
// case: W9
func TestNeighbourPlan(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		n := w.neighbour()
		victim := w.plan("gold", "Gold")
		victim.Spec.ForProvider.ThrottleLimitCount, victim.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
		w.create(victim)
		w.ready(victim)
		id := externalName(victim)
		before, _ := w.gw.Plan(id)
		baseline, _ := record.ReadBaseline(victim)
		attempt := record.Attempt{AskedID: "Gold", AbsentBefore: true, Endpoint: baseline.Endpoint, Outcome: record.Open}
		like := func(name string, change ...func(p *gatewayv1alpha1.SubscriptionPlan)) *gatewayv1alpha1.SubscriptionPlan {
			p := n.plan(name, "Gold")
			p.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique
			p.Spec.ForProvider.ThrottleLimitCount, p.Spec.ForProvider.ThrottleLimitUnit = ptr(int64(5000)), ptr(gatewayv1alpha1.ThrottleLimitUnitMin)
			p.Status.Deployed, p.Status.AtProvider = true, victim.Status.AtProvider
			for _, c := range change {
				c(p)
			}
			n.create(p)
			return p
		}
		named := func(id string) func(p *gatewayv1alpha1.SubscriptionPlan) {
			return func(p *gatewayv1alpha1.SubscriptionPlan) { meta.SetExternalName(p, id) }
		}
		all := map[string]*gatewayv1alpha1.SubscriptionPlan{
			"byname":   like("byname"),
			"named":    like("named", named(id)),
			"baseline": like("baseline", func(p *gatewayv1alpha1.SubscriptionPlan) { forged(p, baseline, nil) }, named(id)),
			"attempt":  like("attempt", func(p *gatewayv1alpha1.SubscriptionPlan) { forged(p, nil, &attempt) }),
			"all":      like("all", func(p *gatewayv1alpha1.SubscriptionPlan) { forged(p, baseline, &attempt) }, named(id)),
			"observer": like("observer", named(id), func(p *gatewayv1alpha1.SubscriptionPlan) {
				p.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}),
		}
		untouched := func(when string) {
			t.Helper()
			after, _ := w.gw.Plan(id)
			if diff := cmp.Diff(before, after); diff != "" || len(w.gw.Plans()) != 1 {
				t.Errorf("%s: -want, +got:\n%s", when, diff)
			}
		}
		for name, p := range all {
			message := n.kept(p)
			if strings.Contains(message, w.ns) {
				t.Errorf("%s tells too much: %s", name, message)
			}
			if diff := cmp.Diff(gatewayv1alpha1.SubscriptionPlanObservation{}, p.Status.AtProvider); diff != "" || p.Status.Deployed {
				t.Errorf("%s shows what another has: %s", name, diff)
			}
		}
		untouched("all tried")
		missing := like("missing", named("no-such-id"))
		held := strings.ReplaceAll(n.kept(all["named"]), id, "ID")
		if absent := strings.ReplaceAll(n.kept(missing), "no-such-id", "ID"); absent != held {
			t.Errorf("want the same words for what is held and what is missing:\n%s\n%s", held, absent)
		}
		// No reference leads to what its referent does not hold.
		w.gw.AddAPI("api", "Gold")
		s := n.subscription("s", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "all"}
		})
		n.create(n.secret("s", map[string]string{"token": "s"}), s)
		n.kept(s)
		if k := len(w.gw.Subscriptions()); k != 0 {
			t.Errorf("%d subscriptions with a plan that is another's", k)
		}
		n.delete(s)
		for _, p := range all {
			n.delete(p)
		}
		for _, p := range all {
			n.gone(p)
		}
		untouched("all deleted")
		w.ready(victim)
	})
}

// No API can be taken over, changed, deleted or learnt of from another namespace,
// not even while its mark is missing.
//
// contract: A5, A11, R2
func TestNeighbourRestApi(t *testing.T) {
	in(t, emulator.Legacy, func(t *testing.T, w *world) {
		n := w.neighbour()
		victim := w.api("books")
		w.create(victim)
		w.ready(victim)
		before, _ := w.gw.API("books")
		baseline, _ := record.ReadBaseline(victim)
		attempt := record.Attempt{AskedID: "books", Preset: true, AbsentBefore: true, Endpoint: baseline.Endpoint, Outcome: record.Open}
		like := func(name string, change ...func(a *gatewayv1alpha1.RestApi)) *gatewayv1alpha1.RestApi {
			a := n.api(name)
			a.Spec.ForProvider.DisplayName, a.Spec.ForProvider.Context = "Stolen by "+name, "/stolen-by-"+name
			a.Spec.AdoptionPolicy = gatewayv1alpha1.RestApiAdoptionTakeover
			a.Status.Deployed, a.Status.AtProvider = true, victim.Status.AtProvider
			for _, c := range change {
				c(a)
			}
			n.create(a)
			return a
		}
		named := func(a *gatewayv1alpha1.RestApi) { meta.SetExternalName(a, "books") }
		all := map[string]*gatewayv1alpha1.RestApi{
			"books":    like("books"),
			"named":    like("named", named),
			"baseline": like("baseline", func(a *gatewayv1alpha1.RestApi) { forged(a, baseline, nil) }, named),
			"attempt":  like("attempt", func(a *gatewayv1alpha1.RestApi) { forged(a, nil, &attempt) }, named),
			"all":      like("all", func(a *gatewayv1alpha1.RestApi) { forged(a, baseline, &attempt) }, named),
			"observer": like("observer", named, func(a *gatewayv1alpha1.RestApi) {
				a.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			}),
		}
		for name, a := range all {
			message := n.kept(a)
			if strings.Contains(message, w.ns) {
				t.Errorf("%s tells too much: %s", name, message)
			}
			if diff := cmp.Diff(gatewayv1alpha1.RestApiObservation{}, a.Status.AtProvider); diff != "" || a.Status.Deployed {
				t.Errorf("%s shows what another has: %s", name, diff)
			}
		}
		if after, _ := w.gw.API("books"); !cmp.Equal(before, after) {
			t.Errorf("all tried: -want, +got:\n%s", cmp.Diff(before, after))
		}
		s := n.subscription("s", "", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
		})
		n.create(n.secret("s", map[string]string{"token": "s"}), s)
		n.refused(s, gatewayv1alpha1.ReasonAPIMissing)
		if k := len(w.gw.Subscriptions()); k != 0 {
			t.Errorf("%d subscriptions to an API that is another's", k)
		}

		// Somebody replaces the API at the gateway and drops the mark. Whoever looks
		// first, it stays its holder's.
		for i := range 2 {
			document := before.Document
			document["metadata"] = map[string]any{"name": "books"}
			delete(document, "status")
			if code, answer := w.gw.Do(http.MethodPut, "/rest-apis/books", document); code != http.StatusOK {
				t.Fatalf("%d %v", code, answer)
			}
			w.eventually(fmt.Sprintf("the mark is set back, %d", i), func() error {
				if at, _ := w.gw.API("books"); at.Annotations[gatewayv1alpha1.AnnotationOwner] != before.Annotations[gatewayv1alpha1.AnnotationOwner] {
					return fmt.Errorf("it is %q", at.Annotations[gatewayv1alpha1.AnnotationOwner])
				}
				return nil
			})
			if at, _ := w.gw.API("books"); at.DisplayName != "books" {
				t.Fatalf("it was taken: %+v", at)
			}
		}
		w.ready(victim)
		n.delete(s)
		for _, a := range all {
			n.delete(a)
		}
		for _, a := range all {
			n.gone(a)
		}
		if at, _ := w.gw.API("books"); at.DisplayName != "books" || at.InternalID != before.InternalID {
			t.Errorf("all deleted: %+v", at)
		}
		w.ready(victim)
	})
}

// A namespace uses its own configuration and its own Secrets: there is no way to
// name those of another.
//
// contract: A5
func TestNoSecretOfAnotherNamespace(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		n := w.neighbour()
		w.gw.AddAPI("api")
		w.create(w.secret("theirs", map[string]string{"password": password, "token": "their-token"}))

		c := n.config("other", w.gw.URL(), func(c *v1alpha1.ProviderConfig) { c.Spec.Credentials.Basic.PasswordSecretRef.Name = "theirs" })
		n.create(n.reaching(c, w.ns, "spec", "credentials", "basic", "passwordSecretRef"))
		n.says(c, xpv2.TypeReady, corev1.ConditionFalse, fmt.Sprintf("Secret %q does not exist", n.ns+"/theirs"))

		s := n.subscription("s", "api", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionTokenSecretRef = &gatewayv1alpha1.TokenSecretReference{Name: "theirs"}
		})
		n.create(n.reaching(s, w.ns, "spec", "forProvider", "subscriptionTokenSecretRef"))
		if message := n.refused(s, gatewayv1alpha1.ReasonTokenSecretMissing); !strings.Contains(message, fmt.Sprintf("in namespace %q", n.ns)) {
			t.Errorf("want its own namespace named, got: %s", message)
		}
		// The other namespace has a configuration of that name, and this one has not.
		w.create(w.config("only-there", w.gw.URL()))
		there := n.subscription("there", "api", through("only-there"))
		n.create(n.reaching(there, w.ns, "spec", "providerConfigRef"))
		n.says(there, xpv2.TypeSynced, corev1.ConditionFalse, fmt.Sprintf("ProviderConfig %q", n.ns+"/only-there"), "does not exist")
		if k := w.writes(); k != 0 {
			t.Errorf("%d writes at the gateway", k)
		}
	})
}

// reaching is an object with the name of another namespace where it would matter,
// if the API server kept it.
func (w *world) reaching(o client.Object, namespace string, path ...string) client.Object {
	w.t.Helper()
	gvk, err := w.kube.GroupVersionKindFor(o)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		w.t.Fatal(err)
	}
	u.SetGroupVersionKind(gvk)
	if err := unstructured.SetNestedField(u.Object, namespace, append(slices.Clone(path), "namespace")...); err != nil {
		w.t.Fatal(err)
	}
	return u
}

// A bad Secret or configuration is the trouble of those who use it.
//
// contract: A5
// case: C1
func TestBadNeighbours(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		w.gw.AddAPI("api")
		closed := w.gateway(emulator.Options{}, emulator.Listen{})
		closed.Stop()
		w.create(
			w.config("missing", w.gw.URL(), func(c *v1alpha1.ProviderConfig) { c.Spec.Credentials.Basic.PasswordSecretRef.Name = "missing" }),
			w.config("closed", closed.URL()),
		)
		var bad []*gatewayv1alpha1.Subscription
		for i := range 10 {
			bad = append(bad, w.asked(fmt.Sprintf("missing-%d", i), through("missing")), w.asked(fmt.Sprintf("closed-%d", i), through("closed")))
			tokenless := w.subscription(fmt.Sprintf("tokenless-%d", i), "api")
			w.create(tokenless)
			bad = append(bad, tokenless)
		}
		for _, s := range bad {
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse)
		}
		good := w.subscribed("good")
		edit(w, w.secret("good", nil), func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("rotated")} })
		w.eventually("the rotated token is in force", func() error {
			if !w.gw.LetThrough("api", "rotated") {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		w.ready(good)
		if n := len(w.gw.Subscriptions()); n != 1 {
			t.Errorf("%d subscriptions", n)
		}
		for _, s := range bad {
			w.delete(s)
		}
		for _, s := range bad {
			w.gone(s)
		}
	})
}

// clusterConfig is a ClusterProviderConfig with the usual credentials, from this
// world's namespace.
func (w *world) clusterConfig(name string, allowed *metav1.LabelSelector) *v1alpha1.ClusterProviderConfig {
	return &v1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{narrow.Label: w.ns}},
		Spec: v1alpha1.ClusterProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: w.gw.URL()},
			Credentials: v1alpha1.ClusterCredentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.ClusterBasicCredentials{
				Username: user,
				PasswordSecretRef: v1alpha1.NamespacedSecretKeyReference{
					SecretKeyReference: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"}, Namespace: w.ns,
				},
			}},
			AllowedNamespaces: allowed,
		},
	}
}

func throughCluster(config string) func(s *gatewayv1alpha1.Subscription) {
	return func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: config}
	}
}

// A ClusterProviderConfig serves the namespaces it allows, and no other: neither to
// create nor, by whatever records, to delete.
//
// contract: C4, C5, A5, A11
func TestAllowedNamespaces(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		n := w.neighbour()
		w.gw.AddAPI("api")
		byHand, _ := w.gw.AddSubscription(emulator.Subscription{ID: "by-hand", APIHandle: "api", ApplicationID: "app-forged"}, "secret")
		label := func(of *world, tier string) {
			edit(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: of.ns}}, func(ns *corev1.Namespace) {
				ns.Labels = map[string]string{"tier": tier}
			})
		}
		label(w, "gold")
		c := w.clusterConfig(w.ns, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}})
		w.create(c)
		w.usable(c)
		allowed, refused := w.asked("one", throughCluster(w.ns)), n.asked("two", throughCluster(w.ns))
		w.ready(allowed)
		why := fmt.Sprintf("ClusterProviderConfig %q: namespace %q may not use it", w.ns, n.ns)
		n.says(refused, xpv2.TypeSynced, corev1.ConditionFalse, why)

		// Records that say it holds what was made by hand do not open a way to delete it.
		thief := n.subscription("forged", "api", throughCluster(w.ns))
		forged(thief, &record.Baseline{
			ID: "by-hand", Endpoint: w.gw.Endpoint(), GatewayID: w.gw.GatewayID(), APIInternalID: byHand.APIID,
			Fields: map[string]string{"apiId": "api", "applicationId": "app-forged"},
		}, nil)
		// Without it there is nothing that the provider would have to do.
		meta.AddFinalizer(thief, managed.FinalizerName)
		n.create(thief)
		n.says(thief, xpv2.TypeSynced, corev1.ConditionFalse, why)
		n.delete(thief)
		n.says(thief, xpv2.TypeSynced, corev1.ConditionFalse, why, "removing Delete from spec.managementPolicies")
		edit(n, thief, func(s *gatewayv1alpha1.Subscription) { meta.RemoveAnnotations(s, gatewayv1alpha1.AnnotationBaseline) })
		n.gone(thief)
		if is, _ := w.gw.Subscription("by-hand"); is != byHand {
			t.Errorf("it was %+v and is %+v", byHand, is)
		}

		label(n, "gold")
		n.ready(refused)
		label(n, "silver")
		n.says(refused, xpv2.TypeSynced, corev1.ConditionFalse, why)
		n.delete(refused)
		n.says(refused, xpv2.TypeSynced, corev1.ConditionFalse, why, "removing Delete from spec.managementPolicies")
		if k := len(w.gw.Subscriptions()); k != 3 {
			t.Errorf("want all kept while the way is closed, got %d", k)
		}

		// Both namespaces count as users.
		w.delete(c)
		w.says(c, xpv2.TypeReady, corev1.ConditionFalse, "2 managed resources still refer to this ClusterProviderConfig")
		label(n, "gold")
		n.gone(refused)
		w.ready(allowed)
		w.delete(allowed)
		w.gone(allowed, c)
		if all := w.gw.Subscriptions(); len(all) != 1 || all[0] != byHand {
			t.Errorf("left behind: %+v", all)
		}
	})
}

// A managed resource that names no configuration uses ClusterProviderConfig/default.
//
// contract: C1
func TestDefaultConfig(t *testing.T) {
	in(t, emulator.InPlace, func(_ *testing.T, w *world) {
		w.gw.AddAPI("api")
		s := w.asked("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ProviderConfigReference = nil })
		w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, `ClusterProviderConfig "default"`, "does not exist")
		c := w.clusterConfig("default", nil)
		w.create(c)
		w.ready(s)
		w.delete(s)
		w.gone(s)
		w.delete(c)
		w.gone(c)
	})
}

// What was made by hand at a gateway survives the provider's coming, staying and
// going.
//
// contract: A11
// case: C11
func TestHandmadeSurvives(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		plan, _ := w.gw.AddPlan("Gold")
		w.gw.AddAPI("api", "Gold")
		w.gw.AddAPI("other")
		for i := range 20 {
			_, ok := w.gw.AddSubscription(emulator.Subscription{
				APIHandle: []string{"api", "other"}[i%2], ApplicationID: "app-one", SubscriptionPlanID: map[int]string{0: plan.ID}[i%2],
				Status: []string{"ACTIVE", "INACTIVE", "REVOKED"}[i%3],
			}, fmt.Sprintf("by-hand-%d", i))
			if !ok {
				t.Fatal("cannot make it by hand")
			}
		}
		subscriptions, plans, apis := w.gw.Subscriptions(), w.gw.Plans(), w.gw.APIs()

		w.restart()
		p, a := w.plan("silver", "Silver"), w.api("books")
		w.create(p, a)
		// The same application as that of those made by hand.
		s := w.subscribed("one", func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ApplicationID = ptr("app-one") })
		w.ready(p, a)
		w.polled(externalName(s), 5)
		w.restart()
		w.polled(externalName(s), 2)
		w.delete(s, p, a)
		w.gone(s, p, a)
		c := w.itsConfig()
		w.delete(c)
		w.gone(c)
		if diff := cmp.Diff(subscriptions, w.gw.Subscriptions()); diff != "" {
			t.Errorf("subscriptions: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(plans, w.gw.Plans()); diff != "" {
			t.Errorf("plans: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(apis, w.gw.APIs()); diff != "" {
			t.Errorf("APIs: -want, +got:\n%s", diff)
		}
	})
}
