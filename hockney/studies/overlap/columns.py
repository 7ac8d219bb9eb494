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
    MESSAGE_OPERATION,
    PAYS_VERDICT,
    PHASE_METRICS,
    BestTests,
    OverlapPoint,
    OverlapResults,
    sizes_with_verdicts,
)
from hockney.studies.progress import THREAD_PROGRESS

if TYPE_CHECKING:
    from hockney.models.overlap import OverlapTimes
VERDICT_WORDS: Mapping[Verdict, str] = {
    "faster": "pays",
    "slower": "costs time",
    "alike": "no difference",
    "undecided": "undecided",
    "unknown": "no interval",
}


def call_name(operation: str) -> str:
    """The name, such as "MPI_Iallreduce", or "message"."""
    return operation if operation == MESSAGE_OPERATION else f"MPI_{operation.capitalize()}"


def plural_name(operation: str) -> str:
    return f"{operation}s" if operation == MESSAGE_OPERATION else call_name(operation)


def call_title(operation: str) -> str:
    """The operation's name at the beginning of a title."""
    return plural_name(operation).capitalize() if operation == MESSAGE_OPERATION else call_name(operation)


def tests_text(point: OverlapPoint) -> str:
    """The text, such as "64 tests", which also states if the progress thread is used."""
    return plural(point.tests, "test") + (", progress thread" if point.progress == THREAD_PROGRESS else "")


@dataclass(frozen=True)
class OverlapRow:
    """A case, or the best number of tests with its verdict."""

    run: OverlapResults
    point: OverlapPoint
    verdict: Verdict

    @property
    def times(self) -> OverlapTimes:
        return self.run.times(self.point)

    @property
    def tests(self) -> str:
        return (
            f"{self.point.tests}, thread" if self.point.progress == THREAD_PROGRESS else str(self.point.tests)
        )


COLUMNS: tuple[Column[OverlapRow], ...] = (
    Column("", lambda row: row.point.measured.case.line, key="case"),
    Column("operation", lambda row: row.point.operation, Format(call_name, numeric=False), "operation"),
    Column("", lambda row: row.point.size, key="bytes"),
    Column("ranks", lambda row: row.point.ranks, COUNT_FORMAT, "ranks"),
    Column("size", lambda row: row.point.size if row.point.measured.has_size else None, SIZE_FORMAT),
    Column("", lambda row: row.point.tests, key="tests"),
    Column("tests", lambda row: row.tests, COUNT_FORMAT),
    Column("", lambda row: row.point.progress, key="progress"),
    Column("", lambda row: row.point.measured.summary.launches, key="launches"),
    Column("total", lambda row: row.point.total, SECONDS_FORMAT, "total_s"),
    Column("pure", lambda row: row.times.pure, SECONDS_FORMAT, "pure_s"),
    Column("cpu", lambda row: row.times.cpu, SECONDS_FORMAT, "cpu_s"),
    Column("total / apart", lambda row: row.point.ratio, RATIO_FORMAT, "ratio", INTERVAL_HEADING),
    Column("nonblocking", lambda row: row.verdict, text_format(VERDICT_WORDS), "verdict"),
    Column("", lambda row: row.times.hidden, key="hidden"),
    Column("overlap (IMB)", lambda row: row.times.imb, SHARE_FORMAT, "overlap_imb", INTERVAL_HEADING),
    Column("hidden", lambda row: row.point.hidden, SHARE_FORMAT, "overlap_reported", missing="unknown"),
    Column(
        "availability (COMB)",
        lambda row: row.times.availability,
        SHARE_FORMAT,
        "availability",
        INTERVAL_HEADING,
    ),
    Column(
        "availability",
        lambda row: row.point.availability,
        SHARE_FORMAT,
        "availability_reported",
        missing="unknown",
    ),
    Column("computing takes", lambda row: row.times.slowdown, RATIO_FORMAT, "slowdown", INTERVAL_HEADING),
    Column("", lambda row: row.point.phases_s, key="parts_s"),
)


def best_tests_table(run: OverlapResults, ranks: int, *operations: str) -> Table | None:
    """A row for each size of these operations (default: all)."""
    best_tests = [entry for operation in operations or run.operations for entry in run.best(operation, ranks)]
    if not best_tests:
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
    return columns_table(name, title, columns, _best_rows(run, best_tests), caption)


def definitions_table(run: OverlapResults) -> Table:
    """Overlap by IMB's definition, from the recorded times and as reported by the engine, and COMB's
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
    return columns_table("overlap-definitions", title, columns, _case_rows(run), caption)


def times_table(run: OverlapResults) -> Table:
    """Every case with its times and the ratio that decides."""
    columns = select_columns(
        COLUMNS, "operation", "ranks", "size", "tests", "pure", "cpu", "total", "total / apart", "nonblocking"
    )
    parts = [
        _phase_column(name) for name in PHASE_METRICS if any(name in point.phases_s for point in run.points)
    ]
    return columns_table("overlap-times", "Times", (*columns, *parts), _case_rows(run))


def _phase_column(name: str) -> Column[OverlapRow]:
    return Column(name, lambda row: row.point.phases_s.get(name), SECONDS_FORMAT)


def _best_rows(run: OverlapResults, best_tests: Sequence[BestTests]) -> Iterator[OverlapRow]:
    return (OverlapRow(run, entry.best, entry.verdict) for entry in best_tests)


def _case_rows(run: OverlapResults) -> Iterator[OverlapRow]:
    return (OverlapRow(run, point, point.verdict) for point in run.points)


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    run = OverlapResults.of(evidence)
    return tuple(table for ranks in run.rank_counts if (table := best_tests_table(run, ranks)) is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Where nonblocking communication pays and with how many tests; and every case with its times (s) and
    fractions. Values have 95% intervals; null if unknown."""
    run = OverlapResults.of(evidence)
    return {
        "pays": run.pays,
        "operations": [
            {
                "operation": operation,
                "ranks": ranks,
                "pays_at": sizes_with_verdicts(best_tests, PAYS_VERDICT),
                "undecided_at": sizes_with_verdicts(best_tests, *UNDECIDED_VERDICTS),
                "best": columns_document(
                    COLUMNS, _best_rows(run, best_tests), "bytes", "verdict", "tests", "progress", "ratio"
                ),
            }
            for operation in run.operations
            for ranks in run.rank_counts
            if (best_tests := run.best(operation, ranks))
        ],
        "cases": columns_document(COLUMNS, _case_rows(run)),
        "progress_thread": [
            {
                "case": point.measured.case.line,
                "pays": point.pays,
                "verdict": point.verdict,
                "ratio_to_blocking_without": point.ratio,
                "computing_ratio": run.times(point).step_ratio(run.times(plain)),
                "pure_ratio": run.times(point).pure_ratio(run.times(plain)),
            }
            for point, plain in run.thread_pairs
        ],
    }
