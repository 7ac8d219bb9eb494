# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A ratio of times with a 95% interval, and how significantly it is above or below a factor.

The test is the interval's: one-sided by Student's t, with its probability doubled, so that p < 0.05 if and
only if the 95% interval lies beyond the factor. The degrees of freedom are those of the launches, also where
the spread within launches makes the interval narrower; beyond 95% this is conservative.

If many pairs of launches were outliers, the others may agree by chance: then the probability is at least that
of the sign test on all pairs, which holds whatever their distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.models.scipy_functions import student_tail
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.location import student
from hockney.models.statistics.pair_center import sign_probability


@dataclass(frozen=True)
class RatioEstimate:
    """`ratio` of the typical times; its ends are None if unknown. `log_center` is the centre of the interval,
    `below` and `above` the distances to its ends (logs; nan if unknown), `freedom` the degrees of freedom.
    `pairs` are the log ratios of pairs of launches, if many of them were outliers; `excluded` is the number
    of pairs without a weight whose ratio is too large, and of those whose ratio is too small."""

    ratio: Estimate
    log_center: float
    below: float
    above: float
    freedom: float
    pairs: tuple[float, ...] = ()
    excluded: tuple[int, int] = (0, 0)

    @staticmethod
    def of(
        log_ratio: float,
        middle: float,
        below: float,
        above: float,
        freedom: float,
        *,
        exact: bool = False,
        pairs: tuple[float, ...] = (),
        excluded: tuple[int, int] = (0, 0),
    ) -> RatioEstimate:
        """`log_ratio` is that of the typical times, `middle` the centre of its interval. An interval wider
        than WIDEST counts as unknown."""
        value = math.exp(log_ratio)
        if exact:
            return RatioEstimate(ExactValue.of(value), log_ratio, 0.0, 0.0, freedom)
        if not math.isfinite(below + above) or below + above > math.log(WIDEST):
            unknown = Estimate(value, None, None)
            return RatioEstimate(unknown, log_ratio, math.nan, math.nan, freedom, excluded=excluded)
        ends = np.exp([middle - below, middle + above])
        return RatioEstimate(estimate(value, *ends), middle, below, above, freedom, pairs, excluded)

    @property
    def known(self) -> bool:
        """Whether it has an interval."""
        return self.ratio.low is not None and self.ratio.high is not None

    def p_above(self, factor: float) -> float | None:
        """The probability of such a ratio if the true one is `factor` (two-sided); 1 if it is not above, None
        if the ratio has no interval."""
        against = sum(log <= math.log(factor) for log in self.pairs)
        return self._beyond(self.log_center - math.log(factor), self.below, against)

    def p_below(self, factor: float) -> float | None:
        """The same of a ratio below `factor`."""
        against = sum(log >= math.log(factor) for log in self.pairs)
        return self._beyond(math.log(factor) - self.log_center, self.above, against)

    def _beyond(self, distance: float, half_width: float, against: int) -> float | None:
        """`against`: pairs on the other side of the factor."""
        if not self.known:
            return None
        if distance <= 0:
            return 1.0
        pairs = len(self.pairs)
        least = (1.0 if 2 * against >= pairs else sign_probability(pairs, against)) if pairs else 0.0
        if half_width <= 0:
            return least
        tail = student_tail(self.freedom, distance / half_width * student(self.freedom))
        return max(least, min(1.0, 2 * tail))
