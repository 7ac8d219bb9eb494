# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Locations of ranks: cores that they may be bound to, levels at which two ranks meet, and layouts over
nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from hockney.core.case import Case
from hockney.core.errors import UsageError, printable, unknown

Level = Literal["core", "cache", "socket", "node", "network"]
"""Levels, nearest first. Two ranks meet on one `core` (its hardware threads), in a `cache` that their cores
share, in one `socket`, on one `node` (on different sockets, or with unknown location within it), or over the
`network`."""

LEVELS: tuple[Level, ...] = ("core", "cache", "socket", "node", "network")
NODE: Level = "node"
NETWORK: Level = "network"

PAIR_RANKS = 2
"""Number of ranks that meet at a single level."""

LEVEL_PHRASES: dict[Level, str] = {
    "core": "on one core",
    "cache": "within a cache",
    "socket": "within a socket",
    "node": "within a node",
    "network": "between nodes",
}
"""Phrases for messages between such ranks, as in "a message within a node"."""


def parse_level(text: str) -> Level:
    """Parse a level. Raises UsageError."""
    if text not in LEVELS:
        raise unknown("place", text, LEVELS)
    return text


def sort_levels(levels: Iterable[str]) -> tuple[Level, ...]:
    """Return the distinct levels, nearest first."""
    level_set = set(levels)
    return tuple(level for level in LEVELS if level in level_set)


def farthest_level_in_node(levels: Iterable[str]) -> str:
    """Return the farthest of these levels within a node, "" if there is none. Ranks that fill a node meet at
    all of its levels, and the ranks farthest apart finish last."""
    inner_levels = [level for level in sort_levels(levels) if level != NETWORK]
    return inner_levels[-1] if inner_levels else ""


class RankLocation(Protocol):
    """Location of a rank. Ranks of one `node` with the same `core`, `cache` or `socket` share it; -1 if
    unknown."""

    @property
    def node(self) -> str: ...
    @property
    def core(self) -> int: ...
    @property
    def cache(self) -> int: ...
    @property
    def socket(self) -> int: ...


def level_between(first: RankLocation, second: RankLocation) -> Level:
    """Return the level at which two ranks meet."""
    if first.node != second.node:
        return "network"
    if min(first.core, second.core) < 0:
        return "node"
    if first.core == second.core:
        return "core"
    if first.cache == second.cache >= 0:
        return "cache"
    return "socket" if first.socket == second.socket >= 0 else "node"


@dataclass(frozen=True)
class Layout:
    """A layout of `nodes` nodes with `ranks_per_node` ranks each; consecutive ranks are on one node."""

    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def text(self) -> str:
        """Layout as text, such as "2x4"."""
        return f"{self.nodes}x{self.ranks_per_node}"

    @staticmethod
    def parse(text: str) -> Layout:
        """Parse the result of `text`. Raises UsageError."""
        match = re.fullmatch(r"([1-9]\d{0,6})x([1-9]\d{0,6})", text)
        if not match:
            raise UsageError(
                f"'{printable(text)}' is not a layout",
                "it is the number of nodes, x, and the ranks on each",
                "use for example 2x4",
                code="not-a-layout",
                text=text,
            )
        return Layout(int(match[1]), int(match[2]))


STARTERS = ("auto", "mpiexec", "srun")
"""Programs that start ranks; auto stands for mpiexec, or else srun."""


@dataclass(frozen=True)
class HostOptions:
    """The user's choice of hosts. With 0 or empty values, hockney chooses: in a batch job, all of its hosts
    with their slots, otherwise this host.

    `nodes` hosts get `ranks_per_node` ranks each. `hosts` are the names of hosts, optionally with slots
    (NAME:N). `starter` is the program that starts the ranks ("mpiexec" or "srun"), `agent` the command line
    of a remote shell to use instead of ssh.
    """

    nodes: int = 0
    ranks_per_node: int = 0
    hosts: tuple[str, ...] = ()
    starter: str = ""
    agent: str = ""

    def __post_init__(self) -> None:
        if self.starter and self.starter not in STARTERS:
            raise unknown("launcher", self.starter, STARTERS, code="unknown-starter")

    def __bool__(self) -> bool:
        return self != THIS_HOST


THIS_HOST = HostOptions()


class MeasuredPlacement(Protocol):
    """A record, or a summary of records. `place` is the level at which pairs of ranks met, "" if levels
    differ. `nodes` is the number of their nodes, 0 if unknown."""

    @property
    def place(self) -> str: ...
    @property
    def nodes(self) -> int: ...


def meeting_level(case: Case, measured: MeasuredPlacement) -> str:
    """Return the level at which pairs of ranks met, "" if unknown. Two ranks of a collective are a pair
    too."""
    if case.place or case.ranks != PAIR_RANKS:
        return case.place or measured.place
    nodes = case.nodes or measured.nodes
    return NETWORK if nodes > 1 else measured.place or (NODE if nodes else "")


@dataclass(frozen=True)
class Cores:
    """Cores that this process may use. `cpus` contains the system's number of one hardware thread per core;
    `logical` contains the numbers of the same cores in hwloc's numbering, which omits cores forbidden by a
    control group.

    `usable` is the number of cores that can work at the same time, since a control group may have a quota.
    With `restricted`, an affinity mask excludes cores. MPI launchers ignore such a mask: with binding to
    cores, Open MPI and MPICH start from the host's first core (observed with Open MPI 4.1 and 5.0 and MPICH
    5.0 under taskset), so they need the list.
    """

    cpus: tuple[int, ...]
    logical: tuple[int, ...]
    usable: int
    restricted: bool = False
