# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The modes of a case: the fastest mode with the error of its cost, and two clearly separate modes.

On a machine whose virtual cores migrate, whose frequency changes or that is shared with other processes,
times come in modes that last from milliseconds to minutes. The *typical* cost is a centre over all visits;
the *undisturbed* one is that of the fastest mode: the centre over launches of each launch's visits that are
within a tenth of the 10% quantile of all visits, with equal weights for launches (`Observation.undisturbed`).
It is not a minimum, which decreases with the number of visits and has no interval.

However much the machine changes, the visits of the fastest mode differ by little more than a tenth, so their
variance does not show how much the quantile itself varies in time: intervals from the chosen visits alone
covered the ratio of two surveys in only 74% of pairs (`benchmarks/results/repeatability.md`). So the whole
estimate, including the choice of visits, is repeated with each block of the run's visits left out in turn
(delete-a-group jackknife: Shao and Wu, Ann. Statist. 17 (1989) 1176). For a mean, the g leave-one-out
estimates deviate by 1 / (g - 1) of the deviations of the block means. Multiplied by g - 1 they become
pseudo-values with the variance of a block. `drift` extrapolates it from 4, 8 and 16 blocks to the whole run,
as for the mean of all visits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Modes
from hockney.models.scipy_functions import f_quantile
from hockney.models.statistics.drift import BLOCK_COUNTS, half_width_of_blocks
from hockney.models.statistics.location import winsorise
from hockney.models.statistics.visits import MIN_VISITS as FEWEST_OF_A_LAUNCH
from hockney.models.statistics.visits import series_in_time

LOW_QUANTILE = 0.1
FAST_RANGE = np.log(1.1)
"""Visits of one mode differ by less than this: within 0.1 s a machine's times are stable to a few percent."""
MIN_VISITS = 10
MIN_FAST_VISITS = 3
"""Minimum visits of a launch in the fast mode: fewer may be lucky outliers, and give no interval."""
MIN_MODE_DISTANCE = np.log(1.25)
"""Modes closer than this count as one."""
MIN_MODE_SHARE = 0.1
"""Minimum share of visits in a mode: a less frequent mode counts as outliers."""
MAX_CYCLES_FOR_MARGINS = 6.0
"""With more cycles through both modes, the observed share is close to the long-run share."""
MAX_GAP_SHARE = 0.1
"""Maximum share of visits in the middle third between two modes."""
SHARE_ROUNDING = 1e-12


