# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LU: columns of points, with two sweeps in each step that pass through the ranks in chunks of planes."""

from __future__ import annotations

import math

from hockney.models.programs.program import (
    DOUBLE,
    Indivisible,
    Phase,
    Pipeline,
    Program,
    Share,
    Work,
    counted,
    length_of,
    sums,
)
from hockney.suites.npb.programs.flow import COMPONENTS, Division, Subgrid, Triple, startup_points

SIZES = {"S": (12, 50), "W": (33, 300), "A": (64, 250), "B": (102, 250), "C": (162, 250), "tiny": (9, 5)}
"""Points of a side, and time steps."""
SWEEP, RESIDUAL = 0.3, 0.4
"""Parts of a step's operations, by their times."""


def program(size: str, ranks: int, *, planes: int = 0, rate: float = 0.0, startup: float = 0.0) -> Program:
    """`planes`, `rate` and `startup` as in the engine's parameters of these names."""
    points, steps = SIZES[size]
    parts = _parts(ranks, points)
    per_step = 1984.77 * points**3 - 10923.3 * points**2 + 27770.9 * points - 144010
    in_points = startup_points(SWEEP * per_step / float(points - 2) ** 3, rate, startup)
    chunks = _chunks(points, parts, planes, in_points)
    division = Division(points, parts)
    blocks = [block for rank in range(ranks) for block in division.cells(rank)]

    def sweep(name: str, block: Subgrid, step: int) -> Share:
        work = (Work(steps * SWEEP * per_step * block.share, name),)
        if ranks == 1:
            return Share(work)
        ends = _messages(block, chunks, -step), _messages(block, chunks, step)
        stages = parts[0] + parts[1] - 2
        received, sent = (counted(each) for each in ends)
        return Share(work, pipeline=Pipeline(steps, stages, chunks, 1, sent, received))

    residual = tuple(
        Share(
            (Work(steps * RESIDUAL * per_step * block.share, "right-hand side"),),
            division.ghosts(rank, steps),
        )
        for rank, block in enumerate(blocks)
    )
    phases = (
        Phase("lower sweep", tuple(sweep("lower sweep", block, 1) for block in blocks)),
        Phase("upper sweep", tuple(sweep("upper sweep", block, -1) for block in blocks)),
        Phase("right-hand side", residual),
        Phase("norms", (Share(),) * ranks, (sums(2, COMPONENTS, ranks),)),
    )
    return Program("lu", size, ranks, steps, steps * per_step, phases)


def _parts(ranks: int, points: int) -> Triple:
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


def _chunks(points: int, parts: Triple, planes: int, in_points: float) -> int:
    inner = points - 2
    before = parts[0] + parts[1] - 2
    chosen = float(planes or inner)
    if before and not planes:
        own = inner * inner / (parts[0] * parts[1])
        chosen = math.sqrt(inner * in_points / (before * own))
    return max(1, min(inner, math.ceil(inner / chosen)))


def _messages(block: Subgrid, chunks: int, step: int) -> list[int]:
    """Bytes of the messages of a sweep at the end of x and of y that lies in this direction."""
    sizes = []
    for d in range(2):
        if 0 <= block.place[d] + step < block.parts[d]:
            border = DOUBLE * COMPONENTS * block.extent(1 - d)
            sizes += [border * length_of(block.points - 2, chunks, chunk) for chunk in range(chunks)]
    return sizes
