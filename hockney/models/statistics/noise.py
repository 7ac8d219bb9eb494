# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The variation of a machine's times, the duration of its modes, and the precision this allows.

One case is visited as often as possible for some seconds. The logarithms of its visits become means over
intervals of 10 ms; the outermost twentieth at each end is clipped: outliers hardly move a launch's centre
(`location`), but a mode that lasts for a tenth of the time does. The factor tau by which the variance of the
mean exceeds that of independent intervals is estimated from blocks of growing length (`interval`). tau times
the length of an interval is the correlation time: observations further apart are nearly independent. For
modes with a mean duration of d seconds it is d.

The typical time from T seconds in L launches then has the variance

    S / T + B / L + v / n,   S = variance of the intervals * correlation time

where B is the variance between launches beyond the part due to their length (0 for a single launch), v the
variance of immediately successive visits, and n the number of visits. The series of several launches are
joined, so S also includes differences between launches: the estimate errs on the wide side. S / T holds for T
much longer than the correlation time. Seven blocks cannot show a correlation time above 0.3 of the
observation time, so a correlation time of more than a quarter means that the observation was too short. A
mode that lasted throughout the observation is not detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Modes
from hockney.models.statistics.interval import estimate_correlation
from hockney.models.statistics.location import Z, center, student
from hockney.models.statistics.modes import MIN_VISITS, find_modes

INTERVAL_S = 0.01
MIN_INTERVALS = 4 * MIN_VISITS
CLIPPED_SHARE = 0.05
"""Fraction of the visits clipped at each end."""
MAX_CORRELATION_SHARE = 0.25
"""Maximum correlation time as a fraction of the observation time; longer ones cannot be determined."""


@dataclass(frozen=True)
class MeasuredNoise:
    """The noise of one case, visited `visits` times in `watched_s`. `fast_s` and `slow_s` are the 10% and 90%
    quantiles of the visits' times. `correlation_s` is None if it is too long for the observation time. All
    variances are of logs: `mean_variance_s` is the variance of a mean times the seconds observed,
    `launch_variance` the variance between launches, `visit_variance` the variance of a single visit."""

    typical_s: float
    fast_s: float
    slow_s: float
    visits: int
    watched_s: float
    modes: Modes | None
    correlation_s: float | None
    mean_variance_s: float
    launch_variance: float
    visit_variance: float

    @property
    def spread(self) -> float:
        """Ratio of the 90% quantile to the 10% quantile."""
        return self.slow_s / self.fast_s

    def precision(self, seconds: float, launches: int, visits: int) -> float | None:
        """Approximate half width of the 95% interval of the typical time, relative to that time, for this
        number of `visits` in `seconds` and `launches`; None if modes last too long to be resolved. As in
        `location`, the interval is Student's over the launches."""
        if self.correlation_s is None:
            return None
        over_time, over_launches = self.mean_variance_s / seconds, self.launch_variance / launches
        variance = over_time + over_launches + self.visit_variance / visits
        return float((student(launches - 1) if launches > 1 else Z) * np.sqrt(variance))


def measure_noise(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> MeasuredNoise | None:
    """Measure the noise of a case from the logs of each launch's visits in order, and their start times; None
    if there are too few visits."""
    durations_s = [float(np.ptp(starts_s)) for starts_s in at_s if len(starts_s)]
    watched_s = sum(durations_s)
    all_logs = np.concatenate([*visits, np.empty(0)])
    if watched_s <= 0 or len(all_logs) < MIN_INTERVALS:
        return None
    limits = np.quantile(all_logs, (CLIPPED_SHARE, 1 - CLIPPED_SHARE))
    clipped = [np.clip(launch, *limits) for launch in visits if len(launch)]
    interval_means = [
        _interval_means(logs, starts_s) for logs, starts_s in zip(clipped, filter(len, at_s), strict=True)
    ]
    means = np.concatenate(interval_means)
    if len(means) < MIN_INTERVALS:
        return None
    variance = float(means.var(ddof=1))
    correlation_s = _inflation_factor(means, variance) * watched_s / len(means)
    modes_found = find_modes(visits, at_s)
    longest_s = max(correlation_s, (modes_found.dwell_s or watched_s) if modes_found else 0.0)
    fast, slow = np.exp(np.percentile(all_logs, (10, 90)))
    return MeasuredNoise(
        typical_s=float(np.exp(center(all_logs))),
        fast_s=float(fast),
        slow_s=float(slow),
        visits=len(all_logs),
        watched_s=watched_s,
        modes=modes_found,
        correlation_s=correlation_s if longest_s <= MAX_CORRELATION_SHARE * watched_s else None,
        mean_variance_s=variance * correlation_s,
        launch_variance=_launch_variance(interval_means),
        visit_variance=float(np.mean(np.concatenate([np.diff(logs) for logs in clipped]) ** 2) / 2),
    )


def _launch_variance(launches: Sequence[np.ndarray]) -> float:
    """Variance of the launches' means beyond the variance explained by the intervals within each."""
    if len(launches) < 2:
        return 0.0
    variances = [float(means.var()) for means in launches]
    explained = [
        variance * _inflation_factor(means, variance) / len(means)
        for means, variance in zip(launches, variances, strict=True)
    ]
    return max(0.0, float(np.var([means.mean() for means in launches], ddof=1)) - float(np.mean(explained)))


def _inflation_factor(means: np.ndarray, variance: float) -> float:
    """Inflation factor tau of the means of intervals with this variance."""
    return estimate_correlation((means - means.mean()) / np.sqrt(variance))[0] if variance > 0 else 1.0


def _interval_means(values: np.ndarray, at_s: np.ndarray) -> np.ndarray:
    """Means over intervals of equal length; intervals without a visit are left out."""
    index = ((at_s - at_s.min()) / INTERVAL_S).astype(np.int64)
    _, index = np.unique(index, return_inverse=True)
    return np.asarray(np.bincount(index, weights=values) / np.bincount(index))
