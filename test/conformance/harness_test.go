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

package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
)

const basePath = "/api/management/v1"

// obj is a JSON object.
type obj = map[string]any

// target is a gateway under test.
type target struct {
	url      string
	inPlace  bool
	admin    login
	others   map[string]login
	policy   string
	emulator *emulator.Server
}

// login is a user; the zero value sends no credentials.
type login struct{ name, password string }

// gatewayUnderTest is a target with the means to ask it, and the duty to tidy up.
type gatewayUnderTest struct {
	target

	prefix string
	client *http.Client

	mu      sync.Mutex
	n       int
	written map[string]bool
	ours    map[string]bool
}

// answer is what the gateway answered.
type answer struct {
	status int
	header http.Header
	raw    string
	body   obj
}

// TestEmulator checks the emulator in both generations.
func TestEmulator(t *testing.T) {
	for _, generation := range []emulator.Generation{emulator.Legacy, emulator.InPlace} {
		t.Run(string(generation), func(t *testing.T) {
			admin := login{"admin", "pa55word"}
			developer, consumer := login{"developer", "d3veloper"}, login{"consumer", "c0nsumer"}
			s, err := emulator.Start(t.Context(), emulator.Options{
				Generation: generation,
				Users: []emulator.User{
					{Name: admin.name, Password: admin.password, Roles: []emulator.Role{emulator.RoleAdmin}},
					{Name: developer.name, Password: developer.password, Roles: []emulator.Role{emulator.RoleDeveloper}},
					{Name: consumer.name, Password: consumer.password, Roles: []emulator.Role{emulator.RoleConsumer}},
				},
				BearerTokens: map[string][]emulator.Role{"b3arer": {emulator.RoleAdmin}},
				Policies:     map[string][]string{"anything": {"v1"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			// Somebody else's objects, which have to survive.
			s.AddAPI("stranger")
			s.AddSubscription(emulator.Subscription{APIHandle: "stranger"}, "stranger")
			s.AddPlan("stranger")
			run(t, target{
				url: s.URL(), inPlace: generation == emulator.InPlace, admin: admin,
				others: map[string]login{"developer": developer, "consumer": consumer}, policy: "anything", emulator: s,
			})
		})
	}
}

// TestGateway checks the gateway that the environment names.
func TestGateway(t *testing.T) {
	root := os.Getenv("GATEWAY_URL")
	if root == "" {
		t.Skip("GATEWAY_URL names no gateway")
	}
	to := target{
		url:    strings.TrimSuffix(strings.TrimRight(root, "/"), basePath),
		admin:  login{os.Getenv("GATEWAY_USER"), os.Getenv("GATEWAY_PASSWORD")},
		others: map[string]login{},
		policy: os.Getenv("GATEWAY_POLICY"),
	}
	switch g := os.Getenv("GATEWAY_GENERATION"); g {
	case "", "legacy":
	case "in-place":
		to.inPlace = true
	default:
		t.Fatalf("GATEWAY_GENERATION is %q; want legacy or in-place", g)
	}
	for _, role := range []string{"developer", "consumer"} {
		if name, password, ok := strings.Cut(os.Getenv("GATEWAY_"+strings.ToUpper(role)), ":"); ok {
			to.others[role] = login{name, password}
		}
	}
	run(t, to)
}

// check is one fact about gateways.
type check struct {
	fact string
	run  func(t *testing.T, g *gatewayUnderTest)

	// inPlace and legacy restrict the check to that generation.
	inPlace, legacy bool

	// emulator restricts the check to the emulator, as it needs a set-up that a
	// real gateway has only after a restart, or a look inside, or is about
	// something on which the description of gateways is silent.
	emulator bool
}

func run(t *testing.T, to target) {
	g := &gatewayUnderTest{
		target:  to,
		prefix:  "conformance-" + random() + "-",
		client:  newClient(),
		written: map[string]bool{},
		ours:    map[string]bool{},
	}
	before := g.inventory(t)
	// Subtests are not parallel among each other: some count, some list.
	for _, group := range []struct {
		name   string
		checks []check
	}{
		{"Transport", transportChecks()},
		{"Access", accessChecks()},
		{"RestApi", restAPIChecks()},
		{"SubscriptionPlan", planChecks()},
		{"Subscription", subscriptionChecks()},
		{"InPlace", inPlaceChecks()},
		{"Client", clientChecks()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.checks {
				t.Run(c.fact, func(t *testing.T) {
					switch {
					case c.emulator && g.emulator == nil:
						t.Skip("runs on the emulator only")
					case c.inPlace && !g.inPlace:
						t.Skip("about in-place gateways")
					case c.legacy && g.inPlace:
						t.Skip("about legacy gateways")
					}
					c.run(t, g)
				})
			}
		})
	}
	g.checkLeftAsFound(t, before)
}

func newClient() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func random() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// name returns a name that nobody else has.
func (g *gatewayUnderTest) name() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	return fmt.Sprintf("%s%04x", g.prefix, g.n)
}

// request is one request in full.
type request struct {
	method  string
	url     string
	body    any
	as      *login
	headers map[string]string
}

// send sends the request. A string is sent as it is, anything else as JSON.
func (g *gatewayUnderTest) send(ctx context.Context, r request) (answer, error) {
	var payload []byte
	switch b := r.body.(type) {
	case nil:
	case string:
		payload = []byte(b)
	default:
		var err error
		if payload, err = json.Marshal(b); err != nil {
			return answer{}, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(payload))
	if err != nil {
		return answer{}, err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	as := g.admin
	if r.as != nil {
		as = *r.as
	}
	if as.name != "" {
		req.SetBasicAuth(as.name, as.password)
	}
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	if r.method == http.MethodPut || r.method == http.MethodDelete {
		g.mu.Lock()
		g.written[strings.TrimPrefix(strings.TrimPrefix(r.url, g.url), basePath)] = true
		g.mu.Unlock()
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	// Not every answer is an object; checks look at what they expect.
	_ = json.Unmarshal(raw, &a.body)
	return a, nil
}

// do sends the request and fails the test if there is no answer.
func (g *gatewayUnderTest) do(t *testing.T, r request) answer {
	t.Helper()
	if strings.HasPrefix(r.url, "/") {
		r.url = g.url + basePath + r.url
	}
	a, err := g.send(t.Context(), r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.url, err)
	}
	return a
}

// want sends a request below the base path and fails the test if the answer has
// another status.
func (g *gatewayUnderTest) want(t *testing.T, status int, method, path string, body any) answer {
	t.Helper()
	a := g.do(t, request{method: method, url: path, body: body})
	if a.status != status {
		t.Fatalf("%s %s: want status %d, got %d: %s", method, path, status, a.status, a.raw)
	}
	return a
}

func (g *gatewayUnderTest) get(t *testing.T, path string) obj {
	t.Helper()
	return g.want(t, http.StatusOK, http.MethodGet, path, nil).body
}

// refused is want, and the answer must be the usual error envelope with the
// text in its message.
func (g *gatewayUnderTest) refused(t *testing.T, status int, text, method, path string, body any) {
	t.Helper()
	a := g.want(t, status, method, path, body)
	isError(t, a, text)
}

func isError(t *testing.T, a answer, text string) {
	t.Helper()
	message, _ := a.body["message"].(string)
	if a.body["status"] != "error" || !strings.Contains(message, text) {
		t.Errorf("want the error envelope with %q in the message, got %s", text, a.raw)
	}
	if ct := a.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("want content type application/json, got %q", ct)
	}
}

// api creates a REST API, which is deleted after the test, and returns its
// handle.
func (g *gatewayUnderTest) api(t *testing.T, change ...func(spec obj)) string {
	t.Helper()
	doc := g.apiDoc(g.name(), change...)
	return g.createAPI(t, doc)
}

func (g *gatewayUnderTest) createAPI(t *testing.T, doc obj) string {
	t.Helper()
	handle := doc["metadata"].(obj)["name"].(string)
	g.tidy(t, "/rest-apis/"+url.PathEscape(handle))
	g.want(t, http.StatusCreated, http.MethodPost, "/rest-apis", doc)
	return handle
}

func (g *gatewayUnderTest) apiDoc(handle string, change ...func(spec obj)) obj {
	spec := obj{
		"displayName": handle, "version": "v1.0", "context": "/" + handle,
		"upstream":   obj{"main": obj{"url": "http://backend.example.com"}},
		"operations": []any{obj{"method": "GET", "path": "/"}},
	}
	for _, c := range change {
		c(spec)
	}
	return obj{
		"apiVersion": "gateway.api-platform.wso2.com/v1", "kind": "RestApi",
		"metadata": obj{"name": handle}, "spec": spec,
	}
}

func withPlans(names ...string) func(obj) {
	return func(spec obj) { spec["subscriptionPlans"] = names }
}

func with(field string, value any) func(obj) {
	return func(spec obj) {
		if value == nil {
			delete(spec, field)
			return
		}
		spec[field] = value
	}
}

// plan creates a plan, which is deleted after the test, and returns it.
func (g *gatewayUnderTest) plan(t *testing.T, change ...func(obj)) obj {
	t.Helper()
	body := obj{"planName": g.name()}
	for _, c := range change {
		c(body)
	}
	return g.create(t, "/subscription-plans", body)
}

// subscribe creates a subscription, which is deleted after the test, and
// returns it.
func (g *gatewayUnderTest) subscribe(t *testing.T, body obj) obj {
	t.Helper()
	return g.create(t, "/subscriptions", body)
}

func (g *gatewayUnderTest) create(t *testing.T, path string, body any) obj {
	t.Helper()
	a := g.want(t, http.StatusCreated, http.MethodPost, path, body)
	id, _ := a.body["id"].(string)
	if id == "" {
		t.Fatalf("POST %s: want an id, got %s", path, a.raw)
	}
	g.tidy(t, path+"/"+url.PathEscape(id))
	return a.body
}

// tidy deletes what the path names after the test, if it is there.
func (g *gatewayUnderTest) tidy(t *testing.T, path string) {
	t.Helper()
	g.mu.Lock()
	g.ours[path] = true
	g.mu.Unlock()
	t.Cleanup(func() {
		// The context of the test has ended by now.
		a, err := g.send(context.WithoutCancel(t.Context()), request{method: http.MethodDelete, url: g.url + basePath + path})
		if err != nil {
			t.Errorf("cannot tidy up %s: %v", path, err)
			return
		}
		if a.status >= http.StatusBadRequest && a.status != http.StatusNotFound {
			t.Errorf("cannot tidy up %s: %d %s", path, a.status, a.raw)
		}
	})
}

// token returns a token that nobody else has.
func token() string { return "token-" + random() + random() + random() + random() }

// internalID returns the internal ID of the API.
func (g *gatewayUnderTest) internalID(t *testing.T, handle string) string {
	t.Helper()
	s := g.subscribe(t, obj{"apiId": handle, "subscriptionToken": token(), "applicationId": "internal-id"})
	id, _ := s["apiId"].(string)
	g.want(t, http.StatusNoContent, http.MethodDelete, "/subscriptions/"+s["id"].(string), nil)
	return id
}

// list returns the objects in a list.
func (g *gatewayUnderTest) list(t *testing.T, path, field string) []obj {
	t.Helper()
	body := g.get(t, path)
	items, ok := body[field].([]any)
	if !ok {
		t.Fatalf("GET %s: want a list in %q, got %v", path, field, body[field])
	}
	if body["count"] != float64(len(items)) {
		t.Errorf("GET %s: want count %d, got %v", path, len(items), body["count"])
	}
	out := []obj{}
	for _, i := range items {
		out = append(out, i.(obj))
	}
	return out
}

func (g *gatewayUnderTest) apis(t *testing.T, query string) []obj {
	t.Helper()
	return g.list(t, "/rest-apis"+query, "apis")
}

func (g *gatewayUnderTest) plans(t *testing.T) []obj {
	t.Helper()
	return g.list(t, "/subscription-plans", "subscriptionPlans")
}

func (g *gatewayUnderTest) subscriptions(t *testing.T, query string) []obj {
	t.Helper()
	return g.list(t, "/subscriptions"+query, "subscriptions")
}

// values returns the values of a field, such as "id" or "metadata.name".
func values(items []obj, path string) []string {
	out := []string{}
	for _, i := range items {
		s, _ := field(i, path).(string)
		out = append(out, s)
	}
	return out
}

func field(o obj, path string) any {
	var v any = o
	for _, f := range strings.Split(path, ".") {
		m, ok := v.(obj)
		if !ok {
			return nil
		}
		v = m[f]
	}
	return v
}

// inventory is all there is at the gateway, by path, with its change stamp.
func (g *gatewayUnderTest) inventory(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, a := range g.apis(t, "") {
		name, _ := field(a, "metadata.name").(string)
		stamp, _ := field(a, "status.updatedAt").(string)
		out["/rest-apis/"+url.PathEscape(name)] = stamp
	}
	for _, p := range g.plans(t) {
		id, _ := p["id"].(string)
		stamp, _ := p["updatedAt"].(string)
		out["/subscription-plans/"+url.PathEscape(id)] = stamp
	}
	for _, s := range g.subscriptions(t, "") {
		id, _ := s["id"].(string)
		stamp, _ := s["updatedAt"].(string)
		out["/subscriptions/"+url.PathEscape(id)] = stamp
	}
	return out
}

// checkLeftAsFound compares what is there with what was there before. What
// other people did meanwhile is told, not held against the gateway.
func (g *gatewayUnderTest) checkLeftAsFound(t *testing.T, before map[string]string) {
	t.Run("the gateway is left as it was found", func(t *testing.T) {
		after := g.inventory(t)
		for _, path := range slices.Sorted(maps.Keys(after)) {
			if _, old := before[path]; !old && (g.ours[path] || strings.Contains(path, g.prefix)) {
				t.Errorf("left behind: %s", path)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(before)) {
			if after[path] == before[path] {
				continue
			}
			if g.written[path] {
				t.Errorf("changed by these checks: %s", path)
				continue
			}
			t.Logf("changed by somebody else: %s", path)
		}
	})
}

// moment reads a time.
func moment(t *testing.T, v any) time.Time {
	t.Helper()
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatalf("want a time, got %v", v)
	}
	return at
}

// parallel calls f twenty times at once and counts the answers by status.
func parallel(f func() (answer, error)) map[int]int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for range 20 {
		wg.Go(func() {
			a, err := f()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				got[-1]++
				return
			}
			got[a.status]++
		})
	}
	wg.Wait()
	return got
}
