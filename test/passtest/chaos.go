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

package passtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// Namespaces of those who declare managed resources, and of those who rob them.
const (
	team    = "team-a"
	robbers = "team-b"
)

// A Chaos is a bench in which anything happens to managed resources of one kind,
// and what a test needs to know of that kind.
type Chaos[T resource.ModernManaged] struct {
	*Bench

	T *rapid.T
	// Names of the managed resources that users declare, and of those that rob them.
	Names, Thieves []string
	// Blank returns an empty managed resource.
	Blank func() T
	// Pass runs one pass.
	Pass func(T) error
	// Restart the provider, which remembers what is stored and nothing else.
	Restart func()
	// Forget one that is gone.
	Forget func(types.UID)
	// Reported is the ID that the status of one tells.
	Reported func(T) string
	// Lose the status of one.
	Lose func(T)
	// Disguise a thief's spec, which is its victim's.
	Disguise func(*rapid.T, T)
	// May tells what is wrong with a write that one is about to make, if anything.
	May func(T, emulator.Request) string
	// Did notes the writes of one that took effect.
	Did func(T, []emulator.Record)

	// uids that were given out, so that each object has one of its own.
	uids int
	// running is whose pass is under way, and wrong what was wrong with its writes.
	running T
	wrong   []string
	// changed is whether the last pass changed anything at the gateway.
	changed bool
}

// A Clock of a gateway, on which no two moments are the same. It may be read while a
// request is answered whose client is gone.
type Clock struct {
	bench   atomic.Pointer[Bench]
	moments atomic.Int64
}

// Follow the clock of a bench, instead of real time.
func (c *Clock) Follow(b *Bench) { c.bench.Store(b) }

// Now is another moment each time.
func (c *Clock) Now() time.Time {
	moment := time.Duration(c.moments.Add(1)) * time.Millisecond
	if b := c.bench.Load(); b != nil {
		return b.Now().Add(moment)
	}
	return time.Now()
}

// Actions are what can happen to every kind.
func (c *Chaos[T]) Actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"delete":      func(t *rapid.T) { c.remove(c.Someone(t).GetName()) },
		"reconcile":   func(t *rapid.T) { _ = c.Run(c.anybody(t)) },
		"round":       func(*rapid.T) { c.round() },
		"wait":        c.wait,
		"restart":     func(*rapid.T) { c.Restart() },
		"fault":       c.fault,
		"unwritable":  c.unwritable,
		"lose status": c.loseStatus,
		"strip":       c.strip,
		"forge":       c.forge,
	}
}

// Get a managed resource, if it is there.
func (c *Chaos[T]) Get(name string) (T, bool) {
	c.T.Helper()
	mg, ns := c.Blank(), team
	if slices.Contains(c.Thieves, name) {
		ns = robbers
	}
	err := c.Kube.Get(c.T.Context(), types.NamespacedName{Namespace: ns, Name: name}, mg)
	if err != nil && !kerrors.IsNotFound(err) {
		c.T.Fatal(err)
	}
	return mg, err == nil
}

// Wanted are the managed resources that their users want to be there.
func (c *Chaos[T]) Wanted() []T {
	return slices.DeleteFunc(c.there(c.Names), func(mg T) bool { return meta.WasDeleted(mg) })
}

// All managed resources.
func (c *Chaos[T]) All() []T { return c.there(append(slices.Clone(c.Names), c.Thieves...)) }

func (c *Chaos[T]) there(names []string) []T {
	var out []T
	for _, name := range names {
		if mg, ok := c.Get(name); ok {
			out = append(out, mg)
		}
	}
	return out
}

// Someone is one of those that are wanted.
func (c *Chaos[T]) Someone(t *rapid.T) T { return one(t, c.Wanted()) }

func (c *Chaos[T]) anybody(t *rapid.T) T { return one(t, c.All()) }

func one[E any](t *rapid.T, of []E) E {
	if len(of) == 0 {
		t.Skip("nobody is there")
	}
	return of[rapid.IntRange(0, len(of)-1).Draw(t, "which")]
}

// Named draws the name of a managed resource that is not there.
func (c *Chaos[T]) Named(t *rapid.T) string {
	name := rapid.SampledFrom(c.Names).Draw(t, "name")
	if _, ok := c.Get(name); ok {
		t.Skip("it is there")
	}
	return name
}

