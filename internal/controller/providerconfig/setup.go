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

// Package providerconfig looks after ProviderConfigs and ClusterProviderConfigs:
// it shows in their status whether the gateway can be used, and keeps one from
// being deleted while managed resources refer to it.
package providerconfig

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
)

// Setup adds the controllers of both kinds of configuration to a manager, once
// their CRDs are there.
func Setup(mgr ctrl.Manager, o kind.Options, changes *Changes) error {
	for of, newConfig := range map[string]func() config{
		v1alpha1.ProviderConfigKind:        func() config { return &v1alpha1.ProviderConfig{} },
		v1alpha1.ClusterProviderConfigKind: func() config { return &v1alpha1.ClusterProviderConfig{} },
	} {
		if err := o.Once(func() error {
			return errors.Wrapf(setup(mgr, o, changes, of, newConfig), "cannot set up the controller of %s", of)
		}); err != nil {
			return err
		}
	}
	return nil
}

func setup(mgr ctrl.Manager, o kind.Options, changes *Changes, of string, newConfig func() config) error {
	if err := o.IndexConfigs(); err != nil {
		return err
	}
	kube := mgr.GetClient()
	r := &reconciler{
		kind:       of,
		new:        newConfig,
		client:     kube,
		gateways:   o.Gateways,
		users:      o.Users,
		writes:     o.Writes,
		clock:      o.Clock,
		poll:       o.PollInterval,
		namespaces: o.Namespaces,
	}
	request := func(ref connection.Ref) []reconcile.Request {
		if ref.Kind != of {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}}}
	}
	readers := func(of string) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			var requests []reconcile.Request
			for _, ref := range kind.ConfigsReading(ctx, kube, connection.Dependency{Kind: of, Namespace: o.GetNamespace(), Name: o.GetName()}) {
				requests = append(requests, request(ref)...)
			}
			return requests
		})
	}
	// Users come and go by the thousand, and counting them takes the longer the more there
	// are: once a second is enough.
	users := later(usersLag, func(o client.Object) []reconcile.Request {
		u, ok := o.(*v1alpha1.ProviderConfigUsage)
		if !ok {
			return nil
		}
		ref := connection.Ref{Kind: u.ProviderConfigReference.Kind, Name: u.ProviderConfigReference.Name}
		if ref.Kind == v1alpha1.ProviderConfigKind {
			ref.Namespace = u.GetNamespace()
		}
		return request(ref)
	})
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("providerconfig/"+of).
		WithOptions(o.ForControllerRuntime()).
		For(newConfig(), builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		WatchesMetadata(&corev1.Secret{}, readers(connection.KindSecret), changed).
		WatchesMetadata(&corev1.ConfigMap{}, readers(connection.KindConfigMap), changed).
		Watches(&v1alpha1.ProviderConfigUsage{}, users).
		WatchesRawSource(source.Channel(changes.byKind[of], &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// usersLag is how soon it shows that somebody uses a configuration, or no longer does.
const usersLag = time.Second

// later asks for reconciles once some time has passed, for all that happens meanwhile as
// one.
func later(lag time.Duration, requests func(client.Object) []reconcile.Request) handler.EventHandler {
	add := func(o client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		for _, r := range requests(o) {
			q.AddAfter(r, lag)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(e.ObjectOld, q)
			add(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(e.Object, q)
		},
	}
}
