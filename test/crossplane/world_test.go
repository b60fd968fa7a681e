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

package crossplane

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/crossplane"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox/manifest"
)

// patience is how long something may take that takes seconds; a busy machine must not
// make it fail.
const patience = 2 * time.Minute

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(apis.AddToScheme(s))
	return s
}

// A world is core, what is installed in it, and a gateway, to a test.
type world struct {
	t    *testing.T
	core *crossplane.Crossplane
	kube client.Client
	gw   *emulator.Server
}

func in(t *testing.T) *world {
	return &world{t: t, core: shared.core, kube: shared.kube, gw: shared.gateway}
}

// then is the same world, to a part of a test.
func (w *world) then(name string, do func(*world)) {
	w.t.Helper()
	started := time.Now()
	if !w.t.Run(name, func(t *testing.T) { do(&world{t: t, core: w.core, kube: w.kube, gw: w.gw}) }) {
		w.t.FailNow() // What follows builds on it.
	}
	w.t.Logf("%s: %.1f s", name, time.Since(started).Seconds())
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() error) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		if failed := w.core.Failed(); failed != nil {
			w.t.Fatal(failed)
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("waited %s in vain until %s: %v", patience, what, err)
		case <-w.t.Context().Done():
			w.t.Fatalf("the test ended while it waited until %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// apply objects as a person does.
func (w *world) apply(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		// What is applied is to be applied again.
		if err := w.kube.Apply(w.t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("test"), client.ForceOwnership); err != nil {
			w.t.Fatalf("cannot apply %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// delete objects, and do not wait until they are gone.
func (w *world) delete(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Delete(w.t.Context(), o.DeepCopy()); client.IgnoreNotFound(err) != nil {
			w.t.Fatalf("cannot delete %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// gone waits until objects are.
func (w *world) gone(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		w.eventually(fmt.Sprintf("%s %s is gone", o.GetKind(), o.GetName()), func() error {
			got := o.DeepCopy()
			err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), got)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			if err == nil {
				return fmt.Errorf("it is there, with finalizers %v", got.GetFinalizers())
			}
			return nil
		})
	}
}

// has waits until objects have a condition, for what has to be said about it.
func (w *world) has(condition xpv2.ConditionType, objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		w.eventually(fmt.Sprintf("%s %s is %s", o.GetKind(), o.GetName(), condition), func() error {
			conditions, err := w.conditions(o)
			if err != nil {
				return err
			}
			if c := conditions.GetCondition(condition); c.Status != corev1.ConditionTrue {
				return fmt.Errorf("it says %s", said(conditions))
			}
			return nil
		})
	}
}

// says waits until a condition of an object has a message that contains something.
func (w *world) says(o *unstructured.Unstructured, condition xpv2.ConditionType, want string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s %s says %q", o.GetKind(), o.GetName(), want), func() error {
		conditions, err := w.conditions(o)
		if err != nil {
			return err
		}
		if c := conditions.GetCondition(condition); !strings.Contains(c.Message, want) {
			return fmt.Errorf("it says %s", said(conditions))
		}
		return nil
	})
}

// tells waits until a condition of an object has a reason, and a message that contains
// something.
func (w *world) tells(o *unstructured.Unstructured, condition xpv2.ConditionType, reason xpv2.ConditionReason, message string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s %s tells %s: %s, %q", o.GetKind(), o.GetName(), condition, reason, message), func() error {
		conditions, err := w.conditions(o)
		if err != nil {
			return err
		}
		if c := conditions.GetCondition(condition); c.Reason != reason || !strings.Contains(c.Message, message) {
			return fmt.Errorf("it says %s", said(conditions))
		}
		return nil
	})
}

func (w *world) conditions(o *unstructured.Unstructured) (*xpv2.ConditionedStatus, error) {
	got := o.DeepCopy()
	if err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
		return nil, err
	}
	var of struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}
	return &of.Status, runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &of)
}

func said(s *xpv2.ConditionedStatus) string {
	var all []string
	for _, c := range s.Conditions {
		all = append(all, fmt.Sprintf("%s=%s (%s) %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(all, "; ")
}

// get an object anew.
func (w *world) get(o *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	got := o.DeepCopy()
	if err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
		w.t.Fatalf("cannot get %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return got
}

// names of all objects of a kind.
func (w *world) names(gvk schema.GroupVersionKind, options ...client.ListOption) []string {
	w.t.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(gvk)
	if err := w.kube.List(w.t.Context(), l, options...); err != nil {
		w.t.Fatalf("cannot list %s: %v", gvk.Kind, err)
	}
	var names []string
	for _, o := range l.Items {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	return names
}

// writes are how many requests for a change the gateway has got.
func (w *world) writes() int { return w.gw.Count(emulator.Match{Writes: true}) }

// listed waits until the gateway was asked some times more for what it holds, so that
// what the provider would do about it it has done.
func (w *world) listed() {
	w.t.Helper()
	for _, kind := range []emulator.Kind{emulator.RestAPIs, emulator.SubscriptionPlans, emulator.Subscriptions} {
		lists := emulator.Match{Kind: kind, Lists: true}
		before := w.gw.Count(lists)
		w.eventually(fmt.Sprintf("%s are listed 3 more times", kind), func() error {
			if n := w.gw.Count(lists) - before; n < 3 {
				return fmt.Errorf("they were listed %d times", n)
			}
			return nil
		})
	}
}

// pod of a package.
func (w *world) pod(name string) crossplane.Pod {
	w.t.Helper()
	pod, ok := w.core.Pods()[name]
	if !ok {
		w.t.Fatalf("nothing runs for %s, but for %v", name, slices.Collect(maps.Keys(w.core.Pods())))
	}
	return pod
}

// nothingForbidden fails if what runs for a package wanted what it may not do.
func (w *world) nothingForbidden(name string) {
	w.t.Helper()
	content, err := os.ReadFile(w.pod(name).LogPath)
	if err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		if strings.Contains(strings.ToLower(lines.Text()), "forbidden") {
			w.t.Errorf("%s: %s", name, lines.Text())
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		w.t.Errorf("the log of %s has %d lines: %v", name, n, err)
	}
}

// example reads the objects in a file or folder of examples, with the sandbox's gateway
// for the one that they are written for.
func (w *world) example(path string) []*unstructured.Unstructured {
	w.t.Helper()
	objects, err := read(filepath.Join(shared.root, "examples", path))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range objects {
		if strings.HasSuffix(o.GetKind(), "ProviderConfig") {
			if err := unstructured.SetNestedField(o.Object, w.gw.URL(), "spec", "endpoint"); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return objects
}

// read the objects in a file, or in all of a folder.
func read(path string) ([]*unstructured.Unstructured, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
			return nil, err
		}
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := manifest.Parse(content)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// object parses one.
func (w *world) object(text string) *unstructured.Unstructured {
	w.t.Helper()
	objects, err := manifest.Parse([]byte(text))
	if err != nil || len(objects) != 1 {
		w.t.Fatalf("cannot read an object: %d found, %v", len(objects), err)
	}
	return objects[0]
}

// push the packages of a version to the registry.
func (w *world) push(version string) {
	w.t.Helper()
	if err := w.core.PushAll(w.t.Context(), filepath.Join(shared.packages, version), version); err != nil {
		w.t.Fatal(err)
	}
}
