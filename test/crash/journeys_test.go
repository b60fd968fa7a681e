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
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A journey is something that is done with a Subscription, and what must have come
// of it wherever the provider was killed on the way.
type journey struct {
	name string

	// shape the Subscription otherwise than is usual. Optional.
	shape func(c *scene, s *gatewayv1alpha1.Subscription)

	// there is what the gateway has before. Optional.
	there func(c *scene)

	// act is done while the provider runs that is going to be killed. If it is nil the
	// Subscription is created; otherwise it is ready when this is done.
	act func(c *scene)

	// creates tells that nothing is there to be taken over.
	creates bool

	// meanwhile is done while the provider is dead. Optional.
	meanwhile func(c *scene)

	// settled tells what is still missing, or nil.
	settled func(c *scene) error
}

// journeys that are told on gateways of both generations.
func journeys() []journey {
	return []journey{
		{name: "Create", there: equalNeighbour, creates: true, settled: created},
		{name: "CreateWithID", shape: withID, there: equalNeighbour, creates: true, settled: created},
		{name: "CreateWithGeneratedToken", shape: generated, there: equalNeighbour, creates: true, settled: createdGenerated},
		{name: "CreateEditToken", there: equalNeighbour, meanwhile: editToken, settled: createdWithEditedToken},
		{name: "CreateWithIDEditToken", shape: withID, there: equalNeighbour, meanwhile: editToken, settled: createdWithEditedToken},
		{name: "CreateWithGeneratedTokenRotate", shape: generated, there: equalNeighbour, meanwhile: rotate, settled: createdGeneratedAndRotated},
		{name: "CreateEditAPI", there: equalNeighbour, meanwhile: editAPI, settled: createdWithEditedAPI},
		{name: "CreateWithIDEditAPI", shape: withID, there: equalNeighbour, meanwhile: editAPI, settled: createdWithEditedAPI},
		{name: "CreateWithGeneratedTokenEditAPI", shape: generated, there: equalNeighbour, meanwhile: editAPI, settled: createdWithEditedAPI},
		{name: "CreateDelete", there: equalNeighbour, meanwhile: (*scene).delete, settled: deleted(created)},
		{name: "CreateWithGeneratedTokenDelete", shape: generated, there: equalNeighbour, meanwhile: (*scene).delete, settled: deleted(createdGenerated)},
		{name: "Adopt", there: ours, settled: adopted},
		{name: "AdoptDelete", there: ours, meanwhile: (*scene).delete, settled: adoptedAndDeleted},
		{name: "ChangePlan", act: changePlan, settled: planChanged},
		{name: "EditToken", act: editToken, settled: tokenEdited},
		{name: "RotateGeneratedToken", shape: generated, act: rotate, settled: rotated},
		{name: "Revoke", act: revoke, settled: revoked},
		{name: "Delete", act: (*scene).delete, settled: (*scene).gone},
	}
}

// equalNeighbour is somebody's subscription that differs from what is going to be
// created in its token only, which nobody can read.
func equalNeighbour(c *scene) {
	c.standBy(emulator.Subscription{APIHandle: theAPI, ApplicationID: application, SubscriptionPlanID: c.gold}, "token-of-a-neighbour")
}

// ours is what was made by hand for the Subscription to adopt.
func ours(c *scene) {
	if _, ok := c.gw.AddSubscription(emulator.Subscription{APIHandle: theAPI, ApplicationID: application, SubscriptionPlanID: c.gold}, firstToken); !ok {
		c.t.Fatal("cannot add the subscription that is to be adopted")
	}
}

// withID lets the user choose the ID.
func withID(_ *scene, s *gatewayv1alpha1.Subscription) {
	s.Spec.ForProvider.ExternalRefID = ptr("chosen.by-the_user")
}

// generated lets the provider generate the token.
func generated(_ *scene, s *gatewayv1alpha1.Subscription) {
	s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
	s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: connectionSecret}
}

func editToken(c *scene) {
	mustEdit(c, &corev1.Secret{ObjectMeta: c.named(tokenSecret)}, func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte(editedToken)} })
}

func rotate(c *scene) {
	c.oldToken = c.published()
	mustEdit(c, c.s, func(s *gatewayv1alpha1.Subscription) {
		meta.AddAnnotations(s, map[string]string{gatewayv1alpha1.AnnotationRotateToken: rotation})
	})
}

// editAPI is refused once the subscription is deployed, and only then.
func editAPI(c *scene) {
	err := edit(c, c.s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.APIID = ptr(anotherAPI) })
	if err == nil {
		return
	}
	if getErr := c.get(c.s); getErr != nil || !kerrors.IsInvalid(err) || !c.s.Status.Deployed {
		c.t.Fatalf("cannot edit the API: %v", err)
	}
	c.death.editRefused = true
}

func changePlan(c *scene) {
	mustEdit(c, c.s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.SubscriptionPlanID = ptr(c.silver) })
}

func revoke(c *scene) {
	mustEdit(c, c.s, func(s *gatewayv1alpha1.Subscription) {
		s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
	})
}

