# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times over the runs of a machine: series of cases and of operations, when they changed, and whether the
newest run is as usual.

A time of the newest run is slower or faster if it is outside of the interval in which a new run is expected,
by more than the tolerance. Only the runs since the last change of a case or of its operation count. The
probabilities of all cases and operations are adjusted together, as in comparisons (`models.comparison`).

Runs are the units. With the logarithms of n earlier runs, their robust centre m and variance s², a new run is
expected within m ± t(n - 1) sqrt(s² (1 + 1/n)), a prediction interval. If its own interval is wider than
those of the earlier runs on average, the difference of the variances is added: it may have fewer launches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.comparison import p_changed
from hockney.models.history.times import DatedRun
from hockney.models.statistics import (
    ChangePoint,
    RatioEstimate,
    Z,
    adjust_p_values,
    center,
    change_significance,
    estimate,
    find_change_points,
    student,
    winsorise_if_enough,
)

LEVEL = 0.05

FEWEST_RUNS = 5
"""Earlier runs: fewer do not show how much runs differ."""
WIDE = 2.0
"""If even this factor would be usual, the answer is open."""

CheckState = Literal["slower", "faster", "usual", "undecided", "unknown"]
"""undecided: runs differ so much that twice the time would be usual; unknown: there are too few runs."""


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
    """The level changed between the run before `at` and this run; with 95% certainty between the dates
    `first_s` and `last_s`. `ratio` is the level after it divided by that before."""

    at: RunPoint
    first_s: float
    last_s: float
    ratio: Estimate


@dataclass(frozen=True)
class Trend:
    """A series and its changes, in order."""

    series: TimeSeries
    changes: tuple[LevelChange, ...]


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
    series = (
        TimeSeries(case.split(" ", 1)[0], level, case, tuple(of)) for (case, level), of in points.items()
    )
    return sorted(series, key=lambda each: each.workload)


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
    fair = adjust_p_values([each.significance for each in series])
    significant = sum(p <= LEVEL for p in fair)
    level = LEVEL * significant / len(series) if series else LEVEL
    return [
        Trend(
            each,
            tuple(_change(each, at) for at in find_change_points(each.logs, level)) if p <= LEVEL else (),
        )
        for each, p in zip(series, fair, strict=True)
    ]


def _change(series: TimeSeries, found: ChangePoint) -> LevelChange:
    points = series.points
    first, last = points[max(0, found.first - 1)], points[min(found.last, len(points) - 1)]
    return LevelChange(points[found.index], first.at_s, last.at_s, found.ratio.ratio)


@dataclass(frozen=True)
class CheckedSeries:
    """A case of the new run, or an operation (`series.case` is empty). `ratio` is its time divided by that of
    `runs` earlier runs since `since`, its last change; the interval is that of a new run around it.
    `p_changed` is adjusted for the number of tests. A slowdown by `noticeable` would be found."""

    series: TimeSeries
    new: RunPoint
    ratio: Estimate
    p_changed: float | None
    state: CheckState
    runs: int
    since: LevelChange | None
    noticeable: float | None

    @property
    def needed(self) -> int:
        """Earlier runs that are missing for an answer."""
        return max(0, FEWEST_RUNS - self.runs)


@dataclass(frozen=True)
class CheckedOperation:
    """`mean` is that of all its cases; the operation is slower if the mean or a case is."""

    mean: CheckedSeries
    cases: tuple[CheckedSeries, ...]

    @property
    def workload(self) -> str:
        return self.mean.series.workload

    @property
    def level(self) -> str:
        return self.mean.series.level

    @property
    def state(self) -> CheckState:
        states = {self.mean.state, *(case.state for case in self.cases)}
        for state in ("slower", "faster"):
            if state in states:
                return "slower" if state == "slower" else "faster"
        return self.mean.state

    def of(self, *states: CheckState) -> list[CheckedSeries]:
        """Its cases with these states, largest ratios first."""
        chosen = (case for case in self.cases if case.state in states)
        return sorted(chosen, key=lambda each: -abs(math.log(each.ratio.value)))


@dataclass(frozen=True)
class _Test:
    series: TimeSeries
    new: RunPoint
    earlier: tuple[RunPoint, ...]
    since: LevelChange | None
    ratio: RatioEstimate | None


