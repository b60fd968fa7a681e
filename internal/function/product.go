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

package function

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// Names of what an APIProduct composes.
const (
	prefixAPI      = "api-"
	prefixAPIUsage = "usage-of-api-"
	prefixPlan     = "plan-"
	nameProtection = "protection"
)

// A Usage is Crossplane's protection from deletion.
const (
	usageAPIVersion = "protection.crossplane.io/v1beta1"
	usageKind       = "Usage"
)

// Reasons of an APIProduct's conditions.
const (
	reasonReady       = "Ready"
	reasonNotReady    = "NotReady"
	reasonInUse       = "InUse"
	reasonNothing     = "Nothing"
	reasonAsked       = "Asked"
	reasonUnprotected = "Unprotected"
	reasonOwnPlan     = "OwnPlan"
)

// A productCase is what is known when an APIProduct is judged.
type productCase struct {
	Name, Namespace string
	Spec            productSpec
	// Observed are the composed resources that there are, by their composition names.
	Observed map[string]*resource
	// Accesses are the Subscriptions of its namespace, to this product or not. They are
	// only asked for while something is withdrawn.
	Accesses []*unstructured.Unstructured
	LookedUp bool
	// Plans that are there already, by the names that the product gives them, nil if
	// there is none; PlansLookedUp says for which of them that is known.
	Plans         map[string]*resource
	PlansLookedUp map[string]bool
}

// A part of a product: an API or a plan.
type part struct {
	name, object string
	ready        bool
	reason       string
	message      string
	// withdrawn parts are no longer in the spec, and kept for a reason.
	withdrawn string
}

