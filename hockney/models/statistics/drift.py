# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The error of the mean of a series on a machine whose speed also drifts slowly.

If different blocks of a series are independent, the variance of their means is inversely proportional to
their length. But many machines change on all time scales (flicker noise): means over 60 s vary as much from
one minute to the next as means over 15 s within a minute (`benchmarks/results/repeatability.md`). So the
series is cut into 4, 8 and 16 blocks, and the variance V of the block means is modelled as

    V(blocks) = a * blocks + f,   a >= 0, f >= 0,

where a is the independent part and f the part that does not decrease. The whole series is one block. Even
without slow changes, f is about as large as a because negative values are clipped at 0, so a is subtracted
from f:

    half width = t * sqrt(a + max(0, f - a)) = t * sqrt(max(a, f)).

V has a relative error of sqrt(2 / (blocks - 1)), which gives the weights of the fit. t is Student's quantile
for 6 degrees of freedom: V of 4 blocks has 3, the three variances together have more. The number was chosen
for correct coverage in simulations with modes (`benchmarks/coverage_modes.py`) and in real surveys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney.models.statistics.location import student

BLOCK_COUNTS = (4, 8, 16)
DEGREES_OF_FREEDOM = 6
FIT_ITERATIONS = 3
"""Iterations of the fit, whose weights depend on the expected variances."""


def half_width_under_drift(series: np.ndarray) -> float:
    """Half width of the 95% interval of the mean of `series`: at least 4 values over equally long periods in
    time order."""
    return half_width_of_sum([block_variances(series)])


def block_variances(series: np.ndarray) -> dict[int, float]:
    """Variances of the block means of `series`, keyed by the number of blocks."""
    return {blocks: _block_variance(series, blocks) for blocks in BLOCK_COUNTS if blocks <= len(series)}


def half_width_of_sum(parts: Sequence[Mapping[int, float]]) -> float:
    """Half width of the 95% interval of the sum (or difference) of the means of independent series. `parts`
    are their block variances; variances and degrees of freedom add up. 0 without parts."""
    nonempty = [part for part in parts if part]
    shared_counts = [
        blocks for blocks in BLOCK_COUNTS if nonempty and all(blocks in part for part in nonempty)
    ]
    variances = np.array([sum(part[blocks] for part in nonempty) for blocks in shared_counts])
    return half_width_of_blocks(np.array(shared_counts), variances, DEGREES_OF_FREEDOM * len(nonempty))


def half_width_of_blocks(
    blocks: np.ndarray, variances: np.ndarray, freedom: int = DEGREES_OF_FREEDOM
) -> float:
    """Half width of the 95% interval of the mean from the `variances` of the block means for each number of
    `blocks`."""
    if not variances.any():
        return 0.0
    independent, persistent = _fit_components(blocks.astype(float), variances)
    return student(freedom) * max(independent, persistent) ** 0.5


def _block_variance(series: np.ndarray, blocks: int) -> float:
    """Variance of the means of `blocks` equally long blocks. Values left over at the beginning are
    ignored."""
    length = len(series) // blocks
    means = series[len(series) - blocks * length :].reshape(blocks, length).mean(axis=1)
    return float(means.var(ddof=1))


def _fit_components(blocks: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """Least-squares fit of (a, f), both nonnegative."""
    expected = np.full_like(variances, variances.mean())
    independent, persistent = 0.0, 0.0
    for _ in range(FIT_ITERATIONS):
        weights = np.sqrt((blocks - 1) / 2) / expected
        # the second column of the design contains the weights
        weighted_blocks, weighted_variances = blocks * weights, variances * weights
        square, cross, weight_square = (
            weighted_blocks @ weighted_blocks,
            weighted_blocks @ weights,
            weights @ weights,
        )
        first_moment, weight_moment = weighted_blocks @ weighted_variances, weights @ weighted_variances
        determinant = square * weight_square - cross * cross
        if len(blocks) > 1:
            independent = (weight_square * first_moment - cross * weight_moment) / determinant
            persistent = (square * weight_moment - cross * first_moment) / determinant
        if persistent < 0 or len(blocks) == 1:
            independent, persistent = first_moment / square, 0.0
        elif independent < 0:
            independent, persistent = 0.0, weight_moment / weight_square
        expected = np.maximum(independent * blocks + persistent, np.finfo(float).tiny)
    return float(independent), float(persistent)
