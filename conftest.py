# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Configuration of all tests: seeds, what is built ahead, and how failed tests are repeated."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from hockney.api import run_options
from hockney.store import appender

pytest_plugins = ("tiers", "needs", "durations", "golden_files", "real_mpi", "command_line")
"""Modules in tests/."""

# An example's duration depends on the machine, which may be busy. Examples come from the seed alone.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
settings.register_profile("fast", max_examples=25, **PATIENT)
settings.register_profile("all", max_examples=200, **PATIENT)
settings.load_profile("fast")

TESTS = Path(__file__).parent / "tests"
SEED = 1
"""In the fast tier, so that it does the same today and tomorrow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help=f"of all random input (default: {SEED}, with --all a new one)")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    options = config.option
    if options.all:
        settings.load_profile("all")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(2**31) if options.all else SEED
    # before Hypothesis reads it, and before pytest-xdist passes the options on
    options.hypothesis_seed = options.seed
    os.environ.setdefault("PYTHONHASHSEED", str(options.seed))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The seed of random input, and how each failed test is run alone."""
    options = config.option
    if options.all:
        terminalreporter.write_line(f"seed {options.seed}; --seed {options.seed} repeats it")
    reports = (*terminalreporter.stats.get("failed", ()), *terminalreporter.stats.get("error", ()))
    names = dict.fromkeys(without_group(report.nodeid, config) for report in reports)
    if names:
        terminalreporter.section("to run a failed test alone")
    for name in names:
        words = [os.path.relpath(sys.executable), "-m", "pytest", name, "--seed", str(options.seed)]
        terminalreporter.write_line(shlex.join([*words, *(["--all"] if options.all else [])]))


def without_group(nodeid: str, config: pytest.Config) -> str:
    """The name of a test without the group that pytest-xdist adds."""
    return nodeid.rpartition("@")[0] if config.getoption("dist", "no") == "loadgroup" else nodeid


@pytest.fixture(autouse=True, scope="session")
def nothing_goes_to_the_disk() -> Iterator[None]:
    """Waiting for the disk takes longer than most tests in this process, and only a power failure would show
    the difference."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # which fails for a closed file too
        patch.setattr(appender, "through_to_disk", os.fstat)
        yield


@pytest.fixture(autouse=True, scope="session")
def runs_have_the_same_seed(pytestconfig: pytest.Config) -> Iterator[None]:
    """As far as they are measured in this process, and do not choose one."""
    with pytest.MonkeyPatch.context() as patch:
        constant = SimpleNamespace(randbelow=lambda limit: pytestconfig.option.seed % limit)
        patch.setattr(run_options, "secrets", constant)
        yield


ahead = pytest.StashKey[subprocess.Popen]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """When all tests run, engines are compiled while the first tests, which need none, run."""
    config = session.config
    worker = hasattr(config, "workerinput")
    everything = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    skips = config.option.collectonly or config.option.regen or config.option.without_tools
    if not worker and everything and not skips:
        config.stash[ahead] = subprocess.Popen(
            [sys.executable, str(TESTS / "native.py")], stdin=subprocess.DEVNULL
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    building = session.config.stash.get(ahead, None)
    if building is not None:
        building.terminate()
        building.wait()
