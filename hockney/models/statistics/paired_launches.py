# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case on two sides whose launches were interleaved, or the geometric mean over
several cases.

A launch of one side and the launch of the other that ran next to it are a pair; in the observations here,
both have the same name. Slow changes affect both launches of a pair, so they cancel in their ratio. The order
inside the pairs is random and balanced, so that what is left of a change of the machine has either sign with
the same probability, and the pairs are independent values. Cases of one pair share what happens to it: the
error of their mean is that of the sums of their errors in each pair. As far as several interleaved
comparisons differ more than their pairs explain, they are the independent values (`variance_components`).
Launches without a counterpart do not count, unless there are hardly any pairs: then the launches count as
independent (`independent_launches`).

The ratio is the centre of the pairs' log ratios, robust against pairs that a change of the machine splits. If
a machine has two modes that last for seconds, it changes modes between the two launches of every fifth pair
or so. With modes a factor of 2.8 apart, the ratio of this pair is wrong by that factor, in either direction,
since the order inside the pairs is random. The other pairs are right. So the centre is Tukey's biweight,
which gives values far from the others no weight (F. Mosteller, J. W. Tukey, 'Data Analysis and Regression',
1977), with an interval by Student's t (K. Kafadar, JASA 77 (1982) 416). A mean with outliers moved in, as for
launches (`location`), moves in a tenth at each end only: with 24 pairs, 30% of which are split, its intervals
are ten times as wide, and contain the truth in 82% of simulations instead of 95%.

Kafadar's 0.7 (n - 1) degrees of freedom are too many for small probabilities, on which tests of many cases
depend; 0.7 (w - 1), with w the sum of the weights, are right to 0.001 from eight pairs on (simulated).

