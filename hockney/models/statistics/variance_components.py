# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The variance between launches and between runs of a case's typical time, or of the mean over several cases.

Cases of one launch share its disturbances. The error of their mean is therefore computed from the sums of
their errors in each launch, which are independent between launches.

The launches of a run share its time, its nodes, and everything else that was set up once. If the runs of a
side differ more than the launches within them explain, the runs are the independent values, not their
launches (S. R. Searle, G. Casella, C. E. McCulloch, 'Variance Components', ch. 3).

With S the variance of the ratio implied by the runs, and W the part explained by the launches within the
runs, both are blended like launches and the spread within them (`location`):

    half width**2 = (1 - weight) max(H**2, z**2 S) + weight t**2 S,  weight = S / W - 1/2 clipped to [0, 1]

where H is the half width with all launches pooled. A test for differences between the runs, instead of the
weight, would miss differences as large as the errors of the runs: at 5%, the intervals of two sides of three
runs contain the truth in 88% of simulations, those of three runs and one in 83%.

The runs of one side also show the error of a single run on the other side."""

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

MIN_LAUNCHES = 2
"""One launch does not show how much launches differ."""


def launch_variance(cases: Sequence[Observation]) -> tuple[float, float]:
    """Variance of the mean over these cases and its degrees of freedom. Each case has at least
    MIN_LAUNCHES."""
    if len(cases) == 1:
        variance, freedom = variance_of_center(cases[0].log_typical)
        return float(variance), float(freedom)
    errors: dict[str, float] = {}
    for observation in cases:
        share = 1 / len(cases) / len(observation.launches)
        for launch, deviation in zip(observation.launches, _deviations(observation), strict=True):
            errors[launch] = errors.get(launch, 0.0) + share * float(deviation)
    parts = []
    for group in _linked_launches(cases):
        squares = sum(errors[launch] ** 2 for launch in sorted(group))
        parts.append((squares * len(group) / (len(group) - 1), len(group) - 1.0))
    return sum_variances(parts)


def _deviations(observation: Observation) -> np.ndarray:
    """Deviations of the launches' logs from their mean, scaled so that the variance of the mean is that of
    the centre."""
    logs = winsorise_if_enough(observation.log_typical)
    return np.asarray((logs - logs.mean()) * math.sqrt(TRIMMING_COST.get(len(logs), 1.0)))


def _linked_launches(cases: Sequence[Observation]) -> list[set[str]]:
    """Group the launches: launches that share a case, directly or through others, belong together."""
    groups: list[set[str]] = []
    for observation in cases:
        linked = set(observation.launches)
        unlinked_groups = []
        for group in groups:
            if group & linked:
                linked |= group
            else:
                unlinked_groups.append(group)
        groups = [*unlinked_groups, linked]
    return groups


def sum_variances(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Sum of independent variances with its degrees of freedom, given those of each."""
    variance = sum(part for part, _ in parts)
    finite_parts = [(part, freedom) for part, freedom in parts if math.isfinite(freedom)]
    if variance <= 0:
        return 0.0, max(1.0, sum(freedom for _, freedom in finite_parts)) if parts else 0.0
    return variance, variance**2 / sum(part**2 / freedom for part, freedom in finite_parts)


@dataclass(frozen=True)
class PooledCase:
    """A case in the launches of one or more runs: the launches of each run by number, and all together as in
    `pool_launches`."""

    runs: Mapping[int, Observation]
    pooled: Observation

    @staticmethod
    def from_runs(runs: Mapping[int, Observation]) -> PooledCase:
        """Pool the case over at least one run. Launches of different runs get different names."""
        named_runs = {
            number: replace(observation, launches=tuple(f"{number}/{name}" for name in observation.launches))
            for number, observation in runs.items()
        }
        return PooledCase(named_runs, pool_launches(list(named_runs.values())))

    @property
    def launch_count(self) -> int:
        return len(self.pooled.launches)


