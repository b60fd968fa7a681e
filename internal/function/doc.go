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

// Package function is the composition function behind APIProduct and APIAccess. A
// request says what is asked for and what there is, the response what there shall be
// and how to tell of it; nothing is kept between requests, and nothing is called.
//
// An APIProduct becomes a RestApi for each of its APIs and a SubscriptionPlan for each
// plan that it defines. Their names are those of product and API or plan, so that their
// order does not matter; a Usage keeps each RestApi from being deleted by hand. An APIAccess
// becomes a Subscription, whose connection Secret is the one Secret that a team gets, and
// a Usage that keeps its product from being deleted.
//
// product.go and access.go judge. They are pure functions over what function.go read
// from the request, and know nothing of protocol buffers.
//
// What they must never do is lose a Subscription. Whatever is missing from the desired
// state is deleted, at the gateway too, and calls with its token are refused from then
// on. So a Subscription that exists is always desired, whether its product is there or
// not, offers its plan still or not, or the APIAccess now asks for something that it
// cannot have: then it keeps the API and plan it has, as its status tells if it is at
// the gateway, and conditions say what is not
// done and who can do what about it. Taking access away is never held up by that: it can
// be suspended all the while. In the same way an API or a plan that its product no
// longer has is kept for as long as an access uses it.
//
// No token gets into a response. Crossplane hands the content of connection Secrets to
// a function, also of one that is somebody else's; of those that have the ID of their
// Subscription, only the URL is looked at, and which keys there are.
package function
