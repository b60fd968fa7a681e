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

package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// An API is a snapshot of a REST API.
type API struct {
	// Handle, by which clients know the API.
	Handle string

	// InternalID, by which subscriptions know it.
	InternalID string

	// Document as GET answers it.
	Document map[string]any

	DisplayName       string
	Version           string
	SubscriptionPlans []string
	Annotations       map[string]string
	Labels            map[string]string
	Deployed          bool
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// A Plan is a snapshot of a subscription plan.
type Plan struct {
	ID                 string
	PlanName           string
	BillingPlan        string
	StopOnQuotaReach   bool
	ThrottleLimitCount int
	ThrottleLimitUnit  string
	ExpiryTime         *time.Time
	Status             string
	CreatedAt          time.Time
	UpdatedAt          time.Time
}

// A Subscription is a snapshot of a subscription. Empty strings stand for what
// is unset.
type Subscription struct {
	ID            string
	ExternalRefID string

	// APIID is the internal ID of the API, APIHandle its handle.
	APIID     string
	APIHandle string

	ApplicationID         string
	SubscriptionPlanID    string
	BillingCustomerID     string
	BillingSubscriptionID string
	Status                string
	CreatedAt             time.Time
	UpdatedAt             time.Time
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// APIs returns all REST APIs, newest first.
func (g *Gateway) APIs() []API {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	out := []API{}
	for _, a := range newest(g.store.apis, func(a *apiRow) uint64 { return a.seq }) {
		out = append(out, a.snapshot())
	}
	return out
}

// API returns the REST API with the handle or internal ID.
func (g *Gateway) API(id string) (API, bool) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	a := g.store.resolveAPI(id)
	if a == nil {
		return API{}, false
	}
	return a.snapshot(), true
}

func (a *apiRow) snapshot() API {
	out := API{
		Handle: a.handle(), InternalID: a.uuid, DisplayName: a.name, Version: a.version,
		SubscriptionPlans: slices.Clone(value(a.doc.Spec.SubscriptionPlans)),
		Annotations:       map[string]string{}, Labels: map[string]string{},
		Deployed: a.deployed, CreatedAt: a.createdAt, UpdatedAt: a.updatedAt,
	}
	for k, v := range value(a.doc.Metadata.Annotations) {
		out.Annotations[k] = v
	}
	for k, v := range value(a.doc.Metadata.Labels) {
		out.Labels[k] = v
	}
	if b, err := json.Marshal(a.document()); err == nil {
		_ = json.Unmarshal(b, &out.Document)
	}
	return out
}

// Plans returns all subscription plans, newest first.
func (g *Gateway) Plans() []Plan {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	out := []Plan{}
	for _, p := range newest(g.store.plans, func(p *planRow) uint64 { return p.seq }) {
		out = append(out, p.snapshot())
	}
	return out
}

// Plan returns the plan with the ID or name.
func (g *Gateway) Plan(id string) (Plan, bool) {
	for _, p := range g.Plans() {
		if p.ID == id || p.PlanName == id {
			return p, true
		}
	}
	return Plan{}, false
}

func (p *planRow) snapshot() Plan {
	return Plan{
		ID: p.id, PlanName: p.planName, BillingPlan: value(p.billingPlan), StopOnQuotaReach: p.stopOnQuotaReach,
		ThrottleLimitCount: value(p.throttleLimitCount), ThrottleLimitUnit: value(p.throttleLimitUnit),
		ExpiryTime: p.expiryTime, Status: p.status, CreatedAt: p.createdAt, UpdatedAt: p.updatedAt,
	}
}

// Subscriptions returns all subscriptions, newest first.
func (g *Gateway) Subscriptions() []Subscription {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	out := []Subscription{}
	for _, s := range newest(g.store.subs, func(s *subscriptionRow) uint64 { return s.seq }) {
		out = append(out, g.store.snapshotOf(s))
	}
	return out
}

// Subscription returns the subscription with the ID.
func (g *Gateway) Subscription(id string) (Subscription, bool) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	s, ok := g.store.subs[id]
	if !ok {
		return Subscription{}, false
	}
	return g.store.snapshotOf(s), true
}

