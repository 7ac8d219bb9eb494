# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels EP, CG, MG, FT and IS.

EP has blocks of pairs, of which only the sums are communicated.

CG has blocks of the matrix in a grid of ranks, and products whose vectors are gathered along the grid's
columns and whose sums are made along its rows, in as many messages as the logarithm of their ranks.

MG has blocks of rows and planes, whose neighbors exchange rows and planes after each operator; levels that
are too small are computed by every rank.

FT has slabs of planes, and of lines in z, between which all ranks exchange parts for each transform.

In IS, each rank sorts its keys by bucket, sends the buckets to the ranks that they belong to, and ranks what
it receives. A single rank sorts only if its counters exceed the cache; otherwise the time of sorting and of
ranking sorted keys comes from that of counting, by their shares of the operations, which were measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from hockney.models.programs.parts import CollectivePart
from hockney.suites.npb.programs.program import (
    DOUBLE,
    Activity,
    Indivisible,
    NpbProgram,
    exchange,
    length_of,
    part_of,
    sums,
    work,
)

EP_CLASSES = {
    "S": 1 << 24,
    "W": 1 << 25,
    "A": 1 << 28,
    "B": 1 << 30,
    "C": 1 << 32,
    "tiny": 1001,
}
"""Pairs."""
EP_ANNULI = 10


def ep_program(size: str, ranks: int) -> NpbProgram:
    pairs = EP_CLASSES[size]
    activities = (
        work("pairs", (2.0 * length_of(pairs, ranks, rank) for rank in range(ranks))),
        sums("sums", 2, ranks),
        sums("sums", EP_ANNULI, ranks),
    )
    return NpbProgram("ep", size, ranks, 1, 2.0 * pairs, ("pairs", "sums"), activities)


CG_CLASSES = {
    "S": (1400, 7, 15),
    "W": (7000, 8, 15),
    "A": (14000, 11, 15),
    "B": (75000, 13, 75),
    "C": (150000, 15, 75),
    "tiny": (101, 4, 4),
}
"""Order of the matrix, random elements of each sparse vector, iterations."""
CG_STEPS = 25
"""Steps of the conjugate gradient method in each iteration."""


def cg_program(size: str, ranks: int) -> NpbProgram:
    """An iteration here is a step of the conjugate gradient method; what the benchmark does once in its own
    iterations has a share of the steps."""
    order, nonzeros, iterations = CG_CLASSES[size]
    columns = max(d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0)
    rows = ranks // columns
    elements = nonzeros * (nonzeros + 1)
    grid = [(i, j) for i in range(rows) for j in range(columns)]

    def piece(i: int, j: int) -> int:
        """Elements of a vector; rank i * columns + j has this piece."""
        begin, end = part_of(order, rows, i % rows)
        return length_of(end - begin, columns, j % columns)

    def product(share: float) -> Iterator[Activity]:
        """The pieces of a grid column are gathered, those of a grid row summed, in messages over distances
        that double or halve."""
        for m in _distances(rows):
            yield from exchange("products", (_gathered(i, j, m) for i, j in grid), share=share)
        sizes = (
            sum(piece(i, k) for k in range(columns)) * sum(piece(k, j) for k in range(rows)) for i, j in grid
        )
        yield work("products", (2.0 * elements * each / order for each in sizes), share=share)
        for m in reversed(list(_distances(columns))):
            yield from exchange("products", (_summed(i, j, m) for i, j in grid), share=share)

    def _gathered(i: int, j: int, m: int) -> tuple[int, int, int]:
        pieces = range(min(2 * m, rows) - m)
        return i * columns + j, (i - m) % rows * columns + j, DOUBLE * sum(piece(i + k, j) for k in pieces)

    def _summed(i: int, j: int, m: int) -> tuple[int, int, int]:
        pieces = range(m, min(2 * m, columns))
        return (
            i * columns + j,
            i * columns + (j + m) % columns,
            DOUBLE * sum(piece(i, j + k) for k in pieces),
        )

    def vectors(pairs: int, share: float = 1.0) -> Activity:
        return work("vectors", (2.0 * pairs * piece(i, j) for i, j in grid), share=share)

    once = 1 / CG_STEPS
    activities = (
        *product(1.0),
        *(vectors(1), sums("vectors", 1, ranks)),
        *(vectors(3), sums("vectors", 1, ranks), vectors(1)),
        *(vectors(3, once), sums("vectors", 1, ranks, share=once)),
        *product(once),
        *(vectors(2, once), sums("vectors", 3, ranks, share=once), vectors(1, once)),
    )
    official = 2.0 * iterations * order * (3 + elements + CG_STEPS * (5 + elements) + 3)
    return NpbProgram("cg", size, ranks, iterations * CG_STEPS, official, ("products", "vectors"), activities)


