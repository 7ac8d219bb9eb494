# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SimGrid with its SMPI, built from its sources into hockney's cache, without root.

The packages come from the package index; without a Boost on this host, its headers do too.
"""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hockney import process
from hockney.build import duration, unpack
from hockney.build.compile import BuildFailed, find_first_error, is_disk_full, log_lines, run_logged
from hockney.build.tools import Compilers, compilers, tool
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.paths import COMPLETE_MARKER, cache_folder
from hockney.core.units import format_bytes
from hockney.system.files import FREE_SPACE_REMEDY, cache_unwritable
from hockney.system.packages import install, installer_command


@dataclass(frozen=True)
class Package:
    """A package. `file` (sdist or wheel) has this SHA-256; `holds` is the relative path of a file that
    identifies its folder."""

    name: str
    version: str
    sha256: str
    from_source: bool
    holds: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


SIMGRID = Package(
    "simgrid",
    "4.1",
    "23ac24cb5b2467f1f051c992ec921b4a9f8f5ac2df16c489bd01bf1c44e6e817",
    from_source=True,
    holds="CMakeLists.txt",
)
BOOST = Package(
    "boost-headers",
    "1.85.0.post1",
    "4510a571d3bf6c5e913b31d2a9b2441ee79f883ae42d42a5882dd1da46b35e7f",
    from_source=False,
    holds="boost/version.hpp",
)


def fetch(package: Package, place: Path) -> Path:
    """Return the folder below `place` that contains the file `holds` of the package. Raises
    EnvironmentProblem, or OSError."""
    place.mkdir()
    wanted = place / "wanted.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
    backend = place / "setuptools"
    backend.mkdir()
    (backend / "__init__.py").write_text("")
    shutil.copyfile(unpack.__file__, backend / "build_meta.py")
    words = installer_command(place / "prefix", package.name if package.from_source else "")
    reason = install(
        [*words, "--require-hashes", "--requirement", str(wanted)],
        {"PYTHONPATH": str(place)} if package.from_source else None,
    )
    if reason:
        raise EnvironmentProblem(
            f"cannot fetch {package.title} from the package index",
            reason,
            "check the network and the configuration of pip or uv (index, proxy), or install SimGrid in "
            "another way: apt install libsimgrid-dev (Debian, Ubuntu), conda, spack",
            code="package-not-fetched",
            package=package.title,
            reason=reason,
        )
    files = sorted((place / "prefix").glob(f"**/{package.holds}"), key=lambda path: len(path.parts))
    if not files:
        raise EnvironmentProblem(
            f"{package.title} does not contain {package.holds}",
            "SimGrid cannot be built without it",
            code="package-incomplete",
            package=package.title,
            file=package.holds,
        )
    return files[0].parents[package.holds.count("/")]


Step = Literal["configuring", "compiling", "installing"]

Notify = Callable[[str], None]
Progress = Callable[[int, int], None]

TITLE = f"SimGrid {SIMGRID.version}"
NAME = f"simgrid-{SIMGRID.version}"
TEMPORARY_PREFIX = ".simgrid-"
ROOM_BYTES = 400_000_000
"""A build needs 290 MB in addition to its result of 30 MB, mostly for Boost's headers; includes a reserve."""
FLAGS = "-O2 -g0"
UNUSED_PARTS = ("java", "python", "fortran", "model-checking", "sthread", "lto", "documentation")
"""Parts that simulations of MPI programs do not need."""

HEADERS = ("src/kernel/EngineImpl.hpp", "src/smpi/include/private.hpp")
"""Headers that most of SimGrid's 300 files include. Precompiling them saves a third of the time."""
OWN_HEADERS = "src/xbt/xbt_misc.cpp"
"""Source that defines a macro before including one of them, which changes the header's declarations."""


def simgrid_prefix(environ: Mapping[str, str]) -> Path | None:
    """Return the prefix of a complete SimGrid in the cache; None if there is none."""
    prefix = cache_folder(environ) / NAME
    try:
        whole = (prefix / COMPLETE_MARKER).read_text() == str(prefix)
    except OSError:
        return None
    return prefix if whole else None


