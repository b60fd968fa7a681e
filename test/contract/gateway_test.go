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

package contract

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// elsewhere is a Subscription on another gateway, whose polls tell the time.
func (w *world) elsewhere() (*emulator.Server, *gatewayv1alpha1.Subscription) {
	w.t.Helper()
	gw := w.gateway(emulator.Options{Generation: emulator.InPlace}, emulator.Listen{})
	gw.AddAPI("api")
	w.create(w.config("elsewhere", gw.URL()))
	s := w.asked("elsewhere", through("elsewhere"))
	w.ready(s)
	return gw, s
}

// poked asks for a reconcile of managed resources now.
func (w *world) poked(objects ...resource.Managed) {
	w.t.Helper()
	for _, o := range objects {
		edit(w, o, func(o resource.Managed) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyReconcileRequestedAt: time.Now().Format(time.RFC3339Nano)})
		})
	}
}

// holds waits until an object has an external-name.
func (w *world) holds(o client.Object, id string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%T %s holds %q", o, o.GetName(), id), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		if got := externalName(o); got != id {
			return fmt.Errorf("it holds %q", got)
		}
		return nil
	})
}

// A gateway that asks to be left alone is left alone by everything, for as long as
// it asked, but not for ever; and nothing else is.
//
// contract: A4
// case: F5
func TestRetryAfter(t *testing.T) {
	cases := map[string]struct {
		status int
		value  func(now time.Time) string
		// held is how long nothing is asked, zero if it goes on at once.
		held time.Duration
	}{
		"Seconds":     {429, func(time.Time) string { return "30" }, 30 * time.Second},
		"Date":        {429, func(now time.Time) string { return now.Add(31 * time.Second).UTC().Format(http.TimeFormat) }, 30 * time.Second},
		"Zero":        {429, func(time.Time) string { return "0" }, 0},
		"Negative":    {429, func(time.Time) string { return "-5" }, 0},
		"Absurd":      {429, func(time.Time) string { return "1e9" }, 10 * time.Minute},
		"Unavailable": {503, func(time.Time) string { return "30" }, 30 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, emulator.InPlace, func(t *testing.T, w *world) {
				clock := &steppedClock{}
				w.reconfigure(func(o *controller.Options) { o.Clock = clock })
				other, elsewhere := w.elsewhere()
				p := w.plan("gold", "Gold")
				w.create(p, w.config("same", w.gw.URL()+"//"))
				all := []resource.Managed{w.subscribed("one"), w.subscribed("two", through("same")), p}
				w.ready(all...)
				writes := w.writes()

				id := externalName(all[0])
				asked := clock.Now()
				w.gw.Inject(emulator.FailOnce(looks(w.gw, id), emulator.RetryAfter(tc.status, tc.value(asked))))
				w.eventually("the gateway has asked to be left alone", func() error {
					for _, r := range w.gw.Requests(looks(w.gw, id)) {
						if r.Status == tc.status {
							return nil
						}
					}
					return fmt.Errorf("not yet")
				})
				if tc.held > 0 {
					w.eventually("nothing is asked any more", func() error {
						before := w.gw.Count(emulator.Match{})
						w.polledAt(other, externalName(elsewhere), 5)
						if n := w.gw.Count(emulator.Match{}) - before; n != 0 {
							return fmt.Errorf("%d requests", n)
						}
						return nil
					})
					w.says(all[0], xpv2.TypeSynced, corev1.ConditionFalse)
					before := w.gw.Count(emulator.Match{})
					clock.step(tc.held/2 - clock.Since(asked))
					w.poked(all...)
					w.polledAt(other, externalName(elsewhere), 5)
					if n := w.gw.Count(emulator.Match{}) - before; n != 0 && clock.Since(asked) < tc.held {
						t.Errorf("%d requests after %s", n, clock.Since(asked))
					}
					clock.step(tc.held + 2*time.Second - clock.Since(asked))
					w.poked(all...)
				}
				w.ready(all...)
				w.polled(id, 3)
				w.usable(w.itsConfig())
				if n := w.writes(); n != writes {
					t.Errorf("want no write at the gateway, got %d", n-writes)
				}
			})
		})
	}
}

