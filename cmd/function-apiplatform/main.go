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

// The function composes API products, and accesses to them, for Crossplane.
package main

import (
	"github.com/alecthomas/kong"
	sdk "github.com/crossplane/function-sdk-go"

	"github.com/crossplane-contrib/provider-apiplatform/internal/function"
)

// version is set when a release is built.
var version = "unknown"

type options struct {
	Network            string `help:"Network to listen on for calls of Crossplane." default:"tcp" env:"NETWORK"`
	Address            string `help:"Address to listen on for calls of Crossplane." default:":9443" env:"ADDRESS"`
	TLSServerCertsDir  string `help:"Folder with the server's certificate and key (tls.crt, tls.key), and the CA by which Crossplane is known (ca.crt). Crossplane mounts it." env:"TLS_SERVER_CERTS_DIR" placeholder:"DIR"`
	Insecure           bool   `help:"Listen without TLS and take calls from everybody, to develop and to render; what is in --tls-server-certs-dir is not used." env:"INSECURE"`
	MaxRecvMessageSize int    `help:"The largest request that is taken, in MB. A request holds an object and what it is composed of, and of a product that withdrew something all its accesses." default:"64" env:"MAX_RECV_MESSAGE_SIZE"`
	MetricsBindAddress string `help:"Where metrics are served; 0 serves none." default:":8080" env:"METRICS_BIND_ADDRESS"`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	o := &options{}
	k := kong.Parse(o,
		kong.Name("function"),
		kong.Description("A composition function for Crossplane that composes API products and accesses to them on WSO2 API Platform gateways."),
		kong.Vars{"version": version},
	)
	k.FatalIfErrorf(o.run())
}

func (o *options) run() error {
	metrics := o.MetricsBindAddress
	if metrics == "0" {
		metrics = ""
	}
	return sdk.Serve(&function.Function{},
		sdk.Listen(o.Network, o.Address),
		sdk.MTLSCertificates(o.TLSServerCertsDir),
		sdk.Insecure(o.Insecure),
		sdk.MaxRecvMessageSize(o.MaxRecvMessageSize*1024*1024),
		sdk.WithMetricsServer(metrics),
	)
}
