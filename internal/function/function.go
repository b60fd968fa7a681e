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
	"context"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// How long a response is good for if nothing changes. A core that watches what a
// function asked for calls it at once when something does; others ask after this time.
const (
	ttlSettled = 10 * time.Minute
	ttlWaiting = time.Minute
	// ttlSoon is for the cache of Secrets, which nobody watches, to catch up.
	ttlSoon = 5 * time.Second
)

// Names of requirements.
const (
	requireProduct    = "product"
	requireAccesses   = "accesses"
	requireHeldAPI    = "held-api"
	requirePlanPrefix = "plan-"
)

// A Function composes APIProducts and APIAccesses.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction says what a composite resource is composed of. What cannot be understood is
// a fatal result, after which Crossplane changes nothing.
func (*Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttlSettled)
	if err := run(req, rsp); err != nil {
		response.Fatal(rsp, err)
	}
	return rsp, nil
}

func run(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) error {
	xr := req.GetObserved().GetComposite().GetResource().AsMap()
	apiVersion, kind := text(xr, "apiVersion"), text(xr, "kind")
	switch {
	case apiVersion == Group+"/"+Version && kind == kindProduct:
		return runProduct(req, rsp, xr)
	case apiVersion == Group+"/"+Version && kind == kindAccess,
		apiVersion == LegacyGroup+"/"+Version && kind == kindLegacyAccess:
		return runAccess(req, rsp, xr)
	default:
		return errors.Errorf("function-apiplatform does not know %s %s; it composes %s and %s of %s/%s, and %s of %s/%s; name another function in the Composition's pipeline, or the right type in its compositeTypeRef",
			apiVersion, kind, kindProduct, kindAccess, Group, Version, kindLegacyAccess, LegacyGroup, Version)
	}
}

func runProduct(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, xr map[string]any) error {
	p := &compositeResource[productSpec, struct{}]{}
	if err := decode(xr, p); err != nil {
		return err
	}
	c := productCase{
		Name:          p.Metadata.Name,
		Namespace:     p.Metadata.Namespace,
		Spec:          p.Spec,
		Observed:      observed(req),
		Plans:         map[string]*resource{},
		PlansLookedUp: map[string]bool{},
	}
	if c.asksForAccesses() {
		// All of the namespace: who uses an API or a plan need not be composed, nor be of
		// this product, nor have the label still.
		require(rsp, requireAccesses, &fnv1.ResourceSelector{
			ApiVersion: v1alpha1.SchemeGroupVersion.String(),
			Kind:       v1alpha1.SubscriptionKind,
			Namespace:  &c.Namespace,
			Match:      &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{}},
		})
		c.Accesses, c.LookedUp = required(req, requireAccesses)
	}
	for _, plan := range p.Spec.Plans {
		if plan.SubscriptionPlanRef == nil {
			continue
		}
		name := requirePlanPrefix + plan.Name
		require(rsp, name, &fnv1.ResourceSelector{
			ApiVersion: v1alpha1.SchemeGroupVersion.String(),
			Kind:       v1alpha1.SubscriptionPlanKind,
			Namespace:  &c.Namespace,
			Match:      &fnv1.ResourceSelector_MatchName{MatchName: plan.SubscriptionPlanRef.Name},
		})
		found, known := required(req, name)
		c.PlansLookedUp[plan.Name] = known
		if len(found) > 0 {
			c.Plans[plan.Name] = &resource{Object: found[0]}
		}
	}
	return respond(req, rsp, judgeProduct(c))
}

func runAccess(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, xr map[string]any) error {
	a := &compositeResource[accessSpec, accessStatus]{}
	if err := decode(xr, a); err != nil {
		return err
	}
	c := accessCase{
		Name:          a.Metadata.Name,
		Namespace:     a.Metadata.Namespace,
		CompositeName: a.Metadata.Name,
		Spec:          a.Spec,
		Status:        a.Status,
		RotateToken:   a.Metadata.Annotations[v1alpha1.AnnotationRotateToken],
		Observed:      observed(req),
	}
	if text(xr, "kind") == kindLegacyAccess {
		// What a team wrote, and where, is the claim.
		c.Name, c.Namespace = text(xr, "spec", "claimRef", "name"), text(xr, "spec", "claimRef", "namespace")
	}
	if c.Namespace != "" {
		require(rsp, requireProduct, &fnv1.ResourceSelector{
			ApiVersion: Group + "/" + Version,
			Kind:       kindProduct,
			Namespace:  &c.Namespace,
			Match:      &fnv1.ResourceSelector_MatchName{MatchName: a.Spec.ProductRef.Name},
		})
		found, known := required(req, requireProduct)
		c.LookedUp = known
		if len(found) > 0 {
			p := &compositeResource[productSpec, productStatus]{}
			if err := decode(found[0].Object, p); err != nil {
				return err
			}
			c.Product = &product{Deleting: p.Metadata.DeletionTimestamp != nil, Spec: p.Spec, Status: p.Status}
		}
	}
	if sub := c.Observed[nameSubscription]; sub != nil {
		if handle := heldAPI(sub); handle != "" && handle != text(sub.Object.Object, "spec", "forProvider", "apiIdRef", "name") {
			namespace := sub.Object.GetNamespace()
			require(rsp, requireHeldAPI, &fnv1.ResourceSelector{
				ApiVersion: v1alpha1.SchemeGroupVersion.String(),
				Kind:       v1alpha1.RestApiKind,
				Namespace:  &namespace,
				Match:      &fnv1.ResourceSelector_MatchName{MatchName: handle},
			})
			found, known := required(req, requireHeldAPI)
			c.LookedUp = c.LookedUp && known
			if len(found) > 0 {
				c.HeldAPI = found[0]
			}
		}
	}
	return respond(req, rsp, judgeAccess(c))
}

