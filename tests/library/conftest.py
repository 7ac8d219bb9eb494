# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The library, installed once for each MPI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from native import library

from hockney.core.machine import Mpi


@pytest.fixture(scope="session")
def prefix(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(library(mpi), tmp_path_factory.mktemp("library") / "prefix", symlinks=True))


@pytest.fixture
def last_words(mpi_name: str) -> None:
    """For tests of what a rank prints before it ends all ranks."""
    if mpi_name == "mpich":
        pytest.skip("MPICH's mpiexec may lose what a rank wrote just before MPI_Abort")
