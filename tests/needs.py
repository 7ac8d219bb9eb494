# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""System tools that tests need and a machine may lack. `make test-deps` installs them; without them tests
skip, and in CI they fail.

A test finds on PATH those tools that its markers declare, and no others: a test that uses a tool without
declaring it fails on every machine, not only on those without the tool. `needs("SPIN", "compiler")` declares
tools by their names in TOOLS; MARKERS lists the markers that imply some. With `--without-tools` all of them
are hidden, as on a machine that has none.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

TOOLS = {
    "compiler": r"(.*-)?(c\+\+|g\+\+|clang\+\+|gcc|clang|cc|cpp)(-[\d.]+)?",
    "SimGrid": r"smpi(cxx|cc|run|main|ff|f90)|tesh|graphicator",
    "Chromium": r"chromium|chromium-browser|google-chrome|chromedriver",
    "SPIN": r"spin",
    "Slurm": r"sbatch|srun|salloc|scancel|scontrol|sacct|squeue|sinfo|slurmd|slurmctld|slurmstepd|munged",
    "pkg-config": r"(.*-)?pkg-config|pkgconf",
    "gfortran": r"gfortran",
    "iproute2": r"ip",
}
"""The programs of each tool."""
INDISPENSABLE = {
    "compiler": ("c++", "g++", "clang++"),
    "Chromium": ("chromium", "chromium-browser", "google-chrome"),
    "SPIN": ("spin",),
    "Slurm": ("slurmd",),
    "pkg-config": ("pkg-config",),
    "gfortran": ("gfortran",),
    "iproute2": ("ip",),
}
"""A tool is there if one of these programs is. Whether SimGrid is there, hockney finds out."""
MARKERS = {
    "mpi": ("compiler",),
    "compiler": ("compiler",),
    "simgrid": ("compiler", "SimGrid"),
    "browser": ("Chromium",),
}
SYSTEM_PATH = "/usr/sbin:/sbin"
"""Folders of daemons, which PATH may lack."""
GTEST = (Path("/usr/include/gtest/gtest.h"), Path("/usr/local/include/gtest/gtest.h"))
PATH = os.environ.get("PATH", os.defpath)
WITHOUT_TOOLS = "HOCKNEY_TESTS_PATH"
"""The variable with the PATH that has none of the tools: thousands of links, which are made once."""
hidden = False
"""Whether --without-tools was given."""


class Missing(pytest.skip.Exception):
    """The test that raises this is skipped, and counted with those that need the same."""

    def __init__(self, need: str, reason: str) -> None:
        super().__init__(f"missing: {need} ({reason})" if reason else f"missing: {need}")
        self.need = need


def missing(need: str, reason: str = "") -> NoReturn:
    """Skip the test that needs this, or fail it in CI, where everything must be installed."""
    if os.environ.get("CI") and not hidden:
        pytest.fail(
            f"missing: {need} ({reason}); 'make test-deps' installs what the tests need", pytrace=False
        )
    raise Missing(need, reason)


def need_module(name: str) -> Any:
    """A Python package of the extra `test`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(name, "a Python package")


def need_program(tool: str, *names: str) -> str:
    """The path of the first of these programs that is installed."""
    for name in names:
        path = None if hidden else shutil.which(name, path=f"{PATH}:{SYSTEM_PATH}")
        if path:
            return path
    missing(tool, f"no {' or '.join(names)}")


def need_compiler() -> None:
    need_program("compiler", *INDISPENSABLE["compiler"])


def need_gtest() -> None:
    if hidden or not any(path.exists() for path in GTEST):
        missing("GoogleTest", "its headers")


def declared(item: pytest.Item) -> frozenset[str]:
    """The tools that the markers of a test declare."""
    found = {tool for name, tools in MARKERS.items() if item.get_closest_marker(name) for tool in tools}
    return frozenset(found.union(*(mark.args for mark in item.iter_markers("needs"))))


def path_with(tools: frozenset[str]) -> str:
    """PATH without the programs of all other tools."""
    assert tools <= TOOLS.keys(), tools
    return os.pathsep.join([*map(programs_of, sorted(tools)), os.environ[WITHOUT_TOOLS]])


def path_without_tools() -> str:
    """PATH in which each folder with programs of a tool is replaced by one of links to its other programs."""
    every = re.compile("|".join(TOOLS.values()))

    def without(folder: str) -> str:
        names = programs_in(folder)
        return (
            links(folder, [n for n in names if not every.fullmatch(n)])
            if any(map(every.fullmatch, names))
            else folder
        )

    return os.pathsep.join(map(without, dict.fromkeys(PATH.split(os.pathsep))))


@functools.cache
def programs_of(tool: str) -> str:
    """Folders of links to the programs of a tool, in the order of PATH."""
    pattern = re.compile(TOOLS[tool])
    found = {
        folder: [n for n in programs_in(folder) if pattern.fullmatch(n)] for folder in PATH.split(os.pathsep)
    }
    return os.pathsep.join(links(folder, names) for folder, names in found.items() if names)


def programs_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []


def links(folder: str, names: Iterable[str]) -> str:
    """A folder with links to these files, the same in each run: kept builds remember its programs."""
    files = sorted(os.path.abspath(os.path.join(folder, name)) for name in names)
    name = hashlib.sha256(repr((os.getuid(), files)).encode()).hexdigest()[:16]
    place = os.path.join(tempfile.gettempdir(), f"hockney-path-{name}")
    made = tempfile.mkdtemp(prefix="hockney-path-")
    os.chmod(made, 0o755)  # for tests of other users
    for file in files:
        os.symlink(file, os.path.join(made, os.path.basename(file)))
    try:
        os.rename(made, place)
    except OSError:  # it exists, from another run or process
        shutil.rmtree(made)
    return place


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-tools", action="store_true", help="hide every tool that a machine may lack")


def pytest_configure(config: pytest.Config) -> None:
    global hidden
    hidden = config.getoption("--without-tools")
    if not hasattr(config, "workerinput"):  # the processes of pytest-xdist inherit it
        os.environ[WITHOUT_TOOLS] = path_without_tools()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    tools = declared(item)
    os.environ["PATH"] = path_with(frozenset() if hidden else tools)
    for tool in sorted(tools):
        if tool in INDISPENSABLE:
            need_program(tool, *INDISPENSABLE[tool])
        elif hidden:
            missing(tool)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    if call.excinfo and isinstance(call.excinfo.value, Missing):
        item.user_properties.append(("need", call.excinfo.value.need))
    return (yield)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests were skipped for each need."""
    reports = terminalreporter.stats.get("skipped", ())
    needs = Counter(value for report in reports for name, value in report.user_properties if name == "need")
    if needs:
        each = ", ".join(f"{count} need {need}" for need, count in needs.most_common())
        terminalreporter.write_line(
            f"{needs.total()} tests skipped: {each}; 'make test-deps' installs what is missing"
        )
