# Every target works with nothing but Go and make installed; tools are built from their pinned versions.
CONTROLLER_GEN := sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

ADDR ?= 127.0.0.1:8443
CERT_DIR ?= certs
FUZZTIME ?= 30s

MODULES := . e2e

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables of run: ADDR ($(ADDR)), CERT_DIR ($(CERT_DIR)); of fuzz: FUZZTIME ($(FUZZTIME))"

.PHONY: run
run: bin/interpretctl ## Serve all functions at one HTTPS URL
	bin/interpretctl serve --addr $(ADDR) --cert-dir $(CERT_DIR)

.PHONY: build
build: bin/interpretctl ## Build the programs into bin/

.PHONY: bin/interpretctl
bin/interpretctl:
	CGO_ENABLED=0 go build -trimpath -o $@ ./infra/interpretctl

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
	go run $(CONTROLLER_GEN) object crd:maxDescLen=0,generateEmbeddedObjectMeta=true paths=./shared/workload/... \
		output:object:dir=shared/workload/v1alpha1 output:crd:dir=infra/karmada
	for module in $(MODULES); do (cd $$module && go mod tidy) || exit 1; done

.PHONY: lint
lint: ## Check style and find likely mistakes
	for module in $(MODULES); do (cd $$module && go run $(GOLANGCI_LINT) run ./...) || exit 1; done
