# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Class A of the reference implementation, for npb.py.

Rates: NPB 3.4 (MPI, Fortran; IS in C), compiled with -O3, on a virtual machine with two cores of AMD's Zen 5.
Each is the mean of 2 to 24 runs in wall time. BT and SP run on square numbers of ranks only, so the rates on
two cores are those of four ranks.

Memory: the arrays that NPB 3.4 allocates by its sources (alloc_space in the *_data files), over all ranks.
MPI's own memory is not included.
"""

from __future__ import annotations

from dataclasses import dataclass

TRIAD_BYTES_S = 42e9
"""Of the reference machine on each core, whether one or both are busy: a = b + s c, 24 bytes per element."""
SCALAR_MOPS = 198.33, 395.11
"""Of the reference machine, on one and two cores: the reference's EP, whose arithmetic is not vectorised."""


@dataclass(frozen=True)
class Reference:
    """Of one and of two cores; the aims are ratios of rates."""

    mops: tuple[float, float]
    memory: tuple[float, float]
    yardstick: str
    aim: float
    ranks: tuple[int, int] = (1, 2)


def cg_bytes(columns: int) -> float:
    """Five arrays of all non-zeros, three of them integers, for this number of ranks in a row of one."""
    n, nonzeros = 14000, 11 + 1
    elements = n * nonzeros * nonzeros / columns + n * (nonzeros + 1) / columns
    return columns * elements * (3 * 4 + 2 * 8)


def mg_bytes(planes: int, ranks: int) -> float:
    """u, v and r with all levels and two ghost points in each direction, and message buffers."""
    side = 256 + 2
    finest = side * side * (planes + 2)
    return ranks * 8 * (finest + 2 * 8 / 7 * (finest + side * side) + 8 * side * side)


def lu_bytes(x: int, y: int, ranks: int) -> float:
    """u, rsd and frct with two ghost points, flux with one."""
    return ranks * 64 * 5 * 8 * (3 * (x + 4) * (y + 4) + (x + 2) * (y + 2))


def bt_bytes(cells: int, ranks: int) -> float:
    """forcing, u, rhs and lhsc, and six scalar fields, of each cell."""
    side = 64 // cells + 1
    values = 5 * side**3 + 5 * (side + 4) ** 3 + 30 * (side + 1) ** 3 + 6 * (side + 2) ** 3
    return ranks * cells * values * 8


def sp_bytes(cells: int, ranks: int) -> float:
    """u, eight scalar fields, and rhs, forcing and lhs, of each cell."""
    side = 64 // cells + 1
    values = 5 * (side + 4) ** 3 + 8 * (side + 2) ** 3 + 25 * side**3
    return ranks * cells * values * 8


FT_BYTES = 256 * 256 * 128 * (3 * 16 + 8)
IS_BYTES = 3 * 4 * 2**23 * 3 / 2
"""Three arrays of keys, with a reserve of one half that is hardly used."""

REFERENCES = {
    "ep": Reference((198.33, 395.11), (2**20, 2**21), "scalar", 2),
    "cg": Reference((3926.39, 8282.92), (cg_bytes(1), cg_bytes(2)), "triad", 1.2),
    "mg": Reference((6519.34, 12656.34), (mg_bytes(256, 1), mg_bytes(128, 2)), "triad", 1.2),
    "ft": Reference((5703.62, 9688.74), (FT_BYTES, FT_BYTES), "scalar", 1.2),
    "is": Reference((495.47, 822.83), (IS_BYTES, IS_BYTES), "triad", 1.2),
    "lu": Reference((8193.41, 15973.52), (lu_bytes(64, 64, 1), lu_bytes(32, 64, 2)), "scalar", 2),
    "bt": Reference((6724.53, 13007.71), (bt_bytes(1, 1), bt_bytes(2, 4)), "scalar", 2, (1, 4)),
    "sp": Reference((4254.93, 8735.60), (sp_bytes(1, 1), sp_bytes(2, 4)), "scalar", 2, (1, 4)),
}
