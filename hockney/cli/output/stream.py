# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results as plain lines while measuring goes on: `--format plain` and `--format osu`.

A line is printed when its case is over, and not before those asked for earlier: sizes come in their order,
each once. Cases that differ in their size only are a block with a heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hockney.cli.output.blocks import in_blocks
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import UsageError
from hockney.core.fit import Summary
from hockney.core.record import SCHEMA, RunRecords
from hockney.measurement import CasesChosen, CaseSettled, Event
from hockney.models.statistics import summarise
from hockney.pages.case_columns import CaseColumn
from hockney.pages.evidence import Measured
from hockney.pages.format import label

UNITS = {"s": (1e-6, "us"), "B/s": (1e6, "MB/s")}
"""Units of numbers in lines for programs, regardless of their size."""


class Lines(Protocol):
    """How a stream looks."""

    def check(self, workload: Workload) -> None:
        """Raises UsageError for a workload that cannot be shown so."""

    def heading(self, first: Measured) -> list[str]: ...

    def line(self, measured: Measured) -> str: ...


class Stream:
    """A listener that gives lines to `write`."""

    def __init__(self, lines: Lines, write: Callable[[str], None]) -> None:
        self.lines = lines
        self.write = write
        self.catalog = Catalog(schema=SCHEMA, engine="", workloads=[])
        self.waiting: list[Case] = []
        self.settled: dict[Case, Measured | None] = {}
        self.block = ""
        self.run: RunRecords | None = None
        self.summaries: dict[str, Summary] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, CasesChosen):
            for workload in event.workloads:
                self.lines.check(workload)
            self.catalog = Catalog(schema=SCHEMA, engine="", workloads=list(event.workloads))
            self.waiting = in_blocks(event.cases, self.catalog)
        elif isinstance(event, CaseSettled) and event.case in self.waiting:
            if self.run is not event.run:  # cases that settle together have the same
                self.run = event.run
                self.summaries = {each.case: each for each in summarise(event.run, self.catalog)}
            made = self.summaries.get(event.case.line)
            workload = self.catalog.entry(event.case.workload)
            self.settled[event.case] = Measured(event.case, made, workload) if made else None
            self._print()

    def _print(self) -> None:
        while self.waiting and self.waiting[0] in self.settled:
            measured = self.settled[self.waiting.pop(0)]
            if measured is None:  # a failure, which is reported elsewhere
                continue
            block = label(measured, measured.workload.size)
            if block != self.block:
                for line in self.lines.heading(measured):
                    self.write(line)
            self.block = block
            self.write(self.lines.line(measured))


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
        """Every workload has a size and a time, or a time."""

    def heading(self, first: Measured) -> list[str]:
        titles = [f"{c.name}({UNITS[c.unit][1]})" if c.unit in UNITS else c.name for c in self.columns]
        size = _unit_of_size(first)
        return [
            f"# {label(first, first.workload.size)}",
            f"# {size:<10}" + "".join(f"{t:>18}" for t in titles),
        ]

    def line(self, measured: Measured) -> str:
        size = f"{measured.size:.15g}" if measured.has_size else "-"
        return f"{size:<12}" + "".join(f"{_number(measured, column):>18}" for column in self.columns)


def _unit_of_size(m: Measured) -> str:
    unit = m.workload.size_unit
    return (f"{m.workload.size}({unit})" if unit not in ("", "B") else m.workload.size) or "-"


def _number(m: Measured, column: CaseColumn) -> str:
    value = column.number(m)
    if value is None:
        return "-"
    return f"{value / UNITS.get(column.unit, (1.0, ''))[0]:.6g}"
