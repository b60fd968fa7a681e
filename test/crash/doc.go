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

// Package crash kills the provider, as it is shipped, at every write it makes,
// before the write and after it, starts it again and looks at what became of its
// managed resources: there must be exactly what the specs ask for.
//
// The same must come of it where nobody is killed, but the API server answers a
// write otherwise than it carried it out, or the provider sees late, or never, what
// others and it itself wrote.
package crash
