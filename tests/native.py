# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine with its GoogleTest programs, as usual and with sanitizers, built where the next test session
finds the object files. As a program it builds ahead what the tests of the fast tier need."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hockney import build, process
from hockney.build.identity import identify
from hockney.build.tools import tool
from hockney.core.machine import Mpi
from hockney.core.paths import cache_folder

ENGINE_TESTS = Path(__file__).parent / "engine"
TIMEOUT_S = 1800.0
"""A guard against a hanging compiler, generous for one on a busy machine."""
SANITIZED_PROGRAMS = ("engine-unit", "engine-mpi", "engine-barriers", "annealing-unit", "annealing-mpi")
PROGRAMS = (*SANITIZED_PROGRAMS, "barrier-traffic")
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1"


def tests_cache() -> Path:
    folder = cache_folder(os.environ) / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Held by one process at a time, and released by the system when that process ends in any way."""
    with (tests_cache() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compiled_together(folder: Path) -> bool:
    """Whether the files in CMake's folder were compiled several at a time; compiling each alone takes four
    times as long."""
    settings = (folder / "CMakeCache.txt").read_text().splitlines()
    return [line.partition("=")[2] for line in settings if line.startswith("CMAKE_UNITY_BUILD:")] == ["ON"]


def native(mpi: Mpi) -> Path:
    """The folder with the GoogleTest programs for `mpi`. Object files are shared with the engine."""
    return Path(build.targets(mpi, [build.MAIN, *PROGRAMS], tests=ENGINE_TESTS)) / "tests"


def library(mpi: Mpi) -> Path:
    """The prefix with the installed library for `mpi`, for all sessions until a source changes."""
    key = identify(mpi, build.source_folder(), os.environ).key
    folder = tests_cache() / f"library-{mpi.family}-{key}"
    complete = folder / "complete"
    with locked(f"library-{mpi.family}"):
        if not complete.exists():
            for older in tests_cache().glob(f"library-{mpi.family}-*/"):
                shutil.rmtree(older, ignore_errors=True)
            build.install_library(mpi, folder / "prefix")
            complete.touch()
    return folder / "prefix"


def sanitized(mpi: Mpi, programs: Sequence[str] = SANITIZED_PROGRAMS) -> Path:
    """The same programs, or others, under AddressSanitizer and UndefinedBehaviorSanitizer."""
    work = _work("sanitized", mpi)
    with locked(work.name):
        flags = f"CMAKE_CXX_FLAGS={SANITIZED}", "CMAKE_BUILD_TYPE=Debug", "CMAKE_CXX_FLAGS_DEBUG=-O0"
        _cmake(mpi.mpicxx, work, programs, *flags, "CMAKE_UNITY_BUILD=ON")
    return work / "tests"


def compiled_with(mpi: Mpi, compiler: str, targets: Sequence[str]) -> Path:
    """The folder of the engine's tests, compiled by `compiler`, which the MPI's wrapper has been told."""
    work = _work(compiler, mpi)
    with locked(work.name):
        _cmake(mpi.mpicxx, work, targets, "CMAKE_UNITY_BUILD=ON")
    return work / "tests"


def compiled_for_aarch64(compiler: str, root: Path, targets: Sequence[str]) -> Path:
    """The folder of the engine's tests for another processor, with Open MPI and GoogleTest of `root`."""
    work = tests_cache() / f"aarch64-{hashlib.sha256(str(build.source_folder()).encode()).hexdigest()[:12]}"
    libraries = root / "usr/lib/aarch64-linux-gnu"
    needed = f"{libraries}:{root / 'lib/aarch64-linux-gnu'}"
    definitions = (
        "CMAKE_SYSTEM_NAME=Linux",
        "CMAKE_SYSTEM_PROCESSOR=aarch64",
        f"CMAKE_CXX_FLAGS=-DOMPI_SKIP_MPICXX -isystem {libraries}/openmpi/include",
        f"CMAKE_CXX_STANDARD_LIBRARIES={libraries}/libmpi.so.40 -Wl,-rpath-link,{needed}",
        f"GTest_DIR={libraries}/cmake/GTest",
        "HOCKNEY_LOCAL_LIBRARIES=OFF",
        "CMAKE_UNITY_BUILD=ON",
    )
    with locked(work.name):
        _cmake(compiler, work, targets, *definitions)
    return work / "tests"


def _work(kind: str, mpi: Mpi) -> Path:
    identity = identify(mpi, build.source_folder(), os.environ)
    facts = (str(build.source_folder()), mpi.mpicxx, identity.compiler, str(identity.variables))
    return tests_cache() / f"{kind}-{mpi.family}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"


FOUND = re.compile(r"^CMAKE_(?:AR|RANLIB|LINKER|CXX_COMPILER):FILEPATH=(/.*)$", re.MULTILINE)


def _cmake(compiler: str, work: Path, targets: Sequence[str], *definitions: str) -> None:
    """Configure once, then build what was edited since; anew if a program that it found is gone."""
    found = work / "CMakeCache.txt"
    if found.is_file() and any(not Path(p).exists() for p in FOUND.findall(found.read_text())):
        shutil.rmtree(work)
    defined = [
        "CMAKE_BUILD_TYPE=Release",
        f"CMAKE_MAKE_PROGRAM={tool('ninja')}",
        f"CMAKE_CXX_COMPILER={compiler}",
        f"HOCKNEY_TESTS={ENGINE_TESTS}",
        *definitions,
    ]
    source = ["-S", str(build.source_folder()), "-B", str(work), "-G", "Ninja"]
    _run([tool("cmake"), *source, *(f"-D{definition}" for definition in defined)])
    if targets:
        _run([tool("cmake"), "--build", str(work), "--target", *targets])


def _run(words: Sequence[str]) -> None:
    done = process.capture(list(words), timeout=TIMEOUT_S)
    assert done.code == 0, done.out[-3000:] + done.err[-2000:]


def main() -> None:
    """Build ahead what the tests of the fast tier need, for Open MPI in one build; their fixtures report what
    cannot be built here."""
    from real_mpi import engine_for, mpi_named, simgrid_here

    def engine_and_groups() -> None:
        openmpi = mpi_named("openmpi")
        names = [build.MAIN, *PROGRAMS, *build.groups(build.source_folder())]
        with locked("engine-openmpi"):
            build.targets(openmpi, names, tests=ENGINE_TESTS)
        engine_for(openmpi)
        library(openmpi)

    for prepare in (engine_and_groups, simgrid_here):
        with contextlib.suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):
            prepare()


if __name__ == "__main__":
    main()
