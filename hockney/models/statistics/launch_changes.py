# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How much the launches of a case differ, apart from their settings, and which difference of two settings
that may explain.

Launches with different settings take turns: a round has one launch of each. The log times are taken for the
sum of an effect of the setting, one of the round, and a change of each launch, which is the residual (a
randomized block design; D. C. Montgomery, 'Design and Analysis of Experiments', ch. 4). The residuals of all
settings together give the variance of that change. If a machine has a slow mode that lasts for some launches,
the few launches of one setting may all be in it: they agree, but those of the other settings do not, and the
variance includes that. With two settings, this is the paired t test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics.location import blended

FEWEST_FREEDOM = 2
"""With fewer degrees of freedom, the variance is practically unknown."""


@dataclass(frozen=True)
class LaunchChanges:
    """`log_means` are the log times of the settings, with the covariance `variance * shares`; `variance` is
    that of a single launch's change, with `freedom` degrees of freedom. `largest` is the largest difference
    of two launches with the same setting, and no more than this beyond that of the other settings' launches
    in the same rounds."""

    log_means: np.ndarray
    shares: np.ndarray
    variance: float
    freedom: int
    largest: float

    @property
    def deviation(self) -> float:
        """The standard deviation of a launch's change (log)."""
        return float(np.sqrt(self.variance))

    def difference(self, of: int, over: int, below: float, above: float) -> tuple[float, float]:
        """Low and high of the difference of two settings' log times, by their indices. `below` and `above`
        are its half widths as the spread within launches predicts them, nan if unknown."""
        middle = self.log_means[of] - self.log_means[over]
        share = self.shares[of, of] + self.shares[over, over] - 2 * self.shares[of, over]
        low, high = (float(blended(self.variance * share, self.freedom, side)) for side in (below, above))
        return float(middle - low), float(middle + high)


def launch_changes(series: Sequence[Sequence[np.ndarray]]) -> LaunchChanges | None:
    """The changes of launches, from one or more series for each setting, which are equivalent: the log times
    of their launches, one for each round. None if there are too few."""
    cells = [
        (setting, round_, float(log))
        for setting, same in enumerate(series)
        for logs in same
        for round_, log in enumerate(logs)
    ]
    settings, rounds = len(series), max(round_ for _, round_, _ in cells) + 1
    design = np.zeros((len(cells), settings + rounds - 1))
    for row, (setting, round_, _) in enumerate(cells):
        design[row, setting] = 1.0
        if round_:
            design[row, settings + round_ - 1] = 1.0
    inverse = np.linalg.pinv(design.T @ design)
    logs = np.array([log for _, _, log in cells])
    fitted = inverse @ design.T @ logs
    freedom = len(cells) - int(np.linalg.matrix_rank(design))
    if freedom < FEWEST_FREEDOM:
        return None
    residual = logs - design @ fitted
    variance = float(residual @ residual) / freedom
    count = sum(map(len, series))
    beyond = residual * count / (count - 1)  # of the other series: a residual is relative to all of them
    of_setting = np.array([setting for setting, _, _ in cells])
    largest = max(
        min(float(np.ptp(logs[of_setting == k])), float(np.ptp(beyond[of_setting == k])))
        for k in range(settings)
    )
    return LaunchChanges(fitted[:settings], inverse[:settings, :settings], variance, freedom, largest)
