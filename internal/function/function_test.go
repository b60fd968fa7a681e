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

package function

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"
)

// theToken is in every connection Secret that a test hands to the function.
const theToken = "9f86d081884c7d659a2feaa0c55ad015"

// A testCase is a file in testdata. What it says of an object is a JSON merge patch for
// the object of that name in testdata/objects.yaml.
type testCase struct {
	Reason string   `json:"reason"`
	Args   testArgs `json:"args"`
	// Want is a RunFunctionResponse.
	Want json.RawMessage `json:"want"`
}

type testArgs struct {
	// XR is access, legacyAccess or product, and Change what is different in it.
	XR     string         `json:"xr"`
	Change map[string]any `json:"change,omitempty"`
	// Observed composed resources, by their composition names.
	Observed map[string]testObserved `json:"observed,omitempty"`
	// Required resources, by the names of the requirements. A requirement that is not
	// there was not looked up yet; one with no objects found nothing.
	Required map[string][]testObject `json:"required,omitempty"`
	// Desired by an earlier step of the pipeline.
	Desired json.RawMessage `json:"desired,omitempty"`
}

type testObject struct {
	Is     string         `json:"is"`
	Change map[string]any `json:"change,omitempty"`
}

type testObserved struct {
	testObject `json:",inline"`
	// Keys of the connection Secret, and Details that are not what the object itself
	// would have written there.
	Keys    []string          `json:"keys,omitempty"`
	Details map[string]string `json:"details,omitempty"`
}

func TestRunFunction(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(f, "testdata/"), ".yaml")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tc := testCase{}
			if err := yaml.UnmarshalStrict(b, &tc); err != nil {
				t.Fatal(err)
			}
			want := &fnv1.RunFunctionResponse{}
			if err := protojson.Unmarshal(tc.Want, want); err != nil {
				t.Fatalf("want: %v", err)
			}
			got, err := (&Function{}).RunFunction(t.Context(), request(t, tc.Args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%s\nRunFunction(…) (-want +got):\n%s", tc.Reason, diff)
			}
			if strings.Contains(protojson.Format(got), theToken) {
				t.Error("the response holds the token")
			}
		})
	}
}

// fataler is a test, or a check of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// readObjects that the cases are made from, once: properties are checked of many.
var readObjects = sync.OnceValues(func() (map[string]map[string]any, error) {
	b, err := os.ReadFile(filepath.Join("testdata", "objects.yaml"))
	if err != nil {
		return nil, err
	}
	objects := map[string]map[string]any{}
	return objects, yaml.Unmarshal(b, &objects)
})

func request(t fataler, a testArgs) *fnv1.RunFunctionRequest {
	t.Helper()
	objects, err := readObjects()
	if err != nil {
		t.Fatal(err)
	}
	object := func(o testObject) *structpb.Struct {
		base, ok := objects[o.Is]
		if !ok {
			t.Fatalf("testdata/objects.yaml has no %q", o.Is)
		}
		return asStruct(t, merge(base, o.Change).(map[string]any))
	}
	req := &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: "a-tag"},
		Observed: &fnv1.State{
			Composite: &fnv1.Resource{Resource: object(testObject{Is: a.XR, Change: a.Change})},
			Resources: map[string]*fnv1.Resource{},
		},
		RequiredResources: map[string]*fnv1.Resources{},
	}
	for name, o := range a.Observed {
		r := &fnv1.Resource{Resource: object(o.testObject), ConnectionDetails: map[string][]byte{}}
		for _, k := range o.Keys {
			r.ConnectionDetails[k] = []byte(theToken)
			switch k {
			case keyURL:
				r.ConnectionDetails[k] = []byte("https://gateway.example.org/books/v1")
			case keySubscriptionID:
				r.ConnectionDetails[k] = []byte(text(r.GetResource().AsMap(), "status", "atProvider", "id"))
			}
		}
		for k, v := range o.Details {
			r.ConnectionDetails[k] = []byte(v)
		}
		req.Observed.Resources[name] = r
	}
	for name, found := range a.Required {
		req.RequiredResources[name] = &fnv1.Resources{}
		for _, o := range found {
			req.RequiredResources[name].Items = append(req.RequiredResources[name].Items, &fnv1.Resource{Resource: object(o)})
		}
	}
	if a.Desired != nil {
		req.Desired = &fnv1.State{}
		if err := protojson.Unmarshal(a.Desired, req.Desired); err != nil {
			t.Fatalf("desired: %v", err)
		}
	}
	return req
}

func asStruct(t fataler, o map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// merge a JSON merge patch into a value.
func merge(base, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if b, ok := base.(map[string]any); ok {
		for k, v := range b {
			merged[k] = v
		}
	}
	for k, v := range p {
		if v == nil {
			delete(merged, k)
			continue
		}
		merged[k] = merge(merged[k], v)
	}
	return merged
}
