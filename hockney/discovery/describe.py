# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The machine as stored in a run's `machine.json`."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from pathlib import Path

from hockney import __version__
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.machine import Machine, Mpi
from hockney.core.record import SCHEMA
from hockney.discovery import cpu, system
from hockney.discovery.cpu import ROOT
from hockney.discovery.mpi_settings import mpi_settings


def describe(
    mpi: Mpi | None,
    *,
    engine: str = "",
    compiler: str = "",
    flags: str = "",
    environ: Mapping[str, str] | None = None,
    user: LauncherOptions = NO_LAUNCHER_OPTIONS,
    root: Path = ROOT,
) -> Machine:
    """This machine now. `engine`, `compiler` and `flags` are from the build, `user` are the user's additions
    to the launch command."""
    here = cpu.processors(root)
    environ = os.environ if environ is None else environ
    return Machine(
        schema=SCHEMA,
        kind="real",
        host=socket.gethostname(),
        system=system.system(root),
        cpu=here.model,
        cores=here.cores.usable,
        threads=len(here.allowed),
        sockets=here.sockets,
        numa_nodes=here.numa_nodes,
        caches=here.caches,
        memory_bytes=cpu.memory_bytes(root),
        virtual=system.virtual(root),
        governor=here.governor,
        load_before=load_average(),
        mpi=mpi,
        engine=engine,
        compiler=compiler,
        flags=flags,
        network=system.network(root),
        hockney=__version__,
        python=platform.python_version(),
        scheduler=system.scheduler(environ),
        settings=mpi_settings(environ, mpi, user),
    )


def load_average() -> float | None:
    """Return the average number of runnable processes over the last minute."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None
