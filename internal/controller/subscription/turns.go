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
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/ownership"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// turns let one create per API and application be under way at a time where the
// gateway may choose the ID: otherwise it could not be told whose result is whose
// if answers are lost. A turn begins when all is stored that a create needs, and lasts
// until its attempt is closed, but no longer than an unanswered create can still take
// effect.
type turns struct {
	mu sync.Mutex
	m  map[ownership.Holding]turn
}

type turn struct {
	uid types.UID
	// until is when it ends, or ended.
	until time.Time
}

// take a turn until a create that is sent now can no longer take effect, or extend the
// one that is taken. Who knows what was there at some time does not get one if somebody
// else had one since.
func (t *turns) take(uid types.UID, what ownership.Holding, known, until time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if is, ok := t.m[what]; ok && is.uid != uid && known.Before(is.until) {
		return false
	}
	if t.m == nil {
		t.m = map[ownership.Holding]turn{}
	}
	t.m[what] = turn{uid: uid, until: until}
	return true
}

// taken tells whether somebody else has a turn.
func (t *turns) taken(uid types.UID, what ownership.Holding, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, ok := t.m[what]
	return ok && is.uid != uid && now.Before(is.until)
}

// end all turns of a managed resource. They are remembered for as long as a pass may take.
func (t *turns) end(uid types.UID, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for what, is := range t.m {
		switch {
		case now.Sub(is.until) > turnMemory:
			delete(t.m, what)
		case is.uid == uid && now.Before(is.until):
			t.m[what] = turn{uid: uid, until: now}
		}
	}
}

// turn that a create waits for where the gateway may choose the ID.
func (e *external) turn() ownership.Holding {
	return turnOf(&record.Attempt{APIID: e.wish.APIID, ApplicationID: e.wish.ApplicationID, Endpoint: e.at.Endpoint})
}

// awaitTurn waits while it is somebody else's turn.
func (e *external) awaitTurn(ctx context.Context, cr *v1alpha1.Subscription) error {
	if e.gateway.Generation() == connection.GenerationInPlace {
		return nil
	}
	e.awaited = e.now()
	before, err := e.attemptsBefore(ctx, cr, e.turn())
	if err != nil {
		return err
	}
	if before || e.turns.taken(cr.GetUID(), e.turn(), e.awaited) {
		return notItsTurn()
	}
	return nil
}

// takeTurn takes the turn that was awaited.
func (e *external) takeTurn(cr *v1alpha1.Subscription) error {
	if e.gateway.Generation() == connection.GenerationInPlace || e.turns.take(cr.GetUID(), e.turn(), e.awaited, e.at.TooLateFor(e.now())) {
		return nil
	}
	return notItsTurn()
}

func notItsTurn() error {
	return kind.After(errors.New("waiting for another subscription of the same application to the same API to be created"), turnPause)
}

// attemptsBefore tells whether an earlier process left an attempt open that asks
// for the same, that has not been looked into yet, and that can still take effect.
func (e *external) attemptsBefore(ctx context.Context, cr *v1alpha1.Subscription, turn ownership.Holding) (bool, error) {
	if e.now().Sub(e.started) > turnPatience {
		return false, nil
	}
	others, err := e.others(ctx, cr, indexAttempt, turn.ID)
	return slices.ContainsFunc(others, func(o v1alpha1.Subscription) bool {
		a := vouchedAttempt(&o)
		return a != nil && a.Endpoint == turn.Endpoint && !meta.IsPaused(&o) &&
			sentAt(&o).Before(e.started.Truncate(time.Second)) && e.now().Before(e.at.TooLateFor(sentAt(&o)))
	}), err
}

// sentAt is when status says that a create was about to be sent.
func sentAt(cr *v1alpha1.Subscription) time.Time {
	if v := cr.Status.CreateAttempt; v != nil && v.Time != nil {
		return v.Time.Time
	}
	return time.Time{}
}

// turnOf is what an attempt waits for its turn for.
func turnOf(a *record.Attempt) ownership.Holding {
	return ownership.Holding{ID: "create/" + a.APIID + "/" + a.ApplicationID, Endpoint: a.Endpoint}
}

// turnPatience is how long after a start attempts of an earlier process are waited
// for: one that nobody can look into must not stop all others.
const turnPatience = 2 * time.Minute

// turnMemory is for how long it is remembered that a turn ended.
const turnMemory = 10 * time.Minute

// turnPause is how soon a create that has to wait for another one is tried again.
const turnPause = time.Second
