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
