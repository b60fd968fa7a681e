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

// Package crossplane tests what Crossplane's core makes of the packages: on a real API
// server with its garbage collector, core and its RBAC manager run as their chart has
// them, pull the packages from a registry and deploy them; what they deploy runs out of
// the packages' images, as the service account that Crossplane gives it, and with the
// rights that it grants that.
package crossplane
