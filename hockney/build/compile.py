# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run CMake and Ninja on the engine's sources, log all output, and report in one line why a build failed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hockney import process
from hockney.build.identity import compiler_variables
from hockney.build.tools import CPP20_PROGRAM, tool
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.core.wording import join_words
from hockney.mpi import environment_of, family_of, title_of
from hockney.system.files import FREE_SPACE_REMEDY

SILENCE_SECONDS = 600.0


class BuildFailed(EnvironmentProblem):
    """A failed build. `log` is the complete log, `tail` its last lines."""

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        code: str,
        log: Path,
        tail: Sequence[str] = (),
        **fields: object,
    ) -> None:
        super().__init__(what, why, remedy, code=code, **fields)
        self.log = log
        self.tail = tuple(tail)


def run_logged(
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    on_line: Callable[[str], None] = lambda _: None,
) -> int:
    """Run `words`, append their output to `log` and pass each line to `on_line`; returns the exit code.

    Output is in English, as `is_disk_full` and `find_first_error` require. The working folder is the log's,
    since CMake's trials of SimGrid leave a file in the current folder.
    """
    with (
        log.open("a", errors="replace") as file,
        process.stream(words, env={**environment, "LC_ALL": "C"}, cwd=log.parent) as job,
    ):
        file.write(f"$ {' '.join(words)}\n")
        try:
            while (line := job.line(SILENCE_SECONDS)) is not None:
                file.write(line.text + "\n")
                file.flush()
                on_line(line.text)
        except process.OutputTimeout:
            file.write(f"ended after {SILENCE_SECONDS:g} s of silence\n")
            return job.end()
        code = job.wait(SILENCE_SECONDS)
        return job.end() if code is None else code


def log_lines(log: Path) -> list[str]:
    """Return the lines of the log that are not blank."""
    return [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]


def is_disk_full(lines: Sequence[str]) -> bool:
    return any("No space left on device" in line or "Disk quota exceeded" in line for line in lines)


def find_first_error(lines: Sequence[str]) -> str:
    """Return the first error of compiler or linker, and the end of the log."""
    errors = [
        line
        for line in lines
        if ": error:" in line or "fatal error:" in line or "undefined reference" in line
    ]
    output = [line for line in lines if not line.startswith(("$", "--", "[", "ninja:", "|", "cc1plus"))]
    return " | ".join(dict.fromkeys([*errors[:1], *output[-3:]]))


BATCH = 8
"""Number of files compiled as one. A smaller number spends more time on headers, a larger one leaves cores
idle."""

PLATFORM = "libhockney-platform.so"
"""The simulator's plug-in for described machines, built next to an engine for SimGrid."""


def compile_targets(
    mpi: Mpi,
    source: Path,
    work: Path,
    log: Path,
    targets: Sequence[str],
    tests: Path | None = None,
    *,
    keep_log: Path | None = None,
    original: Path | None = None,
) -> None:
    """Configure `source` in `work` and build `targets` there, for SimGrid with its plug-in; some may belong
    to the folder `tests`.

    Raises BuildFailed; the log is then copied to `keep_log`, and the error names the files in `original`, of
    which `source` is a copy.
    """
    simulated = family_of(mpi).simulated
    configure = [
        tool("cmake"), "-S", str(source), "-B", str(work), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={mpi.mpicxx}",
        f"-DHOCKNEY_TESTS={tests or ''}", *(["-DHOCKNEY_SMPI=ON"] if simulated else []),
    ]  # fmt: skip
    plugin = ["hockney-platform"] if simulated else []
    build = [configure[0], "--build", str(work), "--target", *targets, *plugin]
    if not configure_and_build(configure, [build], mpi, log):
        raise build_failure(mpi, log, keep_log=keep_log, moved=(source, original or source))


def configure_and_build(
    configure: Sequence[str], builds: Sequence[Sequence[str]], mpi: Mpi, log: Path
) -> bool:
    """Return whether CMake configures, and all `builds` succeed in order. Files are compiled in batches,
    which takes a quarter of the time, or separately if they cannot be combined. The log contains the output
    of the last attempt."""
    for unity in ("ON", "OFF"):
        combining = [f"-DCMAKE_UNITY_BUILD={unity}", f"-DCMAKE_UNITY_BUILD_BATCH_SIZE={BATCH}"]
        log.unlink(missing_ok=True)
        if run_logged([*configure, *combining], environment_of(mpi), log) != 0:
            return False
        if all(run_logged(build, environment_of(mpi), log) == 0 for build in builds):
            return True
    return False


def build_failure(
    mpi: Mpi,
    log: Path,
    product: str = "engine",
    *,
    keep_log: Path | None = None,
    moved: tuple[Path, Path] | None = None,
) -> BuildFailed:
    """Explain why `product` was not built. The log is copied to `keep_log`. For `moved` folders, the error
    names the second instead of the first."""
    lines = log_lines(log)
    tail = lines[-12:]
    if keep_log is not None:
        keep_log.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, keep_log)
        log = keep_log
    if is_disk_full(lines):
        return BuildFailed(
            f"cannot build the {product}",
            "the disk is full",
            FREE_SPACE_REMEDY,
            code="build-disk-full",
            log=log,
            tail=tail,
        )
    if can_compile(mpi) and not can_compile(mpi, "-std=c++20"):
        return BuildFailed(
            f"the compiler of {mpi.mpicxx} does not support C++20",
            f"the {product} needs it",
            f"use GCC 11, Clang 13 or newer ({join_words(compiler_variables(), 'or')} choose the wrapper's "
            "compiler)",
            code="wrapper-without-cpp20",
            log=log,
            tail=tail,
            wrapper=mpi.mpicxx,
        )
    reason = find_first_error(lines)
    if moved is not None:
        reason = reason.replace(str(moved[0]), str(moved[1]))
    return BuildFailed(
        f"the {product} does not compile with {title_of(mpi)}",
        reason,
        f"the complete log is {log}",
        code="build-failed",
        log=log,
        tail=tail,
    )


def can_compile(mpi: Mpi, *flags: str) -> bool:
    """Return whether the wrapper compiles C++20 with these flags; without flags, any C++."""
    words = [mpi.mpicxx, *flags, "-fsyntax-only", "-x", "c++", "-"]
    program = CPP20_PROGRAM if flags else "int main() { return 0; }\n"
    return process.capture(words, env=environment_of(mpi), input=program, timeout=60).ok