def check(earlier: Sequence[DatedRun], new: DatedRun, tolerance: float) -> tuple[CheckedOperation, ...]:
    """`earlier` are the runs before it on the same machine, in the order of their dates."""
    cases = case_series([*earlier, new])
    cases = [each for each in cases if each.points[-1].run == new.name]
    operations = operation_series(cases)
    series = [*cases, *operations]
    earlier_trends = trends([each.without_last for each in series])
    trend_of_operation = {
        (each.series.workload, each.series.level): each for each in earlier_trends[len(cases) :]
    }
    tests = [
        _test(each, trend, trend_of_operation) for each, trend in zip(series, earlier_trends, strict=True)
    ]
    p_values = [None if test.ratio is None else p_changed(test.ratio, tolerance) for test in tests]
    fair = iter(adjust_p_values([p for p in p_values if p is not None]))
    checked = [
        _checked(test, None if p is None else next(fair), tolerance)
        for test, p in zip(tests, p_values, strict=True)
    ]
    groups: dict[tuple[str, str], list[CheckedSeries]] = {}
    for each in checked[: len(cases)]:
        groups.setdefault((each.series.workload, each.series.level), []).append(each)
    means = checked[len(cases) :]
    return tuple(CheckedOperation(m, tuple(groups[m.series.workload, m.series.level])) for m in means)


def _test(series: TimeSeries, before: Trend, of_operation: Mapping[tuple[str, str], Trend]) -> _Test:
    operation = of_operation[series.workload, series.level]
    changes = [trend.changes[-1] for trend in (before, operation) if trend.changes]
    since = max(changes, key=lambda each: each.at.at_s, default=None)
    start = -math.inf if since is None else since.at.at_s
    earlier = tuple(point for point in before.series.points if point.at_s >= start)
    new = series.points[-1]
    ratio = None
    if len(earlier) >= FEWEST_RUNS:
        ratio = ratio_to_usual([p.log for p in earlier], new.log, [p.half for p in earlier], new.half)
    return _Test(series, new, earlier, since, ratio)


def _checked(test: _Test, p: float | None, tolerance: float) -> CheckedSeries:
    if test.ratio is None or p is None:
        middle = sum(each.log for each in test.earlier) / len(test.earlier) if test.earlier else test.new.log
        ratio = Estimate(math.exp(test.new.log - middle), None, None)
        open_: CheckState = "unknown" if test.ratio is None else "undecided"
        return CheckedSeries(test.series, test.new, ratio, None, open_, len(test.earlier), test.since, None)
    noticeable = math.exp(test.ratio.lower_width) * (1 + tolerance)
    state: CheckState = "usual" if noticeable <= WIDE else "undecided"
    if p <= LEVEL:
        state = "slower" if test.ratio.ratio.value > 1 else "faster"
    return CheckedSeries(
        test.series, test.new, test.ratio.ratio, p, state, len(test.earlier), test.since, noticeable
    )


def ratio_to_usual(
    earlier: Sequence[float], new: float, earlier_half: Sequence[float] = (), new_half: float = math.nan
) -> RatioEstimate:
    """The new run divided by the earlier ones (logarithms), with the 95% interval of that ratio if nothing
    changed but the run, around the ratio. `earlier_half` and `new_half` are half widths of the 95% intervals
    inside the runs, nan if unknown. Without an interval if there are fewer than two earlier runs."""
    logs = np.asarray(earlier, dtype=float)
    log = float(new - center(logs))
    count = len(logs)
    if count < 2:
        return RatioEstimate.from_log_ratio(log, log, math.nan, math.nan, 1.0)
    between = float(winsorise_if_enough(logs).var(ddof=1))
    halves = np.asarray(earlier_half, dtype=float)
    within = float(np.nanmean((halves / Z) ** 2)) if np.isfinite(halves).any() else math.nan
    more = (new_half / Z) ** 2 - within
    variance = between * (1 + 1 / count) + (max(0.0, more) if math.isfinite(more) else 0.0)
    half = student(count - 1.0) * math.sqrt(variance)
    return RatioEstimate.from_log_ratio(log, log, half, half, count - 1.0)
