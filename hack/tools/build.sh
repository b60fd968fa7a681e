#!/usr/bin/env bash
# Builds one of the development tools under hack/tools/ and prints where its
# binary is. The cache is keyed by the tool module's checksums, by its own source
# if it has some, and by the Go version, so a changed pin builds anew and an
# unchanged one costs nothing.
#
# usage: hack/tools/build.sh TOOL, one of those listed below
#
# KUBEBUILDER_ASSETS  a folder whose binaries are used as they are, if it has the one asked for
# TOOLS_CACHE         where the built ones are kept (default: .cache/tools)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${1:?usage: build.sh TOOL}

ldflags="-s -w"
case "$name" in
  etcd)                    module=etcd;          package=go.etcd.io/etcd/server/v3;                          usually="about 40 s" ;;
  kube-apiserver)          module=kubernetes;    package=k8s.io/kubernetes/cmd/kube-apiserver;               usually="about 3 min" ;;
  kube-controller-manager) module=kubernetes;    package=k8s.io/kubernetes/cmd/kube-controller-manager;      usually="about 1 min" ;;
  kubectl)                 module=kubernetes;    package=k8s.io/kubernetes/cmd/kubectl;                      usually="about 30 s" ;;
  golangci-lint)           module=golangci-lint; package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint; usually="about 3 min" ;;
  crossplane-core)         module=crossplane-core; package=github.com/crossplane/crossplane/v2/cmd/crossplane;           usually="about 2 min" ;;
  promql)                  module=promql;        package=.;                                                      usually="about 30 s" ;;
  gitops)                  module=gitops;        package=.;                                                      usually="about 1 min" ;;
  crossplane-cli)          module=crossplane-cli; package=github.com/crossplane/cli/v2/cmd/crossplane;           usually="about 2 min" ;;
  crane)                   module=crane;         package=github.com/google/go-containerregistry/cmd/crane;       usually="about 20 s" ;;
  xpkg)                    module=xpkg;          package=.;                                                      usually="about 20 s" ;;
  helm)                    module=helm;          package=helm.sh/helm/v4/cmd/helm;                           usually="about 2 min" ;;
  *) echo "build.sh: no tool named $name under hack/tools" >&2; exit 2 ;;
esac

if [[ -n "${KUBEBUILDER_ASSETS:-}" && -x "${KUBEBUILDER_ASSETS}/$name" ]]; then
  echo "${KUBEBUILDER_ASSETS}/$name"
  exit 0
fi

mkdir -p "${TOOLS_CACHE:-$here/../../.cache/tools}"
cache=$(cd "${TOOLS_CACHE:-$here/../../.cache/tools}" && pwd)

# A coverage or race setting meant for the product must not change a tool.
unset GOFLAGS
export GOWORK=off CGO_ENABLED=0
cd "$here/$module"

if [[ $module == kubernetes ]]; then
  # An API server without a version refuses to start.
  version=$(awk '$1 == "require" {sub(/^require /, "")} $1 == "k8s.io/kubernetes" {print $2; exit}' go.mod)
  [[ $version == v* ]] || { echo "build.sh: no version of k8s.io/kubernetes in $PWD/go.mod" >&2; exit 1; }
  IFS=. read -r major minor _ <<<"${version#v}"
  for target in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $target.gitVersion=$version -X $target.gitMajor=$major -X $target.gitMinor=$minor -X $target.gitTreeState=clean"
  done
fi

if [[ $name == crossplane-core ]]; then
  # The RBAC manager has no flag for where it serves metrics; on one machine the usual
  # port is soon taken. This is where it serves them unless told otherwise.
  ldflags+=" -X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=127.0.0.1:0"
  # Without a version it is compatible with no package.
  version=$(awk '$1 == "github.com/crossplane/crossplane/v2" {print $2; exit}' go.mod)
  [[ $version == v* ]] || { echo "build.sh: no version of crossplane in $PWD/go.mod" >&2; exit 1; }
  ldflags+=" -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=$version"
fi

shopt -s nullglob
key=$({ cat go.mod go.sum ./*.go; go env GOVERSION GOOS GOARCH; echo "$ldflags $package"; } | sha256sum | cut -c1-16)
binary=$cache/$name-$key/$name
if [[ ! -x $binary ]]; then
  # Test packages run side by side and ask for the same tool; one of them builds it.
  mkdir -p "$(dirname "$binary")"
  if command -v flock >/dev/null; then
    exec 9>"$(dirname "$binary")/.lock"
    flock 9
  fi
  if [[ ! -x $binary ]]; then
    echo "building $name (usually takes $usually on 2 cores, once)" >&2
    started=$SECONDS
    go build -buildvcs=false -trimpath -ldflags "$ldflags" -o "$binary.$$" "$package" >&2 9>&- || { rm -f "$binary.$$"; exit 1; }
    if [[ $name == crossplane-core ]]; then
      # What its image and its chart have beside the binary: CRDs, webhooks, rights.
      rm -rf "$(dirname "$binary")/cluster"
      cp -R "$(go list -m -f '{{.Dir}}' github.com/crossplane/crossplane/v2)/cluster" "$(dirname "$binary")/cluster"
      chmod -R u+w "$(dirname "$binary")/cluster"
    fi
    mv "$binary.$$" "$binary"
    echo "built $name in $((SECONDS - started)) s" >&2
  fi
fi
echo "$binary"
