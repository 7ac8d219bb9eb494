# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A series over time: its runs with their intervals, the levels between its changes."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np

from hockney.draw.figure import Axis, Figure, Series, Tone
from hockney.history.wording import day, short
from hockney.models.history import FactChange, RunPoint, Trend
from hockney.models.statistics import center
from hockney.pages.series import estimates

DAY_S = 86_400.0
LEAST_RANGE = 0.9, 1.1
"""Every axis has these multiples of the typical value, so that 1% does not look like 100%."""
MOST_FACTS = 4
UNIMPORTANT = ("hockney", "flags", "memory")
"""Facts that are not marked in figures."""


def over_time(trend: Trend, facts: tuple[FactChange, ...], labels: dict[str, str]) -> Figure:
    series = trend.series
    start = series.points[0].at_s
    runs = estimates("runs", [(_days(p, start), p.value, _detail(p, labels)) for p in series.points])
    middle = math.exp(float(center(np.array(series.logs))))
    name = re.sub(r"[^a-z0-9]+", "-", f"{short(series)}-{series.level}".lower()).strip("-")
    level = f", {series.level}" if series.level else ""
    unit = Axis("time", "s", "log", include=tuple(middle * each for each in LEAST_RANGE))
    relative = Axis("time, relative to the typical one", "", "log", include=LEAST_RANGE)
    return Figure(
        f"history-{name}",
        f"{short(series)}{level}",
        Axis(f"days since {day(start)}", "days", "linear"),
        unit if series.case else relative,
        (runs, *_levels(trend, start)),
        "A point for each run, with the 95% interval inside it; the lines are the levels between changes."
        + (" Vertical lines: changes of the environment." if facts else ""),
        marks=_marks(facts, start),
    )


def _days(point: RunPoint, start: float) -> float:
    return (point.at_s - start) / DAY_S


def _detail(point: RunPoint, labels: dict[str, str]) -> str:
    return ", ".join(filter(None, (day(point.at_s), labels.get(point.run, ""), point.run)))


def _levels(trend: Trend, start: float) -> list[Series]:
    """One line for each part between changes."""
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


def _marks(facts: tuple[FactChange, ...], start: float) -> tuple[tuple[float, str], ...]:
    """One line for each run at which something changed."""
    at: dict[float, list[str]] = {}
    for fact in facts:
        if fact.fact not in UNIMPORTANT:
            at.setdefault((fact.at_s - start) / DAY_S, []).append(fact.fact)
    return tuple(
        (place, ", ".join(names[:MOST_FACTS]) + (" ..." if len(names) > MOST_FACTS else ""))
        for place, names in sorted(at.items())
        if place > 0
    )
