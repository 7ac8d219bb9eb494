# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The variance between launches and between runs of a case's typical time, or of the mean over several cases.

Cases of one launch share what it does to all of them. The error of their mean is therefore that of the sums
of their errors in each launch, which are independent between launches.

The launches of a run share its time, its nodes, and what else was set up once. If the runs of a side differ
more than the launches inside them explain, the runs are the independent values, and not their launches (S. R.
Searle, G. Casella, C. E. McCulloch, 'Variance Components', ch. 3).

With S the variance of the ratio that the runs imply, and W the part of it that the launches inside the runs
explain, both are blended as launches and the spread within them are (`location`):

    half width**2 = (1 - weight) max(H**2, z**2 S) + weight t**2 S,  weight = S / W - 1/2 clipped to [0, 1]

where H is the half width if all launches count together. A test whether the runs differ, in place of the
weight, misses differences as large as the errors of the runs: at 5%, the intervals of two sides of three runs
contain the truth in 88% of simulations, those of three runs and one in 83%.

The runs of one side also show how much a single run on the other side is off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.location import (
    TRIMMING_COST,
    Z,
    student,
    variance_of_center,
    winsorise_if_enough,
)
from hockney.models.statistics.observations import Observation, pool_launches

FEWEST_LAUNCHES = 2
"""With one launch, nothing shows how much launches differ."""


def launch_variance(cases: Sequence[Observation]) -> tuple[float, float]:
    """The variance of the mean over these cases, and its degrees of freedom. Each case has at least
    FEWEST_LAUNCHES."""
    if len(cases) == 1:
        variance, freedom = variance_of_center(cases[0].log_typical)
        return float(variance), float(freedom)
    errors: dict[str, float] = {}
    for observation in cases:
        share = 1 / len(cases) / len(observation.launches)
        for launch, deviation in zip(observation.launches, _deviations(observation), strict=True):
            errors[launch] = errors.get(launch, 0.0) + share * float(deviation)
    parts = []
    for together in _linked_launches(cases):
        squares = sum(errors[launch] ** 2 for launch in sorted(together))
        parts.append((squares * len(together) / (len(together) - 1), len(together) - 1.0))
    return sum_variances(parts)


def _deviations(observation: Observation) -> np.ndarray:
    """The logs of its launches less their mean, scaled so that the variance of the mean is that of the
    centre."""
    logs = winsorise_if_enough(observation.log_typical)
    return np.asarray((logs - logs.mean()) * math.sqrt(TRIMMING_COST.get(len(logs), 1.0)))


def _linked_launches(cases: Sequence[Observation]) -> list[set[str]]:
    """The launches, in groups: launches with a case in common, also through others, are together."""
    groups: list[set[str]] = []
    for observation in cases:
        joined = set(observation.launches)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def sum_variances(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances, and its degrees of freedom, from those of each."""
    variance = sum(each for each, _ in parts)
    known = [(each, freedom) for each, freedom in parts if math.isfinite(freedom)]
    if variance <= 0:
        return 0.0, max(1.0, sum(freedom for _, freedom in known)) if parts else 0.0
    return variance, variance**2 / sum(each**2 / freedom for each, freedom in known)


@dataclass(frozen=True)
class PooledCase:
    """A case in the launches of one or more runs: those of each run, by its number, and all together as
    `pool_launches`."""

    runs: Mapping[int, Observation]
    pooled: Observation

    @staticmethod
    def of(runs: Mapping[int, Observation]) -> PooledCase:
        """The case pooled over at least one run. Launches of different runs get different names."""
        named = {
            number: replace(observation, launches=tuple(f"{number}/{name}" for name in observation.launches))
            for number, observation in runs.items()
        }
        return PooledCase(named, pool_launches(list(named.values())))

    @property
    def launches(self) -> int:
        return len(self.pooled.launches)


def runs_of_side(cases: Sequence[PooledCase]) -> RunsOfSide:
    """The runs of a side, for the mean over these cases. A run counts with the cases that it measured,
    relative to their centres over all runs."""
    by_run: dict[int, list[tuple[float, Observation]]] = {}
    for case in cases:
        center = case.pooled.log_center
        for number, observation in case.runs.items():
            by_run.setdefault(number, []).append((observation.log_center - center, observation.all_launches))
    return RunsOfSide.of([_run_center(of) for of in by_run.values()])


def _run_center(cases: Sequence[tuple[float, Observation]]) -> RunCenter:
    deviations, observation = zip(*cases, strict=True)
    launches = [len(each.launches) for each in observation]
    few = min(launches) < FEWEST_LAUNCHES
    return RunCenter(
        float(np.mean(deviations)), math.nan if few else launch_variance(observation)[0], sum(launches)
    )


@dataclass(frozen=True)
class RunCenter:
    """How far a run is from all runs of its side (logs, on average over cases); the variance of that which
    its launches imply, nan if unknown; and how much it counts among the runs: its launches."""

    deviation: float
    explained: float
    launches: int


@dataclass(frozen=True)
class RunsOfSide:
    """The runs of a side, `count` of them, or fewer if they have different numbers of launches. `variance` is
    that of one run's centre, with its degrees of `freedom`, nan and 0 with a single run; `explained` is the
    part of it that is due to the launches of a run, nan if unknown."""

    count: float
    variance: float
    freedom: float
    explained: float

    @staticmethod
    def of(runs: Sequence[RunCenter]) -> RunsOfSide:
        launches = np.array([run.launches for run in runs], dtype=float)
        known = [run.explained for run in runs if math.isfinite(run.explained)]
        several = len(runs) > 1
        return RunsOfSide(
            count=float(launches.sum() ** 2 / np.square(launches).sum()),
            variance=float(np.var([run.deviation for run in runs], ddof=1)) if several else math.nan,
            freedom=len(runs) - 1.0,
            explained=float(np.mean(known)) if known else math.nan,
        )

    def assume_spread_of(self, other: RunsOfSide) -> RunsOfSide:
        """A single run, if it differs from others as those of the `other` side do. It may have fewer
        launches."""
        more = self.explained - other.explained
        variance = other.variance + (max(0.0, more) if math.isfinite(more) else 0.0)
        return replace(self, variance=variance)


@dataclass(frozen=True)
class RunsOfSides:
    """What the differences of the runs imply for a ratio: its `variance` with the degrees of `freedom`, and
    the `weight` of that. The weight is 0 if no side has several runs."""

    variance: float = 0.0
    freedom: float = 1.0
    weight: float = 0.0

    @staticmethod
    def of(sides: Sequence[RunsOfSide]) -> RunsOfSides:
        several = [side for side in sides if side.freedom > 0]
        if not several:
            return RunsOfSides()
        known = [side if side.freedom > 0 else side.assume_spread_of(several[0]) for side in sides]
        variance = sum(side.variance / side.count for side in known)
        explained = sum(side.explained / side.count for side in known)
        _, freedom = sum_variances([(side.variance / side.count, side.freedom) for side in several])
        if variance <= 0:
            return RunsOfSides()
        weight = min(1.0, max(0.0, variance / explained - 0.5)) if explained > 0 else 1.0
        return RunsOfSides(variance, freedom, weight)

    def half_width(self, launches: float) -> float:
        """The half width with the differences of the runs, from the half width of all launches together."""
        if not self.weight:
            return launches
        least = max(launches**2, Z**2 * self.variance)
        return math.sqrt((1 - self.weight) * least + self.weight * student(self.freedom) ** 2 * self.variance)

    def combine_freedom(self, freedom: float) -> float:
        """The degrees of freedom, from those of the launches."""
        return 1 / ((1 - self.weight) / freedom + self.weight / self.freedom)
