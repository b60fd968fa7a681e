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

// Package kind is the one way a kind of managed resource is wired.
//
// A kind describes itself with a Kind value and calls Setup. What follows is the
// same for all: the runtime's managed reconciler with deterministic external
// names, management policies, change logs and metrics, behind a wrapper that
//
//   - waits until the cache shows what was last written, so that no decision is
//     made on an object older than our own writes;
//   - holds back a managed resource whose last reconcile was refused for good
//     until something changes that could cure it (Refuse), and repeats one that
//     failed for the moment with a back-off of its own;
//   - wakes it when its Secrets, its configuration or what it refers to change.
//
// An external client tells the wrapper what kind of failure it met by the error
// it returns: Refuse for what only a change can cure, After for what is worth
// another look at a certain time, and any other error for what passes.
package kind
