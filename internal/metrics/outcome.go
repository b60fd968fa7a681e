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

package metrics

import (
	"context"
	"net"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// An outcome is how a call went, as the label says it.
type outcome string

// The outcomes. docs/metrics.md explains them.
const (
	success           outcome = "success"
	notFound          outcome = "not_found"
	conflict          outcome = "conflict"
	invalid           outcome = "invalid"
	missingDependency outcome = "missing_dependency"
	inUse             outcome = "in_use"
	unauthorized      outcome = "unauthorized"
	noCredentials     outcome = "no_credentials"
	forbidden         outcome = "forbidden"
	readOnly          outcome = "read_only"
	throttled         outcome = "throttled"
	unavailable       outcome = "unavailable"
	badAnswer         outcome = "bad_answer"
	timeout           outcome = "timeout"
	unreachable       outcome = "unreachable"
	cancelled         outcome = "cancelled"
	heldOff           outcome = "held_off"
	failed            outcome = "failed"
)

// outcomeOf a call that ended with an error, or nil.
func outcomeOf(err error) outcome {
	if err == nil {
		return success
	}
	e := gateway.AsError(err)
	if e == nil {
		return failed
	}
	switch e.Reason {
	case gateway.ReasonUnauthorized, gateway.ReasonUnavailable:
		if !e.Sent {
			// The authorization server's doing.
			return noCredentials
		}
	case gateway.ReasonUnanswered:
		return unanswered(e)
	default:
	}
	said, ok := map[gateway.Reason]outcome{
		gateway.ReasonNotFound:          notFound,
		gateway.ReasonConflict:          conflict,
		gateway.ReasonInvalid:           invalid,
		gateway.ReasonMissingDependency: missingDependency,
		gateway.ReasonInUse:             inUse,
		gateway.ReasonUnauthorized:      unauthorized,
		gateway.ReasonForbidden:         forbidden,
		gateway.ReasonReadOnly:          readOnly,
		gateway.ReasonRateLimited:       throttled,
		gateway.ReasonUnavailable:       unavailable,
		gateway.ReasonBadAnswer:         badAnswer,
		gateway.ReasonHeldOff:           heldOff,
	}[e.Reason]
	if !ok {
		return failed
	}
	return said
}

// unanswered tells what kept an answer from coming. A time-out of the caller's is one too.
func unanswered(e *gateway.Error) outcome {
	var timed net.Error
	switch {
	case errors.Is(e, context.Canceled):
		return cancelled
	case e.HTTPStatus == http.StatusRequestTimeout, errors.Is(e, context.DeadlineExceeded), errors.As(e, &timed) && timed.Timeout():
		return timeout
	}
	return unreachable
}