// A dead gateway costs one try per back-off, however many managed resources are
// there, and nothing is lost by it.
//
// contract: A3, A4
func TestDeadGateway(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		clock := &steppedClock{}
		w.reconfigure(func(o *controller.Options) { o.Clock = clock })
		other, elsewhere := w.elsewhere()
		var all []resource.Managed
		for i := range 20 {
			all = append(all, w.subscribed(fmt.Sprintf("s%d", i)))
		}
		// There are lists of three kinds.
		p, a := w.plan("gold", "Gold"), w.api("books")
		w.create(p, a)
		all = append(all, p, a)
		w.ready(p, a)
		c, writes := w.itsConfig(), w.writes()
		w.usable(c)

		var dead atomic.Bool
		dead.Store(true)
		w.gw.Inject(emulator.While(dead.Load, emulator.Match{}, emulator.Cut().Before()))
		w.says(c, v1alpha1.TypeReachable, corev1.ConditionFalse, "connection closed before an answer")
		tried := func() int {
			t.Helper()
			before := w.gw.Count(emulator.Match{})
			clock.step(61 * time.Second)
			w.eventually("it is tried again", func() error {
				if n := w.gw.Count(emulator.Match{}) - before; n == 0 {
					return fmt.Errorf("it is not")
				}
				return nil
			})
			w.poked(all[0], all[1], p, a)
			w.polledAt(other, externalName(elsewhere), 5)
			return w.gw.Count(emulator.Match{}) - before
		}
		// Until the back-off is as long as it gets.
		for range 7 {
			tried()
		}
		for range 3 {
			if n := tried(); n != 1 {
				t.Errorf("want one try per back-off, got %d", n)
			}
		}
		// Whether it is the one that made the last try or not.
		w.says(all[0], xpv2.TypeSynced, corev1.ConditionFalse, "connection closed before an answer")
		w.says(all[0], gatewayv1alpha1.TypeApplied, corev1.ConditionUnknown)
		w.ready(elsewhere)

		dead.Store(false)
		clock.step(61 * time.Second)
		w.usable(c)
		w.poked(all...)
		w.ready(all...)
		if n := w.writes(); n != writes {
			t.Errorf("want no write at the gateway, got %d", n-writes)
		}
	})
}

// What a gateway that hangs keeps waiting is its own managed resources, not those
// of another.
//
// contract: A4, A5
func TestHangingGateway(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		other, _ := w.elsewhere()
		var all []resource.Managed
		for i := range 30 {
			all = append(all, w.subscribed(fmt.Sprintf("s%d", i)))
		}
		held := make(chan struct{})
		stop := w.gw.Inject(emulator.Always(emulator.Match{}, emulator.Delay(held).Before()))
		w.says(w.itsConfig(), v1alpha1.TypeReachable, corev1.ConditionFalse, "no answer within 2s")
		before, from := w.gw.Count(emulator.Match{}), time.Now()
		s := w.asked("new", through("elsewhere"))
		w.ready(s)
		if d := time.Since(from); d > 10*time.Second {
			t.Errorf("another gateway's subscription had to wait %s", d)
		}
		w.polledAt(other, externalName(s), 10)
		// A back-off begins with a second, so that there is at most one try a second,
		// and those that were under way when the gateway died.
		if n, most := w.gw.Count(emulator.Match{})-before, 20+int(time.Since(from).Seconds()); n > most {
			t.Errorf("%d requests to a gateway that hangs, want at most %d", n, most)
		}
		stop()
		close(held)
		w.ready(all...)
	})
}

