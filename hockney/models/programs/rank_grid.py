# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks as a Cartesian grid, and who is a neighbor of whom there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

AXES = "xyz"


@dataclass(frozen=True)
class RankGrid:
    """`extents` are the ranks along each axis. Ranks are numbered as by MPI_Cart_create: along the last axis
    first."""

    extents: tuple[int, ...]

    @property
    def ranks(self) -> int:
        return int(np.prod(self.extents))

    @cached_property
    def coordinates(self) -> tuple[np.ndarray, ...]:
        """The position of each rank along each axis."""
        return tuple(np.unravel_index(np.arange(self.ranks), self.extents))

    def names(self) -> dict[str, float | np.ndarray]:
        """Names in formulas: px, py and pz are the extents, x, y and z each rank's position."""
        extents = (*self.extents, 1, 1)[: len(AXES)]
        positions = (*self.coordinates, np.zeros(self.ranks), np.zeros(self.ranks))[: len(AXES)]
        named: dict[str, float | np.ndarray] = {
            f"p{axis}": float(extent) for axis, extent in zip(AXES, extents, strict=True)
        }
        return named | {axis: 1.0 * at for axis, at in zip(AXES, positions, strict=True)}

    def neighbors(self, offset: tuple[int, ...], *, periodic: bool) -> tuple[np.ndarray, np.ndarray]:
        """Ranks that have a neighbor other than themselves at this offset, and these neighbors."""
        there = [at + step for at, step in zip(self.coordinates, offset, strict=True)]
        inside = np.ones(self.ranks, dtype=bool)
        if not periodic:
            for at, extent in zip(there, self.extents, strict=True):
                inside &= (at >= 0) & (at < extent)
        wrapped = [at % extent for at, extent in zip(there, self.extents, strict=True)]
        target = np.ravel_multi_index(wrapped, self.extents)
        source = np.arange(self.ranks)
        inside &= target != source
        return source[inside], target[inside]

    def lines(self, axis: int) -> np.ndarray:
        """The ranks of each line along this axis: lines x ranks."""
        numbers = np.arange(self.ranks).reshape(self.extents)
        return np.moveaxis(numbers, axis, -1).reshape(-1, self.extents[axis])

    def tile(self, size: int) -> tuple[int, ...] | None:
        """The extents of equal blocks of `size` ranks with the smallest surface; None if there are none."""
        divisors = [[n for n in range(1, extent + 1) if extent % n == 0] for extent in self.extents]
        tiles = [each for each in product(*divisors) if prod(each) == size]
        return min(tiles, key=lambda each: sum(1 / n for n in each), default=None)

    def tiled(self, tile: tuple[int, ...]) -> np.ndarray:
        """The number of each rank if the ranks of a block are numbered one after the other."""
        blocks = tuple(extent // n for extent, n in zip(self.extents, tile, strict=True))
        block = [at // n for at, n in zip(self.coordinates, tile, strict=True)]
        inside = [at % n for at, n in zip(self.coordinates, tile, strict=True)]
        return np.ravel_multi_index(block, blocks) * prod(tile) + np.ravel_multi_index(inside, tile)


def balanced_grid(ranks: int, dimensions: int) -> RankGrid:
    """The grid of `ranks` ranks with extents as equal as possible, the largest first, as MPI_Dims_create
    makes it."""
    if dimensions == 1:
        return RankGrid((ranks,))
    root = round(ranks ** (1 / dimensions))
    last = next(each for each in range(root + 1, 0, -1) if ranks % each == 0 and each**dimensions <= ranks)
    return RankGrid((*balanced_grid(ranks // last, dimensions - 1).extents, last))
