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

// Gitops says what Argo CD and Flux would say of the health of objects, given a file with
// Argo CD's ConfigMap argocd-cm, or with a Kustomization of Flux. It evaluates their
// scripts and expressions as they do: Lua with gopher-lua and the few libraries that Argo
// CD lets a script have, CEL with Flux's own package.
//
// usage: gitops FILE < array of objects as JSON > array of {"status", "message"} as JSON
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A verdict about one object.
type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// A judge of objects.
type judge interface {
	judge(ctx context.Context, o *unstructured.Unstructured) (verdict, error)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gitops FILE < objects.json")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "gitops: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, in io.Reader, out io.Writer) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	j, err := judgeIn(string(content))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	objects := []map[string]any{}
	if err := json.NewDecoder(in).Decode(&objects); err != nil {
		return fmt.Errorf("cannot read the objects: %w", err)
	}
	verdicts := make([]verdict, 0, len(objects))
	for _, o := range objects {
		u := &unstructured.Unstructured{}
		// By way of JSON, which makes whole numbers of what are whole numbers.
		raw, err := json.Marshal(o)
		if err != nil {
			return err
		}
		if err := u.UnmarshalJSON(raw); err != nil {
			return err
		}
		v, err := j.judge(ctx, u)
		if err != nil {
			return fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
		}
		verdicts = append(verdicts, v)
	}
	return json.NewEncoder(out).Encode(verdicts)
}

// judgeIn the documents of a file.
func judgeIn(content string) (judge, error) {
	for _, document := range strings.Split(content, "\n---\n") {
		var t metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &t); err != nil {
			return nil, err
		}
		switch t.Kind {
		case "ConfigMap":
			m := &corev1.ConfigMap{}
			if err := yaml.UnmarshalStrict([]byte(document), m); err != nil {
				return nil, err
			}
			return newArgo(m)
		case kustomizev1.KustomizationKind:
			k := &kustomizev1.Kustomization{}
			if err := yaml.UnmarshalStrict([]byte(document), k); err != nil {
				return nil, err
			}
			return newFlux(k)
		}
	}
	return nil, errors.New("it has neither a ConfigMap nor a Kustomization")
}

// argo judges with the scripts in resource.customizations of argocd-cm.
type argo struct {
	patterns []string
	scripts  map[string]string
}

func newArgo(m *corev1.ConfigMap) (*argo, error) {
	overrides := map[string]struct {
		HealthLua string `json:"health.lua"`
	}{}
	if err := yaml.UnmarshalStrict([]byte(m.Data["resource.customizations"]), &overrides); err != nil {
		return nil, fmt.Errorf("resource.customizations: %w", err)
	}
	a := &argo{scripts: map[string]string{}}
	for pattern, o := range overrides {
		if o.HealthLua == "" {
			return nil, fmt.Errorf("%s has no health.lua", pattern)
		}
		a.patterns, a.scripts[pattern] = append(a.patterns, pattern), o.HealthLua
	}
	slices.Sort(a.patterns)
	return a, nil
}

func (a *argo) judge(ctx context.Context, o *unstructured.Unstructured) (verdict, error) {
	script := ""
	for _, pattern := range a.patterns {
		fits, err := path.Match(pattern, o.GroupVersionKind().Group+"/"+o.GetKind())
		if err != nil {
			return verdict{}, err
		}
		if fits {
			// Which one would be used is not defined if there are several.
			if script != "" {
				return verdict{}, errors.New("several patterns fit")
			}
			script = a.scripts[pattern]
		}
	}
	if script == "" {
		return verdict{}, errors.New("no pattern fits")
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	l.SetContext(ctx)
	// All that a script of a user has, unless useOpenLibs says otherwise.
	for name, library := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(library), Protect: true}, lua.LString(name)); err != nil {
			return verdict{}, err
		}
	}
	l.SetGlobal("obj", luaValue(l, o.Object))
	if err := l.DoString(script); err != nil {
		return verdict{}, err
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return verdict{}, fmt.Errorf("the script returns a %s", l.Get(-1).Type())
	}
	v := verdict{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}
	if !slices.Contains([]string{"Healthy", "Progressing", "Degraded", "Suspended"}, v.Status) {
		return verdict{}, fmt.Errorf("%q is no health", v.Status)
	}
	return v, nil
}

// luaValue of a value that was JSON.
func luaValue(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		t := l.NewTable()
		for _, e := range v {
			t.Append(luaValue(l, e))
		}
		return t
	case map[string]any:
		t := l.NewTable()
		for k, e := range v {
			t.RawSetString(k, luaValue(l, e))
		}
		return t
	default:
		return lua.LNil
	}
}

// flux judges with the expressions of a Kustomization.
type flux struct {
	of map[metav1.TypeMeta]*cel.StatusEvaluator
}

func newFlux(k *kustomizev1.Kustomization) (*flux, error) {
	f := &flux{of: map[metav1.TypeMeta]*cel.StatusEvaluator{}}
	for _, check := range k.Spec.HealthCheckExprs {
		e, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", check.Kind, err)
		}
		f.of[metav1.TypeMeta{APIVersion: check.APIVersion, Kind: check.Kind}] = e
	}
	return f, nil
}

func (f *flux) judge(ctx context.Context, o *unstructured.Unstructured) (verdict, error) {
	e := f.of[metav1.TypeMeta{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()}]
	if e == nil {
		return verdict{}, errors.New("no expression is about this kind")
	}
	if o.GetDeletionTimestamp() != nil {
		// Flux does not ask then.
		return verdict{Status: "Terminating"}, nil
	}
	r, err := e.Evaluate(ctx, o)
	if err != nil {
		// What cannot be evaluated, such as an object without status, is waited for.
		return verdict{Status: "Unknown", Message: err.Error()}, nil
	}
	return verdict{Status: string(r.Status), Message: r.Message}, nil
}
