# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Change points of a series: at which runs did the level of its values change, and how certain is that?

The method is circular binary segmentation (A. B. Olshen, E. S. Venkatraman, R. Lucito, M. Wigler,
Biostatistics 5 (2004) 557): the series is cut where a part of it differs most from the rest; a part in the
middle gives two change points, so that a slowdown that was mended later is found as well. The parts are cut
again as long as the difference is significant.

The values are replaced by the normal scores of their ranks. So single outliers count little, and the
distribution of the largest difference, if nothing changed, depends on the number of values only: it is that
over random orders of them. If values follow each other more closely than random ones (a machine in a good
week), the difference counts less: its variance is (1 + r) / (1 - r) times as large, with the correlation r of
successive values that is left when the difference is removed (M. S. Bartlett, J. R. Statist. Soc. 98 (1935)
536), if it is larger than that of random values usually is. Slow changes of a few dozen runs cannot be told
from steps, so there are more false alarms with them (benchmarks/results/history.md).

Libraries for change points (ruptures, for example) give the best segmentation for a penalty that the user
chooses; here the number of false alarms decides, and a date and a size with their intervals are needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from hockney.models.scipy_functions import normal_quantiles
from hockney.models.statistics.location import (
    center,
    student,
    variance_of_center,
    winsorise_if_enough,
)
from hockney.models.statistics.ratio_estimate import RatioEstimate

LEVEL = 0.05
CERTAIN = 0.02
"""A change with a smaller probability than this does not count as correlation of successive values. With a
smaller limit, changes in short series are taken for correlation, with a larger one correlation for changes.
"""
FEWEST = 8
"""No order of fewer values is rare enough."""
SHORTEST = 2
"""A single value is an outlier, not a level."""
ORDERS = 4000
"""Random orders, from which the distribution for at most LARGEST_DRAWN values is computed."""
LARGEST_DRAWN = 64
PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
QUANTILES: dict[int, tuple[float, ...]] = {
    64: (2.845, 3.196, 3.391, 3.585, 3.786, 3.938, 4.072, 4.26, 4.378),
    128: (3.105, 3.462, 3.646, 3.825, 4.043, 4.189, 4.328, 4.485, 4.592),
    256: (3.35, 3.679, 3.856, 4.046, 4.249, 4.392, 4.567, 4.703, 4.795),
    512: (3.581, 3.892, 4.091, 4.244, 4.46, 4.58, 4.711, 4.899, 5.002),
    1024: (3.774, 4.077, 4.268, 4.461, 4.625, 4.775, 4.887, 5.158, 5.221),
}
"""Quantiles of the largest difference in random orders, by number of values; exceeded with PROBABILITIES
(`benchmarks/history.py`, part 'quantiles')."""
LOCATION = 7.35
"""95% of the likelihood ratios of a change point's true place are smaller (B. E. Hansen, Econometrica 68
(2000) 575, table 1)."""


@dataclass(frozen=True)
class ChangePoint:
    """The level changed before the value at index `at`; with 95% certainty before one of those from `first`
    to `last`. `ratio` is the level after it, up to the next change, divided by that before, for logarithms of
    times."""

    at: int
    first: int
    last: int
    ratio: RatioEstimate


def change_significance(values: Sequence[float]) -> float:
    """The probability of a difference as large as the largest in this series, if nothing changed; 1 for a
    series that is too short."""
    logs = np.asarray(values, dtype=float)
    return _Scan.of(logs, _inflation(logs)).p


def change_points(values: Sequence[float], level: float = LEVEL) -> list[ChangePoint]:
    """The change points of a series of logarithms, in order. If nothing changed, the probability of finding
    any is at most `level`."""
    logs = np.asarray(values, dtype=float)
    cuts = _cuts(logs, level, _inflation(logs))
    bounds = [0, *cuts, len(logs)]
    changes = []
    for start, at, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        first, last = (start + offset for offset in _location(logs[start:end], at - start))
        certain = logs[start:first], logs[last:end]
        all_values = logs[start:at], logs[at:end]
        enough = all(len(part) >= SHORTEST for part in certain)
        changes.append(ChangePoint(at, first, last, _ratio(*(certain if enough else all_values))))
    return changes


