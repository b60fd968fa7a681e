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
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Whatever users, thieves, strangers, faults and restarts do in whatever order: in
// the end the gateway has what the specs ask for, once, and nothing of a stranger's
// was touched.
//
// contract: S11, S12, S13, S15, S17, S22, S23, S30, S31, S32, S33, A2, A5, A10, A11
// case: A6, B10, C7, C11, D1, D2, D6, E8, W3, W7, W8
func TestChaos(t *testing.T) {
	for name, g := range generations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				c := newChaos(t, g)
				t.Repeat(map[string]func(*rapid.T){
					"declare":      c.declare,
					"edit":         c.edit,
					"rotate":       c.rotate,
					"delete":       c.delete,
					"reconcile":    c.reconcile,
					"wait":         c.pause,
					"restart":      func(*rapid.T) { c.restart() },
					"fault":        c.fault,
					"unwritable":   c.unwritable,
					"write there":  c.writeThere,
					"delete there": c.deleteThere,
					"lose API":     c.loseAPI,
					"lose status":  c.loseStatusOf,
					"strip":        c.strip,
					"forge":        c.forge,
				})
				c.calm()
				c.check()
			})
		})
	}
}

// A chaos is a world in which anything happens, and what its users want of it.
type chaos struct {
	*world

	legacy bool
	// wanted are the Subscriptions that are declared.
	wanted map[string]*declared
	// strangers are subscriptions that were made by hand.
	strangers []emulator.Subscription
	// tokens that were ever given out.
	tokens []string
	// generations of objects, so that each has a UID of its own.
	uids int
}

// A declared Subscription is one whose user wants it to be there.
type declared struct {
	app, api, plan, ref string
	// status is empty if the spec does not say, which means ACTIVE.
	status v1alpha1.SubscriptionStatusValue
	token  string

	// generated is true if the provider makes the token.
	generated bool

	// late is true if API or application were edited after they had been asked for.
	late bool
}

func newChaos(t *rapid.T, g emulator.Generation) *chaos {
	c := &chaos{world: newWorld(t, g), legacy: g == emulator.Legacy, wanted: map[string]*declared{}}
	c.addAPI("films")
	for _, p := range []string{"Gold", "Silver"} {
		c.addPlan(p)
	}
	for i, api := range []string{"books", "films"} {
		c.byHand(map[string]any{"apiId": api, "subscriptionToken": fmt.Sprint("strange-token-", i), "applicationId": "stranger"})
		c.byHand(map[string]any{"apiId": api, "subscriptionToken": fmt.Sprint("nobodys-token-", i)})
	}
	c.strangers = c.Subscriptions()
	c.ResetJournal()
	return c
}

// someone is the name of a Subscription that is declared.
func (c *chaos) someone(t *rapid.T) string {
	var names []string
	for n := range c.wanted {
		names = append(names, n)
	}
	if len(names) == 0 {
		t.Skip("nobody is there")
	}
	slices.Sort(names)
	return rapid.SampledFrom(names).Draw(t, "who")
}

func (c *chaos) token(name string) string {
	token := fmt.Sprintf("t0ken-%d-of-%s", len(c.tokens), name)
	c.tokens = append(c.tokens, token)
	return token
}

// planID of a plan by its name.
func (c *chaos) planID(name string) string {
	for _, p := range c.Plans() {
		if p.PlanName == name {
			return p.ID
		}
	}
	return ""
}

func (c *chaos) spec(d *declared) change {
	return func(cr *v1alpha1.Subscription) {
		p := &cr.Spec.ForProvider
		p.APIID = &d.api
		p.ApplicationID, p.SubscriptionPlanID, p.ExternalRefID, p.Status = nil, nil, nil, nil
		if d.status != "" {
			p.Status = &d.status
		}
		if d.app != "" {
			p.ApplicationID = &d.app
		}
		if d.plan != "" {
			id := c.planID(d.plan)
			p.SubscriptionPlanID = &id
		}
		if d.ref != "" {
			p.ExternalRefID = &d.ref
		}
	}
}

var (
	// thieves are younger than whom they rob, and have no status but their own.
	thieves   = []string{"t1", "t2"}
	everybody = append([]string{"s1", "s2", "s3", "s4"}, thieves...)

	chaosPlans  = []string{"", "Gold", "Silver"}
	chaosStatus = []v1alpha1.SubscriptionStatusValue{v1alpha1.SubscriptionActive, v1alpha1.SubscriptionInactive, v1alpha1.SubscriptionRevoked}
)

