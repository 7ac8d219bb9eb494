# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of a case's times on two sides whose launches were interleaved, and the geometric mean of such
ratios over several cases.

A launch of one side and the launch of the other that ran next to it are a pair; in the observations here,
both have the same name. Slow changes affect both launches of a pair, so they cancel in their ratio. The order
inside the pairs is random and balanced, so the remaining effect of a change of the machine has either sign
with the same probability, and the pairs are independent. Cases of one pair share its disturbances, so the
error of their mean comes from the sums of their errors in each pair. If several interleaved comparisons
differ more than their pairs explain, the comparisons are the independent values (`variance_components`).
Launches without a counterpart do not count, unless there are hardly any pairs: then the launches count as
independent (`independent_launches`).

The ratio is the centre of the pairs' log ratios, robust against pairs that a change of the machine splits. If
a machine has two modes that last for seconds, it changes modes between the two launches of about every fifth
pair. If the modes differ by a factor of 2.8, the ratio of such a pair is wrong by that factor, in either
direction because the order inside the pairs is random. The other pairs are correct. So the centre is Tukey's
biweight, which gives outliers no weight (F. Mosteller, J. W. Tukey, 'Data Analysis and Regression', 1977),
with an interval by Student's t (K. Kafadar, JASA 77 (1982) 416). A winsorised mean, as for launches
(`location`), moves only a tenth of the values at each end: with 24 pairs, 30% of which are split, its
intervals are ten times as wide, and contain the truth in 82% of simulations instead of 95%.

Kafadar's 0.7 (n - 1) degrees of freedom are too many for small probabilities, on which tests of many cases
depend; 0.7 (w - 1), with w the sum of the weights, are right to 0.001 from eight pairs on (simulated).