// A gateway that fails for a while is asked less and less, and everything is as
// it was as soon as it answers.
//
// contract: A3
// case: W4
func TestOutage(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		var all []resource.Managed
		for i := range 10 {
			all = append(all, w.subscribed(fmt.Sprintf("s%d", i)))
		}
		// One more asks for what the gateway cannot create meanwhile.
		var down atomic.Bool
		down.Store(true)
		lists := emulator.Match{Kind: emulator.Subscriptions, Lists: true, Where: func(r emulator.Request) bool { return len(r.Query) == 0 }}
		writes, before, from, listed := w.writes(), map[string]int{}, time.Now(), w.gw.Count(lists)
		for _, s := range all {
			before[externalName(s)] = w.gw.Count(emulator.Match{ID: externalName(s)})
		}
		w.gw.Inject(emulator.While(down.Load, emulator.Match{}, emulator.Status(503, "maintenance").Before()))
		late := w.asked("late")
		for _, s := range all {
			w.says(s, xpv2.TypeSynced, corev1.ConditionFalse, "503", "maintenance")
		}
		w.says(late, xpv2.TypeSynced, corev1.ConditionFalse, "503", "maintenance")
		w.polled(externalName(all[0]), 4)
		for _, s := range all {
			// One that looks for itself may have been about to when the outage began.
			if n := w.gw.Count(emulator.Match{ID: externalName(s)}) - before[externalName(s)]; n > 2 {
				t.Errorf("%s was asked for %d times", s.GetName(), n)
			}
			if s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				t.Errorf("Ready should keep its last value: %s", conditionsOf(s))
			}
		}
		// A second apart, for all of them.
		if n, most := w.gw.Count(lists)-listed, int(time.Since(from).Seconds())+3; n > most {
			t.Errorf("subscriptions were listed %d times, want %d at most", n, most)
		}
		down.Store(false)
		w.ready(append(all, late)...)
		w.usable(w.itsConfig())
		if n := w.writes(); n != writes+1 {
			t.Errorf("want the create and no other write at the gateway, got %d", n-writes)
		}
	})
}

// A configuration that is pointed at another gateway does not fill that one before
// somebody said that this is meant.
//
// contract: S36, A11
func TestGatewayChanged(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		p, a := w.plan("gold", "Gold"), w.api("books")
		w.create(p, a)
		s := w.subscribed("one")
		all := []resource.Managed{s, p, a}
		w.ready(all...)
		id, planID, before, writes := externalName(s), externalName(p), w.only(), w.writes()

		// Gateways that nobody gave an ID of their own all have the same.
		generation := emulator.Legacy
		if w.inPlace {
			generation = emulator.InPlace
		}
		other := w.gateway(emulator.Options{Generation: generation, GatewayID: w.gw.GatewayID()}, emulator.Listen{})
		other.AddAPI("api")
		c := w.itsConfig()
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = other.URL() })
		for _, o := range all {
			message := w.refused(o, gatewayv1alpha1.ReasonGatewayChanged)
			if !strings.Contains(message, "apiplatform.crossplane.io/accept-gateway") {
				t.Errorf("want to be told how to confirm it, got: %s", message)
			}
		}
		w.polledAt(other, id, 3)
		if n := other.Count(emulator.Match{Writes: true}); n != 0 {
			t.Errorf("%d writes at a gateway that nobody confirmed", n)
		}

		// Another endpoint is not this one.
		edit(w, c, func(c *v1alpha1.ProviderConfig) {
			meta.AddAnnotations(c, map[string]string{v1alpha1.AnnotationAcceptGateway: w.gw.URL()})
		})
		w.polledAt(other, id, 2)
		for _, o := range all {
			w.refused(o, gatewayv1alpha1.ReasonGatewayChanged)
		}
		if n := other.Count(emulator.Match{Writes: true}); n != 0 {
			t.Errorf("%d writes at a gateway that nobody confirmed", n)
		}

		// Pointed back, everything is as it was.
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = w.gw.URL() })
		w.ready(all...)
		if at := w.only(); at != before || w.writes() != writes || externalName(p) != planID {
			t.Errorf("it was %+v and is %+v, after %d writes", before, at, w.writes()-writes)
		}

		// Confirmed, in the words of the spec, everything is created there.
		edit(w, c, func(c *v1alpha1.ProviderConfig) {
			c.Spec.Endpoint = other.URL()
			meta.AddAnnotations(c, map[string]string{v1alpha1.AnnotationAcceptGateway: other.URL()})
		})
		w.eventually("everything is at the other gateway", func() error {
			if s, p, a := len(other.Subscriptions()), len(other.Plans()), len(other.APIs()); s != 1 || p != 1 || a != 2 {
				return fmt.Errorf("%d subscriptions, %d plans, %d APIs", s, p, a)
			}
			return nil
		})
		w.holds(s, other.Subscriptions()[0].ID)
		w.ready(all...)
		if !other.LetThrough("api", "token-of-one") {
			t.Error("the token is not let through")
		}
		if w.inPlace && externalName(s) != id {
			t.Errorf("it was %q and is %q", id, externalName(s))
		}
		if at := w.only(); at != before || w.writes() != writes {
			t.Errorf("what the old gateway has was changed: %+v", at)
		}
		w.delete(s, p, a)
		w.gone(s, p, a)
		if n := len(other.Subscriptions()) + len(other.Plans()); n != 0 || len(other.APIs()) != 1 {
			t.Errorf("%d left behind, %+v", n, other.APIs())
		}
	})
}

