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

package restapi

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A mark tells whose an API at the gateway is, as seen from one managed resource.
type mark string

const (
	unmarked mark = "none"
	ours     mark = "ours"
	foreign  mark = "foreign"
)

// An owner is who holds an API: a managed resource in a cluster.
type owner struct {
	cluster, namespace, name string
}

func (o owner) String() string { return o.cluster + "/" + o.namespace + "/" + o.name }

// ownerFrom reads a mark. What is not one has no parts, but is foreign still.
func ownerFrom(s string) (owner, bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return owner{}, false
	}
	return owner{cluster: parts[0], namespace: parts[1], name: parts[2]}, true
}

// markOf an API, as seen from one owner.
func markOf(got *gateway.RestAPI, me owner) mark {
	switch got.Metadata.Annotations[v1alpha1.AnnotationOwner] {
	case "":
		return unmarked
	case me.String():
		return ours
	default:
		return foreign
	}
}

// A situation is all that decides what is done about an API.
type situation struct {
	// handle that is asked for, and whether the user chose it.
	handle string
	preset bool
	// recorded is the handle in the baseline: empty unless the API is held.
	recorded string
	// sameGateway is whether the baseline is about the gateway that was asked.
	sameGateway bool
	// accepted is whether the configuration's owner confirmed that it leads to
	// another gateway now.
	accepted bool
	// takeover is the adoption policy.
	takeover bool
	// present is whether the gateway has an API under the handle, and whose.
	present bool
	mark    mark
	// heldHere is whether another managed resource of this cluster holds the API, by
	// its mark or by its record; of an API that is gone, whether it did.
	heldHere bool
	// sameCreation is whether the API is the one that was seen last, as far as its
	// time of creation tells.
	sameCreation bool
	// observeOnly is whether nothing may be written.
	observeOnly bool
	deleting    bool
}

// An action is what is to be done.
type action string

const (
	// create the API.
	create action = "create"
	// take over an API that is there: replace it, mark included.
	take action = "take"
	// manage an API that is held: compare it, and set it back if it differs.
	manage action = "manage"
	// look at an API without touching it.
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

// decide what is done about an API.
func decide(s situation) verdict {
	switch {
	case s.recorded != "" && s.handle != s.recorded && !s.deleting:
		return verdict{action: refuse, reason: v1alpha1.ReasonImmutableField, message: handleChanged(s.recorded, s.handle)}
	case !s.present:
		return decideAbsent(s)
	case s.observeOnly:
		return decideObserved(s)
	case s.deleting:
		return decideDeleted(s)
	}

	held := s.recorded != "" && s.sameGateway
	switch {
	case s.mark == ours:
		return verdict{action: manage}
	case s.heldHere:
		return verdict{action: refuse, reason: v1alpha1.ReasonConflict, message: handleTaken(s.handle)}
	case s.mark == unmarked && held:
		return verdict{action: manage}
	case s.mark == unmarked && (s.preset || s.takeover):
		return verdict{action: take}
	case s.mark == foreign && !held && s.takeover:
		return verdict{action: take}
	default:
		return verdict{action: refuse, reason: v1alpha1.ReasonConflict, message: handleTaken(s.handle)}
	}
}

// decideAbsent decides where the gateway has nothing under the handle.
func decideAbsent(s situation) verdict {
	switch {
	case s.observeOnly:
		return verdict{action: leave}
	case s.elsewhere():
		return verdict{action: refuse, reason: v1alpha1.ReasonGatewayChanged, message: gatewayChanged}
	case s.deleting:
		return verdict{action: leave}
	case s.heldHere:
		// It is about to be created again, by who held it.
		return verdict{action: refuse, reason: v1alpha1.ReasonConflict, message: handleTaken(s.handle)}
	default:
		return verdict{action: create}
	}
}

// elsewhere tells whether the API is held at another gateway than the one that was
// asked, and nobody confirmed that this one is meant now. What this one lacks is
// then no proof that it is gone.
func (s situation) elsewhere() bool { return s.recorded != "" && !s.sameGateway && !s.accepted }

// decideObserved decides where nothing may be written. What another owns is as
// good as not there: an object that holds nothing learns nothing.
func decideObserved(s situation) verdict {
	if s.mark == foreign || s.mark == unmarked && s.heldHere {
		return verdict{action: leave}
	}
	return verdict{action: look}
}

// decideDeleted decides what is deleted: what bears our mark, or what is held and
// has lost its mark, but not what somebody put in its place.
func decideDeleted(s situation) verdict {
	switch {
	case s.mark == ours || s.mark == unmarked && s.recorded != "" && s.sameGateway && s.sameCreation && !s.heldHere:
		return verdict{action: manage}
	case s.elsewhere():
		return verdict{action: refuse, reason: v1alpha1.ReasonGatewayChanged, message: gatewayChanged}
	default:
		return verdict{action: leave}
	}
}

const gatewayChanged = "the configuration leads to another gateway than the one that holds this API, and the API is not there. " +
	"Point the configuration back, or confirm the new endpoint in its annotation apiplatform.crossplane.io/accept-gateway to have the API created there; one that is being deleted is then left where it was"

func handleChanged(from, to string) string {
	return "the annotation crossplane.io/external-name cannot be changed from \"" + from + "\" to \"" + to +
		"\" once the API exists; set it back, or delete this object and create another one"
}

// handleTaken says no more than that a handle is taken, and how to choose
// another: who has it is nobody else's business.
func handleTaken(handle string) string {
	return "the handle \"" + handle + "\" is taken at the gateway; choose another one with the annotation crossplane.io/external-name, or give this object another name"
}

const nameTaken = "the gateway has another API with this displayName and version; change one of them"

// badHandle says why a handle cannot be used, or nothing if it can.
func badHandle(handle string) string {
	const how = "; set the annotation crossplane.io/external-name to another one"
	switch {
	case handle == "." || handle == "..":
		return "the handle \"" + handle + "\" cannot be used in a URL" + how
	case len(handle) > 255:
		return "a handle has at most 255 characters" + how
	case strings.TrimSpace(handle) == "":
		return "a handle must not be blank" + how
	case strings.ContainsFunc(handle, unfit):
		return "the handle must not contain white space, control characters, slashes or closing braces" + how
	default:
		return ""
	}
}

func unfit(r rune) bool {
	switch r {
	case '/', '\\', '}', ' ', 0x85, 0xa0, 0x2028, 0x2029:
		return true
	default:
		return r < 0x20 || r == 0x7f
	}
}
