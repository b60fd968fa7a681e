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

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

// Names in examples/quickstart.
const (
	namespace       = "default"
	apiName         = "books-v1"
	bronze, gold    = "bronze", "gold"
	subscriptionRef = "web-shop"
	tokenSecret     = "web-shop-token" //nolint:gosec // The name of a Secret.
	passwordSecret  = "gateway-admin"
	passwordKey     = "password"
)

const (
	// soon is how long what the provider does at once may take.
	soon = 15 * time.Second
	// drift is how long it may take until what somebody did at the gateway is
	// set back.
	drift = 20 * time.Second
)

// A tale of a subscription, told on a sandbox.
type tale struct {
	box        *sandbox.Sandbox
	kube       client.Client
	gateway    *gateway.Client
	quickstart []*unstructured.Unstructured

	// subscriptionID at the gateway.
	subscriptionID string
	// legacy gateways cannot change plan and token in place.
	legacy bool
	// tokens that consumers send: the one in force, and the one before.
	token, oldToken string
	// changed is when the gateway was last seen to change the subscription.
	changed time.Time
	// refusal of the edit that had to be refused.
	refusal string
}

func newTale(box *sandbox.Sandbox) (*tale, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apis.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, errors.Wrap(err, "cannot build a scheme")
		}
	}
	kube, err := client.New(box.ControlPlane.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Wrap(err, "cannot build a client for the control plane")
	}
	endpoint, err := gateway.ParseEndpoint(box.Gateway.URL)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the gateway's URL")
	}
	g := gateway.New(gateway.Options{
		Endpoint: endpoint,
		Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
			r.SetBasicAuth(box.Gateway.Username, box.Gateway.Password)
			return nil
		}),
		Secrets:   []gateway.Secret{gateway.Secret(box.Gateway.Password)},
		UserAgent: "provider-apiplatform-demo",
	})
	objects, err := readObjects(filepath.Join(box.Root, "examples", "quickstart"))
	if err != nil {
		return nil, err
	}
	return &tale{box: box, kube: kube, gateway: g, quickstart: objects}, nil
}

// steps of the tale.
func (t *tale) steps() []step {
	return []step{
		{
			name:   "Apply examples/quickstart: a ClusterProviderConfig, two plans, an API, a token, a subscription",
			do:     t.apply,
			until:  t.allReady,
			within: 2 * soon,
			say:    t.whatTheGatewayHolds,
		},
		{
			name:   "Upgrade the subscription from Bronze to Gold, in place",
			skip:   t.inPlaceOnly,
			do:     t.upgrade,
			until:  t.planIs("Gold"),
			within: soon,
			say:    t.theSubscription("same ID, same token, another plan"),
		},
		{
			name:   "Rotate the token: edit the Secret",
			skip:   t.inPlaceOnly,
			do:     t.rotate,
			until:  t.tokenRotated,
			within: soon,
			say:    t.aboutTokens("the old token is refused, the new one is let through"),
		},
		{
			name:   "Somebody switches the subscription off at the gateway, behind our back",
			do:     t.switchOff,
			until:  t.statusIs(gateway.SubscriptionActive),
			within: drift,
			say:    t.theSubscription("set back"),
		},
		{
			name: "Try to give the subscription to another application, which no gateway can do",
			do:   t.illegalEdit,
			say:  t.refused,
		},
		{
			name:   "Delete the plan that is not used any more",
			do:     t.deleteSparePlan,
			until:  t.sparePlanGone,
			within: soon,
			say:    t.whatTheGatewayHolds,
		},
		{
			name:   "Revoke the subscription by an edit that also asks for the plan that is gone",
			do:     t.revokeWithoutPlan,
			until:  t.revokedWithoutPlan,
			within: soon,
			say:    t.revoked,
		},
		{
			name:   "Delete all of it",
			do:     t.deleteAll,
			until:  t.allGone,
			within: 2 * soon,
			say:    t.nothingLeft,
		},
	}
}

