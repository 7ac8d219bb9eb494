# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A piecewise Hockney curve over measured sizes, in many replicates, and the quantities derived from it.

Row i of n is a measured size; the line of its segment holds from edge i to edge i + 1. Between rows of one
segment the position of the edge makes no difference; between two segments it is the change of protocol, which
the data only locate between two measured sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

LIMIT_SPAN = 4.0
"""r_inf is the bandwidth of additional bytes between the largest size and this part of it."""
Place = Literal["early", "likely", "late"]


@dataclass(frozen=True)
class Pieces:
    """`size` has n entries (bytes, ascending); the other arrays are replicates x n. `edge` is the smallest
    size for which a row's line holds, 0 in the first column."""

    size: np.ndarray
    edge: np.ndarray
    latency: np.ndarray
    per_byte: np.ndarray

    def rows(self, size: np.ndarray) -> np.ndarray:
        """The row whose line holds at each of `size`, for each replicate: the row of the largest measured
        size up to it, or the next row if its line begins at this size or before."""
        row = np.searchsorted(self.size, size, side="right") - 1
        following = np.minimum(row + 1, len(self.size) - 1)
        return np.minimum(row + (self.edge[:, following] <= size), len(self.size) - 1)

    def time(self, size: np.ndarray) -> np.ndarray:
        """Seconds, replicates x len(size)."""
        rows = self.rows(size)
        latency = np.take_along_axis(self.latency, rows, axis=1)
        return latency + np.take_along_axis(self.per_byte, rows, axis=1) * size

    def limit_range(self) -> np.ndarray:
        """The two sizes between which r_inf is taken."""
        return np.array([max(self.size[-1] / LIMIT_SPAN, self.size[0]), self.size[-1]])

    def bandwidth_limit(self) -> np.ndarray:
        """r_inf in B/s: the inverse of the cost of an additional byte, inf if that is not positive. The cost
        is the mean over the sizes from a quarter of the largest on: the slope of the last segment alone,
        which may be short, would differ from one survey to the next where the slope still changes."""
        ends = self.limit_range()
        cost = np.diff(self.time(ends), axis=1)[:, 0] / (ends[1] - ends[0])
        with np.errstate(divide="ignore"):
            return np.where(cost > 0, 1 / cost, np.inf)

    def peak_bandwidth(self) -> np.ndarray:
        """Largest bandwidth at a measured size (B/s)."""
        return self._peak

    @cached_property
    def _bandwidth(self) -> np.ndarray:
        """Bandwidth (B/s) at the measured sizes, replicates x n."""
        return self.size / np.maximum(self.time(self.size), 1e-12)

    @cached_property
    def _peak(self) -> np.ndarray:
        return self._bandwidth.max(axis=1)

    def half_size(self) -> np.ndarray:
        """n_half in bytes: from this size on every message reaches at least half of r_inf; inf if r_inf is. A
        change of protocol may reduce bandwidth: reaching half before such a change does not count."""
        return self._half_of(self.bandwidth_limit(), np.full(len(self.edge), np.inf))

    def half_peak_size(self) -> np.ndarray:
        """n_half_peak in bytes, at least 1: from this size up to that of the peak every message reaches at
        least half of r_peak."""
        return np.maximum(self._half_of(self._peak, self.size[self._bandwidth.argmax(axis=1)]), 1.0)

    def _half_of(self, bandwidth: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The smallest size from which every message up to `last` reaches at least half of `bandwidth`."""
        end = np.minimum(self._beyond, last[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            # size / (latency + per_byte * size) = bandwidth / 2, solved on each row's line
            left = 2 / bandwidth[:, None] - self.per_byte
            meet = self.latency / left
            # A line that begins below 0 and is steeper than half of the bandwidth is fast enough up to there.
            reached = np.where(left > 0, np.maximum(meet, 0), np.where(meet >= end, 0.0, np.inf))
        slow = (reached > self.edge) & (self.edge < end)
        return np.where(slow, np.minimum(reached, end), 0.0).max(axis=1)

    @cached_property
    def _beyond(self) -> np.ndarray:
        """The end of the sizes for which a row's line holds."""
        return np.concatenate((self.edge[:, 1:], np.full((len(self.edge), 1), np.inf)), axis=1)


def pieces(
    size: np.ndarray,
    starts: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    place: Place = "likely",
) -> Pieces:
    """The curve whose segments start at the rows `starts` (replicates x n booleans).

    `place` selects the position of a change between the two measured sizes: directly after the smaller one,
    at the larger one, or at the likeliest position: where the lines cross if they do so between the two (no
    jump), else the middle on a log scale. A line that begins below 0 is not used below the time at which the
    line before ends.
    """
    before = np.concatenate(([0.0], size[:-1]))
    after = before + np.minimum(1.0, (size - before) / 2)
    last = np.concatenate((np.zeros((len(latency), 1)), (latency + per_byte * size)[:, :-1]), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = np.where(latency < 0, np.minimum((last - latency) / per_byte, size), 0.0)
    if place == "early":
        change = np.maximum(after, rising)
    elif place == "late":
        change = np.broadcast_to(size, latency.shape)
    else:
        change = np.maximum(_likely(size, before, after, latency, per_byte, last), rising)
    edge = np.where(starts, change, size)
    edge[:, 0] = 0.0
    return Pieces(size, edge, latency, per_byte)


def _likely(
    size: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """The likeliest size at which the line of each row begins if the row is the first of its segment. `after`
    is directly after the size `before`; `last` is the time of the previous row's line at `before`."""
    new = latency[:, 1:] + per_byte[:, 1:] * size[1:]
    old = latency[:, :-1] + per_byte[:, :-1] * size[1:]
    at_before, at_size = latency[:, 1:] + per_byte[:, 1:] * before[1:] - last[:, 1:], new - old
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = before[1:] + (size[1:] - before[1:]) * at_before / (at_before - at_size)
    middle = np.sqrt(np.maximum(before, size / 4) * size)[1:]
    # Times that do not fall from size to size do not fall in between, though lines with errors may.
    lower = (at_before < 0) & (at_size < 0) & (new >= last[:, 1:])
    closest = np.where(at_before < at_size, size[1:], after[1:])
    change = np.where((meet > before[1:]) & (meet <= size[1:]), meet, np.where(lower, closest, middle))
    return np.concatenate((np.zeros((len(latency), 1)), change), axis=1)
