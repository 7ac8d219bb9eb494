# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The grids of LU, BT and SP: blocks of the inner points, and the exchange of their ghost points."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from hockney.models.programs.program import DOUBLE, Exchange, part_of

Triple = tuple[int, int, int]
LAYERS = 2
"""Of ghost points."""
COMPONENTS = 5
TYPICAL_RATE = 2e9
"""Operations a second."""
STARTUP_S = 2e-6
"""What a message costs a rank unless a case has a `startup`."""


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
        """The block's share of the inner points."""
        return math.prod(self.size) / float(self.points - 2) ** 3


@dataclass(frozen=True)
class Division:
    """The inner points of a grid of `points` points a side, in cells. Each rank has one, with x fastest, or,
    in a multi-partition (`multiple`), each of q^2 ranks has q of q x q x q, one in each plane of cells."""

    points: int
    parts: Triple
    multiple: bool = False

    def rank_of(self, cell: Triple) -> int:
        x, y, z = cell
        q = self.parts[0]
        if self.multiple:
            return (x - z) % q + q * ((y + z) % q)
        return (z * self.parts[1] + y) * q + x

    def cells(self, rank: int) -> tuple[Subgrid, ...]:
        across, along, _ = self.parts
        places: list[Triple] = [(rank % across, rank // across % along, rank // across // along)]
        if self.multiple:
            i, j = rank % across, rank // across
            places = [((i + k) % across, (j - k) % across, k) for k in range(across)]
        return tuple(Subgrid(self.points, self.parts, place) for place in places)

    def share(self, rank: int) -> float:
        """A rank's share of the inner points."""
        return sum(cell.share for cell in self.cells(rank))

    def ghosts(self, rank: int, count: int) -> tuple[Exchange, ...]:
        """The exchange of both layers, `count` times, with one message to each rank."""
        sent: Counter[int] = Counter()
        received: Counter[int] = Counter()
        for cell in self.cells(rank):
            for d in range(3):
                begin, end = cell.own(d)
                plane = DOUBLE * COMPONENTS * math.prod(cell.size) // (end - begin)
                for part in range(self.parts[d]):
                    if part == cell.place[d]:
                        continue
                    other = self.rank_of(_replaced(cell.place, d, part))
                    first, last = part_of(self.points - 2, self.parts[d], part)
                    sent[other] += plane * max(0, min(end, last + LAYERS) - max(begin, first - LAYERS))
                    received[other] += plane * max(0, min(last, end + LAYERS) - max(first, begin - LAYERS))
        messages = tuple(filter(None, sent.values())), tuple(filter(None, received.values()))
        return (Exchange(count, *messages),) if any(messages) else ()


def _replaced(place: Triple, d: int, part: int) -> Triple:
    x, y, z = (part if at == d else place[at] for at in range(3))
    return x, y, z


def startup_points(operations: float, rate: float, startup: float) -> float:
    """The number of points, of `operations` each, that a sweep processes in `startup` seconds at `rate`
    operations per second (0: the default). The engine chooses the chunks of pipelines by it."""
    return (startup or STARTUP_S) / (operations / (rate or TYPICAL_RATE))
