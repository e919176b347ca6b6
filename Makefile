# The two commands of a newcomer are `make demo` and `make test`; `make help` lists the rest.
#
# `make` brings its own uv into .tools, finds Python 3.10 and installs the locks of requirements/ as they are:
# nothing is resolved at install.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON3 ?= python3
UV := .tools/bin/uv
PYTHON := .venv/bin/python
JAX_PYTHON := .venv-jax/bin/python
PYTEST_WORKERS ?= 2

.PHONY: help
help:  ## lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: demo
demo: env  ## trains, evaluates and serves a small BERT on real text, then shows its report and predictions
	@scripts/demo.sh

.PHONY: test
test: env env-jax lint  ## every test, on the TensorFlow and the JAX backend
	@scripts/test.sh $(PYTEST_WORKERS)

.PHONY: lint
lint: env  ## ruff and mypy
	@.venv/bin/ruff check --quiet . && .venv/bin/ruff format --check --quiet . && .venv/bin/mypy --no-error-summary firth

.PHONY: format
format: env  ## formats the code and sorts the imports
	@.venv/bin/ruff check --fix --quiet . ; .venv/bin/ruff format --quiet .

.PHONY: bench
bench: env  ## measures speed beside peers, on the same work in the same run
	@$(PYTHON) -m benchmarks.run

.PHONY: env
env: .venv/.complete  ## the environment of requirements/py310.txt in .venv

.PHONY: env-jax
env-jax: .venv-jax/.complete  ## the light environment (Keras on JAX) in .venv-jax

.venv/.complete: requirements/py310.txt setup.py .python-version | $(UV)
	@scripts/make_env.sh $(UV) .venv requirements/py310.txt
	@$(UV) pip install --quiet --no-deps --no-build-isolation --python .venv/bin/python --editable .
	@touch $@

.venv-jax/.complete: requirements/jax.txt .python-version | $(UV)
	@scripts/make_env.sh $(UV) .venv-jax requirements/jax.txt
	@touch $@

$(UV):
	@$(PYTHON3) -m pip --version >/dev/null 2>&1 || { \
	  echo "make: $(PYTHON3) has no pip; install it (Debian and Ubuntu: apt install python3-pip) and run make again." >&2; exit 1; }
	@$(PYTHON3) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .tools uv

.PHONY: lock
lock: | $(UV)  ## resolves setup.py and requirements/*.in anew into the locks
	@scripts/make_lock.sh $(UV)

.PHONY: clean
clean:  ## removes environments, tools and caches; runs stay
	@rm -rf .venv .venv-jax .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
