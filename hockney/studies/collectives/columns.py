# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the paper's tables of 8 B, 1 KB and 1 MB, which
algorithm is fastest where, and all times."""

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
    FORMULA,
    PAPER,
    PRINTED_SIZES,
    CollectivePoint,
    CollectiveResults,
    EagerEffect,
    EagerLimit,
    block_bytes,
    definition,
    is_t3e,
    mpi_name,
    printed_times,
    source,
)


def papers(run: CollectiveResults) -> Iterator[Table]:
    """Operations x ranks, for each of the paper's sizes that was measured: MPI's time, its aggregated
    bandwidth, and the printed time if the machine is the T3E."""
    with_printed = is_t3e(run.evidence.machine)
    caption = f"MPI's own algorithms. Printed: {PAPER.citation}; loops of calls." if with_printed else ""
    for words, (_, size) in PRINTED_SIZES.items():
        columns: list[Column[str]] = [Column("operation", mpi_name)]
        for ranks in run.ranks:
            columns += _papers_columns(run, size, ranks, with_printed)
        table = columns_table(f"papers-{size}", f"Buffers of {words}", columns, run.operations, caption)
        if any(any(row[1:]) for row in table.rows):
            yield table


def _papers_columns(run: CollectiveResults, size: int, ranks: int, with_printed: bool) -> list[Column[str]]:
    def point(operation: str) -> CollectivePoint | None:
        block = block_bytes(operation, size, ranks)
        return next((p for p in run.of_ranks(ranks, operation) if p.block == block), None)

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


def fastest(run: CollectiveResults, ranks: int) -> Table | None:
    """The table of the fastest algorithms: MPI's own if no user-level one is faster, ? where that is
    undecided."""
    points = run.of_ranks(ranks)
    sizes = sorted({run.column(p) for p in points if p.ratio is not None})
    if not sizes:
        return None
    rows = []
    for operation in run.operations:
        by_size = {run.column(p): p for p in points if p.operation == operation}
        rows.append((mpi_name(operation), *(_winner(by_size.get(size)) for size in sizes)))
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


def _winner(p: CollectivePoint | None) -> str:
    if p is None or p.ratio is None:
        return ""
    if p.verdict in UNDECIDED_VERDICTS:
        return f"? {p.best} {p.ratio.value:.2f}"
    return f"{p.best} {p.ratio.value:.2f}" if p.verdict == "slower" else "MPI"


def compared(run: CollectiveResults) -> Table:
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


def every_time(run: CollectiveResults) -> Table:
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


def definitions(run: CollectiveResults) -> Table:
    """The meaning of the buffer, and of the aggregated bandwidth."""
    columns: tuple[Column[str], ...] = (
        Column("operation", mpi_name),
        Column("buffer", lambda operation: definition(operation).buffer),
        Column("aggregated bandwidth", lambda operation: definition(operation).rule),
        Column("defined by", source),
    )
    return columns_table("buffers", "Buffers and bandwidth", columns, run.operations, PAPER.citation)


def summary(evidence: Evidence) -> Sequence[Table]:
    """The table on a terminal."""
    run = CollectiveResults.of(evidence)
    table = fastest(run, run.shown_first)
    return () if table is None else (table,)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every comparison with MPI's own algorithm, how many have each verdict, and every eager limit. Times in
    seconds, sizes in bytes, null for an unknown end of an interval."""
    effect = EagerEffect.of(evidence)
    points = CollectiveResults.of(evidence).points
    return {
        "collectives": [_point(p) for p in points],
        "counts": dict(Counter(p.verdict for p in points if p.ratio is not None)),
        "eager_limits": [
            {
                "limit_bytes": each.limit,
                "setting": each.setting,
                **_ratio(each.over_all),
                "verdict": effect.verdict(each),
                "by_size": [
                    {"bytes": size, **_ratio(value), "verdict": effect.verdict(each, size)}
                    for size, value in each.by_size.items()
                ],
            }
            for each in effect.limits
        ],
        "best_eager_limit_bytes": None if effect.best is None else effect.best.limit,
    }


