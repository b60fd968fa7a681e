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

package kind

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// Field indexes of every kind of managed resource.
const (
	// IndexSecret finds the managed resources that use a Secret of their own
	// namespace. Its values are namespace/name.
	IndexSecret = "kind.secret"
	// IndexConfig finds the managed resources that use a configuration. Its values
	// are kind/namespace/name.
	IndexConfig = "kind.config"

	// indexDependency finds the configurations that read a Secret or ConfigMap.
	indexDependency = "config.dependency"
)

func dependencyKey(d connection.Dependency) string {
	return d.Kind + "/" + d.Namespace + "/" + d.Name
}

// IndexConfigs indexes the configurations by what they read. It is called once
// per manager, before any kind is set up.
func IndexConfigs(ctx context.Context, indexer client.FieldIndexer) error {
	for _, of := range []client.Object{&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}} {
		if err := indexer.IndexField(ctx, of, indexDependency, func(o client.Object) []string {
			var keys []string
			for _, d := range connection.Dependencies(o) {
				keys = append(keys, dependencyKey(d))
			}
			return keys
		}); err != nil {
			return errors.Wrap(err, "cannot index configurations by what they read")
		}
	}
	return nil
}

// ConfigsReading returns the configurations that read a Secret or ConfigMap.
func ConfigsReading(ctx context.Context, c client.Reader, d connection.Dependency) []connection.Ref {
	var refs []connection.Ref
	namespaced := &v1alpha1.ProviderConfigList{}
	if err := c.List(ctx, namespaced, client.MatchingFields{indexDependency: dependencyKey(d)}); err == nil {
		for i := range namespaced.Items {
			refs = append(refs, refTo(&namespaced.Items[i]))
		}
	}
	cluster := &v1alpha1.ClusterProviderConfigList{}
	if err := c.List(ctx, cluster, client.MatchingFields{indexDependency: dependencyKey(d)}); err == nil {
		for i := range cluster.Items {
			refs = append(refs, refTo(&cluster.Items[i]))
		}
	}
	return refs
}

// configKey is the value of IndexConfig for a configuration.
func configKey(ref connection.Ref) string {
	return ref.Kind + "/" + ref.Namespace + "/" + ref.Name
}

// refTo refers to a configuration.
func refTo(o client.Object) connection.Ref {
	kind := v1alpha1.ClusterProviderConfigKind
	if _, ok := o.(*v1alpha1.ProviderConfig); ok {
		kind = v1alpha1.ProviderConfigKind
	}
	return connection.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// ConfigOf is the configuration a managed resource refers to.
func ConfigOf(mg resource.ModernManaged) connection.Ref {
	ref := mg.GetProviderConfigReference()
	if ref == nil {
		return connection.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: "default"}
	}
	if ref.Kind == v1alpha1.ClusterProviderConfigKind {
		return connection.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	return connection.Ref{Kind: ref.Kind, Namespace: mg.GetNamespace(), Name: ref.Name}
}

// desiredStateChanged accepts what a user may have changed: spec, labels, and
// annotations but those the provider keeps for itself.
func desiredStateChanged() predicate.Predicate {
	ignored := []string{meta.AnnotationKeyExternalCreatePending, meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed}
	for _, k := range ownAnnotations() {
		if k != meta.AnnotationKeyExternalName {
			ignored = append(ignored, k)
		}
	}
	annotations := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := maps.Clone(e.ObjectOld.GetAnnotations()), maps.Clone(e.ObjectNew.GetAnnotations())
		for _, k := range ignored {
			delete(was, k)
			delete(is, k)
		}
		return !maps.Equal(was, is)
	}}
	return predicate.Or[client.Object](annotations, predicate.LabelChangedPredicate{}, predicate.GenerationChangedPredicate{})
}

// configChanged accepts what makes another connection, or another answer, of a
// configuration: its spec and its annotations. Status is not a cause: it changes
// with every outage, which the managed resources notice themselves.
func configChanged() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}

