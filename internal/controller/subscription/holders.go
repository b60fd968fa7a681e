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
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// holdingOf is what a Subscription holds: what its baseline records, or for one
// that only observes what its status reports, which it does only if it was checked.
func holdingOf(cr *v1alpha1.Subscription) ownership.Holding {
	b, err := baselineFrom(cr)
	if b != nil {
		return recordedIn(b)
	}
	at := cr.Status.AtProvider
	h := ownership.Holding{ID: at.ID, Endpoint: at.Endpoint, GatewayID: at.GatewayID, Scope: at.APIInternalID}
	if err != nil {
		// Whatever a newer version recorded, it is held under the external name.
		h.ID = meta.GetExternalName(cr)
	}
	return h
}

// recordedIn is what a baseline records.
func recordedIn(b *record.Baseline) ownership.Holding {
	return ownership.Holding{ID: b.ID, Endpoint: b.Endpoint, GatewayID: b.GatewayID, Scope: b.APIInternalID}
}

// holderOf is a Subscription as the holder of something, with what its status has to
// say of that. If it is known when that was created, status vouches for nothing else.
func holderOf(cr *v1alpha1.Subscription, h ownership.Holding, now time.Time) ownership.Holder {
	o := ownership.Holder{
		Holding:  h,
		UID:      cr.GetUID(),
		Created:  cr.GetCreationTimestamp(),
		Reported: reports(cr, h),
		Vouched:  vouches(cr, h, now),
		Refused:  cr.Status.RefusedID == h.ID,
	}
	if at := cr.Status.AtProvider; at.ID == h.ID {
		o.Since = at.CreationStamp
	}
	return o
}

// reports tells whether the status of a Subscription names what it holds, and the
// gateway too: an ID alone may have been earned at another.
func reports(cr *v1alpha1.Subscription, h ownership.Holding) bool {
	at := cr.Status.AtProvider
	return at.ID != "" && at.ID == h.ID && at.Endpoint == h.Endpoint
}

// vouches tells whether the status of a Subscription vouches for a create at that
// endpoint which was answered, and may have made what it recorded only just now to hold.
func vouches(cr *v1alpha1.Subscription, h ownership.Holding, now time.Time) bool {
	v := cr.Status.CreateAttempt
	b, err := baselineFrom(cr)
	began := h.Began
	if began.IsZero() {
		// It was not seen, and may be about to be created.
		began = now
	}
	switch {
	case err != nil || b == nil || b.ID != h.ID || v == nil || v.Endpoint != h.Endpoint || !record.Near(v, began) || vouchedAttempt(cr) != nil:
		return false
	case v.ID == h.ID:
		return true
	}
	// The gateway may have chosen the ID.
	return !h.Began.IsZero() && v.APIID != "" && b.Fields[fieldAPIID] == v.APIID && b.Fields[fieldApplicationID] == v.ApplicationID
}

// vouchedAttempt is the open attempt that the status of a Subscription vouches for, or nil.
func vouchedAttempt(cr *v1alpha1.Subscription) *record.Attempt {
	return record.ReadVouched(cr, cr.Status.CreateAttempt)
}

// asks tells whether status vouches for an open attempt at an endpoint to create
// something, and for one that may have made what is there.
func asks(cr *v1alpha1.Subscription, h ownership.Holding) (asks, may bool) {
	a := vouchedAttempt(cr)
	if a == nil || a.Endpoint != h.Endpoint {
		return false, false
	}
	return true, h.Began.IsZero() || record.Near(cr.Status.CreateAttempt, h.Began) && (a.AskedID == h.ID && a.AbsentBefore || a.Known != nil)
}

// mayHaveMade tells whether a subscription can be the result of a create that the status
// of a Subscription vouches for: of one that was not answered, or whose answer was
// recorded and not reported yet. If the gateway chose the ID, the subscription also has to
// be on the API that status names.
func mayHaveMade(cr *v1alpha1.Subscription, s *gateway.Subscription) (may, chosen bool) {
	v := cr.Status.CreateAttempt
	if !record.Near(v, s.CreatedAt) {
		return false, false
	}
	if a := vouchedAttempt(cr); a != nil {
		found, _ := judgeAttempt(a, cr.GetCreationTimestamp().Time, []gateway.Subscription{*s}, false, func(string) bool { return false })
		chosen = s.ID != a.AskedID
		return found != nil && !(chosen && v.APIID == ""), chosen
	}
	b, err := baselineFrom(cr)
	return err == nil && b != nil && b.ID == s.ID && (v.ID == s.ID || v.APIID != "" && strings.TrimSpace(s.ApplicationID) == v.ApplicationID), false
}
