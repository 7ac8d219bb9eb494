# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a case divided by a sum of times of others, with a 95% interval, and how significantly it is
above a factor.

If all cases were measured in the same launches, the sum and the ratio are computed in each launch, as for the
ratio of two times (`ratios`): what a launch does to all its cases cancels. Otherwise the interval comes from
those of the typical times. The half widths of the terms of the sum are then added, not combined in
quadrature, because terms that share launches vary together; that of the sum and that of the time are combined
in quadrature.

The test is the interval's: one-sided by Student's t, with its probability doubled, so that p < 0.05 if and
only if the 95% interval lies above the factor. The degrees of freedom are those of the launches, also where
the spread within launches makes the interval narrower; beyond 95% this is conservative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.models.scipy_functions import student_tail
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.location import student
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratios import FEWEST_PAIRS, paired

FEWEST_LAUNCHES = 2
"""With one launch, an interval does not contain the variation between launches."""

Weighted = tuple[Observation, float]
"""A case, and how many times its time counts."""


@dataclass(frozen=True)
class SumRatio:
    """`ratio` of the typical times; its ends are None if unknown. `log_center` is the centre of the interval,
    `below` the distance to its lower end (logs; nan if unknown), `freedom` the degrees of freedom."""

    ratio: Estimate
    log_center: float
    below: float
    freedom: int

    def p_above(self, factor: float) -> float | None:
        """The probability of such a ratio if the true one is `factor` (two-sided); 1 if it is not above, None
        if the ratio has no interval."""
        beyond = self.log_center - float(np.log(factor))
        if self.ratio.low is None:
            return None
        if beyond <= 0:
            return 1.0
        if self.below <= 0:
            return 0.0
        steps = beyond / self.below * student(self.freedom)
        return min(1.0, 2 * student_tail(self.freedom, steps))


def ratio_to_sum(of: Observation, terms: Sequence[Weighted], *, exact: bool = False) -> SumRatio:
    """The typical time of `of` over the sum of the `terms` (at least one). `exact` times do not vary."""
    log_sum = np.logaddexp.reduce([case.log_center + np.log(count) for case, count in terms])
    log_ratio = of.log_center - float(log_sum)
    if exact:
        return SumRatio(ExactValue.of(float(np.exp(log_ratio))), log_ratio, 0.0, 1)
    middle, below, above, freedom = _paired(of, terms) or _apart(of, terms, log_ratio)
    if not np.isfinite(below + above) or below + above > np.log(WIDEST):
        return SumRatio(Estimate(float(np.exp(log_ratio)), None, None), log_ratio, np.nan, freedom)
    ends = np.exp([middle - below, middle + above])
    return SumRatio(estimate(float(np.exp(log_ratio)), *ends), middle, below, freedom)


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
