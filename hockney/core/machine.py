# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What `machine.json` holds: the machine a run was made on, as found by the front end."""

from __future__ import annotations

from typing import Literal

import msgspec

from hockney.core.platform import Platform


class Mpi(msgspec.Struct, frozen=True, kw_only=True):
    """One MPI: compiler wrapper and launcher from the same prefix. Family smpi is SimGrid's, which simulates.

    `source` says who chose it: option (--mpi), environment ($HOCKNEY_MPI), path, wheel (the one in
    hockney's environment), cache (a wheel that hockney brought to a prefix of its own).
    """

    family: Literal["openmpi", "mpich", "intel", "smpi", "unknown"]
    version: str
    prefix: str
    mpicxx: str
    mpiexec: str
    source: Literal["option", "environment", "path", "wheel", "cache"]

    @property
    def title(self) -> str:
        names = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "smpi": "SimGrid"}
        return f"{names.get(self.family, 'unknown MPI')} {self.version}".strip()

    @property
    def environment(self) -> dict[str, str]:
        """What its tools need in the environment: Intel's wheel knows its place by this variable only."""
        return {"I_MPI_ROOT": self.prefix} if self.family == "intel" else {}


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The front end's view; every rank's host and CPUs are in the launch lines.

    `cores` are the physical cores this process may use, `threads` the hardware threads; `caches` maps "L1d",
    "L2", "L3" to bytes; `virtual` names the hypervisor or container ("kvm", "docker"), empty on bare metal;
    `governor` is the frequency governor, empty where unknown. A simulated machine has the cores that its
    description says, one thread each; `platform` is that description as it was then. A published machine has
    `citation`, the paper that printed its numbers, and `notes` on how they came about and were copied.
    """

    schema: int
    kind: Literal["real", "emulated", "simulated", "published", "fake"]
    host: str
    system: str
    cpu: str
    cores: int
    threads: int
    sockets: int = 1
    numa_nodes: int = 1
    caches: dict[str, int] = {}
    memory_bytes: int = 0
    virtual: str = ""
    governor: str = ""
    load_before: float | None = None
    mpi: Mpi | None = None
    engine: str = ""
    compiler: str = ""
    flags: str = ""
    network: list[str] = []
    hockney: str
    python: str = ""
    scheduler: str = ""
    platform: Platform | None = None
    citation: str = ""
    notes: list[str] = []
