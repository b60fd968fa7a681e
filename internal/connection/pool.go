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

package connection

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-apiplatform/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

// Options of a Pool. Live, Cache and Metadata are needed.
type Options struct {
	// Live reads Secrets and ConfigMaps from the API server itself.
	Live client.Reader
	// Cache reads configurations.
	Cache client.Reader
	// Metadata reads the metadata of Secrets, ConfigMaps and Namespaces, always
	// as metav1.PartialObjectMetadata; usually from a cache.
	Metadata client.Reader
	// NoNamespaces tells that the provider may not read Namespaces, so that none
	// matches any labels.
	NoNamespaces bool
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Random returns numbers in [0, 1) for jitter.
	Random func() float64
	// Logger logs when a connection is built; never a secret.
	Logger    logging.Logger
	UserAgent string
	// DriftInterval is how old what was read for all may be; if it is zero each reads
	// for itself.
	DriftInterval time.Duration
	// Called is told how each call to a gateway went and how long it took; also of one that
	// was not made since the gateway is held off. It must not block.
	Called func(c gateway.Call, err error, took time.Duration)
	// Woken is called, from the goroutine that read, when what managed resources look at
	// changed. It must not block.
	Woken Woken
	// OnChange is called, from the goroutine of some call, when a finding about a
	// configuration's gateway flips. It must not block.
	OnChange func(Ref)
}

// Pool holds one client per configuration. It is safe for concurrent use.
type Pool struct {
	o Options

	mu      sync.Mutex
	entries map[Ref]*entry
	sites   map[gateway.Endpoint]*site

	lookers lookers
}

// entry is what the pool knows about one configuration.
type entry struct {
	// building serialises reading Secrets, so that many callers cost one read.
	building sync.Mutex

	// What follows is guarded by the pool's mu.
	version  string
	err      error
	material material
	gateway  *Gateway
	lastGood *Gateway
	// settings are those of lastGood.
	settings settings
	// worked is one before lastGood through which a call succeeded.
	worked *Gateway
	health *health
}

// NewPool returns an empty pool.
func NewPool(o Options) *Pool {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = logging.NewNopLogger()
	}
	if o.Called == nil {
		o.Called = func(gateway.Call, error, time.Duration) {}
	}
	return &Pool{o: o, entries: map[Ref]*entry{}, sites: map[gateway.Endpoint]*site{}}
}

// For returns the gateway that a managed resource in a namespace reaches through
// a configuration. A *ConfigError says what is wrong with that, if it is not
// trouble with the API server. No call is made to the gateway.
func (p *Pool) For(ctx context.Context, ref Ref, namespace string) (*Gateway, error) {
	ref, err := ref.normalise(namespace)
	if err != nil {
		return nil, err
	}
	s, err := load(ctx, p.o.Cache, ref)
	if err != nil {
		return nil, err
	}
	if err := p.allowed(ctx, s, namespace); err != nil {
		return nil, err
	}
	return p.connect(ctx, s)
}

// ForConfig returns the gateway behind a configuration, on behalf of the
// configuration itself: no namespace needs to be allowed.
func (p *Pool) ForConfig(ctx context.Context, ref Ref) (*Gateway, error) {
	ref, err := ref.normalise(ref.Namespace)
	if err != nil {
		return nil, err
	}
	s, err := load(ctx, p.o.Cache, ref)
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, s)
}

// LastGood returns the gateway that this process reached last through a
// configuration, or if it has reached none the one it would try. It is for managed
// resources that are being deleted, and only where IsUnusable says that there is no
// other way. There is none if the configuration has since been pointed at another
// endpoint, and none for a namespace that was not allowed to use it.
func (p *Pool) LastGood(ctx context.Context, ref Ref, namespace string) (*Gateway, bool) {
	p.mu.Lock()
	e, ok := p.entries[ref]
	if !ok || e.lastGood == nil {
		p.mu.Unlock()
		return nil, false
	}
	g, s := e.lastGood, e.settings
	if !g.link.worked.Load() && e.worked != nil {
		// Who may use it is for the newest settings to say.
		g = e.worked
	}
	p.mu.Unlock()
	return g, p.allowed(ctx, s, namespace) == nil
}

// Health returns what calls taught about a configuration's gateway, or false if
// there has not been a client yet.
func (p *Pool) Health(ref Ref) (Health, bool) {
	p.mu.Lock()
	e, ok := p.entries[ref]
	if !ok || e.lastGood == nil {
		p.mu.Unlock()
		return Health{}, false
	}
	g, h := e.lastGood, e.health
	p.mu.Unlock()
	out := h.snapshot()
	out.GatewayID, out.Generation = g.GatewayID(), g.Generation()
	return out, true
}

