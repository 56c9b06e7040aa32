#!/usr/bin/env bash
# Builds the images of the functions and of the router, and deploys them to the Knative cluster that kubectl talks to.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
	cat <<'EOF'
Usage: KO_DOCKER_REPO=REGISTRY/PATH make deploy-knative [OVERLAY=DIRECTORY] [HOSTS=NAME,NAME]

  KO_DOCKER_REPO  where the images are pushed, and pulled from by the cluster
  OVERLAY         kustomization to deploy, knative/manifests/base if unset
  HOSTS           more names or addresses by which Karmada calls the router, for its certificate
  KO_DEFAULTBASEIMAGE, KO_DEFAULTPLATFORMS and the like are those of ko

For example:
  KO_DOCKER_REPO=registry.example.com/interpreter make deploy-knative
  KO_DOCKER_REPO=registry.example.com/interpreter HOSTS=interpreter.example.com make deploy-knative OVERLAY=my-overlay
EOF
}

namespace=interpreter
overlay=${OVERLAY:-knative/manifests/base}
service=interpreter-workload.$namespace.svc
step() { printf '== %s\n' "$*" >&2; }
fail() {
	printf '%s\n\n' "$1" >&2
	usage >&2
	exit 2
}

[ -n "${KO_DOCKER_REPO:-}" ] || fail "KO_DOCKER_REPO is not set."
command -v kubectl >/dev/null || fail "kubectl is not installed."
[ -e "$overlay/kustomization.yaml" ] || fail "There is no $overlay/kustomization.yaml."
kubectl get crd services.serving.knative.dev >/dev/null ||
	fail "The cluster that kubectl talks to has no Knative Serving, or cannot be asked: see KUBECONFIG."
if kubectl -n $namespace get ksvc -o jsonpath='{.items[*].spec.traffic[*].tag}' 2>/dev/null | grep -q candidate; then
	echo "A candidate is being rolled out: promote it or take it back first (bin/rollout status)." >&2
	exit 1
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

step "certificate"
kubectl apply -f knative/manifests/base/namespace.yaml
if ! kubectl -n $namespace get secret router-tls >/dev/null 2>&1; then
	bin/interpretctl certs --dir "$temporary" --host "$service,$service.cluster.local,localhost,127.0.0.1${HOSTS:+,$HOSTS}" >/dev/null
	kubectl -n $namespace create secret generic router-tls --type=kubernetes.io/tls \
		--from-file="$temporary/tls.crt" --from-file="$temporary/tls.key" --from-file="$temporary/ca.crt"
fi

step "images (the first time takes a minute)"
bin/kustomize build "$overlay" >"$temporary/kustomized.yaml"
if ! bin/ko resolve --base-import-paths --sbom=none -f "$temporary/kustomized.yaml" >"$temporary/manifests.yaml" 2>"$temporary/ko.log"; then
	cat "$temporary/ko.log" >&2
	exit 1
fi

step "deployment"
kubectl apply -f "$temporary/manifests.yaml"
kubectl -n $namespace wait ksvc --all --for=condition=Ready --timeout=300s
if kubectl -n $namespace get deployment router >/dev/null 2>&1; then
	kubectl -n $namespace rollout status deployment router --timeout=300s
	step "deployed; let Karmada ask it, with KUBECONFIG set to the Karmada control plane's"
	kubectl -n $namespace get secret router-tls -o go-template='{{index .data "ca.crt" | base64decode}}' >"$temporary/karmada-ca.crt"
	echo "kubectl apply -f - <<'EOF'"
	bin/interpretctl render --service "$namespace/interpreter-workload" --ca "$temporary/karmada-ca.crt"
	echo "EOF"
else
	step "deployed; the URL of the router is:"
	kubectl -n $namespace get ksvc router -o jsonpath='{.status.url}'
	echo /interpreter-workload
fi
