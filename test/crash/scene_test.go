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
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/process"
)

const (
	// patience is how long a test waits for what must come true. A create that was
	// not answered is waited for for half a minute.
	patience = 4 * time.Minute
	// tick is how often it looks.
	tick = 100 * time.Millisecond
	// timeout of calls to the gateway.
	timeout = 2 * time.Second

	user, password = "admin", "correct horse battery staple"

	// gatewayName is what the gateway is called in the list of writes.
	gatewayName = "gateway"

	// Names of what is there.
	theName            = "one"
	theAPI, anotherAPI = "api", "another-api"
	chosenHandle       = "chosen-by-the-user"
	thePlan            = "Platinum"
	renamedPlan        = "Diamond"
	takenPlan          = "Gold"
	application        = "app-one"
	tokenSecret        = "token"
	connectionSecret   = "connection"
	firstToken         = "token-of-one"
	editedToken        = "another-token-of-one"
	rotation           = "asked-for"
)

// A scene is a gateway, a namespace whose ProviderConfig leads there, and a
// provider for that namespace which reaches both the gateway and the API server
// through relays that can kill it.
type scene struct {
	t       *testing.T
	kube    client.Client
	gw      *emulator.Server
	inPlace bool
	ns      string
	dir     string

	trap               *trap
	sluices            *sluices
	toGateway, toPlane *relay

	// mu is for what the trap may kill while it is being started.
	mu       sync.Mutex
	provider *process.Process

	// gold and silver are IDs of plans.
	gold, silver string

	// others are the things at the gateway that are none of the provider's business,
	// and tokens those of the subscriptions among them, by ID.
	others map[thing]any
	tokens map[string]string

	// about is what the test is about: some of what comes next. It is none of them as
	// long as nothing was asked for.
	about []resource.ModernManaged
	s     *gatewayv1alpha1.Subscription
	a     *gatewayv1alpha1.RestApi
	p     *gatewayv1alpha1.SubscriptionPlan

	// asked is how often the gateway was asked to write something before the journey.
	asked int

	// story is what happened to the provider so far.
	story []string

	// oldToken is the generated one that was asked to be replaced.
	oldToken string

	death death
}

// A death is what was so when the provider was killed for the first time, which is
// when people edit something.
type death struct {
	// happened is false as long as it was not.
	happened bool
	// created is true if the gateway has, or is still going to have, something that the
	// provider asked for.
	created bool
	// recorded is true if it is recorded in the cluster what is held, and reported if
	// it is shown.
	recorded, reported bool
	// unsure is true if the provider may not know any more that the token is in force.
	// Where it can send the token again it does. It is about all deaths.
	unsure bool
	// editRefused is true if the API server refused an edit of the spec thereafter,
	// since the subscription is deployed.
	editRefused bool
}

// newScene sets the scene, without a provider. Leave it.
func newScene(t *testing.T, g emulator.Generation) *scene {
	t.Helper()
	gw, err := emulator.Start(t.Context(), emulator.Options{
		Generation: g,
		GatewayID:  "gateway-of-" + strings.ReplaceAll(t.Name(), "/", "-"),
		Users:      []emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &scene{t: t, kube: shared.kube, gw: gw, inPlace: g == emulator.InPlace, dir: t.TempDir(), trap: &trap{}, tokens: map[string]string{}}

	target, err := url.Parse(gw.URL())
	if err != nil {
		t.Fatal(err)
	}
	c.toGateway = newRelay(t, relay{to: gatewayName, trap: c.trap, target: target, transport: &http.Transport{}, counts: isWrite, looks: looksFor})
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crash-"}}
	c.create(ns)
	c.ns = ns.GetName()
	c.sluices = newSluices(c.ns)
	c.toPlane = newRelay(t, relay{to: "API server", trap: c.trap, target: shared.server, transport: shared.transport, counts: changesCluster, sluices: c.sluices, shown: c.ns})
	c.create(c.secret("gateway", "password", password), c.secret(tokenSecret, "token", firstToken), c.providerConfig())
	c.furnish()
	c.s, c.a, c.p = c.subscription(), c.restAPI(), c.plan()
	return c
}

// providerConfig is the one that leads to the gateway.
func (c *scene) providerConfig() *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{
		ObjectMeta: c.named("gateway"),
		Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: c.toGateway.URL, Timeout: &metav1.Duration{Duration: timeout}},
			Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
				Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"},
			}},
		},
	}
}

// furnish the gateway with what others made by hand.
func (c *scene) furnish() {
	c.t.Helper()
	for _, handle := range []string{theAPI, anotherAPI} {
		if _, ok := c.gw.AddAPI(handle); !ok {
			c.t.Fatalf("cannot add API %s", handle)
		}
	}
	gold, _ := c.gw.AddPlan(takenPlan)
	silver, _ := c.gw.AddPlan("Silver")
	c.gold, c.silver = gold.ID, silver.ID
	c.others = c.things()
	c.standBy(emulator.Subscription{APIHandle: theAPI, ApplicationID: "stranger", SubscriptionPlanID: c.gold}, "token-of-a-stranger")
	c.standBy(emulator.Subscription{APIHandle: anotherAPI, ApplicationID: application, SubscriptionPlanID: c.gold}, "token-elsewhere")
}

