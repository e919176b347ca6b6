# The two commands of a newcomer are `make demo` and `make test`; `make help` lists the rest.
#
# `make` brings its own uv into .tools, finds the Python whose lock fits this machine (scripts/python_version.sh) and
# installs the locks of requirements/ as they are: nothing is resolved at install.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON3 ?= python3
UV := .tools/bin/uv
PYTEST_WORKERS ?= 2
PYTHON_VERSION := $(or $(PYTHON_VERSION),$(shell scripts/python_version.sh))
DIGITS := $(subst .,,$(PYTHON_VERSION))
LOCK := requirements/py$(DIGITS).txt
JAX_LOCK := requirements/jax-py$(DIGITS).txt
# The environments' folders.
export VENV ?= .venv
export VENV_JAX ?= .venv-jax
VENV_DOCS ?= .venv-docs

.PHONY: help
help:  ## lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: demo
demo: env  ## trains, evaluates and serves a small BERT on real text, then shows its report and predictions
	@scripts/demo.sh

.PHONY: test
test: env  ## the tests on TensorFlow; FOLDER=firth/corpus: those of one folder
	@FOLDER="$(FOLDER)" scripts/test.sh $(PYTEST_WORKERS) "not repeated"

.PHONY: test-all
test-all: lint test test-repeated test-jax docs  ## lint, `make test`, the slow tests, JAX, and the site

.PHONY: test-repeated
# One part after another, since the memory of a process that has built so many models grows.
test-repeated: env  ## the slow tests, which repeat a check in another setting; PART=3: that eighth of them
	@for part in $(or $(PART),1 2 3 4 5 6 7 8); do \
	  echo "Part $$part of 8 of the repeated tests:"; \
	  FOLDER="$(FOLDER)" scripts/test.sh $(PYTEST_WORKERS) repeated --part $$part/8 || exit; \
	done

.PHONY: repeated-seconds
repeated-seconds: env  ## measures how long each file of repeated tests takes, by which the parts are made
	@rm -rf build/repeated
	@for part in 1 2 3 4 5 6 7 8; do \
	  scripts/test.sh $(PYTEST_WORKERS) repeated --part $$part/8 --durations-json build/repeated/$$part.json || exit; \
	done
	@$(VENV)/bin/python -m tests.parts build/repeated/*.json

.PHONY: test-jax
test-jax: env-jax  ## layers and models again, on Keras's JAX backend; JAX=few: layers, losses, a model of each backbone
	@scripts/test_jax.sh $(PYTEST_WORKERS) $(or $(JAX),all)

.PHONY: test-next
test-next: | $(UV)  ## `make test-all` on the second stack, in Debian 13 (as root on Debian, or with Docker)
	@scripts/second_stack.sh

.PHONY: test-next-small
# 75: nothing could be run, which the script prints as NOT RUN with the reason.
test-next-small: | $(UV)  ## lint and a smoke test on the second stack, in the same Debian 13
	@scripts/second_stack_smoke.sh || [ $$? -eq 75 ]

.PHONY: lint
lint: env  ## ruff, mypy, and the rules of scripts/lint over the sources
	@$(VENV)/bin/ruff check --quiet . && $(VENV)/bin/ruff format --check --quiet . && $(VENV)/bin/mypy --no-error-summary firth
	@$(VENV)/bin/python -m scripts.lint

.PHONY: house
house: env  ## counts modules, lines and importers of firth/; COMMIT=HEAD~1: those of a commit
	@$(VENV)/bin/python -m scripts.house $(COMMIT)

.PHONY: format
format: env  ## formats the code and sorts the imports
	@$(VENV)/bin/ruff check --fix --quiet . ; $(VENV)/bin/ruff format --quiet .

.PHONY: coverage
coverage: env  ## branch coverage of `make test`, in build/coverage
	@scripts/coverage.sh $(UV) $(PYTEST_WORKERS)

.PHONY: mutants
mutants: env  ## 120 seeded mutants of firth/, each run against the tests of its folder, in build/mutants
	@scripts/mutants.sh $(UV)

.PHONY: bench
bench: env  ## measures speed next to peers, on the same work in the same run
	@$(VENV)/bin/python -m benchmarks.run

.PHONY: docs
docs: env $(VENV_DOCS)/.complete  ## the site of docs/ in build/site; a broken link fails
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)/bin/python -W ignore -m scripts.docs.signature_pages build/docs/signatures.md
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)/bin/python -W ignore -m scripts.docs.preset_pages build/docs/presets.md
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)/bin/python -W ignore -m scripts.docs.tutorials build/docs/tutorials
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)/bin/python -W ignore -m scripts.docs.run_pages build/docs/runs
	@NO_MKDOCS_2_WARNING=1 $(VENV_DOCS)/bin/mkdocs build --quiet --strict && echo "The site: build/site/index.html"

.PHONY: env
env: $(VENV)/.complete  ## the environment in .venv, from the lock of the Python that fits this machine

.PHONY: env-jax
env-jax: $(VENV_JAX)/.complete  ## the light environment (Keras on JAX) in .venv-jax

$(VENV)/.complete: $(LOCK) setup.py scripts/make_env.sh scripts/python_version.sh | $(UV)
	@scripts/make_env.sh $(UV) $(VENV) $(LOCK) $(PYTHON_VERSION)
	@$(UV) pip install --quiet --no-deps --no-build-isolation --python $(VENV)/bin/python --editable .
	@touch $@

$(VENV_JAX)/.complete: $(JAX_LOCK) scripts/make_env.sh scripts/python_version.sh | $(UV)
	@scripts/make_env.sh $(UV) $(VENV_JAX) $(JAX_LOCK) $(PYTHON_VERSION)
	@touch $@

$(VENV_DOCS)/.complete: requirements/docs.txt scripts/make_env.sh scripts/python_version.sh | $(UV)
	@scripts/make_env.sh $(UV) $(VENV_DOCS) requirements/docs.txt $(PYTHON_VERSION)
	@touch $@

$(UV):
	@$(PYTHON3) -m pip --version >/dev/null 2>&1 || { \
	  echo "make: $(PYTHON3) has no pip; install it (Debian and Ubuntu: apt install python3-pip) and run make again." >&2; exit 1; }
	@$(PYTHON3) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .tools uv

.PHONY: lock
lock: | $(UV)  ## resolves setup.py and requirements/*.in anew into the locks of both stacks
	@scripts/make_lock.sh $(UV)

.PHONY: clean
clean:  ## removes environments, tools and caches; runs stay
	@rm -rf $(VENV) $(VENV_JAX) $(VENV_DOCS) .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
