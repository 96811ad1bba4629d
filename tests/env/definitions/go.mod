// Where the set-up takes the resource definitions from that other tools serve. Nothing of it is built.
module definitions

go 1.26.0

require (
	github.com/fluxcd/kustomize-controller v1.9.6
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
