# Short targets; everything they need lands in .venv. `make` alone prints this list.
REQUIRE ?=
VENV    := .venv
BIN     := $(VENV)/bin
PYTHON  ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help need demo test test-docker check bench ollama-test-server llama-test-server clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

need:
	@test -n "$(PYTHON)" || { echo "regraph needs Python 3.11 or newer as python3: install it and run make again"; exit 3; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "regraph needs Python's venv module: install it (Debian: python3-venv) and run make again"; exit 3; }
	@command -v g++ >/dev/null || { echo "regraph needs g++: install it (Debian: g++) and run make again"; exit 3; }

$(VENV)/.ready: pyproject.toml | need
	@echo "setting up $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) -e . && touch $@

$(VENV)/.dev: $(VENV)/.ready
	@echo "setting up the development tools ..."
	@$(PIP) -e '.[dev]' && touch $@

demo: $(VENV)/.ready ## grow a technique graph, search it, print faster code (about 2 minutes)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: $(VENV)/.dev ## all tests; REQUIRE=neo4j,gpu turns absences into failures
	@$(BIN)/python tests/install_neo4j.py
	@$(BIN)/pytest -n 3 $(if $(REQUIRE),--require=$(REQUIRE))

test-docker: export TESTCONTAINERS_RYUK_DISABLED = true
test-docker: export REGRAPH_TEST_NEO4J_CONTAINER = 1
test-docker: $(VENV)/.dev ## the container parts, where an engine answers (Error 3: none does)
	@$(BIN)/python tests/install_neo4j.py
	@$(BIN)/python tests/install_docker_images.py
	@$(BIN)/pytest tests/docker --require=docker
	@$(BIN)/pytest tests/contract -k '[neo4j and not 2026' --require=neo4j

check: $(VENV)/.dev ## format, lint, types, architecture
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: $(VENV)/.dev ## measure, then rewrite docs/benchmarks.md
	@$(BIN)/python tests/install_neo4j.py && $(BIN)/python benchmarks/run.py

ollama-test-server: $(VENV)/.dev ## build a real Ollama for the tests (Go, 3 to 4 minutes)
	@$(BIN)/python tests/install_ollama.py

llama-test-server: $(VENV)/.dev ## build a real llama.cpp server for the tests (C++, 7 minutes)
	@$(BIN)/python tests/install_llama_cpp.py

clean: ## remove what make made (not the user's graph)
	rm -rf $(VENV) build dist .demo *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
