# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The error of an undisturbed cost, including that of the choice of its visits.

The visits of the fastest mode (`modes`) are those within a tenth of a low quantile of all visits. However
much the machine changes, they differ by little more than that tenth, so their variance does not show how much
the quantile itself depends on when it was measured: intervals from the chosen visits alone covered the ratio
of two surveys in 74% of pairs (`benchmarks/results/repeatability.md`).

So the whole estimate, with the choice of visits, is repeated without each block of the run's visits in turn
(delete-a-group jackknife: Shao and Wu, Ann. Statist. 17 (1989) 1176). Of a mean, g estimates without one of g
blocks have deviations of 1 / (g - 1) of those of the blocks' means; multiplied by g - 1 they are
pseudo-values, whose variance is that of a block. `drift` extrapolates it from 4, 8 and 16 blocks to the whole
run, as for the mean of all visits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.models.statistics.drift import BLOCKS, half_width_of_blocks
from hockney.models.statistics.location import winsorised
from hockney.models.statistics.modes import FEWEST_FAST, FEWEST_OF_A_LAUNCH, LOW_QUANTILE, WITHIN

ROUNDING = 1e-12


def undisturbed_half_width(visits: Sequence[np.ndarray], at_s: Sequence[np.ndarray]) -> float:
    """Half width of the 95% interval of the log of the undisturbed cost, from all visits (logs of times) of
    each launch and their times (s). There must be enough visits for `modes.fast_visits`."""
    many = [k for k, launch in enumerate(visits) if len(launch) >= FEWEST_OF_A_LAUNCH]
    values = np.concatenate([visits[k] for k in many])
    launch = np.repeat(np.arange(len(many)), [len(visits[k]) for k in many])
    place = np.empty(len(values), dtype=int)
    place[np.argsort(np.concatenate([at_s[k] for k in many]), kind="stable")] = np.arange(len(values))
    order = np.argsort(values, kind="stable")
    values, launch, place = values[order], launch[order], place[order]
    counts = [blocks for blocks in BLOCKS if blocks <= len(values)]
    variances = []
    for blocks in counts:
        kept = place * blocks // len(values) != np.arange(blocks)[:, None]
        pseudo_values = (blocks - 1) * _estimates(values, launch, kept)
        variances.append(float(pseudo_values.var(ddof=1)))
    half = half_width_of_blocks(np.array(counts), np.array(variances))
    return min(half, float(np.ptp(winsorised(values))))  # a rare fast mode is not beyond all visits


def _estimates(values: np.ndarray, launch: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The undisturbed cost, with means instead of robust centres, from each row of `kept`: which of the
    sorted `values` count. `launch` is the launch of each value, from 0."""
    of_launch = np.asarray(launch[:, None] == np.arange(launch.max() + 1), dtype=float)
    weights = kept / np.maximum(kept @ of_launch, 1)[:, launch]
    shares = np.cumsum(weights, axis=1)
    below = np.sum(shares < LOW_QUANTILE * shares[:, -1:] - ROUNDING, axis=1)
    fast = kept & (values <= values[below][:, None] + WITHIN)
    count = fast @ of_launch
    enough = count >= FEWEST_FAST
    used = np.where(enough.any(axis=1, keepdims=True), enough, count > 0)
    means = (fast * values) @ of_launch / np.maximum(count, 1)
    return np.asarray(np.sum(means * used, axis=1) / np.sum(used, axis=1))