func (s *store) snapshotOf(row *subscriptionRow) Subscription {
	out := Subscription{
		ID: row.id, ExternalRefID: value(row.externalRefID), APIID: row.apiUUID,
		ApplicationID: value(row.applicationID), SubscriptionPlanID: value(row.planID),
		BillingCustomerID: value(row.billingCustomerID), BillingSubscriptionID: value(row.billingSubscriptionID),
		Status: row.status, CreatedAt: row.createdAt, UpdatedAt: row.updatedAt,
	}
	if a, ok := s.apis[row.apiUUID]; ok {
		out.APIHandle = a.handle()
	}
	return out
}

// LetThrough reports whether the data plane lets a call to the API pass that
// carries the token: there is an ACTIVE subscription with it, and the API is
// deployed.
func (g *Gateway) LetThrough(apiHandle, token string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	for _, a := range g.store.planeAPIs {
		if a.handle() != apiHandle || !a.deployed {
			continue
		}
		for _, s := range g.store.planeSubs {
			if s.apiUUID == a.uuid && s.status == statusActive && s.hash == hashOf(token) {
				return true
			}
		}
	}
	return false
}

// HoldsToken reports whether the subscription has that token, whatever its
// status.
func (g *Gateway) HoldsToken(subscriptionID, token string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	s, ok := g.store.subs[subscriptionID]
	return ok && s.hash == hashOf(token)
}

// NotDeployed returns how many writes were stored but never reached the data
// plane, because their correlation ID had been used before.
func (g *Gateway) NotDeployed() int {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return g.store.dropped
}

// GatewayID returns the gateway's own ID.
func (g *Gateway) GatewayID() string {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return g.store.gatewayID
}

// SetGatewayID makes this another gateway under the same address.
func (g *Gateway) SetGatewayID(id string) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	g.store.gatewayID = id
}

// SetGeneration up- or downgrades the gateway.
func (g *Gateway) SetGeneration(generation Generation) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	g.store.generation = generation
}

// Clear empties the gateway, as if its database had been lost.
func (g *Gateway) Clear() {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	g.store.clear()
}

// Do carries out a request as somebody else at the gateway: whatever roles,
// immutable mode and faults say, and without a trace in the journal. The path
// is relative to the base path; the body may be anything that marshals to
// JSON, or nil. It returns the status code and the answer, which is nil if the
// answer has no JSON object.
func (g *Gateway) Do(method, path string, body any) (int, map[string]any) {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return 0, nil
		}
	}
	r, err := http.NewRequestWithContext(context.Background(), method, BasePath+path, bytes.NewReader(b))
	if err != nil {
		return 0, nil
	}
	r.Header.Set("Content-Type", "application/json")
	a := newAnswer()
	insider := &Gateway{newID: g.newID, policies: g.policies, env: g.env, store: g.store, access: &access{}}
	insider.routes().ServeHTTP(a, r)
	var out map[string]any
	_ = json.Unmarshal(a.body.Bytes(), &out)
	return a.status, out
}

// AddAPI creates a small REST API by hand, with the plans enabled on it, and
// returns it. It reports false if the handle is taken.
func (g *Gateway) AddAPI(handle string, plans ...string) (API, bool) {
	spec := map[string]any{
		"displayName": handle, "version": "v1.0", "context": "/" + handle,
		"upstream":   map[string]any{"main": map[string]any{"url": "http://backend.example.com"}},
		"operations": []any{map[string]any{"method": "GET", "path": "/"}},
	}
	if len(plans) > 0 {
		spec["subscriptionPlans"] = plans
	}
	status, _ := g.Do(http.MethodPost, "/rest-apis", map[string]any{
		"apiVersion": "gateway.api-platform.wso2.com/v1", "kind": kindRestAPI,
		"metadata": map[string]any{"name": handle}, "spec": spec,
	})
	if status != http.StatusCreated {
		return API{}, false
	}
	return g.API(handle)
}

