# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A ratio of times with a 95% interval, how significantly it is above or below a factor, and many such tests.

The test is the interval's: one-sided by Student's t, with its probability doubled, so that p < 0.05 if and
only if the 95% interval lies beyond the factor. The degrees of freedom are those of the launches, also where
the spread within launches makes the interval narrower; beyond 95% this is conservative.

If many pairs of launches were outliers, the others may agree by chance: then the probability is at least that
of the sign test on all pairs, which holds whatever their distribution.

Of hundreds of comparisons, some are significant by chance; `adjust_p_values` accounts for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.models.scipy_functions import student_tail
from hockney.models.statistics.location import WIDEST, estimate, student


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
    def has_interval(self) -> bool:
        """Whether it has an interval."""
        return self.ratio.low is not None and self.ratio.high is not None

    def p_above(self, factor: float) -> float | None:
        """The probability of such a ratio if the true one is `factor` (two-sided); 1 if it is not above, None
        if the ratio has no interval."""
        opposing = sum(log <= math.log(factor) for log in self.pairs)
        return self._p_value(self.log_center - math.log(factor), self.below, opposing)

    def p_below(self, factor: float) -> float | None:
        """The same of a ratio below `factor`."""
        opposing = sum(log >= math.log(factor) for log in self.pairs)
        return self._p_value(math.log(factor) - self.log_center, self.above, opposing)

    def _p_value(self, distance: float, half_width: float, opposing: int) -> float | None:
        """`opposing`: pairs on the other side of the factor."""
        if not self.has_interval:
            return None
        if distance <= 0:
            return 1.0
        pairs = len(self.pairs)
        least = (1.0 if 2 * opposing >= pairs else sign_probability(pairs, opposing)) if pairs else 0.0
        if half_width <= 0:
            return least
        tail = student_tail(self.freedom, distance / half_width * student(self.freedom))
        return max(least, min(1.0, 2 * tail))


@lru_cache(maxsize=1024)
def sign_probability(count: int, above: int) -> float:
    """The two-sided sign test: of so uneven a split of `count` values with a median of 0."""
    fewer = min(above, count - above)
    return min(1.0, 2 * sum(math.comb(count, k) for k in range(fewer + 1)) / 2**count)


def adjust_p_values(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Each p value, adjusted so that of those at most q a share of q is false on average. If no difference is
    real, there is one at most q with a probability of q at most. `weights`, with a mean of 1, are chosen
    without looking at the values; a larger one makes a test less strict, at the expense of the others (C. R.
    Genovese, K. Roeder, L. Wasserman, Biometrika 93 (2006) 509). None is below its own p value, so that what
    is significant is so by its interval too."""
    count = len(p_values)
    own = np.asarray(p_values, dtype=float)
    weighted = own / (1.0 if weights is None else np.asarray(weights))
    order = np.argsort(weighted, kind="stable")[::-1]
    scaled = weighted[order] * count / np.arange(count, 0, -1)
    result = np.empty(count)
    result[order] = np.minimum(1.0, np.minimum.accumulate(scaled)) if count else []
    return [float(p) for p in np.maximum(own, result)]
