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

package observation

import "errors"

// A sharedError is one that all got who asked: whoever got it is woken once reading
// goes well again.
type sharedError struct{ error }

func (e *sharedError) Unwrap() error { return e.error }

// IsShared tells whether an error is that of a reading for all, whose end wakes those
// who got it.
func IsShared(err error) bool {
	var e *sharedError
	return errors.As(err, &e)
}
