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

// Package target says which gateway one pass over a managed resource is about.
package target

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A Target is a gateway.
type Target struct {
	// Endpoint is normalised.
	Endpoint string
	// GatewayID is how the gateway calls itself, empty while that is unknown.
	GatewayID string
	// Accepted is whether the configuration's annotation accept-gateway confirms
	// that it leads here on purpose.
	Accepted bool
	// Timeout of one call.
	Timeout time.Duration
	// ExpressionsDenied is whether the configuration lets no template expressions there.
	ExpressionsDenied bool
}

// Of a gateway. A configuration that is gone, as it may be for a managed resource
// that is being deleted, confirms nothing and allows nothing.
func Of(ctx context.Context, c client.Reader, gw *connection.Gateway) (Target, error) {
	t := Target{Endpoint: gw.Endpoint().String(), GatewayID: gw.GatewayID(), Timeout: gw.Timeout()}
	err := t.configured(ctx, c, gw.Ref())
	return t, err
}

// configured is what the configuration says about it.
func (t *Target) configured(ctx context.Context, c client.Reader, ref connection.Ref) error {
	t.ExpressionsDenied = true
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}

	namespaced, cluster := &v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}
	var config client.Object = namespaced
	settings := &namespaced.Spec.ConnectionSettings
	if ref.Kind == v1alpha1.ClusterProviderConfigKind {
		config, settings = cluster, &cluster.Spec.ConnectionSettings
	}
	if err := c.Get(ctx, key, config); err != nil {
		return resource.IgnoreNotFound(err)
	}
	t.ExpressionsDenied = settings.TemplateExpressions == v1alpha1.TemplateExpressionsDeny
	confirmed, err := gateway.ParseEndpoint(config.GetAnnotations()[v1alpha1.AnnotationAcceptGateway])
	t.Accepted = err == nil && confirmed.String() == t.Endpoint
	return nil
}

// Identify asks the gateway how it calls itself by now, which a gateway that lacks
// something does not say: it may have been replaced under its address by another one
// than that of a record. One that has no plans, or does not show them, does not tell
// either.
func (t *Target) Identify(ctx context.Context, gw plans, recorded string) error {
	if t.Accepted || recorded == "" {
		// It would make no difference.
		return nil
	}
	listed, err := gw.ListSubscriptionPlans(ctx)
	if r := gateway.ReasonOf(err); r == gateway.ReasonForbidden || r == gateway.ReasonNotFound || r == gateway.ReasonBadAnswer {
		return nil
	}
	t.Heard(listed)
	return err
}

// Heard notes how the gateway calls itself in a list of its plans.
func (t *Target) Heard(listed []gateway.SubscriptionPlan) {
	if len(listed) > 0 && listed[0].GatewayID != "" {
		t.GatewayID = listed[0].GatewayID
	}
}

// plans are what tells of a gateway how it calls itself.
type plans interface {
	ListSubscriptionPlans(ctx context.Context) ([]gateway.SubscriptionPlan, error)
}

// Recorded tells whether a record is about this gateway: it was made under the
// same endpoint, and as far as both are known under the same ID.
func (t Target) Recorded(endpoint, gatewayID string) bool {
	return endpoint == t.Endpoint && (gatewayID == "" || t.GatewayID == "" || gatewayID == t.GatewayID)
}

// lateAnswer is how long after a time-out a create that was not answered may still
// take effect.
const lateAnswer = 30 * time.Second

// skew is how much the clocks of two replicas may differ.
const skew = time.Minute

// TooLate is when a create that was not answered can no longer take effect. Until
// then it proves nothing that there is no trace of it. It was sent when status vouches for
// that, or when it was about to be, whichever is later. A date that is still to come is
// none on which anything was sent.
func (t Target) TooLate(mg metav1.Object, vouched *gatewayv1alpha1.CreateAttempt, now time.Time) time.Time {
	sent := meta.GetExternalCreatePending(mg)
	if sent.After(now.Add(skew)) {
		sent = time.Time{}
	}
	if vouched != nil && vouched.Time != nil && vouched.Time.After(sent) {
		sent = vouched.Time.Time
	}
	return t.TooLateFor(sent)
}

// TooLateFor is when a create that is sent at the given time, and not answered, can
// no longer take effect.
func (t Target) TooLateFor(sent time.Time) time.Time {
	return sent.Add(t.Timeout + lateAnswer)
}
