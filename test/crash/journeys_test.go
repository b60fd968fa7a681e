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
	"maps"
	"net/http"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A journey is something that is done with managed resources, and what must have come
// of it wherever the provider was killed on the way.
type journey struct {
	name string

	// about is what is created, a Subscription if it is nil.
	about func(c *scene) []resource.ModernManaged

	// alike tells that gateways of both generations do the same on it, so that one of
	// them is enough.
	alike bool

	// shape it otherwise than is usual. Optional.
	shape func(c *scene)

	// there is what the gateway has before. Optional.
	there func(c *scene)

	// act is done while the provider runs that is going to be killed, when all is
	// created and ready. If it is nil it is the creation that is the journey.
	act func(c *scene)

	// creates tells that nothing is there to be taken over.
	creates bool

	// asks is how often the gateway is asked to write something on the journey if all is
	// answered and seen: once for each managed resource if it is 0, and as often as there
	// is time for if it is asOften.
	asks int

	// meanwhile is done while the provider is dead. Optional.
	meanwhile func(c *scene)

	// settled tells what is still missing, or nil.
	settled func(c *scene) error
}

// asOften: what is refused is tried again.
const asOften = -1

// journeys that are told.
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
		{name: "Adopt", there: ours, asks: 3, settled: adopted},
		{name: "AdoptDelete", there: ours, meanwhile: (*scene).delete, settled: adoptedAndDeleted},
		{name: "ChangePlan", act: changePlan, settled: planChanged},
		{name: "EditToken", act: editToken, settled: tokenEdited},
		{name: "RotateGeneratedToken", shape: generated, act: rotate, settled: rotated},
		{name: "Revoke", act: revoke, settled: revoked},
		{name: "Delete", act: (*scene).delete, settled: (*scene).gone},

		{name: "APICreate", about: anAPI, alike: true, creates: true, settled: apiThere},
		{name: "APICreateWithHandle", about: anAPI, alike: true, shape: withHandle, creates: true, settled: apiThereAsNamed},
		{name: "APICreateDelete", about: anAPI, alike: true, meanwhile: (*scene).delete, settled: deleted(apiThere)},
		{name: "APIImport", about: anAPI, alike: true, shape: withHandle, there: unmarkedAPI, settled: apiThereAsNamed},
		{name: "APITakeover", about: anAPI, alike: true, shape: takeover, there: markedAPI, settled: apiThere},
		{name: "APIChange", about: anAPI, alike: true, act: changeAPI, settled: apiThere},
		{name: "APIDelete", about: anAPI, alike: true, act: (*scene).delete, settled: (*scene).gone},

		{name: "PlanCreate", about: aPlan, alike: true, creates: true, settled: planThere},
		{name: "PlanCreateDelete", about: aPlan, alike: true, meanwhile: (*scene).delete, settled: deleted(planThere)},
		{name: "PlanAdopt", about: aPlan, alike: true, shape: ifUnique, there: samePlan, settled: planThere},
		{name: "PlanChange", about: aPlan, alike: true, act: changeThePlan, settled: planThere},
		{name: "PlanRename", about: aPlan, alike: true, act: renamePlan, settled: planRenamed},
		{name: "PlanRenameToTaken", about: aPlan, act: renamePlanToTaken, asks: asOften, settled: planNotRenamed},
		{name: "PlanDelete", about: aPlan, alike: true, act: (*scene).delete, settled: (*scene).gone},

		{name: "BundleCreate", about: aBundle, creates: true, settled: bundleThere},
		{name: "BundleDelete", about: aBundle, act: (*scene).delete, asks: asOften, settled: (*scene).gone},
	}
}