func (c *chaos) declare(t *rapid.T) {
	name := rapid.SampledFrom([]string{"s1", "s2", "s3", "s4"}).Draw(t, "name")
	if c.stored(name) != nil {
		t.Skip("it is there")
	}
	d := &declared{
		app:    rapid.SampledFrom([]string{"app-a", "app-b", "app-of-" + name}).Draw(t, "application"),
		api:    rapid.SampledFrom([]string{"books", "films"}).Draw(t, "api"),
		plan:   rapid.SampledFrom(chaosPlans).Draw(t, "plan"),
		ref:    rapid.SampledFrom([]string{"", "ref-" + name, "shared"}).Draw(t, "ref"),
		status: rapid.SampledFrom(append(chaosStatus, "")).Draw(t, "status"),

		generated: rapid.IntRange(0, 3).Draw(t, "generated") == 0,
	}
	c.uids++
	source := func(cr *v1alpha1.Subscription) {
		// A Secret of its own for each object, since nothing collects garbage here.
		generated(cr)
		cr.Spec.WriteConnectionSecretToReference.Name = connectionOf(cr)
	}
	if !d.generated {
		d.token = c.token(name)
		secret := tokenSecret("token-of-"+name, d.token)
		if c.secretThere(secret.Name) {
			c.setToken(secret.Name, d.token)
		} else {
			c.add(secret)
		}
		source = tokenIn(secret.Name)
	}
	c.add(subscription(name, c.spec(d), func(cr *v1alpha1.Subscription) {
		cr.UID = types.UID(fmt.Sprintf("uid-%s-%d", name, c.uids))
		source(cr)
	}))
	c.wanted[name] = d
}

// connectionOf names the connection Secret of a Subscription.
func connectionOf(cr *v1alpha1.Subscription) string { return "connection-of-" + string(cr.GetUID()) }

// tokenOf is the token that a Subscription asks for.
func (c *chaos) tokenOf(name string, d *declared) string {
	if d.generated {
		return string(c.secret(connectionOf(c.stored(name))).Data[keyToken])
	}
	return d.token
}

func (c *chaos) secretThere(name string) bool {
	s := &corev1.Secret{}
	return c.kube.Get(c.t.Context(), clientKey(name), s) == nil
}

func (c *chaos) edit(t *rapid.T) {
	name := c.someone(t)
	d := c.wanted[name]
	d.plan = rapid.SampledFrom(chaosPlans).Draw(t, "plan")
	d.status = rapid.SampledFrom(append(chaosStatus, "")).Draw(t, "status")
	if cr := c.stored(name); !cr.Status.Deployed && baselineOf(c.t, cr) == nil {
		// Until it is deployed all may change, but what was asked for may be there.
		d.late = attemptOf(c.t, cr) != nil
		d.api = rapid.SampledFrom([]string{"books", "films"}).Draw(t, "api")
		d.app = rapid.SampledFrom([]string{"app-a", "app-b"}).Draw(t, "application")
	}
	c.world.edit(name, c.spec(d))
}

func (c *chaos) rotate(t *rapid.T) {
	name := c.someone(t)
	if c.wanted[name].generated {
		c.uids++
		c.world.edit(name, annotated(v1alpha1.AnnotationRotateToken, fmt.Sprint(c.uids)))
		return
	}
	c.wanted[name].token = c.token(name)
	c.setToken("token-of-"+name, c.wanted[name].token)
}

func (c *chaos) delete(t *rapid.T) {
	name := c.someone(t)
	c.remove(name)
	delete(c.wanted, name)
}

func (c *chaos) reconcile(t *rapid.T) {
	name := rapid.SampledFrom(everybody).Draw(t, "name")
	if c.stored(name) == nil {
		t.Skip("nobody is there")
	}
	_, _ = c.pass(name)
}

// loseStatusOf a Subscription, as a restore does.
func (c *chaos) loseStatusOf(t *rapid.T) {
	if name := c.someone(t); baselineOf(c.t, c.stored(name)) != nil {
		c.loseStatus(name)
	}
}

// strip a Subscription of its annotations, as some tools do.
func (c *chaos) strip(t *rapid.T) {
	if name := c.someone(t); c.stored(name).Status.Deployed {
		c.world.edit(name, func(cr *v1alpha1.Subscription) { cr.Annotations = nil })
	}
}

// forge an object that says of itself all that another says, or delete one.
func (c *chaos) forge(t *rapid.T) {
	name := rapid.SampledFrom(thieves).Draw(t, "thief")
	if c.stored(name) != nil {
		c.remove(name)
		return
	}
	victim := c.stored(c.someone(t))
	secret := tokenSecret("token-of-"+name, c.token(name))
	if !c.secretThere(secret.Name) {
		c.add(secret)
	} else {
		c.setToken(secret.Name, c.tokens[len(c.tokens)-1])
	}
	c.uids++
	c.add(subscription(name, tokenIn(secret.Name), func(cr *v1alpha1.Subscription) {
		cr.UID, cr.Annotations = types.UID(fmt.Sprintf("uid-%s-%d", name, c.uids)), victim.Annotations
		cr.Spec.ForProvider = victim.Spec.ForProvider
		cr.Spec.ForProvider.SubscriptionTokenSecretRef = &v1alpha1.TokenSecretReference{Name: secret.Name}
		status(rapid.SampledFrom(chaosStatus).Draw(t, "status"))(cr)
	}))
}

