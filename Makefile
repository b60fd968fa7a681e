# Everything a contributor runs. `make help` lists it.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := hack/tools/build.sh
ARGS    ?=
CHART   := cluster/charts/provider-apiplatform

# What make generate writes, for git.
GENERATED := ':(glob)apis/**/zz_generated.*' package/crds package/configuration docs/reference.md $(CHART)/files

# How long, or with a trailing x how many times, each fuzz target is fed.
FUZZTIME ?= 30s

# How many subscriptions the benchmark creates.
N ?= 1000

# The race detector needs a C compiler, which a machine with only Go lacks.
CGO     := $(shell go env CGO_ENABLED)
CC      := $(shell command -v $$(go env CC) 2>/dev/null)
RACE    ?= $(if $(and $(filter 1,$(CGO)),$(CC)),-race)
# What takes the time of a test is the API server; these start none.
RACED   := $(patsubst %,./%/...,$(wildcard $(addprefix internal/,gateway connection observation metrics ownership emulator controller sandbox/process)))

# Each of these has an API server of its own and takes all the machine has; collecting less
# garbage makes them a fifth cheaper. A result of theirs is not taken from Go's cache, which
# does not see what they build and run.
ALONE   := ./test/contract ./test/crash ./test/bench ./test/docs ./test/composition ./test/chart ./test/crossplane

##@ Try it

.PHONY: demo
demo: build ## Start a control plane, a gateway emulator and the provider, and tell the story of a subscription. ARGS='--gateway-url …' tells it on a real gateway
	@exec bin/sandbox demo $(ARGS)

.PHONY: sandbox
sandbox: build ## The same, kept running until Ctrl-C, to play with. CORE=1 has Crossplane's core in it, which installs the provider and what is self-service
	@$(if $(CORE),ARCHITECTURES=$$(go env GOARCH) VERSION='$(VERSION)' hack/xpkg.sh build _output/sandbox/packages)
	@exec bin/sandbox sandbox $(if $(CORE),--core) $(ARGS)

.PHONY: run
run: ## Run the provider on this machine against the cluster of the current kubeconfig
	@command -v kubectl >/dev/null || { echo "make run installs the CRDs with kubectl, which is not here" >&2; exit 1; }
	kubectl apply --server-side --force-conflicts -f package/crds
	go run -ldflags '$(LDFLAGS)' ./cmd/provider --debug $(ARGS)

##@ Build it

.PHONY: tools
tools: ## Build the tools that tests and the demo need (about 20 minutes on 2 cores, once)
	@for tool in etcd kube-apiserver kube-controller-manager kubectl promql gitops crane xpkg helm crossplane-core crossplane-cli; do $(TOOL) $$tool >/dev/null; done

.PHONY: build
build: ## Build static binaries of provider and sandbox into bin/ (BUILDFLAGS=-trimpath for a release)
	@mkdir -p bin
	CGO_ENABLED=0 go build $(BUILDFLAGS) -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

.PHONY: xpkg
xpkg: ## Build the Crossplane packages into _output/xpkg, for amd64 and arm64, with an SBOM each; needs no container engine
	@VERSION='$(VERSION)' hack/xpkg.sh build _output/xpkg

.PHONY: xpkg-push
xpkg-push: xpkg ## Build them and push them as VERSION=v… to REGISTRY=host/organisation
	@[[ -n "$(REGISTRY)" ]] || { echo "say where to push to: make xpkg-push REGISTRY=registry.example.org/platform VERSION=v0.1.0" >&2; exit 1; }
	@VERSION='$(VERSION)' hack/xpkg.sh push _output/xpkg '$(REGISTRY)'

