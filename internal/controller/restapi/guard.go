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

package restapi

import (
	"context"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// guard looks after an API whose managed resource was refused and is left alone.
// It returns true once there is something to do: the handle is free or ours, or
// the API is gone, or somebody wrote it.
func (e *external) guard(ctx context.Context, mg *v1alpha1.RestApi) (bool, error) {
	refused := mg.Status.GetCondition(v1alpha1.TypeApplied)
	if !mg.Status.Deployed && (refused.Reason != v1alpha1.ReasonConflict || refused.Message == nameTaken) {
		return false, nil
	}
	mg = mg.DeepCopy()
	f, err := e.find(ctx, mg)
	if err != nil {
		return false, err
	}
	switch {
	case f.verdict.action == create && f.baseline != nil:
		return !e.memory.contests.Vanishes(mg.GetUID(), e.now()), nil
	case !mg.Status.Deployed || f.verdict.action != manage:
		return f.verdict.action != refuse, nil
	}
	was, is := mg.Status.AtProvider.UpdatedAt, observation(f.got, e.at, "").UpdatedAt
	return was == nil || is == nil || was.Unix() != is.Unix(), nil
}