def simgrid(
    environ: Mapping[str, str],
    notify: Notify = lambda _: None,
    progress: Progress = lambda done, total: None,
    jobs: int = 1,
    again: bool = False,
) -> Path:
    """Return the prefix of SimGrid in the cache, built if missing; `again` forces a build.

    `progress` receives the finished and the total number of compile steps; `jobs` of them run at the same
    time. Built in a temporary folder, then moved into place. Raises EnvironmentProblem, or BuildFailed with
    its log.
    """
    prefix = cache_folder(environ) / NAME
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with build_lock(prefix.parent, notify):
            if simgrid_prefix(environ) and not again:
                return prefix
            refuse_little_room(prefix.parent)
            system = compilers(environ)
            # of builds that were killed: there is no concurrent build
            for leftover in prefix.parent.glob(f"{TEMPORARY_PREFIX}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            with tempfile.TemporaryDirectory(
                prefix=TEMPORARY_PREFIX, dir=prefix.parent, ignore_cleanup_errors=True
            ) as fresh:
                build_simgrid(prefix, Path(fresh), system, notify, progress, jobs)
    except OSError as error:
        raise cache_unwritable(prefix.parent, error) from error
    return prefix


@contextlib.contextmanager
def build_lock(shelf: Path, notify: Notify) -> Iterator[None]:
    """Wait until no other hockney builds here. The lock is released when its process ends, in any case."""
    with (shelf / ".simgrid-lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notify("waiting for another hockney process that is building SimGrid here")
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
            FREE_SPACE_REMEDY,
            code="no-room-for-simgrid",
            free=free,
            needed=ROOM_BYTES,
        )


