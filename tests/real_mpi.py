# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests that start real ranks: both embedded MPIs, and the stand-in engine compiled for each.

`mpi_name` runs a test once with each MPI. MPICH is brought to hockney's own cache, where it stays.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hockney import build
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.machine import find_mpi, find_simgrid

STAND_IN = Path(__file__).parent / "stand_in"


def mpi_named(name: str) -> Mpi:
    try:
        return find_mpi(name)
    except EnvironmentProblem as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(problem))


def simgrid_here() -> Mpi:
    """SimGrid, which runs the engine on described machines; CI has it."""
    try:
        return find_simgrid()
    except EnvironmentProblem as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(problem))


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def mpi_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def mpi(mpi_name: str) -> Mpi:
    return mpi_named(mpi_name)


@pytest.fixture(scope="session")
def stand_in(mpi: Mpi) -> build.Engine:
    """The stand-in engine for `mpi`, from hockney's cache where it was compiled before."""
    return build.engine(mpi, source=STAND_IN)
