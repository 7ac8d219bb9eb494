# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The system's own compilers, for what is built without an MPI's wrapper."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line

NAMES = {"CC": ("cc", "gcc", "clang"), "CXX": ("c++", "g++", "clang++")}
MODERN = "#include <span>\n#include <concepts>\nint main() { return std::span<int>{}.size(); }\n"
"""What a C++20 library must have: GCC 10 and Clang 12 do."""
INSTALL = "install one: GCC 10 or Clang 12 or newer (on Debian: apt install g++)"


@dataclass(frozen=True)
class Compilers:
    """Commands, as words: $CC and $CXX may hold options, or a launcher such as ccache."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]

    def preprocess(self, program: str, *flags: str) -> process.Finished:
        words = [*self.cxx, "-std=c++17", *flags, "-x", "c++", "-"]
        return process.capture(words, env={"LC_ALL": "C"}, input=program, timeout=120)


def compilers(environ: Mapping[str, str]) -> Compilers:
    """$CC and $CXX, else the usual names on PATH. Raises EnvironmentProblem where C++20 does not compile."""
    c, cxx = (command(variable, environ) for variable in NAMES)
    words = [*cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    try:
        done = process.capture(words, env={"LC_ALL": "C"}, input=MODERN, timeout=120)
    except EnvironmentProblem as error:
        raise EnvironmentProblem(
            f"the compiler {shlex.join(cxx)} does not work", str(error), INSTALL
        ) from error
    if not done.ok:
        raise EnvironmentProblem(
            f"the compiler {shlex.join(cxx)} has no C++20",
            one_line(done.err)[:200] or f"exit code {done.code}",
            INSTALL,
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
        f"there is no {language} compiler here", "SimGrid is built from its sources", INSTALL
    )
