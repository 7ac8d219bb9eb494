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
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hockney.models.programs.parts import StepsPart
from hockney.models.programs.patterns import wavefront
from hockney.models.schedules.schedule import Layer, Mode, Step
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

    def ghosts(self, rank: int) -> Iterator[tuple[int, int, int]]:
        """The messages that a rank sends in an exchange of both layers, one to each rank, by source, target
        and bytes."""
        sent: Counter[int] = Counter()
        for cell in self.cells(rank):
            for d in range(3):
                begin, end = cell.bounds(d)
                plane = DOUBLE * COMPONENTS * math.prod(cell.size) // (end - begin)
                for part in range(self.parts[d]):
                    if part == cell.position[d]:
                        continue
                    other = self.rank_of(_replace(cell.position, d, part))
                    first, last = part_of(self.points - 2, self.parts[d], part)
                    shared = min(end, last + GHOST_LAYERS) - max(begin, first - GHOST_LAYERS)
                    sent[other] += plane * max(0, shared)
        return ((rank, other, size) for other, size in sent.items() if size)

    def right_hand_side(self, ranks: int, operations: float) -> Iterator[Activity]:
        """The exchange of ghost points, then these operations, of all inner points."""
        messages = (message for rank in range(ranks) for message in self.ghosts(rank))
        yield from exchange("right-hand side", messages)
        yield work("right-hand side", (operations * self.share(rank) for rank in range(ranks)))


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


def lu_program(
    size: str, ranks: int, *, planes: int = 0, rate: float = 0.0, startup: float = 0.0
) -> NpbProgram:
    """`planes`, `rate` and `startup` as in the engine's parameters of these names."""
    points, steps = LU_CLASSES[size]
    parts = _lu_parts(ranks, points)
    per_step = 1984.77 * points**3 - 10923.3 * points**2 + 27770.9 * points - 144010
    in_points = startup_points(LU_SWEEP * per_step / float(points - 2) ** 3, rate, startup)
    division = Division(points, parts)
    chunks = _lu_chunks(points, parts, planes, in_points) if ranks > 1 else 1
    activities = (
        _lu_sweep("lower sweep", division, ranks, LU_SWEEP * per_step, chunks, 1),
        _lu_sweep("upper sweep", division, ranks, LU_SWEEP * per_step, chunks, -1),
        *division.right_hand_side(ranks, LU_RESIDUAL * per_step),
        *(sums("norms", COMPONENTS, ranks, share=1 / steps) for _ in range(2)),
    )
    phases = ("lower sweep", "upper sweep", "right-hand side", "norms")
    return NpbProgram("lu", size, ranks, steps, steps * per_step, phases, activities)


def _lu_sweep(
    name: str, division: Division, ranks: int, operations: float, chunks: int, direction: int
) -> Activity:
    """A sweep in `direction` of x and y, which passes chunks of planes on."""
    blocks = [division.cells(rank)[0] for rank in range(ranks)]
    planes = np.array([length_of(division.points - 2, chunks, chunk) for chunk in range(chunks)])[::direction]
    shares = np.array([block.share for block in blocks])
    depth, links = np.zeros(ranks, dtype=int), []
    for d in range(2):
        at = np.array([block.position[d] for block in blocks])
        last = division.parts[d] - 1
        depth += at if direction == 1 else last - at
        source = np.flatnonzero(at < last if direction == 1 else at > 0)
        target = source + direction * (1 if d == 0 else division.parts[0])
        border = np.array([DOUBLE * COMPONENTS * block.extent(1 - d) for block in blocks])
        links.append((source, target, border[source, None] * planes))
    computed = operations * shares[:, None] * planes / planes.sum()
    steps = wavefront(depth, computed, links, Mode.POSTED)
    return Activity(StepsPart(name, tuple(steps)))


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


LINES_PER_BATCH = 8
"""Lines that are solved together."""
LINE_POINTS = 8.0
"""The time of a message's bytes for one line, in points that a sweep processes; the engine chooses the
division by it."""


@dataclass(frozen=True)
class Solver:
    """`depth` rows of `row` doubles of each line are passed on, and as many of a solution back. `residual`
    and `sweep` are parts of the operations: of the right-hand side and of each of the three sweeps, in which
    `elimination` is the part before a line is passed on."""

    kernel: str
    depth: int
    row: int
    residual: float
    sweep: float
    elimination: float


def _solver_program(
    solver: Solver,
    size: str,
    ranks: int,
    points: int,
    steps: int,
    per_step: float,
    rate: float,
    startup: float,
) -> NpbProgram:
    """`rate` and `startup` as in the engine's parameters of these names."""
    in_points = startup_points(solver.sweep * per_step / float(points - 2) ** 3, rate, startup)
    division = divide(ranks, points, in_points)

    def swept(d: int) -> Iterator[Step]:
        if division.is_multi_partition:
            return _through_cells(solver, division, ranks, d, solver.sweep * per_step)
        return _through_blocks(solver, division, ranks, d, solver.sweep * per_step, in_points)

    activities = (
        *division.right_hand_side(ranks, solver.residual * per_step),
        *(Activity(StepsPart("xyz"[d], tuple(swept(d)))) for d in range(3)),
    )
    phases = ("right-hand side", *"xyz")
    return NpbProgram(solver.kernel, size, ranks, steps, steps * per_step, phases, activities)


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