func (c *chaos) pause(t *rapid.T) {
	c.wait(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 2 * time.Minute, 20 * time.Minute}).Draw(t, "for"))
}

func (c *chaos) fault(t *rapid.T) {
	f := rapid.SampledFrom([]emulator.Fault{
		emulator.Cut(), emulator.Status(http.StatusInternalServerError, "oops"), emulator.Status(http.StatusServiceUnavailable, "busy"),
		emulator.EmptyBody(), emulator.HTML(http.StatusOK), emulator.Denied(http.StatusUnauthorized), emulator.EchoRequest(http.StatusBadGateway),
	}).Draw(t, "fault")
	// A gateway that denies what it did is not believed in.
	if f.Status != http.StatusUnauthorized && rapid.Bool().Draw(t, "after") {
		f = f.After()
	}
	method := rapid.SampledFrom([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}).Draw(t, "method")
	c.Inject(emulator.FailOnce(emulator.Match{Method: method}, f))
}

// unwritable has the API server refuse some of the next writes.
func (c *chaos) unwritable(t *rapid.T) {
	skip, n := rapid.IntRange(0, 3).Draw(t, "after writes"), rapid.IntRange(1, 3).Draw(t, "writes")
	c.refuseWrites(func() bool {
		switch {
		case skip > 0:
			skip--
			return false
		case n > 0:
			n--
			return true
		}
		return false
	})
}

// managed are the subscriptions at the gateway that no stranger made.
func (c *chaos) managed() []emulator.Subscription {
	return slices.DeleteFunc(c.Subscriptions(), func(s emulator.Subscription) bool {
		return slices.ContainsFunc(c.strangers, func(o emulator.Subscription) bool { return o.ID == s.ID })
	})
}

