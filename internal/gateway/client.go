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

package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Defaults of a Client.
const (
	// DefaultTimeout bounds a call, from asking for credentials to the last byte.
	DefaultTimeout = 30 * time.Second
	// DefaultMaxBody bounds an answer, in bytes.
	DefaultMaxBody = 64 << 20
)

// An Authorizer adds credentials to a request. It is called once per call,
// within the call's deadline, and may obtain a token first.
type Authorizer interface {
	Authorize(r *http.Request) error
}

// AuthorizerFunc is a function that is an Authorizer.
type AuthorizerFunc func(r *http.Request) error

// Authorize calls the function.
func (f AuthorizerFunc) Authorize(r *http.Request) error { return f(r) }

// Call is what a Gate is asked about.
type Call struct {
	Kind Kind
	Verb Verb
	ID   string
}

// Outcome is how a call went.
type Outcome struct {
	// Err is nil or an *Error.
	Err error
	// GatewayID is what the answer said about the gateway's identity, if it did.
	GatewayID string
}

// A Gate is asked before every call whether it may be made, and is told how it
// went.
type Gate interface {
	// Enter returns an error, usually an *Error with ReasonHeldOff, if the call
	// must not be made. Otherwise leave is called exactly once afterwards.
	Enter(ctx context.Context, c Call) (leave func(Outcome), err error)
}

// Options of a Client. Only Endpoint is needed.
type Options struct {
	Endpoint Endpoint
	// Transport makes the round trips; http.DefaultTransport if nil.
	Transport http.RoundTripper
	// Authorizer adds credentials; without one, none are sent.
	Authorizer Authorizer
	// Secrets are values that must not show in errors, such as a password.
	// Tokens in requests and the Authorization header are known anyway.
	Secrets []Secret
	// Gate is asked before every call, if there is one.
	Gate Gate
	// Timeout bounds a call; DefaultTimeout if zero.
	Timeout time.Duration
	// MaxBody bounds an answer, in bytes; DefaultMaxBody if zero.
	MaxBody   int64
	UserAgent string
	// Now is the clock for dates in Retry-After; time.Now if nil.
	Now func() time.Time
}

// Client makes calls to one gateway. It is safe for concurrent use, never
// follows redirects and never sends a correlation ID, which the gateway takes
// for the identity of a change. It does not repeat calls.
type Client struct {
	o    Options
	http *http.Client
}

