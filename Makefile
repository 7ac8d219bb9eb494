# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
#   make survey   measure this machine and write a report; ARGS="--budget 2m" passes options on
#   make test     set up what the tests need and run them all; ARGS="tests/launch" picks some
#
# The first call sets up .venv, later ones start at once. Needed: python3 (3.10 or newer) and a C++20 compiler.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
PIP     = $(VENV)/bin/python -m pip --quiet --disable-pip-version-check

.PHONY: survey test clean

survey: $(VENV)/.hockney
	@$(VENV)/bin/hockney survey $(ARGS)

test: $(VENV)/.hockney-test
	@sh tests/prepare
	@$(VENV)/bin/python -m pytest $(ARGS)

# stamps: what was installed is newer than what says what to install
$(VENV)/.hockney: pyproject.toml | $(VENV)/bin/python
	@echo "installing hockney in $(VENV) (once)" >&2
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.hockney-test: pyproject.toml | $(VENV)/bin/python
	@echo "installing hockney and its tests' needs in $(VENV) (once)" >&2
	@$(PIP) install --editable '.[test]'
	@touch $@ $(VENV)/.hockney

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or newer is needed: make PYTHON=python3.12 ..., or install one" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: apt install python3-venv (Debian, Ubuntu)" >&2; exit 3; }
	@$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache
