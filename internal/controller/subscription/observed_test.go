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

package subscription

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

// What an import does not say of the status is as it is at the gateway, and no drift.
//
// contract: S19, S34
func TestObservedWithoutStatusIsNoDrift(t *testing.T) {
	w := newWorld(t, emulator.InPlace)
	id := w.byHand(map[string]any{"apiId": "books", "subscriptionToken": secretToken, "status": "INACTIVE", "applicationId": "app"})
	w.add(tokenSecret("s", secretToken), subscription("s", tokenIn("s"), externalName(id), application("app"), policies("Observe")))
	cr, err := w.pass("s")
	if err != nil {
		t.Fatal(err)
	}
	if c := cr.GetCondition(v1alpha1.TypeDrifted); c.Status == corev1.ConditionTrue {
		t.Errorf("it says it drifted: %s", c.Message)
	}
}
