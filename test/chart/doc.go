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

// Package chart holds the Helm chart against the provider: its flags, what it really asks
// of an API server, and what its users must never lose. The chart is installed by Helm on
// a real API server. There is no kubelet, so the tests run the provider's binary with the
// arguments, the environment and the ServiceAccount that its pod would have.
package chart
