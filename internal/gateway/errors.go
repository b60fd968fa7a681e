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
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kind is a kind of object at the gateway, named as the gateway names it.
type Kind string

// The kinds this package knows.
const (
	KindRestAPI          Kind = "RestApi"
	KindSubscriptionPlan Kind = "SubscriptionPlan"
	KindSubscription     Kind = "Subscription"
)

// Verb is what was asked of the gateway.
type Verb string

// The verbs of the management API. Probe is the read that checks a connection.
const (
	VerbList   Verb = "list"
	VerbGet    Verb = "get"
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	VerbDelete Verb = "delete"
	VerbProbe  Verb = "probe"
)

// Writes says whether the verb changes something at the gateway.
func (v Verb) Writes() bool { return v == VerbCreate || v == VerbUpdate || v == VerbDelete }

// Reason says what a failure means, whatever status code it came under.
type Reason string

// The reasons.
const (
	// ReasonNotFound means that the gateway itself said that the object asked
	// for does not exist. No other failure proves absence.
	ReasonNotFound Reason = "NotFound"
	// ReasonConflict means that a unique value is taken: an ID, a name, a token.
	ReasonConflict Reason = "Conflict"
	// ReasonInvalid means that the gateway refuses the request as it is.
	ReasonInvalid Reason = "Invalid"
	// ReasonMissingDependency means that something the request refers to is
	// missing or not usable; Error.Subject says what.
	ReasonMissingDependency Reason = "MissingDependency"
	// ReasonInUse means that other objects at the gateway refer to this one.
	ReasonInUse Reason = "InUse"
	// ReasonUnauthorized means that the credentials were not accepted, or that
	// none could be obtained (Error.Sent is then false).
	ReasonUnauthorized Reason = "Unauthorized"
	// ReasonForbidden means that the credentials lack a role.
	ReasonForbidden Reason = "Forbidden"
	// ReasonReadOnly means that the gateway takes no writes (immutable mode).
	ReasonReadOnly Reason = "ReadOnly"
	// ReasonRateLimited means that the gateway asks to slow down (429).
	ReasonRateLimited Reason = "RateLimited"
	// ReasonUnavailable means that the gateway, or a proxy before it, failed (5xx).
	ReasonUnavailable Reason = "Unavailable"
	// ReasonUnanswered means that no complete answer came.
	ReasonUnanswered Reason = "Unanswered"
	// ReasonBadAnswer means that what answered does not speak the management
	// API: a redirect, HTML, an unknown route, an empty body, another object.
	ReasonBadAnswer Reason = "BadAnswer"
	// ReasonUnsafeID means that no call was made because the ID could reach
	// another object.
	ReasonUnsafeID Reason = "UnsafeID"
	// ReasonHeldOff means that no call was made because the gateway is known to
	// be unreachable, or asked to be left alone; Error.RetryAfter says how long.
	ReasonHeldOff Reason = "HeldOff"
)

// Subject is what in a request a failure is about, where the gateway says so.
type Subject string

// The subjects.
const (
	SubjectAPI    Subject = "api"
	SubjectPlan   Subject = "plan"
	SubjectToken  Subject = "token"
	SubjectStatus Subject = "status"
	SubjectID     Subject = "id"
	SubjectName   Subject = "name"
	SubjectSecret Subject = "secret"
)

// FieldError is one of the gateway's complaints about a field of the request.
type FieldError struct {
	// Field is a path such as spec.context.
	Field string
	// Message is redacted, bounded and on one line.
	Message string
}

// Error is the failure of a call. Its text says in one sentence what failed,
// where and why; it is equal between equal failures and holds no secret.
type Error struct {
	Kind Kind
	Verb Verb
	// ID of the object, where the call was about one that has one.
	ID string
	// Endpoint is the normalised URL of the gateway.
	Endpoint string
	Reason   Reason
	Subject  Subject
	// HTTPStatus is zero if there was no answer.
	HTTPStatus int
	// Message is what the gateway, or the network, said: redacted, bounded and
	// on one line.
	Message string
	// FieldErrors are the gateway's complaints about single fields.
	FieldErrors []FieldError
	// RetryAfter is how long the gateway asks to be left alone, at most
	// MaxRetryAfter. Zero if it does not.
	RetryAfter time.Duration
	// Envelope is true if the answer came in the gateway's own JSON form, so
	// that it is the gateway's word and not that of something before it.
	Envelope bool
	// Sent is true unless it is certain that the request never left.
	Sent bool
	// Cause is the underlying error. It may differ between equal failures and
	// is not part of the text.
	Cause error
}