// apply the quickstart, with the endpoint and the credentials of the sandbox's
// gateway in the place of those in the example.
func (t *tale) apply(ctx context.Context) error {
	for _, o := range t.quickstart {
		o := o.DeepCopy()
		var err error
		switch {
		case o.GetKind() == v1alpha1.ClusterProviderConfigKind:
			err = errors.Join(
				unstructured.SetNestedField(o.Object, t.box.Gateway.URL, "spec", "endpoint"),
				unstructured.SetNestedField(o.Object, t.box.Gateway.Username, "spec", "credentials", "basic", "username"),
			)
		case o.GetName() == passwordSecret:
			err = unstructured.SetNestedField(o.Object, t.box.Gateway.Password, "stringData", passwordKey)
		case o.GetName() == tokenSecret:
			t.token, _, err = unstructured.NestedString(o.Object, "stringData", gatewayv1alpha1.DefaultTokenKey)
		}
		if err != nil {
			return errors.Wrapf(err, "cannot adapt %s %s", o.GetKind(), o.GetName())
		}
		if err := t.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("sandbox"), client.ForceOwnership); err != nil {
			return errors.Wrapf(err, "cannot apply %s %s", o.GetKind(), o.GetName())
		}
	}
	return nil
}

// allReady tells whether all of the quickstart is Ready, and remembers what
// the gateway made of it.
func (t *tale) allReady(ctx context.Context) error {
	for _, o := range t.quickstart {
		if o.GetKind() == "Secret" {
			continue
		}
		if err := t.ready(ctx, o); err != nil {
			return err
		}
	}
	sub := &gatewayv1alpha1.Subscription{}
	if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: subscriptionRef}, sub); err != nil {
		return err
	}
	t.subscriptionID = sub.GetAnnotations()["crossplane.io/external-name"]
	atGateway, err := t.gateway.GetSubscription(ctx, t.subscriptionID)
	if err != nil {
		return err
	}
	t.changed = atGateway.UpdatedAt
	t.legacy = atGateway.ID != *sub.Spec.ForProvider.ExternalRefID
	return nil
}

// ready tells whether an object is Ready, else what it says about itself.
func (t *tale) ready(ctx context.Context, o *unstructured.Unstructured) error {
	got := o.DeepCopy()
	if err := t.kube.Get(ctx, client.ObjectKeyFromObject(o), got); err != nil {
		return err
	}
	var status struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &status); err != nil {
		return errors.Wrapf(err, "cannot read the conditions of %s %s", o.GetKind(), o.GetName())
	}
	ready := status.Status.GetCondition(xpv2.TypeReady)
	if ready.Status == corev1.ConditionTrue {
		return nil
	}
	what := "it has no conditions yet"
	if len(status.Status.Conditions) > 0 {
		what = sentence(status.Status.Conditions)
	}
	return errors.Errorf("%s %s is not Ready: %s", o.GetKind(), o.GetName(), what)
}

// sentence that says what conditions say.
func sentence(conditions []xpv2.Condition) string {
	parts := make([]string, 0, len(conditions))
	for _, c := range conditions {
		part := fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason)
		if c.Message != "" {
			part = fmt.Sprintf("%s=%s (%s: %s)", c.Type, c.Status, c.Reason, c.Message)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// inPlaceOnly says why a step is left out on a legacy gateway.
func (t *tale) inPlaceOnly() string {
	if t.legacy {
		return "this is a legacy gateway, which can change nothing of a subscription but its status"
	}
	return ""
}

func (t *tale) upgrade(ctx context.Context) error {
	return t.edit(ctx, func(p *gatewayv1alpha1.SubscriptionParameters) {
		p.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: gold}
	})
}

// edit the subscription in Kubernetes, as a person with kubectl would.
func (t *tale) edit(ctx context.Context, change func(*gatewayv1alpha1.SubscriptionParameters)) error {
	sub := &gatewayv1alpha1.Subscription{}
	if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: subscriptionRef}, sub); err != nil {
		return errors.Wrap(err, "cannot get the Subscription")
	}
	before := sub.DeepCopy()
	change(&sub.Spec.ForProvider)
	return t.kube.Patch(ctx, sub, client.MergeFrom(before))
}

func (t *tale) planIs(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		sub, plan, err := t.atGateway(ctx)
		if err != nil {
			return err
		}
		if plan != name {
			return errors.Errorf("the plan of %s at the gateway is %s", sub.ID, plan)
		}
		return nil
	}
}

func (t *tale) statusIs(status string) func(context.Context) error {
	return func(ctx context.Context) error {
		sub, _, err := t.atGateway(ctx)
		if err != nil {
			return err
		}
		if sub.Status != status {
			return errors.Errorf("the status of %s at the gateway is %s", sub.ID, sub.Status)
		}
		return nil
	}
}

