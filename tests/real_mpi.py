# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real MPIs and engines for tests: each is installed or compiled once, by the test process that needs it
first.

`mpi_name` runs a test once with each MPI. MPICH is installed in hockney's own cache, where it stays.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from native import locked, native
from needs import GTEST, missing, need_compiler

from hockney import build
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.discovery.find import find_mpi
from hockney.discovery.simgrid import find_simgrid

STAND_IN = Path(__file__).parent / "stand_in"


@functools.cache
def mpi_named(name: str) -> Mpi:
    need_compiler()
    try:
        with locked(f"mpi-{name}"):
            return find_mpi(name)
    except EnvironmentProblem as problem:
        missing(name, str(problem))


def simgrid_here() -> Mpi:
    """SimGrid, with the engine compiled for it."""
    need_compiler()
    try:
        mpi = find_simgrid()
    except EnvironmentProblem as problem:
        missing("SimGrid", str(problem))
    engine_for(mpi)
    return mpi


@functools.cache
def engine_for(mpi: Mpi) -> build.Engine:
    """The engine for `mpi`. Open MPI's is compiled together with its GoogleTest programs, which share nearly
    all of its object files."""
    if mpi.family == "openmpi" and any(path.exists() for path in GTEST):
        native(mpi)
    with locked(f"engine-{mpi.family}"):
        return build.engine(mpi)


@functools.cache
def group_for(mpi: Mpi, group: str) -> build.Engine:
    """The executable `group` for `mpi`, with the catalog of its workloads."""
    engine_for(mpi)
    with locked(f"engine-{mpi.family}"):
        return build.engine(mpi, group=group)


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def mpi_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def mpi(mpi_name: str) -> Mpi:
    return mpi_named(mpi_name)


@pytest.fixture(scope="session")
def engine(mpi: Mpi) -> build.Engine:
    """The engine for `mpi`, from hockney's cache if it was compiled before."""
    return engine_for(mpi)


@pytest.fixture(scope="session")
def stand_in(mpi: Mpi) -> build.Engine:
    """The stand-in engine for `mpi`, from hockney's cache if it was compiled before."""
    with locked(f"stand-in-{mpi.family}"):
        return build.engine(mpi, source=STAND_IN)
