# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case in two independent groups of launches, such as those of two runs, and the
geometric mean of such ratios over several cases.

The variance of each group's centre is that between its launches (`variance_components`). The interval is
Welch's: the variances of both groups add up, and so do their degrees of freedom, weighted by what each
contributes (B. L. Welch, Biometrika 34 (1947) 28; F. E. Satterthwaite, Biometrics Bulletin 2 (1946) 110). It
is at least as wide as the changes of the machine in time (`drift`) imply in both groups together, whose
variances and degrees of freedom add up in the same way.

The launches of several runs count together, as far as the runs of a side do not differ more than their
launches explain: otherwise the interval is that of the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.models.statistics.drift import half_width_of_sum
from hockney.models.statistics.launch_modes import launch_margins
from hockney.models.statistics.location import blend_half_widths
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.variance_components import (
    FEWEST_LAUNCHES,
    PooledCase,
    RunsOfSides,
    launch_variance,
    runs_of_side,
    sum_variances,
)
from hockney.models.statistics.visits import block_variances_in_time

ENOUGH_FREEDOM = 8
"""From this many degrees of freedom on, the launches alone determine the interval: Student's quantile is only
18% above the normal one, and the spread within launches, with few repetitions, may be that of an outlier."""


@dataclass(frozen=True)
class Center:
    """The log of a group's typical time, or the mean of several: its `variance` between launches with
    `freedom` degrees of freedom; the variances of blocks of its visits `in_time`, by their number; and
    its half widths below and above as the spread within launches predicts them (`within`, nan if unknown),
    and at `least`. `exact`: it does not vary."""

    log: float
    variance: float
    freedom: float
    within: tuple[float, float] = (math.nan, math.nan)
    in_time: Mapping[int, float] = field(default_factory=dict)
    least: tuple[float, float] = (0.0, 0.0)
    exact: bool = False


def _center(observation: Observation, *, exact: bool = False) -> Center | None:
    """The centre of one case; None if nothing shows how much it varies."""
    log, whole = observation.log_center, observation.all_launches
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if len(observation.launches) < FEWEST_LAUNCHES or observation.unknown_change:
        return None
    variance, freedom = launch_variance([whole])
    if observation.inferred is not None:
        return Center(log, variance, freedom, least=observation.inferred.half_widths_of_center())
    return Center(
        log,
        variance,
        freedom,
        within=observation.half_widths_within(),
        in_time=block_variances_in_time(observation.visits, observation.visits_at_s),
        least=_least(observation),
    )


def _mean_center(cases: Sequence[Observation], *, exact: bool = False) -> Center | None:
    """The mean over several cases (at least one)."""
    if len(cases) == 1:
        return _center(cases[0], exact=exact)
    log = float(np.mean([observation.log_center for observation in cases]))
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if any(
        len(observation.launches) < FEWEST_LAUNCHES or observation.unknown_change for observation in cases
    ):
        return None
    variance, freedom = launch_variance(cases)
    # inferences, and errors of rounding, may all agree
    common_half_width = float(
        np.mean(
            [max(observation.inference_half_width, observation.rounding_half_width) for observation in cases]
        )
    )
    below, above = np.mean(
        [launch_margins(observation) for observation in cases], axis=0
    )  # all are in the same mode
    least = max(common_half_width, float(below)), max(common_half_width, float(above))
    return Center(log, variance, freedom, in_time=_in_time(cases), least=least)


def _least(observation: Observation) -> tuple[float, float]:
    (below, above), (down, up) = observation.least_half_widths(), launch_margins(observation)
    return max(below, down), max(above, up)


def independent_ratio(
    numerator: Sequence[PooledCase],
    denominator: Sequence[PooledCase],
    *,
    exact_numerator: bool = False,
    exact_denominator: bool = False,
) -> RatioEstimate:
    """The geometric mean, over one or more cases, of the typical time in the launches `numerator` divided by
    that in the launches `denominator`. Times of an exact side do not vary."""
    above = _mean_center([case.pooled for case in numerator], exact=exact_numerator)
    below = _mean_center([case.pooled for case in denominator], exact=exact_denominator)
    if above is not None and below is not None:
        # the runs of an exact side do not differ
        sides = [
            runs_of_side(cases)
            for cases, exact in ((numerator, exact_numerator), (denominator, exact_denominator))
            if not exact
        ]
        return _ratio(above, below, RunsOfSides.of(sides))
    pairs = zip(numerator, denominator, strict=True)
    logs = [first.pooled.log_center - second.pooled.log_center for first, second in pairs]
    log_ratio = float(np.mean(logs))
    return RatioEstimate.of(log_ratio, log_ratio, math.nan, math.nan, 1)


def _ratio(numerator: Center, denominator: Center, runs: RunsOfSides) -> RatioEstimate:
    if numerator.exact and denominator.exact:
        return RatioEstimate.of(
            numerator.log - denominator.log, numerator.log - denominator.log, 0.0, 0.0, 1, exact=True
        )
    variance, freedom = sum_variances(
        [(numerator.variance, numerator.freedom), (denominator.variance, denominator.freedom)]
    )
    in_time = half_width_of_sum([numerator.in_time, denominator.in_time])
    ends = []
    for side in (0, 1):
        within = math.nan
        if freedom < ENOUGH_FREEDOM:
            within = _quadrature(
                numerator, denominator, lambda center, k: 0.0 if center.exact else center.within[k], side
            )
        least = _quadrature(numerator, denominator, lambda center, k: center.least[k], side)
        launches = max(float(blend_half_widths(variance, freedom, within)), in_time, least)
        ends.append(max(runs.half_width(launches), least))
    log, (below, above) = numerator.log - denominator.log, ends
    return RatioEstimate.of(log, log, below, above, runs.combine_freedom(freedom))


def _quadrature(
    numerator: Center, denominator: Center, part: Callable[[Center, int], float], side: int
) -> float:
    """Below, the ratio has the lower end of the one and the upper end of the other."""
    return math.hypot(part(numerator, side), part(denominator, 1 - side))


def _in_time(cases: Sequence[Observation]) -> dict[int, float]:
    """The block variances of all visits in the order of time, relative to each case's centre."""
    visits = [each - observation.log_center for observation in cases for each in observation.visits]
    return block_variances_in_time(
        visits, [each for observation in cases for each in observation.visits_at_s]
    )
