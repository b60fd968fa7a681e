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
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// The names of the fields are permanent: objects of earlier releases hold them.
//
// contract: S11, S17, A9
func TestWriteIsPermanent(t *testing.T) {
	o := &metav1.ObjectMeta{}
	WriteAttempt(o, Attempt{
		AskedID: "id", Preset: true, AbsentBefore: true, Endpoint: "e", APIID: "a", ApplicationID: "app", PlanID: "p",
		BillingCustomerID: "c", BillingSubscriptionID: "s", Known: []string{"k"}, Outcome: Open,
	})
	WriteBaseline(o, Baseline{
		ID: "id", Endpoint: "e", GatewayID: "g", APIInternalID: "i", Fields: map[string]string{"b": "2", "a": "1"},
		LateInitialized: []string{"x"}, PlanChoice: "gold",
	})
	want := map[string]string{
		v1alpha1.AnnotationCreateAttempt: `{"v":1,"askedId":"id","preset":true,"absentBefore":true,"endpoint":"e","apiId":"a","applicationId":"app","planId":"p",` +
			`"billingCustomerId":"c","billingSubscriptionId":"s","known":["k"],"outcome":"open"}`,
		v1alpha1.AnnotationBaseline: `{"v":1,"id":"id","endpoint":"e","gatewayId":"g","apiInternalId":"i","fields":{"a":"1","b":"2"},"lateInitialized":["x"],"planChoice":"gold"}`,
	}
	if diff := cmp.Diff(want, o.Annotations); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// contract: S17
func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason     string
		annotation string
		want       *Baseline
		err        error
	}{
		"Good":        {reason: "What was written is read.", annotation: `{"v":1,"id":"id"}`, want: &Baseline{Version: 1, ID: "id"}},
		"MoreFields":  {reason: "What is not known is ignored.", annotation: `{"v":1,"id":"id","x":1}`, want: &Baseline{Version: 1, ID: "id"}},
		"Newer":       {reason: "A later version is not understood.", annotation: `{"v":2,"id":"id"}`, err: ErrNewer},
		"NewerOfSort": {reason: "A later version may have any form.", annotation: `{"v":2,"id":{"x":1}}`, err: ErrNewer},
		"Garbled":     {reason: "What is garbled is absent.", annotation: `{"v":1,`},
		"NoVersion":   {reason: "Without a version it is not ours.", annotation: `{"id":"id"}`},
		"Types":       {reason: "What has the wrong types is garbled.", annotation: `{"v":1,"id":7}`},
		"NoID":        {reason: "A record of nothing is none.", annotation: `{"v":1}`},
		"Empty":       {reason: "Empty is garbled.", annotation: ``},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationBaseline: tc.annotation}}
			got, err := ReadBaseline(o)
			if !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nReadBaseline(...): error %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReadBaseline(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if b, err := ReadBaseline(&metav1.ObjectMeta{}); b != nil || err != nil {
		t.Errorf("ReadBaseline of nothing: %v, %v", b, err)
	}
	if a, err := ReadAttempt(&metav1.ObjectMeta{}); a != nil || err != nil {
		t.Errorf("ReadAttempt of nothing: %v, %v", a, err)
	}
}

// What status says of a create is about what was created within ten minutes of it, as far
// as both tell the time.
//
// contract: S11, S12
func TestNear(t *testing.T) {
	sent := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return sent.Add(d) }
	timed := &v1alpha1.CreateAttempt{Time: &metav1.Time{Time: sent}}
	cases := map[string]struct {
		reason  string
		v       *v1alpha1.CreateAttempt
		created time.Time
		want    bool
	}{
		"Nothing":   {reason: "Nobody vouches.", created: sent},
		"NoTime":    {reason: "It was not said when.", v: &v1alpha1.CreateAttempt{}, created: at(-time.Hour), want: true},
		"Untold":    {reason: "The gateway does not tell when.", v: timed, want: true},
		"Same":      {reason: "It was then.", v: timed, created: sent, want: true},
		"Late":      {reason: "It took effect late.", v: timed, created: at(10 * time.Minute), want: true},
		"Early":     {reason: "The gateway's clock is slow.", v: timed, created: at(-10 * time.Minute), want: true},
		"FarAfter":  {reason: "The create was over.", v: timed, created: at(10*time.Minute + time.Second)},
		"FarBefore": {reason: "It was there before.", v: timed, created: at(-10*time.Minute - time.Second)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Near(tc.v, tc.created); got != tc.want {
				t.Errorf("\n%s\nNear(...): %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

// What status says of a create names what was asked for: the ID and, where the gateway may
// choose another, the API and the application. It vouches for no other record, nor for what
// was there before.
//
// contract: S11, S12
func TestVouch(t *testing.T) {
	o := &metav1.ObjectMeta{}
	if v := Vouch(o); v != nil {
		t.Errorf("it vouches for nothing: %+v", v)
	}
	a := Attempt{Version: Version, AskedID: "id", Endpoint: "e", APIID: "api", ApplicationID: "app", Outcome: Open}
	for name, tc := range map[string]struct {
		known   []string
		present bool
		want    v1alpha1.CreateAttempt
	}{
		"Present": {present: true, want: v1alpha1.CreateAttempt{Endpoint: "e"}},
		"Chosen":  {want: v1alpha1.CreateAttempt{Endpoint: "e", ID: "id"}},
		"Either":  {known: []string{}, want: v1alpha1.CreateAttempt{Endpoint: "e", ID: "id", APIID: "api", ApplicationID: "app"}},
	} {
		t.Run(name, func(t *testing.T) {
			a.Known, a.AbsentBefore = tc.known, !tc.present
			WriteAttempt(o, a)
			v := Vouch(o)
			if v.Digest == "" {
				t.Error("it has no digest")
			}
			tc.want.Digest = v.Digest
			if diff := cmp.Diff(&tc.want, v); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if ReadVouched(o, v) == nil || ReadVouched(o, nil) != nil {
				t.Error("it vouches for something else than it was written for")
			}
			other := a
			other.AskedID = "other"
			WriteAttempt(o, other)
			if ReadVouched(o, v) != nil {
				t.Error("it vouches for another record")
			}
			closed := a
			closed.Outcome = Refused
			WriteAttempt(o, closed)
			if ReadVouched(o, Vouch(o)) != nil {
				t.Error("what was refused is still open")
			}
		})
	}
}
