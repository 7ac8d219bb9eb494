# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case in several runs, whose launches count together, and how much the runs differ.

The launches of a run share its place in time, its nodes, and what else was set up once. If the means of the
runs differ more than the launches inside them explain (F test), the runs are the independent values, and not
their launches (S. R. Searle, G. Casella, C. E. McCulloch, 'Variance Components', ch. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.scipy_functions import f_quantile
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.turns import pooled

SIGNIFICANT = 0.95


@dataclass(frozen=True)
class PooledCase:
    """A case in the launches of one or more runs: those of each run, by its number, and all together as
    `whole`."""

    runs: Mapping[int, Observation]
    whole: Observation

    @staticmethod
    def of(runs: Mapping[int, Observation]) -> PooledCase:
        """At least one run. Launches of different runs get different names."""
        named = {
            number: replace(seen, launches=tuple(f"{number}/{name}" for name in seen.launches))
            for number, seen in runs.items()
        }
        return PooledCase(named, pooled(list(named.values())))

    @property
    def launches(self) -> int:
        return len(self.whole.launches)


@dataclass(frozen=True)
class BetweenRuns:
    """The variance of a side's mean (of logs) that the differences of its runs imply, with its degrees of
    freedom; both are 0 with one run."""

    variance: float = 0.0
    freedom: float = 0.0


def between_runs(cases: Sequence[PooledCase]) -> BetweenRuns:
    """Of the mean over these cases. A run counts with the cases that it measured, relative to their centres
    over all runs."""
    if all(len(case.runs) < 2 for case in cases):
        return BetweenRuns()
    deviations: dict[int, list[float]] = {}
    for case in cases:
        center = case.whole.log_center
        for number, seen in case.runs.items():
            deviations.setdefault(number, []).append(seen.log_center - center)
    if len(deviations) < 2:
        return BetweenRuns()
    means = np.array([np.mean(of) for of in deviations.values()])
    return BetweenRuns(float(means.var(ddof=1)) / len(means), len(means) - 1.0)


def runs_differ(runs: tuple[float, float], launches: tuple[float, float]) -> bool:
    """Whether the variance between runs is significantly larger than that which the launches imply. Both come
    with their degrees of freedom."""
    (between, of_between), (within, of_within) = runs, launches
    if of_between < 1 or within <= 0:
        return False
    return between / within > f_quantile(of_between, of_within, SIGNIFICANT)
