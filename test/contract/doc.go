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

// Package contract proves what the provider promises, on a real API server with
// a namespace and a garbage-collector controller, against an emulated gateway,
// with the provider's controllers running in this process.
//
// Each test has a world of its own: a gateway, a namespace with a ProviderConfig
// in it, and a provider that reconciles this namespace alone.
package contract
