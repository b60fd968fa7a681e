#!/usr/bin/env bash
# Builds one of the development tools under hack/tools/ and prints where its
# binary is. The cache is keyed by the tool module's checksums and by the Go
# version, so a changed pin builds anew and an unchanged one costs nothing.
#
# usage: hack/tools/build.sh etcd|kube-apiserver|kube-controller-manager|kubectl|golangci-lint
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TOOLS_CACHE:-$here/../../.cache/tools}
name=${1:?usage: build.sh TOOL}

kubernetes_version() { awk '$2 == "k8s.io/kubernetes" || $1 == "k8s.io/kubernetes" {print $NF; exit}' "$here/kubernetes/go.mod"; }

ldflags="-s -w"
case "$name" in
  etcd)                    module=etcd;          package=go.etcd.io/etcd/server/v3;                          usually="about 40 s" ;;
  kube-apiserver)          module=kubernetes;    package=k8s.io/kubernetes/cmd/kube-apiserver;               usually="about 3 min" ;;
  kube-controller-manager) module=kubernetes;    package=k8s.io/kubernetes/cmd/kube-controller-manager;      usually="about 1 min" ;;
  kubectl)                 module=kubernetes;    package=k8s.io/kubernetes/cmd/kubectl;                      usually="about 30 s" ;;
  golangci-lint)           module=golangci-lint; package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint; usually="about 3 min" ;;
  *) echo "build.sh: no tool named $name under hack/tools" >&2; exit 2 ;;
esac

if [[ -n "${KUBEBUILDER_ASSETS:-}" && -x "${KUBEBUILDER_ASSETS}/$name" ]]; then
  echo "${KUBEBUILDER_ASSETS}/$name"
  exit 0
fi

if [[ $module == kubernetes ]]; then
  version=$(kubernetes_version)
  numbers=${version#v}
  for target in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $target.gitVersion=$version -X $target.gitMajor=${numbers%%.*} -X $target.gitMinor=$(cut -d. -f2 <<<"$numbers") -X $target.gitTreeState=clean"
  done
fi

key=$(cat "$here/$module/go.mod" "$here/$module/go.sum" <(go env GOVERSION GOOS GOARCH) <(echo "$ldflags $package") | sha256sum | cut -c1-16)
binary=$cache/$name-$key/$name
if [[ ! -x $binary ]]; then
  echo "building $name (usually takes $usually on 2 cores, once)" >&2
  mkdir -p "$(dirname "$binary")"
  started=$SECONDS
  (cd "$here/$module" && CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$binary.$$" "$package") >&2
  mv "$binary.$$" "$binary"
  echo "built $name in $((SECONDS - started)) s" >&2
fi
(cd "$(dirname "$binary")" && echo "$PWD/$name")
