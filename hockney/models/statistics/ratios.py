# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of two cases of a run, or of a case and a sum of cases, with a 95% interval.

Launches differ by factors that all their cases share. If both cases were measured in the same launches, that
factor cancels in each launch's ratio. The interval is then that of the centre of these ratios (`location`),
usually much narrower than one computed from the intervals of both times. Only measured launches count; the
error of inferred ones (`missed_launches`) is added in quadrature. Drift cancels only if it affects both cases
equally: the interval is at least as wide as that of the difference of both series of visits in time
(`drift`), and as the difference of both half widths. For different launches both half widths are added in
quadrature. All computations use logarithms, as for times.

The ratio itself is that of the two typical times, so that it agrees with the printed times.

A sum of times, such as that of the steps of an algorithm, is treated in the same way: in each launch that
measured all its terms, otherwise from the intervals of the typical times. The half widths of the terms are
then added, not combined in quadrature, because terms that share launches vary together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.drift import BLOCK_COUNTS, half_width_of_blocks
from hockney.models.statistics.location import (
    MAX_INTERVAL_FACTOR,
    center,
    estimate,
    half_width,
    half_width_of_mean,
    winsorise,
)
from hockney.models.statistics.observations import (
    HalfWidths,
    Observation,
    half_widths_of_ratio,
    log_ratios,
    shared_launches,
)
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.visits import MIN_SERIES_VISITS

MIN_PAIRS = 3
"""Minimum number of launches that measured both cases: with fewer, the times of all launches are more
informative."""
MIN_LAUNCHES = 2
"""With one launch, an interval does not include the variation between launches."""
WeightedCase = tuple[Observation, float]
"""A case and the number of times its time counts."""


def ratio(numerator: Observation, denominator: Observation) -> Estimate:
    """Ratio of the typical times of `numerator` and `denominator`; unknown bounds are None."""
    value = float(np.exp(numerator.log_center - denominator.log_center))
    low, high = _interval_in_shared_launches(numerator, denominator) or _interval_from_times(
        numerator, denominator
    )
    if high > MAX_INTERVAL_FACTOR * low:
        low = high = np.nan
    return estimate(value, low, high)


def _interval_in_shared_launches(
    numerator: Observation, denominator: Observation
) -> tuple[float, float] | None:
    """Bounds from the launches that measured both cases; None if there are too few."""
    launches = shared_launches((denominator, numerator))
    if len(launches) < MIN_PAIRS:
        return None
    log_ratio, lower_width, upper_width = log_ratio_interval(*log_ratios(numerator, denominator, launches))
    min_width = max(
        _half_width_in_time(numerator, denominator, launches),
        abs(_half_width_of_time(numerator) - _half_width_of_time(denominator)),
    )
    imputation_width = np.hypot(numerator.inference_half_width, denominator.inference_half_width)
    lower_width, upper_width = (
        np.hypot(max(lower_width, min_width), imputation_width),
        np.hypot(max(upper_width, min_width), imputation_width),
    )
    return float(np.exp(log_ratio - lower_width)), float(np.exp(log_ratio + upper_width))


def _half_width_of_time(observation: Observation) -> float:
    """Half width of the interval of the log time; 0 without an interval."""
    _, low, high = observation.interval()
    return float(np.log(high / low)) / 2 if np.isfinite(high - low) and low > 0 else 0.0


