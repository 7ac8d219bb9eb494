# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of two cases of a run, or of a case to a sum of others, with a 95% interval.

Launches differ by factors that all their cases share. If both cases were measured in the same launches, that
factor cancels in each launch's ratio: the interval is that of the centre of these ratios (`location`), and is
usually much narrower than one computed from the intervals of both times. Only measured launches count; the
error of the inferred ones (`missed_launches`) is added in quadrature. What changes slowly cancels only as far
as it changes both: the interval is at least that of the difference of both series of visits in time
(`drift`), and at least the difference of both half widths, since a difference varies no less than that. For
different launches both half widths are added in quadrature. All computations use logarithms, as for times.

The ratio itself is that of the two typical times, so that it agrees with the printed times.

A sum of times, such as that of the steps of an algorithm, is treated alike: in each launch that measured all
its terms, otherwise from the intervals of the typical times. The half widths of the terms are then added, not
combined in quadrature, because terms that share launches vary together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.drift import BLOCKS, half_width_of_blocks
from hockney.models.statistics.location import (
    WIDEST,
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
from hockney.models.statistics.visits import FEWEST_IN_TIME

FEWEST_PAIRS = 3
"""Launches in which both were measured: with fewer the times of all launches are more informative."""
FEWEST_LAUNCHES = 2
"""With one launch, an interval does not contain the variation between launches."""
Weighted = tuple[Observation, float]
"""A case, and how many times its time counts."""


def ratio(numerator: Observation, denominator: Observation) -> Estimate:
    """The typical time of `numerator` divided by that of `denominator`; unknown ends are None."""
    value = float(np.exp(numerator.log_center - denominator.log_center))
    low, high = _interval_in_shared_launches(numerator, denominator) or _interval_from_times(
        numerator, denominator
    )
    if high > WIDEST * low:
        low = high = np.nan
    return estimate(value, low, high)


def _interval_in_shared_launches(
    numerator: Observation, denominator: Observation
) -> tuple[float, float] | None:
    """Low and high from the launches that measured both; None if there are too few."""
    shared = shared_launches((denominator, numerator))
    if len(shared) < FEWEST_PAIRS:
        return None
    middle, below, above = log_ratio_interval(*log_ratios(numerator, denominator, shared))
    least = max(
        _half_width_in_time(numerator, denominator, shared),
        abs(_half_width_of_time(numerator) - _half_width_of_time(denominator)),
    )
    inference = np.hypot(numerator.inference_half_width, denominator.inference_half_width)
    below, above = np.hypot(max(below, least), inference), np.hypot(max(above, least), inference)
    return float(np.exp(middle - below)), float(np.exp(middle + above))


def _half_width_of_time(observation: Observation) -> float:
    """Half width of the interval of the time's log; 0 if it has no interval."""
    _, low, high = observation.interval()
    return float(np.log(high / low)) / 2 if np.isfinite(high - low) and low > 0 else 0.0


def _half_width_in_time(numerator: Observation, denominator: Observation, shared: Sequence[str]) -> float:
    """Half width of the difference of both series of visits in these launches; 0 if there are too few
    visits."""
    series = []
    for observation in (numerator, denominator):
        launches = observation.indices_of(shared)
        visits = [observation.visits[k] for k in launches if k < len(observation.visits)]
        if sum(map(len, visits)) < FEWEST_IN_TIME:
            return 0.0
        at_s = np.concatenate([observation.visits_at_s[k] for k in launches])
        series.append((at_s, winsorise(np.concatenate(visits))))
    moments = np.sort(np.concatenate([at_s for at_s, _ in series]))
    counts, variances = [], []
    for blocks in BLOCKS:
        edges = moments[len(moments) * np.arange(1, blocks) // blocks]
        sums, visits_in = np.zeros((2, blocks)), np.zeros((2, blocks))
        for row, (at_s, logs) in enumerate(series):
            block = np.searchsorted(edges, at_s, side="right")
            sums[row] = np.bincount(block, logs, minlength=blocks)
            visits_in[row] = np.bincount(block, minlength=blocks)
        both = visits_in.all(axis=0)
        if np.count_nonzero(both) > blocks / 2:
            first, second = sums[:, both] / visits_in[:, both]
            counts.append(blocks)
            variances.append(float(np.var(first - second, ddof=1)))
    return half_width_of_blocks(np.array(counts), np.array(variances)) if counts else 0.0


def _interval_from_times(numerator: Observation, denominator: Observation) -> tuple[float, float]:
    known = ratio_of_estimates(estimate(*numerator.interval()), estimate(*denominator.interval()))
    return (np.nan if known.low is None else known.low, np.nan if known.high is None else known.high)


def mean_ratio(pairs: Sequence[tuple[Observation, Observation]]) -> Estimate:
    """The geometric mean of the ratios of pairs of cases (at least one): the first typical time over the
    second. It is computed in each launch that measured all of them, and the interval is that of the centre of
    these means. Unknown ends are None, also with fewer launches than FEWEST_PAIRS."""
    value = float(
        np.exp(np.mean([numerator.log_center - denominator.log_center for numerator, denominator in pairs]))
    )
    shared = shared_launches([observation for pair in pairs for observation in pair])
    if len(shared) < FEWEST_PAIRS:
        return Estimate(value, None, None)
    logs, widths = zip(*(log_ratios(*pair, shared) for pair in pairs), strict=True)
    below, above = (_half_widths_of_means(side) for side in zip(*widths, strict=True))
    middle, down, up = log_ratio_interval(np.mean(logs, axis=0), (below, above))
    low, high = float(np.exp(middle - down)), float(np.exp(middle + up))
    return estimate(value, low, high) if high <= WIDEST * low else Estimate(value, None, None)


def _half_widths_of_means(half_widths: Sequence[np.ndarray]) -> np.ndarray:
    """Half widths of each launch's mean of independent values, from those of each value."""
    return np.asarray(np.sqrt(np.sum(np.square(half_widths), axis=0)) / len(half_widths))


def ratio_to_sum(numerator: Observation, terms: Sequence[Weighted], *, exact: bool = False) -> RatioEstimate:
    """The typical time of `numerator` over the sum of `terms` (at least one). `exact` times do not vary."""
    log_sum = np.logaddexp.reduce([case.log_center + np.log(count) for case, count in terms])
    log_ratio = numerator.log_center - float(log_sum)
    if exact:
        return RatioEstimate.of(log_ratio, log_ratio, 0.0, 0.0, 1, exact=True)
    middle, below, above, freedom = _ratio_in_shared_launches(numerator, terms) or _ratio_from_times(
        numerator, terms, log_ratio
    )
    return RatioEstimate.of(log_ratio, middle, below, above, freedom)


def _ratio_in_shared_launches(
    numerator: Observation, terms: Sequence[Weighted]
) -> tuple[float, float, float, int] | None:
    """Centre, distances to the ends, and degrees of freedom, from the launches that measured all cases; None
    if there are too few."""
    shared = shared_launches([numerator, *(case for case, _ in terms)])
    if len(shared) < FEWEST_PAIRS:
        return None
    at = numerator.indices_of(shared)
    where = [case.indices_of(shared) for case, _ in terms]
    parts = np.array(
        [case.log_typical[k] + np.log(count) for (case, count), k in zip(terms, where, strict=True)]
    )
    sums = np.logaddexp.reduce(parts, axis=0)
    shares = np.exp(parts - sums)
    logs = numerator.log_typical[at] - sums

    def of_sum(side: int) -> np.ndarray:
        """Each launch's half width of the sum."""
        widths = [case.half_widths(k)[side] for (case, _), k in zip(terms, where, strict=True)]
        return np.asarray(np.sqrt(np.sum((shares * np.array(widths)) ** 2, axis=0)))

    widths = half_widths_of_ratio(numerator.half_widths(at), (of_sum(0), of_sum(1)))
    middle, below, above = log_ratio_interval(logs, widths)
    inference = np.hypot(numerator.inference_half_width, max(case.inference_half_width for case, _ in terms))
    return middle, float(np.hypot(below, inference)), float(np.hypot(above, inference)), len(shared) - 1


def _ratio_from_times(
    numerator: Observation, terms: Sequence[Weighted], log_ratio: float
) -> tuple[float, float, float, int]:
    """The same from the intervals of the typical times."""
    fewest = min(len(case.launches) for case in (numerator, *(case for case, _ in terms)))
    if fewest < FEWEST_LAUNCHES:
        return log_ratio, np.nan, np.nan, 1
    value, low, high = numerator.interval()
    known = [(case.interval(), count) for case, count in terms]
    whole = sum(time * count for (time, _, _), count in known)
    sum_below = sum(time * count / whole * np.log(time / less) for (time, less, _), count in known)
    sum_above = sum(time * count / whole * np.log(more / time) for (time, _, more), count in known)
    below = float(np.hypot(np.log(value / low), sum_above))
    above = float(np.hypot(np.log(high / value), sum_below))
    return log_ratio, below, above, fewest - 1


def ratio_of_estimates(numerator: Estimate, denominator: Estimate) -> Estimate:
    """The ratio of two independent positive values, from their intervals."""
    value = numerator.value / denominator.value
    if numerator.low is None or numerator.high is None or denominator.low is None or denominator.high is None:
        return Estimate(value, None, None)
    if min(numerator.low, denominator.low) <= 0:
        return Estimate(value, None, None)
    below = np.hypot(np.log(numerator.value / numerator.low), np.log(denominator.high / denominator.value))
    above = np.hypot(np.log(numerator.high / numerator.value), np.log(denominator.value / denominator.low))
    return estimate(value, value * np.exp(-below), value * np.exp(above))


def log_ratio_interval(logs: np.ndarray, half_widths: HalfWidths) -> tuple[float, float, float]:
    """Centre of the launches' log ratios, and how far the ends of its 95% interval are below and above it,
    from the half widths of each."""
    below, above = (float(half_width(logs, half_width_of_mean(side))) for side in half_widths)
    return float(center(logs)), below, above
