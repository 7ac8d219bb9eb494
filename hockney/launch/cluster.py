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
    """Slurm's own launcher: the program, the version of Slurm, and the interface (--mpi) by which ranks find
    each other."""

    program: str
    version: tuple[int, int] = (0, 0)
    pmi: str = ""


@dataclass(frozen=True)
class Cluster:
    """`hosts` are their names for the launcher, in order; () leaves them to the scheduler. `slots` is the
    number of ranks that fit on each, `granted` the number that the launcher starts there without being told
    to start more; () if unknown. `agent` are the words of a remote shell, () for the launcher's own. `prefix`
    are words before the launcher. With transports "tcp" messages between hosts use TCP only. `preload` is a
    library that the dynamic linker loads into every rank that mpiexec starts. With `srun`, that starts the
    ranks, otherwise mpiexec."""

    hosts: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()
    granted: tuple[int, ...] = ()
    agent: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    transports: Literal["", "tcp"] = ""
    preload: str = ""
    srun: Srun | None = None

    def rotated(self, index: int, nodes: int) -> Cluster:
        """The cluster with the hosts of launch `index` first. Launches on fewer `nodes` than there are hosts
        take the next ones in turn; after each round they begin one host later, so that other hosts meet."""
        if not self.hosts:
            return self
        count = len(self.hosts)
        first = (index * nodes + index * nodes // count) % count
        return self._with(lambda each: each[first:] + each[:first])

    def taken(self, nodes: int) -> Cluster:
        """The cluster with only its first `nodes` hosts."""
        return self._with(lambda each: each[:nodes])

    def _with(self, part: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Cluster:
        return replace(self, hosts=part(self.hosts), slots=part(self.slots), granted=part(self.granted))


NO_CLUSTER = Cluster()


def spread(ranks: int, layout: Layout) -> Spread:
    """`ranks` ranks fill the nodes of `layout` in order. More than it has are spread evenly."""
    if ranks > layout.ranks:
        return Spread(layout.nodes, ceil(ranks / layout.nodes))
    return Spread(ceil(ranks / layout.ranks_per_node), layout.ranks_per_node)
