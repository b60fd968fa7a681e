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

package crash

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// A loss is an event that the provider does not get to see, and what must come of
// it once it sees again what is there.
type loss struct {
	name string

	// about and alike are as of a journey, and so is shape.
	about func(c *scene) []resource.ModernManaged
	alike bool
	shape func(c *scene)

	// before is done, and waited for, before anything gets lost. The provider runs and
	// reaches the gateway, and what the test is about is not yet created.
	before func(c *scene)

	// do what causes the event.
	do func(c *scene)

	// resource, event and of say which event gets lost.
	resource string
	event    apiwatch.EventType
	of       func(c *scene) client.Object

	// polls tells that the provider polls the gateway all the time.
	polls bool

	// settled tells what is still missing, or nil.
	settled func(c *scene) error
}

func losses() []loss {
	return []loss{
		{name: "TokenEdited", before: createdFirst, do: editToken, resource: secretsWatch, event: apiwatch.Modified, of: theToken, polls: true, settled: tokenEdited},
		{name: "TokenDeleted", before: createdFirst, do: deleteToken, resource: secretsWatch, event: apiwatch.Deleted, of: theToken, polls: true, settled: tokenMissing},
		{name: "TokenCreated", before: blockedByToken, do: createToken, resource: secretsWatch, event: apiwatch.Added, of: theToken, settled: created},
		{name: "ConnectionSecretDeleted", shape: generated, before: createdFirst, do: deletePublished, resource: secretsWatch, event: apiwatch.Deleted, of: thePublished, polls: true, settled: publishedAgain},
		{name: "PasswordMended", before: blockedByPassword, do: mendPassword, resource: secretsWatch, event: apiwatch.Modified, of: thePassword, settled: created},
		{name: "ConfigMended", before: blockedByConfig, do: mendConfig, resource: configsWatch, event: apiwatch.Modified, of: theConfig, settled: created},
		{name: "ConfigCreated", before: blockedWithoutConfig, do: createConfig, resource: configsWatch, event: apiwatch.Added, of: theConfig, settled: created},
		{name: "SubscriptionEdited", before: createdFirst, do: changePlan, resource: subscriptionsWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: planChanged},
		{name: "SubscriptionToBeDeleted", before: createdFirst, do: (*scene).delete, resource: subscriptionsWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: (*scene).gone},
		{name: "APIEdited", about: anAPI, alike: true, before: createdFirst, do: changeAPI, resource: apisWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: apiThere},
		{name: "APIToBeDeleted", about: anAPI, alike: true, before: createdFirst, do: (*scene).delete, resource: apisWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: (*scene).gone},
		{name: "PlanEdited", about: aPlan, alike: true, before: createdFirst, do: changeThePlan, resource: plansWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: planThere},
		{name: "PlanToBeDeleted", about: aPlan, alike: true, before: createdFirst, do: (*scene).delete, resource: plansWatch, event: apiwatch.Modified, of: theTopic, polls: true, settled: (*scene).gone},
	}
}

func theToken(c *scene) client.Object { return &corev1.Secret{ObjectMeta: c.named(tokenSecret)} }

func thePublished(c *scene) client.Object {
	return &corev1.Secret{ObjectMeta: c.named(connectionSecret)}
}

func thePassword(c *scene) client.Object { return &corev1.Secret{ObjectMeta: c.named("gateway")} }

func theConfig(c *scene) client.Object {
	return &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}
}

func theTopic(c *scene) client.Object { return c.about[0] }

// createdFirst: all is ready.
func createdFirst(c *scene) {
	c.ask()
	c.eventually("all is ready", c.asAsked)
	c.calm()
	c.oldToken = c.published()
}

// blocked: the Subscription was looked at, and nothing could be done.
func blocked(c *scene) {
	c.ask()
	c.eventually("it is looked at", func() error {
		return errors.Join(c.fresh(), c.is(xpv2.TypeSynced, corev1.ConditionFalse, ""))
	})
	if mine := c.mine(); len(mine) > 0 {
		c.t.Fatalf("want nothing created yet, got %+v", mine)
	}
}

func blockedByToken(c *scene) {
	deleteToken(c)
	blocked(c)
}

func blockedByPassword(c *scene) {
	setPassword(c, "wrong")
	c.disconnected()
	blocked(c)
}

func blockedByConfig(c *scene) {
	setUser(c, "nobody")
	c.disconnected()
	blocked(c)
}

