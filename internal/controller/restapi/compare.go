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
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// maxDifferences is how many differing fields are named.
const maxDifferences = 5

// A reading says how an API was read: a list answers a resolved context.
type reading int

const (
	fromGet reading = iota
	fromList
)

// differences are the paths of the fields in which what the gateway has differs
// from what is asked for, at most maxDifferences of them, sorted. They are paths
// alone, since values can hold secrets.
//
// What the gateway changes by itself is no difference: it fills in virtual hosts
// on create but not on update, rewrites numbers in params, sorts keys, and
// answers $version resolved in a list. Nor is a default that is written out. The
// order of operations and policies matters, that of plans does not.
func differences(want gateway.RestAPIWrite, got *gateway.RestAPI, how reading) ([]string, error) {
	w, err := tree(keep(want, got).Spec)
	if err != nil {
		return nil, err
	}
	spec := got.Spec
	if want.Spec.Vhosts == nil && untouched(got) && defaultVhosts(spec.Vhosts) {
		spec.Vhosts = nil
	}
	if how == fromList && spec.Context == want.Spec.ResolvedContext() {
		spec.Context = want.Spec.Context
	}
	g, err := tree(spec)
	if err != nil {
		return nil, err
	}

	var out []string
	diff(&out, "spec", w, g)
	diff(&out, "metadata.labels", texts(want.Labels), texts(got.Metadata.Labels))
	diff(&out, "metadata.annotations", texts(keep(want, got).Annotations), texts(got.Metadata.Annotations))
	// The state is checked beside the spec, since a create ignores it there.
	if state := stateOf(want.Spec); got.Status != nil && knownState(got.Status.State) && got.Status.State != state {
		out = append(out, "spec.deploymentState")
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxDifferences)], nil
}

func stateOf(s gateway.RestAPISpec) string {
	if s.DeploymentState == "" {
		return gateway.StateDeployed
	}
	return s.DeploymentState
}

func knownState(s string) bool { return s == gateway.StateDeployed || s == gateway.StateUndeployed }

// untouched tells whether an API was never written since it was created. Every
// update, also one that changes nothing, moves updatedAt.
func untouched(got *gateway.RestAPI) bool {
	return got.Status != nil && got.Status.CreatedAt.Equal(got.Status.UpdatedAt)
}

// defaultVhosts tells whether virtual hosts are those that a create without any
// is given. A gateway that is configured with others has them removed by one
// update, which is just as well: without any it uses its defaults.
func defaultVhosts(v *gateway.Vhosts) bool {
	return v != nil && v.Main == "*" && (v.Sandbox == "" || v.Sandbox == "sandbox-*")
}

// tree is a spec as JSON without what means the same as being absent.
func tree(s gateway.RestAPISpec) (any, error) {
	s.SubscriptionPlans = slices.Compact(slices.Sorted(slices.Values(s.SubscriptionPlans)))
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the spec of an API")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.Wrap(err, "cannot decode the spec of an API")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the spec of an API is followed by something else")
	}
	return prune("", v), nil
}

// prune removes from typed fields what means the same as being absent.
func prune(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if k == "params" {
				// The top level of params may be left out if it is empty. Below it
				// only the policy knows what an empty list means.
				if e = params(e); !empty(e) {
					out[k] = e
				}
				continue
			}
			if e = prune(k, e); !empty(e) {
				out[k] = e
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, prune("", e))
		}
		return out
	case json.Number:
		return number(v)
	case string:
		if isDefault(key, v) {
			return ""
		}
		return v
	default:
		return v
	}
}

// isDefault tells whether a field that is a text has the value it has when it is
// left out.
func isDefault(key, v string) bool {
	switch key {
	case "hostRewrite":
		return v == "auto"
	case "type":
		return v == "Exact"
	case "deploymentState":
		return v == gateway.StateDeployed
	default:
		return false
	}
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// params normalises numbers, and drops null, which the gateway may drop too.
func params(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e != nil {
				out[k] = params(e)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, params(e))
		}
		return out
	case json.Number:
		return number(v)
	default:
		return v
	}
}

// number is what the gateway keeps of a number: a float64.
func number(n json.Number) any {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return n
	}
	return f
}

func texts(m map[string]string) any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// diff appends the paths in which two trees differ, until it has enough of them.
func diff(out *[]string, path string, w, g any) {
	if len(*out) >= maxDifferences {
		return
	}
	switch w := w.(type) {
	case map[string]any:
		g, ok := g.(map[string]any)
		if !ok {
			*out = append(*out, path)
			return
		}
		keys := slices.Sorted(maps.Keys(w))
		for k := range g {
			if _, ok := w[k]; !ok {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			we, wok := w[k]
			ge, gok := g[k]
			if wok != gok {
				if len(*out) < maxDifferences {
					*out = append(*out, join(path, k))
				}
				continue
			}
			diff(out, join(path, k), we, ge)
		}
	case []any:
		g, ok := g.([]any)
		if !ok || len(w) != len(g) {
			*out = append(*out, path)
			return
		}
		for i := range w {
			diff(out, path+"["+strconv.Itoa(i)+"]", w[i], g[i])
		}
	default:
		if !equal(w, g) {
			*out = append(*out, path)
		}
	}
}

// equal compares scalars. A container in g is never equal to a scalar, and must
// not be compared with ==.
func equal(w, g any) bool {
	switch g.(type) {
	case map[string]any, []any:
		return false
	default:
		return w == g
	}
}

func join(path, key string) string {
	if strings.ContainsAny(key, "./[]") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	return path + "." + key
}
