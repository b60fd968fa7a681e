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
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// missingAPIs are those that a gateway was asked for and did not know, so that not
// everybody who waits for one has to ask again and again.
type missingAPIs struct {
	mu sync.Mutex
	m  map[apiAt]missingAPI
}

// An apiAt is an API by the ID that is asked for, at an endpoint.
type apiAt struct{ endpoint, id string }

type missingAPI struct {
	// problem is what was said when it was asked for, nil if it is there by now.
	problem *problem
	// asked is when the gateway was asked last.
	asked time.Time
}

// miss an API that a gateway does not know. What nobody asked about for long is
// forgotten.
func (m *missingAPIs) miss(api apiAt, p *problem, now time.Time, interval time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.m, func(_ apiAt, is missingAPI) bool { return now.Sub(is.asked) > 4*interval })
	if m.m == nil {
		m.m = map[apiAt]missingAPI{}
	}
	m.m[api] = missingAPI{problem: p, asked: now}
}

// look at what was said of an API, and tell whether it is the caller's turn to ask the
// gateway whether that is still so.
func (m *missingAPIs) look(api apiAt, now time.Time, maxAge time.Duration) (p *problem, ask bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, ok := m.m[api]
	if !ok || is.problem == nil || now.Sub(is.asked) < maxAge {
		return is.problem, false
	}
	is.asked = now
	m.m[api] = is
	return is.problem, true
}

// find an API that was missed.
func (m *missingAPIs) find(api apiAt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, api)
}

// wantedAPI is the API that is asked for.
func (e *external) wantedAPI() apiAt { return apiAt{endpoint: e.at.Endpoint, id: e.wish.APIID} }

// missAPI if a gateway says that it does not know the API that is asked for.
func (e *external) missAPI(err error) {
	if gateway.IsAPIMissing(err) {
		e.missing.miss(e.wantedAPI(), problemOf(err), e.now(), e.poll)
	}
}

// missingAPI is the problem with an API that the gateway did not know, as far as
// anybody asked within the last poll: that costs one call for all who wait for it. Who
// was just edited asks again.
func (e *external) missingAPI(ctx context.Context) (*problem, error) {
	maxAge := e.poll
	if e.lookAs.Urgent {
		maxAge = 0
	}
	p, ask := e.missing.look(e.wantedAPI(), e.now(), maxAge)
	if !ask {
		return p, nil
	}
	_, err := e.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: e.wish.APIID})
	switch {
	case gateway.IsAPIMissing(err):
		return p, nil
	case err != nil:
		return nil, err
	}
	e.missing.find(e.wantedAPI())
	return nil, nil
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
