#!/usr/bin/env bash
# Builds the Crossplane packages of this repository, without a container engine, or
# pushes what was built. The same commit gives the same bytes, built by the same Go.
#
# usage: hack/xpkg.sh build FOLDER
#        hack/xpkg.sh push FOLDER REGISTRY     (REGISTRY is a host and an organisation)
#
# VERSION            of the packages, and the tag they are pushed under (default: from git)
# REVISION           the commit they are built from                     (default: from git)
# ARCHITECTURES      that they run on, separated by spaces              (default: amd64 arm64)
# SOURCE_DATE_EPOCH  the time that everything in them has               (default: that of the commit)
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -ra architectures <<<"${ARCHITECTURES:-amd64 arm64}"

# A setting meant for the machine that builds must not change what is built.
unset GOFLAGS GOEXPERIMENT GOFIPS140
export GOWORK=off
runs=(GOOS=linux CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0)

# package META [COMMAND] [-- OPTIONS]: the package that META describes, which runs
# COMMAND on each architecture. One that is not there is not built.
package() {
  local meta=$1 command= arch
  shift
  [[ -e $meta ]] || return 0
  if [[ ${1:---} != -- ]]; then command=$1; shift; fi
  [[ ${1:-} != -- ]] || shift
  if [[ -z $command ]]; then
    "$xpkg" build --meta "$meta" "$@" "${described[@]}"
    return
  fi
  for arch in "${architectures[@]}"; do
    env "${runs[@]}" GOARCH="$arch" go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$VERSION" -o "$binaries/${command##*/}" "$command"
    "$xpkg" build --meta "$meta" --binary "$binaries/${command##*/}" "$@" "${described[@]}"
  done
}

build() {
  : "${VERSION:=$(git describe --tags --always --dirty)}"
  : "${REVISION:=$(git rev-parse HEAD)}"
  : "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
  export SOURCE_DATE_EPOCH
  mkdir -p "$1"
  rm -f "$1"/*.xpkg "$1"/*.spdx.json
  local described=(--version "$VERSION" --revision "$REVISION" --out "$1")
  binaries=$(mktemp -d)
  trap 'rm -rf "$binaries"' EXIT

  package package/crossplane.yaml ./cmd/provider -- --objects package/crds \
    --examples examples/quickstart --examples examples/providerconfig --examples examples/restapi \
    --examples examples/subscription --examples examples/subscriptionplan
  package package/function/crossplane.yaml ./cmd/function-apiplatform -- --objects package/function
  package package/configuration/crossplane.yaml -- --objects package/configuration --examples examples/access
}

push() {
  : "${VERSION:=$(git describe --tags --always --dirty)}"
  local file name arch names=() files
  for file in "$1"/*.xpkg; do
    [[ -e $file ]] || { echo "xpkg.sh: there is nothing to push in $1; build it first" >&2; exit 1; }
    name=$(basename "$file" .xpkg)
    for arch in "${architectures[@]}"; do name=${name%-"$arch"}; done
    [[ " ${names[*]} " == *" $name "* ]] || names+=("$name")
  done
  for name in "${names[@]}"; do
    files=()
    for file in "$1/$name.xpkg" "${architectures[@]/#/$1/$name-}"; do
      file=${file%.xpkg}.xpkg
      [[ ! -e $file ]] || files+=("$file")
    done
    "$xpkg" push "$2/$name:$VERSION" "${files[@]}"
  done
}

usage="usage: xpkg.sh build FOLDER | push FOLDER REGISTRY"
case "${1:-}" in
  build) : "${2:?$usage}" ;;
  push) : "${2:?$usage}" "${3:?$usage}" ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
xpkg=$(hack/tools/build.sh xpkg)
"$@"
