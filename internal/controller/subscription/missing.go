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

package subscription

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// missingAPIs are those that a gateway was asked for and did not know, so that not
// everybody who waits for one has to ask again and again. When it was asked last is
// remembered of each.
type missingAPIs struct {
	mu sync.Mutex
	m  map[apiAt]time.Time
}

// An apiAt is an API by the ID that is asked for, at an endpoint that a configuration leads
// to: what another one is told, be it with other credentials, is nobody's business.
type apiAt struct {
	config       connection.Ref
	endpoint, id string
}

// miss an API that a gateway does not know. What nobody asked about for long is
// forgotten.
func (m *missingAPIs) miss(api apiAt, now time.Time, interval time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.m, func(_ apiAt, asked time.Time) bool { return now.Sub(asked) > 4*interval })
	if m.m == nil {
		m.m = map[apiAt]time.Time{}
	}
	m.m[api] = now
}

// missed tells whether an API is, and whether it is the caller's turn to ask the gateway
// if that is still so.
func (m *missingAPIs) missed(api apiAt, now time.Time, maxAge time.Duration) (missed, ask bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked, ok := m.m[api]
	if !ok || now.Sub(asked) < maxAge {
		return ok, false
	}
	m.m[api] = now
	return true, true
}

// find an API that was missed.
func (m *missingAPIs) find(api apiAt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, api)
}

// wantedAPI is the API that is asked for.
func (e *external) wantedAPI() apiAt {
	return apiAt{config: e.gateway.Ref(), endpoint: e.at.Endpoint, id: e.wish.APIID}
}

func (e *external) apiMissing() *problem {
	return problemf(v1alpha1.ReasonAPIMissing, "the gateway does not know the API %q; it is asked for once per poll until it is there; if the ID is wrong, correct spec.forProvider.apiId", e.wish.APIID)
}

// missAPI notes that a gateway says that it does not know the API that is asked for, and
// says so in the same words each time. Any other error it returns.
func (e *external) missAPI(err error) error {
	if !gateway.IsAPIMissing(err) {
		return err
	}
	e.missing.miss(e.wantedAPI(), e.now(), e.poll)
	return e.apiMissing()
}

// missingAPI is the problem with an API that the gateway did not know, as far as
// anybody asked within the last poll: that costs one call for all who wait for it. Who
// was just edited asks again.
func (e *external) missingAPI(ctx context.Context) (*problem, error) {
	// Who waits looks once per poll, give or take some.
	maxAge := e.poll * 8 / 10
	if e.lookAs.Urgent {
		maxAge = 0
	}
	missed, ask := e.missing.missed(e.wantedAPI(), e.now(), maxAge)
	if !missed {
		return nil, nil
	}
	if ask {
		_, err := e.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: e.wish.APIID})
		if err == nil {
			e.missing.find(e.wantedAPI())
			return nil, nil
		}
		if !gateway.IsAPIMissing(err) {
			return nil, err
		}
	}
	return e.apiMissing(), nil
}

// waitsForAPI tells a guard whether the gateway still does not know the API that was asked
// for.
func (e *external) waitsForAPI(ctx context.Context, cr *v1alpha1.Subscription) (bool, error) {
	var err error
	if e.wish, err = e.follow(ctx, cr, e.baseline, e.attempt); err != nil {
		return false, err
	}
	if e.baseline != nil {
		e.wish = e.wish.held(e.baseline)
	}
	if e.wish.APIProblem == nil {
		p, err := e.missingAPI(ctx)
		return p != nil, err
	}
	return e.baseline == nil, nil
}
