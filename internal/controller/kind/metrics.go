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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// A stateRecorder counts the managed resources of a kind, and those that are ready and
// synced. The runtime's own keeps a copy of all of them from one count to the next, which
// is as much memory as the cache takes, and ends the process when it cannot list once.
type stateRecorder struct {
	kube     client.Reader
	newList  func() resource.ManagedList
	kind     schema.GroupVersionKind
	metrics  *statemetrics.MRStateMetrics
	interval time.Duration
	log      logging.Logger
}

var _ manager.Runnable = &stateRecorder{}

// Start counting, until the context is done.
func (r *stateRecorder) Start(ctx context.Context) error {
	ticker := time.NewTicker(r.interval)
	defer ticker.Stop()
	for {
		if err := r.record(ctx); err != nil && ctx.Err() == nil {
			r.log.Info("Cannot count managed resources for metrics", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (r *stateRecorder) record(ctx context.Context) error {
	l := r.newList()
	if err := r.kube.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	ready, synced := 0, 0
	for _, mg := range l.GetItems() {
		if mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			ready++
		}
		if mg.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue {
			synced++
		}
	}
	labels := prometheus.Labels{"gvk": r.kind.String()}
	r.metrics.Exists.With(labels).Set(float64(len(l.GetItems())))
	r.metrics.Ready.With(labels).Set(float64(ready))
	r.metrics.Synced.With(labels).Set(float64(synced))
	return nil
}
