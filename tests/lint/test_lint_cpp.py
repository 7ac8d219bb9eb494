# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Formatter, static analysis and sanitizers for C++. Sanitized programs run at 1 and 2 ranks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from native import SANITIZED_PROGRAMS, sanitized
from needs import missing, need_gtest
from real_mpi import mpi_named

from hockney import process
from hockney.build.identity import wrapper_command
from hockney.core.errors import EnvironmentProblem
from hockney.discovery.cpu import processors
from hockney.discovery.simgrid import find_simgrid
from hockney.launch.command import command

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [p for f in ("engine", "tests", "examples") for p in sorted((ROOT / f).rglob("*.[ch]pp"))]
ENGINE = ROOT / "engine"
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
"""MPI libraries keep their allocations until the process ends."""
STATES = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=60000"]
"""How far clang's analyzer follows a function: a quarter of its default, in a third of the time."""
CONDITIONS = re.compile(r"^#\s*(if|elif).*\b(HOCKNEY_\w+|OMPI_MAJOR_VERSION)\b", re.MULTILINE)
"""Conditions that depend on the MPI, or on an option of the build."""
OLDER_MPI = "#include <mpi.h>\n#undef OMPI_MAJOR_VERSION\n#define OMPI_MAJOR_VERSION 4\n"
"""Open MPI without the functions of MPI 4."""


def program(name: str) -> str:
    """A tool that pip has installed next to this Python."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        missing(name, "a Python package")
    return str(path)


def test_it_is_formatted():
    words = [program("clang-format"), "--dry-run", "-Werror", *map(str, SOURCES)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    files = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error: " in line})
    names = [os.path.relpath(name, ROOT) for name in files]
    assert done.returncode == 0, f"'clang-format -i' these: {' '.join(names)}"


def compiler_output(wrapper: str, options: list[str], text: str) -> str:
    words = [wrapper, "-std=c++20", f"-I{ENGINE}", f"-I{ENGINE / 'include'}", *options]
    definitions = ['-DHOCKNEY_VERSION=""', '-DHOCKNEY_COMPILER=""']
    done = process.capture([*words, *definitions, "-fsyntax-only", "-x", "c++", "-"], input=text, timeout=600)
    return "" if done.code == 0 else done.err


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("simulated", marks=pytest.mark.simgrid),
        pytest.param("older", marks=pytest.mark.mpi),
    ],
)
def test_conditional_code_compiles(kind):
    """Files whose code depends on the MPI compile for SimGrid and for an older MPI, whose groups the fast
    tier does not build: all as one file, since most of the time is spent on headers."""
    if kind == "simulated":
        try:
            wrapper, options, first = find_simgrid().mpicxx, ["-DHOCKNEY_SMPI"], ""
        except EnvironmentProblem as problem:
            missing("SimGrid", str(problem))
    else:
        wrapper, options, first = mpi_named("openmpi").mpicxx, ["-DHOCKNEY_CONTRACTS"], OLDER_MPI
    files = [p for p in sorted(ENGINE.rglob("*.[ch]pp")) if CONDITIONS.search(p.read_text())]
    assert {"core.cpp", "mpi4.hpp", "step_time.hpp"} <= {file.name for file in files}
    included = [f'#include "{file}"\n' for file in files if not file.name.startswith("platform")]
    if compiler_output(wrapper, options, first + "".join(included)):  # perhaps only a name used by two files
        problems = [compiler_output(wrapper, options, first + line) for line in included]
        assert [problem for problem in problems if problem] == []


@pytest.fixture(scope="module")
def headers() -> list[str]:
    """The folders of MPI's headers, which its wrapper adds silently."""
    return [word[2:] for word in wrapper_command(mpi_named("openmpi")) if word.startswith("-I")]


@pytest.mark.slow
@pytest.mark.mpi
def test_static_analysis_finds_nothing(headers, changed_cpp, tmp_path):
    """The sources of each folder are one file here, because most of the time is spent on headers."""
    defined = ['-DHOCKNEY_VERSION=""', '-DHOCKNEY_COMPILER=""']
    more = [*defined, f"-I{ENGINE}", f"-I{ENGINE / 'include'}", *(f"-isystem{header}" for header in headers)]
    folders = {p.parent for p in ENGINE.rglob("*.cpp") if "smpi" not in p.parts}
    if changed_cpp is not None:
        folders &= {file.parent for file in changed_cpp}
    calls = []
    for folder in sorted(folders, key=lambda each: -sum(p.stat().st_size for p in each.glob("*.cpp"))):
        whole = tmp_path / f"{'-'.join(folder.relative_to(ENGINE).parts)}.cpp"
        sources = sorted(folder.glob("*.cpp"))
        whole.write_text("".join(f'#line 1 "{path}"\n{path.read_text()}\n' for path in sources))
        options = [f"--config-file={ROOT / '.clang-tidy'}", "--", "-std=c++20", f"-I{folder}", *STATES, *more]
        calls.append([str(whole), *options])
    assert complaints(calls) == []


def complaints(calls: list[list[str]]) -> list[str]:
    """What clang-tidy prints, called with each of these."""
    tidy = program("clang-tidy")

    def checked(words: list[str]) -> str:
        done = subprocess.run([tidy, "--quiet", *words], capture_output=True, text=True)
        return (done.stdout or done.stderr)[-8000:] if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for text in pool.map(checked, calls) if text]


@pytest.fixture(scope="module")
def programs(changed_cpp) -> Path:
    need_gtest()
    return sanitized(mpi_named("openmpi"))


@pytest.mark.slow(180)
@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", SANITIZED_PROGRAMS)
def test_sanitizers_find_nothing(programs, name, ranks):
    unit = name.endswith("-unit")
    if unit and ranks > 1:
        pytest.skip("starts no ranks")
    words = (str(programs / name), "--gtest_brief=1")
    if unit:
        done = process.capture(list(words), env=OPTIONS, timeout=900)
    else:
        root = os.geteuid() == 0
        launch = command(mpi_named("openmpi"), words, ranks, processors().cores, bind=False, root=root)
        done = process.capture(launch.words, env=dict(launch.environment) | OPTIONS, timeout=900)
    assert done.code == 0 and done.out.count("PASSED") == ranks, done.out[-5000:] + done.err[-5000:]
