# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Grids of ranks."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

MAX_DIMENSIONS = 3
Dims = tuple[int, ...]


def coordinates(dims: Dims, ranks: np.ndarray) -> np.ndarray:
    """The coordinates of ranks, (n, dimensions). The first dimension varies fastest."""
    found, left = [], np.asarray(ranks)
    for size in dims:
        found.append(left % size)
        left = left // size
    return np.stack(found, axis=-1)


def rank_at(dims: Dims, position: np.ndarray) -> np.ndarray:
    """The rank at coordinates (n, dimensions)."""
    strides = np.cumprod((1, *dims[:-1]))
    return np.asarray(position @ strides)


@lru_cache
def factorizations(ranks: int, dimensions: int) -> tuple[Dims, ...]:
    """All ordered ways to write a number of ranks as a product."""
    if dimensions == 1:
        return ((ranks,),)
    return tuple(
        (size, *rest)
        for size in range(1, ranks + 1)
        if ranks % size == 0
        for rest in factorizations(ranks // size, dimensions - 1)
    )


@lru_cache
def balanced(ranks: int, dimensions: int) -> Dims:
    """Sizes as equal as possible, the largest first, as MPI_Dims_create makes them."""
    ordered = (dims for dims in factorizations(ranks, dimensions) if list(dims) == sorted(dims, reverse=True))
    return min(ordered, key=lambda dims: (dims[0] - dims[-1], dims))
