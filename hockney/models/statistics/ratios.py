# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of two cases of a run, or of a case to a sum of others, with a 95% interval.

Launches differ by factors that all their cases share. If both cases were measured in the same launches, that
factor cancels in each launch's ratio: the interval is that of the centre of these ratios (`location`), and is
usually much narrower than one computed from the intervals of both times. Only measured launches count; the
error of the inferred ones (`missed_launches`) is added in quadrature. What changes slowly cancels only as
far as it changes both: the interval is at least that of the difference of both series of visits in time
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
from hockney.models.statistics.location import WIDEST, center, estimate, half_width, of_mean, winsorised
from hockney.models.statistics.observations import HalfWidths, Observation
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.visits import FEWEST_IN_TIME

FEWEST_PAIRS = 3
"""Launches in which both were measured: with fewer the times of all launches are more informative."""
FEWEST_LAUNCHES = 2
"""With one launch, an interval does not contain the variation between launches."""
Weighted = tuple[Observation, float]
"""A case, and how many times its time counts."""


def ratio(of: Observation, over: Observation) -> Estimate:
    """The typical time of `of` divided by that of `over`; unknown ends are None."""
    value = float(np.exp(of.log_center - over.log_center))
    low, high = _interval_in_shared_launches(of, over) or _interval_from_times(of, over)
    if high > WIDEST * low:
        low = high = np.nan
    return estimate(value, low, high)


def _interval_in_shared_launches(of: Observation, over: Observation) -> tuple[float, float] | None:
    """Low and high from the launches that measured both; None if there are too few."""
    in_of = set(of.launches)
    shared = [launch for launch in over.launches if launch in in_of]
    if len(shared) < FEWEST_PAIRS:
        return None
    a, b = of.places(shared), over.places(shared)
    logs = of.log_typical[a] - over.log_typical[b]
    middle, below, above = log_ratio_interval(logs, of.half_widths(a), over.half_widths(b))
    least = max(_half_width_in_time(of, over, a, b), abs(_half_width_of_time(of) - _half_width_of_time(over)))
    inference = np.hypot(of.inference_half_width, over.inference_half_width)
    below, above = np.hypot(max(below, least), inference), np.hypot(max(above, least), inference)
    return float(np.exp(middle - below)), float(np.exp(middle + above))


def _half_width_of_time(seen: Observation) -> float:
    """Half width of the interval of the time's log; 0 if it has no interval."""
    _, low, high = seen.interval()
    return float(np.log(high / low)) / 2 if np.isfinite(high - low) and low > 0 else 0.0


def _half_width_in_time(of: Observation, over: Observation, a: np.ndarray, b: np.ndarray) -> float:
    """Half width of the difference of both series of visits, in the launches `a` of the one and `b` of the
    other; 0 if there are too few visits."""
    series = []
    for seen, launches in ((of, a), (over, b)):
        visits = [seen.visits[k] for k in launches if k < len(seen.visits)]
        if sum(map(len, visits)) < FEWEST_IN_TIME:
            return 0.0
        at_s = np.concatenate([seen.visits_at_s[k] for k in launches])
        series.append((at_s, winsorised(np.concatenate(visits))))
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


def _interval_from_times(of: Observation, over: Observation) -> tuple[float, float]:
    known = ratio_of_estimates(estimate(*of.interval()), estimate(*over.interval()))
    return (np.nan if known.low is None else known.low, np.nan if known.high is None else known.high)


def mean_ratio(pairs: Sequence[tuple[Observation, Observation]]) -> Estimate:
    """The geometric mean of the ratios of pairs of cases (at least one): the first typical time over the
    second. It is computed in each launch that measured all of them, and the interval is that of the centre of
    these means. Unknown ends are None, also with fewer launches than FEWEST_PAIRS."""
    value = float(np.exp(np.mean([of.log_center - over.log_center for of, over in pairs])))
    every = [seen for pair in pairs for seen in pair]
    shared = [name for name in every[0].launches if all(name in seen.launches for seen in every)]
    if len(shared) < FEWEST_PAIRS:
        return Estimate(value, None, None)
    logs, below, above = [], [], []
    for of, over in pairs:
        a, b = of.places(shared), over.places(shared)
        of_widths, over_widths = of.half_widths(a), over.half_widths(b)
        logs.append(of.log_typical[a] - over.log_typical[b])
        below.append(np.hypot(of_widths[0], over_widths[1]))
        above.append(np.hypot(of_widths[1], over_widths[0]))
    means = np.mean(logs, axis=0)
    middle = float(center(means))
    down, up = (float(half_width(means, of_mean(_half_widths_of_means(each)))) for each in (below, above))
    low, high = float(np.exp(middle - down)), float(np.exp(middle + up))
    return estimate(value, low, high) if high <= WIDEST * low else Estimate(value, None, None)