def _cuts(logs: np.ndarray, level: float, inflation: float) -> list[int]:
    """The cuts of a series, found in rounds: all parts of a round together have a false cut with a
    probability of `level` at most."""
    cuts: set[int] = set()
    open_ = [(0, len(logs))]
    while open_:
        each, parts = level / len(open_), open_
        open_ = []
        for start, end in parts:
            scan = _Scan.of(logs[start:end], inflation)
            if scan.p <= each:
                new = [start + cut for cut in scan.edges(logs[start:end], each, inflation)]
                cuts.update(new)
                open_ += [part for part in pairwise([start, *new, end]) if part[1] - part[0] >= FEWEST]
    return sorted(cuts)


def _inflation(logs: np.ndarray) -> float:
    """The inflation of the variance of a mean, due to the correlation of successive values around their
    levels; at least 1. Only what is certainly a change counts as one here, because a change of the level
    correlates values."""
    count = len(logs)
    if count < FEWEST or np.ptp(logs) == 0:
        return 1.0
    cuts = _cuts(logs, CERTAIN, 1.0)
    parts = [_scores(logs[first:last]) for first, last in pairwise([0, *cuts, count])]
    total = sum(float((part**2).sum()) for part in parts)
    if total <= 0:
        return 1.0
    r = sum(float((part[1:] * part[:-1]).sum()) for part in parts) / total + len(parts) / count
    r = min(0.9, r) if r > 1 / math.sqrt(count) else 0.0
    return (1 + r) / (1 - r)


@dataclass(frozen=True)
class _Scan:
    """The values from `first` to before `last` differ most from the others; `p` is the probability of that if
    nothing changed."""

    first: int
    last: int
    p: float

    def edges(self, values: np.ndarray, level: float, inflation: float) -> list[int]:
        """The places at which to cut the series. For a part in the middle, one edge alone may make the
        difference: the other must be significant in the series without what is beyond the first."""
        cuts = [cut for cut in (self.first, self.last) if 0 < cut < len(values)]
        if len(cuts) < 2:
            return cuts
        alone = (values[: self.last], values[self.first :])
        certain = [cut for cut, part in zip(cuts, alone, strict=True) if _Scan.of(part, inflation).p <= level]
        return certain or cuts

    @staticmethod
    def of(values: np.ndarray, inflation: float) -> _Scan:
        count = len(values)
        if count < FEWEST or np.ptp(values) == 0:
            return _Scan(0, count, 1.0)
        first, last, largest = _largest_difference(_scores(values))
        if inflation > 1:
            by_values = _deflated(values, first, last, inflation)
            largest = max(largest / math.sqrt(inflation), min(largest, by_values))
        return _Scan(first, last, _probability(count, largest))


def _deflated(values: np.ndarray, first: int, last: int, inflation: float) -> float:
    """The difference of a part by its values instead of its ranks, whose largest difference is limited: a
    clear step stays one if the variance is larger."""
    count = len(values)
    inside, outside = values[first:last], np.concatenate([values[:first], values[last:]])
    parts = winsorise_if_enough(inside), winsorise_if_enough(outside)
    left = sum(float(((part - part.mean()) ** 2).sum()) for part in parts) / (count - 2)
    if left <= 0:
        return math.sqrt(count)
    error = math.sqrt(left * inflation * sum(1 / len(part) for part in parts))
    t = abs(float(parts[0].mean() - parts[1].mean())) / error
    return t * math.sqrt(count / (count - 2 + t**2))


def _scores(values: np.ndarray) -> np.ndarray:
    """The normal scores of the ranks; equal values have equal ones. Their mean is 0 and their variance 1."""
    order = np.argsort(values, kind="stable")
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    sorted_scores = _normal_scores(len(values))
    sums = np.bincount(group[order], weights=sorted_scores)
    scores = (sums / counts)[group]
    spread_ = float(scores.std())
    return np.asarray((scores - scores.mean()) / spread_) if spread_ else np.zeros(len(values))


@lru_cache(maxsize=256)
def _normal_scores(count: int) -> np.ndarray:
    return normal_quantiles((np.arange(count) + 0.5) / count)


