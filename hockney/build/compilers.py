# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The system's compilers, for builds without an MPI's wrapper."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from hockney import process
from hockney.build.identity import INSTALL_COMPILER
from hockney.core.errors import EnvironmentProblem, one_line

NAMES = {"CC": ("cc", "gcc", "clang"), "CXX": ("c++", "g++", "clang++")}
MODERN = "#include <span>\n#include <concepts>\nint main() { return std::span<int>{}.size(); }\n"
"""Features that a C++20 library must have."""


@dataclass(frozen=True)
class Compilers:
    """Commands, as words: $CC and $CXX may contain options, or a launcher such as ccache."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]

    def preprocess(self, program: str, *flags: str) -> process.Finished:
        words = [*self.cxx, "-std=c++17", *flags, "-x", "c++", "-"]
        return process.capture(words, env={"LC_ALL": "C"}, input=program, timeout=120)


def compilers(environ: Mapping[str, str]) -> Compilers:
    """$CC and $CXX, otherwise the usual names on PATH. Raises EnvironmentProblem if C++20 does not
    compile."""
    c, cxx = (command(variable, environ) for variable in NAMES)
    words = [*cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    try:
        done = process.capture(words, env={"LC_ALL": "C"}, input=MODERN, timeout=120)
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
        "SimGrid is compiled from source",
        INSTALL_COMPILER,
        code="no-compiler",
        language=language,
    )
