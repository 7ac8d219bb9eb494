# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The message sizes and rank counts of a study."""

from __future__ import annotations

from hockney.core.machine import Machine
from hockney.core.units import doubling

DEFAULT = tuple(doubling(0, 4 << 20))
DOUBLE = 8
MOST_SIMULATED = 16


def default_ranks(machine: Machine) -> tuple[int, ...]:
    """2, and the powers of two up to the cores: more ranks than cores must be requested explicitly, because
    then the scheduler is measured and not the message passing. A simulated machine may be of any size and is
    slow to simulate, so there more than a few ranks must be requested explicitly."""
    cores = min(machine.cores, MOST_SIMULATED) if machine.traits.simulated else machine.cores
    return tuple(doubling(2, 1 << (cores.bit_length() - 1))) if cores > 2 else (2,)


def whole_doubles(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes rounded up to whole doubles, each once: reductions add vectors of them."""
    return tuple(sorted({-(-size // DOUBLE) * DOUBLE for size in sizes}))