// standBy puts a subscription at the gateway that nobody may touch.
func (c *scene) standBy(s emulator.Subscription, token string) {
	c.t.Helper()
	is, ok := c.gw.AddSubscription(s, token)
	if !ok {
		c.t.Fatalf("cannot add a subscription to %s", s.APIHandle)
	}
	c.tokens[is.ID] = token
	c.others[thing{emulator.Subscriptions, is.ID}] = is
}

// start the provider, to be killed at the given point since it started.
func (c *scene) start(p point) {
	c.t.Helper()
	const name = "relay"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{Server: c.toPlane.URL}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	cfg.CurrentContext = name
	kubeconfig := filepath.Join(c.dir, "kubeconfig")
	err := clientcmd.WriteToFile(*cfg, kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	c.trap.arm(p.n, p.moment, c.kill)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provider, err = process.Start(c.t.Context(), process.Options{
		Name:    "the provider",
		Path:    shared.provider,
		Dir:     c.dir,
		Env:     []string{"KUBECONFIG=" + kubeconfig},
		LogPath: filepath.Join(c.dir, "provider.log"),
		Args: []string{
			"--debug",
			"--poll=1s",
			"--min-poll=1s",
			"--watch-namespaces=" + c.ns,
			"--metrics-bind-address=0",
			"--health-probe-bind-address=0",
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// kill the provider.
func (c *scene) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provider.Stop(0)
}

// connected waits until the provider is at work.
func (c *scene) connected() {
	c.t.Helper()
	c.eventually("the provider reaches the gateway", func() error {
		pc := &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}
		if err := c.get(pc); err != nil {
			return err
		}
		if is := pc.GetCondition(xpv2.TypeReady); is.Status != corev1.ConditionTrue {
			return errors.Errorf("it is not ready: %+v", is)
		}
		return nil
	})
}

// die waits until the provider was killed. If it comes to rest before, it is
// killed then.
func (c *scene) die(p point, settled func() error) {
	c.t.Helper()
	c.eventually("the provider is killed or at rest", func() error {
		select {
		case <-c.trap.sprang():
			return nil
		default:
			return settled()
		}
	})
	c.trap.disarm()
	at := c.trap.victim()
	if at != nil {
		// It may have come to rest while it was about to be killed. Who comes next is not
		// to be killed in its place.
		<-c.trap.sprang()
	}
	c.kill()
	if at == nil {
		shared.rests.Add(1)
		c.tell("killed at rest")
	} else {
		shared.kills.Add(1)
		c.tell("killed %s %s", p.moment, at)
	}
	onItsWay := p.moment == late && at != nil && at.To == gatewayName && strings.HasPrefix(at.Line, http.MethodPost)
	first := !c.death.happened
	c.death.happened = true
	if onItsWay || !first || c.versionLost() {
		c.death.unsure = !c.inPlace
	}
	if first {
		c.lookAround()
		c.death.created = c.death.created || onItsWay
	}
}

// versionLost tells whether the connection Secret was written without the
// Subscription knowing: what has the token then is another version of it.
func (c *scene) versionLost() bool {
	c.t.Helper()
	s := &corev1.Secret{ObjectMeta: c.named(connectionSecret)}
	if c.get(s) != nil || c.get(c.s) != nil {
		return false
	}
	known := c.s.GetAnnotations()[gatewayv1alpha1.AnnotationTokenMemory]
	if v := c.s.Status.AtProvider.Token; v != nil {
		known = v.ResourceVersion
	}
	return s.Data["subscriptionId"] != nil && !strings.Contains(known, s.GetResourceVersion())
}

// tell what happened, once the test failed.
func (c *scene) tell(format string, a ...any) {
	for i, w := range c.trap.seen() {
		c.story = append(c.story, fmt.Sprintf("write %d: %s", i+1, w))
	}
	c.story = append(c.story, fmt.Sprintf(format, a...))
}

// lookAround what is there while the provider is dead.
func (c *scene) lookAround() {
	c.t.Helper()
	c.death.created = len(made[any](c)) > 0
	switch err := c.fresh(); {
	case kerrors.IsNotFound(err):
		return
	case err != nil:
		c.t.Fatal(err)
	}
	c.death.reported, c.death.recorded = true, true
	for _, s := range c.topics() {
		c.death.reported = c.death.reported && s.id != ""
		c.death.recorded = c.death.recorded && s.mg.GetAnnotations()[gatewayv1alpha1.AnnotationBaseline] != ""
	}
}

func (c *scene) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.ns, Name: name}
}

func (c *scene) secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: c.named(name), StringData: map[string]string{key: value}}
}

func (c *scene) create(objects ...client.Object) {
	c.t.Helper()
	for _, o := range objects {
		if err := c.kube.Create(c.t.Context(), o); err != nil {
			c.t.Fatalf("cannot create %T %s: %v", o, o.GetName(), err)
		}
	}
}

