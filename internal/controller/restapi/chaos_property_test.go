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

package restapi

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	xpcontroller "github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

// Whatever users, thieves, strangers, faults and restarts do in whatever order: in
// the end the gateway has what the specs ask for, once, and nothing of a stranger's
// was touched.
//
// contract: R1, R2, R4, S12, S13, S17, S30, S31, S32, S33, A1, A5, A10, A11
// case: D1, D3, D6, E8, F11
func TestChaos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t)
		actions := c.Actions()
		maps.Copy(actions, map[string]func(*rapid.T){
			"declare":       c.declare,
			"edit":          c.change,
			"write there":   c.writeThere,
			"mark there":    c.markThere,
			"delete there":  c.deleteThere,
			"replace there": c.replaceThere,
		})
		t.Repeat(actions)
		c.Calm()
		c.check()
	})
}

// A chaos is a bench in which anything happens, and what is true of it, whatever
// objects say of themselves.
type chaos struct {
	*passtest.Chaos[*v1alpha1.RestApi]

	b         *bench
	kind      *kind.Kind[*v1alpha1.RestApi]
	connector managed.TypedExternalConnector[*v1alpha1.RestApi]
	// chosen are the managed resources whose user chose the handle.
	chosen map[types.UID]string
	// maker of each API that the provider made or took over, and what each of them
	// made last. What has no maker is a stranger's.
	maker map[string]types.UID
	made  map[types.UID]string
	// strangers are the APIs that have no maker, as they were left by hand.
	strangers map[string]emulator.API
}

func newChaos(t *rapid.T) *chaos {
	c := &chaos{chosen: map[types.UID]string{}, maker: map[string]types.UID{}, made: map[types.UID]string{}, strangers: map[string]emulator.API{}}
	clock := &passtest.Clock{}
	c.b = newBenchAt(t, emulator.Options{Now: clock.Now})
	clock.Follow(c.b.Bench)
	c.Chaos = &passtest.Chaos[*v1alpha1.RestApi]{
		Bench: c.b.Bench, T: t,
		Names: []string{"r1", "r2", "r3", "r4"}, Thieves: []string{"t1", "t2"},
		Blank: func() *v1alpha1.RestApi { return &v1alpha1.RestApi{} },
		Pass: func(mg *v1alpha1.RestApi) error {
			return passtest.Pass(t, c.b.Bench, v1alpha1.RestApiGroupVersionKind, mg, c.connector)
		},
		Restart:  c.restart,
		Forget:   func(uid types.UID) { c.kind.Forget(uid) },
		Reported: func(mg *v1alpha1.RestApi) string { return mg.Status.AtProvider.ID },
		Lose:     func(mg *v1alpha1.RestApi) { mg.Status = v1alpha1.RestApiStatus{} },
		Disguise: c.disguise, May: c.may, Did: c.did,
	}
	c.restart()
	c.Watch()
	// Nobody asks for lonely; r4 does so by its name.
	for _, handle := range []string{"lonely", "r4", "hand", "marked"} {
		c.b.Gateway.AddAPI(handle)
	}
	c.b.mark("marked", "cluster-2/x/y")
	for _, a := range c.Gateway.APIs() {
		c.strangers[a.Handle] = a
	}
	return c
}

// restart the provider, most of whose passes see what was read for all.
func (c *chaos) restart() {
	o := kind.Options{Options: xpcontroller.Options{PollInterval: time.Minute, Features: &feature.Flags{}}, Gateways: c.b.Pool(c.T), ClusterID: "cluster-1", Clock: c.b, Metrics: c.b.metrics}
	o.Features.Enable(feature.EnableBetaManagementPolicies)
	c.kind = newKind(c.b.Kube)
	c.connector = c.kind.Connector(c.b.Kube, c.b.Kube, c.b.Events, passtest.Untracked(), o)
}

// draw one of a few values.
func draw[E any](t *rapid.T, name string, of ...E) E { return rapid.SampledFrom(of).Draw(t, name) }

// redraw all of a spec that may change.
func redraw(t *rapid.T, mg *v1alpha1.RestApi) {
	mg.Spec.AdoptionPolicy = draw(t, "adoption", v1alpha1.RestApiAdoptionNever, v1alpha1.RestApiAdoptionNever, v1alpha1.RestApiAdoptionTakeover)
	p := &mg.Spec.ForProvider
	p.DisplayName = draw(t, "displayName", "API of "+mg.Name, "API of "+mg.Name, "Common")
	p.Context = draw(t, "context", "/a", "/b/$version")
	p.Labels = draw(t, "labels", nil, map[string]string{"team": "a"})
	p.Annotations = draw(t, "annotations", nil, map[string]string{"note": "x"})
	p.SubscriptionPlans = draw(t, "plans", nil, []v1alpha1.PlanName{"Silver", "Gold"})
	p.DeploymentState = draw(t, "state", nil, ptr(v1alpha1.DeploymentStateDeployed), ptr(v1alpha1.DeploymentStateUndeployed))
	p.Vhosts = draw(t, "vhosts", nil, &v1alpha1.VirtualHosts{Main: "api.example.org"})
}

