# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where ranks are: the cores they may be bound to, the levels at which two of them meet, and how they are
spread over nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from hockney.core.case import Case
from hockney.core.errors import UsageError, printable, unknown

Level = Literal["core", "cache", "socket", "node", "network"]
"""Nearest first. Two ranks meet on one `core` (its hardware threads), in a `cache` that their cores share, in
one `socket`, on one `node` (on different sockets, or nothing nearer is known of them), or over the
`network`."""

LEVELS: tuple[Level, ...] = ("core", "cache", "socket", "node", "network")
NODE: Level = "node"
NETWORK: Level = "network"

PAIR_RANKS = 2
"""The number of ranks that meet at a single level."""

LEVEL_PHRASES: dict[Level, str] = {
    "core": "on one core",
    "cache": "within a cache",
    "socket": "within a socket",
    "node": "within a node",
    "network": "between nodes",
}
"""Where messages between such ranks travel, as in "a message within a node"."""


def parse_level(text: str) -> Level:
    """Raises UsageError."""
    if text not in LEVELS:
        raise unknown("place", text, LEVELS)
    return text


def sort_levels(levels: Iterable[str]) -> tuple[Level, ...]:
    """Each level once."""
    given = set(levels)
    return tuple(level for level in LEVELS if level in given)


def farthest_level_in_node(levels: Iterable[str]) -> str:
    """The farthest of these levels within a node, "" if there is none. Ranks that fill a node meet at all of
    its levels, and those farthest apart end last."""
    inner_levels = [level for level in sort_levels(levels) if level != NETWORK]
    return inner_levels[-1] if inner_levels else ""


class Located(Protocol):
    """The location of a rank: ranks of one `node` with the same `core`, `cache` or `socket` share it; -1 if
    unknown."""

    @property
    def node(self) -> str: ...
    @property
    def core(self) -> int: ...
    @property
    def cache(self) -> int: ...
    @property
    def socket(self) -> int: ...


def level_between(one: Located, other: Located) -> Level:
    """The level at which two ranks meet."""
    if one.node != other.node:
        return "network"
    if min(one.core, other.core) < 0:
        return "node"
    if one.core == other.core:
        return "core"
    if one.cache == other.cache >= 0:
        return "cache"
    return "socket" if one.socket == other.socket >= 0 else "node"


@dataclass(frozen=True)
class Layout:
    """`nodes` nodes with `ranks_per_node` ranks on each; consecutive ranks are on one node."""

    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def text(self) -> str:
        """The layout as text, such as "2x4"."""
        return f"{self.nodes}x{self.ranks_per_node}"

    @staticmethod
    def parse(text: str) -> Layout:
        """The inverse of `text`. Raises UsageError."""
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
"""What may start ranks; auto: mpiexec, or else srun."""


@dataclass(frozen=True)
class HostOptions:
    """The user's choice of hosts. 0 or empty leaves it to hockney: in a batch job all of its hosts with their
    slots, otherwise this host.

    `nodes` hosts get `ranks_per_node` ranks each. `hosts` are the names of hosts to be used, each perhaps
    with its slots (NAME:N). `starter` is the program that starts the ranks ("mpiexec" or "srun"), `agent` the
    words of a remote shell that it is to use instead of ssh."""

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
    """A record, or a summary of some: the level at which pairs of ranks met, "" if not at one, and the number
    of their nodes, 0 if unknown."""

    @property
    def place(self) -> str: ...
    @property
    def nodes(self) -> int: ...


def meeting_level(case: Case, measured: MeasuredPlacement) -> str:
    """The level, "" if it is not known. Two ranks of a collective are a pair too."""
    if case.place or case.ranks != PAIR_RANKS:
        return case.place or measured.place
    nodes = case.nodes or measured.nodes
    return NETWORK if nodes > 1 else measured.place or (NODE if nodes else "")


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
