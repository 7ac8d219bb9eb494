# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests run, in which order, and which of them at the same time.

The fast tier is the default; `--all` runs all tests; `--changed` the slow ones of the folders that a change
touched. With `--box SECONDS` no test starts after that time, and those left out are counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from changed import ROOT, changed_files, folder_of_path, folders_of

FAST_RANKS = 4
"""Maximum of real ranks in the fast tier."""
NEEDING_ENGINES = ("engine", "cli", "docs", "faults", "suites")
"""Folders whose tests with real ranks need an engine, which is compiled meanwhile."""
GROUPS = ("mpi", "browser")
"""Only one test with one of these markers runs at a time, except for those on a cluster."""


def slow(*values: Any) -> list[Any]:
    """Parameters of a test that only the slow tier has; a tuple is the values of several."""
    each = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*parameters, marks=pytest.mark.slow) for parameters in each]


class LeftOut(pytest.skip.Exception):
    """There was no time left for this test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too (make test-all)")
    parser.addoption("--changed", action="store_true", help="run the slow tests of what the change touched")
    parser.addoption("--box", type=float, metavar="SECONDS", help="start no test after this time")
    parser.addoption("--box-end", type=float, help="for processes of pytest-xdist: when the box ends")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.box is not None and config.option.box_end is None:
        config.option.box_end = time.time() + config.option.box


def is_slow(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow"):
        return True
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    if parameters.get("mpi_name") == "mpich" and not item.get_closest_marker("mpich"):
        return True
    return "mpi_name" in parameters and parameters.get("ranks", 0) > FAST_RANKS


def folder_of(item: pytest.Item) -> str:
    """The folder of a test, or its file if it is in none; of a suite's test its suite."""
    return folder_of_path(item.path.relative_to(ROOT).as_posix())


def named(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether the command line names this very test."""
    return any("::" in word and item.nodeid.startswith(word) for word in config.args)


def chosen(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    if config.getoption("--regen"):
        return [item for item in items if "golden" in getattr(item, "fixturenames", ())]
    if config.getoption("--all"):
        return list(items)
    if config.getoption("--changed"):
        files = changed_files()
        folders = folders_of(files or ())
        return [item for item in items if is_slow(item) and (files is None or folder_of(item) in folders)]
    return [item for item in items if not is_slow(item) or named(config, item)]


@pytest.fixture(scope="session")
def changed_cpp(pytestconfig: pytest.Config) -> list[Path] | None:
    """The C++ sources that static analysis and sanitizers look at: with `--changed` those of the change, and
    without any the test is skipped; otherwise None, which means all of them."""
    files = changed_files() if pytestconfig.getoption("--changed") else None
    if files is None:
        return None
    found = [ROOT / file for file in files if file.endswith((".cpp", ".hpp", ".h"))]
    if not found:
        pytest.skip("no C++ changed")
    return found


def group_of(item: pytest.Item) -> str:
    """Tests in one file stay in one process, where they share their fixtures, and so do those of one cluster,
    next to other tests with real ranks: they measure nothing."""
    if folder_of(item) == "slurm":
        return "slurm"
    for name in GROUPS:
        if item.get_closest_marker(name):
            return name
    return item.nodeid.partition("::")[0]


def rank_of(item: pytest.Item) -> tuple[int, ...]:
    """The longest chains of tests start first; among tests with real ranks, those that need no engine."""
    if item.get_closest_marker("mpi"):
        return (
            0,
            "engine" in getattr(item, "fixturenames", ())
            or folder_of(item).partition("/")[0] in NEEDING_ENGINES,
        )
    if item.get_closest_marker("simgrid"):
        return (3,)
    return (1,) if item.get_closest_marker("browser") else (2,)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    kept = chosen(config, items)
    ids = set(map(id, kept))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in ids])
    items[:] = kept
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    yield
    items.sort(key=rank_of)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    end = item.config.option.box_end
    mark = item.get_closest_marker("slow")
    takes_s = mark.args[0] if mark and mark.args else 0.0
    if end is not None and time.time() + takes_s > end:
        item.user_properties.append(("left out", folder_of(item)))
        raise LeftOut("no time left")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = terminalreporter.stats.get("skipped", ())
    properties = [each for report in reports for each in report.user_properties]
    left = Counter(folder for name, folder in properties if name == "left out")
    if left:
        each = ", ".join(f"{folder} {count}" for folder, count in left.most_common())
        terminalreporter.write_line(
            f"{left.total()} tests left out after {config.option.box:g} s: {each}; 'make test-all' runs them"
        )
