# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How much the times of a machine vary, how long they stay as they are, and what precision that allows.

One case is visited as often as possible for some seconds. The logarithms of its visits become means over
intervals of 10 ms; the outermost twentieth at each end is clipped, since outliers hardly move a launch's
centre (`location`), but a mode that was seen for a tenth of the time does. How far the variance of the mean
exceeds that of independent intervals, tau, comes from blocks of growing length (`interval`). tau times the
length of an interval is the correlation time: after so long the machine shows something new. For modes that
last d seconds each it is d.

A watch of T seconds then knows the typical time with the variance

    S / T + v / n,   S = variance of the intervals * correlation time

where v is the variance of visits that follow each other at once, and n the number of visits. S / T holds for
T that is long against the correlation time. Seven blocks show no correlation time above 0.3 of the watch, so
one of more than a quarter means that the watch was too short. Modes that did not change while watched are not
seen, nor is what differs between launches: the result is a lower bound there."""

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
    variance of a mean times the seconds watched, `visit_variance` that of a single visit; both of logs."""

    typical_s: float
    fast_s: float
    slow_s: float
    visits: int
    watched_s: float
    modes: Modes | None
    correlation_s: float | None
    mean_variance_s: float
    visit_variance: float

    @property
    def spread(self) -> float:
        """The 90% point over the 10% point."""
        return self.slow_s / self.fast_s

    def precision(self, seconds: float, visits: int) -> float | None:
        """About the half width of the 95% interval of the typical time, over that time, where the case is
        visited so often in so many seconds; None where modes last too long to tell."""
        if self.correlation_s is None:
            return None
        return float(Z * np.sqrt(self.mean_variance_s / seconds + self.visit_variance / visits))


def noise(visits: np.ndarray, at_s: np.ndarray) -> MeasuredNoise | None:
    """Of the logs of one launch's visits in the order made, and the moments at which they began; None with
    too few of them."""
    watched = float(np.ptp(at_s)) if len(at_s) else 0.0
    if watched <= 0 or len(visits) < FEWEST_INTERVALS:
        return None
    kept = np.clip(visits, *np.quantile(visits, (CLIPPED, 1 - CLIPPED)))
    means = _means(kept, at_s)
    if len(means) < FEWEST_INTERVALS:
        return None
    variance = float(means.var(ddof=1))
    tau = correlation((means - means.mean()) / np.sqrt(variance))[0] if variance > 0 else 1.0
    time = tau * watched / len(means)
    two = modes([visits], [at_s])
    longest = max(time, (two.dwell_s or watched) if two else 0.0)
    fast, slow = np.exp(np.percentile(visits, (10, 90)))
    return MeasuredNoise(
        typical_s=float(np.exp(center(visits))),
        fast_s=float(fast),
        slow_s=float(slow),
        visits=len(visits),
        watched_s=watched,
        modes=two,
        correlation_s=time if longest <= LONGEST_SHARE * watched else None,
        mean_variance_s=variance * time,
        visit_variance=float(np.mean(np.diff(kept) ** 2) / 2),
    )


def _means(values: Sequence[float] | np.ndarray, at_s: np.ndarray) -> np.ndarray:
    """Over intervals of equal length; those without a visit are left out."""
    index = ((at_s - at_s.min()) / INTERVAL_S).astype(np.int64)
    _, index = np.unique(index, return_inverse=True)
    return np.asarray(np.bincount(index, weights=values) / np.bincount(index))
