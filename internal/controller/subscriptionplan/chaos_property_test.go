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

package subscriptionplan

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// Whatever users, thieves, strangers, faults and restarts do in whatever order: in
// the end the gateway has what the specs ask for, once, and nothing of a stranger's
// was touched.
//
// contract: P1, P2, P4, S12, S13, S17, S18, S30, S31, S32, S33, A1, A5, A10, A11
// case: D1, D3, D6, E8, F11, W9
func TestChaos(t *testing.T) {
	for _, g := range []emulator.Generation{emulator.InPlace, emulator.Legacy} {
		t.Run(string(g), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				c := newChaos(t, g)
				actions := c.Actions()
				maps.Copy(actions, map[string]func(*rapid.T){
					"declare":       c.declare,
					"edit":          c.change,
					"write there":   c.writeThere,
					"delete there":  c.deleteThere,
					"replace there": c.replaceThere,
				})
				t.Repeat(actions)
				c.Calm()
				c.check()
			})
		})
	}
}

// A chaos is a bench in which anything happens, and what is true of it, whatever
// objects say of themselves.
type chaos struct {
	*passtest.Chaos[*v1alpha1.SubscriptionPlan]

	b          *bench
	kind       *kind.Kind[*v1alpha1.SubscriptionPlan]
	connector  managed.TypedExternalConnector[*v1alpha1.SubscriptionPlan]
	generation emulator.Generation
	// chosen are the IDs that users asked to import.
	chosen map[types.UID]string
	// holder of each plan, once it has it on record for good, and maker of those that
	// nobody has yet. What has neither is a stranger's.
	holder, maker map[string]types.UID
	// strangers are the plans that have no holder, as they were left.
	strangers map[string]emulator.Plan
}

func newChaos(t *rapid.T, g emulator.Generation) *chaos {
	c := &chaos{generation: g, chosen: map[types.UID]string{}, holder: map[string]types.UID{}, maker: map[string]types.UID{}, strangers: map[string]emulator.Plan{}}
	clock := &passtest.Clock{}
	c.b = newBench(t, emulator.Options{Generation: g, Now: clock.Now})
	clock.Follow(c.b.Bench)
	c.Chaos = &passtest.Chaos[*v1alpha1.SubscriptionPlan]{
		Bench: c.b.Bench, T: t,
		Names: []string{"p1", "p2", "p3", "p4"}, Thieves: []string{"t1", "t2"},
		Blank: func() *v1alpha1.SubscriptionPlan { return &v1alpha1.SubscriptionPlan{} },
		Pass: func(mg *v1alpha1.SubscriptionPlan) error {
			return passtest.Pass(t, c.b.Bench, v1alpha1.SubscriptionPlanGroupVersionKind, mg, c.connector)
		},
		Restart:  c.restart,
		Forget:   func(uid types.UID) { c.kind.Forget(uid) },
		Reported: func(mg *v1alpha1.SubscriptionPlan) string { return mg.Status.AtProvider.ID },
		Lose:     c.lose,
		Disguise: c.disguise, May: c.may, Did: c.did,
	}
	c.restart()
	c.Watch()
	// Nobody asks for Lonely.
	for _, name := range []string{"Lonely", "Hand", "Bronze"} {
		p, _ := c.Gateway.AddPlan(name)
		c.strangers[p.ID] = p
	}
	return c
}

// restart the provider, most of whose passes see what was read for all.
func (c *chaos) restart() {
	o := kind.Options{Options: xpcontroller.Options{PollInterval: time.Minute, Features: &feature.Flags{}}, Gateways: c.b.Pool(c.T), ClusterID: "cluster-1", Clock: c.b, Metrics: c.b.metrics}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	c.kind = newKind(c.b.Kube, c.b.Now())
	c.connector = c.kind.Connector(c.b.Kube, c.b.Kube, c.b.Events, passtest.Untracked(), o)
}

// draw one of a few values.
func draw[E any](t *rapid.T, name string, of ...E) E { return rapid.SampledFrom(of).Draw(t, name) }

