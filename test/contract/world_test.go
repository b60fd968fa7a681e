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
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/controlplane"
	"github.com/crossplane-contrib/provider-apiplatform/test/narrow"
)

const (
	// poll is the drift interval of the providers under test.
	poll = 300 * time.Millisecond
	// patience is how long a test waits for what must come true.
	patience = 60 * time.Second
	// stopPatience is how long a provider may take to end.
	stopPatience = 20 * time.Second

	user, password = "admin", "correct horse battery staple"
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apis.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// A world is a gateway, a namespace whose ProviderConfig leads there, and a
// provider for that namespace.
type world struct {
	t     *testing.T
	gw    *emulator.Server
	plane *controlplane.ControlPlane
	kube  client.Client
	ns    string
	stop  func()

	// inPlace is true if the gateway can change plan and token in place.
	inPlace bool

	// wide is true if the provider is shown all namespaces, and not the world's alone.
	wide bool

	// configure changes the options of the providers that are started. Optional.
	configure func(o *controller.Options)
}

// inBoth runs a test in a world of each generation.
func inBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	for name, g := range map[string]emulator.Generation{"Legacy": emulator.Legacy, "InPlace": emulator.InPlace} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, emulator.Options{Generation: g}))
		})
	}
}

// in runs a test in a world of one generation.
func in(t *testing.T, g emulator.Generation, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	test(t, newWorld(t, emulator.Options{Generation: g}))
}

func newWorld(t *testing.T, o emulator.Options) *world {
	t.Helper()
	return newWorldOn(t, shared.plane, shared.kube, o)
}

// newWorldOn a control plane, which a client leads to.
func newWorldOn(t *testing.T, plane *controlplane.ControlPlane, kube client.Client, o emulator.Options) *world {
	t.Helper()
	o.Users = []emulator.User{{Name: user, Password: password, Roles: []emulator.Role{emulator.RoleAdmin}}}
	gw, err := emulator.Start(shared.life, o)
	if err != nil {
		t.Fatal(err)
	}

	w := &world{t: t, gw: gw, plane: plane, kube: kube, inPlace: o.Generation == emulator.InPlace}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "contract-"}}
	w.create(ns)
	w.ns = ns.GetName()
	w.create(w.secret("gateway", map[string]string{"password": password}), &v1alpha1.ProviderConfig{
		ObjectMeta: w.named("gateway"),
		Spec: v1alpha1.ProviderConfigSpec{
			ConnectionSettings: v1alpha1.ConnectionSettings{Endpoint: gw.URL(), Timeout: &metav1.Duration{Duration: 2 * time.Second}},
			Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsBasic, Basic: &v1alpha1.BasicCredentials{
				Username: user, PasswordSecretRef: v1alpha1.SecretKeyReference{Name: "gateway", Key: "password"},
			}},
		},
	})
	w.start(w.ns)
	t.Cleanup(func() {
		if t.Failed() {
			w.dump()
		}
		w.stop()
		// A gateway takes a correlation ID for the identity of a change, and drops the
		// second change under one ID: the provider never sends any.
		if n := gw.Count(emulator.Match{Where: func(r emulator.Request) bool { return r.CorrelationIDGiven }}); n > 0 {
			t.Errorf("%d requests had a correlation ID", n)
		}
	})
	return w
}

// start a provider that reconciles the given namespaces.
func (w *world) start(namespaces ...string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o := controller.Options{
		Poll:                   poll,
		Resync:                 time.Hour,
		MinPoll:                time.Second,
		MaxReconcileRate:       1000,
		WatchNamespaces:        namespaces,
		ManagementPolicies:     true,
		MetricsBindAddress:     "0",
		HealthProbeBindAddress: "0",
		Version:                "test",
		Logger:                 logr.Discard(),
		Registerer:             prometheus.NewRegistry(),
		SkipNameValidation:     true,
	}
	if w.configure != nil {
		w.configure(&o)
	}
	cfg := w.plane.RESTConfig()
	if !w.wide {
		cfg = narrow.Config(cfg, w.ns)
	}
	mgr, err := controller.NewManager(ctx, cfg, o)
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mgr.Start(ctx); err != nil {
			w.t.Error("the provider ended:", err)
		}
	}()
	w.stop = func() {
		cancel()
		late := time.AfterFunc(stopPatience, func() {
			w.t.Errorf("the provider has not ended after %s", stopPatience)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		})
		defer late.Stop()
		<-done
	}
}

// reconfigure restarts the provider with other options, for the given namespaces
// or its own.
func (w *world) reconfigure(configure func(o *controller.Options), namespaces ...string) {
	w.t.Helper()
	w.stop()
	w.configure = configure
	if len(namespaces) == 0 {
		namespaces = []string{w.ns}
	}
	w.start(namespaces...)
}