.PHONY: generate
generate: ## Generate deep copies, method sets and CRDs from apis/, and from those what docs, chart and configuration have of them
	@rm -rf .cache/crds && mkdir -p .cache/crds
	go tool controller-gen object:headerFile=hack/boilerplate.go.txt paths=./apis/...
	go tool controller-gen crd:crdVersions=v1 paths=./apis/... output:crd:artifacts:config=.cache/crds
	go tool angryjet generate-methodsets --header-file=hack/boilerplate.go.txt ./apis/...
	@# Only now, so that a failure leaves the old ones and a kind that is gone leaves none.
	@mkdir -p package && rm -rf package/crds && mv .cache/crds package/crds
	go run ./hack/reference package/crds docs/reference.md
	go run ./hack/configuration
	@# What the chart has of others; Helm reads nothing outside of a chart.
	@rm -rf $(CHART)/files && mkdir -p $(CHART)/files/crds $(CHART)/files/monitoring
	@cp package/crds/*.yaml $(CHART)/files/crds/ && cp cluster/monitoring/* $(CHART)/files/monitoring/

##@ Check it

.PHONY: test
test: tools ## Run all tests (TESTFLAGS='-run …' for some of them)
	@status=0; \
	echo "==> tests of what runs concurrently, $(if $(RACE),with the race detector,without the race detector: it needs cgo and a C compiler)"; \
	go test $(RACE) -timeout 10m $(TESTFLAGS) $$(go list $(RACED)) || status=1; \
	echo "==> tests of all else"; \
	go test -timeout 10m $(TESTFLAGS) $$(go list ./... | grep -vxF -f <(go list $(RACED) $(ALONE))) || status=1; \
	for suite in $(ALONE); do \
	  echo "==> $$suite, on a real API server"; \
	  GOGC=400 go test -count=1 -timeout 20m $(TESTFLAGS) $$suite || status=1; \
	done; \
	exit $$status

.PHONY: test-long
test-long: tools ## Kill the provider, and answer it wrongly, at every write it makes, where make test tries a sample (about 50 minutes on 2 cores)
	GOGC=400 CRASH_ALL=1 go test -count=1 -v -timeout 4h $(TESTFLAGS) ./test/crash

.PHONY: bench
bench: tools ## Measure the provider with N=1000 subscriptions beside two references (about 20 minutes; BENCH_STRICT=1 fails where a goal is missed; see docs/benchmarks.md)
	go run ./test/bench -n $(N) $(ARGS)

.PHONY: mutants
mutants: ## Disable one guard of the provider at a time, and see that a test notices which promise that breaks (about 20 minutes; ARGS='status-first …' for some)
	go run ./test/mutants $(ARGS)

.PHONY: conformance
conformance: ## Run the conformance suite against a gateway: GATEWAY_URL=… GATEWAY_USER=… GATEWAY_PASSWORD=… GATEWAY_GENERATION=legacy|in-place
	@echo "==> conformance of $${GATEWAY_URL:-the emulator, in both generations}"
	go test -count=1 -v -timeout 15m $(TESTFLAGS) ./test/conformance/...

.PHONY: fuzz
fuzz: ## Feed each fuzz target for FUZZTIME=30s; what breaks one is kept in its testdata/fuzz, and is from then on part of its tests
	@grep -rE --include='*_test.go' '^func Fuzz' internal apis cmd test | sed -E 's|^(.*)/[^/]*:func ([A-Za-z0-9_]+).*|\1 \2|' | while read -r package target; do \
	  echo "==> $$target in $$package"; \
	  go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10s "./$$package" </dev/null; \
	done

.PHONY: lint
lint: ## Run golangci-lint (built on first use: about 3 minutes on 2 cores)
	@linter=$$($(TOOL) golangci-lint) && set -x && "$$linter" run $(ARGS)

.PHONY: check-diff
check-diff: generate ## Generate, and fail if that changes anything
	@changed=$$(git status --porcelain --untracked-files=all -- $(GENERATED)); \
	if [[ -n "$$changed" ]]; then \
	  git --no-pager diff HEAD -- $(GENERATED); \
	  printf 'generated files differ from what is committed; run make generate and commit:\n%s\n' "$$changed" >&2; \
	  exit 1; \
	fi

.PHONY: reviewable
reviewable: generate lint test ## What to run before asking for a review

##@ Rest

.PHONY: clean
clean: ## Remove what was built (the tools stay: remove .cache for those)
	rm -rf bin _output .cache/crds
	go clean -testcache

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' Makefile
