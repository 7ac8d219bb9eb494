# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Speed-up and shares of the time of each benchmark, the effect of barriers, and the phases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hockney.core.fit import Estimate, ExactValue
from hockney.core.record import Record
from hockney.core.wording import together
from hockney.draw.page import Table
from hockney.pages.format import interval, no_interval, percent, quantity, ratio_interval, signed
from hockney.pages.metrics import RATE
from hockney.suites.npb.programs.assumptions import ASSUMPTIONS, CLOSE
from hockney.suites.npb.studies.npb.predicted import NpbPredictions
from hockney.suites.npb.studies.npb.results import NpbPoint, NpbResults

INTERVAL = "95% interval"
VERIFIED = {True: "yes", False: "no", None: "not checked"}


def benchmarks(run: NpbResults) -> Table:
    """Each benchmark without barriers on each number of ranks. There is a column for verification unless all
    results were verified."""
    unsure = any(p.verified is not True for p in run.plain)
    rows = tuple(
        (
            p.kernel,
            str(p.ranks),
            *([VERIFIED[p.verified]] if unsure else []),
            quantity(p.time.value, "s"),
            "" if p.rate is None else quantity(p.rate.value, RATE),
            *_ratio(run.speedup(p) if p.ranks > 1 else None),
            _percent(run.efficiency(p)),
            percent(p.share("messages", "collectives", "barriers")),
            percent(p.share("waiting")),
        )
        for p in run.plain
    )
    columns = (
        *("benchmark", "ranks", *(["verified"] if unsure else [])),
        *("time", "rate", "speed-up", INTERVAL, "efficiency", "communication", "waiting"),
    )
    caption = "Communication and waiting: shares of the time, as means over the ranks."
    if not unsure:
        caption = f"All answers were verified. {caption}"
    title = f"Benchmarks, class {together(run.classes)}"
    numeric = (1, *range(2 + unsure, len(columns)))
    return _shown(run, Table("npb", title, columns, rows, numeric, caption))


def times(run: NpbResults) -> Table:
    """Times and rates with their intervals, and how the ranks divide each benchmark."""
    rows = tuple(
        (
            p.kernel,
            p.size,
            str(p.ranks),
            quantity(p.time.value, "s"),
            interval(p.time, "s"),
            "" if p.rate is None else quantity(p.rate.value, RATE),
            "" if p.rate is None else interval(p.rate, RATE),
            p.decomposition,
        )
        for p in run.plain
    )
    columns = (
        "benchmark", "class", "ranks", "time", INTERVAL, "rate", INTERVAL, "decomposition",
    )  # fmt: skip
    return _shown(run, Table("npb-times", "Times and rates", columns, rows, tuple(range(2, 7))))


def means(run: NpbResults) -> Table | None:
    """Each barrier at each place, over all benchmarks; the cheapest first."""
    rows = tuple(
        (
            str(each.ranks),
            each.place,
            each.barrier,
            *_ratio(each.cost),
            *_won(each.won),
            percent(each.barriers),
            percent(each.waiting),
        )
        for each in run.means
    )
    columns = (
        "ranks", "after each", "barrier", "time with / without", INTERVAL, "won back", INTERVAL,
        "in barriers", "waiting",
    )  # fmt: skip
    caption = (
        "Ratios are geometric means over the benchmarks. Won back: of the time with MPI's barrier; "
        "more than MPI's share in barriers has other causes. In barriers: after the last rank has arrived. "
        "Waiting: for ranks that arrive later, at barriers and elsewhere. Both are shares of the time."
    )
    made = Table("npb-barriers", "Barriers", columns, rows, (0, *range(3, 9)), caption)
    return _shown(run, made) if rows else None


def effects(run: NpbResults) -> Table | None:
    """Each barrier in each benchmark."""
    rows = tuple(
        (
            each.point.kernel,
            str(each.point.ranks),
            each.point.place,
            each.point.barrier,
            quantity(each.point.time.value, "s"),
            *_ratio(each.cost),
            *_won(each.won),
            percent(each.point.share("barriers")),
            percent(each.point.share("waiting")),
            VERIFIED[each.point.verified],
        )
        for each in run.effects
    )
    columns = (
        "benchmark", "ranks", "after each", "barrier", "time", "with / without", INTERVAL,
        "won back", INTERVAL, "in barriers", "waiting", "verified",
    )  # fmt: skip
    title = "Barriers in each benchmark"
    return _shown(run, Table("npb-effects", title, columns, rows, (1, *range(4, 11)))) if rows else None


