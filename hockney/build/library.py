# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ library for other programs: compiled with their MPI and installed into their prefix."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hockney.build.compile import build_failure, configure_and_build
from hockney.build.identity import compiler_version, source_folder
from hockney.build.tools import tool
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.core.paths import cache_folder
from hockney.mpi import family_of
from hockney.system.files import cache_unwritable


def install_library(
    mpi: Mpi, prefix: Path, source: Path | None = None, environ: Mapping[str, str] | None = None
) -> None:
    """Compile the library with `mpi` and install it below `prefix`: header, archive, files for CMake's
    find_package and for pkg-config. Files of an earlier version are replaced.

    Raises BuildFailed, or EnvironmentProblem if something else is missing.
    """
    environ = os.environ if environ is None else environ
    source = (source or source_folder()) / "library"
    compiler_version(mpi)  # raises if the wrapper has no compiler
    refuse_unwritable(prefix)
    keep_log = cache_folder(environ) / "failed-library.log"
    try:
        with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
            work, log = Path(folder) / "work", Path(folder) / "build.log"
            cmake = tool("cmake")
            configure = [
                cmake, "-S", str(source), "-B", str(work), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={mpi.mpicxx}",
                f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib",
                f"-DHOCKNEY_SMPI={'ON' if family_of(mpi).simulated else 'OFF'}",
            ]  # fmt: skip
            builds = [[cmake, "--build", str(work)], [cmake, "--install", str(work)]]
            if not configure_and_build(configure, builds, mpi, log):
                raise build_failure(mpi, log, "library", keep_log=keep_log)
    except OSError as error:
        raise cache_unwritable(Path(tempfile.gettempdir()), error) from error


def refuse_unwritable(prefix: Path) -> None:
    """Checked before anything is compiled for it."""
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