def _half_widths_of_means(half_widths: Sequence[np.ndarray]) -> np.ndarray:
    """Half widths of each launch's mean of independent values, from those of each value."""
    return np.asarray(np.sqrt(np.sum(np.square(half_widths), axis=0)) / len(half_widths))


def ratio_to_sum(of: Observation, terms: Sequence[Weighted], *, exact: bool = False) -> RatioEstimate:
    """The typical time of `of` over the sum of the `terms` (at least one). `exact` times do not vary."""
    log_sum = np.logaddexp.reduce([case.log_center + np.log(count) for case, count in terms])
    log_ratio = of.log_center - float(log_sum)
    if exact:
        return RatioEstimate.of(log_ratio, log_ratio, 0.0, 0.0, 1, exact=True)
    middle, below, above, freedom = _ratio_in_shared_launches(of, terms) or _ratio_from_times(
        of, terms, log_ratio
    )
    return RatioEstimate.of(log_ratio, middle, below, above, freedom)


def _ratio_in_shared_launches(
    of: Observation, terms: Sequence[Weighted]
) -> tuple[float, float, float, int] | None:
    """Centre, distances to the ends, and degrees of freedom, from the launches that measured all cases; None
    if there are too few."""
    shared = [name for name in of.launches if all(name in case.launches for case, _ in terms)]
    if len(shared) < FEWEST_PAIRS:
        return None
    at = of.places(shared)
    where = [case.places(shared) for case, _ in terms]
    parts = np.array(
        [case.log_typical[k] + np.log(count) for (case, count), k in zip(terms, where, strict=True)]
    )
    sums = np.logaddexp.reduce(parts, axis=0)
    shares = np.exp(parts - sums)
    logs = of.log_typical[at] - sums

    def of_sum(side: int) -> np.ndarray:
        """Each launch's half width of the sum."""
        widths = [case.half_widths(k)[side] for (case, _), k in zip(terms, where, strict=True)]
        return np.asarray(np.sqrt(np.sum((shares * np.array(widths)) ** 2, axis=0)))

    middle, below, above = log_ratio_interval(logs, of.half_widths(at), (of_sum(0), of_sum(1)))
    inference = np.hypot(of.inference_half_width, max(case.inference_half_width for case, _ in terms))
    return middle, float(np.hypot(below, inference)), float(np.hypot(above, inference)), len(shared) - 1


def _ratio_from_times(
    of: Observation, terms: Sequence[Weighted], log_ratio: float
) -> tuple[float, float, float, int]:
    """The same from the intervals of the typical times."""
    fewest = min(len(case.launches) for case in (of, *(case for case, _ in terms)))
    if fewest < FEWEST_LAUNCHES:
        return log_ratio, np.nan, np.nan, 1
    value, low, high = of.interval()
    known = [(case.interval(), count) for case, count in terms]
    whole = sum(time * count for (time, _, _), count in known)
    sum_below = sum(time * count / whole * np.log(time / less) for (time, less, _), count in known)
    sum_above = sum(time * count / whole * np.log(more / time) for (time, _, more), count in known)
    below = float(np.hypot(np.log(value / low), sum_above))
    above = float(np.hypot(np.log(high / value), sum_below))
    return log_ratio, below, above, fewest - 1


def ratio_of_estimates(of: Estimate, over: Estimate) -> Estimate:
    """The ratio of two independent positive values, from their intervals."""
    value = of.value / over.value
    if of.low is None or of.high is None or over.low is None or over.high is None:
        return Estimate(value, None, None)
    if min(of.low, over.low) <= 0:
        return Estimate(value, None, None)
    below = np.hypot(np.log(of.value / of.low), np.log(over.high / over.value))
    above = np.hypot(np.log(of.high / of.value), np.log(over.value / over.low))
    return estimate(value, value * np.exp(-below), value * np.exp(above))


def log_ratio_interval(
    log_ratios: np.ndarray, of: HalfWidths, over: HalfWidths
) -> tuple[float, float, float]:
    """Centre of the launches' log ratios, and how far the ends of its 95% interval are below and above it,
    from each launch's half widths of both times."""
    below, above = np.hypot(of[0], over[1]), np.hypot(of[1], over[0])
    return (
        float(center(log_ratios)),
        float(half_width(log_ratios, of_mean(below))),
        float(half_width(log_ratios, of_mean(above))),
    )
