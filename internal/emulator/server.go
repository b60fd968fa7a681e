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
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen says where and how a gateway listens.
type Listen struct {
	// Address defaults to a free port on 127.0.0.1.
	Address string

	// TLS serves HTTPS with a certificate of a CA of the server's own. Gateways
	// have no such option; it stands for the proxy in front of one.
	TLS bool

	// ClientCertificates, with TLS, refuses clients without a certificate of
	// the same CA.
	ClientCertificates bool
}

// A Server is a Gateway that listens.
type Server struct {
	*Gateway

	http     *http.Server
	listener net.Listener
	scheme   string
	done     chan struct{}
	stop     func() bool

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	ca     *authority
	pool   *x509.CertPool
	server *tls.Certificate
}

// Start serves a new gateway on a free port of 127.0.0.1 until the context ends
// or the server is closed.
func Start(ctx context.Context, o Options) (*Server, error) {
	return New(o).Serve(ctx, Listen{})
}

// StartTLS is Start with HTTPS.
func StartTLS(ctx context.Context, o Options) (*Server, error) {
	return New(o).Serve(ctx, Listen{TLS: true})
}

// Serve lets the gateway listen until the context ends or the server is closed.
// The gateway keeps its content and can be served again, as after a restart.
func (g *Gateway) Serve(ctx context.Context, l Listen) (*Server, error) {
	if l.Address == "" {
		l.Address = "127.0.0.1:0"
	}
	s := &Server{Gateway: g, scheme: "http", done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	if l.TLS {
		s.scheme = "https"
		if err := s.RotateCA(); err != nil {
			return nil, err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.Address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	s.listener = listener
	if l.TLS {
		listener = tls.NewListener(listener, s.tlsConfig(l.ClientCertificates))
	}
	s.http = &http.Server{
		Handler:           g,
		ReadHeaderTimeout: 30 * time.Second,
		ConnState:         s.track,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.done)
		// Serve returns when the server is closed; then there is nothing to say.
		_ = s.http.Serve(listener)
	}()
	s.stop = context.AfterFunc(ctx, s.shut)
	return s, nil
}

// URL returns the root of the server, without the base path.
func (s *Server) URL() string { return s.scheme + "://" + s.listener.Addr().String() }

// Endpoint returns the URL of the management API, base path included.
func (s *Server) Endpoint() string { return s.URL() + BasePath }

// Address returns host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Stop stops listening and cuts all connections. The gateway can be served
// again; requests that a fault holds stay held.
func (s *Server) Stop() {
	s.stop()
	_ = s.http.Close()
	<-s.done
}

// Close stops the server, and the gateway with it.
func (s *Server) Close() {
	s.stop()
	s.shut()
	<-s.done
}

func (s *Server) shut() {
	s.Gateway.Close()
	_ = s.http.Close()
}

// DropConnections cuts all connections, as a restart of a proxy does.
func (s *Server) DropConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(s.conns, c)
		return
	}
	s.conns[c] = struct{}{}
}

// CA returns the certificate of the server's CA as PEM; nil without TLS.
func (s *Server) CA() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ca == nil {
		return nil
	}
	return bytes.Clone(s.ca.pem)
}

// RotateCA gives the server a new CA and a certificate of it. Connections that
// are open stay open: see DropConnections.
func (s *Server) RotateCA() error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	certPEM, keyPEM, err := ca.issue("127.0.0.1", x509.ExtKeyUsageServerAuth)
	if err != nil {
		return err
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("cannot load server certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ca, s.pool, s.server = ca, pool, &cert
	return nil
}

// ClientCertificate returns a certificate that the server accepts of a client,
// and its key, as PEM.
func (s *Server) ClientCertificate() (cert, key []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ca == nil {
		return nil, nil, errors.New("the server does not use TLS")
	}
	return s.ca.issue("client", x509.ExtKeyUsageClientAuth)
}

func (s *Server) tlsConfig(clients bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*s.server}}
			if clients {
				c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, s.pool
			}
			return c, nil
		},
	}
}

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// Certificates are checked by clients on the real clock, so their dates are
// fixed and wide rather than taken from an injected one.
var (
	notBefore = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2099, time.January, 1, 0, 0, 0, 0, time.UTC)
)

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make CA key: %w", err)
	}
	serial, err := serialNumber()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "Gateway emulator CA " + serial.Text(16)[:8]},
		NotBefore:    notBefore, NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("cannot make CA certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("cannot parse CA certificate: %w", err)
	}
	return &authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func (a *authority) issue(name string, usage x509.ExtKeyUsage) (cert, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make key: %w", err)
	}
	serial, err := serialNumber()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot marshal key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

func serialNumber() (*big.Int, error) {
	// The top bit keeps the number long enough to be told apart by its start.
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("cannot make serial number: %w", err)
	}
	return n.SetBit(n, 120, 1), nil
}