func (c *chaos) declare(t *rapid.T) {
	mg := managedBooks()
	mg.Name = c.Named(t)
	redraw(t, mg)
	handle := draw(t, "handle", "", "", "own-"+mg.Name, "shared", "hand", "marked")
	if handle != "" {
		preset(handle)(mg)
	}
	c.Add(mg)
	c.chosen[mg.UID] = handle
}

func (c *chaos) change(t *rapid.T) {
	c.Edit(c.Someone(t), func(mg *v1alpha1.RestApi) { redraw(t, mg) })
}

// disguise a thief, who chose what its victim has.
func (c *chaos) disguise(t *rapid.T, mg *v1alpha1.RestApi) {
	redraw(t, mg)
	c.chosen[mg.UID] = meta.GetExternalName(mg)
}

// handle that a managed resource asks for.
func (c *chaos) handle(mg *v1alpha1.RestApi) string {
	if h := c.chosen[mg.UID]; h != "" {
		return h
	}
	return mg.Name
}

// There tells whether a managed resource with the UID is there.
func (c *chaos) there(uid types.UID) bool {
	for _, mg := range c.All() {
		if mg.UID == uid {
			return true
		}
	}
	return false
}

// may is the other opinion on what may be written: it knows who made what.
func (c *chaos) may(mg *v1alpha1.RestApi, r emulator.Request) string {
	a, ok := c.Gateway.API(r.ID)
	if !ok {
		return ""
	}
	mark := a.Annotations[v1alpha1.AnnotationOwner]
	takeover := mg.Spec.AdoptionPolicy == v1alpha1.RestApiAdoptionTakeover
	asked := takeover || c.chosen[mg.UID] != ""
	// Who may take it over may just as well bring a record that it did.
	maker, held := c.maker[r.ID], c.made[mg.UID] == r.ID || asked && mark == "" && passtest.Recorded(mg) == r.ID
	seen := mg.Status.AtProvider.CreatedAt
	switch {
	case maker == mg.UID, mark == "cluster-1/"+mg.Namespace+"/"+mg.Name:
		return ""
	case c.there(maker):
		return "it is of " + string(maker)
	case r.Method == http.MethodDelete && mark == "" && held && (seen == nil || seen.Unix() == a.CreatedAt.Unix()):
		return ""
	case r.Method == http.MethodPut && mark == "" && (held || asked):
		return ""
	case r.Method == http.MethodPut && mark != "" && takeover && !held:
		return ""
	default:
		return "it is a stranger's"
	}
}

func (c *chaos) did(mg *v1alpha1.RestApi, done []emulator.Record) {
	for _, r := range done {
		h := r.ID
		if h == "" {
			h = c.handle(mg)
		}
		delete(c.maker, h)
		delete(c.strangers, h)
		if r.Method != http.MethodDelete {
			c.maker[h], c.made[mg.UID] = mg.UID, h
		}
	}
}

