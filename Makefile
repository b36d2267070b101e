# `make` lists what there is. Every target works in a fresh clone on a machine with a Rust toolchain.

CARGO ?= cargo
ARGS ?=
SEEDS ?= 0..10000

.DEFAULT_GOAL := help
.PHONY: help setup run demo test check bundle packages bench load sim clean

help: ## Show this list
	@echo "Rival: durable workflows. Targets:"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what the others need and is missing: a C compiler, Node.js, cargo-nextest, valgrind, Prometheus, Python tools
	@CARGO="$(CARGO)" sh tools/setup.sh

run: ## Start a server with example workflows, in Rust, TypeScript and JSON, on 127.0.0.1:7878; it says how to use it
	@CARGO="$(CARGO)" sh tools/setup.sh build
	@$(CARGO) build --quiet --package rival-cli --package rival-example-shop
	@bin=$$(cd "$${CARGO_TARGET_DIR:-target}/debug" && pwd) && PATH="$$bin:$$PATH" && export PATH && \
		exec rival dev --config examples/rival.toml --examples examples/typescript examples/documents $(ARGS)

demo: ## Watch one order; kill it half-way and start it again
	@CARGO="$(CARGO)" sh tools/setup.sh build
	@$(CARGO) build --quiet --package rival-cli
	@exec $(CARGO) run --quiet --package rival-cli -- demo $(ARGS)

test: ## Run all tests, the examples and the code in the docs
	@CARGO="$(CARGO)" sh tools/setup.sh
	$(CARGO) nextest run --workspace $(ARGS)
	$(CARGO) test --doc --workspace

check: ## Formatting, lints, docs, and that the core builds without an operating system
	@CARGO="$(CARGO)" sh tools/setup.sh build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	@if ls "$$(rustc --print sysroot)/lib/rustlib" | grep -q '^wasm32-unknown-unknown$$'; then \
		echo "$(CARGO) build --package rival-core --target wasm32-unknown-unknown"; \
		$(CARGO) build --package rival-core --target wasm32-unknown-unknown; \
	else \
		echo "skipped: a build of rival-core for wasm32-unknown-unknown (the target is not installed)"; \
	fi

bundle: ## Make the JavaScript of the script host again, after a change in packages/rival
	@CARGO="$(CARGO)" sh tools/setup.sh
	UPDATE_BUNDLE=1 $(CARGO) test --quiet --package rival-script-host --test bundled

packages: ## Try a hundred npm packages in steps, and write the table in docs/typescript.md
	@CARGO="$(CARGO)" sh tools/setup.sh packages
	@$(CARGO) build --quiet --package rival-cli
	node tools/packages/try.mjs "$${CARGO_TARGET_DIR:-target}/debug/rival"

bench: ## Measure this machine, print the figures, write target/bench.json
	@CARGO="$(CARGO)" sh tools/setup.sh build
	$(CARGO) run --release --quiet --package rival-bench -- $(ARGS)

load: ## Measure what HTTP costs, and 500 live streams; part of bench too
	@CARGO="$(CARGO)" sh tools/setup.sh build
	$(CARGO) run --release --quiet --package rival-bench -- load $(ARGS)

sim: ## Random plans against the model: make sim SEEDS=12345, SEEDS=0..100000, ARGS=--every, --sqlite or --unmodelled
	@CARGO="$(CARGO)" sh tools/setup.sh build
	@$(CARGO) run --release --quiet --package rival-sim -- $(ARGS) $(SEEDS)

clean: ## Remove what was built; the store in ./data stays
	$(CARGO) clean
