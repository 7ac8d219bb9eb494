# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The table, and the answer for programs (`--json`): quantiles in both states, their ratios, and what the run
would have found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hockney.draw.page import Table
from hockney.models.significance import Verdict
from hockney.pages.columns import (
    BANDWIDTH_FORMAT,
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SIZE_FORMAT,
    Column,
    columns_document,
    columns_table,
    select_columns,
    text_format,
)
from hockney.pages.evidence import Evidence
from hockney.studies.congestion.results import (
    MEDIAN,
    P99,
    P999,
    CongestionPoint,
    CongestionResults,
    QuantileComparison,
)

VERDICT_WORDS: Mapping[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "alike": "no effect",
    "undecided": "undecided",
    "unknown": "unknown",
}
QUANTILE_NAMES: Mapping[float, str] = {MEDIAN: "median", P99: "p99", P999: "p99.9"}
CONGESTOR_NAMES: Mapping[str, str] = {
    "incast": "incast",
    "broadcast": "a broadcast",
    "alltoall": "alltoall",
    "pairs": "bulk pairs",
}
VICTIM_NAMES: Mapping[str, str] = {"ring": "ring", "allreduce": "allreduce", "halo": "halo"}


@dataclass(frozen=True)
class CongestionRow:
    """A quantile of one operation next to one kind of load."""

    point: CongestionPoint
    entry: QuantileComparison

    @property
    def repetitions(self) -> str:
        """Also the number that the quantile would need."""
        if self.entry.is_supported:
            return str(self.entry.repetitions)
        return f"{self.entry.repetitions} of {self.entry.needed_repetitions}"


COLUMNS: tuple[Column[CongestionRow], ...] = (
    Column("", lambda row: row.point.loaded.case.line, key="case"),
    Column("", lambda row: row.point.quiet.case.line, key="quiet_case"),
    Column("operation", lambda row: row.point.victim, text_format(VICTIM_NAMES), key="victim"),
    Column("size", lambda row: row.point.size, SIZE_FORMAT, key="bytes"),
    Column("ranks", lambda row: row.point.ranks, COUNT_FORMAT, key="ranks"),
    Column("next to", lambda row: row.point.congestor, text_format(CONGESTOR_NAMES), key="congestor"),
    Column("load", lambda row: row.point.load, BANDWIDTH_FORMAT, key="load_bytes_per_s"),
    Column("quantile", lambda row: row.entry.quantile, text_format(QUANTILE_NAMES), key="quantile"),
    Column("quiet", lambda row: row.entry.quiet_s, SECONDS_FORMAT, key="quiet_s"),
    Column("loaded", lambda row: row.entry.loaded_s, SECONDS_FORMAT, key="loaded_s"),
    Column("loaded / quiet", lambda row: row.entry.ratio, RATIO_FORMAT, "ratio", INTERVAL_HEADING),
    Column("verdict", lambda row: row.entry.verdict, text_format(VERDICT_WORDS), "verdict"),
    Column(
        "would find", lambda row: row.entry.smallest_detectable, RATIO_FORMAT, "smallest_detectable_ratio"
    ),
    Column("repetitions", lambda row: row.repetitions, COUNT_FORMAT),
    Column("", lambda row: row.entry.repetitions, key="repetitions"),
    Column("", lambda row: row.entry.needed_repetitions, key="needed_repetitions"),
    Column("", lambda row: row.point.loaded.summary.launches, key="launches"),
)


def ratios_table(run: CongestionResults) -> Table | None:
    """Every quantile of every operation and load; of simulated times, which do not vary, the median only."""
    if not run.points:
        return None
    rows = [row for row in _rows(run) if row.entry.is_supported or not run.evidence.machine.is_exact]
    several_rank_counts = len({point.ranks for point in run.points}) > 1
    columns = select_columns(
        COLUMNS, "operation", "size", *(["ranks"] if several_rank_counts else []), "next to", "quantile",
        "quiet", "loaded", "loaded / quiet", "verdict", "would find", "repetitions",
    )  # fmt: skip
    caption = (
        "Intervals are those that the verdicts use: all of them together contain the true ratios with 95%. "
        "Would find: the smallest ratio that a run with the same spread finds with 95%. Repetitions: of the "
        "launch with the fewest, and the number that the quantile needs if that is more."
    )
    return columns_table(
        "congestion", "Times next to load, relative to the quiet state", columns, rows, caption
    )


def load_table(run: CongestionResults) -> Table | None:
    """The bandwidth of the congestors."""
    rows = [CongestionRow(point, point.at(MEDIAN)) for point in run.points if point.load is not None]
    if not rows:
        return None
    columns = select_columns(COLUMNS, "operation", "size", "ranks", "next to", "load")
    caption = "Bytes that all congestors send in a second, while the victims are measured."
    return columns_table("congestion-load", "Load", columns, rows, caption)


def _rows(run: CongestionResults) -> Iterator[CongestionRow]:
    return (CongestionRow(point, entry) for point in run.points for entry in point.comparisons)


def summary(evidence: Evidence) -> tuple[Table, ...]:
    """The table on a terminal."""
    table = ratios_table(CongestionResults.of(evidence))
    return () if table is None else (table,)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Whether any median is slower (None: undecided), the smallest ratios that the run would have found, and
    every quantile (s) with its ratio, whose interval is the one for all comparisons; null if unknown."""
    run = CongestionResults.of(evidence)
    slowed = [point.loaded.case.line for point in run.slowed]
    return {
        "is_slowed": bool(slowed) or (False if run.is_conclusive else None),
        "slowed": slowed,
        "comparisons": run.comparison_count,
        "smallest_detectable_ratio": {
            QUANTILE_NAMES[quantile]: run.smallest_detectable(quantile) for quantile in QUANTILE_NAMES
        },
        "quantiles": columns_document(COLUMNS, _rows(run)),
    }
