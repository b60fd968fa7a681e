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

package crash

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A topic is a managed resource that a journey is about. What is to be known of its
// kind is known here.
type topic struct {
	mg resource.ModernManaged

	// watch is what the API server calls its kind, and at what the gateway does.
	watch string
	at    emulator.Kind

	// id that its status tells, and whether it says that this is deployed.
	id       string
	deployed bool
}

func topicOf(mg resource.ModernManaged) topic {
	switch mg := mg.(type) {
	case *gatewayv1alpha1.Subscription:
		return topic{mg, subscriptionsWatch, emulator.Subscriptions, mg.Status.AtProvider.ID, mg.Status.Deployed}
	case *gatewayv1alpha1.RestApi:
		return topic{mg, apisWatch, emulator.RestAPIs, mg.Status.AtProvider.ID, mg.Status.Deployed}
	case *gatewayv1alpha1.SubscriptionPlan:
		return topic{mg, plansWatch, emulator.SubscriptionPlans, mg.Status.AtProvider.ID, mg.Status.Deployed}
	}
	return topic{mg: mg}
}

// topics of the journey, as they were last read.
func (c *scene) topics() []topic {
	all := make([]topic, 0, len(c.about))
	for _, mg := range c.about {
		all = append(all, topicOf(mg))
	}
	return all
}

// What a journey can be about.

func aSubscription(c *scene) []resource.ModernManaged { return []resource.ModernManaged{c.s} }

func anAPI(c *scene) []resource.ModernManaged { return []resource.ModernManaged{c.a} }

func aPlan(c *scene) []resource.ModernManaged { return []resource.ModernManaged{c.p} }

// aBundle is all of them, which refer to each other. Who refers comes first.
func aBundle(c *scene) []resource.ModernManaged {
	f := &c.s.Spec.ForProvider
	f.APIID, f.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: c.a.GetName()}
	f.SubscriptionPlanID, f.SubscriptionPlanIDRef = nil, &gatewayv1alpha1.Reference{Name: c.p.GetName()}
	c.a.Spec.ForProvider.SubscriptionPlanRefs = []gatewayv1alpha1.Reference{{Name: c.p.GetName()}}
	return []resource.ModernManaged{c.s, c.a, c.p}
}

func managed() xpv2.ManagedResourceSpec {
	return xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "gateway"}}
}

// subscription is the Subscription that a test may be about, not yet created.
func (c *scene) subscription() *gatewayv1alpha1.Subscription {
	return &gatewayv1alpha1.Subscription{
		ObjectMeta: c.named(theName),
		Spec: gatewayv1alpha1.SubscriptionSpec{
			ManagedResourceSpec: managed(),
			ForProvider: gatewayv1alpha1.SubscriptionParameters{
				APIID: ptr(theAPI), ApplicationID: ptr(application), SubscriptionPlanID: ptr(c.gold),
				SubscriptionTokenSecretRef: &gatewayv1alpha1.TokenSecretReference{Name: tokenSecret},
			},
		},
	}
}

// restAPI is the RestApi that a test may be about, not yet created.
func (c *scene) restAPI() *gatewayv1alpha1.RestApi {
	return &gatewayv1alpha1.RestApi{
		ObjectMeta: c.named(theName),
		Spec: gatewayv1alpha1.RestApiSpec{
			ManagedResourceSpec: managed(),
			ForProvider: gatewayv1alpha1.RestApiParameters{
				DisplayName: "One", Version: "v1.0", Context: "/one",
				Upstream:   gatewayv1alpha1.RestApiUpstreams{Main: gatewayv1alpha1.Upstream{URL: ptr("http://one.example.org")}},
				Operations: []gatewayv1alpha1.Operation{{Method: ptr(gatewayv1alpha1.HTTPMethod("GET")), Path: ptr("/one")}},
			},
		},
	}
}

// plan is the SubscriptionPlan that a test may be about, not yet created.
func (c *scene) plan() *gatewayv1alpha1.SubscriptionPlan {
	return &gatewayv1alpha1.SubscriptionPlan{
		ObjectMeta: c.named(theName),
		Spec: gatewayv1alpha1.SubscriptionPlanSpec{
			ManagedResourceSpec: managed(),
			ForProvider: gatewayv1alpha1.SubscriptionPlanParameters{
				PlanName: thePlan, BillingPlan: ptr("FREE"),
				ThrottleLimitCount: ptr(int64(5)), ThrottleLimitUnit: ptr(gatewayv1alpha1.ThrottleLimitUnitMin),
			},
		},
	}
}