func (c *scene) get(o client.Object) error {
	return c.kube.Get(c.t.Context(), client.ObjectKeyFromObject(o), o)
}

// fresh reads all that the test is about.
func (c *scene) fresh() error {
	for _, mg := range c.about {
		if err := c.get(mg); err != nil {
			return err
		}
	}
	return nil
}

// isAbout tells whether the test is about a managed resource.
func (c *scene) isAbout(mg resource.ModernManaged) bool { return slices.Contains(c.about, mg) }

// ask for what the test is about.
func (c *scene) ask() {
	c.t.Helper()
	for _, mg := range c.about {
		c.create(mg)
	}
}

// edit an object until the API server takes it, or refuses it.
func edit[T client.Object](c *scene, o T, change func(T)) error {
	for {
		if err := c.get(o); err != nil {
			return err
		}
		change(o)
		if err := c.kube.Update(c.t.Context(), o); !kerrors.IsConflict(err) {
			return err
		}
	}
}

// mustEdit an object.
func mustEdit[T client.Object](c *scene, o T, change func(T)) {
	c.t.Helper()
	if err := edit(c, o, change); err != nil {
		c.t.Fatalf("cannot edit %T %s: %v", o, o.GetName(), err)
	}
}

// delete all that the test is about.
func (c *scene) delete() {
	c.t.Helper()
	for _, mg := range c.about {
		if err := c.kube.Delete(c.t.Context(), mg); client.IgnoreNotFound(err) != nil {
			c.t.Fatal(err)
		}
	}
}

// published is the token in the connection Secret; empty if there is none.
func (c *scene) published() string {
	c.t.Helper()
	s := &corev1.Secret{ObjectMeta: c.named(connectionSecret)}
	if err := c.get(s); client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	return string(s.Data["token"])
}

// eventually waits until a condition holds, and sees to it that all is well
// meanwhile.
func (c *scene) eventually(what string, holds func() error) {
	c.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		err := holds()
		if wrong := c.wrong(); wrong != nil {
			c.t.Fatalf("while the test waited until %s: %v", what, wrong)
		}
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			c.t.Fatalf("waited %s in vain until %s: %v", patience, what, err)
		case <-c.t.Context().Done():
			c.t.Fatalf("the test ended while it waited until %s: %v", what, err)
		case <-ticker.C:
		}
	}
}

// leave the scene. It is not left to the end of the test, whose subtests may take
// their time.
func (c *scene) leave() {
	if c.t.Failed() {
		c.dump()
	}
	c.kill()
	c.tidyUp()
	c.sluices.open()
	c.toGateway.stop()
	c.toPlane.stop()
	c.gw.Close()
}

// tidyUp removes what a failed test left, so that it disturbs no other one.
func (c *scene) tidyUp() {
	ctx := context.Background()
	for _, mg := range c.about {
		if c.kube.Get(ctx, client.ObjectKeyFromObject(mg), mg) == nil {
			mg.SetFinalizers(nil)
			_ = c.kube.Update(ctx, mg)
		}
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: c.named("gateway")}
	if c.kube.Get(ctx, client.ObjectKeyFromObject(pc), pc) == nil {
		pc.SetFinalizers(nil)
		_ = c.kube.Update(ctx, pc)
	}
	if err := c.kube.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.ns}}); err != nil {
		c.t.Log("cannot delete the namespace:", err)
	}
}

func ptr[T any](v T) *T { return &v }

// calm waits until the provider has polled twice without a write. Where there is
// nothing to poll there is nothing to wait for.
func (c *scene) calm() {
	c.t.Helper()
	if c.fresh() != nil {
		return
	}
	for range calmTries {
		c.trap.arm(0, before, c.kill)
		c.polledTwice()
		c.trap.disarm()
		if len(c.trap.seen()) == 0 {
			return
		}
	}
	c.t.Errorf("the provider does not stop writing: %v", c.trap.seen())
}

// polledTwice waits until the gateway was asked twice about each topic.
func (c *scene) polledTwice() {
	c.t.Helper()
	began := map[emulator.Kind]int{}
	reads := func(at emulator.Kind) int {
		return c.gw.Count(emulator.Match{Method: http.MethodGet, Kind: at, Where: isAboutOne})
	}
	for _, s := range c.topics() {
		began[s.at] = reads(s.at)
	}
	c.eventually("the gateway is polled twice", func() error {
		for at, n := range began {
			if more := reads(at) - n; more < 2 {
				return errors.Errorf("its %s were polled %d times", at, more)
			}
		}
		return nil
	})
}

// isAboutOne tells whether a request is more than a question whether the gateway is
// there, for which APIs of a certain name are listed.
func isAboutOne(r emulator.Request) bool {
	return r.Kind != emulator.RestAPIs || r.ID != "" || len(r.Query) == 0
}

// calmTries are how many times it may write before that.
const calmTries = 10
