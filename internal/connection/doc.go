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

// Package connection leads from a ProviderConfig or ClusterProviderConfig to a
// ready, shared client of a gateway.
//
// One Pool serves all managed resources. It reads credentials and certificates
// live, but only when a version shown by metadata alone has changed; it holds
// calls back when a gateway is dead or asks for it; and it remembers what calls
// taught about a gateway: whether it is reachable, what the credentials may do,
// its identity and its generation.
package connection