def _largest_difference(scores: np.ndarray) -> tuple[int, int, float]:
    first, last, largest = 0, len(scores), 0.0
    for length, differences in _differences(scores[None, :]):
        place = int(differences[0].argmax())
        if differences[0, place] > largest:
            first, last, largest = place, place + length, float(differences[0, place])
    return first, last, largest


def _differences(scores: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The absolute difference of each part from the rest, in standard deviations, for each length and for
    many series at once; 0 for parts that leave fewer than SHORTEST values at an end."""
    count = scores.shape[1]
    sums = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)], axis=1)
    for length in range(SHORTEST, count - SHORTEST + 1):
        start = np.arange(count - length + 1)
        rest = count - length - start
        allowed = ((start == 0) | (start >= SHORTEST)) & ((rest == 0) | (rest >= SHORTEST))
        scale = np.where(allowed, 1 / math.sqrt(length * (count - length) / count), 0.0)
        yield length, np.abs(sums[:, length:] - sums[:, :-length]) * scale


def _probability(count: int, largest: float) -> float:
    """Beyond the last of PROBABILITIES, the tail falls as that of a normal variable, or faster."""
    if count <= LARGEST_DRAWN:
        drawn = _drawn(count)
        # equal up to rounding
        exceeded = len(drawn) - int(np.searchsorted(drawn, largest - 1e-9))
        if exceeded >= PROBABILITIES[-1] * len(drawn):
            return exceeded / len(drawn)
        end = float(drawn[-int(PROBABILITIES[-1] * len(drawn))])
        return PROBABILITIES[-1] * math.exp(-(largest**2 - end**2) / 2)
    sizes = np.log(list(QUANTILES))
    columns = np.array(list(QUANTILES.values())).T
    quantiles = [float(np.interp(math.log(count), sizes, column)) for column in columns]
    if largest >= quantiles[-1]:
        return PROBABILITIES[-1] * math.exp(-(largest**2 - quantiles[-1] ** 2) / 2)
    logs = np.log(PROBABILITIES)
    return 1.0 if largest < quantiles[0] else float(math.exp(np.interp(largest, quantiles, logs)))


@lru_cache(maxsize=128)
def _drawn(count: int) -> np.ndarray:
    """The largest differences of random orders, sorted; always the same ones."""
    rng = np.random.default_rng(count)
    scores = _normal_scores(count)
    orders = rng.permuted(np.tile(scores / scores.std(), (ORDERS, 1)), axis=1)
    largest = np.zeros(ORDERS)
    for _, differences in _differences(orders):
        np.maximum(largest, differences.max(axis=1), out=largest)
    return np.sort(largest)


def _location(values: np.ndarray, at: int) -> tuple[int, int]:
    """The places before which the level may have changed: those with nearly the same sum of squares, when
    outliers are moved in."""
    values = np.concatenate([winsorise_if_enough(values[:at]), winsorise_if_enough(values[at:])])
    count = len(values)
    places = np.arange(1, count)
    sums, squares = np.cumsum(values - values.mean()), float(((values - values.mean()) ** 2).sum())
    left = squares - sums[:-1] ** 2 * (1 / places + 1 / (count - places))
    variance = float(left[at - 1]) / max(1, count - 2)
    near = places[left - left[at - 1] <= LOCATION * variance]
    return int(min(near, default=at)), int(max(near, default=at))


def _ratio(before: np.ndarray, after: np.ndarray) -> RatioEstimate:
    """Welch's interval, with the values as units. The values where the change may be are left out, if enough
    others are there: the place was chosen such that the difference is large."""
    parts = [
        (float(v), f) for each in (before, after) if len(each) > 1 for v, f in [variance_of_center(each)]
    ]
    log = float(center(after)) - float(center(before))
    variance = sum(each for each, _ in parts)
    if variance <= 0 or len(parts) < 2:
        exact = len(parts) == 2
        half = 0.0 if exact else math.nan
        return RatioEstimate.of(log, log, half, half, 1.0)
    freedom = variance**2 / sum(each**2 / f for each, f in parts)
    half = student(freedom) * math.sqrt(variance)
    return RatioEstimate.of(log, log, half, half, freedom)
