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

package composition

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestPatchAndTransform has what the example's patches make of the example judged by the
// schemas of what is composed. function-patch-and-transform itself is not run: it is no Go
// module that could be had here. What is below understands of it only what the example
// uses, by its documentation, and fails on everything else.
func TestPatchAndTransform(t *testing.T) {
	dir := filepath.Join(shared.root, "examples", "composition")
	composition, resources := &xpv1.Composition{}, &patchAndTransform{}
	read(t, composition, dir, "patch-and-transform.yaml")
	if n := len(composition.Spec.Pipeline); n != 1 {
		t.Fatalf("the pipeline has %d steps", n)
	}
	if err := yaml.UnmarshalStrict(composition.Spec.Pipeline[0].Input.Raw, resources); err != nil {
		t.Fatal(err)
	}
	example := map[string]any{}
	read(t, &example, dir, "access.yaml")

	cases := map[string]struct {
		reason string
		change func(xr *fieldpath.Paved)
	}{
		"example": {
			reason: "The example becomes a Subscription and a Usage.",
			change: func(*fieldpath.Paved) {},
		},
		"everything": {
			reason: "With all that can be given, each field gets where it belongs.",
			change: func(xr *fieldpath.Paved) {
				for path, v := range map[string]any{
					"spec.suspended": true, "spec.secretName": "the-secret", "spec.externalRefId": "the-id",
					"metadata.annotations[gateway.apiplatform.crossplane.io/rotate-token]": "once",
					"spec.billingCustomerId": "c-1", "spec.billingSubscriptionId": "s-1", "spec.tokenSecretRef": map[string]any{"name": "the-token", "key": "t"},
				} {
					if err := xr.SetValue(path, v); err != nil {
						t.Fatal(err)
					}
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr := fieldpath.Pave(clone(t, example))
			tc.change(xr)
			var stream []byte
			for _, r := range resources.Resources {
				o, err := r.render(xr)
				if err != nil {
					t.Fatalf("%s: %v", r.Name, err)
				}
				b, err := yaml.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				stream = append(append(stream, "---\n"...), b...)
			}
			want, err := os.ReadFile(filepath.Join("testdata", "patch-and-transform-"+name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parse(t, want), parse(t, stream)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			b, err := yaml.Marshal(xr.UnstructuredContent())
			if err != nil {
				t.Fatal(err)
			}
			validate(t, append(append(b, "---\n"...), stream...))
		})
	}
	// The Composition by its own schema; that of the function's input is in the function's
	// package.
	b, err := os.ReadFile(filepath.Join(dir, "patch-and-transform.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	validate(t, b, "pt.fn.crossplane.io/v1beta1, Kind=Resources")
}

func read(t *testing.T, into any, path ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(b, into); err != nil {
		t.Fatal(err)
	}
}

func clone(t *testing.T, o map[string]any) map[string]any {
	t.Helper()
	b, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	c := map[string]any{}
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// What the example uses of the input of function-patch-and-transform.
type patchAndTransform struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Resources  []patchedResource `json:"resources"`
}

type patchedResource struct {
	Name    string         `json:"name"`
	Base    map[string]any `json:"base"`
	Patches []patch        `json:"patches"`
}

type patch struct {
	Type          string  `json:"type"`
	FromFieldPath *string `json:"fromFieldPath"`
	Combine       *struct {
		Strategy  string `json:"strategy"`
		Variables []struct {
			FromFieldPath string `json:"fromFieldPath"`
		} `json:"variables"`
		String struct {
			Format string `json:"fmt"`
		} `json:"string"`
	} `json:"combine"`
	ToFieldPath string `json:"toFieldPath"`
	Policy      *struct {
		FromFieldPath string `json:"fromFieldPath"`
	} `json:"policy"`
	Transforms []struct {
		Type    string `json:"type"`
		Convert *struct {
			ToType string `json:"toType"`
		} `json:"convert"`
		Map map[string]string `json:"map"`
	} `json:"transforms"`
}

// render a resource: the base, with the patches in their order.
func (r patchedResource) render(xr *fieldpath.Paved) (map[string]any, error) {
	b, err := yaml.Marshal(r.Base)
	if err != nil {
		return nil, err
	}
	base := map[string]any{}
	if err := yaml.Unmarshal(b, &base); err != nil {
		return nil, err
	}
	o := fieldpath.Pave(base)
	for _, p := range r.Patches {
		v, err := p.value(xr)
		switch {
		case fieldpath.IsNotFound(err) && p.Policy == nil:
			continue
		case err != nil:
			return nil, err
		}
		if err := o.SetValue(p.ToFieldPath, v); err != nil {
			return nil, err
		}
	}
	// What Crossplane's core adds, as far as schemas mind it.
	if err := o.SetValue("metadata.annotations[crossplane.io/composition-resource-name]", r.Name); err != nil {
		return nil, err
	}
	for _, of := range []string{"name", "namespace"} {
		v, err := xr.GetString("metadata." + of)
		if err != nil {
			return nil, err
		}
		if err := o.SetString("metadata."+of, v); err != nil {
			return nil, err
		}
	}
	return o.UnstructuredContent(), nil
}

func (p patch) value(xr *fieldpath.Paved) (any, error) {
	switch p.Type {
	case "FromCompositeFieldPath":
		v, err := xr.GetValue(*p.FromFieldPath)
		if err != nil {
			return nil, err
		}
		for _, tr := range p.Transforms {
			switch b, isBool := v.(bool); {
			case tr.Type == "convert" && tr.Convert.ToType == "string" && isBool:
				v = strconv.FormatBool(b)
			case tr.Type == "map":
				s, ok := v.(string)
				if !ok {
					return nil, fmt.Errorf("map takes a string, and not %v", v)
				}
				if v, ok = tr.Map[s]; !ok {
					return nil, fmt.Errorf("map has no %q", s)
				}
			default:
				return nil, fmt.Errorf("this test does not know the transform %+v of %v", tr, v)
			}
		}
		return v, nil
	case "CombineFromComposite":
		if p.Combine.Strategy != "string" || len(p.Transforms) > 0 {
			return nil, fmt.Errorf("this test does not know the combination %+v", p)
		}
		var vars []any
		for _, v := range p.Combine.Variables {
			one, err := xr.GetValue(v.FromFieldPath)
			if err != nil {
				return nil, err
			}
			vars = append(vars, one)
		}
		return fmt.Sprintf(p.Combine.String.Format, vars...), nil
	default:
		return nil, fmt.Errorf("this test does not know patches of type %q", p.Type)
	}
}
