# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of randomised methods that were run with the same seeds.

Runs with the same seed start from the same state, so the luck of a start cancels in their difference. The
interval is that of the mean difference over the seeds (a paired t-test; McGeoch, "A Guide to Experimental
Algorithmics", 2012, calls it common random numbers). Repeated runs with one seed count as their mean, because
they say nothing about other seeds. Without common seeds the two means are compared as independent samples
(Welch's t-test).

The cost of reaching a target is the expected running time: the total time of all runs, including unsuccessful
ones, divided by the number of successful runs (Hansen, Auger, Finck, Ros, "Real-Parameter Black-Box
Optimization Benchmarking 2010: Experimental Setup", INRIA RR-7215). A ratio of two expected times is not a
mean, so its interval comes from the jackknife over the seeds (Efron, Stein, Ann. Statist. 9 (1981) 586): over
common seeds jointly, otherwise separately for each method."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.location import estimate, student

MIN_PAIRS = 3
"""Minimum number of common seeds for a paired comparison."""
ValuesBySeed = Mapping[Any, float]


@dataclass(frozen=True)
class Attempts:
    """The runs with one seed: their total time `spent_s` until each reached the target or ended, and the
    number of runs that reached it."""

    spent_s: float
    success_count: int


def mean_by_seed(seeds: Iterable[Hashable], values: Iterable[float]) -> dict[Hashable, float]:
    """Return the mean value of each seed. The mean of equal values is exactly that value, so methods with
    equal results do not differ by rounding."""
    values_by_seed: dict[Hashable, list[float]] = {}
    for seed, value in zip(seeds, values, strict=True):
        values_by_seed.setdefault(seed, []).append(value)
    return {
        seed: seed_values[0] if min(seed_values) == max(seed_values) else float(np.mean(seed_values))
        for seed, seed_values in values_by_seed.items()
    }


def common_keys(first: Mapping[Hashable, object], second: Mapping[Hashable, object]) -> list[Hashable]:
    """Keys that both mappings contain, in the order of `first`."""
    return [seed for seed in first if seed in second]


def mean_over_seeds(values_by_seed: ValuesBySeed) -> Estimate:
    """Mean over the seeds with Student's 95% interval."""
    values = np.array(list(values_by_seed.values()), dtype=float)
    half_width = float(student(len(values) - 1)) * _standard_error(values) if len(values) > 1 else np.nan
    mean_value = float(values.mean())
    return estimate(mean_value, mean_value - half_width, mean_value + half_width)


def mean_difference(first: ValuesBySeed, second: ValuesBySeed) -> Estimate:
    """Mean of `first` minus mean of `second`: paired by seed if at least MIN_PAIRS seeds are common."""
    common_seeds = common_keys(first, second)
    if len(common_seeds) >= MIN_PAIRS:
        return mean_over_seeds({seed: first[seed] - second[seed] for seed in common_seeds})
    return _independent_difference(np.array(list(first.values())), np.array(list(second.values())))


def _independent_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    difference = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return Estimate(difference, None, None)
    first_variance, second_variance = _standard_error(first) ** 2, _standard_error(second) ** 2
    if first_variance + second_variance == 0:
        return Estimate(difference, None, None)
    freedom = (first_variance + second_variance) ** 2 / (
        first_variance**2 / (len(first) - 1) + second_variance**2 / (len(second) - 1)
    )
    half_width = float(student(freedom)) * float(np.sqrt(first_variance + second_variance))
    return estimate(difference, difference - half_width, difference + half_width)


def _standard_error(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def expected_time(attempts_by_seed: Mapping[Hashable, Attempts]) -> float | None:
    """Expected seconds until the target is reached; None if no run reached it."""
    success_count = sum(attempts.success_count for attempts in attempts_by_seed.values())
    return (
        sum(attempts.spent_s for attempts in attempts_by_seed.values()) / success_count
        if success_count
        else None
    )


def ratio_of_expected_times(
    first: Mapping[Hashable, Attempts], second: Mapping[Hashable, Attempts]
) -> Estimate | None:
    """Ratio of the expected times: paired by seed if at least MIN_PAIRS seeds are common. None if a method
    never reached the target; no interval if success depends on a single seed."""
    common_seeds = common_keys(first, second)
    paired = len(common_seeds) >= MIN_PAIRS
    first_totals, second_totals = (
        np.array(
            [
                [attempts[seed].spent_s, attempts[seed].success_count]
                for seed in (common_seeds if paired else attempts)
            ],
            dtype=float,
        ).reshape(-1, 2)
        for attempts in (first, second)
    )
    if min(totals[:, 1].sum() for totals in (first_totals, second_totals)) == 0:
        return None
    log_ratio = float(
        _log_expected_time(first_totals.sum(axis=0)) - _log_expected_time(second_totals.sum(axis=0))
    )
    half_width = _half_width(_jackknife_logs(first_totals), _jackknife_logs(second_totals), paired)
    return estimate(*np.exp([log_ratio, log_ratio - half_width, log_ratio + half_width]))


def _log_expected_time(sums: np.ndarray) -> np.ndarray:
    """Log of the expected time from (seconds, successes) in the last dimension; nan without successes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, np.log(sums[..., 0] / sums[..., 1]), np.nan))


def _jackknife_logs(values: np.ndarray) -> np.ndarray:
    """Logs of the expected time with each seed left out in turn."""
    return _log_expected_time(values.sum(axis=0) - values)


def _half_width(first: np.ndarray, second: np.ndarray, paired: bool) -> float:
    """Half width of the 95% interval of the log ratio from the leave-one-out estimates; nan for a single
    seed."""
    if min(len(first), len(second)) < 2:
        return float("nan")
    parts = [first - second] if paired else [first, second]
    variances = [(len(x) - 1) / len(x) * float(np.sum((x - x.mean()) ** 2)) for x in parts]
    variance = sum(variances)
    if not variance > 0:
        return variance
    freedom = variance**2 / sum(v**2 / (len(x) - 1) for v, x in zip(variances, parts, strict=True))
    return float(student(freedom) * np.sqrt(variance))