// New returns a client.
func New(o Options) *Client {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{o: o, http: &http.Client{
		Transport: o.Transport,
		// A redirect could carry credentials, or a write, somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Endpoint returns the address of the gateway.
func (c *Client) Endpoint() Endpoint { return c.o.Endpoint }

// Timeout returns what bounds a call.
func (c *Client) Timeout() time.Duration { return c.o.Timeout }

// resource is what the client must know about a kind.
type resource[T any] struct {
	kind Kind
	// path of the collection, relative to the endpoint.
	path string
	// list is the name of the list in the answer to a list call.
	list      string
	id        func(*T) string
	gatewayID func(*T) string
}

// payload is the body of a request.
type payload interface {
	// wire returns what is marshalled, with its secrets in clear.
	wire() any
	secrets() []Secret
}

func listAll[T any](ctx context.Context, c *Client, r resource[T], query url.Values) ([]T, error) {
	answer, err := c.do(ctx, Call{Kind: r.kind, Verb: VerbList}, r.path, query, nil)
	if err != nil {
		return nil, err
	}
	items, err := answer.items(r.list)
	if err != nil {
		return nil, answer.finish(err, "")
	}
	out, gatewayID := make([]T, len(items)), ""
	for i, item := range items {
		fill(&out[i], item)
		if gatewayID == "" {
			gatewayID = r.gatewayID(&out[i])
		}
	}
	return out, answer.finish(nil, gatewayID)
}

func getOne[T any](ctx context.Context, c *Client, r resource[T], id string) (*T, error) {
	answer, err := c.do(ctx, Call{Kind: r.kind, Verb: VerbGet, ID: id}, r.path, nil, nil)
	if err != nil {
		return nil, err
	}
	return object(answer, r, &id)
}

// createOne sends the ID asked for in errors only; if must is given, the answer
// has to bear that ID.
func createOne[T any](ctx context.Context, c *Client, r resource[T], asked string, body payload, must *string) (*T, error) {
	call := Call{Kind: r.kind, Verb: VerbCreate, ID: asked}
	if must != nil {
		if err := checkPathID(*must); err != nil {
			return nil, c.unsafe(call, err)
		}
	}
	answer, err := c.do(ctx, call, r.path, nil, body)
	if err != nil {
		return nil, err
	}
	return object(answer, r, must)
}

func updateOne[T any](ctx context.Context, c *Client, r resource[T], id string, body payload) (*T, error) {
	answer, err := c.do(ctx, Call{Kind: r.kind, Verb: VerbUpdate, ID: id}, r.path, nil, body)
	if err != nil {
		return nil, err
	}
	return object(answer, r, &id)
}

// deleteOne accepts an answer without a body, but not one that is no JSON: the
// login page of a proxy deletes nothing.
func deleteOne[T any](ctx context.Context, c *Client, r resource[T], id string) error {
	answer, err := c.do(ctx, Call{Kind: r.kind, Verb: VerbDelete, ID: id}, r.path, nil, nil)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(answer.body)) == 0 {
		return answer.finish(nil, "")
	}
	m, err := decodeObject(answer.body)
	if err != nil {
		return answer.finish(err, "")
	}
	if said, ok := text(m["id"]); ok && said != id {
		return answer.finish(errors.New("the answer is about another object than the one asked for"), "")
	}
	return answer.finish(nil, "")
}

// object reads an answer that is one object. If must is given, the answer has to
// bear that very ID, byte for byte: a database may take ABC for abc.
func object[T any](a *answer, r resource[T], must *string) (*T, error) {
	m, err := decodeObject(a.body)
	if err != nil {
		return nil, a.finish(err, "")
	}
	out := new(T)
	fill(out, m)
	switch id := r.id(out); {
	case id == "":
		return nil, a.finish(errors.New("the answer holds no ID"), "")
	case checkPathID(id) != nil:
		// Nothing could ever be asked about it.
		return nil, a.finish(errors.New("the answer holds an ID that cannot be used in a URL"), "")
	case must != nil && id != *must:
		return nil, a.finish(errors.New("the answer is about another object than the one asked for"), "")
	}
	return out, a.finish(nil, r.gatewayID(out))
}

// answer is a successful answer whose content is still to be judged.
type answer struct {
	client *Client
	call   Call
	status int
	body   []byte
	leave  func(Outcome)
}

// items returns the objects of a list. A list that is null is empty; an answer
// without the list, or with fewer objects than it counts, must not be taken for
// proof that objects are absent.
func (a *answer) items(name string) ([]map[string]any, error) {
	m, err := decodeObject(a.body)
	if err != nil {
		return nil, err
	}
	v, present := m[name]
	list, ok := v.([]any)
	if !present || (v != nil && !ok) {
		return nil, fmt.Errorf("the answer holds no list named %s", name)
	}
	if count, ok := integer(m["count"]); ok && count > int64(len(list)) {
		return nil, errors.New("the answer holds fewer objects than it says there are")
	}
	out := make([]map[string]any, len(list))
	for i, item := range list {
		if out[i], ok = item.(map[string]any); !ok {
			return nil, errors.New("the answer's list holds something that is not an object")
		}
	}
	return out, nil
}

// finish tells the gate how the call went, and returns the complaint about the
// answer as an *Error.
func (a *answer) finish(complaint error, gatewayID string) error {
	if complaint == nil {
		a.leave(Outcome{GatewayID: gatewayID})
		return nil
	}
	e := a.client.newError(a.call)
	e.Reason, e.HTTPStatus, e.Sent = ReasonBadAnswer, a.status, true
	e.Message = strconv.Itoa(a.status) + ", but " + complaint.Error()
	a.leave(Outcome{Err: e})
	return e
}

func (c *Client) newError(call Call) *Error {
	return &Error{Kind: call.Kind, Verb: call.Verb, ID: call.ID, Endpoint: c.o.Endpoint.String()}
}

func (c *Client) unsafe(call Call, why error) *Error {
	e := c.newError(call)
	e.Reason, e.Subject = ReasonUnsafeID, SubjectID
	e.Message, e.Cause = "the ID cannot be used in a URL: "+why.Error(), why
	return e
}

func method(v Verb) string {
	switch v {
	case VerbCreate:
		return http.MethodPost
	case VerbUpdate:
		return http.MethodPut
	case VerbDelete:
		return http.MethodDelete
	case VerbList, VerbGet, VerbProbe:
	}
	return http.MethodGet
}

// do makes one call and returns its answer if the status is one of success. The
// answer's finish must then be called; after an error all is done.
func (c *Client) do(ctx context.Context, call Call, collection string, query url.Values, body payload) (*answer, error) {
	item := call.Verb == VerbGet || call.Verb == VerbUpdate || call.Verb == VerbDelete
	u, err := c.o.Endpoint.url(collection, call.ID, item, query)
	if err != nil {
		return nil, c.unsafe(call, err)
	}
	var content []byte
	if body != nil {
		if content, err = json.Marshal(body.wire()); err != nil {
			e := c.newError(call)
			e.Reason, e.Message, e.Cause = ReasonInvalid, "the request cannot be written as JSON", err
			return nil, e
		}
	}
	leave := func(Outcome) {}
	if c.o.Gate != nil {
		if leave, err = c.o.Gate.Enter(ctx, call); err != nil {
			if e := AsError(err); e != nil {
				// Held off for another call's sake: this text is about this one.
				own := *e
				own.Kind, own.Verb, own.ID, own.Endpoint = call.Kind, call.Verb, call.ID, c.o.Endpoint.String()
				return nil, &own
			}
			return nil, err
		}
	}
	a, e := c.roundTrip(ctx, call, u, content, body)
	if e != nil {
		leave(Outcome{Err: e})
		return nil, e
	}
	a.leave = leave
	return a, nil
}

func (c *Client) roundTrip(parent context.Context, call Call, u *url.URL, content []byte, body payload) (*answer, *Error) {
	ctx, cancel := context.WithTimeout(parent, c.o.Timeout)
	defer cancel()
	fail := c.newError(call)

	req, err := http.NewRequestWithContext(ctx, method(call.Verb), u.String(), http.NoBody)
	if err != nil {
		fail.Reason, fail.Message, fail.Cause = ReasonInvalid, "the request cannot be built", err
		return nil, fail
	}
	if content != nil {
		req.Body = io.NopCloser(bytes.NewReader(content))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		req.ContentLength = int64(len(content))
		// Exactly this: with a charset the gateway would read the body as YAML.
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if c.o.UserAgent != "" {
		req.Header.Set("User-Agent", c.o.UserAgent)
	}
	if c.o.Authorizer != nil {
		if err := c.o.Authorizer.Authorize(req); err != nil {
			return nil, c.unauthorized(parent, fail, err)
		}
	}
	red := c.redactor(req, body)

	var connected atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}))
	resp, err := c.http.Do(req)
	if err != nil {
		fail.Sent = connected.Load() || !neverSent(err)
		return nil, c.unanswered(parent, fail, err)
	}
	defer func() {
		// What is left is read so that the connection can serve the next call.
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 256<<10))
		_ = resp.Body.Close()
	}()
	fail.Sent, fail.HTTPStatus = true, resp.StatusCode
	limited, err := io.ReadAll(io.LimitReader(resp.Body, c.o.MaxBody+1))
	if err != nil {
		return nil, c.unanswered(parent, fail, err)
	}
	if int64(len(limited)) > c.o.MaxBody {
		fail.Reason = ReasonBadAnswer
		fail.Message = fmt.Sprintf("the answer is larger than %d bytes", c.o.MaxBody)
		return nil, fail
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return &answer{client: c, call: call, status: resp.StatusCode, body: limited}, nil
	}
	c.refused(fail, resp, limited, red)
	return nil, fail
}

