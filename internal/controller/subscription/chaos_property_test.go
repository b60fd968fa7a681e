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
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// Whatever the users of two tenants, thieves, strangers, faults and restarts do in
// whatever order: in the end each of two gateways has what the specs ask of it, once;
// nothing of anybody else's was touched, and no token got to where it does not belong.
//
// What the gateways have is what they would have had all been applied once and in
// peace, but for this, which is lawful:
//   - What was found again, adopted or imported keeps its ID.
//   - What was late-initialised stays in the spec.
//   - A legacy gateway changes neither plan nor token (LegacyGateway).
//   - Of several who ask for one ID, whoever came first has it (Conflict).
//   - What came of a create that a legacy gateway did not answer is named where it
//     cannot be told from others (AmbiguousAttempt, LeftBehind).
//
// contract: S11, S12, S13, S15, S17, S22, S23, S30, S31, S32, S33, S36, A2, A5, A10, A11
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
					"lead astray":  c.leadAstray,
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

	// places are the world's own gateway and another one.
	places []*place
	// astray is true while the configuration of the one leads to the other.
	astray bool
	// wanted are the Subscriptions that are declared.
	wanted map[string]*declared
	// tokens that were ever given out.
	tokens []issued
	// generations of objects, so that each has a UID of its own.
	uids int
	// writes at the gateways.
	writes int
}

// A place is a gateway, the configuration that leads there, and who made what it has.
type place struct {
	site

	config xpv2.ProviderConfigReference
	legacy bool
	// strangers are subscriptions that were made by hand.
	strangers []emulator.Subscription
	// makers of subscriptions, by ID, unless they are gone.
	makers map[string]types.UID
}

// An issued token may be in Secrets of one tenant, and at one gateway.
type issued struct {
	token, tenant string
	at            *place
}

// A declared Subscription is one whose user wants it to be there.
type declared struct {
	at                  *place
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
	c := &chaos{world: newWorld(t, g), wanted: map[string]*declared{}}
	// Most of what passes see was read for all.
	c.drift = 30 * time.Second
	c.restart()
	c.use(c.site, g, xpv2.ProviderConfigReference{Kind: configv1alpha1.ClusterProviderConfigKind, Name: "default"})

	g = draw(t, "other generation", emulator.InPlace, emulator.Legacy)
	other := newSite(t, g, draw(t, "other gateway ID", c.GatewayID(), "another-gateway"), c.clock.Now)
	for _, tenant := range tenants {
		c.add(&configv1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "other", Generation: 1},
			Spec: configv1alpha1.ProviderConfigSpec{
				ConnectionSettings: configv1alpha1.ConnectionSettings{Endpoint: other.URL()},
				Credentials:        configv1alpha1.Credentials{Source: configv1alpha1.CredentialsNone},
			},
		})
	}
	c.use(other, g, xpv2.ProviderConfigReference{Kind: configv1alpha1.ProviderConfigKind, Name: "other"})
	return c
}

// use a gateway, which strangers use as well.
func (c *chaos) use(s site, g emulator.Generation, config xpv2.ProviderConfigReference) {
	s.addAPI("films")
	for _, p := range []string{"Gold", "Silver"} {
		s.addPlan(p)
	}
	p := &place{site: s, config: config, legacy: g == emulator.Legacy, makers: map[string]types.UID{}}
	for i, api := range []string{"books", "films"} {
		for _, app := range []string{"stranger", ""} {
			id := s.byHand(map[string]any{"apiId": api, "subscriptionToken": fmt.Sprintf("strange-token-%d-%s", i, app), "applicationId": app})
			p.makers[id] = "a stranger"
		}
	}
	p.strangers = s.Subscriptions()
	c.places = append(c.places, p)
}

// somewhere is one of the places, the world's own being the busier one.
func (c *chaos) somewhere(t *rapid.T) *place { return c.places[draw(t, "where", 0, 0, 1)] }

// withinReach is what a new Subscription gets to. Astray it would be created where
// nobody wants it.
func (c *chaos) withinReach(t *rapid.T) *place {
	p := c.somewhere(t)
	if c.astray && p == c.places[0] {
		t.Skip("its configuration leads elsewhere")
	}
	return p
}

