# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a case divided by a sum of times of others, with a 95% interval.

If all cases were measured in the same launches, the sum and the ratio are computed in each launch, as for the
ratio of two times (`ratios`): what a launch does to all its cases cancels. Otherwise the interval comes from
those of the typical times. The half widths of the terms of the sum are then added, not combined in
quadrature, because terms that share launches vary together; that of the sum and that of the time are combined
in quadrature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.ratios import FEWEST_PAIRS, paired

FEWEST_LAUNCHES = 2
"""With one launch, an interval does not contain the variation between launches."""

Weighted = tuple[Observation, float]
"""A case, and how many times its time counts."""


def ratio_to_sum(of: Observation, terms: Sequence[Weighted], *, exact: bool = False) -> RatioEstimate:
    """The typical time of `of` over the sum of the `terms` (at least one). `exact` times do not vary."""
    log_sum = np.logaddexp.reduce([case.log_center + np.log(count) for case, count in terms])
    log_ratio = of.log_center - float(log_sum)
    if exact:
        return RatioEstimate.of(log_ratio, log_ratio, 0.0, 0.0, 1, exact=True)
    middle, below, above, freedom = _paired(of, terms) or _apart(of, terms, log_ratio)
    return RatioEstimate.of(log_ratio, middle, below, above, freedom)


def _paired(of: Observation, terms: Sequence[Weighted]) -> tuple[float, float, float, int] | None:
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

    middle, below, above = paired(logs, of.half_widths(at), (of_sum(0), of_sum(1)))
    inference = np.hypot(of.inference_half_width, max(case.inference_half_width for case, _ in terms))
    return middle, float(np.hypot(below, inference)), float(np.hypot(above, inference)), len(shared) - 1


def _apart(of: Observation, terms: Sequence[Weighted], log_ratio: float) -> tuple[float, float, float, int]:
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
