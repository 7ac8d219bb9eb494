# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What BT and SP have in common: systems along lines, whose elimination passes through the ranks and whose
substitution passes back. In a multi-partition, all ranks pass the lines of one of their cells on at the same
time; otherwise a rank has one block, and passes its lines on in chunks."""

from __future__ import annotations

import functools
import itertools
import math
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
    part_of,
)
from hockney.suites.npb.programs.flow import COMPONENTS, Division, Subgrid, Triple, startup_points

TOGETHER = 8
"""Lines that are solved together."""
LINE_POINTS = 8.0
"""For which the engine chooses the division: the time of a message's bytes for one line, in points that a
sweep processes."""


@dataclass(frozen=True)
class Solver:
    """`depth` rows of `row` doubles of each line are passed on, and as many of a solution back. `residual`
    and `sweep` are parts of the operations: of the right-hand side and of each of the three sweeps."""

    kernel: str
    depth: int
    row: int
    residual: float
    sweep: float


def program(
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

    def swept(d: int, rank: int) -> Share:
        work = (Work(solver.sweep * total * division.share(rank), "xyz"[d]),)
        if division.multiple:
            return Share(work, tuple(_stages(solver, division.cells(rank), d, steps)))
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
        *(Phase("xyz"[d], tuple(swept(d, rank) for rank in range(ranks))) for d in range(3)),
    )
    return Program(solver.kernel, size, ranks, steps, total, phases)


@functools.cache
def divide(ranks: int, points: int, in_points: float) -> Division:
    """A multi-partition for a square number of ranks, otherwise the division into blocks with the least
    estimated time. Raises Indivisible."""
    root = math.isqrt(ranks)
    if 1 < root <= points - 2 and root**2 == ranks:
        return Division(points, (root, root, root), multiple=True)
    found = min(
        _divisions(ranks, points), key=lambda parts: _estimate(parts, points, in_points), default=None
    )
    if found is None:
        fewer = min(ranks - 1, (points - 2) ** 3)
        raise Indivisible(ranks, next(p for p in range(fewer, 0, -1) if any(_divisions(p, points))))
    return Division(points, found)


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


def _stages(solver: Solver, cells: Iterable[Subgrid], d: int, steps: int) -> Iterator[Exchange]:
    """A rank passes the lines of each of its cells on, and gets those of the next one, then back."""
    by_stage = sorted(cells, key=lambda cell: cell.place[d])
    passed = [DOUBLE * solver.depth * math.prod(cell.size) // cell.extent(d) for cell in by_stage]
    for here, following in itertools.pairwise(passed):
        yield Exchange(steps, (here * solver.row,), (following * solver.row,))
    for here, before in itertools.pairwise(reversed(passed)):
        yield Exchange(steps, (here * COMPONENTS,), (before * COMPONENTS,))


def _pipeline(solver: Solver, block: Subgrid, d: int, steps: int, in_points: float) -> Pipeline | None:
    parts = block.parts[d]
    if parts == 1:
        return None
    lines = _Lines.of(block, d)
    points = lines.count(0, lines.batches) * (block.points - 2) / parts
    chunks = int(min(lines.batches, _best_chunks(parts, points, in_points)))
    passed = [
        DOUBLE * solver.depth * lines.count(*part_of(lines.batches, chunks, chunk)) for chunk in range(chunks)
    ]
    on = [each * solver.row for each in passed]
    back = [each * COMPONENTS for each in passed]
    first, last = block.place[d] == 0, block.place[d] == parts - 1
    return Pipeline(
        steps,
        parts - 1,
        chunks,
        2,
        sent=counted([*([] if last else on), *([] if first else back)]),
        received=counted([*([] if first else on), *([] if last else back)]),
    )


@dataclass(frozen=True)
class _Lines:
    """A block's lines in batches: along x through all of them, otherwise within each row of `across`."""

    batches: int
    across: int
    per_row: int

    @staticmethod
    def of(block: Subgrid, d: int) -> _Lines:
        across = block.extent(1 if d == 0 else 0)
        others = block.extent(2 if d == 0 else 3 - d)
        if d == 0:
            return _Lines(-(-across * others // TOGETHER), across * others, -(-across * others // TOGETHER))
        per_row = -(-across // TOGETHER)
        return _Lines(per_row * others, across, per_row)

    def count(self, begin: int, end: int) -> int:
        """Lines of the batches begin to end - 1."""
        return self._before(end) - self._before(begin)

    def _before(self, batch: int) -> int:
        rows, rest = divmod(batch, self.per_row)
        return rows * self.across + min(rest * TOGETHER, self.across)
