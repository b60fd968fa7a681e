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
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// messageSubscribed is what gateways answer when an ID or a token is taken. It
// is misleading: applications have nothing to do with it.
const messageSubscribed = "Application already subscribed to this API"

var externalRefIDRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

type subscriptionRequest struct {
	APIID                 string          `json:"apiId"`
	ApplicationID         *string         `json:"applicationId"`
	BillingCustomerID     *string         `json:"billingCustomerId"`
	BillingSubscriptionID *string         `json:"billingSubscriptionId"`
	Status                *string         `json:"status"`
	SubscriptionPlanID    *string         `json:"subscriptionPlanId"`
	SubscriptionToken     string          `json:"subscriptionToken"`
	ExternalRefID         json.RawMessage `json:"externalRefId"`
}

// subscriptionUpdate is the body of a change. A legacy gateway reads its status
// alone.
type subscriptionUpdate struct {
	Status             *string         `json:"status"`
	SubscriptionPlanID json.RawMessage `json:"subscriptionPlanId"`
	SubscriptionToken  json.RawMessage `json:"subscriptionToken"`
}

type subscriptionResponse struct {
	APIID                 string    `json:"apiId"`
	ApplicationID         *string   `json:"applicationId,omitempty"`
	BillingCustomerID     *string   `json:"billingCustomerId,omitempty"`
	BillingSubscriptionID *string   `json:"billingSubscriptionId,omitempty"`
	CreatedAt             time.Time `json:"createdAt"`
	ExternalRefID         *string   `json:"externalRefId,omitempty"`
	GatewayID             string    `json:"gatewayId"`
	ID                    string    `json:"id"`
	Status                string    `json:"status"`
	SubscriptionPlanID    *string   `json:"subscriptionPlanId,omitempty"`
	SubscriptionToken     string    `json:"subscriptionToken,omitempty"`
	UpdatedAt             time.Time `json:"updatedAt"`
}

func (g *Gateway) subscriptionResponse(s *subscriptionRow) subscriptionResponse {
	return subscriptionResponse{
		ID: s.id, ExternalRefID: s.externalRefID, APIID: s.apiUUID, ApplicationID: s.applicationID,
		SubscriptionPlanID: s.planID, BillingCustomerID: s.billingCustomerID,
		BillingSubscriptionID: s.billingSubscriptionID, GatewayID: g.store.gatewayID,
		Status: s.status, CreatedAt: s.createdAt, UpdatedAt: s.updatedAt,
	}
}

func knownStatus(s string) bool {
	return s == statusActive || s == statusInactive || s == statusRevoked
}

func (g *Gateway) listSubscriptions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if repeated(w, q, "apiId", "applicationId", "status") {
		return
	}
	uuid := ""
	if id := q.Get("apiId"); id != "" {
		a := g.store.resolveAPI(id)
		if a == nil {
			fail(w, http.StatusNotFound, noSubscriptionAPI(id))
			return
		}
		uuid = a.uuid
	}
	items := []subscriptionResponse{}
	for _, s := range newest(g.store.subs, func(s *subscriptionRow) uint64 { return s.seq }) {
		application := ""
		if s.applicationID != nil {
			application = *s.applicationID
		}
		if differs(uuid, s.apiUUID) || differs(q.Get("applicationId"), application) || differs(q.Get("status"), s.status) {
			continue
		}
		items = append(items, g.subscriptionResponse(s))
	}
	writeJSON(w, http.StatusOK, map[string]any{"subscriptions": items, "count": len(items)})
}

func noSubscriptionAPI(id string) string {
	return fmt.Sprintf("RestAPI with identifier '%s' not found", id)
}

func (g *Gateway) createSubscription(w http.ResponseWriter, r *http.Request) {
	var req subscriptionRequest
	if err := bind(r, &req); err != nil {
		fail(w, http.StatusBadRequest, "Invalid request body")
		return
	}
	row, no := g.store.newSubscription(req)
	if no != nil {
		fail(w, no.status, no.message)
		return
	}
	if err := g.store.insertSubscription(row, eventKey(r)); err != nil {
		if errors.Is(err, errConflict) {
			fail(w, http.StatusConflict, messageSubscribed)
			return
		}
		fail(w, http.StatusInternalServerError, "Failed to create subscription")
		return
	}
	committed(w)
	out := g.subscriptionResponse(row)
	// The only answer that ever shows a token.
	out.SubscriptionToken = strings.TrimSpace(req.SubscriptionToken)
	writeJSON(w, http.StatusCreated, out)
}

