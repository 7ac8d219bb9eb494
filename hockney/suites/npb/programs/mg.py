# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MG: blocks of rows and planes, whose neighbors exchange rows and planes after each operator; levels that
are too small are computed by every rank."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from hockney.models.programs.program import (
    DOUBLE,
    Collective,
    Exchange,
    Indivisible,
    Phase,
    Program,
    Share,
    Work,
    part_of,
    sums,
)

SIZES = {
    "S": (32, 4),
    "W": (128, 4),
    "A": (256, 4),
    "B": (256, 20),
    "C": (512, 20),
    "paper": (64, 40),
    "tiny": (8, 2),
}
"""Points of a side, and iterations."""
LINE = PADDING = 8
"""Elements of a cache line, and between planes."""
UNDIVIDED = 16
"""Levels of at most this many points a side are not divided."""
WEIGHTS = {"residual": 20.0, "smoothing": 16.0, "restriction": 8.0, "prolongation": 5.0, "norm": 4.0}
"""The operators' times for each point of their finer level, which divide the official count among them."""


@dataclass(frozen=True)
class Grid:
    """Ranks by rows and planes; rank (y, z) has number y + rows z."""

    rows: int
    planes: int

    def block(self, rank: int, n: int, coarser: int) -> tuple[int, int]:
        """Rows and planes of a rank on the level with `coarser` times fewer points a side."""
        extents = []
        for parts, place in ((self.rows, rank % self.rows), (self.planes, rank // self.rows)):
            begin, end = part_of(n, parts, place)
            extents.append(end // coarser - begin // coarser)
        return extents[0], extents[1]

    def shares(self, n: int, coarser: int) -> bool:
        return all(all(self.block(rank, n, coarser)) for rank in range(self.rows * self.planes))


def grid_of(ranks: int, n: int) -> Grid | None:
    found = [Grid(r, ranks // r) for r in range(1, min(ranks, n) + 1) if ranks % r == 0 and ranks // r <= n]

    def surface(grid: Grid) -> int:
        rows, planes = -(-n // grid.rows), -(-n // grid.planes)
        return (rows if grid.planes > 1 else 0) + (planes if grid.rows > 1 else 0)

    return min(found, key=surface, default=None)


def program(size: str, ranks: int) -> Program:
    n, iterations = SIZES[size]
    grid = grid_of(ranks, n)
    if grid is None:
        raise Indivisible(ranks, next(p for p in range(ranks, 0, -1) if grid_of(p, n)))
    official = 58.0 * iterations * n**3
    per_weight = official / _weight(n, iterations)
    divided = {
        side: ranks > 1 and (side == n or (side > UNDIVIDED and grid.shares(n, n // side)))
        for side in _levels(n)
    }
    by_rank = [_shares(n, iterations, grid, rank, divided, per_weight) for rank in range(ranks)]
    names = ("residual", "smoothing", "restriction", "prolongation", "coarse", "norm")
    whole = max((side for side in divided if not divided[side]), default=0)
    gathered = Collective(
        "allgather",
        iterations,
        tuple(DOUBLE * whole * _points(grid, rank, n, whole) for rank in range(ranks)),
    )
    collectives = {"norm": (sums(2, 1, ranks),), "coarse": (gathered,) if ranks > 1 else ()}
    phases = tuple(
        Phase(name, tuple(shares[name] for shares in by_rank), collectives.get(name, ())) for name in names
    )
    return Program("mg", size, ranks, iterations, official, phases)


def _levels(n: int) -> list[int]:
    """Points a side, from the coarsest on."""
    return [1 << k for k in range(1, n.bit_length())]


def _operators(n: int, iterations: int) -> list[tuple[str, int, int, int]]:
    """Operator, the level whose points it processes and that whose neighbors then exchange (0: none), by
    their points a side, and how often."""
    found = [("norm", n, 0, 2), ("residual", n, n, 1 + iterations)]
    for side in _levels(n):
        found.append(("smoothing", side, side, iterations))
        if side > 2:
            found.append(("residual", side, side, iterations))
            found.append(("restriction", side, side // 2, iterations))
            found.append(("prolongation", side, 0, iterations))
    return found


def _weight(n: int, iterations: int) -> float:
    return sum(WEIGHTS[name] * side**3 * count for name, side, _, count in _operators(n, iterations))


def _points(grid: Grid, rank: int, n: int, side: int) -> int:
    rows, planes = grid.block(rank, n, n // side)
    return rows * planes


def _shares(
    n: int, iterations: int, grid: Grid, rank: int, divided: dict[int, bool], per_weight: float
) -> dict[str, Share]:
    work: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    exchanges: dict[str, list[Exchange]] = defaultdict(list)
    several = any(divided.values())
    for name, side, exchanged, count in _operators(n, iterations):
        phase = name if divided[side] or not several else "coarse"
        rows = side * _points(grid, rank, n, side) if divided[side] else side**3
        work[phase][name] += per_weight * WEIGHTS[name] * rows * count
        if exchanged and divided[exchanged]:
            for bytes in _borders(grid, rank, n, exchanged):
                exchanges[phase].append(Exchange(count, (bytes, bytes), (bytes, bytes)))
    return {
        name: Share(
            tuple(Work(operations, like, every=name == "coarse") for like, operations in work[name].items()),
            tuple(exchanges[name]),
        )
        for name in (*WEIGHTS, "coarse")
    }


def _borders(grid: Grid, rank: int, n: int, side: int) -> list[int]:
    """Bytes of a message with a row of each plane, and of one with a plane together with the rows around it
    and PADDING; rows begin at cache lines."""
    rows, planes = grid.block(rank, n, n // side)
    stride = -(-side // LINE) * LINE
    found = [DOUBLE * side * planes] if grid.rows > 1 else []
    return [*found, DOUBLE * ((rows + 2) * stride + PADDING)] if grid.planes > 1 else found