// restart the provider.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start(w.ns)
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.ns, Name: name}
}

func (w *world) secret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: w.named(name), StringData: data}
}

func (w *world) spec() xpv2.ManagedResourceSpec {
	return xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "gateway"}}
}

// api is a RestApi that offers plans by their names at the gateway.
func (w *world) api(name string, plans ...gatewayv1alpha1.PlanName) *gatewayv1alpha1.RestApi {
	url := "http://upstream.example.org"
	get := gatewayv1alpha1.Operation{Method: ptr(gatewayv1alpha1.HTTPMethod("GET")), Path: ptr("/")}
	return &gatewayv1alpha1.RestApi{
		ObjectMeta: w.named(name),
		Spec: gatewayv1alpha1.RestApiSpec{
			ManagedResourceSpec: w.spec(),
			ForProvider: gatewayv1alpha1.RestApiParameters{
				DisplayName: name, Version: "v1.0", Context: "/" + name, SubscriptionPlans: plans,
				Upstream:   gatewayv1alpha1.RestApiUpstreams{Main: gatewayv1alpha1.Upstream{URL: &url}},
				Operations: []gatewayv1alpha1.Operation{get},
			},
		},
	}
}

// plan is a SubscriptionPlan.
func (w *world) plan(name, planName string) *gatewayv1alpha1.SubscriptionPlan {
	return &gatewayv1alpha1.SubscriptionPlan{
		ObjectMeta: w.named(name),
		Spec: gatewayv1alpha1.SubscriptionPlanSpec{
			ManagedResourceSpec: w.spec(),
			ForProvider:         gatewayv1alpha1.SubscriptionPlanParameters{PlanName: planName},
		},
	}
}

// subscription is a Subscription of an application to an API by its handle, with
// the token in the Secret of the same name.
func (w *world) subscription(name, api string, change ...func(*gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
	app := "app-" + name
	s := &gatewayv1alpha1.Subscription{
		ObjectMeta: w.named(name),
		Spec: gatewayv1alpha1.SubscriptionSpec{
			ManagedResourceSpec: w.spec(),
			ForProvider: gatewayv1alpha1.SubscriptionParameters{
				APIID: &api, ApplicationID: &app,
				SubscriptionTokenSecretRef: &gatewayv1alpha1.TokenSecretReference{Name: name},
			},
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// subscribed is a Subscription that is ready, on an API made by hand.
func (w *world) subscribed(name string, change ...func(*gatewayv1alpha1.Subscription)) *gatewayv1alpha1.Subscription {
	w.t.Helper()
	if _, ok := w.gw.API("api"); !ok {
		w.gw.AddAPI("api")
	}
	s := w.subscription(name, "api", change...)
	w.create(w.secret(name, map[string]string{"token": "token-of-" + name}), s)
	w.ready(s)
	return s
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Create(w.t.Context(), o); err != nil {
			w.t.Fatalf("cannot create %T %s: %v", o, o.GetName(), err)
		}
	}
}

// edit an object until the API server accepts it.
func edit[T client.Object](w *world, o T, change func(T)) {
	w.t.Helper()
	if err := tryEdit(w, o, change); err != nil {
		w.t.Fatalf("cannot edit %T %s: %v", o, o.GetName(), err)
	}
}

func tryEdit[T client.Object](w *world, o T, change func(T)) error {
	for {
		if err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change(o)
		if err := w.kube.Update(w.t.Context(), o); !kerrors.IsConflict(err) {
			return err
		}
	}
}

func (w *world) delete(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Delete(w.t.Context(), o); err != nil {
			w.t.Fatalf("cannot delete %T %s: %v", o, o.GetName(), err)
		}
	}
}

// gone waits until objects are gone.
func (w *world) gone(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		w.eventually(fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
			err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
			if kerrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is there (%w): %v", err, conditionsOf(o))
		})
	}
}

// ready waits until managed resources are ready, synced, and their current
// generation was looked at.
func (w *world) ready(objects ...resource.Managed) {
	w.t.Helper()
	for _, o := range objects {
		w.eventually(fmt.Sprintf("%T %s is ready", o, o.GetName()), func() error {
			if err := w.get(o); err != nil {
				return err
			}
			for _, t := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, gatewayv1alpha1.TypeApplied} {
				c := o.GetCondition(t)
				if c.Status != corev1.ConditionTrue || t == xpv2.TypeSynced && c.ObservedGeneration != o.GetGeneration() {
					return fmt.Errorf("conditions: %s", conditionsOf(o))
				}
			}
			return nil
		})
	}
}

