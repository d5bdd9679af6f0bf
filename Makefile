# Highwater. `make help` prints the index.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup run cdn fleet package image test soak bench check types lint format pages kernel fast-test clean

INSTALLED := node_modules/.package-lock.json

$(INSTALLED): package.json package-lock.json
	@echo "installing the dependencies, Node 24 among them, into node_modules/"
	@npm ci --no-progress
	@touch $(INSTALLED)

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: $(INSTALLED) ## install what is missing

run: $(INSTALLED) ## build the sample book if nothing is published, and serve (Ctrl-C stops)
	@node cli/highwater.ts run

cdn: $(INSTALLED) ## the same with nginx serving the files, and Varnish as the CDN (Ctrl-C stops)
	@node deploy/cdn.ts

fleet: $(INSTALLED) ## a build on three workers, of which one is killed, beside the build on one machine
	@vitest run test/system/fleet.test.ts -t 'workers on a queue'

package: $(INSTALLED) ## pack the npm package into dist/
	@node --disable-warning=ExperimentalWarning deploy/package.ts

image: package ## build the container images with docker or podman, from Debian's packages
	@engine=$$(command -v docker || command -v podman) || { echo 'make image needs docker or podman: install one'; exit 1; }; \
	$$engine build -f deploy/docker/Dockerfile -t highwater dist && \
	$$engine build -f deploy/docker/Dockerfile --target acme -t highwater-acme dist

test: $(INSTALLED) ## the whole suite, or the files whose names contain a word (FILE=ratios)
	@vitest run $(FILE)

soak: $(INSTALLED) ## kill, switch and send arbitrary requests for as long as you like (KILLS=300 SEED=20261121 MINUTES=60 PART=live)
	@KILLS=$(KILLS) SEED=$(SEED) MINUTES=$(MINUTES) vitest run --config test/soak/vitest.config.ts $(PART)

bench: $(INSTALLED) ## measure against peers and targets (PART=static for one part)
	@node bench/run.ts $(PART)

check: types lint fast-test ## types, lint and the fast tests, in under a minute

# What was checked is remembered: after a change only what depends on it is checked again.
CHECKED := node_modules/.cache/types
TSC := tsc --noEmit --incremental --tsBuildInfoFile

types: $(INSTALLED)
	@node deploy/client-types.ts
	@$(TSC) $(CHECKED)/all
	@$(TSC) $(CHECKED)/browser -p pages/browser
	@$(TSC) $(CHECKED)/client -p clients/typescript

lint: $(INSTALLED)
	@biome check .

fast-test: $(INSTALLED)
	@vitest run --project fast --maxWorkers=100% # these compute and never wait: more workers than cores only load more

format: $(INSTALLED) ## format the sources
	@biome check --write .

pages: $(INSTALLED) ## build the scripts of the pages, which are committed
	@rolldown --config rolldown.config.ts

kernel: ## assemble the kernel that writes rows, which is committed, with the assembler of the WebAssembly Binary Toolkit
	@wasm=$$(mktemp) && npx --yes --package=wabt@1.0.39 wat2wasm core/kernels/rows.wat -o $$wasm && \
	printf '{\n  "wat_sha256": "%s",\n  "wasm_base64": "%s"\n}\n' \
	$$(sha256sum < core/kernels/rows.wat | cut -c-64) $$(base64 -w0 $$wasm) > core/kernels/rows.json && rm $$wasm

clean: ## remove dependencies, data and test leftovers
	@rm -rf node_modules .data .servers coverage dist
