# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case in two independent groups of launches, such as those of two runs, and the
geometric mean of such ratios over several cases.

The variance of each group's centre is that between its launches (`location`). The interval is Welch's: the
variances of both groups add up, and so do their degrees of freedom, weighted by what each contributes (B. L.
Welch, Biometrika 34 (1947) 28; F. E. Satterthwaite, Biometrics Bulletin 2 (1946) 110). It is at least as wide
as the changes of the machine in time (`drift`) imply in both groups together, whose variances and degrees of
freedom add up in the same way.

The launches of several runs count together, unless the runs of a side differ more than their launches
explain (`pooled_runs`): then the interval is that of the runs.

Cases of one launch share what it does to all of them. The error of their mean is therefore that of the sums
of their errors in each launch, which are independent between launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.models.statistics.drift import half_width_of_sum
from hockney.models.statistics.location import (
    COST,
    FEWEST_TO_WINSORISE,
    blended,
    spread,
    student,
    winsorised,
)
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.pooled_runs import BetweenRuns, PooledCase, between_runs, runs_differ
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.visits import variances_in_time

FEWEST_LAUNCHES = 2
"""With one launch, nothing shows how much launches differ."""
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
    """That of one case; None if nothing shows how much it varies."""
    log, whole = seen.log_center, seen.whole
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if len(seen.launches) < FEWEST_LAUNCHES or seen.unknown_change:
        return None
    variance, freedom = spread(whole.log_typical)
    if seen.inferred is not None:
        return Center(log, float(variance), freedom, least=seen.inferred.half_widths_of_center())
    return Center(
        log,
        float(variance),
        freedom,
        within=seen.half_widths_within(),
        in_time=variances_in_time(seen.visits, seen.visits_at_s),
        least=seen.least_half_widths(),
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
    errors: dict[str, float] = {}
    for seen in cases:
        share = 1 / len(cases) / len(seen.launches)
        for launch, deviation in zip(seen.launches, _deviations(seen), strict=True):
            errors[launch] = errors.get(launch, 0.0) + share * float(deviation)
    parts = []
    for together in _sharing(cases):
        squares = sum(errors[launch] ** 2 for launch in together)
        parts.append((squares * len(together) / (len(together) - 1), len(together) - 1.0))
    variance, freedom = _added(parts)
    inference = float(np.mean([seen.inference_half_width for seen in cases]))  # they may all agree
    return Center(log, variance, freedom, in_time=_in_time(cases), least=(inference, inference))


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
        return _ratio(above, below, between_runs(of), between_runs(over))
    pairs = zip(of, over, strict=True)
    logs = [first.whole.log_center - second.whole.log_center for first, second in pairs]
    log_ratio = float(np.mean(logs))
    return RatioEstimate.of(log_ratio, log_ratio, math.nan, math.nan, 1)


def _ratio(of: Center, over: Center, *runs: BetweenRuns) -> RatioEstimate:
    if of.exact and over.exact:
        return RatioEstimate.of(of.log - over.log, of.log - over.log, 0.0, 0.0, 1, exact=True)
    variance, freedom = _added([(of.variance, of.freedom), (over.variance, over.freedom)])
    in_time = half_width_of_sum([of.in_time, over.in_time])
    between = _added([(each.variance, each.freedom) for each in runs if each.freedom])
    if runs_differ(between, (variance, freedom)):
        half = student(between[1]) * math.sqrt(between[0])
        return RatioEstimate.of(of.log - over.log, of.log - over.log, half, half, between[1])
    ends = []
    for side in (0, 1):
        within = math.nan
        if freedom < ENOUGH_FREEDOM:
            within = _quadrature(of, over, lambda center, k: 0.0 if center.exact else center.within[k], side)
        least = _quadrature(of, over, lambda center, k: center.least[k], side)
        ends.append(max(float(blended(variance, freedom, within)), in_time, least))
    return RatioEstimate.of(of.log - over.log, of.log - over.log, ends[0], ends[1], freedom)


def _quadrature(of: Center, over: Center, part: Callable[[Center, int], float], side: int) -> float:
    """Below, the ratio has the lower end of the one and the upper end of the other."""
    return math.hypot(part(of, side), part(over, 1 - side))


def _added(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances, and its degrees of freedom, from those of each."""
    variance = sum(each for each, _ in parts)
    known = [(each, freedom) for each, freedom in parts if math.isfinite(freedom)]
    if variance <= 0:
        return 0.0, max(1.0, sum(freedom for _, freedom in known)) if parts else 0.0
    return variance, variance**2 / sum(each**2 / freedom for each, freedom in known)


def _deviations(seen: Observation) -> np.ndarray:
    """The logs of its launches less their mean, scaled so that the variance of the mean is that of the
    centre."""
    logs = seen.log_typical
    if len(logs) >= FEWEST_TO_WINSORISE:
        logs = winsorised(logs)
    return np.asarray((logs - logs.mean()) * math.sqrt(COST.get(len(logs), 1.0)))


def _sharing(cases: Sequence[Observation]) -> list[set[str]]:
    """The launches, in groups: launches with a case in common, also through others, are together."""
    groups: list[set[str]] = []
    for seen in cases:
        joined = set(seen.launches)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def _in_time(cases: Sequence[Observation]) -> dict[int, float]:
    """The block variances of all visits in the order of time, relative to each case's centre."""
    visits = [each - seen.log_center for seen in cases for each in seen.visits]
    return variances_in_time(visits, [each for seen in cases for each in seen.visits_at_s])
