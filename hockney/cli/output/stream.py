# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results printed as lines during the measurement: `--format plain` and `--format osu`.

The line of a case is printed when it and all earlier cases have ended, so that sizes are in order, each once.
Cases that differ only in size form a block with a heading.

The format osu is that of the OSU Micro-Benchmarks (OMB 7: c/util/osu_util_mpi.c), for scripts that parse it.
docs/columns.md explains the numbers and their differences from OSU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hockney import __version__
from hockney.cli.output.results import group_by_size
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import UsageError
from hockney.core.fit import Summary
from hockney.core.record import SCHEMA, RunRecords
from hockney.core.wording import join_words
from hockney.measurement import CasesChosen, CaseSettled, Event
from hockney.models.statistics import summarise
from hockney.pages.case_columns import CaseColumn
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import label
from hockney.system.bundled import bundled_workloads

UNITS = {"s": (1e-6, "us"), "B/s": (1e6, "MB/s")}
"""Units of numbers in lines for programs, regardless of their size."""


class Lines(Protocol):
    """Format of a stream."""

    def check(self, workload: Workload) -> None:
        """Raise UsageError for a workload that cannot be printed in this format."""

    def heading(self, first: MeasuredCase) -> list[str]: ...

    def line(self, measured: MeasuredCase) -> str: ...


class Stream:
    """A listener that passes lines to `write`."""

    def __init__(self, lines: Lines, write: Callable[[str], None]) -> None:
        self.lines = lines
        self.write = write
        self.catalog = Catalog(schema=SCHEMA, engine="", workloads=[])
        self.waiting: list[Case] = []
        self.settled: dict[Case, MeasuredCase | None] = {}
        self.block = ""
        self.run: RunRecords | None = None
        self.summaries: dict[str, Summary] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, CasesChosen):
            for workload in event.workloads:
                self.lines.check(workload)
            self.catalog = Catalog(schema=SCHEMA, engine="", workloads=list(event.workloads))
            self.waiting = group_by_size(event.cases, self.catalog)
        elif isinstance(event, CaseSettled) and event.case in self.waiting:
            if self.run is not event.run:  # cases that settle together have the same
                self.run = event.run
                self.summaries = {summary.case: summary for summary in summarise(event.run, self.catalog)}
            summary = self.summaries.get(event.case.line)
            workload = self.catalog.entry(event.case.workload)
            self.settled[event.case] = MeasuredCase(event.case, summary, workload) if summary else None
            self._print()

    def _print(self) -> None:
        while self.waiting and self.waiting[0] in self.settled:
            summary = self.settled[self.waiting.pop(0)]
            if summary is None:  # a failure, which is reported elsewhere
                continue
            block = label(summary, summary.workload.size)
            if block != self.block:
                for line in self.lines.heading(summary):
                    self.write(line)
            self.block = block
            self.write(self.lines.line(summary))


class PlainLines:
    """Size and columns of numbers: times in us, bandwidths in MB/s."""

    def __init__(self, columns: Sequence[CaseColumn]) -> None:
        for column in columns:
            if column.name == "interval":
                raise UsageError(
                    f"--format plain has no column {column.name}",
                    "each of its columns is one number",
                    "leave it out",
                    code="column-without-number",
                    name=column.name,
                )
        self.columns = columns

    def check(self, workload: Workload) -> None:
        """Accept every workload, as each has a time."""

    def heading(self, first: MeasuredCase) -> list[str]:
        titles = [
            f"{column.name}({UNITS[column.unit][1]})" if column.unit in UNITS else column.name
            for column in self.columns
        ]
        size = _unit_of_size(first)
        return [
            f"# {label(first, first.workload.size)}",
            f"# {size:<10}" + "".join(f"{title:>18}" for title in titles),
        ]

    def line(self, measured: MeasuredCase) -> str:
        size = f"{measured.size:.15g}" if measured.has_size else "-"
        return f"{size:<12}" + "".join(f"{_number(measured, column):>18}" for column in self.columns)


def _unit_of_size(summary: MeasuredCase) -> str:
    unit = summary.workload.size_unit
    return (f"{summary.workload.size}({unit})" if unit not in ("", "B") else summary.workload.size) or "-"


