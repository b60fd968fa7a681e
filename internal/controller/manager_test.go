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

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Of a Secret whose metadata is watched nothing is kept that it holds: kubectl writes all
// of it into an annotation.
//
// contract: A2
func TestVersionOnly(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	got, err := versionOnly(&metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: "token", UID: "uid", ResourceVersion: "7", Generation: 1,
		Labels:          map[string]string{"a": "b"},
		Annotations:     map[string]string{corev1.LastAppliedConfigAnnotation: `{"stringData":{"token":"secret"}}`},
		OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := &metav1.PartialObjectMetadata{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "token", UID: "uid", ResourceVersion: "7"}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	if got, err := versionOnly(other); got != any(other) || err != nil {
		t.Errorf("what is no metadata: %v, %v", got, err)
	}
}