// A thing is something at the gateway.
type thing struct {
	at emulator.Kind
	id string
}

// things that the gateway has.
func (c *scene) things() map[thing]any {
	all := map[thing]any{}
	for _, s := range c.gw.Subscriptions() {
		all[thing{emulator.Subscriptions, s.ID}] = s
	}
	for _, a := range c.gw.APIs() {
		all[thing{emulator.RestAPIs, a.Handle}] = a
	}
	for _, p := range c.gw.Plans() {
		all[thing{emulator.SubscriptionPlans, p.ID}] = p
	}
	return all
}

// made are the things of a kind at the gateway that are the provider's business.
func made[T any](c *scene) []T {
	var made []T
	for of, is := range c.things() {
		if t, ok := is.(T); ok && c.others[of] == nil {
			made = append(made, t)
		}
	}
	return made
}

// mine are the subscriptions among them.
func (c *scene) mine() []emulator.Subscription { return made[emulator.Subscription](c) }

// held tells whether a managed resource knows that it holds what has this ID at the gateway.
func held(mg resource.ModernManaged, id string) error {
	switch is := topicOf(mg); {
	case meta.GetExternalName(mg) != id:
		return errors.Errorf("the external name is %q, want %q", meta.GetExternalName(mg), id)
	case is.id != id:
		return errors.Errorf("the reported ID is %q, want %q", is.id, id)
	case !is.deployed:
		return errors.Errorf("%T does not count as deployed", mg)
	}
	return nil
}

// hasAPI tells whether the gateway has exactly the one API, under that handle and as
// the spec asks for it, and whether the RestApi knows.
func (c *scene) hasAPI(handle string) error {
	if err := c.get(c.a); err != nil {
		return err
	}
	mine := made[emulator.API](c)
	if len(mine) != 1 {
		return errors.Errorf("there are %d APIs, want one", len(mine))
	}
	is := mine[0]
	spec, _ := is.Document["spec"].(map[string]any)
	switch owner := is.Annotations[gatewayv1alpha1.AnnotationOwner]; {
	case is.Handle != handle:
		return errors.Errorf("its handle is %q, want %q", is.Handle, handle)
	case !strings.HasSuffix(owner, "/"+c.ns+"/"+theName):
		return errors.Errorf("it is marked as %q", owner)
	case !is.Deployed:
		return errors.New("it is not deployed")
	}
	if c.isAbout(c.p) && !reflect.DeepEqual(is.SubscriptionPlans, []string{thePlan}) {
		return errors.Errorf("it offers the plans %v", is.SubscriptionPlans)
	}
	return errors.Join(like(c.a.Spec.ForProvider, spec, "subscriptionPlanRefs"), held(c.a, handle), c.closed())
}

// hasThePlan tells whether the gateway has exactly the one plan, under that name and
// else as the spec asks for it, and whether the SubscriptionPlan knows.
func (c *scene) hasThePlan(name string) error {
	if err := c.get(c.p); err != nil {
		return err
	}
	mine := made[emulator.Plan](c)
	if len(mine) != 1 {
		return errors.Errorf("there are %d plans, want one", len(mine))
	}
	is := mine[0]
	f := c.p.Spec.ForProvider
	switch {
	case is.PlanName != name:
		return errors.Errorf("its name is %q, want %q", is.PlanName, name)
	case is.BillingPlan != *f.BillingPlan, int64(is.ThrottleLimitCount) != *f.ThrottleLimitCount, is.ThrottleLimitUnit != string(*f.ThrottleLimitUnit):
		return errors.Errorf("it is %+v, want %+v", is, f)
	case !is.StopOnQuotaReach, is.Status != "ACTIVE":
		return errors.Errorf("it is %+v", is)
	}
	return errors.Join(held(c.p, is.ID), c.closed())
}

// like tells whether something at the gateway has all fields that are asked for.
func like(asked any, has map[string]any, but ...string) error {
	raw, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	for _, field := range but {
		delete(want, field)
	}
	for field, value := range want {
		if !reflect.DeepEqual(value, has[field]) {
			return errors.Errorf("%s is %v, want %v", field, has[field], value)
		}
	}
	return nil
}
