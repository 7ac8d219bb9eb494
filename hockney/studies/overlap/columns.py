# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the best number of tests for each size, IMB's overlap
next to COMB's availability, and all times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hockney.core.wording import plural
from hockney.draw.page import Table
from hockney.models.significance import UNDECIDED_VERDICTS, Verdict
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    SIZE_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    select_columns,
    text_format,
)
from hockney.pages.evidence import Evidence
from hockney.studies.overlap.results import (
    MESSAGE,
    PAYS,
    PHASES,
    BestTests,
    OverlapPoint,
    OverlapResults,
    sizes_where,
)
from hockney.studies.progress import THREAD

if TYPE_CHECKING:
    from hockney.models.overlap import OverlapTimes
VERDICTS: Mapping[Verdict, str] = {
    "faster": "pays",
    "slower": "costs time",
    "alike": "no difference",
    "undecided": "undecided",
    "unknown": "no interval",
}


def call_name(operation: str) -> str:
    """ "MPI_Iallreduce", or a message."""
    return operation if operation == MESSAGE else f"MPI_{operation.capitalize()}"


def plural_name(operation: str) -> str:
    return f"{operation}s" if operation == MESSAGE else call_name(operation)


def call_title(operation: str) -> str:
    """The operation's name at the beginning of a title."""
    return plural_name(operation).capitalize() if operation == MESSAGE else call_name(operation)


def tests_text(p: OverlapPoint) -> str:
    """ "64 tests"; with the progress thread also that."""
    return plural(p.tests, "test") + (", progress thread" if p.progress == THREAD else "")


@dataclass(frozen=True)
class OverlapRow:
    """A case, or the best number of tests with the verdict on it."""

    run: OverlapResults
    p: OverlapPoint
    verdict: Verdict

    @property
    def times(self) -> OverlapTimes:
        return self.run.times(self.p)

    @property
    def tests(self) -> str:
        return f"{self.p.tests}, thread" if self.p.progress == THREAD else str(self.p.tests)


COLUMNS: tuple[Column[OverlapRow], ...] = (
    Column("", lambda row: row.p.measured.case.line, key="case"),
    Column("operation", lambda row: row.p.operation, Format(call_name, numeric=False), "operation"),
    Column("", lambda row: row.p.size, key="bytes"),
    Column("ranks", lambda row: row.p.ranks, COUNT_FORMAT, "ranks"),
    Column("size", lambda row: row.p.size if row.p.measured.has_size else None, SIZE_FORMAT),
    Column("", lambda row: row.p.tests, key="tests"),
    Column("tests", lambda row: row.tests, COUNT_FORMAT),
    Column("", lambda row: row.p.progress, key="progress"),
    Column("", lambda row: row.p.measured.summary.launches, key="launches"),
    Column("total", lambda row: row.p.total, SECONDS_FORMAT, "total_s"),
    Column("pure", lambda row: row.times.pure, SECONDS_FORMAT, "pure_s"),
    Column("cpu", lambda row: row.times.cpu, SECONDS_FORMAT, "cpu_s"),
    Column("total / apart", lambda row: row.p.ratio, RATIO_FORMAT, "ratio", INTERVAL_HEADING),
    Column("nonblocking", lambda row: row.verdict, text_format(VERDICTS), "verdict"),
    Column("", lambda row: row.times.hidden, key="hidden"),
    Column("overlap (IMB)", lambda row: row.times.imb, SHARE_FORMAT, "overlap_imb", INTERVAL_HEADING),
    Column("hidden", lambda row: row.p.hidden, SHARE_FORMAT, "overlap_reported", missing="unknown"),
    Column(
        "availability (COMB)",
        lambda row: row.times.availability,
        SHARE_FORMAT,
        "availability",
        INTERVAL_HEADING,
    ),
    Column(
        "availability",
        lambda row: row.p.availability,
        SHARE_FORMAT,
        "availability_reported",
        missing="unknown",
    ),
    Column("computing takes", lambda row: row.times.slowdown, RATIO_FORMAT, "slowdown", INTERVAL_HEADING),
    Column("", lambda row: row.p.parts, key="parts_s"),
)


