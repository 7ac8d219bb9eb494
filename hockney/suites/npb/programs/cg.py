# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""CG: blocks of the matrix in a grid of ranks, and products whose vectors are gathered along the grid's
columns and whose sums are made along its rows, in as many messages as the logarithm of their ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hockney.models.programs.program import DOUBLE, Exchange, Phase, Program, Share, Work, part_of, sums

SIZES = {
    "S": (1400, 7, 15),
    "W": (7000, 8, 15),
    "A": (14000, 11, 15),
    "B": (75000, 13, 75),
    "C": (150000, 15, 75),
    "tiny": (101, 4, 4),
}
"""Order of the matrix, random elements of each sparse vector, iterations."""
STEPS = 25
"""Of the conjugate gradient method in each iteration."""


def program(size: str, ranks: int) -> Program:
    order, nonzeros, iterations = SIZES[size]
    columns = max(d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0)
    rows = ranks // columns
    elements = nonzeros * (nonzeros + 1)
    products = iterations * (STEPS + 1)

    def piece(i: int, j: int) -> int:
        begin, end = part_of(order, rows, i % rows)
        first, last = part_of(end - begin, columns, j % columns)
        return last - first

    def multiplying(i: int, j: int) -> Share:
        height = sum(piece(i, k) for k in range(columns))
        width = sum(piece(k, j) for k in range(rows))
        work = Work(products * 2.0 * height * elements * (width / order), "products")
        gathering = _gathering([piece(i + k, j) for k in range(rows)])
        adding = _adding([piece(i, j + k) for k in range(columns)])
        exchanges = tuple(
            Exchange(products, (DOUBLE * out,), (DOUBLE * into,)) for out, into in (*gathering, *adding)
        )
        return Share((work,), exchanges)

    def updating(i: int, j: int) -> Share:
        return Share((Work(iterations * 2.0 * piece(i, j) * (3 + 5 * STEPS + 3), "vectors"),))

    grid = [(i, j) for i in range(rows) for j in range(columns)]
    dots = (sums(iterations * (1 + 2 * STEPS), 1, ranks), sums(iterations, 3, ranks))
    official = 2.0 * iterations * order * (3 + elements + STEPS * (5 + elements) + 3)
    phases = (
        Phase("products", tuple(multiplying(i, j) for i, j in grid)),
        Phase("vectors", tuple(updating(i, j) for i, j in grid), dots),
    )
    return Program("cg", size, ranks, iterations, official, phases)


def _gathering(pieces: list[int]) -> Iterator[tuple[int, int]]:
    """Elements sent and received in each step, for the pieces of a grid column from a rank's own on."""
    m = 1
    while m < len(pieces):
        end = min(2 * m, len(pieces))
        yield sum(pieces[: end - m]), sum(pieces[m:end])
        m *= 2


def _adding(pieces: list[int]) -> Iterator[tuple[int, int]]:
    """The same messages along a grid row, in the opposite direction."""
    m = 1 << max(0, (len(pieces) - 1).bit_length()) >> 1
    while m:
        end = min(2 * m, len(pieces))
        yield sum(pieces[m:end]), sum(pieces[: end - m])
        m //= 2