// of a Subscription the place its configuration leads to.
func (c *chaos) of(cr *v1alpha1.Subscription) *place {
	return c.places[slices.IndexFunc(c.places, func(p *place) bool { return p.config == *cr.GetProviderConfigReference() })]
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

// token issues one.
func (c *chaos) token(tenant string, at *place) string {
	i := issued{fmt.Sprintf("t0ken-%d-of-%s", len(c.tokens), tenant), tenant, at}
	c.tokens = append(c.tokens, i)
	return i.token
}

// planID of a plan by its name.
func (p *place) planID(name string) string {
	plan, _ := p.Plan(name)
	return plan.ID
}

// spec of a declared Subscription.
func (d *declared) spec() change {
	return func(cr *v1alpha1.Subscription) {
		cr.SetProviderConfigReference(&d.at.config)
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
			id := d.at.planID(d.plan)
			p.SubscriptionPlanID = &id
		}
		if d.ref != "" {
			p.ExternalRefID = &d.ref
		}
	}
}

var (
	tenants   = []string{team, "team-b"}
	customers = ofEach("s1", "s2", "s3")
	// thieves are younger than whom they rob, and have no status but their own.
	thieves   = ofEach("t")
	everybody = slices.Concat(customers, thieves)

	chaosPlans  = []string{"", "Gold", "Silver"}
	chaosStatus = []v1alpha1.SubscriptionStatusValue{v1alpha1.SubscriptionActive, v1alpha1.SubscriptionInactive, v1alpha1.SubscriptionRevoked}
)

// ofEach tenant the objects of the given names.
func ofEach(names ...string) []string {
	var all []string
	for _, tenant := range tenants {
		for _, n := range names {
			all = append(all, tenant+"/"+n)
		}
	}
	return all
}

func (c *chaos) declare(t *rapid.T) {
	name := rapid.SampledFrom(customers).Draw(t, "name")
	if c.stored(name) != nil {
		t.Skip("it is there")
	}
	own := clientKey(name).Name
	d := &declared{
		at:     c.withinReach(t),
		app:    rapid.SampledFrom([]string{"app-a", "app-b", "app-of-" + own}).Draw(t, "application"),
		api:    rapid.SampledFrom([]string{"books", "films"}).Draw(t, "api"),
		plan:   rapid.SampledFrom(chaosPlans).Draw(t, "plan"),
		ref:    rapid.SampledFrom([]string{"", "ref-" + own, "shared"}).Draw(t, "ref"),
		status: rapid.SampledFrom(append(chaosStatus, "")).Draw(t, "status"),

		generated: rapid.IntRange(0, 3).Draw(t, "generated") == 0,
	}
	source := func(cr *v1alpha1.Subscription) {
		// A Secret of its own for each object, since nothing collects garbage here.
		generated(cr)
		cr.Spec.WriteConnectionSecretToReference.Name = connectionOf(cr)
	}
	if !d.generated {
		d.token = c.giveToken(name, d.at)
		source = tokenIn(clientKey(tokenSecretOf(name)).Name)
	}
	c.add(subscription(name, d.spec(), c.newUID, source))
	c.wanted[name] = d
}

// newUID makes an object another one than those that had its name before.
func (c *chaos) newUID(cr *v1alpha1.Subscription) {
	c.uids++
	cr.UID = types.UID(fmt.Sprintf("uid-%s-of-%s-%d", cr.GetName(), cr.GetNamespace(), c.uids))
}

// tokenSecretOf names the Secret that a Subscription's token is in.
func tokenSecretOf(name string) string {
	key := clientKey(name)
	return key.Namespace + "/token-of-" + key.Name
}

// giveToken puts a new token into the Secret of a Subscription.
func (c *chaos) giveToken(name string, at *place) string {
	token, secret := c.token(clientKey(name).Namespace, at), tokenSecretOf(name)
	if c.secret(secret) == nil {
		c.add(tokenSecret(secret, token))
	}
	c.setToken(secret, token)
	return token
}

// connectionOf names the connection Secret of a Subscription.
func connectionOf(cr *v1alpha1.Subscription) string { return "connection-of-" + string(cr.GetUID()) }

// tokenOf is the token that a Subscription asks for.
func (c *chaos) tokenOf(name string, d *declared) string {
	if d.generated {
		return c.generatedFor(c.stored(name))
	}
	return d.token
}

// generatedFor is the token in the connection Secret of a Subscription, if any.
func (c *chaos) generatedFor(cr *v1alpha1.Subscription) string {
	s := c.secret(cr.GetNamespace() + "/" + connectionOf(cr))
	if s == nil {
		return ""
	}
	return string(s.Data[keyToken])
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
	c.world.edit(name, d.spec())
}

