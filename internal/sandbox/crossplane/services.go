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
	"io"
	"net"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// services are what the names of a cluster's Services are to a pod: a way to where the
// Service is served. Core is told of them as of a proxy, which gRPC asks for a
// connection to a name that need not mean anything on this machine.
type services struct {
	url    string
	server *http.Server
	done   chan struct{}
}

// startServices that lead to where resolve says a host and port are served. It returns
// nothing for what is no Service.
func startServices(ctx context.Context, resolve func(ctx context.Context, host, port string) string) (*services, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Wrap(err, "cannot listen for connections to services")
	}
	s := &services{url: "http://" + listener.Addr().String(), done: make(chan struct{})}
	s.server = &http.Server{ReadHeaderTimeout: stopGrace, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "this leads to the Services of a cluster, and understands only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		host, port, err := net.SplitHostPort(r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		to := resolve(r.Context(), host, port)
		if to == "" {
			// Not a Service, or one that nothing runs for; the rest of the world is
			// where it always is.
			to = r.Host
		}
		connect(w, r, to)
	})}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(listener) // It ends with an error by design.
	}()
	return s, nil
}

// connect the client of a request with an address, until one of them has enough.
func connect(w http.ResponseWriter, r *http.Request, to string) {
	dialer := net.Dialer{Timeout: stopGrace}
	server, err := dialer.DialContext(r.Context(), "tcp", to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close() //nolint:errcheck // Both sides have said what they had to say.
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "this connection cannot be handed on", http.StatusInternalServerError)
		return
	}
	client, buffered, err := hijacker.Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close() //nolint:errcheck // Both sides have said what they had to say.
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(server, buffered)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(client, server)
		ended <- struct{}{}
	}()
	<-ended
}

func (s *services) stop() {
	_ = s.server.Close() // What is connected has ended or is of no use any more.
	<-s.done
}
