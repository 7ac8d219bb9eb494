# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Binomial trees of ranks, and the largest power of two among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def bit_length(values: np.ndarray) -> np.ndarray:
    """The number of bits of integers from 0 to 2^52."""
    return np.asarray(np.frexp(np.asarray(values, dtype=float))[1], dtype=np.int64)


def children(tree: str, rank: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The number of children in a binomial tree. A rank's children are those with one more bit, which is
    below its "lowest" bit or above its "highest" one."""
    if tree == "lowest":
        lowest = np.where(rank > 0, rank & -rank, 1 << 40)
        # Bits with 2^bit < lowest and 2^bit < ranks - rank.
        return bit_length(np.minimum(lowest, ranks - rank) - 1)
    return np.asarray(np.maximum(bit_length(ranks - rank - 1) - bit_length(rank), 0))


def parent(tree: str, rank: np.ndarray) -> np.ndarray:
    """The parent in a binomial tree; -1 for the root."""
    if tree == "lowest":
        return np.where(rank > 0, rank & (rank - 1), -1)
    return np.where(rank > 0, rank - (1 << np.maximum(bit_length(rank) - 1, 0)), -1)


TREES = ("lowest", "highest")


@dataclass(frozen=True)
class Root:
    """A rank that is usually the root, by the number of ranks; the others are numbered upwards from it, or
    downwards."""

    text: str
    rank: Callable[[np.ndarray], np.ndarray]
    is_downwards: bool = False

    def number(self, rank: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        above = rank - self.rank(ranks)
        return np.asarray((-above if self.is_downwards else above) % ranks)

    def rank_at(self, number: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        return np.asarray((self.rank(ranks) + (-number if self.is_downwards else number)) % ranks)


ROOTS: tuple[Root, ...] = (
    Root("0", lambda ranks: 0 * ranks),
    Root("P - 1", lambda ranks: ranks - 1),
    Root("P / 2", lambda ranks: ranks // 2),
    Root("1", lambda ranks: 0 * ranks + 1),
    Root("P - 1 downwards", lambda ranks: ranks - 1, is_downwards=True),
)


def power_below(ranks: np.ndarray) -> np.ndarray:
    """The largest power of two that is not larger."""
    return np.asarray(1 << (bit_length(np.asarray(ranks)) - 1))
