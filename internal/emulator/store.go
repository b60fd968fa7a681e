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

package emulator

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// What the database of a gateway refuses.
var (
	errNotFound   = errors.New("not found")
	errConflict   = errors.New("conflict")
	errForeignKey = errors.New("foreign key constraint failed")
)

// nameConflictError says which API holds a name already.
type nameConflictError struct{ message string }

func (e nameConflictError) Error() string { return e.message }

func (e nameConflictError) Is(target error) bool { return target == errConflict }

// tokenHash is all that is kept of a subscription token.
type tokenHash [sha256.Size]byte

func hashOf(token string) tokenHash { return sha256.Sum256([]byte(token)) }

type apiRow struct {
	seq        uint64
	uuid       string
	doc        restAPI
	name       string // display name and version with templates rendered
	version    string
	deployed   bool
	createdAt  time.Time
	updatedAt  time.Time
	deployedAt time.Time
}

func (a *apiRow) handle() string { return a.doc.Metadata.Name }

func (a *apiRow) state() string {
	if a.deployed {
		return stateDeployed
	}
	return stateUndeployed
}

func (a *apiRow) context() string {
	return strings.ReplaceAll(a.doc.Spec.Context, "$version", a.version)
}

type planRow struct {
	seq                uint64
	id                 string
	planName           string
	billingPlan        *string
	stopOnQuotaReach   bool
	throttleLimitCount *int
	throttleLimitUnit  *string
	expiryTime         *time.Time
	status             string
	createdAt          time.Time
	updatedAt          time.Time
}

type subscriptionRow struct {
	seq                   uint64
	id                    string
	externalRefID         *string
	apiUUID               string
	applicationID         *string
	planID                *string
	billingCustomerID     *string
	billingSubscriptionID *string
	status                string
	hash                  tokenHash
	createdAt             time.Time
	updatedAt             time.Time
}

// store is the database: rows, unique keys, foreign keys and cascades, and
// beside them the copy of it that the data plane works with.
type store struct {
	mu         sync.Mutex
	generation Generation
	gatewayID  string
	now        func() time.Time
	newID      func() string
	last       time.Time
	seq        uint64
	apis       map[string]*apiRow
	plans      map[string]*planRow
	subs       map[string]*subscriptionRow

	// Events carry a change to the data plane. Their key is the correlation ID
	// of the request; a second event under one key is lost.
	events    map[string]struct{}
	dropped   int
	undeliv   map[string]struct{}
	planeAPIs map[string]apiRow
	planeSubs map[string]subscriptionRow
}

func newStore(generation Generation, gatewayID string, now func() time.Time, newID func() string) *store {
	s := &store{generation: generation, gatewayID: gatewayID, now: now, newID: newID}
	s.clear()
	return s
}

// clear forgets everything.
func (s *store) clear() {
	s.apis = map[string]*apiRow{}
	s.plans = map[string]*planRow{}
	s.subs = map[string]*subscriptionRow{}
	s.events = map[string]struct{}{}
	s.undeliv = map[string]struct{}{}
	s.planeAPIs = map[string]apiRow{}
	s.planeSubs = map[string]subscriptionRow{}
}

// stamp returns the time of a change. It never returns a time twice.
func (s *store) stamp() time.Time {
	t := s.now()
	if !t.After(s.last) {
		t = s.last.Add(time.Microsecond)
	}
	s.last = t
	return t
}

func (s *store) next() uint64 {
	s.seq++
	return s.seq
}

// publish tells the data plane of changes to the rows with the given IDs.
// Lost changes are made good by the next event that arrives.
func (s *store) publish(correlationID string, ids ...string) {
	for _, id := range ids {
		s.undeliv[id] = struct{}{}
	}
	if correlationID != "" {
		if _, used := s.events[correlationID]; used {
			s.dropped++
			return
		}
		s.events[correlationID] = struct{}{}
	}
	for id := range s.undeliv {
		delete(s.planeAPIs, id)
		delete(s.planeSubs, id)
		if a, ok := s.apis[id]; ok {
			s.planeAPIs[id] = *a
		}
		if sub, ok := s.subs[id]; ok {
			s.planeSubs[id] = *sub
		}
	}
	clear(s.undeliv)
}

func (s *store) apiByHandle(handle string) *apiRow {
	for _, a := range s.apis {
		if a.handle() == handle {
			return a
		}
	}
	return nil
}

// resolveAPI finds an API by its internal ID or, failing that, by its handle.
func (s *store) resolveAPI(id string) *apiRow {
	if a, ok := s.apis[id]; ok {
		return a
	}
	return s.apiByHandle(id)
}

// checkAPI reports a clash of names with another API. Display name and version
// are looked at before the handle, as gateways do.
func (s *store) checkAPI(row *apiRow) error {
	for _, a := range s.apis {
		if a.uuid != row.uuid && a.name == row.name && a.version == row.version {
			return nameConflictError{"conflict: configuration with name '" + row.name +
				"' and version '" + row.version + "' already exists"}
		}
	}
	if a := s.apiByHandle(row.handle()); a != nil && a.uuid != row.uuid {
		return nameConflictError{"conflict: configuration with handle '" + row.handle() + "' already exists"}
	}
	return nil
}

func (s *store) deleteAPI(a *apiRow, correlationID string) {
	ids := []string{a.uuid}
	for _, sub := range s.subs {
		if sub.apiUUID == a.uuid {
			ids = append(ids, sub.id)
			delete(s.subs, sub.id)
		}
	}
	delete(s.apis, a.uuid)
	s.publish(correlationID, ids...)
}

// checkPlanName reports whether another plan has the name.
func (s *store) checkPlanName(id, name string) error {
	for _, p := range s.plans {
		if p.id != id && p.planName == name {
			return errConflict
		}
	}
	return nil
}

func (s *store) deletePlan(id, correlationID string) error {
	if _, ok := s.plans[id]; !ok {
		return errNotFound
	}
	for _, sub := range s.subs {
		if sub.planID != nil && *sub.planID == id {
			return errForeignKey
		}
	}
	delete(s.plans, id)
	s.publish(correlationID, id)
	return nil
}

// checkSubscription reports a violation of the constraints on subscriptions:
// the ID, the token per API, and the foreign key to the plan.
func (s *store) checkSubscription(row *subscriptionRow, insert bool) error {
	if insert {
		if _, taken := s.subs[row.id]; taken {
			return errConflict
		}
	}
	for _, sub := range s.subs {
		if sub.id != row.id && sub.apiUUID == row.apiUUID && sub.hash == row.hash {
			return errConflict
		}
	}
	if row.planID != nil {
		if _, ok := s.plans[*row.planID]; !ok {
			return errForeignKey
		}
	}
	return nil
}

// newest returns rows newest first.
func newest[R any](rows map[string]*R, seq func(*R) uint64) []*R {
	out := slices.Collect(maps.Values(rows))
	slices.SortFunc(out, func(a, b *R) int {
		switch {
		case seq(a) > seq(b):
			return -1
		case seq(a) < seq(b):
			return 1
		default:
			return 0
		}
	})
	return out
}
