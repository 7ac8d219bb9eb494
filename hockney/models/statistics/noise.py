# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How much the times of a machine vary, how long they stay as they are, and what precision that allows.

One case is visited as often as possible for some seconds. The logarithms of its visits become means over
intervals of 10 ms; the outermost twentieth at each end is clipped, since outliers hardly move a launch's
centre (`location`), but a mode that was seen for a tenth of the time does. How far the variance of the mean
exceeds that of independent intervals, tau, comes from blocks of growing length (`interval`). tau times the
length of an interval is the correlation time: observations further apart are nearly independent. For modes
that last d seconds each it is d.

T seconds in L launches then give the typical time with the variance

    S / T + B / L + v / n,   S = variance of the intervals * correlation time

where B is the variance between launches beyond that of their length (0 where one was watched), v that of
visits that follow each other at once, and n the number of visits. The series of several launches counts as
one, so what differs between launches is in S too: rather too wide than too narrow. S / T holds for T that is
long against the correlation time. Seven blocks show no correlation time above 0.3 of the watch, so one of
more than a quarter means that the watch was too short. Modes that did not change meanwhile are not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Modes
from hockney.models.statistics.interval import correlation
from hockney.models.statistics.location import Z, center
from hockney.models.statistics.modes import FEWEST_VISITS, modes

INTERVAL_S = 0.01
FEWEST_INTERVALS = 4 * FEWEST_VISITS
CLIPPED = 0.05
"""Of the visits, at each end."""
LONGEST_SHARE = 0.25
"""Of the watch: a longer correlation time is not known."""


@dataclass(frozen=True)
class MeasuredNoise:
    """Of one case, visited `visits` times in `watched_s`. `fast_s` and `slow_s` are the 10% and 90% points of
    the visits' times; `correlation_s` is None where it is too long for the watch. `mean_variance_s` is the
    variance of a mean times the seconds watched, `launch_variance` that between launches, `visit_variance`
    that of a single visit; all of logs."""

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
        """About the half width of the 95% interval of the typical time, over that time, where the case is
        visited so often in so many seconds and launches; None where modes last too long to tell."""
        if self.correlation_s is None:
            return None
        over_time, over_launches = self.mean_variance_s / seconds, self.launch_variance / launches
        return float(Z * np.sqrt(over_time + over_launches + self.visit_variance / visits))


def noise(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> MeasuredNoise | None:
    """Of the logs of each launch's visits in the order made, and the moments at which they began; None with
    too few of them."""
    lengths = [float(np.ptp(moments)) for moments in at_s if len(moments)]
    watched = sum(lengths)
    together = np.concatenate([*visits, np.empty(0)])
    if watched <= 0 or len(together) < FEWEST_INTERVALS:
        return None
    ends = np.quantile(together, (CLIPPED, 1 - CLIPPED))
    kept = [np.clip(launch, *ends) for launch in visits if len(launch)]
    parts = [_means(each, moments) for each, moments in zip(kept, filter(len, at_s), strict=True)]
    means = np.concatenate(parts)
    if len(means) < FEWEST_INTERVALS:
        return None
    variance = float(means.var(ddof=1))
    tau = correlation((means - means.mean()) / np.sqrt(variance))[0] if variance > 0 else 1.0
    time = tau * watched / len(means)
    two = modes(visits, at_s)
    longest = max(time, (two.dwell_s or watched) if two else 0.0)
    fast, slow = np.exp(np.percentile(together, (10, 90)))
    return MeasuredNoise(
        typical_s=float(np.exp(center(together))),
        fast_s=float(fast),
        slow_s=float(slow),
        visits=len(together),
        watched_s=watched,
        modes=two,
        correlation_s=time if longest <= LONGEST_SHARE * watched else None,
        mean_variance_s=variance * time,
        launch_variance=_between(parts),
        visit_variance=float(np.mean(np.concatenate([np.diff(each) for each in kept]) ** 2) / 2),
    )


def _between(launches: Sequence[np.ndarray]) -> float:
    """The variance of launches' means beyond what the intervals within each explain."""
    if len(launches) < 2:
        return 0.0
    within = []
    for means in launches:
        variance = float(means.var())
        tau = correlation((means - means.mean()) / np.sqrt(variance))[0] if variance > 0 else 1.0
        within.append(variance * tau / len(means))
    return max(0.0, float(np.var([means.mean() for means in launches], ddof=1)) - float(np.mean(within)))


def _means(values: np.ndarray, at_s: np.ndarray) -> np.ndarray:
    """Over intervals of equal length; those without a visit are left out."""
    index = ((at_s - at_s.min()) / INTERVAL_S).astype(np.int64)
    _, index = np.unique(index, return_inverse=True)
    return np.asarray(np.bincount(index, weights=values) / np.bincount(index))
