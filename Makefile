# Every target works with nothing but Go and make installed; tools are built from their pinned versions.
CONTROLLER_GEN := sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
KO := github.com/google/ko@v0.19.1
KUSTOMIZE := sigs.k8s.io/kustomize/kustomize/v5@v5.8.2

ADDR ?= 127.0.0.1:8443
CERT_DIR ?= certs
FUZZTIME ?= 30s
export OVERLAY HOSTS

MODULES := . e2e

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables of run: ADDR ($(ADDR)), CERT_DIR ($(CERT_DIR)); of fuzz: FUZZTIME ($(FUZZTIME));"
	@echo "of deploy-knative: KO_DOCKER_REPO, OVERLAY, HOSTS; of e2e-knative and bench: ARGS (-help)"

.PHONY: run
run: bin/interpretctl ## Serve all functions at one HTTPS URL
	bin/interpretctl serve --addr $(ADDR) --cert-dir $(CERT_DIR)

.PHONY: build
build: bin/interpretctl bin/rollout ## Build the programs into bin/

.PHONY: bin/interpretctl
bin/interpretctl:
	CGO_ENABLED=0 go build -trimpath -o $@ ./infra/interpretctl

.PHONY: bin/rollout
bin/rollout:
	CGO_ENABLED=0 go build -trimpath -o $@ ./knative/rollout

# Built once: the cluster may be one that is reached only from where there are no modules to load.
bin/ko:
	GOBIN=$(CURDIR)/bin go install $(KO)

bin/kustomize:
	GOBIN=$(CURDIR)/bin go install $(KUSTOMIZE)

.PHONY: deploy-knative
deploy-knative: bin/ko bin/kustomize bin/interpretctl ## Build the images and deploy them to a Knative cluster
	knative/deploy.sh

.PHONY: e2e-knative
e2e-knative: bin/ko bin/kustomize bin/interpretctl bin/rollout ## Try and measure everything on a Knative cluster
	cd e2e && KO_CONFIG_PATH=$(CURDIR)/.ko.yaml go run ./knative $(ARGS)

.PHONY: bench
bench: ## Measure what answers cost, beside the least possible and the usual
	@mkdir -p bin
	cd e2e && go run ./bench $(ARGS)

.PHONY: bench-check
bench-check: ## Fail if answers cost more than they should
	@mkdir -p bin
	cd e2e && go run ./bench -check bench/bounds.json -only "HTTP/1.1, 16" $(ARGS)

.PHONY: bench-codec
bench-codec: ## Measure the codec ten times: compare the output of two states with benchstat
	go test ./shared/codec ./functions -run '^$$' -bench . -benchmem -count 10

.PHONY: test
test: ## Run all tests
	go test ./...
	cd e2e && go test ./...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@set -e; packages=$$(go list -f '{{if .TestGoFiles}}{{.ImportPath}}{{end}}' ./...); \
	for package in $$packages; do \
		targets=$$(go test -list '^Fuzz' "$$package"); \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$package"; \
		done; \
	done

.PHONY: generate
generate: ## Write the generated files anew
	go run ./knative/manifests knative/manifests
	go run $(CONTROLLER_GEN) object crd:maxDescLen=0,generateEmbeddedObjectMeta=true paths=./shared/workload/... \
		output:object:dir=shared/workload/v1alpha1 output:crd:dir=infra/karmada
	for module in $(MODULES); do (cd $$module && go mod tidy) || exit 1; done

.PHONY: lint
lint: ## Check style and find likely mistakes
	for module in $(MODULES); do (cd $$module && go run $(GOLANGCI_LINT) run ./...) || exit 1; done
