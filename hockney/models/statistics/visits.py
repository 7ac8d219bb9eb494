# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One launch of one case: its visits' typical time, and its uncertainty.

A visit lasts some milliseconds, in which a machine hardly changes; between visits it may. The centre is that
of the logarithms of the visits' medians (`location`). Consecutive visits are alike if a mode lasts longer
than the time between them, so the variance of their mean is that of independent visits times tau, found by
batch means as for the repetitions of one visit (`interval`), from the winsorised values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.record import Record
from hockney.models.statistics.drift import block_variances, half_width_of_sum
from hockney.models.statistics.interval import correlation, interval_and_quantile
from hockney.models.statistics.location import (
    FEWEST_TO_WINSORISE,
    Z,
    center,
    student,
    variance_of_center,
    winsorise,
)

SHORTEST_S = 1e-12
"""Replaces a time of zero, which a coarse clock or a simulator may report."""
FEWEST_IN_TIME = 16
"""Minimum visits in all launches for a series."""
FEWEST_VISITS = 6
"""Fewer are treated as one visit: their repetitions together give the median and its interval."""


@dataclass(frozen=True)
class LaunchTimes:
    """Logarithms of times (s). `center` is the launch's, `below` and `above` how far the ends of its 95%
    interval are from it (nan if there is none), `quantile` the one that the interval used; `visits` are the
    medians of its visits in order, `at_s` their start times (seconds since 1970)."""

    center: float
    below: float
    above: float
    quantile: float
    visits: np.ndarray
    at_s: np.ndarray


def visit_medians(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """The visits and their start times, as in `LaunchTimes`, of a record that has repetitions."""
    parts = record.times_by_visit
    visits = np.log(np.maximum(list(map(_median, parts)), SHORTEST_S))
    return visits, np.array(record.visit_starts_s)


def launch_times(record: Record) -> LaunchTimes:
    """The times of a record that has repetitions."""
    visits, at_s = visit_medians(record)
    if len(visits) < FEWEST_VISITS:
        *ends, quantile = interval_and_quantile(record.times_s)
        middle, low, high = (np.nan if t is None else t for t in ends)
        log, log_low, log_high = np.log(np.maximum((middle, low, high), SHORTEST_S))
        return LaunchTimes(log, log - log_low, log_high - log, quantile, visits, at_s)
    return times_of_visits(visits, at_s)


class LaunchTimesCache:
    """`launch_times` for a run that grows: computed once for each record."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], LaunchTimes] = {}

    def __call__(self, record: Record) -> LaunchTimes:
        key = record.launch, record.case
        if key not in self._times:
            self._times[key] = launch_times(record)
        return self._times[key]


def _median(times: list[float]) -> float:
    """Faster than numpy's for a few numbers."""
    ordered, half = sorted(times), len(times) // 2
    return ordered[half] if len(times) % 2 else (ordered[half - 1] + ordered[half]) / 2


def times_of_visits(visits: np.ndarray, at_s: np.ndarray) -> LaunchTimes:
    """The times of one launch, from its visits (logs of their medians, at least one) in order."""
    if len(visits) < 2:
        return LaunchTimes(float(visits[0]), np.nan, np.nan, Z, visits, at_s)
    kept = winsorise(visits)
    mean = float(np.add.reduce(kept)) / len(kept)
    half, quantile = _half_width(visits, kept, mean)
    middle = mean if len(visits) >= FEWEST_TO_WINSORISE else float(center(visits))
    return LaunchTimes(middle, half, half, quantile, visits, at_s)


def series_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> np.ndarray:
    """The visits of all launches as one series in the order of time."""
    return np.concatenate(visits)[np.argsort(np.concatenate(at_s), kind="stable")]


def half_width_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> float:
    """Half width of the centre of all launches' visits as one series in order of time (`drift`): if a mode
    continues into the next launch, launches are not independent. 0 if there are too few visits."""
    variances = block_variances_in_time(visits, at_s)
    return half_width_of_sum([variances]) if variances else 0.0


def block_variances_in_time(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> dict[int, float]:
    """The block variances of that series (`drift`); empty if there are too few visits."""
    if len(visits) < 2 or sum(map(len, visits)) < FEWEST_IN_TIME:
        return {}
    return block_variances(winsorise(series_in_time(visits, at_s)))


def _half_width(visits: np.ndarray, kept: np.ndarray, mean: float) -> tuple[float, float]:
    """`kept` are the visits with outliers moved in, `mean` is their mean."""
    count = len(visits)
    deviations = kept - mean
    squares = float(np.add.reduce(deviations * deviations))
    enough = count >= FEWEST_TO_WINSORISE
    variance = squares / (count - 1) / count if enough else float(variance_of_center(visits)[0])
    scale = math.sqrt(squares / count)
    tau, z = correlation(deviations / scale) if scale > 0 else (1.0, 0.0)
    quantile = max(z, student(count - 1))
    return quantile * math.sqrt(variance * tau), quantile
