# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
#   make survey   measure this machine and write a report; ARGS="--budget 2m" passes options on
#   make test     run the tests; ARGS="tests/launch" picks some. Those whose needs are missing here are skipped
#   make test-all the slow ones too: more ranks, both MPIs everywhere, Slurm, simulations, clang-tidy, sanitizers
#   make test-deps install what the tests need from the system (a compiler, Chromium, SimGrid, ...), as root on Debian
#   make lint     linters, formatters and type checker; sanitizers and clang-tidy too with ARGS="--all"
#   make docs     build the documentation as a web site, in site/
#   make golden   rewrite the golden files that tests compare with; git shows what changed
#   make catalogs compile the engine's executables and write their golden catalogs, which the fake machine uses
#   make durations  run the tests and write their times into docs/testing.md
#
# The first call sets up .venv, later ones start at once. Needed: python3 (3.10 or newer) and a C++20 compiler.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
# one process starts at once, two take half of the time
JOBS   ?= $(if $(ARGS),0,2)
PIP     = $(VENV)/bin/python -m pip --quiet --disable-pip-version-check

# hundreds of programs start in the tests: none is to compile hockney once more
unexport PYTHONDONTWRITEBYTECODE

.PHONY: survey test test-all test-deps lint docs golden catalogs durations clean

survey: $(VENV)/.hockney
	@$(VENV)/bin/hockney survey $(ARGS); code=$$?; $(CALLED); exit $$code

# after a survey: how to call hockney without make
CALLED = [ "$$(command -v hockney)" = "$$(realpath $(VENV))/bin/hockney" ] || \
  echo "hockney is installed in $(VENV)/bin. To use it in this shell: source $(VENV)/bin/activate" >&2

# tests of real ranks run one after the other, those of one file in one process
PYTEST = $(VENV)/bin/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder

test: $(VENV)/.hockney-test
	@$(PYTEST) $(ARGS)

test-all: $(VENV)/.hockney-test
	@$(PYTEST) --all $(ARGS)

durations: $(VENV)/.hockney-test
	@$(PYTEST) --durations-table $(ARGS)

test-deps:
	@sh tests/prepare

lint: $(VENV)/.hockney-test
	@$(VENV)/bin/python -m pytest tests/lint $(ARGS)

docs: $(VENV)/.hockney-docs
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -c docs/_site . site
	@echo "site/index.html"

golden: $(VENV)/.hockney-test
	@$(VENV)/bin/python -m pytest --regen $(ARGS)

catalogs: $(VENV)/.hockney-test
	@$(VENV)/bin/python tests/golden_catalogs.py

# stamps: what was installed is newer than what says what to install
$(VENV)/.hockney: pyproject.toml | $(VENV)/bin/python
	@echo "installing hockney in $(VENV) (once)" >&2
	@$(PIP) install --no-compile --editable .  # most of what comes along is never imported
	@touch $@

$(VENV)/.hockney-test: pyproject.toml | $(VENV)/bin/python
	@echo "installing hockney and its tests' needs in $(VENV) (once)" >&2
	@$(PIP) install --editable '.[test]'
	@touch $@ $(VENV)/.hockney

$(VENV)/.hockney-docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing hockney and the documentation's generator in $(VENV) (once)" >&2
	@$(PIP) install --editable '.[docs]'
	@touch $@ $(VENV)/.hockney

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or newer is needed: make PYTHON=python3.12 ..., or install one" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: apt install python3-venv (Debian, Ubuntu)" >&2; exit 3; }
	@$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) site .pytest_cache .hypothesis .ruff_cache .mypy_cache
