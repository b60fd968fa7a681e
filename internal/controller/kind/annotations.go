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
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// ownAnnotations are the annotations the provider and the runtime write. Nobody
// else's are ever touched.
func ownAnnotations() []string {
	return []string{
		meta.AnnotationKeyExternalName,
		meta.AnnotationKeyExternalCreatePending,
		meta.AnnotationKeyExternalCreateSucceeded,
		meta.AnnotationKeyExternalCreateFailed,
		gatewayv1alpha1.AnnotationCreateAttempt,
		gatewayv1alpha1.AnnotationBaseline,
		gatewayv1alpha1.AnnotationTokenMemory,
	}
}

// Annotations write the annotations a create must not lose. The runtime's own
// updater reads and updates through the cache and gives up after a few
// conflicts; this one patches just those annotations, which needs no fresh read
// and cannot conflict.
type Annotations struct {
	client client.Client
}

// UpdateCriticalAnnotations makes the provider's annotations at the API server
// equal to those of o: what o lacks is removed. Everything else of o, and of the
// object at the API server, stays as it is.
func (a *Annotations) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	want := o.GetAnnotations()
	patch := map[string]*string{}
	for _, k := range ownAnnotations() {
		if k == meta.AnnotationKeyExternalName && !nameIsRecorded(o) {
			// It is the user's, who may have changed it meanwhile.
			continue
		}
		patch[k] = nil
		if v, ok := want[k]; ok {
			patch[k] = &v
		}
	}
	return errors.Wrap(PatchMetadata(ctx, a.client, o, map[string]any{"annotations": patch}), "cannot update annotations")
}

// RecordHeld stores the external name, the baseline and the attempt of an object, and
// ends a create that the process did not survive: nobody else would tell the runtime.
func RecordHeld(ctx context.Context, c client.Client, o client.Object) error {
	if meta.ExternalCreateIncomplete(o) {
		meta.SetExternalCreateSucceeded(o, meta.GetExternalCreatePending(o))
	}
	patch := map[string]string{}
	for _, k := range []string{meta.AnnotationKeyExternalName, meta.AnnotationKeyExternalCreateSucceeded, gatewayv1alpha1.AnnotationBaseline, gatewayv1alpha1.AnnotationCreateAttempt} {
		if v, ok := o.GetAnnotations()[k]; ok {
			patch[k] = v
		}
	}
	return PatchMetadata(ctx, c, o, map[string]any{"annotations": patch})
}

// RecordDeleted stores what is recorded of the create of an object, once what that made is
// deleted: what looks like it from then on is another's.
func RecordDeleted(ctx context.Context, c client.Client, o client.Object) error {
	return errors.Wrap(PatchMetadata(ctx, c, o, map[string]any{
		"annotations": map[string]string{gatewayv1alpha1.AnnotationCreateAttempt: o.GetAnnotations()[gatewayv1alpha1.AnnotationCreateAttempt]},
	}), "cannot record that what was created is deleted")
}

// nameIsRecorded tells whether the external name is one that the provider recorded.
func nameIsRecorded(o client.Object) bool {
	b, err := record.ReadBaseline(o)
	return err == nil && b != nil && b.ID == meta.GetExternalName(o)
}

// vouchedFor is how long a create may be sent again before status tells another time, which
// has no more than seconds.
const vouchedFor = time.Second

// Vouch has the status of an object, of which a field is given, vouch for the attempt
// that the object has in memory and that is stored: right before it is sent, so that
// nothing that is not sent is vouched for. It fails if the object is not as it is at the
// API server, which is when another attempt may be stored.
func Vouch(ctx context.Context, c client.Client, o client.Object, field **gatewayv1alpha1.CreateAttempt, now time.Time) error {
	v := record.Vouch(o)
	if was := *field; was != nil && v != nil && was.Time != nil && now.Sub(was.Time.Time).Abs() < vouchedFor && was.Endpoint == v.Endpoint && was.Digest == v.Digest {
		return nil
	}
	if v != nil {
		v.Time = new(metav1.NewTime(now))
	}
	before := *field
	*field = v
	merge := map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "resourceVersion": o.GetResourceVersion()}, "status": map[string]any{"createAttempt": replacing(v)}}
	err := patch(o, merge, func(written client.Object, p client.Patch) error {
		return c.Status().Patch(ctx, written, p)
	})
	if err != nil {
		*field = before
	}
	return errors.Wrap(err, "cannot record what will be asked for")
}

// replacing is a merge patch that leaves nothing of an attempt that was vouched for before.
func replacing(v *gatewayv1alpha1.CreateAttempt) any {
	if v == nil {
		return nil
	}
	optional := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{
		"endpoint": v.Endpoint, "digest": v.Digest, "time": v.Time,
		"id": optional(v.ID), "apiId": optional(v.APIID), "applicationId": optional(v.ApplicationID),
	}
}

// PatchMetadata merges the given metadata into an object at the API server. Of
// the answer only the resource version is taken over, so that a status which is
// not written yet survives; and not even that if the spec was changed meanwhile,
// so that nothing is written over an edit that was not seen. The patch applies only
// to the object with o's UID.
func PatchMetadata(ctx context.Context, c client.Client, o client.Object, metadata map[string]any) error {
	metadata["uid"] = o.GetUID()
	return patch(o, map[string]any{"metadata": metadata}, func(written client.Object, p client.Patch) error {
		return c.Patch(ctx, written, p)
	})
}

func patch(o client.Object, merge map[string]any, send func(written client.Object, p client.Patch) error) error {
	body, err := json.Marshal(merge)
	if err != nil {
		return err
	}
	written, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.Errorf("%T is not an object", o)
	}
	if err := send(written, client.RawPatch(types.MergePatchType, body)); err != nil {
		return err
	}
	if written.GetGeneration() == o.GetGeneration() || o.GetDeletionTimestamp() != nil {
		o.SetResourceVersion(written.GetResourceVersion())
	}
	return nil
}
