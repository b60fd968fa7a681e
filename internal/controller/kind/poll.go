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

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
)

// unreadyPoll is how soon a managed resource that is not ready yet, and not
// because of an error, is looked at again.
const unreadyPoll = 5 * time.Second

// pollIntervalUpTo returns a hook that spreads polls by ten percent, shortens them
// for a managed resource that is still being created, and lets none be longer than
// the given time, give or take a fifth.
func pollIntervalUpTo(most time.Duration) managed.PollIntervalHook {
	return func(mg resource.Managed, d time.Duration) time.Duration {
		ready := mg.GetCondition(xpv2.TypeReady)
		if ready.Status == corev1.ConditionUnknown || ready.Reason == xpv2.ReasonCreating {
			d = min(d, unreadyPoll)
		}
		if most > 0 && d > most {
			return jitter(most, 0.2)
		}
		return jitter(d, 0.1)
	}
}