// refused waits until a managed resource says with the given reason that what it
// asks for is not applied, and returns the message.
func (w *world) refused(o resource.Managed, reason xpv2.ConditionReason) string {
	w.t.Helper()
	message := ""
	w.eventually(fmt.Sprintf("%T %s is refused: %s", o, o.GetName(), reason), func() error {
		if err := w.get(o); err != nil {
			return err
		}
		c := o.GetCondition(gatewayv1alpha1.TypeApplied)
		if c.Status == corev1.ConditionTrue || c.Reason != reason || o.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue && o.GetDeletionTimestamp() == nil && len(o.GetManagementPolicies()) == 0 {
			return fmt.Errorf("conditions: %s", conditionsOf(o))
		}
		message = c.Message
		return nil
	})
	return message
}

func (w *world) get(o client.Object) error {
	return w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
}

// eventually waits until a condition holds.
func (w *world) eventually(what string, holds func() error) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("waited %s in vain until %s: %v", patience, what, err)
		case <-w.t.Context().Done():
			w.t.Fatalf("the test ended while it waited until %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// polled waits until the gateway was read the given number of times more about an
// object, by itself or as one of a list that serves all of its kind, so that what the
// provider would do on a poll it has done.
func (w *world) polled(id string, times int) {
	w.t.Helper()
	w.polledAt(w.gw, id, times)
}

// polledAt is polled, for another gateway.
func (w *world) polledAt(gw *emulator.Server, id string, times int) {
	w.t.Helper()
	if id == "" {
		w.t.Fatal("what has no ID yet is not read")
	}
	match := looks(gw, id)
	before := gw.Count(match)
	w.eventually(fmt.Sprintf("%q is read %d more times", id, times), func() error {
		if n := gw.Count(match) - before; n < times {
			return fmt.Errorf("it was read %d times", n)
		}
		return nil
	})
}

// looks are the requests that read an object: those for it alone, and lists of all
// there are of its kind. What is not there is a subscription.
func looks(gw *emulator.Server, id string) emulator.Match {
	of := emulator.Subscriptions
	if _, ok := gw.API(id); ok {
		of = emulator.RestAPIs
	}
	if _, ok := gw.Plan(id); ok {
		of = emulator.SubscriptionPlans
	}
	return emulator.Match{Method: http.MethodGet, Kind: of, Where: func(r emulator.Request) bool {
		return r.ID == id || r.ID == "" && len(r.Query) == 0
	}}
}

// writes are how many writes the gateway has seen.
func (w *world) writes() int { return len(w.gw.Requests(emulator.Match{Writes: true})) }

// only returns the one subscription at the gateway.
func (w *world) only() emulator.Subscription {
	w.t.Helper()
	all := w.gw.Subscriptions()
	if len(all) != 1 {
		w.t.Fatalf("want exactly one subscription at the gateway, got %d: %+v", len(all), all)
	}
	return all[0]
}

// dump what is there, when a test failed.
func (w *world) dump() {
	l := &gatewayv1alpha1.SubscriptionList{}
	_ = w.kube.List(context.Background(), l, client.InNamespace(w.ns))
	for i := range l.Items {
		w.t.Logf("Subscription %s: annotations %v, conditions %s, at provider %+v", l.Items[i].GetName(), l.Items[i].GetAnnotations(), conditionsOf(&l.Items[i]), l.Items[i].Status.AtProvider)
	}
	for _, s := range w.gw.Subscriptions() {
		w.t.Logf("at the gateway: %+v", s)
	}
	for _, r := range w.gw.Requests(emulator.Match{}) {
		w.t.Logf("request: %+v", r)
	}
}

// conditionsOf an object, in a few words.
func conditionsOf(o client.Object) string {
	c, ok := o.(interface {
		GetCondition(t xpv2.ConditionType) xpv2.Condition
	})
	if !ok {
		return ""
	}
	var out []string
	for _, t := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, gatewayv1alpha1.TypeApplied, gatewayv1alpha1.TypeTokenInForce, gatewayv1alpha1.TypeContested, gatewayv1alpha1.TypeDrifted} {
		if is := c.GetCondition(t); is.Status != corev1.ConditionUnknown || is.Reason != "" {
			out = append(out, fmt.Sprintf("%s=%s (%s: %s)", t, is.Status, is.Reason, is.Message))
		}
	}
	return strings.Join(out, ", ")
}

func externalName(o client.Object) string { return meta.GetExternalName(o) }

func ptr[T any](v T) *T { return &v }

// events are the reasons of the events about an object.
func (w *world) events(o client.Object) []string {
	w.t.Helper()
	l := &corev1.EventList{}
	if err := w.kube.List(w.t.Context(), l, client.InNamespace(w.ns)); err != nil {
		w.t.Fatal(err)
	}
	var reasons []string
	for _, e := range l.Items {
		if e.InvolvedObject.UID == o.GetUID() && !slices.Contains(reasons, e.Reason) {
			reasons = append(reasons, e.Reason)
		}
	}
	return reasons
}
