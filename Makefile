# The commands of this repository. `make run` and `make test` are all that a newcomer needs.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
TOOLS := PYTHONPATH=tools $(BIN)/python -m
# Else each start of the plugin and of the operator would compile what was compiled before.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run try test check format generate cluster-up cluster-down bench clean

run: .venv/ready ## Both example plans on a real API server: asks in this terminal, else answers by itself
	@$(TOOLS) localcluster run

test: check .venv/ready ## Everything that CI runs
	@$(TOOLS) controlplane build >/dev/null
	@$(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

try: .venv/ready ## The same engine in this process, without a cluster
	@$(BIN)/kubectl-compozy run --local -f examples/release.yaml --input version=1.4.0

check: .venv/ready ## Format, lint, types, layers, generated files
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m compozy.api.generate --check
	@$(BIN)/python -m compozy.language.json_schema --check

format: .venv/ready
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

generate: .venv/ready ## CRDs, policies and roles from the models; the schema for editors from the grammar
	@$(BIN)/python -m compozy.api.generate
	@$(BIN)/python -m compozy.language.json_schema

cluster-up: .venv/ready ## Control plane and operator in the background; kubeconfig at .cluster/kubeconfig
	@$(TOOLS) localcluster up

cluster-down: .venv/ready
	@$(TOOLS) localcluster down

bench: .venv/ready ## Benchmarks: a table, and bench/results.json
	@PYTHONPATH=tools:. $(BIN)/python -m bench

clean: cluster-down
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing Python packages into .venv (once, about a minute) ..." >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
