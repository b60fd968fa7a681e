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
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A relay stands between somebody who is measured and the API server, and keeps a log
// of what they ask it. Each of them has one, also those who are only compared with,
// so that it costs all the same.
type relay struct {
	calls log[call]

	url  string
	http *http.Server
}

// newRelay to the API server that the configuration leads to.
func newRelay(ctx context.Context, cfg *rest.Config) (*relay, error) {
	target, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse the URL of the API server")
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, errors.Wrap(err, "cannot build a transport to the API server")
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:    func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:  transport,
		BufferPool: &buffers{},
		ErrorLog:   stdlog.New(io.Discard, "", 0),
	}
	r := &relay{}
	r.http, r.url, err = serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c := callOf(req.Method, req.URL, req.Header)
		s := &statusWriter{ResponseWriter: w}
		// A proxied request ends with a panic where who made it has gone.
		defer func() {
			c.Status = s.status
			r.calls.add(c)
		}()
		if c.Verb == "watch" {
			// It is over only at the end, and counts from now on.
			r.calls.add(c)
			c.Verb = "watched"
		}
		proxy.ServeHTTP(s, req)
	}))
	return r, err
}

func (r *relay) stop() { _ = r.http.Close() }

// config of a client that goes through the relay, without a limit of its own.
func (r *relay) config() *rest.Config { return &rest.Config{Host: r.url, QPS: -1, Burst: -1} }

// kubeconfig that leads through the relay, in a folder.
func (r *relay) kubeconfig(dir string) (string, error) {
	const name = "relay"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{Server: r.url}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	cfg.CurrentContext = name
	path := filepath.Join(dir, "kubeconfig")
	return path, errors.Wrap(clientcmd.WriteToFile(*cfg, path), "cannot write a kubeconfig")
}

// serve a handler on a free port of this machine.
func serve(ctx context.Context, h http.Handler) (*http.Server, string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", errors.Wrap(err, "cannot listen")
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, ErrorLog: stdlog.New(io.Discard, "", 0)}
	go func() {
		// It returns when the server is closed; then there is nothing to say.
		_ = s.Serve(l)
	}()
	return s, "http://" + l.Addr().String(), nil
}

// A statusWriter remembers the status code of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a proxy flush what it has written.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// buffers are used again, so that relaying leaves little to collect.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
