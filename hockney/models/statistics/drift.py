# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How far the mean of a series may be off where the machine also changes slowly.

Means over longer blocks of a series vary less, in proportion to their length, where what happens in different
blocks is independent. Many machines change at all time scales instead (flicker noise): there, means over 60 s
vary as much from one minute to the next as means over 15 s do within it (`docs/benchmarks/repeatability.md`).
So the series is cut into 4, 8 and 16 blocks, and the variance V of the blocks' means is taken as

    V(blocks) = a * blocks + f,   a >= 0, f >= 0,

where a is the independent part and f what does not become less. The whole series is one block. Clipped at 0,
f is about as large as a where there is no such part, so that a is taken from it:

    half width = t * sqrt(a + max(0, f - a)) = t * sqrt(max(a, f)).

V of so many blocks is known with a relative error of sqrt(2 / (blocks - 1)), which weighs the fit. t is
Student's quantile for 6 degrees of freedom: V of 4 blocks has 3, the three together have more. It was chosen
by the coverage of simulated modes (`benchmarks/coverage_modes.py`) and of the ratios of real surveys."""

from __future__ import annotations

import numpy as np

from hockney.models.statistics.location import student

BLOCKS = (4, 8, 16)
FREEDOM = 6
ROUNDS = 3
"""Of the fit, whose weights depend on the variances expected."""


def half_width_under_drift(series: np.ndarray) -> float:
    """Of the 95% interval of the mean of `series`, equally long moments in the order of time. At least 4."""
    counts = [blocks for blocks in BLOCKS if blocks <= len(series)]
    variances = np.array([_variance(series, blocks) for blocks in counts])
    if not variances.any():
        return 0.0
    independent, slow = _fit(np.array(counts, dtype=float), variances)
    return student(FREEDOM) * max(independent, slow) ** 0.5


def _variance(series: np.ndarray, blocks: int) -> float:
    """Of the means of so many blocks; what is left over at the beginning is in none."""
    length = len(series) // blocks
    means = series[len(series) - blocks * length :].reshape(blocks, length).mean(axis=1)
    return float(means.var(ddof=1))


def _fit(blocks: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """(a, f) by least squares, neither below 0."""
    expected = np.full_like(variances, variances.mean())
    independent, slow = 0.0, 0.0
    for _ in range(ROUNDS):
        weights = np.sqrt((blocks - 1) / 2) / expected
        rows = np.stack([blocks, np.ones_like(blocks)], axis=1) * weights[:, None]
        values = variances * weights
        independent, slow = np.linalg.lstsq(rows, values, rcond=None)[0]
        if slow < 0 or len(blocks) == 1:
            independent, slow = rows[:, 0] @ values / (rows[:, 0] @ rows[:, 0]), 0.0
        elif independent < 0:
            independent, slow = 0.0, rows[:, 1] @ values / (rows[:, 1] @ rows[:, 1])
        expected = np.maximum(independent * blocks + slow, np.finfo(float).tiny)
    return float(independent), float(slow)
