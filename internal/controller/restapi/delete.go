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

package restapi

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Delete the API. Observe has just read it and found that it is held.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.RestApi) (managed.ExternalDelete, error) {
	f := e.found
	if f == nil || f.got == nil || f.verdict.action != manage {
		return managed.ExternalDelete{}, errors.New("cannot delete an API that is not known to be held")
	}
	// The gateway deletes subscriptions and keys with their API without a word.
	if subs, err := e.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: f.handle}); err == nil && len(subs) > 0 {
		e.events.Event(mg, event.Warning("DeletesSubscriptions",
			fmt.Errorf("the gateway deletes %d %s, and the API's keys, together with the API", len(subs), plural(len(subs), "subscription"))))
	}
	err := e.DeleteRestAPI(ctx, f.handle)
	if gateway.IsNotFound(err) {
		return managed.ExternalDelete{}, nil
	}
	return managed.ExternalDelete{}, err
}

func plural(n int, of string) string {
	if n == 1 {
		return of
	}
	return of + "s"
}