// observed composed resources. Of their connection details only the URL is taken; the
// others are secret, and only that they are there is.
func observed(req *fnv1.RunFunctionRequest) map[string]*resource {
	all := map[string]*resource{}
	for name, r := range req.GetObserved().GetResources() {
		one := &resource{Object: &unstructured.Unstructured{Object: r.GetResource().AsMap()}, Keys: map[string]bool{}}
		all[name] = one
		details := r.GetConnectionDetails()
		if !areOf(details, one.Object) {
			continue
		}
		for k, v := range details {
			one.Keys[k] = len(v) > 0
		}
		one.URL = string(details[keyURL])
	}
	return all
}

// areOf tells whether connection details are what a Subscription wrote. Crossplane reads
// the Secret that its spec names, whoever wrote that, and a team may name any.
func areOf(details map[string][]byte, subscription *unstructured.Unstructured) bool {
	id := text(subscription.Object, "status", "atProvider", "id")
	return id != "" && string(details[keySubscriptionID]) == id
}

// require that Crossplane looks something up.
func require(rsp *fnv1.RunFunctionResponse, name string, s *fnv1.ResourceSelector) {
	if rsp.GetRequirements() == nil {
		rsp.Requirements = &fnv1.Requirements{}
	}
	if rsp.GetRequirements().GetResources() == nil {
		rsp.Requirements.Resources = map[string]*fnv1.ResourceSelector{}
	}
	rsp.Requirements.Resources[name] = s
}

// required resources that were found, and whether they were looked up at all.
func required(req *fnv1.RunFunctionRequest, name string) ([]*unstructured.Unstructured, bool) {
	found, ok := req.GetRequiredResources()[name]
	var all []*unstructured.Unstructured
	for _, r := range found.GetItems() {
		all = append(all, &unstructured.Unstructured{Object: r.GetResource().AsMap()})
	}
	return all, ok
}

// respond with a verdict, beside what earlier steps of the pipeline desire.
func respond(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, v verdict) error {
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = map[string]*fnv1.Resource{}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Composed)) {
		d := v.Composed[name]
		s, err := structpb.NewStruct(d.Object)
		if err != nil {
			return errors.Wrapf(err, "cannot encode the composed resource %q", name)
		}
		r := &fnv1.Resource{Resource: s, Ready: fnv1.Ready_READY_FALSE}
		if d.Ready {
			r.Ready = fnv1.Ready_READY_TRUE
		}
		rsp.Desired.Resources[name] = r
	}

	xr := rsp.GetDesired().GetComposite()
	if xr == nil {
		xr = &fnv1.Resource{}
		rsp.Desired.Composite = xr
	}
	is := xr.GetResource().AsMap()
	status := fields(is, "status")
	if status == nil {
		status = map[string]any{}
	}
	maps.Copy(status, v.Status)
	is["status"] = status
	if _, ok := is["apiVersion"]; !ok {
		of := req.GetObserved().GetComposite().GetResource().AsMap()
		is["apiVersion"], is["kind"] = of["apiVersion"], of["kind"]
	}
	s, err := structpb.NewStruct(is)
	if err != nil {
		return errors.Wrap(err, "cannot encode the status of the composite resource")
	}
	xr.Resource = s
	if v.NotReady {
		// Otherwise Crossplane says so of the composed resources, and names them.
		xr.Ready = fnv1.Ready_READY_FALSE
	}

	for _, c := range v.Conditions {
		status := fnv1.Status_STATUS_CONDITION_UNKNOWN
		switch c.Status {
		case isTrue:
			status = fnv1.Status_STATUS_CONDITION_TRUE
		case isFalse:
			status = fnv1.Status_STATUS_CONDITION_FALSE
		}
		rsp.Conditions = append(rsp.Conditions, &fnv1.Condition{
			Type: c.Type, Status: status, Reason: c.Reason, Message: &c.Message,
			Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		})
	}
	for _, e := range v.Events {
		rsp.Results = append(rsp.Results, &fnv1.Result{
			Severity: fnv1.Severity_SEVERITY_NORMAL, Message: e.Message, Reason: &e.Reason,
			Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		})
	}

	switch {
	case v.Soon:
		rsp.Meta.Ttl = durationpb.New(ttlSoon)
	case v.Waiting:
		rsp.Meta.Ttl = durationpb.New(ttlWaiting)
	}
	return nil
}
