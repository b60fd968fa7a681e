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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gatewayv1alpha1 "github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// lookOf is how a managed resource looks at its gateway. What one reading shows to all
// is good enough, unless somebody waits: its spec was edited, it is being deleted, or
// its annotations ask for more.
func lookOf(mg resource.ModernManaged, floor time.Duration) connection.Look {
	l := connection.Look{Who: client.ObjectKeyFromObject(mg)}
	if own, ok := meta.GetPollInterval(mg); ok {
		l.Urgent, l.MaxAge = true, max(own, floor)
	}
	if meta.WasDeleted(mg) || requested(mg) || mg.GetCondition(xpv2.TypeSynced).ObservedGeneration != mg.GetGeneration() {
		return closer(l)
	}
	return l
}

// closer is a look at the object itself, now.
func closer(l connection.Look) connection.Look {
	l.Urgent, l.MaxAge = true, time.Nanosecond
	return l
}

// requested tells whether the annotation crossplane.io/reconcile-requested-at asks for
// a reconcile that was not made yet.
func requested(mg resource.Managed) bool {
	token, ok := meta.GetReconcileRequest(mg)
	handled, tells := mg.(interface{ GetLastHandledReconcileAt() string })
	return ok && (!tells || handled.GetLastHandledReconcileAt() != token)
}

// settled tells whether there is nothing to do about a managed resource until something
// changes, here or at its gateway.
func settled(mg resource.ModernManaged) bool {
	_, polled := meta.GetPollInterval(mg)
	isTrue := func(t xpv2.ConditionType) bool { return mg.GetCondition(t).Status == corev1.ConditionTrue }
	return !polled && !meta.WasDeleted(mg) && isTrue(xpv2.TypeReady) && isTrue(gatewayv1alpha1.TypeApplied) && !isTrue(gatewayv1alpha1.TypeContested)
}