// redactor knows every secret that a request carries.
func (c *Client) redactor(req *http.Request, body payload) redactor {
	secrets := []string{}
	for _, s := range c.o.Secrets {
		secrets = append(secrets, s.Reveal())
	}
	if body != nil {
		for _, s := range body.secrets() {
			secrets = append(secrets, s.Reveal())
		}
	}
	if header := req.Header.Get("Authorization"); header != "" {
		secrets = append(secrets, header)
		if _, credentials, found := strings.Cut(header, " "); found {
			secrets = append(secrets, credentials)
		}
	}
	if _, password, ok := req.BasicAuth(); ok {
		secrets = append(secrets, password)
	}
	return newRedactor(secrets...)
}

// unauthorized says why there are no credentials. Nothing was sent.
func (c *Client) unauthorized(parent context.Context, fail *Error, err error) *Error {
	fail.Cause = err
	if parent.Err() != nil {
		fail.Reason, fail.Message = ReasonUnanswered, "the call was cancelled"
		fail.Cause = errors.Join(parent.Err(), err)
		return fail
	}
	fail.Reason, fail.Message = ReasonUnauthorized, "no credentials: "+err.Error()
	if e := AsError(err); e != nil {
		fail.Reason, fail.Message, fail.RetryAfter = e.Reason, e.Message, e.RetryAfter
	}
	return fail
}

