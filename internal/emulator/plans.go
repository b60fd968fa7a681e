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
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	statusActive   = "ACTIVE"
	statusInactive = "INACTIVE"
	statusRevoked  = "REVOKED"
)

// planRequest is the body of a creation or a change. A change merges: what is
// absent or null stays as it is, so nothing can ever be cleared but a string.
type planRequest struct {
	PlanName           *string    `json:"planName"`
	BillingPlan        *string    `json:"billingPlan"`
	StopOnQuotaReach   *bool      `json:"stopOnQuotaReach"`
	ThrottleLimitCount *int       `json:"throttleLimitCount"`
	ThrottleLimitUnit  *string    `json:"throttleLimitUnit"`
	ExpiryTime         *time.Time `json:"expiryTime"`
	Status             *string    `json:"status"`
}

type planResponse struct {
	BillingPlan        *string    `json:"billingPlan,omitempty"`
	CreatedAt          time.Time  `json:"createdAt"`
	ExpiryTime         *time.Time `json:"expiryTime,omitempty"`
	GatewayID          string     `json:"gatewayId"`
	ID                 string     `json:"id"`
	PlanName           string     `json:"planName"`
	Status             string     `json:"status,omitempty"`
	StopOnQuotaReach   bool       `json:"stopOnQuotaReach"`
	ThrottleLimitCount *int       `json:"throttleLimitCount,omitempty"`
	ThrottleLimitUnit  *string    `json:"throttleLimitUnit,omitempty"`
	UpdatedAt          time.Time  `json:"updatedAt"`
}

func (g *Gateway) planResponse(p *planRow) planResponse {
	out := planResponse{
		ID: p.id, GatewayID: g.store.gatewayID, PlanName: p.planName, StopOnQuotaReach: p.stopOnQuotaReach,
		ThrottleLimitCount: p.throttleLimitCount, ThrottleLimitUnit: p.throttleLimitUnit,
		ExpiryTime: p.expiryTime, Status: p.status, CreatedAt: p.createdAt, UpdatedAt: p.updatedAt,
	}
	if p.billingPlan != nil && *p.billingPlan != "" {
		out.BillingPlan = p.billingPlan
	}
	return out
}

// checkPlan returns what is wrong with the throttle limits or the status.
func checkPlan(req planRequest) string {
	count := req.ThrottleLimitCount != nil
	unit := req.ThrottleLimitUnit != nil && *req.ThrottleLimitUnit != ""
	switch {
	case count != unit:
		return "throttleLimitCount and throttleLimitUnit must be provided together"
	case count && *req.ThrottleLimitCount <= 0:
		return "throttleLimitCount must be positive"
	case count && !slices.Contains([]string{"Day", "Hour", "Min", "Month"}, *req.ThrottleLimitUnit):
		return "throttleLimitUnit must be one of: Day, Hour, Min, Month"
	}
	return ""
}

func checkPlanStatus(status *string) string {
	if status != nil && *status != statusActive && *status != statusInactive {
		return "invalid status: " + *status
	}
	return ""
}

func (p *planRow) merge(req planRequest) {
	if req.BillingPlan != nil {
		p.billingPlan = req.BillingPlan
	}
	if req.StopOnQuotaReach != nil {
		p.stopOnQuotaReach = *req.StopOnQuotaReach
	}
	if req.ThrottleLimitCount != nil && req.ThrottleLimitUnit != nil {
		p.throttleLimitCount, p.throttleLimitUnit = req.ThrottleLimitCount, req.ThrottleLimitUnit
	}
	if req.ExpiryTime != nil {
		p.expiryTime = req.ExpiryTime
	}
	if req.Status != nil {
		p.status = *req.Status
	}
}

func (g *Gateway) listPlans(w http.ResponseWriter, _ *http.Request) {
	items := []planResponse{}
	for _, p := range newest(g.store.plans, func(p *planRow) uint64 { return p.seq }) {
		items = append(items, g.planResponse(p))
	}
	writeJSON(w, http.StatusOK, map[string]any{"subscriptionPlans": items, "count": len(items)})
}