Outliers mostly in one direction are no change of the machine: something makes one side slow in some launches.
Then they count, by the centre of launches. That takes six outliers; from three on, all of which are in one
direction, there are too many to say that both sides take the same time (`comparison`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.independent_launches import ENOUGH_FREEDOM, independent_ratio
from hockney.models.statistics.location import (
    FEWEST_TO_WINSORISE,
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
from hockney.models.statistics.ratios import FEWEST_PAIRS
from hockney.models.statistics.variance_components import PooledCase, RunCenter, RunsOfSide, RunsOfSides

REACH = 9.0
"""Values further from the centre than this many median deviations (six standard deviations, if they are
normal) have no weight."""
ROUNDS = 10
FREEDOM = 0.7
ONE_SIDED = 0.05
"""Outliers in one direction are not due to chance below this probability: from six on."""
MANY_OUTLIERS = 0.2
"""With a larger share of outliers, the rest may agree by chance."""


def pair_count(numerator: PooledCase, denominator: PooledCase) -> int:
    """The number of pairs."""
    return len(shared_launches((numerator.pooled, denominator.pooled)))


def pairs_with_weight(numerator: PooledCase, denominator: PooledCase) -> tuple[Observation, Observation]:
    """Both observations with only the launches of pairs that have a weight, so that their typical times agree
    with the ratio. With too few pairs, all their launches."""
    if pair_count(numerator, denominator) < FEWEST_PAIRS:
        return numerator.pooled, denominator.pooled
    paired = _PairedCase.of(numerator.pooled, denominator.pooled)
    names = [name for name, outlier in zip(paired.names, paired.center.outliers, strict=True) if not outlier]
    a, b = (
        replace(observation, inferred=None).select_launches(observation.indices_of(names).tolist())
        for observation in (numerator.pooled, denominator.pooled)
    )
    return a, b


def paired_ratio(numerator: Sequence[PooledCase], denominator: Sequence[PooledCase]) -> RatioEstimate:
    """The geometric mean, over one or more cases, of the typical time in the launches `numerator` divided by
    that in the launches `denominator`, with the same names. Cases that have too few pairs count only if none
    has more."""
    both = [(a, b) for a, b in zip(numerator, denominator, strict=True) if pair_count(a, b) >= FEWEST_PAIRS]
    if not both:
        return independent_ratio(numerator, denominator)
    cases = [_PairedCase.of(a.pooled, b.pooled) for a, b in both]
    log = float(np.mean([case.center.log for case in cases]))
    errors = _pair_errors(cases)
    variance = sum(error**2 for error in errors.values())
    freedom = float(np.mean([case.center.freedom for case in cases]))
    few = len(cases) == 1 and len(errors) <= ENOUGH_FREEDOM
    within = cases[0].within if few else (math.nan, math.nan)
    choice = float(np.mean([case.choice for case in cases]))  # they may all be wrong in the same direction
    runs = _run_differences(both, cases)
    below, above = (
        max(runs.half_width(float(blend_half_widths(variance, freedom, side))), choice) for side in within
    )
    freedom, excluded = runs.combine_freedom(freedom), _excluded_pairs(cases)
    return RatioEstimate.of(log, log, below, above, freedom, pairs=_pair_log_ratios(cases), excluded=excluded)


def common_pairs(cases: Sequence[tuple[PooledCase, PooledCase]]) -> list[str]:
    """The names of the pairs of launches that measured all these cases, on both sides, in their order."""
    return shared_launches([side.pooled for case in cases for side in case])


def ratio_of_pairs(logs: np.ndarray) -> RatioEstimate:
    """The typical ratio of at least two pairs with these log ratios."""
    typical = pair_center(logs)
    half_width = student(typical.freedom) * math.sqrt(typical.variance)
    pairs = tuple(map(float, logs)) if typical.many_outliers else ()
    return RatioEstimate.of(typical.log, typical.log, half_width, half_width, typical.freedom, pairs=pairs)


@dataclass(frozen=True)
class _PairedCase:
    """A case: the log ratios of its pairs by `names`, their centre, and its half widths below and above as
    the spread within launches predicts them; and that which the choice of the visits in the fastest mode
    implies, 0 if they were not chosen."""

    names: Sequence[str]
    logs: np.ndarray
    center: PairCenter
    within: tuple[float, float]
    choice: float

    @staticmethod
    def of(numerator: Observation, denominator: Observation) -> _PairedCase:
        names = shared_launches((numerator, denominator))
        logs, (below, above) = log_ratios(numerator, denominator, names)
        choice = math.hypot(_choice_half_width(numerator), _choice_half_width(denominator))
        return _PairedCase(
            names, logs, pair_center(logs), (half_width_of_mean(below), half_width_of_mean(above)), choice
        )


def _choice_half_width(observation: Observation) -> float:
    all_visits = observation.chosen_from
    return 0.0 if all_visits is None else undisturbed_half_width(all_visits.visits, all_visits.visits_at_s)


def _pair_log_ratios(cases: Sequence[_PairedCase]) -> tuple[float, ...]:
    """The log ratio of each pair, in the median of the cases; none if there are few outliers."""
    if 2 * sum(case.center.many_outliers for case in cases) < len(cases):
        return ()
    by_pair: dict[str, list[float]] = {}
    for case in cases:
        for name, log in zip(case.names, case.logs, strict=True):
            by_pair.setdefault(name, []).append(float(log))
    return tuple(float(np.median(logs)) for logs in by_pair.values())


def _excluded_pairs(cases: Sequence[_PairedCase]) -> tuple[int, int]:
    """The pairs without a weight in most of the cases, by the direction of the outlier."""
    by_pair: dict[str, list[int]] = {}
    for case in cases:
        for name, direction in zip(case.names, case.center.outliers, strict=True):
            by_pair.setdefault(name, []).append(int(direction))
    above, below = (
        sum(2 * signs.count(direction) > len(signs) for signs in by_pair.values()) for direction in (1, -1)
    )
    return above, below


def _pair_errors(cases: Sequence[_PairedCase]) -> dict[str, float]:
    """The contribution of each pair to the error of the mean of the cases' centres."""
    errors: dict[str, float] = {}
    for case in cases:
        for name, error in zip(case.names, case.center.errors, strict=True):
            errors[name] = errors.get(name, 0.0) + float(error) / len(cases)
    return errors


def _run_differences(
    both: Sequence[tuple[PooledCase, PooledCase]], cases: Sequence[_PairedCase]
) -> RunsOfSides:
    """What the differences of several interleaved comparisons imply. One counts with the cases of which it
    measured enough pairs, relative to their centres over all."""
    by_run: dict[int, list[tuple[float, _PairedCase]]] = {}
    for (numerator, denominator), case in zip(both, cases, strict=True):
        for number in numerator.runs.keys() & denominator.runs.keys() if len(numerator.runs) > 1 else ():
            a, b = numerator.runs[number], denominator.runs[number]
            if len(shared_launches((a, b))) >= FEWEST_PAIRS:
                paired = _PairedCase.of(a, b)
                by_run.setdefault(number, []).append((paired.center.log - case.center.log, paired))
    return RunsOfSides.of(
        [RunsOfSide.of([_run_center(pairs) for pairs in by_run.values()])] if by_run else []
    )


def _run_center(cases: Sequence[tuple[float, _PairedCase]]) -> RunCenter:
    deviations, paired = zip(*cases, strict=True)
    explained = sum(error**2 for error in _pair_errors(paired).values())
    return RunCenter(float(np.mean(deviations)), explained, sum(len(each.names) for each in paired))


@dataclass(frozen=True)
class PairCenter:
    """The `log` of the typical ratio of pairs, the `variance` of that, with its degrees of `freedom`, and
    what each pair contributes to the error: the sum of their squares is the variance. `outliers` have no
    weight: 1 for a pair whose ratio is too large, -1 for one that is too small, 0 for the others."""

    log: float
    variance: float
    freedom: float
    errors: np.ndarray
    outliers: np.ndarray

    @property
    def many_outliers(self) -> bool:
        return bool(np.count_nonzero(self.outliers) > MANY_OUTLIERS * len(self.outliers))


def pair_center(logs: np.ndarray) -> PairCenter:
    """The centre of the log ratios of at least two pairs."""
    biweight = _biweight(logs) if len(logs) >= FEWEST_TO_WINSORISE else None
    return _center_like_launches(logs) if biweight is None or _one_sided(biweight) else biweight


def _biweight(logs: np.ndarray) -> PairCenter | None:
    """Tukey's biweight of the log ratios; None if half of the values are equal."""
    middle = float(np.median(logs))
    scale = REACH * float(np.median(abs(logs - middle)))
    if scale < 1e-12:
        return None
    for _ in range(ROUNDS):
        weights = _weights(logs, middle, scale)
        middle = float(weights @ logs / weights.sum())
    squares = np.square((logs - middle) / scale)
    weights = _weights(logs, middle, scale)
    inside = squares < 1
    slope = float(((1 - squares) * (1 - 5 * squares))[inside].sum())
    count = max(slope, 1.5)  # of pairs that count fully
    errors = (logs - middle) * weights / math.sqrt(count * (count - 1))
    freedom = max(1.0, FREEDOM * (float(weights.sum()) - 1))
    outliers = np.where(inside, 0, np.sign(logs - middle)).astype(int)
    return PairCenter(middle, float(errors @ errors), freedom, errors, outliers)


def _weights(logs: np.ndarray, middle: float, scale: float) -> np.ndarray:
    squares = np.square((logs - middle) / scale)
    return np.where(squares < 1, np.square(1 - squares), 0.0)


def _one_sided(biweight: PairCenter) -> bool:
    above, outliers = (int(np.count_nonzero(flags)) for flags in (biweight.outliers > 0, biweight.outliers))
    return sign_probability(outliers, above) <= ONE_SIDED


def _center_like_launches(logs: np.ndarray) -> PairCenter:
    count = len(logs)
    variance, freedom = variance_of_center(logs)
    kept = winsorise_if_enough(logs)
    errors = (kept - kept.mean()) * math.sqrt(TRIMMING_COST.get(count, 1.0) / (count * (count - 1)))
    none = np.zeros(count, dtype=int)
    return PairCenter(float(center(logs)), float(variance), float(freedom), errors, none)