// newSubscription makes a row of a request, or says why not.
func (s *store) newSubscription(req subscriptionRequest) (*subscriptionRow, *refusal) {
	bad := func(message string) (*subscriptionRow, *refusal) {
		return nil, &refusal{status: http.StatusBadRequest, message: message}
	}
	if strings.TrimSpace(req.APIID) == "" {
		return bad("apiId is required")
	}
	token := strings.TrimSpace(req.SubscriptionToken)
	if token == "" {
		return bad("subscriptionToken is required")
	}
	externalRefID, ok := s.externalRefID(req.ExternalRefID)
	if !ok {
		return bad("externalRefId must be 1-64 characters and match ^[A-Za-z0-9][A-Za-z0-9._-]*$")
	}
	a := s.resolveAPI(req.APIID)
	if a == nil {
		return nil, &refusal{status: http.StatusNotFound, message: noSubscriptionAPI(req.APIID)}
	}
	// An empty plan ID passes this check, and fails in the database.
	if value(req.SubscriptionPlanID) != "" {
		if no := s.planRefusal(*req.SubscriptionPlanID, a); no != "" {
			return bad(no)
		}
	}
	row := &subscriptionRow{
		id: s.newID(), apiUUID: a.uuid, externalRefID: externalRefID,
		applicationID: given(value(req.ApplicationID)), planID: req.SubscriptionPlanID,
		billingCustomerID: req.BillingCustomerID, billingSubscriptionID: req.BillingSubscriptionID,
		status: statusActive, hash: hashOf(token),
	}
	if externalRefID != nil {
		row.id = *externalRefID
	}
	if req.Status != nil {
		if row.status = *req.Status; !knownStatus(row.status) {
			return bad("invalid status: " + row.status)
		}
	}
	return row, nil
}

func (s *store) insertSubscription(row *subscriptionRow, correlationID string) error {
	if err := s.checkSubscription(row, true); err != nil {
		return err
	}
	row.seq, row.createdAt = s.next(), s.stamp()
	row.updatedAt = row.createdAt
	s.subs[row.id] = row
	s.publish(correlationID, row.id)
	return nil
}

// externalRefID reads the ID that a client asks for. A legacy gateway does not
// know the field and accepts anything there.
func (s *store) externalRefID(raw json.RawMessage) (*string, bool) {
	if s.generation != InPlace || len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var id string
	if err := json.Unmarshal(raw, &id); err != nil || !externalRefIDRule.MatchString(id) {
		return nil, false
	}
	return &id, true
}

func (g *Gateway) getSubscription(w http.ResponseWriter, r *http.Request) {
	s, ok := g.store.subs[r.PathValue("id")]
	if !ok {
		fail(w, http.StatusNotFound, "Subscription not found")
		return
	}
	writeJSON(w, http.StatusOK, g.subscriptionResponse(s))
}

func (g *Gateway) updateSubscription(w http.ResponseWriter, r *http.Request) {
	s := g.store
	row, ok := s.subs[r.PathValue("id")]
	if !ok {
		fail(w, http.StatusNotFound, "Subscription not found")
		return
	}
	var req subscriptionUpdate
	if err := bind(r, &req); err != nil {
		fail(w, http.StatusBadRequest, "Invalid request body")
		return
	}
	// Changes are made to a copy, so that a refusal leaves nothing behind.
	changed := *row
	if req.Status != nil {
		if changed.status = *req.Status; !knownStatus(changed.status) {
			fail(w, http.StatusBadRequest, "invalid status: "+changed.status)
			return
		}
	}
	if s.generation == InPlace {
		if no := s.applyInPlace(&changed, req); no != nil {
			fail(w, no.status, no.message)
			return
		}
	}
	changed.updatedAt = s.stamp()
	*row = changed
	s.publish(eventKey(r), row.id)
	committed(w)
	writeJSON(w, http.StatusOK, g.subscriptionResponse(row))
}

// applyInPlace changes plan and token. Where the description of such gateways
// is silent it takes the stricter reading: a plan that is sent must be usable
// even if it is the one that the subscription has, an empty plan ID is no way
// to clear the plan, and a token that is sent as null is a bad token.
func (s *store) applyInPlace(row *subscriptionRow, req subscriptionUpdate) *refusal {
	if len(req.SubscriptionPlanID) > 0 {
		var planID *string
		if err := json.Unmarshal(req.SubscriptionPlanID, &planID); err != nil {
			return &refusal{status: http.StatusBadRequest, message: "Invalid request body"}
		}
		if planID != nil {
			if no := s.planRefusal(*planID, s.apis[row.apiUUID]); no != "" {
				return &refusal{status: http.StatusBadRequest, message: no}
			}
		}
		row.planID = planID
	}
	if len(req.SubscriptionToken) > 0 {
		var token string
		if err := json.Unmarshal(req.SubscriptionToken, &token); err != nil {
			return &refusal{status: http.StatusBadRequest, message: "Invalid request body"}
		}
		if token = strings.TrimSpace(token); token == "" {
			return &refusal{status: http.StatusBadRequest, message: "subscriptionToken must not be empty"}
		}
		row.hash = hashOf(token)
	}
	if err := s.checkSubscription(row, false); err != nil {
		return &refusal{status: http.StatusConflict, message: messageSubscribed}
	}
	return nil
}

func (g *Gateway) deleteSubscription(w http.ResponseWriter, r *http.Request) {
	s := g.store
	id := r.PathValue("id")
	if _, ok := s.subs[id]; !ok {
		fail(w, http.StatusNotFound, "Subscription not found")
		return
	}
	delete(s.subs, id)
	s.publish(eventKey(r), id)
	committed(w)
	w.WriteHeader(http.StatusNoContent)
}
