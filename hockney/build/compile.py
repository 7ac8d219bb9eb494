# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run CMake and Ninja on the engine's sources, and say in one line why a build failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney import process
from hockney.build.compilers import MODERN
from hockney.build.log import BuildFailed, disk_full, first_error, logged, spoken
from hockney.build.tools import tool
from hockney.core.machine import Mpi
from hockney.system.files import MAKE_ROOM

PLATFORM = "libhockney-platform.so"
"""Built beside an engine for SimGrid: the described machine, as a plug-in of the simulator."""


def compile_targets(
    mpi: Mpi, source: Path, work: Path, log: Path, targets: Sequence[str], tests: Path | None = None
) -> None:
    """Configure `source` in `work` and build `targets` there, for SimGrid with its plug-in; some may be of
    the folder `tests`. Raises BuildFailed."""
    simulated = mpi.family == "smpi"
    configure = [
        tool("cmake"), "-S", str(source), "-B", str(work), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={mpi.mpicxx}",
        f"-DHOCKNEY_TESTS={tests or ''}", *(["-DHOCKNEY_SMPI=ON"] if simulated else []),
    ]  # fmt: skip
    plugin = ["hockney-platform"] if simulated else []
    for words in (configure, [configure[0], "--build", str(work), "--target", *targets, *plugin]):
        if logged(words, mpi.environment, log) != 0:
            raise failed(mpi, log)


def failed(mpi: Mpi, log: Path, product: str = "engine") -> BuildFailed:
    """Why `product` was not built."""
    lines = spoken(log)
    tail = tuple(lines[-12:])
    if disk_full(lines):
        return BuildFailed(f"the {product} cannot be built", "the disk is full", MAKE_ROOM, log, tail)
    if compiles(mpi) and not compiles(mpi, "-std=c++20"):
        return BuildFailed(
            f"the compiler of {mpi.mpicxx} has no C++20",
            f"the {product} is written in it",
            "use GCC 10 or Clang 12 or newer (OMPI_CXX, MPICH_CXX or I_MPI_CXX tell the wrapper which)",
            log,
            tail,
        )
    return BuildFailed(
        f"the {product} does not compile with {mpi.title}",
        first_error(lines),
        f"the whole log is {log}",
        log,
        tail,
    )


def compiles(mpi: Mpi, *flags: str) -> bool:
    """Whether the wrapper compiles what its language must have; without flags, anything at all."""
    words = [mpi.mpicxx, *flags, "-fsyntax-only", "-x", "c++", "-"]
    program = MODERN if flags else "int main() { return 0; }\n"
    return process.capture(words, env=mpi.environment, input=program, timeout=60).ok
