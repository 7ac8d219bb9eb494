# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's tables of 8 B, 1 KB and 1 MB, which algorithm is fastest where, and all times."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI
from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.models.statistics import OPEN
from hockney.pages.format import interval, quantity
from hockney.studies.collectives.buffers import block_bytes, definition, mpi_name, source
from hockney.studies.collectives.printed import PAPER, SIZES, is_t3e, printed_times
from hockney.studies.collectives.results import CollectivePoint, CollectiveResults


def papers(run: CollectiveResults) -> Iterator[Table]:
    """Operations x ranks, for each of the paper's sizes that was measured: MPI's time, its aggregated
    bandwidth, and the printed time if the machine is the T3E."""
    beside = is_t3e(run.evidence.machine)
    for words, (_, size) in SIZES.items():
        rows = tuple(_papers_row(run, operation, size, beside) for operation in run.operations)
        if not any(any(row[1:]) for row in rows):
            continue
        columns = ["operation"]
        for ranks in run.ranks:
            columns += [f"P = {ranks}", "bandwidth", *(["printed"] if beside else [])]
        caption = f"MPI's own algorithms. Printed: {PAPER.citation}; loops of calls." if beside else ""
        numeric = tuple(range(1, len(columns)))
        yield Table(f"papers-{size}", f"Buffers of {words}", tuple(columns), rows, numeric, caption)


def _papers_row(run: CollectiveResults, operation: str, size: int, beside: bool) -> tuple[str, ...]:
    cells = [mpi_name(operation)]
    for ranks in run.ranks:
        block = block_bytes(operation, size, ranks)
        point = next((p for p in run.of_ranks(ranks, operation) if p.block == block), None)
        time = None if point is None else point.time(MPI)
        rate = None if point is None else point.bandwidth(MPI)
        cells += [
            "" if time is None else quantity(time.value, "s"),
            "" if rate is None else quantity(rate.value, "B/s"),
        ]
        if beside:
            printed = printed_times(operation, ranks).get(size)
            cells.append("" if printed is None else quantity(printed, "s"))
    return tuple(cells)


def fastest(run: CollectiveResults, ranks: int) -> Table | None:
    """The table of the fastest algorithms: MPI's own if no user-level one is faster, ? where that is
    undecided."""
    points = run.of_ranks(ranks)
    sizes = sorted({run.column(p) for p in points if p.ratio is not None})
    if not sizes:
        return None
    rows = []
    for operation in run.operations:
        of = {run.column(p): p for p in points if p.operation == operation}
        rows.append((mpi_name(operation), *(_winner(of.get(size)) for size in sizes)))
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
    if p.verdict in OPEN:
        return f"? {p.best} {p.ratio.value:.2f}"
    return f"{p.best} {p.ratio.value:.2f}" if p.verdict == "slower" else "MPI"


def compared(run: CollectiveResults) -> Table:
    """Every case: MPI's time, the best user-level algorithm and the ratio."""
    rows = tuple(
        (
            p.name,
            str(p.ranks),
            quantity(p.buffer, "B"),
            _time(p.time(MPI)),
            p.best,
            _time(p.time(p.best)),
            "" if p.ratio is None else f"{p.ratio.value:.2f}",
            "" if p.ratio is None else interval(p.ratio, ""),
            p.verdict if p.ratio is not None else "",
        )
        for p in run.points
    )
    columns = (
        "operation",
        "ranks",
        "buffer",
        "MPI",
        "best user-level",
        "time",
        "ratio",
        "95% interval",
        "MPI is",
    )
    return Table("compared", "MPI and the best user-level algorithm", columns, rows, (1, 2, 3, 5, 6, 7))


def every_time(run: CollectiveResults) -> Table:
    """All algorithms."""
    rows = tuple(
        (
            p.name,
            name,
            str(p.ranks),
            quantity(p.buffer, "B"),
            quantity(m.summary.typical.value, "s"),
            interval(m.summary.typical, "s"),
            "" if (rate := p.bandwidth(name)) is None else quantity(rate.value, "B/s"),
        )
        for p in run.points
        for name, m in p.times.items()
    )
    columns = ("operation", "algorithm", "ranks", "buffer", "typical", "95% interval", "aggregated bandwidth")
    return Table("collectives", "All algorithms", columns, rows, (2, 3, 4, 5, 6))


def definitions(run: CollectiveResults) -> Table:
    """The meaning of the buffer, and of the aggregated bandwidth."""
    rows = tuple(
        (mpi_name(operation), definition(operation).buffer, definition(operation).rule, source(operation))
        for operation in run.operations
    )
    columns = ("operation", "buffer", "aggregated bandwidth", "defined by")
    return Table("buffers", "Buffers and bandwidth", columns, rows, caption=PAPER.citation)


def _time(estimate: Estimate | None) -> str:
    return "" if estimate is None else quantity(estimate.value, "s")
