# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels EP, CG, MG, FT and IS.

EP generates blocks of pairs. Only their sums are communicated.

CG divides the matrix into blocks on a grid of ranks. In a product, vectors are gathered along the columns of
the grid and sums are computed along its rows, in a number of messages that is the logarithm of their ranks.

MG has blocks of rows and planes. Neighbors exchange rows and planes after each operator. Every rank computes
the levels that are too small to divide.

FT has slabs of planes, and of lines in z. For each transform, all ranks exchange parts between them.

In IS, each rank sorts its keys by bucket, sends the buckets to their ranks, and ranks the received keys. A
single rank sorts only if its counters exceed the cache. Otherwise the times of sorting, and of ranking
sorted keys, are derived from that of counting by the measured shares of the operations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from hockney.models.programs.parts import CollectivePart
from hockney.suites.npb.programs.program import (
    DOUBLE_BYTES,
    Activity,
    Indivisible,
    NpbProgram,
    exchange,
    global_sum,
    part_bounds,
    part_length,
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
"""Number of pairs."""
EP_ANNULI = 10


def ep_program(size: str, ranks: int) -> NpbProgram:
    pairs = EP_CLASSES[size]
    activities = (
        work("pairs", (2.0 * part_length(pairs, ranks, rank) for rank in range(ranks))),
        global_sum("sums", 2, ranks),
        global_sum("sums", EP_ANNULI, ranks),
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
"""Order of the matrix, random elements of each sparse vector, and iterations."""
CG_STEPS = 25
"""Steps of the conjugate gradient method in each iteration."""


def cg_program(size: str, ranks: int) -> NpbProgram:
    """Returns the program of CG. Its iterations are steps of the conjugate gradient method. Work that the
    benchmark does once in each of its own iterations has a share of the steps."""
    order, nonzeros, iterations = CG_CLASSES[size]
    columns = max(divisor for divisor in range(1, math.isqrt(ranks) + 1) if ranks % divisor == 0)
    rows = ranks // columns
    elements = nonzeros * (nonzeros + 1)
    grid = [(i, j) for i in range(rows) for j in range(columns)]

    def piece_length(i: int, j: int) -> int:
        """Returns the elements of the piece of a vector on rank i * columns + j."""
        begin, end = part_bounds(order, rows, i % rows)
        return part_length(end - begin, columns, j % columns)

    def product_activities(share: float) -> Iterator[Activity]:
        """Yields a product: the pieces of a grid column are gathered and those of a grid row summed, in
        messages over distances that double or halve."""
        for distance in _distances(rows):
            yield from exchange("products", (gather_message(i, j, distance) for i, j in grid), share=share)
        sizes = (
            sum(piece_length(i, k) for k in range(columns)) * sum(piece_length(k, j) for k in range(rows))
            for i, j in grid
        )
        yield work("products", (2.0 * elements * size / order for size in sizes), share=share)
        for distance in reversed(list(_distances(columns))):
            yield from exchange("products", (sum_message(i, j, distance) for i, j in grid), share=share)

    def gather_message(i: int, j: int, distance: int) -> tuple[int, int, int]:
        pieces = range(min(2 * distance, rows) - distance)
        return (
            i * columns + j,
            (i - distance) % rows * columns + j,
            DOUBLE_BYTES * sum(piece_length(i + k, j) for k in pieces),
        )

    def sum_message(i: int, j: int, distance: int) -> tuple[int, int, int]:
        pieces = range(distance, min(2 * distance, columns))
        return (
            i * columns + j,
            i * columns + (j + distance) % columns,
            DOUBLE_BYTES * sum(piece_length(i, j + k) for k in pieces),
        )

    def vector_work(pairs: int, share: float = 1.0) -> Activity:
        return work("vectors", (2.0 * pairs * piece_length(i, j) for i, j in grid), share=share)

    once_share = 1 / CG_STEPS
    activities = (
        *product_activities(1.0),
        *(vector_work(1), global_sum("vectors", 1, ranks)),
        *(vector_work(3), global_sum("vectors", 1, ranks), vector_work(1)),
        *(vector_work(3, once_share), global_sum("vectors", 1, ranks, share=once_share)),
        *product_activities(once_share),
        *(
            vector_work(2, once_share),
            global_sum("vectors", 3, ranks, share=once_share),
            vector_work(1, once_share),
        ),
    )
    official_operations = 2.0 * iterations * order * (3 + elements + CG_STEPS * (5 + elements) + 3)
    return NpbProgram(
        "cg", size, ranks, iterations * CG_STEPS, official_operations, ("products", "vectors"), activities
    )


def _distances(parts: int) -> Iterator[int]:
    """Yields the powers of two below `parts`."""
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
"""Points along each axis, and iterations."""
LINE_ELEMENTS = PADDING = 8
"""Number of elements in a cache line, and between planes."""
MAX_UNDIVIDED_SIDE = 16
"""Maximum points per axis of levels that are not divided."""
WEIGHTS = {"residual": 20.0, "smoothing": 16.0, "restriction": 8.0, "prolongation": 5.0, "norm": 4.0}
"""Relative times of the operators for each point of their finer level. The official count is divided among
the operators by them."""


@dataclass(frozen=True)
class Grid:
    """Ranks arranged by rows and planes. Rank (y, z) has number y + rows z."""

    rows: int
    planes: int

    def block(self, rank: int, n: int, coarsening: int) -> tuple[int, int]:
        """Returns the (rows, planes) owned by `rank` on the grid coarsened by this factor along each axis."""
        extents = []
        for parts, position in ((self.rows, rank % self.rows), (self.planes, rank // self.rows)):
            begin, end = part_bounds(n, parts, position)
            extents.append(end // coarsening - begin // coarsening)
        return extents[0], extents[1]

    def is_divided(self, n: int, coarsening: int) -> bool:
        return all(all(self.block(rank, n, coarsening)) for rank in range(self.rows * self.planes))


def choose_grid(ranks: int, n: int) -> Grid | None:
    grids = [
        Grid(rows, ranks // rows)
        for rows in range(1, min(ranks, n) + 1)
        if ranks % rows == 0 and ranks // rows <= n
    ]

    def surface(grid: Grid) -> int:
        rows, planes = -(-n // grid.rows), -(-n // grid.planes)
        return (rows if grid.planes > 1 else 0) + (planes if grid.rows > 1 else 0)

    return min(grids, key=surface, default=None)


def mg_program(size: str, ranks: int) -> NpbProgram:
    n, iterations = MG_CLASSES[size]
    grid = choose_grid(ranks, n)
    if grid is None:
        raise Indivisible(ranks, next(p for p in range(ranks, 0, -1) if choose_grid(p, n)))
    official_operations = 58.0 * iterations * n**3
    cycle = _MgCycle(n, grid, official_operations / _total_weight(n, iterations))
    once_share = 1 / iterations
    activities = (
        *cycle.activities(),
        *(cycle.operator("norm", n, 2 * once_share), global_sum("norm", 1, ranks, share=2 * once_share)),
        *(cycle.operator("residual", n, once_share), *cycle.exchange("residual", n, once_share)),
    )
    phases = ("residual", "smoothing", "restriction", "prolongation", "coarse", "norm")
    return NpbProgram("mg", size, ranks, iterations, official_operations, phases, activities)


def _levels(n: int) -> list[int]:
    """Returns the points along each axis, from the coarsest level on."""
    return [1 << k for k in range(1, n.bit_length())]


def _total_weight(n: int, iterations: int) -> float:
    """Returns the total weight of a run's operators, on all levels in the cycles and on the finest level
    before and after them. The coarsest level is only smoothed."""
    weight_above_coarsest = (
        WEIGHTS["residual"] + WEIGHTS["smoothing"] + WEIGHTS["restriction"] + WEIGHTS["prolongation"]
    )
    cycle = (
        weight_above_coarsest * sum(side**3 for side in _levels(n)[1:])
        + WEIGHTS["smoothing"] * _levels(n)[0] ** 3
    )
    residual, norm = WEIGHTS["residual"] * n**3, WEIGHTS["norm"] * n**3
    return iterations * (cycle + residual) + residual + 2 * norm


@dataclass(frozen=True)
class _MgCycle:
    """A V-cycle on n points along each axis, and the residual after it."""

    n: int
    grid: Grid
    operations_per_weight: float

    @property
    def ranks(self) -> int:
        return self.grid.rows * self.grid.planes

    def is_divided(self, side: int) -> bool:
        return self.ranks > 1 and (
            side == self.n or (side > MAX_UNDIVIDED_SIDE and self.grid.is_divided(self.n, self.n // side))
        )

    def activities(self) -> Iterator[Activity]:
        levels = _levels(self.n)
        for side in reversed(levels[1:]):
            yield self.operator("restriction", side)
            if self.is_divided(side) and not self.is_divided(side // 2):
                yield self._gather_activity(side // 2)
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
        """Returns an operator on the points of a level."""
        is_repeated = self.ranks > 1 and not self.is_divided(side)
        point_counts = [
            side**3 if is_repeated else side * self._points(rank, side) for rank in range(self.ranks)
        ]
        operations = (
            self.operations_per_weight * WEIGHTS[name] * point_count for point_count in point_counts
        )
        return work(
            "coarse" if is_repeated else name, operations, rate_phase=name, share=share, repeated=is_repeated
        )

    def exchange(self, name: str, side: int, share: float = 1.0) -> Iterator[Activity]:
        """Yields the exchange of a row of each plane with the neighbors in y, then of a plane with the
        rows around it and PADDING with the neighbors in z. Rows begin at cache lines. Undivided levels
        have no messages."""
        rows, ranks = self.grid.rows, range(self.ranks)
        stride = -(-side // LINE_ELEMENTS) * LINE_ELEMENTS
        if not self.is_divided(side):
            return
        if rows > 1:
            sizes = [DOUBLE_BYTES * side * self._block(rank, side)[1] for rank in ranks]
            messages = [
                (rank, rank - rank % rows + (rank + step) % rows, sizes[rank])
                for step in (1, -1)
                for rank in ranks
            ]
            yield from exchange(name, messages, share=share)
        if self.grid.planes > 1:
            sizes = [DOUBLE_BYTES * ((self._block(rank, side)[0] + 2) * stride + PADDING) for rank in ranks]
            messages = [
                (rank, (rank + step) % self.ranks, sizes[rank]) for step in (rows, -rows) for rank in ranks
            ]
            yield from exchange(name, messages, share=share)

    def _gather_activity(self, side: int) -> Activity:
        """Returns the gathering of a level that every rank computes, from the parts of all ranks."""
        blocks = [DOUBLE_BYTES * side * self._points(rank, side) for rank in range(self.ranks)]
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
INITIAL_OPERATIONS, FORWARD_OPERATIONS, BACKWARD_OPERATIONS, DECAY_OPERATIONS = (
    14.8157,
    7.19641,
    7.21113,
    5.23518,
)
"""Operations for each point: of the initial state and of decay, and, for each unit of the natural
logarithm of the length, of a transform in either direction."""


def ft_program(size: str, ranks: int) -> NpbProgram:
    (nx, ny, nz), iterations = FT_CLASSES[size]
    if ranks > min(ny, nz):
        raise Indivisible(ranks, min(ny, nz))
    n = nx * ny * nz
    slab_lengths = [part_length(nz, ranks, rank) for rank in range(ranks)]
    line_counts = [part_length(ny, ranks, rank) for rank in range(ranks)]
    plane_log, line_log = math.log(nx * ny), math.log(nz)
    once_share = 1 / iterations

    def slab_work(phase: str, per_point: float, share: float = 1.0) -> Activity:
        return work(phase, (n * slab_length / nz * per_point for slab_length in slab_lengths), share=share)

    def line_work(per_point: float, share: float = 1.0) -> Activity:
        return work("z", (n * line_count / ny * per_point for line_count in line_counts), share=share)

    def transposition(lengths: list[int], depth: int, share: float = 1.0) -> Iterator[Activity]:
        sizes = [2 * nx * DOUBLE_BYTES * depth * length for length in lengths]
        return _all_to_all("transposition", [size // ranks for size in sizes], sizes, share)

    activities = (
        line_work(DECAY_OPERATIONS + BACKWARD_OPERATIONS * line_log),
        *transposition(line_counts, nz),
        slab_work("planes", BACKWARD_OPERATIONS * plane_log),
        global_sum("checksum", 2, ranks),
        slab_work("initial", INITIAL_OPERATIONS, once_share),
        slab_work("planes", FORWARD_OPERATIONS * plane_log, once_share),
        *transposition(slab_lengths, ny, once_share),
        line_work(FORWARD_OPERATIONS * line_log, once_share),
    )
    phases = ("initial", "z", "transposition", "planes", "checksum")
    official_operations = n * (
        INITIAL_OPERATIONS
        + FORWARD_OPERATIONS * math.log(n)
        + (DECAY_OPERATIONS + BACKWARD_OPERATIONS * math.log(n)) * iterations
    )
    return NpbProgram("ft", size, ranks, iterations, official_operations, phases, activities)


def _all_to_all(
    phase: str, block_sizes: list[int], sizes: list[int], share: float = 1.0
) -> Iterator[Activity]:
    """Yields an exchange of blocks between all ranks; nothing on one rank. `sizes` are the total bytes of
    each rank's blocks."""
    if len(sizes) > 1:
        part = CollectivePart(phase, "alltoallv", max(block_sizes))
        yield Activity(part, share, bytes=sum(sizes))


IS_CLASSES = {
    "S": (1 << 16, 1 << 11, 1 << 9),
    "W": (1 << 20, 1 << 16, 1 << 10),
    "A": (1 << 23, 1 << 19, 1 << 10),
    "B": (1 << 25, 1 << 21, 1 << 10),
    "C": (1 << 27, 1 << 23, 1 << 10),
    "tiny": (1009, 1 << 7, 1 << 5),
}
"""Number of keys, values and buckets."""
IS_ITERATIONS = 10
COUNTING_SHARE, SORTING_SHARE = 0.2, 0.5
"""Shares of the operations, estimated from measured times."""
KEY_BYTES, COUNTER_BYTES = 4, 8
"""Size of a key and of a counter."""
CACHE_BYTES = 2 << 20
"""Maximum size of the counters for which a single rank does not sort."""


def needs_sorting(size: str, ranks: int) -> bool:
    return ranks > 1 or KEY_BYTES * IS_CLASSES[size][1] > CACHE_BYTES


def is_program(size: str, ranks: int) -> NpbProgram:
    """Returns the program of IS. Buckets are assumed to be divided evenly, so each rank keeps its share of
    its own keys."""
    keys, _, buckets = IS_CLASSES[size]
    rank_keys = [part_length(keys, ranks, rank) for rank in range(ranks)]
    bucket_share = COUNTING_SHARE + SORTING_SHARE * needs_sorting(size, ranks)
    rate_phase = "ranks" if needs_sorting(size, ranks) == needs_sorting(size, 1) else "buckets"
    sent_bytes = [KEY_BYTES * (key_count - key_count // ranks) for key_count in rank_keys]
    counter_bytes = COUNTER_BYTES * buckets
    activities = (
        work("buckets", (bucket_share * key_count for key_count in rank_keys)),
        Activity(CollectivePart("buckets", "allreduce", counter_bytes), bytes=ranks * counter_bytes),
        *_all_to_all("exchange", [KEY_BYTES] * ranks, [KEY_BYTES * ranks] * ranks),
        *_all_to_all("exchange", [size // max(1, ranks - 1) for size in sent_bytes], sent_bytes),
        work(
            "ranks",
            ((1 - COUNTING_SHARE - SORTING_SHARE) * key_count for key_count in rank_keys),
            rate_phase=rate_phase,
        ),
    )
    phases = ("buckets", "exchange", "ranks")
    return NpbProgram("is", size, ranks, IS_ITERATIONS, float(IS_ITERATIONS * keys), phases, activities)
