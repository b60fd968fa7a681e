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
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	configv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// A connector makes a client for each pass, as the template does.
type connector struct {
	kube  client.Client
	usage *resource.ProviderConfigUsageTracker
}

func (c *connector) connect(ctx context.Context, cr *v1alpha1.Subscription) (managed.TypedExternalClient[*v1alpha1.Subscription], error) {
	if err := c.usage.Track(ctx, cr); err != nil {
		return nil, errors.Wrap(err, "cannot track the use of the ProviderConfig")
	}
	ref := cr.GetProviderConfigReference()
	if ref == nil {
		return nil, errors.New("there is no spec.providerConfigRef")
	}
	pc := &configv1alpha1.ProviderConfig{}
	if err := c.kube.Get(ctx, types.NamespacedName{Namespace: cr.GetNamespace(), Name: ref.Name}, pc); err != nil {
		return nil, errors.Wrap(err, "cannot get the ProviderConfig")
	}
	basic := pc.Spec.Credentials.Basic
	if basic == nil {
		return nil, errors.New("only basic authentication is known")
	}
	password, err := c.read(ctx, cr.GetNamespace(), basic.PasswordSecretRef.Name, basic.PasswordSecretRef.Key)
	if err != nil {
		return nil, err
	}
	endpoint, err := gateway.ParseEndpoint(pc.Spec.Endpoint)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse the endpoint")
	}
	return &external{connector: c, gateway: gateway.New(gateway.Options{
		Endpoint: endpoint,
		Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
			r.SetBasicAuth(basic.Username, password)
			return nil
		}),
	})}, nil
}

func (c *connector) read(ctx context.Context, namespace, name, key string) (string, error) {
	s := &corev1.Secret{}
	if err := c.kube.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, s); err != nil {
		return "", errors.Wrap(err, "cannot get a Secret")
	}
	return string(s.Data[key]), nil
}

// An external subscription goes by the external name, which the runtime makes of
// the object's.
type external struct {
	*connector

	gateway *gateway.Client
}

func (e *external) Disconnect(context.Context) error { return nil }

func (e *external) Observe(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalObservation, error) {
	is, err := e.gateway.GetSubscription(ctx, meta.GetExternalName(cr))
	if gateway.IsNotFound(err) {
		return managed.ExternalObservation{}, nil
	}
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	cr.Status.AtProvider.ID, cr.Status.AtProvider.Status, cr.Status.AtProvider.SubscriptionPlanID = is.ID, is.Status, is.SubscriptionPlanID
	cr.SetConditions(xpv2.Available())
	return managed.ExternalObservation{
		ResourceExists:   true,
		ResourceUpToDate: is.Status == status(cr) && is.SubscriptionPlanID == value(cr.Spec.ForProvider.SubscriptionPlanID),
	}, nil
}

func (e *external) Create(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalCreation, error) {
	f := cr.Spec.ForProvider
	token, err := e.read(ctx, cr.GetNamespace(), f.SubscriptionTokenSecretRef.Name, v1alpha1.DefaultTokenKey)
	if err != nil {
		return managed.ExternalCreation{}, err
	}
	_, err = e.gateway.CreateSubscription(ctx, gateway.SubscriptionCreate{
		ExternalRefID: meta.GetExternalName(cr), APIID: value(f.APIID), ApplicationID: value(f.ApplicationID),
		SubscriptionPlanID: value(f.SubscriptionPlanID), Status: status(cr), SubscriptionToken: gateway.Secret(token),
	})
	return managed.ExternalCreation{}, err
}

func (e *external) Update(ctx context.Context, cr *v1alpha1.Subscription) (managed.ExternalUpdate, error) {
	_, err := e.gateway.UpdateSubscription(ctx, meta.GetExternalName(cr), gateway.SubscriptionUpdate{
		Status: status(cr), Plan: gateway.SetPlan(value(cr.Spec.ForProvider.SubscriptionPlanID)),
	})
	return managed.ExternalUpdate{}, err
}

// Delete is not measured.
func (e *external) Delete(context.Context, *v1alpha1.Subscription) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

func status(cr *v1alpha1.Subscription) string {
	if s := cr.Spec.ForProvider.Status; s != nil {
		return string(*s)
	}
	return gateway.SubscriptionActive
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
