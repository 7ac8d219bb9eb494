# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The physical cores that ranks may be bound to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cores:
    """`cpus` has one hardware thread of each allowed core, by the system's number; `logical` the number of
    the same core in hwloc's numbering, which leaves out those that a control group forbids.

    `usable` is how many can work at once (a control group's quota may be less than their number);
    `restricted`: an affinity mask excludes some core. MPI launchers ignore such a mask: with binding to
    cores, Open MPI and MPICH start from the host's first core (observed with Open MPI 4.1 and 5.0 and MPICH
    5.0 under taskset), so that they must be given the list.
    """

    cpus: tuple[int, ...]
    logical: tuple[int, ...]
    usable: int
    restricted: bool = False
