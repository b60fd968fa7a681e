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

package controller

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

const (
	// rightsInterval is how often the provider asks whether it has been granted what it
	// waits for.
	rightsInterval = time.Second
	// rightsReminder is how often it says what it waits for.
	rightsReminder = 30 * time.Second
	// moreRightsInterval is how often it asks whether it has been granted what it can do
	// without.
	moreRightsInterval = 10 * time.Second
)

// watching is all that a cache needs to be allowed.
var watching = []string{"get", "list", "watch"}

// may tells whether the provider is allowed to do something with all objects of a kind.
func may(ctx context.Context, c client.Client, group, resource string, verbs ...string) (bool, error) {
	for _, verb := range verbs {
		r := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
			Group: group, Resource: resource, Verb: verb,
		}}}
		if err := c.Create(ctx, r); err != nil {
			return false, errors.Wrapf(err, "cannot find out whether %s may be watched", resource)
		}
		if !r.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}

// mayWatchCRDs tells whether the provider may see which CRDs are there. If it may
// not, all of them must be there when it starts.
func mayWatchCRDs(ctx context.Context, c client.Client) (bool, error) {
	return may(ctx, c, apiextensionsv1.GroupName, "customresourcedefinitions", watching...)
}

// mayWatchNamespaces tells whether the provider may read the labels of namespaces.
// Crossplane does not grant it to a package.
func mayWatchNamespaces(ctx context.Context, c client.Client) (bool, error) {
	return may(ctx, c, corev1.GroupName, "namespaces", watching...)
}

// awaitRights waits until the provider may read its own configurations. Crossplane binds
// the rights of a package only once its Deployment is there, so its pod may be sooner.
// What is asked about other rights before that is not an answer.
func awaitRights(ctx context.Context, c client.Client, log logr.Logger) error {
	ticker := time.NewTicker(rightsInterval)
	defer ticker.Stop()
	var reminded time.Time
	for {
		allowed, err := may(ctx, c, v1alpha1.Group, "clusterproviderconfigs", watching...)
		if err != nil || allowed {
			return err
		}
		if time.Since(reminded) > rightsReminder {
			log.Info("waiting until the provider may read ClusterProviderConfigs; Crossplane's RBAC manager grants that to a package, and examples/cluster/rbac.yaml to others")
			reminded = time.Now()
		}
		select {
		case <-ctx.Done():
			return errors.Wrap(ctx.Err(), "the provider may not read ClusterProviderConfigs")
		case <-ticker.C:
		}
	}
}

// awaitNamespaces returns an error once namespaces may be watched, which the provider
// does from when it is started anew, and nothing when the context is done.
func awaitNamespaces(ctx context.Context, c client.Client, log logr.Logger) error {
	ticker := time.NewTicker(moreRightsInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		switch allowed, err := mayWatchNamespaces(ctx, c); {
		case err != nil && ctx.Err() == nil:
			log.Error(err, "cannot ask for more rights")
		case allowed:
			return errors.New("namespaces may be watched from now on, and that takes a new start")
		}
	}
}

// clusterID returns what names this cluster in ownership marks unless the user names it:
// an identifier that the cluster has for good, that no other cluster has, and that the
// provider may read. It must not depend on what somebody grants beyond that, since marks
// at gateways depend on it. A package may never read namespaces by itself, so it takes
// the UID of a ConfigMap beside, which every API server writes when it first starts.
func clusterID(ctx context.Context, live client.Reader, packaged bool) (string, error) {
	if packaged {
		cm := &metav1.PartialObjectMetadata{}
		cm.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		err := live.Get(ctx, types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: "extension-apiserver-authentication"}, cm)
		return string(cm.GetUID()), errors.Wrap(err, "cannot read the ConfigMap kube-system/extension-apiserver-authentication, whose UID names this cluster; set --cluster-id")
	}
	ns := &corev1.Namespace{}
	err := live.Get(ctx, types.NamespacedName{Name: metav1.NamespaceSystem}, ns)
	if kerrors.IsForbidden(err) {
		return "", errors.Wrap(err, "cannot read the namespace kube-system, whose UID names this cluster; allow to get namespaces, or set --cluster-id")
	}
	return string(ns.GetUID()), errors.Wrap(err, "cannot read the namespace kube-system, whose UID names this cluster; set --cluster-id")
}
