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
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// Names of what an APIAccess composes. The Usage has the product's name in it: it is never
// changed to protect another product, since only its deletion ends the protection.
const (
	nameSubscription = "subscription"
	prefixUsage      = "usage-of-"
)

// Reasons of an APIAccess's conditions.
const (
	reasonAccepted        = "Accepted"
	reasonLookingUp       = "LookingUp"
	reasonClaimMissing    = "ClaimMissing"
	reasonProductMissing  = "ProductMissing"
	reasonProductDeleting = "ProductDeleting"
	reasonAPIUnknown      = "ApiUnknown"
	reasonAPINotNamed     = "ApiNotNamed"
	reasonPlanUnknown     = "PlanUnknown"
	reasonWithdrawn       = "Withdrawn"
	reasonGatewayKept     = "GatewayKept"
	reasonSecretNameTaken = "SecretNameTaken"
	reasonNotAccepted     = "NotAccepted"
	reasonSuspended       = "Suspended"
	reasonPublished       = "Published"
	reasonNotPublished    = "NotPublished"
	reasonUnknown         = "Unknown"
	reasonImmutable       = string(v1alpha1.ReasonImmutableField)
)

// Keys of a team's Secret.
const (
	keyToken          = v1alpha1.DefaultTokenKey
	keySubscriptionID = "subscriptionId"
	keyAPIID          = "apiId"
	keyURL            = "url"
)

// An accessCase is what is known when an APIAccess is judged.
type accessCase struct {
	// Name and Namespace of what the team wrote: the APIAccess or the claim. Namespace
	// is empty if there is no claim.
	Name, Namespace string
	// CompositeName is the name of the composite resource: the APIAccess itself, or the
	// one that Crossplane made for the claim.
	CompositeName string
	Spec          accessSpec
	Status        accessStatus
	// RotateToken is the annotation that asks for a new token.
	RotateToken string
	// Product that is referred to, nil if there is none or it was not looked up yet.
	Product  *product
	LookedUp bool
	// HeldAPI is the RestApi that a deployed Subscription is to, if that is not the one
	// that its spec refers to: a create that was not answered in time came to it.
	HeldAPI *unstructured.Unstructured
	// Observed are the composed resources that there are, by their composition names.
	Observed map[string]*resource
}

// A product as an APIAccess sees it.
type product struct {
	Deleting bool
	Spec     productSpec
	Status   productStatus
}

// A target is what a Subscription is for, in the product's words and as the objects
// that these are.
type target struct {
	Product, API, Plan    string
	APIObject, PlanObject string
	ProviderConfigRef     map[string]any
}

// judgeAccess says what becomes of an APIAccess.
func judgeAccess(c accessCase) verdict {
	sub := c.Observed[nameSubscription]
	t, accepted := c.target(sub)
	secret, token, taken := c.secrets(sub)
	if taken != "" && accepted.Status == isTrue {
		accepted = notAccepted(reasonSecretNameTaken, taken)
	}
	if sub == nil && accepted.Status != isTrue {
		return noAccess(accepted)
	}
	if sub != nil {
		c.Namespace = cmp.Or(c.Namespace, sub.Object.GetNamespace())
	}

	spec, held, more := c.forProvider(*t, sub)
	if len(held) > 0 && accepted.Status == isTrue {
		accepted = notAccepted(reasonImmutable, fmt.Sprintf(
			"%s cannot be changed once the subscription is at the gateway, and stays as it was; set it back, or delete this object and create another one, which gets another token", list(held)))
	}
	if token != nil {
		spec["subscriptionTokenSecretRef"] = token
	}

	desired := c.subscription(*t, spec, secret)
	ready, applied := judgeManaged(desired, sub)
	published := published(secret, token != nil, sub)
	usage := prefixUsage + t.Product

	v := verdict{
		Composed: map[string]desiredResource{
			nameSubscription: {Object: desired, Ready: ready && published.Status == isTrue},
			usage:            {Object: c.usage(*t), Ready: isReady(c.Observed[usage])},
		},
		Conditions: []condition{accepted, c.inWords(applied, *t, sub), published, tokenInForce(sub)},
	}
	// What is kept although something else is asked for is not what was asked for.
	v.NotReady = taken != "" || len(held) > 0 || more || c.Spec.Plan != t.Plan || c.Spec.ProductRef.Name != t.Product || c.Spec.API != "" && c.Spec.API != t.API
	v.Waiting = accepted.Status != isTrue || !ready || more
	v.Soon = ready && published.Status != isTrue
	c.tell(&v, *t, secret, token == nil, sub, accepted, applied)
	return v
}

