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
	"reflect"

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
	if err := errors.Join(c.doubled(), c.disturbed()); err != nil {
		return err
	}
	for _, mg := range c.about {
		if is := mg.GetCondition(gatewayv1alpha1.TypeApplied); is.Reason == gatewayv1alpha1.ReasonAmbiguousAttempt {
			return errors.Errorf("there is nothing ambiguous here: %s", is.Message)
		}
	}
	return nil
}

// doubled tells whether there is, or was made, more at the gateway than was asked for.
func (c *scene) doubled() error {
	asked, are, created := map[emulator.Kind]int{}, map[emulator.Kind]int{}, map[emulator.Kind]int{}
	for _, s := range c.topics() {
		asked[s.at]++
	}
	for of := range c.things() {
		if c.others[of] == nil {
			are[of.at]++
		}
	}
	for _, r := range c.gw.Requests(emulator.Match{Method: http.MethodPost}) {
		if r.Committed {
			created[r.Kind]++
		}
	}
	for _, at := range []emulator.Kind{emulator.Subscriptions, emulator.RestAPIs, emulator.SubscriptionPlans} {
		if are[at] > asked[at] || created[at] > asked[at] {
			return errors.Errorf("there are %d %s and %d were created, although %d were asked for", are[at], at, created[at], asked[at])
		}
	}
	return nil
}

// disturbed tells whether what is none of the provider's business was changed.
func (c *scene) disturbed() error {
	things := c.things()
	for of, was := range c.others {
		if is := things[of]; !reflect.DeepEqual(was, is) {
			return errors.Errorf("what somebody else has at the gateway was changed from %+v to %+v", was, is)
		}
	}
	for id, token := range c.tokens {
		if !c.gw.HoldsToken(id, token) {
			return errors.Errorf("the token of somebody else's subscription %s was changed", id)
		}
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
	return errors.Join(held(c.s, is.ID), c.closed())
}

// closed tells whether nothing is left of a create that would wait for anything.
func (c *scene) closed() error {
	for _, mg := range c.about {
		a, err := record.ReadAttempt(mg)
		switch {
		case err != nil:
			return err
		case a != nil && a.Outcome == record.Open:
			return errors.Errorf("the attempt to create %T is still open", mg)
		case meta.ExternalCreateIncomplete(mg):
			return errors.Errorf("for the runtime, the creation of %T is still pending", mg)
		}
	}
	return nil
}

// handled tells whether the rotation that was asked for is known to be done: until then
// it is done again by a provider that was killed meanwhile.
func (c *scene) handled() error {
	if asked, is := c.s.GetAnnotations()[gatewayv1alpha1.AnnotationRotateToken], c.s.Status.AtProvider.HandledRotation; is != asked {
		return errors.Errorf("the rotation %q is handled, and %q was asked for", is, asked)
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

// is tells whether all that the test is about says something.
func (c *scene) is(t xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason) error {
	for _, mg := range c.about {
		if is := mg.GetCondition(t); is.Status != s || r != "" && is.Reason != r {
			return errors.Errorf("%T: want %s %s %s, got %s (%s: %s)", mg, t, s, r, is.Status, is.Reason, is.Message)
		}
	}
	return nil
}

// ready tells whether all is ready, as it was last edited.
func (c *scene) ready() error {
	for _, mg := range c.about {
		if is := mg.GetCondition(xpv2.TypeSynced); is.ObservedGeneration != mg.GetGeneration() {
			return errors.Errorf("generation %d of %T was looked at, want %d", is.ObservedGeneration, mg, mg.GetGeneration())
		}
	}
	return errors.Join(
		c.is(xpv2.TypeReady, corev1.ConditionTrue, ""),
		c.is(xpv2.TypeSynced, corev1.ConditionTrue, ""),
		c.is(gatewayv1alpha1.TypeApplied, corev1.ConditionTrue, ""),
	)
}

// inForce tells whether the Subscription, if the test is about it, says that its token
// is in force, or does not say that it is not if it cannot know.
func (c *scene) inForce() error {
	is := c.s.GetCondition(gatewayv1alpha1.TypeTokenInForce).Status
	if !c.isAbout(c.s) || is == corev1.ConditionTrue || c.death.unsure && is == corev1.ConditionUnknown {
		return nil
	}
	return errors.Errorf("whether the token is in force is %s", is)
}

// notInForce tells whether the Subscription does not say so.
func (c *scene) notInForce() error {
	if c.is(gatewayv1alpha1.TypeTokenInForce, corev1.ConditionTrue, "") == nil {
		return errors.New("the token counts as in force although it is not")
	}
	return nil
}

// refused tells whether it is said for that reason that what is asked for is not
// applied.
func (c *scene) refused(reason xpv2.ConditionReason) error {
	return errors.Join(
		c.is(xpv2.TypeReady, corev1.ConditionFalse, ""),
		c.is(gatewayv1alpha1.TypeApplied, corev1.ConditionFalse, reason),
	)
}

// gone tells whether all that the test is about is gone, and what it had at the
// gateway.
func (c *scene) gone() error {
	for _, mg := range c.about {
		switch err := c.get(mg); {
		case err == nil:
			return errors.Errorf("%T is still there", mg)
		case !kerrors.IsNotFound(err):
			return err
		}
	}
	if left := made[any](c); len(left) > 0 {
		return errors.Errorf("it left behind %+v", left)
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
