# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Series of times over the runs of a machine, of single cases and of operations, and when they changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.history.times import DatedRun
from hockney.models.statistics import (
    ChangePoint,
    adjusted,
    center,
    change_points,
    change_significance,
    estimate,
)

LEVEL = 0.05


@dataclass(frozen=True)
class RunPoint:
    """A run in a series: the logarithm of its time (s), or of its mean ratio to the series' typical times for
    an operation, and the half width of the 95% interval inside the run, nan if unknown."""

    run: str
    at_s: float
    log: float
    half: float

    @property
    def value(self) -> Estimate:
        ends = np.exp([self.log - self.half, self.log + self.half])
        return estimate(math.exp(self.log), *map(float, ends))


@dataclass(frozen=True)
class TimeSeries:
    """A case at a `level`, or an operation, whose `case` is empty: the mean of its `cases` cases, relative to
    their typical times."""

    workload: str
    level: str
    case: str
    points: tuple[RunPoint, ...]
    cases: int = 1

    @property
    def logs(self) -> list[float]:
        return [point.log for point in self.points]

    @cached_property
    def significance(self) -> float:
        """The probability of its largest change if nothing had changed."""
        return change_significance(self.logs)

    @property
    def without_last(self) -> TimeSeries:
        return replace(self, points=self.points[:-1])


@dataclass(frozen=True)
class LevelChange:
    """The level changed between the run `before` and the run `at`; with 95% certainty between the dates
    `first_s` and `last_s`. `ratio` is the level after it divided by that before."""

    before: RunPoint
    at: RunPoint
    first_s: float
    last_s: float
    ratio: Estimate


@dataclass(frozen=True)
class Trend:
    """A series and its changes, in order."""

    series: TimeSeries
    changes: tuple[LevelChange, ...]

    @property
    def current(self) -> tuple[RunPoint, ...]:
        """The points since the last change."""
        if not self.changes:
            return self.series.points
        start = self.series.points.index(self.changes[-1].at)
        return self.series.points[start:]


def case_series(runs: Iterable[DatedRun]) -> list[TimeSeries]:
    """One for each case and level, by workload; runs in the order of their dates."""
    points: dict[tuple[str, str], list[RunPoint]] = {}
    for run in runs:
        for time in run.times.times:
            if time.typical_s > 0:
                half = math.nan
                if time.low_s and time.high_s:
                    half = math.log(time.high_s / time.low_s) / 2
                point = RunPoint(run.name, run.at_s, math.log(time.typical_s), half)
                points.setdefault((time.case, time.level), []).append(point)
    listed = (
        TimeSeries(case.split(" ", 1)[0], level, case, tuple(of)) for (case, level), of in points.items()
    )
    return sorted(listed, key=lambda each: each.workload)


def operation_series(cases: Sequence[TimeSeries]) -> list[TimeSeries]:
    """One for each workload and level: the mean over the cases that a run has, each relative to its centre
    over the runs. So runs need not have the same cases. The half width is as if all cases of a run were wrong
    together."""
    groups: dict[tuple[str, str], list[TimeSeries]] = {}
    for each in cases:
        groups.setdefault((each.workload, each.level), []).append(each)
    return [_mean(workload, level, of) for (workload, level), of in groups.items()]


def _mean(workload: str, level: str, cases: Sequence[TimeSeries]) -> TimeSeries:
    by_run: dict[tuple[float, str], list[tuple[float, float]]] = {}
    for case in cases:
        middle = float(center(np.array(case.logs)))
        for point in case.points:
            by_run.setdefault((point.at_s, point.run), []).append((point.log - middle, point.half))
    points = []
    for (at_s, run), values in sorted(by_run.items()):
        log, half = np.mean(values, axis=0)
        points.append(RunPoint(run, at_s, float(log), float(half)))
    return TimeSeries(workload, level, "", tuple(points), len(cases))


def trends(series: Sequence[TimeSeries]) -> list[Trend]:
    """The changes of several series together: if nothing changed in any, there is one with a probability of
    5% at most (Benjamini and Hochberg); single series are cut at the level at which they were found."""
    fair = adjusted([each.significance for each in series])
    found = sum(p <= LEVEL for p in fair)
    level = LEVEL * found / len(series) if series else LEVEL
    return [
        Trend(each, tuple(_change(each, at) for at in change_points(each.logs, level)) if p <= LEVEL else ())
        for each, p in zip(series, fair, strict=True)
    ]


def _change(series: TimeSeries, found: ChangePoint) -> LevelChange:
    points = series.points
    first, last = points[max(0, found.first - 1)], points[min(found.last, len(points) - 1)]
    return LevelChange(points[found.at - 1], points[found.at], first.at_s, last.at_s, found.ratio.ratio)
