# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the paper's tables of 8 B, 1 KB and 1 MB, the fastest
algorithms, and all times."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hockney.core.case import MPI
from hockney.core.fit import Estimate, Fit, FittedSegment
from hockney.core.units import format_significant
from hockney.draw.page import Table
from hockney.models.statistics import UNDECIDED_VERDICTS
from hockney.pages.columns import (
    BANDWIDTH_FORMAT,
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SIZE_FORMAT,
    Column,
    columns_table,
    unit_format,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity, rate_from_time, with_interval
from hockney.studies.collectives.results import (
    MESSAGE_FORMULA,
    PAPER,
    PRINTED_SIZES,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    EagerLimit,
    block_bytes,
    definition,
    definition_source,
    is_t3e,
    mpi_name,
    printed_times,
)


def paper_tables(run: CollectiveResults) -> Iterator[Table]:
    """Operations x ranks, for each of the paper's sizes that was measured: MPI's time, its aggregated
    bandwidth, and on the T3E the printed time."""
    with_printed = is_t3e(run.evidence.machine)
    caption = f"MPI's own algorithms. Printed: {PAPER.citation}; loops of calls." if with_printed else ""
    for size_text, (_, size) in PRINTED_SIZES.items():
        columns: list[Column[str]] = [Column("operation", mpi_name)]
        for ranks in run.ranks:
            columns += _paper_columns(run, size, ranks, with_printed)
        table = columns_table(f"papers-{size}", f"Buffers of {size_text}", columns, run.operations, caption)
        if any(any(row[1:]) for row in table.rows):
            yield table


def _paper_columns(run: CollectiveResults, size: int, ranks: int, with_printed: bool) -> list[Column[str]]:
    def point(operation: str) -> CollectivePoint | None:
        block = block_bytes(operation, size, ranks)
        return next((p for p in run.points_on_ranks(ranks, operation) if p.block == block), None)

    def time(operation: str) -> Estimate | None:
        return None if (p := point(operation)) is None else p.time(MPI)

    def rate(operation: str) -> Estimate | None:
        return None if (p := point(operation)) is None else p.bandwidth(MPI)

    columns = [Column(f"P = {ranks}", time, SECONDS_FORMAT), Column("bandwidth", rate, BANDWIDTH_FORMAT)]
    if with_printed:
        columns.append(
            Column("printed", lambda operation: printed_times(operation, ranks).get(size), SECONDS_FORMAT)
        )
    return columns


def fastest_table(run: CollectiveResults, ranks: int) -> Table | None:
    """The table of the fastest algorithms: MPI's own if no user-level one is faster, "?" if that is
    undecided."""
    points = run.points_on_ranks(ranks)
    sizes = sorted({run.column_size(p) for p in points if p.ratio is not None})
    if not sizes:
        return None
    rows = []
    for operation in run.operations:
        by_size = {run.column_size(p): p for p in points if p.operation == operation}
        rows.append((mpi_name(operation), *(_fastest_cell(by_size.get(size)) for size in sizes)))
    columns = ("operation", *(quantity(size, "B") for size in sizes))
    return Table(
        f"fastest-{ranks}",
        f"Fastest algorithm on {ranks} ranks, and MPI's time relative to it",
        columns,
        tuple(rows),
        caption="MPI: no user-level algorithm is faster by 5%. ?: undecided, because the interval of this "
        "ratio does not show whether the times differ by 5%, or because there is none. Blocks have 0 B "
        "where the smallest buffer has fewer doubles than there are ranks.",
    )


def _fastest_cell(point: CollectivePoint | None) -> str:
    if point is None or point.ratio is None:
        return ""
    if point.verdict in UNDECIDED_VERDICTS:
        return f"? {point.best} {point.ratio.value:.2f}"
    return f"{point.best} {point.ratio.value:.2f}" if point.verdict == "slower" else "MPI"


def comparison_table(run: CollectiveResults) -> Table:
    """Every case: MPI's time, the best user-level algorithm and the ratio."""
    columns: tuple[Column[CollectivePoint], ...] = (
        Column("operation", lambda p: p.name),
        Column("ranks", lambda p: p.ranks, COUNT_FORMAT),
        Column("buffer", lambda p: p.buffer, SIZE_FORMAT),
        Column("MPI", lambda p: p.time(MPI), SECONDS_FORMAT),
        Column("best user-level", lambda p: p.best),
        Column("time", lambda p: p.time(p.best), SECONDS_FORMAT),
        Column(
            "ratio",
            lambda p: p.ratio,
            replace(RATIO_FORMAT, interval=unit_format("").interval),
            interval=INTERVAL_HEADING,
        ),
        Column("MPI is", lambda p: p.verdict if p.ratio is not None else None),
    )
    return columns_table("compared", "MPI and the best user-level algorithm", columns, run.points)


def all_times_table(run: CollectiveResults) -> Table:
    """The times of all algorithms."""
    columns: tuple[Column[tuple[CollectivePoint, str]], ...] = (
        Column("operation", lambda row: row[0].name),
        Column("algorithm", lambda row: row[1]),
        Column("ranks", lambda row: row[0].ranks, COUNT_FORMAT),
        Column("buffer", lambda row: row[0].buffer, SIZE_FORMAT),
        Column("typical", lambda row: row[0].time(row[1]), SECONDS_FORMAT, interval=INTERVAL_HEADING),
        Column("aggregated bandwidth", lambda row: row[0].bandwidth(row[1]), BANDWIDTH_FORMAT),
    )
    rows = ((p, name) for p in run.points for name in p.times)
    return columns_table("collectives", "All algorithms", columns, rows)


def definitions_table(run: CollectiveResults) -> Table:
    """The meaning of the buffer, and of the aggregated bandwidth."""
    columns: tuple[Column[str], ...] = (
        Column("operation", mpi_name),
        Column("buffer", lambda operation: definition(operation).buffer),
        Column("aggregated bandwidth", lambda operation: definition(operation).rule),
        Column("defined by", definition_source),
    )
    return columns_table("buffers", "Buffers and bandwidth", columns, run.operations, PAPER.citation)


def summary(evidence: Evidence) -> Sequence[Table]:
    """The table on a terminal."""
    run = CollectiveResults.of(evidence)
    table = fastest_table(run, run.default_ranks)
    return () if table is None else (table,)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every comparison with MPI's own algorithm, the number of comparisons by verdict, and every eager limit.
    Times are in seconds, sizes in bytes; null is an unknown bound of an interval."""
    effect = EagerEffect.of(evidence)
    points = CollectiveResults.of(evidence).points
    return {
        "collectives": [_point_document(point) for point in points],
        "counts": dict(Counter(point.verdict for point in points if point.ratio is not None)),
        "eager_limits": [
            {
                "limit_bytes": limit.limit,
                "setting": limit.setting,
                **_ratio_document(limit.mean),
                "verdict": effect.verdict(limit),
                "by_size": [
                    {"bytes": size, **_ratio_document(value), "verdict": effect.verdict(limit, size)}
                    for size, value in limit.by_size.items()
                ],
            }
            for limit in effect.limits
        ],
        "best_eager_limit_bytes": None if effect.best is None else effect.best.limit,
    }


def _point_document(point: CollectivePoint) -> dict[str, Any]:
    rate = point.bandwidth(MPI)
    return {
        "operation": point.operation,
        "ranks": point.ranks,
        "block_bytes": point.block,
        "buffer_bytes": point.buffer,
        "mpi_s": None if (time := point.time(MPI)) is None else time.value,
        "mpi_aggregated_bytes_per_s": None if rate is None else rate.value,
        "best": point.best or None,
        "best_s": None if (time := point.time(point.best)) is None else time.value,
        **_ratio_document(point.ratio),
        "mpi_is": point.verdict,
    }


def _ratio_document(value: Estimate | None) -> dict[str, float | None]:
    if value is None:
        return {"ratio": None, "ratio_low": None, "ratio_high": None}
    return {"ratio": value.value, "ratio_low": value.low, "ratio_high": value.high}


def eager_limits_table(effect: EagerEffect) -> Table:
    sizes = sorted({size for limit in effect.limits for size in limit.by_size})
    rows = tuple(
        (quantity(size, "B"), *(_limit_cell(effect, limit, size) for limit in effect.limits))
        for size in sizes
    )
    last_row = ("all, mean", *(_limit_cell(effect, limit) for limit in effect.limits))
    columns = ("message", *(quantity(limit.limit, "B") for limit in effect.limits))
    return Table(
        "eager",
        "Time relative to that with MPI's own limit",
        columns,
        (*rows, last_row),
        numeric=tuple(range(len(columns))),
        caption="With 95% intervals; below 1, the limit is faster than MPI's own. ?: undecided, the interval "
        "does not show whether the times differ by 5%.",
    )


def _limit_cell(effect: EagerEffect, limit: EagerLimit, size: int | None = None) -> str:
    """The cell for one size, or for the mean over all sizes."""
    value = limit.mean if size is None else limit.by_size.get(size)
    if value is None:
        return ""
    bounds = "" if value.low is None or value.high is None else f" ({value.low:.2f} to {value.high:.2f})"
    mark = " ?" if effect.verdict(limit, size) in UNDECIDED_VERDICTS else ""
    return f"{value.value:.2f}{bounds}{mark}"


MICROSECONDS_PER_SECOND = 1e6


def piece_formula(piece: FittedSegment) -> str:
    """A formula such as "0.33 + x/5430"; b is the bandwidth in bytes per microsecond, which is MB/s. A line
    with a negative latency is relative to its first size: "21.0 + (x - 65536)/2260"."""
    slope = piece.per_byte.value
    offset = piece.first if piece.latency.value < 0 else 0
    constant = piece.latency.value + slope * offset
    return line_text(
        MICROSECONDS_PER_SECOND * constant,
        1 / slope / MICROSECONDS_PER_SECOND if slope > 0 else math.inf,
        offset,
    )


def line_text(constant_us: float, bandwidth: float, offset: int = 0) -> str:
    """The line as text, with three digits of the constant and of the bandwidth. The constant is the time of
    `offset` bytes."""
    constant_text = format_significant(constant_us, 3)
    size = f"(x - {offset})" if offset else "x"
    return (
        f"{constant_text} + {size}/{format_significant(bandwidth, 3)}"
        if bandwidth < math.inf
        else constant_text
    )


def send_time_table(fit: Fit) -> Table:
    rows = []
    for index, piece in enumerate(fit.segments):
        change = fit.change_points[index - 1] if 0 < index <= len(fit.change_points) else None
        rows.append(
            (
                "this machine",
                piece_formula(piece),
                quantity(piece.first, "B") if change is None else with_interval(change, "B"),
                with_interval(piece.latency, "s") if piece.intercept == "found" else "none found",
                with_interval(rate_from_time(1.0, piece.per_byte), "B/s") if piece.per_byte.value > 0 else "",
            )
        )
    for printed_segment in MESSAGE_FORMULA.segments:
        text = line_text(
            MICROSECONDS_PER_SECOND * printed_segment.constant_s,
            1 / printed_segment.per_byte_s / MICROSECONDS_PER_SECOND,
        )
        constant, rate = (
            quantity(printed_segment.constant_s, "s"),
            quantity(1 / printed_segment.per_byte_s, "B/s"),
        )
        rows.append(("Cray T3E-512, printed", text, quantity(printed_segment.first, "B"), constant, rate))
    columns = ("machine", "t in us", "from", "a", "b")
    return Table("send-time", "t = a + x/b us", columns, tuple(rows), caption=PAPER.citation)
