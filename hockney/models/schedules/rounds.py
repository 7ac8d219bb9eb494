# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of rounds in which a distance or an amount doubles."""

from __future__ import annotations


def rounds_of_two(ranks: int) -> int:
    """ceil(log2(ranks))."""
    return (ranks - 1).bit_length()


def doublings(ranks: int) -> list[int]:
    """1, 2, 4, ... below `ranks`."""
    return [1 << k for k in range(rounds_of_two(ranks))]


def power_below(ranks: int) -> int:
    """The largest power of two that is at most `ranks`."""
    return 1 << (ranks.bit_length() - 1)
