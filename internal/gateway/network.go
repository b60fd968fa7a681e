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
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// DescribeNetworkError says in a few words why a call got no answer. The words
// are equal between equal failures: they hold no port, time or address. The
// timeout is what the call was given.
func DescribeNetworkError(err error, timeout time.Duration) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     tls.AlertError
		op        *net.OpError
		timed     net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.As(err, &authority):
		return "TLS: certificate signed by unknown authority"
	case errors.As(err, &host):
		return "TLS: the certificate is not valid for this host name"
	case errors.As(err, &invalid):
		if invalid.Reason == x509.Expired {
			return "TLS: the certificate has expired or is not yet valid"
		}
		return "TLS: the certificate cannot be used for a server"
	case errors.As(err, &alert):
		return "TLS: the server refused the connection: " + strings.TrimPrefix(alert.Error(), "tls: ")
	case errors.Is(err, http.ErrSchemeMismatch):
		return "TLS: the server answers in plain HTTP"
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return "no such host"
		}
		return "the host name cannot be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return "no answer within " + timeout.String()
	case isCut(err):
		return "connection closed before an answer"
	case strings.Contains(err.Error(), "malformed"):
		return "the answer is not HTTP"
	case errors.As(err, &op) && op.Op == "remote error":
		return "TLS: the server refused the connection"
	}
	if _, text, found := strings.Cut(err.Error(), "tls: "); found {
		return "TLS: " + withoutAddresses(text)
	}
	if _, text, found := strings.Cut(err.Error(), "x509: "); found {
		return "TLS: " + withoutAddresses(text)
	}
	return "the connection failed"
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection") ||
		strings.Contains(err.Error(), "connection broken")
}

func withoutAddresses(text string) string {
	return regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|\[[0-9a-fA-F:]+\](?::\d+)?`).ReplaceAllString(text, "the host")
}

// neverSent says whether an error proves that no request left: there was no
// connection to send it on.
func neverSent(err error) bool {
	var (
		dns    *net.DNSError
		op     *net.OpError
		verify *tls.CertificateVerificationError
		header tls.RecordHeaderError
	)
	return errors.As(err, &dns) || errors.As(err, &verify) || errors.As(err, &header) ||
		errors.Is(err, http.ErrSchemeMismatch) || (errors.As(err, &op) && op.Op == "dial")
}