func (c *Client) unanswered(parent context.Context, fail *Error, err error) *Error {
	fail.Reason, fail.Cause = ReasonUnanswered, err
	fail.HTTPStatus = 0
	fail.Message = DescribeNetworkError(err, c.o.Timeout)
	if parent.Err() != nil {
		fail.Message = "the call was cancelled"
		if errors.Is(parent.Err(), context.DeadlineExceeded) {
			fail.Message = "no answer before the caller's deadline"
		}
		fail.Cause = errors.Join(parent.Err(), err)
	}
	return fail
}

// refused fills in what an answer other than success means.
func (c *Client) refused(fail *Error, resp *http.Response, body []byte, red redactor) {
	if d, ok := ParseRetryAfter(resp.Header.Get("Retry-After"), c.o.Now()); ok &&
		(resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable) {
		fail.RetryAfter = d
	}
	if resp.StatusCode < 400 {
		fail.Reason = ReasonBadAnswer
		fail.Message = "the gateway answered " + strconv.Itoa(resp.StatusCode)
		if resp.StatusCode >= 300 {
			fail.Message += ", a redirect"
			if host := hostOf(resp.Header.Get("Location")); host != "" {
				fail.Message += " to " + red.clean(host, nil)
			}
			fail.Message += "; redirects are not followed, so the endpoint must name the gateway itself"
		}
		return
	}
	env, own := readEnvelope(body)
	// The form of authentication failures proves nothing under another status.
	fail.Envelope = own && (!env.auth || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	fail.Reason, fail.Subject = classify(fail.Kind, fail.Verb, resp.StatusCode, env, fail.Envelope)
	volatile := ephemeral()
	fail.Message = red.clean(env.message, volatile)
	for _, f := range env.fields {
		fail.FieldErrors = append(fail.FieldErrors, FieldError{
			Field: red.clean(f.Field, volatile), Message: red.clean(f.Message, volatile),
		})
	}
	if fail.Reason == ReasonBadAnswer {
		said := "the gateway answered " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode)
		if resp.StatusCode == http.StatusNotFound && !own {
			said += ", but not in its own form; does the endpoint's path lead to the management API?"
		} else if fail.Message != "" {
			said += ": " + fail.Message
		}
		fail.Message = said
	}
}