// something that the provider made, and that its maker has on record.
func (c *chaos) something(t *rapid.T) string {
	var all []string
	for _, mg := range c.All() {
		if h := passtest.Recorded(mg); h != "" && c.maker[h] == mg.UID {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		t.Skip("nothing is there")
	}
	return draw(t, "which", all...)
}

func (c *chaos) writeThere(t *rapid.T) {
	h := c.something(t)
	_, doc := c.Gateway.Do(http.MethodGet, "/rest-apis/"+h, nil)
	s, _ := doc["spec"].(map[string]any)
	s["context"] = draw(t, "context", "/evil", "/evil/$version")
	if status, _ := c.Gateway.Do(http.MethodPut, "/rest-apis/"+h, doc); status != http.StatusOK {
		t.Fatal("cannot write by hand")
	}
}

// markThere erases the mark of an API, or makes it another's. What is marked before
// its maker knows that it is there cannot be told from a stranger's.
func (c *chaos) markThere(t *rapid.T) {
	h := c.something(t)
	mark := draw(t, "mark", "", "", "cluster-2/x/y", "cluster-1/team-a/r1", "cluster-1/team-a/gone", "nonsense")
	c.b.mark(h, mark)
	if mark != "" {
		c.leave(h)
	}
}

func (c *chaos) deleteThere(t *rapid.T) {
	h := c.something(t)
	c.Gateway.DeleteAPI(h)
	delete(c.maker, h)
}

// replaceThere puts an API of a stranger's in the place of one.
func (c *chaos) replaceThere(t *rapid.T) {
	h := c.something(t)
	c.Gateway.DeleteAPI(h)
	c.Advance(2 * time.Second)
	if _, ok := c.Gateway.AddAPI(h); !ok {
		t.Fatal("cannot create by hand")
	}
	c.leave(h)
}

// leave an API to a stranger.
func (c *chaos) leave(h string) {
	delete(c.maker, h)
	c.strangers[h], _ = c.Gateway.API(h)
}

// check that all is as it should be.
func (c *chaos) check() {
	holders := map[string]string{}
	var inForce []*v1alpha1.RestApi
	for _, mg := range c.Wanted() {
		applied, ready := mg.GetCondition(v1alpha1.TypeApplied), mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		h := c.handle(mg)
		a, there := c.Gateway.API(h)
		switch at := mg.Status.AtProvider.ID; {
		case ready && !mg.Status.Deployed:
			c.T.Errorf("%s is ready and holds nothing", mg.Name)
		case mg.Status.Deployed && (at != h || meta.GetExternalName(mg) != h || passtest.Recorded(mg) != h):
			c.T.Errorf("%s should hold %s and holds %s: %v", mg.Name, h, at, mg.Annotations)
		case mg.Status.Deployed && holders[h] != "":
			c.T.Errorf("%s and %s both hold %s", mg.Name, holders[h], h)
		case ready && (!there || a.Annotations[v1alpha1.AnnotationOwner] != "cluster-1/team-a/"+mg.Name):
			c.T.Errorf("%s is ready, and %s is not there or not its own: %s", mg.Name, h, applied.Message)
		case ready:
			inForce = append(inForce, mg)
		case applied.Reason != v1alpha1.ReasonConflict || !c.inTheWay(mg, h):
			c.T.Errorf("%s is not in force: %s %s", mg.Name, applied.Reason, applied.Message)
		}
		if mg.Status.Deployed {
			holders[h] = mg.Name
		}
	}
	for _, a := range c.Gateway.APIs() {
		if was, ok := c.strangers[a.Handle]; ok {
			if diff := cmp.Diff(was, a); diff != "" {
				c.T.Errorf("a stranger's API changed: %s", diff)
			}
		} else if holders[a.Handle] == "" {
			c.T.Errorf("nobody holds %s: %v", a.Handle, a.Annotations)
		}
	}
	c.checkFresh(inForce)
	c.CheckCalm()
}

// inTheWay tells whether what a managed resource asks for is kept from it by an
// API of somebody else's, one that has its handle, or its displayName, or by one that
// is gone and whose holder cannot create it again, as its displayName is taken.
func (c *chaos) inTheWay(mg *v1alpha1.RestApi, h string) bool {
	for _, o := range c.Wanted() {
		if o.UID != mg.UID && passtest.Recorded(o) == h && strings.Contains(o.GetCondition(v1alpha1.TypeApplied).Message, "displayName") {
			return true
		}
	}
	for _, a := range c.Gateway.APIs() {
		if a.Handle != h && a.DisplayName == mg.Spec.ForProvider.DisplayName {
			return true
		}
		if a.Handle == h && c.maker[h] != mg.UID {
			return true
		}
	}
	return false
}

// checkFresh checks that what is in force is what the same specs give on a gateway
// that is new to them. Lawful differences are: IDs and times; virtual hosts, which
// a gateway fills in when it creates an API and not when it updates one; a default
// that is written out or left out; which of several that ask for one handle or displayName has it; and what has a stranger's
// mark, or came in the place of something that nobody knew of yet, and is left
// alone.
func (c *chaos) checkFresh(inForce []*v1alpha1.RestApi) {
	fresh := newBench(c.T)
	for _, mg := range inForce {
		anew := managedBooks(preset(c.handle(mg)), func(anew *v1alpha1.RestApi) { anew.Name, anew.UID, anew.Spec = mg.Name, mg.UID, mg.Spec })
		if err := fresh.Kube.Create(c.T.Context(), anew); err != nil {
			c.T.Fatal(err)
		}
		fresh.settle(anew)
	}
	for _, want := range fresh.Gateway.APIs() {
		got, _ := c.Gateway.API(want.Handle)
		if diff := cmp.Diff(lasting(want), lasting(got)); diff != "" {
			c.T.Errorf("%s is not as a fresh apply has it: -want, +got:\n%s", want.Handle, diff)
		}
	}
}

// lasting is what is the same in every API of one spec.
func lasting(a emulator.API) map[string]any {
	out := maps.Clone(a.Document)
	delete(out, "status")
	s, _ := out["spec"].(map[string]any)
	s = maps.Clone(s)
	if v, _ := s["vhosts"].(map[string]any); v["main"] == "*" {
		delete(s, "vhosts")
	}
	if s["deploymentState"] == "deployed" {
		delete(s, "deploymentState")
	}
	out["spec"], out["deployed"] = s, a.Deployed
	return out
}
