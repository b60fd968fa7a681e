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
	"encoding/json"
	"net/http"
	"strings"
)

// envelope is the gateway's form of an error. Authentication failures have a
// code instead of a status.
type envelope struct {
	message string
	fields  []FieldError
	auth    bool
}

// readEnvelope returns false if an answer is not in the gateway's own form.
func readEnvelope(body []byte) (envelope, bool) {
	var raw struct {
		Status  any `json:"status"`
		Code    any `json:"code"`
		Message any `json:"message"`
		Errors  any `json:"errors"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return envelope{}, false
	}
	message, ok := raw.Message.(string)
	if !ok {
		return envelope{}, false
	}
	out := envelope{message: message}
	switch code, _ := raw.Code.(string); {
	case raw.Status == "error":
	case code != "":
		out.auth = true
	default:
		return envelope{}, false
	}
	complaints, _ := raw.Errors.([]any)
	for _, c := range complaints {
		m, ok := c.(map[string]any)
		if !ok {
			continue
		}
		field, _ := m["field"].(string)
		text, _ := m["message"].(string)
		out.fields = append(out.fields, FieldError{Field: field, Message: text})
	}
	return out, true
}

// classify says what a status means, given who was asked for what. The message
// counts: many of the gateway's codes do not mean what they say.
// The last argument says whether it is the gateway's own word.
func classify(kind Kind, verb Verb, status int, env envelope, gateways bool) (Reason, Subject) {
	message := strings.ToLower(env.message)
	switch status {
	case http.StatusUnauthorized:
		return ReasonUnauthorized, ""
	case http.StatusForbidden:
		return ReasonForbidden, ""
	case http.StatusMethodNotAllowed:
		if verb.Writes() {
			return ReasonReadOnly, ""
		}
		return ReasonBadAnswer, ""
	case http.StatusRequestTimeout:
		return ReasonUnanswered, ""
	case http.StatusTooManyRequests:
		return ReasonRateLimited, ""
	case http.StatusNotFound:
		return classifyNotFound(kind, verb, gateways)
	case http.StatusConflict:
		if verb == VerbDelete {
			return ReasonInUse, ""
		}
		return ReasonConflict, conflictSubject(kind, message)
	}
	switch {
	case status >= 500:
		return classifyServerError(kind, verb, message, gateways)
	case status >= 400:
		return classifyInvalid(kind, message, env.fields)
	default:
		return ReasonBadAnswer, ""
	}
}

// classifyNotFound believes only the gateway itself: the 404 of an unknown route
// is plain text, and means that the endpoint's path is wrong.
func classifyNotFound(kind Kind, verb Verb, gateways bool) (Reason, Subject) {
	switch {
	case !gateways:
		return ReasonBadAnswer, ""
	case kind == KindSubscription && (verb == VerbCreate || verb == VerbList):
		return ReasonMissingDependency, SubjectAPI
	case verb == VerbCreate:
		return ReasonMissingDependency, ""
	case verb == VerbList || verb == VerbProbe:
		return ReasonBadAnswer, ""
	default:
		return ReasonNotFound, ""
	}
}

func classifyServerError(kind Kind, verb Verb, message string, gateways bool) (Reason, Subject) {
	if gateways && kind == KindSubscriptionPlan {
		switch {
		case verb == VerbDelete && strings.Contains(message, "failed to delete subscription plan"):
			return ReasonInUse, ""
		case verb == VerbUpdate && strings.Contains(message, "failed to update subscription plan"):
			return ReasonConflict, SubjectName
		}
	}
	if gateways && verb == VerbDelete && strings.Contains(message, "foreign key constraint") {
		return ReasonInUse, ""
	}
	return ReasonUnavailable, ""
}

func classifyInvalid(kind Kind, message string, fields []FieldError) (Reason, Subject) {
	if strings.Contains(message, "failed to resolve secret") {
		return ReasonMissingDependency, SubjectSecret
	}
	if strings.Contains(message, "already exists") {
		return ReasonConflict, conflictSubject(kind, message)
	}
	if kind != KindSubscription {
		return ReasonInvalid, ""
	}
	for _, f := range fields {
		message += " " + strings.ToLower(f.Field+" "+f.Message)
	}
	switch {
	case strings.Contains(message, "invalid status") || strings.Contains(message, "status must"):
		return ReasonInvalid, SubjectStatus
	case strings.Contains(message, "externalrefid"):
		return ReasonInvalid, SubjectID
	case strings.Contains(message, "plan"):
		return ReasonMissingDependency, SubjectPlan
	case strings.Contains(message, "token"):
		return ReasonInvalid, SubjectToken
	case strings.Contains(message, "apiid"):
		return ReasonInvalid, SubjectAPI
	case strings.Contains(message, "status"):
		return ReasonInvalid, SubjectStatus
	default:
		return ReasonInvalid, ""
	}
}

func conflictSubject(kind Kind, message string) Subject {
	switch kind {
	case KindRestAPI:
		if strings.Contains(message, "handle") {
			return SubjectID
		}
		if strings.Contains(message, "displayname") || strings.Contains(message, "name") {
			return SubjectName
		}
	case KindSubscriptionPlan:
		return SubjectName
	case KindSubscription:
		// The gateway's word is no proof here: ID and token collide alike.
	}
	return ""
}
