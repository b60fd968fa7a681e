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
	"time"
)

// SubscriptionPlan is a plan as the gateway reports it. What it does not report
// is nil, empty or zero.
type SubscriptionPlan struct {
	ID                 string     `json:"id,omitempty"`
	PlanName           string     `json:"planName,omitempty"`
	BillingPlan        string     `json:"billingPlan,omitempty"`
	StopOnQuotaReach   *bool      `json:"stopOnQuotaReach,omitempty"`
	ThrottleLimitCount *int64     `json:"throttleLimitCount,omitempty"`
	ThrottleLimitUnit  string     `json:"throttleLimitUnit,omitempty"`
	ExpiryTime         *time.Time `json:"expiryTime,omitempty"`
	GatewayID          string     `json:"gatewayId,omitempty"`
	Status             string     `json:"status,omitempty"`
	CreatedAt          time.Time  `json:"createdAt,omitzero"`
	UpdatedAt          time.Time  `json:"updatedAt,omitzero"`
}

// SubscriptionPlanWrite creates or updates a plan. What is nil or empty is not
// sent: an update then leaves the old value, which for throttle limits and expiry
// is all a gateway can do.
type SubscriptionPlanWrite struct {
	PlanName string
	// BillingPlan is cleared by a pointer to an empty string.
	BillingPlan        *string
	StopOnQuotaReach   *bool
	ThrottleLimitCount *int64
	ThrottleLimitUnit  string
	ExpiryTime         *time.Time
	Status             string
}

func (p SubscriptionPlanWrite) wire() any {
	return struct {
		PlanName           string     `json:"planName,omitempty"`
		BillingPlan        *string    `json:"billingPlan,omitempty"`
		StopOnQuotaReach   *bool      `json:"stopOnQuotaReach,omitempty"`
		ThrottleLimitCount *int64     `json:"throttleLimitCount,omitempty"`
		ThrottleLimitUnit  string     `json:"throttleLimitUnit,omitempty"`
		ExpiryTime         *time.Time `json:"expiryTime,omitempty"`
		Status             string     `json:"status,omitempty"`
	}(p)
}

func (p SubscriptionPlanWrite) secrets() []Secret { return nil }

func subscriptionPlans() resource[SubscriptionPlan] {
	return resource[SubscriptionPlan]{
		kind: KindSubscriptionPlan, path: "subscription-plans", list: "subscriptionPlans",
		id:        func(p *SubscriptionPlan) string { return p.ID },
		gatewayID: func(p *SubscriptionPlan) string { return p.GatewayID },
	}
}

// ListSubscriptionPlans returns all plans; the gateway cannot filter them.
func (c *Client) ListSubscriptionPlans(ctx context.Context) ([]SubscriptionPlan, error) {
	return listAll(ctx, c, subscriptionPlans(), nil)
}

// GetSubscriptionPlan returns the plan with an ID.
func (c *Client) GetSubscriptionPlan(ctx context.Context, id string) (*SubscriptionPlan, error) {
	return getOne(ctx, c, subscriptionPlans(), id)
}

// CreateSubscriptionPlan creates a plan, whose ID the gateway picks.
func (c *Client) CreateSubscriptionPlan(ctx context.Context, p SubscriptionPlanWrite) (*SubscriptionPlan, error) {
	return createOne(ctx, c, subscriptionPlans(), "", p, nil)
}

// UpdateSubscriptionPlan merges values into a plan.
func (c *Client) UpdateSubscriptionPlan(ctx context.Context, id string, p SubscriptionPlanWrite) (*SubscriptionPlan, error) {
	return updateOne(ctx, c, subscriptionPlans(), id, p)
}

// DeleteSubscriptionPlan deletes a plan; ReasonInUse means that subscriptions
// refer to it.
func (c *Client) DeleteSubscriptionPlan(ctx context.Context, id string) error {
	return deleteOne(ctx, c, subscriptionPlans(), id)
}