// noAccess is the verdict on an APIAccess that has no Subscription and gets none.
func noAccess(accepted condition) verdict {
	return verdict{
		Composed: map[string]desiredResource{},
		NotReady: true,
		Waiting:  true,
		Status:   map[string]any{"summary": "no access: " + accepted.Reason},
		Conditions: []condition{
			accepted,
			{Type: TypeApplied, Status: isFalse, Reason: reasonNotAccepted, Message: "there is no subscription; the condition " + TypeAccepted + " says why"},
			{Type: TypeSecretPublished, Status: isFalse, Reason: reasonNotAccepted, Message: "there is no subscription, so there is no Secret"},
			tokenInForce(nil),
		},
	}
}

func notAccepted(reason, message string) condition {
	return condition{Type: TypeAccepted, Status: isFalse, Reason: reason, Message: message}
}

// target of the Subscription, and whether it is the one that is asked for. If that is
// not to be had, it is what the Subscription has, and nil if there is none.
func (c accessCase) target(sub *resource) (*target, condition) {
	kept, atGateway := c.held(sub)
	no := func(reason, format string, a ...any) (*target, condition) {
		message := fmt.Sprintf(format, a...)
		if kept != nil {
			message += fmt.Sprintf("; until then this access keeps API %q and plan %q", kept.API, kept.Plan)
		}
		return kept, notAccepted(reason, message)
	}

	name := c.Spec.ProductRef.Name
	switch {
	case c.Namespace == "":
		return no(reasonClaimMissing, "this object belongs to no claim, so there is no namespace to compose in; create a claim, an APIAccess of the group %s, instead", LegacyGroup)
	case !c.LookedUp:
		return kept, condition{Type: TypeAccepted, Status: isUnknown, Reason: reasonLookingUp, Message: "the product is being looked up"}
	case c.Product == nil:
		return no(reasonProductMissing, "there is no APIProduct %q in namespace %q; name one that is there in spec.productRef, or have the platform team create it", name, c.Namespace)
	case c.Product.Deleting && kept == nil:
		return no(reasonProductDeleting, "the APIProduct %q is being deleted and takes no new accesses; name another one in spec.productRef", name)
	}

	same := kept != nil && kept.Product == name
	t := &target{Product: name, API: c.Spec.API, Plan: c.Spec.Plan, ProviderConfigRef: c.Product.Spec.ProviderConfigRef}
	var withdrawn []string

	apis := apiNames(c.Product.Spec)
	switch {
	case t.API == "" && same:
		t.API = kept.API
	case t.API == "" && len(apis) == 1:
		t.API = apis[0]
	case t.API == "":
		return no(reasonAPINotNamed, "the APIProduct %q has several APIs; name one of them in spec.api: %s", name, list(apis))
	}
	switch {
	case slices.Contains(apis, t.API):
		t.APIObject = objectName(name, t.API)
	case same && kept.API == t.API:
		t.APIObject = kept.APIObject
		withdrawn = append(withdrawn, fmt.Sprintf("API %q (it has %s)", t.API, list(apis)))
	default:
		return no(reasonAPIUnknown, "the APIProduct %q has no API %q; name one of these in spec.api: %s", name, t.API, list(apis))
	}
	if atGateway && t.APIObject != kept.APIObject && t.APIObject != heldAPI(sub) {
		return no(reasonImmutable, "the API cannot be changed from %q of product %q once the subscription is at the gateway; set spec.api and spec.productRef back, or delete this object and create another one, which gets another token", kept.API, kept.Product)
	}

	i := slices.IndexFunc(c.Product.Spec.Plans, func(p productPlan) bool { return p.Name == t.Plan })
	switch {
	case i >= 0:
		t.PlanObject = planObject(name, c.Product.Spec.Plans[i])
	case same && kept.Plan == t.Plan:
		t.PlanObject = kept.PlanObject
		withdrawn = append(withdrawn, fmt.Sprintf("plan %q (it offers %s)", t.Plan, list(planNames(c.Product.Spec))))
	default:
		return no(reasonPlanUnknown, "the APIProduct %q offers no plan %q; choose one of these in spec.plan: %s", name, t.Plan, list(planNames(c.Product.Spec)))
	}

	accepted := condition{Type: TypeAccepted, Status: isTrue, Reason: reasonAccepted}
	var says []string
	if atGateway && len(kept.ProviderConfigRef) > 0 && !(within(kept.ProviderConfigRef, t.ProviderConfigRef) && within(t.ProviderConfigRef, kept.ProviderConfigRef)) {
		// Elsewhere it would be neither found nor suspended.
		accepted.Reason = reasonGatewayKept
		says = append(says, fmt.Sprintf("the APIProduct %q names %s by now; this access stays with %s, where its subscription is",
			name, configName(t.ProviderConfigRef), configName(kept.ProviderConfigRef)))
		t.ProviderConfigRef = kept.ProviderConfigRef
	}
	if len(withdrawn) > 0 {
		accepted.Reason = reasonWithdrawn
		says = append(says, fmt.Sprintf("the APIProduct %q no longer has %s; this access keeps it until its owner chooses another one", name, list(withdrawn)))
	}
	accepted.Message = strings.Join(says, "; ")
	return t, accepted
}

