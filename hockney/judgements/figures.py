# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements as figures: the biggest changes, each operation against its size, the times of single cases; and
series over time, with the levels between their changes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from hockney.core.case import Case
from hockney.core.units import format_percent
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series, Tone
from hockney.judgements.comparison import ComparedSides, labels, ratio, title, verdict
from hockney.judgements.history import day, short
from hockney.models.comparison import CaseVerdict, OperationVerdict, State
from hockney.models.history import FactChange, RunPoint, Trend
from hockney.models.statistics import Observation, center
from hockney.pages.format import quantity
from hockney.pages.series import estimates, estimates_by_state

MAX_ROWS = 16
MAX_SERIES = 6
QUANTILES = 60
STATES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("faster", ("faster",), ""),
    ("slower", ("slower",), "warning"),
    ("the same", ("same",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)
QUANTILE_RANGE = 0.02, 0.95
"""Beyond, a few interrupted repetitions would determine the scale."""
RATIO_RANGE = 0.8, 1.25
"""Every axis of ratios has these values, so that a change of 1% does not look like one of 100%."""
MIN_LABELLED = 0.04
"""The ends of a smaller tolerance are too close to 1 for labels."""


def biggest(comparison: ComparedSides) -> Figure | None:
    """A row for each of the cases that changed most; if none did, for those with the largest ratios."""
    changed = comparison.of("slower", "faster") or comparison.judged.biggest_first
    cases = sorted(changed[:MAX_ROWS], key=lambda each: -each.ratio.value)
    if not cases:
        return None
    name = labels(comparison)
    return Figure(
        "changes",
        "Biggest changes" if comparison.of("slower", "faster") else "Largest ratios",
        Axis("case", "case", "linear", names=tuple(name(each.case) for each in cases)),
        Axis("B / A", "", "log", include=RATIO_RANGE),
        estimates_by_state(
            STATES, ((each.state, k, each.ratio, _detail(each)) for k, each in enumerate(cases))
        ),
        f"Ratios with 95% intervals; hollow: undecided. The lines are 1 and the tolerance of "
        f"{format_percent(comparison.tolerance)}.",
        marks=_marks(comparison.tolerance),
    )


def _marks(tolerance: float) -> tuple[tuple[float, str], ...]:
    ends = (1 / (1 + tolerance), 1 + tolerance) if tolerance else ()
    named = {1.0, *ends} if tolerance >= MIN_LABELLED else {1.0}
    return tuple((at, f"{at:.3g}" if at in named else "") for at in sorted({1.0, *ends}))


def ratios_over_size(comparison: ComparedSides, operation: OperationVerdict) -> Figure | None:
    """The ratios of the operation over its size, or over the ranks if there is only one size; a series for
    each combination of the other parameters. None for a single point."""
    sizes = {each.size for each in operation.cases}
    ranks = {each.case.ranks for each in operation.cases}
    if max(len(sizes), len(ranks)) < 2:
        return None
    by_rank = len(sizes) < 2
    entry = operation.cases[0].workload
    varying = "ranks" if by_rank else entry.size
    series = _series(operation, varying)
    axis = (
        Axis("ranks", "ranks", include=tuple(map(float, ranks)))
        if by_rank
        else Axis(entry.size, entry.size_unit, "log", zero=min(sizes) == 0)
    )
    name = title(operation, comparison)
    return Figure(
        f"ratio-{name.replace(' ', '-')}",
        f"{name}: {verdict(operation.state)}",
        axis,
        Axis("B / A", "", "log", include=RATIO_RANGE),
        (_tolerance(comparison.tolerance, series), *series),
    )


def _series(operation: OperationVerdict, varying: str) -> tuple[Series, ...]:
    """The series of the MAX_SERIES combinations of other parameters with the largest changes."""
    groups: dict[tuple[object, ...], list[CaseVerdict]] = {}
    names = sorted(
        name
        for name in {name for each in operation.cases for name in each.case.values} - {varying}
        if len({each.case.get(name) for each in operation.cases}) > 1
    )
    for each in operation.cases:
        groups.setdefault(tuple(each.case.get(name) for name in names), []).append(each)
    largest = sorted(groups.items(), key=lambda group: -max(each.change for each in group[1]))[:MAX_SERIES]
    drawn: list[Series] = []
    for values, cases in sorted(largest, key=lambda group: list(map(str, group[0]))):
        title = ", ".join(_word(name, value) for name, value in zip(names, values, strict=True)) or "B / A"
        ratios = [(_x(each, varying), each.ratio, _detail(each)) for each in cases]
        ratios.sort(key=lambda point: point[0])
        points = estimates(title, ratios)
        bounds = [
            (x, r.value, r.low, r.high) for x, r, _ in ratios if r.low is not None and r.high is not None
        ]
        if bounds:
            drawn.append(_band(title, bounds))
        drawn.append(points)
    return tuple(each for each in drawn if each.x)


def _band(title: str, points: Sequence[tuple[float, float, float, float]]) -> Series:
    """x, y, low and high of each point."""
    x, y, low, high = zip(*points, strict=True)
    return Series(title, x, y, low, high, kind="line", group=title)


def _word(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    return plural(int(value), "rank") if name == "ranks" and isinstance(value, int) else f"{name} {value}"


def _x(each: CaseVerdict, varying: str) -> float:
    return float(each.case.ranks if varying == "ranks" else each.size)


def _tolerance(tolerance: float, series: Sequence[Series]) -> Series:
    """A band over the whole width."""
    x = sorted({at for each in series for at in each.x})
    count = len(x)
    return Series(
        f"within {format_percent(tolerance)}",
        tuple(x),
        (1.0,) * count,
        (1 / (1 + tolerance),) * count,
        (1 + tolerance,) * count,
        kind="line",
        tone="neutral",
    )


def distribution(comparison: ComparedSides, verdict: CaseVerdict) -> Figure:
    """The share of repetitions that took at most a given time, for both sides, and the launches' medians."""
    series = []
    for side, observation in zip("AB", verdict.observed, strict=True):
        times_s = np.array([time for record in observation.records for time in record.times_s])
        shares = np.linspace(*QUANTILE_RANGE, QUANTILES)
        quantiles = np.quantile(times_s, shares)
        series.append(
            Series(side, tuple(quantiles.tolist()), tuple(shares.tolist()), kind="line", group=side)
        )
        series.append(_launches(side, observation))
    name = labels(comparison)(verdict.case)
    return Figure(
        f"times-{_file(verdict.case)}",
        name,
        Axis("time", "s", "log"),
        Axis("share of the repetitions", "%", "linear", include=(0.0, 1.0)),
        tuple(series),
        f"B / A is {ratio(verdict.ratio)}. Lines: the repetitions, from 2% to 95% of them; points: the "
        "median of each launch.",
    )


def _launches(side: str, observation: Observation) -> Series:
    medians = sorted(median(record.times_s) for record in observation.records)
    shares = tuple((k + 0.5) / len(medians) for k in range(len(medians)))
    return Series(f"launches of {side}", tuple(medians), shares, group=side)


def _file(case: Case) -> str:
    return "-".join(case.line.replace("=", "-").split())


def _detail(each: CaseVerdict) -> str:
    a, b = (quantity(side.value, "s") for side in (each.a, each.b))
    return f"A {a}, B {b}, {each.launches[0]} and {each.launches[1]} launches: {verdict(each.state)}"


DAY_S = 86_400.0
RELATIVE_RANGE = 0.9, 1.1
"""Every axis has these multiples of the typical value, so that 1% does not look like 100%."""
MAX_FACTS = 4
UNIMPORTANT = ("hockney", "flags", "memory")
"""Facts that are not marked in figures."""


def over_time(trend: Trend, facts: tuple[FactChange, ...], labels: dict[str, str]) -> Figure:
    series = trend.series
    start = series.points[0].at_s
    runs = estimates("runs", [(_days(p, start), p.value, _run_detail(p, labels)) for p in series.points])
    middle = math.exp(float(center(np.array(series.logs))))
    name = re.sub(r"[^a-z0-9]+", "-", f"{short(series)}-{series.level}".lower()).strip("-")
    level = f", {series.level}" if series.level else ""
    unit = Axis("time", "s", "log", include=tuple(middle * each for each in RELATIVE_RANGE))
    relative = Axis("time, relative to the typical one", "", "log", include=RELATIVE_RANGE)
    return Figure(
        f"history-{name}",
        f"{short(series)}{level}",
        Axis(f"days since {day(start)}", "days", "linear"),
        unit if series.case else relative,
        (runs, *_levels(trend, start)),
        "A point for each run, with the 95% interval inside it; the lines are the levels between changes."
        + (" Vertical lines: changes of the environment." if facts else ""),
        marks=_fact_marks(facts, start),
    )


def _days(point: RunPoint, start: float) -> float:
    return (point.at_s - start) / DAY_S


def _run_detail(point: RunPoint, labels: dict[str, str]) -> str:
    return ", ".join(filter(None, (day(point.at_s), labels.get(point.run, ""), point.run)))


def _levels(trend: Trend, start: float) -> list[Series]:
    """A line for each part between changes."""
    points = trend.series.points
    cuts = [0, *(points.index(change.at) for change in trend.changes), len(points)]
    drawn: list[Series] = []
    for number, (first, last) in enumerate(pairwise(cuts)):
        part = points[first:last]
        level = math.exp(float(center(np.array([point.log for point in part]))))
        ends = (_days(part[0], start), _days(part[-1], start))
        tone: Tone = "warning" if number and level > drawn[-1].y[0] else "neutral"
        name = f"level from {day(part[0].at_s)}"
        drawn.append(Series(name, ends, (level, level), kind="line", group=name, tone=tone))
    return drawn


def _fact_marks(facts: tuple[FactChange, ...], start: float) -> tuple[tuple[float, str], ...]:
    """A mark for each run at which something changed."""
    at: dict[float, list[str]] = {}
    for fact in facts:
        if fact.fact not in UNIMPORTANT:
            at.setdefault((fact.at_s - start) / DAY_S, []).append(fact.fact)
    return tuple(
        (place, ", ".join(names[:MAX_FACTS]) + (" ..." if len(names) > MAX_FACTS else ""))
        for place, names in sorted(at.items())
        if place > 0
    )
