# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks on a Cartesian grid, and their neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

AXES = "xyz"


@dataclass(frozen=True)
class RankGrid:
    """`extents` are the numbers of ranks along each axis. Ranks are numbered as by MPI_Cart_create, along the
    last axis first."""

    extents: tuple[int, ...]

    @property
    def ranks(self) -> int:
        return int(np.prod(self.extents))

    @cached_property
    def coordinates(self) -> tuple[np.ndarray, ...]:
        """The position of each rank along each axis."""
        return tuple(np.unravel_index(np.arange(self.ranks), self.extents))

    def formula_names(self) -> dict[str, float | np.ndarray]:
        """Names in formulas: px, py and pz for the extents, x, y and z for each rank's position."""
        extents = (*self.extents, 1, 1)[: len(AXES)]
        positions = (*self.coordinates, np.zeros(self.ranks), np.zeros(self.ranks))[: len(AXES)]
        values: dict[str, float | np.ndarray] = {
            f"p{axis}": float(extent) for axis, extent in zip(AXES, extents, strict=True)
        }
        return values | {axis: 1.0 * position for axis, position in zip(AXES, positions, strict=True)}

    def neighbors(self, offset: tuple[int, ...], *, periodic: bool) -> tuple[np.ndarray, np.ndarray]:
        """The ranks with a neighbor other than themselves at this offset, and these neighbors."""
        positions = [position + step for position, step in zip(self.coordinates, offset, strict=True)]
        has_neighbor = np.ones(self.ranks, dtype=bool)
        if not periodic:
            for position, extent in zip(positions, self.extents, strict=True):
                has_neighbor &= (position >= 0) & (position < extent)
        wrapped = [position % extent for position, extent in zip(positions, self.extents, strict=True)]
        target = np.ravel_multi_index(wrapped, self.extents)
        source = np.arange(self.ranks)
        has_neighbor &= target != source
        return source[has_neighbor], target[has_neighbor]

    def lines(self, axis: int) -> np.ndarray:
        """The ranks on each line along this axis: lines x ranks."""
        numbers = np.arange(self.ranks).reshape(self.extents)
        return np.moveaxis(numbers, axis, -1).reshape(-1, self.extents[axis])

    def best_tile(self, size: int) -> tuple[int, ...] | None:
        """The extents of equal blocks of `size` ranks with the smallest surface; None if there are none."""
        divisors = [
            [length for length in range(1, extent + 1) if extent % length == 0] for extent in self.extents
        ]
        tiles = [tile for tile in product(*divisors) if prod(tile) == size]
        return min(tiles, key=lambda tile: sum(1 / length for length in tile), default=None)

    def ranks_by_tile(self, tile: tuple[int, ...]) -> np.ndarray:
        """The new number of each rank if the ranks of each block are numbered consecutively."""
        blocks = tuple(extent // length for extent, length in zip(self.extents, tile, strict=True))
        block_index = [position // length for position, length in zip(self.coordinates, tile, strict=True)]
        position_in_block = [
            position % length for position, length in zip(self.coordinates, tile, strict=True)
        ]
        return np.ravel_multi_index(block_index, blocks) * prod(tile) + np.ravel_multi_index(
            position_in_block, tile
        )


def balanced_grid(ranks: int, dimensions: int) -> RankGrid:
    """The grid of `ranks` ranks created by MPI_Dims_create: extents as equal as possible, the largest
    first."""
    if dimensions == 1:
        return RankGrid((ranks,))
    root = round(ranks ** (1 / dimensions))
    last = next(
        extent for extent in range(root + 1, 0, -1) if ranks % extent == 0 and extent**dimensions <= ranks
    )
    return RankGrid((*balanced_grid(ranks // last, dimensions - 1).extents, last))