// held is what a Subscription has, and whether it is at the gateway. Of one that is, the
// spec can ask for another API than it has: it was changed before a create was answered.
func (c accessCase) held(sub *resource) (*target, bool) {
	if sub == nil {
		return nil, false
	}
	o := sub.Object
	t := &target{
		Product:           o.GetLabels()[LabelProduct],
		API:               o.GetAnnotations()[AnnotationAPI],
		Plan:              o.GetAnnotations()[AnnotationPlan],
		APIObject:         text(o.Object, "spec", "forProvider", "apiIdRef", "name"),
		PlanObject:        text(o.Object, "spec", "forProvider", "subscriptionPlanIdRef", "name"),
		ProviderConfigRef: fields(o.Object, "spec", "providerConfigRef"),
	}
	if c.HeldAPI != nil {
		t.Product, t.API, t.APIObject = c.HeldAPI.GetLabels()[LabelProduct], "", c.HeldAPI.GetName()
	}
	// Marks that somebody removed: the objects' names say nearly the same.
	t.Product = cmp.Or(t.Product, beforeLastDot(t.APIObject))
	t.API = cmp.Or(t.API, afterLastDot(t.APIObject))
	t.Plan = cmp.Or(t.Plan, afterLastDot(t.PlanObject))
	return t, deployed(sub)
}

// deployed tells whether a Subscription is at the gateway.
func deployed(sub *resource) bool {
	return sub != nil && flag(sub.Object.Object, "status", "deployed")
}

// heldAPI is the handle of the API that a deployed Subscription is to, as the gateway
// says. A RestApi has its own name as its handle, unless somebody chose another one.
func heldAPI(sub *resource) string {
	if !deployed(sub) {
		return ""
	}
	return text(sub.Object.Object, "status", "atProvider", "apiId")
}

func beforeLastDot(s string) string {
	return s[:max(strings.LastIndexByte(s, '.'), 0)]
}

func afterLastDot(s string) string {
	return s[strings.LastIndexByte(s, '.')+1:]
}

// forProvider is what is asked of the gateway, which fields have another value than is
// asked for, since they cannot change any more, and whether one is yet to follow.
func (c accessCase) forProvider(t target, sub *resource) (spec map[string]any, unchanged []string, more bool) {
	status := v1alpha1.SubscriptionActive
	if c.Spec.Suspended {
		status = v1alpha1.SubscriptionInactive
	}
	spec = map[string]any{
		"apiIdRef": map[string]any{"name": t.APIObject},
		"status":   string(status),
	}
	if t.PlanObject != "" {
		spec["subscriptionPlanIdRef"] = map[string]any{"name": t.PlanObject}
	}
	for _, f := range []struct{ there, here, value string }{
		{"applicationId", "spec.application", c.Spec.Application},
		{"externalRefId", "spec.externalRefId", c.Spec.ExternalRefID},
		{"billingCustomerId", "spec.billingCustomerId", c.Spec.BillingCustomerID},
		{"billingSubscriptionId", "spec.billingSubscriptionId", c.Spec.BillingSubscriptionID},
	} {
		value, what := f.value, changes
		if deployed(sub) {
			value, what = settle(f.there, f.value, sub)
		}
		switch what {
		case stays:
			unchanged = append(unchanged, f.here)
		case clears:
			more = true
		case changes:
		}
		if value != "" {
			spec[f.there] = value
		}
	}
	return spec, unchanged, more
}