// judgeProduct says what becomes of an APIProduct.
func judgeProduct(c productCase) verdict {
	v := verdict{Composed: map[string]desiredResource{}}
	withdrawn := c.withdrawn()
	refs := c.planRefs(withdrawn)

	var apis, plans []part
	for _, a := range c.Spec.APIs {
		name, object := prefixAPI+a.Name, objectName(c.Name, a.Name)
		spec := c.managed(a.AdoptionPolicy)
		spec["forProvider"] = with(a.ForProvider, "subscriptionPlanRefs", refs)
		apis = append(apis, v.compose(name, c.Observed[name], c.object(v1alpha1.RestApiKind, object, spec), part{name: a.Name, object: object}))
		c.protect(&v, prefixAPIUsage+a.Name, v1alpha1.SchemeGroupVersion.String(), v1alpha1.RestApiKind, object, apiReason(c.Name))
	}
	for _, p := range c.Spec.Plans {
		if p.SubscriptionPlanRef != nil {
			one := v.own(c, c.reference(p))
			// It is none of what is composed, by which Crossplane would judge.
			v.NotReady = v.NotReady || !one.ready
			plans = append(plans, one)
			continue
		}
		name, object := prefixPlan+p.Name, objectName(c.Name, p.Name)
		spec := c.managed(p.AdoptionPolicy)
		forProvider := maps.Clone(p.ForProvider)
		if forProvider == nil {
			forProvider = map[string]any{}
		}
		if text(forProvider, "planName") == "" {
			forProvider["planName"] = object
		}
		kept := keepLimits(forProvider, c.Observed[name])
		spec["forProvider"] = forProvider
		one := v.compose(name, c.Observed[name], c.object(v1alpha1.SubscriptionPlanKind, object, spec), part{name: p.Name, object: object})
		if len(kept) > 0 {
			one.ready, one.reason = false, reasonImmutable
			one.message = fmt.Sprintf("%s cannot be removed once the plan is at the gateway, which can change but not clear them; they stay as they were. Set others, or offer another plan", list(kept))
			v.NotReady = true
		}
		plans = append(plans, one)
	}
	for _, name := range slices.Sorted(maps.Keys(withdrawn.apis)) {
		r := c.Observed[name]
		spec := c.asItWas(r)
		spec["forProvider"] = with(fields(r.Object.Object, "spec", "forProvider"), "subscriptionPlanRefs", refs)
		apis = append(apis, v.compose(name, r, c.object(v1alpha1.RestApiKind, r.Object.GetName(), spec), part{
			name: strings.TrimPrefix(name, prefixAPI), object: r.Object.GetName(), withdrawn: withdrawn.apis[name].why}))
		if !withdrawn.apis[name].goes {
			c.protect(&v, prefixAPIUsage+strings.TrimPrefix(name, prefixAPI), v1alpha1.SchemeGroupVersion.String(), v1alpha1.RestApiKind, r.Object.GetName(), apiReason(c.Name))
		}
	}
	for _, object := range slices.Sorted(maps.Keys(withdrawn.plans)) {
		one := part{name: afterLastDot(object), object: object, withdrawn: withdrawn.plans[object], ready: true}
		if name, r := c.composedPlan(object); r != nil {
			spec := c.asItWas(r)
			spec["forProvider"] = fields(r.Object.Object, "spec", "forProvider")
			one = v.compose(name, r, c.object(v1alpha1.SubscriptionPlanKind, object, spec), one)
		}
		plans = append(plans, one)
	}
	byName := func(a, b part) int {
		return cmp.Or(strings.Compare(a.object, b.object), strings.Compare(a.name, b.name))
	}
	slices.SortFunc(apis, byName)
	slices.SortFunc(plans, byName)

	protected := condition{Type: TypeProtected, Status: isFalse, Reason: reasonUnprotected, Message: "it can be deleted once no access is left"}
	if c.Spec.Protected {
		protected = condition{Type: TypeProtected, Status: isTrue, Reason: reasonAsked, Message: "spec.protected is true; set it to false to be able to delete this product"}
		c.protect(&v, nameProtection, Group+"/"+Version, kindProduct, c.Name, protected.Message)
	}
	v.Conditions = []condition{
		summary(TypeAPIsReady, "API", apis),
		summary(TypePlansReady, "plan", plans),
		told(apis, plans),
		protected,
	}
	v.Status = map[string]any{
		"apis":  statusOf(apis, "restApi"),
		"plans": statusOf(plans, "subscriptionPlan"),
		"summary": fmt.Sprintf("%d of %s, %d of %s ready",
			readyOf(apis), count(len(apis), "API", "APIs"), readyOf(plans), count(len(plans), "plan", "plans")),
	}
	v.Waiting = readyOf(apis) < len(apis) || readyOf(plans) < len(plans) || withdrawn.any()
	return v
}

// compose something, and say how it is.
func (v *verdict) compose(name string, r *resource, desired map[string]any, p part) part {
	ready, applied := judgeManaged(desired, r)
	v.Composed[name] = desiredResource{Object: desired, Ready: ready}
	p.ready = ready
	if !ready || applied.Status != isTrue {
		p.reason, p.message = applied.Reason, applied.Message
	}
	return p
}

// object that is composed under a name that is for ever: an API's name is its handle.
func (c productCase) object(kind, name string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(),
		"kind":       kind,
		"metadata": map[string]any{
			"name":      name,
			"namespace": c.Namespace,
			"labels":    map[string]any{LabelProduct: c.Name},
		},
		"spec": spec,
	}
}

// managed is what the specs of all managed resources of a product say.
func (c productCase) managed(adoptionPolicy string) map[string]any {
	spec := map[string]any{}
	if len(c.Spec.ProviderConfigRef) > 0 {
		spec["providerConfigRef"] = c.Spec.ProviderConfigRef
	}
	if adoptionPolicy != "" {
		spec["adoptionPolicy"] = adoptionPolicy
	}
	return spec
}

// asItWas is the same for what is no longer in the product's spec.
func (c productCase) asItWas(r *resource) map[string]any {
	spec := map[string]any{}
	if ref := fields(r.Object.Object, "spec", "providerConfigRef"); ref != nil {
		spec["providerConfigRef"] = ref
	}
	if p := text(r.Object.Object, "spec", "adoptionPolicy"); p != "" {
		spec["adoptionPolicy"] = p
	}
	return spec
}

