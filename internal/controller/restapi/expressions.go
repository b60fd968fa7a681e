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
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// expressionStart is where the gateway begins to look for a template expression, in any
// text of a spec.
const expressionStart = "{{"

// expressionIn tells where a spec that is to be written has a template expression: the
// path of the first such field, empty if none has. A plan name that the API at the gateway
// has already brings none there.
func expressionIn(spec gateway.RestAPISpec, got *gateway.RestAPI) (string, error) {
	for _, name := range spec.SubscriptionPlans {
		if strings.Contains(name, expressionStart) && (got == nil || !slices.Contains(got.Spec.SubscriptionPlans, name)) {
			// It may be one that a reference led to, and which is not in the spec.
			return fmt.Sprintf("the plan name %q", name), nil
		}
	}
	spec.SubscriptionPlans = nil
	raw, err := json.Marshal(spec)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode what the spec asks for")
	}
	// What is escaped in the params of a policy is not any more once it is decoded.
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return "", errors.Wrap(err, "cannot decode what the spec asks for")
	}
	return expressionUnder("spec.forProvider", decoded), nil
}

func expressionUnder(path string, value any) string {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, expressionStart) {
			return path
		}
	case []any:
		for i, item := range v {
			if found := expressionUnder(fmt.Sprintf("%s[%d]", path, i), item); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := expressionUnder(join(path, key), v[key]); found != "" {
				return found
			}
		}
	}
	return ""
}

// expressionDenied says that a spec has a template expression that the configuration does
// not let to the gateway.
func expressionDenied(path string, config connection.Ref) string {
	return fmt.Sprintf("%s holds a template expression ({{ … }}), by which an API gets at the environment and the secrets of the gateway, and %s %q denies those: remove it, or have spec.templateExpressions of the %s set to Allow", path, config.Kind, config.Name, config.Kind)
}
