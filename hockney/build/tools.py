# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tools of a build: CMake and Ninja, from the system if new enough, otherwise from Python wheels; and the
system's compilers, for programs without an MPI."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hockney import process
from hockney.build.identity import INSTALL_COMPILER
from hockney.core.errors import EnvironmentProblem, one_line

MINIMUM_VERSIONS = {"cmake": (3, 20), "ninja": (1, 8)}


def tool(name: str) -> str:
    """Return the path of a `cmake` or `ninja` that is new enough for the engine's CMakeLists.txt."""
    for candidate in candidates(name):
        if version(candidate) >= MINIMUM_VERSIONS[name]:
            return candidate
    minimum = ".".join(map(str, MINIMUM_VERSIONS[name]))
    raise EnvironmentProblem(
        f"no {name} {minimum} or newer was found",
        "the engine is built with it",
        f"install it: pip install {name}",
        code="build-tool-missing",
        name=name,
        version=minimum,
    )


def candidates(name: str) -> Iterator[str]:
    """Yield the tool on PATH, then in the folder given by the wheel's module, or in the environment's bin
    folder."""
    on_path = shutil.which(name)
    if on_path:
        yield on_path
    try:
        module = importlib.import_module(name)
    except ImportError:
        module = None
    folder = getattr(module, "CMAKE_BIN_DIR", None) or getattr(module, "BIN_DIR", None)
    for place in (folder, Path(sys.prefix) / "bin"):
        if place and (Path(place) / name).exists():
            yield str(Path(place) / name)


def version(path: str) -> tuple[int, ...]:
    """Return the first version number in the output of --version; () if the tool does not work."""
    try:
        match = re.search(r"(\d+)\.(\d+)", process.capture([path, "--version"], timeout=30).out)
    except EnvironmentProblem:
        return ()
    return tuple(int(part) for part in match.groups()) if match else ()


NAMES = {"CC": ("cc", "gcc", "clang"), "CXX": ("c++", "g++", "clang++")}
CPP20_PROGRAM = "#include <span>\n#include <concepts>\nint main() { return std::span<int>{}.size(); }\n"
"""Uses features that a C++20 library must have."""


@dataclass(frozen=True)
class Compilers:
    """Commands as words. $CC and $CXX may contain options, or a launcher such as ccache."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]

    def preprocess(self, program: str, *flags: str) -> process.CompletedProgram:
        words = [*self.cxx, "-std=c++17", *flags, "-x", "c++", "-"]
        return process.capture(words, env={"LC_ALL": "C"}, input=program, timeout=120)


def compilers(environ: Mapping[str, str]) -> Compilers:
    """Return $CC and $CXX, otherwise the usual names on PATH. Raises EnvironmentProblem if C++20 does not
    compile."""
    c, cxx = (command(variable, environ) for variable in NAMES)
    words = [*cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    try:
        done = process.capture(words, env={"LC_ALL": "C"}, input=CPP20_PROGRAM, timeout=120)
    except EnvironmentProblem as error:
        raise EnvironmentProblem(
            f"the compiler {shlex.join(cxx)} does not work",
            str(error),
            INSTALL_COMPILER,
            code="compiler-not-working",
        ) from error
    if not done.ok:
        raise EnvironmentProblem(
            f"the compiler {shlex.join(cxx)} does not support C++20",
            one_line(done.err.strip() or f"exit code {done.code}")[:200],
            INSTALL_COMPILER,
            code="compiler-without-cpp20",
        )
    return Compilers(c, cxx)


def command(variable: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    if environ.get(variable):
        return tuple(shlex.split(environ[variable]))
    for name in NAMES[variable]:
        path = shutil.which(name, path=environ.get("PATH"))
        if path:
            return (path,)
    language = "C++" if variable == "CXX" else "C"
    raise EnvironmentProblem(
        f"no {language} compiler was found",
        "hockney compiles its engine, and SimGrid, on first use",
        INSTALL_COMPILER,
        code="no-compiler",
        language=language,
    )
