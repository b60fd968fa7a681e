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

package providerconfig

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
)

// A queue remembers what is to be reconciled, and how soon. What is in it is not added
// again.
type queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	after map[string]time.Duration
}

func (q queue) AddAfter(r reconcile.Request, d time.Duration) { q.after[r.Name] = d }

// However many begin to use a configuration within a while, they are counted once: none of
// them is a reason to count at once.
//
// contract: A10
func TestLater(t *testing.T) {
	q := queue{after: map[string]time.Duration{}}
	h := later(usersLag, func(o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: o.GetLabels()["uses"]}}}
	})
	usage := func(of string) client.Object {
		return &v1alpha1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"uses": of}}}
	}
	h.Create(t.Context(), event.CreateEvent{Object: usage("created")}, q)
	h.Update(t.Context(), event.UpdateEvent{ObjectOld: usage("was"), ObjectNew: usage("is")}, q)
	h.Delete(t.Context(), event.DeleteEvent{Object: usage("deleted")}, q)
	if diff := cmp.Diff(map[string]time.Duration{"created": usersLag, "was": usersLag, "is": usersLag, "deleted": usersLag}, q.after); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