def _distances(parts: int) -> Iterator[int]:
    """Powers of two below `parts`."""
    distance = 1
    while distance < parts:
        yield distance
        distance *= 2


MG_CLASSES = {
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
"""The most points a side of levels that are not divided."""
WEIGHTS = {"residual": 20.0, "smoothing": 16.0, "restriction": 8.0, "prolongation": 5.0, "norm": 4.0}
"""The operators' times for each point of their finer level, which divide the official count among them."""


@dataclass(frozen=True)
class Grid:
    """Ranks by rows and planes; rank (y, z) has number y + rows z."""

    rows: int
    planes: int

    def block(self, rank: int, n: int, coarser: int) -> tuple[int, int]:
        """(rows, planes) owned by `rank` on the grid coarsened by a factor of `coarser` per side."""
        extents = []
        for parts, position in ((self.rows, rank % self.rows), (self.planes, rank // self.rows)):
            begin, end = part_of(n, parts, position)
            extents.append(end // coarser - begin // coarser)
        return extents[0], extents[1]

    def is_divided(self, n: int, coarser: int) -> bool:
        return all(all(self.block(rank, n, coarser)) for rank in range(self.rows * self.planes))


def grid_of(ranks: int, n: int) -> Grid | None:
    grids = [Grid(r, ranks // r) for r in range(1, min(ranks, n) + 1) if ranks % r == 0 and ranks // r <= n]

    def surface(grid: Grid) -> int:
        rows, planes = -(-n // grid.rows), -(-n // grid.planes)
        return (rows if grid.planes > 1 else 0) + (planes if grid.rows > 1 else 0)

    return min(grids, key=surface, default=None)


def mg_program(size: str, ranks: int) -> NpbProgram:
    n, iterations = MG_CLASSES[size]
    grid = grid_of(ranks, n)
    if grid is None:
        raise Indivisible(ranks, next(p for p in range(ranks, 0, -1) if grid_of(p, n)))
    official = 58.0 * iterations * n**3
    cycle = _MgCycle(n, grid, official / _total_weight(n, iterations))
    once = 1 / iterations
    activities = (
        *cycle.activities(),
        *(cycle.operator("norm", n, 2 * once), sums("norm", 1, ranks, share=2 * once)),
        *(cycle.operator("residual", n, once), *cycle.exchange("residual", n, once)),
    )
    phases = ("residual", "smoothing", "restriction", "prolongation", "coarse", "norm")
    return NpbProgram("mg", size, ranks, iterations, official, phases, activities)


def _levels(n: int) -> list[int]:
    """Points a side, from the coarsest on."""
    return [1 << k for k in range(1, n.bit_length())]


def _total_weight(n: int, iterations: int) -> float:
    """The total weight of a run's operators: on the levels above the coarsest, which is only smoothed, and on
    the finest level before and after the cycles."""
    above = WEIGHTS["residual"] + WEIGHTS["smoothing"] + WEIGHTS["restriction"] + WEIGHTS["prolongation"]
    cycle = above * sum(side**3 for side in _levels(n)[1:]) + WEIGHTS["smoothing"] * _levels(n)[0] ** 3
    residual, norm = WEIGHTS["residual"] * n**3, WEIGHTS["norm"] * n**3
    return iterations * (cycle + residual) + residual + 2 * norm


@dataclass(frozen=True)
class _MgCycle:
    """A V-cycle on n points a side, and the residual after it."""

    n: int
    grid: Grid
    operations_per_weight: float

    @property
    def ranks(self) -> int:
        return self.grid.rows * self.grid.planes

    def is_divided(self, side: int) -> bool:
        return self.ranks > 1 and (
            side == self.n or (side > UNDIVIDED and self.grid.is_divided(self.n, self.n // side))
        )

    def activities(self) -> Iterator[Activity]:
        levels = _levels(self.n)
        for side in reversed(levels[1:]):
            yield self.operator("restriction", side)
            if self.is_divided(side) and not self.is_divided(side // 2):
                yield self._gathered(side // 2)
            yield from self.exchange("restriction", side // 2)
        for side in levels:
            if side > levels[0]:
                yield self.operator("prolongation", side)
                yield self.operator("residual", side)
                yield from self.exchange("residual", side)
            yield self.operator("smoothing", side)
            yield from self.exchange("smoothing", side)
        yield self.operator("residual", self.n)
        yield from self.exchange("residual", self.n)

    def operator(self, name: str, side: int, share: float = 1.0) -> Activity:
        """An operator on the points of a level."""
        repeated = self.ranks > 1 and not self.is_divided(side)
        points = [side**3 if repeated else side * self._points(rank, side) for rank in range(self.ranks)]
        operations = (self.operations_per_weight * WEIGHTS[name] * each for each in points)
        return work("coarse" if repeated else name, operations, like=name, share=share, repeated=repeated)

    def exchange(self, name: str, side: int, share: float = 1.0) -> Iterator[Activity]:
        """A row of each plane with the neighbors in y, then a plane together with the rows around it, and
        PADDING, with those in z; rows begin at cache lines. Levels that are not divided have no messages."""
        rows, ranks = self.grid.rows, range(self.ranks)
        stride = -(-side // LINE) * LINE
        if not self.is_divided(side):
            return
        if rows > 1:
            sizes = [DOUBLE * side * self._block(rank, side)[1] for rank in ranks]
            both = [(r, r - r % rows + (r + step) % rows, sizes[r]) for step in (1, -1) for r in ranks]
            yield from exchange(name, both, share=share)
        if self.grid.planes > 1:
            sizes = [DOUBLE * ((self._block(rank, side)[0] + 2) * stride + PADDING) for rank in ranks]
            both = [(r, (r + step) % self.ranks, sizes[r]) for step in (rows, -rows) for r in ranks]
            yield from exchange(name, both, share=share)

    def _gathered(self, side: int) -> Activity:
        """The level that every rank computes, from the parts of all."""
        blocks = [DOUBLE * side * self._points(rank, side) for rank in range(self.ranks)]
        return Activity(CollectivePart("coarse", "allgatherv", max(blocks)), bytes=sum(blocks))

    def _block(self, rank: int, side: int) -> tuple[int, int]:
        return self.grid.block(rank, self.n, self.n // side)

    def _points(self, rank: int, side: int) -> int:
        rows, planes = self._block(rank, side)
        return rows * planes


FT_CLASSES = {
    "S": ((64, 64, 64), 6),
    "W": ((128, 128, 32), 6),
    "A": ((256, 256, 128), 6),
    "B": ((512, 256, 256), 20),
    "C": ((512, 512, 512), 20),
    "tiny": ((16, 32, 64), 3),
}
"""Points in x, y and z, and iterations."""
INITIAL, FORWARD, BACK, DECAY = 14.8157, 7.19641, 7.21113, 5.23518
"""Operations for each point: of the initial state and of decay, and of a transform in either direction for
each unit of the natural logarithm of the length."""


def ft_program(size: str, ranks: int) -> NpbProgram:
    (nx, ny, nz), iterations = FT_CLASSES[size]
    if ranks > min(ny, nz):
        raise Indivisible(ranks, min(ny, nz))
    n = nx * ny * nz
    slab = [length_of(nz, ranks, rank) for rank in range(ranks)]
    lines = [length_of(ny, ranks, rank) for rank in range(ranks)]
    plane_log, line_log = math.log(nx * ny), math.log(nz)
    once = 1 / iterations

    def on_slabs(phase: str, per_point: float, share: float = 1.0) -> Activity:
        return work(phase, (n * part / nz * per_point for part in slab), share=share)

    def on_lines(per_point: float, share: float = 1.0) -> Activity:
        return work("z", (n * part / ny * per_point for part in lines), share=share)

    def transposed(lengths: list[int], of: int, share: float = 1.0) -> Iterator[Activity]:
        sizes = [2 * nx * DOUBLE * of * each for each in lengths]
        return _all_to_all("transposition", [size // ranks for size in sizes], sizes, share)

    activities = (
        on_lines(DECAY + BACK * line_log),
        *transposed(lines, nz),
        on_slabs("planes", BACK * plane_log),
        sums("checksum", 2, ranks),
        on_slabs("initial", INITIAL, once),
        on_slabs("planes", FORWARD * plane_log, once),
        *transposed(slab, ny, once),
        on_lines(FORWARD * line_log, once),
    )
    phases = ("initial", "z", "transposition", "planes", "checksum")
    official = n * (INITIAL + FORWARD * math.log(n) + (DECAY + BACK * math.log(n)) * iterations)
    return NpbProgram("ft", size, ranks, iterations, official, phases, activities)


def _all_to_all(phase: str, blocks: list[int], sizes: list[int], share: float = 1.0) -> Iterator[Activity]:
    """Blocks of each rank for each other one; `sizes` are the bytes of all of a rank's blocks. Nothing on one
    rank."""
    if len(sizes) > 1:
        part = CollectivePart(phase, "alltoallv", max(blocks))
        yield Activity(part, share, bytes=sum(sizes))


IS_CLASSES = {
    "S": (1 << 16, 1 << 11, 1 << 9),
    "W": (1 << 20, 1 << 16, 1 << 10),
    "A": (1 << 23, 1 << 19, 1 << 10),
    "B": (1 << 25, 1 << 21, 1 << 10),
    "C": (1 << 27, 1 << 23, 1 << 10),
    "tiny": (1009, 1 << 7, 1 << 5),
}
"""Keys, values and buckets."""
IS_ITERATIONS = 10
COUNTING, SORTING = 0.2, 0.5
"""Shares of the operations, by their times."""
KEY, COUNTER = 4, 8
"""Bytes."""
CACHE_BYTES = 2 << 20
"""Bytes of counters up to which a rank alone does not sort."""


def sorts_keys(size: str, ranks: int) -> bool:
    return ranks > 1 or KEY * IS_CLASSES[size][1] > CACHE_BYTES


def is_program(size: str, ranks: int) -> NpbProgram:
    """The program of IS. Buckets are assumed to be divided evenly: each rank keeps its share of its own
    keys."""
    keys, _, buckets = IS_CLASSES[size]
    rank_keys = [length_of(keys, ranks, rank) for rank in range(ranks)]
    first = COUNTING + SORTING * sorts_keys(size, ranks)
    ranking = "ranks" if sorts_keys(size, ranks) == sorts_keys(size, 1) else "buckets"
    sent = [KEY * (each - each // ranks) for each in rank_keys]
    counts = COUNTER * buckets
    activities = (
        work("buckets", (first * each for each in rank_keys)),
        Activity(CollectivePart("buckets", "allreduce", counts), bytes=ranks * counts),
        *_all_to_all("exchange", [KEY] * ranks, [KEY * ranks] * ranks),
        *_all_to_all("exchange", [size // max(1, ranks - 1) for size in sent], sent),
        work("ranks", ((1 - COUNTING - SORTING) * each for each in rank_keys), like=ranking),
    )
    phases = ("buckets", "exchange", "ranks")
    return NpbProgram("is", size, ranks, IS_ITERATIONS, float(IS_ITERATIONS * keys), phases, activities)
