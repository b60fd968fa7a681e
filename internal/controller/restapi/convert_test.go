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
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// fill every field of v with something that is not its zero value and that no
// other field has.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if raw, ok := v.Interface().(*runtime.RawExtension); ok {
			raw.Raw = []byte(`{"key":{"nested":[` + strconv.Itoa(*n) + `,"text",true]}}`)
			return
		}
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key-"+strconv.Itoa(*n)), reflect.ValueOf("value-"+strconv.Itoa(*n)))
	case reflect.String:
		v.SetString("text-" + strconv.Itoa(*n))
	case reflect.Int64:
		v.SetInt(int64(*n))
	default:
		panic("fill does not know " + v.Kind().String())
	}
}

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// contract: R3
func TestWriteLosesNothing(t *testing.T) {
	p := v1alpha1.RestApiParameters{}
	n := 0
	fill(reflect.ValueOf(&p).Elem(), &n)
	plans := []string{"Gold", "Silver"}

	w, err := write("books", p, plans, "c/ns/n")
	if err != nil {
		t.Fatal(err)
	}

	want := asMap(t, p)
	for _, elsewhere := range []string{"labels", "annotations", "subscriptionPlanRefs", "subscriptionPlans"} {
		delete(want, elsewhere)
	}
	got := asMap(t, w.Spec)
	if diff := cmp.Diff([]any{"Gold", "Silver"}, got["subscriptionPlans"]); diff != "" {
		t.Errorf("write(...): plans: -want, +got:\n%s", diff)
	}
	delete(got, "subscriptionPlans")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("write(...): spec: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(p.Labels, w.Labels); diff != "" {
		t.Errorf("write(...): labels: -want, +got:\n%s", diff)
	}
	annotations := map[string]string{v1alpha1.AnnotationOwner: "c/ns/n"}
	for k, v := range p.Annotations {
		annotations[k] = v
	}
	if diff := cmp.Diff(annotations, w.Annotations); diff != "" {
		t.Errorf("write(...): annotations: -want, +got:\n%s", diff)
	}
	if w.Name != "books" {
		t.Errorf("write(...): handle %q", w.Name)
	}
}

// What the gateway's wire type has, the API type must have too, so that a full
// replacement erases nothing that could not be expressed.
//
// contract: R3
func TestEveryWireFieldCanBeExpressed(t *testing.T) {
	w := gateway.RestAPISpec{}
	fillWire(reflect.ValueOf(&w).Elem())
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	p := v1alpha1.RestApiParameters{}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asMap(t, w), asMap(t, p)); diff != "" {
		t.Errorf("-wire, +API:\n%s", diff)
	}
}

func fillWire(v reflect.Value) {
	if p, ok := v.Addr().Interface().(*gateway.Params); ok {
		*p = gateway.Params(`{"a":1}`)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillWire(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fillWire(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillWire(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Int64:
		v.SetInt(1)
	default:
		panic("fillWire does not know " + v.Kind().String())
	}
}

func TestKeep(t *testing.T) {
	got := &gateway.RestAPI{Metadata: gateway.Metadata{Annotations: map[string]string{annotationArtifactID: "uuid", "other": "x"}}}
	w := gateway.RestAPIWrite{Annotations: map[string]string{"mine": "y"}}
	want := map[string]string{annotationArtifactID: "uuid", "mine": "y"}
	if diff := cmp.Diff(want, keep(w, got).Annotations); diff != "" {
		t.Errorf("keep(...): -want, +got:\n%s", diff)
	}
	if len(w.Annotations) != 1 {
		t.Error("keep(...) changed its argument")
	}
}
