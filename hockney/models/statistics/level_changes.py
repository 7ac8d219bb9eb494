# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Change points of a series: the runs at which the level of its values changed, and their certainty.

The method is circular binary segmentation (A. B. Olshen, E. S. Venkatraman, R. Lucito, M. Wigler,
Biostatistics 5 (2004) 557): the series is cut around the part that differs most from the remaining values. A
part in the middle gives two change points, so a slowdown that was fixed later is also found. The parts are
cut again as long as the difference is significant.

The values are replaced by the normal scores of their ranks. Single outliers then have little effect, and the
null distribution of the largest difference depends only on the number of values: it is the distribution over
random orders. If successive values are correlated (a machine in a good week), the difference is less
significant. Its variance is larger by the factor (1 + r) / (1 - r), where r is the correlation of successive
values after the difference is removed (M. S. Bartlett, J. R. Statist. Soc. 98 (1935) 536). Correlations that
random values often reach are ignored. Slow changes over a few dozen runs cannot be distinguished from steps,
so they cause more false alarms (benchmarks/results/history.md).

Change-point libraries such as ruptures compute the best segmentation for a penalty chosen by the user. Here
the false-alarm rate is given instead, and the date and size of each change need intervals."""

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

SIGNIFICANCE_LEVEL = 0.05
CERTAIN_LEVEL = 0.02
"""Only changes with a smaller probability than this are excluded when estimating the correlation of
successive values. With a smaller limit, changes in short series are mistaken for correlation; with a larger
one, correlation for changes."""
MIN_VALUES = 8
"""With fewer values, no order is rare enough."""
MIN_PART_LENGTH = 2
"""Minimum number of values at a level; a single value is an outlier."""
RANDOM_ORDER_COUNT = 4000
"""Number of random orders that give the distribution for at most LARGEST_DRAWN values."""
MAX_SIMULATED_COUNT = 64
PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
QUANTILES: dict[int, tuple[float, ...]] = {
    64: (2.845, 3.196, 3.391, 3.585, 3.786, 3.938, 4.072, 4.26, 4.378),
    128: (3.105, 3.462, 3.646, 3.825, 4.043, 4.189, 4.328, 4.485, 4.592),
    256: (3.35, 3.679, 3.856, 4.046, 4.249, 4.392, 4.567, 4.703, 4.795),
    512: (3.581, 3.892, 4.091, 4.244, 4.46, 4.58, 4.711, 4.899, 5.002),
    1024: (3.774, 4.077, 4.268, 4.461, 4.625, 4.775, 4.887, 5.158, 5.221),
}
"""Quantiles of the largest difference in random orders by number of values, exceeded with PROBABILITIES
(`benchmarks/history.py`, part 'quantiles')."""
MAX_LOCATION_RATIO = 7.35
"""95% quantile of the likelihood ratio at the true change point (B. E. Hansen, Econometrica 68 (2000) 575,
table 1)."""


@dataclass(frozen=True)
class ChangePoint:
    """A change of the level before the value at `index`; with 95% certainty before one of the values from
    `first` to `last`. `ratio` is the level after the change (up to the next one) divided by the level before,
    for logarithms of times."""

    index: int
    first: int
    last: int
    ratio: RatioEstimate


def change_significance(values: Sequence[float]) -> float:
    """Probability of a difference as large as the largest in this series if nothing changed; 1 for a series
    that is too short."""
    logs = np.asarray(values, dtype=float)
    return _Scan.from_values(logs, _variance_inflation(logs)).p


def find_change_points(values: Sequence[float], level: float = SIGNIFICANCE_LEVEL) -> list[ChangePoint]:
    """Change points of a series of logarithms, in order. If nothing changed, the probability of finding any
    is at most `level`."""
    logs = np.asarray(values, dtype=float)
    cuts = _find_cuts(logs, level, _variance_inflation(logs))
    boundaries = [0, *cuts, len(logs)]
    changes = []
    for start, index, end in zip(boundaries, boundaries[1:], boundaries[2:], strict=False):
        first, last = (start + offset for offset in _locate_change(logs[start:end], index - start))
        certain_values = logs[start:first], logs[last:end]
        all_values = logs[start:index], logs[index:end]
        has_enough = all(len(part) >= MIN_PART_LENGTH for part in certain_values)
        changes.append(
            ChangePoint(index, first, last, _level_ratio(*(certain_values if has_enough else all_values)))
        )
    return changes


def _find_cuts(logs: np.ndarray, level: float, inflation: float) -> list[int]:
    """Find the cuts of a series in rounds. The probability of a false cut in any part of a round is at most
    `level`."""
    cuts: set[int] = set()
    pending = [(0, len(logs))]
    while pending:
        level_per_part, parts = level / len(pending), pending
        pending = []
        for start, end in parts:
            scan = _Scan.from_values(logs[start:end], inflation)
            if scan.p <= level_per_part:
                new_cuts = [
                    start + cut for cut in scan.change_edges(logs[start:end], level_per_part, inflation)
                ]
                cuts.update(new_cuts)
                pending += [
                    part for part in pairwise([start, *new_cuts, end]) if part[1] - part[0] >= MIN_VALUES
                ]
    return sorted(cuts)


def _variance_inflation(logs: np.ndarray) -> float:
    """Inflation of the variance of a mean due to the correlation of successive values around their levels; at
    least 1. Undetected level changes would look like correlation, so only near-certain changes are
    removed."""
    count = len(logs)
    if count < MIN_VALUES or np.ptp(logs) == 0:
        return 1.0
    cuts = _find_cuts(logs, CERTAIN_LEVEL, 1.0)
    parts = [_rank_scores(logs[first:last]) for first, last in pairwise([0, *cuts, count])]
    sum_of_squares = sum(float((part**2).sum()) for part in parts)
    if sum_of_squares <= 0:
        return 1.0
    correlation = (
        sum(float((part[1:] * part[:-1]).sum()) for part in parts) / sum_of_squares + len(parts) / count
    )
    correlation = min(0.9, correlation) if correlation > 1 / math.sqrt(count) else 0.0
    return (1 + correlation) / (1 - correlation)


@dataclass(frozen=True)
class _Scan:
    """The values `first` to `last - 1` differ most from the others; `p` is the probability of that if nothing
    changed."""

    first: int
    last: int
    p: float

    def change_edges(self, values: np.ndarray, level: float, inflation: float) -> list[int]:
        """Positions at which to cut the series. For a part in the middle, one edge may account for the whole
        difference: the other edge must be significant without the values beyond the first."""
        cuts = [cut for cut in (self.first, self.last) if 0 < cut < len(values)]
        if len(cuts) < 2:
            return cuts
        parts = (values[: self.last], values[self.first :])
        significant_cuts = [
            cut
            for cut, part in zip(cuts, parts, strict=True)
            if _Scan.from_values(part, inflation).p <= level
        ]
        return significant_cuts or cuts

    @staticmethod
    def from_values(values: np.ndarray, inflation: float) -> _Scan:
        count = len(values)
        if count < MIN_VALUES or np.ptp(values) == 0:
            return _Scan(0, count, 1.0)
        first, last, largest = _largest_difference(_rank_scores(values))
        if inflation > 1:
            by_values = _difference_of_values(values, first, last, inflation)
            largest = max(largest / math.sqrt(inflation), min(largest, by_values))
        return _Scan(first, last, _tail_probability(count, largest))


def _difference_of_values(values: np.ndarray, first: int, last: int, inflation: float) -> float:
    """Difference of a part by its values instead of its ranks, which limit the largest difference. A clear
    step remains significant despite the larger variance."""
    count = len(values)
    inside, outside = values[first:last], np.concatenate([values[:first], values[last:]])
    parts = winsorise_if_enough(inside), winsorise_if_enough(outside)
    residual_variance = sum(float(((part - part.mean()) ** 2).sum()) for part in parts) / (count - 2)
    if residual_variance <= 0:
        return math.sqrt(count)
    standard_error = math.sqrt(residual_variance * inflation * sum(1 / len(part) for part in parts))
    t = abs(float(parts[0].mean() - parts[1].mean())) / standard_error
    return t * math.sqrt(count / (count - 2 + t**2))


def _rank_scores(values: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks with mean 0 and variance 1; equal values have equal scores."""
    order = np.argsort(values, kind="stable")
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    sorted_scores = _normal_scores(len(values))
    score_sums = np.bincount(group[order], weights=sorted_scores)
    scores = (score_sums / counts)[group]
    deviation = float(scores.std())
    return np.asarray((scores - scores.mean()) / deviation) if deviation else np.zeros(len(values))