def runs_of_side(cases: Sequence[PooledCase]) -> RunsOfSide:
    """The runs of a side, for the mean over these cases. A run counts with the cases that it measured,
    relative to their centres over all runs."""
    by_run: dict[int, list[tuple[float, Observation]]] = {}
    for case in cases:
        center = case.pooled.log_center
        for number, observation in case.runs.items():
            by_run.setdefault(number, []).append(
                (observation.log_center - center, observation.with_imputed_launches)
            )
    return RunsOfSide.from_runs([_run_center(deviations) for deviations in by_run.values()])


def _run_center(cases: Sequence[tuple[float, Observation]]) -> RunCenter:
    deviations, observation = zip(*cases, strict=True)
    launches = [len(case.launches) for case in observation]
    has_few_launches = min(launches) < MIN_LAUNCHES
    return RunCenter(
        float(np.mean(deviations)),
        math.nan if has_few_launches else launch_variance(observation)[0],
        sum(launches),
    )


@dataclass(frozen=True)
class RunCenter:
    """The mean deviation of a run from all runs of its side (logs), the variance `explained` by its launches
    (nan if unknown), and its number of launches, which is its weight."""

    deviation: float
    explained: float
    launches: int


@dataclass(frozen=True)
class RunsOfSide:
    """The runs of a side. `count` is their effective number, smaller if they have different numbers of
    launches. `variance` is the variance of one run's centre with its degrees of `freedom`, nan and 0 with a
    single run. `explained` is the part due to the launches of a run, nan if unknown."""

    count: float
    variance: float
    freedom: float
    explained: float

    @staticmethod
    def from_runs(runs: Sequence[RunCenter]) -> RunsOfSide:
        launches = np.array([run.launches for run in runs], dtype=float)
        explained_variances = [run.explained for run in runs if math.isfinite(run.explained)]
        has_several = len(runs) > 1
        return RunsOfSide(
            count=float(launches.sum() ** 2 / np.square(launches).sum()),
            variance=float(np.var([run.deviation for run in runs], ddof=1)) if has_several else math.nan,
            freedom=len(runs) - 1.0,
            explained=float(np.mean(explained_variances)) if explained_variances else math.nan,
        )

    def with_spread_of(self, other: RunsOfSide) -> RunsOfSide:
        """Return a copy for a single run that is assumed to differ from others like the runs of the `other`
        side. It may have fewer launches."""
        additional_variance = self.explained - other.explained
        variance = other.variance + (
            max(0.0, additional_variance) if math.isfinite(additional_variance) else 0.0
        )
        return replace(self, variance=variance)


@dataclass(frozen=True)
class RunsOfSides:
    """The effect of the differences between runs on a ratio: its `variance` with the degrees of `freedom`,
    and the `weight` of that variance, 0 if no side has several runs."""

    variance: float = 0.0
    freedom: float = 1.0
    weight: float = 0.0

    @staticmethod
    def from_sides(sides: Sequence[RunsOfSide]) -> RunsOfSides:
        sides_with_runs = [side for side in sides if side.freedom > 0]
        if not sides_with_runs:
            return RunsOfSides()
        complete_sides = [
            side if side.freedom > 0 else side.with_spread_of(sides_with_runs[0]) for side in sides
        ]
        variance = sum(side.variance / side.count for side in complete_sides)
        explained = sum(side.explained / side.count for side in complete_sides)
        _, freedom = sum_variances([(side.variance / side.count, side.freedom) for side in sides_with_runs])
        if variance <= 0:
            return RunsOfSides()
        weight = min(1.0, max(0.0, variance / explained - 0.5)) if explained > 0 else 1.0
        return RunsOfSides(variance, freedom, weight)

    def half_width(self, pooled_half_width: float) -> float:
        """Half width including the differences of the runs, given the half width with all launches pooled."""
        if not self.weight:
            return pooled_half_width
        min_square = max(pooled_half_width**2, Z**2 * self.variance)
        return math.sqrt(
            (1 - self.weight) * min_square + self.weight * student(self.freedom) ** 2 * self.variance
        )

    def combine_freedom(self, freedom: float) -> float:
        """Degrees of freedom, given those of the launches."""
        return 1 / ((1 - self.weight) / freedom + self.weight / self.freedom)
