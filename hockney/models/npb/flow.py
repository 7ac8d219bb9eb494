# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The grids of LU, BT and SP: blocks of the inner points, and the exchange of their ghost points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hockney.models.npb.program import DOUBLE, Exchange, part_of

Triple = tuple[int, int, int]
LAYERS = 2
"""Of ghost points."""
COMPONENTS = 5


@dataclass(frozen=True)
class Subgrid:
    """The block `place` of `parts` of a grid of `points` points a side, whose inner points are divided."""

    points: int
    parts: Triple
    place: Triple

    def own(self, d: int) -> tuple[int, int]:
        """First and last inner point in a direction."""
        return part_of(self.points - 2, self.parts[d], self.place[d])

    def extent(self, d: int) -> int:
        begin, end = self.own(d)
        return end - begin

    @property
    def size(self) -> Triple:
        return self.extent(0), self.extent(1), self.extent(2)

    @property
    def share(self) -> float:
        """Of the inner points."""
        return math.prod(self.size) / float(self.points - 2) ** 3

    def ghosts(self, count: int) -> tuple[Exchange, ...]:
        """The exchange of both layers, `count` times."""
        sent, received = [], []
        for d in range(3):
            begin, end = self.own(d)
            plane = DOUBLE * COMPONENTS * math.prod(self.size) // (end - begin)
            for part in range(self.parts[d]):
                if part == self.place[d]:
                    continue
                first, last = part_of(self.points - 2, self.parts[d], part)
                given = min(end, last + LAYERS) - max(begin, first - LAYERS)
                taken = min(last, end + LAYERS) - max(first, begin - LAYERS)
                sent += [plane * given] if given > 0 else []
                received += [plane * taken] if taken > 0 else []
        return (Exchange(count, tuple(sent), tuple(received)),) if sent else ()


def subgrids(points: int, parts: Triple) -> Iterator[Subgrid]:
    """In the order of ranks."""
    first = Subgrid(points, parts, (0, 0, 0))
    for rank in range(math.prod(parts)):
        place = rank % parts[0], rank // parts[0] % parts[1], rank // parts[0] // parts[1]
        yield replace(first, place=place)