@lru_cache(maxsize=256)
def _normal_scores(count: int) -> np.ndarray:
    return normal_quantiles((np.arange(count) + 0.5) / count)


def _largest_difference(scores: np.ndarray) -> tuple[int, int, float]:
    first, last, largest = 0, len(scores), 0.0
    for length, differences in _differences(scores[None, :]):
        start = int(differences[0].argmax())
        if differences[0, start] > largest:
            first, last, largest = start, start + length, float(differences[0, start])
    return first, last, largest


def _differences(scores: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield for each part length the absolute differences between a part and the remaining values in standard
    deviations, for many series at once. 0 for parts that leave fewer than SHORTEST values at an end."""
    count = scores.shape[1]
    sums = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)], axis=1)
    for length in range(MIN_PART_LENGTH, count - MIN_PART_LENGTH + 1):
        start = np.arange(count - length + 1)
        values_after = count - length - start
        allowed = ((start == 0) | (start >= MIN_PART_LENGTH)) & (
            (values_after == 0) | (values_after >= MIN_PART_LENGTH)
        )
        scale = np.where(allowed, 1 / math.sqrt(length * (count - length) / count), 0.0)
        yield length, np.abs(sums[:, length:] - sums[:, :-length]) * scale


def _tail_probability(count: int, largest: float) -> float:
    """Probability of such a `largest` difference. Beyond the last of PROBABILITIES, the tail is assumed to
    fall like that of a normal variable."""
    if count <= MAX_SIMULATED_COUNT:
        simulated = _simulated_differences(count)
        # equal up to rounding
        exceeding_count = len(simulated) - int(np.searchsorted(simulated, largest - 1e-9))
        if exceeding_count >= PROBABILITIES[-1] * len(simulated):
            return exceeding_count / len(simulated)
        last_quantile = float(simulated[-int(PROBABILITIES[-1] * len(simulated))])
        return PROBABILITIES[-1] * math.exp(-(largest**2 - last_quantile**2) / 2)
    sizes = np.log(list(QUANTILES))
    columns = np.array(list(QUANTILES.values())).T
    quantiles = [float(np.interp(math.log(count), sizes, column)) for column in columns]
    if largest >= quantiles[-1]:
        return PROBABILITIES[-1] * math.exp(-(largest**2 - quantiles[-1] ** 2) / 2)
    logs = np.log(PROBABILITIES)
    return 1.0 if largest < quantiles[0] else float(math.exp(np.interp(largest, quantiles, logs)))


@lru_cache(maxsize=128)
def _simulated_differences(count: int) -> np.ndarray:
    """Sorted largest differences of random orders; deterministic."""
    rng = np.random.default_rng(count)
    scores = _normal_scores(count)
    orders = rng.permuted(np.tile(scores / scores.std(), (RANDOM_ORDER_COUNT, 1)), axis=1)
    largest = np.zeros(RANDOM_ORDER_COUNT)
    for _, differences in _differences(orders):
        np.maximum(largest, differences.max(axis=1), out=largest)
    return np.sort(largest)


def _locate_change(values: np.ndarray, index: int) -> tuple[int, int]:
    """First and last position of a possible change: positions with nearly the same sum of squares after
    winsorising."""
    values = np.concatenate([winsorise_if_enough(values[:index]), winsorise_if_enough(values[index:])])
    count = len(values)
    positions = np.arange(1, count)
    cumulative_sums, total_squares = (
        np.cumsum(values - values.mean()),
        float(((values - values.mean()) ** 2).sum()),
    )
    residual_squares = total_squares - cumulative_sums[:-1] ** 2 * (1 / positions + 1 / (count - positions))
    variance = float(residual_squares[index - 1]) / max(1, count - 2)
    likely_positions = positions[
        residual_squares - residual_squares[index - 1] <= MAX_LOCATION_RATIO * variance
    ]
    return int(min(likely_positions, default=index)), int(max(likely_positions, default=index))


def _level_ratio(before: np.ndarray, after: np.ndarray) -> RatioEstimate:
    """Ratio of the levels with Welch's interval. Values at uncertain positions are excluded by the caller if
    enough others remain, because the change point was chosen to maximise the difference."""
    parts = [
        (float(part_variance), part_freedom)
        for variance_part in (before, after)
        if len(variance_part) > 1
        for part_variance, part_freedom in [variance_of_center(variance_part)]
    ]
    log_ratio = float(center(after)) - float(center(before))
    variance = sum(variance_part for variance_part, _ in parts)
    if variance <= 0 or len(parts) < 2:
        exact = len(parts) == 2
        half_width = 0.0 if exact else math.nan
        return RatioEstimate.from_log_ratio(log_ratio, log_ratio, half_width, half_width, 1.0)
    freedom = variance**2 / sum(variance_part**2 / part_freedom for variance_part, part_freedom in parts)
    half_width = student(freedom) * math.sqrt(variance)
    return RatioEstimate.from_log_ratio(log_ratio, log_ratio, half_width, half_width, freedom)
