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
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Groups and kinds of the composite resources, as package/configuration defines them.
const (
	Group       = "access.apiplatform.crossplane.io"
	LegacyGroup = "legacy.apiplatform.crossplane.io"
	Version     = "v1alpha1"

	kindProduct = "APIProduct"
	kindAccess  = "APIAccess"
	// kindLegacyAccess is the cluster-scoped composite resource behind a claim.
	kindLegacyAccess = "XAPIAccess"
)

// Marks on what is composed.
const (
	// LabelProduct names the product that something was composed for.
	LabelProduct = Group + "/product"
	// AnnotationAPI and AnnotationPlan are what a Subscription was composed for, in the
	// product's words.
	AnnotationAPI  = Group + "/api"
	AnnotationPlan = Group + "/plan"
)

// A named object of the same namespace.
type named struct {
	Name string `json:"name"`
}

// A productSpec is what an APIProduct asks for.
type productSpec struct {
	ProviderConfigRef map[string]any `json:"providerConfigRef,omitempty"`
	APIs              []productAPI   `json:"apis"`
	Plans             []productPlan  `json:"plans"`
	Protected         bool           `json:"protected,omitempty"`
}

// A productAPI is an API of a product. What it is at the gateway is passed through.
type productAPI struct {
	Name           string         `json:"name"`
	AdoptionPolicy string         `json:"adoptionPolicy,omitempty"`
	ForProvider    map[string]any `json:"forProvider"`
}

// A productPlan is a plan that a product offers: one of its own, or one that is there.
type productPlan struct {
	Name                string         `json:"name"`
	SubscriptionPlanRef *named         `json:"subscriptionPlanRef,omitempty"`
	AdoptionPolicy      string         `json:"adoptionPolicy,omitempty"`
	ForProvider         map[string]any `json:"forProvider,omitempty"`
}

// A productStatus is what an APIProduct says of its APIs and plans.
type productStatus struct {
	APIs  []partStatus `json:"apis,omitempty"`
	Plans []partStatus `json:"plans,omitempty"`
}

// A partStatus is what an APIProduct says of one API or plan.
type partStatus struct {
	Name    string `json:"name"`
	Ready   bool   `json:"ready"`
	Message string `json:"message,omitempty"`
}

// An accessSpec is what an APIAccess asks for.
type accessSpec struct {
	ProductRef            named           `json:"productRef"`
	API                   string          `json:"api,omitempty"`
	Plan                  string          `json:"plan"`
	Application           string          `json:"application"`
	ExternalRefID         string          `json:"externalRefId,omitempty"`
	BillingCustomerID     string          `json:"billingCustomerId,omitempty"`
	BillingSubscriptionID string          `json:"billingSubscriptionId,omitempty"`
	TokenSecretRef        *tokenSecretRef `json:"tokenSecretRef,omitempty"`
	SecretName            string          `json:"secretName,omitempty"`
	Suspended             bool            `json:"suspended,omitempty"`
}

// A tokenSecretRef names a Secret with a token.
type tokenSecretRef struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
}

// An accessStatus is what an APIAccess said last, as far as that matters.
type accessStatus struct {
	Secret struct {
		UID string `json:"uid,omitempty"`
	} `json:"secret"`
}

// A composite resource.
type compositeResource[Spec, Status any] struct {
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace,omitempty"`
		Annotations       map[string]string `json:"annotations,omitempty"`
		DeletionTimestamp *string           `json:"deletionTimestamp,omitempty"`
	} `json:"metadata"`
	Spec   Spec   `json:"spec"`
	Status Status `json:"status"`
}

// decode an object, whose fields that nobody looks at do not matter.
func decode(from map[string]any, into any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return errors.Wrap(err, "cannot encode an object that Crossplane sent")
	}
	return errors.Wrap(json.Unmarshal(b, into), "cannot understand an object that Crossplane sent; are function and configuration of the same version?")
}

// objectName of an API or a plan of a product. A dot cannot be in the name of either, so
// no two pairs have the same one.
func objectName(product, part string) string {
	return product + "." + part
}
