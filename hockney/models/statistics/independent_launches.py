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
from hockney.models.statistics.location import blended
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.variance_components import (
    FEWEST_LAUNCHES,
    PooledCase,
    RunsOfSides,
    added,
    launch_variance,
    runs_of_side,
)
from hockney.models.statistics.visits import variances_in_time

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


def center_of(seen: Observation, *, exact: bool = False) -> Center | None:
    """The centre of one case; None if nothing shows how much it varies."""
    log, whole = seen.log_center, seen.whole
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if len(seen.launches) < FEWEST_LAUNCHES or seen.unknown_change:
        return None
    variance, freedom = launch_variance([whole])
    if seen.inferred is not None:
        return Center(log, variance, freedom, least=seen.inferred.half_widths_of_center())
    return Center(
        log,
        variance,
        freedom,
        within=seen.half_widths_within(),
        in_time=variances_in_time(seen.visits, seen.visits_at_s),
        least=_least(seen),
    )


def mean_center(cases: Sequence[Observation], *, exact: bool = False) -> Center | None:
    """The mean over several cases (at least one)."""
    if len(cases) == 1:
        return center_of(cases[0], exact=exact)
    log = float(np.mean([seen.log_center for seen in cases]))
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if any(len(seen.launches) < FEWEST_LAUNCHES or seen.unknown_change for seen in cases):
        return None
    variance, freedom = launch_variance(cases)
    # inferences, and errors of rounding, may all agree
    alike = float(np.mean([max(seen.inference_half_width, seen.rounding_half_width) for seen in cases]))
    below, above = np.mean([launch_margins(seen) for seen in cases], axis=0)  # all are in the same mode
    least = max(alike, float(below)), max(alike, float(above))
    return Center(log, variance, freedom, in_time=_in_time(cases), least=least)


def _least(seen: Observation) -> tuple[float, float]:
    (below, above), (down, up) = seen.least_half_widths(), launch_margins(seen)
    return max(below, down), max(above, up)


def independent_ratio(
    of: Sequence[PooledCase],
    over: Sequence[PooledCase],
    *,
    exact_of: bool = False,
    exact_over: bool = False,
) -> RatioEstimate:
    """The geometric mean, over one or more cases, of the typical time in the launches `of` divided by that in
    the launches `over`. Times of an exact side do not vary."""
    above = mean_center([case.whole for case in of], exact=exact_of)
    below = mean_center([case.whole for case in over], exact=exact_over)
    if above is not None and below is not None:
        # the runs of an exact side do not differ
        sides = [runs_of_side(cases) for cases, exact in ((of, exact_of), (over, exact_over)) if not exact]
        return _ratio(above, below, RunsOfSides.of(sides))
    pairs = zip(of, over, strict=True)
    logs = [first.whole.log_center - second.whole.log_center for first, second in pairs]
    log_ratio = float(np.mean(logs))
    return RatioEstimate.of(log_ratio, log_ratio, math.nan, math.nan, 1)


def _ratio(of: Center, over: Center, runs: RunsOfSides) -> RatioEstimate:
    if of.exact and over.exact:
        return RatioEstimate.of(of.log - over.log, of.log - over.log, 0.0, 0.0, 1, exact=True)
    variance, freedom = added([(of.variance, of.freedom), (over.variance, over.freedom)])
    in_time = half_width_of_sum([of.in_time, over.in_time])
    ends = []
    for side in (0, 1):
        within = math.nan
        if freedom < ENOUGH_FREEDOM:
            within = _quadrature(of, over, lambda center, k: 0.0 if center.exact else center.within[k], side)
        least = _quadrature(of, over, lambda center, k: center.least[k], side)
        launches = max(float(blended(variance, freedom, within)), in_time, least)
        ends.append(max(runs.half_width(launches), least))
    log, (below, above) = of.log - over.log, ends
    return RatioEstimate.of(log, log, below, above, runs.together(freedom))


def _quadrature(of: Center, over: Center, part: Callable[[Center, int], float], side: int) -> float:
    """Below, the ratio has the lower end of the one and the upper end of the other."""
    return math.hypot(part(of, side), part(over, 1 - side))


def _in_time(cases: Sequence[Observation]) -> dict[int, float]:
    """The block variances of all visits in the order of time, relative to each case's centre."""
    visits = [each - seen.log_center for seen in cases for each in seen.visits]
    return variances_in_time(visits, [each for seen in cases for each in seen.visits_at_s])
