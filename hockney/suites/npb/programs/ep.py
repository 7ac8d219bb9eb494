# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""EP: blocks of pairs, of which only the sums are communicated."""

from __future__ import annotations

from hockney.models.programs.program import Phase, Program, Share, Work, length_of, sums

SIZES = {
    "S": 1 << 24,
    "W": 1 << 25,
    "A": 1 << 28,
    "B": 1 << 30,
    "C": 1 << 32,
    "tiny": 1001,
}
"""Pairs."""
ANNULI = 10


def program(size: str, ranks: int) -> Program:
    pairs = SIZES[size]
    shares = tuple(Share((Work(2.0 * length_of(pairs, ranks, rank), "pairs"),)) for rank in range(ranks))
    totals = Phase("sums", (Share(),) * ranks, (sums(1, 2, ranks), sums(1, ANNULI, ranks)))
    return Program("ep", size, ranks, 1, 2.0 * pairs, (Phase("pairs", shares), totals))
