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

package emulator

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The rules that gateways really enforce on a REST API. They are looser than
// the published schema in places (versions, contexts), on purpose.
var (
	displayNameRule = regexp.MustCompile(`^[a-zA-Z0-9\-_. ]+$`)
	versionRule     = regexp.MustCompile(`^v?\d+(\.\d+)?(\.\d+)?$`)
	handleRule      = regexp.MustCompile(`[\s}/\x00-\x1f\x7f]`)
	definitionRule  = regexp.MustCompile(`^[a-zA-Z0-9\-_]+$`)
	basePathRule    = regexp.MustCompile(`^/[a-zA-Z0-9\-._~!$&'()*+,;=:@%/]*[^/]$`)
	durationRule    = regexp.MustCompile(`^\d+(\.\d+)?(ms|s|m|h)$`)
	fullVersionRule = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
	majorRule       = regexp.MustCompile(`^v\d+$`)
	spaceRule       = regexp.MustCompile(`\s`)
)

// healthPrefix is reserved for the router's own probes.
const healthPrefix = "/_gateway-health"

// report collects what is wrong.
type report struct{ errs []fieldError }

func (r *report) add(field, format string, args ...any) {
	r.errs = append(r.errs, fieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

// templated says whether a value has templates that the emulator does not know.
// It accepts such values.
func templated(s string) bool { return strings.Contains(s, "{{") }

func (g *Gateway) validateAPI(doc restAPI) []fieldError {
	r := &report{}
	if doc.Kind != kindRestAPI {
		r.add("kind", "Unsupported kind (must be 'RestApi')")
	}
	spec := doc.Spec
	switch {
	case spec.DisplayName == "":
		r.add("spec.displayName", "API display name is required")
	case templated(spec.DisplayName):
	case len(spec.DisplayName) > 100:
		r.add("spec.displayName", "API display name must be 1-100 characters")
	case !displayNameRule.MatchString(spec.DisplayName):
		r.add("spec.displayName", "API display name must be URL-friendly (only letters, numbers, spaces, hyphens, underscores, and dots allowed)")
	}
	switch {
	case spec.Version == "":
		r.add("spec.version", "API version is required")
	case !templated(spec.Version) && !versionRule.MatchString(spec.Version):
		r.add("spec.version", "API version must follow semantic versioning pattern (e.g., v1.0, v2.1.3)")
	}
	r.context(spec.Context)
	if spec.UpstreamDefinitions != nil {
		r.definitions(*spec.UpstreamDefinitions)
	}
	r.upstream("spec.upstream.main", spec.Upstream.Main, spec.UpstreamDefinitions)
	if spec.Upstream.Sandbox != nil {
		r.upstream("spec.upstream.sandbox", *spec.Upstream.Sandbox, spec.UpstreamDefinitions)
	}
	r.resilience("spec.resilience", spec.Resilience)
	r.operations(spec)
	g.validatePolicies(r, "spec.policies", spec.Policies)
	for i, op := range spec.Operations {
		g.validatePolicies(r, fmt.Sprintf("spec.operations[%d].policies", i), op.Policies)
	}
	r.metadata(doc.Metadata)
	return r.errs
}

func (r *report) metadata(m metadata) {
	switch {
	case m.Name == "":
		r.add("metadata.name", "Metadata name is required")
		return
	case handleRule.MatchString(m.Name):
		r.add("metadata.name", "metadata.name must not contain whitespace, '/', '}', or control characters")
	}
	if m.Labels == nil {
		return
	}
	for key := range *m.Labels {
		if key == "" || spaceRule.MatchString(key) {
			r.add("metadata.labels", "Label key '%s' contains whitespace characters. Label keys must not contain any whitespace.", key)
		}
	}
}

func (r *report) context(c string) {
	const field = "spec.context"
	if c == "" {
		r.add(field, "Context is required")
		return
	}
	if templated(c) {
		return
	}
	if !strings.HasPrefix(c, "/") {
		r.add(field, "Context must start with /")
	}
	if strings.HasSuffix(c, "/") && c != "/" {
		r.add(field, "Context cannot end with / (except for root context)")
	}
	if len(c) > 200 {
		r.add(field, "Context must be 1-200 characters")
	}
}

func (r *report) upstream(field string, u upstream, definitions *[]upstreamDefinition) {
	switch {
	case u.Ref != nil && u.URL != nil:
		r.add(field, "Specify exactly one of 'url' or 'ref'")
	case u.Ref == nil && u.URL == nil:
		r.add(field, "Must specify either 'url' or 'ref'")
	case u.URL != nil:
		r.upstreamURL(field+".url", *u.URL)
	case strings.TrimSpace(*u.Ref) == "":
		r.add(field+".ref", "Upstream reference is required")
	case definitions == nil || len(*definitions) == 0:
		r.add(field+".ref", "Referenced upstream definition '%s' not found: no upstreamDefinitions provided", strings.TrimSpace(*u.Ref))
	case !slices.ContainsFunc(*definitions, func(d upstreamDefinition) bool { return d.Name == strings.TrimSpace(*u.Ref) }):
		r.add(field+".ref", "Referenced upstream definition '%s' not found in upstreamDefinitions", strings.TrimSpace(*u.Ref))
	}
}

func (r *report) upstreamURL(field, value string) {
	if strings.TrimSpace(value) == "" {
		r.add(field, "Upstream URL is required")
		return
	}
	if templated(value) {
		return
	}
	u, err := url.Parse(value)
	if err != nil {
		r.add(field, "Invalid URL format: %v", err)
		return
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		r.add(field, "Upstream URL must use http or https scheme")
	}
	if u.Host == "" {
		r.add(field, "Upstream URL must include a host")
	}
}

func (r *report) definitions(definitions []upstreamDefinition) {
	seen := map[string]bool{}
	for i, d := range definitions {
		field := fmt.Sprintf("spec.upstreamDefinitions[%d]", i)
		if d.Name == "" {
			r.add(field+".name", "Upstream definition name is required")
			continue
		}
		if len(d.Name) > 100 {
			r.add(field+".name", "Upstream definition name must be 1-100 characters")
		}
		if !definitionRule.MatchString(d.Name) {
			r.add(field+".name", "Upstream definition name must match ^[a-zA-Z0-9\\-_]+$ (letters, numbers, hyphens, underscores)")
		}
		if seen[d.Name] {
			r.add(field+".name", "Duplicate upstream definition name '%s'", d.Name)
			continue
		}
		seen[d.Name] = true
		if d.BasePath != nil && !basePathRule.MatchString(*d.BasePath) {
			r.add(field+".basePath", "Invalid basePath (must start with '/' and must not end with '/'; omit for root)")
		}
		if len(d.Upstreams) == 0 {
			r.add(field+".upstreams", "At least one upstream target is required")
		}
		for j, t := range d.Upstreams {
			r.target(fmt.Sprintf("%s.upstreams[%d]", field, j), t)
		}
		if d.Timeout != nil && d.Timeout.Connect != nil {
			r.connectTimeout(field+".timeout.connect", strings.TrimSpace(*d.Timeout.Connect))
		}
	}
}

func (r *report) target(field string, t upstreamTarget) {
	if t.URL == "" {
		r.add(field+".url", "URL is required")
		return
	}
	if u, err := url.Parse(t.URL); err != nil {
		r.add(field+".url", "Invalid URL format: %v", err)
	} else {
		if u.Scheme != "http" && u.Scheme != "https" {
			r.add(field+".url", "URL must use http or https scheme")
		}
		if u.Host == "" {
			r.add(field+".url", "URL must include a host")
		}
		if u.Path != "" && u.Path != "/" {
			r.add(field+".url", "URL must not include a path; set the base path in upstreamDefinitions[].basePath instead")
		}
		if u.RawQuery != "" || u.ForceQuery {
			r.add(field+".url", "URL must not include a query string; only host[:port] is used")
		}
		if u.Fragment != "" {
			r.add(field+".url", "URL must not include a fragment; only host[:port] is used")
		}
	}
	if t.Weight != nil && (*t.Weight < 0 || *t.Weight > 100) {
		r.add(field+".weight", "Weight must be between 0 and 100")
	}
}

func (r *report) connectTimeout(field, value string) {
	if value == "" {
		return
	}
	d, err := time.ParseDuration(value)
	switch {
	case !durationRule.MatchString(value):
		r.add(field, "Invalid timeout format (expected a single-unit duration like '30s', '1m', '500ms')")
	case err != nil:
		r.add(field, "Invalid timeout format: %v", err)
	case d <= 0:
		r.add(field, "Connect timeout must be positive")
	}
}

func (r *report) resilience(field string, v *resilience) {
	if v == nil {
		return
	}
	for _, t := range []struct {
		name  string
		value *string
	}{{"timeout", v.Timeout}, {"idleTimeout", v.IdleTimeout}} {
		if t.value == nil || strings.TrimSpace(*t.value) == "" {
			continue
		}
		if !durationRule.MatchString(strings.TrimSpace(*t.value)) {
			r.add(field+"."+t.name, "Invalid timeout format (expected a single-unit duration like '30s', '1m', '500ms', or '0s' to disable; compound, negative, and unitless values are not allowed)")
		}
	}
}

func (r *report) operations(spec apiSpec) {
	if len(spec.Operations) == 0 {
		r.add("spec.operations", "At least one operation is required")
		return
	}
	methods := []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"}
	for i, op := range spec.Operations {
		field := fmt.Sprintf("spec.operations[%d]", i)
		methodField, pathField := field+".method", field+".path"
		method, route := "", ""
		switch {
		case op.Match != nil:
			methodField, pathField = field+".match.method", field+".match.path.value"
			method, route = op.Match.Method, op.Match.Path.Value
		default:
			if op.Method != nil {
				method = *op.Method
			}
			if op.Path != nil {
				route = *op.Path
			}
		}
		if method == "" {
			r.add(methodField, "HTTP method is required (set operation.method or operation.match.method)")
		} else if !slices.Contains(methods, strings.ToUpper(method)) {
			r.add(methodField, "Invalid HTTP method '%s' (must be GET, POST, PUT, DELETE, PATCH, HEAD, or OPTIONS)", method)
		}
		if route == "" {
			r.add(pathField, "Operation path is required (set operation.path or operation.match.path.value)")
			continue
		}
		if !strings.HasPrefix(route, "/") {
			r.add(pathField, "Operation path must start with /")
		}
		full := path.Clean("/" + strings.TrimSuffix(spec.Context, "/") + "/" + strings.TrimPrefix(route, "/"))
		if full == healthPrefix || strings.HasPrefix(full, healthPrefix+"/") {
			r.add(pathField, "path conflicts with the reserved gateway health-check namespace (%s)", healthPrefix)
		}
		if strings.Count(route, "{") != strings.Count(route, "}") {
			r.add(pathField, "Operation path has unbalanced braces in parameters")
		}
		r.resilience(field+".resilience", op.Resilience)
	}
}

// validatePolicies checks that the gateway image has the policies, by name and
// major version.
func (g *Gateway) validatePolicies(r *report, field string, policies *[]policy) {
	if policies == nil {
		return
	}
	for i, p := range *policies {
		at := fmt.Sprintf("%s[%d].version", field, i)
		version := strings.TrimSpace(p.Version)
		versions, known := g.policies[p.Name]
		switch {
		case version == "" && (g.policies == nil || known):
		case version == "":
			r.add(at, "policy '%s' not found in loaded policy definitions", p.Name)
		case fullVersionRule.MatchString(version):
			r.add(at, "policy '%s' version must be major-only (e.g., v1); full semantic version (e.g., v1.0.0) is not allowed", p.Name)
		case !majorRule.MatchString(version):
			r.add(at, "invalid version format '%s' for policy '%s'; expected major-only version (e.g., v1)", version, p.Name)
		case g.policies != nil && !slices.Contains(versions, version):
			r.add(at, "policy '%s' major version '%s' not found in loaded policy definitions", p.Name, version)
		}
	}
}
