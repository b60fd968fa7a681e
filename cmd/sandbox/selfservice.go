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

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/sandbox"
)

const (
	// Names in examples/access.
	productName = "books"
	accessName  = "web-shop"

	// released is how long Crossplane may take to notice that nobody uses a product any
	// more.
	released = 90 * time.Second
)

// A selfService is what there is to play with where Crossplane runs: a product that a
// platform team offers, and a team that asked for access to it.
type selfService struct {
	*tale

	product, access *unstructured.Unstructured
	asked           time.Time
}

func newSelfService(box *sandbox.Sandbox) (*selfService, error) {
	t, err := newTale(box)
	if err != nil {
		return nil, err
	}
	s := &selfService{tale: t}
	// Of the quickstart, only how the gateway is reached.
	var gateway []*unstructured.Unstructured
	for _, o := range t.quickstart {
		if o.GetKind() == v1alpha1.ClusterProviderConfigKind || o.GetName() == passwordSecret {
			gateway = append(gateway, o)
		}
	}
	t.quickstart = gateway
	objects, err := readObjects(filepath.Join(box.Root, "examples", "access"))
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		switch o.GetKind() + " " + o.GetName() {
		case "APIProduct " + productName:
			s.product = o
		case "APIAccess " + accessName:
			s.access = o
		}
	}
	if s.product == nil || s.access == nil {
		return nil, errors.Errorf("examples/access has no APIProduct %s or no APIAccess %s", productName, accessName)
	}
	return s, nil
}

// steps of what is there to begin with.
func (s *selfService) steps() []step {
	return []step{
		{
			name:   "The platform team says how the gateway is reached, and offers a product: examples/quickstart/1-gateway.yaml, examples/access/product.yaml",
			do:     func(ctx context.Context) error { return errors.Join(s.apply(ctx), s.applyOne(ctx, s.product)) },
			until:  func(ctx context.Context) error { return s.ready(ctx, s.product) },
			within: 4 * soon,
		},
		{
			name: "A team asks for access: examples/access/access.yaml",
			do: func(ctx context.Context) error {
				s.asked = time.Now()
				return s.applyOne(ctx, s.access)
			},
			until:  s.hasSecret,
			within: 2 * soon,
			say:    s.whatTheTeamHas,
		},
	}
}

func (s *selfService) applyOne(ctx context.Context, o *unstructured.Unstructured) error {
	err := s.kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("sandbox"), client.ForceOwnership)
	return errors.Wrapf(err, "cannot apply %s %s", o.GetKind(), o.GetName())
}

// hasSecret tells what the team's Secret still lacks.
func (s *selfService) hasSecret(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := s.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: accessName}, secret); err != nil {
		return errors.Join(err, s.ready(ctx, s.access))
	}
	for _, key := range []string{"token", "subscriptionId"} {
		if len(secret.Data[key]) == 0 {
			return errors.Errorf("Secret %s has no %s yet", accessName, key)
		}
	}
	return nil
}

func (s *selfService) whatTheTeamHas(ctx context.Context) ([]string, error) {
	secret := &corev1.Secret{}
	if err := s.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: accessName}, secret); err != nil {
		return nil, err
	}
	took := time.Since(s.asked)
	sub, err := s.gateway.GetSubscription(ctx, string(secret.Data["subscriptionId"]))
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("Secret %s was there after %.1f s, with a token and the ID of the subscription", accessName, took.Seconds()),
		fmt.Sprintf("at the gateway: subscription %s, %s", sub.ID, sub.Status),
	}, nil
}

// cleanUp a gateway that outlives the sandbox: accesses first, which the product waits
// for.
func (s *selfService) cleanUp(ctx context.Context, n *narrator) error {
	if s.box.Emulator != nil || s.box.Failed() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*released)
	defer cancel()
	gone := func(o *unstructured.Unstructured) func(context.Context) error {
		return func(ctx context.Context) error {
			// It may have to be asked for more than once: a product is protected.
			switch err := s.kube.Delete(ctx, o.DeepCopy(), client.PropagationPolicy("Foreground")); {
			case kerrors.IsNotFound(err):
				return nil
			case err != nil:
				return err
			}
			return errors.Errorf("%s %s is there", o.GetKind(), o.GetName())
		}
	}
	err := n.tell(ctx, []step{
		{name: "Clean up the gateway: the access", until: gone(s.access), within: 2 * soon},
		{name: "Clean up the gateway: the product", until: gone(s.product), within: released},
	})
	return errors.Wrap(err, "something may be left at the gateway")
}

// invitation to play.
func (s *selfService) invitation() string {
	return fmt.Sprintf(`
Crossplane runs, with the provider, the function and the configuration of this project. In another terminal:

%s
The gateway's management API is at %s (user %s).

As a product team:

  kubectl get apiaccess %[4]s
  kubectl get secret %[4]s -o jsonpath='{.data.token}' | base64 -d
  kubectl patch apiaccess %[4]s --type merge -p '{"spec":{"plan":"gold"}}'
  kubectl annotate apiaccess %[4]s gateway.apiplatform.crossplane.io/rotate-token="$(date)" --overwrite
  kubectl patch apiaccess %[4]s --type merge -p '{"spec":{"suspended":true}}'
  kubectl apply -f examples/access/claim.yaml

As the platform team:

  kubectl get apiproduct,restapi,subscriptionplan,subscription
  kubectl get pkg
  kubectl delete apiproduct %[5]s        # refused while a team has access
  curl -s -u %[6]s '%[2]s/subscriptions'

What these packages are is in docs/self-service.md. Ctrl-C ends all of it.
`, s.howToReachIt(), s.gateway.Endpoint(), s.box.Gateway.Username, accessName, productName, s.curlUser())
}
