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

package crash

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An answer is what the API server says instead of what it would have said.
type answer struct {
	name   string
	code   int
	reason metav1.StatusReason
}

// expired is the answer to a watch that asks for what is not kept any more.
var expired = answer{"expired", http.StatusGone, metav1.StatusReasonExpired}

// answers that a write may get. One without a code is none: the connection is cut.
func answers() []answer {
	return []answer{
		{"conflict", http.StatusConflict, metav1.StatusReasonConflict},
		{"error", http.StatusInternalServerError, metav1.StatusReasonInternalError},
		{"timeout", http.StatusGatewayTimeout, metav1.StatusReasonTimeout},
		{name: "cut"},
	}
}

// give the answer.
func (a answer) give(w http.ResponseWriter) {
	if a.code == 0 {
		panic(http.ErrAbortHandler)
	}
	body, _ := json.Marshal(metav1.Status{ //nolint:errchkjson // There is nothing in it that could not be written.
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(a.code), Reason: a.reason, Message: "the relay says so", //nolint:gosec // It is one of HTTP's.
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.code)
	_, _ = w.Write(body)
}

// misanswer a write: before it is carried out, which it then never is, or after.
// Before it is answered, something is done.
func (r *relay) misanswer(w http.ResponseWriter, req *http.Request, a answer, m moment, do func()) {
	if m == after {
		if body, err := io.ReadAll(req.Body); err == nil {
			// What goes wrong here shows in what is there afterwards.
			_ = r.forward(req.Clone(context.WithoutCancel(req.Context())), string(body))
		}
		if a.code == http.StatusConflict && req.Method == http.MethodPost {
			// So answers a server to a create that it was sent twice.
			a.reason = metav1.StatusReasonAlreadyExists
		}
	} else {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	do()
	a.give(w)
}

// toAPIServer tells whether a write is for the API server.
func (w write) toAPIServer() bool { return !strings.EqualFold(w.To, gatewayName) }