// atGateway returns the subscription at the gateway, and the name of its plan.
func (t *tale) atGateway(ctx context.Context) (*gateway.Subscription, string, error) {
	sub, err := t.gateway.GetSubscription(ctx, t.subscriptionID)
	if err != nil {
		return nil, "", err
	}
	if sub.SubscriptionPlanID == "" {
		return sub, "none", nil
	}
	plan, err := t.gateway.GetSubscriptionPlan(ctx, sub.SubscriptionPlanID)
	if err != nil {
		return nil, "", err
	}
	return sub, plan.PlanName, nil
}

func (t *tale) theSubscription(remark string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		sub, plan, err := t.atGateway(ctx)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("gateway: %s (%s)", describe(sub, plan), remark)}, nil
	}
}

func describe(sub *gateway.Subscription, plan string) string {
	return fmt.Sprintf("subscription %s of %s, plan %s, %s", sub.ID, sub.ApplicationID, plan, sub.Status)
}

// whatTheGatewayHolds of what the quickstart is about.
func (t *tale) whatTheGatewayHolds(ctx context.Context) ([]string, error) {
	held, err := t.held(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, 0, len(held)+1)
	for _, h := range held {
		lines = append(lines, "gateway: "+h)
	}
	about, err := t.aboutTokens("a call with the token is let through")(ctx)
	return append(lines, about...), err
}

// held lists what the gateway holds of all that the quickstart asks for, by
// the names it asks for, whoever put it there.
func (t *tale) held(ctx context.Context) ([]string, error) {
	var held []string
	all, err := t.gateway.ListRestAPIs(ctx)
	if err != nil {
		return nil, err
	}
	hasAPI := false
	for _, a := range all {
		if a.Metadata.Name == apiName {
			hasAPI = true
			held = append(held, fmt.Sprintf("API %s at %s, with the plans %s", a.Metadata.Name, a.Spec.Context, strings.Join(a.Spec.SubscriptionPlans, " and ")))
		}
	}
	plans, err := t.gateway.ListSubscriptionPlans(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, p := range plans {
		names[p.ID] = p.PlanName
		if !strings.EqualFold(p.PlanName, bronze) && !strings.EqualFold(p.PlanName, gold) {
			continue
		}
		limit := "no limit"
		if p.ThrottleLimitCount != nil {
			limit = fmt.Sprintf("%d calls per %s", *p.ThrottleLimitCount, strings.ToLower(p.ThrottleLimitUnit))
		}
		held = append(held, fmt.Sprintf("plan %s, %s", p.PlanName, limit))
	}
	if !hasAPI {
		return held, nil
	}
	subs, err := t.gateway.ListSubscriptions(ctx, gateway.SubscriptionFilter{APIID: apiName})
	if gateway.IsAPIMissing(err) {
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	for _, s := range subs {
		held = append(held, describe(&s, names[s.SubscriptionPlanID]))
	}
	return held, nil
}

// aboutTokens makes the remark where it was proved.
func (t *tale) aboutTokens(remark string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) {
		if t.box.Emulator == nil {
			return []string{"(not checked on a real gateway: " + remark + ")"}, nil
		}
		if !t.box.Emulator.LetThrough(apiName, t.token) {
			return nil, errors.New("the gateway does not let a call with the token through")
		}
		if t.oldToken != "" && t.box.Emulator.LetThrough(apiName, t.oldToken) {
			return nil, errors.New("the gateway still lets a call with the old token through")
		}
		return []string{"gateway: " + remark}, nil
	}
}

func (t *tale) rotate(ctx context.Context) error {
	t.oldToken, t.token = t.token, "another-long-and-random-token"
	secret := &corev1.Secret{}
	if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: tokenSecret}, secret); err != nil {
		return errors.Wrap(err, "cannot get the token Secret")
	}
	before := secret.DeepCopy()
	secret.Data[gatewayv1alpha1.DefaultTokenKey] = []byte(t.token)
	return errors.Wrap(t.kube.Patch(ctx, secret, client.MergeFrom(before)), "cannot edit the token Secret")
}