def _half_width_in_time(
    numerator: Observation, denominator: Observation, launch_names: Sequence[str]
) -> float:
    """Half width of the difference of both series of visits in these launches; 0 if there are too few
    visits."""
    series = []
    for observation in (numerator, denominator):
        launches = observation.indices_of(launch_names)
        visits = [observation.visits[index] for index in launches if index < len(observation.visits)]
        if sum(map(len, visits)) < MIN_SERIES_VISITS:
            return 0.0
        at_s = np.concatenate([observation.visits_at_s[index] for index in launches])
        series.append((at_s, winsorise(np.concatenate(visits))))
    starts_s = np.sort(np.concatenate([at_s for at_s, _ in series]))
    block_counts, variances = [], []
    for blocks in BLOCK_COUNTS:
        block_edges = starts_s[len(starts_s) * np.arange(1, blocks) // blocks]
        sums, visit_counts = np.zeros((2, blocks)), np.zeros((2, blocks))
        for side, (at_s, logs) in enumerate(series):
            block = np.searchsorted(block_edges, at_s, side="right")
            sums[side] = np.bincount(block, logs, minlength=blocks)
            visit_counts[side] = np.bincount(block, minlength=blocks)
        has_both = visit_counts.all(axis=0)
        if np.count_nonzero(has_both) > blocks / 2:
            numerator_means, denominator_means = sums[:, has_both] / visit_counts[:, has_both]
            block_counts.append(blocks)
            variances.append(float(np.var(numerator_means - denominator_means, ddof=1)))
    return half_width_of_blocks(np.array(block_counts), np.array(variances)) if block_counts else 0.0


def _interval_from_times(numerator: Observation, denominator: Observation) -> tuple[float, float]:
    estimated = ratio_of_estimates(estimate(*numerator.interval()), estimate(*denominator.interval()))
    return (
        np.nan if estimated.low is None else estimated.low,
        np.nan if estimated.high is None else estimated.high,
    )


def mean_ratio(pairs: Sequence[tuple[Observation, Observation]]) -> Estimate:
    """Geometric mean of the ratios of pairs of cases (at least one): the first typical time over the second.
    It is computed in each launch that measured all cases, and the interval is that of the centre of these
    means. Unknown bounds are None, also with fewer launches than MIN_PAIRS."""
    value = float(
        np.exp(np.mean([numerator.log_center - denominator.log_center for numerator, denominator in pairs]))
    )
    launches = shared_launches([observation for pair in pairs for observation in pair])
    if len(launches) < MIN_PAIRS:
        return Estimate(value, None, None)
    logs, half_widths = zip(*(log_ratios(*pair, launches) for pair in pairs), strict=True)
    lower_widths, upper_widths = (_half_widths_of_means(widths) for widths in zip(*half_widths, strict=True))
    log_ratio, lower_width, upper_width = log_ratio_interval(
        np.mean(logs, axis=0), (lower_widths, upper_widths)
    )
    low, high = float(np.exp(log_ratio - lower_width)), float(np.exp(log_ratio + upper_width))
    return estimate(value, low, high) if high <= MAX_INTERVAL_FACTOR * low else Estimate(value, None, None)


def _half_widths_of_means(half_widths: Sequence[np.ndarray]) -> np.ndarray:
    """Half widths of each launch's mean of independent values, given the half widths of the values."""
    return np.asarray(np.sqrt(np.sum(np.square(half_widths), axis=0)) / len(half_widths))


def ratio_to_sum(
    numerator: Observation, terms: Sequence[WeightedCase], *, exact: bool = False
) -> RatioEstimate:
    """Typical time of `numerator` over the sum of `terms` (at least one). `exact` times do not vary."""
    log_sum = np.logaddexp.reduce([case.log_center + np.log(count) for case, count in terms])
    log_ratio = numerator.log_center - float(log_sum)
    if exact:
        return RatioEstimate.from_log_ratio(log_ratio, log_ratio, 0.0, 0.0, 1, exact=True)
    log_center, lower_width, upper_width, freedom = _ratio_in_shared_launches(
        numerator, terms
    ) or _ratio_from_times(numerator, terms, log_ratio)
    return RatioEstimate.from_log_ratio(log_ratio, log_center, lower_width, upper_width, freedom)


def _ratio_in_shared_launches(
    numerator: Observation, terms: Sequence[WeightedCase]
) -> tuple[float, float, float, int] | None:
    """Centre, lower and upper half width, and degrees of freedom, from the launches that measured all cases;
    None if there are too few."""
    launches = shared_launches([numerator, *(case for case, _ in terms)])
    if len(launches) < MIN_PAIRS:
        return None
    numerator_indices = numerator.indices_of(launches)
    term_indices = [case.indices_of(launches) for case, _ in terms]
    log_terms = np.array(
        [
            case.log_typical[indices] + np.log(count)
            for (case, count), indices in zip(terms, term_indices, strict=True)
        ]
    )
    log_sums = np.logaddexp.reduce(log_terms, axis=0)
    shares = np.exp(log_terms - log_sums)
    logs = numerator.log_typical[numerator_indices] - log_sums

    def of_sum(side: int) -> np.ndarray:
        """Half width of the sum in each launch."""
        widths = [
            case.half_widths(indices)[side] for (case, _), indices in zip(terms, term_indices, strict=True)
        ]
        return np.asarray(np.sqrt(np.sum((shares * np.array(widths)) ** 2, axis=0)))

    widths = half_widths_of_ratio(numerator.half_widths(numerator_indices), (of_sum(0), of_sum(1)))
    log_ratio, lower_width, upper_width = log_ratio_interval(logs, widths)
    imputation_width = np.hypot(
        numerator.inference_half_width, max(case.inference_half_width for case, _ in terms)
    )
    return (
        log_ratio,
        float(np.hypot(lower_width, imputation_width)),
        float(np.hypot(upper_width, imputation_width)),
        len(launches) - 1,
    )


def _ratio_from_times(
    numerator: Observation, terms: Sequence[WeightedCase], log_ratio: float
) -> tuple[float, float, float, int]:
    """Centre, lower and upper half width, and degrees of freedom, from the intervals of the typical times."""
    min_launches = min(len(case.launches) for case in (numerator, *(case for case, _ in terms)))
    if min_launches < MIN_LAUNCHES:
        return log_ratio, np.nan, np.nan, 1
    value, low, high = numerator.interval()
    intervals = [(case.interval(), count) for case, count in terms]
    total = sum(time * count for (time, _, _), count in intervals)
    sum_lower_width = sum(
        time * count / total * np.log(time / lower) for (time, lower, _), count in intervals
    )
    sum_upper_width = sum(
        time * count / total * np.log(upper / time) for (time, _, upper), count in intervals
    )
    lower_width = float(np.hypot(np.log(value / low), sum_upper_width))
    upper_width = float(np.hypot(np.log(high / value), sum_lower_width))
    return log_ratio, lower_width, upper_width, min_launches - 1


def ratio_of_estimates(numerator: Estimate, denominator: Estimate) -> Estimate:
    """Ratio of two independent positive values, from their intervals."""
    value = numerator.value / denominator.value
    if numerator.low is None or numerator.high is None or denominator.low is None or denominator.high is None:
        return Estimate(value, None, None)
    if min(numerator.low, denominator.low) <= 0:
        return Estimate(value, None, None)
    lower_width = np.hypot(
        np.log(numerator.value / numerator.low), np.log(denominator.high / denominator.value)
    )
    upper_width = np.hypot(
        np.log(numerator.high / numerator.value), np.log(denominator.value / denominator.low)
    )
    return estimate(value, value * np.exp(-lower_width), value * np.exp(upper_width))


def log_ratio_interval(logs: np.ndarray, half_widths: HalfWidths) -> tuple[float, float, float]:
    """Centre of the launches' log ratios with the lower and upper half widths of its 95% interval, given the
    half widths of each ratio."""
    lower_width, upper_width = (float(half_width(logs, half_width_of_mean(widths))) for widths in half_widths)
    return float(center(logs)), lower_width, upper_width
