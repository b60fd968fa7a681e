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

package gateway

import (
	"context"
	"net/url"
	"time"
)

// Subscription statuses. A gateway may answer others; they are kept as they are.
const (
	SubscriptionActive   = "ACTIVE"
	SubscriptionInactive = "INACTIVE"
	SubscriptionRevoked  = "REVOKED"
)

// Subscription is a subscription as the gateway reports it. What it does not
// report is empty or zero. The token, which the answer to a create holds, is
// not kept.
type Subscription struct {
	ID string `json:"id,omitempty"`
	// ExternalRefID is the ID the caller asked for. A legacy gateway knows none.
	ExternalRefID string `json:"externalRefId,omitempty"`
	// APIID is the gateway's internal ID of the API, never its handle.
	APIID                 string    `json:"apiId,omitempty"`
	ApplicationID         string    `json:"applicationId,omitempty"`
	SubscriptionPlanID    string    `json:"subscriptionPlanId,omitempty"`
	BillingCustomerID     string    `json:"billingCustomerId,omitempty"`
	BillingSubscriptionID string    `json:"billingSubscriptionId,omitempty"`
	GatewayID             string    `json:"gatewayId,omitempty"`
	Status                string    `json:"status,omitempty"`
	CreatedAt             time.Time `json:"createdAt,omitzero"`
	UpdatedAt             time.Time `json:"updatedAt,omitzero"`
}

// SubscriptionFilter narrows a list of subscriptions; what is empty does not.
type SubscriptionFilter struct {
	// APIID is a handle or an internal ID. White space around it counts.
	APIID string
	// ApplicationID must match exactly.
	ApplicationID string
}

// SubscriptionCreate asks for a subscription. What is empty is not sent.
type SubscriptionCreate struct {
	// ExternalRefID is the ID to use; a legacy gateway ignores it.
	ExternalRefID string
	// APIID is a handle or an internal ID.
	APIID                 string
	SubscriptionToken     Secret
	ApplicationID         string
	SubscriptionPlanID    string
	BillingCustomerID     string
	BillingSubscriptionID string
	Status                string
}

func (c SubscriptionCreate) wire() any {
	return struct {
		ExternalRefID         string `json:"externalRefId,omitempty"`
		APIID                 string `json:"apiId"`
		SubscriptionToken     string `json:"subscriptionToken,omitempty"`
		ApplicationID         string `json:"applicationId,omitempty"`
		SubscriptionPlanID    string `json:"subscriptionPlanId,omitempty"`
		BillingCustomerID     string `json:"billingCustomerId,omitempty"`
		BillingSubscriptionID string `json:"billingSubscriptionId,omitempty"`
		Status                string `json:"status,omitempty"`
	}{
		c.ExternalRefID, c.APIID, c.SubscriptionToken.Reveal(), c.ApplicationID, c.SubscriptionPlanID,
		c.BillingCustomerID, c.BillingSubscriptionID, c.Status,
	}
}

func (c SubscriptionCreate) secrets() []Secret { return []Secret{c.SubscriptionToken} }

// PlanChange is what an update does to a subscription's plan. The zero value
// leaves it alone.
type PlanChange struct {
	sent bool
	id   string
}

// KeepPlan leaves the plan alone: the field is not sent.
func KeepPlan() PlanChange { return PlanChange{} }

// ClearPlan takes the plan away: an explicit null is sent.
func ClearPlan() PlanChange { return PlanChange{sent: true} }

// SetPlan sets the plan with the given ID. An empty ID clears the plan, since
// the gateway fails on an empty string.
func SetPlan(id string) PlanChange { return PlanChange{sent: true, id: id} }

// SubscriptionUpdate changes a subscription. A legacy gateway honours Status only.
type SubscriptionUpdate struct {
	// Status is not sent if it is empty.
	Status string
	Plan   PlanChange
	// SubscriptionToken is not sent, and so kept, if it is empty.
	SubscriptionToken Secret
}

func (u SubscriptionUpdate) wire() any {
	body := map[string]any{}
	if u.Status != "" {
		body["status"] = u.Status
	}
	if u.Plan.sent {
		body["subscriptionPlanId"] = nil
		if u.Plan.id != "" {
			body["subscriptionPlanId"] = u.Plan.id
		}
	}
	if u.SubscriptionToken != "" {
		body["subscriptionToken"] = u.SubscriptionToken.Reveal()
	}
	return body
}

func (u SubscriptionUpdate) secrets() []Secret { return []Secret{u.SubscriptionToken} }

func subscriptions() resource[Subscription] {
	return resource[Subscription]{
		kind: KindSubscription, path: "subscriptions", list: "subscriptions",
		id:        func(s *Subscription) string { return s.ID },
		gatewayID: func(s *Subscription) string { return s.GatewayID },
	}
}

// ListSubscriptions returns the subscriptions that match. If the filter's API
// does not exist, IsAPIMissing says so of the error.
func (c *Client) ListSubscriptions(ctx context.Context, f SubscriptionFilter) ([]Subscription, error) {
	query := url.Values{}
	if f.APIID != "" {
		query.Set("apiId", f.APIID)
	}
	if f.ApplicationID != "" {
		query.Set("applicationId", f.ApplicationID)
	}
	return listAll(ctx, c, subscriptions(), query)
}

// GetSubscription returns the subscription with an ID.
func (c *Client) GetSubscription(ctx context.Context, id string) (*Subscription, error) {
	return getOne(ctx, c, subscriptions(), id)
}

// CreateSubscription makes exactly one attempt to create a subscription. The
// answer's ID need not be the one asked for: a legacy gateway picks its own.
func (c *Client) CreateSubscription(ctx context.Context, s SubscriptionCreate) (*Subscription, error) {
	return createOne(ctx, c, subscriptions(), s.ExternalRefID, s, nil)
}

// UpdateSubscription changes a subscription.
func (c *Client) UpdateSubscription(ctx context.Context, id string, s SubscriptionUpdate) (*Subscription, error) {
	return updateOne(ctx, c, subscriptions(), id, s)
}

// DeleteSubscription deletes a subscription. Whether an absent one is a success
// is for the caller to say: see IsNotFound.
func (c *Client) DeleteSubscription(ctx context.Context, id string) error {
	return deleteOne(ctx, c, subscriptions(), id)
}
