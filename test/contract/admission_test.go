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

package contract

import (
	"fmt"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// What can be known to be wrong with a Subscription is refused by the API server,
// with words that name the field.
//
// contract: S2, S16, S25, S27
// case: F10
func TestSubscriptionAdmission(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		merge string
		// names is in the refusal; it is accepted if empty.
		names string
	}{
		"ID":            {`{"forProvider":{"externalRefId":"a1.B_c-d"}}`, ""},
		"LongestID":     {`{"forProvider":{"externalRefId":"` + strings.Repeat("a", 64) + `"}}`, ""},
		"TooLongID":     {`{"forProvider":{"externalRefId":"` + strings.Repeat("a", 65) + `"}}`, "spec.forProvider.externalRefId"},
		"EmptyID":       {`{"forProvider":{"externalRefId":""}}`, "spec.forProvider.externalRefId"},
		"BlankID":       {`{"forProvider":{"externalRefId":" "}}`, "spec.forProvider.externalRefId"},
		"IDWithSlash":   {`{"forProvider":{"externalRefId":"a/b"}}`, "externalRefId must be 1 to 64"},
		"IDUp":          {`{"forProvider":{"externalRefId":".."}}`, "externalRefId must be 1 to 64"},
		"IDFragment":    {`{"forProvider":{"externalRefId":"a#b"}}`, "externalRefId must be 1 to 64"},
		"IDEscaped":     {`{"forProvider":{"externalRefId":"a%2Fb"}}`, "externalRefId must be 1 to 64"},
		"IDHyphenFirst": {`{"forProvider":{"externalRefId":"-"}}`, "externalRefId must be 1 to 64"},
		"IDLineBreak":   {`{"forProvider":{"externalRefId":"a\n"}}`, "externalRefId must be 1 to 64"},
		"IDUmlaut":      {`{"forProvider":{"externalRefId":"ä"}}`, "externalRefId must be 1 to 64"},

		"NoAPI":         {`{"forProvider":{"apiId":null}}`, "exactly one of apiId, apiIdRef and apiIdSelector"},
		"TwoAPIs":       {`{"forProvider":{"apiIdRef":{"name":"a"}}}`, "exactly one of apiId, apiIdRef and apiIdSelector"},
		"APIByRef":      {`{"forProvider":{"apiId":null,"apiIdRef":{"name":"a"}}}`, ""},
		"SelectsAll":    {`{"forProvider":{"apiId":null,"apiIdSelector":{}}}`, "would match everything"},
		"SelectsAllToo": {`{"forProvider":{"apiId":null,"apiIdSelector":{"matchControllerRef":false}}}`, "would match everything"},
		"APIWithSlash":  {`{"forProvider":{"apiId":"a/b"}}`, "spec.forProvider.apiId"},
		"TwoPlans":      {`{"forProvider":{"subscriptionPlanId":"a","subscriptionPlanName":"A"}}`, "at most one of subscriptionPlanId"},
		"PlanByName":    {`{"forProvider":{"subscriptionPlanName":"A B"}}`, ""},
		"PlanIDIsName":  {`{"forProvider":{"subscriptionPlanId":"A B"}}`, "use subscriptionPlanName"},
		"PlanNameBlank": {`{"forProvider":{"subscriptionPlanName":" A"}}`, "spec.forProvider.subscriptionPlanName"},

		"Application":      {`{"forProvider":{"applicationId":" app"}}`, "applicationId must not begin or end with white space"},
		"BillingCustomer":  {`{"forProvider":{"billingCustomerId":"a\n"}}`, "billingCustomerId must not begin or end with white space"},
		"BillingID":        {`{"forProvider":{"billingSubscriptionId":"\ta"}}`, "billingSubscriptionId must not begin or end with white space"},
		"ApplicationLong":  {`{"forProvider":{"applicationId":"` + strings.Repeat("a", 256) + `"}}`, "spec.forProvider.applicationId"},
		"Status":           {`{"forProvider":{"status":"active"}}`, "spec.forProvider.status"},
		"AdoptionPolicy":   {`{"adoptionPolicy":"Always"}`, "spec.adoptionPolicy"},
		"ConfigKind":       {`{"providerConfigRef":{"kind":"Secret","name":"x"}}`, "providerConfigRef.kind must be"},
		"NoToken":          {`{"forProvider":{"subscriptionTokenSecretRef":null}}`, "writeConnectionSecretToRef"},
		"GeneratedToken":   {`{"forProvider":{"subscriptionTokenSecretRef":null},"writeConnectionSecretToRef":{"name":"c"}}`, ""},
		"ObserverNoToken":  {`{"forProvider":{"subscriptionTokenSecretRef":null},"managementPolicies":["Observe"]}`, ""},
		"CreatorNoToken":   {`{"forProvider":{"subscriptionTokenSecretRef":null},"managementPolicies":["Observe","Create"]}`, "writeConnectionSecretToRef"},
		"TokenSecretEmpty": {`{"forProvider":{"subscriptionTokenSecretRef":{"name":""}}}`, "subscriptionTokenSecretRef.name"},
	}
	s := &gatewayv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "admission"},
		Spec: gatewayv1alpha1.SubscriptionSpec{ForProvider: gatewayv1alpha1.SubscriptionParameters{
			APIID: ptr("api"), SubscriptionTokenSecretRef: &gatewayv1alpha1.TokenSecretReference{Name: "token"},
		}},
	}
	if err := shared.kube.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":%s}`, tc.merge))
			err := shared.kube.Patch(t.Context(), s.DeepCopy(), patch, client.DryRunAll)
			if tc.names == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("want a refusal that names %q, got %v", tc.names, err)
			}
		})
	}
	if s.Spec.AdoptionPolicy != gatewayv1alpha1.SubscriptionAdoptIfUnique || s.Spec.ForProvider.Status != nil {
		t.Errorf("want the policy's default and no other, got %+v", s.Spec)
	}
	if err := shared.kube.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// A field that had no value may be given the one that the gateway has, and a value