// tokenRotated asks the emulator; a real gateway shows no more than that the
// subscription was changed.
func (t *tale) tokenRotated(ctx context.Context) error {
	if t.box.Emulator != nil {
		if !t.box.Emulator.LetThrough(apiName, t.token) {
			return errors.New("the new token is not let through")
		}
		if t.box.Emulator.LetThrough(apiName, t.oldToken) {
			return errors.New("the old token is still let through")
		}
		return nil
	}
	sub, _, err := t.atGateway(ctx)
	if err != nil {
		return err
	}
	if !sub.UpdatedAt.After(t.changed) {
		return errors.New("the subscription was not changed at the gateway")
	}
	return nil
}

func (t *tale) switchOff(ctx context.Context) error {
	sub, err := t.gateway.UpdateSubscription(ctx, t.subscriptionID, gateway.SubscriptionUpdate{Status: gateway.SubscriptionInactive})
	if err != nil {
		return err
	}
	if sub.Status != gateway.SubscriptionInactive {
		return errors.Errorf("the gateway answered that the subscription is %s", sub.Status)
	}
	return nil
}

// illegalEdit has to be refused, and the refusal has to name the field.
func (t *tale) illegalEdit(ctx context.Context) error {
	err := t.edit(ctx, func(p *gatewayv1alpha1.SubscriptionParameters) {
		other := "mobile-app"
		p.ApplicationID = &other
	})
	if err == nil {
		return errors.New("the edit was accepted")
	}
	if !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), "applicationId") {
		return errors.Wrap(err, "the edit was refused, but not for its application")
	}
	t.refusal = err.Error()
	return nil
}

func (t *tale) refused(ctx context.Context) ([]string, error) {
	lines, err := t.theSubscription("untouched")(ctx)
	return append([]string{"API server: " + t.refusal}, lines...), err
}

// spare returns the object name and the plan name of the plan that the
// subscription does not use.
func (t *tale) spare() (object, plan string) {
	if t.legacy {
		return gold, "Gold"
	}
	return bronze, "Bronze"
}

func (t *tale) deleteSparePlan(ctx context.Context) error {
	name, _ := t.spare()
	return t.kube.Delete(ctx, &gatewayv1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

func (t *tale) sparePlanGone(ctx context.Context) error {
	object, name := t.spare()
	err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: object}, &gatewayv1alpha1.SubscriptionPlan{})
	if err == nil {
		return errors.Errorf("SubscriptionPlan %s is still there", object)
	}
	if !kerrors.IsNotFound(err) {
		return err
	}
	plans, err := t.gateway.ListSubscriptionPlans(ctx)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if p.PlanName == name {
			return errors.Errorf("the gateway still has the plan %s", name)
		}
	}
	return nil
}

func (t *tale) revokeWithoutPlan(ctx context.Context) error {
	name, _ := t.spare()
	return t.edit(ctx, func(p *gatewayv1alpha1.SubscriptionParameters) {
		revoked := gatewayv1alpha1.SubscriptionRevoked
		p.Status = &revoked
		p.SubscriptionPlanIDRef = &gatewayv1alpha1.Reference{Name: name}
	})
}

func (t *tale) revokedWithoutPlan(ctx context.Context) error {
	if err := t.statusIs(gateway.SubscriptionRevoked)(ctx); err != nil {
		return err
	}
	if t.box.Emulator != nil && t.box.Emulator.LetThrough(apiName, t.token) {
		return errors.New("the token is still let through")
	}
	applied, err := t.applied(ctx)
	if err != nil {
		return err
	}
	if applied.Status == corev1.ConditionTrue {
		return errors.New("the Subscription claims that all of it was applied")
	}
	return nil
}

// applied returns what the Subscription says about whether it was applied.
func (t *tale) applied(ctx context.Context) (xpv2.Condition, error) {
	sub := &gatewayv1alpha1.Subscription{}
	if err := t.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: subscriptionRef}, sub); err != nil {
		return xpv2.Condition{}, err
	}
	return sub.GetCondition(gatewayv1alpha1.TypeApplied), nil
}

func (t *tale) revoked(ctx context.Context) ([]string, error) {
	remark := "the status went ahead, the token is refused"
	if t.box.Emulator == nil {
		remark = "the status went ahead; not checked on a real gateway: the token is refused"
	}
	lines, err := t.theSubscription(remark)(ctx)
	if err != nil {
		return nil, err
	}
	applied, err := t.applied(ctx)
	return append(lines, "Subscription: "+sentence([]xpv2.Condition{applied})), err
}