// What is decided of a field that cannot change at the gateway.
type decision int

const (
	// changes to what is asked for, which it may be already.
	changes decision = iota
	// stays as it is, although something else is asked for.
	stays
	// clears, to change next time.
	clears
)

// settle a field of a deployed Subscription, which has to stay what it was created with: a
// spec that asks for something else holds up everything but a suspension. Mostly that is
// what the spec says, unless it was changed before a create was answered. Then the
// provider says so, and what is asked for is how it is set back.
func settle(field, asked string, sub *resource) (value string, d decision) {
	o := sub.Object.Object
	is, has := text(o, "spec", "forProvider", field), text(o, "status", "atProvider", field)
	applied, _ := conditionOf(sub.Object, TypeApplied)
	wrong := applied.Status == isFalse && applied.Reason == reasonImmutable
	switch {
	case asked == is:
		return is, changes
	case asked == "" && is == has && text(o, "status", "atProvider", "origin") == string(v1alpha1.OriginImported):
		// The provider filled it in.
		return is, changes
	case !wrong && (asked == "" || asked != has):
		return is, stays
	case is != "" && asked != "":
		// The API server refuses to change it at once, and with it all else.
		return "", clears
	default:
		return asked, changes
	}
}

// secrets are the name of the team's Secret, the reference to a token of their own (nil
// if one is generated), and why not the ones that are asked for, if so.
func (c accessCase) secrets(sub *resource) (name string, token map[string]any, taken string) {
	name = cmp.Or(c.Spec.SecretName, c.Name)
	if name == "" && sub != nil {
		// The claim is gone, and its name with it.
		name = text(sub.Object.Object, "spec", "writeConnectionSecretToRef", "name")
	}
	if c.Spec.TokenSecretRef == nil {
		return name, nil, ""
	}
	if c.Spec.TokenSecretRef.Name == name {
		taken = fmt.Sprintf("spec.tokenSecretRef names Secret %q, to which token, subscription ID and URL are to be written; name another one to write to in spec.secretName", name)
		if sub != nil {
			o := sub.Object.Object
			return text(o, "spec", "writeConnectionSecretToRef", "name"), fields(o, "spec", "forProvider", "subscriptionTokenSecretRef"), taken
		}
	}
	token = map[string]any{"name": c.Spec.TokenSecretRef.Name}
	if c.Spec.TokenSecretRef.Key != "" {
		token["key"] = c.Spec.TokenSecretRef.Key
	}
	return name, token, taken
}

// subscription that is composed. Crossplane names it, so that it is never one that
// somebody else made.
func (c accessCase) subscription(t target, forProvider map[string]any, secret string) map[string]any {
	annotations := map[string]any{AnnotationAPI: t.API, AnnotationPlan: t.Plan}
	if c.RotateToken != "" {
		annotations[v1alpha1.AnnotationRotateToken] = c.RotateToken
	}
	spec := map[string]any{
		"forProvider":                forProvider,
		"writeConnectionSecretToRef": map[string]any{"name": secret},
		// Whoever may ask for an access shall not come by what somebody else has: IDs are
		// no secrets, and who adopts a subscription gives it another token.
		"adoptionPolicy": string(v1alpha1.SubscriptionAdoptNever),
	}
	if len(t.ProviderConfigRef) > 0 {
		spec["providerConfigRef"] = t.ProviderConfigRef
	}
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(),
		"kind":       v1alpha1.SubscriptionKind,
		"metadata": map[string]any{
			"namespace":   c.Namespace,
			"labels":      map[string]any{LabelProduct: t.Product},
			"annotations": annotations,
		},
		"spec": spec,
	}
}

// usage keeps the product from being deleted for as long as the Subscription is there: the
// gateway deletes a subscription together with its API. It is used by the Subscription and
// not by the APIAccess: that one waits for what it composes when it is deleted in the
// foreground, and the Usage would wait for it.
func (c accessCase) usage(t target) map[string]any {
	return map[string]any{
		"apiVersion": usageAPIVersion,
		"kind":       usageKind,
		"metadata":   map[string]any{"name": usageName(c.CompositeName, t.Product), "namespace": c.Namespace},
		"spec": map[string]any{
			"of": map[string]any{
				"apiVersion":  Group + "/" + Version,
				"kind":        kindProduct,
				"resourceRef": map[string]any{"name": t.Product},
			},
			"by": map[string]any{
				"apiVersion":       v1alpha1.SchemeGroupVersion.String(),
				"kind":             v1alpha1.SubscriptionKind,
				"resourceSelector": map[string]any{"matchControllerRef": true},
			},
			"reason": fmt.Sprintf("APIAccess %q is an access to it; have that deleted first", c.Name),
		},
	}
}