// State is how it stands with the gateway of a configuration.
type State struct {
	Ref Ref
	// Reachable and Authenticated are as in Health.
	Reachable, Authenticated Status
	// Ages are how old what was read for all is by now, by kind. A kind that nobody looks at
	// has none.
	Ages map[gateway.Kind]time.Duration
}

// States returns those of all configurations that can be used.
func (p *Pool) States() []State {
	p.mu.Lock()
	entries := make(map[*Gateway]*health, len(p.entries))
	for _, e := range p.entries {
		if e.gateway != nil {
			entries[e.gateway] = e.health
		}
	}
	p.mu.Unlock()
	out := make([]State, 0, len(entries))
	for g, h := range entries {
		found := h.snapshot()
		out = append(out, State{
			Ref: g.ref, Reachable: found.Reachable.Status, Authenticated: found.Authenticated.Status, Ages: g.link.observed.ages(),
		})
	}
	return out
}

// Forget drops all that is known about a configuration, its last good client
// included. It is for one that is deleted and has no users left.
func (p *Pool) Forget(ref Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[ref]
	if !ok {
		return
	}
	delete(p.entries, ref)
	if e.lastGood == nil {
		return
	}
	e.lastGood.link.transport.CloseIdleConnections()
	gone := e.lastGood.link.site
	for _, other := range p.entries {
		if other.lastGood != nil && other.lastGood.link.site == gone {
			return
		}
	}
	delete(p.sites, e.lastGood.Endpoint())
}

// allowed checks that a namespace may use a configuration.
func (p *Pool) allowed(ctx context.Context, s settings, namespace string) error {
	if s.ref.Kind != v1alpha1.ClusterProviderConfigKind || s.allowed == nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s.allowed)
	if err != nil {
		return s.wrong(ProblemInvalid, "spec.allowedNamespaces is not a valid label selector")
	}
	if selector.Empty() {
		return nil
	}
	if p.o.NoNamespaces {
		return s.wrong(ProblemNotAllowed, fmt.Sprintf("namespace %q may not use it, since the provider may not read the labels of namespaces, by which spec.allowedNamespaces selects: allow it to get, list and watch namespaces, as examples/cluster/namespaces.yaml does", namespace))
	}
	ns := partial(corev1.SchemeGroupVersion.WithKind("Namespace").Kind)
	if err := p.o.Metadata.Get(ctx, types.NamespacedName{Name: namespace}, ns); err != nil {
		if !kerrors.IsNotFound(err) {
			return errors.Wrapf(err, "%s: cannot read the labels of namespace %q", s.ref, namespace)
		}
		ns.Labels = nil
	}
	if !selector.Matches(labels.Set(ns.Labels)) {
		return s.wrong(ProblemNotAllowed, fmt.Sprintf("namespace %q may not use it, since its labels do not match spec.allowedNamespaces", namespace))
	}
	return nil
}

// partial returns an object of a core kind to read metadata into.
func partial(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return m
}

// version names the state of a configuration and of all that it reads, by
// metadata alone.
func (p *Pool) version(ctx context.Context, s settings) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d", s.uid, s.generation)
	for _, d := range s.dependencies() {
		m := partial(d.Kind)
		if err := p.o.Metadata.Get(ctx, types.NamespacedName{Namespace: d.Namespace, Name: d.Name}, m); err != nil {
			if !kerrors.IsNotFound(err) {
				return "", errors.Wrapf(err, "%s: cannot read the metadata of %s \"%s/%s\"", s.ref, d.Kind, d.Namespace, d.Name)
			}
			m = partial(d.Kind)
		}
		fmt.Fprintf(&b, ",%s/%s/%s@%s/%s", d.Kind, d.Namespace, d.Name, m.UID, m.ResourceVersion)
	}
	return b.String(), nil
}

func (p *Pool) entry(ref Ref) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[ref]
	if !ok {
		e = &entry{health: &health{}}
		p.entries[ref] = e
	}
	return e
}

// settled returns an entry's result if it is that of a version.
func (p *Pool) settled(e *entry, version string) (*Gateway, error, bool) { //nolint:revive // The error is a result here.
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.gateway, e.err, e.version == version
}

func (p *Pool) connect(ctx context.Context, s settings) (*Gateway, error) {
	version, err := p.version(ctx, s)
	if err != nil {
		return nil, err
	}
	e := p.entry(s.ref)
	if g, err, ok := p.settled(e, version); ok {
		return g, err
	}
	e.building.Lock()
	defer e.building.Unlock()
	if g, err, ok := p.settled(e, version); ok {
		return g, err
	}
	m, config, err := read(ctx, p.o.Live, s)
	if err != nil && ProblemOf(err) == "" {
		// Trouble with the API server says nothing about this version.
		return nil, err
	}
	return p.settle(e, s, version, m, config, err)
}