// A gateway that never held it cannot prove that something is gone: what is deleted
// under a configuration that leads elsewhere waits for a decision, and is not left
// behind in silence.
//
// contract: S31, S32, S36
func TestDeleteWhileGatewayChanged(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		p, a := w.plan("gold", "Gold"), w.api("books")
		w.create(p, a)
		s, given := w.subscribed("one"), w.subscribed("given")
		all := []resource.Managed{s, p, a, given}
		w.ready(all...)
		other := w.gateway(emulator.Options{Generation: emulator.InPlace}, emulator.Listen{})
		other.AddAPI("api")
		// Strangers that have the same names there.
		shared, sharedAPI := w.subscribed("shared"), w.api("shared")
		w.create(sharedAPI)
		w.ready(sharedAPI)
		other.AddAPI("shared")
		stranger, _ := other.AddSubscription(emulator.Subscription{ID: externalName(shared), APIHandle: "api", ApplicationID: "somebody"}, "secret")
		c := w.itsConfig()
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = other.URL() })
		for _, o := range all {
			w.refused(o, gatewayv1alpha1.ReasonGatewayChanged)
			w.delete(o)
		}
		w.kept(shared)
		w.kept(sharedAPI)
		w.delete(shared, sharedAPI)
		all = append(all, shared, sharedAPI)
		for _, o := range all {
			w.says(o, xpv2.TypeSynced, corev1.ConditionFalse, "apiplatform.crossplane.io/accept-gateway")
		}
		edit(w, given, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize}
		})
		w.gone(given)
		edit(w, c, func(c *v1alpha1.ProviderConfig) { c.Spec.Endpoint = w.gw.URL() })
		w.gone(s, p, a, shared, sharedAPI)
		if at := w.only(); at.ID != externalName(given) || len(w.gw.Plans()) != 0 || len(w.gw.APIs()) != 1 {
			t.Errorf("left behind: %+v, %+v, %+v", at, w.gw.Plans(), w.gw.APIs())
		}
		if is, _ := other.Subscription(stranger.ID); is != stranger || len(other.APIs()) != 2 {
			t.Errorf("a stranger's was changed: %+v", is)
		}
		if n := other.Count(emulator.Match{Writes: true}); n != 0 {
			t.Errorf("%d writes at the other gateway", n)
		}
	})
}