// reference to a plan that is there already.
func (c productCase) reference(p productPlan) part {
	one := part{name: p.Name, object: p.SubscriptionPlanRef.Name}
	r := c.Plans[p.Name]
	switch {
	case !c.PlansLookedUp[p.Name]:
		one.reason, one.message = reasonLookingUp, "it is being looked up"
	case r == nil:
		one.reason = string(v1alpha1.ReasonPlanMissing)
		one.message = fmt.Sprintf("there is no SubscriptionPlan %q in namespace %q; create it, or name another one in subscriptionPlanRef", one.object, c.Namespace)
	default:
		var applied condition
		one.ready, applied = judgeManaged(nil, r)
		if !one.ready || applied.Status != isTrue {
			one.reason, one.message = applied.Reason, applied.Message
		}
	}
	return one
}

// own keeps a plan that the product composed and now only refers to. It would be deleted
// otherwise, and gone for good as soon as the last access left it.
func (v *verdict) own(c productCase, one part) part {
	name, r := c.composedPlan(one.object)
	if r == nil || slices.ContainsFunc(c.Spec.Plans, func(p productPlan) bool { return p.SubscriptionPlanRef == nil && prefixPlan+p.Name == name }) {
		return one
	}
	spec := c.asItWas(r)
	spec["forProvider"] = fields(r.Object.Object, "spec", "forProvider")
	one = v.compose(name, r, c.object(v1alpha1.SubscriptionPlanKind, one.object, spec), one)
	one.ready, one.reason = false, reasonOwnPlan
	one.message = fmt.Sprintf("SubscriptionPlan %q is composed by this product and would be deleted if that only referred to it, so it is kept as it was; give plan %q its forProvider back and drop subscriptionPlanRef. Other products can refer to it all the same", one.object, strings.TrimPrefix(name, prefixPlan))
	return one
}

// keepLimits of a plan that cannot be cleared: the API server would refuse that, and
// with it every other change. It returns the names of those that were to be cleared.
func keepLimits(forProvider map[string]any, r *resource) []string {
	if r == nil || !flag(r.Object.Object, "status", "deployed") {
		return nil
	}
	is := fields(r.Object.Object, "spec", "forProvider")
	var kept []string
	for _, f := range []string{"throttleLimitCount", "throttleLimitUnit", "expiryTime"} {
		if _, ok := forProvider[f]; !ok && is[f] != nil {
			forProvider[f] = is[f]
			kept = append(kept, f)
		}
	}
	return kept
}

// apiReason is with which words Crossplane refuses to delete an API.
func apiReason(product string) string {
	return fmt.Sprintf("It is part of APIProduct %q, and its subscriptions would be deleted together with it; take it out of that product's spec.apis instead", product)
}

// withdrawals are what is no longer in the spec and still there, and why it is kept:
// APIs by their composition names, plans by their object's names.
type withdrawals struct {
	apis  map[string]withdrawnAPI
	plans map[string]string
}

// A withdrawnAPI is kept for a reason. One that goes is kept until its Usage is gone.
type withdrawnAPI struct {
	why  string
	goes bool
}

func (w withdrawals) any() bool { return len(w.apis)+len(w.plans) > 0 }

// offered are the object names of the plans that are in the spec.
func (c productCase) offered() map[string]bool {
	names := map[string]bool{}
	for _, p := range c.Spec.Plans {
		names[planObject(c.Name, p)] = true
	}
	return names
}