// Add a managed resource, younger than all that are there.
func (c *Chaos[T]) Add(mg T) {
	c.identify(mg)
	c.create(mg)
}

func (c *Chaos[T]) identify(mg T) {
	c.uids++
	c.Advance(time.Second)
	mg.SetUID(types.UID(fmt.Sprintf("uid-%s-%d", mg.GetName(), c.uids)))
	mg.SetCreationTimestamp(metav1.NewTime(c.Now()))
	mg.SetGeneration(1)
}

func (c *Chaos[T]) create(mg T) {
	c.T.Helper()
	if err := c.Kube.Create(c.T.Context(), mg); err != nil {
		c.T.Fatal(err)
	}
}

// Edit a managed resource.
func (c *Chaos[T]) Edit(mg T, change func(T)) {
	c.T.Helper()
	change(mg)
	mg.SetGeneration(mg.GetGeneration() + 1)
	if err := c.Kube.Update(c.T.Context(), mg); err != nil {
		c.T.Fatal(err)
	}
}

func (c *Chaos[T]) remove(name string) {
	c.T.Helper()
	if mg, ok := c.Get(name); ok {
		if err := c.Kube.Delete(c.T.Context(), mg); err != nil {
			c.T.Fatal(err)
		}
		c.forgetGone(mg)
	}
}

func (c *Chaos[T]) forgetGone(mg T) {
	if now, ok := c.Get(mg.GetName()); !ok || now.GetUID() != mg.GetUID() {
		c.Forget(mg.GetUID())
	}
}

// Watch the gateway, so that each write is judged at the moment it is made. It comes
// before all faults.
func (c *Chaos[T]) Watch() {
	c.Gateway.ClearFaults()
	c.Gateway.Inject(emulator.FaultFunc(func(r emulator.Request) *emulator.Fault {
		if r.IsWrite() {
			if wrong := c.May(c.running, r); wrong != "" {
				c.wrong = append(c.wrong, fmt.Sprintf("%s %s by %s: %s", r.Method, r.ID, c.running.GetUID(), wrong))
			}
		}
		return nil
	}))
}

// Run a pass.
func (c *Chaos[T]) Run(mg T) error {
	c.T.Helper()
	c.running = mg
	c.Gateway.ResetJournal()
	// No two passes are at one moment.
	c.Advance(time.Millisecond)
	err := c.Pass(mg)
	if len(c.wrong) > 0 {
		c.T.Fatal(strings.Join(c.wrong, "\n"))
	}
	done := slices.DeleteFunc(c.Gateway.Requests(emulator.Match{Writes: true}), func(r emulator.Record) bool { return !r.Committed })
	c.changed = len(done) > 0
	c.T.Logf("pass over %s: %v", mg.GetUID(), err)
	for _, r := range done {
		c.T.Logf("wrote %s %s, answered %s", r.Method, r.ID, r.Outcome)
	}
	c.Did(mg, done)
	c.forgetGone(mg)
	return err
}

func (c *Chaos[T]) wait(t *rapid.T) {
	c.Advance(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 2 * time.Minute, 20 * time.Minute}).Draw(t, "for"))
}

func (c *Chaos[T]) fault(t *rapid.T) {
	f := rapid.SampledFrom([]emulator.Fault{
		emulator.Cut(), emulator.Status(http.StatusInternalServerError, "oops"), emulator.Status(http.StatusServiceUnavailable, "busy"),
		emulator.EmptyBody(), emulator.HTML(http.StatusOK), emulator.Denied(http.StatusUnauthorized), emulator.EchoRequest(http.StatusBadGateway),
	}).Draw(t, "fault")
	// A gateway that denies what it did is not believed in.
	if f.Status != http.StatusUnauthorized && rapid.Bool().Draw(t, "after") {
		f = f.After()
	}
	method := rapid.SampledFrom([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}).Draw(t, "method")
	c.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: method}, f))
}

// unwritable has the API server refuse some of the next writes.
func (c *Chaos[T]) unwritable(t *rapid.T) {
	skip, n := rapid.IntRange(0, 3).Draw(t, "after writes"), rapid.IntRange(1, 3).Draw(t, "writes")
	c.RefuseWrites(func() bool {
		if skip > 0 {
			skip--
			return false
		}
		n--
		return n >= 0
	})
}