def build_simgrid(
    prefix: Path, fresh: Path, system: Compilers, notify: Notify, progress: Progress, jobs: int
) -> None:
    """Run all steps from fetching to the completion marker. Until SimGrid is complete, only `fresh` is
    modified."""
    cmake, ninja, began = tool("cmake"), tool("ninja"), time.monotonic()
    notify(f"fetching {SIMGRID.title} from the package index")
    source = fetch(SIMGRID, fresh / "source")
    include = None
    if not compiler_has_boost(system):
        notify(f"fetching {BOOST.title} from the package index, since the compiler finds no Boost")
        include = fetch(BOOST, fresh / "headers")
    work, stage, log = fresh / "work", fresh / "stage", fresh / "build.log"
    definitions = {
        "CMAKE_PROJECT_INCLUDE": write_precompile_file(fresh / "precompile.cmake"),
        "CMAKE_MAKE_PROGRAM": ninja,
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS_RELEASE": FLAGS,
        "CMAKE_CXX_FLAGS_RELEASE": FLAGS,
        "CMAKE_INSTALL_PREFIX": prefix,
        "CMAKE_INSTALL_LIBDIR": "lib",
        "Boost_DIR": write_config(fresh / "boost", include),
        "Python3_EXECUTABLE": sys.executable,
        "enable_smpi": "ON",
        **{f"enable_{part}": "OFF" for part in UNUSED_PARTS},
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
        pace = f", {jobs} jobs at a time ({takes})" if step == "compiling" else ""
        notify(f"{step} {TITLE} with {shlex.join(system.cxx)}{pace}")
        if run_logged(words, environment, log, count) != 0:
            raise simgrid_failure(step, log, prefix.parent)
    staged = Path(f"{stage}{prefix}")
    keep_headers(system, include, staged)
    shutil.copy(log, staged / "build.log")
    if prefix.exists():
        prefix.rename(fresh / "old")
    staged.rename(prefix)
    try_out(prefix, fresh)
    (prefix / COMPLETE_MARKER).write_text(str(prefix))
    notify(f"{TITLE} is in {prefix} ({time.monotonic() - began:.0f} s)")


def write_precompile_file(path: Path) -> Path:
    """Write a file for CMake that adds precompiled headers to SimGrid's library once it is defined."""
    headers = " ".join(f'"$<$<COMPILE_LANGUAGE:CXX>:${{CMAKE_SOURCE_DIR}}/{name}>"' for name in HEADERS)
    path.write_text(
        f'set_source_files_properties("${{CMAKE_SOURCE_DIR}}/{OWN_HEADERS}" PROPERTIES '
        "SKIP_PRECOMPILE_HEADERS ON)\n"
        'cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL '
        f"target_precompile_headers simgrid PRIVATE {headers})\n"
    )
    return path


def simgrid_failure(step: Step, log: Path, shelf: Path) -> BuildFailed:
    """Explain why `step` failed; its log is kept in `shelf`."""
    kept = shelf / f"failed-{NAME}.log"
    shutil.copy(log, kept)
    lines = log_lines(log)
    tail = lines[-12:]
    if is_disk_full(lines):
        return BuildFailed(
            f"cannot build {TITLE}",
            f"the disk was full while {step}",
            FREE_SPACE_REMEDY,
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
        find_first_error(lines),
        f"the complete log is {kept}",
        code="simgrid-build-failed",
        log=kept,
        tail=tail,
        step=step,
    )


MIN_BOOST = 105900
"""The oldest Boost that SimGrid's CMakeLists.txt accepts."""
BOOST_HEADERS = (
    "boost/algorithm/string.hpp", "boost/core/demangle.hpp", "boost/heap/pairing_heap.hpp",
    "boost/intrusive/list.hpp", "boost/intrusive_ptr.hpp", "boost/lockfree/queue.hpp", "boost/optional.hpp",
    "boost/range/algorithm.hpp", "boost/tokenizer.hpp",
)  # fmt: skip
"""Headers that SimGrid includes: distributions package the parts of Boost separately."""
VERSION_CHECK = "#include <boost/version.hpp>\n#if BOOST_VERSION < {}\n#error this Boost is too old\n#endif\n"
PUBLIC_HEADERS = "#include <simgrid/s4u.hpp>\n#include <smpi/smpi.h>\n"


def compiler_has_boost(compilers: Compilers) -> bool:
    """Return whether the compiler finds complete and sufficiently new headers, by itself or via $CPATH."""
    program = VERSION_CHECK.format(MIN_BOOST) + "".join(f"#include <{header}>\n" for header in BOOST_HEADERS)
    return compilers.preprocess(program, "-fsyntax-only").ok


def write_config(folder: Path, include: Path | None) -> Path:
    """Write a CMake package with headers only: those in `include` or the compiler's own.

    CMake's own search differs between versions (without FindBoost since policy CMP0167), and would also link
    any Boost libraries it finds, which a later update of the system may remove.
    """
    folder.mkdir()
    headers = f'set(Boost_INCLUDE_DIRS "{include}")\n' if include else ""
    (folder / "BoostConfig.cmake").write_text(f"set(Boost_FOUND TRUE)\n{headers}")
    (folder / "BoostConfigVersion.cmake").write_text("set(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    return folder


def keep_headers(compilers: Compilers, include: Path | None, prefix: Path) -> None:
    """Copy the parts of Boost that the public headers need into `prefix`, so that it is self-contained.

    Parts are copied completely, since the compiler decides which of their files are read.
    """
    places = [prefix / "include", prefix / "include" / "smpi", *([include] if include else [])]
    done = compilers.preprocess(PUBLIC_HEADERS, "-M", *(f"-I{place}" for place in places))
    files = [Path(re.sub(r"\\(.)", r"\1", word)) for word in re.findall(r"(?:\\.|\S)+", done.out)]
    root = next((file.parent for file in files if file.parts[-2:] == ("boost", "intrusive_ptr.hpp")), None)
    if not done.ok or root is None:
        raise EnvironmentProblem(
            "SimGrid was built, but its headers do not compile",
            one_line(done.err)[:200] or "Boost is missing",
            code="simgrid-headers-do-not-compile",
        )
    for part in sorted({file.relative_to(root).parts[0] for file in files if file.is_relative_to(root)}):
        target = prefix / "include" / "boost" / part
        target.parent.mkdir(exist_ok=True)
        if (root / part).is_dir():
            shutil.copytree(root / part, target)
        else:
            shutil.copy(root / part, target)


TRIAL_PROGRAM = """\
#include <mpi.h>
#include <simgrid/s4u.hpp>
#include <cstdio>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum %d on %s\\n", sum, simgrid::s4u::this_actor::get_host()->get_cname());
  MPI_Finalize();
}
"""
TRIAL_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""
TRIAL_RANKS = 4
TRIAL_SECONDS = 300.0


def try_out(prefix: Path, folder: Path) -> None:
    """Compile and run a test program, as C++20 like the engine. Raises EnvironmentProblem."""
    (folder / "trial.cpp").write_text(TRIAL_PROGRAM)
    (folder / "trial.xml").write_text(TRIAL_PLATFORM)
    (folder / "trial.hosts").write_text("".join(f"n{rank}\n" for rank in range(TRIAL_RANKS)))
    compiling = [str(prefix / "bin" / "smpicxx"), "-std=c++20", "trial.cpp", "-o", "trial"]
    running = [str(prefix / "bin" / "smpirun"), "-np", str(TRIAL_RANKS), "-platform", "trial.xml"]
    running += ["-hostfile", "trial.hosts", "-quiet", "./trial"]
    for words in (compiling, running):
        done = process.capture(words, cwd=folder, timeout=TRIAL_SECONDS)
        if not done.ok:
            reason = done.err or done.out or f"exit code {done.code}"
            raise _simgrid_runs_no_program(prefix, reason)
    if f"sum {sum(range(TRIAL_RANKS))} on n0\n" not in done.out:
        raise _simgrid_runs_no_program(prefix, f"a test program printed: {done.out}")


def _simgrid_runs_no_program(prefix: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"SimGrid was built in {prefix}, but cannot run a program",
        one_line(reason)[-300:],
        f"see {prefix / 'build.log'}",
        code="simgrid-runs-no-program",
        reason=reason,
    )
