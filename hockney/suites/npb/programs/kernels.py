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
from collections import defaultdict
from collections.abc import Iterator
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
    length_of,
    part_of,
    sums,
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


def ep_program(size: str, ranks: int) -> Program:
    pairs = EP_CLASSES[size]
    shares = tuple(Share((Work(2.0 * length_of(pairs, ranks, rank), "pairs"),)) for rank in range(ranks))
    totals = Phase("sums", (Share(),) * ranks, (sums(1, 2, ranks), sums(1, EP_ANNULI, ranks)))
    return Program("ep", size, ranks, 1, 2.0 * pairs, (Phase("pairs", shares), totals))


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


def cg_program(size: str, ranks: int) -> Program:
    order, nonzeros, iterations = CG_CLASSES[size]
    columns = max(d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0)
    rows = ranks // columns
    elements = nonzeros * (nonzeros + 1)
    products = iterations * (CG_STEPS + 1)

    def block_length(i: int, j: int) -> int:
        begin, end = part_of(order, rows, i % rows)
        first, last = part_of(end - begin, columns, j % columns)
        return last - first

    def product_share(i: int, j: int) -> Share:
        height = sum(block_length(i, k) for k in range(columns))
        width = sum(block_length(k, j) for k in range(rows))
        work = Work(products * 2.0 * height * elements * (width / order), "products")
        gather_messages = _gather_messages([block_length(i + k, j) for k in range(rows)])
        sum_messages = _sum_messages([block_length(i, j + k) for k in range(columns)])
        exchanges = tuple(
            Exchange(products, (DOUBLE * out,), (DOUBLE * into,))
            for out, into in (*gather_messages, *sum_messages)
        )
        return Share((work,), exchanges)

    def vector_share(i: int, j: int) -> Share:
        return Share((Work(iterations * 2.0 * block_length(i, j) * (3 + 5 * CG_STEPS + 3), "vectors"),))

    grid = [(i, j) for i in range(rows) for j in range(columns)]
    dots = (sums(iterations * (1 + 2 * CG_STEPS), 1, ranks), sums(iterations, 3, ranks))
    official = 2.0 * iterations * order * (3 + elements + CG_STEPS * (5 + elements) + 3)
    phases = (
        Phase("products", tuple(product_share(i, j) for i, j in grid)),
        Phase("vectors", tuple(vector_share(i, j) for i, j in grid), dots),
    )
    return Program("cg", size, ranks, iterations, official, phases)


def _gather_messages(lengths: list[int]) -> Iterator[tuple[int, int]]:
    """Elements sent and received in each step, for the pieces of a grid column from a rank's own on."""
    distance = 1
    while distance < len(lengths):
        end = min(2 * distance, len(lengths))
        yield sum(lengths[: end - distance]), sum(lengths[distance:end])
        distance *= 2


def _sum_messages(lengths: list[int]) -> Iterator[tuple[int, int]]:
    """The same messages along a grid row, in the opposite direction."""
    distance = 1 << max(0, (len(lengths) - 1).bit_length()) >> 1
    while distance:
        end = min(2 * distance, len(lengths))
        yield sum(lengths[distance:end]), sum(lengths[: end - distance])
        distance //= 2


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
        """Rows and planes of a rank on the level with `coarser` times fewer points a side."""
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


