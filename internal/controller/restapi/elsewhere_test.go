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
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// An API whose mark was erased is not taken over by another object of the cluster that
// comes by another name of the gateway: not as long as its holder has seen it.
//
// contract: R2, S12, A5
func TestErasedMarkByAnotherName(t *testing.T) {
	for name, policy := range map[string]v1alpha1.RestApiAdoptionPolicy{"Named": v1alpha1.RestApiAdoptionNever, "Takeover": v1alpha1.RestApiAdoptionTakeover} {
		t.Run(name, func(t *testing.T) {
			thief := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) {
				mg.Namespace, mg.Name, mg.UID = "team-b", "thief", "uid-thief"
				mg.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
				mg.Spec.AdoptionPolicy = policy
			})
			mg := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) { mg.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) })
			b := newBench(t, mg, thief)
			b.settle(mg)
			b.mark("books", "")
			b.memory = &memory{} // The provider was restarted.
			was := b.at.Endpoint
			for range 2 {
				b.at.Endpoint = "http://another-name"
				got, err := b.pass(thief)
				refusedFor(t, got, err, v1alpha1.ReasonConflict)
				b.at.Endpoint = was
				ready(t, b.settle(mg))
			}
			if o := b.owner("books"); o != "cluster-1/team-a/books" {
				t.Errorf("its owner is %q", o)
			}
			b.mark("books", "")
			b.at.Endpoint = "http://another-name"
			b.delete(thief)
			b.gone(thief)
			if n := len(b.Gateway.APIs()); n != 1 {
				t.Error("it was deleted with the thief")
			}
		})
	}
}

// What somebody holds at another gateway is no reason to keep others from the same handle
// here.
//
// contract: R2, S12, A5
func TestEarnedElsewhereBlocksNothing(t *testing.T) {
	thief := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) {
		mg.Namespace, mg.Name, mg.UID = "team-b", "thief", "uid-thief"
	})
	mg := managedBooks(preset("books"))
	b := newBench(t, mg, thief)
	b.at.Endpoint = "http://elsewhere"
	b.settle(thief)
	b.Gateway.DeleteAPI("books")
	b.at.Endpoint = b.Client.Endpoint().String()
	b.Advance(time.Minute)
	ready(t, b.settle(mg))
	if o := b.owner("books"); o != "cluster-1/team-a/books" {
		t.Errorf("its owner is %q", o)
	}
}

// What was asked for where the configuration no longer leads, and was not answered, is told of
// once, before it is forgotten: since the object is deleted, or asks the other gateway.
//
// contract: S33
func TestMovedWhileOpen(t *testing.T) {
	takes := func(actions ...xpv2.ManagementAction) func(*v1alpha1.RestApi) {
		return func(mg *v1alpha1.RestApi) {
			mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover
			only(actions...)(mg)
		}
	}
	cases := map[string]struct {
		there, deleted bool
		change         func(*v1alpha1.RestApi)
	}{
		"Deleted": {deleted: true},
		"Created": {change: func(*v1alpha1.RestApi) {}},
		"Adopted": {there: true, change: takes(xpv2.ManagementActionAll)},
		"Updated": {there: true, change: takes(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			b.lost(mg, emulator.Cut().After())
			elsewhere := newBench(t)
			elsewhere.Kube, elsewhere.memory, elsewhere.Events = b.Kube, b.memory, b.Events
			elsewhere.at.Endpoint = "http://elsewhere"
			if tc.there {
				elsewhere.Gateway.AddAPI("books")
			}
			if tc.deleted {
				b.delete(mg)
				elsewhere.gone(mg)
			} else {
				b.edit(mg, tc.change)
				ready(t, elsewhere.settle(mg))
			}
			if n := len(b.Events.With("LeftBehind")); n != 1 {
				t.Errorf("it is told of %d times", n)
			}
		})
	}
}

// What is found again is not told of as left behind once it is created elsewhere, after it
// vanished and came back by a create that was not answered.
//
// contract: S33, A8
func TestCreatedAgainThenMoved(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.Gateway.DeleteAPI(b.settle(mg).Status.AtProvider.ID)
	b.lost(mg, emulator.Cut().After())
	ready(t, b.settle(mg))
	elsewhere := newBench(t)
	elsewhere.Kube, elsewhere.memory, elsewhere.Events = b.Kube, b.memory, b.Events
	elsewhere.at.Endpoint, elsewhere.at.Accepted = "http://elsewhere", true
	ready(t, elsewhere.settle(mg))
	if told := b.Events.With("LeftBehind"); len(told) != 0 {
		t.Errorf("told %v", told)
	}
}
