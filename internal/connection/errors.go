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

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// Problem is what is wrong with a configuration.
type Problem string

// The problems.
const (
	// ProblemConfigMissing means that the configuration does not exist.
	ProblemConfigMissing Problem = "ConfigMissing"
	// ProblemNotAllowed means that the namespace may not use the configuration.
	ProblemNotAllowed Problem = "NotAllowed"
	// ProblemReferenceMissing means that a Secret or ConfigMap, or its key, does
	// not exist.
	ProblemReferenceMissing Problem = "ReferenceMissing"
	// ProblemInvalid means that a value is there but cannot be used.
	ProblemInvalid Problem = "Invalid"
)

// ConfigError says what is wrong with a configuration, and what would be right.
// It holds no secret and is equal between equal failures.
type ConfigError struct {
	Ref     Ref
	Problem Problem
	Message string
}

// Error returns the failure as one sentence.
func (e *ConfigError) Error() string { return e.Ref.String() + ": " + e.Message }

// ProblemOf returns what is wrong with a configuration, or "" if the error is
// another one.
func ProblemOf(err error) Problem {
	var e *ConfigError
	if errors.As(err, &e) {
		return e.Problem
	}
	return ""
}

// IsUnusable says whether the configuration does not lead to any gateway: it, or a
// Secret or ConfigMap it needs, does not exist or cannot be used. A managed
// resource that is being deleted may then fall back to Pool.LastGood. That a
// namespace may not use the configuration is no such case.
func IsUnusable(err error) bool {
	switch ProblemOf(err) {
	case ProblemConfigMissing, ProblemReferenceMissing, ProblemInvalid:
		return true
	case ProblemNotAllowed:
	}
	return false
}
