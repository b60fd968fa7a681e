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
	"strconv"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Generation is what a gateway can do with a subscription.
type Generation string

// The generations. Unknown is proof of nothing.
const (
	GenerationUnknown Generation = ""
	// GenerationLegacy gateways pick subscription IDs themselves and change
	// nothing but the status.
	GenerationLegacy Generation = "Legacy"
	// GenerationInPlace gateways take the caller's subscription IDs and change
	// plan and token in place.
	GenerationInPlace Generation = "InPlace"
)

func generationOf(g v1alpha1.GatewayGeneration) Generation {
	switch g {
	case v1alpha1.GatewayGenerationLegacy:
		return GenerationLegacy
	case v1alpha1.GatewayGenerationInPlace:
		return GenerationInPlace
	case v1alpha1.GatewayGenerationAuto:
	}
	return GenerationUnknown
}

// site is what all configurations of one endpoint share: a wish to be left alone,
// and what was learnt about the gateway itself.
type site struct {
	now func() time.Time

	mu         sync.Mutex
	until      time.Time
	why        string
	gatewayID  string
	generation Generation
}

// wait returns how long the gateway asked to be left alone, and in what words, or
// zero.
func (s *site) wait() (time.Duration, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.until.Sub(s.now()), 0), s.why
}

// leaveAlone notes that the gateway asked to be left alone.
func (s *site) leaveAlone(d time.Duration, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.now().Add(min(d, gateway.MaxRetryAfter))
	if until.After(s.until) {
		s.until = until
		s.why = "the gateway asked to be left alone for a while (" + strconv.Itoa(status) + " with Retry-After)"
	}
}

// identify notes how the gateway names itself, and says whether that is news.
// What was learnt about another gateway is forgotten.
func (s *site) identify(id string) bool {
	if id == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gatewayID == id {
		return false
	}
	if s.gatewayID != "" {
		s.generation = GenerationUnknown
	}
	s.gatewayID = id
	return true
}

// learn notes the gateway's generation, and says whether that is news.
func (s *site) learn(g Generation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g == GenerationUnknown || s.generation == g {
		return false
	}
	s.generation = g
	return true
}

func (s *site) known() (gatewayID string, g Generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gatewayID, s.generation
}
