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

// Package gateway is the management API of a WSO2 API Platform gateway as Go:
// its wire types, a Client, and typed errors. It knows nothing of Kubernetes.
//
// The API lies about many outcomes (a plan in use answers 500, an unknown API
// answers 404 to a POST), so every failure is classified by kind, verb, status
// and message into an *Error with a Reason. Error texts are one sentence, equal
// between equal failures, and never hold a secret.
package gateway