// usageName is what Crossplane refuses the deletion of a product with, so it tells whose
// access it is. It is another one for another product: a Usage that is deleted goes only
// after a while, and one that was applied onto it would go with it.
func usageName(composite, product string) string {
	sum := sha256.Sum256([]byte(product))
	return fmt.Sprintf("apiaccess-%s-%x", composite, sum[:4])
}

// published tells whether the team's Secret is there, and what happens if it is deleted.
func published(secret string, own bool, sub *resource) condition {
	p := condition{Type: TypeSecretPublished, Status: isFalse, Reason: reasonNotPublished}
	again := "a new token is generated then, and the old one is no longer accepted"
	if own {
		again = "the token stays the same"
	}
	if sub != nil && text(sub.Object.Object, "spec", "writeConnectionSecretToRef", "name") == secret &&
		sub.Keys[keyToken] && sub.Keys[keySubscriptionID] && sub.Keys[keyAPIID] {
		p.Status, p.Reason = isTrue, reasonPublished
		p.Message = fmt.Sprintf("Secret %q has token, subscriptionId, apiId and, where the gateway's address is known, url. If it is deleted it is written again; %s", secret, again)
		return p
	}
	p.Message = fmt.Sprintf("Secret %q does not have token, subscriptionId and apiId yet; it is written once the gateway has the subscription, and again after it was deleted; %s", secret, again)
	return p
}

// tokenInForce passes on what a Subscription says of its token. It is there each time, or
// what was said of a Subscription that is gone would stay.
func tokenInForce(sub *resource) condition {
	if sub != nil {
		if c, ok := conditionOf(sub.Object, TypeTokenInForce); ok {
			c.Message = inOurTerms.Replace(c.Message)
			return c
		}
	}
	return condition{Type: TypeTokenInForce, Status: isUnknown, Reason: reasonUnknown, Message: "nothing is known of the token yet"}
}

// inOurTerms puts what a Subscription says of its fields into those of an APIAccess.
var inOurTerms = strings.NewReplacer(
	"spec.writeConnectionSecretToRef", "spec.secretName",
	"spec.forProvider.subscriptionTokenSecretRef", "spec.tokenSecretRef",
	"spec.forProvider.externalRefId", "spec.externalRefId",
	"spec.forProvider.applicationId", "spec.application",
	"spec.forProvider.billing", "spec.billing",
	"spec.forProvider.subscriptionPlanIdRef", "spec.plan",
	"spec.forProvider.apiIdRef", "spec.api",
	"spec.forProvider.apiId", "spec.api",
)

