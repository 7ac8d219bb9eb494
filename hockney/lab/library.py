# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ library for the MPI that is found here."""

from __future__ import annotations

from pathlib import Path

from hockney import build
from hockney.core.machine import Mpi
from hockney.lab.bench import Tell
from hockney.machine import find_mpi


def install_library(mpi: str, prefix: Path, tell: Tell) -> Mpi:
    """Compile it for --mpi into `prefix`; the MPI that programs then have to be compiled with."""
    found = find_mpi(mpi or None, tell=tell)
    tell(f"compiling the library for {found.title} (about half a minute)")
    build.install_library(found, prefix)
    return found