// Error returns the failure as one sentence.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cannot ")
	b.WriteString(e.what())
	if e.Endpoint != "" {
		b.WriteString(" at " + e.Endpoint)
	}
	b.WriteString(": ")
	b.WriteString(e.why())
	return b.String()
}

func (e *Error) what() string {
	switch {
	case e.Verb == VerbProbe || e.Kind == "":
		return "reach the gateway"
	case e.Verb == VerbList:
		return "list the " + string(e.Kind) + "s"
	case e.ID == "":
		return string(e.Verb) + " " + string(e.Kind)
	default:
		return string(e.Verb) + " " + string(e.Kind) + " " + strconv.Quote(e.ID)
	}
}

func (e *Error) why() string {
	said := e.Message
	for i, f := range e.FieldErrors {
		if i == 5 {
			said += fmt.Sprintf("; and %d more", len(e.FieldErrors)-i)
			break
		}
		said += "; " + f.Field + ": " + f.Message
	}
	said = strings.TrimPrefix(said, "; ")
	if e.HTTPStatus == 0 || e.Reason == ReasonBadAnswer || e.Reason == ReasonHeldOff {
		if said == "" {
			return "the call failed"
		}
		return said
	}
	meaning := map[Reason]string{
		ReasonInUse:        "it is in use",
		ReasonUnauthorized: "the credentials were not accepted",
		ReasonForbidden:    "the credentials lack the role this needs",
		ReasonReadOnly:     "the gateway is read-only",
	}[e.Reason]
	if e.Reason == ReasonConflict && e.HTTPStatus == http.StatusInternalServerError {
		meaning = "the name is probably taken"
	}
	if meaning != "" {
		meaning += "; "
	}
	answer := meaning + "the gateway answered " + strconv.Itoa(e.HTTPStatus)
	if text := http.StatusText(e.HTTPStatus); text != "" {
		answer += " " + text
	}
	if said != "" {
		answer += ": " + said
	}
	return answer
}

// Unwrap returns the underlying error, such as context.Canceled.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns the *Error within an error, or nil.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// ReasonOf returns the Reason of a failed call, or "" if the error is none.
func ReasonOf(err error) Reason {
	if e := AsError(err); e != nil {
		return e.Reason
	}
	return ""
}

// SubjectOf returns what in a request the failure is about, or "".
func SubjectOf(err error) Subject {
	if e := AsError(err); e != nil {
		return e.Subject
	}
	return ""
}

// IsNotFound says whether the gateway itself said that the object asked for does
// not exist. It is false if what is missing is something the object refers to.
func IsNotFound(err error) bool { return ReasonOf(err) == ReasonNotFound }

// IsAbsent says whether nothing is there under an ID: the gateway has nothing, or
// no URL can carry the ID.
func IsAbsent(err error) bool {
	return IsNotFound(err) || ReasonOf(err) == ReasonUnsafeID
}

// IsConflict says whether a unique value of the request is taken.
func IsConflict(err error) bool { return ReasonOf(err) == ReasonConflict }

// IsAPIMissing says whether the API that a subscription, or a list of them,
// refers to does not exist at the gateway.
func IsAPIMissing(err error) bool {
	return ReasonOf(err) == ReasonMissingDependency && SubjectOf(err) == SubjectAPI
}

// RetryAfterOf returns how long no call should be made, or zero if the failure
// does not say.
func RetryAfterOf(err error) time.Duration {
	if e := AsError(err); e != nil {
		return e.RetryAfter
	}
	return 0
}

// MayHaveBeenApplied says whether a failed write may nevertheless have changed
// something at the gateway. Only a request that was never sent, or a refusal in
// the gateway's own envelope that leaves nothing open, proves that it did not:
// a 409 may be the echo of an earlier try, and 408 and 429 often come from a
// proxy that gave up waiting. An error that is not an *Error may have been
// anything.
func MayHaveBeenApplied(err error) bool {
	if err == nil {
		return true
	}
	e := AsError(err)
	if e == nil {
		return true
	}
	if !e.Sent || !e.Verb.Writes() {
		return false
	}
	if !e.Envelope || e.HTTPStatus < 400 || e.HTTPStatus > 499 {
		return true
	}
	switch e.HTTPStatus {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return false
	}
}
