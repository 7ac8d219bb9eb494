# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One launch of one case: the typical time of its visits and its uncertainty.

A visit lasts a few milliseconds, during which a machine hardly changes; between visits it may. The centre is
that of the logarithms of the visits' medians (`location`). Consecutive visits are correlated if a mode lasts
longer than the time between them. The variance of their mean is therefore that of independent visits times
tau, estimated from the winsorised values by batch means as for the repetitions of one visit (`interval`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.record import Record
from hockney.models.statistics.drift import block_variances, half_width_of_sum
from hockney.models.statistics.interval import estimate_correlation, interval_and_quantile
from hockney.models.statistics.location import (
    MIN_COUNT_TO_WINSORISE,
    Z,
    center,
    student,
    variance_of_center,
    winsorise,
)

MIN_TIME_S = 1e-12
"""Replaces times of zero, which a coarse clock or a simulator may report."""
MIN_SERIES_VISITS = 16
"""Minimum number of visits in all launches for a time series."""
MIN_VISITS = 6
"""Fewer visits are treated as one: all repetitions together give the median and its interval."""


@dataclass(frozen=True)
class LaunchTimes:
    """Logarithms of times (s). `center` is the launch's centre, `lower_width` and `upper_width` are the half
    widths of its 95% interval (nan without one), `quantile` is the quantile used for the interval. `visits`
    contains the medians of its visits in order, `at_s` their start times (seconds since 1970)."""

    center: float
    lower_width: float
    upper_width: float
    quantile: float
    visits: np.ndarray
    at_s: np.ndarray


def visit_medians(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """The visits and their start times, as in `LaunchTimes`, of a record with repetitions."""
    times_by_visit = record.times_by_visit
    visits = np.log(np.maximum(list(map(_median, times_by_visit)), MIN_TIME_S))
    return visits, np.array(record.visit_starts_s)


def launch_times(record: Record) -> LaunchTimes:
    """Compute the times of a record with repetitions."""
    visits, at_s = visit_medians(record)
    if len(visits) < MIN_VISITS:
        *median_and_bounds, quantile = interval_and_quantile(record.times_s)
        median, low, high = (np.nan if value is None else value for value in median_and_bounds)
        log, log_low, log_high = np.log(np.maximum((median, low, high), MIN_TIME_S))
        return LaunchTimes(log, log - log_low, log_high - log, quantile, visits, at_s)
    return times_of_visits(visits, at_s)


class LaunchTimesCache:
    """Caches `launch_times` for a growing run: each record is computed once."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], LaunchTimes] = {}

    def __call__(self, record: Record) -> LaunchTimes:
        key = record.launch, record.case
        if key not in self._times:
            self._times[key] = launch_times(record)
        return self._times[key]


def _median(times: list[float]) -> float:
    """Median; faster than numpy's for a few numbers."""
    sorted_times, middle_index = sorted(times), len(times) // 2
    return (
        sorted_times[middle_index]
        if len(times) % 2
        else (sorted_times[middle_index - 1] + sorted_times[middle_index]) / 2
    )


def times_of_visits(visits: np.ndarray, at_s: np.ndarray) -> LaunchTimes:
    """Times of one launch from its visits (logs of their medians, at least one) in order."""
    if len(visits) < 2:
        return LaunchTimes(float(visits[0]), np.nan, np.nan, Z, visits, at_s)
    winsorised = winsorise(visits)
    mean = float(np.add.reduce(winsorised)) / len(winsorised)
    half_width, quantile = _half_width(visits, winsorised, mean)
    launch_center = mean if len(visits) >= MIN_COUNT_TO_WINSORISE else float(center(visits))
    return LaunchTimes(launch_center, half_width, half_width, quantile, visits, at_s)


def series_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> np.ndarray:
    """The visits of all launches as one series in time order."""
    return np.concatenate(visits)[np.argsort(np.concatenate(at_s), kind="stable")]


def half_width_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> float:
    """Half width of the centre of all launches' visits as one series in time order (`drift`): if a mode
    continues into the next launch, launches are not independent. 0 if there are too few visits."""
    variances = block_variances_in_time(visits, at_s)
    return half_width_of_sum([variances]) if variances else 0.0


def block_variances_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> dict[int, float]:
    """Block variances of all launches' visits as one series in time order (`drift`); empty if there are too
    few visits."""
    if len(visits) < 2 or sum(map(len, visits)) < MIN_SERIES_VISITS:
        return {}
    return block_variances(winsorise(series_in_time(visits, at_s)))


def _half_width(visits: np.ndarray, winsorised: np.ndarray, mean: float) -> tuple[float, float]:
    """Half width of the interval and the quantile used. `winsorised` contains the winsorised visits, `mean`
    their mean."""
    count = len(visits)
    deviations = winsorised - mean
    squares = float(np.add.reduce(deviations * deviations))
    has_enough = count >= MIN_COUNT_TO_WINSORISE
    variance = squares / (count - 1) / count if has_enough else float(variance_of_center(visits)[0])
    scale = math.sqrt(squares / count)
    tau, z = estimate_correlation(deviations / scale) if scale > 0 else (1.0, 0.0)
    quantile = max(z, student(count - 1))
    return quantile * math.sqrt(variance * tau), quantile
