# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The centre of the log ratios of pairs of launches, robust against pairs that a change of the machine
splits.

If a machine has two modes that last for seconds, it changes modes between the two launches of every fifth
pair or so. With modes a factor of 2.8 apart, the ratio of this pair is wrong by that factor, in either
direction, since the order inside the pairs is random. The other pairs are right. So the centre is Tukey's
biweight, which gives values far from the others no weight (F. Mosteller, J. W. Tukey, 'Data Analysis and
Regression', 1977), with an interval by Student's t (K. Kafadar, JASA 77 (1982) 416). A mean with outliers
moved in, as for launches (`location`), moves in a tenth at each end only: with 24 pairs, 30% of which are
such, its intervals are ten times as wide, and contain the truth in 82% of simulations instead of 95%.

Kafadar's 0.7 (n - 1) degrees of freedom are too many for small probabilities, on which tests of many cases
depend; 0.7 (w - 1), with w the sum of the weights, are right to 0.001 from eight pairs on (simulated).

Outliers mostly in one direction are no change of the machine: something makes one side slow in some launches.
Then they count, by the centre of launches. That takes six outliers; from three on, all of which are in one
direction, there are too many to say that both sides take the same time (`comparison.verdicts`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hockney.models.statistics.location import COST, FEWEST_TO_WINSORISE, center, spread, winsorised

REACH = 9.0
"""Values further from the centre than this many median deviations (six standard deviations, if they are
normal) have no weight."""
ROUNDS = 10
FREEDOM = 0.7
ONE_SIDED = 0.05
"""Outliers in one direction are not due to chance below this probability: from six on."""
MANY_OUTLIERS = 0.2
"""With a larger share of outliers, the rest may agree by chance."""


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
    found = _biweight(logs) if len(logs) >= FEWEST_TO_WINSORISE else None
    return _like_launches(logs) if found is None or _one_sided(found) else found


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


def _one_sided(found: PairCenter) -> bool:
    above, outliers = (int(np.count_nonzero(of)) for of in (found.outliers > 0, found.outliers))
    return sign_probability(outliers, above) <= ONE_SIDED


def _like_launches(logs: np.ndarray) -> PairCenter:
    count = len(logs)
    variance, freedom = spread(logs)
    kept = winsorised(logs) if count >= FEWEST_TO_WINSORISE else logs
    errors = (kept - kept.mean()) * math.sqrt(COST.get(count, 1.0) / (count * (count - 1)))
    none = np.zeros(count, dtype=int)
    return PairCenter(float(center(logs)), float(variance), float(freedom), errors, none)


@lru_cache(maxsize=1024)
def sign_probability(count: int, above: int) -> float:
    """The two-sided sign test: of so uneven a split of `count` values with a median of 0."""
    fewer = min(above, count - above)
    return min(1.0, 2 * sum(math.comb(count, k) for k in range(fewer + 1)) / 2**count)
