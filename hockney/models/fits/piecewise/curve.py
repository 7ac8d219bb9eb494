# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A piecewise Hockney curve over measured sizes, in many replicates, and the quantities derived from it.

Row i of n is a measured size; the line of its segment holds from edge i to edge i + 1. Between rows of one
segment the position of the edge makes no difference; between two segments it is the change of protocol, which
the data only locate between two measured sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

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
        """For each replicate the row whose line holds at each of `size`."""
        return (self.edge[:, None, :] <= size[None, :, None]).sum(axis=2) - 1

    def time(self, size: np.ndarray) -> np.ndarray:
        """Seconds, replicates x len(size)."""
        rows = self.rows(size)
        latency = np.take_along_axis(self.latency, rows, axis=1)
        return latency + np.take_along_axis(self.per_byte, rows, axis=1) * size

    def bandwidth_limit(self) -> np.ndarray:
        """r_inf in B/s: the inverse of the last segment's cost per byte, inf if that is not positive."""
        last = self.per_byte[:, -1]
        with np.errstate(divide="ignore"):
            return np.where(last > 0, 1 / last, np.inf)

    def peak_bandwidth(self) -> np.ndarray:
        """Largest bandwidth at a measured size (B/s). Within a segment bandwidth grows with the size."""
        return (self.size / np.maximum(self.time(self.size), 1e-12)).max(axis=1)

    def half_size(self) -> np.ndarray:
        """n_half in bytes: from this size on every message reaches at least half of r_inf; inf if r_inf is. A
        change of protocol may reduce bandwidth: reaching half before such a change does not count."""
        limit = self.bandwidth_limit()[:, None]
        beyond = np.concatenate((self.edge[:, 1:], np.full((len(self.edge), 1), np.inf)), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # size / (latency + per_byte * size) = limit / 2, solved on each row's line
            left = 2 / limit - self.per_byte
            reached = np.where(left > 0, np.maximum(self.latency, 0) / left, np.inf)
        slow_until = np.where(reached > self.edge, np.minimum(reached, beyond), 0.0)
        return slow_until.max(axis=1)


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
    jump), else the middle on a log scale.
    """
    before = np.concatenate(([0.0], size[:-1]))
    if place == "early":
        change = np.broadcast_to(before + np.minimum(1.0, (size - before) / 2), latency.shape)
    elif place == "late":
        change = np.broadcast_to(size, latency.shape)
    else:
        middle = np.sqrt(np.maximum(before, size / 4) * size)
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = (latency[:, 1:] - latency[:, :-1]) / (per_byte[:, :-1] - per_byte[:, 1:])
            meet = np.concatenate((np.zeros((len(latency), 1)), meet), axis=1)
        change = np.where((meet > before) & (meet <= size), meet, middle)
    edge = np.where(starts, change, size)
    edge[:, 0] = 0.0
    return Pieces(size, edge, latency, per_byte)
