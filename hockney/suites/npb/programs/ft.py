# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""FT: slabs of planes, and of lines in z, between which all ranks exchange parts for each transform."""

from __future__ import annotations

import math

from hockney.models.programs.program import (
    DOUBLE,
    Collective,
    Indivisible,
    Phase,
    Program,
    Share,
    Work,
    length_of,
    sums,
)

SIZES = {
    "S": ((64, 64, 64), 6),
    "W": ((128, 128, 32), 6),
    "A": ((256, 256, 128), 6),
    "B": ((512, 256, 256), 20),
    "C": ((512, 512, 512), 20),
    "tiny": ((16, 32, 64), 3),
}
"""Points in x, y and z, and iterations."""
INITIAL, FORWARD, BACK, DECAY = 14.8157, 7.19641, 7.21113, 5.23518
"""Operations for each point: of the initial state and of decay, and of a transform in either direction for
each unit of the natural logarithm of the length."""


def program(size: str, ranks: int) -> Program:
    (nx, ny, nz), iterations = SIZES[size]
    if ranks > min(ny, nz):
        raise Indivisible(ranks, min(ny, nz))
    n = nx * ny * nz
    slab = [length_of(nz, ranks, rank) for rank in range(ranks)]
    lines = [length_of(ny, ranks, rank) for rank in range(ranks)]
    plane_log, line_log = math.log(nx * ny), math.log(nz)

    def shares(name: str, per_point: float, parts: list[int], of: int) -> tuple[Share, ...]:
        return tuple(Share((Work(n * part / of * per_point, name),)) for part in parts)

    row = 2 * nx * DOUBLE
    transposed = (
        Collective("alltoall", 1, tuple(row * ny * part for part in slab)),
        Collective("alltoall", iterations, tuple(row * nz * part for part in lines)),
    )
    phases = (
        Phase("initial", shares("initial", INITIAL, slab, nz)),
        Phase("z", shares("z", FORWARD * line_log + iterations * (DECAY + BACK * line_log), lines, ny)),
        Phase("transposition", (Share(),) * ranks, transposed if ranks > 1 else ()),
        Phase("planes", shares("planes", (FORWARD + iterations * BACK) * plane_log, slab, nz)),
        Phase("checksum", (Share(),) * ranks, (sums(iterations, 2, ranks),)),
    )
    official = n * (INITIAL + FORWARD * math.log(n) + (DECAY + BACK * math.log(n)) * iterations)
    return Program("ft", size, ranks, iterations, official, phases)
