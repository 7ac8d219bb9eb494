# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SimGrid with its SMPI, built from its sources into hockney's cache, without root."""

from __future__ import annotations

import contextlib
import fcntl
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from hockney.build import duration
from hockney.build.boost import compiler_has_boost, keep_headers, write_config
from hockney.build.compilers import Compilers, compilers
from hockney.build.log import BuildFailed, disk_full, first_error, log_lines, logged
from hockney.build.sources import BOOST, SIMGRID, fetch
from hockney.build.tools import tool
from hockney.build.trial import try_out
from hockney.core.errors import EnvironmentProblem
from hockney.core.paths import COMPLETE, cache_folder
from hockney.core.units import format_bytes
from hockney.system.files import MAKE_ROOM, cache_unwritable

Step = Literal["configuring", "compiling", "installing"]

Tell = Callable[[str], None]
Progress = Callable[[int, int], None]

TITLE = f"SimGrid {SIMGRID.version}"
NAME = f"simgrid-{SIMGRID.version}"
FRESH = ".simgrid-"
ROOM_BYTES = 400_000_000
"""A build needs 290 MB in addition to its 30 MB of result, most of it for Boost's headers, plus a reserve."""
FLAGS = "-O2 -g0"
WITHOUT = ("java", "python", "fortran", "model-checking", "sthread", "lto", "documentation")
"""Parts that simulations of MPI programs do not need."""

HEADERS = ("src/kernel/EngineImpl.hpp", "src/smpi/include/private.hpp")
"""Of SimGrid, included by most of its 300 files: compiled once, they save a third of the time."""
OWN_HEADERS = "src/xbt/xbt_misc.cpp"
"""Defines a macro before it includes one of them, which then declares something else."""


def simgrid_prefix(environ: Mapping[str, str]) -> Path | None:
    """The prefix of a complete SimGrid in the cache; None if there is none."""
    prefix = cache_folder(environ) / NAME
    try:
        whole = (prefix / COMPLETE).read_text() == str(prefix)
    except OSError:
        return None
    return prefix if whole else None


def simgrid(
    environ: Mapping[str, str],
    notify: Tell = lambda _: None,
    progress: Progress = lambda done, total: None,
    jobs: int = 1,
    again: bool = False,
) -> Path:
    """The prefix of SimGrid in the cache, built if missing; `again` builds it in any case.

    `progress` gets the finished and the total number of compile steps, `jobs` of which run at once. Built in
    a temporary folder, then moved into place. Raises EnvironmentProblem, or BuildFailed with its log.
    """
    prefix = cache_folder(environ) / NAME
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with alone(prefix.parent, notify):
            if simgrid_prefix(environ) and not again:
                return prefix
            refuse_little_room(prefix.parent)
            system = compilers(environ)
            # of builds that were killed: there is no concurrent build
            for leftover in prefix.parent.glob(f"{FRESH}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            with tempfile.TemporaryDirectory(
                prefix=FRESH, dir=prefix.parent, ignore_cleanup_errors=True
            ) as fresh:
                make(prefix, Path(fresh), system, notify, progress, jobs)
    except OSError as error:
        raise cache_unwritable(prefix.parent, error) from error
    return prefix