func created(c *scene) error {
	return all(c.holds(theAPI, firstToken), c.hasID(), c.hasPlan(c.gold), c.ready(), c.inForce())
}

func createdGenerated(c *scene) error {
	return all(c.handedOut(theAPI), c.hasID(), c.hasPlan(c.gold), c.ready(), c.inForce())
}

// handedOut tells whether the token in the connection Secret is the one of the
// subscription.
func (c *scene) handedOut(api string, old ...string) error {
	token := c.published()
	if token == "" {
		return errors.New("no token is handed out")
	}
	return c.holds(api, token, old...)
}

// createdWithEditedToken: a legacy gateway that has the subscription already
// cannot give it another token, and what it has cannot be found out.
func createdWithEditedToken(c *scene) error {
	switch {
	case !c.death.happened:
		return created(c)
	case c.inPlace || !c.death.created:
		return all(c.holds(theAPI, editedToken, firstToken), c.hasID(), c.ready(), c.inForce())
	}
	return all(c.holds(theAPI, firstToken, editedToken), c.hasID(), c.notInForce(), either(c.ready(), c.refused(gatewayv1alpha1.ReasonLegacyGateway)))
}

// createdGeneratedAndRotated: whatever token is handed out is in force. It is
// another one if the Subscription had shown what it holds: what is in the manifest
// from the beginning asks for nothing.
func createdGeneratedAndRotated(c *scene) error {
	switch {
	case !c.death.happened:
		return createdGenerated(c)
	case c.inPlace && c.death.reported:
		return all(c.handedOut(theAPI, c.oldToken), c.hasID(), c.ready(), c.inForce())
	case c.inPlace || !c.death.created:
		return createdGenerated(c)
	}
	return all(c.handedOut(theAPI), c.hasID(), either(c.ready(), c.refused(gatewayv1alpha1.ReasonLegacyGateway)))
}

// createdWithEditedAPI: what the gateway has already stays where it is, and the
// edit is one of an immutable field.
func createdWithEditedAPI(c *scene) error {
	holds := func(api string) error {
		if c.s.Spec.WriteConnectionSecretToReference != nil {
			return c.handedOut(api)
		}
		return c.holds(api, firstToken)
	}
	switch {
	case !c.death.happened, c.death.editRefused:
		return all(holds(theAPI), c.hasID(), c.ready(), c.inForce())
	case c.death.created:
		return all(holds(theAPI), c.hasID(), c.refused(gatewayv1alpha1.ReasonImmutableField))
	}
	return all(holds(anotherAPI), c.hasID(), c.ready(), c.inForce())
}

// deleted once the provider was killed; until then all is as it would be.
func deleted(otherwise func(c *scene) error) func(c *scene) error {
	return func(c *scene) error {
		if !c.death.happened {
			return otherwise(c)
		}
		return c.gone()
	}
}

// adopted: on a legacy gateway nothing proves which token it has.
func adopted(c *scene) error {
	says := c.inForce
	if !c.inPlace {
		says = c.notInForce
	}
	return all(c.holds(theAPI, firstToken), c.hasPlan(c.gold), c.ready(), says())
}

// adoptedAndDeleted: what was not yet recorded as adopted stays.
func adoptedAndDeleted(c *scene) error {
	switch {
	case !c.death.happened:
		return adopted(c)
	case c.death.recorded:
		return c.gone()
	}
	if err := c.get(c.s); !kerrors.IsNotFound(err) {
		return errors.Errorf("the Subscription is still there (%v)", err)
	}
	if mine := c.mine(); len(mine) != 1 || !c.gw.HoldsToken(mine[0].ID, firstToken) {
		return errors.Errorf("want what was made by hand left alone, got %+v", mine)
	}
	return nil
}

func planChanged(c *scene) error {
	if c.inPlace {
		return all(c.holds(theAPI, firstToken), c.hasPlan(c.silver), c.ready(), c.inForce())
	}
	return all(c.holds(theAPI, firstToken), c.hasPlan(c.gold), c.refused(gatewayv1alpha1.ReasonLegacyGateway))
}

// tokenEdited: that a legacy gateway does not have the edited token is known to
// the process that saw both, and no longer after a restart.
func tokenEdited(c *scene) error {
	if c.inPlace {
		return all(c.holds(theAPI, editedToken, firstToken), c.ready(), c.inForce())
	}
	says := c.refused(gatewayv1alpha1.ReasonLegacyGateway)
	if c.death.happened {
		says = either(says, c.ready())
	}
	return all(c.holds(theAPI, firstToken, editedToken), c.notInForce(), says)
}

func rotated(c *scene) error {
	if c.inPlace {
		return all(c.handedOut(theAPI, c.oldToken), c.ready(), c.inForce())
	}
	return all(c.holds(theAPI, c.oldToken), c.handedOut(theAPI), c.refused(gatewayv1alpha1.ReasonLegacyGateway))
}

func revoked(c *scene) error {
	return all(c.holds(theAPI, firstToken), c.hasStatus("REVOKED"), c.ready())
}
