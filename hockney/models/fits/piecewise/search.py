# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise straight lines by penalised search: time = latency + bytes * per_byte, never negative or falling.

The latency of the first line is not negative. A later line may begin below 0, if a byte costs more than in
shorter messages (beyond a cache), but is not below 0 shortly before its first row (`positive_from`).

The best segmentation minimises the weighted squares of all residuals plus a penalty for each segment,
found exactly by dynamic programming over the last segment's start (optimal partitioning: Jackson et al.,
IEEE Signal Processing Letters 12 (2005) 105). Lines may jump where they meet. Many replicates of the
times are searched at once, which makes a bootstrap of the search cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

FEWEST_POINTS = 3
"""A line through two points always fits and carries no information."""

NEAR = 0.1

FIRST_CHANGE = 64.0
"""No segment but the first starts at a smaller measured size (bytes): a cache line or a packet takes shorter
messages whole, and what an empty message saves is no line through the shortest ones."""


@dataclass(frozen=True)
class Sums:
    """Weighted sums of x, y and their products over the rows of a segment, for several segments; the sums of
    y lead with the replicates' axis. `held` is an x at which the line is not below 0."""

    held: np.ndarray
    w: np.ndarray
    wx: np.ndarray
    wxx: np.ndarray
    wy: np.ndarray
    wxy: np.ndarray
    wyy: np.ndarray

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Latency and per_byte by weighted least squares with per_byte >= 0 and a line >= 0 at `held`; of two
        constraints the optimum is the free one or lies on the one that was violated."""
        with np.errstate(divide="ignore", invalid="ignore"):
            determinant = self.w * self.wxx - self.wx**2
            slope = self.wxy * (self.w / determinant) - self.wy * (self.wx / determinant)
            flat = ~((slope > 0) & (slope < np.inf))
            slope = np.where(flat, 0.0, slope)
            latency = (self.wy - slope * self.wx) / self.w
            steep = latency + slope * self.held < 0
            if steep.any():
                square = self.wxx - self.held * (2 * self.wx - self.held * self.w)
                slope = np.where(steep, (self.wxy - self.held * self.wy) / square, slope)
                latency = np.where(steep, -self.held * slope, latency)
        return latency, slope

    def squares(self) -> np.ndarray:
        """The weighted residual sum of squares of that line, which is optimal, so that its residuals are
        orthogonal to it."""
        latency, slope = self.line()
        return np.maximum(self.wyy - latency * self.wy - slope * self.wxy, 0)


def sums(x: np.ndarray, y: np.ndarray, weight: np.ndarray, fewest: int) -> tuple[Sums, list[slice]]:
    """All sums over at least `fewest` consecutive rows. A slice for each last row, from the first possible
    on, selects the segments that end there, by their first row."""
    counts = np.arange(1, len(x) - fewest + 2)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    ending = [slice(int(first), int(beyond)) for first, beyond in pairwise(bounds)]

    def ranges(values: np.ndarray) -> np.ndarray:
        # Each end is summed from scratch: differences of a running sum would lose the digits of large
        # messages, whose weights are 1e12 times smaller.
        out = np.empty((*values.shape[:-1], bounds[-1]))
        for last, segments in enumerate(ending, fewest - 1):
            backwards = np.cumsum(values[..., last::-1], axis=-1)
            out[..., segments] = backwards[..., : fewest - 2 : -1] if fewest > 1 else backwards[..., ::-1]
        return out

    held = positive_from(x)
    parts = ranges(np.stack((weight, weight * x, weight * x * x)))
    of_times = ranges(np.stack((weight * y, weight * x * y, weight * y * y)))
    return Sums(np.concatenate([held[:count] for count in counts]), *parts, *of_times), ending


def positive_from(x: np.ndarray) -> np.ndarray:
    """For each of x, which ascends, the point from which a line whose first row is there must not be below 0:
    a tenth of the way to the row before, so that it is positive at its rows; 0 for the first row of all."""
    before = np.concatenate((x[:1], x[:-1]))
    held = x - NEAR * (x - before)
    held[0] = 0.0
    return held


def search(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float, fewest: int = FEWEST_POINTS
) -> np.ndarray:
    """The starts of segments, as booleans like `y` (replicates x n); the first is always true.

    `x` ascends (bytes); `weight` is the inverse variance of y; each segment has at least `fewest` points, and
    all but the first start at `FIRST_CHANGE` or more.
    """
    y = np.atleast_2d(y)
    replicates, n = y.shape
    segments, ending = sums(x, y, weight, fewest)
    cost = segments.squares() + penalty
    excluded = np.where((x < FIRST_CHANGE) & (np.arange(n) > 0), np.inf, 0.0)
    best = np.full((replicates, n + 1), np.inf)
    best[:, 0] = 0
    start = np.zeros((replicates, n + 1), dtype=int)
    for end, those in enumerate(ending, fewest):
        total = best[:, : end - fewest + 1] + cost[:, those] + excluded[: end - fewest + 1]
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
    held = np.where(starts, positive_from(x), 0.0)
    return Sums(np.maximum.accumulate(held, axis=-1), *(totals(part) for part in parts)).line()