func blockedWithoutConfig(c *scene) {
	c.discard(theConfig(c))
	c.eventually("the ProviderConfig is gone", func() error {
		if err := c.get(theConfig(c)); !kerrors.IsNotFound(err) {
			return errors.Errorf("it is not (%v)", err)
		}
		return nil
	})
	blocked(c)
}

// disconnected waits until the gateway does not let the provider in any more.
func (c *scene) disconnected() {
	c.t.Helper()
	c.eventually("the gateway does not let the provider in", func() error {
		pc := &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}
		if err := c.get(pc); err != nil {
			return err
		}
		if is := pc.GetCondition(v1alpha1.TypeAuthenticated); is.Status != corev1.ConditionFalse {
			return errors.Errorf("it does: %+v", is)
		}
		return nil
	})
}

// discard an object.
func (c *scene) discard(o client.Object) {
	c.t.Helper()
	if err := c.kube.Delete(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
}

func deleteToken(c *scene) { c.discard(theToken(c)) }

func createToken(c *scene) { c.create(c.secret(tokenSecret, "token", firstToken)) }

func deletePublished(c *scene) { c.discard(thePublished(c)) }

func setPassword(c *scene, to string) {
	mustEdit(c, &corev1.Secret{ObjectMeta: c.named("gateway")}, func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte(to)} })
}

func mendPassword(c *scene) { setPassword(c, password) }

func setUser(c *scene, to string) {
	mustEdit(c, &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}, func(pc *v1alpha1.ProviderConfig) { pc.Spec.Credentials.Basic.Username = to })
}

func mendConfig(c *scene) { setUser(c, user) }

func createConfig(c *scene) { c.create(c.providerConfig()) }

// tokenMissing: what the gateway has stays as it is.
func tokenMissing(c *scene) error {
	return all(c.holds(theAPI, firstToken), c.hasPlan(c.gold), c.refused(gatewayv1alpha1.ReasonTokenSecretMissing))
}

// publishedAgain: where the token can be replaced it is, since nobody has it any
// more.
func publishedAgain(c *scene) error {
	if c.inPlace {
		return all(c.handedOut(theAPI, c.oldToken), c.ready(), c.inForce())
	}
	return all(c.holds(theAPI, c.oldToken), c.refused(gatewayv1alpha1.ReasonLegacyGateway))
}

// An event that is lost is made up for as soon as the watch is made anew: where it
// was if nothing came after the event, or else from a list. Until then the
// provider works with what it saw, and does no harm.
//
// contract: S23, S26, S27, A3, A6
// case: W5, A9, F8
func TestLostEvent(t *testing.T) {
	t.Parallel()
	for _, l := range losses() {
		for name, g := range generationsOf(journey{name: l.name, alike: l.alike}) {
			for _, silence := range silences(l.name + name) {
				then := map[bool]string{true: "Resumed", false: "Listed"}[silence]
				t.Run(l.name+"/"+name+"/"+then, func(t *testing.T) {
					t.Parallel()
					lose(t, l, g, silence)
				})
			}
		}
	}
}

// silences are whether nothing comes after what is lost: one of them, unless all
// are tried.
func silences(name string) []bool {
	if shared.all {
		return []bool{true, false}
	}
	return []bool{dice(name).IntN(2) == 0}
}

// lose an event.
func lose(t *testing.T, l loss, g emulator.Generation, silence bool) {
	c := newScene(t, g)
	defer c.leave()
	c.set(l.about, l.shape)
	c.start(point{})
	c.connected()
	l.before(c)

	// Nothing gets through until it is known which event it is.
	c.sluices.shutDown(l.resource)
	l.do(c)
	theft := theft{resource: l.resource, namespace: c.ns, name: l.of(c).GetName(), event: l.event, silence: silence}
	if o := l.of(c); l.event != apiwatch.Deleted {
		if err := c.get(o); err != nil {
			t.Fatal(err)
		}
		theft.version = o.GetResourceVersion()
	}
	lost := c.sluices.steal(theft)
	c.sluices.open()
	c.eventually("the event is lost", func() error {
		select {
		case <-lost:
			return nil
		default:
			return errors.New("it is not")
		}
	})
	shared.thefts.Add(1)
	c.tell("lost that %s %s was %s", l.resource, theft.name, l.event)

	if l.polls {
		c.polledTwice()
	}
	c.sluices.cut(l.resource, !silence)
	settled := func() error { return l.settled(c) }
	c.eventually("all is as it should be", settled)
	c.arrive(settled)
}
