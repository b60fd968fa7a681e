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
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// Status of a condition.
const (
	isTrue    = "True"
	isFalse   = "False"
	isUnknown = "Unknown"
)

// Conditions and reasons of composite resources, beside those that are passed on.
const (
	typeReady  = "Ready"
	typeSynced = "Synced"

	// TypeAccepted tells whether what an APIAccess asks for is to be had.
	TypeAccepted = "Accepted"
	// TypeApplied tells whether it is in force at the gateway.
	TypeApplied = string(v1alpha1.TypeApplied)
	// TypeTokenInForce tells whether the token in the Secret is the one in force.
	TypeTokenInForce = string(v1alpha1.TypeTokenInForce)
	// TypeSecretPublished tells whether a team's Secret is there.
	TypeSecretPublished = "SecretPublished"

	// TypeAPIsReady and TypePlansReady tell whether all that an APIProduct consists of
	// is at the gateway.
	TypeAPIsReady  = "ApisReady"
	TypePlansReady = "PlansReady"
	// TypeWithdrawn is True while an APIProduct keeps what it no longer has.
	TypeWithdrawn = "Withdrawn"
	// TypeProtected tells whether an APIProduct can be deleted.
	TypeProtected = "Protected"

	reasonCreating       = "Creating"
	reasonDeleting       = "Deleting"
	reasonPending        = "Pending"
	reasonReconcileError = "ReconcileError"
)

// A condition of a composite resource.
type condition struct {
	Type    string
	Status  string
	Reason  string
	Message string
}

// An event that tells of something that happened once.
type event struct {
	Reason  string
	Message string
}

// A resource is something composed, as it is in the cluster.
type resource struct {
	Object *unstructured.Unstructured
	// Keys of its connection Secret, and of what is in there the URL. Both are empty if
	// somebody else wrote that Secret.
	Keys map[string]bool
	URL  string
}

// A desiredResource is something that shall be composed.
type desiredResource struct {
	Object map[string]any
	Ready  bool
}

// A verdict is what shall be, and what to tell of it.
type verdict struct {
	Composed   map[string]desiredResource
	Status     map[string]any
	Conditions []condition
	Events     []event
	// NotReady is true if something is missing that is none of Composed.
	NotReady bool
	// Waiting is true as long as something is about to change, and Soon if nobody will
	// say when it does.
	Waiting, Soon bool
}

// conditionOf an object, if it is about what the object's spec says now.
func conditionOf(o *unstructured.Unstructured, t string) (condition, bool) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range all {
		c, ok := one.(map[string]any)
		if !ok || c["type"] != t {
			continue
		}
		if g, ok := number(c["observedGeneration"]); ok {
			if is, ok := number(fields(o.Object, "metadata")["generation"]); ok && g < is {
				return condition{}, false
			}
		}
		text := func(k string) string { s, _ := c[k].(string); return s }
		return condition{Type: t, Status: text("status"), Reason: text("reason"), Message: text("message")}, true
	}
	return condition{}, false
}

// number of a JSON value, which is a float64 once it was in a protocol buffer.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	default:
		return 0, false
	}
}

// judgeManaged says of a managed resource whether it is what is desired, and ready, and
// what it says about that.
func judgeManaged(desired map[string]any, r *resource) (ready bool, applied condition) {
	told := func(status, reason, message string) (bool, condition) {
		return ready, condition{Type: TypeApplied, Status: status, Reason: reason, Message: message}
	}
	if r == nil {
		return told(isUnknown, reasonCreating, "it is being created")
	}
	if r.Object.GetDeletionTimestamp() != nil {
		return told(isFalse, reasonDeleting, "somebody deletes it; it is created again once it is gone")
	}
	if !within(desired["spec"], r.Object.Object["spec"]) || !within(desired["metadata"], r.Object.Object["metadata"]) {
		return told(isUnknown, reasonPending, "it is about to be changed; if that does not happen, the events of this object say why")
	}

	isReady, _ := conditionOf(r.Object, typeReady)
	isApplied, hasApplied := conditionOf(r.Object, TypeApplied)
	isSynced, _ := conditionOf(r.Object, typeSynced)
	ready = isReady.Status == isTrue
	switch {
	case hasApplied && isApplied.Status != isTrue:
		return ready, isApplied
	case isSynced.Status == isFalse:
		// Such as a provider configuration that is missing, about which nothing else is
		// said. What was said before of the gateway may still be so.
		return told(isUnknown, reasonReconcileError, isSynced.Message)
	case hasApplied:
		return ready, isApplied
	case ready:
		return told(isTrue, string(v1alpha1.ReasonApplied), "")
	default:
		return told(isUnknown, reasonPending, "the provider has not said anything about it yet")
	}
}

// isReady tells whether an object says so.
func isReady(r *resource) bool {
	if r == nil || r.Object.GetDeletionTimestamp() != nil {
		return false
	}
	c, _ := conditionOf(r.Object, typeReady)
	return c.Status == isTrue
}

// within tells whether all of what is desired is in what there is. There can be more:
// defaults, and what others set.
func within(desired, is any) bool {
	switch d := desired.(type) {
	case nil:
		return true
	case map[string]any:
		m, ok := is.(map[string]any)
		if !ok {
			return len(d) == 0 && is == nil
		}
		for k, v := range d {
			if !within(v, m[k]) {
				return false
			}
		}
		return true
	case []any:
		l, ok := is.([]any)
		if !ok || len(l) != len(d) {
			return len(d) == 0 && is == nil
		}
		for i := range d {
			if !within(d[i], l[i]) {
				return false
			}
		}
		return true
	default:
		if n, ok := number(desired); ok {
			m, ok := number(is)
			return ok && m == n
		}
		return desired == is
	}
}

// text at a path of an object, empty if there is none.
func text(o map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...)
	return s
}

// fields at a path of an object, nil if there are none.
func fields(o map[string]any, path ...string) map[string]any {
	m, _, _ := unstructured.NestedMap(o, path...)
	return m
}

// flag at a path of an object, false if there is none.
func flag(o map[string]any, path ...string) bool {
	b, _, _ := unstructured.NestedBool(o, path...)
	return b
}

// list names for a sentence.
func list(names []string) string {
	return strings.Join(names, ", ")
}

// count things for a sentence.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
