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

// Package conformance says what a gateway must do for the provider to work: the
// facts of its management API that the provider relies on, one check each.
//
// It speaks HTTP and JSON by itself, so that it judges gateway, emulator and
// client independently of each other. By default it runs against the emulator
// in both generations. With GATEWAY_URL it also runs against a real gateway,
// which it leaves as it was found:
//
//	GATEWAY_URL         root of the management API, without the base path
//	GATEWAY_USER        a user with the role admin
//	GATEWAY_PASSWORD    and the password
//	GATEWAY_GENERATION  legacy (default) or in-place
//
// Optional, for the checks that need them and are skipped otherwise:
//
//	GATEWAY_DEVELOPER, GATEWAY_CONSUMER  user:password with that role
//	GATEWAY_POLICY      a policy of the gateway that accepts any params, in
//	                    major version v1
package conformance