func (c *chaos) rotate(t *rapid.T) {
	name := c.someone(t)
	if c.wanted[name].generated {
		c.uids++
		c.world.edit(name, annotated(v1alpha1.AnnotationRotateToken, fmt.Sprint(c.uids)))
		return
	}
	c.wanted[name].token = c.giveToken(name, c.wanted[name].at)
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

// strip a Subscription of its annotations, as some tools do. If it lost its status before,
// nothing tells any more whether it was imported, and a status its spec does not name is
// left as it is.
func (c *chaos) strip(t *rapid.T) {
	if name := c.someone(t); c.stored(name).Status.Deployed && c.stored(name).Status.AtProvider.Origin != "" {
		c.world.edit(name, func(cr *v1alpha1.Subscription) { cr.Annotations = nil })
	}
}

// forge an object that says of itself all that another says, or that it did so at
// another gateway, or delete one.
func (c *chaos) forge(t *rapid.T) {
	name := rapid.SampledFrom(thieves).Draw(t, "thief")
	if c.stored(name) != nil {
		c.remove(name)
		return
	}
	who := c.someone(t)
	victim, d := c.stored(who), *c.wanted[who]
	told, from, to := victim.GetAnnotations(), d.at.Endpoint(), c.somewhere(t).Endpoint()
	for k, v := range told {
		told[k] = strings.ReplaceAll(v, from, to)
	}
	d.at, d.status = c.withinReach(t), rapid.SampledFrom(chaosStatus).Draw(t, "status")
	c.giveToken(name, d.at)
	c.add(subscription(name, d.spec(), c.newUID, tokenIn(clientKey(tokenSecretOf(name)).Name), func(cr *v1alpha1.Subscription) {
		cr.Annotations = told
	}))
}

// leadAstray has a configuration lead to the other gateway, or back. What it was used
// for is there before: otherwise it would be asked of the other gateway, by rights.
func (c *chaos) leadAstray(*rapid.T) {
	for _, name := range everybody {
		if cr := c.stored(name); c.astray || cr == nil || c.of(cr) != c.places[0] {
			continue
		}
		c.passes(name, 2)
		if cr := c.stored(name); cr != nil && !c.places[0].hasOnly(cr) {
			return
		}
	}
	c.lead(!c.astray)
}

// hasOnly tells whether a Subscription holds something here, and asks for nothing.
func (p *place) hasOnly(cr *v1alpha1.Subscription) bool {
	b, a := baselineOf(p.t, cr), attemptOf(p.t, cr)
	return b != nil && b.Endpoint == p.Endpoint() && a == nil
}

func (c *chaos) lead(astray bool) {
	to := c.places[0]
	if c.astray = astray; astray {
		to = c.places[1]
	}
	c.config(func(p *configv1alpha1.ClusterProviderConfig) { p.Spec.Endpoint = to.URL() })
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
	c.somewhere(t).Inject(emulator.FailOnce(emulator.Match{Method: method}, f))
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

// managed are the subscriptions at a gateway that no stranger made.
func (p *place) managed() []emulator.Subscription {
	return slices.DeleteFunc(p.Subscriptions(), func(s emulator.Subscription) bool {
		return slices.ContainsFunc(p.strangers, func(o emulator.Subscription) bool { return o.ID == s.ID })
	})
}

func (c *chaos) something(t *rapid.T) (*place, emulator.Subscription) {
	p := c.somewhere(t)
	all := p.managed()
	if len(all) == 0 {
		t.Skip("nothing is there")
	}
	return p, all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
}

func (c *chaos) writeThere(t *rapid.T) {
	p, s := c.something(t)
	if !p.legacy && c.seen(p, s) && rapid.Bool().Draw(t, "token") {
		p.SetSubscriptionToken(s.ID, c.token("strangers", p))
		return
	}
	p.SetSubscriptionStatus(s.ID, string(rapid.SampledFrom(chaosStatus).Draw(t, "status")))
}

// seen tells whether a subscription was read since it was last written. What
// somebody else writes before that cannot be told from what we wrote ourselves.
func (c *chaos) seen(p *place, s emulator.Subscription) bool {
	l := &v1alpha1.SubscriptionList{}
	if err := c.kube.List(c.t.Context(), l); err != nil {
		c.t.Fatal(err)
	}
	return slices.ContainsFunc(l.Items, func(cr v1alpha1.Subscription) bool {
		at := cr.Status.AtProvider
		return at.Endpoint == p.Endpoint() && at.ID == s.ID && sameStamp(stampOf(&cr), s.UpdatedAt)
	})
}

func (c *chaos) deleteThere(t *rapid.T) {
	p, s := c.something(t)
	p.DeleteSubscription(s.ID)
}

// loseAPI deletes an API at a gateway, with all that subscribes to it, and creates
// it again.
func (c *chaos) loseAPI(t *rapid.T) {
	p, api := c.somewhere(t), rapid.SampledFrom([]string{"books", "films"}).Draw(t, "api")
	p.DeleteAPI(api)
	p.addAPI(api)
	p.strangers = slices.DeleteFunc(p.strangers, func(s emulator.Subscription) bool {
		_, there := p.Subscription(s.ID)
		return !there
	})
}

// pass over a Subscription. It may write what it made, and what nobody did who is
// still there.
func (c *chaos) pass(name string) (*v1alpha1.Subscription, error) {
	before := c.stored(name)
	// No two passes are at one moment.
	c.wait(time.Millisecond)
	for _, p := range c.places {
		p.forgetGone()
	}
	after, err := c.world.pass(name)
	for _, p := range c.places {
		c.writes += p.attribute(before.GetUID())
		if after == nil {
			p.forgetMaker(before.GetUID())
		}
	}
	if token := c.generatedFor(before); token != "" {
		c.noteToken(issued{token, before.GetNamespace(), c.of(before)})
	}
	c.checkPlaces()
	return after, err
}

// passes over a Subscription while it is there. They are quiet if none failed.
func (c *chaos) passes(name string, n int) (quiet bool) {
	quiet = true
	for ; n > 0 && c.stored(name) != nil; n-- {
		if _, err := c.pass(name); err != nil {
			quiet = false
		}
	}
	return quiet
}

// attribute to a Subscription what was written since the last pass, and return how
// many writes there were.
func (p *place) attribute(to types.UID) int {
	writes := p.Requests(emulator.Match{Writes: true})
	p.ResetJournal()
	for _, w := range writes {
		switch maker, known := p.makers[w.ID]; {
		case maker == "" && known:
			p.makers[w.ID] = to
		case known && maker != to:
			p.t.Errorf("%s wrote %s, which %s made", to, w.ID, maker)
		}
	}
	for _, s := range p.Subscriptions() {
		if _, known := p.makers[s.ID]; !known {
			p.makers[s.ID] = to
		}
	}
	return len(writes)
}

// forgetGone forgets who made what is gone.
func (p *place) forgetGone() {
	for id := range p.makers {
		if _, there := p.Subscription(id); !there {
			delete(p.makers, id)
		}
	}
}

// forgetMaker lets others have what an object made that is gone.
func (p *place) forgetMaker(uid types.UID) {
	for id, maker := range p.makers {
		if maker == uid {
			p.makers[id] = ""
		}
	}
}

// calm lets no more happen, and the provider do its work.
func (c *chaos) calm() {
	for _, p := range c.places {
		p.ClearFaults()
	}
	c.allowWrites()
	if c.astray {
		c.lead(false)
	}
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
			c.world.edit(name, d.spec())
		}
	}
	if edited {
		c.settleAll()
	}
}

