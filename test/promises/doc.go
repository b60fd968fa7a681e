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

// Package promises holds docs/promises.md against the tests: each promise is
// proved by a test that names it, and no test names one that is not made.
//
// A test names what it proves in its comment, or in a comment within it:
//
//	// contract: S12, A3
//	// case: W11
//
// Under contract stand numbers of docs/promises.md. Under case stand those of
// situations from the field, of which there is no list here.
package promises