// suspects are what is no longer in the spec and still there.
func (c productCase) suspects() (apis, plans []string) {
	wanted, offered, seen := map[string]bool{}, c.offered(), map[string]bool{}
	for _, a := range c.Spec.APIs {
		wanted[prefixAPI+a.Name] = true
	}
	suspect := func(object string) {
		if object != "" && !offered[object] && !seen[object] {
			seen[object] = true
			plans = append(plans, object)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Observed)) {
		r := c.Observed[name]
		switch {
		case strings.HasPrefix(name, prefixPlan):
			suspect(r.Object.GetName())
		case strings.HasPrefix(name, prefixAPI):
			if !wanted[name] {
				apis = append(apis, name)
			}
			// A plan that is not the product's own shows only in what its APIs offer.
			refs, _, _ := unstructured.NestedSlice(r.Object.Object, "spec", "forProvider", "subscriptionPlanRefs")
			for _, ref := range refs {
				if m, ok := ref.(map[string]any); ok {
					suspect(text(m, "name"))
				}
			}
		}
	}
	return apis, plans
}

// asksForAccesses tells whether it depends on the accesses what becomes of a product.
func (c productCase) asksForAccesses() bool {
	apis, plans := c.suspects()
	return len(apis)+len(plans) > 0
}

// withdrawn is what is kept although it is no longer in the spec, since it is used or
// might be. An API would take its subscriptions along, and a subscription whose plan its
// API does not list can no longer be changed.
func (c productCase) withdrawn() withdrawals {
	w := withdrawals{apis: map[string]withdrawnAPI{}, plans: map[string]string{}}
	apis, plans := c.suspects()
	for _, name := range apis {
		object := c.Observed[name].Object.GetName()
		n := c.users(usesAPI(object))
		switch {
		case n > 0:
			w.apis[name] = withdrawnAPI{why: fmt.Sprintf("%s: have their owners delete them, or put the API back into spec.apis", count(n, "access uses it", "accesses use it"))}
		case !c.LookedUp:
			w.apis[name] = withdrawnAPI{why: "it is not known yet whether an access uses it"}
		case c.Observed[prefixAPIUsage+strings.TrimPrefix(name, prefixAPI)] != nil:
			w.apis[name] = withdrawnAPI{why: "nobody uses it, so it is about to be deleted", goes: true}
		}
	}
	for _, object := range plans {
		_, composed := c.composedPlan(object)
		n := c.users(usesPlan(object, composed))
		switch {
		case n > 0:
			w.plans[object] = fmt.Sprintf("%s: have their owners choose another plan, or put it back into spec.plans", count(n, "access uses it", "accesses use it"))
		case !c.LookedUp:
			w.plans[object] = "it is not known yet whether an access uses it"
		}
	}
	return w
}

// users are how many Subscriptions refer to something or have it. What one has can be
// something else than what it asks for, and is what it would lose.
func (c productCase) users(uses func(s map[string]any) bool) int {
	n := 0
	for _, s := range c.Accesses {
		if uses(s.Object) {
			n++
		}
	}
	return n
}

// usesAPI tells of a Subscription whether it asks for an API or has it, or an unanswered
// create may give it.
func usesAPI(object string) func(s map[string]any) bool {
	return func(s map[string]any) bool {
		return text(s, "spec", "forProvider", "apiIdRef", "name") == object ||
			text(s, "spec", "forProvider", "apiId") == object ||
			text(s, "status", "atProvider", "apiId") == object ||
			text(s, "status", "createAttempt", "apiId") == object
	}
}

// usesPlan tells of a Subscription whether it asks for a plan or has it. What a plan is at
// the gateway is known of one that the product composed.
func usesPlan(object string, r *resource) func(s map[string]any) bool {
	var id, name string
	if r != nil {
		id, name = text(r.Object.Object, "status", "atProvider", "id"), text(r.Object.Object, "status", "atProvider", "planName")
	}
	return func(s map[string]any) bool {
		return text(s, "spec", "forProvider", "subscriptionPlanIdRef", "name") == object ||
			id != "" && text(s, "spec", "forProvider", "subscriptionPlanId") == id ||
			id != "" && text(s, "status", "atProvider", "subscriptionPlanId") == id ||
			name != "" && text(s, "spec", "forProvider", "subscriptionPlanName") == name
	}
}

