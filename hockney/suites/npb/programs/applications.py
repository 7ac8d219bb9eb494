# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated applications LU, BT and SP on a grid: its division into blocks or cells, the exchange of
ghost points, and sweeps that pass through the ranks.

LU has columns of points, with two sweeps in each step that pass through the ranks in chunks of planes. BT and
SP solve systems along lines, whose elimination passes through the ranks and whose substitution passes back.
In a multi-partition, all ranks pass the lines of one of their cells on at the same time; otherwise a rank has
one block, and passes its lines on in chunks.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hockney.models.programs.program import (
    DOUBLE,
    Exchange,
    Indivisible,
    Phase,
    Pipeline,
    Program,
    Share,
    Work,
    counted,
    length_of,
    part_of,
    sums,
)

Triple = tuple[int, int, int]
GHOST_LAYERS = 2
"""Layers of ghost points."""
COMPONENTS = 5
TYPICAL_RATE = 2e9
"""Operations a second."""
STARTUP_S = 2e-6
"""Cost of a message to a rank unless a case has a `startup`."""


@dataclass(frozen=True)
class Subgrid:
    """The block at `position` of `parts` of a grid of `points` points a side, whose inner points are
    divided."""

    points: int
    parts: Triple
    position: Triple

    def bounds(self, d: int) -> tuple[int, int]:
        """First and last inner point in a direction."""
        return part_of(self.points - 2, self.parts[d], self.position[d])

    def extent(self, d: int) -> int:
        begin, end = self.bounds(d)
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
    if it `is_multi_partition`, each of q^2 ranks has q of q x q x q, one in each plane of cells."""

    points: int
    parts: Triple
    is_multi_partition: bool = False

    def rank_of(self, cell: Triple) -> int:
        x, y, z = cell
        q = self.parts[0]
        if self.is_multi_partition:
            return (x - z) % q + q * ((y + z) % q)
        return (z * self.parts[1] + y) * q + x

    def cells(self, rank: int) -> tuple[Subgrid, ...]:
        across, along, _ = self.parts
        positions: list[Triple] = [(rank % across, rank // across % along, rank // across // along)]
        if self.is_multi_partition:
            i, j = rank % across, rank // across
            positions = [((i + k) % across, (j - k) % across, k) for k in range(across)]
        return tuple(Subgrid(self.points, self.parts, position) for position in positions)

    def share(self, rank: int) -> float:
        """A rank's share of the inner points."""
        return sum(cell.share for cell in self.cells(rank))

    def ghosts(self, rank: int, count: int) -> tuple[Exchange, ...]:
        """The exchange of both layers, `count` times, with one message to each rank."""
        sent: Counter[int] = Counter()
        received: Counter[int] = Counter()
        for cell in self.cells(rank):
            for d in range(3):
                begin, end = cell.bounds(d)
                plane = DOUBLE * COMPONENTS * math.prod(cell.size) // (end - begin)
                for part in range(self.parts[d]):
                    if part == cell.position[d]:
                        continue
                    other = self.rank_of(_replace(cell.position, d, part))
                    first, last = part_of(self.points - 2, self.parts[d], part)
                    sent[other] += plane * max(
                        0, min(end, last + GHOST_LAYERS) - max(begin, first - GHOST_LAYERS)
                    )
                    received[other] += plane * max(
                        0, min(last, end + GHOST_LAYERS) - max(first, begin - GHOST_LAYERS)
                    )
        messages = tuple(filter(None, sent.values())), tuple(filter(None, received.values()))
        return (Exchange(count, *messages),) if any(messages) else ()


def _replace(position: Triple, d: int, part: int) -> Triple:
    x, y, z = (part if k == d else position[k] for k in range(3))
    return x, y, z


def startup_points(operations: float, rate: float, startup: float) -> float:
    """The number of points, of `operations` each, that a sweep processes in `startup` seconds at `rate`
    operations per second (0: the default). The engine chooses the chunks of pipelines by it."""
    return (startup or STARTUP_S) / (operations / (rate or TYPICAL_RATE))


LU_CLASSES = {"S": (12, 50), "W": (33, 300), "A": (64, 250), "B": (102, 250), "C": (162, 250), "tiny": (9, 5)}
"""Points of a side, and time steps."""
LU_SWEEP, LU_RESIDUAL = 0.3, 0.4
"""Parts of a step's operations, by their times."""