def best(run: OverlapResults, ranks: int, *operations: str) -> Table | None:
    """A row for each operation, by default all, and size."""
    bests = [each for operation in operations or run.operations for each in run.best(operation, ranks)]
    if not bests:
        return None
    columns = select_columns(
        COLUMNS, "operation", "size", "nonblocking", ("tests", "best tests"), "total / apart", "hidden",
        "availability",
    )  # fmt: skip
    caption = (
        "Total / apart: the time with nonblocking communication, over that of communication and then "
        "computation. Hidden: of the communication or of the computation, whichever is shorter. "
        "Availability: share of the time in which the program computes. The intervals of the ratio are those "
        "that the verdicts use: all of them together contain the true ratios with 95%."
    )
    title = ", ".join(["Best number of tests", *map(call_title, operations), plural(ranks, "rank")])
    name = "-".join(["overlap-best", *operations, str(ranks)])
    return columns_table(name, title, columns, _best(run, bests), caption)


def definitions(run: OverlapResults) -> Table:
    """Overlap by IMB's definition, from the record's times and as the engine reports it, and COMB's
    availability."""
    columns = select_columns(
        COLUMNS, "operation", "ranks", "size", "tests", "overlap (IMB)", ("hidden", "as reported"),
        "availability (COMB)", ("availability", "as reported"), "computing takes",
    )  # fmt: skip
    caption = (
        "IMB: (t_pure + t_cpu - t_total) / min(t_pure, t_cpu), between 0 and 1, from the recorded times of "
        "each repetition; as reported: by the engine. COMB: t_cpu / t_total. Computing takes: the time of "
        "the computation between the calls, relative to that without communication."
    )
    title = "Overlap by IMB's and availability by COMB's definition"
    return columns_table("overlap-definitions", title, columns, _cases(run), caption)


def times(run: OverlapResults) -> Table:
    """Every case: its times, and the ratio that decides."""
    columns = select_columns(
        COLUMNS, "operation", "ranks", "size", "tests", "pure", "cpu", "total", "total / apart", "nonblocking"
    )
    parts = [_part(name) for name in PHASES if any(name in p.parts for p in run.points)]
    return columns_table("overlap-times", "Times", (*columns, *parts), _cases(run))


def _part(name: str) -> Column[OverlapRow]:
    return Column(name, lambda row: row.p.parts.get(name), SECONDS_FORMAT)


def _best(run: OverlapResults, bests: Sequence[BestTests]) -> Iterator[OverlapRow]:
    return (OverlapRow(run, each.best, each.verdict) for each in bests)


def _cases(run: OverlapResults) -> Iterator[OverlapRow]:
    return (OverlapRow(run, p, p.verdict) for p in run.points)


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    run = OverlapResults.of(evidence)
    return tuple(table for ranks in run.counts if (table := best(run, ranks)) is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The answer: where nonblocking communication pays and with how many tests; and every case with its times
    (s) and shares of 1. Values have 95% intervals; null if unknown."""
    run = OverlapResults.of(evidence)
    return {
        "pays": run.pays,
        "operations": [
            {
                "operation": operation,
                "ranks": ranks,
                "pays_at": sizes_where(bests, PAYS),
                "undecided_at": sizes_where(bests, *UNDECIDED_VERDICTS),
                "best": columns_document(
                    COLUMNS, _best(run, bests), "bytes", "verdict", "tests", "progress", "ratio"
                ),
            }
            for operation in run.operations
            for ranks in run.counts
            if (bests := run.best(operation, ranks))
        ],
        "cases": columns_document(COLUMNS, _cases(run)),
        "progress_thread": [
            {
                "case": p.measured.case.line,
                "pays": p.pays,
                "verdict": p.verdict,
                "ratio_to_blocking_without": p.ratio,
                "computing_ratio": run.times(p).step_ratio(run.times(plain)),
                "pure_ratio": run.times(p).pure_ratio(run.times(plain)),
            }
            for p, plain in run.threads
        ],
    }