def _through_cells(
    solver: Solver, division: Division, ranks: int, d: int, operations: float
) -> Iterator[Step]:
    """A sweep in a multi-partition: each rank eliminates in one of its cells after the other and passes the
    lines on, then substitutes and passes them back. In the last cells, substitution follows at once."""
    stages = division.parts[d]
    cells = [sorted(division.cells(rank), key=lambda cell: cell.position[d]) for rank in range(ranks)]
    computed = operations * np.array([[cell.share for cell in of_rank] for of_rank in cells])
    lines = np.array([[math.prod(cell.size) // cell.extent(d) for cell in of_rank] for of_rank in cells])
    bytes_ = DOUBLE * solver.depth * lines
    source = np.arange(ranks)
    following = np.array([_following(division, of_rank[0], d) for of_rank in cells])
    for stage in range(stages - 1):
        yield Step((), computed=solver.elimination * computed[:, stage])
        yield Step((Layer(source, following, solver.row * bytes_[:, stage]),), Mode.POSTED)
    yield Step((), computed=computed[:, stages - 1])
    for stage in range(stages - 1, 0, -1):
        yield Step((Layer(following, source, COMPONENTS * bytes_[following, stage]),), Mode.POSTED)
        yield Step((), computed=(1 - solver.elimination) * computed[:, stage - 1])


def _following(division: Division, cell: Subgrid, d: int) -> int:
    return division.rank_of(_replace(cell.position, d, cell.position[d] + 1))


def _through_blocks(
    solver: Solver, division: Division, ranks: int, d: int, operations: float, in_points: float
) -> Iterator[Step]:
    """A sweep through blocks: chunks of the lines are passed on, and back from the last rank at once. While
    a rank eliminates in a chunk, a solution is on its way to it, and while it substitutes, the lines of the
    next chunk."""
    blocks = [division.cells(rank)[0] for rank in range(ranks)]
    last = division.parts[d] - 1
    at = np.array([block.position[d] for block in blocks])
    lines = [_chunk_lines(block, d, in_points) for block in blocks]
    chunks = max(map(len, lines))
    counts = np.array([[*each, *[0] * (chunks - len(each))] for each in lines])
    number = np.array(list(map(len, lines)))
    computed = operations * np.array([block.share for block in blocks])[:, None]
    computed = computed * counts / counts.sum(axis=1, keepdims=True)
    stride = math.prod(division.parts[:d])
    everyone = np.arange(ranks)

    def active(chunk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ranks whose chunk exists, and the chunk of each rank, limited to those that exist."""
        return (chunk >= 0) & (chunk < number), np.clip(chunk, 0, chunks - 1)

    def passed(sends: np.ndarray, chunk: np.ndarray, step: int, numbers: int) -> tuple[Layer, ...]:
        source = np.flatnonzero(sends)
        size = DOUBLE * solver.depth * numbers * counts[source, chunk[source]]
        return (Layer(source, source + step * stride, size),) if len(source) else ()

    back: tuple[Layer, ...] = ()
    for time in range(2 * last + chunks):
        here, chunk = active(time - at)
        share = np.where(at == last, 1.0, solver.elimination)
        yield Step(back, Mode.POSTED, computed=np.where(here, share * computed[everyone, chunk], 0.0))
        forward = passed(here & (at < last), chunk, 1, solver.row)
        returned, solved = active(time - 2 * last + at)
        returned &= at < last
        substituted = np.where(returned, (1 - solver.elimination) * computed[everyone, solved], 0.0)
        yield Step(forward, Mode.POSTED, computed=substituted)
        solved = np.where(at == last, chunk, solved)
        back = passed(np.where(at == last, here, returned) & (at > 0), solved, -1, COMPONENTS)
    if back:
        yield Step(back, Mode.POSTED)


def _chunk_lines(block: Subgrid, d: int, in_points: float) -> list[int]:
    """The number of lines in each chunk of a block."""
    lines = _LineBatches.of(block, d)
    parts = block.parts[d]
    if parts == 1:
        return [lines.count(0, lines.batches)]
    points = lines.count(0, lines.batches) * (block.points - 2) / parts
    chunks = int(min(lines.batches, _best_chunks(parts, points, in_points)))
    return [lines.count(*part_of(lines.batches, chunks, chunk)) for chunk in range(chunks)]


@dataclass(frozen=True)
class _LineBatches:
    """A block's lines in batches: along x through all of them, otherwise within each row of `across`."""

    batches: int
    across: int
    per_row: int

    @staticmethod
    def of(block: Subgrid, d: int) -> _LineBatches:
        across, rows = block.extent(1) * block.extent(2), 1
        if d:
            across, rows = block.extent(0), block.extent(3 - d)
        per_row = -(-across // LINES_PER_BATCH)
        return _LineBatches(per_row * rows, across, per_row)

    def count(self, begin: int, end: int) -> int:
        """Lines of the batches begin to end - 1."""
        return self._lines_before(end) - self._lines_before(begin)

    def _lines_before(self, batch: int) -> int:
        rows, rest = divmod(batch, self.per_row)
        return rows * self.across + min(rest * LINES_PER_BATCH, self.across)


BT_CLASSES = {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "tiny": (9, 5)}
"""Points of a side, and time steps."""
BT = Solver("bt", depth=1, row=30, residual=0.28, sweep=0.24, elimination=0.86)


def bt_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> NpbProgram:
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
SP = Solver("sp", depth=2, row=11, residual=0.4, sweep=0.2, elimination=0.83)


def sp_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> NpbProgram:
    """`rate` and `startup` as in the engine's parameters of these names."""
    n, steps = SP_CLASSES[size]
    per_step = 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4
    return _solver_program(SP, size, ranks, n, steps, per_step, rate, startup)
