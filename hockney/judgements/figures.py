# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of judgements: the biggest changes, each operation against its size, the times of single cases, and
series over time with the levels between their changes."""

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
from hockney.judgements.comparison import (
    ComparedSides,
    comparison_labels,
    delays_text,
    operation_title,
    ratio_text,
    state_text,
)
from hockney.judgements.history import date_only, short_case
from hockney.models.comparison import CaseVerdict, OperationVerdict, State
from hockney.models.history import FactChange, RunPoint, Trend
from hockney.models.statistics import Observation, center
from hockney.pages.format import quantity
from hockney.pages.series import estimates, estimates_by_state

MAX_ROWS = 16
MAX_SERIES = 6
QUANTILES = 60
STATE_STYLES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("faster", ("faster",), ""),
    ("slower", ("slower",), "warning"),
    ("the same", ("same",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)
QUANTILE_RANGE = 0.02, 0.95
"""Outside of this range, a few interrupted repetitions would determine the scale."""
RATIO_RANGE = 0.8, 1.25
"""Every ratio axis includes these values, so that a change of 1% does not look like one of 100%."""
MIN_LABELLED = 0.04
"""The bounds of a smaller tolerance are too close to 1 for labels."""


def biggest_changes_figure(comparison: ComparedSides) -> Figure | None:
    """Return a figure with a row for each of the cases with the biggest changes, or with the largest ratios
    if nothing changed."""
    candidates = comparison.cases_with_states("slower", "faster") or comparison.judged_cases.biggest_first
    cases = sorted(candidates[:MAX_ROWS], key=lambda verdict: -verdict.ratio.value)
    if not cases:
        return None
    label = comparison_labels(comparison)
    return Figure(
        "changes",
        "Biggest changes" if comparison.cases_with_states("slower", "faster") else "Largest ratios",
        Axis("case", "case", "linear", names=tuple(label(verdict) for verdict in cases)),
        Axis("B / A", "", "log", include=RATIO_RANGE),
        estimates_by_state(
            STATE_STYLES,
            ((verdict.state, k, verdict.ratio, _verdict_detail(verdict)) for k, verdict in enumerate(cases)),
        ),
        f"Ratios with 95% intervals; hollow: undecided. The lines are 1 and the tolerance of "
        f"{format_percent(comparison.tolerance)}.",
        marks=_tolerance_marks(comparison.tolerance),
    )


def _tolerance_marks(tolerance: float) -> tuple[tuple[float, str], ...]:
    bounds = (1 / (1 + tolerance), 1 + tolerance) if tolerance else ()
    labelled = {1.0, *bounds} if tolerance >= MIN_LABELLED else {1.0}
    return tuple(
        (position, f"{position:.3g}" if position in labelled else "") for position in sorted({1.0, *bounds})
    )


def ratios_figure(comparison: ComparedSides, operation: OperationVerdict) -> Figure | None:
    """Return a figure of the operation's ratios over its size, or over the ranks if there is only one size.
    Each combination of the other parameters is a series. None for a single point."""
    sizes = {verdict.size for verdict in operation.cases}
    ranks = {verdict.case.ranks for verdict in operation.cases}
    if max(len(sizes), len(ranks)) < 2:
        return None
    by_rank = len(sizes) < 2
    entry = operation.cases[0].workload
    x_name = "ranks" if by_rank else entry.size
    series = _ratio_series(operation, x_name)
    axis = (
        Axis("ranks", "ranks", include=tuple(map(float, ranks)))
        if by_rank
        else Axis(entry.size, entry.size_unit, "log", zero=min(sizes) == 0)
    )
    name = operation_title(operation, comparison)
    return Figure(
        f"ratio-{name.replace(' ', '-')}",
        f"{name}: {state_text(operation.state)}",
        axis,
        Axis("B / A", "", "log", include=RATIO_RANGE),
        (_tolerance_band(comparison.tolerance, series), *series),
    )


def _ratio_series(operation: OperationVerdict, x_name: str) -> tuple[Series, ...]:
    """Return the series of the MAX_SERIES combinations of other parameters with the largest changes."""
    groups: dict[tuple[object, ...], list[CaseVerdict]] = {}
    names = sorted(
        name
        for name in {name for verdict in operation.cases for name in verdict.case.values} - {x_name}
        if len({verdict.case.get(name) for verdict in operation.cases}) > 1
    )
    for verdict in operation.cases:
        groups.setdefault(tuple(verdict.case.get(name) for name in names), []).append(verdict)
    largest_groups = sorted(groups.items(), key=lambda group: -max(verdict.change for verdict in group[1]))[
        :MAX_SERIES
    ]
    series: list[Series] = []
    for values, cases in sorted(largest_groups, key=lambda group: list(map(str, group[0]))):
        title = (
            ", ".join(_value_text(name, value) for name, value in zip(names, values, strict=True)) or "B / A"
        )
        verdict_points = [
            (_x_value(verdict, x_name), verdict.ratio, _verdict_detail(verdict)) for verdict in cases
        ]
        verdict_points.sort(key=lambda point: point[0])
        points = estimates(title, verdict_points)
        bounds = [
            (x, ratio_.value, ratio_.low, ratio_.high)
            for x, ratio_, _ in verdict_points
            if ratio_.low is not None and ratio_.high is not None
        ]
        if bounds:
            series.append(_band_series(title, bounds))
        series.append(points)
    return tuple(verdict for verdict in series if verdict.x)


def _band_series(title: str, points: Sequence[tuple[float, float, float, float]]) -> Series:
    """Return a band from x, y, lower and upper bound of each point."""
    x, y, lower, upper = zip(*points, strict=True)
    return Series(title, x, y, lower, upper, kind="line", group=title)


def _value_text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    return plural(int(value), "rank") if name == "ranks" and isinstance(value, int) else f"{name} {value}"


def _x_value(verdict: CaseVerdict, x_name: str) -> float:
    return float(verdict.case.ranks if x_name == "ranks" else verdict.size)


def _tolerance_band(tolerance: float, series: Sequence[Series]) -> Series:
    """Return a band for the tolerance over the whole width."""
    positions = sorted({position for line in series for position in line.x})
    count = len(positions)
    return Series(
        f"within {format_percent(tolerance)}",
        tuple(positions),
        (1.0,) * count,
        (1 / (1 + tolerance),) * count,
        (1 + tolerance,) * count,
        kind="line",
        tone="neutral",
    )


def distribution_figure(comparison: ComparedSides, verdict: CaseVerdict) -> Figure:
    """Return the share of repetitions that took at most a given time, for both sides, and the medians of the
    launches."""
    series = []
    for side, observation in zip("AB", verdict.observed, strict=True):
        times_s = np.array([time for record in observation.records for time in record.times_s])
        shares = np.linspace(*QUANTILE_RANGE, QUANTILES)
        quantiles = np.quantile(times_s, shares)
        series.append(
            Series(side, tuple(quantiles.tolist()), tuple(shares.tolist()), kind="line", group=side)
        )
        series.append(_launch_medians(side, observation))
    name = comparison_labels(comparison)(verdict)
    return Figure(
        f"times-{_file_name(verdict.case)}",
        name,
        Axis("time", "s", "log"),
        Axis("share of the repetitions", "%", "linear", include=(0.0, 1.0)),
        tuple(series),
        f"B / A is {ratio_text(verdict.ratio)}. Lines: the repetitions, from 2% to 95% of them; points: the "
        "median of each launch.",
    )


def _launch_medians(side: str, observation: Observation) -> Series:
    medians = sorted(median(record.times_s) for record in observation.records)
    shares = tuple((k + 0.5) / len(medians) for k in range(len(medians)))
    return Series(f"launches of {side}", tuple(medians), shares, group=side)


def _file_name(case: Case) -> str:
    return "-".join(case.line.replace("=", "-").split())


def _verdict_detail(verdict: CaseVerdict) -> str:
    a, b = (quantity(side.value, "s") for side in (verdict.a, verdict.b))
    delays = f", delays {text}" if (text := delays_text(verdict)) else ""
    launches = f"{verdict.launches[0]} and {verdict.launches[1]} launches"
    return f"A {a}, B {b}{delays}, {launches}: {state_text(verdict.state)}"


DAY_S = 86_400.0
RELATIVE_RANGE = 0.9, 1.1
"""Every axis includes these multiples of the typical value, so that 1% does not look like 100%."""
MAX_FACTS = 4
UNMARKED_FACTS = ("hockney", "flags", "memory")
"""Facts that are not marked in figures."""


def trend_figure(trend: Trend, facts: tuple[FactChange, ...], labels: dict[str, str]) -> Figure:
    series = trend.series
    start = series.points[0].at_s
    runs = estimates(
        "runs",
        [(_days_since(point, start), point.value, _run_detail(point, labels)) for point in series.points],
    )
    typical = math.exp(float(center(np.array(series.logs))))
    name = re.sub(r"[^a-z0-9]+", "-", f"{short_case(series)}-{series.level}".lower()).strip("-")
    level = f", {series.level}" if series.level else ""
    time_axis = Axis("time", "s", "log", include=tuple(typical * factor for factor in RELATIVE_RANGE))
    relative_axis = Axis("time, relative to the typical one", "", "log", include=RELATIVE_RANGE)
    return Figure(
        f"history-{name}",
        f"{short_case(series)}{level}",
        Axis(f"days since {date_only(start)}", "days", "linear"),
        time_axis if series.case else relative_axis,
        (runs, *_level_lines(trend, start)),
        "A point for each run, with the 95% interval inside it; the lines are the levels between changes."
        + (" Vertical lines: changes of the environment." if facts else ""),
        marks=_fact_marks(facts, start),
    )


def _days_since(point: RunPoint, start: float) -> float:
    return (point.at_s - start) / DAY_S


def _run_detail(point: RunPoint, labels: dict[str, str]) -> str:
    return ", ".join(filter(None, (date_only(point.at_s), labels.get(point.run, ""), point.run)))


def _level_lines(trend: Trend, start: float) -> list[Series]:
    """Return a line for each segment between changes."""
    points = trend.series.points
    boundaries = [0, *(points.index(change.at) for change in trend.changes), len(points)]
    lines: list[Series] = []
    for number, (first, last) in enumerate(pairwise(boundaries)):
        segment = points[first:last]
        level = math.exp(float(center(np.array([point.log for point in segment]))))
        span = (_days_since(segment[0], start), _days_since(segment[-1], start))
        tone: Tone = "warning" if number and level > lines[-1].y[0] else "neutral"
        name = f"level from {date_only(segment[0].at_s)}"
        lines.append(Series(name, span, (level, level), kind="line", group=name, tone=tone))
    return lines


def _fact_marks(facts: tuple[FactChange, ...], start: float) -> tuple[tuple[float, str], ...]:
    """Return a mark for each run at which a fact changed."""
    names_by_day: dict[float, list[str]] = {}
    for fact in facts:
        if fact.fact not in UNMARKED_FACTS:
            names_by_day.setdefault((fact.at_s - start) / DAY_S, []).append(fact.fact)
    return tuple(
        (day_, ", ".join(names[:MAX_FACTS]) + (" ..." if len(names) > MAX_FACTS else ""))
        for day_, names in sorted(names_by_day.items())
        if day_ > 0
    )
