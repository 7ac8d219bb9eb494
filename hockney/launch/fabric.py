# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Network fabrics that ranks on one host do not use, disabled when they start.

Open MPI opens the libfabric transport `btl/ofi` in MPI_Init even if all ranks share a host and communicate by
shared memory (`btl/sm`, before version 5 `btl/vader`): 1.0 s of a launch of 1.2 s with version 5.0.11 from
PyPI. `benchmarks/launch.py` compares launches and message times with and without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.machine import Mpi
from hockney.launch.user_options import name_transports
from hockney.system.mca_files import lines_in, parameter_files, parameters_in

WITHOUT_FABRIC = {"OMPI_MCA_btl": "^ofi"}
IN_USE = {"OMPI_MCA_btl": ""}
"""Added to the environment from which launches are planned, it has the effect that the user chose transports:
none is changed."""
TRANSPORTS = ("btl", "mtl", "pml", "osc")
"""Frameworks of Open MPI that choose how messages travel. If the user sets one of them, none is changed."""
HOST_FILES = ("openmpi-default-hostfile", "prte-default-hostfile")
HOST_VARIABLES = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "PRTE_MCA_prte_hostfile",
)


def without_fabric(
    mpi: Mpi, environ: Mapping[str, str], *, many_hosts: bool, user: LauncherOptions = NOTHING_ADDED
) -> dict[str, str]:
    """The options that disable the unused fabric; empty if there is none, if several hosts may take part, and
    if the user or the site chose transports."""
    if mpi.family != "openmpi" or many_hosts or any(environ.get(name) for name in HOST_VARIABLES):
        return {}
    if name_transports(user, TRANSPORTS):
        return {}
    if any(f"OMPI_MCA_{name}" in environ for name in TRANSPORTS):
        return {}
    etc = Path(mpi.prefix) / "etc"
    if any(lines_in(etc / name) for name in HOST_FILES):
        return {}
    chosen = {name for file in parameter_files(mpi.prefix, environ) for name in parameters_in(file)}
    return {} if chosen & set(TRANSPORTS) else dict(WITHOUT_FABRIC)