func (c *chaos) settleAll() {
	for range 12 {
		// Longer than anything is waited for, and looked at in the meantime.
		c.wait(11 * time.Minute)
		before, quiet := c.writes, true
		for _, name := range everybody {
			quiet = c.passes(name, 3) && quiet
		}
		if quiet && c.writes == before {
			return
		}
	}
}

// A spot is where a subscription is.
type spot struct {
	at *place
	id string
}

// check that all is as it should be.
func (c *chaos) check() {
	t := c.t
	named := c.events.messages("LeftBehind")
	lost, held := map[spot]string{}, map[spot]string{}
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
		b := baselineOf(t, cr)
		var is spot
		if b != nil {
			is = spot{d.at, b.ID}
		}
		switch {
		case ready && b == nil:
			t.Errorf("%s is ready and holds nothing", name)
		case !ready && applied.Reason == v1alpha1.ReasonConflict && d.ref != "" && cr.Status.AtProvider.ID == "":
			// One of several who ask for it has it, and it is not this one.
			lost[spot{d.at, d.ref}] = name
		case b != nil && held[is] != "":
			t.Errorf("%s and %s both hold %s", name, held[is], b.ID)
		case b != nil && b.Endpoint != d.at.Endpoint():
			t.Errorf("%s holds %s at %s", name, b.ID, b.Endpoint)
		case b != nil:
			held[is] = name
			c.checkHeld(name, d, b.ID, ready, applied)
		case applied.Reason == v1alpha1.ReasonAmbiguousAttempt && d.at.legacy:
			named = append(named, applied.Message)
		default:
			t.Errorf("%s holds nothing: %s %s", name, applied.Reason, applied.Message)
		}
	}
	for is, name := range lost {
		if held[is] == "" {
			t.Errorf("%s lost what nobody has: %s", name, is.id)
		}
	}
	for _, p := range c.places {
		for _, s := range p.managed() {
			told := p.legacy && slices.ContainsFunc(named, func(m string) bool { return strings.Contains(m, s.ID) })
			if held[spot{p, s.ID}] == "" && !told {
				t.Errorf("nobody holds %s: %+v", s.ID, s)
			}
		}
		p.checkStrangers()
	}
	c.checkIdle()
	c.checkTokens()
}

