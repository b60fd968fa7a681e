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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
	theAPI, anotherAPI = "api", "another-api"
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

	// bystanders are subscriptions at the gateway that are none of the provider's
	// business, by ID, and their tokens.
	bystanders map[string]bystander

	// s is the Subscription that the test is about.
	s *gatewayv1alpha1.Subscription

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
	// created is true if the gateway has, or is still going to have, a subscription
	// that the provider asked for.
	created bool
	// recorded is true if the Subscription records what it holds, and reported if it
	// shows it.
	recorded, reported bool
	// unsure is true if the provider may not know any more that the token is in force.
	// Where it can send the token again it does. It is about all deaths.
	unsure bool
	// editRefused is true if the API server refused an edit of the spec thereafter,
	// since the subscription is deployed.
	editRefused bool
}

type bystander struct {
	is    emulator.Subscription
	token string
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
	c := &scene{t: t, kube: shared.kube, gw: gw, inPlace: g == emulator.InPlace, dir: t.TempDir(), trap: &trap{}, bystanders: map[string]bystander{}}

	target, err := url.Parse(gw.URL())
	if err != nil {
		t.Fatal(err)
	}
	c.toGateway = newRelay(t, relay{to: gatewayName, trap: c.trap, target: target, transport: &http.Transport{}, counts: isWrite, looks: looksForSubscription})
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crash-"}}
	c.create(ns)
	c.ns = ns.GetName()
	c.sluices = newSluices(c.ns)
	c.toPlane = newRelay(t, relay{to: "API server", trap: c.trap, target: shared.server, transport: shared.transport, counts: changesCluster, sluices: c.sluices})
	c.create(c.secret("gateway", "password", password), c.secret(tokenSecret, "token", firstToken), c.providerConfig())
	c.furnish()
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
	gold, _ := c.gw.AddPlan("Gold")
	silver, _ := c.gw.AddPlan("Silver")
	c.gold, c.silver = gold.ID, silver.ID
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
	c.bystanders[is.ID] = bystander{is: is, token: token}
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
	c.kill()
	at := c.trap.victim()
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
	c.death.created = len(c.mine()) > 0
	if err := c.get(c.s); err != nil {
		if !kerrors.IsNotFound(err) {
			c.t.Fatal(err)
		}
		return
	}
	c.death.reported = c.s.Status.AtProvider.ID != ""
	c.death.recorded = c.s.GetAnnotations()[gatewayv1alpha1.AnnotationBaseline] != ""
}

// subscription is the Subscription that the test is about, not yet created.
func (c *scene) subscription() *gatewayv1alpha1.Subscription {
	return &gatewayv1alpha1.Subscription{
		ObjectMeta: c.named("one"),
		Spec: gatewayv1alpha1.SubscriptionSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "gateway"}},
			ForProvider: gatewayv1alpha1.SubscriptionParameters{
				APIID: ptr(theAPI), ApplicationID: ptr(application), SubscriptionPlanID: ptr(c.gold),
				SubscriptionTokenSecretRef: &gatewayv1alpha1.TokenSecretReference{Name: tokenSecret},
			},
		},
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

func (c *scene) delete() {
	c.t.Helper()
	if err := c.kube.Delete(c.t.Context(), c.s); client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
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

// mine are the subscriptions at the gateway that are the provider's business.
func (c *scene) mine() []emulator.Subscription {
	var mine []emulator.Subscription
	for _, s := range c.gw.Subscriptions() {
		if _, ok := c.bystanders[s.ID]; !ok {
			mine = append(mine, s)
		}
	}
	return mine
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
	if c.s != nil && c.kube.Get(ctx, client.ObjectKeyFromObject(c.s), c.s) == nil {
		c.s.SetFinalizers(nil)
		_ = c.kube.Update(ctx, c.s)
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
	if c.get(c.s) != nil {
		return
	}
	for range calmTries {
		c.trap.arm(0, before, c.kill)
		reads := emulator.Match{Method: http.MethodGet, Kind: emulator.Subscriptions}
		n := c.gw.Count(reads)
		c.eventually("the gateway is polled twice", func() error {
			if more := c.gw.Count(reads) - n; more < 2 {
				return errors.Errorf("it was polled %d times", more)
			}
			return nil
		})
		c.trap.disarm()
		if len(c.trap.seen()) == 0 {
			return
		}
	}
	c.t.Errorf("the provider does not stop writing: %v", c.trap.seen())
}

// calmTries are how many times it may write before that.
const calmTries = 10
