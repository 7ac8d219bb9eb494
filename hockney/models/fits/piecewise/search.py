# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise straight lines by penalised search: time = latency + bytes * per_byte, both >= 0.

The best segmentation minimises the weighted squares of all residuals plus a penalty for each segment,
found exactly by dynamic programming over the last segment's start (optimal partitioning: Jackson et al.,
IEEE Signal Processing Letters 12 (2005) 105). Lines may jump where they meet. Many replicates of the
times are searched at once, which makes a bootstrap of the search cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEWEST_POINTS = 3
"""A line through two points always fits and carries no information."""


@dataclass(frozen=True)
class Sums:
    """Weighted sums over rows first..last of x, y and their products; the sums of y lead with the
    replicates' axis."""

    w: np.ndarray
    wx: np.ndarray
    wxx: np.ndarray
    wy: np.ndarray
    wxy: np.ndarray
    wyy: np.ndarray

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Latency and per_byte >= 0 by weighted least squares; in two dimensions the constrained optimum is
        the free one or lies on the axis of the parameter that was negative."""
        with np.errstate(divide="ignore", invalid="ignore"):
            determinant = self.w * self.wxx - self.wx**2
            slope = (self.w * self.wxy - self.wx * self.wy) / determinant
            latency = (self.wy - slope * self.wx) / self.w
            flat = ~(slope > 0)
            steep = ~flat & (latency < 0)
            slope = np.where(flat, 0.0, np.where(steep, self.wxy / self.wxx, slope))
            latency = np.where(flat, self.wy / self.w, np.where(steep, 0.0, latency))
        return latency, slope

    def squares(self) -> np.ndarray:
        """The weighted residual sum of squares of that line."""
        a, b = self.line()
        fitted = a * a * self.w + 2 * a * b * self.wx + b * b * self.wxx
        return np.maximum(self.wyy - 2 * (a * self.wy + b * self.wxy) + fitted, 0)


def sums(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Sums:
    """All sums over rows i..j as (replicates x) n x n arrays indexed [i, j]."""

    def ranges(values: np.ndarray) -> np.ndarray:
        # Each start is summed from scratch: differences of a running sum would lose the digits of large
        # messages, whose weights are 1e12 times smaller.
        n = values.shape[-1]
        out = np.zeros((*values.shape[:-1], n, n))
        for i in range(n):
            np.cumsum(values[..., i:], axis=-1, out=out[..., i, i:])
        return out

    parts = (weight, weight * x, weight * x * x, weight * y, weight * x * y, weight * y * y)
    return Sums(*(ranges(part) for part in parts))


def search(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float, fewest: int = FEWEST_POINTS
) -> np.ndarray:
    """Where segments start: booleans like `y` (replicates x n), the first always true.

    `x` ascends; `weight` is the inverse variance of y; each segment has at least `fewest` points.
    """
    y = np.atleast_2d(y)
    replicates, n = y.shape
    cost = sums(x, y, weight).squares() + penalty
    best = np.full((replicates, n + 1), np.inf)
    best[:, 0] = 0
    start = np.zeros((replicates, n + 1), dtype=int)
    for end in range(fewest, n + 1):
        total = best[:, : end - fewest + 1] + cost[:, : end - fewest + 1, end - 1]
        start[:, end] = total.argmin(axis=1)
        best[:, end] = total.min(axis=1)
    starts = np.zeros((replicates, n), dtype=bool)
    ends = np.full(replicates, n)
    rows = np.arange(replicates)
    while ends.any():
        ends = start[rows, ends]
        starts[rows, ends] = True
    return starts


def lines(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Latency and per_byte >= 0 of each row's segment, as (replicates x) n arrays.

    `y` and `starts` are replicates x n; replicates may differ in their segments.
    """
    segment = np.cumsum(starts, axis=-1) - 1
    replicates, n = y.shape
    index = segment + n * np.arange(replicates)[:, None]

    def totals(values: np.ndarray) -> np.ndarray:
        flat = np.bincount(
            index.ravel(), weights=np.broadcast_to(values, y.shape).ravel(), minlength=replicates * n
        )
        return flat[index]

    parts = (weight, weight * x, weight * x * x, weight * y, weight * x * y, weight * y * y)
    return Sums(*(totals(part) for part in parts)).line()