def _point(p: CollectivePoint) -> dict[str, Any]:
    rate = p.bandwidth(MPI)
    return {
        "operation": p.operation,
        "ranks": p.ranks,
        "block_bytes": p.block,
        "buffer_bytes": p.buffer,
        "mpi_s": None if (time := p.time(MPI)) is None else time.value,
        "mpi_aggregated_bytes_per_s": None if rate is None else rate.value,
        "best": p.best or None,
        "best_s": None if (time := p.time(p.best)) is None else time.value,
        **_ratio(p.ratio),
        "mpi_is": p.verdict,
    }


def _ratio(value: Estimate | None) -> dict[str, float | None]:
    if value is None:
        return {"ratio": None, "ratio_low": None, "ratio_high": None}
    return {"ratio": value.value, "ratio_low": value.low, "ratio_high": value.high}


def eager_limits(effect: EagerEffect) -> Table:
    sizes = sorted({size for each in effect.limits for size in each.by_size})
    rows = tuple(
        (quantity(size, "B"), *(_limit_cell(effect, each, size) for each in effect.limits)) for size in sizes
    )
    last = ("all, mean", *(_limit_cell(effect, each) for each in effect.limits))
    columns = ("message", *(quantity(each.limit, "B") for each in effect.limits))
    return Table(
        "eager",
        "Time relative to that with MPI's own limit",
        columns,
        (*rows, last),
        numeric=tuple(range(len(columns))),
        caption="With 95% intervals; below 1, the limit is faster than MPI's own. ?: undecided, the interval "
        "does not show whether the times differ by 5%.",
    )


def _limit_cell(effect: EagerEffect, each: EagerLimit, size: int | None = None) -> str:
    """The cell of one size, or of the mean over all sizes."""
    value = each.over_all if size is None else each.by_size.get(size)
    if value is None:
        return ""
    bounds = "" if value.low is None or value.high is None else f" ({value.low:.2f} to {value.high:.2f})"
    mark = " ?" if effect.verdict(each, size) in UNDECIDED_VERDICTS else ""
    return f"{value.value:.2f}{bounds}{mark}"


MICRO = 1e6


def formula(piece: FittedSegment) -> str:
    """ "0.33 + x/5430"; b is the bandwidth in bytes per microsecond, which is MB/s. A line that begins below
    0 is given from the change on: "21.0 + (x - 65536)/2260"."""
    slope = piece.per_byte.value
    begin = piece.first if piece.latency.value < 0 else 0
    a = piece.latency.value + slope * begin
    return line_text(MICRO * a, 1 / slope / MICRO if slope > 0 else math.inf, begin)


def line_text(a: float, b: float, begin: int = 0) -> str:
    """The line as text, with three digits of the constant and of the bandwidth. The constant is the time of
    `begin` bytes."""
    constant = format_significant(a, 3)
    size = f"(x - {begin})" if begin else "x"
    return f"{constant} + {size}/{format_significant(b, 3)}" if b < math.inf else constant


def send_time(fit: Fit) -> Table:
    rows = []
    for k, piece in enumerate(fit.segments):
        change = fit.change_points[k - 1] if 0 < k <= len(fit.change_points) else None
        rows.append(
            (
                "this machine",
                formula(piece),
                quantity(piece.first, "B") if change is None else with_interval(change, "B"),
                with_interval(piece.latency, "s") if piece.intercept == "found" else "none found",
                with_interval(rate_from_time(1.0, piece.per_byte), "B/s") if piece.per_byte.value > 0 else "",
            )
        )
    for printed in FORMULA.segments:
        text = line_text(MICRO * printed.constant_s, 1 / printed.per_byte_s / MICRO)
        constant, rate = quantity(printed.constant_s, "s"), quantity(1 / printed.per_byte_s, "B/s")
        rows.append(("Cray T3E-512, printed", text, quantity(printed.first, "B"), constant, rate))
    columns = ("machine", "t in us", "from", "a", "b")
    return Table("send-time", "t = a + x/b us", columns, tuple(rows), caption=PAPER.citation)