// settle makes a version's result an entry's current one.
func (p *Pool) settle(e *entry, s settings, version string, m material, config *tls.Config, problem error) (*Gateway, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.version, e.err, e.gateway = version, problem, nil
	old := e.lastGood
	if problem != nil {
		if old != nil && old.Endpoint() != m.endpoint {
			// Whatever is deleted now was never meant for the old endpoint.
			e.lastGood, e.worked = nil, nil
			old.link.transport.CloseIdleConnections()
		}
		return nil, problem
	}
	g := &Gateway{ref: s.ref, version: version, invocationURL: s.invocationURL(), declared: s.declared()}
	if old != nil && e.material == m {
		// Only something that makes no difference to a client has changed.
		g.Client, g.link = old.Client, old.link
	} else {
		g.link = p.link(e, s, m, config)
		g.Client = gateway.New(p.clientOptions(g.link, s, m))
		if p.o.DriftInterval > 0 {
			g.link.observed = observe(g.Client, p.o.DriftInterval, p.o.Now, p.o.Woken)
		}
		if old != nil {
			old.link.transport.CloseIdleConnections()
		}
		p.o.Logger.Debug("Built a gateway client", "config", s.ref.String(), "endpoint", m.endpoint.String())
	}
	if s.seed != nil {
		g.rememberedID, g.remembered = s.seed.ID, generationOf(s.seed.Generation)
	}
	if old != nil && old.link.worked.Load() {
		e.worked = old
	}
	if e.worked != nil && e.worked.Endpoint() != g.Endpoint() {
		e.worked = nil
	}
	e.material, e.gateway, e.lastGood, e.settings = m, g, g, s
	return g, nil
}

// link must be called with the pool's mu held.
func (p *Pool) link(e *entry, s settings, m material, config *tls.Config) *link {
	place, ok := p.sites[m.endpoint]
	if !ok {
		place = &site{now: p.o.Now}
		p.sites[m.endpoint] = place
	}
	e.health.begin(m.endpoint.String())
	l := &link{
		pool: p, ref: s.ref, site: place, health: e.health,
		breaker:   &breaker{now: p.o.Now, random: p.o.Random},
		transport: transportFor(config),
	}
	if m.source == v1alpha1.CredentialsOAuth2ClientCredentials {
		timeout := s.timeout()
		if timeout <= 0 {
			timeout = gateway.DefaultTimeout
		}
		l.tokens = newTokens(m, l.transport, timeout, p.o.Now, p.o.Random)
	}
	return l
}

func (p *Pool) clientOptions(l *link, s settings, m material) gateway.Options {
	o := gateway.Options{
		Endpoint: m.endpoint, Transport: l.transport, Gate: l, Timeout: s.timeout(),
		UserAgent: p.o.UserAgent, Now: p.o.Now,
	}
	if m.secret != "" {
		o.Secrets = []gateway.Secret{m.secret}
	}
	switch m.source {
	case v1alpha1.CredentialsBasic:
		o.Authorizer = gateway.AuthorizerFunc(func(r *http.Request) error {
			r.SetBasicAuth(m.username, m.secret.Reveal())
			return nil
		})
	case v1alpha1.CredentialsBearerToken:
		o.Authorizer = gateway.AuthorizerFunc(func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+m.secret.Reveal())
			return nil
		})
	case v1alpha1.CredentialsOAuth2ClientCredentials:
		o.Authorizer = l.tokens
	case v1alpha1.CredentialsNone:
	}
	return o
}

func transportFor(config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: gateway.DefaultTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: gateway.DefaultTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     90 * time.Second,
	}
}

// current says whether a link belongs to its configuration's present client.
func (p *Pool) current(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[l.ref]
	return ok && e.lastGood != nil && e.lastGood.link == l
}

func (p *Pool) changed(ref Ref) {
	if p.o.OnChange != nil {
		p.o.OnChange(ref)
	}
}

// siteChanged tells all configurations of an endpoint what was learnt about it.
func (p *Pool) siteChanged(s *site) {
	p.mu.Lock()
	refs := []Ref{}
	for ref, e := range p.entries {
		if e.lastGood != nil && e.lastGood.link.site == s {
			refs = append(refs, ref)
		}
	}
	p.mu.Unlock()
	for _, ref := range refs {
		p.changed(ref)
	}
}
