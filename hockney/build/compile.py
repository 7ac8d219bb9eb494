# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run CMake and Ninja, keep their log, and say in one line why a build failed."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from hockney import process
from hockney.build.tools import tool
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi

TARGET = "hockney-engine"
PLATFORM = "libhockney-platform.so"
"""Built beside an engine for SimGrid: the described machine, as a plug-in of the simulator."""
SILENCE_SECONDS = 600.0


class BuildFailed(EnvironmentProblem):
    """`log` is the whole log, `tail` its last lines."""

    def __init__(self, what: str, why: str, todo: str, log: Path, tail: tuple[str, ...]) -> None:
        super().__init__(what, why, todo)
        self.log = log
        self.tail = tail


def compile_engine(
    mpi: Mpi, source: Path, work: Path, log: Path, target: str = TARGET, definitions: Sequence[str] = ()
) -> None:
    """Configure `source` in `work` and build `target` there, for SimGrid with its plug-in. Raises
    BuildFailed."""
    simulated = mpi.family == "smpi"
    configure = [
        tool("cmake"), "-S", str(source), "-B", str(work), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={mpi.mpicxx}",
        *(f"-D{definition}" for definition in (*definitions, *(["HOCKNEY_SMPI=ON"] if simulated else []))),
    ]  # fmt: skip
    targets = [target, *(["hockney-platform"] if simulated else [])]
    for words in (configure, [configure[0], "--build", str(work), "--target", *targets]):
        if logged(words, mpi, log) != 0:
            raise failed(mpi, log)


def logged(words: list[str], mpi: Mpi, log: Path) -> int:
    """Run `words`, append all they say to `log`; the exit code. In English, which `failed` understands."""
    environment = {**mpi.environment, "LC_ALL": "C"}
    with log.open("a", errors="replace") as file, process.stream(words, env=environment) as job:
        file.write(f"$ {' '.join(words)}\n")
        try:
            while (line := job.line(SILENCE_SECONDS)) is not None:
                file.write(line.text + "\n")
                file.flush()
        except process.Quiet:
            file.write(f"ended after {SILENCE_SECONDS:g} s of silence\n")
            return job.end()
        code = job.wait(SILENCE_SECONDS)
        return job.end() if code is None else code


def failed(mpi: Mpi, log: Path) -> BuildFailed:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    tail = tuple(lines[-12:])
    if any("No space left on device" in line or "Disk quota exceeded" in line for line in lines):
        return BuildFailed(
            "the engine cannot be built",
            "the disk is full",
            "make room or set HOCKNEY_CACHE to another folder",
            log,
            tail,
        )
    if compiles(mpi) and not compiles(mpi, "-std=c++20"):
        return BuildFailed(
            f"the compiler of {mpi.mpicxx} has no C++20",
            "the engine is written in it",
            "use GCC 10 or Clang 12 or newer (OMPI_CXX, MPICH_CXX or I_MPI_CXX tell the wrapper which)",
            log,
            tail,
        )
    errors = [
        line
        for line in lines
        if ": error:" in line or "fatal error:" in line or "undefined reference" in line
    ]
    shown = [line for line in lines if not line.startswith(("$", "--", "[", "ninja:", "|", "cc1plus"))]
    said = dict.fromkeys([*errors[:1], *shown[-3:]])
    return BuildFailed(
        f"the engine does not compile with {mpi.title}",
        " | ".join(said),
        f"the whole log is {log}",
        log,
        tail,
    )


def compiles(mpi: Mpi, *flags: str) -> bool:
    """Whether the wrapper compiles what its language must have; without flags, anything at all."""
    words = [mpi.mpicxx, *flags, "-fsyntax-only", "-x", "c++", "-"]
    modern = "#include <span>\n#include <concepts>\nint main() { return std::span<int>{}.size(); }\n"
    program = modern if flags else "int main() { return 0; }\n"
    return process.capture(words, env=mpi.environment, input=program, timeout=60).ok


def unwritable(folder: Path, error: OSError) -> EnvironmentProblem:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return EnvironmentProblem(
        f"cannot write to {folder}",
        "the disk is full" if full else error.strerror or str(error),
        "make room or set HOCKNEY_CACHE to another folder"
        if full
        else "set HOCKNEY_CACHE to a folder of yours",
    )
