# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated applications LU, BT and SP on a grid: its division into blocks or cells, the exchange of
ghost points, and sweeps that pass through the ranks.

LU divides the grid into columns of points. The two sweeps of each step pass through the ranks in chunks of
planes. BT and SP solve systems along lines: elimination passes through the ranks, and substitution passes
back. In a multi-partition, all ranks pass on the lines of one of their cells at the same time. Otherwise a
rank has one block, and passes its lines on in chunks."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hockney.models.programs.parts import StepsPart
from hockney.models.programs.patterns import wavefront_steps
from hockney.models.schedules.schedule import Layer, Mode, Step
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

Triple = tuple[int, int, int]
GHOST_LAYERS = 2
"""Number of layers of ghost points."""
COMPONENTS = 5
TYPICAL_RATE = 2e9
"""Operations per second."""
STARTUP_S = 2e-6
"""Time that a message takes from a rank, unless a case has a `startup`."""


@dataclass(frozen=True)
class Subgrid:
    """The block at `position` when the inner points of a grid are divided into `parts`. The grid has
    `points` points along each axis."""

    points: int
    parts: Triple
    position: Triple

    def bounds(self, axis: int) -> tuple[int, int]:
        """Returns the begin and the end of the inner points along an axis."""
        return part_bounds(self.points - 2, self.parts[axis], self.position[axis])

    def extent(self, axis: int) -> int:
        begin, end = self.bounds(axis)
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
    """The division of a grid's inner points into cells. The grid has `points` points along each axis. Each
    rank has one cell, with x fastest. In a multi-partition, each of q^2 ranks has q of q x q x q cells,
    one in each plane of cells."""

    points: int
    parts: Triple
    is_multi_partition: bool = False

    def rank_of(self, cell: Triple) -> int:
        x, y, z = cell
        side = self.parts[0]
        if self.is_multi_partition:
            return (x - z) % side + side * ((y + z) % side)
        return (z * self.parts[1] + y) * side + x

    def cells(self, rank: int) -> tuple[Subgrid, ...]:
        x_parts, y_parts, _ = self.parts
        positions: list[Triple] = [(rank % x_parts, rank // x_parts % y_parts, rank // x_parts // y_parts)]
        if self.is_multi_partition:
            i, j = rank % x_parts, rank // x_parts
            positions = [((i + k) % x_parts, (j - k) % x_parts, k) for k in range(x_parts)]
        return tuple(Subgrid(self.points, self.parts, position) for position in positions)

    def share(self, rank: int) -> float:
        """Returns a rank's share of the inner points."""
        return sum(cell.share for cell in self.cells(rank))

    def ghost_messages(self, rank: int) -> Iterator[tuple[int, int, int]]:
        """Yields the messages that a rank sends in an exchange of both layers, one to each target rank, as
        source, target and bytes."""
        sent_bytes: Counter[int] = Counter()
        for cell in self.cells(rank):
            for axis in range(3):
                begin, end = cell.bounds(axis)
                plane_bytes = DOUBLE_BYTES * COMPONENTS * math.prod(cell.size) // (end - begin)
                for part in range(self.parts[axis]):
                    if part == cell.position[axis]:
                        continue
                    target = self.rank_of(_replace_position(cell.position, axis, part))
                    part_begin, part_end = part_bounds(self.points - 2, self.parts[axis], part)
                    overlap = min(end, part_end + GHOST_LAYERS) - max(begin, part_begin - GHOST_LAYERS)
                    sent_bytes[target] += plane_bytes * max(0, overlap)
        return ((rank, target, size) for target, size in sent_bytes.items() if size)

    def right_hand_side(self, ranks: int, operations: float) -> Iterator[Activity]:
        """Yields the exchange of ghost points, then these operations, of all inner points."""
        messages = (message for rank in range(ranks) for message in self.ghost_messages(rank))
        yield from exchange("right-hand side", messages)
        yield work("right-hand side", (operations * self.share(rank) for rank in range(ranks)))


def _replace_position(position: Triple, axis: int, part: int) -> Triple:
    x, y, z = (part if k == axis else position[k] for k in range(3))
    return x, y, z


def points_per_startup(operations: float, rate: float, startup: float) -> float:
    """Returns the number of points, of `operations` each, that a sweep processes during a startup. The
    engine sizes the chunks of pipelines by it. A `rate` or `startup` of 0 selects the default."""
    return (startup or STARTUP_S) / (operations / (rate or TYPICAL_RATE))


LU_CLASSES = {"S": (12, 50), "W": (33, 300), "A": (64, 250), "B": (102, 250), "C": (162, 250), "tiny": (9, 5)}
"""Points along each axis, and time steps."""
LU_SWEEP, LU_RESIDUAL = 0.3, 0.4
"""Shares of a step's operations, estimated from measured times."""


def lu_program(
    size: str, ranks: int, *, planes: int = 0, rate: float = 0.0, startup: float = 0.0
) -> NpbProgram:
    """Returns the program of LU. `planes`, `rate` and `startup` are the engine's parameters of these
    names."""
    points, steps = LU_CLASSES[size]
    division_parts = _lu_parts(ranks, points)
    operations_per_step = 1984.77 * points**3 - 10923.3 * points**2 + 27770.9 * points - 144010
    startup_points = points_per_startup(
        LU_SWEEP * operations_per_step / float(points - 2) ** 3, rate, startup
    )
    division = Division(points, division_parts)
    chunks = _lu_chunk_count(points, division_parts, planes, startup_points) if ranks > 1 else 1
    activities = (
        _lu_sweep("lower sweep", division, ranks, LU_SWEEP * operations_per_step, chunks, 1),
        _lu_sweep("upper sweep", division, ranks, LU_SWEEP * operations_per_step, chunks, -1),
        *division.right_hand_side(ranks, LU_RESIDUAL * operations_per_step),
        *(global_sum("norms", COMPONENTS, ranks, share=1 / steps) for _ in range(2)),
    )
    phases = ("lower sweep", "upper sweep", "right-hand side", "norms")
    return NpbProgram("lu", size, ranks, steps, steps * operations_per_step, phases, activities)


def _lu_sweep(
    name: str, division: Division, ranks: int, operations: float, chunks: int, direction: int
) -> Activity:
    """Returns a sweep in `direction` of x and y, which passes on chunks of planes."""
    blocks = [division.cells(rank)[0] for rank in range(ranks)]
    planes = np.array([part_length(division.points - 2, chunks, chunk) for chunk in range(chunks)])[
        ::direction
    ]
    shares = np.array([block.share for block in blocks])
    depths, links = np.zeros(ranks, dtype=int), []
    for axis in range(2):
        positions = np.array([block.position[axis] for block in blocks])
        last_position = division.parts[axis] - 1
        depths += positions if direction == 1 else last_position - positions
        sources = np.flatnonzero(positions < last_position if direction == 1 else positions > 0)
        targets = sources + direction * (1 if axis == 0 else division.parts[0])
        border_bytes = np.array([DOUBLE_BYTES * COMPONENTS * block.extent(1 - axis) for block in blocks])
        links.append((sources, targets, border_bytes[sources, None] * planes))
    chunk_operations = operations * shares[:, None] * planes / planes.sum()
    steps = wavefront_steps(depths, chunk_operations, links, Mode.POSTED)
    return Activity(StepsPart(name, tuple(steps)))


def _lu_parts(ranks: int, points: int) -> Triple:
    """Returns the division of the columns, as square as possible, with more parts in y. Raises
    Indivisible."""
    columns = points - 2
    for rank_count in range(ranks, 0, -1):
        x = max(divisor for divisor in range(1, math.isqrt(rank_count) + 1) if rank_count % divisor == 0)
        if rank_count // x > columns:
            continue
        if rank_count == ranks:
            return x, ranks // x, 1
        raise Indivisible(ranks, rank_count)
    raise AssertionError("one rank has all columns")


def _lu_chunk_count(points: int, parts: Triple, planes: int, startup_points: float) -> int:
    inner_points = points - 2
    stages = parts[0] + parts[1] - 2
    planes_per_chunk = float(planes or inner_points)
    if stages and not planes:
        columns = inner_points * inner_points / (parts[0] * parts[1])
        planes_per_chunk = math.sqrt(inner_points * startup_points / (stages * columns))
    return max(1, min(inner_points, math.ceil(inner_points / planes_per_chunk)))


LINES_PER_BATCH = 8
"""Number of lines that are solved together."""
LINE_POINTS = 8.0
"""Transfer time of one line's bytes, as the number of points that a sweep processes meanwhile. The engine
chooses the division by it."""


@dataclass(frozen=True)
class Solver:
    """A line solver that passes on `depth` rows of `row_doubles` doubles of each line, and passes back
    `depth` rows of its solution.

    `residual_share` is the right-hand side's share of the operations, `sweep_share` that of each of the
    three sweeps. `elimination_share` is the share of a sweep before a line is passed on."""

    kernel: str
    depth: int
    row_doubles: int
    residual_share: float
    sweep_share: float
    elimination_share: float


def _solver_program(
    solver: Solver,
    size: str,
    ranks: int,
    points: int,
    steps: int,
    operations_per_step: float,
    rate: float,
    startup: float,
) -> NpbProgram:
    """Returns the program of a solver. `rate` and `startup` are the engine's parameters of these names."""
    startup_points = points_per_startup(
        solver.sweep_share * operations_per_step / float(points - 2) ** 3, rate, startup
    )
    division = divide(ranks, points, startup_points)

    def sweep_steps(axis: int) -> Iterator[Step]:
        if division.is_multi_partition:
            return _cell_sweep(solver, division, ranks, axis, solver.sweep_share * operations_per_step)
        return _block_sweep(
            solver, division, ranks, axis, solver.sweep_share * operations_per_step, startup_points
        )

    activities = (
        *division.right_hand_side(ranks, solver.residual_share * operations_per_step),
        *(Activity(StepsPart("xyz"[axis], tuple(sweep_steps(axis)))) for axis in range(3)),
    )
    phases = ("right-hand side", *"xyz")
    return NpbProgram(solver.kernel, size, ranks, steps, steps * operations_per_step, phases, activities)


@functools.cache
def divide(ranks: int, points: int, startup_points: float) -> Division:
    """Returns a multi-partition for a square number of ranks, otherwise the division into blocks with the
    lowest estimated time. Raises Indivisible."""
    root = math.isqrt(ranks)
    if 1 < root <= points - 2 and root**2 == ranks:
        return Division(points, (root, root, root), is_multi_partition=True)
    parts = min(
        _divisions(ranks, points),
        key=lambda parts: _estimate_step_time(parts, points, startup_points),
        default=None,
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


def _estimate_step_time(parts: Triple, points: int, startup_points: float) -> float:
    """Estimates the duration of a time step, in points that a sweep processes."""
    block_points = 1.0
    for count in parts:
        block_points *= math.ceil((points - 2) / count)
    time_in_points = 4 * block_points
    for count in parts:
        if count > 1:
            rows, chunks = (
                math.ceil((points - 2) / count),
                _best_chunk_count(count, block_points, startup_points),
            )
            time_in_points += (
                (count - 1) / chunks * block_points
                + 2 * chunks * startup_points
                + block_points / rows * LINE_POINTS
            )
    return time_in_points


def _best_chunk_count(parts: int, points: float, startup_points: float) -> float:
    return max(1.0, math.floor(math.sqrt((parts - 1) * points / (2 * startup_points)) + 0.5))


def _cell_sweep(
    solver: Solver, division: Division, ranks: int, axis: int, operations: float
) -> Iterator[Step]:
    """Yields the steps of a sweep in a multi-partition. Each rank eliminates in its cells one after the
    other and passes the lines on, then substitutes and passes the solutions back. In the last cells,
    substitution follows immediately."""
    stages = division.parts[axis]
    cells = [sorted(division.cells(rank), key=lambda cell: cell.position[axis]) for rank in range(ranks)]
    operation_counts = operations * np.array([[cell.share for cell in rank_cells] for rank_cells in cells])
    lines = np.array([[math.prod(cell.size) // cell.extent(axis) for cell in of_rank] for of_rank in cells])
    line_bytes = DOUBLE_BYTES * solver.depth * lines
    sources = np.arange(ranks)
    successors = np.array([_next_rank(division, of_rank[0], axis) for of_rank in cells])
    for stage in range(stages - 1):
        yield Step((), computed=solver.elimination_share * operation_counts[:, stage])
        yield Step((Layer(sources, successors, solver.row_doubles * line_bytes[:, stage]),), Mode.POSTED)
    yield Step((), computed=operation_counts[:, stages - 1])
    for stage in range(stages - 1, 0, -1):
        yield Step((Layer(successors, sources, COMPONENTS * line_bytes[successors, stage]),), Mode.POSTED)
        yield Step((), computed=(1 - solver.elimination_share) * operation_counts[:, stage - 1])


def _next_rank(division: Division, cell: Subgrid, axis: int) -> int:
    return division.rank_of(_replace_position(cell.position, axis, cell.position[axis] + 1))


def _block_sweep(
    solver: Solver, division: Division, ranks: int, axis: int, operations: float, startup_points: float
) -> Iterator[Step]:
    """Yields the steps of a sweep through blocks. Chunks of lines are passed on, and the last rank passes
    them back immediately. A solution is sent to a rank while it eliminates in a chunk, and the lines of
    the next chunk while it substitutes."""
    blocks = [division.cells(rank)[0] for rank in range(ranks)]
    last_position = division.parts[axis] - 1
    positions = np.array([block.position[axis] for block in blocks])
    lines_by_rank = [_chunk_line_counts(block, axis, startup_points) for block in blocks]
    chunks = max(map(len, lines_by_rank))
    line_counts = np.array([[*rank_lines, *[0] * (chunks - len(rank_lines))] for rank_lines in lines_by_rank])
    chunk_counts = np.array(list(map(len, lines_by_rank)))
    chunk_operations = operations * np.array([block.share for block in blocks])[:, None]
    chunk_operations = chunk_operations * line_counts / line_counts.sum(axis=1, keepdims=True)
    stride = math.prod(division.parts[:axis])
    rank_indices = np.arange(ranks)

    def active_chunks(chunk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns which ranks have this chunk, and the chunk of each rank, limited to the existing ones."""
        return (chunk >= 0) & (chunk < chunk_counts), np.clip(chunk, 0, chunks - 1)

    def message_layers(
        is_sending: np.ndarray, chunk: np.ndarray, offset: int, doubles: int
    ) -> tuple[Layer, ...]:
        sources = np.flatnonzero(is_sending)
        sizes = DOUBLE_BYTES * solver.depth * doubles * line_counts[sources, chunk[sources]]
        return (Layer(sources, sources + offset * stride, sizes),) if len(sources) else ()

    return_layers: tuple[Layer, ...] = ()
    for stage in range(2 * last_position + chunks):
        is_active, chunk = active_chunks(stage - positions)
        eliminated_share = np.where(positions == last_position, 1.0, solver.elimination_share)
        yield Step(
            return_layers,
            Mode.POSTED,
            computed=np.where(is_active, eliminated_share * chunk_operations[rank_indices, chunk], 0.0),
        )
        forward_layers = message_layers(is_active & (positions < last_position), chunk, 1, solver.row_doubles)
        is_returning, returning_chunk = active_chunks(stage - 2 * last_position + positions)
        is_returning &= positions < last_position
        substitution = np.where(
            is_returning,
            (1 - solver.elimination_share) * chunk_operations[rank_indices, returning_chunk],
            0.0,
        )
        yield Step(forward_layers, Mode.POSTED, computed=substitution)
        returning_chunk = np.where(positions == last_position, chunk, returning_chunk)
        return_layers = message_layers(
            np.where(positions == last_position, is_active, is_returning) & (positions > 0),
            returning_chunk,
            -1,
            COMPONENTS,
        )
    if return_layers:
        yield Step(return_layers, Mode.POSTED)


def _chunk_line_counts(block: Subgrid, axis: int, startup_points: float) -> list[int]:
    """Returns the number of lines in each chunk of a block."""
    batches = _LineBatches.from_block(block, axis)
    parts = block.parts[axis]
    if parts == 1:
        return [batches.line_count(0, batches.batch_count)]
    line_points = batches.line_count(0, batches.batch_count) * (block.points - 2) / parts
    chunks = int(min(batches.batch_count, _best_chunk_count(parts, line_points, startup_points)))
    return [batches.line_count(*part_bounds(batches.batch_count, chunks, chunk)) for chunk in range(chunks)]


@dataclass(frozen=True)
class _LineBatches:
    """A block's lines in batches: along x through all lines, otherwise within each row of `lines_per_row`."""

    batch_count: int
    lines_per_row: int
    batches_per_row: int

    @staticmethod
    def from_block(block: Subgrid, axis: int) -> _LineBatches:
        lines_per_row, rows = block.extent(1) * block.extent(2), 1
        if axis:
            lines_per_row, rows = block.extent(0), block.extent(3 - axis)
        batches_per_row = -(-lines_per_row // LINES_PER_BATCH)
        return _LineBatches(batches_per_row * rows, lines_per_row, batches_per_row)

    def line_count(self, begin: int, end: int) -> int:
        """Returns the number of lines in the batches begin to end - 1."""
        return self._lines_before(end) - self._lines_before(begin)

    def _lines_before(self, batch: int) -> int:
        rows, remaining_batches = divmod(batch, self.batches_per_row)
        return rows * self.lines_per_row + min(remaining_batches * LINES_PER_BATCH, self.lines_per_row)


BT_CLASSES = {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "tiny": (9, 5)}
"""Points along each axis, and time steps."""
BT = Solver("bt", depth=1, row_doubles=30, residual_share=0.28, sweep_share=0.24, elimination_share=0.86)


def bt_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> NpbProgram:
    """Returns the program of BT. `rate` and `startup` are the engine's parameters of these names."""
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
"""Points along each axis, and time steps."""
SP = Solver("sp", depth=2, row_doubles=11, residual_share=0.4, sweep_share=0.2, elimination_share=0.83)


def sp_program(size: str, ranks: int, *, rate: float = 0.0, startup: float = 0.0) -> NpbProgram:
    """Returns the program of SP. `rate` and `startup` are the engine's parameters of these names."""
    n, steps = SP_CLASSES[size]
    per_step = 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4
    return _solver_program(SP, size, ranks, n, steps, per_step, rate, startup)
