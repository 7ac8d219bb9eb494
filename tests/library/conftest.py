# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The library, installed once for each MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney import build
from hockney.core.machine import Mpi


@pytest.fixture(scope="session")
def prefix(mpi: Mpi, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    build.install_library(mpi, folder)
    return folder
