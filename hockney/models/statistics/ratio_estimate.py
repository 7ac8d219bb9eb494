# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A ratio of times with a 95% interval, tests whether it is above or below a factor, and their adjustment.

The test matches the interval: it is one-sided by Student's t with a doubled probability, so p < 0.05 if and
only if the 95% interval lies beyond the factor. The degrees of freedom are those of the launches, even if the
spread within launches makes the interval narrower; beyond 95% this is conservative.

If many pairs of launches were outliers, the others may agree by chance: then the probability is at least that
of the sign test on all pairs, which holds whatever their distribution.

Among hundreds of comparisons, some are significant by chance; `adjust_p_values` corrects for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.models.scipy_functions import student_tail
from hockney.models.statistics.location import MAX_INTERVAL_FACTOR, estimate, student


@dataclass(frozen=True)
class RatioEstimate:
    """`ratio` of the typical times with its interval, whose bounds are None if unknown. `log_center` is the
    centre of the interval, `lower_width` and `upper_width` are its half widths (logs; nan if unknown),
    `freedom` the degrees of freedom. If many pairs of launches were outliers, `pairs` contains the log ratios
    of all pairs. `excluded` is the number of pairs without weight with too large a ratio, and of those with
    too small a ratio."""

    ratio: Estimate
    log_center: float
    lower_width: float
    upper_width: float
    freedom: float
    pairs: tuple[float, ...] = ()
    excluded: tuple[int, int] = (0, 0)

    @staticmethod
    def from_log_ratio(
        log_ratio: float,
        log_center: float,
        lower_width: float,
        upper_width: float,
        freedom: float,
        *,
        exact: bool = False,
        pairs: tuple[float, ...] = (),
        excluded: tuple[int, int] = (0, 0),
    ) -> RatioEstimate:
        """Create the estimate from the log ratio of the typical times and the centre of its interval. An
        interval wider than MAX_INTERVAL_FACTOR counts as unknown."""
        value = math.exp(log_ratio)
        if exact:
            return RatioEstimate(ExactValue.of(value), log_ratio, 0.0, 0.0, freedom)
        if not math.isfinite(lower_width + upper_width) or lower_width + upper_width > math.log(
            MAX_INTERVAL_FACTOR
        ):
            unknown = Estimate(value, None, None)
            return RatioEstimate(unknown, log_ratio, math.nan, math.nan, freedom, excluded=excluded)
        bounds = np.exp([log_center - lower_width, log_center + upper_width])
        return RatioEstimate(
            estimate(value, *bounds), log_center, lower_width, upper_width, freedom, pairs, excluded
        )

    @property
    def has_interval(self) -> bool:
        return self.ratio.low is not None and self.ratio.high is not None

    def p_above(self, factor: float) -> float | None:
        """Two-sided p-value of a ratio above `factor`: 1 if the ratio is not above it, None without an
        interval."""
        opposing_count = sum(log <= math.log(factor) for log in self.pairs)
        return self._p_value(self.log_center - math.log(factor), self.lower_width, opposing_count)

    def p_below(self, factor: float) -> float | None:
        """Two-sided p-value of a ratio below `factor`: 1 if the ratio is not below it, None without an
        interval."""
        opposing_count = sum(log >= math.log(factor) for log in self.pairs)
        return self._p_value(math.log(factor) - self.log_center, self.upper_width, opposing_count)

    def _p_value(self, distance: float, half_width: float, opposing_count: int) -> float | None:
        """`opposing_count` is the number of pairs on the other side of the factor."""
        if not self.has_interval:
            return None
        if distance <= 0:
            return 1.0
        pair_count = len(self.pairs)
        min_p_value = (
            (1.0 if 2 * opposing_count >= pair_count else sign_probability(pair_count, opposing_count))
            if pair_count
            else 0.0
        )
        if half_width <= 0:
            return min_p_value
        tail_probability = student_tail(self.freedom, distance / half_width * student(self.freedom))
        return max(min_p_value, min(1.0, 2 * tail_probability))


@lru_cache(maxsize=1024)
def sign_probability(count: int, positive_count: int) -> float:
    """Two-sided p-value of the sign test for `count` values, `positive_count` of them above 0."""
    smaller_count = min(positive_count, count - positive_count)
    return min(1.0, 2 * sum(math.comb(count, n) for n in range(smaller_count + 1)) / 2**count)


def adjust_p_values(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Adjust p-values for multiple tests so that, among those of at most q, a share q is false on average. If
    no difference is real, the probability of a value of at most q is at most q. `weights`, with a mean of 1,
    must not depend on the p-values; a larger weight makes a test less strict at the expense of the others (C.
    R. Genovese, K. Roeder, L. Wasserman, Biometrika 93 (2006) 509). No value decreases, so significance
    implies significance by the interval."""
    count = len(p_values)
    unadjusted = np.asarray(p_values, dtype=float)
    weighted = unadjusted / (1.0 if weights is None else np.asarray(weights))
    descending = np.argsort(weighted, kind="stable")[::-1]
    scaled = weighted[descending] * count / np.arange(count, 0, -1)
    adjusted = np.empty(count)
    adjusted[descending] = np.minimum(1.0, np.minimum.accumulate(scaled)) if count else []
    return [float(p_value) for p_value in np.maximum(unadjusted, adjusted)]
