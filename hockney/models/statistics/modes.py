# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The modes of a case: the fastest one and the error of its cost, and two clearly separate ones.

On a machine whose virtual cores migrate, whose frequency changes or that is shared with other processes,
times come in modes that last from milliseconds to minutes. The *typical* cost is a centre over all visits;
the *undisturbed* one is that of the fastest mode: the centre over launches of each launch's visits that are
within a tenth of the 10% quantile of all visits, with equal weights for launches (`Observation.undisturbed`).
It is not a minimum, which decreases with the number of visits and has no interval.

However much the machine changes, the visits of the fastest mode differ by little more than that tenth, so
their variance does not show how much the quantile itself depends on when it was measured: intervals from the
chosen visits alone covered the ratio of two surveys in 74% of pairs (`benchmarks/results/repeatability.md`).
So the whole estimate, with the choice of visits, is repeated without each block of the run's visits in turn
(delete-a-group jackknife: Shao and Wu, Ann. Statist. 17 (1989) 1176). For a mean, g estimates without one of
g blocks have deviations of 1 / (g - 1) of those of the blocks' means; multiplied by g - 1 they are
pseudo-values, whose variance is that of a block. `drift` extrapolates it from 4, 8 and 16 blocks to the whole
run, as for the mean of all visits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Modes
from hockney.models.scipy_functions import f_quantile
from hockney.models.statistics.drift import BLOCKS, half_width_of_blocks
from hockney.models.statistics.location import winsorise
from hockney.models.statistics.visits import FEWEST_VISITS as FEWEST_OF_A_LAUNCH
from hockney.models.statistics.visits import series_in_time

LOW_QUANTILE = 0.1
FAST_RANGE = np.log(1.1)
"""Visits of one mode differ by less: within 0.1 s a machine's times are stable to a few percent."""
FEWEST_VISITS = 10
FEWEST_FAST = 3
"""Minimum visits of a launch in the fast mode: fewer may be single lucky ones, and give no interval."""
LEAST_MODE_DISTANCE = np.log(1.25)
"""Modes closer than this count as one."""
LEAST_SHARE = 0.1
"""Minimum share of the visits: a less frequent mode is an outlier."""
FEW_CYCLES = 6.0
"""Cycles through both modes: with more of them, the observed share is close to the long-run share."""
GAP_SHARE = 0.1
"""Maximum share of visits in the middle third between two modes."""
SHARE_ROUNDING = 1e-12