def phases(run: NpbResults) -> Table | None:
    """A table of where the time of each phase of an iteration goes, without barriers; None without phases."""
    rows = tuple(row for p in run.plain for row in _phases(p))
    columns = (
        "benchmark", "ranks", "phase", "time", "computation", "communication", "waiting", "share",
    )  # fmt: skip
    caption = "Of a run, as means over the ranks and launches."
    return Table("npb-phases", "Phases", columns, rows, (1, *range(3, 8)), caption) if rows else None


def _phases(p: NpbPoint) -> Iterator[tuple[str, ...]]:
    whole = sum(phase.total for phase in p.phases)
    for phase in p.phases:
        times = (phase.total, phase.computation, phase.communication, phase.waiting)
        share = percent(phase.total / whole) if whole else ""
        yield p.kernel, str(p.ranks), phase.name, *(quantity(each, "s") for each in times), share


def predicted(found: NpbPredictions) -> Table | None:
    """Predicted and measured times on several ranks, and the assumption of the prediction that fails."""
    rows = tuple(
        (
            each.point.kernel,
            each.point.size,
            str(each.point.ranks),
            quantity(each.point.time.value, "s"),
            quantity(each.predicted.total, "s"),
            signed(each.diagnosis.error),
            each.diagnosis.failing or "",
            each.diagnosis.phase,
            signed(each.diagnosis.corrected),
        )
        for each in found.of
    )
    columns = (
        "benchmark", "class", "ranks", "measured", "predicted", "error", "what fails", "in phase",
        "error without it",
    )  # fmt: skip
    fails = "; ".join(f"{name}: {words}" for name, words in ASSUMPTIONS.items())
    caption = (
        "From the time on one rank and the costs of messages and collectives. What fails: the assumption "
        "whose measured part of the time, in place of the predicted one, corrects most of an error above "
        f"{percent(CLOSE)}. Assumptions: {fails}."
    )
    title = "Predicted and measured"
    return Table("npb-predicted", title, columns, rows, (2, 3, 4, 5, 8), caption) if rows else None


def wrong(run: NpbResults) -> Table | None:
    """Cases with a wrong answer, each with the first error that was found."""
    rows = tuple((p.measured.case.line, VERIFIED[False], first_error(p.records)) for p in run.wrong)
    return Table("npb-wrong", "Wrong answers", ("case", "verified", "first"), rows) if rows else None


def first_error(records: Iterable[Record]) -> str:
    return next((record.verified.first for record in records if record.verified.errors), "")


def _shown(run: NpbResults, table: Table) -> Table:
    """The table, without the columns of intervals where times are exact."""
    if not run.evidence.machine.exact:
        return table
    kept = [k for k, name in enumerate(table.columns) if name != INTERVAL]
    return replace(
        table,
        columns=tuple(table.columns[k] for k in kept),
        rows=tuple(tuple(row[k] for k in kept) for row in table.rows),
        numeric=tuple(new for new, k in enumerate(kept) if k in table.numeric),
    )


def ratio_number(value: float) -> str:
    """The ratio with two decimals, or with two digits if it is small."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _ratio(value: Estimate | None) -> tuple[str, str]:
    """The ratio and its interval; empty if there is none."""
    return ("", "") if value is None else (ratio_number(value.value), ratio_interval(value))


def _won(share: Estimate | None) -> tuple[str, str]:
    if share is None:
        return "", ""
    if isinstance(share, ExactValue):
        return percent(share.value), no_interval(share)
    known = share.low is not None and share.high is not None
    return percent(share.value), f"{percent(share.low)} to {percent(share.high)}" if known else ""


def _percent(value: Estimate | None) -> str:
    return "" if value is None else percent(value.value)