// redraw all of a spec that may change.
func redraw(t *rapid.T, mg *v1alpha1.SubscriptionPlan) {
	mg.Spec.AdoptionPolicy = draw(t, "adoption", v1alpha1.SubscriptionPlanAdoptionNever, v1alpha1.SubscriptionPlanAdoptionIfUnique)
	p := &mg.Spec.ForProvider
	p.PlanName = draw(t, "planName", "Plan "+mg.Name, "Plan "+mg.Name, "Shared", "Hand", "Bronze")
	p.BillingPlan = draw(t, "billingPlan", nil, ptr("X"))
	p.StopOnQuotaReach = draw(t, "stopOnQuotaReach", nil, ptr(true), ptr(false))
	p.Status = draw(t, "status", nil, ptr(v1alpha1.SubscriptionPlanActive), ptr(v1alpha1.SubscriptionPlanInactive))
	// A limit and an expiry are never taken away: the API server refuses that.
	if p.ThrottleLimitCount != nil || rapid.Bool().Draw(t, "limited") {
		p.ThrottleLimitCount = ptr(draw(t, "count", int64(1), 1000))
		p.ThrottleLimitUnit = ptr(draw(t, "unit", v1alpha1.ThrottleLimitUnitHour, v1alpha1.ThrottleLimitUnitDay))
	}
	if p.ExpiryTime != nil || rapid.Bool().Draw(t, "expires") {
		p.ExpiryTime = &metav1.Time{Time: draw(t, "expiry", expiry, expiry.Add(time.Hour))}
	}
}

func (c *chaos) declare(t *rapid.T) {
	mg := managedGold()
	mg.Name, mg.Spec.ForProvider = c.Named(t), v1alpha1.SubscriptionPlanParameters{}
	redraw(t, mg)
	id := ""
	if rapid.IntRange(0, 2).Draw(t, "import") == 0 {
		// Any plan that is there, of the name or not, held or not.
		id = draw(t, "plan", c.Gateway.Plans()...).ID
		if p, ok := c.Gateway.Plan(mg.Spec.ForProvider.PlanName); ok && rapid.Bool().Draw(t, "fits") {
			id = p.ID
		}
		preset(id)(mg)
	}
	c.Add(mg)
	c.chosen[mg.UID] = id
}

func (c *chaos) change(t *rapid.T) {
	c.Edit(c.Someone(t), func(mg *v1alpha1.SubscriptionPlan) { redraw(t, mg) })
}

// disguise a thief, who asks for what its victim has.
func (c *chaos) disguise(t *rapid.T, mg *v1alpha1.SubscriptionPlan) {
	name := mg.Spec.ForProvider.PlanName
	redraw(t, mg)
	mg.Spec.ForProvider.PlanName = name
	c.chosen[mg.UID] = meta.GetExternalName(mg)
}

// lose the status of a managed resource. When its create was sent is then said by the runtime
// only, but by real time, which is not that of the gateway here.
func (c *chaos) lose(mg *v1alpha1.SubscriptionPlan) {
	if mg.Status.CreateAttempt != nil {
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreatePending)
		if err := client.IgnoreNotFound(c.Kube.Update(c.T.Context(), mg)); err != nil {
			c.T.Fatal(err)
		}
	}
	mg.Status = v1alpha1.SubscriptionPlanStatus{}
}

// there tells whether a managed resource with the UID is there.
func (c *chaos) there(uid types.UID) bool {
	for _, mg := range c.All() {
		if mg.UID == uid {
			return true
		}
	}
	return false
}

// older tells whether a managed resource was there before another.
func (c *chaos) older(mg *v1alpha1.SubscriptionPlan, than types.UID) bool {
	for _, o := range c.All() {
		if o.UID == than {
			return mg.CreationTimestamp.Before(&o.CreationTimestamp)
		}
	}
	return true
}

// may is the other opinion on what may be written: it knows who made what.
func (c *chaos) may(mg *v1alpha1.SubscriptionPlan, r emulator.Request) string {
	p, ok := c.Gateway.Plan(r.ID)
	if r.ID == "" || !ok {
		return ""
	}
	return c.mayHold(mg, p, r.Method == http.MethodDelete)
}