def fast_visits(visits: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """For each launch, which of its visits (logs of times) are in the fastest mode: none if it has too few of
    them while other launches have more. None if there are too few visits to detect modes."""
    sampled = [launch for launch in visits if len(launch) >= FEWEST_OF_A_LAUNCH]
    if sum(map(len, sampled)) < FEWEST_VISITS:
        return None
    values = np.concatenate(sampled)
    weights = np.concatenate([np.full(len(launch), 1 / len(launch) / len(sampled)) for launch in sampled])
    order = np.argsort(values, kind="stable")
    lowest = values[order[np.searchsorted(np.cumsum(weights[order]), LOW_QUANTILE)]]
    fast = [(launch <= lowest + FAST_RANGE) & (len(launch) >= FEWEST_OF_A_LAUNCH) for launch in visits]
    enough = [np.count_nonzero(of) >= FEWEST_FAST for of in fast]
    return [of & good for of, good in zip(fast, enough, strict=True)] if any(enough) else fast


def disturbed_share(visits: Sequence[np.ndarray], undisturbed: float) -> float:
    """The share of visits that are slower than the undisturbed cost (its log) by more than a tenth, with
    equal weights for launches."""
    shares = [float(np.mean(launch > undisturbed + FAST_RANGE)) for launch in visits if len(launch)]
    return sum(shares) / len(shares)


def undisturbed_half_width(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> float:
    """Half width of the 95% interval of the log of the undisturbed cost, from all visits (logs of times) of
    each launch and their times (s). There must be enough visits for `modes.fast_visits`."""
    sampled = [k for k, launch in enumerate(visits) if len(launch) >= FEWEST_OF_A_LAUNCH]
    values = np.concatenate([visits[k] for k in sampled])
    launch = np.repeat(np.arange(len(sampled)), [len(visits[k]) for k in sampled])
    position = np.empty(len(values), dtype=int)
    position[np.argsort(np.concatenate([at_s[k] for k in sampled]), kind="stable")] = np.arange(len(values))
    order = np.argsort(values, kind="stable")
    values, launch, position = values[order], launch[order], position[order]
    counts = [blocks for blocks in BLOCKS if blocks <= len(values)]
    variances = []
    for blocks in counts:
        kept = position * blocks // len(values) != np.arange(blocks)[:, None]
        pseudo_values = (blocks - 1) * _undisturbed_costs(values, launch, kept)
        variances.append(float(pseudo_values.var(ddof=1)))
    half = half_width_of_blocks(np.array(counts), np.array(variances))
    return min(half, float(np.ptp(winsorise(values))))  # a rare fast mode is not beyond all visits


def _undisturbed_costs(values: np.ndarray, launch: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The undisturbed cost, with means instead of robust centres, from each row of `kept`: which of the
    sorted `values` count. `launch` is the launch of each value, from 0."""
    of_launch = np.asarray(launch[:, None] == np.arange(launch.max() + 1), dtype=float)
    weights = kept / np.maximum(kept @ of_launch, 1)[:, launch]
    shares = np.cumsum(weights, axis=1)
    below = np.sum(shares < LOW_QUANTILE * shares[:, -1:] - SHARE_ROUNDING, axis=1)
    fast = kept & (values <= values[below][:, None] + FAST_RANGE)
    count = fast @ of_launch
    enough = count >= FEWEST_FAST
    used = np.where(enough.any(axis=1, keepdims=True), enough, count > 0)
    means = (fast * values) @ of_launch / np.maximum(count, 1)
    return np.asarray(np.sum(means * used, axis=1) / np.sum(used, axis=1))


def find_modes(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> Modes | None:
    """Two clearly separate modes: each has a tenth of the visits, few lie between them; None otherwise.
    `at_s` are the times of the visits."""
    values = np.sort(np.concatenate([*visits, np.empty(0)]))
    count = len(values)
    if count < 4 * FEWEST_VISITS:
        return None
    fast_count = split_in_two(values)
    fast, slow = values[:fast_count], values[fast_count:]
    low, high = float(np.median(fast)), float(np.median(slow))
    third = (high - low) / 3
    between = np.count_nonzero((values > low + third) & (values < high - third)) / count
    if (
        min(len(fast), len(slow)) < LEAST_SHARE * count
        or high - low < LEAST_MODE_DISTANCE
        or between > GAP_SHARE
    ):
        return None
    threshold = (low + high) / 2
    switches, watched = 0, 0.0
    for launch, moments in zip(visits, at_s, strict=True):
        ordered = np.argsort(moments, kind="stable")
        switches += int(np.count_nonzero(np.diff(launch[ordered] > threshold)))
        watched += float(np.ptp(moments)) if len(moments) else 0.0
    return Modes(
        fast_s=float(np.exp(low)),
        slow_s=float(np.exp(high)),
        slow_share=len(slow) / count,
        dwell_s=watched / switches if switches else None,
    )


def mode_margins(
    two: Modes | None, visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]
) -> tuple[float, float]:
    """How far below and above the centre (of logs) the long-run mean of two modes may lie if only a few of
    their cycles were observed; (0, 0) without such modes. `two` are the modes of the visits.

    With exponential durations the odds of the slow mode are the ratio of two mean durations, each over m
    stays, and this divided by the true ratio has the F distribution with 2m and 2m degrees of freedom. An
    interval from the observed variance is too narrow if, by chance, a mode was hardly observed."""
    if two is None:
        return 0.0, 0.0
    threshold = (np.log(two.fast_s) + np.log(two.slow_s)) / 2
    cycles = max(1.0, np.count_nonzero(np.diff(series_in_time(visits, at_s) > threshold)) / 2)
    if cycles > FEW_CYCLES:
        return 0.0, 0.0
    return share_margins(two.slow_share, cycles, float(np.log(two.slow_s / two.fast_s)))


def share_margins(slow_share: float, cycles: float, log_distance: float) -> tuple[float, float]:
    """The same for modes whose logs are `log_distance`, of which `cycles` cycles were observed."""
    factor = f_quantile(2 * cycles, 2 * cycles, 0.975)
    odds = slow_share / (1 - slow_share)
    low, high = (each / (1 + each) for each in (odds / factor, odds * factor))
    return (slow_share - low) * log_distance, (high - slow_share) * log_distance


def split_in_two(ordered: np.ndarray) -> int:
    """The split of ordered values into two groups that differ most from each other and least inside (Otsu,
    IEEE Trans. Syst. Man Cybern. 9 (1979) 62): the number of values in the lower one."""
    count = len(ordered)
    below = np.arange(1, count)
    sums = np.cumsum(ordered)
    log_distance = sums[:-1] / below - (sums[-1] - sums[:-1]) / (count - below)
    return int(np.argmax(below * (count - below) * log_distance**2)) + 1
