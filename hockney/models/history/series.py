# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times over the runs of a machine: series of cases and of operations, their changes, and whether the newest
run is unusual.

A time of the newest run is slower or faster if it is outside the interval expected for a new run by more than
the tolerance. Only runs since the last change of a case or of its operation are used. The p-values of all
cases and operations are adjusted together, as in comparisons (`models.comparison`).

Runs are the independent values. With the logarithms of n earlier runs, their robust centre m and variance s²,
a new run is expected within m ± t(n - 1) sqrt(s² (1 + 1/n)), a prediction interval. If the new run's interval
is wider than those of the earlier runs on average, for example because of fewer launches, the difference of
the variances is added."""

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

SIGNIFICANCE_LEVEL = 0.05

MIN_RUNS = 5
"""Earlier runs: fewer do not show how much runs differ."""
MAX_NOTICEABLE = 2.0
"""If even this factor would be usual, the answer is open."""

CheckState = Literal["slower", "faster", "usual", "undecided", "unknown"]
"""undecided: runs differ so much that twice the time would be usual; unknown: there are too few runs."""


@dataclass(frozen=True)
class RunPoint:
    """A run in a series. `log` is the log of its time (s) or, for an operation, of its mean ratio to the
    series' typical times. `half_width` is the half width of the 95% interval within the run, nan if
    unknown."""

    run: str
    at_s: float
    log: float
    half_width: float

    @property
    def value(self) -> Estimate:
        ends = np.exp([self.log - self.half_width, self.log + self.half_width])
        return estimate(math.exp(self.log), *map(float, ends))


@dataclass(frozen=True)
class TimeSeries:
    """The times of a case at a `level` or, with an empty `case`, of an operation: the mean of its `cases`
    cases relative to their typical times."""

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
        """Probability of its largest change if nothing had changed."""
        return change_significance(self.logs)

    @property
    def without_last(self) -> TimeSeries:
        return replace(self, points=self.points[:-1])


@dataclass(frozen=True)
class LevelChange:
    """The level changed between the previous run and the run `at`; with 95% certainty between the dates
    `first_s` and `last_s`. `ratio` is the level after the change divided by the level before."""

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
    """One series per case and level, sorted by workload, with runs in the order of their dates."""
    points: dict[tuple[str, str], list[RunPoint]] = {}
    for run in runs:
        for time in run.times.times:
            if time.typical_s > 0:
                half_width = math.nan
                if time.low_s and time.high_s:
                    half_width = math.log(time.high_s / time.low_s) / 2
                point = RunPoint(run.name, run.at_s, math.log(time.typical_s), half_width)
                points.setdefault((time.case, time.level), []).append(point)
    series = (
        TimeSeries(case.split(" ", 1)[0], level, case, tuple(series_points))
        for (case, level), series_points in points.items()
    )
    return sorted(series, key=lambda one_series: one_series.workload)


def operation_series(cases: Sequence[TimeSeries]) -> list[TimeSeries]:
    """One series per workload and level: the mean over the measured cases of a run, each relative to its
    centre over the runs, so runs may have different cases. The half width assumes that the errors of all
    cases of a run have the same sign."""
    groups: dict[tuple[str, str], list[TimeSeries]] = {}
    for case in cases:
        groups.setdefault((case.workload, case.level), []).append(case)
    return [_mean_series(workload, level, group) for (workload, level), group in groups.items()]


def _mean_series(workload: str, level: str, cases: Sequence[TimeSeries]) -> TimeSeries:
    by_run: dict[tuple[float, str], list[tuple[float, float]]] = {}
    for case in cases:
        center_log = float(center(np.array(case.logs)))
        for point in case.points:
            by_run.setdefault((point.at_s, point.run), []).append((point.log - center_log, point.half_width))
    points = []
    for (at_s, run), values in sorted(by_run.items()):
        mean_log, mean_half_width = np.mean(values, axis=0)
        points.append(RunPoint(run, at_s, float(mean_log), float(mean_half_width)))
    return TimeSeries(workload, level, "", tuple(points), len(cases))


def detect_trends(series: Sequence[TimeSeries]) -> list[Trend]:
    """The changes of all series together. If nothing changed, the probability of any change is at most 5%
    (Benjamini and Hochberg). Single series are cut at the level at which they are significant."""
    adjusted = adjust_p_values([one_series.significance for one_series in series])
    significant = sum(p_value <= SIGNIFICANCE_LEVEL for p_value in adjusted)
    level = SIGNIFICANCE_LEVEL * significant / len(series) if series else SIGNIFICANCE_LEVEL
    return [
        Trend(
            one_series,
            tuple(
                _level_change(one_series, change_point)
                for change_point in find_change_points(one_series.logs, level)
            )
            if p_value <= SIGNIFICANCE_LEVEL
            else (),
        )
        for one_series, p_value in zip(series, adjusted, strict=True)
    ]


def _level_change(series: TimeSeries, change_point: ChangePoint) -> LevelChange:
    points = series.points
    first, last = points[max(0, change_point.first - 1)], points[min(change_point.last, len(points) - 1)]
    return LevelChange(points[change_point.index], first.at_s, last.at_s, change_point.ratio.ratio)


@dataclass(frozen=True)
class CheckedSeries:
    """A case of the new run or, with an empty `series.case`, an operation. `ratio` is its time divided by
    that of the `runs` earlier runs since its last change `since`, with a prediction interval. `p_changed` is
    adjusted for the number of tests. A slowdown by the factor `noticeable` would be found."""

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
        """Number of additional earlier runs needed for an answer."""
        return max(0, MIN_RUNS - self.runs)


@dataclass(frozen=True)
class CheckedOperation:
    """An operation with the `mean` of all its cases; it is slower if the mean or a case is."""

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

    def cases_with(self, *states: CheckState) -> list[CheckedSeries]:
        """Cases with these states, largest ratios first."""
        matching = (case for case in self.cases if case.state in states)
        return sorted(matching, key=lambda each: -abs(math.log(each.ratio.value)))


@dataclass(frozen=True)
class _Test:
    series: TimeSeries
    new: RunPoint
    earlier: tuple[RunPoint, ...]
    since: LevelChange | None
    ratio: RatioEstimate | None


def check_run(earlier: Sequence[DatedRun], new: DatedRun, tolerance: float) -> tuple[CheckedOperation, ...]:
    """Check the new run against `earlier` runs on the same machine, in the order of their dates."""
    cases = case_series([*earlier, new])
    cases = [one_series for one_series in cases if one_series.points[-1].run == new.name]
    operations = operation_series(cases)
    series = [*cases, *operations]
    earlier_trends = detect_trends([one_series.without_last for one_series in series])
    trend_of_operation = {
        (one_series.series.workload, one_series.series.level): one_series
        for one_series in earlier_trends[len(cases) :]
    }
    tests = [
        _test_series(one_series, trend, trend_of_operation)
        for one_series, trend in zip(series, earlier_trends, strict=True)
    ]
    p_values = [None if test.ratio is None else p_changed(test.ratio, tolerance) for test in tests]
    adjusted = iter(adjust_p_values([p_value for p_value in p_values if p_value is not None]))
    checked = [
        _judge_test(test, None if p_value is None else next(adjusted), tolerance)
        for test, p_value in zip(tests, p_values, strict=True)
    ]
    groups: dict[tuple[str, str], list[CheckedSeries]] = {}
    for one_series in checked[: len(cases)]:
        groups.setdefault((one_series.series.workload, one_series.series.level), []).append(one_series)
    means = checked[len(cases) :]
    return tuple(
        CheckedOperation(mean, tuple(groups[mean.series.workload, mean.series.level])) for mean in means
    )


def _test_series(
    series: TimeSeries, trend_before: Trend, operation_trends: Mapping[tuple[str, str], Trend]
) -> _Test:
    operation = operation_trends[series.workload, series.level]
    changes = [trend.changes[-1] for trend in (trend_before, operation) if trend.changes]
    since = max(changes, key=lambda change: change.at.at_s, default=None)
    start = -math.inf if since is None else since.at.at_s
    earlier = tuple(point for point in trend_before.series.points if point.at_s >= start)
    new = series.points[-1]
    ratio = None
    if len(earlier) >= MIN_RUNS:
        ratio = ratio_to_usual(
            [p.log for p in earlier], new.log, [p.half_width for p in earlier], new.half_width
        )
    return _Test(series, new, earlier, since, ratio)


def _judge_test(test: _Test, p_value: float | None, tolerance: float) -> CheckedSeries:
    if test.ratio is None or p_value is None:
        mean_log = (
            sum(point.log for point in test.earlier) / len(test.earlier) if test.earlier else test.new.log
        )
        ratio = Estimate(math.exp(test.new.log - mean_log), None, None)
        open_state: CheckState = "unknown" if test.ratio is None else "undecided"
        return CheckedSeries(
            test.series, test.new, ratio, None, open_state, len(test.earlier), test.since, None
        )
    noticeable = math.exp(test.ratio.lower_width) * (1 + tolerance)
    state: CheckState = "usual" if noticeable <= MAX_NOTICEABLE else "undecided"
    if p_value <= SIGNIFICANCE_LEVEL:
        state = "slower" if test.ratio.ratio.value > 1 else "faster"
    return CheckedSeries(
        test.series, test.new, test.ratio.ratio, p_value, state, len(test.earlier), test.since, noticeable
    )


def ratio_to_usual(
    earlier: Sequence[float], new: float, earlier_half: Sequence[float] = (), new_half: float = math.nan
) -> RatioEstimate:
    """Ratio of the new run to the earlier ones (given as logarithms), with the 95% prediction interval around
    it if nothing changed. `earlier_half` and `new_half` are half widths of the 95% intervals within the runs,
    nan if unknown. No interval with fewer than two earlier runs."""
    logs = np.asarray(earlier, dtype=float)
    log_ratio = float(new - center(logs))
    count = len(logs)
    if count < 2:
        return RatioEstimate.from_log_ratio(log_ratio, log_ratio, math.nan, math.nan, 1.0)
    run_variance = float(winsorise_if_enough(logs).var(ddof=1))
    half_widths = np.asarray(earlier_half, dtype=float)
    mean_variance = float(np.nanmean((half_widths / Z) ** 2)) if np.isfinite(half_widths).any() else math.nan
    additional_variance = (new_half / Z) ** 2 - mean_variance
    variance = run_variance * (1 + 1 / count) + (
        max(0.0, additional_variance) if math.isfinite(additional_variance) else 0.0
    )
    half_width = student(count - 1.0) * math.sqrt(variance)
    return RatioEstimate.from_log_ratio(log_ratio, log_ratio, half_width, half_width, count - 1.0)