@contextlib.contextmanager
def alone(shelf: Path, notify: Tell) -> Iterator[None]:
    """Wait until no other hockney builds here. The lock is released when its process ends, however that
    ends."""
    with (shelf / ".simgrid-lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notify(waiting_for_other_build())
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:  # some network file systems have no locks; then only moving into place is safe
            pass
        yield


def refuse_little_room(shelf: Path) -> None:
    free = shutil.disk_usage(shelf).free
    if free < ROOM_BYTES:
        raise EnvironmentProblem(
            f"{shelf} has {format_bytes(free)} free",
            f"building SimGrid takes up to {format_bytes(ROOM_BYTES)}",
            MAKE_ROOM,
            code="no-room-for-simgrid",
            free=free,
            needed=ROOM_BYTES,
        )


def make(prefix: Path, fresh: Path, system: Compilers, notify: Tell, progress: Progress, jobs: int) -> None:
    """All steps from fetching to the stamp; only `fresh` is modified before SimGrid is complete."""
    cmake, ninja, began = tool("cmake"), tool("ninja"), time.monotonic()
    notify(fetching(SIMGRID.title))
    source = fetch(SIMGRID, fresh / "source")
    include = None
    if not compiler_has_boost(system):
        notify(fetching_boost(BOOST.title))
        include = fetch(BOOST, fresh / "headers")
    work, stage, log = fresh / "work", fresh / "stage", fresh / "build.log"
    definitions = {
        "CMAKE_PROJECT_INCLUDE": precompiling(fresh / "precompile.cmake"),
        "CMAKE_MAKE_PROGRAM": ninja,
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS_RELEASE": FLAGS,
        "CMAKE_CXX_FLAGS_RELEASE": FLAGS,
        "CMAKE_INSTALL_PREFIX": prefix,
        "CMAKE_INSTALL_LIBDIR": "lib",
        "Boost_DIR": write_config(fresh / "boost", include),
        "Python3_EXECUTABLE": sys.executable,
        "enable_smpi": "ON",
        **{f"enable_{part}": "OFF" for part in WITHOUT},
    }
    environment = {"CC": shlex.join(system.c), "CXX": shlex.join(system.cxx), "NINJA_STATUS": "[%f/%t] "}
    environment["DESTDIR"] = str(stage)  # installs into a staging folder what will finally be in `prefix`

    def count(line: str) -> None:
        match = re.match(r"\[(\d+)/(\d+)\] ", line)
        if match:
            progress(int(match[1]), int(match[2]))

    options = [f"-D{name}={value}" for name, value in definitions.items()]
    steps: dict[Step, list[str]] = {
        "configuring": [cmake, "-S", str(source), "-B", str(work), "-G", "Ninja", *options],
        "compiling": [cmake, "--build", str(work), "--parallel", str(jobs)],
        "installing": [cmake, "--install", str(work)],
    }
    takes = duration.expected(duration.SIMGRID_S)
    for step, words in steps.items():
        notify(simgrid_step(step, TITLE, shlex.join(system.cxx), jobs, takes))
        if logged(words, environment, log, count) != 0:
            raise failed(step, log, prefix.parent)
    staged = Path(f"{stage}{prefix}")
    keep_headers(system, include, staged)
    shutil.copy(log, staged / "build.log")
    if prefix.exists():
        prefix.rename(fresh / "old")
    staged.rename(prefix)
    try_out(prefix, fresh)
    (prefix / COMPLETE).write_text(str(prefix))
    notify(f"{TITLE} is in {prefix} ({time.monotonic() - began:.0f} s)")


def precompiling(path: Path) -> Path:
    """A file for CMake that adds precompiled headers to SimGrid's library when that is defined."""
    headers = " ".join(f'"$<$<COMPILE_LANGUAGE:CXX>:${{CMAKE_SOURCE_DIR}}/{name}>"' for name in HEADERS)
    path.write_text(
        f'set_source_files_properties("${{CMAKE_SOURCE_DIR}}/{OWN_HEADERS}" PROPERTIES '
        "SKIP_PRECOMPILE_HEADERS ON)\n"
        'cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL '
        f"target_precompile_headers simgrid PRIVATE {headers})\n"
    )
    return path


def failed(step: Step, log: Path, shelf: Path) -> BuildFailed:
    """Why `step` failed; its log is kept in `shelf`."""
    kept = shelf / f"failed-{NAME}.log"
    shutil.copy(log, kept)
    lines = log_lines(log)
    tail = lines[-12:]
    if disk_full(lines):
        return BuildFailed(
            f"cannot build {TITLE}",
            f"the disk was full while {step}",
            MAKE_ROOM,
            code="simgrid-disk-full",
            log=kept,
            tail=tail,
            step=step,
        )
    if any("Killed signal" in line or "out of memory" in line for line in lines):
        return BuildFailed(
            f"cannot build {TITLE}",
            f"the compiler was killed while {step}, most likely for lack of memory",
            "stop other programs, or compile on one core with 'taskset -c 0 hockney build --simgrid'; "
            f"the complete log is {kept}",
            code="simgrid-out-of-memory",
            log=kept,
            tail=tail,
            step=step,
        )
    return BuildFailed(
        f"{step} {TITLE} failed",
        first_error(lines),
        f"the complete log is {kept}",
        code="simgrid-build-failed",
        log=kept,
        tail=tail,
        step=step,
    )


def waiting_for_other_build() -> str:
    return "waiting for another hockney process that is building SimGrid here"


def fetching(package: str) -> str:
    return f"fetching {package} from the package index"


def fetching_boost(package: str) -> str:
    return f"fetching {package} from the package index, since the compiler finds no Boost"


def simgrid_step(step: Step, title: str, compiler: str, jobs: int, takes: str) -> str:
    pace = f", {jobs} jobs at a time ({takes})" if step == "compiling" else ""
    return f"{step} {title} with {compiler}{pace}"
