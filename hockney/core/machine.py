# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What `machine.json` holds: the machine a run was made on, as found by the front end."""

from __future__ import annotations

from typing import Literal

import msgspec

from hockney.core.platform import Platform
from hockney.core.record import Origin


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


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine's kind implies for everything that plans, measures, fits or reports: no other code asks
    for the kind by name.

    `origin` is how its numbers come about, copied into every record. A `noiseless` machine gives the same
    times again, so that one launch is enough and a time without an interval is exact. On a `local` one this
    host's clock and load are those of the machine. `shared_memory`: ranks of one node share memory.
    `wall_clock`: the machine's time passes with the front end's, also between rounds, so that a launch's
    duration is a property of the machine and a long case is expensive.
    """

    origin: Origin = "measured"
    noiseless: bool = False
    local: bool = True
    shared_memory: bool = True
    wall_clock: bool = True

    @property
    def simulated(self) -> bool:
        return self.origin == "simulated"

    @property
    def published(self) -> bool:
        return self.origin == "published"

    @property
    def varies(self) -> bool:
        """Whether the machine changes its speed while it is measured, as real ones do: cases are visited at
        many moments of many launches."""
        return self.wall_clock and not self.noiseless and not self.invented

    @property
    def by_mpiexec(self) -> bool:
        """Whether mpiexec starts its ranks."""
        return self.origin == "measured"

    @property
    def invented(self) -> bool:
        """Whether the numbers are made up, for tests."""
        return self.origin == "fake"

    @property
    def described(self) -> bool:
        """Whether the machine exists as a description or in a paper only: nobody who names no machine means
        it, and `cores` are those of all its nodes."""
        return self.simulated or self.published


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The front end's view; every rank's host and CPUs are in the launch lines.

    `kind` is the name of one of the kinds in `lab/kinds`, for people to read; `traits` are what follows from
    it, kept here so that a run can be read where its kind is not installed.

    `cores` are the physical cores this process may use, `threads` the hardware threads; `caches` maps "L1d",
    "L2", "L3" to bytes; `virtual` names the hypervisor or container ("kvm", "docker"), empty on bare metal;
    `governor` is the frequency governor, empty where unknown. `settings` are the variables that steer MPI
    (machine/mpi_settings.py); None where they do not apply, and in runs made before they were recorded.
    `transport` says by what messages travel ("within a host": "sm"), as far as MPI reports it.

    A simulated machine has the cores that its description says, one thread each; `platform` is that
    description as it was then. A published machine has `citation`, the paper that printed its numbers, and
    `notes` on how they came about and were copied.
    """

    schema: int
    kind: str
    traits: Traits = Traits()
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
    settings: dict[str, str] | None = None
    transport: dict[str, str] = {}
    platform: Platform | None = None
    citation: str = ""
    notes: list[str] = []

    @property
    def exact(self) -> bool:
        """Whether its times do not vary at all: a description may add noise."""
        return self.traits.noiseless and (self.platform is None or self.platform.noise is None)