// inWords says who has to do what about what a Subscription says.
func (c accessCase) inWords(applied condition, t target, sub *resource) condition {
	said := inOurTerms.Replace(applied.Message)
	object := "the Subscription"
	if sub != nil {
		object = fmt.Sprintf("Subscription %q", sub.Object.GetName())
	}
	switch xpv2.ConditionReason(applied.Reason) {
	case v1alpha1.ReasonApplied:
		applied.Message = fmt.Sprintf("application %q has access to API %q of product %q under plan %q", c.Spec.Application, t.API, t.Product, t.Plan)
		if c.Spec.Suspended {
			applied.Reason = reasonSuspended
			applied.Message = "suspended: the gateway refuses calls with its token; set spec.suspended to false to let them through again"
		}
		if said != "" {
			applied.Message += "; " + said
		}
	case v1alpha1.ReasonConflict, v1alpha1.ReasonAdoptionRefused:
		// Not in the Subscription's words, which are for those who may edit it.
		applied.Message = "the subscription ID or the token that this access asks for is taken at the gateway. Its owner: choose another spec.externalRefId or another token. " +
			"If what is there ought to be this one's, the platform team can have it adopted, by the annotation crossplane.io/external-name of " + object
	case v1alpha1.ReasonAPIMissing, v1alpha1.ReasonPlanPending, v1alpha1.ReasonPlanMissing:
		applied.Message = said + c.productSays(t)
	case reasonReconcileError:
		applied.Message = fmt.Sprintf("it cannot be carried out for now; what was in force at the gateway stays so, and it is tried again by itself. If it lasts, the platform team has to look at %s and %s: %s",
			object, configName(t.ProviderConfigRef), said)
	case v1alpha1.ReasonGatewayUnavailable:
		applied.Message = fmt.Sprintf("the gateway of product %q cannot be asked; what was in force there stays so, and it is tried again by itself. If it lasts, the platform team has to look at %s: %s",
			t.Product, configName(t.ProviderConfigRef), said)
	case v1alpha1.ReasonTokenSecretMissing:
		applied.Message = "the owner of this access has to create the Secret with the token: " + said
	case v1alpha1.ReasonLegacyGateway:
		applied.Message = "the owner of this access: set plan or token back, or delete this object and create another one, which gets another token; the platform team: upgrade the gateway. " + said
	case v1alpha1.ReasonAmbiguousAttempt, v1alpha1.ReasonGatewayChanged, v1alpha1.ReasonNewerBaseline:
		applied.Message = fmt.Sprintf("the platform team has to decide, on %s: %s", object, said)
	default:
		applied.Message = said
	}
	return applied
}

// productSays is what the product says about an API or plan that is waited for.
func (c accessCase) productSays(t target) string {
	if c.Product == nil {
		return ""
	}
	var says []string
	for _, of := range []struct {
		what, name string
		parts      []partStatus
	}{
		{"API", t.API, c.Product.Status.APIs},
		{"plan", t.Plan, c.Product.Status.Plans},
	} {
		for _, p := range of.parts {
			if p.Name == of.name && !p.Ready {
				says = append(says, fmt.Sprintf("%s %q is not ready: %s", of.what, p.Name, cmp.Or(p.Message, "no reason is given")))
			}
		}
	}
	if len(says) == 0 {
		return ""
	}
	return fmt.Sprintf(". The platform team finds in APIProduct %q: %s", t.Product, strings.Join(says, "; "))
}

// configName of a provider configuration.
func configName(ref map[string]any) string {
	if len(ref) == 0 {
		return "the provider configuration"
	}
	return fmt.Sprintf("%s %q", cmp.Or(text(ref, "kind"), "ClusterProviderConfig"), text(ref, "name"))
}

// tell the status, and what just happened.
func (c accessCase) tell(v *verdict, t target, secret string, generated bool, sub *resource, accepted, applied condition) {
	token := "Own"
	if generated {
		token = "Generated"
	}
	s := map[string]any{"name": secret, "token": token}
	v.Status = map[string]any{"api": t.API, "plan": t.Plan, "secret": s}

	if generated && c.Status.Secret.UID != "" {
		// Kept while no other one is known, or nobody would notice that it is another one.
		s["uid"] = c.Status.Secret.UID
	}

	summary := fmt.Sprintf("%s on %s/%s", t.Plan, t.Product, t.API)
	if sub != nil {
		o := sub.Object.Object
		subscription := map[string]any{"name": sub.Object.GetName()}
		if id := text(o, "status", "atProvider", "id"); id != "" {
			subscription["id"] = id
		}
		v.Status["subscription"] = subscription
		state := text(o, "status", "atProvider", "status")
		if state != "" {
			v.Status["state"] = state
		}
		if sub.URL != "" {
			v.Status["url"] = sub.URL
		}
		if uid := text(o, "status", "atProvider", "token", "uid"); generated && uid != "" {
			s["uid"] = uid
			if c.Status.Secret.UID != "" && c.Status.Secret.UID != uid {
				v.Events = append(v.Events, event{Reason: "TokenReplaced", Message: fmt.Sprintf(
					"Secret %q was written anew with a newly generated token, since it or the subscription was deleted, or another name was given for it. The old token is no longer accepted: whoever uses it has to take over the new one", secret)})
			}
		}
		if applied.Status == isTrue {
			summary += ", " + cmp.Or(state, "not known")
		}
	}
	if applied.Status != isTrue {
		summary += ": " + applied.Reason
	}
	if accepted.Status != isTrue {
		summary += " (asked for something else: " + accepted.Reason + ")"
	}
	v.Status["summary"] = summary
}
