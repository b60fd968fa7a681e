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

package kind

import (
	"errors"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A refusal is an error that only a change can cure.
type refusal struct {
	error

	atMost time.Duration
}

func (r *refusal) Unwrap() error { return r.error }

// Refuse marks an error as one that only a change of spec, Secret, plan,
// configuration or gateway can cure. The managed resource is then left alone
// until a cause changes, or for growing times that end at ten minutes.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{error: err, atMost: maxHold}
}

// RefuseAtMost is Refuse for what somebody else may cure at the gateway, unseen:
// it is tried again after the given time at the latest.
func RefuseAtMost(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &refusal{error: err, atMost: min(d, maxHold)}
}

// IsRefusal tells whether an error was marked by Refuse.
func IsRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

// postponed is an error that is worth another look at a certain time.
type postponed struct {
	error

	after time.Duration
}

func (p *postponed) Unwrap() error { return p.error }

// After marks an error as worth another look after the given time, which is ten
// minutes at most.
func After(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &postponed{error: err, after: min(max(d, 0), maxHold)}
}

// IsPostponed tells whether an error was marked by After.
func IsPostponed(err error) bool {
	var p *postponed
	return errors.As(err, &p)
}

// retryAfter is when a failed reconcile shall be repeated, if the error says so:
// either it was marked by After, or the gateway is held off.
func retryAfter(err error) (time.Duration, bool) {
	var p *postponed
	if errors.As(err, &p) {
		return p.after, true
	}
	if d := gateway.RetryAfterOf(err); d > 0 {
		return d, true
	}
	return 0, false
}