def mg_program(size: str, ranks: int) -> Program:
    n, iterations = MG_CLASSES[size]
    grid = grid_of(ranks, n)
    if grid is None:
        raise Indivisible(ranks, next(p for p in range(ranks, 0, -1) if grid_of(p, n)))
    official = 58.0 * iterations * n**3
    operations_per_weight = official / _total_weight(n, iterations)
    divided = {
        side: ranks > 1 and (side == n or (side > UNDIVIDED and grid.is_divided(n, n // side)))
        for side in _levels(n)
    }
    by_rank = [_mg_shares(n, iterations, grid, rank, divided, operations_per_weight) for rank in range(ranks)]
    names = ("residual", "smoothing", "restriction", "prolongation", "coarse", "norm")
    largest_undivided = max((side for side in divided if not divided[side]), default=0)
    allgather = Collective(
        "allgather",
        iterations,
        tuple(
            DOUBLE * largest_undivided * _level_points(grid, rank, n, largest_undivided)
            for rank in range(ranks)
        ),
    )
    collectives = {"norm": (sums(2, 1, ranks),), "coarse": (allgather,) if ranks > 1 else ()}
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
    operators = [("norm", n, 0, 2), ("residual", n, n, 1 + iterations)]
    for side in _levels(n):
        operators.append(("smoothing", side, side, iterations))
        if side > 2:
            operators.append(("residual", side, side, iterations))
            operators.append(("restriction", side, side // 2, iterations))
            operators.append(("prolongation", side, 0, iterations))
    return operators


def _total_weight(n: int, iterations: int) -> float:
    return sum(WEIGHTS[name] * side**3 * count for name, side, _, count in _operators(n, iterations))


def _level_points(grid: Grid, rank: int, n: int, side: int) -> int:
    rows, planes = grid.block(rank, n, n // side)
    return rows * planes


def _mg_shares(
    n: int, iterations: int, grid: Grid, rank: int, divided: dict[int, bool], operations_per_weight: float
) -> dict[str, Share]:
    work: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    exchanges: dict[str, list[Exchange]] = defaultdict(list)
    has_divided_levels = any(divided.values())
    for name, side, exchanged, count in _operators(n, iterations):
        phase = name if divided[side] or not has_divided_levels else "coarse"
        rows = side * _level_points(grid, rank, n, side) if divided[side] else side**3
        work[phase][name] += operations_per_weight * WEIGHTS[name] * rows * count
        if exchanged and divided[exchanged]:
            for bytes in _borders(grid, rank, n, exchanged):
                exchanges[phase].append(Exchange(count, (bytes, bytes), (bytes, bytes)))
    return {
        name: Share(
            tuple(
                Work(operations, rate_phase, every=name == "coarse")
                for rate_phase, operations in work[name].items()
            ),
            tuple(exchanges[name]),
        )
        for name in (*WEIGHTS, "coarse")
    }


def _borders(grid: Grid, rank: int, n: int, side: int) -> list[int]:
    """Bytes of a message with a row of each plane, and of one with a plane together with the rows around it
    and PADDING; rows begin at cache lines."""
    rows, planes = grid.block(rank, n, n // side)
    stride = -(-side // LINE) * LINE
    sizes = [DOUBLE * side * planes] if grid.rows > 1 else []
    return [*sizes, DOUBLE * ((rows + 2) * stride + PADDING)] if grid.planes > 1 else sizes


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


def ft_program(size: str, ranks: int) -> Program:
    (nx, ny, nz), iterations = FT_CLASSES[size]
    if ranks > min(ny, nz):
        raise Indivisible(ranks, min(ny, nz))
    n = nx * ny * nz
    slab = [length_of(nz, ranks, rank) for rank in range(ranks)]
    lines = [length_of(ny, ranks, rank) for rank in range(ranks)]
    plane_log, line_log = math.log(nx * ny), math.log(nz)

    def shares(name: str, per_point: float, parts: list[int], of: int) -> tuple[Share, ...]:
        return tuple(Share((Work(n * part / of * per_point, name),)) for part in parts)

    row = 2 * nx * DOUBLE
    transpositions = (
        Collective("alltoall", 1, tuple(row * ny * part for part in slab)),
        Collective("alltoall", iterations, tuple(row * nz * part for part in lines)),
    )
    phases = (
        Phase("initial", shares("initial", INITIAL, slab, nz)),
        Phase("z", shares("z", FORWARD * line_log + iterations * (DECAY + BACK * line_log), lines, ny)),
        Phase("transposition", (Share(),) * ranks, transpositions if ranks > 1 else ()),
        Phase("planes", shares("planes", (FORWARD + iterations * BACK) * plane_log, slab, nz)),
        Phase("checksum", (Share(),) * ranks, (sums(iterations, 2, ranks),)),
    )
    official = n * (INITIAL + FORWARD * math.log(n) + (DECAY + BACK * math.log(n)) * iterations)
    return Program("ft", size, ranks, iterations, official, phases)


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


def is_program(size: str, ranks: int) -> Program:
    """The program of IS. Buckets are assumed to be divided evenly: each rank keeps its share of its own
    keys."""
    keys, _, buckets = IS_CLASSES[size]
    rank_keys = [length_of(keys, ranks, rank) for rank in range(ranks)]
    first = COUNTING + SORTING * sorts_keys(size, ranks)
    ranking = "ranks" if sorts_keys(size, ranks) == sorts_keys(size, 1) else "buckets"

    def shares(part: float, rate_phase: str) -> tuple[Share, ...]:
        return tuple(Share((Work(IS_ITERATIONS * part * each, rate_phase),)) for each in rank_keys)

    exchanges_sent = (
        Collective("alltoall", IS_ITERATIONS, (KEY * ranks,) * ranks),
        Collective(
            "alltoall", IS_ITERATIONS, tuple(KEY * (each - each // ranks) for each in rank_keys), own=False
        ),
    )
    counts = Collective("allreduce", IS_ITERATIONS, (COUNTER * buckets,) * ranks)
    phases = (
        Phase("buckets", shares(first, "buckets"), (counts,)),
        Phase("exchange", (Share(),) * ranks, exchanges_sent if ranks > 1 else ()),
        Phase("ranks", shares(1 - COUNTING - SORTING, ranking)),
    )
    return Program("is", size, ranks, IS_ITERATIONS, float(IS_ITERATIONS * keys), phases)
