# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the same quantile of the repetitions of two cases, and the smallest ratio that a run can find.

Repetitions within a launch are not independent: one that is delayed may delay the next ones. So the interval
is that of the ratios of the launches, which are independent. Each launch needs enough repetitions of both
cases for the quantile. Of n independent repetitions, the largest exceeds the quantile q with the probability
1 - q**n. With fewer repetitions than give 97.5%, the quantile has no upper 95% bound that does not depend on
the shape of the distribution (W. J. Conover, 'Practical Nonparametric Statistics', 3rd edition, 1999, 3.2).
"""

from __future__ import annotations

import math

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.scipy_functions import student_quantile
from hockney.models.statistics.location import student
from hockney.models.statistics.observations import Observation, shared_launches
from hockney.models.statistics.paired_launches import ratio_of_pairs
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.ratios import MIN_PAIRS
from hockney.models.statistics.visits import MIN_TIME_S

BOUND_PROBABILITY = 0.975
"""Probability of each bound of a 95% interval."""
POWER = 0.95
"""Probability with which a run finds the ratio that `smallest_detectable_ratio` returns."""


def min_repetitions(quantile: float) -> int:
    """The number of repetitions of a launch that the quantile requires: 368 for 0.99, 3688 for 0.999."""
    return math.ceil(math.log(1 - BOUND_PROBABILITY) / math.log(quantile))


def fewest_repetitions(observation: Observation) -> int:
    """The smallest number of repetitions in a launch; 0 without records."""
    return min((len(record.times_s) for record in observation.records), default=0)


def quantile_s(observation: Observation, quantile: float) -> float:
    """The quantile of the repetitions of a launch (s): the geometric mean over the launches."""
    return float(np.exp(np.mean(list(_log_quantiles(observation, quantile).values()))))


def quantile_ratio(
    numerator: Observation, denominator: Observation, quantile: float, *, comparisons: int = 1
) -> RatioEstimate | None:
    """The quantile of `numerator` over that of `denominator`, from the launches that measured both, with the
    interval for one of several `comparisons` (Bonferroni). None if a launch has too few repetitions. With
    fewer than MIN_PAIRS launches there is no interval."""
    if min(map(fewest_repetitions, (numerator, denominator))) < min_repetitions(quantile):
        return None
    upper, lower = (_log_quantiles(observation, quantile) for observation in (numerator, denominator))
    logs = np.array([upper[name] - lower[name] for name in shared_launches((denominator, numerator))])
    return ratio_of_launches(logs, comparisons)


def ratio_of_launches(logs: np.ndarray, comparisons: int) -> RatioEstimate:
    """The same from the log ratio of each launch."""
    if len(logs) < MIN_PAIRS:
        return RatioEstimate.from_log_ratio(float(np.mean(logs)), math.nan, math.nan, math.nan, 1)
    typical = ratio_of_pairs(logs)
    width = typical.upper_width * student_stretch(typical.freedom, comparisons)
    return RatioEstimate.from_log_ratio(typical.log_center, typical.log_center, width, width, typical.freedom)


def student_stretch(freedom: float, comparisons: int) -> float:
    """Student's quantile for this number of comparisons divided by that for a single one (Bonferroni). For
    few launches it is much larger than the ratio of normal quantiles."""
    tail = (1 - BOUND_PROBABILITY) / max(1, comparisons)
    return student_quantile(freedom, 1 - tail) / student(freedom)


def smallest_detectable_ratio(
    interval: Estimate, freedom: float, comparisons: int, notable: float
) -> float | None:
    """The smallest true ratio that a run with the same spread reports with the probability POWER. It reports
    a ratio of at least `notable` whose `interval`, which is one for this number of comparisons, is above 1.
    None without an interval."""
    if interval.low is None or interval.high is None or interval.low <= 0:
        return None
    half_width = math.log(interval.high / interval.low) / 2
    error = half_width / (student(freedom) * student_stretch(freedom, comparisons))
    return math.exp(max(half_width, math.log(notable)) + student_quantile(freedom, POWER) * error)


def _log_quantiles(observation: Observation, quantile: float) -> dict[str, float]:
    """The log quantile of each launch, by its name. Its bias hardly depends on the number of repetitions, in
    which the two cases of a ratio differ (R. J. Hyndman, Y. Fan, The American Statistician 50 (1996) 361,
    definition 8)."""
    return {
        record.launch: math.log(
            max(float(np.quantile(record.times_s, quantile, method="median_unbiased")), MIN_TIME_S)
        )
        for record in observation.records
    }
