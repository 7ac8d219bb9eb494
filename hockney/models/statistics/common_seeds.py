# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of randomised methods that were run with the same seeds.

Runs with one seed begin alike, so that what makes a start a lucky one cancels in their difference: intervals
are those of the mean over seeds of these differences (a paired t-test; McGeoch, "A Guide to Experimental
Algorithmics", 2012, calls it common random numbers). Several runs with one seed count as their mean: they are
no new evidence about other seeds. Without common seeds the two means are compared as independent ones
(Welch).

The cost of reaching a target is the expected running time: the time of all runs, also of those that end
without reaching it, over the number of those that do (Hansen, Auger, Finck, Ros, "Real-Parameter Black-Box
Optimization Benchmarking 2010: Experimental Setup", INRIA RR-7215). Its ratio is not a mean, so that its
interval is that of the jackknife over the seeds (Efron, Stein, Ann. Statist. 9 (1981) 586), of both together
if they are common, else of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.location import estimate, student

FEWEST_PAIRS = 3
"""Common seeds; with fewer, means are compared as independent ones."""
ValuesBySeed = Mapping[Any, float]


@dataclass(frozen=True)
class Attempts:
    """The runs of one seed: `spent` seconds until each reached the target or ended, and how many reached
    it."""

    spent: float
    reached: int


def mean_by_seed(seeds: Iterable[Hashable], values: Iterable[float]) -> dict[Hashable, float]:
    """The mean of the values of each seed; of equal ones exactly this value, so that methods with the same
    results do not differ by rounding."""
    values_by_seed: dict[Hashable, list[float]] = {}
    for seed, value in zip(seeds, values, strict=True):
        values_by_seed.setdefault(seed, []).append(value)
    return {
        seed: same_seed[0] if min(same_seed) == max(same_seed) else float(np.mean(same_seed))
        for seed, same_seed in values_by_seed.items()
    }


def common_keys(first: Mapping[Hashable, object], second: Mapping[Hashable, object]) -> list[Hashable]:
    """The keys of both, in the order of the first."""
    return [seed for seed in first if seed in second]


def mean(values_by_seed: ValuesBySeed) -> Estimate:
    """The mean over the seeds, with Student's interval."""
    values = np.array(list(values_by_seed.values()), dtype=float)
    half = float(student(len(values) - 1)) * _error(values) if len(values) > 1 else np.nan
    middle = float(values.mean())
    return estimate(middle, middle - half, middle + half)


def mean_difference(first: ValuesBySeed, second: ValuesBySeed) -> Estimate:
    """The mean of `first` minus that of `second`, over the seeds of both if there are FEWEST_PAIRS."""
    pairs = common_keys(first, second)
    if len(pairs) >= FEWEST_PAIRS:
        return mean({seed: first[seed] - second[seed] for seed in pairs})
    return _independent_difference(np.array(list(first.values())), np.array(list(second.values())))


def _independent_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    middle = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return Estimate(middle, None, None)
    a, b = _error(first) ** 2, _error(second) ** 2
    if a + b == 0:
        return Estimate(middle, None, None)
    freedom = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    half = float(student(freedom)) * float(np.sqrt(a + b))
    return estimate(middle, middle - half, middle + half)


def _error(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def expected_time(attempts_by_seed: Mapping[Hashable, Attempts]) -> float | None:
    """Seconds until the target is reached; None if no run did."""
    reached = sum(attempts.reached for attempts in attempts_by_seed.values())
    return sum(attempts.spent for attempts in attempts_by_seed.values()) / reached if reached else None


def ratio_of_expected_times(
    first: Mapping[Hashable, Attempts], second: Mapping[Hashable, Attempts]
) -> Estimate | None:
    """The ratio of the expected times, over the seeds of both if there are FEWEST_PAIRS, otherwise over all.
    None if one never reached the target; without an interval if that depends on a single seed."""
    pairs = common_keys(first, second)
    paired = len(pairs) >= FEWEST_PAIRS
    a, b = ([each[seed] for seed in pairs] if paired else list(each.values()) for each in (first, second))
    sums = [np.array([[x.spent, x.reached] for x in each], dtype=float).reshape(-1, 2) for each in (a, b)]
    if min(each[:, 1].sum() for each in sums) == 0:
        return None
    whole = float(np.subtract(*(_log_expected(each.sum(axis=0)) for each in sums)))
    half = _half_width(_without_each(sums[0]), _without_each(sums[1]), paired)
    return estimate(*(float(np.exp(each)) for each in (whole, whole - half, whole + half)))


def _log_expected(sums: np.ndarray) -> np.ndarray:
    """Log of the expected time, from seconds and successes in the last dimension; nan without successes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, np.log(sums[..., 0] / sums[..., 1]), np.nan))


def _without_each(values: np.ndarray) -> np.ndarray:
    """Log of the expected time without each seed in turn."""
    return _log_expected(values.sum(axis=0) - values)


def _half_width(first: np.ndarray, second: np.ndarray, paired: bool) -> float:
    """Half width of the ratio's 95% interval (log), from the estimates without each seed; nan with a single
    one."""
    if min(len(first), len(second)) < 2:
        return float("nan")
    parts = [first - second] if paired else [first, second]
    variances = [(len(x) - 1) / len(x) * float(np.sum((x - x.mean()) ** 2)) for x in parts]
    whole = sum(variances)
    if not whole > 0:
        return whole
    freedom = whole**2 / sum(v**2 / (len(x) - 1) for v, x in zip(variances, parts, strict=True))
    return float(student(freedom) * np.sqrt(whole))
