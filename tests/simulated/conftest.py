# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracle import Simulator, compiled
from real_mpi import simgrid_here

from hockney import build


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    """The SimGrid found here, with the plugin beside the engine and the probe."""
    mpi = simgrid_here()
    folder = tmp_path_factory.mktemp("simulator")
    return Simulator(mpi, build.engine(mpi).platform, compiled(mpi, folder), folder)