// checkHeld checks that a subscription is what is asked for.
func (c *chaos) checkHeld(name string, d *declared, id string, ready bool, applied xpv2.Condition) {
	s, ok := d.at.Subscription(id)
	if !ok {
		c.t.Errorf("%s holds %s, which is not there: %s %s", name, id, applied.Reason, applied.Message)
		return
	}
	if s.APIHandle != d.api || s.ApplicationID != d.app || s.Status != cmp.Or(string(d.status), "ACTIVE") || s.BillingCustomerID+s.BillingSubscriptionID != "" {
		c.t.Errorf("%s wants %+v and has %+v", name, d, s)
	}
	if !d.at.legacy && d.ref != "" && s.ID != d.ref {
		c.t.Errorf("%s asks for %s and has %s", name, d.ref, s.ID)
	}
	plan := s.SubscriptionPlanID == d.at.planID(d.plan)
	inForce := plan && d.at.HoldsToken(id, c.tokenOf(name, d))
	legacy := d.at.legacy && applied.Reason == v1alpha1.ReasonLegacyGateway
	switch sure := c.stored(name).GetCondition(v1alpha1.TypeTokenInForce).Status == corev1.ConditionTrue; {
	case inForce && !ready && !legacy:
		c.t.Errorf("%s is as asked for, and not ready: %s %s", name, applied.Reason, applied.Message)
	case !inForce && ready && (sure || !d.at.legacy || !plan):
		c.t.Errorf("%s is ready, and not as asked for: wants %+v, has %+v", name, d, s)
	case !inForce && !ready && !legacy:
		c.t.Errorf("%s wants %+v and has %+v: %s %s", name, d, s, applied.Reason, applied.Message)
	}
}

// checkStrangers checks that what strangers made is as they made it.
func (p *place) checkStrangers() {
	for i, was := range p.strangers {
		if is, ok := p.Subscription(was.ID); !ok || is != was {
			p.t.Errorf("a stranger's subscription was %+v and is %+v (%d)", was, is, i)
		}
	}
}

// checkIdle checks that nothing is written any more.
func (c *chaos) checkIdle() {
	before := c.writes
	for name := range c.wanted {
		if cr := c.stored(name); cr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			_, _ = c.pass(name)
		}
	}
	if n := c.writes - before; n > 0 {
		c.t.Errorf("%d writes at the gateways although nothing happens", n)
	}
}

// noteToken notes one that the provider issued.
func (c *chaos) noteToken(i issued) {
	if !slices.Contains(c.tokens, i) {
		c.tokens = append(c.tokens, i)
	}
}

// checkPlaces checks that no token is at a gateway that its Subscription is not about.
func (c *chaos) checkPlaces() {
	for _, i := range c.tokens {
		for _, p := range c.places {
			if p != i.at && slices.ContainsFunc(p.Subscriptions(), func(s emulator.Subscription) bool { return p.HoldsToken(s.ID, i.token) }) {
				c.t.Errorf("a token of %s at %s is also at %s", i.tenant, i.at.config.Name, p.config.Name)
			}
		}
	}
}

// checkTokens checks that no token shows, and none is in another tenant's Secret.
func (c *chaos) checkTokens() {
	l := &corev1.SecretList{}
	if err := c.kube.List(c.t.Context(), l); err != nil {
		c.t.Fatal(err)
	}
	var all []string
	for _, i := range c.tokens {
		all = append(all, i.token)
		for _, s := range l.Items {
			for k, v := range s.Data {
				if s.GetNamespace() != i.tenant && strings.Contains(string(v), i.token) {
					c.t.Errorf("a token of %s is in Secret %s/%s under %s", i.tenant, s.GetNamespace(), s.GetName(), k)
				}
			}
		}
	}
	c.silent(all...)
}
