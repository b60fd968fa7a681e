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
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// installTimeout bounds how long a package and all that it depends on may take.
const installTimeout = 3 * time.Minute

// What packages define, beside the packages themselves, and when that is of use.
var installed = map[schema.GroupVersionKind]xpv2.ConditionType{
	{Group: "pkg.crossplane.io", Version: "v1", Kind: "Provider"}:                                  "Healthy",
	{Group: "pkg.crossplane.io", Version: "v1", Kind: "Function"}:                                  "Healthy",
	{Group: "pkg.crossplane.io", Version: "v1", Kind: "Configuration"}:                             "Healthy",
	{Group: "apiextensions.crossplane.io", Version: "v1alpha1", Kind: "ManagedResourceDefinition"}: "Established",
	{Group: "apiextensions.crossplane.io", Version: "v2", Kind: "CompositeResourceDefinition"}:     "Established",
}

// Install a package by applying a Provider, Function or Configuration, and wait until
// it, and all others, are healthy and what they define is served.
func (c *Crossplane) Install(ctx context.Context, o *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	started := time.Now()
	if err := c.apply(ctx, o); err != nil {
		return err
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := c.allInstalled(ctx, o)
		if err == nil {
			_, _ = fmt.Fprintf(c.log, "%s %s installed after %.1f s, with %s\n", o.GetKind(), o.GetName(), time.Since(started).Seconds(), strings.Join(c.packages(), " and "))
			return nil
		}
		if failed := c.Failed(); failed != nil {
			return failed
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(ctx.Err(), "cannot install %s %s: %v", o.GetKind(), o.GetName(), err)
		case <-ticker.C:
		}
	}
}

// allInstalled tells what is not of use yet.
func (c *Crossplane) allInstalled(ctx context.Context, o *unstructured.Unstructured) error {
	for gvk, condition := range installed {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := c.kube.List(ctx, l); err != nil {
			return err
		}
		if gvk == o.GroupVersionKind() && len(l.Items) == 0 {
			return errors.Errorf("%s %s is not there", o.GetKind(), o.GetName())
		}
		for i := range l.Items {
			if err := has(&l.Items[i], condition); err != nil {
				return err
			}
		}
	}
	return nil
}

// has tells what an object says if it has not a condition.
func has(o *unstructured.Unstructured, condition xpv2.ConditionType) error {
	var of struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &of); err != nil {
		return errors.Wrapf(err, "cannot read the conditions of %s %s", o.GetKind(), o.GetName())
	}
	if is := of.Status.GetCondition(condition); is.Status != corev1.ConditionTrue {
		return errors.Errorf("%s %s is not %s: %s %s", o.GetKind(), o.GetName(), condition, is.Reason, is.Message)
	}
	return nil
}

// packages that run.
func (c *Crossplane) packages() []string {
	var names []string
	for name := range c.Pods() {
		names = append(names, strings.TrimPrefix(name, Organisation+"-"))
	}
	slices.Sort(names)
	return names
}

// Configuration returns the one of this project, in a version.
func Configuration(version string) *unstructured.Unstructured {
	const name = "configuration-apiplatform"
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"package": publicRegistry + "/" + Organisation + "/" + name + ":" + version}}}
	o.SetAPIVersion("pkg.crossplane.io/v1")
	o.SetKind("Configuration")
	o.SetName(name)
	return o
}