def lu_program(size: str, ranks: int, *, planes: int = 0, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`planes`, `rate` and `startup` as in the engine's parameters of these names."""
    points, steps = LU_CLASSES[size]
    parts = _lu_parts(ranks, points)
    per_step = 1984.77 * points**3 - 10923.3 * points**2 + 27770.9 * points - 144010
    in_points = startup_points(LU_SWEEP * per_step / float(points - 2) ** 3, rate, startup)
    chunks = _lu_chunks(points, parts, planes, in_points)
    division = Division(points, parts)
    blocks = [block for rank in range(ranks) for block in division.cells(rank)]

    def sweep_share(name: str, block: Subgrid, step: int) -> Share:
        work = (Work(steps * LU_SWEEP * per_step * block.share, name),)
        if ranks == 1:
            return Share(work)
        ends = _lu_messages(block, chunks, -step), _lu_messages(block, chunks, step)
        stages = parts[0] + parts[1] - 2
        received, sent = (counted(each) for each in ends)
        return Share(work, pipeline=Pipeline(steps, stages, chunks, 1, sent, received))

    residual = tuple(
        Share(
            (Work(steps * LU_RESIDUAL * per_step * block.share, "right-hand side"),),
            division.ghosts(rank, steps),
        )
        for rank, block in enumerate(blocks)
    )
    phases = (
        Phase("lower sweep", tuple(sweep_share("lower sweep", block, 1) for block in blocks)),
        Phase("upper sweep", tuple(sweep_share("upper sweep", block, -1) for block in blocks)),
        Phase("right-hand side", residual),
        Phase("norms", (Share(),) * ranks, (sums(2, COMPONENTS, ranks),)),
    )
    return Program("lu", size, ranks, steps, steps * per_step, phases)


def _lu_parts(ranks: int, points: int) -> Triple:
    """The division of the columns, as square as possible, with more parts in y. Raises Indivisible."""
    columns = points - 2
    for usable in range(ranks, 0, -1):
        x = max(d for d in range(1, math.isqrt(usable) + 1) if usable % d == 0)
        if usable // x > columns:
            continue
        if usable == ranks:
            return x, ranks // x, 1
        raise Indivisible(ranks, usable)
    raise AssertionError("one rank has all columns")


def _lu_chunks(points: int, parts: Triple, planes: int, in_points: float) -> int:
    inner = points - 2
    stages = parts[0] + parts[1] - 2
    planes_per_chunk = float(planes or inner)
    if stages and not planes:
        columns = inner * inner / (parts[0] * parts[1])
        planes_per_chunk = math.sqrt(inner * in_points / (stages * columns))
    return max(1, min(inner, math.ceil(inner / planes_per_chunk)))


def _lu_messages(block: Subgrid, chunks: int, step: int) -> list[int]:
    """Bytes of the messages of a sweep at the end of x and of y that lies in this direction."""
    sizes = []
    for d in range(2):
        if 0 <= block.position[d] + step < block.parts[d]:
            border = DOUBLE * COMPONENTS * block.extent(1 - d)
            sizes += [border * length_of(block.points - 2, chunks, chunk) for chunk in range(chunks)]
    return sizes


LINES_PER_BATCH = 8
"""Lines that are solved together."""
LINE_POINTS = 8.0
"""The time of a message's bytes for one line, in points that a sweep processes; the engine chooses the
division by it."""


@dataclass(frozen=True)
class Solver:
    """`depth` rows of `row` doubles of each line are passed on, and as many of a solution back. `residual`
    and `sweep` are parts of the operations: of the right-hand side and of each of the three sweeps."""

    kernel: str
    depth: int
    row: int
    residual: float
    sweep: float


def _solver_program(
    solver: Solver,
    size: str,
    ranks: int,
    points: int,
    steps: int,
    per_step: float,
    rate: float,
    startup: float,
) -> Program:
    """`rate` and `startup` as in the engine's parameters of these names."""
    in_points = startup_points(solver.sweep * per_step / float(points - 2) ** 3, rate, startup)
    division = divide(ranks, points, in_points)
    total = steps * per_step

    def sweep_share(d: int, rank: int) -> Share:
        work = (Work(solver.sweep * total * division.share(rank), "xyz"[d]),)
        if division.is_multi_partition:
            return Share(work, tuple(_exchanges(solver, division.cells(rank), d, steps)))
        (block,) = division.cells(rank)
        return Share(work, pipeline=_pipeline(solver, block, d, steps, in_points))

    residual = tuple(
        Share(
            (Work(steps * solver.residual * per_step * division.share(rank), "right-hand side"),),
            division.ghosts(rank, steps),
        )
        for rank in range(ranks)
    )
    phases = (
        Phase("right-hand side", residual),
        *(Phase("xyz"[d], tuple(sweep_share(d, rank) for rank in range(ranks))) for d in range(3)),
    )
    return Program(solver.kernel, size, ranks, steps, total, phases)


@functools.cache
def divide(ranks: int, points: int, in_points: float) -> Division:
    """A multi-partition for a square number of ranks, otherwise the division into blocks with the least
    estimated time. Raises Indivisible."""
    root = math.isqrt(ranks)
    if 1 < root <= points - 2 and root**2 == ranks:
        return Division(points, (root, root, root), is_multi_partition=True)
    parts = min(
        _divisions(ranks, points), key=lambda parts: _estimate(parts, points, in_points), default=None
    )
    if parts is None:
        max_ranks = min(ranks - 1, (points - 2) ** 3)
        raise Indivisible(ranks, next(p for p in range(max_ranks, 0, -1) if any(_divisions(p, points))))
    return Division(points, parts)


def _divisions(ranks: int, points: int) -> Iterator[Triple]:
    for x in range(1, ranks + 1):
        for y in range(1, ranks // x + 1):
            if ranks % (x * y) == 0 and max(x, y, ranks // (x * y)) <= points - 2:
                yield x, y, ranks // (x * y)


def _estimate(parts: Triple, points: int, in_points: float) -> float:
    """The estimated time of a time step, in points that a sweep processes."""
    block = 1.0
    for count in parts:
        block *= math.ceil((points - 2) / count)
    time = 4 * block
    for count in parts:
        if count > 1:
            rows, chunks = math.ceil((points - 2) / count), _best_chunks(count, block, in_points)
            time += (count - 1) / chunks * block + 2 * chunks * in_points + block / rows * LINE_POINTS
    return time


def _best_chunks(parts: int, points: float, in_points: float) -> float:
    return max(1.0, math.floor(math.sqrt((parts - 1) * points / (2 * in_points)) + 0.5))


def _exchanges(solver: Solver, cells: Iterable[Subgrid], d: int, steps: int) -> Iterator[Exchange]:
    """The exchanges of a sweep: a rank passes the lines of each of its cells on while it receives the lines
    of its next cell, then the same backward."""
    by_stage = sorted(cells, key=lambda cell: cell.position[d])
    sizes = [DOUBLE * solver.depth * math.prod(cell.size) // cell.extent(d) for cell in by_stage]
    for size, next_size in itertools.pairwise(sizes):
        yield Exchange(steps, (size * solver.row,), (next_size * solver.row,))
    for size, next_size in itertools.pairwise(reversed(sizes)):
        yield Exchange(steps, (size * COMPONENTS,), (next_size * COMPONENTS,))


def _pipeline(solver: Solver, block: Subgrid, d: int, steps: int, in_points: float) -> Pipeline | None:
    parts = block.parts[d]
    if parts == 1:
        return None
    lines = _LineBatches.of(block, d)
    points = lines.count(0, lines.batches) * (block.points - 2) / parts
    chunks = int(min(lines.batches, _best_chunks(parts, points, in_points)))
    sizes = [
        DOUBLE * solver.depth * lines.count(*part_of(lines.batches, chunks, chunk)) for chunk in range(chunks)
    ]
    forward = [each * solver.row for each in sizes]
    backward = [each * COMPONENTS for each in sizes]
    is_first, is_last = block.position[d] == 0, block.position[d] == parts - 1
    return Pipeline(
        steps,
        parts - 1,
        chunks,
        2,
        sent=counted([*([] if is_last else forward), *([] if is_first else backward)]),
        received=counted([*([] if is_first else forward), *([] if is_last else backward)]),
    )


@dataclass(frozen=True)
class _LineBatches:
    """A block's lines in batches: along x through all of them, otherwise within each row of `across`."""

    batches: int
    across: int
    per_row: int

    @staticmethod
    def of(block: Subgrid, d: int) -> _LineBatches:
        across = block.extent(1 if d == 0 else 0)
        other_extent = block.extent(2 if d == 0 else 3 - d)
        if d == 0:
            return _LineBatches(
                -(-across * other_extent // LINES_PER_BATCH),
                across * other_extent,
                -(-across * other_extent // LINES_PER_BATCH),
            )
        per_row = -(-across // LINES_PER_BATCH)
        return _LineBatches(per_row * other_extent, across, per_row)

    def count(self, begin: int, end: int) -> int:
        """Lines of the batches begin to end - 1."""
        return self._lines_before(end) - self._lines_before(begin)

    def _lines_before(self, batch: int) -> int:
        rows, rest = divmod(batch, self.per_row)
        return rows * self.across + min(rest * LINES_PER_BATCH, self.across)


BT_CLASSES = {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "tiny": (9, 5)}
"""Points of a side, and time steps."""
BT = Solver("bt", depth=1, row=30, residual=0.28, sweep=0.24)


def bt_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`rate` and `startup` as in the engine's parameters of these names."""
    n, steps = BT_CLASSES[size]
    per_step = 3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n
    return _solver_program(BT, size, ranks, n, steps, per_step, rate, startup)


SP_CLASSES = {
    "S": (12, 100),
    "W": (36, 400),
    "A": (64, 400),
    "B": (102, 400),
    "C": (162, 400),
    "tiny": (9, 5),
}
"""Points of a side, and time steps."""
SP = Solver("sp", depth=2, row=11, residual=0.4, sweep=0.2)


def sp_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`rate` and `startup` as in the engine's parameters of these names."""
    n, steps = SP_CLASSES[size]
    per_step = 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4
    return _solver_program(SP, size, ranks, n, steps, per_step, rate, startup)
