# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The hosts that a launch uses, and how their ranks are reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from hockney.mpi import Spread

if TYPE_CHECKING:
    from hockney.core.layout import Layout


@dataclass(frozen=True)
class Srun:
    """Slurm's own launcher: program, version of Slurm, and the interface (--mpi) by which ranks find each
    other."""

    program: str
    version: tuple[int, int] = (0, 0)
    pmi: str = ""


@dataclass(frozen=True)
class Cluster:
    """Hosts of a launch, and how ranks are started there.

    `hosts` are their names for the launcher, in order; () leaves them to the scheduler. `slots` are the
    numbers of ranks that fit on each. `granted` are the numbers that the launcher starts there without extra
    options; () if unknown. `agent` is the command line of a remote shell, () for the launcher's own. `prefix`
    are words before the launcher. With transports "tcp", messages between hosts use only TCP. `preload` is a
    library that the dynamic linker loads into every rank started by mpiexec. `srun` starts the ranks if it is
    given, otherwise mpiexec does.
    """

    hosts: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()
    granted: tuple[int, ...] = ()
    agent: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    transports: Literal["", "tcp"] = ""
    preload: str = ""
    srun: Srun | None = None

    def rotated(self, index: int, nodes: int) -> Cluster:
        """Return the cluster with the hosts of launch `index` first. Launches on fewer `nodes` than hosts
        take the next hosts in turn. Each round begins one host later, so that the groups of hosts differ."""
        if not self.hosts:
            return self
        count = len(self.hosts)
        first = (index * nodes + index * nodes // count) % count
        return self._with_selection(lambda values: values[first:] + values[:first])

    def limited_to(self, nodes: int) -> Cluster:
        """Return the cluster with only its first `nodes` hosts."""
        return self._with_selection(lambda values: values[:nodes])

    def _with_selection(self, select: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Cluster:
        return replace(self, hosts=select(self.hosts), slots=select(self.slots), granted=select(self.granted))


NO_CLUSTER = Cluster()


def spread(ranks: int, layout: Layout) -> Spread:
    """Distribute `ranks` ranks over the nodes of `layout`, filling the nodes in order. If there are more
    ranks than slots, every node gets the same number."""
    if ranks > layout.ranks:
        return Spread(layout.nodes, ceil(ranks / layout.nodes))
    return Spread(ceil(ranks / layout.ranks_per_node), layout.ranks_per_node)
