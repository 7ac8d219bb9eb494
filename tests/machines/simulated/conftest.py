# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from oracle import Simulator, compiled
from real_mpi import engine_for, simgrid_here


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    """The SimGrid found here, with the plug-in next to the engine and the probe."""
    mpi = simgrid_here()
    folder = tmp_path_factory.mktemp("simulator")
    return Simulator(mpi, engine_for(mpi).platform, compiled(mpi, folder), folder)
