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
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// floorWorkers are as many as the provider has for a kind.
const floorWorkers = 24

// A floor makes what any Crossplane provider must make to create a subscription, and
// nothing else: it watches nothing, reads nothing, decides nothing, and is told of
// each object as soon as the API server has it.
type floor struct {
	kube    client.Client
	gateway *gateway.Client
	site    *site
}

// newFloor for a site, through the relay.
func newFloor(w *world, s *site) (*floor, error) {
	kube, err := client.New(w.relay.config(), client.Options{Scheme: w.kube.Scheme()})
	if err != nil {
		return nil, errors.Wrap(err, "cannot build a client")
	}
	endpoint, err := gateway.ParseEndpoint(s.url)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse the endpoint of a gateway")
	}
	return &floor{kube: kube, site: s, gateway: gateway.New(gateway.Options{
		Endpoint: endpoint,
		// The default would make new connections for most workers.
		Transport: &http.Transport{MaxIdleConnsPerHost: floorWorkers},
		Authorizer: gateway.AuthorizerFunc(func(r *http.Request) error {
			r.SetBasicAuth(user, password)
			return nil
		}),
	})}, nil
}

// create what a Subscription asks for: six writes to the API server and one to the
// gateway. All but the status are creates and patches, which need no fresh read and
// cannot conflict.
func (f *floor) create(ctx context.Context, o *object, cr *gatewayv1alpha1.Subscription) error {
	// 1: the finalizer, without which a deletion would not wait for the gateway.
	if err := f.patch(ctx, cr, map[string]any{"finalizers": []string{managed.FinalizerName}}); err != nil {
		return errors.Wrap(err, "cannot add the finalizer")
	}
	// 2: the usage, without which the ProviderConfig could be deleted meanwhile.
	ref := cr.GetProviderConfigReference()
	usage := &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{
		Namespace: cr.GetNamespace(), Name: string(cr.GetUID()),
		Labels:          map[string]string{xpv2.LabelKeyProviderName: ref.Name, xpv2.LabelKeyProviderKind: ref.Kind},
		OwnerReferences: []metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(cr, gatewayv1alpha1.SubscriptionGroupVersionKind))},
	}}
	usage.SetProviderConfigReference(*ref)
	usage.SetResourceReference(xpv2.TypedReference{
		APIVersion: gatewayv1alpha1.SchemeGroupVersion.String(), Kind: gatewayv1alpha1.SubscriptionGroupVersionKind.Kind, Name: cr.GetName(),
	})
	if err := f.kube.Create(ctx, usage); err != nil {
		return errors.Wrap(err, "cannot create the usage")
	}
	// 3: that a create is pending, which has to be recorded before the POST: if the
	// process ends now, it is known that there may be something.
	if err := f.annotate(ctx, cr, map[string]string{
		meta.AnnotationKeyExternalCreatePending: time.Now().Format(time.RFC3339),
	}); err != nil {
		return err
	}
	is, err := f.gateway.CreateSubscription(ctx, gateway.SubscriptionCreate{
		ExternalRefID: o.name, APIID: *cr.Spec.ForProvider.APIID, ApplicationID: *cr.Spec.ForProvider.ApplicationID,
		SubscriptionPlanID: *cr.Spec.ForProvider.SubscriptionPlanID, Status: o.status, SubscriptionToken: gateway.Secret(o.token),
	})
	if err != nil {
		return errors.Wrap(err, "cannot create a subscription")
	}
	// 4: what came of it, and by which ID the gateway knows it.
	if err := f.annotate(ctx, cr, map[string]string{
		meta.AnnotationKeyExternalName:            is.ID,
		meta.AnnotationKeyExternalCreateSucceeded: time.Now().Format(time.RFC3339),
	}); err != nil {
		return err
	}
	// 5: the event that tells users of it, as Crossplane's runtime does.
	now := metav1.Now()
	told := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.GetNamespace(), Name: cr.GetName() + "." + string(cr.GetUID())},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: gatewayv1alpha1.SchemeGroupVersion.String(), Kind: gatewayv1alpha1.SubscriptionGroupVersionKind.Kind,
			Namespace: cr.GetNamespace(), Name: cr.GetName(), UID: cr.GetUID(), ResourceVersion: cr.GetResourceVersion(),
		},
		Type: corev1.EventTypeNormal, Reason: "CreatedExternalResource", Message: "Successfully requested creation of external resource",
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Source: corev1.EventSource{Component: "floor"},
	}
	if err := f.kube.Create(ctx, told); err != nil {
		return errors.Wrap(err, "cannot write the event")
	}
	// 6: the status.
	cr.Status.Deployed = true
	cr.Status.AtProvider = gatewayv1alpha1.SubscriptionObservation{ID: is.ID, Status: is.Status, SubscriptionPlanID: is.SubscriptionPlanID}
	cr.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess())
	return errors.Wrap(f.kube.Status().Update(ctx, cr), "cannot write the status")
}

func (f *floor) annotate(ctx context.Context, cr *gatewayv1alpha1.Subscription, annotations map[string]string) error {
	return errors.Wrap(f.patch(ctx, cr, map[string]any{"annotations": annotations}), "cannot annotate")
}

func (f *floor) patch(ctx context.Context, cr *gatewayv1alpha1.Subscription, metadata map[string]any) error {
	return f.kube.Patch(ctx, cr, client.RawPatch(types.MergePatchType, mustJSON(map[string]any{"metadata": metadata})))
}

// createAll applies objects in one burst and creates what they ask for.
func (f *floor) createAll(ctx context.Context, w *world, all []*object) error {
	type applied struct {
		o  *object
		cr *gatewayv1alpha1.Subscription
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// There is room for all, so that whoever applies never waits.
	todo := make(chan applied, len(all))
	wg := sync.WaitGroup{}
	for range floorWorkers {
		wg.Go(func() {
			for a := range todo {
				if err := f.create(ctx, a.o, a.cr); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	err := w.apply(ctx, all, func(o *object, cr *gatewayv1alpha1.Subscription) { todo <- applied{o, cr} })
	close(todo)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
