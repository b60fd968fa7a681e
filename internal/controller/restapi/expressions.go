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

// expressionIn is the path of the first field of a spec that has a template expression,
// empty if none has.
func expressionIn(spec gateway.RestAPISpec) (string, error) {
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
			if found := expressionUnder(path+"."+key, v[key]); found != "" {
				return found
			}
		}
	}
	return ""
}

// expressionDenied says that a spec has a template expression that the configuration does
// not let to the gateway.
func expressionDenied(path string, config connection.Ref) string {
	return fmt.Sprintf("%s holds a template expression ({{ … }}), by which an API gets at the environment and the secrets of the gateway, and %s %q denies those: write the value itself, or have spec.templateExpressions of the %s set to Allow", path, config.Kind, config.Name, config.Kind)
}