def _number(summary: MeasuredCase, column: CaseColumn) -> str:
    value = column.number(summary)
    if value is None:
        return "-"
    return f"{value / UNITS.get(column.unit, (1.0, ''))[0]:.6g}"


LATENCY, BANDWIDTH = "Avg Latency(us)", "Bandwidth (MB/s)"

TITLES = {
    ("point-to-point", "send"): ("Latency Test", LATENCY),
    ("stream", "isend"): ("Bandwidth Test", BANDWIDTH),
    ("stream", "isendrecv"): ("Bi-Directional Bandwidth Test", BANDWIDTH),
    ("collective", "allgather"): ("Allgather Latency Test", LATENCY),
    ("collective", "allgatherv"): ("Allgatherv Latency Test", LATENCY),
    ("collective", "allreduce"): ("Allreduce Latency Test", LATENCY),
    ("collective", "alltoall"): ("All-to-All Personalized Exchange Latency Test", LATENCY),
    ("collective", "alltoallv"): ("All-to-Allv Personalized Exchange Latency Test", LATENCY),
    ("collective", "bcast"): ("Broadcast Latency Test", LATENCY),
    ("collective", "gather"): ("Gather Latency Test", LATENCY),
    ("collective", "gatherv"): ("Gatherv Latency Test", LATENCY),
    ("collective", "reduce"): ("Reduce Latency Test", LATENCY),
    ("collective", "scatter"): ("Scatter Latency Test", LATENCY),
    ("collective", "scatterv"): ("Scatterv Latency Test", LATENCY),
    ("barrier", "barrier"): ("Barrier Latency Test", LATENCY),
}
"""OSU's benchmark and its unit, by role and operation. The size of osu_reduce_scatter is that of the whole
vector, not of a rank's block, and OSU has no MPI_Scan."""

SIZE, FIELD, COUNT, WITHOUT_SIZE = 10, 18, 12, 17
"""Widths of OSU's columns."""


class OsuLines:
    """Lines in OSU's format, with the columns of its option -f if `full`."""

    def __init__(self, full: bool) -> None:
        self.full = full

    def check(self, workload: Workload) -> None:
        if (workload.role, workload.operation) not in TITLES:
            available = _equivalents()
            raise UsageError(
                f"--format osu does not apply to {workload.name}",
                f"OSU's benchmarks have equivalents only of {join_words(available)}",
                "use --format plain",
                code="no-osu-benchmark",
                workload=workload.name,
                available=list(available),
            )

    def heading(self, first: MeasuredCase) -> list[str]:
        title, measures = TITLES[first.workload.role, first.workload.operation]
        measure_heading = measures.rjust(FIELD)
        column_heading = f"{'# Size':<{SIZE}}{measure_heading}" if first.workload.size else f"# {measures}"
        if self.full and measures == LATENCY:
            column_heading += (
                f"{'Min Latency(us)':>{FIELD}}{'Max Latency(us)':>{FIELD}}{'Iterations':>{COUNT}}"
            )
        return [
            "",
            f"# OSU MPI {title} v{__version__}-hockney",
            f"# {label(first, first.workload.size)}: typical times, a robust mean",
            column_heading,
        ]

    def line(self, measured: MeasuredCase) -> str:
        summary = measured.summary
        _, measures = TITLES[measured.workload.role, measured.workload.operation]
        typical = summary.typical.value
        if measures == BANDWIDTH:
            value = summary.bytes_moved / typical / 1e6 if typical else 0.0
        else:
            value = 1e6 * typical
        size = f"{measured.size:<{SIZE}.0f}" if measured.has_size else ""
        text = f"{size}{value:>{FIELD if size else WITHOUT_SIZE}.2f}"
        if self.full and measures == LATENCY:
            low, high = 1e6 * (summary.min_s or 0.0), 1e6 * (summary.max_s or 0.0)
            text += f"{low:>{FIELD}.2f}{high:>{FIELD}.2f}{summary.operations:>{COUNT}}"
        return text


def _equivalents() -> list[str]:
    """Names of the workloads with an equivalent OSU benchmark."""
    return sorted(
        workload.name
        for workload in bundled_workloads().values()
        if (workload.role, workload.operation) in TITLES
    )