func (g *Gateway) createPlan(w http.ResponseWriter, r *http.Request) {
	var req planRequest
	if err := bind(r, &req); err != nil {
		fail(w, http.StatusBadRequest, "Invalid request body")
		return
	}
	name := ""
	if req.PlanName != nil {
		name = strings.TrimSpace(*req.PlanName)
	}
	if name == "" {
		fail(w, http.StatusBadRequest, "planName is required")
		return
	}
	if wrong := checkPlan(req); wrong != "" {
		fail(w, http.StatusBadRequest, wrong)
		return
	}
	if wrong := checkPlanStatus(req.Status); wrong != "" {
		fail(w, http.StatusBadRequest, wrong)
		return
	}
	s := g.store
	row := &planRow{id: s.newID(), planName: name, stopOnQuotaReach: true, status: statusActive}
	row.merge(req)
	if err := s.checkPlanName(row.id, name); err != nil {
		fail(w, http.StatusConflict, "Subscription plan already exists")
		return
	}
	row.seq, row.createdAt = s.next(), s.stamp()
	row.updatedAt = row.createdAt
	s.plans[row.id] = row
	s.publish(eventKey(r), row.id)
	committed(w)
	writeJSON(w, http.StatusCreated, g.planResponse(row))
}

func (g *Gateway) getPlan(w http.ResponseWriter, r *http.Request) {
	p, ok := g.store.plans[r.PathValue("id")]
	if !ok {
		fail(w, http.StatusNotFound, "Subscription plan not found")
		return
	}
	writeJSON(w, http.StatusOK, g.planResponse(p))
}

func (g *Gateway) updatePlan(w http.ResponseWriter, r *http.Request) {
	s := g.store
	p, ok := s.plans[r.PathValue("id")]
	if !ok {
		fail(w, http.StatusNotFound, "Subscription plan not found")
		return
	}
	var req planRequest
	if err := bind(r, &req); err != nil {
		fail(w, http.StatusBadRequest, "Invalid request body")
		return
	}
	if wrong := checkPlan(req); wrong != "" {
		fail(w, http.StatusBadRequest, wrong)
		return
	}
	name := p.planName
	if req.PlanName != nil {
		if name = strings.TrimSpace(*req.PlanName); name == "" {
			fail(w, http.StatusBadRequest, "planName cannot be empty")
			return
		}
	}
	if wrong := checkPlanStatus(req.Status); wrong != "" {
		fail(w, http.StatusBadRequest, wrong)
		return
	}
	if err := s.checkPlanName(p.id, name); err != nil {
		// A legacy gateway does not tell a clash of names from its own faults.
		if s.generation == InPlace {
			fail(w, http.StatusConflict, "Subscription plan already exists")
			return
		}
		fail(w, http.StatusInternalServerError, "Failed to update subscription plan")
		return
	}
	p.planName = name
	p.merge(req)
	p.updatedAt = s.stamp()
	s.publish(eventKey(r), p.id)
	committed(w)
	writeJSON(w, http.StatusOK, g.planResponse(p))
}

func (g *Gateway) deletePlan(w http.ResponseWriter, r *http.Request) {
	err := g.store.deletePlan(r.PathValue("id"), eventKey(r))
	switch {
	case err == nil:
		committed(w)
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, errNotFound):
		fail(w, http.StatusNotFound, "Subscription plan not found")
	case g.store.generation == InPlace:
		fail(w, http.StatusConflict, "Subscription plan is in use")
	default:
		fail(w, http.StatusInternalServerError, "Failed to delete subscription plan")
	}
}

// planRefusal says why a subscription to the API cannot have the plan, if it
// cannot.
func (s *store) planRefusal(planID string, a *apiRow) string {
	p, ok := s.plans[planID]
	if !ok {
		return "Subscription plan not found or not enabled"
	}
	if p.status != statusActive {
		return "Subscription plan is not active"
	}
	plans := a.doc.Spec.SubscriptionPlans
	if plans == nil || len(*plans) == 0 {
		return ""
	}
	// Plan names are unique by letter case, but enabled on an API without
	// regard to it.
	if !slices.ContainsFunc(*plans, func(n string) bool { return strings.EqualFold(n, p.planName) }) {
		return fmt.Sprintf("Subscription plan %q is not enabled for this API", p.planName)
	}
	return ""
}
