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

package subscription

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// The annotations that the gateway's own operator leaves on a Subscription that
// was converted. They prove nothing here.
func operatorAnnotations() []string {
	return []string{
		"gateway.api-platform.wso2.com/subscription-last-applied-create-fingerprint",
		"gateway.api-platform.wso2.com/last-applied-subscription-token-secret-rv",
	}
}

// isConverted tells whether a Subscription still has annotations of that operator.
func isConverted(cr *v1alpha1.Subscription) bool {
	return slices.ContainsFunc(operatorAnnotations(), func(k string) bool {
		_, ok := cr.GetAnnotations()[k]
		return ok
	})
}

// baselineFrom is what a Subscription recorded to hold. Where the record was taken
// away, or nobody can read it, it is rebuilt from status, which only the provider
// should be able to write, and writes only of what it holds.
func baselineFrom(cr *v1alpha1.Subscription) (*record.Baseline, error) {
	b, err := record.ReadBaseline(cr)
	if err != nil {
		return nil, err
	}
	switch {
	case b != nil && validID.MatchString(b.ID):
		return b, nil
	case (cr.Status.Deployed || madeOrAdopted(cr) && !attempts(cr)) && validID.MatchString(cr.Status.AtProvider.ID):
		return rebuilt(cr), nil
	}
	return nil, nil //nolint:nilnil // Garbled is as good as absent.
}

// madeOrAdopted tells whether status names the outcome of a create, which it does before
// that is confirmed. An import is recorded before.
func madeOrAdopted(cr *v1alpha1.Subscription) bool {
	o := cr.Status.AtProvider.Origin
	return o == v1alpha1.OriginCreated || o == v1alpha1.OriginAdopted
}

// attempts tells whether a Subscription records a create. What status tells of its outcome
// is then not recorded yet, and is found by what is.
func attempts(cr *v1alpha1.Subscription) bool {
	_, ok := cr.GetAnnotations()[v1alpha1.AnnotationCreateAttempt]
	return ok
}

// rebuilt is a baseline as far as status tells. What it does not tell is decided so
// that nothing is refused that was not, and no access given that was not there.
func rebuilt(cr *v1alpha1.Subscription) *record.Baseline {
	at, p := cr.Status.AtProvider, cr.Spec.ForProvider
	b := &record.Baseline{
		ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID, APIInternalID: at.APIInternalID,
		Fields: present(map[string]string{
			fieldExternalRefID:         cmp.Or(at.ExternalRefID, value(p.ExternalRefID)),
			fieldAPIID:                 at.APIID,
			fieldApplicationID:         strings.TrimSpace(at.ApplicationID),
			fieldBillingCustomerID:     at.BillingCustomerID,
			fieldBillingSubscriptionID: at.BillingSubscriptionID,
		}),
	}
	// A gateway reports the ID also if nobody asked for it, and what was filled in from
	// it may be absent.
	for f, given := range map[string]*string{
		fieldExternalRefID: p.ExternalRefID, fieldBillingCustomerID: p.BillingCustomerID, fieldBillingSubscriptionID: p.BillingSubscriptionID,
	} {
		if given == nil {
			b.LateInitialized = append(b.LateInitialized, f)
		}
	}
	if !madeOrAdopted(cr) {
		b.LateInitialized = append(b.LateInitialized, fieldStatus)
	}
	slices.Sort(b.LateInitialized)
	return b
}

// distrust a record that names something else than status does, if what status names
// is there: somebody changed the record. It may also be that status was not written
// since the subscription was created again, but then what it names is gone.
func (e *external) distrust(ctx context.Context, cr *v1alpha1.Subscription) error {
	at := cr.Status.AtProvider
	if e.baseline == nil || !cr.Status.Deployed || at.ID == "" || at.ID == e.baseline.ID {
		return nil
	}
	got, err := e.gateway.GetSubscription(ctx, at.ID)
	if gateway.IsAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if b := rebuilt(cr); isHeld(b, got) {
		e.baseline = b
	}
	return nil
}

// baselineFor records that a managed resource holds a subscription, which has the
// given immutable fields.
func (e *external) baselineFor(s *gateway.Subscription, fields map[string]string) record.Baseline {
	return record.Baseline{
		ID:            s.ID,
		Endpoint:      e.at.Endpoint,
		GatewayID:     s.GatewayID,
		APIInternalID: s.APIID,
		Fields:        present(fields),
		PlanChoice:    e.wish.Plan.Choice,
	}
}

// attempted are the immutable fields that the open attempt asked for. What was
// edited since is an edit of what was created.
func (e *external) attempted(cr *v1alpha1.Subscription) map[string]string {
	if e.baseline != nil {
		return e.baseline.Fields
	}
	a := e.attempt
	f := map[string]string{
		fieldAPIID:                 a.APIID,
		fieldApplicationID:         a.ApplicationID,
		fieldBillingCustomerID:     a.BillingCustomerID,
		fieldBillingSubscriptionID: a.BillingSubscriptionID,
	}
	if a.AskedID != string(cr.GetUID()) && (!a.Preset || value(cr.Spec.ForProvider.ExternalRefID) == a.AskedID) {
		f[fieldExternalRefID] = a.AskedID
	}
	return present(f)
}

// present are the fields that have a value.
func present(fields map[string]string) map[string]string {
	p := map[string]string{}
	for f, v := range fields {
		if v != "" {
			p[f] = v
		}
	}
	return p
}

// leavesStatus tells whether an absent status means to leave it as it is: that of
// a subscription which was imported.
func leavesStatus(b *record.Baseline) bool {
	return b != nil && slices.Contains(b.LateInitialized, fieldStatus)
}

// storeBaseline writes a baseline and the external name to the API server. What
// the gateway's operator left is removed, and so are the given annotations.
func (e *external) storeBaseline(ctx context.Context, cr *v1alpha1.Subscription, b record.Baseline, obsolete ...string) error {
	record.WriteBaseline(cr, b)
	meta.SetExternalName(cr, b.ID)
	a := cr.GetAnnotations()
	patch := map[string]any{
		v1alpha1.AnnotationBaseline:    a[v1alpha1.AnnotationBaseline],
		meta.AnnotationKeyExternalName: b.ID,
	}
	for _, k := range append(operatorAnnotations(), obsolete...) {
		patch[k] = nil
		delete(a, k)
	}
	cr.SetAnnotations(a)
	e.baseline = &b
	return errors.Wrap(kind.PatchMetadata(ctx, e.kube, cr, map[string]any{"annotations": patch}), "cannot record the subscription that is held")
}

// refreshed is a baseline with the facts about where the subscription was found.
func (e *external) refreshed(b record.Baseline, s *gateway.Subscription) record.Baseline {
	b.Endpoint, b.GatewayID, b.APIInternalID = e.at.Endpoint, s.GatewayID, s.APIID
	return b
}

// isHeld tells whether a subscription that was read is the one a baseline
// records. Who may write the annotation cannot make another one of it.
func isHeld(b *record.Baseline, s *gateway.Subscription) bool {
	return s.APIID == b.APIInternalID && strings.TrimSpace(s.ApplicationID) == b.Fields[fieldApplicationID]
}

// held is a wish with the immutable fields of a baseline.
func (w wish) held(b *record.Baseline) wish {
	w.ExternalRefID = b.Fields[fieldExternalRefID]
	w.APIID, w.APIProblem = b.Fields[fieldAPIID], nil
	w.ApplicationID = b.Fields[fieldApplicationID]
	w.BillingCustomerID = b.Fields[fieldBillingCustomerID]
	w.BillingSubscriptionID = b.Fields[fieldBillingSubscriptionID]
	return w
}
