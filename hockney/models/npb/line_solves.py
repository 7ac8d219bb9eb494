# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What BT and SP have in common: blocks in three directions, and systems along lines, whose elimination
passes through the ranks in chunks of lines and whose substitution passes back."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from hockney.models.npb.flow import COMPONENTS, Subgrid, Triple, subgrids
from hockney.models.npb.program import (
    DOUBLE,
    Indivisible,
    Phase,
    Pipeline,
    Program,
    Share,
    Work,
    counted,
    part_of,
)

TOGETHER = 8
"""Lines that are solved together."""
STARTUP_POINTS, LINE_POINTS = 100.0, 8.0
"""For which the engine chooses the division and the number of chunks: the times of a message's startup, and
of its bytes for one line, in points that a sweep processes."""


@dataclass(frozen=True)
class Solver:
    """`depth` rows of `row` doubles of each line are passed on, and as many of a solution back. `residual`
    and `sweep` are parts of the operations: of the right-hand side and of each of the three sweeps."""

    kernel: str
    depth: int
    row: int
    residual: float
    sweep: float


def program(solver: Solver, size: str, ranks: int, points: int, steps: int, per_step: float) -> Program:
    blocks = list(subgrids(points, divide(ranks, points)))
    total = steps * per_step

    def swept(d: int, block: Subgrid) -> Share:
        work = (Work(solver.sweep * total * block.share, "xyz"[d]),)
        return Share(work, pipeline=_pipeline(solver, block, d, steps))

    residual = tuple(
        Share(
            (Work(steps * solver.residual * per_step * block.share, "right-hand side"),), block.ghosts(steps)
        )
        for block in blocks
    )
    phases = (
        Phase("right-hand side", residual),
        *(Phase("xyz"[d], tuple(swept(d, block) for block in blocks)) for d in range(3)),
    )
    return Program(solver.kernel, size, ranks, steps, total, phases)


@functools.cache
def divide(ranks: int, points: int) -> Triple:
    """The division with the least estimated time. Raises Indivisible."""
    found = min(_divisions(ranks, points), key=lambda parts: _estimate(parts, points), default=None)
    if found is None:
        fewer = min(ranks - 1, (points - 2) ** 3)
        raise Indivisible(ranks, next(p for p in range(fewer, 0, -1) if any(_divisions(p, points))))
    return found


def _divisions(ranks: int, points: int) -> Iterator[Triple]:
    for x in range(1, ranks + 1):
        for y in range(1, ranks // x + 1):
            if ranks % (x * y) == 0 and max(x, y, ranks // (x * y)) <= points - 2:
                yield x, y, ranks // (x * y)


def _estimate(parts: Triple, points: int) -> float:
    """Of a time step, in points that a sweep processes."""
    block = 1.0
    for count in parts:
        block *= math.ceil((points - 2) / count)
    time = 4 * block
    for count in parts:
        if count > 1:
            rows, chunks = math.ceil((points - 2) / count), _best_chunks(count, block)
            time += (count - 1) / chunks * block + 2 * chunks * STARTUP_POINTS + block / rows * LINE_POINTS
    return time


def _best_chunks(parts: int, points: float) -> float:
    return max(1.0, math.floor(math.sqrt((parts - 1) * points / STARTUP_POINTS) + 0.5))


def _pipeline(solver: Solver, block: Subgrid, d: int, steps: int) -> Pipeline | None:
    parts = block.parts[d]
    if parts == 1:
        return None
    lines = _Lines.of(block, d)
    points = lines.count(0, lines.batches) * (block.points - 2) / parts
    chunks = min(lines.batches, int(_best_chunks(parts, points)))
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