func (c *chaos) mayHold(mg *v1alpha1.SubscriptionPlan, p emulator.Plan, deletes bool) string {
	sameName := p.PlanName == mg.Spec.ForProvider.PlanName
	switch {
	case c.holder[p.ID] == mg.UID, c.maker[p.ID] == mg.UID:
		return ""
	case c.there(c.holder[p.ID]):
		return "it is of " + string(c.holder[p.ID])
	case c.there(c.maker[p.ID]) && !c.older(mg, c.maker[p.ID]):
		return "it came of the create of " + string(c.maker[p.ID])
	case c.maker[p.ID] != "" && passtest.Asked(mg) == p.PlanName:
		// Of several who got no answer the oldest has it.
		return ""
	case !deletes && sameName && (mg.Spec.AdoptionPolicy == v1alpha1.SubscriptionPlanAdoptionIfUnique || c.chosen[mg.UID] == p.ID):
		return ""
	default:
		return fmt.Sprintf("it is a stranger's: %s, made by %q, to %+v", p.PlanName, c.maker[p.ID], mg.Annotations)
	}
}

func (c *chaos) did(mg *v1alpha1.SubscriptionPlan, done []emulator.Record) {
	for _, r := range done {
		switch r.Method {
		case http.MethodDelete:
			delete(c.holder, r.ID)
		case http.MethodPut:
			// Taken over, although the answer may be lost and nobody knows.
			if p, ok := c.strangers[r.ID]; ok {
				c.strangers[r.ID], _ = c.Gateway.Plan(p.ID)
			}
		case http.MethodPost:
			for _, p := range c.Gateway.Plans() {
				if _, known := c.strangers[p.ID]; !known && c.holder[p.ID] == "" && c.maker[p.ID] == "" {
					c.maker[p.ID] = mg.UID
				}
			}
		}
	}
	now, ok := c.Get(mg.Name)
	if !ok {
		return
	}
	id := now.Status.AtProvider.ID
	recorded := passtest.Recorded(now)
	switch written := recorded != passtest.Recorded(mg) || len(now.Finalizers) > len(mg.Finalizers); {
	case written && recorded != "":
		id = recorded
	case !now.Status.Deployed:
		// A record that was not written in this pass may have been brought along.
		return
	}
	p, ok := c.Gateway.Plan(id)
	if !ok {
		return
	}
	if wrong := c.mayHold(mg, p, false); wrong != "" {
		c.T.Fatalf("%s holds %s: %s", mg.UID, id, wrong)
	}
	if len(now.Finalizers) == 0 {
		// It may go yet, and leave what it took over as it is.
		c.maker[id] = mg.UID
		return
	}
	c.holder[id] = mg.UID
	delete(c.strangers, id)
}

// something that somebody holds.
func (c *chaos) something(t *rapid.T) emulator.Plan {
	var all []emulator.Plan
	for _, p := range c.Gateway.Plans() {
		if c.there(c.holder[p.ID]) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Skip("nothing is there")
	}
	return draw(t, "which", all...)
}

func (c *chaos) writeThere(t *rapid.T) {
	id := c.something(t).ID
	if status, _ := c.Gateway.Do(http.MethodPut, "/subscription-plans/"+id, draw(t, "what",
		map[string]any{"status": "INACTIVE"}, map[string]any{"status": "ACTIVE"}, map[string]any{"stopOnQuotaReach": false},
		map[string]any{"throttleLimitCount": 7, "throttleLimitUnit": "Min"}, map[string]any{"expiryTime": "2031-01-01T00:00:00Z"},
		map[string]any{"billingPlan": "Y"}, map[string]any{"planName": "By hand " + id},
	)); status != http.StatusOK {
		t.Fatal("cannot write by hand")
	}
}

func (c *chaos) deleteThere(t *rapid.T) { c.Gateway.DeletePlan(c.something(t).ID) }

// replaceThere puts a plan of a stranger's in the place of one. What comes while
// somebody waits for the answer to a create of its name cannot be told from what
// that made.
func (c *chaos) replaceThere(t *rapid.T) {
	p := c.something(t)
	for _, mg := range c.All() {
		if passtest.Asked(mg) == p.PlanName {
			t.Skip("its name is asked for")
		}
	}
	c.Gateway.DeletePlan(p.ID)
	p, ok := c.Gateway.AddPlan(p.PlanName)
	if !ok {
		t.Fatal("cannot create by hand")
	}
	c.strangers[p.ID] = p
}

