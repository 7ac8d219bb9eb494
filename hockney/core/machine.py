# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""References to machines as typed by users, and the contents of `machine.json`: the machine of a run as found
by the front end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import msgspec

from hockney.core.ethernet import Ethernet
from hockney.core.layout import Layout, Level
from hockney.core.platform import Platform
from hockney.core.record import Origin


@dataclass(frozen=True)
class MachineReference:
    """SCHEME, or SCHEME:NAME, as in --machine and plan.txt. `scheme` selects the kind of machine; an empty
    scheme is this machine. The part after the colon depends on the kind: a name, a path, or options.

        ""                        this machine
        "sim:t3e"                 scheme sim, name t3e
        "fake:seed=3;pace=5ms"    scheme fake, options seed and pace
    """

    scheme: str = ""
    name: str = ""

    @staticmethod
    def parse(text: str) -> MachineReference:
        scheme, _, name = text.partition(":")
        return MachineReference(scheme, name)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}" if self.name else self.scheme


def without_scheme(text: str, schemes: Collection[str]) -> str:
    """Return `text` without a prefix that is one of `schemes`."""
    reference = MachineReference.parse(text)
    return reference.name if ":" in text and reference.scheme in schemes else text


class Mpi(msgspec.Struct, frozen=True, kw_only=True):
    """One MPI: compiler wrapper and launcher from the same prefix. `family` is the name of a module in
    hockney/mpi, which contains the differences between MPIs.

    `source` tells how it was chosen: option (--mpi), environment ($HOCKNEY_MPI), path, wheel (the one in
    hockney's environment), cache (a wheel that hockney installed into a separate prefix).
    """

    family: str
    version: str
    prefix: str
    mpicxx: str
    mpiexec: str
    source: Literal["option", "environment", "path", "wheel", "cache"]


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of a machine's kind that matter for planning, measuring, fitting and reporting. No other
    code depends on the kind's name.

    `origin` is the origin of its numbers, copied into every record. A `noiseless` machine always gives the
    same times, so one launch is enough and a time without an interval is exact. The clock and load of a
    `local` machine are those of this host. With `shared_memory`, ranks of one node share memory. With
    `wall_clock`, the machine's time passes with the front end's, also between rounds, so that a launch's
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
    def imported(self) -> bool:
        """Whether another benchmark printed the numbers: one mean per execution, without repetitions."""
        return self.origin == "imported"

    @property
    def records_nodes(self) -> bool:
        """Whether records contain the nodes of ranks."""
        return not (self.published or self.imported)

    @property
    def varies(self) -> bool:
        """Whether the machine's speed changes during measurements, as on real machines. Cases are then
        visited many times in many launches."""
        return self.wall_clock and not self.noiseless and not self.is_fake

    @property
    def uses_mpiexec(self) -> bool:
        """Whether mpiexec starts its ranks."""
        return self.origin in ("measured", "emulated")

    @property
    def emulated(self) -> bool:
        """Whether its hosts are namespaces of this host, which share its cores."""
        return self.origin == "emulated"

    @property
    def is_fake(self) -> bool:
        """Whether the numbers are made up, for tests."""
        return self.origin == "fake"

    @property
    def described(self) -> bool:
        """Whether the machine exists only as a description or in a paper. It is never chosen by default, and
        `cores` counts the cores of all its nodes."""
        return self.simulated or self.published

    @property
    def chosen_by_default(self) -> bool:
        """Whether it may be the machine of the user's programs. Only runs on such machines are chosen by
        default."""
        return not (self.described or self.emulated or self.imported)


IMPORTED_TRAITS = Traits(origin="imported", local=False, shared_memory=False, wall_clock=False)
"""Traits of the output of other benchmarks (`hockney import`)."""


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """A switch with the nodes and switches directly below it."""

    name: str
    nodes: list[str] = []
    switches: list[str] = []


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine as seen by the front end; the launch lines contain every rank's host and CPUs.

    `kind` is the name of one of the kinds in `measurement/kinds`, for display. `traits` are its properties,
    stored here so that a run can be read where its kind is not installed.

    `cores` are the physical cores this process may use, `threads` the hardware threads; `caches` maps "L1d",
    "L2", "L3" to bytes; `virtual` names the hypervisor or container ("kvm", "docker"), empty on bare metal;
    `governor` is the frequency governor, empty if unknown. `settings` are the variables that control MPI
    (discovery/mpi_settings.py); None if they do not apply, and in runs made before they were recorded.
    `transport` maps the purpose of a transport to its name ("within a host": "sm"), if MPI reports it.

    `hosts` are the hosts on which ranks may run (empty for this host). A launch uses `nodes` of them with
    `ranks_per_node` ranks each (0 if the launcher places its ranks). `levels` are the levels at which pairs
    of these ranks meet (`core.layout`), nearest first. `topology` contains the switches between the hosts, if
    the batch system or the user names them.

    A simulated machine has the cores of its description, one thread each; `platform` is the description at
    the time. An emulated machine has this host's cores; `emulated` is its description, `host` the
    description's name. For a published machine, `citation` is the paper that printed its numbers, and `notes`
    tell how they were obtained and copied. For imported numbers, `cpu` is the benchmark that printed them,
    `citation` the files, `notes` describe definitions and omissions, and the number of cores equals the
    number of ranks.
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
    emulated: Ethernet | None = None
    hosts: list[str] = []
    nodes: int = 0
    ranks_per_node: int = 0
    levels: list[Level] = []
    topology: list[Switch] = []
    citation: str = ""
    notes: list[str] = []

    @property
    def layout(self) -> Layout | None:
        """Layout of its ranks over nodes; None if the launcher decides."""
        return Layout(self.nodes, self.ranks_per_node) if self.nodes and self.ranks_per_node else None

    @property
    def nodes_vary(self) -> bool:
        """Whether another run on the same machine may use other nodes: in a batch job, or on more than one
        node."""
        return bool(self.scheduler) or (self.layout is not None and self.layout.nodes > 1)

    @property
    def is_placed(self) -> bool:
        """Whether cases name the level or the nodes of their ranks: if there is more than one node, or more
        than one level within a node."""
        return self.layout is not None and (self.layout.nodes > 1 or len(self.levels) > 1)

    @property
    def is_exact(self) -> bool:
        """Whether its times never vary; a description may add noise."""
        return self.traits.noiseless and (self.platform is None or not self.platform.varies)
