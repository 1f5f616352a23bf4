# Short targets; everything they need lands in .venv, or in .venv-python3.13 with PYTHON=python3.13.
# `make` alone prints this list.
REQUIRE ?=
COUNT   ?= 5
VENV    := .venv$(if $(PYTHON),-$(notdir $(PYTHON)))
BIN     := $(VENV)/bin
PYTHON  ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
UV      := $(shell uv lock --check --offline >/dev/null 2>&1 && echo uv)
SYNC    := UV_PROJECT_ENVIRONMENT=$(VENV) uv sync --quiet --locked --inexact --compile-bytecode --python $(PYTHON)
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Compiled modules are kept whatever the shell says: each of hundreds of commands would compile anew.
export PYTHONDONTWRITEBYTECODE :=
PYTEST   = $(BIN)/python -m pytest $(if $(REQUIRE),--require=$(REQUIRE))

.DEFAULT_GOAL := help
.PHONY: help need demo test test-slow test-nightly test-stress test-docker check docs bench ollama-test-server small-model clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

need:
	@test -n "$(PYTHON)" || { echo "regraph needs Python 3.11 or newer as python3: install it and run make again"; exit 3; }
	@test -n "$(UV)" || $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "regraph needs Python's venv module: install it (Debian: python3-venv) and run make again"; exit 3; }
	@command -v g++ >/dev/null || { echo "regraph needs g++: install it (Debian: g++) and run make again"; exit 3; }

# uv takes the versions of uv.lock; pip, where there is no uv or an index that the lock does not
# name, the newest that fit.
$(VENV)/.ready: pyproject.toml uv.lock | need
	@echo "setting up $(VENV) ..."
ifdef UV
	@$(SYNC) && touch $@
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) -e . && touch $@
endif

$(VENV)/.dev: $(VENV)/.ready
	@echo "setting up the development tools ..."
	@$(if $(UV),$(SYNC) --extra dev,$(PIP) -e '.[dev]') && touch $@

demo: $(VENV)/.ready ## grow a technique graph, search it, print faster code (about a minute)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: $(VENV)/.dev ## the quick tests; REQUIRE=neo4j,gpu turns absences into failures
	@$(BIN)/python tests/install.py neo4j
	@$(PYTEST) -n 4 -m "not slow and not nightly and not timing"

test-slow: $(VENV)/.dev ## what guards data and safety and takes long
	@$(BIN)/python tests/install.py neo4j
	@$(PYTEST) -n 3 -m "slow and not nightly and not timing"

test-nightly: $(VENV)/.dev ## all the rest; then what measures time, alone; then the containers
	@$(BIN)/python tests/install.py neo4j
	@ended=0; $(PYTEST) -n 2 -m "nightly and not timing" || ended=1; \
	  $(PYTEST) -m timing --reruns 1 -rR || ended=1; \
	  if docker info >/dev/null 2>&1; then $(MAKE) --no-print-directory test-docker || ended=1; \
	  else echo "no Docker engine answers: make test-docker was not run"; fi; exit $$ended

test-stress: $(VENV)/.dev ## make test COUNT times beside six busy loops
	@for loop in 1 2 3 4 5 6; do (while :; do :; done) & busy="$$busy $$!"; done; trap "kill $$busy" EXIT; \
	  for time in $$(seq $(COUNT)); do $(MAKE) --no-print-directory test || exit 1; done

test-docker: export TESTCONTAINERS_RYUK_DISABLED = true
test-docker: export REGRAPH_TEST_NEO4J_CONTAINER = 1
test-docker: $(VENV)/.dev ## the container parts, where an engine answers (Error 3: none does)
	@$(BIN)/python tests/install.py neo4j
	@$(BIN)/python tests/install_docker_images.py
	@$(BIN)/pytest tests/docker --require=docker
	@$(BIN)/pytest tests/contract -k '[neo4j and not 2026' --require=neo4j

check: $(VENV)/.dev ## format, lint, types, architecture
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

docs: $(VENV)/.dev ## the documents as one site, in build/docs; a link that leads nowhere ends it
	@$(BIN)/python docs/generate.py
	@$(BIN)/sphinx-build -q -W --keep-going -c docs/site -d build/docs/.doctrees docs build/docs
	@echo "open build/docs/package.html"

bench: $(VENV)/.dev ## measure, then rewrite docs/results.md
	@$(BIN)/python tests/install.py neo4j && $(BIN)/python benchmarks/run.py

ollama-test-server: $(VENV)/.dev ## build a real Ollama for the tests (Go, 6 minutes)
	@$(BIN)/python tests/install.py ollama

small-model: $(VENV)/.dev ## a real small model for the tests: weights, Ollama (Go, 8 minutes)
	@$(BIN)/python tests/install.py models
	@$(BIN)/python tests/install.py ollama

clean: ## remove what make made (not the user's graph)
	rm -rf .venv .venv-* build dist .demo *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
