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

package connection

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Status of a Finding.
type Status string

// The statuses, named as those of a condition.
const (
	StatusUnknown Status = "Unknown"
	StatusTrue    Status = "True"
	StatusFalse   Status = "False"
)

// Finding is what calls taught about one aspect of a connection.
type Finding struct {
	Status Status
	// Reason is one CamelCase word.
	Reason string
	// Message is stable between equal findings and holds no secret.
	Message string
}

// Health is what the calls of one configuration taught. Calls that were made for
// managed resources count as much as those made to find out.
type Health struct {
	// Endpoint is normalised.
	Endpoint string
	// Reachable tells whether a gateway answers.
	Reachable Finding
	// Authenticated tells whether the gateway knows the credentials.
	Authenticated Finding
	// Authorized tells whether the credentials have the role for all kinds that
	// were tried.
	Authorized Finding
	// Writable is False if the gateway refuses every change.
	Writable Finding
	// LastSeen is when the gateway last answered in its own form.
	LastSeen time.Time
	// GatewayID is how the gateway names itself, if it is known.
	GatewayID string
	// Generation as declared or learnt.
	Generation Generation
}

// health is the memory behind a Health, and outlives single clients.
type health struct {
	mu        sync.Mutex
	endpoint  string
	findings  Health
	strikes   int
	forbidden map[gateway.Kind]bool
}

// begin forgets what was found at another endpoint.
func (h *health) begin(endpoint string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.endpoint == endpoint {
		return
	}
	unknown := Finding{Status: StatusUnknown, Reason: "NotYetKnown"}
	h.endpoint, h.strikes, h.forbidden = endpoint, 0, map[gateway.Kind]bool{}
	h.findings = Health{Endpoint: endpoint, Reachable: unknown, Authenticated: unknown, Authorized: unknown, Writable: unknown}
}

func (h *health) snapshot() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.findings
}

// record learns from a call, and says whether a finding flipped.
func (h *health) record(c gateway.Call, err error, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.findings
	if err == nil {
		h.answered(now)
		h.accepted(c)
	} else if e := gateway.AsError(err); e != nil {
		h.failed(c, e, now)
	}
	return before.Reachable != h.findings.Reachable || before.Authenticated != h.findings.Authenticated ||
		before.Authorized != h.findings.Authorized || before.Writable != h.findings.Writable
}

func (h *health) answered(now time.Time) {
	h.strikes, h.findings.LastSeen = 0, now
	h.findings.Reachable = Finding{Status: StatusTrue, Reason: "Answers"}
}

// accepted notes that the gateway dealt with a call itself.
func (h *health) accepted(c gateway.Call) {
	h.authorized(c.Kind, true)
	if c.Verb.Writes() {
		h.findings.Writable = Finding{Status: StatusTrue, Reason: "AcceptsChanges"}
	}
}

func (h *health) authorized(k gateway.Kind, yes bool) {
	h.findings.Authenticated = Finding{Status: StatusTrue, Reason: "Accepted"}
	if yes {
		delete(h.forbidden, k)
	} else {
		h.forbidden[k] = true
	}
	if len(h.forbidden) == 0 {
		h.findings.Authorized = Finding{Status: StatusTrue, Reason: "Permitted"}
		return
	}
	kinds := []string{}
	for k := range h.forbidden {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds)
	h.findings.Authorized = Finding{
		Status: StatusFalse, Reason: "Forbidden",
		Message: "the credentials lack the role for " + strings.Join(kinds, ", "),
	}
}

func (h *health) failed(c gateway.Call, e *gateway.Error, now time.Time) {
	if e.Envelope {
		h.answered(now)
	}
	switch e.Reason {
	case gateway.ReasonNotFound, gateway.ReasonConflict, gateway.ReasonInvalid, gateway.ReasonMissingDependency, gateway.ReasonInUse:
		if e.Envelope {
			h.accepted(c)
		}
	case gateway.ReasonUnauthorized:
		h.findings.Authenticated = Finding{Status: StatusFalse, Reason: "Unauthorized", Message: said(e, "the gateway does not accept the credentials")}
	case gateway.ReasonForbidden:
		h.authorized(c.Kind, false)
	case gateway.ReasonReadOnly:
		// Answered before authentication, so that it says nothing about it.
		h.findings.Writable = Finding{Status: StatusFalse, Reason: "ReadOnly", Message: said(e, "the gateway takes no changes")}
	case gateway.ReasonUnanswered, gateway.ReasonBadAnswer, gateway.ReasonUnavailable:
		h.unreachable(e)
	case gateway.ReasonRateLimited, gateway.ReasonUnsafeID, gateway.ReasonHeldOff:
		// Nothing new.
	}
}

// unreachable counts what is not the gateway's own answer against it. What never
// left, because there was no connection, counts at once.
func (h *health) unreachable(e *gateway.Error) {
	if e.Envelope || (e.HTTPStatus == 0 && e.Reason == gateway.ReasonUnavailable) {
		// The gateway's own failure; or no credentials could be obtained.
		if !e.Envelope {
			h.findings.Authenticated = Finding{Status: StatusUnknown, Reason: "NoCredentials", Message: e.Message}
		}
		return
	}
	h.strikes++
	if e.Sent && h.strikes < strikesToDeath && h.findings.Reachable.Status == StatusTrue {
		return
	}
	message := e.Message
	if e.HTTPStatus != 0 && e.Reason == gateway.ReasonUnavailable {
		message = "something before the gateway answered " + strconv.Itoa(e.HTTPStatus)
	}
	h.findings.Reachable = Finding{Status: StatusFalse, Reason: string(e.Reason), Message: message}
}

func said(e *gateway.Error, otherwise string) string {
	if e.Message == "" {
		return otherwise
	}
	return e.Message
}
