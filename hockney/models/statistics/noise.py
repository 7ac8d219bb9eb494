# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How much the times of a machine vary, how long they stay in a mode, and the precision this allows.

One case is visited as often as possible for some seconds. The logarithms of its visits become means over
intervals of 10 ms; the outermost twentieth at each end is clipped, since outliers hardly move a launch's
centre (`location`), but a mode that lasts for a tenth of the time does. The factor tau by which the variance
of the mean exceeds that of independent intervals is estimated from blocks of growing length (`interval`). tau
times the length of an interval is the correlation time: observations further apart are nearly independent.
For modes that last d seconds each it is d.

The typical time from T seconds in L launches then has the variance

    S / T + B / L + v / n,   S = variance of the intervals * correlation time

where B is the variance between launches beyond that due to their length (0 for a single launch), v that of
visits that follow each other immediately, and n the number of visits. The series of several launches counts
as one, so differences between launches are in S too: the estimate is rather too wide than too narrow. S / T
holds for T much longer than the correlation time. Seven blocks cannot show a correlation time above 0.3 of
the observation time, so one of more than a quarter means that the observation was too short. Modes that did
not change meanwhile are not detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Modes
from hockney.models.statistics.interval import correlation
from hockney.models.statistics.location import Z, center, student
from hockney.models.statistics.modes import FEWEST_VISITS, find_modes

INTERVAL_S = 0.01
FEWEST_INTERVALS = 4 * FEWEST_VISITS
CLIPPED = 0.05
"""Fraction of the visits, at each end."""
LONGEST_SHARE = 0.25
"""Fraction of the observation time: a longer correlation time cannot be determined."""


@dataclass(frozen=True)
class MeasuredNoise:
    """The noise of one case, visited `visits` times in `watched_s`. `fast_s` and `slow_s` are the 10% and 90%
    points of the visits' times; `correlation_s` is None if it is too long for the observation time.
    `mean_variance_s` is the variance of a mean times the seconds observed, `launch_variance` the variance
    between launches, `visit_variance` the variance of a single visit; all of logs."""

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
        """The 90% point over the 10% point."""
        return self.slow_s / self.fast_s

    def precision(self, seconds: float, launches: int, visits: int) -> float | None:
        """Approximate half width of the 95% interval of the typical time, relative to that time, if the case
        is visited this often in `seconds` and `launches`; None if modes last too long to be resolved. As in
        `location`, it is Student's, from the launches."""
        if self.correlation_s is None:
            return None
        over_time, over_launches = self.mean_variance_s / seconds, self.launch_variance / launches
        variance = over_time + over_launches + self.visit_variance / visits
        return float((student(launches - 1) if launches > 1 else Z) * np.sqrt(variance))


def noise(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> MeasuredNoise | None:
    """The noise of a case, from the logs of each launch's visits in order, and their start times; None if
    there are too few of them."""
    lengths = [float(np.ptp(moments)) for moments in at_s if len(moments)]
    watched = sum(lengths)
    all_visits = np.concatenate([*visits, np.empty(0)])
    if watched <= 0 or len(all_visits) < FEWEST_INTERVALS:
        return None
    ends = np.quantile(all_visits, (CLIPPED, 1 - CLIPPED))
    clipped = [np.clip(launch, *ends) for launch in visits if len(launch)]
    parts = [_means(each, moments) for each, moments in zip(clipped, filter(len, at_s), strict=True)]
    means = np.concatenate(parts)
    if len(means) < FEWEST_INTERVALS:
        return None
    variance = float(means.var(ddof=1))
    time = _inflation(means, variance) * watched / len(means)
    modes_found = find_modes(visits, at_s)
    longest = max(time, (modes_found.dwell_s or watched) if modes_found else 0.0)
    fast, slow = np.exp(np.percentile(all_visits, (10, 90)))
    return MeasuredNoise(
        typical_s=float(np.exp(center(all_visits))),
        fast_s=float(fast),
        slow_s=float(slow),
        visits=len(all_visits),
        watched_s=watched,
        modes=modes_found,
        correlation_s=time if longest <= LONGEST_SHARE * watched else None,
        mean_variance_s=variance * time,
        launch_variance=_launch_variance(parts),
        visit_variance=float(np.mean(np.concatenate([np.diff(each) for each in clipped]) ** 2) / 2),
    )


def _launch_variance(launches: Sequence[np.ndarray]) -> float:
    """The variance of launches' means beyond that explained by the intervals within each."""
    if len(launches) < 2:
        return 0.0
    variances = [float(means.var()) for means in launches]
    within = [v * _inflation(means, v) / len(means) for means, v in zip(launches, variances, strict=True)]
    return max(0.0, float(np.var([means.mean() for means in launches], ddof=1)) - float(np.mean(within)))


def _inflation(means: np.ndarray, variance: float) -> float:
    """tau of the means of intervals, which have this variance."""
    return correlation((means - means.mean()) / np.sqrt(variance))[0] if variance > 0 else 1.0


def _means(values: np.ndarray, at_s: np.ndarray) -> np.ndarray:
    """The means over intervals of equal length; those without a visit are left out."""
    index = ((at_s - at_s.min()) / INTERVAL_S).astype(np.int64)
    _, index = np.unique(index, return_inverse=True)
    return np.asarray(np.bincount(index, weights=values) / np.bincount(index))
