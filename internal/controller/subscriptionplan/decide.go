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

package subscriptionplan

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// A way is how a plan was found.
type way string

const (
	// absent plans were not found.
	absent way = "absent"
	// byID is by the ID in the baseline, or in the external-name.
	byID way = "byID"
	// byAttempt is by the name our own create asked for, whose answer is unknown.
	byAttempt way = "byAttempt"
	// byName is by the name in the spec.
	byName way = "byName"
)

// A situation is all that decides what is done about a plan.
type situation struct {
	name string
	// externalName that the user set: without a baseline it asks for an import.
	externalName string
	// recorded is the ID in the baseline: empty unless the plan is held.
	recorded string
	// sameGateway is whether the baseline is about the gateway that was asked.
	sameGateway bool
	// accepted is whether the configuration's owner confirmed that it leads to
	// another gateway now.
	accepted bool
	// found is how a plan was found, and sameName whether it has the name in the
	// spec.
	found    way
	sameName bool
	// heldByOther is whether another managed resource of this cluster holds it, or has
	// the better claim to it.
	heldByOther bool
	// adopt is the adoption policy.
	adopt bool
	// observeOnly is whether nothing may be written.
	observeOnly bool
	deleting    bool
}

// An action is what is to be done.
type action string

const (
	// create the plan.
	create action = "create"
	// take over a plan that is there: apply the spec to it.
	take action = "take"
	// manage a plan that is held: compare it, and set it back if it differs.
	manage action = "manage"
	// look at a plan without touching it.
	look action = "look"
	// leave what is there alone: to this object there is nothing.
	leave action = "leave"
	// refuse to do anything.
	refuse action = "refuse"
)

// A verdict is an action, and where it is a refusal, why.
type verdict struct {
	action  action
	reason  xpv2.ConditionReason
	message string
}

// decide what is done about a plan.
func decide(s situation) verdict {
	switch {
	case s.recorded != "" && s.externalName != "" && s.externalName != s.recorded && !s.deleting:
		return verdict{action: refuse, reason: v1alpha1.ReasonImmutableField, message: idChanged(s.recorded, s.externalName)}
	case s.found == absent:
		return decideAbsent(s)
	case s.deleting, s.observeOnly:
		return decidePassive(s)
	case s.found == byName && s.elsewhere():
		return verdict{action: refuse, reason: v1alpha1.ReasonGatewayChanged, message: gatewayChanged}
	case s.found == byID && s.recorded == "" && (s.heldByOther || !s.sameName):
		return verdict{action: refuse, reason: v1alpha1.ReasonAdoptionRefused, message: noSuchPlan(s.externalName, s.name)}
	case s.heldByOther, s.found == byName && !s.adopt:
		return verdict{action: refuse, reason: v1alpha1.ReasonConflict, message: nameTaken(s.name)}
	case s.found == byName:
		return verdict{action: take}
	default:
		return verdict{action: manage}
	}
}

// decidePassive decides where nothing is to be written, or to be deleted only.
// What another object holds is as good as not there, and so is a plan whose ID
// leads to another name: an object that holds nothing learns nothing. Nor does it
// delete what it only names.
func decidePassive(s situation) verdict {
	switch {
	case s.found == byName && s.deleting && s.elsewhere():
		return verdict{action: refuse, reason: v1alpha1.ReasonGatewayChanged, message: gatewayChanged}
	case s.heldByOther, s.found == byID && s.recorded == "" && (s.deleting || !s.sameName), s.found == byName && s.deleting:
		return verdict{action: leave}
	case s.observeOnly:
		return verdict{action: look}
	default:
		return verdict{action: manage}
	}
}

// decideAbsent decides where no plan was found.
func decideAbsent(s situation) verdict {
	switch {
	case s.observeOnly, s.deleting && !s.elsewhere():
		return verdict{action: leave}
	case s.recorded == "" && s.externalName != "":
		// The gateway picks IDs, so this one cannot be created.
		return verdict{action: refuse, reason: v1alpha1.ReasonAdoptionRefused, message: noSuchPlan(s.externalName, s.name)}
	case s.elsewhere():
		return verdict{action: refuse, reason: v1alpha1.ReasonGatewayChanged, message: gatewayChanged}
	default:
		return verdict{action: create}
	}
}

// elsewhere tells whether the plan is held at another gateway than the one that was
// asked, and nobody confirmed that this one is meant now. What this one lacks is
// then no proof that it is gone.
func (s situation) elsewhere() bool { return s.recorded != "" && !s.sameGateway && !s.accepted }

const gatewayChanged = "the configuration leads to another gateway than the one that holds this plan, and the plan is not there. " +
	"Point the configuration back, or confirm the new endpoint in its annotation apiplatform.crossplane.io/accept-gateway to have the plan created there; one that is being deleted is then left where it was"

func idChanged(from, to string) string {
	return "the annotation crossplane.io/external-name cannot be changed from \"" + from + "\" to \"" + to +
		"\" once the plan exists; set it back, or delete this object and create another one"
}

// noSuchPlan is one text for a plan that does not exist, one of another name, and
// one that another object holds: which of them it is is nobody else's business.
func noSuchPlan(id, name string) string {
	return "there is no plan with the ID \"" + id + "\" and the name \"" + name +
		"\" at the gateway that this object could hold; correct spec.forProvider.planName or the annotation crossplane.io/external-name, or remove the annotation to have a plan created"
}

func nameTaken(name string) string {
	return "the plan name \"" + name + "\" is taken at the gateway; choose another spec.forProvider.planName, " +
		"or set spec.adoptionPolicy to IfUnique to take over a plan that no other object holds"
}

func renameClash(name string) string {
	return "the gateway has another plan with the name \"" + name + "\"; choose another spec.forProvider.planName"
}
