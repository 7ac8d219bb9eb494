# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Configuration of all tests: two tiers, which tests may run at the same time, and what is built ahead."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_files import golden  # noqa: F401
from hypothesis import HealthCheck, settings
from needs import need_compiler
from real_mpi import engine, mpi, mpi_name, stand_in  # noqa: F401

from hockney.store import appender

# an example's duration depends on the machine, which may be busy
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=50, **PATIENT)
settings.register_profile("all", max_examples=200, **PATIENT)
settings.load_profile("fast")

HERE = Path(__file__).parent
FAST_RANKS = {"openmpi": 4, "mpich": 2}
"""Maximum ranks in the fast tier. MPICH polls: ranks that share a core wait for the scheduler each time."""
NEEDING_ENGINES = ("engine", "cli", "docs", "faults")
"""Rooms whose tests with real ranks need an engine, which is compiled meanwhile."""
GROUPS = ("mpi", "browser")
"""Only one test with one of these markers runs at a time, except for those on a cluster."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too (make test-all)")
    parser.addoption("--regen", action="store_true", help="rewrite the golden files instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--all", default=False):
        settings.load_profile("all")


def is_slow(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow"):
        return True
    parameters = getattr(item, "callspec", None).params if hasattr(item, "callspec") else {}
    name = parameters.get("mpi_name", "")
    if name == "mpich" and item.get_closest_marker("one_mpi"):
        return True
    return name in FAST_RANKS and parameters.get("ranks", 0) > FAST_RANKS[name]


def named(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether the command line names this very test."""
    return any("::" in word and item.nodeid.startswith(word) for word in config.args)


def group_of(item: pytest.Item) -> str:
    """Tests in one file stay in one process, where they share their fixtures, and so do those of one cluster,
    next to other tests with real ranks: they measure nothing."""
    if item.path.parent.name == "slurm":
        return "slurm"
    for name in GROUPS:
        if item.get_closest_marker(name):
            return name
    return item.nodeid.partition("::")[0]


def rank_of(item: pytest.Item) -> tuple[int, ...]:
    """The longest chains of tests start first; among tests with real ranks, those that need no engine."""
    if item.get_closest_marker("mpi"):
        return (0, "engine" in getattr(item, "fixturenames", ()) or item.path.parent.name in NEEDING_ENGINES)
    if item.get_closest_marker("simgrid"):
        return (3,)
    return (1,) if item.get_closest_marker("browser") else (2,)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    if config.getoption("--regen"):
        chosen = [item for item in items if "golden" in getattr(item, "fixturenames", ())]
    elif config.getoption("--all"):
        chosen = list(items)
    else:
        chosen = [item for item in items if not is_slow(item) or named(config, item)]
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    yield
    items.sort(key=rank_of)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if any(item.get_closest_marker(name) for name in ("mpi", "simgrid", "compiler")):
        need_compiler()


@pytest.fixture(autouse=True, scope="session")
def nothing_goes_to_the_disk() -> Iterator[None]:
    """Waiting for the disk takes longer than most tests in this process, and only a power failure would show
    the difference."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # which fails for a closed file too
        patch.setattr(appender, "through_to_disk", os.fstat)
        yield


ahead = pytest.StashKey[subprocess.Popen]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """When all tests run, engines are compiled while the first tests, which need none, run."""
    config = session.config
    worker = hasattr(config, "workerinput")
    everything = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    if not worker and everything and not (config.option.collectonly or config.getoption("--regen")):
        config.stash[ahead] = subprocess.Popen(
            [sys.executable, str(HERE / "native.py")], stdin=subprocess.DEVNULL
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    building = session.config.stash.get(ahead, None)
    if building is not None:
        building.terminate()
        building.wait()