// deleteAll at once, as kubectl delete -f would. In which order it goes is the
// provider's business.
func (t *tale) deleteAll(ctx context.Context) error {
	for _, o := range t.quickstart {
		if err := t.kube.Delete(ctx, o.DeepCopy()); client.IgnoreNotFound(err) != nil {
			return errors.Wrapf(err, "cannot delete %s %s", o.GetKind(), o.GetName())
		}
	}
	return nil
}

func (t *tale) allGone(ctx context.Context) error {
	for _, o := range t.quickstart {
		got := o.DeepCopy()
		err := t.kube.Get(ctx, client.ObjectKeyFromObject(o), got)
		if err == nil {
			if ready := t.ready(ctx, o); ready != nil && !kerrors.IsNotFound(ready) {
				return errors.Wrap(ready, "still there")
			}
			return errors.Errorf("%s %s is still there", o.GetKind(), o.GetName())
		}
		if !kerrors.IsNotFound(err) {
			return err
		}
	}
	held, err := t.held(ctx)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		return errors.Errorf("the gateway still holds: %s", strings.Join(held, "; "))
	}
	return nil
}

func (t *tale) nothingLeft(context.Context) ([]string, error) {
	return []string{"gateway: no API, no plan and no subscription of ours is left"}, nil
}

// noStrangers makes sure that what is about to be created, changed and deleted
// at the gateway is not somebody else's.
func (t *tale) noStrangers(ctx context.Context) error {
	held, err := t.held(ctx)
	if err != nil {
		return errors.Wrap(err, "cannot read from the gateway")
	}
	if len(held) > 0 {
		return errors.Errorf("the gateway at %s has things of these names already, and they are left alone: %s", t.box.Gateway.URL, strings.Join(held, "; "))
	}
	return nil
}

// cleanUp a real gateway after the tale was cut short. An emulated one goes as
// it is.
func (t *tale) cleanUp(ctx context.Context, n *narrator) error {
	if t.box.Emulator != nil || t.box.Failed() != nil {
		return nil
	}
	// Also, and above all, when the context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*soon)
	defer cancel()
	err := n.tell(ctx, []step{{name: "Clean up the gateway", do: t.deleteAll, until: t.allGone, within: 2 * soon, say: t.nothingLeft}})
	return errors.Wrap(err, "something may be left at the gateway")
}

// invitation to play.
func (t *tale) invitation() string {
	return fmt.Sprintf(`
The quickstart is applied. In another terminal:

%s
The latter is the gateway's management API (user %s).

Three things to try:

  kubectl get crossplane -o wide --all-namespaces
  kubectl patch subscription.gateway.apiplatform.crossplane.io %s --type merge -p '{"spec":{"forProvider":{"subscriptionPlanIdRef":{"name":"%s"}}}}'
  curl -s -u %s '%s/subscriptions?apiId=%s'

Ctrl-C ends all of it.
`, t.howToReachIt(), t.box.Gateway.Username, subscriptionRef, gold, t.curlUser(), t.gateway.Endpoint(), apiName)
}

// howToReachIt with kubectl, and the gateway.
func (t *tale) howToReachIt() string {
	kubectl := ""
	if _, err := exec.LookPath("kubectl"); err != nil {
		kubectl = "  alias kubectl=$(hack/tools/build.sh kubectl)   # there is none here; building it takes half a minute\n"
	}
	return "  export KUBECONFIG=" + t.box.ControlPlane.Kubeconfig() + "\n" + kubectl + "  export GATEWAY=" + t.gateway.Endpoint().String() + "\n"
}

// curlUser has the password only where it is no secret.
func (t *tale) curlUser() string {
	if t.box.Emulator != nil {
		return t.box.Gateway.Username + ":" + t.box.Gateway.Password
	}
	return t.box.Gateway.Username
}

// readObjects from all YAML files in a folder, in the order of their names.
func readObjects(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot list %s", dir)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // In the repository.
		if err != nil {
			return nil, errors.Wrap(err, "cannot read an example")
		}
		found, err := manifest.Parse(content)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read %s", file)
		}
		objects = append(objects, found...)
	}
	if len(objects) == 0 {
		return nil, errors.Errorf("no objects in %s", dir)
	}
	return objects, nil
}