Outliers mostly in one direction are not due to the machine: something makes one side slow in some launches.
With at least six such outliers, they count, and the centre is that of launches (`location`). Three outliers,
all in one direction, already rule out the verdict that both sides take the same time (`comparison`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.independent_launches import MIN_FREEDOM_WITHOUT_SPREAD, independent_ratio
from hockney.models.statistics.location import (
    MIN_COUNT_TO_WINSORISE,
    TRIMMING_COST,
    blend_half_widths,
    center,
    half_width_of_mean,
    student,
    variance_of_center,
    winsorise_if_enough,
)
from hockney.models.statistics.modes import undisturbed_half_width
from hockney.models.statistics.observations import Observation, log_ratios, shared_launches
from hockney.models.statistics.ratio_estimate import RatioEstimate, sign_probability
from hockney.models.statistics.ratios import MIN_PAIRS
from hockney.models.statistics.variance_components import PooledCase, RunCenter, RunsOfSide, RunsOfSides

MAX_MEDIAN_DEVIATIONS = 9.0
"""Values further from the centre than this many median deviations (six standard deviations of normal values)
have no weight."""
BIWEIGHT_ITERATIONS = 10
FREEDOM_FACTOR = 0.7
ONE_SIDED_LEVEL = 0.05
"""Outliers in one direction are significant below this probability: from six on."""
MAX_OUTLIER_SHARE = 0.2
"""With a larger share of outliers, the remaining values may agree by chance."""


def pair_count(numerator: PooledCase, denominator: PooledCase) -> int:
    return len(shared_launches((numerator.pooled, denominator.pooled)))


def select_weighted_pairs(numerator: PooledCase, denominator: PooledCase) -> tuple[Observation, Observation]:
    """Both observations with only the launches of pairs with a weight, so that their typical times agree with
    the ratio. With too few pairs, all their launches."""
    if pair_count(numerator, denominator) < MIN_PAIRS:
        return numerator.pooled, denominator.pooled
    paired = _PairedCase.from_observations(numerator.pooled, denominator.pooled)
    names = [name for name, outlier in zip(paired.names, paired.center.outliers, strict=True) if not outlier]
    first, second = (
        replace(observation, imputed=None).select_launches(observation.indices_of(names).tolist())
        for observation in (numerator.pooled, denominator.pooled)
    )
    return first, second


def paired_ratio(numerator: Sequence[PooledCase], denominator: Sequence[PooledCase]) -> RatioEstimate:
    """Geometric mean, over one or more cases, of the typical time in the launches `numerator` divided by the
    typical time in the launches `denominator` with the same names. Cases with too few pairs count only if all
    cases have too few."""
    pairs = [
        (first, second)
        for first, second in zip(numerator, denominator, strict=True)
        if pair_count(first, second) >= MIN_PAIRS
    ]
    if not pairs:
        return independent_ratio(numerator, denominator)
    cases = [_PairedCase.from_observations(first.pooled, second.pooled) for first, second in pairs]
    log_ratio = float(np.mean([case.center.log for case in cases]))
    errors = _pair_errors(cases)
    variance = sum(error**2 for error in errors.values())
    freedom = float(np.mean([case.center.freedom for case in cases]))
    has_few_pairs = len(cases) == 1 and len(errors) <= MIN_FREEDOM_WITHOUT_SPREAD
    within = cases[0].within if has_few_pairs else (math.nan, math.nan)
    choice_width = float(
        np.mean([case.choice_half_width for case in cases])
    )  # the errors of all cases may have the same sign
    runs = _run_differences(pairs, cases)
    lower_width, upper_width = (
        max(runs.half_width(float(blend_half_widths(variance, freedom, within_width))), choice_width)
        for within_width in within
    )
    freedom, excluded = runs.combine_freedom(freedom), _excluded_pairs(cases)
    return RatioEstimate.from_log_ratio(
        log_ratio,
        log_ratio,
        lower_width,
        upper_width,
        freedom,
        pairs=_pair_log_ratios(cases),
        excluded=excluded,
    )


def common_pairs(cases: Sequence[tuple[PooledCase, PooledCase]]) -> list[str]:
    """Names of the pairs of launches that measured all these cases on both sides, in order."""
    return shared_launches([pooled_case.pooled for case in cases for pooled_case in case])


def ratio_of_pairs(logs: np.ndarray) -> RatioEstimate:
    """Typical ratio of at least two pairs with these log ratios."""
    typical = pair_center(logs)
    half_width = student(typical.freedom) * math.sqrt(typical.variance)
    pairs = tuple(map(float, logs)) if typical.has_many_outliers else ()
    return RatioEstimate.from_log_ratio(
        typical.log, typical.log, half_width, half_width, typical.freedom, pairs=pairs
    )


@dataclass(frozen=True)
class _PairedCase:
    """A case: the log ratios of its pairs by `names`, their centre, its lower and upper half widths `within`
    predicted by the spread within launches, and the half width due to the choice of visits in the fastest
    mode (0 without such a choice)."""

    names: Sequence[str]
    logs: np.ndarray
    center: PairCenter
    within: tuple[float, float]
    choice_half_width: float

    @staticmethod
    def from_observations(numerator: Observation, denominator: Observation) -> _PairedCase:
        names = shared_launches((numerator, denominator))
        logs, (lower_widths, upper_widths) = log_ratios(numerator, denominator, names)
        choice_half_width = math.hypot(_choice_half_width(numerator), _choice_half_width(denominator))
        return _PairedCase(
            names,
            logs,
            pair_center(logs),
            (half_width_of_mean(lower_widths), half_width_of_mean(upper_widths)),
            choice_half_width,
        )


def _choice_half_width(observation: Observation) -> float:
    unfiltered = observation.unfiltered
    return 0.0 if unfiltered is None else undisturbed_half_width(unfiltered.visits, unfiltered.visits_at_s)


def _pair_log_ratios(cases: Sequence[_PairedCase]) -> tuple[float, ...]:
    """Log ratio of each pair, the median over the cases; empty if there are few outliers."""
    if 2 * sum(case.center.has_many_outliers for case in cases) < len(cases):
        return ()
    by_pair: dict[str, list[float]] = {}
    for case in cases:
        for name, log in zip(case.names, case.logs, strict=True):
            by_pair.setdefault(name, []).append(float(log))
    return tuple(float(np.median(logs)) for logs in by_pair.values())


def _excluded_pairs(cases: Sequence[_PairedCase]) -> tuple[int, int]:
    """Numbers of pairs without weight in most of the cases, by the direction of the outlier."""
    by_pair: dict[str, list[int]] = {}
    for case in cases:
        for name, direction in zip(case.names, case.center.outliers, strict=True):
            by_pair.setdefault(name, []).append(int(direction))
    too_large, too_small = (
        sum(2 * signs.count(direction) > len(signs) for signs in by_pair.values()) for direction in (1, -1)
    )
    return too_large, too_small


def _pair_errors(cases: Sequence[_PairedCase]) -> dict[str, float]:
    """Contribution of each pair to the error of the mean of the cases' centres."""
    errors: dict[str, float] = {}
    for case in cases:
        for name, error in zip(case.names, case.center.errors, strict=True):
            errors[name] = errors.get(name, 0.0) + float(error) / len(cases)
    return errors


def _run_differences(
    pooled_pairs: Sequence[tuple[PooledCase, PooledCase]], cases: Sequence[_PairedCase]
) -> RunsOfSides:
    """Variance implied by the differences of several interleaved comparisons. A comparison counts with the
    cases for which it measured enough pairs, relative to their centres over all comparisons."""
    by_run: dict[int, list[tuple[float, _PairedCase]]] = {}
    for (numerator, denominator), case in zip(pooled_pairs, cases, strict=True):
        for number in numerator.runs.keys() & denominator.runs.keys() if len(numerator.runs) > 1 else ():
            run_numerator, run_denominator = numerator.runs[number], denominator.runs[number]
            if len(shared_launches((run_numerator, run_denominator))) >= MIN_PAIRS:
                run_case = _PairedCase.from_observations(run_numerator, run_denominator)
                by_run.setdefault(number, []).append((run_case.center.log - case.center.log, run_case))
    return RunsOfSides.from_sides(
        [RunsOfSide.from_runs([_run_center(run_cases) for run_cases in by_run.values()])] if by_run else []
    )


def _run_center(cases: Sequence[tuple[float, _PairedCase]]) -> RunCenter:
    deviations, paired_cases = zip(*cases, strict=True)
    explained = sum(error**2 for error in _pair_errors(paired_cases).values())
    return RunCenter(float(np.mean(deviations)), explained, sum(len(case.names) for case in paired_cases))


@dataclass(frozen=True)
class PairCenter:
    """The `log` of the typical ratio of pairs, its `variance` with its degrees of `freedom`, and each pair's
    contribution to the error: the sum of their squares is the variance. `outliers` have no weight: 1 for a
    pair with too large a ratio, -1 for one with too small a ratio, 0 for the others."""

    log: float
    variance: float
    freedom: float
    errors: np.ndarray
    outliers: np.ndarray

    @property
    def has_many_outliers(self) -> bool:
        return bool(np.count_nonzero(self.outliers) > MAX_OUTLIER_SHARE * len(self.outliers))


def pair_center(logs: np.ndarray) -> PairCenter:
    """Centre of the log ratios of at least two pairs."""
    biweight = _biweight(logs) if len(logs) >= MIN_COUNT_TO_WINSORISE else None
    return _center_as_for_launches(logs) if biweight is None or _is_one_sided(biweight) else biweight


def _biweight(logs: np.ndarray) -> PairCenter | None:
    """Tukey's biweight of the log ratios; None if half of the values are equal."""
    location = float(np.median(logs))
    limit = MAX_MEDIAN_DEVIATIONS * float(np.median(abs(logs - location)))
    if limit < 1e-12:
        return None
    for _ in range(BIWEIGHT_ITERATIONS):
        weights = _weights(logs, location, limit)
        location = float(weights @ logs / weights.sum())
    squares = np.square((logs - location) / limit)
    weights = _weights(logs, location, limit)
    has_weight = squares < 1
    slope = float(((1 - squares) * (1 - 5 * squares))[has_weight].sum())
    effective_count = max(slope, 1.5)  # effective number of pairs
    errors = (logs - location) * weights / math.sqrt(effective_count * (effective_count - 1))
    freedom = max(1.0, FREEDOM_FACTOR * (float(weights.sum()) - 1))
    outliers = np.where(has_weight, 0, np.sign(logs - location)).astype(int)
    return PairCenter(location, float(errors @ errors), freedom, errors, outliers)


def _weights(logs: np.ndarray, location: float, limit: float) -> np.ndarray:
    squares = np.square((logs - location) / limit)
    return np.where(squares < 1, np.square(1 - squares), 0.0)


def _is_one_sided(biweight: PairCenter) -> bool:
    too_large, outlier_count = (
        int(np.count_nonzero(mask)) for mask in (biweight.outliers > 0, biweight.outliers)
    )
    return sign_probability(outlier_count, too_large) <= ONE_SIDED_LEVEL


def _center_as_for_launches(logs: np.ndarray) -> PairCenter:
    count = len(logs)
    variance, freedom = variance_of_center(logs)
    winsorised = winsorise_if_enough(logs)
    errors = (winsorised - winsorised.mean()) * math.sqrt(
        TRIMMING_COST.get(count, 1.0) / (count * (count - 1))
    )
    no_outliers = np.zeros(count, dtype=int)
    return PairCenter(float(center(logs)), float(variance), float(freedom), errors, no_outliers)
