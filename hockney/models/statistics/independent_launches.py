# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of a case's times in two independent groups of launches, such as two runs, and the geometric mean
of such ratios over several cases.

The variance of each group's centre comes from the differences between its launches (`variance_components`).
The interval is Welch's: the variances of both groups add up, and their degrees of freedom are weighted by
each group's contribution (B. L. Welch, Biometrika 34 (1947) 28; F. E. Satterthwaite, Biometrics Bulletin 2
(1946) 110). It is at least as wide as the machine's drift during both groups implies (`drift`); those
variances and degrees of freedom add up in the same way.

The launches of several runs are pooled unless the runs of a side differ more than their launches explain. In
that case the interval is computed from the runs."""

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
    MIN_LAUNCHES,
    PooledCase,
    RunsOfSides,
    launch_variance,
    runs_of_side,
    sum_variances,
)
from hockney.models.statistics.visits import block_variances_in_time

MIN_FREEDOM_WITHOUT_SPREAD = 8
"""From this many degrees of freedom on, the launches alone determine the interval. Student's quantile is then
only 18% above the normal one, and with few repetitions the spread within launches may be due to an
outlier."""


@dataclass(frozen=True)
class Center:
    """Log of a group's typical time, or the mean of several. `variance` is its variance between launches with
    `freedom` degrees of freedom, `drift_variances` contains the variances of blocks of its visits by number
    of blocks. `within` and `min_half_widths` are half widths below and above the centre: those predicted by
    the spread within launches (nan if unknown), and lower limits. An `exact` centre does not vary."""

    log: float
    variance: float
    freedom: float
    within: tuple[float, float] = (math.nan, math.nan)
    drift_variances: Mapping[int, float] = field(default_factory=dict)
    min_half_widths: tuple[float, float] = (0.0, 0.0)
    exact: bool = False


def _center(observation: Observation, *, exact: bool = False) -> Center | None:
    """Centre of one case; None if its variation is unknown."""
    log, complete = observation.log_center, observation.with_imputed_launches
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if len(observation.launches) < MIN_LAUNCHES or observation.unknown_change:
        return None
    variance, freedom = launch_variance([complete])
    if observation.imputed is not None:
        return Center(log, variance, freedom, min_half_widths=observation.imputed.half_widths_of_center())
    return Center(
        log,
        variance,
        freedom,
        within=observation.half_widths_within(),
        drift_variances=block_variances_in_time(observation.visits, observation.visits_at_s),
        min_half_widths=_min_half_widths(observation),
    )


def _mean_center(cases: Sequence[Observation], *, exact: bool = False) -> Center | None:
    """Mean centre of at least one case."""
    if len(cases) == 1:
        return _center(cases[0], exact=exact)
    log = float(np.mean([observation.log_center for observation in cases]))
    if exact:
        return Center(log, 0.0, math.inf, exact=True)
    if any(len(observation.launches) < MIN_LAUNCHES or observation.unknown_change for observation in cases):
        return None
    variance, freedom = launch_variance(cases)
    # errors of inference and of rounding may have the same sign in all cases
    common_half_width = float(
        np.mean(
            [max(observation.inference_half_width, observation.rounding_half_width) for observation in cases]
        )
    )
    below, above = np.mean(
        [launch_margins(observation) for observation in cases], axis=0
    )  # all are in the same mode
    min_half_widths = max(common_half_width, float(below)), max(common_half_width, float(above))
    return Center(
        log, variance, freedom, drift_variances=_drift_variances(cases), min_half_widths=min_half_widths
    )


def _min_half_widths(observation: Observation) -> tuple[float, float]:
    (below, above), (lower, upper) = observation.min_half_widths(), launch_margins(observation)
    return max(below, lower), max(above, upper)


def independent_ratio(
    numerator: Sequence[PooledCase],
    denominator: Sequence[PooledCase],
    *,
    exact_numerator: bool = False,
    exact_denominator: bool = False,
) -> RatioEstimate:
    """Geometric mean over one or more cases of the ratio of typical times in the launches `numerator` and
    `denominator`. The times of an exact side do not vary."""
    numerator_center = _mean_center([case.pooled for case in numerator], exact=exact_numerator)
    denominator_center = _mean_center([case.pooled for case in denominator], exact=exact_denominator)
    if numerator_center is not None and denominator_center is not None:
        # the runs of an exact side do not differ
        sides = [
            runs_of_side(cases)
            for cases, exact in ((numerator, exact_numerator), (denominator, exact_denominator))
            if not exact
        ]
        return _ratio(numerator_center, denominator_center, RunsOfSides.from_sides(sides))
    pairs = zip(numerator, denominator, strict=True)
    logs = [numerator_case.pooled.log_center - other.pooled.log_center for numerator_case, other in pairs]
    log_ratio = float(np.mean(logs))
    return RatioEstimate.from_log_ratio(log_ratio, log_ratio, math.nan, math.nan, 1)


def _ratio(numerator: Center, denominator: Center, runs: RunsOfSides) -> RatioEstimate:
    if numerator.exact and denominator.exact:
        return RatioEstimate.from_log_ratio(
            numerator.log - denominator.log, numerator.log - denominator.log, 0.0, 0.0, 1, exact=True
        )
    variance, freedom = sum_variances(
        [(numerator.variance, numerator.freedom), (denominator.variance, denominator.freedom)]
    )
    drift_half_width = half_width_of_sum([numerator.drift_variances, denominator.drift_variances])
    half_widths = []
    for side in (0, 1):
        within = math.nan
        if freedom < MIN_FREEDOM_WITHOUT_SPREAD:
            within = _combine_in_quadrature(
                numerator, denominator, lambda center, k: 0.0 if center.exact else center.within[k], side
            )
        min_half_width = _combine_in_quadrature(
            numerator, denominator, lambda center, k: center.min_half_widths[k], side
        )
        pooled_half_width = max(
            float(blend_half_widths(variance, freedom, within)), drift_half_width, min_half_width
        )
        half_widths.append(max(runs.half_width(pooled_half_width), min_half_width))
    log, (below, above) = numerator.log - denominator.log, half_widths
    return RatioEstimate.from_log_ratio(log, log, below, above, runs.combine_freedom(freedom))


def _combine_in_quadrature(
    numerator: Center, denominator: Center, part: Callable[[Center, int], float], side: int
) -> float:
    """Half width of the ratio on one `side`: its lower bound combines the numerator's lower bound with the
    denominator's upper bound."""
    return math.hypot(part(numerator, side), part(denominator, 1 - side))


def _drift_variances(cases: Sequence[Observation]) -> dict[int, float]:
    """Block variances of all visits in time order, relative to each case's centre."""
    visits = [times - observation.log_center for observation in cases for times in observation.visits]
    return block_variances_in_time(
        visits, [times for observation in cases for times in observation.visits_at_s]
    )
