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

package record

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// FuzzRead reads annotations that anybody may have written. They are a record of
// this version that survives being written again, or of a later one, or absent.
//
// contract: S11, S17, A9
// case: H7
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"id":"id","fields":{"apiId":"books"},"lateInitialized":["status"]}`, `{"v":1,"askedId":"a","known":[],"outcome":"open"}`,
		`{"v":1,"askedId":"a","known":null,"outcome":"OPEN"}`, `{"v":2,"id":{"x":1}}`, `{"v":1,"v":2}`, `{"V":1,"ID":"x"}`, `{"v":1.0,"id":"x"}`, `{"v":1e0}`,
		`{"v":-1}`, `{"v":"1","id":"x"}`, `[1]`, `null`, ``, `{"v":1,"id":"\ud800"}`, `{"v":1,"id":"a"}{"v":2}`, `{"v":99999999999999999999,"id":"a"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		o := &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationBaseline: raw, v1alpha1.AnnotationCreateAttempt: raw}}
		b, err := ReadBaseline(o)
		if err != nil && (!errors.Is(err, ErrNewer) || b != nil) {
			t.Fatalf("ReadBaseline(%q) = %v, %v", raw, b, err)
		}
		a, errA := ReadAttempt(o)
		if errA != nil && (!errors.Is(errA, ErrNewer) || a != nil) {
			t.Fatalf("ReadAttempt(%q) = %v, %v", raw, a, errA)
		}
		if !errors.Is(err, errA) || (b != nil && (b.ID == "" || b.Version != Version)) || (a != nil && a.Version != Version) {
			t.Fatalf("%q: %v, %v; %v, %v", raw, b, err, a, errA)
		}
		if holds := MayHold(o); holds != (err != nil || b != nil || a != nil && a.Outcome == Open) {
			t.Fatalf("MayHold(%q) = %t", raw, holds)
		}
		again := &metav1.ObjectMeta{}
		if b != nil {
			WriteBaseline(again, *b)
		}
		if a != nil {
			WriteAttempt(again, *a)
		}
		b2, errB := ReadBaseline(again)
		a2, errA := ReadAttempt(again)
		if errB != nil || errA != nil {
			t.Fatalf("%q written again is not readable: %v, %v", raw, errB, errA)
		}
		// An empty map or list is written as none.
		if b != nil && len(b.Fields) == 0 {
			b.Fields = nil
		}
		if b != nil && len(b.LateInitialized) == 0 {
			b.LateInitialized = nil
		}
		if diff := cmp.Diff(b, b2) + cmp.Diff(a, a2); diff != "" {
			t.Fatalf("%q changes when it is written again: -was, +is:\n%s", raw, diff)
		}
	})
}

// FuzzWrite writes what gateways and users name. It reads back as it was, and is
// written byte for byte alike.
//
// contract: S11, S17
func FuzzWrite(f *testing.F) {
	f.Add("id", "https://gw/api", "gw", "books", "gold", true)
	f.Add("<&>\u2028", "", "\x00", "\U0001f600", "\ufffd", false)
	f.Fuzz(func(t *testing.T, id, endpoint, gatewayID, api, plan string, open bool) {
		for _, s := range []string{id, endpoint, gatewayID, api, plan} {
			if !utf8.ValidString(s) {
				return // Neither JSON nor an API server knows such text.
			}
		}
		b := Baseline{
			Version: Version, ID: id, Endpoint: endpoint, GatewayID: gatewayID, APIInternalID: api,
			Fields: map[string]string{"apiId": api, "applicationId": id}, LateInitialized: []string{plan}, PlanChoice: plan,
		}
		a := Attempt{
			Version: Version, AskedID: id, Preset: open, AbsentBefore: !open, Endpoint: endpoint, APIID: api, ApplicationID: gatewayID,
			PlanID: plan, BillingCustomerID: id, BillingSubscriptionID: api, Known: []string{}, Outcome: Refused,
		}
		if open {
			a.Known, a.Outcome = []string{id, plan}, Open
		}
		o := &metav1.ObjectMeta{}
		WriteBaseline(o, b)
		WriteAttempt(o, a)
		gotB, errB := ReadBaseline(o)
		gotA, errA := ReadAttempt(o)
		want := &b
		if id == "" {
			want = nil // A record of nothing is none.
		}
		if diff := cmp.Diff(want, gotB) + cmp.Diff(&a, gotA); diff != "" || errB != nil || errA != nil {
			t.Fatalf("-written, +read: %v, %v\n%s", errB, errA, diff)
		}
		twice := &metav1.ObjectMeta{}
		WriteBaseline(twice, b)
		WriteAttempt(twice, *gotA)
		if diff := cmp.Diff(o, twice); diff != "" {
			t.Fatalf("not written alike: -once, +twice:\n%s", diff)
		}
	})
}
