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

package controlplane

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const widgets = `
apiVersion: v1
kind: ConfigMap
metadata: {name: not-a-definition}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var widgetResource = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

func writeWidgets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "widgets.yaml"), []byte(widgets), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func eventually(t *testing.T, what string, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestControlPlane(t *testing.T) {
	ctx := t.Context()

	// The first port turns out to be taken.
	var lc net.ListenConfig
	taken, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ports := []int{taken.Addr().(*net.TCPAddr).Port}

	var log bytes.Buffer
	c, err := Start(ctx, Options{CRDs: []string{writeWidgets(t)}, Log: &log, pickPort: func(ctx context.Context) (int, error) {
		if len(ports) == 0 {
			return FreePort(ctx)
		}
		port := ports[0]
		ports = ports[1:]
		return port, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	t.Log(strings.TrimSpace(log.String()))

	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}

	t.Run("NamespacesGoAway", func(t *testing.T) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "content"}}
		if _, err := client.CoreV1().ConfigMaps(ns.Name).Create(ctx, cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the namespace goes", func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().Namespaces().Get(ctx, ns.Name, metav1.GetOptions{})
			return kerrors.IsNotFound(err), nil
		})
	})

	t.Run("OwnedObjectsGoAway", func(t *testing.T) {
		owner := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "owner"},
		}}
		owner, err := dyn.Resource(widgetResource).Namespace("default").Create(ctx, owner, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "example.org/v1", Kind: "Widget", Name: owner.GetName(), UID: owner.GetUID(),
		}}}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, owned, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := dyn.Resource(widgetResource).Namespace("default").Delete(ctx, owner.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the owned object goes", func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().ConfigMaps("default").Get(ctx, owned.Name, metav1.GetOptions{})
			return kerrors.IsNotFound(err), nil
		})
	})

	t.Run("OthersMayDoNothing", func(t *testing.T) {
		cfg, err := c.ConfigFor("somebody", "some-group")
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		if !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "somebody") {
			t.Errorf("listing Secrets as somebody: want it forbidden, got: %v", err)
		}
	})

	t.Run("InstallingAgainIsFine", func(t *testing.T) {
		if err := c.InstallCRDs(ctx, writeWidgets(t)); err != nil {
			t.Error(err)
		}
		if err := c.InstallCRDs(ctx, t.TempDir()); err == nil {
			t.Error("InstallCRDs(): want an error where there is nothing to install")
		}
	})

	t.Run("StopLeavesNothing", func(t *testing.T) {
		if err := c.Failed(); err != nil {
			t.Error(err)
		}
		c.Stop()
		c.Stop()
		for _, p := range c.processes() {
			if err := syscall.Kill(-p.PID(), 0); err == nil {
				t.Errorf("process group %d is still there", p.PID())
			}
		}
		if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
			t.Errorf("the temporary folder is still there: %v", err)
		}
	})
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, err := Start(t.Context(), Options{Binaries: Binaries{Etcd: "/bin/false", APIServer: "/bin/false", ControllerManager: "/bin/false"}})
	if err == nil || !strings.Contains(err.Error(), "ended (exit status 1)") {
		t.Errorf("Start(): want to be told which process ended, got: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("a failed start left %v", left)
	}
}

func TestFindBinary(t *testing.T) {
	assets := t.TempDir()
	want := filepath.Join(assets, Etcd)
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	got, err := FindBinary(t.Context(), Etcd)
	if err != nil || got != want {
		t.Errorf("FindBinary(): want %s, got %s, %v", want, got, err)
	}
	t.Chdir("/")
	if _, err := FindBinary(t.Context(), APIServer); err == nil || !strings.Contains(err.Error(), "KUBEBUILDER_ASSETS") {
		t.Errorf("FindBinary(): want an error that says what to set, got: %v", err)
	}
}