// may become a reference to the same; both change nothing. A reference to another
// API is refused, and access is taken away in spite of it.
//
// contract: S15, S16, S23, S25
func TestValueBecomesReference(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		books, other := w.api("books"), w.api("other")
		w.create(books, other)
		w.ready(books, other)
		s := w.subscription("one", "books")
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
		w.ready(s)
		before, writes := w.only(), w.writes()
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.APIID, s.Spec.ForProvider.APIIDRef = nil, &gatewayv1alpha1.Reference{Name: "books"}
		})
		w.ready(s)
		if w.inPlace {
			edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.ExternalRefID = ptr(externalName(s)) })
			w.ready(s)
		}
		if n := w.writes(); n != writes || w.only() != before {
			t.Errorf("%d writes; it was %+v and is %+v", n-writes, before, w.only())
		}

		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.APIIDRef.Name = "other" })
		if message := w.refused(s, gatewayv1alpha1.ReasonImmutableField); !strings.Contains(message, `from "books" to "other"`) {
			t.Errorf("want both named, got: %s", message)
		}
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		})
		w.eventually("it is revoked", func() error {
			if w.only().Status != "REVOKED" {
				return errNotYet
			}
			return nil
		})
		if at := w.only(); at.ID != before.ID || at.APIID != before.APIID || w.writes() != writes+1 {
			t.Errorf("want the status sent alone, got %+v after %d writes", at, w.writes()-writes)
		}
		// The API that is referred to may go: that is no change of the API.
		edit(w, s, func(s *gatewayv1alpha1.Subscription) { s.Spec.ForProvider.APIIDRef.Name = "nowhere" })
		w.ready(s)
		if w.writes() != writes+1 {
			t.Errorf("%d writes", w.writes()-writes)
		}
	})
}
