# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The error of the mean of a series on a machine that also changes slowly.

If different blocks of a series are independent, the variance of their means is inversely proportional to
their length. But many machines change on all time scales (flicker noise): means over 60 s vary as much from
one minute to the next as means over 15 s within a minute (`benchmarks/results/repeatability.md`). So the
series is cut into 4, 8 and 16 blocks, and the variance V of the blocks' means is taken as

    V(blocks) = a * blocks + f,   a >= 0, f >= 0,

where a is the independent part and f the part that does not decrease. The whole series is one block. Because
it is clipped at 0, f is about as large as a even without such a part, so a is subtracted from it:

    half width = t * sqrt(a + max(0, f - a)) = t * sqrt(max(a, f)).

V has a relative error of sqrt(2 / (blocks - 1)), which gives the weights of the fit. t is Student's quantile
for 6 degrees of freedom: V of 4 blocks has 3, the three together have more. It was chosen by the coverage of
simulated modes (`benchmarks/coverage_modes.py`) and of the ratios of real surveys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney.models.statistics.location import student

BLOCKS = (4, 8, 16)
FREEDOM = 6
ROUNDS = 3
"""Iterations of the fit, whose weights depend on the expected variances."""


def half_width_under_drift(series: np.ndarray) -> float:
    """Half width of the 95% interval of the mean of `series`, values over equally long periods in order of
    time; at least 4."""
    return half_width_of_sum([block_variances(series)])


def block_variances(series: np.ndarray) -> dict[int, float]:
    """Variances of the means of the blocks into which such a series is cut, keyed by number of blocks."""
    return {blocks: _variance(series, blocks) for blocks in BLOCKS if blocks <= len(series)}


def half_width_of_sum(parts: Sequence[Mapping[int, float]]) -> float:
    """Half width of the 95% interval of the sum (or difference) of the means of independent series, from
    their block variances, which add up, as do the degrees of freedom; 0 without any."""
    nonempty = [part for part in parts if part]
    shared_counts = [blocks for blocks in BLOCKS if nonempty and all(blocks in part for part in nonempty)]
    variances = np.array([sum(part[blocks] for part in nonempty) for blocks in shared_counts])
    return half_width_of_blocks(np.array(shared_counts), variances, FREEDOM * len(nonempty))


def half_width_of_blocks(blocks: np.ndarray, variances: np.ndarray, freedom: int = FREEDOM) -> float:
    """The same, from the variances of the values of a block if the series is cut into this many `blocks`."""
    if not variances.any():
        return 0.0
    independent, slow = _fit(blocks.astype(float), variances)
    return student(freedom) * max(independent, slow) ** 0.5


def _variance(series: np.ndarray, blocks: int) -> float:
    """Variance of the means of this many blocks; left-over values at the beginning are not used."""
    length = len(series) // blocks
    means = series[len(series) - blocks * length :].reshape(blocks, length).mean(axis=1)
    return float(means.var(ddof=1))


def _fit(blocks: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """(a, f) by least squares, neither below 0."""
    expected = np.full_like(variances, variances.mean())
    independent, slow = 0.0, 0.0
    for _ in range(ROUNDS):
        weights = np.sqrt((blocks - 1) / 2) / expected
        first, values = blocks * weights, variances * weights  # the second column are the weights
        square, both, one = first @ first, first @ weights, weights @ weights
        left, right = first @ values, weights @ values
        determinant = square * one - both * both
        if len(blocks) > 1:
            independent = (one * left - both * right) / determinant
            slow = (square * right - both * left) / determinant
        if slow < 0 or len(blocks) == 1:
            independent, slow = left / square, 0.0
        elif independent < 0:
            independent, slow = 0.0, right / one
        expected = np.maximum(independent * blocks + slow, np.finfo(float).tiny)
    return float(independent), float(slow)