// generationsOf gateways on which a journey is made.
func generationsOf(j journey) map[string]emulator.Generation {
	all := generations()
	if j.alike {
		// Which one drops out is the same for the same seed.
		delete(all, slices.Sorted(maps.Keys(all))[dice(j.name).IntN(len(all))])
	}
	return all
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
func withID(c *scene) {
	c.s.Spec.ForProvider.ExternalRefID = ptr("chosen.by-the_user")
}

// generated lets the provider generate the token.
func generated(c *scene) {
	c.s.Spec.ForProvider.SubscriptionTokenSecretRef = nil
	c.s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: connectionSecret}
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

// withHandle lets the user choose the handle of the API.
func withHandle(c *scene) { meta.SetExternalName(c.a, chosenHandle) }

func takeover(c *scene) { c.a.Spec.AdoptionPolicy = gatewayv1alpha1.RestApiAdoptionTakeover }

func ifUnique(c *scene) { c.p.Spec.AdoptionPolicy = gatewayv1alpha1.SubscriptionPlanAdoptionIfUnique }

// unmarkedAPI is one that was made by hand for the user to name.
func unmarkedAPI(c *scene) {
	if _, ok := c.gw.AddAPI(chosenHandle); !ok {
		c.t.Fatal("cannot add the API that is to be imported")
	}
}

// markedAPI is one that another cluster made, and that is to be taken over.
func markedAPI(c *scene) {
	if status, _ := c.gw.Do(http.MethodPost, "/rest-apis", map[string]any{
		"apiVersion": "gateway.api-platform.wso2.com/v1alpha1", "kind": "RestApi",
		"metadata": map[string]any{"name": theName, "annotations": map[string]any{gatewayv1alpha1.AnnotationOwner: "another-cluster/somewhere/" + theName}},
		"spec": map[string]any{
			"displayName": "Theirs", "version": "v2.0", "context": "/theirs",
			"upstream":   map[string]any{"main": map[string]any{"url": "http://theirs.example.org"}},
			"operations": []any{map[string]any{"method": "POST", "path": "/theirs"}},
		},
	}); status != http.StatusCreated {
		c.t.Fatalf("cannot add the API that is to be taken over: %d", status)
	}
}

// samePlan is one that was made by hand under the name that is asked for.
func samePlan(c *scene) {
	if _, ok := c.gw.AddPlan(thePlan); !ok {
		c.t.Fatal("cannot add the plan that is to be adopted")
	}
}

func changeAPI(c *scene) {
	mustEdit(c, c.a, func(a *gatewayv1alpha1.RestApi) {
		f := &a.Spec.ForProvider
		f.DisplayName, f.Context = "Another One", "/another-one"
		f.Operations = append(f.Operations, gatewayv1alpha1.Operation{Method: ptr(gatewayv1alpha1.HTTPMethod("POST")), Path: ptr("/two")})
	})
}

func changeThePlan(c *scene) {
	mustEdit(c, c.p, func(p *gatewayv1alpha1.SubscriptionPlan) {
		f := &p.Spec.ForProvider
		f.BillingPlan, f.ThrottleLimitCount, f.ThrottleLimitUnit = ptr("PAID"), ptr(int64(7)), ptr(gatewayv1alpha1.ThrottleLimitUnitHour)
	})
}

func renameTo(c *scene, name string) {
	mustEdit(c, c.p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.PlanName = name })
}

func renamePlan(c *scene) { renameTo(c, renamedPlan) }

func renamePlanToTaken(c *scene) { renameTo(c, takenPlan) }

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
		return all(c.handedOut(theAPI, c.oldToken), c.ready(), c.inForce(), c.handled())
	}
	return all(c.holds(theAPI, c.oldToken), c.handedOut(theAPI), c.refused(gatewayv1alpha1.ReasonLegacyGateway))
}

func apiThere(c *scene) error { return all(c.hasAPI(theName), c.ready()) }

func apiThereAsNamed(c *scene) error { return all(c.hasAPI(chosenHandle), c.ready()) }

func planThere(c *scene) error { return all(c.hasThePlan(thePlan), c.ready()) }

func planRenamed(c *scene) error { return all(c.hasThePlan(renamedPlan), c.ready()) }

func planNotRenamed(c *scene) error {
	return all(c.hasThePlan(thePlan), c.refused(gatewayv1alpha1.ReasonConflict))
}

// bundleThere: each refers to the others as they are at the gateway.
func bundleThere(c *scene) error {
	return all(c.hasThePlan(thePlan), c.hasAPI(theName), c.holds(theName, firstToken), c.hasID(), c.hasPlan(meta.GetExternalName(c.p)), c.ready(), c.inForce())
}

func revoked(c *scene) error {
	return all(c.holds(theAPI, firstToken), c.hasStatus("REVOKED"), c.ready())
}
