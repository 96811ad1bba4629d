# Everything that a developer or CI runs. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build fmt lint doc unit model integration integration-kafka-3 generate check-generated test conformance demo bench bench-layout bench-verify bench-placement soak clean

# Says what begins and when, so that a long run is never silent about where it is.
step = @echo "[$$(date +%T)] $(1)"
operator := cargo run -q --locked --bin copartition-operator --

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing; build or fetch the servers and clients that tests use (once, minutes)
	$(call step,setup)
	@tests/env/setup

build: ## Build the release binary, which knows the commit that it was built from
	COPARTITION_COMMIT=$$(git rev-parse --short=12 HEAD 2>/dev/null || true) cargo build --release --locked

fmt: ## Format the code
	cargo fmt

lint: ## Check formatting and lints
	$(call step,lint)
	cargo fmt --check
	cargo clippy --all-targets --all-features --locked -- -D warnings

doc: ## Build the code's documentation, warnings are errors
	$(call step,doc)
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features --locked --document-private-items

unit: ## Run the tests that need no server
	$(call step,unit tests)
	cargo test --lib --all-features --locked
	cargo test --doc --all-features --locked

model: ## Check the planner in all states within larger bounds, and in 100,000 random histories (docs/model.md)
	$(call step,model check)
	PROPTEST_CASES=$(or $(HISTORIES),100000) cargo test --lib --all-features --locked -- --include-ignored plan::tests::model

integration: ## Run the tests against a real Kafka and a real Kubernetes API server (after setup)
	$(call step,integration tests)
	cargo test --test integration --locked

integration-kafka-3: ## Run those of them that talk to Kafka most against Kafka 3.9, which many fleets are on
	@COPARTITION_KAFKA_VERSION=3.9.1 tests/env/setup kafka
	$(call step,integration tests on Kafka 3.9)
	for tests in kafka:: sample:: lifecycle:: growth::; do COPARTITION_KAFKA_VERSION=3.9.1 cargo test --test integration --locked -- $$tests; done

generate: ## Write crds/, the chart's copy and docs/reference from the code, and charts/install.yaml from the chart
	@tests/env/setup tools
	$(operator) crd --output-dir crds
	cp crds/*.yaml charts/copartition-operator/definitions/
	$(operator) reference --output-dir docs/reference
	charts/render > charts/install.yaml.new && mv charts/install.yaml.new charts/install.yaml

check-generated: ## Check that all of it is what the code says
	$(call step,what is generated)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; mkdir "$$fresh/crds" "$$fresh/reference"; \
	$(operator) crd --output-dir "$$fresh/crds"; $(operator) reference --output-dir "$$fresh/reference"; charts/render > "$$fresh/install.yaml"; \
	diff -ru crds "$$fresh/crds" && diff -ru charts/copartition-operator/definitions "$$fresh/crds" && \
	diff -ru -x metrics.md docs/reference "$$fresh/reference" && diff -u charts/install.yaml "$$fresh/install.yaml" || { echo "what is generated differs from the code: run 'make generate'" >&2; exit 1; }

test: ## Everything that CI checks
	@$(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory doc
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory check-generated
	@$(MAKE) --no-print-directory integration
	$(call step,all passed)

conformance: ## Run the real client libraries and compare where they put keys with the code here (after setup)
	@tests/env/setup clients
	$(call step,conformance)
	cargo test --test integration --locked -- --ignored conformance

demo: ## Show the operator at work on a Kafka and a Kubernetes of its own (KEEP=1 leaves them up)
	@examples/demo.sh

bench: ## Measure at scale and write docs/benchmarks.md (GROUPS=100,500, MIXED=2000 or ADMISSION=1000 for a part, STEADY=seconds)
	@$(MAKE) --no-print-directory setup
	$(call step,benchmarks)
	cargo bench --bench scale --locked -- $(if $(GROUPS),--groups $(GROUPS)) $(if $(MIXED),--mixed $(MIXED)) $(if $(ADMISSION),--admission $(ADMISSION)) $(if $(STEADY),--steady $(STEADY)) $(if $(SAMPLES),--samples $(SAMPLES)) $(if $(DATA),--data $(DATA)) $(if $(OUT),--out $(OUT))

bench-layout: ## Measure 'layout --summary' of millions of keys against Java and KafkaJS (KEYS=10000000, OUT=file)
	@$(MAKE) --no-print-directory setup
	$(call step,benchmark of layouts)
	cargo bench --bench layout --locked -- $(if $(KEYS),--keys $(KEYS)) --out $(or $(OUT),docs/benchmarks-layout.md)

bench-verify: ## Measure reading and judging records against a bare client (RECORDS=1000000, OUT=file)
	@$(MAKE) --no-print-directory setup
	$(call step,benchmark of verify)
	cargo bench --bench verify --locked -- $(if $(RECORDS),--records $(RECORDS)) --out $(or $(OUT),docs/benchmarks-verify.md)

bench-placement: ## Measure judging the assignments of consumer groups of up to 10,000 members
	cargo bench --bench placement --locked

soak: ## Random edits and faults on real servers, then an account (MINUTES=10, SEED= repeats a run; docs/soak.md)
	@$(MAKE) --no-print-directory setup
	$(call step,soak)
	MINUTES=$(or $(MINUTES),10) $(if $(SEED),SEED=$(SEED)) cargo test --test integration --locked -- --ignored --nocapture soak::a_long_one

clean: ## Remove what was built here (not the cache of servers)
	cargo clean
