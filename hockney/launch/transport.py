# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which transports carry messages, as far as MPI reports it: only requested in the check before measuring."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from hockney.core.errors import one_line
from hockney.core.machine import Mpi

WITHIN, BETWEEN = "within a host", "between hosts"
NETMOD, PROVIDER = "network module", "libfabric provider"
REPORTS = (
    (re.compile(r"\bon-host:\s+(all|most) connections are (.+)"), WITHIN),
    (re.compile(r"\boff-host:\s+(all|most) connections are (.+)"), BETWEEN),
    (re.compile(r"==== ()(\w+) netmod Capability"), NETMOD),
    (re.compile(r"\blibfabric provider: ()(\S+)"), PROVIDER),
)
"""Variables of Open MPI (hook/comm_method), MPICH (ch4's netmods) and Intel MPI: how much to report, and
what."""
LONGEST = 100


def report_variables(mpi: Mpi, present: Collection[str]) -> dict[str, str]:
    """The variables that make MPI_Init report transports, without those that are `present`."""
    wanted = {
        "openmpi": {"OMPI_MCA_ompi_display_comm": "mpi_init"},
        "mpich": {"MPIR_CVAR_DEBUG_SUMMARY": "1"},
        "intel": {"I_MPI_DEBUG": "1"},
    }.get(mpi.family, {})
    if mpi.family == "openmpi" and mpi.version.startswith("4."):
        wanted = {"OMPI_MCA_hook_comm_method_enable_mpi_init": "1"}
    return {name: value for name, value in wanted.items() if name not in present}


def transports_in(lines: Iterable[str]) -> dict[str, str]:
    """The transports reported in `lines`, the output of ranks; empty if there are none."""
    found: dict[str, str] = {}
    for line in lines:
        for pattern, where in REPORTS:
            match = pattern.search(line)
            if match is None:
                continue
            share, name = match[1], one_line(match[2])[:LONGEST]
            if name and name != "n/a":
                found.setdefault(where, f"mostly {name}" if share == "most" else name)
    return found
