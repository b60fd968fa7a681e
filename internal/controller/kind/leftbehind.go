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

package kind

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// LeftBehind tells what may be at a gateway for ever, since nobody holds it.
func LeftBehind(why error) event.Event { return event.Warning("LeftBehind", why) }

// LeftElsewhere tells of a create that was not answered, and was sent to where the
// configuration no longer leads. It says why that is told now, and what kind of thing may
// have been created.
func LeftElsewhere(because, what string, a *record.Attempt) event.Event {
	return LeftBehind(fmt.Errorf("%s, and %s did not answer whether it had created the %s %q for it; the provider config no longer leads there", because, a.Endpoint, what, a.AskedID))
}

// Why a create is told of that was sent elsewhere.
const (
	BecauseDeleted       = "this object is deleted"
	BecauseAsksElsewhere = "this object asks another gateway now"
)