// arrived accepts what comes, but not what was there when the provider started: so were
// the managed resources that use it.
func arrived() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList }}
}

// labelsChanged accepts other labels, and not what comes or goes: a namespace is there
// before what is in it.
func labelsChanged() predicate.Predicate {
	return predicate.And[client.Object](predicate.LabelChangedPredicate{}, predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	})
}

// index the managed resources of this kind, so that the watches find them.
func (k *Kind[T]) index(ctx context.Context, indexer client.FieldIndexer, of client.Object) error {
	if err := indexer.IndexField(ctx, of, IndexConfig, func(o client.Object) []string {
		mg, ok := o.(T)
		if !ok {
			return nil
		}
		return []string{configKey(ConfigOf(mg))}
	}); err != nil {
		return errors.Wrap(err, "cannot index by configuration")
	}
	return errors.Wrap(indexer.IndexField(ctx, of, IndexSecret, func(o client.Object) []string {
		mg, ok := o.(T)
		if !ok || k.Secrets == nil {
			return nil
		}
		var keys []string
		for _, name := range k.Secrets(mg) {
			keys = append(keys, mg.GetNamespace()+"/"+name)
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}), "cannot index by Secret")
}

// watch what can change the outcome of a reconcile without the managed resource
// itself changing. Secrets and ConfigMaps are watched by their metadata alone. Who
// changes a Secret of a managed resource itself waits for it.
func (k *Kind[T]) watch(b *builder.Builder, c client.Reader, o Options, await func(reconcile.Request)) {
	configs := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return k.Find(ctx, c, IndexConfig, configKey(refTo(o)))
	})
	b.Watches(&v1alpha1.ProviderConfig{}, configs, builder.WithPredicates(configChanged()))
	b.Watches(&v1alpha1.ClusterProviderConfig{}, configs, builder.WithPredicates(configChanged()))

	sources := func(kind string) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			var requests []reconcile.Request
			if kind == connection.KindSecret {
				requests = k.Find(ctx, c, IndexSecret, o.GetNamespace()+"/"+o.GetName())
				for _, r := range requests {
					await(r)
				}
			}
			for _, ref := range ConfigsReading(ctx, c, connection.Dependency{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}) {
				requests = append(requests, k.Find(ctx, c, IndexConfig, configKey(ref))...)
			}
			return requests
		})
	}
	if o.NamespaceLabels {
		// Whether a namespace may use a configuration is a matter of its labels.
		b.WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return k.list(ctx, c, client.InNamespace(o.GetName()))
		}), builder.WithPredicates(labelsChanged()))
	}
	changed := builder.WithPredicates(predicate.And[client.Object](predicate.ResourceVersionChangedPredicate{}, arrived()))
	b.WatchesMetadata(&corev1.Secret{}, sources(connection.KindSecret), changed)
	b.WatchesMetadata(&corev1.ConfigMap{}, sources(connection.KindConfigMap), changed)
}

// Find the managed resources of this kind that a field index names.
func (k *Kind[T]) Find(ctx context.Context, c client.Reader, index, value string) []reconcile.Request {
	return k.list(ctx, c, client.MatchingFields{index: value})
}

// list the names of managed resources, without a copy of each.
func (k *Kind[T]) list(ctx context.Context, c client.Reader, o client.ListOption) []reconcile.Request {
	l := k.NewList()
	if err := c.List(ctx, l, o, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	items := l.GetItems()
	requests := make([]reconcile.Request, 0, len(items))
	for _, mg := range items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}})
	}
	return requests
}

// ReferenceChanged accepts what can change where a reference leads: an object
// that comes or goes, its labels, and its status.
func ReferenceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			!equality.Semantic.DeepEqual(statusOf(e.ObjectOld).Interface(), statusOf(e.ObjectNew).Interface())
	}}
}