// DeleteAPI deletes a REST API by hand, with its subscriptions.
func (g *Gateway) DeleteAPI(handle string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	a := g.store.apiByHandle(handle)
	if a == nil {
		return false
	}
	g.store.deleteAPI(a, "")
	return true
}

// AddPlan creates an active plan by hand. It reports false if the name is
// taken.
func (g *Gateway) AddPlan(name string) (Plan, bool) {
	status, out := g.Do(http.MethodPost, "/subscription-plans", map[string]any{"planName": name})
	id, _ := out["id"].(string)
	if status != http.StatusCreated {
		return Plan{}, false
	}
	return g.Plan(id)
}

// SetPlanStatus changes the status of a plan by hand.
func (g *Gateway) SetPlanStatus(id, status string) bool {
	code, _ := g.Do(http.MethodPut, "/subscription-plans/"+id, map[string]any{"status": status})
	return code == http.StatusOK
}

// DeletePlan deletes a plan by hand. It reports false if the plan is in use or
// does not exist.
func (g *Gateway) DeletePlan(id string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return g.store.deletePlan(id, "") == nil
}

// AddSubscription creates a subscription by hand, for the API that its
// APIHandle or APIID names. An ID or ExternalRefID that is given becomes its
// ID, in either generation; the token is not trimmed. It reports false if a
// constraint of the gateway forbids the subscription.
func (g *Gateway) AddSubscription(s Subscription, token string) (Subscription, bool) {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	id := s.APIID
	if id == "" {
		id = s.APIHandle
	}
	a := g.store.resolveAPI(id)
	if a == nil {
		return Subscription{}, false
	}
	row := &subscriptionRow{
		id: s.ID, externalRefID: given(s.ExternalRefID), apiUUID: a.uuid, applicationID: given(s.ApplicationID),
		planID: given(s.SubscriptionPlanID), billingCustomerID: given(s.BillingCustomerID),
		billingSubscriptionID: given(s.BillingSubscriptionID), status: s.Status, hash: hashOf(token),
	}
	if row.id == "" {
		row.id = s.ExternalRefID
	}
	if row.id == "" {
		row.id = g.store.newID()
	}
	if row.status == "" {
		row.status = statusActive
	}
	if g.store.insertSubscription(row, "") != nil {
		return Subscription{}, false
	}
	return g.store.snapshotOf(row), true
}

// EditSubscription changes a subscription by hand: status, plan, application
// and billing IDs, to anything at all, known to the gateway or not.
func (g *Gateway) EditSubscription(id string, edit func(*Subscription)) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	row, ok := g.store.subs[id]
	if !ok {
		return false
	}
	s := g.store.snapshotOf(row)
	edit(&s)
	row.status, row.planID, row.applicationID = s.Status, given(s.SubscriptionPlanID), given(s.ApplicationID)
	row.billingCustomerID, row.billingSubscriptionID = given(s.BillingCustomerID), given(s.BillingSubscriptionID)
	row.updatedAt = g.store.stamp()
	g.store.publish("", id)
	return true
}

// SetSubscriptionStatus changes the status of a subscription by hand.
func (g *Gateway) SetSubscriptionStatus(id, status string) bool {
	return g.EditSubscription(id, func(s *Subscription) { s.Status = status })
}

// SetSubscriptionToken changes the token of a subscription by hand, without a
// trace but its change stamp. It reports false if another subscription to the
// API has the token.
func (g *Gateway) SetSubscriptionToken(id, token string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	row, ok := g.store.subs[id]
	if !ok {
		return false
	}
	changed := *row
	changed.hash = hashOf(token)
	if g.store.checkSubscription(&changed, false) != nil {
		return false
	}
	changed.updatedAt = g.store.stamp()
	*row = changed
	g.store.publish("", id)
	return true
}

// DeleteSubscription deletes a subscription by hand.
func (g *Gateway) DeleteSubscription(id string) bool {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	if _, ok := g.store.subs[id]; !ok {
		return false
	}
	delete(g.store.subs, id)
	g.store.publish("", id)
	return true
}
