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

package connection

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Gateway is a ready client of the gateway behind a configuration, together with
// what is known about that gateway. It is shared and safe for concurrent use.
type Gateway struct {
	*gateway.Client

	ref           Ref
	version       string
	invocationURL string
	declared      Generation
	link          *link

	// What the configuration's status tells of the time before this process. That is
	// no knowledge for others: whoever may write a status could make it up.
	rememberedID string
	remembered   Generation
}

// Ref returns the configuration that leads to the gateway.
func (g *Gateway) Ref() Ref { return g.ref }

// ConfigVersion changes with the configuration's spec and with every Secret and
// ConfigMap it reads, and at no other time. It holds no secret.
func (g *Gateway) ConfigVersion() string { return g.version }

// InvocationURL returns the base URL under which APIs are called, or "".
func (g *Gateway) InvocationURL() string { return g.invocationURL }

// GatewayID returns how the gateway names itself, or "" while that is unknown. It
// is learnt from any answer about a subscription or plan.
func (g *Gateway) GatewayID() string {
	id, _ := g.link.site.known()
	return cmp.Or(id, g.rememberedID)
}

// Generation returns what the configuration declares, or else what was learnt, or
// is remembered of the same gateway.
func (g *Gateway) Generation() Generation {
	if g.declared != GenerationUnknown {
		return g.declared
	}
	id, learnt := g.link.site.known()
	if learnt == GenerationUnknown && (id == "" || id == g.rememberedID) {
		return g.remembered
	}
	return learnt
}

// Learn notes the gateway's generation for all configurations of its endpoint.
// Unknown teaches nothing.
func (g *Gateway) Learn(learnt Generation) {
	if g.link.site.learn(learnt) {
		g.link.pool.siteChanged(g.link.site)
	}
}

// LearnFromCreate learns the gateway's generation from a subscription that was
// created with an ID asked for: only an in-place gateway answers with that very
// ID and reports it as externalRefId.
func (g *Gateway) LearnFromCreate(askedID string, answer *gateway.Subscription) {
	if askedID == "" || answer == nil {
		return
	}
	if answer.ID == askedID && answer.ExternalRefID == askedID {
		g.Learn(GenerationInPlace)
		return
	}
	g.Learn(GenerationLegacy)
}

// CreateSubscription makes exactly one attempt to create a subscription, and
// learns the gateway's generation from the answer.
func (g *Gateway) CreateSubscription(ctx context.Context, s gateway.SubscriptionCreate) (*gateway.Subscription, error) {
	answer, err := g.Client.CreateSubscription(ctx, s)
	if err == nil {
		g.LearnFromCreate(s.ExternalRefID, answer)
	}
	return answer, err
}

// HeldOff returns how long no call will be made, or zero.
func (g *Gateway) HeldOff() time.Duration {
	asked, _ := g.link.site.wait()
	return max(asked, g.link.breaker.wait())
}

// link is the gate of one client: it holds calls back, and learns from those that
// are made.
type link struct {
	pool      *Pool
	ref       Ref
	site      *site
	breaker   *breaker
	health    *health
	tokens    *tokens // Nil unless credentials are OAuth2.
	transport *http.Transport
	// observed is what is read for all, nil if each reads for itself.
	observed *observed
	// worked is whether a call succeeded.
	worked atomic.Bool
}

// Enter implements gateway.Gate.
func (l *link) Enter(ctx context.Context, c gateway.Call) (func(gateway.Outcome), error) {
	if wait, why := l.site.wait(); wait > 0 {
		return nil, l.holdOff(c, wait, why)
	}
	leave, wait, why := l.breaker.enter()
	if leave == nil {
		return nil, l.holdOff(c, wait, why)
	}
	written := l.observed.writing(c)
	began, answered := l.pool.o.Now(), waiting(ctx)
	return func(o gateway.Outcome) {
		answered()
		l.pool.o.Called(c, o.Err, l.pool.o.Now().Sub(began))
		written()
		e := gateway.AsError(o.Err)
		v, why := judge(e)
		leave(v, why)
		l.learn(c, o, e)
	}, nil
}

func (l *link) holdOff(c gateway.Call, wait time.Duration, why string) error {
	err := &gateway.Error{Reason: gateway.ReasonHeldOff, Message: why, RetryAfter: wait}
	l.pool.o.Called(c, err, 0)
	return err
}

// judge says what the outcome of a call says about the gateway's life. Any answer
// at all, of a proxy too, is worth the next call.
func judge(e *gateway.Error) (verdict, string) {
	switch {
	case e == nil || e.HTTPStatus != 0:
		return alive, ""
	case e.Reason != gateway.ReasonUnanswered || errors.Is(e, context.Canceled):
		// Without credentials there was no call.
		return noVerdict, ""
	case !e.Sent:
		return unreachable, e.Message
	default:
		return unanswered, e.Message
	}
}

func (l *link) learn(c gateway.Call, o gateway.Outcome, e *gateway.Error) {
	if e != nil {
		if e.RetryAfter > 0 && e.HTTPStatus != 0 {
			l.site.leaveAlone(e.RetryAfter, e.HTTPStatus)
		}
		if e.HTTPStatus == http.StatusUnauthorized && l.tokens != nil {
			l.tokens.forget()
		}
		if errors.Is(e, context.Canceled) {
			return
		}
	}
	if o.Err == nil {
		l.worked.Store(true)
	}
	if l.site.identify(o.GatewayID) {
		l.pool.siteChanged(l.site)
	}
	if l.pool.current(l) && l.health.record(c, o.Err, l.pool.o.Now()) {
		l.pool.changed(l.ref)
	}
}