// composedPlan of an object's name, nil if the product did not compose it.
func (c productCase) composedPlan(object string) (string, *resource) {
	for _, name := range slices.Sorted(maps.Keys(c.Observed)) {
		if r := c.Observed[name]; strings.HasPrefix(name, prefixPlan) && r.Object.GetName() == object {
			return name, r
		}
	}
	return "", nil
}

// planRefs that each API of a product has: the plans it offers, and those that are
// still used.
func (c productCase) planRefs(w withdrawals) []any {
	names := c.offered()
	for object := range w.plans {
		names[object] = true
	}
	refs := make([]any, 0, len(names))
	for _, n := range slices.Sorted(maps.Keys(names)) {
		refs = append(refs, map[string]any{"name": n})
	}
	return refs
}

// protect an object from deletion.
func (c productCase) protect(v *verdict, name, apiVersion, kind, object, reason string) {
	v.Composed[name] = desiredResource{
		Object: map[string]any{
			"apiVersion": usageAPIVersion,
			"kind":       usageKind,
			"metadata":   map[string]any{"namespace": c.Namespace},
			"spec": map[string]any{
				"of":     map[string]any{"apiVersion": apiVersion, "kind": kind, "resourceRef": map[string]any{"name": object}},
				"reason": reason,
			},
		},
		Ready: isReady(c.Observed[name]),
	}
}

// summary of the APIs or of the plans.
func summary(t, what string, parts []part) condition {
	var not []string
	for _, p := range parts {
		if !p.ready || p.reason != "" {
			not = append(not, fmt.Sprintf("%s %q: %s: %s", what, p.name, p.reason, p.message))
		}
	}
	if len(not) > 0 {
		return condition{Type: t, Status: isFalse, Reason: reasonNotReady, Message: strings.Join(not, "; ")}
	}
	return condition{Type: t, Status: isTrue, Reason: reasonReady}
}

// told is the condition that tells what is kept.
func told(apis, plans []part) condition {
	var kept []string
	for _, of := range []struct {
		what  string
		parts []part
	}{{"API", apis}, {"plan", plans}} {
		for _, p := range of.parts {
			if p.withdrawn != "" {
				kept = append(kept, fmt.Sprintf("%s %q is kept: %s", of.what, p.name, p.withdrawn))
			}
		}
	}
	if len(kept) == 0 {
		return condition{Type: TypeWithdrawn, Status: isFalse, Reason: reasonNothing}
	}
	return condition{Type: TypeWithdrawn, Status: isTrue, Reason: reasonInUse, Message: strings.Join(kept, "; ")}
}

func readyOf(parts []part) int {
	n := 0
	for _, p := range parts {
		if p.ready {
			n++
		}
	}
	return n
}

// statusOf parts, of which object is the managed resource's kind.
func statusOf(parts []part, object string) []any {
	all := make([]any, 0, len(parts))
	for _, p := range parts {
		one := map[string]any{"name": p.name, "ready": p.ready, object: p.object}
		if p.message != "" {
			one["message"] = p.message
		}
		if p.withdrawn != "" {
			one["withdrawn"] = true
		}
		all = append(all, one)
	}
	return all
}

// planObject is the name of the SubscriptionPlan that a plan of a product is.
func planObject(product string, p productPlan) string {
	if p.SubscriptionPlanRef != nil {
		return p.SubscriptionPlanRef.Name
	}
	return objectName(product, p.Name)
}

func apiNames(s productSpec) []string {
	names := make([]string, 0, len(s.APIs))
	for _, a := range s.APIs {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

func planNames(s productSpec) []string {
	names := make([]string, 0, len(s.Plans))
	for _, p := range s.Plans {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// with one more field.
func with(m map[string]any, k string, v any) map[string]any {
	c := maps.Clone(m)
	if c == nil {
		c = map[string]any{}
	}
	c[k] = v
	return c
}
