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
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// wrong is what must not be at any time.
func (c *scene) wrong() error {
	if err := c.provider.Err(); err != nil && c.trap.victim() == nil {
		return err
	}
	if mine := c.mine(); len(mine) > 1 {
		return errors.Errorf("there are %d subscriptions where there should be one at most: %+v", len(mine), mine)
	}
	made := 0
	for _, r := range c.gw.Requests(emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}) {
		if r.Committed {
			made++
		}
	}
	if made > 1 {
		return errors.Errorf("%d subscriptions were created, although one was asked for", made)
	}
	for id, b := range c.bystanders {
		if is, ok := c.gw.Subscription(id); !ok || is != b.is || !c.gw.HoldsToken(id, b.token) {
			return errors.Errorf("somebody else's subscription was changed from %+v to %+v (there: %t)", b.is, is, ok)
		}
	}
	if c.s == nil || c.s.GetUID() == "" {
		return nil
	}
	if is := c.s.GetCondition(gatewayv1alpha1.TypeApplied); is.Reason == gatewayv1alpha1.ReasonAmbiguousAttempt {
		return errors.Errorf("there is nothing ambiguous here: %s", is.Message)
	}
	return nil
}

// holds tells whether the gateway has exactly the one subscription, on that API
// and with that token, and whether the Subscription knows.
func (c *scene) holds(api, token string, old ...string) error {
	if err := c.get(c.s); err != nil {
		return err
	}
	mine := c.mine()
	if len(mine) != 1 {
		return errors.Errorf("there are %d subscriptions, want one", len(mine))
	}
	is := mine[0]
	switch {
	case is.APIHandle != api:
		return errors.Errorf("it is a subscription to %q, want %q", is.APIHandle, api)
	case is.ApplicationID != application:
		return errors.Errorf("it is the subscription of %q", is.ApplicationID)
	case meta.GetExternalName(c.s) != is.ID:
		return errors.Errorf("the external name is %q, want %q", meta.GetExternalName(c.s), is.ID)
	case c.s.Status.AtProvider.ID != is.ID:
		return errors.Errorf("the reported ID is %q, want %q", c.s.Status.AtProvider.ID, is.ID)
	case !c.s.Status.Deployed:
		return errors.New("the Subscription does not count as deployed")
	case !c.gw.HoldsToken(is.ID, token):
		return errors.New("it has another token")
	}
	if through := c.gw.LetThrough(api, token); through != (is.Status == "ACTIVE") {
		return errors.Errorf("it is %s, and the token let through: %t", is.Status, through)
	}
	for _, t := range old {
		if c.gw.LetThrough(api, t) {
			return errors.New("the old token is let through")
		}
	}
	return c.closed()
}

// closed tells whether nothing is left of a create that would wait for anything.
func (c *scene) closed() error {
	a, err := record.ReadAttempt(c.s)
	switch {
	case err != nil:
		return err
	case a != nil && a.Outcome == record.Open:
		return errors.New("the attempt to create it is still open")
	case meta.ExternalCreateIncomplete(c.s):
		return errors.New("for the runtime, its creation is still pending")
	}
	return nil
}

// hasPlan tells whether the one subscription has a plan.
func (c *scene) hasPlan(id string) error {
	for _, is := range c.mine() {
		if is.SubscriptionPlanID != id {
			return errors.Errorf("it has plan %q, want %q", is.SubscriptionPlanID, id)
		}
	}
	return nil
}

// hasStatus tells whether the one subscription has a status.
func (c *scene) hasStatus(status string) error {
	for _, is := range c.mine() {
		if is.Status != status {
			return errors.Errorf("it is %s, want %s", is.Status, status)
		}
	}
	return nil
}

// hasID tells whether the one subscription has the ID that was asked for. A legacy
// gateway chooses another one.
func (c *scene) hasID() error {
	asked := string(c.s.GetUID())
	if ref := c.s.Spec.ForProvider.ExternalRefID; ref != nil {
		asked = *ref
	}
	for _, is := range c.mine() {
		if (is.ID == asked) != c.inPlace {
			return errors.Errorf("it has the ID %q, and %q was asked for", is.ID, asked)
		}
	}
	return nil
}

func (c *scene) is(t xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason) error {
	is := c.s.GetCondition(t)
	if is.Status != s || r != "" && is.Reason != r {
		return errors.Errorf("want %s %s %s, got %s (%s: %s)", t, s, r, is.Status, is.Reason, is.Message)
	}
	return nil
}

// ready tells whether the Subscription is ready, as it was last edited.
func (c *scene) ready() error {
	if is := c.s.GetCondition(xpv2.TypeSynced); is.ObservedGeneration != c.s.GetGeneration() {
		return errors.Errorf("generation %d was looked at, want %d", is.ObservedGeneration, c.s.GetGeneration())
	}
	return errors.Join(
		c.is(xpv2.TypeReady, corev1.ConditionTrue, ""),
		c.is(xpv2.TypeSynced, corev1.ConditionTrue, ""),
		c.is(gatewayv1alpha1.TypeApplied, corev1.ConditionTrue, ""),
	)
}

// inForce tells whether the Subscription says that its token is in force, or does
// not say that it is not if it cannot know.
func (c *scene) inForce() error {
	err := c.is(gatewayv1alpha1.TypeTokenInForce, corev1.ConditionTrue, "")
	if c.death.unsure {
		err = either(err, c.is(gatewayv1alpha1.TypeTokenInForce, corev1.ConditionUnknown, ""))
	}
	return err
}

// notInForce tells whether the Subscription does not say so.
func (c *scene) notInForce() error {
	if c.is(gatewayv1alpha1.TypeTokenInForce, corev1.ConditionTrue, "") == nil {
		return errors.New("the token counts as in force although it is not")
	}
	return nil
}

// refused tells whether the Subscription says for that reason that what it asks
// for is not applied.
func (c *scene) refused(reason xpv2.ConditionReason) error {
	return errors.Join(
		c.is(xpv2.TypeReady, corev1.ConditionFalse, ""),
		c.is(gatewayv1alpha1.TypeApplied, corev1.ConditionFalse, reason),
	)
}

// gone tells whether the Subscription is gone, and what it had at the gateway.
func (c *scene) gone() error {
	switch err := c.get(c.s); {
	case err == nil:
		return errors.New("the Subscription is still there")
	case !kerrors.IsNotFound(err):
		return err
	}
	if mine := c.mine(); len(mine) > 0 {
		return errors.Errorf("it left behind %+v", mine)
	}
	return nil
}

// all that is to be true.
func all(checks ...error) error { return errors.Join(checks...) }

// either is true if one of several is.
func either(checks ...error) error {
	for _, err := range checks {
		if err == nil {
			return nil
		}
	}
	return errors.Join(checks...)
}