func (c *chaos) something(t *rapid.T) emulator.Subscription {
	all := c.managed()
	if len(all) == 0 {
		t.Skip("nothing is there")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
}

func (c *chaos) writeThere(t *rapid.T) {
	s := c.something(t)
	if !c.legacy && c.seen(s) && rapid.Bool().Draw(t, "token") {
		token := c.token("stranger")
		c.SetSubscriptionToken(s.ID, token)
		return
	}
	c.SetSubscriptionStatus(s.ID, string(rapid.SampledFrom(chaosStatus).Draw(t, "status")))
}

// seen tells whether a subscription was read since it was last written. What
// somebody else writes before that cannot be told from what we wrote ourselves.
func (c *chaos) seen(s emulator.Subscription) bool {
	l := &v1alpha1.SubscriptionList{}
	if err := c.kube.List(c.t.Context(), l); err != nil {
		c.t.Fatal(err)
	}
	return slices.ContainsFunc(l.Items, func(cr v1alpha1.Subscription) bool {
		return cr.Status.AtProvider.ID == s.ID && sameStamp(stampOf(&cr), s.UpdatedAt)
	})
}

func (c *chaos) deleteThere(t *rapid.T) { c.DeleteSubscription(c.something(t).ID) }

// loseAPI deletes an API at the gateway, with all that subscribes to it, and
// creates it again.
func (c *chaos) loseAPI(t *rapid.T) {
	api := rapid.SampledFrom([]string{"books", "films"}).Draw(t, "api")
	c.DeleteAPI(api)
	c.addAPI(api)
	c.strangers = slices.DeleteFunc(c.strangers, func(s emulator.Subscription) bool {
		_, there := c.Subscription(s.ID)
		return !there
	})
}

// calm lets no more happen, and the provider do its work.
func (c *chaos) calm() {
	c.ClearFaults()
	c.allowWrites()
	c.settleAll()
	for _, name := range thieves {
		if c.stored(name) != nil {
			c.remove(name)
		}
	}
	c.settleAll()
	edited := false
	for name, d := range c.wanted {
		cr := c.stored(name)
		if b := baselineOf(c.t, cr); d.late && b != nil && cr.GetCondition(v1alpha1.TypeApplied).Reason == v1alpha1.ReasonImmutableField {
			// The edit came too late; the user sets it back, as the message says.
			d.api, d.app, edited = b.Fields[fieldAPIID], b.Fields[fieldApplicationID], true
			c.world.edit(name, c.spec(d))
		}
	}
	if edited {
		c.settleAll()
	}
}

func (c *chaos) settleAll() {
	for range 12 {
		before, quiet := c.Writes(), true
		for _, name := range everybody {
			if c.stored(name) == nil {
				continue
			}
			for range 3 {
				if _, err := c.pass(name); err != nil {
					quiet = false
				}
			}
		}
		if quiet && c.Writes() == before {
			return
		}
		// Longer than anything is waited for.
		c.wait(11 * time.Minute)
	}
}

// check that all is as it should be.
func (c *chaos) check() {
	t := c.t
	var ambiguous bool
	var losers []string
	held := map[string]string{}
	for _, name := range everybody {
		cr, d := c.stored(name), c.wanted[name]
		switch {
		case d == nil && cr != nil:
			t.Errorf("%s is deleted and still there: %+v", name, cr.Status.Conditions)
			continue
		case d == nil:
			continue
		}
		applied, ready := cr.GetCondition(v1alpha1.TypeApplied), cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		switch b := baselineOf(t, cr); {
		case ready && b == nil:
			t.Errorf("%s is ready and holds nothing", name)
		case !ready && applied.Reason == v1alpha1.ReasonConflict && d.ref == "shared" && cr.Status.AtProvider.ID == "":
			// One of several who ask for it has it, and it is not this one.
			losers = append(losers, name)
		case b != nil && held[b.ID] != "":
			t.Errorf("%s and %s both hold %s", name, held[b.ID], b.ID)
		case b != nil:
			held[b.ID] = name
			c.checkHeld(name, d, b.ID, ready, applied)
		case applied.Reason == v1alpha1.ReasonAmbiguousAttempt && c.legacy:
			ambiguous = true
		default:
			t.Errorf("%s holds nothing: %s %s", name, applied.Reason, applied.Message)
		}
	}
	if len(losers) > 0 && held["shared"] == "" {
		t.Errorf("%v lost what nobody has: %v", losers, held)
	}
	for _, s := range c.managed() {
		if held[s.ID] == "" && !ambiguous && c.events.count("LeftBehind") == 0 {
			t.Errorf("nobody holds %s: %+v", s.ID, s)
		}
	}
	if c.events.count("LeftBehind") > 0 && !c.legacy {
		t.Error("something was left behind")
	}
	c.checkStrangers()
	c.checkIdle()
	c.silent(c.tokens...)
}

// checkHeld checks that a subscription is what is asked for.
func (c *chaos) checkHeld(name string, d *declared, id string, ready bool, applied xpv2.Condition) {
	s, ok := c.Subscription(id)
	if !ok {
		c.t.Errorf("%s holds %s, which is not there: %s %s", name, id, applied.Reason, applied.Message)
		return
	}
	if s.APIHandle != d.api || s.ApplicationID != d.app || s.Status != cmp.Or(string(d.status), "ACTIVE") {
		c.t.Errorf("%s wants %+v and has %+v", name, d, s)
	}
	inForce := s.SubscriptionPlanID == c.planID(d.plan) && c.HoldsToken(id, c.tokenOf(name, d))
	legacy := c.legacy && applied.Reason == v1alpha1.ReasonLegacyGateway
	switch sure := c.stored(name).GetCondition(v1alpha1.TypeTokenInForce).Status == corev1.ConditionTrue; {
	case inForce && !ready && !legacy:
		c.t.Errorf("%s is as asked for, and not ready: %s %s", name, applied.Reason, applied.Message)
	case !inForce && ready && (sure || !c.legacy || s.SubscriptionPlanID != c.planID(d.plan)):
		c.t.Errorf("%s is ready, and not as asked for: wants %+v, has %+v", name, d, s)
	case !inForce && !ready && !legacy:
		c.t.Errorf("%s wants %+v and has %+v: %s %s", name, d, s, applied.Reason, applied.Message)
	}
}

// checkStrangers checks that what strangers made is as they made it.
func (c *chaos) checkStrangers() {
	for i, was := range c.strangers {
		is, ok := c.Subscription(was.ID)
		if !ok || is != was {
			c.t.Errorf("a stranger's subscription was %+v and is %+v (%d)", was, is, i)
		}
		if n := c.Count(emulator.Match{Writes: true, ID: was.ID}); n > 0 {
			c.t.Errorf("%d writes to a stranger's subscription", n)
		}
	}
}

// checkIdle checks that nothing is written any more.
func (c *chaos) checkIdle() {
	writes := c.Writes()
	for name := range c.wanted {
		if cr := c.stored(name); cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			_, _ = c.pass(name)
		}
	}
	if n := c.Writes() - writes; n > 0 {
		c.t.Errorf("%d writes at the gateway although nothing happens", n)
	}
}
