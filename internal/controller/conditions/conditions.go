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

// Package conditions says what all kinds say in the same words.
package conditions

import (
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// New returns a condition of a type that only one kind has.
func New(t xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: status, LastTransitionTime: metav1.Now(), Reason: reason, Message: message}
}

// Applied says that the gateway has what the spec asks for. A note may say what
// else there is to know.
func Applied(note string) xpv2.Condition {
	return New(v1alpha1.TypeApplied, corev1.ConditionTrue, v1alpha1.ReasonApplied, note)
}

// NotApplied says that the gateway has not what the spec asks for, why, and what
// to do.
func NotApplied(reason xpv2.ConditionReason, message string) xpv2.Condition {
	return New(v1alpha1.TypeApplied, corev1.ConditionFalse, reason, message)
}

// Unknown says that the gateway could not be asked, or its answer not be
// understood.
func Unknown(err error) xpv2.Condition {
	return New(v1alpha1.TypeApplied, corev1.ConditionUnknown, v1alpha1.ReasonGatewayUnavailable, err.Error())
}

// Drifted says in which fields an object that is only observed differs from its
// spec. It names fields and no values, which can be secret.
func Drifted(fields []string) xpv2.Condition {
	if len(fields) == 0 {
		return New(v1alpha1.TypeDrifted, corev1.ConditionFalse, "InSync", "")
	}
	return New(v1alpha1.TypeDrifted, corev1.ConditionTrue, "Drifted", somethingElse(fields))
}

// Differs says that an object is not ready, since it is not what its spec asks for
// in the given fields.
func Differs(fields []string) xpv2.Condition {
	return xpv2.Unavailable().WithMessage(somethingElse(fields))
}

func somethingElse(fields []string) string {
	return "the gateway has something else in " + strings.Join(fields, ", ")
}

// Contested says that somebody keeps changing the given fields back.
func Contested(fields []string) xpv2.Condition {
	return New(v1alpha1.TypeContested, corev1.ConditionTrue, "Contested", "the gateway, or somebody there, keeps changing what was written to "+strings.Join(fields, ", "))
}

// Vanishes says that what is created is deleted again and again, and names likely
// causes.
func Vanishes() xpv2.Condition {
	return New(v1alpha1.TypeContested, corev1.ConditionTrue, "Vanishes", "what was created at the gateway was deleted there more than three times within an hour, so it is created again only every ten minutes; "+
		"likely causes are somebody or another tool that deletes it, or a control plane that owns the gateway and removes what it does not know")
}

// Set conditions on a managed resource, as of its generation.
func Set(mg resource.Managed, cs ...xpv2.Condition) {
	for _, c := range cs {
		mg.SetConditions(c.WithObservedGeneration(mg.GetGeneration()))
	}
}

// Explain why something is not ready. The runtime sets Creating itself, without a
// message, and another one would only make the condition flip.
func Explain(ready xpv2.Condition, message string) xpv2.Condition {
	if ready.Reason == xpv2.ReasonCreating {
		return ready
	}
	return ready.WithMessage(message)
}

// Seconds is a time as status holds it. A finer one would differ from what was
// stored, and so be written again and again.
func Seconds(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	s := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &s
}

// Milliseconds is a time as status holds one that is to be recognised.
func Milliseconds(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewMicroTime(t.UTC().Truncate(time.Millisecond))
	return &m
}

// Microseconds is a time as status holds one that nobody is to guess.
func Microseconds(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewMicroTime(t.UTC().Truncate(time.Microsecond))
	return &m
}

// RefusedAsTaken tells whether a status, or a managed resource, says that what was asked
// for is taken at the gateway, and not to be had.
func RefusedAsTaken(c resource.Conditioned) bool {
	r := c.GetCondition(v1alpha1.TypeApplied).Reason
	return r == v1alpha1.ReasonConflict || r == v1alpha1.ReasonAdoptionRefused
}

// Drop conditions of the given types from a status: they are about something
// that is over.
func Drop(s *xpv2.ConditionedStatus, types ...xpv2.ConditionType) {
	kept := make([]xpv2.Condition, 0, len(s.Conditions))
	for _, c := range s.Conditions {
		drop := false
		for _, t := range types {
			drop = drop || c.Type == t
		}
		if !drop {
			kept = append(kept, c)
		}
	}
	if len(kept) < len(s.Conditions) {
		s.Conditions = kept
	}
}