// loseStatus of a managed resource that has a record, as a restore does.
func (c *Chaos[T]) loseStatus(t *rapid.T) {
	mg := c.Someone(t)
	if Recorded(mg) == "" {
		t.Skip("it would lose all")
	}
	c.Lose(mg)
	if err := c.Kube.Status().Update(c.T.Context(), mg); err != nil {
		c.T.Fatal(err)
	}
}

// strip a managed resource, whose status says as much, of its annotations, as some
// tools do.
func (c *Chaos[T]) strip(t *rapid.T) {
	mg := c.Someone(t)
	if id := Recorded(mg); id == "" || id != c.Reported(mg) || Asked(mg) != "" {
		t.Skip("it would lose all")
	}
	c.Edit(mg, func(mg T) { mg.SetAnnotations(nil) })
}

// forge an object that says of itself all that another says, or delete one.
func (c *Chaos[T]) forge(t *rapid.T) {
	name := rapid.SampledFrom(c.Thieves).Draw(t, "thief")
	if _, ok := c.Get(name); ok {
		c.remove(name)
		return
	}
	mg := c.Someone(t)
	mg.SetNamespace(robbers)
	mg.SetName(name)
	mg.SetResourceVersion("")
	mg.SetFinalizers(nil)
	c.Lose(mg)
	c.identify(mg)
	c.Disguise(t, mg)
	c.create(mg)
}

// Calm lets nothing more happen, has the thieves deleted, and the provider do its
// work.
func (c *Chaos[T]) Calm() {
	c.T.Helper()
	c.Watch()
	c.RefuseWrites(nil)
	c.settle()
	for _, name := range c.Thieves {
		c.remove(name)
	}
	c.settle()
}

// round runs a few passes over all, and tells how they end and whether anything
// changed at the gateway.
func (c *Chaos[T]) round() (end string, changed bool) {
	c.T.Helper()
	for _, mg := range c.All() {
		for range 2 {
			end += fmt.Sprintf("%s %v\n", mg.GetName(), c.Run(mg))
			changed = changed || c.changed
		}
	}
	return end, changed
}

// settle runs passes until two rounds of them change nothing and end alike.
func (c *Chaos[T]) settle() {
	c.T.Helper()
	last := ""
	for range 12 {
		// Longer than anything is waited for, and looked at in the meantime.
		c.Advance(11 * time.Minute)
		end, changed := c.round()
		if !changed && end == last {
			return
		}
		last = end
	}
}

// CheckCalm checks that what is deleted is gone, and that nothing is written any
// more for what is in force, be it at the gateway or at the API server.
func (c *Chaos[T]) CheckCalm() {
	c.T.Helper()
	for _, mg := range c.All() {
		if meta.WasDeleted(mg) {
			c.T.Errorf("%s is deleted and still there: %+v", mg.GetName(), mg)
		}
	}
	for _, mg := range c.Wanted() {
		if mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
			continue
		}
		before := c.shape(mg)
		_ = c.Run(mg)
		if n := c.Gateway.Writes(); n > 0 {
			c.T.Errorf("%d writes for %s although nothing happens", n, mg.GetName())
		}
		if now, _ := c.Get(mg.GetName()); c.shape(now) != before {
			c.T.Errorf("an idle object changes from\n%s\nto\n%s", before, c.shape(now))
		}
	}
}

// shape is all of a managed resource but its version.
func (c *Chaos[T]) shape(mg T) string {
	mg.SetResourceVersion("")
	raw, err := json.Marshal(mg)
	if err != nil {
		c.T.Fatal(err)
	}
	return string(raw)
}

// Recorded is the ID that a managed resource records to hold, if any.
func Recorded(mg resource.Object) string {
	if b, err := record.ReadBaseline(mg); err == nil && b != nil {
		return b.ID
	}
	return ""
}

// Asked is what a managed resource asked for without an answer yet, if anything.
func Asked(mg resource.Object) string {
	if a, err := record.ReadAttempt(mg); err == nil && a != nil && a.Outcome == record.Open {
		return a.AskedID
	}
	return ""
}
