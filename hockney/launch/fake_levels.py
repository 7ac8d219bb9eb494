# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the fake machine: where its ranks are, which of them a case takes, and what messages cost at
each level, relative to messages within a node.

Each level within a node joins two groups of the one before: with a cache and a socket, ranks 0 and 1 share a
cache, ranks 0 to 3 a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from hockney.core.case import Case
from hockney.core.layout import LEVELS, Layout, Level, level_between
from hockney.core.record import Rank

T = TypeVar("T")
HOST = "fakehost"


@dataclass(frozen=True)
class LevelCosts:
    """Factors on every constant time of a message, and on every time per byte."""

    constant: float
    per_byte: float


COSTS: Mapping[str, LevelCosts] = {
    "core": LevelCosts(0.4, 0.6),
    "cache": LevelCosts(0.5, 0.7),
    "socket": LevelCosts(0.8, 0.85),
    "node": LevelCosts(1.0, 1.0),
    "network": LevelCosts(9.0, 6.0),
}


@dataclass(frozen=True)
class FakeNodes:
    """`within` are the levels nearer than "node" that its ranks have, nearest first. Without a layout there
    is one node, of which nothing nearer is known, with all ranks of a launch."""

    layout: Layout | None = None
    within: tuple[Level, ...] = ()

    def node_of(self, rank: int) -> int:
        return 0 if self.layout is None else rank // self.layout.ranks_per_node

    def rank(self, rank: int) -> Rank:
        node = self.node_of(rank)
        local = rank if self.layout is None else rank % self.layout.ranks_per_node
        group = {level: local >> k for k, level in enumerate(self.within, start=1)}
        return Rank(
            host=HOST if self.layout is None or self.layout.nodes == 1 else f"{HOST}{node}",
            pid=1000 + rank,
            cpus=str(local),
            core=group.get("core", local) if self.within else -1,
            cache=group.get("cache", -1),
            socket=group.get("socket", -1),
        )

    def level(self, one: int, other: int) -> Level:
        return level_between(self.rank(one), self.rank(other))

    def members(self, case: Case, launched: int, index: int) -> list[int]:
        """The ranks that take part in a case of launch number `index`, in the case's order: world rank 0
        first; partners of pairs and other nodes change with the launch, of a node `nodes=` takes the first
        ranks, which are nearest to each other. Empty if there are none."""
        if case.nodes:
            return self._spread(case, launched, index)
        return (
            self._pairs(case.ranks // 2, case.place, launched, index) if case.place else [*range(case.ranks)]
        )

    def _spread(self, case: Case, launched: int, index: int) -> list[int]:
        nodes = sorted({self.node_of(rank) for rank in range(launched)})
        each = case.ranks // case.nodes
        ranks = [[r for r in range(launched) if self.node_of(r) == node][:each] for node in nodes]
        full = [these for these in ranks if len(these) == each]
        first, rest = full[:1], _turned(full[1:], index)
        return (
            [rank for these in [*first, *rest][: case.nodes] for rank in these]
            if len(full) >= case.nodes
            else []
        )

    def _pairs(self, pairs: int, place: str, launched: int, index: int) -> list[int]:
        """The first rank of each pair, then the second ones. Pairs between nodes are between the same two."""
        lower: list[int] = []
        upper: list[int] = []
        free = set(range(launched))
        partners = [rank for rank in range(launched) if self.level(0, rank) == place and rank]
        other = None if place != LEVELS[-1] or not partners else self.node_of(_turned(partners, index)[0])
        for rank in range(launched):
            if rank not in free or (other is not None and self.node_of(rank)):
                continue
            free.discard(rank)
            there = [r for r in sorted(free) if self.level(rank, r) == place]
            there = [r for r in there if other is None or self.node_of(r) == other]
            if there and len(lower) < pairs:
                partner = _turned(there, 0 if other is not None and pairs > 1 else index)[0]
                free.discard(partner)
                lower.append(rank)
                upper.append(partner)
            elif not rank:
                return []
        return [*lower, *upper] if len(lower) == pairs else []

    def place_of(self, case: Case, members: list[int]) -> Level | Literal[""]:
        """The place in a record: where the ranks of each pair meet, for pairs only."""
        pairs = case.ranks // 2 if case.place or case.ranks == 2 else 0
        levels = {self.level(members[k], members[k + pairs]) for k in range(pairs)}
        return levels.pop() if len(levels) == 1 else ""

    def nodes_of(self, members: list[int]) -> int:
        return len({self.node_of(rank) for rank in members})


def _turned(these: list[T], by: int) -> list[T]:
    """The list, beginning with another element each time."""
    first = by % len(these) if these else 0
    return [*these[first:], *these[:first]]
