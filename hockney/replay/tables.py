# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, sentences, document and page of the predictions for a traced program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.units import format_percent, format_seconds
from hockney.core.wording import join_words, plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Caveat, Page, Section, Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    Column,
    Format,
    columns_document,
    point_value,
)
from hockney.pages.format import format_share, format_signed_tenths, quantity
from hockney.profiles.columns import columns_table, end_of_place
from hockney.replay.answers import (
    Delay,
    ExplainedRun,
    PathRow,
    Pop,
    RankRow,
    ToleranceRow,
    UnexplainedRow,
    WhatIf,
)
from hockney.replay.evaluator import Curve
from hockney.replay.predictions import APPLICABLE, INAPPLICABLE_REASONS

MAX_PLACES = 8
MAX_DELAYS = 6
MAX_RANKS = 8
MIN_SHARE = 0.001
"""Smaller unexplained shares of the run time are not printed."""
MAX_CURVE_ROWS = 12
JUMP = 1e-9
"""Points of a curve that are closer than this fraction of its range are merged."""


def _share(value: float | Estimate) -> str:
    return format_signed_tenths(point_value(value))


def _share_interval(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"{format_signed_tenths(value.low)} to {format_signed_tenths(value.high)}"


def brief(place: str) -> str:
    """A short name such as "Wait, solver.c:120". The program's function is left out if the line is known."""
    call, separator, location = place.partition(" at ")
    line = re.match(r"\S*:\d+(?= )", location)
    return f"{call}, {end_of_place(line[0])}" if separator and line else place


GAIN = Format(_share, interval=_share_interval)
WHAT_IFS: tuple[Column[WhatIf], ...] = (
    Column("change", lambda row: row.text, key="text"),
    Column("", lambda row: [change.kind for change in row.candidate.changes], key="kinds"),
    Column("run time", lambda row: row.run_s, SECONDS_FORMAT, "run_s"),
    Column("gain", lambda row: row.gain, GAIN, "gain", INTERVAL_HEADING),
    Column("", lambda row: row.decided, key="decided"),
    Column("checked by", lambda row: "launches" if applicable(row) else "hand"),
    Column("", lambda row: applicable(row), key="applicable"),
    Column("", lambda row: row.candidate.choices, key="choices"),
    Column("", lambda row: dict(row.candidate.variables), key="variables"),
    Column("", lambda row: row.candidate.note, key="note"),
)
PATH: tuple[Column[PathRow], ...] = (
    Column("call", lambda row: brief(row.place)),
    Column("", lambda row: row.place, key="place"),
    Column("on path", lambda row: row.seconds, SECONDS_FORMAT, "seconds"),
    Column("computation", lambda row: row.parts["computed"] or None, SECONDS_FORMAT),
    Column("software", lambda row: row.software_s or None, SECONDS_FORMAT),
    Column("latency", lambda row: row.parts["latency"] or None, SECONDS_FORMAT),
    Column("transfer", lambda row: row.parts["transfer"] or None, SECONDS_FORMAT),
    Column("collective", lambda row: row.parts["collective"] or None, SECONDS_FORMAT),
    Column("unexplained", lambda row: row.parts["unexplained"] or None, SECONDS_FORMAT),
    Column("", lambda row: dict(row.parts), key="parts_s"),
)
UNEXPLAINED: tuple[Column[UnexplainedRow], ...] = (
    Column("call", lambda row: brief(row.place)),
    Column("", lambda row: row.place, key="place"),
    Column("over all ranks", lambda row: row.seconds, SECONDS_FORMAT, "seconds"),
    Column("of run time", lambda row: row.share, Format(_share), "share"),
    Column("erratic", lambda row: row.erratic_share, SHARE_FORMAT, "erratic_share"),
)
TOLERANCES: tuple[Column[ToleranceRow], ...] = (
    Column("run time", lambda row: f"+{format_percent(row.increase, 1)}"),
    Column("", lambda row: row.increase, key="increase"),
    Column("added latency", lambda row: row.latency_s, SECONDS_FORMAT, "latency_s", missing="any"),
    Column(
        "bandwidth",
        lambda row: row.bandwidth,
        Format(lambda value: f"{value:.3g} x"),
        "bandwidth",
        missing="any",
    ),
)
DELAYS: tuple[Column[Delay], ...] = (
    Column("waiting at", lambda row: brief(row.place)),
    Column("", lambda row: row.place, key="place"),
    Column("", lambda row: row.kind, key="kind"),
    Column("for rank", lambda row: row.by_rank, COUNT_FORMAT, "by_rank"),
    Column("which is late at", lambda row: brief(row.by_place)),
    Column("", lambda row: row.by_place, key="by_place"),
    Column("times", lambda row: row.count, COUNT_FORMAT, "count"),
    Column("time", lambda row: row.seconds, SECONDS_FORMAT, "seconds"),
)
RANKS: tuple[Column[RankRow], ...] = (
    Column("rank", lambda row: row.rank, COUNT_FORMAT, "rank"),
    Column("on path", lambda row: row.on_path_s, SECONDS_FORMAT, "on_path_s"),
    Column("slack", lambda row: row.slack_s, SECONDS_FORMAT, "slack_s"),
    Column("others wait", lambda row: row.delays_s, SECONDS_FORMAT, "delays_s"),
)
POP: tuple[Column[tuple[str, str, float]], ...] = (
    Column("efficiency", lambda row: row[0]),
    Column("", lambda row: row[1], key="metric"),
    Column("value", lambda row: row[2], SHARE_FORMAT, "value"),
)
CURVE: tuple[Column[tuple[float, float, float]], ...] = (
    Column("added latency", lambda row: row[0], SECONDS_FORMAT, "latency_s"),
    Column("run time", lambda row: row[1], SECONDS_FORMAT, "run_s"),
    Column("messages on path", lambda row: round(row[2]), COUNT_FORMAT, "slope"),
)


def applicable(what_if: WhatIf) -> bool:
    """Whether launches can make the changes."""
    return all(change.kind in APPLICABLE for change in what_if.candidate.changes)


def path_columns(rows: Sequence[PathRow]) -> list[Column[PathRow]]:
    """The columns of the critical path in which any of these places has a value."""
    return [
        column for column in PATH if column.heading and any(column.value(row) is not None for row in rows)
    ]


@dataclass(frozen=True)
class Answer:
    """The predictions for a traced program: for the `requested` changes, or a table of changes with the
    largest gain first. `curve` is the run time over the latency added to every message."""

    program: str
    ranks: int
    machine: str
    explained: ExplainedRun
    what_ifs: tuple[WhatIf, ...]
    pop: Pop | None
    curve: Curve | None = None
    requested: bool = False
    caveats: tuple[Caveat, ...] = ()
    withheld: bool = field(default=False)

    @property
    def sentences(self) -> Iterator[str]:
        """Sentences for the terminal, the replay error first."""
        explained = self.explained
        costs_only_program = explained.costs_only_program
        yield (
            f"{self.program} on {plural(self.ranks, 'rank')}: replayed in "
            f"{quantity(costs_only_program.value_s, 's')}, recorded {quantity(explained.recorded_s, 's')} "
            f"({format_signed_tenths(explained.error)} replay error), with the costs of {self.machine}."
        )
        if self.withheld:
            yield f"Gains are withheld: {explained.withheld_reason}."
        elif self.requested and self.what_ifs:
            yield from self._requested_sentences(self.what_ifs[0])
        elif self.what_ifs:
            yield from self._best_sentences()

    def _requested_sentences(self, what_if: WhatIf) -> Iterator[str]:
        bounds = _share_interval(what_if.gain)
        direction = "faster" if what_if.gain.value >= 0 else "slower"
        yield (
            f"With {what_if.text}: {quantity(what_if.run_s.value, 's')}, "
            f"{abs(what_if.gain.value):.1%} {direction} (95%: {bounds})"
            f"{'' if what_if.decided else ', which is no certain change'}."
        )
        inapplicable = [change for change in what_if.candidate.changes if change.kind in INAPPLICABLE_REASONS]
        if inapplicable:
            reasons = dict.fromkeys(
                f"{item.text}: {INAPPLICABLE_REASONS[item.kind]}" for item in inapplicable
            )
            yield f"Launches cannot make the change ({'; '.join(reasons)})."

    def _best_sentences(self) -> Iterator[str]:
        gains = [row for row in self.what_ifs if row.decided and row.gain.value > 0 and applicable(row)]
        if gains:
            best = gains[0]
            yield (
                f"The largest gain without changing the program: {best.text}, "
                f"{best.gain.value:.1%} ({_share_interval(best.gain)})."
            )
        else:
            yield "No change of MPI's algorithms is certain to make the program faster."

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables for a terminal."""
        tables = [self.what_if_table] if self.what_ifs else []
        if self.curve is not None and not self.withheld:
            tables.append(self.curve_table(MAX_CURVE_ROWS))
        if self.requested:
            return tuple(tables)
        return (*tables, *self.baseline_tables(MAX_PLACES, MAX_DELAYS, MAX_RANKS))

    @property
    def what_if_table(self) -> Table:
        return columns_table("what-if", "Changes", WHAT_IFS, self.what_ifs)

    def baseline_tables(self, places: int, delays: int, ranks: int) -> Iterator[Table]:
        explained = self.explained
        path = list(explained.path_rows())
        shown = [row for row in path if row.seconds >= 0.001 * path[0].seconds][:places]
        yield columns_table("critical-path", "Critical path", path_columns(shown), shown)
        unexplained = [
            row for row in explained.unexplained if max(abs(row.share), row.erratic_share) >= MIN_SHARE
        ]
        if unexplained:
            yield columns_table(
                "unexplained", "Not explained by the costs", UNEXPLAINED, unexplained[:places]
            )
        if self.pop is not None:
            yield columns_table("efficiencies", "Efficiencies (POP)", POP, _pop_rows(self.pop))
        yield columns_table("tolerance", "Tolerance", TOLERANCES, explained.tolerances())
        delay_rows = list(islice(explained.delays(), delays))
        if delay_rows:
            yield columns_table("delays", "Who delays whom", DELAYS, delay_rows)
        rows = sorted(explained.ranks(), key=lambda row: (-row.on_path_s, row.rank))[:ranks]
        yield columns_table("ranks", "Ranks", RANKS, rows)

    def curve_table(self, max_rows: int | None = None) -> Table:
        """The breakpoints of the curve, thinned to at most `max_rows`."""
        rows = list(curve_rows(self.curve)) if self.curve is not None else []
        caption = ""
        if max_rows is not None and len(rows) > max_rows:
            caption = f"{plural(len(rows) - 2, 'breakpoint')}; --json has all."
            row_numbers = np.unique(np.linspace(0, len(rows) - 1, max_rows).round().astype(int))
            rows = [rows[k] for k in row_numbers.tolist()]
        return columns_table("latency", "Run time with more latency", CURVE, rows, caption)

    @property
    def document(self) -> dict[str, Any]:
        explained = self.explained
        document = {
            "schema": 1,
            "program": self.program,
            "ranks": self.ranks,
            "machine": self.machine,
            "method": explained.method,
            "recorded_s": explained.recorded_s,
            "launches_s": list(explained.launches_s),
            "replayed_s": explained.costs_only_program.value_s,
            "replay_error": explained.error,
            "unexplained": columns_document(UNEXPLAINED, explained.unexplained),
            "withheld": self.withheld,
            "run_s": explained.run_s,
            "changes": columns_document(WHAT_IFS, self.what_ifs),
            "critical_path": columns_document(PATH, explained.path_rows()),
            "tolerance": columns_document(TOLERANCES, explained.tolerances()),
            "delays": columns_document(DELAYS, explained.delays()),
            "by_rank": columns_document(RANKS, explained.ranks()),
            "efficiencies": None if self.pop is None else columns_document(POP, _pop_rows(self.pop)),
            "curve": None,
            "warnings": list(self.caveats),
        }
        if self.curve is not None:
            document["curve"] = {
                "points": columns_document(CURVE, curve_rows(self.curve)),
                "exact": self.curve.exact,
                "convex": self.curve.convex,
            }
        return document

    def page(self, curve: Curve) -> Page:
        """The page of the predictions. `curve` is drawn as T(L), with the tolerances."""
        explained = self.explained
        path, *baseline_tables = self.baseline_tables(40, 40, 64)
        latency = (self.curve_table(),) if self.curve is not None else ()
        sections = (
            Section("Critical path", tables=(path,)),
            Section("Latency", figures=(latency_figure(explained, curve),), tables=latency),
            Section("Baseline", tables=tuple(baseline_tables)),
        )
        return Page(
            title=f"Predictions for {self.program}",
            subtitle=f"{plural(self.ranks, 'rank')}, {self.machine}",
            headline=tuple(self.sentences),
            warnings=self.caveats,
            sections=sections,
            environment=(
                ("recorded", str(quantity(explained.recorded_s, "s"))),
                ("replayed", str(quantity(explained.costs_only_program.value_s, "s"))),
                ("replay error", format_signed_tenths(explained.error)),
                ("evaluated", explained.method),
                ("launches", str(len(explained.launches_s))),
            ),
            method=METHOD,
            lead=gains_figure(self.what_ifs) if self.what_ifs else None,
            results=self.what_if_table if self.what_ifs else None,
        )


METHOD = (
    "Gains are shares of the run time, and negative ones are losses. Launches check what needs no source.",
    "The traces of all ranks are one graph: computation as recorded, messages and collectives with the costs "
    "of the machine. Its longest path is the run time.",
    "What the costs do not explain of the recorded calls stays as it was. A gain compares two evaluations of "
    "the graph. Its interval (at least 2%) contains the gain by the costs alone and the ends of the "
    "machine's costs; that of a run time also contains the differences between launches.",
)


def _pop_rows(pop: Pop) -> list[tuple[str, str, float]]:
    return [
        ("parallel efficiency", "parallel", pop.parallel),
        ("  load balance", "load_balance", pop.load_balance),
        ("  serialisation", "serialisation", pop.serialisation),
        ("  transfer", "transfer", pop.transfer),
    ]


def curve_rows(curve: Curve | None) -> Iterator[tuple[float, float, float]]:
    """The bounds and breakpoints of a curve: latency, run time, and the messages on the path from there on.
    Points at a jump, where messages cease to cross, are merged: only the last one counts."""
    if curve is None:
        return
    slopes = np.append(curve.slope, curve.slope[-1])
    is_last = np.append(np.diff(curve.x) > JUMP * (curve.x[-1] - curve.x[0]), True)
    is_last[0] = True
    points = (item[is_last].tolist() for item in (curve.x, curve.run_s, slopes))
    yield from zip(*points, strict=True)


def latency_figure(explained: ExplainedRun, curve: Curve) -> Figure:
    """T(L): the run time over the latency added to every message, its breakpoints, and the tolerances."""
    series = [
        Series("run time", tuple(curve.x.tolist()), tuple(curve.run_s.tolist()), kind="line"),
    ]
    inner = slice(1, -1)
    if len(curve.x) > 2:
        series.append(
            Series("breakpoints", tuple(curve.x[inner].tolist()), tuple(curve.run_s[inner].tolist()))
        )
    run_s = explained.program.value_s
    marks = [
        (row.latency_s, run_s * (1 + row.increase), row.increase)
        for row in explained.tolerances()
        if row.latency_s is not None and curve.x[0] <= row.latency_s <= curve.x[-1]
    ]
    if marks:
        series.append(
            Series(
                "tolerance",
                tuple(x for x, _, _ in marks),
                tuple(y for _, y, _ in marks),
                detail=tuple(f"+{increase:.0%} at {format_seconds(x)}" for x, _, increase in marks),
                tone="warning",
            )
        )
    notes = join_words([f"+{increase:.0%} at {format_seconds(x)}" for x, _, increase in marks])
    return Figure(
        "replay-latency",
        "Run time with more latency",
        Axis("latency added to each message", "s", "linear"),
        Axis("run time", "s", "linear"),
        tuple(series),
        f"The run time is {notes}." if notes else "",
    )


def gains_figure(what_ifs: Sequence[WhatIf]) -> Figure:
    """A bar for each change, with its interval."""
    rows = tuple(map(float, range(len(what_ifs))))
    gains = [what_if.gain for what_if in what_ifs]
    return Figure(
        "replay-gains",
        "Gains of changes",
        Axis("change", "", "linear", names=tuple(what_if.text for what_if in what_ifs)),
        Axis("gain, % of the run time", "", "linear", include=(0.0,)),
        (
            Series(
                "predicted gain",
                rows,
                tuple(100 * gain.value for gain in gains),
                tuple(100 * (gain.value if gain.low is None else gain.low) for gain in gains),
                tuple(100 * (gain.value if gain.high is None else gain.high) for gain in gains),
                detail=tuple(
                    f"{what_if.text}: {format_share(max(0.0, what_if.gain.value))}" for what_if in what_ifs
                ),
            ),
        ),
    )


def highest_latency(explained: ExplainedRun) -> float:
    """The upper bound of the drawn curve: twice the largest tolerated latency."""
    latencies_s = [row.latency_s for row in explained.tolerances() if row.latency_s is not None]
    return 2 * max(latencies_s) if latencies_s and math.isfinite(max(latencies_s)) else 1e-4
