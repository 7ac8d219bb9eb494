# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ library for other programs: compiled with their MPI and installed into their prefix."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hockney.build.compile import build_failure, configure_and_build
from hockney.build.identity import compiler_version, identify, source_files, source_folder
from hockney.build.once import built_once
from hockney.build.tools import tool
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.core.paths import cache_folder
from hockney.mpi import family_of
from hockney.system.files import cache_unwritable

PRELOADED = "libhockney-pmpi.so"
SHARED_SOURCES = ("base", "cmake", "coll", "comm", "include", "library", "sync")
"""Folders of sources that the library contains."""


def install_library(
    mpi: Mpi, prefix: Path, source: Path | None = None, environ: Mapping[str, str] | None = None
) -> None:
    """Compile the library with `mpi` and install it below `prefix`: header, archive, files for CMake's
    find_package and for pkg-config. Files of an earlier version are replaced.

    Raises BuildFailed, or EnvironmentProblem if something else is missing.
    """
    environ = os.environ if environ is None else environ
    compiler_version(mpi)  # raises if the wrapper has no compiler
    refuse_unwritable(prefix)
    _build(mpi, source or source_folder(), environ, prefix, ["--build"], ["--install"])


def preloaded_library(
    mpi: Mpi, environ: Mapping[str, str] | None = None, notify: Callable[[str], None] = lambda _: None
) -> Path:
    """Return the library that gives unchanged programs other algorithms, for programs with `mpi`: from the
    cache, or compiled into it. Raises like `install_library`."""
    environ = os.environ if environ is None else environ
    source = source_folder()
    sha = hashlib.sha256()
    for path in (path for folder in SHARED_SOURCES for path in source_files(source / folder)):
        sha.update(path.relative_to(source).as_posix().encode() + path.read_bytes())
    key = replace(identify(mpi, source, environ), sources=sha.hexdigest()).key
    place = cache_folder(environ) / "library" / key

    def compile_into(folder: Path) -> None:
        notify("compiling hockney's library of collectives (once for each MPI; half a minute)")
        _build(mpi, source, environ, folder, ["--build", "--target", "hockney-pmpi"])

    built_once(place, compile_into, environ)
    return place / PRELOADED


def _build(mpi: Mpi, source: Path, environ: Mapping[str, str], prefix: Path, *steps: Sequence[str]) -> None:
    """Configure the library and run these steps of CMake. If nothing is installed, the preloaded library is
    copied into `prefix`."""
    try:
        with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
            work, log = Path(folder) / "work", Path(folder) / "build.log"
            cmake = tool("cmake")
            configure = [
                cmake, "-S", str(source / "library"), "-B", str(work), "-G", "Ninja",
                "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
                f"-DCMAKE_CXX_COMPILER={mpi.mpicxx}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
                "-DCMAKE_INSTALL_LIBDIR=lib", f"-DHOCKNEY_SMPI={'ON' if family_of(mpi).simulated else 'OFF'}",
            ]  # fmt: skip
            builds = [[cmake, step[0], str(work), *step[1:]] for step in steps]
            if not configure_and_build(configure, builds, mpi, log):
                keep_log = cache_folder(environ) / "failed-library.log"
                raise build_failure(mpi, log, "library", keep_log=keep_log)
            if ["--install"] not in steps:
                shutil.copy(work / PRELOADED, prefix)
    except OSError as error:
        raise cache_unwritable(Path(tempfile.gettempdir()), error) from error


def refuse_unwritable(prefix: Path) -> None:
    """Raise EnvironmentProblem if `prefix` is not writable, before anything is compiled."""
    try:
        prefix.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(tempfile.TemporaryFile(dir=prefix)):
            pass
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write to {prefix}",
            error.strerror or str(error),
            "choose a writable folder: --prefix ~/.local",
            code="prefix-not-writable",
            prefix=str(prefix),
        ) from error