// However many managed resources are idle, nothing is written: neither at the gateway
// nor, of whatever kind, at the API server. What is read is one list of each kind per
// poll, also by a provider that was started anew.
//
// contract: A10, C3
// case: F12
func TestManyIdle(t *testing.T) {
	in(t, emulator.InPlace, func(t *testing.T, w *world) {
		const poll = time.Second
		w.reconfigure(func(o *controller.Options) { o.Poll = poll })
		p, a := w.plan("gold", "Gold"), w.api("books", "Gold")
		w.create(p, a)
		w.ready(p, a)
		var all []resource.Managed
		for i := range 100 {
			name := fmt.Sprintf("s%d", i)
			s := w.subscription(name, "books", func(s *gatewayv1alpha1.Subscription) {
				s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
				s.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection-" + name}
			})
			w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
			all = append(all, s)
		}
		w.ready(all...)
		ids := []string{externalName(all[0]), externalName(p), externalName(a)}
		writes := w.writes()
		idle := func() error {
			versions, before, since := w.versions(), len(w.gw.Requests(emulator.Match{})), time.Now()
			for _, id := range ids {
				w.polled(id, 5)
			}
			// Lists are three quarters of a poll apart at least, and one was under way.
			most := int(time.Since(since)/(poll*3/4)) + 2
			lists := map[emulator.Kind]int{}
			for _, r := range w.gw.Requests(emulator.Match{})[before:] {
				if !r.IsList() || len(r.Query) > 0 {
					return fmt.Errorf("%s of %s %q is no list of all", r.Method, r.Kind, r.ID)
				}
				if lists[r.Kind]++; lists[r.Kind] > most {
					return fmt.Errorf("more than %d lists of %s", most, r.Kind)
				}
			}
			for what, version := range w.versions() {
				if was := versions[what]; was != version {
					return fmt.Errorf("%s was written: version %q, was %q", what, version, was)
				}
			}
			return nil
		}
		// On a busy machine an answer may come too late, which is told.
		w.eventually("nothing but lists is asked for, and nothing written", idle)
		alone := emulator.Match{Where: func(r emulator.Request) bool { return r.ID != "" }}
		read := w.gw.Count(alone)
		w.reconfigure(w.configure)
		w.eventually("it is so after a restart", idle)
		if n := w.gw.Count(alone) - read; n != 0 {
			t.Errorf("a restart cost %d reads of single objects", n)
		}
		if n := w.writes(); n != writes {
			t.Errorf("%d writes at the gateway", n-writes)
		}
		if n := len(w.gw.Subscriptions()); n != 100 {
			t.Errorf("%d subscriptions", n)
		}
	})
}

// versions are the resource versions of everything in the world's namespace.
func (w *world) versions() map[string]string {
	w.t.Helper()
	versions := map[string]string{}
	for _, o := range w.everything() {
		versions[o.GetKind()+" "+o.GetName()] = string(o.GetUID()) + "/" + o.GetResourceVersion()
	}
	return versions
}

// No request ever has a correlation ID: a gateway takes it for the identity of a
// change, and drops the second change under one.
//
// contract: A7
// case: F13
func TestNoCorrelationID(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		p, a := w.plan("gold", "Gold"), w.api("books", "Gold")
		w.create(p, a)
		w.ready(p, a)
		w.gw.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost, Kind: emulator.Subscriptions}, emulator.Cut().After()))
		s := w.subscription("one", "books", func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: "gold"}
		})
		w.create(w.secret("one", map[string]string{"token": "token-of-one"}), s)
		w.ready(s)
		edit(w, p, func(p *gatewayv1alpha1.SubscriptionPlan) { p.Spec.ForProvider.StopOnQuotaReach = ptr(true) })
		edit(w, a, func(a *gatewayv1alpha1.RestApi) { a.Spec.ForProvider.DisplayName = "Books" })
		edit(w, s, func(s *gatewayv1alpha1.Subscription) {
			s.Spec.ForProvider.Status = ptr(gatewayv1alpha1.SubscriptionRevoked)
		})
		w.ready(s, p, a)
		w.delete(s, a, p)
		w.gone(s, a, p)
		given := emulator.Match{Where: func(r emulator.Request) bool { return r.CorrelationIDGiven }}
		if n := w.gw.Count(given); n != 0 || w.gw.NotDeployed() != 0 {
			t.Errorf("%d requests with a correlation ID, and %d changes that were never deployed", n, w.gw.NotDeployed())
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			if w.gw.Count(emulator.Match{Method: method}) == 0 {
				t.Errorf("no %s was tried", method)
			}
		}
	})
}