def fast_visits(visits: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """For each launch, a mask of its visits (logs of times) in the fastest mode. A launch with too few of
    them has none if other launches have enough. None if there are too few visits to detect modes."""
    sampled = [launch for launch in visits if len(launch) >= FEWEST_OF_A_LAUNCH]
    if sum(map(len, sampled)) < MIN_VISITS:
        return None
    values = np.concatenate(sampled)
    weights = np.concatenate([np.full(len(launch), 1 / len(launch) / len(sampled)) for launch in sampled])
    ascending = np.argsort(values, kind="stable")
    low_quantile = values[ascending[np.searchsorted(np.cumsum(weights[ascending]), LOW_QUANTILE)]]
    fast = [(launch <= low_quantile + FAST_RANGE) & (len(launch) >= FEWEST_OF_A_LAUNCH) for launch in visits]
    has_enough = [np.count_nonzero(mask) >= MIN_FAST_VISITS for mask in fast]
    return (
        [mask & is_enough for mask, is_enough in zip(fast, has_enough, strict=True)]
        if any(has_enough)
        else fast
    )


def disturbed_share(visits: Sequence[np.ndarray], undisturbed: float) -> float:
    """Share of visits slower than the undisturbed cost (its log) by more than a tenth, with equal weights for
    launches."""
    shares = [float(np.mean(launch > undisturbed + FAST_RANGE)) for launch in visits if len(launch)]
    return sum(shares) / len(shares)


def undisturbed_half_width(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> float:
    """Half width of the 95% interval of the log undisturbed cost, from all visits (logs of times) of each
    launch and their times (s). There must be enough visits for `fast_visits`."""
    sampled = [k for k, launch in enumerate(visits) if len(launch) >= FEWEST_OF_A_LAUNCH]
    values = np.concatenate([visits[k] for k in sampled])
    launch = np.repeat(np.arange(len(sampled)), [len(visits[k]) for k in sampled])
    position = np.empty(len(values), dtype=int)
    position[np.argsort(np.concatenate([at_s[k] for k in sampled]), kind="stable")] = np.arange(len(values))
    ascending = np.argsort(values, kind="stable")
    values, launch, position = values[ascending], launch[ascending], position[ascending]
    block_counts = [blocks for blocks in BLOCK_COUNTS if blocks <= len(values)]
    variances = []
    for blocks in block_counts:
        kept_masks = position * blocks // len(values) != np.arange(blocks)[:, None]
        pseudo_values = (blocks - 1) * _undisturbed_costs(values, launch, kept_masks)
        variances.append(float(pseudo_values.var(ddof=1)))
    half_width = half_width_of_blocks(np.array(block_counts), np.array(variances))
    return min(
        half_width, float(np.ptp(winsorise(values)))
    )  # a rare fast mode is not outside the range of all visits


def _undisturbed_costs(values: np.ndarray, launch: np.ndarray, kept_masks: np.ndarray) -> np.ndarray:
    """Undisturbed costs, with means instead of robust centres, for each row of the mask `kept_masks` over the
    sorted `values`. `launch` is the launch number of each value, from 0."""
    membership = np.asarray(launch[:, None] == np.arange(launch.max() + 1), dtype=float)
    weights = kept_masks / np.maximum(kept_masks @ membership, 1)[:, launch]
    shares = np.cumsum(weights, axis=1)
    quantile_index = np.sum(shares < LOW_QUANTILE * shares[:, -1:] - SHARE_ROUNDING, axis=1)
    fast = kept_masks & (values <= values[quantile_index][:, None] + FAST_RANGE)
    count = fast @ membership
    has_enough = count >= MIN_FAST_VISITS
    is_used = np.where(has_enough.any(axis=1, keepdims=True), has_enough, count > 0)
    means = (fast * values) @ membership / np.maximum(count, 1)
    return np.asarray(np.sum(means * is_used, axis=1) / np.sum(is_used, axis=1))


def find_modes(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> Modes | None:
    """Find two clearly separate modes, each with at least a tenth of the visits and with few visits between
    them; None otherwise. `at_s` are the times of the visits."""
    values = np.sort(np.concatenate([*visits, np.empty(0)]))
    count = len(values)
    if count < 4 * MIN_VISITS:
        return None
    fast_count = split_in_two(values)
    fast, slow = values[:fast_count], values[fast_count:]
    low, high = float(np.median(fast)), float(np.median(slow))
    gap = (high - low) / 3
    between = np.count_nonzero((values > low + gap) & (values < high - gap)) / count
    if (
        min(len(fast), len(slow)) < MIN_MODE_SHARE * count
        or high - low < MIN_MODE_DISTANCE
        or between > MAX_GAP_SHARE
    ):
        return None
    threshold = (low + high) / 2
    switches, watched_s = 0, 0.0
    for launch, starts_s in zip(visits, at_s, strict=True):
        time_order = np.argsort(starts_s, kind="stable")
        switches += int(np.count_nonzero(np.diff(launch[time_order] > threshold)))
        watched_s += float(np.ptp(starts_s)) if len(starts_s) else 0.0
    return Modes(
        fast_s=float(np.exp(low)),
        slow_s=float(np.exp(high)),
        slow_share=len(slow) / count,
        dwell_s=watched_s / switches if switches else None,
    )


def mode_margins(
    modes: Modes | None, visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]
) -> tuple[float, float]:
    """How far the long-run mean of the two `modes` of the visits may lie below and above the centre (logs) if
    only a few of their cycles were observed; (0, 0) without modes.

    With exponential durations, the odds of the slow mode are the ratio of two mean durations, each over m
    stays. Divided by the true odds, this has the F distribution with 2m and 2m degrees of freedom. An
    interval from the observed variance is too narrow if a mode was hardly observed by chance."""
    if modes is None:
        return 0.0, 0.0
    threshold = (np.log(modes.fast_s) + np.log(modes.slow_s)) / 2
    cycles = max(1.0, np.count_nonzero(np.diff(series_in_time(visits, at_s) > threshold)) / 2)
    if cycles > MAX_CYCLES_FOR_MARGINS:
        return 0.0, 0.0
    return share_margins(modes.slow_share, cycles, float(np.log(modes.slow_s / modes.fast_s)))


def share_margins(slow_share: float, cycles: float, log_distance: float) -> tuple[float, float]:
    """Compute `mode_margins` for modes whose logs differ by `log_distance`, after this many `cycles`."""
    factor = f_quantile(2 * cycles, 2 * cycles, 0.975)
    odds = slow_share / (1 - slow_share)
    low_share, high_share = (limit / (1 + limit) for limit in (odds / factor, odds * factor))
    return (slow_share - low_share) * log_distance, (high_share - slow_share) * log_distance


def split_in_two(sorted_values: np.ndarray) -> int:
    """Split sorted values into the two groups that differ most from each other and least inside (Otsu, IEEE
    Trans. Syst. Man Cybern. 9 (1979) 62), and return the number of values in the lower group."""
    count = len(sorted_values)
    below = np.arange(1, count)
    sums = np.cumsum(sorted_values)
    log_distance = sums[:-1] / below - (sums[-1] - sums[:-1]) / (count - below)
    return int(np.argmax(below * (count - below) * log_distance**2)) + 1