// check that all is as it should be.
func (c *chaos) check() {
	holders := map[string]string{}
	var inForce []*v1alpha1.SubscriptionPlan
	for _, mg := range c.Wanted() {
		applied, ready := mg.GetCondition(v1alpha1.TypeApplied), mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		at := mg.Status.AtProvider.ID
		_, there := c.Gateway.Plan(at)
		switch {
		case ready && !mg.Status.Deployed:
			c.T.Errorf("%s is ready and holds nothing", mg.Name)
		case mg.Status.Deployed && (!there || at != meta.GetExternalName(mg) || at != passtest.Recorded(mg)):
			c.T.Errorf("%s should hold %s: %v, %t", mg.Name, at, mg.Annotations, there)
		case mg.Status.Deployed && holders[at] != "":
			c.T.Errorf("%s and %s both hold %s", mg.Name, holders[at], at)
		case ready:
			inForce = append(inForce, mg)
		case !c.inTheWay(mg):
			c.T.Errorf("%s is not in force: %s %s", mg.Name, applied.Reason, applied.Message)
		}
		if mg.Status.Deployed {
			holders[at] = mg.Name
		}
	}
	for _, p := range c.Gateway.Plans() {
		if was, ok := c.strangers[p.ID]; ok {
			if diff := cmp.Diff(was, p); diff != "" {
				c.T.Errorf("a stranger's plan changed: %s", diff)
			}
		} else if holders[p.ID] == "" {
			c.T.Errorf("nobody holds %+v", p)
		}
	}
	c.checkFresh(inForce)
	c.CheckCalm()
}

// inTheWay tells whether what a managed resource asks for is kept from it: by a
// plan that has its name, or since there is no plan that it could import.
func (c *chaos) inTheWay(mg *v1alpha1.SubscriptionPlan) bool {
	switch mg.GetCondition(v1alpha1.TypeApplied).Reason {
	case v1alpha1.ReasonAdoptionRefused:
		p, ok := c.Gateway.Plan(c.chosen[mg.UID])
		return c.chosen[mg.UID] != "" && (!ok || p.PlanName != mg.Spec.ForProvider.PlanName || c.holder[p.ID] != mg.UID && c.there(c.holder[p.ID]))
	case v1alpha1.ReasonConflict:
		p, ok := c.Gateway.Plan(mg.Spec.ForProvider.PlanName)
		return ok && p.ID != mg.Status.AtProvider.ID && (mg.Status.Deployed || c.mayHold(mg, p, false) != "")
	default:
		return false
	}
}

// checkFresh checks that what is in force is what the same specs give on a gateway
// that is new to them. Lawful differences are: IDs and times; a billing plan, a
// limit and an expiry that the spec does not give, which a gateway cannot clear or
// nobody asked it to; the status and the stop at the quota that the spec of an
// import does not give, which stay as they are; and which of several that ask for
// one name or ID has it.
func (c *chaos) checkFresh(inForce []*v1alpha1.SubscriptionPlan) {
	fresh := newBench(c.T, emulator.Options{Generation: c.generation})
	for _, mg := range inForce {
		anew := managedGold(func(anew *v1alpha1.SubscriptionPlan) { anew.Name, anew.UID, anew.Spec = mg.Name, mg.UID, mg.Spec })
		if err := fresh.Kube.Create(c.T.Context(), anew); err != nil {
			c.T.Fatal(err)
		}
		want, _ := fresh.Gateway.Plan(fresh.settle(anew).Status.AtProvider.ID)
		got, _ := c.Gateway.Plan(mg.Status.AtProvider.ID)
		imported := c.chosen[mg.UID] != ""
		if diff := cmp.Diff(lasting(want, mg, imported), lasting(got, mg, imported)); diff != "" {
			c.T.Errorf("%s is not as a fresh apply has it: -want, +got:\n%s", mg.Name, diff)
		}
	}
}

// lasting is what is the same in every plan of one spec.
func lasting(p emulator.Plan, mg *v1alpha1.SubscriptionPlan, imported bool) emulator.Plan {
	p.ID, p.CreatedAt, p.UpdatedAt = "", time.Time{}, time.Time{}
	asked := mg.Spec.ForProvider
	if asked.BillingPlan == nil {
		p.BillingPlan = ""
	}
	if asked.ThrottleLimitCount == nil {
		p.ThrottleLimitCount, p.ThrottleLimitUnit = 0, ""
	}
	if asked.ExpiryTime == nil {
		p.ExpiryTime = nil
	}
	if imported && asked.Status == nil {
		p.Status = ""
	}
	if imported && asked.StopOnQuotaReach == nil {
		p.StopOnQuotaReach = false
	}
	return p
}
